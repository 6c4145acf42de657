"""What is typed, translated (lesson 11): for the figure of the translator.

The page runs the model. A notebook gives it the model's file, and asks the learner's
own ``greedy_decode`` or ``beam_search`` as well.
"""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.corpora.pairs import Pair
from course_lib.lessons import translation_errors
from course_lib.lessons.own_parts import is_missing, raised
from course_lib.lessons.translation_trace import next_log_probabilities
from course_lib.nn.model_file import COMMAND, ModelFileError, read_model_file
from course_lib.nn.models import MODELS
from course_lib.nn.training.subwords import END_ID, START_ID

EXAMPLES = (
    "The door of the garage is open",
    "Add an automation for the light in the garden",
    "The children are sleeping.",
)
MAX_LENGTH = 60  # tokens of a translation
MIN_WORDS = 5  # of a text whose attention is recorded
SYSTEM = "transformer"


def view(
    run: Mapping[str, Any],
    pairs: Iterable[Pair],
    names: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what ``figures.translator`` draws.

    run : of the comparison of systems: translations, and the attention of the first
    pairs : what the model was trained on
    names : the notebook's, ``globals()``: what is typed goes to its functions, too
    """
    counts = Counter(
        word for pair in pairs for word in translation_errors.words(pair.source)
    )
    return {
        "stored": [*_stored(run)],
        "counts": counts,
        "examples": EXAMPLES,
        "file": MODELS["translator"].file,
        "answer": None if names is None else lambda each: answer(each, names),
    }


def _stored(run: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the translations whose attention was recorded."""
    samples = run[f"{SYSTEM}, samples"]
    long = [each for each in samples if len(each["source"].split()) >= MIN_WORDS]
    maps = run[f"{SYSTEM}, attention maps"]
    for sample, attended in zip(long, maps, strict=False):
        yield {
            "text": sample["source"],
            "translation": sample["translation"],
            "sources": attended["source"],
            "targets": attended["target"],
            "weights": attended["weights"],
        }


def answer(question: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Return what the view has asked for; None if the learner's function is missing.

    question : ``want`` is "model" or "translation"; of that, ``text`` and ``beams``
    names : the notebook's
    """
    path = MODELS["translator"].path
    try:
        if question["want"] == "model":
            read_model_file(path)
            return {"base64": base64.b64encode(path.read_bytes()).decode()}
        model, tokenizer = _model(path)
    except ModelFileError:
        return {"error": f"The model's file is missing or damaged: run `{COMMAND}`."}
    beams = question["beams"]
    name = "beam_search" if beams > 1 else "greedy_decode"
    function = names.get(name)
    if is_missing(function):
        return None
    source = [*tokenizer.encode(question["text"]), END_ID]
    asked = next_log_probabilities(model, source)
    longest = min(MAX_LENGTH, model.config.n_positions - 1)
    sizes = [beams] * (beams > 1) + [longest]
    try:
        written = function(asked, START_ID, END_ID, *sizes)  # type: ignore[misc]
        return {"name": name, "translation": tokenizer.decode([*map(int, written)])}
    except Exception as error:  # whatever the learner's function raises
        return {"error": f"Your own {name} raised {raised(error)}."}


@cache
def _model(path: Path) -> Any:
    return read_model_file(path).load()
