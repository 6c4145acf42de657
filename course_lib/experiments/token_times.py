"""How long a further token takes, by how many are in the cache (lesson 14).

The model has random parameters and the cache random keys and values: the time does not
depend on them.
"""

from typing import Any

import torch
from torch.nn import functional

from course_lib.lessons.environment import seeded
from course_lib.lessons.measuring import processor_seconds
from course_lib.nn.language_model import (
    LanguageModel,
    LanguageModelConfig,
    LayerCache,
    ModelState,
)
from course_lib.nn.translator import evaluating

LENGTHS = (64, 256, 1024, 4096, 16384)
KEY_VALUE_HEADS = (8, 2, 1)
SIZES: dict[str, Any] = {"d_model": 256, "n_layers": 4, "n_heads": 8}


def full(seed: int, lengths: tuple[int, ...] = LENGTHS) -> dict[str, Any]:
    """Time the reading of one token, with caches of some lengths.

    Returns "lengths" and "key-value heads"; for each number of heads of keys and values
    "8 heads": milliseconds for each length, "8 heads, attending": those of the
    attention alone, which reads the cache, and "8 heads, bytes": what the cache takes.
    """
    results: dict[str, Any] = {"lengths": [*lengths]}
    results["key-value heads"] = [*KEY_VALUE_HEADS]
    with seeded(seed):
        for n_kv_heads in KEY_VALUE_HEADS:
            config = LanguageModelConfig(
                512, **SIZES, n_kv_heads=n_kv_heads, n_positions=lengths[-1] + 1
            )
            model = LanguageModel(config, device="cpu")
            with evaluating(model), torch.inference_mode():
                states = [_random_state(config, n) for n in lengths]
                results[f"{n_kv_heads} heads"] = [
                    round(1e3 * _seconds(model, state), 3) for state in states
                ]
                results[f"{n_kv_heads} heads, attending"] = [
                    round(1e3 * _attending_seconds(config, state), 3)
                    for state in states
                ]
                results[f"{n_kv_heads} heads, bytes"] = [
                    sum(part.nbytes for cache in state.caches for part in cache)
                    for state in states
                ]
    return results


def _seconds(model: LanguageModel, state: ModelState) -> float:
    token = torch.tensor([[1]])
    return processor_seconds(lambda: model.read(token, state), n_repeats=7)


def _attending_seconds(config: LanguageModelConfig, state: ModelState) -> float:
    q = torch.randn(1, config.n_heads, 1, config.head_size)

    def attend() -> None:
        for cache in state.caches:
            functional.scaled_dot_product_attention(
                *(q, cache.keys, cache.values),
                enable_gqa=config.key_value_heads != config.n_heads,
            )

    return processor_seconds(attend, n_repeats=7)


def _random_state(config: LanguageModelConfig, n: int) -> ModelState:
    shape = (2, 1, config.key_value_heads, n, config.head_size)
    caches = (LayerCache(*torch.randn(shape)) for _ in range(config.n_layers))
    return ModelState(n, tuple(caches))
