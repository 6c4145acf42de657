"""The small language model of messages, and the contexts that are recorded of it."""

import numpy as np
import pytest

from course_lib.lessons.small_language_model import (
    END_ID,
    START_ID,
    record_contexts,
    short_messages,
    train_on_messages,
)

LOG_P = np.log([[0.05, 0.05, 0.6, 0.3], [0.25] * 4, [0.1, 0.5, 0.2, 0.2], [0.25] * 4])


def newest(token_ids):
    return LOG_P[token_ids[-1]] + 7.0  # logits may have any sum


def test_messages_are_of_the_vocabulary_and_end():
    vocabulary, messages = short_messages()
    assert len(vocabulary) == len(set(vocabulary)) == 150
    assert vocabulary[:2] == ["(start)", "(end)"]
    assert len(messages) > 1000
    for message in messages:
        assert message[-1] == END_ID and START_ID not in message
        assert END_ID not in message[:-1] and 3 <= len(message) <= 9


def test_training_teaches_what_comes_next():
    messages = [[2, 3, 4, END_ID], [3, 2, END_ID]]
    next_logits = train_on_messages(messages, 5, steps=60)
    for message in messages:
        for n in range(1, len(message)):
            context = [START_ID, *message[:n]]
            assert int(next_logits(context).argmax()) == message[n]
    first = next_logits([START_ID])
    assert abs(first[2] - first[3]) < 1 < first[2] - first[4]


def test_training_is_repeatable():
    messages = [[2, 3, END_ID]]
    a, b = (train_on_messages(messages, 4, steps=3)([START_ID]) for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_sequence_of_a_wrong_length_is_refused():
    next_logits = train_on_messages([[2, END_ID]], 3, steps=1)
    for token_ids in ([], [2] * 10):
        with pytest.raises(ValueError, match="token_ids must be 1 … 9 tokens"):
            next_logits(token_ids)


def test_most_probable_contexts_are_recorded_first():
    contexts = record_contexts(newest, [0], 1, 6, 4)
    assert [*contexts] == [(0,), (0, 2), (0, 3), (0, 2, 2), (0, 2, 3), (0, 3, 0)]
    np.testing.assert_array_equal(contexts[0, 2], LOG_P[2] + 7.0)


def test_nothing_is_recorded_behind_the_end_or_too_long():
    contexts = record_contexts(newest, [0, 2], 1, 1000, 4)
    assert len(contexts) == 1 + 3 + 9
    assert all(1 not in context and len(context) <= 4 for context in contexts)
    longer = record_contexts(newest, [0, 2], None, 1000, 4)
    assert len(longer) == 1 + 4 + 16


def test_recorded_numbers_must_be_numbers():
    with pytest.raises(ValueError, match="next_logits must return numbers"):
        record_contexts(lambda _: np.array([np.nan]), [0], None, 3, 3)
    with pytest.raises(ValueError, match="n_contexts must be at least 1"):
        record_contexts(newest, [0], None, 0, 3)
