"""``python -m course_lib.corpora``: get the data that is missing, once.

With ``--table`` it also says what there is: sources, licences, pairs, tokens, types and
twenty pairs drawn at random.
"""

import sys
from collections.abc import Sequence

from rich.console import Console

from course_lib.corpora import download as cache
from course_lib.corpora.datasets import SOURCES
from course_lib.corpora.download import COMMAND, DataFault, prepare
from course_lib.corpora.summary import pairs_table, samples_table, sources_table

TABLE = "--table"


def main(arguments: Sequence[str]) -> None:
    """Get what is missing; a fault is one sentence on stderr and exit code 1."""
    if unknown := [each for each in arguments if each != TABLE]:
        sys.exit(f"unknown argument {unknown[0]!r}: there is {TABLE}, or nothing")
    console = Console()
    try:
        got = prepare(console, SOURCES)
        if got or arguments:
            console.print(sources_table(), pairs_table())
        if arguments:
            console.print(samples_table())
    except DataFault as fault:
        sys.exit(str(fault))
    except KeyboardInterrupt:
        sys.exit(f"Interrupted: run `{COMMAND}` again; what came whole is kept.")
    console.print(
        f"All data is in {cache.folder()}; git leaves it alone.", soft_wrap=True
    )


if __name__ == "__main__":
    main(sys.argv[1:])
