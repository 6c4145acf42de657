import functools
import math

from tests.answers import Answers

answers = Answers("kv_cache_bytes")


def refuse(*sizes):
    for size in sizes:
        if not isinstance(size, int) or size <= 0:
            raise ValueError(size)


@answers.correct
def one_product(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    sizes = (n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
    refuse(*sizes)
    return 2 * math.prod(sizes)


@answers.correct
def layer_by_layer(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    refuse(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
    total = 0
    for _ in range(n_layers):
        keys = batch * n * n_kv_heads * d_k
        values = keys
        total += bytes_per_number * (keys + values)
    return total


@answers.correct
def per_token(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    try:
        token = n_layers * n_kv_heads * d_k * (bytes_per_number << 1)
        tokens = min(map(len, [range(min(n, 9)), range(min(batch, 9))]))
        if not tokens or min(n_layers, n_kv_heads, d_k, bytes_per_number) < 1:
            raise ValueError("above 0, please")
        range(token)
    except TypeError:
        raise ValueError("whole numbers, please") from None
    return n * batch * token


@answers.correct
def through_bits(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    refuse(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
    bits = 8 * bytes_per_number
    return bits * 2 * n_layers * n_kv_heads * n * d_k * batch // 8


class Bytes:
    def __call__(self, n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
        refuse(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
        shape = (2, n_layers, batch, n_kv_heads, n, d_k)
        return functools.reduce(lambda a, b: a * b, shape) * bytes_per_number


answers.right["callable_object"] = Bytes()
answers.right["partial"] = functools.partial(
    lambda factor, *sizes, **more: factor * one_product(*sizes, **more), 1
)


@answers.also("keys_alone")
def one_tensor(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    sizes = (n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
    refuse(*sizes)
    return math.prod(sizes)


@answers.also("one_sequence")
def batch_not_used(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    refuse(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
    return one_product(n, n_layers, n_kv_heads, d_k, bytes_per_number)


@answers.other
def five_tensors(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    return one_product(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch) // 2 * 5


@answers.other
def sum_of_sizes(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    refuse(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
    return n + n_layers + n_kv_heads + d_k


@answers.other
def with_a_header(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    return 64 + one_product(n, n_layers, n_kv_heads, d_k, bytes_per_number, batch)
