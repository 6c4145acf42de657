"""Submissions that speak to the grader instead of the child.

They share the child's process and its connection, so they can say whatever they like:
it may cost them points, and must cost nobody else anything.
"""

from tests.hostile import hostile
from tests.hostile.attacks import NAME, inside

FAMILY = "breaks out or leaves things"

# What goes over the connection to the grader in place of a result. The frames below a
# submission's code hold what speaks with the grader.
SAYS = """
import os
import sys
import msgpack


def speaker():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "_send"):
        frame = frame.f_back
    return frame.f_locals["self"]


def say(*words):
    speaker()._send(*words)


def say_tree(*tree):
    tree = msgpack.packb(["l", *tree])
    frame = len(tree).to_bytes(4, "big") + bytes(4) + tree
    while frame:
        frame = frame[os.write(3, frame):]


"""


def saying(submission, statement):
    """Send something to the grader in each judged call, then end."""
    inside(submission, f"token = speaker().token\n{statement}\nos._exit(0)")
    cell = submission.cell(NAME)
    cell.source = SAYS + cell.source


CRASHED = {NAME: "crashed"}


@hostile(FAMILY, lost=CRASHED)
def reports_a_sandbox_failure(submission, world):
    saying(submission, 'say("failed", "this machine has no namespaces")')


@hostile(FAMILY)
def reports_a_sandbox_failure_in_an_own_cell(submission, world):
    submission.own(SAYS + 'say("failed", "this machine has no namespaces")')


@hostile(FAMILY, lost=CRASHED)
def sends_an_unknown_message(submission, world):
    saying(submission, "os.write(3, bytes(range(256)))")


@hostile(FAMILY, lost=CRASHED)
def announces_four_gigabytes(submission, world):
    saying(submission, 'os.write(3, b"\\xff" * 8)')


@hostile(FAMILY, lost=CRASHED)
def sends_a_result_of_unknown_kind(submission, world):
    saying(submission, 'say("outcome", token, "ok", 1, None, None, False, [])')


@hostile(FAMILY, lost=CRASHED)
def sends_a_malformed_exception(submission, world):
    saying(submission, 'say("outcome", token, "raised", None, (), None, False, [])')


@hostile(FAMILY, lost=CRASHED)
def calls_back_a_function_that_does_not_exist(submission, world):
    saying(submission, 'say("callback", token, 10**6, (), {})')


@hostile(FAMILY, lost=CRASHED)
def sends_messages_without_their_fields(submission, world):
    saying(submission, 'say("callback")')


@hostile(FAMILY, lost=CRASHED)
def sends_a_torch_class_as_a_dtype(submission, world):
    words = '["T", "nn", [1 << 39], 0, 0], None, None, False, ["l"]'
    saying(submission, f'say_tree("outcome", token, "value", {words})')


@hostile(FAMILY, lost=CRASHED)
def sends_more_arguments_than_it_got(submission, world):
    words = 'None, (*given, "one more"), False, []'
    saying(submission, f'say("outcome", token, "value", 1, {words})')


@hostile(FAMILY, lost=CRASHED)
def sends_the_result_of_another_call(submission, world):
    answer = "answer(*given), None, None, False, []"
    saying(submission, f'say("outcome", token[::-1], "value", {answer})')


@hostile(FAMILY, lost=CRASHED)
def sends_library_calls_that_are_no_text(submission, world):
    saying(submission, 'say("outcome", token, "value", 1, None, None, False, [1])')


@hostile(FAMILY)
def reports_all_cells_as_run_in_an_own_cell(submission, world):
    submission.own(SAYS + 'say("ran", {}, {}, {})\nos._exit(0)')


@hostile(FAMILY, lost=CRASHED)
def sends_file_descriptors_to_the_grader(submission, world):
    deed = """\
import socket
for _ in range(100):
    socket.send_fds(socket.socket(fileno=os.dup(3)), [b"x"], [0, 1, 2])"""
    saying(submission, deed)


# The grader asks which cell runs, to leave out one that ends the process.
def reporting_another_cell(submission, index, *, then="os._exit(0)"):
    """Report in an own cell, at the end, that another cell runs."""
    submission.own(f'{SAYS}say("at", {index})\n{then}')


@hostile(FAMILY)
def reports_that_no_cell_runs_and_ends(submission, world):
    reporting_another_cell(submission, -1)


@hostile(FAMILY)
def reports_that_no_cell_runs_and_a_sandbox_failure(submission, world):
    reporting_another_cell(submission, -1, then='say("failed", "no namespaces")')


@hostile(FAMILY)
def reports_a_cell_that_does_not_exist_and_ends(submission, world):
    reporting_another_cell(submission, 10**6)


@hostile(FAMILY)
def reports_the_cell_of_an_answer_and_ends(submission, world):
    reporting_another_cell(submission, submission.index(NAME))


@hostile(FAMILY)
def reports_half_of_a_surrogate_pair_wherever_a_text_stands(submission, world):
    half = "'\\ud83d'"
    raised = f"(({half},), {half}, {half}, 1, {half}, {half})"
    text = f"{{'name': {half}, 'text': {half}, {half}: 1}}"
    outputs = f"[{text}, {{'data': {{'text/plain': {half}, {half}: {half}}}}}]"
    kinds = f"{{{half}: ('answer', ''), '{NAME}': ({half}, {half})}}"
    submission.own(f"{SAYS}say('ran', {{0: {raised}}}, {{0: {outputs}}}, {kinds})")


# Says a result, with more library calls than it made. As a process ends in each call,
# the last one finds that an answer has ended as many as it may.
FLAGGED = """\
lines = [("{name}", f"line {{n}}") for n in range({count})]
say("outcome", token, "value", answer(*given), None, None, False, lines)"""
LAST_CALL = {NAME: ("zero_next_to_large",)}


@hostile(FAMILY, lost=CRASHED)
def reports_twelve_thousand_library_calls_at_each_call(submission, world):
    calls = '["l", *(["t", "torch.softmax", str(n)] for n in range(12_000))]'
    words = f'"outcome", token, "value", 1, None, None, False, {calls}'
    saying(submission, f"say_tree({words})")


@hostile(FAMILY, flagged=(NAME,), lost=CRASHED, fails=LAST_CALL)
def reports_one_library_call_from_many_lines(submission, world):
    name = f"course_lib.attention.{NAME}"
    saying(submission, FLAGGED.format(name=name, count=900))


@hostile(FAMILY, lost=CRASHED, fails=LAST_CALL)
def reports_library_calls_of_no_function_that_is_watched(submission, world):
    saying(submission, FLAGGED.format(name="no.function", count=900))


@hostile(FAMILY, lost={NAME: "error"})
def sends_an_exception_of_long_texts(submission, world):
    text = '"x" * 10**5'
    raised = f"(({text},) * 9, {text}, {text}, 1, {text}, {text})"
    saying(submission, f'say("outcome", token, "raised", None, {raised}, None, 0, [])')


@hostile(FAMILY, lost={NAME: "error"})
def sends_an_exception_of_a_line_of_four_thousand_digits(submission, world):
    raised = '(("ValueError",), "", "", 10**4000, "", "")'
    saying(submission, f'say("outcome", token, "raised", None, {raised}, None, 0, [])')


@hostile(FAMILY)
def reports_long_texts_wherever_one_stands(submission, world):
    long = "'x' * 10**5"
    raised = f"(({long},), {long}, {long}, 1, {long}, {long})"
    kinds = f"{{'{NAME}': ({long}, {long})}}"
    submission.own(f"{SAYS}say('ran', {{0: {raised}}}, {{}}, {kinds})")
