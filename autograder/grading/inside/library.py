"""Notice that an answer calls a library's function instead of computing by itself.

The functions go on working as they do; it is recorded that, and from which line, they
were called while an exercise was judged. This prevents silent use, no more.
"""

import functools
import linecache
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

COURSE = "course_lib."


class LibraryCalls:
    """The calls of watched functions during one judged call."""

    def __init__(self) -> None:
        """Start outside any judged call."""
        self.exercise = ""
        self.names: Mapping[str, Any] = {}
        self.calls: dict[str, str] = {}

    def begin(self, exercise: str, names: Mapping[str, Any]) -> None:
        """Watch for an exercise.

        names : those of the learner's cells
        """
        self.exercise, self.names, self.calls = exercise, names, {}

    def end(self) -> list[tuple[str, str]]:
        """Stop watching; return each function that was called, with the line."""
        self.exercise = ""
        return sorted(self.calls.items())

    def add(self, function: str) -> None:
        """Record a call, with the innermost line of the learner's cells."""
        if not self.exercise:
            return
        frame = sys._getframe(2)
        while frame is not None and frame.f_globals is not self.names:
            frame = frame.f_back  # type: ignore[assignment]
        line = ""
        if frame is not None:
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        self.calls.setdefault(function, line[:500])


def watch(functions: Mapping[str, Sequence[str]]) -> LibraryCalls:
    """Watch functions, named with dots.

    functions : for each exercise the names of those that would answer it; the
        course's own are watched whatever exercise is judged
    """
    library_calls = LibraryCalls()
    exercises: dict[str, set[str]] = {}
    for exercise, names in functions.items():
        for name in names:
            exercises.setdefault(name, set()).add(exercise)
    for name, answered in exercises.items():
        _watch(name, None if name.startswith(COURSE) else answered, library_calls)
    return library_calls


def is_watch(names: Mapping[str, Any]) -> bool:
    """Return whether a function with these globals is a watch, not an answer."""
    return names is globals()


def _watch(name: str, exercises: set[str] | None, library_calls: LibraryCalls) -> None:
    holder, last = _holder(name)
    target = getattr(holder, last, None)
    if isinstance(target, type):  # a layer of torch's: its work is done in forward
        holder, last = target, "forward"
        target = getattr(holder, last, None)
    if target is not None:
        watched = _watched(name, target, exercises, library_calls)
        setattr(holder, last, watched)
        if name.startswith(COURSE):
            _replace_where_imported(target, watched)


def _replace_where_imported(function: Any, watched: Any) -> None:
    """Replace the function in modules of the course that have imported it, too."""
    for module in [m for name, m in sys.modules.items() if name.startswith(COURSE)]:
        for name, value in list(vars(module).items()):
            if value is function:
                setattr(module, name, watched)


def _holder(name: str) -> tuple[Any, str]:
    """Return the module or class that holds a function, and the name there."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        holder: Any = sys.modules.get(".".join(parts[:length]))
        if holder is not None:
            for part in parts[length:-1]:
                holder = getattr(holder, part, None)
            return holder, parts[-1]
    return None, parts[-1]


def _watched(
    name: str,
    function: Callable[..., Any],
    exercises: set[str] | None,
    library_calls: LibraryCalls,
) -> Callable[..., Any]:
    @functools.wraps(function)
    def watched(*arguments: Any, **keywords: Any) -> Any:
        if exercises is None or library_calls.exercise in exercises:
            library_calls.add(name)
        return function(*arguments, **keywords)

    del watched.__wrapped__  # it would bypass the watch
    return watched
