"""What ``autograder check-bank`` says about a bank, and that it finds each fault."""

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from autograder.checking import bank as checks
from autograder.checking.matrix import matrix
from tests.checking.test_matrix import bank


def answers(**changes):
    """Return answers that test ``bank`` well, but for the changes."""
    right = {"sum": lambda x: x + x}
    spellings = {
        "tripled_where_positive": lambda x: x * (2 + (x > 0)),
        "squared_list_where_negative": lambda x: np.where(x > 0, x + x, x**2),
    }
    others = {"zero": lambda x: 0 * x, "half": lambda x: x / 2, "text": str}
    all_answers = {"right": right, "spellings": spellings, "others": others}
    return SimpleNamespace(**(all_answers | changes))


def test_good_answers_have_no_faults():
    assert checks.answer_faults(bank(), answers()) == []
    assert checks.answer_faults(bank(), answers(), all_seeds=True) == []


WRONG_ANSWERS = {
    "a right answer that fails": (
        {"right": {"sum": lambda x: 3 * x}},
        "double: right answer sum fails positive [wrong] differs in value [0] "
        "(seed 2017)",
    ),
    "no right answer": ({"right": {}}, "double: no right answer (@answers.correct)"),
    "another wrong answer that passes": (
        {"others": {"a": str, "b": str, "right": lambda x: 2 * x}},
        "double: wrong answer right passes the visible cases",
    ),
    "another wrong answer that is known": (
        {"others": {"a": str, "b": str, "known": lambda x: np.where(x > 0, 3, 2) * x}},
        "double: wrong answer known is named tripled_where_positive from the visible "
        "cases, and is something else",
    ),
    "two other wrong answers": (
        {"others": {"a": str, "b": str}},
        "double: 2 wrong answers outside the bank (@answers.other): write at least 3",
    ),
}


@pytest.mark.parametrize(
    ("changes", "fault"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS
)
def test_fault_of_answers_is_a_sentence(changes, fault):
    faults = checks.answer_faults(bank(), answers(**changes))
    assert faults == [fault]


def spelled(**changes):
    return answers(spellings=answers().spellings | changes)


def test_spelling_that_passes_is_a_fault():
    changed = spelled(tripled_where_positive=lambda x: 2 * x)
    (fault,) = checks.answer_faults(bank(), changed)
    assert "tripled_where_positive, spelled another way, passes" in fault


def test_spelling_of_something_else_is_a_fault():
    changed = spelled(tripled_where_positive=lambda x: 5 * x)
    (fault,) = checks.answer_faults(bank(), changed)
    assert "tripled_where_positive, spelled another way, is not named" in fault


def test_same_code_is_no_second_spelling():
    function = bank().misconceptions[0].function
    (fault,) = checks.answer_faults(bank(), spelled(tripled_where_positive=function))
    assert fault == "double: tripled_where_positive is spelled twice the same way"


def test_missing_and_unknown_spellings_are_faults():
    changed = answers(spellings={"unknown": lambda x: x})
    assert checks.answer_faults(bank(), changed) == [
        "double: squared_list_where_negative is not written a second way "
        "(@answers.also)",
        "double: tripled_where_positive is not written a second way (@answers.also)",
        "double: the answers spell unknown, which is no misconception",
    ]


@pytest.mark.parametrize("turn", range(4))
def test_seeds_take_turns(turn):
    assert [*checks.seeds_of_turn(turn, False)] == [checks.SEEDS[turn % 3]]
    assert checks.seeds_of_turn(turn, True) == checks.SEEDS


def test_failing_reference_is_named_with_case_and_seed():
    exercise = bank()
    assert checks.reference_faults(exercise, exercise.cases) == []
    exercise.spec(lambda x: x - 2)
    faults = checks.reference_faults(exercise, exercise.cases, seeds=[7])
    assert faults == [
        f"double: the reference fails {case} [wrong] differs in value [0] (seed 7)"
        for case in ("positive", "negative")
    ]


def test_case_that_stops_is_reported_with_its_error():
    exercise = bank()

    @exercise.case("Stops")
    def stops(student, rng):
        raise KeyError("slip")

    faults = checks.reference_faults(exercise, exercise.cases, seeds=[7])
    assert faults == [
        f"double: the {which} fails stops [error] KeyError: 'slip' (seed 7)"
        for which in ("reference", "spec")
    ]


def test_case_that_pays_for_no_computing_is_a_fault():
    exercise = bank()
    assert checks.points_faults(exercise, exercise.cases) == []

    @exercise.case("Negative numbers give negative ones")
    def negative_sum(student, rng):
        twice = student(-rng.uniform(1, 2, size=3))
        student.expect(bool((twice < 0).all()), True, "all are negative")

    (fault,) = checks.points_faults(exercise, exercise.cases)
    start = "double: negative_sum pays for an answer that computes nothing "
    assert fault.startswith(start + "(a constant −3): make such an answer fail, ")
    exercise.cases[-1] = replace(exercise.cases[-1], pays_alone=False)
    assert checks.points_faults(exercise, exercise.cases) == []


def test_case_that_pays_alone_in_vain_is_a_fault():
    exercise = bank()
    exercise.cases[1] = replace(exercise.cases[1], pays_alone=False)
    faults = checks.points_faults(exercise, exercise.cases)
    assert faults == ["double: negative does not need pays_alone=False"]


def test_a_visible_case_has_to_pay_alone():
    exercise = bank()
    (fault,) = checks.points_faults(exercise, exercise.cases[1:])
    assert fault.startswith("double: no visible case pays alone")


def test_equal_misconceptions_are_faults():
    exercise = bank()
    assert checks.matrix_faults(exercise, matrix(exercise)) == []

    @exercise.misconception("You triple.", "How often?", why="For the test.")
    def tripled_once_more(x):
        return np.where(x > 0, x + x + x, 2 * x)

    faults = checks.matrix_faults(exercise, matrix(exercise))
    one, other = "tripled_where_positive", "tripled_once_more"
    assert faults == [
        f"double: {name} is caught but not named: the same results in every call come "
        f"from {same}: add a call that tells them apart, or keep one of them"
        for name, same in ((one, other), (other, one))
    ]


@pytest.mark.parametrize(
    ("edit", "names", "message"),
    [
        ("return helper(x)", {}, "(name 'helper' is not defined)"),
        ("twice += x", {}, "(cannot access local variable 'twice'"),
        ("return helper(x)", {"helper": np.negative}, ""),
    ],
)
def test_edit_that_stops_at_a_missing_name_is_a_fault(edit, names, message):
    exercise = bank()
    exercise.edits(f"slip: {edit}\n  You.\n  ? What?\n  # For the test.", **names)
    faults = checks.matrix_faults(exercise, matrix(exercise))
    missing = [each for each in faults if "stops at a name that is not there" in each]
    assert len(missing) == bool(message)
    assert all(message in each and "slip" in each for each in missing)


@pytest.mark.parametrize(
    ("words", "n_faults"), [("You add.", 1), ("Your function stops.", 0)]
)
def test_edit_that_gives_no_result_has_to_say_so(words, n_faults):
    exercise = bank()
    exercise.edits(f"slip: return (x, *2)\n  {words}\n  ? What?\n  # For the test.")
    faults = checks.matrix_faults(exercise, matrix(exercise))
    stops = [each for each in faults if "slip stops in every call (TypeError: " in each]
    assert len(stops) == n_faults


def test_misconception_that_only_grading_names_is_a_fault():
    exercise = bank()

    @exercise.case("Zero stays", visible=False)
    def zero(student, rng):
        student.agrees(np.array([0.0, 1.0]))

    @exercise.misconception("You triple.", "How often?", why="For the test.")
    def tripled_above_zero(x):
        return np.where(x > 0, 3 * x, 2 * x + (x == 0))

    faults = checks.matrix_faults(exercise, matrix(exercise))
    one, other = "tripled_where_positive", "tripled_above_zero"
    start = (
        "is named in grading, and not from the visible cases, so no learner reads it"
    )
    assert [each for each in faults if start in each] == [
        f"double: {name} {start}: the same results in every call come from {same}: add "
        "a call that tells them apart, or keep one of them"
        for name, same in ((one, other), (other, one))
    ]


def test_error_that_costs_little_is_a_fault():
    exercise = bank()
    heavy, light = exercise.cases
    exercise.cases = [replace(heavy, weight=2), replace(light, weight=1)]
    (fault,) = checks.matrix_faults(exercise, matrix(exercise))
    assert "squared_list_where_negative is wrong on the usual inputs" in fault
    assert "keeps 67% of the points: at most 60%" in fault


def test_usual_inputs_that_show_nothing_are_a_fault():
    exercise = bank()
    exercise.usual(lambda rng: (np.zeros(3),))
    (fault,) = checks.matrix_faults(exercise, matrix(exercise))
    assert "most misconceptions are right on the usual inputs" in fault


def test_usual_inputs_may_show_errors_in_a_later_draw_alone():
    exercise = bank()
    first = np.random.default_rng(0).random()
    exercise.usual(lambda rng: (np.full(3, 1.0 * (rng.random() != first)),))
    assert not exercise.usual_inputs(np.random.default_rng(0))[0].any()
    assert checks.matrix_faults(exercise, matrix(exercise)) == []


def test_wording_faults_name_the_rule():
    exercise = bank()

    @exercise.case("lower case.")
    def lower(student, rng):
        pass

    @exercise.misconception("You round", "Why", why="So it is")
    def rounded(x):
        return np.round(x)

    faults = checks.wording_faults(exercise)
    assert faults == [
        "double: the claim of lower does not begin with a capital",
        "double: the claim of lower ends in a full stop",
        "double: 3 misconceptions: write at least 5",
        "double: `why` of tripled_where_positive is shorter than four words",
        "double: `why` of squared_list_where_negative is shorter than four words",
        "double: the diagnosis of rounded does not end in a full stop",
        "double: the question of rounded does not end in ?",
        "double: `why` of rounded is shorter than four words",
    ]


def test_bank_needs_cases_of_both_kinds():
    exercise = bank()
    for visible in (True, False):
        exercise.cases = [case for case in bank().cases if case.visible is visible]
        kind = "hidden: mark one with visible=False" if visible else "visible"
        assert f"double: no case is {kind}" in checks.wording_faults(exercise)


def test_bank_with_less_than_a_quarter_for_each_case_is_a_fault():
    exercise = bank()
    exercise.cases = exercise.cases[:1] * int(4 * exercise.points)
    fault = "double: it has 13 cases, and 3 points give 12 of them a quarter"
    assert fault not in checks.wording_faults(exercise)
    exercise.cases += exercise.cases[:1]
    assert fault in checks.wording_faults(exercise)


CONTRACT = '''
def halved(x, *, twice):
    """Return half of x.

    x, twice : numbers

    Returns a number.
    Source: none.

    >>> halved(4, twice=0)
    2.0
    """
    return x / 2
'''


@pytest.fixture
def faults_of(monkeypatch):
    def faults(source):
        module = ModuleType("made_here")
        monkeypatch.setitem(sys.modules, "made_here", module)
        exec(source, vars(module))
        return checks.docstring_faults(module.halved)

    return faults


def test_complete_docstring_has_no_faults(faults_of):
    assert faults_of(CONTRACT) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("half of x.", "half of x", "its first line is not one sentence"),
        ("half of x.", "half\n    of x.", "its first line is not one sentence"),
        ("x, twice :", "x :", "no line `twice : shape, meaning`"),
        ("    x, twice : numbers\n", "", "no line `x : shape, meaning`"),
        ("Source: none.", "", "no `Source: …`"),
        (">>> halved(4, twice=0)\n    2.0", "", "no example"),
        ("2.0", "3.0", "its example is wrong"),
    ],
)
def test_docstring_fault_names_what_is_missing(faults_of, old, new, fault):
    faults = faults_of(CONTRACT.replace(old, new))
    assert all(each.startswith("docstring of halved: ") for each in faults)
    assert any(fault in each for each in faults)


def test_todos_have_file_and_line(tmp_path):
    path = tmp_path / "file.py"
    path.write_text("# TODO: one\nx = 1\n  # TODO: three\n# TODO: four\n")
    lines = [(each.line, each.text) for each in checks.todos(path, 2, 3)]
    assert lines == [(3, "# TODO: three")]
    assert [each.line for each in checks.todos(path)] == [1, 3, 4]
