"""What becomes of unseen answers: ``python -m tests.unseen FOLDER [exercise …]``.

Writes what each author reads into ``build/unseen.jsonl``, to be judged by people.
``--table`` prints the benchmark from what they have judged, and judges nothing;
``--judge`` judges sets again for it (``--judge sixth``; all, if none is named).
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from autograder.messages.report import CheckReport
from tests.unseen import function_of, interval, read_answers
from tests.unseen.table import HERE, judge_sets, judged_table, rated_table, read_sets

WRITTEN = Path("build/unseen.jsonl")


def main(folder: Path, exercises: list[str]) -> None:
    """Judge the answers, print a table by lesson, and write what each one is told.

    Named is who gets a misconception's name, told who gets a name or a sentence.
    """
    counts: dict[str, Counter[str]] = {}
    times: dict[str, list[float]] = {}
    WRITTEN.parent.mkdir(exist_ok=True)
    with WRITTEN.open("w", encoding="utf-8") as file:
        for answer in read_answers(folder):
            if exercises and answer.exercise not in exercises:
                continue
            try:
                runner = local_runner_factory(function_of(answer))
                start = time.process_time()
                result = judge(load(answer.exercise), runner, text=answer.text)
                seconds = time.process_time() - start
            except Exception as error:
                print(f"{answer.exercise} {answer.number}: {error!r}", file=sys.stderr)
                continue
            record = {
                "exercise": answer.exercise,
                "number": answer.number,
                "right": answer.right,
                "about": answer.about,
                "solved": result.solved,
                "passed": result.passed,
                "points": result.points,
                "of": result.max_points,
                "diagnosis": result.diagnosis,
                "evidence": result.evidence,
                "report": str(CheckReport(load(answer.exercise), result, ())),
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            times.setdefault(answer.exercise, []).append(1000 * seconds)
            for lesson in (load(answer.exercise).lesson, "all"):
                count = counts.setdefault(lesson, Counter())
                if answer.right:
                    count.update(right=1, accepted=result.passed)
                else:
                    named = bool(result.diagnosis or result.blamed)
                    with_words = named or bool(result.evidence)
                    count.update(wrong=1, rejected=not result.passed)
                    count.update(named=named, told=with_words)
    columns = "lesson", "wrong", "rejected", "named", "told", "right", "accepted"
    table = Table(*columns)
    counts["all"] = counts.pop("all", Counter())
    for lesson, n in counts.items():
        table.add_row(
            lesson,
            f"{n['wrong']}",
            interval(n["rejected"], n["wrong"]),
            interval(n["named"], n["wrong"]),
            interval(n["told"], n["wrong"]),
            f"{n['right']}",
            interval(n["accepted"], n["right"]),
        )
    Console().print(table, _times(times), f"written: {WRITTEN}")


def _times(times: dict[str, list[float]]) -> Table:
    """Return how long judging takes: the slowest exercises, and all together."""
    table = Table("exercise", "median, ms of CPU time", "slowest, ms")
    slowest = sorted(times, key=lambda name: -max(times[name]))[:8]
    together = {"all": [each for those in times.values() for each in those]}
    for name, those in ({name: times[name] for name in slowest} | together).items():
        table.add_row(name, f"{statistics.median(those):.0f}", f"{max(those):.0f}")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.unseen")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("exercises", nargs="*")
    parser.add_argument("--table", action="store_true", help="print the benchmark")
    parser.add_argument(
        "--judge", nargs="*", choices=[*read_sets(HERE)], help="judge sets again first"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that judge")
    options = parser.parse_args()
    if options.judge is not None:
        judge_sets(options.judge or read_sets(HERE), options.jobs)
    if options.table or options.judge is not None:
        print(rated_table(), judged_table(), sep="\n\n")
    elif options.folder:
        main(options.folder, options.exercises)
    else:
        parser.error("name a folder of answers, or --table")
