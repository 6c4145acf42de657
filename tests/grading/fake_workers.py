"""A worker's body without a sandbox: what it does is in the student's name.

Imported by the workers' own processes, so it imports little.
"""

import os
import signal
import sys
import time

from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.grading import workers
from autograder.grading.budget import TimedOutOnce
from autograder.grading.result import CodeResult
from autograder.grading.sandbox import NoSandbox
from autograder.grading.workers import GradingTaskResult

# What would set a window's title and the clipboard, move the cursor, turn the text.
EVIL = "".join(
    (
        "\x1b]0;title\x07",
        "\x1b]52;c;ZXZpbA==\x1b\\",
        "\x1b[2J\x1b[31m",
        "\x9b2J\x9d0;title\x9c",
        "\r\x08\x0b\x7f",
        "\u202e\u2066\u2028",
    )
)


def evil_result(task):
    """Return verdicts all of whose texts are an attacker's."""
    cases = (CaseVerdict("by_hand", EVIL, "wrong", 0.0, 1.0, True, EVIL),)
    exercise = ExerciseResult(
        "softmax", 0.0, 1.0, cases, EVIL, (), (Flag("softmax", EVIL, EVIL),), EVIL
    )
    outputs = {0: [{"name": "stdout", "text": EVIL}]}
    return GradingTaskResult(task, CodeResult((exercise,), (EVIL,), outputs), {})


def replace_workers(monkeypatch):
    """Let workers do what is below, without a sandbox."""
    monkeypatch.setattr(workers, "work", work)
    monkeypatch.setattr(workers.Workers, "_start_sandbox", lambda *_: None)


def work(connection, folders, settings, number, shared=None):
    """Answer as ``workers.work`` does."""
    try:
        while True:
            task = connection.recv()
            connection.send(answer(connection, task, settings))
    except (EOFError, ConnectionError):
        return


def answer(connection, task, settings):
    """Return the result of a student of this name.

    dies: its worker is killed each time; once-dies: the first time. slow: the first
    try takes too long. fault: the engine fails. refused: there is no sandbox.
    waits: two seconds. evil: all of its texts are an attacker's. budget: a fault that
    says what a submission may take.
    """
    name = task.student
    if name == "dies" or (name == "once-dies" and not task.deaths):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("slow") and not task.last_try:
        return GradingTaskResult(task, None, {}, TimedOutOnce.__name__)
    if name == "fault-evil":
        return GradingTaskResult(task, None, {}, f"Traceback …\nKeyError: {EVIL}")
    if name == "evil":
        return evil_result(task)
    if name == "budget":
        seconds = settings.budget.submission
        return GradingTaskResult(task, None, {}, f"it may take {seconds:g} seconds")
    if name == "fault":
        return GradingTaskResult(task, None, {}, "Traceback …\nKeyError: 'softmax'")
    if name == "refused":
        return NoSandbox("submissions cannot be isolated on this machine")
    if name == "exits":
        sys.exit("a sandbox had to be given up")
    if name == "waits":
        time.sleep(2)
    cases = (
        CaseVerdict("by_hand", "A claim", "ok", 1.0, 1.0, True),
        CaseVerdict("of_ones", "Another", "wrong", 0.0, 1.0, True, "It is not."),
    )
    report = f"worker {os.getpid()}"
    exercise = ExerciseResult("softmax", 1.0, 2.0, cases, report=report)
    return GradingTaskResult(task, CodeResult((exercise,)), {"all": 0.5})
