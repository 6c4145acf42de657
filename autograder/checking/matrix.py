"""Print the kill matrix for a reader at a terminal; ``matrix`` computes it."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from autograder.checking.call import Call, Runner, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.diagnosis import replay
from autograder.checking.exercise import Case, Exercise, Misconception
from autograder.checking.judging import NOTEBOOK_SEED, Judgement, judge

GRADING_SEED = 1706  # stands for any secret seed: the matrix must not hang on one


@dataclass(frozen=True)
class CaseRow:
    """One case: its name, whether learners see it, its points."""

    name: str
    visible: bool
    points: float


@dataclass(frozen=True)
class MisconceptionRow:
    """One misconception and what the cases say of it.

    caught_by : cases that fail
    diagnosed_visible : named from the visible cases, as in the notebook
    diagnosed : named from all cases, as in grading
    usual_form : right type, right shape and finite values on the usual inputs
    """

    name: str
    caught_by: list[str] = field(default_factory=list)
    diagnosed_visible: bool = False
    diagnosed: bool = False
    usual_form: bool = False


@dataclass(frozen=True)
class ExerciseMatrix:
    """One exercise's part of the matrix."""

    name: str
    lesson: str
    points: float
    cases: list[CaseRow]
    misconceptions: list[MisconceptionRow]
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
            *(f"{self.name}: {told}" for told in self.broken_cases),
        ]


def matrix(exercise: Exercise) -> ExerciseMatrix:
    """Judge every misconception of an exercise as if a learner had written it."""
    cases = [CaseRow(c.name, c.visible, float(c.points)) for c in exercise.cases]
    broken: list[str] = []
    rows = [_row(exercise, kept, broken) for kept in exercise.misconceptions]
    return ExerciseMatrix(
        exercise.name, exercise.lesson, exercise.points, cases, rows, broken
    )


def as_data(rows: list[ExerciseMatrix]) -> dict[str, Any]:
    """Give the matrix as data for ``--json``."""
    return {"exercises": [asdict(row) for row in rows]}


def judge_function(
    exercise: Exercise, function: Any, cases: list[Case], seed: int
) -> Judgement:
    """Judge a function of this process that calls nothing of the learner's."""

    def make(names: tuple[str, ...]) -> Runner:
        return local_runner(function)

    return judge(exercise, make, cases=cases, seed=seed)


def _row(
    exercise: Exercise, kept: Misconception, broken: list[str]
) -> MisconceptionRow:
    """Judge one misconception; cases that fail by their own fault go to ``broken``."""
    visible = [case for case in exercise.cases if case.visible]
    seen = judge_function(exercise, kept.function, visible, NOTEBOOK_SEED)
    whole = judge_function(exercise, kept.function, exercise.cases, GRADING_SEED)
    broken += [
        f"{verdict.case.name} itself stops on {kept.name}: {verdict.broken.what}"
        for verdict in whole.verdicts
        if verdict.broken and verdict.broken.reason == "error"
    ]
    return MisconceptionRow(
        kept.name,
        [v.case.name for v in whole.verdicts if v.status != "ok"],
        seen.misconception is kept,
        whole.misconception is kept,
        _has_usual_form(exercise, kept),
    )


def _has_usual_form(exercise: Exercise, kept: Misconception) -> bool:
    inputs = exercise.usual_inputs(np.random.default_rng(NOTEBOOK_SEED))
    (outcome,) = replay(kept.function, [Call(inputs)])
    expected = exercise.expected(inputs, {})
    return first_difference(outcome.value, expected, values=False) is None


def print_matrix(rows: list[ExerciseMatrix]) -> None:
    """Print a table per exercise and one line for all."""
    console = Console()
    for row in rows:
        table = Table(title=f"{row.name} · {row.lesson} · {row.points:g} points")
        table.add_column("misconception")
        for place, case in enumerate(row.cases, 1):
            table.add_column(f"{place}{'' if case.visible else '*'}", justify="center")
        table.add_column("named")
        for kept in row.misconceptions:
            marks = ["✗" if c.name in kept.caught_by else "·" for c in row.cases]
            named = "visible" if kept.diagnosed_visible else "hidden only"
            table.add_row(kept.name, *marks, named if kept.diagnosed else "no")
        console.print(table)
        for place, case in enumerate(row.cases, 1):
            console.print(f"  {place}{'' if case.visible else '*'} {case.name}")
        console.print()
    wrong = [kept for row in rows for kept in row.misconceptions]
    console.print(
        f"{len(rows)} exercises, {sum(len(row.cases) for row in rows)} cases (* hidden)"
        f", {len(wrong)} misconceptions: {sum(bool(k.caught_by) for k in wrong)} caught"
        f", {sum(k.diagnosed_visible for k in wrong)} named from the visible cases, "
        f"{sum(k.diagnosed for k in wrong)} from all, "
        f"{sum(k.usual_form for k in wrong)} of the usual form"
    )


# MERGED autograder.matrix: The kill matrix: which case catches which misconception, and which get their name.
#
#   It tests the tests: a misconception that no case catches, or a case that catches none,
#   is a fault of the exercise.
#
