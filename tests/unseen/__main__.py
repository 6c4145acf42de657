"""What becomes of unseen answers: ``python -m tests.unseen FOLDER [exercise …]``.

Writes what each author reads into ``build/unseen.jsonl``, to be judged by people.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.checking.registry import load
from autograder.messages.report import CheckReport
from tests.unseen import interval, judged, read_answers

WRITTEN = Path("build/unseen.jsonl")


def main(folder: Path, exercises: list[str]) -> None:
    """Judge the answers, print a table by lesson, write what each one is record."""
    counts: dict[str, Counter[str]] = {}
    WRITTEN.parent.mkdir(exist_ok=True)
    with WRITTEN.open("w", encoding="utf-8") as file:
        for answer in read_answers(folder):
            if exercises and answer.exercise not in exercises:
                continue
            try:
                result = judged(answer)
            except Exception as error:
                print(f"{answer.exercise} {answer.number}: {error!r}", file=sys.stderr)
                continue
            record = {
                "exercise": answer.exercise,
                "number": answer.number,
                "right": answer.right,
                "about": answer.about,
                "passed": result.passed,
                "points": result.points,
                "of": result.max_points,
                "diagnosis": result.diagnosis,
                "report": str(CheckReport(load(answer.exercise), result, ())),
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            for lesson in (load(answer.exercise).lesson, "all"):
                count = counts.setdefault(lesson, Counter())
                if answer.right:
                    count.update(right=1, accepted=result.passed)
                else:
                    named = bool(result.diagnosis or result.blamed)
                    count.update(wrong=1, rejected=not result.passed, named=named)
    table = Table("lesson", "wrong", "rejected", "named", "right", "accepted")
    counts["all"] = counts.pop("all", Counter())
    for lesson, n in counts.items():
        table.add_row(
            lesson,
            f"{n['wrong']}",
            interval(n["rejected"], n["wrong"]),
            interval(n["named"], n["wrong"]),
            f"{n['right']}",
            interval(n["accepted"], n["right"]),
        )
    Console().print(table, f"written: {WRITTEN}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
