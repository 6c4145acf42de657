"""The sandbox holds for an ordinary user, too: the corpora are graded once as one."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.grading.ordinary import as_ordinary_user, why_not

pytestmark = [pytest.mark.thorough, pytest.mark.sandbox, pytest.mark.alone]

# Those that the sandbox has to withstand; all of them with ORDINARY=all.
CORPORA = {
    "hostile/test_hostile.py": "breaks- or memory",
    "honest/test_honest.py": "torch or colab or await or thread or file",
}
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short")


@pytest.mark.skipif(why_not() != "", reason=why_not() or "it can be done")
@pytest.mark.parametrize("corpus", CORPORA)
def test_corpora_end_the_same_for_an_ordinary_user(corpus):
    # Not in tmp_path: each pytest closes the folder above it to others.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        chosen = [] if os.environ.get("ORDINARY") == "all" else ["-k", CORPORA[corpus]]
        options = [*PYTEST, f"tests/{corpus}", f"--basetemp={folder}/t", *chosen]
        run = subprocess.run(
            as_ordinary_user([sys.executable, *options], folder),
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
