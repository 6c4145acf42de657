"""Reading PyTorch's Transformer layers: what they are like, and their parameters.

Ours are in ``course_lib.nn.transformer_layers``.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.attention import MultiHeadAttention

Theirs = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


def like_theirs(theirs: Theirs) -> dict[str, Any]:
    """Give the arguments that make a layer of ours like theirs.

    Raises ``ValueError`` for what ours does not have: another activation than ReLU;
    vectors of a batch that are not batch first, which ours would read as another text.
    """
    activation = theirs.activation
    if not (activation is functional.relu or isinstance(activation, nn.ReLU)):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"activation={name!r}: the layers here have relu alone")
    if not theirs.self_attn.batch_first:
        raise ValueError("batch_first=False: the layers here take (batch, n, d_model)")
    like = theirs.linear1.weight
    return {
        "d_model": theirs.linear1.in_features,
        "n_heads": theirs.self_attn.num_heads,
        "d_ff": theirs.linear1.out_features,
        "dropout": theirs.dropout1.p,
        "norm_first": theirs.norm_first,
        "bias": theirs.linear1.bias is not None,
        "eps": theirs.norm1.eps,
        "device": like.device,
        "dtype": like.dtype,
    }


def renamed(theirs: Theirs, attentions: Mapping[str, str]) -> dict[str, Tensor]:
    """Give their parameters under the names of ours.

    attentions : their names of the attentions, to ours
    """
    parts: dict[str, nn.Module] = {"wide": theirs.linear1, "narrow": theirs.linear2}
    for their_name, our_name in attentions.items():
        parts[our_name] = MultiHeadAttention.from_torch(getattr(theirs, their_name))
    for number in range(len(attentions) + 1):  # one norm per part
        parts[f"norms.{number}"] = getattr(theirs, f"norm{number + 1}")
    return {
        f"{name}.{inner}": parameter
        for name, part in parts.items()
        for inner, parameter in part.state_dict().items()
    }
