"""``kill -9`` at random moments: the next call goes on, and nobody can tell.

CI kills a few times; ``KILLS=20 pytest tests/grading/test_kill.py`` does it twenty
times for each way of grading. ``KILL_SEED`` repeats a run's moments.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.demo.sample_class import sample_class
from tests.benchmarks.sample import hand_in
from tests.grading.clusters import DaskCluster
from tests.submissions import LESSON, open_course

pytestmark = [pytest.mark.thorough, pytest.mark.sandbox]

KILLS = int(os.environ.get("KILLS", "2"))
SEED = int(os.environ.get("KILL_SEED", time.time_ns()))
A_ROUND = 2  # kills of one class before it may come to its end
CLASS = ("amara", "bjarne", "hamid", "jomo", "kalea", "orla", "pavel")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Make a course folder with an ungraded class, and its seed."""
    root = open_course(tmp_path_factory.mktemp("original") / "course")
    hand_in(root, [each for each in sample_class() if each.name in CLASS])
    (root / "gradebook.seed").write_text(f"{SEED % 2**128:032x}\n")
    return root


def command(root, *words):
    """Start the command line on a course folder."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", *words], cwd=root, **quiet
    )


def run(root, *words):
    """Run the command line to its end; give the seconds."""
    start = time.monotonic()
    process = command(root, *words)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return time.monotonic() - start


def products(root):
    """Return what a class's grading leaves, apart from the databases and times."""
    run(root, "export", "--to", "csv")
    paths = [root / "build/export/csv.csv", root / f"build/grading/{LESSON}.jsonl"]
    paths += [path for path in (root / "autograded").rglob("*") if path.is_file()]
    return {path.relative_to(root): path.read_bytes() for path in sorted(paths)}


@pytest.fixture(scope="module")
def undisturbed(original, tmp_path_factory):
    """Grade the class without a kill; give what is left, and the seconds."""
    root = tmp_path_factory.mktemp("undisturbed") / "course"
    shutil.copytree(original, root)
    seconds = run(root, "grade", "01", "--jobs", "2")
    contents = products(root)
    assert len(contents) == 2 + len(CLASS)
    return contents, seconds


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_run_goes_on_and_leaves_the_same_bytes(
    original, undisturbed, tmp_path, jobs
):
    wanted, seconds = undisturbed
    chance = random.Random(f"{SEED} {jobs}")
    left = KILLS
    while left > 0:
        root = tmp_path / f"{left}"
        shutil.copytree(original, root)
        for _ in range(min(left, A_ROUND)):
            after = chance.uniform(0.2, 1.1) * seconds
            kill_in_the_middle(root, "grade", "01", "--jobs", jobs, after=after)
            left -= 1
        run(root, "grade", "01", "--jobs", jobs)
        assert products(root) == wanted, f"KILL_SEED={SEED}"
        shutil.rmtree(root)


@pytest.fixture
def dask(original, tmp_path):
    """Run a Dask cluster without workers, in the course's folder."""
    cluster = DaskCluster(tmp_path)
    yield cluster
    cluster.close()


def test_killed_dask_worker_and_client_leave_the_same_bytes(
    original, undisturbed, tmp_path, dask
):
    wanted, seconds = undisturbed
    chance = random.Random(f"{SEED} dask")
    workers = []
    for left in range(KILLS):
        root = tmp_path / f"{left}"
        shutil.copytree(original, root)
        workers += [dask.worker(original) for _ in range(2 - len(workers))]
        dask.wait_for(2)
        words = ["grade", "01", "--dask", dask.address]
        if left % 2:
            after = chance.uniform(0.2, 1.1) * seconds
            kill_in_the_middle(root, *words, after=after)
        process = command(root, *words)
        time.sleep(chance.uniform(0.2, 1.1) * seconds)
        dask.kill(workers.pop(chance.randrange(2)))
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert products(root) == wanted, f"KILL_SEED={SEED}"
        shutil.rmtree(root)


def kill_in_the_middle(root: Path, *words: str, after: float) -> None:
    process = command(root, *words)
    try:
        process.communicate(timeout=after)  # it has come to its end before
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
