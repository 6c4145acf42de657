"""Whether this Python has what lessons need (00); PyTorch's threads and seed (all)."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

try:
    import torch
except ModuleNotFoundError:  # whoever begins may have left it for later
    torch: Any = None  # type: ignore[no-redef]

# The oldest versions with which the lessons were tried.
MINIMUM_PYTHON = (3, 11)
MINIMUM_VERSIONS = {"numpy": (2, 0), "matplotlib": (3, 10)}  # numpy's is Colab's
MINIMUM_TORCH = (2, 13)  # from lesson 07 on, and for what trains before
MEND = "`pip install --upgrade attention-course`, or in a clone `make setup`, brings it"
WITHOUT_TORCH = (
    "Python, numpy and matplotlib are here and new enough. PyTorch is not: lessons 00 "
    "to 06 need it only where something is trained, the others everywhere. `pip "
    "install 'attention-course[torch]'` brings it."
)


class NotReadyError(RuntimeError):
    """Something that the lessons need is missing or too old."""

    def _render_traceback_(self) -> list[str]:
        return [f"NotReadyError: {self}"]


def check_environment() -> str:
    """Return a sentence if all is there; raise ``NotReadyError`` with what is not.

    PyTorch may be missing, as whoever begins may have left it for later.

    >>> check_environment()
    'Python, numpy, matplotlib and torch are here and new enough.'
    """
    python = sys.version_info[:2]
    if python < MINIMUM_PYTHON:
        raise NotReadyError(
            f"This is Python {python[0]}.{python[1]}; the course needs "
            f"{MINIMUM_PYTHON[0]}.{MINIMUM_PYTHON[1]} or newer. Install one, and the "
            "course in it."
        )
    for name, minimum in MINIMUM_VERSIONS.items():
        _require(name, minimum)
    if torch is None:
        return WITHOUT_TORCH
    try:
        _require("torch", MINIMUM_TORCH)
    except NotReadyError as error:  # as in Colab: most works, and lesson 00 does
        return f"Python, numpy and matplotlib are here and new enough. But {error}"
    return f"Python, {', '.join(MINIMUM_VERSIONS)} and torch are here and new enough."


def _require(name: str, minimum: tuple[int, int]) -> None:
    try:
        installed = version(name)
    except PackageNotFoundError:
        raise NotReadyError(
            f"{name} is not installed in this Python: {MEND}. Then start the notebook "
            "with `attention-course`."
        ) from None
    numbers = re.findall(r"\d+", installed)  # 2.4rc1 has the numbers 2, 4 and 1
    if tuple(int(number) for number in numbers[:2]) < minimum:
        raise NotReadyError(
            f"{name} is {installed}; the course needs {minimum[0]}.{minimum[1]} or "
            f"newer: {MEND}."
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch on one thread, which is the fastest for a very small model.

    Afterwards it uses as many as before.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw with a seed, on one thread, and leave PyTorch as it was before."""
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
