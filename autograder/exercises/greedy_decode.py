"""Cases and misconceptions of ``greedy_decode``."""

import numpy as np

from autograder import Exercise
from course_lib.nn.decoding import greedy_decode

exercise = Exercise(
    greedy_decode,
    lesson="09_translation",
    minutes=10,
    difficulty=2,
    library=(
        "course_lib.nn.decoding.translate",
        "course_lib.nn.decoding.batch_greedy_decode",
    ),
)


@exercise.spec
def spec(next_logits, start_id, end_id, max_length):
    token_ids = []
    for _ in range(max_length):
        logits = [float(logit) for logit in next_logits([start_id, *token_ids])]
        best = 0
        for token_id in range(len(logits)):
            if logits[token_id] > logits[best]:
                best = token_id
        if best == end_id:
            return token_ids
        token_ids.append(best)
    return token_ids


# Functions for next_logits. They also answer calls that no right answer makes, so that
# a misconception shows in its result and not only in an exception.


def by_the_last_token(token_ids):
    rows = [[0, 1, 5, 2], [0, 1, 2, 9], [0, 4, 1, 3], [1, 0, 0, 0]]
    return np.array(rows[token_ids[-1] if token_ids else 0], dtype=float)


def counts_to_four(token_ids):
    return np.eye(7)[min(len(token_ids), 5)]


def two_are_equal(token_ids):
    rows = [[0, 7, 3, 7, 7], [5, 1, 8, 8, 2], [6, 1, 1, 6, 6]]
    return np.array(rows[min(len(token_ids), 3) - 1], dtype=float)


def start_again(token_ids):
    """Let start_id, 1, come again as a token of the sequence [2, 1, 2, 0]."""
    return np.eye(4)[[2, 1, 2, 0, 3][min(len(token_ids), 5) - 1]]


def never_ends(token_ids):
    return np.array([0.0, 3.0, 2.0, 1.0])


def at_once(token_ids):
    return np.array([0.0, 3.0, 2.0, 9.0 if len(token_ids) < 2 else 1.0])


def three_calls(token_ids):
    if len(token_ids) > 3:
        raise ValueError(f"called with {token_ids}, a sequence of full length")
    return np.roll([0.0, 1.0, 2.0, 3.0, -1.0], -len(token_ids))


def three_calls_in(order):
    """Return a function as `three_calls`, with the tokens 0, 1 and 2 in this order."""

    def logits_after(token_ids):
        logits = three_calls(token_ids)
        logits[[2, 1, 0]] = logits[order]
        return logits

    return logits_after


def in_turn(token_ids_after):
    """Return a function that chooses a token by the one before; what is left, ends."""

    def logits_after(token_ids):
        before = token_ids[-1] if token_ids else 0
        return np.eye(6)[token_ids_after.get(before, 3)]

    return logits_after


def drawn(rng, vocab_size, shift=0.0, never=None):
    """Return logits that depend on every token so far and on its position.

    never : a token id that is neither the best nor the worst
    """
    rows = rng.normal(size=(499, vocab_size)) + shift
    if never is not None:
        rows[:, never] = shift

    def logits_after(token_ids):
        return rows[hash(tuple(token_ids)) % len(rows)]

    return logits_after


@exercise.usual
def usual(rng):
    return drawn(rng, 12, never=5), 0, 5, 6


@exercise.case("From start to 2, from 2 to 1, from 1 to the end: the result is [2, 1]")
def small_example_by_hand(student, rng):
    student.expect(student(by_the_last_token, 0, 3, 9), [2, 1])
    first, second = (int(token_id) for token_id in rng.permutation([1, 2, 4, 5])[:2])
    result = student(in_turn({0: first, first: second}), 0, 3, 9)
    student.expect(result, [first, second])


@exercise.case("What comes next depends on all tokens so far, start included")
def whole_sequence_is_passed(student, rng):
    student.expect(student(counts_to_four, 0, 5, 9), [1, 2, 3, 4])
    for _ in range(4):
        student.agrees(drawn(rng, 6), 2, 4, 8)


@exercise.case("A sequence that ends at once is empty")
def ends_at_once(student, rng):
    student.expect(student(at_once, 0, 3, 5), [])


@exercise.case("A sequence without an end has max_length tokens")
def without_an_end(student, rng):
    student.expect(student(never_ends, 0, 3, 4), [1, 1, 1, 1])
    student.expect(student(counts_to_four, 0, 5, 1), [1])
    student.expect(student(counts_to_four, 0, 5, 4), [1, 2, 3, 4])


@exercise.case(
    "When the sequence is max_length long, `next_logits` is not called again"
)
def not_called_again(student, rng):
    student.expect(student(three_calls, 4, 3, 3), [2, 1, 0])
    student.agrees(three_calls_in(rng.permutation([0, 1, 2])), 4, 3, 3)


@exercise.case("Only the first start and the end are left out")
def start_may_come_again(student, rng):
    student.expect(student(start_again, 1, 3, 9), [2, 1, 2, 0])


@exercise.case("Of tokens with the same logit it is the one with the smallest token id")
def equal_logits(student, rng):
    student.expect(student(two_are_equal, 4, 0, 6), [1, 2])


@exercise.case("Logits may all be below 0")
def logits_below_zero(student, rng):
    for _ in range(4):
        student.agrees(drawn(rng, 6, shift=-9.0), 1, 3, 7)


@exercise.case("Start and end may be any two token ids", visible=False)
def any_start_and_end(student, rng):
    start_id, end_id = (int(token_id) for token_id in rng.permutation(8)[:2])
    for _ in range(6):
        student.agrees(drawn(rng, 8), start_id, end_id, 10)


def written_by(choose, next_logits, start_id, end_id, max_length, context=list):
    """Decode a sequence; for misconceptions in the choice or in the context.

    choose : returns a token id from logits
    context : returns what `next_logits` is called with, from the token ids so far
    """
    token_ids = [start_id]
    while len(token_ids) <= max_length:
        best = int(choose(next_logits(context(token_ids))))
        if best == end_id:
            break
        token_ids.append(best)
    return token_ids[1:]


@exercise.misconception(
    "Your result has the end token behind it.",
    "Is `end_id` a token of the sequence, or the sign that it is over?",
    why="The token is appended first and compared with `end_id` afterwards.",
)
def end_kept(next_logits, start_id, end_id, max_length):
    token_ids = []
    while len(token_ids) < max_length and (not token_ids or token_ids[-1] != end_id):
        token_ids.append(int(np.argmax(next_logits([start_id, *token_ids]))))
    return token_ids


@exercise.misconception(
    "Your result begins with the start token.",
    "Which of the tokens in your list was never chosen?",
    why="The list that `next_logits` is called with is returned as it is, as in the "
    "Annotated Transformer's greedy_decode.",
)
def start_kept(next_logits, start_id, end_id, max_length):
    return [start_id, *written_by(np.argmax, next_logits, start_id, end_id, max_length)]


@exercise.misconception(
    "Your result has one token too many where it does not end by itself.",
    "How many tokens are in your list before the first one is chosen?",
    why="PaddlePaddle/models, pull 1023, is about whether start and end are counted.",
)
def one_token_too_many(next_logits, start_id, end_id, max_length):
    return written_by(np.argmax, next_logits, start_id, end_id, max_length + 1)


@exercise.misconception(
    "Your result has one token too few where it does not end by itself.",
    "Does max_length count the start token?",
    why="while len(tokens) < max_length is written with start in the list already.",
)
def one_token_too_few(next_logits, start_id, end_id, max_length):
    return written_by(np.argmax, next_logits, start_id, end_id, max_length - 1)


@exercise.misconception(
    "Your sequence continues behind its end, up to max_length.",
    "What does your loop do when the end token is chosen?",
    why="for _ in range(max_length) without a break: the Annotated Transformer's loop, "
    "and graykode/nlp-tutorial's at first, know no end.",
)
def never_stops(next_logits, start_id, end_id, max_length):
    return written_by(np.argmax, next_logits, start_id, None, max_length)


@exercise.misconception(
    "Your sequence continues behind its end; the end tokens are removed afterwards.",
    "Do tokens behind the first end belong to the sequence?",
    why="Special tokens are filtered out of decoded strings: skip_special_tokens=True.",
)
def ends_taken_out(next_logits, start_id, end_id, max_length):
    token_ids = written_by(np.argmax, next_logits, start_id, None, max_length)
    return [token_id for token_id in token_ids if token_id != end_id]


@exercise.misconception(
    "Your code takes the largest token id among equal logits.",
    "Which one does the docstring choose, and which one does your comparison?",
    why=">= in a loop, or the last of a stable sort.",
)
def last_of_equals(next_logits, start_id, end_id, max_length):
    def choose(logits):
        return len(logits) - 1 - np.argmax(logits[::-1])

    return written_by(choose, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your code calls `next_logits` with the newest token alone.",
    "How is the model to know what came before it?",
    why="With a cache or a recurrent network only the newest token is fed; here there "
    "is no cache and no hidden state.",
)
def newest_token_alone(next_logits, start_id, end_id, max_length):
    return written_by(
        np.argmax,
        next_logits,
        start_id,
        end_id,
        max_length,
        lambda token_ids: token_ids[-1:],
    )


@exercise.misconception(
    "Your code calls `next_logits` without the start token.",
    "What does a model read before any token is chosen?",
    why="The list of results, which has no start, is what `next_logits` gets.",
)
def called_without_start(next_logits, start_id, end_id, max_length):
    return written_by(
        np.argmax,
        next_logits,
        start_id,
        end_id,
        max_length,
        lambda token_ids: token_ids[1:],
    )


@exercise.misconception(
    "Your code calls `next_logits` with the start token alone, each time.",
    "What must change between the first call and the second?",
    why="The chosen token goes into the result, and not into what `next_logits` gets.",
)
def start_alone(next_logits, start_id, end_id, max_length):
    return written_by(
        np.argmax,
        next_logits,
        start_id,
        end_id,
        max_length,
        lambda token_ids: token_ids[:1],
    )


@exercise.misconception(
    "Your code takes the token with the lowest logit.",
    "Does a high logit stand for a likely token or for an unlikely one?",
    why="Losses and negative logarithms are made small, and argmin comes with them.",
)
def lowest_logit(next_logits, start_id, end_id, max_length):
    return written_by(np.argmin, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your code takes the token id 0 where all logits are below 0.",
    "With which number does your search for the largest logit begin?",
    why="best = 0.0 before the loop is right for probabilities.",
)
def nothing_below_zero(next_logits, start_id, end_id, max_length):
    def choose(logits):
        return np.argmax(logits) if np.max(logits) > 0 else 0

    return written_by(choose, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your code takes the logit furthest from 0, whatever its sign.",
    "Which of −9 and 2 is the higher logit?",
    why="abs() is copied from code that compares differences.",
)
def furthest_from_zero(next_logits, start_id, end_id, max_length):
    def choose(logits):
        return np.argmax(np.abs(logits))

    return written_by(choose, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your result is never empty: where it should end at once, it goes on.",
    "May the first token that is chosen be the end?",
    why="A least length of 1 is the default of several decoders, fairseq's among them.",
)
def never_empty(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    while len(token_ids) <= max_length:
        logits = np.array(next_logits(list(token_ids)), dtype=float)
        if len(token_ids) == 1:
            logits[end_id] = -np.inf
        if int(np.argmax(logits)) == end_id:
            break
        token_ids.append(int(np.argmax(logits)))
    return token_ids[1:]


@exercise.misconception(
    "Your result is right, but `next_logits` is called once more after the last token.",
    "When the sequence is max_length long, does the result of one more call matter?",
    why="The length is checked after the logits, in a loop that begins with the call.",
)
def called_once_more(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    while True:
        best = int(np.argmax(next_logits(list(token_ids))))
        if best == end_id or len(token_ids) > max_length:
            return token_ids[1:]
        token_ids.append(best)


@exercise.misconception(
    "Your token ids are right, but in an array.",
    "Which type does the docstring promise?",
    why="Token ids are put into arrays for a model, and stay there.",
)
def given_as_an_array(next_logits, start_id, end_id, max_length):
    return np.array(
        written_by(np.argmax, next_logits, start_id, end_id, max_length), dtype=int
    )


@exercise.misconception(
    "Your result lacks every `start_id`, not only the first.",
    "May a model choose `start_id` again, in the middle of a sequence?",
    why="Start and end are removed by their values, in one line.",
)
def start_removed_by_value(next_logits, start_id, end_id, max_length):
    token_ids = written_by(np.argmax, next_logits, start_id, end_id, max_length)
    return [token_id for token_id in token_ids if token_id != start_id]
