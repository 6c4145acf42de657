"""The instructor's page in headless Chromium: keyboard, widths, paper, no requests."""

import itertools

import pytest

from autograder.dashboard.page import render_page
from tests.browser import ATTACK, TOO_WIDE, recorded
from tests.dashboard.classes import TIMES, answer, graded, invalid, many, roster, six

pytestmark = pytest.mark.browser

FOCUSED = """() => {
    const at = document.activeElement;
    at.scrollIntoView();
    const box = at.getBoundingClientRect();
    return {tag: at.tagName, text: at.textContent.trim(), top: scrollY + box.top,
            outline: getComputedStyle(at).outlineStyle, href: at.getAttribute("href")};
}"""


@pytest.fixture
def show(browser, tmp_path):
    """Open the page on a class; its requests and messages are recorded."""

    def open_page(group, width=1400):
        path = tmp_path / "report.html"
        path.write_text(render_page(group), encoding="utf-8")
        browser.set_viewport_size({"width": width, "height": 900})
        browser.goto(path.as_uri())
        return browser

    with recorded(browser) as requests:
        yield open_page
    assert {*requests} <= {(tmp_path / "report.html").as_uri()}


def hostile():
    return roster(
        [
            *six(),
            graded(ATTACK, answer("softmax", "wrong"), repairs=(ATTACK,)),
            invalid(f"zeno{ATTACK}", ATTACK),
            graded("w" * 255, answer("softmax")),
        ],
        TIMES,
    )


def test_untrusted_text_runs_nothing_and_requests_nothing(show):
    opened = show(hostile())
    assert opened.title() == "Dot-product attention: the class's results"
    assert opened.locator("script").count() == 1  # the page's own
    assert opened.locator("img").count() == 0
    assert opened.locator("bdi", has_text=ATTACK).count() > 0


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize(
    "make", [hostile, lambda: roster(many(150))], ids=["few", "many"]
)
def test_page_fits_the_width_of_the_window(show, width, make):
    opened = show(make(), width)
    opened.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.evaluate(TOO_WIDE) == []


def test_keyboard_reaches_everything_from_top_to_bottom(show):
    opened = show(roster(many(40)), 900)  # one column
    focusable = "a, summary, input, select, button, [tabindex='0']"
    count = opened.locator(focusable).filter(visible=True).count()
    reached = []
    for _ in range(count):
        opened.keyboard.press("Tab")
        reached.append(opened.evaluate(FOCUSED))
    assert reached[0]["text"] == "Skip to the numbers"
    assert all(each["outline"] == "solid" for each in reached)
    tops = [each["top"] for each in reached[1:]]
    # The heads of a table's columns have from one to three lines.
    assert all(below > above - 60 for above, below in itertools.pairwise(tops))
    summaries = opened.locator("summary").filter(visible=True).all_text_contents()
    assert [each["text"] for each in reached if each["tag"] == "SUMMARY"] == [
        text.strip() for text in summaries
    ]
    assert len(summaries) > 20


def test_skip_link_and_folded_list_work_by_keyboard(show):
    opened = show(roster(many(40)))
    opened.keyboard.press("Tab")
    assert opened.locator(".skip").bounding_box()["y"] >= 0
    opened.keyboard.press("Enter")
    opened.keyboard.press("Tab")
    table = opened.get_by_role("table", name="Students by points")
    assert opened.evaluate(FOCUSED)["text"] == "The scores as a table"
    assert not table.is_visible()
    opened.keyboard.press("Enter")
    assert table.is_visible()


def test_dark_page_is_dark(show):
    opened = show(roster(six()))
    behind = "getComputedStyle(document.body).backgroundColor"
    assert opened.evaluate(behind) == "rgb(255, 255, 255)"
    opened.emulate_media(color_scheme="dark")
    assert opened.evaluate(behind) == "rgb(20, 23, 27)"


def test_print_is_unfolded_light_and_not_cut(show):
    opened = show(roster(many(120)), 688)  # the width of A4 between its margins
    last = opened.locator("bdi", has_text="student-00119").last
    assert not last.is_visible()
    opened.emulate_media(media="print", color_scheme="dark")
    assert last.is_visible()
    assert opened.locator("nav").is_hidden()
    behind = "getComputedStyle(document.body).backgroundColor"
    assert opened.evaluate(behind) == "rgb(255, 255, 255)"
    assert opened.evaluate("document.documentElement.scrollWidth") == 688


def test_columns_are_as_high_as_their_counts(show):
    results = [graded(name, answer("softmax")) for name in "abcd"]
    results += [graded("e", answer("softmax", "wrong"))]
    opened = show(roster(results))
    columns = opened.locator(".column").all()
    low, high = (column.bounding_box()["height"] for column in columns)
    assert low == pytest.approx(high / 4, abs=1)
    pictures = opened.locator("[role=img]").all()
    assert all(picture.get_attribute("aria-label") for picture in pictures)
