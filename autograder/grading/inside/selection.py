"""Choose which cells of a rebuilt notebook run.

- Set-up, answers and the learner's own cells run, checks never.
- A demonstration runs only if something that runs needs a name from it.
- A stub does not run where it would hide an answer further above.

Which names a cell binds and needs is read from its text, in the order in which Python
would run it. Nothing is run: a branch counts as taken, and a loop as run once.
"""

import ast
import builtins
import functools
import itertools
import re
import warnings
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

WORD = re.compile(r"[^\W\d]\w*")
# IPython reads the whole cell again for each line that is not Python.
NON_PYTHON_LINE = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$", re.MULTILINE)
MAX_NON_PYTHON_LINES = 60
MAX_CELL_LENGTH = 200_000  # characters: Python needs 900 bytes to parse each
# Where these are used, names may be in strings: eval("q @ k.T"), %time f(x), !echo {x}.
INDIRECT = {"eval", "exec", "globals", "locals", "vars", "get_ipython"}
# With these a statement may bind, or change, what its text does not name.
UNSEEN = re.compile(
    r"\b(eval|exec|compile|globals|locals|vars|get_ipython|[sd]e[tl]attr|builtins|modules"
    r"|patch|__(builtins|dict|setattr|setitem|globals)__)\b"
)
MAX_PARTS = 200  # statements of a cell that are read one by one
# Magics whose text runs as Python in the notebook; before it there may be options.
RUNS_PYTHON = {"time", "timeit", "capture", "prun"}
OPTIONS = re.compile(r"(-\S+\s+)*")
CHANGES = {
    *"append extend insert add update setdefault pop remove".split(),
    *"clear sort reverse fill discard popitem".split(),
}
ALWAYS = {"setup", "solution", "own"}
PYTHONS = frozenset(dir(builtins))


def parsed(source: str) -> ast.Module:
    """Parse a cell, magics and shell lines included; raises ``SyntaxError``."""
    if len(source) > MAX_CELL_LENGTH:
        raise SyntaxError("too long to be read for its names")
    try:
        return ast.parse(source)
    except SyntaxError:
        if len(NON_PYTHON_LINE.findall(source)) > MAX_NON_PYTHON_LINES:
            raise
        return ast.parse(TransformerManager().transform_cell(source))


class Scope(ast.NodeVisitor):
    """Follows one scope in the order in which it runs.

    bound : names bound so far
    bound_later : names that functions defined here bind when they are called
    now : names looked up before they were bound
    later : names that functions defined here look up when they are called
    """

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.now: set[str] = set()
        self.later: set[str] = set()
        self.bound_later: set[str] = set()
        self.outer: set[str] = set()  # declared ``global``

    @property
    def needs(self) -> set[str]:
        """Names that another cell must have bound."""
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
        """Bind a name anew: what it stands for is changed."""
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
            self.strings(_strings(node.slice))

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
        self.bound_later |= inner.bound_later
        self.later |= inner.later  # methods do not see the names of their class
        self.bind(node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit_all([*node.decorator_list, node.returns])
        self.function(node.args, node.body)
        self.bind(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.function(node.args, [node.body])

    def function(self, parameters: ast.arguments, body: Iterable[ast.AST]) -> None:
        self.visit_all([*parameters.defaults, *parameters.kw_defaults])
        arguments = [*parameters.posonlyargs, *parameters.args]
        arguments += parameters.kwonlyargs
        arguments += filter(None, (parameters.vararg, parameters.kwarg))
        self.visit_all(each.annotation for each in arguments)
        inner = _FunctionScope({each.arg for each in arguments})
        inner.visit_all(body)
        own = inner.bound - inner.outer
        self.later |= (inner.now | inner.later) - own
        self.bound_later |= inner.bound_later | (inner.bound & inner.outer)

    def visit_comprehension_of(self, node: Any) -> None:
        inner = _FunctionScope(set())
        for part in node.generators:
            inner.visit_all([part.target, part.iter, *part.ifs])
        keyed = isinstance(node, ast.DictComp)
        inner.visit_all([node.key, node.value] if keyed else [node.elt])
        walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        own = inner.bound - walrus
        for name in sorted(inner.now - own):
            self.look_up(name)
        self.bound_later |= inner.bound_later
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
            strings = [text for part in node.args for text in _strings(part)]
            if isinstance(name, ast.Attribute) and name.attr.endswith("_magic"):
                self.magic(strings)
            else:
                self.strings(strings)

    def strings(self, strings: Iterable[str]) -> None:
        """Count each word in some strings as a name: they may be run."""
        self.later.update(word for text in strings for word in WORD.findall(text))

    def magic(self, strings: list[str]) -> None:
        """Read a magic: its name, its line, and for one of a whole cell the rest."""
        name, *options, text = strings if len(strings) > 1 else ["", ""]
        self.strings(options)
        if name not in RUNS_PYTHON:
            return self.strings([] if options else [text])
        try:
            self.visit_all(parsed(OPTIONS.sub("", text, count=1)).body)
        except SyntaxError:
            self.strings([text])


class _FunctionScope(Scope):
    """A function's scope: a name that is bound anywhere in it is its own."""

    def __init__(self, arguments: set[str]) -> None:
        super().__init__()
        self.bound |= arguments

    def look_up(self, name: str) -> None:
        self.now.add(name)

    def change(self, node: ast.expr) -> None:
        """Ignore it: a change of something is no binding of its name."""


def _called(node: ast.AST) -> set[str]:
    """Return the name at the root of a call, below any chain of attributes."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _strings(node: ast.AST) -> list[str]:
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return [value for value in values if isinstance(value, str)]


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
            warnings.simplefilter("ignore")  # an invalid escape is not our concern
            tree = parsed(source)
            scope = Scope()
            scope.visit_all(tree.body)
    # A text that breaks the parser or the visitor must not cost the other cells.
    except Exception:
        return Names(needs=frozenset(WORD.findall(source)))
    stubs = [
        n.name for n in tree.body if isinstance(n, ast.FunctionDef) and _is_stub(n)
    ]
    return Names(
        frozenset(scope.bound | scope.bound_later),
        frozenset(scope.needs),
        frozenset(stubs) if len(stubs) == len(tree.body) else frozenset(),
        empty=not tree.body,
    )


def _is_stub(node: ast.FunctionDef) -> bool:
    rest = [statement for statement in node.body if not _is_string(statement)]
    raised = rest[0].exc if len(rest) == 1 and isinstance(rest[0], ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def chosen_cells(cells: Sequence[tuple[str, str]]) -> list[int]:
    """Return the indices of the cells that run, in order.

    cells : role and source of each, in the order of the notebook
    """
    names = [names_of(text) if role != "check" else Names() for role, text in cells]
    roles = [role for role, _ in cells]
    binders: dict[str, list[int]] = defaultdict(list)
    for index, cell_names in enumerate(names):
        for name in cell_names.binds:
            binders[name].append(index)
    for index in _hiding_stubs(roles, names, binders):
        roles[index] = "skipped"
        for name in names[index].binds:
            binders[name].remove(index)
    running = {index for index, role in enumerate(roles) if role in ALWAYS}
    waiting = sorted(running)
    while waiting:
        index = waiting.pop()
        for name in names[index].needs - PYTHONS:
            binder = _binder(index, binders.get(name, []), running)
            if binder is not None and binder not in running:
                running.add(binder)
                waiting.append(binder)
    return [index for index in sorted(running) if not names[index].empty]


def texts_behind(cells: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return for each exercise its cell's text, and what it needs of the own cells.

    cells : role, source and exercise of each
    """
    own = [part for role, text, _ in cells if role == "own" for part in _parts(text)]
    texts = {}
    for role, text, exercise in cells:
        if role == "solution":
            behind, needs = [text], set(names_of(text).needs)
            waiting = list(own)
            while used := [each for each in waiting if each[0].binds & needs]:
                waiting = [each for each in waiting if each not in used]
                behind += [inner for _, inner in used]
                needs.update(*(names.needs for names, _ in used))
            texts[exercise] = "\n".join(behind)
    return texts


def _parts(source: str) -> list[tuple[Names, str]]:
    """Return a cell's statements, each with its names.

    One that may bind names unseen counts as binding all that the cell binds.
    """
    whole = names_of(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = [node.end_lineno for node in ast.parse(source).body]
    except Exception:  # magics, or a text that breaks the parser
        return [(whole, source)]
    if len(ends) > MAX_PARTS:
        return [(whole, source)]
    lines = re.split(r"\r\n?|\n", source)
    parts = ["\n".join(lines[i:j]) for i, j in itertools.pairwise([0, *ends])]
    names = [
        replace(names_of(part), binds=whole.binds)
        if UNSEEN.search(part)
        else names_of(part)
        for part in parts
    ]
    return [*zip(names, parts, strict=True)]


def _binder(index: int, binders: list[int], running: set[int]) -> int | None:
    """Return which cell binds a name that the one at an index needs.

    The last above that binds it, as in the notebook. Without one, a cell below that
    runs anyhow, else the first demonstration below.
    """
    n_above = bisect_left(binders, index)
    if n_above:
        return binders[n_above - 1]
    for binder in binders:
        if binder in running and binder != index:
            return binder
    return next((binder for binder in binders if binder != index), None)


def _hiding_stubs(
    roles: Sequence[str], names: Sequence[Names], binders: Mapping[str, Sequence[int]]
) -> list[int]:
    """Return the indices of stubs that would only hide an answer further above.

    Who writes an answer into a cell of their own often leaves the stub below it.
    """

    def answers(name: str, index: int) -> bool:
        return roles[index] in ALWAYS and name not in names[index].stubs

    return [
        index
        for index, cell_names in enumerate(names)
        if roles[index] == "solution"
        and cell_names.stubs
        and all(
            any(answers(name, above) for above in binders[name] if above < index)
            for name in cell_names.stubs
        )
    ]
