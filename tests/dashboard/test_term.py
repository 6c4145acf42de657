"""The term's page: its numbers are the gradebook's, its rule holds at its bounds."""

import csv
import io
import json
import re
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook
from typer.testing import CliRunner

from autograder.checking.points import format_number
from autograder.checking.registry import exercises_of, load
from autograder.commands.app import app
from autograder.course import Course, CourseError
from autograder.dashboard.examples import find_examples
from autograder.dashboard.misconceptions import MisconceptionCount
from autograder.dashboard.page import lesson_roster
from autograder.dashboard.term import (
    Term,
    TermCell,
    count_term,
    is_behind,
    recurring_misconceptions,
    trend,
)
from autograder.dashboard.term_page import graded_lessons, render_term, write_reports
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.grades import Grade, Person, StudentGrades
from autograder.gradebook.own_maximum import count_own_maximum
from tests.dashboard.terms import (
    LESSONS,
    hand_in,
    open_term,
    submission,
    write_answers,
)
from tests.dashboard.test_page import HOSTILE, Outline, _shape

FIRST, SECOND, THIRD = LESSONS
WORTH = {each: sum(one.points for one in exercises_of(each)) for each in LESSONS}
OF_TWO = load("self_attention").points  # the exercise in which people differ


def exported(points):
    """Return points as an export has them."""
    return float(format_number(points))


def graded(points, max_points=10.0):
    return TermCell("graded", points, max_points)


MISSING = TermCell("missing", 0.0, 10.0)
OPEN = TermCell("open", 0.0, 10.0)
WAITING = TermCell("waiting", 0.0, 10.0)
EXCUSED = TermCell("excused", 0.0, 0.0)

# --- who falls behind -------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "behind"),
    [
        ((MISSING, MISSING), True),
        ((graded(9), MISSING, MISSING), True),
        ((MISSING, graded(9), MISSING), False),
        ((MISSING, MISSING, graded(9)), False),
        ((MISSING,), False),
        ((graded(3.9), MISSING), True),
        ((graded(4.0), MISSING), False),  # just half of the median
        ((graded(3.99), graded(3.99)), True),
        ((graded(3.99), graded(4.0)), False),
        ((graded(7.8, 20.0), MISSING), True),  # of the student's own maximum
        ((graded(4.0), graded(2.0, 5.0)), False),
        ((MISSING, MISSING, OPEN), True),  # the last that are known
        ((MISSING, WAITING), False),
        ((MISSING, EXCUSED, MISSING), True),
        ((graded(9), OPEN, MISSING), False),
        ((graded(9), MISSING, OPEN), False),
    ],
)
def test_two_low_lessons_in_a_row_are_behind(cells, behind):
    assert is_behind(cells, [0.8] * len(cells)) is behind


def test_rule_takes_each_lessons_own_median():
    cells = graded(3.0), graded(3.0)
    assert not is_behind(cells, [0.6, 0.6])
    assert not is_behind(cells, [0.7, 0.6])
    assert is_behind(cells, [0.7, 0.61])
    assert not is_behind((graded(0.0), graded(0.0)), [0.0, 0.0])
    assert not is_behind(cells, [None, 0.9])  # nobody else is graded


def test_trend_compares_with_the_class():
    medians = [0.5, 0.7, 0.6]
    assert trend([graded(5), graded(7), graded(6)], medians) == pytest.approx(0)
    assert trend([graded(5), MISSING, graded(8)], medians) == pytest.approx(20)
    assert trend([graded(9), graded(9), graded(3)], medians) == pytest.approx(-60)
    assert trend([graded(9), MISSING, OPEN], medians) is None


# --- the numbers are the gradebook's ----------------------------------------------


def change_grades(course, statement, *values):
    with sqlite3.connect(course.root / "gradebook.db") as database:
        assert database.execute(statement, values).rowcount == 1


GRADE_OF = (
    "WHERE id = (SELECT g.id FROM grade g JOIN base_cell b ON b.id = g.cell_id "
    "JOIN submitted_notebook n ON n.id = g.notebook_id "
    "JOIN submitted_assignment s ON s.id = n.assignment_id "
    "JOIN assignment a ON a.id = s.assignment_id "
    "WHERE b.name = ? AND s.student_id = ? AND a.name = ?)"
)


@pytest.fixture
def course(tmp_path):
    """Return a term with everything that changes points.

    amara: all right; ben: late in the first lesson, graded by hand in the second; cem:
    was excused from an exercise; dana: handed in the first only; eva: nothing.
    """
    course = open_term(tmp_path)
    config = tmp_path / "nbgrader_config.py"
    text = config.read_text() + '\nc.LatePolicy.late = "10 % a day"\n'
    config.write_text(text)
    gradebook = Gradebook(course)
    people = [
        Person("amara", "Amara", "Okafor", section="A"),
        Person("ben", "Ben", "Lund", section="B"),
        Person("cem", "Cem", "Kaya", section="B"),
        Person("dana", "Dana", "Roth", section="A"),
        Person("eva", "Eva", "Novak"),
    ]
    gradebook.enter_people(people)
    change_grades(
        course,
        "UPDATE assignment SET duedate = '2026-03-01 12:00:00.000000' WHERE name = ?",
        FIRST,
    )
    on_time, late = "2026-03-01 11:00:00 UTC", "2026-03-02 11:00:00 UTC"
    wrong = {"softmax": "no_max_subtraction", "attention": "softmax_over_queries"}
    hand_in(course, [submission("amara", FIRST), submission("dana", FIRST)], on_time)
    hand_in(course, [submission("ben", FIRST, wrong)], late)
    cem = replace(submission("cem", FIRST), excused=("softmax",))
    hand_in(course, [cem], on_time)
    wrong = {"self_attention": "softmax_over_queries"}
    results = [submission(who, SECOND, wrong) for who in ("ben", "cem")]
    hand_in(course, [submission("amara", SECOND), *results])
    hand_in(course, [submission(who, THIRD) for who in ("amara", "ben", "cem")])
    where = "test_self_attention", "ben", SECOND
    exercise = "check_self_attention"
    change_grades(
        course,
        f"UPDATE grade SET manual_score = 6.5, extra_credit = 1 {GRADE_OF}",
        exercise,
        *where[1:],
    )
    gradebook.drop(THIRD, "split_heads", [], undo=False)
    return course


def term_of(course):
    grades = graded_lessons(Gradebook(course))
    return grades, count_term(grades, {})


def test_numbers_equal_the_gradebook_the_export_and_formgrader(course):
    _, term = term_of(course)
    text = export(course, [], "csv").read_text(encoding="utf-8-sig")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text))}
    assert [lesson.lesson for lesson in term.lessons] == [*LESSONS]
    assert {each.student for each in term.students} == {*rows}
    for student in term.students:
        for lesson, cell in zip(LESSONS, student.cells, strict=True):
            row = rows[student.student]
            assert exported(cell.points) == float(row[f"{lesson} points"] or 0)
            assert cell.max_points == float(row[f"{lesson} max"])
            assert exported(cell.late) == float(row[f"{lesson} late penalty"] or 0)
            assert cell.by_hand == bool(row[f"{lesson} by hand"])
            assert (cell.state == "missing") == (row[f"{lesson} points"] == "")
    count_own_maximum()
    with NbgraderGradebook(f"sqlite:///{course.root / 'gradebook.db'}", "x") as book:
        formgrader = {
            each["id"]: (each["score"], each["max_score"])
            for each in book.student_dicts()
        }
    # Formgrader's list of students leaves penalties out.
    sums = {
        each.student: (
            each.points + sum(cell.late for cell in each.cells),
            each.max_points,
        )
        for each in term.students
    }
    assert sums == formgrader


def test_class_has_all_that_changes_points(course):
    """Otherwise the comparison above says nothing."""
    cells = {each.student: each.cells for each in term_of(course)[1].students}
    whole = cells["amara"][0].max_points
    assert cells["ben"][0].late == pytest.approx(0.1 * (cells["ben"][0].points / 0.9))
    assert cells["cem"][0].max_points < whole
    assert cells["ben"][1].by_hand
    assert cells["ben"][1].points == 7.5 + cells["ben"][1].max_points - OF_TWO
    assert cells["dana"][1].state == "missing"
    assert all(each.state == "missing" for each in cells["eva"])
    worth = sum(
        g.max_points for g in Gradebook(course).grades(THIRD)["amara"].exercises
    )
    assert cells["amara"][2].max_points == worth < WORTH[THIRD]


def test_page_shows_the_numbers_and_the_rule(course):
    _, term = term_of(course)
    text = Outline(render_term(term, 3)).text
    assert [each.student for each in term.behind] == ["dana"]
    assert [each.student for each in term.never] == ["eva"]
    assert "less than half of the class's median" in text
    most = f"{WORTH[FIRST]:g} / {WORTH[FIRST]:g}"
    assert f"Dana Roth (A): 01 {most} · 02 missing · 03 missing" in text
    ben = term.students[1].cells
    assert f"{format_number(ben[0].points)} / {WORTH[FIRST]:g} late" in text
    assert f"{format_number(ben[1].points)} / {WORTH[SECOND]:g} *" in text


def test_lessons_and_sections_count_whom_they_have(course):
    _, term = term_of(course)
    first, second, third = term.lessons
    assert (first.handed_in, first.missing, first.late) == (4, 1, 1)
    assert (second.handed_in, third.missing) == (3, 2)
    rows = {row.section: row for row in term.sections}
    assert (rows["A"].students, rows["A"].behind, rows["A"].handed_in) == (
        2,
        1,
        (2, 1, 1),
    )
    assert rows[""].handed_in == (0, 0, 0)
    assert rows[""].behind == 0  # eva was never there
    assert [*rows] == ["A", "B", ""]


def test_costliest_exercise_is_of_the_gradebooks_points(course):
    grades, term = term_of(course)
    lost = {(each.lesson, each.exercise): each for each in term.exercises}
    assert "split_heads" not in {exercise for _, exercise in lost}
    row = lost[SECOND, "self_attention"]
    by_hand = OF_TWO - 7.5
    cem = next(
        each
        for each in grades[SECOND]["cem"].exercises
        if each.exercise == "self_attention"
    )
    assert row.lost == by_hand + OF_TWO - cem.points
    assert (row.students, row.max_points) == (3, OF_TWO)
    assert row.mean_share == pytest.approx(1 - row.lost / (3 * OF_TWO))
    assert [each.lost for each in term.exercises] == sorted(
        (each.lost for each in term.exercises), reverse=True
    )
    assert lost[FIRST, "softmax"].students == 3  # cem is excused


def test_whoever_has_time_left_is_not_missing(course):
    change_grades(
        course,
        "UPDATE assignment SET duedate = '2026-03-01 12:00:00.000000' WHERE name = ?",
        THIRD,
    )
    gradebook = Gradebook(course)
    gradebook.extend(THIRD, "dana", 48 * 3600)

    def states(moment):
        not_yet_due = {THIRD: gradebook.not_yet_due(THIRD, moment)}
        term = count_term(graded_lessons(gradebook), {}, not_yet_due=not_yet_due)
        cells = {each.student: each for each in term.students}
        return cells["dana"], cells["eva"]

    due = datetime(2026, 3, 1, 12)
    for moment, of_both in (
        (due - timedelta(seconds=1), ["open", "open"]),
        (due, ["open", "missing"]),
        (due + timedelta(hours=48), ["missing", "missing"]),
    ):
        both = states(moment)
        assert [each.cells[2].state for each in both] == of_both
        assert both[0].is_behind == (of_both[0] == "missing")
    assert gradebook.not_yet_due(SECOND, datetime.now(UTC).replace(tzinfo=None)) == (
        frozenset()
    )


# --- misconceptions over the term -------------------------------------------------


def count(exercise, name, *students):
    return MisconceptionCount(exercise, name, students, "Your numbers are others.")


def test_misconceptions_that_come_back_rank_by_who_repeats_them():
    counts = {
        FIRST: [
            count("attention", "no_scale", "a", "b", "c", "d"),
            count("attention", "softmax_over_queries", "a", "b"),
            count("scaled_scores", "only_here", "a", "b", "c"),
            count("scaled_scores", "no_scale", "a"),
        ],
        SECOND: [
            count("self_attention", "softmax_over_queries", "b", "a"),
            count("self_attention", "no_scale", "d", "e"),
        ],
    }
    rows = recurring_misconceptions(counts)
    assert [(row.name, row.repeated) for row in rows] == [
        ("softmax_over_queries", ("a", "b")),
        ("no_scale", ("d",)),
    ]
    assert [(lesson, each.exercise) for lesson, each in rows[1].counts] == [
        (FIRST, "attention"),
        (FIRST, "scaled_scores"),
        (SECOND, "self_attention"),
    ]
    same_lesson = {FIRST: [count("a", "x", "a"), count("b", "x", "a")], SECOND: []}
    assert recurring_misconceptions(same_lesson) == []


def test_topics_are_the_last_lessons_and_say_what_came_before():
    counts = {
        FIRST: [count("attention", "no_scale", "a", "b", "c")],
        SECOND: [
            count("self_attention", "no_scale", "d", "e"),
            count("self_attention", "rare", "a"),
        ],
    }
    grades = {lesson: {} for lesson in counts}
    (topic,) = count_term(grades, counts).topics  # one student is no subject for all
    assert (topic.count.exercise, topic.earlier) == ("self_attention", {FIRST: 3})


# --- an example for the lecture ---------------------------------------------------


PLAIN = "def scaled_scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)"


@pytest.fixture
def mistaken(tmp_path):
    """Return a course in which three students forget the scale."""
    course = open_term(tmp_path, [FIRST])
    wrong = {"scaled_scores": "no_scale"}
    results = [submission(who, FIRST, wrong) for who in ("amara", "ben", "cem")]
    hand_in(course, results)
    for each in results:
        write_answers(course, each)
        set_answer(course, each.student, PLAIN)
    return course


def example(course, students=("amara", "ben", "cem")):
    roster = lesson_roster(course, FIRST, Gradebook(course).grades(FIRST))
    counts = [count("scaled_scores", "no_scale", *students)]
    return find_examples(course, roster, counts).get(("scaled_scores", "no_scale"))


def set_answer(course, student, source):
    path = course.root / "autograded" / student / FIRST / f"{FIRST}.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "scaled_scores":
            cell["source"] = source
    path.write_text(json.dumps(notebook))


def test_example_is_an_answer_without_what_the_lesson_says(mistaken):
    assert example(mistaken) == PLAIN
    stub = next(
        cell["source"]
        for cell in json.loads(mistaken.learner(FIRST).read_text())["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "scaled_scores"
    )
    stub = stub if isinstance(stub, str) else "".join(stub)
    assert '"""' in stub
    body = "    # as in the lecture\n\n    return q @ k.mT\n"
    set_answer(mistaken, "ben", re.sub(r" *raise .*", body, stub))
    signature = stub.partition("\n")[0]
    assert example(mistaken, ["ben"]) == f"{signature}\n    return q @ k.mT"
    assert example(mistaken) == PLAIN  # the shortest


@pytest.mark.parametrize(
    "line",
    [
        "    return q @ k.mT  # by Ben",
        "    amara = q @ k.mT",
        '    """By Ben, with\n    help."""\n    return q @ k.mT',
        "    return q @ k.mT" + " + 0" * 40,
        "\n".join("    q = q" for _ in range(20)),
    ],
    ids=["comment", "own name", "docstring", "long line", "many lines"],
)
def test_example_is_never_one_that_may_say_whose_it_is(mistaken, line):
    set_answer(mistaken, "amara", f"def scaled_scores(q, k):\n{line}")
    assert example(mistaken, ["amara"]) is None
    assert "swapaxes" in example(mistaken, ["amara", "ben"])


def test_example_is_of_the_same_verdict(mistaken):
    path = mistaken.root / "autograded" / "amara" / FIRST / f"{FIRST}.ipynb"
    path.write_text(path.read_text().replace('"no_scale"', '"another"'))
    assert example(mistaken, ["amara"]) is None
    for text in ("", "{}", "[" * 100_000, '{"metadata": 1}'):
        path.write_text(text)
        assert example(mistaken, ["amara"]) is None
    assert example(mistaken, ["..", "nobody"]) is None


# --- how it is written ------------------------------------------------------------


def test_report_without_a_lesson_writes_the_term_and_all_lessons(course):
    paths = write_reports(course, as_json=True, written="today")
    folder = course.root / "build" / "report"
    names = [*(f"{lesson}.html" for lesson in LESSONS), "term.html", "term.json"]
    assert [path.relative_to(folder).as_posix() for path in paths] == names
    text = (folder / "term.html").read_text()
    outline = Outline(text)
    assert outline.faults == outline.open == []
    links = {about["href"] for about in outline.all("a")}
    assert {f"{lesson}.html" for lesson in LESSONS} <= links
    assert "softmax_over_queries" in outline.text  # ben made it twice
    assert "1 student in more than one lesson" in outline.text
    before = [path.read_bytes() for path in paths]
    rewritten = write_reports(course, as_json=True, written="today")
    assert [path.read_bytes() for path in rewritten] == before
    data = json.loads((folder / "term.json").read_text())
    assert data["students"][1]["cells"][1]["by_hand"] is True
    assert [each["lesson"] for each in data["lessons"]] == [*LESSONS]


def test_term_alone_into_a_file_links_to_no_other(course):
    path = course.root / "elsewhere.html"
    assert write_reports(course, path) == [path]
    assert not (course.root / "build" / "report").exists()
    hrefs = [about["href"] for about in Outline(path.read_text()).all("a")]
    assert all(href.startswith("#") for href in hrefs)


def test_lesson_without_its_notebook_keeps_its_points(course):
    course.learner(SECOND).unlink()
    left_out = []
    write_reports(course, on_left_out=left_out.append)
    (sentence,) = left_out
    assert SECOND in sentence
    text = Outline((course.root / "build/report/term.html").read_text()).text
    assert f"01 {WORTH[FIRST]:g} / {WORTH[FIRST]:g} · 02 missing" in text


def test_term_without_submissions_is_refused(tmp_path):
    course = open_term(tmp_path, [FIRST])
    with pytest.raises(CourseError, match="no submission of any lesson"):
        write_reports(course)
    with pytest.raises(CourseError, match="no submission of any lesson"):
        write_reports(Course(tmp_path / "empty"))


@pytest.fixture
def here(course, monkeypatch):
    monkeypatch.chdir(course.root)
    return course


def command(*arguments):
    result = CliRunner().invoke(app, ["report", *arguments])
    return result.exit_code, result.output, result.exception


def test_command_without_a_lesson_is_the_terms(here):
    code, output, _ = command("--json")
    written = re.findall("Written: (.*)", output)
    assert code == 0
    assert [path.rpartition("/")[2] for path in written][-2:] == [
        "term.html",
        "term.json",
    ]
    code, output, _ = command("--output", "here.html")
    assert (code, output) == (0, f"Written: {here.root / 'here.html'}\n")
    code, output, _ = command("2")
    assert output == f"Written: {here.root}/build/report/{SECOND}.html\n"
    error = command("2", "--json")[2]
    assert isinstance(error, CourseError)
    assert str(error) == "--json is for the term: leave the lesson out"


# --- what it may not hold ---------------------------------------------------------


def hostile_term(text):
    def of(lesson, points):
        exercises = (Grade("softmax", 8.0, auto=points),)
        return {
            who: StudentGrades(
                who, exercises, first_name=text, last_name=who[0], section=section
            )
            for who, section in ((f"a{text}", text), (f"b{text}", "B"))
        }

    who = f"a{text}", f"b{text}"
    grades = {FIRST: of(FIRST, 8.0), SECOND: of(SECOND, 2.0)}
    for lesson in grades:
        absent = StudentGrades(f"c{text}", (), submitted=False, first_name=text)
        grades[lesson][absent.student] = absent
    counts = {
        FIRST: [count("softmax", text, *who)],
        SECOND: [count("softmax", text, *who)],
    }
    titles = {FIRST: text, SECOND: text}
    examples = {("softmax", text): text}
    return render_term(count_term(grades, counts, titles=titles, examples=examples), 2)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_untrusted_text_of_a_term_stays_text(text):
    harmless, hostile = Outline(hostile_term("quiet")), Outline(hostile_term(text))
    assert hostile.faults == hostile.open == []
    assert _shape(hostile) == _shape(harmless)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_small_terms_are_well_formed(count):
    people = {
        f"s{number}": StudentGrades(f"s{number}", (Grade("softmax", 8.0, auto=4.0),))
        for number in range(count)
    }
    for term in (
        count_term({FIRST: people}, {}),
        count_term({FIRST: people, SECOND: people}, {FIRST: []}),
        Term((), (), (), (), ()),
    ):
        outline = Outline(render_term(term, 0))
        assert outline.faults == outline.open == []
    one = Outline(render_term(count_term({FIRST: people}, {}), 0)).text
    assert "With one lesson nobody can have fallen behind yet" in one
