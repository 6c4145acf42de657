"""What one cell does with names, read from its text.

How Python is followed is in ``scope``; which cells run, in ``selection``.
"""

import ast
import functools
import warnings
from dataclasses import dataclass

from .scope import WORD, Scope, parsed


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
