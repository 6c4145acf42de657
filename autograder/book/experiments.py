"""The recorded experiments in the book: what they do, how to repeat them, source."""

import ast
import re
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import course_lib.experiments
from autograder.notebooks.citations import with_links

FOLDER = Path(course_lib.experiments.__file__).parent
IMPORT = re.compile(r"^from course_lib\.experiments import (.+)$", re.MULTILINE)


def experiments_of(notebook: NotebookNode) -> list[str]:
    """Return the names of the recorded experiments that a lesson's cells import."""
    names = [
        name.strip()
        for cell in notebook.cells
        if cell.cell_type == "code"
        for line in IMPORT.findall(cell.source)
        for name in line.split(",")
    ]
    return [name for name in dict.fromkeys(names) if _is_recorded(name)]


def _is_recorded(name: str) -> bool:
    """Decide whether a module is an experiment: others help to show its record."""
    return (FOLDER / f"{name}.py").is_file() and (FOLDER / f"{name}.json").is_file()


def experiment_page(name: str) -> str:
    """Return an experiment's page in Markdown; only lessons lead to it."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    about = with_links(ast.get_docstring(ast.parse(source)) or "").replace("``", "`")
    return (
        f"---\norphan: true\n---\n\n# {name}\n\n{about}\n\n"
        "Its record of several seeds is kept in "
        f"`course_lib/experiments/{name}.json`. This makes it anew:\n\n"
        f"```console\npython -m course_lib.experiments {name}\n```\n\n"
        f"## Source\n\n```python\n{source}```\n"
    )


def links_to_experiments(names: list[str]) -> NotebookNode:
    """Return the cell that closes a lesson's page and leads to its experiments."""
    links = ", ".join(f"[{name}](../experiments/{name}.md)" for name in names)
    text = f"**Recorded experiments of this lesson**, with their source: {links}."
    return new_markdown_cell(text, id="recorded-experiments")
