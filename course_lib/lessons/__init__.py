"""What the lessons use and no exercise asks for: stories, tiny models, tables."""
