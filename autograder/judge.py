"""Run an exercise's cases against a learner's function and say what each one earned.

The function is reached through a runner only, so the same code judges a function in
the notebook and one in a sandbox. Wording is in ``messages``.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from autograder.diagnosis import diagnose
from autograder.exercise import Case, Exercise, Misconception
from autograder.outcome import Call, Runner
from autograder.student import Broken, Student

Status = Literal["ok", "wrong", "error", "timeout", "missing"]

NOTEBOOK_SEED = 2017  # public: in the notebook the same inputs come back at each run

# Gives a runner in which these names are bound to the course's own versions.
MakeRunner = Callable[[tuple[str, ...]], Runner]


@dataclass(frozen=True)
class Verdict:
    """What one case says: its status, the points earned, and why if it is not ok."""

    case: Case
    status: Status
    broken: Broken | None = None

    @property
    def points(self) -> float:
        """Points earned by this case."""
        return float(self.case.points) if self.status == "ok" else 0.0


@dataclass(frozen=True)
class Judgement:
    """What all cases say together.

    misconception : the named mistake, if exactly one explains every call
    blamed : earlier exercises whose answers made this one fail, if it holds without
    """

    exercise: Exercise
    verdicts: tuple[Verdict, ...]
    calls: tuple[Call, ...]
    misconception: Misconception | None = None
    blamed: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points earned, a Python float (nbgrader cannot read NumPy's scalars)."""
        return float(sum(verdict.points for verdict in self.verdicts))

    @property
    def passed(self) -> bool:
        """Whether every case that ran is ok."""
        return all(verdict.status == "ok" for verdict in self.verdicts)


def judge(
    exercise: Exercise,
    make_runner: MakeRunner,
    *,
    cases: Iterable[Case] | None = None,
    seed: int = NOTEBOOK_SEED,
) -> Judgement:
    """Judge a function, then again with the earlier exercises answered rightly.

    cases : the cases to run, all of them if not given
    """
    chosen = list(exercise.cases if cases is None else cases)
    found = _run(exercise, make_runner(()), chosen, seed)
    if found.passed or not exercise.uses:
        return _diagnosed(found)
    helped = _run(exercise, make_runner(exercise.uses), chosen, seed)
    if helped.points <= found.points:
        return _diagnosed(found)
    alone = [
        name
        for name in exercise.uses
        if _run(exercise, make_runner((name,)), chosen, seed).points == helped.points
    ]
    return _diagnosed(replace(helped, blamed=tuple(alone) or exercise.uses))


def _run(
    exercise: Exercise, runner: Runner, cases: Sequence[Case], seed: int
) -> Judgement:
    calls: list[Call] = []
    verdicts = [
        _verdict(case, Student(exercise, runner, calls), seed) for case in cases
    ]
    return Judgement(exercise, tuple(verdicts), tuple(calls))


def _verdict(case: Case, student: Student, seed: int) -> Verdict:
    name = f"{student.exercise.name}.{case.name}".encode()
    rng = np.random.default_rng([seed, zlib.crc32(name)])
    try:
        case.run(student, rng)
    except Broken as broken:
        return Verdict(case, _status(broken), broken)
    return Verdict(case, "ok")


def _status(broken: Broken) -> Status:
    raised = broken.call.outcome.raised if broken.call else None
    if broken.reason == "timeout":
        return "timeout"
    if broken.reason == "raised" and raised:
        return "missing" if "NotImplementedError" in raised.types else "error"
    return "wrong"


def _diagnosed(found: Judgement) -> Judgement:
    if found.passed or all(verdict.status == "missing" for verdict in found.verdicts):
        return found
    return replace(found, misconception=diagnose(found.exercise, found.calls))
