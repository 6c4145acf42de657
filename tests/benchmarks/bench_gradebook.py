"""How long 1,000 students' grades in ten exercises take to get into the gradebook.

Nothing is graded: the verdicts are made up. The first time everything is new, the
second time nothing is, the third time one student in ten has other points. Beside it
nbgrader's own way, a grade at a time, for as few students as one can wait for: what
``nbgrader autograde`` calls after it has run a notebook.
"""

import json
import tempfile
import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.checking.registry import exercise_names
from autograder.course import Course
from autograder.gradebook.database import Gradebook
from autograder.gradebook.writing import GradebookEntry
from autograder.grading.release import CHECK
from tests.benchmarks.figure import Figure, against
from tests.plain_nbgrader.process import process

LESSON = "90_ten_exercises"
EXERCISES = 10
STUDENTS = 1000
BY_NBGRADER = 20
LIMIT = 5.0  # s
POINTS = 10.0


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    count, few = (30, 2) if quick else (STUDENTS, BY_NBGRADER)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        ten = _folder_of_ten(folder / "engine")
        book = Gradebook(ten)
        opening = _seconds(book.open_lesson, LESSON)
        entries = _entries(count)
        new, same, other = (
            _seconds(book.enter, LESSON, those)
            for those in (entries, entries, _tenth_better(entries))
        )
        reading = _seconds(book.grades, LESSON)
        theirs = _folder_of_ten(folder / "nbgrader")
        Gradebook(theirs).open_lesson(LESSON)
        with process(folder / "nbgrader.log") as pool:
            each = pool.submit(_by_nbgrader, theirs.root, few).result()
    beside = f"nbgrader's way, from {few}"
    return [
        Figure("a gradebook made, the lesson opened", opening, "s"),
        against(f"{count} students, all new", new, "s", "limit", LIMIT),
        against(f"{count} students, all new", new, "s", beside, each * count),
        against(f"{count} again, unchanged", same, "s", "all new", new),
        against(f"{count} again, a tenth changed", other, "s", "all new", new),
        Figure(f"{count} read", reading, "s"),
    ]


def _seconds(function: Any, *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _entries(count: int) -> list[GradebookEntry]:
    """Make up grades: points that differ, a comment for one student in twenty."""
    names = exercise_names()[:EXERCISES]
    return [
        GradebookEntry(
            f"s{number:05}",
            {name: float((number + index) % 11) for index, name in enumerate(names)},
            review=frozenset(names[: number % 20 == 0]),
            remarks={names[0]: "For review: the answer calls numpy.linalg.norm"}
            if number % 20 == 0
            else {},
            timestamp="2026-03-02 12:00:00 UTC",
        )
        for number in range(count)
    ]


def _tenth_better(entries: Sequence[GradebookEntry]) -> list[GradebookEntry]:
    full = dict.fromkeys(entries[0].points, POINTS + 1)
    return [
        replace(entry, points=full) if index % 10 == 0 else entry
        for index, entry in enumerate(entries)
    ]


def _folder_of_ten(root: Path) -> Course:
    """Make a course folder with a lesson of ten exercises, of which no cell runs."""
    course = Course(root)
    path = course.learner(LESSON)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(_notebook()), encoding="utf-8")
    (root / "nbgrader_config.py").write_text("c = get_config()\n", encoding="utf-8")
    return course


def _notebook() -> NotebookNode:
    cells = [new_markdown_cell("# Ten exercises", id="title")]
    for name in exercise_names()[:EXERCISES]:
        answer = new_code_cell(f"def {name}():\n    return 0.0", id=name)
        answer.metadata["nbgrader"] = _marks(name, solution=True)
        check = new_code_cell(f"check({name})", id=f"check-{name}")
        check.metadata["nbgrader"] = _marks(CHECK + name, points=POINTS)
        cells += [answer, check]
    return new_notebook(cells=cells)


def _marks(name: str, *, points: float = 0, solution: bool = False) -> dict[str, Any]:
    marks = {"grade": not solution, "grade_id": name, "locked": not solution}
    marks |= {"schema_version": 3, "solution": solution, "task": False}
    return marks if solution else marks | {"points": points}


def _by_nbgrader(root: Path, count: int) -> float:
    """Return the seconds that nbgrader takes per student; the first is not counted."""
    from nbgrader.api import Gradebook as Book
    from nbgrader.preprocessors import SaveAutoGrades

    graded = _graded(from_dict(json.loads(Course(root).learner(LESSON).read_text())))
    address = f"sqlite:///{root / 'gradebook.db'}"
    identifiers = {"assignment": LESSON, "notebook": LESSON, "db_url": address}

    def enter(student: str) -> None:
        with Book(address) as book:
            book.update_or_create_student(student)
            book.update_or_create_submission(LESSON, student)
        resources = {"nbgrader": identifiers | {"student": student}}
        SaveAutoGrades().preprocess(deepcopy(graded), resources)

    enter("the-first")
    start = time.perf_counter()
    for number in range(count):
        enter(f"s{number:05}")
    return (time.perf_counter() - start) / count


def _graded(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with what a kernel would have output below each check."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            output = {"output_type": "execute_result", "execution_count": 1}
            output |= {"metadata": {}, "data": {"text/plain": "7.0"}}
            cell.outputs = [from_dict(output)]
    return notebook
