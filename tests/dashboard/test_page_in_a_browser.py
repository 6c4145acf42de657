"""The instructor's page in headless Chromium: keyboard, widths, paper, no requests."""

import itertools

import pytest

from autograder.dashboard.page import page
from tests.browser import page_of
from tests.dashboard.classes import TIMES, answer, graded, invalid, many, of, six

pytestmark = pytest.mark.browser

ATTACK = '"><img src=http://example.invalid/x onerror="document.title=1"><script>'
FOCUSED = """() => {
    const at = document.activeElement;
    at.scrollIntoView();
    const box = at.getBoundingClientRect();
    return {tag: at.tagName, text: at.textContent.trim(), top: scrollY + box.top,
            outline: getComputedStyle(at).outlineStyle, href: at.getAttribute("href")};
}"""
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter(each =>
    !each.closest(".scroll table, .hidden") &&
    each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML)"""


@pytest.fixture(scope="module")
def browser():
    with page_of("about:blank") as opened:
        yield opened


@pytest.fixture
def show(browser, tmp_path):
    """Open the page on a class; what it asks for and says is kept."""
    said, asked = [], []
    listeners = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "dialog": lambda dialog: (said.append(dialog.message), dialog.dismiss()),
        "request": lambda request: asked.append(request.url),
    }
    for event, listener in listeners.items():
        browser.on(event, listener)

    def opened(group, width=1400):
        path = tmp_path / "report.html"
        path.write_text(page(group), encoding="utf-8")
        browser.set_viewport_size({"width": width, "height": 900})
        browser.goto(path.as_uri())
        return browser

    yield opened
    assert said == []
    assert {*asked} <= {(tmp_path / "report.html").as_uri()}
    browser.emulate_media(media="screen", color_scheme="light")
    for event, listener in listeners.items():
        browser.remove_listener(event, listener)


def hostile():
    return of(
        [
            *six(),
            graded(ATTACK, answer("softmax", "wrong"), repairs=(ATTACK,)),
            invalid(f"zeno{ATTACK}", ATTACK),
            graded("w" * 255, answer("softmax")),
        ],
        TIMES,
    )


def test_nothing_runs_and_nothing_is_asked_for(show):
    opened = show(hostile())
    assert opened.title() == "Dot-product attention: the class's results"
    assert opened.locator("script, img").count() == 0
    assert opened.locator("bdi", has_text=ATTACK).count() > 0


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("make", [hostile, lambda: of(many(150))], ids=["few", "many"])
def test_the_page_is_as_wide_as_the_window(show, width, make):
    opened = show(make(), width)
    opened.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.evaluate(TOO_WIDE) == []


def test_the_keyboard_reaches_everything_from_top_to_bottom(show):
    opened = show(of(many(40)), 1000)
    shown = "a, summary, [tabindex='0']"
    wanted = opened.locator(shown).filter(visible=True).count()
    reached = []
    for _ in range(wanted):
        opened.keyboard.press("Tab")
        reached.append(opened.evaluate(FOCUSED))
    assert reached[0]["text"] == "Skip to the numbers"
    assert all(each["outline"] == "solid" for each in reached)
    tops = [each["top"] for each in reached[1:]]
    assert all(below > above - 40 for above, below in itertools.pairwise(tops))
    summaries = opened.locator("summary").filter(visible=True).all_text_contents()
    assert [each["text"] for each in reached if each["tag"] == "SUMMARY"] == [
        text.strip() for text in summaries
    ]
    assert len(summaries) > 20


def test_the_skip_link_and_a_folded_list_work_by_keyboard(show):
    opened = show(of(many(40)))
    opened.keyboard.press("Tab")
    assert opened.locator(".skip").bounding_box()["y"] >= 0
    opened.keyboard.press("Enter")
    opened.keyboard.press("Tab")
    table = opened.get_by_role("table", name="Students by points")
    assert opened.evaluate(FOCUSED)["text"] == "The scores as a table"
    assert not table.is_visible()
    opened.keyboard.press("Enter")
    assert table.is_visible()


def test_the_dark_page_is_dark(show):
    opened = show(of(six()))
    behind = "getComputedStyle(document.body).backgroundColor"
    assert opened.evaluate(behind) == "rgb(255, 255, 255)"
    opened.emulate_media(color_scheme="dark")
    assert opened.evaluate(behind) == "rgb(20, 23, 27)"


def test_on_paper_all_is_unfolded_light_and_nothing_is_cut(show):
    opened = show(of(many(120)), 688)  # the width of A4 between its margins
    last = opened.locator("bdi", has_text="student-00119").last
    assert not last.is_visible()
    opened.emulate_media(media="print", color_scheme="dark")
    assert last.is_visible()
    assert opened.locator("nav").is_hidden()
    behind = "getComputedStyle(document.body).backgroundColor"
    assert opened.evaluate(behind) == "rgb(255, 255, 255)"
    assert opened.evaluate("document.documentElement.scrollWidth") == 688


def test_the_columns_are_as_high_as_their_numbers_say(show):
    results = [graded(name, answer("softmax")) for name in "abcd"]
    results += [graded("e", answer("softmax", "wrong"))]
    opened = show(of(results))
    columns = opened.locator(".column").all()
    low, high = (column.bounding_box()["height"] for column in columns)
    assert low == pytest.approx(high / 4, abs=1)
    pictures = opened.locator("[role=img]").all()
    assert all(picture.get_attribute("aria-label") for picture in pictures)
