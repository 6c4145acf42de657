"""Feedback pages: what they tell, and that they are safe to open."""

import json
import os
from dataclasses import replace
from itertools import pairwise

import pytest

from autograder.course import CourseError
from autograder.gradebook.autograded import METADATA_KEY, autograded_notebook
from autograder.gradebook.feedback import feedback_page, write_feedback
from autograder.gradebook.folders import AUTOGRADED, write_autograded
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.student_feedback import code_lines, feedback_of
from autograder.grading.release import load_release
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


def page_text(graded_file, grades, docstrings=None):
    return feedback_page(feedback_of(graded_file, grades, docstrings))


def page(grades=None, **changes):
    return Page(page_text(notebook(**changes), grades or grades_of()))


def section(html, exercise):
    """Return the text of a page from an exercise's heading to the next one's."""
    text = html.text
    start = text.index(f"\n{exercise} · ")
    others = (text.find(f"\n{name} · ", start + 1) for name in EXERCISES)
    return text[start : min((at for at in others if at > 0), default=len(text))]


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
        text = section(html, name)
        assert text.startswith(f"\n{name} · 2 of 3 points · 1 of 2 claims hold\n")
        assert "✗Harmless words. (0 of 1 point)" in text
        assert "✓It holds (2 points)" in text


def test_list_on_top_links_to_what_has_points_left():
    full = {"softmax": {"manual": 3.0}, "attention": {"auto": 3.0}}
    html = page(grades_of(change=full))
    targets = [at["href"][1:] for name, at in html.elements if name == "a"]
    ids = [at["id"] for _, at in html.elements if "id" in at]
    in_order = load_release(COURSE, LESSON).exercises
    left = [name for name in in_order if name not in full]
    assert targets == [f"exercise-{name}" for name in left]
    assert {*targets} <= {*ids} and len(ids) == len({*ids})
    words = " ".join(html.text.split())
    assert f"Points are left in {left[0]} (1), {left[1]} (1)," in words


def test_full_points_are_folded_and_others_are_not():
    full = {"softmax": {"auto": 3.0}, "attention": {"auto": 3.0, "comment": COMMENT}}
    html = page(grades_of(change=full))
    folded = {
        name
        for name in EXERCISES
        for text, around in html.texts
        if text == name and "summary" in around
    }
    assert folded == {"softmax"}  # a comment is not hidden


def test_first_failing_claim_is_open_and_the_others_are_folded():
    html = page()
    for words, is_open in (("Harmless words. (0 of 1 point)", True), ("It", False)):
        around = [at for text, at in html.texts if text.startswith(words)]
        assert len(around) == len(EXERCISES)
        assert all(("details" in each) != is_open for each in around)


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
    html = Page(page_text(changed, grades_of()))
    for name in EXERCISES:
        assert "answer = 3\n\n# the end\n" in section(html, name)
    assert "my_secret" not in html.text


DOCSTRING = '    """Return x.\n\n    x : a number\n    """'
ANSWER = f"import math\n\ndef softmax(x):\n{DOCSTRING}\n    y = 2 * x\n    return y"


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \n"])
def test_lessons_docstring_is_one_line_and_numbers_stay(end):
    lines = code_lines(ANSWER.replace("\n", end), DOCSTRING)
    assert [each.text for each in lines] == [
        *("import math", "", "def softmax(x):"),
        '    """…"""  # the lesson\'s docstring',
        *("    y = 2 * x", "    return y"),
    ]
    assert [each.stands_for for each in lines] == [1, 1, 1, 4, 1, 1]


@pytest.mark.parametrize(
    "docstring", ["", '    """Return y."""', f"{DOCSTRING}\n    z = 3"]
)
def test_students_own_docstring_stays(docstring):
    assert "\n".join(each.text for each in code_lines(ANSWER, docstring)) == ANSWER


def test_page_has_the_docstring_of_no_answer():
    html = Page(page_text(notebook(ANSWER), grades_of(), {"softmax": DOCSTRING}))
    assert "x : a number" not in section(html, "softmax")
    assert "x : a number" in section(html, "attention")
    (cut,) = [at for _, at in html.elements if at.get("class") == "line cut"]
    assert cut["style"] == "counter-increment: line 4"


def test_long_answers_are_folded():
    long = page(text="\n".join(f"x = {n}" for n in range(13)))
    assert long.text.count("Your answer (13 lines)") == len(EXERCISES)
    assert "Your answer" not in page(text="x = 1\n" * 12).text


def test_own_cells_are_shown_folded_as_they_were_written():
    html = page(text="note < 3 & *x*")
    note = [around for text, around in html.texts if text == "note < 3 & *x*"]
    folded = [around for around in note if "details" in around]
    assert len(folded) == 2 * len(EXERCISES)  # prose and code for each
    assert f"Your own cells · {2 * len(EXERCISES)}" in html.text


def test_exercises_that_do_not_count_are_named():
    grades = grades_of()
    fewer = tuple(e for e in grades.exercises if e.exercise not in EXERCISES[:2])
    html = page(replace(grades, exercises=fewer), excused=EXERCISES[:1])
    excused, dropped = EXERCISES[:2]
    words = " ".join(html.text.split())
    assert f"did not contain it: {excused}." in words
    assert f"for anybody: {dropped}." in words
    assert f"\n{excused} · " not in html.text


def test_points_are_not_final_before_a_persons_decision():
    html = page(
        grades_of(change={"softmax": {"needs_manual_grade": True, "auto": 3.0}})
    )
    assert "Not final yet: a person is going to decide about softmax." in html.text
    assert "so far" in html.text and "so far" not in page().text


def unwritten(*names):
    """Return changes after which some exercises are not answered."""
    result = untrusted.result(HARMLESS)
    return [
        replace(
            each,
            points=0.0,
            cases=tuple(replace(c, status="missing", points=0.0) for c in each.cases),
        )
        if each.exercise in names
        else each
        for each in result.exercises
    ]


def test_unwritten_exercises_are_a_line_each():
    exercises = tuple(unwritten("softmax", "attention"))
    html = page(grades_of(), exercises=exercises)
    assert "Not written yet: softmax, attention." in html.text
    assert section(html, "softmax").strip() == (
        "softmax · 2 of 3 points · not written yet"
    )
    assert "Nothing is written yet" not in html.text
    nothing = page(grades_of(), exercises=tuple(unwritten(*EXERCISES)))
    assert "Nothing is written yet." in nothing.text
    assert "Points are left" not in nothing.text


@pytest.mark.parametrize(
    ("why", "step"),
    [
        ("Your `f` stopped with KeyError: 3 (line 2).", "Begin at that line"),
        ("Your `f` returned 3. It should return 4.", "Make this call"),
    ],
)
def test_next_step_where_no_diagnosis_asks(why, step):
    report = f"softmax: 1 of 2 claims hold\n  ✓ It holds\n  ✗ Other\n      {why}"
    judged = untrusted.verdict("softmax", HARMLESS)
    plain = replace(judged, report=report, flags=())
    assert step in page(exercises=(plain,)).text
    asked = replace(plain, report=report + "\n→ Which axis?", diagnosis="no_scale")
    text = page(exercises=(asked,)).text
    assert step not in text and "Which axis?" in text


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


def test_late_penalty_says_how_late_and_by_which_rule():
    rule = "10 % a day; a day that has begun counts whole"
    html = page(grades_of(late_penalty=2.5, seconds_late=90000.0, late_rule=rule))
    assert f"handed in 1 day and 1 hour late. The rule: {rule}." in html.text


def test_extension_is_shown():
    text = page(grades_of(extension_hours=48.0)).text
    assert "You had 2 days more than the due date." in text


def test_page_praises_full_marks_and_else_says_how_to_go_on():
    full = grades_of(change={name: {"manual": 3.0} for name in EXERCISES})
    assert "Well done" in page(full).text
    assert "Well done" not in page().text
    assert "run the check below an exercise" in page().text


def test_page_shows_repairs_and_troubles():
    html = page(repairs=("A cell is back.",), troubles=("`f()` stopped.",))
    assert "About your notebook" in html.text and "A cell is back." in html.text
    assert "f() stopped." in html.text
    assert "About your notebook" not in page(repairs=(), troubles=()).text


def test_page_of_an_invalid_file_has_reason_and_way_out():
    result = SubmissionResult("pavel", LESSON, "invalid", (), REASON)
    graded_file = json.loads(autograded_notebook(COURSE, (), result, {}))
    nothing = {name: {"auto": 0.0} for name in EXERCISES}
    by_hand = {"auto": 0.0, "manual": 1.0, "comment": COMMENT}
    grades = grades_of("pavel", {**nothing, "attention": by_hand})
    html = Page(page_text(graded_file, grades))
    assert REASON in html.text and "What to do" in html.text
    assert "pre" not in html.names  # the lesson's stubs are no answers
    assert "softmax · 0 of 3 points · not graded" in html.text
    assert COMMENT in section(html, "attention")


def test_exercise_of_the_gradebook_only_keeps_its_points():
    grades = grades_of()
    more = replace(grades, exercises=(*grades.exercises, Grade("older", 5.0, 4.0)))
    assert "older · 4 of 5 points · not graded" in page(more).text


# --- it does nothing ----------------------------------------------------------------


def hostile():
    by_hand = {"comment": TEXT, "manual": 1.0}
    names = {"first_name": SENTENCE, "last_name": SENTENCE, "timestamp": SENTENCE}
    grades = grades_of(SENTENCE, {"softmax": by_hand}, **names)
    return page_text(notebook(TEXT, SENTENCE), grades)


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
    Page(page_text(graded_file, grades_of(SENTENCE))).assert_inert()


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
