"""How soon a page of the book reports on an answer, in Chromium, and later checks.

A local server gives the files, so no network is in the figures. Seconds count from the
click on Check to the report. Beside the first report: the same check in a new process
of CPython; beside later ones: ``check_text`` in this process.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from autograder.book.in_page.check import check_text
from autograder.book.live import write_live
from autograder.checking.registry import load
from autograder.course import Course
from autograder.system import find_browser
from tests.benchmarks.figure import Figure, against
from tests.browser import CHROMIUM_OPTIONS
from tests.site import pyodide
from tests.site.book import make_site, small_course
from tests.site.test_answering_in_a_browser import (
    ENDLESS_IN_C,
    MISCONCEPTION,
    NO_NETWORK,
    SOFTMAX,
    SPEC,
    WRONG,
    served,
)
from tests.site.test_wheel import FIRST_LESSONS

VISITS = 3  # of each kind; the figure is their median
READING = 10.0  # seconds that one reads before the click, where one reads
PATIENCE = 300_000  # milliseconds
STEP = 4  # of the exercises of lessons 00 to 06, each fourth is checked later
# Both moments are of the page's clock: what drives the browser takes time of its own.
CLICK = """text => new Promise(resolve => {
    const editor = document.querySelector(".live");
    editor.querySelector("textarea").value = text;
    const report = editor.querySelector(".live-report");
    const seconds = start => resolve((performance.now() - start) / 1000);
    report.replaceChildren();
    const start = performance.now();
    new MutationObserver((_, watch) => {
        if (!report.textContent) return;
        watch.disconnect();
        seconds(start);
    }).observe(report, { childList: true });
    editor.querySelector(".live-check").click();
})"""
ASK = """async requests => {
    const times = [];
    for (const request of requests) {
        const start = performance.now();
        await attentionCourse.python.ask("check.check_json", request);
        times.push((performance.now() - start) / 1000);
    }
    return times;
}"""
ALONE = """import sys
from autograder.book.in_page.check import check_text
check_text("softmax", sys.argv[1])
"""
IN_CACHES = """() => caches.keys().then(async names => {
    const all = await Promise.all(names.map(async name =>
        (await (await caches.open(name)).keys()).length));
    return all.reduce((one, two) => one + two, 0) > 20;
})"""


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    if not pyodide.at_hand():
        raise SystemExit(pyodide.MISSING)
    visits = 1 if quick else VISITS
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = small_course(Path(folder))
        make_site(root).check_returncode()
        site = root / "build" / "site"
        write_live(site, pyodide.FOLDER)

        @contextlib.contextmanager
        def profile(**options: Any) -> Iterator[BrowserContext]:
            """Open a browser as somebody has it who was never here."""
            with tempfile.TemporaryDirectory() as home:
                context = playwright.chromium.launch_persistent_context(
                    home,
                    executable_path=find_browser(),
                    args=[*CHROMIUM_OPTIONS, NO_NETWORK],
                    **options,
                )
                context.set_default_timeout(PATIENCE)
                yield context
                context.close()

        alone = _median(_alone, visits)
        with served(site) as address:
            cold = _median(lambda: _cold(profile, address, 0), visits)
            read = _median(lambda: _cold(profile, address, READING), visits)
            with profile(service_workers="block") as without, profile() as context:
                _first(without, address)
                _first(context, address, stay=True)
                # In turn: the machine may have other work, which comes and goes.
                both = [
                    (_first(without, address), _first(context, address))
                    for _ in range(2 * visits)
                ]
                warm, from_worker = map(statistics.median, zip(*both, strict=True))
                page = context.new_page()
                page.goto(address + SOFTMAX)
                page.evaluate(CLICK, WRONG)
                stopped = _median(lambda: _after_stop(page), visits)
                later, in_cpython = _later(page, quick)
        figures = {
            "first report, cold, clicked at once": cold,
            f"first report, cold, clicked after {READING:g} s of reading": read,
            "second visit, from the browser's cache": warm,
            "second visit, from the service worker": from_worker,
            "after Stop": stopped,
        }
    peer = "new process of CPython"
    beside_cache = "second visit, service worker beside cache"
    ninety_five = f"later checks, 95 % within ({len(later)} checks)"
    return [
        *(against(name, each, "s", peer, alone) for name, each in figures.items()),
        against(beside_cache, from_worker, "s", "the browser's cache", warm),
        against(
            f"later checks, median ({len(later)} checks)",
            statistics.median(later),
            "s",
            "check_text in CPython",
            statistics.median(in_cpython),
        ),
        against(
            ninety_five,
            _within_95(later),
            "s",
            "check_text in CPython",
            _within_95(in_cpython),
        ),
        Figure("load of the machine after", os.getloadavg()[0], ""),
    ]


def _median(measured: Callable[[], float], times: int) -> float:
    return statistics.median(measured() for _ in range(times))


def _within_95(seconds: list[float]) -> float:
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))]


def _alone() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", ALONE, WRONG], check=True)
    return time.perf_counter() - start


def _cold(profile: Any, address: str, reading: float) -> float:
    with profile() as context:
        return _first(context, address, reading)


def _first(
    context: BrowserContext, address: str, reading: float = 0, *, stay: bool = False
) -> float:
    """Visit an exercise and answer it; return the seconds from the click.

    reading : seconds before, in which the mouse moves once
    stay : until the service worker has kept what the page needs
    """
    page = context.new_page()
    page.goto(address + SOFTMAX)
    if reading:
        page.mouse.move(200, 200)
        page.wait_for_timeout(1000 * reading)
    seconds = float(page.evaluate(CLICK, WRONG))
    if stay:
        page.wait_for_function(IN_CACHES)
    page.close()
    return seconds


def _after_stop(page: Page) -> float:
    """Stop an endless check; return the seconds from the next click to its report."""
    editor = page.locator(".live").first
    editor.get_by_role("textbox").fill(ENDLESS_IN_C)
    editor.get_by_role("button", name="Check").click()
    page.wait_for_timeout(500)
    editor.get_by_role("button", name="Stop").click()
    return float(page.evaluate(CLICK, WRONG))


def _later(page: Page, quick: bool) -> tuple[list[float], list[float]]:
    """Check answers to some exercises; return seconds in the page and in CPython."""
    names = FIRST_LESSONS[:: 4 * STEP if quick else STEP]
    requests = []
    for name in names:
        texts = [SPEC.format(name=name)]
        texts += [
            MISCONCEPTION.format(name=name, which=each.name)
            for each in load(name).misconceptions[:4]
        ]
        requests += [{"name": name, "text": text} for text in texts]
    in_page = page.evaluate(ASK, requests)
    times = []
    for request in requests:
        start = time.perf_counter()
        json.dumps(check_text(**request))
        times.append(time.perf_counter() - start)
    return [float(each) for each in in_page], times
