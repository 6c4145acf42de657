"""No lesson gives a prediction away in JupyterLab before it is made and run."""

from urllib.parse import urlsplit

import nbformat
import pytest

from autograder.course import Course
from autograder.system import find_browser
from tests.browser import course_copy, lab_server, page_of
from tests.quick import all_but
from tests.spoilers import LAB_BLOCKS, Prediction, predictions_of, spoilers, spoilers_on

COURSE = Course.here()
QUICK = ("07_from_numpy_to_pytorch",)
# Cells out of sight would not be drawn: a person scrolls to them.
SETTINGS = ".jupyter/lab/user-settings/@jupyterlab/notebook-extension"
DRAWN = """([cells, predictions]) =>
    document.querySelectorAll(".jp-Notebook .jp-Cell").length === cells &&
    document.querySelectorAll("ul.attention-choices").length === predictions &&
    [...document.querySelectorAll(".jp-MarkdownCell")].every(each =>
        each.querySelector(".jp-MarkdownOutput")?.textContent.trim())"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Yield a page, and a function from a lesson to its address in JupyterLab."""
    folder = course_copy(tmp_path_factory.mktemp("course"))
    settings = folder / SETTINGS
    settings.mkdir(parents=True)
    name = "tracker.jupyterlab-settings"
    (settings / name).write_text('{"windowingMode": "none"}')
    with lab_server(folder, "01") as address, page_of("about:blank") as page:
        at = urlsplit(address)
        server = f"{at.scheme}://{at.netloc}/lab/tree"
        yield page, lambda name: f"{server}/{name}/{name}.ipynb?reset&{at.query}"


@pytest.mark.browser
@pytest.mark.skipif(not find_browser(), reason="neither Chromium nor Chrome is here")
@pytest.mark.parametrize("lesson", all_but(QUICK, COURSE.lessons))
def test_lesson_gives_no_guess_away(lab, lesson):
    page, address_of = lab
    page.goto(address_of(lesson))
    cells = len(nbformat.read(COURSE.learner(lesson), as_version=4).cells)
    counts = [cells, len(predictions_of(COURSE, lesson))]
    page.wait_for_function(DRAWN, arg=counts)
    assert spoilers_on(COURSE, lesson, page.evaluate(LAB_BLOCKS)) == []


GRAD = Prediction("07", "**Predict:** what is `w.grad` now?", "12", ("6", "9"))


@pytest.mark.parametrize(
    "below, telling",
    [
        ("print(w.grad.item())", []),
        ("print(w.grad.item())\nassert w.grad.item() == 12", ["assert", "12"]),
        ("assert w.grad > 9 •••", ["assert"]),
        ("The gradients of twelve steps are summed.", ["12"]),
        ("It is neither 6 nor 9.", []),
        ("def test(f):\n    assert f(1)", []),
    ],
)
def test_what_tells_the_answer_is_noticed(below, telling):
    above = "The derivative of w² at 3."
    rows = spoilers(GRAD, above, below)
    assert [each.split()[0] for each in rows] == telling
    assert "12" not in spoilers(GRAD, f"{above} A dozen is 12.", below)
