"""What the views need that read a reader's own text: a stored example, and the model.

The model is made by ``make models``; the example is stored with the course, so that a
view shows something true where that was not done.
"""

import json
import os
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from course_lib.corpora.download import folder

LANGUAGE_MODEL = "language-model.bin"
EXAMPLE = "own_words.json"
ALT = "After Juliet's I love, the likeliest next tokens are you and thee."
APART = "ATTENTION_MODELS_APART"  # set where outputs must not carry a model


def next_token_example(names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the arguments of ``figures.next_token`` for the model of all plays.

    names : the notebook's, ``globals()``: its ``top_p_filter`` and ``sample`` are asked

    They hold the model's file too, if it is there, so that a notebook runs the model
    without asking a server for it. Where the lessons' own outputs are made they do not:
    the book has the file beside its pages.
    """
    path = files("course_lib.lessons") / EXAMPLE
    stored = json.loads(path.read_text(encoding="utf-8"))
    contexts = {
        tuple(map(int, key.split())): logits
        for key, logits in stored.pop("contexts").items()
    }
    own = {"model": LANGUAGE_MODEL, "file": _file(), "answer": _answering(names)}
    return {"contexts": contexts} | own | stored


def _answering(names: Mapping[str, Any] | None) -> Callable[[Any], Any] | None:
    if names is None:
        return None
    from course_lib.lessons import own_draws  # with PyTorch, which a page has not

    return lambda question: own_draws.answer(question, names)


def is_made() -> bool:
    """Return whether the model's file is there."""
    return (folder() / "models" / LANGUAGE_MODEL).is_file()


def _file() -> bytes | None:
    if os.environ.get(APART) or not is_made():
        return None
    return (folder() / "models" / LANGUAGE_MODEL).read_bytes()
