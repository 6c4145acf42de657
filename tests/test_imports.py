"""The structure: imports point down only, and no two classes share a name."""

import ast
from collections import defaultdict
from pathlib import Path

import grimp
import pytest

import autograder

ROOT = Path(autograder.__file__).parents[1]
# From the top down. Parts of one layer, in one set, do not import each other.
AUTOGRADER = (
    {"__main__"},
    {"commands"},
    {"demo"},
    {"adapters", "book", "dashboard", "similarity"},
    {"gradebook"},
    {"grading", "in_notebook", "notebooks"},
    {"workspace"},
    {"messages"},
    {"exercises"},
    {"checking"},
    {"course", "grammars", "system"},
)
COURSE_LIB = (
    {"experiments", "figures"},
    {"lessons"},
    {"nn"},
    {"corpora"},
)
INSIDE = "autograder.grading.inside"
CAUSES = "autograder.checking.causes"  # copied with them
COPIED_INTO_THE_SANDBOX = {
    f"autograder.checking.{name}"
    for name in ("call", "own_time", "time_limit", "values")
}


@pytest.fixture(scope="module")
def graph():
    graph = grimp.build_graph("autograder", "course_lib", cache_dir=None)
    # What notebooks and banks import from it: ``check`` and ``Exercise``, two layers.
    for importer in graph.find_modules_that_directly_import("autograder"):
        graph.remove_import(importer=importer, imported="autograder")
    return graph


def references(graph):
    """Return the parts of ``course_lib`` that are no layer above the references."""
    above = set().union(*COURSE_LIB)
    parts = {name.split(".")[1] for name in graph.find_descendants("course_lib")}
    return parts - above


def illegal_imports(graph, package, layers):
    dependencies = graph.find_illegal_dependencies_for_layers(
        layers=[grimp.Layer(*layer, independent=True) for layer in layers],
        containers={package},
    )
    return sorted(f"{each.importer} imports {each.imported}" for each in dependencies)


def test_autograder_imports_point_down(graph):
    assert illegal_imports(graph, "autograder", AUTOGRADER) == []


def test_course_lib_imports_point_down(graph):
    assert illegal_imports(graph, "course_lib", COURSE_LIB) == []
    for part in references(graph):
        for above in set().union(*COURSE_LIB):
            assert not graph.direct_import_exists(
                importer=f"course_lib.{part}",
                imported=f"course_lib.{above}",
                as_packages=True,
            )


def test_every_part_of_autograder_has_a_layer(graph):
    parts = {name.split(".")[1] for name in graph.find_descendants("autograder")}
    assert parts == set().union(*AUTOGRADER)


def test_course_lib_never_imports_autograder(graph):
    importers = {
        importer
        for module in graph.modules
        if module.startswith("autograder")
        for importer in graph.find_modules_that_directly_import(module)
    }
    assert {name for name in importers if name.startswith("course_lib")} == set()


def test_untrusted_side_imports_only_its_copies(graph):
    imported = {
        target
        for module in graph.find_descendants(INSIDE) | {INSIDE}
        for target in graph.find_modules_directly_imported_by(module)
        if not target.startswith(INSIDE)
    }
    for module in COPIED_INTO_THE_SANDBOX:
        outside = graph.find_modules_directly_imported_by(module)
        imported |= {each for each in outside if not each.startswith(CAUSES)}
    assert imported == COPIED_INTO_THE_SANDBOX


def test_no_two_classes_share_a_name():
    """Compare the public and private classes of both packages."""
    files = defaultdict(list)
    modules = (*ROOT.glob("autograder/**/*.py"), *ROOT.glob("course_lib/**/*.py"))
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}
