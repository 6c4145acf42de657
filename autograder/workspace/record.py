"""A record of what somebody who learns alone has solved, which others can check again.

``autograder record`` writes it: a page to show and the same as JSON, with each answer
and its digest. ``autograder verify`` judges the answers again, on inputs of its own. A
record says that this code solves these exercises, no more: not who wrote it, nor when,
since the dates are those of its owner's machine.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from autograder.course import Course, CourseError, write_together
from autograder.course.releases import (
    METADATA_KEY,
    cell_digest,
    kept_cells,
    nbgrader_marks,
)
from autograder.workspace.copies import Copy
from autograder.workspace.home import Home
from autograder.workspace.installed import PROJECT, version
from autograder.workspace.outline import LessonOutline
from autograder.workspace.progress import now

FORMAT, FORMAT_VERSION = f"{PROJECT}/record", 1
JSON_FILE, PAGE_FILE = "record.json", "record.html"
MAX_BYTES = 20 << 20
NOTHING = (
    "there is no solved exercise yet whose answer is in work/: solve one, call check "
    "on it, and call again"
)
SAYS = (
    "This record says that the code in it solves these exercises. It does not say who "
    "wrote the code, and its dates are those of the machine that it was written on."
)
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 46rem;
       padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; margin: 0 0 1.5rem; }}
caption {{ font-weight: 600; text-align: left; padding: .5rem 0; }}
th, td {{ text-align: left; padding: .25rem .5rem; border-top: 1px solid #8888; }}
td:last-child, th:last-child {{ text-align: right; white-space: nowrap; }}
code {{ overflow-wrap: anywhere; }}
pre {{ overflow-x: auto; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{summary}</p>
{tables}
<h2>To check it</h2>
<p>{says} Whoever has the file <code>{file}</code> that belongs to this page can judge
every answer in it again, on a machine with Linux and without a network:</p>
<pre><code>pip install 'attention-course[grade,torch]=={version}'
autograder verify {file}</code></pre>
<p>Both are of the same making if the command prints this digest:
<code>{digest}</code></p>
</main>
</body>
</html>
"""


@dataclass(frozen=True)
class RecordedLesson:
    """A lesson's part of a record.

    release : name of the release that the learner's notebook is of
    solved : when each exercise was solved, ISO 8601 in UTC
    answers : the solved exercises' sources
    cells : what the learner has written, in the notebook's order: each source with the
        exercise that it answers, or with ""
    """

    lesson: str
    heading: str
    release: str
    solved: Mapping[str, str]
    cells: Sequence[tuple[str, str]]

    @property
    def answers(self) -> dict[str, str]:
        """The sources that answer a solved exercise."""
        return {name: text for name, text in self.cells if name in self.solved}

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it, each exercise with the digest of its answer."""
        answers = self.answers
        return {
            "lesson": self.lesson,
            "heading": self.heading,
            "release": self.release,
            "exercises": [
                {"exercise": name, "solved": time, "sha256": _sha256(answers[name])}
                for name, time in self.solved.items()
            ],
            "cells": [{"exercise": name, "source": text} for name, text in self.cells],
        }

    def notebook(self) -> str:
        """Return a notebook of these cells alone, as a submission may be."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "id": f"cell-{index}",
                "metadata": {"nbgrader": nbgrader_marks(name)} if name else {},
                "execution_count": None,
                "outputs": [],
                "source": text,
            }
            for index, (name, text) in enumerate(self.cells)
        ]
        return json.dumps(
            {
                "cells": cells,
                "metadata": {METADATA_KEY: self.release},
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        )


@dataclass(frozen=True)
class CompletionRecord:
    """A record.

    name : whose it is, in their own words; "" for nobody's
    made : when, ISO 8601 in UTC
    by : version of the course that made it
    """

    lessons: Sequence[RecordedLesson]
    name: str = ""
    made: str = ""
    by: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the name and the lessons."""
        content = [self.name, *(each.as_data() for each in self.lessons)]
        return _sha256(json.dumps(content, sort_keys=True))

    def as_json(self) -> str:
        """Return it as text."""
        data = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "course_version": self.by,
            "name": self.name,
            "made": self.made,
            "digest": self.digest,
            "lessons": [each.as_data() for each in self.lessons],
        }
        return json.dumps(data, indent=1) + "\n"

    def page(self) -> str:
        """Return it as a page without scripts, which loads nothing."""
        n_solved = sum(len(each.solved) for each in self.lessons)
        times = (time for each in self.lessons for time in each.solved.values())
        days = sorted({time[:10] for time in times})
        when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
        title = "Exercises solved" + (f": {self.name}" if self.name else "")
        exercises = f"{n_solved} exercise{'' if n_solved == 1 else 's'}"
        return PAGE.format(
            title=escape(title),
            summary=escape(
                f"{exercises} of a course on attention and Transformers, solved {when}."
            ),
            tables="\n".join(map(_table, self.lessons)),
            says=escape(SAYS),
            file=JSON_FILE,
            version=escape(self.by),
            digest=self.digest,
        )


def _table(lesson: RecordedLesson) -> str:
    rows = "\n".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(time[:10])}</td></tr>"
        for name, time in lesson.solved.items()
    )
    return (
        f"<table>\n<caption>{escape(lesson.heading)}</caption>\n"
        '<tr><th scope="col">exercise</th><th scope="col">solved</th></tr>\n'
        f"{rows}\n</table>"
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- making one ---------------------------------------------------------------------


def record_of(course: Course, name: str = "") -> CompletionRecord:
    """Return the record of a learner's folder.

    An exercise is in it if a check has found it solved, its answer is there, and the
    course's version was not taken in place of it.

    Raises ``CourseError`` if there is none, or a notebook cannot be read.
    """
    home = Home.of(course)
    known = kept_cells(course)
    lessons = (
        _lesson(Copy(course, each.lesson), each, home, known) for each in home.lessons
    )
    solved = [lesson for lesson in lessons if lesson.solved]
    if not solved:
        raise CourseError(NOTHING)
    return CompletionRecord(solved, name.strip(), now(), version())


def _lesson(
    copy: Copy, outline: LessonOutline, home: Home, known: frozenset[str]
) -> RecordedLesson:
    notebook = _read(copy) if copy.mine.is_file() else {"cells": [], "metadata": {}}
    ours = known | {cell_digest(_source(c)) for c in _read_lesson(copy)["cells"]}
    names = {each.name for each in outline.exercises}
    cells = []
    for cell in notebook["cells"]:
        text = _source(cell)
        if cell.get("cell_type") != "code" or cell_digest(text) in ours:
            continue
        marks = cell.get("metadata", {}).get("nbgrader", {})
        exercise = marks.get("grade_id", "") if marks.get("solution") else ""
        cells.append((exercise if exercise in names else "", text))
    answered = {name for name, _ in cells}
    solved = {
        each.name: progress.solved
        for each in outline.exercises
        if (progress := home.progress.get(each.name))
        and progress.solved
        and not progress.put_off
        and each.name in answered
    }
    release = str(notebook["metadata"].get(METADATA_KEY, ""))
    return RecordedLesson(outline.lesson, outline.heading, release, solved, cells)


def _read(copy: Copy) -> dict[str, Any]:
    """Return a learner's notebook; raises ``CourseError`` if it is none."""
    try:
        notebook = json.loads(copy.mine.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            _source(cell)
        notebook["metadata"].get("")
    except OSError as error:
        raise CourseError(
            f"{copy.relative(copy.mine)} cannot be read ({error.strerror})"
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CourseError(
            f"{copy.relative(copy.mine)} is no notebook any more: put it right, or "
            "move it away, and call again"
        ) from None
    return dict(notebook)


def _read_lesson(copy: Copy) -> dict[str, Any]:
    return dict(json.loads(copy.newer.read_text(encoding="utf-8")))


def _source(cell: Mapping[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def write_record(folder: Path, record: CompletionRecord) -> None:
    """Write page and JSON, both or none; raises ``CourseError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            folder / JSON_FILE: record.as_json(),
            folder / PAGE_FILE: record.page(),
        }
        write_together(texts)
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} could not be written ({error.strerror}): "
            "nothing has changed. Name another folder with --folder"
        ) from None


# --- reading one, which may be anybody's --------------------------------------------


def read_record(path: Path) -> CompletionRecord:
    """Return the record in a file that is not trusted.

    Raises ``CourseError`` if it is none, of a newer form, or its digests do not fit.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError
        if data["version"] != FORMAT_VERSION:
            raise CourseError(
                f"{path.name} is a record of form {data['version']!r}, and this "
                f"{PROJECT} reads form {FORMAT_VERSION}: install a newer one"
            )
        lessons = [_lesson_from(each) for each in data["lessons"]]
        record = CompletionRecord(
            lessons, *(str(data[each]) for each in ("name", "made", "course_version"))
        )
        stated = {
            (lesson["lesson"], each["exercise"]): each["sha256"]
            for lesson in data["lessons"]
            for each in lesson["exercises"]
        }
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CourseError(
            f"{path.name} is no record of {PROJECT}: it is the file {JSON_FILE} that "
            "`autograder record` writes"
        ) from None
    for lesson in lessons:
        for name, answer in lesson.answers.items():
            if stated[lesson.lesson, name] != _sha256(answer):
                raise CourseError(
                    f"{path.name}: the answer to {name} is not the one whose digest is "
                    "recorded; somebody has changed it"
                )
    if data["digest"] != record.digest:
        raise CourseError(
            f"{path.name}: its digest does not fit what is in it; somebody has "
            "changed it"
        )
    return record


def _lesson_from(data: Mapping[str, Any]) -> RecordedLesson:
    """Return a lesson of a record; raises what odd data raises."""
    solved = {str(e["exercise"]): str(e["solved"]) for e in data["exercises"]}
    cells = [(str(each["exercise"]), str(each["source"])) for each in data["cells"]]
    lesson = RecordedLesson(
        str(data["lesson"]), str(data["heading"]), str(data["release"]), solved, cells
    )
    if solved.keys() - lesson.answers.keys():
        raise ValueError("a solved exercise without an answer")
    return lesson
