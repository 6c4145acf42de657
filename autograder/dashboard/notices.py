"""What an instructor should look at: library calls, broken files, repairs, times."""

from dataclasses import dataclass

from autograder.dashboard.class_results import Entry, Roster, ranked

SLOWEST = 10
PARTS = {"reading": "reading the file", "cells": "running the cells"}


@dataclass(frozen=True)
class Review:
    """A library's function that answers of one exercise call.

    lines : the student and the line that calls it, "" if it is not known
    """

    exercise: str
    what: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notice:
    """A sentence, and the students whom it concerns."""

    sentence: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Slow:
    """A submission that took long.

    longest : the part that took longest, in words, and its seconds
    """

    student: str
    seconds: float
    longest: str
    longest_seconds: float


def reviews(roster: Roster) -> list[Review]:
    """Rank the library calls, with the lines that they are in."""
    lines = {
        (flag.exercise, flag.what, entry.student): flag.line
        for entry in roster.entries
        for flag in entry.result.flags
    }
    found = (((exercise, what), who) for exercise, what, who in lines)
    rows = ranked(found, lambda key: (roster.order(key[0]), key[1]))
    return [
        Review(*key, tuple((student, lines[*key, student]) for student in who))
        for key, who in rows
    ]


def invalid(roster: Roster) -> list[Notice]:
    """Rank the reasons for which submissions could not be graded."""
    found = (
        (entry.result.reason or "no reason is known", entry.student)
        for entry in roster.entries
        if not entry.readable
    )
    return [Notice(*row) for row in ranked(found, str)]


def repairs(roster: Roster) -> list[Notice]:
    """Rank what was put right in notebooks."""
    found = (
        (sentence, entry.student)
        for entry in roster.entries
        for sentence in entry.result.repairs
    )
    return [Notice(*row) for row in ranked(found, str)]


def slowest(roster: Roster) -> list[Slow]:
    """Give the submissions that took longest."""
    timed = [entry for entry in roster.entries if "all" in entry.times]
    timed.sort(key=lambda entry: (-entry.times["all"], entry.student))
    return [_slow(entry) for entry in timed[:SLOWEST]]


def _slow(entry: Entry) -> Slow:
    parts = {name: spent for name, spent in entry.times.items() if name in PARTS}
    parts |= entry.seconds
    longest = max(parts, key=parts.__getitem__, default="")
    return Slow(
        entry.student,
        entry.times["all"],
        PARTS.get(longest, longest),
        parts.get(longest, 0.0),
    )
