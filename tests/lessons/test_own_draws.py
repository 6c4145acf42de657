"""The learner's functions in the view of the next token: asked, checked, replaced."""

import signal
import time

import numpy as np
import pytest
import torch

from course_lib.lessons import own_draws
from course_lib.lessons.own_parts import in_time
from course_lib.nn import sampling

HALVES = {"ids": [3, 0, 4], "probabilities": [0.5, 0.25, 0.25], "size": 6, "p": 0.6}
CUT, DRAWN = "The course's top_p_filter makes the cut.", "The course's sample draws."


def asked(u=0.9, **names):
    return own_draws.answer(HALVES | {"u": u}, names)


def top_p_filter(probabilities, p):
    """Be the learner's."""
    return sampling.top_p_filter(probabilities, p)


def sample(probabilities, u):
    """Be the learner's."""
    return sampling.sample(probabilities, u)


def not_written(probabilities, p):
    raise NotImplementedError


def forever(*arguments):
    while True:
        pass


def test_right_functions_choose_and_that_is_said():
    answer = asked(top_p_filter=top_p_filter, sample=sample)
    assert answer["kept"] == [
        [0, pytest.approx(1 / 3)],
        [3, pytest.approx(2 / 3)],
    ]
    assert answer["cut"] == (
        "Your own top_p_filter makes the cut, the same as the course's."
    )
    assert answer["id"] == 3 and answer["probability"] == pytest.approx(2 / 3)
    assert answer["drawn"] == "Your own sample draws, the same as the course's."
    assert not answer["late"]
    assert "drawn" not in asked(u=None, sample=sample)


def test_rounding_alone_is_no_difference():
    def other_side(probabilities, u):
        return torch.tensor(3)  # 0.3333333 may lie on either side of a third

    answer = asked(u=1 / 3 - 1e-8, top_p_filter=top_p_filter, sample=other_side)
    assert "the same" in answer["drawn"]


def test_missing_functions_are_replaced_by_the_courses():
    for names in ({}, {"top_p_filter": not_written, "sample": not_written}):
        answer = asked(**names)
        assert answer["cut"] == f"Your own top_p_filter is not written yet. {CUT}"
        assert answer["drawn"] == f"Your own sample is not written yet. {DRAWN}"
        assert answer["id"] == 3
    answer = asked(top_p_filter=sampling.top_p_filter, sample=sampling.sample)
    assert (answer["cut"], answer["drawn"]) == (CUT, DRAWN)


@pytest.mark.parametrize(
    ("filtered", "sentence"),
    [
        (lambda p: None, "None, where a tensor was expected"),
        (lambda p: p.tolist(), "a value of type list, where a tensor was expected"),
        (lambda p: p[None], "the shape (1, 6), where (6,) was expected"),
        (lambda p: p / 0, "numbers that are not finite"),
        (lambda p: p - 1 / 6, "numbers below 0"),
        (lambda p: p / 2, "probabilities that sum to 0.5 and not to 1"),
    ],
)
def test_unfit_probabilities_are_told(filtered, sentence):
    answer = asked(top_p_filter=lambda probabilities, p: filtered(probabilities))
    assert answer["cut"] == f"Your own top_p_filter returned {sentence}. {CUT}"
    assert [token_id for token_id, _ in answer["kept"]] == [0, 3]


@pytest.mark.parametrize(
    ("drawn", "sentence"),
    [
        (None, "None, where a token id was expected"),
        (torch.tensor(2.0), "a value of type float, where a token id was expected"),
        (True, "a value of type bool, where a token id was expected"),
        (torch.tensor([3, 0]), "the shape (2,), where one token id was expected"),
        (6, "6, which is no token id of 6"),
    ],
)
def test_unfit_token_is_told(drawn, sentence):
    answer = asked(sample=lambda probabilities, u: drawn)
    assert answer["drawn"] == f"Your own sample returned {sentence}. {DRAWN}"
    assert answer["id"] == 3


@pytest.mark.parametrize("drawn", [0, np.int64(0), torch.tensor([0])])
def test_wrong_functions_are_taken_and_told(drawn):
    answer = asked(
        top_p_filter=lambda probabilities, p: probabilities,
        sample=lambda probabilities, u: drawn,
    )
    assert answer["cut"] == (
        "Your own top_p_filter makes the cut: it leaves 3, and the course's 2."
    )
    assert answer["id"] == 0
    assert answer["drawn"] == (
        "Your own sample draws: for the same u, it chose another token than the "
        "course's."
    )


def test_token_that_is_cut_is_told():
    answer = asked(sample=lambda probabilities, u: 5)
    assert answer["drawn"].endswith("for the same u, it chose a token that is cut.")
    assert (answer["id"], answer["probability"]) == (5, 0.0)


def test_probabilities_of_others_are_told():
    def swapped(probabilities, p):
        return sampling.top_p_filter(probabilities, p)[[3, 1, 2, 0, 4, 5]]

    assert asked(top_p_filter=swapped)["cut"] == (
        "Your own top_p_filter makes the cut: its probabilities are others than the "
        "course's."
    )


def test_function_that_raises_is_told():
    def wrong(probabilities, number):
        probabilities[:] = 0
        raise ValueError("no")

    answer = asked(top_p_filter=wrong, sample=wrong)
    raised = "raised ValueError: no."
    assert answer["cut"] == f"Your own top_p_filter {raised} {CUT}"
    assert answer["drawn"] == f"Your own sample {raised} {DRAWN}"
    assert answer["id"] == 3 and answer["probability"] == pytest.approx(2 / 3)


def test_function_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(own_draws, "SECONDS", 0.05)
    answer = asked(sample=forever)
    assert answer["drawn"] == f"Your own sample took over 0.05 seconds. {DRAWN}"
    assert answer["late"] and answer["id"] == 3


def test_reader_who_interrupts_is_no_timeout():
    def interrupted():
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        in_time(60, interrupted)
    assert in_time(0.01, lambda: 7) == 7
    time.sleep(0.05)  # nothing is stopped after it has ended
