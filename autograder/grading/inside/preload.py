"""Load PyTorch's libraries in a thread, while Python imports other modules.

That takes a quarter of a second of another processor. The thread has to end before
the first fork.
"""

import ctypes
import gc
import threading
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = ("libtorch_cpu.so", "libtorch_python.so")


def begin() -> threading.Thread:
    """Begin; nothing is collected from now on, for hardly anything could be."""
    gc.disable()
    thread = threading.Thread(target=_load)
    thread.start()
    return thread


def _load() -> None:
    spec = find_spec("torch")
    folder = Path(spec.origin).parent / "lib" if spec and spec.origin else Path()
    for name in LIBRARIES:
        try:
            ctypes.CDLL(str(folder / name))
        except OSError:  # ``import torch`` says what is wrong
            return
