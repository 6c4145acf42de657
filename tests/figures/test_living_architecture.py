"""The architecture in a real browser: boxes, arrows, keys, lessons, what is done."""

import pytest

from course_lib import figures
from course_lib.figures.transformer import DECODER, ENCODER, LESSONS
from tests.figures.living import assert_accessible, opened, page_text
from tests.figures.test_transformer import NOTES, TOTALS

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all

ALT = "Keys and values of every cross-attention come from the encoder."
PARTS = {"softmax": "done", "self-attention": "done", "causal attention": "current"}
LINKS = {"self-attention": "../03/lesson.html#top", "softmax": "https://example.org/01"}
WORDS = {"softmax": "<b>01</b>", "positions": "שלום"}


def drawn(**options):
    return figures.architecture(NOTES, 6, TOTALS, alt=ALT, **options)


def boxes(page, side):
    name = f"{side}, from the bottom"
    return page.get_by_role("group", name=name).locator("button")


def state(page):
    return page.locator(".said").inner_text()


def centres(page, selector):
    """Return left, top, right and bottom of each part that matches."""
    return page.eval_on_selector_all(
        selector,
        "all => all.map(e => { const b = e.getBoundingClientRect();"
        "return [b.left, b.top, b.right, b.bottom]; })",
    )


def points(page, selector):
    """Return first and last point of each arrow on the page."""
    return page.eval_on_selector_all(
        f"{selector} polyline",
        """all => all.map(e => {
            const origin = e.ownerSVGElement.getBoundingClientRect();
            const ends = [e.points[0], e.points[e.points.length - 1]];
            return ends.map(p => [p.x + origin.left, p.y + origin.top]); })""",
    )


def inside(point, box, slack=2):
    (x, y), (left, top, right, bottom) = point, box
    return left - slack <= x <= right + slack and top - slack <= y <= bottom + slack


def test_boxes_hold_the_names_and_notes_that_were_given(tmp_path):
    with opened(tmp_path, drawn()) as page:
        for side, expected in (("encoder", ENCODER), ("decoder", DECODER)):
            names = boxes(page, side).locator(".name").all_inner_texts()
            assert names == [box.name for box in expected]
            notes = boxes(page, side).locator(".lv-note").all_inner_texts()
            assert notes == [NOTES[box.note] for box in expected]
        values = page.eval_on_selector_all(
            "button.box[data-value]", "all => all.map(e => e.dataset.value)"
        )
        assert values.count("1,050,624") == 3 and values.count("2,099,712") == 2
        assert values.count("1,024") == 7 and values.count("18,944,000") == 3
        for line in TOTALS:
            assert line in page.locator(".notes").inner_text()


def test_keys_and_values_go_from_encoder_to_cross_attention(tmp_path):
    with opened(tmp_path, drawn()) as page:
        memory = centres(page, "button.norm")[2]  # the encoder's last norm
        (cross,) = centres(page, ".cross-attention")
        arrows = points(page, ".arrow.memory")
        assert len(arrows) == 2
        for start, end in arrows:
            assert inside(start, memory) and inside(end, cross)
        letters = page.locator("text.letter").all_text_contents()
        assert letters == ["k", "v"]


def test_residual_connections_go_past_their_sublayers(tmp_path):
    with opened(tmp_path, drawn()) as page:
        arrows = points(page, ".arrow.residual")
        assert len(arrows) == 5
        every = [centres(page, "button.box")[:8], centres(page, "button.box")[8:]]
        ends = [
            (side, start_row, end_row)
            for start, end in arrows
            for side, column in enumerate(every)
            for start_row, low in enumerate(column)
            for end_row, high in enumerate(column)
            if inside(start, low) and inside(end, high)
        ]
        assert ends == [(0, 2, 4), (0, 4, 6), (1, 3, 5), (1, 5, 7), (1, 7, 9)]


def test_self_attention_has_three_arrows_cross_attention_one(tmp_path):
    with opened(tmp_path, drawn()) as page:
        ends = [end for _, end in points(page, ".arrow.flow")]
        for name, count in (("self", 3), ("causal", 3), ("cross", 1)):
            selector = f".{name}-attention" if name != "causal" else ".causal-attention"
            (box,) = centres(page, selector)
            assert sum(inside(end, box) for end in ends) == count, name


def test_each_box_is_reached_by_arrow_keys_and_told(tmp_path):
    with opened(tmp_path, drawn()) as page:
        boxes(page, "encoder").first.focus()
        assert state(page).startswith("encoder: source")
        for box in ENCODER[1:]:
            page.keyboard.press("ArrowUp")
            assert state(page).startswith(f"encoder: {box.name}")
        assert "shape (2, 5, 512) → (2, 5, 512)" in state(page)
        assert "1,024 parameters" in state(page) and "in each of" not in state(page)
        page.keyboard.press("Tab")
        for _ in range(6):
            page.keyboard.press("ArrowUp")
        assert "decoder: cross-attention" in state(page)
        assert "shape (2, 4, 512) and (2, 5, 512) → (2, 4, 512)" in state(page)
        assert "1,050,624 parameters, in each of 6 layers" in state(page)
        assert f"lesson {LESSONS['cross-attention']}" in state(page)
        page.keyboard.press("End")
        assert "decoder: softmax" in state(page) and "parameters" not in state(page)
        page.keyboard.press("Escape")
        assert state(page).startswith("Point at a box")


def test_pointing_at_embedding_shows_who_shares_it(tmp_path):
    with opened(tmp_path, drawn()) as page:
        page.locator(".embedding").first.hover()
        assert "18,944,000 parameters, the same in three boxes" in state(page)
        assert page.locator(".box.shared").count() == 2


def test_enter_leads_to_the_link_of_the_lesson(tmp_path):
    with opened(tmp_path, drawn(links=LINKS, lessons=WORDS)) as page:
        page.locator(".self-attention").press("Enter")
        link = page.locator(".said a")
        assert link.inner_text() == f"lesson {LESSONS['self-attention']}"
        assert link.get_attribute("href") == LINKS["self-attention"]
        assert link.evaluate("e => e === document.activeElement")
        page.locator(".feed-forward").first.hover()  # on the way to the link
        assert link.count() == 1
        page.locator(".softmax").click()
        assert page.locator(".said a").inner_text() == "lesson <b>01</b>"
        page.locator(".positions").first.click()
        assert "lesson שלום" in state(page) and page.locator(".said a").count() == 0


def test_states_are_marks_and_not_only_colours(tmp_path):
    with opened(tmp_path, drawn(parts=PARTS)) as page:
        marks = page.locator("button .lv-mark").all_inner_texts()
        assert (marks.count("✓"), marks.count("●"), marks.count("○")) == (2, 1, 18)
        current = page.locator("button[data-state=current]")
        assert current.inner_text().startswith("●causal attention")
        assert (
            page.get_by_role("button", name="in this lesson: causal attention").count()
            == 1
        )
        assert page.locator(".key").inner_text().split("\n")[0].startswith("✓")


def test_part_of_an_earlier_lesson_is_not_called_done(tmp_path):
    with opened(tmp_path, drawn(parts=PARTS)) as page:
        page.locator(".softmax").focus()
        assert page.locator(".facts").inner_text().endswith("in an earlier lesson")
        page.locator(".causal-attention").focus()
        assert page.locator(".facts").inner_text().endswith("in this lesson")


def test_map_needs_no_notes(tmp_path):
    figure = figures.architecture(alt=ALT, parts=PARTS, small=True)
    with opened(tmp_path, figure) as page:
        page.locator(".feed-forward").first.focus()
        assert "for each token alone" in state(page) and "shape" not in state(page)
        width = page.locator(".living-view").bounding_box()["width"]
        assert width <= 33 * 16  # letters of 0.85 rem; readers found 0.75 too small


@pytest.mark.parametrize("small", [False, True])
def test_view_is_accessible(small, tmp_path):
    assert_accessible(tmp_path, drawn(small=small, parts=PARTS, links=LINKS))


@pytest.mark.thorough
def test_view_without_states_is_accessible(tmp_path):
    assert_accessible(tmp_path, drawn())


def test_texts_of_html_stay_text():
    html = page_text(drawn(lessons=WORDS))
    assert "<b>01" not in html


def test_what_there_is_not_is_refused():
    def refused(match, *arguments, **options):
        with pytest.raises(ValueError, match=match):
            figures.architecture(*arguments, alt=ALT, **options)

    refused("parts: there is no part 'attention'", parts={"attention": "done"})
    refused("must be one of", parts={"softmax": "finished"})
    refused("links: there is no part 'x'", links={"x": "a.html"})
    refused("must be relative or https", links={"softmax": "javascript:alert(1)"})
    refused("must be relative or https", links={"softmax": " "})
    refused(r"notes are all or none: .*'memory'", {"source": "(2, 5)"})
    refused("unknown", NOTES | {"heads": "8"})
    refused("n_layers=0 must be a whole number", NOTES, 0)
    refused("7 totals: there is room for 6", NOTES, 6, ["line"] * 7)
