"""``python -m course_lib.experiments NAME``: run an experiment's full version."""

import argparse
import importlib

from course_lib.experiments import record

NO_EXPERIMENTS = {"__init__", "__main__", "record", "translation_tables"}


def names() -> list[str]:
    """Give the names of all experiments."""
    return sorted({path.stem for path in record.FOLDER.glob("*.py")} - NO_EXPERIMENTS)


def main() -> None:
    """Run what the command line names, and say where the result is."""
    parser = argparse.ArgumentParser(prog="python -m course_lib.experiments")
    parser.add_argument("name", choices=names(), help="which experiment")
    chosen = parser.parse_args().name
    experiment = importlib.import_module(f"course_lib.experiments.{chosen}")
    made = record.make(chosen, experiment.full)
    for run in made.runs:
        print({name: kept for name, kept in run.items() if not isinstance(kept, list)})
    print(f"Kept in {record.path(chosen)}, after {made.seconds} s.")


if __name__ == "__main__":
    main()
