"""The class as the page counts it: all students, and who of them counts.

What is known of one student is in ``entry``.
"""

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from autograder.dashboard.entry import Entry
from autograder.gradebook.grades import Grades
from autograder.grading.result import Result

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Place:
    """Where the lesson asks for an exercise.

    number : of the cell in the notebook, from 1
    id : of the cell
    """

    number: int
    id: str


@dataclass(frozen=True)
class Roster:
    """The class.

    title : the lesson's heading
    places : of the lesson's exercises, in its order
    absent : students in the gradebook who have handed in nothing
    """

    lesson: str
    title: str
    entries: tuple[Entry, ...]
    places: Mapping[str, Place] = field(default_factory=dict)
    absent: tuple[str, ...] = ()

    @functools.cached_property
    def max_points(self) -> dict[str, float]:
        """Points that each exercise can earn, in the order of the lesson."""
        known = {
            each.exercise: each.max_points
            for entry in self.entries
            for each in entry.result.exercises
        }
        lesson = [name for name in self.places if name in known]
        return {name: known[name] for name in (*lesson, *known)}

    @functools.cached_property
    def readable(self) -> tuple[Entry, ...]:
        """Those whose submission could be graded."""
        return tuple(entry for entry in self.entries if entry.readable)

    @functools.cached_property
    def counted(self) -> tuple[Entry, ...]:
        """Those whose points say something: graded by the engine, or by a person."""
        return tuple(each for each in self.entries if each.readable or each.by_hand)

    def order(self, exercise: str) -> int:
        """Give the exercise's place among all, to sort by."""
        return [*self.max_points, exercise].index(exercise)


def roster(
    lesson: str,
    title: str,
    results: Sequence[Result],
    times: Mapping[str, Mapping[str, float]],
    grades: Mapping[str, Grades],
    places: Mapping[str, Place],
) -> Roster:
    """Put together what is known of each student.

    times, grades : by student; whoever is missing there has none
    """
    entries = [
        Entry(result, times.get(result.student, {}), grades.get(result.student))
        for result in results
    ]
    here = {entry.student for entry in entries}
    absent = [
        name for name, own in grades.items() if not own.submitted and name not in here
    ]
    return Roster(lesson, title, tuple(entries), places, tuple(sorted(absent)))


def ranked(
    pairs: Iterable[tuple[Key, str]], order: Callable[[Key], Any]
) -> list[tuple[Key, tuple[str, ...]]]:
    """Give who shares a key, the most frequent key first.

    pairs : a key and a student; the same pair counts once
    order : of keys that are equally frequent

    >>> ranked([("b", "amara"), ("a", "ben"), ("b", "ben"), ("b", "ben")], str)
    [('b', ('amara', 'ben')), ('a', ('ben',))]
    """
    found: dict[Key, dict[str, None]] = {}
    for key, student in pairs:
        found.setdefault(key, {})[student] = None
    rows = [(key, tuple(students)) for key, students in found.items()]
    return sorted(rows, key=lambda row: (-len(row[1]), order(row[0])))
