"""The mistakes of a class, counted: those with a name first, then all other failures.

The names, and what they mean in words, are the exercises' own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.checking.exercise import Misconception
from autograder.checking.registry import UnknownExercise, load
from autograder.dashboard.class_results import Entry, Roster, ranked
from autograder.grading.result import CaseResult, ExerciseResult

Students = tuple[str, ...]
ENDINGS = {  # every status but the two that a comparison ends with
    "error": "stopped with an exception",
    "timeout": "did not come to an end in time",
    "memory": "wanted more memory than there is",
    "output": "returned more data than can be graded",
    "crashed": "ended the whole Python process",
    "missing": "was left unwritten in part",
}


@dataclass(frozen=True)
class Mistake:
    """A known mistake, and who made it.

    finding, question, why : of the exercise's bank; "" if it knows the name no more
    """

    exercise: str
    name: str
    students: Students
    finding: str = ""
    question: str = ""
    why: str = ""


@dataclass(frozen=True)
class Failure:
    """A claim that does not hold for answers whose mistake has no name."""

    exercise: str
    case: str
    claim: str
    students: Students


@dataclass(frozen=True)
class Blame:
    """An earlier exercise whose own answers made a later one fail."""

    earlier: str
    later: str
    students: Students


@dataclass(frozen=True)
class Ending:
    """Answers that ended in another way than with a right or a wrong result."""

    exercise: str
    status: str
    students: Students

    @property
    def words(self) -> str:
        """What the status means."""
        return ENDINGS.get(self.status, self.status)


def mistakes(roster: Roster) -> list[Mistake]:
    """Rank the known mistakes of a class."""
    found = (
        ((judged.exercise, judged.diagnosis), entry.student)
        for entry, judged in _answers(roster)
        if judged.diagnosis
    )
    rows = ranked(found, lambda key: (roster.order(key[0]), key[1]))
    return [_mistake(exercise, name, who) for (exercise, name), who in rows]


def failures(roster: Roster) -> list[Failure]:
    """Rank the claims that do not hold for answers without a known mistake.

    An answer that never comes to a result, right or wrong, says nothing of a claim.
    """
    found = (
        ((judged.exercise, case.case, case.claim), entry.student)
        for entry, judged in _answers(roster)
        if not judged.diagnosis and _has_result(judged)
        for case in _failed(judged)
    )
    rows = ranked(found, lambda key: (roster.order(key[0]), key[1]))
    return [Failure(*key, who) for key, who in rows]


def blames(roster: Roster) -> list[Blame]:
    """Rank the earlier answers at which later ones failed."""
    found = (
        ((earlier, judged.exercise), entry.student)
        for entry, judged in _answers(roster)
        for earlier in judged.blamed
    )
    rows = ranked(found, lambda key: (roster.order(key[0]), roster.order(key[1])))
    return [Blame(*key, who) for key, who in rows]


def endings(roster: Roster) -> list[Ending]:
    """Rank the other ways in which answers ended."""
    found = (
        ((judged.exercise, str(case.status)), entry.student)
        for entry, judged in _answers(roster)
        for case in _failed(judged)
        if case.status != "wrong"
    )
    rows = ranked(found, lambda key: (roster.order(key[0]), key[1]))
    return [Ending(*key, who) for key, who in rows]


def _answers(roster: Roster) -> Iterator[tuple[Entry, ExerciseResult]]:
    """Give all that was judged and that somebody has written."""
    for entry in roster.readable:
        for judged in entry.result.exercises:
            if judged.exercise not in entry.unwritten:
                yield entry, judged


def _has_result(judged: ExerciseResult) -> bool:
    return any(case.status in ("ok", "wrong") for case in judged.cases)


def _failed(judged: ExerciseResult) -> list[CaseResult]:
    return [case for case in judged.cases if case.status != "ok"]


def _mistake(exercise: str, name: str, students: Students) -> Mistake:
    known = _bank(exercise).get(name)
    words = (known.finding, known.question, known.why) if known else ()
    return Mistake(exercise, name, students, *words)


def _bank(exercise: str) -> dict[str, Misconception]:
    """Give an exercise's known mistakes; none if the course has it no more."""
    try:
        return {each.name: each for each in load(exercise).misconceptions}
    except UnknownExercise:
        return {}
