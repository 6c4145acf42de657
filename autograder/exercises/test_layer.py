"""Broken encoder layers, and weak tests that let some of them pass."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.checking.learners_tests import LearnersTest, differ, say
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


def in_half_precision(x, parameters, n_heads, may_attend=None, norm_first=False):
    result = encoder_layer_exercise.reference(
        x, parameters, n_heads, may_attend, norm_first
    )
    return result.half().to(x.dtype)


exercise = LearnersTest(
    tests_of_layers.test_layer,
    lesson="15_bug_hunt",
    minutes=25,
    difficulty=3,
    right={
        "as in lesson 09": encoder_layer_exercise.reference,
        "computed head by head": head_by_head,
        "computed in NumPy": encoder_layer_exercise.variants_function,
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


@exercise.variants
def variants(
    encoder_layer,
    *,
    compared="values",
    parameters="drawn",
    norm_first="both",
    masks="drawn",
    n_heads=3,
    single_token="yes",
    tolerance=1e-9,
    says_no="by an assertion",
):
    rng, wrong = np.random.default_rng(2), False
    chosen = {"both": (False, True), "after": (False,), "before": (True,)}[norm_first]
    for n in (5, 1) if single_token == "yes" else (5,):
        for first in chosen:
            p = drawn(rng, dtype=np.float64)
            for number in (1, 2) if parameters == "as at the start" else ():
                p[f"gain_{number}"] = torch.ones(12, dtype=torch.float64)
                p[f"bias_{number}"] = torch.zeros(12, dtype=torch.float64)
            x = tokens(rng, 2, n, 12, dtype=np.float64)
            mask = some_blocked(rng, 2, n, n) if n > 1 else None
            if masks == "symmetric" and n > 1:
                mask = torch.eye(n, dtype=torch.bool).expand(2, n, n).clone()
                mask[:, 0, -1] = mask[:, -1, 0] = True
            mask = None if masks == "none" else mask
            inputs = x, p, n_heads, mask, first
            result = encoder_layer(*inputs)
            expected = encoder_layer_exercise.reference(*inputs)
            if compared == "shapes":
                wrong |= result.shape != x.shape
            elif tolerance == "==":
                wrong |= not torch.equal(result, expected)
            else:
                wrong |= differ(result, expected, tolerance)
    return say(wrong, says_no)


exercise.weak_at_saying_no("the layer that you wrote in lesson 09")
exercise.weak_at_comparing()
exercise.weak(
    "gains_as_at_the_start",
    "whose gains are all 1 and biases all 0",
    "Which errors show only if the two norms have different parameters?",
    why="A layer that has just been made has such gains and biases.",
    parameters="as at the start",
)
exercise.weak(
    "post_norm_alone",
    "that never asks for pre-norm",
    "Which values may norm_first have?",
    why="norm_first has a default, and is easily overlooked.",
    norm_first="after",
)
exercise.weak(
    "pre_norm_alone",
    "that never asks for post-norm",
    "Which values may norm_first have?",
    why="Today's models have pre-norm, and tests are written for them.",
    norm_first="before",
)
exercise.weak(
    "no_mask",
    "that tries no mask",
    "What is may_attend for?",
    why="The mask has a default, and masks have been tested elsewhere.",
    masks="none",
)
exercise.weak(
    "symmetric_masks",
    "whose masks are the same if rows and columns are exchanged",
    "How can one tell row i of a mask from column i?",
    why="np.eye and np.ones are quickly written.",
    masks="symmetric",
)
exercise.weak(
    "one_head_alone",
    "that asks for one head only",
    "What changes with n_heads, if all parameters stay?",
    why="The smallest example has one head.",
    n_heads=1,
)
exercise.weak(
    "no_single_token",
    "that tries no single token",
    "Which is the smallest n that a sequence has?",
    why="Sizes of 1 look like no test at all.",
    single_token="no",
)
exercise.weak(
    "tolerance_too_wide",
    "that forgives differences of a hundredth",
    "How far apart are two right versions in float64, and in float32?",
    why="A tolerance is widened until the test passes.",
    tolerance=0.01,
)
