"""The style rules of the lessons that can be counted, and what each must contain."""

import ast
import itertools
import re
import statistics

import nbformat
import pytest

from autograder.checking import bank
from autograder.checking.registry import exercise_names, exercises_of, load
from autograder.course import Course
from autograder.course.shown_code import without_assertions
from autograder.messages.report import DATA_TYPE
from autograder.notebooks.source import LessonSource, solution
from course_lib.figures.alternatives import digest
from tests.lesson_parts import (
    MOST_HOURS,
    Parts,
    minutes_of,
    names_of_others,
    uneven_answers,
    wrong_end,
    wrong_minutes,
)

COURSE = Course.here()
START = "00_start_here"
BANNED = re.compile(r"\b(simply|just|obviously|trivial(ly)?)\b", re.IGNORECASE)
CHECK_FIRST = "from autograder import check"


@pytest.fixture(scope="module", params=COURSE.lessons)
def source(request):
    return LessonSource(COURSE.source(request.param))


def prose_of(source):
    return [cell for cell in source.cells if cell.kind == "prose"]


def code_of(source):
    return [cell for cell in source.cells if cell.kind == "code"]


def rows_of(text):
    return [row for row in text.splitlines() if row.strip()]


def lines(cell):
    return rows_of(cell.text)


def words(cell):
    text = re.sub(r"<[^>]+>|^\|[-|]+\|$", " ", cell.text, flags=re.MULTILINE)
    return re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", text)


def test_code_cells_are_short(source):
    lengths = {
        cell.line: len(rows_of(without_assertions(cell.text)))
        for cell in code_of(source)
    }
    assert max(lengths.values()) <= 15, lengths
    assert statistics.median(lengths.values()) <= 5, lengths


def test_code_lines_are_short(source):
    rows = [(c.line, row) for c in code_of(source) for row in c.text.splitlines()]
    assert [entry for entry in rows if len(entry[1]) > 88] == []


def test_prose_cells_are_short(source):
    lengths = {cell.line: len(words(cell)) for cell in prose_of(source)}
    assert {line: n for line, n in lengths.items() if n > 120} == {}


def test_never_three_code_cells_in_a_row(source):
    kinds = "".join("p" if cell.kind == "prose" else "c" for cell in source.cells)
    index = kinds.find("ccc")
    assert index == -1, source.cells[index].line


def test_first_cells_introduce_the_lesson(source):
    first, second = source.cells[:2]
    assert first.text.startswith("# ")
    # The start page begins with something to move, and then says what it is for.
    introduction = first.text
    if source.lesson == START:
        introduction = next(c.text for c in source.cells if "## What this" in c.text)
    assert "After this lesson you can" in introduction
    assert minutes_of(source)
    assert "You need" in first.text
    assert second.kind == "code"
    names = [line for line in lines(second) if line != CHECK_FIRST]
    assert len(names) <= 6
    if any(line.startswith("import torch") for line in names):
        # It says in a sentence that PyTorch is missing, and so comes before it.
        assert lines(second)[0] == CHECK_FIRST
    assert all(
        isinstance(s, ast.Import | ast.ImportFrom) for s in ast.parse(second.text).body
    )


def test_minutes_cover_the_exercises_of_each_part(source):
    assert [*wrong_minutes(source)] == []


def test_cores_of_all_lessons_take_no_more_than_was_promised():
    minutes = {
        lesson: minutes_of(LessonSource(COURSE.source(lesson)))[0]
        for lesson in COURSE.lessons
    }
    assert sum(minutes.values()) <= 60 * MOST_HOURS, minutes


def test_summary_ends_the_core(source):
    assert [*wrong_end(source)] == []
    last = Parts.of(source).core[-1].text
    assert "## In three lines" in last
    assert len(re.findall(r"^- ", last, re.MULTILINE)) == 3
    assert "**What you can read now:**" in last
    assert "**An open question:**" in last


def test_each_part_uses_names_of_the_core_and_its_own(source):
    assert [*names_of_others(source)] == []


def test_each_option_of_a_prediction_is_right_equally_often():
    sources = [LessonSource(COURSE.source(lesson)) for lesson in COURSE.lessons]
    assert [*uneven_answers(sources)] == []


def test_each_exercise_has_two_hints(source):
    for cell in prose_of(source):
        if cell.exercise:
            assert cell.text.count("<details>") == cell.text.count("</details>") == 2
            # Only between empty lines is what stands inside read as Markdown.
            assert cell.text.count("</summary>\n\n") == 2
            assert cell.text.count("\n\n</details>") == 2


def test_prose_has_no_belittling_words(source):
    words_of = {cell.line: BANNED.findall(cell.text) for cell in prose_of(source)}
    assert not any(words_of.values()), words_of


def test_lesson_has_cells_for_all_its_exercises(source):
    mine = {n for n in exercise_names() if load(n).lesson == source.lesson}
    assert {exercise.name for exercise in source.exercises} == mine


def test_drawing_cells_are_short_and_say_what_they_show(source):
    for cell in code_of(source):
        if "figures." in cell.text:
            assert len(ast.parse(cell.text).body) <= 3, cell.line
            assert digest(cell.text) in source.texts or "alt=" in cell.text, cell.line


def test_solutions_get_all_points_with_the_names_they_may_use(source):
    """Judge each solution, executed with what the set-up cells and ``uses`` name."""
    assert "arguments" not in source.set_up
    set_up, solutions = {}, {}
    cells = list(itertools.takewhile(lambda c: c.kind != "exercise", source.cells))
    for cell in cells:  # those of imports alone
        body = ast.parse(cell.text).body if cell.kind == "code" else []
        if all(isinstance(each, ast.Import | ast.ImportFrom) for each in body):
            exec(compile(ast.Module(body, []), "set-up", "exec"), set_up)
    for exercise in source.exercises:
        text = solution(exercise)
        everything = {**set_up, **solutions}
        names = source.names_for(exercise) & {*everything}
        allowed = {name: everything[name] for name in names}
        exec(text, allowed)
        solutions[exercise.name] = allowed[exercise.name]
        fault = bank.right_answer_fault(exercise, "solution", allowed[exercise.name], 1)
        assert fault == ""


@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_pictures_reach_the_page_with_alternative_text(lesson):
    notebook = nbformat.read(COURSE.teacher(lesson), as_version=4)
    pictures = [
        output["data"]["text/html"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "<img" in output.get("data", {}).get("text/html", "")
    ]
    assert pictures
    for html in pictures:
        alt = re.search(r'alt="([^"]+)"', html)[1]
        assert len(alt.split()) >= 5 and "the course does not describe" not in alt


@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_teachers_reports_name_the_cases_of_the_bank(lesson):
    notebook = nbformat.read(COURSE.teacher(lesson), as_version=4)
    reports = [
        output["data"][DATA_TYPE]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if DATA_TYPE in output.get("data", {})
    ]
    for report in reports:
        cases = load(report["exercise"]).cases
        assert {*report["cases"]} == {each.name for each in cases if each.visible}
    names = {each.name for each in exercises_of(lesson)}
    assert {each["exercise"] for each in reports} == names
