"""Run a lesson's cells where nothing is installed: what a page's worker calls for them.

All cells of a page share their names, as those of a notebook do. What a cell shows is
handed to the page as data: texts, the numbers of a living picture, drawings. Nothing
here knows of Jupyter.
"""

import ast
import base64
import builtins
import contextlib
import dis
import importlib.util
import io
import json
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import autograder
from autograder.book.in_page.check import (
    MAX_PRINTED,
    PREAMBLE,
    Printed,
    error_lines,
    report_of,
    run_within,
)
from autograder.checking.own_answer import NO_ANSWER
from autograder.checking.registry import load
from autograder.checking.time_limit import (
    TimeLimitExceeded,
    call_within,
    has_alarms,
)
from autograder.in_notebook.check import find_exercise
from autograder.messages.stopped import unreadable

CELL_SECONDS = 60.0  # some cells of lessons compute for seconds
PREPARATION_SECONDS = 10.0  # for the text of an answer
Output = dict[str, Any]

os.environ.setdefault("MPLBACKEND", "agg")  # there is no window to draw in


class PageCells:
    """The cells of one page: the names that they share, and what is run in them."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__", "display": self.display}
        exec(PREAMBLE, self.names)
        self._own: dict[str, str] = {}  # text of the answer that is bound, by exercise
        self._codes: list[CodeType] = []
        self._outputs: list[Output] = []
        self._printed = Printed()

    def run(
        self, cell: str, text: str, answers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Run the text of a cell; return what it shows as data that JSON can hold.

        cell : what its lines are called in an error
        answers : the reader's answers to the exercises above the cell, by name; "" for
            the course's version, which also stands in for one that does not run

        ``outputs`` are in order, each with its ``kind``: "text", "error", "html" (which
        the page filters), "png", "drawing" (``svg`` and ``alt``) or "living" (``view``
        and ``data`` as well). ``uses`` is a sentence on whose functions were called.
        ``unknown`` is the name that was not there, if that is the error.
        """
        answers = answers or {}
        for name, answer in answers.items():
            self._bind(name, answer)
        self._outputs, self._printed = [], Printed()
        use_list_of_fonts()
        with self._checks_here():
            error = self._run(f"<{cell}>", text, CELL_SECONDS, self.display_result)
        self._flush()
        self._outputs += self._open_plots()
        unknown = error.name if isinstance(error, NameError) else None
        return {
            "outputs": self._outputs,
            "stopped": error is not None,
            "unknown": unknown or "",
            "uses": self._uses([name for name in answers if name in names_in(text)]),
        }

    def display(self, *values: Any) -> None:
        """Show values among what the cell prints, as ``display`` of notebooks does."""
        for value in values:
            self._flush()
            self._outputs.append(as_output(value))

    def display_result(self, value: Any) -> None:
        """Show the value of a cell's last line, if it is one."""
        if value is not None:
            self.names["_"] = value
            self.display(value)

    @contextlib.contextmanager
    def _checks_here(self) -> Iterator[None]:
        """Let cells import a ``check`` that reports to the page."""
        before = autograder.check
        autograder.check = self._check
        try:
            yield
        finally:
            autograder.check = before

    def _check(self, answer: Any = None, *, private: bool = False) -> None:
        report = report_of(find_exercise(answer, sys._getframe(1)), answer)
        self._flush()
        self._outputs.append({"kind": "html", "html": report.html()})

    def _flush(self) -> None:
        if text := self._printed.take():
            self._outputs.append({"kind": "text", "text": text})

    def _run(
        self, file: str, text: str, seconds: float, show: Callable[[Any], None]
    ) -> BaseException | None:
        """Run a text in the page's names; return and show what it stopped with."""
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)

        def run() -> None:
            for code in codes:
                value = eval(code, self.names)
            if is_shown:
                show(value)

        try:
            codes, is_shown = compiled(file, text)
            self._codes += [inner for code in codes for inner in all_codes(code)]
            with (
                contextlib.redirect_stdout(self._printed),
                contextlib.redirect_stderr(self._printed),
            ):
                if has_alarms():
                    call_within(seconds, run)
                else:
                    run_within(seconds, run, self._codes)
        except TimeLimitExceeded as error:
            self._show_error(f"It was stopped after {seconds:g} seconds.")
            return error
        except BaseException as error:
            sentence = unreadable(error) if isinstance(error, SyntaxError) else ""
            lines = error_lines(error, file)
            self._show_error(f"{sentence}\n\n{lines}" if sentence else lines)
            return error
        return None

    def _show_error(self, text: str) -> None:
        self._flush()
        self._outputs.append({"kind": "error", "text": text})

    def _bind(self, name: str, answer: str) -> None:
        """Bind an exercise's name to the reader's function, else to the course's.

        What a cell has bound to it since stays, until the answer is another one.
        """
        is_written = bool(answer.strip()) and NO_ANSWER.strip() not in answer
        if is_written and self._own.get(name) == answer:
            return
        reference = load(name).reference
        if not is_written:
            if name in self._own or name not in self.names:
                self.names[name] = reference
                self._own.pop(name, None)
            return
        self._outputs, self._printed = [], Printed()
        self.names.pop(name, None)
        self._own.pop(name, None)
        error = self._run(f"<{name}>", answer, PREPARATION_SECONDS, lambda _: None)
        if error is None and callable(self.names.get(name)):
            self._own[name] = answer
        else:
            self.names[name] = reference

    def _uses(self, names: list[str]) -> str:
        own = [f"`{name}`" for name in names if name in self._own]
        course = [f"`{name}`" for name in names if name not in self._own]
        parts = (
            f"your own {', '.join(own)}" if own else "",
            f"the course's {', '.join(course)}" if course else "",
        )
        both = " and ".join(part for part in parts if part)
        return f"Run with {both}." if both else ""

    def _open_plots(self) -> Iterator[Output]:
        """Yield the plots that a cell has left open with pyplot, and close them."""
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            for number in pyplot.get_fignums():
                yield as_output(pyplot.figure(number))
            pyplot.close("all")


def compiled(file: str, text: str) -> tuple[list[CodeType], bool]:
    """Return the code of a cell, and whether the value of the last part is shown."""
    tree = ast.parse(text, file)
    codes = []
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        del tree.body[-1]
        codes = [compile(ast.Expression(last.value), file, "eval")]
    codes.insert(0, compile(tree, file, "exec"))
    return codes, len(codes) == 2 and not re.search(r";\s*\Z", text)


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and those of the functions and classes that are written in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from all_codes(each)


def names_in(text: str) -> set[str]:
    """Return the names that a cell takes from cells above it; none if it is no code.

    >>> sorted(names_in("b = a\\nprint(b, [a for a in c], (lambda: d + b)())"))
    ['a', 'c', 'd']
    """
    try:
        codes, _ = compiled("<cell>", text)
    except (SyntaxError, ValueError):
        return set()
    own, others, later = set[str](), set[str](), set[str]()
    for code in codes:
        first, *inner = all_codes(code)
        for step in dis.get_instructions(first):
            if step.opname.startswith(("LOAD_NAME", "LOAD_GLOBAL")):
                others |= {step.argval} - own
            elif step.opname.startswith(("STORE_NAME", "STORE_GLOBAL")):
                own.add(step.argval)
        for each in inner:
            later |= _looked_up(each)
    return {name for name in others | (later - own) if not hasattr(builtins, name)}


def _looked_up(code: CodeType) -> set[str]:
    """Return the names that a function or class does not bind itself."""
    steps = [*dis.get_instructions(code)]
    bound = {step.argval for step in steps if step.opname == "STORE_NAME"}
    loads = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
    return {step.argval for step in steps if step.opname.startswith(loads)} - bound


def as_output(value: Any) -> Output:
    """Return what a page shows of a value: a picture, a part of HTML, or its text."""
    # Neither is imported here: a lesson without pictures does without matplotlib.
    if drawing := sys.modules.get("course_lib.figures.drawing"):
        if isinstance(value, drawing.AccessibleFigure):
            picture = {"kind": "drawing", "svg": value.svg(), "alt": value.alt}
            if view := getattr(value, "view", ""):
                picture |= {"kind": "living", "view": view, "data": value.data}
            return picture
    if figure := sys.modules.get("matplotlib.figure"):
        if isinstance(value, figure.Figure):
            file = io.BytesIO()
            value.savefig(file, format="png", bbox_inches="tight")
            return {"kind": "png", "png": base64.b64encode(file.getvalue()).decode()}
    html = getattr(value, "_repr_html_", None)
    if callable(html) and not isinstance(value, type):
        if isinstance(text := html(), str):
            return {"kind": "html", "html": text}
    text = repr(value)
    more = len(text) - MAX_PRINTED
    rest = f"\n… {more:,} more characters" if more > 0 else ""
    return {"kind": "text", "text": f"{text[:MAX_PRINTED]}{rest}\n"}


def use_list_of_fonts() -> None:
    """Let matplotlib read the list of fonts that Pyodide's own brings along.

    It has the number of another release, so that matplotlib would look through all
    fonts again, for seconds. Where it has been read already, or is not there, nothing
    is changed.
    """
    package = importlib.util.find_spec("matplotlib")
    if "matplotlib" in sys.modules or package is None or package.origin is None:
        return
    path = Path(package.origin).with_name("fontlist.json")
    source = Path(package.origin).with_name("font_manager.py")
    with contextlib.suppress(OSError):
        number = re.search(r"__version__ = (\d+)", source.read_text(encoding="utf-8"))
        text = path.read_text(encoding="utf-8")
        if number:
            text = re.sub(r'(?<="_version": )\d+', number[1], text, count=1)
            path.write_text(text, encoding="utf-8")


page = PageCells()


def run_json(request: str) -> str:
    """Run a lesson's cell; arguments and result are JSON, as a worker has them."""
    return json.dumps(page.run(**json.loads(request)))
