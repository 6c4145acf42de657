"""Students whose ids differ by what nobody sees print differently everywhere."""

import csv
import io
import math
import re

import pytest

from autograder.commands import grade, terminal
from autograder.course import Course, CourseError
from autograder.dashboard.page import render_page
from autograder.dashboard.term import count_term
from autograder.dashboard.term_page import render_term
from autograder.gradebook.database import Gradebook
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.service import Service
from autograder.gradebook.sheets import export_file, several_maxima
from autograder.gradebook.summaries import Delivery, write_summaries
from autograder.gradebook.writing import GradebookEntry
from autograder.grading import classroom
from autograder.grading.journal import Journal
from autograder.grading.reading import printable_name
from autograder.grading.verdicts import Verdicts
from autograder.grading.workers import Settings
from tests.dashboard.classes import answer, graded, roster
from tests.gradebook import test_feedback as feedback
from tests.submissions import COURSE

LESSON = "01_dot_product_attention"
# What a folder may be called, and looks the same: "ann lee".
ALIKE = [
    *("ann lee", " ann lee", "ann lee ", "  ann lee", "ann  lee", "ann   lee"),
    *("ann\u00a0lee", "ann\u2003lee", "ann\u3000lee", "ann\u202flee"),
    *("ann\u2800lee", "ann\u3164lee", "ann\u115flee", "ann \ufe0flee", "ann \u034flee"),
    "ann⟨U+00A0⟩lee",
]
# These are no student's id, and are named in sentences all the same.
REFUSED = ["ann \u200blee", "ann \u200dlee", "ann \ufefflee", "ann \u00adlee"]
UNSEEN = re.compile("[\u200b\u200d\ufeff\u00ad\u034f\ufe0f\u115f\u3164\u2800]")


def drawn(text):
    """Return a text as a page shows it: blanks are one blank, or none at the ends."""
    return " ".join(UNSEEN.sub(" ", text).split())


def assert_differ(texts):
    assert len({*map(drawn, texts)}) == len(texts)


def test_names_in_sentences_differ():
    assert_differ([*map(printable_name, [*ALIKE, *REFUSED])])
    assert printable_name("ann lee") == "ann lee"
    assert printable_name("Zoë Ångström-O’Brien 2") == "Zoë Ångström-O’Brien 2"


def test_rows_of_a_graded_class_differ():
    rows = (grade.line(graded(each, answer("softmax"))) for each in ALIKE)
    assert_differ([*map(terminal.harmless, rows)])


def test_list_of_who_has_handed_in_differs(monkeypatch):
    monkeypatch.setattr(classroom, "students_of", lambda *_: ALIKE[:20])
    with pytest.raises(CourseError, match="has submitted nothing") as raised:
        classroom.chosen_students(None, LESSON, "bo")
    assert_differ(str(raised.value).partition("there are: ")[2].split(", "))


def test_rows_of_the_class_page_differ():
    page = render_page(roster([graded(each, answer("softmax")) for each in ALIKE]))
    heads = re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', page)
    assert_differ(heads[-len(ALIKE) :])
    assert 'class="id"' not in page  # the label is the id already


def test_rows_of_the_term_page_differ():
    people = {each: StudentGrades(each, (), submitted=True) for each in ALIKE}
    page = render_term(count_term({LESSON: people}, {}), 0)
    heads = re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', page)
    assert_differ(heads[-len(ALIKE) :])
    assert 'class="id"' not in page


def test_people_of_alike_names_are_labelled_with_their_ids():
    names = {"a": "Ann", "b": "Ann ", "c": "Ann\u00a0", "d": "Ann\u200b"}
    people = {
        each: StudentGrades(each, (), first_name=name, last_name="Lee", submitted=True)
        for each, name in names.items()
    }
    term = count_term({LESSON: people}, {})
    assert_differ([each.label for each in term.students])


def test_feedback_pages_differ():
    pages = [feedback.page(feedback.grades_of(each)).text for each in ALIKE]
    assert_differ([text.partition("handed in")[0] for text in pages])


def refusal(action, *arguments):
    """Return what a refusal says before the first colon."""
    with pytest.raises((CourseError, ValueError)) as raised:
        action(*arguments)
    return str(raised.value).partition(":")[0]


def test_refusals_of_ids_differ(tmp_path):
    course = Course(tmp_path)
    refused = [f"-{each}" for each in ALIKE]  # no id begins with it
    service, book = Service(course), Gradebook(course)
    assert_differ([refusal(service.autograded, LESSON, each, []) for each in refused])
    entries = [GradebookEntry(each, {}) for each in refused]
    assert_differ([refusal(book.enter, LESSON, [each]) for each in entries])
    assert_differ([refusal(book.extend, LESSON, each, 0.0) for each in ALIKE])


@pytest.mark.parametrize("points, n", [(math.nan, 1), (1.0, 2)])
def test_refusals_of_entries_differ(tmp_path, points, n):
    book = Gradebook(Course(tmp_path))
    entries = [GradebookEntry(each, {"softmax": points}) for each in ALIKE]
    assert_differ([refusal(book.enter, LESSON, [each] * n) for each in entries])


def test_faults_of_exercises_without_a_bank_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(Verdicts, "_unjudgeable", lambda *_: {"softmax"})
    with Journal(Course(tmp_path)) as journal:
        verdicts = Verdicts(COURSE, Settings(LESSON, 1), journal)
        faults = [each.fault for each in verdicts.each(ALIKE, iter)]
    assert_differ([fault.partition(":")[0] for fault in faults])
    assert len(faults) == len(ALIKE)


def test_students_of_a_further_column_differ():
    grades = {each: feedback.grades_of(each) for each in ALIKE}
    most = Grade("softmax", 99.0, auto=1.0)
    grades["zoe"] = StudentGrades("zoe", (most,), submitted=True)
    (note,) = several_maxima({LESSON: grades})
    listed = note.partition("' has ")[2].partition(". For one column")[0]
    assert_differ(listed.split(", "))
    assert len(listed.split(", ")) == len(ALIKE)


@pytest.mark.parametrize("kind", ["csv", "canvas", "moodle"])
def test_rows_of_an_export_differ(kind):
    grades = {each: feedback.grades_of(each) for each in ALIKE}
    made = export_file(kind, {LESSON: grades})
    rows = [*csv.reader(io.StringIO(made.text.removeprefix("\ufeff")))]
    ids = [row[0] for row in rows if "ann" in row[0]]
    named = [sentence.partition(" is left out")[0] for sentence in made.left_out]
    assert len(ids) + len(named) == len(ALIKE)
    assert_differ(ids + named)


def test_rows_of_the_table_of_messages_differ(tmp_path):
    course = Course(tmp_path)
    people = {
        each: StudentGrades(each, (), email="a@b.example", submitted=False)
        for each in ALIKE
    }
    write_summaries(course, LESSON, people, {}, Delivery(), on_left_out=pytest.fail)
    table = tmp_path / "build" / "summaries" / f"{LESSON}.csv"
    with table.open(encoding="utf-8", newline="") as file:
        assert_differ([row[0] for row in csv.reader(file)][1:])
