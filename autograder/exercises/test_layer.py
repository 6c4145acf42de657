"""Broken encoder layers, and weak tests that let some of them pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.checking.learners_tests import LearnersTest
from autograder.exercises.encoder_layer import drawn, some_blocked, tokens
from autograder.exercises.encoder_layer import exercise as encoder_layer_exercise
from course_lib.nn import tests_of_layers


def with_torch(x, parameters, n_heads, may_attend=None, norm_first=False):
    p, d_model = parameters, x.shape[-1]

    def attend(y):
        heads = [y @ p[f"w_{c}"] for c in "qkv"]
        heads = [part.unflatten(-1, (n_heads, -1)).transpose(-2, -3) for part in heads]
        mask = may_attend
        if mask is not None:
            mask = mask.expand(*x.shape[:-2], *mask.shape[-2:]).unsqueeze(-3)
        mixed = F.scaled_dot_product_attention(*heads, attn_mask=mask)
        return mixed.transpose(-2, -3).flatten(-2) @ p["w_o"]

    def norm(y, i):
        return F.layer_norm(y, (d_model,), p[f"gain_{i}"], p[f"bias_{i}"])

    def feed(y):
        return F.linear(F.relu(F.linear(y, p["w_1"].T, p["b_1"])), p["w_2"].T, p["b_2"])

    if norm_first:
        x = x + attend(norm(x, 1))
        return x + feed(norm(x, 2))
    x = norm(x + attend(x), 1)
    return norm(x + feed(x), 2)


def head_by_head(x, parameters, n_heads, may_attend=None, norm_first=False):
    p, d_k = parameters, x.shape[-1] // n_heads

    def attend(y):
        output = 0.0
        for start in range(0, y.shape[-1], d_k):
            q, k, v = (y @ p[f"w_{c}"][:, start : start + d_k] for c in "qkv")
            scores = torch.einsum("...nd,...md->...nm", q / d_k**0.5, k)
            if may_attend is not None:
                scores = torch.where(may_attend, scores, -torch.inf)
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
            weights = powers / powers.sum(dim=-1, keepdim=True)
            output = output + weights @ (v @ p["w_o"][start : start + d_k])
        return output

    def feed(y):
        return (y @ p["w_1"] + p["b_1"]).clamp(min=0) @ p["w_2"] + p["b_2"]

    for i, part in ((1, attend), (2, feed)):

        def norm(y, i=i):
            variance, mean = torch.var_mean(y, dim=-1, correction=0, keepdim=True)
            return (y - mean) * torch.rsqrt(variance + 1e-5) * p[f"gain_{i}"] + p[
                f"bias_{i}"
            ]

        x = x + part(norm(x)) if norm_first else norm(x + part(x))
    return x


def attended(x, w, n_heads, may_attend):
    """Return what the rows of x get from each other, in NumPy: this runs often."""
    q, k, v = (
        np.swapaxes((x @ each).reshape(*x.shape[:-1], n_heads, -1), -3, -2)
        for each in w[:3]
    )
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = np.where(may_attend[..., None, :, :], scores, -math.inf)
    # The largest of those that are not blocked; 0 in a row without any.
    largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)
    powers = np.exp(scores - largest)
    output = powers @ v / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
    output = np.swapaxes(output, -3, -2)
    return output.reshape(*output.shape[:-2], -1) @ w[3]


def in_numpy(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = {name: part.numpy() for name, part in parameters.items()}
    mask = None if may_attend is None else may_attend.numpy()

    def norm(rows, i):
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred / np.sqrt(variance + 1e-5) * p[f"gain_{i}"] + p[f"bias_{i}"]

    def attend(rows):
        return attended(rows, [p[f"w_{letter}"] for letter in "qkvo"], n_heads, mask)

    def feed(rows):
        return np.maximum(rows @ p["w_1"] + p["b_1"], 0) @ p["w_2"] + p["b_2"]

    rows = x.numpy().astype(float)
    for i, sublayer in ((1, attend), (2, feed)):
        if norm_first:
            rows = rows + sublayer(norm(rows, i))
        else:
            rows = norm(rows + sublayer(rows), i)
    return torch.from_numpy(rows).to(x.dtype)


def in_half_precision(x, parameters, n_heads, may_attend=None, norm_first=False):
    result = encoder_layer_exercise.reference(
        x, parameters, n_heads, may_attend, norm_first
    )
    return result.half().to(x.dtype)


exercise = LearnersTest(
    tests_of_layers.test_layer,
    lesson="16_bug_hunt",
    minutes=25,
    difficulty=3,
    right={
        "as in lesson 09": encoder_layer_exercise.reference,
        "computed head by head": head_by_head,
        "computed in NumPy": in_numpy,
        "with PyTorch's own functions": with_torch,
    },
)

exercise.catches_of(
    encoder_layer_exercise,
    {
        "nothing_carried_over": "A layer without residual connections is caught",
        "only_the_first_sum": "A second residual connection that is missing is caught",
        "norm_always_after": "Post-norm where pre-norm was asked for is caught",
        "norm_always_before": "Pre-norm where post-norm was asked for is caught",
        "one_norm_for_both": "One gain and bias for both norms is caught",
        "may_attend_ignored": "A mask that is ignored is caught",
    },
)

exercise.catches_of(
    encoder_layer_exercise,
    {
        "normed_rows_added": "A residual connection that carries normed rows is caught",
        "one_head": "One head in place of several is caught",
        "may_attend_transposed": "A mask with rows and columns exchanged is caught",
        "always_causal": "A causal mask that nobody asked for is caught",
        "axes_of_length_1_dropped": "An axis lost with a single token is caught",
    },
    visible=False,
)

exercise.catches(
    "in_half_precision",
    "Results that are right to three digits only are caught",
    in_half_precision,
    visible=False,
)


# Without these kinds of input a broken version looks right


def blocks_a_key(c):
    return c.may_attend is not None and not bool(c.may_attend.all())


def is_not_symmetric(c):
    mask = c.may_attend
    return mask is not None and not torch.equal(mask, mask.transpose(-1, -2))


def lets_attend_ahead(c):
    if c.may_attend is None:
        return c.x.shape[-2] > 1
    return bool(c.may_attend.triu(1).any())


def has_two_norms(c):
    pairs = [(c.parameters[f"{each}_1"], c.parameters[f"{each}_2"]) for each in NORM]
    return not all(torch.equal(one, other) for one, other in pairs)


NORM = "gain", "bias"
exercise.shows_with(
    "post-norm (norm_first=False)",
    lambda c: not c.norm_first,
    "norm_always_before",
    question="Which values may norm_first have?",
    weak="pre_norm_alone",
)
exercise.shows_with(
    "pre-norm (norm_first=True)",
    lambda c: bool(c.norm_first),
    *("norm_always_after", "normed_rows_added"),
    question="Which values may norm_first have?",
    weak="post_norm_alone",
)
exercise.shows_with(
    "a mask that blocks a key",
    blocks_a_key,
    *("may_attend_ignored", "may_attend_transposed"),
    question="What is may_attend for?",
    weak="no_mask",
)
exercise.shows_with(
    "a mask that changes if its rows and columns are exchanged",
    is_not_symmetric,
    "may_attend_transposed",
    question="How can one tell row i of a mask from column i?",
    weak="symmetric_masks",
)
exercise.shows_with(
    "several heads",
    lambda c: c.n_heads > 1,
    "one_head",
    question="What changes with n_heads, if all parameters stay?",
    weak="one_head_alone",
)
exercise.shows_with(
    "a token that may attend to one behind it",
    lets_attend_ahead,
    "always_causal",
    question="Which keys does an encoder's token attend to?",
)
exercise.shows_with(
    "different gains or biases for the two norms",
    has_two_norms,
    "one_norm_for_both",
    question="Which errors show only if the two norms have different parameters?",
    weak="gains_as_at_the_start",
)
exercise.shows_with(
    "a single token (n = 1) or another axis of length 1",
    lambda c: 1 in c.x.shape,
    "axes_of_length_1_dropped",
    question="Which is the smallest n that a sequence has?",
    weak="no_single_token",
)


@exercise.spec
def spec(encoder_layer):
    rng = np.random.default_rng(1)
    for shape in [(2, 5, 12), (2, 5, 12), (1, 12)]:
        for norm_first in (False, True):
            p, x = drawn(rng, dtype=np.float64), tokens(rng, *shape, dtype=np.float64)
            mask = some_blocked(rng, *shape[:-1], shape[-2]) if shape[0] > 1 else None
            inputs = x, p, 3, mask, norm_first
            expected = encoder_layer_exercise.expected_function(*inputs)
            actual = encoder_layer(*inputs)
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


layer_of_lesson_09 = encoder_layer_exercise.reference  # as a test may know it


@exercise.right_answer
def one_assertion_at_the_end(encoder_layer):
    rng = np.random.default_rng(17)
    n_heads, d_k = 3, 4
    p = {f"w_{letter}": rng.normal(size=(12, 12)) for letter in "qkvo"}
    p |= {"w_1": rng.normal(size=(12, 8)), "w_2": rng.normal(size=(8, 12))}
    p |= {"b_1": rng.normal(size=8), "b_2": rng.normal(size=12)}
    for i in (1, 2):
        p[f"gain_{i}"] = rng.normal(size=12)
        p[f"bias_{i}"] = rng.normal(size=12)

    def attend(x, may_attend):
        output = np.zeros(x.shape)
        for h in range(n_heads):
            own = slice(h * d_k, (h + 1) * d_k)
            q, k, v = (x @ p[name][:, own] for name in ("w_q", "w_k", "w_v"))
            scores = np.where(
                may_attend, q @ np.swapaxes(k, -1, -2) / np.sqrt(d_k), -np.inf
            )
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            output[..., own] = powers / powers.sum(axis=-1, keepdims=True) @ v
        return output @ p["w_o"]

    def norm(x, i):
        centred = x - x.mean(axis=-1, keepdims=True)
        root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centred / root * p[f"gain_{i}"] + p[f"bias_{i}"]

    def feed(x):
        return np.maximum(x @ p["w_1"] + p["b_1"], 0) @ p["w_2"] + p["b_2"]

    tensors = {name: torch.from_numpy(part) for name, part in p.items()}
    is_right = True
    for n, norm_first in [(5, False), (5, True), (1, False), (1, True)]:
        x = rng.normal(size=(2, n, 12))
        may_attend = (rng.random((2, n, n)) < 0.5) | np.eye(n, dtype=bool)
        mask = torch.from_numpy(may_attend) if n > 1 else None
        if norm_first:
            h = x + attend(norm(x, 1), may_attend)
            expected = h + feed(norm(h, 2))
        else:
            h = norm(x + attend(x, may_attend), 1)
            expected = norm(h + feed(h), 2)
        result = encoder_layer(torch.from_numpy(x), tensors, n_heads, mask, norm_first)
        is_right &= result.shape == x.shape and np.allclose(
            result, expected, rtol=1e-9, atol=1e-9
        )
    assert is_right, "the result is wrong"


exercise.weak_at_saying_no(
    "the layer that you wrote in lesson 09",
    rejects="result.shape == x.shape -> result.shape == x.shape[1:]",
    of=one_assertion_at_the_end,
)
exercise.weak_at_comparing(
    """
shapes_alone:  and np.allclose(result, expected, rtol=1e-09, atol=1e-09) ->
rounding_is_an_error:
  | np.allclose(result, expected, rtol=1e-09, atol=1e-09) ->
  :     np.array_equal(result, layer_of_lesson_09(torch.from_numpy(x), tensors,
  :     n_heads, mask, norm_first))
""",
    of=one_assertion_at_the_end,
)
exercise.edits(
    """
gains_as_at_the_start:
  | p[f'gain_{i}'] = np.ones(12)
  | p[f'bias_{i}'] = np.zeros(12)
  Your test catches what a test catches whose gains are all 1 and biases all 0.
  ? Which errors show only if the two norms have different parameters?
  # A layer that has just been made has such gains and biases.
post_norm_alone:
  | [(5, False), (5, True), (1, False), (1, True)] -> [(5, False), (1, False)]
  Your test catches what a test catches that never asks for pre-norm.
  ? Which values may norm_first have?
  # norm_first has a default, and is easily overlooked.
pre_norm_alone: [(5, False), (5, True), (1, False), (1, True)] -> [(5, True), (1, True)]
  Your test catches what a test catches that never asks for post-norm.
  # Today's models have pre-norm, and tests are written for them.
no_mask:
  | may_attend = np.ones((2, n, n), dtype=bool)
  | mask = None
  Your test catches what a test catches that tries no mask.
  ? What is may_attend for?
  # The mask has a default, and masks have been tested elsewhere.
symmetric_masks:
  | mask = torch. … ->
  :     may_attend |= np.swapaxes(may_attend, -1, -2)
  :     mask = torch.from_numpy(may_attend) if n > 1 else None
  Your test catches what a test catches whose masks are the same if rows and columns
    are exchanged.
  ? How can one tell row i of a mask from column i?
  # np.eye and np.ones are quickly written.
one_head_alone: n_heads, d_k = (1, 12)
  Your test catches what a test catches that asks for one head only.
  ? What changes with n_heads, if all parameters stay?
  # The smallest example has one head.
no_single_token: , (1, False), (1, True) ->
  Your test catches what a test catches that tries no single token.
  ? Which is the smallest n that a sequence has?
  # Sizes of 1 look like no test at all.
tolerance_too_wide: rtol=1e-09, atol=1e-09 -> rtol=0.01, atol=0.01
  Your test catches what a test catches that forgives differences of a hundredth.
  ? How far apart are two right versions in float64, and in float32?
  # A tolerance is widened until the test passes.
""",
    of=one_assertion_at_the_end,
)
