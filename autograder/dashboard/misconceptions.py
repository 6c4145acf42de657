"""The misconceptions of a class, counted, and then all failures that have no name.

The misconceptions' names, and what they mean in words, are the exercises' own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.checking.registry import UnknownExercise, load
from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.dashboard.class_results import Roster, rank_by_count

Students = tuple[str, ...]
STOPPED = {  # every status but the two that a comparison ends with
    "error": "stopped with an exception",
    "timeout": "did not come to an end in time",
    "memory": "wanted more memory than there is",
    "output": "returned more data than can be graded",
    "crashed": "ended the whole Python process",
    "missing": "was left unwritten in part",
}


@dataclass(frozen=True)
class MisconceptionCount:
    """A misconception, and the students whose answers show it.

    diagnosis, question, why : of the exercise's bank; "" if it no longer has the name
    """

    exercise: str
    name: str
    students: Students
    diagnosis: str = ""
    question: str = ""
    why: str = ""


@dataclass(frozen=True)
class FailedClaim:
    """A claim that does not hold for answers that show no known misconception."""

    exercise: str
    case: str
    claim: str
    students: Students


@dataclass(frozen=True)
class BlamedExercise:
    """An earlier exercise whose own answers made a later one fail."""

    earlier: str
    later: str
    students: Students


@dataclass(frozen=True)
class StoppedAnswers:
    """Answers that ended in another way than with a right or a wrong result."""

    exercise: str
    status: str
    students: Students

    @property
    def words(self) -> str:
        """What the status means."""
        return STOPPED.get(self.status, self.status)


def count_misconceptions(roster: Roster) -> list[MisconceptionCount]:
    """Rank the misconceptions of a class."""
    pairs = (
        ((result.exercise, name), student)
        for student, result in _written(roster)
        for name in result.misconceptions
        if not result.solved  # of a fine point, it is no misconception of the lesson
    )
    ranked = rank_by_count(pairs, lambda key: (roster.order(key[0]), key[1]))
    return [_described(exercise, name, who) for (exercise, name), who in ranked]


def by_student(
    counts: Sequence[MisconceptionCount],
) -> dict[str, list[MisconceptionCount]]:
    """Return each student's misconceptions, the class's most frequent first."""
    students: dict[str, list[MisconceptionCount]] = {}
    for each in counts:
        for student in each.students:
            students.setdefault(student, []).append(each)
    return students


def _described(exercise: str, name: str, students: Students) -> MisconceptionCount:
    """Return a misconception in its bank's words; without, if the bank has it not."""
    try:
        bank = {each.name: each for each in load(exercise).misconceptions}
    except UnknownExercise:
        bank = {}
    if each := bank.get(name):
        words = each.diagnosis, each.question, each.why
        return MisconceptionCount(exercise, name, students, *words)
    return MisconceptionCount(exercise, name, students)


def failed_claims(roster: Roster) -> list[FailedClaim]:
    """Rank the claims that do not hold for answers without a known misconception.

    An answer that never comes to a result, right or wrong, says nothing of a claim.
    """
    pairs = (
        ((result.exercise, case.case, case.claim), student)
        for student, result in _written(roster)
        if not result.diagnosis and _has_result(result)
        for case in _failed(result)
    )
    ranked = rank_by_count(pairs, lambda key: (roster.order(key[0]), key[1]))
    return [FailedClaim(*key, students) for key, students in ranked]


def open_fine_points(roster: Roster) -> list[FailedClaim]:
    """Rank the fine points that are open in solved exercises."""
    pairs = (
        ((result.exercise, case.case, case.claim), student)
        for student, result in _written(roster)
        if result.solved
        for case in result.open_fine_points
    )
    ranked = rank_by_count(pairs, lambda key: (roster.order(key[0]), key[1]))
    return [FailedClaim(*key, students) for key, students in ranked]


def blamed_exercises(roster: Roster) -> list[BlamedExercise]:
    """Rank the earlier answers at which later ones failed."""
    pairs = (
        ((earlier, result.exercise), student)
        for student, result in _written(roster)
        for earlier in result.blamed
    )
    ranked = rank_by_count(pairs, lambda key: (*map(roster.order, key),))
    return [BlamedExercise(*key, students) for key, students in ranked]


def stopped_answers(roster: Roster) -> list[StoppedAnswers]:
    """Rank the other ways in which answers ended."""
    pairs = (
        ((result.exercise, str(case.status)), student)
        for student, result in _written(roster)
        for case in _failed(result)
        if case.status != "wrong"
    )
    ranked = rank_by_count(pairs, lambda key: (roster.order(key[0]), key[1]))
    return [StoppedAnswers(*key, students) for key, students in ranked]


def _written(roster: Roster) -> Iterator[tuple[str, ExerciseResult]]:
    """Yield each answer that somebody has written: the student and its result."""
    for row in roster.readable:
        for result in row.result.counted:
            if result.exercise not in row.unwritten:
                yield row.student, result


def _has_result(result: ExerciseResult) -> bool:
    return any(case.status in ("ok", "wrong") for case in result.claims)


def _failed(result: ExerciseResult) -> list[CaseVerdict]:
    return [case for case in result.claims if case.status != "ok"]
