"""Search for functions of the course that answer an exercise with little code around.

    python -m tests.grading.answer_search            # all lessons; or their numbers
    python -m tests.grading.answer_search --silent   # what announces itself left out

Each function and class of the copy that a submission sees is called in the sandbox with
the arguments of an exercise's cases: as they are, in another order, with parts of them
and with what is quickly made of them (scaled scores, an identity matrix); along an
axis, row by row and per batch entry. Of each result its items, keys and attributes are
looked at, and quotients of two. Printed is what answers what, and how it is noticed.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from autograder.checking.call import local_runner
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge_case
from autograder.checking.registry import load
from autograder.checking.student import StudentFunction
from autograder.grading.budget import Budget
from autograder.grading.course_copy import CHECKS
from autograder.grading.engine import Engine
from autograder.grading.lesson_needs import LessonNeeds
from autograder.grading.session import Session
from tests.grading.engines import SEED, process_number
from tests.grading.sessions import check, own, session_of, solution
from tests.submissions import COURSE

SILENT = "--silent"
MOST_CALLS = 4  # of an exercise's cases
MOST_NUMBERS = 3000  # in one call's arguments
INSIDE = Path(__file__).with_name("answer_search_inside.py").read_text("utf-8")
BUDGET = Budget(call=20.0, submission=3000.0, children=1000, timeouts=1000)


@dataclass
class Answer:
    """A function that answers an exercise, or a part of it.

    forms : how, with the number of calls in which it does
    n_calls : how many calls were tried
    noticed : the names that are recorded
    """

    lesson: str
    exercise: str
    function: str
    n_calls: int
    forms: dict[str, int] = field(default_factory=dict)
    noticed: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        best = max(self.forms, key=lambda form: (self.forms[form], -len(form)))
        how = f"flagged: {', '.join(sorted(self.noticed))}" if self.noticed else "NOT"
        return (
            f"{self.exercise:28} {self.function:55} {self.forms[best]} of "
            f"{self.n_calls} calls, {best}  [{how}]"
        )


def calls_of(exercise: Exercise) -> list[tuple[dict[str, Any], Any]]:
    """Return the arguments of some calls of the cases, and the right results."""
    calls = []
    for case in exercise.cases:
        student = StudentFunction(exercise, local_runner(exercise.reference), [])
        judge_case(case, student, SEED)
        for call in student.calls:
            if call.result.kind == "value":
                named = dict(zip(exercise.parameters, call.arguments, strict=False))
                calls.append((named | call.keywords, call.result.value))
    small = [each for each in calls if _size(each[0]) <= MOST_NUMBERS]
    small.sort(key=lambda each: _size(each[0]))
    step = max(1, len(small) // MOST_CALLS)
    return small[::step][:MOST_CALLS]


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray | torch.Tensor):
        return int(np.prod(value.shape))
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 1


def functions_of(engine: Engine) -> Iterator[tuple[str, str]]:
    """Yield the functions and classes of the copy, each with its module."""
    graded = [load(each).reference.__module__ for each in engine.release.exercises]
    needs = LessonNeeds(engine.release.own_code, graded)
    for module in needs.modules.values():
        if not module.name.endswith(("__main__", ".download")):
            for name in module.definitions:
                yield module.name, name


def silent_functions(engine: Engine) -> list[tuple[str, str]]:
    """Return those that nobody hears, but checks: these return what they take."""
    watched = {name for each in engine.sandbox.library.values() for name in each}
    every = [".".join(each) for each in functions_of(engine)]
    silent = [name for name in every if name not in watched]
    return [
        (module, name)
        for module, _, name in (each.rpartition(".") for each in silent)
        if not f"{module}.".startswith(CHECKS)
    ]


def search(
    engine: Engine,
    functions: list[tuple[str, str]],
    on_exercise: Callable[[str, int], None] | None = None,
) -> list[Answer]:
    """Try functions on every exercise of a lesson; return what answers some call.

    on_exercise : is called with each exercise's name, and in how many calls there is
        something to look for: yes and no, zeros, and what was passed answer nothing
    """
    names = engine.release.exercises
    cells = [cell for cell in engine.release.cells if cell.role == "setup"]
    cells.append(own(INSIDE))
    for name in names:
        source = f"def {name}(*arguments):\n    return search(*arguments)"
        cells += [solution(name, source), check(name)]
    every = []
    with session_of(engine.sandbox, *cells, budget=BUDGET) as session:
        for name in names:
            calls = _with_something_to_answer(session, name, calls_of(load(name)))
            if on_exercise:
                on_exercise(name, len(calls))
            for module, function in functions:
                answer = _tried(session, engine, name, calls, module, function)
                if answer is not None:
                    every.append(answer)
    return every


def _with_something_to_answer(
    session: Session, exercise: str, calls: list[tuple[dict[str, Any], Any]]
) -> list[tuple[dict[str, Any], Any]]:
    """Return the calls whose result is not trivial."""
    chosen = []
    for arguments, expected in calls:
        asked = "operator", "neg", [*arguments], expected, *arguments.values()
        result = session.call(exercise, "check", asked, {}, {})
        assert result.kind == "value", (exercise, result)
        if result.value is not None:
            chosen.append((arguments, expected))
    return chosen


def _tried(
    session: Session,
    engine: Engine,
    exercise: str,
    calls: list[tuple[dict[str, Any], Any]],
    module: str,
    function: str,
) -> Answer | None:
    """Try one function on some calls; give it up after two that it does not answer."""
    forms: Counter[str] = Counter()
    session.flags.clear()
    n_tried = 0
    for arguments, expected in calls:
        asked = module, function, [*arguments], expected, *arguments.values()
        result = session.call(exercise, "check", asked, {}, {})
        if result.kind != "value":
            why = result.raised.message[:80] if result.raised else result.kind
            print(f"  not searched: {exercise} {function}: {why}", file=sys.stderr)
            break
        n_tried += result.value is not None
        forms.update(result.value or [])
        if n_tried == 2 and not forms:
            break
    if not forms or max(forms.values()) < min(2, n_tried):
        return None
    noticed = {flag.what for flag in session.flags if flag.exercise == exercise}
    dotted = f"{module}.{function}"
    lesson = engine.release.lesson
    return Answer(lesson, exercise, dotted, n_tried, dict(forms), noticed)


def _print_calls(exercise: str, n_calls: int) -> None:
    print(f"  {exercise}: {n_calls or 'no'} calls to answer", flush=True)


def main(arguments: list[str]) -> int:
    """Search the lessons of some numbers, or all; return 1 if something is silent."""
    unnoticed = []
    numbers = [each for each in arguments if each != SILENT]
    for lesson in COURSE.lessons:
        if numbers and lesson[:2] not in numbers:
            continue
        options = {"seed": SEED, "budget": BUDGET, "worker": process_number()}
        with Engine(COURSE, lesson, **options) as engine:
            every, silent = [*functions_of(engine)], silent_functions(engine)
            functions = silent if SILENT in arguments else every
            print(
                f"{lesson}: {len(engine.release.exercises)} exercises, "
                f"{len(every)} functions, {len(silent)} of them silent",
                flush=True,
            )
            for answer in search(engine, functions, _print_calls):
                print(f"  {answer}", flush=True)
                if not answer.noticed:
                    unnoticed.append(answer)
    print(f"{len(unnoticed)} unnoticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
