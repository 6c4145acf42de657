"""Reference alignments for number words and dates (lesson 08), without any model.

The texts are those of ``course_lib.corpora.generated``. Here they are cut into tokens,
and the rules of the languages say which source tokens a target token comes from.
"""

import re
from collections.abc import Sequence

from num2words import num2words

Links = list[tuple[int, int]]

_VALUES = (*range(20), *range(20, 100, 10))
_ENGLISH = {num2words(value, lang="en"): value for value in _VALUES}
_GERMAN = {num2words(value, lang="de"): value for value in _VALUES} | {"ein": 1}
_SCALES = {"hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000}
_WORDS = _ENGLISH | _GERMAN
# The longest part first: siebzehn is not sieben, and neunzig is not neun.
_PARTS = re.compile("|".join(sorted([*_GERMAN, *_SCALES, "und"], key=len)[::-1]))


def english_words(text: str) -> list[str]:
    """Cut a number in English words into its words, without comma and hyphen.

    >>> english_words("six thousand, two hundred and seventy-three")
    ['six', 'thousand', 'two', 'hundred', 'and', 'seventy', 'three']
    """
    return re.findall(r"[a-z]+", text)


def german_parts(text: str) -> list[str]:
    """Cut a number in German words into the words that it is made of.

    >>> german_parts("zweihundertdreiundsiebzig")
    ['zwei', 'hundert', 'drei', 'und', 'siebzig']
    """
    return _PARTS.findall(text)


def number_links(source: Sequence[str], target: Sequence[str]) -> Links:
    """Link the parts of a German number to the English words that mean the same.

    source, target : tokens, as ``english_words`` and ``german_parts`` return them

    Returns pairs (index in the target, index in the source). "and" and "und" have no
    counterpart: they join different parts.

    >>> number_links(["seventy", "three"], ["drei", "und", "siebzig"])
    [(0, 1), (2, 0)]
    """
    columns = {value: column for column, value in enumerate(_values(source)) if value}
    rows = enumerate(_values(target))
    return [(row, columns[value]) for row, value in rows if value in columns]


def date_links(source: str, target: str) -> Links:
    """Link the digits of an ISO date to the characters of the date as it was written.

    source, target : a date of ``course_lib.corpora.generated``, and its YYYY-MM-DD

    Returns pairs (index in the target, index in the source). A digit of year or day
    belongs to that digit; both digits of the month to all characters of its name, or
    to its digits. A leading 0 that was not written, and the hyphens, have no links.

    >>> date_links("7 May 2031", "2031-05-07")[-3:]
    [(6, 3), (6, 4), (9, 0)]
    """
    year, day, month = _year(source), _day(source), _month(source)
    links = [(row, year.start() + row) for row in range(4)]
    if month.group().isdigit():
        links += _digits(5, month)
    else:
        links += [(row, column) for row in (5, 6) for column in range(*month.span())]
    return links + _digits(8, day)


def _values(tokens: Sequence[str]) -> list[tuple[str, int] | None]:
    """Compute for each word what it adds to the number, or which scale it names."""
    values: list[tuple[str, int] | None] = []
    hundreds = thousands = 1
    for token in reversed(tokens):
        if token in ("thousand", "tausend"):
            hundreds, thousands = 1, 1000
            values.append(("scale", 1000))
        elif token in _SCALES:
            hundreds = 100
            values.append(("scale", 100 * thousands))
        elif token in _WORDS:
            values.append(("digits", _WORDS[token] * hundreds * thousands))
        else:
            values.append(None)
    return values[::-1]


def _year(source: str) -> re.Match[str]:
    return _first(r"\d{4}", source)


def _day(source: str) -> re.Match[str]:
    return _first(r"(?<!\d)\d{1,2}(?!\d)", source)


def _month(source: str) -> re.Match[str]:
    """Find the month: between day and year, or before the day as in American dates."""
    day, year = _day(source).end(), _year(source).start()
    between = re.compile(r"\b(?!de\b)[^\W\d_]+|\d{1,2}").search(source, day, year)
    return between or [*re.finditer(r"[^\W\d_]+", source[:day])][-1]


def _first(pattern: str, source: str) -> re.Match[str]:
    match = re.search(pattern, source)
    if match is None:
        raise ValueError(f"{source!r} is no date of this course")
    return match


def _digits(row: int, match: re.Match[str]) -> Links:
    """Link the two digits from a row on to one or two digits of the source."""
    columns = range(*match.span())
    return [(row + 2 - len(columns) + i, column) for i, column in enumerate(columns)]
