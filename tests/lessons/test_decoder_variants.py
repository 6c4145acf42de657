"""The three decoders of lesson 04 leak where the lesson says."""

import numpy as np
import pytest

from course_lib.lessons.decoder_variants import DECODER_VARIANTS, DecoderVariant
from course_lib.masks import leak

X = np.random.default_rng(5).normal(size=(7, 6))


@pytest.mark.parametrize("t", range(6))
def test_b_and_c_leak_at_every_position_and_a_at_none(t):
    leaks = {name: leak(model, X, t) for name, model in DECODER_VARIANTS.items()}
    assert leaks["A"] == 0 and leaks["B"] > 0.01 and leaks["C"] > 0.01


def test_only_the_weights_of_b_reveal_its_leak():
    above = {
        name: np.triu(m.weights(X), 1).max() for name, m in DECODER_VARIANTS.items()
    }
    assert above["A"] == above["C"] == 0 and above["B"] > 0.1


def test_weights_of_each_token_sum_to_one():
    for model in DECODER_VARIANTS.values():
        np.testing.assert_allclose(model.weights(X).sum(axis=-1), 1)


@pytest.mark.parametrize("axis", [-1, 0])
def test_output_is_normalised_along_norm_axis(axis):
    y = DecoderVariant(0, axis)(X)
    np.testing.assert_allclose(y.mean(axis=axis), 0, atol=1e-12)  # rounding of sums
    np.testing.assert_allclose(y.std(axis=axis), 1)
    assert np.abs(y.mean(axis=-1 - axis)).max() > 0.01
