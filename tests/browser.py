"""Jupyter's servers as one starts them by hand, and a page in headless Chromium."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from autograder.course import Course
from autograder.system import find_browser

REPOSITORY = Course.here().root
SCREENSHOTS = REPOSITORY / "build" / "screenshots"
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]

WINDOW = {"width": 1100, "height": 1300}
PATIENCE = 300_000  # milliseconds: the machine may have much other work

ATTACK = '"><img src=http://example.invalid/x onerror="document.title=1"><script>'
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter(each =>
    !each.closest(".scroll table, .hidden") &&
    each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML)"""


def course_copy(folder: Path) -> Path:
    """Copy what a learner has into a folder, without anybody's answers."""
    shutil.copytree(REPOSITORY / "notebooks", folder / "notebooks")
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    return folder


@contextlib.contextmanager
def lab_server(folder: Path, *arguments: str) -> Iterator[str]:
    """Run ``autograder lab`` on a course folder; yield the address that it prints."""
    with jupyter_server(folder, "autograder", "lab", *arguments) as (address, _):
        yield address


@contextlib.contextmanager
def jupyter_server(
    folder: Path, *command: str
) -> Iterator[tuple[str, subprocess.Popen]]:
    """Run a module that serves a folder; give the address that it prints.

    command : the module and its arguments

    The process comes with the address, for those who want to end it themselves.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "server.log"
    with log.open("w") as file:
        server = subprocess.Popen(
            [sys.executable, "-m", *command, "--no-browser", f"--port={port}"],
            cwd=folder,
            stdout=file,
            stderr=file,
            start_new_session=True,
            env=os.environ | {"HOME": str(folder)},
        )
    try:
        yield _address(server, log), server
    finally:
        _end(server)


def _end(server: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(20)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def _address(server: subprocess.Popen, log: Path) -> str:
    pattern = r"http://(?:127\.0\.0\.1|localhost):\d+/\S*[?&]token=\S+"
    for _ in range(PATIENCE // 100):
        text = log.read_text()
        # The address is printed before anybody listens there.
        if (match := re.search(pattern, text)) and _answers(match[0]):
            return match[0]
        if server.poll() is not None:
            raise RuntimeError(f"the server ended: {text}")
        time.sleep(0.1)
    raise RuntimeError(f"no address after minutes: {log.read_text()}")


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    with socket.socket() as probe:
        return probe.connect_ex((parts.hostname, parts.port)) == 0


@contextlib.contextmanager
def page_of(address: str, **options: Any) -> Iterator:
    """Open an address in headless Chromium; yield the page.

    options : of the page's context
    """
    with one_browser():
        page = _browsers[-1].new_page(**options)
        page.goto(address)
        yield page
        page.context.close()


@contextlib.contextmanager
def same_page() -> Iterator:
    """Open an empty page, the same one for all that share a browser.

    A new one takes 0.3 s of processor time, four times what a figure's page takes to
    load. It is for pages that keep nothing; after a failure the next one is new.
    """
    with one_browser():
        shared = _browsers[-1]
        page, shared.page = shared.page or shared.new_page(), None
        page.set_viewport_size(WINDOW)
        page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
        page.mouse.move(0, 0)
        yield page
        page.goto("about:blank")
        shared.page = page


def type_into(page: Any, cell: Any, source: str) -> None:
    """Write a source into a cell of JupyterLab, in place of what is there.

    It is reached by focus: a click may land elsewhere while a slow notebook scrolls.
    """
    cell.locator(".cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def becomes_true(page: Any, claim: Callable[[], bool]) -> None:
    """Wait until a claim holds, of a file for example, while the page goes on."""
    for _ in range(PATIENCE // 100):
        if claim():
            return
        page.wait_for_timeout(100)
    assert claim()


@contextlib.contextmanager
def one_browser() -> Iterator[None]:
    """Let all pages opened meanwhile share a browser: that saves a second for each.

    It is not kept for good: Playwright's event loop would be in the way of others'.
    """
    if _browsers:
        yield
        return
    with contextlib.ExitStack() as stack:
        _browsers.append(_Browser(stack))
        try:
            yield
        finally:
            _browsers.clear()


class _Browser:
    """Chromium, started when it is asked for and ended with a stack."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._browser: Any = None
        self.page: Any = None  # that of ``same_page``, while nobody uses it

    def new_page(self, **options: Any) -> Any:
        page = self.browser().new_page(viewport=WINDOW, **options)
        page.set_default_timeout(PATIENCE)
        return page

    def browser(self) -> Any:
        if self._browser is None:
            from playwright.sync_api import expect, sync_playwright

            if not find_browser():  # `make test` stops before, but for NO_BROWSER=1
                pytest.skip("neither Chromium nor Chrome is here")
            expect.set_options(timeout=PATIENCE)
            chromium = self._stack.enter_context(sync_playwright()).chromium
            self._browser = chromium.launch(
                executable_path=find_browser(), args=CHROMIUM_OPTIONS
            )
            self._stack.callback(self._browser.close)
        return self._browser


_browsers: list[_Browser] = []  # one at most


@contextlib.contextmanager
def recorded(page) -> Iterator[list[str]]:
    """Yield the addresses that a page requests; what it says or stops at is a failure.

    Dialogs are dismissed. The colour scheme is light again afterwards.
    """
    messages: list[str] = []
    requests: list[str] = []
    listeners = {
        "console": lambda message: messages.append(message.text),
        "pageerror": lambda error: messages.append(str(error)),
        "dialog": lambda dialog: (messages.append(dialog.message), dialog.dismiss()),
        "request": lambda request: requests.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    yield requests
    assert messages == []
    page.emulate_media(media="screen", color_scheme="light")
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
