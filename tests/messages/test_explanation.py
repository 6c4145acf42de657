"""What a learner reads of a claim that fails, word by word.

Each explanation says what was fed, what came back and what was expected, in two
sentences; the claim stands above it.
"""

import math

import numpy as np
import pytest
import torch

from tests.checking.test_judging import (
    double,
)
from tests.messages.explained import (
    FED,
    X,
    about,
    expecting,
    explained,
    no_arguments,
    steps,
)

LARGE = np.arange(20.0).reshape(4, 5)


def total(x):
    return x.sum()


def halves(x):
    return [float(v) / 2 for v in x]


def pair(q, k):
    return q + k, q * k


def letters(text):
    return {letter: text.count(letter) for letter in text}


def words(text):
    return text.split()


def cube(x):
    return x**3


def apply(f, x):
    return [f(part) for part in x]


def as_tensor(x):
    return 2 * x


ARRAY = {
    "nothing": (
        lambda x: None,
        "returned None (is a `return` missing?). It should return [2, -4].",
    ),
    "a list": (
        lambda x: [2.0, -4.0],
        "returned a list of length 2. It should return an array of shape (2,).",
    ),
    "a number": (
        lambda x: 2.0,
        "returned the number 2. It should return an array of shape (2,).",
    ),
    "a generator": (
        lambda x: (2 * v for v in x),
        "returned a generator. It should return an array of shape (2,).",
    ),
    "a function": (
        lambda x: np.exp,
        "returned the function exp. It should return an array of shape (2,).",
    ),
    "whole numbers": (
        lambda x: (2 * x).astype(int),
        "returned an array of integers. It should return an array of floats.",
    ),
    "complex numbers": (
        lambda x: 2 * x + 0j,
        "returned an array of complex numbers. It should return an array of floats.",
    ),
    "objects": (
        lambda x: (2 * x).astype(object),
        "returned an array of Python objects. It should return an array of floats.",
    ),
    "a masked array": (
        lambda x: np.ma.array(2 * x),
        "returned a MaskedArray, a special kind of array. It should return a plain "
        "array of shape (2,).",
    ),
    "a tensor": (
        lambda x: torch.tensor(2 * x),
        "returned a torch tensor of shape (2,). It should return an array of shape "
        "(2,).",
    ),
    "a tuple": (
        lambda x: (2 * x, x),
        "returned a tuple of length 2. It should return an array of shape (2,).",
    ),
    "one axis more": (
        lambda x: 2 * x[None],
        "returned an array of shape (1, 2). It should have the shape (2,).",
    ),
    "an empty array": (
        lambda x: x[:0],
        "returned an array of shape (0,). It should have the shape (2,).",
    ),
    "less precise numbers": (
        lambda x: np.float16(2 * x),
        "returned numbers of type float16. It should return numbers at least as "
        "precise as float64.",
    ),
    "NaN": (
        lambda x: np.sqrt(x),
        "returned [1, nan]. It should return [2, -4].",
    ),
    "other numbers": (
        lambda x: x + 1,
        "returned [2, -1]. It should return [2, -4].",
    ),
    "numbers that differ late": (
        lambda x: 2 * x + 1e-4,
        "returned [2.0001, -3.9999]. It should return [2, -4].",
    ),
}


@pytest.mark.parametrize(("answer", "message"), ARRAY.values(), ids=ARRAY)
def test_explanation_where_an_array_is_expected(answer, message):
    fed = FED
    if "array of integers" in message:
        fed = FED.replace("], your", "] (floats), your")
    assert explained(about(double, X), answer) == fed + message


OTHER = {
    "number: NaN": (
        about(total, X),
        lambda x: math.nan,
        "For x = [1, -2], your `total` returned nan. It should return -1.",
    ),
    "number: an array": (
        about(total, X),
        lambda x: x,
        "For x = [1, -2], your `total` returned an array of shape (2,). It should "
        "return the number -1.",
    ),
    "number: a truth value": (
        about(total, X),
        lambda x: True,
        "For x = [1, -2], your `total` returned the truth value True. It should "
        "return the number -1.",
    ),
    "number: complex": (
        about(total, X),
        lambda x: 1j,
        "For x = [1, -2], your `total` returned the complex number 0+1j. It should "
        "return the number -1.",
    ),
    "number: a tensor": (
        about(total, X),
        lambda x: torch.tensor(-1.0),
        "For x = [1, -2], your `total` returned a torch tensor of the one number -1. "
        "It should return the number -1 by itself, as `.item()` returns it.",
    ),
    "list: a tuple": (
        about(halves, [1, 3]),
        lambda x: (0.5, 1.5),
        "For x = [1, 3], your `halves` returned a tuple of length 2. It should return "
        "a list of length 2.",
    ),
    "list: one item more": (
        about(halves, [1, 3]),
        lambda x: [0.5, 1.5, 2.0],
        "For x = [1, 3], your `halves` returned [0.5, 1.5, 2], a list of length 3. It "
        "should return [0.5, 1.5], a list of length 2.",
    ),
    "list: one wrong number": (
        about(halves, [1, 3]),
        lambda x: [0.5, 1.25],
        "For x = [1, 3], your `halves` returned [0.5, 1.25]. It should return "
        "[0.5, 1.5].",
    ),
    "list: a text inside": (
        about(halves, [1, 3]),
        lambda x: [0.5, "1.5"],
        "For x = [1, 3], your `halves` returned the text '1.5' as item [1]. Item [1] "
        "should be the number 1.5.",
    ),
    "long list": (
        about(halves, list(range(20))),
        lambda x: [v / 2 if v % 5 else 7.0 for v in x],
        "For x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, "
        "19], your `halves` returned a list with 7 at [0]. It should have 0 there; 4 "
        "of its 20 entries are wrong.",
    ),
    "large array": (
        about(double, LARGE),
        lambda x: np.where(x > 17, 0.0, 2 * x),
        "For x (an array of shape (4, 5)), your `double` returned an array with 0 at "
        "[3, 3]. It should have 36 there; 2 of its 20 entries are wrong.",
    ),
    "large array, one": (
        about(double, LARGE),
        lambda x: np.where(x > 18, 0.0, 2 * x),
        "For x (an array of shape (4, 5)), your `double` returned an array with 0 at "
        "[3, 4]. It should have 38 there; one of its 20 entries is wrong.",
    ),
    "large array, all": (
        about(double, LARGE),
        lambda x: 2 * x + 1e-3,
        "For x (an array of shape (4, 5)), your `double` returned an array with 0.001 "
        "at [0, 0]. It should have 0 there; all of its 20 entries are wrong.",
    ),
    "large array, late digits": (
        about(double, LARGE + 1, precise=True),
        lambda x: 2 * x + 1e-7,
        "For x (an array of shape (4, 5)), your `double` returned an array with "
        "2.0000001 at [0, 0]. It should have 2 there; all of its 20 entries are wrong.",
    ),
    "large array, not finite": (
        about(double, LARGE),
        lambda x: np.where(x > 16, np.inf, 2 * x),
        "For x (an array of shape (4, 5)), your `double` returned an array with inf at "
        "[3, 2]. It should have 34 there; 3 of its 20 entries are nan or infinite.",
    ),
    "tuple: one array": (
        about(pair, X, X, returns=("sum", "product")),
        lambda q, k: q + k,
        "For q = [1, -2] and k = [1, -2], your `pair` returned an array of shape (2,). "
        "It should return the tuple of `sum` (an array of shape (2,)) and `product` "
        "(an array of shape (2,)).",
    ),
    "tuple: three arrays": (
        about(pair, X, X, returns=("sum", "product")),
        lambda q, k: (q + k, q * k, q),
        "For q = [1, -2] and k = [1, -2], your `pair` returned ([2, -4], [1, 4], "
        "[1, -2]), a tuple of length 3. It should return the tuple of `sum` (an array "
        "of shape (2,)) and `product` (an array of shape (2,)).",
    ),
    "tuple: a wrong part": (
        about(pair, X, X, returns=("sum", "product")),
        lambda q, k: (q + k, q - k),
        "For q = [1, -2] and k = [1, -2], your `pair` returned [0, 0] as `product`. "
        "`product` should be [1, 4].",
    ),
    "tuple: a part of another shape": (
        about(pair, X, X, returns=("sum", "product")),
        lambda q, k: (q + k, [q * k]),
        "For q = [1, -2] and k = [1, -2], your `pair` returned a list of length 1 as "
        "`product`. `product` should be an array of shape (2,).",
    ),
    "tuple without names": (
        about(pair, X, X),
        lambda q, k: (q + k, q * k[None]),
        "For q = [1, -2] and k = [1, -2], your `pair` returned an array of shape "
        "(1, 2) as item [1]. Item [1] should have the shape (2,).",
    ),
    "tuple: a special one": (
        about(pair, X, X, returns=("sum", "product")),
        lambda q, k: type("Pair", (tuple,), {})((q + k, q * k)),
        "For q = [1, -2] and k = [1, -2], your `pair` returned a Pair, a special kind "
        "of tuple. It should return the tuple of `sum` (an array of shape (2,)) and "
        "`product` (an array of shape (2,)).",
    ),
    "dictionary: a key too few": (
        about(steps, X),
        lambda x: {"scores": 2 * x},
        'For x = [1, -2], your `steps` returned a dictionary that lacks "weights". It '
        'should have the keys "scores", "weights".',
    ),
    "dictionary: another key": (
        about(steps, X),
        lambda x: {"scores": 2 * x, "weight": x},
        'For x = [1, -2], your `steps` returned a dictionary that lacks "weights" and '
        'has "weight" that it should not have. It should have the keys "scores", '
        '"weights".',
    ),
    "dictionary: a wrong part": (
        about(steps, X),
        lambda x: {"scores": 2 * x, "weights": x},
        'For x = [1, -2], your `steps` returned [1, -2] as "weights". "weights" should '
        "be [-1, 2].",
    ),
    "large dictionary: none": (
        about(letters, "attention is all you need"),
        lambda text: None,
        "For text = 'attention is all you need', your `letters` returned None (is a "
        '`return` missing?). It should return a dictionary with the keys "a", "t", '
        '"e", "n", "i", and 7 more.',
    ),
    "dictionary: none": (
        about(steps, LARGE),
        lambda x: None,
        "For x (an array of shape (4, 5)), your `steps` returned None (is a `return` "
        'missing?). It should return {"scores": an array of shape (4, 5), "weights": '
        "an array of shape (4, 5)}.",
    ),
    "dictionary: a special one": (
        about(steps, X),
        lambda x: type("Steps", (dict,), {})(steps(x)),
        "For x = [1, -2], your `steps` returned a Steps, a special kind of "
        "dictionary. It should return a plain dictionary of length 2.",
    ),
    "texts": (
        about(words, "a cat sat"),
        lambda text: ["a", "cat sat", "x"],
        "For text = 'a cat sat', your `words` returned ['a', 'cat sat', 'x']. It "
        "should return ['a', 'cat', 'sat'].",
    ),
    "whole numbers in full": (
        about(cube, 354),
        lambda x: 44361863,
        "For x = 354, your `cube` returned 44361863. It should return 44361864.",
    ),
    "truth value for a whole number": (
        about(cube, 2),
        lambda x: True,
        "For x = 2, your `cube` returned the truth value True. It should return the "
        "number 8.",
    ),
    "tensor": (
        about(as_tensor, torch.tensor([1.0, 2.0])),
        lambda x: 3 * x,
        "For x = tensor [1, 2], your `as_tensor` returned tensor [3, 6]. It should "
        "return tensor [2, 4].",
    ),
    "tensor: an array": (
        about(as_tensor, torch.tensor([1.0, 2.0])),
        lambda x: (2 * x).numpy(),
        "For x = tensor [1, 2], your `as_tensor` returned an array of shape (2,). It "
        "should return a torch tensor of shape (2,).",
    ),
    "tensor: less precise": (
        about(as_tensor, torch.tensor([1.0, 2.0])),
        lambda x: (2 * x).bfloat16(),
        "For x = tensor [1, 2], your `as_tensor` returned numbers of type bfloat16. It "
        "should return numbers at least as precise as float32.",
    ),
    "keywords": (
        about(np.sum, X, axis=0),
        lambda a, axis: 5.0,
        "For a = [1, -2] and axis = 0, your `sum` returned 5. It should return -1.",
    ),
    "a function as argument": (
        about(apply, len, ["a", "bc"]),
        lambda f, x: [1, 1],
        "For f (the function len) and x = ['a', 'bc'], your `apply` returned "
        "[1, 1]. It should return [1, 2].",
    ),
}


@pytest.mark.parametrize(("exercise", "answer", "message"), OTHER.values(), ids=OTHER)
def test_explanation_where_something_else_is_expected(exercise, answer, message):
    assert explained(exercise, answer) == message


def test_explanation_of_something_computed_from_the_result():
    def sums(student, what):
        student.expect(
            student(np.ones((2, 2))).sum(axis=-1), np.array([4.0, 4.0]), what
        )

    exercise = expecting(sums, "the sum of each row")
    assert explained(exercise, lambda x: 3 * x) == (
        "For x = [[1, 1], [1, 1]], your `double` returned a result in which the sum of "
        "each row is [6, 6]. It should be [4, 4]."
    )


def test_explanation_of_something_large_from_the_result():
    def difference(student, what):
        student.expect(student(LARGE) - LARGE, LARGE, what)

    assert explained(expecting(difference, "the growth"), lambda x: 3 * x) == (
        "For x (an array of shape (4, 5)), your `double` returned a result in which "
        "the growth is an array with 2 at [0, 1]. It should have 1 there; 19 of its 20 "
        "entries are wrong."
    )


def test_explanation_where_an_error_is_expected():
    def refused(student, what):
        student.raises(ValueError, "text")

    exercise = expecting(refused, "")
    assert explained(exercise, lambda x: 2 * x) == (
        "For x = 'text', your `double` returned 'texttext'. It should stop with "
        "ValueError."
    )
    message = explained(exercise, lambda x: x.missing)
    assert (
        "stopped with AttributeError: 'str' object has no attribute 'missing'"
        in message
    )
    assert message.endswith(". It should stop with ValueError.")


def test_plain_assertion_is_explained():
    def positive(student, what):
        if not (student(X) > 0).all():
            raise AssertionError(what)  # pytest writes more into a plain assert here

    assert explained(expecting(positive, "No number may be negative."), double) == (
        f"{FED}returned [2, -4]. No number may be negative."
    )


def test_broken_case_does_not_blame_the_learner():
    def trips(student, what):
        student(X).missing()

    assert explained(expecting(trips, ""), double) == (
        "This check itself is broken, not your answer: please show the course's "
        "authors this line. AttributeError: 'numpy.ndarray' object has no attribute "
        "'missing'"
    )


def test_function_without_arguments_is_explained():
    assert explained(about(no_arguments), lambda: 2) == (
        "Called without arguments, your `no_arguments` returned 2. It should return 1."
    )


def test_every_explanation_is_two_sentences_without_jargon():
    for _, message in ARRAY.values():
        assert message.count(". ") == 1
    everything = " ".join(
        [message for _, message in ARRAY.values()]
        + [message for *_, message in OTHER.values()]
    )
    for jargon in ("toleranc", "rtol", "atol", "ndarray", "dtype", "actual", "assert"):
        assert jargon not in everything


@pytest.mark.parametrize(
    ("spec", "answer", "end"),
    [
        (
            lambda x: {},
            lambda x: {"a": 1.0},
            'returned a dictionary that has "a" that it should not have. '
            "It should return an empty dictionary.",
        ),
        (
            lambda x: {"a": 1.0},
            lambda x: {},
            'returned a dictionary that lacks "a". It should have the key "a".',
        ),
        (
            lambda x: 0.5,
            lambda x: torch.tensor(0.5),
            "returned a torch tensor of the one number 0.5. "
            "It should return the number 0.5 by itself, as `.item()` returns it.",
        ),
        (
            lambda x: torch.tensor(0.5),
            lambda x: 0.5,
            "returned the number 0.5. "
            "It should return a torch tensor of the one number 0.5.",
        ),
        (
            lambda x: 12345.5 * x,
            lambda x: 1e6 * x,
            "For x = [1, -2], your `<lambda>` returned [1000000, -2000000]. "
            "It should return [12346, -24691].",
        ),
    ],
)
def test_explanation_can_be_read_and_typed_again(spec, answer, end):
    assert explained(about(spec, X), answer).endswith(end)
