"""Messages to students: what they say in each case, and that mailers can take them."""

import csv
import json
from dataclasses import replace
from datetime import datetime
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from autograder.course import CourseError
from autograder.gradebook.autograded import autograded_notebook
from autograder.gradebook.folders import AUTOGRADED, write_autograded
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.summaries import (
    WIDTH,
    Delivery,
    student_summary,
    write_summaries,
)
from autograder.grading.release import load_release
from autograder.grading.result import SubmissionResult
from tests.gradebook import untrusted
from tests.gradebook.untrusted import HARMLESS, SENTENCE, TEXT, graded
from tests.submissions import COURSE, LESSON

EXERCISES = load_release(COURSE, LESSON).exercises
FULL = {"auto": 3.0}
QUESTION = "Your dot products are not divided. What is missing?"
DUE = {"amara": datetime(2026, 3, 1, 12)}
AMARA = {
    "first_name": "Amara",
    "last_name": "Okafor",
    "email": "amara@uni.example",
}


def grades_of(student="amara", change=None, **others):
    """Return grades, 3 of 3 points each but for what is changed."""
    exercises = tuple(
        Grade(name, 3.0, **{**FULL, **(change or {}).get(name, {})})
        for name in EXERCISES
    )
    return StudentGrades(student, exercises, **{**AMARA, **others})


def judged(name, **changes):
    """Return a result of which both claims hold, unless it is changed."""
    verdict = untrusted.verdict(name, HARMLESS)
    cases = tuple(replace(each, status="ok") for each in verdict.cases)
    return replace(verdict, points=3.0, cases=cases, flags=(), **changes)


DIAGNOSED = untrusted.verdict("softmax", HARMLESS)
DIAGNOSED = replace(DIAGNOSED, diagnosis="x", report=f"softmax: no\n→ {QUESTION}")


def hand_out(course, student="amara", *changed, secret="", **changes):
    """Write a graded notebook; of the exercises, those that are changed."""
    names = {each.exercise: each for each in changed}
    exercises = tuple(names.get(name, judged(name)) for name in EXERCISES)
    result = SubmissionResult(student, LESSON, "graded", exercises)
    result = replace(result, **changes)
    text = autograded_notebook(COURSE, (), result, {})
    write_autograded(course, LESSON, student, text, secret=secret)


def body(course, grades=None, delivery=None, **others):
    grades = grades or grades_of(**others)
    summary = student_summary(course, LESSON, grades, DUE.get("amara"), delivery)
    assert max(map(len, summary.body.splitlines())) <= WIDTH
    return " ".join(summary.body.split())


def written(course, people, delivery=None, **options):
    left_out = []
    paths = write_summaries(
        course,
        LESSON,
        people,
        DUE,
        delivery or Delivery(),
        left_out.append,
        **options,
    )
    return paths, left_out


def read(path):
    return message_from_bytes(path.read_bytes(), policy=default)


# --- what it says -------------------------------------------------------------------


def test_full_points(course):
    hand_out(course)
    text = body(course, timestamp="2026-02-28 10:00:00.5")
    assert text.startswith("Hello Amara, your notebook for lesson 01 (Dot product ")
    assert "handed in 2026-02-28 10:00:00 UTC, is graded: 24 of 24 points. Well" in text
    assert "3 of 3 softmax 3 of 3 similarity_attention" in text
    assert "You can go on" not in text


def test_diagnosis_stands_behind_its_exercise(course):
    hand_out(course, "amara", DIAGNOSED)
    text = body(course, change={"softmax": {"auto": 1.0}})
    assert f"1 of 3 softmax: {QUESTION} 3 of 3 similarity" in text
    assert "22 of 24 points." in text and "Well done" not in text
    assert "You can go on" in text


def test_late_work_and_extension(course):
    hand_out(course)
    text = body(course, late_penalty=2.5, extension_hours=24.0)
    assert "21.5 of 24 points." in text and "Well done" not in text
    assert "after the due date, for which 2.5 points are taken off." in text
    assert "You had 1 day more than the due date." in text
    assert "for which 1 point is taken off" in body(course, late_penalty=1.0)
    known = {"seconds_late": 3 * 86400.0, "late_rule": "10 % a day"}
    text = body(course, late_penalty=2.5, **known)
    assert "It came in 3 days after the due date" in text
    assert "taken off. The rule: 10 % a day." in text


def test_points_before_a_persons_decision_are_not_final(course):
    hand_out(course)
    grades = grades_of(change={"softmax": {"needs_manual_grade": True}})
    text = body(course, grades)
    assert "24 of 24 points so far." in text and "Well done" not in text
    assert "not final: a person is going to decide about softmax." in text
    assert student_summary(course, LESSON, grades, None).status == "not final"


def test_grade_by_hand_and_comment(course):
    hand_out(course)
    by_hand = {"manual": 1.0, "comment": "Nearly:\nsee me"}
    text = body(course, change={"softmax": by_hand})
    assert "softmax: all claims hold Graded by hand: 1 of 3 points instead of" in text
    assert "Comment on softmax: Nearly: see me" in text


def test_exercises_that_do_not_count(course):
    hand_out(course, excused=EXERCISES[:1])
    some = tuple(e for e in grades_of().exercises if e.exercise not in EXERCISES[:2])
    text = body(course, replace(grades_of(), exercises=some))
    assert f"did not contain it: {EXERCISES[0]}." in text
    assert f"for anybody: {EXERCISES[1]}." in text
    assert "18 of 18 points. Well done!" in text


def test_invalid_file(course):
    reason = "01.ipynb ends in the middle: it was not saved or sent to its end."
    hand_out(course, status="invalid", exercises=(), reason=reason)
    nothing = {name: {"auto": 0.0} for name in EXERCISES}
    grades = grades_of(change=nothing)
    text = body(course, grades)
    assert f"could not be graded yet: {reason} What to do: open" in text
    assert "says nothing about your answers" in text
    assert "Until then it has 0 of 24 points." in text
    assert "softmax" not in text
    assert student_summary(course, LESSON, grades, None).status == "invalid"


def test_nothing_handed_in(course):
    nobody = StudentGrades("amara", (), submitted=False, **AMARA)
    text = body(course, nobody)
    assert "nothing has come in from you for lesson 01" in text
    assert "Your due date is 2026-03-01 12:00 UTC." in text
    assert "points" not in text
    summary = student_summary(course, LESSON, nobody, None)
    assert summary.status == "not handed in" and "due" not in summary.body


def test_where_the_page_is(course):
    hand_out(course, secret="a" * 32)
    command = f"nbgrader fetch_feedback {LESSON}"
    assert command in body(course)
    link = Delivery(link="https://uni.example/{student}/{lesson}.html?{x}")
    assert f"https://uni.example/amara/{LESSON}.html?{{x}}" in body(
        course, delivery=link
    )
    attached = body(course, delivery=Delivery(attach=True))
    assert "is attached." in attached and command not in attached
    (course.root / AUTOGRADED / "amara" / LESSON / "submission_secret.txt").unlink()
    assert "page" not in body(course)


def test_student_without_a_name_is_greeted(course):
    hand_out(course)
    assert body(course, first_name="", last_name="").startswith("Hello, your notebook")


# --- who gets none ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("email", "sentence"),
    [
        ("", "amara has no e-mail address: enter it"),
        ("nobody", "amara has an e-mail address that is none, nobody: correct it"),
        ("a@b\nBcc: x@y.z", "amara has an e-mail address that is none, a@b"),
        ("a@b.c, x@y.z", "amara has an e-mail address that is none, a@b.c, x@y.z:"),
        ("ä@uni.example", "amara has an e-mail address that is none, ä@uni.example:"),
    ],
)
def test_student_without_an_address_is_named(course, email, sentence):
    hand_out(course)
    hand_out(course, "ben")
    people = {"amara": grades_of(email=email), "ben": grades_of("ben")}
    paths, left_out = written(course, people)
    assert [path.name for path in paths] == ["ben.eml"]
    assert len(left_out) == 1 and left_out[0].startswith(sentence)
    assert "\n" not in left_out[0]
    assert left_out[0].endswith("; only the CSV file has the message until then")
    assert [row["id"] for row in table(course)] == ["amara", "ben"]


def test_submission_that_is_not_graded_is_named(course):
    (course.root / "submitted" / "amara" / LESSON).mkdir(parents=True)
    nobody = StudentGrades("amara", (), submitted=False, **AMARA)
    paths, left_out = written(course, {"amara": nobody})
    assert not paths and "of amara is not graded yet" in left_out[0]


@pytest.mark.parametrize("student", ["../amara", "/etc/amara", "a\nb"])
def test_id_that_is_no_files_name_is_named(course, student):
    nobody = StudentGrades(student, (), submitted=False, **AMARA)
    paths, left_out = written(course, {student: nobody})
    assert not paths and "is no student's id" in left_out[0]


# --- files --------------------------------------------------------------------------


def test_message_has_the_headers_that_mailers_read(course):
    hand_out(course)
    sender = "Ada Löwe <ada@uni.example>"
    person = grades_of(first_name="Inês", last_name="O'Neill, PhD")
    (path,), _ = written(course, {"amara": person}, Delivery(sender))
    raw = path.read_bytes()
    assert raw.isascii() and b"\r\n" in raw and b"\n" not in raw.replace(b"\r\n", b"")
    message = read(path)
    assert message["Subject"] == "Feedback on lesson 01 (Dot product attention)"
    assert str(message["From"]) == sender
    (to,) = message["To"].addresses
    assert to.addr_spec == "amara@uni.example"
    assert to.display_name == "Inês O'Neill, PhD"
    assert message.get_content_type() == "text/plain"
    summary = student_summary(course, LESSON, person, None)
    assert message.get_content().replace("\r\n", "\n") == summary.body
    assert {"Subject", "From", "To"} < {*message} and "Bcc" not in message


def test_page_is_attached_as_it_is(course):
    hand_out(course)
    (path,), _ = written(course, {"amara": grades_of()}, Delivery(attach=True))
    (page,) = read(path).iter_attachments()
    assert page.get_filename() == f"{LESSON}.html"
    assert page.get_content_type() == "text/html"
    assert "<bdi>Amara Okafor</bdi>" in page.get_content()


def test_untrusted_text_is_in_no_header(course):
    cells, result, outputs = graded(TEXT, SENTENCE)
    text = autograded_notebook(COURSE, cells, result, outputs)
    write_autograded(course, LESSON, "amara", text)
    evil = "Eve\r\nBcc: victim@uni.example\r\n\r\n<script>"
    person = grades_of(
        change={"softmax": {"auto": 1.0, "comment": f"{TEXT}\r\nBcc: x@y.z"}},
        first_name=evil,
        last_name=evil,
        timestamp=evil,
    )
    (path,), left_out = written(course, {"amara": person})
    assert not left_out
    message = read(path)
    assert {*message} == {
        *("Subject", "To", "X-Unsent", "Content-Type"),
        *("Content-Transfer-Encoding", "MIME-Version"),
    }
    assert len(message["To"].addresses) == 1 and not message.is_multipart()
    content = message.get_content().replace("\r\n", "\n")
    assert not {"\x1b", "\u202e", "\r", "\x00"} & {*content}
    assert max(map(len, content.splitlines())) <= WIDTH


@pytest.mark.parametrize("sender", ["nobody", "a@b.c, d@e.f", "a@b.c\nBcc: d@e.f"])
def test_sender_that_is_no_address_is_refused(course, sender):
    with pytest.raises(CourseError, match=r"--from .* is no address: write it as"):
        written(course, {}, Delivery(sender))


def table(course):
    path = course.root / "build" / "summaries" / f"{LESSON}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def test_table_has_all_messages(course):
    hand_out(course)
    nobody = StudentGrades("ben", (), submitted=False, **AMARA)
    person = grades_of(last_name="=1+1")
    written(course, {"amara": person, "ben": nobody})
    amara, ben = table(course)
    assert amara["id"] == "amara" and amara["email"] == "amara@uni.example"
    assert amara["last_name"] == "'=1+1"  # no formula in a spreadsheet
    assert (amara["status"], ben["status"]) == ("graded", "not handed in")
    assert amara["body"] == student_summary(course, LESSON, person, None).body


def test_old_messages_of_a_class_are_removed(course):
    for student in ("amara", "ben"):
        hand_out(course, student)
    people = {"amara": grades_of(), "ben": grades_of("ben")}
    (first, second), _ = written(course, people)
    before = first.read_bytes()
    written(course, {"ben": people["ben"]}, whole_class=False)
    assert first.read_bytes() == before and len(table(course)) == 2
    written(course, {"ben": people["ben"]})
    assert not first.exists() and second.exists() and len(table(course)) == 1


def test_the_same_gradebook_gives_the_same_bytes(course):
    hand_out(course)
    people = {"amara": grades_of()}
    (path,), _ = written(course, people, Delivery(attach=True))
    before = path.read_bytes()
    written(course, people, Delivery(attach=True))
    assert path.read_bytes() == before


def test_folder_that_cannot_be_written_is_one_sentence(course):
    hand_out(course)
    Path(course.root, "build").write_text("")
    with pytest.raises(CourseError, match="messages could not be written") as refusal:
        written(course, {"amara": grades_of()})
    assert "\n" not in str(refusal.value)


def test_damaged_notebook_stops_nobody_else(course):
    for student in ("amara", "ben"):
        hand_out(course, student)
    path = course.root / AUTOGRADED / "amara" / LESSON / f"{LESSON}.ipynb"
    path.chmod(0o644)
    path.write_text(json.dumps([]))
    paths, left_out = written(course, {"amara": grades_of(), "ben": grades_of("ben")})
    assert len(paths) == 1 and "of amara is damaged" in left_out[0]
