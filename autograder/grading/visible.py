"""What a submission sees of this machine's files, as options of bubblewrap.

Python, its packages and the system's libraries, read-only, and two folders of ours. A
prefix of Python's may be anybody's folder, even the course's own: only the parts that
Python has put there are shown. What is private and lies in a part that is shown
nevertheless is covered by an empty folder.
"""

import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, CourseError, private

SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec"),
    *("/usr/include", "/usr/share", "/usr/local/bin", "/usr/local/lib"),
    *("/usr/local/lib64", "/usr/local/share/fonts"),
    *("/lib", "/lib32", "/lib64", "/bin", "/sbin"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/fonts", "/etc/localtime"),
)
PREFIX = ("bin", "include", "lib", "lib32", "lib64", "libexec", "share", "pyvenv.cfg")
INSIDE, COURSE, PYTHON = "/engine", "/course", "/python"
PRIVATE = (
    *("submitted", "autograded", "feedback", "solutions", "notebooks", "build"),
    private.FOLDER,
    *("gradebook.db", "gradebook.seed"),
)
EXCHANGE = Path("/usr/local/share/nbgrader")  # nbgrader's own choice for it


@dataclass(frozen=True)
class _Bind:
    """A file or folder, and where a submission sees it."""

    source: Path
    target: Path

    def options(self, private: Iterable[Path]) -> list[str]:
        """Return the options that bind it, and cover what is private in it."""
        options = ["--ro-bind", str(self.source), str(self.target)]
        for path in private:
            if path.is_relative_to(self.source):
                covered = str(self.target / path.relative_to(self.source))
                options += (
                    ["--perms", "0755", "--tmpfs", covered]
                    if path.is_dir()
                    else ["--ro-bind", os.devnull, covered]
                )
        return options


def options(folder: Path, private: Iterable[Path]) -> list[str]:
    """Return the options.

    folder : with ``engine`` and ``course``
    private : files and folders of which nothing may be seen

    Raises ``CourseError`` if Python could not be seen without them.
    """
    private = _outermost(_real([*private, EXCHANGE]))
    result = ["--perms", "1777", "--tmpfs", "/tmp", "--perms", "0755", "--dir", "/etc"]
    made: set[Path] = {Path("/"), Path("/tmp"), Path("/etc")}
    binds: list[_Bind] = []
    for part, target in parts():
        result += _parents(target, made)
        made.add(target)
        if link := _link(part, target):
            result += ["--symlink", link, str(target)]
            continue
        bind = _Bind(part.resolve(), target)
        if not _is_shown(bind, binds, private):
            binds.append(bind)
            result += bind.options(private)
    _check(binds, private)
    for name, inside in (("engine", INSIDE), ("course", COURSE)):
        result += ["--ro-bind", str(folder / name), inside]
    covers = [result[i + 1] for i, word in enumerate(result) if word == "--tmpfs"]
    for cover in covers[1:]:  # all but /tmp; Python may be bound below one of them
        result += ["--remount-ro", cover]
    return result


def private_files(course: Course) -> list[Path]:
    """List what no submission may see, behind links, too."""
    return [course.root, *(course.root / name for name in PRIVATE)]


def python() -> str:
    """Return this Python's path as a submission sees it."""
    if sys.prefix == sys.base_prefix:
        return sys.executable
    return f"{PYTHON}/bin/{Path(sys.executable).name}"


def parts() -> list[tuple[Path, Path]]:
    """List what is shown, and where; what contains another part comes first."""
    prefixes = {sys.base_prefix: sys.base_prefix}
    executable = str(Path(sys.executable).resolve().parents[1])
    prefixes[executable] = executable
    # A virtual environment may be anywhere, even in /tmp.
    prefixes[sys.prefix] = sys.prefix if sys.prefix == sys.base_prefix else PYTHON
    parts = [(Path(path), Path(path)) for path in SYSTEM]
    parts += [
        (Path(prefix, part), Path(target, part))
        for prefix, target in sorted(prefixes.items())
        for part in PREFIX
    ]
    if sys.prefix == sys.base_prefix:
        packages = Path(sysconfig.get_path("purelib"))
        parts.append((packages, packages))
    return [(part, target) for part, target in parts if part.exists()]


def _link(part: Path, target: Path) -> str:
    """Return where a link points, if it points to the same where it is seen."""
    link = str(part.readlink()) if part.is_symlink() else ""
    stays = not link.startswith("/") and (part == target or "/" not in link)
    return link if stays else ""


def _is_shown(bind: _Bind, binds: Sequence[_Bind], private: Sequence[Path]) -> bool:
    """Return whether an earlier bind shows the same, and nothing covers it there."""
    return any(
        bind.target.is_relative_to(earlier.target)
        and bind.source == earlier.source / bind.target.relative_to(earlier.target)
        and not any(
            path.is_relative_to(earlier.source) and bind.source.is_relative_to(path)
            for path in private
        )
        for earlier in binds
    )


def _check(binds: Sequence[_Bind], private: Sequence[Path]) -> None:
    """Refuse a course that lies where Python's own files are."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    needed = [*_real(Path(sysconfig.get_path(name)) for name in names)]
    needed += [bind.source for bind in binds]
    for path in private:
        within = [bind for bind in binds if path.is_relative_to(bind.source)]
        below = [b.source for b in binds if b.source.is_relative_to(path)]
        below = [source for source in below if source != path]
        for each in needed if within else ():
            if each.is_relative_to(path) and not any(map(each.is_relative_to, below)):
                raise CourseError(
                    f"{path} has to be hidden from submissions, and holds {each}, "
                    "which Python needs: move the course to a folder of its own, or "
                    "use a Python that is elsewhere"
                )


def _outermost(paths: Iterable[Path]) -> list[Path]:
    outermost: list[Path] = []
    for path in sorted(paths):
        if not any(path.is_relative_to(other) for other in outermost):
            outermost.append(path)
    return outermost


def _real(paths: Iterable[Path]) -> set[Path]:
    return {path.resolve() for path in paths if path.exists()}


def _parents(path: Path, made: set[Path]) -> list[str]:
    """Return options that make the folders above a path, open to every user."""
    options = []
    for folder in reversed(path.parents):
        if folder not in made:
            options += ["--perms", "0755", "--dir", str(folder)]
            made.add(folder)
    return options
