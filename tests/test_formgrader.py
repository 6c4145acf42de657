"""An instructor's journey through formgrader, with an attacker in the class."""

import os
import shutil

import psutil
import pytest

from autograder.checking.matrix import GRADING_SEED, judge_function
from autograder.checking.points import format_number, format_number_of
from autograder.checking.registry import load
from autograder.course import Course
from autograder.gradebook.database import Gradebook
from autograder.system import find_browser
from tests.browser import REPOSITORY, course_copy, jupyter_server, page_of
from tests.formgrader import (
    NO_NAME,
    REMARK,
    Formgrader,
    autograder,
    hand_in_class,
    no_scale,
    poison,
)
from tests.submissions import LESSON, MAX_POINTS, REQUIRED_POINTS

AS_ROOT = ["--allow-root"] if os.geteuid() == 0 else []
NOTEBOOK = f"{LESSON}.ipynb"
SOFTMAX, SCORES = load("softmax").points, load("scaled_scores").points
BY_HAND = 6.0

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not find_browser(), reason="neither Chromium nor Chrome is here"
    ),
]


@pytest.fixture(scope="module")
def journey(tmp_path_factory):
    """Walk the journey once; record what the instructor sees at each stop."""
    folder = course_copy(tmp_path_factory.mktemp("course"))
    shutil.copytree(REPOSITORY / "solutions", folder / "solutions")
    hand_in_class(folder)
    journey = {"graded": autograder(folder, "grade", "01")}
    with jupyter_server(folder, "jupyter_server", *AS_ROOT) as (address, server):
        with page_of("about:blank") as page:
            formgrader = Formgrader(page, address)
            visit_lists(formgrader, journey)
            read(formgrader, journey)
            grade_by_hand(formgrader, journey, folder)
            press_buttons(formgrader, journey, folder)
            make_feedback(formgrader, journey, folder)
            journey |= {
                "ran": [*formgrader.ran],
                "dialogs": [*formgrader.dialogs],
                "foreign": [*formgrader.foreign],
                "active": [*formgrader.active],
            }
            journey["control"] = poisoned_page(formgrader)
        started = psutil.Process(server.pid).children(recursive=True)
        journey["warm"] = {process.name() for process in started}
        server.terminate()
        server.wait(60)
        _, journey["left"] = psutil.wait_procs(started, timeout=30)
    return journey


def visit_lists(formgrader, journey):
    formgrader.go("manage_assignments")
    formgrader.inspect("lessons")
    journey["lesson"] = formgrader.row(LESSON)
    formgrader.go("manage_submissions", LESSON)
    formgrader.inspect("class")
    journey["class"] = {row[1]: row for row in formgrader.rows()}
    formgrader.go("gradebook", LESSON, LESSON)
    formgrader.page.get_by_role("button", name="Show All Names").click()
    formgrader.inspect("notebooks")
    journey["notebooks"] = {row[1]: row for row in formgrader.rows()}


def read(formgrader, journey):
    formgrader.open("bjarne")
    formgrader.inspect("bjarne")
    journey["answer"] = formgrader.cell("scaled_scores-comment")
    journey["verdicts"] = formgrader.cell("check_scaled_scores")
    formgrader.open("mallory")
    formgrader.inspect("mallory")
    journey["untrusted"] = formgrader.page.locator("body").inner_text()
    folder = formgrader.page.url.partition("?")[0]
    strays = [formgrader.page.goto(folder + name) for name in ("evil.html", "evil.svg")]
    journey["strays"] = [answer.status for answer in strays]


def grade_by_hand(formgrader, journey, folder):
    formgrader.open("bjarne")
    formgrader.type("check_scaled_scores", format_number(BY_HAND))
    formgrader.type("scaled_scores-comment", REMARK)
    formgrader.inspect("by-hand")
    journey["by hand"] = {"": scaled_scores(folder)}
    for option in ([], ["--anew"]):
        autograder(folder, "grade", "01", *option)
        journey["by hand"][" ".join(["grade", *option])] = scaled_scores(folder)
    formgrader.go("manage_submissions", LESSON)
    formgrader.press("autograde", "bjarne")
    journey["by hand"]["button"] = scaled_scores(folder)
    formgrader.open("bjarne")
    journey["field"] = formgrader.page.locator("#check_scaled_scores").input_value()


def press_buttons(formgrader, journey, folder):
    for student in ("nuru", "orla"):
        no_scale(student).write(folder, student)
    formgrader.go("manage_submissions", LESSON)
    journey["new"] = [formgrader.row("nuru")]
    journey["dialog"] = {}
    for student in ("nuru", "orla", "pavel", "mallory", NO_NAME):
        journey["dialog"][student] = formgrader.press("autograde", student)
    formgrader.inspect("class-again")
    journey["new"] += [formgrader.row("nuru"), formgrader.row("orla")]
    journey["broken"] = [formgrader.row("pavel")]
    journey["folder"] = sorted(
        path.name for path in (folder / "autograded/mallory" / LESSON).iterdir()
    )
    formgrader.go("manage_students")
    formgrader.inspect("students")
    journey["students"] = Gradebook(Course(folder)).grades(LESSON).keys()
    formgrader.open("pavel")
    formgrader.inspect("pavel")
    journey["broken"].append(formgrader.page.locator("body").inner_text())


def make_feedback(formgrader, journey, folder):
    autograder(folder, "feedback", "01")
    pages = {
        student: folder / "feedback" / student / LESSON / f"{LESSON}.html"
        for student in ("bjarne", "mallory")
    }
    journey["ours"] = {student: path.read_text() for student, path in pages.items()}
    formgrader.go("manage_submissions", LESSON)
    for student in pages:
        formgrader.press("generate-feedback", student)
    journey["button's"] = {student: path.read_text() for student, path in pages.items()}
    for student, path in pages.items():
        formgrader.page.goto(path.as_uri())
        formgrader.inspect(f"feedback-{student}")
        journey[f"feedback of {student}"] = formgrader.page.locator("body").inner_text()


def poisoned_page(formgrader):
    """Return what is noticed where a page does run untrusted text."""
    for record in (formgrader.ran, formgrader.dialogs, formgrader.foreign):
        record.clear()
    formgrader.active.clear()
    formgrader.go("manage_assignments")
    formgrader.page.set_content(poison("page"))
    formgrader.inspect("control")
    formgrader.page.get_by_role("link").click()
    formgrader.page.wait_for_timeout(200)
    return {
        "ran": [*formgrader.ran],
        "dialogs": formgrader.dialogs,
        "foreign": formgrader.foreign,
        "active": formgrader.active,
    }


def scaled_scores(folder):
    """Return what the gradebook has of bjarne's answer."""
    grades = Gradebook(Course(folder)).grades(LESSON, ["bjarne"])["bjarne"]
    return next(each for each in grades.exercises if each.exercise == "scaled_scores")


def without_scale():
    """Return what scaled_scores pays for the misconception that bjarne has."""
    exercise = load("scaled_scores")
    (wrong,) = (each for each in exercise.misconceptions if each.name == "no_scale")
    return judge_function(exercise, wrong.function, exercise.cases, GRADING_SEED).points


def out_of_required(points):
    """Return points as formgrader writes them."""
    return f"{format_number(points)} / {format_number(REQUIRED_POINTS)}"


def test_formgrader_lists_the_lesson_with_its_submissions(journey):
    assert "6" in journey["lesson"]


def test_formgrader_lists_the_class_as_it_was_graded(journey):
    lost = {"amara": 0, "bjarne": SCORES - without_scale(), "mallory": SOFTMAX}
    points = {"jomo": 0, "pavel": 0}
    points |= {student: MAX_POINTS - part for student, part in lost.items()}
    for student, expected in points.items():
        assert journey["class"][student][3:5] == ["graded", out_of_required(expected)]
    assert {*journey["class"]} - {*points} == {NO_NAME}
    assert journey["class"][NO_NAME][3:5] == ["needs autograding", ""]


def test_manual_grading_lists_the_graded_notebooks(journey):
    assert {*journey["notebooks"]} == {"amara", "bjarne", "jomo", "mallory", "pavel"}
    points = MAX_POINTS - SCORES + without_scale()
    assert journey["notebooks"]["bjarne"][2] == out_of_required(points)


def test_open_submission_shows_the_answer_and_its_verdicts(journey):
    assert "return q @ np.swapaxes(k, -1, -2)" in journey["answer"]
    assert "scaled_scores: 2 of 6 claims hold" in journey["verdicts"]
    assert "✗ Each sequence of a batch is scored by itself" in journey["verdicts"]
    assert "✓ The queries and keys are not modified" in journey["verdicts"]
    assert "Your dot products are not divided" in journey["verdicts"]


@pytest.mark.parametrize("sign", ["ran", "dialogs", "foreign", "active"])
def test_untrusted_content_never_runs(journey, sign):
    assert journey[sign] == []


@pytest.mark.parametrize("sign", ["ran", "dialogs", "foreign", "active"])
def test_untrusted_content_that_ran_would_be_noticed(journey, sign):
    assert journey["control"][sign]


def test_untrusted_text_is_shown_as_text(journey):
    for where in ("markdown", "raw", "code", "printed"):
        assert poison(where) in journey["untrusted"]
    assert "stopped with ValueError: <script>ran('answer')" in journey["untrusted"]


def test_files_next_to_a_notebook_are_not_served(journey):
    assert journey["strays"] == [404, 404]
    assert journey["folder"] == [NOTEBOOK]


def test_button_grades_a_new_submission(journey):
    before, *after = journey["new"]
    assert before[3] == "needs autograding"
    points = out_of_required(MAX_POINTS - SCORES + without_scale())
    assert [row[3:5] for row in after] == [["graded", points]] * 2
    for student in ("nuru", "orla"):
        assert f"Successfully autograded '{LESSON}'" in journey["dialog"][student]


def test_button_gives_a_broken_file_its_row_and_reason(journey):
    row, opened = journey["broken"]
    assert row[3:5] == ["graded", out_of_required(0)]
    assert "This notebook could not be graded." in opened
    assert f"{NOTEBOOK} ends in the middle" in opened


def test_unsafe_student_id_is_named_by_command_and_button(journey):
    for words in (journey["graded"].stderr, journey["dialog"][NO_NAME]):
        assert "the folder's name holds <" in words
    assert journey["graded"].returncode == 1


def test_unsafe_student_id_is_never_entered(journey):
    # nbgrader's page of one student shows a name as it is: its script would run there
    assert NO_NAME not in journey["students"]
    assert "nuru" in journey["students"]


def test_manual_grade_survives_every_regrade(journey):
    assert {*journey["by hand"]} == {"", "grade", "grade --anew", "button"}
    by_hand = without_scale(), BY_HAND, REMARK
    for grade in journey["by hand"].values():
        assert (grade.auto, grade.manual, grade.comment) == by_hand
    assert journey["field"] == format_number(BY_HAND)


def test_command_and_button_make_the_same_feedback(journey):
    assert journey["ours"] == journey["button's"]


def test_feedback_shows_manual_grade_and_comment(journey):
    assert REMARK in journey["feedback of bjarne"]
    points = format_number_of(BY_HAND, SCORES)
    words = f"Graded by hand: {points} points instead of "
    words += format_number(without_scale())
    assert words in journey["feedback of bjarne"]


def test_no_process_outlives_the_server(journey):
    assert "bwrap" in journey["warm"]
    assert journey["left"] == []
