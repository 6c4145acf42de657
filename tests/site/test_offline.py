"""What a browser keeps of the book: a second visit answers without any server."""

import base64
import contextlib
import functools
import hashlib
import io
import json
import shutil
import tempfile
import threading
import zipfile

import pytest
from playwright.sync_api import expect

from autograder.book import live
from autograder.book.live import LIVE, SERVICE, write_live
from autograder.book.serve import ADDRESS, BookRequestHandler, BookServer
from autograder.book.wheel import wheel
from autograder.system import find_browser
from tests.browser import CHROMIUM_OPTIONS, PATIENCE, becomes_true
from tests.site import pyodide
from tests.site.book import LESSON
from tests.site.test_answering_in_a_browser import (
    FIRST_AXIS,
    NEEDS_PYODIDE,
    NO_NETWORK,
    RIGHT,
    SOFTMAX,
    WRONG,
    checked,
    chromium,  # noqa: F401 — a fixture
    watch,
)

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
SOLVED = "solved, all 5 claims hold"
NOT_RUN = "so nothing was checked"
STOPPED = "softmax ="  # an error of syntax
IN_CACHES = """async () => {
    const all = {};
    for (const name of await caches.keys()) {
        const keys = await (await caches.open(name)).keys();
        all[name.split(" ")[2]] = keys.map(({ url }) => new URL(url).pathname);
    }
    return all;
}"""

EMPTIED = """async () => {
    const name = (await caches.keys()).find((each) => each.endsWith(" files"));
    const cache = await caches.open(name);
    for (const key of await cache.keys()) {
        await cache.put(key, new Response("no such file"));
    }
}"""
# Mark what is kept of a page without a change to what its server says of it.
MARKED = """async (path) => {
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        const own = await cache.match(path);
        if (!own) continue;
        const headers = new Headers(own.headers);
        headers.set("x-mark", "yes");
        await cache.put(path, new Response(await own.blob(), { headers }));
    }
}"""
MARK_OF = "(path) => caches.match(path).then((own) => own.headers.get('x-mark'))"


class Handler(BookRequestHandler):
    """Remember what is asked for, and let pages of other addresses read it."""

    def do_GET(self):
        """Answer."""
        self.server.paths.append(self.path.partition("?")[0])
        super().do_GET()

    def end_headers(self):
        """Allow all pages."""
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


class Served:
    """A folder on a server that can be stopped and started again, at one address."""

    def __init__(self, folder, port=0):
        self._handler = functools.partial(Handler, directory=str(folder))
        self.port, self.paths = port, []
        self.start()

    def start(self):
        """Serve; the address stays as it was."""
        self._server = BookServer((ADDRESS, self.port), self._handler)
        self.port = self._server.server_port
        self._server.paths = self.paths
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        """Serve no more: nobody listens at the address."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self):
        """The book's root."""
        return f"http://{ADDRESS}:{self.port}/"


@pytest.fixture
def copy(site, tmp_path):
    """Return the folder of a small book with Pyodide in it, to be changed."""
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    write_live(folder, pyodide.FOLDER)
    return folder


@contextlib.contextmanager
def visitor(chromium):  # noqa: F811
    """Open a browser for somebody who comes again; yield its context.

    It has a profile on the disk: one in memory keeps no file of 10 MB.
    """
    with tempfile.TemporaryDirectory() as home:
        context = chromium.browser_type.launch_persistent_context(
            home, executable_path=find_browser(), args=[*CHROMIUM_OPTIONS, NO_NETWORK]
        )
        context.set_default_timeout(PATIENCE)
        try:
            yield context
        finally:
            context.close()


def clear_own_cache(context, page):
    """Empty the browser's own cache; what the service worker keeps stays."""
    context.new_cdp_session(page).send("Network.clearBrowserCache")


def visit(context, server, text, path=SOFTMAX):
    """Answer an exercise; return the report's text and the page."""
    page = context.new_page()
    page.goto(server.address + path)
    return checked(page, text), page


def is_kept(page, path=SOFTMAX):
    """Return whether the browser has the page, and all files of Pyodide."""
    cached = page.evaluate(IN_CACHES)
    names = {each.rpartition("/")[2] for each in cached.get("files", [])}
    return {*live.DIGESTS} <= names and f"/{path}" in cached.get("pages", [])


@NEEDS_PYODIDE
def test_second_visit_answers_without_a_server(copy, chromium):  # noqa: F811
    server = Served(copy)
    with visitor(chromium) as context:
        report, page = visit(context, server, WRONG)
        assert FIRST_AXIS in report
        becomes_true(page, lambda: is_kept(page))
        page.goto(server.address + LESSON)
        expect(page.locator("mjx-container svg").first).to_be_attached()
        page.close()
        server.stop()
        page = context.new_page()
        clear_own_cache(context, page)
        faults, _ = watch(page)
        page.goto(server.address + SOFTMAX)
        assert "def softmax" in page.get_by_role("textbox").first.input_value()
        assert SOLVED in checked(page, RIGHT)
        page.goto(server.address + LESSON)
        expect(page.locator("mjx-container svg").first).to_be_attached()
        assert [each for each in faults if "ERR_CONNECTION_REFUSED" not in each] == []


@NEEDS_PYODIDE
def test_files_of_another_host_are_kept(site, chromium, tmp_path, monkeypatch):  # noqa: F811
    network = Served(pyodide.FOLDER)
    monkeypatch.setattr(live, "NETWORK", network.address)
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    write_live(folder)
    server = Served(folder)
    with visitor(chromium) as context:
        report, page = visit(context, server, WRONG)
        assert FIRST_AXIS in report
        becomes_true(page, lambda: is_kept(page))
        clear_own_cache(context, page)
        server.stop()
        network.stop()
        report, _ = visit(context, server, RIGHT)
        assert SOLVED in report


@NEEDS_PYODIDE
def test_second_visit_asks_for_no_file_again(copy, chromium):  # noqa: F811
    server = Served(copy)
    with visitor(chromium) as context:
        _, page = visit(context, server, WRONG)
        becomes_true(page, lambda: is_kept(page))
        asked = [each for each in server.paths if "pyodide/" in each or ".whl" in each]
        assert len(asked) == len({*asked}) == len(live.DIGESTS) + 1
        server.paths.clear()
        visit(context, server, RIGHT)
        assert f"/{LIVE}/config.json" in server.paths
        assert not [each for each in server.paths if each in asked]
    server.stop()


@NEEDS_PYODIDE
def test_second_visit_takes_files_from_the_browsers_cache(copy, chromium):  # noqa: F811
    server = Served(copy)
    with visitor(chromium) as context:
        _, page = visit(context, server, WRONG)
        becomes_true(page, lambda: is_kept(page))
        page.evaluate(EMPTIED)
        report, page = visit(context, server, RIGHT)
        assert SOLVED in report
        wasm = [each for each in server.paths if each.endswith(".wasm")]
        assert len(wasm) == 1
        clear_own_cache(context, page)
        server.paths.clear()
        visit(context, server, WRONG)
        assert any(each.endswith(".wasm") for each in server.paths)
    server.stop()


@NEEDS_PYODIDE
def test_unchanged_page_is_not_stored_again(copy, chromium):  # noqa: F811
    server = Served(copy)
    with visitor(chromium) as context:
        _, page = visit(context, server, WRONG)
        becomes_true(page, lambda: is_kept(page))
        page.evaluate(MARKED, f"/{SOFTMAX}")
        page.goto(server.address + SOFTMAX)
        page.wait_for_timeout(500)
        assert page.evaluate(MARK_OF, f"/{SOFTMAX}") == "yes"
        path = copy / SOFTMAX
        path.write_text(path.read_text().replace("<h1>", "<h1>New: "))
        clear_own_cache(context, page)  # it may take the page for fresh
        page.goto(server.address + SOFTMAX)
        becomes_true(page, lambda: page.evaluate(MARK_OF, f"/{SOFTMAX}") is None)
    server.stop()


@NEEDS_PYODIDE
def test_file_of_another_digest_is_asked_for_anew(copy, chromium):  # noqa: F811
    # As after a build with another Pyodide: one address, another file.
    server = Served(copy)
    with visitor(chromium) as context:
        _, page = visit(context, server, WRONG)
        becomes_true(page, lambda: is_kept(page))
        path = copy / LIVE / "pyodide" / "pyodide.js"
        data = path.read_bytes() + b"\n// another\n"
        path.write_bytes(data)
        config = json.loads((copy / LIVE / "config.json").read_text())
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        config["files"]["pyodide.js"] = f"sha256-{digest}"
        (copy / LIVE / "config.json").write_text(json.dumps(config))
        report, _ = visit(context, server, RIGHT)
        assert SOLVED in report
    server.stop()


@NEEDS_PYODIDE
def test_worker_after_stop_has_what_was_compiled(copy, chromium):  # noqa: F811
    server = Served(copy)
    context = chromium.new_context(service_workers="block")
    context.set_default_timeout(PATIENCE)
    _, page = visit(context, server, WRONG)
    page.evaluate("attentionCourse.python.stop()")
    page.evaluate("document.querySelector('.live-report').replaceChildren()")
    assert SOLVED in checked(page, RIGHT)
    assert server.paths.count(f"/{LIVE}/pyodide/pyodide.asm.wasm") == 1
    assert server.paths.count(f"/{LIVE}/worker.js") == 2
    context.close()
    server.stop()


@NEEDS_PYODIDE
def test_new_build_replaces_the_old_one(copy, chromium, monkeypatch):  # noqa: F811
    server = Served(copy)
    with visitor(chromium) as context:
        report, page = visit(context, server, STOPPED)
        assert f"{NOT_RUN} now" not in report and NOT_RUN in report
        becomes_true(page, lambda: is_kept(page))
        page.close()
        monkeypatch.setattr(live, "wheel", changed_wheel)
        path = copy / SOFTMAX
        path.write_text(path.read_text().replace("<h1>", "<h1>New: "))
        write_live(copy, pyodide.FOLDER)
        report, page = visit(context, server, STOPPED)
        assert f"{NOT_RUN} now" in report
        becomes_true(page, lambda: is_kept(page))
        becomes_true(page, lambda: len(page.evaluate(IN_CACHES)["files"]) == 7)
        becomes_true(
            page, lambda: page.evaluate("caches.keys().then(a => a.length)") == 2
        )
        server.stop()
        report, page = visit(context, server, STOPPED)
        assert f"{NOT_RUN} now" in report
        assert page.locator("h1").first.inner_text().startswith("New: ")


def changed_wheel(packages):
    """Return the wheel with another sentence in it."""
    old, file = zipfile.ZipFile(io.BytesIO(wheel(packages))), io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            data = old.read(name).replace(NOT_RUN.encode(), f"{NOT_RUN} now".encode())
            new.writestr(name, data)
    return file.getvalue()


def test_service_worker_has_the_digest_of_the_book(site, tmp_path):
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    texts = set()
    for _ in range(2):
        write_live(folder)
        texts.add((folder / SERVICE).read_text())
    assert len(texts) == 1
    (folder / SOFTMAX).write_text("another page")
    write_live(folder)
    texts.add((folder / SERVICE).read_text())
    assert len(texts) == 2
    assert not any(live.BUILD in each for each in texts)
