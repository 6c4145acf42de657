"""``autograder doctor``: what holds on this machine, each line tried, not assumed."""

import os
import platform
import re
import shutil
import stat
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from autograder.commands.terminal import say
from autograder.course import Course, CourseError
from autograder.gradebook.settings import exchange_folder
from autograder.grading import classroom
from autograder.grading.identity import LOCK
from autograder.grading.inside import seccomp
from autograder.grading.inside.isolation import Limits
from autograder.grading.reading import printable_name
from autograder.grading.sandbox import NoSandbox
from autograder.grading.submission import SUBMITTED
from autograder.grading.trial import SPACES, Trial, try_sandbox
from course_lib.corpora.datasets import DATASETS
from course_lib.corpora.download import is_cached

MAX_ODD = 5  # folders that are named
GIGABYTE, MEGABYTE = 1 << 30, 1 << 20
TESTED_PYTHON = (3, 11)
NAMED = ("torch", "numpy", "nbgrader")
MARKS = {True: "✓", False: "✗", None: "–"}


class Line(NamedTuple):
    """One line: True holds, False does not and is needed, None can be done without."""

    holds: bool | None
    text: str

    def __str__(self) -> str:
        """Return the line as it is printed."""
        return f"  {MARKS[self.holds]} {self.text}"


def doctor(course: Course) -> int:
    """Print what holds; return 1 if something that grading needs does not."""
    say("Isolation of submissions, tried with a process started for it:")
    try:
        lines = isolation_lines(try_sandbox(course), Limits())
    except CourseError as error:
        reason = str(error)
        fault = "" if isinstance(error, NoSandbox) else "submissions cannot be graded: "
        lines = [Line(False, fault + reason)]
    say("\n".join(map(str, lines)))
    say("This machine:")
    others = [packages_line(), data_line(), *room_lines(course)]
    others += [*odd_submissions_lines(course), *mode_lines(course)]
    say("\n".join(map(str, others)))
    return int(any(line.holds is False for line in [*lines, *others]))


def isolation_lines(trial: Trial, limits: Limits) -> list[Line]:
    """Return a line for each layer."""
    missing = ", ".join(sorted({*SPACES} - trial.spaces))
    reached = ", ".join(trial.reached)
    lines = [
        Line(False, f"shared with this machine: its namespaces of {missing}")
        if missing
        else Line(True, "no network, and no other process to see, stop or share with"),
        Line(False, f"a submission reaches {reached}")
        if reached
        else Line(True, "the course, your home and other submissions are not there"),
        _user_line(trial),
        Line(
            trial.limited and trial.writable == ("/tmp",),
            f"writes to a disk of its own of {limits.disk // MEGABYTE} MiB, which goes "
            "with it",
        ),
    ]
    machine = platform.machine()
    if trial.filtered:
        column, _ = seccomp.MACHINES[machine]
        calls = ",".join([seccomp.ALLOWED, *seccomp.BY_ARGUMENT])
        allowed = len(seccomp.numbers(calls, column))
        lines.append(Line(True, f"{allowed} system calls allowed, others refused"))
    else:
        lines.append(
            Line(
                False,
                f"system calls are not filtered on this machine ({machine}): faults of "
                "its kernel are within reach. Grade on x86_64 or aarch64, or only "
                "notebooks of people whom you trust",
            )
        )
    each = limits.memory // GIGABYTE
    lines.append(
        Line(
            trial.limited,
            f"each process: {each} GiB of memory, {limits.cpu} s of processor time, "
            f"{limits.files} open files; no more than {limits.processes} processes",
        )
    )
    return [*lines, _group_line(trial, limits)]


def _user_line(trial: Trial) -> Line:
    if trial.privileged:
        return Line(False, "a submission has privileges")
    if len(trial.users) > 1 and 0 not in trial.users:
        return Line(True, "each submission is a user of its own, without privileges")
    if trial.users == {os.geteuid()} and 0 not in trial.users:
        return Line(True, "without privileges (as your user; of their own under root)")
    return Line(False, "submissions are root")


def _group_line(trial: Trial, limits: Limits) -> Line:
    if trial.grouped:
        return Line(True, "its processes together: limits of a control group")
    most = limits.memory * limits.processes // GIGABYTE
    return Line(
        None,
        f"its processes together: no limit but the sum, {most} GiB, since no control "
        "group may be made here. Where systemd runs, `systemd-run --user --scope "
        ".venv/bin/autograder grade …` has one",
    )


def packages_line() -> Line:
    """Return which packages there are, and whether they are those of the lock."""
    lock = LOCK.read_text() if LOCK.is_file() else ""
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.M))
    installed = {name: _version(name) for name in (*locked, *NAMED)}
    differ = [
        f"{name} {tested}"
        for name, tested in locked.items()
        if installed[name] not in ("", tested)
    ]
    names = ", ".join(f"{name} {installed[name] or 'missing'}" for name in NAMED)
    text = f"Python {platform.python_version()}, {names}"
    if sys.version_info[:2] != TESTED_PYTHON:
        differ.append("Python {}.{}".format(*TESTED_PYTHON))
    if not all(installed[name] for name in NAMED):
        return Line(False, f"{text}: run `make setup`")
    if not lock:
        why = "requirements.lock, with the tested versions, is not beside the package"
        return Line(None, f"{text}; {why}")
    if differ:
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        return Line(None, f"{text}; tested with {', '.join(differ[:3])}{more}")
    return Line(True, f"{text}: all packages as tested")


def _version(package: str) -> str:
    """Return a package's version without its build's label; "" if it is missing."""
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return ""


def data_line() -> Line:
    """Return whether the lessons' data is there; grading needs none."""
    if all(is_cached(dataset) for dataset in DATASETS):
        return Line(True, "the data of lessons 06 and later")
    return Line(None, "not all data of lessons 06 and later: `make data` gets it")


def room_lines(course: Course) -> list[Line]:
    """Return how many submissions are graded at a time, and the room for it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE
    jobs, processors = classroom.default_jobs(), classroom.processors()
    free = shutil.disk_usage(course.root).free / GIGABYTE
    why = "" if jobs == processors else " (memory for no more: `--jobs` overrides it)"
    return [
        Line(
            True,
            f"{processors} processors, {memory:.0f} GiB of memory: grades {jobs} at a "
            f"time{why}",
        ),
        Line(free > 1 or None, f"{free:.0f} GiB of disk are free"),
    ]


def odd_submissions_lines(course: Course) -> list[Line]:
    """Return a line for each folder with links, pipes or devices; none if all is well.

    They are not graded; nbgrader's own pages and commands may wait for or follow them.
    """
    from autograder.gradebook.entrance import (
        odd_entries,
    )  # it needs nbgrader's exchange

    lines = []
    for folder in sorted(course.root.glob(f"{SUBMITTED}/*/*")):
        if odd := odd_entries(folder):
            where = printable_name(str(course.relative(folder)))
            lines.append(Line(None, f"in {where} are no files, remove them: {odd}"))
    if len(lines) > MAX_ODD:
        lines[MAX_ODD:] = [
            Line(None, f"the same in {len(lines) - MAX_ODD} more folders")
        ]
    return lines


def mode_lines(course: Course) -> list[Line]:
    """Return what others on this machine could read or change; none if nothing.

    The gradebook and submissions are nobody's business; in an exchange everybody may
    put things, and nobody may move or remove those of others (the sticky bit).
    """
    lines = []
    if _mode(course.root) & 0o007:  # else nobody else reaches what is inside
        for path, what in (
            (course.root, "this folder"),
            (course.root / "gradebook.db", "the gradebook"),
            (course.root / "gradebook.seed", "the seed of hidden inputs"),
            (course.root / SUBMITTED, "submissions"),
        ):
            if _mode(path) & 0o002:
                lines.append(Line(False, f"everybody may change {what}: `chmod o-w`"))
            elif path != course.root and _mode(path) & 0o004:
                lines.append(
                    Line(None, f"everybody may read {what}: `chmod 700 .` closes it")
                )
    if exchange := exchange_folder(course):
        mode = _mode(exchange)
        if mode & 0o002 and not mode & stat.S_ISVTX:
            where = printable_name(str(exchange))
            lines.append(
                Line(
                    False,
                    f"everybody may move or remove what others have in {where}: "
                    f"`chmod 1777 {where}`",
                )
            )
    return lines


def _mode(path: Path) -> int:
    """Return a file's mode, 0 if there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
