"""PyTorch's own layers run MiniLM as the course's parts do."""

import pytest

from course_lib.lessons.torch_encoder import torch_encode
from course_lib.nn.pretrained import SentenceEncoder, encode_pretrained


@pytest.mark.parametrize("sentence", ["it", "Attention is all you need!"])
def test_torch_encode_matches_encode_pretrained(sentence):
    encoder = SentenceEncoder.load()
    token_ids, _ = encoder.encode_texts([sentence])
    arguments = token_ids, encoder.parameters, encoder.n_heads
    gap = torch_encode(*arguments) - encode_pretrained(*arguments)
    assert gap.abs().max() < 1e-5
