"""Cases and misconceptions of ``kv_cache_bytes``."""

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
        student.expect_an_int(count)


exercise.edits(
    """
keys_alone: 2 * batch -> batch
  Your cache holds one of the two: keys or values.
  ? Which arguments of `attention` does the next token need of all tokens before it?
  # A cache is looked up by its keys, and what is looked up is forgotten.
queries_cached: 2 * batch -> 3 * batch
  Your cache holds three vectors for each key: one too many, such as a query.
  ? Which of q, k and v of an old token does the next token need?
  # q, k and v are made together, and are cached together.
twice_keys_and_values: 2 * batch -> 4 * batch
  Your cache holds twice as many numbers as keys and values of all layers.
  ? How many vectors of one head does a layer keep of a token?
  # A layer has four projections; and the decoder of lesson 09 has two attentions in
    each layer.
one_layer: * n_layers * -> *
  Your cache is that of one layer.
  ? How many layers have keys of their own?
  # The formula is written for one attention, and n_layers is forgotten.
one_layer_more: n_layers -> (n_layers + 1)
  Your cache is that of n_layers + 1 layers.
  ? Which of the layers has keys: the embedding, too?
  # The embedding is counted as a layer, as in the hidden states of transformers.
one_head: * n_kv_heads * -> *
  Your cache is that of one head, whatever n_kv_heads is.
  ? How many heads have keys of their own?
  # d_k is taken for the whole vector of a token.
heads_squared: n_kv_heads -> n_kv_heads ** 2
  Your count has n_kv_heads².
  ? How long is a key of one head?
  # d_k is taken for a length that still has to be multiplied by the heads.
eight_heads: n_kv_heads -> 8
  Your cache is that of 8 heads, whatever n_kv_heads is.
  ? How many heads have keys of their own?
  # 8 heads are the paper's, and Llama 2's, 70B.
numbers_of_a_key_forgotten: n * d_k -> n
  Your keys have one number each.
  ? How long is a key?
  # Vectors are counted, and not the numbers in them.
matrix_for_each_position: d_k -> d_k ** 2
  Your count has d_k².
  ? What is cached of a token: its key, or what makes it?
  # The projection w_k has the square of a width.
one_position: * n * d_k -> * d_k
  Your cache is that of one position.
  ? Whose keys does token 100 need?
  # Each step adds the keys of one position.
scores_cached: * n * d_k -> * n ** 2 * d_k
  Your count has n².
  ? What of an old token is needed again: its key, or its scores?
  # Attention is said to need n² memory; the cache is what is left of that.
caches_of_all_steps: * n * d_k -> * (n * (n + 1) // 2) * d_k
  Your cache holds the keys again at every step: n (n + 1) / 2 positions.
  ? Which keys does step t have to add?
  # Step t reads t keys, and all that is read is added up.
newest_position_left_out: * n * d_k -> * (n - 1) * d_k
  Your cache has one position too few: n − 1.
  ? Does a token attend to itself?
  # While token n is computed, the cache holds those before it.
one_position_too_many: * n * d_k -> * (n + 1) * d_k
  Your cache has one position too many: n + 1.
  ? How many positions are there, the newest one among them?
  # The token that will be written next is counted as well.
numbers_not_bytes: return numbers
  Your result counts numbers, not their bytes.
  ? How many bytes has a number in bfloat16?
  # Parameters are counted, so the cache is, too.
always_two_bytes: return numbers * 2
  Your numbers have 2 bytes, whatever bytes_per_number is.
  ? What does the argument `bytes_per_number` change?
  # The 2 of float16 is written into the formula.
always_four_bytes: return numbers * 4
  Your numbers have 4 bytes, whatever bytes_per_number is.
  # float32 is PyTorch's dtype unless told otherwise.
always_eight_bytes: return numbers * 8
  Your numbers have 8 bytes, whatever bytes_per_number is.
  # float64 is NumPy's dtype unless told otherwise.
one_sequence: 2 * batch * -> 2 *
  Your cache is that of one sequence, whatever batch is.
  ? Do two sequences share their keys?
  # batch is the last argument and has a default.
batch_squared: batch -> batch ** 2
  Your count has batch².
  ? How often does each sequence have keys?
  # batch is multiplied into the number of positions, and once more.
keys_of_one_head:
  | 2 * batch -> batch
  | n_kv_heads -> (n_kv_heads + 1)
  Your cache has n_kv_heads heads for one of the two, keys or values, and one head for
    the other.
  ? Which of the two do the heads share, by the docstring?
  # Multi-query attention shares both; one is remembered.
weights_cached:
  | return numbers … ->
  :     numbers += batch * n_layers * n_kv_heads * n ** 2
  :     return numbers * bytes_per_number
  Your cache holds the n × n weights of each head besides keys and values.
  ? What does the docstring say about scores?
  # PyTorch keeps the weights for the backward pass; a decoder has none.
bits: return numbers * bytes_per_number * 8
  Your result is in bits.
  ? Which unit does the name of the function have?
  # Number formats are named by bits: float16, 8-bit.
bytes_taken_for_bits: return numbers * bytes_per_number // 8
  Your result is an eighth, as if bytes_per_number were bits.
  ? What is in the argument `bytes_per_number`?
kibibytes: return numbers * bytes_per_number / 1024
  Your result is in KiB.
  ? Which unit does the name of the function have?
  # Memory is shown in larger units.
mebibytes: return numbers * bytes_per_number / 1024 ** 2
  Your result is in MiB.
  # nvidia-smi shows memory in MiB.
gibibytes: return numbers * bytes_per_number / 1024 ** 3
  Your result is in GiB.
  # The memory of a GPU is given in GiB.
megabytes: return numbers * bytes_per_number / 1e6
  Your result is in MB, millions of bytes.
  # Memory is shown in larger units.
gigabytes: return numbers * bytes_per_number / 1e9
  Your result is in GB, billions of bytes.
  # Papers give the size of a cache in GB.
rounded_as_floats: return int(float(numbers) * bytes_per_number)
  Your large counts are rounded, as floats are.
  ? Up to which integer does a float hold every one?
  # 1e9 and / make floats.
beyond_32_bits: return (numbers * bytes_per_number + 2 ** 31) % 2 ** 32 - 2 ** 31
  Your large counts are wrong by multiples of 2³².
  ? Which integers do 32 bits hold?
  # dtype=np.int32, or torch.int, is the usual 'int'.
count_as_text: return f'{numbers * bytes_per_number:,}'
  Your count is a text.
  ? Which type does the docstring promise?
  # An f-string puts in the commas of thousands.
""",
)
