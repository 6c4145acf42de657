"""What the commands print: through here, so that it does nothing to a terminal.

Students choose the names of folders and files, what their cells print and raise, and
much of what is said about that. In a terminal, some of it could set the window's title
or the clipboard, move the cursor over other lines, or turn their direction.
"""

import io
import sys

from autograder.gradebook.safe_html import visible

MAX_LINE = 4000  # characters


def print_any_text() -> None:
    """Let prints replace what the output's encoding lacks, instead of stopping.

    That is cp1252 where a command is piped or redirected on Windows.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str, *, flush: bool = False) -> None:
    """Print on stdout."""
    print(harmless(text), flush=flush)


def warn(text: str) -> None:
    """Print on stderr."""
    print(harmless(text), file=sys.stderr)


def harmless(text: str) -> str:
    """Return untrusted text as lines that a terminal shows as they are."""
    lines = visible(text).split("\n")
    return "\n".join(
        line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…" for line in lines
    )
