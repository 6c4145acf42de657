"""What must hold of one exercise's bank, as sentences about what does not.

``autograder check-bank`` prints the sentences, and the tests hold every bank to them.
Each function returns an empty list, or "", if all is well. Which case catches which
misconception is in ``matrix``.
"""

import doctest
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from autograder.checking.call import Call, copied, local_runner
from autograder.checking.diagnosis import ABOUT_EXCEPTIONS, replay, same_result
from autograder.checking.exercise import Case, Exercise, Function, Misconception
from autograder.checking.families import each_array
from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.matrix import ExerciseMatrix, judge_function
from autograder.checking.points import UNITS
from autograder.checking.remembered import remembering
from autograder.checking.result import ExerciseResult
from autograder.checking.student import ClaimFailure, compare
from autograder.checking.trivial_answers import (
    judge_right_answer,
    trivial_answers_that_pass,
)
from autograder.checking.values import is_array, leaves

SEEDS = (NOTEBOOK_SEED, 1, 2)
MIN_MISCONCEPTIONS = 5
MIN_OTHERS = 3
USUAL_DRAWS = 12
MAX_POINTS_SHARE = 0.6  # of an answer with one error that usual inputs show
TODO = "TODO"
MISTAKES = ("TypeError", "AttributeError")  # more often an edit's than a learner's


class AnswersToTry(Protocol):
    """Answers that test a bank, as ``tests/answers/<exercise>.py`` has them.

    right : correct answers, each another way of doing it
    spellings : by misconception, another way of writing it
    others : wrong answers that are no misconception of the bank
    """

    right: dict[str, Function]
    spellings: dict[str, Function]
    others: dict[str, Function]


@dataclass(frozen=True)
class Todo:
    """A line that is still to be filled in."""

    path: Path
    line: int
    text: str


def todos(path: Path, first: int = 1, last: int | None = None) -> list[Todo]:
    """Return the lines of a file, from ``first`` to ``last``, that hold "TODO"."""
    rows = path.read_text(encoding="utf-8").splitlines()
    return [
        Todo(path, number, row.strip())
        for number, row in enumerate(rows[:last], 1)
        if number >= first and TODO in row
    ]


# The contract


def docstring_faults(function: Function) -> list[str]:
    """Return what the docstring of a reference lacks.

    It needs
    - a first line that is one sentence;
    - a line ``name : shape, meaning`` for each argument;
    - what the function returns, and the source;
    - an example with literal numbers, which is run.
    """
    docstring = inspect.getdoc(function) or ""
    faults = []
    first, *_ = docstring.split("\n\n")
    if "\n" in first or not first.endswith("."):
        faults.append("its first line is not one sentence that ends in a full stop")
    for name in inspect.signature(function).parameters:
        if not re.search(rf"^(\w+, )*{name}(, \w+)* : ", docstring, re.MULTILINE):
            faults.append(f"no line `{name} : shape, meaning`")
    if not re.search(r"\bReturns?\b", docstring):
        faults.append("nothing about what it returns")
    if "Source: " not in docstring:
        faults.append("no `Source: …`")
    faults += _example_faults(function)
    return [f"docstring of {function.__name__}: {fault}" for fault in faults]


def _example_faults(function: Function) -> list[str]:
    names = vars(sys.modules[function.__module__])
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(function, function.__name__, globs=dict(names))
    if not example.examples:
        return ["no example with literal numbers (`>>> …`)"]
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    if not failed:
        return []
    return ["its example is wrong:\n" + "".join(report).strip("*\n")]


# The bank


def wording_faults(exercise: Exercise) -> list[str]:
    """Return what is wrong with the sentences of a bank, and what it has too few of."""
    name = exercise.name
    faults = []
    for case in exercise.cases:
        if not (case.claim[0].isupper() or case.claim[0] == "`"):
            faults.append(f"the claim of {case.name} does not begin with a capital")
        if case.claim.endswith("."):
            faults.append(f"the claim of {case.name} ends in a full stop")
    claims = [case for case in exercise.cases if not case.fine_point]
    if exercise.points * UNITS < len(exercise.cases):
        faults.append(
            f"it has {len(exercise.cases)} cases, and {exercise.points:g} points give "
            f"{exercise.points * UNITS:g} of them a quarter"
        )
    if all(case.visible for case in claims):
        faults.append("no case is hidden: mark one with visible=False")
    if not any(case.visible for case in claims):
        faults.append("no case is visible")
    if len(exercise.misconceptions) < MIN_MISCONCEPTIONS:
        count = len(exercise.misconceptions)
        faults.append(f"{count} misconceptions: write at least {MIN_MISCONCEPTIONS}")
    for each in exercise.misconceptions:
        if not each.diagnosis.endswith("."):
            faults.append(f"the diagnosis of {each.name} does not end in a full stop")
        if not each.question.endswith("?"):
            faults.append(f"the question of {each.name} does not end in ?")
        if len(each.why.split()) < 4:
            faults.append(f"`why` of {each.name} is shorter than four words")
    return [f"{name}: {fault}" for fault in faults]


def reference_faults(
    exercise: Exercise, cases: list[Case], seeds: Sequence[int] = SEEDS
) -> list[str]:
    """Return which cases a right function of the bank fails, with which seed."""
    functions = exercise.functions_that_are_right
    return [
        f"{exercise.name}: the {name} fails {fault} (seed {seed})"
        for name, function in functions.items()
        for seed in seeds
        for fault in failed_cases(judge_function(exercise, function, cases, seed))
    ]


def failed_cases(result: ExerciseResult) -> list[str]:
    """Return the names of the cases that a result fails, each with its status."""
    return [
        f"{verdict.case} [{verdict.status}] {_reason(verdict.failure)}".rstrip()
        for verdict in result.cases
        if verdict.status != "ok"
    ]


def _reason(failure: ClaimFailure | None) -> str:
    """Return in a few words why a claim does not hold."""
    if failure is None:
        return ""
    if failure.call and failure.call.result.raised:
        raised = failure.call.result.raised
        return f"{raised.types[0]}: {raised.message}"
    if failure.difference:
        index = list(failure.difference.index) or ""
        return f"differs in {failure.difference.kind} {index}".rstrip()
    return failure.what


def matrix_faults(exercise: Exercise, matrix: ExerciseMatrix) -> list[str]:
    """Return who is not caught, catches nothing, or is not named.

    matrix : of that exercise
    """
    fine_points = {case.name for case in exercise.cases if case.fine_point}
    unnamed = [row.name for row in matrix.misconceptions if not row.diagnosed]
    faults = [
        *matrix.faults,
        *(
            f"{exercise.name}: {name} is caught but not named: {reason}"
            for name, reason in _why_unnamed(exercise, unnamed, exercise.cases).items()
        ),
        *_unread_faults(exercise, matrix),
        *_name_faults(exercise),
        *_stop_faults(exercise, matrix),
    ]
    faults += [
        f"{exercise.name}: {row.name} is wrong on the usual inputs and keeps "
        f"{row.keeps:.0%} of the points: at most {MAX_POINTS_SHARE:.0%}"
        for row in matrix.misconceptions
        if row.wrong_on_usual and row.keeps > MAX_POINTS_SHARE
        if not fine_points.issuperset(row.caught_by)  # solved, so it keeps nearly all
    ]
    if exercise.is_test:  # its usual input is a right function: weak tests let it pass
        return faults
    if _most_are_right_on_usual_inputs(exercise):
        faults.append(
            f"{exercise.name}: most misconceptions are right on the usual inputs: draw "
            "inputs that show them"
        )
    return faults


def _why_unnamed(
    exercise: Exercise, unnamed: list[str], cases: list[Case]
) -> dict[str, str]:
    """Return why each of these is not named from cases, and what mends it."""
    if not unnamed:
        return {}
    calls = judge_function(exercise, exercise.reference, cases, SEEDS[0]).calls
    results = {m.name: replay(m.function, calls) for m in exercise.misconceptions}
    reasons = {}
    for name in unnamed:
        same = [
            other
            for other, theirs in results.items()
            if other != name and all(map(same_result, results[name], theirs))
        ]
        reasons[name] = (
            f"the same results in every call come from {', '.join(same)}: add a call "
            "that tells them apart, or keep one of them"
            if same
            else "too few calls show it: add one"
        )
    return reasons


def _unread_faults(exercise: Exercise, matrix: ExerciseMatrix) -> list[str]:
    """Return which misconceptions are named in grading alone, though a learner fails.

    A learner has the visible cases. Of weak tests several may explain the same there.
    """
    unread = [
        row.name
        for row in matrix.misconceptions
        if row.diagnosed and row.caught_visible and not row.diagnosed_visible
        if not exercise.is_test
    ]
    visible = [case for case in exercise.cases if case.visible]
    reasons = _why_unnamed(exercise, unread, visible).items()
    return [
        f"{exercise.name}: {name} is named in grading, and not from the visible cases, "
        f"so no learner reads it: {reason}"
        for name, reason in reasons
    ]


def _stop_faults(exercise: Exercise, matrix: ExerciseMatrix) -> list[str]:
    """Return which edits give no result at all, and say nothing of that.

    Exceptions about sizes may be all that some inputs show.
    """
    said = {
        each.name
        for each in exercise.misconceptions
        if not each.code or ABOUT_EXCEPTIONS.search(each.diagnosis)
    }
    return [
        f"{exercise.name}: {row.name} stops in every call ({row.stops}), and its "
        f"sentence does not say that: `--code {row.name}` prints it"
        for row in matrix.misconceptions
        if row.stops.startswith(MISTAKES) and row.name not in said
    ]


def _name_faults(exercise: Exercise) -> list[str]:
    """Return which edits use a name that is not there, or not yet."""
    faults = []
    for each in exercise.misconceptions:
        inputs = exercise.usual_inputs(np.random.default_rng(0))
        (result,) = replay(each.function, [Call(inputs)]) if each.code else (None,)
        if result and result.raised and "NameError" in result.raised.types:
            faults.append(
                f"{exercise.name}: {each.name} stops at a name that is not there "
                f"({result.raised.message}): `--code {each.name}` prints it, and a "
                "helper is handed over by edits(…, helper=helper)"
            )
    return faults


def _most_are_right_on_usual_inputs(exercise: Exercise) -> bool:
    """Decide whether more than half of the misconceptions are right in every draw.

    Several draws, for inputs that are of one kind or another, such as a name.
    """
    right = list(exercise.misconceptions)
    for seed in range(USUAL_DRAWS):
        inputs = exercise.usual_inputs(np.random.default_rng(seed))
        expected = local_runner(exercise.reference)(copied(inputs), {}).value
        results = [local_runner(each.function)(copied(inputs), {}) for each in right]
        right = [
            each
            for each, result in zip(right, results, strict=True)
            if result.kind == "value"
            and not compare(
                Call(inputs, {}, result, exercise.precise), result.value, expected
            ).difference
        ]
        if len(right) <= len(exercise.misconceptions) / 2:
            return False
    return True


def points_faults(exercise: Exercise, cases: list[Case], seed: int = 1) -> list[str]:
    """Return what an answer that computes nothing would be paid for, if anything.

    A case that such an answer passes does not pay alone: see ``judging.with_points``.
    """
    faults, visible_pays = [], False
    for case in cases:
        unmarked = replace(case, pays_alone=True)
        computed = judge_right_answer(exercise, unmarked, seed).shows_work
        passing = trivial_answers_that_pass(exercise, case, seed) if computed else []
        if case.pays_alone and passing:
            faults.append(
                f"{case.name} pays for an answer that computes nothing "
                f"({passing[0]}): make such an answer fail, by drawing all inputs and "
                "comparing numbers, or add pays_alone=False"
            )
        if not (case.pays_alone or case.fine_point or passing):
            faults.append(f"{case.name} does not need pays_alone=False")
        visible_pays |= computed and case.pays_alone and case.visible
    if not visible_pays:
        faults.append(
            "no visible case pays alone: one has to draw its inputs and to compare "
            "results (student.agrees, student.expect)"
        )
    return [f"{exercise.name}: {fault}" for fault in faults]


# The answers that test the bank


def answer_faults(
    exercise: Exercise, answers: AnswersToTry, all_seeds: bool = False
) -> list[str]:
    """Return which answers are not judged as they should be.

    all_seeds : try each answer with every seed; else they take turns with the seeds
    """
    faults = answer_count_faults(exercise, answers)
    known = {each.name for each in exercise.misconceptions}
    for turn, (name, answer) in enumerate(answers.right.items()):
        for seed in seeds_of_turn(turn, all_seeds):
            faults.append(right_answer_fault(exercise, name, answer, seed))
    for turn, (name, answer) in enumerate(answers.spellings.items()):
        for seed in seeds_of_turn(turn, all_seeds):
            if name in known:
                faults.append(spelling_fault(exercise, name, answer, seed))
    for turn, each in enumerate(exercise.misconceptions):
        for seed in () if each.kind == "function" else seeds_of_turn(turn, all_seeds):
            faults += mechanical_faults(exercise, each, seed)
    for name, answer in answers.others.items():
        faults.append(other_answer_fault(exercise, name, answer))
    return [fault for fault in faults if fault]


def seeds_of_turn(turn: int, all_seeds: bool) -> Sequence[int]:
    """Return the one seed whose turn it is, or all of them."""
    return SEEDS if all_seeds else SEEDS[turn % len(SEEDS) :][:1]


def mechanical_faults(
    exercise: Exercise, misconception: Misconception, seed: int
) -> list[str]:
    """Return which spellings by rule of an option or a family are not named as it.

    They differ in arrays alone.
    """
    faults: list[str] = []
    inputs = exercise.usual_inputs(np.random.default_rng(0))
    usual = local_runner(misconception.function)(inputs, {}).value
    if not any(is_array(leaf) for _, leaf in leaves(usual)):
        return faults
    for how, answer in mechanical_variants(misconception.function).items():
        diagnosis = judge_function(exercise, answer, exercise.cases, seed).diagnosis
        if diagnosis != misconception.name:
            faults.append(
                f"{exercise.name}: {misconception.name} {how} is "
                f"{_as_named(diagnosis)} (seed {seed})"
            )
    return faults


def _as_named(diagnosis: str) -> str:
    return f"named {diagnosis}" if diagnosis else "not named"


def mechanical_variants(function: Function) -> dict[str, Function]:
    """Return other ways to a function's results, which no person has to write."""

    def with_rounding_noise(*arguments: Any, **keywords: Any) -> Any:
        return each_array(function(*arguments, **keywords), _with_noise)

    def in_column_order(*arguments: Any, **keywords: Any) -> Any:
        return each_array(function(*arguments, **keywords), _in_column_order)

    return {
        "with rounding noise": with_rounding_noise,
        "in column order": in_column_order,
    }


def _with_noise(array: Any) -> Any:
    """Change every other number in its last digits."""
    if not is_array(array) or array.dtype.kind != "f" or array.dtype.itemsize < 8:
        return array
    noise = np.where(np.arange(array.size) % 2, 4e-16, -4e-16).reshape(array.shape)
    return array * (1 + noise)


def _in_column_order(array: Any) -> Any:
    return np.asfortranarray(array) if is_array(array) and array.ndim else array


def answer_count_faults(exercise: Exercise, answers: AnswersToTry) -> list[str]:
    """Return which misconceptions lack a second spelling, and what is too little."""
    names = {each.name for each in exercise.misconceptions}
    whole = {each.name for each in exercise.misconceptions if each.kind == "function"}
    faults = [
        f"{exercise.name}: {name} is not written a second way (@answers.also)"
        for name in sorted(whole - {*answers.spellings})
    ]
    faults += [
        f"{exercise.name}: the answers spell {name}, which is no misconception"
        for name in sorted({*answers.spellings} - names)
    ]
    if not answers.right:
        faults.append(f"{exercise.name}: no right answer (@answers.correct)")
    if len(answers.others) < MIN_OTHERS:
        faults.append(
            f"{exercise.name}: {len(answers.others)} wrong answers outside the bank "
            f"(@answers.other): write at least {MIN_OTHERS}"
        )
    return faults


def right_answer_fault(
    exercise: Exercise, name: str, answer: Function, seed: int
) -> str:
    """Return which case a right answer fails, if any."""
    failed = failed_cases(judge_function(exercise, answer, exercise.cases, seed))
    if not failed:
        return ""
    return f"{exercise.name}: right answer {name} fails {failed[0]} (seed {seed})"


def spelling_fault(exercise: Exercise, name: str, answer: Function, seed: int) -> str:
    """Return why the second spelling of a misconception is not judged as that one."""
    bank: Mapping[str, Function] = {m.name: m.function for m in exercise.misconceptions}
    code = getattr(bank[name], "__code__", None)
    if code and answer.__code__.co_code == code.co_code:
        return f"{exercise.name}: {name} is spelled twice the same way"
    result = judge_function(exercise, answer, exercise.cases, seed)
    if result.passed:
        return f"{exercise.name}: {name}, spelled another way, passes (seed {seed})"
    if result.diagnosis != name:
        return (
            f"{exercise.name}: {name}, spelled another way, is "
            f"{_as_named(result.diagnosis)} (seed {seed})"
        )
    return ""


def other_answer_fault(exercise: Exercise, name: str, answer: Function) -> str:
    """Return whether a wrong answer outside the bank passes, or gets a name."""
    visible = [case for case in exercise.cases if case.visible]
    with remembering():
        for cases, which in ((visible, "the visible"), (exercise.cases, "all")):
            result = judge_function(exercise, answer, cases, 1)
            if result.passed:
                return f"{exercise.name}: wrong answer {name} passes {which} cases"
            if result.diagnosis:
                return (
                    f"{exercise.name}: wrong answer {name} is named {result.diagnosis} "
                    f"from {which} cases, and is something else"
                )
    return ""
