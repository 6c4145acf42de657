"""The record of an experiment's full version: made by a command, read by a lesson.

A record is the file ``<name>.json`` beside the experiment's module, with one line per
seed. It says with which command, seeds and environment it was made, and how long that
took.
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
    """The result of an experiment's full version.

    experiment : its name
    command : what makes the record again
    environment : name to version, of what the numbers may depend on
    seconds : how long all runs took together
    runs : for each seed its numbers by name; under "seed" the seed
    """

    experiment: str
    command: str
    environment: dict[str, str]
    seconds: float
    runs: list[dict[str, Any]]

    def values(self, name: str) -> list[Any]:
        """Return the value of each run under a name."""
        return [run[name] for run in self.runs]

    def median(self, name: str) -> float:
        """Return the median over the runs of a number."""
        return float(median(self.values(name)))

    def made_with(self) -> str:
        """Return the environment as one line, for a lesson to print.

        >>> versions = {"python": "3.11.7", "numpy": "2.4.6", "torch": "2.13.0+cpu"}
        >>> machine = {"system": "Linux x86_64", "processors": "2"}
        >>> Record("recall", "", versions | machine, 1.5, []).made_with()
        'python 3.11.7, numpy 2.4.6, torch 2.13.0+cpu, Linux x86_64, 2 processors'
        """
        versions = dict(self.environment)
        machine = f"{versions.pop('system')}, {versions.pop('processors')} processors"
        return ", ".join([*map(" ".join, versions.items()), machine])

    def as_json(self) -> str:
        """Return the text of the record's file: a line for each run."""
        *head, (_, runs) = asdict(self).items()
        lines = [f"{_dumps(name)}: {_dumps(value)}," for name, value in head]
        lines += ['"runs": [', ",\n".join(map(_dumps, runs)), "]"]
        return "\n".join(["{", *lines, "}"]) + "\n"


def run_and_save(
    name: str, full: Callable[[int], dict[str, Any]], seeds: Sequence[int] = SEEDS
) -> Record:
    """Run an experiment's full version for each seed, and save its record.

    full : takes a seed, returns plain data (numbers, text, lists) by name
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
    unfinished = path(name).with_suffix(".part")
    unfinished.write_text(record.as_json(), encoding="utf-8")
    unfinished.replace(path(name))
    return record


def read(name: str) -> Record:
    """Load the record of an experiment.

    Raises ``FileNotFoundError``, which says how to make it, if there is none.
    """
    try:
        return Record(**json.loads(path(name).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"there is no record of {name}: make it with "
            f"`python -m course_lib.experiments {name}`"
        ) from None


def path(name: str) -> Path:
    """Return the path of the record of an experiment."""
    return FOLDER / f"{name}.json"


def environment() -> dict[str, str]:
    """Return the versions on which the numbers of an experiment may depend.

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


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
