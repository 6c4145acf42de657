"""What a computation costs on this machine: its time, its memory, how they grow.

What it costs on paper is counted by ``course_lib.costs``.
"""

import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from torch.profiler import ProfilerActivity, profile


def processor_seconds(
    f: Callable[[], object], n_repeats: int = 5, at_least: float = 0.02
) -> float:
    """Time a call in processor time, which other programs do not lengthen.

    f : is called once before the first measurement
    n_repeats : number of measurements, whose median counts
    at_least : seconds that each measurement takes; a fast call is repeated until then,
        and the mean of these calls is the measurement

    Returns the seconds of one call.
    """
    f()
    measured = []
    for _ in range(n_repeats):
        start, n_calls = time.process_time(), 0
        while not n_calls or time.process_time() - start < at_least:
            f()
            n_calls += 1
        measured.append((time.process_time() - start) / n_calls)
    return median(measured)


def numpy_peak(f: Callable[[], object]) -> int:
    """Return the most bytes that a call holds at once, of NumPy's arrays and others.

    What it is given counts if it was made in the call.

    >>> numpy_peak(lambda: np.ones(10**6).sum()) // 10**6
    8
    """
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        f()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def torch_peak(f: Callable[[], object]) -> int:
    """Return the most bytes that a call holds at once, of tensors on the CPU.

    >>> import torch
    >>> torch_peak(lambda: torch.ones(10**6).sum()) // 10**6
    4
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        with profile(
            activities=[ProfilerActivity.CPU], profile_memory=True
        ) as profiled:
            f()
        profiled.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    changes = [each for each in events if each.get("name") == "[memory]"]
    changes.sort(key=lambda each: each["ts"])
    held = np.cumsum([each["args"]["Bytes"] for each in changes])
    return int(held.max(initial=0))


def fitted_exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Fit y = a · x^b by least squares of the logarithms, and return b.

    >>> round(fitted_exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def crossover(
    x: Sequence[float], y: Sequence[float], other: Sequence[float]
) -> float | None:
    """Return the x from which y stays above the other, or None if it never is.

    x : increasing, as are both curves where it matters; between two of the x they are
        straight on logarithmic axes. If y is above everywhere, the first x.

    >>> crossover([1, 10, 100], [1, 100, 10_000], [10, 10, 10])
    3.1622776601683795
    """
    gaps = np.log(y) - np.log(other)
    if gaps[-1] <= 0:
        return None
    below = np.flatnonzero(gaps <= 0)
    if not below.size:
        return float(x[0])
    i = below[-1]
    share = -gaps[i] / (gaps[i + 1] - gaps[i])
    return float(np.exp(np.log(x[i]) + share * (np.log(x[i + 1]) - np.log(x[i]))))
