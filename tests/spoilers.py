"""What a page tells of a prediction before anything is chosen or run.

A page is read as a person sees it: the words of what is drawn, and the attributes that
are read aloud or pop up. Between a prediction and the next heading, or the next
prediction's options, nothing may assert anything, and nothing may tell the right option:
its distinctive words and numbers, which neither the question, the other options nor the
text of the section above have, are not there, and neither is the option as a whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import nbformat

from autograder.course import Course
from autograder.workspace.answer_cell import prediction_of

# Both readers return blocks in the page's order: {kind: "text", "code", "heading" or
# "options", text}. Of an element that is not drawn, innerText would be all its text.
SEEN = """
const ATTRIBUTES = ["alt", "aria-label", "aria-description", "title", "placeholder"];
const seen = (element) => {
  if (!element.checkVisibility()) return "";
  const all = [element, ...element.querySelectorAll("*")].filter((each) => each.checkVisibility());
  const attributes = all.flatMap((each) => ATTRIBUTES.map((name) => each.getAttribute(name) ?? ""));
  return [element.innerText, ...attributes].filter((text) => text.trim()).join("\\n");
};
const HEADING = "h1, h2, h3, h4, h5, h6";
"""
LAB_BLOCKS = f"""() => {{ {SEEN}
const blocks = [];
for (const cell of document.querySelectorAll(".jp-Notebook .jp-Cell")) {{
  const list = cell.querySelector("ul.attention-choices");
  const output = cell.querySelector(".jp-MarkdownOutput");
  if (list) {{
    for (const each of output.children) {{
      const kind = each === list ? "options" : each.matches(HEADING) ? "heading" : "text";
      blocks.push({{ kind, text: seen(each) }});
    }}
  }} else if (output && !output.querySelector(HEADING)) blocks.push({{ kind: "text", text: seen(cell) }});
  else if (output) {{
    for (const each of output.children) blocks.push({{ kind: each.matches(HEADING) ? "heading" : "text", text: seen(each) }});
  }} else blocks.push({{ kind: "code", text: seen(cell) }});
}}
return blocks;
}}"""
BOOK_BLOCKS = f"""() => {{ {SEEN}
const blocks = [];
const read = (section) => {{
  for (const each of section.children) {{
    if (each.matches("section")) read(each);
    else if (each.matches(".prediction")) blocks.push({{ kind: "options", text: seen(each) }});
    else {{
      const kind = each.matches(HEADING) ? "heading" : each.matches("div.cell") ? "code" : "text";
      blocks.push({{ kind, text: seen(each) }});
    }}
  }}
}};
read(document.querySelector("article"));
return blocks;
}}"""
ASSERTION = re.compile(r"^\s*assert\b", re.MULTILINE)


@dataclass(frozen=True)
class Prediction:
    """A prediction of a lesson.

    right : the text of the right option; others : of the others
    """

    lesson: str
    question: str
    right: str
    others: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.lesson[:2]}: {self.question[:60]} → {self.right[:40]}"


def predictions_of(course: Course, lesson: str) -> list[Prediction]:
    """Return a lesson's predictions, in its order."""
    predictions = []
    for cell in nbformat.read(course.learner(lesson), as_version=4).cells:
        if about := prediction_of(cell):
            above, _, rows = cell.source.rpartition("\n\n")
            options = [row.removeprefix("- ") for row in rows.split("\n")]
            right = options.pop(about["right"])
            question = above.rpartition("\n\n")[2]
            predictions.append(Prediction(lesson, question, right, tuple(options)))
    return predictions


def read_around(blocks: Iterable[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what is read above and below the options of each prediction of a page."""
    blocks = list(blocks)
    kinds = [block["kind"] for block in blocks]
    for at, kind in enumerate(kinds):
        if kind != "options":
            continue
        heading = max((i for i in range(at) if kinds[i] == "heading"), default=0)
        ends = (
            i for i in range(at + 1, len(kinds)) if kinds[i] in ("heading", "options")
        )
        parts = blocks[heading:at], blocks[at + 1 : next(ends, len(kinds))]
        above, below = ("\n".join(block["text"] for block in part) for part in parts)
        yield above, below


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
    "a about all also an and any are as at be both but by can do does each either every "
    "for from get gets give gives has have how if in into is it its less like made make "
    "makes many more most much neither no none not of on once only or other out over "
    "same so some than that the their them then there these they this to too up was "
    "what when where which while with would".split()
)


def tokens(text: str) -> set[str]:
    """Return the words and numbers of a text, each in one form.

    >>> sorted(tokens("It grows: 1,000 of them, from three."))
    ['1000', '3', 'from', 'grows', 'it', 'of', 'them']
    """
    found = (each.lower().replace(",", "") for each in WORD_OR_NUMBER.findall(text))
    return {NUMBER_WORDS.get(each, each) for each in found}


def spoilers(prediction: Prediction, above: str, below: str) -> list[str]:
    """Return what is read below a prediction and tells it; none if nothing does."""
    told = [row.strip() for row in below.split("\n") if ASSERTION.match(row)]
    known = tokens(above).union(*map(tokens, prediction.others), COMMON)
    distinctive = tokens(prediction.right) - known
    told += sorted(distinctive & tokens(below))
    whole = " ".join(prediction.right.split()).rstrip(".")
    if len(whole.split()) > 1 and whole in " ".join(below.split()):
        told.append(whole)
    return told
