"""A class of which it is known who has copied what, and who has only had the same idea.

Honest students draw each answer for themselves: the usual ones most often, as in a
class, with habits of spelling that a student keeps through all lessons. The answers
are the exercises' references, the right ones of ``tests.answers`` and misconceptions.
"""

import ast
import functools
import importlib
import inspect
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.checking.own_answer import as_answer
from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.demo.sample_class import (
    _definitions,
    _dependencies,
)

COURSE = Course.here()
LESSONS = (
    "01_dot_product_attention",
    "02_self_attention",
    "03_multi_head_attention",
)
Answers = Mapping[str, str]
NAMES = (
    "a b c d e f g h aa bb cc dd ee ff gg hh".split(),
    "tmp1 tmp2 tmp3 tmp4 tmp5 tmp6 tmp7 tmp8".split(),
    "first second third fourth fifth sixth seventh eighth".split(),
    "mat vec res out val arr num idx".split(),
)
STEPS = ("step", "part", "inner", "value")
REMARKS = ("# my idea", "# see the lecture", "# TODO: nicer", "# this was hard")


@functools.cache
def spellings(exercise: str) -> tuple[str, ...]:
    """Return ways to answer an exercise, without docstrings: the right ones first."""
    texts = [as_answer(load(exercise).reference)]
    module = importlib.import_module(f"tests.answers.{exercise}")
    functions, imports = _definitions(module.__name__)
    # Not the bank's options: they are spelled alike, as no two students' answers are.
    answers = module.answers
    written = answers.right | answers.spellings | answers.others
    for function in written.values():
        name = getattr(function, "__name__", "")
        if inspect.isfunction(function) and name in functions:
            texts.append(_alone(exercise, functions, imports, name))
    bare = [ast.unparse(_Bare().visit(ast.parse(text))) for text in texts]
    return tuple(dict.fromkeys(bare))


def _alone(exercise, functions, imports, name):
    needed = _dependencies(functions[name], {**functions, **imports})
    parts = [imports[each] for each in sorted(needed & {*imports})]
    parts += [functions[each] for each in sorted(needed & {*functions})]
    answer = functions[name].replace(f"def {name}(", f"def {exercise}(")
    return "\n\n\n".join([*parts, answer])


class _Bare(ast.NodeTransformer):
    """Takes docstrings, annotations and decorators away."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns, node.decorator_list = None, []
        for each in [*node.args.args, *node.args.kwonlyargs]:
            each.annotation = None
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
        return node


@dataclass
class Habits:
    """How a student spells what may be spelled in two ways."""

    calls: frozenset[str]
    keeps_docstring: bool
    returns_name: str
    names: Sequence[str] = ()
    steps: float = 0.0

    @classmethod
    def drawn(cls, rng: random.Random) -> "Habits":
        calls = {each for each in ("matmul", "sqrt", "method") if rng.random() < 0.3}
        name = rng.choice(["", "", "", "result", "out", "res", "y"])
        names = rng.choice(NAMES) if rng.random() < 0.4 else ()
        steps = rng.choice([0, 0, 0.1, 0.2, 0.4])
        return cls(frozenset(calls), rng.random() < 0.7, name, names, steps)


class Spelled(ast.NodeTransformer):
    """Spells a function as a student's habits are."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult) and "matmul" in self.habits.calls:
            return _call("matmul", [node.left, node.right])
        half = isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "0.5"
        if half and "sqrt" in self.habits.calls:
            return _call("sqrt", [node.left])
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and "method" in self.habits.calls:
            named = ast.unparse(function.value) == "np"
            if function.attr in ("sum", "max", "swapaxes") and not named:
                return _call(function.attr, [function.value, *node.args], node.keywords)
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        last = node.body[-1]
        name = self.habits.returns_name
        if name and isinstance(last, ast.Return) and last.value:
            target = [ast.Name(name, ast.Store())]
            node.body[-1:] = [
                ast.Assign(target, last.value, lineno=0),
                ast.Return(ast.Name(name, ast.Load())),
            ]
        return node


class InSteps(ast.NodeTransformer):
    """Gives some intermediate results a name and a line of their own."""

    def __init__(self, rng: random.Random, share: float) -> None:
        self.rng, self.share = rng, share
        self.new: list[ast.stmt] = []

    def visit_FunctionDef(self, node):
        node.body = [line for each in node.body for line in self.steps(each)]
        return node

    def steps(self, statement):
        if not isinstance(statement, ast.Return | ast.Assign) or not statement.value:
            return [statement]
        self.new = []
        statement.value = self.generic_visit(statement.value)
        return [*self.new, statement]

    def generic_visit(self, node):
        if isinstance(node, ast.Lambda | ast.comprehension | ast.ListComp | ast.IfExp):
            return node  # evaluated in another scope, or not at all
        return super().generic_visit(node)

    def visit_BinOp(self, node):
        return self.named(self.generic_visit(node))

    def visit_Call(self, node):
        return self.named(self.generic_visit(node))

    def named(self, node):
        if self.rng.random() >= self.share:
            return node
        name = f"{self.rng.choice(STEPS)}{len(self.new) or ''}"
        target = ast.Name(name, ast.Store())
        self.new.append(ast.Assign([target], node, lineno=0))
        return ast.Name(name, ast.Load())


def _call(name, arguments, keywords=()):
    function = ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())
    return ast.Call(function, arguments, list(keywords))


def renamed(text: str, names: Sequence[str]) -> str:
    """Return a source with other names for what it binds itself within functions."""
    tree = ast.parse(text)
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = dict.fromkeys(n.id for n in used if isinstance(n.ctx, ast.Store))
    others = dict(zip(bound, names, strict=False))
    for node in used:
        node.id = others.get(node.id, node.id)
    return ast.unparse(tree)


def spelled(text: str, habits: Habits, rng: random.Random) -> str:
    """Return a bare answer as a student with these habits writes it."""
    tree = Spelled(habits).visit(ast.parse(text))
    tree = ast.fix_missing_locations(InSteps(rng, habits.steps).visit(tree))
    return renamed(ast.unparse(tree), habits.names)


@functools.cache
def docstring_of(exercise: str) -> str:
    """Return the docstring that the release's stub has."""
    return inspect.getdoc(load(exercise).reference) or ""


def with_docstring(text: str, exercise: str) -> str:
    """Return an answer with the stub's docstring, which most learners leave there."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == exercise:
            node.body.insert(0, ast.Expr(ast.Constant(docstring_of(exercise))))
    return ast.unparse(ast.fix_missing_locations(tree))


def exercises_in(lessons: Sequence[str]) -> list[str]:
    return [each.name for lesson in lessons for each in exercises_of(lesson)]


def honest(rng: random.Random, lessons: Sequence[str] = LESSONS) -> dict[str, str]:
    """Return the answers of a student who works alone."""
    habits = Habits.drawn(rng)
    answers = {}
    for exercise in exercises_in(lessons):
        pool = spellings(exercise)
        # The usual two, and then ever rarer ones.
        weights = [0.40, 0.20, *(0.40 / (n + 1) for n in range(len(pool) - 2))]
        text = rng.choices(pool, weights[: len(pool)])[0]
        text = spelled(text, habits, rng)
        answers[exercise] = (
            with_docstring(text, exercise) if habits.keeps_docstring else text
        )
    return answers


def usual(lessons: Sequence[str] = LESSONS) -> dict[str, str]:
    """Return the shortest right answers: what the best of a class write, many alike."""
    return {
        exercise: min(spellings(exercise)[:3], key=len)
        for exercise in exercises_in(lessons)
    }


# What copying does to answers: a new text for some of the exercises.
def renames(answers: Answers, rng: random.Random) -> dict[str, str]:
    return {name: renamed(text, rng.choice(NAMES)) for name, text in answers.items()}


def comments(answers: Answers, rng: random.Random) -> dict[str, str]:
    changed = {}
    for name, text in answers.items():
        rows = ast.unparse(_Bare().visit(ast.parse(text))).split("\n")
        rows = [
            f"{row}  {rng.choice(REMARKS)}" if rng.random() < 0.4 else row
            for row in rows
        ]
        changed[name] = "\n".join([rng.choice(REMARKS), *rows])
    return changed


def reorders(answers: Answers, rng: random.Random) -> dict[str, str]:
    """Put all functions into the first cell, in another order."""
    texts = list(answers.values())
    rng.shuffle(texts)
    first, *others = answers
    return {first: "\n\n\n".join(texts)} | {
        name: f"# {name} is above" for name in others
    }


def half(answers: Answers, rng: random.Random) -> dict[str, str]:
    names = rng.sample(sorted(answers), len(answers) // 2)
    return {name: renamed(answers[name], rng.choice(NAMES)) for name in names}


def longest(answers: Answers, rng: random.Random) -> dict[str, str]:
    name = max(answers, key=lambda each: len(answers[each]))
    return {name: answers[name]}


COPIES: dict[str, Callable[[Answers, random.Random], dict[str, str]]] = {
    "renames": renames,
    "comments": comments,
    "reorders": reorders,
    "half": half,
    "longest": longest,
}


@dataclass
class ConstructedClass:
    """A class, and which pairs of it are copies of each other.

    answers : by student and exercise
    copies : the pairs, by what was done to the copy
    usual : students who all have written the shortest right answers
    """

    lessons: Sequence[str]
    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    copies: dict[frozenset[str], str] = field(default_factory=dict)
    usual: list[str] = field(default_factory=list)

    def write(self, root: Path) -> None:
        """Write the lessons' releases and everybody's submissions."""
        for name in ("nbgrader_config.py",):
            (root / name).write_text((COURSE.root / name).read_text())
        for lesson in self.lessons:
            raw = COURSE.learner(lesson).read_bytes()
            path = Course(root).learner(lesson)
            path.parent.mkdir(parents=True)
            path.write_bytes(raw)
            for student, answers in self.answers.items():
                notebook = json.loads(raw)
                for cell in notebook["cells"]:
                    marks = cell["metadata"].get("nbgrader", {})
                    if marks.get("solution"):
                        cell["source"] = answers[marks["grade_id"]]
                path = root / "submitted" / student / lesson / f"{lesson}.ipynb"
                path.parent.mkdir(parents=True)
                path.write_text(json.dumps(notebook))


def constructed(
    size: int, lessons: Sequence[str] = LESSONS[:1], each: int = 4, seed: int = 0
) -> ConstructedClass:
    """Return a class in which each kind of copying has happened so many times."""
    rng = random.Random(seed)
    made = ConstructedClass(lessons)
    for number in range(size):
        made.answers[f"s{number:03}"] = honest(rng, lessons)
    students = [*made.answers]
    rng.shuffle(students)
    free: Iterator[str] = iter(students)
    for kind, change in COPIES.items():
        for _ in range(each):
            source, copy = next(free), next(free)
            original = made.answers[source]
            lesson_answers = {n: original[n] for n in original}
            changed = change(lesson_answers, rng)
            made.answers[copy] |= changed
            made.copies[frozenset((source, copy))] = kind
    for _ in range(max(2, size // 20)):
        student = next(free)
        made.answers[student] = usual(lessons)
        made.usual.append(student)
    return made
