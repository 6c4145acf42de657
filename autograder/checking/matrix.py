"""The kill matrix: which case catches which misconception, and which are diagnosed.

It tests the tests: a misconception that no case catches, or a case that catches none,
is a fault of the exercise.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from autograder.checking.call import Call, copied, local_runner
from autograder.checking.diagnosis import pairs, replay
from autograder.checking.exercise import Case, Exercise, Misconception
from autograder.checking.judging import NOTEBOOK_SEED, judge
from autograder.checking.points import format_number
from autograder.checking.remembered import key_of, remembered, remembering
from autograder.checking.result import ExerciseResult
from autograder.checking.student import compare

GRADING_SEED = 1706  # stands for any secret seed: the matrix must not depend on one


@dataclass(frozen=True)
class CaseRow:
    """One case: its name, whether learners see it, its points."""

    name: str
    visible: bool
    points: float


@dataclass(frozen=True)
class MisconceptionRow:
    """One misconception and the cases' verdicts on it.

    kind : "option", "family" or "function", code of its own
    caught_by : cases that fail
    diagnosed_visible : named from the visible cases, as in the notebook
    diagnosed : named from all cases, as in grading
    keeps : share of the points, in grading
    wrong_on_usual : whether its result on the usual inputs is not the right one
    usual_form : right type, right shape and finite values on the usual inputs
    caught_visible : whether a visible case fails, as in the notebook
    stops : the exception and its text, where every call ends in one; of the first call
    """

    name: str
    kind: str
    caught_by: list[str] = field(default_factory=list)
    diagnosed_visible: bool = False
    diagnosed: bool = False
    keeps: float = 0.0
    wrong_on_usual: bool = False
    usual_form: bool = False
    caught_visible: bool = False
    stops: str = ""


@dataclass(frozen=True)
class ExerciseMatrix:
    """One exercise's part of the matrix.

    pairs : how many pairs of misconceptions can be told
    broken_cases : cases that stop by their own fault, a sentence each
    """

    name: str
    lesson: str
    points: float
    cases: list[CaseRow]
    misconceptions: list[MisconceptionRow]
    pairs: int = 0
    broken_cases: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """What is wrong with the bank, in sentences; empty if nothing is."""
        caught = {case for row in self.misconceptions for case in row.caught_by}
        return [
            *(
                f"{self.name}: no case catches {row.name}"
                for row in self.misconceptions
                if not row.caught_by
            ),
            *(
                f"{self.name}: {case.name} catches no misconception"
                for case in self.cases
                if case.name not in caught
            ),
            *(f"{self.name}: {fault}" for fault in self.broken_cases),
        ]


def matrix(exercise: Exercise, *, in_notebook: bool = True) -> ExerciseMatrix:
    """Judge every misconception of an exercise as if a learner had written it.

    in_notebook : whether to judge it from the visible cases too, and to count pairs;
        without, it takes about half the time, and no row says ``caught_visible`` or
        ``diagnosed_visible``
    """
    cases = [CaseRow(c.name, c.visible, float(c.points)) for c in exercise.cases]
    visible = [case for case in exercise.cases if case.visible and in_notebook]
    broken: list[str] = []
    with remembering():
        rows = [
            _row(exercise, each, visible, broken) for each in exercise.misconceptions
        ]
    n_pairs = sum(1 for _ in pairs(exercise)) if in_notebook else 0
    return ExerciseMatrix(
        exercise.name, exercise.lesson, exercise.points, cases, rows, n_pairs, broken
    )


def _row(
    exercise: Exercise,
    misconception: Misconception,
    visible: list[Case],
    broken: list[str],
) -> MisconceptionRow:
    """Judge one misconception; cases that fail by their own fault go to ``broken``."""
    name, function = misconception.name, misconception.function
    in_notebook = judge_function(exercise, function, visible, NOTEBOOK_SEED)
    in_grading = judge_function(exercise, function, exercise.cases, GRADING_SEED)
    broken += [
        f"{verdict.case} itself stops on {name}: {verdict.failure.what}"
        for verdict in in_grading.cases
        if verdict.failure and verdict.failure.reason == "error"
    ]
    return MisconceptionRow(
        name,
        misconception.kind,
        [verdict.case for verdict in in_grading.cases if verdict.status != "ok"],
        in_notebook.diagnosis == name,
        in_grading.diagnosis == name,
        in_grading.points / (in_grading.max_points or 1.0),
        _differs_on_usual_inputs(exercise, misconception, values=True),
        not _differs_on_usual_inputs(exercise, misconception, values=False),
        not in_notebook.passed,
        _stops(in_grading.calls),
    )


def _stops(calls: Sequence[Call]) -> str:
    """Return the first call's exception with its text, if every call ends in one."""
    raised = [call.result.raised for call in calls]
    if not (raised and raised[0] and all(raised)):
        return ""
    return f"{raised[0].types[0]}: {raised[0].message}"


def judge_function(
    exercise: Exercise, function: Any, cases: list[Case], seed: int
) -> ExerciseResult:
    """Judge a function of this process that calls nothing of the learner's."""
    return judge(exercise, lambda _: local_runner(function), cases=cases, seed=seed)


def _differs_on_usual_inputs(
    exercise: Exercise, misconception: Misconception, *, values: bool
) -> bool:
    inputs = exercise.usual_inputs(np.random.default_rng(NOTEBOOK_SEED))
    (result,) = replay(misconception.function, [Call(inputs)])
    if exercise.is_test:  # the input is a function that is right
        return result.raised is not None
    expected = remembered(
        (exercise.expected_function, "spec"),
        key_of(inputs, {}),
        lambda: exercise.expected(copied(inputs), {}),
    )
    call = Call(inputs, {}, result, exercise.precise)
    return compare(call, result.value, expected, values=values).difference is not None


def as_data(rows: list[ExerciseMatrix]) -> dict[str, Any]:
    """Return the matrix as data for ``--json``."""
    return {"exercises": [asdict(row) for row in rows]}


def print_matrix(rows: list[ExerciseMatrix]) -> None:
    """Print a table per exercise and one line for all."""
    console = Console()
    for row in rows:
        numbers = [
            f"{number}{'' if case.visible else '*'}"
            for number, case in enumerate(row.cases, 1)
        ]
        table = Table(
            title=f"{row.name} · {row.lesson} · {format_number(row.points)} points"
        )
        table.add_column("misconception", overflow="fold")
        for number in numbers:
            table.add_column(number, justify="center")
        table.add_column("named")
        for each in row.misconceptions:
            marks = ["✗" if c.name in each.caught_by else "·" for c in row.cases]
            named = "visible" if each.diagnosed_visible else "hidden only"
            table.add_row(each.name, *marks, named if each.diagnosed else "no")
        console.print(table)
        for number, case in zip(numbers, row.cases, strict=True):
            console.print(f"  {number} {case.name}")
        console.print()
    wrong = [each for row in rows for each in row.misconceptions]
    kinds = Counter(each.kind for each in wrong)
    console.print(
        f"{len(rows)} exercises, {sum(len(row.cases) for row in rows)} cases (* hidden)"
        f", {len(wrong)} misconceptions ({kinds['edit']} edits, {kinds['family']} "
        f"of families, {kinds['function']} functions, and "
        f"{sum(row.pairs for row in rows)} pairs): "
        f"{sum(bool(w.caught_by) for w in wrong)} caught"
        f", {sum(w.diagnosed_visible for w in wrong)} named from the visible cases, "
        f"{sum(w.diagnosed for w in wrong)} from all, "
        f"{sum(w.usual_form for w in wrong)} of the right type and shape, and finite, "
        "on the usual inputs"
    )
