"""A lesson through nbgrader's exchange, from its release to the student's own page."""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash

from autograder.commands.grade import GradeOptions, grade
from autograder.course import Course
from autograder.gradebook.folders import copy_for_exchange, write_autograded
from autograder.grading.release import load_release
from autograder.grading.submission import Submission as SubmittedFile
from tests.grading.fake_workers import replace_workers
from tests.grading.ordinary import as_ordinary_user, why_not
from tests.processes import run_in
from tests.submissions import COURSE, LESSON, Submission, open_course

SECRET, TIMESTAMP = "submission_secret.txt", "timestamp.txt"
MOMENT = "2026-03-01 12:00:00 UTC"
SECRETS = {"amara": "a1" * 64, "ben": "b2" * 64}
API = """
import sys
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import PyFileConfigLoader
config = PyFileConfigLoader("nbgrader_config.py", path=".").load_config()
api, lesson = NbGraderAPI(config=config), sys.argv[1]
for student in sys.argv[2:]:
    for step in (api.autograde, api.generate_feedback):
        answer = step(lesson, student)
        assert answer["success"], answer
"""
NBGRADER = (sys.executable, "-m", "nbgrader")
AUTOGRADER = (sys.executable, "-m", "autograder")
LOOK_AROUND = """
import os
found = [d for d, _, names in os.walk("/") if "submission_secret.txt" in names]
print("secrets:", [each for each in found if "/nbgrader/tests/" not in each])
"""


def call(root, *command):
    """Run a command in a course folder; return what it has printed."""
    run = run_in(root, *command)
    assert run.returncode == 0, run.stdout + run.stderr
    return " ".join((run.stdout + run.stderr).split())


def hand_in(root, student, secret):
    """Write a right answer where nbgrader collects it, with what the exchange adds."""
    path = Submission().write(root, student)
    path.with_name(TIMESTAMP).write_text(MOMENT)
    path.with_name(SECRET).write_text(secret)
    return path


# --- the whole way, between accounts ------------------------------------------------


class Student:
    """A real account of this machine, and the files in its home."""

    def __init__(self, folder, name, exchange):
        subprocess.run(["useradd", "--no-create-home", name], check=True)
        self.name, self.account = name, pwd.getpwnam(name)
        self.exchange = f"--Exchange.root={exchange}"
        self.home = folder / name
        self.home.mkdir(mode=0o700)

    def run(self, *command):
        """Run a command as this student; return the finished process."""
        user = {"user": self.account.pw_uid, "group": self.account.pw_gid}
        return subprocess.run(
            as_ordinary_user(command, self.home, **user, start=self.home),
            capture_output=True,
            text=True,
            timeout=300,
        )

    def nbgrader(self, step):
        options = ("--course=attention", self.exchange)
        run = self.run(*NBGRADER, step, LESSON, *options)
        assert run.returncode == 0, run.stdout + run.stderr

    def hand_in(self, submission):
        self.nbgrader("fetch_assignment")
        path = self.home / LESSON / f"{LESSON}.ipynb"
        path.write_text(submission.text())  # the file that was fetched stays its own
        self.nbgrader("submit")

    def fetched_pages(self):
        """Fetch feedback anew; return the texts of the pages."""
        shutil.rmtree(self.home / LESSON / "feedback", ignore_errors=True)
        self.nbgrader("fetch_feedback")
        pages = (self.home / LESSON / "feedback").rglob("*.html")
        return [path.read_text() for path in pages]


@pytest.fixture(scope="module")
def collected():
    """Release a lesson, have two students hand it in, collect; nothing is graded."""
    with contextlib.ExitStack() as stack:
        # Not in tmp_path: pytest closes the folder above it to others.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        exchange = folder / "exchange"
        exchange.mkdir()
        exchange.chmod(0o777)
        root = open_course(folder / "course")
        root.chmod(0o700)
        option = f"--Exchange.root={exchange}"
        call(root, *NBGRADER, "release_assignment", LESSON, option)
        students = []
        for name in ("amara", "ben"):
            name = f"{name}-{os.getpid()}"
            stack.callback(subprocess.run, ["userdel", name], check=False)
            students.append(Student(folder, name, exchange))
        right, wrong = Submission(), Submission()
        right.own(LOOK_AROUND)
        wrong.answer("softmax", "def softmax(scores):\n    return scores")
        for student, submission in zip(students, (right, wrong), strict=True):
            student.hand_in(submission)
        call(root, *NBGRADER, "collect", LESSON, option)
        yield root, exchange, students


def grade_with_autograder(root, _):
    call(root, *AUTOGRADER, "grade", "01")
    call(root, *AUTOGRADER, "feedback", "01")


def grade_with_nbgrader(root, _):
    call(root, *NBGRADER, "autograde", LESSON)
    call(root, *NBGRADER, "generate_feedback", LESSON)


def grade_with_formgrader(root, students):
    call(root, sys.executable, "-c", API, LESSON, *(each.name for each in students))


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.skipif(why_not() != "", reason=why_not() or "it can be done")
@pytest.mark.parametrize(
    "way", [grade_with_autograder, grade_with_nbgrader, grade_with_formgrader]
)
def test_each_student_fetches_the_own_page_and_no_other(collected, way):
    root, exchange, students = collected
    released = exchange / "attention" / "feedback"
    for made in (root / "autograded", root / "feedback", released):
        shutil.rmtree(made, ignore_errors=True)
    way(root, students)
    option = f"--Exchange.root={exchange}"
    call(root, *NBGRADER, "release_feedback", LESSON, option)
    for student, other in zip(students, reversed(students), strict=True):
        (page,) = student.fetched_pages()
        assert f"Feedback for {student.name}" in page
        assert other.name not in page
    amara, ben = students
    assert ben.run("ls", str(released)).returncode != 0
    for path in (root / "feedback", root / "submitted", amara.home / LESSON):
        assert ben.run("ls", str(path)).returncode != 0
    graded = root / "autograded" / amara.name / LESSON / f"{LESSON}.ipynb"
    assert "secrets: []" in graded.read_text()
    for kind in ("csv", "canvas", "moodle"):
        call(root, *AUTOGRADER, "export", "--to", kind)
    call(root, *AUTOGRADER, "report", "01")
    secrets = [path.read_bytes() for path in (root / "submitted").rglob(SECRET)]
    assert len(secrets) == 2
    for path in filter(Path.is_file, root.rglob("*")):
        if path.name != SECRET:
            assert not any(secret in path.read_bytes() for secret in secrets), path


# --- the secret ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path.with_name(TIMESTAMP)),
        lambda path: path.mkdir(),
        lambda path: path.write_text(""),
        lambda path: path.write_text("short"),
        lambda path: path.write_text("../" * 40),
        lambda path: path.write_bytes(b"\xff" * 128),
        lambda path: path.write_text("a" * 1_000_000),
    ],
)
def test_secret_that_is_none_is_ignored(root, write):
    path = hand_in(root, "amara", SECRETS["amara"])
    release = load_release(COURSE, LESSON)
    assert SubmittedFile(release, "amara", path).secret == SECRETS["amara"]
    path.with_name(SECRET).unlink()
    assert SubmittedFile(release, "amara", path).secret == ""
    write(path.with_name(SECRET))
    assert SubmittedFile(release, "amara", path).secret == ""


def test_collect_takes_only_a_secret_of_nbgraders_form(root, tmp_path):
    inbound = tmp_path / "exchange" / "attention" / "inbound"
    for student, secret in (
        ("amara", SECRETS["amara"]),
        ("ben", "../ben"),
        ("zoe", ""),
    ):
        sent = inbound / f"{student}+{LESSON}+{MOMENT}+abc"
        sent.mkdir(parents=True)
        (sent / TIMESTAMP).write_text(MOMENT)
        (sent / f"{LESSON}.ipynb").write_text("{}")
        if student == "zoe":
            (sent / SECRET).symlink_to(root / "gradebook.db")
        else:
            (sent / SECRET).write_text(secret)
    option = f"--Exchange.root={tmp_path / 'exchange'}"
    owner = "--ExchangeCollect.check_owner=False"
    output = call(root, *NBGRADER, "collect", LESSON, option, owner)
    secrets = {path.parts[-3]: path for path in (root / "submitted").rglob(SECRET)}
    assert list(secrets) == ["amara"]
    assert secrets["amara"].read_text() == SECRETS["amara"]
    for student in ("ben", "zoe"):
        assert f"{student}: no {SECRET}, by which the exchange" in output


# --- from grading to the release ----------------------------------------------------


def test_same_notebook_handed_in_again_brings_its_new_secret(root, monkeypatch):
    replace_workers(monkeypatch)
    course, folder = Course(root), root / "autograded" / "amara" / LESSON
    path = hand_in(root, "amara", SECRETS["amara"])
    grade(course, LESSON, GradeOptions())
    assert (folder / SECRET).read_text() == SECRETS["amara"]
    before = (folder / f"{LESSON}.ipynb").stat().st_mtime_ns
    path.with_name(SECRET).write_text(SECRETS["ben"])
    grade(course, LESSON, GradeOptions())
    assert (folder / SECRET).read_text() == SECRETS["ben"]
    assert (folder / f"{LESSON}.ipynb").stat().st_mtime_ns == before
    path.with_name(SECRET).unlink()
    grade(course, LESSON, GradeOptions())
    assert {file.name for file in folder.iterdir()} == {f"{LESSON}.ipynb", TIMESTAMP}


def test_feedback_has_time_and_secret_of_the_graded_submission(root):
    course, folder = Course(root), root / "feedback" / "amara" / LESSON
    folder.mkdir(parents=True)
    write_autograded(course, LESSON, "amara", "{}", MOMENT, SECRETS["amara"])
    hand_in(root, "amara", SECRETS["ben"])  # collected later, and not graded yet
    copy_for_exchange(course, LESSON, "amara")
    assert (folder / SECRET).read_text() == SECRETS["amara"]
    assert (folder / TIMESTAMP).read_text().strip() == MOMENT
    write_autograded(course, LESSON, "amara", "{}")
    copy_for_exchange(course, LESSON, "amara")
    assert not [*folder.iterdir()]


def made_feedback(root, student, secret=""):
    folder = root / "feedback" / student / LESSON
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.html").write_text(f"the page of {student}")
    (folder / TIMESTAMP).write_text(MOMENT)
    if secret:
        (folder / SECRET).write_text(secret)


def test_student_without_a_secret_is_named_and_stops_nobody(root, tmp_path):
    made_feedback(root, "adam")
    made_feedback(root, "amara", SECRETS["amara"])
    made_feedback(root, "ben", SECRETS["ben"])
    hand_in(root, "ben", SECRETS["ben"]).rename(
        root / "submitted" / "ben" / LESSON / "mine.ipynb"
    )
    option = f"--Exchange.root={tmp_path / 'exchange'}"
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    output = call(root, *NBGRADER, "release_feedback", LESSON, option)
    assert f"adam gets no page on {LESSON} through the exchange" in output
    released = tmp_path / "exchange" / "attention" / "feedback"
    texts = {path.stem: path.read_text() for path in released.iterdir()}

    def code(student, notebook=LESSON):
        return notebook_hash(secret=SECRETS[student], notebook_id=notebook)

    assert texts == {
        code("amara"): "the page of amara",
        code("ben"): "the page of ben",
        code("ben", "mine"): "the page of ben",
    }
