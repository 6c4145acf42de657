"""The encoder and decoder in a real browser: numbers, steps, keys, play and pause."""

import numpy as np
import pytest

from course_lib import figures
from tests.figures.living import assert_accessible, opened, page_text

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all

SOURCE, TARGET = ["seventy", "<b>three</b>", "שלום"], ["drei", "und", "siebzig", "¶"]
HIDDEN = np.linspace(-0.9, 0.8, 12).reshape(3, 4)
STATES = np.linspace(0.7, -0.6, 15).reshape(5, 3)
WEIGHTS = np.array(
    [[0.1, 0.9, 0.0], [0.5, 0.25, 0.25], [1, 0, 0], [0.125, 0.125, 0.75]]
)
ALT = "When it writes drei it attends to three."


def drawn(**options):
    arguments = {"weights": WEIGHTS, "contexts": WEIGHTS @ HIDDEN, "alt": ALT}
    return figures.encoder_decoder(
        SOURCE, TARGET, HIDDEN, STATES, **(arguments | options)
    )


def lines(page, kind="now"):
    """Return the weights that are drawn as lines of one kind, by row and column."""
    texts = page.eval_on_selector_all(
        f"line.weight.{kind}[data-i]",
        "all => all.map(e => [e.dataset.i, e.dataset.j, e.dataset.value])",
    )
    return {(int(i), int(j)): float(value) for i, j, value in texts}


def row_of_weights(i):
    return {(i, j): weight for j, weight in enumerate(WEIGHTS[i]) if weight}


def numbers_of(page, selector):
    return page.eval_on_selector_all(
        selector,
        "all => all.map(e => [...e.querySelectorAll('rect')].map("
        "bar => Number(bar.dataset.value)))",
    )


def state(page):
    return page.locator(".said").inner_text()


def test_values_on_the_page_are_those_of_the_arrays(tmp_path):
    with opened(tmp_path, drawn()) as page:
        every = lines(page) | lines(page, "past")
        assert every == {i: weight for i, weight in np.ndenumerate(WEIGHTS) if weight}
        expected = {
            ".hidden": HIDDEN,
            ".state": STATES,
            ".lv-context": WEIGHTS @ HIDDEN,
        }
        for selector, array in expected.items():
            assert np.allclose(numbers_of(page, selector), array, atol=5e-5), selector
        shown_numbers = page.locator(".encoder .weight").all_inner_texts()
        assert shown_numbers == ["0.13", "0.13", "0.75"]


def test_bar_of_a_negative_number_hangs_from_the_middle(tmp_path):
    with opened(tmp_path, drawn()) as page:
        bars = page.eval_on_selector_all(
            ".hidden rect",
            "all => all.map(e => ['y', 'height', 'data-value'].map("
            "name => Number(e.getAttribute(name))))",
        )
        for y, height, value in bars:
            assert y == pytest.approx(1 - max(value, 0) / 0.9, abs=1e-3)
            assert height == pytest.approx(abs(value) / 0.9, abs=1e-3)


def test_steps_are_made_by_keyboard(tmp_path):
    with opened(tmp_path, drawn()) as page:
        assert lines(page) == row_of_weights(3)  # the last step, as in the picture
        slider = page.get_by_label("step", exact=True)
        slider.focus()
        page.keyboard.press("Home")
        assert state(page).startswith("The encoder reads “seventy”; each state")
        assert lines(page) == {} and page.locator(".written.made").count() == 0
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        assert (
            state(page) == "The decoder begins: its first state comes from the encoder."
        )
        page.keyboard.press("ArrowRight")
        assert lines(page) == row_of_weights(0)
        assert state(page) == (
            "The decoder reads “(start)”, attends to <b>three</b> 0.90, seventy 0.10, "
            "שלום 0.00, and writes “drei”."
        )
        assert page.locator(".written.made").all_inner_texts() == ["drei"]
        assert slider.get_attribute("aria-valuetext").startswith("4 of 7: The decoder")


def test_buttons_go_forward_and_back_by_keyboard(tmp_path):
    with opened(tmp_path, drawn()) as page:
        page.get_by_role("button", name="play").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert lines(page) == row_of_weights(2)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert lines(page) == row_of_weights(3)
        page.keyboard.press("Enter")  # there is no step behind the last
        assert lines(page) == row_of_weights(3)


def test_play_runs_from_the_start_until_it_is_paused(tmp_path):
    with opened(tmp_path, drawn()) as page:
        value = page.get_by_label("step", exact=True)
        page.wait_for_timeout(600)
        assert value.input_value() == "7"  # nothing moves before it is asked for
        page.get_by_role("button", name="play").press("Enter")
        assert state(page).startswith("The encoder reads “seventy”")
        page.wait_for_function("document.querySelector('[type=range]').value >= 2")
        page.get_by_role("button", name="pause").press("Enter")
        paused = value.input_value()  # a busy machine may be further on by then
        page.wait_for_timeout(700)
        assert value.input_value() == paused and 2 <= int(paused) < 7


def test_play_ends_at_the_last_step(tmp_path):
    with opened(tmp_path, drawn()) as page:
        slider = page.get_by_label("step", exact=True)
        slider.focus()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="play").press("Enter")
        page.wait_for_function("document.querySelector('[type=range]').value === '7'")
        assert page.get_by_role("button", name="play").count() == 1


def test_reduced_motion_leaves_the_steps(tmp_path):
    with opened(tmp_path, drawn()) as page:
        page.emulate_media(reduced_motion="reduce")
        page.get_by_role("button", name="play").wait_for(state="hidden")
        page.get_by_role("button", name="back").press("Enter")
        assert lines(page) == row_of_weights(2)
        names = page.locator("line.now").first.evaluate(
            "e => getComputedStyle(e).animationName"
        )
        assert names == "none"


def test_source_token_shows_its_column_by_arrow_keys(tmp_path):
    with opened(tmp_path, drawn()) as page:
        page.locator(".encoder button").first.focus()
        page.keyboard.press("ArrowDown")
        assert lines(page) == {(i, 1): WEIGHTS[i, 1] for i in (0, 1, 3)}
        assert state(page) == (
            "<b>three</b> is attended to by drei 0.90, und 0.25, ¶ 0.13, …"
        )
        page.keyboard.press("Escape")
        assert lines(page) == row_of_weights(3)


def test_target_token_shows_its_row_when_pointed_at(tmp_path):
    with opened(tmp_path, drawn()) as page:
        page.locator(".written").nth(1).hover()
        assert lines(page) == row_of_weights(1)
        page.locator(".written").nth(1).click()
        assert page.get_by_label("step", exact=True).input_value() == "5"


@pytest.mark.parametrize(("query", "state"), [("before", "3"), ("after", "4")])
def test_state_that_attends_is_marked(query, state, tmp_path):
    with opened(tmp_path, drawn(query=query)) as page:
        marked = page.locator(".bars.query")
        assert marked.count() == 1 and marked.get_attribute("data-i") == state


def test_each_direction_makes_its_half(tmp_path):
    with opened(tmp_path, drawn(bidirectional=True)) as page:
        page.get_by_label("step", exact=True).focus()
        page.keyboard.press("Home")
        made = page.eval_on_selector_all(
            ".hidden", "all => all.map(e => e.querySelectorAll('g.made').length)"
        )
        assert made == [1, 0, 1]
        assert state(page).startswith(
            "The encoder reads “seventy” forwards and “שלום” backwards"
        )


def test_without_attention_the_last_states_are_the_context(tmp_path):
    figure = drawn(weights=None, contexts=None, bidirectional=True)
    with opened(tmp_path, figure) as page:
        assert lines(page) == {} and page.locator("line.weight.now").count() == 2
        assert page.locator(".encoder button").count() == 0
        assert "the context, the same at every step" in state(page)


def test_view_is_accessible(tmp_path):
    assert_accessible(tmp_path, drawn())


@pytest.mark.thorough
def test_twelve_words_fit_on_a_phone(tmp_path):
    words, weights = ["thousand"] * 12, np.full((12, 12), 1 / 12)
    hidden, states = np.sin(np.ones((12, 96))), np.sin(np.ones((13, 48)))
    figure = figures.encoder_decoder(
        words, words, hidden, states, weights, hidden, alt=ALT, bidirectional=True
    )
    assert "the first 6 of 48 numbers of each direction" in figure.data["caption"]
    assert_accessible(tmp_path, figure)


def test_token_of_html_stays_text():
    assert "<b>three" not in page_text(drawn())


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"values of shape \(3, 3\) do not fit 4 row"):
        drawn(weights=WEIGHTS[:3])
    with pytest.raises(ValueError, match="before the softmax"):
        drawn(weights=WEIGHTS * 3)
    with pytest.raises(ValueError, match="one of these is nan"):
        drawn(weights=np.full((4, 3), np.nan))
    with pytest.raises(ValueError, match=r"contexts .* shape \(4, d\) .* got \(3, 4\)"):
        drawn(contexts=HIDDEN)
    with pytest.raises(ValueError, match=r"contexts of shape \(4, 3\) are no means"):
        drawn(contexts=WEIGHTS)
    with pytest.raises(ValueError, match='must be "before" or "after"'):
        drawn(query="new")


def test_unfit_states_and_tokens_are_refused():
    def draw(source=SOURCE, hidden=HIDDEN, states=STATES, **options):
        figures.encoder_decoder(source, TARGET, hidden, states, alt=ALT, **options)

    with pytest.raises(ValueError, match=r"hidden_states .* \(3, d\) .* got \(2, 4\)"):
        draw(hidden=HIDDEN[:2])
    with pytest.raises(ValueError, match=r"decoder_states .* \(5, d\) .* got \(4, 3\)"):
        draw(states=STATES[:4])
    with pytest.raises(ValueError, match="hidden_states must be finite"):
        draw(hidden=HIDDEN * np.nan)
    with pytest.raises(ValueError, match="no two halves"):
        draw(hidden=HIDDEN[:, :3], bidirectional=True)
    with pytest.raises(ValueError, match="source has 0 tokens: give 1 to 32"):
        draw(source=[])
    with pytest.raises(ValueError, match="source has 33 tokens"):
        draw(source=["a"] * 33, hidden=np.zeros((33, 4)))
    with pytest.raises(ValueError, match="do not fit beside the states"):
        draw(source=["a", "b", "long " * 20])
