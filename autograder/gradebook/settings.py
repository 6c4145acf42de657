"""What nbgrader's configuration says about the gradebook, read only if it says so.

nbgrader looks for ``nbgrader_config.py`` and ``.json`` in Jupyter's folders for
settings and in the course's, which has the last word.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course import Course, CourseError

if TYPE_CHECKING:
    from traitlets.config import Config

NAME = "nbgrader_config"
DATABASE = "gradebook.db"  # in the course's folder, where nothing else is configured
SQLITE = "sqlite:///"


def configured(course: Course, *words: str) -> "Config | None":
    """Give the configuration if one of its files has one of the words, else None.

    The files are programs. They need not run to find that they do not say a thing.
    """
    found = list(_files(course))
    if not any(word in text for _, text in found for word in words):
        return None
    from traitlets.config import Config

    config = Config()
    for path, _ in found:
        config.merge(_loaded(path))
    return config


def database_path(course: Course) -> Path:
    """Give where the gradebook is; raises ``CourseError`` if that is no SQLite file."""
    config = configured(course, "db_url")
    url = config.CourseDirectory.get("db_url", "") if config else ""
    if not url:
        return course.root / DATABASE
    name = str(url).removeprefix(SQLITE).partition("?")[0]
    if not str(url).startswith(SQLITE) or name in ("", ":memory:"):
        raise CourseError(
            f"{NAME}.py puts the gradebook at {str(url)!r}; only a file of SQLite's "
            f"can be filled: set c.CourseDirectory.db_url to {SQLITE}{DATABASE}, or "
            "take the line out"
        )
    return course.root / name


def course_id(course: Course) -> str:
    """Give the course's name in the gradebook, "" if it has none."""
    config = configured(course, "course_id")
    return str(config.CourseDirectory.get("course_id", "")).strip() if config else ""


def _files(course: Course) -> Iterator[tuple[Path, str]]:
    """Give the files that there are, with their texts; a later one has precedence."""
    from jupyter_core.paths import jupyter_config_path

    for folder in [*map(Path, reversed(jupyter_config_path())), course.root]:
        for path in (folder / f"{NAME}.py", folder / f"{NAME}.json"):
            try:
                yield path, path.read_text(encoding="utf-8")
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError) as error:
                if isinstance(error, PermissionError) and folder != course.root:
                    continue  # somebody else's settings, as after `sudo`
                raise CourseError(f"{path} cannot be read ({error})") from None


def _loaded(path: Path) -> "Config":
    from traitlets.config.loader import JSONFileConfigLoader, PyFileConfigLoader

    kind = PyFileConfigLoader if path.suffix == ".py" else JSONFileConfigLoader
    try:
        return kind(path.name, path=str(path.parent)).load_config()
    except Exception as error:  # a program: it can stop with anything
        raise CourseError(f"{path} stops with {in_a_line(error)}: correct it") from None


def in_a_line(error: Exception) -> str:
    """Say what somebody else's program stopped with, in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
