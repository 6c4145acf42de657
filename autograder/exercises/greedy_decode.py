"""Cases and misconceptions of ``greedy_decode``."""

import numpy as np

from autograder import Exercise
from course_lib.nn.decoding import greedy_decode

exercise = Exercise(
    greedy_decode,
    lesson="11_translation",
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
    """Count, with the highest logits and with the lowest, which are one ahead."""
    number = min(len(token_ids), 5)
    return np.eye(7)[number] - np.eye(7)[number + 1]


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


def drawn(rng, vocab_size, shift=0.0, never=None, start_id=None):
    """Return logits that depend on every token so far and on its position.

    never : a token id that is neither the best nor the worst
    start_id : a token id that does not come again
    """
    rows = rng.normal(size=(499, vocab_size)) + shift
    if start_id is not None:
        rows[:, start_id] -= 9.0
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


@exercise.case("What comes next depends on all tokens so far, start included", weight=2)
def whole_sequence_is_passed(student, rng):
    student.expect(student(counts_to_four, 0, 5, 9), [1, 2, 3, 4])
    for _ in range(4):
        student.agrees(drawn(rng, 6, start_id=2), 2, 4, 8)


@exercise.case("A sequence that ends at once is empty", weight=0.5)
def ends_at_once(student, rng):
    student.expect(student(at_once, 0, 3, 5), [])


@exercise.case("A sequence without an end has max_length tokens", weight=0.5)
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


@exercise.fine_point("The start may come again, as a token of the sequence")
def start_may_come_again(student, rng):
    student.expect(student(start_again, 1, 3, 9), [2, 1, 2, 0])


@exercise.fine_point("The start may be the same token id as the end")
def start_is_the_end(student, rng):
    student.expect(student(at_once, 3, 3, 5), [])
    student.agrees(drawn(rng, 6), 4, 4, 6)
    student.expect(student(counts_to_four, 5, 5, 9), [1, 2, 3, 4])


@exercise.case("Of tokens with the same logit it is the one with the smallest token id")
def equal_logits(student, rng):
    student.expect(student(two_are_equal, 4, 0, 6), [1, 2])


@exercise.case("Logits may all be below 0", weight=0.5)
def logits_below_zero(student, rng):
    for _ in range(4):
        student.agrees(drawn(rng, 6, shift=-9.0, start_id=1), 1, 3, 7)


@exercise.case("Start and end may be any two token ids", visible=False)
def any_start_and_end(student, rng):
    start_id, end_id = (int(token_id) for token_id in rng.permutation(8)[:2])
    for _ in range(6):
        student.agrees(drawn(rng, 8, start_id=start_id), start_id, end_id, 10)


exercise.edits(
    """
end_kept:
  | if best == end_id:
  :     break
  : token_ids.append(best) ->
  :     token_ids.append(best)
  :     if best == end_id:
  :         break
  Your result has the end token behind it.
  ? Is `end_id` a token of the sequence, or the sign that it is over?
  # The token is appended first and compared with `end_id` afterwards.
never_stops:
  | if best == end_id:
  :     break
  : token_ids.append(best) -> token_ids.append(best)
  Your sequence continues behind its end, up to max_length.
  ? What does your loop do when the end token is chosen?
  # for _ in range(max_length) without a break: the Annotated Transformer's loop, and
    graykode/nlp-tutorial's at first, know no end.
ends_taken_out:
  | if best == end_id:
  :     break
  : token_ids.append(best) -> token_ids.append(best)
  | return [token_id for token_id in token_ids[1:] if token_id != end_id]
  Your sequence continues behind its end; only the end tokens themselves are left out.
  ? Do tokens behind the first end belong to the sequence?
  # Special tokens are filtered out of decoded strings: skip_special_tokens=True.
start_kept: return token_ids
  Your result begins with the start token.
  ? Which of the tokens in your list was never chosen?
  # The list that `next_logits` is called with is returned as it is, as in the
    Annotated Transformer's greedy_decode.
start_removed_by_value:
  | return [token_id for token_id in token_ids if token_id != start_id]
  Your result lacks every `start_id`, not only the first.
  ? May a model choose `start_id` again, in the middle of a sequence?
  # Start and end are removed by their values, in one line.
as_long_as_max_length:
  | len(token_ids) <= max_length -> len(token_ids) < max_length
  | if best == end_id:
  :     break
  : token_ids.append(best) -> token_ids.append(best)
  | return token_ids
  Your result begins with the start, goes on after the end, and is max_length long
    with the start.
  ? Which two tokens does the docstring leave out, and what ends a sequence?
  # greedy_decode of The Annotated Transformer: ys begins with the start symbol, and
    range(max_len - 1) adds the rest.
last_token_removed: return token_ids[1:-1]
  Your result lacks its last token.
  ? Is the end among the tokens in your list, when the loop is over?
  # [1:-1] takes off start and end, and the end was never appended.
one_token_too_many: len(token_ids) <= max_length -> len(token_ids) <= max_length + 1
  Your result has one token too many where it does not end by itself.
  ? How many tokens are in your list before the first one is chosen?
  # PaddlePaddle/models, pull 1023, is about whether start and end are counted.
one_token_too_few: len(token_ids) <= max_length -> len(token_ids) < max_length
  Your result has one token too few where it does not end by itself.
  ? Does max_length count the start token?
  # while len(tokens) < max_length is written with start in the list already.
two_tokens_too_few: len(token_ids) <= max_length -> len(token_ids) < max_length - 1
  Your result has two tokens too few where it does not end by itself.
  ? Which tokens does max_length count?
  # Start and end are both counted.
called_once_more:
  | while len(token_ids) <= max_length -> while True
  | if best == end_id -> if best == end_id or len(token_ids) > max_length
  Your code calls `next_logits` once more after the last token.
  ? When the sequence is max_length long, does the result of one more call matter?
  # The length is checked after the logits, in a loop that begins with the call.
newest_token_alone: list(token_ids) -> token_ids[-1:]
  Your code calls `next_logits` with the newest token alone.
  ? How is the model to know what came before it?
  # With a cache or a recurrent network only the newest token is fed; here there is no
    cache and no hidden state.
called_without_start: list(token_ids) -> token_ids[1:]
  Your code calls `next_logits` without the start token.
  ? What does a model read before any token is chosen?
  # The list of results, which has no start, is what `next_logits` gets.
start_given_up_after_the_first_call: list(token_ids) -> token_ids[1:] or token_ids
  Your code calls `next_logits` with the start token first, and without it from then on.
  ? Which tokens does the docstring hand to `next_logits` in the second call?
  # `result or [start_id]` puts the start in where the list is empty.
start_alone: list(token_ids) -> [start_id]
  Your code calls `next_logits` with the start token alone, each time.
  ? What must change between the first call and the second?
  # The chosen token goes into the result, and not into what `next_logits` gets.
last_of_equals: best = len(logits) - 1 - int(np.argmax(logits[::-1]))
  Your code takes the largest token id among equal logits.
  ? Which one does the docstring choose, and which one does your comparison?
  # >= in a loop, or the last of a stable sort.
lowest_logit: np.argmax -> np.argmin
  Your code takes the token with the lowest logit.
  ? Does a high logit stand for a likely token or for an unlikely one?
  # Losses and negative logarithms are made small, and argmin comes with them.
nothing_below_zero:
  | best = int(np.argmax(logits)) ->
  :     best, highest = (0, 0.0)
  :     for token_id, logit in enumerate(logits):
  :         if logit > highest:
  :             best, highest = (token_id, logit)
  Your code takes the token id 0 where all logits are below 0.
  ? With which number does your search for the largest logit begin?
  # best = 0.0 before the loop is right for probabilities.
furthest_from_zero: np.argmax(logits) -> np.argmax(np.abs(logits))
  Your code takes the logit furthest from 0, whatever its sign.
  ? Which of −9 and 2 is the higher logit?
  # abs() is copied from code that compares differences.
ends_at_start_too: best == end_id -> best in (start_id, end_id)
  Your sequence ends where start_id is chosen.
  ? May a model choose `start_id` again, in the middle of a sequence?
  # Special tokens are taken for signs that a sequence is over.
never_empty:
  | logits = … ->
  :     logits = np.array(next_logits(list(token_ids)))
  :     if len(token_ids) == 1:
  :         logits[end_id] = -np.inf
  Your result is never empty: where it should end at once, it goes on.
  ? May the first token that is chosen be the end?
  # A least length of 1 is the default of several decoders, fairseq's among them.
start_taken_for_the_end:
  | while len(token_ids) -> while token_ids[-1] != end_id and len(token_ids)
  Where start_id is end_id, your result is empty.
  ? Has the sequence ended before its first token is chosen?
  # `while token_ids[-1] != end_id` reads the start as well.
given_as_an_array: return np.array(token_ids[1:], dtype=int)
  Your token ids come in an array.
  ? Which type does the docstring promise?
  # Token ids are put into arrays for a model, and stay there.
given_as_a_tuple: return tuple(token_ids[1:])
  Your token ids come in a tuple.
  ? Which type does the docstring's example show?
  # Tuples are what dictionaries and sets of hypotheses need.
written_backwards: return token_ids[:0:-1]
  Your token ids come in the other order, the last one first.
  ? At which end of your list does a new token belong?
  # insert(0, …) is taken for append, or the list is reversed on return.
length_returned_too: return (token_ids[1:], len(token_ids) - 1)
  Your result is a pair: token ids, and how many there are.
  ? How many results does the docstring promise?
  # Programs that pad their results return the lengths as well.
""",
)

exercise.threes_of(
    "start_kept",
    "end_kept",
    "never_stops",
    "one_token_too_many",
    "one_token_too_few",
    "last_of_equals",
)
