"""``python -m tests.benchmarks.bench_fuzz``: 10,000 mangled notebooks, each a verdict.

The test that ``make test`` runs with a few hundred files, run with many: it takes about
half an hour, so ``make bench`` leaves it out. A number may be given instead of 10,000.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from autograder.course import Course

FILES = 10_000
TEST = "tests/grading/test_fuzz.py"


def main(files: int) -> int:
    """Run the fuzz over so many files; give pytest's exit code, 0 if all held."""
    root = Course.here(Path(__file__).parent).root
    command = [sys.executable, "-m", "pytest", "-q", TEST]
    environment = os.environ | {"FUZZ_EXAMPLES": str(files)}
    start = time.perf_counter()
    code = subprocess.run(command, cwd=root, env=environment).returncode
    seconds = time.perf_counter() - start
    print(f"{files} files in {seconds:.0f} s, {1000 * seconds / files:.0f} ms each")
    return code


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else FILES))
