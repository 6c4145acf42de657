"""``python -m course_lib.corpora``: download the data that is missing, once.

With ``--table`` it also prints what there is: sources, licences, pairs, tokens, types
and twenty pairs drawn at random.
"""

import sys
from collections.abc import Sequence

from rich.console import Console

from course_lib.corpora.datasets import DATASETS
from course_lib.corpora.download import COMMAND, DataError, folder, prepare
from course_lib.corpora.summary import datasets_table, pairs_table, samples_table

TABLE = "--table"


def main(arguments: Sequence[str]) -> None:
    """Download what is missing; an error is one sentence on stderr and exit code 1."""
    if unknown := [each for each in arguments if each != TABLE]:
        sys.exit(f"unknown argument {unknown[0]!r}: there is {TABLE}, or nothing")
    console = Console()
    try:
        n_downloaded = prepare(console, DATASETS)
        if n_downloaded or arguments:
            console.print(datasets_table(), pairs_table())
        if arguments:
            console.print(samples_table())
    except DataError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(f"Interrupted: run `{COMMAND}` again; what is complete stays.")
    console.print(f"All data is in {folder()}; git ignores it.", soft_wrap=True)


if __name__ == "__main__":
    main(sys.argv[1:])
