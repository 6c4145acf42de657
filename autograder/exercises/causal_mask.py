"""Cases and misconceptions of ``causal_mask``."""

import numpy as np

from autograder import Exercise
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


@exercise.case("Key j is at position j, with more keys than queries or with fewer")
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


@exercise.case("A single query attends to its own position and to all before it")
def a_single_query(student, rng):
    student.expect(student(1), np.array([[True]]))
    student.expect(student(1, 4), np.array([[True, False, False, False]]))
    student.expect(student(1, offset=3), np.array([[True, True, True, True]]))


@exercise.case(
    "The first query sees one key, each further query one more", visible=False
)
def one_key_more_in_each_row(student, rng):
    n = int(rng.integers(6, 60))
    counts = student(n).sum(axis=1)
    student.expect(
        counts, np.arange(1, n + 1), what="the number of keys each query sees"
    )


@exercise.case("Masks of other sizes are right too", visible=False)
def other_sizes(student, rng):
    n, m, offset = (int(size) for size in rng.permutation([3, 5, 9]))
    student.agrees(n, m, offset)
    student.agrees(n, n + 2, 2)


@exercise.misconception(
    "Your mask is True for the keys behind a query, and False for the others.",
    "What does True mean in a mask called may_attend?",
    why="In the masks of PyTorch's nn.MultiheadAttention and nn.Transformer True means "
    "blocked; pytorch/pytorch#170415 is about the mix-up.",
)
def polarity_reversed(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.arange(m) > np.arange(n)[:, np.newaxis] + offset


@exercise.misconception(
    "Your diagonal is False: a query sees only the keys before its own position, and "
    "the first query sees nothing unless there are positions before it.",
    "Does the docstring let a query attend to its own position?",
    why="The diagonal of triu and tril is off by one; pbloem/former#10 had whole rows "
    "of NaN from it.",
)
def diagonal_blocked(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.arange(m) < np.arange(n)[:, np.newaxis] + offset


@exercise.misconception(
    "Your rows have one True too many: each query sees the next key too.",
    "Which is the last key that the first query may attend to, if nothing comes before "
    "it?",
    why="diagonal=1 belongs to triu with True = blocked, and is copied into tril; "
    "RVC-Boss/GPT-SoVITS#965 asks about it.",
)
def one_key_too_many(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.arange(m) <= np.arange(n)[:, np.newaxis] + offset + 1


@exercise.misconception(
    "Your triangle is the upper one: each query sees its own position and what comes "
    "behind it.",
    "On which side of the diagonal are the keys before a query?",
    why="np.triu is taken for np.tril; karpathy/nanoGPT#170 asks which one it must be.",
)
def upper_triangle(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.triu(np.ones((n, m), dtype=bool), k=offset)


@exercise.misconception(
    "Your mask holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise, and which does np.ones give you?",
    why="np.tril(np.ones((n, m))) holds floats; added to the scores as they are, ones "
    "block nothing (pytorch/pytorch#21518).",
)
def ones_and_zeros(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.tril(np.ones((n, m)), k=offset)


@exercise.misconception(
    "Your mask holds 0 and −∞, which are to be added to the scores.",
    "Which two values does a mask called may_attend have?",
    why="PyTorch's nn.Transformer.generate_square_subsequent_mask gives these numbers.",
)
def numbers_to_add(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.triu(np.full((n, m), -np.inf), k=offset + 1)


@exercise.misconception(
    "Your mask always has n + offset columns, however many keys are asked for.",
    "Where does your code use m?",
    why="In self-attention there are as many keys as queries, so m is not missed.",
)
def number_of_keys_ignored(n, m=None, offset=0):
    return np.tri(n, n + offset, offset, dtype=bool)


@exercise.misconception(
    "Your last row is True to its very end: your last query has the position of the "
    "last key, whatever the offset.",
    "At which position does the docstring put query i?",
    why="FlashAttention and MLX align the triangle at the lower right corner, PyTorch "
    "at the upper left one (ml-explore/mlx#2967).",
)
def aligned_at_the_end(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.tri(n, m, m - n, dtype=bool)


@exercise.misconception(
    "Your query i sees the keys 0 … i, however many positions come before the first "
    "query.",
    "At which position is query 0 when the offset is 3?",
    why="A triangle that begins at the first key is right as long as nothing was "
    "kept from earlier steps (onnx/onnx#8068, pytorch/executorch#21749).",
)
def offset_ignored(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.tri(n, m, dtype=bool)


@exercise.misconception(
    "Your mask has n columns when no m is given: the positions before the first query "
    "have none.",
    "How many keys may the last query attend to?",
    why="m = n is the default of square masks, and is right for offset 0.",
)
def as_many_keys_as_queries(n, m=None, offset=0):
    return np.tri(n, n if m is None else m, offset, dtype=bool)


@exercise.misconception(
    "Your offset is subtracted: the further back the first query is in the sequence, "
    "the fewer keys your rows see.",
    "If more positions come before a query, does it see more keys or fewer?",
    why="The offset is added on the side of the keys: j + offset <= i.",
)
def offset_subtracted(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.arange(m) + offset <= np.arange(n)[:, np.newaxis]


@exercise.misconception(
    "Your triangle begins at column number offset: the keys before it are blocked for "
    "all.",
    "Which keys come before the first query, and may it attend to them?",
    why="A square triangle is put behind a block of False for earlier positions, as "
    "np.zeros makes it.",
)
def positions_before_blocked(n, m=None, offset=0):
    m = n + offset if m is None else m
    keys, positions = np.arange(m), np.arange(n)[:, np.newaxis] + offset
    return (keys >= offset) & (keys <= positions)


@exercise.misconception(
    "Your mask has a row for each key and a column for each query.",
    "Which of the two has the rows in scores of shape (n, m)?",
    why="np.tri(m, n) and comparisons with the wrong side as a column are right as "
    "long as the mask is square.",
)
def sizes_swapped(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.tri(m, n, offset, dtype=bool)


@exercise.misconception(
    "Your keys behind the position of the last query are open to all.",
    "At which position is the last key, if m is greater than n + offset?",
    why="False is written into a mask full of True, but only as far as the triangle "
    "goes.",
)
def keys_at_the_end_open(n, m=None, offset=0):
    m = n + offset if m is None else m
    keys, positions = np.arange(m), np.arange(n)[:, np.newaxis] + offset
    return (keys <= positions) | (keys >= n + offset)


@exercise.misconception(
    "Your mask is the right one turned over: row j says which queries may attend to "
    "key j.",
    "Which have the rows of a mask of shape (n, m), the queries or the keys?",
    why="The positions of the keys are made a column, and those of the queries are "
    "left as a row.",
)
def rows_and_columns_exchanged(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.arange(m)[:, np.newaxis] <= np.arange(n) + offset
