"""Which keys a query may attend to: masks, a softmax that obeys them, a test for leaks.

A mask is boolean and called ``may_attend``: True = may attend.
"""

from collections.abc import Callable

import numpy as np

from course_lib import arguments


def causal_mask(n: int, m: int | None = None, offset: int = 0) -> np.ndarray:
    """Let each query attend to its own position and to all positions before it.

    n : number of queries, 0 or more; query i is at position i + offset
    m : number of keys, 0 or more; key j is at position j. By default n + offset, the
        number of keys that the last query may attend to
    offset : number of positions before the first query

    Returns may_attend (n, m), booleans: row i is True for keys 0 … i + offset.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3.

    >>> causal_mask(3)
    array([[ True, False, False],
           [ True,  True, False],
           [ True,  True,  True]])
    >>> causal_mask(2, 3)
    array([[ True, False, False],
           [ True,  True, False]])
    >>> causal_mask(1, offset=2)
    array([[ True,  True,  True]])
    """
    n, m, offset = arguments.whole("n ≥ 0, m ≥ 0 or None, offset", n, m, offset)
    if m is None:
        arguments.whole("n + offset ≥ 0", n + offset)
        m = n + offset
    return np.arange(m) <= np.arange(n)[:, np.newaxis] + offset  # (n, m)


def sliding_window_mask(n: int, width: int) -> np.ndarray:
    """Let each query attend to its own position and to the few just before it.

    n : number of queries, and of keys; query i and key i are at position i
    width : the most keys that a query attends to, its own included, 1 or more

    Returns may_attend (n, n), booleans: row i is True for keys i − width + 1 … i, as
    far as there are any. A window at least as wide as the sequence blocks no key that
    comes before its query.
    Source: Jiang et al. (2023), Mistral 7B, section 2; with keys on both sides Beltagy
    et al. (2020), Longformer: The Long-Document Transformer, section 3.1.

    >>> sliding_window_mask(4, 2)
    array([[ True, False, False, False],
           [ True,  True, False, False],
           [False,  True,  True, False],
           [False, False,  True,  True]])
    """
    n, width = arguments.whole("n ≥ 0, width ≥ 1", n, width)
    distances = np.arange(n)[:, np.newaxis] - np.arange(n)  # (n, n), back to each key
    return (distances >= 0) & (distances < width)  # (n, n)


def padding_mask(lengths: np.ndarray | list[int], m: int) -> np.ndarray:
    """Let all queries attend to a sequence's tokens, and not to its padding.

    lengths : (...), integers, the number of tokens of each sequence, 0 … m; the padding
        comes after them. For a single sequence it may be an array without axes
    m : number of keys of each sequence, tokens and padding

    Returns may_attend (..., 1, m), booleans: the one row holds for every query, and
    is True for the keys that are tokens.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3, where
    blocked scores are −∞; the paper does not discuss padding.

    >>> padding_mask([2, 0], 3).tolist()
    [[[True, True, False]], [[False, False, False]]]
    """
    m = arguments.whole("m ≥ 0", m)
    lengths = arguments.numbers(padding_mask, lengths, between=(0, m))
    ends = np.asarray(lengths)[..., np.newaxis, np.newaxis]  # (..., 1, 1)
    return np.arange(m) < ends  # (..., 1, m)


def combine_masks(*masks: np.ndarray) -> np.ndarray:
    """Let a query attend only where every one of the masks lets it attend.

    masks : one or more may_attend (..., n, m); an axis of length 1, or a missing
        leading axis, counts for all

    Returns may_attend (..., n, m), booleans, the shape to which the masks broadcast.
    They are not modified.
    Source: this course; section 3.2.3 of Vaswani et al. (2017), Attention Is All You
    Need, has the causal mask alone.

    >>> causal = np.array([[True, False], [True, True]])
    >>> combine_masks(causal, np.array([[False, True]]))
    array([[False, False],
           [False,  True]])
    """
    may_attend = np.array(True)
    for mask in arguments.masks("masks", masks):
        may_attend = may_attend & mask
    return may_attend  # (..., n, m)


def masked_softmax(scores: np.ndarray, may_attend: np.ndarray) -> np.ndarray:
    """Turn scores into weights that are 0 wherever a query may not attend.

    scores : (..., n, m), finite numbers of any size
    may_attend : (..., n, m), booleans; an axis of length 1, or a missing leading axis,
        counts for all

    Returns the weights (..., n, m): row i holds the softmax over the keys that query i
    may attend to, and 0 for the others. A row that may attend to no key is all zeros.
    Integers are allowed, the result holds floats, and the arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3; zeros in a
    row without keys are this course's choice, and PyTorch's in
    ``scaled_dot_product_attention``.

    >>> masked_softmax(np.array([[5.0, 9.0, 5.0]]), np.array([[True, False, True]]))
    array([[0.5, 0. , 0.5]])
    >>> masked_softmax(np.array([[5.0, 9.0]]), np.array([[False, False]]))
    array([[0., 0.]])
    """
    scores, may_attend = arguments.floats(masked_softmax, scores, may_attend)
    allowed = np.where(may_attend, scores, -np.inf)
    nothing = ~may_attend.any(axis=-1, keepdims=True)  # such rows would be −∞ − (−∞)
    largest = np.where(nothing, 0.0, allowed.max(axis=-1, keepdims=True))
    powers = np.exp(allowed - largest)
    totals = np.where(nothing, 1.0, powers.sum(axis=-1, keepdims=True))
    return np.where(may_attend, powers / totals, 0.0)  # (..., n, m)


def convert_mask(may_attend: np.ndarray, to: str) -> np.ndarray:
    """Convert a mask to another convention.

    may_attend : (..., n, m), booleans, True = may attend
    to : the convention:
        - "scaled_dot_product_attention" for PyTorch's function of this name: True
          means "may attend"
        - "MultiheadAttention" for PyTorch's module: True means blocked
        - "additive" for numbers to add to the scores: 0 where a query may attend, −∞
          where it may not

    Returns an array of the same shape: booleans, or floats (float64, NumPy's usual
    kind) for "additive". may_attend is not modified. Any other convention raises an
    error, of any kind. To convert an additive mask back, use ``mask == 0``.
    Source: PyTorch's documentation of both; Vaswani et al. (2017), section 3.2.3.

    >>> may_attend = np.array([[True, False]])
    >>> convert_mask(may_attend, "MultiheadAttention")
    array([[False,  True]])
    >>> convert_mask(may_attend, "additive")
    array([[  0., -inf]])
    """
    may_attend = arguments.arrays(convert_mask, may_attend)
    if to == "scaled_dot_product_attention":
        return may_attend.copy()  # of the same kind as ours
    if to == "MultiheadAttention":
        return ~may_attend
    if to == "additive":
        return np.where(may_attend, 0.0, -np.inf)
    raise ValueError(
        f"to={to!r} is none of scaled_dot_product_attention, MultiheadAttention, "
        "additive"
    )


def leak(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, t: int) -> float:
    """Measure how much the past of a function's result depends on the future.

    f : takes an array like x, does not modify it, and returns an array (n, ...) with
        as many rows
    x : (n, d), one token per row
    t : the present; rows t + 1, … of x are the future, rows 0 … t of a result the past

    Returns a float: the largest absolute change of the past of f(x) when every number z
    of the future of x becomes 1 − 2z. It is 0 if nothing leaks. x is not modified.
    Source: this course; the property is the one that section 3.1 of Vaswani et al.
    (2017), Attention Is All You Need, asks of a decoder.

    >>> x = np.array([[1.0], [2.0], [3.0]])
    >>> leak(lambda x: x.cumsum(axis=0), x, 0)
    0.0
    >>> leak(lambda x: x + x.sum(), x, 0)
    13.0
    """
    x, t = arguments.numbers(leak, x), arguments.whole("t ≥ 0", t)
    if t >= len(x):
        raise ValueError(f"t={t} is beyond the last row of x, {len(x) - 1}")
    # In the dtype of x: rounding it otherwise would be taken for a leak.
    changed = np.concatenate([x[: t + 1], 1 - 2 * x[t + 1 :]])  # (n, d)
    past = f(changed)[: t + 1] - f(x)[: t + 1]
    return float(np.abs(past).max())
