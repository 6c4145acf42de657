"""The result of grading one submission: verdicts, points and words, as data.

Times are no part of it: the same submission gives the same bytes.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from autograder.checking.result import ExerciseResult, Flag, as_data
from autograder.grading.reading import json_to_look_at

MAY_BE_MISSING = ("excused", "dropped", "optional", "left_out")  # in a line
# How optional exercises count: their points are added on top of the lesson's, which has
# no more to earn for them; or as those of required exercises; or not at all.
OptionalExercises = Literal["extra", "required", "left out"]


@dataclass(frozen=True)
class CodeResult:
    """The verdicts on a submission's code, whoever has handed it in.

    troubles : cells of the learner's own that did not run through, a sentence each
    outputs : what cells displayed, by their index among the code cells
    """

    exercises: tuple[ExerciseResult, ...]
    troubles: tuple[str, ...] = ()
    outputs: Mapping[int, list[Any]] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return the verdicts as one line of JSON, the same bytes for the same ones."""
        return _line(vars(self))

    @classmethod
    def from_json(cls, line: str) -> "CodeResult":
        """Return the verdicts of a line; raises ``ValueError`` or ``LookupError``."""
        data = json.loads(line)
        return cls(
            tuple(ExerciseResult.from_data(each) for each in data["exercises"]),
            tuple(data["troubles"]),
            {int(index): each for index, each in data["outputs"].items()},
        )


@dataclass(frozen=True)
class SubmissionResult:
    """One graded submission.

    status : "graded", or "invalid" if nothing in the file could be graded
    reason : for "invalid", why, in a sentence
    repairs : what was put right in the notebook, a sentence each
    troubles : cells of the learner's own that did not run through, a sentence each
    excused : exercises that the submission's own release did not contain, or, where
        that is excused, the file itself
    dropped : exercises that count for nobody any more
    optional : exercises whose points are added on top
    left_out : optional exercises, where the instructor lets none count
    release : name of the release that it was graded on; "" if that is not known
    """

    student: str
    lesson: str
    status: Literal["graded", "invalid"]
    exercises: tuple[ExerciseResult, ...]
    reason: str = ""
    repairs: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    release: str = ""

    @property
    def counted(self) -> tuple[ExerciseResult, ...]:
        """The exercises that count for this submission."""
        gone = {*self.excused, *self.dropped, *self.left_out}
        return tuple(each for each in self.exercises if each.exercise not in gone)

    def without(self, dropped: Collection[str]) -> "SubmissionResult":
        """Return the result with these exercises dropped, and no others."""
        names = (each.exercise for each in self.exercises)
        return replace(self, dropped=tuple(name for name in names if name in dropped))

    @property
    def points(self) -> float:
        """Points earned."""
        return float(sum(exercise.points for exercise in self.counted))

    @property
    def max_points(self) -> float:
        """Points that could be earned by what is required; optional ones are on top."""
        required = (e for e in self.counted if e.exercise not in self.optional)
        return float(sum(exercise.max_points for exercise in required))

    @property
    def not_done(self) -> tuple[str, ...]:
        """Optional exercises that are not answered."""
        return tuple(
            each.exercise
            for each in self.counted
            if each.exercise in self.optional and each.is_unwritten
        )

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Everything that is to be reviewed."""
        return tuple(flag for each in self.counted for flag in each.flags)

    @property
    def as_in_solutions(self) -> tuple[str, ...]:
        """Exercises whose answers are the course's own."""
        return tuple(each.exercise for each in self.counted if each.as_in_solutions)

    def as_json(self) -> str:
        """Return the result as one line of JSON, the same bytes for the same result."""
        data = {**vars(self), "points": self.points, "max_points": self.max_points}
        for name in (*MAY_BE_MISSING, "release"):
            if not data[name]:  # as it was before there were any
                del data[name]
        return _line(data)

    @classmethod
    def from_json(cls, line: str) -> "SubmissionResult":
        """Return the result of a line; raises ``ValueError`` or ``LookupError``."""
        data = json.loads(line)
        parts = {
            "exercises": tuple(map(ExerciseResult.from_data, data["exercises"])),
            "repairs": tuple(data["repairs"]),
            "troubles": tuple(data["troubles"]),
        } | {name: tuple(data.get(name, ())) for name in MAY_BE_MISSING}
        del data["points"], data["max_points"]
        return cls(**{**data, **parts})


def _line(data: Mapping[str, Any]) -> str:
    """Return a line that any file takes: texts have been cleaned where they came in."""
    return json_to_look_at(data, default=as_data, sort_keys=True)
