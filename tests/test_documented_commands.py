"""Every command of the documentation's pages is run, or stands here with its reason.

``docs/running-a-term.md``, ``docs/private-exercises.md`` and ``hub/README.md`` have
tests of their own, which go through them from top to bottom
(``tests/test_running_a_term.py``, ``tests/private``, ``tests/hub``). The others are
carried out here, each in the folder of a small class.
"""

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import pytest
import typer
from nbgrader.apps.nbgraderapp import NbGraderApp
from typer.main import get_command

from autograder.commands import start
from autograder.commands.app import app
from autograder.system import STAMP, _expected_stamp
from course_lib.corpora import download
from course_lib.nn import train
from tests.documented import (
    ROOT,
    blocks,
    clone_of_course,
    commands_in_sentences,
    lines_of,
)
from tests.gradebook.archives import Learner, canvas_name, write_zip
from tests.submissions import Submission
from tests.test_readme import PAGES

SCRIPTS = Path(sys.executable).parent
ZOE = Learner("zoe", "Zoë", "Bauer", 1042)
ROSTER = (
    "id,first_name,last_name,email,lms_user_id,section\n"
    "ada,Ada,Lovelace,ada@example.org,,A\n"
    "amara,Amara,Okafor,amara@example.org,,A\n"
    "bjarne,Bjarne,Lund,bjarne@example.org,,B\n"
    f"zoe,Zoë,Bauer,zoe@example.org,{ZOE.number},B\n"
)
OF_THEIR_OWN = (
    "docs/running-a-term.md",
    "docs/private-exercises.md",
    "hub/README.md",
)
CARRIED_OUT = [
    name
    for page in PAGES
    if (name := page.relative_to(ROOT).as_posix()) not in OF_THEIR_OWN
    and any(language == "console" for language, _ in blocks(page.read_text("utf-8")))
]
INDEX = "the package index does not have the course yet"
CONTAINER = "needs Docker's daemon; tests/test_environment.py reads the files"
CANVAS = "needs a Canvas; tests/gradebook/fake_canvas.py is one"
# What is not run, by how its line begins, and the test that runs it elsewhere.
NOT_RUN = {
    "uvx ": f"{INDEX}; tests/commands/test_start.py starts it from the wheel",
    "docker build ": CONTAINER,
    "docker run ": CONTAINER,
    "make demo": "minutes; tests/demo/test_graded_class.py",
    "make test": "it would run this test again",
    ".venv/bin/autograder new ": "tests/commands/test_new_exercise.py",
    ".venv/bin/autograder check-bank ": "tests/commands/test_new_exercise.py",
    "read -rs CANVAS_TOKEN": CANVAS,
    ".venv/bin/autograder export 01 --to canvas --send": CANVAS,
    ".venv/bin/autograder build 01": "tests/test_running_a_term.py, as make build",
}
# What a line gets so that it ends soon; the rest of it is the page's.
SHORTENED = {"-m course_lib.nn.train": "--steps 2 --no-score"}
# What serves pages until it is ended, and how it is told where.
SERVES = {
    "attention-course ": "--no-browser --port {}",
    "make lab": "LAB_OPTIONS='--no-browser --port {}'",
}
STAYS = ("dask scheduler", "dask worker")
TRIES = 40  # two seconds each: a worker is there a while after it was started


def parts_of(page: str) -> list[tuple[str, list[str]]]:
    """Return a page's blocks that are carried out: of commands, and of settings."""
    parts = []
    for language, code in blocks((ROOT / page).read_text(encoding="utf-8")):
        if language == "console":
            parts.append(
                (language, [each for each in lines_of(code) if not reason(each)])
            )
        elif language == "python" and code.startswith("c."):
            parts.append((language, [code]))
    return parts


def reason(line: str) -> str:
    """Return why a line is not run; "" if it is."""
    return next((why for start, why in NOT_RUN.items() if line.startswith(start)), "")


# What can be seen without running anything


def all_commands():
    """Yield each page's name with each command in its blocks and sentences."""
    for page in PAGES:
        text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
        for language, code in blocks(text):
            if language == "console":
                yield from ((name, line) for line in lines_of(code))
        yield from ((name, each) for each in commands_in_sentences(text))


def parse(line: str) -> bool:
    """Read a command as its program would; return whether it is one that we know.

    An option that there is not, or a value that it does not take, raises what the
    program would print.
    """
    words = shlex.split(re.sub(r"\$\w+|<\S+>", "x", line), comments=True)
    words = [each for each in words if not re.match(r"[A-Z_]+=|;|&&", each)]
    program, arguments = words[0].rpartition("/")[2], words[1:]
    if program == "autograder":
        _parse_part(app, arguments)
    elif program == "attention-course":
        with contextlib.suppress(typer.Exit):  # --version says it at once
            get_command(start.app).make_context(program, arguments)
    elif program == "make":
        targets = {each for each in arguments if "=" not in each}
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert targets and all(
            re.search(rf"^{each}:", makefile, re.MULTILINE) for each in targets
        )
    elif program == "nbgrader":
        assert arguments[0] in NbGraderApp.subcommands, arguments[0]
    elif program == "python":
        assert arguments[0] in ("-m", "-I"), line
        assert importlib.util.find_spec(arguments[1]), arguments[1]
        if arguments[1] == "course_lib.nn.train":
            get_command(train.app).make_context("train", arguments[2:])
        if arguments[1] == "pytest":
            _parse_paths(arguments[2:])
    else:
        return False
    return True


def _parse_part(application, arguments):
    group = get_command(application)
    with group.make_context("autograder", arguments) as context:
        name, part, rest = group.resolve_command(context, arguments)
        if rest and "…" not in rest[0] and not rest[0].startswith("["):
            part.make_context(name, rest, parent=context)


def _parse_paths(arguments):
    for each in arguments:
        if "/" in each:
            assert (ROOT / each).exists(), each


@pytest.mark.parametrize(("page", "line"), [*dict.fromkeys(all_commands())])
def test_command_is_one_that_its_program_takes(page, line):
    assert parse(line) or reason(line) or page in (*OF_THEIR_OWN, *CARRIED_OUT)


@pytest.mark.parametrize(
    "line",
    [
        "autograder grades 01",
        ".venv/bin/autograder grade 01 --job 2",
        ".venv/bin/autograder extend amara 01 --days much",
        "attention-course --port none",
        "make everything",
        "nbgrader collects 01",
        "python -m tests.nowhere",
        ".venv/bin/python -m course_lib.nn.train --task poetry",
        ".venv/bin/python -m pytest tests/nowhere.py",
    ],
)
def test_wrong_command_is_noticed(line):
    with pytest.raises(BaseException, match=r"."):
        parse(line)


def test_reason_is_of_a_line_and_names_tests_that_exist():
    lines = [
        line
        for name in CARRIED_OUT
        for language, code in blocks((ROOT / name).read_text(encoding="utf-8"))
        if language == "console"
        for line in lines_of(code)
    ]
    for start_of_line, why in NOT_RUN.items():
        assert any(line.startswith(start_of_line) for line in lines), start_of_line
        for path in re.findall(r"tests/[\w/.]+\w", why):
            assert (ROOT / path).exists(), path
    for part in SHORTENED:
        assert any(part in line for line in lines), part


# Carried out


class SmallClass:
    """A class's course folder, cloned, with a roster, an archive and two submissions.

    folder : for everything, and the home of whoever calls
    """

    def __init__(self, folder: Path) -> None:
        self.root = clone_of_course(folder / "attention-course")
        self.sent = folder / "sent"
        for name, text in {
            "bin/msmtp": '#!/bin/sh\ncat >> "$HOME/sent"\n',
            "attention-course/students.csv": ROSTER,
            f"attention-course/{STAMP}": json.dumps(_expected_stamp(self.root)),
        }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        (folder / "bin" / "msmtp").chmod(0o755)
        (self.root / ".venv" / "bin").mkdir()
        (self.root / ".venv" / "bin" / "python").symlink_to(sys.executable)
        sent = canvas_name(ZOE, 77), Submission().text().encode()
        rows = [(*sent, datetime(2027, 2, 1, tzinfo=UTC))]
        write_zip(self.root / "canvas.zip", rows)
        for student, result in {"amara": "x", "bjarne": "x * 0 + sum(x.shape)"}.items():
            wrong = Submission()
            wrong.answer("softmax", f"def softmax(x, axis=-1):\n    return {result}")
            wrong.write(self.root, student)
        # Its own data folder: `make models` writes models of two steps there.
        (folder / "data").mkdir()
        for archive in download.folder().resolve().glob("*.zip"):
            (folder / "data" / archive.name).symlink_to(archive)
        path = os.pathsep.join(map(str, (folder / "bin", SCRIPTS, os.environ["PATH"])))
        self.environment = os.environ | {
            "ATTENTION_COURSE_DATA": str(folder / "data"),
            "HOME": str(folder),
            "MAKEFLAGS": f"PY={sys.executable}",
            "PATH": path,
            "PYTHONPATH": str(self.root),
        }
        self.call(["autograder roster students.csv", "autograder grade 01"])
        certificates(self.root)

    def carry_out(self, page: str) -> None:
        """Do what a page shows, from top to bottom."""
        for language, lines in parts_of(page):
            if language == "python":
                with (self.root / "nbgrader_config.py").open("a") as file:
                    file.write(f"\n{lines[0]}\n")
                continue
            together: list[str] = []
            for line in lines:
                if options := served(line):
                    self.call(together)
                    together = []
                    self.serve(line, options)
                else:
                    together.append(line)
            self.call(together)

    def call(self, lines: list[str]) -> None:
        """Run lines of a page in one shell; what they leave running ends with it."""
        if not lines:
            return
        port = free_port()
        script = "\n".join(self.adapted(line, port) for line in lines)
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            process = self.start(script, file)
            try:
                code = process.wait(timeout=900)
            finally:
                end(process)
            file.seek(0)
            assert code == 0, f"{script}\n{file.read()}"

    def adapted(self, line: str, port: int) -> str:
        """Return a line as it is run here: with this environment, and a free port."""
        line = line.replace(".venv/bin/", f"{SCRIPTS}/")
        line = line.replace("the-scheduler:", "127.0.0.1:").replace("8786", str(port))
        for part, options in SHORTENED.items():
            line += f" {options}" if part in line else ""
        if any(each in line for each in STAYS):
            listens = " --port {port}" if "scheduler" in line else ""
            return f"{line}{listens.format(port=port)} &"
        if "--dask" in line:
            each_try = f"{line} && done=yes && break; sleep 2"
            loop = f"for i in $(seq {TRIES}); do {each_try}; done"
            return f'done=no; {loop}; test "$done" = yes'
        return line

    def serve(self, line: str, options: str) -> None:
        """Run a line that serves pages until one of them is there."""
        port = free_port()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            process = self.start(f"{line} {options.format(port)}", file)
            try:
                for _ in range(180):
                    file.seek(0)
                    printed = file.read()
                    if (
                        f"127.0.0.1:{port}/" in printed
                        or f"localhost:{port}/" in printed
                    ):
                        return
                    assert process.poll() is None, f"{line}\n{printed}"
                    time.sleep(1)
                raise AssertionError(f"{line} serves nothing\n{printed}")
            finally:
                end(process)

    def start(self, script: str, file: TextIO) -> subprocess.Popen:
        return subprocess.Popen(
            ["bash", "-euc", script],
            cwd=self.root,
            env=self.environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def served(line: str) -> str:
    """Return the options of a line that serves pages; "" for any other."""
    return next((SERVES[each] for each in SERVES if line.startswith(each)), "")


def end(process: subprocess.Popen) -> None:
    """End a shell and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def certificates(folder: Path) -> None:
    """Make an authority and a certificate that it has signed, for this machine."""
    new = "openssl req -newkey rsa:2048 -nodes"
    signed = "openssl x509 -req -CA ca.pem -CAkey ca.key -days 2"
    for line in (
        f"{new} -subj /CN=authority -x509 -days 2 -keyout ca.key -out ca.pem",
        f"{new} -subj /CN=machine -keyout this-machine.key -out this-machine.csr",
        f"{signed} -in this-machine.csr -out this-machine.pem",
    ):
        subprocess.run(shlex.split(line), cwd=folder, capture_output=True, check=True)


@pytest.fixture(scope="module")
def small_class(tmp_path_factory):
    return SmallClass(tmp_path_factory.mktemp("class"))


# What one page installs, Dolos, another one uses.
ORDER = sorted(CARRIED_OUT, key="docs/similarity.md".__ne__)


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
@pytest.mark.skipif(not shutil.which("npm"), reason="needs Node.js with npm")
@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
@pytest.mark.parametrize("page", ORDER)
def test_page_can_be_carried_out(small_class, page):
    small_class.carry_out(page)
    if page == "docs/feedback-and-grades.md":
        assert small_class.sent.read_text().count("Subject:") == 4
