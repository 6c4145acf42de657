"""A lesson that needs PyTorch in a JupyterLab without: it asks, and installs."""

import os
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser import PATIENCE, SCREENSHOTS, course_copy, lab_server, page_of
from tests.workspace.lesson_in_lab import (
    assert_accessible,
    browser,
    cell,
    lesson,
    opened,
    run,
)

pytestmark = [*browser, pytest.mark.thorough]
NOTE = ".attention-course-torch"
SET_UP = 1  # the cell of the imports
IMPORTS = "from autograder import check\n\nimport numpy as np\nimport torch"
ERROR = "ModuleNotFoundError: No module named 'torch'"
# Each Python of the server's behaves as if it had no PyTorch, until pip has brought it.
WITHOUT = """
import os, sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name == "torch" and not os.path.exists({mark!r}):
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Refusing())
"""
PIP = """
import pathlib, sys, time
print("Downloading torch (190 MB)", flush=True)
time.sleep(1.5)
if pathlib.Path({network!r}).exists():
    pathlib.Path({mark!r}).touch()
else:
    sys.exit("no network")
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Yield a folder with ``network``, which a test may make, and the server."""
    folder = tmp_path_factory.mktemp("python")
    marks = {"mark": str(folder / "torch"), "network": str(folder / "network")}
    (folder / "sitecustomize.py").write_text(WITHOUT.format(**marks))
    (folder / "pip").mkdir()
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(PIP.format(**marks))
    course = course_copy(tmp_path_factory.mktemp("course"))
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{before}"
    try:
        with lab_server(course, "01") as address, page_of("about:blank") as page:
            context = page.context.browser.new_context()
            yield folder, (course / "work", urlsplit(address), context)
    finally:
        os.environ["PYTHONPATH"] = before


def lesson_with_torch(imports=IMPORTS):
    notebook = lesson()
    assert notebook.cells[SET_UP].cell_type == "code"
    notebook.cells[SET_UP].source = imports
    return notebook


def test_lesson_without_pytorch_is_left_alone(without):
    _, server = without
    with opened(server, "plain", lesson_with_torch("import numpy as np")) as (page, _):
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.wait_for_timeout(1500)
        expect(page.locator(NOTE)).to_have_count(0)


def test_lesson_asks_for_pytorch_and_installs_it(without):
    folder, server = without
    for mark in ("torch", "network"):
        (folder / mark).unlink(missing_ok=True)
    with opened(server, "torch", lesson_with_torch()) as (page, _):
        note = page.locator(NOTE)
        expect(note).to_contain_text("PyTorch is not installed here")
        expect(note.locator("code")).to_contain_text("pip install")
        assert_accessible(page, NOTE)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "pytorch-is-missing.png")
        top = page.locator(".jp-Notebook").bounding_box()["y"]
        box = note.bounding_box()
        assert box["height"] > 60 and box["y"] + box["height"] <= top + 1
        run(page, SET_UP)
        outputs = cell(page, SET_UP).locator(".jp-OutputArea-output")
        expect(outputs.first).to_contain_text("This cell needs PyTorch")
        expect(outputs.last).to_have_text(
            "ModuleNotFoundError: No module named 'torch'"
        )
        page.screenshot(path=SCREENSHOTS / "pytorch-is-missing-in-a-cell.png")
        note.get_by_role("button").click()
        expect(note.get_by_role("status")).to_contain_text("Installing: 1 s")
        expect(note.locator("pre")).to_contain_text("Downloading torch (190 MB)")
        expect(note.get_by_role("status")).to_contain_text("is not installed")
        expect(note.locator("pre")).to_contain_text("certificate")
        (folder / "network").touch()
        note.get_by_role("button").click()
        expect(note.get_by_role("status")).to_contain_text("PyTorch is here")
        expect(note.get_by_role("button")).to_have_count(0)
        run(page, SET_UP)
        expect(outputs).to_have_count(0, timeout=PATIENCE)
        # Lab says so of each kernel that is started anew.
        page.errors[:] = [e for e in page.errors if "Connection lost" not in e]
