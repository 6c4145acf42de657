"""A test of an encoder layer, as those of ``course_lib.tests_of_parts``.

What is right is computed in NumPy, one head after the other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Function = Callable[..., Any]


def test_layer(encoder_layer: Function) -> None:
    """Test a function that should do what ``encoder_layer`` of lesson 09 does.

    encoder_layer : called as encoder_layer(x, parameters, n_heads, may_attend,
        norm_first), where may_attend may be None, with tensors of at most 4,000 numbers
        in all, the parameters w_q, w_k, w_v and w_o (d_model, d_model). The test sees
        what it returns, and nothing else of it. It makes at most 4,000 calls, whose
        results hold at most 400,000 numbers in all

    Returns nothing if the function keeps the contract of `encoder_layer`, and raises
    AssertionError if it does not. Right ones differ by rounding only, in float64 less
    than 1e-9; the errors of broken ones are far larger, on some inputs.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.1; pre-norm:
    Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.

    >>> from course_lib.nn.functional import encoder_layer
    >>> test_layer(encoder_layer)
    >>> test_layer(lambda x, *rest: x + encoder_layer(x, *rest))
    Traceback (most recent call last):
    AssertionError: wrong for 5 tokens, norm_first=False
    """
    rng = np.random.default_rng(17)
    p = {f"w_{letter}": rng.normal(size=(12, 12)) for letter in "qkvo"}
    p |= {"w_1": rng.normal(size=(12, 8)), "w_2": rng.normal(size=(8, 12))}
    for name, size in [("b_1", 8), ("b_2", 12)]:
        p[name] = rng.normal(size=size)
    for name in ("gain_1", "gain_2", "bias_1", "bias_2"):
        p[name] = rng.normal(size=12)

    def attend(x: np.ndarray, may_attend: np.ndarray) -> np.ndarray:
        output = np.zeros(x.shape)
        for h in range(3):
            own = slice(4 * h, 4 * h + 4)  # the columns of one head
            q, k, v = (x @ p[name][:, own] for name in ("w_q", "w_k", "w_v"))
            powers = np.exp(q @ np.swapaxes(k, -1, -2) / 2) * may_attend
            output[..., own] = powers / powers.sum(axis=-1, keepdims=True) @ v
        return output @ p["w_o"]

    def norm(x: np.ndarray, i: int) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centred / root * p[f"gain_{i}"] + p[f"bias_{i}"]

    def feed(x: np.ndarray) -> np.ndarray:
        return np.maximum(x @ p["w_1"] + p["b_1"], 0) @ p["w_2"] + p["b_2"]

    tensors = {name: torch.from_numpy(part) for name, part in p.items()}
    for n, masked in [(5, True), (1, False)]:
        x = rng.normal(size=(2, n, 12))
        may_attend = (
            (rng.random((2, n, n)) < 0.5) | np.eye(n, dtype=bool) | (not masked)
        )
        mask = torch.from_numpy(may_attend) if masked else None
        h = norm(x + attend(x, may_attend), 1)
        after = norm(h + feed(h), 2)
        h = x + attend(norm(x, 1), may_attend)
        before = h + feed(norm(h, 2))
        for norm_first, expected in [(False, after), (True, before)]:
            result = encoder_layer(torch.from_numpy(x), tensors, 3, mask, norm_first)
            assert result.shape == x.shape, f"the result has shape {result.shape}"
            is_close = np.allclose(result, expected, rtol=1e-9, atol=1e-9)
            assert is_close, f"wrong for {n} tokens, norm_first={norm_first}"
