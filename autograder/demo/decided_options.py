"""A function of options as somebody would write it for one choice of them.

A bank's misconceptions are options of one function; in the demo's answers only what
one choice needs is left, so that they read like a learner's.
"""

import ast
import copy
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

UNKNOWN = object()


def with_options_decided(source: str, options: Mapping[str, Any]) -> str:
    """Return the source of a function for these values of its keyword options.

    The other options have their defaults. Branches that are not taken go, and so do
    dictionaries of which one entry is used.

    >>> source = "def f(x, *, by='two'):\\n    return x * {'two': 2, 'three': 3}[by]"
    >>> print(with_options_decided(source, {"by": "three"}))
    def f(x):
        return x * 3
    """
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    values = dict(options)
    for argument, default in zip(
        function.args.kwonlyargs, function.args.kw_defaults, strict=True
    ):
        if default is not None and _value(default) is not UNKNOWN:
            values.setdefault(argument.arg, _value(default))
    _join_tables(function)
    before = ""
    while (text := ast.unparse(function)) != before:
        before = text
        assigned = _names(function, ast.Store)
        known = {name: value for name, value in values.items() if name not in assigned}
        tables = _tables(function, assigned)
        lambdas = {
            each.targets[0].id: each.value
            for each in ast.walk(function)
            if isinstance(each, ast.Assign)
            and isinstance(each.targets[0], ast.Name)
            and isinstance(each.value, ast.Lambda)
            and assigned[each.targets[0].id] == 1
        }
        function.body = _Decided(known, tables, lambdas).statements(function.body)
        _drop_unused(function)
    loaded = _names(function, ast.Load)
    undecided = [
        (argument, default)
        for argument, default in zip(
            function.args.kwonlyargs, function.args.kw_defaults, strict=True
        )
        if argument.arg not in values or argument.arg in loaded
    ]
    function.args.kwonlyargs = [argument for argument, _ in undecided]
    function.args.kw_defaults = [
        _expression(options[argument.arg]) if argument.arg in options else default
        for argument, default in undecided
    ]
    return ast.unparse(ast.fix_missing_locations(function))


def _names(tree: ast.AST, context: type[ast.expr_context]) -> Counter[str]:
    names = (each for each in ast.walk(tree) if isinstance(each, ast.Name))
    counts = Counter(each.id for each in names if isinstance(each.ctx, context))
    for each in ast.walk(tree):  # `x += 1` reads x, too
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            counts[each.target.id] += context is ast.Load
    return counts


def _tables(function: ast.FunctionDef, assigned: Counter[str]) -> dict[str, ast.Dict]:
    """Return the dictionaries that are written out, bound once and never changed."""
    changed = {
        each.value.id
        for each in ast.walk(function)
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)
        if isinstance(each.value, ast.Name)
    }
    return {
        each.targets[0].id: each.value
        for each in ast.walk(function)
        if isinstance(each, ast.Assign)
        and isinstance(each.targets[0], ast.Name)
        and isinstance(each.value, ast.Dict)
        and assigned[each.targets[0].id] == 1
        and each.targets[0].id not in changed
    }


def _join_tables(function: ast.FunctionDef) -> None:
    """Write ``table |= {…}`` into the dictionary that it adds to."""
    tables: dict[str, ast.Dict] = {}
    body = []
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as table):
                tables[name] = table
            case ast.AugAssign(
                target=ast.Name(id=name), op=ast.BitOr(), value=ast.Dict() as more
            ) if name in tables:
                tables[name].keys += more.keys
                tables[name].values += more.values
                continue
        body.append(statement)
    function.body = body


def _drop_unused(function: ast.FunctionDef) -> None:
    """Drop what is computed for a name that nothing uses, or that has it already."""
    loaded = _names(function, ast.Load)
    for statement in ast.walk(function):
        match statement:
            case ast.Assign(
                targets=[ast.Tuple() as names], value=ast.Tuple() as values
            ) if all(isinstance(name, ast.Name) for name in names.elts):
                pairs = [
                    (name, value)
                    for name, value in zip(names.elts, values.elts, strict=True)
                    if isinstance(name, ast.Name) and loaded[name.id]
                    if ast.unparse(name) != ast.unparse(value)
                ]
                if len(pairs) == 1:
                    statement.targets, statement.value = [pairs[0][0]], pairs[0][1]
                elif pairs:
                    names.elts = [name for name, _ in pairs]
                    values.elts = [value for _, value in pairs]
                else:
                    statement.targets = [ast.Name("_", ast.Store())]
                    statement.value = ast.Constant(None)

    def is_unused(statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                same = isinstance(value, ast.Name) and value.id == name
                return same or not loaded[name]
        return False

    function.body = [each for each in function.body if not is_unused(each)]
    match function.body[-2:]:
        case [
            ast.Assign(targets=[ast.Name(id=name)], value=value),
            ast.Return(value=ast.Name(id=returned)) as end,
        ] if name == returned:
            end.value = value
            del function.body[-2]


class _Decided(ast.NodeTransformer):
    """Replaces known names, and what can be told from them."""

    def __init__(
        self,
        known: Mapping[str, Any],
        tables: Mapping[str, ast.Dict],
        lambdas: Mapping[str, ast.Lambda],
    ):
        """Keep what is known of names: values, dictionaries and functions."""
        self._known = known
        self._lambdas = lambdas
        self._tables = tables

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements that are left of a block."""
        left: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            left += new if isinstance(new, list) else [new]
            if isinstance(left[-1] if left else None, ast.Return | ast.Raise):
                break
        return left

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._known:
            return _expression(self._known[node.id])
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        node.test = self.visit(node.test)
        test = _value(node.test)
        if test is not UNKNOWN:
            return self.statements(node.body if test else node.orelse)
        node.body = self.statements(node.body) or [ast.Pass()]
        node.orelse = self.statements(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test = _value(self.visit(node.test))
        if test is UNKNOWN:
            return self.generic_visit(node)
        return self.visit(node.body if test else node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        ends = isinstance(node.op, ast.Or)  # the truth value that decides
        parts: list[ast.expr] = []
        for each in node.values:
            value = _value(each)
            if value is UNKNOWN:
                parts.append(each)
            elif bool(value) == ends:
                return each
        node.values = parts or [ast.Constant(not ends)]
        return node if len(node.values) > 1 else node.values[0]

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            table = self._table(node.comparators[0])
            if table is not None and all(table.keys):
                node.comparators = [ast.List([key for key in table.keys if key])]
        sides = [_value(node.left), *map(_value, node.comparators)]
        if len(sides) != 2 or any(side is UNKNOWN for side in sides):
            return node
        one, other = sides
        match node.ops[0]:
            case ast.Eq():
                return ast.Constant(one == other)
            case ast.NotEq():
                return ast.Constant(one != other)
            case ast.In():
                return ast.Constant(one in other)
            case ast.NotIn():
                return ast.Constant(one not in other)
            case ast.Is():
                return ast.Constant(one is other)
            case ast.IsNot():
                return ast.Constant(one is not other)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        neutral = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1}.get(type(node.op))
        value = _value(node.right)
        is_neutral = type(value) in (int, float) and value == neutral
        return node.left if is_neutral else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        value = _value(node.operand)
        if isinstance(node.op, ast.Not) and value is not UNKNOWN:
            return ast.Constant(not value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        entry = self._entry(node.value, node.slice)
        return node if entry is None else entry

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Name):
            called = self._lambdas.get(called.id, called)
        if isinstance(called, ast.Lambda) and not node.keywords:
            if all(isinstance(each, ast.Name) for each in node.args):
                names = (argument.arg for argument in called.args.args)
                return _Renamed(dict(zip(names, node.args, strict=False))).visit(
                    copy.deepcopy(called.body)
                )
        is_get = isinstance(called, ast.Attribute) and called.attr == "get"
        if not is_get or len(node.args) != 2:
            return node
        assert isinstance(called, ast.Attribute)
        table = self._table(called.value)
        if table is None or _value(node.args[0]) is UNKNOWN:
            return node
        entry = self._entry(called.value, node.args[0])
        return node.args[1] if entry is None else entry

    def _table(self, node: ast.expr) -> ast.Dict | None:
        if isinstance(node, ast.Name):
            node = self._tables.get(node.id, node)
        return node if isinstance(node, ast.Dict) else None

    def _entry(self, node: ast.expr, key: ast.expr) -> ast.expr | None:
        table, wanted = self._table(node), _value(key)
        if table is None or wanted is UNKNOWN:
            return None
        for each, value in zip(table.keys, table.values, strict=True):
            if each is not None and _value(each) == wanted:
                entry: ast.expr = self.visit(copy.deepcopy(value))
                return entry
        return None


class _Renamed(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, names: Mapping[str, ast.expr]):
        """Keep what stands for each name."""
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._names.get(node.id, node))


def _expression(value: Any) -> ast.expr:
    return ast.parse(_text(value), mode="eval").body


def _text(value: Any) -> str:
    """Write a value as code; infinities, classes and functions have no literal."""
    if isinstance(value, tuple):
        return "(" + "".join(f"{_text(part)}, " for part in value) + ")"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if callable(value):
        package = (getattr(value, "__module__", None) or "numpy").partition(".")[0]
        return {"numpy": "np.", "torch": "torch."}.get(package, "") + value.__name__
    return repr(value)


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return UNKNOWN
