"""The small picture on each lesson's card, taken out of the lesson's executed notebook.

A card shows what the lesson drew: the drawing without what only a large one needs. If
it is still too many bytes, its words go too, which nobody could read at that size.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from nbformat import NotebookNode

MAX_BYTES = 30_000
# Of each lesson, the cell whose picture says most about it; of others, the first one.
PICTURES = {
    "00_start_here": "shares-from-scores-by-hand-6",
    "01_dot_product_attention": "looking-something-up-3",
    "02_self_attention": "what-is-it-6",
    "03_multi_head_attention": "can-reshape-do-it-alone-3",
    "04_masking": "several-masks-at-once-4",
    "05_positional_encoding": "the-formula-5",
    "06_byte_pair_encoding": "the-word-from-the-beginning-5",
    "07_from_numpy_to_pytorch": "attention-backwards-16",
    "08_sequence_to_sequence": "numbers-written-in-another-order-8",
    "09_transformer": "a-question-to-carry-through-the-lesson-5",
    "10_training": "how-fast-may-it-move-8",
    "11_translation": "several-beams-6",
    "12_language_model": "one-long-sequence-7",
    "13_inside_the_heads": "a-question-to-carry-through-the-lesson-3",
    "14_fast_attention": "tiles-6",
    "15_attention_since_2023": "farther-than-it-was-trained-11",
    "16_bug_hunt": "model-e-down-and-up-again-3",
}
# Their dark cells are small weights, on a dark page too. Words would be dark as well.
COLOUR_MAPS = {
    "05_positional_encoding",
    "07_from_numpy_to_pytorch",
    "08_sequence_to_sequence",
    "13_inside_the_heads",
}
IMAGE = re.compile(r'<img [^>]*src="data:image/svg\+xml;base64,([^"]+)"')
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
COORDINATES = re.compile(r"(?<=translate\()[^)]*(?=\))")
NUMBER = re.compile(r"(-?\d+)\.(\d)\d*")
REFERENCE = re.compile(r"#([\w-]+)")
NOT_DRAWN = ("metadata", "title", "desc")
GROUND = re.compile(r"fill: #ffffff(?:; stroke: none)?")  # the card has its own


def card_pictures(notebooks: Mapping[str, NotebookNode]) -> dict[str, str]:
    """Return the picture on each lesson's card, as SVG text, by lesson.

    A lesson without a picture that is small enough has none.
    """
    pictures = {}
    for name, notebook in notebooks.items():
        drawn = dict(_drawings(notebook))
        cell = PICTURES.get(name)
        texts = [drawn[cell]] if cell in drawn else list(drawn.values())
        small = (small_picture(text, name not in COLOUR_MAPS) for text in texts)
        if picture := next(filter(None, small), ""):
            pictures[name] = picture
    return pictures


def small_picture(svg: str, words: bool = True) -> str:
    """Return a drawing of matplotlib in at most ``MAX_BYTES`` bytes, or "".

    words : whether they are left in it, if they fit
    """
    for with_words in (words, False):
        text = _compact(svg, with_words)
        if len(text.encode()) <= MAX_BYTES:
            return text
    return ""


def _drawings(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield the cell and the SVG text of each drawing, in order."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html", "")
            if image := IMAGE.search(html):
                yield cell.id, base64.b64decode(image[1]).decode()


def _compact(svg: str, words: bool) -> str:
    """Return SVG text with a digit after the point, without ids that nobody names.

    words : whether to keep them; matplotlib draws each as a group of its own
    """
    root = ElementTree.fromstring(svg)
    named = {*REFERENCE.findall(svg)}
    for parent in list(root.iter()):
        for child in list(parent):
            is_word = child.get("id", "").startswith("text_") and not words
            is_ground = GROUND.fullmatch(child.get("style", ""))
            if is_word or is_ground or child.tag.rpartition("}")[2] in NOT_DRAWN:
                parent.remove(child)
    for each in root.iter():
        if each.get("id") not in named:
            each.attrib.pop("id", None)
        if path := each.get("d"):
            each.set("d", re.sub(r" ?([A-Za-z]) ?", r"\1", _rounded(path)).strip())
        if move := each.get("transform"):
            each.set("transform", COORDINATES.sub(lambda m: _rounded(m[0]), move))
        if style := each.get("style"):
            each.set("style", re.sub(r"(?<=[:;]) ", "", style))
        for part in ("text", "tail"):
            if not (getattr(each, part) or "").strip():
                setattr(each, part, None)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _rounded(numbers: str) -> str:
    return NUMBER.sub(lambda n: n[1] if n[2] == "0" else f"{n[1]}.{n[2]}", numbers)
