"""Several processes that train one model, each on its shard of every batch.

``torchrun`` starts them and tells each its rank in environment variables; PyTorch's
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
class ProcessGroup:
    """The processes that train together.

    rank : which of them this one is, from 0
    world_size : how many they are
    """

    rank: int = 0
    world_size: int = 1

    @property
    def is_main_process(self) -> bool:
        """Whether this is the one that prints and saves."""
        return self.rank == 0

    def all_reduce(self, numbers: Tensor) -> Tensor:
        """Return the sum over all processes; each of them has to call this."""
        if self.world_size > 1:
            dist.all_reduce(numbers)
        return numbers


SINGLE_PROCESS = ProcessGroup()


def under_torchrun() -> bool:
    """Return whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ and "WORLD_SIZE" in os.environ


@contextmanager
def process_group(
    device: torch.device,
) -> Iterator[tuple[ProcessGroup, torch.device]]:
    """Join the processes that torchrun started; without torchrun, be the only one.

    device : where to compute; "cuda" becomes this process's own GPU
    """
    if not under_torchrun():
        yield SINGLE_PROCESS, device
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield ProcessGroup(dist.get_rank(), dist.get_world_size()), device
    finally:
        dist.destroy_process_group()


class StopRequest:
    """A handler of signals that notes a request to stop, so that no step is cut in two.

    requested : whether a signal has come
    """

    def __init__(self) -> None:
        self.requested = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the request; a second Ctrl-C ends the process at once, as usual.

        Not under torchrun, which passes on what the terminal has sent already.
        """
        if self.requested and number == signal.SIGINT and not under_torchrun():
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Treat Ctrl-C, and torchrun's request to end, as a request to stop."""
    request = StopRequest()
    handlers = {
        number: signal.signal(number, request)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield request
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
