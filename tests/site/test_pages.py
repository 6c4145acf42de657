"""The pages of the book as files: links, folded solutions, what is left out."""

import re
import shutil

import pytest
from bs4 import BeautifulSoup

from autograder.book.live import LIVE
from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.workspace.outline import read_outline
from tests.site.book import (
    LESSON,
    LESSONS,
    broken_links,
    make_site,
    pages,
    remote_resources,
)

EXERCISES = [each for lesson in LESSONS for each in exercises_of(lesson)]


def soup_of(site, name):
    return BeautifulSoup((site / name).read_text(encoding="utf-8"), "lxml")


def article(site, name):
    return soup_of(site, name).find(class_="bd-article")


def test_every_internal_link_leads_to_a_page_and_its_part(site):
    assert broken_links(site) == []


def test_broken_links_are_noticed(site):
    path = site / "broken.html"
    path.write_text('<a href="index.html#nowhere">a</a><a href="missing.html">b</a>')
    try:
        endings = [each.rpartition(", ")[2] for each in broken_links(site)]
        assert endings == ["which has no part", "which is no file"]
    finally:
        path.unlink()


def test_no_page_names_a_remote_resource(site):
    assert remote_resources(site) == []


def test_index_has_each_lesson_with_question_and_minutes(site):
    cards = article(site, "index.html").select(".front-card")
    text = cards[1].get_text(" ", strip=True)
    assert "How can a vector look something up in a table of vectors?" in text
    outline = read_outline(Course.here(), LESSONS[1])
    count = len(outline.required)
    assert f"{outline.minutes} minutes · {count} exercises" in text
    assert outline.minutes > 60
    assert len(cards) == len(LESSONS)
    links = {each["href"] for each in article(site, "index.html").find_all("a")}
    assert {f"{name}/{name}.html" for name in LESSONS} <= links


def test_each_exercise_has_a_page(site):
    names = {path.stem for path in (site / "exercises").glob("*.html")}
    assert names == {each.name for each in EXERCISES} | {"index"}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_exercise_page_has_contract_and_visible_claims(site, exercise):
    part = article(site, f"exercises/{exercise.name}.html")
    text = re.sub(r"\s+", " ", part.get_text(" "))
    first_line = exercise.reference.__doc__.strip().splitlines()[0]
    code = part.find(id="contract").find("pre").get_text()
    assert first_line in code and code.startswith(f"def {exercise.name}(")
    assert code.rstrip().endswith('"""\n    raise NotImplementedError')
    claims = [each.get_text() for each in part.select("#what-the-check-claims li")]
    visible = [case for case in exercise.cases if case.visible]
    assert len(claims) == len(visible)
    assert f"{exercise.minutes} minutes" in text
    for case in exercise.cases:
        assert (case.claim.replace("`", "") in "\n".join(claims)) == case.visible
    for misconception in exercise.misconceptions:
        assert misconception.diagnosis not in text
        assert misconception.question not in text


def test_exercise_page_leads_to_its_section_of_the_lesson(site):
    links = [each["href"] for each in article(site, "exercises/softmax.html")("a")]
    assert f"../{LESSON}#exercise-softmax" in links
    section = article(site, LESSON).find(id="exercise-softmax")
    assert section is not None


def test_exercise_page_leads_to_the_papers_of_its_contract(site):
    part = article(site, "exercises/scaled_scores.html")
    links = {each["href"]: each.get_text() for each in part("a", href=True)}
    assert links["https://arxiv.org/abs/1706.03762"] == "Attention Is All You Need"


@pytest.mark.parametrize("name", ["exercises/softmax.html", LESSON])
def test_solution_stands_in_a_closed_details_only(site, name):
    part = article(site, name)
    body = "exponentials = np.exp("  # in the answer only
    solutions = part.select("details.solution")
    assert any(body in each.get_text() for each in solutions)
    assert not any(each.has_attr("open") for each in part("details"))
    for each in part("details"):
        each.decompose()
    assert body not in part.get_text()
    assert "SOLUTION" not in part.get_text()


def test_hints_are_folded(site):
    folded = article(site, "exercises/softmax.html")("summary")
    assert [each.get_text() for each in folded] == ["Hint 1", "Hint 2", "Solution"]


def test_pages_lead_to_the_one_before_and_the_next(site):
    page = soup_of(site, LESSON)
    assert page.find("a", class_="left-prev")["href"].endswith("00_start_here.html")
    assert page.find("a", class_="right-next")["href"] == "../exercises/index.html"


def test_site_has_no_notebook_but_the_learners(site):
    notebooks = [*site.rglob("*.ipynb*")]
    assert {path.parent for path in notebooks} == {site / LIVE / "notebooks"}
    for path in notebooks:
        text = path.read_text(encoding="utf-8")
        assert "SOLUTION" not in text and '"outputs": []' in text
    assert [
        path.name for path in (site / "_sources").rglob("*") if path.is_file()
    ] == []


@pytest.mark.thorough
def test_site_is_the_same_when_it_is_made_again(course, site, tmp_path):
    root = shutil.copytree(course, tmp_path / "course", symlinks=True)
    done = make_site(root)
    assert done.returncode == 0, done.stderr
    repeated = (root / "build" / "site").resolve()
    assert repeated != site
    assert texts_of(repeated) == texts_of(site)


def texts_of(site):
    """Return the text of each page of a book by its path in the book."""
    return {
        path.relative_to(site): soup.get_text() for path, soup in pages(site).items()
    }


def test_names_of_exercises_are_those_of_the_course(site):
    for path in (site / "exercises").glob("*.html"):
        assert path.stem == "index" or load(path.stem).name == path.stem


@pytest.mark.thorough
def test_book_of_all_lessons_has_no_broken_link():
    course = Course.here()
    done = make_site(course.root)
    assert done.returncode == 0, done.stderr
    site = (course.root / "build" / "site").resolve()
    assert broken_links(site) == []
    assert remote_resources(site) == []
    names = {path.stem for path in (site / "exercises").glob("*.html")}
    assert names == {each.name for each in exercises_of()} | {"index"}
