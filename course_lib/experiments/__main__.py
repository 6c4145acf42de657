"""``python -m course_lib.experiments NAME``: run an experiment's full version."""

import argparse
import importlib

from course_lib.experiments import record

NO_EXPERIMENTS = {"__init__", "__main__", "record", "translation_tables"}


def names() -> list[str]:
    """Return the names of all experiments."""
    return sorted({path.stem for path in record.FOLDER.glob("*.py")} - NO_EXPERIMENTS)


def main() -> None:
    """Run the experiment that the command line names, and print where its record is."""
    parser = argparse.ArgumentParser(prog="python -m course_lib.experiments")
    parser.add_argument("name", choices=names(), help="which experiment")
    name = parser.parse_args().name
    experiment = importlib.import_module(f"course_lib.experiments.{name}")
    result = record.run_and_save(name, experiment.full)
    for run in result.runs:
        print({key: value for key, value in run.items() if not isinstance(value, list)})
    print(f"Saved in {record.path(name)}, after {result.seconds} s.")


if __name__ == "__main__":
    main()
