"""A program's translations, one file for each language instead of thousands.

Home Assistant has a folder for each of its parts and a file for each language in it. A
lesson wants two or five languages, and at once.
"""

import json
import re
import zipfile
from collections.abc import Iterator
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
