"""Inputs of calls, drawn by the shapes that the reference's docstring declares."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.arguments import Expected


@dataclass(frozen=True)
class DeclaredInputs:
    """Draw arrays of the declared shapes: ``inputs(rng, leading, **sizes)``.

    shapes : the arguments that are floats, in their order
    usual : lengths of their axes, where a call gives none
    scaled : names of parameters that are divided by the root of their first axis
    of_torch : whether to return tensors

    >>> from course_lib.arguments import parse
    >>> shapes = parse("q (..., n, d_k), k (..., m, d_k)")
    >>> inputs = DeclaredInputs(shapes, {"n": 5, "d_k": 4})
    >>> [each.shape for each in inputs(np.random.default_rng(0), (2, 3), m=7)]
    [(2, 3, 5, 4), (2, 3, 7, 4)]
    """

    shapes: Sequence[Expected]
    usual: Mapping[str, int]
    scaled: tuple[str, ...] = ()
    of_torch: bool = False

    def __call__(
        self,
        rng: np.random.Generator,
        leading: tuple[int, ...] = (),
        dtype: Any = None,
        *,
        alike: int | None = None,
        whole: tuple[int, int] | None = None,
        **sizes: int,
    ) -> tuple[Any, ...]:
        """Return one array for each shape, of normal numbers.

        leading : the axes that ... stands for
        dtype : by default float64, or float32 for tensors
        alike : the length of all axes that sizes does not name
        whole : draw whole numbers from the first to just below the second, which are
            easy to read in a message; dtype=int makes them integers
        """
        lengths = {**self.usual, **sizes}
        if alike is not None:
            lengths = {**dict.fromkeys(lengths, alike), **sizes}
        dtype = dtype or (np.float32 if self.of_torch else np.float64)
        arrays = []
        for each in self.shapes:
            shape = tuple(_length(axis, lengths) for axis in each.axes)
            size = (*leading, *shape) if each.leading else shape
            drawn = rng.integers(*whole, size) if whole else rng.normal(size=size)
            if each.name in self.scaled:
                drawn = drawn / math.sqrt(shape[0])
            arrays.append(drawn.astype(dtype))
        if not self.of_torch:
            return tuple(arrays)
        import torch  # not where NumPy is the subject: it takes seconds

        return tuple(map(torch.from_numpy, arrays))


def _length(axis: str, lengths: Mapping[str, int]) -> int:
    """Return how long an axis is: d_k, 3·d_h or n_heads·d_k."""
    factors = axis.split("·")
    return math.prod(int(f) if f.isdecimal() else lengths[f] for f in factors)
