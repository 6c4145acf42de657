"""The kill matrix finds the holes in a bank."""

import json

import numpy as np
from typer.testing import CliRunner

from autograder.checking.exercise import Exercise
from autograder.checking.matrix import (
    MisconceptionRow,
    as_data,
    matrix,
    print_matrix,
)
from autograder.checking.registry import load
from autograder.commands import authors
from autograder.commands.app import app
from tests.checking.test_judging import double, tiny


def bank():
    """Return an exercise with two cases, each of which catches one misconception."""
    made = Exercise(double, lesson="none", minutes=3, difficulty=1)
    made.spec(double)
    made.usual(lambda rng: (rng.normal(size=3),))

    @made.case("Positive numbers", weight=1.5)
    def positive(student, rng):
        student.agrees(rng.uniform(1, 2, size=3))

    @made.case("Negative numbers", weight=1.5, visible=False)
    def negative(student, rng):
        student.agrees(-rng.uniform(1, 2, size=3))

    @made.misconception("You triple.", "How often?", why="For the test.")
    def tripled_where_positive(x):
        return np.where(x > 0, 3 * x, 2 * x)

    @made.misconception("You square.", "How often?", why="For the test.")
    def squared_list_where_negative(x):
        return np.where(x < 0, x * x, 2 * x)

    return made


def row(exercise, name):
    return next(row for row in matrix(exercise).misconceptions if row.name == name)


def test_bank_without_holes_has_no_faults():
    bank_matrix = matrix(bank())
    assert bank_matrix.faults == []
    assert bank_matrix.points == 3.0
    assert [(c.name, c.visible, c.points) for c in bank_matrix.cases] == [
        ("positive", True, 1.5),
        ("negative", False, 1.5),
    ]


def test_printed_names_are_whole_in_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    print_matrix([matrix(bank())])
    rows = [row for row in capsys.readouterr().out.split("\n") if row.startswith("│")]
    names = "".join(row.split("│")[1].strip() for row in rows)
    assert names == "tripled_where_positivesquared_list_where_negative"


def test_row_has_catching_cases_and_diagnoses():
    assert row(bank(), "tripled_where_positive") == MisconceptionRow(
        *("tripled_where_positive", "function", ["positive"], True, True),
        *(0.5, True, True, True),
    )
    assert row(bank(), "squared_list_where_negative") == MisconceptionRow(
        *("squared_list_where_negative", "function", ["negative"], False, True),
        *(0.5, True, True),
    )


def test_misconception_that_no_case_catches_is_a_fault():
    exercise = bank()

    @exercise.misconception("You round.", "Why?", why="For the test.")
    def wrong_beyond_a_thousand(x):
        return np.where(np.abs(x) > 1000, x, 2 * x)

    faults = matrix(exercise).faults
    assert faults == ["double: no case catches wrong_beyond_a_thousand"]


def test_case_that_catches_nothing_is_a_fault():
    exercise = bank()

    @exercise.case("Zero")
    def zero(student, rng):
        student.agrees(np.zeros(1))

    assert matrix(exercise).faults == ["double: zero catches no misconception"]


def test_case_that_stops_by_its_own_fault_is_a_fault():
    exercise = bank()

    @exercise.case("Trips over three times")
    def trips(student, rng):
        if (student(np.ones(1)) == 3).all():
            raise KeyError("a typing slip")

    faults = matrix(exercise).faults
    fault = (
        "double: trips itself stops on tripled_where_positive: KeyError: 'a typing "
        "slip'"
    )
    assert faults == [fault]


def test_two_equal_misconceptions_are_not_diagnosed():
    exercise = bank()

    @exercise.misconception("You triple.", "How often?", why="For the test.")
    def tripled_once_more(x):
        return np.where(x > 0, x + x + x, 2 * x)

    assert not row(exercise, "tripled_where_positive").diagnosed
    assert not row(exercise, "tripled_once_more").diagnosed


def test_usual_form_is_type_shape_and_finite_numbers():
    exercise = bank()
    forms = {
        "a_list": lambda x: (3 * x).tolist(),
        "a_row": lambda x: 3 * x[None],
        "nan": lambda x: x * np.nan,
        "crash": lambda x: x.missing,
        "other_numbers": lambda x: 3 * x,
    }
    for name, function in forms.items():
        function.__name__ = name
        exercise.misconception("It is so.", "Is it?", why="For the test.")(function)
    usual = {row.name for row in matrix(exercise).misconceptions if row.usual_form}
    assert usual & set(forms) == {"other_numbers"}


def test_last_line_says_what_the_counts_are(capsys):
    print_matrix([matrix(bank())])
    line = " ".join(capsys.readouterr().out.split())
    assert line.endswith(
        "2 of the right type and shape, and finite, on the usual inputs"
    )


def test_command_prints_the_matrix_as_json(monkeypatch):
    monkeypatch.setattr(authors, "exercises_of", lambda lesson: [load("scaled_scores")])
    ran = CliRunner().invoke(app, ["matrix", "--json"])
    assert ran.exit_code == 0
    (exercise,) = json.loads(ran.output)["exercises"]
    assert {"name", "lesson", "points", "cases", "misconceptions"} <= set(exercise)
    assert set(exercise["cases"][0]) == {"name", "visible", "points"}
    assert {"name", "caught_by", "diagnosed_visible", "diagnosed"} <= set(
        exercise["misconceptions"][0]
    )


def test_command_fails_and_names_the_fault(monkeypatch):
    monkeypatch.setattr(authors, "exercises_of", lambda lesson: [tiny()])
    ran = CliRunner().invoke(app, ["matrix"])
    assert ran.exit_code == 1
    assert "double: three_numbers catches no misconception" in ran.output


def test_command_fails_on_a_lesson_without_exercises():
    assert CliRunner().invoke(app, ["matrix", "no_such_lesson"]).exit_code == 1


def test_as_data_can_be_written_as_json():
    assert json.loads(json.dumps(as_data([matrix(bank())])))
