"""What a program says to people, in English and in other languages, as pairs of texts.

The texts are those of Home Assistant (Apache-2.0), which volunteers translate: short,
concrete, with many compounds in German. They are program texts, not literature: what a
model learns from them is to translate such texts.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache as remember

from course_lib.corpora import download as cache
from course_lib.corpora.datasets import TRANSLATIONS
from course_lib.corpora.pairs import Pair, Split, split

SHORTEST, LONGEST = 2, 14  # words
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


def clean(text: str) -> str | None:
    """Give a text as the course uses it, or None if it is to be left out.

    >>> clean("Don’t  show “unavailable” devices")
    'Don\\'t show "unavailable" devices'
    >>> clean("Connect to {host}") is None
    True
    """
    plain = unicodedata.normalize("NFC", text).translate(PLAIN)
    # Again: an invisible character may have stood between a letter and its accent.
    plain = unicodedata.normalize("NFC", plain).strip()
    if UNWANTED.search(plain) or not LETTER.search(plain):
        return None
    words = plain.split()
    return " ".join(words) if len(words) <= LONGEST else None


Texts = dict[str, str]  # by the part of the program and the keys that lead to it


def parallel_strings(languages: Sequence[str]) -> list[dict[str, str]]:
    """Give the texts that exist in all of some languages.

    languages : codes such as "en", "de", "pt-BR"; ``languages_of_texts`` gives all

    Returns one dict per text, language to text, cleaned, of 2 to 14 words in the first
    language; each combination once, in the order of the source.
    Raises ``DataFault`` without the data, ``ValueError`` for a language it lacks.
    """
    unknown = sorted(set(languages) - set(languages_of_texts()))
    if unknown:
        raise ValueError(f"languages={unknown} are not among {languages_of_texts()}")
    found = [texts(language) for language in languages]
    together: dict[tuple[str, ...], None] = {}  # a set that keeps the order
    for key, text in found[0].items() if found else ():
        if is_sentence(text) and all(key in others for others in found):
            together[tuple(others[key] for others in found)] = None
    return [dict(zip(languages, row, strict=True)) for row in together]


def most_frequent_pairs(source: str, target: str) -> list[Pair]:
    """Give each text of one language with its most frequent translation in another.

    A text has 2 to 14 words; its translation may have one, since German writes "battery
    level" as one word, and 14 at most. What is left as it is, is no translation. Where
    a text is translated in several ways the most frequent is kept, of equals the first
    by alphabet: a model that learned another would be no worse.
    """
    sources, targets = texts(source), texts(target)
    ways: dict[str, Counter[str]] = {}
    for key, text in sources.items():
        if is_sentence(text) and targets.get(key, text) != text:
            ways.setdefault(text, Counter())[targets[key]] += 1
    return [
        Pair(text, min(counts, key=lambda way: (-counts[way], way)))
        for text, counts in sorted(ways.items())
    ]


def is_sentence(text: str) -> bool:
    """Say whether a text has as many words as the sentences of the course have."""
    return SHORTEST <= len(text.split()) <= LONGEST


@remember
def languages_of_texts() -> tuple[str, ...]:
    """Give the codes of all languages that there are texts in."""
    with cache.opened(TRANSLATIONS) as kept:
        names = [name for name in kept.namelist() if name.endswith(".json")]
    return tuple(sorted(name.removesuffix(".json") for name in names))


@remember
def texts(language: str) -> Texts:
    """Give all texts of a language that are clean, by where they stand."""
    with cache.opened(TRANSLATIONS) as kept:
        found = json.loads(kept.read(f"{language}.json"))
    cleaned = {key: clean(text) for key, text in found.items()}
    return {key: text for key, text in cleaned.items() if text is not None}


@remember
def translation_pairs() -> Split:
    """Give English texts of 2–14 words with their German, in three parts.

    The texts are Home Assistant's (Apache-2.0), cleaned as in
    ``course_lib.corpora.translations``; an English text occurs once, with its most frequent
    German. No part has a near copy of what another part has: what shares a skeleton,
    on either side, stays together.

    Raises ``DataFault``, which says what to run, if the data is not there.
    """
    return split(most_frequent_pairs("en", "de"))


# MERGED course_lib.corpora.cleaning: What of a program's texts is a sentence: the rest is left out, the spelling evened.
#
#   No word is changed. A text is either taken, with plain quotes and single spaces, or left
#   out as a whole.
#
# MERGED course_lib.corpora.translation_pairs: English to German: the course's translation task, split once and for all.
