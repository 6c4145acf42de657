"""A bibliography is read whole, or refused with the file and the entry at fault."""

import re
from pathlib import Path

import pytest

from autograder.notebooks.bibliography import BibliographyError, Paper, read_papers

BA = {
    "author": "Ba, Jimmy Lei and others",
    "title": "Layer Normalization",
    "year": "2016",
    "eprint": "1607.06450",
}


def entry(key, **changes):
    """Return an entry in BibTeX: ``BA`` with some fields changed, or left out."""
    fields = {**BA, **changes}.items()
    rows = "".join(f"  {name} = {{{value}}},\n" for name, value in fields if value)
    return f"@misc{{{key},\n{rows}}}\n"


@pytest.fixture
def read(tmp_path):
    """Return a function that reads entries from a file."""
    path = tmp_path / "some.bib"

    def read(*entries):
        path.write_text("".join(entries), encoding="utf-8")
        return read_papers(path)

    return read


def test_an_entry_is_a_paper(read):
    address = "https://arxiv.org/abs/1607.06450"
    assert read(entry("ba")) == (Paper("Ba", 2016, "Layer Normalization", address),)


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"author": "Jimmy Lei Ba"}, "author", "Ba"),
        ({"author": r"Popovi{\'c}, Maja"}, "author", "Popović"),
        ({"author": "Aäron van den Oord and Yazhe Li"}, "author", "van den Oord"),
        ({"author": "{Gemma Team}"}, "author", "Gemma Team"),
        ({"author": "{Gemma Team}", "shortauthor": "Gemma"}, "author", "Gemma"),
        ({"title": r"{BERT} \& Co"}, "title", "BERT & Co"),
        ({"title": "Layer\n    Normalization"}, "title", "Layer Normalization"),
        ({"doi": "10.1/x"}, "address", "https://arxiv.org/abs/1607.06450"),
        (
            {"eprint": "", "doi": "10.1/x_y", "url": "https://a.b"},
            "address",
            "https://doi.org/10.1/x_y",
        ),
        ({"eprint": "", "url": "https://a.b/%20_c"}, "address", "https://a.b/%20_c"),
    ],
)
def test_fields_are_read_as_bibtex_means_them(read, changes, name, value):
    (paper,) = read(entry("ba", **changes))
    assert getattr(paper, name) == value


@pytest.mark.parametrize("name", ["author", "title", "year"])
def test_an_entry_without_a_field_is_refused(read, name):
    with pytest.raises(BibliographyError, match=rf"^some\.bib: b: no {name}$"):
        read(entry("a"), entry("b", **{name: ""}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eprint": ""}, "no address: it needs one of eprint, doi, url"),
        ({"year": "in press"}, "the year must be a number, got 'in press'"),
    ],
)
def test_an_entry_that_gives_no_link_or_no_year_is_refused(read, changes, words):
    with pytest.raises(BibliographyError, match=f"^some.bib: ba: {words}$"):
        read(entry("ba", **changes))


def test_a_repeated_key_is_refused(read):
    with pytest.raises(BibliographyError, match=r"^some\.bib: .*repeated.* entry: ba$"):
        read(entry("ba"), entry("ba", year="2017"))


def test_a_repeated_field_is_refused(read):
    with pytest.raises(BibliographyError, match=r"^some\.bib: .*key ba .*duplicate"):
        read(entry("ba", Title="Another"))


def test_two_papers_with_one_citation_are_refused(read):
    words = r"^some\.bib: second: first is by Ba \(2016\) too"
    with pytest.raises(BibliographyError, match=words):
        read(entry("first"), entry("second", title="Another", eprint="1.2"))
    assert len(read(entry("first"), entry("second", year="2017"))) == 2


def test_what_is_no_bibtex_is_refused_with_its_line(read):
    with pytest.raises(BibliographyError, match=r"^some\.bib: syntax error in line 5"):
        read(entry("ba").replace("2016},", "2016}"))


def test_a_missing_file_is_refused():
    with pytest.raises(BibliographyError, match=re.escape("none.bib: ")):
        read_papers(Path("none.bib"))
