"""The query that is dragged, in a real browser: its numbers, pointer and keys."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.attention import softmax
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, opened, page_text

ALT = "The kitten's arrow lies close to the cat's."
QUERY = np.array([3.2, 0.1])
KEYS = {"cat": np.array([3.0, 0.5]), "<b>bird": np.array([2.5, 3.0]), "car": [0.5, 0.2]}
VALUES = np.array([4.0, 2.0, 0.0])
AXES = {"xlabel": "alive", "ylabel": "flies"}
ALL = {"show": ["dot product", "cosine", "weight"], "values": VALUES}


def drawn(**options):
    options = {"show": ["dot product"], **AXES, **options}
    return figures.draggable_query("kitten", QUERY, KEYS, alt=ALT, **options)


@pytest.fixture
def figure():
    return drawn(**ALL, value_name="legs")


def assert_shows(page, query):
    """Compare every number on the page with those computed here."""
    keys = np.array([*KEYS.values()])
    query = np.array(query)
    dots = keys @ query
    lengths = np.linalg.norm(keys, axis=1) * np.linalg.norm(query)
    expected = {
        "dot product": dots,
        "cosine": np.divide(dots, lengths, out=np.zeros(3), where=lengths > 0),
        "weight": softmax(dots),
    }
    for what, numbers in expected.items():
        on_page = page.eval_on_selector_all(
            f'.dq-number[data-of="{what}"]',
            "all => all.map(e => Number(e.dataset.value))",
        )
        np.testing.assert_allclose(on_page, numbers, atol=1e-9)
    angle = float(page.get_attribute(".dq-where", "data-value"))
    assert angle == pytest.approx(np.degrees(np.arctan2(query[1], query[0])))
    mean = float(page.get_attribute(".dq-answer b", "data-value"))
    assert mean == pytest.approx(softmax(dots) @ VALUES)
    texts = [f"{each:.1f}".replace("-", "−") for each in query]
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == (
        f"alive {texts[0]}, flies {texts[1]}"
    )


def test_numbers_on_the_page_are_those_of_the_arrays(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert_shows(page, QUERY)
        first = page.locator(".dq-row.dq-first .dq-of").inner_text()
        assert first.startswith("cat")


def swipe(page, x, y, dx, dy):
    """Move a finger over the page, in eight steps."""
    session = page.context.new_cdp_session(page)
    for step in range(9):
        kind = "touchMove" if step else "touchStart"
        points = [{"x": x + dx * step / 8, "y": y + dy * step / 8}]
        message = {"type": kind, "touchPoints": points}
        session.send("Input.dispatchTouchEvent", message)
        page.wait_for_timeout(20)
    end = {"type": "touchEnd", "touchPoints": []}
    session.send("Input.dispatchTouchEvent", end)


def middle_of(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_finger_on_the_handle_drags_and_elsewhere_scrolls(figure, tmp_path):
    with opened(tmp_path, figure, has_touch=True) as page:
        page.set_viewport_size({"width": 390, "height": 500})
        page.evaluate("document.body.style.paddingBottom = '3000px'")
        page.locator(".dq-plane").scroll_into_view_if_needed()
        before = page.evaluate("scrollY")
        x, y = middle_of(page, ".dq-tip")
        swipe(page, x, y, -40, -80)
        assert float(page.get_attribute(".dq-where", "data-value")) > 20
        assert page.evaluate("scrollY") == before
        x, y = middle_of(page, ".dq-plane")
        swipe(page, 0.4 * x, y, 0, -100)
        becomes_true(page, lambda: page.evaluate("scrollY") > before)


def test_query_is_moved_by_arrow_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.keyboard.press("Tab")
        for _ in range(6):
            page.keyboard.press("ArrowUp")
        assert_shows(page, [3.2, 0.7])
        assert (
            page.locator(".dq-row.dq-first .dq-of").inner_text().startswith("<b>bird")
        )
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        assert_shows(page, [2.8, 0.6])
        sentence = page.locator(".said").inner_text()
        assert sentence.startswith(
            "kitten at alive 2.8, flies 0.6. dot product / cosine"
        )
        page.keyboard.press("Home")
        assert_shows(page, QUERY)


def test_arrow_is_reached_first_from_both_sides(figure, tmp_path):
    is_reached = "document.activeElement.classList.contains('dq-handle')"
    with opened(tmp_path, figure) as page:
        page.evaluate(
            """() => ["afterbegin", "beforeend"].forEach(
                each => document.body.insertAdjacentHTML(each, "<button>b</button>"))"""
        )
        for button, keys in (("first", "Tab"), ("last", "Shift+Tab")):
            getattr(page.get_by_role("button", name="b", exact=True), button).focus()
            page.keyboard.press(keys)
            assert page.evaluate(is_reached), keys
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert_shows(page, QUERY)
        assert page.evaluate(is_reached)  # the button is no stop any more


def test_query_is_dragged_and_brought_back(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        box = page.locator(".dq-tip").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        line = page.locator(".dq-axis").first.bounding_box()
        unit = line["height"] / 5  # the axes go from −1 to 4
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - unit, y - unit, steps=4)
        assert_shows(page, [2.2, 1.1])
        page.mouse.move(x + 5 * unit, y + 5 * unit, steps=4)  # it stays in the plane
        assert_shows(page, [4.0, -1.0])
        page.mouse.up()
        page.mouse.move(x, y)
        assert_shows(page, [4.0, -1.0])
        page.get_by_role("button", name="back to the start").click()
        assert_shows(page, QUERY)


OVERLAPPING = """() => {
    const parts = [...document.querySelectorAll(".dq-name, .dq-tip")];
    const [boxes, slack] = [parts.map(each => each.getBoundingClientRect()), 1];
    const meets = (a, b) => a.left + slack < b.right && b.left + slack < a.right
        && a.top + slack < b.bottom && b.top + slack < a.bottom;
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => meets(a, b))
        .map(() => parts[i].textContent));
}"""


def test_names_never_overlap_as_the_query_turns(tmp_path):
    for degrees in (-2, 0, 5, 9, 11, 13, 15, 18, 25, 40, 50):
        angle = np.radians(degrees)
        query = 3.2 * np.array([np.cos(angle), np.sin(angle)])
        figure = figures.draggable_query("kitten", query, KEYS, alt=ALT, **AXES)
        with opened(tmp_path, figure) as page:
            assert page.evaluate(OVERLAPPING) == [], degrees


TOO_NEAR = """() => {
    const centre = part => { const b = part.getBoundingClientRect();
        return [b.left + b.width / 2, b.top + b.height / 2, b.width / 2]; };
    const [x, y, reach] = centre(document.querySelector(".dq-reach"));
    const away = b => Math.hypot(Math.max(b.left - x, x - b.right, 0),
        Math.max(b.top - y, y - b.bottom, 0));
    return [...document.querySelectorAll(".dq-name")]
        .filter(each => away(each.getBoundingClientRect()) < reach)
        .map(each => each.textContent);
}"""


def test_names_keep_clear_of_the_halo_as_the_query_moves(tmp_path):
    with opened(tmp_path, drawn()) as page:
        page.keyboard.press("Tab")
        for key in 12 * ["ArrowUp"] + 4 * ["ArrowLeft"] + 16 * ["ArrowDown"]:
            page.keyboard.press(key)
            position = page.get_by_role("slider").get_attribute("aria-valuetext")
            assert page.evaluate(TOO_NEAR) == [], position
            assert page.evaluate(OVERLAPPING) == [], position


def test_query_at_the_origin_has_equal_weights(tmp_path):
    figure = figures.draggable_query("q", [0.0, 0.0], KEYS, alt=ALT, **AXES, **ALL)
    with opened(tmp_path, figure) as page:
        assert_shows(page, [0.0, 0.0])


def test_view_shows_what_is_asked_for(tmp_path):
    with opened(tmp_path, drawn()) as page:
        heads = page.locator(".dq-head").all_inner_texts()
        assert heads == ["key", "dot product"]
        assert page.locator(".dq-answer").count() == 0


@pytest.mark.thorough
def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


def test_all_columns_fit_on_a_phone(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.set_viewport_size({"width": 360, "height": 900})
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])


def test_name_of_html_stays_text(figure):
    assert "<b>bird" not in page_text(figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"show": []}, r"show=\[\] must be some of dot product"),
        ({"show": ["angle"]}, r"show=\['angle'\] must be some of"),
        ({"values": [1.0]}, r"values of shape \(3,\)"),
        ({"values": [1.0, 2.0, np.nan]}, "values must be finite"),
    ],
)
def test_unfit_options_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        drawn(**change)


@pytest.mark.parametrize(
    ("name", "query", "keys", "message"),
    [
        ("q", [1.0], KEYS, r"shape \(2,\), got \(1,\)"),
        ("q", [1.0, np.inf], KEYS, "the query 'q' must be finite"),
        ("q", QUERY, {"a": [1.0, 2.0, 3.0]}, r"key 'a' of shape \(2,\)"),
        ("q", QUERY, {}, "must be 1 to 6 names"),
        ("cat", QUERY, KEYS, "names other than 'cat'"),
    ],
)
def test_unfit_arrows_are_refused(name, query, keys, message):
    with pytest.raises(ValueError, match=message):
        figures.draggable_query(name, query, keys, alt=ALT, **AXES)
