"""Open the learner's copies in JupyterLab: what ``make lab`` runs.

The settings are in ``autograder/jupyter``: nbgrader's Validate button stays, its pages
for instructors go, and nothing is fetched. Nothing is written to the user's own
settings.
"""

import os
from pathlib import Path

from autograder.course import CourseError
from autograder.startup import skip_address_parser
from autograder.workspace.copies import WORK, built_lessons, open_workspace

SETTINGS = Path(__file__).with_name("jupyter")


def find_lesson(root: Path, name: str) -> str:
    """Give the lesson that a name means: the whole name or its beginning.

    root : the course folder
    name : ``01`` or ``01_dot_product_attention``; the first lesson if empty

    Raises ``CourseError`` if there is no such lesson, or no lesson at all.
    """
    lessons = built_lessons(root)
    if not lessons:
        raise CourseError(
            "there is no lesson in notebooks/ yet: run `make build`, then call again"
        )
    found = [lesson for lesson in lessons if lesson.startswith(name or lessons[0])]
    if name in lessons:
        return name
    if len(found) != 1:
        raise CourseError(f"no lesson named {name!r}; there are: {', '.join(lessons)}")
    return found[0]


def open_lab(root: Path, lesson: str, port: int, browser: bool) -> None:
    """Give the learner copies of all lessons and serve them until interrupted.

    root : the course folder
    lesson : the lesson to open
    port : where to listen; Jupyter takes a port above it where that one is in use
    browser : whether to open the learner's browser
    """
    lesson = find_lesson(root, lesson)
    for copied in open_workspace(root):
        print(f"{copied}: your copy is in {WORK}/{copied}", flush=True)
    print(f"Opening {lesson} in JupyterLab. Ctrl-C twice here ends it.", flush=True)
    os.chdir(root)  # nbgrader reads its configuration from the current folder
    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    skip_address_parser()
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(server_arguments(root, lesson, port, browser))


def server_arguments(root: Path, lesson: str, port: int, browser: bool) -> list[str]:
    """Give the arguments for JupyterLab's server."""
    arguments = [
        f"--ServerApp.root_dir={root / WORK}",
        f"--LabApp.default_url=/lab/tree/{lesson}/{lesson}.ipynb",
        # Which tabs are open is remembered here, apart from the user's other work.
        f"--LabApp.workspaces_dir={root / WORK / '.tabs'}",
        f"--ServerApp.port={port}",
        "--log-level=ERROR",
    ]
    if not browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments
