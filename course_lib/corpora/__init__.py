"""Real data for the lessons: its origin, its download, its cleaning and its split."""
