"""Fast n-grams: the same numbers as those of the reference, token by token."""

import numpy as np
import pytest

from course_lib.fast_n_grams import n_gram_losses
from course_lib.n_grams import n_gram_counts, n_gram_log_probability


@pytest.mark.parametrize(("n_training", "n_text"), [(60, 25), (2, 9), (1, 1), (0, 4)])
def test_losses_match_the_reference(n_training, n_text):
    rng = np.random.default_rng(n_training)
    training, text = rng.integers(5, size=n_training), rng.integers(7, size=n_text)
    losses = n_gram_losses(training, text, 4, 7)
    for n in range(1, 5):
        counts = n_gram_counts(training.tolist(), n)
        for end, token_id in enumerate(text.tolist()):
            context = text[max(0, end - n + 1) : end].tolist()
            expected = -n_gram_log_probability(token_id, context, counts, 7)
            assert losses[n - 1, end] == pytest.approx(expected, abs=1e-12)


def test_no_text_has_no_losses():
    assert n_gram_losses([1, 2], [], 3, 5).shape == (3, 0)


def test_token_ids_beyond_the_vocabulary_are_refused():
    with pytest.raises(ValueError, match="from 0 to 4"):
        n_gram_losses([1, 5], [1], 2, 5)
    with pytest.raises(ValueError, match="n must be"):
        n_gram_losses([1], [1], 0, 5)
