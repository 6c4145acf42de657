"""The documentation and the API reference as pages of the book."""

import importlib
import inspect
import itertools
import pkgutil
import posixpath
import re
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

import course_lib
from autograder.book import documents, reference
from autograder.book.build import ANSWERING
from autograder.course import CourseError
from tests.browser import REPOSITORY
from tests.hostile import test_hostile
from tests.site.book import (
    LESSONS,
    add_documents,
    broken_links,
    make_site,
    remote_resources,
)
from tests.site.test_in_a_browser import AXE, WIDTHS, opened, settle

PATHS = [each.path for group in documents.GROUPS.values() for each in group]
MODULES = [name for subject in reference.SUBJECTS for name in subject.modules]
# What of ``course_lib`` has no page, and why.
NOT_PUBLIC = {
    "course_lib.arguments": "what references refuse: part of them",
    "course_lib.experiments": "run by its command, and each has a page of its own",
    "course_lib.lessons": "what single lessons use, to be read there",
    "course_lib.figures": "the package's page has the functions of its modules",
    "course_lib.corpora": "what makes the data; what reads it has a page",
    "course_lib.nn.arguments": "what modules refuse: part of them",
    "course_lib.nn.flash_kernels": "needs Triton, an extra, to be imported",
    "course_lib.nn.models": "a command, with --help",
    "course_lib.nn.train": "a command, with --help",
    "course_lib.nn.training": "what that command is made of",
}
EXERCISE = "exercises/softmax_by_hand.html"
PAGES = ["docs/index", "docs/safety", "docs/coverage", "hub/README", "CHANGELOG"]
PAGES += ["reference/index", "reference/course_lib.attention", "reference/autograder"]
VIEWS = [*itertools.product([*PAGES, "index"], WIDTHS, ("light", "dark"))]


@pytest.fixture(scope="module")
def documented(tmp_path_factory):
    """Return the folder of a book of one lesson and all documentation."""
    root, lesson = tmp_path_factory.mktemp("documented"), LESSONS[0]
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    for part in ("solutions", "notebooks"):
        shutil.copytree(REPOSITORY / part / lesson, root / part / lesson)
    add_documents(root)
    done = make_site(root)
    assert done.returncode == 0, done.stderr
    return (root / "build" / "site").resolve()


@pytest.fixture
def soup(documented):
    """Return a function that reads a page."""

    def read(name):
        return BeautifulSoup((documented / name).read_text("utf-8"), "lxml")

    return read


# What is there


def test_every_page_of_the_documentation_is_in_the_book():
    there = {path.relative_to(REPOSITORY).as_posix() for path in docs()}
    assert there == {path for path in PATHS if path.startswith("docs/")}
    assert len({*PATHS}) == len(PATHS)


def docs():
    return (REPOSITORY / "docs").glob("*.md")


def test_links_between_pages_lead_to_what_the_book_has():
    pages = documents.document_pages(REPOSITORY)
    for page, text in pages.items():
        prose = re.sub(r"(?s)```.*?```|`[^`]*`", "", text) if page in PATHS else ""
        for link in re.findall(r"\]\(([^)#\s]+)", prose):
            if "://" not in link and not link.startswith("/"):
                path = posixpath.join(posixpath.dirname(page), link)
                assert posixpath.normpath(path) in pages, (page, link)


def test_course_without_documentation_has_a_book_without_it(tmp_path):
    assert documents.document_pages(tmp_path) == {}
    assert documents.documents_in_sidebar({}) == []


def test_missing_page_is_named(tmp_path):
    add_documents(tmp_path)
    (tmp_path / "docs" / "safety.md").unlink()
    with pytest.raises(CourseError, match=r"the book has no docs/safety\.md"):
        documents.document_pages(tmp_path)
    with pytest.raises(CourseError, match="not with a title"):
        documents.title_of("No title")


def test_every_public_module_of_the_library_has_a_page():
    packages = pkgutil.walk_packages(course_lib.__path__, "course_lib.")
    for name in (each.name for each in packages if not each.ispkg):
        public = not any(
            name == each or name.startswith(f"{each}.") for each in NOT_PUBLIC
        )
        assert not public or name in MODULES, name
    for name in NOT_PUBLIC:
        assert importlib.util.find_spec(name), name


@pytest.mark.parametrize("name", MODULES)
def test_public_things_of_a_documented_module_have_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for key, each in vars(module).items():
        if getattr(each, "__module__", "") != name or key.startswith("_"):
            continue
        if inspect.isfunction(each) or inspect.isclass(each):
            written = (each.__doc__ or "").strip()
            assert written and not written.startswith(f"{key}("), f"{name}.{key}"


def test_safety_page_counts_the_hostile_submissions():
    text = (REPOSITORY / "docs" / "safety.md").read_text(encoding="utf-8")
    assert f"a corpus of {len(test_hostile.corpus.CASES)} hostile" in text


# The pages


@pytest.mark.thorough
def test_no_page_has_a_broken_link_or_loads_what_is_remote(documented):
    assert broken_links(documented) == []
    assert remote_resources(documented) == []


@pytest.mark.thorough
def test_page_of_a_module_has_its_functions_and_their_source(soup):
    for name in MODULES:
        page = soup(f"reference/{name}.html")
        entries = page.select("dl.py > dt.sig")
        assert entries, name
        for entry in entries:
            about = entry.find_next_sibling("dd").get_text(strip=True)
            assert about, f"{name}: {entry['id']} says nothing"
        assert page.select_one("a.reference.internal .viewcode-link"), name
    entry = soup("reference/course_lib.attention.html").find(
        id="course_lib.attention.softmax"
    )
    source = entry.find("a", class_="internal")["href"]
    assert source == "../_modules/course_lib/attention.html#softmax"


@pytest.mark.thorough
def test_book_of_single_lessons_has_no_documentation(documented, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(documented.parents[1], root)
    two = root / "solutions" / "01_two"
    two.mkdir()
    (two / "01_two.py").write_text("# ---\n", encoding="utf-8")
    done = make_site(root, "00")
    assert done.returncode == 0, done.stderr
    site = (root / "build" / "site").resolve()
    assert not (site / "docs").exists() or not [*(site / "docs").iterdir()]
    assert broken_links(site) == []


@pytest.mark.thorough
def test_lists_of_a_docstring_are_lists_on_the_page(soup):
    page = soup("reference/course_lib.attention.html")
    entry = page.find(id="course_lib.attention.scaled_scores").parent
    names = [each.get_text() for each in entry.select("dd > dl.simple > dt")]
    assert names == ["q", "k"]
    meaning = entry.select_one("dd > dl.simple > dd").get_text(strip=True)
    assert meaning == "(..., n, d_k), one query per row"
    last = entry.select(":scope > dd > p")[-1].get_text()
    assert last.startswith("Source: Vaswani et al. (2017)")
    assert entry.select_one(".highlight-pycon, .doctest")
    tuples = soup("reference/course_lib.nn.head_roles.html")
    assert not tuples.find(string=re.compile("Create new instance"))
    code = soup("reference/autograder.gradebook.late_policy.html").find("pre")
    assert code.get_text().startswith("c.LatePolicy.late = ")
    points = soup("reference/course_lib.bleu.html").select("dd > ul > li")
    assert len(points) == 6


@pytest.mark.thorough
def test_help_of_each_command_is_a_page(soup):
    for program, commands in {
        "autograder": ("grade", "check-bank", "lab"),
        "attention-course": ("open", "new-course"),
    }.items():
        headings = [each.get_text() for each in soup(f"reference/{program}.html")("h2")]
        for command in commands:
            assert f"{program} {command}" in "\n".join(headings), command


@pytest.mark.thorough
def test_only_pages_that_answer_load_the_scripts_for_it(soup):
    for name in PAGES:
        assert not scripts(soup(f"{name}.html")) & {*ANSWERING}, name
    for name in ("index.html", EXERCISE):
        assert scripts(soup(name)) >= {*ANSWERING}, name


@pytest.mark.thorough
def test_only_the_search_loads_the_index_of_all_words(soup):
    for name in ("index.html", EXERCISE, "docs/index.html"):
        assert not scripts(soup(name)) & {"searchindex.js", "searchtools.js"}, name
    assert "searchindex.js" in scripts(soup("search.html"))


def scripts(page):
    """Return the names of the files that a page's scripts are."""
    return {
        each["src"].partition("?")[0].rpartition("/")[2]
        for each in page("script", src=True)
    }


@pytest.mark.thorough
def test_sidebar_lists_documents_but_not_beside_an_exercise(soup):
    titles = [
        documents.title_of((REPOSITORY / path).read_text(encoding="utf-8"))
        for path in PATHS
    ]
    for name in ("index.html", "docs/safety.html"):
        below = soup(name).select(".book-sidebar li:has(.book-further) > ul a")
        assert [each.get_text() for each in below][-len(titles) :] == titles, name
    links = [each.get_text() for each in soup(EXERCISE).select(".book-sidebar a")]
    assert links[-2:] == ["Documentation", "API reference"]


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("name, width, theme", VIEWS)
def test_axe_finds_no_violation(browser, documented, name, width, theme):
    with opened(
        browser, documented, f"{name}.html", width=WIDTHS[width], theme=theme
    ) as page:
        settle(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
        violations = [
            (each["id"], node["html"][:200])
            for each in Axe().run(page, options=AXE).response["violations"]
            for node in each["nodes"]
        ]
        assert violations == []
