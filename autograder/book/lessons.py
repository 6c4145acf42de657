"""A lesson as a page of the book: its executed notebook, made for reading.

The page shows of an exercise what a learner gets, and folds the solution. The line of
links between notebooks goes, since the book has its own navigation.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.checking.exercise import Exercise
from autograder.course.releases import ANSWER_KEY
from autograder.course.shown_code import without_assertions
from autograder.notebooks.source import BEGIN, END
from autograder.workspace.answer_cell import prediction_of
from autograder.workspace.outline import TITLE, outline_cell, outline_of

HOME_LINE = re.compile(r"^\[[^\]]*\]\([^)]*home\.md\).*\n*", re.MULTILINE)
# What a lesson says only to those who have cells to run.
IN_NOTEBOOK = re.compile(
    r'(?:(?<=\S)\s)?<span class="in-notebook">.*?</span>', re.DOTALL
)
EMPTY_ITEM = re.compile(r"^-(?:\n|\Z)", re.MULTILINE)
SPECIAL = re.compile("[<>&]")  # what would end a data block of a page
STUB = "raise NotImplementedError"  # of the body, as texts and checks call it
MADE_POSSIBLE = re.compile(r'<p class="attention-possible">.*?</p>', re.DOTALL)
HEADING = re.compile(r"^### Exercise: (\w+)(?: · (.+))?$", re.MULTILINE)
# In a text, what a mention of a lesson must not stand in: code, formulas, links, tags.
NOT_PROSE = (
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|\[[^\]]*\]\([^)]*\)|<[^>]*>|^#.*?$"
)
MENTION = r"\b[Ll]essons?\s\d\d(?:(?:,|,?\s(?:to|and|or))\s\d\d)*\b"
PROSE = re.compile(f"({NOT_PROSE})|({MENTION})", re.DOTALL | re.MULTILINE)
NOTEBOOK_LINK = re.compile(r"(?:\.\./)*(?P<lesson>\d\d\w*)/(?P=lesson)\.ipynb")
LINK_TO_NOTEBOOK = re.compile(rf"\[([^\]]*)\]\({NOTEBOOK_LINK.pattern}(#[^)]*)?\)")


@dataclass(frozen=True)
class Lesson:
    """What the book says about a lesson.

    name : the folder's
    question : the one it answers, or "" if it names none
    minutes : how long a first reader needs for the core, or None if it does not say
    further : how long *Going further* takes, 0 without one
    optional : names of the exercises in it
    """

    name: str
    title: str
    question: str
    minutes: int | None
    exercises: tuple[Exercise, ...]
    further: int = 0
    optional: frozenset[str] = frozenset()

    @property
    def required(self) -> tuple[Exercise, ...]:
        """The exercises of the core."""
        return tuple(each for each in self.exercises if each.name not in self.optional)

    @property
    def number(self) -> str:
        """The digits that the name begins with."""
        return self.name.partition("_")[0]

    @property
    def page(self) -> str:
        """The page's name, from the book's root, without a suffix."""
        return f"{self.name}/{self.name}"

    @property
    def points(self) -> float:
        """Points of the core's exercises together."""
        return sum(exercise.points for exercise in self.required)


def read_lesson(
    name: str, notebook: NotebookNode, exercises: Mapping[str, Exercise]
) -> Lesson:
    """Return what a lesson's first cell and its exercises say about it.

    exercises : of the whole course, by name

    Raises ``ValueError`` if the first cell has no title.
    """
    cells = [outline_cell(cell, cell.id) for cell in notebook.cells]
    if not TITLE.search(notebook.cells[0].source):
        raise ValueError(
            f"{name}: the first cell has no title, a line that begins '# '"
        )
    outline = outline_of(name, cells)
    own = [exercises[cell.id] for cell in notebook.cells if is_solution(cell)]
    return Lesson(
        name=name,
        title=outline.title,
        question=outline.question,
        minutes=outline.minutes or None,
        exercises=tuple(own),
        further=outline.further,
        optional=frozenset(each.name for each in outline.optional),
    )


def lesson_page(notebook: NotebookNode, lessons: Collection[str]) -> NotebookNode:
    """Return a notebook's cells as they stand in the book; the notebook stays as it is.

    lessons : names of those that have a page
    """
    page = NotebookNode(notebook | {"cells": []})
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = prose(for_reading(HOME_LINE.sub("", cell.source)), lessons)
            text = HEADING.sub(_heading, text)
            if prediction := prediction_of(cell):
                tells = cell.metadata[ANSWER_KEY].get("tells", False)
                text = _prediction(text, cell.id, prediction["right"], tells)
            if text.strip():
                page.cells.append(new_markdown_cell(text, id=cell.id))
        elif is_solution(cell):
            text = f"{contract(cell.source)}\n{folded_solution(cell.source)}"
            page.cells.append(new_markdown_cell(text, id=cell.id))
        elif broken := cell.metadata.get(ANSWER_KEY, {}).get("mend"):
            text = f"```python\n{broken}\n```\n\n{_folded('Mended', cell.source)}"
            page.cells.append(new_markdown_cell(text, id=cell.id))
        elif without_assertions(cell.source):
            page.cells.append(_with_links_to_pages(cell, lessons))
    return page


def hints(notebook: NotebookNode, name: str, lessons: Collection[str]) -> str:
    """Return what stands below an exercise's heading: what to do, and folded hints.

    Raises ``ValueError`` if the notebook has no such heading.
    """
    for cell in notebook.cells:
        heading = HEADING.search(cell.source)
        if cell.cell_type == "markdown" and heading and heading[1] == name:
            _, _, below = cell.source[heading.start() :].partition("\n")
            return prose(for_reading(below).strip("\n"), lessons)
    raise ValueError(f"there is no heading '### Exercise: {name}'")


def solution_cell(notebook: NotebookNode, name: str) -> str:
    """Return the text of the cell that answers an exercise, with the marks in it."""
    for cell in notebook.cells:
        if cell.id == name and is_solution(cell):
            return cell.source
    raise ValueError(f"there is no cell that answers {name}")


def contract(source: str) -> str:
    """Return what an answer must do, in Markdown: the text up to the solution.

    source : the cell, with nbgrader's marks around the body
    """
    return f"```python\n{_parts(source)[0]}\n    {STUB}\n```\n"


def folded_solution(source: str) -> str:
    """Return the solution in Markdown, folded and without the docstring.

    source : the cell, with nbgrader's marks around the body
    """
    above, body = _parts(source)
    return _folded("Solution", f"{_without_docstring(above)}\n{body}")


def _folded(summary: str, code: str) -> str:
    return (
        f'<details class="solution"><summary>{summary}</summary>\n\n'
        f"```python\n{code}\n```\n\n</details>\n"
    )


def text_above_solution(source: str) -> str:
    """Return what stands above the solution in an answer's cell."""
    return _parts(source)[0]


def _parts(source: str) -> tuple[str, str]:
    """Return what stands above the solution, and the solution."""
    above, _, rest = source.partition(f"\n{BEGIN}\n")
    return above, rest.partition(f"\n{END}")[0]


def for_reading(text: str) -> str:
    r"""Return a text of a lesson without what it says only of running cells.

    >>> for_reading('Look<span class="in-notebook"> and run the cell</span>.')
    'Look.'
    >>> for_reading('- <span class="in-notebook">Run a cell.</span>\n- Read.')
    '- Read.'
    """
    return EMPTY_ITEM.sub("", IN_NOTEBOOK.sub("", text)).strip()


def prose(text: str, lessons: Collection[str]) -> str:
    """Return a text of a lesson in which mentions of lessons lead to their pages.

    A link to a notebook without a page becomes its words.

    >>> prose("See `lesson 01` and lesson 02.", ["02_self_attention"])
    'See `lesson 01` and [lesson 02](../02_self_attention/02_self_attention.ipynb).'
    """
    by_number = {name[:2]: name for name in lessons}

    def known(link: re.Match[str]) -> str:
        return link[0] if link["lesson"] in lessons else link[1]

    def linked(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        words = match[2]
        # A single lesson is a link of two words; of several, each number is one.
        pattern = r"\d\d" if len(re.findall(r"\d\d", words)) > 1 else r"(?s:.+)"
        return re.sub(pattern, lambda each: _link(each, by_number), words)

    return PROSE.sub(linked, LINK_TO_NOTEBOOK.sub(known, text))


def _link(words: re.Match[str], by_number: Mapping[str, str]) -> str:
    name = by_number.get(words[0][-2:])
    return f"[{words[0]}](../{name}/{name}.ipynb)" if name else words[0]


def _with_links_to_pages(cell: NotebookNode, lessons: Collection[str]) -> NotebookNode:
    """Return a code cell whose outputs lead to pages where they led to notebooks.

    Of an output that has HTML, nothing else is kept. What a report says to whoever has
    solved an exercise is left out: a reader has not. Assertions are for the author, and
    code that tells the answer to a prediction has a tag for the page's script.
    """

    def page(link: re.Match[str]) -> str:
        name = link["lesson"]
        return f"../{name}/{name}.html" if name in lessons else link[0]

    outputs = []
    for output in cell.outputs:
        if html := output.get("data", {}).get("text/html"):
            html = NOTEBOOK_LINK.sub(page, MADE_POSSIBLE.sub("", html))
            data = NotebookNode({"text/html": html})
            output = NotebookNode(output | {"data": data})
        outputs.append(output)
    changed = {"outputs": outputs, "source": without_assertions(cell.source)}
    if cell.metadata.get(ANSWER_KEY, {}).get("tells"):
        changed["metadata"] = cell.metadata | {"tags": ["tells"]}
    return NotebookNode(cell | changed)


def _heading(match: re.Match[str]) -> str:
    """Return an exercise's heading, short, and what else stood in it below."""
    name, facts = match[1], match[2] or ""
    own_page = f"[on a page of its own](../exercises/{name}.md)"
    below = " · ".join([facts, own_page] if facts else [own_page])
    return f"### Exercise: {name}\n\n{below}"


def _prediction(text: str, name: str, right: int, tells: bool) -> str:
    """Mark the list of options that ends a text, for the page's script.

    tells : whether what stands above the question tells the answer to the prediction
        before it; otherwise it belongs to this one, and is never covered
    """
    above, _, options = text.rpartition("\n\n")
    if not tells and "\n\n" in above and not re.search("^#", above, re.MULTILINE):
        above = f'<div class="premise">\n\n{above}\n\n</div>'
    mark = f'<div class="prediction" data-name="{name}" data-right="{right}">'
    return f"{above}\n\n{mark}\n\n{options}\n\n</div>"


def is_solution(cell: NotebookNode) -> bool:
    """Return whether a cell is the answer to an exercise."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def _without_docstring(contract: str) -> str:
    """Return the line or lines of ``def``, and what else stands above the docstring.

    >>> _without_docstring('def f(x):\\n    \"\"\"Return x.\"\"\"')
    'def f(x):'
    """
    return re.split(r'\n\s+[rR]?"""', contract, maxsplit=1)[0]


def as_data(about: dict[str, Any]) -> str:
    r"""Return data as JSON that can stand in a page, on one line.

    >>> as_data({"text": "</script>"})
    '{"text": "\\u003c/script\\u003e"}'
    """
    return SPECIAL.sub(lambda mark: f"\\u{ord(mark[0]):04x}", json.dumps(about))
