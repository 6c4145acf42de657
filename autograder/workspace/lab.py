"""Open the learner's copies in JupyterLab: what ``make lab`` runs.

The settings are in ``jupyter/`` beside this module: what a learner does not need goes
(nbgrader's pages and its Validate, the debugger, half of the toolbar), and nothing is
fetched. Nothing is written to the user's own settings. The buttons in the toolbar of a
lesson are in ``labextensions/``, as JupyterLab loads them: plain JavaScript, with
nothing to build.
"""

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path

from autograder.course import Course, write_atomically
from autograder.workspace.copies import (
    WORK,
    former_copies,
    older_copies,
    open_workspace,
)
from autograder.workspace.home import HOME, write_home
from autograder.workspace.page_progress import take_page_progress

MOST_NAMED = 3  # lessons: more than these are counted
TABS = ".tabs"
FIRST_TABS = "default-37a8"  # the server's name for JupyterLab's own workspace
SETTINGS = Path(__file__).with_name("jupyter")
EXTENSIONS = Path(__file__).with_name("labextensions")


# Where Jupyter, IPython and matplotlib write, if not into the home.
OF_HOME = (
    *("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"),
    *("IPYTHONDIR", "MPLCONFIGDIR"),
)
ADDRESS = "127.0.0.1"  # this machine alone


def open_lab(
    course: Course, lesson: str, port: int, browser: bool, address: str = ADDRESS
) -> None:
    """Copy the lessons that the learner lacks and serve them until interrupted.

    lesson : the lesson to open, "" for the learner's home
    port : where to listen; Jupyter takes a port above it where that one is in use
    browser : whether to open the learner's browser
    address : of the network that it listens on; another one than this machine's for
        containers
    """
    copied = open_workspace(course)
    if len(copied) > MOST_NAMED:
        print(f"Your copies of {len(copied)} lessons are in {WORK}/", flush=True)
    else:
        for name in copied:
            print(f"{name}: your copy is in {WORK}/{name}", flush=True)
    if older := older_copies(course):
        print(
            f"There is a newer version of {', '.join(older)}: `autograder update` "
            "brings it into your copies and keeps your answers.",
            flush=True,
        )
    for former, lessons in former_copies(course).items():
        print(
            f"{former} is called {' and '.join(lessons)} now: `autograder update` "
            "brings your answers there.",
            flush=True,
        )
    try:
        take_page_progress(course)
        write_home(course)
    except OSError as error:
        print(f"{WORK}/{HOME} could not be written ({error.strerror})", flush=True)
    close_old_tabs(course)
    close_sidebars(course)
    refresh_buttons()
    if folder := leave_home(course):
        print(
            f"Your home cannot be written: Jupyter's files are in {folder}", flush=True
        )
    what = lesson or "your home"
    print(f"Opening {what} in JupyterLab. Ctrl-C twice here ends it.", flush=True)
    os.chdir(course.root)  # nbgrader reads its configuration from the current folder
    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(server_arguments(course, lesson, port, browser, address))


def server_arguments(
    course: Course, lesson: str, port: int, browser: bool, address: str = ADDRESS
) -> list[str]:
    """Return the arguments for JupyterLab's server.

    lesson, port, browser, address : as for ``open_lab``
    """
    workspace = course.root / WORK
    first = f"{lesson}/{lesson}.ipynb" if lesson else HOME
    arguments = [
        f"--ServerApp.root_dir={workspace}",
        f"--LabApp.default_url=/lab/tree/{first}",
        # Which tabs are open is remembered here, apart from the user's other work.
        f"--LabApp.workspaces_dir={workspace / TABS}",
        f"--ServerApp.port={port}",
        "--log-level=ERROR",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
    ]
    if address != ADDRESS:
        arguments.append(f"--ServerApp.ip={address}")
    if not browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments


def leave_home(course: Course) -> Path | None:
    """Keep Jupyter's own files in ``work/`` where the learner's home cannot be written.

    Return the folder, None if the home can be.
    """
    with contextlib.suppress(RuntimeError):  # nobody says where the home is
        if os.access(Path.home(), os.W_OK):
            return None
    folder = course.root / WORK / ".jupyter"
    for name in OF_HOME:
        os.environ.setdefault(name, str(folder / name.lower()))
    return folder


def refresh_buttons(environment: Path | None = None) -> None:
    """Bring the buttons of an editable install up to date, for a plain `jupyter lab`.

    There they are a copy of what the clone had when it was installed. Where they cannot
    be written, or are not there, all is as it was: this command brings its own.

    environment : the folder of the Python in which they are, this one's if None
    """
    name = "attention-course"
    copy = (
        (environment or Path(sys.prefix)) / "share" / "jupyter" / "labextensions" / name
    )
    with contextlib.suppress(OSError):
        if copy.is_dir() and _files(copy) != _files(EXTENSIONS / name):
            shutil.copytree(EXTENSIONS / name, copy, dirs_exist_ok=True)


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def close_old_tabs(course: Course) -> None:
    """Forget which tabs were open: what is opened now is then the only one.

    Files that cannot be removed cost no more than old tabs.
    """
    for path in (course.root / WORK / TABS).glob("*.jupyterlab-workspace"):
        with contextlib.suppress(OSError):
            path.unlink()


def close_sidebars(course: Course) -> None:
    """Write down that the sidebars are closed: a fresh JupyterLab opens files.

    Where that cannot be written, the list of files is open.
    """
    closed = {"collapsed": True, "widgets": []}
    layout = {
        "main": None,
        "left": {**closed, "visible": True},
        "right": {**closed, "visible": False},
    }
    workspace = {
        "data": {"layout-restorer:data": layout},
        "metadata": {"id": "default"},
    }
    with contextlib.suppress(OSError):
        write_atomically(
            course.root / WORK / TABS / f"{FIRST_TABS}.jupyterlab-workspace",
            json.dumps(workspace),
        )
