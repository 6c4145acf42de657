import functools
import math

from tests.answers import Answers

answers = Answers("path_length")


def refuse(kind, n, k):
    if kind not in {"attention", "window", "recurrence", "convolution"}:
        raise ValueError(kind)
    if not isinstance(n, int) or n < 1:
        raise ValueError(n)
    if kind in {"window", "convolution"} and (not isinstance(k, int) or k <= 1):
        raise ValueError(k)


@answers.correct
def negative_floor(kind, n, k=None):
    refuse(kind, n, k)
    if kind == "attention":
        return 0 if n == 1 else 1
    if kind == "recurrence":
        return n - 1
    return -((1 - n) // (k - 1))


@answers.correct
def reach_of_each_kind(kind, n, k=None):
    refuse(kind, n, k)
    reach = {"attention": max(n - 1, 1), "recurrence": 1}
    far = reach[kind] if kind in reach else k - 1
    full, rest = divmod(n - 1, far)
    return full + bool(rest)


@answers.correct
def recurrence_as_a_kernel_of_two(kind, n, k=None):
    refuse(kind, n, k)
    width = {"attention": n + 1, "recurrence": 2}.get(kind, k)
    return (n + width - 3) // (width - 1)


@answers.correct
def one_position_first(kind, n, k=None):
    try:
        if n == range(n).stop and n > 0 and n == 1 and kind in ("attention",):
            return 0
        positions = len(range(min(n, 5)))
        reach = {
            "attention": lambda: n,
            "recurrence": lambda: 1,
            "window": lambda: range(k).stop - 1,
            "convolution": lambda: range(k).stop - 1,
        }[kind]()
    except (TypeError, KeyError) as error:
        raise ValueError("kind, n or k") from error
    if positions < 1 or reach < 1:
        raise ValueError("too small")
    return (n - 2) // reach + 1


class Path:
    def __call__(self, kind, n, k=None):
        refuse(kind, n, k)
        if n == 1:
            return 0
        return {"attention": 1, "recurrence": n - 1}.get(kind) or self.layers(n, k)

    def layers(self, n, k):
        return 1 + (n - 2) // (k - 1)


answers.right["callable_object"] = Path()
answers.right["partial"] = functools.partial(
    lambda add, *sizes: add + negative_floor(*sizes), 0
)


@answers.correct
def ceil_of_a_quotient(kind, n, k=None):
    if kind == "recurrence":
        return n - 1
    return math.ceil((n - 1) / (k - 1)) if kind != "attention" else int(n > 1)


@answers.also("recurrence_of_n_steps")
def loop_over_all_positions(kind, n, k=None):
    refuse(kind, n, k)
    if kind == "recurrence":
        return (n - 1) + 1
    return negative_floor(kind, n, k)


@answers.also("n_over_k")
def entry_of_the_table(kind, n, k=None):
    refuse(kind, n, k)
    if kind in ("window", "convolution"):
        return (n + k - 1) // k
    return min(n - 1, 1) if kind == "attention" else n - 1


@answers.other
def sum_of_sizes(kind, n, k=None):
    refuse(kind, n, k)
    return n + (k or 0)


@answers.other
def root(kind, n, k=None):
    refuse(kind, n, k)
    return math.isqrt(n)


@answers.other
def twice_the_way(kind, n, k=None):
    return 2 * negative_floor(kind, n, k)
