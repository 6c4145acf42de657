"""Print the kill matrix for a reader at a terminal; ``matrix`` computes it."""

from rich.console import Console
from rich.table import Table

from autograder.matrix import ExerciseMatrix


def print_matrix(rows: list[ExerciseMatrix]) -> None:
    """Print a table per exercise and one line for all."""
    console = Console()
    for row in rows:
        table = Table(title=f"{row.name} · {row.lesson} · {row.points:g} points")
        table.add_column("misconception")
        for place, case in enumerate(row.cases, 1):
            table.add_column(f"{place}{'' if case.visible else '*'}", justify="center")
        table.add_column("named")
        for kept in row.misconceptions:
            marks = ["✗" if c.name in kept.caught_by else "·" for c in row.cases]
            named = "visible" if kept.diagnosed_visible else "hidden only"
            table.add_row(kept.name, *marks, named if kept.diagnosed else "no")
        console.print(table)
        for place, case in enumerate(row.cases, 1):
            console.print(f"  {place}{'' if case.visible else '*'} {case.name}")
        console.print()
    wrong = [kept for row in rows for kept in row.misconceptions]
    console.print(
        f"{len(rows)} exercises, {sum(len(row.cases) for row in rows)} cases (* hidden)"
        f", {len(wrong)} misconceptions: {sum(bool(k.caught_by) for k in wrong)} caught"
        f", {sum(k.diagnosed_visible for k in wrong)} named from the visible cases, "
        f"{sum(k.diagnosed for k in wrong)} from all, "
        f"{sum(k.usual_form for k in wrong)} of the usual form"
    )
