"""A student's total over the lessons of an export, without the lowest ones.

The lowest is the one with the smallest share of its points: lessons differ in how many
they have. What was not handed in is the lowest of all.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.gradebook.grades import StudentGrades


@dataclass(frozen=True)
class CourseTotal:
    """What a student has of all lessons that count.

    dropped : lessons that do not count, in the order of the lessons
    points : None if a lesson that counts has no grade: it is not known then
    max_points : of the lessons that count: what this student could earn
    """

    dropped: tuple[str, ...]
    points: float | None
    max_points: float

    @property
    def percentage(self) -> float | None:
        """The share of the points, of 100; optional exercises can make it more."""
        if self.points is None or not self.max_points:
            return None
        return 100 * self.points / self.max_points


def course_total(
    grades: Mapping[str, StudentGrades | None],
    max_points: Mapping[str, float],
    n_drop: int,
    *,
    missing_is_zero: bool,
) -> CourseTotal:
    """Return a student's total.

    grades : by lesson
    max_points : by lesson, of the student's own release
    n_drop : how many lessons do not count
    missing_is_zero : whether what was not handed in, and counts, is 0 points
    """
    points: dict[str, float | None] = {}
    shares: dict[str, float] = {}
    on_top = 0.0
    for lesson, student in grades.items():
        if not max_points[lesson]:  # nothing is required there: no lesson to drop
            on_top += student.points if student and student.submitted else 0.0
            continue
        if student is None or not student.submitted:
            points[lesson] = 0.0 if missing_is_zero else None
            shares[lesson] = -1.0
        elif not student.is_graded:
            return CourseTotal((), None, sum(max_points.values()))
        else:
            points[lesson] = student.points
            shares[lesson] = student.points / max_points[lesson]
    lowest = sorted(shares, key=lambda lesson: shares[lesson])[:n_drop]
    counted = [lesson for lesson in points if lesson not in lowest]
    known = [each for lesson in counted if (each := points[lesson]) is not None]
    return CourseTotal(
        tuple(lesson for lesson in grades if lesson in lowest),
        sum(known) + on_top if len(known) == len(counted) else None,
        sum(max_points[lesson] for lesson in counted),
    )


def totals_in_words(
    totals: Sequence[CourseTotal], missing_is_zero: bool, n_wanted: int, n_dropped: int
) -> list[str]:
    """Return sentences on what was dropped for how many, and who has no total.

    n_wanted, n_dropped : lessons to drop, and as many of them as could be
    """
    sentences = []
    if n_dropped < n_wanted:
        dropped_so_far = f"{n_dropped} lesson{'' if n_dropped == 1 else 's'}, not"
        sentences.append(
            f"The totals are without the lowest {dropped_so_far} {n_wanted}: one must "
            "be left, until more are graded."
            if n_dropped
            else "No lesson is dropped until another one is graded: one must be left."
        )
    dropped = Counter(lesson for total in totals for lesson in total.dropped)
    if dropped:
        counts = ", ".join(f"{name} of {dropped[name]}" for name in sorted(dropped))
        sentences.append(
            f"Dropped, by number of students: {counts}. The columns of the lessons are "
            "as they were; csv has a column that names what was dropped."
        )
    if unknown := sum(total.points is None for total in totals):
        hint = "" if missing_is_zero else ", or not handed in (--missing-as-zero: 0)"
        sentences.append(
            f"{unknown} of {len(totals)} students have no total: a lesson that counts "
            f"is not graded yet{hint}."
        )
    return sentences
