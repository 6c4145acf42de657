"""The class as the page counts it: all students, and who of them counts.

What is known of one student is in ``entry``.
"""

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from autograder.gradebook.grades import Grades
from autograder.grading.result import ExerciseResult, Result


@dataclass(frozen=True)
class Entry:
    """One student.

    times : seconds of the run that found the verdicts, by stage and case
    grades : what the gradebook has of the student, if anything
    """

    result: Result
    times: Mapping[str, float] = field(default_factory=dict)
    grades: Grades | None = None

    @property
    def student(self) -> str:
        """The student's id."""
        return self.result.student

    @property
    def readable(self) -> bool:
        """Whether the submission could be graded."""
        return self.result.status == "graded"

    @property
    def by_hand(self) -> bool:
        """Whether a person has given points, which count instead of the engine's."""
        given = self.grades.exercises if self.grades else ()
        return any(each.manual is not None or each.extra for each in given)

    @property
    def penalty(self) -> float:
        """Points taken off for being late."""
        return self.grades.late_penalty if self.grades else 0.0

    @functools.cached_property
    def by_exercise(self) -> dict[str, float]:
        """Points that count, by exercise."""
        found = {each.exercise: each.points for each in self.result.exercises}
        for grade in self.grades.exercises if self.grades else ():
            # The journal is newer than the gradebook: there, only a person's count.
            auto = found.get(grade.exercise, 0.0)
            found[grade.exercise] = replace(grade, auto=auto).points
        return found

    @functools.cached_property
    def points(self) -> float:
        """Points that count, after the penalty, never below zero."""
        return max(0.0, sum(self.by_exercise.values()) - self.penalty)

    @functools.cached_property
    def judged(self) -> dict[str, ExerciseResult]:
        """The engine's verdicts, by exercise."""
        return {each.exercise: each for each in self.result.exercises}

    @functools.cached_property
    def unwritten(self) -> frozenset[str]:
        """Exercises whose answer was left as the lesson gives it."""
        return frozenset(
            name
            for name, judged in self.judged.items()
            if all(case.status == "missing" for case in judged.cases)
        )

    @functools.cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds that the cases of each exercise have taken, as far as is known."""
        found: dict[str, float] = {}
        for name, seconds in self.times.items():
            exercise, _, case = name.partition(".")
            if case:
                found[exercise] = found.get(exercise, 0.0) + seconds
        return found


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


# MERGED autograder.dashboard.entry: One student of the class: result, times and grades together.
#
#   A person's points, in the gradebook, count in place of the engine's.
#
