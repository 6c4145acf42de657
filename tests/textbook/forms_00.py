"""The field's forms of the exercises of lesson 00."""

import math

import numpy as np

from tests.textbook import Forms

FORMS = Forms()


@FORMS("softmax_by_hand", "Goodfellow et al. 4.1", before="full")
def the_formula_in_a_list(x):
    total = sum(math.exp(score) for score in x)
    return [math.exp(score) / total for score in x]


@FORMS("softmax_by_hand", "CS231n", before="full")
def largest_score_off_first(x):
    powers = [math.exp(score - max(x)) for score in x]
    return [power / sum(powers) for power in powers]


@FORMS(
    "softmax_by_hand",
    "NumPy write-ups",
    expected="refused: numpy_array",
    before="refused: numpy_array (0 of 5)",
)
def the_line_for_an_array(x):
    powers = np.exp(x)
    return powers / np.sum(powers)


@FORMS("normalise_rows", "NumPy user guide", before="full")
def kept_axis(x):
    return x / x.sum(axis=-1, keepdims=True)


@FORMS("normalise_rows", "NumPy user guide", before="full")
def new_axis(x):
    return x / x.sum(axis=-1)[..., None]


@FORMS(
    "normalise_rows",
    "d2l 2.3",
    expected="refused: sums_over_axis_one",
    before="refused: sums_over_axis_one (2.5 of 5)",
)
def axis_one_of_a_table(x):
    return x / x.sum(axis=1, keepdims=True)


@FORMS("normalise_rows", "einsum", before="full")
def sums_by_einsum(x):
    return x / np.einsum("...j->...", x)[..., np.newaxis]


@FORMS("normalise_rows", "loops in NumPy", before="full")
def into_an_array_like_x(x):
    shares = np.zeros_like(x, dtype=float)
    for index in np.ndindex(x.shape[:-1]):
        shares[index] = x[index] / x[index].sum()
    return shares


@FORMS("pairwise_sums", "NumPy user guide", before="full")
def broadcast(a, b):
    return a[:, np.newaxis] + b


@FORMS("pairwise_sums", "d2l 11.3", before="full")
def unsqueezed_both(a, b):
    return np.expand_dims(a, 1) + np.expand_dims(b, 0)


@FORMS("pairwise_sums", "loops in Python", before="full")
def nested_lists(a, b):
    return np.array([[one + other for other in b] for one in a])
