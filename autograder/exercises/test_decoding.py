"""Broken greedy decoders, and weak tests that let some of them pass."""

import numpy as np

from autograder.checking.learners_tests import LearnersTest
from autograder.exercises.greedy_decode import exercise as greedy_decode_exercise
from course_lib import tests_of_parts


def on_logits(greedy_decode):
    """Return a decoder that takes logits (max_length, vocab_size, vocab_size)."""

    def decode(logits, start_id, end_id, max_length):
        def next_logits(token_ids):
            if not len(logits):
                return np.zeros(logits.shape[-1])
            # Also where no right version asks: there is an answer, not an exception.
            t = min(max(len(token_ids) - 1, 0), len(logits) - 1)
            return logits[t, token_ids[-1] if token_ids else start_id]

        return greedy_decode(next_logits, start_id, end_id, max_length)

    return decode


def with_a_recursion(logits, start_id, end_id, max_length):
    if not max_length:
        return []
    best = int(np.flatnonzero(logits[0, start_id] == logits[0, start_id].max())[0])
    if best == end_id:
        return []
    return [best, *with_a_recursion(logits[1:], best, end_id, max_length - 1)]


def cut_at_the_end(logits, start_id, end_id, max_length):
    best = logits.argmax(axis=-1).tolist()
    token_ids = [start_id]
    for row in best[:max_length]:
        token_ids.append(row[token_ids[-1]])
    token_ids = token_ids[1:]
    return token_ids[: token_ids.index(end_id)] if end_id in token_ids else token_ids


exercise = LearnersTest(
    tests_of_parts.test_decoding,
    lesson="16_bug_hunt",
    minutes=15,
    difficulty=2,
    right={
        "as in lesson 11": on_logits(greedy_decode_exercise.reference),
        "computed with loops": on_logits(greedy_decode_exercise.expected_function),
        "with a recursion": with_a_recursion,
        "run to max_length and cut at the end": cut_at_the_end,
    },
)

BANK = {
    each.name: on_logits(each.function)
    for each in greedy_decode_exercise.misconceptions
}

for name, claim in {
    "end_kept": "An end token in the result is caught",
    "start_kept": "A start token in front of the result is caught",
    "never_stops": "A decoder that goes on behind the end is caught",
    "one_token_too_many": "One token more than max_length is caught",
    "last_of_equals": "The largest of token ids with equal logits is caught",
    "newest_token_alone": "A decoder that forgets all tokens but the newest is caught",
}.items():
    exercise.catches(name, claim, BANK[name])

for name, claim in {
    "start_removed_by_value": "A start token lost where it comes again is caught",
    "ends_at_start_too": "An end at a start token that comes again is caught",
    "nothing_below_zero": "A decoder that is wrong where all logits are below 0 is "
    "caught",
    "start_taken_for_the_end": "An empty result where start_id is end_id is caught",
    "never_empty": "A decoder that does not end at once is caught",
    "written_backwards": "Token ids from the last to the first are caught",
}.items():
    exercise.catches(name, claim, BANK[name], visible=False)


# Without these kinds of input a broken version looks right


def rows_of(c):
    """Return the rows of logits that a right decoder reads."""
    path = [c.start_id, *c.expected][: c.max_length]
    return [np.asarray(c.logits[t, newest]) for t, newest in enumerate(path)]


def ends_by_itself(c):
    return len(c.expected) < c.max_length


def differs_by_step(c):
    logits = np.asarray(c.logits)[: c.max_length]
    return bool((logits != logits[:1]).any())


exercise.shows_with(
    "a sequence that reaches end_id before max_length",
    ends_by_itself,
    *("end_kept", "never_stops"),
    question="What does the docstring say of end_id?",
)
exercise.shows_with(
    "a sequence that max_length cuts off",
    lambda c: not ends_by_itself(c),
    "one_token_too_many",
    question="What happens at max_length?",
    weak="max_length_never_reached",
)
exercise.shows_with(
    "a sequence of two tokens or more",
    lambda c: len(c.expected) > 1,
    "written_backwards",
    question="Which sequences tell in which order the tokens came?",
)
exercise.shows_with(
    "logits that differ from step to step",
    differs_by_step,
    "newest_token_alone",
    question="How can one see that a decoder has forgotten all tokens but the newest?",
    weak="steps_all_alike",
)
exercise.shows_with(
    "a step whose row of logits has two highest ones",
    lambda c: any((row == row.max()).sum() > 1 for row in rows_of(c)),
    "last_of_equals",
    question="What does the docstring say of several tokens with the highest logit?",
    weak="no_equal_logits",
)
exercise.shows_with(
    "a step whose row has no logit above 0",
    lambda c: any(row.max() <= 0 for row in rows_of(c)),
    "nothing_below_zero",
    question="Which sign have log-probabilities?",
    weak="no_logits_below_zero",
)
exercise.shows_with(
    "a sequence in which start_id comes again",
    lambda c: c.start_id in c.expected,
    *("start_removed_by_value", "ends_at_start_too"),
    question="Which token ids may a sequence hold?",
    weak="start_never_again",
)
exercise.shows_with(
    "a start_id that is also end_id",
    lambda c: c.start_id == c.end_id,
    "start_taken_for_the_end",
    question="What does the docstring say of end_id and start_id?",
    weak="start_never_the_end",
)
exercise.shows_with(
    "a sequence that ends at once",
    lambda c: not c.expected and c.max_length > 0,
    "never_empty",
    question="Which is the shortest sequence?",
    weak="no_empty_sequence",
)


@exercise.spec
def spec(greedy_decode):
    rng = np.random.default_rng(1)
    for number in range(80):
        start_id, end_id = (int(token_id) for token_id in rng.integers(4, size=2))
        end_id = start_id if number % 5 == 0 else end_id
        logits = rng.integers(-6, -2 if number % 3 else 4, size=(number % 7, 4, 4))
        inputs = 1.0 * logits, start_id, end_id, len(logits)
        expected = on_logits(greedy_decode_exercise.expected_function)(*inputs)
        actual = greedy_decode(*inputs)
        assert [*actual] == expected


@exercise.right_answer
def one_assertion_at_the_end(greedy_decode):
    is_right = True
    for token_ids, end_id, max_length, high, ties in [
        ([1, 3, 2, 4], 4, 7, 5, False),
        ([1, 3, 2], 4, 3, 5, False),
        ([1, 3, 2, 4], 4, 6, 5, True),
        ([1, 3, 2, 4], 4, 6, -5, False),
        ([1, 0, 2, 4], 4, 6, 5, False),
        ([1, 3, 2, 0], 0, 6, 5, False),
        ([4], 4, 6, 5, False),
    ]:
        logits = np.full((max_length, 5, 5), -10.0)
        for t, token_id in enumerate(token_ids):
            logits[t, :, token_id] = high
            if ties:
                logits[t, :, token_id:4] = high
        expected = [token_id for token_id in token_ids if token_id != end_id]
        result = list(greedy_decode(logits, 0, end_id, max_length))
        is_right &= result == expected
    assert is_right, "the token ids are wrong"


exercise.weak_at_saying_no(
    "the decoder that you wrote in lesson 11",
    rejects="expected = [0] + token_ids",
    of=one_assertion_at_the_end,
)
exercise.edits(
    """
lengths_alone: result == expected -> len(result) == len(expected)
  Your test catches what a test catches that compares lengths alone.
  ? Which of your assertions fails if all token ids are wrong?
  # A length is quickly known, and a sequence has to be worked out.
sets_alone: result == expected -> set(result) == set(expected)
  Your test catches what a test catches that ignores how often tokens come, and in
    which order.
  ? When are two sequences equal?
  # set(result) == set(expected) is a habit from unordered results.
last_token_alone: result == expected -> result[-1:] == expected[-1:]
  Your test catches what a test catches that compares the last tokens alone.
  ? What may be wrong in front of a right last token?
  # It is at the end that most errors of decoders are expected.
no_equal_logits: , ([1, 3, 2, 4], 4, 6, 5, True) ->
  Your test catches what a test catches that tries no equal logits.
  ? What does the docstring say of several tokens with the highest logit?
  # Drawn floats are never equal.
no_logits_below_zero: , ([1, 3, 2, 4], 4, 6, -5, False) ->
  Your test catches what a test catches whose highest logits are all above 0.
  ? Which sign have log-probabilities?
  # Rows of zeros and ones are easy to write and to read.
start_never_again: , ([1, 0, 2, 4], 4, 6, 5, False) ->
  Your test catches what a test catches in which start_id does not come again.
  ? Which token ids may a sequence hold?
  # In a translation no sentence begins in its middle.
start_never_the_end: , ([1, 3, 2, 0], 0, 6, 5, False) ->
  Your test catches what a test catches in which start_id is never end_id.
  ? What does the docstring say of end_id and start_id?
  # Most vocabularies have two tokens for that; GPT-2's has one.
no_empty_sequence: , ([4], 4, 6, 5, False) ->
  Your test catches what a test catches in which no sequence is empty.
  ? Which is the shortest sequence?
  # An example is chosen so that there is something to see.
max_length_never_reached: , ([1, 3, 2], 4, 3, 5, False) ->
  Your test catches what a test catches in which each sequence ends by itself.
  ? What happens at max_length?
  # max_length is set to some large number and forgotten.
steps_all_alike:
  | for t, token_id in enumerate(token_ids) ->
  :     for before, token_id in zip([0] + token_ids, token_ids)
  | logits[t, :, token_id] = high
  : if ties:
  :     logits[t, … ->
  :     logits[:, before] = -10.0
  :     logits[:, before, token_id] = high
  | , ([1, 0, 2, 4], 4, 6, 5, False) ->
  Your test catches what a test catches whose logits are the same at each step.
  ? How can one see that a decoder has forgotten all tokens but the newest?
  # A table from one token to the next is the smallest model.
""",
    of=one_assertion_at_the_end,
)
