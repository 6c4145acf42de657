"""A class with an attacker in it, and nbgrader's formgrader in headless Chromium.

Whatever the attacker has hidden reports itself if it runs: it calls ``ran``, which the
browser defines on every page, opens a dialog, or sends a request to another host.
"""

import copy
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from nbformat.v4 import new_output, new_raw_cell

from autograder.demo.sample_class import wrong_answer
from tests.browser import SCREENSHOTS
from tests.submissions import LEARNER, LESSON, Submission

NBGRADERS_HOST = "cdnjs.cloudflare.com"  # formgrader's pages ask it for MathJax
# Enough of MathJax for nbgrader's page to go on as it does with the real one.
MATHJAX = """window.MathJax = {Hub: {
    Config() {}, Queue() {}, Startup: {signal: {Interest() {}}}}}"""
# What would run on its own or when clicked. nbgrader's own pages have none of these.
ACTIVE = r"""
    [...document.querySelectorAll("*")].filter(element =>
        element.matches("iframe, object, embed, base, form, [http-equiv=refresh]")
        || ["onerror", "onload", "onfocus"].some(name => element.hasAttribute(name))
        || /^\s*javascript:/i.test(element.getAttribute("href") || "")
        || (element.matches("script") && /ran\(/.test(element.textContent))
    ).map(element => element.outerHTML)
"""


def poison(where: str) -> str:
    """Return HTML that reports itself wherever it is taken for a page's own."""
    return (
        f"<script>ran('{where}')</script><img src=x onerror=\"alert('{where}')\">"
        f'<img src="https://elsewhere.invalid/{where}">'
        f'<iframe srcdoc="<script>parent.ran(1)</script>"></iframe>'
        f"<a href=\"javascript:ran('{where}')\">{where}</a>"
    )


NO_NAME = "<img src=x onerror=ran('name')>"  # a folder may be called that
REMARK = "Divide by √d & <b>see me</b>"  # what the instructor writes


def hand_in_class(folder: Path) -> None:
    """Write six submissions, each for another thing that happens."""
    Submission().write(folder, "amara")
    no_scale().write(folder, "bjarne")
    untouched = Submission()
    untouched.notebook = copy.deepcopy(LEARNER)
    untouched.write(folder, "jomo")
    cut_off = Submission()
    cut_off.raw = cut_off.text().encode()[:20_000]
    cut_off.write(folder, "pavel")
    path = hostile().write(folder, "mallory")
    path.with_name("evil.html").write_text(poison("page"))
    path.with_name("evil.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" onload="ran(\'picture\')"/>'
    )
    Submission().write(folder, NO_NAME)


def no_scale(note: str = "") -> Submission:
    """Return a submission with one misconception, and a note that makes it new."""
    submission = Submission()
    code = wrong_answer("scaled_scores", "no_scale")
    submission.answer("scaled_scores", f"{code}\n# {note}")
    return submission


def hostile() -> Submission:
    """Return a submission that has hidden scripts wherever text can be."""
    submission = Submission()
    submission.note(poison("markdown"), above="attention-1")
    submission.notebook.cells.insert(
        0, new_raw_cell(poison("raw"), metadata={"raw_mimetype": "text/html"})
    )
    submission.own(
        f"# {poison('code')}\nprint({poison('printed')!r})", above="attention-1"
    )
    submission.own(
        "from IPython.display import HTML, Javascript, Markdown, display\n"
        f"display(HTML({poison('html')!r}), Markdown({poison('prose')!r}))\n"
        "display(Javascript(\"ran('javascript')\"))",
        above="attention-1",
    )
    submission.own(f"raise ValueError({poison('exception')!r})", above="attention-1")
    raising = f"def softmax(x, axis=-1):\n    raise ValueError({poison('answer')!r})"
    submission.answer("softmax", raising)
    submission.notebook.metadata["title"] = poison("title")
    submission.notebook.metadata["kernelspec"]["display_name"] = poison("kernel")
    cell = submission.cell("attention-1")
    cell.metadata["tags"], cell.id = [poison("tag")], poison("id")
    forged = new_output("display_data", {"text/html": poison("forged")})
    submission.cell("check-softmax").outputs = [forged]
    return submission


def autograder(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line in a course folder."""
    return subprocess.run(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"HOME": str(folder)},
    )


class Formgrader:
    """Formgrader in one tab of a browser, and what has happened there.

    ran : what the attacker's scripts reported
    dialogs : texts of dialogs that opened
    foreign : addresses elsewhere that were requested
    active : HTML of what could still run, on the pages that were inspected
    """

    def __init__(self, page, address: str) -> None:
        self.page = page
        self.root = address.partition("?")[0].rstrip("/")
        self.ran: list[str] = []
        self.dialogs: list[str] = []
        self.foreign: list[str] = []
        self.active: list[str] = []
        page.context.expose_function("ran", lambda where: self.ran.append(where))
        page.context.route("**", self._answer)
        page.on("dialog", self._close)
        page.goto(address)  # its token lets us in from now on

    def go(self, *parts: str) -> None:
        """Open one of formgrader's pages, and wait until its table is there."""
        self.page.goto("/".join([self.root, "formgrader", *parts]))
        self.page.wait_for_function("typeof models == 'undefined' || models?.loaded")

    def open(self, student: str) -> None:
        """Open a student's graded notebook from the list of Manual Grading."""
        self.go("gradebook", LESSON, LESSON)
        self.page.get_by_role("button", name="Show All Names").click()
        self.page.locator("a.name-shown").get_by_text(student, exact=True).click()
        self.page.wait_for_function("window.formgrader?.loaded")
        self.page.wait_for_load_state("networkidle")

    def rows(self) -> list[list[str]]:
        """Return the texts of a table, row by row."""
        return self.page.locator("#main-table tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].map(cell => cell.innerText))"
        )

    def row(self, name: str) -> list[str]:
        """Return the row of a student or a lesson; empty if there is none."""
        return next((row for row in self.rows() if name in row), [])

    def press(self, button: str, student: str) -> str:
        """Press a button in a student's row; return the dialog's text."""
        row = self.page.locator("#main-table tr").filter(
            has=self.page.locator(".student-id").get_by_text(student, exact=True)
        )
        row.locator(f".{button} a").click()
        dialog = self.page.locator(".modal.in")
        dialog.wait_for()
        self.inspect(f"{button}-{re.sub('[^a-z]', '', student)}")
        text = dialog.inner_text()
        dialog.locator(".modal-footer button").click()
        dialog.wait_for(state="detached")
        return text

    def type(self, field: str, text: str) -> None:
        """Type into a field of an open notebook, which saves itself when left."""
        box = self.page.locator(f"#{field}")
        box.fill(text)
        with self.page.expect_response(lambda answer: answer.request.method == "PUT"):
            box.blur()

    def cell(self, field: str) -> str:
        """Return the text of the cell that a field belongs to."""
        box = self.page.locator(f"#{field}")
        return self.page.locator(".cell").filter(has=box).inner_text()

    def inspect(self, name: str) -> None:
        """Save a screenshot, and record what could run on this page."""
        self.page.wait_for_load_state("networkidle")
        self.active += self.page.evaluate(ACTIVE)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"formgrader-{name}.png")

    def _answer(self, route) -> None:
        host = urlsplit(route.request.url).hostname
        if host in ("127.0.0.1", "localhost", None):
            route.fallback()
        elif host == NBGRADERS_HOST:
            is_mathjax = "mathjax" in route.request.url
            route.fulfill(body=MATHJAX if is_mathjax else "")
        else:
            self.foreign.append(route.request.url)
            route.abort()

    def _close(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()
