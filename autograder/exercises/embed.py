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


exercise.edits(
    """
no_scale: vectors = embedding[token_ids]
  Your rows of the embedding have no factor √d_model.
  ? What happens to a row of the embedding before the position is added?
  # The factor stands in one sentence of section 3.4 and in no figure:
    SamLynnEvans/Transformer, issue 10.
sum_scaled:
  | vectors = embedding[token_ids]
  | return (vectors + encoding[:token_ids.shape[-1]]) * embedding.shape[-1] ** 0.5
  Your factor √d_model multiplies the sum: the positions are scaled too.
  ? Which of the two summands is to be multiplied?
  # x = (embedding + encoding) * scale is one pair of brackets away.
divided_by_the_root: * embedding.shape[-1] ** 0.5 -> / embedding.shape[-1] ** 0.5
  Your vectors are divided by √d_model.
  ? Are the learned vectors to become longer or shorter compared with the positions?
  # Scores are divided by a root: pytorch/tutorials, issue 2849, asks for it here as
    well.
encoding_scaled:
  | vectors = embedding[token_ids]
  | return vectors + encoding[:token_ids.shape[-1]] * embedding.shape[-1] ** 0.5
  Your factor √d_model multiplies the positions, not the learned vectors.
  ? Which of the two summands is to be multiplied?
  # Where the factor stands inside the class of the encoding, it is easily put on the
    wrong tensor.
multiplied_by_d_model:  ** 0.5 ->
  Your factor is d_model itself.
  ? What stands over d_model in section 3.4 of the paper?
  # The root sign is lost when the sentence is read.
root_of_vocab_size: embedding.shape[-1] -> len(embedding)
  Your factor is √vocab_size, the root of the number of rows of the embedding.
  ? Which axis of the embedding is d_model?
  # len(embedding) and embedding.shape[0] count the tokens of the vocabulary.
root_of_n: embedding.shape[-1] -> token_ids.shape[-1]
  Your factor is √n, the root of the number of tokens in a sequence.
  ? Should a token's vector change when the sentence gets longer?
  # token_ids.shape[-1] is needed for the positions, and used for the factor too.
positions_along_the_batch:
  | encoding[:token_ids.shape[-1]] ->
  :     encoding[:len(token_ids)].reshape(-1, *[1] * (token_ids.ndim - 1),
  :     embedding.shape[-1])
  All tokens of one sequence of yours get the same position: that of the sequence in
    the batch.
  ? Which axis of tokens counts the positions, and which counts the sequences?
  # pe[:x.size(0)] is right where tokens come first: songyangco/GETNext, issue 2.
one_position_for_all: encoding[: -> encoding[
  All your tokens get one row of the encoding: row n.
  ? How many rows does `encoding[n]` give, and how many does `encoding[:n]`?
  # pe[:, x.shape[1]] lacks a colon: DiffPoseTalk/DiffPoseTalk, issue 20.
positions_from_one:
  | encoding[:token_ids.shape[-1]] -> encoding[1:token_ids.shape[-1] + 1]
  Your first token stands at position 1.
  ? Which row of the encoding belongs to the token with number 0 in the sequence?
  # Some libraries keep row 0 for padding and count positions from 1.
last_positions: encoding[:token_ids.shape[-1]] -> encoding[-token_ids.shape[-1]:]
  Your positions are the last n rows of the encoding.
  ? Which row of the encoding belongs to the first token of a sequence?
  # encoding[-n:] has the right shape, and is right if no position is to spare.
positions_looked_up_with_tokens: encoding[:token_ids.shape[-1]] -> encoding[token_ids]
  Your positions are looked up with the tokens: equal tokens get equal positions.
  ? What does a row of the encoding stand for: a word, or a position?
  # Both are indexed, and the index at hand is `token_ids`.
positions_left_out: return vectors
  Your vectors do not say where a token stands.
  ? What differs between the same token at position 0 and at position 3?
  # nn.Embedding alone gives vectors of the right shape.
positions_multiplied: vectors + -> vectors *
  Your vectors are multiplied by the rows of the encoding.
  ? What becomes of a token whose position has a 0 in its row?
  # Encodings that rotate or gate do multiply.
as_many_positions_as_sequences:
  | encoding[:token_ids.shape[-1]] -> encoding[:len(token_ids)]
  You take as many positions as there are sequences, `len(token_ids)`; with 2
    sequences of 5 tokens it stops.
  ? How many rows has a tensor (2, 5) by `len`, and how many tokens has a sequence?
  # len() counts the first axis; with a single sequence without a batch it is right.
encoding_not_cut: [:token_ids.shape[-1]] ->
  You add the whole encoding: where it has more rows than there are tokens, that
    stops, or gives a single token a row for each position.
  ? Which rows of the encoding are needed for n tokens?
  # The encoding is made for the longest text, and the first test is as long.
embedding_scaled_in_place:
  | vectors = … ->
  :     embedding *= embedding.shape[-1] ** 0.5
  :     vectors = embedding[token_ids]
  Your call changes the embedding: it is scaled in place and stays so.
  ? What will a second call with the same embedding give?
  # `embedding *= …` looks like a new embedding, and changes the learned one.
root_of_n_positions: embedding.shape[-1] -> len(encoding)
  Your factor is √n_positions, the root of the number of rows of the encoding.
  ? Which axis of the encoding is d_model?
  # len(encoding) is taken for the length of its rows.
encoding_subtracted: vectors + -> vectors -
  Your vectors have the encoding subtracted.
  ? What does the docstring do with the encoding of a position?
  # A sign is lost between two lines.
side_by_side:
  | return torch.cat(
  :     [vectors, encoding[: token_ids.shape[-1]].expand_as(vectors)], dim=-1
  : )
  Your vectors hold token and position side by side: 2 · d_model numbers.
  ? How many numbers does the docstring promise for a token?
  # Joining two vectors keeps both apart, and other models do so.
positions_without_tokens: return encoding[:token_ids.shape[-1]].expand_as(vectors)
  Your vectors are the rows of the encoding.
  ? What differs between two tokens at the same position?
  # The sum is written for the positions first, and the tokens are forgotten.
positions_backwards:
  | encoding[:token_ids.shape[-1]] -> encoding[:token_ids.shape[-1]].flip(0)
  Your positions run backwards: the last token stands at position 0.
  ? Which row of the encoding belongs to the first token of a sequence?
  # Some languages of the course's pairs are read from the right.
first_position_for_all: encoding[:token_ids.shape[-1]] -> encoding[0]
  Your tokens all stand at position 0.
  ? Which row of the encoding belongs to the second token of a sequence?
  # encoding[0] has the right length, and is added to every row.
mean_of_the_positions:
  | encoding[:token_ids.shape[-1]] -> encoding[:token_ids.shape[-1]].mean(dim=0)
  Your tokens all get the mean of the first n rows of the encoding.
  ? What differs between the same token at position 0 and at position 3?
  # A sequence is summed up by its mean in other models.
tokens_counted_from_one: embedding[token_ids] -> embedding[token_ids - 1]
  Your tokens get the row of the embedding before theirs.
  ? Which row of the embedding belongs to token id 0?
  # Some vocabularies count from 1.
rows_of_length_one:
  | embedding[token_ids] -> nn.functional.normalize(embedding[token_ids], dim=-1)
  Your rows of the embedding are brought to length 1 first.
  ? What does the docstring do to a row of the embedding besides the factor?
  # Vectors are compared by cosine similarity elsewhere.
""",
)

exercise.family(families.squeezed(), families.as_numpy())
