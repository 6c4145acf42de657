"""``autograder verify``: judge the answers of a completion record again."""

import tempfile
from pathlib import Path

from autograder.commands import terminal
from autograder.commands.judge import course_here
from autograder.course import Course, CourseError
from autograder.grading.engine import Engine
from autograder.grading.identity import fresh_seed
from autograder.grading.result import SubmissionResult
from autograder.workspace.record import (
    SAYS,
    CompletionRecord,
    RecordedLesson,
    read_record,
)

AS_IN_SOLUTIONS = "solved; the answer is the course's own up to names and layout"


def verify(path: Path) -> int:
    """Judge a record's answers again and print what holds; return the exit code.

    0: each answer solves its exercise. 1: one does not, or cannot be judged here.
    """
    record = read_record(path)
    course, _ = course_here()
    n_solved = n_own = n_claimed = 0
    terminal.say(_about(record))
    for lesson in record.lessons:
        terminal.say(f"\n{lesson.heading}")
        n_claimed += len(lesson.solved)
        for name, words in _judged(course, lesson).items():
            n_solved += words.startswith("solved")
            n_own += words == AS_IN_SOLUTIONS
            mark = "✓" if words.startswith("solved") else "✗"
            terminal.say(f"  {mark} {name}: {words}")
    own = f", {n_own} of them with the course's own code" if n_own else ""
    terminal.say(f"\n{n_solved} of {n_claimed} exercises are solved by it{own}. {SAYS}")
    terminal.say(f"Digest: {record.digest}")
    return int(n_solved < n_claimed)


def _about(record: CompletionRecord) -> str:
    whose = f"Record of {record.name}" if record.name else "A record"
    return (
        f"{whose}, made on {record.made[:10]} with version {record.by}: its answers "
        "are judged again, on inputs that are drawn now."
    )


def _judged(course: Course, lesson: RecordedLesson) -> dict[str, str]:
    """Return what has become of each exercise that a record says is solved."""
    if lesson.lesson not in course.built_lessons:
        return dict.fromkeys(lesson.solved, "its lesson is not in this version")
    with tempfile.TemporaryDirectory(prefix="verify-") as folder:
        notebook = Path(folder, f"{lesson.lesson}.ipynb")
        notebook.write_text(lesson.notebook(), encoding="utf-8")
        with Engine(course, lesson.lesson, seed=fresh_seed()) as engine:
            try:
                result, _ = engine.grade(notebook)
            except CourseError as error:
                return dict.fromkeys(lesson.solved, str(error))
    return {name: _outcome(result, name) for name in lesson.solved}


def _outcome(result: SubmissionResult, name: str) -> str:
    if result.status == "invalid":
        return result.reason
    for each in result.exercises:
        if each.exercise != name:
            continue
        if not each.solved:
            return each.report.partition("\n")[0].removeprefix(f"{name}: ")
        if each.flags:
            return f"solved; it calls {', '.join(flag.what for flag in each.flags)}"
        return AS_IN_SOLUTIONS if each.as_in_solutions else "solved"
    return "this version has no such exercise"
