"""What is said of a text that stopped before an answer could be judged."""

import ast
import re
from collections.abc import Iterable, Iterator

from autograder.checking.result import ExerciseResult
from autograder.messages.description import one_line

RUN_ABOVE = "run the cells above first (Run → Run All Above Selected Cell)"
OF_TORCH = {"torch", "babel", "num2words", "sacrebleu", "safetensors"}
MISSING_NAME = re.compile(r"name '(\w+)' is not defined")

# What Python says of a line that it cannot read, and what that most often means.
SLIPS = (
    (r"expected ':'", "A colon is missing, most likely at the end of the line."),
    (r"'(.)' was never closed", "The bracket `{0}` in it is never closed."),
    (r"unmatched '(.)'", "The bracket `{0}` in it was never opened."),
    (
        r"closing parenthesis '(.)' does not match opening parenthesis '(.)'",
        "The bracket `{1}` is closed by `{0}`: one of the two is the wrong one.",
    ),
    (
        r"Maybe you meant '=='",
        "`=` gives a name its value; two values are compared with `==`.",
    ),
    (
        r"unterminated .*string|unterminated .*literal",
        "A text in quotation marks is never closed.",
    ),
    (r"forgot a comma", "A comma may be missing between two values."),
    (
        r"expected an indented block",
        "After a line that ends with a colon, the next one is indented by four spaces.",
    ),
    (
        r"unexpected indent",
        "It is indented further than the line above, and nothing there calls for it.",
    ),
    (
        r"unindent does not match",
        "Its indentation is that of none of the lines above: line it up with one.",
    ),
    (
        r"use of tabs and spaces",
        "Its indentation mixes tabs and spaces: use spaces only.",
    ),
    (
        r"'return' outside function",
        "A `return` belongs in a function: is the line indented too little?",
    ),
)


def unreadable(error: SyntaxError) -> str:
    """Return a sentence or two on a text that is not Python.

    >>> unreadable(SyntaxError("expected ':'", ("<cell>", 3, 9, "if x > 0", 3, 9)))
    "Python cannot read line 3, `if x > 0`. A colon is missing, most likely at the end \
of the line. Python's words: expected ':'."
    """
    words = str(error.msg or "invalid syntax").rstrip(".?")
    where = f"line {error.lineno}" if error.lineno else "this text"
    line = one_line(str(error.text or "").strip())
    start = f"Python cannot read {where}"
    start += f", `{line}`." if line and "`" not in line else "."
    return f"{start} {_slip(words)}Python's words: {words}."


def _slip(words: str) -> str:
    for pattern, sentence in SLIPS:
        if match := re.search(pattern, words):
            return sentence.format(*match.groups()) + " "
    return ""


def missing_package(error: BaseException) -> str:
    """Return what to do about a package that the first layer lacks, "" for others.

    >>> missing_package(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "This cell trains something and needs `torch`, which is not installed: `pip \
install 'attention-course[torch]'`, then restart the kernel. In lessons 00 to 06 you \
can go on below without it."
    """
    package = getattr(error, "name", None) or ""
    if not isinstance(error, ModuleNotFoundError) or package not in OF_TORCH:
        return ""
    return (
        f"This cell trains something and needs `{package}`, which is not installed: "
        "`pip install 'attention-course[torch]'`, then restart the kernel. In lessons "
        "00 to 06 you can go on below without it."
    )


def missing_name(result: ExerciseResult) -> str:
    """Return the one name for want of which all claims fail that do; "" otherwise."""
    missing = set()
    for verdict in result.claims:
        if verdict.failure is None:
            continue
        call = verdict.failure.call
        raised = call.result.raised if call else None
        match = MISSING_NAME.match(raised.message) if raised else None
        if not raised or raised.types[0] != "NameError" or not match:
            return ""
        missing.add(match[1])
    return missing.pop() if len(missing) == 1 else ""


def lasting_names(texts: Iterable[str]) -> set[str]:
    """Return the names of the modules, functions and classes that cells bind.

    Values are not among them: a function that misses one has most often misspelt it.

    >>> sorted(lasting_names(["import numpy as np\\nx = 1", "def f(): y = 2", "1 +"]))
    ['f', 'np']
    """
    return {name for text in texts for name in _bound(text)}


def _bound(text: str) -> Iterator[str]:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):  # a line of IPython's, say
        return
    for each in statements:
        match each:
            case ast.Import(names) | ast.ImportFrom(names=names):
                for alias in names:
                    yield alias.asname or alias.name.partition(".")[0]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
