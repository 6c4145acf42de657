"""``autograder grade`` and ``autograder judge``: grade a class, explain a notebook.

They print; what is graded, and how, is in ``classroom`` and ``engine``.
"""

import contextlib
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from autograder.course import Course, CourseError
from autograder.grading import classroom
from autograder.grading.engine import Engine
from autograder.grading.result import ExerciseResult, Result
from autograder.lab import find_lesson

INTERRUPTED = 130
BETWEEN_WRITES = 10.0  # seconds: what was graded before is there if the machine stops
UNSAFE = (
    "--no-sandbox: submissions run with your rights; they can read and change whatever "
    "you can, this gradebook and the other submissions too"
)


class _Rate(ProgressColumn):
    """Submissions per second so far."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:.1f}/s")


def grade(
    course: Course, lesson: str, *, jobs: int, student: str, isolated: bool, output: str
) -> int:
    """Grade a class and print it as it goes; give the exit code.

    0: everything was graded. 1: the grader itself failed over a submission.
    130: Ctrl-C; what was graded until then is written.
    """
    lesson = find_lesson(course.root, lesson)
    todo = classroom.tasks(course, lesson, student)
    path = Path(output) if output else course.root / f"build/grading/{lesson}.jsonl"
    results = classroom.Results(path)
    console, words = Console(soft_wrap=True, highlight=False), Console(stderr=True)
    if not isolated:
        words.print(UNSAFE, style="bold")
    results.write()  # whatever keeps it from being written is better known now
    start, graded, faults = time.monotonic(), [], 0
    code, written = 0, start
    try:
        with (
            _progress(words) as progress,
            classroom.grading(course, lesson, jobs, isolated) as workers,
        ):
            bar = progress.add_task(lesson, total=len(todo))
            for done in workers.each(todo):
                if done.result is None:
                    faults += 1
                    words.print(escape(done.fault))
                    done = replace(done, result=classroom.invalid(done, lesson))
                assert done.result is not None
                results.add(done)
                graded.append(done.result)
                progress.advance(bar)
                console.print(escape(line(done.result)))
                if time.monotonic() - written > BETWEEN_WRITES:
                    with contextlib.suppress(CourseError):  # it may go again at the end
                        results.write()
                    written = time.monotonic()
    except KeyboardInterrupt:
        words.print("Stopped. Call again to grade the class.")
        code = INTERRUPTED
    if not student and code == 0:
        results.keep([task.student for task in todo])
    results.write()
    console.print(escape(_summary(graded, time.monotonic() - start, path)))
    return code or int(faults > 0)


def line(result: Result) -> str:
    """Give one student's row: points, what stands out, and why nothing was graded."""
    row = f"{result.student:20} {result.points:5g} of {result.max_points:g}"
    if result.status == "invalid":
        return f"{row}  invalid: {result.reason}"
    marks = [f"{e.exercise}: {_short(e)}" for e in result.exercises if _short(e)]
    return f"{row}  {'; '.join(marks)}".rstrip()


def _short(exercise: ExerciseResult) -> str:
    """Say in a few words what is wrong with an exercise; nothing if all is well."""
    told = []
    if exercise.points < exercise.max_points:
        failed = [case.status for case in exercise.cases if case.status != "ok"]
        told.append(exercise.diagnosis or max(failed, key=failed.count))
    if exercise.flags:
        told.append("review")
    return ", ".join(told)


def _summary(graded: list[Result], seconds: float, path: Path) -> str:
    unread = sum(result.status == "invalid" for result in graded)
    review = sum(bool(result.flags) for result in graded)
    rate = len(graded) / seconds if seconds else 0.0
    return (
        f"{len(graded)} submissions in {seconds:.1f} s ({rate:.1f}/s), {unread} "
        f"invalid, {review} for review. Written: {path}"
    )


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def judge(course: Course, path: Path, lesson: str, isolated: bool) -> int:
    """Grade one notebook file and print each verdict in words; give the exit code."""
    name = find_lesson(course.root, lesson) if lesson else _lesson_of(course, path)
    with Engine(course, name, isolated=isolated) as engine:
        result, times = engine.grade(path.absolute(), path.parent.name)
    print(told(result))
    print(f"Graded in {times.get('all', 0.0):.2f} s.")
    return 0


def told(result: Result) -> str:
    """Give a whole result in words."""
    rows = [f"{result.lesson}: {result.points:g} of {result.max_points:g} points"]
    if result.status == "invalid":
        return f"{rows[0]}\nNothing could be graded: {result.reason}"
    rows += [f"Put right: {repair}" for repair in result.repairs]
    rows += [f"Cells: {trouble}" for trouble in result.troubles]
    for exercise in result.exercises:
        rows += [
            "",
            f"{exercise.points:g} of {exercise.max_points:g}: {exercise.report}",
        ]
        rows += [
            f"  [{case.status}] {case.case}: {case.points:g} of {case.max_points:g}"
            for case in exercise.cases
        ]
        rows += [_flag(flag.what, flag.line) for flag in exercise.flags]
    return "\n".join(rows)


def _flag(what: str, line: str) -> str:
    where = f" in `{line}`" if line else ""
    return f"  For your review: the answer calls {what}{where}"


def _lesson_of(course: Course, path: Path) -> str:
    """Find which lesson a notebook belongs to, by its name or its folder's."""
    for name in (path.stem, path.parent.name):
        if name in course.lessons:
            return name
    if not path.is_file():
        what = "is a folder: name its notebook" if path.is_dir() else "is not there"
        raise CourseError(f"{path} {what}")
    raise CourseError(
        f"{path.name} does not say which lesson it is: name it with --lesson; there "
        f"are: {', '.join(course.lessons)}"
    )
