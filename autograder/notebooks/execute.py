"""Run the cells of a teacher's notebook, the same way on every machine.

A cell that fails, takes too long or writes to stderr is refused with its line in the
lesson's source. Nothing here writes a notebook.
"""

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.course import CourseError
from autograder.notebooks.source import LessonSource
from course_lib.figures.alternatives import VARIABLE
from course_lib.lessons.own_words import APART

CELL_TIMEOUT = 300  # seconds; what trains longer belongs into an experiment
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def execute(notebook: NotebookNode, source: LessonSource, root: Path) -> None:
    """Run a teacher's notebook in place; raises ``SourceError`` at the first bad cell.

    notebook : one cell for each cell of the source
    root : the folder that the cells run in
    """
    running, metadata = source.cells[0], dict(notebook.metadata)

    def start(cell: NotebookNode, cell_index: int) -> None:
        nonlocal running
        running = source.cells[cell_index]

    try:
        with (
            _environment(source.texts) as folder,
            asyncio.Runner(loop_factory=_Loop) as runner,
        ):
            runner.run(_run(_client(notebook, root, folder, start), folder))
    except CellExecutionError as error:
        what = f"this cell fails\n{COLOUR.sub('', str(error)).strip()}"
        raise source.fail(running.line, what) from None
    except CellTimeoutError:
        what = f"this cell takes more than {CELL_TIMEOUT} seconds"
        raise source.fail(running.line, what) from None
    except DeadKernelError as error:
        what = f"Python died while it ran this cell\n{error}".rstrip()
        raise source.fail(running.line, what) from None
    except (RuntimeError, NoSuchKernel) as error:
        what = f"{source.lesson}: Jupyter cannot start Python ({error})"
        raise CourseError(f"{what}: run `make setup` and call again") from None
    notebook.metadata = nbformat.from_dict(metadata)
    _refuse_stderr(notebook, source)


def _client(
    notebook: NotebookNode, root: Path, folder: Path, start: Callable[..., None]
) -> NotebookClient:
    # Sockets are files, not open ports. Jupyter would put them into the current folder,
    # which is the kernel's only by chance.
    sockets = {"transport": "ipc", "ip": str(folder / "kernel")}
    return NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # else two prints are one output or two, by their timing
        on_cell_start=start,
        config=Config({"KernelManager": sockets}),
        resources={"metadata": {"path": str(root)}},
    )


def _refuse_stderr(notebook: NotebookNode, source: LessonSource) -> None:
    for cell, made_of in zip(notebook.cells, source.cells, strict=True):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                what = f"this cell writes to stderr: {output.text.strip()}"
                raise source.fail(made_of.line, what)


class _Loop(asyncio.SelectorEventLoop):
    """A loop without signal handlers: to nbclient, Ctrl-C is a dead kernel."""

    def add_signal_handler(self, *_: Any) -> None:  # type: ignore[override]
        raise NotImplementedError


async def _run(client: NotebookClient, folder: Path) -> None:
    """Run all cells. The kernel's own stderr goes to a file, and into its death."""
    with (folder / "stderr").open("w+") as stderr:
        try:
            await client.async_execute(stderr=stderr)
        except DeadKernelError:
            # nbclient reports its own cancelling, as Ctrl-C does it, as a death.
            task = asyncio.current_task()
            if task and task.cancelling():
                raise asyncio.CancelledError from None
            stderr.seek(0)
            raise DeadKernelError(stderr.read()) from None


@contextmanager
def _environment(texts: Mapping[str, str]) -> Iterator[Path]:
    """Keep out what differs between people: hash seed, IPython's start-up files.

    texts : the alternative texts of the cells; the course may not have them yet

    Yields a folder for what should be gone afterwards.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "alternatives.json")
        file.write_text(json.dumps(texts), encoding="utf-8")
        settings = {"PYTHONHASHSEED": "0", "IPYTHONDIR": folder, VARIABLE: str(file)}
        settings |= {APART: "yes"}
        names = (*settings, "NBGRADER_EXECUTION")
        before = {name: os.environ.get(name) for name in names}
        os.environ.pop("NBGRADER_EXECUTION", None)  # it changes what check does
        os.environ.update(settings)
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
