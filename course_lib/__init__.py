"""The course's own library: the reference body of every exercise, in small modules.

It holds no checks and no grading (those are in ``autograder``), and no lesson text
(that is in ``solutions``).
"""
