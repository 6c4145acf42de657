"""A lesson's code in JupyterLab in a window as narrow as a phone's, and Tab's way."""

import pytest
from playwright.sync_api import expect

from tests.browser import SCREENSHOTS
from tests.workspace.lesson_in_lab import (
    SOFTMAX,
    browser,
    cell,
    lesson,
    opened,
    run,
    write,
)

pytestmark = [*browser, pytest.mark.thorough]
FRAME = "#main, #jp-top-panel, #jp-menu-panel, #jp-main-dock-panel, #jp-main-statusbar"
LONG = "incomprehensibilities"
BROKEN = f"""pre => {{
    const text = pre.textContent, node = pre.firstChild;
    const rows = [...text.matchAll(/{LONG}/g)].map(({{ index }}) => {{
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + {len(LONG)});
        return range.getClientRects().length;
    }});
    return [rows.length, Math.max(...rows)];
}}"""
ROWS = """content => {
    const line = [...content.querySelectorAll(".cm-line")].find(
        each => each.textContent.startsWith("    ") &&
            each.getClientRects()[0].height > 24);
    const range = document.createRange();
    range.selectNodeContents(line);
    const rows = [...range.getClientRects()].sort((a, b) => a.top - b.top);
    const text = document.createRange();
    const node = document.createTreeWalker(line, NodeFilter.SHOW_TEXT).nextNode();
    text.setStart(node, node.data.search(/\\S|$/));
    text.setEnd(node, node.data.length);
    const size = parseFloat(getComputedStyle(line).fontSize);
    return [rows[rows.length - 1].left - content.getBoundingClientRect().left, size];
}"""


def test_broken_lines_of_code_go_on_further_to_the_right(server):
    with opened(server, "phone", lesson(), width=390) as (page, _):
        content = cell(page, SOFTMAX).locator(".cm-content")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "code-on-a-phone.png")
        left, size = content.evaluate(ROWS)
        assert size < 12 and left > 3 * size
        assert content.evaluate("e => e.scrollWidth <= e.parentNode.clientWidth + 1")


def test_frame_fits_and_tabs_are_named_on_a_phone(server):
    with opened(server, "frame", lesson(), width=390) as (page, _):
        widths = page.eval_on_selector_all(
            FRAME, "all => all.map(each => [each.scrollWidth, each.clientWidth])"
        )
        assert len(widths) == 5
        assert all(scroll <= client for scroll, client in widths)
        panel = page.locator("#jp-main-dock-panel > .lm-DockPanel-widget").first
        assert panel.bounding_box()["x"] == 0
        for _ in range(2):  # launchers
            page.get_by_role("button", name="New Launcher").click()
            page.wait_for_timeout(500)
        page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text="frame").click()
        label = page.locator("#jp-main-dock-panel .lm-mod-current .lm-TabBar-tabLabel")
        expect(label).to_contain_text("frame")
        assert label.evaluate("each => each.scrollWidth <= each.clientWidth + 1")


def test_words_of_an_output_are_not_broken(server):
    with opened(server, "words", lesson(), width=390) as (page, _):
        write(page, SOFTMAX, f"print('a b ' + '{LONG} ' * 5)")
        run(page, SOFTMAX)
        output = cell(page, SOFTMAX).locator(".jp-OutputArea-output pre")
        assert output.evaluate(BROKEN) == [5, 1]


def test_triangles_that_fold_are_not_on_the_way_of_tab(server):
    with opened(server, "triangles", lesson()) as (page, _):
        triangle = page.locator(".jp-collapseHeadingButton").first
        expect(triangle).to_be_attached()
        page.mouse.move(0, 0)
        expect(triangle).to_be_hidden()
        page.locator(".jp-MarkdownCell").first.hover()
        expect(triangle).to_be_visible()
