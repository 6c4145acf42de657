"""Experiments that train something: a small version for the lesson, a full one to keep.

Each module is one experiment. ``python -m course_lib.experiments NAME`` runs its full
version over three seeds and saves the record beside it, where the lesson reads it.
"""
