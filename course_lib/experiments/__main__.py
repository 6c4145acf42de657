"""``python -m course_lib.experiments NAME``: run an experiment's full version.

Some consist of parts that take minutes each: ``--part PART --seed SEED`` runs one of
them, and the full version then uses what is there.
"""

import argparse
import importlib

from course_lib.experiments import record

NO_EXPERIMENTS = {"__init__", "__main__", "record", "translation_tables"}


def names() -> list[str]:
    """Return the names of all experiments."""
    return sorted({path.stem for path in record.FOLDER.glob("*.py")} - NO_EXPERIMENTS)


def seeds_of(name: str) -> tuple[int, ...]:
    """Return the seeds of an experiment's record: three, unless its module says so.

    >>> seeds_of("pronouns")
    (0,)
    """
    experiment = importlib.import_module(f"course_lib.experiments.{name}")
    seeds: tuple[int, ...] = getattr(experiment, "SEEDS", record.SEEDS)
    return seeds


def main() -> None:
    """Run the experiment that the command line names, and print where its record is."""
    parser = argparse.ArgumentParser(prog="python -m course_lib.experiments")
    parser.add_argument("name", choices=names(), help="which experiment")
    parser.add_argument("--part", help="run only this part of it")
    parser.add_argument("--seed", type=int, default=0, help="of the part; 0")
    arguments = parser.parse_args()
    name, part = arguments.name, arguments.part
    experiment = importlib.import_module(f"course_lib.experiments.{name}")
    if part is not None:
        parts = getattr(experiment, "PARTS", ())
        if part not in parts:
            parser.error(
                f"{part!r} is no part of {name}: it has {', '.join(parts) or 'none'}"
            )
        print(experiment.run_part(part, arguments.seed))
        return
    result = record.run_and_save(name, experiment.full, seeds_of(name))
    for run in result.runs:
        print({key: value for key, value in run.items() if not isinstance(value, list)})
    print(f"Saved in {record.path(name)}, after {result.seconds} s.")


if __name__ == "__main__":
    main()
