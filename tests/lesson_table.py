"""Count what each lesson holds, in one checkout or in two.

    python -m tests.lesson_table [BEFORE]

BEFORE is the folder of an earlier checkout, whose lessons may have no core: then all
that they hold counts as core. Reads the text sources, and the banks for an exercise's
minutes.

The minutes of a core are reckoned besides, by one rule for all lessons: 130 words of
prose a minute without the hints, the exercises' own minutes, one for each prediction,
and half a minute for every other cell of code, with its picture.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
MINUTES = re.compile(r"\*\*About (\d+) minutes(?:, and (\d+) more)?")
FURTHER = re.compile(r"^# ## Going further", re.MULTILINE)
EXERCISE = re.compile(r"^# ### Exercise: (\w+)$", re.MULTILINE)
EXERCISE_CELL = re.compile(r"# exercise$|^check\(", re.MULTILINE)
EXERCISE_MINUTES = re.compile(r"\bminutes=(\d+)")
HINT = re.compile(r"<details>.*?</details>", re.DOTALL)
PREDICTION = re.compile(r"^# - \[x\]", re.MULTILINE)
BOX = re.compile(r"^# > \*\*", re.MULTILINE)
CELL = re.compile(r"^# %% ?", re.MULTILINE)


class Counts(NamedTuple):
    """What a lesson holds.

    core, further : minutes, as the lesson says
    reckoned : minutes of the core by the rule above
    core_words, words : of the core's and all prose, formulas and code in it included
    boxes : quoted blocks that begin in bold, as those of popular errors do
    """

    core: int
    further: int
    reckoned: int
    required: int
    optional: int
    core_words: int
    words: int
    predictions: int
    boxes: int

    @classmethod
    def of(cls, text: str, minutes_of: Mapping[str, int]) -> "Counts":
        """Count a lesson's source.

        minutes_of : the minutes of each exercise
        """
        minutes = MINUTES.search(text.replace("\n# ", " "))
        core, further = minutes.groups(default=0) if minutes else (0, 0)
        parts = FURTHER.split(text)
        required, *optional = (len(EXERCISE.findall(each)) for each in parts)
        return cls(
            int(core),
            int(further),
            reckoned(parts[0], minutes_of),
            required,
            sum(optional),
            words_of(parts[0]),
            sum(map(words_of, parts)),
            len(PREDICTION.findall(text)),
            len(BOX.findall(text)),
        )


def reckoned(core: str, minutes_of: Mapping[str, int]) -> int:
    """Return the minutes of a core by the rule above."""
    cells = CELL.split(HINT.sub("", core))[1:]
    code = [each for each in cells if not each.startswith("[markdown]")]
    demonstrations = [each for each in code if not EXERCISE_CELL.search(each)]
    exercises = sum(minutes_of[name] for name in EXERCISE.findall(core))
    reading = words_of(HINT.sub("", core)) / 130 + len(demonstrations) / 2
    return round(reading + exercises + len(PREDICTION.findall(core)))


def words_of(text: str) -> int:
    """Count the words of a source's prose cells."""
    prose = [each for each in CELL.split(text) if each.startswith("[markdown]")]
    return sum(len(each.replace("#", "").split()) - 1 for each in prose)


def counted(root: Path) -> dict[str, Counts]:
    """Count the lessons of a checkout by their numbers."""
    minutes_of = {}
    for bank in root.glob("autograder/exercises/*.py"):
        if minutes := EXERCISE_MINUTES.search(bank.read_text("utf-8")):
            minutes_of[bank.stem] = int(minutes[1])
    return {
        each.stem[:2]: Counts.of(each.read_text("utf-8"), minutes_of)
        for each in sorted(root.glob("solutions/*/*.py"))
    }


def table_of(lessons: dict[str, Counts], title: str) -> Table:
    """Return a table with a row for each lesson and one for their sum."""
    table = Table("lesson", *Counts._fields, title=title)
    for number, counts in lessons.items():
        table.add_row(number, *map(str, counts))
    total = [sum(each) for each in zip(*lessons.values(), strict=True)]
    table.add_row("all", *map(str, total))
    return table


if __name__ == "__main__":
    console = Console(width=100)
    for folder in [*map(Path, sys.argv[1:]), ROOT]:
        title = "today" if folder == ROOT else "before"
        console.print(table_of(counted(folder), title))
