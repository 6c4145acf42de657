"""Whatever is done to a notebook's JSON, it gives cells or one sentence why not."""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.inside.selection import chosen_cells
from autograder.grading.reading import SubmittedCell, Unreadable, read_submission
from autograder.grading.rebuild import Rebuilt, rebuild
from autograder.grading.release import load_release
from tests.submissions import COURSE, LESSON, Submission

pytestmark = pytest.mark.thorough

RELEASE = load_release(COURSE, LESSON)
TEXT = Submission().text()
NOTEBOOK = json.loads(TEXT)
EXAMPLES = settings(
    max_examples=200,
    derandomize=True,
    database=None,
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just("HUGE"),  # a number of too many digits, once it is in the file
    st.floats(),
    st.text(),
    st.sampled_from(
        [
            "code",
            "markdown",
            "raw",
            "heading",
            "softmax",
            "check_softmax",
            "check(softmax)",
            "def softmax(x):\n    return x",
            "%%time\nscores",
            "\ud800",
            "a\0b",
            "(" * 5000,
            "=" * 100_000,
        ]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner)
    ),
    max_leaves=12,
)


def paths(value: Any, above: tuple = ()) -> list[tuple]:
    """Return the path to each value inside a value."""
    all_paths = [above] if above else []
    parts: Any = ()
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    for key, part in parts:
        all_paths += paths(part, (*above, key))
    return all_paths


PATHS = [path for path in paths(NOTEBOOK) if path[0] == "cells"]
TOP = [path for path in paths(NOTEBOOK) if len(path) == 1]


def _parent(notebook: Any, path: tuple) -> Any:
    """Return what holds the value at a path, or None if that is not there any more."""
    for key in path[:-1]:
        holds = isinstance(notebook, dict | list)
        notebook = notebook[key] if holds and key in _keys(notebook) else None
    holds = isinstance(notebook, dict | list)
    return notebook if holds and path[-1] in _keys(notebook) else None


def _keys(holder: Any) -> Any:
    return range(len(holder)) if isinstance(holder, list) else holder


def _change(notebook: Any, path: tuple, draw: Any) -> None:
    """Change one value of a notebook, if it is still there."""
    parent, key = _parent(notebook, path), path[-1]
    if parent is None:
        return
    kind = draw(st.sampled_from(["replace", "delete", "nest", "swap", "repeat"]))
    if kind == "delete":
        del parent[key]
    elif kind == "nest":
        parent[key] = [parent[key]]
    elif kind == "swap":
        other = draw(st.sampled_from(list(_keys(parent))))
        parent[key], parent[other] = parent[other], parent[key]
    elif kind == "repeat" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    else:
        parent[key] = draw(values)


@st.composite
def changed_notebooks(draw: Any) -> Any:
    """Return a real notebook with some changes in or near its cells."""
    notebook = json.loads(TEXT)
    for _ in range(draw(st.integers(1, 12))):
        pool = TOP if draw(st.integers(0, 19)) == 0 else PATHS
        _change(notebook, draw(st.sampled_from(pool)), draw)
    return notebook


def _cells_or_reason(raw: bytes) -> tuple[SubmittedCell, ...] | str:
    """Read a file's bytes: its cells, or the sentence why not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lesson.ipynb")
        path.write_bytes(raw)
        try:
            return read_submission(path)
        except Unreadable as error:
            return str(error)


def _check(raw: bytes) -> Rebuilt | None:
    """Check what holds for every file; return the rebuilt notebook, if there is one."""
    cells = _cells_or_reason(raw)
    if isinstance(cells, str):
        assert cells.endswith(".") and "\n" not in cells
        return None
    assert cells
    for cell in cells:
        (cell.source + cell.id + cell.grade_id).encode()
        assert "\0" not in cell.source and "\r" not in cell.source
    rebuilt = rebuild(RELEASE, cells)
    ids = [cell.id for cell in rebuilt.cells if cell.role != "own"]
    assert ids == [cell.id for cell in RELEASE.cells]
    assert all(repair.endswith(".") for repair in rebuilt.repairs)
    texts = [cell.source for cell in rebuilt.cells]
    for cell in cells:  # no code is lost but copies of the course's
        known = any(cell.source.strip() == text.strip() for text in texts)
        assert known or cell.kind != "code" or "def " not in cell.source
    return rebuilt


def _packed(notebook: Any) -> bytes:
    """Write JSON as it may stand in a file: any number of digits, lone surrogates."""
    text = json.dumps(notebook).replace('"HUGE"', "9" * 5000)
    return text.encode("utf-8", "surrogatepass")


@EXAMPLES
@given(changed_notebooks())
def test_any_change_to_a_notebook_gives_cells_or_a_sentence(notebook: Any) -> None:
    raw = _packed(notebook)
    rebuilt = _check(raw)
    if rebuilt:
        assert rebuilt == _check(raw)
        code = [(cell.role, cell.source) for cell in rebuilt.cells if cell.is_code]
        assert "check" not in {code[index][0] for index in chosen_cells(code)}


@EXAMPLES
@given(values)
def test_any_json_gives_cells_or_a_sentence(value: Any) -> None:
    _check(_packed(value))
    _check(_packed({"cells": value}))
    _check(_packed({"cells": [value]}))
    _check(_packed({"cells": [{"cell_type": "code", "source": value}]}))
    _check(_packed({"worksheets": [{"cells": [value]}, value]}))


@EXAMPLES
@given(st.binary(max_size=200), st.integers(0, 60_000), st.integers(0, 200))
def test_any_damage_to_the_bytes_gives_cells_or_a_sentence(
    inserted: bytes, at: int, n_lost: int
) -> None:
    raw = TEXT.encode()
    _check(inserted)
    _check(raw[:at])
    _check(raw[:at] + inserted + raw[at + n_lost :])
