"""The real text that trainers and encoders are compared on: the course's German."""

from collections.abc import Sequence

from course_lib.corpora.pairs import Pair
from course_lib.corpora.translations import translation_pairs


def training_text() -> str:
    """Return the German sentences of the training data, each on a line of its own."""
    return _lines(translation_pairs().train)


def held_out_text() -> str:
    """Return the sentences that are not trained on, validation and test."""
    parts = translation_pairs()
    return _lines([*parts.validation, *parts.test])


def every(step: int, text: str) -> str:
    """Return every step-th line of a text, from its first line on."""
    return "\n".join(text.splitlines()[::step])


def _lines(pairs: Sequence[Pair]) -> str:
    return "\n".join(pair.target for pair in pairs)
