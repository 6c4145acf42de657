"""What a learner gets of a lesson's code: no assertions, and no texts of pictures.

Assertions hold what the text says, for the author and for nbval: in the source and in
the teacher's notebook. A learner would read the answer to a prediction in them.

Rows of text are read here, nothing is parsed: a submission may come in.
"""

import re

ASSERTION = re.compile(r"\s*assert\b")
DEFINITION = re.compile(r"\s*(?:async +def|def|class)\b")
# Lessons have had the text itself above the call of a figure.
ALTERNATIVE_TEXT = re.compile(r"alt ?= ?[f\"'(]")
# Then a name for it in the call.
ARGUMENT = re.compile(r",\s*alt=(?:alt\b|\"\d\d-[0-9a-f]{4}\")")
CALL_IN_ROWS = re.compile(r"^(figures\.\w+\()\n +(.+)\n\)$", re.MULTILINE)
STRING_OR_COMMENT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|#.*")
OF_CLAIMS = "-claims"  # so ended the ids of cells that held assertions alone


def normalised_source(source: str) -> str:
    """Return a text without what an editor may change on its own."""
    return "\n".join(row.rstrip() for row in source.strip().split("\n"))


def without_assertions(source: str) -> str:
    r"""Return code without its assertions and the comments above them.

    Those in a function or class stay: a test that a lesson shows is made of them.

    >>> without_assertions("print(1)\n# So it is.\nassert 1 == 1")
    'print(1)'
    """
    return _without(source, [ASSERTION])


def same_for_learners(one: str, other: str) -> bool:
    """Return whether two texts of a cell differ in nothing that a learner gets.

    Ends of rows, assertions and the form of a picture's alternative text do not count.

    >>> same_for_learners('alt = "Three dots."\\nplot(x, alt=alt)', "plot(x)")
    True
    >>> same_for_learners('plot(x, alt="01-3f2a")', "plot(x)")
    True
    """
    return _essence(one) == _essence(other)


def held_claims(name: str, source: str) -> bool:
    """Return whether a cell is one of assertions alone, as lessons have had them.

    name : the cell's id
    """
    return name.endswith(OF_CLAIMS) and not without_assertions(source)


def _essence(source: str) -> str:
    text = _without(source.strip(), [ASSERTION, ALTERNATIVE_TEXT])
    text = "\n".join(row.rstrip() for row in text.split("\n"))
    return CALL_IN_ROWS.sub(r"\1\2)", ARGUMENT.sub("", text))


def _without(source: str, kinds: list[re.Pattern[str]]) -> str:
    """Return code without the statements that begin in one of some ways."""
    remaining: list[str] = []
    open_brackets, goes_on = 0, False  # in a statement that goes
    definition: int | None = None  # how far the one is indented that a row is in
    is_gap = False
    for row in source.split("\n"):
        indent = len(row) - len(row.lstrip())
        if not goes_on:
            if _ends(definition, row, indent):
                definition = None
            if definition is None and DEFINITION.match(row):
                definition = indent
        if goes_on or (definition is None and any(each.match(row) for each in kinds)):
            while (
                not goes_on
                and remaining
                and re.match(rf" {{{indent}}}#", remaining[-1])
            ):
                remaining.pop()
            open_brackets = open_brackets + _opened(row) if goes_on else _opened(row)
            goes_on, is_gap = open_brackets > 0 or row.endswith("\\"), True
        elif row.strip() or not is_gap or (remaining and remaining[-1].strip()):
            remaining.append(row)
            is_gap = is_gap and not row.strip()
    return "\n".join(remaining).strip("\n")


def _ends(definition: int | None, row: str, indent: int) -> bool:
    """Return whether a row stands below a definition that is so far indented."""
    code = row.strip()
    return (
        definition is not None
        and bool(code)
        and indent <= definition
        and (code[0] not in ")]}")
    )


def _opened(row: str) -> int:
    """Return how many brackets more a row opens than it closes."""
    code = STRING_OR_COMMENT.sub("", row)
    return sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
