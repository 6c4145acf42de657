"""How long a class of 300 takes in a term: lessons 01 to 03 graded, fed back, exported.

    python -m tests.benchmarks term

Each step is the command as an instructor calls it, its start included. One student in
ten has everything right, the others leave an exercise out; no two answers are alike.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.demo.sample_class import (
    SampleStudent,
    answered_notebook,
    right_answer,
)
from tests.benchmarks.figure import Figure

LESSONS = ("01", "02", "03")
STUDENTS, FEW = 300, 4
KINDS = 10
NAME = "student-number"  # stands in the text where the name is to be


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    count = FEW if quick else STUDENTS
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        term = _folder(course, Path(name) / "term", count)
        figures = []
        for words in (
            *(("grade", lesson) for lesson in LESSONS),
            *(("grade", lesson) for lesson in LESSONS),
            *(("feedback", lesson) for lesson in LESSONS),
            *(("report", lesson) for lesson in LESSONS),
            *(("export", "--to", kind) for kind in ("csv", "canvas", "moodle")),
            ("export", "--to", "csv", "--drop-lowest", "1"),
        ):
            suffix = " again" if any(f.name == " ".join(words) for f in figures) else ""
            figures.append(Figure(" ".join(words) + suffix, _seconds(term, words), "s"))
        sizes = ("gradebook.db", "build/grading", "autograded", "feedback")
        for path in (*sizes, "build/report", "build/export"):
            figures.append(Figure(f"{path} of {count}", _size(term, path), "MB"))
    return figures


def _seconds(course: Course, words: tuple[str, ...]) -> float:
    start = time.perf_counter()
    subprocess.run(
        [str(Path(sys.executable).with_name("autograder")), *words],
        cwd=course.root,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def _size(course: Course, name: str) -> float:
    path = course.root / name
    files = [path] if path.is_file() else path.rglob("*")
    return sum(each.stat().st_size for each in files if each.is_file()) / 1e6


def _folder(course: Course, folder: Path, count: int) -> Course:
    """Make a course folder with so many submissions of each lesson."""
    folder.mkdir()
    shutil.copy(course.root / "nbgrader_config.py", folder)
    made = Course(folder)
    for number in LESSONS:
        lesson = course.find_lesson(number, built=True)
        made.learner(lesson).parent.mkdir(parents=True)
        shutil.copy(course.learner(lesson), made.learner(lesson))
        kinds = _kinds(course, lesson)
        for index in range(count):
            student = f"s{index:05}"
            path = folder / "submitted" / student / lesson / f"{lesson}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(kinds[index % KINDS].replace(NAME, student), "utf-8")
    return made


def _kinds(course: Course, lesson: str) -> list[str]:
    """Return ten notebooks' texts: all is right in one, the others leave something."""
    learner = nbformat.read(course.learner(lesson), as_version=4)
    names = [exercise.name for exercise in exercises_of(lesson)]
    texts = []
    for kind in range(KINDS):
        left_out = names[kind % len(names)] if kind else ""
        answers = {
            name: f"{right_answer(name)}\n# {NAME}"
            for name in names
            if name != left_out
        }
        notebook = answered_notebook(learner, SampleStudent(NAME, answers))
        texts.append(json.dumps(notebook, indent=1))
    return texts
