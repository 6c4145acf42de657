"""What an instructor should look at: library calls, broken files, repairs, times."""

from collections import Counter
from dataclasses import dataclass

from autograder.dashboard.class_results import Roster, StudentRow, rank_by_count

MAX_SLOWEST = 10
STAGES = {"reading": "reading the file", "cells": "running the cells"}


@dataclass(frozen=True)
class LibraryCall:
    """A library's function that answers to one exercise call.

    exercise : "" for the notebook as a whole
    function : its dotted name
    lines : the student and the line that calls it, "" if it is not known
    """

    exercise: str
    function: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class OwnAnswer:
    """An exercise with answers that are the course's own.

    solved : how many students have solved it
    """

    exercise: str
    students: tuple[str, ...]
    solved: int


@dataclass(frozen=True)
class Notice:
    """A sentence, and the students whom it concerns."""

    sentence: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class SlowSubmission:
    """A submission that took long.

    longest : the part that took longest, in words, and its seconds
    """

    student: str
    seconds: float
    longest: str
    longest_seconds: float


def library_calls(roster: Roster) -> list[LibraryCall]:
    """Rank the library calls, with the lines that they are in."""
    lines = {
        (flag.exercise, flag.what, row.student): flag.line
        for row in roster.rows
        for flag in row.result.flags
    }
    pairs = (((exercise, function), who) for exercise, function, who in lines)
    ranked = rank_by_count(pairs, lambda key: (roster.order(key[0]), key[1]))
    return [
        LibraryCall(*key, tuple((student, lines[*key, student]) for student in who))
        for key, who in ranked
    ]


def own_answers(roster: Roster) -> list[OwnAnswer]:
    """Return the exercises with answers as in the solutions, the most frequent first.

    Where most who have solved one write the same, that says little.
    """
    pairs = (
        (exercise, row.student)
        for row in roster.rows
        for exercise in row.result.as_in_solutions
    )
    solved = Counter(
        each.exercise
        for row in roster.rows
        for each in row.result.counted
        if each.solved
    )
    ranked = rank_by_count(pairs, roster.order)
    return [OwnAnswer(name, who, solved[name]) for name, who in ranked]


def invalid(roster: Roster) -> list[Notice]:
    """Rank the reasons for which submissions could not be graded."""
    pairs = (
        (row.result.reason or "no reason is known", row.student)
        for row in roster.rows
        if not row.readable
    )
    return [Notice(*ranked) for ranked in rank_by_count(pairs, str)]


def repairs(roster: Roster) -> list[Notice]:
    """Rank what was put right in notebooks."""
    pairs = (
        (sentence, row.student)
        for row in roster.rows
        for sentence in row.result.repairs
    )
    return [Notice(*ranked) for ranked in rank_by_count(pairs, str)]


def slowest(roster: Roster) -> list[SlowSubmission]:
    """Return the submissions that took longest."""
    timed = [row for row in roster.rows if "all" in row.times]
    timed.sort(key=lambda row: (-row.times["all"], row.student))
    return [_slow_submission(row) for row in timed[:MAX_SLOWEST]]


def _slow_submission(row: StudentRow) -> SlowSubmission:
    parts = {name: spent for name, spent in row.times.items() if name in STAGES}
    parts |= row.seconds
    longest = max(parts, key=parts.__getitem__, default="")
    words = STAGES.get(longest, longest)
    total = row.times["all"]
    return SlowSubmission(row.student, total, words, parts.get(longest, 0.0))
