"""What is printed, drawn, logged and warned: none of it may cost a point."""

from tests.honest import honest
from tests.honest.writing import change, on_top, typed
from tests.submissions import EXERCISES, Submission


def _at_each_call(submission: Submission, text: str) -> None:
    """Do something at every call of every answer."""
    body = typed(text).replace("\n", "\n        ")
    noisy = f"def noisy(function):\n    def inner(*args, **kwargs):\n        {body}\n"
    noisy += "        return function(*args, **kwargs)\n    return inner"
    submission.own(noisy, below="dot-product-attention-2")
    for name in EXERCISES:
        on_top(submission, name, "@noisy")


@honest
def prints_at_each_call(submission: Submission) -> None:
    _at_each_call(submission, "print('called with', *args, kwargs, flush=True)")


@honest
def error_stream_at_each_call(submission: Submission) -> None:
    _at_each_call(
        submission,
        "import sys\nprint('careful!', file=sys.stderr)\nsys.stderr.write('x\\n')\n"
        "sys.__stdout__.write('y'); sys.stderr.flush()",
    )


@honest
def warnings_at_each_call(submission: Submission) -> None:
    _at_each_call(
        submission,
        "import warnings\nwarnings.warn('still trying things out')\n"
        "warnings.warn('old', DeprecationWarning)\nnp.log(np.zeros(2)); np.ones(1) / 0",
    )


@honest
def warnings_outside_the_answers(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        "import warnings\nwarnings.warn('first cell')\nr = '\\d'\n1 is 1\nnp.log(-1.0)",
    )


@honest
def half_of_a_surrogate_pair_shown(submission: Submission) -> None:
    # What bytes become under "surrogateescape", or a pair that a slice cuts in two.
    submission.own(
        "print('\\ud83d')\nprint(b'\\xf0'.decode('utf-8', 'surrogateescape'))"
    )
    submission.own(
        "import sys\nprint('\\udfff', file=sys.stderr)\n{'\\ud83d': '\\udc00'}"
    )
    submission.own("raise ValueError('\\ud83d cannot be encoded')")


@honest
def logs_at_each_call(submission: Submission) -> None:
    _at_each_call(
        submission,
        "import logging\nlogging.basicConfig(level=logging.DEBUG)\n"
        "logging.getLogger('mine').critical('called: %s', args)",
    )


@honest
def progress_bar(submission: Submission) -> None:
    submission.answer(
        "scaled_scores",
        typed("""
            def bar(parts):
                parts = list(parts)
                for done, part in enumerate(parts, 1):
                    print("\\r" + "█" * done, done, "of", len(parts), end="")
                    yield part
                print("\\x1b[32m done \\x1b[0m\\a")


            def scaled_scores(q, k):
                scores = np.zeros((*q.shape[:-1], k.shape[-2]))
                for j in bar(range(k.shape[-2])):
                    scores[..., j] = (1.0 * q * k[..., j : j + 1, :]).sum(-1)
                return scores / q.shape[-1] ** 0.5
        """),
    )


@honest
def much_printed_in_a_cell(submission: Submission) -> None:
    submission.own("for i in range(20_000): print(i, 'x' * 80)")


@honest
def output_redirected_and_left_so(submission: Submission) -> None:
    on_top(
        submission, "softmax", "import io, sys\nsys.stdout = io.StringIO()\nprint('x')"
    )


@honest
def print_replaced(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        "import functools\nprint = functools.partial(print, end='\\n\\n')",
    )
    change(submission, "softmax", "shifted =", "print(x)\n    shifted =")


@honest
def many_pictures(submission: Submission) -> None:
    submission.own(
        typed("""
            import matplotlib.pyplot as plt

            plt.rcParams["figure.dpi"] = 50
            for i in range(25):
                plt.figure()
                plt.plot(softmax(np.arange(5.0) * i))
            plt.show()
        """),
        below="check-softmax",
    )


@honest
def picture_at_the_end_of_an_answer(submission: Submission) -> None:
    source = submission.cell("softmax").source
    submission.answer(
        "softmax",
        typed("""
            import matplotlib.pyplot as plt

            plt.style.use("ggplot")
        """)
        + f"\n\n\n{source}\n\n\nfigure, axes = plt.subplots()\n"
        "axes.bar(range(3), softmax(np.arange(3.0)))\nplt.show()",
    )


@honest
def pictures_of_the_course_drawn_again(submission: Submission) -> None:
    submission.own(
        "figures.attention_lines(found, *names, alt='my own picture')",
        below="from-one-sentence-to-another-6",
    )
    submission.own("from course_lib.figures import drawing\npronoun.__doc__")


@honest
def everything_in_try(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            def attention(q, k, v):
                try:
                    try:
                        weights = softmax(scaled_scores(q, k, v))
                    except TypeError as error:
                        print("oh:", error)
                        weights = softmax(scaled_scores(q, k))
                    return weights @ v, weights
                except Exception:
                    import traceback
                    traceback.print_exc()
                    raise
                finally:
                    print("finally")
        """),
    )
