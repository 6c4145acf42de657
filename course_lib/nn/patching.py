"""Activation patching: which vector of a model carries the answer (lesson 13)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def patching_effects(
    run: Callable[[Any, dict[tuple[int, int], Tensor]], tuple[float, Tensor]],
    clean: Any,
    corrupted: Any,
) -> Tensor:
    """Measure how much of the answer each vector of a clean run brings back.

    run : run(inputs, patches) returns two things: a score, a float, and the vectors
        (n_layers, n, d_model) after each layer; patches is a dictionary from (layer,
        position) to the vector that takes the place of the run's own there, and with {}
        nothing is replaced
    clean : the inputs that the model answers well
    corrupted : inputs of as many tokens, with another score

    For each layer and position the model runs on the corrupted inputs, with this one
    vector from the clean run. Returns (n_layers, n), in the dtype of the vectors: how
    much higher the score is than without patches, as a share of the difference between
    clean and corrupted. So 0 is no effect, and 1 the whole answer; effects may be
    negative or above 1.
    Source: Meng et al. (2022), Locating and Editing Factual Associations in GPT,
    section 2; Heimersheim and Nanda (2024), How to use and interpret activation
    patching.

    >>> def run(inputs, patches):  # one layer, vectors of one number
    ...     vectors = inputs.clone().reshape(1, 2, 1)
    ...     for (layer, position), vector in patches.items():
    ...         vectors[layer, position] = vector
    ...     return float(3 * vectors[0, 0] + vectors[0, 1]), vectors
    >>> patching_effects(run, torch.tensor([1.0, 1.0]), torch.tensor([0.0, 0.0]))
    tensor([[0.7500, 0.2500]])
    """
    clean_score, clean_vectors = run(clean, {})
    corrupted_score, _ = run(corrupted, {})
    n_layers, n = clean_vectors.shape[:2]
    effects = torch.zeros(n_layers, n, dtype=clean_vectors.dtype)
    for layer in range(n_layers):
        for position in range(n):
            patches = {(layer, position): clean_vectors[layer, position]}
            patched_score, _ = run(corrupted, patches)
            effects[layer, position] = patched_score - corrupted_score
    return effects / (clean_score - corrupted_score)
