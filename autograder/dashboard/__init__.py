"""The instructor's page on a class: what was scored, and which misconceptions it shows.

``page.write_report`` writes it; grading is ``autograder.grading``'s work.
"""
