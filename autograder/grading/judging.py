"""Judge a submission's answers with the exercises' own cases, and word the results.

The cases run here, in the trusted process; only calls and their results cross to the
sandbox. The inputs of the cases are drawn from the course's seed, so every submission
asks the spec the same: ``remembering`` answers from the second submission on.
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
from autograder.checking.judging import RunnerFactory, judge
from autograder.checking.registry import load
from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.grading.child_client import When, clean_text
from autograder.grading.inside import wire
from autograder.grading.session import Session
from autograder.messages.explanation import explain
from autograder.messages.report import CheckReport

Times = dict[str, float]  # "exercise.case" to seconds, of all its runs


def judge_all(
    session: Session, exercises: Sequence[Exercise], seed: int, times: Times
) -> tuple[ExerciseResult, ...]:
    """Judge a submission's exercises.

    seed : of the cases' inputs; the course's secret
    times : gets the seconds of each case

    An answer that fails without a diagnosis is judged once more by itself if something
    else may have made it fail: a cell below its check, or another exercise's answer
    that ran in the same process.
    """
    results: dict[str, ExerciseResult] = {}
    doubtful = []
    for number, exercise in enumerate(exercises, 1):
        session.reserve(len(exercises) - number, len(exercises))
        result = _judged(session, exercise, seed, times)
        touched = not all(before.passed for before in results.values())
        touched = touched or session.goes_on_below(exercise.name)
        if touched and not _is_clear(result):
            doubtful.append(exercise)
        results[exercise.name] = result
    for number, exercise in enumerate(doubtful, 1):
        session.reserve(len(doubtful) - number, len(exercises))
        with session.alone(exercise.name):
            alone = _judged(session, exercise, seed, times)
        if alone.points > results[exercise.name].points:
            results[exercise.name] = alone
    return tuple(_worded(session, each, results[each.name]) for each in exercises)


def _is_clear(result: ExerciseResult) -> bool:
    """Decide whether an answer is right, has a diagnosis, or is but the stub."""
    known = result.passed or bool(result.diagnosis)
    raised = [call.result.raised for call in result.calls]
    at_the_stub = all(each is not None and each.line for each in raised)
    return known or (result.is_unwritten and at_the_stub)


def _judged(
    session: Session, exercise: Exercise, seed: int, times: Times
) -> ExerciseResult:
    """Judge the answer at the check; if it is the stub, the one at the end."""
    cases = [_timed(exercise, case, times) for case in exercise.cases]
    for when in session.answer_moments(exercise.name):
        make_runner = _runner_factory(session, exercise.name, when)
        result = judge(exercise, make_runner, cases=cases, seed=seed)
        if not result.is_unwritten:
            break
    return result


def _timed(exercise: Exercise, case: Case, times: Times) -> Case:
    """Return the case with a clock on it."""
    key = f"{exercise.name}.{case.name}"

    def run(student: Any, rng: np.random.Generator) -> None:
        start = time.perf_counter()
        try:
            case.run(student, rng)
        finally:
            times[key] = times.get(key, 0.0) + time.perf_counter() - start

    return replace(case, run=run)


def _runner_factory(session: Session, name: str, when: When) -> RunnerFactory:
    def make(bound: tuple[str, ...]) -> Runner:
        functions = {used: load(used).reference for used in bound}

        def run(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> CallResult:
            return session.call(name, when, arguments, keywords, functions)

        return run

    return make


def _worded(
    session: Session, exercise: Exercise, result: ExerciseResult
) -> ExerciseResult:
    """Return a result with its words and flags, and without the evidence."""
    cases = tuple(
        replace(verdict, why=clean_text(explain(exercise, verdict)), failure=None)
        for verdict in result.cases
    )
    flags = _flags(session, exercise.name)
    report = clean_text(str(CheckReport(exercise, result)))
    return replace(result, cases=cases, flags=flags, report=report, calls=())


def no_answer(exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise in a submission that could not be read."""
    cases = tuple(
        CaseVerdict(case.name, case.claim, "invalid", 0.0, case.points, case.visible)
        for case in exercise.cases
    )
    return ExerciseResult(exercise.name, 0.0, exercise.points, cases)


def _flags(session: Session, exercise: str) -> tuple[Flag, ...]:
    """Return the library calls in an exercise, each with a line that has it."""
    flags = set()
    for flag in session.flags:
        if flag.exercise == exercise:
            last = flag.what.rpartition(".")[2]
            flags.add(replace(flag, line=flag.line or _import_line(session, last)))
    return tuple(sorted(flags, key=str))


def _import_line(session: Session, name: str) -> str:
    """Return the learner's line that brings a name in, where no frame shows it."""
    for cell in session.cells:
        lines = cell.source.splitlines()
        for line in lines if cell.role in ("solution", "own") else ():
            if name in line and ("import" in line or "=" in line):
                return clean_text(line.strip())[:500]
    return ""


MOST_ANSWERS = 500  # of one exercise: a case asks for ten at most
LONGEST_KEY = 1 << 16  # bytes; longer arguments come from an answer, not from a case


def remembering(exercise: Exercise) -> Exercise:
    """Return the exercise with a spec that remembers its answers."""
    spec = exercise.expected_function
    answers: OrderedDict[bytes, Any] = OrderedDict()

    def remembered(*arguments: Any, **keywords: Any) -> Any:
        key = _key(arguments, keywords)
        if key not in answers:
            answer = spec(*arguments, **keywords)
            if not key:
                return answer
            answers[key] = answer
            if len(answers) > MOST_ANSWERS:
                answers.popitem(last=False)
        return copied(answers[key])

    twin = copy.copy(exercise)
    twin.spec(remembered)
    return twin


def _key(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bytes:
    """Return the arguments' bytes, or none if they are not plain data."""
    try:
        frame = wire.pack([arguments, sorted(keywords.items())], _refuse)
    except (wire.TooLarge, TypeError):
        return b""
    return frame if len(frame) < LONGEST_KEY else b""


def _refuse(function: Any) -> int:
    raise TypeError("a function has no bytes")
