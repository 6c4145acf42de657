"""How many processor threads PyTorch uses."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import torch

# The oldest versions that the lessons were tried with.
NEEDED = {"numpy": (2, 3), "matplotlib": (3, 10), "torch": (2, 13)}
OLDEST_PYTHON = (3, 11)


class NotReady(RuntimeError):
    """Something that the lessons need is missing or too old."""


def check_environment() -> str:
    """Give a sentence if everything is there; raises ``NotReady`` with what is not.

    >>> check_environment()
    'Python, numpy, matplotlib and torch are here and new enough.'
    """
    found = sys.version_info[:2]
    if found < OLDEST_PYTHON:
        raise NotReady(
            f"This is Python {found[0]}.{found[1]}; the course needs "
            f"{OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer. Install one and run "
            "`make setup` again."
        )
    for name, oldest in NEEDED.items():
        _require(name, oldest)
    *first, last = NEEDED
    return f"Python, {', '.join(first)} and {last} are here and new enough."


def _require(name: str, oldest: tuple[int, int]) -> None:
    wanted = f"{oldest[0]}.{oldest[1]}"
    try:
        installed = version(name)
    except PackageNotFoundError:
        raise NotReady(
            f"{name} is not installed in this Python: run `make setup` in the "
            "course's folder, then start the notebook with `make lab`."
        ) from None
    numbers = re.findall(r"\d+", installed)  # 2.4rc1 has the numbers 2, 4 and 1
    if tuple(int(number) for number in numbers[:2]) < oldest:
        raise NotReady(
            f"{name} is {installed}; the course needs {wanted} or newer: run "
            "`make setup` in the course's folder."
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread, which is the fastest for a very small model.

    Afterwards it uses as many as before.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# MERGED course_lib.environment: Say whether this Python has what the lessons need. Installing is ``make setup``'s.
