"""Answers of the sample class that no misconception stands for, as they were typed."""

# Right, and Python warns at every call; the first try also overflows.
SOFTMAX_WITH_WARNINGS = """\
import warnings


def softmax(x, axis=-1):
    warnings.warn("still trying things out")
    first_try = np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)
    safe = np.exp(x - x.max(axis=axis, keepdims=True))
    safe = safe / safe.sum(axis=axis, keepdims=True)
    return np.where(np.isfinite(first_try), first_try, safe)
"""

# Right, with a helper function that stands in a cell of the learner's own.
HELPER = '''\
def all_dot_products(rows, other_rows):
    """My own helper: every row with every other row."""
    return np.einsum("...ic,...jc->...ij", rows, other_rows)
'''
SCORES_WITH_HELPER = """\
def scaled_scores(q, k):
    return all_dot_products(q, k) / q.shape[-1] ** 0.5
"""
ATTENTION_WITH_HELPER = """\
def attention(q, k, v):
    weights = softmax(all_dot_products(q, k) / q.shape[-1] ** 0.5)
    return np.einsum("...ij,...jc->...ic", weights, v), weights
"""

# Stops on every input, and does not even parse.
BILINEAR_THAT_STOPS = """\
def bilinear_scores(q, k, w):
    if q.shape != k.shape:
        raise ValueError("q and k should have the same shape")
    return q.reshape(w.shape) @ w @ k
"""
ADDITIVE_THAT_DOES_NOT_PARSE = """\
def additive_scores(q, k, w_q, w_k, v)
    return np.tanh(q @ w_q + k @ w_k) @ v
"""

COURSE_VERSION = "from course_lib.attention import attention"
