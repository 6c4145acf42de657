"""The field's forms of the exercises of lesson 11."""

import math
from collections import Counter

import numpy as np
import torch
from torch.nn import functional

from tests.textbook import Forms

FORMS = Forms()


@FORMS(
    "greedy_decode",
    "Annotated Transformer, with an end",
    expected="refused: end_kept & start_kept",
    before="refused: end_kept & start_kept (0 of 14)",
)
def tokens_appended_to_the_start(next_logits, start_id, end_id, max_length):
    ys = [start_id]
    for _ in range(max_length):
        word = int(np.argmax(next_logits(ys)))
        ys.append(word)
        if word == end_id:
            break
    return ys


@FORMS(
    "greedy_decode",
    "Annotated Transformer, as printed",
    expected="refused: as_long_as_max_length",
    before="refused, no name (0 of 14)",
)
def as_many_tokens_as_max_length(next_logits, start_id, end_id, max_length):
    ys = [start_id]
    for _ in range(max_length - 1):
        ys.append(int(np.argmax(next_logits(ys))))
    return ys


@FORMS("greedy_decode", "d2l 10.7", before="full")
def predict_sequence(next_logits, start_id, end_id, max_length):
    outputs = []
    for _ in range(max_length):
        prediction = int(next_logits([start_id, *outputs]).argmax())
        if prediction == end_id:
            break
        outputs.append(prediction)
    return outputs


@FORMS(
    "greedy_decode",
    "seq2seq tutorials",
    expected="fine point open",
    before="refused: start_removed_by_value (7 of 14)",
)
def control_tokens_filtered(next_logits, start_id, end_id, max_length):
    ids = [start_id]
    for _ in range(max_length):
        ids.append(int(np.argmax(next_logits(ids))))
        if ids[-1] == end_id:
            break
    return [i for i in ids if i not in (start_id, end_id)]


def searched(f, start_id, end_id, beam_size, max_length, score):
    """Search as many programs do; score : of a total and a length with the end."""
    beams, done = [([start_id], 0.0)], []
    for _ in range(max_length):
        candidates = []
        for ids, total in beams:
            log_p = f(ids)
            for token in np.argsort(log_p)[::-1]:
                candidates.append(([*ids, int(token)], total + float(log_p[token])))
        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
        beams, room = [], beam_size - len(done)
        for ids, total in candidates[:room]:
            (done if ids[-1] == end_id else beams).append((ids, total))
        if not beams:
            break
    best, _ = max(done + beams, key=lambda each: score(each[1], len(each[0]) - 1))
    return best[1:-1] if best[-1] == end_id and len(best) > 1 else best[1:]


@FORMS("beam_search", "Wu et al. and OpenNMT", before="full")
def length_penalty_of_wu(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    return searched(
        next_log_probabilities,
        *(start_id, end_id, beam_size, max_length),
        lambda total, n: total / ((5 + n) ** alpha / (5 + 1) ** alpha),
    )


@FORMS(
    "beam_search",
    "Hugging Face and d2l 10.8",
    expected="refused: divided_by_a_power_of_the_length",
    before="refused: divided_by_a_power_of_the_length (17.75 of 33)",
)
def power_of_the_length(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    return searched(
        next_log_probabilities,
        *(start_id, end_id, beam_size, max_length),
        lambda total, n: total / n**alpha,
    )


@FORMS(
    "beam_search",
    "repositories",
    expected="refused: power_of_the_length_alone",
    before="refused, no name (30.25 of 33)",
)
def brackets_lost(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    return searched(
        next_log_probabilities,
        *(start_id, end_id, beam_size, max_length),
        lambda total, n: total / ((5 + n**alpha) / 6**alpha),
    )


def n_grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped(hypothesis, reference, n):
    written = n_grams(hypothesis, n)
    return (written & n_grams(reference, n)).total(), written.total()


@FORMS("bleu", "NLTK corpus_bleu", before="full")
def corpus_with_sums_first(hypotheses, references, max_n=4):
    matches, totals = Counter(), Counter()
    pairs = list(zip(hypotheses, references, strict=True))
    for hypothesis, reference in pairs:
        for n in range(1, max_n + 1):
            hits, total = clipped(hypothesis, reference, n)
            matches[n] += hits
            totals[n] += max(1, total)
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    if not all(matches[n] for n in range(1, max_n + 1)):
        return 0.0
    totals = {n: sum(clipped(*pair, n)[1] for pair in pairs) for n in totals}
    mean = sum(math.log(matches[n] / totals[n]) for n in totals) / max_n
    return 100 * (1.0 if c > r else math.exp(1 - r / c)) * math.exp(mean)


def sentence_bleu(hypothesis, reference, max_n, smoothed):
    c, r = len(hypothesis), len(reference)
    if c == 0:
        return 0.0
    logs = 0.0
    for n in range(1, max_n + 1):
        hits, total = smoothed(n, *clipped(hypothesis, reference, n))
        if hits == 0:
            return 0.0
        logs += math.log(hits / total) / max_n
    return 100 * min(1.0, math.exp(1 - r / c)) * math.exp(logs)


def mean_over_sentences(hypotheses, references, max_n, smoothed):
    scores = [
        sentence_bleu(*pair, max_n, smoothed)
        for pair in zip(hypotheses, references, strict=True)
    ]
    return sum(scores) / len(scores)


@FORMS(
    "bleu",
    "NLTK sentence_bleu",
    expected="refused: mean_of_sentence_bleus",
    before="refused: mean_of_sentence_bleus (8.75 of 28)",
)
def mean_of_sentences(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses, references, max_n, lambda n, hits, total: (hits, max(1, total))
    )


@FORMS(
    "bleu",
    "NLTK method1",
    expected="refused: mean_of_sentence_bleus & a_tenth_of_a_match_in_place_of_none",
    before="refused, no name (7 of 28)",
)
def mean_of_sentences_with_a_tenth(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses,
        references,
        max_n,
        lambda n, hits, total: (hits or 0.1, max(1, total)),
    )


@FORMS(
    "bleu",
    "Lin and Och",
    expected="refused: mean_of_sentence_bleus & one_added_to_the_counts",
    before="refused: mean_of_sentence_bleus & one_added_to_the_counts (0 of 28)",
)
def mean_of_sentences_with_one_added(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses,
        references,
        max_n,
        lambda n, hits, total: (hits + 1, total + 1) if n > 1 else (hits, total),
    )


@FORMS(
    "bleu",
    "repositories",
    expected="refused: mean_of_sentence_bleus & one_added_everywhere",
    before="refused, no name (0 of 28)",
)
def mean_of_sentences_smoothed_by_laplace(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses, references, max_n, lambda n, hits, total: (hits + 1, total + 1)
    )


@FORMS(
    "bleu",
    "repositories",
    expected="refused: one_added_everywhere",
    before="refused, no name (0 of 28)",
)
def corpus_smoothed_by_laplace(hypotheses, references, max_n=4):
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    product = 1.0
    for n in range(1, max_n + 1):
        counts = [
            clipped(*pair, n) for pair in zip(hypotheses, references, strict=True)
        ]
        hits, total = map(sum, zip(*counts, strict=True))
        product *= (hits + 1) / (total + 1)
    return 100 * min(1.0, math.exp(1 - r / c)) * product ** (1 / max_n) if c else 0.0


@FORMS(
    "bleu",
    "d2l 10.7",
    expected="refused: mean_of_sentence_bleus & weights_that_halve",
    before="refused, no name (0 of 28)",
)
def mean_with_weights_that_halve(hypotheses, references, max_n=4):
    total = 0.0
    for written, label in zip(hypotheses, references, strict=True):
        if not written:
            continue
        score = math.exp(min(0, 1 - len(label) / len(written)))
        for n in range(1, min(max_n, len(written)) + 1):
            hits, count = clipped(written, label, n)
            score *= (hits / count) ** (0.5**n)
        total += 100 * score
    return total / len(hypotheses)


@FORMS("cached_step", "nanoGPT and gpt-fast", before="full")
def rows_appended(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = math.sqrt(embedding.size(1)) * embedding[token_id] + encoding[keys.size(0)]
    keys = torch.cat((keys, (x @ w_k)[None]), dim=0)
    values = torch.cat((values, (x @ w_v)[None]), dim=0)
    weights = functional.softmax(keys @ (x @ w_q) / math.sqrt(keys.size(1)), dim=0)
    return weights @ values, keys, values
