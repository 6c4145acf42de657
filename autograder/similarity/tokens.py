"""Python code as tokens that are the same under other names, remarks and layout.

Names that a learner chooses are all one token, so are numbers, so are strings.
Keywords, builtins, attributes and the exercises' names stay. Comments, docstrings and
the layout go. Code that does not parse is read as far as that goes.
"""

import builtins
import itertools
import keyword
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from autograder.checking.registry import exercise_names

MAX_RESTARTS = 20  # after a line that is no Python
NAME, NUMBER, STRING = "name", "0", '""'
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
SIGNS = {tokenize.INDENT: "indent", tokenize.DEDENT: "dedent", tokenize.NEWLINE: "end"}
# From Python 3.12 on, an f-string comes in parts.
IN_FSTRING = {"FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"}
FIXED = frozenset({*keyword.kwlist, *dir(builtins)})


class CodeToken(NamedTuple):
    """One token.

    start, end : its characters in the source
    text : as it stands there, for a name
    """

    kind: str
    start: int
    end: int
    text: str = ""


def tokens(source: str, most: int) -> list[CodeToken]:
    """Return a source's tokens, at most so many.

    >>> [each.kind for each in tokens("total = x.sum()  # of all", 9)]
    ['name', '=', 'name', '.', 'sum', '(', ')', 'end']
    """
    return [*itertools.islice(_tokens(source), most)]


def _tokens(source: str) -> Iterator[CodeToken]:
    lines = [f"{row}\n" for row in source.split("\n")]
    starts = [0, *itertools.accumulate(map(len, lines))]
    known = FIXED | {*exercise_names()}
    before, is_first, is_docstring = "", True, False  # of the line
    for row, token in _python_tokens(lines):
        if token.type in LAYOUT:
            continue
        start = starts[row + token.start[0] - 1] + token.start[1]
        end = starts[min(row + token.end[0] - 1, len(lines))] + token.end[1]
        kind = _kind(token, before, known)
        ends_docstring = is_docstring and token.type == tokenize.NEWLINE
        is_docstring = kind == STRING and is_first
        is_first = token.type in SIGNS
        before = token.string
        if not is_docstring and not ends_docstring:
            size = len(source)
            yield CodeToken(kind, min(start, size), min(end, size), token.string)


def _kind(
    token: tokenize.TokenInfo, before: str, known: frozenset[str] | set[str]
) -> str:
    if token.type in SIGNS:
        return SIGNS[token.type]
    if token.type == tokenize.NUMBER:
        return NUMBER
    if token.type == tokenize.STRING or tokenize.tok_name[token.type] in IN_FSTRING:
        return STRING
    if token.type == tokenize.NAME and before != "." and token.string not in known:
        return NAME
    return token.string


def _python_tokens(lines: list[str]) -> Iterator[tuple[int, tokenize.TokenInfo]]:
    """Yield tokens, and the row from which theirs count; go on below what is none."""
    row = 0
    for _ in range(MAX_RESTARTS):
        last = 0
        try:
            for token in tokenize.generate_tokens(iter([*lines[row:], ""]).__next__):
                last = token.start[0]
                yield row, token
        except (tokenize.TokenError, SyntaxError, StopIteration):
            row += max(last, 1)
        else:
            return
        if row >= len(lines):
            return
