"""How good translations are: BLEU and chrF, also by length, and a few to be read.

The measures are sacrebleu's, so that they can be compared with what others report.
Results are plain data. A model translates with ``course_lib.nn.decoding``.
"""

import random
import time
from collections.abc import Sequence
from typing import Any

import sacrebleu
from rich.table import Table

from course_lib.corpora.overlap import near_copies
from course_lib.corpora.pairs import Pair
from course_lib.nn.decoding import translate
from course_lib.nn.training.subwords import END_ID, START_ID, SubwordTokenizer
from course_lib.nn.translator import Translator

N_SCORED = 1000  # of the test pairs
N_SAMPLES = 20  # translations that are kept in the results
BEAM_SIZE = 4
LENGTH_PENALTY = 0.6  # its exponent, as in the paper
# Words of a source, from and to, in which translations are measured apart.
LENGTHS = ((1, 2), (3, 3), (4, 5), (6, 8), (9, 14))


def evaluate(
    model: Translator[Any, Any],
    tokenizer: SubwordTokenizer,
    pairs: Sequence[Pair],
    training: Sequence[Pair] = (),
    length_penalty: float = LENGTH_PENALTY,
) -> dict[str, Any]:
    """Translate 1,000 of the pairs and measure the result, greedily and with a beam.

    training : the pairs that the model was trained on
    length_penalty : the exponent of the length penalty in beam search

    Returns plain data: the result of ``measure`` for the beam, under "greedy" BLEU and
    chrF without one, under "without near copies" n, BLEU and chrF of the pairs of which
    training has no copy with one word changed, and under "scoring_seconds" how long
    that took.
    """
    start = time.perf_counter()
    sample = sample_pairs(pairs)
    sources = [pair.source for pair in sample]
    greedy = measure(sample, translate_texts(model, tokenizer, sources))
    hypotheses = translate_texts(model, tokenizer, sources, BEAM_SIZE, length_penalty)
    new = [
        (hypothesis, pair.target)
        for hypothesis, pair, is_copy in zip(
            hypotheses, sample, near_copies(training, sample), strict=True
        )
        if not is_copy
    ]
    return measure(sample, hypotheses) | {
        "beam_size": BEAM_SIZE,
        "length_penalty": length_penalty,
        "without near copies": _scores(new),
        "greedy": {name: greedy[name] for name in ("bleu", "chrf", "exact")},
        "scoring_seconds": round(time.perf_counter() - start, 1),
    }


def sample_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Draw 1,000 of the pairs, or all if there are fewer: the same ones each time.

    They come in random order, since test pairs may be in alphabetical order.
    """
    return random.Random(0).sample(list(pairs), min(N_SCORED, len(pairs)))


def translate_texts(
    model: Translator[Any, Any],
    tokenizer: SubwordTokenizer,
    sources: Sequence[str],
    beam_size: int = 1,
    length_penalty: float = LENGTH_PENALTY,
) -> list[str]:
    """Translate texts to texts, in the same order; one without words to none."""
    encoded = (tokenizer.encode(source) for source in sources)
    source_ids = [[*ids, END_ID] if ids else [] for ids in encoded]
    target_ids = translate(
        model, source_ids, START_ID, END_ID, beam_size=beam_size, alpha=length_penalty
    )
    return [tokenizer.decode(each) for each in target_ids]


def measure(pairs: Sequence[Pair], hypotheses: Sequence[str]) -> dict[str, Any]:
    """Compare translations with those that people made.

    pairs : sources and the right targets
    hypotheses : one translation per pair, in the same order

    Returns a dictionary with these keys:
    - "n": number of pairs
    - "bleu" and "chrf": 0 to 100, of all texts together
    - "exact": the share that is right to the letter
    - "by_length": BLEU and chrF by the number of words of the source
    - "shown": the first 20 translations, not chosen

    Raises ``ValueError`` if there are no pairs.
    Source: Papineni et al. (2002), BLEU; Popović (2015), chrF; Post (2018), A Call for
    Clarity in Reporting BLEU Scores.
    """
    if not pairs:
        raise ValueError("there are no pairs to measure")
    rows = list(zip(pairs, hypotheses, strict=True))
    references = [pair.target for pair in pairs]
    n_exact = sum(pair.target == hypothesis for pair, hypothesis in rows)
    return {
        "n": len(rows),
        "bleu": bleu(hypotheses, references),
        "chrf": chrf(hypotheses, references),
        "exact": round(n_exact / len(rows), 3),
        "by_length": by_length(pairs, hypotheses),
        "shown": [
            {"source": pair.source, "target": pair.target, "translation": hypothesis}
            for pair, hypothesis in rows[:N_SAMPLES]
        ],
    }


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Compute BLEU of a whole set of texts, 0 to 100, rounded to two decimals.

    >>> bleu(["der Akku ist fast leer"], ["der Akku ist fast leer"])
    100.0
    """
    return round(sacrebleu.corpus_bleu(list(hypotheses), [list(references)]).score, 2)


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Compute chrF of a whole set of texts, 0 to 100, rounded to two decimals.

    >>> chrf(["Batterie-Status"], ["Batteriestatus"]) > 50
    True
    """
    return round(sacrebleu.corpus_chrf(list(hypotheses), [list(references)]).score, 2)


def by_length(
    pairs: Sequence[Pair], hypotheses: Sequence[str]
) -> list[dict[str, float]]:
    """Compute BLEU and chrF by the number of words of the source.

    Returns, for each range that occurs, "from" and "to" (words), "n" (pairs), "bleu"
    and "chrf".
    """
    results = []
    for first, last in LENGTHS:
        chosen = [
            (hypothesis, pair.target)
            for pair, hypothesis in zip(pairs, hypotheses, strict=True)
            if first <= len(pair.source.split()) <= last
        ]
        if chosen:
            results.append({"from": first, "to": last} | _scores(chosen))
    return results


def _scores(chosen: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Compute n, BLEU and chrF of some translations and their references."""
    texts = [one for one, _ in chosen], [two for _, two in chosen]
    if not chosen:  # sacrebleu refuses none
        return {"n": 0, "bleu": 0.0, "chrf": 0.0}
    return {"n": len(chosen), "bleu": bleu(*texts), "chrf": chrf(*texts)}


def results_table(results: dict[str, Any]) -> Table:
    """Make a table of what ``evaluate`` returns.

    It has a row for all pairs, one for each range of lengths, and one for those of
    which training has no near copy.
    """
    table = Table("words", "pairs", "BLEU", "chrF", "exact")
    table.add_row(
        "all",
        str(results["n"]),
        f"{results['bleu']:.1f}",
        f"{results['chrf']:.1f}",
        f"{results['exact']:.1%}",
    )
    for row in results["by_length"]:
        words = f"{row['from']}–{row['to']}" if row["from"] < row["to"] else row["to"]
        measures = f"{row['bleu']:.1f}", f"{row['chrf']:.1f}"
        table.add_row(str(words), str(row["n"]), *measures, "")
    new = results["without near copies"]
    measures = f"{new['bleu']:.1f}", f"{new['chrf']:.1f}"
    table.add_row("no near copy", str(new["n"]), *measures, "")
    return table
