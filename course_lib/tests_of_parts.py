"""Tests of the Transformer's parts: each gets a function and says whether it is right.

A test returns nothing if the function keeps its contract, and raises ``AssertionError``
if not. What is right is computed here once more, in the plainest way, and compared on
inputs that tell errors apart: all sizes differ, numbers are drawn, and the edges that
the contract allows are among them. pytest collects none of these functions. A test of
a layer is in ``course_lib.nn.tests_of_layers``.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


def test_attention(attention: Function) -> None:
    """Test a function that should do what ``course_lib.attention.attention`` does.

    attention : called as attention(q, k, v), with arrays of at most 4,000 numbers in
        all. The test sees what it returns, and nothing else of it. It makes at most
        4,000 calls, whose results hold at most 400,000 numbers in all

    Returns nothing if the function keeps the contract of `attention`, and raises
    AssertionError if it does not. Right ones differ by rounding only, in float64 less
    than 1e-9; the errors of broken ones are far larger, on some inputs that the
    contract allows.
    Source: Myers (1979), The Art of Software Testing, chapter 4.

    >>> from course_lib.attention import attention
    >>> test_attention(attention)
    >>> test_attention(lambda q, k, v: attention(2 * q, k, v))
    Traceback (most recent call last):
    AssertionError: the weights of 5 queries and 7 keys are wrong
    """
    rng = np.random.default_rng(15)

    def is_close(result: Any, expected: np.ndarray) -> bool:
        same_shape = np.shape(result) == expected.shape
        return same_shape and np.allclose(result, expected, rtol=1e-9, atol=1e-9)

    # Sizes that all differ, a batch, one query, scores of thousands, whole numbers.
    for leading, n, size in [((), 5, 1), ((2, 3), 5, 1), ((), 1, 1), ((), 5, 1000)]:
        q = size * rng.normal(size=(*leading, n, 4))
        k = rng.normal(size=(*leading, 7, 4))
        v = rng.integers(-9, 10, size=(*leading, 7, 6))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(4)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = powers / powers.sum(axis=-1, keepdims=True)
        output, weights = attention(q, k, v)
        message = f"of {n} queries and 7 keys are wrong"
        assert is_close(weights, expected), f"the weights {message}"
        assert is_close(output, expected @ v), f"the mixed values {message}"


def test_mask(masked_softmax: Function) -> None:
    """Test a function that should do what ``course_lib.masks.masked_softmax`` does.

    masked_softmax : called as masked_softmax(scores, may_attend), with arrays of at
        most 4,000 numbers in all. The test sees what it returns, and nothing else of
        it. It makes at most 4,000 calls, whose results hold at most 400,000 numbers in
        all

    Returns nothing if the function keeps the contract of `masked_softmax`, and raises
    AssertionError if it does not. Right ones differ by rounding only, in float64 less
    than 1e-9; the errors of broken ones are far larger, on some inputs that the
    contract allows.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3.

    >>> from course_lib.masks import masked_softmax
    >>> test_mask(masked_softmax)
    >>> test_mask(lambda scores, may_attend: masked_softmax(scores, ~may_attend))
    Traceback (most recent call last):
    AssertionError: row (0, 0, 0) should attend to keys [0, 1, 2, 3, 4, 5, 6]
    """
    rng = np.random.default_rng(16)
    for shape, size in [((2, 3, 5, 7), 1), ((2, 3, 1, 7), 1), ((3, 5, 7), 50_000)]:
        scores = size * rng.normal(size=shape)
        may_attend = rng.random(size=shape) < 0.5
        may_attend[0, ..., -1, :] = False  # such a row gets zeros
        weights = masked_softmax(scores, may_attend)
        assert np.shape(weights) == shape, f"the weights have shape {np.shape(weights)}"
        for row in np.ndindex(*shape[:-1]):
            keys = np.flatnonzero(may_attend[row])
            expected = np.zeros(shape[-1])
            if len(keys):
                powers = np.exp(scores[row][keys] - scores[row][keys].max())
                expected[keys] = powers / powers.sum()
            is_close = np.allclose(weights[row], expected, rtol=1e-9, atol=1e-9)
            assert is_close, f"row {row} should attend to keys {keys.tolist()}"


def test_positions(sinusoidal_encoding: Function) -> None:
    """Test a function that should do what ``sinusoidal_encoding`` of lesson 05 does.

    sinusoidal_encoding : called as sinusoidal_encoding(n, d_model) or with base as a
        third argument. The test sees what it returns, and nothing else of it. It makes
        at most 4,000 calls, whose results hold at most 400,000 numbers in all

    Returns nothing if the function keeps the contract of `sinusoidal_encoding`, and
    raises AssertionError if it does not. Right ones differ by rounding only, less than
    1e-9 up to position 100; the errors of broken ones are larger.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5.

    >>> from course_lib.positions import sinusoidal_encoding
    >>> test_positions(sinusoidal_encoding)
    >>> test_positions(lambda n, d_model, base=1e4: sinusoidal_encoding(n, d_model))
    Traceback (most recent call last):
    AssertionError: for n = 6, d_model = 8, base = 50.0 position 1 is wrong
    """
    for n, d_model, base in [(100, 10, 1e4), (6, 8, 50.0), (4, 7, 1e4), (1, 6, 1e4)]:
        encoding = sinusoidal_encoding(n, d_model, base)
        case = f"n = {n}, d_model = {d_model}, base = {base}"
        assert np.shape(encoding) == (n, d_model), f"for {case} the shape is wrong"
        for t in range(n):
            expected = []
            for column in range(d_model):
                angle = t * base ** (-(column - column % 2) / d_model)
                expected.append(math.cos(angle) if column % 2 else math.sin(angle))
            is_close = np.allclose(encoding[t], expected, rtol=1e-9, atol=1e-9)
            assert is_close, f"for {case} position {t} is wrong"


def test_bpe(train_bpe: Function) -> None:
    """Test a function that should do what ``course_lib.bpe.train_bpe`` does.

    train_bpe : called as train_bpe(words, n_merges), where words has tuples of symbols
        and how often each occurs, such as {("a", "t"): 3}, at most 4,000. The test
        sees what it returns, and nothing else of it. It makes at most 4,000 calls,
        whose results hold at most 400,000 numbers in all

    Returns nothing if the function keeps the contract of `train_bpe`, and raises
    AssertionError if it does not.
    Source: Sennrich et al. (2016), Neural Machine Translation of Rare Words with
    Subword Units, algorithm 1.

    >>> from course_lib.bpe import train_bpe
    >>> test_bpe(train_bpe)
    >>> test_bpe(lambda words, n_merges: train_bpe(words, n_merges)[::-1])
    Traceback (most recent call last):
    AssertionError: merge 0 is wrong
    """
    rng = np.random.default_rng(18)
    # Three letters make many ties, and runs such as aaa; few words end early.
    for n_words, n_merges in [(12, 9)] * 8 + [(3, 50)] * 6 + [(5, 0), (0, 3)]:
        words: Counter[tuple[str, ...]] = Counter()
        for _ in range(n_words):
            word = tuple("abc"[i] for i in rng.integers(3, size=rng.integers(1, 9)))
            words[word] += int(rng.integers(1, 5))
        merges = train_bpe(dict(words), n_merges)
        assert type(merges) is list, f"no list, but {merges}"
        for step in range(n_merges + 1):
            counts: Counter[tuple[str, str]] = Counter()
            for word, count in words.items():
                for pair in itertools.pairwise(word):
                    counts[pair] += count
            best = max(counts, key=lambda pair: (counts[pair], pair), default=("", ""))
            if step == n_merges or counts[best] < 2:
                assert len(merges) == step, f"{len(merges)} merges in place of {step}"
                break
            assert merges[step : step + 1] == [best], f"merge {step} is wrong"
            before, words = words, Counter()
            for word, count in before.items():
                joined: list[str] = []  # from the left: aaa becomes aa a
                old = ""  # the last symbol, if it can still be joined
                for symbol in word:
                    if (old, symbol) == best:
                        joined[-1] += symbol
                    else:
                        joined.append(symbol)
                    old = "" if (old, symbol) == best else symbol
                words[tuple(joined)] += count


def test_decoding(greedy_decode: Function) -> None:
    """Test a function that should do what ``greedy_decode`` of lesson 11 does.

    greedy_decode : called as greedy_decode(logits, start_id, end_id, max_length), with
        an array in place of the function: logits (max_length, vocab_size, vocab_size),
        of which row [t, i] holds the logits of what comes after t chosen tokens (none
        at t = 0) and the newest token i; there may be more rows than max_length; at
        most 4,000 numbers in all. The test sees what it returns, and nothing else of
        it. It makes at most 4,000 calls, whose results hold at most 400,000 numbers in
        all

    Returns nothing if the function keeps the contract of `greedy_decode`, and raises
    AssertionError if it does not.
    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2, with a beam of one.

    >>> def decode(logits, start_id, end_id, max_length):
    ...     chosen = [start_id]
    ...     while len(chosen) <= max_length and end_id not in chosen[1:]:
    ...         chosen.append(int(logits[len(chosen) - 1, chosen[-1]].argmax()))
    ...     return chosen[1:]
    >>> test_decoding(lambda *given: [i for i in decode(*given) if i != given[2]])
    >>> test_decoding(decode)
    Traceback (most recent call last):
    AssertionError: start 3, end 0: [3, 0] should be [3]
    """
    rng = np.random.default_rng(19)
    for number in range(60):
        max_length, start_id = int(rng.integers(0, 8)), int(rng.integers(5))
        end_id = start_id if number % 7 == 0 else int(rng.integers(5))
        # Whole numbers make ties; in every other example all are below 0.
        highest = 0 if number % 2 else 10
        logits = 1.0 * rng.integers(-9, highest, size=(max_length, 5, 5))
        expected, newest = list[int](), start_id
        for t in range(max_length):
            newest = int(logits[t, newest].argmax())  # the first of equals
            if newest == end_id:
                break
            expected.append(newest)
        result = greedy_decode(logits, start_id, end_id, max_length)
        message = f"start {start_id}, end {end_id}: {result} should be {expected}"
        assert list(result) == expected, message
