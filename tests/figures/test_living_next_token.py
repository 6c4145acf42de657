"""The view of the next token in a real browser: cuts, growing, keys, where data end."""

import numpy as np
import pytest

from course_lib import figures
from tests.figures.living import assert_accessible, opened, page_text

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all
VOCABULARY = ["(start)", "(end)", "<b>low</b>", "שלום ", "is"]
ALT = "Of five tokens two are probable."
START = (0, 4)
CONTEXTS = {
    (0, 4): np.array([-3.0, 0.5, 2.0, 1.9, -1.25]),
    (0, 4, 2): np.array([0.0, 3.0, -1.0, 1.0, 2.0]),
    (0, 4, 2, 3): np.array([1.0, 1.0, 1.0, 1.0, 1.0]),
}
MANY = np.linspace(3, -3, 40)


@pytest.fixture
def figure():
    return figures.next_token(CONTEXTS, VOCABULARY, START, alt=ALT, end_id=1)


def distribution(logits, temperature=1.0, top_k=None, top_p=1.0):
    """Return token id to probability, with zeros for those that are cut."""
    p = np.exp(logits / temperature)
    p /= p.sum()
    order = sorted(range(len(p)), key=lambda token_id: (-p[token_id], token_id))
    left = order[:top_k]
    in_top_k = {each: p[each] / p[left].sum() for each in left}
    nucleus, total = [], 0.0
    for each in left:
        if total >= top_p - 1e-9:
            break
        nucleus.append(each)
        total += in_top_k[each]
    return {
        each: p[each] / p[nucleus].sum() if each in nucleus else 0.0 for each in order
    }


def bars(page, value="value"):
    rows = page.eval_on_selector_all(
        ".bar",
        f"all => all.map(e => [Number(e.dataset.id), Number(e.dataset.{value})])",
    )
    return dict(map(tuple, rows))


def assert_bars(page, expected):
    assert [*bars(page)] == [*expected]  # sorted alike
    assert bars(page) == pytest.approx(expected, abs=1e-9)


def set_slider(page, label, value):
    slider = page.get_by_label(label)
    slider.evaluate(f"e => {{ e.value = {value}; }}")
    slider.dispatch_event("input")


def said_line(page):
    return page.locator(".said").inner_text()


def tokens(page):
    return page.locator(".sequence .token > span").all_inner_texts()


@pytest.mark.parametrize("first", [False, True])
def test_bars_are_the_softmax_after_temperature_and_cuts(first, tmp_path):
    """Move the sliders, and try the figure's own first settings."""
    settings = [
        {"temperature": 0.5},
        {"temperature": 2.0, "top_k": 3},
        {"top_p": 0.85},
        {"temperature": 1.5, "top_k": 4, "top_p": 0.6},
        {"temperature": 0.1, "top_p": 0.05},
        {"top_k": 1},
    ]
    logits = CONTEXTS[START]
    start = settings[3] if first else {}
    figure = figures.next_token(CONTEXTS, VOCABULARY, START, alt=ALT, **start)
    with opened(tmp_path, figure) as page:
        assert_bars(page, distribution(logits, **start))
        for setting in [] if first else settings:
            values = {"temperature": 1.0, "top_k": 5, "top_p": 1.0} | setting
            for key, value in values.items():
                set_slider(page, key.replace("_", "-"), value)
            expected = distribution(logits, **setting)
            assert_bars(page, expected)
            temperature = values["temperature"]
            before = distribution(logits, temperature)
            assert bars(page, "before") == pytest.approx(before, abs=1e-9)
            n_left = sum(p > 0 for p in expected.values())
            assert f"{n_left} of 5 tokens can be drawn" in said_line(page)


def test_cut_tokens_are_marked_in_words_and_pattern(tmp_path):
    figure = figures.next_token(
        CONTEXTS, VOCABULARY, START, alt=ALT, top_k=3, top_p=0.5
    )
    with opened(tmp_path, figure) as page:
        reasons = page.locator(".bar .why").all_inner_texts()
        after = [*distribution(CONTEXTS[START], 1.0, 3, 0.5).values()]
        expected = [
            "" if p else "cut by top-p" if rank < 3 else "cut by top-k"
            for rank, p in enumerate(after)
        ]
        assert reasons == expected and len(set(reasons)) == 3
        grounds = page.eval_on_selector_all(
            ".fill", "all => all.map(e => getComputedStyle(e).backgroundImage)"
        )
        assert ["gradient" in each for each in grounds] == [p == 0 for p in after]
        page.locator(".bar").last.focus()
        page.keyboard.press("Enter")
        assert said_line(page).endswith("cut by top-k, so it cannot be drawn.")
        assert tokens(page) == ["(start)", "is"]


def test_sequence_grows_by_keys_until_the_data_end(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="from the start").focus()
        page.keyboard.press("Tab")
        assert said_line(page) == "“<b>low</b>”: logit 2.00, probability 0.46 at " + (
            "temperature 1.0."
        )
        page.keyboard.press("Enter")
        assert tokens(page) == ["(start)", "is", "<b>low</b>"]
        assert_bars(page, distribution(CONTEXTS[0, 4, 2]))
        page.keyboard.press("ArrowDown")
        assert said_line(page).endswith(
            "0.23 at temperature 1.0. After it the data end."
        )
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        assert tokens(page)[-3:] == ["<b>low</b>", "שלום", "is"]
        assert said_line(page).startswith(
            "Here the data end: no logits were stored for"
        )
        assert page.locator(".bar").count() == 0
        focused = page.evaluate("document.activeElement.textContent")
        assert focused == "take back"
        page.keyboard.press("Enter")
        assert tokens(page)[-2:] == ["<b>low</b>", "שלום"]
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert tokens(page) == ["(start)", "is"]
        drawn = page.locator(".sequence small")
        assert drawn.count() == 0


def test_most_likely_token_ends_the_sequence(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="most likely").focus()
        for _ in range(3):  # behind the end nothing is chosen
            page.keyboard.press("Enter")
        assert tokens(page) == ["(start)", "is", "<b>low</b>", "(end)"]
        assert said_line(page) == "“(end)”: the sequence is complete."
        values = page.eval_on_selector_all(
            ".sequence small", "all => all.map(e => Number(e.dataset.value))"
        )
        expected = [
            distribution(CONTEXTS[context])[token_id]
            for context, token_id in (((0, 4), 2), ((0, 4, 2), 1))
        ]
        assert values == pytest.approx(expected, abs=1e-9)


def test_sliders_are_moved_by_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_label("temperature").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Tab")
        page.keyboard.press("Home")
        outputs = page.locator(".value").all_inner_texts()
        assert outputs == ["0.9", "4", "0.05"]
        assert_bars(page, distribution(CONTEXTS[START], 0.9, 4, 0.05))
        text = page.get_by_label("top-k").get_attribute("aria-valuetext")
        assert text == "4"


def test_less_probable_tokens_are_summed_up(tmp_path):
    words = [f"token {i}" for i in range(40)]
    figure = figures.next_token({(0,): MANY}, words, [0], alt=ALT)
    with opened(tmp_path, figure) as page:
        p = [*distribution(MANY).values()]
        rest = page.locator(".rest")
        assert page.locator(".bar").count() == 12
        assert rest.inner_text() == f"and 28 more tokens, together {sum(p[12:]):.2f}"
        assert page.locator(".value").nth(1).inner_text() == "all"
        set_slider(page, "top-k", 30)
        p = [*distribution(MANY, top_k=30).values()]
        summary = (
            f"and 28 more tokens, together {sum(p[12:]):.2f}, 18 of them not cut; "
        )
        assert rest.inner_text().startswith(f"{summary}dotted line")


def test_top_k_beyond_thirty_is_kept(tmp_path):
    many = np.linspace(3, -3, 60).round(4)  # as a view has them
    words = [f"token {i}" for i in range(60)]
    figure = figures.next_token({(0,): many}, words, [0], alt=ALT, top_k=40)
    with opened(tmp_path, figure) as page:
        assert page.locator(".value").nth(1).inner_text() == "40"
        expected = distribution(many, top_k=40)
        assert_bars(page, dict([*expected.items()][:12]))
        set_slider(page, "top-k", 41)
        assert page.locator(".value").nth(1).inner_text() == "all"


def test_top_p_of_one_cuts_nothing(tmp_path):
    many = np.linspace(3, -3, 60).round(4)  # at 0.1 the first tokens have nearly all
    words = [f"token {i}" for i in range(60)]
    figure = figures.next_token({(0,): many}, words, [0], alt=ALT)
    with opened(tmp_path, figure) as page:
        set_slider(page, "temperature", 0.1)
        assert "60 of 60 tokens can be drawn. " in said_line(page)
        set_slider(page, "top-k", 30)
        assert "the others had next to no probability" in said_line(page)


def test_next_token_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


def test_cut_and_long_tokens_are_accessible(tmp_path):
    words = [f"Donaudampfschifffahrtsgesellschaft{i}" for i in range(40)]
    figure = figures.next_token(
        {(0, 1, 2, 3): MANY}, words, (0, 1, 2, 3), alt=ALT, top_k=7, top_p=0.6
    )
    assert_accessible(tmp_path, figure)


def test_token_of_html_stays_as_it_is(figure):
    assert "<b>low" not in page_text(figure)


def test_static_picture_has_the_same_numbers():
    setting = {"temperature": 1.5, "top_k": 4, "top_p": 0.6}
    figure = figures.next_token(CONTEXTS, VOCABULARY, START, alt=ALT, **setting)
    axes = figure.figure.axes[0]
    before = distribution(CONTEXTS[START], 1.5)
    after = distribution(CONTEXTS[START], **setting)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([after[i] or before[i] for i in before])
    hatched = [bool(bar.get_hatch()) for bar in axes.patches]
    assert hatched == [p == 0 for p in after.values()]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [VOCABULARY[i].strip() for i in after]


def test_what_cannot_be_shown_is_refused():
    def refused(message, contexts=CONTEXTS, start=START, **options):
        with pytest.raises(ValueError, match=message):
            figures.next_token(contexts, VOCABULARY, start, alt=ALT, **options)

    refused("none of the 3 contexts", start=[0])
    refused("none of the 0 contexts", {})
    refused(r"after \(0, 4\) have shape \(4,\)", {START: np.zeros(4)})
    refused("finite", {START: np.array([1, 2, 3, 4, np.nan])})
    refused("finite", {START: np.array([1, 2, 3, 4, -np.inf])})
    refused("no tokens in this", {START: np.zeros(5), (0, 9): np.zeros(5)})
    refused("temperature=0 ", temperature=0)
    refused("temperature=nan", temperature=float("nan"))
    refused("top_k=0 leaves no token", top_k=0)
    refused("top_p=1.5", top_p=1.5)
    refused("end_id=5", end_id=5)
    many = {START: np.zeros(5)} | {(0, 1) * i: np.zeros(5) for i in range(1, 6001)}
    refused("6001 contexts of 5 logits are too many", many)
    with pytest.raises(ValueError, match="alt="):
        figures.next_token(CONTEXTS, VOCABULARY, START, alt="bars")
