"""PyTorch that was left for later: what is said of it, and the command that fits."""

import os
import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel

from autograder.messages import pytorch
from autograder.messages.pytorch import BUILDS_FOR_CPUS, GO_ON, PACKAGES, START_ANEW
from autograder.messages.stopped import missing_package

WITHOUT = "import sys; sys.modules['torch'] = None"
# What a lesson begins with, where PyTorch is not installed.
REFUSED = """
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Refusing())
"""
SET_UP = "from autograder import check\n\nimport numpy as np\nimport torch"


@pytest.fixture
def machine(monkeypatch):
    """Return a function that says what the machine is like; it has no PyTorch."""
    monkeypatch.setattr(pytorch, "is_here", lambda: False)

    def be(platform="linux", gpu=False, pip=True, processor="x86_64"):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(pytorch.platform, "machine", lambda: processor)
        commands = {"nvidia-smi": "/usr/bin/nvidia-smi"} if gpu else {}
        monkeypatch.setattr(pytorch.shutil, "which", commands.get)
        monkeypatch.setattr(pytorch, "has_pip", lambda: pip)

    be()
    return be


def test_nothing_is_said_where_pytorch_is():
    assert pytorch.advice() is None


def test_build_for_cpus_is_chosen_where_it_fits(machine):
    assert BUILDS_FOR_CPUS in pytorch.command()
    assert "0.2 GB" in pytorch.advice().sentence
    machine(gpu=True)
    assert pytorch.command() == f'pip install "{PACKAGES}"'
    assert "3 GB" in pytorch.advice().sentence
    for platform in ("win32", "darwin"):
        machine(platform=platform, processor="arm64")
        assert pytorch.command() == f'pip install "{PACKAGES}"'
        assert pytorch.advice().here


def test_environment_without_pip_is_started_anew(machine):
    machine(pip=False)
    offer = pytorch.advice()
    assert offer.command == START_ANEW and not offer.here


def test_machine_without_pytorch_is_told_so(machine, monkeypatch, capsys):
    machine(platform="darwin")
    assert "Intel" in pytorch.advice().sentence and GO_ON in pytorch.advice().sentence
    assert pytorch.advice().command == ""
    machine()
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert "32-bit" in pytorch.advice().sentence
    assert pytorch.install() == 1
    assert GO_ON in capsys.readouterr().out


def test_somebody_elses_environment_is_left_alone(machine, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    offer = pytorch.advice()
    assert "not yours to change" in offer.sentence and not offer.command


def test_full_disk_is_told_before_anything_is_loaded(machine, monkeypatch, capsys):
    monkeypatch.setattr(pytorch.shutil, "disk_usage", lambda path: Full)
    monkeypatch.setattr(pytorch, "_run", None)
    assert pytorch.install() == 1
    assert "0.3 GB are free" in capsys.readouterr().out


class Full:
    free = 3e8


@pytest.mark.parametrize("kind", ["stopped", "failed", "elsewhere"])
def test_installing_that_ends_early_is_one_sentence(machine, monkeypatch, capsys, kind):
    def run(line):
        assert line[:4] == [sys.executable, "-m", "pip", "install"]
        if kind == "stopped":
            raise KeyboardInterrupt
        # "elsewhere": pip has put it into another environment than this Python's.
        return int(kind == "failed")

    monkeypatch.setattr(pytorch, "_run", run)
    assert pytorch.install() == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert ("Call again to go on" if kind == "stopped" else "certificate") in last


def test_lines_of_pip_are_shown_as_they_come(capsys):
    assert pytorch._run([sys.executable, "-c", "print(1); print(2); exit(3)"]) == 3
    assert capsys.readouterr().out == "1\n2\n"


def test_sentence_in_a_cell_has_the_command_for_a_cell(machine):
    error = ModuleNotFoundError("No module named 'torch'", name="torch")
    assert f"`%{pytorch.command()}`" in missing_package(error)
    machine(pip=False)
    assert f"`{START_ANEW}`" in missing_package(error)
    assert missing_package(ModuleNotFoundError("", name="pandas")) == ""


def test_import_without_pytorch_is_a_sentence_and_no_traceback():
    manager, client = start_new_kernel(env={**os.environ, "PYTHONWARNINGS": "ignore"})
    messages = []
    try:
        for code in (REFUSED, SET_UP):
            client.execute_interactive(code, output_hook=messages.append, timeout=300)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    sentence, error = (
        each["content"] for each in messages if each["msg_type"] in OUTPUTS
    )
    assert "This cell needs PyTorch" in sentence["data"]["text/plain"]
    assert "%pip install" in sentence["data"]["text/html"]
    assert error["ename"] == "ModuleNotFoundError"
    assert error["traceback"] == ["ModuleNotFoundError: No module named 'torch'"]


OUTPUTS = ("display_data", "error")


def test_importing_the_check_needs_no_pytorch():
    done = subprocess.run(
        [sys.executable, "-c", f"{WITHOUT}\nfrom autograder import check"], check=False
    )
    assert done.returncode == 0
