"""The reader's home in the book, and the lessons' notebooks that its pages hand out.

What is solved is known to the reader's browser alone: ``home.js`` draws the page from
that and from what stands here. Without scripts it is a list of the lessons.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.book.lessons import Lesson
from autograder.book.live import LIVE, as_data
from autograder.book.wheel import PACKAGES, exercises_that_run
from autograder.course import Course, write_atomically
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import learner_text
from autograder.notebooks.source import LessonSource
from autograder.workspace.answer_cell import prediction_of

NOTEBOOKS = "notebooks"  # below what pages load
COURSE = "course.json"  # beside them: what `course_data` returns
HOME = '<div class="your-course">'
YOUR_NOTEBOOK = '<div class="your-notebook"'
WITHOUT_SCRIPTS = (
    "Where scripts run and the page comes from a web server, it says where to go on "
    "and what is solved: <code>make site SERVE=1</code> serves the book on your own "
    "machine."
)


def course_data(
    lessons: Sequence[Lesson],
    notebooks: Mapping[str, NotebookNode],
    packages: frozenset[str] = PACKAGES,
) -> dict[str, Any]:
    """Return what the home page is told of the lessons.

    notebooks : the lessons', by name
    packages : with which pages check answers
    """
    there = exercises_that_run(packages)
    return {
        "lessons": [
            {
                "lesson": lesson.name,
                "title": lesson.title,
                "question": lesson.question,
                "minutes": lesson.minutes or 0,
                "further": lesson.further,
                "exercises": [
                    {
                        "name": each.name,
                        "minutes": each.minutes,
                        "runs": each.name in there,
                        "optional": each.name in lesson.optional,
                    }
                    for each in lesson.exercises
                ],
                "predictions": sum(
                    bool(prediction_of(cell)) for cell in notebooks[lesson.name].cells
                ),
            }
            for lesson in lessons
        ]
    }


def home_page(data: Mapping[str, Any]) -> str:
    """Return the page in Markdown; data : of the course, as ``course_data`` has it."""
    links = "".join(
        f'<li><a href="{each["lesson"]}/{each["lesson"]}.html">'
        f"{escape(heading(each))}</a></li>"
        for each in data["lessons"]
    )
    block = f'<script type="application/json">{as_data(dict(data))}</script>'
    return (
        "---\norphan: true\n---\n\n# Your course\n\n"
        f"{HOME}{block}<p>{WITHOUT_SCRIPTS}</p><ul>{links}</ul></div>\n"
    )


def heading(lesson: Mapping[str, Any]) -> str:
    """Return number and title, such as ``01 Dot-product attention``."""
    return f"{lesson['lesson'].partition('_')[0]} {lesson['title']}"


def your_notebook(lesson: Lesson) -> NotebookNode:
    """Return the cell of a lesson's page in which readers get their notebook."""
    html = f'{YOUR_NOTEBOOK} data-lesson="{escape(lesson.name)}"></div>'
    return new_markdown_cell(html, id="your-notebook")


def write_notebooks(course: Course, data: Mapping[str, Any], site: Path) -> None:
    """Write the learner's notebooks into a site, and the course's data beside them.

    They are those that ``work/`` is made of; one that is not built is made here.

    Raises ``CourseError`` if nbgrader refuses one.
    """
    folder = site / LIVE / NOTEBOOKS
    folder.mkdir(parents=True, exist_ok=True)
    names = [each["lesson"] for each in data["lessons"]]
    for name in names:
        path = course.learner(name)
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
        else:
            teacher = teacher_notebook(LessonSource(course.source(name)))
            text = learner_text(course.root, name, teacher)
            write_atomically(folder / path.name, text)
    for path in folder.glob("*.ipynb"):
        if path.stem not in names:
            path.unlink()
    write_atomically(folder.parent / COURSE, json.dumps(data, indent=1) + "\n")
