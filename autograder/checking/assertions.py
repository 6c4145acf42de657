"""What the text of a learner's test shows: assertions that cannot fail or are not met.

Each sentence is of the text alone and holds however the test is run. It ends with a
question, and names a line.
"""

import ast
from collections.abc import Iterator

COMPARISONS = {"allclose", "array_equal", "isclose", "equal", "all", "any"}
SWALLOWED = "AssertionError", "Exception", "BaseException"
MAX_CODE = 60  # characters of code in a sentence


def cannot_fail(text: str, name: str) -> str:
    """Return a sentence on an assertion of a test that cannot fail, or "".

    text : of the cell that defines the test
    name : of the test
    """
    test = _definition(text, name)
    if test is None:
        return ""
    rules = _constant, _swallowed, _with_itself, _dropped, _never_called
    for rule in (*rules, _results_dropped, _truth_values, _signed_differences):
        for sentence in rule(test):
            return sentence
    return ""


def has_no_assertion(text: str, name: str) -> bool:
    """Decide whether nothing in a test raises or is named as if it asserted."""
    test = _definition(text, name)
    if test is None:
        return False
    for node in ast.walk(test):
        called = _name(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Assert | ast.Raise) or called.startswith("assert"):
            return False
    # A function of the learner's own may assert elsewhere in the cell.
    body = ast.parse(text).body
    own = {each.name for each in body if isinstance(each, ast.FunctionDef)} - {name}
    return not own & {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}


def compared_with_itself(text: str, name: str) -> int:
    """Return the line of an assertion that compares a function's results, else 0.

    It is one on whose both sides stand results of the function that the test gets, and
    no assertion compares such a result with anything else but a shape or a length.
    """
    test = _definition(text, name)
    if test is None or not test.args.args:
        return 0
    function, results = test.args.args[0].arg, set[str]()
    for node in ast.walk(test):
        if isinstance(node, ast.Assign) and _is_result(node.value, function, results):
            names = (each for target in node.targets for each in ast.walk(target))
            results |= {each.id for each in names if isinstance(each, ast.Name)}
    lines = []
    for node in _assertions(test):
        for pair in _compared(node.test):
            sides = [_is_result(each, function, results) for each in pair]
            if all(sides):
                lines.append(node.lineno)
            elif any(sides):
                return 0
    return lines[0] if lines else 0


def _is_result(node: ast.expr, function: str, results: set[str]) -> bool:
    """Decide whether an expression is a result of the function, or a part of one."""
    match node:
        case ast.Name(id=name):
            return name in results
        case ast.Subscript(value=value):
            return _is_result(value, function, results)
        case ast.Call(func=ast.Name(id=name)):
            return name == function
    return False


def _compared(node: ast.AST) -> Iterator[list[ast.expr]]:
    """Yield what an assertion wants to be alike, two by two: nothing behind a "not"."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            return
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            yield [left, right]
        case ast.Call(func=called, args=[left, right, *_]):
            if _name(called) in COMPARISONS:
                yield [left, right]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr | ast.comprehension | ast.keyword):
            yield from _compared(child)


def assertion_at(text: str, line_number: int) -> str:
    """Return the assertion around a line, on one line and without its message."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return ""
    for node in nodes:
        if isinstance(node, ast.Assert):
            if node.lineno <= line_number <= (node.end_lineno or node.lineno):
                return shortened(f"assert {ast.unparse(node.test)}", 90)
    return ""


def line_of(text: str, line_number: int) -> str:
    """Return a line of a text, "" if it has no such line."""
    lines = text.splitlines()
    return lines[line_number - 1].strip() if 0 < line_number <= len(lines) else ""


def shortened(code: str, most: int = MAX_CODE) -> str:
    """Return code or a message on one line, cut where it is long."""
    code = " ".join(code.split())
    return code if len(code) <= most else code[: most - 2].rstrip() + " …"


def _definition(text: str, name: str) -> ast.FunctionDef | None:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):  # with a line of IPython's, say
        return None
    own = [
        each for each in body if isinstance(each, ast.FunctionDef) and each.name == name
    ]
    return own[-1] if own else None


def _name(node: ast.AST) -> str:
    """Return the last part of a name such as np.allclose."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _assertions(test: ast.AST) -> Iterator[ast.Assert]:
    return (node for node in ast.walk(test) if isinstance(node, ast.Assert))


def _constant(test: ast.FunctionDef) -> Iterator[str]:
    for node in _assertions(test):
        where = f"The assertion in line {node.lineno} cannot fail"
        match node.test:
            case ast.Tuple(elts=[_, *_]):
                yield (
                    f"{where}: its brackets make a tuple of the condition and the "
                    "message, and a tuple that holds something counts as true. What "
                    "does `assert` look at if you leave out the brackets?"
                )
            case ast.List(elts=[_, *_]) | ast.Set() | ast.JoinedStr(values=[_, *_]):
                yield (
                    f"{where}: `{shortened(ast.unparse(node.test))}` is not empty, and "
                    "what is not empty counts as true. Which condition should it ask?"
                )
            case ast.Constant(value=value) if value:
                yield (
                    f"{where}: `{shortened(ast.unparse(node.test))}` counts as true. "
                    "Which condition should it ask?"
                )
            case ast.GeneratorExp() | ast.Lambda():
                yield (
                    f"{where}: a generator or a lambda counts as true, whatever it "
                    "would give. What do `all(…)` and a call do?"
                )
            case ast.BoolOp(op=ast.Or(), values=values) if any(
                isinstance(each, ast.Constant) and each.value for each in values
            ):
                yield (
                    f"{where}: `or` is followed or preceded by a value that counts as "
                    "true by itself. What does Python compare there?"
                )
            case ast.Name(id=called) | ast.Attribute(attr=called) if (
                called in COMPARISONS and not _is_bound(test, node.test)
            ):
                yield (
                    f"{where}: `{ast.unparse(node.test)}` is a function that is not "
                    "called, and a function counts as true. What is missing behind it?"
                )


def _is_bound(test: ast.AST, node: ast.expr) -> bool:
    """Decide whether a test itself gives a value to a name."""
    if not isinstance(node, ast.Name):
        return False
    names = (each for each in ast.walk(test) if isinstance(each, ast.Name))
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return node.id in bound


def _swallowed(test: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(test):
        if not isinstance(node, ast.Try):
            continue
        inside = (each for part in node.body for each in ast.walk(part))
        if not any(isinstance(each, ast.Assert) for each in inside):
            continue
        for handler in node.handlers:
            kinds = [_name(each) for each in _kinds(handler)]
            if kinds and not any(kind in SWALLOWED for kind in kinds):
                continue
            if all(map(_says_nothing, handler.body)):
                yield (
                    f"The `except` in line {handler.lineno} catches the AssertionError "
                    "that your assertions above it raise, and raises none: who calls "
                    "your test learns nothing. What should happen there?"
                )
            break  # a later handler never gets an AssertionError


def _kinds(handler: ast.ExceptHandler) -> list[ast.expr]:
    match handler.type:
        case None:
            return []
        case ast.Tuple(elts=kinds):
            return kinds
        case kind:
            return [kind]


def _says_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        called = _name(node.value.func) if isinstance(node.value, ast.Call) else ""
        return called == "print" or isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass | ast.Return | ast.Continue | ast.Break)


def _with_itself(test: ast.FunctionDef) -> Iterator[str]:
    for node in _assertions(test):
        for left, right in _compared(node.test):
            if ast.dump(left) == ast.dump(right):
                code = shortened(ast.unparse(left))
                yield (
                    f"The assertion in line {node.lineno} compares `{code}` with "
                    "itself. What should it be compared with?"
                )


def _dropped(test: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(test):
        if not isinstance(node, ast.Expr):
            continue
        called = _name(node.value.func) if isinstance(node.value, ast.Call) else ""
        if isinstance(node.value, ast.Compare) or called in COMPARISONS:
            yield (
                f"Line {node.lineno} computes `{shortened(ast.unparse(node.value))}` "
                "and does nothing with it. What has to stand in front of it?"
            )


def _never_called(test: ast.FunctionDef) -> Iterator[str]:
    names = {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}
    for node in ast.walk(test):
        if not isinstance(node, ast.FunctionDef) or node is test:
            continue
        if node.name not in names and any(_assertions(node)):
            yield (
                f"`{node.name}`, in line {node.lineno}, has assertions, and your test "
                "never calls it. Where should it be called?"
            )


def _results_dropped(test: ast.FunctionDef) -> Iterator[str]:
    function = test.args.args[0].arg if test.args.args else ""
    calls = [
        each
        for each in ast.walk(test)
        if isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Name)
        and each.value.func.id == function
    ]
    names = [each.id for each in ast.walk(test) if isinstance(each, ast.Name)]
    if calls and len(calls) == names.count(function):
        yield (
            f"Line {calls[0].lineno} calls `{function}` and drops what it returns, so "
            "no assertion can look at it. Which name should the result get?"
        )


def _truth_values(test: ast.FunctionDef) -> Iterator[str]:
    for node in _assertions(test):
        match node.test:
            case ast.Compare(
                left=ast.Call(
                    func=ast.Attribute(attr="all"), args=[], keywords=[]
                ) as left,
                ops=[ast.Eq()],
                comparators=[
                    ast.Call(func=ast.Attribute(attr="all"), args=[], keywords=[])
                ],
            ):
                yield (
                    f"Line {node.lineno} compares two truth values: "
                    f"`{shortened(ast.unparse(left))}` says whether no number in it is "
                    "0, whatever the numbers are. What has to be compared before `all` "
                    "is asked?"
                )


def _signed_differences(test: ast.FunctionDef) -> Iterator[str]:
    if "min(" in ast.unparse(test):  # which may look at the other sign
        return
    differences = []
    for node in ast.walk(test):
        if not isinstance(node, ast.Assert | ast.If):
            continue
        match node.test:
            case ast.Compare(
                left=ast.Call(
                    func=ast.Attribute(
                        value=ast.BinOp(op=ast.Sub()) as difference, attr="max"
                    )
                ),
                ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()],
            ):
                differences.append((node.lineno, shortened(ast.unparse(difference))))
    if len(differences) == 1:  # two may be those of both signs
        line, code = differences[0]
        yield (
            f"In line {line} the largest of `{code}` is taken with the signs: a "
            "difference below 0, however far, is never too large. What does `np.abs` "
            "do to it?"
        )
