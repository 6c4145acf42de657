"""Small classes whose numbers are counted by hand, and one as large as one likes."""

from dataclasses import replace

from autograder.checking.registry import exercises_of
from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.dashboard.class_results import ExerciseCell, Roster, make_roster
from autograder.grading.result import SubmissionResult

LESSON = "01_dot_product_attention"
CELLS = {
    "softmax": ExerciseCell(18, "softmax"),
    "attention": ExerciseCell(49, "attention"),
}
CLAIMS = {"small": "It holds for 2", "large": "It holds for 10000"}
EACH = {"softmax": 2.0, "attention": 3.0}  # points of a case


def answer(exercise, small="ok", large="ok", **about) -> ExerciseResult:
    """Return the result of an exercise with two cases, from the statuses of both."""
    each, ends = EACH[exercise], {"small": small, "large": large}
    cases = tuple(
        CaseVerdict(case, CLAIMS[case], end, each if end == "ok" else 0.0, each, True)
        for case, end in ends.items()
    )
    points = sum(case.points for case in cases)
    return ExerciseResult(exercise, points, 2 * each, cases, **about)


def graded(student, *answers, **about) -> SubmissionResult:
    return SubmissionResult(student, LESSON, "graded", answers, **about)


def invalid(student, reason) -> SubmissionResult:
    ends = ("invalid", "invalid")
    answers = tuple(answer(exercise, *ends) for exercise in CELLS)
    return SubmissionResult(student, LESSON, "invalid", answers, reason)


def six() -> list[SubmissionResult]:
    """Return six students with 10, 8, 2, 7 and 4 points of 10, and a broken file."""
    overflows = answer("softmax", large="wrong", diagnosis="no_max_subtraction")
    calls = (Flag("attention", "torch.nn.MultiheadAttention", "mha = nn.Multihead()"),)
    return [
        graded("amara", answer("softmax"), answer("attention")),
        graded("ben", overflows, answer("attention", blamed=("softmax",))),
        graded(
            "cem", overflows, answer("attention", "missing", "missing"), repairs=("Ok",)
        ),
        graded("dana", answer("softmax"), answer("attention", "wrong", flags=calls)),
        graded("eva", answer("softmax"), answer("attention", "wrong", "timeout")),
        invalid("fritz", "The file is empty"),
    ]


TIMES = {
    "amara": {"all": 0.9, "reading": 0.1, "cells": 0.6, "softmax.small": 0.2},
    "ben": {"all": 0.5, "softmax.small": 0.1, "softmax.large": 0.3},
    "cem": {"all": 0.6, "softmax.small": 0.6},
    "dana": {"all": 0.8, "softmax.small": 0.3, "softmax.large": 0.5},
    "eva": {"all": 9.0, "softmax.small": 1.0, "attention.large": 8.0},
    "fritz": {"all": 0.01, "reading": 0.01},
}


def roster(results, times=None, grades=None) -> Roster:
    """Return a class with these results."""
    parts = (results, times or {}, grades or {})
    return make_roster(LESSON, "Dot-product attention", *parts, CELLS)


def many(count) -> list[SubmissionResult]:
    """Return a class in which each exercise is answered rightly, wrongly or not at all.

    Everybody has a library call and a repair, so that no list of the page is short.
    """
    kinds = [_whole_lesson(number) for number in range(97)]
    return [
        replace(kinds[number % 97], student=f"student-{number:05d}")
        for number in range(count)
    ]


def _whole_lesson(seed) -> SubmissionResult:
    answers = []
    for index, exercise in enumerate(exercises_of(LESSON)):
        bank = [each.name for each in exercise.misconceptions]
        end = ("ok", "wrong", "missing", "ok", "error")[(seed + index) % 5]
        cases = tuple(
            CaseVerdict(case.name, case.claim, end, 0.0, case.points, case.visible)
            for case in exercise.cases
        )
        named = bank[seed % 11 * 7 % len(bank)] if end == "wrong" else ""
        points = exercise.points if end == "ok" else 0.0
        answers.append(
            ExerciseResult(exercise.name, points, exercise.points, cases, named)
        )
    line = "weights = torch.softmax(q @ k.swapaxes(-1, -2) / np.sqrt(d_k), axis=-1)"
    answers[0] = replace(answers[0], flags=(Flag("softmax", "torch.softmax", line),))
    return graded("", *answers, repairs=("Cells of the course are back",))
