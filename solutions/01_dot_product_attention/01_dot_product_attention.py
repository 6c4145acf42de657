# %% [markdown]
# # Dot-product attention
#
# **How can a vector look something up in a table of vectors?**
#
# After this lesson you can
#
# - write softmax and attention so that they hold for any shapes and any scores;
# - say what queries, keys and values do, and go through attention step by step;
# - show with a number why scores are divided by the square root of d_k;
# - name three ways of scoring a query against a key.
#
# **About 150 minutes.** You need lesson 00 (softmax by hand, `keepdims`, broadcasting) and,
# for one section, partial derivatives.

# %%
import numpy as np

from autograder import check
from course_lib import figures
from course_lib.lessons import pronoun
from course_lib.lessons.scale import scale_effect

# %% [markdown]
# ## A question to carry through the lesson
#
# *The animal didn't cross the street because it was too **tired**.*
#
# What is *it*? The animal. Now change one word:
#
# *The animal didn't cross the street because it was too **wide**.*
#
# Now *it* is the street. You knew at once, so something in you looked back from *it* to
# another word, and the last word decided which. At the end of this lesson four lines of
# your own code do the same, and the last picture shows it.

# %% [markdown]
# Where it leads: below is the Transformer, all of which you will have written by the end of
# lesson 09. Its three boxes called *attention* are what this lesson is about. **Point at a
# box**, or go from one to the next with the arrow keys: it says what it does. The words need
# not mean anything yet.

# %%
alt = "The Transformer's encoder and decoder; lit are softmax and the three attentions."
figures.lesson_map("01", alt=alt)

# %% [markdown]
# ## Looking something up
#
# A Python dictionary is a table with keys and values. A query finds a value if it *equals*
# a key.

# %%
legs = {"cat": 4.0, "bird": 2.0, "car": 0.0}
print(legs["cat"], legs.get("kitten"))

# %% [markdown]
# There is no kitten in the table, so the dictionary has no answer. You would have said: a
# kitten is nearly a cat, so about 4.
#
# Give every word two numbers: how **alive** it is and how well it **flies**. Now *nearly*
# has a meaning.

# %%
k = np.array([[3.0, 0.5], [2.5, 3.0], [0.5, 0.2]])  # keys: cat, bird, car
v = np.array([[4.0], [2.0], [0.0]])  # values: how many legs
q = np.array([[3.2, 0.1]])  # query: kitten

# %%
alt = "The arrow of kitten lies close to cat, far from bird, and car is a short arrow."
arrows = {"cat": k[0], "bird": k[1], "car": k[2], "kitten": q[0]}
figures.arrows_in_the_plane(arrows, xlabel="alive", ylabel="flies", alt=alt)

# %% [markdown]
# Three words, used from now on in every lesson:
#
# - the **query** is what we look for: the kitten's two numbers;
# - a **key** is what an entry of the table can be found by;
# - a **value** is what the entry hands out.
#
# To match a query with a key, multiply number by number and add up: the **dot product**.
# **Predict:** which key gets the largest one? Which the smallest?

# %%
scores = q @ k.T  # (1, 3): one row per query, one column per key
print(scores)

# %% [markdown]
# Notice that *cat* is ahead, but *bird* is not far behind, although its arrow points
# elsewhere: the bird's arrow is **long**.
#
# > **Popular error: "the dot product is a similarity between −1 and 1".** That is the
# > cosine. The dot product is the cosine times both lengths, so a long key gets a large
# > score from every query that points roughly its way.
#
# An experiment: make the bird's key 1.5 times as long and ask again who resembles the
# kitten most.

# %%
longer = k * np.array([[1.0], [1.5], [1.0]])
lengths = np.linalg.norm(q) * np.linalg.norm(longer, axis=-1)
cosines = (q @ longer.T) / lengths
print("dot products:", (q @ longer.T).round(2), "cosines:", cosines.round(2))
assert (q @ longer.T).argmax() == 1 and cosines.argmax() == 0
assert (q @ longer.T).max() > 1.0  # no similarity between −1 and 1

# %% [markdown]
# The dot product now prefers the bird; the cosine, which ignores lengths, still prefers
# the cat. By direction alone even the car, with 0.94, is nearly a kitten: only its short
# arrow tells them apart. Attention uses the dot product all the same: a learned key may
# *say* by its length that it matters.

# %% [markdown]
# ## From scores to weights
#
# Scores become shares with the softmax of lesson 00; the shares are called **weights**.
# There, a question was left open: what are the shares of the scores 1000, 999 and 998?
# Only the differences matter, so they must be those of 2, 1 and 0. **Predict** what the
# recipe gives.

# %%
with np.errstate(over="ignore", invalid="ignore"):
    large = np.exp([1000.0, 999.0, 998.0])
    print(large, "→", large / large.sum())

# %% [markdown]
# $e^{1000}$ is too large for a float, so it becomes `inf`, and `inf / inf` is not a number.
#
# The way out: subtracting the same number from all scores changes no share, because
# $e^{s-c} = e^{s} / e^{c}$ and the factor cancels. Subtract the **largest** score, and no
# power is larger than 1.

# %% [markdown]
# ### Exercise: softmax
#
# Write softmax along any axis, for scores of any size. The contract is in the docstring.
#
# <details><summary>Hint 1</summary>
#
# Which largest score: one for the whole array, or one for each row that is turned into
# weights? Think of a row around 0 next to a row around 10,000.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.max` and `np.sum` both take `axis` and `keepdims`. Leave x itself as it is: make a
# new array. Whole numbers may be small ones: in uint8, 1 − 2 is 255. `1.0 * x` makes
# floats of them.
#
# </details>

# %%
from course_lib.attention import softmax  # exercise

# %%
check(softmax)

# %% [markdown]
# Back to the kitten. **Predict** roughly how many legs the weighted mean of the values
# gives: the weights of cat, bird and car, times 4, 2 and 0.

# %%
weights = softmax(scores)
print("weights:", [f"{weight:.4f}" for weight in weights[0]])
print("legs:", (weights @ v).round(2))

# %% [markdown]
# About three and a half legs. Not an answer that a biologist would give, and a better one
# than `None`. Notice two things that a dictionary cannot do: every entry contributes a
# little, even the car, and the answer changes *smoothly* when the query does. Smooth means
# that it has a derivative, and what has a derivative can be trained: follow it downhill.
#
# > **Popular error: "attention is a weighted sum of the embeddings"** (of the vectors that
# > describe the words). It is a weighted sum of the **values**. Here a value is one number
# > and a key two: they need not even have the same size.

# %% [markdown]
# ## From one sentence to another
#
# The simplest form of attention learns nothing: two sentences, one vector per word, and
# each word of `x` **attends to** all words of `y`. It is a query that meets their keys and
# takes a weighted mean of their values. The vectors of `y` are keys and values at once:
#
# $$\text{scores} = x y^\top, \qquad \text{weights} = \text{softmax}(\text{scores}),
# \qquad \text{output} = \text{weights}\; y.$$
#
# Row i of the result is word i of `x`, retold with words of `y`.
#
# One thing about NumPy first. For a batch of sentences, `@` multiplies the tables in the
# last two axes, sentence by sentence. `y.T`, however, turns *all* axes around:

# %%
batch = np.zeros((2, 7, 4))
print(
    "y.T:", batch.T.shape, "np.swapaxes(y, -1, -2):", np.swapaxes(batch, -1, -2).shape
)

# %% [markdown]
# ### Exercise: similarity_attention
#
# Write the three formulas. Sentences may have different lengths, and there may be any
# number of axes in front.
#
# <details><summary>Hint 1</summary>
#
# What is the shape of the scores for a sentence x of n words and y of m words? Along which
# axis do the weights of one word of x lie?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Three lines, one per formula. In the first, exchange the last two axes of y only: see the
# cell above.
#
# </details>

# %%
from course_lib.attention import similarity_attention  # exercise

# %%
check(similarity_attention)

# %% [markdown]
# Try it on two sentences of three words, with vectors chosen by hand. The French
# sentence has another order of words.

# %%
english = np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]])  # the red car
french = np.array(
    [[3.0, 0.1, 0.0], [0.0, 0.2, 3.0], [0.1, 3.0, 0.3]]
)  # la voiture rouge
alignment = softmax(english @ french.T)
print(similarity_attention(english, french).round(2))

# %%
alt = "the attends to la, red to rouge, car to voiture: the lines cross."
names = ["the", "red", "car"], ["la", "voiture", "rouge"]
figures.attention_lines(alignment, *names, alt=alt)

# %% [markdown]
# Notice that *red* and *car* cross over: attention does not care where a word is.
#
# What if two words belong together without being alike? *it* and *animal* share no
# meaning, and no dot product of their meanings will join them. That is why queries and
# keys become vectors of their own, made by learned parameters in lesson 02.
#
# > **Popular error: "self-attention means learnable parameters".** *Self* means that a
# > sequence attends to itself. Whether anything is learned is another question; the
# > attention above learns nothing.

# %% [markdown]
# ## How large may a score be?
#
# Two random keys of 4 numbers have a dot product of perhaps 2; two of 512 numbers, of
# perhaps 20. If all numbers are independent, with mean 0 and variance 1, the dot product
# of two vectors of d_k numbers has **variance d_k**: each of the d_k products adds 1.
#
# Large scores make softmax decide hard: one weight near 1, the others near 0. What is bad
# about that? To see it, ask how the weights move when the scores move.

# %%
for size in (1.0, 4.0, 16.0):
    p = softmax(size * np.array([1.0, 0.5, 0.0]))
    pushed = softmax(size * np.array([1.0, 0.5, 0.0]) + np.array([0.0, 0.1, 0.0]))
    move = np.abs(pushed - p).max()
    print(f"scores times {size:4}: weights {p.round(3)}, moved by {move:.5f}")

# %% [markdown]
# The same push of 0.1 on one score moves a weight by 0.02, then by 0.01, then by almost
# nothing. All these derivatives together form the **Jacobian**: entry
# `[i, j]` says how weight i moves when score j moves. With weights $p$,
#
# $$\frac{\partial p_i}{\partial s_j} = \begin{cases} p_i (1 - p_i) & i = j \\
# -p_i\, p_j & i \neq j. \end{cases}$$
#
# A gradient on its way back through the softmax is multiplied by this matrix.

# %% [markdown]
# ### Exercise: softmax_jacobian
#
# Write the matrix for one row of weights, and for any number of axes in front.
#
# <details><summary>Hint 1</summary>
#
# Both cases in one formula: the diagonal matrix of the weights, minus the table of all
# products of two weights.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The table of all products is "every row with every row" of lesson 00, for the numbers of
# one row: give p an axis of length 1, once behind its last axis and once before it.
# `np.eye(n)` has ones on the diagonal and zeros elsewhere.
#
# </details>

# %%
from course_lib.attention import softmax_jacobian  # exercise

# %%
check(softmax_jacobian)

# %% [markdown]
# Now the experiment. Draw random queries and keys with d_k numbers, compute their scores,
# once raw and once divided by $\sqrt{d_k}$, and measure three things: the variance of the
# scores, the largest weight, and the size of the Jacobian (its Frobenius norm, the root of
# the sum of all squared entries). The last two are medians over 2,000 queries with 10 keys
# each: what a typical query sees.
#
# **Predict:** do gradients through the unscaled softmax *grow* or *shrink* with d_k?

# %%
sizes = [1, 4, 16, 64, 256, 512]
raw = [scale_effect(d_k, scaled=False) for d_k in sizes]
scaled = [scale_effect(d_k, scaled=True) for d_k in sizes]
for name, effects in {"raw": raw, "scaled": scaled}.items():
    print(f"{name}: d_k, variance, largest weight, size of the Jacobian")
    for e in effects:
        numbers = f"{e.variance:6.1f} {e.largest_weight:7.4f} {e.jacobian_norm:8.4f}"
        print(f"{e.d_k:5} {numbers}")

# %% [markdown]
# Raw, the variance follows d_k, the largest weight goes towards 1, and the Jacobian, after
# a small rise up to d_k = 4, falls from 0.32 to 0.0002: more than a thousandfold. Divided
# by $\sqrt{d_k}$, the variance stays 1, the Jacobian hardly moves, and the largest weight
# stays below 0.3, at every size.
#
# (The *mean* Jacobian falls less, about fivefold: now and then two keys are nearly equally
# good, and then the softmax still hesitates. A typical query does not.)

# %%
assert np.allclose([e.variance / e.d_k for e in raw], 1, atol=0.05)
assert raw[-1].jacobian_norm < 0.001 < 0.3 < scaled[-1].jacobian_norm
assert 4 < raw[0].mean_jacobian_norm / raw[-1].mean_jacobian_norm < 6
assert raw[3].largest_weight > 0.94 and max(e.largest_weight for e in scaled) < 0.3
norms = {
    "raw": [effect.jacobian_norm for effect in raw],
    "divided by √d_k": [effect.jacobian_norm for effect in scaled],
}

# %%
alt = "From d_k 1 to 512 the Jacobian falls from 0.3 to 0.0002 raw; scaled it stays."
axes = {"xlabel": "d_k", "ylabel": "size of the Jacobian", "logarithmic": True}
figures.curves(sizes, norms, **axes, alt=alt)

# %% [markdown]
# The same for one query that you can hold in your hand: 64 random numbers, and six keys
# like it. **Predict:** which share gets the best key, raw and divided by $\sqrt{64}$?

# %%
rng_64 = np.random.default_rng(5)
q_64, k_64 = rng_64.normal(size=64), rng_64.normal(size=(6, 64))
for divisor in (1, 8):
    share_of_best = softmax(k_64 @ q_64 / divisor).max()
    print(f"divided by {divisor}: the best key gets {share_of_best:.3f}")

# %% [markdown]
# **Move the slider** from 8 down to 1 and watch the weights. **Point at a score**: its row of
# the Jacobian says how each weight moves when that score rises.

# %%
alt = "Divided by 8, the best of six scores gets a weight of 0.45, and raw all of it."
six_keys = [f"key {j}" for j in range(6)]
figures.softmax(k_64 @ q_64, six_keys, divisor=64**0.5, divided_by="√d_k", alt=alt)

# %% [markdown]
# > **Popular error: "the scaling avoids exploding gradients".** They do not explode without
# > it: they **vanish**, as the numbers above show. *Attention Is All You Need* (Vaswani et
# > al. 2017), "the paper" from here on, says the same: the softmax is pushed
# > "into regions where it has extremely small gradients" (section 3.2.1).
#
# > **Popular error: softmax(QKᵀ)V.** Many write-ups leave the root out. With d_k = 64 raw,
# > 95 % of a typical query's weight sits on one of ten keys before anything was learned.
#
# Why the root, and not d_k itself? Variance d_k means standard deviation $\sqrt{d_k}$:
# dividing by it brings the *typical size* of a score back to 1.

# %% [markdown]
# ### Exercise: scaled_scores
#
# Write the scores as every Transformer computes them: dot products of all queries with
# all keys, divided by $\sqrt{d_k}$.
#
# <details><summary>Hint 1</summary>
#
# Row i belongs to query i, column j to key j. Which of the two has to be turned for a
# matrix product?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Read d_k from the shape: it is the length of one query. It is neither the number of
# queries nor the number of keys. And in int8, 100 · 2 is −56: make floats first.
#
# </details>

# %%
from course_lib.attention import scaled_scores  # exercise

# %%
check(scaled_scores)

# %% [markdown]
# ## Attention
#
# All parts are there. Equation 1 of *Attention Is All You Need*:
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# Capital letters stand for tables with one row per token; our code calls them `q`, `k`
# and `v`. A table of n queries meets a table of m keys and m values, and each query gets
# one row of output.

# %% [markdown]
# ### Exercise: attention
#
# Put your `scaled_scores` and your `softmax` together. Return both the output and the
# weights: the weights are what we look at in pictures.
#
# <details><summary>Hint 1</summary>
#
# The weights of one query are one row of the table, and they sum to 1. Which axis does
# the softmax run along?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Check the shapes: weights `(n, m)`, values `(m, d_v)`, output `(n, d_v)`. Only one order
# of the product fits.
#
# </details>

# %%
from course_lib.attention import attention  # exercise

# %%
check(attention)

# %% [markdown]
# **Predict:** if you shuffle the keys and values together, what happens to the output? And
# if you shuffle the queries?

# %%
rng = np.random.default_rng(0)
queries, keys, values = (rng.normal(size=size) for size in ((5, 4), (7, 4), (7, 6)))
output = attention(queries, keys, values)[0]
table = [2, 0, 1, 6, 3, 5, 4]  # another order of the seven keys and values
shuffled = attention(queries, keys[table], values[table])[0]
print("keys and values shuffled: output is the same:", np.allclose(shuffled, output))
turned = attention(queries[[1, 2, 3, 4, 0]], keys, values)[0]
print("queries shuffled: output is the same:", np.allclose(turned, output))
print("queries shuffled: rows as well:", np.allclose(turned, output[[1, 2, 3, 4, 0]]))

# %% [markdown]
# A table has no order: for a lookup it does not matter in which row something is.
# And each query is answered by itself: other queries change nothing. Lesson 05 is
# about bringing order back.

# %% [markdown]
# ## The six steps, one query at a time
#
# Tutorials often explain attention as six steps for a single word: **1** make query, key
# and value; **2** score the query against every key; **3** divide by $\sqrt{d_k}$; **4**
# softmax; **5** multiply each value by its weight; **6** add these up. Step 1 is given
# here.

# %% [markdown]
# ### Exercise: attention_step_by_step
#
# Write steps 2 to 6 for one query, and return what each of them gives, under the names
# that the docstring lists.
#
# <details><summary>Hint 1</summary>
#
# A single query is a vector `(d_k,)`. A table `(m, d_k)` times a vector gives one number
# per row.
#
# </details>
# <details><summary>Hint 2</summary>
#
# In step 5 each row of v is multiplied by one number. Give the weights a second axis of
# length 1, as in lesson 00.
#
# </details>

# %%
from course_lib.attention import attention_step_by_step  # exercise

# %%
check(attention_step_by_step)

# %% [markdown]
# Go through the steps for one query, four keys, and four values of three numbers: **press
# "next"**, and point at a number to see what it was made of. The numbers are those that
# your function returned.

# %%
steps = attention_step_by_step(queries[0], keys[:4], values[:4, :3])
alt = "Four scores, halved, made weights that sum to 1, times four values: the output."
figures.six_steps(queries[0], keys[:4], values[:4, :3], steps, alt=alt)

# %% [markdown]
# Notice that the keys are gone after step 2: from then on a key counts by one number, its
# score. And no value is read before step 5.

# %% [markdown]
# Is that the same as the matrix form? Walk through all queries one by one, and compare the
# numbers and the time.

# %%
import timeit

many, k_16, v_16 = (rng.normal(size=(rows, 64)) for rows in (500, 16, 16))


def one_by_one():
    return [attention_step_by_step(row, k_16, v_16)["output"] for row in many]


gap = np.abs(np.array(one_by_one()) - attention(many, k_16, v_16)[0]).max()
slow = timeit.timeit(one_by_one, number=3)
fast = timeit.timeit(lambda: attention(many, k_16, v_16), number=3)
print("differ by less than 1e-14:", bool(gap < 1e-14))
print("matrix form at least 3 times as fast:", bool(slow > 3 * fast))
assert gap < 1e-14, "one of your two functions changes its arguments, or is not right"

# %% [markdown]
# The same numbers, to the last digits of a float. If your `attention` multiplies whole
# matrices, it needs a fraction of the time: nothing but the order of the work has
# changed. On a GPU the difference is far larger, and it is the reason why the formula is
# written with capital letters.

# %% [markdown]
# ## Other ways to score
#
# A score can have parameters of its own. Two famous ones came before the Transformer, here
# next to the plain dot product:
#
# | name | score of query i and key j | from |
# |---|---|---|
# | dot | $q_i \cdot k_j$ | Luong et al. 2015 |
# | general, or bilinear | $q_i\, W\, k_j$ | Luong et al. 2015 |
# | additive | $v \cdot \tanh(q_i W_q + k_j W_k)$ | Bahdanau et al. 2015 |

# %% [markdown]
# ### Exercise: bilinear_scores
#
# The matrix `w` says how much each number of a query asks for each number of a key. So a
# query and a key may have different sizes.
#
# <details><summary>Hint 1</summary>
#
# Shapes again: `(n, d_q)`, `(d_q, d_k)` and `(d_k, m)` fit in one order only, unless d_q
# and d_k are equal. Then shapes do not protect you.
#
# </details>
# <details><summary>Hint 2</summary>
#
# First the queries through w, then the product with all keys, as before.
#
# </details>

# %%
from course_lib.attention import bilinear_scores  # exercise

# %%
check(bilinear_scores)

# %% [markdown]
# With this score, *it* and *animal* can match: `w` may connect "is a pronoun" with "is a
# living thing". Two matrices $W_q$ and $W_k$ do that too, since
# $(q W_q)(k W_k)^\top = q\,(W_q W_k^\top)\,k^\top$; how much they can express depends on
# their inner size. That is the Transformer's choice.

# %% [markdown]
# ### Exercise: additive_scores
#
# The additive score is a small network with one hidden layer, asked for every pair of a
# query and a key. Its last vector of parameters is called `v`, as in the paper by Bahdanau
# and others: it is not a value.
#
# <details><summary>Hint 1</summary>
#
# You have solved the hard part in lesson 00: it is the idea of `pairwise_sums`, now with
# axes in front.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Project queries and keys first, give each an axis for the other, add, tanh, and only then
# the product with v, which takes the hidden axis away.
#
# </details>

# %%
from course_lib.attention import additive_scores  # exercise

# %%
check(additive_scores)

# %% [markdown]
# Why did the dot product win? Count the numbers that must be held while n queries meet m
# keys: the additive score needs the hidden layer of *every pair*.

# %%
n, m, d_hidden = 512, 512, 64
print("dot product:", n * m, "numbers; additive:", n * m * d_hidden)
print("ratio:", n * m * d_hidden // (n * m))

# %% [markdown]
# 64 times as many, and no single matrix product to compute them with. The paper reports
# that both work about equally well for small d_k, that the dot product *without* scaling
# loses for large d_k, and that it is much faster; hence scaled dot products.

# %% [markdown]
# ## The same in PyTorch
#
# PyTorch calls your `attention` by a longer name. It runs where the tensors are: on a GPU
# if there is one.

# %%
import torch
from torch.nn.functional import scaled_dot_product_attention

device = "cuda" if torch.cuda.is_available() else "cpu"
tensors = (torch.tensor(x).to(device) for x in (queries, keys, values))
theirs = scaled_dot_product_attention(*tensors).cpu().numpy()
print("same as yours:", np.allclose(theirs, output, rtol=0, atol=1e-12))

# %% [markdown]
# PyTorch can also confirm your Jacobian: it differentiates softmax by itself.

# %%
s = torch.tensor([2.0, 1.0, -1.0], dtype=torch.float64)
by_torch = torch.autograd.functional.jacobian(lambda t: torch.softmax(t, dim=-1), s)
yours = softmax_jacobian(softmax(s.numpy()))
print("same as yours:", np.allclose(by_torch.numpy(), yours, rtol=0, atol=1e-12))
print(yours.round(3))

# %% [markdown]
# ## What is *it*?
#
# The question from the start. Each word has a key of four numbers: is it a thing, alive, a
# location, a description? The query of *it* asks for a thing, and the last word adds what
# kind: *tired* needs something alive, *wide* a location. These vectors were **chosen by
# hand**; lesson 02 shows how they are learned.

# %%
for word in ("animal", "street", "tired"):
    position = pronoun.sentence("tired").index(word)
    print("key of", word, pronoun.keys("tired")[position])
print("query of it (tired)", pronoun.query_of_it("tired")[0])
print("query of it (wide) ", pronoun.query_of_it("wide")[0])

# %% [markdown]
# Four lines with your `attention` find the answer:

# %%
rows = []
for last_word in ("tired", "wide"):
    words, word_keys = pronoun.sentence(last_word), pronoun.keys(last_word)
    of_it = attention(pronoun.query_of_it(last_word), word_keys, word_keys)[1]
    rows.append(of_it[0])
    print(last_word, "→", words[of_it.argmax()])

# %%
alt = "When it is too tired, it attends to animal with 0.75; when too wide, to street."
labels = ["it (… too tired)", "it (… too wide)"], [*words[:-1], "tired / wide"]
figures.attention_lines(np.array(rows), *labels, alt=alt)

# %% [markdown]
# **Point at one of the two.** The same lookup, two queries, two answers: *it* attends to
# *animal* when it is tired and to *street* when it is wide.

# %% [markdown]
# ## In three lines
#
# - Attention is a soft lookup: weights = softmax of the scores, output = weights times the
#   **values**.
# - Scores are dot products divided by $\sqrt{d_k}$, or else gradients vanish.
# - Row i is query i, each row of weights sums to 1, and the order of the table is
#   forgotten.
#
# **What you can read now:** *Attention Is All You Need*, section 3.2.1; Bahdanau et al.
# (2015), section 3.1; Luong et al. (2015), section 3.1.
#
# **An open question:** who makes the queries, keys and values? Lesson 02.
