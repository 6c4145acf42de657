"""``autograder open``, ``feedback``, ``report`` and ``export``.

Each returns an exit code: 0 if all was done, 1 if something was left out, which stderr
names. What cannot be done at all raises ``CourseError``.
"""

from pathlib import Path

from autograder.commands import terminal
from autograder.course import Course, CourseError, output_file
from autograder.gradebook.database import Gradebook
from autograder.gradebook.sheets import MissingAs
from autograder.grading.journal import Journal


def open_lesson(course: Course, lesson: str) -> int:
    """Enter a lesson into the gradebook."""
    name = course.find_lesson(lesson, built=True)
    gradebook = Gradebook(course)
    for sentence in gradebook.open_lesson(name):
        terminal.warn(sentence)
    terminal.say(f"{name} is open in {gradebook.path}")
    return 0


def extend(course: Course, student: str, lesson: str, hours: float) -> int:
    """Extend a student's time for a lesson."""
    name = course.find_lesson(lesson, built=True)
    gradebook = Gradebook(course)
    until = gradebook.extend(name, student, hours * 3600)
    grades = gradebook.grades(name, [student])[student]
    line = f"{student} has until {until:%Y-%m-%d %H:%M:%S} UTC for {name}"
    if grades.submitted:
        line += f"; the late penalty is {grades.late_penalty:g}"
    terminal.say(line)
    return 0


def feedback(course: Course, lesson: str, student: str) -> int:
    """Write the feedback pages of a class, or of one student."""
    from autograder.gradebook.feedback import write_feedback

    name = course.find_lesson(lesson, built=True)
    chosen = [student] if student else None
    grades = Gradebook(course).grades(name, chosen)
    if student and student not in grades:
        raise CourseError(
            f"{student} is not in the gradebook: correct the name, or grade the "
            "submission first (`autograder grade`)"
        )
    left_out: list[str] = []
    written = write_feedback(course, name, chosen, grades, on_left_out=left_out.append)
    terminal.say(f"{len(written)} pages in feedback/<student>/{name}/{name}.html")
    for sentence in left_out:
        terminal.warn(sentence)
    return int(bool(left_out))


def report(course: Course, lesson: str, output: str) -> int:
    """Write the instructor's page; without a gradebook, with the engine's points."""
    from autograder.dashboard.page import write_report

    name = course.find_lesson(lesson, built=True)
    grades, code = {}, 0
    try:
        grades = Gradebook(course).grades(name)
    except CourseError as error:
        terminal.warn(f"{error}; the report has the grader's points only")
        code = 1
    path = output_file(Path(output)) if output else None
    page = write_report(course, name, path, grades=grades)
    terminal.say(f"Written: {page}")
    return code


def export(
    course: Course,
    lessons: list[str],
    kind: str,
    missing: MissingAs,
    output: str,
    n_drop: int = 0,
) -> int:
    """Write the grades as a file for other systems."""
    from autograder.gradebook.export import export as write_export

    left_out: list[str] = []
    known = course.built_lessons
    with Journal(course) as journal:
        results = {lesson: journal.results(lesson) for lesson in known}
    path = write_export(
        course,
        lessons,
        kind,
        Path(output) if output else None,
        missing=missing,
        results=results,
        n_drop=n_drop,
        on_note=terminal.say,
        on_left_out=left_out.append,
        on_warning=terminal.warn,
    )
    for sentence in left_out:
        terminal.warn(sentence)
    terminal.say(f"Written: {path}")
    return int(bool(left_out))
