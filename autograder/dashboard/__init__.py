"""The instructor's page on a class: what was scored, and which mistakes were made.

``page.report`` writes it; grading is ``autograder.grading``'s work.
"""
