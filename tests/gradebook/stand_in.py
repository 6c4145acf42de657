"""The command line with an engine that judges at once: each answer says what it earns.

A comment ``# earns 0.5`` in an answer's cell is half of its points; an answer without
one is not written. All else (files, journal, gradebook, output) is the real command.

    python -m tests.gradebook.stand_in grade 01
"""

import contextlib
import io
import os
import re
import signal
import sqlite3
import sys

import typer

from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.commands import app, grade
from autograder.course import CourseError
from autograder.gradebook import service
from autograder.grading.release import (
    checked_exercises,
    load_all_releases,
    load_release,
)
from autograder.grading.result import CodeResult
from autograder.grading.workers import GradingTaskResult

EARNS = re.compile(r"# earns ([\d.]+)")
# What a killed process can leave behind lies between two of these: steps of SQLite, of
# which those that begin and end a transaction count as well as any other, and changes
# of files.
EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "sqlite3.connect"}
COMMAND = typer.main.get_command(app.app)


class Workers:
    """Judges without any process."""

    def __init__(self, course, settings):
        self.course, self.lesson = course, settings.lesson

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def each(self, tasks):
        points = load_all_releases(self.course, self.lesson).points
        todays = load_release(self.course, self.lesson).exercises
        for task in tasks:
            checked = {*todays, *checked_exercises(task.cells or ())}
            answers = {c.exercise: c for c in task.cells or () if c.role == "solution"}
            results = tuple(
                result(name, worth, answers.get(name), read=task.cells is not None)
                for name, worth in points.items()
                if name in checked
            )
            yield GradingTaskResult(task, CodeResult(results), {})


def result(name, worth, cell, *, read):
    says = EARNS.search(cell.source) if cell else None
    earned = worth * float(says[1]) if says else 0.0
    status = "invalid" if not read else "missing" if not says else "ok"
    cases = [CaseVerdict("one", "It holds", status, earned, worth / 2, True)]
    status = "wrong" if status == "ok" and earned < worth else status
    cases.append(CaseVerdict("other", "It holds too", status, 0.0, worth / 2, True))
    return ExerciseResult(name, earned, worth, tuple(cases))


@contextlib.contextmanager
def judging_at_once():
    """Let commands and nbgrader's button judge so."""
    with contextlib.ExitStack() as patches:
        for module in (grade, service):
            patches.callback(setattr, module, "Workers", module.Workers)
            module.Workers = Workers
        yield


def call(*words):
    """Run a command in the current folder; return exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def run(words):
    try:
        return COMMAND(list(words), standalone_mode=False) or 0
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1


def call_killed(words, after, *, at_borders):
    """Run a command in a process of its own, killed after so many events.

    at_borders : count only the events between which files and transactions change

    Return whether it came to its end, and how many events there were until then.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            _count_down(after, at_borders, writing)
            call(*words)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        n_events = len(pipe.read())
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), f"{words} ended with {status}"
    return status == 0, n_events


def _count_down(after, at_borders, pipe):
    """Kill this process after so many events; write a byte for each."""
    left = after

    def happened():
        nonlocal left
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        os.write(pipe, b".")

    def audit(event, arguments):
        if event in EVENTS and not (event == "open" and arguments[1] in ("r", "rb")):
            happened()

    def trace(statement):
        if not at_borders or statement.startswith(("BEGIN", "COMMIT")):
            happened()

    connect = sqlite3.connect

    def traced(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_trace_callback(trace)
        return connection

    sqlite3.connect = traced
    sys.addaudithook(audit)


if __name__ == "__main__":
    with judging_at_once():
        raise SystemExit(run(sys.argv[1:]))
