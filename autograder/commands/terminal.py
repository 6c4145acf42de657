"""What the commands print: through here, so that it does nothing to a terminal.

Students choose the names of folders and files, what their cells print and raise, and
much of what is said about that. In a terminal, some of it could set the window's title
or the clipboard, move the cursor over other lines, or turn their direction.
"""

import platform
import sys
from collections.abc import Callable

from autograder.course import CourseError
from autograder.gradebook.safe_html import visible
from autograder.in_notebook.startup import print_anywhere
from autograder.messages.stopped import OF_TORCH

MAX_LINE = 4000  # characters
OURS = {"autograder", "course_lib"}
OF_UNIX = {"fcntl", "grp", "pwd", "resource", "termios"}
OF_GRADING = {
    *("jinja2", "jupytext", "markupsafe", "msgpack", "nbclient", "nbconvert"),
    *("nbgrader", "pybtex", "sqlalchemy"),
}


def run(app: Callable[[], None]) -> None:
    """Run a command line; a fault that its user can mend is one line, exit code 1."""
    print_anywhere()
    try:
        app()
    except CourseError as error:
        warn(str(error))
        raise SystemExit(1) from None
    except ModuleNotFoundError as error:
        if not (sentence := not_here(error.name or "")):
            raise
        warn(sentence)
        raise SystemExit(1) from None


def not_here(module: str) -> str:
    """Return what to do about a module that cannot be imported; "" if not known.

    >>> not_here("numpy")
    ''
    """
    package = module.partition(".")[0]
    if package in OF_UNIX:
        return (
            "Grading needs Linux, since it shuts submissions in there, and this is "
            f"{platform.system()}: call instructors' and authors' commands in WSL "
            "(`wsl --install`), in a container or on a server. Learners' commands work "
            "here: `attention-course`, `autograder lab`, `progress`, `update`, `reset`."
        )
    if package in OURS:
        return (
            "This is a class's edition, for learners: what instructors and authors "
            "call is not in it. Learners' commands are `attention-course`, "
            "`autograder lab`, `progress`, `update` and `reset`."
        )
    if package in OF_GRADING:
        return (
            f"{package} is not installed, which instructors' and authors' commands "
            "need: `pip install 'attention-course[grade]'`, and `[torch]` for the "
            "lessons from 07 on, in this environment"
        )
    if package in OF_TORCH:
        return (
            f"{package} is not installed: `attention-course torch` brings it. Then "
            "call again."
        )
    return ""


def say(text: str, *, flush: bool = False) -> None:
    """Print on stdout."""
    print(harmless(text), flush=flush)


def warn(text: str) -> None:
    """Print on stderr."""
    print(harmless(text), file=sys.stderr)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "student"), counted(0, "page")
    ('1 student', '0 pages')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def harmless(text: str) -> str:
    """Return untrusted text as lines that a terminal shows as they are."""
    lines = visible(text).split("\n")
    return "\n".join(
        line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…" for line in lines
    )
