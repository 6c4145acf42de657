"""Positions in PyTorch: the NumPy encoding, and learned ones."""

import numpy as np
import pytest
import torch

from course_lib.nn import LearnedPositions, SinusoidalPositions
from course_lib.positions import add_positions, sinusoidal_encoding


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_sinusoids_match_numpy(dtype):
    x = torch.tensor(np.random.default_rng(0).normal(size=(2, 5, 12))).to(dtype)
    added = SinusoidalPositions(7, 12, device="cpu")(x)
    assert added.dtype == dtype
    encoding = torch.tensor(sinusoidal_encoding(7, 12)).to(dtype).double().numpy()
    exact = torch.tensor(add_positions(x.double().numpy(), encoding)).to(dtype)
    torch.testing.assert_close(added, exact, rtol=0, atol=0)


def test_sinusoids_are_neither_learned_nor_saved():
    layer = SinusoidalPositions(7, 12, device="cpu")
    assert [*layer.parameters()] == []
    assert layer.state_dict() == {}


def test_learned_positions_match_an_embedding():
    layer = LearnedPositions(7, 12, device="cpu")
    embedding = torch.nn.Embedding.from_pretrained(layer.encoding.detach())
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(layer(x), x + embedding(torch.arange(5)))
    layer(x).sum().backward()
    assert (layer.encoding.grad[:5] == 2).all()  # two sequences
    assert (layer.encoding.grad[5:] == 0).all()


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
def test_offset_continues_a_sequence(kind):
    layer = kind(7, 12, device="cpu")
    x = torch.zeros(5, 12)
    torch.testing.assert_close(layer(x[2:], offset=2), layer(x)[2:])


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
@pytest.mark.parametrize(("n", "offset"), [(8, 0), (3, 5), (1, -1)])
def test_positions_without_an_encoding_are_refused(kind, n, offset):
    layer = kind(7, 12, device="cpu")
    words = f"positions {offset} to {offset + n - 1} have no encoding: .* for 0 to 6"
    with pytest.raises(ValueError, match=words):
        layer(torch.zeros(n, 12), offset=offset)
