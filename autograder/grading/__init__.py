"""The grading engine: rebuild a submission, run it in a sandbox, judge what it answers.

Nothing here writes a gradebook; results are data (``result``).
"""
