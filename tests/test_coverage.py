"""``docs/coverage.md`` sends its readers to sections that there are."""

import re

import pytest

from tests.submissions import COURSE

PAGE = COURSE.root / "docs" / "coverage.md"
STATUS = ("stands", "put right")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().splitlines()
    if re.match(r"\| [A-E] ", line)
]
SECTION = re.compile(r"\*([^*]+)\*")


def headings() -> dict[str, set[str]]:
    """Return the headings of each lesson, by its number."""
    by_lesson = {}
    for lesson in COURSE.lessons:
        text = COURSE.source(lesson).read_text()
        lines = re.findall(r"^# #+ (.+)$", text, re.MULTILINE)
        by_lesson[lesson[:2]] = {
            line.replace("*", "").replace("$", "") for line in lines
        }
    return by_lesson


def references(cell: str) -> list[tuple[str, str]]:
    """Return the lesson's number and the section of each reference in a cell."""
    result = []
    for part in cell.split(";"):
        numbers = re.findall(r"\b\d\d\b", SECTION.sub("", part))
        assert len(numbers) == 1, cell
        result += [(numbers[0], section) for section in SECTION.findall(part)]
    return result


def test_each_statement_stands_or_is_put_right():
    assert len(ROWS) > 200
    assert {text for text, *_ in ROWS} == set("ABCDE")
    assert {status for *_, status in ROWS} <= {*STATUS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:40])
def test_each_section_is_in_its_lesson(row):
    sections = headings()
    for lesson, section in references(row[2]):
        assert section in sections[lesson], f"no section {section!r} in lesson {lesson}"
