"""Verdicts of a page are CPython's: whole banks, and answers that were written blind.

One worker checks all of them, so what an answer leaves behind would be seen as well.
"""

import json
from pathlib import Path

import nbformat
import pytest

from autograder.book.in_page.check import check_text
from autograder.book.live import LIVE, imports_above
from autograder.checking.registry import load
from autograder.course import Course
from tests import unseen
from tests.site.test_answering_in_a_browser import (
    CHECK_ALL,
    NEEDS_PYODIDE,
    SOFTMAX,
    answering,  # noqa: F401 — a fixture
    chromium,  # noqa: F401
    visited,
)
from tests.site.test_wheel import RUNNING
from tests.unseen import read_answers

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
SETS = ("first", "second", "third", "fifth", "sixth")  # the fourth needs PyTorch
PARTS = ("solved", "points", "cases", "diagnosis")
# Functions of their own: what a bank wraps would be recognised as the course's version.
RIGHT = """from autograder.checking.registry import load
right = load("{name}").functions_that_are_right["{which}"]
def {name}(*arguments, **keywords):
    return right(*arguments, **keywords)
"""
WRONG = """from autograder.checking.registry import load
wrong = {{each.name: each for each in load("{name}").misconceptions}}["{which}"]
def {name}(*arguments, **keywords):
    return wrong.function(*arguments, **keywords)
"""
KINDS = {"report", "error"}  # what an answer of these can be; "error": it cannot be run
# Where a page may differ, with the reason.
NO_TORCH = "the answer imports PyTorch, which a page has not"
DIFFERENT = {
    ("sinusoidal_encoding", "first 9"): NO_TORCH,
    ("self_attention_gradients", "second 8"): NO_TORCH,
    ("self_attention_gradients", "second 15"): NO_TORCH,
    (
        "padding_mask",
        "first 4",
    ): "NumPy 2.0 makes numbers of arrays of one, 2.4 does not",
    ("test_bpe", "sixth 10"): "the test is slow: on a loaded machine its time is up",
}


def requests_of_bank(name):
    """Return by version what checks the right versions and all misconceptions."""
    exercise = load(name)
    texts = {
        which: RIGHT.format(name=name, which=which)
        for which in exercise.functions_that_are_right
    }
    for each in exercise.misconceptions:
        texts[each.name] = WRONG.format(name=name, which=each.name)
    return {
        (name, which): {"name": name, "text": text} for which, text in texts.items()
    }


def requests_of_set(which):
    """Return by answer what checks those that a page can, as its lesson's page does."""
    folder = Path(unseen.__file__).parent / which
    requests, imports = {}, {}
    for answer in read_answers(folder):
        name = answer.exercise
        if name not in RUNNING:
            continue
        if name not in imports:
            path = Course.here().teacher(load(name).lesson)
            notebook = nbformat.read(path, as_version=4)
            imports[name] = [*imports_above(notebook, name)]
        request = {"name": name, "text": answer.text, "imports": imports[name]}
        requests[name, f"{which} {answer.number}"] = request
    return requests


def verdict_of(report):
    """Return what must be the same everywhere."""
    if not isinstance(report, dict):
        return {"kind": str(report)}
    data = report["data"] or {}
    return {"kind": report["kind"], **{part: data.get(part) for part in PARTS}}


def differences(address, chromium, requests):  # noqa: F811
    """Return what a page says otherwise than CPython, by version."""
    with visited(chromium, f"{address}{SOFTMAX}", faultless=False) as page:
        texts = [json.dumps(each) for each in requests.values()]
        answers = page.evaluate(CHECK_ALL, [f"{address}{LIVE}/", texts])
    assert len(answers) == len(requests)
    assert {verdict_of(each)["kind"] for each in answers} <= KINDS
    different = {}
    for (key, request), answer in zip(requests.items(), answers, strict=True):
        whole = as_json(verdict_of(check_text(**request)))
        if verdict_of(answer) != whole:
            different[key] = verdict_of(answer), whole
    return different


def as_json(value):
    """Return data as it is after a way through JSON."""
    return json.loads(json.dumps(value))


@NEEDS_PYODIDE
@pytest.mark.parametrize(
    ("requests_of", "names", "least"),
    [(requests_of_bank, RUNNING, 1900), (requests_of_set, SETS, 1400)],
    ids=["banks", "unseen"],
)
def test_page_judges_as_cpython_does(
    requests_of,
    names,
    least,
    answering,  # noqa: F811
    chromium,  # noqa: F811
):
    requests = {}
    for name in names:
        requests |= requests_of(name)
    assert len(requests) > least
    different = differences(answering, chromium, requests)
    assert {key: each for key, each in different.items() if key not in DIFFERENT} == {}
