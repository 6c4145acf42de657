"""Where a token stands, added to its vector: by sinusoids, or learned.

The sinusoids themselves are ``course_lib.positions.sinusoidal_encoding``.
"""

import torch
from torch import Tensor, nn

from course_lib.nn.device import best_device
from course_lib.positions import sinusoidal_encoding


class SinusoidalPositions(nn.Module):
    """Adds the paper's sines and cosines; nothing is learned.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5.
    """

    encoding: Tensor

    def __init__(
        self,
        n_places: int,
        d_model: int,
        *,
        base: float = 10000.0,
        device: torch.device | str | None = None,
    ) -> None:
        """Compute the encodings of the places 0 … n_places − 1, in float64.

        d_model, base : as for ``sinusoidal_encoding``
        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        table = torch.from_numpy(sinusoidal_encoding(n_places, d_model, base))
        table = table.to(best_device(device))
        # Not among what is saved: it is no parameter, and can be computed again.
        self.register_buffer("encoding", table, persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add row i + offset of the encodings to row i of x (..., n, d_model).

        The result has x's dtype. Raises ``ValueError`` if x has places that have none.
        """
        return x + _rows(self.encoding, x, offset).to(x.dtype)


class LearnedPositions(nn.Module):
    """Adds a learned vector for each place.

    Source: Gehring et al. (2017), Convolutional Sequence to Sequence Learning, section
    3.1; the paper of the Transformer tried it too (section 3.5).
    """

    def __init__(
        self,
        n_places: int,
        d_model: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the parameters (n_places, d_model), normal with deviation 0.02.

        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        empty = torch.empty(n_places, d_model, device=best_device(device), dtype=dtype)
        self.encoding = nn.Parameter(nn.init.normal_(empty, std=0.02))

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add row i + offset of the parameters to row i of x (..., n, d_model).

        Raises ``ValueError`` if x has places that have no parameters.
        """
        return x + _rows(self.encoding, x, offset)


def _rows(table: Tensor, x: Tensor, offset: int) -> Tensor:
    n = x.shape[-2]
    if offset < 0 or offset + n > len(table):
        raise ValueError(
            f"places {offset} to {offset + n - 1} are asked for, and there are "
            f"encodings for 0 to {len(table) - 1}"
        )
    return table[offset : offset + n]
