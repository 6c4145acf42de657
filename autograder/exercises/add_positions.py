"""Cases and misconceptions of ``add_positions``."""

import numpy as np

from autograder import Exercise, families
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


@exercise.case("Every sequence of a batch starts at position 0", weight=2)
def leading_axes(student, rng):
    encoding = rng.normal(size=(31, 12))
    student.agrees(rng.normal(size=(2, 5, 12)), encoding)
    student.agrees(rng.normal(size=(2, 3, 5, 12)), encoding)


@exercise.case(
    "With as many sequences as tokens, token i still gets position i", weight=1.5
)
def as_many_sequences_as_tokens(student, rng):
    # Here the batch axis and the token axis have one length: a wrong axis makes no
    # noise, and neither does a sum that takes its number of positions from the batch.
    student.agrees(rng.normal(size=(5, 5, 12)), rng.normal(size=(31, 12)))


@exercise.case(
    "The tokens of a batch of one sequence get different positions", weight=0.5
)
def one_sequence(student, rng):
    encoding = rng.normal(size=(7, 12))
    student.agrees(rng.normal(size=(1, 5, 12)), encoding)
    student.agrees(rng.normal(size=(2, 1, 5, 12)), encoding)


@exercise.case("A single token keeps its axis", weight=0.5)
def single_token(student, rng):
    student.agrees(rng.normal(size=(1, 4)), rng.normal(size=(7, 4)))
    student.agrees(rng.normal(size=(3, 1, 4)), rng.normal(size=(7, 4)))


@exercise.fine_point("More tokens than positions end in an error")
def too_many_tokens(student, rng):
    student.raises(Exception, rng.normal(size=(7, 4)), rng.normal(size=(5, 4)))
    # The only position is a row that NumPy adds to any number of tokens.
    student.raises(Exception, rng.normal(size=(3, 4)), rng.normal(size=(1, 4)))


@exercise.case("The tokens and the encoding are not modified", weight=0.5)
def arguments_stay(student, rng):
    x, encoding = rng.integers(1, 9, size=(2, 3)), rng.integers(1, 9, size=(5, 3))
    student.leaves_unchanged(x.astype(float), encoding.astype(float))
    student.leaves_unchanged(rng.normal(size=(4, 2, 3)), encoding.astype(float))


@exercise.case(
    "Tokens of zeros become the encoding, and an encoding of zeros leaves the tokens",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def zeros_on_either_side(student, rng):
    x, encoding = rng.normal(size=(3, 5, 12)), rng.normal(size=(9, 12))
    student.expect(student(0 * x, encoding), np.stack([encoding[:5]] * 3))
    student.expect(student(x, 0 * encoding), x)


@exercise.case("As many tokens as positions get them all", visible=False)
def every_position_used(student, rng):
    n = int(rng.integers(5, 9))
    student.agrees(rng.normal(size=(2, n, 4)), rng.normal(size=(n, 4)))


exercise.edits(
    """
along_the_batch:
  | x.shape[-2] -> len(x)
  | encoding[:n] -> encoding[:n].reshape(-1, *[1] * (x.ndim - 2), x.shape[-1])
  Your encodings run along axis 0: token i of sequence b gets position b.
  ? Which axis of a batch holds the tokens?
  # Code for (n, batch, d_model), as in PyTorch's tutorial, is used on batches that
    come first: songyangco/GETNext issue 2.
positions_continue_across_sequences:
  | x.shape[-2] -> x.size // x.shape[-1]
  | encoding[:n] -> encoding[:n].reshape(x.shape)
  Your positions run on from one sequence to the next: the second sequence starts
    where the first ended.
  ? At which position does the first token of every sequence stand?
  # The batch is flattened to one long row of tokens and numbered through.
positions_counted_by_the_batch: encoding[:n] -> encoding[:len(x)]
  In a batch you take as many positions as the first axis of x is long.
  ? What does len(x) count in a batch, and what does it count in one sequence?
  # len(x) and x.shape[0] are the tokens only where there is no batch; with one
    sequence, or as many as tokens, nothing complains.
tokens_counted_on_axis_one: encoding[:n] -> encoding[:x.shape[1]]
  Your number of tokens is that of axis 1, right for one batch axis only.
  ? Which axis holds the tokens, however many axes stand in front?
  # x.size(1) stands in the Annotated Transformer, where x has three axes.
batch_of_sequences_taken_for_granted:
  | x.shape[-2] -> x.shape[1]
  | encoding[:n] -> encoding[np.newaxis, :n, :]
  Your number of tokens is that of axis 1, and your encoding has three axes: right for
    x with three axes only.
  ? Which axis holds the tokens, however many axes stand in front?
  # pe has shape (1, max_len, d_model) in the Annotated Transformer, and x.size(1) is
    the length there.
last_positions: encoding[:n] -> encoding[-n:]
  Your tokens get the last rows of the encoding.
  ? Where does the first token stand, if the table has rows for later positions too?
  # encoding[-n:] has n rows as well, and is the same where n is all there are.
whole_encoding: encoding[:n] -> encoding
  You add the whole encoding: with more positions than tokens your function stops, or
    gives a single token a row for each position.
  ? How many rows does the sum need, and how many has the encoding?
  # x + encoding is right where the encoding was made for just this sequence.
row_of_position_n: encoding[:n] -> encoding[n]
  All your tokens get one and the same row, that of position n.
  ? How many rows does encoding[n] give, and how many do you need?
  # The colon of encoding[:n] is missing, and broadcasting hides it.
row_of_the_last_token: encoding[:n] -> encoding[n - 1]
  All your tokens get one and the same row, that of position n − 1.
  ? How many rows does encoding[n - 1] give, and how many do you need?
  # The row of the newest token is the only one that a step of decoding needs.
row_of_position_zero: encoding[:n] -> encoding[0]
  All your tokens get one and the same row, that of position 0.
  ? How many rows does encoding[0] give, and how many do you need?
  # encoding[0] takes the batch axis off many an encoding, and here a row.
positions_backwards: encoding[:n] -> encoding[:n][::-1]
  Your first token gets the last of the n positions, and the last token the first.
  ? At which position is the first token?
  # Distances from the end are what some models count.
first_token_at_position_one: encoding[:n] -> encoding[1:n + 1]
  Your first token gets the encoding of position 1.
  ? Which number does the first position have here?
  # Libraries such as fairseq keep the first positions for padding.
concatenated:
  | return np.concatenate([x, np.broadcast_to(encoding[:n], x.shape)], axis=-1)
  Your rows are twice as long: the encoding stands behind the token.
  ? How long is a row of the result, according to the docstring?
  # Concatenating keeps both apart, and some models do so; this one adds.
subtracted: x + encoding -> x - encoding
  The encoding is subtracted from your tokens.
  ? What does the docstring do with a token and the encoding of its position?
  # A sign is exchanged.
multiplied: x + encoding -> x * encoding
  Your tokens are multiplied by the encoding.
  # Rotary positions multiply, and sinusoids are taken for them.
mean_of_both: return (x + encoding[:n]) / 2
  Your result is half of the sum.
  ? What should come out for an encoding of zeros?
  # The mean keeps numbers as large as they were.
x_returned: return 1.0 * x
  Your tokens come back without any encoding.
  ? What should come out for tokens of zeros?
  # The sum is computed, and x is returned.
encoding_returned: return np.broadcast_to(encoding[:n], x.shape)
  Your result is the encoding without the tokens.
  ? What should come out for an encoding of zeros?
  # The positions are picked, and the sum is forgotten.
tokens_scaled: return x * np.sqrt(x.shape[-1]) + encoding[:n]
  Your tokens are multiplied by √d_model before the encoding is added.
  # The paper scales its embeddings so (section 3.4), and many codes do it in the same
    line as the sum; here x comes as it should be.
tokens_scaled_down: return x / np.sqrt(x.shape[-1]) + encoding[:n]
  Your tokens are divided by √d_model before the encoding is added.
  # The root of scaled scores, and that of section 3.4, are mixed up.
encoding_scaled: return x + encoding[:n] * np.sqrt(x.shape[-1])
  Your encoding is multiplied by √d_model before it is added.
  ? What should come out for tokens of zeros?
  # The root of the paper's section 3.4 belongs to the embeddings, and is put on the
    wrong one.
sum_scaled: return (x + encoding[:n]) * np.sqrt(x.shape[-1])
  Your tokens and your encoding are both multiplied by √d_model.
  # The root of the paper's section 3.4 is put outside the brackets.
one_position_for_all:
  | if n > n_positions:
  :     raise ValueError… ->
  Your function leaves it to NumPy to stop where positions are missing: the row of a
    table with a single position is added to all tokens.
  ? How does NumPy add one row to three, and does it complain?
  # The sum of unequal shapes mostly stops by itself, so nobody checks; with one
    position it does not.
positions_start_over:
  | raise ValueError… -> encoding = encoding[np.arange(n) % n_positions]
  Your positions start again at 0 when the table is used up.
  ? Can a model tell two tokens apart that share a position?
  # An index modulo the table's length keeps long inputs from stopping.
last_position_for_the_rest:
  | raise ValueError… -> encoding = encoding[np.minimum(np.arange(n), n_positions - 1)]
  Your tokens share the last position when the table is used up.
  # An index that is clipped keeps long inputs from stopping.
no_position_for_the_rest:
  | raise ValueError… -> encoding = np.pad(encoding, ((0, n - n_positions), (0, 0)))
  Your tokens get no encoding when the table is used up.
  ? What does the docstring promise if there are too few positions?
  # A loop over what there is leaves the other tokens as they are.
tokens_cut_off: raise ValueError… -> x = x[..., :n_positions, :]
  Your result lacks the tokens for which no position is left.
  ? Who would notice, if a function leaves out the end of a text without a word?
  # Inputs are often cut to the longest length: x[:, :max_len].
last_position_refused: n > n_positions -> n >= n_positions
  Your function stops where there are just as many positions as tokens.
  ? How many positions must there be, at least?
  # >= is written for >.
written_into_x:
  | return x + encoding[:n] ->
  :     x += encoding[:n]
  :     return x
  Your call writes the result into the caller's x.
  ? What does `x += …` do to the array that the caller holds?
  # `x += …` looks like `x = x + …`, and `x[...] = …` saves an array.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
)
