"""The course's translation task: what a program says to people, in many languages.

The texts are those of Home Assistant (Apache-2.0), which volunteers translate: short,
concrete, with many compounds in German. They are program texts, not literature: what a
model learns from them is to translate such texts.

No word of a text is changed. It is either used, with plain quotes and single spaces, or
left out as a whole. ``course_lib.corpora.more_pairs`` takes more of the same texts for
training.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from course_lib.corpora.datasets import TRANSLATIONS
from course_lib.corpora.download import open_cached
from course_lib.corpora.pairs import Pair, Split, split

MIN_WORDS, MAX_WORDS = 2, 14
PLAIN = str.maketrans(
    dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‘’‚‛‹›′´", "'")
    | dict.fromkeys("‐‑", "-")
    | {"\u00ad": None, "\u200b": None, "\ufeff": None, "…": "..."}
)
UNWANTED = re.compile(
    r"""
      [{}<>\[\]|\\*_=#~^@$%`]     # placeholders, markup, names of a program's things
    | https?:|www\.|\b\w+\.(?:com|org|io|net|de|local|yaml|json)\b  # addresses, files
    | \d{3,}                      # runs of digits
    | \n                          # more than one paragraph
    """,
    re.VERBOSE | re.IGNORECASE,
)
LETTER = re.compile(r"[^\W\d_]")


def clean(text: str, max_words: int = MAX_WORDS) -> str | None:
    """Return a text as the course uses it, or None if it is to be left out.

    max_words : how many words it may have

    >>> clean("Don’t  show “unavailable” devices")
    'Don\\'t show "unavailable" devices'
    >>> clean("Connect to {host}") is None
    True
    """
    plain = unicodedata.normalize("NFC", text).translate(PLAIN)
    # Again: an invisible character may have separated a letter from its accent.
    plain = unicodedata.normalize("NFC", plain).strip()
    if UNWANTED.search(plain) or not LETTER.search(plain):
        return None
    words = plain.split()
    return " ".join(words) if len(words) <= max_words else None


def parallel_strings(languages: Sequence[str]) -> list[dict[str, str]]:
    """Return the texts that exist in all of some languages.

    languages : codes such as "en", "de", "pt-BR", out of ``available_languages``

    Returns one dict per text, language to text, cleaned, of 2 to 14 words in the first
    language; each combination once, in the order of the source.
    Raises ``DataError`` without the data, ``ValueError`` for a language it lacks.
    """
    unknown = sorted(set(languages) - set(available_languages()))
    if unknown:
        raise ValueError(f"languages={unknown} are not among {available_languages()}")
    by_key = [texts(language) for language in languages]
    rows: dict[tuple[str, ...], None] = {}  # a set in order
    for key, text in by_key[0].items() if by_key else ():
        if is_sentence(text) and all(key in others for others in by_key):
            rows[tuple(others[key] for others in by_key)] = None
    return [dict(zip(languages, row, strict=True)) for row in rows]


def most_frequent_pairs(source: str, target: str) -> list[Pair]:
    """Pair each text of one language with its most frequent translation in another.

    - A text has 2 to 14 words; its translation may have one, since German writes
      "battery level" as one word, and 14 at most.
    - A text that is the same in both languages is left out.
    - Of translations that are equally frequent, the first by alphabet is used.
    """
    sources, targets = texts(source), texts(target)
    return nth_translations(
        Pair(text, targets[key])
        for key, text in sources.items()
        if is_sentence(text) and key in targets
    )


def nth_translations(pairs: Iterable[Pair], n: int = 1) -> list[Pair]:
    """Pair each source with its most frequent target, or with the n-th frequent one.

    pairs : as often as they occur; those of two equal texts are left out

    Returns the pairs by alphabet; a source with fewer than n targets has none. Of
    equally frequent targets the first by alphabet comes first.
    """
    targets: dict[str, Counter[str]] = {}
    for source, target in pairs:
        if source != target:
            targets.setdefault(source, Counter())[target] += 1
    return [
        Pair(source, sorted(counts, key=lambda each: (-counts[each], each))[n - 1])
        for source, counts in sorted(targets.items())
        if len(counts) >= n
    ]


def is_sentence(text: str) -> bool:
    """Return whether a text has as many words as the course's sentences may have."""
    return MIN_WORDS <= len(text.split()) <= MAX_WORDS


@cache
def available_languages() -> tuple[str, ...]:
    """Return the codes of all languages in which there are texts."""
    with open_cached(TRANSLATIONS) as archive:
        names = [name for name in archive.namelist() if name.endswith(".json")]
    return tuple(sorted(name.removesuffix(".json") for name in names))


@cache
def texts(language: str) -> dict[str, str]:
    """Load all clean texts of a language by their keys in the program."""
    cleaned = {key: clean(text) for key, text in raw_texts(language).items()}
    return {key: text for key, text in cleaned.items() if text is not None}


def raw_texts(language: str) -> dict[str, str]:
    """Load all texts of a language, by their keys, as they are in the program."""
    with open_cached(TRANSLATIONS) as archive:
        raw: dict[str, str] = json.loads(archive.read(f"{language}.json"))
    return raw


@cache
def translation_pairs() -> Split:
    """Load English texts of 2–14 words with their German, in three parts.

    An English text occurs once, with its most frequent German. No part has a near copy
    of a pair in another part: pairs that share a skeleton, on either side, stay
    together.

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    return split(most_frequent_pairs("en", "de"))
