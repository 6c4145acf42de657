"""What the documentation's pages show: their blocks of code, and their commands."""

import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Course

ROOT = Course.here().root
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
# Of what follows a name, in a sentence: no option, and nothing that a shell reads.
PROGRAM = r"(?:\.venv/bin/)?(?:autograder|attention-course|nbgrader|make|python)"
INLINE = re.compile(rf"(?<!`)`({PROGRAM} [^`]+)`")
COMMENT = re.compile(r"(?:^|\s)#.*")


def blocks(text: str) -> list[tuple[str, str]]:
    """Return a page's blocks of code, as pairs of language and text."""
    return [
        (language, textwrap.dedent(code).strip())
        for _, language, code in BLOCK.findall(text)
    ]


def lines_of(code: str) -> list[str]:
    """Return the commands of a block: without remarks, each on one line.

    >>> lines_of("make demo   # a class\\n\\nprogram --one \\\\\\n  --two")
    ['make demo', 'program --one --two']
    """
    joined = re.sub(r"\\\n\s*", "", code)
    lines = (COMMENT.sub("", line).strip() for line in joined.splitlines())
    return [line for line in lines if line]


def commands_in_sentences(text: str) -> Iterator[str]:
    """Yield the commands that a page has in its sentences."""
    for command in INLINE.findall(BLOCK.sub("", text)):
        yield re.sub(r"\s+", " ", command)


def clone_of_course(folder: Path) -> Path:
    """Copy the repository's files as they are into a folder, as a new repository."""
    git = ["git", "-C", str(ROOT), "ls-files", "-zco", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    person = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "Course"]):
        subprocess.run(["git", *person, "-C", str(folder), *arguments], check=True)
    return folder
