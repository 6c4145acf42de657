"""What nbgrader's configuration says about the gradebook, loaded only if it says so.

nbgrader looks for ``nbgrader_config.py`` and ``.json`` in Jupyter's folders for
settings and in the course's, which has the last word.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from autograder.course import Course, CourseError
from autograder.grading.budget import Budget
from autograder.grading.result import OptionalExercises

if TYPE_CHECKING:
    from traitlets.config import Config

NAME = "nbgrader_config"
DATABASE = "gradebook.db"  # in the course's folder, unless configured otherwise
SQLITE = "sqlite:///"
SECONDS = "seconds_per_submission"
OPTIONAL_EXERCISES = "optional_exercises"
CANVAS = "CanvasExportPlugin"
DEFAULT_EXCHANGE = Path("/usr/local/share/nbgrader/exchange")  # nbgrader's own


def database_path(course: Course) -> Path:
    """Return the gradebook's path.

    Raises ``CourseError`` if it is no SQLite file, or another course's.
    """
    config = load_config(course, "db_url")
    url = config.CourseDirectory.get("db_url", "") if config else ""
    if not url:
        return course.root / DATABASE
    name = str(url).removeprefix(SQLITE).partition("?")[0]
    if not str(url).startswith(SQLITE) or name in ("", ":memory:"):
        raise CourseError(
            f"{NAME}.py puts the gradebook at {str(url)!r}; it must be an SQLite file: "
            f"set c.CourseDirectory.db_url to {SQLITE}{DATABASE}, or take the line out"
        )
    path = course.root / name
    if path.parent.resolve() != course.root.resolve() and (
        path.with_name(f"{NAME}.py").is_file()
    ):
        raise CourseError(
            f"{NAME}.py puts the gradebook into the folder of another course, {path}: "
            "if this folder is a copy of that one, take its line "
            "c.CourseDirectory.db_url out; each course has a gradebook of its own"
        )
    return path


def course_id(course: Course) -> str:
    """Return the course's name in the gradebook, "" if it has none."""
    config = load_config(course, "course_id")
    return str(config.CourseDirectory.get("course_id", "")).strip() if config else ""


def seconds_per_submission(course: Course) -> float:
    """Return how long all of a submission may take; raises ``CourseError``."""
    config = load_config(course, SECONDS)
    value = config.AutogradeExporter.get(SECONDS) if config else None
    if value is None:
        return Budget.submission
    if type(value) not in (int, float) or not 1 <= value < float("inf"):
        raise CourseError(
            f"{NAME}.py sets c.AutogradeExporter.{SECONDS} to {value!r}; it must be a "
            "number of seconds, at least 1"
        )
    return float(value)


def optional_exercises(course: Course) -> OptionalExercises:
    """Return how optional exercises count; raises ``CourseError``."""
    config = load_config(course, OPTIONAL_EXERCISES)
    value = config.AutogradeExporter.get(OPTIONAL_EXERCISES) if config else None
    if value is None:
        return "extra"
    for each in get_args(OptionalExercises):
        if value == each:
            return each
    raise CourseError(
        f"{NAME}.py sets c.AutogradeExporter.{OPTIONAL_EXERCISES} to {value!r}; it "
        'must be "extra" (their points are added on top), "required" or "left out"'
    )


def canvas_course(course: Course) -> tuple[str, str]:
    """Return the address of Canvas and the course's number there; "" is not set."""
    config = load_config(course, CANVAS)
    values = config[CANVAS] if config else {}
    return str(values.get("address", "")), str(values.get("course", ""))


def exchange_folder(course: Course) -> Path | None:
    """Return nbgrader's exchange, None where none is set up or it is not there."""
    config = load_config(course, "Exchange.root")
    root = config.Exchange.get("root") if config else None
    path = Path(root) if isinstance(root, str) else DEFAULT_EXCHANGE
    return path if path.is_dir() else None


def load_config(course: Course, *words: str) -> "Config | None":
    """Load the configuration if one of its files has one of the words, else None.

    The files are programs: they do not run where their text has none of the words.
    """
    texts = dict(_texts(course))
    if not any(word in text for text in texts.values() for word in words):
        return None
    from traitlets.config import Config

    config = Config()
    for path in texts:
        config.merge(_load_file(path))
    return config


def _texts(course: Course) -> Iterator[tuple[Path, str]]:
    """Yield each file that exists, with its text; a later one has precedence."""
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
                raise CourseError(
                    f"{path} cannot be read ({error}): mend or remove it"
                ) from None


def _load_file(path: Path) -> "Config":
    from traitlets.config.loader import JSONFileConfigLoader, PyFileConfigLoader

    loader = PyFileConfigLoader if path.suffix == ".py" else JSONFileConfigLoader
    try:
        return loader(path.name, path=str(path.parent)).load_config()
    except Exception as error:  # a program can stop with anything
        raise CourseError(
            f"{path} stops with {in_one_line(error)}: correct it"
        ) from None


def in_one_line(error: Exception) -> str:
    """Return in one line what somebody else's program stopped with."""
    return " ".join(f"{type(error).__name__}: {error}".split())
