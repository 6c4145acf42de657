"""What the exercise's name may be bound to: any callable that answers rightly."""

from tests.honest import honest
from tests.honest.writing import change, on_top, typed
from tests.submissions import Submission


def _softmax_ends_with(submission: Submission, ending: str) -> None:
    """Call the right function ``my_softmax``, and bind the name another way."""
    change(submission, "softmax", "def softmax(", "def my_softmax(")
    source = submission.cell("softmax").source
    submission.answer("softmax", f"{source}\n\n\n{typed(ending)}")


@honest
def lambda_function(submission: Submission) -> None:
    _softmax_ends_with(submission, "softmax = lambda x, axis=-1: my_softmax(x, axis)")


@honest
def partial(submission: Submission) -> None:
    ending = "from functools import partial\nsoftmax = partial(my_softmax, axis=-1)"
    _softmax_ends_with(submission, ending)


@honest
def class_with_call(submission: Submission) -> None:
    _softmax_ends_with(
        submission,
        """
        class Softmax:
            __slots__ = ("axis",)

            def __init__(self, axis):
                self.axis = axis

            def __call__(self, x, axis=None):
                return my_softmax(x, self.axis if axis is None else axis)


        softmax = Softmax(axis=-1)
        """,
    )


@honest
def bound_method(submission: Submission) -> None:
    _softmax_ends_with(
        submission,
        """
        class Tools:
            def softmax(self, x, axis=-1):
                return my_softmax(x, axis)


        softmax = Tools().softmax
        """,
    )


@honest
def static_method(submission: Submission) -> None:
    _softmax_ends_with(
        submission,
        """
        class Tools:
            @staticmethod
            def softmax(x, axis=-1):
                return my_softmax(x, axis)


        softmax = Tools.softmax
        """,
    )


@honest
def torch_module(submission: Submission) -> None:
    _softmax_ends_with(
        submission,
        """
        import torch


        class Softmax(torch.nn.Module):
            def forward(self, x, axis=-1):
                return my_softmax(x, axis)


        softmax = Softmax()
        """,
    )


@honest
def closure(submission: Submission) -> None:
    _softmax_ends_with(
        submission,
        """
        def make_softmax(default):
            calls = 0

            def inner(x, axis=default):
                nonlocal calls
                calls += 1
                return my_softmax(x, axis)

            return inner


        softmax = make_softmax(-1)
        """,
    )


@honest
def vectorized(submission: Submission) -> None:
    submission.answer(
        "scaled_scores",
        typed("""
            def one_score(query, key):
                return np.dot(1.0 * query, key) / np.sqrt(len(key))

            all_keys = np.vectorize(one_score, signature="(d),(d)->()")

            def scaled_scores(q, k):
                return all_keys(q[..., :, None, :], k[..., None, :, :])
        """),
    )


@honest
def vectorized_object(submission: Submission) -> None:
    submission.answer(
        "softmax_jacobian",
        typed("""
            softmax_jacobian = np.vectorize(
                lambda row: np.diag(row) - np.outer(row, row), signature="(n)->(n,n)"
            )
        """),
    )


@honest
def own_decorator(submission: Submission) -> None:
    on_top(
        submission,
        "attention",
        """
        import functools, time

        def timed(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                start = time.perf_counter()
                result = function(*args, **kwargs)
                print(f"{function.__name__}: {time.perf_counter() - start:.6f} s")
                return result
            return wrapper


        @timed
        """,
    )


@honest
def library_decorators(submission: Submission) -> None:
    on_top(submission, "softmax", '@np.errstate(all="ignore")')
    on_top(
        submission,
        "scaled_scores",
        "import functools\nimport torch\n@functools.singledispatch\n@torch.no_grad()",
    )


@honest
def parameters_renamed_and_more_of_them(submission: Submission) -> None:
    submission.answer(
        "softmax",
        typed("""
            def softmax(z, /, axis=-1, *more, temperature=1.0, debug=False, **unused):
                powers = np.exp((z / 1 - np.max(z, axis, keepdims=True)) / temperature)
                if debug:
                    print(powers)
                return powers / powers.sum(axis=axis, keepdims=True)
        """),
    )


@honest
def keyword_only_axis(submission: Submission) -> None:
    change(submission, "softmax", "x: np.ndarray, axis", "x: np.ndarray, *, axis")


@honest
def any_arguments(submission: Submission) -> None:
    ending = "def softmax(*args, **kwargs):\n    return my_softmax(*args, **kwargs)"
    _softmax_ends_with(submission, ending)


@honest
def first_tries_above_the_answer(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        """
        def softmax(x):  # version 1, wrong
            return x / x.sum()

        def softmax_2(x):
            return np.exp(x) / np.exp(x).sum()

        # def softmax(x):
        #     return ???

        softmax = None
        """,
    )


@honest
def named_tuple(submission: Submission) -> None:
    above = """
        from typing import NamedTuple

        class Attended(NamedTuple):
            output: np.ndarray
            weights: np.ndarray
    """
    change(submission, "attention", "def attention(", "def my_attention(")
    source = submission.cell("attention").source
    ending = "def attention(q, k, v):\n    return Attended(*my_attention(q, k, v))"
    submission.answer("attention", f"{typed(above)}\n\n\n{source}\n\n\n{ending}")


@honest
def ordered_dictionary(submission: Submission) -> None:
    name = "attention_step_by_step"
    change(submission, name, f"def {name}(", "def my_steps(")
    source = submission.cell(name).source
    ending = f"def {name}(q1, k, v):\n    return OrderedDict(my_steps(q1, k, v))"
    above = "from collections import OrderedDict"
    submission.answer(name, f"{above}\n\n\n{source}\n\n\n{ending}")
