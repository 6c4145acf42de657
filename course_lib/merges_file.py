"""Learned merges as a text file, one pair a line, as other programs write them too.

The first line is ``#version: 0.2``, each other one two symbols with a space between:
the files of subword-nmt and the ``merges.txt`` of Hugging Face's tokenizers. That
works for the symbols of ``course_lib.bpe`` and of ``course_lib.byte_bpe``, because
neither have white space in them.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from course_lib import arguments

HEADER = "#version: 0.2"


def save_merges(path: Path | str, merges: Sequence[tuple[str, str]]) -> None:
    """Write merges to a file, whole or not at all.

    path : the file; one that is there is replaced
    merges : the learned pairs, in the order in which they were learned

    Raises ``TypeError`` for what are no pairs of symbols, ``ValueError`` for a symbol
    that is empty or has white space in it, and ``OSError`` if the file cannot be
    written; then an older file is as it was.
    """
    path = Path(path)
    lines = [HEADER]
    for number, pair in enumerate(arguments.pairs("merges", merges)):
        if any(symbol.split() != [symbol] for symbol in pair):
            raise ValueError(
                f"merges[{number}] is {pair!r}: a symbol has at least one character "
                "and no white space"
            )
        lines.append(" ".join(pair))
    write_whole(path, arguments.utf_8("merges", "\n".join([*lines, ""])))


def load_merges(path: Path | str) -> list[tuple[str, str]]:
    """Read merges from a file.

    path : a file as ``save_merges`` writes it; lines may end as on Windows

    Returns the pairs in the order in which they were learned. Raises ``ValueError``,
    with the file and the line, for what is no such file, and ``OSError`` if it cannot
    be read.
    """
    try:
        # Only these end a line: a symbol may hold other things that splitlines splits.
        lines = Path(path).read_bytes().decode().replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: byte {error.start} is not UTF-8, so this is no merges file"
        ) from None
    if lines[0] != HEADER:
        raise ValueError(
            f"{path}, line 1: {lines[0][:40]!r} is not {HEADER!r}, with which a merges "
            "file begins"
        )
    if lines[-1] == "":
        lines.pop()
    merges = []
    for number, line in enumerate(lines[1:], start=2):
        left, space, right = line.partition(" ")
        if not (left and space and right) or " " in right:
            raise ValueError(
                f"{path}, line {number}: {line[:40]!r} is not two symbols with a space "
                "between"
            )
        merges.append((left, right))
    return merges


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all; one that is there is replaced."""
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(0o644)  # a temporary file is its owner's alone
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
