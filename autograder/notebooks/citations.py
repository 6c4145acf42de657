"""Find the papers that a text cites, and make links to them.

Lessons and docstrings write "Luong et al. (2015)" as a book does, or a paper's title in
italics; the notebooks and the reading edition make links of both.
"""

import re
from pathlib import Path

from autograder.notebooks.bibliography import Paper, read_papers

PAPERS = read_papers(Path(__file__).with_name("papers.bib"))

_GAP = r"(?:\s|\n> ?)+"
_OTHERS = rf"(?:(?:,|,?{_GAP}and)?{_GAP}(?:et{_GAP}al\.|others|[A-Z][\w’]+))*"
_YEAR = rf",?{_GAP}(?:\(((?:19|20)\d\d)\)|((?:19|20)\d\d)\b)"
CITATION = re.compile(rf"\b([A-Z][\w’]+){_OTHERS}{_YEAR}")
_AUTHOR = "|".join(sorted({paper.author for paper in PAPERS}, key=len, reverse=True))
_KNOWN = re.compile(rf"\b({_AUTHOR})\b{_OTHERS}{_YEAR}")
_TITLE = re.compile(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)")  # no bold term
# What is set as code, as a formula or as a link stays as it is.
_CODE_OR_LINK = re.compile(r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)")


def with_links(text: str) -> str:
    """Return Markdown in which each paper that is named leads to it.

    Papers are named by authors and year, or by the title in italics (or its beginning,
    up to a colon).

    >>> with_links("see Ba et al. (2016)")
    'see [Ba et al. (2016)](https://arxiv.org/abs/1607.06450)'
    """
    parts, end = list[str](), 0
    for part in _CODE_OR_LINK.finditer(text):
        parts += [_linked(text[end : part.start()]), part[0]]
        end = part.end()
    return "".join([*parts, _linked(text[end:])])


def papers_in(text: str) -> list[Paper]:
    """Return the papers that a text names by authors and year, each once.

    >>> [paper.title for paper in papers_in("Source: Ba et al. (2016), section 3")]
    ['Layer Normalization']
    """
    named = {(match[1], int(match[2] or match[3])) for match in _KNOWN.finditer(text)}
    return [paper for paper in PAPERS if (paper.author, paper.year) in named]


def _linked(text: str) -> str:
    return _KNOWN.sub(_cited, _TITLE.sub(_titled, text))


def _titled(match: re.Match[str]) -> str:
    title = " ".join(match[1].replace("\n>", " ").split())
    for paper in PAPERS:
        if title in (paper.title, paper.title.partition(":")[0]):
            return f"[{match[0]}]({paper.address})"
    return match[0]


def _cited(match: re.Match[str]) -> str:
    year = int(match[2] or match[3])
    for paper in PAPERS:
        if (paper.author, paper.year) == (match[1], year):
            return f"[{match[0]}]({paper.address})"
    return match[0]
