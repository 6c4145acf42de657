"""The course that a submission can see holds no answer, no case and no seed."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.grading import course_copy, lesson_needs
from autograder.grading.course_copy import (
    make_copy,
    modules_of,
    rewritten,
    watched_functions,
)
from autograder.grading.inside.library import EVERY
from autograder.grading.lesson_needs import LessonNeeds
from autograder.grading.release import load_release
from tests.submissions import COURSE, EXERCISES, LESSON

GRADED = exercises_of(LESSON)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    release = load_release(COURSE, LESSON)
    make_copy(folder, GRADED, release.own_code, release.set_up)
    return folder


def run(copy, text):
    """Run a text in a fresh Python that finds the copy alone."""
    start = f"import sys; sys.path.insert(0, {str(copy / 'course')!r})\n{text}"
    command = [sys.executable, "-P", "-s", "-B", "-c", start]
    options = {"cwd": copy, "env": {"PATH": os.environ["PATH"]}}
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_graded_functions_of_the_copy_raise_and_say_so(copy):
    modules = {each.name: each.reference.__module__ for each in GRADED}
    text = f"""
import importlib, inspect
for name, module in {modules!r}.items():
    function = getattr(importlib.import_module(module), name)
    count = len(inspect.signature(function).parameters)
    try:
        function(*[None] * count)
    except RuntimeError as error:
        print(error)
"""
    process = run(copy, text)
    assert process.stderr == ""
    assert process.stdout.splitlines() == [
        f"the course's own {name} cannot be called while {name} is graded"
        for name in EXERCISES
    ]


def test_withheld_function_keeps_signature_and_contract(copy):
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
        assert len(function.body) == 3  # the docstring, the announcement, the error


def test_ungraded_functions_of_the_copy_are_unchanged(tmp_path):
    cell = "from course_lib.attention import scaled_scores\n"
    make_copy(tmp_path, [load("softmax")], [cell])
    call = "import numpy as np\nprint(scaled_scores(np.full((1, 1), 2), np.eye(1)))"
    process = run(tmp_path, f"{cell}{call}")
    assert process.stdout.strip() == "[[2.]]"


def test_make_copy_changes_nothing_in_the_course(copy):
    source = Path(course_copy.COURSE_LIB, "attention.py").read_text()
    assert "cannot be called while" not in source


def test_check_of_the_copy_does_nothing_and_takes_anything(copy):
    text = "from autograder import check\nprint(check(), check(3), check(None))"
    assert run(copy, text).stdout.split() == ["None"] * 3


def test_copy_holds_no_case_no_seed_and_no_points(copy):
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


def test_copy_has_the_inner_part_of_the_engine_only(copy):
    inner = {path.name for path in (copy / "engine" / "inside").iterdir()}
    own = Path(course_copy.__file__).with_name("inside")
    assert inner == {path.name for path in own.glob("*.py")}
    assert [path.name for path in (copy / "engine").iterdir()] == ["inside"]
    assert sorted(path.name for path in (copy / "course").iterdir()) == [
        "autograder",
        "course_lib",
    ]


def test_inner_part_imports_nothing_of_the_trusted_side(copy):
    allowed = {"autograder.checking.call", "autograder.checking.values"}
    for path in (copy / "engine" / "inside").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                module = str(node.module)
                assert not module.startswith("autograder") or module in allowed
            elif isinstance(node, ast.Import):
                assert not any(a.name.startswith("autograder") for a in node.names)


def run_rewritten(text, withheld=(), announced=()):
    """Run a module's text as a submission sees it; return its names."""
    names = {}
    exec(rewritten(text, "m", dict.fromkeys(withheld, "f"), {*announced}), names)
    return names


def test_rewritten_withholds_function_without_docstring():
    text = "def f(x, *, y=1):\n    return x\n\ndef g(x):\n    return x\n"
    names = run_rewritten(text, withheld=["m.f"])
    with pytest.raises(RuntimeError, match="own f cannot be called while f is graded"):
        names["f"](1)
    assert names["g"](3) == 3


def test_rewritten_keeps_nested_function_of_same_name():
    text = "def outer():\n    def f():\n        return 1\n    return f()\n"
    assert run_rewritten(text, withheld=["m.f"])["outer"]() == 1


def test_rewritten_withholds_methods():
    text = "class C:\n    size = 2\n\n    def f(self):\n        return 1\n"
    names = run_rewritten(text, withheld=["m.C"])
    assert names["C"].size == 2
    with pytest.raises(RuntimeError, match="own C cannot be called"):
        names["C"]().f()


def test_rewritten_keeps_text_without_such_functions():
    assert rewritten("x = 1  # why\n", "m", {"m.f": "f"}, {"m.g"}) == "x = 1  # why\n"


def test_modules_of_a_lesson_are_those_that_its_cells_import():
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


def test_watched_functions_are_the_courses_and_listed_ones(copy):
    watched = watched_functions(copy, GRADED)
    assert [*watched] == [*EXERCISES, EVERY]
    for exercise in GRADED:
        assert watched[exercise.name] == [*exercise.library]
        assert f"{exercise.reference.__module__}.{exercise.name}" in watched[EVERY]


def test_what_demonstrations_need_is_watched(
    tmp_path,
):
    set_up = "from course_lib.heads import split_heads\nfrom course_lib import figures"
    demonstration = (
        "figures.softmax([0.0], ['a'], alt='a')\nfrom course_lib import masks"
    )
    drawn = f"{demonstration}\nmasks.causal_mask(2)\nsplit_heads"
    make_copy(tmp_path, [], [set_up, drawn], [set_up])
    watched = watched_functions(tmp_path, [])[EVERY]
    assert "course_lib.figures.dot_product.softmax_weights" in watched
    assert "course_lib.masks.causal_mask" in watched
    assert "course_lib.heads.split_heads" not in watched
    assert "course_lib.arguments.floats" not in watched  # what that one calls


@pytest.mark.thorough
def test_copy_is_whole_for_every_lesson_with_exercises(tmp_path):
    for number, lesson in enumerate(Course(COURSE.root).lessons):
        if exercises := exercises_of(lesson):
            release = load_release(COURSE, lesson)
            cells = release.own_code, release.set_up
            make_copy(tmp_path / str(number), exercises, *cells)
            assert (tmp_path / str(number) / "engine" / "inside" / "child.py").exists()


def test_temporary_folder_removes_those_of_killed_graders(tmp_path, monkeypatch):
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
        left = {path.name for path in tmp_path.iterdir()} - {Path(folder).name}
    assert left == {*names[1:]}
    assert not Path(folder).exists()


def test_needs_are_those_of_the_modules_as_they_are_now(tmp_path, monkeypatch):
    monkeypatch.setattr(lesson_needs, "FOLDER", tmp_path)
    for name in ("__init__", "figures", "masks", "heads"):
        (tmp_path / f"{name}.py").write_text("")
    for name in ("masks", "heads"):  # a warm grader's process outlives a change
        (tmp_path / "figures.py").write_text(f"from course_lib import {name}\n")
        needs = LessonNeeds(["from course_lib import figures"])
        assert {*needs.modules} == {
            *("course_lib", "course_lib.figures", f"course_lib.{name}")
        }


def test_figures_need_no_answer_to_an_exercise():
    needs = LessonNeeds(["from course_lib import figures", "figures.softmax"])
    answers = {
        f"{each.reference.__module__}.{each.name}": each.reference.__module__
        for each in exercises_of()
    }
    assert not answers.keys() & needs.definitions
    assert not {*answers.values()} & needs.modules.keys()
