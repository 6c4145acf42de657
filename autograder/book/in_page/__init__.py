"""What runs in a page of the book: checks of answers, and lessons' cells."""
