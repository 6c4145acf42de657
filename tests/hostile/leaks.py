"""Submissions that tell a hidden input in what a learner is shown.

A hidden case is fed what no learner may see: it can come out in an exception, a result,
a print, or a later call.
"""

from tests.hostile import hostile
from tests.hostile.attacks import NAME, beside, bound, inside
from tests.hostile.peeks import FAMILY

# What a hidden case is fed stands for the secret, and is told by every way there is.
# Written backwards, the secret is in the submission without its text.
HUGE = "if np.max(np.abs(given[0])) > 1e3:\n    "
ADDITIVE = "additive_scores"
HIDDEN = {ADDITIVE: ("large_next_to_zero",)}


def telling(submission, world, deed, above="", name=ADDITIVE):
    """Do something about a hidden input that may tell it in the feedback."""
    known = bound(backwards=world.secret[::-1]) + "secret = backwards[::-1]\n"
    inside(submission, f"{HUGE}{deed}", name=name)
    cell = submission.cell(name)
    cell.source = known + above + cell.source


@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_an_exceptions_text(submission, world):
    telling(submission, world, "raise ValueError(secret)")


@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_an_exceptions_name(submission, world):
    telling(submission, world, "raise type(secret, (ValueError,), {})(secret)")


@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_an_exceptions_notes_and_causes(submission, world):
    deed = """\
error = ValueError()
    error.add_note(secret)
    raise error from KeyError(secret)"""
    telling(submission, world, deed)


SPEAKING_LINE = """
import linecache


def fail():
    name = fail.__code__.co_filename
    lines = [secret + "\\n"] * 1000
    linecache.cache[name] = len(secret), None, lines, name
    raise ValueError(secret)


fail.__code__ = fail.__code__.replace(co_name=secret, co_qualname=secret)
"""


@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_the_line_that_failed(submission, world):
    telling(submission, world, "fail()", SPEAKING_LINE)


@hostile(FAMILY, lost={ADDITIVE: "wrong"}, fails=HIDDEN)
def leaks_a_hidden_input_in_its_result(submission, world):
    telling(submission, world, "return secret")


@hostile(FAMILY, lost={ADDITIVE: "wrong"}, fails=HIDDEN)
def leaks_a_hidden_input_in_the_type_of_its_result(submission, world):
    telling(submission, world, "return type(secret, (), {})()")


@hostile(FAMILY, lost={ADDITIVE: "wrong"}, fails=HIDDEN)
def leaks_a_hidden_input_in_the_keys_of_its_result(submission, world):
    telling(submission, world, "return {secret: given[0]}")


@hostile(FAMILY)
def prints_its_inputs_to_read_them_in_the_feedback(submission, world):
    known = {"backwards": world.secret[::-1]}
    deed = """\
import sys, os, warnings
print(backwards[::-1], given)
print(backwards[::-1], file=sys.__stdout__)
print(backwards[::-1], file=sys.stderr)
os.write(1, backwards[::-1].encode())
os.write(2, backwards[::-1].encode())
warnings.warn(backwards[::-1])
display(backwards[::-1])"""
    inside(submission, deed, **known)


# The grader asks the child where an exception was: any number can be the answer.
@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_a_line_number(submission, world):
    above = """
def fail():
    raise ValueError


number = int(secret[-7:], 16)
fail.__code__ = fail.__code__.replace(co_firstlineno=10**9 + number)
"""
    telling(submission, world, "fail()", above)


FORGED = """\
frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "_send"):
        frame = frame.f_back
    child = frame.f_locals["self"]
    child._send("outcome", child.token, {}, None, False, {})
    os._exit(0)"""
NUMBER = "int(secret[7:], 16)"


def forging(submission, world, result, calls="[]"):
    """Send a result of its own for a hidden input."""
    telling(submission, world, FORGED.format(result, calls), "import os\nimport sys\n")


@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_a_forged_line_number(submission, world):
    raised = f'(("ValueError",), "", "", {NUMBER}, "", secret)'
    forging(submission, world, f'"raised", None, {raised}')


@hostile(FAMILY, lost={ADDITIVE: "error"}, fails=HIDDEN)
def leaks_a_hidden_input_in_a_line_that_is_far_below(submission, world):
    raised = '(("ValueError",), "", "", 30_000 + int(secret[-3:], 16), "", "")'
    forging(submission, world, f'"raised", None, {raised}')
    submission.cell(ADDITIVE).source += "\n" * 50_000


@hostile(FAMILY, flagged=(ADDITIVE,))
def leaks_a_hidden_input_in_the_line_of_a_flag(submission, world):
    calls = '[("torch.softmax", secret)]'
    forging(submission, world, '"value", answer(*given), None', calls)


# A child that has seen a hidden input may tell it in what it does later.
LATER = """
import builtins


def attack():
    raise ValueError(getattr(builtins, "spilled", "nothing yet"))
"""
SPILLS = "__import__('builtins').spilled = secret\n    raise ValueError"


@hostile(
    FAMILY,
    lost={ADDITIVE: "error", NAME: "error"},
    fails={NAME: ("zero_next_to_large",)},
)
def leaks_a_hidden_input_in_the_next_exercise(submission, world):
    beside(submission, LATER, name=ADDITIVE)
    telling(submission, world, SPILLS, name=NAME)


@hostile(
    FAMILY,
    lost={ADDITIVE: "error"},
    fails={ADDITIVE: ("large_next_to_zero", "arguments_stay")},
)
def leaks_a_hidden_input_in_later_calls(submission, world):
    telling(submission, world, SPILLS)
    cell = submission.cell(ADDITIVE)
    tells = (
        "if hasattr(__import__('builtins'), 'spilled'):\n            raise ValueError"
    )
    head, start, rest = cell.source.partition("        if np.max")
    cell.source = f"{head}        {tells}(secret)\n{start}{rest}"
