"""The sentences of the page that depend on the numbers."""

from collections.abc import Sequence

from autograder.dashboard.entry import Entry
from autograder.dashboard.mistakes import Mistake
from autograder.dashboard.roster import Roster
from autograder.dashboard.scores import Summary
from autograder.dashboard.wording import counted, number, share


def lead(summary: Summary, known: Sequence[Mistake]) -> str:
    """Say in two sentences how the class stands."""
    if summary.median is None:
        if summary.submissions == 1:
            return "The only submission could not be graded: the reason is below."
        many = counted(summary.submissions, "submission")
        return f"None of {many} could be graded: the reasons are below."
    points = f"{number(summary.median)} of {number(summary.max_points)}"
    who = "The one submission that counts has"
    if summary.counted > 1:
        who = "Half of the class has at least"
    told = f"{who} {points} points."
    if not known:
        return f"{told} No answer shows a known mistake."
    students = counted(len(known[0].students), "student")
    alike = sum(len(each.students) == len(known[0].students) for each in known)
    if alike > 1:
        return f"{told} {alike} known mistakes are the most frequent: {students} each."
    return (
        f"{told} The most frequent known mistake is {known[0].name} in "
        f"{known[0].exercise}, made by {students}."
    )


def mistakes_in_words(group: Roster, known: Sequence[Mistake]) -> str:
    """Say how many students made how many known mistakes."""
    who = {student for mistake in known for student in mistake.students}
    made = counted(len(who), "student")
    different = counted(len(known), "known mistake")
    of = share(len(who), len(group.readable))
    return f"{made}, {of} of those who could be graded, made {different}."


def remarks(entry: Entry) -> str:
    """Say what is special about a student's points."""
    told = {
        "could not be graded": not entry.readable,
        "for review": bool(entry.result.flags),
        "graded by hand": entry.by_hand,
        f"{number(entry.penalty)} taken off, late": entry.penalty > 0,
    }
    return ", ".join(remark for remark, holds in told.items() if holds)
