"""Cases and misconceptions of ``padding_gap``."""

import numpy as np

from autograder import Exercise
from course_lib.nn.losses import padding_gap

exercise = Exercise(
    padding_gap,
    lesson="09_translation",
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


# The models f that are tested: token ids are small whole numbers, and 9 is the padding.
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
    x = one_number_each(token_ids)
    share = np.tanh(x.mean(axis=1, keepdims=True) - x)
    return np.concatenate([x, x * x, share], axis=-1)


def drawn(rng, *lengths):
    """Draw sequences of the token ids 0 … 8."""
    return [[int(token) for token in rng.integers(0, 9, size=n)] for n in lengths]


@exercise.usual
def usual(rng):
    return three_numbers_each, drawn(rng, 4, 2, 5), 9


@exercise.case(
    "Each position gets the sum of its row: a 9 behind the 3 changes that by 9"
)
def small_example_by_hand(student, rng):
    student.expect(student(sum_of_the_row, [[1, 2], [3]], 9), 9.0)
    longer = rng.integers(1, 9, size=rng.integers(2, 9)).tolist()
    student.agrees(sum_of_the_row, [longer, [3]], int(rng.integers(10, 99)))


@exercise.case(
    "Where neither padding nor neighbours play a part, the gap is 0", pays_alone=False
)
def nothing_between_them(student, rng):
    for f in (doubled, sum_without_nines):
        student.expect(student(f, drawn(rng, 4, 2, 5, 1), 9), 0.0)


@exercise.case(
    "The padding is behind the tokens, and what f returns for it does not count",
    pays_alone=False,
)
def behind_the_tokens(student, rng):
    for f in (counted_from_the_front, large_on_nines):
        student.expect(student(f, drawn(rng, 2, 5, 3), 9), 0.0)
        student.expect(student(f, drawn(rng, 5, 3, 1), 9), 0.0)


@exercise.case("It is enough that one sequence of several is changed")
def one_sequence_is_enough(student, rng):
    student.agrees(sum_of_the_row, [[3, 1, 4, 1], [2, 7], [5, 6, 8, 1]], 9)
    student.agrees(sum_of_the_row, [[3, 1, 4, 1], [5, 6, 8], [2, 7]], 9)
    student.agrees(sum_of_the_row, [[2], [5, 6, 8], [3, 1, 4, 1]], 9)


@exercise.case("It is enough that the last token sees the padding")
def last_token_sees_it(student, rng):
    student.expect(student(next_token_added, [[1, 2, 3], [4, 5], [6]], 9), 9.0)


@exercise.case("Neighbours count too: sequences of one length need no padding")
def neighbours_without_padding(student, rng):
    student.expect(student(neighbours_averaged, [[1, 3, 2], [2, 8, 4]], 9), 2.5)
    student.agrees(neighbours_averaged, drawn(rng, 3, 3), 9)


@exercise.case(
    "A change downwards counts like one upwards, and they do not cancel",
    pays_alone=False,
)
def both_directions(student, rng):
    sequences = drawn(rng, 3, 5, 2)
    student.agrees(sum_of_the_row, sequences, 9)
    student.agrees(sum_taken_off, sequences, 9)
    student.agrees(up_and_down, sequences, 9)


@exercise.case("A position may hold several numbers")
def several_numbers_per_position(student, rng):
    student.agrees(three_numbers_each, drawn(rng, 6, 3, 1, 4), 9)


@exercise.case("One sequence alone has no neighbours", visible=False, pays_alone=False)
def one_sequence(student, rng):
    student.expect(student(sum_of_the_row, drawn(rng, 3), 9), 0.0)
    student.expect(student(large_on_nines, drawn(rng, 4), 9), 0.0)


@exercise.case("The sequences stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(doubled, drawn(rng, 3, 1, 2), 9)


def pad_batch(sequences, padding_id):
    longest = max(map(len, sequences))
    return np.array([[*s, *[padding_id] * (longest - len(s))] for s in sequences])


def differences(f, sequences, padding_id):
    """Return for each sequence how f of the batch differs at its own positions."""
    together = f(pad_batch(sequences, padding_id))
    return [
        row[: len(sequence)] - f(np.array([sequence]))[0]
        for sequence, row in zip(sequences, together, strict=True)
    ]


@exercise.misconception(
    "Your number is the change that neighbours make: each sequence alone is still "
    "padded.",
    "How long is a batch of one sequence, if no other is longer?",
    why="f(batch[i : i + 1]) is short, and is called 'batch of one'.",
)
def alone_still_padded(f, sequences, padding_id):
    batch, gap = pad_batch(sequences, padding_id), 0.0
    together = f(batch)
    for i, sequence in enumerate(sequences):
        change = (together[i] - f(batch[i : i + 1])[0])[: len(sequence)]
        gap = max(gap, float(np.abs(change).max()))
    return gap


@exercise.misconception(
    "Your number is always 0: you compare f of the batch with f of the same batch.",
    "What is different between your two calls of f?",
    why="Repeatability is tested so, and looks like a test of padding.",
)
def compared_with_itself(f, sequences, padding_id):
    batch = pad_batch(sequences, padding_id)
    return float(np.abs(f(batch) - f(batch)).max())


@exercise.misconception(
    "Your number counts what f returns for the padding, as a change from 0.",
    "Which positions does the docstring leave out?",
    why="The shorter results are padded with zeros, to be compared as one array.",
)
def padding_counted(f, sequences, padding_id):
    together = f(pad_batch(sequences, padding_id))
    alone = np.zeros_like(together)
    for row, sequence in zip(alone, sequences, strict=True):
        row[: len(sequence)] = f(np.array([sequence]))[0]
    return float(np.abs(together - alone).max())


@exercise.misconception(
    "Your number compares sums: changes up and down cancel.",
    "If one number rises by 5 and another falls by 5, how large is the largest change?",
    why="One number per result is quickly compared: out.sum() is what tutorials print.",
)
def sums_compared(f, sequences, padding_id):
    return max(abs(float(part.sum())) for part in differences(f, sequences, padding_id))


@exercise.misconception(
    "Your number is the mean of the absolute changes.",
    "What happens to the mean if one position of a thousand is wrong?",
    why="Errors are usually given as a mean.",
)
def mean_change(f, sequences, padding_id):
    parts = [np.abs(part).ravel() for part in differences(f, sequences, padding_id)]
    return float(np.concatenate(parts).mean())


@exercise.misconception(
    "Your number is the largest rise: where all numbers fall it is 0.",
    "Is a fall by 9 a smaller change than a rise by 1?",
    why="max(gap, difference) lacks the abs.",
)
def largest_rise(f, sequences, padding_id):
    rises = [float(part.max()) for part in differences(f, sequences, padding_id)]
    return max(0.0, *rises)


@exercise.misconception(
    "Your padding is in front of the tokens.",
    "On which side does the docstring pad, and what is each token's position then?",
    why="padding_side='left' is what generation with decoders needs: huggingface/"
    "transformers, issue 22707.",
)
def padded_in_front(f, sequences, padding_id):
    longest, gap = max(map(len, sequences)), 0.0
    batch = np.array([[padding_id] * (longest - len(s)) + [*s] for s in sequences])
    for sequence, row in zip(sequences, f(batch), strict=True):
        change = row[longest - len(sequence) :] - f(np.array([sequence]))[0]
        gap = max(gap, float(np.abs(change).max()))
    return gap


@exercise.misconception(
    "Your padding is 0, whatever `padding_id` is.",
    "What does the token id 0 mean to a model whose padding is 9?",
    why="np.zeros makes the batch, as 0 is the padding in most vocabularies.",
)
def padded_with_zeros(f, sequences, padding_id):
    return max(float(np.abs(part).max()) for part in differences(f, sequences, 0))


@exercise.misconception(
    "Your number is that of the first sequence.",
    "Which sequence is padded, if the first one is the longest?",
    why="out[0] is compared with f of one sequence, as in most examples.",
)
def first_sequence_only(f, sequences, padding_id):
    return float(np.abs(differences(f, sequences, padding_id)[0]).max())


@exercise.misconception(
    "Your number is that of the last sequence.",
    "What happens to the gap of one sequence when the next one is measured?",
    why="gap = … in the loop overwrites the gaps measured before.",
)
def last_sequence_only(f, sequences, padding_id):
    return float(np.abs(differences(f, sequences, padding_id)[-1]).max())


@exercise.misconception(
    "Your number is that of each sequence's first position.",
    "Which of its positions is nearest to the padding?",
    why="The first token's vector stands for the sentence in many models.",
)
def first_position_only(f, sequences, padding_id):
    return max(
        float(np.abs(part[0]).max()) for part in differences(f, sequences, padding_id)
    )


@exercise.misconception(
    "Your number is that of each sequence's last position.",
    "Could the padding change the first token and leave the last one?",
    why="The last token's vector is the one from which a decoder continues.",
)
def last_position_only(f, sequences, padding_id):
    return max(
        float(np.abs(part[-1]).max()) for part in differences(f, sequences, padding_id)
    )


@exercise.misconception(
    "Your number is the sum of the sequences' gaps.",
    "Which one does the docstring ask for, all changes together or the largest?",
    why="gap += … in the loop.",
)
def gaps_added(f, sequences, padding_id):
    return float(
        sum(np.abs(part).max() for part in differences(f, sequences, padding_id))
    )


@exercise.misconception(
    "Your number is right, but the caller's sequences are padded afterwards.",
    "Does `+=` make a new list, or lengthen the caller's?",
    why="sequence += [padding_id] * … looks like work on the loop's own name.",
)
def sequences_lengthened(f, sequences, padding_id):
    gap = max(
        float(np.abs(part).max()) for part in differences(f, sequences, padding_id)
    )
    longest = max(map(len, sequences))
    for sequence in sequences:
        sequence += [padding_id] * (longest - len(sequence))
    return gap


@exercise.misconception(
    "Your result is True or False: whether there is a gap.",
    "What does the docstring promise: whether, or how much?",
    why="Such tests end in np.allclose.",
)
def whether_there_is_one(f, sequences, padding_id):
    return not all(
        np.allclose(part, 0) for part in differences(f, sequences, padding_id)
    )
