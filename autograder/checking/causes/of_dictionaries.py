"""What goes wrong with dictionaries: their keys are taken for what they hold."""

import ast
import re

from autograder.checking.causes.failing_code import UNKNOWN, FailingCode, Loop
from autograder.checking.values import is_one_of

UNPACKING = re.compile(r"values to unpack|cannot unpack|unpack non-iterable")


def going_through_keys(message: str, code: FailingCode) -> str:
    """Return that a loop over a dictionary gives its keys, where that is the cause."""
    if UNPACKING.search(message):
        return _unpacked_keys(code)
    for name in code.names():
        if type(code.value(name)) is not str:
            continue
        loop = code.loop_over(name.id)
        dictionary = _dictionary_of(loop, name.id, code) if loop else None
        if loop is None or dictionary is None:
            continue
        if is_its_key(code, name):
            continue
        what = code.code(dictionary)
        if isinstance(loop.target, ast.Tuple) and loop.iter is dictionary:
            return _letters(what)
        return (
            f"Going through the dictionary {what} gives its keys: `{name.id}` is a "
            "name (a str), not the value that the dictionary holds under it. How do "
            "you get from a name to its value?"
        )
    return ""


def is_its_key(code: FailingCode, name: ast.Name) -> bool:
    """Decide whether a name stands in square brackets: there a key is what it takes."""
    parent = code.enclosing(name)
    return isinstance(parent, ast.Subscript) and parent.slice is name


def _unpacked_keys(code: FailingCode) -> str:
    for node in ast.walk(code.tree):
        if isinstance(node, Loop) and node.target is code.node:
            if type(code.value(node.iter)) is dict:
                return _letters(code.code(node.iter))
            for inner in _iterated(node.iter):
                if type(code.value(inner)) is dict and isinstance(
                    node.target, ast.Tuple
                ):
                    if any(isinstance(each, ast.Tuple) for each in node.target.elts):
                        return _letters(code.code(inner))
    # zip(…) and enumerate(…) of dictionaries: the inner tuple takes a key apart.
    parent = code.enclosing(code.node)
    if isinstance(parent, ast.Tuple):
        for node in ast.walk(code.tree):
            if isinstance(node, Loop) and node.target is parent:
                at = parent.elts.index(code.node)  # type: ignore[arg-type]
                inner_ones = _iterated(node.iter)
                is_counted = _function_name(node.iter) == "enumerate"
                at -= is_counted
                if 0 <= at < len(inner_ones):
                    if type(code.value(inner_ones[at])) is dict:
                        return _letters(code.code(inner_ones[at]))
    return ""


def _letters(dictionary: str) -> str:
    return (
        f"Going through the dictionary {dictionary} gives its keys alone, and a pair "
        "of names then takes each key apart into its letters: `.items()` gives keys "
        "together with their values."
    )


def _dictionary_of(loop: Loop, name: str, code: FailingCode) -> ast.expr | None:
    """Return the dictionary whose keys a loop gives a name, or None."""
    if type(code.value(loop.iter)) is dict:
        return loop.iter
    inner = _iterated(loop.iter)
    if not inner:
        return None
    target = loop.target
    if not isinstance(target, ast.Tuple):
        is_same = _function_name(loop.iter) in ("list", "sorted", "reversed", "tuple")
        is_dictionary = is_same and type(code.value(inner[0])) is dict
        return inner[0] if is_dictionary else None
    elements = [*target.elts]
    if _function_name(loop.iter) == "enumerate":
        elements = elements[1:]
    elif _function_name(loop.iter) != "zip":
        return None
    for element, iterated in zip(elements, inner, strict=False):
        if isinstance(element, ast.Name) and element.id == name:
            return iterated if type(code.value(iterated)) is dict else None
    return None


def _iterated(node: ast.expr) -> list[ast.expr]:
    names = ("zip", "enumerate", "list", "sorted", "reversed", "tuple")
    if isinstance(node, ast.Call) and _function_name(node) in names:
        return node.args
    return []


def _function_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""


def missing_key(match: re.Match[str], code: FailingCode) -> str:
    """Return what keys a dictionary has, where one is looked for that is not there."""
    node = code.node
    if not isinstance(node, ast.Subscript):
        return ""
    dictionary, key = code.value(node.value), code.value(node.slice)
    if type(dictionary) is not dict or not dictionary:
        return ""
    what = code.code(node.value, "the dictionary")
    kinds = {type(each) for each in dictionary}
    if kinds == {str} and is_one_of(key, (int, float)):
        return (
            f"The keys of {what} are names (texts), and a dictionary has no positions "
            f"0, 1, 2, …: there is no key equal to {code.code(node.slice, 'this')}."
        )
    if len(kinds) == 1 and key is not UNKNOWN and type(key) not in kinds:
        return (
            f"The keys of {what} are of type {kinds.pop().__name__}, and "
            f"{code.code(node.slice, 'what you look for')} is of type "
            f"{type(key).__name__}."
        )
    return (
        f"The dictionary {what} has no such key. `.get(key, other)` gives another "
        "value where a key is missing."
    )
