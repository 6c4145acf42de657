"""What layers cost: operations, the way between positions, steps that wait, a cache.

Formulas as in table 1 of "Attention Is All You Need", with Python's whole numbers, for
which no product is too large. ``course_lib.lessons.cost`` counts what PyTorch does.
"""

from course_lib import arguments

KINDS = ("attention", "window", "recurrence", "convolution")


def flops(kind: str, n: int, d: int, k: int = 0) -> int:
    """Count the operations in the matrix products of one layer over a sequence.

    kind : "attention", "window", "recurrence" or "convolution"
    n : number of positions
    d : length of each position's vector, before the layer and after it
    k : number of positions that one attends to in a window, or that the kernel of a
        convolution reads at once; the two other kinds ignore it

    Returns an integer. Multiplications and additions
    count one each, so that multiplying an (a, b) by a (b, c) matrix takes
    2 · a · b · c. These are counted:
    - attention: the scores q kᵀ and the output, weights v, where each of n positions
      attends to all n
    - window: the same two products, where each position attends to k, or to all n if k
      is greater
    - recurrence: at each position x w_x and h w_h, both matrices (d, d)
    - convolution: at each position k vectors, each times a (d, d) matrix of its own

    All positions cost the same: those near the ends get zeros to compute with, and
    masks save nothing. Left out are projections, biases, scaling, softmax, activations
    and sums of two products.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 4, table 1, which
    gives how they grow, without factors.

    >>> flops("attention", 3, 2), flops("recurrence", 3, 2)
    (72, 48)
    """
    arguments.one_of("kind", kind, *KINDS)
    needs_k = kind in ("window", "convolution")
    arguments.sizes("n, d and k", n, d, *[k] * needs_k)
    if kind == "attention":
        return 4 * n**2 * d
    if kind == "window":
        return 4 * n * min(n, k) * d
    if kind == "recurrence":
        return 4 * n * d**2
    return 2 * k * n * d**2


def path_length(kind: str, n: int, k: int = 0) -> int:
    """Count the steps on the way from the first position to the last.

    kind : "attention", "window", "recurrence" or "convolution"
    n : number of positions
    k : number of positions that one attends to in a window, or that the kernel of a
        convolution reads at once, at least 2; the two other kinds ignore it

    Returns the smallest number of steps after which the last position depends on the
    first, an integer; 0 if n = 1, where they are the same. A step is:
    - attention: a layer, in which each position reads all positions
    - window, convolution: a layer, in which each position reads itself and the k − 1
      positions just before it, without gaps
    - recurrence: from one position's hidden state to the next one's

    Source: Vaswani et al. (2017), Attention Is All You Need, section 4, table 1
    (maximum path length), which says how they grow, for a convolution with gaps.

    >>> path_length("recurrence", 9), path_length("convolution", 9, 3)
    (8, 4)
    """
    arguments.one_of("kind", kind, *KINDS)
    arguments.sizes("n", n)
    if kind == "attention":
        return min(n - 1, 1)
    if kind == "recurrence":
        return n - 1
    arguments.sizes("k", k, least=2)
    return (n - 1 + k - 2) // (k - 1)  # (n − 1) / (k − 1), rounded up


def sequential_steps(kind: str, n: int, k: int = 0) -> int:
    """Count the steps of one layer that have to wait for each other.

    kind : "attention", "window", "recurrence" or "convolution"
    n : number of positions
    k : as in ``flops``; ignored, since no kind needs it here

    Returns an integer. What a position computes in one go is one step, however many
    operations it has, and positions that do not need each other's results take that
    step at the same time. The input of all n positions is there from the beginning, as
    in training. A recurrence begins with a hidden state that is given, and its position
    t needs the hidden state of position t − 1.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 4, table 1
    (sequential operations).

    >>> sequential_steps("attention", 9), sequential_steps("recurrence", 9)
    (1, 9)
    """
    arguments.one_of("kind", kind, *KINDS)
    arguments.sizes("n", n)
    return n if kind == "recurrence" else 1


def kv_cache_bytes(
    n: int,
    n_layers: int,
    n_kv_heads: int,
    d_k: int,
    bytes_per_number: int = 2,
    batch: int = 1,
) -> int:
    """Count the bytes of the keys and values that a decoder keeps while it writes.

    n : number of positions of each sequence, the newest one among them
    n_layers : number of layers, each with keys and values of its own
    n_kv_heads : number of heads in a layer that have keys and values of their own:
        all heads in multi-head attention, fewer with grouped queries, 1 in multi-query
        attention
    d_k : length of a key, and of a value
    bytes_per_number : 2 for float16 and bfloat16, 4 for float32
    batch : number of sequences at once

    Returns an integer. Queries, scores and parameters are not cached.
    Source: Shazeer (2019), Fast Transformer Decoding: One Write-Head is All You Need,
    section 2.4; Ainslie et al. (2023), GQA.

    >>> kv_cache_bytes(4096, 80, 8, 128)  # Llama 2 with 70 billion parameters
    1342177280
    """
    arguments.sizes(
        "n, n_layers, n_kv_heads, d_k, bytes_per_number and batch",
        *(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch),
    )
    numbers = 2 * batch * n_layers * n_kv_heads * n * d_k
    return numbers * bytes_per_number
