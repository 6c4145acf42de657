"""BLEU, the measure of translations, on lists of tokens (lesson 11).

``course_lib.nn.training.scoring`` measures texts with sacrebleu, which also splits them
into tokens.
"""

import numpy as np

from course_lib import arguments


def bleu(
    hypotheses: list[list[str]], references: list[list[str]], max_n: int = 4
) -> float:
    """Compute BLEU of translations, each with one reference.

    hypotheses : the translations, one list of tokens each, which may be empty
    references : for each of them what a person wrote, in the same order
    max_n : up to how many tokens an n-gram has, at least 1

    Returns a float from 0 to 100:
    - An n-gram is n neighbouring tokens of one sentence.
    - In each sentence an n-gram of the hypothesis matches as often as it occurs there,
      but at most as often as it occurs in the reference.
    - p_n is the number of matches divided by the number of n-grams in the hypotheses,
      both summed over all sentences first.
    - c is the number of tokens in all hypotheses, r that in all references. The brevity
      penalty is 1 where c is at least r, else exp(1 − r / c).
    - BLEU is 100 · brevity penalty · the geometric mean of p_1 … p_max_n.
    - If any of these has no match, or no n-gram at all, BLEU is 0: nothing is smoothed.

    The arguments are not modified.
    Source: Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine
    Translation, sections 2.1 to 2.3.

    >>> written = [["der", "Akku", "ist", "leer"]]
    >>> reference = [["der", "Akku", "ist", "fast", "leer"]]
    >>> round(bleu(written, reference, max_n=2), 2)  # p_1 = 4/4, p_2 = 2/3
    63.59
    >>> bleu(written, reference)  # no four in a row match
    0.0
    """
    arguments.sentences(hypotheses=hypotheses, references=references)
    max_n = arguments.whole("max_n ≥ 1", max_n)
    precisions = []
    for n in range(1, max_n + 1):
        n_matches = n_all = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            written, wanted = (
                [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
                for tokens in (hypothesis, reference)
            )
            n_all += len(written)
            for n_gram in set(written):
                n_matches += min(written.count(n_gram), wanted.count(n_gram))
        if n_matches == 0:
            return 0.0
        precisions.append(n_matches / n_all)
    c, r = (sum(map(len, sentences)) for sentences in (hypotheses, references))
    brevity_penalty = min(1.0, np.exp(1 - r / c))
    return float(100 * brevity_penalty * np.exp(np.mean(np.log(precisions))))
