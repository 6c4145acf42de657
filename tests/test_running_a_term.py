"""The page on running a term: every command of it, top to bottom, between accounts.

One learner hands in through nbgrader's exchange, another through Canvas. What the page
takes from elsewhere (a clone's address, a CSV file, an archive, the folders of the
system) is replaced by what the test has made; the commands stay as they are.
"""

import contextlib
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.commands import authors, instructors, learners
from autograder.system import STAMP, _expected_stamp
from course_lib.corpora import download
from tests.browser import jupyter_server
from tests.documented import blocks, clone_of_course
from tests.gradebook.archives import Learner, canvas_name, write_zip
from tests.gradebook.test_exchange import Student
from tests.grading.ordinary import why_not
from tests.submissions import COURSE, LESSON, MAX_POINTS, REQUIRED_POINTS, Submission

PAGE = COURSE.root / "docs" / "running-a-term.md"
TEXT = PAGE.read_text(encoding="utf-8")
SCRIPTS = Path(sys.executable).parent
ADDRESS = "https://example.org/attention-course.git"
EXCHANGE, SYSTEM = "/srv/nbgrader/exchange", "/etc/jupyter"
LEARNERS = "/opt/attention-learners"
EDITION = "/opt/attention-edition"
AS_LEARNER = "# as a learner"
ZOE = Learner("zoe", "Zoë", "Bauer", 1042)
ROSTER = "id,first_name,last_name,email,lms_user_id,section\n"


def test_every_command_of_the_tables_is_in_a_block_too():
    lines = "\n".join(text for kind, text in blocks(TEXT) if kind == "console")
    (between,) = re.findall(
        r"^## What happens.*?(?=^## )", TEXT, re.DOTALL | re.MULTILINE
    )
    table = between.split("```")[0]
    named = re.findall(r"`((?:autograder|nbgrader|make) [^`]+)`", table)
    assert len(named) > 8
    for command in named:
        assert command.split(" --days 0")[0] in lines, command


def test_every_command_is_one_of_ours():
    ours = {
        each.name
        for part in (authors, instructors, learners)
        for each in part.commands.registered_commands
    }
    for name in re.findall(r"`?autograder ([a-z][a-z-]*)", TEXT):
        assert name in ours, name


class Term:
    """A course on this machine, from its clone on, and what its page is read as.

    folder : for everything; others may enter it
    learner : whose account the exchange is used from
    """

    def __init__(self, folder, learner, monkeypatch):
        self.folder, self.learner = folder, learner
        self.root = folder
        self.system = folder / "etc"
        self.system.mkdir()
        self.printed = {}  # what each command has printed
        for name, value in {
            "ATTENTION_COURSE_DATA": download.folder(),
            "HOME": folder,
            "JUPYTER_CONFIG_PATH": self.system,
            "MAKEFLAGS": f"PY={sys.executable}",
            "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": folder / "attention-course",
        }.items():
            monkeypatch.setenv(name, str(value))

    def configure(self, text):
        """Add settings where the page says: those of the exchange are everybody's."""
        text = text.replace(EXCHANGE, str(self.folder / "exchange"))
        if "Exchange" in text:
            (self.system / "nbgrader_config.py").write_text(
                f"c = get_config()\n{text}\n"
            )
        else:
            path = self.root / "nbgrader_config.py"
            path.write_text(path.read_text() + f"\n{text}\n")

    def run(self, line):
        """Run a line of the page in the course folder."""
        line = line.replace(EXCHANGE, str(self.folder / "exchange"))
        line = line.replace(LEARNERS, str(self.folder / "learners"))
        line = line.replace(EDITION, str(self.folder / "edition"))
        if "/pip install " in line:  # what the course needs is here, to be copied
            line = line.replace("install", "install --no-deps").rpartition(" ")[0]
        line = re.sub(r"\bamara\b", self.learner.name, line)
        if line.startswith("git clone"):
            self.clone(line)
        elif line.startswith("jupyter lab"):
            self.open_formgrader(line)
        else:
            self.call(line)

    def call(self, line):
        run = subprocess.run(
            ["bash", "-c", line],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=300,
        )
        output = run.stdout + run.stderr
        self.printed[line] = output
        assert run.returncode == 0, f"{line}\n{output}"

    def clone(self, line):
        """Clone the files as they are; what is installed stays where it is."""
        origin = clone_of_course(self.folder / "origin")
        self.call(line.replace(ADDRESS, f"{origin} attention-course"))
        self.root = self.folder / "attention-course"
        (self.root / STAMP).parent.joinpath("bin").mkdir(parents=True)
        (self.root / ".venv" / "bin" / "python").symlink_to(sys.executable)
        (self.root / STAMP).write_text(json.dumps(_expected_stamp(self.root)))

    def open_formgrader(self, line):
        """Start JupyterLab as the page does, and ask it what formgrader lists."""
        program, application = line.split()
        command = (program, application, "--allow-root")
        with jupyter_server(self.root, *command) as (address, _):
            url = address.replace("/lab?", "/formgrader/api/assignments?")
            with urllib.request.urlopen(url, timeout=60) as answer:
                self.printed[line] = json.load(answer)

    def as_learner(self, line):
        """Run a line in the learner's home; before it is handed in, it is answered."""
        if " submit " in line:
            wrong = Submission()
            wrong.answer("softmax", "def softmax(x, axis=-1):\n    return x")
            path = self.learner.home / LESSON / f"{LESSON}.ipynb"
            path.write_text(wrong.text())  # the file that was fetched stays its own
        run = self.learner.run("env", f"PYTHONPATH={COURSE.root}", "bash", "-c", line)
        self.printed[line] = run.stdout + run.stderr
        assert run.returncode == 0, f"{line}\n{run.stdout}{run.stderr}"


@pytest.fixture
def term(monkeypatch):
    with contextlib.ExitStack() as stack:
        # Not in tmp_path: pytest closes the folder above it to others.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        name = f"amara-{os.getpid()}"
        stack.callback(subprocess.run, ["userdel", name], check=False)
        yield Term(folder, Student(folder, name, folder / "exchange"), monkeypatch)


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.skipif(why_not() != "", reason=why_not() or "it can be done")
@pytest.mark.skipif(not shutil.which("npm"), reason="needs Node.js with npm")
def test_page_can_be_followed_from_top_to_bottom(term):
    for language, text in blocks(TEXT):
        if language == "python":
            term.configure(text)
            continue
        lines = text.splitlines()
        run = term.as_learner if lines[0] == AS_LEARNER else term.run
        for line in lines:
            if "students.csv" in line:
                amara = f"{term.learner.name},Amara,Okafor,amara@example.org,,A\n"
                zoe = f"zoe,Zoë,Bauer,zoe@example.org,{ZOE.number},B\n"
                (term.root / "students.csv").write_text(ROSTER + amara + zoe)
            if "canvas.zip" in line:
                sent = canvas_name(ZOE, 77), Submission().text().encode()
                rows = [(*sent, datetime(2027, 2, 1, tzinfo=UTC))]
                write_zip(term.root / "canvas.zip", rows)
            if "--drop-lowest" in line:  # by then there is another lesson
                (second,) = (term.root / "notebooks").glob("02_*/*.ipynb")
                folder = term.root / "submitted" / "zoe" / second.stem
                folder.mkdir(parents=True)
                shutil.copy(second, folder)
                term.call("autograder grade 02")
            if not line.startswith("#"):
                run(line)
    printed = {
        line.replace(term.learner.name, "amara"): text
        for line, text in term.printed.items()
    }
    assert "✗" not in printed["autograder doctor"]
    packages = (term.folder / "learners" / "lib").glob("python*/site-packages")
    assert [each for folder in packages for each in folder.glob("autograder")]
    assert f"{LESSON}: " in printed["autograder update"]
    assert "1 submission" in printed["autograder collect canvas.zip"]
    assert re.search(
        rf"zoe +{MAX_POINTS:g} of {REQUIRED_POINTS:g}", printed["autograder grade 01"]
    )
    assert printed["autograder summaries 01"].startswith("2 messages in build/")
    (row,) = (each for each in printed["jupyter lab"] if each["name"] == LESSON)
    assert row["num_submissions"] == 2
    (page,) = (term.learner.home / LESSON / "feedback").rglob("*.html")
    assert "softmax" in page.read_text()
    with (term.root / "build" / "export" / "csv.csv").open(
        encoding="utf-8-sig"
    ) as file:
        rows = {each["student"]: each for each in csv.DictReader(file)}
    assert set(rows) == {term.learner.name, "zoe"}
    assert rows["zoe"]["section"] == "B"
    assert float(rows["zoe"]["total"]) == MAX_POINTS, "02 is empty, and dropped"
