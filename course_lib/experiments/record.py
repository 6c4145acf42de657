"""The kept result of an experiment's full version: made by a command, read by a lesson.

A record is the file ``<name>.json`` beside the experiment's module. It says with which
command, seeds and environment it was made, and how long that took.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).parent
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Record:
    """What came of an experiment's full version.

    experiment : its name
    command : what makes the record again
    environment : name to version, of what the numbers may depend on
    seconds : how long all runs took together
    runs : for each seed the numbers that it gave, by name; under "seed" the seed
    """

    experiment: str
    command: str
    environment: dict[str, str]
    seconds: float
    runs: list[dict[str, Any]]

    def values(self, name: str) -> list[Any]:
        """Give what each run gave under a name."""
        return [run[name] for run in self.runs]

    def median(self, name: str) -> float:
        """Give the median over the runs of a number."""
        return float(median(self.values(name)))


def make(
    name: str, full: Callable[[int], dict[str, Any]], seeds: Sequence[int] = SEEDS
) -> Record:
    """Run an experiment's full version for each seed, and keep what it gives.

    full : takes a seed, gives plain data (numbers, text, lists) by name
    """
    start = time.perf_counter()
    runs = []
    for seed in seeds:
        runs.append({"seed": seed} | full(seed))
        print(f"{name}, seed {seed}: {time.perf_counter() - start:.0f} s so far")
    record = Record(
        name,
        f"python -m course_lib.experiments {name}",
        environment(),
        round(time.perf_counter() - start, 1),
        runs,
    )
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n"
    unfinished = path(name).with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path(name))
    return record


def read(name: str) -> Record:
    """Give the kept result of an experiment; raises ``FileNotFoundError`` if none is.

    The message says which command makes it.
    """
    try:
        kept = json.loads(path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"no result of {name} is kept: make it with "
            f"`python -m course_lib.experiments {name}`"
        ) from None
    return Record(**kept)


def path(name: str) -> Path:
    """Give where the record of an experiment is."""
    return FOLDER / f"{name}.json"


def environment() -> dict[str, str]:
    """Say what the numbers of an experiment may depend on.

    >>> sorted(environment())
    ['numpy', 'processors', 'python', 'system', 'torch']
    """
    return {
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "torch": version("torch"),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }
