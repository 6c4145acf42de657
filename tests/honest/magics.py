"""What IPython adds to Python: magics, shell lines, help, ``display``, ``await``."""

from tests.honest import honest
from tests.honest.writing import at_the_end, on_top, typed
from tests.submissions import EXERCISES, Submission


@honest
def matplotlib_inline_in_the_setup(submission: Submission) -> None:
    lines = "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'"
    on_top(submission, "dot-product-attention-2", lines)


@honest
def time_on_every_answer(submission: Submission) -> None:
    for name in EXERCISES:
        on_top(submission, name, "%%time")


@honest
def magic_below_comments_and_blank_lines(submission: Submission) -> None:
    submission.answer("softmax", f"\n\n%%time\n{submission.cell('softmax').source}\n\n")


@honest
def capture_on_an_answer(submission: Submission) -> None:
    on_top(submission, "attention", "%%capture printed")
    on_top(submission, "softmax", "%%capture --no-stderr")


@honest
def line_magics_inside_an_answer(submission: Submission) -> None:
    on_top(submission, "softmax", "%load_ext autoreload\n%autoreload 2\n%precision 3\n")
    at_the_end(
        submission, "softmax", "%time softmax(np.zeros(3))\n%timeit -n1 -r1 np.exp(1)"
    )


@honest
def magic_called_as_a_function(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        """
        get_ipython().run_line_magic("matplotlib", "inline")
        if get_ipython() is not None:
            get_ipython().system("true")
        """,
    )


@honest
def magics_in_cells_of_their_own(submission: Submission) -> None:
    for text in (
        "%who\n%whos\n%pwd\n%lsmagic",
        "%%html\n<b>bold</b>",
        "%%javascript\nconsole.log(1)",
        "%%latex\n$\\sqrt{d_k}$",
        "%%timeit -n1 -r1\nsoftmax(np.zeros(3))",
        "%%bash\nls | head -1",
        "%prun -q softmax(np.zeros(3))",
        "%env MY_NAME=me",
        "%no_such_magic 1",
        "%%no_such_cell_magic\nsoftmax = None",
        "%xmode Minimal",
        "%history -n 1-2",
    ):
        submission.own(text, below="check-softmax")


@honest
def shell_lines(submission: Submission) -> None:
    on_top(submission, "dot-product-attention-2", "!pip --version")
    on_top(submission, "softmax", "!ls\nfiles = !ls\n!echo {len(files)}")
    submission.own("!no_such_program --help\n!exit 3")


@honest
def help_asked_for(submission: Submission) -> None:
    submission.own("?softmax", above="check-softmax")
    submission.own("softmax??\nnp.exp?", above="check-softmax")
    at_the_end(submission, "softmax", "np.einsum?\nhelp(np.exp)")


@honest
def module_written_by_a_magic(submission: Submission) -> None:
    submission.own(
        typed("""
            %%writefile my_rows.py
            import numpy as np

            def turned(rows):
                return np.swapaxes(rows, -1, -2)
        """),
        above="scaled_scores",
    )
    submission.answer(
        "scaled_scores",
        typed("""
            from my_rows import turned

            def scaled_scores(q, k):
                return 1.0 * q @ turned(k) / q.shape[-1] ** 0.5
        """),
    )


@honest
def await_at_the_top(submission: Submission) -> None:
    on_top(submission, "softmax", "import asyncio\nawait asyncio.sleep(0)")
    submission.own(
        typed("""
            async def root_of(d_k):
                await asyncio.sleep(0)
                return d_k**0.5

            async def sizes():
                for d_k in range(1, 5):
                    yield d_k

            ROOTS = [await root_of(d_k) async for d_k in sizes()]
        """),
        above="scaled_scores",
    )
    at_the_end(submission, "scaled_scores", "assert ROOTS[3] == 2.0")


@honest
def display_without_an_import(submission: Submission) -> None:
    on_top(submission, "softmax", "display('working on it', {'text/plain': 'x'})")
    on_top(
        submission,
        "attention",
        """
        from IPython.display import HTML, Markdown, Math, clear_output

        def shown(function):
            def inner(*args):
                display(Markdown("**called**"), HTML("<i>again</i>"))
                clear_output(wait=True)
                return function(*args)
            return inner

        @shown
        """,
    )


@honest
def last_results_reused(submission: Submission) -> None:
    submission.own("np.arange(3)", above="softmax")
    submission.own("_ + 1, _, __, Out, In[-1]", above="softmax")
    submission.own("softmax(np.zeros(3));", below="softmax")


@honest
def repr_of_an_object_of_their_own(submission: Submission) -> None:
    submission.own(
        typed("""
            class Table:
                def _repr_html_(self):
                    return "<table><tr><td>1</td></tr></table>"

                def __repr__(self):
                    raise RuntimeError("no text")

            Table()
        """)
    )


@honest
def pasted_with_prompts(submission: Submission) -> None:
    submission.own(
        ">>> def root(d):\n...     return d**0.5\n...\n>>> root(4)", above="softmax"
    )
    submission.own("In [3]: def two():\n   ...:     return 2", above="softmax")
    at_the_end(submission, "softmax", "assert root(4) == two()")


@honest
def whole_cell_indented(submission: Submission) -> None:
    lines = submission.cell("softmax").source.splitlines()
    submission.answer("softmax", "\n".join(f"    {line}" for line in lines))


@honest
def widgets(submission: Submission) -> None:
    submission.own(
        typed("""
            from ipywidgets import FloatSlider, interact

            @interact(size=FloatSlider(min=1, max=16))
            def show(size):
                print(softmax(size * np.array([1.0, 0.5, 0.0])))
        """),
        below="check-softmax",
    )
