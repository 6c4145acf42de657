"""Numbers in English words, and the same in German words.

A warm-up task from sequence to sequence: German says the ones before the tens and
writes it all as one word. num2words (LGPL) knows the rules; it is called, not copied.
"""

import random

from num2words import num2words

from course_lib.corpora.pairs import Pair

DIGITS = 6


def number_words(n: int, seed: int) -> list[Pair]:
    """Draw numbers from 0 to 999,999, short and long ones, in English and in German.

    n : number of pairs, at most 100,000
    seed : the same seed gives the same pairs; a greater n gives the same ones and more

    Returns n pairs of different numbers: English words, German words.
    Raises ``ValueError`` if n is not 0 … 100,000.

    >>> number_words(2, seed=0)[1]
    Pair(source='four', target='vier')
    """
    if not 0 <= n <= 100_000:
        raise ValueError(f"n={n} is not 0 … 100000")
    rng = random.Random(seed)
    numbers: dict[int, None] = {}  # a set that keeps the order
    while len(numbers) < n:
        # As many of one digit as of six, where there are enough: else nearly all
        # numbers would be long.
        numbers[rng.randrange(10 ** rng.randint(1, DIGITS))] = None
    return [
        Pair(num2words(number, lang="en"), num2words(number, lang="de"))
        for number in numbers
    ]
