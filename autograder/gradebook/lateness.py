"""When something was handed in, how late that is, and what it costs.

All times are UTC without saying so, as nbgrader stores them. What a late submission
costs is decided by nbgrader's plugin, which is imported only where a course has
configured one: without, it costs nothing.
"""

import math
import re
import sys
import warnings
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from autograder.course import Course, CourseError
from autograder.gradebook.settings import in_one_line, load_config

MAX_TIMESTAMP = 64  # characters
USUAL = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{6})?)(?: UTC)?", re.ASCII)
EPOCH = datetime(1970, 1, 1)  # from which SQLAlchemy counts what it writes of durations
EARLIEST = datetime(2000, 1, 1)  # the course is younger
MAX_AHEAD = timedelta(days=1)  # of this machine's clock: others' may be wrong
NO_TIME = (
    "{}: the time of {} (timestamp.txt) is no date and time between 2000 and tomorrow, "
    "and is ignored; whether it is late is not known"
)
TWO_DAYS = (datetime(2000, 1, 1), datetime(2001, 2, 2))
CONFIGURES_PENALTIES = ("LateSubmissionPlugin", "AssignLatePenalties")
LATE_POLICY = "autograder.gradebook.late_policy.LatePolicy"  # says nothing by itself


def parse_timestamp(text: str) -> datetime | None:
    """Return the time that ``timestamp.txt`` says, as nbgrader's ``parse_utc`` does.

    None if it says none. Unlike there, these are none, too: a text that names no whole
    day (with today's date for what is missing, the same submission would be late on one
    day and not on another), a zone that nobody knows, and a time at which nothing can
    have been handed in.

    >>> parse_timestamp("2026-03-01T12:00:00+01:00")
    datetime.datetime(2026, 3, 1, 11, 0)
    >>> parse_timestamp("yesterday")
    """
    text = text.strip()
    if not text or len(text) > MAX_TIMESTAMP:
        return None
    try:
        if usual := USUAL.fullmatch(text):
            moment: datetime | None = datetime.fromisoformat(usual[1])
        else:
            moment = _parse_with_dateutil(text)
    except Exception:  # dateutil raises all sorts of things over untrusted text
        return None
    latest = datetime.now(UTC).replace(tzinfo=None) + MAX_AHEAD
    return moment if moment and EARLIEST <= moment <= latest else None


def _parse_with_dateutil(text: str) -> datetime | None:
    import dateutil.parser  # type: ignore[import-untyped]  # it comes without types
    import dateutil.tz  # type: ignore[import-untyped]  # the same

    zone: object = None
    parts = text.split(" ")
    if len(parts) == 3:
        text, name = f"{parts[0]} {parts[1]} TZ", parts[2]
        if re.fullmatch(r"[+-]?\d+", name):
            zone = int(name)  # seconds, whatever was meant: formgrader compares
        elif name[0].isalpha() and ".." not in name:  # it would open any file
            zone = dateutil.tz.gettz(name)
        if zone is None:
            return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zones that it does not know
        one, other = (
            dateutil.parser.parse(text, tzinfos={"TZ": zone}, default=day)
            for day in TWO_DAYS
        )
    if one != other:
        return None
    shift = one.utcoffset()
    return one if shift is None else (one - shift).replace(tzinfo=None)


def format_for_sqlite(moment: datetime) -> str:
    """Return a time as SQLAlchemy writes it into SQLite."""
    return moment.isoformat(" ", "microseconds")


def format_extension(seconds: float) -> str:
    """Return a duration as SQLAlchemy writes it into SQLite."""
    return format_for_sqlite(EPOCH + timedelta(seconds=seconds))


def parse_extension(extension: str | None) -> timedelta:
    """Return the duration that the database has; none is a duration of 0."""
    return datetime.fromisoformat(extension) - EPOCH if extension else timedelta()


def seconds_late(
    handed_in: str | None, due: str | None, extension: str | None
) -> float:
    """Return how much too late something is, from the texts in the database."""
    if not handed_in or not due:
        return 0.0
    longer = parse_extension(extension)
    late = datetime.fromisoformat(handed_in) - datetime.fromisoformat(due) - longer
    return max(0.0, late.total_seconds())


class LatePenalties:
    """What late submissions cost in a course."""

    def __init__(self, course: Course) -> None:
        """Keep the course; its configuration is read when it is needed."""
        self._course = course

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """Return the points to take off, from 0 to the score; None for no penalty."""
        if self.plugin is None:
            return None
        try:
            answer = self.plugin.late_submission_penalty(student, score, seconds_late)
            if answer is None:
                return None
            penalty = float(answer)
            if math.isnan(penalty):
                raise ValueError("the penalty is no number")
        except Exception as error:  # a plugin is anybody's program
            raise self._fault(error) from None
        # nbgrader's order: it matters where extra credit has made the score negative
        return 0.0 if penalty < 0 else min(penalty, score)

    @property
    def rule(self) -> str:
        """The course's rule in words; "" if its plugin says none."""
        return str(getattr(self.plugin, "in_words", ""))

    @cached_property
    def plugin(self) -> Any:
        """The plugin, None if none is configured."""
        config = load_config(self._course, *CONFIGURES_PENALTIES)
        if config is None or (
            config.AssignLatePenalties.get("plugin_class") == LATE_POLICY
            and not config.LatePolicy.get("late")
            and "LateSubmissionPlugin" not in config.keys()
        ):
            return None
        root = str(self._course.root)
        sys.path.insert(0, root)  # where nbgrader, too, looks for the plugin's module
        try:
            from nbgrader.preprocessors import AssignLatePenalties

            preprocessor = AssignLatePenalties(config=config)
            preprocessor.init_plugin()
            return preprocessor.plugin_inst
        except CourseError:
            raise
        except Exception as error:  # whatever its module does at import
            raise self._fault(error) from None
        finally:
            sys.path.remove(root)

    def _fault(self, error: Exception) -> CourseError:
        return CourseError(
            "the plugin for late submissions that nbgrader_config.py names stops with "
            f"{in_one_line(error)}: correct it, or take its line out; nothing in the "
            "gradebook was changed"
        )
