"""What the tests of references in NumPy share: drawn arrays, and when two are equal."""

import numpy as np
import torch

CLOSE = {np.float64: 1e-13, np.float32: 1e-5}


def normal(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def assert_same(mine, theirs, dtype=np.float64):
    """Compare values to the precision of a dtype; a result may have a finer one."""
    if isinstance(theirs, torch.Tensor):
        theirs = theirs.detach().cpu().numpy()
    assert mine.shape == theirs.shape
    assert mine.dtype in (dtype, np.float64)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=CLOSE[dtype])
