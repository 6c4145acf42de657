# %% [markdown]
# # Dot-product attention
#
# **How can a vector look something up in a table of vectors?**
#
# Ask a dictionary of *cat*, *bird* and *car* for *kitten*, and it has no answer. In the first
# picture below, all four are arrows. **Drag the tip of the kitten's arrow** (or use Tab and the
# arrow keys), and watch how many legs it gets.
#
# After this lesson you can
#
# - write softmax and attention for any shapes and any scores;
# - say what queries, keys and values do, step by step;
# - show why the Transformer divides its scores, and by what.
#
# **About 70 minutes, and 80 more in *Going further*.** You need lesson 00 (softmax by hand,
# `keepdims`, broadcasting) and, for one section, variance.

# %%
import numpy as np

from autograder import check
from course_lib import figures
from course_lib.lessons import pronoun

# %% [markdown]
# ## Looking something up
#
# Each word has two numbers, how **lively** it is and how well it **flies**, so it can be
# drawn as an arrow.

# %%
k = np.array([[3.0, 0.5], [2.5, 3.0], [0.5, 0.2]])  # keys: cat, bird, car
v = np.array([[4.0], [2.0], [0.0]])  # values: how many legs
q = np.array([[3.2, 0.1]])  # query: kitten
keys_by_name = dict(zip(["cat", "bird", "car"], k, strict=True))

# %%
alt = "The kitten's arrow lies near the cat's, so it gets 3.59 legs."
names = {"xlabel": "lively", "ylabel": "flies", "value_name": "legs"}
legs = names | {"values": v[:, 0], "show": ("weight",)}
figures.draggable_query("kitten", q[0], keys_by_name, **legs, alt=alt)

# %% [markdown]
# A Python dictionary is a table of keys and values, too, but a query finds a value only
# if it *equals* a key. Here, the kitten finds something because it is *nearly* a cat, and
# a bit of everything else. The number of its legs is a mean, in which each word counts by
# its **weight**.

# %% [markdown]
# Three words that every lesson uses from now on:
#
# - the **query** is what we look for: the kitten's two numbers;
# - a **key** is what an entry of the table is filed under;
# - a **value** is what the entry hands out.
#
# **Attention** answers a query with a mean of all values, each weighted by how well its
# key matches. To match a query with a key, multiply their numbers pair by pair and add
# up: that is the **dot product**.

# %%
for name, key in keys_by_name.items():
    print(f"kitten · {name} = {q[0] @ key:.2f}")

# %% [markdown]
# With the cat, it is 3.2 · 3 + 0.1 · 0.5 = 9.65. The bird's 8.3 comes close, although its
# arrow points elsewhere, because it is **longer**: a dot product is the cosine of the
# angle between two arrows, times both lengths. So a key can count for more by being
# longer, and a dot product isn't confined to the range from −1 to 1, as a cosine is. (*The
# kitten again*, in *Going further*, compares the two.)

# %% [markdown]
# ## A question to carry through the lesson
#
# *The animal didn't cross the street because it was too **tired**.* Or: *… too **wide**.*
#
# You knew at once what *it* means in each, as if something in you had looked back from
# *it* to another word, and the last word decided which. By the end of this lesson, your own code
# finds both answers, and those for some fifty other last words. The vectors that it
# compares are still made **by hand**; in lesson 02 they are learned.

# %% [markdown]
# Attention is at the heart of the **Transformer**, from which today's language models
# descend. By the end of lesson 09 you will have written all of it; this lesson is about
# the four highlighted boxes, the softmax and the three attentions. **Point at a box**, or
# move to it with the arrow keys, to read what it does.

# %%
alt = "A map of the Transformer: softmax and the three attentions are highlighted."
figures.lesson_map("01", alt=alt)

# %% [markdown]
# ## From scores to weights
#
# Softmax, from lesson 00, turns scores into shares; these shares are called **weights**.
# That lesson ended with the scores 1000, 999 and 998. Only the differences matter (you
# will see why), so the shares must be the same as for 2, 1 and 0: about 0.665, 0.245 and
# 0.090. But a float ends near $10^{308}$, and $e^{1000}$ is about $10^{434}$.
#
# **Predict:** what does `np.exp(x) / np.exp(x).sum()` give for `x = [1000, 999, 998]`?
#
# - [ ] 0.665, 0.245 and 0.090
# - [x] nan, nan and nan
# - [ ] 1, 0 and 0
# - [ ] An error

# %%
with np.errstate(over="ignore", invalid="ignore"):
    large = np.exp([1000.0, 999.0, 998.0])
    print(large, "→", large / large.sum())

# %% [markdown]
# NumPy turns what is too large into `inf`, and `inf / inf` is not a number (`nan`).
#
# There is a way out. If you subtract the same number from all scores, no share changes,
# because $e^{s-c} = e^{s} / e^{c}$ and the common factor cancels. Subtract the
# **largest** score, and no power is larger than 1.

# %% [markdown]
# ### Exercise: softmax
#
# Write softmax along any axis, for scores of any size.
#
# <details><summary>Hint 1</summary>
#
# Which largest score do you need: one for the whole array, or one for each row? Think of
# a row around 0 next to a row around 10,000.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.max` and `np.sum` both take `axis` and `keepdims`. Make a new array, so that x itself
# is not modified.
#
# </details>

# %%
from course_lib.attention import softmax  # exercise

# %%
check(softmax)

# %% [markdown]
# Now you have what the first picture computed. The kitten's dot products with cat, bird and
# car are its scores, 9.65, 8.3 and 1.62. Their softmax gives the weights, and these gave
# the kitten 3.59 legs.
#
# **Predict:** what if its arrow is twice as long, and points in the same direction?
#
# - [ ] It still has 3.59 legs.
# - [ ] It has twice as many legs, 7.18.
# - [x] It has nearly 4 legs.

# %%
for length in (1, 2):
    scores = length * q @ k.T  # (1, 3): one row per query, one column per key
    weights = softmax(scores)
    print("scores:", scores, "weights:", *(f"{each:.4f}" for each in weights[0]))
    print("legs:", (weights @ v).round(2))
assert 3.8 < (weights @ v).item() < 4

# %% [markdown]
# If the scores double, so do the differences between them, and the winner takes nearly
# everything, as it did when you divided by a small number in lesson 00.
#
# No biologist would agree to 3.59 legs, but they beat a `KeyError`. Every entry of the
# table gets some weight, even the car, and the answer changes *smoothly* with the query.
# And that answer is a mean of **values**: a word has two numbers here, but the answer has
# one, like a value.

# %% [markdown]
# ## From one sentence to another
#
# So far, one query met a table. Now let a whole sentence ask. Take two sentences, with one
# vector per word (one per **token**, in general). Each word of `x` **attends to** all words
# of `y`: it is a query, matched with their keys, and receives a weighted mean of their
# values. The vectors of `y` serve as keys and as values:
#
# $$\begin{aligned} \text{scores} &= x y^\mathsf{T} \\ \text{weights} &= \text{softmax}(\text{scores}) \\
# \text{output} &= \text{weights}\; y \end{aligned}$$
#
# Row i of the output is word i of `x`, rebuilt from the words of `y`. Its weights are
# positive and sum to 1.

# %% [markdown]
# One thing about NumPy before you write this: for a batch of sentences, `@` multiplies
# the tables in the last two axes, sentence by sentence. `y.T`, however, reverses *all*
# axes:

# %%
y = np.zeros((2, 7, 4))
print("y.T:", y.T.shape, "np.swapaxes(y, -1, -2):", np.swapaxes(y, -1, -2).shape)

# %% [markdown]
# ### Exercise: similarity_attention
#
# Write the three formulas as one function, which rebuilds each word of `x` from `y`. The
# sentences may have different lengths, and there may be any number of leading axes.
#
# <details><summary>Hint 1</summary>
#
# What is the shape of the scores if x has n words and y has m? Along which axis do the
# weights of one word of x lie?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Three lines, one per formula. In the first, swap only the last two axes of y: see the
# cell above.
#
# </details>

# %%
from course_lib.attention import similarity_attention  # exercise

# %%
check(similarity_attention)

# %% [markdown]
# Try it on *the red car* and *la voiture rouge*. The three numbers of a word are chosen by
# hand and say how much of an article, a colour and a vehicle it is. The 3s make the
# scores large enough for sharp weights.

# %%
words_of_both = ["the", "red", "car"], ["la", "voiture", "rouge"]
english = np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
french = np.array([[3.0, 0.1, 0.0], [0.0, 0.2, 3.0], [0.1, 3.0, 0.3]])
alignment = softmax(english @ french.T)
print(similarity_attention(english, french).round(2))

# %%
alt = "the attends to la, red to rouge, car to voiture: the lines cross."
figures.attention_lines(alignment, *words_of_both, alt=alt)

# %% [markdown]
# Notice that the lines of *red* and *car* cross: each word attends to its translation,
# wherever that is. The vectors were made to match, but the lookup is yours.
#
# In `similarity_attention`, the same vectors ask and are asked. But *it* and *animal* have
# little meaning in common: a dot product of their meanings would barely connect them. That
# is why queries and keys become vectors of their
# own.
#
# This is a good moment for a break. After it comes the number that the Transformer divides
# its scores by.

# %% [markdown]
# ## How large may a score be?
#
# The Transformer divides its scores by $\sqrt{d_k}$, the root of the number of
# entries in a query. What would go wrong if it didn't?
#
# Suppose all numbers in a query and a key are independent, with mean 0 and variance 1.
# Then each product $q_a k_a$ has mean 0, so its variance is the mean of $q_a^2 k_a^2$: 1 · 1 = 1,
# because the two are independent. The variances of independent terms add up, so the dot
# product has **variance d_k**, and a typical size of $\sqrt{d_k}$: about 23 for d_k = 512. The larger d_k, the further apart the scores.

# %% [markdown]
# Why does that matter? Take the scores 1, 0.5 and 0 and raise the 0.5 by 0.1: the weights move
# a little. Now multiply all three by 16, and then raise the middle one by 0.1.
#
# **Predict:** how far do the weights move this time?
#
# - [ ] About 16 times as far as before
# - [ ] About as far as before
# - [x] Less than a hundredth as far as before

# %%
for size in (1.0, 4.0, 16.0):
    three = size * np.array([1.0, 0.5, 0.0])
    p, pushed = softmax(three), softmax(three + np.array([0.0, 0.1, 0.0]))
    move = np.abs(pushed - p).max()
    print(f"scores times {size:4}: weights {p.round(3)}, moved by {move:.5f}")

# %% [markdown]
# A score that is far ahead gets nearly all the weight, and a small push to another makes
# almost no difference. (*The Jacobian of softmax*, in *Going further*, shows the same with
# random queries and keys.)
#
# That can make learning slow. Training changes each number of a network in proportion to a
# derivative (a **gradient**): how much the error would change with that number. If a
# score barely moves the weights, it barely moves the error, and the queries and keys
# learn almost nothing: the gradient **vanishes**. *Attention Is All You Need* (2017), "the paper" from
# here on, suspects the same: for large d_k, the softmax is pushed "into regions where it
# has extremely small gradients" (section 3.2.1).

# %% [markdown]
# Why divide by the root, and not by d_k itself? The typical size of a score is
# $\sqrt{d_k}$, so dividing by the root brings it back to 1. Divided by d_k, it would shrink to
# $1 / \sqrt{d_k}$, and all keys would get nearly the same weight.

# %% [markdown]
# ### Exercise: scaled_scores
#
# Compute the scores the way the Transformer does: dot products of all queries with all
# keys, divided by $\sqrt{d_k}$.
#
# <details><summary>Hint 1</summary>
#
# Row i belongs to query i, and column j to key j. Which of the two must be transposed for a
# matrix product?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Read d_k from the shape: it is how many numbers one query has, not how many queries or
# keys there are.
#
# </details>

# %%
from course_lib.attention import scaled_scores  # exercise

# %%
check(scaled_scores)

# %% [markdown]
# ## Attention
#
# Divide the scores, and let queries, keys and values be three tables. That is equation 1
# of *Attention Is All You Need*:
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\mathsf{T}}{\sqrt{d_k}}\right) V$$
#
# Capital letters stand for tables with one row per token; our code calls them `q`, `k`
# and `v`. Each of the n queries is compared with all m keys, and gets one row of output: a
# weighted mean of the m values. Whole matrices are multiplied here, which
# computers do very fast.

# %% [markdown]
# For a single query, the formula is the six steps of [*The Illustrated
# Transformer*](https://jalammar.github.io/illustrated-transformer/). Here, one query meets
# four keys. Its d_k is 4, so step 3 divides by 2. **Press "next"** to go through the steps,
# and point at a number to see where it came from.

# %%
rng = np.random.default_rng(0)
queries, keys, values = (rng.normal(size=size) for size in ((5, 4), (7, 4), (7, 6)))

# %%
alt = "Four scores, halved, made weights that sum to 1, times four values: the output."
figures.six_steps(queries[0], keys[:4], values[:4, :3], alt=alt)

# %% [markdown]
# Notice that step 2 reduces each key to one number, its score, and that no value is read
# before step 5.

# %% [markdown]
# ### Exercise: attention
#
# Put your `scaled_scores` and your `softmax` together. Return both the output and the
# weights, because the pictures show the weights.
#
# <details><summary>Hint 1</summary>
#
# The weights of one query are one row of the table, and they sum to 1. Along which axis
# does the softmax run?
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
# **Predict:** what happens to the output if keys and values are shuffled together?
#
# - [ ] Its rows are shuffled in the same way.
# - [ ] Its numbers change.
# - [x] Nothing changes, up to rounding.

# %%
output = attention(queries, keys, values)[0]
order = [2, 0, 1, 6, 3, 5, 4]
shuffled = attention(queries, keys[order], values[order])[0]
print("largest difference:", round(np.abs(shuffled - output).max(), 12))
assert np.allclose(shuffled, output, rtol=0, atol=1e-12)

# %% [markdown]
# A lookup doesn't care which row of the table something is in, as long as each value stays
# with its key. Shuffle the *queries*, and the rows of the output move with them, because
# each query is answered on its own. But language needs word order, so lesson 05 puts it
# back in.
#
# Now your `attention` can find out what *it* means.

# %% [markdown]
# ## What is *it*?
#
# Back to the sentence. The four numbers of a word's key say how much of a thing the word
# is, and how much of something alive, a location, or a description. The query of *it* asks
# for a thing, and the last word decides what kind of thing: *tired* needs something alive,
# *wide* a location, and *old* fits both.
#
# All these vectors were made **by hand** (`course_lib/lessons/pronoun.py`): we wrote the
# last word into the query of *it* ourselves. Your code does the lookup.

# %%
for position in (1, 5):
    print("key of", pronoun.WORDS[position], pronoun.keys("old")[position])
for last_word in ("tired", "wide", "old"):
    print("query of it, too", last_word, pronoun.query_of_it(last_word)[0])

# %% [markdown]
# **Predict:** what weights do *animal* and *street* get after *old*?
#
# - [x] Equal weights, each less than 0.5
# - [ ] Exactly 0.5 each
# - [ ] *street* gets more, because it is nearer to *it*.
# - [ ] One of the two gets nearly everything.


# %%
def weights_of_it(last_word):
    word_keys = pronoun.keys(last_word)
    # Only the weights matter here, so the keys serve as values, too.
    return attention(pronoun.query_of_it(last_word), word_keys, word_keys)[1][0]


for last_word in ("tired", "wide", "old"):
    animal, street = weights_of_it(last_word)[[1, 5]].round(2)
    print(f"too {last_word}: animal {animal}, street {street}")
assert [weights_of_it(word).argmax() for word in ("tired", "wide")] == [1, 5]
assert animal == street < 0.5

# %% [markdown]
# Your `attention` answers the question from the start. The other words get a little
# weight, too, so two equally good keys cannot have half each.
#
# **Type another last word.** The picture knows each word for which we wrote a query; with
# any other, it is as helpless as the dictionary was with the kitten. Try *late*: there, as
# in *it is raining*, *it* stands for nothing, so its query asks for nothing: four zeros. Which
# weights do they give?

# %%
alt = "After tired, it gives animal a weight of 0.75; after wide, street gets as much."
of_it = [weights_of_it(last_word) for last_word in pronoun.known_words()]
figures.last_word(**pronoun.typed(of_it), alt=alt)

# %% [markdown]
# The lookup is always the same, and only the query changes. Here we wrote the queries down.
# In lesson 02 nobody does: they are learned, and the answers for *tired* and *wide* come
# out the same.

# %% [markdown]
# ## In three lines
#
# - Attention is a soft lookup: weights = softmax of the scores, output = weights times the
#   **values**.
# - Scores are dot products divided by $\sqrt{d_k}$: otherwise those of random vectors
#   grow with d_k, one key gets nearly all the weight, and small changes no longer
#   move it.
# - Row i belongs to query i, each row of weights sums to 1, and keys and values may be
#   reordered, as long as they move together.
#
# **What you can read now:** *Attention Is All You Need*, section 3.2.1; Bahdanau et al.
# (2015), section 3.1; Luong et al. (2015), section 3.1.
#
# **An open question:** if nobody makes queries, keys and values by hand, where do they come
# from? Lesson 02.

# %% [markdown]
# ## Going further
#
# You can skip each of these sections, in any order; no later lesson's core needs them.
# *The kitten again* has dot product, cosine and weight in one picture. *The six
# steps, one query at a time* has them as a function, and what they cost. *The Jacobian of softmax*
# measures how fast its gradients vanish, for readers who know partial derivatives.
# *Other ways to score* has the two scores that are older than the Transformer, for
# readers of the papers before it. *The same in PyTorch* is for those who know PyTorch
# already.

# %% [markdown]
# ## The kitten again
#
# **Drag the kitten**, now with everything in view: dot products, cosines and weights. Where
# does it have three legs? And what happens near the origin?

# %%
alt = "Cat has weight 0.79, bird 0.21, car almost nothing: the kitten has 3.59 legs."
more = legs | {"show": ("dot product", "cosine", "weight")}
figures.draggable_query("kitten", q[0], keys_by_name, **more, alt=alt)

# %% [markdown]
# A longer query is more decisive, although no cosine changes. At the origin all dot
# products are 0, so all weights are equal, as they are for *too late*.

# %% [markdown]
# The cat's arrow points 9° upwards, the bird's 50°. **Turn the kitten's arrow slowly
# upwards:** from 12° on, the *bird* has the larger dot product, although the kitten still
# points almost exactly where the cat does.
#
# **Predict:** which change would let the cat stay ahead for longer as the kitten turns?
#
# - [ ] The kitten's arrow gets twice as long.
# - [x] The bird's arrow gets a fifth shorter.
# - [ ] The car's arrow gets twice as long.

# %%
turned = np.array([3.0, 1.1])  # the kitten, about 20° above the axis
print("cat:", turned @ k[0], " bird:", turned @ k[1])
print("kitten twice as long: cat", 2 * turned @ k[0], " bird", 2 * turned @ k[1])
print("bird a fifth shorter: cat", turned @ k[0], " bird", turned @ (0.8 * k[1]))
assert turned @ k[1] > turned @ k[0] > 0.8 * turned @ k[1]
assert 19 < np.degrees(np.arctan2(turned[1], turned[0])) < 21
assert np.degrees(np.arctan2(k[:2, 1], k[:2, 0])).round().tolist() == [9, 50]
# A query that scores both equally is at right angles to cat - bird.
assert round(np.degrees(np.arctan2(*(k[0] - k[1]) * [1, -1]))) == 11
assert round(np.degrees(np.arctan2(*(k[0] - 0.8 * k[1]) * [1, -1]))) == 28

# %% [markdown]
# At 20° the bird is ahead, because its arrow is **longer** than the cat's. Shorten it, and
# the cat stays ahead, up to 28°. A longer kitten makes all dot products larger by the same
# factor, so it changes no winner, and the car's arrow changes only the car's own dot
# product.

# %% [markdown]
# What if only the direction should count? Divide a dot product by the lengths of both
# arrows, and what remains is the cosine of the angle between them. By cosine, the bird
# overtakes the cat only halfway between their two arrows, at 30°.

# %% [markdown]
# ## The six steps, one query at a time
#
# [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/) and
# other tutorials explain attention as six steps for a single word:
#
# 1. Make query, key and value. (Here this is done for you.)
# 2. Score the query against every key.
# 3. Divide by $\sqrt{d_k}$, which is 8 in the paper.
# 4. Apply softmax.
# 5. Multiply each value by its weight. A weight of 0.001 almost removes it.
# 6. Add up the weighted values.
#
# To be sure that you know what each step does, write them as code.

# %% [markdown]
# ### Exercise: attention_step_by_step
#
# Write steps 2 to 6 for one query, and return the result of each under the name that the
# docstring gives it.
#
# <details><summary>Hint 1</summary>
#
# A single query is a vector `(d_k,)`. A table `(m, d_k)` times a vector gives one number
# per row.
#
# </details>
# <details><summary>Hint 2</summary>
#
# In step 5 each row of v is multiplied by one number. Which shape must the weights have to
# fit `(m, d_v)`?
#
# </details>

# %%
from course_lib.attention import attention_step_by_step  # exercise

# %%
check(attention_step_by_step)

# %% [markdown]
# Does `attention` give the same result as the six steps, one query at a time? Compare the
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
# The numbers are the same, almost to the last digit of a float, and if your `attention`
# multiplies whole matrices, it needs only a fraction of the time. That is why attention is
# written as a formula for whole matrices.

# %% [markdown]
# ## The Jacobian of softmax
#
# How fast weight i changes with score j is a derivative. The table of all m × m derivatives
# is the **Jacobian**. With weights $p$,
#
# $$\frac{\partial p_i}{\partial s_j} = \begin{cases} p_i (1 - p_i) & i = j \\
# -p_i\, p_j & i \neq j. \end{cases}$$
#
# Why? Differentiate $\log p_i = s_i - \log \sum_k e^{s_k}$ with respect to $s_j$, and
# multiply by $p_i$. By the chain rule, training multiplies every gradient that goes back
# through a softmax by this matrix: where its entries are near 0, queries and keys learn
# next to nothing.

# %% [markdown]
# ### Exercise: softmax_jacobian
#
# Compute this matrix for a row of weights, with any number of leading axes.
#
# <details><summary>Hint 1</summary>
#
# Both cases contain a product of two weights. What is left over where i = j, and what
# kind of matrix holds it?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The products are "every row with every row" of lesson 00, within one row of p. Where can
# p get an axis of length 1? `np.eye(m)` has ones on the diagonal and zeros elsewhere.
#
# </details>

# %%
from course_lib.attention import softmax_jacobian  # exercise

# %%
check(softmax_jacobian)

# %% [markdown]
# What happens to the scores of random vectors as d_k grows? Below, 2,000 random queries each
# meet ten random keys, once raw and once divided by $\sqrt{d_k}$
# (`course_lib/lessons/scale.py`). The largest weight is that of a typical query, the
# median of all 2,000.

# %%
from course_lib.lessons.scale import scale_effect

sizes = [1, 4, 16, 64, 256, 512]
raw = [scale_effect(d_k, scaled=False) for d_k in sizes]
scaled = [scale_effect(d_k, scaled=True) for d_k in sizes]
for name, effects in {"raw": raw, "scaled": scaled}.items():
    print(f"{name}: d_k, variance of the scores, largest weight")
    for e in effects:
        print(f"{e.d_k:5} {e.variance:6.1f} {e.largest_weight:7.4f}")
assert np.allclose([e.variance / e.d_k for e in raw], 1, atol=0.05)
assert raw[3].largest_weight > 0.94 and max(e.largest_weight for e in scaled) < 0.3

# %% [markdown]
# With raw scores, the variance is about d_k, and the largest weight approaches 1. With
# scaled scores, the variance remains near 1, and the largest weight is always below 0.3.
#
# Besides these two, `scale_effect` measured the size of the Jacobian: its Frobenius
# norm, which is the root of the sum of all squared entries, again the median over all
# queries.
#
# **Predict:** how does the median size of the raw Jacobian change from d_k = 4 to 512?
#
# - [x] It shrinks more than 1000-fold.
# - [ ] It shrinks about 10-fold.
# - [ ] It changes less than 2-fold.
# - [ ] It grows more than 1000-fold.

# %%
for e, same in zip(raw, scaled, strict=True):
    print(f"d_k {e.d_k:3}: raw {e.jacobian_norm:.4f} scaled {same.jacobian_norm:.4f}")
assert raw[-1].jacobian_norm < 0.001 < 0.3 < scaled[-1].jacobian_norm
assert raw[1].jacobian_norm > 1000 * raw[-1].jacobian_norm
assert 4 < raw[0].mean_jacobian_norm / raw[-1].mean_jacobian_norm < 6

# %% [markdown]
# The raw Jacobian rises a little up to d_k = 4, then falls from 0.36 to 0.0002. The scaled
# one barely changes.
#
# (The *mean* raw Jacobian falls only about fivefold: now and then two keys are nearly
# equally good, and then even the raw softmax is undecided.)

# %%
norms = {
    "raw": [effect.jacobian_norm for effect in raw],
    "divided by √d_k": [effect.jacobian_norm for effect in scaled],
}
axes = {"xlabel": "d_k", "ylabel": "size of the Jacobian", "logarithmic": True}

# %%
alt = "From d_k 1 to 512 the Jacobian falls from 0.3 to 0.0002 raw; scaled it stays."
figures.curves(sizes, norms, **axes, alt=alt)

# %% [markdown]
# You can also watch a single query, of 64 random numbers, meet six random keys. **Point at
# a score**: its row of the (symmetric) Jacobian says how each weight moves when that score
# rises. Then move the slider, which divides the scores, from 8 down to 1.

# %%
rng_64 = np.random.default_rng(5)
q_64, k_64 = rng_64.normal(size=64), rng_64.normal(size=(6, 64))
six_keys = [f"key {j}" for j in range(6)]
assert softmax(k_64 @ q_64 / 8).max() < 0.5 and softmax(k_64 @ q_64).max() > 0.99

# %%
alt = "Divided by 8, the best key has 0.45 of the weight, and its row of the Jacobian is large."
figures.softmax(k_64 @ q_64, six_keys, divisor=64**0.5, divided_by="√d_k", alt=alt)

# %% [markdown]
# > **Common mistake: "the scaling avoids exploding gradients".** Large scores sound like
# > large gradients. But in the table above, the typical Jacobian shrinks more than
# > 1,000-fold: without scaling, gradients **vanish**, as the paper suspects.
#
# You may also see softmax(QKᵀ)V, without the root, for tables of queries, keys and values.
# With random numbers as above and d_k = 64, one of ten keys then gets 95 % of a typical
# query's weight.

# %% [markdown]
# PyTorch can confirm your Jacobian, because it differentiates softmax by itself.

# %%
import torch

s = torch.tensor([2.0, 1.0, -1.0], dtype=torch.float64)
by_torch = torch.autograd.functional.jacobian(lambda t: torch.softmax(t, dim=-1), s)
yours = softmax_jacobian(softmax(s.numpy()))
print("same as yours:", np.allclose(by_torch.numpy(), yours, rtol=0, atol=1e-12))
print(yours.round(3))

# %% [markdown]
# ## Other ways to score
#
# The paper calls whatever scores a query against a key a *compatibility function*. Such a
# function can have parameters of its own. Two functions of this kind are older than the
# Transformer; here they are, next to the plain dot product:
#
# | name | score of query i and key j | from |
# |---|---|---|
# | dot | $q_i\, k_j^\mathsf{T}$ | Luong et al. 2015 |
# | general, or bilinear | $q_i\, W\, k_j^\mathsf{T}$ | Luong et al. 2015 |
# | additive | $v \cdot \tanh(q_i W_q + k_j W_k)$ | Bahdanau et al. 2015 |
#
# Here $v$ is a vector of parameters, not a value. Any of these
# scores would do in a head of lesson 03.

# %% [markdown]
# ### Exercise: bilinear_scores
#
# *Bilinear* means linear in the query and in the key. Entry `[a, b]` of the matrix `w` says
# how much entry a of a query asks for entry b of a key, so a query and a key may have
# different sizes.
#
# <details><summary>Hint 1</summary>
#
# Shapes again: `(n, d_q)`, `(d_q, d_k)` and `(d_k, m)` fit in one order only, unless d_q
# and d_k are equal. In that case, the shapes don't protect you.
#
# </details>
# <details><summary>Hint 2</summary>
#
# What is the shape of `q @ w`? What had that shape in `scaled_scores`?
#
# </details>

# %%
from course_lib.attention import bilinear_scores  # exercise

# %%
check(bilinear_scores)

# %% [markdown]
# With this score, *it* and *animal* can match: `w` may connect "is a pronoun" with "is a
# living thing". Two matrices $W_q$ and $W_k$ can do that too, since
# $(q W_q)(k W_k)^\mathsf{T} = q\,(W_q W_k^\mathsf{T})\,k^\mathsf{T}$. The Transformer uses two, of shape
# (d_model, d_k). If d_k is smaller than d_model, some matrices $W$ cannot be written this
# way.

# %% [markdown]
# ### Exercise: additive_scores
#
# The additive score is a small network with one hidden layer, run once for every pair of a
# query and a key.
#
# <details><summary>Hint 1</summary>
#
# You solved the hard part in lesson 00: it is the idea of `pairwise_sums`, now with
# leading axes.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Which shapes must `q @ w_q` and `k @ w_k` get, so that their sum is
# `(..., n, m, d_hidden)`? Which step removes the last axis?
#
# </details>

# %%
from course_lib.attention import additive_scores  # exercise

# %%
check(additive_scores)

# %% [markdown]
# Why did the dot product win? Take 512 queries and 512 keys, with a hidden layer of 64
# numbers. With either score, the table of 512 × 512 scores takes 2 MB.
#
# **Predict:** without loops, how large is the largest array on the way to additive scores?
#
# - [ ] 2 MB
# - [x] 134 MB
# - [ ] 4 MB
# - [ ] 1074 MB

# %%
q_512, k_512 = rng.normal(size=(512, 64)), rng.normal(size=(512, 64))
hidden = np.tanh(q_512[:, np.newaxis] + k_512)  # as if projected already
sizes_in_mb = [(q_512 @ k_512.T).nbytes / 1e6, hidden.nbytes / 1e6]
print("dot product: {:.0f} MB, additive: {:.0f} MB".format(*sizes_in_mb))
assert [round(size) for size in sizes_in_mb] == [2, 134]

# %% [markdown]
# Every pair has its own hidden layer, and no single matrix product computes them all. The
# paper (section 3.2.1) reports that both scores do about equally well for small d_k. Dot
# products are much faster, but without scaling they do worse when d_k is large, so the
# paper keeps the dot product and scales it.

# %% [markdown]
# ## The same in PyTorch
#
# PyTorch has your `attention` under a longer name. It runs wherever its tensors (PyTorch's
# arrays) are: below, on a GPU if you have one.

# %%
import torch
from torch.nn.functional import scaled_dot_product_attention

device = "cuda" if torch.cuda.is_available() else "cpu"
arrays = [rng.normal(size=size) for size in ((5, 4), (7, 4), (7, 6))]  # q, k, v
tensors = (torch.tensor(x).to(device) for x in arrays)
theirs = scaled_dot_product_attention(*tensors).cpu().numpy()
yours, _ = attention(*arrays)
print("same as yours:", np.allclose(theirs, yours, rtol=0, atol=1e-12))
