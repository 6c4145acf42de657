"""What a late submission costs, as ``nbgrader_config.py`` says it in words.

    c.LatePolicy.late = "10 % a day, at most 50 %"

Percentages are of the points earned: nbgrader tells its plugin no others. Each day,
hour or week that has begun after the due date, extension included, counts as a whole.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Unicode

from autograder.course import CourseError

SECONDS = {"minute": 60, "hour": 3600, "day": 86400, "week": 604800}
NUMBER, UNIT = r"(\d+(?:\.\d+)?)", r" ?(%|points?)"
EACH = "|".join(SECONDS)
ARTICLES = {"hour": "an"}
POLICY = re.compile(
    rf"{NUMBER}{UNIT}(?: (?:an?|per|each|every) ({EACH}))?"
    rf"(?:,? at most {NUMBER}{UNIT})?(?:,? after {NUMBER} ({EACH})s?)?"
)


@dataclass(frozen=True)
class Amount:
    """Points, or a percentage of those earned."""

    value: float
    is_percentage: bool

    def points(self, score: float) -> float:
        """Return the points that this is of a score."""
        return score * self.value / 100 if self.is_percentage else self.value


@dataclass(frozen=True)
class LateCost:
    """What late submissions cost.

    amount : for each period begun
    period : seconds; infinite: the amount is taken once
    most : what is taken at most, if there is such a bound
    grace : seconds that cost nothing
    """

    amount: Amount
    period: float = math.inf
    most: Amount | None = None
    grace: float = 0.0

    def penalty(self, score: float, seconds_late: float) -> float:
        """Return the points to take off.

        >>> cost = parse_late_cost("10 % a day, at most 50 %, after 15 minutes")
        >>> [cost.penalty(60.0, seconds) for seconds in (900, 901, 86401, 9e9)]
        [0.0, 6.0, 12.0, 30.0]
        """
        if seconds_late <= self.grace:
            return 0.0
        periods = max(1, math.ceil(seconds_late / self.period))
        penalty = self.amount.points(score) * periods
        if self.most is not None:
            penalty = min(penalty, self.most.points(score))
        return min(penalty, score)


def parse_late_cost(text: str) -> LateCost:
    """Return what the words say; raises ``CourseError``."""
    match = POLICY.fullmatch(" ".join(text.lower().split()))
    if not match:
        raise CourseError(
            f"nbgrader_config.py sets c.LatePolicy.late to {text!r}: write it as "
            "'10 % a day, at most 50 %', '2 points an hour', '50 %', or '5 % a day, "
            "after 15 minutes'; '' for no penalty"
        )
    amount, unit, each, most, most_unit, grace, grace_each = match.groups()
    for value, its_unit in ((amount, unit), (most or 0, most_unit)):
        if its_unit == "%" and float(value) > 100:
            raise CourseError(
                f"nbgrader_config.py sets c.LatePolicy.late to {text!r}: more than "
                "100 % cannot be taken off"
            )
    return LateCost(
        Amount(float(amount), unit == "%"),
        SECONDS[each] if each else math.inf,
        Amount(float(most), most_unit == "%") if most else None,
        float(grace) * SECONDS[grace_each] if grace else 0.0,
    )


class LatePolicy(LateSubmissionPlugin):
    """nbgrader's plugin for late submissions, with a cost in words."""

    late = Unicode(
        "", help="cost of a late submission, such as '10 % a day, at most 50 %'"
    ).tag(config=True)

    def __init__(self, **options: Any) -> None:
        """Read the words; raises ``CourseError``."""
        super().__init__(**options)
        self.cost = parse_late_cost(self.late) if self.late.strip() else None

    @property
    def in_words(self) -> str:
        """The rule as a student reads it; "" without one."""
        if self.cost is None:
            return ""
        each = POLICY.fullmatch(" ".join(self.late.lower().split()))[3]  # type: ignore[index]  # it has matched before
        begun = f"; {ARTICLES.get(each, 'a')} {each} that has begun counts whole"
        return " ".join(self.late.split()) + (begun if each else "")

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points to take off; without words, what nbgrader's own says."""
        if self.cost is None:
            answer = super().late_submission_penalty
            return answer(student_id, score, total_seconds_late)
        return self.cost.penalty(score, total_seconds_late)
