"""MiniLM in PyTorch's own layers, ``nn.TransformerEncoderLayer``, to compare (13)."""

import torch
from torch import Tensor, nn

from course_lib.nn.pretrained import (
    EPS,
    POSITIONS,
    TYPES,
    WORDS,
    Parameters,
    count_layers,
)


def torch_encode(token_ids: Tensor, parameters: Parameters, n_heads: int) -> Tensor:
    """Compute what ``encode_pretrained`` does, with PyTorch's own modules.

    token_ids : (batch, n), without padding
    parameters, n_heads : as for ``encode_pretrained``
    """
    n_layers = count_layers(parameters)
    d_ff, d_model = parameters["encoder.layer.0.intermediate.dense.weight"].shape
    layer = nn.TransformerEncoderLayer(
        *(d_model, n_heads, d_ff),
        activation="gelu",
        layer_norm_eps=EPS,
        batch_first=True,
    )
    encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
    for i, module in enumerate(encoder.layers):
        module.load_state_dict(_state(parameters, f"encoder.layer.{i}"))
    tables = parameters[WORDS], parameters[POSITIONS], parameters[TYPES]
    words, positions, types = tables
    x = words[token_ids] + positions[: token_ids.shape[-1]] + types[0]
    norm = "embeddings.LayerNorm"
    learned = parameters[f"{norm}.weight"], parameters[f"{norm}.bias"]
    with torch.no_grad():
        x = nn.functional.layer_norm(x, (d_model,), *learned, EPS)
        vectors = encoder.eval()(x)
    assert isinstance(vectors, Tensor)
    return vectors


def _state(parameters: Parameters, layer: str) -> dict[str, Tensor]:
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
