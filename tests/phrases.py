"""Phrases that no native speaker writes: a linter with our vocabulary.

To proselint's own checks come the phrases of ``phrases.toml``. ``tests.test_phrases``
holds the lessons, the pages and the banks to them, ``autograder check-bank`` one bank.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from proselint import checks
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, Padding
from proselint.registry.checks.types import PreferredForms
from proselint.tools import LintFile

from autograder.checking.exercise import Exercise

PHRASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["say"]
# Its own checks that say something of sentences with formulas and code in them.
OURS = "phrases"
CHECKS = {
    each: True
    for each in """
    archaism hedging industrial_language malapropisms mixed_metaphors mondegreens
    needless_variants nonwords oxymorons redundancy skunked_terms social_awareness
    spelling uncomparables""".split()
}
# What they say of terms: two errors cancel out, one secret is for ever.
TERMS = ("'cancel out'", "'number of different'", "'for ever'")
CONFIG = {"max_errors": 1000, "checks": {OURS: True, **CHECKS}}


@cache
def register() -> None:
    """Register the linter's own checks and our phrases, once."""
    registry = CheckRegistry()
    if not any(each.path == OURS for each in registry.checks):
        registry.register_many(checks.__register__)
        forms = PreferredForms(PHRASES, Padding.WORDS_IN_TEXT)
        registry.register(Check(forms, path=OURS, message="'{1}': say {0}"))


def remarks(text: str) -> Iterator[str]:
    """Yield what the linter says of a text: the phrase and what to say instead."""
    register()
    text = re.sub(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$", "…", text, flags=re.DOTALL)
    text = re.sub(r"(?<!\n)\n(?!\n)", " ", text)  # phrases go on over the end of a line
    for result, _ in LintFile("text", text).lint(CONFIG):
        if not any(each in result.message for each in TERMS):
            yield f"{result.check_path}: {result.message}"


def remarks_on_bank(exercise: Exercise) -> list[str]:
    """Return what is to be said otherwise in a bank's sentences, each with its name."""
    sentences = [(case.name, case.claim) for case in exercise.cases]
    for each in exercise.misconceptions:
        words = "\n\n".join([each.diagnosis, each.question, each.why])
        sentences.append((each.name, words))
    if not [*remarks("\n\n".join(text for _, text in sentences))]:
        return []  # as most often: one reading is quick, one for each name is not
    return [
        f"{exercise.name}: {name}: {remark}"
        for name, text in sentences
        for remark in remarks(text)
    ]
