"""The sentence whose last word changes, in a real browser: weights, keys, typing."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.lessons import pronoun
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, opened, page_text

ALT = "It attends to animal or to street, by the last word."
WORDS = ["An", "<b>ox</b>", "it", "is"]
LAST = ["tired", "שלום", "late"]
WEIGHTS = np.array(
    [[0.1, 0.6, 0.1, 0.1, 0.1], [0.05, 0.05, 0.2, 0.35, 0.35], [0.2] * 5]
)
GROUPS = {"said of an ox": ["tired", "שלום"], "of nothing": ["late"]}
VECTORS = np.array([[2.0, 0.0], [0.0, -1.5], [0.0, 0.0]])


@pytest.fixture
def figure():
    return figures.last_word(WORDS, 2, LAST, WEIGHTS, alt=ALT)


@pytest.fixture
def typed():
    parts = {"parts": ["alive", "wide"], "vectors": VECTORS}
    return figures.last_word(WORDS, 2, LAST, WEIGHTS, alt=ALT, groups=GROUPS, **parts)


def values(page, what):
    return page.eval_on_selector_all(
        f".lw-{what}", "all => all.map(e => Number(e.dataset.value))"
    )


def assert_shows(page, row):
    for what in ("number", "line"):
        np.testing.assert_allclose(values(page, what), WEIGHTS[row], atol=1e-4)
    texts = page.locator(".lw-number").all_inner_texts()
    assert texts == [f"{weight:.2f}" for weight in WEIGHTS[row]]


def sentence(page):
    """Return what is told, without the marks that keep a word's direction."""
    return (
        page.locator(".said").inner_text().replace("\u2068", "").replace("\u2069", "")
    )


def test_weights_on_the_page_are_those_of_the_array(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert_shows(page, 0)
        names = page.locator(".lw-name").all_inner_texts()
        assert names == [*WORDS, "tired"]
        expected = "… is tired: “it” attends most to “<b>ox</b>”, 0.60,"
        assert sentence(page).startswith(expected)


def test_lines_are_as_thick_as_their_weights(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        thick = page.eval_on_selector_all(
            ".lw-line", "all => all.map(e => parseFloat(e.style.strokeWidth))"
        )
        np.testing.assert_allclose(thick, 0.4 + 13 * WEIGHTS[0])


def test_last_word_is_switched_by_keyboard(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert_shows(page, 1)
        expected = "… is שלום: “it” attends equally to “is” and “שלום”, 0.35 each."
        assert sentence(page) == expected
        pressed = page.locator(".lw-choice[aria-pressed=true]")
        assert pressed.all_inner_texts() == ["שלום"]
        page.get_by_role("button", name="late").click()
        assert_shows(page, 2)
        assert sentence(page) == (
            "… is late: “it” attends to all 5 words equally, 0.20 each."
        )


def test_press_on_the_last_word_takes_the_next_one(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        for row in (1, 2, 0):
            page.locator(".lw-last").click()
            assert_shows(page, row)


def test_last_word_is_reached_first_and_switched_by_arrows(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator(".lw-choice").last.focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.matches('.lw-last')")
        page.keyboard.press("ArrowDown")
        assert_shows(page, 1)
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        assert_shows(page, 2)


def test_words_are_reached_by_arrow_keys_and_told(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator("button.lw-word").first.focus()
        assert sentence(page) == "“it” attends to “An” with 0.100."
        page.keyboard.press("ArrowRight")
        assert sentence(page) == "“it” attends to “<b>ox</b>” with 0.600."
        assert page.locator(".lw-line.lw-aside").count() == 4


def test_known_word_that_is_typed_shows_its_weights(typed, tmp_path):
    with opened(tmp_path, typed) as page:
        assert page.locator(".lw-vector").inner_text() == "query of it: alive 2, wide 0"
        page.get_by_label("last word", exact=True).fill("Late ")
        assert_shows(page, 2)
        page.get_by_label("last word", exact=True).fill("שלום")
        assert_shows(page, 1)
        vector = "query of it: alive 0, wide −1.50"
        assert page.locator(".lw-vector").inner_text() == vector


def test_vector_has_the_name_that_the_lesson_chose(tmp_path):
    more = {"parts": ["alive", "wide"], "vectors": VECTORS, "vector_name": "it becomes"}
    figure = figures.last_word(WORDS, 2, LAST, WEIGHTS, alt=ALT, **more)
    with opened(tmp_path, figure) as page:
        assert page.locator(".lw-vector").inner_text() == "it becomes: alive 2, wide 0"
        page.locator(".lw-last").click()
        vector = "it becomes: alive 0, wide −1.50"
        assert page.locator(".lw-vector").inner_text() == vector


def test_offered_words_are_taken_by_a_press(tmp_path):
    more = {"groups": GROUPS, "offered": ["late", "tired"]}
    figure = figures.last_word(WORDS, 2, LAST, WEIGHTS, alt=ALT, **more)
    with opened(tmp_path, figure) as page:
        field = page.get_by_role("textbox", name="last word")
        pressed = page.locator(".lw-choice[aria-pressed=true]")
        assert page.locator(".lw-choice").all_inner_texts() == ["late", "tired"]
        assert pressed.all_inner_texts() == ["tired"]
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert_shows(page, 2)
        assert field.input_value() == "late" and pressed.all_inner_texts() == ["late"]
        field.fill("purple")
        assert pressed.count() == 0
        page.locator(".lw-choice").first.click()
        assert field.input_value() == "late"


def test_unknown_word_is_marked_and_has_no_lines(typed, tmp_path):
    with opened(tmp_path, typed) as page:
        field = page.get_by_label("last word", exact=True)
        field.fill("purple")
        assert field.get_attribute("aria-invalid") == "true"
        assert "“purple” is unknown here" in sentence(page)
        assert page.locator(".lw-number").all_inner_texts() == ["?"] * 5
        assert values(page, "line") == [0] * 5
        field.fill("ti")
        assert sentence(page).endswith("begin with “ti”: tired.")
        field.fill("")
        assert sentence(page) == "Type the last word: 3 words are known."
        field.fill("tired")
        assert field.get_attribute("aria-invalid") == "false"
        assert_shows(page, 0)


def test_list_says_which_words_are_known(typed, tmp_path):
    with opened(tmp_path, typed) as page:
        page.get_by_text("The 3 known words").click()
        assert page.locator(".lw-group").count() == len(GROUPS)
        assert page.locator(".lw-known").all_inner_texts() == LAST
        page.locator(".lw-known").nth(2).click()
        assert_shows(page, 2)
        assert page.get_by_label("last word", exact=True).input_value() == "late"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["chosen", "typed"])
def test_view_is_accessible(kind, figure, typed, tmp_path):
    assert_accessible(tmp_path, figure if kind == "chosen" else typed)


def test_long_sentence_fits_on_a_phone(tmp_path):
    weights = [pronoun.choice(word)["weights"][0] for word in pronoun.known_words()]
    figure = figures.last_word(**pronoun.typed(weights), alt=ALT)
    with opened(tmp_path, figure) as page:
        page.set_viewport_size({"width": 360, "height": 900})
        page.get_by_text("known words").click()
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])


def test_name_of_html_stays_text(figure):
    assert "<b>ox" not in page_text(figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": []}, "query=2 is no position among 0 words"),
        ({"query": 4}, "query=4 is no position among 4 words"),
        ({"last_words": []}, "0 last words"),
        ({"last_words": ["a", "a", "b"]}, "a last word is there twice"),
        ({"weights": WEIGHTS[:2]}, "shape"),
        ({"weights": WEIGHTS * 3}, "weights lie between 0 and 1"),
        ({"chosen": "wide"}, "chosen='wide' is none of the last words"),
        ({"groups": {"all": ["tired"]}}, "groups must have each last word once"),
        ({"offered": ["wide"]}, r"offered=\['wide'\]: no group has these words"),
        ({"vectors": VECTORS}, r"vectors of shape \(3, 2\) do not fit 3"),
    ],
)
def test_unfit_data_is_refused(change, message):
    arguments = {"words": WORDS, "query": 2, "last_words": LAST, "weights": WEIGHTS}
    with pytest.raises(ValueError, match=message):
        figures.last_word(**(arguments | change), alt=ALT)
