"""What nbgrader's configuration says about the gradebook, read only if it says so.

nbgrader looks for ``nbgrader_config.py`` and ``.json`` in Jupyter's folders for
settings and in the course's, which has the last word.
"""

import math
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import Course, CourseError
from autograder.startup import skip_address_parser

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


CONFIGURES = ("LateSubmissionPlugin", "AssignLatePenalties")


class Penalties:
    """Says what a late submission costs."""

    def __init__(self, course: Course) -> None:
        """Take the course; its configuration is read when it is needed."""
        self._course = course

    def of(self, student: str, score: float, seconds_late: float) -> float | None:
        """Give the points to take off, from 0 to the score; None for no penalty."""
        if self.plugin is None:
            return None
        try:
            found = self.plugin.late_submission_penalty(student, score, seconds_late)
            if found is None:
                return None
            penalty = float(found)
            if math.isnan(penalty):
                raise ValueError("the penalty is no number")
        except Exception as error:  # anybody's program
            raise self._fault(error) from None
        # nbgrader's order: it matters where extra credit has made the score negative
        return 0.0 if penalty < 0 else min(penalty, score)

    @cached_property
    def plugin(self) -> Any:
        """The plugin, None if none is configured."""
        config = configured(self._course, *CONFIGURES)
        if config is None:
            return None
        skip_address_parser()
        here = str(self._course.root)
        sys.path.insert(0, here)  # where nbgrader, too, looks for the plugin's module
        try:
            from nbgrader.preprocessors import AssignLatePenalties

            preprocessor = AssignLatePenalties(config=config)
            preprocessor.init_plugin()
            return preprocessor.plugin_inst
        except Exception as error:  # whatever its module does at import
            raise self._fault(error) from None
        finally:
            sys.path.remove(here)

    def _fault(self, error: Exception) -> CourseError:
        return CourseError(
            "the plugin for late submissions that nbgrader_config.py names stops with "
            f"{in_a_line(error)}: correct it; nothing in the gradebook was changed"
        )


# MERGED autograder.gradebook.penalties: Points taken off for handing in late, as nbgrader's plugin says.
#
#   nbgrader is imported only where a course has configured one: without, it takes nothing.
#
