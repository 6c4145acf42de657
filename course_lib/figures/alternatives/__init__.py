"""The alternative texts of the lessons' pictures, by the names that the notebooks use.

``01.json`` holds those of lesson 01; ``autograder build`` writes it from the lesson's
source, where each text is above its picture.
"""

import json
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

NAME = re.compile(r"(\d\d)-[0-9a-f]{4}")
VARIABLE = "ATTENTION_ALTERNATIVES"  # a file of texts that are not in this folder yet


def alternative_text(alt: str) -> str:
    """Return the text that a name stands for; any other text is returned as it is.

    An older copy of a lesson may name a text that the course has no longer.

    >>> alternative_text("Each word attends to itself.")
    'Each word attends to itself.'
    """
    name = NAME.fullmatch(alt)
    if not name:
        return alt
    old = f"A picture of an older copy of lesson {name[1]}, without a description"
    return (_texts(os.environ.get(VARIABLE, "")) | _lesson(name[1])).get(alt, old)


@cache
def _lesson(number: str) -> dict[str, str]:
    file = files(__name__).joinpath(f"{number}.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _texts(path: str) -> dict[str, str]:
    return json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
