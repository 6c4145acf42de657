"""What follows a check in a learner's copy: keep its result, say what comes next."""

from pathlib import Path

from autograder.checking.exercise import Exercise
from autograder.checking.result import ExerciseResult
from autograder.course import Course
from autograder.messages.report import NextStep, Note
from autograder.workspace.copies import WORK
from autograder.workspace.home import Home, write_home
from autograder.workspace.progress import (
    find_lesson_folder,
    keep_check,
    lock,
    reopen,
)


def keep_result(
    exercise: Exercise, result: ExerciseResult, *, is_stub: bool
) -> tuple[Note, ...]:
    """Keep a check's result and write the learner's home; return what else to report.

    is_stub : whether the learner has not written the answer; one that was there before
        has then been begun anew

    Where no learner's copy runs this, nothing is kept and nothing returned. What cannot
    be written is said in a note: the verdict stands whatever happens here.
    """
    try:
        where = find_lesson_folder()
        if where is None:
            return ()
        return _keep_in(*where, exercise, result, is_stub)
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error)
        return (
            f"Your progress could not be written to {WORK}/ ({reason}), so Home does "
            "not show this check yet. Your notebook is not affected.",
        )


def _keep_in(
    work: Path, lesson: str, exercise: Exercise, result: ExerciseResult, is_stub: bool
) -> tuple[Note, ...]:
    """Keep a result in a learner's ``work/``; return what to add to the report."""
    course = Course(work.parent)
    if is_stub:
        if reopen(work, exercise.name):
            write_home(course)
        return ()
    if result.is_unwritten:  # an earlier exercise is, so this says nothing of this one
        return ()
    keep_check(
        work,
        lesson,
        exercise.name,
        holding=result.n_holding,
        claims=len(result.claims),
        points=result.points,
        max_points=exercise.points,
    )
    with lock(work):  # or an older view of two kernels' progress might come last
        home = Home.of(course)
        write_home(course, home)
    step = next_step(home, lesson, exercise.name) if result.solved else None
    return (step,) if step else ()


def next_step(home: Home, lesson: str, exercise: str) -> NextStep | None:
    """Return what comes after an exercise of a lesson that was solved just now.

    None in a notebook that is no lesson of the course.
    """
    here = next((each for each in home.lessons if each.lesson == lesson), None)
    if here is None:
        return None
    if following := home.next_in(here, after=exercise):
        address = here.address(following).removeprefix(f"{lesson}/")
        return NextStep("Next: ", following.name, address)
    done = "Every exercise of this lesson is solved"
    if other := home.next_lesson(here):
        return NextStep(f"{done}. Next: ", other.heading, f"../{other.notebook}")
    return NextStep(f"{done}, and every other one too: ", "Home", "../home.md")
