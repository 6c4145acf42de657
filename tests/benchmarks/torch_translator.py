"""The translator that the course's is measured against: made of PyTorch's modules."""

from torch import Tensor, nn
from torch.nn.functional import linear

from course_lib.nn.transformer import SinusoidalPositions, TransformerSizes


class TorchTranslator(nn.Module):
    """``nn.Transformer`` with a tied table, as a translator that has no cache."""

    def __init__(self, sizes: TransformerSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.table = nn.Embedding(sizes.vocab_size, sizes.d_model)
        self.positions = SinusoidalPositions(
            sizes.n_places, sizes.d_model, device="cpu"
        )
        self.dropout = nn.Dropout(sizes.dropout)
        layer = {
            "d_model": sizes.d_model,
            "nhead": sizes.n_heads,
            "dim_feedforward": sizes.d_ff,
            "dropout": sizes.dropout,
            "batch_first": True,
            "norm_first": sizes.norm_first,
        }
        # As nn.Transformer makes it, without the warning that norm_first rules out a
        # shortcut of evaluation.
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**layer),
            sizes.n_layers,
            nn.LayerNorm(sizes.d_model),
            enable_nested_tensor=False,
        )
        self.inner = nn.Transformer(
            **layer, num_decoder_layers=sizes.n_layers, custom_encoder=encoder
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        is_padding = source == self.sizes.padding
        memory = self.inner.encoder(self.embed(source), src_key_padding_mask=is_padding)
        return self.decode(memory, is_padding, target)

    def decode(self, memory: Tensor, is_padding: Tensor, target: Tensor) -> Tensor:
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        y = self.inner.decoder(
            self.embed(target),
            memory,
            tgt_mask=causal,
            memory_key_padding_mask=is_padding,
            tgt_is_causal=True,
        )
        return linear(y, self.table.weight)

    def embed(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens) * self.sizes.d_model**0.5
        return self.dropout(self.positions(x))
