"""The wheel for the page: what a check in a browser imports, and nothing else.

Its files are all modules that ``book.in_page.check`` and the exercises that run there
import, found in their sources. A browser has no PyTorch, so an exercise that needs it
is not among them, unless the book has a folder with it; that the rest is enough is what
the tests run.
"""

import ast
import base64
import functools
import hashlib
import io
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import autograder

ROOT = Path(autograder.__file__).parents[1]
OURS = ("autograder", "course_lib")
ENTRY = "autograder.book.in_page.check"
BANKS = "autograder.exercises"
PACKAGES = frozenset({"numpy"})  # beside the standard library
MAX_BYTES = 1_000_000
# Below these, what a function imports belongs to it; elsewhere it is of the notebook.
FOLLOWED = ("autograder.checking", "autograder.messages", BANKS, "course_lib")
DATA = ("autograder/exercises/makes_possible.toml",)
OLDEST = (1980, 1, 1, 0, 0, 0)  # a zip file's first day: the same bytes at each build


class Imports(NamedTuple):
    """What a module imports when it is loaded, and what its functions import later."""

    at_once: frozenset[str]
    later: frozenset[str]


def exercises_that_run(packages: frozenset[str] = PACKAGES) -> tuple[str, ...]:
    """Return the names of the exercises that some packages can check, sorted."""
    return tuple(name for name in _all_names() if packages_of(name) <= packages)


def packages_wanted() -> frozenset[str]:
    """Return the packages with which every exercise would run, beyond ``PACKAGES``."""
    return frozenset().union(*map(packages_of, _all_names())) - PACKAGES


@functools.cache
def packages_of(exercise: str) -> frozenset[str]:
    """Return the packages that the bank of an exercise imports, at once and later."""
    bank = f"{BANKS}.{exercise}"
    return frozenset().union(*map(_needed, [bank, *imports_of(bank).later]))


def _all_names() -> list[str]:
    paths = (ROOT / BANKS.replace(".", "/")).glob("*.py")
    return sorted(path.stem for path in paths if path.stem != "__init__")


def files_of_wheel(packages: frozenset[str] = PACKAGES) -> tuple[str, ...]:
    """Return what is in the wheel: paths from the course's folder, sorted."""
    entries = [ENTRY, *(f"{BANKS}.{name}" for name in exercises_that_run(packages))]
    return tuple(sorted([*files_of(entries, packages), *DATA]))


def files_of(
    entries: Iterable[str], packages: frozenset[str] = PACKAGES
) -> tuple[str, ...]:
    """Return the files that modules of ours need: paths from the course's folder.

    packages : that are there beside the standard library
    """
    todo = [*entries]
    modules: set[str] = set()
    while todo:
        for module in with_packages(todo.pop()):
            if module not in modules and runs(module, packages):
                modules.add(module)
                imports = imports_of(module)
                todo += imports.at_once
                if module.startswith(FOLLOWED):
                    todo += imports.later
                todo = [each for each in todo if is_ours(each)]
    paths = (file_of(module) for module in modules)
    return tuple(sorted(path.relative_to(ROOT).as_posix() for path in paths if path))


def wheel(packages: frozenset[str] = PACKAGES) -> bytes:
    """Return the wheel, the same bytes for the same files."""
    folder = f"attention_course-{_version()}.dist-info"
    about = f"Metadata-Version: 2.1\nName: attention-course\nVersion: {_version()}\n"
    kind = "Wheel-Version: 1.0\nGenerator: attention-course\nRoot-Is-Purelib: true\n"
    parts = {name: (ROOT / name).read_bytes() for name in files_of_wheel(packages)}
    parts |= {
        f"{folder}/METADATA": f"{about}Requires-Dist: numpy\n".encode(),
        f"{folder}/WHEEL": f"{kind}Tag: py3-none-any\n".encode(),
    }
    rows = [
        f"{name},sha256={_digest(data)},{len(data)}" for name, data in parts.items()
    ]
    record = f"{folder}/RECORD"
    parts[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    return archive_of(parts)


def archive_of(parts: Mapping[str, bytes]) -> bytes:
    """Return files by name as a zip file, the same bytes for the same files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            entry = zipfile.ZipInfo(name, OLDEST)
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return file.getvalue()


def wheel_name() -> str:
    """Return the wheel's file name."""
    return f"attention_course-{_version()}-py3-none-any.whl"


def _version() -> str:
    try:
        return version("attention-course")
    except PackageNotFoundError:  # the course's folder alone is on the path
        return "0"


def _digest(data: bytes) -> str:
    digest = hashlib.sha256(data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def is_ours(module: str) -> bool:
    """Return whether a module is one of the course's two packages."""
    return module.partition(".")[0] in OURS


def with_packages(module: str) -> Iterator[str]:
    """Yield a module after the packages that are imported with it.

    >>> [*with_packages("course_lib.nn.attention")]
    ['course_lib', 'course_lib.nn', 'course_lib.nn.attention']
    """
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])


def runs(module: str, packages: frozenset[str] = PACKAGES) -> bool:
    """Return whether a module can be imported where there are some packages alone."""
    return not missing_for(module, packages)


def missing_for(module: str, packages: frozenset[str] = PACKAGES) -> str:
    """Return what the import of a module needs and a page has not, or ""."""
    return next((each for each in _needed(module) if each not in packages), "")


@functools.cache
def _needed(module: str) -> tuple[str, ...]:
    """Return the packages that the import of a module needs beside Python's own.

    A module of ours that has no file is one of them.
    """
    todo, visited, needed = [module], set[str](), list[str]()
    while todo:
        current = todo.pop()
        if current in visited:
            continue
        visited.add(current)
        if not is_ours(current):
            top = current.partition(".")[0]
            if top not in sys.stdlib_module_names:
                needed.append(top)
        elif file_of(current) is None:
            needed.append(current)
        else:
            todo += with_packages(current)
            todo += imports_of(current).at_once
    return tuple(needed)


@functools.cache
def imports_of(module: str) -> Imports:
    """Return the modules that one of ours imports, as its source says."""
    path = file_of(module)
    if path is None:
        return Imports(frozenset(), frozenset())
    tree = ast.parse(path.read_text(encoding="utf-8"))
    everywhere = set(_imported(ast.walk(tree)))
    at_once = set(_imported(_at_once(tree.body)))
    return Imports(frozenset(at_once), frozenset(everywhere - at_once))


def _at_once(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield what is run when a module is loaded: no bodies of functions."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _at_once(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from _at_once(ast.iter_child_nodes(node))


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                if file_of(f"{node.module}.{alias.name}"):
                    yield f"{node.module}.{alias.name}"


@functools.cache
def file_of(module: str) -> Path | None:
    """Return the file of a module of ours, None if there is none."""
    if not is_ours(module):
        return None
    path = ROOT / module.replace(".", "/")
    for each in (path.with_suffix(".py"), path / "__init__.py"):
        if each.is_file():
            return each
    return None
