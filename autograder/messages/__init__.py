"""From an exercise's result to the learner's words, as text and as HTML."""
