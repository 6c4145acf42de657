"""The translator on another split: ``python -m tests.benchmarks.other_split SEED``.

Which texts are held out is told by a hash of them; here the seed is hashed with them.
What follows the seed goes to ``python -m course_lib.nn.train``.
"""

import sys
from collections.abc import Iterable
from unittest import mock

from course_lib.corpora import pairs
from course_lib.nn.train import main

if __name__ == "__main__":
    seed, *options = sys.argv[1:]
    hash_of = pairs.hash_fraction

    def other_fraction(texts: Iterable[str]) -> float:
        """Map a set of texts to a number from 0 to 1, by the seed."""
        return hash_of([f"seed {seed}", *texts])

    with mock.patch.object(pairs, "hash_fraction", other_fraction):
        sys.exit(main(["--task", "translation", *options]))
