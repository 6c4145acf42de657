"""A small language model that learns from short windows and then reads a long text.

Its attention may be any function on NumPy arrays: a reader's own, for example.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, linear

from course_lib.lessons.environment import seeded
from course_lib.nn import arguments
from course_lib.nn.language_data import language_model_batch
from course_lib.nn.language_model import Block, LanguageModel, LanguageModelConfig

N_LEARNED = 64  # tokens of each window that is learned from
BATCH_SIZE = 16
LEARNING_RATE = 5e-3

Attend = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def trained_model(
    token_ids: Tensor, vocab_size: int, n_positions: int, steps: int = 400
) -> LanguageModel:
    """Train two layers of today's block on windows of 64 tokens, with one seed.

    token_ids : (n_tokens), the text to learn from
    n_positions : how many tokens the model can read at once afterwards

    Returns the model, on the CPU.
    """
    config = LanguageModelConfig(
        vocab_size, d_model=64, n_layers=2, n_heads=4, n_positions=n_positions
    )
    with seeded(0):
        model = LanguageModel(config, device="cpu")
        adam = torch.optim.AdamW(
            model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.99)
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            adam, LEARNING_RATE, steps, pct_start=0.1
        )
        for _ in range(steps):
            starts = torch.randint(len(token_ids) - N_LEARNED, (BATCH_SIZE,))
            reads, targets = language_model_batch(token_ids, N_LEARNED, starts)
            loss = cross_entropy(model(reads).flatten(0, 1), targets.flatten())
            adam.zero_grad()
            loss.backward()
            adam.step()
            schedule.step()
    return model.eval()


@torch.no_grad()
def logits_with(model: LanguageModel, token_ids: Tensor, attend: Attend) -> Tensor:
    """Compute a language model's logits with another function for its attention.

    model : with rotary positions and a norm before each sublayer, as it is by default
    token_ids : (n)
    attend : from q, k and v (n_heads, n, d_k) to the output, of the same shape

    Returns logits (n, vocab_size). Raises ``ValueError`` for another kind of model.
    """
    arguments.token_ids("token_ids", token_ids, 1)
    if model.rotary is None or model.norm is None:
        raise ValueError(
            "the model must have rotary positions and a norm before each sublayer, got "
            f"{model.config}"
        )
    d_k, group = (
        model.config.head_size,
        model.config.n_heads // model.config.key_value_heads,
    )
    x = model.embedding(token_ids)  # (n, d_model)
    for block in _blocks(model):
        own, y = block.attention, block.attention_norm(x)
        q, k, v = (
            projection(y).unflatten(-1, (-1, d_k)).transpose(0, 1)
            for projection in (own.query, own.key, own.value)
        )
        q, k = model.rotary(q), model.rotary(k)
        k, v = (each.repeat_interleave(group, dim=0) for each in (k, v))
        output = torch.as_tensor(attend(q.numpy(), k.numpy(), v.numpy()))
        x = x + own.output(output.to(x.dtype).transpose(0, 1).flatten(1))
        x = x + block.feed_forward(block.feed_forward_norm(x))
    return linear(model.norm(x), model.embedding.weight)


def _blocks(model: LanguageModel) -> Iterator[Block]:
    for block in model.blocks:
        assert isinstance(block, Block)
        yield block
