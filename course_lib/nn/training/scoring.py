"""How good translations are: BLEU and chrF, also by length, and a few to be read.

The measures are sacrebleu's, so that they can be compared with what others report.
Results are plain data. How a model translates is in ``course_lib.nn.decoding``.
"""

import random
import time
from collections.abc import Sequence
from typing import Any

import sacrebleu
from rich.table import Table

from course_lib.corpora.pairs import Pair
from course_lib.nn.decoding import Translator, translate
from course_lib.nn.training.subwords import END, START, Subwords

N_SCORED = 1000  # of the test pairs
N_SHOWN = 20
BEAM = 4
# Words of a source, from and to, in which translations are measured apart.
LENGTHS = ((1, 2), (3, 3), (4, 5), (6, 8), (9, 14))


def score(
    model: Translator[Any, Any], subwords: Subwords, pairs: Sequence[Pair]
) -> dict[str, Any]:
    """Translate 1,000 of the pairs and measure the result, greedily and with a beam.

    Returns plain data: what ``measure`` gives for the beam, under "greedy" BLEU and
    chrF without one, and under "scoring_seconds" how long that took.
    """
    start = time.perf_counter()
    chosen = drawn(pairs)
    sources = [pair.source for pair in chosen]
    greedy = measure(chosen, translations(model, subwords, sources))
    found = measure(chosen, translations(model, subwords, sources, BEAM))
    return found | {
        "beam_size": BEAM,
        "greedy": {name: greedy[name] for name in ("bleu", "chrf", "exact")},
        "scoring_seconds": round(time.perf_counter() - start, 1),
    }


def drawn(pairs: Sequence[Pair]) -> list[Pair]:
    """Draw 1,000 of the pairs, or all if there are fewer: the same ones each time.

    They come in the order of the drawing; test pairs may stand in that of the alphabet.
    """
    return random.Random(0).sample(list(pairs), min(N_SCORED, len(pairs)))


def translations(
    model: Translator[Any, Any],
    subwords: Subwords,
    sources: Sequence[str],
    beam_size: int = 1,
) -> list[str]:
    """Translate texts to texts, in the same order."""
    numbers = [[*subwords.encode(source), END] for source in sources]
    written = translate(model, numbers, START, END, beam_size=beam_size)
    return [subwords.decode(each) for each in written]


def measure(pairs: Sequence[Pair], written: Sequence[str]) -> dict[str, Any]:
    """Compare translations with what people wrote.

    pairs : sources and the right targets
    written : one translation per pair, in the same order

    Returns "bleu" and "chrf", 0 to 100, of all texts together; "exact", the share that
    is right to the letter; "by_length", both by the number of words of the source;
    "shown", the first 20, not chosen. Raises ``ValueError`` if there are no pairs.
    Source: Papineni et al. (2002), BLEU; Popović (2015), chrF; Post (2018), A Call for
    Clarity in Reporting BLEU Scores.
    """
    if not pairs:
        raise ValueError("there are no pairs to measure")
    rows = list(zip(pairs, written, strict=True))
    references = [pair.target for pair in pairs]
    same = sum(pair.target == each for pair, each in rows)
    return {
        "n": len(rows),
        "bleu": bleu(written, references),
        "chrf": chrf(written, references),
        "exact": round(same / len(rows), 3),
        "by_length": by_length(pairs, written),
        "shown": [
            {"source": pair.source, "target": pair.target, "translation": each}
            for pair, each in rows[:N_SHOWN]
        ],
    }


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Give BLEU of a whole set of texts, 0 to 100, to two places.

    >>> bleu(["der Akku ist fast leer"], ["der Akku ist fast leer"])
    100.0
    """
    found = sacrebleu.corpus_bleu(list(hypotheses), [list(references)])
    return round(found.score, 2)


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Give chrF of a whole set of texts, 0 to 100, to two places.

    >>> chrf(["Batterie-Status"], ["Batteriestatus"]) > 50
    True
    """
    found = sacrebleu.corpus_chrf(list(hypotheses), [list(references)])
    return round(found.score, 2)


def by_length(
    pairs: Sequence[Pair], hypotheses: Sequence[str]
) -> list[dict[str, float]]:
    """Give BLEU and chrF by the number of words of the source.

    Returns, for each range that is there, "from" and "to" (words), "n" (pairs), "bleu"
    and "chrf".
    """
    found = []
    for first, last in LENGTHS:
        chosen = [
            (written, pair.target)
            for pair, written in zip(pairs, hypotheses, strict=True)
            if first <= len(pair.source.split()) <= last
        ]
        if chosen:
            texts = [one for one, _ in chosen], [two for _, two in chosen]
            measures = {"bleu": bleu(*texts), "chrf": chrf(*texts)}
            found.append({"from": first, "to": last, "n": len(chosen)} | measures)
    return found


def table(found: dict[str, Any]) -> Table:
    """Show what ``score`` found: one line for all, one for each range of lengths."""
    made = Table("words", "pairs", "BLEU", "chrF", "exact")
    made.add_row(
        "all",
        str(found["n"]),
        f"{found['bleu']:.1f}",
        f"{found['chrf']:.1f}",
        f"{found['exact']:.1%}",
    )
    for row in found["by_length"]:
        words = f"{row['from']}–{row['to']}" if row["from"] < row["to"] else row["to"]
        measures = f"{row['bleu']:.1f}", f"{row['chrf']:.1f}"
        made.add_row(str(words), str(row["n"]), *measures, "")
    return made
