"""What learners do to names, and where an answer may stand instead of its own cell."""

from nbformat.v4 import new_code_cell

from tests.honest import honest, out_of_order
from tests.honest.writing import on_top, remove, typed
from tests.submissions import EXERCISES, LEARNER, Submission


def _give_up(submission: Submission, name: str) -> str:
    """Put an exercise's stub back; give the answer that stood there."""
    answer = submission.cell(name).source
    stub = next(cell for cell in LEARNER.cells if cell.id == name)
    submission.answer(name, stub.source)
    return answer


@honest
def answers_in_new_cells_above_the_checks(submission: Submission) -> None:
    for name in EXERCISES:
        submission.own(_give_up(submission, name), above=f"check-{name}")


@out_of_order
@honest
def answers_in_new_cells_below_the_checks(submission: Submission) -> None:
    for name in EXERCISES:
        submission.own(_give_up(submission, name), below=f"check-{name}")


@out_of_order
@honest
def all_answers_in_one_last_cell(submission: Submission) -> None:
    answers = [_give_up(submission, name) for name in EXERCISES]
    submission.own("\n\n\n".join(answers))


@honest
def answer_cells_deleted_and_written_anew(submission: Submission) -> None:
    for name in EXERCISES:
        submission.own(submission.cell(name).source, above=f"check-{name}")
    for name in EXERCISES:
        remove(submission, name)


@honest
def answers_split_in_two_cells(submission: Submission) -> None:
    for name in EXERCISES:
        submission.own(submission.cell(name).source, below=name)
        submission.answer(name, "import math  # the rest is in the next cell")


@out_of_order
@honest
def answers_moved_to_the_end(submission: Submission) -> None:
    moved = [submission.cell(name) for name in EXERCISES]
    for name in EXERCISES:
        remove(submission, name)
    submission.notebook.cells += moved


@honest
def pasted_into_a_new_notebook(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        cell.metadata = {}
        del cell["id"]
    del submission.notebook.cells[0]  # the title was not copied
    submission.notebook.cells.insert(0, new_code_cell("# Attention, my copy", id="a1"))
    submission.notebook.nbformat_minor = 4
    del submission.notebook.cells[0]["id"]


@out_of_order
@honest
def an_answer_calls_a_later_one(submission: Submission) -> None:
    submission.answer(
        "similarity_attention",
        typed("""
            def similarity_attention(x, y):
                return attention(x * np.sqrt(x.shape[-1]), y, y)[0]
        """),
    )


@honest
def an_answer_calls_an_earlier_one(submission: Submission) -> None:
    submission.answer(
        "attention_step_by_step",
        typed("""
            def attention_step_by_step(q1, k, v):
                output, weights = attention(q1[np.newaxis], k, v)
                scores = (q1 @ k.T) * 1.0
                return dict(
                    scores=scores,
                    scaled=scaled_scores(q1[np.newaxis], k)[0],
                    weights=weights[0],
                    weighted_values=weights.T * v,
                    output=output[0],
                )
        """),
    )


@honest
def every_answer_by_itself(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            def attention(q, k, v):
                def softmax(x):
                    powers = np.exp(1.0 * x - x.max(-1, keepdims=True))
                    return powers / powers.sum(-1, keepdims=True)

                attention = softmax(q @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5)
                return attention @ v, attention
        """),
    )


@honest
def name_rebound_after_its_check(submission: Submission) -> None:
    submission.own("attention = attention(q, k, v)", below="check-attention")
    submission.own(
        "softmax_jacobian = softmax_jacobian(np.array([0.5, 0.5]))\nsoftmax = 'done'"
    )


@honest
def name_deleted_after_its_check(submission: Submission) -> None:
    submission.own("del attention, softmax_jacobian", below="check-attention")


@honest
def a_later_cell_breaks_an_answer(submission: Submission) -> None:
    submission.own(
        "def softmax(x):\n    return x", below="check-attention_step_by_step"
    )
    submission.own("def attention(q, k):\n    return None")


@honest
def short_names_taken_by_experiments(submission: Submission) -> None:
    submission.own(
        "k, q, v, x, y, p, n, m = 3, 'q', [], None, 1.5, {}, 7, softmax",
        above="scaled_scores",
    )
    submission.own("softmax_result = softmax(np.zeros(3)); scores = 0; weights = '?'")


@honest
def names_of_python_taken_by_experiments(submission: Submission) -> None:
    submission.own(
        "sum = 0\nlist = [1, 2]\nmax = 7\ntype = id = 'my type'\nstr = input = '?'\n"
        "len = print = None\nset = isinstance = getattr = range = 1",
        above="softmax",
    )


@honest
def star_imports(submission: Submission) -> None:
    on_top(submission, "softmax", "from math import *\nfrom numpy import *")


@honest
def imports_in_odd_positions(submission: Submission) -> None:
    submission.own("import math, sys, os.path as path; from operator import matmul")
    submission.answer(
        "scaled_scores",
        typed("""
            def scaled_scores(q, k):
                import math
                from operator import matmul as times
                if True: import numpy as numpie
                return times(q / 1, numpie.swapaxes(k, -1, -2)) / math.sqrt(q.shape[-1])
        """),
    )


@honest
def guarded_by_main(submission: Submission) -> None:
    source = submission.cell("softmax").source.replace("\n", "\n    ")
    submission.answer("softmax", f'if __name__ == "__main__":\n    {source}')


@honest
def path_of_the_notebook_asked_for(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        """
        import os, sys
        from pathlib import Path

        HERE = Path(globals().get("__file__", os.getcwd())).resolve()
        HOME = os.environ.get("HOME", "?") + str(sys.argv)
        """,
    )
