"""JupyterLab with a course, for the tests of what the course adds to it."""

from urllib.parse import urlsplit

import pytest

from tests.browser import (
    course_copy,
    lab_server,
    page_of,
)
from tests.workspace.lesson_in_lab import at_server, expose_the_app, lesson, opened


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield the folder that JupyterLab serves, its address, and a browser's window."""
    folder = course_copy(tmp_path_factory.mktemp("course"))
    expose_the_app(folder)
    with lab_server(folder, "01") as address, page_of("about:blank") as page:
        # One window for all tests: it keeps JupyterLab's scripts, which are large.
        yield folder / "work", urlsplit(address), page.context.browser.new_context()


@pytest.fixture
def page_and_path(server, request):
    with opened(server, request.node.name, lesson()) as both:
        yield both


@pytest.fixture
def script(server):
    """Return a function that calls JavaScript with one of the extension's modules."""
    _, address, window = server
    static = "/lab/extensions/attention-course/static"
    page = window.new_page()
    page.goto(at_server(address, f"{static}/lesson.js?{address.query}"))
    yield lambda name, function, argument=None: page.evaluate(
        f"async ([path, argument]) => ({function})(await import(path), argument)",
        [f"{static}/{name}", argument],
    )
    page.close()
