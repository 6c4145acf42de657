"""PyTorch's Transformer layers as dictionaries: what the functions of lesson 08 take.

The modules read the same layers with their own ``from_torch``.
"""

from torch import Tensor, nn


def parameters_of(
    layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> dict[str, Tensor]:
    """Give the parameters of a layer under the names of ``course_lib.nn.blocks``.

    layer : one of PyTorch's; fresh ones have attentions that add zeros, which the
        functions do not do

    Returns matrices for ``x @ w``: the transposes of those that PyTorch keeps. They
    share its memory, and ask for no gradient. Raises ``ValueError`` if an attention
    adds anything but zeros.
    """
    attentions: dict[str, nn.MultiheadAttention] = {"w": layer.self_attn}
    if isinstance(layer, nn.TransformerDecoderLayer):
        attentions["cross"] = layer.multihead_attn
    found: dict[str, Tensor] = {}
    for start, part in attentions.items():
        added = (part.in_proj_bias, part.out_proj.bias)
        if any(bias is not None and bias.any() for bias in added):
            raise ValueError("this attention adds parameters: the functions have none")
        for name, matrix in zip("qkv", part.in_proj_weight.chunk(3), strict=True):
            found[f"{start}_{name}"] = matrix.T
        found[f"{start}_o"] = part.out_proj.weight.T
    for number, linear in enumerate((layer.linear1, layer.linear2), start=1):
        found[f"w_{number}"], found[f"b_{number}"] = linear.weight.T, linear.bias
    for number in range(1, len(attentions) + 2):  # one norm per part
        norm = getattr(layer, f"norm{number}")
        found[f"gain_{number}"], found[f"bias_{number}"] = norm.weight, norm.bias
    return {name: parameter.detach() for name, parameter in found.items()}
