"""The translator that the course's is measured against: made of PyTorch's modules."""

from torch import Tensor, nn
from torch.nn.functional import linear

from course_lib.nn.transformer import SinusoidalPositions, TransformerConfig


class TorchTranslator(nn.Module):
    """``nn.Transformer`` with a tied table, as a translator that has no cache."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = SinusoidalPositions(
            config.n_positions, config.d_model, device="cpu"
        )
        self.dropout = nn.Dropout(config.dropout)
        layer = {
            "d_model": config.d_model,
            "nhead": config.n_heads,
            "dim_feedforward": config.d_ff,
            "dropout": config.dropout,
            "batch_first": True,
            "norm_first": config.norm_first,
        }
        # As nn.Transformer makes it, without the warning that norm_first rules out a
        # shortcut of evaluation.
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**layer),
            config.n_layers,
            nn.LayerNorm(config.d_model),
            enable_nested_tensor=False,
        )
        self.inner = nn.Transformer(
            **layer, num_decoder_layers=config.n_layers, custom_encoder=encoder
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        is_padding = source == self.config.padding_id
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
        return linear(y, self.embedding.weight)

    def embed(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * self.config.d_model**0.5
        return self.dropout(self.positions(x))
