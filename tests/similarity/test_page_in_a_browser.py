"""The page of similar pairs in headless Chromium: widths, paper, dark, no requests."""

import pytest

from autograder.similarity.answers import ClassAnswers, LeftOut, WrittenPart
from autograder.similarity.page import render_page
from autograder.similarity.pairs import Comparison, SharedExercise, SimilarPair
from autograder.similarity.tokens import tokens
from tests.browser import ATTACK, TOO_WIDE, recorded

pytestmark = pytest.mark.browser
CODE = f"""\
def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))  # {ATTACK}
    a_name_without_end_{"x" * 300} = powers
    return powers / powers.sum(axis=axis, keepdims=True)
"""


def comparison(left="amara", right="bjarne"):
    """Return a comparison of two, made by hand."""
    parts = [
        WrittenPart(f"01 {name}", CODE, tuple(tokens(CODE, 1000)))
        for name in ("softmax", "attention")
    ]
    names = tuple(part.exercise for part in parts)
    answers = ClassAnswers(
        ["01_dot_product_attention"],
        {left: parts, right: parts},
        [*names],
        left_out=[LeftOut(ATTACK, "01", ATTACK)],
    )
    shared = (SharedExercise("01 softmax", 4000.0, 3.6),)
    pair = SimilarPair(left, right, 3.6, shared, names, names)
    return Comparison(answers, [pair], 2.0, 1, 1)


@pytest.fixture
def show(browser, tmp_path):
    """Open the page; its requests and messages are recorded."""

    def open_page(compared, width=1280):
        path = tmp_path / "similar.html"
        students = (*compared.students, ATTACK)
        text = render_page(compared, {name: name for name in students})
        path.write_text(text, encoding="utf-8")
        browser.set_viewport_size({"width": width, "height": 900})
        browser.goto(path.as_uri())
        return browser

    with recorded(browser) as requests:
        yield open_page
    assert {*requests} <= {(tmp_path / "similar.html").as_uri()}


def test_untrusted_text_runs_nothing_and_requests_nothing(show):
    opened = show(comparison(ATTACK, f"zeno{ATTACK}"))
    assert opened.title() == "Similar submissions: 01_dot_product_attention"
    assert opened.locator("script, img").count() == 0
    assert opened.locator("pre", has_text=ATTACK).count() == 4


@pytest.mark.parametrize("width", [360, 1280])
def test_page_fits_the_width_of_the_window(show, width):
    opened = show(comparison("w" * 255, ATTACK), width)
    opened.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.evaluate(TOO_WIDE) == []


def test_codes_are_side_by_side_or_one_below_the_other(show):
    for width, beside in ((1280, True), (360, False)):
        first, second = show(comparison(), width).locator("pre").all()[:2]
        tops = first.bounding_box()["y"], second.bounding_box()["y"]
        assert (tops[0] == tops[1]) is beside


def test_shared_code_is_marked_and_a_remark_is_not(show):
    marked = show(comparison()).locator("pre").first.locator("mark").all_text_contents()
    assert marked[0] == "def softmax(x, axis=-1):"
    assert not any("document.title" in each for each in marked)


def test_dark_page_is_dark_and_marks_stay_legible(show):
    opened = show(comparison())
    opened.emulate_media(color_scheme="dark")
    colours = (
        "each => [getComputedStyle(each).backgroundColor, getComputedStyle(each).color]"
    )
    assert opened.locator("body").evaluate(colours)[0] == "rgb(20, 23, 27)"
    mark = opened.locator("mark").first.evaluate(colours)
    assert mark == ["rgb(90, 70, 0)", "rgb(246, 240, 220)"]


def test_print_is_unfolded_and_side_by_side(show):
    opened = show(comparison(), 688)  # the width of A4 between its margins
    folded = opened.locator("details pre").first
    assert not folded.is_visible()
    opened.emulate_media(media="print", color_scheme="dark")
    assert folded.is_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") == 688
    first, second = opened.locator("pre").all()[:2]
    assert first.bounding_box()["y"] == second.bounding_box()["y"]
