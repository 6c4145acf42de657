"""What the cells of the teacher's notebook look like, and their ids."""

import ast
import re
import textwrap

import nbformat
import pytest

from autograder.course import Course
from autograder.notebooks.assemble import METADATA, teacher_notebook
from autograder.notebooks.build import as_text
from autograder.notebooks.source import BEGIN, END, LessonSource, fault, solution
from autograder.releases import METADATA_KEY, release_name
from tests.synthetic import (
    DOUBLE,
    TOP,
    TWICE_DOUBLE,
    Registry,
    exercise_cells,
    exercise_from,
    write_lesson,
)

COURSE = Course.here()
VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@pytest.fixture
def registry(tmp_path, monkeypatch):
    registry = Registry(tmp_path, monkeypatch)
    registry.add(DOUBLE, "double", minutes=7, difficulty=3)
    return registry


@pytest.fixture
def assemble(tmp_path, registry):
    return lambda text: teacher_notebook(LessonSource(write_lesson(tmp_path, text)))


def cell(notebook, name):
    (cell,) = [cell for cell in notebook.cells if cell.id == name]
    return cell


@pytest.fixture(params=COURSE.lessons)
def lesson(request):
    return request.param


def test_assembling_is_deterministic(lesson):
    texts = [
        as_text(teacher_notebook(LessonSource(COURSE.source(lesson)))) for _ in range(2)
    ]
    assert texts[0] == texts[1]


def test_ids_of_a_lesson_are_unique_and_valid(lesson):
    notebook = teacher_notebook(LessonSource(COURSE.source(lesson)))
    ids = [cell.id for cell in notebook.cells]
    assert len({*ids}) == len(ids)
    assert all(VALID_ID.fullmatch(name) for name in ids)


def test_solution_cell_is_the_reference_with_marks_in_it(lesson):
    for exercise in LessonSource(COURSE.source(lesson)).exercises:
        text = solution(exercise)
        assert text.count(BEGIN) == text.count(END) == 1
        contract, body = text.split(f"{BEGIN}\n")
        assert ast.get_docstring(ast.parse(contract).body[0])
        assert body.endswith(f"\n{END}")
        (without,) = ast.parse(text).body
        assert without.name == exercise.name


def test_ids_are_names_of_exercises_and_numbers_in_sections(assemble):
    text = TOP + exercise_cells("double")
    text += "\n# %% [markdown]\n# Tail.\n#\n# ## Größe & more: d_k!\n"
    text += "\n# %%\n# a comment is no title\nx = 1\n\n# %%\ny = 1\n"
    assert [cell.id for cell in assemble(text).cells] == [
        "a-lesson-1",
        "a-lesson-2",
        "a-lesson-3",
        "double",
        "check-double",
        "gr-e-more-d-k-1",
        "gr-e-more-d-k-2",
        "gr-e-more-d-k-3",
    ]


def test_change_in_one_section_leaves_the_ids_of_the_others(assemble):
    sections = [
        f"\n# %% [markdown]\n# ## Part {n}\n\n# %%\nx = {n}\n" for n in range(3)
    ]
    longer = sections[0] + "\n# %%\ny = 1\n"
    before = {cell.id for cell in assemble("".join(sections)).cells}
    after = {cell.id for cell in assemble("".join([longer, *sections[1:]])).cells}
    assert after - before == {"part-0-3"}
    assert before < after


@pytest.mark.parametrize(
    "titles",
    [
        ["Attention", "Other", "Attention"],
        ["x" * 70, "x" * 50, "x" * 51],
        ["?", "…", "*"],
        ["Check double", "double", "Double"],
        ["a-1", "a", "a 1"],
    ],
)
def test_ids_stay_unique_whatever_the_titles(assemble, titles):
    text = TOP + exercise_cells("double")
    for title in titles:
        text += f"\n# %% [markdown]\n# ## {title}\n\n# %%\nx = 1\n"
    ids = [cell.id for cell in assemble(text).cells]
    assert len({*ids}) == len(ids)
    assert all(VALID_ID.fullmatch(name) for name in ids)


def test_exercise_of_the_longest_name_has_valid_ids(assemble, registry):
    name = "a" * 58
    registry.add(DOUBLE.replace("double", name), name)
    ids = [cell.id for cell in assemble(TOP + exercise_cells(name)).cells]
    assert {name, f"check-{name}"} < {*ids}


def test_heading_shows_minutes_difficulty_and_points(assemble, registry):
    text = TOP + exercise_cells("double")
    heading = cell(assemble(text), "a-lesson-3").source
    assert heading == "### Exercise: double · 7 min · ●●● · 3 points\n\nWrite it."
    registry.add(DOUBLE, "double", minutes=4, difficulty=1, points=(0.5, 1))
    heading = cell(assemble(text), "a-lesson-3").source
    assert heading.startswith("### Exercise: double · 4 min · ●○○ · 1.5 points\n\n")


def test_nbgrader_finds_one_solution_and_one_locked_check(assemble):
    notebook = assemble(TOP + exercise_cells("double"))
    answer, check = cell(notebook, "double"), cell(notebook, "check-double")
    assert answer.metadata.nbgrader == {
        "grade": False,
        "grade_id": "double",
        "locked": False,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
    assert check.metadata.nbgrader == {
        "grade": True,
        "grade_id": "check_double",
        "locked": True,
        "points": 3,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    assert check.source == "check(double)"
    others = [c for c in notebook.cells if c.id not in ("double", "check-double")]
    assert not any("nbgrader" in c.metadata for c in others)


def test_notebook_names_no_version_of_the_language(assemble):
    named = METADATA | {METADATA_KEY: release_name({})}
    assert assemble(TOP).metadata == nbformat.from_dict(named)
    assert "version" not in METADATA["language_info"]


def test_drawing_cells_are_tagged_once_for_nbval(assemble):
    drawn = "\nimport_me = 1\nfigures.curves([1], {})\n"
    text = TOP + f"\n# %%{drawn}\n# %% tags=['x']{drawn}".replace(
        "['x']", '["nbval-ignore-output"]'
    )
    tagged = assemble(text).cells[-2:]
    assert [c.metadata.tags for c in tagged] == [["nbval-ignore-output"]] * 2
    assert "tags" not in assemble(TOP).cells[1].metadata


SHAPES = {
    "plain": DOUBLE,
    "no_blank_body": TWICE_DOUBLE,
    "long_signature": '''\
        def long_signature(
            x: np.ndarray,  # a comment with """ in it
            *,
            y: tuple[int, ...] = (1, 2),
        ) -> dict[
            str, int
        ]:
            """Give nothing of
            x and y.
            """

            # the body begins with a blank line and a comment
            secret = {"x": 1}
            return secret
        ''',
    "backslashes": '''\
        def backslashes(x):
            r"""Give \\sqrt{x} \\
            and the newline \\n.

            >>> backslashes("\\\\")
            """
            secret = x
            return "\\n" + secret
        ''',
    "continued": """\
        def continued(x):
            "One line, " \\
            "and another."
            secret = x
            return secret
        """,
    "nested": '''\
        def nested(x):
            """Give x."""

            @functools.wraps(x)
            def inner(y):
                """Explain the inner one."""
                secret = y
                return secret

            return inner(
                """a string that ends
        on the first column"""
            )
        ''',
    "single_quotes": """\
        def single_quotes(x):
            '''Give x.'''
            # a comment below the contract
            secret = x  # noqa

            return secret
            # and one below everything
        """,
}


@pytest.mark.parametrize("name", SHAPES)
def test_solution_marks_enclose_the_body_not_the_contract(tmp_path, name):
    text = textwrap.dedent(SHAPES[name]).rstrip() + "\n"
    called = {"plain": "double", "no_blank_body": "quadruple"}.get(name, name)
    exercise = exercise_from(tmp_path, text, called)
    assert fault(exercise, {"np", "functools", "double"}) is None
    marked = solution(exercise)
    contract, rest = marked.split(f"{BEGIN}\n")
    body, after = rest.split(END)
    assert after == ""
    assert "secret" not in contract
    original = exercise.reference.__doc__
    stub = contract + "    raise NotImplementedError\n"
    assert ast.get_docstring(ast.parse(stub).body[0], clean=False) == original
    assert text.startswith(contract + body.rstrip("\n"))
    namespace = {"np": None, "functools": None}
    exec("import numpy as np\n" + marked, namespace)
    assert callable(namespace[called])


def test_solution_leaves_out_checks_of_arguments(tmp_path):
    text = '''\
from course_lib.nn import arguments

def double(x):
    """Return twice a number."""
    arguments.real(
        0, 1, x=x
    )
    for _ in range(1):
        arguments.whole(0, x=x)
        twice = 2 * x
    return twice
'''
    exercise = exercise_from(tmp_path, text, "double")
    assert fault(exercise, set()) is None
    _, body = solution(exercise).split(f"{BEGIN}\n")
    rows = ["    for _ in range(1):", "        twice = 2 * x", "    return twice", END]
    assert body.splitlines() == rows
