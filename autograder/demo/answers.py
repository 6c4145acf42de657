"""The source text of answers, right and mistaken, as a learner would have typed it.

Mistakes come from the exercises' own misconceptions, so no wrong code is kept twice.
"""

import ast
import inspect
import re
import sys

from autograder.exercise import Exercise
from autograder.registry import exercise_names, load

IN_THE_LESSON = {"np"}  # names that the lesson's set-up cell gives


def right(name: str) -> str:
    """Give the source of an exercise's reference."""
    return inspect.getsource(load(name).reference).rstrip("\n")


def mistaken(name: str, misconception: str) -> str:
    """Give the source of a misconception under the exercise's name.

    What the misconception calls in its own module comes along.
    """
    wrong = _misconception(load(name), misconception)
    module = inspect.getsource(sys.modules[wrong.__module__])
    own, imports = _definitions(module)
    needed = _needed(own[misconception], {**own, **imports}) - {misconception}
    parts = [_lines(module, imports[each]) for each in sorted(needed & {*imports})]
    parts += [_lines(module, own[each]) for each in sorted(needed & {*own})]
    answer = _lines(module, own[misconception])
    return "\n\n\n".join([*parts, re.sub(r"^def \w+", f"def {name}", answer)])


def _misconception(exercise: Exercise, name: str) -> object:
    found = {kept.name: kept.function for kept in exercise.misconceptions}
    if name not in found:
        known = ", ".join(found)
        raise LookupError(f"{exercise.name} has no misconception {name!r}, but {known}")
    return found[name]


def _definitions(module: str) -> tuple[dict[str, ast.stmt], dict[str, ast.stmt]]:
    """Give a module's functions and imports by name, without what the lesson has."""
    given = IN_THE_LESSON | {*exercise_names()}
    own: dict[str, ast.stmt] = {}
    imports: dict[str, ast.stmt] = {}
    for statement in ast.parse(module).body:
        if isinstance(statement, ast.FunctionDef):
            own[statement.name] = statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                if (bound := alias.asname or alias.name) not in given:
                    imports[bound] = statement
    return own, imports


def _needed(function: ast.stmt, known: dict[str, ast.stmt]) -> set[str]:
    """Give the known names that a function looks up, and those that these look up."""
    found: set[str] = set()
    open_ends = [function]
    while open_ends:
        names = {n.id for n in ast.walk(open_ends.pop()) if isinstance(n, ast.Name)}
        new = (names & {*known}) - found
        found |= new
        open_ends += [known[name] for name in new]
    return found


def _lines(module: str, statement: ast.stmt) -> str:
    """Give a statement's lines, without decorators."""
    return "\n".join(module.splitlines()[statement.lineno - 1 : statement.end_lineno])
