"""nbgrader's own grading, without the engine: what the engine is held against."""
