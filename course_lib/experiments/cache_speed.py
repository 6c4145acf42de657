"""How fast a language model writes, with and without a cache (lesson 12).

The model has random parameters: its speed does not depend on them.
"""

import time
from typing import Any

from course_lib.lessons.environment import one_thread
from course_lib.nn.generating import generate
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig
from course_lib.nn.training.language import SIZES, VOCAB_SIZE
from course_lib.nn.training.loop import seeded_model
from course_lib.nn.translator import evaluating

LENGTHS = (16, 32, 64, 128, 256, 512)
N_REPEATS = 3


def full(seed: int, lengths: tuple[int, ...] = LENGTHS) -> dict[str, Any]:
    """Time how the default model, with a longer context, writes texts of some lengths.

    Returns "lengths", in tokens, and for each of them tokens per second of processor
    time on one thread, "with cache" and "without cache": the best of three.
    """
    config = LanguageModelConfig(VOCAB_SIZE, **{**SIZES, "n_positions": lengths[-1]})
    results: dict[str, Any] = {"lengths": list(lengths)}
    with one_thread():
        model = seeded_model(lambda: LanguageModel(config, device="cpu"), seed)
        assert isinstance(model, LanguageModel)
        with evaluating(model):
            for name, use_cache in {"with cache": True, "without cache": False}.items():
                results[name] = [
                    round(
                        max(
                            tokens_per_second(model, length, seed, use_cache=use_cache)
                            for _ in range(N_REPEATS)
                        ),
                        1,
                    )
                    for length in lengths
                ]
    return results


def tokens_per_second(
    model: LanguageModel, n_tokens: int, seed: int, *, use_cache: bool
) -> float:
    """Time how a model writes n_tokens behind one token, in processor time."""
    start = time.process_time()
    generate(model, [0], n_tokens - 1, seed=seed, use_cache=use_cache)
    return (n_tokens - 1) / (time.process_time() - start)
