"""Cases and misconceptions of ``padding_gap``."""

import numpy as np

from autograder import Exercise
from course_lib.nn.losses import padding_gap

exercise = Exercise(
    padding_gap,
    lesson="10_training",
    minutes=15,
    difficulty=2,
)


@exercise.spec
def spec(f, sequences, padding_id):
    longest = max(len(sequence) for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - len(sequence)
        padded.append([*sequence, *[padding_id for _ in range(missing)]])
    together = f(np.array(padded)).tolist()
    largest = 0.0
    for number, sequence in enumerate(sequences):
        alone = f(np.array([sequence])).tolist()[0]
        for position in range(len(sequence)):
            for one, other in zip(
                together[number][position], alone[position], strict=True
            ):
                largest = max(largest, abs(one - other))
    return largest


# The models f that are tested: token ids are small integers, and 9 is the padding.
# Each returns a new array.


def one_number_each(token_ids):
    """Return a vector of length 1 for each token id."""
    return token_ids[..., np.newaxis].astype(float)


def doubled(token_ids):
    return 2 * one_number_each(token_ids)


def counted_from_the_front(token_ids):
    positions = np.arange(1.0, token_ids.shape[1] + 1)
    return one_number_each(token_ids) * positions[:, np.newaxis]


def sum_of_the_row(token_ids):
    return one_number_each(token_ids) + token_ids.sum(axis=1)[:, np.newaxis, np.newaxis]


def sum_taken_off(token_ids):
    return one_number_each(token_ids) - token_ids.sum(axis=1)[:, np.newaxis, np.newaxis]


def sum_without_nines(token_ids):
    x = one_number_each(np.where(token_ids == 9, 0, token_ids))
    return x + x.sum(axis=1, keepdims=True)


def large_on_nines(token_ids):
    return one_number_each(np.where(token_ids == 9, 1000, token_ids))


def nothing_on_nines(token_ids):
    return one_number_each(np.where(token_ids == 9, np.nan, token_ids))


def next_token_added(token_ids):
    """Add the id of the next token, and 0 behind the last one."""
    ahead = np.concatenate([token_ids[:, 1:], 0 * token_ids[:, :1]], axis=1)
    return one_number_each(token_ids + ahead)


def neighbours_averaged(token_ids):
    """Subtract each position's mean over the batch, as batch normalisation does."""
    x = one_number_each(token_ids)
    return x - x.mean(axis=0, keepdims=True)


def up_and_down(token_ids):
    """Return two numbers per position; padding moves one up and one down by as much."""
    rows = token_ids.sum(axis=1)[:, np.newaxis, np.newaxis]
    x = one_number_each(token_ids)
    return np.concatenate([x + rows, x - rows], axis=-1)


def three_numbers_each(token_ids):
    """Return three numbers per position: one alone, one by its row, one by all."""
    x = one_number_each(token_ids)
    row, batch = x.mean(axis=1, keepdims=True), x.mean()
    return np.concatenate([-x, np.sin(x * row), np.cos(x + batch)], axis=-1)


def looked_up(token_ids):
    """Look each token's vector up in a table, and add the mean of the row."""
    x = np.linspace(-1.0, 1.0, 20).reshape(10, 2)[token_ids]
    return x + x.mean(axis=1, keepdims=True)


def drawn(rng, *lengths):
    """Draw sequences of the token ids 0 … 8."""
    return [[int(token) for token in rng.integers(0, 9, size=n)] for n in lengths]


@exercise.usual
def usual(rng):
    return three_numbers_each, drawn(rng, 4, 2, 5), 9


@exercise.case(
    "Each position gets the sum of its row: a 9 behind the 3 changes that by 9",
    weight=1,
)
def small_example_by_hand(student, rng):
    student.expect(student(sum_of_the_row, [[1, 2], [3]], 9), 9.0)
    longer = rng.integers(1, 9, size=rng.integers(2, 9)).tolist()
    student.agrees(sum_of_the_row, [longer, [3]], int(rng.integers(10, 99)))


@exercise.case(
    "Where neither padding nor neighbours play a part, the gap is 0",
    pays_alone=False,
    weight=0.5,
)
def nothing_between_them(student, rng):
    for f in (doubled, sum_without_nines):
        student.expect(student(f, drawn(rng, 4, 2, 5, 1), 9), 0.0)


@exercise.case(
    "The padding is behind the tokens, and what f returns for it does not count",
    pays_alone=False,
    weight=0.5,
)
def behind_the_tokens(student, rng):
    for f in (counted_from_the_front, large_on_nines, nothing_on_nines):
        student.expect(student(f, drawn(rng, 2, 5, 3), 9), 0.0)
        student.expect(student(f, drawn(rng, 5, 3, 1), 9), 0.0)


@exercise.case("It is enough that one sequence of several is changed", weight=1)
def one_sequence_is_enough(student, rng):
    student.agrees(sum_of_the_row, [[3, 1, 4, 1], [2, 7], [5, 6, 8, 1]], 9)
    student.agrees(sum_of_the_row, [[3, 1, 4, 1], [5, 6, 8], [2, 7]], 9)
    student.agrees(sum_of_the_row, [[2], [5, 6, 8], [3, 1, 4, 1]], 9)


@exercise.case("It is enough that the last token sees the padding", weight=0.5)
def last_token_sees_it(student, rng):
    student.expect(student(next_token_added, [[1, 2, 3], [4, 5], [6]], 9), 9.0)


@exercise.case(
    "Neighbours count too: sequences of one length need no padding", weight=0.5
)
def neighbours_without_padding(student, rng):
    student.expect(student(neighbours_averaged, [[1, 3, 2], [2, 8, 4]], 9), 2.5)
    student.agrees(neighbours_averaged, drawn(rng, 3, 3), 9)


@exercise.case(
    "A change downwards counts like one upwards, and they do not cancel",
    pays_alone=False,
    weight=0.5,
)
def both_directions(student, rng):
    sequences = drawn(rng, 3, 5, 2)
    student.agrees(sum_of_the_row, sequences, 9)
    student.agrees(sum_taken_off, sequences, 9)
    student.agrees(up_and_down, sequences, 9)


@exercise.case("A position may hold several numbers", weight=4.5)
def several_numbers_per_position(student, rng):
    student.agrees(three_numbers_each, drawn(rng, 6, 3, 1, 4), 9)
    student.agrees(three_numbers_each, [[1, 3, 4, 4], [4, 1], [1, 1, 1]], 9)
    student.agrees(three_numbers_each, [[7, 7, 4], [8], [3, 1, 2, 7], [1, 3]], 9)


@exercise.case(
    "Token ids reach `f` as integers, which it may look up in a table", weight=0.5
)
def looked_up_in_a_table(student, rng):
    student.agrees(looked_up, drawn(rng, 4, 2), 9)


@exercise.case(
    "One sequence alone has no neighbours", visible=False, pays_alone=False, weight=0.5
)
def one_sequence(student, rng):
    student.expect(student(sum_of_the_row, drawn(rng, 3), 9), 0.0)
    student.expect(student(large_on_nines, drawn(rng, 4), 9), 0.0)


@exercise.case("The sequences are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(doubled, drawn(rng, 3, 1, 2), 9)


exercise.edits(
    """
alone_still_padded:
  | for sequence, … -> for row, sequence, result in zip(batch, sequences, together):
  | alone = f(np.array([row]))[0][:len(sequence)]
  Your number is the change that neighbours make: each sequence alone is still padded.
  ? How long is a batch of one sequence, if no other is longer?
  # f(batch[i : i + 1]) is short, and is called 'batch of one'.
compared_with_itself:
  | for sequence, …
  :     alone = … -> for sequence, result, again in zip(sequences, together, f(batch)):
  | - alone -> - again[:len(sequence)]
  Your number is always 0, as if f of the batch met f of the same batch.
  ? What is different between your two calls of f?
  # Repeatability is tested so, and looks like a test of padding.
sequence_without_batch_axis: f(np.array([sequence]))[0] -> f(np.array(sequence))
  For one sequence alone, your call hands `f` an array with one axis.
  ? Which shape do the token ids have that f takes?
  # np.array(sequence) lacks the brackets that make a batch of one.
neighbours_left_out: together = [f(np.array([row]))[0] for row in batch]
  Your number leaves out what neighbours change: each padded sequence is in a batch of
    its own.
  ? Which sequences meet in the batch that the docstring speaks of?
  # A loop that pads one sequence after the other calls f inside.
token_ids_as_floats: padding_id) -> padding_id, dtype=float)
  Your batch holds floats, and token ids are integers.
  ? What can f look up in a table with an id such as 3.0?
  # np.zeros and np.ones make floats unless told otherwise.
token_ids_in_lists:
  | f(batch) -> f(batch.tolist())
  | f(np.array([sequence])) -> f([sequence])
  Your call hands `f` lists, not arrays.
  ? Which type does the docstring promise to f?
  # The padded sequences are lists of lists, and most of NumPy takes those.
padded_in_front:
  | row[:len(sequence)] -> row[-len(sequence):]
  | result[:len(sequence)] -> result[-len(sequence):]
  Your padding is in front of the tokens.
  ? On which side does the docstring pad, and what is each token's position then?
  # padding_side='left' is what generation with decoders needs:
    huggingface/transformers, issue 22707.
padded_with_zeros: padding_id) -> 0)
  Your padding is 0, whatever `padding_id` is.
  ? What does the token id 0 mean to a model whose padding is 9?
  # np.zeros makes the batch, as 0 is the padding in most vocabularies.
padded_with_minus_one: padding_id) -> -1)
  Your padding is −1, whatever `padding_id` is.
  ? What does the argument `padding_id` say?
  # −1 is the usual mark for 'no token' where ids are counted from 0.
last_token_repeated:
  | row[:len( … ->
  :     row[:len(sequence)] = sequence
  :     row[len(sequence):] = sequence[-1]
  Your padding is each sequence's own last token.
  # np.pad(…, mode="edge") repeats what is at the end.
longest_padded_too: in sequences)) -> in sequences)) + 1
  Your batch is one position longer than the longest sequence.
  ? How much padding does the longest sequence get?
  # + 1 is added to a length to be on the safe side.
cut_to_the_shortest:
  | max((len(sequence) -> min((len(sequence)
  | row[:len( … -> row[:] = sequence[:longest]
  | - alone -> - alone[:longest]
  Your batch is as long as its shortest sequence: the others are cut.
  ? How long are all sequences, once they are padded?
  # zip stops at the shortest, and min is taken for max.
padding_counted:
  | gaps.append( … ->
  :     padded = np.zeros_like(result)
  :     padded[:len(sequence)] = alone
  :     gaps.append(np.abs(result - padded).max())
  Your number counts what f returns for the padding, as a change from 0.
  ? Which positions does the docstring leave out?
  # The shorter results are padded with zeros, to be compared as one array.
padding_multiplied_by_zero:
  | gaps.append( … ->
  :     padded = np.zeros_like(result)
  :     padded[:len(sequence)] = alone
  :     is_token = (np.arange(longest) < len(sequence))[:, np.newaxis]
  :     gaps.append(np.abs((result - padded) * is_token).max())
  Your number is NaN where f returns NaN for the padding: that still takes part.
  ? How do you leave a position out, whatever stands there?
  # A mask of zeros and ones is multiplied in, as for attention weights.
other_end_compared: result[:len(sequence)] -> result[-len(sequence):]
  Your number compares each sequence with as many positions at the other end of its
    row.
  ? At which positions of a padded row are the tokens?
  # result[-n:] takes n positions from the end, where the padding is.
first_position_only: result[:len(sequence)] - alone -> result[0] - alone[0]
  Your number is that of each sequence's first position.
  ? Which of its positions is nearest to the padding?
  # The first token's vector stands for the sentence in many models.
last_position_only:
  | result[:len(sequence)] - alone -> result[len(sequence) - 1] - alone[-1]
  Your number is that of each sequence's last position.
  ? Could the padding change the first token and leave the last one?
  # The last token's vector is the one from which a decoder continues.
last_position_left_out:
  | result[:len(sequence)] - alone).max() ->
  :     result[:len(sequence) - 1] - alone[:-1]).max(initial=0.0)
  Your number leaves out each sequence's last position.
  ? Which of its positions is nearest to the padding?
  # range(n - 1) and [: n - 1] end one position too early.
first_position_left_out:
  | result[:len(sequence)] - alone).max() ->
  :     result[1:len(sequence)] - alone[1:]).max(initial=0.0)
  Your number leaves out each sequence's first position.
  ? Which index has the first token of a sequence?
  # range(1, n) begins behind it.
first_number_only:
  | result[:len(sequence)] - alone -> result[:len(sequence), 0] - alone[:, 0]
  Your number counts only the first number of each position.
  ? How many numbers does f return for a position?
  # [..., 0] drops an axis that has length 1 in small examples.
largest_rise:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     (result[:len(sequence)] - alone).max(initial=0.0)
  Your number is the largest rise: a fall, however large, does not count.
  ? Is a fall by 9 a smaller change than a rise by 1?
  # max(gap, difference) lacks the abs.
absolute_value_too_late:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     abs((result[:len(sequence)] - alone).max())
  Your gap of a sequence is the absolute value of the largest difference, not the
    largest absolute value.
  ? Of the differences −20 and 10, which one does max() pick?
  # abs(a.max()) for np.abs(a).max(): the same words in another order.
absolute_value_of_the_fall:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     abs((alone - result[:len(sequence)]).max())
  Your gap of a sequence is the absolute value of the lowest difference, not the largest
    absolute value.
  ? Of the differences −10 and 20, which one does min() pick?
  # abs((alone - together).max()) for np.abs(alone - together).max().
largest_fall:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     (alone - result[:len(sequence)]).max(initial=0.0)
  Your number is the largest fall: where all numbers rise it is 0.
  ? Is a rise by 9 a smaller change than a fall by 1?
  # max(gap, alone - together) lacks the abs.
sums_compared:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     np.abs(result[:len(sequence)].sum() - alone.sum())
  Your number compares sums: changes up and down cancel.
  ? If one number rises by 5 and another falls by 5, how large is the largest change?
  # One number per result is quickly compared: out.sum() is what tutorials print.
sums_of_positions_compared:
  | result[:len(sequence)] - alone ->
  :     result[:len(sequence)].sum(axis=-1) - alone.sum(axis=-1)
  Your number compares one sum for each position: changes within it cancel.
  # The last axis is summed away, so that each token has one number.
changes_added: alone).max() -> alone).sum()
  Your number adds up the absolute changes of a sequence.
  ? Which one does the docstring ask for, all changes together or the largest?
  # np.abs(…).sum() is the usual distance of two arrays.
mean_change:
  | gaps.append( … -> gaps.extend(np.abs(result[:len(sequence)] - alone).ravel())
  | np.max(gaps) -> np.mean(gaps)
  Your number is the mean of the absolute changes.
  ? What happens to the mean if one position of a thousand is wrong?
  # Errors are usually given as a mean.
mean_of_each_sequence: alone).max() -> alone).mean()
  Your number takes each sequence's mean of the absolute changes.
  # Each sequence gets its mean, since they have different lengths.
smallest_change: alone).max() -> alone).min()
  Your number takes the smallest absolute change of a sequence.
  ? Is a model safe from padding if one of its numbers does not change?
  # min is taken for max.
change_squared:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     ((result[:len(sequence)] - alone) ** 2).max()
  Your number holds the squares of the changes.
  ? Does the docstring ask for differences or for their squares?
  # Squares get rid of the sign, and are usual for errors.
length_of_the_change:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     np.linalg.norm(result[:len(sequence)] - alone)
  Your number is the length of a sequence's changes, all taken as one vector.
  ? Which one does the docstring ask for, all changes together or the largest?
  # np.linalg.norm is the usual distance of two arrays.
lengths_of_positions:
  | np.abs(result[:len(sequence)] - alone).max() ->
  :     np.linalg.norm(result[:len(sequence)] - alone, axis=-1).max()
  Your number takes the change at a position for a vector, and its length.
  ? Which one does the docstring ask for, a distance of vectors or of numbers?
  # np.linalg.norm(…, axis=-1) measures how far a token's vector has moved.
first_sequence_only: np.max(gaps) -> gaps[0]
  Your number is that of the first sequence.
  ? Which sequence is padded, if the first one is the longest?
  # out[0] is compared with f of one sequence, as in most examples.
last_sequence_only: np.max(gaps) -> gaps[-1]
  Your number is that of the last sequence.
  ? What happens to the gap of one sequence when the next one is measured?
  # gap = … in the loop overwrites the gaps measured before.
gaps_added: np.max(gaps) -> np.sum(gaps)
  Your number is the sum of the sequences' gaps.
  ? Which one does the docstring ask for, all changes together or the largest?
  # gap += … in the loop.
gaps_averaged: np.max(gaps) -> np.mean(gaps)
  Your number is the mean of the sequences' gaps.
  ? What happens to the mean if one sequence of a thousand is changed?
  # What is measured for each sequence is averaged at the end.
smallest_gap: np.max(gaps) -> np.min(gaps)
  Your number is the smallest of the sequences' gaps.
  ? What is the gap of the longest sequence, which needs no padding?
  # min is taken for max.
gap_of_each_sequence: return [float(gap) for gap in gaps]
  Your result is a list, with a gap for each sequence.
  ? How many numbers does the docstring promise?
  # The loop's list is returned before its largest is taken.
whether_there_is_one: return np.max(gaps) > 1e-08
  Your result is True or False: whether there is a gap.
  ? What does the docstring promise: whether, or how much?
  # Such tests end in np.allclose.
cut_to_a_whole_number: return int(np.max(gaps))
  Your number loses what follows its decimal point.
  ? Which type does the docstring promise?
  # Results are collected in an array of integers, made like the token ids.
sequences_lengthened:
  | batch = …
  : for row, …
  :     row[:len( …
  : together = f(batch) ->
  :     all_alone = [f(np.array([sequence]))[0] for sequence in sequences]
  :     for sequence in sequences:
  :         sequence += [padding_id] * (longest - len(sequence))
  :     together = f(np.array(sequences))
  | for sequence, …
  :     alone = …
  :     gaps. … ->
  :     for alone, result in zip(all_alone, together):
  :         gaps.append(np.abs(result[:len(alone)] - alone).max())
  Your call pads the caller's sequences: they stay longer afterwards.
  ? Which of your lines makes a list longer, and who else holds that list?
  # sequence += [padding_id] * … looks like work on the loop's own name.
sequences_sorted: sequences.sort(key=len)
  Your call sorts the caller's sequences by length.
  ? Does `.sort` make a new list, or change the caller's?
  # The longest sequence is easily found in a sorted list.
""",
)
