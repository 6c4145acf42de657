"""Cases and misconceptions of ``causal_mask``."""

import numpy as np

from autograder import Exercise, families
from course_lib.masks import causal_mask

exercise = Exercise(
    causal_mask,
    lesson="04_masking",
    minutes=10,
    difficulty=1,
    library=("torch.nn.modules.transformer._generate_square_subsequent_mask",),
)


@exercise.spec
def spec(n, m=None, offset=0):
    if m is None:
        m = n + offset
    may_attend = np.zeros((n, m), dtype=bool)
    for i in range(n):
        for j in range(m):
            may_attend[i, j] = j <= i + offset
    return may_attend


@exercise.usual
def usual(rng):
    return 5, 7, 1


@exercise.case("Three queries over their own three keys give a triangle")
def small_example_by_hand(student, rng):
    triangle = [[True, False, False], [True, True, False], [True, True, True]]
    student.expect(student(3), np.array(triangle))
    student.agrees(int(rng.integers(4, 60)))


@exercise.case(
    "Key j is at position j, with more keys than queries or with fewer", weight=0.5
)
def other_numbers_of_keys(student, rng):
    wide = [[True, False, False, False], [True, True, False, False]]
    student.expect(student(2, 4), np.array(wide))
    high = [[True, False], [True, True], [True, True], [True, True]]
    student.expect(student(4, 2), np.array(high))


@exercise.case("With 3 positions before the first query, each row sees 3 keys more")
def positions_before_the_first_query(student, rng):
    # The last key is behind the last query, so the offset is not m − n.
    rows = [[True] * 4 + [False] * 2, [True] * 5 + [False]]
    student.expect(student(2, 6, 3), np.array(rows))
    student.agrees(3, 5, offset=1)


@exercise.case("Without m there are as many keys as the last query may attend to")
def number_of_keys_left_out(student, rng):
    rows = [[True, True, True, False], [True, True, True, True]]
    student.expect(student(2, offset=2), np.array(rows))


@exercise.case(
    "A single query attends to its own position and to all before it", weight=0.5
)
def a_single_query(student, rng):
    student.expect(student(1), np.array([[True]]))
    student.expect(student(1, 4), np.array([[True, False, False, False]]))
    student.expect(student(1, offset=3), np.array([[True, True, True, True]]))


@exercise.fine_point("Without queries there are no rows, and with m=0 no columns")
def nothing_there(student, rng):
    student.expect(student(3, 0), np.zeros((3, 0), bool))
    student.expect(student(0, 4, 2), np.zeros((0, 4), bool))


@exercise.case(
    "The first query sees one key, each further query one more",
    visible=False,
    weight=0.5,
)
def one_key_more_in_each_row(student, rng):
    n = int(rng.integers(6, 60))
    counts = student(n).sum(axis=1)
    student.expect(
        counts, np.arange(1, n + 1), what="the number of keys each query sees"
    )


@exercise.case("Masks of other sizes are right too", visible=False, weight=2)
def other_sizes(student, rng):
    n, m, offset = (int(size) for size in rng.permutation([3, 5, 9]))
    student.agrees(n, m, offset)
    student.agrees(n, n + 2, 2)
    student.agrees(3, 9, 4)


@exercise.variants
def variants(
    n,
    m=None,
    offset=0,
    *,
    true_means="may attend",
    diagonal=0,
    attends_to="before",
    position="i + offset",
    columns="m",
    without_m="n + offset",
    positions_before="open",
    keys_at_the_end="blocked",
    axes="(n, m)",
    holds="booleans",
):
    is_missing = m is None or (without_m == "zero counts as none" and m == 0)
    if is_missing:
        m = n if without_m == "n" else n + offset
    elif columns != "m":
        m = n + offset if columns == "n + offset" else m + offset
    shift = {
        "i + offset": offset,
        "i": 0,
        "i − offset": -offset,
        "i + 2 offset": 2 * offset,
        "i + offset − 1": max(offset - 1, 0),
        "i + m − n": m - n,
        "i + offset without m": offset if is_missing else 0,
    }[position]
    rows = n
    if axes == "(m, n)":
        rows, m = m, n
    elif axes == "(m, m)":
        rows = m
    elif axes == "(n + offset, m)":
        rows, shift = n + offset, 0
    keys, positions = np.arange(m), np.arange(rows)[:, np.newaxis] + shift + diagonal
    may_attend = {
        "before": keys <= positions,
        "behind": keys >= positions,
        "itself": keys == positions,
        "all": np.ones((rows, m), bool),
    }[attends_to]
    if positions_before == "blocked":
        may_attend = may_attend & (keys >= offset)
    if keys_at_the_end == "open":
        may_attend = may_attend | (keys >= n + offset)
    if true_means == "blocked":
        may_attend = ~may_attend
    may_attend = {"turned": may_attend.T, "(1, n, m)": may_attend[np.newaxis]}.get(
        axes, may_attend
    )
    if holds.startswith("to add"):
        return np.where(may_attend, 0.0, -np.inf if "∞" in holds else -1e9)
    return may_attend.astype({"floats": float, "whole numbers": int}.get(holds, bool))


exercise.option(
    "polarity_reversed",
    "Your mask is True where a key is blocked.",
    "What does True mean in a mask called may_attend?",
    why="In the masks of PyTorch's nn.MultiheadAttention and nn.Transformer True means "
    "blocked; pytorch/pytorch#170415 is about the mix-up.",
    true_means="blocked",
)
exercise.option(
    "diagonal_blocked",
    "Your rows have one True too few: a query does not attend to its own position.",
    "Does the docstring let a query attend to its own position?",
    why="The diagonal of triu and tril is off by one; pbloem/former#10 had whole rows "
    "of NaN from it.",
    diagonal=-1,
)
exercise.option(
    "one_key_too_many",
    "Your rows have one True too many: each query attends to the next key too.",
    "Which is the last key that the first query may attend to, if nothing comes before "
    "it?",
    why="diagonal=1 belongs to triu with True = blocked, and is copied into tril; "
    "RVC-Boss/GPT-SoVITS#965 asks about it.",
    diagonal=1,
)
exercise.option(
    "upper_triangle",
    "Your triangle is the upper one: it holds what comes behind a query.",
    "On which side of the diagonal are the keys before a query?",
    why="np.triu is taken for np.tril; karpathy/nanoGPT#170 asks which one it must be.",
    attends_to="behind",
)
exercise.option(
    "own_position_only",
    "Your rows have a single True: a query attends to its own position alone.",
    "To which other positions may a query attend?",
    why="np.eye marks the positions of the queries, and the keys before them are left.",
    attends_to="itself",
)
exercise.option(
    "everything_open",
    "Your mask blocks no key.",
    "Which keys are hidden from a query that writes from left to right?",
    why="The shape is right, and the comparison is left for later.",
    attends_to="all",
)
exercise.option(
    "ones_and_zeros",
    "Your mask holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise, and which does np.ones give you?",
    why="np.tril(np.ones((n, m))) holds floats; added to the scores as they are, ones "
    "block nothing (pytorch/pytorch#21518).",
    holds="floats",
)
exercise.option(
    "whole_numbers",
    "Your mask holds the integers 1 and 0.",
    "Which dtype does the docstring promise?",
    why="dtype=int, or 1 and 0 in a list, look like True and False.",
    holds="whole numbers",
)
exercise.option(
    "numbers_to_add",
    "Your mask holds 0 and −∞, which are to be added to the scores.",
    "Which two values does a mask called may_attend have?",
    why="PyTorch's nn.Transformer.generate_square_subsequent_mask gives these numbers.",
    holds="to add, −∞",
)
exercise.option(
    "a_billion_to_take_off",
    "Your mask holds 0 and −10⁹, which are to be added to the scores.",
    "Which two values does a mask called may_attend have?",
    why="Masks with −1e9 are in many an example.",
    holds="to add, −10⁹",
)
exercise.option(
    "number_of_keys_ignored",
    "Your mask always has n + offset columns, however many keys are asked for.",
    "Which argument says how many keys there are?",
    why="In self-attention there are as many keys as queries, so m is not missed.",
    columns="n + offset",
)
exercise.option(
    "offset_added_to_the_number_of_keys",
    "Your mask has m + offset columns where m is given.",
    "Does m count the keys at the positions before the first query?",
    why="m is taken for the number of new keys, apart from those that were kept.",
    columns="m + offset",
)
exercise.option(
    "as_many_keys_as_queries",
    "Your mask has n columns when no m is given, whatever offset is: the newest "
    "positions have none.",
    "How many keys may the last query attend to?",
    why="m = n is the default of square masks, and is right for offset 0.",
    without_m="n",
)
exercise.option(
    "no_keys_taken_for_none",
    "Your mask has n + offset columns for m=0.",
    "Is 0 the same as None, and what does `or` say?",
    why="`m or n + offset` and `if not m` take 0 for a number that is left out.",
    without_m="zero counts as none",
)
exercise.option(
    "aligned_at_the_end",
    "Your last row is shifted to the last key, whatever the offset.",
    "At which position does the docstring put query i?",
    why="FlashAttention and MLX align the triangle at the lower right corner, PyTorch "
    "at the upper left one (ml-explore/mlx#2967).",
    position="i + m − n",
)
exercise.option(
    "offset_ignored",
    "Your query i is at position i, however many positions come before the first "
    "query.",
    "At which position is query 0 when the offset is 3?",
    why="A triangle that begins at the first key is right as long as nothing was "
    "kept from earlier steps (onnx/onnx#8068, pytorch/executorch#21749).",
    position="i",
)
exercise.option(
    "offset_ignored_beside_m",
    "Your query i is at position i where the number of keys is given too.",
    "At which position is query 0 when the offset is 3, with any number of keys?",
    why="The offset is read in the branch for m=None only.",
    position="i + offset without m",
)
exercise.option(
    "offset_subtracted",
    "Your offset is subtracted: the further back the first query is in the sequence, "
    "the further your triangle moves the other way.",
    "If more positions come before a query, does it attend to more keys or fewer?",
    why="The offset is added on the side of the keys: j + offset <= i.",
    position="i − offset",
)
exercise.option(
    "offset_twice",
    "Your query i is at position i + 2 · offset.",
    "At which position is query 0 when the offset is 3?",
    why="The positions begin at the offset already, and k=offset adds it once more.",
    position="i + 2 offset",
)
exercise.option(
    "offset_one_too_small",
    "Your queries are one position too early where positions come before them.",
    "At which position is query 0 when one position comes before it?",
    why="The offset is taken for the position of the first query, counted from 1.",
    position="i + offset − 1",
)
exercise.option(
    "positions_before_blocked",
    "Your columns before number offset are blocked for all.",
    "Which keys come before the first query, and may it attend to them?",
    why="A square triangle is put behind a block of False for earlier positions, as "
    "np.zeros makes it.",
    positions_before="blocked",
)
exercise.option(
    "keys_at_the_end_open",
    "Your keys behind the position of the last query are open to all.",
    "At which position is the last key, if m is greater than n + offset?",
    why="False is written into a mask full of True, but only as far as the triangle "
    "goes.",
    keys_at_the_end="open",
)
exercise.option(
    "sizes_swapped",
    "Your mask has m rows and n columns.",
    "Which of the two has the rows in scores of shape (n, m)?",
    why="np.tri(m, n) and comparisons with the wrong side as a column are right as "
    "long as the mask is square.",
    axes="(m, n)",
)
exercise.option(
    "rows_and_columns_exchanged",
    "Your row j says which queries may attend to key j.",
    "Which have the rows of a mask of shape (n, m), the queries or the keys?",
    why="The positions of the keys are made a column, and those of the queries are "
    "left as a row.",
    axes="turned",
)
exercise.option(
    "as_many_rows_as_keys",
    "Your mask is square: it has a row for each of the m keys.",
    "How many queries are there?",
    why="The mask of self-attention over all keys is made, and not cut to the queries.",
    axes="(m, m)",
)
exercise.option(
    "rows_for_positions_before",
    "Your mask has a row for each of the positions before the first query too.",
    "At which position is the first row's query?",
    why="The mask of the whole sequence is made, and not cut to the last n rows.",
    axes="(n + offset, m)",
)
exercise.option(
    "axis_in_front",
    "Your mask has an axis of length 1 in front.",
    "Which shape does the docstring promise?",
    why="subsequent_mask in The Annotated Transformer returns (1, n, n), for batches.",
    axes="(1, n, m)",
)
exercise.family(families.squeezed(), families.as_list())
