"""Home and the notebooks that pages hand out, as files."""

import json

import pytest
from bs4 import BeautifulSoup

from autograder.book.home import as_data, home_page, write_notebooks
from autograder.book.live import LIVE
from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import learner_text
from autograder.notebooks.source import LessonSource
from autograder.workspace.outline import read_outline
from tests.site.book import LESSONS, pages
from tests.site.page_scripts import read_json

COURSE = Course.here()


def soup_of(site, name):
    return BeautifulSoup((site / name).read_text(encoding="utf-8"), "lxml")


def test_home_is_told_of_every_exercise_of_the_book(site):
    block = soup_of(site, "home.html").select_one(".your-course script")
    data = json.loads(block.string)
    assert data == read_json(site / LIVE / "course.json")
    assert [each["lesson"] for each in data["lessons"]] == [*LESSONS]
    for lesson in data["lessons"]:
        exercises = exercises_of(lesson["lesson"])
        optional = {x.name for x in read_outline(COURSE, lesson["lesson"]).optional}
        expected = {(x.name, x.minutes, True, x.name in optional) for x in exercises}
        assert {tuple(each.values()) for each in lesson["exercises"]} == expected
        assert lesson["title"] and lesson["question"].endswith("?")
        assert lesson["minutes"] >= 20


@pytest.mark.parametrize("lesson", LESSONS)
def test_notebook_of_the_site_is_the_one_of_work(course, site, lesson):
    path = site / LIVE / "notebooks" / f"{lesson}.ipynb"
    released = Course(course).learner(lesson)
    if released.is_file():
        expected = released.read_text(encoding="utf-8")
    else:
        teacher = teacher_notebook(LessonSource(Course(course).source(lesson)))
        expected = learner_text(course, lesson, teacher)
    assert path.read_text(encoding="utf-8") == expected
    (block,) = soup_of(site, f"{lesson}/{lesson}.html").select(".your-notebook")
    assert block["data-lesson"] == lesson


def test_every_page_leads_home(site):
    for path, soup in pages(site).items():
        if not path.name.startswith(("search", "genindex")):
            links = soup.select("a.book-yours")
            assert len(links) == 1, path
    assert soup_of(site, "index.html").select(".bd-article a[href='home.html']")


def test_pages_that_keep_answers_have_a_policy(site):
    for name in ("home.html", *(f"{each}/{each}.html" for each in LESSONS)):
        head, _, rest = (
            (site / name)
            .read_text(encoding="utf-8")
            .partition('http-equiv="Content-Security-Policy"')
        )
        assert rest and "<script" not in head


def test_home_without_scripts_is_a_list_of_lessons(site):
    part = soup_of(site, "home.html").select_one(".your-course")
    assert "make site SERVE=1" in part.get_text()
    links = [each["href"] for each in part.find_all("a")]
    assert links == [f"{each}/{each}.html" for each in LESSONS]


def test_title_of_a_lesson_is_no_html():
    lesson = {"lesson": "07_x", "title": "<script>1</script> & co"}
    text = home_page({"lessons": [lesson]})
    assert "07 &lt;script&gt;1&lt;/script&gt; &amp; co" in text
    assert as_data({"lessons": [lesson]}) in text
    assert text.count("<script") == 1


def test_notebooks_of_an_earlier_book_are_removed(tmp_path):
    folder = tmp_path / LIVE / "notebooks"
    folder.mkdir(parents=True)
    (folder / "99_old.ipynb").write_text("{}")
    write_notebooks(COURSE, {"lessons": [{"lesson": LESSONS[0]}]}, tmp_path)
    assert [each.name for each in folder.iterdir()] == [f"{LESSONS[0]}.ipynb"]
