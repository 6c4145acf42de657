"""What the demo's processes do, one function a step.

nbgrader is imported inside them: the calling process never needs it, and it takes two
seconds.
"""

from pathlib import Path

from autograder.demo.results import Result


def warm_up() -> None:
    """Import nbgrader."""
    from autograder.demo import plain_nbgrader  # noqa: F401


def release(folder: Path, lesson: str) -> None:
    """Make the learner's notebook and enter the lesson into the gradebook."""
    from autograder.demo import plain_nbgrader

    plain_nbgrader.release(folder, lesson)


def grade(folder: Path, lesson: str, student: str) -> list[Result]:
    """Grade one student's submission and write the feedback page."""
    from autograder.demo import plain_nbgrader

    results = plain_nbgrader.autograde(folder, lesson, student)
    reason = results[0].diagnosis or ""
    plain_nbgrader.feedback(folder, lesson, student, reason)
    return results


def export(folder: Path, path: Path) -> None:
    """Write the gradebook's grades as nbgrader exports them."""
    from autograder.demo import plain_nbgrader

    plain_nbgrader.export(folder, path)
