"""The first figure of the README and of the book: what "it" attends to.

``python -m course_lib.figures.cover FILE`` draws the README's.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from course_lib import figures
from course_lib.attention import attention
from course_lib.figures.drawing import AccessibleFigure
from course_lib.figures.living import LivingFigure
from course_lib.lessons import own_words, pronoun

ALT = (
    "One pronoun, two sentences: it attends to animal when it is too tired, and to "
    "street when it is too wide."
)
# A page may be light where the reader's system is dark: the ground is dark then, too.
DARK = """@media (prefers-color-scheme: dark) {
svg { fill: #e6edf3; }
[style*="fill: #ffffff"] { fill: #0d1117 !important; }
[style*="fill: #666666"] { fill: #9da7b3 !important; }
[style*="stroke: #0072b2"] { stroke: #56b4e9 !important; }
}"""


def cover_weights(last_words: Sequence[str] = pronoun.LAST_WORDS) -> np.ndarray:
    """Return what "it" attends to, one row for each last word, (2, 11) for two."""
    rows = []
    for last_word in last_words:
        k = pronoun.keys(last_word)
        _, weights = attention(pronoun.query_of_it(last_word), k, k)
        rows.append(weights[0])
    return np.array(rows)


def cover() -> AccessibleFigure:
    """Draw what "it" attends to in the two sentences that end lesson 01."""
    return figures.attention_lines(
        cover_weights(),
        [f"it (… too {last_word})" for last_word in pronoun.LAST_WORDS],
        [*pronoun.WORDS, "tired / wide"],
        alt=ALT,
    )


def living_cover() -> LivingFigure:
    """Draw the weights in the sentence, whose last word the reader types."""
    rows = cover_weights(pronoun.known_words())
    return figures.last_word(**pronoun.typed([*rows]), alt=ALT)


def living_words() -> LivingFigure:
    """Draw the next tokens of a beginning that the reader types, by a trained model.

    The model's file is beside the page; the figure does not carry it.
    """
    example = own_words.next_token_example() | {"file": None}
    return figures.next_token(**example, alt=own_words.ALT)


def cover_svg() -> str:
    """Return the cover as SVG text that is dark where the reader's system is."""
    return cover().svg().replace("</style>", f"{DARK}</style>", 1)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(cover_svg(), encoding="utf-8")
