import functools
import itertools
import math
from collections import Counter

import numpy as np
import sacrebleu

from tests.answers import Answers

answers = Answers("bleu")


def n_grams(tokens, n):
    return zip(*(itertools.islice(tokens, i, None) for i in range(n)), strict=False)


@answers.correct
def counters(hypotheses, references, max_n=4):
    matches, totals = np.zeros(max_n), np.zeros(max_n)
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for n in range(1, max_n + 1):
            written = Counter(n_grams(hypothesis, n))
            wanted = Counter(n_grams(reference, n))
            matches[n - 1] += sum((written & wanted).values())
            totals[n - 1] += sum(written.values())
    if not matches.all():
        return 0.0
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    log_mean = np.log(matches / totals).mean()
    return 100 * np.exp(log_mean + min(0.0, 1 - r / c))


@answers.correct
def struck_out_in_copies(hypotheses, references, max_n=4):
    result = 100.0
    for n in range(1, max_n + 1):
        good = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            left = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
            for i in range(len(hypothesis) - n + 1):
                n_gram = tuple(hypothesis[i : i + n])
                total += 1
                if n_gram in left:
                    left.remove(n_gram)
                    good += 1
        result *= (good / max(total, 1)) ** (1 / max_n)
    c, r = len([*itertools.chain(*hypotheses)]), len([*itertools.chain(*references)])
    if 0 < c < r:
        result *= math.exp(1 - r / c)
    return result


@answers.correct
def counted_with_separators(hypotheses, references, max_n=4):
    logs = 0.0
    for n in range(1, max_n + 1):
        good, total = 0, 0
        for pair in zip(hypotheses, references, strict=True):
            written, wanted = (
                ["\0".join(side[i : i + n]) for i in range(len(side) - n + 1)]
                for side in pair
            )
            total += len(written)
            for n_gram in dict.fromkeys(written):
                good += min(written.count(n_gram), wanted.count(n_gram))
        if not good:
            return 0
        logs += math.log(good) - math.log(total)
    c = sum(len(hypothesis) for hypothesis in hypotheses)
    r = sum(len(reference) for reference in references)
    return 100 * math.exp(logs / max_n) * (1 if c > r else math.exp(1 - r / c))


@answers.correct
def by_sacrebleu(hypotheses, references, max_n=4):
    measure = sacrebleu.BLEU(
        tokenize="none",
        smooth_method="none",
        force=True,
        max_ngram_order=max_n,
    )
    written, wanted = (
        [" ".join(tokens) for tokens in side] for side in (hypotheses, references)
    )
    return measure.corpus_score(written, [wanted]).score


class Called:
    def __call__(self, hypotheses, references, max_n=4):
        return counters(hypotheses, references, max_n)


answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda measure, *arguments: measure(*arguments), counters
)


@answers.also("mean_of_sentence_bleus")
def mean_over_sentences(hypotheses, references, max_n=4):
    pairs = zip(hypotheses, references, strict=True)
    return float(np.mean([counters([one], [two], max_n) for one, two in pairs]))


@answers.also("n_grams_across_sentences")
def one_list_of_tokens(hypotheses, references, max_n=4):
    one, two = ([*itertools.chain(*side)] for side in (hypotheses, references))
    return counters([one], [two], max_n)


@answers.also("roles_exchanged")
def references_first(hypotheses, references, max_n=4):
    return counters(references, hypotheses, max_n)


@answers.other
def half_of_it(hypotheses, references, max_n=4):
    return counters(hypotheses, references, max_n) / 2


@answers.other
def value_in_text(hypotheses, references, max_n=4):
    return f"{counters(hypotheses, references, max_n):.2f}"


@answers.other
def share_of_equal_sentences(hypotheses, references, max_n=4):
    pairs = zip(hypotheses, references, strict=True)
    return 100 * float(np.mean([one == two for one, two in pairs]))


@answers.other
def weights_that_favour_short_n_grams(hypotheses, references, max_n=4):
    each = [counters(hypotheses, references, n) for n in range(1, max_n + 1)]
    return sum(each) / max_n
