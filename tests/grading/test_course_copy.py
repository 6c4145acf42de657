"""The course that a submission can see holds no answer, no case and no seed."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.grading import course_copy
from autograder.grading.course_copy import (
    make_copy,
    modules_of,
    watched_functions,
    without_bodies,
)
from tests.submissions import COURSE, EXERCISES, LESSON

GRADED = exercises_of(LESSON)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    make_copy(folder, GRADED)
    return folder


def run(copy, text):
    """Run a text in a fresh Python that finds the copy alone."""
    start = f"import sys; sys.path.insert(0, {str(copy / 'course')!r})\n{text}"
    command = [sys.executable, "-P", "-s", "-B", "-c", start]
    place = {"cwd": copy, "env": {"PATH": os.environ["PATH"]}}
    return subprocess.run(command, capture_output=True, text=True, **place)


def test_every_graded_function_of_the_copy_raises_and_says_so(copy):
    places = {each.name: each.reference.__module__ for each in GRADED}
    text = f"""
import importlib, inspect
for name, module in {places!r}.items():
    function = getattr(importlib.import_module(module), name)
    count = len(inspect.signature(function).parameters)
    try:
        function(*[None] * count)
    except RuntimeError as error:
        print(error)
"""
    found = run(copy, text)
    assert found.stderr == ""
    assert found.stdout.splitlines() == [
        f"the course's own {name} cannot be called while {name} is graded"
        for name in EXERCISES
    ]


def test_signature_and_contract_of_a_withheld_function_stay(copy):
    for exercise in GRADED:
        module = exercise.reference.__module__.replace(".", "/")
        tree = ast.parse((copy / "course" / f"{module}.py").read_text())
        (function,) = (
            each
            for each in tree.body
            if isinstance(each, ast.FunctionDef) and each.name == exercise.name
        )
        assert ast.get_docstring(function)
        assert tuple(a.arg for a in function.args.args) == exercise.parameters
        assert len(function.body) == 2


def test_what_is_not_graded_is_as_it_was(tmp_path):
    make_copy(tmp_path, [load("softmax")])
    found = run(
        tmp_path,
        "from course_lib.attention import scaled_scores\n"
        "import numpy as np\nprint(scaled_scores(np.full((1, 1), 2), np.eye(1)))",
    )
    assert found.stdout.strip() == "[[2.]]"


def test_the_copy_changes_nothing_in_the_course(copy):
    again = Path(course_copy.COURSE_LIB, "attention.py").read_text()
    assert "cannot be called while" not in again


def test_the_copys_check_does_nothing_and_takes_anything(copy):
    text = "from autograder import check\nprint(check(), check(3), check(None))"
    assert run(copy, text).stdout.split() == ["None"] * 3


def test_no_file_of_the_copy_knows_a_case_a_seed_or_a_point(copy):
    words = ["gradebook", "misconception", "NOTEBOOK_SEED", "default_rng([seed"]
    words += [
        case.name for each in GRADED for case in each.cases if len(case.name) > 20
    ]
    words += [each.name for one in GRADED for each in one.misconceptions]
    named = {path for path in copy.rglob("*") if path.is_file()}
    assert len(named) > 15
    for path in named:
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert [word for word in words if word in text] == [], path


def test_the_copy_has_the_inner_part_of_the_engine_and_nothing_of_the_outer(copy):
    inner = {path.name for path in (copy / "engine" / "inside").iterdir()}
    own = Path(course_copy.__file__).with_name("inside")
    assert inner == {path.name for path in own.glob("*.py")}
    assert [path.name for path in (copy / "engine").iterdir()] == ["inside"]
    assert sorted(path.name for path in (copy / "course").iterdir()) == [
        "autograder",
        "course_lib",
    ]


def test_the_inner_part_imports_nothing_of_the_outer(copy):
    allowed = {"autograder.checking.call"}
    for path in (copy / "engine" / "inside").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                module = str(node.module)
                assert not module.startswith("autograder") or module in allowed
            elif isinstance(node, ast.Import):
                assert not any(a.name.startswith("autograder") for a in node.names)


def test_a_function_without_docstring_loses_its_body_too():
    text = "def f(x, *, y=1):\n    return x\n\ndef g(x):\n    return x\n"
    kept = without_bodies(text, {"f"})
    names = {}
    exec(kept, names)
    with pytest.raises(RuntimeError, match="own f cannot be called"):
        names["f"](1)
    assert names["g"](3) == 3


def test_a_nested_function_of_the_same_name_is_not_touched():
    text = "def outer():\n    def f():\n        return 1\n    return f()\n"
    names = {}
    exec(without_bodies(text, {"f"}), names)
    assert names["outer"]() == 1


def test_the_modules_of_a_lesson_are_those_that_its_cells_import():
    cells = [
        "import numpy as np, matplotlib.pyplot as plt",
        "from course_lib.attention import softmax\nfrom course_lib import figures",
        "from autograder import check\nfrom __future__ import annotations",
        "def f():\n    import torch.nn.functional as F",
    ]
    assert modules_of(cells) == [
        *("course_lib", "course_lib.attention", "course_lib.figures"),
        *("matplotlib.pyplot", "numpy", "torch.nn.functional"),
    ]


def test_watched_are_the_courses_own_function_and_those_that_an_exercise_lists():
    found = watched_functions(GRADED)
    assert [*found] == [*EXERCISES]
    for exercise in GRADED:
        own, *library = found[exercise.name]
        assert own == f"{exercise.reference.__module__}.{exercise.name}"
        assert library == [*exercise.library]


def test_the_copy_is_whole_for_every_lesson_that_has_exercises(tmp_path):
    for place, lesson in enumerate(Course(COURSE.root).lessons):
        if exercises := exercises_of(lesson):
            make_copy(tmp_path / str(place), exercises)
            assert (tmp_path / str(place) / "engine" / "inside" / "child.py").exists()


def test_what_a_killed_grader_has_left_is_removed_and_what_is_in_use_stays(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = subprocess.Popen(["true"])
    dead.wait()
    names = (
        f"grading-{dead.pid}-x",
        f"grading-{os.getpid()}-x",
        "grading-x-y",
        "other",
    )
    for name in names:
        (tmp_path / name / "inner").mkdir(parents=True)
    with course_copy.temporary_folder() as folder:
        left = {place.name for place in tmp_path.iterdir()} - {Path(folder).name}
    assert left == {*names[1:]}
    assert not Path(folder).exists()
