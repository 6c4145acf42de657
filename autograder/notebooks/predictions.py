"""Predictions: the choices that a lesson asks for.

In a lesson's source a prediction is a cell of prose that ends with a question and a
list of options, one of them marked as right::

    **Predict:** does the largest weight grow or shrink with d_k?

    - [x] It grows.
    - [ ] It shrinks.

The notebook has a plain list; which option is right stands in the cell's metadata,
where JupyterLab's extension and the book read it. They cover the text below until the
prediction is made, and code only if it tells the answer: if it has words or numbers of
the right option that stand neither in the question, the other options nor in what one
can read above.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course.shown_code import without_assertions
from autograder.notebooks.cells import SourceCell, SourceError

QUESTION = re.compile(r"\*\*Predict\b")
OPTION = re.compile(r"- \[([ x])\] (.+)")
FEWEST, MOST = 2, 5  # options
HEADING = re.compile(r"#{1,6} ")
WORD_OR_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?|[^\W\d_]+(?:_\w+)*")
NUMBER_WORDS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve".split(),
        map(str, range(13)),
        strict=True,
    )
)
# What says nothing by itself.
COMMON = frozenset(
    "a about all also an and any are as at be both but by can do does each either for "
    "every from get gets give gives has have how if in into is it its less like made "
    "make makes many more most much neither no none not of on once only or other out "
    "over same so some than that the their them then there these they this to too up "
    "was what when where which while with would".split()
)


def with_predictions(path: Path, cells: Iterable[SourceCell]) -> list[SourceCell]:
    """Return a lesson's cells with its predictions read.

    Raises ``SourceError`` for a list of options that is no prediction.
    """
    read = list(cells)
    for index, cell in enumerate(read):
        if cell.kind != "prose":
            continue
        try:
            text, right = read_prediction(cell.text)
        except ValueError as error:
            raise SourceError(path, cell.line, str(error)) from None
        read[index] = replace(cell, text=text, right=right)
    telling = {below for index in range(len(read)) for below in _telling(read, index)}
    return [replace(cell, tells=i in telling) for i, cell in enumerate(read)]


def _telling(cells: Sequence[SourceCell], at: int) -> Iterator[int]:
    """Yield the cells below a cell that tell the answer, if it asks for one.

    These are cells of code and, where the next prediction comes before a heading, its
    cell: what it says above its own question may be what explains this one.
    """
    right = cells[at].right
    if right is None:
        return
    question, options = question_and_options(cells[at].text)
    above = "\n".join(_seen_above(cells, at))
    answer = options.pop(right)
    words = distinctive(answer, options, f"{above}\n{question}")
    for index in range(at + 1, len(cells)):
        cell = cells[index]
        if cell.kind == "prose" and (
            HEADING.match(cell.text) or cell.right is not None
        ):
            premise = cell.text.rpartition("\n\n")[0].rpartition("\n\n")[0]
            tells = bool(words & tokens(premise)) or answer.rstrip(".") in premise
            if not HEADING.match(cell.text) and tells:
                yield index
            return
        if cell.kind == "code" and words & tokens(without_assertions(cell.text)):
            yield index


def _seen_above(cells: Sequence[SourceCell], at: int) -> Iterator[str]:
    """Yield what a reader sees of a section above a question: the rest is covered."""
    start = at
    while start and not HEADING.match(cells[start].text):
        start -= 1
    is_covered = False  # below another prediction of the section
    for cell in cells[start:at]:
        if cell.kind != "prose":
            yield without_assertions(cell.text)
        elif not is_covered:
            yield cell.text
        is_covered |= cell.right is not None
    yield cells[at].text.rpartition("\n\n")[0]


def question_and_options(text: str) -> tuple[str, list[str]]:
    """Return the question of a prediction's cell, and its options in a plain list.

    >>> question_and_options("Look.\\n\\n**Predict:** which?\\n\\n- One.\\n- Two.")
    ('**Predict:** which?', ['One.', 'Two.'])
    """
    above, _, rows = text.rpartition("\n\n")
    options = [row.removeprefix("- ") for row in rows.split("\n")]
    return above.rpartition("\n\n")[2], options


def tokens(text: str) -> set[str]:
    """Return the words and numbers of a text, each in one form, and words in names.

    >>> sorted(tokens("It grows: 1,000 of them, from three."))
    ['1000', '3', 'from', 'grows', 'it', 'of', 'them']
    >>> sorted(tokens("w_o, layer_norm"))
    ['layer', 'layer_norm', 'norm', 'w_o']
    """
    names = [each.lower().replace(",", "") for each in WORD_OR_NUMBER.findall(text)]
    words = (word for each in names for word in each.split("_") if len(word) > 2)
    return {NUMBER_WORDS.get(each, each) for each in (*names, *words)}


def distinctive(right: str, others: Iterable[str], above: str) -> set[str]:
    """Return what only the right option says: neither the others nor the text above.

    >>> sorted(distinctive("12, since they add up", ["6", "9"], "What is it?"))
    ['12', 'add', 'since']
    """
    return tokens(right) - tokens(above).union(*map(tokens, others), COMMON)


def read_prediction(text: str) -> tuple[str, int | None]:
    r"""Return a cell's text with a plain list of options, and which one is right.

    The second result is ``None`` if the cell asks for no choice.

    Raises ``ValueError`` for options without a question, text below them, another
    number than one of right options, or a single option.

    >>> read_prediction("**Predict:** which?\n\n- [ ] One.\n- [x] Two.")
    ('**Predict:** which?\n\n- One.\n- Two.', 1)
    """
    rows = text.split("\n")
    options = {
        row: match for row, match in enumerate(map(OPTION.fullmatch, rows)) if match
    }
    if not options:
        return text, None
    first, last = min(options), max(options)
    question = "\n".join(rows[:first]).rstrip("\n").split("\n\n")[-1]
    if not QUESTION.match(question):
        raise ValueError("above options stands the question, which begins '**Predict'")
    if len(options) != last + 1 - first or any(rows[last + 1 :]):
        raise ValueError("a prediction's options end its cell, a line for each")
    if not FEWEST <= len(options) <= MOST:
        raise ValueError(f"a prediction has {FEWEST} to {MOST} options")
    right = [row - first for row, match in options.items() if match[1] == "x"]
    if len(right) != 1:
        raise ValueError(f"one option of a prediction is right, [x], not {len(right)}")
    plain = [f"- {match[2]}" for match in options.values()]
    return "\n".join([*rows[:first], *plain]), right[0]
