"""What it means that a value is not of the kind, or of the size, that is needed."""

import ast
import re

from autograder.checking.causes.failing_code import (
    Explain,
    FailingCode,
    capital,
    is_function,
    kind_of,
)
from autograder.checking.causes.of_dictionaries import missing_key
from autograder.checking.causes.of_names import of_none, uncalled
from autograder.checking.values import is_array

# Operators and entries


def _operands(match: re.Match[str], code: FailingCode) -> str:
    """Explain an operator between kinds that it is not made for."""
    operator, kinds = match[1], (match[2], match[3])
    if "NoneType" in kinds:
        return of_none(match, code)
    if {*kinds} & {"builtin_function_or_method", "function", "method"}:
        if sentence := uncalled(match, code):
            return sentence
    sides = code.operands()
    for kind, side in zip(kinds, sides or (), strict=False):
        what = capital(code.code(side, "one side"))
        if kind == "list":
            return (
                f"{what} is a list, and `{operator}` does not go through its entries: "
                "that needs a loop, or an array."
            )
        if kind == "tuple":
            if isinstance(side, ast.Call):
                return (
                    f"{what} is a tuple: the function returns more than one result. "
                    "Which one of them do you mean?"
                )
            return f"{what} is a tuple, and `{operator}` does not go through it."
        if kind == "dict":
            return (
                f"{what} is a dictionary, and `{operator}` does not go through what it "
                "holds: each value is reached by its key."
            )
        if kind in VIEWS:
            return f"{what} is {VIEWS[kind]}, not numbers: it has to be gone through."
        if kind == "str":
            return f"{what} is a text (a str), not a number."
    return ""


VIEWS = {
    "dict_values": "all values of a dictionary",
    "dict_keys": "all keys of a dictionary",
    "dict_items": "all pairs of a dictionary",
    "zip": "a zip of pairs",
    "map": "a map of results",
    "generator": "a generator of results",
    "range": "a range",
}


def _sequence_times(match: re.Match[str], code: FailingCode) -> str:
    for side in code.operands() or ():
        value = code.value(side)
        if kind_of(value) in ("a list", "a tuple"):
            return (
                f"{capital(code.code(side, 'one side'))} is {kind_of(value)}: `*` "
                "repeats it, and does not multiply its entries."
            )
    return ""


def _not_subscriptable(match: re.Match[str], code: FailingCode) -> str:
    kind = match[1]
    if kind == "NoneType":
        return of_none(match, code)
    if kind in ("builtin_function_or_method", "function", "method", "type"):
        return uncalled(match, code)
    what = code.code(code.node.value) if isinstance(code.node, ast.Subscript) else ""
    what = capital(what or "what stands before the brackets")
    if kind in ("int", "float"):
        return f"{what} is a single number: it has no entries."
    if kind in VIEWS:
        return (
            f"{what} is {VIEWS[kind]}, which has no positions: `list(…)` makes a list."
        )
    if kind == "set":
        return f"{what} is a set, which has no order and so no positions."
    return ""


def _not_iterable(match: re.Match[str], code: FailingCode) -> str:
    kind, node = match[1], code.node
    if kind == "NoneType":
        return of_none(match, code)
    if kind in ("builtin_function_or_method", "function", "method"):
        return uncalled(match, code) or _uncalled_itself(code)
    if isinstance(node, ast.For):
        node = node.iter
    if kind not in ("int", "float"):
        return ""
    parent, what = code.enclosing(node), capital(code.code(node, "what stands there"))
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
        return (
            f"{what} is a number, and there is nothing to go through: `range` counts."
        )
    if isinstance(node, ast.Call):
        called = code.code(node.func, "The function")
        return f"{called} goes through what it is given, and that is a single number."
    return f"{what} is a single number: it has no entries to go through."


def _uncalled_itself(code: FailingCode) -> str:
    words = code.words(code.node)
    if words and is_function(code.value(code.node)):
        return f"`{words}` is the function itself: `{words}()` would call it."
    return ""


def _not_a_count(match: re.Match[str], code: FailingCode) -> str:
    """Explain what is given to range and the like in place of a number."""
    kinds = {"list": "a list", "tuple": "a tuple", "numpy.ndarray": "an array"}
    if match[1] not in kinds or not isinstance(code.node, ast.Call):
        return ""
    called = code.code(code.node.func, "the function")
    what = code.code(next(iter(code.node.args), None), "what it is given")
    return f"{called} needs integers, and {what} is {kinds[match[1]]}."


def _no_power(match: re.Match[str], code: FailingCode) -> str:
    return "`^` does not raise to a power in Python: `**` does."


def _entry_for_position(code: FailingCode) -> str:
    """Find an index that a loop takes from the entries of what it goes through."""
    index = code.node.slice if isinstance(code.node, ast.Subscript) else None
    if not isinstance(index, ast.Name) or (loop := code.loop_over(index.id)) is None:
        return ""
    through = code.value(loop.iter)
    if loop.target is index or not isinstance(loop.target, ast.Name):
        return ""
    if type(through) is not list and not is_array(through):
        return ""
    return (
        f"Your loop gives `{index.id}` the entries of {code.code(loop.iter, 'a list')} "
        "themselves, one after the other, and not their positions."
    )


def _needs_integer(match: re.Match[str], code: FailingCode) -> str:
    division = "`/` gives a float, even where nothing is left over; `//` an integer."
    texts = [code.words(code.node)]
    for node in code.names():
        texts += [code.words(value) for value in code.assigned(node.id)]
    start = "A float stands where an integer is needed."
    is_divided = any(re.search(r"[^/]/[^/]", text) for text in texts)
    return f"{start} {division}" if is_divided else start


def _list_indices(match: re.Match[str], code: FailingCode) -> str:
    kind, index_type = match[1], match[2]
    what = code.code(code.node.value) if isinstance(code.node, ast.Subscript) else ""
    what = capital(what or "what stands before the brackets")
    if index_type == "tuple":
        return (
            f"{what} is a {kind}: several indices in one pair of brackets are for "
            "arrays. A list in a list has a pair of brackets for each."
        )
    if index_type == "float":
        return _entry_for_position(code) or _needs_integer(match, code)
    index = code.node.slice if isinstance(code.node, ast.Subscript) else None
    at = code.code(index, "the index")
    kinds = {"str": "a text", "list": "a list", "numpy.ndarray": "an array"}
    return (
        f"{what} is a {kind}, whose positions are integers, and {at} is "
        f"{kinds.get(index_type, f'a {index_type}')}."
    )


def _out_of_range(match: re.Match[str], code: FailingCode) -> str:
    node = code.node
    if not isinstance(node, ast.Subscript):
        return ""
    base = code.value(node.value)
    what = code.code(node.value)
    if what.endswith(".shape`") and type(base) is not list:
        return (
            f"{what} has one number for each axis, and here there are fewer axes. "
            "Which axis do you mean, counted from the end?"
        )
    if kind_of(base) == "a list" and base == []:
        return f"{capital(what or 'the list')} is empty here: it has no position yet."
    if "assignment" in match[0]:
        return (
            f"{capital(what or 'the list')} has no such position yet: `[…] =` "
            "replaces an entry, and `.append` adds one."
        )
    return (
        f"{capital(code.code(node.slice, 'the index'))} goes beyond the end of "
        f"{what or 'the list'}: the last position is its length minus 1."
    )


def _one_number(match: re.Match[str], code: FailingCode) -> str:
    if not isinstance(code.node, ast.Call):
        return ""
    called = code.words(code.node.func)
    if not called.startswith("math."):
        return ""
    return (
        f"`{called}` takes one number, and is given a list: it has to be called for "
        "each entry."
    )


def _unpacking(match: re.Match[str], code: FailingCode) -> str:
    target = code.node
    if not isinstance(target, ast.Tuple):
        return ""
    names = len(target.elts)
    parent = code.enclosing(target)
    value = getattr(parent, "value", None) if isinstance(parent, ast.Assign) else None
    what = code.words(value)
    few = match[0].startswith("not enough")
    if what.endswith(".shape"):
        return (
            f"`{what}` has one number for each axis, and here there are "
            f"{'fewer' if few else 'more'} than {names}."
        )
    if what:
        return (
            f"{names} names stand on the left, and `{what}` gives "
            f"{'fewer' if few else 'more'} values than that."
        )
    return ""


# Others


def _recursion(match: re.Match[str], code: FailingCode) -> str:
    names = [frame.f_code.co_name for frame in code.frames[-2:]]
    if len({*names}) == 1:
        return f"Your `{names[0]}` calls itself again and again, without an end."
    return "Your functions call each other again and again, without an end."


def _zero_division(match: re.Match[str], code: FailingCode) -> str:
    sides = code.operands()
    words = code.words(sides[1]) if sides else ""
    return f"`{words}` is 0 here, and it is divided by." if words else ""


def _overflow(match: re.Match[str], code: FailingCode) -> str:
    if isinstance(code.node, ast.Call) and code.words(code.node.func) == "math.exp":
        return "`math.exp` of so large a number is more than a float can hold."
    return ""


def _unhashable(match: re.Match[str], code: FailingCode) -> str:
    kinds = {"list": "a list", "dict": "a dictionary", "set": "a set"}
    if match[1] not in kinds:
        return ""
    return (
        f"{capital(kinds[match[1]])} cannot be a key of a dictionary or an entry of a "
        "set, since it can change; a tuple can."
    )


def _not_assignable(match: re.Match[str], code: FailingCode) -> str:
    kind = {"tuple": "A tuple", "str": "A text (a str)", "bytes": "bytes"}.get(match[1])
    if not kind:
        return ""
    return f"{kind} cannot be changed: a new one has to be made."


def _changed_while_looping(match: re.Match[str], code: FailingCode) -> str:
    return (
        "Your loop goes through a dictionary and adds or removes keys of the same one: "
        "put the results into a new dictionary."
    )


def _joined_texts(match: re.Match[str], code: FailingCode) -> str:
    kinds = {
        "int": "an integer",
        "list": "a list",
        "tuple": "a tuple",
        "bytes": "bytes",
    }
    return (
        "`join` puts texts together, and one of the entries is "
        f"{kinds.get(match[1], f'a {match[1]}')}."
    )


def _concatenated(match: re.Match[str], code: FailingCode) -> str:
    kinds = {"list": "a list", "str": "a text", "tuple": "a tuple"}
    one = kinds.get(match[1], "")
    other = kinds.get(match[2], f"a value of type {match[2]}")
    if not one:
        return ""
    return f"`+` puts {one} and another behind each other, and here comes {other}."


def _length_of_function(match: re.Match[str], code: FailingCode) -> str:
    """Explain a method that is not called: `len(text.encode)`."""
    node = code.node
    first = next(iter(node.args), None) if isinstance(node, ast.Call) else None
    words = code.words(first)
    if not words:
        return ""
    return f"`{words}` is a function, which has no length; `{words}()` would call it."


def _bytes_of_text(match: re.Match[str], code: FailingCode) -> str:
    return (
        "A text becomes bytes by an encoding, which `bytes` has to be told; the text's "
        "own method `encode` uses UTF-8 if it is told nothing."
    )


def _empty(match: re.Match[str], code: FailingCode) -> str:
    return f"`{match[1]}` has nothing to choose from: what it is given is empty here."


FUNCTIONS = r"'(builtin_function_or_method|function|method|method_descriptor)'"
CAUSES: tuple[tuple[str, str, Explain], ...] = (
    ("TypeError", r"unsupported operand type\(s\) for ([^:]+): '([^']+)' and '([^']+)'",
     _operands),
    ("TypeError", r"for \^: 'float'|ufunc 'bitwise_xor' not supported", _no_power),
    ("TypeError", r"'([\w.]+)' object cannot be interpreted as an int", _not_a_count),
    ("TypeError", r"real numbers, got object", uncalled),
    ("TypeError", rf"object of type {FUNCTIONS} has no len", _length_of_function),
    ("TypeError", r"string argument without an encoding", _bytes_of_text),
    ("TypeError", r"can't multiply sequence by non-int", _sequence_times),
    ("TypeError", r"'([\w.]+)' object is not subscriptable", _not_subscriptable),
    ("TypeError", r"'([\w.]+)' object is not iterable", _not_iterable),
    ("TypeError", r"cannot unpack non-iterable ()NoneType", of_none),
    ("TypeError", r"'float' object cannot be interpreted as an integer",
     _needs_integer),
    ("TypeError", r"(list|tuple) indices must be integers or slices, not ([\w.]+)",
     _list_indices),
    ("TypeError", r"must be real number, not list", _one_number),
    ("TypeError", r"unhashable type: '(\w+)'", _unhashable),
    ("TypeError", r"'(\w+)' object does not support item assignment", _not_assignable),
    ("TypeError", r"expected str instance, (\w+) found", _joined_texts),
    ("TypeError", r'can only concatenate (\w+) \(not "([\w.]+)"\)', _concatenated),
    ("ValueError", r"(not enough|too many) values to unpack", _unpacking),
    ("ValueError", r"(max|min)\(\) (arg|iterable argument) is (an )?empty", _empty),
    ("KeyError", r"", missing_key),
    ("IndexError", r"(list|tuple|string)( assignment)? index out of range",
     _out_of_range),
    ("RecursionError", r"", _recursion),
    ("ZeroDivisionError", r"", _zero_division),
    ("OverflowError", r"math range error", _overflow),
    ("RuntimeError", r"changed size during iteration", _changed_while_looping),
)  # fmt: skip
