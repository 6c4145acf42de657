"""Where tensors are: on a GPU if there is one."""

import torch


def best_device(device: torch.device | str | None = None) -> torch.device:
    """Return the device that is named, or else the GPU, or else the CPU.

    device : such as "cpu" or "cuda:1"; None to choose

    >>> best_device("cpu")
    device(type='cpu')
    """
    if device is not None:
        try:
            return torch.device(device)
        except RuntimeError:
            raise ValueError(
                f"device={device!r} is none: name one such as cpu, cuda or cuda:1"
            ) from None
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
