import functools

from tests.answers import Answers

answers = Answers("flops")


def refuse(kind, n, d, k):
    if kind not in {"attention", "window", "recurrence", "convolution"}:
        raise ValueError(kind)
    needed = [n, d] + [k] * (kind in {"window", "convolution"})
    for size in needed:
        if not isinstance(size, int) or size <= 0:
            raise ValueError(size)


def product(a, b, c):
    return 2 * a * b * c


@answers.correct
def product_by_product(kind, n, d, k=None):
    refuse(kind, n, d, k)
    if kind == "recurrence":
        return n * (product(1, d, d) + product(1, d, d))
    if kind == "convolution":
        return n * k * product(1, d, d)
    m = n if kind == "attention" else min(k, n)
    return n * (product(1, d, m) + product(1, m, d))


@answers.correct
def dictionary_of_formulas(kind, n, d, k=None):
    refuse(kind, n, d, k)
    formulas = {
        "attention": lambda: 4 * n * n * d,
        "window": lambda: 4 * n * d * (k if k < n else n),
        "recurrence": lambda: 4 * n * d * d,
        "convolution": lambda: 2 * n * d * d * k,
    }
    return formulas[kind]()


@answers.correct
def errors_as_they_come(kind, n, d, k=None):
    try:
        sizes = [range(n), range(d)]
        if kind in ("window", "convolution"):
            sizes.append(range(k))
    except TypeError as error:
        raise ValueError("whole numbers, please") from error
    if not all(sizes):
        raise ValueError("above 0, please")
    match kind:
        case "attention":
            return flops_of_attention(n, n, d)
        case "window":
            return flops_of_attention(n, min(n, k), d)
        case "recurrence":
            return 2 * (2 * n * d**2)
        case "convolution":
            return 2 * n * (k * d) * d
        case _:
            raise ValueError(f"unknown: {kind}")


def flops_of_attention(n, m, d):
    scores = weighted_sum = 2 * n * m * d
    return scores + weighted_sum


@answers.correct
def window_as_the_general_case(kind, n, d, k=None):
    refuse(kind, n, d, k)
    if kind == "attention":
        return window_as_the_general_case("window", n, d, n)
    if kind == "window":
        return sum([n * min(n, k) * d * 2] * 2)
    if kind == "recurrence":
        return window_as_the_general_case("convolution", n, d, 2)
    return (n * d * k * d) << 1


class Flops:
    def __call__(self, kind, n, d, k=None):
        refuse(kind, n, d, k)
        return getattr(self, kind)(n, d, k)

    def attention(self, n, d, k):
        return self.window(n, d, n)

    def window(self, n, d, k):
        return 4 * n * sorted([n, k])[0] * d

    def recurrence(self, n, d, k):
        return 4 * pow(d, 2) * n

    def convolution(self, n, d, k):
        return 2 * k * pow(d, 2) * n


answers.right["callable_object"] = Flops()
answers.right["partial"] = functools.partial(
    lambda factor, *sizes: factor * product_by_product(*sizes), 1
)


@answers.also("attention_and_recurrence_exchanged")
def table_with_two_rows_exchanged(kind, n, d, k=None):
    refuse(kind, n, d, k)
    per_position = {
        "attention": 4 * d * d,
        "recurrence": 4 * n * d,
        "window": 4 * d * min(n, k or n),
        "convolution": 2 * d * d * (k or n),
    }
    return n * per_position[kind]


@answers.also("one_position_alone")
def in_parallel(kind, n, d, k=None):
    return product_by_product(kind, n, d, k) // n


@answers.other
def sum_of_all_kinds(kind, n, d, k=None):
    refuse(kind, n, d, k)
    return 4 * n * n * d + 4 * n * d * d


@answers.other
def cube(kind, n, d, k=None):
    refuse(kind, n, d, k)
    return (n + d) ** 3


@answers.other
def one_for_luck(kind, n, d, k=None):
    return product_by_product(kind, n, d, k) + 1
