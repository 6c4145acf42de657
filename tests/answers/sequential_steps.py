import functools

from tests.answers import Answers

answers = Answers("sequential_steps")


def refuse(kind, n):
    if kind not in {"attention", "window", "recurrence", "convolution"}:
        raise ValueError(kind)
    if not isinstance(n, int) or n < 1:
        raise ValueError(n)


@answers.correct
def conditional(kind, n, k=None):
    refuse(kind, n)
    return n if kind == "recurrence" else 1


@answers.correct
def dictionary(kind, n, k=None):
    try:
        range(n)
        steps = dict.fromkeys(("attention", "window", "convolution"), 1)
        steps["recurrence"] = n
        count = steps[kind]
    except (TypeError, KeyError):
        raise ValueError("no such layer") from None
    if n <= 0:
        raise ValueError("no position")
    return count


@answers.correct
def power(kind, n, k=None):
    refuse(kind, n)
    return n ** (kind == "recurrence")


@answers.correct
def chain(kind, n, k=None):
    if type(n) is float or n < 1:
        raise ValueError(f"n = {n}")
    match kind:
        case "recurrence":
            return n
        case "attention" | "window" | "convolution":
            return 1
    raise ValueError(f"kind = {kind}")


class Steps:
    recurrence = property(lambda self: self.n)
    attention = window = convolution = 1

    def __call__(self, kind, n, k=None):
        refuse(kind, n)
        self.n = n
        return getattr(self, kind)


answers.right["callable_object"] = Steps()
answers.right["partial"] = functools.partial(
    lambda factor, *arguments: factor * conditional(*arguments), 1
)


@answers.also("recurrence_at_once")
def always_one(kind, n, k=None):
    refuse(kind, n)
    return 1


@answers.also("one_token_after_another")
def always_n(kind, n, k=None):
    refuse(kind, n)
    return n


@answers.also("transitions_of_the_recurrence")
def transitions(kind, n, k=None):
    refuse(kind, n)
    return len(range(1, n)) if kind == "recurrence" else 1


@answers.other
def n_and_a_half(kind, n, k=None):
    refuse(kind, n)
    return n + n // 2


@answers.other
def length_of_the_name(kind, n, k=None):
    refuse(kind, n)
    return len(kind)


@answers.other
def cube_for_the_recurrence(kind, n, k=None):
    return conditional(kind, n) ** 3 + 4
