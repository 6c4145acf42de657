"""What is made of the verdicts: nbgrader's gradebook, notebooks, pages, files.

Grading itself is ``autograder.grading``'s work.
"""
