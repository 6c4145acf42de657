"""Run cases of the corpus as plain nbgrader would: each cell once, from top to bottom.

This knows nothing of the grading engine, so it says whether a case is honest at all.
``python -m tests.honest.in_order [CASE …]`` prints a line of JSON for each case: the
exercises that lost points. It takes two minutes for all of them.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.checking.call import local_runner
from autograder.checking.judging import judge
from autograder.checking.registry import load
from tests.honest import cases
from tests.submissions import EXERCISES, LEARNER, Submission

SLOW = ("scale_effect(", "e.variance", "figures.curves(", "timeit")
RELEASED = {cell.source for cell in LEARNER.cells}


def main(names: list[str]) -> None:
    """Run the named cases, or all, each in a process of its own."""
    for name in names or cases():
        print(json.dumps({name: _in_a_process(lambda name=name: lost(name))}))


def lost(name: str) -> list[str]:
    """Return the exercises of a case that did not get full marks."""
    submission = Submission()
    cases()[name](submission)
    raw = submission.raw or submission.text().encode()
    shell = _shell()
    checked = {}
    for source in code_of(raw):
        exercise = source.strip().removeprefix("check(").removesuffix(")")
        if exercise in EXERCISES:
            checked[exercise] = _passes(exercise, shell.user_ns.get(exercise))
        elif source not in RELEASED or not any(word in source for word in SLOW):
            shell.run_cell(source)
    return [name for name in EXERCISES if not checked.get(name)]


def code_of(raw: bytes) -> Iterator[str]:
    """Yield the sources of a file's code cells, of format 3 or 4."""
    notebook = json.loads(raw.decode("utf-8-sig"))
    sheets = notebook.get("worksheets", [notebook])
    for cell in [cell for sheet in sheets for cell in sheet["cells"]]:
        if cell["cell_type"] == "code":
            yield "".join(cell.get("source", cell.get("input", "")))


def _shell() -> InteractiveShell:
    InteractiveShell.enable_gui = lambda *_: None
    config = Config()
    config.HistoryManager.enabled = False
    return InteractiveShell.instance(config=config)


def _passes(exercise: str, answer: Any) -> bool:
    def make(names: tuple[str, ...]) -> Callable[..., Any]:
        return local_runner(answer, {name: load(name).reference for name in names}, 5.0)

    result = judge(load(exercise), make)
    return result.passed and not result.blamed


def _in_a_process(work: Callable[[], list[str]]) -> Any:
    """Do work in a fork, in an empty folder, without its output; return its result."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
        if child := os.fork():
            os.waitpid(child, 0)
            file.seek(0)
            return json.loads(file.read() or "null")
        try:
            os.chdir(folder)
            sys.path.insert(0, "")
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
            file.write(json.dumps(work()).encode())
            file.flush()
        finally:
            os._exit(0)


if __name__ == "__main__":
    # Imported before any fork, so that not every case imports them anew.
    import matplotlib.pyplot  # noqa: F401
    import torch

    from course_lib.lessons import pronoun, scale  # noqa: F401

    torch.set_num_threads(1)
    main(sys.argv[1:])
