"""Pages with living figures in headless Chromium, and what every view must keep."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe

from course_lib.figures.living import LivingFigure
from tests.browser import TOO_WIDE, becomes_true, page_of, recorded, same_page

GROUNDS = {"light": "background:#fff;color:#111", "dark": "background:#111;color:#eee"}
MAX_BYTES = 60_000  # of a view's script and style
STOPS = """() => [...document.querySelectorAll(".living-view *")].filter(
    each => each.tabIndex >= 0 && each.checkVisibility()).length"""
ALIVE = "document.querySelectorAll('figure.living[data-live=yes]').length"
FOCUS = """i => {
    const view = document.querySelectorAll(".living-view")[i];
    const first = [...view.querySelectorAll("*")].find(
        each => each.tabIndex >= 0 && each.checkVisibility());
    first.focus();
    return document.activeElement === first;
}"""
# Before its first frame Chromium drops the keys that a page is given.
PAINTED = """() => new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(done)))"""
STAYS = """i => document.querySelectorAll(".living-view")[i].contains(
    document.activeElement)"""


def page_text(*figures: LivingFigure, ground: str = "light") -> str:
    """Return a page that holds the figures as a notebook's output does."""
    outputs = "<hr>".join(each._repr_mimebundle_()["text/html"] for each in figures)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>figures'
        '</title><meta name="viewport" content="width=device-width"></head>'
        f'<body style="margin:8px;font-family:sans-serif;{GROUNDS[ground]}"><main>'
        f"<h1>Figures</h1>{outputs}</main></body></html>"
    )


@contextlib.contextmanager
def opened(
    folder: Path,
    *figures: LivingFigure,
    ground: str = "light",
    own_page: bool = False,
    **options: Any,
) -> Iterator:
    """Open a page with the figures; what a script says or asks for is a failure.

    own_page : for a test that gives the page functions, which a page keeps
    options : of the page's context
    """
    path = folder / f"{ground}.html"
    path.write_text(page_text(*figures, ground=ground), encoding="utf-8")
    is_own = own_page or options
    new_page = page_of("about:blank", **options) if is_own else same_page()
    with new_page as page, recorded(page) as requests:
        page.goto(path.as_uri())
        page.wait_for_selector('.living[data-live="yes"]')
        page.evaluate(PAINTED)
        yield page
        assert {each.split(":")[0] for each in requests} <= {"file", "data", "blob"}


def assert_accessible(folder: Path, figure: LivingFigure) -> None:
    """Look at a figure in both themes, narrow and wide: axe, widths, one Tab stop."""
    script = figure.html().replace(figure.image(), "")
    assert len(script.encode()) < MAX_BYTES + len(str(figure.data).encode())
    for ground in GROUNDS:
        with opened(folder, figure, ground=ground) as page:
            for width in (360, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                # A view that draws itself by the page's width does so after the change.
                becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])
                violations = Axe().run(page).response["violations"]
                assert violations == [], (ground, width)
            assert 1 <= page.evaluate(STOPS) < 20  # groups are one stop each
            page.emulate_media(media="print")
            assert page.locator(".living .controls").count() == 0 or not (
                page.locator(".living .controls").first.is_visible()
            )


def assert_keys_stay(page, count: int) -> None:
    """Reach each view of a page by keyboard: its keys leave it to nobody else."""
    for i in range(count):
        assert page.evaluate(FOCUS, i), i
        for key in ("ArrowRight", "ArrowDown", "End", "Home"):
            page.keyboard.press(key)
            assert page.evaluate(STAYS, i), (i, key)
