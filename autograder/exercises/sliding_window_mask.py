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


@exercise.variants
def variants(
    n,
    width,
    *,
    window="up to the query",
    size="width",
    wide="as any",
    true_means="may attend",
    first_rows="cut off",
    axes="(n, n)",
    holds="booleans",
):
    width = {
        "width": width,
        "one more": width + 1,
        "one less": width - 1,
        "half": width // 2,
        "endless": n + width,
    }[size]
    i, j = np.arange(n)[:, np.newaxis], np.arange(n)
    may_attend = {
        "up to the query": (j > i - width) & (j <= i),
        "from the query on": (j >= i) & (j < i + width),
        "before the query, one too few": (j > i - width) & (j < i),
        "all": (j > i - width) | (j <= i),
        "before the query": (j >= i - width) & (j < i),
        "on both sides": abs(j - i) < width,
        "half on each side": abs(j - i) <= width // 2,
        "no later keys blocked": (j > i - width) & (j < n),
        "keys of the past blocked": (j <= i - width) & (j <= i),
        "the last keys of all": (j >= n - width) & (j <= i),
        "the first keys of all": (j < width) & (j <= i),
        "chunks": (j <= i) & (j // width == i // width),
        "the farthest alone": (j == i - width + 1) & (j <= i),
    }[window]
    if first_rows == "as full as all":
        may_attend = may_attend | ((i < width) & (j < width))
    elif first_rows == "round the end":
        may_attend = may_attend | (i - j + n < width)
    elif first_rows == "empty":
        # A slice from i − width + 1, which counts from the end where it is negative.
        lines = np.zeros((n, n), bool)
        for row, line in enumerate(lines):
            line[row - width + 1 : row + 1] = True
        may_attend = lines & may_attend
    elif first_rows == "blocked":
        may_attend = may_attend & (i >= width - 1)
    if wide == "all open" and width >= n:
        may_attend = np.ones_like(may_attend)
    if true_means == "blocked":
        may_attend = ~may_attend
    if axes == "(1, n, n)":
        may_attend = may_attend[np.newaxis]
    if holds == "to add":
        return np.where(may_attend, 0.0, -np.inf)
    return may_attend.astype({"floats": float, "whole numbers": int}.get(holds, bool))


exercise.option(
    "one_key_too_many",
    "Your windows are one key too wide: they begin at key i − width.",
    "How many keys are there from i − width to i, both of them included?",
    why="i − width … i reads like width keys, and has width + 1; Mistral's paper says "
    "'tokens i − W to i', and implementations differ by one.",
    size="one more",
)
exercise.option(
    "one_key_too_few",
    "Your windows are one key too narrow: they begin at key i − width + 2.",
    "Is the query's own key one of the width keys, and how many come before it?",
    why="The own position is taken off twice, or > stands where >= belongs.",
    size="one less",
)
exercise.option(
    "half_the_width",
    "Your windows reach back over width // 2 keys only.",
    "If there are no keys to the right of a query, where are all width of them?",
    why="Longformer has half of the window on each side, and only the left one is "
    "left by the causal mask.",
    size="half",
)
exercise.option(
    "no_window",
    "Your mask hides no key of the past, however far it is.",
    "Where does your answer use the argument width?",
    why="The causal half is written first, and the other edge is left for later.",
    size="endless",
)
exercise.option(
    "later_keys_too",
    "Your windows reach as far ahead as back: queries attend to later keys.",
    "Which is the last key that row i may attend to?",
    why="abs(i − j) < width is the shortest way to a band.",
    window="on both sides",
)
exercise.option(
    "half_of_the_window_ahead",
    "Your windows lie around their query: half of each is behind it in the sequence.",
    "Which is the last key that row i may attend to?",
    why="Longformer's window, for encoders, has width / 2 keys on each side.",
    window="half on each side",
)
exercise.option(
    "all_later_keys_open",
    "Your mask blocks what is too far back only: all later keys are open.",
    "A window has two edges: which one is missing?",
    why="The causal mask is taken to come from elsewhere.",
    window="no later keys blocked",
)
exercise.option(
    "window_ahead",
    "Your windows begin at the query and run to the right: keys i … i + width − 1.",
    "On which side of the diagonal are the keys before a query?",
    why="i and j are exchanged in the difference, or np.triu is taken for np.tril.",
    window="from the query on",
)
exercise.option(
    "own_key_blocked",
    "Your windows end before their query: they hold keys i − width … i − 1.",
    "May a query attend to its own position?",
    why="'The width tokens before it' does not say whether its own is one of them.",
    window="before the query",
)
exercise.option(
    "far_keys_open",
    "Your mask is True for the keys that are too far back, and for no others.",
    "Which keys are to be hidden, the near ones or the far ones?",
    why="np.tri(n, k=−width) is what is to be taken away, and is returned.",
    window="keys of the past blocked",
)
exercise.option(
    "window_at_the_end_of_the_sequence",
    "Your rows all share one window: the last width keys of the sequence.",
    "From where does the window of query i count back?",
    why="A cache that keeps the last width tokens is right for the newest query alone.",
    window="the last keys of all",
)
exercise.option(
    "window_at_the_start_of_the_sequence",
    "Your rows all share one window: the first width keys of the sequence.",
    "From where does the window of query i count back?",
    why="may_attend[:, width:] = False cuts columns, not distances.",
    window="the first keys of all",
)
exercise.option(
    "chunks_that_do_not_slide",
    "Your sequence is cut into chunks of width tokens, and a query attends within its "
    "own only.",
    "Which keys may the first query of your second chunk attend to?",
    why="Blocks are how local attention is computed fast, and are taken for the mask.",
    window="chunks",
)
exercise.option(
    "farthest_key_only",
    "Your rows have one True at most: the key at which the window begins.",
    "What about the keys between the beginning of the window and the query?",
    why="np.eye(n, k=−width + 1) is one edge of the band, not the band.",
    window="the farthest alone",
)
exercise.option(
    "first_rows_as_full_as_all",
    "Your first queries attend to width keys as well, and so to later ones.",
    "How many keys has the first query of a sequence to attend to?",
    why="max(0, i − width + 1) as the beginning, and the width added to it, make each "
    "row as full as the others.",
    first_rows="as full as all",
)
exercise.option(
    "window_round_the_end",
    "Your first queries attend to the last keys of the sequence, as if it were a ring.",
    "What comes before the first token?",
    why="np.roll and negative indices go round the end; so does a ring buffer.",
    first_rows="round the end",
)
exercise.option(
    "negative_start",
    "Your rows that have fewer than width keys before them lose keys, or all of them.",
    "What is i − width + 1 in the first row, and what does a slice take it for?",
    why="may_attend[i, i − width + 1 : i + 1] = True counts a negative beginning from "
    "the end.",
    first_rows="empty",
)
exercise.option(
    "wide_windows_open_all",
    "Your mask is True everywhere where width is n or more: later keys are open, too.",
    "Which key may the first query attend to, however wide its window is?",
    why="A window as wide as the sequence seems to need no mask.",
    wide="all open",
)
exercise.option(
    "first_rows_blocked",
    "Your first queries, those with fewer than width keys, attend to nothing.",
    "What does 'as far as there are any' say of the first query?",
    why="The loop over rows begins at the first full window.",
    first_rows="blocked",
)
exercise.option(
    "polarity_reversed",
    "Your mask is True where a key is blocked.",
    "What does True mean in a mask called may_attend?",
    why="In the masks of PyTorch's nn.MultiheadAttention and nn.Transformer True means "
    "blocked; pytorch/pytorch#170415 is about the mix-up.",
    true_means="blocked",
)
exercise.option(
    "axis_in_front",
    "Your mask has an axis of length 1 in front.",
    "Which shape does the docstring promise?",
    why="subsequent_mask in The Annotated Transformer returns (1, n, n), for batches.",
    axes="(1, n, n)",
)
exercise.option(
    "ones_and_zeros",
    "Your mask holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise, and which does np.ones give you?",
    why="np.tril(np.ones((n, n))) holds floats; added to the scores as they are, ones "
    "block nothing (pytorch/pytorch#21518).",
    holds="floats",
)
exercise.option(
    "whole_numbers",
    "Your mask holds the integers 1 and 0.",
    "Which dtype does the docstring promise?",
    why="dtype=int, or a product of two masks of 1 and 0, looks like True and False.",
    holds="whole numbers",
)
exercise.option(
    "numbers_to_add",
    "Your mask holds 0 and −∞, which are to be added to the scores.",
    "Which two values does a mask called may_attend have?",
    why="PyTorch's nn.Transformer.generate_square_subsequent_mask gives these numbers.",
    holds="to add",
)
exercise.option(
    "query_itself_blocked",
    "Your windows lack the query's own key: they hold keys i − width + 1 … i − 1.",
    "May a query attend to its own position?",
    why="< stands where <= was meant.",
    window="before the query, one too few",
)
exercise.option(
    "everything_open",
    "Your mask lets every query attend to every key.",
    "A window has two edges: must a key be inside both of them, or is one enough?",
    why="The two comparisons are joined by | instead of &.",
    window="all",
)
exercise.family(families.squeezed(), families.as_list())
