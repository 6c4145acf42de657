"""Continue a sequence with a language model, token by token.

How the next token is chosen is in ``course_lib.nn.sampling``.
"""

from collections.abc import Iterator, Sequence

import torch

from course_lib.nn import arguments
from course_lib.nn.language_model import LanguageModel
from course_lib.nn.sampling import (
    apply_temperature,
    sample,
    top_k_filter,
    top_p_filter,
)
from course_lib.nn.translator import evaluating


def generate(
    model: LanguageModel,
    prompt: Sequence[int],
    n_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    seed: int = 0,
    use_cache: bool = True,
) -> list[int]:
    """Continue a prompt.

    model : a language model
    prompt : token ids, one at least, at most as many as the model takes
    n_tokens : how many tokens are added
    temperature, top_k, top_p : as in ``course_lib.nn.sampling``, applied in this order;
        top_k None for all tokens
    seed : of the draws; the same seed gives the same tokens
    use_cache : whether keys and values are kept between tokens; without, all tokens
        are read again for each new one, and the result is the same

    Returns the token ids that were added. When the context is full, its later half is
    read anew, and it goes on. Raises ``ValueError`` for an empty prompt, and for
    one that is longer than the model's context.

    >>> from course_lib.nn.language_model import LanguageModelConfig
    >>> model = LanguageModel(LanguageModelConfig(9, d_model=8, n_layers=1))
    >>> len(generate(model, [3, 1], 5))
    5
    """
    arguments.whole(0, n_tokens=n_tokens)
    context = model.config.n_positions
    if not 1 <= len(prompt) <= context:
        raise ValueError(
            f"prompt must have from 1 to {context} tokens, as many as the model's "
            f"context, got {len(prompt)}"
        )
    token_ids = [*prompt]
    generator = torch.Generator().manual_seed(seed)
    with evaluating(model):
        logits = _next_logits(model, token_ids, use_cache)
        for _ in range(n_tokens):
            probabilities = apply_temperature(next(logits), temperature)
            if top_k is not None:
                probabilities = top_k_filter(probabilities, top_k)
            probabilities = top_p_filter(probabilities, top_p)
            u = torch.rand((), generator=generator, dtype=torch.float64)
            token_ids.append(int(sample(probabilities, u.to(probabilities.device))))
    return token_ids[len(prompt) :]


def _next_logits(
    model: LanguageModel, token_ids: list[int], use_cache: bool
) -> Iterator[torch.Tensor]:
    """Yield the logits (vocab_size) behind token_ids, which grows between two calls."""
    context, device = model.config.n_positions, model.embedding.weight.device
    state, start = None, 0
    while True:
        if len(token_ids) - start > context:
            state, start = None, len(token_ids) - max(1, context // 2)
        n_read = state.n_read if state is not None and use_cache else 0
        new = torch.tensor([token_ids[start + n_read :]], device=device)
        logits, state = model.read(new, state if use_cache else None)
        yield logits[0, -1]
