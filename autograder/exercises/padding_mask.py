"""Cases and misconceptions of ``padding_mask``."""

import numpy as np

from autograder import Exercise
from course_lib.masks import padding_mask

exercise = Exercise(
    padding_mask,
    lesson="04_masking",
    minutes=10,
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
    student.expect(student([3, 1], 4), np.array(rows))


@exercise.case("A sequence without tokens has no key, a full one has all m")
def empty_and_full(student, rng):
    rows = [[[False] * 3], [[True] * 3], [[True, True, False]], [[False] * 3]]
    student.expect(student(np.array([0, 3, 2, 0]), 3), np.array(rows))


@exercise.case("Lengths with any number of axes keep them: (..., 1, m)")
def leading_axes(student, rng):
    student.agrees(rng.integers(0, 8, size=(2, 3)), 7)
    student.agrees(np.array([[1, 2, 5], [6, 0, 3]]), 6)
    student.agrees(np.array(4), 7)


@exercise.case("With as many sequences as keys, row b still belongs to sequence b")
def as_many_sequences_as_keys(student, rng):
    # A table of sequences by keys and one of keys by sequences have the same shape.
    student.agrees(np.array([1, 4, 2, 2]), 4)
    student.agrees(rng.permutation([1, 6, 2, 2, 5, 3]), 6)


@exercise.case("Each row is True as often as its sequence has tokens", visible=False)
def as_many_as_tokens(student, rng):
    lengths = rng.integers(0, 10, size=6)
    counts = student(lengths, 9).sum(axis=-1)
    student.expect(
        counts, lengths[:, np.newaxis], what="the number of True in each row"
    )


@exercise.case("Other lengths are answered rightly too", visible=False)
def other_lengths(student, rng):
    student.agrees(rng.integers(0, 12, size=5), 11)
    student.agrees([[int(rng.integers(1, 3))], [3]], 3)


@exercise.misconception(
    "Your mask is True for the padding and False for the tokens.",
    "What does True mean in a mask called may_attend?",
    why="In key_padding_mask of PyTorch's nn.MultiheadAttention True means padding; "
    "mlwithme/TransformerTranslation#6 asks which it should be.",
)
def polarity_reversed(lengths, m):
    return np.arange(m) >= np.asarray(lengths)[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your rows have one True too many: the first key of the padding is open, even in a "
    "sequence without tokens.",
    "Which position has the last of three tokens, if the first has position 0?",
    why="<= is read as 'up to the length', and positions are counted from 0; "
    "ajhalthor/Transformer-Neural-Network#15 is off by one in the same way.",
)
def one_key_too_many(lengths, m):
    return np.arange(m) <= np.asarray(lengths)[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your rows have one True too few: the last token of each sequence is blocked.",
    "Which position has the last of three tokens, if the first has position 0?",
    why="Positions are counted from 1 and still compared with <.",
)
def one_key_too_few(lengths, m):
    return np.arange(1, m + 1) < np.asarray(lengths)[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your mask has the shape (..., m, 1): it blocks the rows of queries, and leaves "
    "the padding open to all others.",
    "Which axis of scores (..., n, m) is that of the keys?",
    why="The new axis is put last instead of next to last: bentrevett/"
    "pytorch-seq2seq#96 and hyunwoongko/transformer#40.",
)
def queries_masked(lengths, m):
    ends = np.asarray(lengths)[..., np.newaxis, np.newaxis]
    return np.arange(m)[:, np.newaxis] < ends


@exercise.misconception(
    "Your mask has no axis for the queries: on scores (batch, n, m), sequence b's "
    "row is laid on query b of every sequence if batch equals n, and stops if not.",
    "Which axis is between the batch and the keys in the scores?",
    why="(batch, m) is the shape in which most tokenizers hand out their masks.",
)
def query_axis_missing(lengths, m):
    return np.arange(m) < np.asarray(lengths)[..., np.newaxis]


@exercise.misconception(
    "Your mask has a row for each of m queries, and the rows behind the tokens are "
    "False.",
    "Which does the docstring block behind the tokens: queries or keys?",
    why="Padding is thought not to be allowed to attend either; "
    "harvardnlp/annotated-transformer#137 asks for it, and those rows become NaN.",
)
def queries_and_keys_masked(lengths, m):
    tokens = np.arange(m) < np.asarray(lengths)[..., np.newaxis]
    return tokens[..., np.newaxis, :] & tokens[..., :, np.newaxis]


@exercise.misconception(
    "Your mask holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise?",
    why="np.zeros and np.ones hold floats unless they are told otherwise.",
)
def ones_and_zeros(lengths, m):
    ends = np.asarray(lengths)[..., np.newaxis, np.newaxis]
    return (np.arange(m) < ends).astype(float)


@exercise.misconception(
    "Your padding is in front of the tokens.",
    "Where does the docstring put the padding?",
    why="Language models that write are fed with the padding in front, so that the "
    "last position is always a token.",
)
def padding_in_front(lengths, m):
    return np.arange(m) >= m - np.asarray(lengths)[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your sequences without tokens have one key to attend to.",
    "Which keys are tokens in a sequence of length 0?",
    why="A row without a True gives NaN in a plain softmax, and is kept away here "
    "instead of there.",
)
def first_key_always_open(lengths, m):
    lengths = np.maximum(np.asarray(lengths), 1)
    return np.arange(m) < lengths[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your rows are False at one key only: the first one behind the tokens.",
    "How many keys of the padding are there behind 3 tokens, if m is 7?",
    why="mask[length] = False is written for mask[length:] = False.",
)
def only_the_first_padding_blocked(lengths, m):
    return np.arange(m) != np.asarray(lengths)[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your full sequences, those without padding, are blocked entirely.",
    "What does mask[-0:] stand for in Python?",
    why="mask[-padding:] = False is right unless padding is 0: then it is the whole "
    "row.",
)
def full_sequences_blocked(lengths, m):
    ends = np.asarray(lengths)[..., np.newaxis, np.newaxis]
    return (np.arange(m) < ends) & (ends < m)


@exercise.misconception(
    "Your rows are all alike: each is as long as the longest of the sequences.",
    "Where does your code use the other lengths?",
    why="The longest length, which says how wide a batch must be, is compared with "
    "the positions as well.",
)
def longest_length_for_all(lengths, m):
    lengths = np.asarray(lengths)
    return np.arange(m) < np.full((*lengths.shape, 1, 1), lengths.max())


@exercise.misconception(
    "Your mask has as many columns as the longest sequence has tokens, not m.",
    "Where does your code use m?",
    why="Batches are usually padded to their longest sequence, so this is the "
    "usual default (make_pad_mask in espnet, sequence_mask in TensorFlow).",
)
def as_wide_as_the_longest(lengths, m):
    lengths = np.asarray(lengths)
    return np.arange(lengths.max()) < lengths[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your mask has one leading axis, whatever axes the lengths have.",
    "Which shape does the docstring promise for lengths of shape (2, 3)?",
    why="reshape(-1, 1, 1) is right for one batch of sequences, and is kept.",
)
def batch_made_flat(lengths, m):
    return np.arange(m) < np.asarray(lengths).reshape(-1, 1, 1)


@exercise.misconception(
    "Your mask has the keys in front and the sequences at the back: row j says which "
    "sequences have a token at position j.",
    "Which axis does the docstring put last: the sequences' or the keys'?",
    why="The new axes are given to the positions instead of the lengths; with as many "
    "sequences as keys even the shape is right.",
)
def keys_and_sequences_exchanged(lengths, m):
    return np.arange(m)[:, np.newaxis, np.newaxis] < np.asarray(lengths)


@exercise.misconception(
    "Your mask has no axis for the queries, and your function stops if the lengths are "
    "a list.",
    "Which shape does the docstring promise, and what can an array do that a list "
    "cannot?",
    why="lengths[:, np.newaxis] is the column of 'every row with every row', and makes "
    "a table of sequences by keys.",
)
def column_of_lengths(lengths, m):
    return np.arange(m) < lengths[:, np.newaxis]


@exercise.misconception(
    "Your function stops if the lengths are a list; arrays are answered rightly.",
    "What can an array do that a list cannot?",
    why="lengths[..., np.newaxis] is an index that only arrays understand.",
)
def lists_forgotten(lengths, m):
    return np.arange(m) < lengths[..., np.newaxis, np.newaxis]
