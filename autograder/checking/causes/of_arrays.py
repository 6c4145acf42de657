"""What exceptions about shapes, axes and indices mean, most often."""

import ast
import re
from typing import Any

from autograder.checking.causes.failing_code import (
    Explain,
    FailingCode,
    capital,
    kind_of,
)
from autograder.checking.values import as_array, is_array, is_one_of, is_tensor

NUMBER_BY_NUMBER = {"maximum", "minimum", "add", "subtract", "multiply", "divide"}
REDUCTIONS = {"sum", "mean", "max", "min", "std", "var", "amax", "logsumexp", "norm"}
PRODUCTS = {"matmul", "dot", "mm", "bmm"}
WITH_PRODUCTS = {
    *PRODUCTS,
    *("linear", "bilinear", "einsum", "tensordot", "baddbmm"),
    *("scaled_dot_product_attention", "multi_head_attention_forward"),
}
LAST_AXES = "the last axis", "the last axis but one", "the last axis but two"


def _product(match: re.Match[str], code: FailingCode) -> str:
    """Explain a matrix product of arrays that do not fit."""
    sides = code.operands()
    if not sides and isinstance(code.node, ast.Call):
        if code.words(code.node.func).endswith("linear"):
            return (
                "`linear` multiplies by the transposed matrix: it pairs the last axis "
                "of both, and those two differ in length here."
            )
        return ""  # what happens inside of it is not known
    left, right = sides or (None, None)
    one = code.code(left, "the left side")
    other = code.code(right, "the right side")
    axes = _n_axes(code.value(left)), _n_axes(code.value(right))
    if 0 in axes:
        which = one if axes[0] == 0 else other
        return f"{capital(which)} is a single number, and a matrix product needs rows."
    of_left = "the only axis" if axes[0] == 1 else "the last axis"
    of_right = "the only axis" if axes[1] == 1 else "the last axis but one"
    pairs = f"{of_left} of {one} with {of_right} of {other}"
    return f"A matrix product pairs {pairs}, and those two differ in length here."


def _product_of_batches(match: re.Match[str], code: FailingCode) -> str:
    if isinstance(code.node, ast.Call) and _called(code.node) == "einsum":
        return _letters(match, code)
    sides = code.operands()
    if not sides:
        return ""
    one, other = (code.code(side, "one side") for side in sides)
    return (
        f"In a batch, {one} and {other} have to agree in the axes before the last two, "
        "and those differ here."
    )


def _called(node: ast.Call) -> str:
    """Return the last part of a name such as np.sum."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _letters(match: re.Match[str], code: FailingCode) -> str:
    """Explain an einsum in which a letter stands for axes of two lengths."""
    node = code.node
    if not isinstance(node, ast.Call) or _called(node) != "einsum" or not node.args:
        return ""
    rule, *operands = node.args
    if not isinstance(rule, ast.Constant) or type(rule.value) is not str:
        return ""
    inputs = rule.value.replace(" ", "").split("->")[0].split(",")
    lengths: dict[str, tuple[int, str]] = {}
    for letters, operand in zip(inputs, operands, strict=False):
        value, text = code.value(operand), code.code(operand)
        if not (is_array(value) or is_tensor(value)) or not text:
            return ""
        for back, letter in enumerate(reversed(letters.split("...")[-1])):
            if back >= value.ndim:
                return ""
            axis = LAST_AXES[back] if back < len(LAST_AXES) else "one axis"
            length, where = int(value.shape[-1 - back]), f"{axis} of {text}"
            before = lengths.setdefault(letter, (length, where))
            if before[0] != length and 1 not in (before[0], length):
                return (
                    f"In this `einsum` the letter {letter} stands for {before[1]} and "
                    f"for {where}, and those two differ in length here."
                )
    return ""


def _no_axes_to_multiply(match: re.Match[str], code: FailingCode) -> str:
    sides = code.operands()
    if not sides:
        return ""
    which = code.code(sides[int(match[1])], "one side")
    return f"{capital(which)} is a single number, and a matrix product needs an array."


def _n_axes(value: Any) -> int | None:
    if is_array(value) or is_tensor(value):
        return int(value.ndim)
    return 0 if is_one_of(value, (int, float)) else None


def _broadcast(match: re.Match[str], code: FailingCode) -> str:
    """Explain an operator between shapes that do not fit."""
    sides = code.operands()
    node = code.node
    called = code.words(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and called.split(".")[-1] in NUMBER_BY_NUMBER:
        if len(node.args) == 2:
            return (
                f"`{called}` goes number by number: the shapes of "
                f"{code.code(node.args[0], 'its first argument')} and "
                f"{code.code(node.args[1], 'its second')} have to fit from the last "
                "axis backwards, with equal lengths or 1, and they do not."
            )
    if isinstance(node, ast.Call) and _called(node) in WITH_PRODUCTS:
        return _product_of_batches(match, code) if _called(node) in PRODUCTS else ""
    operator = _symbol(node)
    if not sides or not operator:
        return (
            "Two shapes have to fit from the last axis backwards: in each, equal "
            "lengths or 1, and that is not so here."
        )
    one, other = sides
    for side in (other, one):
        if lost := _lost_axis(side, code):
            return (
                f"{code.code(lost, 'Your sum')} has lost the axis along which it is "
                "taken, so that its shape does not fit. How can that axis stay, with "
                "length 1?"
            )
    if operator == "@":
        return _product_of_batches(match, code)
    product = " (the matrix product is `@`)" if operator == "*" else ""
    return (
        f"`{operator}` goes number by number{product}: the shapes of "
        f"{code.code(one, 'its left side')} and {code.code(other, 'its right side')} "
        "have to fit from the last axis backwards, with equal lengths or 1, and they "
        "do not."
    )


def _no_room(match: re.Match[str], code: FailingCode) -> str:
    """Explain an in-place operator whose result is larger than what it writes into."""
    if not isinstance(code.node, ast.AugAssign):
        return ""
    target = code.code(code.node.target, "the left side")
    return (
        f"`{_symbol(code.node)}=` writes into the array {target}, and what comes out "
        "here has more entries than that has room for. Which operator makes a new "
        "array?"
    )


def _lost_axis(side: ast.AST, code: FailingCode) -> ast.AST | None:
    """Return a reduction along an axis that does not stay, in an expression."""
    values: list[ast.AST] = [side]
    if isinstance(side, ast.Name):
        values = [*code.assigned(side.id)]
    for node in values:
        if not isinstance(node, ast.Call):
            continue
        words = {each.arg for each in node.keywords}
        if _called(node) in REDUCTIONS and {"axis", "dim"} & words:
            if not {"keepdims", "keepdim"} & words:
                return side if isinstance(side, ast.Name) else node
    return None


COMPARISONS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def _symbol(node: ast.AST | None) -> str:
    """Return an operator as it is written; "" for other nodes."""
    symbols: dict[type, str] = {
        ast.Add: "+",
        ast.Sub: "-",
        ast.Mult: "*",
        ast.Div: "/",
        ast.Pow: "**",
        ast.MatMult: "@",
        ast.FloorDiv: "//",
        ast.Mod: "%",
        ast.BitAnd: "&",
        ast.BitOr: "|",
        ast.BitXor: "^",
        ast.LShift: "<<",
        ast.RShift: ">>",
    }
    if isinstance(node, ast.Compare):
        return COMPARISONS.get(type(node.ops[0]), "")
    return symbols.get(type(getattr(node, "op", None)), "")


def _does_not_fit_in(match: re.Match[str], code: FailingCode) -> str:
    target = code.code(code.node, "the left side")
    return f"What is written into {target} has another shape than what it replaces."


def _truth(match: re.Match[str], code: FailingCode) -> str:
    called = code.words(code.node.func) if isinstance(code.node, ast.Call) else ""
    if called in ("max", "min"):
        return (
            f"Python's `{called}` asks which of the arrays comes first as a whole. "
            "NumPy and PyTorch have a function that compares them number by number."
        )
    return (
        "A comparison of arrays gives True or False for each entry, and `if`, `and`, "
        "`or`, `not`, `max` and `min` need one for all."
    )


def _second_is_an_axis(match: re.Match[str], code: FailingCode) -> str:
    """Explain `np.max(one, other)`, which takes the second for an axis."""
    if not isinstance(code.node, ast.Call) or len(code.node.args) < 2:
        return ""
    called, second = code.words(code.node.func), code.node.args[1]
    if called.removeprefix("np.") not in ("max", "min", "amax", "amin", "sum", "mean"):
        return ""
    return (
        f"`{called}` goes through one array, and takes "
        f"{code.code(second, 'the second')} for an axis. What compares or adds two "
        "arrays number by number has another name."
    )


def _many_for_one(match: re.Match[str], code: FailingCode) -> str:
    if not isinstance(code.node, ast.Call):
        return ""
    called = code.words(code.node.func)
    what = next((code.code(each) for each in code.node.args), "")
    if not called or called.split(".")[0] not in ("math", "float", "int", "round"):
        return ""
    more = ""
    if called.startswith("math."):
        more = ": what does the same for each entry is NumPy's or PyTorch's"
    return f"`{called}` takes one number, and {what or 'this'} has several{more}."


def _axis(match: re.Match[str], code: FailingCode) -> str:
    what = ""
    if isinstance(code.node, ast.Call):
        first = next(iter(code.node.args), None)
        function = code.node.func
        is_method = isinstance(function, ast.Attribute) and _n_axes(
            code.value(function.value)
        )
        what = code.code(function.value if is_method else first)  # type: ignore[attr-defined]
    return (
        f"{capital(what or 'the array')} has fewer axes here: axes count from 0, and "
        "−1 is the last one, however many there are."
    )


def _no_axis(match: re.Match[str], code: FailingCode) -> str:
    what = ""
    if isinstance(code.node, ast.Call):
        what = code.code(next(iter(code.node.args), None))
    return f"{capital(what or 'this')} is a single number here, and has no axis."


def _transposed(match: re.Match[str], code: FailingCode) -> str:
    node = code.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    return (
        "NumPy's `transpose` takes all axes in their new order, unlike PyTorch's, "
        "which exchanges two. Which function of NumPy exchanges two axes?"
    )


def _too_many_indices(match: re.Match[str], code: FailingCode) -> str:
    what = code.code(code.node.value) if isinstance(code.node, ast.Subscript) else ""
    return (
        f"{capital(what or 'the array')} has fewer axes here than stand in the square "
        "brackets."
    )


def _beyond_the_end(match: re.Match[str], code: FailingCode) -> str:
    node = code.node
    if not isinstance(node, ast.Subscript):
        return ""
    at, what = code.code(node.slice), code.code(node.value)
    if not at or not what:
        return ""
    return (
        f"The index {at} goes beyond the end of that axis of {what}: positions run "
        "from 0 to its length minus 1."
    )


def _not_an_index(match: re.Match[str], code: FailingCode) -> str:
    node = code.node
    if not isinstance(node, ast.Subscript):
        return ""
    value = code.value(node.slice)
    if kind_of(value) in ("a float", "a text (a str)"):
        what = f"{capital(code.code(node.slice, 'the index'))} is {kind_of(value)}"
        more = ": `/` gives a float, `//` an integer" if type(value) is float else ""
        return f"{what}, and positions are integers{more}."
    if (is_array(value) or is_tensor(value)) and as_array(value).dtype.kind == "f":
        what = capital(code.code(node.slice, "the index"))
        return f"{what} holds floats, and positions are integers."
    return ""


def _not_cast(match: re.Match[str], code: FailingCode) -> str:
    if not isinstance(code.node, ast.AugAssign):
        return ""
    what = code.code(code.node.target, "the array")
    return (
        f"{capital(what)} holds integers, and `{_symbol(code.node)}=` would write "
        "floats into that same array; without the `=` there is a new one."
    )


def _reshaped(match: re.Match[str], code: FailingCode) -> str:
    return (
        "An array holds as many numbers before a change of its shape as after it, and "
        "the lengths that you give make another product here."
    )


def _unequal_rows(match: re.Match[str], code: FailingCode) -> str:
    return "The rows that make an array have to be equally long, and are not here."


def _sequence_for_number(match: re.Match[str], code: FailingCode) -> str:
    target = code.code(code.node)
    if not target or not isinstance(code.node, ast.Subscript):
        return ""
    return f"{target} has room for one number, and what is written there has several."


def _no_length(match: re.Match[str], code: FailingCode) -> str:
    node = code.node
    first = next(iter(node.args), None) if isinstance(node, ast.Call) else node
    what = capital(code.code(first, "what it is asked of"))
    return f"{what} is a single number here: it has neither length nor entries."


def _values_and_indices(match: re.Match[str], code: FailingCode) -> str:
    always = match[1] in ("sort", "topk", "mode")
    return (
        f"{'' if always else 'With an axis, '}PyTorch's `{match[1]}` returns two "
        "tensors together, the values and their indices. Which of the two does this "
        "line need?"
    )


def _of_one_number(match: re.Match[str], code: FailingCode) -> str:
    """Explain `.item()` of several numbers, else what takes one number."""
    node = code.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "item":
            what = code.code(node.func.value, "this tensor")
            return (
                f"`.item()` takes out a tensor's one number; {what} has several here."
            )
    return _many_for_one(match, code)


def _axis_left_out(match: re.Match[str], code: FailingCode) -> str:
    called = code.code(code.node.func) if isinstance(code.node, ast.Call) else ""
    return f"{called or f'`{match[1]}`'} has to be told the axis: `dim=…`."


def _unequal_stack(match: re.Match[str], code: FailingCode) -> str:
    return (
        "`stack` puts tensors of one shape beside each other, and here their lengths "
        "differ. Which of them is cut at another end than you mean?"
    )


def _of_truth_values(match: re.Match[str], code: FailingCode) -> str:
    return (
        f"PyTorch's `{match[1]}` takes numbers, and what it is given here holds True "
        "and False. What makes 1 and 0 of them?"
    )


def _searched(match: re.Match[str], code: FailingCode) -> str:
    return (
        "`searchsorted` looks up, for each row of sorted numbers, a row of values of "
        "its own: both need the same axes before the last. Which axis is missing?"
    )


def _not_one_integer(match: re.Match[str], code: FailingCode) -> str:
    """Explain a tensor of several numbers where one integer is asked for."""
    node = code.node
    if isinstance(node, ast.Call) and code.words(node.func) == "torch.tensor":
        return (
            "`torch.tensor` makes a tensor of numbers, and what it is given here is a "
            "list of tensors. Which function puts tensors beside each other?"
        )
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        for end in (node.slice.lower, node.slice.upper):
            if end is not None and not isinstance(end, ast.Constant):
                return (
                    "A slice goes from one integer to another, and "
                    f"{code.code(end, 'its end')} is a tensor of several: it would be "
                    "another slice for each of them."
                )
    return ""


CAUSES: tuple[tuple[str, str, Explain], ...] = (
    ("Exception", r"torch\.return_types\.(max|min|sort|topk|median|mode)\b",
     _values_and_indices),
    ("ValueError", r"does not have enough dimensions .*", lambda m, c: (
        _no_axes_to_multiply(re.match(r".*operand (\d)", m.string) or m, c))),
    ("ValueError", r"matmul: .*mismatch in its core dimension", _product),
    ("ValueError", r"shapes .* not aligned", _product),
    ("RuntimeError", r"mat1 and mat2 shapes cannot be multiplied", _product),
    ("RuntimeError", r"size mismatch, got input", _product),
    ("RuntimeError", r"inconsistent tensor size, expected tensor .* and src", _product),
    ("RuntimeError", r"Expected size for first two dimensions of batch2", _product),
    ("ValueError", r"could not be broadcast together with remapped shapes",
     _product_of_batches),
    ("RuntimeError", r"einsum\(\): subscript \w has size", _letters),
    ("ValueError", r"operands could not be broadcast together", _broadcast),
    ("ValueError", r"non-broadcastable output operand", _no_room),
    ("RuntimeError", r"output with shape .* doesn't match the broadcast", _no_room),
    ("RuntimeError", r"The size of tensor a .* must match the size of tensor b",
     _broadcast),
    ("ValueError", r"could not broadcast input array", _does_not_fit_in),
    ("RuntimeError", r"The expanded size of the tensor", _does_not_fit_in),
    ("ValueError", r"inhomogeneous shape", _unequal_rows),
    ("ValueError", r"setting an array element with a sequence", _sequence_for_number),
    ("ValueError", r"truth value of an array with more than one", _truth),
    ("RuntimeError", r"Boolean value of Tensor with more than one", _truth),
    ("TypeError", r"only (size-1|length-1|0-dimensional) arrays can be",
     _many_for_one),
    ("RuntimeError", r"a Tensor with \d+ elements cannot be converted", _of_one_number),
    ("RuntimeError", r"stack expects each tensor to be equal size", _unequal_stack),
    ("TypeError", r"only integer tensors of a single element", _not_one_integer),
    ("RuntimeError", r"(arg(?:max|min))\(\): does not support bool", _of_truth_values),
    ("RuntimeError", r"searchsorted\(\): boundaries tensor should be", _searched),
    ("ValueError", r"only one element tensors can be converted", _not_one_integer),
    ("TypeError", r"only integer scalar arrays can be converted", _second_is_an_axis),
    ("TypeError", r"(\w+)\(\) missing 1 required positional arguments?: \"dim\"",
     _axis_left_out),
    ("ValueError", r"axis=-?\d+ is not an axis of shape \(\)", _no_axis),
    ("ValueError", r"axis -?\d+ is out of bounds for array of dimension 0", _no_axis),
    ("ValueError", r"axis -?\d+ is out of bounds", _axis),
    ("ValueError", r"axis=-?\d+ is not an axis", _axis),
    ("ValueError", r"axis\d: -?\d+ is out of bounds", _axis),
    ("IndexError", r"Dimension out of range", _axis),
    ("ValueError", r"axes don't match array", _transposed),
    ("IndexError", r"too many indices", _too_many_indices),
    ("IndexError", r"invalid index to scalar variable", _too_many_indices),
    ("IndexError", r"index \S+ is out of bounds for (axis|dimension)", _beyond_the_end),
    ("IndexError", r"only integers, slices", _not_an_index),
    ("TypeError", r"Cannot cast ufunc '\w+' output from dtype\('float", _not_cast),
    ("RuntimeError", r"result type \w+ can't be cast to the desired", _not_cast),
    ("ValueError", r"cannot reshape array of size", _reshaped),
    ("RuntimeError", r"shape '.*' is invalid for input of size", _reshaped),
    ("TypeError", r"len\(\) of unsized object|len\(\) of a 0-d tensor", _no_length),
    ("TypeError", r"object of type '(int|float|numpy.float64)' has no len", _no_length),
    ("TypeError", r"iteration over a 0-d", _no_length),
)  # fmt: skip
