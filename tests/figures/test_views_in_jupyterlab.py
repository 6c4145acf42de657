"""The lessons' living figures in JupyterLab: alive where trusted, pictures elsewhere.

The outputs are those of the executed lessons, in a notebook that was saved with them.
"""

import json
from urllib.parse import urlsplit

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.course import Course
from autograder.notebooks.assemble import METADATA
from tests.browser import SCREENSHOTS, course_copy, lab_server, page_of
from tests.figures.living import ALIVE, assert_keys_stay

pytestmark = pytest.mark.thorough  # a minute and a half
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/themes": {"theme": "JupyterLab Light"},
}
READY = "document.querySelectorAll('figure.living').length"
CONTRAST = """() => [...document.querySelectorAll(".living-view")].map(view => {
    const levels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (rgb) => 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    const ground = getComputedStyle(document.querySelector(".jp-Notebook"));
    return Math.abs(light(levels(getComputedStyle(view).color))
        - light(levels(ground.backgroundColor)));
})"""


def outputs_of_lessons():
    """Return the HTML of each living figure in the executed lessons."""
    course = Course.here()
    return [
        html
        for lesson in course.built_lessons
        for cell in nbformat.read(course.teacher(lesson), as_version=4).cells
        for output in cell.get("outputs", [])
        if 'class="living"' in (html := output.get("data", {}).get("text/html", ""))
    ]


def write_settings(folder, settings):
    for name, values in settings.items():
        path = folder / ".jupyter/lab/user-settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a course with a notebook of views, once trusted and once not."""
    folder = course_copy(tmp_path_factory.mktemp("views"))
    work = folder / "work" / "views"
    work.mkdir(parents=True)
    signatures = folder / ".local/share/jupyter"
    signatures.mkdir(parents=True)
    for name in ("trusted", "untrusted"):
        cells = []
        for html in outputs_of_lessons():
            data = {"text/html": html, "text/plain": name}
            output = new_output("execute_result", data=data, execution_count=1)
            cells.append(new_code_cell("", outputs=[output], execution_count=1))
        notebook = new_notebook(cells=cells, metadata=METADATA)
        nbformat.write(notebook, work / f"{name}.ipynb")
        if name == "trusted":
            saved = nbformat.read(work / f"{name}.ipynb", as_version=4)
            NotebookNotary(data_dir=str(signatures)).sign(saved)
    write_settings(folder, SETTINGS)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with lab_server(folder) as address:
        yield address


def opened_notebook(page, server, name):
    parts = urlsplit(server)
    path = f"/lab/tree/views/{name}.ipynb"
    page.goto(f"{parts.scheme}://{parts.netloc}{path}?reset&{parts.query}")
    page.wait_for_function(f"{READY} === {len(outputs_of_lessons())}")


def test_every_view_is_alive_in_a_saved_notebook(server):
    count = len(outputs_of_lessons())
    assert count >= 10
    errors, requests = [], []
    with page_of("about:blank") as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console", lambda each: each.type == "error" and errors.append(each.text)
        )
        page.on("request", lambda request: requests.append(request.url))
        opened_notebook(page, server, "trusted")
        page.wait_for_function(f"{ALIVE} === {count}")
        assert_keys_stay(page, count)
        assert errors == []
        host = urlsplit(server).netloc
        assert {urlsplit(each).netloc for each in requests} <= {host, ""}


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_views_are_read_in_both_themes(theme, folder, server):
    write_settings(
        folder,
        {"@jupyterlab/apputils-extension/themes": {"theme": f"JupyterLab {theme}"}},
    )
    with page_of("about:blank") as page:
        opened_notebook(page, server, "trusted")
        page.wait_for_function(
            f"document.body.dataset.jpThemeLight === '{theme == 'Light'}'.toLowerCase()"
        )
        page.wait_for_function(f"{ALIVE} === {len(outputs_of_lessons())}")
        assert min(page.evaluate(CONTRAST)) > 120
        page.set_viewport_size({"width": 1280, "height": 12_000})
        page.wait_for_timeout(500)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"views-{theme.lower()}.png")


def test_untrusted_notebook_has_pictures_and_their_words(server):
    with page_of("about:blank") as page:
        opened_notebook(page, server, "untrusted")
        page.wait_for_timeout(1000)
        assert page.evaluate(ALIVE) == 0
        pictures = page.locator("figure.living img")
        assert pictures.count() == len(outputs_of_lessons())
        for i in range(pictures.count()):
            assert pictures.nth(i).bounding_box()["width"] > 100
            assert pictures.nth(i).get_attribute("alt")
        assert page.locator(".jp-OutputArea script").count() == 0
