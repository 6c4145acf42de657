"""Run a peer's tests: ``python -m tests.peers cs336 FOLDER [options of pytest]``."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# Where the adapter goes, and which tests are those of what the course has.
ADAPTERS = {
    "cs336": ("tests/adapters.py", ["test_model", "test_nn_utils", "test_t"]),
    "minbpe": ("minbpe/__init__.py", ["test_"]),
}
# In place of a package that only some of the tests use.
SKIPPING = """import pytest


def __getattr__(name):
    def skip(*_, **__):
        pytest.skip("needs {package}, which is not installed")

    return skip
"""


def run(peer: str, folder: Path, options: list[str]) -> int:
    """Run the tests of a peer that lies in a folder; return pytest's exit status."""
    target, prefixes = ADAPTERS[peer]
    tests = sorted(
        path.name
        for path in (folder / "tests").glob("test_*.py")
        if path.name.startswith(tuple(prefixes))
    )
    if not tests:
        raise SystemExit(f"{folder} has no tests of {peer}: clone its repository there")
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder / "tests", Path(copy, "tests"))
        for package in ("einops", "tiktoken"):
            if importlib.util.find_spec(package) is None:
                stub = SKIPPING.format(package=package)
                Path(copy, f"{package}.py").write_text(stub)
        Path(copy, target).parent.mkdir(exist_ok=True)
        shutil.copy(HERE / f"{peer}_adapter.py", Path(copy, target))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs"]
        command += ["--rootdir", copy, *(f"tests/{name}" for name in tests), *options]
        paths = os.pathsep.join([copy, str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(command, cwd=copy, env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ADAPTERS:
        raise SystemExit(
            f"say which ({', '.join(ADAPTERS)}) and the folder of its clone"
        )
    sys.exit(run(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
