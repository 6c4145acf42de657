"""Verdicts for other systems: the JSON that they take, and packages that they run."""
