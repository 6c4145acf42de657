"""Choose which cells of a rebuilt notebook run.

Set-up, answers and the learner's own cells do, checks never. A demonstration runs only
if something that runs needs a name from it. Which names a cell needs is ``names``'.
"""

import ast
import builtins
import functools
import re
import warnings
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

WORD = re.compile(r"[^\W\d]\w*")
# IPython looks through the whole cell once more for each line that is not Python.
ODD_LINE = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$", re.MULTILINE)
MOST_ODD_LINES = 60
LONGEST = 200_000  # characters: Python takes 900 bytes of memory to parse each
# Where these are, names may stand in texts: eval("q @ k.T"), %time f(x), !echo {x}.
INDIRECT = {"eval", "exec", "globals", "locals", "vars", "get_ipython"}
# Magics whose text runs as Python in the notebook; before it there may be options.
RUNS_PYTHON = {"time", "timeit", "capture", "prun"}
OPTIONS = re.compile(r"(-\S+\s+)*")
CHANGES = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove"}
CHANGES |= {"clear", "sort", "reverse", "fill", "discard", "popitem"}


def parsed(source: str) -> ast.Module:
    """Parse a cell, magics and shell lines included; raises ``SyntaxError``."""
    if len(source) > LONGEST:
        raise SyntaxError("too long to be read for its names")
    try:
        return ast.parse(source)
    except SyntaxError:
        if len(ODD_LINE.findall(source)) > MOST_ODD_LINES:
            raise
        return ast.parse(TransformerManager().transform_cell(source))


class Scope(ast.NodeVisitor):
    """Follows one scope in the order in which it runs.

    bound : names bound so far
    lent : names that functions defined here bind when they are called
    now : names looked up before they were bound
    later : names that functions defined here look up when they are called
    """

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.now: set[str] = set()
        self.later: set[str] = set()
        self.lent: set[str] = set()
        self.outer: set[str] = set()  # declared ``global``

    @property
    def needs(self) -> set[str]:
        """Names that somebody else must have bound."""
        return self.now | (self.later - self.bound)

    def visit_all(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id)
        else:
            self.look_up(node.id)

    def look_up(self, name: str) -> None:
        if name not in self.bound:
            self.now.add(name)

    def bind(self, name: str | None) -> None:
        if name:
            self.bound.add(name)

    def change(self, node: ast.expr) -> None:
        """Note that what a name stands for is changed: it counts as bound anew."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            self.bind(node.id)

    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self.change(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit_Attribute(node)
        if _called(node.value) & INDIRECT:  # globals()["scores"]
            self.texts(_texts(node.slice))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit_all([node.value, *node.targets])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.look_up(node.target.id)
        self.visit(node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit_all([node.annotation, node.value])
        if node.value or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit_all([node.value, node.target])

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit_all([node.iter, node.target, *node.body, *node.orelse])

    visit_AsyncFor = visit_For

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name != "*":  # whatever that brings is not known here
                self.bind(alias.asname or alias.name.split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.visit_all([node.type])
        self.bind(node.name)
        self.visit_all(node.body)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        self.bind(node.name)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        self.bind(node.rest)

    def visit_Global(self, node: ast.Global) -> None:
        self.outer.update(node.names)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all([*node.decorator_list, *node.bases, *node.keywords])
        inner = Scope()
        inner.visit_all(node.body)
        for name in inner.now:
            self.look_up(name)
        self.lent |= inner.lent
        self.later |= inner.later  # methods do not see the names of their class
        self.bind(node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit_all([*node.decorator_list, node.returns])
        self.function(node.args, node.body)
        self.bind(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.function(node.args, [node.body])

    def function(self, taken: ast.arguments, body: Iterable[ast.AST]) -> None:
        self.visit_all([*taken.defaults, *taken.kw_defaults])
        every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs]
        every += [each for each in (taken.vararg, taken.kwarg) if each]
        self.visit_all(each.annotation for each in every)
        inner = _Function({each.arg for each in every})
        inner.visit_all(body)
        own = inner.bound - inner.outer
        self.later |= (inner.now | inner.later) - own
        self.lent |= inner.lent | (inner.bound & inner.outer)

    def visit_comprehension_of(self, node: Any) -> None:
        inner = _Function(set())
        for part in node.generators:
            inner.visit_all([part.target, part.iter, *part.ifs])
        keyed = isinstance(node, ast.DictComp)
        inner.visit_all([node.key, node.value] if keyed else [node.elt])
        walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        own = inner.bound - walrus
        for name in sorted(inner.now - own):
            self.look_up(name)
        self.lent |= inner.lent
        self.later |= inner.later - own
        for name in walrus:
            self.bind(name)

    visit_ListComp = visit_SetComp = visit_comprehension_of
    visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = node.func
        if isinstance(name, ast.Attribute) and name.attr in CHANGES:
            self.change(name)
        if _called(node) & INDIRECT:
            texts = [text for part in node.args for text in _texts(part)]
            if isinstance(name, ast.Attribute) and name.attr.endswith("_magic"):
                self.magic(texts)
            else:
                self.texts(texts)

    def texts(self, texts: Iterable[str]) -> None:
        """Take each word in some texts for a name: they may be run."""
        self.later.update(word for text in texts for word in WORD.findall(text))

    def magic(self, texts: list[str]) -> None:
        """Read a magic: its name, its line, and for one of a whole cell the rest."""
        name, *options, text = texts if len(texts) > 1 else ["", ""]
        self.texts(options)
        if name not in RUNS_PYTHON:
            return self.texts([] if options else [text])
        try:
            self.visit_all(parsed(OPTIONS.sub("", text, count=1)).body)
        except SyntaxError:
            self.texts([text])


class _Function(Scope):
    """A function's scope: a name that is bound anywhere in it is its own."""

    def __init__(self, arguments: set[str]) -> None:
        super().__init__()
        self.bound |= arguments

    def look_up(self, name: str) -> None:
        self.now.add(name)

    def change(self, node: ast.expr) -> None:
        """A change of something is no binding of its name."""


def _called(node: ast.AST) -> set[str]:
    """Give the name at the root of a call, however long its chain of attributes is."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _texts(node: ast.AST) -> list[str]:
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return [text for text in found if isinstance(text, str)]


@dataclass(frozen=True)
class Names:
    """What one cell does with names.

    binds : names that it binds or changes at its top level
    needs : names that it looks up and has not bound itself before
    stubs : functions that it defines and that only raise NotImplementedError
    empty : whether there is nothing to run in it
    """

    binds: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    stubs: frozenset[str] = frozenset()
    empty: bool = False


@functools.lru_cache(maxsize=4096)  # the lesson's own cells are read before any fork
def names_of(source: str) -> Names:
    """Read one cell. Of a text that is no Python, each word counts as looked up."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a text is not our matter
            tree = parsed(source)
            scope = Scope()
            scope.visit_all(tree.body)
    # A parser or visitor that a strange text breaks must not cost the other cells.
    except Exception:
        return Names(needs=frozenset(WORD.findall(source)))
    stubs = [
        n.name for n in tree.body if isinstance(n, ast.FunctionDef) and _is_stub(n)
    ]
    return Names(
        frozenset(scope.bound | scope.lent),
        frozenset(scope.needs),
        frozenset(stubs) if len(stubs) == len(tree.body) else frozenset(),
        empty=not tree.body,
    )


def _is_stub(node: ast.FunctionDef) -> bool:
    rest = [s for s in node.body if not _is_text(s)]
    raised = rest[0].exc if len(rest) == 1 and isinstance(rest[0], ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


ALWAYS = {"setup", "solution", "own"}
PYTHONS = frozenset(dir(builtins))


def chosen(cells: Sequence[tuple[str, str]]) -> list[int]:
    """Give the places of the cells that run, in order.

    cells : role and source of each, in the order of the notebook
    """
    found = [names_of(text) if role != "check" else Names() for role, text in cells]
    roles = [role for role, _ in cells]
    binders: dict[str, list[int]] = defaultdict(list)
    for place, names in enumerate(found):
        for name in names.binds:
            binders[name].append(place)
    for place in _hiding(roles, found, binders):
        roles[place] = "left out"
        for name in found[place].binds:
            binders[name].remove(place)
    running = {place for place, role in enumerate(roles) if role in ALWAYS}
    waiting = sorted(running)
    while waiting:
        place = waiting.pop()
        for name in found[place].needs - PYTHONS:
            giver = _giver(place, binders.get(name, []), running)
            if giver is not None and giver not in running:
                running.add(giver)
                waiting.append(giver)
    return [place for place in sorted(running) if not found[place].empty]


def _giver(place: int, binders: list[int], running: set[int]) -> int | None:
    """Say which cell gives a name to the one at a place.

    The last above that binds it, as in the notebook. Without one, a cell below that
    runs anyhow, else the first demonstration below.
    """
    at = bisect_left(binders, place)
    if at:
        return binders[at - 1]
    for binder in binders:
        if binder in running and binder != place:
            return binder
    return next((binder for binder in binders if binder != place), None)


def _hiding(
    roles: Sequence[str], found: Sequence[Names], binders: Mapping[str, Sequence[int]]
) -> list[int]:
    """Give the places of stubs that would only hide an answer further above.

    Who writes an answer into a cell of their own often leaves the stub below it.
    """

    def answers(name: str, place: int) -> bool:
        return roles[place] in ALWAYS and name not in found[place].stubs

    return [
        place
        for place, names in enumerate(found)
        if roles[place] == "solution"
        and names.stubs
        and all(
            any(answers(name, above) for above in binders[name] if above < place)
            for name in names.stubs
        )
    ]


# MERGED autograder.grading.inside.scope: Follow a piece of Python in the order in which it would run, for the names in it.
#
#   Nothing is run. A branch counts as taken, and a loop as run once.
#
# MERGED autograder.grading.inside.names: What one cell does with names, read from its text.
#
#   How Python is followed is in ``scope``; which cells run, in ``selection``.
#
