"""N-gram models: probabilities that sum to 1, and numbers by hand."""

import math

import pytest

from course_lib.n_grams import n_gram_counts, n_gram_log_probability

TEXT = [3, 1, 4, 1, 5, 1, 4, 1, 4]


@pytest.mark.parametrize("context", [[], [1], [4, 1], [1, 4], [9, 9], [0, 4, 1]])
def test_probabilities_sum_to_one(context):
    counts = n_gram_counts(TEXT, 3)
    probabilities = [
        math.exp(n_gram_log_probability(each, context, counts, 10))
        for each in range(10)
    ]
    assert sum(probabilities) == pytest.approx(1)
    assert min(probabilities) > 0


def test_counts_are_those_of_all_contexts_up_to_n_minus_one():
    counts = n_gram_counts(TEXT, 3)
    assert counts[()] == {3: 1, 1: 4, 4: 3, 5: 1}
    assert counts[(1,)] == {4: 3, 5: 1}
    assert counts[(4, 1)] == {5: 1, 4: 1}
    assert max(map(len, counts)) == 2


def test_a_probability_is_mixed_with_that_of_the_shorter_context():
    counts = n_gram_counts(TEXT, 2)
    unigram = (3 + 4 * 0.1) / (9 + 4)  # of token 4
    bigram = (3 + 2 * unigram) / (4 + 2)
    result = n_gram_log_probability(4, [1], counts, 10)
    assert result == pytest.approx(math.log(bigram))
    unseen = n_gram_log_probability(4, [7], counts, 10)
    assert unseen == pytest.approx(math.log(unigram))


def test_a_token_outside_of_the_vocabulary_is_refused():
    with pytest.raises(ValueError, match="token_id must be from 0 to 9, got 10"):
        n_gram_log_probability(10, [], {}, 10)
