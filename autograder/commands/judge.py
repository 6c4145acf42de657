"""``autograder judge``: single notebooks, each in full, in words or as JSON.

In a course folder what counts, and for how much, is as its gradebook has it. Elsewhere
the lessons are those that are installed, and nothing is written.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.adapters.document import document
from autograder.checking.points import format_number_of
from autograder.checking.result import CaseVerdict, Flag
from autograder.commands import terminal
from autograder.commands.grade import budget_of, changes_by_people
from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook
from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.safe_html import AS_IN_SOLUTIONS
from autograder.gradebook.settings import optional_exercises
from autograder.grading.engine import Engine
from autograder.grading.identity import course_seed, fresh_seed, read_seed
from autograder.grading.inside.isolation import Isolation
from autograder.grading.journal import Journal
from autograder.grading.reading import printable_name, spelled_out
from autograder.grading.result import SubmissionResult
from autograder.grading.submission import SUBMITTED
from autograder.messages.description import one_line
from autograder.workspace.installed import installed_lessons


@dataclass(frozen=True)
class JudgeOptions:
    """How notebooks are to be judged.

    lesson : theirs; "" if their names say it
    isolation : what keeps submissions apart; "none" is ``--no-sandbox``
    seconds : that all of a submission may take; None: as nbgrader's configuration says
    as_json : a document for each (``adapters.document``), a line each
    seed : the file with the seed of the cases' inputs; None: the course's own, or one
        for this call alone where there is no course
    """

    lesson: str = ""
    isolation: Isolation = "namespaces"
    seconds: float | None = None
    as_json: bool = False
    seed: Path | None = None


def judge(paths: Sequence[Path], options: JudgeOptions) -> int:
    """Grade notebook files and print the verdicts on each; return the exit code.

    0: all are graded. 1: one cannot be, and what is printed says why.
    """
    course, is_own = course_here()
    seed = _seed(course, options.seed, is_own=is_own)
    by_lesson: dict[str, list[Path]] = {}
    for path in paths:  # all names are read before anything is judged
        by_lesson.setdefault(_lesson(course, path, options.lesson), []).append(path)
    code = 0
    for lesson, files in by_lesson.items():
        budget = budget_of(course, options.seconds)
        with Engine(
            course, lesson, isolation=options.isolation, budget=budget, seed=seed
        ) as engine:
            for path in files:
                student = _student_of(course, lesson, path) if is_own else ""
                recorded = _recorded(course, lesson, student) if is_own else _Recorded()
                result, times = engine.grade(
                    path.absolute(),
                    student,
                    dropped=recorded.dropped,
                    worth=recorded.worth,
                    excuse_missing=recorded.excuse_missing,
                    optional=optional_exercises(course),
                )
                _say(result, recorded.grades, path, times.get("all", 0.0), options)
                code = max(code, int(result.status == "invalid"))
    return code


def say_recorded(course: Course, lesson: str, *, as_json: bool) -> int:
    """Print what the journal has of a class, without judging; return the exit code."""
    lesson = course.find_lesson(lesson, built=True)
    with Journal(course) as journal:
        results = journal.results(lesson)
        seconds = {
            student: times.get("all") for student, times in journal.times(lesson)
        }
    if not results:
        raise CourseError(
            f"nothing of {lesson} is graded yet: call `autograder grade {lesson[:2]}`"
        )
    for result in results:
        if as_json:
            _say_json(document(result, seconds=seconds.get(result.student)))
        else:
            terminal.say(f"{spelled_out(result.student)}\n{result_in_words(result)}\n")
    return 0


def _say(
    result: SubmissionResult,
    grades: StudentGrades | None,
    path: Path,
    seconds: float,
    options: JudgeOptions,
) -> None:
    if options.as_json:
        _say_json(document(result, file=printable_name(path.name), seconds=seconds))
        return
    terminal.say(result_in_words(result))
    if difference := _otherwise_in_gradebook(result, grades):
        terminal.say(difference)
    if result.status != "invalid":
        terminal.say(f"Graded in {seconds:.2f} s.")


def _say_json(data: Mapping[str, object]) -> None:
    """Print a line of JSON, whole: ASCII alone, which no terminal takes for more."""
    print(json.dumps(data), flush=True)


def course_here() -> tuple[Course, bool]:
    """Return the course to judge with, and whether it is the caller's own folder."""
    try:
        return Course.here(), True
    except CourseError:
        return Course(installed_lessons()), False


def _seed(course: Course, path: Path | None, *, is_own: bool) -> int:
    if path is not None:
        return read_seed(path)
    return course_seed(course) if is_own else fresh_seed()


def _lesson(course: Course, path: Path, name: str) -> str:
    return course.find_lesson(name, built=True) if name else _lesson_of(course, path)


def _student_of(course: Course, lesson: str, path: Path) -> str:
    """Return whose submission a file is; "" if it lies elsewhere."""
    above = (course.root / SUBMITTED).absolute()
    try:
        student, folder, _ = path.absolute().relative_to(above).parts
    except ValueError:  # not below it, or not right there
        return ""
    return student if folder == lesson else ""


@dataclass(frozen=True)
class _Recorded:
    """What the gradebook says of a lesson, and of a student's grades for it.

    grades : None if it has none
    """

    dropped: Collection[str] = ()
    worth: Mapping[str, float] = field(default_factory=dict)
    excuse_missing: bool = False
    grades: StudentGrades | None = None


def _recorded(course: Course, lesson: str, student: str) -> _Recorded:
    """Return what the gradebook says; where it cannot be used, that it says nothing."""
    gradebook = Gradebook(course)
    try:
        worth = gradebook.worth(lesson)
        grades = gradebook.grades(lesson, [student]) if worth else {}
        return _Recorded(
            gradebook.dropped(lesson),
            worth,
            student in gradebook.excused_students(lesson),
            grades.get(student),
        )
    except CourseError as error:
        terminal.warn(f"{error}; judged as if nothing were dropped or excused")
        return _Recorded()


def _otherwise_in_gradebook(
    result: SubmissionResult, grades: StudentGrades | None
) -> str:
    """Return what the gradebook has in place of these points, and why; "" if nothing.

    What was graded before something has changed, a new grading brings up to date.
    """
    if grades is None or not grades.is_graded:
        return ""
    own = format_number_of(grades.points, grades.max_points)
    if own == format_number_of(result.points, result.max_points):
        return ""
    marks = changes_by_people(grades)
    command = f"`autograder grade {result.lesson[:2]}` brings it up to date"
    return f"In the gradebook: {own} ({'; '.join(marks) or command})"


def result_in_words(result: SubmissionResult) -> str:
    """Return a whole result in words."""
    points = format_number_of(result.points, result.max_points)
    rows = [f"{result.lesson}: {points} points"]
    if result.status == "invalid":
        return f"{rows[0]}\nNothing could be graded: {result.reason}"
    rows += [f"Put right: {repair}" for repair in result.repairs]
    rows += [f"Cells: {trouble}" for trouble in result.troubles]
    if result.excused:
        rows.append(f"Not in its release: {', '.join(result.excused)}")
    if result.dropped:
        rows.append(f"Counts for nobody: {', '.join(result.dropped)}")
    if result.left_out:
        rows.append(f"Optional, and not counted: {', '.join(result.left_out)}")
    if result.not_done:
        rows.append(f"Optional, not done: {', '.join(result.not_done)}")
    for exercise in result.counted:
        if exercise.exercise in result.not_done:
            continue
        points = format_number_of(exercise.points, exercise.max_points)
        if exercise.exercise in result.optional:
            points = f"Optional, {points} on top"
        rows += ["", f"{points}: {exercise.report}"]
        rows += [
            f"  [{_status(case)}] {case.case}: "
            f"{format_number_of(case.points, case.max_points)}"
            for case in exercise.cases
        ]
        rows += map(_flag_in_words, exercise.flags)
        rows += [f"  For your eyes: {AS_IN_SOLUTIONS}"] * exercise.as_in_solutions
    return "\n".join(rows)


def _status(case: CaseVerdict) -> str:
    is_open = case.fine_point and case.status != "ok"
    return "fine point open" if is_open else case.status


def _flag_in_words(flag: Flag) -> str:
    line = f" in `{one_line(flag.line)}`" if flag.line else ""
    return f"  For your review: {flag.subject} {flag.what}{line}"


def _lesson_of(course: Course, path: Path) -> str:
    """Find which lesson a notebook belongs to, by its name or its folder's."""
    for name in (path.stem, path.parent.name):
        if name in course.built_lessons:
            return name
    if not path.is_file():
        fault = "is a folder: name its notebook" if path.is_dir() else "is not there"
        raise CourseError(f"{path} {fault}")
    raise CourseError(
        f"{path.name} does not say which lesson it is: name it with --lesson; there "
        f"are: {', '.join(course.built_lessons)}"
    )
