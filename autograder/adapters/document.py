"""A submission's verdicts as one JSON document, for programs that show or store them.

``autograder judge --json`` prints it; ``docs/judgement.schema.json`` says what may be
in it, and ``docs/judgement.md`` what it means. What a student may read stands apart
from what is ``for_instructors``. Neither has the seed, or the input of a hidden case.

Texts are as on a feedback page: what cannot be seen in them is spelled out. They are
plain text, with names of code between backticks, and untrusted where they quote.
"""

from typing import Any, Literal

from autograder.checking.exercise import Misconception
from autograder.checking.registry import load
from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.gradebook.safe_html import visible
from autograder.grading.release import can_judge
from autograder.grading.result import SubmissionResult
from autograder.workspace.installed import PROJECT, version

FORMAT = f"{PROJECT}/judgement"
FORMAT_VERSION = 1  # changes when a field means something else, or is gone
DIGITS = 4  # of points: cases share them by weight

Status = Literal[
    "solved", "fine_points_open", "not_solved", "not_written", "not_judged"
]
Counts = Literal["yes", "on_top", "excused", "dropped", "left_out"]


def document(
    result: SubmissionResult, *, file: str = "", seconds: float | None = None
) -> dict[str, Any]:
    """Return the document of a submission.

    file : the name under which it was handed in, "" if that is not known
    seconds : that judging took; None if it was not judged now, nor is it recorded
    """
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "course_version": version(),
        "lesson": result.lesson,
        "release": result.release,
        "student": visible(result.student),
        "file": visible(file),
        "status": result.status,
        "reason": visible(result.reason),
        "points": _points(result.points),
        "max_points": _points(result.max_points),
        "exercises": [_exercise(result, each) for each in result.exercises],
        "repairs": [*map(visible, result.repairs)],
        "troubles": [*map(visible, result.troubles)],
        "seconds": None if seconds is None else round(seconds, 3),
    }


def status_of(result: SubmissionResult, exercise: ExerciseResult) -> Status:
    """Return what has become of an exercise, in a word."""
    if result.status == "invalid":
        return "not_judged"
    if exercise.is_unwritten:
        return "not_written"
    if exercise.solved:
        return "fine_points_open" if exercise.open_fine_points else "solved"
    return "not_solved"


def _exercise(result: SubmissionResult, exercise: ExerciseResult) -> dict[str, Any]:
    name = exercise.exercise
    named = _named(exercise)
    return {
        "exercise": name,
        "status": status_of(result, exercise),
        "points": _points(exercise.points),
        "max_points": _points(exercise.max_points),
        "counts": _counts(result, name),
        "diagnosis": [
            {
                "name": each.name,
                "sentence": visible(each.diagnosis),
                "question": visible(each.question),
            }
            for each in named
        ],
        "evidence": visible(exercise.evidence),
        "blamed": [*exercise.blamed],
        "claims": [_claim(each) for each in exercise.claims],
        "fine_points": [_claim(each) for each in exercise.fine_points],
        "report": visible(exercise.report),
        "for_instructors": {
            "flags": [
                {
                    "calls": visible(flag.what),
                    "line": visible(flag.line),
                    "by": "answer" if flag.exercise else "notebook",
                }
                for flag in exercise.flags
            ],
            "as_in_solutions": exercise.as_in_solutions,
        },
    }


def _counts(result: SubmissionResult, name: str) -> Counts:
    """Return how an exercise counts for a submission's points."""
    if name in result.excused:  # its release had none, or what is missing is excused
        return "excused"
    if name in result.dropped:
        return "dropped"
    if name in result.left_out:
        return "left_out"
    return "on_top" if name in result.optional else "yes"


def _named(exercise: ExerciseResult) -> list[Misconception]:
    """Return the misconceptions in the diagnosis, as far as they are known today."""
    if not exercise.misconceptions or not can_judge(exercise.exercise):
        return []
    bank = {each.name: each for each in load(exercise.exercise).misconceptions}
    return [bank[name] for name in exercise.misconceptions if name in bank]


def _claim(case: CaseVerdict) -> dict[str, Any]:
    return {
        "name": case.case,
        "claim": visible(case.claim),
        "status": case.status,
        "points": _points(case.points),
        "max_points": _points(case.max_points),
        "hidden": not case.visible,
        "why": visible(case.why),
    }


def _points(points: float) -> float:
    return round(float(points), DIGITS)
