"""The demo's course folder: the lesson, the configuration and the class's submissions.

It is a course folder like any other, so each command works in it.
"""

import ast
import copy
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.checking.exercise import Exercise
from autograder.checking.registry import exercise_names, exercises_of, load
from autograder.course import Course, CourseError

# Right, and Python warns at every call; the first try also overflows.
SOFTMAX_WITH_WARNINGS = """\
import warnings


def softmax(x, axis=-1):
    warnings.warn("still trying things out")
    first_try = np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)
    safe = np.exp(x - x.max(axis=axis, keepdims=True))
    safe = safe / safe.sum(axis=axis, keepdims=True)
    return np.where(np.isfinite(first_try), first_try, safe)
"""

# Right, with a helper function that stands in a cell of the learner's own.
HELPER = '''\
def all_dot_products(rows, other_rows):
    """My own helper: every row with every other row."""
    return np.einsum("...ic,...jc->...ij", rows, other_rows)
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

# Stops on every input, and does not even parse.
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

IN_THE_LESSON = {"np"}  # names that the lesson's set-up cell gives


def right(name: str) -> str:
    """Give the source of an exercise's reference."""
    return inspect.getsource(load(name).reference).rstrip("\n")


def mistaken(name: str, misconception: str) -> str:
    """Give the source of a misconception under the exercise's name.

    What the misconception calls in its own module comes along.
    """
    wrong = _misconception(load(name), misconception)
    module = inspect.getsource(sys.modules[wrong.__module__])
    own, imports = _definitions(module)
    needed = _needed(own[misconception], {**own, **imports}) - {misconception}
    parts = [_lines(module, imports[each]) for each in sorted(needed & {*imports})]
    parts += [_lines(module, own[each]) for each in sorted(needed & {*own})]
    answer = _lines(module, own[misconception])
    return "\n\n\n".join([*parts, re.sub(r"^def \w+", f"def {name}", answer)])


def _misconception(exercise: Exercise, name: str) -> object:
    found = {kept.name: kept.function for kept in exercise.misconceptions}
    if name not in found:
        known = ", ".join(found)
        raise LookupError(f"{exercise.name} has no misconception {name!r}, but {known}")
    return found[name]


def _definitions(module: str) -> tuple[dict[str, ast.stmt], dict[str, ast.stmt]]:
    """Give a module's functions and imports by name, without what the lesson has."""
    given = IN_THE_LESSON | {*exercise_names()}
    own: dict[str, ast.stmt] = {}
    imports: dict[str, ast.stmt] = {}
    for statement in ast.parse(module).body:
        if isinstance(statement, ast.FunctionDef):
            own[statement.name] = statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                if (bound := alias.asname or alias.name) not in given:
                    imports[bound] = statement
    return own, imports


def _needed(function: ast.stmt, known: dict[str, ast.stmt]) -> set[str]:
    """Give the known names that a function looks up, and those that these look up."""
    found: set[str] = set()
    open_ends = [function]
    while open_ends:
        names = {n.id for n in ast.walk(open_ends.pop()) if isinstance(n, ast.Name)}
        new = (names & {*known}) - found
        found |= new
        open_ends += [known[name] for name in new]
    return found


def _lines(module: str, statement: ast.stmt) -> str:
    """Give a statement's lines, without decorators."""
    return "\n".join(module.splitlines()[statement.lineno - 1 : statement.end_lineno])


LESSON = "01_dot_product_attention"


@dataclass(frozen=True)
class Student:
    """One student and what the submission holds.

    name : an invented first name, the student's id
    answers : source text by exercise; an exercise without one stays untouched
    own_cells : by exercise, a new cell that the student put above the answer
    saved : what the student's editor or network made of the file's text
    """

    name: str
    answers: dict[str, str]
    own_cells: dict[str, str] = field(default_factory=dict)
    saved: Callable[[str], str] = str


def sample_class() -> list[Student]:
    """Give the whole class, in the order of the names."""
    return [
        Student("amara", _right()),
        _mistakes("bjarne", scaled_scores="no_scale"),
        _mistakes(
            "chiyo",
            scaled_scores="divided_by_d_k",
            attention_step_by_step="softmax_of_unscaled",
        ),
        _mistakes("dario", softmax="no_max_subtraction"),
        _mistakes("elif", attention="softmax_over_queries"),
        _mistakes(
            "farid",
            similarity_attention="rows_of_x_mixed",
            softmax_jacobian="diagonal_only",
        ),
        _mistakes(
            "gudrun",
            scaled_scores="no_scale",  # like bjarne: a class's mistakes are ranked
            additive_scores="no_tanh",
            bilinear_scores="w_transposed",
        ),
        # All that calls this softmax is right by itself.
        _mistakes("hamid", softmax="keepdims_missing_in_the_sum"),
        Student("ines", _first_half()),
        Student("jomo", {}),
        Student(
            "kalea",
            _right(
                bilinear_scores=BILINEAR_THAT_STOPS,
                additive_scores=ADDITIVE_THAT_DOES_NOT_PARSE,
            ),
        ),
        Student("lior", _right(softmax=SOFTMAX_WITH_WARNINGS)),
        Student(
            "mirela",
            _right(
                scaled_scores=SCORES_WITH_HELPER,
                attention=ATTENTION_WITH_HELPER,
            ),
            own_cells={"scaled_scores": HELPER},
        ),
        Student("nuru", _right(), saved=_on_windows),
        Student("orla", _right(attention=COURSE_VERSION)),
        Student("pavel", _right(), saved=_cut_off),
    ]


def _mistakes(student: str, **misconceptions: str) -> Student:
    """Give a student with these mistakes; all other answers are right."""
    answers = {name: mistaken(name, wrong) for name, wrong in misconceptions.items()}
    return Student(student, _right(**answers))


def _right(**others: str) -> dict[str, str]:
    """Give right answers to all exercises, but for the others that are given."""
    return {each.name: right(each.name) for each in exercises_of(LESSON)} | others


def _first_half() -> dict[str, str]:
    done = ("softmax", "similarity_attention", "softmax_jacobian", "scaled_scores")
    return {name: right(name) for name in done}


def _on_windows(text: str) -> str:
    """Give a file its line ends, and the cells' own text inside it too."""
    return text.replace("\\n", "\\r\\n").replace("\n", "\r\n")


def _cut_off(text: str) -> str:
    return text[: 2 * len(text) // 3]


def submit(folder: Path, lesson: str, learner: NotebookNode, student: Student) -> Path:
    """Write a student's submission into a course folder and give its path.

    learner : the learner's notebook, which stays as it is
    """
    text = student.saved(nbformat.writes(answered(learner, student)))
    path = folder / "submitted" / student.name / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())  # write_text would change the line ends
    return path


def answered(learner: NotebookNode, student: Student) -> NotebookNode:
    """Give the learner's notebook with a student's answers and own cells in it."""
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
    if left := [*answers, *own_cells]:
        raise LookupError(f"the notebook has no exercise {', '.join(left)}")
    notebook.cells = cells
    return notebook


# Whatever the course's own configuration says: its gradebook is not for the demo.
OWN_GRADEBOOK = """
# The demo's gradebook lies beside this file.
c.CourseDirectory.db_url = {url!r}
"""


def make_folder(course: Course, folder: Path, students: Sequence[Student]) -> None:
    """Make a course folder with the lesson and the students' submissions.

    folder : an earlier one is replaced
    """
    for path in (course.teacher(LESSON), course.learner(LESSON)):
        if not path.is_file():
            raise CourseError(
                f"{course.relative(path)} is missing: run `make build` first, which "
                "makes the notebooks"
            )
    try:
        if folder.exists():
            shutil.rmtree(folder)
        _copy(course, folder)
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} cannot be written or replaced "
            f"({error.strerror or error}): mend that and call again"
        ) from None
    learner = nbformat.read(course.learner(LESSON), as_version=4)
    for student in students:
        submit(folder, LESSON, learner, student)


def _copy(course: Course, folder: Path) -> None:
    paths = (course.source(LESSON), course.teacher(LESSON), course.learner(LESSON))
    for path in filter(Path.is_file, paths):
        copy = folder / path.relative_to(course.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    text = (course.root / "nbgrader_config.py").read_text(encoding="utf-8")
    own = OWN_GRADEBOOK.format(url=f"sqlite:///{folder / 'gradebook.db'}")
    (folder / "nbgrader_config.py").write_text(text + own, encoding="utf-8")


# MERGED autograder.demo.typed: Answers of the sample class that no misconception stands for, as they were typed.
# MERGED autograder.demo.answers: The source text of answers, right and mistaken, as a learner would have typed it.
#
#   Mistakes come from the exercises' own misconceptions, so no wrong code is kept twice.
#
# MERGED autograder.demo.students: The sample class: invented students of lesson 01, and what each of them wrote.
# MERGED autograder.demo.submissions: Make students' submissions from the learner's notebook.
#
#   They go where nbgrader collects them: ``submitted/<student>/<lesson>/``.
#
