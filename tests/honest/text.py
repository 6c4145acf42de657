"""Sources with unusual characters: line ends, blanks, letters, lengths."""

from tests.honest import honest
from tests.honest.writing import change, code_cells, on_top, typed
from tests.submissions import EXERCISES, Submission


@honest
def windows_line_ends(submission: Submission) -> None:
    for cell in submission.notebook.cells:
        cell.source = cell.source.replace("\n", "\r\n")


@honest
def tabs(submission: Submission) -> None:
    for name in EXERCISES:
        submission.answer(name, submission.cell(name).source.replace("    ", "\t"))


@honest
def blanks_at_the_ends_of_lines(submission: Submission) -> None:
    for cell in code_cells(submission):
        cell.source = "\n" + cell.source.replace("\n", "  \t\n") + "\n \n\n    "


@honest
def form_feeds_and_backslashes(submission: Submission) -> None:
    change(submission, "softmax", "shifted =", "\f\n    shifted = \\\n       ")


@honest
def invisible_characters_in_comments(submission: Submission) -> None:
    on_top(
        submission, "softmax", "#\u00a0no-break\u00a0space, \u200bnothing, \u2028line"
    )
    change(
        submission, "softmax", "shifted =", "# \u00ad\u202e\ufeff \x0b\n    shifted ="
    )


@honest
def no_break_spaces_in_an_experiment(submission: Submission) -> None:
    submission.own("x\u00a0= 3", above="softmax")


@honest
def byte_order_mark_in_a_cell(submission: Submission) -> None:
    submission.own("\ufeffx = 3", above="softmax")


@honest
def long_lines(submission: Submission) -> None:
    on_top(submission, "softmax", f"# {'very ' * 5000}long")
    submission.own(f"numbers = [{', '.join(['1.0'] * 20_000)}]", above="softmax")


@honest
def many_lines(submission: Submission) -> None:
    submission.answer("softmax", submission.cell("softmax").source + "\n" * 5000)
    submission.own("x = 1\n" * 5000)


@honest
def unicode_names(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            def αttention(q, k, v, *, ε=0.0):
                Größe = q.shape[-1]
                µ = softmax(q @ np.swapaxes(k, -1, -2) / Größe**0.5 + ε)
                重み = μ  # the micro sign above and this letter are one name to Python
                return 重み @ v, 重み

            attention = αttention
        """),
    )


@honest
def unicode_texts(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        "# 注意力 🙂 ﷽ ∑ᵢ eˣⁱ\nprint('Größe ≥ 0 🎉', '\\N{GREEK SMALL LETTER ALPHA}')",
    )


@honest
def coding_line(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        "# -*- coding: latin-1 -*-\nassert len('größer √') == 8 and '√' > 'ÿ'",
    )


@honest
def semicolons(submission: Submission) -> None:
    submission.answer(
        "softmax",
        typed("""
            def softmax(x, axis=-1): e = np.exp(x / 1 - x.max(axis, keepdims=True)); \\
                return e / e.sum(axis, keepdims=True);
        """),
    )
