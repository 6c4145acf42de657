"""The Transformer's encoder layer as a module, and what all its layers have in common.

The same as functions is in ``course_lib.nn.blocks``. The decoder layer is in
``course_lib.nn.decoder_layer``; the whole model is in ``course_lib.nn.transformer``.
How PyTorch's parameters get in here is in ``course_lib.nn.torch_layers``.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from course_lib.nn.attention import MultiHeadAttention
from course_lib.nn.device import best_device
from course_lib.nn.fast_attention import keys_and_values, look
from course_lib.nn.torch_layers import like_theirs, renamed

Part = Callable[[Tensor], Tensor]


class Layer(nn.Module):
    """Parts one after another, each added to what went in, each with a norm."""

    n_parts: int

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        norm_first: bool = False,
        bias: bool = True,
        eps: float = 1e-5,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a layer with random parameters.

        d_model : length of a token's vector
        n_heads : number of heads of each attention
        d_ff : length between the two layers of the feed-forward part
        dropout : of what each part gives, before it is added, while training
        norm_first : True for x + part(norm(x)), False for the paper's norm(x + part(x))
        bias : whether projections and norms add a vector of parameters
        eps : of the norms, added to the variance
        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        self.norm_first = norm_first
        place = best_device(device)

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(
                d_model, n_heads, bias=bias, device=place, dtype=dtype
            )

        def norm() -> nn.LayerNorm:
            return nn.LayerNorm(d_model, eps, bias=bias, device=place, dtype=dtype)

        self.own_attention = attention()
        if self.n_parts == 3:
            self.memory_attention = attention()
        self.wide = nn.Linear(d_model, d_ff, bias=bias, device=place, dtype=dtype)
        self.narrow = nn.Linear(d_ff, d_model, bias=bias, device=place, dtype=dtype)
        self.norms = nn.ModuleList(norm() for _ in range(self.n_parts))
        self.dropout = nn.Dropout(dropout)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Send each token's vector (..., n, d_model), alone, through two layers."""
        return self.narrow(torch.relu(self.wide(x)))

    def in_turn(self, x: Tensor, parts: Sequence[Part]) -> Tensor:
        """Send x (..., n, d_model) through the parts, each with its sum and norm."""
        for part, norm in zip(parts, self.norms, strict=True):
            if self.norm_first:
                x = x + self.dropout(part(norm(x)))
            else:
                x = norm(x + self.dropout(part(x)))
        return x


class EncoderLayer(Layer):
    """All tokens look at each other, then each thinks for itself.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.1; the norm
    first: Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.
    """

    n_parts = 2

    def forward(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Give a tensor like x (..., n, d_model).

        may_attend : booleans that fit (..., n, n), True where a token may look; None if
            all may look at all
        """

        def look_around(y: Tensor) -> Tensor:
            part = self.own_attention
            return look(part, y, *keys_and_values(part, y), may_attend)

        return self.in_turn(x, [look_around, self.feed_forward])

    @classmethod
    def from_torch(cls, theirs: nn.TransformerEncoderLayer) -> "EncoderLayer":
        """Give a layer with copies of the parameters of PyTorch's.

        It computes the same, on the same device, in the same dtype; only while training
        it drops in fewer places. Raises ``ValueError`` if theirs has another activation
        than ReLU or is not batch_first.
        """
        ours = cls(**like_theirs(theirs))
        ours.load_state_dict(renamed(theirs, {"self_attn": "own_attention"}))
        return ours.train(theirs.training)
