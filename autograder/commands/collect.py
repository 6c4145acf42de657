"""``autograder collect``: from archives of Canvas or Moodle to ``submitted/``."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograder.commands import terminal
from autograder.course import Course, CourseError
from autograder.gradebook.archives import ArchivedFile, open_archive
from autograder.gradebook.collecting import (
    Choice,
    Collected,
    Outcome,
    Times,
    choose_from,
    require_people,
    timestamp_text,
)
from autograder.gradebook.collecting import collect as write_submissions
from autograder.grading.reading import spelled_out

INTERRUPTED = 130
MAX_NAMED = 10  # of many, in one sentence


def collect(
    course: Course,
    archives: Sequence[Path],
    lesson: str,
    zone: str,
    times: str,
    force: bool,
) -> int:
    """Collect a class's submissions and print what has become of each.

    Returns 0 if all were collected; 1 if not, and stderr says which; 130 after Ctrl-C.
    """
    own = course.find_lesson(lesson, built=True) if lesson else ""
    time_zone, checked = _zone(zone), _times(times)
    roster = require_people(course)
    with ExitStack() as stack:
        contents = [
            stack.enter_context(open_archive(path, time_zone)) for path in archives
        ]
        if not any(each.files for each in contents):
            raise CourseError(
                f"{', '.join(map(str, archives))} holds no submission as Canvas or "
                "Moodle name them: take the archive as they give it, not packed anew"
            )
        chosen = choose_from(contents, roster, course.built_lessons, own)
        results: list[Collected] = []
        interrupted = False
        try:
            for result in write_submissions(course, chosen.choices, checked, force):
                results.append(result)
                _print_result(result)
        except KeyboardInterrupt:
            interrupted = True
    for sentence in chosen.left_out:
        terminal.warn(sentence)
    _print_times([choice.file for choice in chosen.choices], checked, zone)
    _warn_of_late(chosen.choices, checked)
    _print_summary(results, len(chosen.left_out))
    if interrupted:
        n_left = len(chosen.choices) - len(results)
        terminal.warn(
            f"Stopped with {n_left} left: what is collected stays, whole; call again "
            "for the rest."
        )
        return INTERRUPTED
    missed = any(each.outcome in ("not collected", "older") for each in results)
    return int(bool(chosen.left_out or missed))


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CourseError(
            f"there is no time zone {name!r}: write it as Europe/Berlin or UTC"
        ) from None


def _times(times: str) -> Times:
    for each in get_args(Times):
        if times == each:
            return each
    raise CourseError(f"--times {times!r}: there are {', '.join(get_args(Times))}")


def _print_result(result: Collected) -> None:
    row = f"{spelled_out(result.student):20} {result.lesson}  {result.outcome}"
    line = f"{row}: {result.note}" if result.note else row
    missed = result.outcome in ("not collected", "older")
    (terminal.warn if missed else terminal.say)(line)


def _print_times(files: Sequence[ArchivedFile], times: Times, zone: str) -> None:
    """Print where the times come from, and in which zone they are."""
    if not any(timestamp_text(file, times) for file in files):
        if times == "auto" and files:
            terminal.say(
                "No timestamp.txt is written: the archive's times are all from when it "
                "was made (--times archive takes them all the same)."
            )
        return
    if not all(file.has_zone for file in files):
        name = zone or "this machine's zone (--zone names another)"
        terminal.say(f"Times are the archive's, read in {name}, written in UTC.")
    else:
        terminal.say("Times are the archive's, which has them in UTC.")


def _warn_of_late(choices: Sequence[Choice], times: Times) -> None:
    """Name who is late by nobody knows how much."""
    late = [
        spelled_out(choice.student)
        for choice in choices
        if choice.file.late and not timestamp_text(choice.file, times)
    ]
    if late:
        names = ", ".join(late[:MAX_NAMED]) + (" …" if len(late) > MAX_NAMED else "")
        terminal.warn(
            f"Marked late, by how much the archive does not say: {names}; there is no "
            "penalty without a timestamp.txt, which you can write."
        )


def _print_summary(results: Sequence[Collected], n_left_out: int) -> None:
    counts = Counter(result.outcome for result in results)
    counts["not collected"] += n_left_out
    parts = [f"{counts[each]} {each}" for each in get_args(Outcome) if counts[each]]
    total = terminal.counted(len(results) + n_left_out, "submission")
    terminal.say(f"{total}: {', '.join(parts)}.")
