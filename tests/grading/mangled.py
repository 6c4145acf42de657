"""Notebooks of arbitrary structure, made from a real one: parts deleted, swapped,
retyped, nested, repeated, or huge. What a disk, an editor or a student may do.
"""

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.submissions import Submission

JUNK: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        10**30,
        float("nan"),
        "",
        "x",
        "\x00",
        "\ud800",
        "é" * 300,
    ),
    *([], {}, [[]], [None], {"": None}, ["a", 1], "code", "markdown", "softmax"),
    *("def softmax(x:\n", "%%bash\nls", "!ls", "return 3", "\t\n  x", ")" * 500),
    *("(" * 2000, "x" * 100_000, "import os\nos._exit(3)", "1/0", "softmax = 3"),
)


class Mangled(bytes):
    """A file's bytes; a failure leaves the file itself to look at."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


REAL = json.loads(Submission().text())
Path = tuple[Any, ...]  # keys and indices that lead to a part of the notebook


def paths(value: Any, above: Path = ()) -> list[Path]:
    """Return the paths of all parts of a value."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    all_paths = [above] if above else []
    for key, part in inside:
        all_paths += paths(part, (*above, key))
    return all_paths


@st.composite
def files(draw: Any) -> Mangled:
    """Return the bytes of a mangled notebook."""
    notebook: Any = copy.deepcopy(REAL)
    for _ in range(draw(st.integers(1, 6))):
        all_paths = paths(notebook)
        # Short paths are few and matter most: a cell, its source, its metadata.
        depth = draw(st.integers(1, 4))
        candidates = [path for path in all_paths if len(path) == depth] or all_paths
        if candidates:
            change(draw, notebook, draw(st.sampled_from(candidates)))
    text = json.dumps(notebook, ensure_ascii=draw(st.booleans()))
    raw = text.encode("utf-8", "surrogatepass")
    whole = draw(st.integers(0, 9)) > 0
    return Mangled(raw if whole else raw[: draw(st.integers(0, len(raw)))])


def change(draw: Any, notebook: Any, path: Path) -> None:
    """Do one thing to one part of the notebook."""
    *above, last = path
    holder = notebook
    for key in above:
        holder = holder[key]
    what = draw(st.sampled_from(("delete", "junk", "nest", "repeat", "swap", "cut")))
    part = holder[last]
    if what == "delete":
        del holder[last]
    elif what == "nest":
        holder[last] = draw(st.sampled_from(([part], {"cells": part}, [[part]] * 3)))
    elif what == "repeat" and isinstance(holder, list):
        holder[last:last] = [copy.deepcopy(part)] * draw(st.sampled_from((1, 2, 40)))
    elif what == "swap":
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        other = draw(st.sampled_from(list(keys)))
        holder[last], holder[other] = holder[other], holder[last]
    elif what == "cut" and isinstance(part, str):
        holder[last] = part[: draw(st.integers(0, len(part)))]
    else:
        # A copy: what is changed in it later must not be in the next file.
        holder[last] = copy.deepcopy(draw(st.sampled_from(JUNK)))
