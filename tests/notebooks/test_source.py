"""What an author can get wrong in a lesson's source, and what the refusal says."""

import functools
import math
import re

import pytest

from autograder.course import Course
from autograder.notebooks.cells import SourceError, read_cells
from autograder.notebooks.source import LessonSource, fault, free_names
from tests.synthetic import (
    DOUBLE,
    LESSON,
    MODULE,
    TOP,
    TWICE_DOUBLE,
    Registry,
    exercise_cells,
    exercise_from,
    write_lesson,
)

COURSE = Course.here()
GOOD = TOP + exercise_cells("double")


@pytest.fixture
def registry(tmp_path, monkeypatch):
    registry = Registry(tmp_path, monkeypatch)
    registry.add(DOUBLE, "double")
    return registry


@pytest.fixture
def refusal(tmp_path, registry):
    """Read a source that is refused; return the line and the sentence."""

    def read(text):
        path = write_lesson(tmp_path, text)
        with pytest.raises(SourceError) as caught:
            LessonSource(path)
        pattern = rf"solutions/{LESSON}/{LESSON}\.py:(\d+): (.+)"
        match = re.fullmatch(pattern, str(caught.value), re.DOTALL)
        assert match, str(caught.value)
        return int(match[1]), match[2]

    return read


def line_of(text, row):
    """Return the line on which a row stands, counted from 1."""
    (number,) = [n for n, line in enumerate(text.splitlines(), 1) if line == row]
    return number


def test_good_source_is_read_cell_by_cell(tmp_path, registry):
    source = LessonSource(write_lesson(tmp_path, GOOD))
    kinds = [cell.kind for cell in source.cells]
    assert kinds == ["prose", "code", "prose", "exercise", "check"]
    assert source.exercises == [registry.exercises["double"]]
    rows = GOOD.splitlines()
    assert all(rows[cell.line - 1].startswith("# %%") for cell in source.cells)


@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_every_lesson_of_the_course_is_read(lesson):
    assert LessonSource(COURSE.source(lesson)).exercises


def test_comments_are_not_taken_for_shell_commands(tmp_path, registry):
    text = TOP + "\n# %%\n# cat and dog\n# ls\n# %time\nx = 1\n"
    source = LessonSource(write_lesson(tmp_path, text))
    assert source.cells[-1].text == "# cat and dog\n# ls\n# %time\nx = 1"


def test_windows_line_ends_are_read_as_line_ends(tmp_path, registry):
    path = write_lesson(tmp_path, GOOD)
    plain = [cell.text for cell in LessonSource(path).cells]
    path.write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert [cell.text for cell in LessonSource(path).cells] == plain


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("#%%", "a cell starts with '# %%', not with '#%%'"),
        ("# %%[markdown]", "unknown marker '# %%[markdown]'"),
        ("# %% markdown", "unknown marker '# %% markdown'"),
        ("# %% [markdwon]", "unknown marker '# %% [markdwon]'"),
        ("# %% [raw]", "unknown marker '# %% [raw]'"),
        ("# %%% deeper", "unknown marker '# %%% deeper'"),
        ("# %%time", "unknown marker '# %%time'"),
        ("# In[3]:", "a cell starts with '# %%', not with '# In[3]:'"),
        ("# +", "a cell starts with '# %%', not with '# +'"),
        ('# %% tags=["skip-it"]', "unknown marker: tag 'skip-it'"),
        ("# %% tags=[nbval-skip]", "unknown marker '# %% tags=[nbval-skip]'"),
        ('# %% active="ipynb"', "unknown marker"),
    ],
)
def test_unknown_marker_is_refused_with_its_line(refusal, row, message):
    text = f"{TOP}\n{row}\nx = 1\n"
    line, sentence = refusal(text)
    assert line == line_of(text, row)
    assert message in sentence


def test_tags_that_nbval_knows_are_kept(tmp_path, registry):
    text = TOP + '\n# %% tags=["nbval-skip", "nbval-ignore-output"]\nx = 1\n'
    source = LessonSource(write_lesson(tmp_path, text))
    assert source.cells[-1].tags == ["nbval-skip", "nbval-ignore-output"]


@pytest.mark.parametrize(
    ("rows", "bad", "message"),
    [
        ("# %%\nx = (1,\ny = 2\n", 2, "syntax error: '(' was never closed"),
        ("# %%\n\n\nfor x in y\n    pass\n", 4, "syntax error: expected ':'"),
        ("# %%\nx = 1\n%timeit x\n", 3, "syntax error"),
        ("# %%\n!ls\n", 2, "syntax error"),
        ("# %%\nreturn 1\n", 2, "syntax error: 'return' outside function"),
        ("# %% [markdown]\n# Text.\n\nx = 1\n", 4, "a line of prose starts with '# '"),
        ("# %% [markdown]\n## Section\n", 2, "a line of prose starts with '# '"),
        ("# %%\n\n# %%\nx = 1\n", 1, "an empty cell"),
        ("# %% [markdown]\n#\n#\n", 1, "an empty cell"),
        ("# %%\nx = 1  ### BEGIN SOLUTION\n", 2, "nbgrader's mark"),
        ("# %% [markdown]\n# ### END SOLUTION\n", 2, "nbgrader's mark"),
        ("# %%\n### BEGIN HIDDEN TESTS\nx = 1\n", 2, "nbgrader's mark"),
    ],
)
def test_typo_in_a_cell_is_refused_with_its_line(refusal, rows, bad, message):
    before = TOP.count("\n") + 1
    line, sentence = refusal(f"{TOP}\n{rows}")
    assert message in sentence
    assert line == before + bad


def test_text_before_the_first_cell_is_refused(refusal):
    assert refusal("import numpy\n\n" + GOOD) == (
        1,
        "each cell must start with '# %%'",
    )
    assert refusal("# ---\n# jupyter:\n# ---\n" + GOOD)[0] == 1


def test_mark_inside_a_string_is_refused(refusal):
    line, sentence = refusal(f'{TOP}\n# %%\nx = """\n# %%\n"""\n')
    assert line == TOP.count("\n") + 3
    assert sentence.startswith("syntax error: unterminated triple-quoted string")


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n"])
def test_source_without_cells_is_refused(refusal, text):
    assert refusal(text)[0] == 1


def test_source_that_is_not_text_is_refused(tmp_path):
    path = write_lesson(tmp_path, GOOD)
    path.write_bytes(b"# %%\nx = '\xff'\n")
    with pytest.raises(SourceError, match=r"1: cannot be read: 'utf-8' codec"):
        read_cells(path)
    path.unlink()
    with pytest.raises(SourceError, match=r"1: cannot be read: .*No such file"):
        read_cells(path)


@pytest.mark.parametrize(
    "row",
    [
        f"from {MODULE} import double  # exercize",
        f"from {MODULE} import double  #exercise",
        f"from {MODULE} import double  # Exercise",
        f"from {MODULE} import double, half  # exercise",
        f"from  {MODULE}  import double  # exercise: hard",
        "from somewhere import double  # exercise",
        f"import {MODULE}  # exercise",
        f"    from {MODULE} import double  # exercise",
    ],
)
def test_misspelt_exercise_marker_is_refused(refusal, row):
    code = f"if True:\n{row}" if row.startswith(" ") else row
    text = GOOD.replace(f"from {MODULE} import double  # exercise", code)
    line, sentence = refusal(text)
    assert line == line_of(text, row)
    assert f"unknown marker {row[row.index('#') :]!r}" in sentence
    assert "from course_lib.module import name  # exercise" in sentence


def test_exercise_shares_its_cell_with_nothing(refusal):
    row = f"from {MODULE} import double  # exercise"
    text = GOOD.replace(row, f"import math\n{row}")
    assert refusal(text)[0] == line_of(text, row)


def test_imports_with_other_comments_are_no_markers(tmp_path, registry):
    text = TOP + "\n# %%\nimport math  # for the power\nfrom os import path  # paths\n"
    LessonSource(write_lesson(tmp_path, text))


@pytest.mark.parametrize(
    "row",
    ["check(double); x = 1", "points = check(double)", "check(np.exp)", "check()"],
)
def test_check_stands_in_a_cell_of_its_own(refusal, row):
    text = GOOD.replace("check(double)", row)
    line, sentence = refusal(text)
    assert line == line_of(text, row)
    assert "a check stands in a cell of its own" in sentence


@pytest.mark.parametrize(
    "row",
    [
        "### Exercise: double · 10 min · ●●○",
        "### Exercise double",
        "### exercise: double",
        "## Exercise: double",
        "#### Exercise: double",
        "###Exercise: double",
    ],
)
def test_heading_with_hand_written_parts_is_refused(refusal, row):
    text = GOOD.replace("### Exercise: double", row)
    line, sentence = refusal(text)
    assert line == line_of(text, f"# {row}")
    assert "minutes and difficulty come from the exercise's module" in sentence


def test_headings_of_lessons_about_exercises_are_no_exercises(tmp_path, registry):
    text = TOP + "\n# %% [markdown]\n# ## Exercises\n#\n# The exercise: none.\n"
    LessonSource(write_lesson(tmp_path, text))


HEADING = "\n# %% [markdown]\n# ### Exercise: double\n"
MARKER = f"\n# %%\nfrom {MODULE} import double  # exercise\n"
CHECK = "\n# %%\ncheck(double)\n"


@pytest.mark.parametrize(
    ("parts", "at", "message"),
    [
        ([HEADING, MARKER], 1, "double has no check after it"),
        ([HEADING, MARKER, MARKER, CHECK], 2, "double has no check before it"),
        ([HEADING, CHECK], 1, "check(double) without its exercise"),
        ([HEADING, MARKER, CHECK, CHECK], 3, "check(double) without its exercise"),
        (
            [HEADING, MARKER, CHECK, MARKER, CHECK],
            3,
            "exercise double stands here twice",
        ),
        ([MARKER, CHECK], 0, "no heading '### Exercise: double' above it"),
        ([MARKER, CHECK, HEADING], 0, "no heading '### Exercise: double' above it"),
        ([HEADING], 0, "a heading without its exercise: double"),
        ([HEADING, HEADING, MARKER, CHECK], 1, "a second heading for double"),
    ],
)
def test_heading_exercise_and_check_stand_in_order(refusal, parts, at, message):
    line, sentence = refusal(TOP + "".join(parts))
    assert sentence == message
    start = (TOP + "".join(parts[:at])).count("\n") + 2  # the blank line before a cell
    assert line - start in (0, 1)


def test_two_headings_in_a_cell_are_refused(refusal, registry):
    registry.add(TWICE_DOUBLE, "quadruple", uses=("double",))
    row = "### Exercise: quadruple"
    text = GOOD.replace("# Write it.", f"# {row}")
    assert refusal(text) == (line_of(text, f"# {row}"), "one exercise heading per cell")


@pytest.mark.parametrize(
    "row", ["# ### Exercise: dobule", f"from {MODULE} import dobule  # exercise"]
)
def test_unknown_exercise_is_refused(refusal, row):
    text = GOOD.replace(row.replace("dobule", "double"), row)
    line, sentence = refusal(text)
    assert line == line_of(text, row)
    assert sentence.startswith("no exercise named 'dobule'")


def test_renamed_exercise_is_refused(refusal, registry):
    registry.exercises["twofold"] = registry.exercises.pop("double")
    assert "no exercise named 'double'" in refusal(GOOD)[1]


def test_exercise_of_another_module_is_refused(refusal):
    text = GOOD.replace(MODULE, "course_lib.attention")
    assert refusal(text)[1] == f"double is in {MODULE}, not in course_lib.attention"


def test_exercise_of_another_lesson_is_refused(refusal, registry):
    registry.add(DOUBLE, "double", lesson="01_other")
    assert refusal(GOOD)[1] == "double says it belongs to 01_other"


def test_exercise_that_uses_a_later_one_is_refused(refusal, registry):
    registry.add(TWICE_DOUBLE, "quadruple", uses=("double",))
    text = TOP + exercise_cells("quadruple") + exercise_cells("double")
    line, sentence = refusal(text)
    assert line == line_of(text, f"from {MODULE} import quadruple  # exercise")
    assert sentence.startswith("quadruple uses double, which neither stands above it")


def test_exercise_may_use_an_earlier_one_or_a_set_up_import(tmp_path, registry):
    registry.add(TWICE_DOUBLE, "quadruple", uses=("double",))
    below = TOP + exercise_cells("double") + exercise_cells("quadruple")
    imported = TOP + f"from {MODULE} import double\n" + exercise_cells("quadruple")
    for text in (below, imported):
        source = LessonSource(write_lesson(tmp_path, text))
        used = source.names_for(registry.exercises["quadruple"])
        assert used == {"np", "double"}


def test_name_that_only_a_later_cell_imports_is_refused(refusal, registry):
    registry.add(
        'def double(x):\n    """Give it."""\n    return math.fsum([x, x])\n', "double"
    )
    late = GOOD + "\n# %%\nimport math\n"
    early = TOP + "\n# %%\nimport math\n\nx = 1\n" + exercise_cells("double")
    for text in (GOOD, late, early):
        sentence = refusal(text)[1]
        assert sentence.startswith("double needs the name 'math', which is neither")


def test_import_cells_before_the_first_exercise_are_set_up(tmp_path, registry):
    registry.add(
        'def double(x):\n    """Give it."""\n    return os.name, nn.F, log(x)\n',
        "double",
    )
    more = "\n# %%\nimport os.path\nimport torch.nn as nn\nfrom math import exp, log\n"
    LessonSource(write_lesson(tmp_path, TOP + more + exercise_cells("double")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"@functools.cache\n{DOUBLE}", "is decorated"),
        ("def double(x): return 2 * x\n", "is written on one line"),
        ("def double(x):\n    return 2 * x\n", "has no docstring"),
        ('def double(x):\n    """"""\n    return 2 * x\n', "has no docstring"),
        ('def double(x):\n    f"""Give {2}."""\n    return x\n', "has no docstring"),
        ('def double(x):\n    """Give it."""\n    # nothing\n', "has no body"),
        ('def double(x):\n    """Give it."""; return 2\n', "has code on the line"),
        ('async def double(x):\n    """Give it."""\n    return x\n', "not a function"),
        ('class double:\n    """Give it."""\n    x = 1\n', "is not a function"),
        (DOUBLE.replace("# a", "### END SOLUTION: a"), "nbgrader's mark"),
        (DOUBLE.replace("Give", "### BEGIN SOLUTION"), "nbgrader's mark"),
    ],
)
def test_reference_that_cannot_be_a_solution_cell_is_refused(
    refusal, registry, text, message
):
    registry.add(text, "double")
    line, sentence = refusal(GOOD)
    assert line == line_of(GOOD, f"from {MODULE} import double  # exercise")
    assert sentence.startswith("double ")
    assert message in sentence


@pytest.mark.parametrize("reference", [math.sqrt, functools.partial(math.pow, 2.0)])
def test_reference_without_a_source_is_refused(tmp_path, reference):
    exercise = exercise_from(tmp_path, DOUBLE, "double")
    exercise.reference = reference
    assert fault(exercise, set()) == "is not a function with a source of its own"


@pytest.mark.parametrize("name", ["größe", "a" * 59])
def test_name_that_is_no_cell_id_is_refused(tmp_path, name):
    exercise = exercise_from(tmp_path, DOUBLE.replace("double", name), name)
    assert "cannot be a cell's id" in fault(exercise, set())


@pytest.mark.parametrize(
    ("source", "free"),
    [
        ("def f(x):\n    return np.sum(x) + len(x)\n", {"np"}),
        ("def f(x: np.ndarray) -> Any:\n    return x\n", {"np", "Any"}),
        ("def f(x, scale=SCALE):\n    return scale * x\n", {"SCALE"}),
        ("def f(n):\n    return f(n - 1) if n else 0\n", set()),
        ("def f(x):\n    def g(y):\n        return h(x, y)\n    return g(x)\n", {"h"}),
        ("def f(x):\n    return [y * z for y in x if (q := y)]\n", {"z"}),
        ("def f(x):\n    import math\n    return math.exp(x)\n", set()),
        ("def f(x):\n    return (lambda y: y + w)(x)\n", {"w"}),
        (
            "def f(x):\n    try:\n        f()\n    except E as e:\n        raise e\n",
            {"E"},
        ),
        ("def f(x):\n    class A(B):\n        c = d\n    return A\n", {"B", "d"}),
        ("def f(x):\n    return x.real + print.__name__\n", set()),
        ('def f(x):\n    return f"{x:{width}}"\n', {"width"}),
    ],
)
def test_free_names_are_what_python_looks_up_outside(source, free):
    assert free_names(source) == free
