"""Run a call of a command as on Windows: without POSIX's modules, alarms and numbers.

    python as_windows.py autograder.commands.app progress

Other packages are imported before: they ask for the system at import, and have ways of
their own there.
"""

import importlib.util
import sys
from pathlib import Path

GRAMMARS = Path(__file__).parents[2] / "autograder" / "grammars.py"
spec = importlib.util.spec_from_file_location("grammars", GRAMMARS)
grammars = importlib.util.module_from_spec(spec)
spec.loader.exec_module(grammars)
grammars.compile_when_asked()  # before nbformat; nothing of the course is imported yet

# ruff: noqa: E402
import asyncio
import concurrent.futures.process
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import tempfile

import jinja2
import jupyter_core.paths
import nbclient
import nbformat
import nbgrader.apps
import numpy as np
import rich.console
import rich.progress
import typer.rich_utils

OTHERS = (asyncio, concurrent, multiprocessing, sqlite3, subprocess, tempfile, jinja2)
OTHERS += (jupyter_core, nbclient, nbformat, nbgrader, np, rich, typer)
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty")
OF_OS = ("geteuid", "getuid", "getegid", "getgid", "fork", "killpg", "setsid", "mkfifo")
OF_SIGNAL = ("setitimer", "getitimer", "alarm", "SIGALRM", "SIGKILL", "ITIMER_REAL")


def main() -> None:
    """Remove what Windows lacks, then call the command."""
    for name in MODULES:
        sys.modules[name] = None
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names:
            delattr(module, name)
    sys.platform = "win32"
    command = importlib.import_module(sys.argv[1])
    sys.argv = ["course", *sys.argv[2:]]
    command.run()


if __name__ == "__main__":  # the docstrings' examples import every module
    main()
