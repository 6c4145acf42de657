"""Figures that answer pointing and keys where scripts run, and stand still elsewhere.

A view is a small JavaScript module beside this one, with ``shared.js`` in front of it.
It has the form of an anywidget module and knows of no notebook. Its output is HTML: the
static picture, the numbers, and the script that draws the view there.
So it stays alive in a saved notebook that is opened without a kernel, where a widget of
Jupyter says "model not found"; and where no script runs, the picture stays.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course_lib.figures.drawing import AccessibleFigure, read_asset

MAX_TOKENS = 256  # on one side of a view
LANGUAGE_MODEL = ("runtime", "language_model", "tokenizer", "worker")
TRANSLATOR = ("runtime", "transformer", "tokenizer", "subwords", "worker")
# What runs the model of a view, if its data name one, and what else a view needs.
WORKERS = {"next_token": LANGUAGE_MODEL, "translator": TRANSLATOR}
OF_MODEL = {"next_token": ("asking", "own_draws", "writing")}
PARTS = {
    "next_token": ("sampling",),
    "text_tokens": ("asking", "tokenizer"),
    "translator": ("asking",),
}
NOT_VIEWS = {"drawing", "mount", "shared", "model"}.union(
    *WORKERS.values(), *OF_MODEL.values(), *PARTS.values()
)
COMMENTS = re.compile(r"^\s*(//.*|/\*\*[\s\S]*?\*/)$", re.MULTILINE)
DIGITS = 4  # of a number that a view gets

Answer = Callable[[Any], Any]
_answers: dict[str, Answer] = {}  # by the id of a figure that this kernel has drawn


class LivingFigure(AccessibleFigure):
    """A static figure with its alternative text, and a view of the same numbers.

    view : name of the module
    data : what it shows, as lists, texts and numbers
    answer : what the view may ask of the kernel, where a notebook has drawn it
    """

    def __init__(
        self,
        figure: Figure,
        alt: str | None,
        view: str,
        data: dict[str, Any],
        answer: Answer | None = None,
    ) -> None:
        super().__init__(figure, alt)
        self.view = view
        self.data = data
        self.answer = answer

    def html(self) -> str:
        """Return the picture and what makes it live."""
        data = json.dumps(self.data, ensure_ascii=False).replace("<", "\\u003c")
        name = f"living-{sha256(f'{self.view}{data}'.encode()).hexdigest()[:12]}"
        if self.answer is not None:
            _answers[name] = self.answer
        return (
            f'<figure class="living" id="{name}">{self.image()}</figure>\n'
            f"<script>(() => {{ const data = {data};\n"
            f"const css = {json.dumps(_style(self.view))};\n"
            f"{_script(self.view, 'model' in self.data)}\n"
            f"mount('{name}', data, css); }})();</script>"
        )


def answer(figure: str, question: str) -> Any:
    """Return what a notebook's figure has asked, as JSON for the page; None if unknown.

    figure : its id
    question : JSON
    """
    from IPython.display import JSON

    if figure not in _answers:
        return None  # the kernel is another one than that which has drawn it
    return JSON({"answer": _answers[figure](json.loads(question))})


def numbers(array: np.ndarray) -> list[Any]:
    """Return an array as lists of numbers with four digits after the point.

    Raises ``ValueError`` if one is not finite: a view cannot draw it.
    """
    array = np.asarray(array, float)
    if not np.isfinite(array).all():
        raise ValueError("a view shows finite numbers only, and one is NaN or infinite")
    return (np.round(array, DIGITS) + 0.0).tolist()


def packed(array: np.ndarray) -> str:
    """Return numbers between 0 and 1 as text, in 10 bits each: many of them stay small.

    They are rounded to thousandths, four in five bytes, the first in the lowest bits;
    zeros fill the last five. ``unpacked`` in shared.js reads them. Raises
    ``ValueError`` if one is not finite, or beyond 0 and 1.
    """
    rounded = np.array(numbers(array)).ravel()
    if not np.all((rounded >= 0) & (rounded <= 1)):
        raise ValueError("only numbers between 0 and 1 can be packed")
    whole = np.rint(np.ravel(array) * 1000).astype("<u8")
    fours = np.pad(whole, (0, -len(whole) % 4)).reshape(-1, 4)
    together = (fours << np.array([0, 10, 20, 30], "<u8")).sum(axis=1, dtype="<u8")
    five = together.view(np.uint8).reshape(-1, 8)[:, :5]
    return base64.b64encode(five.tobytes()).decode()


@cache
def _script(view: str, with_model: bool) -> str:
    """Return the code of a view, with what it needs in front of it and behind.

    with_model : whether a trained model can be run too

    Indents and comments stay behind: each figure of a notebook has a copy.
    """
    parts = [*map(read_script, ("shared", *PARTS.get(view, ())))]
    if with_model:
        parts += [
            model_script(WORKERS[view]),
            *map(read_script, OF_MODEL.get(view, ())),
        ]
    parts += [read_script(view).replace("export default { render };", "")]
    return _shortened("\n".join([*parts, read_script("mount")]))


def read_script(name: str) -> str:
    """Return the text of a script of this folder."""
    return read_asset(f"{name}.js")


def model_script(names: Sequence[str]) -> str:
    """Return the code with which a page runs a trained model in a worker.

    names : of the scripts that the worker has
    """
    worker = _shortened("\n".join(map(read_script, names)))
    # As a string of JavaScript that ends no element of a page.
    text = json.dumps(worker, ensure_ascii=False).replace("</", "<\\/")
    return f"const WORKER = {text};\n{read_script('model')}"


def _shortened(code: str) -> str:
    without = COMMENTS.sub("", f"{code}\n")
    lines = (line.strip() for line in without.splitlines())
    return "\n".join(line for line in lines if line)


@cache
def _style(view: str) -> str:
    return read_asset("living.css") + read_asset(f"{view}.css")


def page_scripts() -> Iterator[tuple[str, str]]:
    """Yield names and scripts for a page that makes pictures live from data alone.

    A script adds to ``attentionCourse.views`` a function of a figure's id and its data;
    "drawing" that of still drawings.
    """
    assets = (files("course_lib.figures") / "living").iterdir()
    names = sorted(each.name for each in assets if each.name.endswith(".js"))
    for view in (name.removesuffix(".js") for name in names):
        if view not in NOT_VIEWS:
            code = (
                f"const css = {json.dumps(_style(view))};\n"
                f"{_script(view, view in WORKERS)}"
            )
            yield view, _adding(view, code, "(name, data) => mount(name, data, css)")
    css = json.dumps(read_asset("drawing.css"))
    code = (
        f"const style = document.createElement('style');\nstyle.textContent = {css};\n"
        f"document.head.append(style);\n{read_asset('drawing.js')}"
    )
    yield "drawing", _adding("drawing", code, "inline")


def _adding(view: str, code: str, call: str) -> str:
    function = f"(() => {{\n{code}\nreturn {call};\n}})()"
    return f'attentionCourse.views["{view}"] = {function};\n'
