"""Print what each form got before and gets now: ``python -m tests.textbook [WORD …]``.

Of forms whose exercise or source has one of the words, or of all.
"""

import sys

from rich.console import Console
from rich.table import Table

from tests.textbook import all_forms, result_of, verdict


def main(words: list[str]) -> None:
    """Print the table: exercise, form, before, now, and whether that is as expected."""
    table = Table("exercise", "form", "before", "now", "points", "as it should be")
    for form in all_forms():
        if words and not any(word in form.name for word in words):
            continue
        result = result_of(form)
        now = verdict(result)
        table.add_row(
            form.exercise,
            f"{form.source}: {form.function.__name__}",
            form.before,
            now,
            f"{result.points:g} of {result.max_points:g}",
            "yes" if now == form.expected else f"no: {form.expected}",
        )
    Console(width=None if sys.stdout.isatty() else 200).print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
