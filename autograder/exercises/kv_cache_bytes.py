"""Cases and misconceptions of ``kv_cache_bytes``."""

import numpy as np

from autograder import Exercise
from course_lib.costs import kv_cache_bytes

exercise = Exercise(
    kv_cache_bytes,
    lesson="14_fast_attention",
    minutes=7,
    difficulty=1,
)

PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)


@exercise.spec
def spec(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    shape = (batch, n_layers, n_kv_heads, n, d_k)
    total = 0
    for _ in ("keys", "values"):
        n_bytes = bytes_per_number
        for size in shape:
            n_bytes *= size
        total += n_bytes
    return total


def drawn(rng, count):
    """Draw different primes."""
    return rng.choice(PRIMES, size=count, replace=False).tolist()


@exercise.usual
def usual(rng):
    n, n_layers, n_kv_heads, d_k, batch = drawn(rng, 5)
    return n, n_layers, n_kv_heads, d_k, 4, batch


@exercise.case("Two positions, one layer, 3 heads and keys of 5 numbers: 120 bytes")
def small_example_by_hand(student, rng):
    # 2 positions · 3 heads · 5 numbers are 30 numbers of keys, and 30 of values; each
    # number has 2 bytes.
    student.expect(student(2, 1, 3, 5), 120)
    student.agrees(*drawn(rng, 4))


@exercise.case("Each layer has a cache of its own")
def layers(student, rng):
    n, n_layers, n_kv_heads, d_k = drawn(rng, 4)
    student.agrees(n, 1, n_kv_heads, d_k)
    student.agrees(n, n_layers, n_kv_heads, d_k)


@exercise.case("Numbers of 4 bytes, or of 1, change the size as much", weight=3)
def bytes_of_numbers(student, rng):
    sizes = drawn(rng, 4)
    for bytes_per_number in (4, 1, 8):
        student.agrees(*sizes, bytes_per_number)


@exercise.case("Each sequence of a batch has a cache of its own", weight=3)
def batches(student, rng):
    *sizes, batch = drawn(rng, 5)
    student.agrees(*sizes, 2, batch)
    student.agrees(*sizes, 4, batch)
    student.agrees(*sizes, batch=batch)


@exercise.case("With one head for all queries the cache is a share of that of many")
def grouped_and_multi_query(student, rng):
    n, n_layers, n_heads, d_k = drawn(rng, 4)
    student.agrees(n, n_layers, 1, d_k)
    for n_kv_heads in (2, n_heads):
        student.agrees(n, n_layers, n_kv_heads, d_k)


@exercise.case(
    "One position more adds as many bytes, however many there are", weight=0.5
)
def one_position_more(student, rng):
    n, n_layers, n_kv_heads, d_k = drawn(rng, 4)
    for position in (1, 2, n, n + 1):
        student.agrees(position, n_layers, n_kv_heads, d_k)


@exercise.case(
    "Sizes of published models: Llama 2 70B, and with all 64 heads", pays_alone=False
)
def published_models(student, rng):
    student.expect(student(4096, 80, 8, 128), 1_342_177_280)
    student.expect(student(4096, 80, 64, 128), 10_737_418_240)
    n = 2 * int(rng.integers(1000, 2000)) + 1
    student.agrees(n, 80, 8, 128, 2, 16)


@exercise.case(
    "Sizes of 1 leave a key and a value of one number", pays_alone=False, visible=False
)
def sizes_of_one(student, rng):
    student.expect(student(1, 1, 1, 1), 4)
    student.expect(student(1, 1, 1, 1, 1), 2)
    (batch,) = drawn(rng, 1)
    student.agrees(1, 1, 1, 1, 1, batch)


@exercise.case("Large caches are exact", visible=False)
def large_caches(student, rng):
    n = int(rng.integers(2**30, 2**31)) | 1
    student.agrees(n, 127, 97, 129, 2, 129)


@exercise.fine_point("The size is an `int`, also where it is computed with `/`")
def count_is_whole(student, rng):
    for sizes in rng.integers(2, 40, size=(2, 6)).tolist():
        count = student(*sizes)
        student.expect(
            isinstance(count, int | np.integer), True, what="whether it is an int"
        )


@exercise.variants
def variants(
    n,
    n_layers,
    n_kv_heads,
    d_k,
    bytes_per_number=2,
    batch=1,
    *,
    cached=2,  # keys and values
    layers="all",
    heads="n_kv_heads",
    width="d_k",
    positions="n",
    number="bytes_per_number",
    sequences="batch",
    shared="nothing",
    unit="bytes",
):
    many = {
        "all": n_layers,
        "one": 1,
        "one more": n_layers + 1,
    }[layers]
    many *= {
        "n_kv_heads": n_kv_heads,
        "one": 1,
        "squared": n_kv_heads**2,
        "8": 8,
    }[heads]
    many *= {"d_k": d_k, "none": 1, "squared": d_k**2}[width]
    many *= {
        "n": n,
        "none": 1,
        "squared": n**2,
        "n − 1": n - 1,
        "n + 1": n + 1,
        "pairs": n * (n + 1) // 2,
    }[positions]
    per_number = {
        "bytes_per_number": bytes_per_number,
        "none": 1,
        "2": 2,
        "4": 4,
        "8": 8,
    }[number]
    if sequences == "batch":
        many *= batch
    elif sequences == "squared":
        many *= batch**2
    total = cached * many * per_number
    if shared == "keys of one head":  # values of each
        total = total // 2 + total // 2 // n_kv_heads
    if shared == "weights":
        total += n_layers * n_kv_heads * n * n * per_number * batch
    if unit == "through float":
        return int(float(total))
    if unit == "32 bits":
        return (total + 2**31) % 2**32 - 2**31
    return {
        "bits": lambda: total * 8,
        "bytes of bits": lambda: total // 8,
        "KiB": lambda: total / 1024,
        "MiB": lambda: total / 1024**2,
        "GiB": lambda: total / 1024**3,
        "MB": lambda: total / 1e6,
        "GB": lambda: total / 1e9,
        "text": lambda: f"{total:,}",
    }.get(unit, lambda: total)()


exercise.option(
    "keys_alone",
    "Your cache holds one of the two: keys or values.",
    "Which arguments of `attention` does the next token need of all tokens before it?",
    why="A cache is looked up by its keys, and what is looked up is forgotten.",
    cached=1,
)
exercise.option(
    "queries_cached",
    "Your cache holds three vectors for each key: one too many, such as a query.",
    "Which of q, k and v of an old token does the next token need?",
    why="q, k and v are made together, and are cached together.",
    cached=3,
)
exercise.option(
    "twice_keys_and_values",
    "Your cache holds twice as many numbers as keys and values of all layers.",
    "How many vectors of one head does a layer keep of a token?",
    why="A layer has four projections; and the decoder of lesson 09 has two attentions "
    "in each layer.",
    cached=4,
)
exercise.option(
    "one_layer",
    "Your cache is that of one layer.",
    "How many layers have keys of their own?",
    why="The formula is written for one attention, and n_layers is forgotten.",
    layers="one",
)
exercise.option(
    "one_layer_more",
    "Your cache is that of n_layers + 1 layers.",
    "Which of the layers has keys: the embedding, too?",
    why="The embedding is counted as a layer, as in the hidden states of transformers.",
    layers="one more",
)
exercise.option(
    "one_head",
    "Your cache is that of one head, whatever n_kv_heads is.",
    "How many heads have keys of their own?",
    why="d_k is taken for the whole vector of a token.",
    heads="one",
)
exercise.option(
    "heads_squared",
    "Your count has n_kv_heads².",
    "How long is a key of one head?",
    why="d_k is taken for a length that still has to be multiplied by the heads.",
    heads="squared",
)
exercise.option(
    "eight_heads",
    "Your cache is that of 8 heads, whatever n_kv_heads is.",
    "How many heads have keys of their own?",
    why="8 heads are the paper's, and Llama 2's, 70B.",
    heads="8",
)
exercise.option(
    "numbers_of_a_key_forgotten",
    "Your keys have one number each.",
    "How long is a key?",
    why="Vectors are counted, and not the numbers in them.",
    width="none",
)
exercise.option(
    "matrix_for_each_position",
    "Your count has d_k².",
    "What is cached of a token: its key, or what makes it?",
    why="The projection w_k has the square of a width.",
    width="squared",
)
exercise.option(
    "one_position",
    "Your cache is that of one position.",
    "Whose keys does token 100 need?",
    why="Each step adds the keys of one position.",
    positions="none",
)
exercise.option(
    "scores_cached",
    "Your count has n².",
    "What of an old token is needed again: its key, or its scores?",
    why="Attention is said to need n² memory; the cache is what is left of that.",
    positions="squared",
)
exercise.option(
    "caches_of_all_steps",
    "Your cache holds the keys again at every step: n (n + 1) / 2 positions.",
    "Which keys does step t have to add?",
    why="Step t reads t keys, and all that is read is added up.",
    positions="pairs",
)
exercise.option(
    "newest_position_left_out",
    "Your cache has one position too few: n − 1.",
    "Does a token attend to itself?",
    why="While token n is computed, the cache holds those before it.",
    positions="n − 1",
)
exercise.option(
    "one_position_too_many",
    "Your cache has one position too many: n + 1.",
    "How many positions are there, the newest one among them?",
    why="The token that will be written next is counted as well.",
    positions="n + 1",
)
exercise.option(
    "numbers_not_bytes",
    "Your result counts numbers, not their bytes.",
    "How many bytes has a number in bfloat16?",
    why="Parameters are counted, so the cache is, too.",
    number="none",
)
exercise.option(
    "always_two_bytes",
    "Your numbers have 2 bytes, whatever bytes_per_number is.",
    "What does the argument `bytes_per_number` change?",
    why="The 2 of float16 is written into the formula.",
    number="2",
)
exercise.option(
    "always_four_bytes",
    "Your numbers have 4 bytes, whatever bytes_per_number is.",
    "What does the argument `bytes_per_number` change?",
    why="float32 is PyTorch's dtype unless told otherwise.",
    number="4",
)
exercise.option(
    "always_eight_bytes",
    "Your numbers have 8 bytes, whatever bytes_per_number is.",
    "What does the argument `bytes_per_number` change?",
    why="float64 is NumPy's dtype unless told otherwise.",
    number="8",
)
exercise.option(
    "one_sequence",
    "Your cache is that of one sequence, whatever batch is.",
    "Do two sequences share their keys?",
    why="batch is the last argument and has a default.",
    sequences="one",
)
exercise.option(
    "batch_squared",
    "Your count has batch².",
    "How often does each sequence have keys?",
    why="batch is multiplied into the number of positions, and once more.",
    sequences="squared",
)
exercise.option(
    "keys_of_one_head",
    "Your cache has n_kv_heads heads for one of the two, keys or values, and one head "
    "for the other.",
    "Which of the two do the heads share, by the docstring?",
    why="Multi-query attention shares both; one is remembered.",
    shared="keys of one head",
)
exercise.option(
    "weights_cached",
    "Your cache holds the n × n weights of each head besides keys and values.",
    "What does the docstring say about scores?",
    why="PyTorch keeps the weights for the backward pass; a decoder has none.",
    shared="weights",
)
exercise.option(
    "bits",
    "Your result is in bits.",
    "Which unit does the name of the function have?",
    why="Number formats are named by bits: float16, 8-bit.",
    unit="bits",
)
exercise.option(
    "bytes_taken_for_bits",
    "Your result is an eighth, as if bytes_per_number were bits.",
    "What is in the argument `bytes_per_number`?",
    why="Number formats are named by bits: float16, 8-bit.",
    unit="bytes of bits",
)
exercise.option(
    "kibibytes",
    "Your result is in KiB.",
    "Which unit does the name of the function have?",
    why="Memory is shown in larger units.",
    unit="KiB",
)
exercise.option(
    "mebibytes",
    "Your result is in MiB.",
    "Which unit does the name of the function have?",
    why="nvidia-smi shows memory in MiB.",
    unit="MiB",
)
exercise.option(
    "gibibytes",
    "Your result is in GiB.",
    "Which unit does the name of the function have?",
    why="The memory of a GPU is given in GiB.",
    unit="GiB",
)
exercise.option(
    "megabytes",
    "Your result is in MB, millions of bytes.",
    "Which unit does the name of the function have?",
    why="Memory is shown in larger units.",
    unit="MB",
)
exercise.option(
    "gigabytes",
    "Your result is in GB, billions of bytes.",
    "Which unit does the name of the function have?",
    why="Papers give the size of a cache in GB.",
    unit="GB",
)
exercise.option(
    "rounded_as_floats",
    "Your large counts are rounded, as floats are.",
    "Up to which integer does a float hold every one?",
    why="1e9 and / make floats.",
    unit="through float",
)
exercise.option(
    "beyond_32_bits",
    "Your large counts are wrong by multiples of 2³².",
    "Which integers do 32 bits hold?",
    why="dtype=np.int32, or torch.int, is the usual 'int'.",
    unit="32 bits",
)
exercise.option(
    "count_as_text",
    "Your count is a text.",
    "Which type does the docstring promise?",
    why="An f-string puts in the commas of thousands.",
    unit="text",
)
