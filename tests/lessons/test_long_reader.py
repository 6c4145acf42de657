"""The model that learns from short windows and reads a long text."""

import numpy as np
import pytest
import torch

from course_lib.attention import attention
from course_lib.lessons.long_reader import logits_with, trained_model
from course_lib.masks import causal_mask, masked_softmax
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig


def causal_attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return masked_softmax(scores, causal_mask(q.shape[1])) @ v


@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
def test_logits_are_those_of_the_model(n_kv_heads):
    config = LanguageModelConfig(11, 32, 2, 4, n_kv_heads, n_positions=20)
    torch.manual_seed(0)
    model = LanguageModel(config, device="cpu")
    token_ids = torch.randint(11, (17,))
    ours = logits_with(model, token_ids, causal_attention)
    torch.testing.assert_close(ours, model(token_ids[None])[0].detach())
    other = logits_with(model, token_ids, lambda q, k, v: attention(q, k, v)[0])
    assert not torch.allclose(ours, other)


def test_training_repeats_and_learns():
    text = torch.arange(7).repeat(60)
    models = [trained_model(text, 7, 100, steps=12) for _ in range(2)]
    logits = [model(text[None, :100]) for model in models]
    assert torch.equal(*logits)
    loss = torch.nn.functional.cross_entropy(logits[0][0, :-1], text[1:100])
    assert loss < 0.9 * np.log(7)


def test_models_of_another_kind_are_refused():
    config = LanguageModelConfig(11, 32, 1, 4, positions="learned", n_positions=20)
    with pytest.raises(ValueError, match="rotary positions"):
        logits_with(LanguageModel(config), torch.arange(3), causal_attention)
