"""Run a command as an ordinary user, from a test that runs as root.

Everything stays where it is; folders that only root may enter are replaced by empty
ones that hold no more than Python and the course.
"""

import os
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.submissions import COURSE

USER = 1000


def why_not() -> str:
    """Return why this cannot be done here; "" if it can."""
    if os.geteuid() != 0:
        return "the tests run as an ordinary user already"
    missing = [name for name in ("bwrap", "setpriv") if not shutil.which(name)]
    return f"needs {', '.join(missing)}" if missing else ""


def as_ordinary_user(
    command: Sequence[str],
    folder: Path,
    *,
    user: int = USER,
    group: int = USER,
    start: Path = COURSE.root,
) -> list[str]:
    """Return the command that runs another as an ordinary user.

    folder : for its temporary files; made its own
    user, group : their numbers
    start : the folder in which it runs
    """
    os.chown(folder, user, group)
    options = ["--dev-bind", "/", "/", *opened(folder)]
    for capability in ("CAP_SETUID", "CAP_SETGID"):
        options += ["--cap-add", capability]
    options += ["--setenv", "HOME", str(folder), "--setenv", "TMPDIR", str(folder)]
    person = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]
    return ["bwrap", *options, "--chdir", str(start), "--", *person, *command]


def opened(*folders: Path) -> list[str]:
    """Return the options that let everybody come to Python, the course and folders."""
    options = []
    needed = [Path(sys.base_prefix), Path(sys.prefix), COURSE.root, *folders]
    closed = sorted({above for path in needed if (above := _closed_above(path))})
    for above in closed:
        options += ["--perms", "0755", "--tmpfs", str(above)]
    for path in needed:
        if above := _closed_above(path):
            for between in reversed(path.relative_to(above).parents[:-1]):
                options += ["--perms", "0755", "--dir", str(above / between)]
            options += ["--bind", str(path), str(path)]
    return options


def _closed_above(path: Path) -> Path | None:
    """Return the outermost folder above a path that others may not enter."""
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None
