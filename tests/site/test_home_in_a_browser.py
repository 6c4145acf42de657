"""Home in Chromium: what it counts, and the notebooks that go out and come back."""

import json
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from autograder.book.live import as_data, write_live
from autograder.demo.sample_class import right_answer
from autograder.gradebook.autograded import autograded_notebook
from autograder.grading.engine import Engine
from autograder.grading.submission import Submission
from autograder.workspace.outline import read_outline
from autograder.workspace.update import update
from tests.grading.engines import SEED, process_number
from tests.grading.engines import SHORT as BUDGET
from tests.site import pyodide
from tests.site.book import LESSONS
from tests.site.page_scripts import read_json
from tests.site.test_answering_in_a_browser import (
    BLOCKED,
    FULL,
    NEEDS_PYODIDE,
    RIGHT,
    WRONG,
    chromium,
    served,
    text_of,
    visited,
    write,
)
from tests.site.test_in_a_browser import AXE
from tests.submissions import COURSE, LESSON

__all__ = ["chromium"]  # a fixture
pytestmark = [pytest.mark.browser, pytest.mark.thorough]
KEY = "attention-course"
HOME = "home.html"
SOFTMAX = "exercises/softmax.html"
PAGE = f"{LESSON}/{LESSON}.html"
REQUIRED = {each: read_outline(COURSE, each).required for each in LESSONS}
ALL = sum(map(len, REQUIRED.values()))
TIME = "2026-01-02T03:04:05.678Z"
CHECKED = json.dumps({"time": TIME, "holding": 2, "claims": 5, "attempts": 1})
BEGUN = {
    "answer softmax": RIGHT,
    "solved softmax": "2026-01-01T03:04:05.678Z",
    "answer scaled_scores": "def scaled_scores(q, k):\n    return q @ k.T\n",
    "checked scaled_scores": CHECKED,
    "answer attention": "from course_lib.attention import attention\n",
    "earlier attention": json.dumps(
        [{"time": TIME, "source": "def attention(): pass"}]
    ),
    f"prediction {LESSON}/from-scores-to-weights-1": "1",
}
FILL = """texts => Object.entries(texts).forEach(([key, text]) =>
    localStorage.setItem(`attention-course ${key}`, text))"""
STORED = "() => Object.fromEntries(Object.entries(localStorage).sort())"
VIEWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def fill(page, texts):
    """Let a browser have texts as if a reader had written them; load the page anew."""
    page.evaluate(FILL, texts)
    page.reload()


def stored(page):
    """Return what a course's pages have in the browser, without the keys' beginning."""
    texts = page.evaluate(STORED).items()
    return {
        key.removeprefix(f"{KEY} "): text for key, text in texts if key.startswith(KEY)
    }


def row(page, heading):
    """Return a lesson's part of the page, unfolded."""
    part = page.locator(".home-lessons > li").filter(has_text=heading)
    part.locator("details").evaluate("each => each.open = true")
    return part


def downloaded(page, button, path):
    """Press a button and keep the file that comes; return its suggested name."""
    with page.expect_download() as download:
        button.click()
    download.value.save_as(path)
    return download.value.suggested_filename


def upload(page, part, *files):
    """Choose files for a part's upload; return the sentence that it answers."""
    part.locator(".home-status").last.evaluate("each => each.textContent = ''")
    part.locator("input[type=file]").last.set_input_files(files)
    status = part.locator(".home-status").last
    expect(status).not_to_be_empty()
    return status.inner_text()


@pytest.mark.parametrize("width, theme", VIEWS)
def test_home_counts_what_is_solved_and_leads_on(site, chromium, width, theme):
    with (
        served(site) as address,
        visited(
            chromium, f"{address}{HOME}", viewport={"width": width, "height": 900}
        ) as page,
    ):
        page.emulate_media(color_scheme=theme)
        page.reload()
        main = page.locator(".your-course")
        expect(main.locator(".home-next")).to_contain_text("Start here: 00 Start here")
        assert f"0 of {ALL} exercises solved" in main.inner_text()
        fill(page, BEGUN)
        text = main.locator(".home-next").inner_text().replace("\u00a0", " ")
        expected = "Continue here: 01 Dot-product attention, exercise scaled_scores"
        assert text == f"{expected} · 10 min"
        assert f"1 of {ALL} exercises solved" in main.inner_text()
        assert "Put off until later: attention" in main.inner_text()
        part = row(page, "01 Dot-product")
        words = part.inner_text()
        assert (
            f"1 of {len(REQUIRED[LESSON])} solved" in words
            and "softmax · solved" in words
        )
        assert "scaled_scores · begun, 2 of 5 claims hold, 10 min" in words
        assert "bilinear_scores · optional · open" in words
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(
            "Promise.all(document.getAnimations().map(each => each.finished))"
        )
        violations = [
            (each["id"], node["html"][:200])
            for each in Axe().run(page, options=AXE).response["violations"]
            for node in each["nodes"]
        ]
        assert violations == []
        part.get_by_role("link", name="scaled_scores").click()
        expect(page.get_by_role("textbox", name="Your scaled_scores")).to_be_visible()
        # To leave while the page is loading would be seen as requests that fail.
        page.wait_for_load_state("networkidle")


def going_further(site, folder):
    """Copy a site whose second lesson goes further; return it and its exercises."""
    copy = folder / "site"
    shutil.copytree(site, copy)
    path = copy / HOME
    before, start, rest = path.read_text("utf-8").partition('json">')
    data, end, after = rest.partition("</script>")
    lessons = json.loads(data)["lessons"]
    lessons[1] |= {"minutes": 70, "further": 40}
    for number, exercise in enumerate(lessons[1]["exercises"]):
        exercise |= {"optional": number > 1, "minutes": 10}
    data = as_data({"lessons": lessons})
    path.write_text("".join([before, start, data, end, after]), "utf-8")
    names = [[each["name"] for each in lesson["exercises"]] for lesson in lessons]
    return copy, *names


def test_home_leads_along_the_core(site, chromium, tmp_path):
    copy, others, (first, second, *optional) = going_further(site, tmp_path)
    count, further = len(optional), f"of {len(optional)} optional"
    done = {f"solved {name}": TIME for name in others}
    with served(copy) as address, visited(chromium, f"{address}{HOME}") as page:
        # The last one that was worked on is optional, and put off.
        put_off = f"from course_lib.attention import {optional[0]}\n"
        later = TIME.replace("2026", "2027")
        fill(page, {f"solved {optional[1]}": later, f"answer {optional[0]}": put_off})
        main = page.locator(".your-course")
        text = main.inner_text().replace("\u00a0", " ")
        assert f"0 of {len(others) + 2} exercises solved, and 1 {further}" in text
        left = 5 * round((count - 1) / count * 40 / 5)
        assert f" · Going further {left} minutes more" in text
        assert f"exercise {first} · 10 min" in text and "Put off" not in text
        words = row(page, "01 Dot-product").inner_text().replace("\u00a0", " ")
        assert "0 of 2 solved · 70 min" in words
        assert f"Going further: 1 of {count} solved · {left} min" in words
        assert f"{optional[1]} · optional · solved" in words
        assert f"\u00a0{first} · optional" not in words
        assert "Going further" not in row(page, "00 Start").inner_text()
        fill(page, done | {f"solved {name}": TIME for name in (first, second)})
        text = main.inner_text().replace("\u00a0", " ")
        assert "Every exercise of the core is solved. Well done." in text
        assert f"Going further: {optional[0]}, in 01 Dot-product attention" in text
        assert "2 of 2 solved · done" in text
        fill(page, {f"solved {name}": TIME for name in optional})
        assert "Every exercise is solved. Well done." in main.inner_text()
        assert f"Going further: {count} of {count} solved" in main.inner_text()


def test_other_pages_say_what_is_solved(site, chromium, tmp_path):
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    span = (
        f'<span class="progress" data-lesson="{LESSON}" data-exercises="{{}}"></span>'
    )
    path = copy / SOFTMAX
    html = path.read_text(encoding="utf-8")
    spans = span.format("softmax attention x") + span.format("x y")
    path.write_text(html.replace("<h1>", f"{spans}<h1>", 1), encoding="utf-8")
    with served(copy) as address, visited(chromium, f"{address}{SOFTMAX}") as page:
        fill(page, BEGUN)
        assert page.locator("span.progress").all_inner_texts() == ["1 of 3 solved", ""]
        with page.context.expect_page() as opened:
            page.evaluate("open(location.href)")
        opened.value.evaluate(FILL, {"solved attention": TIME})
        expect(page.locator("span.progress").first).to_have_text("2 of 3 solved")


def test_round_trip_into_another_browser_changes_nothing(site, chromium, tmp_path):
    path = tmp_path / f"{LESSON}.ipynb"
    with served(site) as address:
        with visited(chromium, f"{address}{HOME}") as page:
            fill(page, BEGUN)
            part = row(page, "01 Dot-product")
            button = part.get_by_role("button", name="Download my notebook")
            assert downloaded(page, button, path) == path.name
            assert f"work/{LESSON}/" in part.locator(".home-status").inner_text()
        with visited(chromium, f"{address}{PAGE}") as page:
            part = page.locator(".your-notebook")
            account = upload(page, part, path)
            assert account.startswith(
                "3 answers, 1 prediction and 1 earlier answer taken"
            )
            after = stored(page)
            for key, text in BEGUN.items():
                if not key.startswith("earlier"):
                    assert after[key] == text
            assert "def attention(): pass" in after["earlier attention"]
            # The page itself has it at once.
            area = page.get_by_role("textbox", name="Your softmax", exact=True)
            assert area.input_value() == RIGHT
            answer = page.locator(".live").filter(has=page.locator("#answer-softmax"))
            expect(answer.locator(".live-mark")).to_have_text("✓ solved")
            assert page.get_by_text("You predicted").count() == 1
            assert upload(page, part, path) == "Nothing in it is new here."


def test_all_of_it_is_downloaded_deleted_and_brought_back(site, chromium, tmp_path):
    path = tmp_path / "attention-course.json"
    with served(site) as address, visited(chromium, f"{address}{HOME}") as page:
        fill(page, BEGUN)
        page.evaluate("localStorage.setItem('of another site', 'stays')")
        part = page.locator(".your-course")
        button = part.get_by_role("button", name="Download everything")
        assert downloaded(page, button, path) == path.name
        before = stored(page)
        page.get_by_role("button", name="Delete everything").click()
        expect(page.get_by_role("button", name="Keep it")).to_be_focused()
        page.keyboard.press("Enter")
        assert stored(page) == before
        page.get_by_role("button", name="Delete everything").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(part).to_contain_text(f"0 of {ALL} exercises solved")
        assert stored(page) == {}
        assert page.evaluate("localStorage.getItem('of another site')") == "stays"
        assert "3 answers" in upload(page, part, path)
        expect(part).to_contain_text(f"1 of {ALL} exercises solved")
        after = stored(page)
        earlier = {key for key in after if key.startswith("earlier")}
        assert {k: after[k] for k in after.keys() - earlier} == {
            k: before[k] for k in before.keys() - earlier
        }


def test_bad_files_are_a_sentence_each_and_change_nothing(site, chromium, tmp_path):
    name = "<img src=x onerror=document.title=1>"
    texts = {"big.ipynb": "x" * 50_000_000, f"{name}.ipynb": "{", "f.html": "<html>"}
    with (
        served(site) as address,
        # At the end a file is out of reach, which the console says.
        visited(chromium, f"{address}{PAGE}", faultless=False) as page,
    ):
        fill(page, BEGUN)
        title, before = page.title(), stored(page)
        part = page.locator(".your-notebook")
        sentences = []
        for file, text in texts.items():
            path = tmp_path / file
            path.write_text(text)
            sentences.append(upload(page, part, path))
        assert [each.partition(" ")[0] for each in sentences] == [
            "big.ipynb",
            "<img",
            "f.html",
        ]
        assert "48 MB" in sentences[0] and "is no notebook" in sentences[1]
        assert page.title() == title and part.locator("img").count() == 0
        other = tmp_path / "other.ipynb"
        shutil.copy(COURSE.learner(LESSONS[0]), other)
        account = upload(page, part, other)
        assert account.startswith(
            "It is the notebook of 00 Start here, and was read as"
        )
        page.route("**/notebooks/*", lambda route: route.abort())
        account = upload(page, part, COURSE.learner(LESSON))
        assert account.startswith("The lesson's notebook could not be loaded")
        assert stored(page) == before


@pytest.mark.parametrize("script", [FULL, BLOCKED], ids=["full", "blocked"])
def test_storage_that_keeps_nothing_is_a_sentence_at_home(
    site, chromium, tmp_path, script
):
    notebook = read_json(COURSE.learner(LESSON))
    for cell in notebook["cells"]:
        if cell["id"] == "softmax":
            cell["source"] = RIGHT
    path = tmp_path / "mine.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with served(site) as address:
        context = chromium.new_context()
        page = context.new_page()
        page.add_init_script(f"({script})()")
        page.goto(f"{address}{HOME}")
        expect(page.locator(".home-trouble")).to_contain_text("Your browser")
        account = upload(page, page.locator(".your-course"), path)
        assert "nothing was taken" in account
        context.close()


def test_upload_and_another_tab_lose_nothing(site, chromium, tmp_path):
    path = tmp_path / "mine.ipynb"
    notebook = read_json(COURSE.learner(LESSON))
    for cell in notebook["cells"]:
        if cell["id"] == "softmax":
            cell["source"] = RIGHT
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with served(site) as address:
        context = chromium.new_context()
        one, two = context.new_page(), context.new_page()
        one.goto(f"{address}{SOFTMAX}")
        two.goto(f"{address}{HOME}")
        write(one, WRONG)
        expect(row(two, "01 Dot-product")).to_contain_text("softmax · begun")
        account = upload(two, two.locator(".your-course"), path)
        assert account == "1 answer taken; 1 of yours is kept among the earlier ones."
        expect(one.locator(".live-storage")).to_contain_text("Another tab")
        assert text_of(one) == WRONG
        one.get_by_role("button", name="Restore").click()
        assert text_of(one) == RIGHT
        rows = json.loads(stored(one)["earlier softmax"])
        assert WRONG in [each["source"] for each in rows]
        context.close()


@NEEDS_PYODIDE
@pytest.mark.sandbox
@pytest.mark.alone
def test_journey_from_the_page_to_a_grade_and_back(site, chromium, tmp_path):
    """Answer in the page, go on in ``work/``, hand in, and bring the feedback back."""
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    write_live(copy, pyodide.FOLDER)
    names = ("softmax", "similarity_attention", "scaled_scores")
    answers = {name: right_answer(name) for name in names}
    answers["scaled_scores"] = (
        "def scaled_scores(q, k):\n    return q @ k.T / k.shape[1]"
    )
    root = tmp_path / "course"
    for part in ("notebooks", "solutions"):
        shutil.copytree(COURSE.root / part, root / part)
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    course = type(COURSE)(root)
    mine = root / "work" / LESSON / f"{LESSON}.ipynb"
    with served(copy) as address, visited(chromium, f"{address}{PAGE}") as page:
        for name, text in answers.items():
            answer = page.locator(".live").filter(has=page.locator(f"#answer-{name}"))
            answer.get_by_role("textbox").fill(text)
            page.keyboard.press("Shift+Enter")
            expect(answer.locator(".live-report")).not_to_be_empty()
        button = page.get_by_role("button", name="Download my notebook")
        downloaded(page, button, mine)
        page.goto(f"{address}{HOME}")
        expect(page.locator(".your-course")).to_contain_text(
            f"2 of {ALL} exercises solved"
        )
        assert "scaled_scores · begun, " in row(page, "01 Dot-product").inner_text()
        before = stored(page)
    # In work/ the same answers, typed, are worth the same.
    typed = read_json(COURSE.learner(LESSON))
    for cell in typed["cells"]:
        if cell["id"] in answers:
            cell["source"] = answers[cell["id"]]
    written = tmp_path / "typed.ipynb"
    written.write_text(json.dumps(typed), encoding="utf-8")
    first = update(course)
    assert all(not each.failed for each in first)
    with Engine(
        COURSE, LESSON, seed=SEED, worker=process_number(), budget=BUDGET
    ) as engine:
        result, other = (engine.grade(path)[0] for path in (mine, written))
        cells = Submission(engine.release, "ada", mine, engine.releases).cells
    points = {each.exercise: each.points for each in result.exercises}
    assert points == {each.exercise: each.points for each in other.exercises}
    assert points["softmax"] > 0 == points["attention"]
    assert result.exercises == other.exercises
    # What is graded comes back, into a browser that has nothing and into the first.
    graded = tmp_path / "graded.ipynb"
    text = autograded_notebook(COURSE, cells, result, {})
    graded.write_text(text, encoding="utf-8")
    with served(copy) as address, visited(chromium, f"{address}{HOME}") as page:
        account = upload(page, page.locator(".your-course"), graded)
        assert account.startswith("3 answers taken")
        for name, text in answers.items():
            assert stored(page)[f"answer {name}"] == text
        fill(page, before)
        account = upload(page, page.locator(".your-course"), mine)
        assert account.startswith("Nothing in it is new here")
        assert stored(page) == before
