"""What the tests of references in PyTorch share: drawn tensors and tolerances."""

import numpy as np
import torch

CLOSE = {torch.float64: 1e-13, torch.float32: 1e-5}


def normal(*shape, dtype=torch.float64, seed=0):
    drawn = np.random.default_rng(seed).normal(size=shape)
    return torch.from_numpy(np.asarray(drawn)).to(dtype)
