"""Run an exercise's cases against a learner's function: a verdict and points for each.

The function is reached through a runner only, so the same code judges a function in
the notebook and one in a sandbox.
"""

import itertools
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autograder.checking.about_tests import with_sentence
from autograder.checking.call import Call, Runner, copied, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.diagnosis import diagnose, has_small_whole_numbers
from autograder.checking.evidence import evidence, ignored_arguments
from autograder.checking.examples import example_calls
from autograder.checking.exercise import Case, Exercise
from autograder.checking.learners_tests import LearnersTest
from autograder.checking.result import (
    CaseStatus,
    CaseVerdict,
    ExerciseResult,
    joined,
)
from autograder.checking.student import ClaimFailure, StudentFunction
from autograder.checking.values import (
    as_array,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
)

UNEXPECTED = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")
MOST_SECOND_CALLS = 3  # of an answer that no misconception explains
WHAT_DIFFERS = (
    "Which line draws random numbers of its own, keeps something from one call to the "
    "next, or reads from an `empty` array what was never written there?"
)
NOTEBOOK_SEED = 2017  # public: in the notebook each run has the same inputs

# Makes a runner in which these names are bound to the course's own versions.
RunnerFactory = Callable[[tuple[str, ...]], Runner]


def judge(
    exercise: Exercise,
    make_runner: RunnerFactory,
    *,
    cases: Iterable[Case] | None = None,
    seed: int = NOTEBOOK_SEED,
    text: str = "",
) -> ExerciseResult:
    """Judge a function, then again with right answers to the earlier exercises.

    Where no misconception explains what is wrong, the result has a sentence about it.
    An answer that lacks a parameter is told that, and diagnosed as if it ignored it.
    Open fine points need neither: each is explained by itself.

    cases : the cases to run; all of them by default
    seed : of the cases' inputs
    text : of what defines a learner's test, "" if it is not known
    """
    chosen = list(exercise.cases if cases is None else cases)
    result = _judged(exercise, make_runner, chosen, seed)
    if result.solved or result.is_unwritten:
        return result
    if isinstance(exercise, LearnersTest):
        return with_sentence(exercise, result, make_runner(()), text)
    if result.diagnosis or result.evidence:
        return result
    runner = make_runner(exercise.uses if result.blamed else ())
    if sentence := _of_second_call(exercise, runner, result):
        return replace(result, evidence=sentence)
    failing = [verdict.case for verdict in result.cases if verdict.status != "ok"]
    sentence = evidence(
        exercise,
        result.calls,
        failing,
        lambda: _further_calls(exercise, runner, chosen, result, seed),
        None if _has_not_come_back(result) else runner,
    )
    if not sentence and _returns_nothing(exercise, result):
        sentence = f"Your `{exercise.name}` returns None: is a `return` missing?"
    if not sentence and not _has_not_come_back(result):
        sentence = ignored_arguments(exercise, result.calls, runner)
    return replace(result, evidence=sentence)


def _missing_parameters(result: ExerciseResult) -> str:
    """Return which parameters an answer was called with and does not take, or "".

    The words are Python's own: "softmax() got an unexpected keyword argument 'axis'".
    Where another function says so inside the answer, a line of the answer is known.
    """
    matches = map(_lacks_parameter, result.calls)
    names = dict.fromkeys(match[2] for match in matches if match)
    return " and ".join(f"`{name}`" for name in names)


def _all_without_parameters(calls: Iterable[Call], runner: Runner) -> list[Call]:
    """Return calls with the results of an answer that ignores what it does not take."""
    return [_without_parameters(call, runner) for call in calls]


def _without_parameters(call: Call, runner: Runner) -> Call:
    keywords, result = {**call.keywords}, call.result
    while match := _lacks_parameter(replace(call, keywords=keywords, result=result)):
        del keywords[match[2]]
        result = runner(copied(call.arguments), copied(keywords))
    return replace(call, result=result)


def _lacks_parameter(call: Call) -> re.Match[str] | None:
    raised = call.result.raised
    if raised is None or raised.line_number:
        return None
    match = UNEXPECTED.fullmatch(raised.message)
    return match if match and match[2] in call.keywords else None


def _of_second_call(exercise: Exercise, runner: Runner, result: ExerciseResult) -> str:
    """Return a sentence where the same call does not give the same result again.

    Only a call of a wrong case that has come back with a value is made once more.
    """
    wrong = {verdict.case for verdict in result.cases if verdict.status == "wrong"}
    if _has_not_come_back(result):
        return ""
    came_back = [
        call
        for call in result.calls
        if call.case in wrong and call.result.kind == "value"
    ]
    for call in came_back[:MOST_SECOND_CALLS]:
        repeated = runner(copied(call.arguments), copied(call.keywords))
        if repeated.kind == "value" and first_difference(
            repeated.value, call.result.value
        ):
            return (
                f"Your `{exercise.name}` returns something else when it is called once "
                "more with the same arguments, and its result has to follow from the "
                f"arguments alone. {WHAT_DIFFERS}"
            )
    return ""


def _further_calls(
    exercise: Exercise,
    runner: Runner,
    cases: Sequence[Case],
    result: ExerciseResult,
    seed: int,
) -> Sequence[Call]:
    """Return the calls of the docstring's examples, and those that cases ended before.

    They have the answer's results. Where a call has not come back, none is made.
    """
    if _has_not_come_back(result):
        return ()
    n_made = [sum(call.case == case.name for call in result.calls) for case in cases]
    examples = (_made(call, runner) for call in example_calls(exercise))
    return [*examples, *_calls_left(exercise, runner, cases, n_made, seed)]


def _has_not_come_back(result: ExerciseResult) -> bool:
    """Decide whether a call of an answer has taken too long, or ended its process."""
    return any(call.result.kind in ("timeout", "crashed") for call in result.calls)


class _JudgedRun(NamedTuple):
    """A result, what calls the answer, and what makes further calls.

    calls_left : makes those that cases ended before
    fresh_calls : makes those of all cases with other inputs
    """

    result: ExerciseResult
    runner: Runner
    calls_left: Callable[[], list[Call]]
    fresh_calls: Callable[[], list[Call]]


def _judged(
    exercise: Exercise, make_runner: RunnerFactory, chosen: list[Case], seed: int
) -> ExerciseResult:
    def run(names: tuple[str, ...], cases: Sequence[Case] = chosen) -> _JudgedRun:
        runner, by_case = make_runner(names), [list[Call]() for _ in cases]
        verdicts = with_points(
            judge_case(case, StudentFunction(exercise, runner, calls), seed)
            for case, calls in zip(cases, by_case, strict=True)
        )
        result = ExerciseResult(
            exercise.name,
            float(sum(verdict.points for verdict in verdicts)),
            float(sum(verdict.max_points for verdict in verdicts)),
            verdicts,
            calls=tuple(itertools.chain.from_iterable(by_case)),
        )
        n_made = [len(calls) for calls in by_case]
        left = partial(_calls_left, exercise, runner, cases, n_made, seed)
        none_made = [0] * len(cases)
        fresh = partial(_calls_left, exercise, runner, cases, none_made, seed + 1)
        return _JudgedRun(result, runner, left, fresh)

    result = _diagnosed(exercise, run(()))
    if result.solved or not exercise.uses:
        return result
    run_with_help = run(exercise.uses)
    if _same_calls(result, run_with_help.result):  # to diagnose once more is slow
        return result
    helped = _diagnosed(exercise, run_with_help)
    if _clarity(helped) > _clarity(result):
        return replace(helped, blamed=_to_blame(exercise, run, chosen, helped))
    stub = _unwritten_use(exercise, result)
    return replace(helped, blamed=(stub,)) if stub else result


def _calls_left(
    exercise: Exercise,
    runner: Runner,
    cases: Sequence[Case],
    n_made: Sequence[int],
    seed: int,
) -> list[Call]:
    """Make the calls that an answer has not had: a case ends with the first wrong one.

    The cases' calls are those that the reference gets.

    n_made : calls made, of each case
    """
    right, calls = local_runner(exercise.reference, causes=False), list[Call]()
    for case, n in zip(cases, n_made, strict=True):
        all_of_case: list[Call] = []
        judge_case(case, StudentFunction(exercise, right, all_of_case), seed)
        calls += (_made(call, runner) for call in all_of_case[n:])
    return calls


def _made(call: Call, runner: Runner) -> Call:
    return replace(call, result=runner(copied(call.arguments), copied(call.keywords)))


def inputs_of(exercise: Exercise, case: Case, seed: int) -> np.random.Generator:
    """Return what a case draws its inputs from: the same at each call."""
    name = f"{exercise.name}.{case.name}".encode()
    return np.random.default_rng([seed, zlib.crc32(name)])


class JudgedCase(NamedTuple):
    """A case's verdict, and whether the answer had to compute something for it."""

    verdict: CaseVerdict
    shows_work: bool


def with_points(judged: Iterable[JudgedCase]) -> tuple[CaseVerdict, ...]:
    """Return the verdicts with what they pay: nothing for what computes nothing.

    Zeros leave their arguments as they are, and results learned by heart answer every
    example that is the same for all. So a case that holds shows work only if

    - it has drawn its inputs,
    - it has compared a result (``expect``, ``agrees``), and
    - its author has not said ``pays_alone=False``: that zeros, say, are right here.

    All others pay beside one that shows work. Where every claim holds, all of them pay,
    and the fine points that hold.
    """
    judged = list(judged)
    pays = any(each.shows_work for each in judged)
    claims = [each.verdict for each in judged if not each.verdict.fine_point]
    pays = pays or all(verdict.status == "ok" for verdict in claims)
    verdicts = (each.verdict for each in judged)
    return tuple(each if pays else replace(each, points=0.0) for each in verdicts)


def judge_case(case: Case, student: StudentFunction, seed: int) -> JudgedCase:
    """Run one case; the verdict has its full points if the claim holds."""
    rng = inputs_of(student.exercise, case, seed)
    student.case = case
    before = rng.bit_generator.state
    status: CaseStatus = "ok"
    failure = None
    try:
        case.run(student, rng)
    except ClaimFailure as error:
        status, failure = _status(error), error.with_traceback(None)
    except AssertionError as error:  # a plain assert in a case is a claim too
        call = student.calls[-1] if student.calls else None
        status, failure = "wrong", ClaimFailure("claim", call, what=str(error))
    except Exception as error:  # the case's own fault: it must not end the check
        what = f"{type(error).__name__}: {error}"
        status, failure = "error", ClaimFailure("error", what=what)
    most, holds = float(case.points), status == "ok"
    verdict = CaseVerdict(
        case.name,
        case.claim,
        status,
        most if holds else 0.0,
        most,
        case.visible,
        fine_point=case.fine_point,
        is_single=student.is_single,
        failure=failure,
    )
    has_drawn = rng.bit_generator.state != before
    shows_work = holds and case.pays_alone and has_drawn and student.has_compared
    return JudgedCase(verdict, shows_work)


def _status(failure: ClaimFailure) -> CaseStatus:
    raised = failure.call.result.raised if failure.call else None
    if failure.reason in ("timeout", "crashed", "output"):
        return failure.reason
    if failure.reason == "untried":
        return "timeout"
    if failure.reason == "raised" and raised:
        if "MemoryError" in raised.types:
            return "memory"
        return "missing" if raised.is_stub else "error"
    return "wrong"


def _diagnosed(exercise: Exercise, run: _JudgedRun) -> ExerciseResult:
    result = run.result
    if result.passed or result.is_unwritten:
        return result
    if any(_lost_precision(verdict) for verdict in result.cases):
        return result  # rounding, not a wrong formula, moved the numbers
    # A missing return explains None better than two things at once.
    alone = _returns_nothing(exercise, result)
    fresh = list if _has_not_come_back(result) else run.fresh_calls
    misconceptions = diagnose(
        exercise, result.calls, run.calls_left, alone=alone, fresh_calls=fresh
    )
    lacking = "" if misconceptions else _missing_parameters(result)
    if not lacking:
        return replace(result, diagnosis=joined(misconceptions))
    misconceptions = diagnose(
        exercise,
        _all_without_parameters(result.calls, run.runner),
        lambda: _all_without_parameters(run.calls_left(), run.runner),
        fresh_calls=lambda: _all_without_parameters(fresh(), run.runner),
    )
    sentence = f"Your `{exercise.name}` takes no {lacking}, and the stub's does."
    return replace(result, diagnosis=joined(misconceptions), evidence=sentence)


def _returns_nothing(exercise: Exercise, result: ExerciseResult) -> bool:
    """Decide whether None is all that is returned, where something was asked for.

    Calls that end in an exception return nothing: some may have to.
    """
    values = [each.result.value for each in result.calls if each.result.kind == "value"]
    is_asked = not isinstance(exercise, LearnersTest) and len(values) > 0
    return is_asked and all(value is None for value in values)


def _lost_precision(verdict: CaseVerdict) -> bool:
    failure = verdict.failure
    if failure is None or failure.difference is None:
        return False
    small = failure.call is not None and has_small_whole_numbers(failure.call)
    return failure.difference.kind == "precision" and not small


def _same_calls(result: ExerciseResult, helped: ExerciseResult) -> bool:
    """Decide whether right answers to the earlier exercises have changed nothing.

    To the bit: both sides are the learner's, and may be long. A False that is wrong
    costs time only.
    """
    pairs = [
        [
            (
                call.result.kind,
                call.result.value,
                call.result.raised,
                call.result.arguments,
            )
            for call in each.calls
        ]
        for each in (result, helped)
    ]
    try:
        return _identical(*pairs)
    except Exception:  # something of the learner's own that cannot be compared
        return False


def _identical(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if is_one_of(one, (list, tuple)):
        return len(one) == len(other) and all(map(_identical, one, other))
    if type(one) is dict:
        same_keys = one.keys() == other.keys()
        return same_keys and all(_identical(one[key], other[key]) for key in one)
    if is_array(one):
        same_form = (one.dtype, one.shape) == (other.dtype, other.shape)
        return same_form and one.tobytes() == other.tobytes()
    if is_tensor(one):
        same_dtype = one.dtype == other.dtype and has_numbers(one)
        return same_dtype and _identical(as_array(one), as_array(other))
    return bool(one is other or one == other)


def _clarity(result: ExerciseResult) -> tuple[float, int, bool]:
    """Order results: by points, by claims that hold, then a diagnosis before none."""
    return result.points, result.n_holding, bool(result.diagnosis)


def _to_blame(
    exercise: Exercise,
    run: Callable[[tuple[str, ...], Sequence[Case]], _JudgedRun],
    cases: Sequence[Case],
    best: ExerciseResult,
) -> tuple[str, ...]:
    """Return the earlier exercises without whose right answers less would be clear."""
    if len(exercise.uses) == 1:
        return exercise.uses

    def is_less(others: tuple[str, ...]) -> bool:
        if best.solved:  # the first case that does not hold decides
            return not all(run(others, [case]).result.solved for case in cases)
        return _clarity(_diagnosed(exercise, run(others, cases))) < _clarity(best)

    needed = []
    for name in exercise.uses:
        if is_less(tuple(other for other in exercise.uses if other != name)):
            needed.append(name)
    return tuple(needed) or exercise.uses


def _unwritten_use(exercise: Exercise, result: ExerciseResult) -> str:
    """Return the earlier exercise at whose unwritten stub every case ended, or ""."""
    stubs = set()
    for verdict in result.cases:
        call = verdict.failure.call if verdict.failure else None
        raised = call.result.raised if call else None
        stubs.add(raised.function if raised and verdict.status == "missing" else "")
    stub = stubs.pop() if len(stubs) == 1 else ""
    return stub if stub in exercise.uses else ""
