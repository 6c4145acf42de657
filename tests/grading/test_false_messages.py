"""What a process may say that is not true: it changes its own results and no others."""

import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.grading import child_client
from tests.grading.engines import processes_of
from tests.grading.sessions import QUICK, call, check, own, session_of, solution, value

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]


FRAME = """
import msgpack, os, struct, sys
def token():
    # as an attacker can: in the frames above
    frame = sys._getframe()
    while type(frame.f_locals.get("token")) is not bytes:
        frame = frame.f_back
    return frame.f_locals["token"]
def say(tree, data=b""):
    if type(tree) is list:
        tree = [token() if part == "TOKEN" else part for part in tree]
    packed = tree if type(tree) is bytes else msgpack.packb(tree)
    frame = struct.pack(">II", len(packed), len(data)) + packed + data
    while frame:
        frame = frame[os.write(3, frame):]
"""
EMPTY = ["d"]
# Trees as the wire writes them: ["l", …] is a list, ["t", …] a tuple, ["d", …] a dict.
OUTCOME = ["l", "outcome", "TOKEN", "value", 7, None, None, False, ["l"]]
RAN = ["l", "ran", EMPTY, EMPTY, ["d", "f", ["t", "answer", ""]], EMPTY]
LIES = {
    "an outcome before it was asked for": [["l", "outcome", b"token", *OUTCOME[3:]]],
    "a report before the end": [RAN],
    "a report of nothing": [["l", "ran"]],
    "a report of too much": [[*RAN, 1, 2, 3]],
    "a report of numbers": [["l", "ran", 1, 2, 3]],
    "a report of odd troubles": [["l", "ran", ["d", 0, ["t", 1]], EMPTY, EMPTY, EMPTY]],
    "a trouble of no cell": [
        ["l", "ran", ["d", 99, ["t", ["t", "E"], "", "", 0, ""]], EMPTY, EMPTY, EMPTY]
    ],
    "odd answers": [["l", "ran", EMPTY, EMPTY, ["d", "f", 3], EMPTY]],
    "answers of odd names": [
        ["l", "ran", EMPTY, EMPTY, ["d", 3, ["t", "a", "b"]], EMPTY]
    ],
    "odd forms": [[*RAN[:5], ["d", "f", "abc"]]],
    "forms that are no texts": [[*RAN[:5], ["d", "f", ["l", 3]]]],
    "a cell that is none": [["l", "at", 10**6]],
    "a cell below the first": [["l", "at", -1], ["l", "failed", "no sandbox"]],
    "a cell without an index": [["l", "at"]],
    "a word alone": [["l", "ran", "off"], ["l"]],
    "no list": [7, "at", None],
    "no word": [["l", 1, 2]],
    "that it could not be shut in": [["l", "failed", "no sandbox"]],
    "a question nobody asked": [["l", "callback", 0, ["t"], EMPTY]],
    "bytes that are no tree": [b"\xc1\xc1\xc1"],
    "a list that is a key": [["l", "ran", ["d", ["l"], 1], EMPTY, EMPTY, EMPTY]],
    "a tensor of a wrong size": [
        ["l", "ran", ["T", "float32", ["l", 9], 0, 4], 1, 2, 3]
    ],
}


@pytest.mark.parametrize("frames", LIES.values(), ids=[*LIES])
def test_false_messages_of_a_cell_change_only_its_own_result(sandbox, frames):
    lie = f"{FRAME}\nfor tree in {frames!r}:\n    say(tree)"
    right = solution("f", "def f():\n    return 'honest'")
    cells = right, own(lie), own("x = 1"), check("f")
    with session_of(sandbox, *cells) as session:
        for _ in range(3):
            result = call(session, "f")
            assert (result.kind, result.value) in [
                ("value", "honest"),
                ("value", 7),  # its own word for what it returns
                ("crashed", None),
                ("raised", None),
            ]


def lying(lie):
    body = textwrap.indent(lie, "    ")
    return own(f"{FRAME}\ndef f(*given):\n{body}\n    return 'honest'"), check("f")


RAISED = ["l", "outcome", "TOKEN", "raised", None]
ASKED = ["l", "callback", "TOKEN"]
LIES_IN_A_CALL = {
    "an outcome of no kind": [*OUTCOME[:3], "ok", *OUTCOME[4:]],
    "a timeout": [*OUTCOME[:3], "timeout", *OUTCOME[4:]],
    "an outcome that is too short": OUTCOME[:4],
    "an outcome that is too long": [*OUTCOME, 1],
    "an outcome without a token": ["l", "outcome"],
    "an outcome of an odd token": ["l", "outcome", 3, *OUTCOME[3:]],
    "other arguments than were given": [*OUTCOME[:6], ["t", 1, 2, 3], False, ["l"]],
    "arguments that are no tuple": [*OUTCOME[:6], 3, False, ["l"]],
    "an exception with a value": [*RAISED[:4], 7, None, None, False, ["l"]],
    "an exception without types": [
        *[*RAISED, ["t", ["t"], "", "", 0, "", ""], None, False, ["l"]]
    ],
    "an exception of the wrong shape": [
        *[*RAISED, ["t", "ValueError"], None, False, ["l"]]
    ],
    "flags that are none": [*OUTCOME[:8], ["l", 3]],
    "a flag without a line": [*OUTCOME[:8], ["l", ["t", "torch.softmax"]]],
    "flags that are no list": [*OUTCOME[:8], 3],
    "a function that is none": [*ASKED, 99, ["t"], EMPTY],
    "a function below zero": [*ASKED, -99, ["t"], EMPTY],
    "a function by name": [*ASKED, "eval", ["t"], EMPTY],
    "arguments that are none": [*ASKED, 0, 3, EMPTY],
    "a question without arguments": ASKED,
    "another report": RAN,
    "that it could not be shut in": ["l", "failed", "no sandbox"],
    "a word of its own": ["l", "points", 60],
}


@pytest.mark.parametrize("tree", LIES_IN_A_CALL.values(), ids=[*LIES_IN_A_CALL])
def test_false_message_of_a_call_is_a_crash_of_that_call_only(sandbox, tree):
    lie = f"if given[0]:\n    say({tree!r})"
    with session_of(sandbox, *lying(lie)) as session:
        assert call(session, "f", True, len).kind == "crashed"
        assert value(session, "f", False, len) == "honest"


def test_callback_with_false_keywords_raises_in_the_child(sandbox):
    # Keywords that are no names reach nothing but Python's own check of them.
    lie = "if given[0]:\n    say(['l', 'callback', 'TOKEN', 0, ['t'], ['d', 3, 4]])"
    with session_of(sandbox, *lying(lie)) as session:
        assert value(session, "f", True, len) == "honest"


def test_call_cannot_reach_callbacks_of_an_earlier_one(sandbox):
    secret = "say(['l', 'callback', 'TOKEN', 1, ['t'], ['d']])"
    with session_of(sandbox, *lying(f"if given[0]:\n    {secret}")) as session:
        assert value(session, "f", False, len, lambda: "secret") == "honest"
        assert call(session, "f", True, len).kind == "crashed"


def test_result_with_another_calls_token_is_ignored(sandbox):
    lie = "say(['l', 'outcome', b'earlier!', 'value', 'forged', None, None, 0, ['l']])"
    with session_of(sandbox, *lying(lie)) as session:
        assert [value(session, "f") for _ in range(3)] == ["honest"] * 3


def test_result_that_is_sent_twice_counts_once(sandbox):
    # The second one, still on its way, does not belong to the next call.
    lie = f"if given[0]:\n    say({OUTCOME!r})"
    with session_of(sandbox, *lying(lie)) as session:
        assert value(session, "f", True) == 7
        assert value(session, "f", False) == "honest"


def test_endless_results_of_other_calls_are_a_timeout(sandbox, monkeypatch):
    monkeypatch.setattr(child_client, "MAX_CALLBACKS", 50)
    lie = "while given[0]:\n    say(['l', 'outcome', b'other', 1])"
    with session_of(sandbox, *lying(lie)) as session:
        assert call(session, "f", True).kind == "timeout"
        assert value(session, "f", False) == "honest"


@pytest.mark.parametrize("frame", [["l", "at", 0], ["l", "callback", 0, ["t"], EMPTY]])
def test_endless_messages_of_a_cell_are_a_crash(sandbox, frame):
    lie = own(f"{FRAME}\nwhile True:\n    say({frame!r})")
    cells = lie, own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert value(session, "f") == 1
        assert session.skipped.endings == {0: "crashed"}


def test_repeated_messages_do_not_extend_the_time_limit(sandbox):
    lie = own(
        f"{FRAME}\nimport time\nwhile True:\n    say(['l', 'at', 0])\n"
        "    time.sleep(0.3)"
    )
    cells = lie, own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert value(session, "f") == 1


@pytest.mark.parametrize(
    "text",
    [
        "os.write(3, b'\\xff' * 8)",  # announces 4 GiB
        "os.write(3, b'\\x00\\x00\\x00\\x05\\x00\\x00\\x00\\x00ab')\nos._exit(0)",
        "os.write(3, bytes(range(256)))",
    ],
    ids=["too long a frame", "half a frame", "any bytes"],
)
def test_bytes_that_are_no_frame_are_a_crash_of_that_call(sandbox, text):
    lie = "if given:\n" + textwrap.indent(text, "    ")
    with session_of(sandbox, *lying(lie)) as session:
        assert call(session, "f", 1).kind == "crashed"
        assert value(session, "f") == "honest"


def test_half_a_frame_without_end_is_a_timeout(sandbox):
    lie = "if given:\n    os.write(3, b'abc')\n    import time\n    time.sleep(60)"
    with session_of(sandbox, *lying(lie), budget=QUICK) as session:
        assert call(session, "f", 1).kind == "timeout"


def test_child_that_does_not_read_is_a_timeout(sandbox, monkeypatch):
    # The message is larger than what the connection holds.
    monkeypatch.setattr(child_client, "SEND_SECONDS", 0.5)
    lie = own("import time\ndef f(x):\n    return 1\n"), check("f")
    with session_of(sandbox, *lie, budget=QUICK) as session:
        child = session._client
        process = processes_of(SimpleNamespace(sandbox=sandbox))[-1]
        process.suspend()
        assert call(session, "f", np.zeros(1 << 20)).kind == "timeout"
        assert session._client is not child


def test_only_known_functions_are_flagged_with_clean_lines(sandbox):
    known = sandbox.library["softmax"][0]
    flags = ["l", ["t", known, "x at 0x7fffdeadbeef"], ["t", "os.remove", "rm"]]
    tree = [*OUTCOME[:8], flags]
    with session_of(sandbox, *lying(f"say({tree!r})")) as session:
        call(session, "f")
        assert {(each.what, each.line) for each in session.flags} == {
            (known, "x at 0x…")
        }
