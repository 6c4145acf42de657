"""What once gave a wrong number without a word is refused by name, or right."""

import numpy as np
import pytest
import torch

from course_lib.arguments import require_boolean
from course_lib.attention import attention, scaled_scores, softmax
from course_lib.bpe import decode, encode_word, merge_pair, train_bpe, word_counts
from course_lib.byte_bpe import byte_vocabulary, decode_bytes, encode_bytes
from course_lib.heads import (
    count_parameters,
    load_torch_parameters,
    multi_head_attention,
    split_heads,
)
from course_lib.masks import (
    causal_mask,
    combine_masks,
    convert_mask,
    leak,
    masked_softmax,
    padding_mask,
)
from course_lib.positions import add_positions, rotary, sinusoidal_encoding
from course_lib.self_attention import equivariance_gap

ADDITIVE = np.array([[0.0, -np.inf]])
SCORES = np.array([[1.0, 2.0]])
ROWS = np.arange(6.0).reshape(3, 2)


def test_small_whole_numbers_do_not_wrap():
    x = np.array([0, 255, 1], dtype=np.uint8)
    np.testing.assert_allclose(softmax(x), [0, 1, 0], atol=1e-100)
    x = np.array([-128, 127], dtype=np.int8)
    np.testing.assert_allclose(softmax(x), [0, 1], atol=1e-100)
    q = np.full((1, 2), 100, dtype=np.int8)
    np.testing.assert_allclose(scaled_scores(q, q), [[20000 / 2**0.5]])


def test_rotary_keeps_float32():
    x = np.ones((2, 4), dtype=np.float32)
    assert rotary(x, [0, 100_000]).dtype == np.float32
    exact = rotary(x.astype(np.float64), [0, 100_000])
    np.testing.assert_allclose(rotary(x, [0, 100_000]), exact, atol=1e-6)


def test_nan_makes_no_half_right_row():
    weights = masked_softmax(np.array([[np.nan, 1.0]]), np.array([[True, True]]))
    assert np.isnan(weights).all()


def test_masked_softmax_of_minus_infinity_alone_is_nan():
    scores = np.array([[-np.inf, 1.0]])
    with np.errstate(invalid="ignore"):
        weights = masked_softmax(scores, np.array([[True, False]]))
    np.testing.assert_array_equal(weights, [[np.nan, 0]])  # −∞ − (−∞), not nothing
    np.testing.assert_array_equal(masked_softmax(scores, [[False, False]]), [[0, 0]])


def test_lists_and_any_pairs_are_taken():
    assert merge_pair(("a", "b"), ["a", "b"]) == ("ab",)
    assert encode_word(("a", "b"), [["a", "b"]]) == ["ab"]
    assert convert_mask([[True, False]], "additive").tolist() == [[0, -np.inf]]


BOOLEAN = r'^{} must be boolean, got {}: True means "may attend"; convert an additive '
eye = np.eye(2)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: masked_softmax(SCORES, ADDITIVE),
            TypeError,
            BOOLEAN.format("may_attend", "float64"),
        ),
        (
            lambda: multi_head_attention(
                SCORES, ROWS, eye, eye, eye, eye, 1, np.zeros((1, 3))
            ),
            TypeError,
            BOOLEAN.format("may_attend", "float64"),
        ),
        (
            lambda: convert_mask(np.array([[1, 0]]), "MultiheadAttention"),
            TypeError,
            BOOLEAN.format("may_attend", "int64"),
        ),
        (
            lambda: combine_masks(np.array([[True]]), np.array([[1]])),
            TypeError,
            BOOLEAN.format("each of masks", "int64"),
        ),
        (
            lambda: require_boolean(torch.zeros(1, 2)),
            TypeError,
            BOOLEAN.format("may_attend", "float32"),
        ),
        (
            lambda: require_boolean([[1, 0]]),
            TypeError,
            BOOLEAN.format("may_attend", "int64"),
        ),
        (combine_masks, ValueError, "^masks must be at least one mask, got none"),
        (
            lambda: masked_softmax(SCORES, np.ones((2, 1, 2), dtype=bool)),
            ValueError,
            r"^may_attend must have shape \(1, 2\), or 1 in place of",
        ),
        (lambda: leak(np.cumsum, ROWS, 3), ValueError, "^t=3 is beyond the last row"),
        (lambda: leak(np.cumsum, ROWS, -1), ValueError, "^t must be at least 0, got"),
        (
            lambda: equivariance_gap(np.cumsum, ROWS, [0, 0, 1]),
            ValueError,
            "^permutation must hold each of 0 … 2 once",
        ),
        (
            lambda: equivariance_gap(np.cumsum, ROWS, [True, True, False]),
            TypeError,
            "^permutation must hold whole numbers, got bool",
        ),
        (lambda: padding_mask([7], 3), ValueError, "^lengths must lie between 0 and 3"),
        (lambda: padding_mask([-1], 3), ValueError, "^lengths must lie between 0 and"),
        (lambda: padding_mask([1.5], 3), TypeError, "^lengths must hold whole numbers"),
        (lambda: causal_mask(2.5), TypeError, r"^n must be a whole number, got 2\.5"),
        (
            lambda: softmax(np.array([True])),
            TypeError,
            "^x must hold real numbers, got",
        ),
        (lambda: softmax(np.empty((2, 0))), ValueError, "^x must have a number along"),
        (
            lambda: softmax(SCORES, axis=2),
            ValueError,
            "^axis=2 is not an axis of shape",
        ),
        (lambda: softmax(SCORES, axis=None), TypeError, "^axis must be a whole number"),
        (
            lambda: softmax(np.array([2**60])),
            ValueError,
            "^x holds whole numbers beyond",
        ),
        (
            lambda: softmax(np.ma.masked_array([1.0, 2.0], [True, False])),
            TypeError,
            "^x is a masked array: its mask would be ignored",
        ),
        (
            lambda: attention(SCORES, ROWS, ROWS[:1]),
            ValueError,
            r"^v must have shape \(\.\.\., m, d_v\) with m=3 as in k, got \(1, 2\)",
        ),
        (
            lambda: add_positions(ROWS, np.ones((3, 1))),
            ValueError,
            "^encoding must have shape .* with d_model=2 as in x",
        ),
        (
            lambda: rotary(ROWS, [0]),
            ValueError,
            r"^positions must have shape \(n,\) wit",
        ),
        (
            lambda: sinusoidal_encoding(2, 2, 0),
            ValueError,
            "^base must be a finite number",
        ),
        (
            lambda: split_heads(ROWS, 0),
            ValueError,
            "^n_heads must be at least 1, got 0",
        ),
        (
            lambda: count_parameters(4, -2, True),
            ValueError,
            "^n_heads must be at least",
        ),
        (
            lambda: load_torch_parameters(
                torch.nn.MultiheadAttention(4, 2, kdim=3).state_dict()
            ),
            ValueError,
            "^state_dict must have in_proj_weight, out_proj.weight, and may have",
        ),
        (lambda: encode_word(("a", "b"), ["ab"]), TypeError, "^each of merges must be"),
        (
            lambda: merge_pair(("a", "b"), "ab"),
            TypeError,
            "^pair must be a pair of symb",
        ),
        (
            lambda: train_bpe({"ab": 2}, 1),
            TypeError,
            "^words must have tuples of symbols",
        ),
        (
            lambda: train_bpe({}, 1.5),
            TypeError,
            "^n_merges must be a whole number, got",
        ),
        (
            lambda: word_counts(b"a"),
            TypeError,
            r"^text must be a text \(str\), got bytes",
        ),
        (
            lambda: decode("ab"),
            TypeError,
            "^tokens must be a sequence of texts, such as",
        ),
        (
            lambda: encode_bytes("a", [], "<end>"),
            TypeError,
            r"^special_tokens must be a sequence of texts, such as \('<end>',\), got",
        ),
        (
            lambda: byte_vocabulary([], "<end>"),
            TypeError,
            "^special_tokens must be a seq",
        ),
        (
            lambda: decode_bytes([1.0], []),
            TypeError,
            "^token_ids must hold whole numbers",
        ),
    ],
)
def test_refused_by_name(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
