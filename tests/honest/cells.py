"""Cells of the learner's own: where they stand, what they define, and how they end."""

from tests.honest import honest, out_of_order
from tests.honest.writing import at_the_end, change, on_top, remove, typed
from tests.submissions import EXERCISES, Submission

HELPER = "def swapped(rows):\n    return np.swapaxes(rows, -1, -2)"
WITH_HELPER = (
    "def scaled_scores(q, k):\n    return 1.0 * q @ swapped(k) / q.shape[-1] ** 0.5"
)


@honest
def cells_everywhere(submission: Submission) -> None:
    ids = [cell.id for cell in submission.notebook.cells]
    for name in ids:
        submission.own(f"# my own cell above {name}\n1 + 1", above=name)
        submission.note(f"Note to myself on **{name}** <b>!</b>", below=name)


@honest
def helper_above(submission: Submission) -> None:
    submission.own(HELPER, above="scaled_scores")
    submission.answer("scaled_scores", WITH_HELPER)


@honest
def helper_between_answer_and_check(submission: Submission) -> None:
    submission.own(HELPER, below="scaled_scores")
    submission.answer("scaled_scores", WITH_HELPER)


@honest
def helper_named_as_a_variable_of_a_later_demonstration(submission: Submission) -> None:
    submission.own(HELPER.replace("swapped", "turned"), above="scaled_scores")
    submission.answer("scaled_scores", WITH_HELPER.replace("swapped", "turned"))


@out_of_order
@honest
def helper_below_the_check(submission: Submission) -> None:
    submission.own(HELPER, below="check-scaled_scores")
    submission.answer("scaled_scores", WITH_HELPER)


@out_of_order
@honest
def helper_in_the_last_cell(submission: Submission) -> None:
    submission.own(HELPER)
    submission.answer("scaled_scores", WITH_HELPER)


@out_of_order
@honest
def import_in_the_last_cell(submission: Submission) -> None:
    submission.own("import math")
    change(submission, "scaled_scores", "d_k**0.5", "math.sqrt(d_k)")


@out_of_order
@honest
def decorator_and_what_it_needs_below_the_answer(submission: Submission) -> None:
    on_top(submission, "softmax", "@logged")
    submission.own("def logged(function):\n    LOG.append(1)\n    return function")
    submission.own("LOG = []")


@honest
def helper_in_a_demonstration(submission: Submission) -> None:
    on_top(submission, "looking-something-up-6", HELPER)
    submission.answer("scaled_scores", WITH_HELPER)


@honest
def helper_in_the_setup(submission: Submission) -> None:
    at_the_end(submission, "dot-product-attention-2", f"import math\n\n{HELPER}")
    submission.answer("scaled_scores", WITH_HELPER)
    change(submission, "scaled_scores", "q.shape[-1] ** 0.5", "math.sqrt(q.shape[-1])")


@honest
def setup_rewritten(submission: Submission) -> None:
    submission.cell("dot-product-attention-2").source = "import numpy as np, numpy"
    change(submission, "softmax", "np.exp", "numpy.exp")


@honest
def demonstration_needed_by_an_answer(submission: Submission) -> None:
    change(submission, "softmax", "axis: int = -1", "axis=-1, example=scores")


@honest
def demonstration_of_an_answer_needed_by_another(submission: Submission) -> None:
    submission.own("ROWS = len(weights)", below="from-scores-to-weights-7")
    at_the_end(submission, "scaled_scores", "assert ROWS == 1 and weights.size == 3")
    change(submission, "scaled_scores", "(q: np.ndarray", "(q: type(weights)")


@honest
def demonstrations_deleted(submission: Submission) -> None:
    remove(submission, "looking-something-up-6")
    remove(submission, "how-large-may-a-score-be-3")
    remove(submission, "attention-4")
    remove(submission, "attention-8")


@honest
def prose_rewritten(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        if cell.cell_type == "markdown":
            cell.source += "\n\n> My answer: no idea 🤷 <script>alert(1)</script>"


@honest
def experiments_that_fail(submission: Submission) -> None:
    failing = [
        "1 / 0",
        "softmax(np.array([1, 2, 3]), axis=7)",
        "def half_written(x:\n    return x",
        "  if True:\nprint(1)",
        "this is a note that should have been prose",
        "assert softmax(np.zeros(2))[0] == 1, 'why not?'",
        "raise ValueError('stop here')",
        "never_defined + 1",
        "import module_that_is_not_installed",
        "open('no_such_file.txt').read()",
        "np.zeros((2, 3)) @ np.zeros((2, 3))",
        "return softmax",
        "",
        "\n\n",
    ]
    for text in failing:
        submission.own(text, above="softmax_jacobian")


@honest
def experiment_fails_at_the_end_of_the_answer(submission: Submission) -> None:
    for name in EXERCISES:
        at_the_end(submission, name, f"{name}(np.zeros(2))[99]")


@honest
def examples_below_the_answer(submission: Submission) -> None:
    at_the_end(submission, "attention", "print(attention(q, k, v))\nattention(q, k, v)")


@honest
def the_check_called_again(submission: Submission) -> None:
    submission.own("check(softmax)", above="check-softmax")
    submission.own(
        "from autograder import check\nfor f in (softmax, scaled_scores): check(f)"
    )
    submission.own("import autograder\nautograder.check(attention)")


@honest
def compared_with_the_course(submission: Submission) -> None:
    submission.own(
        typed("""
            import course_lib.attention

            x = np.random.default_rng(0).normal(size=(3, 4))
            assert np.allclose(softmax(x), course_lib.attention.softmax(x))
        """),
        below="softmax",
    )


WRONG = "def softmax(x, axis=-1):\n    return x / x.sum(axis, keepdims=True)"


@honest
def second_definition_below_a_wrong_one_in_the_same_cell(
    submission: Submission,
) -> None:
    on_top(submission, "softmax", f"{WRONG}\n\n\nprint(softmax(np.ones(3)))\n\n")


@honest
def second_definition_between_a_wrong_one_and_its_check(submission: Submission) -> None:
    submission.own(submission.cell("softmax").source, below="softmax")
    submission.answer("softmax", WRONG)


@out_of_order
@honest
def second_definition_below_the_check_of_a_wrong_one(submission: Submission) -> None:
    right = submission.cell("softmax").source
    submission.answer("softmax", WRONG)
    submission.own(f"# second try\n{right}", below="check-softmax")
    submission.own("check(softmax)", below="attention")


@honest
def experiment_with_a_wrong_one_below_the_check(submission: Submission) -> None:
    submission.own(WRONG)
