"""The learner's own functions for a lesson's milestone, the course's where one lacks.

A milestone runs on what the learner has written. One function that is not written yet,
or that fails on an example, is replaced, and the printed list says so.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.n_grams import n_gram_log_probability
from course_lib.nn import (
    head_roles,
    language_data,
    modern_block,
    pretrained,
    pruning,
    sampling,
)
from course_lib.tiling import tiled_attention

Examples = Mapping[Callable[..., Any], tuple[Any, ...]]

_HALVES = torch.tensor([0.5, 0.25, 0.25])
_ROWS = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.0]])
_COUNTS = {(): {0: 2, 1: 1}, (0,): {1: 2}}
_HEADS = torch.tensor([[[1.0, 0.0]], [[0.0, 2.0]], [[1.0, 1.0]], [[3.0, 1.0]]])

# Each function of lesson 12 to the arguments of an example.
LANGUAGE_MODEL: Examples = {
    language_data.language_model_batch: (torch.arange(9), 3, torch.tensor([0, 5])),
    language_data.bits_per_byte: (torch.tensor([1.0, 2.5]), "€ a"),
    n_gram_log_probability: (1, [0], _COUNTS, 4),
    sampling.apply_temperature: (torch.tensor([2.0, 1.0, 0.0]), 0.5),
    sampling.top_k_filter: (_HALVES, 2),
    sampling.top_p_filter: (_HALVES, 0.6),
    sampling.sample: (torch.stack([_HALVES, _HALVES]), torch.tensor([0.2, 0.6])),
    modern_block.rms_norm: (_ROWS, torch.tensor([1.0, 2.0])),
    modern_block.swiglu: (_ROWS, _ROWS.T, 2 * _ROWS.T, _ROWS),
    modern_block.grouped_query_attention: (_HEADS, _ROWS[:2, None], _ROWS[1:, None]),
}

_THIRDS = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
_SEPARATORS = torch.tensor([True, False, False])


def _tiny_encoder() -> dict[str, Tensor]:
    """Make the parameters of an encoder of one layer and two heads, for an example."""
    tables = {f"embeddings.{each}_embeddings" for each in ("word", "position")}
    tables |= {"embeddings.token_type_embeddings"}
    attention = [f"attention.self.{each}" for each in ("query", "key", "value")]
    maps = [*attention, "attention.output.dense", "intermediate.dense", "output.dense"]
    norms = ["attention.output.LayerNorm", "output.LayerNorm"]
    layer = [f"encoder.layer.0.{each}" for each in (*maps, *norms)]
    generator = torch.Generator().manual_seed(0)
    parameters = {}
    for name in [*sorted(tables), "embeddings.LayerNorm", *layer]:
        shape = (4,) if "LayerNorm" in name else (4, 4)
        parameters[f"{name}.weight"] = torch.rand(shape, generator=generator)
        parameters[f"{name}.bias"] = torch.rand(4, generator=generator)
    return parameters


def _product(gates: Tensor, example: float) -> float:
    return float(example * gates.prod() + gates[0])


def _gradient_of_product(gates: Tensor, example: float) -> Tensor:
    return example * gates.prod() / gates + torch.tensor([1.0, 0.0])


# Those functions of lesson 13 that its milestone runs on.
INSIDE_THE_HEADS: Examples = {
    pretrained.encode_pretrained: (torch.tensor([2, 0, 3]), _tiny_encoder(), 2),
    head_roles.head_role_scores: (_THIRDS, _SEPARATORS, torch.tensor([9.0, 5.0, 2.0])),
    pruning.head_importance: (
        *(_product, _gradient_of_product),
        *(torch.tensor([1.0, 2.0]), [3.0, -1.0]),
    ),
}

_ARRAYS = np.array(
    [[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [[0.5, 2.0], [3.0, 1.0], [0, 1]]]
)

# Those functions of lesson 14 that its milestone runs on.
FAST_ATTENTION: Examples = {
    tiled_attention: (_ARRAYS, 2 * _ARRAYS, _ARRAYS[:, ::-1], 2, np.tri(3) > 0),
}


def own_functions(
    names: Mapping[str, Any], examples: Examples = LANGUAGE_MODEL
) -> dict[str, Callable[..., Any]]:
    """Choose the learner's functions, or the course's own, and print which.

    names : the notebook's names, as ``globals()`` returns them
    examples : the course's own functions to the arguments of an example; the learner's
        is chosen if it gives the same result

    Returns the functions by name.
    """
    chosen: dict[str, Callable[..., Any]] = {}
    for course, arguments in examples.items():
        own = names.get(course.__name__, course)
        is_right = own is not course and _agrees(own, course, arguments)
        chosen[course.__name__] = own if is_right else course
        whose = "yours" if is_right else "the course's own: yours is not ready yet"
        print(f"{course.__name__}: {whose}")
    return chosen


def _agrees(own: Any, course: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    try:
        return _equal(own(*arguments), course(*arguments))
    except Exception:  # whatever an unfinished answer raises
        return False


def _equal(a: Any, b: Any) -> bool:
    if isinstance(b, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[name], b[name]) for name in b)
    if isinstance(b, np.ndarray):
        return a.shape == b.shape and np.allclose(a, b)
    if isinstance(b, Tensor):
        return a.shape == b.shape and torch.allclose(a.double(), b.double(), atol=1e-5)
    return abs(float(a) - float(b)) < 1e-6
