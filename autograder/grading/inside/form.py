"""What an answer is up to its names, comments and layout: its form, as a digest.

It is read from a cell's text in the sandbox, before any cell has run; the trusted
process computes those of the course's own answers with the same functions.
"""

import ast
import hashlib
from collections.abc import Iterable, Sequence

from .selection import parsed

MAX_FORMS = 50  # functions of one cell that are read
# Shorter answers have no form: many people write the same. Of right answers by people
# who had not seen the course's, 38 of 596 are the same, most of one statement; of those
# with 45 nodes or more, 2 of 401 (``tests/grading/test_form.py``).
MIN_NODES = 45


def forms_of(cells: Sequence[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return for each exercise the forms of the functions that may be its answer.

    cells : role, source and exercise of each; an answer's cell counts with all of its
        functions, whatever they are called, and an own one with those of its name
    """
    forms: dict[str, list[str]] = {}
    exercises = {exercise for role, _, exercise in cells if role == "solution"}
    for role, source, exercise in cells:
        own = role == "own" and any(f"def {name}(" in source for name in exercises)
        if role == "solution" or own:
            for name, form in _forms(source):
                if exercise or name in exercises:
                    forms.setdefault(exercise or name, []).append(form)
    return forms


def _forms(source: str) -> list[tuple[str, str]]:
    """Return the name and the form of each function that is long enough."""
    try:
        tree = parsed(source)
        functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
        named = [(each.name, form_of(each)) for each in functions[:MAX_FORMS]]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [(name, form) for name, (form, n_nodes) in named if n_nodes >= MIN_NODES]


def form_of(function: ast.FunctionDef) -> tuple[str, int]:
    """Return a function's form, and how many nodes it has; it is changed in place.

    Names that it binds are numbered in their order. Docstrings and annotations are left
    out; comments and layout are no part of a tree.
    """
    _Plain().visit(function)
    bound = {name: f"_{i}" for i, name in enumerate(dict.fromkeys(_bound(function)))}
    n_nodes = 0
    for node in ast.walk(function):
        n_nodes += not isinstance(node, ast.expr_context)
        for field in ("id", "arg", "name", "asname"):
            name = getattr(node, field, None)
            # What a call names belongs to another function.
            if name in bound and not isinstance(node, ast.keyword):
                setattr(node, field, bound[name])
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [bound.get(name, name) for name in node.names]
    text = ast.dump(function, annotate_fields=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16], n_nodes


def _bound(function: ast.FunctionDef) -> Iterable[str]:
    """Yield the names that a function binds, its own among them, maybe repeatedly."""
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                yield name


class _Plain(ast.NodeTransformer):
    """Leaves out what says nothing to Python: docstrings, other texts, annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign([node.target], node.value, lineno=0))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        return self.generic_visit(node)
