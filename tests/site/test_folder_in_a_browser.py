"""A book with a folder that has a further package: its exercises answer in Chromium."""

import hashlib
import json
import shutil
import subprocess
import sys

import pytest

from autograder.book.folder import LOCK_FILE
from autograder.book.live import DIGESTS, DRAWING, LOCK
from tests.browser import REPOSITORY, becomes_true
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
ENCODE = "exercises/encode_bytes.html"


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


def digest_of_file(path):
    """Return a file's digest in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@NEEDS_PYODIDE
def test_exercise_loads_the_package_that_it_needs(book, chromium):  # noqa: F811
    with served(book) as address, visited(chromium, f"{address}{ENCODE}") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        said = []
        page.expose_function("heard", said.append)
        page.evaluate(
            """() => {
                const status = document.querySelector(".live-status");
                new MutationObserver(() => heard(status.textContent))
                    .observe(status, { childList: true });
            }"""
        )
        wrong = load_misconception("encode_bytes")
        report = checked(page, wrong)
        assert "claims hold" in report or "claim" in report
        becomes_true(page, lambda: any("Loading regex: about 1 MB" in t for t in said))
        assert "could not be loaded" not in report
        page.evaluate("document.querySelector('.live-report').replaceChildren()")
        assert "solved, all" in checked(page, SPEC.format(name="encode_bytes"))
        assert sum(each.endswith(REGEX) for each in asked) == 1


@NEEDS_PYODIDE
def test_exercise_without_need_loads_no_package(book, chromium):  # noqa: F811
    address_of = "exercises/encode_word.html"
    with served(book) as address, visited(chromium, f"{address}{address_of}") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        assert "solved, all" in checked(page, SPEC.format(name="encode_word"))
        assert not any(each.endswith(REGEX) for each in asked)


def load_misconception(name):
    """Return the text of an exercise's first misconception."""
    from autograder.checking.registry import load

    return MISCONCEPTION.format(name=name, which=load(name).misconceptions[0].name)
