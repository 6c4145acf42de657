"""Whether ``check`` judges what the learner has written last.

A function stays what it was until its cell runs without an error: after a slip in it,
or an edit without a run, ``check`` would judge the version before in silence.
"""

import json
import linecache
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from autograder.checking.call import plain_function


class RunCell(NamedTuple):
    """A cell that has run: its text, when it ended, and whether without an error."""

    text: str
    time: float
    succeeded: bool


_run_cells: list[RunCell] = []  # since ``watch_cells``


def watch_cells() -> None:
    """Note from now on which cells run; without effect outside Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and hasattr(shell, "kernel"):
        shell.events.register("post_run_cell", _note)


def _note(result: Any) -> None:
    text = getattr(result.info, "raw_cell", None)
    if isinstance(text, str):
        _run_cells.append(RunCell(text.strip(), time.time(), bool(result.success)))


def defining_cell(answer: Any) -> str:
    """Return the text of the cell that defines an answer, "" if none has run.

    JupyterLab marks a report whose cell has got another text since.
    """
    code = getattr(plain_function(answer), "__code__", None)
    judged = "".join(linecache.getlines(code.co_filename)).strip() if code else ""
    return judged if any(cell.text == judged for cell in _run_cells) else ""


def older_version(name: str, answer: Any) -> str:
    """Return a sentence if there is a newer version of an answer, else ""."""
    code = getattr(plain_function(answer), "__code__", None)
    judged = "".join(linecache.getlines(code.co_filename)).strip() if code else ""
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
    if newest.text == judged and _is_edited(definition, newest):
        return (
            f"The saved notebook holds a newer `{name}` that has not run yet: this is "
            "about the version before it. Run its cell, then this one."
        )
    return ""


def _is_edited(definition: re.Pattern[str], newest: RunCell) -> bool:
    """Decide whether the notebook was saved with another text after a cell had run."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    try:
        if path.suffix != ".ipynb" or path.stat().st_mtime < newest.time:
            return False
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(each["source"]) for each in cells if _is_code(each)]
    except (OSError, ValueError, LookupError, TypeError):  # somebody else's file
        return False
    saved = [text.strip() for text in texts if definition.search(text)]
    return bool(saved) and newest.text not in saved


def _is_code(cell: Any) -> bool:
    return bool(cell["cell_type"] == "code")
