"""Every picture of the lessons: functions from data and labels to a ``Picture``.

They draw, nothing else: no function here computes what it shows. What they share is in
``course_lib.drawing`` and ``course_lib.tables``.
"""

from course_lib.figures.general import (
    arrows_in_the_plane,
    attention_weights,
    curves,
    signed_table,
    steps,
    who_looks_at_whom,
)
from course_lib.figures.heads import coloured_heads, looks_of_heads
from course_lib.figures.masks import (
    losses,
    mask_table,
    masked_weights,
    masks_side_by_side,
)
from course_lib.figures.positions import clock_hands, stripes
from course_lib.figures.sequences import agreement, queries_and_keys

__all__ = [
    "agreement",
    "arrows_in_the_plane",
    "attention_weights",
    "clock_hands",
    "coloured_heads",
    "curves",
    "looks_of_heads",
    "losses",
    "mask_table",
    "masked_weights",
    "masks_side_by_side",
    "queries_and_keys",
    "signed_table",
    "steps",
    "stripes",
    "who_looks_at_whom",
]
