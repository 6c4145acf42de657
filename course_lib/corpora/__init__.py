"""Real data for the lessons: where it is from, how it is got, kept and split."""
