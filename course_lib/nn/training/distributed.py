"""Several processes that train one model, each on its share of every batch.

``torchrun`` starts them and says in environment variables which is which; PyTorch's
``torch.distributed`` carries their messages: over gloo on CPUs, over nccl on GPUs.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Team:
    """The processes that train together.

    rank : which of them this one is, from 0
    n_processes : how many they are
    """

    rank: int = 0
    n_processes: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the one that prints and saves."""
        return self.rank == 0

    def add_up(self, numbers: Tensor) -> Tensor:
        """Give the sum over all processes; each of them has to ask."""
        if self.n_processes > 1:
            dist.all_reduce(numbers)
        return numbers


ALONE = Team()


def under_torchrun() -> bool:
    """Say whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ and "WORLD_SIZE" in os.environ


@contextmanager
def team(device: torch.device) -> Iterator[tuple[Team, torch.device]]:
    """Join the processes that torchrun started; without torchrun, be alone.

    device : where to compute; "cuda" becomes this process's own GPU
    """
    if not under_torchrun():
        yield ALONE, device
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size()), device
    finally:
        dist.destroy_process_group()


class StopSign:
    """Remembers that someone asked to stop, so that an update is never cut in two."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal; a second Ctrl-C ends the process at once, as usual.

        Not under torchrun, which passes on what the terminal has sent already.
        """
        if self.asked and number == signal.SIGINT and not under_torchrun():
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def stop_sign() -> Iterator[StopSign]:
    """Take Ctrl-C, and torchrun's request to end, as a wish to stop."""
    sign = StopSign()
    before = {
        number: signal.signal(number, sign)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield sign
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
