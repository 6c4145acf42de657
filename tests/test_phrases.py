"""Keep out phrases that no native speaker writes, by ``tests.phrases``.

Read are the prose of lessons and pages and the sentences of the banks. All that is to
be mended in lessons and pages:

    python -m tests.test_phrases
"""

import re
import sys
from pathlib import Path

import pytest

from autograder.checking.registry import exercise_names, load
from tests.checking.test_matrix import bank
from tests.phrases import OURS, PHRASES, remarks, remarks_on_bank

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted(ROOT.glob("solutions/*/*.py"))
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]


def prose_of_lesson(path: Path) -> str:
    """Return the prose cells of a lesson, without code and formulas in them."""
    cells = re.split(r"^# %% ?", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    prose = (each.partition("\n")[2] for each in cells if each.startswith("[markdown]"))
    return "\n\n".join(re.sub(r"^# ?", "", each, flags=re.MULTILINE) for each in prose)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_is_written_as_people_write(path):
    assert [*remarks(prose_of_lesson(path))] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_is_written_as_people_write(path):
    assert [*remarks(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", exercise_names())
def test_sentences_of_a_bank_are_written_as_people_write(name):
    assert remarks_on_bank(load(name)) == []


def test_remark_on_a_bank_has_the_name_of_its_misconception():
    exercise = bank()
    words = "Your numbers stay as they are."
    exercise.edits(f"kept: return x\n  {words}\n  ? What?\n  # For the test.")
    (remark,) = remarks_on_bank(exercise)
    assert remark.startswith("double: kept: phrases: 'stay as they are': say")


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
    count = 0
    for each in [*LESSONS, *PAGES]:
        text = each.read_text(encoding="utf-8")
        for line in remarks(prose_of_lesson(each) if each in LESSONS else text):
            print(f"{each.relative_to(ROOT)}: {line}")
            count += 1
    sys.exit(bool(count))
