"""What the cells of the teacher's notebook look like, and their ids."""

import ast
import re
import textwrap

import nbformat
import pytest

from autograder.course import Course
from autograder.course.releases import METADATA_KEY, release_name
from autograder.notebooks.assemble import METADATA, teacher_notebook
from autograder.notebooks.build import as_text
from autograder.notebooks.citations import with_links
from autograder.notebooks.source import BEGIN, END, LessonSource, fault, solution
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


@pytest.fixture(scope="module", params=COURSE.lessons)
def lesson(request):
    return request.param


@pytest.fixture(scope="module")
def teacher(lesson):
    return teacher_notebook(LessonSource(COURSE.source(lesson)))


def test_assembling_is_deterministic(lesson, teacher):
    repeated = teacher_notebook(LessonSource(COURSE.source(lesson)))
    assert as_text(repeated) == as_text(teacher)


def test_ids_of_a_lesson_are_unique_and_valid(teacher):
    notebook = teacher
    ids = [cell.id for cell in notebook.cells]
    assert len({*ids}) == len(ids)
    assert all(VALID_ID.fullmatch(name) for name in ids)


def test_first_cell_ends_with_links_to_home_and_neighbours(lesson, teacher):
    index = COURSE.lessons.index(lesson)
    first = teacher.cells[0].source
    text, line = first.rsplit("\n\n", 1)
    assert text == with_links(LessonSource(COURSE.source(lesson)).cells[0].text)
    links = re.findall(r"\[([^]]+)\]\(([^)]+)\)", line)
    assert links.pop(0) == ("Home", "../home.md")
    neighbours = {"← ": index - 1, " →": index + 1}
    for arrow, other in neighbours.items():
        if other not in (-1, len(COURSE.lessons)):
            name = COURSE.lessons[other]
            words, address = links.pop(0)
            assert arrow in words and words.strip("← →").startswith(name[:2])
            assert address == f"../{name}/{name}.ipynb"
    assert links == []


def test_core_ends_with_links_onward(lesson):
    index = COURSE.lessons.index(lesson)
    source = LessonSource(COURSE.source(lesson))
    cells = teacher_notebook(source).cells
    (core,) = (cell for cell in cells if "## In three lines" in cell.source)
    text, line = core.source.rsplit("\n\n", 1)
    assert "**An open question:**" in text
    links = re.findall(r"\[([^]]+)\]\(([^)]+)\)", line)
    assert links.pop(0) == ("Home", "../home.md")
    for name in COURSE.lessons[index + 1 :][:1]:
        words, address = links.pop(0)
        assert words.startswith(name[:2]) and words.endswith(" →")
        assert address == f"../{name}/{name}.ipynb"
    assert links == []


SUMMARY = "\n# %% [markdown]\n# ## In three lines\n#\n# - One.\n"
FURTHER = "\n# %% [markdown]\n# ## Going further\n#\n# Skip it.\n"


def test_core_ends_with_links_onward_as_the_lesson_does(assemble):
    end = "\n# %% [markdown]\n# End.\n"
    cells = assemble(TOP + SUMMARY + FURTHER + exercise_cells("double") + end).cells
    linked = {each.id for each in cells if "[Home](../home.md)" in each.source}
    assert linked == {"a-lesson-1", "in-three-lines-1", "going-further-3"}
    closing = cell(assemble(TOP + SUMMARY + FURTHER), "in-three-lines-1").source
    assert closing == "## In three lines\n\n- One.\n\n[Home](../home.md)"


def test_core_that_ends_with_code_gets_no_links(assemble):
    cells = assemble(TOP + FURTHER).cells
    assert cells[1].source == "import numpy as np"
    linked = [each.id for each in cells if "home.md" in each.source]
    assert linked == ["a-lesson-1", "going-further-1"]


def test_exercise_of_the_core_is_not_optional(assemble):
    notebook = assemble(TOP + exercise_cells("double") + SUMMARY + FURTHER)
    assert "optional" not in cell(notebook, "a-lesson-3").source
    assert "attention" not in cell(notebook, "check-double").metadata


def test_exercise_that_goes_further_is_optional_and_says_so(assemble):
    notebook = assemble(TOP + SUMMARY + FURTHER + exercise_cells("double"))
    heading = cell(notebook, "going-further-2").source
    assert heading == "### Exercise: double · 7 min · ●●● · optional\n\nWrite it."
    check = cell(notebook, "check-double").metadata
    assert check["attention"] == {"optional": True} and check.nbgrader.points == 15
    required = assemble(TOP + exercise_cells("double")).metadata[METADATA_KEY]
    assert notebook.metadata[METADATA_KEY] != required
    assert required == release_name({"double": 15})


def test_ids_outside_a_section_that_goes_further_stay(assemble):
    parts = [TOP + "\n# %% [markdown]\n# ## Part\n\n# %%\nx = 1\n", SUMMARY]
    further = FURTHER + "\n# %% [markdown]\n# ## More\n" + exercise_cells("double")
    before = [each.id for each in assemble("".join(parts)).cells]
    after = [each.id for each in assemble("".join([*parts, further])).cells]
    assert after[: len(before)] == before
    moved = further.replace(FURTHER, "")  # back into the core: its cells keep their ids
    inside = [each.id for each in assemble(parts[0] + moved + parts[1]).cells]
    assert {*after} - {*inside} == {"going-further-1"}


def test_lesson_by_itself_links_home_only(assemble):
    cells = assemble(
        TOP + exercise_cells("double") + "\n# %% [markdown]\n# End.\n"
    ).cells
    assert cells[0].source.endswith("\n\n[Home](../home.md)")
    assert cells[-1].source == "End.\n\n[Home](../home.md)"


def test_lesson_of_one_cell_has_one_line_of_links(assemble):
    (cell,) = assemble("# %% [markdown]\n# # Title\n").cells
    assert cell.source.count("home.md") == 1


def test_first_cell_of_code_gets_no_links(assemble):
    assert assemble("# %%\nx = 1\n").cells[0].source == "x = 1"


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
    assert heading == "### Exercise: double · 7 min · ●●●\n\nWrite it."
    registry.add(DOUBLE, "double", minutes=4, difficulty=1, weights=(0.5, 1))
    heading = cell(assemble(text), "a-lesson-3").source
    assert heading.startswith("### Exercise: double · 4 min · ●○○\n\n")


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
        "points": 15,
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


# What stands in a reference, and what is left of it in the solution.
CHECKS = {
    "a statement": ("arguments.real(\n        0, 1, x=x\n    )\n", ""),
    "a value": ('x = arguments.floats("x (n, n_heads·d)", x)  # why\n', ""),
    "values": ('x, y = arguments.floats("x (n), y (n)", x, y, between=(0, 1))\n', ""),
    "the shapes of the docstring": ("x, y = arguments.floats(double, x, y)\n", ""),
    "values in a tuple": (
        'x, y = arguments.floats(\n        "x (n), "\n        "y (n)",\n'
        "        *(x, y),\n        n=2,\n    )\n",
        "",
    ),
    "two checks": ('x, y = arguments.whole("x", x), arguments.text("y", y)\n', ""),
    "one in another": ('x = arguments.floats("x", arguments.masks("x", x))\n', ""),
    "under another name": (
        'two = 2 * arguments.whole("n·d ≥ 0", x) + 1  # why\n',
        "two = 2 * x + 1  # why\n",
    ),
    "in a loop": (
        'for each in arguments.texts("x", x).split():\n'
        '        arguments.text("each", each)\n        x = each\n',
        "for each in x.split():\n        x = each\n",
    ),
    "a formula": (
        'two = 2 * arguments.whole("n + d ≥ 0", x + y)\n',
        "two = 2 * (x + y)\n",
    ),
    "several as a tuple": (
        'both = (arguments.whole("x, y", x, y),)\n',
        "both = ((x, y),)\n",
    ),
    "nothing": ("x = our.arguments.x\n", "x = our.arguments.x\n"),
}


@pytest.mark.parametrize("form", CHECKS)
def test_solution_has_values_in_place_of_checks(tmp_path, form):
    written, left = CHECKS[form]
    contract = 'def double(x, y=1):\n    """Return twice a number."""\n'
    text = f"{contract}    {written}    return 2 * x\n"
    exercise = exercise_from(tmp_path, text, "double")
    assert fault(exercise, {"our"}) is None
    rest = f"    {left}    return 2 * x" if left else "    return 2 * x"
    assert solution(exercise) == f"{contract}{BEGIN}\n{rest}\n{END}"


@pytest.mark.parametrize(
    "row",
    [
        "x = arguments.real(0, 1, x=x)",  # as in nn
        'x = arguments.whole("x")',
        "x = arguments.whole(x)",
        "x = map(arguments.text, x)",
        "x = arguments.floats(softmax, x)",  # another's docstring
    ],
)
def test_check_whose_value_is_unknown_is_refused(tmp_path, row):
    text = f'def double(x):\n    """Return twice a number."""\n    {row}\n'
    exercise = exercise_from(tmp_path, f"{text}    return 2 * x\n", "double")
    assert "needs the name 'arguments'" in fault(exercise, set())
