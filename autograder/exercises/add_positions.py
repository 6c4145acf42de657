"""Cases and misconceptions of ``add_positions``."""

import numpy as np

from autograder import Exercise
from course_lib.positions import add_positions

exercise = Exercise(
    add_positions,
    lesson="05_positional_encoding",
    minutes=6,
    difficulty=1,
    library=(
        "course_lib.nn.transformer.LearnedPositions",
        "course_lib.nn.transformer.SinusoidalPositions",
        "course_lib.lessons.single_head_model.AdditivePositions",
    ),
)


@exercise.spec
def spec(x, encoding):
    *leading, n, d_model = x.shape
    if n > len(encoding):
        raise ValueError(f"{n} tokens, {len(encoding)} positions")
    result = np.zeros((*leading, n, d_model))
    for index in np.ndindex(*leading, n, d_model):
        *batch, i, c = index
        result[index] = float(x[*batch, i, c]) + float(encoding[i, c])
    return result


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 12)), rng.normal(size=(31, 12))


@exercise.case("Two tokens get the first two of three positions")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    encoding = np.array(
        [[0.0, 10.0, 0.0, 10.0], [20.0, 30.0, 0.0, 10.0], [30.0, -40.0, 0.0, 10.0]]
    )
    expected = np.array([[1.0, 12.0, 3.0, 14.0], [25.0, 36.0, 7.0, 18.0]])
    student.expect(student(x, encoding), expected)
    student.agrees(rng.normal(size=(2, 4)), rng.normal(size=(3, 4)))


@exercise.case("Every sequence of a batch starts at position 0")
def leading_axes(student, rng):
    encoding = rng.normal(size=(31, 12))
    student.agrees(rng.normal(size=(2, 5, 12)), encoding)
    student.agrees(rng.normal(size=(2, 3, 5, 12)), encoding)


@exercise.case("With as many sequences as tokens, token i still gets position i")
def as_many_sequences_as_tokens(student, rng):
    # Here the batch axis and the token axis have one length: a wrong axis makes no
    # noise, and neither does a sum that takes its number of positions from the batch.
    student.agrees(rng.normal(size=(5, 5, 12)), rng.normal(size=(31, 12)))


@exercise.case("The tokens of a batch of one sequence get different positions")
def one_sequence(student, rng):
    encoding = rng.normal(size=(7, 12))
    student.agrees(rng.normal(size=(1, 5, 12)), encoding)
    student.agrees(rng.normal(size=(2, 1, 5, 12)), encoding)


@exercise.case("Tokens of whole numbers get the encoding unrounded")
def whole_numbers(student, rng):
    student.agrees(rng.integers(-9, 10, size=(2, 3, 4)), rng.normal(size=(7, 4)))


@exercise.case("More tokens than positions are refused with a ValueError")
def too_many_tokens(student, rng):
    student.raises(ValueError, rng.normal(size=(7, 4)), rng.normal(size=(5, 4)))
    # A single position is a row that NumPy would add to every token.
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    student.raises(ValueError, x, np.array([[0.0, 1.0]]))


@exercise.case("The tokens and the encoding stay as they are")
def arguments_stay(student, rng):
    x, encoding = rng.integers(1, 9, size=(2, 3)), rng.integers(1, 9, size=(5, 3))
    student.leaves_unchanged(x.astype(float), encoding.astype(float))


@exercise.case(
    "Tokens of zeros become the encoding, and an encoding of zeros leaves the tokens",
    visible=False,
    pays_alone=False,
)
def zeros_on_either_side(student, rng):
    x, encoding = rng.normal(size=(3, 5, 12)), rng.normal(size=(9, 12))
    student.expect(student(0 * x, encoding), np.stack([encoding[:5]] * 3))
    student.expect(student(x, 0 * encoding), x)


@exercise.case("As many tokens as positions get them all", visible=False)
def every_position_used(student, rng):
    n = int(rng.integers(5, 9))
    student.agrees(rng.normal(size=(2, n, 4)), rng.normal(size=(n, 4)))


def refuse_too_many(n, encoding):
    """Raise the error that the contract asks for."""
    if n > len(encoding):
        raise ValueError(f"{n} tokens, {len(encoding)} positions")


@exercise.misconception(
    "Your encodings run along axis 0: token i of sequence b gets position b.",
    "Which axis of a batch holds the tokens?",
    why="Code for (n, batch, d_model), as in PyTorch's tutorial, is used on batches "
    "that come first: songyangco/GETNext issue 2.",
)
def along_the_batch(x, encoding):
    n = x.shape[0]
    refuse_too_many(n, encoding)
    return x + encoding[:n].reshape(n, *[1] * (x.ndim - 2), x.shape[-1])


@exercise.misconception(
    "Your code takes as many positions as there are sequences.",
    "What does len(x) count in a batch, and what does it count in one sequence?",
    why="len(x) and x.shape[0] are the tokens only where there is no batch; with one "
    "sequence, or as many as tokens, nothing complains.",
)
def positions_counted_by_the_batch(x, encoding):
    refuse_too_many(x.shape[-2], encoding)
    return x + encoding[: len(x)]


@exercise.misconception(
    "Your code takes as many positions as there are sequences, and adds a single "
    "position to every token where more tokens than positions should be an error.",
    "What does len(x) count in a batch; and does NumPy complain when it adds one row "
    "to three?",
    why="x + encoding[: len(x)] is the shortest first try, and its unequal shapes "
    "mostly stop by themselves.",
)
def positions_counted_by_the_batch_unchecked(x, encoding):
    return x + encoding[: len(x)]


@exercise.misconception(
    "Your code reads the number of tokens from axis 1, right for one batch axis only.",
    "Which axis holds the tokens, however many axes stand in front?",
    why="x.size(1) stands in the Annotated Transformer, where x has three axes.",
)
def tokens_counted_on_axis_one(x, encoding):
    n = x.shape[1]
    if x.shape[-2] > len(encoding):
        raise ValueError("more tokens than positions")
    return x + encoding[:n]


@exercise.misconception(
    "Your positions run on from one sequence to the next: the second sequence starts "
    "where the first ended.",
    "At which position does the first token of every sequence stand?",
    why="The batch is flattened to one long row of tokens and numbered through.",
)
def positions_continue_across_sequences(x, encoding):
    rows = x.reshape(-1, x.shape[-1])
    refuse_too_many(len(rows), encoding)
    return (rows + encoding[: len(rows)]).reshape(x.shape)


@exercise.misconception(
    "Your rows hold the token and, behind it, the encoding: they are twice as long.",
    "How long is a row of the result, according to the docstring?",
    why="Concatenating keeps both apart, and some models do so; this one adds.",
)
def concatenated(x, encoding):
    n = x.shape[-2]
    refuse_too_many(n, encoding)
    positions = np.broadcast_to(encoding[:n], x.shape)
    return np.concatenate([x, positions], axis=-1)


@exercise.misconception(
    "Your tokens are multiplied by √d_model before the encoding is added.",
    "What should come out for an encoding of zeros?",
    why="The paper scales its embeddings so (section 3.4), and many codes do it in "
    "the same line as the sum; here x comes as it should be.",
)
def tokens_scaled(x, encoding):
    n, d_model = x.shape[-2:]
    refuse_too_many(n, encoding)
    return x * np.sqrt(d_model) + encoding[:n]


@exercise.misconception(
    "Your encoding is multiplied by √d_model before it is added.",
    "What should come out for tokens of zeros?",
    why="The root of the paper's section 3.4 belongs to the embeddings, and is put on "
    "the wrong one.",
)
def encoding_scaled(x, encoding):
    n, d_model = x.shape[-2:]
    refuse_too_many(n, encoding)
    return x + encoding[:n] * np.sqrt(d_model)


@exercise.misconception(
    "Your tokens get the last rows of the encoding.",
    "Where does the first token stand, if the table has rows for later positions too?",
    why="encoding[-n:] has n rows as well, and is the same where n is all there are.",
)
def last_positions(x, encoding):
    n = x.shape[-2]
    refuse_too_many(n, encoding)
    return x + encoding[-n:]


@exercise.misconception(
    "All your tokens get one and the same row, that of position n.",
    "How many rows does encoding[n] give, and how many do you need?",
    why="The colon of encoding[:n] is missing, and broadcasting hides it.",
)
def row_of_position_n(x, encoding):
    n = x.shape[-2]
    refuse_too_many(n, encoding)
    return x + encoding[n]


@exercise.misconception(
    "Your first token gets the encoding of position 1.",
    "Which number does the first position have here?",
    why="Libraries such as fairseq keep the first positions for padding.",
)
def first_token_at_position_one(x, encoding):
    n = x.shape[-2]
    refuse_too_many(n, encoding)
    return x + encoding[1 : n + 1]


@exercise.misconception(
    "Your code adds the encoding into x itself.",
    "What does `x += …` do to the array that the caller holds?",
    why="`x += …` looks like `x = x + …`, and `x[...] += …` is thrifty.",
)
def added_in_place(x, encoding):
    n = x.shape[-2]
    refuse_too_many(n, encoding)
    x += encoding[:n]
    return x


@exercise.misconception(
    "Your result loses what stands after the decimal point when x holds whole numbers.",
    "Which dtype has the array that you write the result into?",
    why="np.zeros_like(x), x.copy() and astype(x.dtype) take over x's integers.",
)
def cut_to_whole_numbers(x, encoding):
    n = x.shape[-2]
    refuse_too_many(n, encoding)
    return (x + encoding[:n]).astype(x.dtype)


@exercise.misconception(
    "Your code adds a single encoded position to every token, where more tokens than "
    "positions should be an error.",
    "How does NumPy add one row to three, and does it complain?",
    why="The sum of unequal shapes mostly stops by itself, with a ValueError even, so "
    "nobody checks; with one position it does not.",
)
def one_position_for_all(x, encoding):
    return x + encoding[: x.shape[-2]]


@exercise.misconception(
    "Your positions start again at 0 when the table is used up.",
    "Can a model tell two tokens apart that share a position?",
    why="An index modulo the table's length keeps long inputs from stopping.",
)
def positions_start_over(x, encoding):
    positions = np.arange(x.shape[-2]) % len(encoding)
    return x + encoding[positions]


@exercise.misconception(
    "Your result lacks the tokens for which no position is left.",
    "Who would notice, if a function leaves out the end of a text without a word?",
    why="Inputs are often cut to the longest length: x[:, :max_len].",
)
def tokens_cut_off(x, encoding):
    start = x[..., : len(encoding), :]
    return start + encoding[: start.shape[-2]]
