"""The front page, the cards on it, the sidebar, and the colours of the style sheet."""

import json
import re
import tomllib
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup

from autograder.book.cards import (
    COLOUR_MAPS,
    MAX_BYTES,
    PICTURES,
    card_pictures,
    small_picture,
)
from autograder.book.front import facts, front_page, further_facts, plain
from autograder.book.lessons import Lesson
from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.workspace.outline import read_outline
from course_lib.figures.cover import ALT, cover_weights, living_cover, living_words
from course_lib.figures.living import numbers
from course_lib.lessons import own_words, pronoun
from tests.browser import REPOSITORY
from tests.site.book import LESSON, LESSONS

PATH = '<path style="fill: #0072b2; stroke: none" d="M 1.25 2.00 L 10.04 3.66 z "/>'
WORDS = '<g id="text_1"><g transform="translate(3.14 2.71) scale(0.015625)"/></g>'
DRAWING = f"""<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><metadata>x</metadata>
<g id="patch_1"><path d="M 0 0 z " style="fill: #ffffff"/></g>
<g id="line_1" clip-path="url(#clip)">{PATH}</g>{WORDS}
<defs><clipPath id="clip"/></defs></svg>"""
SHEET = (REPOSITORY / "autograder" / "book" / "book.css").read_text(encoding="utf-8")
GROUNDS = ["paper", "raised", "sunk"]
TINTS = ["blue-tint", "vermilion-tint", "green-tint"]
INKS = {
    "ink": GROUNDS + TINTS,
    "quiet-ink": GROUNDS + TINTS,
    "blue": [*GROUNDS, "blue-tint"],  # the sidebar's own page
    "vermilion": [*GROUNDS, "vermilion-tint"],  # what begins its box
    "green": GROUNDS,
    "purple": ["sunk"],
    "code-comment": ["sunk"],
    "code-number": ["sunk"],
    "on-blue": ["blue"],
}


def page(site, name):
    return BeautifulSoup((site / name).read_text(encoding="utf-8"), "lxml")


@pytest.fixture(scope="module")
def index(site):
    return page(site, "index.html")


# The front page


def test_card_has_title_question_picture_and_facts(index, site):
    cards = index.select("li.front-card")
    assert len(cards) == len(LESSONS)
    number, title, question = "01", "Dot-product attention", "How can a vector look"
    text = cards[1].get_text(" ", strip=True)
    assert text.startswith(f"{number} {title} {question}")
    outline = read_outline(Course.here(), LESSONS[1])
    count = len(outline.required)
    assert f"{outline.minutes} minutes · {count} exercises" in text
    assert ("Going further: " in text) == bool(outline.going_further)
    assert cards[1].find("a")["href"] == LESSON
    for card in cards:
        image = card.find("img")
        assert image["alt"] == "" and image["loading"] == "lazy"
        assert 0 < (site / image["src"]).stat().st_size <= MAX_BYTES


def test_card_has_an_element_for_what_is_solved(index):
    for card, lesson in zip(index.select(".front-card"), LESSONS, strict=True):
        spans = card.select(".progress")
        assert {each["data-lesson"] for each in spans} == {lesson}
        outline = read_outline(Course.here(), lesson)
        parts = [outline.required] + [outline.optional] * bool(outline.going_further)
        names = [[each.name for each in part] for part in parts]
        assert [each["data-exercises"].split() for each in spans] == names
        assert not any(each.get_text() for each in spans)


def test_front_page_draws_the_weights_of_the_cover(index):
    figure = index.select_one(".front-cover figure.living")
    assert figure.find("img")["alt"] == ALT
    script = next(each for each in index("script") if figure["id"] in each.get_text())
    data, _ = json.JSONDecoder().raw_decode(script.string.partition("data = ")[2])
    assert data["last_words"] == pronoun.known_words()
    assert data["weights"] == numbers(cover_weights(pronoun.known_words()))
    assert "made by hand" in data["vector_name"]
    rows = dict(zip(data["last_words"], data["weights"], strict=True))
    heaviest = [
        data["words"][max(range(11), key=rows[word].__getitem__)]
        for word in pronoun.LAST_WORDS
    ]
    assert heaviest == ["animal", "street"]
    assert living_cover().data == data


def test_front_page_begins_with_a_text_to_write_on(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(tmp_path))
    assert front_page([], {})["words"] == ""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / own_words.LANGUAGE_MODEL).write_bytes(b"numbers")
    words = front_page([], {})["words"]
    assert own_words.LANGUAGE_MODEL in words and "base64" not in living_words().data
    assert "bnVtYmVycw" not in words  # "numbers" in base64


def test_front_page_has_the_editor_of_an_easy_exercise(index):
    (container,) = index.select(".live")
    about = json.loads(container.find("script").string)
    assert about["name"] == "softmax_by_hand"
    hints = [each.get_text() for each in index.select("section summary")]
    assert hints == ["Hint 1", "Hint 2"]


def test_front_page_counts_what_the_book_has():
    softmax = load("softmax")
    lesson = Lesson("01_x", "X", "", None, (softmax,))
    notebook = nbformat.read(Course.here().teacher(LESSONS[1]), as_version=4)
    values = front_page([lesson], {"01_x": notebook})
    assert values["count"] == values["answered"] == 1
    assert values["misconceptions"] == len(softmax.misconceptions)
    assert values["example"].exercise == softmax
    assert front_page([], {})["example"] is None


def test_facts_of_a_lesson_have_points_in_a_class_only():
    lesson = Lesson("01_x", "X", "", 30, (load("softmax"),))
    assert facts(lesson, in_class=False) == "30 minutes · 1 exercise"
    assert facts(lesson, in_class=True).startswith("30 minutes · 1 exercise · ")
    assert facts(lesson, in_class=True).endswith(" points")
    assert plain("*A* `b` costs $x$.") == "A b costs x."


def test_facts_of_what_goes_further_stand_apart():
    exercises = (load("softmax"), load("attention"), load("scaled_scores"))
    lesson = Lesson("01_x", "X", "", 30, exercises, 55, frozenset({"attention"}))
    assert facts(lesson, in_class=False) == "30 minutes · 2 exercises"
    points = exercises[0].points + exercises[2].points
    assert facts(lesson, in_class=True).endswith(f" · {points:.0f} points")
    assert further_facts(lesson) == "55 minutes · 1 exercise"
    assert further_facts(Lesson("01_x", "X", "", 30, exercises)) == ""


# The pictures on the cards


def test_every_lesson_has_a_picture_of_the_cell_that_is_named():
    course = Course.here()
    assert [*PICTURES] == course.lessons and set(PICTURES) >= COLOUR_MAPS
    notebooks = {
        name: nbformat.read(course.teacher(name), as_version=4)
        for name in course.lessons
    }
    pictures = card_pictures(notebooks)
    for name, notebook in notebooks.items():
        assert PICTURES[name] in {cell.id for cell in notebook.cells}, name
        assert len(pictures[name].encode()) <= MAX_BYTES, name
        assert ElementTree.fromstring(pictures[name]).tag.endswith("svg"), name
        only = {"cells": [c for c in notebook.cells if c.id == PICTURES[name]]}
        alone = card_pictures({name: nbformat.from_dict(notebook | only)})
        assert alone[name] == pictures[name], f"{name}: of another cell"


def test_small_picture_loses_digits_ids_and_ground():
    text = small_picture(DRAWING)
    assert 'd="M1.2 2L10 3.6z"' in text
    assert "translate(3.1 2.7) scale(0.015625)" in text
    assert 'id="clip"' in text and "line_1" not in text and "text_1" not in text
    assert "ffffff" not in text and "metadata" not in text


def test_picture_that_is_too_large_loses_its_words(monkeypatch):
    whole = len(small_picture(DRAWING).encode())
    monkeypatch.setattr("autograder.book.cards.MAX_BYTES", whole - 1)
    assert "scale" not in small_picture(DRAWING) and "<path" in small_picture(DRAWING)
    monkeypatch.setattr("autograder.book.cards.MAX_BYTES", 10)
    assert small_picture(DRAWING) == ""


# The sidebar


def test_sidebar_has_exercises_below_their_lesson(site):
    for name, is_open in {"index.html": [], LESSON: ["01"]}.items():
        nav = page(site, name).select_one(".book-sidebar")
        opened = [
            each.find_previous("span", class_="book-number").get_text()
            for each in nav("details", open=True)
        ]
        assert opened == is_open
        below = [each.select("a") for each in nav("details")]
        names = [sorted(link.get_text() for link in links) for links in below]
        assert names == [
            sorted(exercise.name for exercise in exercises_of(lesson))
            for lesson in LESSONS
        ]


def test_sidebar_marks_the_page_and_begins_with_home(site):
    nav = page(site, "exercises/softmax.html").select_one(".book-sidebar")
    assert [each.get_text() for each in nav(attrs={"aria-current": True})] == [
        "softmax"
    ]
    assert nav.find("details", open=True).find(string="softmax")
    first = nav.find("a")
    assert first.get_text() == "Home" and first["href"] == "../index.html"


def test_no_page_has_a_bar_or_a_box_with_nothing_behind(site):
    for path in site.rglob("*.html"):
        if "_static" in path.parts:
            continue
        soup = page(site, path.relative_to(site))
        assert soup.select("details.hide, .tag_hide-input") == [], path.name
        for part in soup.select(".cell_input, .cell_output, article details"):
            content = part.get_text(strip=True) or part.find(["img", "svg"])
            assert content, f"{path.name}: {part}"


# The style sheet


def palette(theme):
    """Return the colours of a theme by name, as numbers between 0 and 1."""
    light, _, rest = SHEET.partition('html[data-theme="dark"] {')
    colours = {}
    for block in [light] + ([rest.partition("}")[0]] if theme == "dark" else []):
        for name, value in re.findall(r"^  --([\w-]+): #(\w{6});", block, re.MULTILINE):
            parts = (value[i : i + 2] for i in (0, 2, 4))
            colours[name] = [int(part, 16) / 255 for part in parts]
    return colours


def luminance(colour):
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour
    ]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_enough_contrast_with_each_ground(theme):
    colours = palette(theme)
    for ink, grounds in INKS.items():
        for ground in grounds:
            both = luminance(colours[ink]), luminance(colours[ground])
            ratio = (max(both) + 0.05) / (min(both) + 0.05)
            assert ratio >= 4.5, f"{ink} on {ground}: {ratio:.2f}"


def test_style_sheet_is_one_and_names_each_colour_once(site):
    own = {path.name for path in (site / "_static").glob("*.css")}
    assert "book.css" in own and "live.css" not in own
    _, _, rules = SHEET.partition("/* Type */")
    screen, _, _ = rules.partition("@media print")
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", screen)) <= {"#fff"}  # below pictures


# Where the book is published


def test_readme_begins_with_a_way_to_try_it():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    first = readme.split("\n\n")[1]
    address = project["project"].get("urls", {}).get("Book")
    assert first.startswith("**Try it in your browser")
    if address:
        assert f"]({address})" in first
    else:
        assert "`make site SERVE=1`" in first and "http" not in first
