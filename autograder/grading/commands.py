"""``autograder judge``, and how a result reads in one line or in full.

What a class gets is ``run``'s work.
"""

from pathlib import Path

from autograder.course import Course, CourseError
from autograder.grading.engine import Engine
from autograder.grading.result import ExerciseResult, Result
from autograder.lab import find_lesson


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
