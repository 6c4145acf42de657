"""What is installed: the three lists agree, and setting up says what is missing."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain, takewhile

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autograder import system
from autograder.course import Course
from course_lib.lessons import environment
from course_lib.lessons.environment import NotReadyError, check_environment

ROOT = Course.here().root
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
TARGETS = (
    "setup lock data models lab demo test test-all matrix mutants triton bench build "
    "site sandbox"
).split()
# Triton is large, and PyTorch brings its own where there is a GPU: only `make triton`
# installs it.
LEFT_TO_MAKE = ("kernel",)


def required():
    extras = PROJECT["optional-dependencies"].items()
    installed = [lines for name, lines in extras if name not in LEFT_TO_MAKE]
    return [Requirement(line) for line in chain(PROJECT["dependencies"], *installed)]


def pins():
    lines = [line for line in LOCK.splitlines() if line and line.lstrip()[0] != "#"]
    return list(map(Requirement, lines))


def locked(**machine):
    """Return the versions that pip installs from the lock, by name."""
    here = [pin for pin in pins() if not pin.marker or pin.marker.evaluate(machine)]
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in here}


def run_python(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def conda():
    return yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]


def test_every_requirement_is_locked_within_its_bounds():
    versions = locked()
    for requirement in required():
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_triton_is_pinned_within_its_bounds_for_tests_alone():
    (bound,) = map(Requirement, PROJECT["optional-dependencies"]["kernel"])
    text = (ROOT / "tests" / "nn" / "requirements-triton.txt").read_text()
    (line,) = (line for line in text.splitlines() if not line.startswith("#"))
    pinned = Requirement(line)
    assert pinned.name == bound.name == "triton"
    (version,) = pinned.specifier
    assert version.operator == "=="
    assert bound.specifier.contains(version.version)
    assert "triton" not in locked()
    assert not any("triton" in str(line) for line in conda())


def test_lock_pins_every_dependency():
    versions = locked()
    for name in versions:
        for line in metadata.requires(name) or []:
            needed = Requirement(line)
            # A build of torch for a GPU brings packages that fit that machine only.
            if name == "torch" and re.match("nvidia|cuda|triton", needed.name):
                continue
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                version = versions[canonicalize_name(needed.name)]
                assert needed.specifier.contains(version), f"{name} needs {needed}"


def test_pins_install_on_the_oldest_python_promised():
    # Debian 12's python3.11 is 3.11.2: a pin for 3.11.5 stopped the first command.
    here = locked()
    for python in ("3.11.2", "3.12.0", "3.13.0", "3.14.0"):
        there = locked(
            python_version=python.rpartition(".")[0], python_full_version=python
        )
        for name in there.keys() & here:
            needs = metadata.metadata(name).get("Requires-Python") or ""
            assert SpecifierSet(needs).contains(python), f"{name}: {needs}"


def test_lock_brings_what_other_systems_need():
    # What JupyterLab's terminals and its kernel need on Windows and on macOS alone.
    windows = locked(sys_platform="win32", os_name="nt", platform_system="Windows")
    assert windows.keys() - locked(sys_platform="linux", os_name="posix") == {
        "pywinpty"
    }
    assert "appnope" in locked(sys_platform="darwin", os_name="posix")


def test_checks_run_with_the_first_layer_of_dependencies_alone():
    layer = {canonicalize_name(Requirement(x).name) for x in PROJECT["dependencies"]}
    others = PROJECT["optional-dependencies"]
    needless = [Requirement(x).name for n in ("torch", "grade") for x in others[n]]
    code = (
        "import sys; blocked = set(sys.argv[1:])\n"
        "class Refusing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in blocked: raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refusing())\n"
        "import autograder.commands.app, autograder.commands.start\n"
        "import autograder.workspace.lab\n"
        "from autograder import check\n"
        "from autograder.workspace.home import Home\n"
        "from course_lib.attention import softmax\n"
        "check(softmax)\n"
    )
    assert not layer & {*map(canonicalize_name, needless)}
    done = run_python(code, *needless)
    assert "solved" in done.stdout and not done.returncode, done.stderr


def test_environment_may_lack_torch_alone(monkeypatch):
    monkeypatch.setattr(environment, "torch", None)
    assert "attention-course[torch]" in check_environment()
    monkeypatch.setattr(environment, "MINIMUM_VERSIONS", {"numpy": (99, 0)})
    with pytest.raises(NotReadyError, match=r"needs 99\.0"):
        check_environment()


def test_lock_names_no_address_and_no_build():
    assert all(re.fullmatch(r"==[0-9.]+", str(pin.specifier)) for pin in pins())
    assert not re.search(r"://|\+[a-z]+[0-9]*$|^-|@", LOCK, re.MULTILINE)


def test_lock_says_how_it_is_made():
    header = takewhile(lambda line: line.startswith("#"), LOCK.splitlines())
    assert "#    make lock" in header


def test_lock_leaves_the_packages_for_a_gpu_to_pip():
    # What pyproject.toml tells uv of torch is torch's own list without those.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (torch,) = project["tool"]["uv"]["dependency-metadata"]
    needed = map(Requirement, metadata.requires("torch"))
    assert {
        str(line)
        for line in needed
        if not re.match("nvidia|cuda|triton", line.name)
        and not (line.marker and "extra" in str(line.marker))
    } == set(map(str, map(Requirement, torch["requires-dist"])))
    assert torch["version"] == locked()["torch"]
    assert not [name for name in locked() if re.match("nvidia|cuda|triton", name)]


def test_conda_gets_the_same_requirements():
    *packages, last = conda()
    *listed, itself = last["pip"]
    assert {str(Requirement(line)) for line in listed} == set(map(str, required()))
    assert len(listed) == len(required())
    assert itself == "--editable ."
    assert packages == [f"python{PROJECT['requires-python']},<3.15", "pip"]


@pytest.mark.parametrize("target", TARGETS)
def test_make_help_names_the_target(target):
    help_text = make(ROOT, "help").stdout
    assert re.search(rf"^make {target} +\w", help_text, re.MULTILINE)
    assert "ready" in needed_by(target)


def needed_by(target):
    """Return what make does before a target, all the way down."""
    row = re.search(rf"^{target}:(?!=) *(.*)$", makefile(), re.MULTILINE)
    needed = row[1].split() if row else []
    return {*needed, *chain.from_iterable(map(needed_by, needed))}


def makefile():
    return (ROOT / "Makefile").read_text()


def test_continuous_integration_runs_make_test():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    rows = script.read_text().splitlines()
    assert "set -euo pipefail" in rows
    calls = [row for row in rows if row.startswith("make")]
    assert calls == ["make test </dev/null", "make test-submissions </dev/null"]
    assert rows[-1] == calls[-1]  # pytest's closing line is the last one


def test_make_test_stops_at_the_first_failure():
    recipe = makefile().partition("\ntest: ready")[2].partition("\n\n")[0]
    # A part that is timed ends the recipe with its own status.
    assert re.search(r"^timed = .*; \$\(2\) \|\| exit;", makefile(), re.MULTILINE)
    steps = r"-m (ruff check|mypy|autograder build --check)|\$\((BESIDE|ALONE)\) -m"
    once = ["ruff check", "mypy", "autograder build --check"]
    assert [a or b for a, b in re.findall(steps, recipe)] == [*once, "BESIDE", "ALONE"]
    assert len(re.findall(r"^(?:BESIDE|ALONE) := \$\(PYTEST\)", makefile(), re.M)) == 2
    assert "\nPYTEST := $(PY) -m pytest " in makefile()
    assert not re.search(r"^\t@?-|\|\| *true|;", recipe, re.MULTILINE)


# Setting up, as far as it goes without installing anything.


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "autograder").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "autograder" / "system.py", tmp_path / "autograder")
    (tmp_path / "requirements.lock").write_text("first")
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def make(folder, *arguments):
    """Run make as a user would, also where ``make test`` runs this test."""
    outer = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON"}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True,
        text=True,
        check=False,
    )


def test_old_python_is_refused_in_one_sentence(folder):
    old = folder / "old python"
    code = "import sys; sys.version_info = (3, 9, 18); exec(sys.argv[1])"
    old.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$2"\n')
    old.chmod(0o755)
    done = make(folder, "setup", f"PYTHON={old}")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == (
        f"The course needs Python 3.11 or newer, and found 3.9 ({old}): install one, "
        "or name it with PYTHON=/path/to/python."
    )
    assert not (folder / ".venv").exists()


def test_missing_python_is_refused_in_one_sentence(folder):
    done = make(folder, "setup", "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer, and found none: install" in done.stderr


def test_finished_environment_is_left_as_it_is(folder, commands):
    system.set_up(folder)
    (folder / ".venv" / "bin" / "python").unlink()
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    done = make(folder, "setup", "PYTHON=no-such-python")
    assert done.stderr == ""
    assert done.stdout.startswith("Ready: Python 3.")


@pytest.fixture
def commands(monkeypatch):
    """Record the commands of a set-up; make the folder, install nothing."""
    ran = []

    def run(folder, command, progress=None):
        ran.append(" ".join(command[1:4]))
        if command[1:3] == ["-m", "venv"]:
            (folder / ".venv" / "bin").mkdir(parents=True)
            (folder / ".venv" / "bin" / "python").write_text("")

    monkeypatch.setattr(system, "_run", run)
    monkeypatch.setattr(system, "_compile", lambda root: ran.append("compile"))
    return ran


NEW = ["-m venv .venv"]
INSTALL = ["-m pip install", "-m pip install", "compile"]


def test_first_set_up_makes_an_environment_and_installs(folder, commands):
    assert not system.is_ready(folder)
    system.set_up(folder)
    assert commands == NEW + INSTALL
    assert system.is_ready(folder)


def test_unfinished_environment_is_made_anew(folder, commands, capsys):
    (folder / ".venv" / "lib").mkdir(parents=True)
    (folder / ".venv" / "lib" / "half a package").write_text("")
    system.set_up(folder)
    assert commands == NEW + INSTALL
    assert not (folder / ".venv" / "lib").exists()
    assert "Removing .venv: its set-up was not finished" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_changed_list_is_installed_into_the_same_environment(folder, commands, name):
    system.set_up(folder)
    commands.clear()
    (folder / name).write_text("second")
    assert not system.is_ready(folder)
    system.set_up(folder)
    assert commands == INSTALL
    assert system.is_ready(folder)


def test_environment_made_elsewhere_is_made_anew(folder, commands, tmp_path_factory):
    system.set_up(folder)
    moved = tmp_path_factory.mktemp("elsewhere") / "course"
    folder.rename(moved)
    assert not system.is_ready(moved)
    commands.clear()
    system.set_up(moved)
    assert commands == NEW + INSTALL


def test_environment_whose_python_is_gone_is_made_anew(folder, commands):
    system.set_up(folder)
    python = folder / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(folder / "uninstalled")
    assert not system.is_ready(folder)
    commands.clear()
    system.set_up(folder)
    assert commands == NEW + INSTALL


@pytest.mark.parametrize("last", [1, 2, 3, 4])
def test_failed_set_up_is_not_mistaken_for_finished(
    folder, commands, monkeypatch, last
):
    record, compile_ = system._run, system._compile

    def stop(*arguments):
        if len(commands) + 1 == last:
            raise KeyboardInterrupt
        (compile_ if len(arguments) == 1 else record)(*arguments)

    monkeypatch.setattr(system, "_run", stop)
    monkeypatch.setattr(system, "_compile", stop)
    with pytest.raises(KeyboardInterrupt):
        system.set_up(folder)
    assert not system.is_ready(folder)


def test_failed_update_is_not_mistaken_for_the_older_state(
    folder, commands, monkeypatch
):
    system.set_up(folder)
    (folder / "requirements.lock").write_text("second")
    monkeypatch.setattr(system, "_run", failing)
    with pytest.raises(system.SystemFault):
        system.set_up(folder)
    (folder / "requirements.lock").write_text("first")
    assert not system.is_ready(folder)


def failing(folder, command, progress=None):
    raise system.SystemFault("it failed")


def test_command_that_fails_is_named(tmp_path):
    with pytest.raises(
        system.SystemFault, match=r"^`false` failed: .* call make again"
    ):
        system._run(tmp_path, ["false"])


def test_progress_says_what_how_much_and_how_long(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(system.time, "monotonic", iter(range(0, 900, 10)).__next__)
    lines = ["Collecting a", "  Downloading a-1-py3-none-any.whl (17.3 MB)"]
    lines += ["Collecting b==2", "  Downloading b.whl.metadata (5.1 kB)", "Noise"]
    lines += ["  Downloading b-2.whl (700 kB)", "Installing collected packages: a, b"]
    code = f"print({chr(10).join(lines)!r})"
    system._run(tmp_path, [sys.executable, "-c", code], system.Progress(3))
    lines_printed = capsys.readouterr().out.splitlines()
    assert lines_printed[0] == "  1 of 3 packages, 17 MB loaded, 30 s"
    assert (
        lines_printed[-1].startswith("  18 MB loaded after")
        and "unpacking" in lines_printed[-1]
    )


def be(monkeypatch, *, root, has_apt=True):
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    paths = {"apt-get": "/usr/bin/apt-get"} if has_apt else {}
    monkeypatch.setattr(shutil, "which", paths.get)


def test_missing_venv_module_is_named_by_its_package(folder, commands, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    be(monkeypatch, root=False)
    package = f"python3.{sys.version_info[1]}-venv"
    with pytest.raises(system.SystemFault, match=f"sudo apt-get install {package}"):
        system.set_up(folder)
    assert commands == []


def test_missing_browser_is_named_by_its_package(monkeypatch):
    be(monkeypatch, root=False)
    with pytest.raises(system.SystemFault, match="apt-get install chromium") as caught:
        system.require_browser()
    assert "NO_BROWSER=1" in str(caught.value)
    be(monkeypatch, root=True, has_apt=False)
    with pytest.raises(system.SystemFault, match="install chromium"):
        system.require_browser()


@pytest.mark.parametrize("known", [["chromium-headless-shell"], []])
def test_root_gets_the_browser_installed(monkeypatch, known):
    be(monkeypatch, root=True)
    monkeypatch.setattr(system, "_apt_knows", known.__contains__)
    ran = []
    monkeypatch.setattr(system, "_run", lambda folder, command: ran.append(command))
    system.require_browser()
    assert [command[-1] for command in ran] == ["-qq", *(known or ["chromium"])]


def test_missing_sandbox_is_named_and_installed_for_root(monkeypatch):
    be(monkeypatch, root=False)
    with pytest.raises(system.SystemFault, match="install bubblewrap") as caught:
        system.require_sandbox()
    assert "NO_SANDBOX=1" in str(caught.value)
    be(monkeypatch, root=True)
    ran = []
    monkeypatch.setattr(system, "_run", lambda folder, command: ran.append(command))
    system.require_sandbox()
    assert [command[-1] for command in ran] == ["-qq", "bubblewrap"]


def test_browser_that_is_there_is_found(monkeypatch):
    be(monkeypatch, root=False)
    paths = {"google-chrome": "/usr/bin/google-chrome"}
    monkeypatch.setattr(shutil, "which", paths.get)
    assert system.find_browser() == "/usr/bin/google-chrome"
    system.require_browser()


def test_stamp_that_cannot_be_read_counts_as_none(folder, commands):
    system.set_up(folder)
    for text in ("", "[]", "{", json.dumps({"root": "elsewhere"})):
        (folder / ".venv" / ".stamp").write_text(text)
        assert not system.is_ready(folder)
        system.set_up(folder)
        assert system.is_ready(folder)


def test_tests_that_run_alone_need_the_sandbox():
    marked = 0
    for path in (ROOT / "tests").rglob("test_*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if re.search(r"^[@p ].*mark\.alone", line):
                around = lines[number - 1 : number + 2]
                assert any("mark.sandbox" in near for near in around), path
                marked += 1
    assert marked > 5
