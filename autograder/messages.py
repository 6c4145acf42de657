"""The sentences a learner reads about an answer as a whole.

Why a single claim does not hold is said in ``explain``, how values are shown in
``words``, how the page looks in ``report``.
"""

from autograder.explain import explain, same_reason
from autograder.judge import Judgement

__all__ = [
    "blamed",
    "diagnosis",
    "explain",
    "headline",
    "not_written",
    "same_reason",
    "what_to_write",
]


def headline(judgement: Judgement) -> str:
    """Say in one line how many claims hold."""
    name, total = judgement.exercise.name, len(judgement.verdicts)
    held = sum(verdict.status == "ok" for verdict in judgement.verdicts)
    if not_written(judgement):
        if _unwritten_call(judgement):
            return f"{name} cannot be checked yet"
        return f"{name} is not written yet"
    if held == total:
        return (
            f"{name}: {'the claim holds' if total == 1 else f'all {total} claims hold'}"
        )
    return f"{name}: {held} of {total} claims hold"


def not_written(judgement: Judgement) -> bool:
    """Say whether the learner has not answered at all."""
    return bool(judgement.verdicts) and all(
        verdict.status == "missing" for verdict in judgement.verdicts
    )


def what_to_write(judgement: Judgement) -> str:
    """Tell a learner whose function is a stub what to do, or which function is."""
    name = judgement.exercise.name
    if called := _unwritten_call(judgement):
        return (
            f"`{name}` calls `{called}`, which is not written yet. "
            f"Go back and write `{called}` first, then run this cell again."
        )
    return (
        f"Write your answer in the cell of `{name}`, in place of the line "
        "`raise NotImplementedError`: that line has to go. Run that cell, then run "
        "this one again."
    )


def _unwritten_call(judgement: Judgement) -> str:
    """Give the name of another function at whose stub every claim ended."""
    broken = judgement.verdicts[0].broken
    raised = broken.call.outcome.raised if broken and broken.call else None
    called = raised.function if raised else ""
    own = judgement.exercise.name
    # A method or an alias of the exercise is the exercise's own stub.
    return called if called in judgement.exercise.uses and called != own else ""


def blamed(judgement: Judgement) -> str:
    """Say which earlier answer failed, where this one is right by itself."""
    names = " and ".join(f"`{name}`" for name in judgement.blamed)
    if not names or not_written(judgement):
        return ""
    one = len(judgement.blamed) == 1
    own = f"`{judgement.exercise.name}`"
    if judgement.passed:
        return (
            f"Your {own} is right: it was checked with the course's {names}. "
            f"Your own {names} {'is' if one else 'are'} what failed: go back to "
            f"{'it' if one else 'them'}."
        )
    return (
        f"Your {names} {'fails' if one else 'fail'} here, so the lines above are with "
        f"the course's {names}. Your {own} has a mistake of its own."
    )


def diagnosis(judgement: Judgement) -> str:
    """Give the finding and the question of the named mistake, or nothing."""
    found = judgement.misconception
    return f"{found.finding} {found.question}" if found else ""
