# %% [markdown]
# # Attention since 2023
#
# **What is left of the formula of 2017?**
#
# After this lesson you can
#
# - keep the scores of a model small while it trains;
# - let a head attend to nothing;
# - stretch rotary positions to longer texts, and say what that doesn't solve;
# - attend over a cache that holds neither keys nor values;
# - write attention as a recurrence, and say what its state forgets;
# - in *Going further*: correct a state, choose blocks of keys, send tokens to experts.
#
# **About 85 minutes, and 50 more in *Going further*.** You need lessons 01, 04, 05 and, for
# what a cache is, 12.

# %%
from autograder import check

import math

import numpy as np

from course_lib import figures
from course_lib.attention import softmax
from course_lib.experiments import record

# %% [markdown]
# ## A question to carry through the lesson
#
# $$\text{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# This formula has five parts: queries and keys, a scale, a softmax, the positions inside
# Q and K, and the values. Published language models have since changed each of the five.
# **Which part would you change first, and why?**
#
# Every change answers a problem. So each section begins with the problem and with a number
# that shows it in a model of our size. Our models are tiny, and no model has all the
# changes: a table at the end says who has which.

# %% [markdown]
# ## Scores that grow
#
# Nothing in the formula keeps a score small. √d_k divides by what the dot product of *random*
# vectors would be (lesson 01). But the matrices that make queries and keys are learned, and if
# both become ten times as large, each score becomes a hundred times as large.

# %%
from course_lib.attention import softmax_jacobian

three_scores = np.array([1.0, 2.0, 3.0])
for times in (1, 10, 100):
    shares = softmax(times * three_scores)
    slope = np.linalg.norm(softmax_jacobian(shares))
    print(f"{times:3} times: largest weight {shares.max():.5f}, derivative {slope:.1e}")
assert slope < 1e-40

# %% [markdown]
# A softmax of scores that lie far apart has one weight of 1, and no gradient. A head in that
# state can hardly learn its way back.
#
# Does this happen? Three small models learn to repeat 16 letters from an alphabet of 16, at a
# high learning rate (`course_lib/experiments/score_growth.py`). One has the formula of 2017. In the second, the
# scores are **capped**: they cannot leave the range from −20 to 20. In the third, queries and keys
# are **normalised** (QK-norm). All else is equal.
#
# **Predict:** the learning rate is 0.06. Which models learn to repeat?
#
# - [ ] All three
# - [x] The two with a change
# - [ ] Only the one with normalised queries and keys

# %%
growth = record.read("score_growth")
changes = ("plain", "soft cap", "QK-norm")
at = growth.values("learning rates")[0].index(0.06)
for name in changes:
    final = [values[at] for values in growth.values(name)]
    score = np.median(
        [values[at] for values in growth.values(f"{name}, largest score")]
    )
    print(f"{name:8}: losses {final}, largest score {score:,.0f}")
    assert (min(final) > 2) if name == "plain" else (max(final) < 0.1)

# %%
alt = "The plain model's loss stays above 2; the other two fall to 0."
by_name = {name: growth.values(f"{name}, losses")[0] for name in changes}
axes = {"xlabel": "steps", "ylabel": "loss (nats)"}
figures.curves(growth.values("steps")[0], by_name, **axes, alt=alt)

# %% [markdown]
# The two with a change learn to repeat. The plain model ends near chance, ln 16 = 2.8: its
# scores reach the thousands, and it doesn't come back. At 0.003 all three learn; at 0.1 the
# capped one guesses with all three seeds, the normalised with one. So the changes make no better
# model here, but a run less fragile. Dehghani et al. (2023) met growing scores in
# a large model; Wortsman et al. (2023) found them in small ones at high learning rates.
#
# A **soft cap** takes one line (Gemma 2 has it, with a cap of 50). It bends the scores by tanh,
# the hyperbolic tangent, which is near x for small x and stays between −1 and 1:

# %%
cap = 20.0
many_scores = np.array([-300.0, -5.0, 0.0, 5.0, 20.0, 300.0])
print((cap * np.tanh(many_scores / cap)).round(2))

# %% [markdown]
# Small scores pass almost unchanged, large ones end at the cap. But where the curve is flat, a
# score has no gradient either. **QK-norm** acts earlier. Each query and each key is divided by
# its root mean square, as in RMSNorm (lesson 12), and multiplied by a learned *gain*, a number
# for each component.
#
# By hand: the query (3, 4) has the mean square (9 + 16) / 2 = 12.5, and the root of that
# is 3.54. So it becomes (0.85, 1.13), whose mean square is 1. And what does (300, 400) become?

# %%
for query in ([3.0, 4.0], [300.0, 400.0]):
    print((query / np.sqrt(np.mean(np.square(query)))).round(2))

# %% [markdown]
# ### Exercise: qk_norm_scores
#
# Normalise each row of q and k, multiply by the gains, and compute scaled scores.
#
# <details><summary>Hint 1</summary>
#
# One root mean square belongs to one row. Which axis is averaged over, and what keeps the
# result divisible?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.sqrt((q**2).mean(axis=-1, keepdims=True))` has the shape (..., n, 1). After the norm and
# the gain, everything is as in `scaled_scores`, the division by √d_k too.
#
# </details>

# %%
from course_lib.attention_changes import qk_norm_scores  # exercise

# %%
check(qk_norm_scores)

# %% [markdown]
# How large can a score become now? A row with a root mean square of 1 has the length √d_k. Two
# of them have a dot product of at most d_k, and a score of at most √d_k, if the gains are 1.

# %%
rng = np.random.default_rng(0)
long_q, long_k = 1000 * rng.normal(size=(2, 500, 64))
bounded = qk_norm_scores(long_q, long_k, np.ones(64), np.ones(64))
print(f"largest of 250,000 scores: {np.abs(bounded).max():.1f}; √d_k = {64**0.5}")
along = qk_norm_scores(long_q[:1], long_q[:1], np.ones(64), np.ones(64))
print(f"score of a key along its query: {along.item():.1f}")
assert np.isclose(along, 8) and np.abs(bounded).max() < 8

# %% [markdown]
# The limit is reached only by a key that points along its query. Larger gains make sharper
# weights, but a gain is one vector for all tokens, and no token can outgrow the others.

# %% [markdown]
# ## A head with nothing to say
#
# The weights of a query sum to 1. So what does a head do that has nothing to add here, such as
# one that copies a name, at a comma? By hand: all scores are −10, as if to say *no*.

# %%
print(softmax(np.array([-10.0, -10.0, -10.0, -10.0])))

# %% [markdown]
# There is no way to say *no* to all: only differences of scores count. What do trained heads do?
# In the pretrained encoder of lesson 13, a sentence stands between two tokens that aren't words,
# `[CLS]` and `[SEP]`. They are two of 14 tokens or so.
#
# **Predict:** how much of their weight do words give to these two, over all 72 heads?
#
# - [x] About a half
# - [ ] About a seventh, their share of the tokens
# - [ ] Almost none, as they mean nothing

# %%
roles = record.read("head_roles").runs[0]
separators = np.array(roles["minilm, scores"]["separator"])  # (6 layers, 12 heads)
even = roles["minilm, uniform"]["separator"]
print(f"to the separators: {separators.mean():.0%}, by even weights {even:.0%}")
print(f"{(separators > 0.5).sum()} of {separators.size} heads give them over a half")
assert round(separators.mean(), 2) == 0.48 and (separators > 0.5).sum() == 25

# %% [markdown]
# About a half: a trained head needs something where its weight does no harm. Clark et al. (2019)
# call such attention a *no-op*. In language models it is often
# the *first* token of the text, whatever it is, because all later tokens can see it. Xiao et al.
# (2024) call it an **attention sink**. They showed what it is for: if a sliding window
# drops the first tokens, the loss of several models explodes; if it always keeps the first four,
# the loss is fine.
#
# So let a head rest: give it one more score, learned, that takes part in the softmax and
# has no key and no value. By hand, with a score of 0 for the sink:

# %%
powers = np.exp([-10.0, -10.0, -10.0, -10.0])
with_sink = powers / (powers.sum() + np.exp(0.0))
print(f"weights of {with_sink[0]:.5f}, in all {with_sink.sum():.4f}")

# %% [markdown]
# ### Exercise: sink_attention
#
# Compute attention in several heads, each with a sink of its own.
#
# <details><summary>Hint 1</summary>
#
# A softmax divides by a sum. Which one term comes into the sum, and which number must be
# subtracted in its exponent, so that nothing overflows?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `sink[:, np.newaxis, np.newaxis]` has the shape (n_heads, 1, 1). The maximum is the larger one of
# the row's largest score and the sink. Or append the sink as one more column of
# scores, take the softmax, and drop the column.
#
# </details>

# %%
from course_lib.attention_changes import sink_attention  # exercise

# %%
check(sink_attention)

# %% [markdown]
# The sink also mends something from lesson 04: a query that may attend to no key was 0/0 there.
# Now the sum is never 0.

# %%
one_head = rng.normal(size=(3, 1, 4, 8))
nothing_open = np.tri(4, k=-1, dtype=bool)  # a query may not attend to itself
output, weights = sink_attention(*one_head, np.array([0.0]), nothing_open)
print(weights[0].sum(axis=-1).round(2), "first output:", np.abs(output[0, 0]).max())
assert output[0, 0].tolist() == [0.0] * 8 and weights[0].sum(axis=-1).max() < 1

# %% [markdown]
# ## Farther than it was trained
#
# Rotary encoding (lesson 05) turns each pair of components by an angle that grows with the
# position. It can be computed for any position. Does it work for any?
#
# Lesson 05's model learned to attend three tokens back, from texts of 16 tokens. Here are its
# pairs: how often does each turn fully within these 16 tokens?

# %%
from course_lib.positions import rotary

d_k, trained = 32, 16
omega = 10000.0 ** (-np.arange(0, d_k, 2) / d_k)
turns = trained * omega / (2 * np.pi)
print("pairs 0 to 4:", turns[:5].round(2), f"last: {turns[-1]:.4f}")
assert (turns > 1).sum() == 2 and (turns < 0.1).sum() == 10

# %% [markdown]
# Two pairs make more than one full turn. Most don't make a tenth: of their circle, the model has
# seen a small piece. In a longer text they reach angles that never occurred in training.

# %%
longer = record.read("longer_texts")
lengths = longer.values("lengths")[0]
ways = ("as they are", "all divided", "by parts", "by parts, sharper")
accuracy = {way: np.median(longer.values(way), axis=0) for way in ways}
for n_tokens, share in zip(lengths, accuracy["as they are"], strict=True):
    print(f"{n_tokens:5} tokens: {share:.2f}")
assert accuracy["as they are"][0] == 1 and accuracy["as they are"][3] < 0.15

# %% [markdown]
# (These are medians over three seeds; 0.10 is chance.) For 64 tokens, four times as
# many, there is a plain remedy, **position interpolation** (Chen et al. 2023): divide all
# angles by 4. Then position 63 is turned like position 15.75, less than a token beyond the
# last one of training, 15.
#
# **Predict:** as it is, the model is right in 0.91 at 64 tokens. How good is it there with all
# angles divided by 4, without any more training?
#
# - [ ] Better than 0.91
# - [ ] About as good as that
# - [x] It guesses

# %%
for n_tokens, share in zip(lengths, accuracy["all divided"], strict=True):
    print(f"{n_tokens:5} tokens: {share:.2f}")
assert 0.07 < accuracy["all divided"][1] < 0.13

# %% [markdown]
# It guesses. *Three tokens back* is now an angle that used to mean *three quarters of a token
# back*, which no training text had. Chen et al. train their models further, for up to 1,000
# steps, and then it works.
#
# Does every pair need it? The two fastest have been round their circle more than once. They know
# every angle, and they tell neighbours apart. So divide only where pairs are slow. That is one of
# the ideas in YaRN (Peng et al. 2023): a pair that makes at least `fast` turns is kept, one that makes at
# most `slow` is divided, and between the two there is a ramp.

# %% [markdown]
# ### Exercise: stretched_frequencies
#
# Compute each pair's frequency: kept, divided, or a mix of both.
#
# <details><summary>Hint 1</summary>
#
# For each pair, one number says how much of the old frequency is kept: 0, 1 or something
# between. On which number of turns does it depend?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.clip((turns - slow) / (fast - slow), 0, 1)` is γ for all three cases. With it, the
# result is (1 − γ) · ω / factor + γ · ω.
#
# </details>

# %%
from course_lib.positions import stretched_frequencies  # exercise

# %%
check(stretched_frequencies)

# %% [markdown]
# With `slow=0.1` and `fast=1`, our two fastest pairs stay. (The paper's limits, 1 and 32, are for
# models that were trained on thousands of tokens.)

# %%
print((stretched_frequencies(32, 4.0, 16, slow=0.1, fast=1.0) / omega).round(2))

# %%
alt = "By parts falls later than the frequencies as they are; all divided is at chance."
axes_of = {"xlabel": "tokens", "ylabel": "share that is right", "logarithmic": True}
figures.curves(lengths, accuracy, **axes_of, alt=alt)

# %% [markdown]
# *By parts* is right more often at 64 and at 256 tokens, without any training. *By parts,
# sharper* also makes scores larger, since a softmax over more keys is flatter. For a text s times
# as long they are multiplied by (0.1 ln s + 1)², a formula that YaRN's authors fitted to measured
# losses: by 1.6 at 256 tokens, where s is 16, and by 2.0 at 1,024, where s is 64. But at 1,024
# tokens the model still fails.

# %%
for way in ways:
    print(f"{way:18}", accuracy[way].round(2))
larger = (0.1 * np.log(np.divide(lengths, trained)) + 1) ** 2
print("scores multiplied ", larger.round(2))
assert larger.round(1).tolist() == [1.0, 1.3, 1.6, 2.0]
assert accuracy["by parts"][2] > accuracy["as they are"][2] + 0.1
assert accuracy["by parts, sharper"][3] < 0.3

# %% [markdown]
# > **"Rotary positions extrapolate."** They can be *computed* for any position. In our model
# > that isn't the same. Published models with long contexts were mostly trained on long texts,
# > after their frequencies had been changed. Some are then stretched further without training:
# > Qwen3 from 32,768 tokens to four times as many, by YaRN and a second method.

# %% [markdown]
# ## A cache of short vectors
#
# While a model writes, it keeps the keys and values of all tokens (lesson 12). DeepSeek-V3
# ([2024](https://arxiv.org/abs/2412.19437)) has 61 layers of 128 heads, with 128 numbers in a
# key, not counting its rotary part, and in a value. How much memory would the keys and values of
# 100,000 tokens take, at two bytes a number?

# %%
all_keys_and_values = 2 * 61 * 128 * 128 * 100_000 * 2
print(f"{all_keys_and_values / 1e9:.0f} GB")
assert round(all_keys_and_values / 1e9) == 400

# %% [markdown]
# Lesson 12 let groups of heads share their keys and values. **Latent attention** (MLA,
# DeepSeek-AI 2024) shares something else: for each token, one short vector c is cached, of 512
# numbers for all heads, and every head makes its own key $c W_K$ and value $c W_V$ from
# it. With a small part for positions, 64 numbers more:

# %%
latent = 61 * (512 + 64) * 100_000 * 2
print(f"{latent / 1e9:.1f} GB, {all_keys_and_values / latent:.0f} times less")
assert round(all_keys_and_values / latent) == 57

# %% [markdown]
# But must all keys be made from the cache again, for each new token? No: a product of three
# can be bracketed either way.
#
# $$q \cdot (c\, W_K) = (q\, W_K^\top) \cdot c$$
#
# On the right, the matrix has been **absorbed** into the query. By hand, with one number in a
# key and two in a latent vector:

# %%
own_q, c, own_w = np.array([2.0]), np.array([3.0, 5.0]), np.array([[1.0], [-1.0]])
print("key", c @ own_w, "score", own_q @ (c @ own_w))
print("absorbed query", own_q @ own_w.T, "score", (own_q @ own_w.T) @ c)
assert own_q @ (c @ own_w) == (own_q @ own_w.T) @ c == -4

# %% [markdown]
# **Predict:** with what is an absorbed score divided, so that the output is the same as with keys?
#
# - [x] √d_k, where a key has d_k components
# - [ ] √d_c, where a latent vector has d_c
# - [ ] Nothing, since W_K is learned

# %%
drawn_q, drawn_w = rng.normal(size=(10_000, 16)), rng.normal(size=(64, 16)) / 8
drawn_c = rng.normal(size=(10_000, 64))
by_keys = (drawn_q * (drawn_c @ drawn_w)).sum(axis=1)
by_absorbed = ((drawn_q @ drawn_w.T) * drawn_c).sum(axis=1)
print(f"variance {by_keys.var():.1f} and {by_absorbed.var():.1f}; d_k = 16, d_c = 64")
assert np.allclose(by_keys, by_absorbed) and 15 < by_keys.var() < 17

# %% [markdown]
# It is the same number, computed in another order, so it needs the same scale.
#
# The values get the same treatment: the weights mix the *latent vectors*, and the mixture is
# multiplied by $W_V$, once for each query.

# %% [markdown]
# ### Exercise: latent_attention
#
# Attend over latent vectors with absorbed queries, in all heads.
#
# <details><summary>Hint 1</summary>
#
# Which shape has q $W_K^\top$ in one head, and with which array is it compared? In which order
# are weights, latent vectors and $W_V$ multiplied, so that no value is ever made?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `q @ np.swapaxes(w_k, -1, -2)` gives all heads' absorbed queries, (n_heads, n, d_c), and
# `absorbed @ latents.T` the scores before scaling. The output is `weights @ latents @ w_v`.
#
# </details>

# %%
from course_lib.attention_changes import latent_attention  # exercise

# %%
check(latent_attention)

# %% [markdown]
# Is it equal to attention with keys and values? Here it is next to lesson 01's, head by head, with
# 1,000 cached tokens:

# %%
from course_lib.attention import attention

latents, new_q = rng.normal(size=(1000, 32)), rng.normal(size=(8, 1, 16))
w_k, w_v = rng.normal(size=(2, 8, 32, 16)) / 32**0.5
outputs, absorbed = latent_attention(new_q, latents, w_k, w_v)
pairs = zip(new_q, w_k, w_v, strict=True)
plain = np.stack([attention(q, latents @ k, latents @ v)[0] for q, k, v in pairs])
print(f"largest difference {np.abs(outputs - plain).max():.0e}")
assert np.abs(outputs - plain).max() < 1e-12

# %% [markdown]
# So it *is* multi-head attention. Cached are 32 numbers per token, from which 256 are made: 8
# heads × (16 in a key + 16 in a value). What it gives up is their freedom: stacked, all heads' keys
# are a matrix of rank 32 at most.
#
# Rotary positions don't fit in between: a rotation that depends on the token would stand between
# q and $W_K^\top$, and nothing could be absorbed once for all tokens. That is why DeepSeek's models keep a
# separate key of 64 rotated numbers, one for all heads. Each head has a rotated query for it, the
# two dot products are added, and the sum is divided by √(128 + 64).

# %% [markdown]
# ## A state instead of a cache
#
# A latent cache is shorter, and still grows with each token. Could there be one that doesn't
# grow? What stands in the way is the softmax. Without it, the formula is a product of three
# matrices, and again the brackets can move:
#
# $$(Q K^\top)\, V = Q\, (K^\top V)$$
#
# On the left, a table of n × n scores. On the right, a matrix of d_k × d_v: a sum with one term
# per token, its key as a column times its value as a row. By hand, two tokens:

# %%
two_keys, two_values = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[5.0], [3.0]])
state = two_keys.T @ two_values  # np.outer(key, value) for each, and their sum
print("state", state.ravel(), " asked with (0, 1):", np.array([0.0, 1.0]) @ state)
assert state.ravel().tolist() == [8, 3]

# %% [markdown]
# This is **linear attention**. (Katharopoulos et al. 2020 also make queries and keys positive by
# a function, and divide by the sum of the scores; later models often do neither.) A causal model
# adds one term per token, so it is a *recurrence*, like lesson 08's, and its state never grows. Often the state fades
# by a factor, the **decay**, at each step (Sun et al. 2023), so that what is near counts more.

# %% [markdown]
# ### Exercise: linear_attention
#
# Go from token to token: let the state fade, add to it, read it.
#
# <details><summary>Hint 1</summary>
#
# Three things happen for each token, in the docstring's order. Does a token's own value take part in
# its own output?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `k[..., i, :, np.newaxis] * v[..., i, np.newaxis, :]` is the product for token i, with all leading
# axes. `q[..., i, np.newaxis, :] @ state` has the shape (..., 1, d_v): join these along axis −2.
#
# </details>

# %%
from course_lib.linear_attention import linear_attention  # exercise

# %%
check(linear_attention)

# %% [markdown]
# In training, all tokens are there at once, and the form with the table runs in parallel. Do
# both give the same, decay included?

# %%
n = 200
q, k, v = rng.normal(size=(3, n, 16))
back = np.arange(n)[:, np.newaxis] - np.arange(n)
fading = np.where(back >= 0, 0.9 ** np.maximum(back, 0), 0)
as_table = (q @ k.T * fading) @ v
as_state, _ = linear_attention(q, k, v, np.zeros((16, 16)), 0.9)
print(f"largest difference {np.abs(as_table - as_state).max():.0e}")
assert np.abs(as_table - as_state).max() < 1e-6

# %% [markdown]
# The same function in two forms, one for training and one for writing. So is it as good as a
# softmax? A state of 16 × 16 numbers has to hold everything that was read.
#
# Lesson 02's stories again: each token is a noun with one of 8 colours, and the last one asks for
# a noun's colour. Now there are up to 64 nouns (`course_lib/experiments/recalled_pairs.py`).
#
# **Predict:** from 64 pairs, attention with a softmax recalls nearly every colour. And linear
# attention, with queries and keys of 16 numbers?
#
# - [ ] Nearly every colour, too
# - [x] About half of them
# - [ ] An eighth, as if it guessed

# %%
recalled = record.read("recalled_pairs")
kinds = ("softmax, d_k 16", "linear, d_k 64", "linear, d_k 16")
right = {kind: np.median(recalled.values(kind), axis=0) for kind in kinds}
for kind in kinds:
    print(f"{kind:16}", right[kind].round(2))
assert right[kinds[0]][4] > 0.98 and 0.4 < right[kinds[2]][4] < 0.65
assert right[kinds[1]][4] > right[kinds[2]][4] + 0.15

# %%
alt = "Softmax stays at 1; linear attention falls with the pairs, later if d_k is 64."
scales = {"xlabel": "pairs", "ylabel": "share that is right", "logarithmic": True}
figures.curves(recalled.values("pairs")[0], right, **scales, alt=alt)

# %% [markdown]
# About half: 0.54. In a sum, every stored value disturbs every other, by the dot product of their
# keys. 16 numbers have room for 16 keys at right angles. A larger state holds more (d_k 64), but any fixed
# one is full at some point. A cache of all tokens never is. Arora et al. (2023) studied
# language models with gated convolutions in place of attention: 82% of their gap to attention is
# such recall.
#
# So several published models mix the two: most layers have a state, and every fourth
# (Qwen3-Next) or eighth (MiniMax-01) has a cache.

# %% [markdown]
# ## Back to the question
#
# Who has what? These models were published until the end of 2025; the sources are linked. A dot
# means *not mentioned there as part of the model*, and other models differ.
#
# | model | scores | positions | cache | layers |
# |---|---|---|---|---|
# | [Gemma 2](https://arxiv.org/abs/2408.00118) (2024) | soft cap | rotary | grouped | local and global in turn |
# | [Gemma 3](https://arxiv.org/abs/2503.19786) (2025) | QK-norm | rotary | grouped | 5 local, 1 global |
# | [OLMo 2](https://arxiv.org/abs/2501.00656) (2024) | QK-norm | rotary | [grouped at 32B](https://huggingface.co/allenai/OLMo-2-0325-32B) | · |
# | [Qwen3](https://arxiv.org/abs/2505.09388) (2025) | QK-norm | rotary, YaRN | grouped | some with experts |
# | [BLOOM](https://arxiv.org/abs/2211.05100) (2022) | · | ALiBi | · | · |
# | [DeepSeek-V3](https://arxiv.org/abs/2412.19437) (2024) | norm of latents | rotary, YaRN | latent | experts |

# %% [markdown]
# And three that change more than one part of a layer:
#
# | model | scores | positions | cache | layers |
# |---|---|---|---|---|
# | [gpt-oss](https://arxiv.org/abs/2508.10925) (2025) | sink | rotary, YaRN | grouped | window every other layer; experts |
# | [Qwen3-Next](https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct) (2025) | [QK-norm](https://docs.nvidia.com/nemo/megatron-bridge/nightly/models/qwen/qwen3-next.html) | rotary, in part | state; grouped in every fourth layer | gated delta rule; experts |
# | [DeepSeek-V3.2](https://arxiv.org/abs/2512.02556) (2025) | [norm of latents](https://github.com/deepseek-ai/DeepSeek-V3.2-Exp) | rotary, YaRN | latent | learned choice of tokens; experts |

# %% [markdown]
# *Going further* has ALiBi (*A penalty for distance*), local layers (*Near and far in turn*), the
# gated delta rule (*Writing over*), a choice of tokens (*Choosing blocks*) and experts.
#
# So what is left of the formula? Queries are still compared with keys by dot products, and
# values are still mixed by what comes out: that is in every row. The scale has a norm before it
# or a bend behind it, the softmax a sink or none, the positions other angles, and keys and
# values are often shared by heads, or all made from one short vector. Each change has its price, and
# which one is worth it depends on what you measure: a loss, a cache, or recall.

# %% [markdown]
# ## In three lines
#
# - Scores are kept small by a norm or a cap, and a sink lets a head attend to nothing.
# - Rotary positions reach farther if the slow pairs are slowed down, but training on long
#   texts remains.
# - A cache shrinks if keys and values come from one short vector; a state doesn't grow at
#   all, and forgets.
#
# **What you can read now:** Wortsman et al. (2023), sections 1 to 3; Xiao et al. (2024); Peng
# et al. (2023), section 3; DeepSeek-AI (2024), section 2.1; Katharopoulos et al. (2020), section 3.
#
# **An open question:** each of these changes is a few lines, and a wrong line rarely
# raises an error. How would you notice? That is the next lesson.

# %% [markdown]
# ## Going further
#
# Each section below stands alone and can be skipped. *Writing over* continues the last section,
# *A penalty for distance*, *Near and far in turn* and *Choosing blocks* are about which keys
# count, and the last two are about what comes after attention: experts, and the choice of a token.

# %% [markdown]
# ## Writing over
#
# A key comes twice: first *cat* is black, then *cat* is white. Ask for *cat*:

# %%
cat = np.array([[1.0, 0.0], [1.0, 0.0]])
black_then_white = np.array([[1.0, 0.0], [0.0, 1.0]])
added, _ = linear_attention(cat, cat, black_then_white, np.zeros((2, 2)))
print("after black", added[0], "after white", added[1])
assert added[1].tolist() == [1, 1]

# %% [markdown]
# A sum holds both. The **delta rule** (Widrow and Hoff 1960; in linear attention, Schlag et al.
# 2021) first reads what is stored under the key, and adds only the *difference* to the new value.
# With a strength below 1, a part of it.

# %% [markdown]
# ### Exercise: delta_rule
#
# Read what is stored for the key, correct it, then read for the query.
#
# <details><summary>Hint 1</summary>
#
# What is stored under a key is found as any query finds it. Which difference is then
# to be added, and under which key?
#
# </details>
# <details><summary>Hint 2</summary>
#
# For token i: `key = k[..., i, np.newaxis, :]` has the shape (..., 1, d_k), so `key @ state` is
# what is stored, (..., 1, d_v). The product of the key as a column with the error is
# `np.swapaxes(key, -1, -2) * error`; a strength needs two new axes.
#
# </details>

# %%
from course_lib.linear_attention import delta_rule  # exercise

# %%
check(delta_rule)

# %% [markdown]
# Now 12 nouns, each of which gets a new colour four times. Only the last counts. Over 200 draws, a
# sum is right for 0.4 of the nouns, and the delta rule for all. Linear attention has its own way to
# forget, a decay.
#
# **Predict:** how good is a sum with a decay of 0.95?
#
# - [ ] About as good as the sum without
# - [ ] Half-way between that sum and the delta rule
# - [x] Nearly as good as the delta rule

# %%
hits = {"sum": 0, "decay 0.95": 0, "delta rule": 0}
for _ in range(200):
    nouns = np.linalg.qr(rng.normal(size=(16, 12)))[0].T  # 12 keys at right angles
    order = np.concatenate([rng.permutation(12) for _ in range(4)])
    colours = np.eye(8)[rng.integers(8, size=48)]
    tokens = nouns[order], nouns[order], colours, np.zeros((16, 8))
    states = {"sum": linear_attention(*tokens)[1]}
    states["decay 0.95"] = linear_attention(*tokens, 0.95)[1]
    states["delta rule"] = delta_rule(*tokens, np.ones(48))[1]
    last = dict(zip(order, colours.argmax(axis=1), strict=True))
    for name, memory in states.items():
        hits[name] += sum((nouns @ memory).argmax(1)[i] == last[i] for i in range(12))

# %%
of_all = {name: count / 2400 for name, count in hits.items()}
print({name: round(float(share), 2) for name, share in of_all.items()})
print(f"left after 47 tokens, by the decay: {0.95**47:.2f}")
assert of_all["delta rule"] == 1 and 0.35 < of_all["sum"] < 0.45
assert 0.95 < of_all["decay 0.95"] < 0.99 and round(0.95**47, 2) == 0.09

# %% [markdown]
# Nearly as good: a noun comes again within 23 tokens, and of its colours the newest has faded
# least. Only several old ones that are alike can outweigh it. But a decay doesn't know what is
# out of date. A noun that was named once, 47 tokens ago, has 9% of its colour left.
#
# With keys at right angles, the delta rule forgets exactly what is out of date. With more keys
# than d_k, each correction disturbs other keys, too. The gated form, with decay as well (Yang et
# al. 2024), is what Qwen3-Next has in three of four layers.

# %% [markdown]
# ## A penalty for distance
#
# ALiBi (Press et al. 2022) has no rotation: each head subtracts from its scores the
# distance times a slope, ½, ¼, … down to 1/256 for 8 heads. How much weight is left for the last
# 16 tokens, if all contents are alike?

# %%
slopes = 2.0 ** -np.arange(1, 9)
for n_keys in (64, 1024):
    distances = np.arange(n_keys)[::-1]  # of the last query
    near = softmax(-slopes[:, np.newaxis] * distances)[:, -16:].sum(axis=1)
    print(f"{n_keys:5} tokens:", near.round(2))
assert np.allclose(near[:3], [1, 0.98, 0.86], atol=0.01)

# %% [markdown]
# For steep slopes the length of the text doesn't matter, so nothing new happens beyond the
# trained length. The price is that these heads cannot attend to what is far. BLOOM has ALiBi; the other
# models in the table have rotary positions.

# %% [markdown]
# ## Near and far in turn
#
# A layer with a sliding window (lesson 14) caches only its window. Gemma 3's largest model
# has 62 layers, five with a window of 1,024 for each one that sees everything. What is left of the
# cache at 131,072 tokens?

# %%
n_global = 62 // 6
cached = n_global * 131_072 + (62 - n_global) * 1024
left = cached / (62 * 131_072)
print(f"{n_global} of 62 layers keep everything: {left:.0%} of the cache")
assert round(left, 2) == 0.17

# %% [markdown]
# ## Choosing blocks
#
# A window always drops what is far. Could a query choose? Scoring all keys to find the best
# would cost what attention costs. So score *blocks*: compare the query with the mean key of
# each block, and attend within the best ones (Lu et al. 2025; Yuan et al. 2025 learn
# the summary of a block, and add a window).
#
# Here are 64 blocks of 16 keys; keys in a block resemble each other, as in a text.

# %%
topics = rng.normal(size=(64, 1, 32))
block_keys = topics + 0.7 * rng.normal(size=(64, 16, 32))
query = topics[10, 0] + topics[50, 0]
true_weights = softmax((block_keys @ query / 32**0.5).ravel()).reshape(64, 16)
best = np.argsort(block_keys.mean(axis=1) @ query)[::-1]
for n_blocks in (1, 2, 4, 8):
    share = true_weights[best[:n_blocks]].sum()
    print(f"{n_blocks} of 64 blocks: {share:.0%} of the weight")
assert {*best[:2].tolist()} == {10, 50} and share > 0.9

# %% [markdown]
# Eight blocks of 64 have nearly all the weight, at the cost of 64 scores of means and 128 of keys
# instead of 1,024. If the keys in a block have nothing in common, their mean says
# nothing. DeepSeek-V3.2 chooses single tokens instead, by a small scorer that is trained for it
# and does score all tokens, but cheaply.

# %% [markdown]
# ## Experts next to attention
#
# Much of what has changed is in the other half of a layer. A **mixture of experts** (Shazeer et
# al. 2017) has many feed-forward networks and sends each token to k of them, by learned logits.
# Parameters grow with the experts, operations with k.

# %% [markdown]
# ### Exercise: route
#
# Choose k experts for each token, and count what each expert gets.
#
# <details><summary>Hint 1</summary>
#
# Which logit should an expert have that isn't chosen, so that a softmax gives it 0?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.argsort(-logits, axis=-1, kind="stable")[:, :k]` are the chosen experts; a mask is
# filled by `np.put_along_axis`. The load is the mask's sum over tokens, divided by its whole sum.
#
# </details>

# %%
from course_lib.routing import route  # exercise

# %%
check(route)

# %% [markdown]
# Nothing makes the load even. Let 8 experts have logits of which some are a little larger, and 1,000
# tokens go to 2 each. DeepSeek-V3 adds a bias for the *choice*
# only, not for the weights (there to sigmoids of the logits). After each batch it lowers it for
# experts with too much load, and raises it for the others:

# %%
logits = rng.normal(size=(1000, 8)) + np.linspace(0, 2, 8)
bias = np.zeros(8)
for step in range(61):
    load = route(logits + bias, 2)[1]
    bias -= 0.02 * np.sign(load - 1 / 8)
    if step % 20 == 0:
        print(f"step {step:2}: from {load.min():.3f} to {load.max():.3f}")
assert load.max() - load.min() < 0.03

# %% [markdown]
# The load evens out, without a term in the loss. (Others add such a term: Fedus et al. 2021.
# DeepSeek-V3 keeps a very small one, for each sequence.)

# %% [markdown]
# ## Min-p
#
# The last choice is that of a token. Lesson 12's top-p keeps the most probable tokens until they
# sum to p. **Min-p** (Nguyen et al. 2024) keeps all that have at least a share of the
# *largest* probability: few where the model is sure, many where it isn't.

# %%
sure = np.array([0.85, 0.05, 0.04, 0.03, 0.02, 0.01])
unsure = np.array([0.3, 0.25, 0.2, 0.15, 0.06, 0.04])
for name, p in (("sure", sure), ("unsure", unsure)):
    by_top_p = int((np.cumsum(p) - p < 0.9).sum())
    by_min_p = int((p >= 0.1 * p.max()).sum())
    print(f"{name:6}: top-p 0.9 keeps {by_top_p}, min-p 0.1 keeps {by_min_p}")
assert (by_top_p, by_min_p) == (5, 6)

# %% [markdown]
# Where the model is sure, top-p takes a second token to fill its sum; min-p doesn't. Where it is
# unsure, min-p keeps one more than top-p. Whether texts get better by it is disputed: Schaeffer et
# al. (2025) went through the authors'
# evidence again and conclude that it shows no advantage.
