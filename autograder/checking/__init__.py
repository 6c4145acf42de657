"""Judge an answer: exercises, their cases, calls, comparison, diagnosis, verdicts."""
