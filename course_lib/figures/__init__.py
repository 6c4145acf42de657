"""The lessons' figures: functions from data and labels to an ``AccessibleFigure``.

They draw, nothing else: no function here computes what it shows. What they share is in
``course_lib.figures.drawing``.
"""

from course_lib.figures.alignments import alignment
from course_lib.figures.general import (
    arrows_in_the_plane,
    attention_lines,
    attention_weights,
    curves,
    signed_heatmap,
    steps,
)
from course_lib.figures.heads import attention_of_heads, coloured_heads
from course_lib.figures.masks import (
    losses,
    mask_heatmap,
    masked_weights,
    masks_side_by_side,
)
from course_lib.figures.positions import clock_hands, stripes
from course_lib.figures.sequences import agreement, queries_and_keys
from course_lib.figures.tokens import bars, length_and_size, merge_trees, token_boxes
from course_lib.figures.transformer import architecture, three_attentions
from course_lib.figures.translation import gains, losses_by_time, scores_by_length

__all__ = [
    "agreement",
    "alignment",
    "architecture",
    "arrows_in_the_plane",
    "attention_lines",
    "attention_of_heads",
    "attention_weights",
    "bars",
    "clock_hands",
    "coloured_heads",
    "curves",
    "gains",
    "length_and_size",
    "losses",
    "losses_by_time",
    "mask_heatmap",
    "masked_weights",
    "masks_side_by_side",
    "merge_trees",
    "queries_and_keys",
    "scores_by_length",
    "signed_heatmap",
    "steps",
    "stripes",
    "three_attentions",
    "token_boxes",
]
