"""What a page tells of a prediction before anything is chosen or run.

A page is read as a person sees it: the words of what is drawn, and the attributes that
are read aloud or pop up. Between a prediction and the next heading, or the next
prediction's options, nothing may assert anything, and nothing may tell the right
option: neither the option as a whole is there, nor one of its distinctive words and
numbers, which the question, the other options and what is seen of the section above do
not have. Assertions in a function that the lesson shows are no claims.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import nbformat

from autograder.course import Course
from autograder.course.shown_code import without_assertions
from autograder.notebooks.predictions import distinctive, question_and_options, tokens
from autograder.workspace.answer_cell import prediction_of

# Both readers return blocks in the page's order: {kind: "text", "code", "heading" or
# "options", text}. Of an element that is not drawn, innerText would be all its text.
READ = """
const ATTRIBUTES = ["alt", "aria-label", "aria-description", "title", "placeholder"];
const isSeen = (each) => each.checkVisibility();
const textOf = (element) => {
  if (!isSeen(element)) return "";
  const all = [element, ...element.querySelectorAll("*")].filter(isSeen);
  const said = all.flatMap((each) => ATTRIBUTES.map((name) => each.getAttribute(name)));
  return [element.innerText, ...said].filter((text) => text?.trim()).join("\\n");
};
const HEADING = "h1, h2, h3, h4, h5, h6";
const blocks = [];
const add = (kind, element) => blocks.push({ kind, text: textOf(element) });
"""
LAB_BLOCKS = f"""() => {{ {READ}
for (const cell of document.querySelectorAll(".jp-Notebook .jp-Cell")) {{
  const output = cell.querySelector(".jp-MarkdownOutput");
  const list = cell.querySelector("ul.attention-choices");
  if (!output) add("code", cell);
  else if (!list && !output.querySelector(HEADING)) add("text", cell);
  else for (const each of output.children) {{
    add(each === list ? "options" : each.matches(HEADING) ? "heading" : "text", each);
  }}
}}
return blocks;
}}"""
BOOK_BLOCKS = f"""() => {{ {READ}
const read = (section) => {{
  for (const each of section.children) {{
    if (each.matches("section")) read(each);
    else if (each.matches(".prediction")) add("options", each);
    else if (each.matches(HEADING)) add("heading", each);
    else add(each.matches("div.cell") ? "code" : "text", each);
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
            question, options = question_and_options(cell.source)
            right = options.pop(about["right"])
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


def spoilers(prediction: Prediction, above: str, below: str) -> list[str]:
    """Return what is read below a prediction and tells it; none if nothing does."""
    telling = [row.strip() for row in below.split("\n") if ASSERTION.match(row)]
    if without_assertions(below) == below.strip("\n"):
        telling = []  # those are in functions that the lesson shows
    telling += sorted(
        distinctive(prediction.right, prediction.others, above) & tokens(below)
    )
    whole = " ".join(prediction.right.split()).rstrip(".")
    if len(whole.split()) > 1 and whole in " ".join(below.split()):
        telling.append(whole)
    return telling


def spoilers_on(
    course: Course, lesson: str, blocks: Iterable[Mapping[str, str]]
) -> list[str]:
    """Return a sentence for each prediction that a page of a lesson gives away."""
    predictions, sentences = predictions_of(course, lesson), []
    read = list(read_around(blocks))
    for prediction, (above, below) in zip(predictions, read, strict=True):
        if telling := spoilers(prediction, above, below):
            sentences.append(f"{prediction}: {', '.join(telling)}")
    return sentences
