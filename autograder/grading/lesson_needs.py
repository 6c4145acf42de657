"""What a lesson's own cells need of ``course_lib``: its modules, and what is in them.

It is read from the texts, and nothing is imported: a function or class is needed if the
cells name it, or if something names it that is needed itself or runs on import.
"""

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import course_lib

FOLDER = Path(course_lib.__file__).parent
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Module:
    """A module of the course, or a lesson's cells, as text.

    name : its dotted name; "" for a lesson's cells
    definitions : its functions and classes, by name
    imported : other names to the dotted names that they stand for
    """

    def __init__(self, name: str, tree: ast.Module) -> None:
        """Read the names that a module defines and imports, at any depth."""
        self.name = name
        self.tree = tree
        self.definitions = {s.name: s for s in tree.body if isinstance(s, DEFINITIONS)}
        self.imported: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    self.imported[alias.asname or root] = alias.name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (
                        f"{node.module}.{alias.name}"
                    )

    def named_in(self, nodes: Iterable[ast.AST]) -> Iterator[str]:
        """Yield, with dotted names, what of the course some statements name."""
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            parts = []
            while isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            if isinstance(node, ast.Name):
                root = self.imported.get(node.id, f"{self.name}.{node.id}")
                yield ".".join([root, *reversed(parts)])


def _module(name: str) -> Module | None:
    """Return a module of the course as it is now; None for any other name."""
    first, *parts = name.split(".")
    if first != course_lib.__name__:
        return None
    path = FOLDER.joinpath(*parts)
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return _parsed(name, path.read_text("utf-8")) if path.exists() else None


@functools.cache
def _parsed(name: str, text: str) -> Module:
    return Module(name, ast.parse(text))


class LessonNeeds:
    """What a lesson needs of the course.

    modules : those that are imported, by their dotted names
    definitions : functions and classes that are needed, by their dotted names
    """

    def __init__(self, cells: Sequence[str], modules: Iterable[str] = ()) -> None:
        """Follow the names.

        cells : texts of the lesson's own cells
        modules : further modules that are imported
        """
        self.modules: dict[str, Module] = {}
        self.definitions: set[str] = set()
        self._waiting: list[tuple[Module, Sequence[ast.AST]]] = []
        for name in modules:
            self._import(name)
        lesson = Module("", ast.parse("\n".join(cells)))
        self._run(lesson)
        for name in lesson.imported.values():
            self._need(name)
        while self._waiting:
            module, nodes = self._waiting.pop()
            for name in module.named_in(nodes):
                self._need(name)

    @property
    def others(self) -> list[str]:
        """Functions and classes of the modules that the lesson does not need."""
        modules = self.modules.values()
        every = (f"{each.name}.{name}" for each in modules for name in each.definitions)
        return sorted({*every} - self.definitions)

    def _run(self, module: Module) -> None:
        """Need what is named where a module is imported, or a cell runs."""
        body = [s for s in module.tree.body if not isinstance(s, DEFINITIONS)]
        self._waiting.append((module, body if module.name else [module.tree]))
        for name in module.imported.values():
            self._import(name)

    def _import(self, name: str) -> None:
        """Add a module, or that of a function, and the packages around it."""
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            inner = ".".join(parts[:length])
            if inner not in self.modules and (module := _module(inner)):
                self.modules[inner] = module
                self._run(module)

    def _need(self, name: str) -> None:
        """Need a definition, wherever the name has been imported from."""
        parts = name.split(".")
        module, names = None, parts
        for length in range(1, len(parts)):
            if (inner := self.modules.get(".".join(parts[:length]))) is not None:
                module, names = inner, parts[length:]
        if module is None:
            return
        if definition := module.definitions.get(names[0]):
            if (dotted := f"{module.name}.{names[0]}") not in self.definitions:
                self.definitions.add(dotted)
                self._waiting.append((module, [definition]))
        elif names[0] in module.imported:
            self._need(".".join([module.imported[names[0]], *names[1:]]))
