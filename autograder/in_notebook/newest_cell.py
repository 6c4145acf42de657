"""Whether ``check`` judges what the learner has written last.

A function stays what it was until its cell runs without an error: after a slip in it,
or an edit without a run, ``check`` would judge the version before in silence.
"""

import functools
import json
import linecache
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from autograder.checking.call import plain_function
from autograder.messages.report import sentence_html
from autograder.messages.stopped import lasting_names, missing_package, unreadable


class RunCell(NamedTuple):
    """A cell that has run: its text, when it ended, and whether without an error."""

    text: str
    time: float
    succeeded: bool


_run_cells: list[RunCell] = []  # since ``watch_cells``


def watch_cells(also: Callable[[str], None]) -> None:
    """Note from now on which cells run; without effect outside Jupyter.

    also : is called with the text of each that ran without an error
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and hasattr(shell, "kernel"):
        shell.events.register("post_run_cell", functools.partial(_note, also))
        shell.set_custom_exc((ModuleNotFoundError,), _show_missing)


def _show_missing(
    shell: Any, kind: type, error: BaseException, traceback: Any, tb_offset: Any = None
) -> None:
    """Show what to do about a package that was left for later; no traceback."""
    if sentence := missing_package(error):
        show(sentence)
        words = f"{kind.__name__}: {error}"
        error._render_traceback_ = lambda: [words]  # type: ignore[attr-defined]
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def _note(also: Callable[[str], None], result: Any) -> None:
    if isinstance(result.error_before_exec, SyntaxError):
        show(unreadable(result.error_before_exec))
    text = getattr(result.info, "raw_cell", None)
    if isinstance(text, str):
        cell = RunCell(text.strip(), time.time(), bool(result.success))
        _run_cells.append(cell)
        if cell.succeeded:
            also(cell.text)


def defining_text(answer: Any) -> str:
    """Return the text of the cell or file that defines an answer, "" if unknown."""
    code = getattr(plain_function(answer), "__code__", None)
    return "".join(linecache.getlines(code.co_filename)) if code else ""


def defining_cell(answer: Any) -> str:
    """Return the text of the cell that defines an answer, "" if none has run.

    JupyterLab marks a report whose cell has got another text since.
    """
    judged = defining_text(answer).strip()
    return judged if any(cell.text == judged for cell in _run_cells) else ""


def older_version(name: str, answer: Any) -> str:
    """Return a sentence if there is a newer version of an answer, else ""."""
    judged = defining_text(answer).strip()
    definition = re.compile(rf"^def {re.escape(name)}\b", re.MULTILINE)
    if not definition.search(judged):
        return ""
    defining = [cell for cell in _run_cells if definition.search(cell.text)]
    if not defining:
        return ""
    newest = defining[-1]
    if newest.text != judged and not newest.succeeded:
        return (
            f"The newest cell with `{name}` stopped with an error, so this is about "
            "the version before it. Fix that cell and run it, then this one."
        )
    if newest.text == judged and not newest.succeeded:
        return (
            f"The cell with `{name}` stopped with an error, so only a part of it has "
            "run. Fix that cell and run it, then this one."
        )
    if newest.text == judged and _is_edited(definition, newest):
        return (
            f"The saved notebook holds a newer `{name}` that has not run yet: this is "
            "about the version before it. Run its cell, then this one."
        )
    return ""


def show(sentence: str) -> None:
    """Show a sentence below a cell's outputs."""
    from IPython.display import display

    page = f'<p class="attention-stopped">{sentence_html(sentence)}</p>'
    display({"text/plain": sentence, "text/html": page}, raw=True)


def is_bound_above(name: str, answer: Any) -> bool:
    """Decide whether a cell above an answer's imports or defines a name.

    That is read from the notebook as it was saved.
    """
    judged = defining_cell(answer)
    texts = _saved_cells()
    above = texts[: texts.index(judged)] if judged in texts else texts
    return name in lasting_names(above)


def _saved_cells() -> list[str]:
    """Return the code cells of the notebook as it was saved; none if it is unknown."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    try:
        if path.suffix != ".ipynb":
            return []
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return ["".join(each["source"]).strip() for each in cells if _is_code(each)]
    except (OSError, ValueError, LookupError, TypeError):  # somebody else's file
        return []


def _is_edited(definition: re.Pattern[str], newest: RunCell) -> bool:
    """Decide whether the notebook was saved with another text after a cell had run."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    try:
        if path.suffix != ".ipynb" or path.stat().st_mtime < newest.time:
            return False
    except OSError:
        return False
    saved = [text for text in _saved_cells() if definition.search(text)]
    return bool(saved) and newest.text not in saved


def _is_code(cell: Any) -> bool:
    return bool(cell["cell_type"] == "code")
