"""Tests of the grading engine."""
