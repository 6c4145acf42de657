"""The translator that attends by ``cached_step`` is the translator."""

import numpy as np
import pytest
import torch

from course_lib.lessons import own_decoder, translation_trace
from course_lib.nn.decoding import beam_search, cached_step, greedy_decode
from course_lib.nn.transformer import Transformer, TransformerConfig


@pytest.mark.parametrize("norm_first", [True, False])
def test_own_decoder_matches_the_model(norm_first):
    torch.manual_seed(0)
    config = TransformerConfig(20, 12, 3, 2, 24, norm_first=norm_first)
    model = Transformer(config, device="cpu")
    for parameter in model.parameters():  # biases, too, are not 0
        torch.nn.init.normal_(parameter, std=0.5)
    source = [5, 7, 9, 2]
    theirs = translation_trace.next_log_probabilities(model, source)
    own = own_decoder.next_log_probabilities(model, source, cached_step)
    for n in range(1, 6):
        np.testing.assert_allclose(
            own([1, 8, 4, 3, 8][:n]), theirs([1, 8, 4, 3, 8][:n]), atol=1e-4
        )
    assert greedy_decode(own, 1, 2, 9) == greedy_decode(theirs, 1, 2, 9)
    assert beam_search(own, 1, 2, 3, 9) == beam_search(theirs, 1, 2, 3, 9)


def test_own_decoder_uses_the_function_that_it_gets():
    model = Transformer(TransformerConfig(20, 12, 3, 1, 24), device="cpu")

    def zeros(token_id, keys, values, *rest):
        output, keys, values = cached_step(token_id, keys, values, *rest)
        return output * 0, keys, values

    right, wrong = (
        own_decoder.next_log_probabilities(model, [5, 2], step)([1])
        for step in (cached_step, zeros)
    )
    assert np.abs(right - wrong).max() > 1e-6
