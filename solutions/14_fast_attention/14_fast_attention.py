# %% [markdown]
# # Fast attention
#
# **What does it cost, and how is it made fast?**
#
# After this lesson you can
#
# - say why a few operations can take a long time, and what a processor waits for;
# - compute attention exactly, but without its n × n matrix, as FlashAttention does;
# - say what that saves, in memory and on a GPU;
# - in *Going further*: compute a softmax in blocks, count what attention, recurrence and
#   convolution cost, read a program for a GPU, and say what a cache or a window saves.
#
# **About 70 minutes, and 95 more in *Going further*.** You need lessons 01, 04, 09 and 12 and,
# for the end, the data: `attention-course data` gets it (in a clone, `make data`).

# %%
from autograder import check

import math

import numpy as np
import torch
from torch.nn import functional

# %% [markdown]
# ## A question to carry through the lesson
#
# A layer reads n tokens, each a vector of d numbers. How many multiplications and
# additions does that take? **Move n and d** before you read on. From which n on does
# attention cost more than the feed-forward network next to it?

# %%
torch.set_num_threads(1)
from course_lib import figures

lengths, widths = [2**i for i in range(5, 18)], [64, 128, 256, 512, 1024, 4096]
n_tokens, d_model = np.array(lengths), np.array(widths)[:, np.newaxis]
operations = {
    "attention": 4 * n_tokens**2 * d_model,
    "feed-forward network": 16 * n_tokens * d_model**2,
}
named = {32: "a sentence", 512: "a page", 131_072: "a book"}

# %%
alt = "Attention's operations grow faster with n than the feed-forward network's."
layers = {"operations": operations}
figures.costs_by_length(lengths, widths, layers, names=named, start=(128, 512), alt=alt)

# %% [markdown]
# From n = 4d on. Each token meets all n, once for its scores (q kᵀ) and once for the
# weighted sum of the values. Each of these products takes n²d multiplications and as many
# additions, so attention takes 4n²d operations. (Its projections, 8nd² more, are left
# out.) A feed-forward network, d to 4d and back, takes 8nd² twice.
#
# So a text twice as long costs attention four times as much. But at d = 512, a page of 512
# tokens is far below 4d = 2,048, and attention isn't even the larger part.

# %% [markdown]
# Even so, attention was slow, and most of its time was not needed. For 64 texts of 1,024
# tokens, the attention of one layer of GPT-2 medium took 42 milliseconds on a GPU, forward
# and backward. Rewritten, it took 7, with the same result (Dao et al. 2022).
#
# **What does attention really cost, and how is it made fast?** By the end, your own
# function will read two thousand tokens without ever making the table of weights.

# %% [markdown]
# ## What a processor waits for
#
# An operation needs numbers, and they come from memory. A processor computes faster
# than memory delivers, so what counts is how many operations it does with each number
# that it has fetched. This is the **arithmetic intensity**, in operations per byte
# moved (*operational* intensity in Williams et al. 2009).
#
# Take the product of b vectors with a (d, d) matrix, d = 2,048. It does 2bd² operations, and
# moves d² numbers of the matrix and 2bd of the vectors, those read and those written. Each
# number has 4 bytes.

# %%
d = 2048
for b in (1, 256):
    intensity = 2 * b * d**2 / (4 * (d**2 + 2 * b * d))
    print(f"b = {b:3}: {intensity:.1f} operations per byte")

# %% [markdown]
# With b = 1 each number in the matrix is fetched for one multiplication and one addition;
# with b = 256, it is fetched once and used 256 times. The processor that we measured does
# about two operations while one byte arrives.
#
# **Predict:** how many times as long do 256 vectors take as one?
#
# - [ ] 256 times: there are 256 times as many operations
# - [x] Fewer than 256 times: with one vector, the processor has to wait
# - [ ] About as long: only fetching takes time

# %%
from course_lib.experiments import record

traffic = record.read("memory_traffic")
per_operation = np.median(traffic.values("product"), axis=0)
one, of_256 = per_operation[0], per_operation[-1]  # picoseconds
print(f"one vector: {one:.1f} picoseconds per operation, 256: {of_256:.1f}")
print(f"256 vectors: {256 * of_256 / one:.0f} times as long as one")
assert 60 < 256 * of_256 / one < 75 and round(one / of_256 * 0.5) == 2

# %% [markdown]
# About 70 times (`course_lib/experiments/memory_traffic.py`). With one vector, the processor
# waits for about three quarters of the time. One vector times a matrix is also how a
# language model writes a token.
#
# So what does attention spend its time on? For each of its n × n weights, with d_k =
# 64, the two products do 2 · 2 · 64 = 256 operations. Scaling and softmax do only about six, but
# each of their results is written to memory and read again.

# %% [markdown]
# Here are the parts for n = 4,096, each with the memory for its result already
# allocated. The last row is the usual line, `(q @ k.T / sqrt(d_k)).softmax(dim=-1) @ v`. It
# does the same operations, but makes three new tables of 64 MiB.

# %%
parts = ("scores", "scaling", "softmax", "weighted sum")
milliseconds = {name: traffic.median(name) for name in (*parts, "attention")}
for name, time in milliseconds.items():
    print(f"{name:12} {time:5.1f} milliseconds")
together = sum(milliseconds[name] for name in parts)
print(f"the parts together: {together:.0f} milliseconds")
assert round(together) == 61 and round(milliseconds["attention"]) == 136
assert round(milliseconds["scaling"] + milliseconds["softmax"]) == 11

# %% [markdown]
# The parts take 61 milliseconds, 11 of them for scaling and softmax, only 6 of the 262 operations. And the usual
# line takes more than twice as long as its parts: for large tables, the operating system
# has to provide the memory afresh each time. Of its 136 milliseconds, the two products need
# 50. Most of the rest goes into getting memory for the tables, writing and reading it. **The
# table is the larger cost.**

# %% [markdown]
# ## A softmax in pieces
#
# Can attention do without the table? There is only one reason for it: before a softmax can
# give its first weight, it needs the largest score of the row and the sum of all its
# exponentials. If the scores come in blocks, and each block is forgotten before the next
# one comes, can there be a softmax at all?
#
# By hand: the scores of a row are 1, 3, 2 and 5, and come two at a time. The first block
# has the maximum 3 and the sum

# %%
first_sum = math.exp(1 - 3) + math.exp(3 - 3)
print(f"e^(1 − 3) + e^(3 − 3) = {first_sum:.3f}")

# %% [markdown]
# Then 2 and 5 come, and the maximum grows to 5. In all exponents, − 3 should now be
# − 5, but 1 and 3 have been forgotten.
#
# **Predict:** what happens to the first block's sum?
#
# - [ ] It is multiplied by e^(5 − 3)
# - [ ] It isn't changed, and e^(2 − 5) + e^(5 − 5) is added
# - [x] It is multiplied by e^(3 − 5)
# - [ ] It cannot be corrected without 1 and 3

# %%
second_sum = math.exp(2 - 5) + math.exp(5 - 5)
total = first_sum * math.exp(3 - 5) + second_sum
at_once = sum(math.exp(score - 5) for score in (1, 3, 2, 5))
print(f"in pieces {total:.6f}, at once {at_once:.6f}")
assert math.isclose(total, at_once)

# %% [markdown]
# Since $e^{1-3} \cdot e^{3-5} = e^{1-5}$, one factor rescales every term of the sum,
# however many there were. So two numbers per row are enough, the maximum and the sum so
# far (Milakov and Gimelshein 2018). As a loop:

# %%
largest, so_far = -math.inf, 0.0
for scores in ([1, 3], [2, 5]):
    now = max(largest, *scores)
    so_far *= math.exp(largest - now)  # what was summed up, with the new maximum
    so_far += sum(math.exp(score - now) for score in scores)
    largest = now
    print(f"after {scores}: maximum {largest}, sum {so_far:.3f}")
assert math.isclose(so_far, at_once)

# %% [markdown]
# The first block needs no special care, because e^(−∞) is 0. Even in a row of a million
# scores, two numbers hold all that its softmax needs to know about the scores it has
# forgotten.

# %% [markdown]
# ## Tiles
#
# A query doesn't need its weights, only its output: the weighted sum of the values.
# That can be built up in the same way. For each query, remember three things: the
# **maximum** and the **sum** so far, and the **output** so far, a vector that is not yet
# divided by the sum. When the maximum grows, multiply the sum *and* the output by the same
# factor, because both are sums of the same exponentials; in the output each is multiplied by
# its value.
# At the end, divide the output by the sum, once.
#
# By hand: let the scores 1, 3, 2 and 5 have the values 10, 20, 30 and 40.

# %%
first_output = math.exp(1 - 3) * 10 + math.exp(3 - 3) * 20
second_output = math.exp(2 - 5) * 30 + math.exp(5 - 5) * 40
in_pieces = (first_output * math.exp(3 - 5) + second_output) / total
pairs = ((1, 10), (3, 20), (2, 30), (5, 40))
with_weights = sum(math.exp(s - 5) / at_once * value for s, value in pairs)
print(f"in pieces {in_pieces:.6f}, with the weights {with_weights:.6f}")
assert math.isclose(in_pieces, with_weights)

# %% [markdown]
# So at any time you need only the scores of a block of queries and a block of keys, a
# **tile**. Here are four queries and six keys:

# %%
from course_lib.lessons.tile_steps import record_tiles

rng = np.random.default_rng(0)
q, k = rng.normal(size=(4, 3)), 2 * rng.normal(size=(6, 3))
v = rng.normal(size=(6, 2))
tiny = q @ k.T / math.sqrt(3)
runs = {f"{i} × {j}": record_tiles(tiny, v, j, i) for i, j in ((2, 2), (1, 3), (4, 6))}

# %% [markdown]
# **Go from tile to tile.** For which queries does the maximum grow? Can a sum become smaller
# from one tile to the next? Hatched scores have been forgotten.

# %%
alt = "A tile of scores moves over the table; each query carries three numbers along."
queries, keys = [f"query {i}" for i in range(1, 5)], [f"k{j}" for j in range(1, 7)]
figures.tiling(tiny, queries, keys, runs, alt=alt)

# %% [markdown]
# In symbols: each query starts with the maximum M = −∞, the sum S = 0 and the output O = 0,
# a vector of length d_v. For each block of keys and values:
#
# 1. compute the block's scaled scores s, with −∞ where the mask is False;
# 2. the new maximum M′ is the larger of M and the largest of s;
# 3. S and O are multiplied by the factor e^(M − M′);
# 4. the powers e^(s − M′) are summed and added to S; the powers times the block's values
#    are added to O;
# 5. M′ takes the place of M.
#
# At the end, the result is O / S.

# %% [markdown]
# There is one trap. As long as a query has met no key that it may attend to, M′ is still
# −∞, and −∞ − (−∞) is no number. Then subtract 0 in steps 3 and 4 instead of M′.
#
# If all this is a big step, write `online_softmax` in *Going further* first. It is the same
# loop without O.

# %% [markdown]
# ### Exercise: tiled_attention
#
# Write the five steps as a loop over blocks of keys and values. All queries go through
# together, so each step makes n × block scores. Maximum and sum have the shape (..., n, 1), by
# `keepdims=True`, and the output (..., n, d_v).
#
# <details><summary>Hint 1</summary>
#
# What was computed with the old maximum? And when is the sum complete?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Keys and values are cut as `k[..., start : start + block, :]`, the mask as
# `may_attend[..., start : start + block]`. What is subtracted, 0 or the new maximum, is
# chosen by `np.where`. At the end, a query that may attend to no key has a sum of 0: divide
# it by 1.
#
# </details>

# %%
from course_lib.tiling import tiled_attention  # exercise

# %%
check(tiled_attention)

# %% [markdown]
# You have written the core of FlashAttention. Does it agree with the attention of
# lesson 01, which makes the whole table? Here are 700 queries and 1,000 keys, in
# float64:

# %%
from course_lib.attention import attention

q, k = rng.normal(size=(700, 64)), rng.normal(size=(1000, 64))
v = rng.normal(size=(1000, 64))
whole_table = attention(q, k, v)[0]
gaps = {
    b: np.abs(tiled_attention(q, k, v, b) - whole_table).max() for b in (1, 96, 1000)
}
print({block: bool(gap < 1e-13) for block, gap in gaps.items()})
assert max(gaps.values()) < 1e-13

# %% [markdown]
# > **Is FlashAttention an approximation?** Many fast attentions before it were, so it is
# > often taken for one. But it is *exact*: only the rounding differs, in the last digits, as
# > with any other order of a sum. Rabe and Staats
# > ([2021](https://arxiv.org/abs/2112.05682)) had computed exact attention in blocks to save memory; Dao
# > et al. (2022) arranged the tiles for a GPU's fast memory.

# %% [markdown]
# ## Memory, measured
#
# How much memory do tiles save? The table of one head over 16,384 positions has 16,384²
# numbers of 4 bytes: 1 GiB. `tiled_attention` with blocks of 128 keys holds a maximum,
# a sum and an output for each query, and the scores of one block.
#
# **Predict:** how does the memory for these scores grow with the length n if all queries
# go through together? And if the queries, too, come in blocks of 128?
#
# - [ ] With n² in both cases
# - [x] With n in the first, not at all in the second
# - [ ] With n² in the first, with n in the second

# %%
from course_lib.lessons.measuring import fitted_exponent

memory = record.read("attention_memory")
measured_lengths = memory.values("lengths")[0]
ways = ("plain", "blocks of keys", "tiles")
peaks = {name: np.median(memory.values(name), axis=0) for name in ways}
growth = {}
for name in ways:
    growth[name] = fitted_exponent(measured_lengths[-4:], peaks[name][-4:])
    print(f"{name}: {peaks[name][-1] / 2**20:.1f} MiB, exponent {growth[name]:.2f}")
assert 1.98 < growth["plain"] < 2.02
assert 0.97 < growth["blocks of keys"] < 1.03 and 0.6 < growth["tiles"] < 0.85

# %% [markdown]
# One block of keys has n × 128 scores, 8 MiB here, and a table as large for each step of their
# softmax; one tile has 128 × 128. The numbers are peaks of all that
# NumPy holds, at n = 16,384 (`course_lib/experiments/attention_memory.py`); a peak grows as n
# to the power of the exponent: 2 for the table, 1 for blocks of keys.
#
# The exponent of tiles lies between 0 and 1, because two things add up: half a MiB for a
# tile's scores and all the steps of its softmax, which doesn't grow, and the output, n
# vectors of length 64. At n = 16,384, that is 4 MiB of 4.5.

# %%
axes = {"xlabel": "length n", "ylabel": "MiB", "logarithmic": True}
mebibytes = {name: peak / 2**20 for name, peak in peaks.items()}
mebibytes["the table alone"] = 4 * np.array(measured_lengths) ** 2 / 2**20
assert round(mebibytes["tiles"][-1], 1) == 4.5

# %%
alt = "Plain grows with n squared, blocks of keys with n, and tiles more slowly."
figures.curves(measured_lengths, mebibytes, **axes, alt=alt)

# %% [markdown]
# And the time? In NumPy, each product and each `np.exp` still writes its result to memory
# and reads it again. (*Going further* measures it.) To be fast, a tile must stay near the
# processor from its scores to its share of the output. That takes a program that does
# it all in one go.

# %% [markdown]
# ## On a GPU
#
# The processor measured above does two operations while one byte arrives. An A100, a GPU
# of 2020, can do about 200: up to 312 trillion operations a second on 16-bit numbers,
# against 1.5 TB a second from its large memory of 40 GB. The small memory next to its
# processors delivers 19 TB a second, but holds only 20 MB (Dao et al. 2022, figure 1).
# Attention's table goes out to the large memory and back, several times. FlashAttention
# keeps each tile in the small one.

# %% [markdown]
# The paper measured what that means for GPT-2's attention, forward and backward. (The
# backward pass needs the weights again.)
#
# **Predict:** how many operations does FlashAttention do there, compared with standard
# attention?
#
# - [ ] Fewer, because no table is written
# - [ ] Exactly as many, because the result is the same
# - [x] More, because nothing can be looked up in a table

# %%
# Dao et al. (2022), figure 2: GPT-2 medium on an A100, 64 texts of 1,024 tokens.
print(f"operations: {75.2 / 66.6:.2f} times")
standard = {"GB moved": 40.3, "milliseconds": 41.7}
flash = {"GB moved": 4.4, "milliseconds": 7.3}
for name in standard:
    ratio = flash[name] / standard[name]
    print(f"{name}: {standard[name]} and {flash[name]}, {ratio:.2f} times")
assert round(75.2 / 66.6, 2) == 1.13
assert round(40.3 / 4.4) == 9 and 41.7 / 7.3 > 5

# %% [markdown]
# It is more than 5 times as fast and does 13 % *more* operations: the backward pass has no
# table to look weights up in, so it computes each tile again. What FlashAttention saves
# is traffic: it moves a ninth of the bytes.

# %% [markdown]
# ## Two thousand tokens without a table
#
# Now let your function work in a model. A language model like the one in lesson 12, two
# layers with four heads, learns from pieces of **64 tokens** (about 20 seconds). Then
# it reads 2,048 tokens of *The Tempest* at once, with your function as its attention. (Not
# well, as it has learned from 64. If your function is not ready, the course's own is used.)

# %%
from course_lib.lessons.own_functions import FAST_ATTENTION, own_functions

mine = own_functions(globals(), FAST_ATTENTION)

# %% [markdown]
# The training (`course_lib/lessons/long_reader.py`):

# %%
from course_lib.lessons import eight_plays, long_reader

texts = eight_plays.texts()
tokenizer = texts.tokenizer()
token_ids = torch.tensor(tokenizer.encode(texts.training))
sizes = {"vocab_size": 512, "n_positions": 2048}
model = long_reader.trained_model(token_ids, **sizes, steps=300)
text = torch.tensor(tokenizer.encode(texts.held_out))[:2049]

# %% [markdown]
# Do the model's own attention and yours predict the same next token at all 2,048
# positions?

# %%
from course_lib.masks import causal_mask


def in_tiles(q, k, v, size: int = 128) -> np.ndarray:
    """Let each token attend to itself and those before, with tiled_attention."""
    outputs = []
    for i in range(0, q.shape[1], size):
        end = i + size  # none of these queries may attend to later keys
        may_attend = causal_mask(size, end, offset=i)  # (size, end)
        tile = q[:, i:end], k[:, :end], v[:, :end]
        outputs.append(mine["tiled_attention"](*tile, size, may_attend))
    return np.concatenate(outputs, axis=1)


# %%
with torch.no_grad():
    reference = model(text[None, :-1])[0]  # PyTorch's own attention
yours = long_reader.logits_with(model, text[:-1], in_tiles)
same = (yours.argmax(dim=-1) == reference.argmax(dim=-1)).float().mean().item()
print(f"the same token at {same:.0%} of {len(yours):,} positions")
assert same > 0.999 and torch.allclose(yours, reference, atol=1e-3)

# %% [markdown]
# With a table for each of the four heads, 2,048 × 2,048 numbers of 4 bytes, NumPy holds 64
# MiB of scores, and up to five such sets at once: scores, masked scores, exponentials,
# their quotients and the weights.
#
# **Predict:** how much does it hold with your tiles?
#
# - [ ] As much, because all scores have to be computed
# - [ ] Half as much, because masked tiles are left out
# - [x] A few MiB, for one tile of each head and for the outputs

# %%
from course_lib.lessons.measuring import numpy_peak


def with_table(q, k, v) -> np.ndarray:
    """Let each token attend to itself and those before, with lesson 04's table."""
    from course_lib.masks import masked_softmax

    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    return masked_softmax(scores, causal_mask(len(q[0]))) @ v


held = {
    name: numpy_peak(lambda f=f: long_reader.logits_with(model, text[:-1], f)) / 2**20
    for name, f in (("table", with_table), ("tiles", in_tiles))
}

# %% tags=["nbval-ignore-output"]
print({name: f"{mebibytes:.0f} MiB" for name, mebibytes in held.items()})
assert held["table"] > 8 * held["tiles"]

# %% [markdown]
# (If yours holds more than 20 MiB, it makes the scores of all keys at once.)
#
# Back to the question from the start. By its operations, attention is cheap for a page.
# It was slow because of a table that one can do without, and today's programs mostly don't
# make it. What has changed since 2017 is not the formula. What attention costs depends on
# what you count, and what you wait for is often the moving, not the computing.

# %% [markdown]
# ## In three lines
#
# - Operations are one cost, moving numbers is another. Which one matters has to be
#   measured.
# - Attention needs no table: a running maximum, a sum and an output are enough, exactly.
# - That is FlashAttention: a few more operations (in the backward pass), but far less memory
#   and memory traffic.
#
# **What you can read now:** Dao et al. (2022), sections 2 and 3; Dao (2023); Shazeer
# (2019); Ainslie et al. (2023); Triton's tutorial [Fused
# Attention](https://triton-lang.org/main/getting-started/tutorials/06-fused-attention.html).
#
# **An open question:** everything works now. But would you notice if it didn't? Lesson
# 16.

# %% [markdown]
# ## Going further
#
# Each section below stands alone and can be skipped; no later lesson's core needs it.
# The first two stay with tiles. *What is counted* and *In seconds* compare attention
# with recurrence and convolution, as the paper's table 1 does. *A kernel for a GPU* and
# *What PyTorch does* are for those who have to make a model faster, *The cache* and *A
# window* for those who run one.

# %% [markdown]
# ## A softmax in blocks
#
# *A softmax in pieces* kept a maximum and a sum for a single row. Write it for arrays,
# and return the weights.

# %% [markdown]
# ### Exercise: online_softmax
#
# Keep two numbers for each row, and rescale the sum whenever the maximum grows.
#
# <details><summary>Hint 1</summary>
#
# The scores so far were 1 and 3, and now 5 comes. Without knowing 1 and 3, by what can
# you multiply the old sum?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Start with −∞ and 0 for every row (`keepdims=True` throughout). For each block, the new
# maximum is `np.maximum` of the old one and the block's. Multiply the old sum by e^(old −
# new), and add the block's exponentials, with the new maximum subtracted. After the loop
# both numbers are final, and the weights are computed as in every softmax.
#
# </details>

# %%
from course_lib.tiling import online_softmax  # exercise

# %%
check(online_softmax)

# %% [markdown]
# Try a few thousand scores, some of them huge, in blocks of several sizes:

# %%
many = rng.normal(scale=300, size=(3, 5000))
by_torch = torch.tensor(many).softmax(dim=-1).numpy()
for block in (1, 7, 128, 5000):
    gap = np.abs(online_softmax(many, block) - by_torch).max()
    print(f"block {block:4}: equal to 12 digits is {gap < 1e-12}")
    assert gap < 1e-12

# %% [markdown]
# ## Are tiles faster in NumPy?
#
# The memory of tiles is measured in the core. And their time? Each way was called twice
# in a row at n = 16,384: the second call can use the memory that the first one has
# given back.

# %%
ratios = {}
for call in ("second call", "first call"):
    plain, tiles = (
        np.median(memory.values(f"{name}, {call}"), axis=0)[-1]
        for name in ("plain", "tiles")
    )
    ratios[call] = tiles / plain
    print(f"{call}: tiles take {ratios[call]:.1f} times the time of the plain way")
assert ratios["second call"] > 1.3 and ratios["first call"] < 0.8

# %% [markdown]
# With memory at hand, tiles in NumPy lose, because each product and each `np.exp` still
# writes its result to memory and reads it again, in small portions, and Python calls
# every one of them. In the first call the plain way loses, because the operating system
# has to hand over a whole GiB and clear it first.
#
# Now measure the memory of your own function, for 4,096 positions. The course's needs a
# quarter of the plain way's; copies in float64, or of a mask, cost more:

# %% tags=["nbval-ignore-output"]
from course_lib.experiments.attention_memory import plain_attention
from course_lib.lessons.measuring import numpy_peak

q, k, v = rng.normal(size=(3, 4096, 64)).astype(np.float32)
plain_peak = numpy_peak(lambda: plain_attention(q, k, v))
tiled_peak = numpy_peak(lambda: tiled_attention(q, k, v, 128))
print(f"plain {plain_peak / 2**20:.0f} MiB, yours {tiled_peak / 2**20:.0f} MiB")
assert plain_peak > 1.2 * tiled_peak

# %% [markdown]
# ## What is counted
#
# A layer takes n vectors of d numbers each and makes n new ones. Four kinds of layers
# can pass information between positions:
#
# - **attention**: each position meets all n, in two products, q kᵀ and weights v;
# - attention in a **window**: the same two products, but each position meets only k
#   positions, its neighbours;
# - **recurrence** (lesson 08): one position after another,
#   $h_t = \tanh(x_t W_x + h_{t-1} W_h)$;
# - **convolution**: each position reads the k positions up to its own, with the same k
#   matrices everywhere, its *kernel*, which slides over the sequence.

# %% [markdown]
# Each multiplication and each addition counts as one operation, so a vector of d
# numbers times a (d, d) matrix costs 2d². Only the large products are counted;
# attention's projections are left out.

# %% [markdown]
# ### Exercise: flops
#
# Count a layer's operations by kind.
#
# <details><summary>Hint 1</summary>
#
# Multiplying an (a, b) by a (b, c) matrix takes 2 · a · b · c operations. Which
# products does each kind have, and how many of each? Which kinds have two?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Attention: q kᵀ is (n, d) by (d, n), and weights v is (n, n) by (n, d). With a window, k
# replaces the n of the keys, but is never more than n. Recurrence: two products of a
# vector with a (d, d) matrix, n times. Convolution: k such products, n times.
#
# </details>

# %%
from course_lib.costs import flops  # exercise

# %%
check(flops)

# %% [markdown]
# The base model of 2017 has d = 512.
#
# **Predict:** at n = 512, which of the two needs more operations in a layer?
#
# - [x] Both need the same number
# - [ ] Attention
# - [ ] Recurrence

# %%
for n in (64, 512, 4096):
    counts = {kind: flops(kind, n, 512) for kind in ("attention", "recurrence")}
    print(f"n = {n:5}: {counts}")
assert flops("attention", 512, 512) == flops("recurrence", 512, 512)

# %% [markdown]
# Attention needs 4n²d operations and recurrence 4nd², which is the same if n = d.
# Attention needs fewer for shorter sequences, recurrence for longer ones. The sentences
# to be translated had some 30 tokens, so n² cost little: the four projections of
# attention, left out here as in the paper, need 8nd² for every n.

# %% [markdown]
# ### Steps that wait, and the longest path
#
# The number of operations is only one cost. Table 1 of *Attention Is All You Need* has
# columns for two more:
#
# - **sequential operations**: how many steps have to wait for each other, however many
#   processors there are;
# - **maximum path length**: how many layers, or steps, information from the first position has to
#   pass through to reach the last one. The longer the path, the harder it is to learn (lesson 08).

# %% [markdown]
# ### Exercise: sequential_steps
#
# How many steps of one layer have to wait for each other, however many processors there
# are?
#
# <details><summary>Hint 1</summary>
#
# Give each position a processor of its own. Which of the four kinds lets all of them
# begin at once? What does position 5 of a recurrence have to know first?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two answers are enough: one number for the kind whose positions wait for each other,
# and 1 for the others, whatever n is.
#
# </details>

# %%
from course_lib.costs import sequential_steps  # exercise

# %%
check(sequential_steps)

# %% [markdown]
# In a causal convolution with k = 3, a position reads itself and the two before it. So
# after one layer, it knows of 3 positions.
#
# **Predict:** in a sequence of 1,025 positions, after how many layers does the last one
# know about the first?
#
# - [ ] 10
# - [ ] 342
# - [x] 512
# - [ ] 1,024

# %%
reached, layers = 1, 0  # how many positions the last one knows of
while reached < 1025:
    reached, layers = reached + 2, layers + 1
print(layers, "layers")
assert layers == 512

# %% [markdown]
# Each layer adds two positions, so it takes 1,024 / 2 layers. (342 is 1,025 / 3, rounded
# up, but only two of the three positions that a layer reads are new.)

# %% [markdown]
# ### Exercise: path_length
#
# How many steps lie between the first position and the last? For n = 1 the two are one
# position, and the answer is 0.
#
# <details><summary>Hint 1</summary>
#
# How many positions back does one layer reach, for a kernel of 3? How many for a window
# of 4? And how far is it from the first of n positions to the last: n, or one less?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Convolution and window go back k − 1 positions a layer: divide n − 1 by that, and
# round up with `math.ceil(a / b)`, or `-(-a // b)`. Attention needs one layer, but none
# for n = 1.
#
# </details>

# %%
from course_lib.costs import path_length  # exercise

# %%
check(path_length)

# %% [markdown]
# Here is the paper's table 1, computed by your functions for n = 1,024 and d = 512:

# %%
kinds = {"attention": 0, "recurrence": 0, "convolution": 3}  # k, where it counts
print("kind          operations  steps  path")
table = {}
for kind, k in kinds.items():
    table[kind] = path_length(kind, 1024, k), flops(kind, 1024, 512, k)
    steps = sequential_steps(kind, 1024, k)
    print(f"{kind:12} {table[kind][1]:11,} {steps:6} {table[kind][0]:5}")
assert table["attention"][1] == 2 * table["recurrence"][1]
assert table["convolution"][1] == 1.5 * table["recurrence"][1]
assert [path for path, _ in table.values()] == [1, 1023, 512]

# %% [markdown]
# Read it row by row:
#
# - **attention**: any two positions meet in one layer, at once. The price is n²;
# - **recurrence**: cheap for long sequences, but nothing can be done in parallel, and the
#   path is long;
# - **convolution**: also parallel, and linear in n. But whatever the text needs, a layer
#   sees only k positions, so it takes many layers to reach a distant word. If the kernel
#   has gaps (*dilated*), each layer multiplies the reach, and about log n layers are
#   enough: the paper's table has that case (as in ByteNet,
#   [2016](https://arxiv.org/abs/1610.10099)).

# %% [markdown]
# The O(1) in attention's row is sometimes quoted as the cost of a training step, but it
# stands for steps that *wait*. The operations grow with n², and even unlimited
# processors would need about log n steps for the sums, which the table does not count.

# %% [markdown]
# Your functions draw all this. **Move n and d:** where do the lines of attention and
# recurrence cross? Can a convolution need more operations than a recurrence?

# %%
names = {"attention": 0, "recurrence": 0, "convolution, k = 3": 3}


def over_sizes(count) -> dict:
    """Return a table (widths, lengths) of a cost for each kind of layer."""
    return {
        name: np.array(
            [[count(name.split(",")[0], n, d, k) for n in lengths] for d in widths]
        )
        for name, k in names.items()
    }


# %% [markdown]
# (A table for each cost, a row for each d, a column for each n.)

# %%
counted = {"operations": over_sizes(flops)}
waiting = over_sizes(lambda kind, n, d, k: sequential_steps(kind, n, k))
counted["steps that wait"] = waiting
counted["longest path"] = over_sizes(lambda kind, n, d, k: path_length(kind, n, k))

# %%
alt = "Attention's operations grow fastest with n, and cross recurrence's at n = d."
figures.costs_by_length(lengths, widths, counted, start=(512, 512), alt=alt)

# %% [markdown]
# ## In seconds
#
# The core of each kind of layer was timed on one processor, for one sequence of 32 to
# 4,096 positions (`course_lib/experiments/layer_costs.py`). The recurrence is PyTorch's
# own `nn.RNN`, whose loop is compiled.

# %%
from itertools import product

from course_lib.lessons.measuring import crossover

of_layers = record.read("layer_costs")
timed_lengths = of_layers.values("lengths")[0]
print(of_layers.made_with())

# %% [markdown]
# Each time is the median of three runs, each itself a median of several measurements:


# %%
def timed(name: str) -> np.ndarray:
    """Return the microseconds for each length or width, medians of three runs."""
    return np.median(of_layers.values(name), axis=0)


# %% [markdown]
# With d = 64, attention and recurrence have the same number of operations at n = 64.
#
# **Predict:** where does attention begin to take *longer* than recurrence?
#
# - [x] At a larger n
# - [ ] At n = 64
# - [ ] At a smaller n

# %%
crossings = {}
for d in (64, 256):
    pair = [timed(f"{kind}, d = {d}") for kind in ("attention", "recurrence")]
    crossings[d] = crossover(timed_lengths, *pair)
    attends, recurs = (each[timed_lengths.index(d)] for each in pair)  # at n = d
    print(f"d = {d}: from n = {crossings[d]:.0f} on; at n = d", end=" ")
    print(f"recurrence takes {recurs / attends:.0f} times as long")
assert 600 < crossings[64] < 800 and 600 < crossings[256] < 800

# %% [markdown]
# The numbers of operations are equal, but the times are far apart: at n = d = 64 the
# recurrence takes eight times as long, because its 64 steps are small products that wait
# for each other, and each has to be started separately. With d = 256 the products are
# larger, and the crossing is nearer to n = d. (On a GPU, which wants thousands of things
# to do at once, the gap should be wider; we didn't measure it.)

# %%
series = {kind: timed(f"{kind}, d = 64") for kind in ("attention", "recurrence")}
for k in (3, 9):
    series[f"convolution, k = {k}"] = timed(f"convolution, k = {k}, d = 64")
axes = {"xlabel": "length n", "ylabel": "microseconds", "logarithmic": True}

# %%
alt = "Attention begins as the fastest and ends as the slowest, with the steepest line."
figures.curves(timed_lengths, series, **axes, alt=alt)

# %% [markdown]
# On logarithmic axes a power is a straight line, and its exponent is the slope. The
# formulas predict 2 for attention and 1 for the others.
#
# **Predict:** which exponent fits attention's time with d = 64, from n = 512 to 4,096?
#
# - [ ] Less than 2
# - [ ] Exactly 2
# - [x] More than 2

# %%
last = slice(timed_lengths.index(512), None)
exponents = {}
for name, d in product(series, (64, 256)):
    times = timed(f"{name}, d = {d}")[last]
    exponents[name, d] = fitted_exponent(timed_lengths[last], times)
    print(f"{name:19} d = {d:3}: {exponents[name, d]:.1f}")
assert min(exponents["attention", d] for d in (64, 256)) > 2.1
assert round(exponents["attention", 64], 1) == 2.4
assert all(0.8 < e < 1.1 for (name, _), e in exponents.items() if name != "attention")

# %% [markdown]
# The times of recurrence and convolution grow as the formulas say, but attention's grows
# faster. Its operations grow exactly with n²; the likely reason for the rest is its
# table, which outgrows the fast memory (*What a processor waits for*).
#
# So *quadratic* alone doesn't mean *slower*: an exponent says how time grows, not how
# long it is, and with d = 64, attention is ahead up to about 700 tokens.

# %% [markdown]
# How does the time grow with d, at n = 512? The formulas predict the exponent 1 for
# attention (4n²d) and 2 for the others (d²).

# %%
for kind in series:
    by_width = timed(f"{kind}, by d")[-3:]
    exponent = fitted_exponent(of_layers.values("widths")[0][-3:], by_width)
    print(f"{kind:19} {exponent:.1f}, from d = 256 to 1,024")
    exponents[kind, "d"] = exponent
assert 0.9 < exponents["attention", "d"] < 1.1 < 1.6 < exponents["recurrence", "d"] < 2

# %% [markdown]
# ## A kernel for a GPU
#
# Each of PyTorch's operations reads from the large memory and writes to it. To choose the
# memory yourself, you write a **kernel**: here, a program that the GPU runs many times at
# once. The language Triton (Tillet et al. 2019) makes kernels look like NumPy.
#
# The course has one for attention, forward and backward
# (`course_lib/nn/flash_kernels.py`). This is the inner loop of its forward pass:

# %%
from pathlib import Path
from textwrap import dedent

import course_lib.nn

kernels = (
    Path(course_lib.nn.__file__)
    .with_name("flash_kernels.py")
    .read_text(encoding="utf-8")
)
start = kernels.index("            higher = tl.maximum(largest")
end = kernels.index("\n", kernels.index("            largest = higher", start))
print(dedent(kernels[start:end]))

# %% [markdown]
# Compare it with `tiled_attention`, line by line:
#
# | kernel | NumPy |
# |---|---|
# | `tl.maximum`, `tl.max`, `tl.sum` | `np.maximum`, `.max`, `.sum` |
# | `tl.exp2` | `np.exp`: a GPU has an instruction for powers of 2, so the scores were multiplied by log₂ e |
# | `largest`, `total`, `output` | the maximum, the sum and the output so far |
# | `factor` | e^(old maximum − new maximum) |
# | `product(…, v_block)` | `@` |
#
# `scores` holds one tile, in the processor's registers, its nearest memory. Each block of
# queries is a program of its own, because queries don't wait for each other.

# %% [markdown]
# Triton compiles kernels for a GPU. It also has an interpreter, which runs them on any
# processor, very slowly. That is enough to compare the kernel with your function, if
# Triton is installed. (On Linux: pip's `attention-course[kernel]`, 286 MB. Nothing in the
# course needs it.)

# %% tags=["nbval-ignore-output"]
import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
from course_lib.nn.flash import flash_attention

q, k, v = rng.normal(size=(3, 1, 2, 40, 16)).astype(np.float32)
try:
    kernel_output = flash_attention(*map(torch.tensor, (q, k, v)), causal=False)
    gap = np.abs(kernel_output.numpy() - tiled_attention(q, k, v, 16)).max()
    print("The kernel gives the same as yours:", bool(gap < 1e-5))
except (ImportError, RuntimeError) as fault:
    print(fault)

# %% [markdown]
# How fast is the kernel on a GPU? That was **not measured** for this lesson, because
# there was no GPU. If you have one, measure it against PyTorch's own with
#
# ```
# python -m tests.benchmarks flash
# ```

# %% [markdown]
# Two figures in the paper's measurements (*On a GPU*) don't add up. For standard attention
# it prints 66.6 billion operations. Count them by hand: two products forward and four
# backward, each of 2n²d_k operations, in 64 texts with the 16 heads of one layer.

# %%
products = 6 * 2 * 1024**2 * 64 * (16 * 64)
print(f"counted by hand: {products / 1e9:.0f} billion")
assert round(products / 1e9) == 825 and round(7 / 6, 2) == 1.17

# %% [markdown]
# Neither 66.6 nor FlashAttention's 75.2 fits the 64 texts. But their ratio is near what one
# expects: a seventh product, q kᵀ again, is 17 % more.

# %% [markdown]
# ## What PyTorch does
#
# `functional.scaled_dot_product_attention` chooses among several **backends**. On a CPU
# there are two: `flash`, by tiles, and `math`, the plain one with its table. On a GPU
# there are two more, `efficient` and `cudnn`. Which of them runs depends on what you ask
# for. Try it:

# %%
from functools import partial

from torch.nn.attention import SDPBackend

from course_lib.experiments.sdpa_backends import runs_with

small_q = torch.randn(1, 2, 64, 16)
any_mask = torch.rand(64, 64) < 0.5
options = {
    "plain": {},
    "causal": {"is_causal": True},
    "any mask": {"attn_mask": any_mask},
}
options["dropout"] = {"dropout_p": 0.1}
by_tiles = {}
for name, more in options.items():
    call = partial(functional.scaled_dot_product_attention, *(3 * [small_q]), **more)
    by_tiles[name] = runs_with(call, SDPBackend.FLASH_ATTENTION)

# %% [markdown]
# (`runs_with` chooses a backend with `torch.nn.attention.sdpa_kernel` and returns whether
# it can.) For which calls must PyTorch fall back on the plain way with its table?

# %%
print(by_tiles)
assert by_tiles == {"plain": True, "causal": True, "any mask": True, "dropout": False}

# %% [markdown]
# For dropout only, on a CPU and with PyTorch 2.13. On a GPU, `flash` refuses all masks
# but the causal one, yet accepts dropout. So measure on your own machine, with your own
# options.

# %% [markdown]
# How much does it matter? Here are eight heads of 64 numbers and 2,048 tokens
# (`course_lib/experiments/sdpa_backends.py`):

# %%
backends = record.read("sdpa_backends")


def cost(name: str) -> tuple[float, float]:
    """Return milliseconds and MiB at most, medians of three runs."""
    runs = backends.values(name)
    return tuple(
        float(np.median([run[u] for run in runs])) for u in ("milliseconds", "MiB")
    )


ratios = [a / b for a, b in zip(cost("math, plain"), cost("flash, plain"), strict=True)]
print(
    f"math: {ratios[0]:.1f} times the time of flash, {ratios[1]:.0f} times its memory"
)
assert 2.5 < ratios[0] < 3.5 and 60 < ratios[1] < 66

# %% [markdown]
# A causal mask blocks half of the table.
#
# **Predict:** with which backend does `is_causal=True` save time?
#
# - [x] With flash only
# - [ ] With math only
# - [ ] With both
# - [ ] With neither

# %%
shares = {}
for name in ("flash", "math"):
    shares[name] = cost(f"{name}, causal")[0] / cost(f"{name}, plain")[0]
    print(f"{name}: causal takes {shares[name]:.1f} times the time of plain")
assert 0.55 < shares["flash"] < 0.7 and 0.97 < shares["math"] < 1.05

# %% [markdown]
# Flash leaves out the tiles in which nothing is open, whereas math computes them and
# blocks them afterwards.

# %% [markdown]
# `nn.MultiheadAttention` has an option `need_weights`, True by default, which returns the
# weights as well as the output.
#
# **Predict:** what does it cost to ask for them?
#
# - [ ] Nothing, because they are computed anyway
# - [ ] Time, but no memory
# - [x] Both time and memory

# %%
pair = cost("with weights"), cost("without weights")
times = [a / b for a, b in zip(*pair, strict=True)]
print(f"with weights: {times[0]:.1f} times the time, {times[1]:.0f} times the memory")
assert 1.7 < times[0] < 2.2 and 10 < times[1] < 12

# %% [markdown]
# Weights that are returned have to be in a table first, even if nobody reads them. So set
# `need_weights=False` where you don't need them.

# %% [markdown]
# Other masks than the causal one have tiles in which nothing is open, too.
# *FlexAttention* (Dong et al. 2024), in PyTorch as `torch.nn.attention.flex_attention`,
# takes a function of two positions that says whether a key is open (or one that changes
# a score), compiles it into the loop over tiles, and leaves such tiles out. So in the
# count, no mask is read from memory, and the operations fall to the share of tiles
# that are left. That isn't the share of open keys:

# %%
positions = torch.arange(2048)
distances = positions[:, None] - positions
causal = distances >= 0
masks = {"causal": causal, "the last 64 keys": causal & (distances < 64)}
masks["every 64th key"] = positions.expand(2048, -1) % 64 == 0
tiles_left = {}
for name, mask in masks.items():
    tiles = mask.unflatten(1, (16, 128)).unflatten(0, (16, 128))  # 128 × 128 each
    tiles_left[name] = tiles.any(dim=3).any(dim=1).float().mean().item()
    open_keys = mask.float().mean()
    print(f"{name:16} {open_keys:.1%} of keys, {tiles_left[name]:.0%} of tiles")
assert tiles_left["every 64th key"] == 1 and tiles_left["the last 64 keys"] == 31 / 256

# %% [markdown]
# What is scattered saves nothing.
#
# *FlashAttention-3* (Shah et al. 2024) changes neither count: as many multiplications,
# and as many numbers moved. It changes who waits. An H100, a GPU of 2022, has units for
# matrix products, and others for exponentials that are about 250 times slower; under
# FlashAttention-2 the first were used to 35 %. Version 3 lets them multiply while
# the softmax of another tile is computed and the next tile is on its way: up to 75 %,
# the paper says. It can also take numbers of 8 bits (FP8). Then q, k and v have half
# the bytes and the products run up to twice as fast, but their rounding is coarser.

# %% [markdown]
# ## The cache
#
# While a model writes, there is one new query at a time, and no table at all. What is
# large now is the **cache** of keys and values (lessons 11 and 12). How large?

# %% [markdown]
# ### Exercise: kv_cache_bytes
#
# Count the bytes of the keys and values of all layers.
#
# <details><summary>Hint 1</summary>
#
# What is stored for one token, in one layer, by one head: how many vectors, and of how
# many numbers? Which heads count, those of the queries or of the keys?
#
# </details>
# <details><summary>Hint 2</summary>
#
# It is one product of all six arguments and one more number, because keys *and* values
# are stored.
#
# </details>

# %%
from course_lib.costs import kv_cache_bytes  # exercise

# %%
check(kv_cache_bytes)

# %% [markdown]
# A layer can have a head of keys and values for each head of queries (**multi-head**),
# for each group of them (**grouped**, Ainslie et al. 2023), or one for all
# (**multi-query**, Shazeer 2019). These sizes were published for GPT-3 (Brown et al.
# 2020), Llama 2 ([2023](https://arxiv.org/abs/2307.09288)), Mistral (Jiang et al. 2023)
# and PaLM (Chowdhery et al. 2022).

# %%
published = {  # layers, heads of queries, heads of keys and values, d_k
    "GPT-3, 175 billion": (96, 96, 96, 128),
    "Llama 2, 70 billion": (80, 64, 8, 128),
    "Llama 2, 7 billion": (32, 32, 32, 128),
    "Mistral, 7 billion": (32, 32, 8, 128),
    "PaLM, 540 billion": (118, 48, 1, 256),
}

# %% [markdown]
# **Predict:** how large is the cache of PaLM, with 540 billion parameters, compared
# with the cache of Llama 2 with 7 billion?
#
# - [x] A quarter
# - [ ] About as large
# - [ ] About 30 times as large

# %%
caches = {}
for name, (layers, heads, kv_heads, d_k) in published.items():
    own, all_heads = (kv_cache_bytes(2048, layers, h, d_k) for h in (kv_heads, heads))
    caches[name] = own
    print(f"{name:20} {own / 1e9:5.2f} GB, multi-head {all_heads / 1e9:5.2f} GB")
assert round(caches["PaLM, 540 billion"] / caches["Llama 2, 7 billion"], 2) == 0.23
assert round(caches["GPT-3, 175 billion"] / 1e9, 1) == 9.7

# %% [markdown]
# That is for 2,048 tokens of one text, in numbers of two bytes. A server that writes 64
# texts at once needs 64 times as much: for GPT-3, 618 GB, nearly twice its parameters
# (350 GB). So the cache decides how many users share a GPU.

# %%
at_once = kv_cache_bytes(2048, 96, 96, 128, batch=64)
print(f"{at_once / 1e9:.0f} GB, parameters {175 * 2} GB")
assert round(at_once / 1e9) == 618

# %% [markdown]
# And the time? A model with 8 heads, d_model 256 and four layers was timed with a cache
# of 64 to 16,384 tokens (`course_lib/experiments/token_times.py`).
#
# **Predict:** after 16,384 tokens, the cache is 64 times as large as after 256. How many
# times as long does one token take?
#
# - [x] Fewer than 64 times: the parameters are read too, however small the cache is
# - [ ] 64 times, because the time grows with what is read
# - [ ] More than 64 times, because the scores grow with n²

# %%
tokens = record.read("token_times")
of_heads = {
    f"{h} heads": np.median(tokens.values(f"{h} heads"), axis=0) for h in (8, 2, 1)
}
of_heads["1 head"] = of_heads.pop("1 heads")
for name, milliseconds in of_heads.items():
    print(f"{name} of keys and values: {milliseconds[-1] / milliseconds[1]:.0f} times")
times = of_heads["8 heads"][-1] / of_heads["8 heads"][1]
reading = np.median(tokens.values("8 heads, attending"), axis=0)[-1]
longest = of_heads["8 heads"][-1]
print(f"8 heads: {longest:.0f} milliseconds, {reading:.0f} of them attention")
assert 29.5 < times < 60.5 and reading < longest / 5

# %%
alt = "With 8 heads the time rises from about a thousand tokens on; with 1 much later."
axes = {"xlabel": "tokens in the cache", "ylabel": "milliseconds", "logarithmic": True}
figures.curves(tokens.values("lengths")[0], of_heads, **axes, alt=alt)

# %% [markdown]
# Writing a token is a product with b = 1, so it waits for memory. Attention reads the
# whole cache, but that is the smaller part here: to append a token, this model *copies*
# its cache into fresh memory (`torch.cat`). Programs that serve many users reserve the
# memory once. While the cache is small, reading the parameters takes longer, and the
# length barely matters. With fewer heads of keys and values there is less to copy and to
# read, though as many scores are computed as before (lesson 12).

# %% [markdown]
# ## A window
#
# What if a token attends only to its neighbours? With a **sliding window** of width w,
# position i attends to itself and to the w − 1 positions before it. Operations and table
# then grow with n · w instead of n², and the cache stops growing at w tokens.

# %% [markdown]
# ### Exercise: sliding_window_mask
#
# Turn `causal_mask`'s triangle into a band.
#
# <details><summary>Hint 1</summary>
#
# In terms of i and j, how far is key j behind query i? Between which two numbers does
# that distance lie in a window of width 1, and of width 3?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A column of positions minus a row of positions, `np.arange(n)[:, np.newaxis] -
# np.arange(n)`, holds all n × n distances. A key is open if its distance is neither
# negative nor too large: two comparisons, joined by `&`. The first rows need no special
# care.
#
# </details>

# %%
from course_lib.masks import sliding_window_mask  # exercise

# %%
check(sliding_window_mask)

# %% [markdown]
# One layer reaches w positions, itself included. Its neighbours have read *their*
# neighbours, so a second layer reaches further.
#
# **Predict:** with w = 4 and four layers, how many positions does the last one know
# about?
#
# - [ ] 4
# - [x] 13
# - [ ] 16
# - [ ] 256

# %%
may_attend = sliding_window_mask(24, 4).astype(int)
for n_layers in (1, 2, 3, 4):
    known = np.linalg.matrix_power(may_attend, n_layers)[-1] > 0
    print(f"{n_layers} layers: {known.sum()} positions")
assert known.sum() == 4 * (4 - 1) + 1

# %% [markdown]
# A product of two masks counts the ways from one position to another via one in between.
# As in a causal convolution, L layers reach L · (w − 1) positions back. Mistral 7B has 32
# layers and windows of 4,096 (Jiang et al. 2023, table 1):

# %%
reach, fewer = 32 * (4096 - 1), 131_072 / 4096
print(f"reach: {reach:,} positions")
print(f"131,072 tokens: {fewer:.0f} times fewer operations")

# %% [markdown]
# That something *can* travel so far doesn't mean that it does: whether a model learns to
# use 32 layers for it has to be measured. Longformer (Beltagy et al. 2020) gives some
# tokens the whole sequence; GPT-3 alternates layers with and without a window (Brown et
# al. 2020, section 2.1), so that its cache may be smaller than the one above.

# %% [markdown]
# The model of *Two thousand tokens without a table* learned from 64 tokens at a time and
# then read 2,048. What helps it more in the second half of the text: attending to
# everything before, or to a window of 64?
#
# **Predict:** which way is its loss lower?
#
# - [ ] With everything before
# - [x] With the window
# - [ ] Neither: it is about the same


# %%
def in_window(q, k, v, width: int = 64, size: int = 128) -> np.ndarray:
    """Attend in tiles to the last tokens only, as many as the window is wide."""
    outputs = []
    for i in range(0, q.shape[1], size):
        end, first = i + size, max(0, i - width + 1)
        may_attend = sliding_window_mask(end - first, width)[i - first :]
        tile = q[:, i:end], k[:, first:end], v[:, first:end]
        outputs.append(mine["tiled_attention"](*tile, size, may_attend))
    return np.concatenate(outputs, axis=1)


# %% tags=["nbval-ignore-output"]
losses = {}
for name, attend in (("everything before", in_tiles), ("a window of 64", in_window)):
    logits = long_reader.logits_with(model, text[:-1], attend)
    each = functional.cross_entropy(logits, text[1:], reduction="none")
    losses[name] = each[1024:].mean().item()
    print(f"{name}: {losses[name]:.2f} nats per token,", end=" ")
    print(f"{each[:64].mean():.2f} for the first 64")
assert losses["a window of 64"] < losses["everything before"] - 0.4

# %% [markdown]
# The likely reason is that the model never met distances beyond 63, or so many keys at
# once. Rotary positions (lesson 05) can be computed for any distance, but its heads
# learned only these. (Models for long texts are trained further on such texts, with
# rescaled angles, as in YaRN: [Peng et al. 2023](https://arxiv.org/abs/2309.00071).) The
# window keeps to what was learned, and is cheaper: 32 times fewer operations, and a cache
# of 64 tokens instead of 2,048.

# %% [markdown]
# ## What is not here
#
# Three more ideas you will meet:
#
# - **Linear attention** (Katharopoulos et al. 2020) replaces e^(q · k) by f(q) · f(k), so
#   that one sum over the keys serves all queries, and time grows with n. It is a
#   different function.
# - **Paging** (Kwon et al. 2023) keeps the cache of many texts in blocks, as an operating
#   system manages its memory, so that none lies reserved and unused.
# - **Speculative decoding** (Leviathan et al. 2023): a small model writes some tokens
#   ahead, and the large one reads them all at once and keeps as many as its own
#   probabilities allow. On a GPU, reading five takes barely longer than one, because both
#   wait for the parameters.

# %% [markdown]
# More has followed since. *Latent attention*, MLA ([DeepSeek-V2,
# 2024](https://arxiv.org/abs/2405.04434)), caches one short vector per token (and a
# small rotary part that all heads share), from which all heads' keys and values are
# computed. And *state-space models* such as Mamba ([Gu and Dao
# 2023](https://arxiv.org/abs/2312.00752)) replace the cache by a state of fixed size,
# often with some layers of attention in between.
