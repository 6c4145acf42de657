"""The learner's cells, run by IPython's own shell, so that magics work.

A cell's outputs are recorded up to a limit; so is, as plain data, the line on which it
stops. There is no kernel, no history file, and no thread; what cells ask of a kernel is
there as far as it can do no harm.
"""

import ast
import asyncio
import builtins
import contextlib
import gc
import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any
from unittest.mock import MagicMock

from IPython.core.async_helpers import get_asyncio_loop
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config

from .selection import chosen_cells

MAX_TEXT_LENGTH = 10_000  # characters of what one cell prints
MAX_PICTURE_LENGTH = 400_000  # characters of one picture, as text
MAX_OUTPUTS = 20  # of one cell
MIME_TYPES = ("text/plain", "text/latex", "image/png")  # others are dropped
KERNEL_MAGICS = "autosave clear connect_info less man more qtconsole subshell".split()
TASK_SECONDS = 0.1  # for tasks that go on after a cell, as they do in a notebook
WARM_CELLS = (
    "%matplotlib inline\nimport matplotlib.pyplot as _p\n_p.plot([0, 1])",
    "%time 1 / 0",
    "def _f(x):\n    return x",
    "(1, 'a')",
)


class Outputs:
    """The outputs of one cell, up to a limit."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.items: list[dict[str, Any]] = []

    def text(self, name: str, text: str) -> None:
        """Add printed text; stdout and stderr stay in their order."""
        if not text:
            return
        last = self.items[-1] if self.items else {}
        if last.get("name") != name:
            if len(self.items) >= MAX_OUTPUTS:
                return
            last = {"name": name, "text": ""}
            self.items.append(last)
        room = MAX_TEXT_LENGTH - len(last["text"])
        last["text"] += text[: max(room, 0)]
        if len(text) > room >= 0:
            last["cut"] = True

    def display(self, data: Any) -> None:
        """Add the harmless forms of a displayed object."""
        if len(self.items) >= MAX_OUTPUTS or type(data) is not dict:
            return
        harmless = {}
        for kind in MIME_TYPES:
            limit = MAX_PICTURE_LENGTH if kind == "image/png" else MAX_TEXT_LENGTH
            if type(text := data.get(kind)) is str and len(text) <= limit:
                harmless[kind] = text
        self.items.append({"data": harmless})


class _Stream(io.TextIOBase):
    """Stands for stdout or stderr while a cell runs.

    It has what the kernel's streams have: no ``buffer``, and no ``reconfigure``.
    """

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name = name
        self._outputs = outputs

    encoding = "utf-8"

    def fileno(self) -> int:
        """Return the process's own: what is written there is not recorded."""
        return 1 if self.name == "stdout" else 2

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._outputs.text(self.name, str.__str__(text))
        return len(text)


class _Publisher(DisplayPublisher):
    def publish(self, data: Any, *_: Any, **__: Any) -> None:
        """Record what ``display`` shows."""
        outputs().display(data)


class _Hook(DisplayHook):
    """Records the value of a cell's last line."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        outputs().display(format_dict)

    def log_output(self, format_dict: Any) -> None:
        pass


class Shell(InteractiveShell):
    """IPython without a terminal, a history, and coloured tracebacks."""

    def __init__(self, **settings: Any) -> None:
        """Make the shell, without outputs so far."""
        self.outputs = Outputs()
        super().__init__(**settings)
        self.kernel = MagicMock(name="kernel", shell=self)
        self.parent_header: dict[str, Any] = {}
        # As the kernel does; of the magics that it adds none matters here.
        self.run_line_magic("load_ext", "storemagic")
        for name in KERNEL_MAGICS:
            self.magics_manager.register_function(_nothing, magic_name=name)

    def get_parent(self) -> dict[str, Any]:
        """Return the header of the message that asks for the cell: there is none."""
        return self.parent_header

    def showtraceback(self, *_: Any, **__: Any) -> None:
        """Show nothing: the line on which a cell stops is in its result."""

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        """Show nothing, too."""

    def transform_cell(self, raw_cell: str) -> str:
        """Return the cell with its magics as calls; without any it is Python already.

        To look for them takes several times as long as to parse the cell.
        """
        try:
            with warnings.catch_warnings(
                action="ignore"
            ):  # to come when it is compiled
                ast.parse(raw_cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return str(super().transform_cell(raw_cell))
        return raw_cell

    def ask_exit(self) -> None:
        """Stop what runs: the body of ``quit()``."""
        raise SystemExit

    def enable_gui(self, gui: Any = None) -> None:
        """Do nothing: there are no windows."""


def _nothing(line: str) -> None:
    """Do nothing: the body of a magic."""


def outputs() -> Outputs:
    """Return the outputs so far of the cell that runs."""
    shell = Shell.instance()
    assert isinstance(shell, Shell)
    return shell.outputs


def make_shell() -> Shell:
    """Return the process's shell, made on first use."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0  # no Out[…]: it keeps every value alive
    config.InteractiveShell.separate_in = ""
    # Set up at their first use otherwise, in each child anew.
    return Shell.instance(
        config=config, displayhook_class=_Hook, display_pub_class=_Publisher
    )


def warm_up(
    modules: list[str],
    cells: Sequence[tuple[str, str]] = (),
    preloading: Thread | None = None,
) -> None:
    """Do before any fork what each child would do: import, use the shell, parse cells.

    cells : role and source of the lesson's own, as it is released
    preloading : what loads PyTorch's libraries meanwhile; it has ended afterwards
    """
    import matplotlib.pyplot  # noqa: F401 - while torch's libraries load

    if preloading:
        preloading.join()
    import torch

    torch.set_num_threads(1)
    for module in (*modules, "numpy.random"):  # NumPy imports that at its first use
        with contextlib.suppress(ImportError):  # some names are not modules
            importlib.import_module(module)
    shell = make_shell()
    before = dict(shell.user_ns)
    for cell in WARM_CELLS:  # without a loop: its files would be closed in a child
        with _streams(shell.outputs):
            shell.run_cell(cell, store_history=False)
    sys.modules["matplotlib.pyplot"].close("all")
    shell.user_ns.clear()
    shell.user_ns.update(before)
    shell.execution_count = 1
    shell.outputs = Outputs()
    chosen_cells(cells)
    gc.freeze()  # a collection in a child would copy every page that it reads
    gc.enable()


def run_cell(shell: Shell, source: str) -> tuple[BaseException | None, list[dict]]:
    """Run one cell; return the exception that ended it, if any, and its outputs."""
    shell.outputs = Outputs()
    with _streams(shell.outputs):
        error = _run_in_loop(shell, source)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    return error, shell.outputs.items


def _run_in_loop(shell: Shell, source: str) -> BaseException | None:
    """Run one cell while a loop runs, as in a notebook: it may start tasks."""
    loop, ending = get_asyncio_loop(), _Ending()
    try:
        loop.run_until_complete(_run(shell, source, ending))
        if tasks := asyncio.all_tasks(loop):
            loop.run_until_complete(asyncio.wait(tasks, timeout=TASK_SECONDS))
    except BaseException as error:  # of a task, or the cell has stopped the loop
        loop.close()  # the next cell gets a new one
        ending.error = ending.error or error
    if ending.outside:
        raise ending.outside
    return ending.error


@dataclass
class _Ending:
    """How a cell has ended.

    error : the exception that ended it
    outside : what IPython let through: no exception of the cell's own lines
    """

    error: BaseException | None = None
    outside: BaseException | None = None


async def _run(shell: Shell, source: str, ending: _Ending) -> None:
    """Run one cell, and note how it has ended."""
    try:
        if "await" in source or "async" in source:  # else no need to parse it twice
            result = await _run_awaiting(shell, source)
        else:
            result = shell.run_cell(source, store_history=False)
        ending.error = result.error_before_exec or result.error_in_exec
    except GeneratorExit:  # its loop was closed
        raise
    except BaseException as error:
        ending.outside = error


async def _run_awaiting(shell: Shell, source: str) -> ExecutionResult:
    """Run a cell that may await something at its top level."""
    options: dict[str, Any] = {"transformed_cell": source}
    try:
        options["transformed_cell"] = shell.transform_cell(source)
    except Exception:
        options["preprocessing_exc_tuple"] = sys.exc_info()
    if not shell.should_run_async(source, **options):
        return shell.run_cell(source, store_history=False)
    result = await shell.run_cell_async(source, store_history=False, **options)
    shell.events.trigger("post_execute")
    shell.events.trigger("post_run_cell", result)
    return result


@contextlib.contextmanager
def _streams(outputs: Outputs) -> Iterator[None]:
    stdout, stderr = _Stream("stdout", outputs), _Stream("stderr", outputs)
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        yield


def forget_randomness() -> None:
    """Start every child with the same random numbers, so that it ends the same way."""
    import random

    import numpy as np
    import torch

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - a learner may use the old generator
    torch.default_generator.manual_seed(0)  # torch.manual_seed asks for GPUs first
    os.environ.setdefault("PYTHONHASHSEED", "0")
    builtins.input = _no_input


def _no_input(prompt: object = "") -> str:
    raise EOFError("there is nobody to answer input() while a notebook is graded")
