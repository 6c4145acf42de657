"""The course's own library: the reference body of every exercise, and what lessons use.

At the top are the NumPy references, in ``nn`` those in PyTorch and the models that are
trained. Checks and grading are in ``autograder``, the lessons' text in ``solutions``.
"""
