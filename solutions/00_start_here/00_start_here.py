# %% [markdown]
# # Start here
#
# **Can one word change what another one means?**
#
# *The animal didn't cross the street because it was too tired.*
#
# What was too tired? The animal, so that is what *it* means. Now change *tired* to
# *wide*: the two letters of *it* haven't changed, and yet *it* now means the street.
#
# To see it happen, <span class="in-notebook">press **Shift + Enter** three times, or tap ▶
# above: each time, one cell runs. Then</span> **switch the last word**.
# <span class="in-notebook">(Without a mouse, Shift + Tab goes back to the picture.)</span>
#
# **About 40 minutes.** You need some Python, and you should have multiplied two
# matrices before. You don't have to know anything about attention.

# %%
from course_lib import figures
from course_lib.lessons import pronoun

# %%
alt = "Too tired or hungry: it attends most to animal. Too wide or icy: to street."
figures.last_word(**pronoun.choice("tired", "wide", "hungry", "icy"), alt=alt)

# %% [markdown]
# A thick line means that *it* **attends to** that word and takes most of its meaning from
# there. The number under each word is its **weight**.
#
# Don't be too impressed yet: nothing here was trained. We chose the numbers behind the
# lines by hand. In lesson 02 they will be learned, and in lesson 13 you will look for the
# same lines inside a model that other people trained.
#
# What can the lines *not* do? Make a guess: choose an answer below
# <span class="in-notebook">(or Tab to it, use the arrow keys, and leave with Escape) and
# run the cell after it</span>. Only then does the explanation appear.

# %% [markdown]
# Whatever the last word is, the eleven weights add up to 1 (the ones you see are
# rounded). Now end the sentence in *… because it was too late.* Here *it* stands for
# nothing, as in *it is raining*. So no word of the sentence fits it better than
# another.
#
# **Predict:** where do the lines of *it* go now?
#
# - [ ] To *animal*, because it is the subject.
# - [ ] To *animal* and *street*, half to each.
# - [ ] To *late*, because nothing else fits.
# - [x] To all eleven words equally.

# %%
alt = "Too late: it attends to all eleven words equally, 0.09 each."
figures.last_word(**pronoun.choice("tired", "wide", "late"), chosen="late", alt=alt)

# %% [markdown]
# Even *because* gets its 0.09. Attention can't shrug: the weights have to add up to 1, and
# where nothing fits better than anything else, they are spread evenly. This follows from
# the recipe behind the weights, which you will write yourself in a few minutes. (Trained
# models have found a way to shrug; you meet it in lesson 13.)

# %% [markdown]
# ## What this course is
#
# What you have seen at work is **attention**, the idea at the heart of today's large
# language models. In these lessons you write it yourself, from a sum of three numbers up
# to a Transformer that translates, and then you look inside.
#
# After this lesson you can
#
# - turn scores into shares by hand, as attention does;
# - divide rows by their sums and combine every row of one array with every row of
#   another, without a loop;
# - work through any exercise of this course and read what its check tells you.
#
# At the end, the lines above are drawn once more, with weights that your own code
# computes. <span class="in-notebook">First, two cells that get everything ready.</span>

# %%
import math

import numpy as np

from autograder import check

# %%
from course_lib.lessons.environment import check_environment

print(check_environment())

# %% [markdown]
# <span class="in-notebook">If that cell printed an error instead of a sentence, the error
# says what to do. Otherwise you are ready to build what moved the lines. Nothing you type
# can break the course: this notebook is your own copy.</span>

# %% [markdown]
# ## Shares from scores, by hand
#
# Where does a weight come from? First, each word gets a **score** that says how well it
# fits. Lesson 01 shows how scores are computed; for now, take three made-up ones:
# *animal* 2, *street* 1, *because* −1. (Those behind the picture are others.)
#
# Then the scores become **shares**: positive numbers that add up to 1, larger where the
# score is larger. A natural first idea is to divide each score by the sum of all scores.
#
# **Predict:** which numbers do you get if you divide 2, 1 and −1 by their sum?
#
# - [x] 1, 0.5 and −0.5
# - [ ] 0.67, 0.33 and 0
# - [ ] 0.5, 0.25 and 0.25

# %%
scores = [2.0, 1.0, -1.0]
print([score / sum(scores) for score in scores])

# %% [markdown]
# *because* gets a share of minus one half, and the other two together get 1.5. A negative share makes no sense, and for the scores 2, 1 and −3, whose sum is 0,
# there would be no shares at all.
#
# So first make all scores positive in a way that preserves their order. The exponential
# function does that: $e^{2} \approx 7.39$, $e^{1} \approx 2.72$, $e^{-1} \approx 0.37$.
# And with it, a lead of 1 is worth the same everywhere: e times the share. *Then* divide by the sum, which is 10.48.

# %%
powers = np.exp(scores)
shares = powers / powers.sum()
print(shares.round(3), "sum:", round(shares.sum(), 3))
assert round(1 / np.exp((np.array(scores) - 2) / 0.22).sum(), 2) == 0.99
assert round(1 / 0.22, 1) == 4.5 and round(np.exp(4.5)) == 90

# %% [markdown]
# This recipe is called **softmax**: $\;p_i = e^{s_i} / \sum_j e^{s_j}$. You will meet it in
# every lesson.
#
# In the picture below, all three scores are divided by the same positive number before
# they enter the softmax.
#
# **Predict:** which divisors give *animal* a larger share than it has now?
#
# - [x] Numbers below 1
# - [ ] Numbers above 1
# - [ ] None at all

# %%
alt = "The scores 2, 1 and −1 become the shares 0.71, 0.26 and 0.04."
labels = {"names": ["animal", "street", "because"], "called": "shares"}
figures.softmax(scores, **labels, divided_by="", jacobian=False, alt=alt)

# %% [markdown]
# **Move the slider.** What must you divide by to give *animal* 99 % of the total?
#
# <details><summary>The divisor</summary>
#
# About 0.22. *animal* is then 4.5 ahead of *street*, not 1, and $e^{4.5} \approx 90$.
#
# </details>
#
# Divide by a small number, and the scores move apart until the winner takes nearly
# everything. Divide by a large one, and the shares even out; *too late* is the extreme
# case, where all scores are equal. But *street* never overtakes *animal*, because softmax
# keeps the order of the scores.

# %% [markdown]
# ### Exercise: softmax_by_hand
#
# Now it is your turn. Write the recipe for a list of any length, in plain Python without
# NumPy: `math.exp` gives the powers of e. The docstring under the first line is the
# contract: it says what goes in and what comes out, and gives an example. Replace the
# line `raise NotImplementedError` with your answer<span class="in-notebook">, run the
# cell, and then run the check below it</span>. If you get stuck, there are two hints.
#
# <details><summary>Hint 1</summary>
#
# Two steps: a list of powers, then each of them divided by one number.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Compute the sum of the powers once, before you divide. A list comprehension does each
# step in one line.
#
# </details>

# %%
from course_lib.warm_up import softmax_by_hand  # exercise

# %%
check(softmax_by_hand)

# %% [markdown]
# Each line of a check tests one claim about your function, and none goes beyond what its
# docstring promises.
#
# <span class="in-notebook">If you haven't been wrong yet, be wrong on purpose: leave
# out the exponential, run your cell and the check again, and read the message. The line
# with the arrow, at the top, says which typical misconception your answer shows. Open a ✗
# to see what your function was given, what it returned and what was expected. Then fix
# it.</span>

# %% [markdown]
# <span class="in-notebook">The toolbar has *Check* and *Hint* for the exercise you are in
# (by keys: Alt+Shift+Enter and Alt+Shift+H), *Start over* and *Restore* for your answer,
# and *Home*, which shows what you have solved.</span>
#
# Your function turns one list of scores into weights. A whole sentence needs a list for
# every word, and for that you need arrays.

# %% [markdown]
# ## Shapes
#
# From here on, numbers come in arrays. A sentence of 5 words, each described by 4
# numbers, is an array of shape `(5, 4)`: **one word per row**. A **batch** of two such
# sentences has the shape `(2, 5, 4)`. We write `(..., n, d)` for "any number of leading
# axes, then n rows of d numbers".

# %%
sentences = np.arange(40.0).reshape(2, 5, 4)
print(sentences.shape, "→", sentences[0, 2], "is word 2 of sentence 0")

# %% [markdown]
# Axes can also be counted from the end: `axis=-1` is the last one.
#
# **Predict:** an array has the shape (2, 5, 4). What is the shape of its sum over axis −1?
#
# - [ ] (5, 4)
# - [x] (2, 5)
# - [ ] (2, 4)
# - [ ] (2, 5, 4)

# %%
print(sentences.sum(axis=-1).shape)
print(sentences.sum(axis=-1, keepdims=True).shape)

# %% [markdown]
# There is one sum per word. With `keepdims=True`, the summed axis is kept with length 1,
# and you can divide the rows by their sums, because NumPy stretches an axis of length 1.
# This is called **broadcasting**, and it has three rules:
#
# - axes are compared from the right;
# - two axes fit if their lengths are equal or if one of them is 1;
# - a missing leading axis counts as 1.

# %% [markdown]
# So without `keepdims`, `(2, 5, 4) / (2, 5)` is an error.
#
# **Predict:** what do you get if you divide the table [[1, 3], [2, 6]] by its row sums, 4
# and 8, of shape (2,)?
#
# - [ ] An error
# - [ ] [[0.25, 0.75], [0.25, 0.75]]
# - [x] [[0.25, 0.375], [0.5, 0.75]]

# %%
square = np.array([[1.0, 3.0], [2.0, 6.0]])
divided = square / square.sum(axis=-1)
print(divided, "row sums:", divided.sum(axis=-1))

# %% [markdown]
# There is no error, and yet the result is wrong: the rows sum to 0.625 and 1.25.
# Broadcasting starts from the right, so the first *column* was divided by 4 and the
# second by 8.
#
# That is why the checks in this course use arrays of many different shapes, including a
# square one.

# %% [markdown]
# ### Exercise: normalise_rows
#
# Divide each row by its own sum, for any number of leading axes.
#
# <details><summary>Hint 1</summary>
#
# You need one sum per row. Which axis runs along a row?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Which shape must the sums of a `(2, 5, 7)` array have, compared from the right?
#
# </details>

# %%
from course_lib.warm_up import normalise_rows  # exercise

# %%
check(normalise_rows)

# %% [markdown]
# ## Every row with every row
#
# Dividing rows by their sums is the last step of a softmax for many words at once. The
# first step is a table of scores, because attention compares every word of a sentence
# with every word of a sentence, here the same one. Below, `a` has 3 entries and `b` has 2, which makes 3 × 2
# pairs. To build the table without a loop, give `a` the shape (3, 1) and `b` the shape
# (1, 2): broadcasting stretches both to (3, 2). `np.newaxis` adds an axis of length 1.

# %%
a = np.array([1.0, 2.0, 3.0])  # (3,)
b = np.array([10.0, 20.0])  # (2,)
table = a[:, np.newaxis] * b[np.newaxis, :]  # (3, 1) times (1, 2) gives (3, 2)
print(table)

# %% [markdown]
# Row i, column j holds $a_i b_j$. All lessons draw tables of pairs like this, with a row
# for each entry of the first array and a column for each entry of the second. Where
# numbers have a sign, purple is positive, orange is negative, and white is zero.

# %%
names = ["a 0", "a 1", "a 2"], ["b 0", "b 1"]
alt = "A table of 3 by 2 products: 10, 20; 20, 40; 30, 60."
figures.signed_heatmap(table, *names, alt=alt)

# %% [markdown]
# In an index, three dots stand for "all axes that are not named". So you can add a new
# axis near the end, however many axes come before it.
#
# **Predict:** `x` has the shape (2, 5, 4). What is the shape of `x[..., np.newaxis, :]`?
#
# - [ ] (2, 5, 4, 1)
# - [ ] (2, 1, 5, 4)
# - [x] (2, 5, 1, 4)
# - [ ] (1, 2, 5, 4)

# %%
print(sentences[..., np.newaxis].shape)
print(sentences[..., np.newaxis, :].shape)

# %% [markdown]
# The colon stands for the last axis, the one of length 4, and the three dots for all axes
# before it. The new axis ends up between the two. Without the colon, it comes last.

# %% [markdown]
# ### Exercise: pairwise_sums
#
# Now add instead of multiplying, and take rows of d numbers instead of single numbers: at
# `[i, j]`, the result holds $a_i + b_j$, which is a whole row.
#
# <details><summary>Hint 1</summary>
#
# Write down three shapes: the result's, and those of `a` and `b` with one more axis each.
# Compare them from the right.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Where must the new axis of `a` go if each entry of `a` is a row? And the new axis of `b`?
#
# </details>

# %%
from course_lib.warm_up import pairwise_sums  # exercise

# %%
check(pairwise_sums)

# %% [markdown]
# The weights of attention begin as such a table, of every row with every row, and end as
# rows divided by their sums. In between is the exponential, so you know all three steps.

# %% [markdown]
# ## Back to *it*
#
# Here are the scores that were behind the pictures above: three sentences, *tired*, *wide*
# and *late*, with eleven words each. (Lesson 01 says how `pronoun` computed them, and why
# they are halved.) You can turn all three rows into weights at once: take the
# exponential of every score, and let your `normalise_rows` do the rest.

# %%
ends = ["tired", "wide", "late"]
of_it = [pronoun.keys(word) @ pronoun.query_of_it(word)[0] / 2 for word in ends]
weights = normalise_rows(np.exp(of_it))
print("scores:", np.shape(of_it), " weights of animal:", weights[:, 1].round(2))
assert np.allclose(weights, pronoun.choice(*ends)["weights"], rtol=0, atol=1e-12)

# %%
alt = "It attends to animal when tired, to street when wide, to all equally when late."
figures.last_word(**(pronoun.choice(*ends) | {"weights": weights}), alt=alt)

# %% [markdown]
# **Switch the last word again.** These are the lines from the start, but this time the
# weights are yours. For *tired*, the scores of *animal* and *street* are 4 and 2, so
# *animal* gets $e^{2} \approx 7.4$ times as much as *street*. And for *late*, all scores
# are 0: eleven equal numbers, eleven equal shares.

# %% [markdown]
# ## The notation of all lessons
#
# Three habits hold everywhere: tokens (words, or parts of words) are **rows**; leading axes
# are carried along unchanged; and *weights* always means attention weights, while what is
# learned is called *parameters*. Each name is explained where it first appears. If you
# forget one, come back and open this list.
#
# <details><summary>Sizes</summary>
#
# | name | meaning |
# |---|---|
# | `n`, `m` | number of queries, number of keys |
# | `d_model` | how many numbers describe one token |
# | `d_k`, `d_v` | how many numbers a query or key has, and a value |
#
# </details>

# %% [markdown]
# <details><summary>Arrays</summary>
#
# | name and shape | meaning |
# |---|---|
# | `q (..., n, d_k)` | queries, one per row: what is looked for |
# | `k (..., m, d_k)` | keys, one per row: what each entry is filed under |
# | `v (..., m, d_v)` | values, one per row: what is handed out |
# | `scores (..., n, m)` | how well query i matches key j |
# | `weights (..., n, m)` | softmax of the scores over the keys: each **row** sums to 1 |
# | `output (..., n, d_v)` | `weights @ v` |
#
# </details>

# %% [markdown]
# <details><summary>Names in later lessons</summary>
#
# | name | meaning |
# |---|---|
# | `n_heads`, `n_layers` | number of attention heads (lesson 03), of layers (09) |
# | `d_ff` | width of the feed-forward network (09) |
# | `vocab_size` | number of known tokens (06) |
# | `x (..., n, d_model)` | tokens, one per row |
# | `w_q (d_model, d_k)` | a matrix of **parameters**, learned: `q = x @ w_q` |
# | `may_attend` | a **mask**: a table of `True` ("may attend") and `False` |
#
# </details>

# %% [markdown]
# ## In three lines
#
# - Softmax turns any scores into positive shares that add up to 1, even when no
#   score is any good.
# - `keepdims=True` keeps the summed axis with length 1, and broadcasting stretches it.
# - Tokens are rows: an array of tokens ends with the axes (rows, numbers per row), and any
#   leading axes are batch axes.
#
# **What you can read now:** the chapter
# [Broadcasting](https://numpy.org/doc/stable/user/basics.broadcasting.html) of NumPy's user
# guide.
#
# **An open question:** what are the shares of the scores 1000, 999 and 998, and what do
# `np.exp` and a division give you? Lesson 01 comes back to this.
