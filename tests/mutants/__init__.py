"""Mutants: each exercise's reference with one thing changed by a tool.

The banks hold what people have got wrong; a tool finds what nobody has thought of. The
operators are those of cosmic-ray: they change every arithmetic sign, comparison and
number in several ways (``axis=-1`` into four others). mutmut, tried beside it, changes
each in one way and no ``@``. It also drops arguments of calls, but the mutants that it
alone makes and that survived were all equivalent. Only the operators are used, which
need parso and attrs: so ``make mutants`` installs cosmic-ray without the rest of what
it needs, apart from the course's packages.

What is changed is the code that the bank's edits change: the reference as an answer,
without the course's own checks of arguments. So a mutant may be a misconception of the
bank, which some case catches. Cases that hold on a mutant do not see its change:
``survivors.csv`` says of each survivor why that is right, or that a case is missing:

- exercise, line, becomes: as the command prints them
- kind: "equivalent", where every input that the docstring allows has the same results,
  or results that it does not tell apart; or "missing", where an input tells
- why: the reason; of a missing case, such an input
"""

import ast
import csv
import difflib
import importlib.util
import itertools
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.checking.call import local_runner, silenced
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge_case
from autograder.checking.student import StudentFunction
from autograder.course import Course
from autograder.in_notebook.check import CALL_SECONDS

LIST = Path(__file__).with_name("survivors.csv")
SEED = 1
sys.path.append(str(Course.here().root / "build" / "cosmic-ray"))  # from the Makefile
is_installed = importlib.util.find_spec("cosmic_ray") is not None


@dataclass(frozen=True)
class Mutant:
    """A reference with one thing changed.

    line, becomes : the lines that differ, before and after
    text : the whole function
    misconception : the name of the bank's edit with the same meaning, or ""
    """

    exercise: str
    line: str
    becomes: str
    text: str
    misconception: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it in the list."""
        return self.exercise, self.line, self.becomes


def mutants(exercise: Exercise) -> Iterator[Mutant]:
    """Yield the mutants of an exercise's reference, no two with the same meaning.

    Annotations and what an error says are no part of an answer: they do not count. Of a
    test there are none: with another seed or size it is another test, and as good.
    """
    if exercise.is_test:
        return
    text = exercise.code.code
    forms = {_form(text)}
    known = {
        _form(each.code.source(each.edits)): each.name
        for each in exercise.misconceptions
        if each.code is exercise.code
    }
    for operator in _operators():
        for occurrence in itertools.count():
            changed = _mutated(text, operator, occurrence)
            if changed is None:
                break
            with suppress(SyntaxError):  # what some become is no Python
                if (form := _form(changed)) not in forms:
                    forms.add(form)
                    lines = _change(text, changed)
                    name = known.get(form, "")
                    yield Mutant(exercise.name, *lines, changed, name)


def _operators() -> Iterator[Any]:
    """Return cosmic-ray's operators but for two kinds.

    Those of variables draw at random. ``is`` in place of ``==`` is true of small
    numbers by accident.
    """
    from cosmic_ray.operators.provider import OperatorProvider

    provider = OperatorProvider()
    for name in provider:
        _, *signs = name.split("_")
        by_accident = signs[-1:] in (["Is"], ["IsNot"]) and "Is" not in signs[0]
        if not name.startswith("Variable") and not by_accident:
            yield provider[name]()


def _mutated(text: str, operator: Any, occurrence: int) -> str | None:
    """Apply an operator once, as ``cosmic_ray.mutating`` does; None if it is too often.

    That module imports what cosmic-ray needs to run tests of other projects.
    """
    from cosmic_ray.ast import Visitor, get_ast

    class Mutation(Visitor):
        left = occurrence

        def visit(self, node: Any) -> Any:
            for index, _ in enumerate(operator.mutation_positions(node)):
                if self.left == 0:
                    node = operator.mutate(node, index)
                self.left -= 1
            return node

    mutation = Mutation()
    tree = mutation.walk(get_ast(text))
    return None if mutation.left >= 0 else tree.get_code()


class _WithoutWords(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise()


def _form(text: str) -> str:
    return ast.dump(_WithoutWords().visit(ast.parse(text)))


def _change(before: str, after: str) -> tuple[str, str]:
    rows = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    removed, added = (
        " ".join(row[2:].strip() for row in rows if row.startswith(sign))
        for sign in "-+"
    )
    return removed, added


def survives(exercise: Exercise, text: str) -> bool:
    """Decide whether every case holds on a function with this text."""
    with silenced():  # Python warns of some mutants
        function = exercise.code.compiled(text)
    runner = local_runner(function, seconds=CALL_SECONDS)
    return all(
        judge_case(case, StudentFunction(exercise, runner, []), SEED).verdict.status
        == "ok"
        for case in exercise.cases
    )


def listed() -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return the list: by key the kind and the reason."""
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (row["exercise"], row["line"], row["becomes"]): (row["kind"], row["why"])
        for row in rows
    }
