"""Cases and misconceptions of ``sliding_window_mask``."""

import numpy as np

from autograder import Exercise, families
from course_lib.masks import sliding_window_mask

exercise = Exercise(
    sliding_window_mask,
    lesson="14_fast_attention",
    minutes=8,
    difficulty=1,
    library=(
        "transformers.masking_utils.create_sliding_window_causal_mask",
        "transformers.masking_utils.sliding_window_causal_mask_function",
    ),
)


@exercise.spec
def spec(n, width):
    may_attend = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            may_attend[i, j] = i - width + 1 <= j <= i
    return may_attend


@exercise.usual
def usual(rng):
    return 7, 3


@exercise.case("Five tokens and a window of three give a band of three")
def small_example_by_hand(student, rng):
    rows = [
        [True, False, False, False, False],
        [True, True, False, False, False],
        [True, True, True, False, False],
        [False, True, True, True, False],
        [False, False, True, True, True],
    ]
    student.expect(student(5, 3), np.array(rows))


@exercise.case("Windows of other widths are right too", weight=1.5)
def other_widths(student, rng):
    rows = [
        [True, False, False, False],
        [True, True, False, False],
        [False, True, True, False],
        [False, False, True, True],
    ]
    student.expect(student(4, 2), np.array(rows))
    student.agrees(int(rng.integers(20, 60)), int(rng.integers(4, 20)))


@exercise.case("A window of one leaves each query its own position", weight=0.5)
def window_of_one(student, rng):
    student.expect(student(3, 1), np.eye(3, dtype=bool))


@exercise.case(
    "A window as wide as the sequence, or wider, hides nothing of the past", weight=0.5
)
def wide_windows(student, rng):
    student.expect(student(4, 9), np.tri(4, dtype=bool))
    student.expect(student(3, 3), np.tri(3, dtype=bool))
    n = int(rng.integers(20, 60))
    student.agrees(n, n + int(rng.integers(0, 20)))


@exercise.case("A single token attends to itself", weight=0.5)
def one_token(student, rng):
    student.expect(student(1, 2), np.array([[True]]))


@exercise.case(
    "Each query sees one key more than the one before, until there are width of them",
    visible=False,
    weight=0.5,
)
def as_many_keys_as_the_window_is_wide(student, rng):
    n, width = int(rng.integers(20, 60)), int(rng.integers(5, 20))
    counts = np.minimum(np.arange(1, n + 1), width)
    student.expect(
        student(n, width).sum(axis=1), counts, what="the number of keys each query sees"
    )


@exercise.case(
    "Drawn lengths and widths are answered rightly too", visible=False, weight=2
)
def drawn_sizes(student, rng):
    n = int(rng.integers(11, 60))
    student.agrees(n, n // 2 + 1)
    student.agrees(n, n - 2)
    student.agrees(3, int(rng.integers(20, 40)))


exercise.edits(
    """
one_key_too_many: < width -> <= width
  Your windows are one key too wide: they begin at key i − width.
  ? How many keys are there from i − width to i, both of them included?
  # i − width … i reads like width keys, and has width + 1; Mistral's paper says
    'tokens i − W to i', and implementations differ by one.
one_key_too_few: < width -> < width - 1
  Your windows are one key too narrow: they begin at key i − width + 2.
  ? Is the query's own key one of the width keys, and how many come before it?
  # The own position is taken off twice, or > stands where >= belongs.
half_the_width: < width -> < width // 2
  Your windows reach back over width // 2 keys only.
  ? If there are no keys to the right of a query, where are all width of them?
  # Longformer has half of the window on each side, and only the left one is left by
    the causal mask.
no_window: return distances >= 0
  Your mask hides no key of the past, however far it is.
  ? Where does your answer use the argument width?
  # The causal half is written first, and the other edge is left for later.
later_keys_too: return abs(distances) < width
  Your windows reach as far ahead as back: queries attend to later keys.
  ? Which is the last key that row i may attend to?
  # abs(i − j) < width is the shortest way to a band.
half_of_the_window_ahead: return abs(distances) <= width // 2
  Your windows lie around their query: half of each is behind it in the sequence.
  # Longformer's window, for encoders, has width / 2 keys on each side.
all_later_keys_open: return distances < width
  Your mask blocks what is too far back only: all later keys are open.
  ? A window has two edges: which one is missing?
  # The causal mask is taken to come from elsewhere.
window_ahead: return (distances <= 0) & (distances > -width)
  Your windows begin at the query and run to the right: keys i … i + width − 1.
  ? On which side of the diagonal are the keys before a query?
  # i and j are exchanged in the difference, or np.triu is taken for np.tril.
window_ahead_with_one_key_more: return (distances <= 0) & (distances >= -width)
  Your windows begin at the query and run to the right, with one key too many: keys i …
    i + width.
  # i and i + width are both put into the range of keys.
own_key_blocked: return (distances > 0) & (distances <= width)
  Your windows end before their query: they hold keys i − width … i − 1.
  ? May a query attend to its own position?
  # 'The width tokens before it' does not say whether its own is one of them.
far_keys_open: return distances >= width
  Your mask is True for the keys that are too far back, and for no others.
  ? Which keys are to be hidden, the near ones or the far ones?
  # np.tri(n, k=−width) is what is to be taken away, and is returned.
window_at_the_end_of_the_sequence: (distances < width) -> (np.arange(n) >= n - width)
  Your rows all share one window: the last width keys of the sequence.
  ? From where does the window of query i count back?
  # A cache that keeps the last width tokens is right for the newest query alone.
window_at_the_start_of_the_sequence: (distances < width) -> (np.arange(n) < width)
  Your rows all share one window: the first width keys of the sequence.
  # may_attend[:, width:] = False cuts columns, not distances.
chunks_that_do_not_slide:
  | chunks = np.arange(n) // width
  | (distances < width) -> (chunks[:, np.newaxis] == chunks)
  Your sequence is cut into chunks of width tokens, and a query attends within its own
    only.
  ? Which keys may the first query of your second chunk attend to?
  # Blocks are how local attention is computed fast, and are taken for the mask.
farthest_key_only: return distances == width - 1
  Your rows have one True at most: the key at which the window begins.
  ? What about the keys between the beginning of the window and the query?
  # np.eye(n, k=−width + 1) is one edge of the band, not the band.
first_rows_as_full_as_all:
  | return ( … ->
  :     may_attend = (distances >= 0) & (distances < width)
  :     may_attend[:width, :width] = True
  :     return may_attend
  Your first queries attend to width keys as well, and so to later ones.
  ? How many keys has the first query of a sequence to attend to?
  # max(0, i − width + 1) as the beginning, and the width added to it, make each row
    as full as the others.
window_round_the_end: return distances % n < width
  Your first queries attend to the last keys of the sequence, as if it were a ring.
  ? What comes before the first token?
  # np.roll and negative indices go round the end; so does a ring buffer.
negative_start:
  | distances = …
  : return ( … ->
  :     may_attend = np.zeros((n, n), bool)
  :     for i in range(n):
  :         may_attend[i, i - width + 1:i + 1] = True
  :     return may_attend
  Where i − width + 1 is below 0, but above −n, your row i loses keys, or all of them.
  ? What is i − width + 1 in the first row, and what does a slice take it for?
  # may_attend[i, i − width + 1 : i + 1] = True counts a negative beginning from the
    end.
wide_windows_open_all:
  | if width >= n:
  :     return np.ones((n, n), bool)
  Your mask is True everywhere where width is n or more: later keys are open, too.
  ? Which key may the first query attend to, however wide its window is?
  # A window as wide as the sequence seems to need no mask.
first_rows_blocked:
  | return ( … ->
  :     may_attend = (distances >= 0) & (distances < width)
  :     may_attend[:width - 1] = False
  :     return may_attend
  Your first queries, those with fewer than width keys, attend to nothing.
  ? What does 'as far as there are any' say of the first query?
  # The loop over rows begins at the first full window.
polarity_reversed: return (distances < 0) | (distances >= width)
  Your mask is True where a key is blocked.
  ? What does True mean in a mask called may_attend?
  # In the masks of PyTorch's nn.MultiheadAttention and nn.Transformer True means
    blocked; pytorch/pytorch#170415 is about the mix-up.
axis_in_front: return ((distances >= 0) & (distances < width))[np.newaxis]
  Your mask has an axis of length 1 in front.
  ? Which shape does the docstring promise?
  # subsequent_mask in The Annotated Transformer returns (1, n, n), for batches.
ones_and_zeros: return ((distances >= 0) & (distances < width)).astype(float)
  Your mask holds the numbers 1.0 and 0.0.
  ? Which dtype does the docstring promise, and which does np.ones give you?
  # np.tril(np.ones((n, n))) holds floats; added to the scores as they are, ones block
    nothing (pytorch/pytorch#21518).
whole_numbers: return ((distances >= 0) & (distances < width)).astype(int)
  Your mask holds the integers 1 and 0.
  ? Which dtype does the docstring promise?
  # dtype=int, or a product of two masks of 1 and 0, looks like True and False.
numbers_to_add: return np.where((distances >= 0) & (distances < width), 0.0, -np.inf)
  Your mask holds 0 and −∞, which are to be added to the scores.
  ? Which two values does a mask called may_attend have?
  # PyTorch's nn.Transformer.generate_square_subsequent_mask gives these numbers.
query_itself_blocked: distances >= 0 -> distances > 0
  Your windows lack the query's own key: they hold keys i − width + 1 … i − 1.
  ? May a query attend to its own position?
  # < stands where <= was meant.
everything_open: & -> |
  Your mask lets every query attend to every key.
  ? A window has two edges: must a key be inside both of them, or is one enough?
  # The two comparisons are joined by | instead of &.
""",
)

exercise.family(families.squeezed(), families.as_list())
