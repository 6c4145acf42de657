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


@exercise.variants
def variants(
    lengths,
    m,
    *,
    true_means="may attend",
    shift=0,
    keys="before the end",
    padding="behind",
    which_lengths="each",
    no_tokens="no key",
    all_tokens="all keys",
    columns="m",
    axes="(..., 1, m)",
    lists="allowed",
    holds="booleans",
):
    if axes == "a column of lengths":
        return np.arange(m) < lengths[:, np.newaxis]
    if lists == "refused":
        lengths[..., np.newaxis]
    if axes == "a loop":
        return np.array([[[j < length for j in range(m)]] for length in lengths])
    lengths = np.asarray(lengths)
    if axes == "a batch by index":
        lengths = (np.arange(m) < lengths[:, np.newaxis, np.newaxis]).sum(-1)[:, 0]
    chosen = {"longest": np.max, "shortest": np.min, "first": lambda x: x.flat[0]}
    if which_lengths in chosen:
        lengths = np.full(lengths.shape, chosen[which_lengths](lengths))
    if axes == "(-1, 1, m)":
        lengths = lengths.reshape(-1)
    width = {"longest": lengths.max(), "m + 1": m + 1}.get(columns, m)
    ends = lengths[..., np.newaxis] + shift
    positions = np.arange(width)
    if padding == "in front":
        positions = positions[::-1]
    may_attend = {
        "before the end": positions < ends,
        "all but the first behind": positions != ends,
        "the last token": positions == ends - 1,
        "all": np.ones((*lengths.shape, width), bool),
    }[keys]
    if no_tokens != "no key":
        open_keys = positions < (1 if no_tokens == "the first key" else m)
        may_attend = may_attend | ((ends == 0) & open_keys)
    if all_tokens == "no key":
        may_attend = may_attend & (ends < m)
    elif all_tokens == "all but the last":
        may_attend = may_attend & (positions < m - 1)
    if true_means == "blocked":
        may_attend = ~may_attend
    row = may_attend[..., np.newaxis, :]
    column = may_attend[..., np.newaxis]
    may_attend = {
        "(..., m, 1)": column,
        "(..., m)": may_attend,
        "tokens by tokens": row & column,
        "(..., m, m)": row & np.ones_like(column),
        "(..., 1, 1, m)": row[..., np.newaxis, :, :],
        "keys first": np.moveaxis(may_attend, -1, 0).reshape(
            (width, *[1] * (2 - lengths.ndim), *lengths.shape)
        ),
    }.get(axes, row)
    if holds == "numbers to add":
        return np.where(may_attend, 0.0, -np.inf)
    return may_attend.astype({"floats": float, "whole numbers": int}.get(holds, bool))


exercise.option(
    "polarity_reversed",
    "Your mask is True where a key is blocked.",
    "What does True mean in a mask called may_attend?",
    why="In key_padding_mask of PyTorch's nn.MultiheadAttention True means padding; "
    "mlwithme/TransformerTranslation#6 asks which it should be.",
    true_means="blocked",
)
exercise.option(
    "one_key_too_many",
    "Your rows have one True too many: the first key of the padding is open.",
    "Which position has the last of three tokens, if the first has position 0?",
    why="<= is read as 'up to the length', and positions are counted from 0; "
    "ajhalthor/Transformer-Neural-Network#15 is off by one in the same way.",
    shift=1,
)
exercise.option(
    "one_key_too_few",
    "Your rows have one True too few: the last token of each sequence is blocked.",
    "Which position has the last of three tokens, if the first has position 0?",
    why="Positions are counted from 1 and still compared with <.",
    shift=-1,
)
exercise.option(
    "last_token_only",
    "Your rows are True at the last token only.",
    "How many of a sequence's tokens may be attended to?",
    why="mask[length - 1] = True is written for mask[:length] = True.",
    keys="the last token",
)
exercise.option(
    "only_the_first_padding_blocked",
    "Your rows are False at one key only: the first one behind the tokens.",
    "How many keys of the padding are there behind 3 tokens, if m is 7?",
    why="mask[length] = False is written for mask[length:] = False.",
    keys="all but the first behind",
)
exercise.option(
    "everything_open",
    "Your mask blocks no key.",
    "Which keys does the docstring block?",
    why="The shape is right, and the comparison is left for later.",
    keys="all",
)
exercise.option(
    "padding_in_front",
    "Your padding is in front of the tokens.",
    "Where does the docstring put the padding?",
    why="Language models that write are fed with the padding in front, so that the "
    "last position is always a token.",
    padding="in front",
)
exercise.option(
    "longest_length_for_all",
    "Your rows are all alike: each is as long as the longest of the sequences.",
    "What do the other lengths change in your mask?",
    why="The longest length, which says how wide a batch must be, is compared with "
    "the positions as well.",
    which_lengths="longest",
)
exercise.option(
    "shortest_length_for_all",
    "Your rows are all alike: each is as long as the shortest of the sequences.",
    "What do the other lengths change in your mask?",
    why="What all sequences have is taken for what each has.",
    which_lengths="shortest",
)
exercise.option(
    "first_length_for_all",
    "Your rows are all alike: each is as long as the first of the sequences.",
    "What do the other lengths change in your mask?",
    why="lengths[0] is tried out first, and stays.",
    which_lengths="first",
)
exercise.option(
    "first_key_always_open",
    "Your sequences without tokens have one key to attend to.",
    "Which keys are tokens in a sequence of length 0?",
    why="A row without a True gives NaN in a plain softmax, and is kept away here "
    "instead of there.",
    no_tokens="the first key",
)
exercise.option(
    "empty_sequences_open",
    "Your sequences without tokens have all keys to attend to.",
    "Which keys are tokens in a sequence of length 0?",
    why="A row without a True gives NaN in a plain softmax, and is opened for that.",
    no_tokens="all keys",
)
exercise.option(
    "full_sequences_blocked",
    "Your full sequences, those without padding, are blocked entirely.",
    "What does mask[-0:] stand for in Python?",
    why="mask[-padding:] = False is right unless padding is 0: then it is the whole "
    "row.",
    all_tokens="no key",
)
exercise.option(
    "last_key_always_blocked",
    "Your last key, number m − 1, is blocked in full sequences too.",
    "Has a sequence of m tokens any padding?",
    why="min(length, m - 1) keeps an index inside the row, where none was outside.",
    all_tokens="all but the last",
)
exercise.option(
    "as_wide_as_the_longest",
    "Your mask has as many columns as the longest sequence has tokens, not m.",
    "Which argument says how many keys there are?",
    why="Batches are usually padded to their longest sequence, so this is the "
    "usual default (make_pad_mask in espnet, sequence_mask in TensorFlow).",
    columns="longest",
)
exercise.option(
    "one_column_too_many",
    "Your mask has m + 1 columns.",
    "How many keys are there, with positions 0 … m − 1?",
    why="range(m + 1) is written so that a length of m has a position.",
    columns="m + 1",
)
exercise.option(
    "queries_masked",
    "Your mask has the shape (..., m, 1): it blocks the rows of queries.",
    "Which axis of scores (..., n, m) is that of the keys?",
    why="The new axis is put last instead of next to last: bentrevett/"
    "pytorch-seq2seq#96 and hyunwoongko/transformer#40.",
    axes="(..., m, 1)",
)
exercise.option(
    "query_axis_missing",
    "Your mask has no axis for the queries: on scores (batch, n, m) its rows are laid "
    "along the queries, not along the batch.",
    "Which axis is between the batch and the keys in the scores?",
    why="(batch, m) is the shape in which most tokenizers hand out their masks.",
    axes="(..., m)",
)
exercise.option(
    "queries_and_keys_masked",
    "Your mask has a row for each of m queries, and the rows behind the tokens are "
    "False.",
    "Which does the docstring block behind the tokens: queries or keys?",
    why="Padding is thought not to be allowed to attend either; "
    "harvardnlp/annotated-transformer#137 asks for it, and those rows become NaN.",
    axes="tokens by tokens",
)
exercise.option(
    "a_row_for_each_query",
    "Your mask has m equal rows for each sequence.",
    "How many rows does the docstring promise for each sequence?",
    why="Scores have a row for each query, so the mask gets as many.",
    axes="(..., m, m)",
)
exercise.option(
    "axis_for_the_heads",
    "Your mask has one more axis of length 1 than promised.",
    "Which shape does the docstring promise?",
    why="mask[:, None, None, :] is the usual form for scores (batch, heads, n, m).",
    axes="(..., 1, 1, m)",
)
exercise.option(
    "batch_made_flat",
    "Your mask has one leading axis, whatever axes the lengths have.",
    "Which shape does the docstring promise for lengths of shape (2, 3)?",
    why="reshape(-1, 1, 1) is right for one batch of sequences, and is kept.",
    axes="(-1, 1, m)",
)
exercise.option(
    "keys_and_sequences_exchanged",
    "Your mask has the keys in front and the sequences at the back.",
    "Which axis does the docstring put last: the sequences' or the keys'?",
    why="The new axes are given to the positions instead of the lengths; with as many "
    "sequences as keys even the shape is right.",
    axes="keys first",
)
exercise.option(
    "column_of_lengths",
    "Your mask has no axis for the queries.",
    "Which shape does the docstring promise?",
    why="lengths[:, np.newaxis] is the column of 'every row with every row', and makes "
    "a table of sequences by keys.",
    axes="a column of lengths",
)
exercise.option(
    "lengths_with_one_axis_only",
    "Your mask is as promised only where the lengths have one axis.",
    "Which lengths does (...) stand for?",
    why="A loop over the lengths takes each of them for a number.",
    axes="a loop",
)
exercise.option(
    "lengths_of_other_axes_refused",
    "Your function is written for lengths of one axis: without an axis it stops, and "
    "so it does with most tables of lengths.",
    "Which lengths does (...) stand for?",
    why="lengths[:, np.newaxis, np.newaxis] names the axis of a batch; with ... "
    "instead there may be any.",
    axes="a batch by index",
)
exercise.option(
    "lists_forgotten",
    "Your function stops if the lengths are a list.",
    "What can an array do that a list cannot?",
    why="lengths[..., np.newaxis] is an index that only arrays understand.",
    lists="refused",
)
exercise.option(
    "ones_and_zeros",
    "Your mask holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise?",
    why="np.zeros and np.ones hold floats unless they are told otherwise.",
    holds="floats",
)
exercise.option(
    "whole_numbers",
    "Your mask holds the integers 1 and 0.",
    "Which dtype does the docstring promise?",
    why="Tokenizers hand out their masks as 1 and 0.",
    holds="whole numbers",
)
exercise.option(
    "numbers_to_add",
    "Your mask holds 0 and −∞, which are to be added to the scores.",
    "Which two values does a mask called may_attend have?",
    why="Many models make such a mask of the lengths, and add it.",
    holds="numbers to add",
)
exercise.family(families.squeezed(), families.as_list())
