"""``autograder new`` writes skeletons of an exercise; ``check-bank`` reads them."""

import ast
import errno
import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from autograder.checking.edits import EditError
from autograder.checking.registry import import_fault
from autograder.commands.new_exercise import new_exercise
from autograder.course import Course, CourseError
from autograder.notebooks.cells import read_cells

HERE = Course.here()
LESSON = "01_dot_product_attention"
NAME = "scores_of_a_test"


@pytest.fixture
def course(tmp_path):
    """Copy what a new exercise changes, and nothing that it needs beside."""
    shutil.copytree(HERE.root / "solutions", tmp_path / "solutions")
    shutil.copytree(HERE.root / "course_lib", tmp_path / "course_lib")
    shutil.copy(HERE.root / "README.md", tmp_path)
    for folder in ("autograder/exercises", "tests/answers"):
        (tmp_path / folder).mkdir(parents=True)
    return Course(tmp_path)


def texts(course):
    return {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}


def test_new_exercise_adds_to_four_homes_and_the_count(course):
    before = texts(course)
    paths = new_exercise(course, NAME, LESSON, "", ["q", "k"])
    assert [course.relative(path) for path in paths] == [
        "course_lib/attention.py",
        f"autograder/exercises/{NAME}.py",
        f"tests/answers/{NAME}.py",
        f"solutions/{LESSON}/{LESSON}.py",
        "README.md",
    ]
    after = texts(course)
    assert {path for path in after if after[path] != before.get(path)} == {*paths}
    reference = after[paths[0]].decode()
    assert reference.startswith(before[paths[0]].decode().rstrip())
    *_, function = ast.parse(reference).body
    assert function.name == NAME
    assert [arg.arg for arg in function.args.args] == ["q", "k"]
    rows = zip(
        *(t[paths[4]].decode().splitlines() for t in (before, after)), strict=True
    )
    (total, changed) = [(old, new) for old, new in rows if old != new]
    counts = [int(re.search(r"(\d+) \|$", row)[1]) for row in changed]
    assert counts[1] == counts[0] + 1 and LESSON in changed[0]
    assert sums(total[1]) == [sums(total[0])[0] + 1, sums(total[0])[1]]


def sums(text):
    """Return the README's numbers of exercises: of the cores, and further ones."""
    pattern = r"lessons with (\d+) exercises, .*; (\d+) more exercises"
    return [int(each) for each in re.search(pattern, text).groups()]


@pytest.mark.parametrize("section", ["Going further", "Two clocks"])
def test_exercise_below_going_further_counts_there(course, section):
    readme = course.root / "README.md"
    core, further = sums(readme.read_text(encoding="utf-8"))
    new_exercise(course, NAME, "05_positional_encoding", "", ["q"], section)
    assert sums(readme.read_text(encoding="utf-8")) == [core, further + 1]


def test_new_cells_stand_before_the_closing_section(course):
    path = course.source(LESSON)
    before = [cell.text for cell in read_cells(path)]
    new_exercise(course, NAME, LESSON, "", ["q"])
    cells = [cell.text for cell in read_cells(path)]
    (end,) = (i for i, cell in enumerate(cells) if cell.startswith("## In three lines"))
    assert cells[: end - 3] + cells[end:] == before
    heading, exercise, check = cells[end - 3 : end]
    assert heading.startswith(f"### Exercise: {NAME}\n")
    assert heading.count("<details>") == 2
    assert exercise == f"from course_lib.attention import {NAME}  # exercise"
    assert check == f"check({NAME})"


@pytest.mark.parametrize(
    "section", ["Other ways to give positions", "The same in PyTorch"]
)
def test_new_cells_come_last_in_the_section_named(course, section):
    path = course.source("05_positional_encoding")
    before = [cell.text for cell in read_cells(path)]
    new_exercise(course, NAME, path.stem, "", ["q"], section)
    cells = [cell.text for cell in read_cells(path)]
    (check,) = (i for i, cell in enumerate(cells) if cell == f"check({NAME})")
    assert cells[: check - 2] + cells[check + 1 :] == before
    headings = [cell.partition("\n")[0] for cell in cells[: check - 2]]
    assert [each for each in headings if each.startswith("## ")][-1] == f"## {section}"
    assert all(each.startswith("## ") for each in cells[check + 1 : check + 2])


def test_unknown_section_is_refused_with_those_that_there_are(course):
    before = texts(course)
    with pytest.raises(CourseError, match=r"no section 'Masks': .*'In three lines'"):
        new_exercise(course, NAME, LESSON, "", ["q"], "Masks")
    assert texts(course) == before


@pytest.mark.parametrize("lesson", HERE.lessons)
def test_skeletons_of_every_lesson_compile(course, lesson):
    paths = new_exercise(course, NAME, lesson, "", ["x"])
    for path in paths[:4]:
        compile(path.read_text(encoding="utf-8"), path, "exec")
    annotation = re.search(rf"def {NAME}\(x: ([\w.]+)\)", paths[0].read_text())[1]
    expected = {"06": "object", "08": "Tensor", "09": "Tensor"}
    assert annotation == expected.get(lesson[:2], annotation)


def test_named_module_is_made_if_it_is_missing(course):
    path, *_ = new_exercise(course, NAME, LESSON, "nn.cosines", ["x"])
    assert course.relative(path) == "course_lib/nn/cosines.py"
    assert path.read_text().startswith('"""TODO: ')
    assert "from course_lib.nn.cosines import" in course.source(LESSON).read_text()


REFUSED = {
    "an existing exercise": (["softmax", "", ["x"]], "there is an exercise 'softmax'"),
    "no identifier": (["2d_scores", "", ["x"]], "cannot be a function's"),
    "capitals": (["Scores", "", ["x"]], "cannot be a function's"),
    "a path": (["../scores", "", ["x"]], "cannot be a function's"),
    "too long": (["a" * 59, "", ["x"]], "at most 58"),
    "a keyword": (["lambda", "", ["x"]], "keyword"),
    "a builtin": (["sum", "", ["x"]], "something else"),
    "a name of the set-up cells": (["figures", "", ["x"]], "something else"),
    "equal arguments": ([NAME, "", ["x", "x"]], "must differ"),
    "its own name": ([NAME, "", [NAME]], "must differ"),
    "no argument": ([NAME, "", []], "got none"),
    "a name of the module": (["softmax_of", "heads", ["x"]], "has a softmax_of"),
    "a package": ([NAME, "nn", ["x"]], "is a package"),
    "a missing folder": ([NAME, "nowhere.scores", ["x"]], "no folder"),
    "no module": ([NAME, "../attention", ["x"]], "no module"),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_exercise_changes_no_file(course, arguments, sentence):
    library = course.root / "course_lib" / "heads.py"
    library.write_text("import numpy as np\n\nsoftmax_of = None\n")
    before = texts(course)
    name, module, parameters = arguments
    with pytest.raises(CourseError, match=sentence):
        new_exercise(course, name, LESSON, module, parameters)
    assert texts(course) == before


def test_existing_answers_file_is_left_alone(course):
    path = course.root / "tests" / "answers" / f"{NAME}.py"
    path.write_text("mine")
    before = texts(course)
    with pytest.raises(CourseError, match="is there already"):
        new_exercise(course, NAME, LESSON, "", ["x"])
    assert texts(course) == before


@pytest.mark.parametrize("number", range(1, 6))
def test_full_disk_leaves_all_files_as_they_were(course, monkeypatch, number):
    before, calls = texts(course), []

    def fsync(handle):
        calls.append(handle)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space"):
        new_exercise(course, NAME, LESSON, "", ["x"])
    assert texts(course) == before


# From the command line, in a copy of the whole course


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkout")
    for folder in ("autograder", "course_lib", "solutions"):
        shutil.copytree(HERE.root / folder, root / folder)
    (root / "tests" / "answers").mkdir(parents=True)
    for name in ("__init__.py", "phrases.py", "phrases.toml"):
        shutil.copy(HERE.root / "tests" / name, root / "tests")
    shutil.copy(HERE.root / "tests/answers/__init__.py", root / "tests/answers")
    for name in ("README.md", "nbgrader_config.py", "pyproject.toml"):
        shutil.copy(HERE.root / name, root)
    return root


def call(root, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def begun(checkout):
    """Begin an exercise in the copy."""
    result = call(checkout, "new", NAME, "--lesson", "1", "--parameters", "q,k")
    assert (result.returncode, result.stderr) == (0, "")
    return checkout, result.stdout


def test_new_command_names_files_and_next_commands(begun):
    _, output = begun
    assert output.count("Written: ") == 6
    assert "cells stand before the closing section" in output
    for command in (
        f"autograder check-bank {NAME}",
        "autograder build 01",
        "make test",
    ):
        assert f"`{command}`" in output


def test_skeletons_are_clean_for_ruff(begun):
    root, _ = begun
    paths = [f"autograder/exercises/{NAME}.py", f"tests/answers/{NAME}.py"]
    for arguments in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *arguments, *paths]
        result = subprocess.run(command, cwd=root, capture_output=True, check=False)
        assert result.returncode == 0, result.stdout.decode()


def test_check_bank_lists_every_todo_with_file_and_line(begun):
    root, _ = begun
    result = call(root, "check-bank", NAME)
    assert (result.returncode, result.stderr) == (1, "")
    listed = re.findall(r"^(\S+\.py):(\d+): .*TODO", result.stdout, re.MULTILINE)
    assert {path for path, _ in listed} == {
        "course_lib/attention.py",
        f"autograder/exercises/{NAME}.py",
        f"tests/answers/{NAME}.py",
        f"solutions/{LESSON}/{LESSON}.py",
    }
    todo = rf"makes_possible\.toml:\d+: {NAME} = .TODO"
    assert len(re.findall(todo, result.stdout)) == 1
    for path, line in listed:
        assert "TODO" in (root / path).read_text().splitlines()[int(line) - 1]
    assert result.stdout.count("it has TODOs") == 5


REFERENCE = '''
def scores_of_a_test(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the cosine of the angle between each query and each key.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row

    Returns the cosines (..., n, m): row i belongs to query i.
    Source: Graves et al. (2014), Neural Turing Machines, equation 6.

    >>> scores_of_a_test(np.array([[3.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 2.0]]))
    array([[1., 0.]])
    """
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return q @ np.swapaxes(k, -1, -2)
'''
EDITS = [
    "return q -> return 2 * q",
    "return q -> return -q",
    "swapaxes(k, -1, -2) -> swapaxes(k, -1, -2) + 1",
    "q = q / np.linalg.norm(q, axis=-1)[..., np.newaxis] ** 2",
    "return … -> return np.einsum('...nd,...md->...nm', 2 * q, k) - 1",
]
OTHERS = [
    "3 * scores_of_a_test(q, k)",
    "np.abs(scores_of_a_test(q, k)) + 2",
    "q.sum() + k.sum()",
]


def write_exercise(root):
    """Fill in every skeleton, as an author would."""
    library = root / "course_lib" / "attention.py"
    text = library.read_text()
    library.write_text(text[: text.index(f"\ndef {NAME}")] + REFERENCE)
    bank = root / "autograder" / "exercises" / f"{NAME}.py"
    text = re.sub(r"(?<=\S) +# TODO: .*", "", bank.read_text())
    text = text.replace("uses=(),\n", "")
    text = text.replace(
        'raise NotImplementedError("TODO: the obvious version, with loops")',
        "dots = np.einsum('...nd,...md->...nm', q, k)\n"
        "    lengths = [np.sqrt((x**2).sum(-1)) for x in (q, k)]\n"
        "    return dots / lengths[0][..., :, None] / lengths[1][..., None, :]",
    )
    text = text.replace(
        "student.expect(student(*usual(rng)), np.zeros(2))",
        "q, k = np.array([[3.0, 0.0]]), np.array([[0.0, 2.0], [-3.0, 4.0]])\n"
        "    student.expect(student(q, k), np.array([[0.0, -0.6]]))",
    )
    for number, edit in enumerate(EDITS, start=1):
        text = re.sub(rf"(?<=edit_{number}: )raise .*", edit, text)
    bank.write_text(text.replace("TODO: ", "A "))
    answers = root / "tests" / "answers" / f"{NAME}.py"
    text = f"import numpy as np\n\nfrom course_lib.attention import {NAME}\n"
    text += answers.read_text()
    bodies = [f"1.0 * {NAME}(q, k)", *OTHERS]
    for body in bodies:
        text = re.sub(
            r"raise NotImplementedError\(.*\)", f"return {body}", text, count=1
        )
    answers.write_text(text)
    sentences = root / "autograder" / "exercises" / "makes_possible.toml"
    sentences.write_text(sentences.read_text().replace('= "TODO: ', '= "A '))
    source = Course(root).source(LESSON)
    source.write_text(source.read_text().replace("# TODO: ", "# A "))


@pytest.fixture(scope="module")
def written(begun):
    root, _ = begun
    write_exercise(root)
    return root


def test_check_bank_passes_a_written_exercise(written):
    result = call(written, "check-bank", NAME)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert "5 of 5 caught, 5 named" in result.stdout
    assert "1 right, 0 spellings of misconceptions, 3 others" in result.stdout
    assert re.search(r"exercise \d of 9", result.stdout)


def test_written_exercise_reaches_the_lesson(written):
    result = call(written, "build", "--check", "01")
    assert result.returncode == 1
    assert f"differs from its source, first in cell {NAME}" not in result.stdout
    assert "differs from its source" in result.stderr


def test_check_bank_prints_what_an_edit_makes(written):
    right = call(written, "check-bank", NAME, "--code", "right").stdout
    assert "    return q @ np.swapaxes(k, -1, -2)\n" in right and "Graves" not in right
    wrong = call(written, "check-bank", NAME, "--code", "edit_2").stdout
    assert wrong == right.replace("return q", "return -q")
    result = call(written, "check-bank", NAME, "--code", "edit_9")
    assert (result.returncode, result.stdout) == (1, "")
    assert "no edit 'edit_9': name one of right, edit_1, edit_2" in result.stderr


PHRASED = """exercise.edits(
    \"\"\"
edit_0: return -k
  Your keys stay as they are.
  ? What?
  # Somebody could think so."""
BREAKS = {
    "edit": ("exercises", "return q ->", "return v ->", "edit_1: scores_of_a_test has"),
    "right answer": ("answers", "1.0 * scores", "1.1 * scores", "right answer another"),
    "case": ("exercises", "[0.0, -0.6]", "[0.0, 0.6]", "fails small_example_by_hand"),
    "points": (
        "exercises",
        "    student.agrees(*usual(rng))\n",
        "",
        "no visible case pays alone",
    ),
    "phrase": ("exercises", 'exercise.edits(\n    """', PHRASED, "edit_0: phrases: "),
    "syntax": ("exercises", "def spec(", "def spec((", "py:17: cannot be imported"),
    "import": ("answers", "import numpy", "import numpi", "py:1: cannot be imported"),
}


@pytest.mark.parametrize(
    ("folder", "old", "new", "sentence"), BREAKS.values(), ids=BREAKS
)
@pytest.mark.thorough
def test_check_bank_names_the_fault(written, folder, old, new, sentence):
    parent = {"answers": "tests", "exercises": "autograder"}[folder]
    path = written / parent / folder / f"{NAME}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        result = call(written, "check-bank", NAME)
    finally:
        path.write_text(text)
    assert result.returncode == 1
    assert sentence in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


BANK = """
from autograder.checking.exercise import Exercise

def double(x):
    return 2 * x

exercise = Exercise(double, lesson="99", minutes=5, difficulty=1)
exercise.edits('''
tripled: 2 -> 3
  Your number is tripled.
halved: 2 * -> 0.5 +
  Your number is halved.
''')
"""


def test_fault_of_an_edit_has_the_line_of_its_misconception(tmp_path):
    for name, broken in {"tripled": "2 -> ->", "halved": "2 + -> 0.5 *"}.items():
        text = re.sub(rf"(?<={name}: ).*", broken, BANK)
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        with pytest.raises(EditError) as raised:
            runpy.run_path(str(path))
        line = text.split("\n").index(f"{name}: {broken}") + 1
        start = f"{path.name}:{line}: cannot be imported: EditError: exercise double, "
        assert str(import_fault(path.name, raised.value)).startswith(start + name)


def test_check_bank_of_an_unknown_exercise_is_one_sentence(written):
    result = call(written, "check-bank", "no_such_thing")
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch("no exercise named 'no_such_thing'.*\n", result.stderr)


@pytest.mark.thorough
def test_check_bank_needs_a_checkout(written):
    folder = written / "tests" / "answers"
    folder.rename(written / "elsewhere")
    try:
        result = call(written, "check-bank", "softmax")
    finally:
        (written / "elsewhere").rename(folder)
    assert result.returncode == 1
    assert "only a checkout of the course has" in result.stderr
