"""Read the papers that the course cites from a BibTeX file."""

from pathlib import Path
from typing import NamedTuple

from pybtex.database import Entry, parse_file
from pybtex.exceptions import PybtexError
from pybtex.richtext import Text

from autograder.course import CourseError

# What leads to a paper, the first that an entry has.
ADDRESSES = {
    "eprint": "https://arxiv.org/abs/{}",
    "doi": "https://doi.org/{}",
    "url": "{}",
}


class BibliographyError(CourseError):
    """A fault in a bibliography, as "file: entry: what is wrong"."""


class Paper(NamedTuple):
    """A cited work.

    author : the first author's surname, or the entry's ``shortauthor``
    address : by arXiv, DOI or the publisher
    """

    author: str
    year: int
    title: str
    address: str


def read_papers(path: Path) -> tuple[Paper, ...]:
    """Return the papers of a BibTeX file, in its order.

    Raises ``BibliographyError`` if the file cannot be read, an entry lacks what a
    citation or its link needs, or two entries share author and year, by which a text
    cites them.

    >>> read_papers(Path(__file__).with_name("papers.bib"))[2].title
    'Layer Normalization'
    """
    try:
        entries = parse_file(str(path), "bibtex", encoding="utf-8").entries
    except PybtexError as error:
        raise BibliographyError(f"{path.name}: {error}") from None
    papers, keys = list[Paper](), dict[tuple[str, int], str]()
    for key, entry in entries.items():
        try:
            paper = _paper(entry)
        except ValueError as error:
            raise BibliographyError(f"{path.name}: {key}: {error}") from None
        other = keys.setdefault((paper.author, paper.year), key)
        if other != key:
            raise BibliographyError(
                f"{path.name}: {key}: {other} is by {paper.author} ({paper.year}) too, "
                "and a citation cannot tell them apart"
            )
        papers.append(paper)
    return tuple(papers)


def _paper(entry: Entry) -> Paper:
    """Return an entry as a paper; raise ``ValueError`` for what it lacks."""
    for name in ("author", "title", "year"):
        if name not in entry.fields and name not in entry.persons:
            raise ValueError(f"no {name}")
    fields, (first, *_) = entry.fields, entry.persons["author"]
    if not fields["year"].isdecimal():
        raise ValueError(f"the year must be a number, got {fields['year']!r}")
    for name, address in ADDRESSES.items():
        if name in fields:
            last = map(str, first.rich_prelast_names + first.rich_last_names)
            return Paper(
                fields.get("shortauthor", " ".join(last)),
                int(fields["year"]),
                str(Text.from_latex(fields["title"])),
                address.format(fields[name]),
            )
    raise ValueError(f"no address: it needs one of {', '.join(ADDRESSES)}")
