"""The course's own answer to an exercise, as the teacher's notebook has it."""

import ast
import inspect
import textwrap
from collections.abc import Callable

NO_ANSWER = "    raise NotImplementedError  # replace this line with your answer"
REFUSAL = "arguments."  # so begins what refuses what a reference cannot compute


def as_answer(reference: Callable[..., object]) -> str:
    """Return a reference's source without the course's own checks of arguments.

    An answer is called with what its docstring allows, and need not refuse the rest.
    So ``arguments.whole("m ≥ 0", m)`` becomes m, its value, as does
    ``arguments.floats(leak, m)`` in ``leak``; what then does nothing is left out, such
    as ``m = m``.
    """
    text = textwrap.dedent(source_of(reference)).rstrip("\n")
    text = _without(text, _is_refusal)
    name = reference.__name__
    while checks := [each for each in ast.walk(ast.parse(text)) if _values(each, name)]:
        check, values = checks[-1], _values(checks[-1], name)  # none is within it
        written = ast.get_source_segment(text, check) or ""
        value = ", ".join(map(ast.unparse, values))
        is_name = isinstance(values[0], ast.Name) and len(values) == 1
        text = text.replace(written, value if is_name else f"({value})")
    return _without(text, _assigns_to_itself)


def source_of(function: Callable[..., object]) -> str:
    """Return a function's source, also in a class's edition, where it is packed."""
    packed = getattr(function, "__globals__", {}).get("packed")  # builtins have none
    if not isinstance(packed, bytes):
        return inspect.getsource(function)
    text = packed.decode()
    (node,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    )
    return ast.get_source_segment(text, node) or ""


def as_stub(reference: Callable[..., object]) -> str:
    """Return what an exercise's cell holds before it is answered."""
    text = as_answer(reference)
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    first = function.body[0]
    end = first.end_lineno if ast.get_docstring(function) else first.lineno - 1
    return "\n".join([*text.splitlines()[:end], NO_ANSWER])


def is_above_an_answer(name: str, text: str) -> bool:
    """Decide whether a function has a bare stub's line and other lines of its own.

    text : of the cell that defines it
    """
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):  # with a line of IPython's, say
        return False
    bodies = [
        node.body[1:] if ast.get_docstring(node) is not None else node.body
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    stubs = [list(map(_is_stub, body)) for body in bodies]
    return any(any(each) and not all(each) for each in stubs)


def _is_stub(node: ast.stmt) -> bool:
    kinds = "NotImplementedError", "NotImplementedError()"
    return isinstance(node, ast.Raise) and ast.unparse(node) in [
        f"raise {kind}" for kind in kinds
    ]


def _is_refusal(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith(REFUSAL)


def _assigns_to_itself(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[target], value=value):
            return ast.unparse(target) == ast.unparse(value)
    return False


def _without(text: str, is_left_out: Callable[[ast.AST], bool]) -> str:
    """Return a text without the rows of some statements."""
    left_out = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and is_left_out(node)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    rows = enumerate(text.splitlines(), start=1)
    return "\n".join(row for number, row in rows if number not in left_out)


def _values(node: ast.AST, name: str) -> list[ast.expr]:
    """Return the arguments that a check returns; none if this is no such check.

    name : of the function, which may be there in place of the text of a check
    """
    match node:
        case ast.Call(args=[ast.Constant(str()), ast.Starred(ast.Tuple(values))]):
            pass
        case ast.Call(args=[ast.Constant(str()), *values]):
            pass
        case ast.Call(args=[ast.Name(first), *values]) if first == name:
            pass
        case _:
            return []
    return values if ast.unparse(node).startswith(REFUSAL) else []
