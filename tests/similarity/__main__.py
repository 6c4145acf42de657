"""What ``autograder similar`` finds in classes of which it is known who has copied.

    python -m tests.similarity [students] [lessons]

prints, for three classes, the seconds, the page's size, and how many of the pairs that
it puts forward are copies.
"""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from autograder.commands import similar
from autograder.course import Course
from autograder.similarity.answers import read_class
from autograder.similarity.pairs import compare
from tests.similarity.constructed import LESSONS, constructed


def main() -> None:
    size, n_lessons = [*map(int, sys.argv[1:]), 300, 1][:2]
    n_pairs = n_copies = 0
    made: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    for seed in range(3):
        group = constructed(size, LESSONS[:n_lessons], seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            course = Course(Path(folder))
            group.write(course.root)
            start = time.monotonic()
            page = course.root / "page.html"
            similar.similar(
                course,
                group.lessons,
                limit=500,
                least=None,
                anonymous=False,
                output=str(page),
            )
            seconds = time.monotonic() - start
            pairs = compare(read_class(course, group.lessons), 500, None).pairs
            kilobytes = page.stat().st_size / 1000
        both = [frozenset((pair.left, pair.right)) for pair in pairs]
        n_pairs += len(both)
        n_copies += sum(pair in group.copies for pair in both)
        made.update(group.copies.values())
        caught.update(group.copies[pair] for pair in both if pair in group.copies)
        print(f"{seconds:.1f} s, page of {kilobytes:.0f} kB")
        usual = {*group.usual}
        print("pairs of the usual answers:", sum(pair <= usual for pair in both))
    print(f"copies among the pairs put forward: {n_copies} of {n_pairs}")
    for kind, number in made.items():
        print(f"  {kind:9} {caught[kind]} of {number}")


if __name__ == "__main__":
    main()
