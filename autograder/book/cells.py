"""The cells of the first lessons that run in their pages, and what they load for it.

A cell runs if all that it imports is there, and if no name that it takes from a cell
above comes from one that does not run. The others show their stored output, with a line
on what they need.
"""

import ast
import dis
import functools
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.book.in_page.cells import names_in
from autograder.book.lessons import as_data, is_solution
from autograder.book.wheel import (
    BANKS,
    PACKAGES,
    ROOT,
    archive_of,
    exercises_that_run,
    file_of,
    files_of,
    files_of_wheel,
    imports_of,
    is_ours,
    missing_for,
)
from autograder.course.shown_code import without_assertions
from course_lib.figures.living import page_scripts

LAST = "06"  # the lessons after it are about PyTorch
FOR_CELLS = PACKAGES | {"matplotlib"}
ENTRY = "autograder.book.in_page.cells"
ARCHIVE = "lessons.zip"
VIEWS = "views"  # the folder of scripts that enliven pictures
CORPORA = "course_lib.corpora"  # what is in there needs files of data
RECORD = re.compile(r"""\brecord\.read\(["'](\w+)["']\)""")
BLOCK = re.compile(r'<div class="live-cells"><script [^>]*>(.*?)</script>', re.DOTALL)
IN_WORDS = {"torch": "PyTorch", "data": "the course's data"}


@dataclass(frozen=True)
class PageCell:
    """A code cell as its page has it.

    name : its id
    needs : what keeps it from running, in words, or ""
    draws : whether it needs matplotlib
    exercise : whether it is the answer to one, which readers write themselves
    """

    name: str
    text: str
    needs: str = ""
    draws: bool = False
    exercise: bool = False


def cells_of(notebook: NotebookNode) -> list[PageCell]:
    """Return a lesson's code cells in order, but its checks."""
    cells: list[PageCell] = []
    absent: dict[str, str] = {}  # names that cells have not here: what these need
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if is_solution(cell):
            needs = _needed_by_exercise(cell.id)
            cells.append(PageCell(cell.id, "", needs, exercise=True))
            stored = {cell.id}
        elif "nbgrader" in cell.metadata:
            continue
        else:
            text = without_assertions(cell.source)
            if not text:  # the page has no such cell
                continue
            names = names_in(text)
            modules = [*imported_in(text)]
            lacking = [
                *map(needed_by, modules),
                *(absent.get(each) for each in sorted(names)),
            ]
            needs = next(filter(None, lacking), "")
            draws = any(map(draws_with, modules))
            cells.append(PageCell(cell.id, text, needs, draws))
            stored = names_bound_in(text)
        for name in stored:
            if needs:
                absent[name] = needs
            else:
                absent.pop(name, None)
    return cells


def imported_in(text: str) -> Iterator[str]:
    """Yield the modules that a cell imports, also as parts of packages."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                if file_of(whole := f"{node.module}.{alias.name}"):
                    yield whole


def names_bound_in(text: str) -> set[str]:
    """Return the names that a cell binds for the cells below it.

    >>> sorted(names_bound_in("import a.b\\nfor c in [d for d in e]: f = 1"))
    ['a', 'c', 'f']
    """
    steps = dis.get_instructions(compile(text, "<cell>", "exec"))
    return {step.argval for step in steps if step.opname == "STORE_NAME"}


def _needed_by_exercise(name: str) -> str:
    if name in exercises_that_run():
        return ""
    bank = f"{BANKS}.{name}"
    imports = imports_of(bank)
    lacking = map(needed_by, sorted({bank, *imports.at_once, *imports.later}))
    return next(filter(None, lacking), "another package")


@functools.cache
def needed_by(module: str) -> str:
    """Return what a page lacks to import a module, in words, or ""."""
    if module.startswith(CORPORA):
        return IN_WORDS["data"]
    package = missing_for(module, FOR_CELLS)
    return IN_WORDS.get(package, f"the package {package}") if package else ""


@functools.cache
def draws_with(module: str) -> bool:
    """Return whether the import of a module loads matplotlib."""
    return bool(missing_for(module, PACKAGES)) and not missing_for(module, FOR_CELLS)


def add_cells(page: NotebookNode, lesson: str, notebook: NotebookNode) -> None:
    """Mark the cells of a lesson's page, and add what its script has to know of them.

    notebook : the lesson's
    """
    if lesson[:2] > LAST:
        return
    cells = cells_of(notebook)
    index = {cell.name: str(i) for i, cell in enumerate(cells) if not cell.exercise}
    for cell in page.cells:
        if cell.cell_type == "code" and cell.id in index:
            tags = [*cell.metadata.get("tags", ()), f"live-{index[cell.id]}"]
            cell.metadata = NotebookNode(cell.metadata | {"tags": tags})
    data = as_data({"lesson": lesson, "cells": [_as_data(cell) for cell in cells]})
    html = f'<div class="live-cells"><script type="application/json">{data}</script>'
    page.cells.append(new_markdown_cell(f"{html}</div>", id="live-cells"))


def _as_data(cell: PageCell) -> dict[str, Any]:
    if cell.exercise:
        return {"exercise": cell.name if not cell.needs else ""}
    about = {"id": cell.name, "text": cell.text}
    return about | ({"needs": cell.needs} if cell.needs else {"draws": cell.draws})


def write_cells(folder: Path, pages: Iterable[str]) -> bytes:
    """Write what cells load when they are run; return the archive of modules.

    folder : of what pages load
    pages : the texts of the book's pages
    """
    blocks = [json.loads(each) for page in pages for each in BLOCK.findall(page)]
    texts = [
        cell["text"]
        for block in blocks
        for cell in block["cells"]
        if "text" in cell and "needs" not in cell
    ]
    names = files_of_cells(texts, [block["lesson"] for block in blocks])
    data = archive_of({name: (ROOT / name).read_bytes() for name in names})
    (folder / ARCHIVE).write_bytes(data)
    shutil.rmtree(folder / VIEWS, ignore_errors=True)
    (folder / VIEWS).mkdir()
    for view, script in page_scripts():
        (folder / VIEWS / f"{view}.js").write_text(script, encoding="utf-8")
    return data


def files_of_cells(texts: Iterable[str], lessons: Iterable[str]) -> list[str]:
    """Return the files that cells need beside the wheel's: paths from the course's.

    texts : of the cells that run
    lessons : their names
    """
    texts = [*texts]
    entries = {module for text in texts for module in imported_in(text)}
    names = {*files_of([ENTRY, *filter(is_ours, entries)], FOR_CELLS)}
    for text in texts:
        names |= {
            f"course_lib/experiments/{name}.json" for name in RECORD.findall(text)
        }
    names |= {f"course_lib/figures/alternatives/{each[:2]}.json" for each in lessons}
    return sorted(names - {*files_of_wheel()})
