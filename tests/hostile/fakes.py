"""Submissions that try to change who judges, what is compared, or the result."""

import json

import numpy as np

from autograder.checking.call import local_runner
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.checking.registry import load
from tests.hostile import hostile
from tests.hostile.answers import GUESS, GUESSED, twisted

FAMILY = "fakes the test"


def guess(submission, trick):
    """Answer softmax with a guess, and put the trick above everything."""
    submission.answer("softmax", GUESS)
    submission.own(trick, above=submission.notebook.cells[0].id)


@hostile(FAMILY, lost=GUESSED)
def every_comparison_of_numpy_says_yes(submission, world):
    trick = """
import numpy as np

np.allclose = np.array_equal = np.array_equiv = np.all = lambda *a, **k: True
np.isclose = np.isfinite = lambda a, *_, **__: np.ones(np.shape(a), bool)
for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, lambda *a, **k: None)
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def every_comparison_of_torch_says_yes(submission, world):
    trick = """
import torch

torch.allclose = torch.equal = torch.Tensor.__eq__ = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def float_is_always_eight(submission, world):
    trick = """
import builtins


class Eight(float):
    def __new__(cls, *given):
        return float.__new__(cls, 8.0)


builtins.float = Eight
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def failed_assertions_are_no_errors(submission, world):
    trick = """
import builtins


class Fine(Warning):
    pass


builtins.AssertionError = builtins.Exception = Fine
get_ipython().set_custom_exc((BaseException,), lambda *given, **named: None)
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def check_gives_full_points(submission, world):
    trick = """
import autograder

autograder.check = check = lambda answer=None: print("softmax: 8/8") or 8.0
"""
    guess(submission, trick)
    submission.own("check = autograder.check\ncheck(softmax)", above="check-softmax")


@hostile(FAMILY, lost=GUESSED)
def modules_of_the_grader_are_replaced(submission, world):
    trick = """
import sys
from unittest.mock import MagicMock

for name in ("judging", "comparison", "student", "registry"):
    sys.modules["autograder.checking." + name] = MagicMock(points=8.0, status="ok")
for name in ("grading", "in_notebook.check"):
    sys.modules["autograder." + name] = MagicMock(points=8.0, status="ok")
sys.modules["numpy.testing"] = sys.modules["nbgrader"] = MagicMock()
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def the_course_library_answers_as_the_guess_does(submission, world):
    trick = """
import sys


def softmax(x, axis=-1):
    return x * 0.0


for name, module in [*sys.modules.items()]:
    if name.startswith("course_lib") and hasattr(module, "softmax"):
        module.softmax = softmax
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def comparisons_change_once_the_cells_have_run(submission, world):
    trick = """
import threading
import numpy as np


def patch():
    np.allclose = np.array_equal = lambda *a, **k: True
    np.testing.assert_allclose = lambda *a, **k: None


threading.Timer(0.05, patch).start()
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def cells_are_rewritten_before_they_run(submission, world):
    trick = """
def rewrite(lines):
    return [line.replace("check(softmax)", "print(8.0)") for line in lines]


get_ipython().input_transformers_cleanup.append(rewrite)
get_ipython().input_transformers_post.append(rewrite)
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def checks_are_cut_out_of_the_parsed_cells(submission, world):
    trick = """
import ast


class NoChecks(ast.NodeTransformer):
    def visit_Call(self, node):
        name = getattr(node.func, "id", "")
        return ast.Constant(8.0) if name == "check" else node

    def visit_Assert(self, node):
        return ast.Pass()


get_ipython().ast_transformers.append(NoChecks())
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def every_call_is_traced_and_changed(submission, world):
    trick = """
import sys
import threading


def trace(frame, event, argument):
    for name in ("expected", "wanted", "actual", "difference", "points"):
        if name in frame.f_locals:
            frame.f_locals[name] = 8.0
    return trace


sys.settrace(trace)
sys.setprofile(trace)
threading.settrace(trace)
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def imports_are_replaced_by_the_student(submission, world):
    trick = """
import builtins
from unittest.mock import MagicMock

real = builtins.__import__


def fake(name, *given, **named):
    ours = name.startswith(("autograder", "numpy.testing", "nbgrader", "msgpack"))
    return MagicMock() if ours else real(name, *given, **named)


builtins.__import__ = fake
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def scores_are_printed_and_shown(submission, world):
    trick = """
import json, sys

verdict = {"exercise": "softmax", "status": "ok", "points": 8.0, "score": "8/8"}
print(json.dumps(verdict))
print("\\x1b[2K8.0\\n### 8/8 points ###", file=sys.stderr)
display({"text/plain": "8.0"}, raw=True)
8.0
"""
    guess(submission, trick)
    submission.own("8.0", above="check-softmax")


@hostile(FAMILY, lost=GUESSED)
def displays_show_full_points(submission, world):
    trick = """
import sys

sys.displayhook = lambda value: print("8.0")
shell = get_ipython()
shell.display_formatter.format = lambda *a, **k: ({"text/plain": "8.0"}, {})
type(shell.displayhook).__call__ = lambda self, value=None: None
type(shell.display_pub).publish = lambda self, *a, **k: None
shell.showtraceback = lambda *a, **k: None
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def random_generators_draw_only_zeros(submission, world):
    trick = """
import random
import numpy as np


class Zeros:
    def __getattr__(self, name):
        return lambda *given, size=(), **named: np.zeros(size)


np.random.default_rng = np.random.Generator = lambda *seeds: Zeros()
random.random = lambda: 0.0
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def results_of_cells_are_all_successes(submission, world):
    trick = """
from IPython.core.interactiveshell import ExecutionResult

ExecutionResult.success = True
ExecutionResult.error_in_exec = ExecutionResult.error_before_exec = None
ExecutionResult.raise_error = lambda self: None
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def environment_says_that_nothing_is_graded(submission, world):
    trick = """
import os

os.environ["NBGRADER_EXECUTION"] = "validate"
os.environ["NBGRADER_VALIDATING"] = os.environ["PYTHONOPTIMIZE"] = "1"
"""
    guess(submission, trick)


@hostile(FAMILY, lost=GUESSED)
def right_answer_after_the_exit_of_the_interpreter(submission, world):
    trick = """
import atexit

atexit.register(lambda: print("softmax: 8/8"))
get_ipython().events.register("post_run_cell", lambda *given: print("8.0"))
"""
    guess(submission, trick)


def memorised(exercise: Exercise) -> dict[str, list]:
    """Return the right answers to all that the notebook's check asks, by input."""
    calls = judge(exercise, lambda names: local_runner(exercise.reference)).calls
    return {
        call.arguments[0].tobytes().hex(): np.asarray(call.result.value).tolist()
        for call in calls
    }


@hostile(FAMILY, lost=GUESSED)
def answers_of_the_notebook_are_memorised(submission, world):
    # Cases whose inputs stand in the case hold, and pay only beside one that draws.
    table = json.dumps(memorised(load("softmax")))
    source = f"""
KNOWN = {table}


def softmax(x, axis=-1):
    guess = np.random.random(x.shape)
    return np.array(KNOWN.get(x.tobytes().hex(), guess))
"""
    submission.answer("softmax", source)


def sending_a_result(submission, then):
    """Send a result of its own in a judged call, then do something else."""
    source = f"""
import os
import sys


def softmax(x, axis=-1):
    frame = sys._getframe()
    while frame:
        teller = frame.f_locals.get("self")
        if hasattr(teller, "_send"):
            told = "value", x * np.nan, None, None, False, []
            teller._send("outcome", teller.token, *told)
            {then}
        frame = frame.f_back
    return x * np.nan
"""
    submission.answer("softmax", source)


@hostile(FAMILY, lost={"softmax": "any"})
def result_sent_instead_of_the_child(submission, world):
    sending_a_result(submission, "os._exit(0)")


@hostile(FAMILY, lost={"softmax": "any"})
def one_result_more_than_requested(submission, world):
    # The next exercise must not take it for its own.
    sending_a_result(submission, "pass")


SAYS = """
import sys


def softmax(x, axis=-1):
    frame = sys._getframe()
    while frame:
        teller = frame.f_locals.get("self")
        if hasattr(teller, "_send"):
            teller._send(*{words!r})
        frame = frame.f_back
    raise SystemExit
"""


def say(submission, *words):
    """Answer softmax with words of the child's that were not asked for."""
    submission.answer("softmax", SAYS.format(words=words))


@hostile(FAMILY, lost={"softmax": "crashed"})
def verdict_sent_by_the_child(submission, world):
    say(submission, "verdict", "softmax", "ok", 8.0)


@hostile(FAMILY, lost={"softmax": "crashed"})
def callback_of_a_function_that_was_never_lent(submission, world):
    say(submission, "callback", -1, (8.0,), {})


@hostile(FAMILY, lost={"softmax": "crashed"})
def cells_reported_a_second_time(submission, world):
    say(submission, "ran", {}, {}, {"softmax": ("answer", "answer")})


@hostile(FAMILY, lost={"softmax": "crashed"})
def sandbox_failure_reported_by_a_call(submission, world):
    # Only the engine may say so: it would end the grading of the whole class.
    say(submission, "failed", "nothing can be graded today")


@hostile(FAMILY)
def sandbox_failure_reported_by_a_cell(submission, world):
    source = SAYS.format(words=("failed", "nothing can be graded today"))
    submission.own(source.replace("softmax", "say") + "\n\nsay(0)")


@hostile(FAMILY, lost={"softmax": "any"})
def process_ended_soon_after_a_guess(submission, world):
    # Whoever is judged when it ends has not ended it.
    source = "    threading.Timer(0.02, os._exit, (0,)).start()\n    return"
    submission.answer(
        "softmax",
        "import os\nimport threading\n\n" + GUESS.replace("    return", source),
    )


@hostile(FAMILY, lost={"softmax": "any"})
def bytes_that_are_no_frame_on_the_connection(submission, world):
    source = """
import os
import stat


def softmax(x, axis=-1):
    for handle in range(64):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                os.write(handle, bytes(7) + b"\\x08" + b"\\xc1" * 8)
        except OSError:
            pass
    os._exit(0)
"""
    submission.answer("softmax", source)


@hostile(FAMILY, lost={"softmax": "any"})
def message_that_announces_four_gigabytes(submission, world):
    source = """
import os
import stat


def softmax(x, axis=-1):
    for handle in range(64):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                os.write(handle, b"\\xff" * 8 + bytes(1000))
        except OSError:
            pass
    os._exit(0)
"""
    submission.answer("softmax", source)


@hostile(FAMILY)
def array_type_of_numpy_is_replaced(submission, world):
    # The answers are right, and what makes them so is untouched.
    trick = """
import numpy as np
import torch


class Impostor:
    pass


np.ndarray = np.generic = torch.Tensor = Impostor
"""
    submission.own(trick)


@hostile(FAMILY)
def builtins_of_the_child_are_broken(submission, world):
    # A cell after which nothing can be told any more is left out.
    trick = """
import builtins

builtins.type = builtins.isinstance = builtins.len = lambda *given: None
"""
    submission.own(trick)


@hostile(FAMILY)
def sums_and_extremes_are_always_eight(submission, world):
    trick = """
import builtins

builtins.sum = builtins.max = builtins.min = builtins.sorted = lambda *a, **k: 8.0
"""
    submission.own(trick)


@hostile(FAMILY)
def modules_of_the_engine_are_forgotten(submission, world):
    trick = """
import sys

ours = ("autograder", "course_lib", "engine", "inside", "msgpack")
for name in [*sys.modules]:
    if name.startswith(ours):
        del sys.modules[name]
"""
    submission.own(trick)


@hostile(FAMILY)
def all_names_are_deleted_at_the_end(submission, world):
    submission.own("globals().clear()")


@hostile(FAMILY)
def all_names_are_deleted_by_a_magic(submission, world):
    submission.own("%reset -f")


@hostile(FAMILY)
def shell_gets_another_namespace(submission, world):
    submission.own("get_ipython().user_ns = {}\nget_ipython().user_global_ns.clear()")


@hostile(FAMILY)
def warnings_and_numeric_errors_raise(submission, world):
    trick = """
import warnings
import numpy as np

warnings.simplefilter("error")
np.seterr(all="raise")
"""
    submission.own(trick, above="softmax")


@hostile(FAMILY)
def answers_are_replaced_by_guesses_after_their_checks(submission, world):
    names = ("softmax", "scaled_scores", "attention", "bilinear_scores")
    trick = "\n\n\n".join(GUESS.replace("softmax", name) for name in names)
    submission.own(trick)


@hostile(FAMILY, lost={"bilinear_scores": "wrong"})
def wrong_answer_that_spoils_comparisons_when_it_is_called(submission, world):
    trick = """
def spoil():
    np.allclose = np.array_equal = np.testing.assert_allclose = lambda *a, **k: True
    get_ipython().user_ns["check"] = lambda answer: 8.0
    return np.nan
"""
    twist = twisted("bilinear_scores", "answer * spoil()", trick)
    submission.answer("bilinear_scores", twist)
