"""What judging an answer gives: a verdict per case, and a result per exercise.

Both are written to the journal as data, under the names of their fields. Fields that
take no part in comparisons are evidence: the messages need it, and it is not written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from autograder.checking.call import Call
from autograder.checking.exercise import Misconception
from autograder.checking.student import ClaimFailure

CaseStatus = Literal[
    "ok",
    "wrong",
    "error",
    "missing",
    "timeout",
    "memory",
    "output",
    "crashed",
    "invalid",
]


# Of a field that older journals do not have: they are written as they were.
LEFT_OUT_IF_EMPTY = {"left out if empty": True}
AND = " & "  # between two names in a diagnosis


def joined(misconceptions: Iterable[Misconception]) -> str:
    """Return a diagnosis: the names of one misconception, or of two."""
    return AND.join(each.name for each in misconceptions)


@dataclass(frozen=True)
class CaseVerdict:
    """One case: what it claims, how it ended, what it earned.

    case : the case's name
    points : 0 too for a claim that holds and does not pay alone
    status : "missing" if the answer is not written yet, "invalid" if the submission
        cannot be read
    why : the explanation, in the learner's words; empty if the claim holds
    fine_point : whether the answer is solved without it
    is_single : whether it holds to the digits of float32 only
    failure : evidence: why the claim does not hold
    """

    case: str
    claim: str
    status: CaseStatus
    points: float
    max_points: float
    visible: bool
    why: str = ""
    fine_point: bool = field(default=False, metadata=LEFT_OUT_IF_EMPTY)
    is_single: bool = field(default=False, metadata=LEFT_OUT_IF_EMPTY)
    failure: ClaimFailure | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Flag:
    """Something for the instructor's eyes: an answer that calls a library's function.

    exercise : the exercise it concerns; "" for the notebook, where no answer can be
        told from the others: its first exercise then holds it
    what : the function that was called, with its dotted name
    line : the learner's line that calls it, as far as known
    """

    exercise: str
    what: str
    line: str = ""

    @property
    def subject(self) -> str:
        """Who calls it, and the verb."""
        return "the answer calls" if self.exercise else "a cell of the notebook calls"


@dataclass(frozen=True)
class ExerciseResult:
    """The verdicts of one exercise's cases, and what they say together.

    exercise : the exercise's name
    points : earned, a Python float (nbgrader cannot read NumPy's scalars)
    diagnosis : name of the misconception that explains every call, or of the two that
        do so together (``misconceptions``); "" if none does
    blamed : earlier exercises whose answers made this one fail; the verdicts are then
        those with the course's versions of them
    report : what the learner reads, plain text
    evidence : where there is no diagnosis, a sentence that is true of every call; with
        one, which parameter is missing
    as_in_solutions : whether it is the course's own answer up to names, comments and
        layout: for the instructor's eyes
    calls : evidence: every call of the learner's function, in order
    """

    exercise: str
    points: float
    max_points: float
    cases: tuple[CaseVerdict, ...]
    diagnosis: str = ""
    blamed: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    report: str = ""
    evidence: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)
    as_in_solutions: bool = field(default=False, metadata=LEFT_OUT_IF_EMPTY)
    calls: tuple[Call, ...] = field(default=(), compare=False, repr=False)

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """The names in the diagnosis."""
        return tuple(self.diagnosis.split(AND)) if self.diagnosis else ()

    @property
    def claims(self) -> tuple[CaseVerdict, ...]:
        """The verdicts that decide whether the exercise is solved."""
        return tuple(verdict for verdict in self.cases if not verdict.fine_point)

    @property
    def fine_points(self) -> tuple[CaseVerdict, ...]:
        """The other verdicts."""
        return tuple(verdict for verdict in self.cases if verdict.fine_point)

    @property
    def open_fine_points(self) -> tuple[CaseVerdict, ...]:
        """The fine points that do not hold."""
        return tuple(each for each in self.fine_points if each.status != "ok")

    @property
    def solved(self) -> bool:
        """Whether every claim that ran is ok; fine points may be open."""
        return all(verdict.status == "ok" for verdict in self.claims)

    @property
    def passed(self) -> bool:
        """Whether every case that ran is ok, each fine point too."""
        return self.solved and not self.open_fine_points

    @property
    def n_holding(self) -> int:
        """How many claims hold, whether they pay or not; fine points are none."""
        return sum(verdict.status == "ok" for verdict in self.claims)

    @property
    def is_single(self) -> bool:
        """Whether something is right to the digits of float32 only."""
        return any(verdict.is_single for verdict in self.cases)

    @property
    def has_too_few_digits(self) -> bool:
        """Whether that is all that is known to be wrong with the numbers."""
        return self.is_single and self.solved and not self.diagnosis

    @property
    def is_unwritten(self) -> bool:
        """Whether the learner has not answered at all."""
        missing = (verdict.status == "missing" for verdict in self.cases)
        return bool(self.cases) and all(missing)

    def out_of(self, max_points: float) -> "ExerciseResult":
        """Return the same verdicts on an exercise that is worth something else."""
        before = self.max_points or 1.0
        cases = tuple(
            replace(
                each,
                points=each.points * max_points / before,
                max_points=each.max_points * max_points / before,
            )
            for each in self.cases
        )
        points = self.points * max_points / before
        return replace(self, points=points, max_points=max_points, cases=cases)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ExerciseResult":
        """Return the result that was written down as data."""
        parts = {
            "cases": tuple(CaseVerdict(**case) for case in data["cases"]),
            "flags": tuple(Flag(**flag) for flag in data["flags"]),
            "blamed": tuple(data["blamed"]),
        }
        return cls(**{**data, **parts})


def as_data(record: Any) -> dict[str, Any]:
    """Return the fields of a record that are written down: all but the evidence."""
    return {
        each.name: value
        for each in fields(record)
        for value in [getattr(record, each.name)]
        if each.compare and (value or each.metadata != LEFT_OUT_IF_EMPTY)
    }
