"""The softmax view in a real browser: its numbers, the slider, pointing, keys."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.attention import softmax, softmax_jacobian
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, opened, page_text

SCORES = np.array([2.0, -1.5, 0.25, 4.0])
NAMES = ["street", "<b>it</b>", "שלום", "animal"]
ALT = "The word animal has the largest score and weight."
SETTLED = "document.getAnimations().every(each => each.playState !== 'running')"


@pytest.fixture
def figure():
    return figures.softmax(SCORES, NAMES, alt=ALT, divisor=2.0, divided_by="√d_k")


def numbers_of(page, strip):
    values = page.eval_on_selector_all(
        f"[data-strip={strip}]", "all => all.map(e => Number(e.dataset.value))"
    )
    return np.array(values)


def fact(page, name):
    return float(page.get_attribute(f"[data-fact={name}] b", "data-value"))


def assert_shows(page, divisor, pointed):
    """Compare every number on the page with those computed here."""
    weights = softmax(SCORES / divisor)
    jacobian = softmax_jacobian(weights)
    expected = {
        "scores": SCORES / divisor,
        "weights": weights,
        "jacobian": jacobian[pointed],
    }
    for strip, values in expected.items():
        np.testing.assert_allclose(numbers_of(page, strip), values, atol=1e-12)
    assert fact(page, "largest") == pytest.approx(weights.max())
    assert fact(page, "size") == pytest.approx(np.linalg.norm(jacobian))
    assert float(page.get_attribute("output", "data-value")) == pytest.approx(divisor)


def sentence(page):
    """Return what is told, without the marks that keep a word's direction."""
    text = page.locator(".said").inner_text()
    return text.replace("\u2068", "").replace("\u2069", "")


def test_numbers_on_the_page_are_those_of_the_scores(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert_shows(page, 2.0, pointed=3)
        texts = page.locator("[data-strip=scores]").all_inner_texts()
        assert texts == ["1.00", "−0.75", "0.13", "2.00"]


def test_bars_are_as_high_as_numbers(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.wait_for_function(SETTLED)
        for strip, span in {"scores": 5.5, "weights": 1.0, "jacobian": 0.5}.items():
            parts = page.eval_on_selector_all(
                f".{strip} .plot",
                "all => all.map(e => e.querySelector('.bar').offsetHeight / "
                "e.clientHeight)",
            )
            expected = np.maximum(np.abs(numbers_of(page, strip)) / span, 0.01)
            np.testing.assert_allclose(parts, expected, atol=0.02)


def test_slider_divides_by_keyboard(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        slider = page.get_by_label("scores divided by")
        slider.focus()
        for _ in range(8):
            page.keyboard.press("ArrowRight")
        assert_shows(page, 4.0, pointed=3)
        assert slider.get_attribute("aria-valuetext") == "4.00"
        assert sentence(page) == (
            "Divided by 4.00: the largest weight is 0.44 (animal)."
        )
        page.keyboard.press("Home")
        assert_shows(page, 2.0 / 32, pointed=3)


def test_buttons_set_the_divisor(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="÷ 1.00").focus()
        page.keyboard.press("Enter")
        assert_shows(page, 1.0, pointed=3)
        assert page.get_by_label("scores divided by").input_value() == "-8"
        pressed = page.locator("[aria-label='set the divisor'] [aria-pressed=true]")
        assert pressed.all_inner_texts() == ["÷ 1.00"]
        page.get_by_role("button", name="÷ √d_k = 2.00").click()
        assert_shows(page, 2.0, pointed=3)


def test_view_without_jacobian_speaks_of_shares_alone(tmp_path):
    options = {"divided_by": "", "called": "shares", "jacobian": False}
    figure = figures.softmax(SCORES, NAMES, alt=ALT, **options)
    with opened(tmp_path, figure) as page:
        assert numbers_of(page, "jacobian").size == 0
        np.testing.assert_allclose(numbers_of(page, "weights"), softmax(SCORES))
        slider = page.get_by_label("scores divided by")
        slider.focus()
        page.keyboard.press("End")
        expected = "Divided by 32.00: the largest share is 0.27 (animal)."
        assert sentence(page) == expected
        page.locator(".names button").first.focus()
        expected = "street: score 2.00 ÷ 32.00 = 0.06, share 0.26."
        assert sentence(page) == expected
        assert "weight" not in page.locator(".living-view").inner_text()


def test_scale_of_scores_stays_and_long_bars_are_broken(tmp_path):
    figure = figures.softmax([2.0, 1.0, -1.0], ["a", "b", "c"], alt=ALT)
    with opened(tmp_path, figure) as page:
        slider = page.get_by_label("divided by the temperature")
        slider.focus()
        for _ in range(2 * 8):
            page.keyboard.press("ArrowLeft")
        page.wait_for_function(SETTLED)
        np.testing.assert_allclose(numbers_of(page, "scores"), [8.0, 4.0, -4.0])
        drawn = page.eval_on_selector_all(
            ".scores .plot",
            "all => all.map(e =>"
            " e.querySelector('.bar').offsetHeight / e.clientHeight)",
        )
        np.testing.assert_allclose(drawn, [4 / 6, 4 / 6, 2 / 6], atol=0.02)
        broken = page.eval_on_selector_all(
            ".scores .bar", "all => all.map(e => e.classList.contains('broken'))"
        )
        assert broken == [True, False, True]
        assert page.locator(".title").first.inner_text() == (
            "scores ÷ 0.250 (grey: before; broken: longer than drawn)"
        )
        ghost, bar = (
            page.locator(f".scores .{each}").first.bounding_box()["width"]
            for each in ("ghost", "bar")
        )
        assert ghost > bar, "what was before is seen behind a longer bar"


def test_shown_divisor_is_the_one_that_divides(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_label("scores divided by").focus()
        for _ in range(33):
            page.keyboard.press("ArrowLeft")
            sentence = page.locator("output").inner_text()
            assert float(page.get_attribute("output", "data-value")) == float(sentence)


def test_divisor_without_name_is_a_temperature(tmp_path):
    figure = figures.softmax(SCORES, NAMES, alt=ALT)
    with opened(tmp_path, figure) as page:
        assert page.get_by_label("divided by the temperature").input_value() == "0"
        assert_shows(page, 1.0, pointed=3)


def test_every_score_is_reached_by_arrow_keys_and_told(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator(".names button").first.focus()
        assert_shows(page, 2.0, pointed=0)
        assert sentence(page) == (
            "street: score 2.00 ÷ 2.00 = 1.00, weight 0.23. If its divided score "
            "rises, its weight moves by 0.18 times as much, animal by −0.15, "
            "שלום by −0.02, <b>it</b> by −0.01."
        )
        page.keyboard.press("ArrowRight")
        assert sentence(page).startswith("<b>it</b>: score −1.50 ÷ 2.00 = −0.75")
        page.keyboard.press("End")
        assert_shows(page, 2.0, pointed=3)


def test_pointing_at_a_bar_chooses_its_row(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator(".weights .lv-cell").nth(2).hover()
        assert_shows(page, 2.0, pointed=2)
        pressed = page.locator(".names [aria-pressed=true]")
        assert pressed.all_inner_texts() == ["שלום"]


def test_large_scores_give_finite_weights(tmp_path):
    figure = figures.softmax([1000.0, 999.0], ["a", "b"], alt=ALT)
    with opened(tmp_path, figure) as page:
        expected = softmax(np.array([1000.0, 999.0]))
        np.testing.assert_allclose(numbers_of(page, "weights"), expected)


@pytest.mark.thorough
def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


def test_sixteen_scores_fit_on_a_phone(tmp_path):
    names = [f"token {i}" for i in range(16)]
    figure = figures.softmax(np.linspace(-9, 9, 16), names, alt=ALT)
    with opened(tmp_path, figure) as page:
        page.set_viewport_size({"width": 360, "height": 900})
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])


def test_name_of_html_stays_text(figure):
    assert "<b>it" not in page_text(figure)


def test_scores_are_not_changed():
    scores = SCORES.copy()
    figures.softmax(scores, NAMES, alt=ALT, divisor=3)
    np.testing.assert_array_equal(scores, SCORES)


@pytest.mark.parametrize(
    ("scores", "names", "options", "message"),
    [
        ([1.0, 2.0], ["a"], {}, r"scores of shape \(1,\), got \(2,\)"),
        ([[1.0]], ["a"], {}, r"scores of shape \(1,\), got \(1, 1\)"),
        ([1.0, np.nan], ["a", "b"], {}, "scores must be finite"),
        ([1.0, -np.inf], ["a", "b"], {}, "scores must be finite"),
        ([], [], {}, "0 scores: expected 1 to 16"),
        ([0.0] * 17, ["a"] * 17, {}, "17 scores: expected 1 to 16"),
        ([1.0], ["a"], {"divisor": 0.0}, "divisor=0.0 must be"),
        ([1.0], ["a"], {"divisor": np.nan}, "divisor=nan must be"),
        ([1.0], ["a"], {"divisor": np.inf}, "divisor=inf must be"),
    ],
)
def test_what_the_view_cannot_show_is_refused(scores, names, options, message):
    with pytest.raises(ValueError, match=message):
        figures.softmax(scores, names, alt=ALT, **options)


def test_keys_are_named_while_the_keyboard_is_inside(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        line = page.locator(".living-keys")
        described = page.locator(
            ".living > [role=group], .living div[role=group]"
        ).first.get_attribute("aria-describedby")
        assert line.get_attribute("id") == described
        assert line.bounding_box()["height"] <= 1
        page.keyboard.press("Tab")
        assert "arrow keys" in line.inner_text() and "Escape" not in line.inner_text()
        assert line.bounding_box()["height"] > 10
        page.locator("h1").click()
        assert line.bounding_box()["height"] <= 1


REPEATED = """([name, other]) => {
    const before = document.getElementById(name);
    const after = before.cloneNode();
    after.append(before.querySelector("img").cloneNode());
    after.removeAttribute("data-live");
    Object.assign(after, { shows: before.shows, id: other });
    before.replaceWith(after);
    const script = document.createElement("script");
    script.textContent = document.querySelector("main script").textContent
        .replace(`mount('${name}'`, `mount('${other}'`);
    document.body.append(script);
}"""


def test_view_of_a_cell_goes_on_when_the_cell_runs_again(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        name = page.locator("figure.living").get_attribute("id")
        slider = page.get_by_role("slider")
        page.evaluate("document.querySelector('main').className = 'cell'")
        # The first view was drawn outside of a cell: it is drawn anew.
        slider.press("ArrowRight")
        position = slider.input_value()
        page.evaluate(REPEATED, [name, name])
        assert slider.input_value() != position
        for other in (name, name):
            slider.press("ArrowRight")
            position = slider.input_value()
            page.evaluate(REPEATED, [name, other])
            assert slider.input_value() == position
        assert page.locator("figure.living[data-live=yes]").count() == 1
        page.evaluate(REPEATED, [name, f"{name}-other"])  # shows something else
        assert slider.input_value() != position
