"""What is said of a text that stopped before an answer could be judged."""

import ast
import re
from collections.abc import Iterable, Iterator

from autograder.checking.result import ExerciseResult
from autograder.messages import pytorch
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
        r"invalid decimal literal",
        "A name cannot begin with a digit, and a product needs its `*`.",
    ),
    (
        r"invalid non-printable character",
        "It has an invisible character, as texts from web pages do: type it anew.",
    ),
    (
        r"invalid character '(.)'",
        "`{0}` is no sign of Python's: which sign of the keyboard means the same?",
    ),
    (
        r"cannot assign to",
        "On the left of `=` stands what gets the value: a name, or an entry of it.",
    ),
    (
        r"'return' outside function",
        "A `return` belongs in a function: is the line indented too little?",
    ),
)


def unreadable(error: SyntaxError) -> str:
    """Return a sentence or two on a text that is not Python.

    >>> unreadable(SyntaxError("expected ':'", ("<cell>", 3, 9, "if x > 0", 3, 9)))
    "Python cannot read line 3, `if x > 0`. A colon is missing, before what is done \
there or at the end of the line. Python's words: expected ':'."
    """
    words = str(error.msg or "invalid syntax").rstrip(".?")
    where = f"line {error.lineno}" if error.lineno else "this text"
    line = one_line(str(error.text or "").strip())
    start = f"Python cannot read {where}"
    start += f", `{line}`." if line and "`" not in line else "."
    meaning = _of_line(error) or _slip(words)
    return f"{start} {meaning}Python's words: {words}."


# Signs and words of other languages, and slips that Python has no word for.
SLIPS_OF_A_LINE = (
    (r"\+\+|--\s*(;|$)", "Python has no `++` and no `--`: `+= 1` adds 1."),
    (r"&&|\|\|", "Python writes `and` and `or` for these two signs."),
    (r"\belse\s+if\b", "Python writes `elif` for another condition."),
    (r"!(?!=)", "Python writes `not` for this sign."),
    (r"\)\s*\{\s*$", "Python begins a block with a colon, and not with a bracket."),
    (r"^\s*for\b(?!.*\bin\b)", "A `for` goes through something: its line has an `in`."),
    (
        r"^\s*(for|while|if|elif|def|with)\b[^:]*\w[^:]*$",
        "A colon is missing, before what is done there or at the end of the line.",
    ),
    (
        r"^\s*(lambda|class|def|in|is|from|import|pass|with|as|not|and|or)\s*=(?!=)",
        "`{0}` is a word of Python's own, and cannot be a name.",
    ),
)


def _of_line(error: SyntaxError) -> str:
    """Return what the line shows where Python's own words say little, or ""."""
    line = str(error.text or "")
    if not str(error.msg or "").startswith(("invalid syntax", "expected ':'")):
        return ""
    code = re.sub(r"(['\"]).*?\1", "''", line).partition("#")[0].rstrip()
    for pattern, sentence in SLIPS_OF_A_LINE:
        if match := re.search(pattern, code):
            return sentence.format(*match.groups()) + " "
    return _two_statements(line, max((error.offset or 1) - 1, 0))


def _two_statements(line: str, position: int) -> str:
    """Return that a line holds two statements, or that something is missing, or "".

    That is told by trying: what stands before the sign at which Python stopped can be
    read by itself, and so can the rest.

    position : of that sign; its statement may begin before it
    """
    for at in range(position, 0, -1):
        before, rest = line[:at].strip(), line[at:].strip()
        if not (line[at - 1].isspace() and line[at : at + 1].strip()):
            continue
        one, other = _statement(before), _statement(rest)
        if one is None or other is None or "`" in line:
            continue
        if isinstance(other, ast.Expr) and not isinstance(other.value, ast.Call):
            return f"Before `{rest}` something is missing: an operator, or a new line. "
        return (
            f"It holds two statements, `{before}` and `{rest}`: each needs a line of "
            "its own. "
        )
    return ""


def _statement(text: str) -> ast.stmt | None:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    return statements[0] if len(statements) == 1 else None


def _slip(words: str) -> str:
    for pattern, sentence in SLIPS:
        if match := re.search(pattern, words):
            return sentence.format(*match.groups()) + " "
    return ""


def missing_package(error: BaseException | None) -> str:
    """Return what to do about a package that the first layer lacks, "" for others.

    >>> print(missing_package(ModuleNotFoundError("No module", name="babel")))
    This cell needs `babel`, which comes with PyTorch and is not installed here. In a \
cell of its own run `%pip install "attention-course[torch]"`, then restart the kernel. \
In lessons 00 to 06 you can go on below without it.
    """
    package = getattr(error, "name", None) or ""
    if not isinstance(error, ModuleNotFoundError) or package not in OF_TORCH:
        return ""
    extra = "" if package == "torch" else " comes with PyTorch and"
    name = "PyTorch" if package == "torch" else f"`{package}`"
    missing = f"This cell needs {name}, which{extra} is not installed here."
    offer = pytorch.advice()
    if offer and not offer.here:
        start = f" `{offer.command}`" if offer.command else ""
        return f"{missing} {offer.sentence}{start}"
    line = offer.command if offer else f'pip install "{pytorch.PACKAGES}"'
    return (
        f"{missing} In a cell of its own run `%{line}`, then restart the kernel. In "
        "lessons 00 to 06 you can go on below without it."
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
