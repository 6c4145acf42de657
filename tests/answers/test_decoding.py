import numpy as np

from tests.answers import Answers

answers = Answers("test_decoding")


def walked(logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for t in range(max_length):
        row = [float(logit) for logit in logits[t, token_ids[-1]]]
        token_ids.append(row.index(max(row)))
        if token_ids[-1] == end_id:
            return token_ids[1:-1]
    return token_ids[1:]


@answers.correct
def against_my_own(greedy_decode):
    rng = np.random.default_rng(8)
    for number in range(100):
        size, steps = rng.integers(2, 6), int(rng.integers(0, 9))
        logits = rng.integers(-9, (0, 9)[number % 2], size=(steps, size, size)) / 2
        start_id, end_id = (int(token_id) for token_id in rng.integers(size, size=2))
        if number % 5 == 0:
            end_id = start_id
        expected = walked(logits, start_id, end_id, steps)
        result = greedy_decode(logits, start_id, end_id, steps)
        assert isinstance(result, list) and result == expected


def chain(*token_ids, size=5):
    """Make logits below 0 with which these tokens come, whatever came before."""
    logits = np.full((len(token_ids), size, size), -7.0)
    for t, token_id in enumerate(token_ids):
        logits[t, :, token_id] = -2.0
    return logits


@answers.correct
def by_hand(greedy_decode):
    assert greedy_decode(chain(1, 2, 4, 3), 0, 4, 4) == [1, 2]
    assert greedy_decode(chain(1, 2, 3), 0, 4, 3) == [1, 2, 3]
    assert greedy_decode(chain(4, 1, 1), 0, 4, 3) == []
    assert greedy_decode(chain(1, 0, 2, 4), 0, 4, 4) == [1, 0, 2]
    assert greedy_decode(chain(1, 2, 0, 3), 0, 0, 4) == [1, 2]
    assert greedy_decode(np.zeros((2, 5, 5)), 1, 4, 2) == [0, 0]


@answers.correct
def returns_how_many_examples_there_are(greedy_decode):
    by_hand(greedy_decode)
    return 6


@answers.also("lets_everything_pass")
def asserts_what_is_never_false(greedy_decode):
    assert greedy_decode(chain(1, 2, 4, 3), 0, 4, 4) is not None


@answers.other
def ends_somewhere(greedy_decode):
    assert 4 not in greedy_decode(chain(1, 2, 4, 3), 0, 4, 4)


@answers.other
def no_longer_than_it_may_be(greedy_decode):
    assert len(greedy_decode(chain(1, 2, 3), 0, 4, 3)) <= 3


@answers.other
def token_by_token(greedy_decode):
    result = greedy_decode(chain(1, 2, 3, 4), 0, 4, 4)
    assert result[0] == 1 and result[1] == 2 and result[2] == 3
