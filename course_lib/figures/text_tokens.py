"""Figure of lesson 06: any text as tokens of bytes, and what each language pays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.figures.living import LivingFigure
from course_lib.figures.tokens import token_boxes

MAX_TEXTS = 12  # examples
MAX_MERGES = 8000  # of a vocabulary
MAX_CHARACTERS = 200  # of an example
DRAWN = 3  # texts of the static picture
LAST_OF_FONT = 0x24F  # Latin letters; others are drawn as their bytes


def text_tokens(
    texts: Mapping[str, str],
    tokens: Mapping[str, Sequence[bytes]],
    vocabularies: Mapping[str, Sequence[tuple[int, int]]],
    *,
    alt: str | None = None,
    answer: Callable[[Any], Any] | None = None,
) -> LivingFigure:
    """Draw texts as tokens of bytes; where scripts run, the reader types any text.

    texts : name to text, examples to choose from; the first one is shown first
    tokens : as many, each text's tokens with the first vocabulary; joined, they are the
        text's bytes. The static picture has those of the first three
    vocabularies : what the merges were learned from, to the token ids of each merge's
        left and right symbol, in the order in which they were learned: 0 … 255 are the
        bytes, then comes one for each merge
    answer : in a notebook, returns the token ids of the learner's own function for
        ``{"text": …, "vocabulary": …}``, as ``{"ids": …}``, or ``{"error": …}``

    Raises ``ValueError`` if tokens and texts do not fit, for a merge of a token that is
    not there yet, and for more than 12 texts, 200 characters or 8,000 merges.
    """
    if not 1 <= len(texts) <= MAX_TEXTS or [*texts] != [*tokens]:
        raise ValueError(
            f"texts {[*texts]} and tokens {[*tokens]} must have the same 1 to "
            f"{MAX_TEXTS} names"
        )
    for name, text in texts.items():
        if not 1 <= len(text) <= MAX_CHARACTERS:
            raise ValueError(
                f"text {name!r} has {len(text)} characters: expected 1 to "
                f"{MAX_CHARACTERS}"
            )
        if b"".join(tokens[name]) != text.encode():
            raise ValueError(f"tokens of {name!r} are not the bytes of its text")
    if not vocabularies:
        raise ValueError("vocabularies={}: there is nothing to encode with")
    for name, pairs in vocabularies.items():
        _check_pairs(name, pairs)
    rows = {name: [*map(_drawn, tokens[name])] for name in [*texts][:DRAWN]}
    data = {
        "texts": [[*item] for item in texts.items()],
        "vocabularies": [
            [name, [int(token_id) for pair in pairs for token_id in pair]]
            for name, pairs in vocabularies.items()
        ],
        "asks": answer is not None,
    }
    figure = token_boxes(rows, alt=alt).figure
    return LivingFigure(figure, alt, "text_tokens", data, answer)


def _check_pairs(name: str, pairs: Sequence[tuple[int, int]]) -> None:
    if len(pairs) > MAX_MERGES:
        raise ValueError(f"{len(pairs):,} merges from {name}: at most {MAX_MERGES:,}")
    for number, pair in enumerate(pairs):
        if len(pair) != 2 or not all(0 <= token_id < 256 + number for token_id in pair):
            raise ValueError(
                f"merge {number + 1} from {name} joins {tuple(pair)}: expected two "
                f"token ids below {256 + number}"
            )


def _drawn(token: bytes) -> str:
    """Return a token as the static picture writes it: its text, or its bytes."""
    try:
        text = token.decode().replace(" ", "␣")
    except UnicodeDecodeError:
        return token.hex(" ").upper()
    is_drawn = all(each == "␣" or _is_in_font(each) for each in text)
    return text if is_drawn else token.hex(" ").upper()


def _is_in_font(character: str) -> bool:
    return character.isprintable() and ord(character) <= LAST_OF_FONT
