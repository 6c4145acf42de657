"""One student's grades of one lesson, as they stand in the gradebook, as data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Grade:
    """The grade of one exercise.

    auto : what the engine gave; None if it has not been graded
    manual : what a person gave in formgrader, which counts instead
    extra : extra credit, which a person has added
    comment : what a person has written to the student
    """

    exercise: str
    max_points: float
    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    comment: str = ""

    @property
    def points(self) -> float:
        """Points that count.

        >>> Grade("softmax", 8.0, auto=3.0, manual=5.0, extra=1.0).points
        6.0
        """
        given = self.auto if self.manual is None else self.manual
        return 0.0 if given is None else float(given) + float(self.extra or 0.0)


@dataclass(frozen=True)
class Grades:
    """All grades of a student for a lesson.

    student : the id, which is the name of the folder in ``submitted``
    exercises : in the order of the lesson
    late_penalty : points taken off, as nbgrader's plugin has said
    submitted : whether the gradebook has a submission; without one all is empty
    timestamp : when it was handed in, as the gradebook has it (UTC); "" if unknown
    """

    student: str
    exercises: tuple[Grade, ...]
    late_penalty: float = 0.0
    submitted: bool = True
    timestamp: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def points(self) -> float:
        """Points that count, after the penalty, never below zero."""
        return max(0.0, sum(each.points for each in self.exercises) - self.late_penalty)

    @property
    def max_points(self) -> float:
        """Points that could be earned."""
        return float(sum(each.max_points for each in self.exercises))
