"""Cases and misconceptions of ``padding_mask``."""

import numpy as np

from autograder import Exercise, families
from course_lib.masks import padding_mask

exercise = Exercise(
    padding_mask,
    lesson="04_masking",
    minutes=8,
    difficulty=1,
)


@exercise.spec
def spec(lengths, m):
    lengths = np.asarray(lengths)
    may_attend = np.zeros((*lengths.shape, 1, m), dtype=bool)
    for index in np.ndindex(lengths.shape):
        for j in range(m):
            may_attend[*index, 0, j] = j < lengths[index]
    return may_attend


@exercise.usual
def usual(rng):
    return rng.permutation([2, 5, 6]), 7


@exercise.case("Sequences of 3 tokens and 1 token have 3 keys and 1 key to attend to")
def small_example_by_hand(student, rng):
    rows = [[[True, True, True, False]], [[True, False, False, False]]]
    student.expect(student(np.array([3, 1]), 4), np.array(rows))


@exercise.case("A sequence without tokens has no key, a full one has all m")
def empty_and_full(student, rng):
    rows = [[[False] * 3], [[True] * 3], [[True, True, False]], [[False] * 3]]
    student.expect(student(np.array([0, 3, 2, 0]), 3), np.array(rows))


@exercise.case("Lengths with any number of axes keep them: (..., 1, m)", weight=0.5)
def leading_axes(student, rng):
    student.agrees(rng.integers(0, 8, size=(2, 3)), 7)
    student.agrees(np.array([[1, 2, 5], [6, 0, 3]]), 6)


@exercise.fine_point("The lengths may come in a list")
def lengths_in_a_list(student, rng):
    student.agrees([3, 1], 4)
    student.agrees([int(rng.integers(1, 6))], 7)


@exercise.fine_point("A length that is a single number gives a single row")
def no_leading_axis(student, rng):
    student.agrees(np.array(4), 7)
    for length in rng.integers(3, 40, size=3):
        student.agrees(np.array(length), 41)


@exercise.case("A single sequence keeps its axis", weight=0.5)
def single_sequence(student, rng):
    student.agrees(rng.integers(1, 6, size=1), 7)
    student.agrees(np.array([[2], [1]]), 3)


@exercise.case("With as many sequences as keys, row b still belongs to sequence b")
def as_many_sequences_as_keys(student, rng):
    # A table of sequences by keys and one of keys by sequences have the same shape.
    student.agrees(np.array([1, 4, 2, 2]), 4)
    student.agrees(rng.permutation([1, 6, 2, 2, 5, 3]), 6)


@exercise.case(
    "Each row is True as often as its sequence has tokens", visible=False, weight=0.5
)
def as_many_as_tokens(student, rng):
    lengths = rng.integers(0, 10, size=6)
    counts = student(lengths, 9).sum(axis=-1)
    student.expect(
        counts, lengths[:, np.newaxis], what="the number of True in each row"
    )


@exercise.case("Other lengths are answered rightly too", visible=False)
def other_lengths(student, rng):
    student.agrees(rng.integers(0, 12, size=5), 11)
    student.agrees(np.array([[rng.integers(1, 3)], [3]]), 3)


exercise.edits(
    """
polarity_reversed: < -> >=
  Your mask is True where a key is blocked.
  ? What does True mean in a mask called may_attend?
  # In key_padding_mask of PyTorch's nn.MultiheadAttention True means padding;
    mlwithme/TransformerTranslation#6 asks which it should be.
one_key_too_many: < -> <=
  Your rows have one True too many: the first key of the padding is open.
  ? Which position has the last of three tokens, if the first has position 0?
  # <= is read as 'up to the length', and positions are counted from 0;
    ajhalthor/Transformer-Neural-Network#15 is off by one in the same way.
one_key_too_few: < ends -> < ends - 1
  Your rows have one True too few: the last token of each sequence is blocked.
  # Positions are counted from 1 and still compared with <.
last_token_only: < ends -> == ends - 1
  Your rows are True at the last token only.
  ? How many of a sequence's tokens may be attended to?
  # mask[length - 1] = True is written for mask[:length] = True.
only_the_first_padding_blocked: < -> !=
  Your rows are False at one key only: the first one behind the tokens.
  ? How many keys of the padding are there behind 3 tokens, if m is 7?
  # mask[length] = False is written for mask[length:] = False.
everything_open: return np.ones((*ends.shape[:-1], m), bool)
  Your mask blocks no key.
  ? Which keys does the docstring block?
  # The shape is right, and the comparison is left for later.
padding_in_front: return np.arange(m) >= m - ends
  Your padding is in front of the tokens.
  ? Where does the docstring put the padding?
  # Language models that write are fed with the padding in front, so that the last
    position is always a token.
longest_length_for_all: < ends -> < np.full(ends.shape, ends.max())
  Your rows are all alike: each is as long as the longest of the sequences.
  ? What do the other lengths change in your mask?
  # The longest length, which says how wide a batch must be, is compared with the
    positions as well.
shortest_length_for_all: < ends -> < np.full(ends.shape, ends.min())
  Your rows are all alike: each is as long as the shortest of the sequences.
  # What all sequences have is taken for what each has.
first_length_for_all: < ends -> < np.full(ends.shape, ends.flat[0])
  Your rows are all alike: each is as long as the first of the sequences.
  # lengths[0] is tried out first, and stays.
first_key_always_open: < ends -> < np.maximum(ends, 1)
  Your sequences without tokens have one key to attend to.
  ? Which keys are tokens in a sequence of length 0?
  # A row without a True gives NaN in a plain softmax, and is kept away here instead
    of there.
empty_sequences_open: < ends -> < np.where(ends == 0, m, ends)
  Your sequences without tokens have all keys to attend to.
  # A row without a True gives NaN in a plain softmax, and is opened for that.
full_sequences_blocked: < ends -> < np.where(ends < m, ends, 0)
  Your full sequences, those without padding, are blocked entirely.
  ? What does mask[-0:] stand for in Python?
  # mask[-padding:] = False is right unless padding is 0: then it is the whole row.
last_key_always_blocked: < ends -> < np.minimum(ends, m - 1)
  Your last key, number m − 1, is blocked in full sequences too.
  ? Has a sequence of m tokens any padding?
  # min(length, m - 1) keeps an index inside the row, where none was outside.
as_wide_as_the_longest: np.arange(m) -> np.arange(ends.max())
  Your mask has as many columns as the longest sequence has tokens, not m.
  ? Which argument says how many keys there are?
  # Batches are usually padded to their longest sequence, so this is the usual default
    (make_pad_mask in espnet, sequence_mask in TensorFlow).
one_column_too_many: np.arange(m) -> np.arange(m + 1)
  Your mask has m + 1 columns.
  ? How many keys are there, with positions 0 … m − 1?
  # range(m + 1) is written so that a length of m has a position.
queries_masked: np.arange(m) -> np.arange(m)[:, np.newaxis]
  Your mask has the shape (..., m, 1): it blocks the rows of queries.
  ? Which axis of scores (..., n, m) is that of the keys?
  # The new axis is put last instead of next to last: bentrevett/pytorch-seq2seq#96
    and hyunwoongko/transformer#40.
query_axis_missing: np.newaxis, np.newaxis -> np.newaxis
  Your mask has no axis for the queries: on scores (batch, n, m) its rows are laid
    along the queries, not along the batch.
  ? Which axis is between the batch and the keys in the scores?
  # (batch, m) is the shape in which most tokenizers hand out their masks.
queries_and_keys_masked:
  | return np.arange(m) < ends ->
  :     tokens = np.arange(m) < ends
  :     return tokens & tokens.swapaxes(-1, -2)
  Your mask has a row for each of m queries, and the rows behind the tokens are False.
  ? Which does the docstring block behind the tokens: queries or keys?
  # Padding is thought not to be allowed to attend either;
    harvardnlp/annotated-transformer#137 asks for it, and those rows become NaN.
a_row_for_each_query: return (np.arange(m) < ends).repeat(m, axis=-2)
  Your mask has m equal rows for each sequence.
  ? How many rows does the docstring promise for each sequence?
  # Scores have a row for each query, so the mask gets as many.
axis_for_the_heads: np.newaxis, np.newaxis -> np.newaxis, np.newaxis, np.newaxis
  Your mask has one more axis of length 1 than promised.
  ? Which shape does the docstring promise?
  # mask[:, None, None, :] is the usual form for scores (batch, heads, n, m).
batch_made_flat: np.asarray(lengths) -> np.ravel(lengths)
  Your mask has one leading axis, whatever axes the lengths have.
  ? Which shape does the docstring promise for lengths of shape (2, 3)?
  # reshape(-1, 1, 1) is right for one batch of sequences, and is kept.
keys_and_sequences_exchanged:
  | return np.arange(m)[:, np.newaxis, np.newaxis] < np.asarray(lengths)
  Your mask has the keys in front and the sequences at the back.
  ? Which axis does the docstring put last: the sequences' or the keys'?
  # The new axes are given to the positions instead of the lengths; with as many
    sequences as keys even the shape is right.
column_of_lengths: return np.arange(m) < lengths[:, np.newaxis]
  Your mask has no axis for the queries.
  ? Which shape does the docstring promise?
  # lengths[:, np.newaxis] is the column of 'every row with every row', and makes a
    table of sequences by keys.
lengths_with_one_axis_only:
  | return np.array([[[j < length for j in range(m)]] for length in lengths])
  Your mask is as promised only where the lengths have one axis.
  ? Which lengths does (...) stand for?
  # A loop over the lengths takes each of them for a number.
lengths_of_other_axes_refused: [..., np.newaxis -> [:, np.newaxis
  Your function is written for lengths of one axis: without an axis it stops, and so
    it does with most tables of lengths.
  # lengths[:, np.newaxis, np.newaxis] names the axis of a batch; with ... instead
    there may be any.
lists_forgotten: np.asarray(lengths) -> lengths
  Your function stops if the lengths are a list.
  ? What can an array do that a list cannot?
  # lengths[..., np.newaxis] is an index that only arrays understand.
ones_and_zeros: return np.where(np.arange(m) < ends, 1.0, 0.0)
  Your mask holds the numbers 1.0 and 0.0.
  ? Which dtype does the docstring promise?
  # np.zeros and np.ones hold floats unless they are told otherwise.
whole_numbers: return np.where(np.arange(m) < ends, 1, 0)
  Your mask holds the integers 1 and 0.
  # Tokenizers hand out their masks as 1 and 0.
numbers_to_add: return np.where(np.arange(m) < ends, 0.0, -np.inf)
  Your mask holds 0 and −∞, which are to be added to the scores.
  ? Which two values does a mask called may_attend have?
  # Many models make such a mask of the lengths, and add it.
""",
)

exercise.family(families.squeezed(), families.as_list())
