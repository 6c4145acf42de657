"""From a judgement to the learner's words, as text and as HTML."""
