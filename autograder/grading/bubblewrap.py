"""The command that shuts the warm parent in: bubblewrap, with Python and little else.

Inside there are Python, its packages, the system's libraries and two folders of ours,
all read-only; no network, no other process, no home, no course.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt/conda")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/fonts", "/etc/localtime")
INSIDE, COURSE, PYTHON = "/engine", "/course", "/python"
START = (
    "import sys; sys.path[:0] = [{engine!r}, {course!r}]; "
    "from inside import parent; parent.main()"
)
ONE_THREAD = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
)


def command(folder: Path, arguments: Sequence[str], isolated: bool) -> list[str]:
    """Give the command that starts the warm parent.

    folder : with ``engine`` and ``course``
    isolated : False gives Python alone, for ``--no-sandbox``
    """
    engine, course = (
        (INSIDE, COURSE)
        if isolated
        else (str(folder / "engine"), str(folder / "course"))
    )
    start = START.format(engine=engine, course=course)
    # As -I, but for -E: the seed of hashes comes from the environment, which is ours.
    own = _in_an_environment() and isolated
    executable = f"{PYTHON}/bin/{Path(sys.executable).name}" if own else sys.executable
    python = [executable, "-P", "-s", "-B", "-c", start, *arguments]
    if not isolated:
        return python
    found = shutil.which("bwrap")
    if not found:
        raise FileNotFoundError("bwrap: there is no such program")
    return [found, *_options(folder), "--", *python]


def environment(folder: Path) -> dict[str, str]:
    """Give what a submission finds in its environment."""
    return {
        "HOME": "/tmp/home",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "IPYTHONDIR": "/tmp/ipython",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(ONE_THREAD, "1"),
    }


def refusal(why: str) -> str:
    """Say that there is no sandbox here, why, and what one can do."""
    asked = why.splitlines()[-1] if why else "no reason was given"
    if "there is no such program" in why:
        do = "install the package bubblewrap (`apt-get install bubblewrap`)"
    else:
        do = (
            "user namespaces must be allowed (sysctl user.max_user_namespaces above 0; "
            "kernel.unprivileged_userns_clone=1 and "
            "kernel.apparmor_restrict_unprivileged_userns=0 where the system has them; "
            "in a container, run it with --security-opt seccomp=unconfined)"
        )
    return (
        f"submissions cannot be shut in on this machine ({asked}): {do}. With "
        "--no-sandbox they are graded all the same, and can then do whatever you can: "
        "read and change the gradebook, other submissions and your files"
    )


def _options(folder: Path) -> list[str]:
    options = [
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"),
        *("--hostname", "sandbox"),
    ]
    if os.geteuid() == 0:  # each child becomes a user of its own, and is ended by root
        options += ["--cap-drop", "ALL"]
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_KILL"):
            options += ["--cap-add", capability]
    else:
        options += ["--unshare-user", "--cap-drop", "ALL"]
    for name, value in environment(folder).items():
        options += ["--setenv", name, value]
    options += _tree(folder)
    options += ["--proc", "/proc", "--dev", "/dev"]
    # For an ordinary user's children: what one of them wrote another could read.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    return options


def _tree(folder: Path) -> list[str]:
    """Bind what is needed; what a link at the top means is made again as a link."""
    options = ["--perms", "1777", "--tmpfs", "/tmp"]
    shown = [Path(place) for place in SYSTEM if Path(place).exists()]
    shown += [Path(place) for place in SYSTEM_FILES if Path(place).exists()]
    made: set[Path] = {Path("/"), Path("/tmp"), Path("/etc")}
    options += ["--perms", "0755", "--dir", "/etc"]
    for place in shown:
        if place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        else:
            options += ["--ro-bind", str(place), str(place)]
        made.add(place)
    if _in_an_environment():  # where the course is, and whether in /tmp, matters not
        options += ["--ro-bind", sys.prefix, PYTHON]
    for place in _python():
        options += [*_parents(place, made), "--ro-bind", str(place), str(place)]
        made.add(place)
    for name, inside in (("engine", INSIDE), ("course", COURSE)):
        options += ["--ro-bind", str(folder / name), inside]
    return options


def _in_an_environment() -> bool:
    """Say whether this Python runs in a virtual environment."""
    return sys.prefix != sys.base_prefix


def _python() -> list[Path]:
    """Folders of this Python and of its packages, outermost first, none twice."""
    paths = {sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    if not _in_an_environment():
        paths |= {sys.prefix, sysconfig.get_path("purelib")}
    places = sorted(Path(path) for path in paths)
    covered = [Path(place) for place in SYSTEM]
    kept: list[Path] = []
    for place in places:
        if not any(place.is_relative_to(other) for other in covered + kept):
            kept.append(place)
    return kept


def _parents(place: Path, made: set[Path]) -> list[str]:
    """Make the folders above a place so that every user can pass through them."""
    options = []
    for folder in reversed(place.parents):
        if folder not in made:
            options += ["--perms", "0755", "--dir", str(folder)]
            made.add(folder)
    return options
