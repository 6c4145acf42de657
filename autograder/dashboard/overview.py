"""What an instructor wants to know first: what to explain, what was hard, who to help.

Each of it is counted in full elsewhere on the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.dashboard.class_results import Roster, StudentRow
from autograder.dashboard.misconceptions import MisconceptionCount
from autograder.dashboard.scores import ExerciseRow

MAX_TOPICS = 3
MAX_COSTLY = 3
MIN_STUDENTS = 2  # who show a misconception, for it to be everybody's subject

Examples = Mapping[tuple[str, str], str]  # an answer, by exercise and misconception


@dataclass(frozen=True)
class Topic:
    """A misconception to explain in the next lecture.

    example : an answer that shows it, nobody's name with it; "" if there is none
    earlier : lessons that it came up in before, with the students' number
    """

    count: MisconceptionCount
    example: str = ""
    earlier: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CostlyExercise:
    """An exercise, and what it has cost.

    lost : points of all students together
    mean : points of each of them, on average
    width : in per cent of the costliest
    lesson : "" on a lesson's own page
    """

    exercise: str
    lost: float
    mean: float
    max_points: float
    width: float
    lesson: str = ""


@dataclass(frozen=True)
class Attention:
    """Students for whom something is to be done.

    one, many : what holds of one of them, of several
    section : the part of the page that says more
    """

    one: str
    many: str
    students: tuple[str, ...]
    section: str = ""

    @property
    def words(self) -> str:
        """What holds of them."""
        return self.one if len(self.students) == 1 else self.many


def shared(counts: Sequence[MisconceptionCount]) -> list[MisconceptionCount]:
    """Return what to explain to all, of misconceptions with the most frequent first."""
    return [each for each in counts if len(each.students) >= MIN_STUDENTS][:MAX_TOPICS]


def topics(counts: Sequence[MisconceptionCount], examples: Examples) -> list[Topic]:
    """Return the misconceptions to explain, the most frequent first."""
    return [
        Topic(each, examples.get((each.exercise, each.name), ""))
        for each in shared(counts)
    ]


def costly_exercises(rows: Sequence[ExerciseRow]) -> list[CostlyExercise]:
    """Return the exercises that cost the class most points, the costliest first."""
    ranked = sorted(rows, key=lambda row: -row.lost)[:MAX_COSTLY]
    return [
        CostlyExercise(
            row.exercise,
            row.lost,
            row.lost / row.counted,
            row.max_points,
            round(100 * row.lost / ranked[0].lost, 2),
        )
        for row in ranked
        if row.lost > 0
    ]


def attention(roster: Roster) -> list[Attention]:
    """Return who needs somebody's attention, and for what; only what is there."""
    rows = roster.rows
    lists = [
        Attention(
            "has handed in nothing", "have handed in nothing", roster.absent, "students"
        ),
        Attention(
            "could not be graded",
            "could not be graded",
            tuple(row.student for row in rows if not row.readable),
            "invalid",
        ),
        Attention(
            "needs a manual grade in formgrader",
            "need a manual grade in formgrader",
            tuple(row.student for row in rows if row.needs_manual_grade),
        ),
        Attention(
            "calls a library's function, for your review",
            "call a library's function, for your review",
            tuple(row.student for row in rows if row.result.flags),
            "review",
        ),
        Attention(
            "has answers as in the solutions",
            "have answers as in the solutions",
            tuple(row.student for row in rows if row.result.as_in_solutions),
            "solutions",
        ),
        Attention(
            "has handed in and answered nothing",
            "have handed in and answered nothing",
            tuple(row.student for row in rows if row.readable and _is_empty(row)),
        ),
    ]
    return [each for each in lists if each.students]


def _is_empty(row: StudentRow) -> bool:
    exercises = {each.exercise for each in row.result.counted}
    return bool(exercises) and exercises <= row.unwritten
