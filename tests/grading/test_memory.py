"""The spec is called once for the same arguments, and its answers are copies."""

import numpy as np
import pytest

from autograder.checking.exercise import Exercise
from autograder.grading import child_client, judging
from autograder.grading.judging import remembering


def double(x, axis=-1):
    """Return twice a number."""
    return 2 * x


@pytest.fixture
def asked():
    return []


@pytest.fixture
def exercise(asked):
    exercise = Exercise(double, lesson="90_test", minutes=1, difficulty=1)

    @exercise.spec
    def spec(x, axis=-1, step=None):
        asked.append(x)
        return 2 * (step(x) if step else x)

    return exercise


def test_same_arguments_are_answered_from_memory(exercise, asked):
    twin = remembering(exercise)
    for _ in range(3):
        answer = twin.expected((np.arange(3.0),), {"axis": 0})
        assert answer.tolist() == [0.0, 2.0, 4.0]
        answer[:] = 7.0  # what a case does with an answer stays its own
    assert len(asked) == 1
    exercise.expected((np.arange(3.0),), {"axis": 0})
    assert len(asked) == 2  # the exercise itself remembers nothing


@pytest.mark.parametrize(
    "other",
    [
        ((np.arange(3),), {"axis": 0}),
        ((np.arange(3.0).reshape(1, 3),), {"axis": 0}),
        ((np.arange(3.0, dtype=np.float32),), {"axis": 0}),
        ((np.arange(3.0),), {"axis": 1}),
        ((np.arange(3.0), 0), {}),
    ],
    ids=["whole numbers", "shape", "precision", "keyword", "position"],
)
def test_other_arguments_are_computed_anew(exercise, asked, other):
    twin = remembering(exercise)
    twin.expected((np.arange(3.0),), {"axis": 0})
    twin.expected(*other)
    assert len(asked) == 2


def test_functions_and_long_arguments_are_never_remembered(exercise, asked):
    twin = remembering(exercise)
    assert twin.expected((1,), {"step": lambda x: x + 1}) == 4
    assert twin.expected((1,), {"step": lambda x: x + 2}) == 6
    for _ in range(2):
        twin.expected((np.zeros(child_client.LONGEST_KEY),), {})
    assert len(asked) == 4


def test_oldest_answers_are_forgotten(exercise, asked, monkeypatch):
    monkeypatch.setattr(judging, "MOST_ANSWERS", 2)
    twin = remembering(exercise)
    for x in (1, 2, 3, 3, 1):
        twin.expected((x,), {})
    assert asked == [1, 2, 3, 1]
