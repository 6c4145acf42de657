"""Check an answer where nothing is installed: what a page's worker calls in Pyodide.

The page hands over texts. Each is run as a cell of its own, all in one namespace, and
the report is that of ``check`` in words that fit a page. It needs NumPy, and neither
PyTorch nor what a browser lacks: alarms, locks of files, processes.
"""

import contextlib
import io
import json
import linecache
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from types import CodeType
from typing import Any, NamedTuple

from autograder.checking.call import (
    Runner,
    TimeLimiter,
    local_runner,
    plain_function,
)
from autograder.checking.exercise import Exercise
from autograder.checking.judging import RunnerFactory, judge
from autograder.checking.registry import UnknownExercise, load
from autograder.checking.result import ExerciseResult
from autograder.checking.time_limit import (
    TimeLimitExceeded,
    call_within,
    has_alarms,
)
from autograder.checking.way_on import makes_possible
from autograder.in_notebook.check import (
    CALL_SECONDS,
    FAILURES_BEFORE_OFFER,
    NOT_YOUR_OWN,
    is_course_version,
)
from autograder.in_notebook.outside_values import judged_with_outside_values
from autograder.messages.description import describe
from autograder.messages.report import CheckReport, MadePossible, Note, region
from autograder.messages.stopped import missing_name, unreadable

CELL_SECONDS = 10.0  # for an answer's text; it defines functions, and may try them
MAX_PRINTED = 10_000  # characters of what a text prints; nobody reads more
MAX_ERROR = 4_000  # characters of an error's lines
MONITORING_TOOL = 4  # one that no profiler or debugger takes
# Jumps and calls; a clock that is read at each takes longer than them.
EVENTS_PER_CLOCK_READ = 128
PREAMBLE = "import math\nimport numpy as np"
COURSE_VERSION = (
    "To go on and come back later, press “Use the course's version”: what you have "
    "written stays within reach."
)


def check_text(
    name: str,
    text: str,
    earlier: Mapping[str, str] | None = None,
    imports: Sequence[str] = (),
) -> dict[str, Any]:
    """Check the text of an answer; return the report as data, as text and as HTML.

    name : the exercise's
    text : what the reader has written: a cell that defines a function of that name
    earlier : texts of the reader's answers to exercises that this one may call, by
        name; where one is missing or stops with an error, the course's version is there
    imports : lines that stand above the exercise in its lesson; those that cannot be
        run here are left out

    The result can be written as JSON. ``kind`` is "report", "course version" (nothing
    was judged) or "error" (the text could not be run or defines no such function);
    ``html`` is free of scripts, whatever the answer is, prints or returns, for an
    answer that leaves the course's modules alone; ``printed`` is what the text has
    printed; ``holding`` of ``claims`` hold, 0 of 0 of what is not written yet; ``data``
    is that of ``CheckReport``, if there is one.
    """
    try:
        exercise = load(name)
    except (UnknownExercise, ImportError):
        sentence = f"There is no exercise `{name}` that can be checked here."
        return _problem(name, f"{name} cannot be checked here", sentence, "")
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    for line in (*PREAMBLE.splitlines(), *imports):
        with contextlib.suppress(Exception):
            exec(line, names)
    _bind_earlier(exercise, earlier or {}, names, set())
    names.pop(name, None)
    printed = Printed()
    stopped = run_cell(f"<{name}>", text, names, printed)
    if stopped:
        what = "your text stopped with an error"
        sentence = ""
        if isinstance(stopped.error, SyntaxError):
            what = f"Python cannot read line {stopped.error.lineno or 1}"
            sentence = unreadable(stopped.error)
        elif isinstance(stopped.error, NameError):
            sentence = _unknown_name(stopped.error.name or "")
        headline = f"{name}: {what}, so nothing was checked"
        return _problem(name, headline, sentence, str(printed), stopped.lines)
    answer = names.get(name)
    if fault := _fault(name, answer, name in names):
        return _problem(name, f"{name} was not checked", fault, str(printed))
    if is_course_version(exercise, answer):
        headline = f"{name}: the course's own version"
        sentence = f"This {NOT_YOUR_OWN}"
        return _problem(name, headline, sentence, str(printed), kind="course version")
    report = report_of(exercise, answer, text)
    if sentence := _unknown_name(missing_name(report.result)):
        report.notes += (sentence,)
    return {
        "kind": "report",
        "name": name,
        "solved": report.result.solved,
        "headline": report.headline,
        "text": str(report),
        "html": report.html(),
        "printed": str(printed),
        "holding": report.result.n_holding,
        "claims": 0 if report.result.is_unwritten else len(report.result.claims),
        "data": report.data(),
    }


def check_json(request: str) -> str:
    """Do as ``check_text``; arguments and result are JSON, as a worker has them."""
    return json.dumps(check_text(**json.loads(request)))


def prepare(name: str) -> None:
    """Load an exercise and report on a wrong answer: what a first check needs is there.

    Nothing is noted of it, and a name that is not there is left to a check to report.
    """
    with contextlib.suppress(Exception):
        exercise = load(name)
        misconception = exercise.misconceptions[0].function
        result = judge(exercise, page_runner_factory(misconception))
        CheckReport(exercise, result).html()


class PageReport(CheckReport):
    """A check's report whose words fit a page with one editor, without cells."""

    def _what_to_write(self) -> str:
        name = self.exercise.name
        if used := self.unwritten_use():
            return (
                f"`{name}` calls `{used}`, which is not written yet. Write `{used}` on "
                "its own page first, or use the course's version of it there."
            )
        return (
            "Write your answer in place of the line `raise NotImplementedError`: that "
            "line has to go. Then check again."
        )


def report_of(exercise: Exercise, answer: Any, text: str = "") -> PageReport:
    """Judge a function by the claims that learners see, and report on it.

    text : what defines it, which tells one attempt from the next
    """
    cases = [case for case in exercise.cases if case.visible]
    result = judge(exercise, page_runner_factory(answer), cases=cases, text=text)
    result, warning = judged_with_outside_values(exercise, answer, result)
    notes = _notes(exercise, result, text)
    return PageReport(exercise, result, notes, warning, judged=text)


def page_runner_factory(answer: Any) -> RunnerFactory:
    """Return what ``judge`` needs to call a function where there may be no alarms."""

    def make(names: tuple[str, ...]) -> Runner:
        right = {name: load(name).reference for name in names}
        return local_runner(answer, right, CALL_SECONDS, limiter=limiter())

    return make


def limiter() -> TimeLimiter:
    """Return what ends endless loops here, with alarms or without."""
    return call_within if has_alarms() else run_within


def run_within(
    seconds: float | None,
    function: Callable[[], Any],
    codes: Iterable[CodeType] = (),
) -> Any:
    """Call a function; raise ``TimeLimitExceeded`` inside it once the time is up.

    codes : in which the clock is read, if not everywhere: others are no slower for it

    The clock is read at jumps and calls of Python code, from Python 3.12 on. What
    computes in C without end is not stopped: the page ends the worker then.
    """
    monitoring = getattr(sys, "monitoring", None)
    if seconds is None or not monitoring or monitoring.get_tool(MONITORING_TOOL):
        return function()
    end = time.monotonic() + seconds
    count = 0

    def check_clock(*_: Any) -> None:
        nonlocal count
        count += 1
        if count % EVENTS_PER_CLOCK_READ == 0 and time.monotonic() > end:
            raise TimeLimitExceeded

    kinds = monitoring.events.JUMP, monitoring.events.PY_START
    monitoring.use_tool_id(MONITORING_TOOL, "time limit")
    for kind in kinds:
        monitoring.register_callback(MONITORING_TOOL, kind, check_clock)
    # No context manager: its own calls would be events, and raise where nobody expects.
    codes = [*codes]
    try:
        for code in codes:
            monitoring.set_local_events(MONITORING_TOOL, code, sum(kinds))
        monitoring.set_events(MONITORING_TOOL, 0 if codes else sum(kinds))
        return function()
    finally:
        monitoring.set_events(MONITORING_TOOL, 0)
        for code in codes:
            monitoring.set_local_events(MONITORING_TOOL, code, 0)
        monitoring.free_tool_id(MONITORING_TOOL)


class Stopped(NamedTuple):
    """How a text ended that did not run through.

    lines : of the error, as Python prints them
    """

    lines: str
    error: BaseException


def run_cell(
    file: str, text: str, names: dict[str, Any], printed: io.TextIOBase
) -> Stopped | None:
    """Run a text as a notebook runs a cell; return what it stopped with, if it did.

    file : what the lines are shown under
    names : of all cells; those that the text defines are added
    printed : gets what it prints and warns
    """
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)

    def run() -> None:
        exec(compile(text, file, "exec"), names)

    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            limiter()(CELL_SECONDS, run)
        except TimeLimitExceeded as error:
            return Stopped(f"It was stopped after {CELL_SECONDS:g} seconds.", error)
        except BaseException as error:
            return Stopped(error_lines(error, file), error)
    return None


def _unknown_name(name: str) -> str:
    """Return what may be missing where a name is not known, "" for no name."""
    if not name:
        return ""
    return (
        f"`{name}` is not there: is it spelt differently elsewhere, or made outside "
        "this editor? An answer can use what its own text defines, the lesson's "
        "imports and the earlier exercises that it builds on."
    )


def error_lines(error: BaseException, file: str) -> str:
    """Return an exception as Python prints it, without the lines of the harness."""
    try:
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename != file:
            trace = trace.tb_next
        lines = "".join(traceback.format_exception(type(error), error, trace))
    except BaseException:  # it cannot print itself
        lines = type(error).__name__
    if len(lines) > MAX_ERROR:
        half = MAX_ERROR // 2
        lines = f"{lines[:half]}\n…\n{lines[-half:]}"
    return lines.strip()


class Printed(io.TextIOBase):
    """A text to print to that keeps its beginning and counts the rest."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room, self._more = MAX_PRINTED, 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        part = text[: self._room]
        if part:
            self._parts.append(part)
        self._room -= len(part)
        self._more += len(text) - len(part)
        return len(text)

    def take(self) -> str:
        """Return what was printed since the last time."""
        text = str(self)
        self._parts.clear()
        self._more = 0
        return text

    def __str__(self) -> str:
        if not self._more:
            return "".join(self._parts)
        rest = f"{self._more:,} more characters were printed."
        return "".join([*self._parts, f"\n… {rest}"])


def _bind_earlier(
    exercise: Exercise,
    earlier: Mapping[str, str],
    names: dict[str, Any],
    bound: set[str],
) -> None:
    """Bind what an exercise may call: the reader's own answers, else the course's."""
    for used in exercise.uses:
        if used in bound:
            continue
        bound.add(used)
        other = load(used)
        _bind_earlier(other, earlier, names, bound)
        names[used] = other.reference
        text = earlier.get(used, "")
        if text.strip():
            stopped = run_cell(f"<{used}>", text, names, Printed())
            if stopped or not callable(names.get(used)):
                names[used] = other.reference


def _fault(name: str, answer: Any, is_there: bool) -> str:
    """Return why what a text has defined is no answer, or ""."""
    if not is_there:
        return f"Your text defines no `{name}`. Keep the line that begins `def {name}`."
    if isinstance(answer, type):
        return (
            f"Your `{name}` is a class, and a function is checked: make an object of "
            "it that can be called, and give that the name."
        )
    try:
        if callable(plain_function(answer)) and callable(answer):
            return ""
        return f"Your `{name}` has to be a function, and is {describe(answer)}."
    except Exception:  # of the answer's own
        return f"Your `{name}` has to be a function."


_failed: defaultdict[str, set[str]] = defaultdict(set)  # texts, by exercise


def _notes(exercise: Exercise, result: ExerciseResult, text: str) -> tuple[Note, ...]:
    """Return what a solved exercise makes possible, or the offer of a way on."""
    if result.solved:
        _failed.pop(exercise.name, None)
        sentence = makes_possible(exercise.name)
        return (MadePossible(sentence),) if sentence and not result.blamed else ()
    if result.is_unwritten:
        return ()
    _failed[exercise.name].add(text)  # to check the same again is no other attempt
    many = len(_failed[exercise.name]) >= FAILURES_BEFORE_OFFER
    return (COURSE_VERSION,) if many else ()


def _problem(
    name: str,
    headline: str,
    sentence: str,
    printed: str,
    stopped: str = "",
    kind: str = "error",
) -> dict[str, Any]:
    """Return what is reported of a text that was not judged."""
    html = region(name, headline, [], [sentence] if sentence else [], [], [])
    if stopped:
        html += f"<pre>{escape(stopped)}</pre>"
    return {
        "kind": kind,
        "name": name,
        "solved": False,
        "headline": headline,
        "text": "\n".join(part for part in (headline, sentence, stopped) if part),
        "html": html,
        "printed": printed,
        "data": None,
    }
