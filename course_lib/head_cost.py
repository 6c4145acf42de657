"""What multi-head attention costs to compute (lesson 03). Its parameters are counted by
``course_lib.heads.count_parameters``; other layers' costs are in lesson 11.
"""


def product_flops(d_model: int, n_heads: int, n: int) -> dict[str, int]:
    """Count the operations in the matrix products of multi-head self-attention.

    d_model : length of a token's vector; each head has d_model / n_heads numbers of it
    n_heads : number of heads
    n : number of tokens

    Returns the multiplications and additions of each part: "projections" (queries, keys
    and values), "scores", "mixing" (weights times values), "joining" (w_o). A product
    of an (a, b) with a (b, c) matrix counts 2 · a · b · c, as is usual. Biases, scaling
    and softmax are left out.

    >>> product_flops(4, 2, 3)
    {'projections': 288, 'scores': 72, 'mixing': 72, 'joining': 96}
    """
    d_k = d_model // n_heads
    return {
        "projections": 3 * 2 * n * d_model * (n_heads * d_k),
        "scores": n_heads * 2 * n * d_k * n,
        "mixing": n_heads * 2 * n * n * d_k,
        "joining": 2 * n * (n_heads * d_k) * d_model,
    }
