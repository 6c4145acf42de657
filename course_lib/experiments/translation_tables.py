"""The record of three systems at equal time, as text tables (lesson 11).

What the record holds is explained in ``course_lib.experiments.translation``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from course_lib.experiments.record import Record
from course_lib.experiments.translation import MIN_WORDS, SYSTEM_NAMES
from course_lib.lessons.translation_errors import ERROR_TYPES, error_type, unseen_words
from course_lib.nn.training.scoring import N_SCORED

WORD_GROUPS = ("seen", "unseen")  # in training
MEASURES = {"bleu": "BLEU", "chrf": "chrF"}
MAX_ROWS = 25  # of a figure
MAX_CHARACTERS = 120  # of a translation, which may repeat itself for long


def trainings(record: Record) -> str:
    """Format how long each system was trained."""
    lines = []
    for name, label in SYSTEM_NAMES.items():
        steps, seconds, each, parameters = (
            record.median(f"{name}, {key}")
            for key in ("steps", "seconds", "milliseconds per step", "parameters")
        )
        lines.append(
            f"{label:18} {steps:5.0f} steps of {each:3.0f} ms: "
            f"{seconds / 60:4.1f} minutes, {parameters:9,.0f} parameters"
        )
    return "\n".join(lines)


def scores(record: Record) -> str:
    """Format the scores of each system's translations: medians, and BLEU's range."""
    lines = [f"{'':18} BLEU   (range)    greedy   chrF   exactly right"]
    for name, label in SYSTEM_NAMES.items():
        bleus = record.values(f"{name}, bleu")
        span = f"({min(bleus):.1f}–{max(bleus):.1f})"
        bleu, greedy, chrf, exact = (
            record.median(f"{name}, {key}")
            for key in ("bleu", "greedy bleu", "chrf", "exact")
        )
        lines.append(
            f"{label:18} {bleu:4.1f} {span:>12} {greedy:7.1f} {chrf:6.1f} {exact:9.1%}"
        )
    return "\n".join(lines)


def error_types(record: Record) -> str:
    """Count the error types of each system: medians over the runs."""
    lines = [_heading("")]
    for each in ERROR_TYPES:
        counts = [
            np.median([run[each] for run in record.values(f"{name}, error types")])
            for name in SYSTEM_NAMES
        ]
        lines.append(f"{each:18}" + "".join(f"{count:20.0f}" for count in counts))
    return "\n".join(lines)


def known_words(record: Record) -> str:
    """Compare BLEU of texts whose words were all in training with that of others."""
    run = record.runs[0]
    lines = [f"{'BLEU, greedy':18} all words known   not all"]
    for name, label in SYSTEM_NAMES.items():
        known, new = (record.median(f"{name}, {group} bleu") for group in WORD_GROUPS)
        lines.append(f"{label:18} {known:15.1f} {new:9.1f}")
    pairs = [run[f"transformer, {group} pairs"] for group in WORD_GROUPS]
    return "\n".join([*lines, f"{'pairs':18} {pairs[0]:15} {pairs[1]:9}"])


def by_length(record: Record, measure: str = "chrf") -> dict[str, list[list[float]]]:
    """Return for each system, for each run, a measure by the words of the source.

    measure : "chrf" or "bleu"
    """
    return {
        label: [
            [row[measure] for row in rows]
            for rows in record.values(f"{name}, by length")
        ]
        for name, label in SYSTEM_NAMES.items()
    }


def lengths(record: Record, measure: str) -> str:
    """Format a measure of each system over all and by words: medians over the runs."""
    pairs = [row["n"] for row in record.runs[0]["transformer, by length"]]
    lines = [_heading(MEASURES[measure]) + f"{'pairs':>10}"]
    for label, runs, n in zip(
        _labels(record), _by_range(record, measure), [N_SCORED, *pairs], strict=True
    ):
        medians = "".join(
            f"{np.median(runs[name]):20.1f}" for name in SYSTEM_NAMES.values()
        )
        lines.append(f"{label:18}" + medians + f"{n:10}")
    return "\n".join(lines)


def rankings(record: Record, measure: str) -> str:
    """Rank the systems over all and by words, and compare the ranges of their runs."""
    lines = [f"{MEASURES[measure]}, median (range)"]
    for label, runs in zip(_labels(record), _by_range(record, measure), strict=True):
        first, second, *_ = sorted(runs, key=lambda system: -np.median(runs[system]))
        if len(record.runs) == 1:
            verdict = "one run each"
        elif min(runs[first]) > max(runs[second]):
            verdict = "ranges apart"
        else:
            verdict = "ranges overlap"
        ahead, behind = (
            f"{system} {np.median(runs[system]):.1f} "
            f"({min(runs[system]):.1f}–{max(runs[system]):.1f})"
            for system in (first, second)
        )
        lines.append(f"{label:10} {ahead}, then {behind}: {verdict}")
    return "\n".join(lines)


def length_ranges(record: Record) -> list[str]:
    """Name the ranges of words in which BLEU was measured."""
    rows = record.runs[0]["transformer, by length"]
    return [
        f"{row['from']}–{row['to']}" if row["from"] < row["to"] else f"{row['to']}"
        for row in rows
    ]


def losses(record: Record) -> dict[str, tuple[float, list[float]]]:
    """Return for each system the minutes and the losses of the first run."""
    run = record.runs[0]
    return {
        label: (run[f"{name}, seconds"] / 60, run[f"{name}, losses"])
        for name, label in SYSTEM_NAMES.items()
    }


def greedy_and_beam(record: Record) -> str:
    """Format source, greedy translation and beam search's of each attention map."""
    run = record.runs[0]
    long = [
        each
        for each in run["transformer, samples"]
        if len(each["source"].split()) >= MIN_WORDS
    ]
    lines = []
    for index, weights in enumerate(run["transformer, attention maps"]):
        beams = long[index]["translation"]
        greedy = weights["translation"]
        lines += [
            f"{index + 1}. {long[index]['source']}",
            f"   four beams: {_shortened(beams)}",
            f"   greedy:     {'the same' if greedy == beams else _shortened(greedy)}",
        ]
    return "\n".join(lines)


def attention_map(
    record: Record, index: int, system: str = "transformer"
) -> dict[str, Any]:
    """Return a system's attention in a translation, for ``figures.alignment``.

    index : 0 or 1; only the first 25 tokens of the translation are in the result
    """
    recorded = record.runs[0][f"{system}, attention maps"][index]
    return {
        "weights": np.array(recorded["weights"][:MAX_ROWS]),
        "targets": recorded["target"][:MAX_ROWS],
        "sources": recorded["source"],
    }


def with_error_types(
    translations: list[Mapping[str, str]], training_words: set[str]
) -> Iterator[str]:
    """Yield translations, each with its error type, as far as letters can tell.

    translations : source, target and translation of each
    training_words : the words of the sources in training
    """
    for each in translations:
        kind = error_type(each["target"], each["translation"])
        yield f"{each['source']} → {_shortened(each['translation'])}"
        new = unseen_words(each["source"], training_words)
        rest = [f"reference: {each['target']}"] if kind != "right" else []
        rest += [f"never in training: {', '.join(new)}"] if new else []
        yield "    " + " | ".join([kind, *rest])


def _heading(first: str) -> str:
    return f"{first:18}" + "".join(f"{each:>20}" for each in SYSTEM_NAMES.values())


def _labels(record: Record) -> list[str]:
    return ["all", *(f"{words} words" for words in length_ranges(record))]


def _by_range(record: Record, measure: str) -> list[dict[str, list[float]]]:
    """Return, for all pairs and then for each range, the runs of each system."""
    overall = {
        label: record.values(f"{name}, {measure}")
        for name, label in SYSTEM_NAMES.items()
    }
    ranges = [
        {
            label: [run[i] for run in runs]
            for label, runs in by_length(record, measure).items()
        }
        for i in range(len(length_ranges(record)))
    ]
    return [overall, *ranges]


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
