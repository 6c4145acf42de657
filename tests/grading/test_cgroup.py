"""Control groups: where one is made, what it limits, and that none is left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.grading import cgroup
from autograder.grading.inside.isolation import Limits

LIMITS = Limits(memory=1 << 30, disk=64 << 20, processes=8)
GONE = 1 << 22  # above the highest number of a process


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Make files as the kernel shows them, with groups ``a`` and ``a/b``, ours."""
    (tmp_path / "groups" / "a" / "b").mkdir(parents=True)
    (tmp_path / "own").write_text("1:name=systemd:/x\n0::/a/b\n")
    mounts = f"tmpfs /sys tmpfs rw 0 0\ncgroup2 {tmp_path}/groups cgroup2 rw 0 0\n"
    (tmp_path / "mounts").write_text(mounts)
    for folder in ("a/b", "a", "."):
        for name in ("cgroup.procs", "cgroup.subtree_control"):
            (tmp_path / "groups" / folder / name).write_text("")
    files = tmp_path / "own", tmp_path / "mounts"
    monkeypatch.setattr(cgroup.home, "__defaults__", files)
    return tmp_path / "groups"


def give(folder, controllers="cpu memory pids"):
    (folder / "cgroup.subtree_control").write_text(controllers)


def test_home_is_the_nearest_group_that_hands_controllers_over(system):
    assert cgroup.home() is None
    give(system)
    assert cgroup.home() == system
    give(system / "a")
    assert cgroup.home() == system / "a"
    give(system / "a" / "b", "cpu io")
    assert cgroup.home() == system / "a"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_home_is_a_group_that_we_may_write_to(system):
    give(system / "a")
    (system / "a" / "cgroup.procs").chmod(0o444)
    assert cgroup.home() is None


@pytest.mark.parametrize("text", ["", "4:memory:/x\n"])
def test_system_without_groups_has_no_home(system, text):
    (system.parent / "own").write_text(text)
    give(system)
    assert cgroup.home() is None
    (system.parent / "own").unlink()
    assert cgroup.home() is None


def test_group_limits_all_children_together(system):
    give(system)
    group = cgroup.Group(LIMITS, 3)
    assert group.path.parent == system
    assert (group.path / "memory.max").read_text() == str(
        (1 + 3 * 2) * (1 << 30) + (6 << 26)
    )
    assert (group.path / "pids.max").read_text() == "40"


def test_command_is_in_the_group_from_its_first_moment(system):
    give(system)
    group = cgroup.Group(LIMITS, 1)
    command = group.joined([sys.executable, "-c", "import sys; print(sys.argv)", "a b"])
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "['-c', 'a b']\n"
    assert (group.path / "cgroup.procs").read_text() == "0\n"


def test_command_runs_without_the_group_if_it_is_refused(system):
    give(system)
    group = cgroup.Group(LIMITS, 1)
    (group.path / "cgroup.procs").mkdir()
    run = subprocess.run(group.joined(["echo", "runs"]), capture_output=True)
    assert (run.stdout, run.stderr) == (b"runs\n", b"")


def test_without_controllers_the_command_stays_as_it_is(system):
    group = cgroup.Group(LIMITS, 1)
    assert group.path is None
    assert group.joined(["echo"]) == ["echo"]
    group.remove()


def test_groups_of_killed_graders_are_removed_and_no_others(system, monkeypatch):
    give(system)
    for name in (f"grading-{GONE}-0", f"grading-{os.getpid()}-x", "mine"):
        (system / name).mkdir()
    monkeypatch.setattr(cgroup, "END_SECONDS", 0.1)
    monkeypatch.setattr(Path, "write_text", lambda *_: None)  # a group holds no files
    group = cgroup.Group(LIMITS, 1)
    group.remove()
    left = {path.name for path in system.iterdir() if path.is_dir()}
    assert left == {"a", "mine", f"grading-{os.getpid()}-x"}
    assert group.path is None
