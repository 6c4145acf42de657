"""Dolos, which finds what token sequences share: its core, in JavaScript, under Node.

Dolos (https://dolos.ugent.be) is the University of Ghent's. Of a student's answers it
gets numbers that stand for tokens, and no text: nothing that a student wrote is run,
parsed or sent anywhere. ``make similar`` installs it, as ``package-lock.json`` says.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from autograder.course import CourseError

FOLDER = Path(__file__).parent / "dolos"
CORE = FOLDER / "node_modules" / "@dodona" / "dolos-core" / "package.json"
OLDEST_NODE = 18
SECONDS = 300  # for a class; 300 students with three lessons take 2
MEGABYTES = 2048
OPTIONS = (
    f"--max-old-space-size={MEGABYTES}",
    "--disallow-code-generation-from-strings",
)

KGRAM = 16  # tokens of a fingerprint: a line and a half
WINDOW = 4  # of so many fingerprints in a row, one is kept

Fingerprint = list[tuple[int, int]]  # each file that has it, and its first token there


def shared_fingerprints(
    files: Sequence[Sequence[int]], template: Sequence[Sequence[int]], most: int
) -> list[Fingerprint]:
    """Return what at least two files have in common, and at most so many.

    files : token sequences, as numbers
    template : what does not count: everybody has got it

    Raises ``CourseError`` if Dolos cannot be run.
    """
    node = _node()
    task = {
        "kgram": KGRAM,
        "window": WINDOW,
        "most": most,
        "files": files,
        "template": template,
    }
    try:
        ended = subprocess.run(
            [node, *OPTIONS, str(FOLDER / "compare.mjs")],
            input=json.dumps(task).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env={},
        )
        return [
            [(int(file), int(start)) for file, start in fingerprint]
            for fingerprint in json.loads(ended.stdout)
        ]
    except subprocess.TimeoutExpired:
        reason = f"took longer than {SECONDS} s"
    except subprocess.CalledProcessError as error:
        is_full = b"heap out of memory" in error.stderr
        reason = _last_line(error.stderr)
        if is_full:
            reason = f"needed more than {MEGABYTES} MB"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise CourseError(
        f"Dolos could not compare the submissions ({reason}): compare fewer lessons at "
        "a time, or run `make similar` to install it anew"
    )


def _node() -> str:
    """Return Node's path, once all that Dolos needs is there."""
    node = shutil.which("node")
    if not node:
        raise CourseError(
            f"`autograder similar` needs Node.js {OLDEST_NODE} or newer, and there is "
            "no `node`: install it (https://nodejs.org), run `make similar`, and call "
            "again"
        )
    version = _version(node)
    if version < OLDEST_NODE:
        raise CourseError(
            f"`autograder similar` needs Node.js {OLDEST_NODE} or newer, and {node} is "
            f"{version or 'of no known version'}: install a newer one "
            "(https://nodejs.org), and call again"
        )
    if not CORE.is_file():
        raise CourseError(
            "Dolos, which compares submissions, is not installed: run `make similar` "
            "once, and call again"
        )
    return node


def _version(node: str) -> int:
    try:
        ended = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.match(r"v(\d+)\.", ended.stdout)
    return int(match[1]) if match else 0


def _last_line(output: bytes) -> str:
    lines = [row for row in output.decode("utf-8", "replace").splitlines() if row]
    errors = [row for row in lines if "Error" in row]
    return (errors or lines or ["it ended without a word"])[0][:200]
