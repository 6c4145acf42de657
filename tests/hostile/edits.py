"""Notebooks whose cells, marks, points or format were changed."""

import copy
import json

from autograder.demo.sample_class import right_answer
from autograder.grading.reading import MAX_CELLS
from tests.hostile import hostile
from tests.hostile.answers import GUESS, GUESSED
from tests.submissions import EXERCISES, LEARNER

FAMILY = "edits the notebook"
MISSING = {"softmax": "missing"}
CHECK = "check-softmax"


def guess(submission):
    """Answer softmax with a guess; give the marks of its check, free to change."""
    submission.answer("softmax", GUESS)
    return submission.cell(CHECK).metadata.nbgrader


def raw(submission, notebook):
    """Write a notebook as it is, whatever it is."""
    submission.raw = json.dumps(notebook).encode()


@hostile(FAMILY, lost=GUESSED)
def check_is_not_to_be_executed(submission, world):
    guess(submission)
    tags = ["skip-execution", "raises-exception", "nbval-skip"]
    submission.cell(CHECK).metadata.tags = tags


@hostile(FAMILY, lost=GUESSED)
def check_has_no_grade(submission, world):
    guess(submission).grade = False


@hostile(FAMILY, lost=GUESSED)
def check_is_a_solution(submission, world):
    guess(submission).update(solution=True, locked=False, grade=False)


@hostile(FAMILY, lost=GUESSED)
def check_is_worth_a_thousand_points(submission, world):
    guess(submission).points = 1000


@hostile(FAMILY, lost=GUESSED)
def points_of_checks_are_no_numbers(submission, world):
    guess(submission)
    worth = (float("nan"), float("inf"), -8, "8.0", None, [8], 10**400, {})
    for name, points in zip(EXERCISES, worth, strict=True):
        submission.cell(f"check-{name}").metadata.nbgrader.points = points


@hostile(FAMILY, lost=GUESSED)
def check_prints_its_points(submission, world):
    guess(submission)
    submission.cell(CHECK).source = "print(8.0)\n8.0"


@hostile(FAMILY, lost=GUESSED)
def outputs_show_full_points(submission, world):
    guess(submission)
    cell = submission.cell(CHECK)
    data = {"text/plain": "8.0", "text/html": "<b>✓ 8/8</b>"}
    result = {"output_type": "execute_result", "data": data, "metadata": {}}
    cell.outputs = [result | {"execution_count": 1}]
    cell.execution_count = 1


@hostile(FAMILY, lost=GUESSED)
def check_is_deleted(submission, world):
    guess(submission)
    del submission.notebook.cells[submission.index(CHECK)]


@hostile(FAMILY, lost=GUESSED)
def all_is_deleted_but_the_answers(submission, world):
    guess(submission)
    cells = submission.notebook.cells
    submission.notebook.cells = [cell for cell in cells if cell.id in EXERCISES]


@hostile(FAMILY, lost=GUESSED)
def check_is_repeated_ten_times(submission, world):
    guess(submission).points = 100
    index = submission.index(CHECK)
    copies = [copy.deepcopy(submission.cell(CHECK)) for _ in range(9)]
    submission.notebook.cells[index:index] = copies


@hostile(FAMILY)
def check_is_repeated_up_to_the_most_cells(submission, world):
    cells = submission.notebook.cells
    cells += [submission.cell(CHECK)] * (MAX_CELLS - len(cells))


@hostile(FAMILY, lost=GUESSED)
def check_is_moved_above_everything(submission, world):
    guess(submission)
    cells = submission.notebook.cells
    cells.insert(0, cells.pop(submission.index(CHECK)))


@hostile(FAMILY, lost=GUESSED)
def check_is_prose(submission, world):
    guess(submission)
    submission.cell(CHECK).cell_type = "markdown"


@hostile(FAMILY, lost=GUESSED)
def own_cell_has_the_marks_of_the_check(submission, world):
    guess(submission)
    real = submission.cell(CHECK)
    own = submission.own("check = print\n8.0", above="softmax")
    own.id, own.metadata = real.id, copy.deepcopy(real.metadata)
    real.id, real.metadata = "stranger", {}


@hostile(FAMILY)
def prose_has_the_marks_of_the_answer(submission, world):
    real = submission.cell("softmax")
    note = submission.note("My notes on softmax.", above="softmax")
    note.id, note.metadata = real.id, copy.deepcopy(real.metadata)
    real.id, real.metadata = "answer", {}


@hostile(FAMILY, lost=MISSING)
def answer_is_deleted(submission, world):
    del submission.notebook.cells[submission.index("softmax")]


@hostile(FAMILY, lost=MISSING)
def answer_is_empty(submission, world):
    submission.cell("softmax").source = None


@hostile(FAMILY, lost={name: "missing" for name in EXERCISES})
def nothing_is_answered(submission, world):
    submission.notebook = copy.deepcopy(LEARNER)


@hostile(FAMILY)
def answer_is_followed_by_its_stub(submission, world):
    stub = copy.deepcopy(LEARNER.cells[submission.index("softmax")])
    submission.notebook.cells.insert(submission.index("softmax") + 1, stub)


@hostile(FAMILY, lost=GUESSED)
def right_answer_is_followed_by_a_guess_with_its_marks(submission, world):
    second = copy.deepcopy(submission.cell("softmax"))
    second.source = GUESS
    submission.notebook.cells.insert(submission.index("softmax") + 1, second)


@hostile(FAMILY)
def guess_is_followed_by_a_right_answer_with_its_marks(submission, world):
    second = copy.deepcopy(submission.cell("softmax"))
    submission.answer("softmax", GUESS)
    submission.notebook.cells.insert(submission.index("softmax") + 1, second)


@hostile(FAMILY)
def answer_is_split_in_two(submission, world):
    source = right_answer("softmax")
    named = "def powers(shifted):\n    return np.exp(shifted)"
    submission.answer("softmax", named)
    second = source.replace("np.exp(shifted)", "powers(shifted)")
    submission.own(second, below="softmax")


@hostile(FAMILY)
def answer_has_another_grade_id(submission, world):
    submission.cell("softmax").metadata.nbgrader.grade_id = "extra-credit"


@hostile(FAMILY)
def grade_ids_of_two_answers_are_exchanged(submission, world):
    first = submission.cell("softmax").metadata.nbgrader
    second = submission.cell("attention").metadata.nbgrader
    first.grade_id, second.grade_id = second.grade_id, first.grade_id


@hostile(FAMILY)
def all_marks_of_two_answers_are_exchanged(submission, world):
    first, second = submission.cell("softmax"), submission.cell("attention")
    first.id, second.id = second.id, first.id
    first.metadata, second.metadata = second.metadata, first.metadata


@hostile(FAMILY)
def all_cells_are_in_reverse_order(submission, world):
    submission.notebook.cells.reverse()


@hostile(FAMILY)
def cells_have_no_ids(submission, world):
    for cell in submission.notebook.cells:
        del cell["id"]


@hostile(FAMILY)
def cells_have_all_the_same_id(submission, world):
    for cell in submission.notebook.cells:
        cell["id"] = "softmax"


@hostile(FAMILY)
def ids_are_of_odd_types_and_lengths(submission, world):
    odd = (None, 8, ["softmax"], {}, "x" * 1_000_000, "", "../../etc", "\ud800")
    for index, cell in enumerate(submission.notebook.cells):
        cell["id"] = odd[index % len(odd)]
    raw(submission, submission.notebook)


@hostile(FAMILY)
def cells_have_neither_ids_nor_metadata(submission, world):
    for cell in submission.notebook.cells:
        del cell["id"], cell["metadata"]


@hostile(FAMILY)
def metadata_are_of_odd_types(submission, world):
    odd = (None, 8, [], "solution", True, [{"nbgrader": {"grade": True}}])
    for index, cell in enumerate(submission.notebook.cells):
        cell["metadata"] = odd[index % len(odd)]
    submission.notebook["metadata"] = odd


@hostile(FAMILY)
def marks_of_nbgrader_are_of_odd_types(submission, world):
    odd = (None, 8, [], "solution", {"grade_id": ["softmax"]}, {"grade_id": 8}, {})
    for index, cell in enumerate(submission.notebook.cells):
        cell.metadata["nbgrader"] = odd[index % len(odd)]


@hostile(FAMILY)
def marks_are_of_three_versions(submission, world):
    versions = (1, 2, 99, -1, None, "3", 2.5, [3])
    for name, version in zip(EXERCISES, versions, strict=True):
        submission.cell(name).metadata.nbgrader.schema_version = version
        submission.cell(f"check-{name}").metadata.nbgrader.schema_version = version


@hostile(FAMILY)
def marks_of_the_first_version_are_in_the_tags(submission, world):
    for name in EXERCISES:
        marks = submission.cell(name).metadata.pop("nbgrader")
        submission.cell(name).metadata.tags = [f"assignment={marks['grade_id']}"]


@hostile(FAMILY)
def kernel_is_another(submission, world):
    submission.notebook.metadata.kernelspec = {
        "name": "bash",
        "display_name": "Bash",
        "language": "bash",
        "argv": ["rm", "-rf", str(world.folder)],
    }


@hostile(FAMILY)
def language_is_another(submission, world):
    submission.notebook.metadata.language_info = {"name": "R", "version": ["4"]}
    submission.notebook.metadata.kernelspec.language = None


@hostile(FAMILY)
def notebook_has_no_metadata(submission, world):
    del submission.notebook["metadata"]


def in_format_3(cell):
    """Return a cell as nbformat 3 had it."""
    old = {"cell_type": cell.cell_type, "metadata": cell.metadata}
    if cell.cell_type == "code":
        rest = {"outputs": [], "collapsed": False, "language": "python"}
        return old | rest | {"input": cell.source, "prompt_number": 1}
    return old | {"source": cell.source.splitlines(keepends=True)}


@hostile(FAMILY)
def format_is_3(submission, world):
    cells = [in_format_3(cell) for cell in submission.notebook.cells]
    sheets = [{"cells": cells[:20], "metadata": {}}, {"cells": cells[20:]}]
    raw(submission, {"nbformat": 3, "nbformat_minor": 0, "worksheets": sheets})


@hostile(FAMILY)
def format_is_4_0(submission, world):
    for cell in submission.notebook.cells:
        del cell["id"]
        cell["source"] = cell.source.splitlines(keepends=True)
    submission.notebook.nbformat_minor = 0


@hostile(FAMILY)
def format_is_of_a_future_version(submission, world):
    submission.notebook.update(nbformat=99, nbformat_minor="x", x_features=["y"])


@hostile(FAMILY)
def format_is_missing(submission, world):
    del submission.notebook["nbformat"], submission.notebook["nbformat_minor"]


@hostile(FAMILY)
def cells_of_two_formats(submission, world):
    guess = {"cell_type": "code", "input": GUESS, "metadata": {}}
    submission.notebook["worksheets"] = [{"cells": [guess]}]


@hostile(FAMILY)
def answers_are_prose_and_raw_text(submission, world):
    submission.cell("softmax").cell_type = "markdown"
    submission.cell("attention").cell_type = "raw"


@hostile(FAMILY)
def outputs_are_of_odd_types(submission, world):
    odd = (None, 8, {}, "8.0", [None], [{"output_type": 8}], [{"output_type": "x"}])
    for index, cell in enumerate(submission.notebook.cells):
        cell["outputs"] = odd[index % len(odd)]
        cell["execution_count"] = odd[index % len(odd)]
        cell["attachments"] = odd[index % len(odd)]


@hostile(FAMILY)
def outputs_hold_eight_megabytes_of_a_web_page(submission, world):
    page = "<script>document.location = 'https://example.org'</script>" * 140_000
    data = {"output_type": "display_data", "data": {"text/html": page}, "metadata": {}}
    submission.cell("softmax").outputs = [data]


@hostile(FAMILY)
def sources_are_lists_with_other_things_in_them(submission, world):
    for cell in submission.notebook.cells:
        lines = cell.source.splitlines(keepends=True)
        cell["source"] = [None, *lines, 8, {"x": 1}]


@hostile(FAMILY)
def own_cells_are_of_unknown_kinds_or_none(submission, world):
    odd = (None, 8, "cell", [], {"cell_type": "quantum"}, {"cell_type": ["code"]}, {})
    submission.notebook.cells[3:3] = odd


@hostile(FAMILY)
def own_cells_stop_with_errors_of_all_kinds(submission, world):
    sources = ("1 / 0", "def", "\0", "\ud800", "?\n%%nosuch", "!!", " x", "((" * 99)
    for source in sources:
        submission.own(source, above="softmax")
    raw(submission, submission.notebook)


@hostile(FAMILY, lost=GUESSED)
def setup_is_changed_to_fake_the_check(submission, world):
    guess(submission)
    submission.cell(
        "dot-product-attention-2"
    ).source = "import numpy as np\n\ncheck = lambda answer: 8.0\nnp.allclose = check"


@hostile(FAMILY)
def setup_is_deleted(submission, world):
    del submission.notebook.cells[submission.index("dot-product-attention-2")]


@hostile(FAMILY)
def exercise_is_added_with_points_of_its_own(submission, world):
    own = submission.own("check(softmax)")
    marks = dict(submission.cell(CHECK).metadata.nbgrader)
    own.metadata = {"nbgrader": marks | {"grade_id": "check_bonus", "points": 500}}


@hostile(FAMILY, lost=GUESSED)
def demonstration_answers_instead_of_the_learner(submission, world):
    # Above the guess: what the exercise's own cell defines is the answer.
    guess(submission)
    submission.cell("looking-something-up-6").source = right_answer("softmax")
