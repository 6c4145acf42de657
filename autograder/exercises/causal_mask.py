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


exercise.edits(
    """
polarity_reversed: <= -> >
  Your mask is True where a key is blocked.
  ? What does True mean in a mask called may_attend?
  # In the masks of PyTorch's nn.MultiheadAttention and nn.Transformer True means
    blocked; pytorch/pytorch#170415 is about the mix-up.
diagonal_blocked: <= -> <
  Your queries attend to the keys before their own position, and not to that position.
  ? Does the docstring let a query attend to its own position?
  # The diagonal of triu and tril is off by one; pbloem/former#10 had whole rows of
    NaN from it.
one_key_too_many: np.newaxis] + offset -> np.newaxis] + offset + 1
  Your rows have one True too many: each query attends to the next key too.
  ? Which is the last key that the first query may attend to, if nothing comes before
    it?
  # diagonal=1 belongs to triu with True = blocked, and is copied into tril;
    RVC-Boss/GPT-SoVITS#965 asks about it.
upper_triangle: <= -> >=
  Your triangle is the upper one: it holds what comes behind a query.
  ? On which side of the diagonal are the keys before a query?
  # np.triu is taken for np.tril; karpathy/nanoGPT#170 asks which one it must be.
own_position_only: <= -> ==
  Your rows have a single True: a query attends to its own position alone.
  ? To which other positions may a query attend?
  # np.eye marks the positions of the queries, and the keys before them are left.
everything_open: return np.ones((n, m), bool)
  Your mask blocks no key.
  ? Which keys are hidden from a query that writes from left to right?
  # The shape is right, and the comparison is left for later.
ones_and_zeros: return np.tri(n, m, offset)
  Your mask holds the numbers 1.0 and 0.0.
  ? Which dtype does the docstring promise, and which does np.ones give you?
  # np.tril(np.ones((n, m))) holds floats; added to the scores as they are, ones block
    nothing (pytorch/pytorch#21518).
whole_numbers: return np.tri(n, m, offset, dtype=int)
  Your mask holds the integers 1 and 0.
  ? Which dtype does the docstring promise?
  # dtype=int, or 1 and 0 in a list, look like True and False.
numbers_to_add: return np.where(np.tri(n, m, offset), 0.0, -np.inf)
  Your mask holds 0 and −∞, which are to be added to the scores.
  ? Which two values does a mask called may_attend have?
  # PyTorch's nn.Transformer.generate_square_subsequent_mask gives these numbers.
a_billion_to_take_off: return np.where(np.tri(n, m, offset), 0.0, -1000000000.0)
  Your mask holds 0 and −10⁹, which are to be added to the scores.
  # Masks with −1e9 are in many an example.
number_of_keys_ignored:
  | if m is None:
  :     m = n + offset -> m = n + offset
  Your mask always has n + offset columns, however many keys are asked for.
  ? Which argument says how many keys there are?
  # In self-attention there are as many keys as queries, so m is not missed.
offset_added_to_the_number_of_keys:
  | if m is None:
  :     m = n + offset -> m = (n if m is None else m) + offset
  Your mask has m + offset columns where m is given.
  ? Does m count the keys at the positions before the first query?
  # m is taken for the number of new keys, apart from those that were kept.
as_many_keys_as_queries: m = n
  Your mask has n columns when no m is given, whatever offset is: the newest positions
    have none.
  ? How many keys may the last query attend to?
  # m = n is the default of square masks, and is right for offset 0.
no_keys_taken_for_none: m is None -> not m
  Your mask has n + offset columns for m=0.
  ? Is 0 the same as None, and what does `or` say?
  # `m or n + offset` and `if not m` take 0 for a number that is left out.
aligned_at_the_end: np.newaxis] + offset -> np.newaxis] + m - n
  Your last row is shifted to the last key, whatever the offset.
  ? At which position does the docstring put query i?
  # FlashAttention and MLX align the triangle at the lower right corner, PyTorch at
    the upper left one (ml-explore/mlx#2967).
offset_ignored: np.newaxis] + offset -> np.newaxis]
  Your query i is at position i, however many positions come before the first query.
  ? At which position is query 0 when the offset is 3?
  # A triangle that begins at the first key is right as long as nothing was kept from
    earlier steps (onnx/onnx#8068, pytorch/executorch#21749).
offset_ignored_beside_m:
  | if m is None:
  :     m = n + offset ->
  :     if m is None:
  :         m = n + offset
  :     else:
  :         offset = 0
  Your query i is at position i where the number of keys is given too.
  ? At which position is query 0 when the offset is 3, with any number of keys?
  # The offset is read in the branch for m=None only.
offset_subtracted: np.newaxis] + offset -> np.newaxis] - offset
  Your offset is subtracted: the further back the first query is in the sequence, the
    further your triangle moves the other way.
  ? If more positions come before a query, does it attend to more keys or fewer?
  # The offset is added on the side of the keys: j + offset <= i.
offset_twice: np.newaxis] + offset -> np.newaxis] + 2 * offset
  Your query i is at position i + 2 · offset.
  ? At which position is query 0 when the offset is 3?
  # The positions begin at the offset already, and k=offset adds it once more.
offset_one_too_small: np.newaxis] + offset -> np.newaxis] + max(offset - 1, 0)
  Your queries are one position too early where positions come before them.
  ? At which position is query 0 when one position comes before it?
  # The offset is taken for the position of the first query, counted from 1.
positions_before_blocked:
  | return (np.arange(m) >= offset) & (
  :     np.arange(m) <= np.arange(n)[:, np.newaxis] + offset
  : )
  Your columns before number offset are blocked for all.
  ? Which keys come before the first query, and may it attend to them?
  # A square triangle is put behind a block of False for earlier positions, as
    np.zeros makes it.
keys_at_the_end_open:
  | return (np.arange(m) >= n + offset) | (
  :     np.arange(m) <= np.arange(n)[:, np.newaxis] + offset
  : )
  Your keys behind the position of the last query are open to all.
  ? At which position is the last key, if m is greater than n + offset?
  # False is written into a mask full of True, but only as far as the triangle goes.
sizes_swapped:
  | np.arange(m) <= np.arange(n)[:, np.newaxis] ->
  :     np.arange(n) <= np.arange(m)[:, np.newaxis]
  Your mask has m rows and n columns.
  ? Which of the two has the rows in scores of shape (n, m)?
  # np.tri(m, n) and comparisons with the wrong side as a column are right as long as
    the mask is square.
rows_and_columns_exchanged: return np.arange(m)[:, np.newaxis] <= np.arange(n) + offset
  Your row j says which queries may attend to key j.
  ? Which have the rows of a mask of shape (n, m), the queries or the keys?
  # The positions of the keys are made a column, and those of the queries are left as
    a row.
as_many_rows_as_keys: np.arange(n) -> np.arange(m)
  Your mask is square: it has a row for each of the m keys.
  ? How many queries are there?
  # The mask of self-attention over all keys is made, and not cut to the queries.
rows_for_positions_before:
  | np.arange(n)[:, np.newaxis] + offset -> np.arange(n + offset)[:, np.newaxis]
  Your mask has a row for each of the positions before the first query too.
  ? At which position is the first row's query?
  # The mask of the whole sequence is made, and not cut to the last n rows.
axis_in_front: [:, np.newaxis] -> [np.newaxis, :, np.newaxis]
  Your mask has an axis of length 1 in front.
  ? Which shape does the docstring promise?
  # subsequent_mask in The Annotated Transformer returns (1, n, n), for batches.
""",
)

exercise.family(families.squeezed(), families.as_list())
