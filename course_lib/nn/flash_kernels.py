"""The three kernels of ``flash_attention``, in Triton.

They are ``course_lib.tiling.tiled_attention`` and its gradients, cut into programs that
run at once. A program owns one block of rows: ``forward`` and ``backward_queries`` own
a block of queries and go through the keys, ``backward_keys`` owns a block of keys and
goes through the queries. So no two programs write the same numbers, and of the n × m
scores only one block per program exists at any time, in its registers.

- A tensor arrives as a tuple: the address of its first number, and how many numbers
  apart its sequences, heads and rows are. Within a row, numbers are neighbours.
- Capitals are known when a kernel is compiled: blocks have QUERIES or KEYS rows of D_K
  numbers, GROUP heads of queries share one of keys. Rows behind the last one are loaded
  as zeros and not stored.
- The factors of a matrix product have the dtype of q; all else is float32.
- Exponentials are powers of 2, for which a GPU has an instruction:
  e^x = 2^(x log₂ e), so log₂ e joins the scale, and the log-sum-exp has base 2.

Importing this module needs Triton: ``flash_attention`` imports it when it is called.
Sources: Dao et al. (2022), FlashAttention: Fast and Memory-Efficient Exact Attention
with IO-Awareness; Dao (2023), FlashAttention-2: Faster Attention with Better
Parallelism and Work Partitioning, algorithms 1 and 2. The running maximum and sum,
``largest`` and ``total``, are those of Milakov and Gimelshein (2018), Online normalizer
calculation for softmax; that attention needs no n × m matrix is in Rabe and Staats
(2021), Self-attention Does Not Need O(n²) Memory.
"""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)


@triton.jit
def forward(
    q,
    k,
    v,
    output,
    log_sum_exp,
    n,
    m,
    scale,
    GROUP: tl.constexpr,
    D_K: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Compute a block of rows of the output, and the log-sum-exp of their scores."""
    block, head, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    if CAUSAL:  # later rows have more keys: those that take longest start first
        block = tl.num_programs(0) - 1 - block
    row = block * QUERIES
    k, v = head_of(k, batch, head // GROUP), head_of(v, batch, head // GROUP)
    q_block = load(head_of(q, batch, head), row, n, QUERIES, D_K)
    output_head = head_of(output, batch, head)
    largest = tl.full((QUERIES,), float("-inf"), tl.float32)  # of no scores
    total = tl.zeros((QUERIES,), tl.float32)
    output = tl.zeros((QUERIES, D_K), tl.float32)
    whole, end = keys_of(row, m, QUERIES, KEYS, CAUSAL)
    for masked in tl.static_range(2):  # blocks of keys that need no mask, then others
        for key in range(whole if masked else 0, end if masked else whole, KEYS):
            k_block, v_block = load(k, key, m, KEYS, D_K), load(v, key, m, KEYS, D_K)
            scores = product(q_block, tl.trans(k_block), PRECISION) * (scale * LOG2_E)
            if masked:
                may_attend = mask(row, key, m, QUERIES, KEYS, CAUSAL)
                scores = tl.where(may_attend, scores, float("-inf"))
            higher = tl.maximum(largest, tl.max(scores, axis=1))
            factor = tl.exp2(largest - higher)  # 0 for the first block
            powers = tl.exp2(scores - higher[:, None])  # (QUERIES, KEYS)
            total = total * factor + tl.sum(powers, axis=1)
            output = output * factor[:, None]
            output += product(powers.to(v_block.dtype), v_block, PRECISION)
            largest = higher
    # The largest power is 1, so the total is at least that, and 0 only without any key.
    total = tl.maximum(total, 1.0)
    store(output_head, row, n, output / total[:, None], QUERIES, D_K)
    rows = row + tl.arange(0, QUERIES)
    first = (batch.to(tl.int64) * tl.num_programs(1) + head) * n
    log_sum = largest + tl.log2(total)
    tl.store(log_sum_exp + first + rows, log_sum, mask=rows < n)


@triton.jit
def backward_queries(
    q,
    k,
    v,
    output,
    log_sum_exp,
    doutput,  # the gradient of the output, as dq is that of q
    dq,
    delta,
    n,
    m,
    scale,
    GROUP: tl.constexpr,
    D_K: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Compute a block of rows of dq, and of delta, which ``backward_keys`` needs."""
    block, head, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block
    row = block * QUERIES
    k, v = head_of(k, batch, head // GROUP), head_of(v, batch, head // GROUP)
    q_block = load(head_of(q, batch, head), row, n, QUERIES, D_K)
    o_block = load(head_of(output, batch, head), row, n, QUERIES, D_K)
    do_block = load(head_of(doutput, batch, head), row, n, QUERIES, D_K)
    # The gradient of softmax takes from each dweight the mean Σ weight · dweight of its
    # row. That is Σ output · doutput, since dweights = doutput vᵀ: no weights needed.
    d = tl.sum(o_block.to(tl.float32) * do_block.to(tl.float32), axis=1)
    rows = row + tl.arange(0, QUERIES)
    first = (batch.to(tl.int64) * tl.num_programs(1) + head) * n
    tl.store(delta + first + rows, d, mask=rows < n)
    log_sum = tl.load(log_sum_exp + first + rows, mask=rows < n, other=float("inf"))
    dq_sum = tl.zeros((QUERIES, D_K), tl.float32)
    whole, end = keys_of(row, m, QUERIES, KEYS, CAUSAL)
    for masked in tl.static_range(2):
        for key in range(whole if masked else 0, end if masked else whole, KEYS):
            k_block, v_block = load(k, key, m, KEYS, D_K), load(v, key, m, KEYS, D_K)
            scores = product(q_block, tl.trans(k_block), PRECISION) * (scale * LOG2_E)
            if masked:
                may_attend = mask(row, key, m, QUERIES, KEYS, CAUSAL)
                scores = tl.where(may_attend, scores, float("-inf"))
            weights = tl.exp2(scores - log_sum[:, None])  # each row's sum is 1
            dweights = product(do_block, tl.trans(v_block), PRECISION)
            dscores = weights * (dweights - d[:, None])
            dq_sum += product(dscores.to(k_block.dtype), k_block, PRECISION)
    store(head_of(dq, batch, head), row, n, dq_sum * scale, QUERIES, D_K)


@triton.jit
def backward_keys(
    q,
    k,
    v,
    log_sum_exp,
    doutput,
    dk,
    dv,
    delta,
    n,
    m,
    scale,
    GROUP: tl.constexpr,
    D_K: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Compute a block of rows of dk and dv: sums over the queries of a group of heads.

    Here keys are rows: scores and weights are (KEYS, QUERIES).
    """
    key, kv_head, batch = tl.program_id(0) * KEYS, tl.program_id(1), tl.program_id(2)
    k_block = load(head_of(k, batch, kv_head), key, m, KEYS, D_K)
    v_block = load(head_of(v, batch, kv_head), key, m, KEYS, D_K)
    dk_sum = tl.zeros((KEYS, D_K), tl.float32)
    dv_sum = tl.zeros((KEYS, D_K), tl.float32)
    start, whole = 0, 0
    if CAUSAL:  # no query before start attends to these keys, each from whole on to all
        start = tl.minimum(key // QUERIES * QUERIES, n)
        whole = tl.minimum(tl.cdiv(key + KEYS - 1, QUERIES) * QUERIES, n)
    for head in range(kv_head * GROUP, kv_head * GROUP + GROUP):
        q_head, do_head = head_of(q, batch, head), head_of(doutput, batch, head)
        first = (batch.to(tl.int64) * tl.num_programs(1) * GROUP + head) * n
        for masked in tl.static_range(2):
            for row in range(
                start if masked else whole, whole if masked else n, QUERIES
            ):
                q_block = load(q_head, row, n, QUERIES, D_K)
                do_block = load(do_head, row, n, QUERIES, D_K)
                rows = row + tl.arange(0, QUERIES)
                # With +inf for rows behind the last one, their weights are 0.
                log_sum = tl.load(
                    log_sum_exp + first + rows, mask=rows < n, other=float("inf")
                )
                d = tl.load(delta + first + rows, mask=rows < n, other=0.0)
                scores = product(k_block, tl.trans(q_block), PRECISION)
                scores = scores * (scale * LOG2_E)
                if masked:
                    may_attend = tl.trans(mask(row, key, m, QUERIES, KEYS, CAUSAL))
                    scores = tl.where(may_attend, scores, float("-inf"))
                weights = tl.exp2(scores - log_sum[None, :])
                dv_sum += product(weights.to(do_block.dtype), do_block, PRECISION)
                dweights = product(v_block, tl.trans(do_block), PRECISION)
                dscores = weights * (dweights - d[None, :])
                dk_sum += product(dscores.to(q_block.dtype), q_block, PRECISION)
    store(head_of(dk, batch, kv_head), key, m, dk_sum * scale, KEYS, D_K)
    store(head_of(dv, batch, kv_head), key, m, dv_sum, KEYS, D_K)


@triton.jit
def keys_of(row, m, QUERIES: tl.constexpr, KEYS: tl.constexpr, CAUSAL: tl.constexpr):
    """Return how many keys stand in blocks that need no mask, and how many count."""
    attended_by_all, end = m, m
    if CAUSAL:  # the first of these rows attends to keys 0 … row
        attended_by_all, end = tl.minimum(m, row + 1), tl.minimum(m, row + QUERIES)
    return attended_by_all // KEYS * KEYS, end


@triton.jit
def mask(row, key, m, QUERIES: tl.constexpr, KEYS: tl.constexpr, CAUSAL: tl.constexpr):
    """Return may_attend (QUERIES, KEYS) for the blocks that begin at row and at key."""
    keys = key + tl.arange(0, KEYS)[None, :]
    may_attend = keys < m
    if CAUSAL:
        may_attend = may_attend & (keys <= row + tl.arange(0, QUERIES)[:, None])
    return may_attend


@triton.jit
def product(a, b, PRECISION: tl.constexpr):
    """Multiply two matrices, with sums in float32."""
    if INTERPRETED:  # Triton's interpreter would multiply the bits of bfloat16
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, input_precision=PRECISION)


@triton.jit
def head_of(tensor, batch, head):
    """Return the address of a head's first number, and how far apart its rows are."""
    address, of_batch, of_head, of_row = tensor
    skipped = tl.cast(batch, tl.int64) * of_batch + tl.cast(head, tl.int64) * of_head
    return address + skipped, of_row


@triton.jit
def addresses(head, start, ROWS: tl.constexpr, D_K: tl.constexpr):
    """Return the addresses (ROWS, D_K) of the numbers of ROWS rows from row start."""
    address, of_row = head
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, D_K)[None, :]
    return address + tl.cast(start, tl.int64) * of_row + rows * of_row + columns


@triton.jit
def load(head, start, end, ROWS: tl.constexpr, D_K: tl.constexpr):
    """Load ROWS rows from row start, with zeros for those from row end on."""
    inside = (start + tl.arange(0, ROWS) < end)[:, None]
    return tl.load(addresses(head, start, ROWS, D_K), mask=inside, other=0.0)


@triton.jit
def store(head, start, end, block, ROWS: tl.constexpr, D_K: tl.constexpr):
    """Store a block as the rows from row start, without those from row end on."""
    inside = (start + tl.arange(0, ROWS) < end)[:, None]
    address, _ = head
    block = block.to(address.dtype.element_ty)
    tl.store(addresses(head, start, ROWS, D_K), block, mask=inside)
