"""Record the README's moving picture: an error that is made, named and mended.

After ``make site PYODIDE=build/pyodide``, ``python -m tests.site.moving_picture``
writes ``docs/misconception.gif``.
"""

import io
import sys

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from autograder.course import Course
from autograder.system import find_browser
from tests.browser import CHROMIUM_OPTIONS
from tests.site.test_answering_in_a_browser import served

ROOT = Course.here().root
PICTURE = ROOT / "docs" / "misconception.gif"
PAGE = "exercises/scaled_scores.html"
WINDOW = {"width": 720, "height": 620}
FIRST = "def scaled_scores(q, k):\n    "
WRONG, MENDED = "return q @ np.swapaxes(k, -1, -2)", " / np.sqrt(q.shape[-1])"
COLOURS = 48
STEP = 4  # characters between two pictures
TYPED, READ, SOLVED = 90, 4500, 3000  # milliseconds that a picture stays


def main() -> None:
    """Write the picture."""
    with served(ROOT / "build" / "site") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=CHROMIUM_OPTIONS
        )
        page = browser.new_page(viewport=WINDOW, color_scheme="light")
        page.goto(address + PAGE)
        page.add_style_tag(content="#pst-back-to-top { display: none; }")
        frames = _play(page)
        browser.close()
    first, *rest = [_small(png) for png, _ in frames]
    first.save(
        PICTURE,
        save_all=True,
        append_images=rest,
        duration=[stays for _, stays in frames],
        loop=0,
        optimize=True,
    )
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


def _play(page: Page) -> list[tuple[bytes, int]]:
    """Type a wrong answer, check it, mend it; return pictures and their times."""
    editor = page.locator(".live").first
    text, report = editor.locator("textarea"), editor.locator(".live-report")
    frames = []

    def picture(stays: int) -> None:
        frames.append((page.screenshot(), stays))

    text.fill(FIRST)
    text.focus()
    page.evaluate(
        "document.querySelector('.live').scrollIntoView(); window.scrollBy(0, -12)"
    )
    picture(900)
    _type(page, WRONG, picture)
    editor.locator(".live-check").click()
    report.get_by_text("claims hold").first.wait_for(timeout=120_000)
    picture(READ)
    text.focus()
    page.keyboard.press("Control+End")
    _type(page, MENDED, picture)
    editor.locator(".live-check").click()
    report.get_by_text("solved").first.wait_for(timeout=120_000)
    picture(SOLVED)
    return frames


def _type(page: Page, words: str, picture) -> None:
    for start in range(0, len(words), STEP):
        page.keyboard.insert_text(words[start : start + STEP])
        picture(TYPED)


def _small(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return image.quantize(COLOURS, dither=Image.Dither.NONE)


if __name__ == "__main__":
    sys.exit(main())
