"""Answers checked in the page, in Chromium, with Pyodide and without any network."""

import contextlib
import json
import shutil
import threading
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from autograder.book.in_page.check import check_text
from autograder.book.live import LIVE, NETWORK, write_live
from autograder.book.serve import server_of
from autograder.checking.registry import load
from autograder.system import find_browser
from tests.browser import CHROMIUM_OPTIONS, PATIENCE, becomes_true
from tests.site import pyodide
from tests.site.book import LESSON
from tests.site.test_in_a_browser import AXE, THEME
from tests.site.test_wheel import FIRST_LESSONS, QUICK_COUNT

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
NEEDS_PYODIDE = pytest.mark.skipif(not pyodide.at_hand(), reason=pyodide.MISSING)
ABORTED = "net::ERR_ABORTED"
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
PHONE, DESK = {"width": 360, "height": 800}, {"width": 1280, "height": 900}
SOFTMAX = "exercises/softmax.html"
RIGHT = """def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
WRONG = RIGHT.replace("axis=-1", "axis=0")
FIRST_AXIS = "Your numbers are those of the first axis when no axis is asked for."
ENDLESS = "def softmax(x, axis=-1):\n    while True:\n        pass\n"
# Endless too, and no Python code runs meanwhile that a limit of time could end.
ENDLESS_IN_C = "print(pow(3, 10**10))\n"
STILL_RUNNING = 12_000  # milliseconds until a reader is told of Stop
ATTACK = "<img src=x onerror=document.title=1><script>document.title=2</script>"
# What an answer can make of the report, since both are of one process.
FORGED = (
    "<p onclick=x() id=x class=named>A report</p>"
    "<meta http-equiv=refresh content=0;url=/forged.html>"
    "<form action=/forged.html><button>Send</button></form><a href=/forged.html>On</a>"
    "<svg><a href=/forged.html><text>On</text></a></svg><style>p{color:red}</style>"
    "<template><a href=/forged.html></a></template><iframe srcdoc=x></iframe>"
)
FORGERIES = (
    f"""from autograder.messages import report
report.escape = str
def softmax(x, axis=-1):
    raise ValueError({FORGED!r})
""",
    f"""from autograder.book.in_page import check
check.PageReport.html = lambda self: {FORGED!r}
{RIGHT}""",
)
STUB_END = "raise NotImplementedError  # replace this line with your answer\n"
FULL = """() => {
    Storage.prototype.setItem = () => { throw new DOMException("", "Quota"); };
}"""
BLOCKED = """() => Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("", "SecurityError"); },
}) && null"""
MISCONCEPTION = """from autograder.checking.registry import load
{name} = {{each.name: each for each in load("{name}").misconceptions}}["{which}"]
{name} = {name}.function
"""
SPEC = """from autograder.checking.registry import load
{name} = load("{name}").expected_function
"""
CHECK_ALL = """async ([live, requests]) => {
    const at = (name) => new URL(name, live).href;
    const config = await (await fetch(at("config.json"))).json();
    const text = await (await fetch(at("worker.js"))).text();
    const worker = new Worker(URL.createObjectURL(new Blob([text])));
    const files = Object.entries(config.files)
        .map(([name, digest]) => [at(config.pyodide) + name, digest]);
    files.push([at(config.lock), config.lockIntegrity]);
    files.push([at(config.wheel), config.wheelIntegrity]);
    const answers = [];
    return new Promise((resolve, reject) => {
        worker.onerror = (error) => reject(error.message);
        worker.onmessage = ({ data }) => {
            if (data.failed) reject(data.failed);
            if (data.id === undefined) return;
            answers.push(data.answer ?? data.broken);
            if (answers.length === requests.length) resolve(answers);
        };
        const [pyodide, lock, wheel] =
            [config.pyodide, config.lock, config.wheel].map(at);
        const load = { pyodide, files, later: [], lock, wheel, extras: {} };
        worker.postMessage({ load });
        requests.forEach((request, id) =>
            worker.postMessage({ id, call: "check.check_json", request }));
    });
}"""


@contextlib.contextmanager
def served(site):
    """Serve a site; yield its address."""
    with server_of(site) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def answering(site, tmp_path_factory):
    """Return the address of the small book with Pyodide in it."""
    copy = tmp_path_factory.mktemp("site") / "site"
    shutil.copytree(site, copy)
    write_live(copy, pyodide.FOLDER)
    with served(copy) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    """Return a browser for which there is no other machine."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=[*CHROMIUM_OPTIONS, NO_NETWORK]
        )
        yield browser
        browser.close()


@contextlib.contextmanager
def visited(chromium, address, *, viewport=DESK, faultless=True):
    """Open a page as a new visitor; what a script stops at is a failure.

    faultless : False where Pyodide is out of reach, which the console says
    """
    context = chromium.new_context(viewport=viewport)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults, requests = watch(page)
    page.goto(address)
    yield page
    context.close()
    assert not faultless or faults == []
    hosts = {urlsplit(each).netloc for each in requests}
    assert hosts <= {"", urlsplit(address).netloc, urlsplit(NETWORK).netloc}
    assert not faultless or urlsplit(NETWORK).netloc not in hosts


def watch(page):
    """Return two lists that grow: what goes wrong in a page, and what it requests."""
    faults, requests = [], []

    def hear(line):
        if THEME not in line.text and line.type != "info":
            faults.append(line.text)

    def fail(request):
        # What the page was left for is no failure: a reload, a worker that is ended.
        if not request.url.startswith("blob:") and request.failure != ABORTED:
            faults.append(request.url)

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", fail)
    page.on("request", lambda request: requests.append(request.url))
    return faults, requests


def write(page, text):
    """Write an answer in place of what is there, by keyboard."""
    page.get_by_role("textbox", name="Your ").first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def checked(page, text):
    """Write an answer and check it by keyboard; return the report's text."""
    write(page, text)
    report = page.locator(".live-report")
    report.evaluate("each => each.replaceChildren()")  # whatever it was about before
    page.keyboard.press("Shift+Enter")
    expect(report).not_to_be_empty()
    return report.inner_text()


def button(page, name):
    """Return a button below the editor."""
    return page.locator(".live").get_by_role("button", name=name)


def text_of(page):
    """Return what the editor has."""
    return page.get_by_role("textbox", name="Your softmax").input_value()


@NEEDS_PYODIDE
def test_wrong_then_right_answer_by_keyboard_on_a_phone(answering, chromium):
    with visited(chromium, f"{answering}{SOFTMAX}", viewport=PHONE) as page:
        editor = page.get_by_role("textbox", name="Your softmax")
        for _ in range(200):
            page.keyboard.press("Tab")
            if editor.evaluate("each => each === document.activeElement"):
                break
        assert FIRST_AXIS in checked(page, WRONG)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert Axe().run(page, context=".live", options=AXE).violations_count == 0
        assert "solved, all 5 claims hold" in checked(page, RIGHT)
        expect(page.locator(".live-mark")).to_have_text("✓ solved")
        page.keyboard.insert_text(" ")
        expect(page.locator(".live-stale")).to_be_visible()
        page.reload()
        assert text_of(page) == f"{RIGHT} "
        expect(page.locator(".live-mark")).to_have_text("✓ solved")


@NEEDS_PYODIDE
def test_lesson_answers_beside_living_pictures(answering, chromium):
    with visited(chromium, f"{answering}{LESSON}") as page:
        expect(page.locator("mjx-container svg").nth(5)).to_be_attached()
        pictures = page.locator("figure.living")
        alive = page.locator("figure.living[data-live='yes']")
        assert pictures.count() > 0
        expect(alive).to_have_count(pictures.count())
        answer = page.locator(".live").filter(has=page.locator("#answer-softmax"))
        answer.get_by_role("textbox").fill(WRONG)
        page.keyboard.press("Shift+Enter")
        expect(answer.locator(".live-report")).to_contain_text(FIRST_AXIS)
        assert page.locator(".live-report:not(:empty)").count() == 1
        own = page.locator("div.cell").filter(has_text="check(softmax)")
        expect(own.first).to_be_hidden()
        # The editor begins with the contract, which paper has above it.
        contract = page.locator(".highlight-python:has(+ .live)").first
        expect(contract).to_be_hidden()
        page.emulate_media(media="print")
        expect(contract).to_be_visible()
        page.emulate_media(media="screen")
        answer.get_by_role("button", name="Hint").click()
        section = page.locator("section").filter(has=page.locator("#answer-softmax"))
        opened = section.last.locator("details[open] > summary")
        expect(opened.first).to_have_text("Hint 1")
        page.goto(f"{answering}{SOFTMAX}")
        assert text_of(page) == WRONG
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= DESK["width"]


@NEEDS_PYODIDE
def test_endless_loop_is_ended_and_stop_ends_the_rest(answering, chromium):
    with visited(chromium, f"{answering}{SOFTMAX}") as page:
        page.clock.install()
        assert "does a loop never end?" in checked(page, ENDLESS)
        write(page, ENDLESS_IN_C)
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)
        page.clock.fast_forward(STILL_RUNNING)
        expect(page.locator(".live-status")).to_have_text(
            "Still running. Stop ends it."
        )
        button(page, "Stop").click()
        expect(page.locator(".live-report")).to_have_text(
            "Stopped. Python starts anew."
        )
        assert "solved, all 5 claims hold" in checked(page, RIGHT)


@NEEDS_PYODIDE
def test_answer_is_never_html(answering, chromium):
    with visited(chromium, f"{answering}{SOFTMAX}") as page:
        title = page.title()
        for text in (
            f"print({ATTACK!r})\nraise ValueError({ATTACK!r})",
            f"def softmax(x, axis=-1):\n    return {ATTACK!r}",
            f"softmax = {ATTACK!r}",
            f"{RIGHT}softmax.__name__ = softmax.__qualname__ = {ATTACK!r}\n"
            "raise type(softmax.__name__, (Exception,), {})",
            f"def softmax(x, axis=-1):\n    return type({ATTACK!r}, (), {{}})()",
        ):
            assert "<img src=x onerror" in checked(page, text)
            assert page.locator(".live-report :is(img, script)").count() == 0
        million = f"for i in range(10**6):\n    print(i)\n{RIGHT}"
        assert "more characters were printed" in checked(page, million)
        assert page.title() == title


@NEEDS_PYODIDE
@pytest.mark.parametrize("text", FORGERIES, ids=["escape", "report"])
def test_forged_report_leads_nowhere(answering, chromium, text):
    # The console says that the page's policy lets no handler through either.
    with visited(chromium, f"{answering}{SOFTMAX}", faultless=False) as page:
        assert "A report" in checked(page, text)
        report = page.locator(".live-report")
        allowed = "div, strong, p, ul, li, span, code, pre, details, summary"
        assert report.locator("p.named").first.inner_text() == "A report"
        assert report.locator(f":not({allowed})").count() == 0
        assert report.locator("[onclick], [id], [href]").count() == 0
        page.wait_for_timeout(500)  # a page that is led away has left by then
        assert page.url == f"{answering}{SOFTMAX}"


@NEEDS_PYODIDE
def test_too_much_memory_is_a_sentence(answering, chromium):
    with visited(chromium, f"{answering}{SOFTMAX}", faultless=False) as page:
        text = f"all = []\nwhile True:\n    all.append(np.ones(10**8))\n{RIGHT}"
        report = checked(page, text)
        assert "MemoryError" in report or "It starts anew: try again." in report
        assert "solved, all 5 claims hold" in checked(page, RIGHT)


@NEEDS_PYODIDE
def test_500_mb_that_are_there_change_nothing(answering, chromium):
    with visited(chromium, f"{answering}{SOFTMAX}", faultless=False) as page:
        text = f"large = np.ones(500 * 10**6 // 8)\n{RIGHT}"
        report = checked(page, text)
        assert "solved, all 5 claims hold" in report or "MemoryError" in report
        assert text_of(page) == text
        assert "solved, all 5 claims hold" in checked(page, RIGHT)


@NEEDS_PYODIDE
def test_uses_are_the_own_answers(answering, chromium):
    address = f"{answering}exercises/similarity_attention.html"
    with visited(chromium, f"{answering}{SOFTMAX}") as page:
        write(page, "def softmax(x, axis=-1):\n    return x * 0\n")
        # To leave while Python is loading would be seen as requests that fail.
        expect(page.locator(".live-status")).to_have_text("Python is ready.")
        page.goto(address)
        solution = page.locator("details.solution pre").text_content()
        editor = page.get_by_role("textbox", name="Your similarity_attention")
        editor.fill(solution)
        page.keyboard.press("Shift+Enter")
        report = page.locator(".live-report")
        expect(report).to_contain_text("Your own softmax is what failed")


@NEEDS_PYODIDE
def test_verdicts_in_the_page_are_those_of_cpython(answering, chromium):
    requests = []
    for name in FIRST_LESSONS:
        texts = [SPEC.format(name=name)]
        texts += [
            MISCONCEPTION.format(name=name, which=each.name)
            for each in load(name).misconceptions[:QUICK_COUNT]
        ]
        requests += [{"name": name, "text": text} for text in texts]
    with visited(chromium, f"{answering}{SOFTMAX}") as page:
        live = f"{answering}{LIVE}/"
        answers = page.evaluate(CHECK_ALL, [live, [json.dumps(r) for r in requests]])
    assert len(answers) == len(requests) == (QUICK_COUNT + 1) * len(FIRST_LESSONS)
    for request, answer in zip(requests, answers, strict=True):
        whole = check_text(**request)
        for part in ("solved", "points", "cases", "diagnosis"):
            assert answer["data"][part] == whole["data"][part], request["text"]


@NEEDS_PYODIDE
@pytest.mark.parametrize("part", [None, 1 / 2], ids=["another", "half"])
@pytest.mark.parametrize("name", ["pyodide.asm.js", "pyodide.asm.wasm", "wheel"])
def test_file_that_was_changed_is_not_run(site, chromium, tmp_path, name, part):
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    write_live(copy, pyodide.FOLDER)
    (wheel,) = (copy / LIVE).glob("*.whl")
    path = wheel if name == "wheel" else copy / LIVE / "pyodide" / name
    data = path.read_bytes()
    path.write_bytes(data[: int(part * len(data))] if part else data + b"\n")
    with served(copy) as address:
        with visited(chromium, f"{address}{SOFTMAX}", faultless=False) as page:
            assert "Python could not be loaded from 127.0.0.1" in checked(page, RIGHT)
            assert text_of(page) == RIGHT
            path.write_bytes(data)
            assert "solved, all 5 claims hold" in checked(page, RIGHT)


def test_buttons_bring_back_what_was_written(site, chromium):
    with (
        served(site) as address,
        visited(chromium, f"{address}{SOFTMAX}", faultless=False) as page,
    ):
        assert text_of(page).endswith(STUB_END)
        expect(button(page, "Restore")).to_be_disabled()
        write(page, WRONG)
        button(page, "Start over").click()
        assert text_of(page).endswith(STUB_END)
        page.reload()
        button(page, "Restore").click()
        assert text_of(page) == WRONG
        button(page, "Use the course's version").click()
        assert text_of(page) == "from course_lib.attention import softmax\n"
        page.reload()
        assert text_of(page) == "from course_lib.attention import softmax\n"
        button(page, "Restore").click()
        assert text_of(page) == WRONG
        button(page, "Hint").click()
        assert page.locator(".bd-article details[open] > summary").count() == 1
        assert page.evaluate("document.activeElement.textContent") == "Hint 1"


def test_keys_indent_and_leave_the_editor(site, chromium):
    with (
        served(site) as address,
        visited(chromium, f"{address}{SOFTMAX}", faultless=False) as page,
    ):
        write(page, "")
        page.keyboard.type("def f():")
        page.keyboard.press("Enter")
        page.keyboard.type("x = 1")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.type("y")
        assert text_of(page) == "def f():\n    x = 1\n        y"
        page.keyboard.press("Control+Z")
        assert text_of(page) != "def f():\n    x = 1\n        y"
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Check"


def test_python_out_of_reach_is_a_sentence(site, chromium):
    with served(site) as address:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{address}{SOFTMAX}")
        report = checked(page, WRONG)
        assert "Python could not be loaded from cdn.jsdelivr.net." in report
        assert text_of(page) == WRONG
        context.close()


def test_loading_is_not_said_to_be_a_check_that_runs(site, chromium):
    with served(site) as address:
        context = chromium.new_context()
        page = context.new_page()
        page.clock.install()
        page.route("**/config.json", lambda route: None)  # it never comes
        page.goto(f"{address}{SOFTMAX}")
        write(page, WRONG)
        page.keyboard.press("Shift+Enter")
        page.clock.fast_forward(2 * STILL_RUNNING)
        status = page.locator(".live-status")
        expect(status).to_have_text("Loading Python: about 10 MB, once …")
        context.close()


@pytest.mark.parametrize("script", [FULL, BLOCKED], ids=["full", "blocked"])
def test_storage_that_keeps_nothing_is_a_sentence(site, chromium, script):
    with served(site) as address:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{address}{SOFTMAX}")
        page.evaluate(script)
        write(page, WRONG)
        expect(page.locator(".live-storage")).to_contain_text(
            "copy it before you leave"
        )
        button(page, "Start over").click()
        assert text_of(page).endswith(STUB_END)
        context.close()


@contextlib.contextmanager
def two_tabs(site, chromium):
    """Open an exercise in two tabs of one browser."""
    with served(site) as address:
        context = chromium.new_context()
        tabs = context.new_page(), context.new_page()
        for tab in tabs:
            tab.goto(f"{address}{SOFTMAX}")
        yield tabs
        context.close()


def test_two_tabs_lose_nothing(site, chromium):
    with two_tabs(site, chromium) as (one, two):
        write(one, WRONG)
        expect(two.get_by_role("textbox", name="Your softmax")).to_have_value(WRONG)
        write(two, RIGHT)
        expect(one.locator(".live-storage")).to_contain_text("Another tab")
        assert text_of(one) == WRONG
        button(one, "Restore").click()
        assert text_of(one) == RIGHT


def test_typing_in_another_tab_leaves_the_earlier_versions(site, chromium):
    long = "# fewer versions are within reach than this line has letters\n"
    with two_tabs(site, chromium) as (one, two):
        write(one, WRONG)
        button(one, "Start over").click()
        write(one, RIGHT)
        write(two, "")
        two.keyboard.type(long)
        expect(one.locator(".live-storage")).to_contain_text("Another tab")
        expect(button(one, "Restore")).to_be_enabled()
        restored = []
        for _ in range(4):
            button(one, "Restore").click()
            restored.append(text_of(one))
        assert restored == [long, WRONG, RIGHT, long]


def test_overwriting_another_tabs_version_leaves_it_within_reach(site, chromium):
    with two_tabs(site, chromium) as (one, two):
        write(one, WRONG)
        write(two, RIGHT)
        expect(one.locator(".live-storage")).to_contain_text("Another tab")
        one.keyboard.type("#")
        button(one, "Restore").click()
        assert text_of(one) == RIGHT


def test_cleared_storage_leaves_the_text(site, chromium):
    with two_tabs(site, chromium) as (one, two):
        write(one, WRONG)
        two.evaluate("localStorage.clear()")
        expect(one.locator(".live-storage")).to_contain_text("was cleared elsewhere")
        assert text_of(one) == WRONG
        one.keyboard.insert_text("#")
        expect(one.locator(".live-storage")).to_be_empty()
        one.reload()
        assert "#" in text_of(one)


@pytest.mark.parametrize("part", ["Worker", "WebAssembly"])
def test_old_browser_is_a_sentence(site, chromium, part):
    with served(site) as address:
        context = chromium.new_context()
        context.add_init_script(f"delete window.{part}")
        page = context.new_page()
        faults, _ = watch(page)
        page.goto(f"{address}{SOFTMAX}")
        expect(page.locator(".live")).to_contain_text("This browser cannot run Python")
        assert page.locator("textarea").count() == 0
        assert faults == []
        context.close()


def test_page_without_scripts_says_how_to_get_more(site, chromium):
    with served(site) as address:
        context = chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{address}{SOFTMAX}")
        expect(page.locator(".live p")).to_be_visible()
        expect(page.locator(".live p")).to_contain_text("make lab")
        context.close()


@pytest.mark.parametrize("saves", [True, False])
def test_python_starts_while_one_reads_unless_data_are_saved(site, chromium, saves):
    with served(site) as address:
        context = chromium.new_context(service_workers="block")
        context.add_init_script(
            "Object.defineProperty(navigator, 'connection', "
            f"{{ value: {{ saveData: {json.dumps(saves)} }} }})"
        )
        page = context.new_page()
        _, requests = watch(page)
        page.goto(f"{address}{SOFTMAX}")
        page.wait_for_timeout(500)
        assert not any(each.endswith("config.json") for each in requests)
        page.mouse.move(100, 100)
        if saves:
            page.wait_for_timeout(500)
        else:
            becomes_true(page, lambda: any("numpy-" in each for each in requests))
        assert saves != any("numpy-" in each for each in requests)
        context.close()


def test_page_from_a_file_says_how_to_get_more(site, chromium):
    context = chromium.new_context()
    page = context.new_page()
    faults, _ = watch(page)
    page.goto(f"{site.as_uri()}/{SOFTMAX}")
    expect(page.locator(".live")).to_contain_text("make site SERVE=1")
    assert page.locator("textarea").count() == 0
    assert faults == []
    context.close()
