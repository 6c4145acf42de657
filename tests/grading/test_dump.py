"""Everything that a submission could read is dumped from outside, and searched.

Its memory and the warm parent's, its environment, and each file below its root but for
the system's and Python's own: none of it holds another submission's text, the seed, a
case, a solution or the gradebook.
"""

import os
import re
import sys
from pathlib import Path

import psutil
import pytest

from autograder.grading.judging import judge_all
from autograder.grading.session import Session
from tests.grading.engines import engine_of, processes_of
from tests.grading.sessions import check, solution
from tests.hostile.world import OTHER, Outside
from tests.submissions import COURSE, LESSON

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.sandbox,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may read other memory"),
]

SEED = 0x5EED_0BAD_CAFE_F00D_1234_5678_9ABC_DEF0
OWN = "def softmax(x, axis=-1):\n    return 'THE-OWN-TEXT', x\n"
PUBLIC = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/python")
NEEDLES = {
    "a case's claim": b"Adding 1000 to every score changes no weight",
    "a case's source": b"student.agrees(",
    "a misconception": b"no_max_subtraction",
    "a solution": b"np.swapaxes(k, -1, -2) / d_k**0.5",
    "the seed in hexadecimal": f"{SEED:032x}".encode(),
    "the seed in decimal": str(SEED).encode(),
    "the seed in memory": SEED.to_bytes(16, "little"),
    "the gradebook": b"gradebook.db",
    "where submissions are": b"submitted/",
}


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """Grade another student's work, then have a submission in the middle of its own."""
    outside = Outside(tmp_path_factory.mktemp("outside"), COURSE)
    needles = NEEDLES | {"another submission": outside.secret.encode()}
    with engine_of(outside.course, seed=SEED) as engine:
        other, _ = engine.grade(outside.world(OTHER).submission, OTHER)
        assert other.points == other.max_points
        cells = [solution("softmax", OWN), check("softmax")]
        with Session(engine.sandbox, cells, engine.budget) as session:
            softmax = [each for each in engine.exercises if each.name == "softmax"]
            (result,) = judge_all(session, softmax, SEED, {}, engine.plans)
            assert result.points == 0.0
            processes = processes_of(engine)[1:]
            assert len(processes) == 3  # bubblewrap's, the warm parent, the child
            yield [(each, needles) for each in processes[1:]]
    outside.close()


def memory_of(process: psutil.Process):
    """Return a process's memory, area by area."""
    with (
        Path(f"/proc/{process.pid}/maps").open() as maps,
        Path(f"/proc/{process.pid}/mem").open("rb", 0) as memory,
    ):
        for line in maps:
            first, last, rights = re.match(r"(\w+)-(\w+) (....)", line).groups()
            if rights[0] == "r" and "[v" not in line:  # not the kernel's own pages
                memory.seek(int(first, 16))
                try:
                    yield memory.read(int(last, 16) - int(first, 16))
                except OSError:
                    continue


def files_of(process: psutil.Process):
    """Return the files that a process can reach, but for the system's and Python's."""
    root = Path(f"/proc/{process.pid}/root")
    hidden = {str(root) + path for path in (*PUBLIC, "/proc", sys.base_prefix)}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if f"{folder}/{name}" not in hidden]
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def test_no_secret_is_in_the_memory_of_the_child_or_its_parent(dump):
    leaked = set()
    for process, needles in dump:
        for area in memory_of(process):
            leaked |= {name for name, text in needles.items() if text in area}
    assert leaked == set()


def test_search_of_the_memory_finds_what_is_there(dump):
    parent, child = (process for process, _ in dump)
    holds = [b"THE-OWN-TEXT" in b"".join(memory_of(each)) for each in (parent, child)]
    assert holds == [False, True]


def test_no_secret_is_in_a_file_or_the_environment(dump):
    n_files = 0
    for process, needles in dump:
        texts = [Path(f"/proc/{process.pid}/environ").read_bytes()]
        for path in files_of(process):
            n_files += 1
            texts.append(str(path).encode() + path.read_bytes())
        for text in texts:
            assert [what for what, secret in needles.items() if secret in text] == []
            assert LESSON.encode() not in text
    assert n_files > 10  # the engine's inner part and the course's visible one
