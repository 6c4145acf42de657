"""What it means that a name, an attribute or a call does not exist in this form."""

import ast
import difflib
import inspect
import re
from collections.abc import Iterator

from autograder.checking.causes.failing_code import (
    UNKNOWN,
    Explain,
    FailingCode,
    capital,
    is_function,
    is_module,
)
from autograder.checking.values import is_tensor

# Those whose result is None, whatever they were called for.
CHANGE_IN_PLACE = frozenset(
    "append extend insert remove reverse sort update add clear shuffle print fill "
    "setdefault backward step zero_grad".split()
)
USUAL_NAMES = {  # of modules, and the import that makes the name
    "np": "import numpy as np",
    "torch": "import torch",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "math": "import math",
    "random": "import random",
    "scipy": "import scipy",
    "plt": "import matplotlib.pyplot as plt",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
}
# In a docstring: ``q : (..., n, d_k), one query per row``.
SHAPE = re.compile(r"^ *(\w+) : \(((?:\.\.\.|\w+)(?:, \w+)*),?\)", re.MULTILINE)
SIZES = frozenset("n m d_k d_v d_q d_model d_ff".split())  # of the course's notation


# Names


def _undefined(match: re.Match[str], code: FailingCode) -> str:
    name = match[1]
    if sentence := _size_of_the_docstring(name, code):
        return sentence
    known = {
        each
        for frame in code.frames
        for each in frame.f_locals
        if each.isidentifier() and not each.startswith("_")
    }
    if near := _nearest(name, sorted(known)):
        return f"Nothing here is called `{name}`; your function has `{near}`."
    if name in USUAL_NAMES:
        line = USUAL_NAMES[name]
        return (
            f"`{name}` is a usual name for what `{line}` brings, and no cell that has "
            "run imports it. What do the cells above import already?"
        )
    modules = [each for each in ("math", "np", "torch") if _has(code, each, name)]
    if modules:
        parent = code.enclosing(code.node)
        is_called = isinstance(parent, ast.Call) and parent.func is code.node
        what = "is a function of a module, and is called"
        return (
            f"`{name}` {what if is_called else 'belongs to a module, and is written'} "
            f"with the module's name before it: `{modules[0]}.{name}`."
        )
    functions = {
        each
        for frame in code.frames[-1:]
        for each, value in [*frame.f_globals.items()]
        if type(each) is str and (is_function(value) or is_module(value))
    }
    if near := _nearest(name, sorted(functions)):
        return f"Nothing here is called `{name}`; there is `{near}`."
    return (
        f"Neither your function nor a cell that has run gives `{name}` a value: is it "
        "spelt as where you make it, and made before this line?"
    )


def _size_of_the_docstring(name: str, code: FailingCode) -> str:
    """Return that a name is only the docstring's, for the length of an axis."""
    for frame in reversed(code.frames):
        constants = frame.f_code.co_consts
        docstring = constants[0] if constants and type(constants[0]) is str else ""
        for argument, axes in SHAPE.findall(docstring):
            if name in axes.split(", ") and argument in frame.f_locals:
                return (
                    f"`{name}` is the docstring's name for a length of an axis of "
                    f"`{argument}`, and your function has given it no value. Where "
                    f"does an array such as `{argument}` keep these lengths?"
                )
    if name not in SIZES:
        return ""
    return (
        f"`{name}` is the notation's name for the length of an axis, and your function "
        "has given it no value. Where does an array keep these lengths?"
    )


def _has(code: FailingCode, module: str, name: str) -> bool:
    """Decide whether a module that the answer can use has a name."""
    value = code.frames[-1].f_globals.get(module) if code.frames else None
    return is_module(value) and name in vars(value)


def _nearest(name: str, known: list[str]) -> str:
    """Return the known name that a wrong one most likely means, or ""."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    if close:
        return close[0]
    initials = [
        each
        for each in known
        if "_" in each and "".join(part[:1] for part in each.split("_")) == name
    ]
    return initials[0] if len(initials) == 1 else ""


def _unbound(match: re.Match[str], code: FailingCode) -> str:
    name = match[1]
    return (
        f"Your function gives `{name}` its value further down, or on another way than "
        "the one that this call took (an `if`, a loop that never ran). What should it "
        "be at this line?"
    )


# Attributes


def _of_module(match: re.Match[str], code: FailingCode) -> str:
    module, name = match[1], match[2]
    module_name = {"numpy": "NumPy", "torch": "PyTorch"}.get(module, f"`{module}`")
    frames = code.frames[-1:]
    if any(is_function(frame.f_globals.get(name)) for frame in frames):
        return (
            f"{module_name} has no `{name}`; the one of this course is called by its "
            f"name alone: `{name}(…)`."
        )
    node = code.node
    value = code.value(node.value) if isinstance(node, ast.Attribute) else UNKNOWN
    known = [each for each in vars(value)] if is_module(value) else []
    near = _nearest(name, [each for each in known if not each.startswith("_")])
    start = code.code(node.value).strip("`") if isinstance(node, ast.Attribute) else ""
    if near and start:
        return f"{module_name} has no `{name}`; it has `{start}.{near}`."
    return f"{module_name} has no `{name}`."


TENSORS_ONLY = {
    "unsqueeze", "softmax", "exp", "view", "permute", "expand", "item_", "masked_fill",
    "log_softmax", "gather", "matmul", "mm", "bmm", "sqrt", "log", "abs", "pow", "tanh",
    "sigmoid", "relu", "detach", "numpy", "cpu", "float", "double", "long", "bool",
    "grad", "backward", "clone", "sub", "add", "mul", "div", "norm", "triu", "tril",
    "scatter", "topk", "cat", "stack", "unbind", "chunk", "contiguous", "square", "t",
}  # fmt: skip


def _of_array(match: re.Match[str], code: FailingCode) -> str:
    name, text = match[1], ""
    node = code.node
    if isinstance(node, ast.Attribute):
        text = code.code(node.value)
    what = text or "what stands before the point"
    if name in TENSORS_ONLY:
        return (
            f"{capital(what)} is a NumPy array, and `.{name}` belongs to PyTorch's "
            "tensors. Which function of NumPy does the same?"
        )
    close = _nearest(name, [each for each in dir(_array_type()) if each[0] != "_"])
    if close:
        return f"A NumPy array has no `.{name}`; it has `.{close}`."
    return f"{capital(what)} is a NumPy array, and an array has no `.{name}`."


def _array_type() -> type:
    import numpy as np

    return np.ndarray


def _of_tensor(match: re.Match[str], code: FailingCode) -> str:
    name = match[1]
    if name in ("astype", "copy"):
        other = {"astype": "`.to`", "copy": "`.clone`"}[name]
        return f"`.{name}` belongs to NumPy's arrays; a tensor has {other} for it."
    return ""


def of_none(match: re.Match[str], code: FailingCode) -> str:
    """Return where a None comes from."""
    for node in _nones(code):
        what = code.code(node, "a value here")
        if isinstance(node, ast.Name):
            for value in code.assigned(node.id):
                if any(part is code.node for part in ast.walk(value)):
                    continue  # it has stopped before it gave anything
                called = value.func if isinstance(value, ast.Call) else None
                name = _last_name(called) if called else ""
                if name in CHANGE_IN_PLACE:
                    return (
                        f"{what} is None: `{name}` does its work and returns nothing, "
                        "so that there is nothing to give a name to."
                    )
                if called is not None and code.words(called):
                    return f"{what} is None: that is what `{code.words(called)}` gave."
        return f"{what} is None here."
    for part in ast.walk(code.node) if code.node else ():
        if isinstance(part, ast.Attribute) and part.attr == "grad":
            if is_tensor(code.value(part.value)):
                return _no_gradient(code.code(part, "`.grad`"))
        called = part.func if isinstance(part, ast.Call) else None
        name = _last_name(called) if called else ""
        if isinstance(called, ast.Attribute) and name in CHANGE_IN_PLACE:
            return f"`.{name}(…)` does its work and returns None."
        if name == "print":
            return "`print` writes to the screen, and returns None."
    return ""


def _no_gradient(what: str) -> str:
    return (
        f"{what} is None: a tensor has a gradient of its own only once `backward()` "
        "has run. Where does this exercise have its gradients?"
    )


def _nones(code: FailingCode) -> Iterator[ast.Name]:
    return (node for node in code.names() if code.value(node) is None)


def _last_name(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _of_other(match: re.Match[str], code: FailingCode) -> str:
    """Explain an attribute that a list, tuple, number, text or dictionary lacks."""
    kind, name = match[1], match[2]
    node = code.node
    what = code.code(node.value) if isinstance(node, ast.Attribute) else ""
    if kind == "dict":
        whose = what or "it"
        return (
            f"{capital(whose)} is a dictionary: what it holds is reached by its key "
            "in square brackets, not after a point."
        )
    if kind in ("builtin_function_or_method", "function", "method"):
        return uncalled(match, code)
    words = {
        "list": "a list",
        "tuple": "a tuple",
        "int": "an integer",
        "float": "a float",
        "str": "a text (a str)",
        "set": "a set",
    }.get(kind, "")
    if not words:
        return ""
    whose = capital(what) if what else "What stands before the point"
    if kind == "tuple" and isinstance(node, ast.Attribute):
        base = node.value
        values = code.assigned(base.id) if isinstance(base, ast.Name) else []
        for value in values:
            if isinstance(value, ast.Call) and (called := code.words(value.func)):
                return (
                    f"{whose} is a tuple: `{called}` returns more than one result, and "
                    "all of them have got this one name."
                )
    of_arrays = name in {"shape", "ndim", "T", "sum", "max", "mean", "reshape", "dtype"}
    of_arrays |= name in TENSORS_ONLY
    if of_arrays and kind in ("list", "tuple"):
        return (
            f"{whose} is {words}, and `.{name}` belongs to arrays and tensors. "
            f"{'Which of its results do you mean?' if kind == 'tuple' else ''}"
        ).strip()
    if of_arrays and kind in ("int", "float"):
        return f"{whose} is a single number, {words}, and `.{name}` belongs to arrays."
    return f"{whose} is {words}, and has no `.{name}`."


# Calls


def uncalled(match: re.Match[str], code: FailingCode) -> str:
    """Find a method or function without its brackets."""
    for node in ast.walk(code.node) if code.node else ():
        parent = code.enclosing(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            continue
        if isinstance(node, ast.Attribute) and is_function(code.value(node)):
            parts = code.words(node)
            if parts and isinstance(parent, ast.Subscript) and parent.value is node:
                return f"`{parts}` is a function: it takes round brackets, not square."
            if parts:
                return f"`{parts}` is the function itself: `{parts}()` would call it."
        if isinstance(node, ast.Name) and is_function(code.value(node)):
            if isinstance(parent, ast.Subscript) and parent.value is node:
                return (
                    f"`{node.id}` is a function: it takes round brackets, not square."
                )
            if isinstance(parent, ast.Attribute) and not is_module(code.value(node)):
                return (
                    f"`{node.id}` is the function itself, and not what it returns: it "
                    "is called with brackets and its arguments in them."
                )
            if not isinstance(parent, ast.Attribute):
                functions = [
                    value
                    for value in code.assigned(node.id)
                    if is_function(code.value(value))
                ]
                if functions and code.words(functions[0]):
                    words = code.words(functions[0])
                    return (
                        f"`{node.id}` is the function `{words}`, which is not called."
                    )
                return (
                    f"`{node.id}` is the function itself, and not what it returns: it "
                    "is called with brackets and its arguments in them."
                )
    return ""


def _not_callable(match: re.Match[str], code: FailingCode) -> str:
    node = code.node
    if not isinstance(node, ast.Call):
        return ""
    what, kind = code.code(node.func, "what stands there"), match[1]
    inside = code.words(node.func)
    if kind in ("int", "float"):
        if isinstance(node.func, ast.Attribute):
            return f"{what} is a number: it takes no brackets."
        return (
            f"{capital(what)} is a number, and brackets right after it call it as a "
            "function. Is a `*` missing?"
        )
    if inside.endswith(".shape"):
        return f"{what} is a tuple: it takes square brackets, not round ones."
    if kind in ("dict", "list", "tuple", "numpy.ndarray", "Tensor", "str"):
        names = {
            "dict": "a dictionary",
            "list": "a list",
            "tuple": "a tuple",
            "str": "a text",
            "Tensor": "a tensor",
        }
        return (
            f"{capital(what)} is {names.get(kind, 'an array')}, and round brackets "
            "call a function: an entry of it takes square brackets."
        )
    if kind == "module":
        return f"{capital(what)} is a module, not a function: which function in it?"
    return ""


OTHER_WORD = {
    "dim": "axis",
    "keepdim": "keepdims",
    "axis": "dim",
    "keepdims": "keepdim",
}


def _unexpected_keyword(match: re.Match[str], code: FailingCode) -> str:
    name, keyword = match[1].split(".")[-1], match[2]
    if not isinstance(code.node, ast.Call):
        return ""
    function = code.value(code.node.func)
    taken = _parameters(function)
    called = code.code(code.node.func, f"`{name}`")
    other = OTHER_WORD.get(keyword, "")
    if other and (other in taken or (not taken and keyword in ("dim", "keepdim"))):
        library = {"dim": "PyTorch", "keepdim": "PyTorch"}.get(keyword, "NumPy")
        return (
            f"{called} calls that argument `{other}`: `{keyword}` is the word of "
            f"{library}."
        )
    if taken:
        return f"{called} takes {_listed(taken)}, and nothing called `{keyword}`."
    return ""


def _parameters(function: object) -> list[str]:
    if not is_function(function):
        return []
    try:
        parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    kinds = {each.kind for each in parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return []  # what it passes on is not known
    return [*parameters]


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _wrong_number(match: re.Match[str], code: FailingCode) -> str:
    """Explain a call with too few or too many arguments."""
    if not isinstance(code.node, ast.Call):
        return ""
    taken = _parameters(code.value(code.node.func))
    called = code.code(code.node.func)
    if not taken or not called:
        return ""
    n_arguments = len(code.node.args) + len(code.node.keywords)
    arguments = (
        "no argument"
        if not n_arguments
        else f"{n_arguments} argument{'s'[: n_arguments > 1]}"
    )
    return f"{called} takes {_listed(taken)}; this call gives it {arguments}."


def _own_signature(match: re.Match[str], code: FailingCode) -> str:
    """Explain that a check's call does not fit the parameters of the answer."""
    if code.frames:
        return _wrong_number(match, code)
    if " missing " in match[0]:
        return (
            "Your first line asks for an argument that the check leaves out or names "
            "otherwise: does it have the stub's names, and its `= …` behind them?"
        )
    return (
        "Your first line takes other arguments than the stub's did: the check needs "
        "its names, its order, and its values for those that are left out."
    )


CAUSES: tuple[tuple[str, str, Explain], ...] = (
    ("UnboundLocalError", r"local variable '(\w+)'", _unbound),
    ("NameError", r"name '(\w+)' is not defined", _undefined),
    ("AttributeError", r"module '([\w.]+)' has no attribute '(\w+)'", _of_module),
    ("AttributeError", r"'numpy.ndarray' object has no attribute '(\w+)'", _of_array),
    ("AttributeError", r"'Tensor' object has no attribute '(\w+)'", _of_tensor),
    ("AttributeError", r"'NoneType' object has no attribute", of_none),
    ("AttributeError", r"'([\w.]+)' object has no attribute '(\w+)'", _of_other),
    ("TypeError", r"'([\w.]+)' object is not callable", _not_callable),
    ("TypeError", r"(\S+)\(\) got an unexpected keyword argument '(\w+)'",
     _unexpected_keyword),
    ("TypeError", r"\(\) takes .* but \d+ (was|were) given", _own_signature),
    ("TypeError", r"\(\) missing \d+ required", _own_signature),
)  # fmt: skip
