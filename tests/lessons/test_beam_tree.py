"""The recorded tree of a beam search: its result, its states, its sums by hand."""

import math

import numpy as np
import pytest

from course_lib.lessons.beam_tree import record_beam_search
from course_lib.nn.decoding import beam_search

FIRST, AFTER_1 = [0.05, 0.5, 0.4, 0.05], [0.2, 0.2, 0.3, 0.3]
LOG_P = np.log([FIRST, AFTER_1, [0.03, 0.03, 0.04, 0.9]])


def newest(token_ids):
    return LOG_P[token_ids[-1]]


def drawn_model(rng, vocab_size):
    """Return a model whose log-probabilities depend on all tokens so far."""
    drawn = {}

    def next_log_probabilities(token_ids):
        logits = drawn.setdefault(tuple(token_ids), rng.normal(size=vocab_size) * 2)
        return logits - np.log(np.exp(logits).sum())

    return next_log_probabilities


@pytest.mark.parametrize("seed", range(60))
def test_best_hypothesis_is_that_of_beam_search(seed):
    rng = np.random.default_rng(seed)
    vocab_size = int(rng.integers(1, 7))
    start_id, end_id = rng.integers(vocab_size, size=2).tolist()
    model = drawn_model(rng, vocab_size)
    beam_size, max_length = int(rng.integers(1, 6)), int(rng.integers(0, 7))
    alpha, n_pruned = float(rng.choice([0.0, 0.6, 1.0, 2.0])), int(rng.integers(4))
    settings = model, start_id, end_id, beam_size, max_length, alpha
    tree = record_beam_search(*settings, n_pruned=n_pruned)
    best = tree.token_ids(*tree.best) if tree.best else []
    assert [each for each in best if each != end_id] == beam_search(*settings)
    ended = 0
    for step in tree.steps:
        states = [each.state for each in step]
        assert sum(state != "pruned" for state in states) <= beam_size - ended
        assert states.count("pruned") <= n_pruned
        assert [each.total for each in step] == sorted(
            (each.total for each in step), reverse=True
        )
        ended += states.count("finished")


def test_tree_of_the_lesson_by_hand():
    tree = record_beam_search(newest, 0, 3, 2, 9)
    first, second, third, *_ = tree.steps
    assert [(each.token_id, each.state) for each in first[:2]] == [
        (1, "kept"),
        (2, "kept"),
    ]
    assert {each.state for each in first[2:]} == {"pruned"}
    assert [round(math.exp(each.total), 4) for each in second] == [
        *(0.36, 0.15, 0.15, 0.1)
    ]
    end, continued, *_ = second
    assert (end.token_id, end.parent, end.state) == (3, 1, "finished")
    assert end.score == pytest.approx(math.log(0.36) / (7 / 6) ** 0.6)
    assert (continued.parent, tree.best) == (0, (1, 0))
    assert tree.token_ids(1, 0) == [2, 3]
    assert sum(each.state != "pruned" for each in third) == 1
    assert tree.n_continuations[:3] == [4, 8, 4]


def test_unfinished_hypotheses_count_at_the_end():
    tree = record_beam_search(newest, 0, 3, 2, 1)
    assert tree.best == (0, 0)
    assert tree.token_ids(0, 0) == [1] == beam_search(newest, 0, 3, 2, 1)


def test_tree_without_steps_has_no_best():
    tree = record_beam_search(newest, 0, 3, 2, 0)
    assert (tree.steps, tree.best) == ([], None)


def test_impossible_hypotheses_are_not_recorded_as_pruned():
    impossible = np.array([0.0, -np.inf, -np.inf])
    tree = record_beam_search(lambda _: impossible, 0, 2, 1, 2, n_pruned=2)
    assert [len(step) for step in tree.steps] == [1, 1]


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="beam_size must be at least 1"):
        record_beam_search(newest, 0, 3, 0, 9)
    with pytest.raises(ValueError, match="n_pruned must be at least 0"):
        record_beam_search(newest, 0, 3, 1, 9, n_pruned=-1)
    with pytest.raises(ValueError, match="next_log_probabilities must return numbers"):
        record_beam_search(lambda _: np.array([np.nan]), 0, 3, 1, 9)
