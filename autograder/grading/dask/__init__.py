"""The same grading on a Dask cluster."""
