"""What makes the book's pages answer: the files that a page loads to check answers."""

from pathlib import Path

from autograder.book.wheel import wheel, wheel_name


def write_live(folder: Path) -> None:
    """Write the files that pages load into a folder of the site."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / wheel_name()).write_bytes(wheel())
