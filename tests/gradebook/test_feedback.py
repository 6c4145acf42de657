"""Feedback pages: what they tell, and that they are safe to open."""

import json
import os
from dataclasses import replace
from itertools import pairwise

import pytest

from autograder.course import Course, CourseError
from autograder.gradebook.autograded import METADATA_KEY, autograded_notebook
from autograder.gradebook.feedback import feedback_page, write_feedback
from autograder.gradebook.folders import AUTOGRADED, write_autograded
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.grading.result import SubmissionResult
from autograder.system import find_browser
from tests.browser import page_of as opened
from tests.gradebook import untrusted
from tests.gradebook.untrusted import HARMLESS, SENTENCE, TEXT, Page, graded
from tests.submissions import COURSE, EXERCISES, LESSON

REASON = "01.ipynb ends in the middle: it was not saved or sent to its end."
COMMENT = "Nearly there:\nlook at <b>d_k</b> again."


def grades_of(student="amara", change=None, **others):
    """Return grades as the engine enters them: 2 of 3 points each.

    change : exercise to what a person has changed about it
    """
    blank = (Grade(name, 3.0, auto=2.0) for name in EXERCISES)
    exercises = tuple(
        replace(each, **(change or {}).get(each.exercise, {})) for each in blank
    )
    return StudentGrades(student, exercises, **others)


def notebook(text=HARMLESS, sentence=HARMLESS, **changes):
    cells, result, outputs = graded(text, sentence)
    result = replace(result, **changes)
    return json.loads(autograded_notebook(COURSE, cells, result, outputs))


def page(grades=None, **changes):
    return Page(feedback_page(notebook(**changes), grades or grades_of()))


def section(html, exercise):
    """Return the text of a page from an exercise's heading to the next one's."""
    text = html.text
    start = text.index(f"\n{exercise} · ")
    others = (text.find(f"\n{name} · ", start + 1) for name in EXERCISES)
    return text[start : min((at for at in others if at > 0), default=len(text))]


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def hand_out(course, *students):
    """Write graded notebooks; return the grades of their students."""
    for student in students:
        result = untrusted.result(HARMLESS, student)
        cells, _, outputs = graded(HARMLESS, HARMLESS)
        text = autograded_notebook(COURSE, cells, result, outputs)
        write_autograded(course, LESSON, student, text)
    return {student: grades_of(student) for student in students}


# --- what it shows -----------------------------------------------------------------


def test_page_has_the_points_of_each_exercise_and_of_all():
    html = page()
    assert "Lesson 01: Dot product attention" in html.text
    assert "Feedback for amara" in html.text
    assert f"{2 * len(EXERCISES)} of {3 * len(EXERCISES)} points" in html.text
    for name in EXERCISES:
        assert f"{name}1 of 2 hold2 of 3" in html.text  # a row of the table
        assert "✗ Harmless words. (0 of 1 point)" in section(html, name)
        assert "✓ It holds (2 points)" in section(html, name)


def test_rows_and_sections_link_to_each_other():
    html = page()
    targets = {at["href"][1:] for name, at in html.elements if name == "a"}
    ids = [at["id"] for _, at in html.elements if "id" in at]
    assert targets == {"exercises", *(f"exercise-{name}" for name in EXERCISES)}
    assert targets <= {*ids}
    assert len(ids) == len({*ids})


def test_headings_come_in_order():
    levels = [int(name[1]) for name, _ in page().elements if name in ("h1", "h2", "h3")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_page_shows_only_the_answers_code():
    changed = notebook(text="answer = 3\n\n# the end")
    changed["cells"].append(
        {"cell_type": "code", "metadata": {}, "source": "my_secret", "outputs": []}
    )
    changed["cells"][0]["source"] = ["a list of ", "lines"]
    html = Page(feedback_page(changed, grades_of()))
    assert html.text.count("answer = 3\n\n# the end") == len(EXERCISES)
    assert "my_secret" not in html.text


def test_page_shows_what_a_person_has_changed():
    by_hand = {"manual": 1.5, "extra": 1.0, "comment": COMMENT}
    html = page(grades_of(change={"softmax": by_hand}))
    text = section(html, "softmax")
    assert "2.5 of 3 points" in text
    assert (
        "Graded by hand: 1.5 of 3 points instead of 2. Extra credit: 1 point." in text
    )
    assert COMMENT in text
    assert "b" not in html.names
    assert "by hand" not in section(html, "attention")


def test_manual_grade_equal_to_the_engines_is_no_change():
    text = section(page(grades_of(change={"softmax": {"manual": 2.0}})), "softmax")
    assert "Graded by hand: 2 of 3 points." in text


def test_late_penalty_is_shown_and_taken_off():
    html = page(grades_of(late_penalty=2.5))
    assert "2.5 points taken off, because it was handed in late." in html.text
    assert f"{2 * len(EXERCISES) - 2.5:g} of {3 * len(EXERCISES)} points" in html.text


def test_extension_is_shown():
    text = page(grades_of(extension_hours=48.0)).text
    assert "You had 2 days more than the due date." in text


def test_page_praises_full_marks_and_else_says_how_to_go_on():
    full = grades_of(change={name: {"manual": 3.0} for name in EXERCISES})
    assert "Well done" in page(full).text
    assert "Well done" not in page().text
    assert "question that leads on" in page().text


def test_page_shows_repairs_and_troubles():
    html = page(repairs=("A cell is back.",), troubles=("`f()` stopped.",))
    assert "What was put right" in html.text and "A cell is back." in html.text
    assert "What did not run through" in html.text and "`f()` stopped." in html.text
    assert "About your notebook" not in page(repairs=(), troubles=()).text


def test_page_of_an_invalid_file_has_reason_and_way_out():
    result = SubmissionResult("pavel", LESSON, "invalid", (), REASON)
    graded_file = json.loads(autograded_notebook(COURSE, (), result, {}))
    nothing = {name: {"auto": 0.0} for name in EXERCISES}
    by_hand = {"auto": 0.0, "manual": 1.0, "comment": COMMENT}
    grades = grades_of("pavel", {**nothing, "attention": by_hand})
    html = Page(feedback_page(graded_file, grades))
    assert REASON in html.text and "What to do" in html.text
    assert "pre" not in html.names  # the lesson's stubs are no answers
    assert "softmaxnot graded0 of 3" in html.text
    assert COMMENT in section(html, "attention")
    assert {at["href"] for name, at in html.elements if name == "a"} == {
        *("#exercises", "#exercise-attention")
    }


def test_exercise_of_the_gradebook_only_keeps_its_points():
    grades = grades_of()
    more = replace(grades, exercises=(*grades.exercises, Grade("older", 5.0, 4.0)))
    assert "oldernot graded4 of 5" in page(more).text


# --- it does nothing ----------------------------------------------------------------


def hostile():
    by_hand = {"comment": TEXT, "manual": 1.0}
    names = {"first_name": SENTENCE, "last_name": SENTENCE, "timestamp": SENTENCE}
    grades = grades_of(SENTENCE, {"softmax": by_hand}, **names)
    return feedback_page(notebook(TEXT, SENTENCE), grades)


def test_page_full_of_attacks_is_inert_and_shows_them():
    html = Page(hostile())
    html.assert_inert()
    assert [*html.names] and {"b", "a"} & html.names == {"a"}
    for mark in untrusted.MARKS:
        assert html.text.count(mark) > 3 * len(EXERCISES)
    assert "49" not in html.text


def test_invisible_characters_are_spelled_out():
    text = hostile()
    assert "⟨U+202E⟩gnp.live" in text
    assert not {"\u202e", "\u2066", "\x1b", "\x00", "\x08"} & {*text}
    text.encode("utf-8")


def test_page_of_an_invalid_file_with_attacks_is_inert():
    result = SubmissionResult(SENTENCE, LESSON, "invalid", (), SENTENCE)
    graded_file = json.loads(autograded_notebook(COURSE, (), result, {}))
    Page(feedback_page(graded_file, grades_of(SENTENCE))).assert_inert()


def test_page_forbids_scripts_and_requests():
    (policy,) = [
        at["content"]
        for name, at in Page(hostile()).elements
        if at.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "script-src" not in rules
    assert rules["img-src"] == "data:"


@pytest.mark.browser
@pytest.mark.skipif(not find_browser(), reason="neither Chromium nor Chrome is here")
@pytest.mark.parametrize("policy", [True, False], ids=["as it is", "without a policy"])
def test_page_in_a_browser_runs_and_requests_nothing(tmp_path, policy):
    text = hostile()
    if not policy:  # the page is safe without it
        text = text.replace("Content-Security-Policy", "X-None")
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    requests, dialogs = [], []
    with opened("about:blank") as tab:
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("dialog", lambda dialog: (dialogs.append(dialog), dialog.dismiss()))
        tab.goto(path.as_uri())
        tab.wait_for_load_state("networkidle")
        tab.hover("h1")
        assert tab.locator("script, img, iframe, svg, [onerror]").count() == 0
        assert "<script>alert(1)</script>" in tab.inner_text("body")
        wide = tab.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert requests == [path.as_uri()]
    assert not dialogs
    assert not wide  # a long untrusted word does not push the page apart


# --- files ----------------------------------------------------------------------------


def test_write_feedback_writes_a_page_for_each_student(course):
    grades = hand_out(course, "amara", "ben")
    left_out = []
    written = write_feedback(course, LESSON, None, grades, left_out.append)
    folder = course.root / "feedback"
    names = ("amara", "ben")
    assert written == [folder / name / LESSON / f"{LESSON}.html" for name in names]
    assert "Feedback for <bdi>ben</bdi>" in written[1].read_text(encoding="utf-8")
    assert left_out == []


def test_student_without_a_graded_notebook_is_named(course):
    grades = hand_out(course, "amara") | {"zoe": grades_of("zoe")}
    left_out = []
    written = write_feedback(course, LESSON, ["zoe", "amara"], grades, left_out.append)
    assert len(written) == 1
    assert left_out == [
        f"zoe has no graded notebook for {LESSON}: grade first, then the feedback can "
        "be made"
    ]


def test_student_without_grades_is_named(course):
    grades = hand_out(course, "amara", "ben", "zoe")
    del grades["amara"]
    grades["zoe"] = replace(grades["zoe"], submitted=False)
    left_out = []
    assert len(write_feedback(course, LESSON, None, grades, left_out.append)) == 1
    assert [sentence.split(":")[0] for sentence in left_out] == [
        f"the gradebook has no grades of amara for {LESSON}",
        f"the gradebook has no grades of zoe for {LESSON}",
    ]


def damage(how):
    text = json.dumps(notebook())
    data = json.loads(text)
    if how == "cells":
        data["cells"] = [3]
    elif how == "result":
        data["metadata"][METADATA_KEY]["result"]["exercises"] = [{"cases": 3}]
    elif how == "ours":
        del data["metadata"][METADATA_KEY]
    elif how == "points":
        data["metadata"][METADATA_KEY]["result"]["exercises"][0]["cases"][1][
            "points"
        ] = "x"
    broken = {
        "cut": text[:200],
        "empty": "",
        "list": "[]",
        "deep": "[" * 100_000,
        "bytes": "\udcff",
    }
    return broken.get(how, json.dumps(data))


@pytest.mark.parametrize(
    "how",
    ["cut", "empty", "list", "deep", "bytes", "cells", "result", "ours", "points"],
)
def test_damaged_notebook_stops_nobody_else(course, how):
    grades = hand_out(course, "amara", "ben")
    path = course.root / AUTOGRADED / "amara" / LESSON / f"{LESSON}.ipynb"
    path.chmod(0o644)
    path.write_bytes(damage(how).encode("utf-8", "surrogateescape"))
    left_out = []
    assert len(write_feedback(course, LESSON, None, grades, left_out.append)) == 1
    assert left_out == [
        "the graded notebook of amara is damaged: grade again, then the feedback can "
        "be made"
    ]


def test_full_disk_leaves_the_old_page(course, monkeypatch):
    grades = hand_out(course, "amara")
    (path,) = write_feedback(course, LESSON, None, grades)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    grades = {"amara": grades_of(late_penalty=1.0)}
    with pytest.raises(CourseError, match="No space left on device") as refusal:
        write_feedback(course, LESSON, None, grades)
    assert "\n" not in str(refusal.value)
    assert path.read_bytes() == before
