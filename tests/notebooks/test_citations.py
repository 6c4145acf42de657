"""Citations are links: in each lesson, and none is missing in the list of papers."""

import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from autograder.notebooks.citations import CITATION, PAPERS, with_links
from tests.browser import REPOSITORY

VASWANI = "https://arxiv.org/abs/1706.03762"
NO_PAPERS = {"May 2031"}  # a date in a sentence of a lesson


LESSONS = sorted(REPOSITORY.glob("solutions/*/*.py"))
MODULES = sorted(Path(REPOSITORY, "course_lib").rglob("*.py"))


def prose(path):
    """Return the Markdown cells of a lesson's source or notebook."""
    if path.suffix == ".py":
        cells = jupytext.read(path).cells
    else:
        cells = nbformat.read(path, as_version=4).cells
    return [each.source for each in cells if each.cell_type == "markdown"]


def cited(text):
    """Return what looks like a citation: authors and a year."""
    names = (" ".join(match[0].split()) for match in CITATION.finditer(text))
    return [name for name in names if name not in NO_PAPERS]


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("Vaswani et al. (2017), I", f"[Vaswani et al. (2017)]({VASWANI}), I"),
        ("(Vaswani et al. 2017)", f"([Vaswani et al. 2017]({VASWANI}))"),
        ("> Vaswani et\n> al. (2017)", f"> [Vaswani et\n> al. (2017)]({VASWANI})"),
        ("*Attention Is\nAll You Need*", f"[*Attention Is\nAll You Need*]({VASWANI})"),
        ("In Vaswani et al. (2017) a", f"In [Vaswani et al. (2017)]({VASWANI}) a"),
        ("`Vaswani et al. (2017)`", "`Vaswani et al. (2017)`"),
        ("[Vaswani (2017)](x.md)", "[Vaswani (2017)](x.md)"),
        ("Vaswani et al. (2018)", "Vaswani et al. (2018)"),
        ("*Attention*, 2017", "*Attention*, 2017"),
        ("**BLEU** counts", "**BLEU** counts"),
    ],
)
def test_papers_that_are_named_are_links(text, linked):
    assert with_links(text) == linked


def test_two_papers_of_one_author_are_told_apart():
    addresses = [with_links(f"Koehn et al. ({year})") for year in (2007, 2017)]
    assert len(set(addresses)) == 2


@pytest.mark.parametrize("source", LESSONS, ids=lambda path: path.stem)
def test_every_citation_of_a_lesson_is_a_link(source):
    for text in prose(source):
        outside = re.sub(r"\[[^\]]*\]\([^)]*\)", "", with_links(text))
        assert cited(outside) == []
    for text in prose(source.with_suffix(".ipynb")):  # the build has made the links
        assert with_links(text) == text


def test_every_source_of_a_docstring_is_in_the_list():
    for path in MODULES:
        outside = re.sub(r"\[[^\]]*\]\([^)]*\)", "", with_links(path.read_text()))
        assert cited(outside) == [], path


def test_every_paper_of_the_list_is_cited():
    texts = [text for path in LESSONS for text in prose(path)]
    linked = "".join(with_links(text) for text in texts)
    linked += "".join(with_links(path.read_text()) for path in MODULES)
    assert [each for each in PAPERS if f"]({each.address})" not in linked] == []
