"""The demo's course folder: its lessons and settings, and what is handed in for one.

It is a course folder like any other, so each command works in it. The students are
invented; who they are, and the rest of their term, is in ``sample_term``. Their wrong
answers are misconceptions of the exercises, so no wrong code is kept twice; what no
misconception stands for is written out here.
"""

import ast
import copy
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.checking.call import plain_function
from autograder.checking.exercise import Exercise, Misconception
from autograder.checking.own_answer import as_answer
from autograder.checking.registry import exercise_names, exercises_of, load
from autograder.course import Course, CourseError

LESSON = "01_dot_product_attention"
IN_THE_LESSON = {"np"}  # names that the lesson's set-up cell defines

# Right, and Python warns at every call; the first try also overflows.
SOFTMAX_WITH_WARNINGS = """\
import warnings


def softmax(x, axis=-1):
    warnings.warn("still trying things out")
    first_try = np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)
    safe = np.exp(1.0 * x - x.max(axis=axis, keepdims=True))
    safe = safe / safe.sum(axis=axis, keepdims=True)
    return np.where(np.isfinite(first_try), first_try, safe)
"""

# Right, with a helper function in a cell of the learner's own.
HELPER = '''\
def all_dot_products(rows, other_rows):
    """My own helper: every row with every other row."""
    return np.einsum("...ic,...jc->...ij", 1.0 * rows, other_rows)
'''
SCORES_WITH_HELPER = """\
def scaled_scores(q, k):
    return all_dot_products(q, k) / q.shape[-1] ** 0.5
"""
ATTENTION_WITH_HELPER = """\
def attention(q, k, v):
    weights = softmax(all_dot_products(q, k) / q.shape[-1] ** 0.5)
    return np.einsum("...ij,...jc->...ic", weights, v), weights
"""

# One stops on every input, the other does not even parse.
BILINEAR_THAT_STOPS = """\
def bilinear_scores(q, k, w):
    if q.shape != k.shape:
        raise ValueError("q and k should have the same shape")
    return q.reshape(w.shape) @ w @ k
"""
ADDITIVE_THAT_DOES_NOT_PARSE = """\
def additive_scores(q, k, w_q, w_k, v)
    return np.tanh(q @ w_q + k @ w_k) @ v
"""

COURSE_VERSION = "from course_lib.attention import attention"


@cache  # a class answers many times
def right_answer(name: str) -> str:
    """Return an exercise's reference as somebody may write it who has not copied it.

    Its last result has a name.
    """
    text = as_answer(load(name).reference)
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return text
    bound = next(each for each in ("result", "answer", "found") if each not in text)
    rows = text.splitlines()
    row = rows[last.lineno - 1]
    rows[last.lineno - 1] = row.replace("return", f"{bound} =", 1)
    return "\n".join([*rows[: last.end_lineno], f"    return {bound}"])


def pasted_answers(lesson: str = LESSON) -> dict[str, str]:
    """Return the course's own answers, as the teacher's notebook has them."""
    return {each.name: as_answer(each.reference) for each in exercises_of(lesson)}


@cache
def wrong_answer(name: str, misconception: str) -> str:
    """Return the source of a misconception under the exercise's name.

    What the misconception calls in its own module comes before it. A family's has no
    source of its own (``written_misconceptions``).
    """
    bank = {each.name: each for each in written_misconceptions(load(name))}
    if misconception not in bank:
        raise LookupError(
            f"{name} has no misconception {misconception!r}, but {', '.join(bank)}"
        )
    wrong = bank[misconception]
    if wrong.code:
        answer = wrong.code.source(wrong.edits)
        modules = [wrong.code.module, load(name).expected_function.__module__]
    else:
        function = plain_function(wrong.function)
        modules = [function.__module__]
        answer = _definitions(*modules)[0][function.__name__]
    functions, imports = _definitions(*modules)
    needed = _dependencies(answer, functions | imports)
    parts = [imports[each] for each in sorted(needed & {*imports})]
    parts += [functions[each] for each in sorted(needed & {*functions})]
    return "\n\n\n".join([*parts, re.sub(r"^def \w+", f"def {name}", answer)])


def written_misconceptions(exercise: Exercise) -> list[Misconception]:
    """Return the misconceptions of a bank that are code of their own, or edits."""
    return [each for each in exercise.misconceptions if each.wrap is None]


@cache
def _definitions(*modules: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return modules' functions and imports by name, without what the lesson has."""
    in_lesson = IN_THE_LESSON | {*exercise_names()}
    functions: dict[str, str] = {}
    imports: dict[str, str] = {}
    for module in modules:
        source = inspect.getsource(sys.modules[module])
        ours = module.startswith("course_lib")  # exercises, too: the lesson has them
        lines = source.splitlines()
        for statement in ast.parse(source).body:
            # Each is on lines of its own; ast.get_source_segment splits them each time.
            text = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
            match statement:
                case ast.FunctionDef(name=name) if not (ours and name in in_lesson):
                    functions[name] = text
                case ast.Import(names) | ast.ImportFrom(names=names):
                    bound = {alias.asname or alias.name for alias in names}
                    imports |= dict.fromkeys(bound - in_lesson, text)
    return functions, imports


def _dependencies(answer: str, definitions: Mapping[str, str]) -> set[str]:
    """Return the defined names that an answer uses, and those that these use."""
    (written,) = ast.parse(answer).body
    assert isinstance(written, ast.FunctionDef)
    dependencies: set[str] = set()
    unread = [answer]
    while unread:
        nodes = ast.walk(ast.parse(unread.pop()))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        new = (names & {*definitions}) - dependencies - {written.name}
        dependencies |= new
        unread += [definitions[name] for name in new]
    return dependencies


@dataclass(frozen=True)
class SampleStudent:
    """One student and what the submission holds.

    name : an invented first name, the student's id
    answers : source text by exercise; an exercise without one stays untouched
    own_cells : by exercise, a new cell that the student put above the answer
    as_saved : what the student's editor or network made of the file's text
    """

    name: str
    answers: dict[str, str]
    own_cells: dict[str, str] = field(default_factory=dict)
    as_saved: Callable[[str], str] = str


def sample_class() -> list[SampleStudent]:
    """Return the whole class, in the order of the names."""
    return [
        SampleStudent("amara", right_answers()),
        with_misconceptions("bjarne", scaled_scores="no_scale"),
        with_misconceptions(
            "chiyo",
            scaled_scores="divided_by_d_k",
            attention_step_by_step="softmax_of_unscaled",
        ),
        with_misconceptions("dario", softmax="no_max_subtraction"),
        with_misconceptions("elif", attention="softmax_over_queries"),
        with_misconceptions(
            "farid",
            similarity_attention="rows_of_x_mixed",
            softmax_jacobian="diagonal_only",
        ),
        with_misconceptions(
            "gudrun",
            scaled_scores="no_scale",  # like bjarne: misconceptions are ranked
            additive_scores="no_tanh",
            bilinear_scores="w_transposed",
        ),
        # All that calls this softmax is right by itself.
        with_misconceptions("hamid", softmax="keepdims_missing_in_the_sum"),
        SampleStudent("ines", _first_half()),
        SampleStudent("jomo", {}),
        SampleStudent(
            "kalea",
            right_answers(
                bilinear_scores=BILINEAR_THAT_STOPS,
                additive_scores=ADDITIVE_THAT_DOES_NOT_PARSE,
            ),
        ),
        SampleStudent("lior", right_answers(softmax=SOFTMAX_WITH_WARNINGS)),
        SampleStudent(
            "mirela",
            right_answers(
                scaled_scores=SCORES_WITH_HELPER,
                attention=ATTENTION_WITH_HELPER,
            ),
            own_cells={"scaled_scores": HELPER},
        ),
        SampleStudent("nuru", pasted_answers(), as_saved=_on_windows),
        SampleStudent("orla", right_answers(attention=COURSE_VERSION)),
        SampleStudent("pavel", right_answers(), as_saved=cut_off),
    ]


def with_misconceptions(
    student: str, lesson: str = LESSON, **misconceptions: str
) -> SampleStudent:
    """Return a student with these misconceptions; all other answers are right."""
    wrong = {name: wrong_answer(name, each) for name, each in misconceptions.items()}
    return SampleStudent(student, right_answers(lesson, **wrong))


def right_answers(lesson: str = LESSON, **others: str) -> dict[str, str]:
    """Return right answers to all exercises, except where others are passed."""
    right = {each.name: right_answer(each.name) for each in exercises_of(lesson)}
    return right | others


def _first_half() -> dict[str, str]:
    written = ("softmax", "similarity_attention", "softmax_jacobian", "scaled_scores")
    return {name: right_answer(name) for name in written}


def _on_windows(text: str) -> str:
    """Return a file with Windows's line ends, also in the cells' own text."""
    return text.replace("\\n", "\\r\\n").replace("\n", "\r\n")


def cut_off(text: str) -> str:
    return text[: 2 * len(text) // 3]


# Whatever the course's own configuration says: its gradebook is not for the demo.
OWN_GRADEBOOK = """
# The demo's gradebook lies beside this file, wherever the folder is copied to.
from pathlib import Path

c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent}/gradebook.db"
"""


def make_folder(
    course: Course,
    folder: Path,
    students: Sequence[SampleStudent],
    lessons: Sequence[str] = (LESSON,),
) -> None:
    """Make a course folder with lessons and the students' submissions for the first.

    folder : an earlier one is replaced
    """
    for lesson in lessons:
        for path in (course.teacher(lesson), course.learner(lesson)):
            if not path.is_file():
                raise CourseError(
                    f"{course.relative(path)} is missing: run `make build` first, "
                    "which makes the notebooks"
                )
    try:
        if folder.exists():
            shutil.rmtree(folder)
        _copy_lessons(course, folder, lessons)
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} cannot be written or replaced "
            f"({error.strerror or error}): mend that and call again"
        ) from None
    learner = nbformat.read(course.learner(LESSON), as_version=4)
    for student in students:
        submit(folder, LESSON, learner, student)


def _copy_lessons(course: Course, folder: Path, lessons: Sequence[str]) -> None:
    homes = (course.source, course.teacher, course.learner)
    paths = (home(lesson) for lesson in lessons for home in homes)
    for path in filter(Path.is_file, paths):
        target = folder / path.relative_to(course.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    text = (course.root / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(text + OWN_GRADEBOOK, encoding="utf-8")


def submit(
    folder: Path,
    lesson: str,
    learner: NotebookNode,
    student: SampleStudent,
    file_name: str = "",
) -> Path:
    """Write a student's submission to where nbgrader collects it; return its path.

    learner : the learner's notebook, which stays as it is
    file_name : the lesson's name, if the student has not changed it
    """
    text = student.as_saved(nbformat.writes(answered_notebook(learner, student)))
    path = (
        folder / "submitted" / student.name / lesson / (file_name or f"{lesson}.ipynb")
    )
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())  # write_text would change the line ends
    return path


def answered_notebook(learner: NotebookNode, student: SampleStudent) -> NotebookNode:
    """Return the learner's notebook with a student's answers and own cells in it."""
    notebook = copy.deepcopy(learner)
    answers, own_cells = dict(student.answers), dict(student.own_cells)
    cells = []
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name in own_cells:
            cells.append(new_code_cell(own_cells.pop(name), id=f"own-{name}"))
        if name in answers:
            cell.source = answers.pop(name)
        cells.append(cell)
    if unknown := [*answers, *own_cells]:
        raise LookupError(f"the notebook has no exercise {', '.join(unknown)}")
    notebook.cells = cells
    return notebook
