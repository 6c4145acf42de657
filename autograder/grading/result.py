"""What grading one submission gives: verdicts, points and words, as data.

Times are no part of it: the same submission gives the same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.checking.judging import Status as JudgeStatus

Status = JudgeStatus | Literal["invalid"]


@dataclass(frozen=True)
class CaseResult:
    """One case: what it claims, how it ended, what it earned.

    why : the explanation, in the learner's words; empty if the claim holds
    """

    case: str
    claim: str
    status: Status
    points: float
    max_points: float
    visible: bool
    why: str = ""


@dataclass(frozen=True)
class Flag:
    """Something for the instructor's eyes: an answer that calls a library's function.

    exercise : the exercise it concerns
    what : the function that was called, with its dotted name
    line : the learner's line that calls it, as far as known
    """

    exercise: str
    what: str
    line: str = ""


@dataclass(frozen=True)
class ExerciseResult:
    """All cases of one exercise, and what they say together.

    diagnosis : name of the one known mistake that explains every call, if there is one
    blamed : earlier exercises whose answers failed here; judged with the course's
    report : what the learner reads, plain text
    """

    exercise: str
    points: float
    max_points: float
    cases: tuple[CaseResult, ...]
    diagnosis: str = ""
    blamed: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    report: str = ""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ExerciseResult":
        """Give the result that was written down as data."""
        parts = {
            "cases": tuple(CaseResult(**case) for case in data["cases"]),
            "flags": tuple(Flag(**flag) for flag in data["flags"]),
            "blamed": tuple(data["blamed"]),
        }
        return cls(**{**data, **parts})


@dataclass(frozen=True)
class CodeResult:
    """The verdicts on a submission's code, whoever has handed it in.

    troubles : cells of the learner's own that did not run through, a sentence each
    outputs : place of a cell, among the code cells, to what it showed
    """

    exercises: tuple[ExerciseResult, ...]
    troubles: tuple[str, ...] = ()
    outputs: Mapping[int, list[Any]] = field(default_factory=dict)

    def as_json(self) -> str:
        """Give the verdicts as one line of JSON, the same bytes for the same ones."""
        return _line(vars(self))

    @classmethod
    def from_json(cls, line: str) -> "CodeResult":
        """Give the verdicts of a line; raises ``ValueError`` or ``LookupError``."""
        data = json.loads(line)
        return cls(
            tuple(ExerciseResult.from_data(each) for each in data["exercises"]),
            tuple(data["troubles"]),
            {int(place): shown for place, shown in data["outputs"].items()},
        )


@dataclass(frozen=True)
class SubmissionResult:
    """One graded submission.

    status : "graded", or "invalid" if nothing in the file could be graded
    reason : for "invalid", why, in a sentence
    repairs : what was put right in the notebook, a sentence each
    troubles : cells of the learner's own that did not run through, a sentence each
    """

    student: str
    lesson: str
    status: Literal["graded", "invalid"]
    exercises: tuple[ExerciseResult, ...]
    reason: str = ""
    repairs: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points earned."""
        return float(sum(exercise.points for exercise in self.exercises))

    @property
    def max_points(self) -> float:
        """Points that could be earned."""
        return float(sum(exercise.max_points for exercise in self.exercises))

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Everything that is to be reviewed."""
        return tuple(flag for each in self.exercises for flag in each.flags)

    def as_json(self) -> str:
        """Give the result as one line of JSON, the same bytes for the same result."""
        totals = {"points": self.points, "max_points": self.max_points}
        return _line(vars(self) | totals)

    @classmethod
    def from_json(cls, line: str) -> "SubmissionResult":
        """Give the result of a line; raises ``ValueError`` or ``LookupError``."""
        data = json.loads(line)
        parts = {
            "exercises": tuple(map(ExerciseResult.from_data, data["exercises"])),
            "repairs": tuple(data["repairs"]),
            "troubles": tuple(data["troubles"]),
        }
        del data["points"], data["max_points"]
        return cls(**{**data, **parts})


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, default=vars, ensure_ascii=False, sort_keys=True)
