"""Timestamps of submissions, read and stored as nbgrader does it."""

from datetime import UTC, datetime, timedelta

import pytest

from autograder.gradebook.lateness import format_for_sqlite, parse_timestamp


@pytest.mark.parametrize(
    "text",
    [
        "2015-02-02 15:58:23.948203 UTC",
        "2015-02-02 15:58:23 UTC",
        "2015-02-02 15:58:23",
        "2015-02-02 15:58:23 Europe/Berlin",
        "2015-02-02 15:58:23 +0100",
        "2015-02-02T15:58:23+05:30",
        "Mon Feb 2 15:58:23 2015",
    ],
)
def test_parse_timestamp_agrees_with_nbgrader(text):
    from nbgrader.utils import parse_utc

    assert parse_timestamp(f" {text}\n") == parse_utc(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "soon", "12:30", "7", "Monday", "2015-13-45 99:99:99 UTC"),
        *("0001-01-01 00:00:00 +9999", "2015-02-02 15:58:23 99999999999999999999"),
        *(
            "9" * 60,
            "2015-02-02" + " " * 60 + "x",
            "\x00",
            "\ud800",
            "2015-02-02 1 2 3 4",
        ),
    ],
)
def test_parse_timestamp_returns_none_for_no_time(text):
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("9999-12-31 23:59:59 UTC", "0001-01-01 00:00:00 UTC", "1999-12-31 23:59:59"),
        *("9999-12-31 23:59:59 -0001", "10000101T000000", "1999-12-31 23:59:59 UTC+3"),
        "2000-01-01 00:00:00 Asia/Tokyo",
    ],
)
def test_time_that_cannot_be_is_none(text):
    assert parse_timestamp(text) is None


def test_time_is_a_day_ahead_of_this_clock_at_most():
    for hours, is_time in ((23, True), (25, False)):
        moment = datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=hours)
        assert (parse_timestamp(f"{moment} UTC") == moment) is is_time


@pytest.mark.parametrize(
    "zone", ["+99:99", "x" * 30, "Europe/../Berlin", "CEST/", "UTC;rm"]
)
def test_time_of_a_zone_that_nobody_knows_is_none(zone):
    assert parse_timestamp(f"2015-02-02 15:58:23 {zone}") is None


@pytest.mark.parametrize("zone", ["/etc/passwd", ":/etc/passwd", "a/../../passwd"])
def test_parse_timestamp_opens_no_file_for_a_zone(zone, monkeypatch):
    monkeypatch.setattr("dateutil.tz.gettz", None)
    assert parse_timestamp(f"2015-02-02 15:58:23 {zone}") is None


def test_format_for_sqlite_agrees_with_sqlalchemy():
    moment = datetime(999, 2, 2, 15, 58, 23)
    assert format_for_sqlite(moment) == "0999-02-02 15:58:23.000000"
