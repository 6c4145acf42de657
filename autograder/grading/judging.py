"""Judge a submission's answers with the exercises' own cases, and write it down.

The cases run here, in the trusted process; only calls and what they give cross to the
sandbox. What a verdict means in words is ``messages``' and ``report``'s work.
"""

import copy
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.checking.call import CallResult, Runner, copied
from autograder.checking.exercise import Case, Exercise
from autograder.checking.judging import Judgement, RunnerFactory, Verdict, judge
from autograder.checking.registry import load
from autograder.grading.inside import wire
from autograder.grading.result import CaseResult, ExerciseResult, Flag
from autograder.grading.session import Session, When, clean
from autograder.messages import report as messages
from autograder.messages.report import Report

MOST = 500  # answers of one exercise: a case asks for ten at most
LONGEST = 1 << 16  # bytes of arguments; longer ones come from an answer, not a case


def remembering(exercise: Exercise) -> Exercise:
    """Give the exercise with a spec that remembers its answers."""
    spec = exercise.expected_function
    known: OrderedDict[bytes, Any] = OrderedDict()

    def answer(*arguments: Any, **keywords: Any) -> Any:
        key = _key(arguments, keywords)
        if key not in known:
            answered = spec(*arguments, **keywords)
            if not key:
                return answered
            known[key] = answered
            if len(known) > MOST:
                known.popitem(last=False)
        return copied(known[key])

    twin = copy.copy(exercise)
    twin.spec(answer)
    return twin


def _key(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bytes:
    """Give the arguments' bytes, or none if they are not plain data."""
    try:
        frame = wire.pack([arguments, sorted(keywords.items())], _refuse)
    except (wire.TooLarge, TypeError):
        return b""
    return frame if len(frame) < LONGEST else b""


def _refuse(function: Any) -> int:
    raise TypeError("a function has no bytes")


Times = dict[str, float]  # "exercise.case" to seconds, of all its runs


def judge_all(
    session: Session, exercises: Sequence[Exercise], seed: int, times: Times
) -> tuple[ExerciseResult, ...]:
    """Judge a submission's exercises.

    seed : of the cases' inputs; the course's secret
    times : gets the seconds of each case

    What fails in a way that nobody knows is looked at once more by itself if something
    else may have made it fail: a cell below its check, or another exercise's answer
    that ran in the same process.
    """
    found: dict[str, Judgement] = {}
    doubtful = []
    for exercise in exercises:
        judgement = _judged(session, exercise, seed, times)
        touched = not all(before.passed for before in found.values())
        touched = touched or session.goes_on_below(exercise.name)
        if touched and not _is_clear(judgement):
            doubtful.append(exercise)
        found[exercise.name] = judgement
    for exercise in doubtful:
        with session.alone(exercise.name):
            again = _judged(session, exercise, seed, times)
        if again.points > found[exercise.name].points:
            found[exercise.name] = again
    return tuple(
        _result(found[each.name], _flags(session, each.name)) for each in exercises
    )


def _is_clear(judgement: Judgement) -> bool:
    """Say whether an answer is right, a known mistake in every call, or the stub."""
    known = judgement.passed or judgement.misconception is not None
    raised = [call.result.raised for call in judgement.calls]
    at_the_stub = all(each is not None and each.line for each in raised)
    return known or (messages.not_written(judgement) and at_the_stub)


def _judged(session: Session, exercise: Exercise, seed: int, times: Times) -> Judgement:
    """Judge the answer at the check; if it is the stub, the one at the end."""
    cases = [_timed(exercise, case, times) for case in exercise.cases]
    for when in session.places(exercise.name):
        make_runner = _make_runner(session, exercise.name, when)
        judgement = judge(exercise, make_runner, cases=cases, seed=seed)
        if not messages.not_written(judgement):
            break
    return judgement


def no_answer(exercise: Exercise) -> ExerciseResult:
    """Give the result of an exercise in a submission that could not be read."""
    cases = tuple(
        CaseResult(case.name, case.claim, "invalid", 0.0, case.points, case.visible)
        for case in exercise.cases
    )
    return ExerciseResult(exercise.name, 0.0, exercise.points, cases)


def _make_runner(session: Session, name: str, when: When) -> RunnerFactory:
    def make(bound: tuple[str, ...]) -> Runner:
        functions = {used: load(used).reference for used in bound}

        def run(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> CallResult:
            return session.call(name, when, arguments, keywords, functions)

        return run

    return make


def _timed(exercise: Exercise, case: Case, times: Times) -> Case:
    """Give the case, with a clock on it."""
    key = f"{exercise.name}.{case.name}"

    def run(student: Any, rng: np.random.Generator) -> None:
        start = time.perf_counter()
        try:
            case.run(student, rng)
        finally:
            times[key] = times.get(key, 0.0) + time.perf_counter() - start

    return replace(case, run=run)


def _result(judgement: Judgement, flags: tuple[Flag, ...]) -> ExerciseResult:
    exercise = judgement.exercise
    return ExerciseResult(
        exercise.name,
        judgement.points,
        float(sum(verdict.case.points for verdict in judgement.verdicts)),
        tuple(_case(exercise, verdict) for verdict in judgement.verdicts),
        judgement.misconception.name if judgement.misconception else "",
        judgement.blamed,
        flags,
        clean(str(Report(judgement))),
    )


def _case(exercise: Exercise, verdict: Verdict) -> CaseResult:
    case, why = verdict.case, clean(messages.explain(exercise, verdict))
    points = verdict.points, float(case.points)
    return CaseResult(case.name, case.claim, verdict.status, *points, case.visible, why)


def _flags(session: Session, exercise: str) -> tuple[Flag, ...]:
    """Give the library calls seen in an exercise, each with a line that has it."""
    found = set()
    for flag in session.flags:
        if flag.exercise == exercise:
            last = flag.what.rpartition(".")[2]
            found.add(replace(flag, line=flag.line or _line(session, last)))
    return tuple(sorted(found, key=str))


def _line(session: Session, name: str) -> str:
    """Give the learner's line that brings a name in, where no frame shows it."""
    for cell in session.cells:
        lines = cell.source.splitlines()
        for line in lines if cell.role in ("solution", "own") else ():
            if name in line and ("import" in line or "=" in line):
                return clean(line.strip())[:500]
    return ""


# MERGED autograder.grading.memory: Remember what an exercise's spec answers: every submission is asked the same.
#
#   The inputs of the cases are drawn from the course's seed, so only the first submission
#   pays for the spec, which is written to be obvious and not to be quick.
#
