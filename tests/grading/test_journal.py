"""The journal: rows are kept whole, under a key of all that they depend on."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from autograder.checking.registry import load
from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.course import Course, CourseError
from autograder.grading import identity
from autograder.grading import journal as module
from autograder.grading.course_copy import make_copy
from autograder.grading.identity import course_version, digest_of, verdict_key
from autograder.grading.journal import FORMAT, NAME, Journal, JournalEntry
from autograder.grading.release import Cell, load_release
from autograder.grading.result import CodeResult, SubmissionResult
from tests.grading.test_every_lesson import lessons
from tests.submissions import COURSE, LESSON

CASES = (
    CaseVerdict("by_hand", "A claim", "wrong", 0.0, 1.0, True, "It is ½."),
    CaseVerdict("of_ones", "Another", "ok", 1.0, 1.0, False),
)
EXERCISE = ExerciseResult(
    *("softmax", 1.0, 2.0, CASES),
    diagnosis="no_scale",
    blamed=("scaled_scores",),
    flags=(Flag("softmax", "torch.softmax", "return torch.softmax(x, -1)"),),
    report="1 of 2 claims hold",
)
JUDGED = CodeResult(
    (EXERCISE,), ("a cell stopped",), {3: [{"name": "stdout", "text": "é"}]}
)


@pytest.fixture
def journal(tmp_path):
    with Journal(Course(tmp_path)) as opened:
        yield opened


def result_of(student):
    return SubmissionResult(
        student, LESSON, "graded", (EXERCISE,), "", ("Put right.",), ("x",)
    )


def entry(student, **changes):
    row = JournalEntry(student, "digest", "key", result_of(student).as_json())
    return replace(row, **changes)


def test_verdicts_survive_the_journal(journal):
    assert journal.verdicts("key") is None
    journal.add_verdicts("key", JUDGED, {"all": 0.123456})
    assert journal.verdicts("key") == JUDGED
    assert journal.verdicts("another") is None


def test_results_are_the_latest_of_each_student(journal):
    journal.add_result(LESSON, entry("zoe"))
    journal.add_result(LESSON, entry("amara", line=result_of("old").as_json()))
    journal.add_result(LESSON, entry("amara"))
    journal.add_result("02_other", entry("ben"))
    assert journal.results(LESSON) == [result_of("amara"), result_of("zoe")]
    assert journal.latest_of(LESSON, "amara") == entry("amara")
    assert journal.latest_of(LESSON, "ben") is None


def test_forgotten_student_has_no_result(journal):
    journal.add_result(LESSON, entry("amara"))
    journal.add_result(LESSON, JournalEntry("amara", "", "", ""))
    assert journal.results(LESSON) == []
    assert journal.latest_of(LESSON, "amara") is None


def test_times_are_no_part_of_the_verdicts(journal):
    journal.add_verdicts("key", JUDGED, {"all": 0.123456})
    journal.add_result(LESSON, entry("amara"))
    journal.add_result(LESSON, entry("nobody-has-judged", key=""))
    times = dict(journal.times(LESSON))
    assert times == {"amara": {"all": 0.1235}, "nobody-has-judged": {}}
    assert "0.123" not in JUDGED.as_json()


def test_added_row_is_there_for_the_next_process_at_once(journal, tmp_path):
    journal.add_verdicts("key", JUDGED, {})
    with Journal(Course(tmp_path)) as other:
        assert other.verdicts("key") == JUDGED


def test_added_rows_are_never_changed(journal):
    journal.add_verdicts("key", JUDGED, {})
    journal.add_verdicts("key", replace(JUDGED, troubles=()), {})
    assert journal.verdicts("key") == replace(JUDGED, troubles=())
    with closing(sqlite3.connect(journal.path)) as open_file:
        (count,) = open_file.execute("SELECT count(*) FROM verdicts").fetchone()
    assert count == 2


def refusal(course):
    with pytest.raises(CourseError) as caught:
        Journal(course)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_journal_of_another_version_is_refused_and_stays(tmp_path):
    course = Course(tmp_path)
    with Journal(course) as journal:
        journal.add_verdicts("key", JUDGED, {})
    with closing(sqlite3.connect(tmp_path / NAME)) as open_file:
        open_file.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = (tmp_path / NAME).read_bytes()
    assert f"of format {FORMAT + 1}" in refusal(course)
    assert "move it away" in refusal(course)
    assert (tmp_path / NAME).read_bytes() == before


def test_other_programs_database_is_refused_and_stays(tmp_path):
    path = tmp_path / NAME
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as open_file:
        open_file.execute("CREATE TABLE recipes (name TEXT)")
    assert "of something else" in refusal(Course(tmp_path))


@pytest.mark.parametrize("text", ["no database at all", "SQLite format 3\0 and then"])
def test_damaged_journal_is_one_sentence(tmp_path, text):
    path = tmp_path / NAME
    path.parent.mkdir(parents=True)
    path.write_text(text * 200)
    assert "is damaged, or no journal at all" in refusal(Course(tmp_path))
    assert path.read_text() == text * 200


def test_unreadable_verdicts_are_one_sentence(journal):
    journal.add_verdicts("key", JUDGED, {})
    with closing(sqlite3.connect(journal.path)) as open_file:
        open_file.execute("UPDATE verdicts SET judged = '{}'")
        open_file.commit()
    with pytest.raises(CourseError, match="is damaged"):
        journal.verdicts("key")


def test_text_that_cannot_be_stored_is_no_damage(journal):
    with pytest.raises(ValueError, match="surrogates not allowed"):
        journal.add_result(LESSON, entry("amara", line="\ud83d"))
    assert journal.results(LESSON) == []


def test_journal_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "a" / NAME).mkdir(parents=True)
    assert "cannot be used" in refusal(Course(tmp_path / "a"))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "build").write_text("")
    assert "cannot be made" in refusal(Course(tmp_path / "b"))


def test_locked_journal_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WRITER_SECONDS", 0.05)
    with (
        Journal(Course(tmp_path)) as journal,
        closing(sqlite3.connect(journal.path)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CourseError, match=r"locked.*call again"):
            journal.add_verdicts("key", JUDGED, {})
        assert journal.verdicts("key") is None


def test_full_disk_is_one_sentence_and_old_rows_stay(tmp_path):
    with Journal(Course(tmp_path)) as journal:
        journal.add_verdicts("key", JUDGED, {})
        (pages,) = journal._database.execute("PRAGMA page_count").fetchone()
        journal._database.execute(f"PRAGMA max_page_count = {pages}")
        big = replace(JUDGED, troubles=("x" * 100_000,))
        with pytest.raises(CourseError, match=r"full.*what was graded so far is kept"):
            journal.add_verdicts("big", big, {})
        assert journal.verdicts("key") == JUDGED
        assert journal.verdicts("big") is None


CELLS = (Cell("solution", "def softmax(x):\n    return x", "softmax"),)
# As the first version of the journal's format wrote them: it must read them for ever.
OLD_RESULT = (
    '{"exercises": [{"blamed": ["attention"], "cases": [{"case": "by_hand", "claim": '
    '"It holds", "max_points": 2.0, "points": 0.0, "status": "wrong", "visible": true, '
    '"why": "Not so."}], "diagnosis": "no_scale", "exercise": "softmax", "flags": '
    '[{"exercise": "softmax", "line": "x", "what": "torch.softmax"}], "max_points": '
    '2.0, "points": 0.0, "report": "report"}], "lesson": "01_dot_product_attention", '
    '"max_points": 2.0, "points": 0.0, "reason": "", "repairs": ["Put right."], '
    '"status": "graded", "student": "amara", "troubles": ["x"]}'
)
OLD_KEY = "45962933108840a730214b8c0e3a7e689dd259fe8937af9d439022a49527b68d"


def test_result_of_an_old_journal_is_read_and_written_alike(journal):
    journal.add_result(LESSON, JournalEntry("amara", "digest", "key", OLD_RESULT))
    (result,) = journal.results(LESSON)
    assert result.as_json() == OLD_RESULT


def test_verdict_key_of_old_cells_is_the_same():
    assert verdict_key("v1", 1, CELLS, isolated=False) == OLD_KEY


@pytest.mark.parametrize(
    "other",
    [
        verdict_key("v2", 1, CELLS),
        verdict_key("v1", 2, CELLS),
        verdict_key("v1", 1, (replace(CELLS[0], role="own"),)),
        verdict_key("v1", 1, ()),
        verdict_key("v1", 1, None),
        verdict_key("v1", 1, CELLS, isolated=False),
    ],
)
def test_verdict_key_depends_on_all_that_verdicts_do(other):
    assert other != verdict_key("v1", 1, CELLS)


def test_verdict_key_is_the_same_for_the_same():
    assert verdict_key("v1", 1, CELLS) == verdict_key("v1", 1, [*CELLS])


def test_course_version_depends_on_the_lesson(tmp_path):
    course = Course(tmp_path)
    path = course.learner(LESSON)
    path.parent.mkdir(parents=True)
    text = COURSE.learner(LESSON).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert course_version(course, LESSON) == course_version(COURSE, LESSON)
    path.write_text(text + "\n", encoding="utf-8")
    assert course_version(course, LESSON) != course_version(COURSE, LESSON)


def packages(tmp_path, *modules):
    """Make the two packages with an empty module each, and these besides."""
    for name in ("autograder/checking/judging.py", "course_lib/attention.py", *modules):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path / "autograder", tmp_path / "course_lib"


@pytest.mark.parametrize(
    "name",
    [
        *("autograder/new.py", "autograder/exercises/new.py"),
        *("autograder/grading/inside/new.py", "autograder/a_new_folder/new.py"),
        *("course_lib/new.py", "course_lib/nn/training/new.py"),
        # What their modules import decides what a submission can import.
        *("course_lib/figures/new.py", "course_lib/experiments/new.py"),
        *("course_lib/corpora/new.py", "course_lib/experiments/new.json"),
        # A folder's name decides nothing deeper down.
        "autograder/grading/figures/new.py",
    ],
)
def test_new_module_of_the_grader_changes_the_version(tmp_path, name):
    before = digest_of(packages(tmp_path))
    assert digest_of(packages(tmp_path, name)) != before


@pytest.mark.parametrize("lesson", lessons())
def test_whatever_a_submission_can_import_decides(tmp_path, lesson):
    release = load_release(COURSE, lesson)
    exercises = [load(name) for name in release.exercises]
    make_copy(tmp_path, exercises, release.own_code, release.set_up)
    copied = {
        path.relative_to(tmp_path / "course").as_posix()
        for path in (tmp_path / "course" / "course_lib").rglob("*.*")
    }
    deciding = {name for name, _ in identity._sources(identity.PACKAGES)}
    assert copied - deciding == set()
    assert len(copied) > 40


@pytest.mark.parametrize("folder", sorted(identity.NOT_DECIDING))
def test_new_module_of_an_excluded_folder_keeps_the_version(tmp_path, folder):
    before = digest_of(packages(tmp_path))
    assert digest_of(packages(tmp_path, f"{folder}/inner/new.py")) == before


@pytest.mark.parametrize("folder", sorted(identity.NOT_DECIDING))
def test_excluded_folder_exists(folder):
    assert (COURSE.root / folder).is_dir()


def test_module_that_moves_changes_the_version(tmp_path):
    one = digest_of(packages(tmp_path / "one", "autograder/grading/moved.py"))
    other = digest_of(packages(tmp_path / "other", "autograder/checking/moved.py"))
    assert one != other
