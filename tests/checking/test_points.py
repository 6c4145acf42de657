"""What an exercise is worth, how its cases share it, and how points are shown."""

import itertools

import numpy as np
import pytest

from autograder.checking.exercise import Exercise
from autograder.checking.points import apportion, format_number, worth
from autograder.checking.registry import exercise_names, load
from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.commands.judge import result_in_words
from autograder.grading.result import SubmissionResult

QUARTER = 0.25
EXERCISES = exercise_names()


def drawn(rng):
    """Return points and weights such as a bank could have, and odder ones."""
    some = [0.1, 1 / 3, 0.5, 1, 1.5, 3, 7.5, 40]
    weights = rng.choice(some, rng.integers(1, 24))
    least = int(np.ceil(len(weights) * QUARTER))
    return float(rng.integers(least, least + 50)), tuple(map(float, weights))


def cases_of_the_course():
    for name in EXERCISES:
        exercise = load(name)
        yield exercise.points, tuple(case.weight for case in exercise.cases)


def cases_to_share():
    rng = np.random.default_rng(0)
    return [*cases_of_the_course(), *(drawn(rng) for _ in range(300))]


def test_points_follow_minutes_and_difficulty():
    assert [worth(5, 1), worth(10, 2), worth(40, 3)] == [5, 14, 48]
    made = Exercise(np.sin, lesson="none", minutes=12, difficulty=3)
    assert made.points == 20
    assert type(made.points) is float


@pytest.mark.parametrize("name", EXERCISES)
def test_exercise_is_worth_its_minutes_and_four_a_dot(name):
    exercise = load(name)
    assert exercise.points == exercise.minutes + 4 * (exercise.difficulty - 1)


@pytest.mark.parametrize("name", EXERCISES)
def test_shares_of_an_exercise_sum_to_its_points_exactly(name):
    exercise = load(name)
    parts = [case.points for case in exercise.cases]
    assert {type(part) for part in parts} == {float}
    assert all((part / QUARTER).is_integer() for part in parts)
    # In any order: no digit is lost.
    for order in (parts, parts[::-1], sorted(parts)):
        total = 0.0
        for part in order:
            total += part
        assert total == exercise.points


def test_shares_sum_exactly_and_none_is_below_a_quarter():
    for points, weights in cases_to_share():
        parts = apportion(points, weights)
        assert sum(parts) == points
        assert min(parts) >= QUARTER


def test_heavier_gets_no_less_and_equals_differ_by_a_quarter():
    for points, weights in cases_to_share():
        pairs = zip(weights, apportion(points, weights), strict=True)
        for (one, less), (other, more) in itertools.combinations(sorted(pairs), 2):
            assert less <= more
            assert one < other or more - less <= QUARTER


def test_earlier_cases_come_first_among_equals():
    assert apportion(1, (1, 1, 1)) == (0.5, 0.25, 0.25)
    assert apportion(2, (1, 2, 1, 1)) == (0.5, 0.75, 0.5, 0.25)


def test_each_remainder_goes_to_the_largest():
    # 8 quarters in the ratio 1 : 2 : 0.5 are 2.29, 4.57 and 1.14 of them.
    assert apportion(2, (1, 2, 0.5)) == (0.5, 1.25, 0.25)


def test_light_case_gets_a_quarter_from_the_heavy_ones():
    assert apportion(1, (0.001, 1, 100)) == (0.25, 0.25, 0.5)


def test_too_many_cases_for_the_points_are_refused():
    assert apportion(1, (1,) * 4) == (QUARTER,) * 4
    with pytest.raises(ValueError, match="1 points cannot be shared by 5 cases"):
        apportion(1, (1,) * 5)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf")])
def test_weight_that_is_not_above_zero_is_refused(weight):
    made = Exercise(np.sin, lesson="none", minutes=5, difficulty=1)
    with pytest.raises(ValueError, match="must be above 0, got"):
        made.case("A claim", weight=weight)


def test_format_number_shows_a_share_as_it_is():
    for quarters in range(1, 400):
        share = quarters / 4
        assert float(format_number(share)) == share


def result_of(name, points, statuses):
    cases = tuple(
        CaseVerdict(str(index), "It holds", status, each * (status == "ok"), each, True)
        for index, (each, status) in enumerate(zip(points, statuses, strict=True))
    )
    earned = sum(case.points for case in cases)
    return ExerciseResult(name, earned, float(sum(points)), cases, report=name)


def test_judge_prints_points_that_add_up():
    points = [1.5, 1.25, 1.25, 1.0]
    results = tuple(
        result_of(name, points, statuses)
        for name, statuses in (
            ("softmax", ["ok", "wrong", "ok", "ok"]),
            ("attention", ["wrong", "wrong", "ok", "wrong"]),
        )
    )
    words = result_in_words(SubmissionResult("ada", "01", "graded", results))
    rows = [row for row in words.splitlines() if " of " in row]
    numbers = [row.split(": ")[1] if "[" in row else row for row in rows]
    assert numbers == [
        "01: 5 of 10 points",
        "3.75 of 5: softmax",
        *("1.5 of 1.5", "0 of 1.25", "1.25 of 1.25", "1 of 1"),
        "1.25 of 5: attention",
        *("0 of 1.5", "0 of 1.25", "1.25 of 1.25", "0 of 1"),
    ]
