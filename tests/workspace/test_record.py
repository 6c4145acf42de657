"""A completion record: what it holds, and that it can be judged again by others."""

import json
import shutil
from dataclasses import replace

import pytest

from autograder.course import Course, CourseError
from autograder.workspace import record as module
from autograder.workspace.progress import keep_check, keep_put_off
from autograder.workspace.record import (
    CompletionRecord,
    RecordedLesson,
    read_record,
    record_of,
    write_record,
)
from tests.submissions import COURSE, LESSON, Submission

OWN = """def softmax(x, axis=-1):
    shifted = helper(x, axis)
    return shifted / shifted.sum(axis=axis, keepdims=True)
"""
HELPER = """def helper(x, axis):
    return np.exp(x - x.max(axis=axis, keepdims=True))
"""
WRONG = OWN.replace("axis=axis, keepdims", "axis=0, keepdims")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Make a learner's folder: softmax by their own code, attention by the course's."""
    shutil.copytree(COURSE.root / "notebooks", tmp_path / "notebooks")
    for name in ("nbgrader_config.py", "releases.json"):
        shutil.copy(COURSE.root / name, tmp_path)
    submission = Submission()
    submission.answer("softmax", OWN)
    submission.own(HELPER, above="softmax")
    path = tmp_path / "work" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(submission.text(), encoding="utf-8")
    course = Course(tmp_path)
    for exercise in ("softmax", "attention", "scaled_scores"):
        keep(course, exercise, holding=5)
    monkeypatch.chdir(tmp_path)
    return course


def keep(course, exercise, holding):
    keep_check(
        course.work,
        LESSON,
        exercise,
        holding=holding,
        claims=5,
        points=1.0,
        max_points=5.0,
    )


def recorded(*cells, lesson=LESSON, solved=("softmax",), name=""):
    """Return a record that is whole in itself, whatever the cells are."""
    times = dict.fromkeys(solved, "2026-11-29T10:00:00.000+00:00")
    part = RecordedLesson(lesson, "01 Lesson", "", times, cells)
    return CompletionRecord([part], name, "2026-11-29T10:00:00.000+00:00", "0.1.0")


@pytest.mark.sandbox
def test_record_is_judged_again_somewhere_else(course, call, tmp_path, monkeypatch):
    code, out, err = call("record", "--name", "Ada <Lovelace>")
    assert (code, err) == (0, "") and out.startswith("3 solved exercises: ")
    folder = course.work / "record"
    page = (folder / "record.html").read_text(encoding="utf-8")
    assert "Ada &lt;Lovelace&gt;" in page and "<script" not in page
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(folder / "record.json", elsewhere)
    monkeypatch.chdir(elsewhere)
    code, out, err = call("verify", "record.json")
    assert (code, err) == (0, ""), out
    assert "Record of Ada <Lovelace>, made on " in out
    assert "✓ softmax: solved\n" in out
    assert "3 of 3 exercises are solved by it" in out
    (digest,) = (row for row in out.splitlines() if row.startswith("Digest: "))
    assert digest.removeprefix("Digest: ") in page


@pytest.mark.sandbox
def test_what_solves_nothing_is_found_though_its_digests_fit(tmp_path, call):
    path = tmp_path / "record.json"
    wrong = recorded(("", HELPER), ("softmax", WRONG))
    path.write_text(wrong.as_json(), encoding="utf-8")
    code, out, _ = call("verify", path)
    assert code == 1
    assert "✗ softmax: " in out and " of 7 claims hold\n" in out
    assert "0 of 1 exercises are solved by it" in out


def test_unknown_lesson_is_said(tmp_path, call):
    path = tmp_path / "record.json"
    record = recorded(("softmax", OWN), lesson="77_future")
    path.write_text(record.as_json(), encoding="utf-8")
    code, out, _ = call("verify", path)
    assert code == 1 and "✗ softmax: its lesson is not in this version" in out


def test_record_has_the_learners_own_code_alone(course):
    (lesson,) = record_of(course).lessons
    assert [*lesson.solved] == ["softmax", "scaled_scores", "attention"]
    assert lesson.answers["softmax"] == OWN
    assert ("", HELPER) in lesson.cells
    texts = [text for _, text in lesson.cells]
    assert not any("check(" in text or "plt." in text for text in texts)


def test_exercise_put_off_or_started_over_is_not_in_it(course):
    keep(course, "similarity_attention", holding=4)
    keep_put_off(course.work, LESSON, "bilinear_scores", 12.0)
    (lesson,) = record_of(course).lessons
    assert {"similarity_attention", "bilinear_scores"}.isdisjoint(lesson.solved)


def test_nothing_solved_is_a_sentence(course, call):
    shutil.rmtree(course.work / ".progress")
    code, out, err = call("record")
    assert (code, out) == (1, "") and "there is no solved exercise yet" in err
    assert not (course.work / "record").exists()


def test_broken_notebook_is_named(course, call):
    (course.work / LESSON / f"{LESSON}.ipynb").write_text("[", encoding="utf-8")
    code, _, err = call("record")
    assert code == 1 and f"work/{LESSON}/{LESSON}.ipynb is no notebook any more" in err


def test_record_comes_back_as_it_was_written(tmp_path):
    record = recorded(("", HELPER), ("softmax", OWN), name="Zoë")
    [lesson] = record.lessons
    write_record(tmp_path, record)
    copy = read_record(tmp_path / "record.json")
    assert copy.digest == record.digest and copy.name == "Zoë"
    assert copy.lessons == [replace(lesson, cells=[*lesson.cells])]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(name="Somebody"), "its digest does not fit"),
        (
            lambda data: data["lessons"][0]["cells"][0].update(source=WRONG),
            "the answer to softmax is not the one whose digest is recorded",
        ),
        (lambda data: data.update(format="other"), "is no record of"),
        (lambda data: data.update(version=2), "is a record of form 2"),
        (lambda data: data["lessons"][0]["cells"].clear(), "is no record of"),
        (lambda data: data.pop("lessons"), "is no record of"),
    ],
)
def test_changed_record_is_refused(tmp_path, change, message):
    data = json.loads(recorded(("softmax", OWN)).as_json())
    change(data)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(CourseError, match=message):
        read_record(path)


@pytest.mark.parametrize("content", ["", "[", "null", "[" * 100_000, "\ud800"])
def test_what_is_no_record_is_refused(tmp_path, content):
    path = tmp_path / "record.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(CourseError, match="is no record of"):
        read_record(path)


def test_large_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    write_record(tmp_path, recorded(("softmax", OWN)))
    with pytest.raises(CourseError, match="is no record of"):
        read_record(tmp_path / "record.json")
