"""Misconceptions as edits of a right answer: the line that a learner writes instead.

An edit is text, read against the code of a right answer without its docstring, as
``ast.unparse`` writes it:

``old -> new``
    ``old`` stands there once, and ``new`` stands there instead. Either may be a part of
    a line, or whole lines; without ``new`` the lines go.
``old => new``
    The same in each of two or more places.
``name = …``, ``return …``, ``raise …``
    Replaces the one statement that assigns this name, or returns; where there is none,
    it comes first. So does any other statement.

Lines of an edit have the indentation that they have to each other.
"""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

ONE_PLACE, EVERYWHERE = " -> ", " => "
INDENT = 4 * " "


class EditError(ValueError):
    """An edit that cannot be made."""


class Span(NamedTuple):
    """A place of the code, and what stands there instead."""

    start: int
    end: int
    text: str


Edits = tuple[Span, ...]


class Edited:
    """A right answer whose code can be edited; called as it is, it is right.

    >>> def double(x):
    ...     factor = 2
    ...     return factor * x
    >>> code = Edited(double)
    >>> edits = code.read(["factor = 3", "factor * x -> factor + x"])
    >>> code.function(edits)(10)
    13
    """

    def __init__(
        self,
        function: Callable[..., Any],
        names: Mapping[str, Any] | None = None,
        source: str = "",
    ) -> None:
        """Read the code of a function.

        names : for edits, beside those of the function's module
        source : its text, where that is another than the function's own
        """
        self.name = function.__name__
        self._names = {**function.__globals__, **(names or {})}
        text = textwrap.dedent(source or inspect.getsource(function))
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
        spans = sorted(span for edit in edits for span in self._spans(edit.strip()))
        for one, other in itertools.pairwise(spans):
            if other.start < one.end:
                raise EditError(f"two edits of {self.name} change the same place")
        return tuple(spans)

    def source(self, edits: Edits) -> str:
        """Return the code with edits."""
        text = self.code
        for start, end, new in reversed(edits):
            text = text[:start] + new + text[end:]
        return text

    def joined(self, one: Edits, other: Edits) -> Edits | None:
        """Return two misconceptions' edits together; None if they change one place."""
        spans = sorted({*one, *other})
        apart = all(a.end <= b.start for a, b in itertools.pairwise(spans))
        return tuple(spans) if apart and len(spans) == len(one) + len(other) else None

    def _function(self, edits: Edits) -> Callable[..., Any]:
        names: dict[str, Any] = dict(self._names)
        source = self.source(edits)
        try:
            exec(compile(source, f"<{self.name}, edited>", "exec"), names)
        except SyntaxError as error:
            raise EditError(
                f"{self.name} with its edits is no Python ({error.msg}):\n{source}"
            ) from None
        function: Callable[..., Any] = names[self.name]
        return function

    def _spans(self, edit: str) -> list[Span]:
        """Return the places of one edit."""
        for arrow in (ONE_PLACE, EVERYWHERE):
            old, found, new = f"{edit} ".partition(arrow)
            if not found and edit.endswith(arrow.rstrip()):
                old, found, new = edit.removesuffix(arrow.rstrip()), arrow, ""
            if found:
                places = [*self._places(textwrap.dedent(old).strip("\n "))]
                self._require(old, len(places), arrow)
                return [self._replaced(*place, new) for place in places]
        return [self._statement(edit)]

    def _require(self, old: str, count: int, arrow: str) -> None:
        if count == 0:
            raise EditError(f"{self.name} has no {old.strip()!r}")
        if arrow == ONE_PLACE and count > 1:
            raise EditError(
                f"{self.name} has {old.strip()!r} {count} times: say more of its "
                "line, or => for each of them"
            )
        if arrow == EVERYWHERE and count == 1:
            raise EditError(f"{self.name} has {old.strip()!r} once: say ->")

    def _places(self, old: str) -> Iterator[tuple[int, int]]:
        """Yield the starts and ends of a text: whole lines, or parts of one."""
        rows = old.split("\n")
        start = self._body
        lines = self.code[start:].split("\n")
        for index, line in enumerate(lines):
            indent = line[: len(line) - len(line.lstrip())]
            block = [indent + row if row.strip() else row for row in rows]
            if lines[index : index + len(rows)] == block:
                yield start, start + len("\n".join(block))
            elif len(rows) == 1:
                at = line.find(old)
                while at >= 0:
                    yield start + at, start + at + len(old)
                    at = line.find(old, at + len(old))
            start += len(line) + 1

    def _replaced(self, start: int, end: int, new: str) -> Span:
        """Return the span of a place with its new text, whole lines indented."""
        is_lines = self._is_lines(start, end)
        if not is_lines:
            return Span(start, end, new.strip(" "))
        first = self.code[start:end].split("\n", 1)[0]
        indent = first[: len(first) - len(first.lstrip())]
        rows = textwrap.dedent(new.strip(" ").strip("\n")) or "pass"
        return Span(start, end, textwrap.indent(rows.rstrip(), indent))

    def _is_lines(self, start: int, end: int) -> bool:
        before = self.code[:start].rsplit("\n", 1)[-1]
        return not before and self.code[end : end + 1] in ("\n", "")

    def _statement(self, edit: str) -> Span:
        """Return the span of a statement that replaces its like, or comes first."""
        try:
            (new,) = ast.parse(edit).body
        except (SyntaxError, ValueError):
            raise EditError(f"{edit!r} is neither old -> new nor a statement") from None
        likes = [place for place in self._statements() if _alike(place[0], new)]
        if len(likes) > 1:
            raise EditError(
                f"{self.name} has {len(likes)} statements like {edit!r}: say old -> new"
            )
        if likes:
            return self._replaced(likes[0][1], likes[0][2], edit)
        return Span(self._body, self._body, textwrap.indent(edit, INDENT) + "\n")

    def _statements(self) -> Iterator[tuple[ast.stmt, int, int]]:
        """Yield the statements of the body with the places of their lines."""
        starts = [0]
        for line in self.code.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        (tree,) = ast.parse(self.code).body
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt) and node is not tree:
                end = node.end_lineno or node.lineno
                yield node, starts[node.lineno - 1], starts[end] - 1


def _alike(one: ast.stmt, other: ast.stmt) -> bool:
    """Return whether two statements assign the same, or both return or raise."""
    if isinstance(one, ast.Return) or isinstance(one, ast.Raise):
        return type(one) is type(other)
    targets = [
        [ast.unparse(target) for target in each.targets]
        if isinstance(each, ast.Assign)
        else [ast.unparse(each.target)]
        if isinstance(each, ast.AugAssign | ast.AnnAssign)
        else None
        for each in (one, other)
    ]
    return (
        type(one) is type(other) and targets[0] is not None and targets[0] == targets[1]
    )
