"""The view of the six steps in a real browser: its numbers, steps, keys and motion."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.attention import attention_step_by_step
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, opened, page_text

RNG = np.random.default_rng(3)
Q, K, V = (RNG.normal(size=size) for size in (4, (3, 4), (3, 2)))
STEPS = attention_step_by_step(Q, K, V)
NAMES = ["street", "<b>it</b>", "שלום"]
ALT = "Three scores, their weights, and the sum of the weighted values."
STEP_OF = {
    "query": 1,
    "keys": 1,
    "values": 1,
    "scores": 2,
    "scaled": 3,
    "weights": 4,
    "weighted_values": 5,
    "output": 6,
}


@pytest.fixture
def figure():
    return figures.six_steps(Q, K, V, STEPS, alt=ALT, names=NAMES)


def numbers_of(page, part):
    """Return a part's numbers on the page: row, column and value of each."""
    return page.eval_on_selector_all(
        f"[data-part={part}]",
        "all => all.map(e => [+e.dataset.row, +e.dataset.column, +e.dataset.value])",
    )


def visible_parts(page):
    return {
        part
        for part in STEP_OF
        if page.locator(f"[data-part={part}] > span").first.is_visible()
    }


def sentence(page):
    """Return what is told, without the marks that keep a word's direction."""
    text = page.locator(".said").inner_text()
    return text.replace("\u2068", "").replace("\u2069", "")


def assert_at(page, step):
    assert visible_parts(page) == {p for p, since in STEP_OF.items() if since <= step}
    assert sentence(page).startswith(f"Step {step} of 6. ")
    pressed = page.locator(".stops [aria-pressed=true]")
    assert pressed.get_attribute("data-go") == str(step)


def test_numbers_on_the_page_are_those_of_the_arrays(figure, tmp_path):
    arrays = {"query": Q, "keys": K.T, "values": V.T} | STEPS
    arrays["weighted_values"] = STEPS["weighted_values"].T
    with opened(tmp_path, figure) as page:
        for part, array in arrays.items():
            # A vector of one number per key lies across, the query and output go down.
            down = part in ("query", "output")
            table = array[:, np.newaxis] if down else np.atleast_2d(array)
            expected = [[*index, value] for index, value in np.ndenumerate(table)]
            np.testing.assert_allclose(numbers_of(page, part), expected, atol=1e-9)


def test_answers_are_shown_as_they_are(tmp_path):
    wrong = STEPS | {"scaled": STEPS["scores"], "output": np.array([7.0, -8.0])}
    with opened(tmp_path, figures.six_steps(Q, K, V, wrong, alt=ALT)) as page:
        assert numbers_of(page, "output") == [[0, 0, 7.0], [1, 0, -8.0]]
        scaled, scores = numbers_of(page, "scaled"), numbers_of(page, "scores")
        assert scaled == scores
        assert page.locator(".head button").all_inner_texts() == [
            "key 1",
            "key 2",
            "key 3",
        ]


def test_steps_are_gone_through_with_buttons(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.emulate_media(reduced_motion="reduce")
        assert_at(page, 1)
        page.get_by_role("button", name="next").focus()
        for step in range(2, 7):
            page.keyboard.press("Enter")
            assert_at(page, step)
        page.keyboard.press("Enter")
        assert_at(page, 6)
        page.get_by_role("button", name="back").focus()
        page.keyboard.press("Enter")
        assert_at(page, 5)


def test_steps_are_gone_through_with_arrow_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.emulate_media(reduced_motion="reduce")
        page.locator(".stops button").first.focus()
        page.keyboard.press("ArrowRight")
        assert_at(page, 2)
        page.keyboard.press("End")
        assert_at(page, 6)
        page.keyboard.press("ArrowLeft")
        assert_at(page, 5)
        page.locator(".head button").first.focus()
        page.keyboard.press("ArrowUp")
        assert_at(page, 4)
        page.keyboard.press("ArrowDown")
        assert_at(page, 5)


def test_each_step_of_one_key_is_told_with_its_numbers(tmp_path):
    q, k, v = np.array([1.0, -2.0]), np.eye(2), np.array([[10.0], [20.0]])
    figure = figures.six_steps(q, k, v, attention_step_by_step(q, k, v), alt=ALT)
    sentences = [
        "key 2: key (0.00, 1.00), value (20.00).",
        "key 2: 1.00 × 0.00 + (−2.00) × 1.00 = −2.00.",
        "key 2: −2.00 ÷ 1.41 = −1.41.",
        "key 2: exp(−1.41) ÷ (exp(0.71) + exp(−1.41)) = 0.11.",
        "key 2: 0.11 × (20.00) = (2.14).",
        "key 2: it adds (2.14) to the output, (11.07).",
    ]
    with opened(tmp_path, figure) as page:
        page.emulate_media(reduced_motion="reduce")
        page.locator(".head button").first.focus()
        page.keyboard.press("ArrowRight")
        for step, text in enumerate(sentences, 1):
            assert sentence(page) == f"Step {step} of 6. {text}"
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        assert sentence(page).startswith("Step 6 of 6. The weighted values")


def test_pointing_chooses_a_key(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator("[data-part=values][data-row='1'][data-column='2']").hover()
        assert sentence(page).startswith("Step 1 of 6. שלום: key (")
        marked = page.locator(".number.pointed")
        assert {each.get_attribute("data-column") for each in marked.all()} == {"2"}
        page.locator("h1").hover()
        assert sentence(page).startswith("Step 1 of 6. Given")


@pytest.mark.thorough
def test_numbers_move_forward_only_and_come_to_rest(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert page.locator(".flying").count() == 0
        go = page.get_by_role("button", name="next")
        for step, n_copies in {2: 24, 3: 3, 4: 3, 5: 12, 6: 6}.items():
            go.click()
            assert page.locator(".flying").count() == n_copies
            assert_at(page, step)
            page.wait_for_function("!document.querySelector('.flying')")
        page.get_by_role("button", name="back").click()
        assert page.locator(".flying").count() == 0


def test_next_step_ends_the_motion_of_the_last(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        go = page.get_by_role("button", name="next")
        go.click()
        go.click()
        assert page.locator(".flying").count() == 3  # not those of step 2
        assert_at(page, 3)


def test_nothing_moves_where_motion_is_not_wanted(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.emulate_media(reduced_motion="reduce")
        for step in range(2, 7):
            page.get_by_role("button", name="next").click()
            assert page.locator(".flying").count() == 0
            assert page.evaluate("document.getAnimations().length") == 0
            assert_at(page, step)


def test_printed_page_has_every_number(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.emulate_media(media="print")
        assert visible_parts(page) == {*STEP_OF}


@pytest.mark.thorough
def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


def test_six_keys_fit_on_a_phone(tmp_path):
    q, k, v = (RNG.normal(size=size) for size in (6, (6, 6), (6, 6)))
    names = ["animal", "street", "because", "tired", "wide", "didn't"]
    steps = attention_step_by_step(q, k, v)
    figure = figures.six_steps(q, k, v, steps, alt=ALT, names=names)
    with opened(tmp_path, figure) as page:
        page.set_viewport_size({"width": 360, "height": 900})
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])


def test_steps_of_the_course_are_drawn_if_none_are_passed(figure):
    own = figures.six_steps(Q, K, V, alt=ALT, names=NAMES)
    assert own.data == figure.data and own.data["output"] != [0.0, 0.0]


def test_name_of_html_stays_text(figure):
    assert "<b>it" not in page_text(figure)


def replaced(**parts):
    return STEPS | parts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Q[:3], K, V, STEPS), r"k of shape \(3, 3\), got \(3, 4\)"),
        ((Q, K, V[:2], STEPS), r"k of shape \(2, 4\), got \(3, 4\)"),
        ((Q[np.newaxis], K, V, STEPS), r"got shapes \(1, 4\), \(3, 4\) and \(3, 2\)"),
        ((Q, K, V, {"scores": STEPS["scores"]}), "steps lacks output, scaled, weigh"),
        ((Q, K, V, replaced(scaled=np.ones(2))), r"steps\['scaled'\] of shape \(3,\)"),
        ((Q, K, V, replaced(output=np.array([1, np.nan]))), r"'output'\] must be fin"),
        ((Q * np.inf, K, V, STEPS), "q1 must be finite"),
        ((Q[:0], K[:, :0], V, STEPS), "d_k=0 and d_v=2: expected 1 to 6"),
        ((Q, np.ones((7, 4)), np.ones((7, 2)), STEPS), "7 keys: expected 1 to 6"),
        ((Q, K * 1e6, V, STEPS), "5 columns of such numbers are too wide"),
    ],
)
def test_what_the_view_cannot_show_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        figures.six_steps(*arguments, alt=ALT)


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 names for 3 keys"):
        figures.six_steps(Q, K, V, STEPS, alt=ALT, names=NAMES[:2])
