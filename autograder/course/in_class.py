"""Whether a course folder belongs to a class: only there are points shown.

Who learns alone has nobody to give points. What says that there is a class:

- the folder ``submitted/`` in the course folder, where submissions are collected;
- a course id of its own in ``nbgrader_config.py``, the course's or Jupyter's, or the
  exchange that is named there;
- a JupyterHub, which starts a server for each of several people;
- nbgrader, which runs the notebook.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CONFIG = "nbgrader_config.py"
OWN_ID = "attention"  # the course id before a class has given itself another one
COURSE_ID = re.compile(
    r"^[ \t]*c\.CourseDirectory\.course_id[ \t]*=(.+)$", re.MULTILINE
)
EXCHANGE = re.compile(r"^[ \t]*c\.Exchange\.root[ \t]*=", re.MULTILINE)

EVERYBODY = (
    Path(sys.prefix, "etc", "jupyter"),
    Path("/usr/local/etc/jupyter"),
    Path("/etc/jupyter"),
)


def in_class(root: Path | None) -> bool:
    """Return whether there is a class.

    root : the course folder, None if it is not known
    """
    if "NBGRADER_EXECUTION" in os.environ or "JUPYTERHUB_USER" in os.environ:
        return True
    if root and (root / "submitted").is_dir():
        return True
    return any(_names_a_class(text) for text in settings_texts(root))


def settings_texts(root: Path | None) -> Iterator[str]:
    """Yield nbgrader's configurations, as text: to run them may take seconds."""
    folders = [root] if root else []
    path = os.environ.get("JUPYTER_CONFIG_PATH", "")
    own = os.environ.get("JUPYTER_CONFIG_DIR") or Path.home() / ".jupyter"
    folders += [Path(each) for each in (*path.split(os.pathsep), own) if each]
    for folder in (*folders, *EVERYBODY):
        try:
            yield (folder / CONFIG).read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue


def _names_a_class(text: str) -> bool:
    other_ids = (match[1] for match in COURSE_ID.finditer(text))
    return bool(EXCHANGE.search(text)) or any(
        each.partition("#")[0].strip().strip("\"'") != OWN_ID for each in other_ids
    )
