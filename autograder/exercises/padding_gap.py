"""Cases and known mistakes of ``padding_gap``."""

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
def spec(f, sequences, padding):
    longest = max(len(sequence) for sequence in sequences)
    filled = []
    for sequence in sequences:
        missing = longest - len(sequence)
        filled.append([*sequence, *[padding for _ in range(missing)]])
    together = f(np.array(filled)).tolist()
    largest = 0.0
    for number, sequence in enumerate(sequences):
        alone = f(np.array([sequence])).tolist()[0]
        for place in range(len(sequence)):
            for one, other in zip(together[number][place], alone[place], strict=True):
                largest = max(largest, abs(one - other))
    return largest


# What is tested: models with whole numbers for tokens, and 9 for the filling. Each
# gives a new array.


def one_number_each(tokens):
    """Give tokens an axis more: vectors of length 1."""
    return tokens[..., np.newaxis].astype(float)


def doubled(tokens):
    return 2 * one_number_each(tokens)


def counted_from_the_front(tokens):
    places = np.arange(1.0, tokens.shape[1] + 1)
    return one_number_each(tokens) * places[:, np.newaxis]


def sum_of_the_row(tokens):
    return one_number_each(tokens) + tokens.sum(axis=1)[:, np.newaxis, np.newaxis]


def sum_taken_off(tokens):
    return one_number_each(tokens) - tokens.sum(axis=1)[:, np.newaxis, np.newaxis]


def sum_without_nines(tokens):
    x = one_number_each(np.where(tokens == 9, 0, tokens))
    return x + x.sum(axis=1, keepdims=True)


def large_on_nines(tokens):
    return one_number_each(np.where(tokens == 9, 1000, tokens))


def next_token_added(tokens):
    """See one token ahead, and 0 behind the last one."""
    ahead = np.concatenate([tokens[:, 1:], 0 * tokens[:, :1]], axis=1)
    return one_number_each(tokens + ahead)


def neighbours_averaged(tokens):
    """Take off each place's mean over the batch, as batch normalisation does."""
    x = one_number_each(tokens)
    return x - x.mean(axis=0, keepdims=True)


def up_and_down(tokens):
    """Give two numbers a place, which the filling moves by as much, up and down."""
    rows = tokens.sum(axis=1)[:, np.newaxis, np.newaxis]
    x = one_number_each(tokens)
    return np.concatenate([x + rows, x - rows], axis=-1)


def three_numbers_each(tokens):
    x = one_number_each(tokens)
    share = np.tanh(x.mean(axis=1, keepdims=True) - x)
    return np.concatenate([x, x * x, share], axis=-1)


def drawn(rng, *lengths):
    """Draw sequences with tokens 0 … 8."""
    return [[int(token) for token in rng.integers(0, 9, size=n)] for n in lengths]


@exercise.usual
def usual(rng):
    return three_numbers_each, drawn(rng, 4, 2, 5), 9


@exercise.case(
    "Each place is given the sum of its row: a 9 behind the 3 changes that by 9"
)
def small_example_by_hand(student, rng):
    student.expect(student(sum_of_the_row, [[1, 2], [3]], 9), 9.0)


@exercise.case("Where neither filling nor neighbours play a part, the gap is 0")
def nothing_between_them(student, rng):
    for f in (doubled, sum_without_nines):
        student.expect(student(f, drawn(rng, 4, 2, 5, 1), 9), 0.0)


@exercise.case("The filling stands behind the tokens, and what f gives for it is free")
def behind_the_tokens(student, rng):
    for f in (counted_from_the_front, large_on_nines):
        student.expect(student(f, drawn(rng, 2, 5, 3), 9), 0.0)
        student.expect(student(f, drawn(rng, 5, 3, 1), 9), 0.0)


@exercise.case("It is enough that one sequence of several is changed")
def one_sequence_is_enough(student, rng):
    student.agrees(sum_of_the_row, [[3, 1, 4, 1], [2, 7], [5, 6, 8, 1]], 9)
    student.agrees(sum_of_the_row, [[3, 1, 4, 1], [5, 6, 8], [2, 7]], 9)
    student.agrees(sum_of_the_row, [[2], [5, 6, 8], [3, 1, 4, 1]], 9)


@exercise.case("It is enough that the last token sees the filling")
def last_token_sees_it(student, rng):
    student.expect(student(next_token_added, [[1, 2, 3], [4, 5], [6]], 9), 9.0)


@exercise.case(
    "Neighbours are company too: as long as each other, nothing is filled up"
)
def neighbours_without_filling(student, rng):
    student.expect(student(neighbours_averaged, [[1, 3, 2], [2, 8, 4]], 9), 2.5)


@exercise.case("A change downwards counts like one upwards, and they do not cancel")
def both_directions(student, rng):
    sequences = drawn(rng, 3, 5, 2)
    student.agrees(sum_of_the_row, sequences, 9)
    student.agrees(sum_taken_off, sequences, 9)
    student.agrees(up_and_down, sequences, 9)


@exercise.case("A place may hold several numbers")
def several_numbers_a_place(student, rng):
    student.agrees(three_numbers_each, drawn(rng, 6, 3, 1, 4), 9)


@exercise.case("One sequence alone has no company", visible=False)
def one_sequence(student, rng):
    student.expect(student(sum_of_the_row, drawn(rng, 3), 9), 0.0)
    student.expect(student(large_on_nines, drawn(rng, 4), 9), 0.0)


@exercise.case("The sequences stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(doubled, drawn(rng, 3, 1, 2), 9)


def filled_up(sequences, padding):
    longest = max(map(len, sequences))
    return np.array([[*s, *[padding] * (longest - len(s))] for s in sequences])


def changes(f, sequences, padding):
    """Give, for each sequence, how f of the batch differs at its own places."""
    together = f(filled_up(sequences, padding))
    return [
        found[: len(sequence)] - f(np.array([sequence]))[0]
        for sequence, found in zip(sequences, together, strict=True)
    ]


@exercise.misconception(
    "Your number is the change that neighbours make: each sequence alone is still "
    "filled up.",
    "What stands in the batch of one sequence that has no longer ones beside it?",
    why="f(batch[i : i + 1]) is short, and is called 'batch of one'.",
)
def alone_still_filled(f, sequences, padding):
    batch, gap = filled_up(sequences, padding), 0.0
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
def compared_with_itself(f, sequences, padding):
    batch = filled_up(sequences, padding)
    return float(np.abs(f(batch) - f(batch)).max())


@exercise.misconception(
    "Your number counts what f gives for the filling, as a change from 0.",
    "Which places does the docstring leave out?",
    why="The shorter results are filled up with zeros, to be compared as one array.",
)
def filling_counted(f, sequences, padding):
    together = f(filled_up(sequences, padding))
    alone = np.zeros_like(together)
    for row, sequence in zip(alone, sequences, strict=True):
        row[: len(sequence)] = f(np.array([sequence]))[0]
    return float(np.abs(together - alone).max())


@exercise.misconception(
    "Your number compares sums: changes up and down cancel.",
    "If one number rises by 5 and another falls by 5, how large is the largest change?",
    why="One number per result is quickly compared: out.sum() is what tutorials print.",
)
def sums_compared(f, sequences, padding):
    return max(abs(float(part.sum())) for part in changes(f, sequences, padding))


@exercise.misconception(
    "Your number is the mean of the absolute changes.",
    "What becomes of the mean, if one place of a thousand is wrong?",
    why="Errors are usually given as a mean.",
)
def mean_change(f, sequences, padding):
    parts = [np.abs(part).ravel() for part in changes(f, sequences, padding)]
    return float(np.concatenate(parts).mean())


@exercise.misconception(
    "Your number is the largest rise: where all numbers fall it is 0.",
    "Is a fall by 9 a smaller change than a rise by 1?",
    why="max(gap, difference) lacks the abs.",
)
def largest_rise(f, sequences, padding):
    rises = [float(part.max()) for part in changes(f, sequences, padding)]
    return max(0.0, *rises)


@exercise.misconception(
    "Your filling stands in front of the tokens.",
    "On which side does the docstring fill up, and what is each token's place then?",
    why="padding_side='left' is what generation with decoders needs: huggingface/"
    "transformers, issue 22707.",
)
def filled_in_front(f, sequences, padding):
    longest, gap = max(map(len, sequences)), 0.0
    batch = np.array([[padding] * (longest - len(s)) + [*s] for s in sequences])
    for sequence, found in zip(sequences, f(batch), strict=True):
        change = found[longest - len(sequence) :] - f(np.array([sequence]))[0]
        gap = max(gap, float(np.abs(change).max()))
    return gap


@exercise.misconception(
    "Your filling is 0, whatever `padding` says.",
    "What is the token 0, for a model that fills up with 9?",
    why="np.zeros makes the batch, as 0 is the filling in most vocabularies.",
)
def filled_with_zeros(f, sequences, padding):
    return max(float(np.abs(part).max()) for part in changes(f, sequences, 0))


@exercise.misconception(
    "Your number is that of the first sequence.",
    "Which sequence is filled up, if the first one is the longest?",
    why="out[0] is compared with f of one sequence, as in most examples.",
)
def first_sequence_only(f, sequences, padding):
    return float(np.abs(changes(f, sequences, padding)[0]).max())


@exercise.misconception(
    "Your number is that of the last sequence.",
    "What happens to the gap of one sequence when the next one is looked at?",
    why="gap = … in the loop writes over what was found before.",
)
def last_sequence_only(f, sequences, padding):
    return float(np.abs(changes(f, sequences, padding)[-1]).max())


@exercise.misconception(
    "Your number is that of each sequence's first place.",
    "Which of its places stands nearest to the filling?",
    why="The first token's vector stands for the sentence in many models.",
)
def first_place_only(f, sequences, padding):
    return max(float(np.abs(part[0]).max()) for part in changes(f, sequences, padding))


@exercise.misconception(
    "Your number is that of each sequence's last place.",
    "Could the filling change the first token and leave the last one?",
    why="The last token's vector is the one that is used to go on.",
)
def last_place_only(f, sequences, padding):
    return max(float(np.abs(part[-1]).max()) for part in changes(f, sequences, padding))


@exercise.misconception(
    "Your number is the sum of the sequences' gaps.",
    "Which one does the docstring ask for, all changes together or the largest?",
    why="gap += … in the loop.",
)
def gaps_added(f, sequences, padding):
    return float(sum(np.abs(part).max() for part in changes(f, sequences, padding)))


@exercise.misconception(
    "Your number is right, and the caller's sequences are filled up afterwards.",
    "Does `+=` make a new list, or lengthen the caller's?",
    why="sequence += [padding] * … looks like work on the loop's own name.",
)
def sequences_lengthened(f, sequences, padding):
    gap = max(float(np.abs(part).max()) for part in changes(f, sequences, padding))
    longest = max(map(len, sequences))
    for sequence in sequences:
        sequence += [padding] * (longest - len(sequence))
    return gap


@exercise.misconception(
    "Your result is True or False: whether there is a gap.",
    "What does the docstring promise: whether, or how much?",
    why="Such tests end in np.allclose.",
)
def whether_there_is_one(f, sequences, padding):
    return not all(np.allclose(part, 0) for part in changes(f, sequences, padding))
