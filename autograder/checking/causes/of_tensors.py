"""What exceptions of PyTorch's own mean, most often: kinds of arguments, gradients."""

import ast
import re

from autograder.checking.causes.failing_code import Explain, FailingCode


def _viewed(match: re.Match[str], code: FailingCode) -> str:
    return (
        "`view` reads the numbers in the order in which they lie in memory, and after "
        "an exchange of axes that is not the order of the tensor. `reshape` copies."
    )


def _not_a_tensor(match: re.Match[str], code: FailingCode) -> str:
    kinds = {"numpy.ndarray": "a NumPy array", "list": "a list", "tuple": "a tuple"}
    kinds |= {"float": "a number of Python's", "int": "a number of Python's"}
    kinds |= {"NoneType": "None", "str": "a text (a str)"}
    what = kinds.get(match[2], f"of type {match[2]}")
    called = code.code(code.node.func) if isinstance(code.node, ast.Call) else ""
    name = called or f"PyTorch's `{match[1]}`"
    return f"{name} takes a tensor, and what it is given here is {what}."


def _other_argument(match: re.Match[str], code: FailingCode) -> str:
    """Explain that an argument of one of PyTorch's functions is of another kind."""
    name, position, right = match[2], int(match[3]), match[4]
    call = code.node
    if not isinstance(call, ast.Call) or position > len(call.args):
        return ""
    argument = code.code(call.args[position - 1])
    kind = ", an integer," if right == "int" else ""
    called = code.code(call.func, f"`{match[1]}`")
    if not argument:
        return ""
    return (
        f"In position {position}, {called} takes `{name}`{kind} and this call gives it "
        f"{argument} there. In which order does it take its arguments?"
    )


def _of_mixed(match: re.Match[str], code: FailingCode) -> str:
    kinds = {match[1], match[2]}
    if kinds != {"Tensor", "numpy.ndarray"}:
        return ""
    return (
        "One side is a tensor of PyTorch and the other an array of NumPy: they do not "
        "mix in a product."
    )


def _tensor_dtypes(match: re.Match[str], code: FailingCode) -> str:
    return (
        "Both sides have to hold numbers of one dtype, and here one has another "
        "(float32 beside float64, or integers). Where is a tensor made without "
        "`dtype=`?"
    )


def _ids_are_integers(match: re.Match[str], code: FailingCode) -> str:
    return "Indices have to be a tensor of integers (int64), and here they are not."


def _beyond_in_gather(match: re.Match[str], code: FailingCode) -> str:
    if not isinstance(code.node, ast.Call) or "gather" not in code.words(
        code.node.func
    ):
        return ""
    return (
        "An index goes beyond the end of the axis along which `gather` takes. Which of "
        "its arguments says which axis that is, and what lies along it?"
    )


def _axes_of_gather(match: re.Match[str], code: FailingCode) -> str:
    return (
        "`gather` needs an index with as many axes as the tensor that it takes from, "
        "and here it has another number. Which axis is missing?"
    )


def _leaf_in_place(match: re.Match[str], code: FailingCode) -> str:
    return (
        "A tensor that collects gradients cannot be written into while PyTorch records "
        "what is computed. Is the change itself a part of the loss?"
    )


def _needs_detach(match: re.Match[str], code: FailingCode) -> str:
    return (
        "PyTorch still records this tensor for gradients, and NumPy cannot: "
        "`.detach()` takes it out of the record."
    )


def _no_graph(match: re.Match[str], code: FailingCode) -> str:
    return (
        "`backward` goes back from the loss to parameters, and this loss comes from "
        "none that collects gradients."
    )


def _not_scalar(match: re.Match[str], code: FailingCode) -> str:
    return "`backward` starts from one number, and this loss has several."


def _second_backward(match: re.Match[str], code: FailingCode) -> str:
    return (
        "`backward` runs a second time through what was computed once: is the loss "
        "computed anew in each step?"
    )


def _optimizer_of_names(match: re.Match[str], code: FailingCode) -> str:
    return (
        "An optimizer takes tensors, and is given names (texts): going through a "
        "dictionary gives its keys."
    )


CAUSES: tuple[tuple[str, str, Explain], ...] = (
    ("RuntimeError", r"view size is not compatible", _viewed),
    ("RuntimeError", r"index -?\d+ is out of bounds for dimension", _beyond_in_gather),
    ("TypeError", r"(\w+)\(\): argument '(\w+)' \(position (\d)\) must be (int), not T",
     _other_argument),
    ("TypeError", r"(\w+)\(\): argument '\w+' .*must be Tensor, not ([\w.]+)",
     _not_a_tensor),
    ("TypeError", r"unsupported operand type\(s\) for [^:]+: '([^']+)' and '([^']+)'",
     _of_mixed),
    ("RuntimeError", r"to have the same dtype|expected scalar type", _tensor_dtypes),
    ("IndexError", r"tensors used as indices must be", _ids_are_integers),
    ("RuntimeError", r"Expected dtype int64 for index", _ids_are_integers),
    ("RuntimeError", r"Index tensor must have the same number of dimensions",
     _axes_of_gather),
    ("RuntimeError", r"leaf Variable that requires grad", _leaf_in_place),
    ("RuntimeError", r"Can't call numpy\(\) on Tensor that requires grad",
     _needs_detach),
    ("RuntimeError", r"does not require grad and does not have a grad_fn", _no_graph),
    ("RuntimeError", r"can be implicitly created only for scalar", _not_scalar),
    ("RuntimeError", r"backward through the graph a second time", _second_backward),
    ("TypeError", r"optimizer can only optimize Tensors, but one of the params is str",
     _optimizer_of_names),
)  # fmt: skip
