"""The kept result of three systems at equal time, as text tables (lesson 09).

What is kept, and how it was made: ``course_lib.experiments.translation``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from course_lib.experiments.record import Record
from course_lib.experiments.translation import LONG, NAMES
from course_lib.lessons.translation_errors import KINDS, kind_of, unseen
from course_lib.nn.training.scoring import N_SCORED
from course_lib.nn.training.subwords import END, SPECIAL

KNOWN = ("seen", "unseen")
MEASURES = {"bleu": "BLEU", "chrf": "chrF"}
END_READABLE = SPECIAL[END]
MOST_ROWS = 25  # of a picture
WIDEST = 120  # characters of a translation, which may be a stammer


def trainings(kept: Record) -> str:
    """Say how long each system was trained."""
    lines = []
    for name, said in NAMES.items():
        updates, seconds, each, parameters = (
            kept.median(f"{name}, {what}")
            for what in ("updates", "seconds", "milliseconds per update", "parameters")
        )
        lines.append(
            f"{said:18} {updates:5.0f} updates of {each:3.0f} ms: "
            f"{seconds / 60:4.1f} minutes, {parameters:9,.0f} parameters"
        )
    return "\n".join(lines)


def scores(kept: Record) -> str:
    """Say how good each system's translations are: medians, and BLEU's range."""
    lines = [f"{'':18} BLEU   (range)    greedy   chrF   right to the letter"]
    for name, said in NAMES.items():
        bleus = kept.values(f"{name}, bleu")
        span = f"({min(bleus):.1f}–{max(bleus):.1f})"
        bleu, greedy, chrf, exact = (
            kept.median(f"{name}, {what}")
            for what in ("bleu", "greedy bleu", "chrf", "exact")
        )
        lines.append(
            f"{said:18} {bleu:4.1f} {span:>12} {greedy:7.1f} {chrf:6.1f} {exact:9.1%}"
        )
    return "\n".join(lines)


def kinds(kept: Record) -> str:
    """Count the kinds of mistakes of each system: medians over the runs."""
    lines = [_heading("")]
    for kind in KINDS:
        counts = [
            np.median([count[kind] for count in kept.values(f"{name}, kinds")])
            for name in NAMES
        ]
        lines.append(f"{kind:18}" + "".join(f"{count:20.0f}" for count in counts))
    return "\n".join(lines)


def known_words(kept: Record) -> str:
    """Compare BLEU of texts whose words were all in training with that of others."""
    run = kept.runs[0]
    lines = [f"{'BLEU':18} all words known   not all"]
    for name, said in NAMES.items():
        seen, new = (kept.median(f"{name}, {which} bleu") for which in KNOWN)
        lines.append(f"{said:18} {seen:15.1f} {new:9.1f}")
    pairs = [run[f"transformer, {which} pairs"] for which in KNOWN]
    return "\n".join([*lines, f"{'pairs':18} {pairs[0]:15} {pairs[1]:9}"])


def by_length(kept: Record, measure: str = "chrf") -> dict[str, list[list[float]]]:
    """Give for each system, for each run, a measure by the words of the source.

    measure : "chrf" or "bleu"
    """
    return {
        said: [
            [row[measure] for row in rows] for rows in kept.values(f"{name}, by length")
        ]
        for name, said in NAMES.items()
    }


def lengths(kept: Record, measure: str) -> str:
    """Show a measure of each system over all and by words: medians over the runs."""
    pairs = [row["n"] for row in kept.runs[0]["transformer, by length"]]
    lines = [_heading(MEASURES[measure]) + f"{'pairs':>10}"]
    for label, runs, n in zip(
        _labels(kept), _by_range(kept, measure), [N_SCORED, *pairs], strict=True
    ):
        medians = "".join(f"{np.median(runs[name]):20.1f}" for name in NAMES.values())
        lines.append(f"{label:18}" + medians + f"{n:10}")
    return "\n".join(lines)


def leads(kept: Record, measure: str) -> str:
    """Say who is ahead over all and by words, and whether the runs bear that out."""
    lines = [f"{MEASURES[measure]}, median (range)"]
    for label, runs in zip(_labels(kept), _by_range(kept, measure), strict=True):
        first, second, *_ = sorted(runs, key=lambda said: -np.median(runs[said]))
        if len(kept.runs) == 1:
            verdict = "one run each"
        elif min(runs[first]) > max(runs[second]):
            verdict = "ranges apart"
        else:
            verdict = "ranges overlap"
        ahead, behind = (
            f"{said} {np.median(runs[said]):.1f} "
            f"({min(runs[said]):.1f}–{max(runs[said]):.1f})"
            for said in (first, second)
        )
        lines.append(f"{label:10} {ahead}, then {behind}: {verdict}")
    return "\n".join(lines)


def ranges(kept: Record) -> list[str]:
    """Name the ranges of words in which BLEU was measured."""
    rows = kept.runs[0]["transformer, by length"]
    return [
        f"{row['from']}–{row['to']}" if row["from"] < row["to"] else f"{row['to']}"
        for row in rows
    ]


def losses(kept: Record) -> dict[str, tuple[float, list[float]]]:
    """Give for each system the minutes and the losses of the first run."""
    run = kept.runs[0]
    return {
        said: (run[f"{name}, seconds"] / 60, run[f"{name}, losses"])
        for name, said in NAMES.items()
    }


def two_ways(kept: Record) -> str:
    """Show the texts that ``look`` is about: read, written greedily and with beams."""
    run = kept.runs[0]
    long = [
        each
        for each in run["transformer, shown"]
        if len(each["source"].split()) >= LONG
    ]
    lines = []
    for number, look in enumerate(run["transformer, looks"]):
        beams = long[number]["translation"]
        greedy = "".join(look["target"]).removesuffix(END_READABLE).strip()
        lines += [
            f"{number + 1}. {long[number]['source']}",
            f"   four beams: {_shortened(beams)}",
            f"   greedy:     {'the same' if greedy == beams else _shortened(greedy)}",
        ]
    return "\n".join(lines)


def look(kept: Record, number: int, name: str = "transformer") -> dict[str, Any]:
    """Give what a system looked at in a translation, for ``figures.alignment``.

    number : 0 or 1; only the first 25 tokens of the translation are in the result
    """
    found = kept.runs[0][f"{name}, looks"][number]
    return {
        "weights": np.array(found["weights"][:MOST_ROWS]),
        "targets": found["target"][:MOST_ROWS],
        "sources": found["source"],
    }


def commented(shown: list[Mapping[str, str]], known: set[str]) -> Iterator[str]:
    """Give translations, each with its kind of mistake, as far as letters can tell.

    shown : source, target and translation of each
    known : the words of the sources in training
    """
    for each in shown:
        kind = kind_of(each["target"], each["translation"])
        yield f"{each['source']} → {_shortened(each['translation'])}"
        new = unseen(each["source"], known)
        rest = [f"wanted: {each['target']}"] if kind != "right" else []
        rest += [f"never in training: {', '.join(new)}"] if new else []
        yield "    " + " | ".join([kind, *rest])


def _heading(first: str) -> str:
    return f"{first:18}" + "".join(f"{said:>20}" for said in NAMES.values())


def _labels(kept: Record) -> list[str]:
    return ["all", *(f"{words} words" for words in ranges(kept))]


def _by_range(kept: Record, measure: str) -> list[dict[str, list[float]]]:
    """Give, for all pairs and then for each range, the runs of each system."""
    overall = {said: kept.values(f"{name}, {measure}") for name, said in NAMES.items()}
    found = by_length(kept, measure)
    return [
        overall,
        *(
            {said: [run[place] for run in runs] for said, runs in found.items()}
            for place in range(len(ranges(kept)))
        ),
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
