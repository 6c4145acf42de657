"""``autograder grade`` as an instructor meets it."""

import contextlib
import errno
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from autograder.commands import grade as grade_module
from autograder.course import Course, CourseError
from autograder.gradebook import database
from autograder.gradebook.database import Gradebook
from autograder.grading import classroom
from autograder.grading.inside.isolation import Limits
from tests.grading import fake_workers
from tests.grading.class_folder import (
    RESULTS,
    TIMES,
    files,
    hand_in,
    lines,
    refusal,
    students,
)
from tests.submissions import LESSON, MAX_POINTS, Submission

FULL_DISK = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def fake(monkeypatch):
    """Grade without a sandbox: the student's name decides the result."""
    fake_workers.replace_workers(monkeypatch)


# --- files and sentences, without a sandbox --------------------------------------


def test_lines_are_in_the_order_of_the_students_names(root, fake, call):
    hand_in(root, "ben", "slow-one", "amara")
    code, out, _ = call("grade", "01", "--jobs", "2")
    assert code == 0
    assert students(root) == students(root, TIMES) == ["amara", "ben", "slow-one"]
    assert "seconds" not in "".join(lines(root))
    assert "amara                    1 of 2  softmax: wrong" in out
    assert "3 submissions in" in out
    assert RESULTS in out


def test_rows_have_the_points_of_the_gradebook(root, fake, call):
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.LatePolicy.late = '50 %'\n")
    with sqlite3.connect(root / "gradebook.db") as book:
        book.execute("UPDATE assignment SET duedate = '2026-03-01 12:00:00.000000'")
    hand_in(root, "amara", "bjarne")
    when = root / "submitted/amara" / LESSON / "timestamp.txt"
    when.write_text("2026-03-02 12:00:00 UTC")
    call("grade", "01")
    with sqlite3.connect(root / "gradebook.db") as book:
        book.execute("UPDATE grade SET manual_score = 1")
    _, out, _ = call("grade", "01")
    grades = Gradebook(Course(root)).grades(LESSON)
    rows = {line.split()[0]: line for line in out.splitlines()}
    for student, each in grades.items():
        points = f" {each.points:g} of {each.max_points:g}  softmax: by hand; "
        assert points in rows[student]
    assert grades["amara"].points * 2 == grades["bjarne"].points
    assert f"; late by 1 day: −{grades['amara'].points:g}" in rows["amara"]
    assert "late" not in rows["bjarne"]


def test_row_says_that_a_grade_by_hand_is_older_than_the_answer(root, fake, call):
    hand_in(root, "amara")
    call("grade", "01")
    with sqlite3.connect(root / "gradebook.db") as book:  # as formgrader enters it
        book.execute("UPDATE grade SET manual_score = 2, needs_manual_grade = 0")
    assert ": by hand" in call("grade", "01")[1]
    with sqlite3.connect(root / "gradebook.db") as book:  # as if the answer was another
        book.execute("UPDATE grade SET auto_score = 0.25")
    _, out, _ = call("grade", "01", "--anew")
    older = "2 by hand, older than the answer's 1: decide again in formgrader"
    assert f"softmax: {older}" in out


def test_folder_of_nobody_on_the_roster_is_named(root, fake, call):
    hand_in(root, "amara", "bjarne", "bjrane", "bjarne ")
    code, _, err = call("grade", "01")
    assert code == 0 and "roster" not in err  # none was entered
    roster = root / "class.csv"
    roster.write_text(
        "id,first_name,last_name\namara,Amara,Okafor\nbjarne,Bjarne,Vik\n"
    )
    (root / "gradebook.db").unlink()
    call("open", "01")
    assert call("roster", str(roster))[0] == 0
    code, _, err = call("grade", "01")
    rows = [row for row in err.splitlines() if "roster" in row]
    assert code == 0 and len(rows) == 2
    assert "'bjarne⟨U+0020⟩' is not on the roster (do you mean 'bjarne'?)" in rows[0]
    assert "'bjrane' is not on the roster (do you mean 'bjarne'?)" in rows[1]
    assert "roster" not in call("grade", "01")[2]  # said once: now they are students


def test_grader_fault_is_printed_recorded_and_exit_code_1(root, fake, call):
    hand_in(root, "amara", "fault", "zoe")
    code, out, err = call("grade", "01", "--jobs", "1")
    assert code == 1
    assert "KeyError: 'softmax'" in err
    assert students(root) == ["amara", "fault", "zoe"]
    bad = json.loads(lines(root)[1])
    assert bad["status"] == "invalid"
    assert bad["reason"] == (
        "the grader itself failed, please report this: KeyError: 'softmax'"
    )
    assert "1 invalid" in out


def test_submission_that_kills_three_workers_is_a_fault(root, fake, call):
    hand_in(root, "amara", "dies", "zoe")
    code, _, err = call("grade", "01", "--jobs", "1")
    assert code == 1
    assert "the grader died (-9)" in err
    assert students(root) == ["amara", "dies", "zoe"]


def test_grading_one_student_replaces_only_that_line(root, fake, call):
    hand_in(root, "amara", "ben", "zoe")
    call("grade", "01", "--jobs", "1")
    before = lines(root)
    code, out, _ = call("grade", "01", "--student", "ben", "--anew")
    after = lines(root)
    assert code == 0
    assert "1 submission in" in out
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] != before[1]  # another worker's number
    assert students(root) == ["amara", "ben", "zoe"]


def test_new_inputs_judge_the_class_again_under_another_seed(root, fake, call):
    hand_in(root, "amara", "ben")
    call("grade", "01")
    before = (root / "gradebook.seed").read_text()
    assert "2 of them as before" in call("grade", "01")[1]
    assert "0 of them as before" in call("grade", "01", "--anew")[1]
    assert (root / "gradebook.seed").read_text() == before
    code, out, _ = call("grade", "01", "--new-inputs")
    assert code == 0
    assert "0 of them as before" in out
    assert (root / "gradebook.seed").read_text() != before
    assert "2 of them as before" in call("grade", "01")[1]


def test_new_inputs_are_for_a_whole_class(root, fake, call):
    hand_in(root, "amara", "ben")
    call("grade", "01")
    before = (root / "gradebook.seed").read_text()
    code, _, message = call("grade", "01", "--student", "ben", "--new-inputs")
    assert code == 1
    assert "whole class" in message
    assert (root / "gradebook.seed").read_text() == before


@pytest.mark.parametrize("path", ["nbgrader_config.py/out.jsonl", "solutions"])
def test_new_inputs_without_a_file_for_results_leave_the_seed(root, fake, call, path):
    hand_in(root, "amara")
    call("grade", "01")
    before = (root / "gradebook.seed").read_text()
    output = str(root / path)
    assert call("grade", "01", "--new-inputs", "--output", output)[0] == 1
    assert (root / "gradebook.seed").read_text() == before
    assert not (root / "gradebook.seed.before").exists()


def test_one_student_of_an_ungraded_class_is_the_only_line(root, fake, call):
    hand_in(root, "amara", "ben")
    call("grade", "01", "--student", "ben")
    assert students(root) == ["ben"]


def test_student_who_left_is_removed_from_the_results(root, fake, call):
    hand_in(root, "amara", "ben")
    call("grade", "01")
    shutil.rmtree(root / "submitted" / "ben")
    call("grade", "01")
    assert students(root) == students(root, TIMES) == ["amara"]


def test_student_folder_whose_name_cannot_be_stored_is_left_out(root, fake, call):
    hand_in(root, "amara", os.fsdecode(b"jos\xe9"), "zoe")
    code, _, message = call("grade", "01")
    assert code == 1
    assert "'jos⟨U+DCE9⟩' is not graded: the folder's name holds U+DCE9" in message
    assert students(root) == ["amara", "zoe"]


def test_broken_earlier_results_are_written_again(root, fake, call):
    hand_in(root, "amara")
    (root / RESULTS).parent.mkdir(parents=True)
    (root / RESULTS).write_bytes(b"\xff\xfe")
    broken = 'no json\n{}\n[]\n3\n{"student": "ben", "po\n{"student": ["a"]}\n'
    (root / TIMES).write_text(broken)
    assert call("grade", "01")[0] == 0
    assert students(root) == students(root, TIMES) == ["amara"]


def test_grading_one_student_mends_a_broken_file(root, fake, call):
    hand_in(root, "amara", "ben", "zoe")
    call("grade", "01", "--jobs", "1")
    whole_lines = lines(root)
    (root / RESULTS).write_text(f"{whole_lines[0]}\nbroken\n3\n{whole_lines[2]}")
    call("grade", "01", "--student", "ben")
    assert students(root) == ["amara", "ben", "zoe"]
    assert (lines(root)[0], lines(root)[2]) == (whole_lines[0], whole_lines[2])


def test_results_can_be_written_elsewhere(root, fake, call, tmp_path):
    hand_in(root, "amara")
    path = tmp_path / "new" / "folder" / "out.jsonl"
    assert call("grade", "01", "--output", str(path))[0] == 0
    assert {each.name for each in path.parent.iterdir()} == {
        "out.jsonl",
        "out.times.jsonl",
    }
    assert not (root / RESULTS).exists()


@pytest.mark.parametrize("good", [0, 2], ids=["from the start", "while it grades"])
def test_full_disk_is_one_sentence_and_keeps_old_results(
    root, fake, call, monkeypatch, good
):
    hand_in(root, "amara")
    call("grade", "01")
    before = lines(root)
    written = []

    def full(*_):
        written.append(1)
        if len(written) > good:
            raise FULL_DISK

    hand_in(root, "ben")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        code, out, err = call("grade", "01")
    assert code == 1
    assert err.count("\n") == 1
    assert "could not be written" in err
    assert "No space left on device" in err
    assert ("amara" in out) == (good > 0)  # nothing is graded for nothing
    assert lines(root) == before
    assert files(root) == {Path(RESULTS).name, Path(TIMES).name, "journal.db"}
    assert call("grade", "01")[0] == 0  # with room again, it goes on
    assert students(root) == ["amara", "ben"]


@pytest.mark.parametrize("path", ["nbgrader_config.py/out.jsonl", "solutions"])
def test_path_that_takes_no_file_is_one_sentence(root, fake, call, path):
    """Below a file, and where a folder stands."""
    hand_in(root, "amara")
    message = refusal(call("grade", "01", "--output", str(root / path)))
    assert "could not be written" in message or "is a folder: name a file" in message


def test_refusal_while_grading_is_one_sentence(root, fake, call):
    hand_in(root, "refused")
    assert "cannot be isolated" in refusal(call("grade", "01"))
    assert lines(root) == []


def test_no_sandbox_warns_of_what_submissions_can_do(root, fake, call):
    hand_in(root, "amara")
    code, _, err = call("grade", "01", "--no-sandbox")
    assert code == 0
    assert "submissions run with your rights" in " ".join(err.split())


def test_class_without_submissions_is_one_sentence(root, call):
    message = refusal(call("grade", "01"))
    assert f"nobody has submitted {LESSON}" in message
    (root / "submitted").mkdir()
    assert refusal(call("grade", "01")) == message
    (root / "submitted" / "amara").mkdir()
    assert refusal(call("grade", "01")) == message
    (root / "submitted" / ".DS_Store").write_text("")
    assert refusal(call("grade", "01")) == message


def test_unknown_student_is_refused_with_the_known_ones(root, call):
    hand_in(root, "amara", "ben")
    message = refusal(call("grade", "01", "--student", "amra"))
    expected = f"amra has submitted nothing for {LESSON}; there are: amara, ben\n"
    assert message == expected


def test_unknown_lesson_is_refused_with_the_known_ones(root, call):
    message = refusal(call("grade", "77"))
    assert "no lesson named '77'; there are: " in message
    assert LESSON in message


def test_course_without_notebooks_says_how_to_build_them(root, call):
    hand_in(root, "amara")
    shutil.rmtree(root / "notebooks")
    assert "run `make build`" in refusal(call("grade", "01"))


def test_broken_released_notebook_says_how_to_build_it(root, call):
    hand_in(root, "amara")
    (root / "notebooks" / LESSON / f"{LESSON}.ipynb").write_text("{}")
    assert "run `make build` to make it anew" in refusal(call("grade", "01"))


def test_damaged_seed_stops_before_anything_starts(root, call):
    hand_in(root, "amara")
    (root / "gradebook.seed").write_text("short")
    assert "gradebook.seed holds no seed" in refusal(call("grade", "01"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_unreadable_submissions_folder_is_one_sentence(root, call):
    hand_in(root, "amara")
    (root / "submitted").chmod(0)
    try:
        assert "submitted/ cannot be read" in refusal(call("grade", "01"))
    finally:
        (root / "submitted").chmod(0o755)


def test_file_instead_of_the_submissions_is_one_sentence(root, call):
    (root / "submitted").write_text("")
    assert "submitted/ cannot be read (Not a directory)" in refusal(call("grade", "01"))


def test_outside_of_a_course_is_one_sentence(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not inside a course folder" in refusal(call("grade", "01"))


def test_negative_jobs_are_refused(call):
    code, _, err = call("grade", "01", "--jobs", "-1")
    assert code == 2
    assert "jobs" in err


@pytest.mark.parametrize(
    ("options", "configured", "seconds"),
    [
        ([], "", 300.0),
        ([], "c.AutogradeExporter.seconds_per_submission = 60", 60.0),
        (["--seconds-per-submission", "90"], "", 90.0),
        (
            ["--seconds-per-submission", "90"],
            "c.AutogradeExporter.seconds_per_submission = 60",
            90.0,
        ),
    ],
)
def test_seconds_of_a_submission_can_be_set(
    root, fake, call, monkeypatch, options, configured, seconds
):
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(configured + "\n")
    used = []

    class Recorded(grade_module.Workers):
        def __init__(self, course, settings):
            used.append(settings.budget.submission)
            super().__init__(course, settings)

    monkeypatch.setattr(grade_module, "Workers", Recorded)
    hand_in(root, "amara")
    assert call("grade", "01", *options)[0] == 0
    assert used == [seconds]


def test_seconds_that_are_no_number_are_one_sentence(root, call):
    hand_in(root, "amara")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.AutogradeExporter.seconds_per_submission = 'many'\n")
    assert "must be a number of seconds" in refusal(call("grade", "01"))


def test_times_that_cannot_be_are_named_and_stop_nobody(root, fake, call):
    def write(student, text):
        folder = root / "submitted" / student / LESSON
        (folder / "timestamp.txt").write_text(text)

    hand_in(root, "amara", "empty", "future", "long", "pipe", "nan", "zone")
    write("amara", "2026-03-01 12:00:00 UTC\n")
    write("empty", "")
    write("future", "9999-12-31 23:59:59 UTC")
    write("long", "2026-03-01 12:00:00 UTC" + " " * 1_000_000)
    write("nan", "NaN")
    write("zone", "2026-03-01 12:00:00 +99:99")
    os.mkfifo(root / "submitted" / "pipe" / LESSON / "timestamp.txt")
    code, out, err = call("grade", "01")
    assert code == 0
    assert len(out.splitlines()) == 8
    times = dict.fromkeys(["empty", "future", "long", "nan", "pipe", "zone"], "")
    assert sorted(line.partition(":")[0] for line in err.splitlines()) == [*times]
    assert err.count("whether it is late is not known") == len(times)
    grades = Gradebook(Course(root)).grades(LESSON)
    assert {name: each.timestamp for name, each in grades.items()} == times | {
        "amara": "2026-03-01 12:00:00"
    }


def test_default_jobs_fit_processors_and_memory(monkeypatch):
    limits = Limits()
    one = limits.memory * limits.processes + 2 * limits.disk
    sizes = {"SC_PAGE_SIZE": 1}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(64)})
    monkeypatch.setattr(os, "sysconf", lambda name: sizes[name])
    for memory, jobs in ((one // 2, 1), (3 * one, 3), (1000 * one, 64)):
        sizes["SC_PHYS_PAGES"] = memory
        assert classroom.default_jobs() == jobs


# --- what is known already -------------------------------------------------------


def test_second_run_grades_nothing_and_prints_the_same_rows(root, fake, call):
    hand_in(root, "amara", "ben")
    _, first, _ = call("grade", "01")
    before = lines(root), lines(root, TIMES)
    code, second, _ = call("grade", "01")
    assert code == 0
    assert second.splitlines()[:2] == sorted(first.splitlines()[:2])
    assert "2 of them as before" in second
    assert "0 of them as before" in first
    assert (lines(root), lines(root, TIMES)) == before


def test_only_a_resubmission_is_graded_anew(root, fake, call):
    hand_in(root, "amara", "ben")
    call("grade", "01", "--jobs", "1")
    before = lines(root)
    changed = Submission()
    changed.own("1 + 1")
    changed.write(root, "ben")
    _, out, _ = call("grade", "01", "--jobs", "1")
    assert "1 of them as before" in out
    assert lines(root)[0] == before[0]
    assert lines(root)[1] != before[1]


def test_grader_fault_is_retried_at_the_next_call(root, fake, call):
    hand_in(root, "fault")
    for _ in range(2):
        code, out, err = call("grade", "01")
        assert (code, "KeyError" in err, "0 of them as before" in out) == (
            1,
            True,
            True,
        )


def test_lost_graded_notebook_is_rewritten_without_grading(root, fake, call):
    hand_in(root, "amara")
    call("grade", "01")
    path = root / "autograded" / "amara" / LESSON / f"{LESSON}.ipynb"
    text = path.read_text(encoding="utf-8")
    path.unlink()
    assert "1 of them as before" in call("grade", "01")[1]
    assert path.read_text(encoding="utf-8") == text


def test_locked_gradebook_costs_no_verdict(root, fake, call, monkeypatch):
    hand_in(root, "amara", "ben")
    monkeypatch.setattr(database, "MAX_WAIT", 0.1)
    gradebook = Gradebook(Course(root))
    with contextlib.closing(sqlite3.connect(gradebook.path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        message = refusal(call("grade", "01"))
        assert "gradebook.db" in message
    other_hand = Path(root / "gradebook.db")
    assert other_hand.exists()
    assert call("grade", "01")[0] == 0
    assert [*gradebook.grades(LESSON)] == ["amara", "ben"]


def test_gradebook_locked_at_the_end_says_how_to_go_on(root, fake, call, monkeypatch):
    hand_in(root, "amara")
    locked = CourseError("gradebook.db is in use")

    def enter(*_):
        raise locked

    with monkeypatch.context() as patched:
        patched.setattr(Gradebook, "enter", enter)
        code, out, err = call("grade", "01")
    assert code == 1
    assert "amara" in out
    assert "gradebook.db is in use. The verdicts are kept" in err
    assert students(root) == ["amara"]
    code, out, _ = call("grade", "01")
    assert (code, "1 of them as before" in out) == (0, True)
    (grades,) = Gradebook(Course(root)).grades(LESSON).values()
    assert (grades.student, grades.points) == ("amara", 1.0)


def test_no_gradebook_leaves_it_untouched(root, fake, call):
    hand_in(root, "amara")
    (root / "gradebook.db").write_text("not a gradebook")
    assert "gradebook.db" in refusal(call("grade", "01"))
    assert call("grade", "01", "--no-gradebook")[0] == 0
    assert students(root) == ["amara"]
    assert (root / "gradebook.db").read_text() == "not a gradebook"


def test_folder_whose_name_is_no_id_costs_nobody_else(root, fake, call):
    hand_in(root, "amara", "<script>alert(1)")
    code, out, err = call("grade", "01")
    assert code == 1
    assert "'<script>alert(1)' is not graded: " in err
    assert students(root) == ["amara"]
    assert "<script>" not in out


@pytest.mark.sandbox
def test_text_that_cannot_be_encoded_stops_no_class(root, call):
    hand_in(root, "zoe")
    submission = Submission()
    submission.own("print('\\ud83d')\n'\\udc00'")
    submission.write(root, "amara")
    code, _, err = call("grade", "01", "--jobs", "1")
    assert (code, err) == (0, "")
    results = [json.loads(line) for line in lines(root)]
    assert [each["student"] for each in results] == ["amara", "zoe"]
    assert all(each["points"] == MAX_POINTS for each in results)
