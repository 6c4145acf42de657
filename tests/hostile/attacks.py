"""Ways to put an attack beside a right answer, so that its success can be seen."""

from typing import Any

from autograder.demo.sample_class import right_answer
from tests.submissions import Submission

NAME = "bilinear_scores"  # nothing else in the lesson uses it

GUARD = """

def beside(answer):
    def attacking(*given):
        try:
            got = attack()
        except OSError:  # the kernel refused
            got = None
        return str(got)[:1000] if got else answer(*given)

    return attacking


{name} = beside({name})
"""


def beside(submission: Submission, attack: str, *, name: str = NAME, **known: Any):
    """Attack in each judged call of a right answer; what it gets spoils the answer.

    attack : source of ``def attack()`` that gives what it got hold of, or nothing
    known : names that the attack finds bound, such as paths outside
    """
    start = bound(**known) + attack
    submission.answer(
        name, start + "\n\n" + right_answer(name) + GUARD.format(name=name)
    )


def inside(submission: Submission, statement: str, *, name: str = NAME, **known: Any):
    """Run a piece of code in each judged call, before the right answer is computed.

    statement : may look at the arguments, ``given``
    """
    body = statement.strip().replace("\n", "\n        ")
    submission.answer(
        name,
        f"""\
{bound(**known)}
{right_answer(name)}


def meanwhile(answer):
    def acting(*given):
        {body}
        return answer(*given)

    return acting


{name} = meanwhile({name})
""",
    )


def bound(**known: Any) -> str:
    """Return lines that bind names to plain values."""
    return "".join(f"{name} = {value!r}\n" for name, value in known.items())
