"""How far a training is, as one line that changes; without a terminal, nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from course_lib.nn.training import Training

LAST = 50  # updates whose mean is shown


@contextmanager
def progress(
    training: Training, console: Console | None = None
) -> Iterator[Callable[[], None]]:
    """Show updates made, the loss, updates per second and the time left.

    console : where; stderr if None

    Gives a function to be called after each update. In a process that does not lead,
    and where nobody sees the line, it does nothing.
    """
    console = console or Console(stderr=True)
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.3f}"),
        TextColumn("{task.fields[speed]:.1f}/s"),
        TimeRemainingColumn(),
        console=console,
        disable=not (console.is_terminal and training.team.leads),
    )
    recipe = training.recipe
    task = bar.add_task(
        "training", total=recipe.steps, completed=training.step, loss=0.0, speed=0.0
    )

    def show() -> None:
        last = training.losses[-LAST:]
        speed = bar.tasks[0].speed or 0.0
        loss = sum(last) / len(last)
        bar.update(task, completed=training.step, loss=loss, speed=speed)

    with bar:
        yield show
