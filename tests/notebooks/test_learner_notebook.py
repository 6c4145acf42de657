"""What the learner's notebook holds of the teacher's, and what not."""

import ast

import nbformat
import pytest

from autograder.course.shown_code import without_assertions
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import as_text, learner_text
from autograder.notebooks.source import LessonSource
from course_lib.figures.alternatives import alternative_text
from tests.notebooks.one_lesson import HERE, cell, notebooks

STUB = "raise NotImplementedError  # replace this line with your answer"
DEFINITIONS = ast.FunctionDef | ast.ClassDef


@pytest.fixture(scope="module", params=HERE.lessons)
def released(request):
    source = LessonSource(HERE.source(request.param))
    teacher = teacher_notebook(source)
    text = learner_text(HERE.root, request.param, teacher)
    return source, teacher, nbformat.reads(text, as_version=4)


def test_learner_gets_a_stub_for_each_solution(released):
    source, teacher, learner = released
    for exercise in source.exercises:
        text = cell(teacher, exercise.name).source
        contract = text.split("    ### BEGIN SOLUTION\n")[0]
        assert cell(learner, exercise.name).source == f"{contract}    {STUB}"


def test_answers_of_the_learner_alone_keep_their_stub(built):
    teacher, learner = notebooks(built)
    for each in learner.cells:
        is_answer = each.metadata.get("nbgrader", {}).get("solution", False)
        assert ("attention" in each.metadata) is is_answer
        if is_answer:
            course_version = "from course_lib.synthetic import double"
            expected = {"stub": each.source, "course_version": course_version}
            assert each.metadata["attention"] == expected
            assert STUB in each.source
    answers = [each for each in teacher.cells if "attention" in each.metadata]
    assert [[*each.metadata["attention"]] for each in answers] == [["course_version"]]


# Rows of two weak tests that lesson 16 shows; any test of that function has them.
COMMON_ROWS = {
    "rng = np.random.default_rng(0)",
    "output, weights = attention(q, k, v)",
    # Lesson 09's first layer calls the learner's own network, as later layers do.
    'return feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])',
}


def test_learner_notebook_holds_no_solution(released):
    source, teacher, learner = released
    assert "SOLUTION" not in as_text(learner)
    written = {row.strip() for c in learner.cells for row in c.source.splitlines()}
    for exercise in source.exercises:
        text = cell(teacher, exercise.name).source
        body = text.split("### BEGIN SOLUTION\n")[1].splitlines()[:-1]
        assert any(row.strip().startswith(("return ", "assert ")) for row in body)
        rows = {row.strip() for row in body if len(row.strip()) > 3}
        assert not (written & rows) - COMMON_ROWS


def test_learner_notebook_holds_no_outputs(released):
    for cell_ in released[2].cells:
        if cell_.cell_type == "code":
            assert (cell_.outputs, cell_.execution_count) == ([], None)


def test_learner_checks_are_locked_and_have_the_points(released):
    source, _, learner = released
    for exercise in source.exercises:
        about = cell(learner, f"check-{exercise.name}").metadata
        assert about.nbgrader.points == exercise.points > 0
        assert about.nbgrader.locked and about.nbgrader.grade
        assert about.deletable is about.editable is False
        answer = cell(learner, exercise.name).metadata
        assert not answer.nbgrader.locked and answer.nbgrader.solution
        assert answer.get("editable", True)


def test_learner_notebook_has_the_teachers_other_cells(released):
    _, teacher, learner = released
    by_id = {c.id: c for c in learner.cells}
    alone = {c.id for c in teacher.cells if not without_assertions(c.source)}
    assert [*by_id] == [c.id for c in teacher.cells if c.id not in alone]
    for theirs in (c for c in teacher.cells if c.id in by_id):
        mine = by_id[theirs.id]
        if broken := theirs.metadata.get("attention", {}).get("mend"):
            assert mine.source == broken != theirs.source
        elif theirs.cell_type == "code" and "nbgrader" not in theirs.metadata:
            assert mine.source == without_assertions(theirs.source)
        elif not theirs.metadata.get("nbgrader", {}).get("solution"):
            assert mine.source == theirs.source


def test_learner_reads_no_assertion_and_no_alternative_text(released):
    source, _, learner = released
    for each in learner.cells:
        if each.cell_type == "code":
            tree = ast.parse(each.source)
            blocks = [s for s in tree.body if not isinstance(s, DEFINITIONS)]
            for node in (node for block in blocks for node in ast.walk(block)):
                assert not isinstance(node, ast.Assert)
                if isinstance(node, ast.keyword) and node.arg == "alt":
                    assert alternative_text(node.value.value) in source.texts.values()


def test_learner_notebook_is_deterministic(released):
    source, teacher, learner = released
    assert learner_text(HERE.root, source.lesson, teacher) == as_text(learner)
