"""What the systems' modules share: results, pages, and a layout to try one in."""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.adapters.judging import Judged
from autograder.adapters.package import Package
from autograder.course import write_atomically
from autograder.grading.result import OptionalExercises

PAGES = Path(__file__).parent / "pages"
REFUSES = (
    "the submission is not judged, and the result says so. `--unsafe`, when the "
    "package is made, judges it all the same, and gives up everything above: a "
    "submission can then write its own result."
)
UNSAFE = (
    "this package was made with `--unsafe`, so a submission runs with the judge's "
    "rights where neither can be had, and can then write its own result."
)
OPTIONAL: Mapping[OptionalExercises, str] = {
    "extra": "are listed, with their points, and count for nothing here: the score "
    "cannot be above its maximum",
    "required": "count as all others",
    "left out": "do not count",
}


def page_of(package: Package, **words: str) -> bytes:
    """Return a package's page of instructions.

    words : what else the page has room for, or otherwise than it is elsewhere
    """
    known = {
        "title": package.title,
        "lesson": package.lesson,
        "number": package.lesson[:2],
        "slug": package.slug,
        "wheel": package.wheel,
        "points": f"{package.points:g}",
        "optional": OPTIONAL[package.optional],
        **words,
    }
    last = UNSAFE if package.unsafe else REFUSES
    layers = (PAGES / "layers.md").read_text(encoding="utf-8").format(last=last)
    text = (PAGES / f"{package.system}.md").read_text(encoding="utf-8")
    return text.format(layers=layers, **known).encode()


def write_result(path: Path, result: dict[str, Any]) -> int:
    """Write a result, whole or not at all; return the exit code.

    It belongs to who has called the judge with ``sudo``, who may have to add to it.
    """
    text = json.dumps(result, indent=1)
    try:
        write_atomically(path, f"{text}\n")
        give_back(path)
    except OSError as error:
        print(f"{path} cannot be written: {error.strerror}")
        return 1
    return 0


def give_back(path: Path) -> None:
    """Return a file to the user who has called ``sudo``, if somebody has."""
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        group = os.environ.get("SUDO_GID", "")
        os.chown(path, int(os.environ["SUDO_UID"]), int(group or -1))


def in_markdown(verdict: Judged) -> str:
    """Return a verdict as a page; what quotes a student is fenced."""
    rows = [
        f"| {row.name} | {'✓' if row.solved else '✗'} | {row.points:g} of "
        f"{row.max_points:g}{' (optional, not counted)' if row.on_top else ''} |"
        for row in verdict.rows
    ]
    table = ["| exercise | solved | points |", "|---|---|---|", *rows, ""]
    reports = [f"{fenced(row.report)}\n" for row in verdict.rows]
    sentence = [fenced(verdict.text), ""] if verdict.text else []
    points = f"{verdict.required_points:g} of {verdict.out_of:g} points"
    return "\n".join(
        [
            f"### {verdict.lesson}: {points}",
            "",
            *sentence,
            *(table if rows else []),
            *reports,
        ]
    )


def fenced(text: str) -> str:
    """Return a text that Markdown shows as it is.

    >>> print(fenced("a ```` b"))
    `````text
    a ```` b
    `````
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def shortened(text: str, limit: int) -> str:
    """Return a text of so many characters at most.

    >>> shortened("a long text", 6)
    'a lon…'
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def put(notebooks: Sequence[Path], folder: Path) -> None:
    """Copy what is handed in into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in notebooks:
        shutil.copyfile(path, folder / path.name)
