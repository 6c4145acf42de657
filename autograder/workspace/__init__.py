"""The learner's own copies of the lessons, in ``work/``: open, update, keep."""
