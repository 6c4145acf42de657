"""What is made of grades: nbgrader's gradebook, notebooks, feedback pages, exports.

Grading itself is ``autograder.grading``'s work.
"""
