"""What an exception means that was raised inside a function that the answer calls.

That function is one that the answer was given, or one of the course's: its code is not
the learner's, and what is told is which argument of the learner's call it stopped at.
"""

import ast
import dis
import re
import types
from typing import Any

from autograder.checking.causes.failing_code import UNKNOWN, FailingCode, kind_of

REFUSED = re.compile(r"^(\w+) must ")  # how the course's functions refuse an argument


def inside_a_call(message: str, code: FailingCode, inner: Any) -> str:
    """Return at which argument a called function stopped; "" if that is no cause.

    code : the learner's, which stopped at a call
    inner : the rest of the traceback, from the called function on; None if that has
        no code in Python
    """
    if not isinstance(code.node, ast.Call) or type(inner) is not types.TracebackType:
        return ""
    called, function = code.words(code.node.func), code.value(code.node.func)
    is_called = type(function) is types.FunctionType
    if not called or not is_called or function.__code__ is not inner.tb_frame.f_code:
        return ""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if (match := REFUSED.match(message)) and match[1] in names:
        if what := _in_words(code, names, match[1]):
            return (
                f"This line gives `{called}` {what}, as its `{match[1]}`, and that "
                "does not fit. Which of your names belongs there?"
            )
    if not any(function is each for frame in code.frames for each in _arguments(frame)):
        return ""
    stopped_at = _stopped_at(inner, names)
    if len(stopped_at) == 1 and (
        what := _in_words(code, names, stopped_at[0], message)
    ):
        return (
            f"`{called}` stops at its argument `{stopped_at[0]}`: this line gives it "
            f"{what}. What does it have to get there?"
        )
    return (
        f"`{called}` stops inside: one of its arguments in this line is not what it "
        "needs. What does the docstring say of each?"
    )


def _arguments(frame: types.FrameType) -> list[Any]:
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return [frame.f_locals[name] for name in names if name in frame.f_locals]


def _stopped_at(inner: types.TracebackType, names: tuple[str, ...]) -> list[str]:
    """Return the parameters of a called function that its failing code is about."""
    outer, last = inner.tb_frame, inner
    while last.tb_next is not None:
        last = last.tb_next
    code = FailingCode([last])
    if code.node is None:
        return _loaded_last(last, names)
    held = {
        node.id: code.value(node)
        for node in ast.walk(code.node or ast.Pass())
        if isinstance(node, ast.Name)
    }
    about = [
        name
        for name in names
        if name in held and held[name] is outer.f_locals.get(name, UNKNOWN)
    ]
    odd = [name for name in about if kind_of(held[name]) not in ORDINARY]
    match code.node:
        case ast.Subscript(value=base) | ast.Attribute(value=base):
            parts = [base]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case _:
            parts = []
    bases = {part.id for part in parts if isinstance(part, ast.Name)}
    return [name for name in about if name in bases] or odd or about


def _loaded_last(last: types.TracebackType, names: tuple[str, ...]) -> list[str]:
    """Return the parameter that code without a text has read last, if it is odd."""
    frame = last.tb_frame
    for instruction in reversed([*dis.get_instructions(frame.f_code)]):
        name = instruction.argval
        is_read = instruction.opname == "LOAD_FAST" and name in names
        if is_read and instruction.offset < last.tb_lasti:
            if kind_of(frame.f_locals.get(name)) not in ORDINARY:
                return [name]
    return []


ORDINARY = ("an array", "a tensor", "an integer", "a float")


def _in_words(
    code: FailingCode, names: tuple[str, ...], name: str, message: str = ""
) -> str:
    """Return what a call gives one of its parameters, as written, and what it is."""
    call, index = code.node, names.index(name)
    if not isinstance(call, ast.Call):
        return ""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return ""
    node = next((each.value for each in call.keywords if each.arg == name), None)
    if node is None and index < len(call.args):
        node = call.args[index]
    if node is None:
        return ""
    words, value = code.code(node), code.value(node)
    if isinstance(node, ast.Dict | ast.List) and not ast.unparse(node)[1:-1]:
        return f"`{ast.unparse(node)}`, which is empty"
    kind = kind_of(value)
    if kind == "a dictionary" and re.fullmatch(r"'\w+'", message):
        kind = f"a dictionary without {message}" if value else "an empty dictionary"
    if words.strip("`") == kind == "None":
        return "None"
    if not words or not kind:
        return words
    return f"{words}, which is {kind}" if kind == "None" else f"{words}, {kind}"
