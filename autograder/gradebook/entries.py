"""What the gradebook is told of one student for one lesson.

Everything in a result may be a stranger's words; what is kept here of them can stand
on any page.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.grading.result import ExerciseResult, Result

LONGEST_ID = 128  # characters that nbgrader's database keeps
UNSAFE = "<>&\"'\\/"  # formgrader puts ids into its pages as they are
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, invisible, broken
LONGEST_REMARK = 1000  # characters
NO_RESPONSE = "No response."  # nbgrader's words
# nbgrader's page turns a comment's Markdown, HTML and formulas into a page's
PLAIN = str.maketrans(
    {"<": "‹", ">": "›", "[": "(", "]": ")", "$": "＄", "\\": "|", "&": "+", "`": "'"}
)


@dataclass(frozen=True)
class Entry:
    """What the engine says of one student for one lesson.

    points : by exercise
    review : exercises that a person should look at
    untouched : exercises whose stub was left as it was
    remarks : exercise to what the comment on it says
    timestamp : what ``timestamp.txt`` says, if there is one
    """

    student: str
    points: Mapping[str, float]
    review: frozenset[str] = frozenset()
    untouched: frozenset[str] = frozenset()
    remarks: Mapping[str, str] = field(default_factory=dict)
    timestamp: str | None = None

    def comment(self, exercise: str) -> str | None:
        """Give the comment on an exercise, if there is anything to say."""
        untouched = NO_RESPONSE if exercise in self.untouched else None
        return self.remarks.get(exercise) or untouched


def entry_of(result: Result, timestamp: str | None) -> Entry:
    """Give what the gradebook is to hold of a result."""
    remarks = {each.exercise: _remark(result, each) for each in result.exercises}
    return Entry(
        result.student,
        {each.exercise: float(each.points) for each in result.exercises},
        frozenset(each.exercise for each in result.exercises if each.flags),
        frozenset(each.exercise for each in result.exercises if _untouched(each)),
        {exercise: remark for exercise, remark in remarks.items() if remark},
        timestamp,
    )


def id_fault(student: str) -> str:
    """Say what is wrong with a folder's name as a student's id; "" if nothing is.

    >>> id_fault("amara")
    ''
    >>> id_fault("a<b")
    "the folder's name holds <, which is no part of a student's id: rename it"
    """
    if not 0 < len(student) <= LONGEST_ID:
        return (
            f"the folder's name has {len(student)} characters, and a student's id has "
            f"1 to {LONGEST_ID}: rename it"
        )
    if student[0] in ".-":
        return f"the folder's name begins with {student[0]}: rename it"
    for character in student:
        if character in UNSAFE or unicodedata.category(character) in UNSEEN:
            shown = character if character in UNSAFE else f"U+{ord(character):04X}"
            return (
                f"the folder's name holds {shown}, which is no part of a student's id: "
                "rename it"
            )
    return ""


def _untouched(exercise: ExerciseResult) -> bool:
    statuses = {case.status for case in exercise.cases}
    return statuses == {"missing"}


def _remark(result: Result, exercise: ExerciseResult) -> str:
    """Give the comment on an exercise in plain words, "" for none."""
    if result.status == "invalid":
        told = f"Nothing could be graded: {result.reason}"
    elif exercise.flags:
        called = ", ".join(dict.fromkeys(flag.what for flag in exercise.flags))
        told = f"For review: the answer calls {called}"
    else:
        return ""
    told = " ".join(told.split())[:LONGEST_REMARK].translate(PLAIN)
    return told.replace("//", "/ /")  # no link
