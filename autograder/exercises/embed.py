"""Cases and known mistakes of ``embed``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.functional import embed

exercise = Exercise(
    embed,
    lesson="08_transformer",
    minutes=10,
    difficulty=1,
)


@exercise.spec
def spec(tokens, table, encoding):
    d_model, result = table.shape[1], np.zeros((*tokens.shape, table.shape[1]))
    for *batch, i in np.ndindex(*tokens.shape):
        for c in range(d_model):
            learned = float(table[int(tokens[*batch, i]), c])
            result[*batch, i, c] = learned * math.sqrt(d_model) + float(encoding[i, c])
    return torch.from_numpy(result).to(table.dtype)


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, shape, vocab_size=11, n_places=13, d_model=6, dtype=np.float32):
    """Draw tokens of a shape, the table and the encoding."""
    tokens = tensor(rng.integers(0, vocab_size, size=shape), np.int64)
    table = tensor(rng.normal(size=(vocab_size, d_model)), dtype)
    return tokens, table, tensor(rng.normal(size=(n_places, d_model)), dtype)


@exercise.usual
def usual(rng):
    return drawn(rng, (2, 5))


@exercise.case("Three tokens become these vectors of four numbers")
def small_example_by_hand(student, rng):
    table = tensor([[1.0, 0.0, 0.0, 3.0], [0.0, 1.0, 0.0, -2.0]])
    encoding = tensor(np.arange(16).reshape(4, 4) * 10)
    expected = [[0, 12, 20, 26], [42, 50, 60, 76], [80, 92, 100, 106]]
    student.expect(
        student(tensor([1, 0, 1], np.int64), table, encoding), tensor(expected)
    )


@exercise.case("The places are counted in each sequence anew, in any batch")
def leading_axes(student, rng):
    for shape in ((5,), (3, 5), (2, 3, 4)):
        student.agrees(*drawn(rng, shape))


@exercise.case("With as many sequences as tokens, places still belong to tokens")
def as_many_sequences_as_tokens(student, rng):
    student.agrees(*drawn(rng, (4, 4)))


@exercise.case("An encoding with exactly as many places as tokens is enough")
def no_place_to_spare(student, rng):
    student.agrees(*drawn(rng, (3, 5), n_places=5))


@exercise.case("One token stands at the first place")
def one_token(student, rng):
    table = tensor([[0.0] * 9, [1.0] * 9, [-2.0] * 9])
    encoding = tensor(np.outer([100.0, 200.0], np.ones(9)))
    expected = tensor([[[103.0] * 9], [[94.0] * 9]])  # √9 is 3
    student.expect(student(tensor([[1], [2]], np.int64), table, encoding), expected)


@exercise.case(
    "The same token at two places differs by the two rows of the encoding",
    visible=False,
)
def same_token_at_two_places(student, rng):
    _, table, encoding = drawn(rng, (1,))
    found = student(tensor([[7, 2, 7, 7]], np.int64), table, encoding).numpy()[0]
    places = encoding.numpy()
    student.expect(
        tensor(found[3] - found[0]),
        tensor(places[3] - places[0]),
        what="the vector at place 3 minus that at place 0",
    )


@exercise.case("In float64, and in whatever order of memory, all digits are right")
def double_precision(student, rng):
    tokens, table, encoding = drawn(rng, (5, 3), d_model=7, dtype=np.float64)
    student.agrees(tokens.T, tensor(table.numpy().T, np.float64).T, encoding)


@exercise.case("The tokens, the table and the encoding stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(*drawn(rng, (2, 3), vocab_size=4, n_places=5, d_model=3))


@exercise.misconception(
    "Your vectors are the rows of the table as they are, plus the places.",
    "What happens to a row of the table before the place is added?",
    why="The factor stands in one sentence of section 3.4 and in no figure: "
    "SamLynnEvans/Transformer, issue 10.",
)
def no_scale(tokens, table, encoding):
    return table[tokens] + encoding[: tokens.shape[-1]]


@exercise.misconception(
    "Your factor √d_model multiplies the sum: the places are scaled too.",
    "Which of the two summands is to be multiplied?",
    why="x = (embedding + encoding) * scale is one pair of brackets away.",
)
def sum_scaled(tokens, table, encoding):
    return (table[tokens] + encoding[: tokens.shape[-1]]) * table.shape[-1] ** 0.5


@exercise.misconception(
    "Your vectors are divided by √d_model.",
    "Are the learned vectors to become longer or shorter beside the places?",
    why="Scores are divided by a root: pytorch/tutorials, issue 2849, asks for it "
    "here as well.",
)
def divided_by_the_root(tokens, table, encoding):
    return table[tokens] / table.shape[-1] ** 0.5 + encoding[: tokens.shape[-1]]


@exercise.misconception(
    "Your factor √d_model multiplies the places, not the learned vectors.",
    "Which of the two summands is to be multiplied?",
    why="Where the factor stands inside the class of the encoding, it is easily put "
    "on the wrong tensor.",
)
def encoding_scaled(tokens, table, encoding):
    places = encoding[: tokens.shape[-1]] * table.shape[-1] ** 0.5
    return table[tokens] + places


@exercise.misconception(
    "Your factor is d_model itself.",
    "What stands over d_model in section 3.4 of the paper?",
    why="The root sign is lost when the sentence is read.",
)
def multiplied_by_d_model(tokens, table, encoding):
    return table[tokens] * table.shape[-1] + encoding[: tokens.shape[-1]]


@exercise.misconception(
    "Your factor is √vocab_size, the root of the number of rows of the table.",
    "Which axis of the table is d_model?",
    why="len(table) and table.shape[0] count the tokens of the vocabulary.",
)
def root_of_vocab_size(tokens, table, encoding):
    return table[tokens] * len(table) ** 0.5 + encoding[: tokens.shape[-1]]


@exercise.misconception(
    "Your factor is √n, the root of the number of tokens in a sequence.",
    "Should a token's vector change when the sentence gets longer?",
    why="tokens.shape[-1] is at hand for the places, and is used for the factor too.",
)
def root_of_n(tokens, table, encoding):
    n = tokens.shape[-1]
    return table[tokens] * n**0.5 + encoding[:n]


@exercise.misconception(
    "All tokens of one sequence of yours get the same place: that of the sequence in "
    "the batch.",
    "Which axis of tokens counts the places, and which counts the sequences?",
    why="pe[:x.size(0)] is right where tokens come first: songyangco/GETNext, issue 2.",
)
def places_along_the_batch(tokens, table, encoding):
    places = encoding[: tokens.shape[0]]
    places = places.reshape(-1, *[1] * (tokens.ndim - 1), table.shape[-1])
    return table[tokens] * table.shape[-1] ** 0.5 + places


@exercise.misconception(
    "All your tokens get one row of the encoding: row n.",
    "How many rows does `encoding[n]` give, and how many does `encoding[:n]`?",
    why="pe[:, x.shape[1]] lacks a colon: DiffPoseTalk/DiffPoseTalk, issue 20.",
)
def one_place_for_all(tokens, table, encoding):
    return table[tokens] * table.shape[-1] ** 0.5 + encoding[tokens.shape[-1]]


@exercise.misconception(
    "Your first token stands at place 1.",
    "Which row of the encoding belongs to the token with number 0 in the sequence?",
    why="Some libraries keep row 0 for padding and count places from 1.",
)
def places_from_one(tokens, table, encoding):
    places = encoding[1 : tokens.shape[-1] + 1]
    return table[tokens] * table.shape[-1] ** 0.5 + places


@exercise.misconception(
    "Your places are the last n rows of the encoding.",
    "Which row of the encoding belongs to the first token of a sequence?",
    why="encoding[-n:] has the right shape, and is right if no place is to spare.",
)
def last_places(tokens, table, encoding):
    places = encoding[len(encoding) - tokens.shape[-1] :]
    return table[tokens] * table.shape[-1] ** 0.5 + places


@exercise.misconception(
    "Your places are looked up with the tokens: equal tokens get equal places.",
    "What does a row of the encoding stand for: a word, or a place?",
    why="Both tables are indexed, and the index at hand is `tokens`.",
)
def places_looked_up_with_tokens(tokens, table, encoding):
    return table[tokens] * table.shape[-1] ** 0.5 + encoding[tokens]


@exercise.misconception(
    "Your vectors do not say where a token stands: the encoding is not used.",
    "What differs between the same token at place 0 and at place 3?",
    why="nn.Embedding alone gives vectors of the right shape.",
)
def places_left_out(tokens, table, encoding):
    return table[tokens] * table.shape[-1] ** 0.5


@exercise.misconception(
    "Your vectors are multiplied by the rows of the encoding.",
    "What becomes of a token whose place has a 0 in its row?",
    why="Encodings that rotate or gate do multiply.",
)
def places_multiplied(tokens, table, encoding):
    return table[tokens] * table.shape[-1] ** 0.5 * encoding[: tokens.shape[-1]]


@exercise.misconception(
    "You take as many places as there are sequences, `len(tokens)`; with 2 "
    "sequences of 5 tokens it stops.",
    "How many rows has a tensor (2, 5) by `len`, and how many tokens has a sequence?",
    why="len() counts the first axis; with a single sequence without a batch it is "
    "right.",
)
def as_many_places_as_sequences(tokens, table, encoding):
    return table[tokens] * table.shape[-1] ** 0.5 + encoding[: len(tokens)]


@exercise.misconception(
    "You add the whole encoding; unless it has n rows or one, that stops.",
    "Which rows of the encoding are needed for n tokens?",
    why="The encoding is made for the longest text, and the first test is as long.",
)
def encoding_not_cut(tokens, table, encoding):
    return table[tokens] * table.shape[-1] ** 0.5 + encoding


@exercise.misconception(
    "Your vectors are right, but the table is scaled in place and stays so.",
    "What will a second call with the same table give?",
    why="`table *= …` looks like a new table, and changes the learned one.",
)
def table_scaled_in_place(tokens, table, encoding):
    table *= table.shape[-1] ** 0.5
    return table[tokens] + encoding[: tokens.shape[-1]]
