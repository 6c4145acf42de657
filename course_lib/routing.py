"""Which experts a token goes to, in a feed-forward network that consists of several."""

import numpy as np

from course_lib import arguments


def route(logits: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose k experts for each token, their weights, and count what each expert gets.

    logits : (n, n_experts), one token per row, a score for each expert; n is 1 or more
    k : how many experts a token goes to, at least 1 and at most n_experts

    Returns the weights (n, n_experts) and the load (n_experts,). In each row the k
    largest logits are chosen; their weights are the softmax over these k alone, and all
    other weights are 0. Of equal logits, those of the first experts are chosen. Logits
    may be as far from 0 as 10,000. The load of an expert is its share of all n · k
    choices: 1 / n_experts each, if all experts get equally many. logits is not
    modified.
    Source: Shazeer et al. (2017), Outrageously Large Neural Networks, section 2.1,
    there with noise; Fedus et al. (2021), Switch Transformers, section 2.2.

    >>> weights, load = route(np.log([[1.0, 5.0, 3.0], [9.0, 1.0, 1.0]]), 2)
    >>> weights.round(3), load
    (array([[0.   , 0.625, 0.375],
           [0.9  , 0.1  , 0.   ]]), array([0.25, 0.5 , 0.25]))
    """
    k = arguments.whole("k ≥ 1", k)
    logits = arguments.floats(route, logits)
    order = np.argsort(-logits, axis=-1, kind="stable")
    chosen = np.zeros(logits.shape, dtype=bool)
    np.put_along_axis(chosen, order[:, :k], True, axis=-1)
    scores = np.where(chosen, logits, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights, chosen.sum(axis=0) / chosen.sum()
