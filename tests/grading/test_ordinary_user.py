"""The sandbox holds for an ordinary user, too: the corpora are graded once as one."""

import os
import subprocess
import sys

import pytest

from tests.grading.ordinary import as_ordinary_user, why_not

pytestmark = pytest.mark.sandbox

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short")


@pytest.mark.skipif(why_not() != "", reason=why_not() or "it can be done")
@pytest.mark.parametrize("corpus", ["hostile/test_hostile.py", "honest/test_honest.py"])
def test_the_corpora_end_the_same_for_an_ordinary_user(corpus, tmp_path):
    command = [sys.executable, *PYTEST, f"tests/{corpus}", f"--basetemp={tmp_path}/t"]
    tmp_path.chmod(0o755)
    for above in tmp_path.parents[:2]:
        above.chmod(0o755)
    run = subprocess.run(
        as_ordinary_user(command, tmp_path),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
