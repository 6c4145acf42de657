"""Finding and sorting students in headless Chromium, and pages that cannot."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.dashboard.page import render_page
from autograder.dashboard.term import count_term
from autograder.dashboard.term_page import render_term
from autograder.gradebook.grades import Grade, StudentGrades
from tests.browser import ATTACK, TOO_WIDE, recorded
from tests.dashboard.classes import many, roster, six
from tests.dashboard.terms import LESSONS, person

pytestmark = pytest.mark.browser

FIRST, SECOND, _ = LESSONS
ROWS = "table.students tbody tr:not([hidden])"
NAMES = f"{ROWS} th bdi:first-child"


@pytest.fixture
def show(browser, tmp_path):
    """Open a page; errors and warnings of the browser are failures."""

    def open_page(html, width=1280, scheme="light"):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        browser.set_viewport_size({"width": width, "height": 900})
        browser.emulate_media(media="screen", color_scheme=scheme)
        browser.goto(path.as_uri())
        return browser

    with recorded(browser):
        yield open_page


def people(count):
    """Return what a gradebook has of those of ``many``, and of one more."""
    known = {}
    for number in range(count + 1):
        who = person(number)
        student = f"student-{number:05d}"
        known[student] = StudentGrades(
            student,
            (),
            submitted=number < count,
            first_name=who.first_name,
            last_name=who.last_name,
            section=who.section,
        )
    return known


def lesson(count):
    return render_page(roster(many(count), grades=people(count)))


def term(count, first_name=None):
    grades = {}
    for index, name in enumerate((FIRST, SECOND)):
        grades[name] = {}
        for number in range(count):
            points = (3 * number + 5 * index) % 9
            each = person(number)
            grades[name][each.id] = StudentGrades(
                each.id,
                (Grade("softmax", 8.0, auto=float(points)),),
                submitted=number % 11 != 3,
                first_name=first_name or each.first_name,
                last_name=each.last_name,
                section=each.section,
            )
    return render_term(count_term(grades, {}), count)


def names(page):
    return page.locator(NAMES).all_text_contents()


# --- finding ----------------------------------------------------------------------


def test_student_is_found_by_keyboard_in_a_folded_table(show):
    page = show(lesson(300))
    assert not page.locator("table.students").is_visible()
    page.locator("a", has_text="Find a student").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("00017")
    assert page.locator("table.students").is_visible()
    assert page.locator("[role=status]").text_content() == "1 of 301 students"
    assert page.locator(ROWS).count() == 1
    page.keyboard.press("Escape")
    assert page.locator(ROWS).count() == 301
    assert page.locator("[role=status]").text_content() == "301 students"
    assert page.evaluate("document.activeElement.id") == "find"


def test_words_find_names_sections_misconceptions_and_remarks(show):
    page = show(lesson(60))
    find, status = page.locator("#find"), page.locator("[role=status]")
    for words, matches in {
        "ines garcia": lambda row: "Inés García" in row,
        "GARCÍA group": lambda row: "García" in row,
        "okaf ben": lambda row: False,
        "ka": lambda row: re.search(r"\bKa", row),  # Kalea and Kamau, not Okafor
        "Group C": lambda row: "Group C" in row,
        "handed in nothing": lambda row: "handed in nothing" in row,
        "for review": lambda row: "for review" in row,
        "jacobian": lambda row: "jacobian" in row,  # a misconception's name
        "0060": lambda row: "student-00060" in row,
        "8": lambda row: False,  # points are not searched
    }.items():
        find.fill("")
        rows = page.locator("table.students tbody tr").all_text_contents()
        find.fill(words)
        left = page.locator(ROWS).all_text_contents()
        assert left == [row for row in rows if matches(row)], words
        assert status.text_content() == f"{len(left)} of 61 students"


def test_misconceptions_link_shows_who_has_it(show):
    page = show(lesson(60))
    card = page.locator(".cards > li").first
    name = card.locator("h3 code").text_content()
    count = int(card.locator("strong").text_content().split()[0])
    link = card.locator("a[data-find]")
    link.focus()
    page.keyboard.press("Enter")
    assert page.locator("#find").input_value() == name
    assert page.evaluate("document.activeElement.id") == "find"
    assert page.locator(ROWS).count() >= count > 1
    assert all(name in row for row in page.locator(ROWS).all_text_contents())


def test_sections_filter_along_with_words(show):
    page = show(term(60))
    page.locator("#section").select_option("Group B")
    assert page.locator("[role=status]").text_content() == "12 of 60 students"
    page.locator("#find").fill("lior")
    rows = page.locator(ROWS).all_text_contents()
    assert rows
    assert all("Lior" in row and "Group B" in row for row in rows)
    page.locator("#section").select_option("All")
    assert page.locator(ROWS).count() > len(rows)


def test_columns_sort_by_keyboard_with_the_unknown_last(show):
    page = show(term(60))
    head = page.locator("th", has=page.get_by_role("button", name="01"))
    head.locator("button").focus()
    cells = f"{ROWS} td:nth-child(3)"

    def shares():
        return [
            int(cell.split()[0])
            for cell in page.locator(cells).all_text_contents()
            if "/" in cell
        ]

    for order, backwards in (("ascending", False), ("descending", True)):
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == order
        assert page.locator("[aria-sort]").count() == 1
        assert shares() == sorted(shares(), reverse=backwards)
        column = page.locator(cells).all_text_contents()
        assert column[-5:] == ["missing"] * 5
        assert len(column) == 60
    page.get_by_role("button", name="Student").click()
    ordered = names(page)
    assert ordered[0].startswith("Amara")
    assert ordered[-1].startswith("Lior")
    assert len({*ordered}) == 60


def test_search_answers_at_once_in_a_class_of_1000(show):
    """Not timed: what is done for each key stays far below a frame's work."""
    page = show(lesson(1000))
    page.locator("#find").fill("x")
    steps = page.evaluate(
        """() => { const find = document.querySelector("#find"); let count = 0;
        const watch = new MutationObserver((all) => count += all.length);
        watch.observe(document.querySelector("table.students"),
                      {attributes: true, childList: true, subtree: true});
        find.value = "lior"; find.dispatchEvent(new Event("input"));
        count += watch.takeRecords().length; return count; }"""
    )
    assert 0 < steps <= 1001  # no more than one change for each row
    assert page.locator(ROWS).count() > 50


# --- without a script, for everybody ----------------------------------------------


@pytest.mark.parametrize("make", [lesson, term])
def test_without_scripts_everything_is_there(browser, tmp_path, make):
    path = tmp_path / "page.html"
    path.write_text(make(120), encoding="utf-8")
    page = browser.context.browser.new_page(java_script_enabled=False)
    try:
        page.goto(path.as_uri())
        assert page.locator("[role=search]").is_hidden()
        assert page.locator("thead button").count() == 0
        table = page.locator("table.students")
        assert table.is_hidden()
        page.locator("summary", has_text="students, by name").press("Enter")
        assert table.is_visible()
        assert page.locator(ROWS).count() >= 120
    finally:
        page.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
@pytest.mark.parametrize(
    "make",
    [
        lambda: lesson(8),
        lambda: lesson(0),
        lambda: render_page(roster(six())),
        lambda: term(8),
        lambda: term(0),
        lambda: term(3, ATTACK),
    ],
    ids=["lesson", "empty lesson", "six", "term", "empty term", "hostile term"],
)
@pytest.mark.thorough
def test_axe_finds_no_violations(show, make, width, scheme):
    page = show(make(), width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize(
    "name",
    [ATTACK, "\u202eecila\u2067", "שלום " * 40, "w" * 200, "=cmd|' /C calc'!A0"],
    ids=["html", "turned", "right to left", "long", "formula"],
)
def test_hostile_names_neither_act_nor_widen_the_page(show, name):
    page = show(term(30, name), 360)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.title() == "The term: the class's results"
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(TOO_WIDE) == []
    legible = name.replace("\u202e", "\ufffd").replace("\u2067", "\ufffd").strip()
    assert all(legible in label for label in names(page))
    page.locator("#find").fill(name[:20].strip("\u202e\u2067 "))
    assert page.locator(ROWS).count() == 30


def test_printed_table_has_its_headings_and_no_search(show):
    page = show(term(120))
    page.emulate_media(media="print")
    assert page.locator("table.students").is_visible()
    assert page.locator("[role=search]").is_hidden()
    assert page.locator("nav").is_hidden()
    last = page.locator(f"{ROWS} th").last
    assert last.is_visible()
    display = "getComputedStyle(document.querySelector('thead button')).display"
    assert page.evaluate(display) == "contents"
