"""The book's theme does not reach into the living views: classes, boxes, margins."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import living
from course_lib.lessons import own_words, pronoun
from tests.browser import REPOSITORY, page_of
from tests.figures.living import page_text
from tests.figures.test_figures import KINDS

ALT = "A figure with an alternative text."
THEME = (
    ("pydata_sphinx_theme", "theme/pydata_sphinx_theme/static/styles/theme.css"),
    ("pydata_sphinx_theme", "theme/pydata_sphinx_theme/static/styles"),
    ("sphinx_book_theme", "theme/sphinx_book_theme/static/styles"),
    ("myst_nb", "static"),
)
VIEWS = {
    "attention": KINDS["weights_3"],
    "softmax": KINDS["softmax"],
    "choices": KINDS["choices"],
    "steps": KINDS["six_steps"],
    "backward_pass": KINDS["backward"],
    "architecture": lambda: figures.lesson_map("01", alt=ALT),
    "last_word": lambda: figures.last_word(**pronoun.choice("tired"), alt=ALT),
    "judged_curves": lambda: figures.judged_curves(
        [1, 2], {"A": [2.0, 1.0]}, {"A": 0.5}, xlabel="steps", ylabel="loss",
        share_name="right", top=3.0, alt=ALT,
    ),
    "draggable_query": lambda: figures.draggable_query(
        "kitten", np.array([3.0, 0.0]), {"cat": [3.0, 1.0]}, xlabel="x", ylabel="y",
        alt=ALT,
    ),
    "chosen_heads": lambda: figures.chosen_heads(
        ["Mon", "Thu"], [11, 18], {"Thu": 1}, start=[["Mon"]], alt=ALT
    ),
    "next_token": lambda: figures.next_token(
        **own_words.next_token_example() | {"file": None}, alt=ALT
    ),
    "text_tokens": lambda: figures.text_tokens(
        {"x": "at ä"}, {"x": [b"at", b" ", b"\xc3", b"\xa4"]}, {"y": [(97, 116)]},
        alt=ALT,
    ),
    "translator": lambda: figures.translator(
        [{"text": "a b", "translation": "c", "sources": ["a ", "b "], "targets": ["c "],
          "weights": np.full((1, 2), 0.5)}],
        {"a": 1}, examples=["b"], alt=ALT,
    ),
    "switchable_mask": lambda: figures.switchable_mask(
        np.full((2, 2), 0.5), ["a", "b"], ["a", "b"], alt=ALT
    ),
}  # fmt: skip
SIDES = [
    f"{kind}{side}{width}"
    for kind, width in (("padding", ""), ("margin", ""), ("border", "Width"))
    for side in ("Top", "Right", "Bottom", "Left")
]
COMPUTED = """properties => [...document.querySelectorAll(".living-view *")].map(
    each => [each.outerHTML.slice(0, 80),
        properties.map(name => getComputedStyle(each)[name])])"""


def sheets():
    """Return the style sheets of a page of the book, the course's own last."""
    paths: list[Path] = []
    for package, path in THEME:
        origin = find_spec(package)
        if origin is None:
            pytest.skip(f"the book needs {package}")
        part = Path(origin.submodule_search_locations[0]) / path
        paths += [part] if part.is_file() else sorted(part.glob("*.css"))
    return [*dict.fromkeys(paths), REPOSITORY / "autograder" / "book" / "book.css"]


def classes(css):
    """Return the class names in the selectors of a style sheet."""
    text = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    text = re.sub(r"\{[^{}]*\}", "{}", text)
    return {*re.findall(r"\.(-?[A-Za-z_][\w-]*)", text)}


def test_no_class_of_a_view_is_one_of_the_theme():
    assert len(sheets()) >= 4
    theme = set().union(*(classes(each.read_text("utf-8")) for each in sheets()))
    assert {"table", "row", "caption"} <= theme
    folder = Path(living.__file__).parent
    for path in sorted(folder.glob("*.css")):
        own = classes(path.read_text("utf-8")) - {"living"}
        assert own & theme == set(), path.name
    for path in sorted(folder.glob("*.js")):
        strings = re.findall(r'class: [`"]([\w -]+)[`"]', path.read_text("utf-8"))
        assert {*" ".join(strings).split()} & theme == set(), path.name


@pytest.mark.parametrize("name", VIEWS)
def test_boxes_are_the_same_in_the_book_and_alone(name, tmp_path):
    # As wide in both: some views have another form where there is less room.
    alone = page_text(VIEWS[name]()).replace(
        "<main>", '<main><div style="width:640px">'
    )
    links = "".join(
        f'<link rel="stylesheet" href="{each.as_uri()}">' for each in sheets()
    )
    article = (
        '<article class="bd-article"><div class="cell_output"><div class="output">'
    )
    book = alone.replace("</head>", f"{links}</head>").replace(
        "<main>", f'<main class="bd-main"><div class="bd-content">{article}'
    )
    computed = {}
    for kind, text in {"alone": alone, "book": book}.items():
        path = tmp_path / f"{kind}.html"
        path.write_text(text, encoding="utf-8")
        with page_of(path.as_uri()) as page:
            page.wait_for_selector('.living[data-live="yes"]')
            computed[kind] = page.evaluate(COMPUTED, [*SIDES, "display", "boxSizing"])
    different = [
        (before[0], before[1], after[1])
        for before, after in zip(computed["alone"], computed["book"], strict=True)
        if before[1] != after[1]
    ]
    assert different == []
