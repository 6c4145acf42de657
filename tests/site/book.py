"""A small book of two lessons, and what its pages lead to."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup

from autograder.book import documents
from course_lib import figures
from course_lib.figures.living import LivingFigure
from tests.browser import REPOSITORY

LESSONS = ("00_start_here", "01_dot_product_attention")
LESSON = "01_dot_product_attention/01_dot_product_attention.html"
WORDS = ["the", "red", "car"]
ALT = "Each word attends to itself and to nothing else."
ATTRIBUTES = ("href", "src", "action", "data", "poster", "srcset")
LOADED = "script link img iframe source video audio object embed".split()
REMOTE_IN_CSS = re.compile(r"""(?:url\(|@import)\s*['"]?\s*(?:https?:)?//[^'")]*""")


def small_course(root: Path, figure: LivingFigure | None = None) -> Path:
    """Make a course of two executed lessons; the second has a living picture.

    The second has its learner's notebook too.

    figure : another one than lines between three words
    """
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    for lesson in LESSONS:
        folder = root / "solutions" / lesson
        folder.mkdir(parents=True)
        for suffix in (".py", ".ipynb"):
            shutil.copy(REPOSITORY / "solutions" / lesson / f"{lesson}{suffix}", folder)
    folder = root / "notebooks" / LESSONS[1]
    folder.mkdir(parents=True)
    shutil.copy(REPOSITORY / "notebooks" / LESSONS[1] / f"{LESSONS[1]}.ipynb", folder)
    if figure is None:
        figure = figures.attention_lines(np.eye(3), WORDS, WORDS, alt=ALT)
    bundle = figure._repr_mimebundle_()
    path = root / "solutions" / LESSONS[1] / f"{LESSONS[1]}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    drawing = next(each for each in notebook.cells if "attention_lines(" in each.source)
    drawing.outputs = [nbformat.v4.new_output("execute_result", bundle)]
    drawing.outputs[0].execution_count = drawing.execution_count
    path.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8")
    return root


def add_documents(root: Path) -> None:
    """Copy the documentation into a course folder."""
    paths = [each.path for group in documents.GROUPS.values() for each in group]
    for path in (*paths, documents.SCHEMA):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / path, root / path)


def make_site(root: Path, *lessons: str) -> subprocess.CompletedProcess[str]:
    """Run ``autograder site`` in a course folder."""
    return subprocess.run(
        [sys.executable, "-m", "autograder", "site", *lessons],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )


def pages(site: Path) -> dict[Path, BeautifulSoup]:
    """Return the pages of a book by path."""
    paths = (path for path in site.rglob("*.html") if "_static" not in path.parts)
    return {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "lxml") for path in paths
    }


def broken_links(site: Path) -> list[str]:
    """Return a sentence for each internal link without its page or its part."""
    read = pages(site)
    anchors = {path: _anchors(soup) for path, soup in read.items()}
    sentences = []
    for path, soup in read.items():
        for address in _addresses(soup):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else path.parent / unquote(parts.path)
            target = target.resolve()
            name = path.relative_to(site)
            if not target.is_file() or not target.is_relative_to(site):
                sentences.append(f"{name} leads to {address}, which is no file")
            elif parts.fragment and target in anchors:
                if unquote(parts.fragment) not in anchors[target]:
                    sentences.append(f"{name} leads to {address}, which has no part")
    return sorted(set(sentences))


def remote_resources(site: Path) -> list[str]:
    """Return what pages and styles would load from another machine."""
    remote = []
    for path, soup in pages(site).items():
        for tag in soup.find_all(LOADED):
            for name in ATTRIBUTES:
                value = str(tag.get(name, ""))
                if urlsplit(value).netloc:
                    remote.append(f"{path.relative_to(site)}: {value}")
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        addresses = REMOTE_IN_CSS.findall(text)
        remote += [f"{path.relative_to(site)}: {each}" for each in addresses]
    return remote


def _addresses(soup: BeautifulSoup) -> Iterator[str]:
    for tag in soup.find_all(True):
        for name in ("href", "src"):
            value = tag.get(name)
            if value and not str(value).startswith(("data:", "javascript:")):
                yield str(value)


def _anchors(soup: BeautifulSoup) -> set[str]:
    return {str(tag["id"]) for tag in soup.find_all(id=True)} | {"", "top"}


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """Return a folder that the first of a run's processes to need it makes.

    make : fills the folder, which is empty

    The others wait. All read the same files, so no test may change them.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
