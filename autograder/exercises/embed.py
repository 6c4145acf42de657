"""Cases and misconceptions of ``embed``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.functional import embed

exercise = Exercise(
    embed,
    lesson="09_transformer",
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


@exercise.case("The positions are counted from 0 in each sequence, in any batch")
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


@exercise.case("Numbers of float64 are answered, too")
def double_precision(student, rng):
    student.agrees(*drawn(rng, (5, 3), d_model=7, dtype=np.float64))


@exercise.case("The tokens, the embedding and the encoding are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(
        *drawn(rng, (2, 3), vocab_size=4, n_positions=5, d_model=3)
    )


@exercise.variants
def variants(
    token_ids,
    embedding,
    encoding,
    *,
    scale="√d_model",
    rows="of tokens",
    positions="first n",
    combined="added",
    overwritten="nothing",
):
    n, d_model = token_ids.shape[-1], embedding.shape[-1]
    factors = {
        "none": 1.0,
        "of the positions": 1.0,
        "1 / √d_model": d_model**-0.5,
        "d_model": d_model,
        "√vocab_size": len(embedding) ** 0.5,
        "√n": n**0.5,
        "√n_positions": len(encoding) ** 0.5,
    }
    factor = factors.get(scale, d_model**0.5)
    if overwritten == "embedding":
        embedding *= factor
        factor = 1.0
    ids = (token_ids - 1) % len(embedding) if rows == "one before" else token_ids
    vectors = embedding[ids]
    if rows == "of length 1":
        vectors = vectors / vectors.square().sum(dim=-1, keepdim=True).sqrt()
    vectors = vectors * factor
    ones = [1] * (token_ids.ndim - 1)
    added = {
        "of sequences": lambda: encoding[: len(token_ids)].reshape(-1, *ones, d_model),
        "row n": lambda: encoding[n],
        "from 1": lambda: encoding[1 : n + 1],
        "the last": lambda: encoding[len(encoding) - n :],
        "by token": lambda: encoding[token_ids],
        "as many as sequences": lambda: encoding[: len(token_ids)],
        "all": lambda: encoding,
        "backwards": lambda: encoding[:n].flip(0),
        "row 0": lambda: encoding[0],
        "mean": lambda: encoding[:n].mean(dim=0),
    }.get(positions, lambda: encoding[:n])()
    if scale in ("of the sum", "of the positions"):
        added = added * d_model**0.5
    return {
        "added": lambda: vectors + added,
        "left out": lambda: vectors,
        "subtracted": lambda: vectors - added,
        "multiplied": lambda: vectors * added,
        "joined": lambda: torch.cat([vectors, added.expand_as(vectors)], dim=-1),
        "positions alone": lambda: added.expand_as(vectors),
    }[combined]()


exercise.option(
    "no_scale",
    "Your rows of the embedding have no factor √d_model.",
    "What happens to a row of the embedding before the position is added?",
    why="The factor stands in one sentence of section 3.4 and in no figure: "
    "SamLynnEvans/Transformer, issue 10.",
    scale="none",
)
exercise.option(
    "sum_scaled",
    "Your factor √d_model multiplies the sum: the positions are scaled too.",
    "Which of the two summands is to be multiplied?",
    why="x = (embedding + encoding) * scale is one pair of brackets away.",
    scale="of the sum",
)
exercise.option(
    "divided_by_the_root",
    "Your vectors are divided by √d_model.",
    "Are the learned vectors to become longer or shorter compared with the positions?",
    why="Scores are divided by a root: pytorch/tutorials, issue 2849, asks for it "
    "here as well.",
    scale="1 / √d_model",
)
exercise.option(
    "encoding_scaled",
    "Your factor √d_model multiplies the positions, not the learned vectors.",
    "Which of the two summands is to be multiplied?",
    why="Where the factor stands inside the class of the encoding, it is easily put "
    "on the wrong tensor.",
    scale="of the positions",
)
exercise.option(
    "multiplied_by_d_model",
    "Your factor is d_model itself.",
    "What stands over d_model in section 3.4 of the paper?",
    why="The root sign is lost when the sentence is read.",
    scale="d_model",
)
exercise.option(
    "root_of_vocab_size",
    "Your factor is √vocab_size, the root of the number of rows of the embedding.",
    "Which axis of the embedding is d_model?",
    why="len(embedding) and embedding.shape[0] count the tokens of the vocabulary.",
    scale="√vocab_size",
)
exercise.option(
    "root_of_n",
    "Your factor is √n, the root of the number of tokens in a sequence.",
    "Should a token's vector change when the sentence gets longer?",
    why="token_ids.shape[-1] is needed for the positions, and used for the factor too.",
    scale="√n",
)
exercise.option(
    "positions_along_the_batch",
    "All tokens of one sequence of yours get the same position: that of the sequence "
    "in the batch.",
    "Which axis of tokens counts the positions, and which counts the sequences?",
    why="pe[:x.size(0)] is right where tokens come first: songyangco/GETNext, issue 2.",
    positions="of sequences",
)
exercise.option(
    "one_position_for_all",
    "All your tokens get one row of the encoding: row n.",
    "How many rows does `encoding[n]` give, and how many does `encoding[:n]`?",
    why="pe[:, x.shape[1]] lacks a colon: DiffPoseTalk/DiffPoseTalk, issue 20.",
    positions="row n",
)
exercise.option(
    "positions_from_one",
    "Your first token stands at position 1.",
    "Which row of the encoding belongs to the token with number 0 in the sequence?",
    why="Some libraries keep row 0 for padding and count positions from 1.",
    positions="from 1",
)
exercise.option(
    "last_positions",
    "Your positions are the last n rows of the encoding.",
    "Which row of the encoding belongs to the first token of a sequence?",
    why="encoding[-n:] has the right shape, and is right if no position is to spare.",
    positions="the last",
)
exercise.option(
    "positions_looked_up_with_tokens",
    "Your positions are looked up with the tokens: equal tokens get equal positions.",
    "What does a row of the encoding stand for: a word, or a position?",
    why="Both are indexed, and the index at hand is `token_ids`.",
    positions="by token",
)
exercise.option(
    "positions_left_out",
    "Your vectors do not say where a token stands.",
    "What differs between the same token at position 0 and at position 3?",
    why="nn.Embedding alone gives vectors of the right shape.",
    combined="left out",
)
exercise.option(
    "positions_multiplied",
    "Your vectors are multiplied by the rows of the encoding.",
    "What becomes of a token whose position has a 0 in its row?",
    why="Encodings that rotate or gate do multiply.",
    combined="multiplied",
)
exercise.option(
    "as_many_positions_as_sequences",
    "You take as many positions as there are sequences, `len(token_ids)`; with 2 "
    "sequences of 5 tokens it stops.",
    "How many rows has a tensor (2, 5) by `len`, and how many tokens has a sequence?",
    why="len() counts the first axis; with a single sequence without a batch it is "
    "right.",
    positions="as many as sequences",
)
exercise.option(
    "encoding_not_cut",
    "You add the whole encoding: where it has more rows than there are tokens, that "
    "stops, or gives a single token a row for each position.",
    "Which rows of the encoding are needed for n tokens?",
    why="The encoding is made for the longest text, and the first test is as long.",
    positions="all",
)
exercise.option(
    "embedding_scaled_in_place",
    "Your call changes the embedding: it is scaled in place and stays so.",
    "What will a second call with the same embedding give?",
    why="`embedding *= …` looks like a new embedding, and changes the learned one.",
    overwritten="embedding",
)
exercise.option(
    "root_of_n_positions",
    "Your factor is √n_positions, the root of the number of rows of the encoding.",
    "Which axis of the encoding is d_model?",
    why="len(encoding) is taken for the length of its rows.",
    scale="√n_positions",
)
exercise.option(
    "encoding_subtracted",
    "Your vectors have the encoding subtracted.",
    "What does the docstring do with the encoding of a position?",
    why="A sign is lost between two lines.",
    combined="subtracted",
)
exercise.option(
    "side_by_side",
    "Your vectors hold token and position side by side: 2 · d_model numbers.",
    "How many numbers does the docstring promise for a token?",
    why="Joining two vectors keeps both apart, and other models do so.",
    combined="joined",
)
exercise.option(
    "positions_without_tokens",
    "Your vectors are the rows of the encoding.",
    "What differs between two tokens at the same position?",
    why="The sum is written for the positions first, and the tokens are forgotten.",
    combined="positions alone",
)
exercise.option(
    "positions_backwards",
    "Your positions run backwards: the last token stands at position 0.",
    "Which row of the encoding belongs to the first token of a sequence?",
    why="Some languages of the course's pairs are read from the right.",
    positions="backwards",
)
exercise.option(
    "first_position_for_all",
    "Your tokens all stand at position 0.",
    "Which row of the encoding belongs to the second token of a sequence?",
    why="encoding[0] has the right length, and is added to every row.",
    positions="row 0",
)
exercise.option(
    "mean_of_the_positions",
    "Your tokens all get the mean of the first n rows of the encoding.",
    "What differs between the same token at position 0 and at position 3?",
    why="A sequence is summed up by its mean in other models.",
    positions="mean",
)
exercise.option(
    "tokens_counted_from_one",
    "Your tokens get the row of the embedding before theirs.",
    "Which row of the embedding belongs to token id 0?",
    why="Some vocabularies count from 1.",
    rows="one before",
)
exercise.option(
    "rows_of_length_one",
    "Your rows of the embedding are brought to length 1 first.",
    "What does the docstring do to a row of the embedding besides the factor?",
    why="Vectors are compared by cosine similarity elsewhere.",
    rows="of length 1",
)
exercise.family(families.squeezed(), families.as_numpy())
