"""The lessons' figures: functions from data and labels to an ``AccessibleFigure``.

They draw, nothing else: no function here computes what it shows, but for what changes
as a reader moves something: the softmax whose divisor a slider changes, the dot
products of an arrow that is dragged, the gradients of a model of one parameter, the
answer of heads that are chosen, and the weights left by a mask that is switched.
What they share is in ``course_lib.figures.drawing``.
"""

from course_lib.figures.alignments import alignment
from course_lib.figures.backward import backward_pass
from course_lib.figures.beam_search import beam_tree
from course_lib.figures.choices import curves_to_choose
from course_lib.figures.chosen_heads import chosen_heads
from course_lib.figures.costs import costs_by_length
from course_lib.figures.dot_product import draggable_query, six_steps, softmax
from course_lib.figures.general import (
    arrows_in_the_plane,
    attention_in_sentences,
    attention_lines,
    attention_weights,
    curves,
    signed_heatmap,
    steps,
)
from course_lib.figures.heads import (
    attention_of_heads,
    coloured_heads,
    products_of_heads,
    wall_of_heads,
)
from course_lib.figures.judged_curves import judged_curves
from course_lib.figures.last_word import last_word
from course_lib.figures.lesson_map import lesson_map
from course_lib.figures.masks import (
    losses,
    mask_heatmap,
    masked_weights,
    masks_side_by_side,
    switchable_mask,
)
from course_lib.figures.next_token import next_token
from course_lib.figures.positions import clock_hands, stripes, two_positions
from course_lib.figures.recurrent import encoder_decoder, gradient_paths
from course_lib.figures.sequences import (
    agreement,
    attention_arcs,
    queries_and_keys,
)
from course_lib.figures.text_tokens import text_tokens
from course_lib.figures.tiles import tiling
from course_lib.figures.tokens import (
    bars,
    length_and_size,
    merge_steps,
    merge_trees,
    token_boxes,
    typed_word,
)
from course_lib.figures.transformer import architecture, three_attentions
from course_lib.figures.translation import gains, losses_by_time, scores_by_length
from course_lib.figures.translator import translator

__all__ = [
    "agreement",
    "alignment",
    "architecture",
    "arrows_in_the_plane",
    "attention_arcs",
    "attention_in_sentences",
    "attention_lines",
    "attention_of_heads",
    "attention_weights",
    "backward_pass",
    "bars",
    "beam_tree",
    "chosen_heads",
    "clock_hands",
    "coloured_heads",
    "costs_by_length",
    "curves",
    "curves_to_choose",
    "draggable_query",
    "encoder_decoder",
    "gains",
    "gradient_paths",
    "judged_curves",
    "last_word",
    "length_and_size",
    "lesson_map",
    "losses",
    "losses_by_time",
    "mask_heatmap",
    "masked_weights",
    "masks_side_by_side",
    "merge_steps",
    "merge_trees",
    "next_token",
    "products_of_heads",
    "queries_and_keys",
    "scores_by_length",
    "signed_heatmap",
    "six_steps",
    "softmax",
    "steps",
    "stripes",
    "switchable_mask",
    "text_tokens",
    "three_attentions",
    "tiling",
    "token_boxes",
    "translator",
    "two_positions",
    "typed_word",
    "wall_of_heads",
]
