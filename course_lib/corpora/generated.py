"""Pairs made by rules, for warm-up tasks from sequence to sequence.

Dates: as people write them, to the one way in which machines do (ISO 8601). The order
of the parts changes with the language, so that a model must attend to the right
position. Babel (BSD licence) writes the dates by the rules of Unicode's CLDR (Unicode
licence).

Numbers: English words to German words. German says the ones before the tens and writes
it all as one word. num2words (LGPL) knows the rules; it is called, not copied.
"""

import datetime
import random
import unicodedata

from babel.dates import format_date
from num2words import num2words

from course_lib.corpora.pairs import Pair

LOCALES = ("en_US", "en_GB", "de", "fr", "es", "it", "nl", "sv", "pl", "fi")
# No "short": 03/04/21 is a day in March in one country and in April in another.
FORMATS = ("medium", "long", "full")
MAX_DIGITS = 6  # of a number in words
FIRST_DAY, LAST_DAY = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)


def dates(n: int, seed: int) -> list[Pair]:
    """Draw dates, each written in the manner of one of several languages.

    n : number of pairs, at most 100,000
    seed : the same seed gives the same pairs; a greater n gives the same ones and more

    Returns n pairs of different sources: a date in words or numbers, and the same day
    as YYYY-MM-DD. No source stands for two days.
    Raises ``ValueError`` if n is not 0 … 100,000.

    >>> dates(1, seed=0)
    [Pair(source='April 1, 2038', target='2038-04-01')]
    """
    if not 0 <= n <= 100_000:
        raise ValueError(f"n={n} is not 0 … 100000")
    rng = random.Random(seed)
    drawn: dict[str, str] = {}
    while len(drawn) < n:
        day = FIRST_DAY + datetime.timedelta(
            days=rng.randrange((LAST_DAY - FIRST_DAY).days + 1)
        )
        drawn[_written(day, rng.choice(FORMATS), rng.choice(LOCALES))] = day.isoformat()
    return [Pair(source, target) for source, target in drawn.items()]


def _written(day: datetime.date, style: str, locale: str) -> str:
    date = format_date(day, style, locale=locale)
    # CLDR has several kinds of space, which look the same.
    return " ".join(unicodedata.normalize("NFC", date).split())


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
        numbers[rng.randrange(10 ** rng.randint(1, MAX_DIGITS))] = None
    return [
        Pair(num2words(number, lang="en"), num2words(number, lang="de"))
        for number in numbers
    ]
