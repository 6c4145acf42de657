"""A drawing in a page: on the page's own ground, in ink that can be read on it."""

import re

import pytest

from course_lib import figures
from course_lib.figures.drawing import FIXED_BLACK
from tests.browser import page_of, recorded
from tests.figures.living import GROUNDS, page_text

ALT = 'Nothing but a "test" of <curves>.'
WHITE = "rgb(255, 255, 255)"
INKS = {"light": "rgb(17, 17, 17)", "dark": "rgb(238, 238, 238)"}
GROUND = ".drawing :is([id$=patch_1], [id$=patch_2]) path"


def curves():
    return figures.curves([1, 2], {"a": [1.0, 2.0]}, xlabel="x", ylabel="y", alt=ALT)


def boxes():
    return figures.token_boxes({"tokens": ["der", "Hund"]}, alt=ALT)


@pytest.fixture(params=GROUNDS)
def page(request, tmp_path):
    path = tmp_path / "page.html"
    text = page_text(curves(), boxes(), curves(), ground=request.param)
    path.write_text(text, encoding="utf-8")
    with page_of(path.as_uri()) as page, recorded(page):
        page.reload()
        yield request.param, page


def colours(page, selector, name):
    script = f"all => all.map((one) => getComputedStyle(one).{name})"
    return page.locator(selector).evaluate_all(script)


def test_drawings_follow_the_theme(page):
    ground, page = page
    assert page.locator(".drawing > svg[role=img]").count() == 3
    assert not page.locator(".drawing > img").first.is_visible()
    assert page.locator(".drawing > svg").first.get_attribute("aria-label") == ALT
    # Neither figure nor axes have a white ground, and words have the page's ink.
    fills = colours(page, GROUND, "fill")
    assert fills and WHITE not in fills
    assert {*colours(page, ".drawing [id*=xtick] use", "fill")} >= {INKS[ground]}
    # What is written on a light box stays black in a dark theme.
    fixed = colours(page, f'.drawing [style*="fill: {FIXED_BLACK}"]', "fill")
    assert {*fixed} == {"rgb(1, 1, 1)"}


def test_ids_of_two_drawings_are_apart(page):
    _, page = page
    script = "all => all.map((one) => one.id)"
    ids = page.locator(".drawing:not(:last-of-type) [id]").evaluate_all(script)
    first, second, *_ = page.locator(".drawing").evaluate_all(script)
    assert all(each.startswith((first, second)) for each in ids)
    style = page.locator(".drawing style").first.text_content()
    assert style.startswith(f"#{first} ")  # no rule for the whole page


def test_printed_page_has_the_image(page):
    _, page = page
    page.emulate_media(media="print")
    assert page.locator(".drawing > img").first.is_visible()
    assert not page.locator(".drawing > svg").first.is_visible()


def test_image_alone_is_black_on_white():
    """Black ink in a dark page without scripts needs a white ground."""
    ground = re.search(r'id="patch_1">\s*<path [^>]*style="([^"]+)"', curves().svg())[1]
    assert ground == "fill: #ffffff"
