"""PyTorch, which lessons 07 to 15 need: whether it is here, and the command for it.

Whoever begins has left it for later: it is larger than all the rest. What fits depends
on the machine (without an NVIDIA GPU on Linux, the build for CPUs spares two
gigabytes) and on the environment (one of uv's has no pip).

Nothing here imports PyTorch, or more than the standard library.
"""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = "attention-course[torch]"
BUILDS_FOR_CPUS = "https://download.pytorch.org/whl/cpu"
START_ANEW = f'uvx --torch-backend auto --from "{PACKAGES}" attention-course'
GO_ON = "Lessons 00 to 06 go on without it."
GIGABYTE = 10**9
ROOM = {
    True: 1.5,
    False: 8.0,
}  # gigabytes on the disk, without a GPU's libraries or with
LOAD = {True: 0.2, False: 3.0}


@dataclass(frozen=True)
class Advice:
    """What a learner without PyTorch is told.

    sentence : what is missing, and what to do
    command : what to type, "" if PyTorch cannot be had here
    here : whether ``install`` runs that command in this environment
    """

    sentence: str
    command: str = ""
    here: bool = False

    def _repr_json_(self) -> dict[str, object]:
        """Return what JupyterLab reads, which asks the kernel."""
        return asdict(self)


def is_here() -> bool:
    """Return whether this Python has PyTorch.

    >>> is_here()
    True
    """
    try:
        return importlib.util.find_spec("torch") is not None
    except (ImportError, ValueError):  # somebody's own finder, or half a module
        return False


def advice() -> Advice | None:
    """Return what to tell a learner, None if PyTorch is here."""
    if is_here():
        return None
    missing = "PyTorch is not installed here, and lessons 07 to 15 need it."
    if why := impossible():
        return Advice(f"{missing} {why} {GO_ON}")
    small = fits_cpu()
    if not has_pip():
        return Advice(
            f"{missing} This environment is uv's: end JupyterLab and start it with "
            "this command. Your answers stay.",
            START_ANEW,
        )
    size = f"{LOAD[small]:g} GB to load"
    if why := not_writable():
        return Advice(f"{missing} {why} {GO_ON}")
    return Advice(f"{missing} This command brings it ({size}).", command(), here=True)


def command() -> str:
    """Return the command for a terminal, or for a cell with ``%`` before it."""
    return " ".join(["pip", "install", *map(_quoted, _arguments())])


def install() -> int:
    """Install PyTorch into this environment; print what happens; return pip's status.

    What is half loaded when it is stopped is not installed: pip takes a package as a
    whole, and the next call begins where this one ended.
    """
    offer = advice()
    if offer is None:
        print("PyTorch is here.", flush=True)
        return 0
    if not offer.here:
        print(f"{offer.sentence}\n{offer.command}".strip(), flush=True)
        return 1
    small = fits_cpu()
    free = shutil.disk_usage(sys.prefix).free / GIGABYTE
    if free < ROOM[small]:
        print(
            f"PyTorch takes {ROOM[small]:g} GB, and {free:.1f} GB are free on the disk "
            f"of {sys.prefix}: make room, then call again. Nothing is half made.",
            flush=True,
        )
        return 1
    print(f"Loading about {LOAD[small]:g} GB: {offer.command}", flush=True)
    start = time.monotonic()
    try:
        status = _run([sys.executable, "-m", "pip", "install", *_arguments()])
    except KeyboardInterrupt:
        print("Stopped: PyTorch is not installed. Call again to go on.", flush=True)
        return 1
    importlib.invalidate_caches()
    seconds = round(time.monotonic() - start)
    if status or not is_here():
        print(
            "PyTorch could not be installed: pip's reason is above. Behind a company's "
            "proxy, pip needs its certificate (`pip config set global.cert FILE`); "
            f"without a network, call again later. {GO_ON}",
            flush=True,
        )
        return status or 1
    print(f"PyTorch is here, after {seconds} s.", flush=True)
    return 0


def impossible() -> str:
    """Return why there is no PyTorch for this machine or Python, "" if there is."""
    elsewhere = "Open the lesson in Colab, or read it in the book."
    if sys.maxsize < 2**32:
        return (
            f"It is not made for 32-bit Pythons, as this one is: install a 64-bit one. "
            f"{elsewhere}"
        )
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        return f"It is no longer made for Macs with a processor by Intel. {elsewhere}"
    return ""


def fits_cpu() -> bool:
    """Return whether PyTorch comes without a GPU's libraries, or can."""
    if sys.platform != "linux":
        return True  # there, what the index has is built for CPUs, or Apple's GPU
    return not (shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists())


def has_pip() -> bool:
    """Return whether pip can install into this environment."""
    try:  # to look for its module, setuptools would first replace distutils
        return bool(importlib.metadata.version("pip"))
    except importlib.metadata.PackageNotFoundError:
        return False


def not_writable() -> str:
    """Return why nothing can be installed here, and what to do; "" if it can."""
    folder = Path(sysconfig.get_path("purelib"))
    marked = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists()
    if os.access(folder, os.W_OK) and not (marked and sys.prefix == sys.base_prefix):
        return ""
    return (
        f"The environment {sys.prefix} is not yours to change: ask whoever looks after "
        "it, or make one of your own (`python -m venv mine`, then in it `pip install "
        f'"{PACKAGES}"`).'
    )


def _run(line: list[str]) -> int:
    """Run a command; in a notebook its lines are printed here, as they come."""
    if sys.stdout.isatty():  # pip draws how far it is
        return subprocess.run(line, check=False).returncode
    with subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for row in process.stdout:
            print(row, end="", flush=True)
    return process.returncode


def _arguments() -> list[str]:
    extra = sys.platform == "linux" and fits_cpu()
    return [PACKAGES, *(["--extra-index-url", BUILDS_FOR_CPUS] if extra else [])]


def _quoted(argument: str) -> str:
    return f'"{argument}"' if "[" in argument else argument
