"""MiniLM's layers as PyTorch's own ``nn.TransformerEncoder``, to compare with (13)."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from course_lib.nn.pretrained import count_layers


def torch_layers(parameters: Mapping[str, Tensor], n_heads: int) -> nn.Module:
    """Build PyTorch's encoder with the parameters of a pretrained one.

    parameters : by the names that ``encode_pretrained`` takes

    Returns a module in evaluation mode that takes embedded tokens (batch, n, d_model).
    """
    n_layers = count_layers(dict(parameters))
    d_ff, d_model = parameters["encoder.layer.0.intermediate.dense.weight"].shape
    layer = nn.TransformerEncoderLayer(
        d_model,
        n_heads,
        d_ff,
        activation="gelu",
        layer_norm_eps=1e-12,
        batch_first=True,
    )
    encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
    for i, module in enumerate(encoder.layers):
        module.load_state_dict(_state(parameters, f"encoder.layer.{i}"))
    return encoder.eval()


def _state(parameters: Mapping[str, Tensor], layer: str) -> dict[str, Tensor]:
    """Return the parameters of one layer by PyTorch's names."""
    names = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    state: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        parts = [
            parameters[f"{layer}.attention.self.{name}.{kind}"]
            for name in ("query", "key", "value")
        ]
        state[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
        for own, name in names.items():
            state[f"{own}.{kind}"] = parameters[f"{layer}.{name}.{kind}"]
    return state
