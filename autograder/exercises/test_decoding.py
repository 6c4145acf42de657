"""Broken greedy decoders, and weak tests that let some of them pass."""

import numpy as np

from autograder.checking.learners_tests import LearnersTest, say
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
    lesson="15_bug_hunt",
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


def logits_of(token_ids, steps, ties, below_zero, by_step):
    """Make logits with which these token ids are chosen, then 1 again and again.

    by_step : False makes them alike at each step: they depend on the newest token
    """
    logits = np.full((steps, 5, 5), -1.0)
    for t in range(steps):
        token_id = token_ids[t] if t < len(token_ids) else 1
        logits[t, :, token_id] = 5.0
        if ties:
            logits[t, :, token_id:4] = 5.0  # 4 is the end
    if not by_step:
        logits[:] = -1.0
        for before, after in zip([0, *token_ids], [*token_ids, 1], strict=True):
            logits[:, before] = -1.0
            logits[:, before, after] = 5.0
    return logits - 9.0 * below_zero


@exercise.variants
def variants(
    greedy_decode,
    *,
    compared="values",
    ties="yes",
    below_zero="yes",
    start_again="yes",
    start_is_end="yes",
    ends_at_once="yes",
    max_length_reached="yes",
    steps="differ",
    says_no="by an assertion",
):
    by_step, wrong = steps == "differ", False
    calls = [([1, 3, 2, 4], 0, 4, 7, False, False)]
    calls += [([1, 3, 2], 0, 4, 3, False, False)] * (max_length_reached == "yes")
    calls += [([1, 3, 2, 4], 0, 4, 6, True, False)] * (ties == "yes")
    calls += [([1, 3, 2, 4], 0, 4, 6, False, True)] * (below_zero == "yes")
    calls += [([1, 0, 2, 4], 0, 4, 6, False, False)] * (start_again == "yes")
    calls += [([1, 3, 2, 0], 0, 0, 6, False, False)] * (start_is_end == "yes")
    calls += [([4], 0, 4, 6, False, False)] * (ends_at_once == "yes")
    for token_ids, start_id, end_id, length, *how in calls:
        inputs = logits_of(token_ids, length, *how, by_step), start_id, end_id, length
        expected = on_logits(greedy_decode_exercise.expected_function)(*inputs)
        result = greedy_decode(*inputs)
        if compared == "lengths":
            wrong |= len(result) != len(expected)
        elif compared == "sets":
            wrong |= {*result} != {*expected}
        elif compared == "last":
            wrong |= [*result[-1:]] != expected[-1:]
        else:
            wrong |= [*result] != expected
    return say(wrong, says_no)


exercise.weak_at_saying_no("the decoder that you wrote in lesson 11")
exercise.weak(
    "lengths_alone",
    "that compares lengths alone",
    "Which of your assertions fails if all token ids are wrong?",
    why="A length is quickly known, and a sequence has to be worked out.",
    compared="lengths",
)
exercise.weak(
    "sets_alone",
    "that ignores how often tokens come, and in which order",
    "When are two sequences equal?",
    why="set(result) == set(expected) is a habit from unordered results.",
    compared="sets",
)
exercise.weak(
    "last_token_alone",
    "that compares the last tokens alone",
    "What may be wrong in front of a right last token?",
    why="It is at the end that most errors of decoders are expected.",
    compared="last",
)
for decision, name, what, question, why in (
    (
        "ties",
        "no_equal_logits",
        "that tries no equal logits",
        "What does the docstring say of several tokens with the highest logit?",
        "Drawn floats are never equal.",
    ),
    (
        "below_zero",
        "no_logits_below_zero",
        "whose highest logits are all above 0",
        "Which sign have log-probabilities?",
        "Rows of zeros and ones are easy to write and to read.",
    ),
    (
        "start_again",
        "start_never_again",
        "in which start_id does not come again",
        "Which token ids may a sequence hold?",
        "In a translation no sentence begins in its middle.",
    ),
    (
        "start_is_end",
        "start_never_the_end",
        "in which start_id is never end_id",
        "What does the docstring say of end_id and start_id?",
        "Most vocabularies have two tokens for that; GPT-2's has one.",
    ),
    (
        "ends_at_once",
        "no_empty_sequence",
        "in which no sequence is empty",
        "Which is the shortest sequence?",
        "An example is chosen so that there is something to see.",
    ),
    (
        "max_length_reached",
        "max_length_never_reached",
        "in which each sequence ends by itself",
        "What happens at max_length?",
        "max_length is set to some large number and forgotten.",
    ),
):
    exercise.weak(name, what, question, why=why, **{decision: "no"})
exercise.weak(
    "steps_all_alike",
    "whose logits are the same at each step",
    "How can one see that a decoder has forgotten all tokens but the newest?",
    why="A table from one token to the next is the smallest model.",
    steps="alike",
)
