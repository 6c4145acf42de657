"""Run an exercise's cases against a learner's function and say what each one earned.

The function is reached through a runner only, so the same code judges a function in
the notebook and one in a sandbox. Wording is in ``messages``.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from autograder.checking.call import Call, Raised, Runner
from autograder.checking.diagnosis import diagnose, same
from autograder.checking.exercise import Case, Exercise, Misconception
from autograder.checking.student import Broken, Student

Status = Literal[
    "ok", "wrong", "error", "missing", "timeout", "memory", "output", "crashed"
]

NOTEBOOK_SEED = 2017  # public: in the notebook the same inputs come back at each run

# Gives a runner in which these names are bound to the course's own versions.
RunnerFactory = Callable[[tuple[str, ...]], Runner]


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
    blamed : earlier exercises whose answers made this one fail; the verdicts are then
        those with the course's versions of them
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
    make_runner: RunnerFactory,
    *,
    cases: Iterable[Case] | None = None,
    seed: int = NOTEBOOK_SEED,
) -> Judgement:
    """Judge a function, then again with the earlier exercises answered rightly.

    cases : the cases to run, all of them if not given
    """
    chosen = list(exercise.cases if cases is None else cases)

    def run(names: tuple[str, ...]) -> Judgement:
        return _run(exercise, make_runner(names), chosen, seed)

    found = _diagnosed(run(()))
    if found.passed or not exercise.uses:
        return found
    helped = run(exercise.uses)
    if _went_the_same_way(found, helped):  # to name the mistake once more is slow
        return found
    helped = _diagnosed(helped)
    if _merit(helped) > _merit(found):
        return replace(helped, blamed=_to_blame(exercise, run, helped))
    stub = _unwritten_use(found)
    return replace(helped, blamed=(stub,)) if stub else found


def _went_the_same_way(found: Judgement, helped: Judgement) -> bool:
    """Say whether the earlier exercises' right answers have changed nothing."""
    if len(found.calls) != len(helped.calls):
        return False
    pairs = zip(found.calls, helped.calls, strict=True)
    return all(same(one.result, other.result) for one, other in pairs)


def _merit(found: Judgement) -> tuple[float, bool]:
    """Order judgements: more points first, then a named mistake before none."""
    return found.points, found.misconception is not None


def _to_blame(
    exercise: Exercise, run: Callable[[tuple[str, ...]], Judgement], best: Judgement
) -> tuple[str, ...]:
    """Give the earlier exercises without whose right answers less would be clear."""
    if len(exercise.uses) == 1:
        return exercise.uses
    needed = []
    for name in exercise.uses:
        others = tuple(kept for kept in exercise.uses if kept != name)
        if _merit(_diagnosed(run(others))) < _merit(best):
            needed.append(name)
    return tuple(needed) or exercise.uses


def _unwritten_use(found: Judgement) -> str:
    """Give the earlier exercise at whose unwritten stub every case ended, if one is."""
    stubs = set()
    for verdict in found.verdicts:
        call = verdict.broken.call if verdict.broken else None
        raised = call.result.raised if call else None
        stubs.add(raised.function if raised and verdict.status == "missing" else "")
    stub = stubs.pop() if len(stubs) == 1 else ""
    return stub if stub in found.exercise.uses else ""


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
    except AssertionError as error:  # a plain assert in a case is a claim too
        call = student.calls[-1] if student.calls else None
        return Verdict(case, "wrong", Broken("claim", call, what=str(error)))
    except Exception as error:  # the case's own fault: it must not end the check
        what = f"{type(error).__name__}: {error}"
        return Verdict(case, "error", Broken("error", what=what))
    return Verdict(case, "ok")


def _status(broken: Broken) -> Status:
    raised = broken.call.result.raised if broken.call else None
    if broken.reason in ("timeout", "crashed", "output"):
        return broken.reason
    if broken.reason == "raised" and raised:
        if "MemoryError" in raised.types:
            return "memory"
        return "missing" if _is_stub(raised) else "error"
    return "wrong"


def _is_stub(raised: Raised) -> bool:
    """Say whether an exception is the stub's own: libraries raise that kind too."""
    stub = raised.line == "" or raised.line.startswith("raise NotImplementedError")
    return raised.types[0] == "NotImplementedError" and stub


def _lost_precision(verdict: Verdict) -> bool:
    difference = verdict.broken.found if verdict.broken else None
    return difference is not None and difference.kind == "precision"


def _diagnosed(found: Judgement) -> Judgement:
    if found.passed or all(verdict.status == "missing" for verdict in found.verdicts):
        return found
    if any(_lost_precision(verdict) for verdict in found.verdicts):
        return found  # rounding, not a mistake in the formula, moved the numbers
    return replace(found, misconception=diagnose(found.exercise, found.calls))
