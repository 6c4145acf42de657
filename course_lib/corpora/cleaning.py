"""What of a program's texts is a sentence: the rest is left out, the spelling evened.

No word is changed. A text is either taken, with plain quotes and single spaces, or left
out as a whole.
"""

import re
import unicodedata

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
