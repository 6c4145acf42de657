"""Verdicts for other systems."""
