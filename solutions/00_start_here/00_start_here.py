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
#   combine every row with every row.
#
# **About 40 minutes.** You need Python, and matrix products as a first course teaches
# them. Nothing about attention.

# %%
import math

import numpy as np

from autograder import check
from course_lib import figures
from course_lib.lessons.environment import check_environment

# %% [markdown]
# ## How the course works
#
# A lesson is one notebook. You read a little, predict, run a cell with **Shift + Enter**,
# see what happens, and now and then write a function yourself. Below each of your functions
# is a check. It says more than *wrong*: where it recognises the misconception behind your
# answer, it names it and asks a question that leads you on.
#
# Nothing that you type can break the course. This notebook is your own copy, and a newer
# version of the lesson keeps your answers. After you edit a cell, run it again: a check
# sees the last version that ran. If something looks odd, use the menu **Kernel → Restart
# Kernel and Run up to Selected Cell**.

# %% [markdown]
# The heading of an exercise says how many minutes it takes, how hard it is (● to ●●●) and
# how many points it is worth in a class. A line that begins with `assert` stops its cell if
# what it says is false: the lesson's own claims check themselves. *Home*, linked at the top,
# shows which exercises you have solved and where to go on.
#
# First: is everything installed?

# %%
check_environment()

# %% [markdown]
# If that cell printed an error instead of a sentence, the error says what to do.

# %% [markdown]
# ## Shares from scores, by hand
#
# Three words apply for the job of explaining what *it* means in a sentence. Each has a
# **score**: *animal* 2, *street* 1, *because* −1. We want **shares**: positive numbers
# that add up to 1, larger where the score is larger.
#
# Dividing each score by the sum of the scores is tempting. **Predict** the three numbers,
# then run the cell.

# %%
scores = [2.0, 1.0, -1.0]
tempting = [score / sum(scores) for score in scores]
print(tempting)

# %% [markdown]
# *because* gets a share of minus one half, and *animal* gets all of it. A negative share
# makes no sense, and with the scores 2, 1, −3 the sum would be 0: no answer at all.
#
# So first make every score positive, in a way that keeps their order. The exponential
# function does both: $e^{2} \approx 7.39$, $e^{1} \approx 2.72$, $e^{-1} \approx 0.37$.
# *Then* divide by the sum, which is 10.48.

# %%
powers = np.exp(scores)
shares = powers / powers.sum()
print(shares.round(3), "sum:", round(shares.sum(), 3))

# %% [markdown]
# This recipe is called **softmax**: $\;p_i = e^{s_i} / \sum_j e^{s_j}$.
#
# Notice that the shares are positive, keep the order of the scores and add up to 1.
# Softmax comes back in every lesson.

# %% [markdown]
# ### Exercise: softmax_by_hand
#
# Write the recipe for a list of any length, in plain Python without NumPy: `math.exp`
# gives the powers. The text in quotes under the first line is the contract: what goes in,
# what comes out, an example. Put your answer in place of the line
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
# A check shows what your function must do. If your course is graded, a few more inputs of
# the same kind are tried then; nothing is asked that the contract does not say. Points are
# for computing: what zeros or an example learned by heart would pass as well counts as soon
# as your function is right for newly drawn inputs too.
#
# Whatever you answered: get it wrong on purpose now. Leave out the exponential, run your
# cell and the check again, and read the message. It shows what your function was fed, what
# it returned and what was expected; the arrow at the end names the misconception. Then
# repair it.

# %% [markdown]
# ## Shapes
#
# From here on numbers come in arrays. A sentence of 5 words, each described by 4 numbers,
# is an array of shape `(5, 4)`: **one word per row**. Two sentences at once are
# `(2, 5, 4)`. We write `(..., n, d)` for "any axes in front, then n rows of d numbers".

# %%
sentences = np.arange(40.0).reshape(2, 5, 4)
print(sentences.shape, "→", sentences[0, 2], "is word 2 of sentence 0")

# %% [markdown]
# Summing over the last axis gives one number per word. **Predict** the two shapes that
# the next cell prints. By which of them can `(2, 5, 4)` be divided, row by row?

# %%
print(sentences.sum(axis=-1).shape)
print(sentences.sum(axis=-1, keepdims=True).shape)

# %% [markdown]
# With `keepdims=True` the summed axis stays, with length 1, and NumPy stretches it along
# the row. This is called **broadcasting**: axes are compared from the right; they fit if
# they are equal or if one of them is 1, and a missing axis in front counts as 1.
#
# Without it, `(2, 5, 4) / (2, 5)` is an error, and that is the lucky case. **Predict**
# what happens to a square table.

# %%
square = np.array([[1.0, 3.0], [2.0, 6.0]])
wrong = square / square.sum(axis=-1)
print(wrong, "row sums:", wrong.sum(axis=-1))

# %% [markdown]
# No error, and wrong: the rows sum to 0.625 and 1.25. The row sums, 4 and 8, were laid
# along the *columns*, because broadcasting starts from the right.
#
# That is why this course checks with sizes that are all different.

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
# The sums must keep an axis of length 1 where the row was.
#
# </details>

# %%
from course_lib.warm_up import normalise_rows  # exercise

# %%
check(normalise_rows)

# %% [markdown]
# ## Every row with every row
#
# Attention compares each word of one sentence with each word of another. With 3 entries in
# `a` and 2 in `b`, that is a table of 3 × 2 pairs. Broadcasting makes the table without a
# loop: give `a` an axis of length 1 where `b` has its entries, and the other way round.
# `np.newaxis` adds such an axis.

# %%
a = np.array([1.0, 2.0, 3.0])  # (3,)
b = np.array([10.0, 20.0])  # (2,)
table = a[:, np.newaxis] * b[np.newaxis, :]  # (3, 1) times (1, 2) gives (3, 2)
print(table)

# %% [markdown]
# Row i, column j holds $a_i b_j$. As a picture, which is how all lessons draw a table of
# pairs: rows down, columns across.

# %%
alt = "A table of 3 by 2 products: 10, 20; 20, 40; 30, 60."
figures.signed_heatmap(table, ["a 0", "a 1", "a 2"], ["b 0", "b 1"], alt=alt)

# %% [markdown]
# In an index, three dots stand for "all axes in front". With them a new axis ends up
# where you want it, however many axes come before it. **Predict** the two shapes.

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
# `(n, 1, d)` and `(1, m, d)` fit together and give `(n, m, d)`.
#
# </details>

# %%
from course_lib.warm_up import pairwise_sums  # exercise

# %%
check(pairwise_sums)

# %% [markdown]
# ## The notation of all lessons
#
# Come back whenever a letter looks strange.
#
# | letter | meaning |
# |---|---|
# | `n`, `m` | number of queries, number of keys (rows) |
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
# | `d_ff`, `vocab_size` | width of a layer of lesson 09, number of known tokens (06) |
# | `w_q (d_model, d_k)` | a matrix of **parameters**, learned: `q = x @ w_q` |
# | `may_attend` | a mask of truth values: `True` means "may attend" |
#
# Three habits: tokens are **rows**; axes in front of them (sentences, heads) stay
# as they are; *weights* always means attention weights, and what is learned is called
# *parameters*.

# %% [markdown]
# ## In three lines
#
# - Softmax turns any scores into positive shares that add up to 1.
# - `keepdims=True` keeps the summed axis with length 1; broadcasting stretches it.
# - Tokens are rows, always; the last two axes are what a lesson talks about.
#
# **What you can read now:** the chapter "Broadcasting" of NumPy's user guide.
#
# **An open question:** softmax of the scores 1000, 999 and 998 has a good answer. Why does
# the recipe of this lesson not find it? Lesson 01 begins there.
