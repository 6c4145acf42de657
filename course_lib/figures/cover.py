"""The README's first figure: ``python -m course_lib.figures.cover FILE`` draws it."""

import sys
from pathlib import Path

import numpy as np

from course_lib import figures
from course_lib.attention import attention
from course_lib.figures.drawing import AccessibleFigure
from course_lib.lessons import pronoun


def cover() -> AccessibleFigure:
    """Draw what "it" attends to in the two sentences that end lesson 01."""
    rows = []
    for last_word in pronoun.LAST_WORDS:
        k = pronoun.keys(last_word)
        _, weights = attention(pronoun.query_of_it(last_word), k, k)
        rows.append(weights[0])
    return figures.attention_lines(
        np.array(rows),
        [f"it (… too {last_word})" for last_word in pronoun.LAST_WORDS],
        [*pronoun.WORDS, "tired / wide"],
        alt="One pronoun, two sentences: it attends to animal when it is too tired, "
        "and to street when it is too wide.",
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(cover().svg(), encoding="utf-8")
