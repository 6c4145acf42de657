"""What others test of the parts of lesson 16, each idea in our own words and sizes.

The functions are tests as those of ``course_lib.tests_of_parts``. Each does what the
tests of one course or repository do for that part, on the contract of this course; no
code is theirs. ``CAUGHT`` has how many of the broken versions each catches; a test of
the course counts them anew.

- CS336 (Stanford, assignment 1) compares results on drawn inputs with stored ones of a
  right solution, to 1e-6: attention of a batch with as many numbers in a value as in a
  key, with a drawn mask; a pre-norm block with a causal mask; the merges of a text.
- d2l (Dive into Deep Learning) checks the shape of a result, in the chapter itself: of
  attention for drawn inputs, of an encoder block for inputs of ones.
- minbpe trains on Wikipedia's example and compares the tokens, and compares decoded
  texts with what was encoded.
- nanoGPT has no tests.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_lib.attention import attention as right_attention
from course_lib.bpe import encode_word
from course_lib.bpe import train_bpe as right_training
from course_lib.masks import masked_softmax as right_masked_softmax
from course_lib.nn.functional import encoder_layer as right_layer

Test = Callable[[Callable[..., Any]], None]

TEXT = """
the first test that most people write asks whether a result has the right shape and the
second whether it has the right sum then they stop for the numbers themselves are not
known and to work them out by hand takes longer than to write the function that is to be
tested the better tests compare with numbers that another program has made
"""


def attention_like_cs336(attention: Callable[..., Any]) -> None:
    """Compare the output for a drawn batch with a right one, to 1e-6."""
    rng = np.random.default_rng(4)
    for leading in ((2,), (1, 2)):
        q, k, v = (rng.normal(size=(*leading, n, 32)) for n in (12, 16, 16))
        output = attention(q, k, v)[0]
        np.testing.assert_allclose(output, right_attention(q, k, v)[0], atol=1e-6)


def attention_like_d2l(attention: Callable[..., Any]) -> None:
    """Check the shape of the output for a drawn batch."""
    rng = np.random.default_rng(4)
    q, k, v = (rng.normal(size=size) for size in ((2, 1, 2), (2, 10, 2), (2, 10, 4)))
    assert attention(q, k, v)[0].shape == (2, 1, 4)


def mask_like_cs336(masked_softmax: Callable[..., Any]) -> None:
    """Compare the weights for a drawn batch and mask with right ones, to 1e-6."""
    rng = np.random.default_rng(4)
    scores, may_attend = rng.normal(size=(2, 12, 16)), rng.random((2, 12, 16)) < 0.5
    weights = masked_softmax(scores, may_attend)
    expected = right_masked_softmax(scores, may_attend)
    np.testing.assert_allclose(weights, expected, atol=1e-6)


def layer_like_cs336(encoder_layer: Callable[..., Any]) -> None:
    """Compare a pre-norm layer with a causal mask with a right one, to 1e-6."""
    rng = np.random.default_rng(4)
    x, parameters = _drawn_layer(rng)
    mask = torch.ones(12, 12, dtype=torch.bool).tril()
    result = encoder_layer(x, parameters, 4, mask, True)
    expected = right_layer(x, parameters, 4, mask, True)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def layer_like_d2l(encoder_layer: Callable[..., Any]) -> None:
    """Check the shape of the result for inputs of ones."""
    _, parameters = _drawn_layer(np.random.default_rng(4))
    x = torch.ones(2, 12, 16, dtype=torch.float64)
    assert encoder_layer(x, parameters, 4).shape == x.shape


def _drawn_layer(
    rng: np.random.Generator,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Draw an input of 12 tokens and the parameters of a layer."""
    shapes: dict[str, tuple[int, ...]] = {f"w_{letter}": (16, 16) for letter in "qkvo"}
    shapes |= {"w_1": (16, 32), "b_1": (32,), "w_2": (32, 16), "b_2": (16,)}
    shapes |= {f"{name}_{i}": (16,) for name in ("gain", "bias") for i in (1, 2)}
    parameters = {
        name: torch.from_numpy(rng.normal(size=shape) / 4)
        for name, shape in shapes.items()
    }
    return torch.from_numpy(rng.normal(size=(2, 12, 16))), parameters


def bpe_like_cs336(train_bpe: Callable[..., Any]) -> None:
    """Compare the merges of a text with right ones."""
    words = {tuple(word): count for word, count in Counter(TEXT.split()).items()}
    assert train_bpe(words, 60) == right_training(words, 60)


def bpe_like_minbpe(train_bpe: Callable[..., Any]) -> None:
    """Compare the tokens of Wikipedia's example, and decode what was encoded."""
    word = tuple("aaabdaaabac")
    tokens = encode_word(word, train_bpe({word: 1}, 3))
    assert tokens == ["aaab", "d", "aaab", "a", "c"]
    words = {tuple(word): count for word, count in Counter(TEXT.split()).items()}
    merges = train_bpe(words, 64)
    for word in words:
        assert "".join(encode_word(word, merges)) == "".join(word)


ELSEWHERE: dict[str, dict[str, Test]] = {
    "CS336": {
        "test_attention": attention_like_cs336,
        "test_mask": mask_like_cs336,
        "test_layer": layer_like_cs336,
        "test_bpe": bpe_like_cs336,
    },
    "d2l": {"test_attention": attention_like_d2l, "test_layer": layer_like_d2l},
    "minbpe": {"test_bpe": bpe_like_minbpe},
    "nanoGPT": {},
}

# Of how many broken versions; what is not there, they do not test.
CAUGHT = {
    "CS336": {
        "test_attention": (9, 12),
        "test_mask": (10, 15),
        "test_layer": (9, 12),
        "test_bpe": (7, 12),
    },
    "d2l": {"test_attention": (2, 12), "test_layer": (0, 12)},
    "minbpe": {"test_bpe": (4, 12)},
    "nanoGPT": {},
}
