"""Keep out phrases that no native speaker writes: a linter with our vocabulary.

proselint reads the prose of lessons and pages and the sentences of the banks. To its
own checks come the phrases of ``phrases.toml``. All that is to be mended:

    python -m tests.test_phrases
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from proselint import checks
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, Padding
from proselint.registry.checks.types import PreferredForms
from proselint.tools import LintFile

from autograder.checking.registry import exercise_names, load

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted(ROOT.glob("solutions/*/*.py"))
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
PHRASES = tomllib.loads((ROOT / "tests" / "phrases.toml").read_text())["say"]
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


@pytest.fixture(scope="module", autouse=True)
def vocabulary():
    register()


def register() -> None:
    """Register the linter's own checks and our phrases, once."""
    registry = CheckRegistry()
    if not any(each.path == OURS for each in registry.checks):
        registry.register_many(checks.__register__)
        forms = PreferredForms(PHRASES, Padding.WORDS_IN_TEXT)
        registry.register(Check(forms, path=OURS, message="'{1}': say {0}"))


def prose_of_lesson(path: Path) -> str:
    """Return the prose cells of a lesson, without code and formulas in them."""
    cells = re.split(r"^# %% ?", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    prose = (each.partition("\n")[2] for each in cells if each.startswith("[markdown]"))
    return "\n\n".join(re.sub(r"^# ?", "", each, flags=re.MULTILINE) for each in prose)


def remarks(text: str) -> Iterator[str]:
    """Yield what the linter says of a text: the phrase and what to say instead."""
    text = re.sub(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$", "…", text, flags=re.DOTALL)
    text = re.sub(r"(?<!\n)\n(?!\n)", " ", text)  # phrases go on over the end of a line
    for result, _ in LintFile("text", text).lint(CONFIG):
        if not any(each in result.message for each in TERMS):
            yield f"{result.check_path}: {result.message}"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_is_written_as_people_write(path):
    assert [*remarks(prose_of_lesson(path))] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_is_written_as_people_write(path):
    assert [*remarks(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", exercise_names())
def test_sentences_of_a_bank_are_written_as_people_write(name):
    assert [*remarks(sentences_of(name))] == []


def sentences_of(name: str) -> str:
    """Return what a bank says to a learner, a paragraph each."""
    exercise = load(name)
    sentences = [case.claim for case in exercise.cases]
    for each in exercise.misconceptions:
        sentences += [each.diagnosis, each.question, each.why]
    return "\n\n".join(each for each in sentences if each)


@pytest.mark.parametrize("phrase", PHRASES)
def test_pattern_is_found_in_running_text(phrase):
    words = re.sub(r"\w\?|\(\w+\)\?", "", phrase).replace(r"\d+", "300")
    words = re.sub(r"\(([^|)]*)\|[^)]*\)", r"\1", words)  # the first way to say it
    assert any(OURS in each for each in remarks(f"So the\nmodel {words} here.")), words


def test_good_sentence_passes():
    assert [
        *remarks("The mask is not modified, and every integer is a token id.")
    ] == []


if __name__ == "__main__":
    register()
    count = 0
    for each in [*LESSONS, *PAGES]:
        text = each.read_text(encoding="utf-8")
        for line in remarks(prose_of_lesson(each) if each in LESSONS else text):
            print(f"{each.relative_to(ROOT)}: {line}")
            count += 1
    sys.exit(bool(count))
