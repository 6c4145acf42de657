"""The expression at which a learner's function stopped, and what its names hold.

Nothing of the learner's is run again: names are looked up in the frames of the call,
and of arrays only the shape, the transposed array and single entries are taken.
"""

import ast
import builtins
import functools
import itertools
import linecache
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.checking.values import is_array, is_one_of, is_tensor

MAX_CODE = 40  # characters of code in a sentence
UNKNOWN = object()  # the value of an expression that is not evaluated
Loop = ast.For | ast.comprehension


class FailingCode:
    """Where a learner's code stopped.

    frames : of the learner's functions in the call, the outermost first
    node : the failing expression, or the statement around it; None if it is not known
    """

    def __init__(self, traces: Sequence[types.TracebackType]) -> None:
        """Find the failing expression from the traceback's learner's part."""
        self.frames = [trace.tb_frame for trace in traces]
        self.node: ast.AST | None = None
        self.text, self.tree = "", ast.Module([], [])
        if not traces:
            return
        code, instruction = self.frames[-1].f_code, traces[-1].tb_lasti // 2
        positions = itertools.islice(code.co_positions(), instruction, instruction + 1)
        position = next(positions, (None,) * 4)
        self.text = "".join(linecache.getlines(code.co_filename))
        self.tree = _parsed(self.text)
        for node in ast.walk(self.tree):
            if _position(node) == position and not isinstance(node, ast.Expr):
                self.node = node
                break

    def value(self, node: ast.AST | None) -> Any:
        """Return what an expression holds, where that runs nobody's code."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Attribute(value=base, attr=attribute):
                return _of_attribute(self.value(base), attribute)
            case ast.Subscript(value=base, slice=index):
                return _entry(self.value(base), self.value(index))
        return UNKNOWN

    def _of_name(self, name: str) -> Any:
        for frame in reversed(self.frames):
            if name in frame.f_locals:
                return frame.f_locals[name]
        names: Mapping[str, Any] = self.frames[-1].f_globals if self.frames else {}
        return names.get(name, getattr(builtins, name, UNKNOWN))

    def names(self) -> Iterator[ast.Name]:
        """Yield the names in the failing expression that have a value."""
        for node in ast.walk(self.node) if self.node else ():
            if isinstance(node, ast.Name) and self.value(node) is not UNKNOWN:
                yield node

    def operands(self) -> tuple[ast.AST, ast.AST] | None:
        """Return both sides of the failing operator, or None."""
        match self.node:
            case ast.BinOp(left=left, right=right):
                return left, right
            case ast.Compare(left=left, comparators=[right]):
                return left, right
            case ast.AugAssign(target=left, value=right):
                return left, right
            case ast.Call(func=function, args=[left, right]) if self.words(
                function
            ) in ("np.dot", "np.matmul", "torch.matmul", "torch.mm", "torch.bmm"):
                return left, right
            case ast.Call(
                func=ast.Attribute(value=left, attr="matmul" | "mm" | "bmm"),
                args=[right],
            ) if not is_module(self.value(left)):
                return left, right
        return None

    def words(self, node: ast.AST | None) -> str:
        """Return an expression as it is written; "" if it is long or not known."""
        text = ast.get_source_segment(self.text, node) if node else ""
        text = " ".join((text or "").split())
        fits = 0 < len(text) <= MAX_CODE and "`" not in text and text.isprintable()
        return text if fits else ""

    def code(self, node: ast.AST | None, otherwise: str = "") -> str:
        """Return an expression between backticks, or other words for it."""
        words = self.words(node)
        return f"`{words}`" if words else otherwise

    def loop_over(self, name: str) -> Loop | None:
        """Return the loop that gives a name its values, the last one in the code."""
        deepest = None
        for node in ast.walk(self.tree):
            if isinstance(node, Loop) and name in _target_names(node.target):
                if self._is_in_function(node):
                    deepest = node
        return deepest

    def assigned(self, name: str) -> list[ast.expr]:
        """Return the expressions that the function gives a name."""
        values = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and self._is_in_function(node):
                if any(name in _target_names(each) for each in node.targets):
                    values.append(node.value)
        return values

    def enclosing(self, node: ast.AST | None) -> ast.AST | None:
        """Return the node that a node is a part of."""
        for each in ast.walk(self.tree):
            if any(child is node for child in ast.iter_child_nodes(each)):
                return each
        return None

    def _is_in_function(self, node: ast.AST) -> bool:
        """Decide whether a node lies in the function that failed, or one around it."""
        first = min((frame.f_code.co_firstlineno for frame in self.frames), default=0)
        line = node.target.lineno if isinstance(node, Loop) else _position(node)[0]
        return line is not None and line >= first


def is_module(value: Any) -> bool:
    """Decide whether a value is a module."""
    return type(value) is types.ModuleType


def is_function(value: Any) -> bool:
    """Decide whether a value is a function or method, and not a type or an object."""
    kinds = (
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
        types.MethodWrapperType,
        types.MethodDescriptorType,
    )
    return is_one_of(value, kinds)


def kind_of(value: Any) -> str:
    """Name what a value is, with its article; "" where there is no plain word."""
    if is_array(value):
        return "an array"
    if is_tensor(value):
        return "a tensor"
    words = {
        dict: "a dictionary",
        list: "a list",
        tuple: "a tuple",
        str: "a text (a str)",
        set: "a set",
        int: "an integer",
        float: "a float",
        bool: "a truth value",
        type(None): "None",
    }
    return words.get(type(value), "a function" if is_function(value) else "")


def _target_names(target: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _of_attribute(base: Any, attribute: str) -> Any:
    if is_module(base):
        return vars(base).get(attribute, UNKNOWN)
    if (is_array(base) or is_tensor(base)) and attribute in ("shape", "ndim"):
        return getattr(base, attribute)
    if is_array(base) and attribute == "T":
        return base.T
    if is_array(base) or is_tensor(base) or kind_of(base):
        method = getattr(type(base), attribute, UNKNOWN)
        if is_function(method):
            return method
    return UNKNOWN


def _entry(base: Any, index: Any) -> Any:
    try:
        if type(base) is dict and is_one_of(index, (int, str)):
            return base.get(index, UNKNOWN)
        if is_one_of(base, (list, tuple)) and type(index) is int:
            return base[index]
        if is_array(base) and type(index) is int:
            return base[index]
    except IndexError:
        pass
    return UNKNOWN


def _position(node: ast.AST) -> tuple[int | None, ...]:
    names = "lineno", "end_lineno", "col_offset", "end_col_offset"
    return tuple(getattr(node, name, None) for name in names)


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # a line of IPython's, say
        return ast.Module([], [])


def capital(text: str) -> str:
    """Return a text with a capital at its beginning, where its first sign has one."""
    return text[:1].upper() + text[1:]


# Returns what a message means that fits its pattern, "" where that is not certain.
Explain = Callable[[re.Match[str], FailingCode], str]
