"""From a lesson's text source to the teacher's and the learner's notebooks."""
