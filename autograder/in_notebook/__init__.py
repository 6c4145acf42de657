"""What runs in a learner's notebook: ``check``, and what it reads around an answer."""
