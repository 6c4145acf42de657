"""How large the lessons' living figures are, and how soon a browser has drawn them.

Each figure is taken from the executed lesson and opened alone, as a page from the disk.
Time counts from the start of the page to the frame in which the view is drawn, median
over 5. Beside them: the limits that the course has set itself.
"""

import re
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder.course import Course
from course_lib import figures as views
from tests.benchmarks.figure import Figure, against
from tests.browser import one_browser, page_of
from tests.figures import test_living_heads as heads
from tests.figures import test_living_next_token as token
from tests.figures import test_living_timeline as timeline

OPENINGS = 5
MAX_BYTES = 60_000.0  # of a view's script and style
MAX_MILLISECONDS = 1000.0
FIRST_FRAME = """new MutationObserver((_, watch) => {
    if (!document.querySelector("[data-live=yes]")) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => (
        window.firstFrame = performance.now())));
}).observe(document, { subtree: true, childList: true, attributes: true })"""
PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>view</title><body>'


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    outputs = [*_of_lessons(course), *_of_later_lessons()]
    figures = []
    with one_browser(), tempfile.TemporaryDirectory() as folder:
        for name, output in outputs[: 1 if quick else None]:
            page = Path(folder, "page.html")
            page.write_text(PAGE + output, encoding="utf-8")
            times = [_first_frame(page) for _ in range(1 if quick else OPENINGS)]
            kilobytes = len(_without_data(output).encode()) / 1000
            figures += [
                against(f"{name}: script", kilobytes, "kB", "limit", MAX_BYTES / 1000),
                Figure(f"{name}: with its data and picture", len(output) / 1000, "kB"),
                against(
                    f"{name}: drawn after",
                    statistics.median(times),
                    "ms",
                    "limit",
                    MAX_MILLISECONDS,
                ),
            ]
    return figures


def _of_lessons(course: Course) -> Iterator[tuple[str, str]]:
    for lesson in course.built_lessons:
        notebook = nbformat.read(course.teacher(lesson), as_version=4)
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if 'class="living"' in html:
                    called = re.findall(r"figures\.(\w+)\(", cell.source)
                    yield f"{lesson[:2]} {called[-1] if called else cell.id}", html


def _of_later_lessons() -> Iterator[tuple[str, str]]:
    tokens = [f"token{i}" for i in range(64)]
    weights = heads.some_weights(6, 12, 64, 64)
    made = {
        "72 heads of 64 × 64": views.wall_of_heads(
            weights, tokens, tokens, alt=heads.ALT
        ),
        "next_token": views.next_token(
            token.CONTEXTS, token.VOCABULARY, token.START, alt=token.ALT, end_id=1
        ),
        "costs_by_length": views.costs_by_length(
            timeline.LENGTHS,
            timeline.D_MODELS,
            timeline.COSTS,
            alt=timeline.ALT,
            **timeline.MORE,
        ),
    }
    for name, view in made.items():
        yield name, view._repr_mimebundle_()["text/html"]


def _without_data(output: str) -> str:
    script = output.partition("<script>")[2]
    return re.sub(r"const data = .*;\n", "", script, count=1)


def _first_frame(page: Path) -> float:
    with page_of("about:blank") as tab:
        tab.add_init_script(FIRST_FRAME)
        tab.goto(page.as_uri())
        tab.wait_for_function("window.firstFrame")
        return float(tab.evaluate("window.firstFrame"))
