"""Misconceptions as edits of a right answer: the line that a learner writes instead.

An edit is text, read against the code of a right answer without its docstring, as
``ast.unparse`` writes it:

``old -> new``
    ``old`` stands there once, and ``new`` stands there instead. Either may be a part of
    a line, or whole lines; without ``new`` the lines go. What stands once below the
    signature may stand in it, too. ``…`` at the end of a line is the rest of it.
``old => new``
    The same wherever it stands, twice or more.
``name = …``, ``return …``, ``raise …``
    Replaces the one statement that assigns this name, or returns; where there is none,
    it comes first. So does any other statement.

Lines of an edit have the indentation that they have to each other. What an edit says
again as it is, no other misconception changes beside it.
"""

import ast
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from autograder.checking.own_answer import source_of

ONCE, EVERYWHERE = "->", "=>"
ARROW = re.compile(rf"\s+({ONCE}|{EVERYWHERE})(?=\s|$)")
REST = "…"
INDENT = 4 * " "


class EditError(ValueError):
    """An edit that cannot be made.

    row : what its misconception's first row begins with, where that is known
    """

    def __init__(self, fault: str, row: str = "") -> None:
        super().__init__(fault)
        self.row = row


class Span(NamedTuple):
    """A piece of the code from start to end, and what stands there instead."""

    start: int
    end: int
    text: str


Edits = tuple[Span, ...]


class Edited:
    """A right answer whose code can be edited.

    code : without its docstring
    module : where it was written
    names : what it and its edits may use

    >>> def double(x):
    ...     factor = 2
    ...     return factor * x
    >>> code = Edited(double)
    >>> edits = code.read(["factor = 3", "factor * x -> factor + x"])
    >>> code.function(edits)(10)
    13
    """

    def __init__(self, function: Callable[..., Any], source: str = "") -> None:
        """Read the code of a function.

        source : its text, where that is another than the function's own
        """
        self.name, self.module = function.__name__, function.__module__
        self.names: dict[str, Any] = dict(function.__globals__)
        text = textwrap.dedent(source or source_of(function))
        (tree,) = ast.parse(text).body
        assert isinstance(tree, ast.FunctionDef)
        tree.decorator_list = []
        if ast.get_docstring(tree) is not None:
            tree.body = tree.body[1:]
        self.code = ast.unparse(tree)
        self._body = self.code.index("\n") + 1
        self.function = lru_cache(None)(self._function)

    def read(self, edits: Sequence[str]) -> Edits:
        """Return where edits change the code; raises ``EditError``."""
        if not edits:
            raise EditError(
                "no edit: write `name: old -> new`, or rows beginning with |"
            )
        spans = sorted(span for edit in edits for span in self._spans(edit.strip()))
        for one, other in itertools.pairwise(spans):
            if other.start < one.end:
                text = self.code[other.start : min(one.end, other.end)].strip()
                raise EditError(
                    f"two edits of {self.name} change the same text, {text!r}: write "
                    "them as one"
                )
        if self.source(tuple(spans)) == self.code:
            raise EditError(f"{self.name} stays as it is")
        return tuple(spans)

    def source(self, edits: Edits) -> str:
        """Return the code with edits."""
        text = self.code
        for start, end, new in reversed(edits):
            text = text[:start] + new + text[end:]
        text = re.sub(r" +$", "", text, flags=re.MULTILINE)
        return _without_needless_pass(text) if "pass" in text else text

    def joined(self, *parts: Edits) -> Edits | None:
        """Return misconceptions' edits together; None if two change the same."""
        spans = sorted({span for edits in parts for span in edits})
        apart = all(a.end <= b.start for a, b in itertools.pairwise(spans))
        return tuple(spans) if apart and len(spans) == sum(map(len, parts)) else None

    def compiled(self, source: str) -> Callable[..., Any]:
        """Return the function of a changed code; raises ``SyntaxError``."""
        names = dict(self.names)
        exec(compile(source, f"<{self.name}, edited>", "exec"), names)
        function: Callable[..., Any] = names[self.name]
        return function

    def _function(self, edits: Edits) -> Callable[..., Any]:
        source = self.source(edits)
        try:
            return self.compiled(source)
        except SyntaxError as error:
            raise EditError(
                f"{self.name} with its edits is no Python ({error.msg}"
                f"{self._about_rows_in_one(edits)}):\n{source}"
            ) from None

    def _about_rows_in_one(self, edits: Edits) -> str:
        """Return which part of a row has got several rows instead; or ""."""
        for start, end, new in edits:
            if INDENT in new and not self._is_lines(start, end):
                return (
                    f"; {self.code[start:end]!r} is a part of a row, so what replaces "
                    "it is put into one row: for several, replace the whole row"
                )
        return ""

    def _spans(self, edit: str) -> list[Span]:
        """Return the spans of one edit."""
        if len(parts := ARROW.split(edit, maxsplit=1)) == 1:
            return [self._statement(edit)]
        old, arrow, new = textwrap.dedent(parts[0]).strip("\n"), parts[1], parts[2]
        positions = [*self._positions(old)]
        self._require(old, len(positions), arrow)
        return [self._replaced(*each, new) for each in positions]

    def _require(self, old: str, count: int, arrow: str) -> None:
        if count == 0:
            ends = " (the rest of a row is one character, …)" if "..." in old else ""
            raise EditError(
                f"{self.name} has no {old.strip()!r}{ends}; its code is\n{self.code}"
            )
        if arrow == ONCE and count > 1:
            raise EditError(
                f"{self.name} has {old.strip()!r} {count} times: say more of its "
                "line, or => for each of them"
            )
        if arrow == EVERYWHERE and count == 1:
            raise EditError(f"{self.name} has {old.strip()!r} once: say ->")

    def _positions(self, old: str) -> Iterator[tuple[int, int]]:
        """Yield the starts and ends of a text: whole lines, or parts of one.

        What stands nowhere below the signature may stand there.
        """
        rows = old.split("\n")
        is_below = old in self.code[self._body :] or rows[1:] or old.endswith(REST)
        start = self._body if is_below else 0
        lines = self.code[start:].split("\n")
        for index, line in enumerate(lines):
            indent = line[: len(line) - len(line.lstrip())]
            block = [indent + row if row.strip() else row for row in rows]
            below = lines[index : index + len(rows)]
            if len(below) == len(rows) and all(map(_matches, below, block)):
                yield start, start + len("\n".join(below))
            elif len(rows) == 1:
                at = line.find(old)
                while at >= 0:
                    yield start + at, start + at + len(old)
                    at = line.find(old, at + len(old))
            start += len(line) + 1

    def _replaced(self, start: int, end: int, new: str) -> Span:
        """Return the span with its new text; that of whole lines is indented."""
        is_lines = self._is_lines(start, end)
        if not is_lines:
            return Span(start, end, " ".join(new.split("\n")).strip())
        first = self.code[start:end].split("\n", 1)[0]
        indent = first[: len(first) - len(first.lstrip())]
        rows = _dedented(new).strip() or "pass"
        return Span(start, end, textwrap.indent(rows.rstrip(), indent))

    def _is_lines(self, start: int, end: int) -> bool:
        before = self.code[:start].rsplit("\n", 1)[-1]
        return not before and self.code[end : end + 1] in ("\n", "")

    def _statement(self, edit: str) -> Span:
        """Return the span of a statement that replaces its like, or comes first."""
        try:
            (new,) = ast.parse(edit).body
        except (SyntaxError, ValueError) as error:
            reason = f" ({error.msg})" if isinstance(error, SyntaxError) else ""
            raise EditError(
                f"{edit!r} is neither old -> new, with a space on each side of the "
                f"arrow, nor one statement{reason}"
            ) from None
        likes = [each for each in self._statements() if _alike(each[0], new)]
        if len(likes) > 1:
            raise EditError(
                f"{self.name} has {len(likes)} statements like {edit!r}: say old -> new"
            )
        if likes:
            return self._replaced(likes[0][1], likes[0][2], edit)
        return Span(self._body, self._body, textwrap.indent(edit, INDENT) + "\n")

    def _statements(self) -> Iterator[tuple[ast.stmt, int, int]]:
        """Yield the statements of the body with the positions of their lines."""
        starts = [0]
        for line in self.code.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        (tree,) = ast.parse(self.code).body
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt) and node is not tree:
                end = node.end_lineno or node.lineno
                yield node, starts[node.lineno - 1], starts[end] - 1


def _dedented(rows: str) -> str:
    """Return rows with the first one's indentation taken off all of them.

    A row right after the arrow has none, whatever the next rows have.
    """
    if not rows.startswith("\n"):
        return rows.strip(" ")
    return textwrap.dedent(rows.strip("\n"))


def _matches(line: str, row: str) -> bool:
    """Return whether a line of the code is what a row of an edit says."""
    if row.endswith(REST):
        return line.startswith(row.removesuffix(REST).rstrip())
    return line == row


def _without_needless_pass(source: str) -> str:
    """Return code without ``pass`` beside other statements."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source  # whoever compiles it says so
    for node in ast.walk(tree):
        for block in ("body", "orelse"):
            statements = getattr(node, block, None)
            if isinstance(statements, list) and len(statements) > 1:
                left = [each for each in statements if not isinstance(each, ast.Pass)]
                setattr(node, block, left or statements[:1])
    return ast.unparse(tree)


def _alike(one: ast.stmt, other: ast.stmt) -> bool:
    """Return whether two statements assign the same, or both return or raise."""
    if type(one) is not type(other):
        return False
    match one, other:
        case (ast.Return(), _) | (ast.Raise(), _):
            return True
        case ast.Assign(), ast.Assign():
            return [*map(ast.unparse, one.targets)] == [
                *map(ast.unparse, other.targets)
            ]
        case (ast.AugAssign() | ast.AnnAssign(), ast.AugAssign() | ast.AnnAssign()):
            return _texts([one.target]) == _texts([other.target])
    return False


def _texts(nodes: Sequence[ast.expr]) -> list[str]:
    return [ast.unparse(node) for node in nodes]


class Entry(NamedTuple):
    """One misconception of a text: its edits, and what is said of it."""

    name: str
    edits: tuple[str, ...]
    diagnosis: str
    question: str
    why: str


HEAD = re.compile(r"(?P<name>\w+):(?: (?P<edit>.+))?")
SIGNS = "|:?#"


def read_entries(text: str) -> Iterator[Entry]:
    """Read misconceptions from a text; raises ``EditError``.

    An edit that needs lines of its own begins with ``|`` and goes on with ``:``. A
    question or reason that is left out is the one above.

    >>> (entry,) = read_entries('''
    ... softmax_over_queries: axis=-1 -> axis=-2
    ...   Your columns of weights sum to 1, not your rows.
    ...   ? Who shares out a weight of 1: a query among the keys, or a key
    ...     among the queries?
    ...   # axis=-2, or axis=0 on a table, is taken for "along the rows".
    ... ''')
    >>> entry.edits, entry.question[-16:]
    (('axis=-1 -> axis=-2',), 'ong the queries?')
    """
    words = {"": "", "?": "", "#": ""}
    for block in re.split(r"\n(?=\w)", text.strip("\n")):
        head, *rows = block.split("\n")
        match = HEAD.fullmatch(head.rstrip())
        if not match:
            raise EditError(
                f"{head!r} is no name with its edit: `name: old -> new`, the name of "
                "letters, digits and _",
                head,
            )
        edits, sign, words[""] = [match["edit"]] if match["edit"] else [], "", ""
        for row in rows:
            if fault := _fault(row, bool(edits)):
                raise EditError(f"{match['name']}: {fault}", f"{match['name']}:")
            begins, rest = row[2], row[4:]
            if begins == "|":
                edits.append(rest)
            elif begins == ":":
                edits[-1] += f"\n{rest}"
            elif begins in ("?", "#"):
                sign, words[begins] = begins, rest
            else:
                words[sign] = f"{words[sign]} {row.strip()}".strip()
        yield Entry(match["name"], tuple(edits), *words.values())


def _fault(row: str, has_edit: bool) -> str:
    """Return what a row of a misconception lacks to be read as it looks; or ""."""
    text = row.strip()
    if not text:
        return "a blank row: leave it out, the next row or name follows at once"
    if row[:2].strip(" ") or row[2] == "\t":
        return f"{row!r} is not indented by two"
    if row[2] == " " and text[0] in SIGNS and text[1:2] == " ":
        return f"{text!r} is indented by more than two: {text[0]} is read there alone"
    if row[2] in SIGNS and row[3:4].strip():
        return f"{text!r} lacks a space after {row[2]}"
    if row[2] == ":" and not has_edit:
        return f"{text!r} goes on with an edit: the one that begins with | is missing"
    return ""
