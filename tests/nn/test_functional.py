"""PyTorch's layers as dictionaries: the functions compute what the layers do."""

import pytest
import torch
from torch import nn

from course_lib.nn.functional import decoder_layer, encoder_layer, parameters_of

SIZES = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}


@pytest.mark.parametrize("norm_first", [False, True])
def test_functions_match_pytorch_layers(norm_first):
    torch.manual_seed(0)
    x, memory = torch.randn(2, 5, 12).double(), torch.randn(2, 7, 12).double()
    encoder = nn.TransformerEncoderLayer(12, 3, 20, norm_first=norm_first, **SIZES)
    decoder = nn.TransformerDecoderLayer(12, 3, 20, norm_first=norm_first, **SIZES)
    for norm in (encoder.norm2, decoder.norm3):  # so that they can be told apart
        nn.init.normal_(norm.weight)
    ours = encoder_layer(x, parameters_of(encoder), 3, norm_first=norm_first)
    torch.testing.assert_close(ours, encoder(x).detach())
    ours = decoder_layer(x, memory, parameters_of(decoder), 3, norm_first=norm_first)
    torch.testing.assert_close(ours, decoder(x, memory).detach())


def test_attention_with_biases_is_refused():
    layer = nn.TransformerEncoderLayer(12, 3, 20, **SIZES)
    nn.init.ones_(layer.self_attn.out_proj.bias)
    with pytest.raises(ValueError, match="has biases"):
        parameters_of(layer)
