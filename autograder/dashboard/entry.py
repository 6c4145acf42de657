"""One student of the class: result, times and grades together.

A person's points, in the gradebook, count in place of the engine's.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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
