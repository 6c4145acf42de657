"""What runs inside the sandbox. It never imports the course's grading.

A copy of this folder is all of the engine that a submission can see, so nothing here
knows a case, a seed or a point.
"""
