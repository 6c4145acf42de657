"""The wall of heads in a real browser: its numbers, one head open, heads taken out."""

import base64

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.living import packed
from tests.figures.living import assert_accessible, opened, page_text
from tests.figures.test_figures import overlaps, texts

QUERIES, KEYS = ["it", "was", "<b>tired</b>"], ["the", "animal", "was", "שלום"]
ALT = "Two heads attend to the previous token."
ROLES = [["previous token", ""], ["", "previous token"], ["<i>rare</i>", "next token"]]
WITHOUT = np.array([[2.5, 2.25], [2.0, 2.75], [2.125, 2.375]])


def some_weights(n_layers, n_heads, n, m):
    scores = np.random.default_rng(7).exponential(size=(n_layers, n_heads, n, m)) ** 3
    return scores / scores.sum(axis=-1, keepdims=True)


WEIGHTS = some_weights(3, 2, 3, 4)


@pytest.fixture
def wall():
    more = {"roles": ROLES, "without": WITHOUT, "complete": 2.25, "start": (1, 0, 2)}
    return figures.wall_of_heads(WEIGHTS, QUERIES, KEYS, alt=ALT, **more)


@pytest.fixture(scope="module")
def large():
    tokens = [f"token{i}" for i in range(64)]
    weights = some_weights(6, 12, 64, 64)
    return weights, figures.wall_of_heads(weights, tokens, tokens, alt=ALT)


def tile(page, layer, head):
    return page.locator(f'.tile[data-layer="{layer}"][data-head="{head}"]')


def key_values(page):
    items = ".keys button"
    return page.eval_on_selector_all(items, "all => all.map(e => +e.dataset.value)")


def state(page):
    return page.locator(".said").inner_text()


@pytest.mark.thorough
def test_every_row_of_every_head_has_the_array_s_numbers(wall, tmp_path):
    drawn = np.zeros(WEIGHTS.shape)
    with opened(tmp_path, wall) as page:
        for layer, head in np.ndindex(3, 2):
            tile(page, layer, head).click()
            for i in range(3):
                page.locator(".queries button").nth(i).focus()
                drawn[layer, head, i] = key_values(page)
    np.testing.assert_array_equal(drawn, np.round(WEIGHTS, 3))


def test_pictures_have_the_colours_of_the_weights(large, tmp_path):
    weights, figure = large
    pixels = """all => all.map(each => { const {width, height} = each;
        const {data} = each.getContext("2d").getImageData(0, 0, width, height);
        return [width, height, ...data.filter((_, i) => i % 4 === 0)]; })"""
    with opened(tmp_path, figure) as page:
        tiles = page.eval_on_selector_all(".tile canvas", pixels)
        (matrix,) = page.eval_on_selector_all(".matrix canvas", pixels)
    assert len(tiles) == 72 and {(w, h) for w, h, *_ in tiles} == {(32, 32)}
    # The red part of a colour of cividis grows with the weight.
    order = np.argsort(weights[0, 0].ravel(), kind="stable")
    assert np.all(np.diff(np.array(matrix[2:])[order]) >= 0) and matrix[:2] == [64, 64]
    greatest = weights.reshape(72, 32, 2, 32, 2).max(axis=(2, 4)).reshape(72, -1)
    for drawn, expected in zip(tiles, greatest, strict=True):
        ordered = np.array(drawn[2:])[np.argsort(expected, kind="stable")]
        assert np.all(np.diff(ordered) >= 0)


def test_heads_are_opened_by_keyboard_alone(wall, tmp_path):
    with opened(tmp_path, wall) as page:
        name = page.locator(".large strong")
        assert name.inner_text() == "layer 1, head 0"
        page.locator(".tile").first.focus()
        assert state(page) == "layer 0, head 0: previous token"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        assert state(page) == "layer 2, head 1: next token"
        assert name.inner_text() == "layer 1, head 0"  # not yet pressed
        page.keyboard.press("Enter")
        assert name.inner_text() == "layer 2, head 1"
        assert page.locator(".large .role").inner_text() == "next token"
        assert page.locator('.tile[aria-pressed="true"]').count() == 1
        assert tile(page, 2, 1).get_attribute("aria-pressed") == "true"


def test_queries_and_keys_are_told_by_keyboard_alone(wall, tmp_path):
    row = np.round(WEIGHTS[1, 0], 3)
    with opened(tmp_path, wall) as page:
        page.locator(".queries button").first.focus()
        first = KEYS[row[0].argmax()]
        assert state(page).startswith(f"it attends to {first} {row[0].max():.2f}")
        page.keyboard.press("End")
        assert state(page).startswith("<b>tired</b> attends to ")
        page.keyboard.press("Tab")
        page.keyboard.press("End")
        assert state(page) == f"<b>tired</b> attends to שלום: {row[2, 3]:.3f}"
        labels = page.locator(".side .pointed").all_inner_texts()
        assert sorted(labels) == ["<b>tired</b>", "שלום"]


def test_pointing_at_the_matrix_tells_its_cell(wall, tmp_path):
    with opened(tmp_path, wall) as page:
        box = page.locator(".matrix").bounding_box()
        position = {"x": box["width"] * 1.5 / 4, "y": box["height"] * 1.5 / 3}
        page.locator(".matrix").hover(position=position)
        assert state(page) == f"was attends to animal: {WEIGHTS[1, 0, 1, 1]:.3f}"


def test_head_is_taken_out_by_keyboard_and_its_number_is_shown(wall, tmp_path):
    with opened(tmp_path, wall) as page:
        assert "2.5" not in page.locator(".living-view").inner_text()  # not yet
        tile(page, 0, 0).press("Enter")
        switch = page.get_by_role("switch", name="taken out")
        switch.press("Space")
        assert switch.get_attribute("aria-checked") == "true"
        expected = "loss without it 2.500, with all heads 2.250: +0.250"
        assert page.locator(".large .cost").inner_text() == expected
        assert expected in state(page)
        assert tile(page, 0, 0).get_attribute("aria-label") == (
            "layer 0, head 0, previous token, taken out"
        )
        tile(page, 1, 0).press("Delete")
        summary = page.locator(".summary p").inner_text()
        assert summary.startswith(
            "Taken out: layer 0, head 0 (+0.250); layer 1, head 0 (−0.250). Each"
        )
        back = page.get_by_role("button", name="put all back")
        back.press("Enter")
        assert page.locator(".tile.out").count() == 0
        assert back.is_disabled() and "Taken" not in (
            page.locator(".summary p").inner_text()
        )


def test_bars_are_as_long_as_the_changes(wall, tmp_path):
    bars = "all => all.map(e => [+e.dataset.value, parseFloat(e.style.width)])"
    with opened(tmp_path, wall) as page:
        assert page.locator(".bar:visible").count() == 0
        page.get_by_role("button", name="take out each in turn").click()
        drawn = np.array(page.eval_on_selector_all(".bar", bars))
        hollow = page.locator(".bar.less").count()
        assert state(page).startswith(
            "Taken out alone, these change the loss most: lay"
        )
    changes = WITHOUT.ravel() - 2.25
    np.testing.assert_array_equal(drawn[:, 0], WITHOUT.ravel())
    np.testing.assert_allclose(drawn[:, 1], 100 * abs(changes) / 0.5, atol=1e-3)
    assert hollow == np.sum(changes < 0) == 2


def test_heads_of_a_role_stand_out(wall, tmp_path):
    with opened(tmp_path, wall) as page:
        page.get_by_role("button", name="previous token (2)", exact=True).press("Enter")
        assert page.locator(".tile:not(.aside)").count() == 2
        assert state(page) == "previous token: layer 0, head 0; layer 1, head 1"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert state(page) == "<i>rare</i>: layer 2, head 0"


def test_without_numbers_nothing_can_be_taken_out(large, tmp_path):
    with opened(tmp_path, large[1]) as page:
        assert page.get_by_role("switch").count() == 0
        page.locator(".tile").first.press("Delete")
        assert page.locator(".tile.out").count() == 0


def test_seventy_two_heads_open_in_under_a_second(large, tmp_path):
    with opened(tmp_path, large[1]) as page:
        browser = page.context.new_cdp_session(page)
        browser.send("Performance.enable")

        def seconds():  # of processor time: other work on the machine does not count
            metrics = browser.send("Performance.getMetrics")["metrics"]
            return {each["name"]: each["value"] for each in metrics}["ProcessTime"]

        before = seconds()
        page.reload()
        page.wait_for_selector('.living[data-live="yes"]')
        assert 0.01 < seconds() - before < 1


@pytest.mark.thorough
def test_view_is_accessible(wall, tmp_path):
    assert_accessible(tmp_path, wall)


@pytest.mark.thorough
def test_large_wall_is_accessible(large, tmp_path):
    assert_accessible(tmp_path, large[1])


def test_tokens_and_roles_of_html_stay_text(wall, tmp_path):
    assert "<b>tired" not in page_text(wall) and "<i>rare" not in page_text(wall)
    with opened(tmp_path, wall) as page:
        assert page.locator(".living-view i, .words b").count() == 0


def test_static_wall_shows_marks_and_bars(wall):
    drawn = [text.get_text() for text in texts(wall)]
    assert [t for t in drawn if t in "PIN"] == ["P", "P", "I", "N"]
    assert "P = previous token" in " ".join(drawn)
    assert min(text.get_fontsize() for text in texts(wall)) >= 10
    assert overlaps(wall) == []
    corners = {}
    for patch in wall.figure.axes[0].patches:
        fill = "hollow" if patch.get_facecolor()[:3] == (1, 1, 1) else "filled"
        corners[fill] = patch.get_path().vertices.reshape(-1, 5, 2)
    widths = {fill: np.ptp(each[:, :, 0], axis=1) for fill, each in corners.items()}
    changes = (WITHOUT - 2.25).ravel()
    expected = {"filled": changes[changes >= 0], "hollow": -changes[changes < 0]}
    longest = max(each.max() for each in widths.values())
    for fill, changed in expected.items():
        np.testing.assert_allclose(widths[fill] / longest, changed / 0.5, atol=1e-12)


@pytest.mark.parametrize("n_tokens", [1, 4, 16, 20])
def test_static_wall_has_each_head_above_its_number(n_tokens):
    tokens = [f"token{i}" for i in range(n_tokens)]
    weights = some_weights(2, 12, n_tokens, n_tokens)
    axes = figures.wall_of_heads(weights, tokens, tokens, alt=ALT).figure.axes[0]
    numbers = [t.get_position()[0] for t in axes.texts if t.get_text().isdigit()]
    for layer, image in enumerate(axes.images):
        left, right, bottom, top = image.get_extent()
        drawn = image.get_array()
        blank = drawn.mask[0].astype(int)
        starts = [0, *(np.flatnonzero(np.diff(blank) == -1) + 1)]
        ends = [*(np.flatnonzero(np.diff(blank) == 1) + 1), len(blank)]
        assert len(starts) == 12 and bottom < top
        for head, (start, end) in enumerate(zip(starts, ends, strict=True)):
            wide = (end - start) // n_tokens
            np.testing.assert_array_equal(
                drawn[:, start:end:wide], weights[layer, head]
            )
            middle = left + (right - left) * (start + end) / 2 / len(blank)
            assert abs(middle - numbers[head]) < 0.02


def test_static_wall_shows_the_greatest_of_several_cells(large):
    weights, figure = large
    image = figure.figure.axes[0].images[0].get_array()
    greatest = weights[0, 0].reshape(32, 2, 32, 2).max(axis=(1, 3))
    np.testing.assert_array_equal(image[:, :32], greatest)


def test_lesson_s_wall_takes_little_room():
    tokens = [f"token{i}" for i in range(16)]
    html = figures.wall_of_heads(
        some_weights(6, 12, 16, 16), tokens, tokens, alt=ALT
    ).html()
    assert len(html) < 130_000


@pytest.mark.parametrize(
    ("weights", "more", "message"),
    [
        (WEIGHTS[0], {}, r"\(2, 3, 4\) are not \(n_layers, n_heads, n, m\)"),
        (WEIGHTS[:0], {}, r"\(0, 2, 3, 4\) are not"),
        (WEIGHTS[..., :3], {}, "4 column labels"),
        (WEIGHTS * 3, {}, "between 0 and 1"),
        (np.where(WEIGHTS > 0.9, np.nan, WEIGHTS), {}, "between 0 and 1"),
        (np.zeros((1, 25, 3, 4)), {}, "too many: .* 24 heads"),
        (np.zeros((1, 1, 3, 300)), {}, "at most 256 tokens"),
        (WEIGHTS, {"roles": ROLES[:2]}, "roles do not name 3 layers of 2 heads"),
        (WEIGHTS, {"layers": ["encoder"]}, "1 names of layers for 3"),
        (WEIGHTS, {"start": (0, 2, 0)}, r"start=\(0, 2, 0\) is not"),
        (WEIGHTS, {"start": (0, -1, 0)}, "is not a layer, a head"),
        (WEIGHTS, {"complete": 1.0}, "together"),
        (WEIGHTS, {"without": WITHOUT.T, "complete": 1.0}, r"shape \(2, 3\) for"),
        (WEIGHTS, {"without": WITHOUT, "complete": np.nan}, "finite"),
    ],
)
def test_what_a_wall_cannot_show_is_refused(weights, more, message):
    with pytest.raises(ValueError, match=message):
        figures.wall_of_heads(weights, QUERIES, KEYS, alt=ALT, **more)


def test_packed_numbers_lie_between_0_and_1():
    # 1000 = 0b1111101000 stands from bit 10 on: bytes 0, 0b10100000 and 0b1111.
    assert base64.b64decode(packed(np.array([0.0, 1.0]))) == bytes([0, 160, 15, 0, 0])
    for wrong in (-0.1, 1.1, np.inf):
        with pytest.raises(ValueError):
            packed(np.array([wrong]))
