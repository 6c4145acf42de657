"""Cases and misconceptions of ``embed``."""

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
    library=(
        "course_lib.nn.transformer.Transformer",
        "course_lib.nn.transformer.SinusoidalPositions",
    ),
)


@exercise.spec
def spec(token_ids, embedding, encoding):
    d_model, result = (
        embedding.shape[1],
        np.zeros((*token_ids.shape, embedding.shape[1])),
    )
    for *batch, i in np.ndindex(*token_ids.shape):
        for c in range(d_model):
            learned = float(embedding[int(token_ids[*batch, i]), c])
            result[*batch, i, c] = learned * math.sqrt(d_model) + float(encoding[i, c])
    return torch.from_numpy(result).to(embedding.dtype)


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, shape, vocab_size=11, n_positions=13, d_model=6, dtype=np.float32):
    """Draw tokens of a shape, the embedding and the encoding."""
    token_ids = tensor(rng.integers(0, vocab_size, size=shape), np.int64)
    embedding = tensor(rng.normal(size=(vocab_size, d_model)), dtype)
    return token_ids, embedding, tensor(rng.normal(size=(n_positions, d_model)), dtype)


@exercise.usual
def usual(rng):
    return drawn(rng, (2, 5))


@exercise.case("Three tokens become these vectors of four numbers")
def small_example_by_hand(student, rng):
    embedding = tensor([[1.0, 0.0, 0.0, 3.0], [0.0, 1.0, 0.0, -2.0]])
    encoding = tensor(np.arange(16).reshape(4, 4) * 10)
    expected = [[0, 12, 20, 26], [42, 50, 60, 76], [80, 92, 100, 106]]
    student.expect(
        student(tensor([1, 0, 1], np.int64), embedding, encoding), tensor(expected)
    )
    student.agrees(*drawn(rng, (3,), vocab_size=2, n_positions=4, d_model=4))


@exercise.case("The positions are counted in each sequence anew, in any batch")
def leading_axes(student, rng):
    for shape in ((5,), (3, 5), (2, 3, 4)):
        student.agrees(*drawn(rng, shape))


@exercise.case("With as many sequences as tokens, positions still belong to tokens")
def as_many_sequences_as_tokens(student, rng):
    student.agrees(*drawn(rng, (4, 4)))


@exercise.case("An encoding with exactly as many positions as tokens is enough")
def no_position_to_spare(student, rng):
    student.agrees(*drawn(rng, (3, 5), n_positions=5))


@exercise.case("One token stands at the first position")
def one_token(student, rng):
    embedding = tensor([[0.0] * 9, [1.0] * 9, [-2.0] * 9])
    encoding = tensor(np.outer([100.0, 200.0], np.ones(9)))
    expected = tensor([[[103.0] * 9], [[94.0] * 9]])  # √9 is 3
    student.expect(student(tensor([[1], [2]], np.int64), embedding, encoding), expected)
    student.agrees(*drawn(rng, (2, 1), vocab_size=3, n_positions=2, d_model=9))


@exercise.case(
    "The same token at two positions differs by the two rows of the encoding",
    visible=False,
    pays_alone=False,
)
def same_token_at_two_positions(student, rng):
    _, embedding, encoding = drawn(rng, (1,))
    vectors = student(tensor([[7, 2, 7, 7]], np.int64), embedding, encoding).numpy()[0]
    positions = encoding.numpy()
    student.expect(
        tensor(vectors[3] - vectors[0]),
        tensor(positions[3] - positions[0]),
        what="the vector at position 3 minus that at position 0",
    )


@exercise.case("In float64, and in whatever order of memory, all digits are right")
def double_precision(student, rng):
    token_ids, embedding, encoding = drawn(rng, (5, 3), d_model=7, dtype=np.float64)
    student.agrees(token_ids.T, tensor(embedding.numpy().T, np.float64).T, encoding)


@exercise.case("The tokens, the embedding and the encoding stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(
        *drawn(rng, (2, 3), vocab_size=4, n_positions=5, d_model=3)
    )


@exercise.misconception(
    "Your vectors are the rows of the embedding as they are, plus the positions.",
    "What happens to a row of the embedding before the position is added?",
    why="The factor stands in one sentence of section 3.4 and in no figure: "
    "SamLynnEvans/Transformer, issue 10.",
)
def no_scale(token_ids, embedding, encoding):
    return embedding[token_ids] + encoding[: token_ids.shape[-1]]


@exercise.misconception(
    "Your factor √d_model multiplies the sum: the positions are scaled too.",
    "Which of the two summands is to be multiplied?",
    why="x = (embedding + encoding) * scale is one pair of brackets away.",
)
def sum_scaled(token_ids, embedding, encoding):
    return (embedding[token_ids] + encoding[: token_ids.shape[-1]]) * embedding.shape[
        -1
    ] ** 0.5


@exercise.misconception(
    "Your vectors are divided by √d_model.",
    "Are the learned vectors to become longer or shorter beside the positions?",
    why="Scores are divided by a root: pytorch/tutorials, issue 2849, asks for it "
    "here as well.",
)
def divided_by_the_root(token_ids, embedding, encoding):
    return (
        embedding[token_ids] / embedding.shape[-1] ** 0.5
        + encoding[: token_ids.shape[-1]]
    )


@exercise.misconception(
    "Your factor √d_model multiplies the positions, not the learned vectors.",
    "Which of the two summands is to be multiplied?",
    why="Where the factor stands inside the class of the encoding, it is easily put "
    "on the wrong tensor.",
)
def encoding_scaled(token_ids, embedding, encoding):
    positions = encoding[: token_ids.shape[-1]] * embedding.shape[-1] ** 0.5
    return embedding[token_ids] + positions


@exercise.misconception(
    "Your factor is d_model itself.",
    "What stands over d_model in section 3.4 of the paper?",
    why="The root sign is lost when the sentence is read.",
)
def multiplied_by_d_model(token_ids, embedding, encoding):
    return embedding[token_ids] * embedding.shape[-1] + encoding[: token_ids.shape[-1]]


@exercise.misconception(
    "Your factor is √vocab_size, the root of the number of rows of the embedding.",
    "Which axis of the embedding is d_model?",
    why="len(embedding) and embedding.shape[0] count the tokens of the vocabulary.",
)
def root_of_vocab_size(token_ids, embedding, encoding):
    return (
        embedding[token_ids] * len(embedding) ** 0.5 + encoding[: token_ids.shape[-1]]
    )


@exercise.misconception(
    "Your factor is √n, the root of the number of tokens in a sequence.",
    "Should a token's vector change when the sentence gets longer?",
    why="token_ids.shape[-1] is needed for the positions, and used for the factor too.",
)
def root_of_n(token_ids, embedding, encoding):
    n = token_ids.shape[-1]
    return embedding[token_ids] * n**0.5 + encoding[:n]


@exercise.misconception(
    "All tokens of one sequence of yours get the same position: that of the sequence "
    "in the batch.",
    "Which axis of tokens counts the positions, and which counts the sequences?",
    why="pe[:x.size(0)] is right where tokens come first: songyangco/GETNext, issue 2.",
)
def positions_along_the_batch(token_ids, embedding, encoding):
    positions = encoding[: token_ids.shape[0]]
    positions = positions.reshape(-1, *[1] * (token_ids.ndim - 1), embedding.shape[-1])
    return embedding[token_ids] * embedding.shape[-1] ** 0.5 + positions


@exercise.misconception(
    "All your tokens get one row of the encoding: row n.",
    "How many rows does `encoding[n]` give, and how many does `encoding[:n]`?",
    why="pe[:, x.shape[1]] lacks a colon: DiffPoseTalk/DiffPoseTalk, issue 20.",
)
def one_position_for_all(token_ids, embedding, encoding):
    return (
        embedding[token_ids] * embedding.shape[-1] ** 0.5
        + encoding[token_ids.shape[-1]]
    )


@exercise.misconception(
    "Your first token stands at position 1.",
    "Which row of the encoding belongs to the token with number 0 in the sequence?",
    why="Some libraries keep row 0 for padding and count positions from 1.",
)
def positions_from_one(token_ids, embedding, encoding):
    positions = encoding[1 : token_ids.shape[-1] + 1]
    return embedding[token_ids] * embedding.shape[-1] ** 0.5 + positions


@exercise.misconception(
    "Your positions are the last n rows of the encoding.",
    "Which row of the encoding belongs to the first token of a sequence?",
    why="encoding[-n:] has the right shape, and is right if no position is to spare.",
)
def last_positions(token_ids, embedding, encoding):
    positions = encoding[len(encoding) - token_ids.shape[-1] :]
    return embedding[token_ids] * embedding.shape[-1] ** 0.5 + positions


@exercise.misconception(
    "Your positions are looked up with the tokens: equal tokens get equal positions.",
    "What does a row of the encoding stand for: a word, or a position?",
    why="Both are indexed, and the index at hand is `token_ids`.",
)
def positions_looked_up_with_tokens(token_ids, embedding, encoding):
    return embedding[token_ids] * embedding.shape[-1] ** 0.5 + encoding[token_ids]


@exercise.misconception(
    "Your vectors do not say where a token stands: the encoding is not used.",
    "What differs between the same token at position 0 and at position 3?",
    why="nn.Embedding alone gives vectors of the right shape.",
)
def positions_left_out(token_ids, embedding, encoding):
    return embedding[token_ids] * embedding.shape[-1] ** 0.5


@exercise.misconception(
    "Your vectors are multiplied by the rows of the encoding.",
    "What becomes of a token whose position has a 0 in its row?",
    why="Encodings that rotate or gate do multiply.",
)
def positions_multiplied(token_ids, embedding, encoding):
    return (
        embedding[token_ids]
        * embedding.shape[-1] ** 0.5
        * encoding[: token_ids.shape[-1]]
    )


@exercise.misconception(
    "You take as many positions as there are sequences, `len(token_ids)`; with 2 "
    "sequences of 5 tokens it stops.",
    "How many rows has a tensor (2, 5) by `len`, and how many tokens has a sequence?",
    why="len() counts the first axis; with a single sequence without a batch it is "
    "right.",
)
def as_many_positions_as_sequences(token_ids, embedding, encoding):
    return (
        embedding[token_ids] * embedding.shape[-1] ** 0.5 + encoding[: len(token_ids)]
    )


@exercise.misconception(
    "You add the whole encoding; unless it has n rows or one, that stops.",
    "Which rows of the encoding are needed for n tokens?",
    why="The encoding is made for the longest text, and the first test is as long.",
)
def encoding_not_cut(token_ids, embedding, encoding):
    return embedding[token_ids] * embedding.shape[-1] ** 0.5 + encoding


@exercise.misconception(
    "Your vectors are right, but the embedding is scaled in place and stays so.",
    "What will a second call with the same embedding give?",
    why="`embedding *= …` looks like a new embedding, and changes the learned one.",
)
def embedding_scaled_in_place(token_ids, embedding, encoding):
    embedding *= embedding.shape[-1] ** 0.5
    return embedding[token_ids] + encoding[: token_ids.shape[-1]]
