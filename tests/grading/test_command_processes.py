"""``autograder grade`` as a process of its own: stopped, killed, without a sandbox."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from autograder.commands import grade as grade_module
from tests.grading.class_folder import (
    RESULTS,
    TIMES,
    files,
    hand_in,
    lines,
    refusal,
    students,
)
from tests.processes import InterruptibleProcess
from tests.submissions import LESSON, Submission


def start(root, *arguments, path=""):
    """Start the command line in a process of its own."""
    command = [sys.executable, "-m", "autograder", *arguments]
    scratch = root.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(scratch)}
    environment |= {"PATH": path} if path else {}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return InterruptibleProcess(command, cwd=root, env=environment, **pipes)


def gone_soon(processes, seconds=15):
    return psutil.wait_procs(processes, timeout=seconds)[1] == []


def slow_class(root, count):
    for i in range(count):
        submission = Submission()
        submission.own(f"import time; time.sleep(0.7 + {i} / 1000)")
        submission.write(root, f"student-{i}")


@pytest.mark.thorough
@pytest.mark.sandbox
def test_jobs_and_sandbox_do_not_change_the_bytes(root, call):
    hand_in(root, "amara")
    ben = Submission()
    ben.answer(
        "softmax",
        "def softmax(x, axis=-1):\n    raise ValueError(str({*'attention'}) + str(x))",
    )
    ben.answer("attention", "import os\ndef attention(q, k, v):\n    os._exit(0)")
    ben.own("print(object())\nraise KeyError(str({*'attention'}))")
    ben.write(root, "ben")
    (root / "submitted" / "cem" / LESSON).mkdir(parents=True)
    results = []
    for options in (("--jobs", "2"), ("--jobs", "1", "--no-sandbox")):
        code, out, _ = call("grade", "01", *options)
        assert code == 0
        assert "1 invalid" in out
        results.append((root / RESULTS).read_bytes())
    assert results[0] == results[1]


@pytest.mark.sandbox
def test_ctrl_c_ends_within_seconds_and_keeps_verdicts(root):
    slow_class(root, 8)
    with start(root, "grade", "01", "--jobs", "2") as process:
        first = process.stdout.readline()
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        assert gone_soon(family)
    assert process.returncode == grade_module.INTERRUPTED == 130
    assert f"Stopped with {8 - len(students(root))} left" in err
    assert "`autograder grade 01` goes on" in err
    assert "Traceback" not in err
    graded = students(root)
    assert first.split()[0] in graded
    assert 1 <= len(graded) < 8
    assert f"{len(graded)} submission" in out
    assert len(lines(root, TIMES)) == len(graded)
    assert [*(root.parent / "scratch").iterdir()] == []
    assert files(root) == {Path(RESULTS).name, Path(TIMES).name, "journal.db"}


@pytest.mark.thorough
@pytest.mark.sandbox
def test_killed_command_leaves_no_process(root):
    slow_class(root, 4)
    with start(root, "grade", "01", "--jobs", "2") as process:
        process.stdout.readline()
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) > 6
        process.kill()
        process.communicate()
        assert gone_soon(family, 30)
    assert len(students(root)) < 4  # and each line is whole


@pytest.mark.parametrize("command", ["grade", "judge"])
@pytest.mark.parametrize("bwrap", ["none", "fails"])
def test_missing_sandbox_is_refused_in_one_sentence(root, tmp_path, command, bwrap):
    hand_in(root, "amara")
    folder = tmp_path / "bin"
    folder.mkdir()
    if bwrap == "fails":
        text = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\n"
        (folder / "bwrap").write_text(f"{text}exit 1\n")
        (folder / "bwrap").chmod(0o755)
    file = f"submitted/amara/{LESSON}/{LESSON}.ipynb"
    argument = {"grade": "01", "judge": file}[command]
    with start(root, command, argument, path=str(folder)) as process:
        out, err = process.communicate(timeout=300)
    message = refusal((process.returncode, out, err))
    assert "--no-sandbox" in message
    reasons = {
        "none": ("apt-get install bubblewrap",),
        "fails": ("No permissions to create new namespace", "max_user_namespaces"),
    }
    assert all(reason in message for reason in reasons[bwrap])
    assert command == "judge" or lines(root) == []
