"""What a page has noted in a notebook is taken over by ``work/``, once."""

import json

import pytest

from autograder.course.releases import PAGE_KEY
from autograder.workspace.home import Home
from autograder.workspace.page_progress import take_page_progress
from autograder.workspace.progress import keep_check, reopen
from tests.workspace.course_of_two import FIRST, Learner

TIME = "2026-01-02T03:04:05.678Z"
CHECK = {"time": TIME, "holding": 2, "claims": 5, "points": 3.5, "attempts": 4}


@pytest.fixture
def learner(tmp_path):
    return Learner(tmp_path)


def note(learner, page):
    """Put what a page has noted into the first lesson's copy."""
    path = learner.folder() / f"{FIRST}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["metadata"][PAGE_KEY] = page
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_solved_and_begun_exercises_are_those_of_the_page(learner):
    checked = {name: json.dumps(CHECK) for name in ("softmax", "scaled_scores")}
    note(learner, {"solved": {"softmax": TIME}, "checked": checked})
    assert take_page_progress(learner.course) == ["softmax", "scaled_scores"]
    home = Home.of(learner.course)
    states = {each.name: home.state(each) for each in home.lessons[0].exercises}
    assert states == {"softmax": "solved", "scaled_scores": "begun"}
    record = learner.record("scaled_scores")
    assert {key: record[key] for key in ("holding", "claims", "attempts")} == {
        "holding": 2,
        "claims": 5,
        "attempts": 4,
    }
    assert record["points"] == 3.5 and record["lesson"] == FIRST
    assert take_page_progress(learner.course) == []


def test_what_work_knows_stays(learner):
    note(learner, {"solved": {"softmax": TIME}})
    keep_check(
        learner.work, FIRST, "softmax", holding=1, claims=5, points=1, max_points=8
    )
    reopen(learner.work, "softmax")
    before = learner.record()
    assert take_page_progress(learner.course) == []
    assert learner.record() == before


@pytest.mark.parametrize(
    "page",
    [
        None,
        [],
        {"solved": [], "checked": 3},
        {"solved": {"softmax": "yesterday"}},
        {"solved": {"softmax": 3, "../softmax": TIME, "unknown": TIME}},
        {"checked": {"softmax": "[1]"}},
        {"checked": {"softmax": "{}"}},
        {"checked": {"softmax": "{"}},
        {"checked": {"softmax": json.dumps(CHECK | {"holding": "x"})}},
        {"checked": {"softmax": json.dumps(CHECK | {"claims": -1})}},
        {"checked": {"softmax": json.dumps(CHECK | {"points": float("nan")})}},
        {"checked": {"softmax": json.dumps(CHECK | {"time": "2026-01-02"})}},
    ],
)
def test_odd_notes_are_left_out(learner, page):
    note(learner, page)
    assert take_page_progress(learner.course) == []
    folder = learner.work / ".progress"
    assert not folder.exists() or [*folder.glob("*.json")] == []


def test_broken_copy_costs_nothing(learner):
    (learner.folder() / f"{FIRST}.ipynb").write_text("{")
    assert take_page_progress(learner.course) == []


def test_odd_note_costs_no_other(learner):
    checked = {"softmax": "{", "scaled_scores": json.dumps(CHECK)}
    note(learner, {"checked": checked, "solved": {"softmax": TIME}})
    assert take_page_progress(learner.course) == ["softmax", "scaled_scores"]
