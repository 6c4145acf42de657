"""What follows a check in a learner's copy: keep its result, say what comes next."""

from autograder.checking.exercise import Exercise
from autograder.checking.result import ExerciseResult
from autograder.course import Course
from autograder.messages.report import NextStep, Note
from autograder.workspace.copies import WORK
from autograder.workspace.home import Home, write_home
from autograder.workspace.outline import (
    ExerciseOutline,
    LessonOutline,
    SectionOutline,
    read_outline,
)
from autograder.workspace.progress import (
    find_lesson_folder,
    keep_check,
    keep_put_off,
    lock,
    reopen,
)


def keep_result(
    exercise: Exercise, result: ExerciseResult, *, is_stub: bool
) -> tuple[Note, ...]:
    """Keep a check's result and write the learner's home; return what else to report.

    is_stub : whether the learner has not written the answer; one that was there before
        has then been started over

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
    course: Course,
    lesson: str,
    exercise: Exercise,
    result: ExerciseResult,
    is_stub: bool,
) -> tuple[Note, ...]:
    """Keep a result in a learner's records; return what to add to the report."""
    work = course.records
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
    return next_steps(home, lesson, exercise.name) if result.solved else ()


def put_off(exercise: str) -> None:
    """Note that the course's version of an exercise is in use, and write Home.

    Nothing where no learner's copy runs this, or of another lesson's exercise.

    Raises ``OSError`` if it cannot be written.
    """
    where = find_lesson_folder()
    if where is None:
        return
    course, lesson = where
    work = course.records
    outline = read_outline(course, lesson)
    for each in outline.exercises:
        if each.name == exercise and keep_put_off(work, lesson, exercise, each.points):
            with lock(work):
                write_home(course)


def next_steps(home: Home, lesson: str, exercise: str) -> tuple[Note, ...]:
    """Return what comes after an exercise of a lesson that was solved just now.

    It is the next thing on the page, whether that is an exercise or not. Where the
    lesson's core ends, the next lesson follows, or an exercise that was left open, and
    *Going further*, which is no step of the way. From there it leads to the next lesson
    at any time. That all exercises are solved is said first.

    Nothing in a notebook that is no lesson of the course.
    """
    here = next((each for each in home.lessons if each.lesson == lesson), None)
    if here is None:
        return ()
    outline = next((each for each in here.exercises if each.name == exercise), None)
    if outline is None:
        return ()
    section, optional = outline.section, outline.optional
    steps: list[Note] = []
    if sentence := _all_solved(home, here, optional):
        steps.append(sentence)
    if section:
        steps.append(NextStep("Next: ", section.title, _address(here, section)))
    if section is None or section.is_last or optional:
        if step := _after_lesson(home, here, exercise, is_next=not section):
            steps.append(step)
        if not optional and (further := here.going_further):
            minutes = f", {here.further} min" if here.further else ""
            words = f"{further.title}{minutes}"
            steps.append(NextStep("If you like: ", words, _address(here, further)))
    return tuple(steps)


def _all_solved(home: Home, here: LessonOutline, optional: bool) -> str:
    """Return a sentence if all exercises of a lesson or of its core are solved, or "".

    optional : whether the exercise that was solved just now is
    """
    for kind, exercises in (
        ("", here.exercises),
        ("required ", () if optional else here.required),
    ):
        if home.n_solved(exercises) == len(exercises) > 1:
            return f"All {len(exercises)} {kind}exercises of {here.heading} are solved."
    return ""


def _address(here: LessonOutline, part: ExerciseOutline | SectionOutline) -> str:
    """Return the address of a part of a lesson as seen from the lesson's folder."""
    return here.address(part).removeprefix(f"{here.lesson}/")


def _after_lesson(
    home: Home, here: LessonOutline, exercise: str, *, is_next: bool
) -> NextStep | None:
    """Return what follows a lesson's last section, or that of its core.

    None where a lesson that was fetched alone is solved: there is no Home next to it.
    """
    if left := home.next_in(here, after=exercise):
        return NextStep("Still open in this lesson: ", left.name, _address(here, left))
    if other := home.next_lesson(here):
        words = "Next: " if is_next else "After this lesson: "
        return NextStep(words, other.heading, f"../{other.notebook}")
    if len(home.lessons) == 1:
        return None
    kind = "required " if any(each.optional for each in home.lessons) else ""
    words = f"Every {kind}exercise of the course is solved: "
    return NextStep(words, "Home", "../home.md")
