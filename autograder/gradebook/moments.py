"""When something was handed in: texts from outside, and as nbgrader's database has it.

All moments are UTC without saying so, as nbgrader keeps them.
"""

import re
import warnings
from datetime import datetime, timedelta

LONGEST = 64  # characters of a moment's text
USUAL = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{6})?)(?: UTC)?", re.ASCII)
EPOCH = datetime(1970, 1, 1)  # from which SQLAlchemy counts what it writes of durations
TWO_DAYS = (datetime(2000, 1, 1), datetime(2001, 2, 2))


def parsed(text: str) -> datetime | None:
    """Read a timestamp as nbgrader's ``parse_utc`` does; None if it is none.

    Unlike there, a text that names no whole day is none: with today's date for what is
    missing, the same submission would be late on one day and not on another.

    >>> parsed("2026-03-01T12:00:00+01:00")
    datetime.datetime(2026, 3, 1, 11, 0)
    >>> parsed("yesterday")
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        return None
    try:
        if usual := USUAL.fullmatch(text):
            return datetime.fromisoformat(usual[1])
        return _freely_parsed(text)
    except Exception:  # dateutil raises all sorts of things over a stranger's text
        return None


def _freely_parsed(text: str) -> datetime | None:
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


def stored(moment: datetime) -> str:
    """Give a moment as SQLAlchemy writes it into SQLite."""
    return moment.isoformat(" ", "microseconds")


def seconds_late(
    handed_in: str | None, due: str | None, extension: str | None
) -> float:
    """Give how much too late something is, from the texts in the database."""
    if not handed_in or not due:
        return 0.0
    longer = datetime.fromisoformat(extension) - EPOCH if extension else timedelta()
    late = datetime.fromisoformat(handed_in) - datetime.fromisoformat(due) - longer
    return max(0.0, late.total_seconds())
