# %% [markdown]
# # Start here
#
# **How does this course work?**
#
# After this lesson you can
#
# - work through any exercise of this course and read what its check tells you;
# - read the notation that all lessons share;
# - turn scores into shares by hand, keep an axis while you sum over it, and let NumPy
#   combine every row of one array with every row of another.
#
# **About 30 minutes.** You need Python, and matrix products as a first course teaches
# them. You don't need to know anything about attention.

# %%
import math

import numpy as np

from autograder import check
from course_lib import figures
from course_lib.lessons.environment import check_environment

# %% [markdown]
# ## How the course works
#
# A lesson is one notebook. You read a little, run a cell with **Shift + Enter**, and now
# and then write a function yourself. Below each function is a check. It says more than
# *wrong*: if your answer shows a typical misconception, the check names it and asks a
# question to help you on.
#
# Before many cells you are asked to predict what they print. Click your guess and run the
# cell; the explanation below it is covered until then.
#
# Nothing that you type can break the course. This notebook is your own copy, and a newer
# version of the lesson keeps your answers.

# %% [markdown]
# After you edit a cell, run it again: a check sees the last version that ran. If something
# looks odd, use the menu **Kernel → Restart Kernel and Run up to Selected Cell**.
#
# The heading of an exercise says how many minutes it takes, how hard it is (● to ●●●) and
# how many points it is worth in a class. *Home*, linked at the top, shows which exercises
# you have solved and where to go on.
#
# First: is everything installed?

# %%
check_environment()

# %% [markdown]
# If that cell printed an error instead of a sentence, the error says what to do.

# %% [markdown]
# ## Shares from scores, by hand
#
# *The animal didn't cross the street because it was too tired.* Which word does *it*
# stand for? Three candidates have a **score** each: *animal* 2, *street* 1, *because* −1.
# We want **shares**: positive numbers that add up to 1, larger where the score is larger.
# A natural first idea is to divide each score by the sum of the scores.
#
# **Predict:** which numbers do you get if you divide 2, 1 and −1 by their sum?
#
# - [ ] 0.67, 0.33 and 0
# - [ ] 0.5, 0.25 and 0.25
# - [x] 1, 0.5 and −0.5

# %%
scores = [2.0, 1.0, -1.0]
print([score / sum(scores) for score in scores])

# %% [markdown]
# *because* gets a share of minus one half, and *animal* gets everything. A negative share
# makes no sense, and with the scores 2, 1 and −3 the sum would be 0: no answer at all.
#
# So first make every score positive in a way that keeps their order. The exponential
# function does that: $e^{2} \approx 7.39$, $e^{1} \approx 2.72$, $e^{-1} \approx 0.37$.
# *Then* divide by the sum, which is 10.48.

# %%
powers = np.exp(scores)
shares = powers / powers.sum()
print(shares.round(3), "sum:", round(shares.sum(), 3))

# %% [markdown]
# This recipe is called **softmax**: $\;p_i = e^{s_i} / \sum_j e^{s_j}$.
#
# Notice that the shares are positive, keep the order of the scores and add up to 1. You
# will meet softmax in every lesson.

# %% [markdown]
# ### Exercise: softmax_by_hand
#
# Write the recipe for a list of any length, in plain Python without NumPy: `math.exp`
# gives the powers of e. The text in quotes under the first line is the contract: what goes
# in, what comes out, an example. Put your answer in place of the line
# `raise NotImplementedError`.
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
# Each line of a check is one claim about your function. In a class, these claims give a part
# of the points. For the rest, grading tries a few more inputs of the same kind, and asks for
# nothing that the contract does not say. If you learn alone, ignore points.
#
# Now get it wrong on purpose. Leave out the exponential, run your cell and the check again,
# and read the message. The line with the arrow, at the top, names the misconception. Click
# a ✗ to see what your function was given, what it returned and what was expected. Then
# repair it.

# %% [markdown]
# ## Shapes
#
# From here on numbers come in arrays. A sentence of 5 words, each described by 4 numbers,
# is an array of shape `(5, 4)`: **one word per row**. Two sentences at once, a **batch**, are
# `(2, 5, 4)`. We write `(..., n, d)` for "any axes in front, then n rows of d numbers".

# %%
sentences = np.arange(40.0).reshape(2, 5, 4)
print(sentences.shape, "→", sentences[0, 2], "is word 2 of sentence 0")

# %% [markdown]
# Axes can be counted from the end, too: `axis=-1` is the last one.
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
# Each word has its sum. With `keepdims=True` the summed axis stays, with length 1. You can
# divide the rows by that sum, because NumPy stretches an axis of length 1. This is called
# **broadcasting**:
#
# - axes are compared from the right;
# - two axes fit if they are equal or if one of them is 1;
# - a missing axis in front counts as 1.

# %% [markdown]
# So without `keepdims`, `(2, 5, 4) / (2, 5)` is an error.
#
# **Predict:** what do you get if you divide the table [[1, 3], [2, 6]] by its row sums, 4
# and 8, of shape (2,)?
#
# - [x] [[0.25, 0.375], [0.5, 0.75]]
# - [ ] [[0.25, 0.75], [0.25, 0.75]]
# - [ ] An error

# %%
square = np.array([[1.0, 3.0], [2.0, 6.0]])
divided = square / square.sum(axis=-1)
print(divided, "row sums:", divided.sum(axis=-1))

# %% [markdown]
# No error, and yet wrong: the rows sum to 0.625 and 1.25. Broadcasting starts from the
# right, so the first *column* was divided by 4 and the second by 8.
#
# That is why the checks of this course use different sizes and also try a square table.

# %% [markdown]
# ### Exercise: normalise_rows
#
# Divide each row by its own sum, for any number of axes in front.
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
# Attention compares each word of one sentence with each word of another. Below, `a` has 3
# entries and `b` has 2, so there are 3 × 2 pairs. Broadcasting makes the table of pairs
# without a loop: give `a` an axis of length 1 where `b` has its entries, and the other way
# round. `np.newaxis` adds such an axis.

# %%
a = np.array([1.0, 2.0, 3.0])  # (3,)
b = np.array([10.0, 20.0])  # (2,)
table = a[:, np.newaxis] * b[np.newaxis, :]  # (3, 1) times (1, 2) gives (3, 2)
print(table)

# %% [markdown]
# Row i, column j holds $a_i b_j$. All lessons draw a table of pairs like this: one row
# for each entry of the first array, one column for each of the second. Purple is
# positive, orange negative, white zero.

# %%
names = ["a 0", "a 1", "a 2"], ["b 0", "b 1"]
alt = "A table of 3 by 2 products: 10, 20; 20, 40; 30, 60."
figures.signed_heatmap(table, *names, alt=alt)

# %% [markdown]
# In an index, three dots stand for "all axes that are not named". With them a new axis can
# be added near the end, however many axes come before it.
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
# ### Exercise: pairwise_sums
#
# Now with sums instead of products, and with rows of d numbers: entry `[i, j]` of the
# result is itself a row, $a_i + b_j$.
#
# <details><summary>Hint 1</summary>
#
# Write down the three shapes: of the result, of `a` with one more axis, of `b` with one
# more axis. Compare them from the right.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Where must the new axis of `a` go if each entry of `a` is a row, and where that of `b`?
#
# </details>

# %%
from course_lib.warm_up import pairwise_sums  # exercise

# %%
check(pairwise_sums)

# %% [markdown]
# ## The notation of all lessons
#
# You don't need to know these words yet. Come back whenever a letter looks strange.

# %% [markdown]
# | letter | meaning |
# |---|---|
# | `n`, `m` | number of queries, number of keys |
# | `d_model` | numbers that describe one token (a word, or a piece of one) |
# | `d_k`, `d_v` | numbers in a query or key, numbers in a value |
# | `q (..., n, d_k)` | queries, one per row: what is looked for |
# | `k (..., m, d_k)` | keys, one per row: what can be found |
# | `v (..., m, d_v)` | values, one per row: what is handed out |
# | `scores (..., n, m)` | how well query i matches key j |
# | `weights (..., n, m)` | softmax of the scores over the keys: each **row** sums to 1 |
# | `output (..., n, d_v)` | `weights @ v` |

# %% [markdown]
# | letter | meaning |
# |---|---|
# | `n_heads`, `n_layers` | number of attention heads (lesson 03), of layers (09) |
# | `d_ff` | width of the feed-forward network (09) |
# | `vocab_size` | number of known tokens (06) |
# | `x (..., n, d_model)` | tokens, one per row |
# | `w_q (d_model, d_k)` | a matrix of **parameters**, learned: `q = x @ w_q` |
# | `may_attend` | a table of truth values (a **mask**): `True` means "may attend" |
#
# Three habits: tokens are **rows**. Axes in front of them (sentences, heads) stay as they
# are. *Weights* always means attention weights; what is learned is called *parameters*.

# %% [markdown]
# ## In three lines
#
# - Softmax turns any scores into positive shares that add up to 1.
# - `keepdims=True` keeps the summed axis with length 1; broadcasting stretches it.
# - Tokens are rows: an array of tokens ends with the axes (rows, numbers per row), and all
#   axes in front of them are batch axes.
#
# **What you can read now:** the chapter
# [Broadcasting](https://numpy.org/doc/stable/user/basics.broadcasting.html) of NumPy's user
# guide.
#
# **An open question:** what are the shares of the scores 1000, 999 and 998, and what do
# `np.exp` and a division make of them? Lesson 01 comes back to it.
