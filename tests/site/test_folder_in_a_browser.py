"""A book with a folder that has a further package: its exercises answer in Chromium."""

import json
import shutil
import subprocess
import sys

import pytest

from autograder.book.folder import LOCK_FILE
from autograder.book.live import DIGESTS, DRAWING, LOCK
from autograder.checking.registry import load
from tests.browser import REPOSITORY
from tests.site import pyodide
from tests.site.stand_in import OF_RE, REGEX, wheel_of
from tests.site.test_answering_in_a_browser import (
    MISCONCEPTION,
    NEEDS_PYODIDE,
    SPEC,
    checked,
    chromium,  # noqa: F401 — a fixture
    served,
    visited,
)
from tests.site.test_folder import entry

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
LESSON = "06_byte_pair_encoding"
ENCODE, WORD = "exercises/encode_bytes.html", "exercises/encode_word.html"
STEP = "Loading regex: about 1 MB, once"
LISTEN = """() => {
    window.said = [];
    const status = document.querySelector(".live-status");
    new MutationObserver(() => said.push(status.textContent))
        .observe(status, { childList: true });
}"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the folder of a book of lesson 06, with a stand-in for regex."""
    root = tmp_path_factory.mktemp("course")
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    solutions = root / "solutions" / LESSON
    solutions.mkdir(parents=True)
    for suffix in (".py", ".ipynb"):
        shutil.copy(REPOSITORY / "solutions" / LESSON / f"{LESSON}{suffix}", solutions)
    folder = root / "pyodide"
    folder.mkdir()
    for name in DIGESTS | DRAWING:
        (folder / name).symlink_to(pyodide.FOLDER.resolve() / name)
    data = wheel_of("regex", OF_RE)
    (folder / REGEX).write_bytes(data)
    packages = LOCK["packages"] | {"regex": entry(REGEX, data, ["regex"])}
    lock = json.dumps({"info": LOCK["info"], "packages": packages})
    (folder / LOCK_FILE).write_text(lock)
    command = [sys.executable, "-m", "autograder", "site", "06", "--pyodide", folder]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return root / "build" / "site"


@NEEDS_PYODIDE
def test_exercise_loads_the_package_that_it_needs(book, chromium):  # noqa: F811
    with served(book) as address, visited(chromium, f"{address}{ENCODE}") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.evaluate(LISTEN)
        wrong = load("encode_bytes").misconceptions[0].name
        text = MISCONCEPTION.format(name="encode_bytes", which=wrong)
        report = checked(page, text)
        assert "not those of their bytes" in report
        assert any(STEP in each for each in page.evaluate("said"))
        assert "could not be loaded" not in report
        page.evaluate("document.querySelector('.live-report').replaceChildren()")
        assert "solved, all" in checked(page, SPEC.format(name="encode_bytes"))
        assert any(each.endswith(REGEX) for each in asked)


@NEEDS_PYODIDE
def test_exercise_without_need_loads_no_package(book, chromium):  # noqa: F811
    with served(book) as address, visited(chromium, f"{address}{WORD}") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        assert "solved, all" in checked(page, SPEC.format(name="encode_word"))
        assert not any(each.endswith(REGEX) for each in asked)
