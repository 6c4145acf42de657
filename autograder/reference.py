"""Turn an exercise's reference into the text of its solution cell, or say why not.

Only the function's text counts here; whether its answers are right is ``judge``'s.
"""

import ast
import builtins
import inspect
import re
import symtable
import textwrap

from autograder.cells import NBGRADER_MARK
from autograder.exercise import Exercise

BEGIN, END = "    ### BEGIN SOLUTION", "    ### END SOLUTION"
# nbformat allows 64 characters in a cell's id, and a check's begins with "check-".
ID = re.compile(r"[A-Za-z0-9_]{1,58}")


def solution(exercise: Exercise) -> str:
    """Give the source of an exercise's reference, its body marked as the solution.

    The docstring stays outside the marks: it is the contract, which learners see.
    """
    text = _text(exercise)
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)  # `fault` has refused the rest
    rows = text.splitlines()
    end = function.body[0].end_lineno
    return "\n".join([*rows[:end], BEGIN, *rows[end:], END])


def fault(exercise: Exercise, allowed: set[str]) -> str | None:
    """Say why a reference cannot become a solution cell, or give None if it can.

    allowed : the names that it may look up outside itself
    """
    try:
        text = _text(exercise)
        (function,) = ast.parse(text).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return "is not a function with a source of its own"
    if not isinstance(function, ast.FunctionDef):
        return "is not a function"
    if wrong := _form_fault(function, text):
        return wrong
    if not ID.fullmatch(exercise.name):
        return "has a name that cannot be a cell's id: letters, digits, _, at most 58"
    if free := free_names(text) - {exercise.name} - allowed:
        return (
            f"needs the name {min(free)!r}, which is neither imported in the lesson's "
            "set-up cells nor in its `uses`"
        )
    return None


def _form_fault(function: ast.FunctionDef, text: str) -> str | None:
    docstring, *body = function.body
    if function.decorator_list:
        return "is decorated: the learner's function would not be"
    if docstring.lineno == function.lineno:
        return "is written on one line"
    if not ast.get_docstring(function):
        return "has no docstring"
    if not body:
        return "has no body under its docstring"
    if body[0].lineno == docstring.end_lineno:
        return "has code on the line on which its docstring ends"
    if mark := NBGRADER_MARK.search(text):
        return f"holds nbgrader's mark {mark[0]!r}"
    return None


def _text(exercise: Exercise) -> str:
    return textwrap.dedent(inspect.getsource(exercise.reference)).rstrip("\n")


def free_names(source: str) -> set[str]:
    """Names that a piece of source looks up outside itself, builtins left out.

    >>> free_names("def f(x):\\n    return np.sum(x) + len(x)\\n")
    {'np'}
    """
    tables = [symtable.symtable(source, "<source>", "exec")]
    own = {s.get_name() for s in tables[0].get_symbols() if s.is_assigned()}
    names = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        top = table.get_type() == "module"
        names |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or top)
        }
    return {n for n in names if n not in own and not hasattr(builtins, n)}
