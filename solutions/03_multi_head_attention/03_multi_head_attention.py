# %% [markdown]
# # Multi-head attention
#
# **Why attend several times at once?**
#
# *How much warmer was Thursday than Monday?* You would look up two days and keep them
# apart: 18 **minus** 11. Can attention do that?
#
# After this lesson you can
#
# - say what a second *head* (one attention of several) adds to the first, and show it
#   with a number;
# - split tokens into heads and merge them again without mixing tokens;
# - write multi-head attention for self- and cross-attention, with a mask.
#
# **About 65 minutes, and 45 more in *Going further*.** You need lessons 01 and 02.

# %%
import numpy as np

from autograder import check
from course_lib import figures
from course_lib.attention import attention, scaled_scores, softmax

# %% [markdown]
# ## A question to carry through the lesson
#
# Let attention answer. Below, one **head** gives equal weight to the days you press, and
# answers with the mean of their temperatures. Thursday's 18° minus Monday's 11° is 7°.
#
# **Predict:** can one head give 7°?
#
# - [ ] Yes, if it attends to both days equally.
# - [ ] Yes, if it attends to the right five days.
# - [x] No, whatever it attends to.

# %%
week = dict(Mon=11, Tue=12, Wed=14, Thu=18, Fri=17, Sat=15, Sun=13)
days, degrees, asked_for = [*week], np.array([*week.values()]), {"Thu": 1, "Mon": -1}
degrees_of_week = {"unit": "°", "start": [["Thu"]]}

# %% [markdown]
# **Press days, and try to get 7°.** Then try it with two heads.

# %%
alt = "One head attends to Thursday: it counts 1, and Monday counts 0 instead of −1."
figures.chosen_heads(days, degrees, asked_for, **degrees_of_week, alt=alt)

# %% [markdown]
# One head's answer is a mean, so it lies between 11° and 18°. Two heads can do it: one
# attends to Thursday, the other to Monday, and the second is subtracted.
#
# Here you chose what the heads attend to, and somebody wrote the minus. At the end of this
# lesson, two layers of the same size are **trained** on such questions, and the
# last picture shows what they attend to.
#
# On the map, the three attentions are highlighted again. Each box holds several attentions
# side by side, which is what *multi-head* in its name means.

# %%
alt = "The Transformer's encoder and decoder; the three attentions are highlighted."
figures.lesson_map("03", alt=alt)

# %% [markdown]
# ## Attending once
#
# Why can't one head do it? Take three days. Each has a key that says which day it is, and a
# value, its temperature. A query can ask for one day, or for two at once. (The 4 makes the
# softmax sharp: the key that fits gets nearly all of the weight.)

# %%
k, v = 4 * np.eye(3), np.array([[11.0], [12.0], [18.0]])  # Monday, Tuesday, Thursday
asks = {"Thursday": [0, 0, 4], "both": [4, 0, 4], "Thursday more": [3, 0, 4]}
for name, numbers in asks.items():
    output, weights = attention(np.array([numbers]), k, v)
    print(f"{name:14} weights {weights[0].round(2)}, output {output[0, 0]:.1f}")

# %% [markdown]
# The output is a **weighted mean** of the values, and it stays one, however unequal the
# weights: 7 is out of reach. A mean can't subtract, because weights are never negative. (Other values, or a matrix after the head, don't help either: see *Going
# further*.)

# %% [markdown]
# ## Attending twice
#
# So attend twice to the same three days, put the two outputs **side by side**, and
# multiply them by one more matrix of parameters. Call it `w_o`, with o for output. It
# also gives the result the length that the next layer expects.

# %%
first = attention(np.array([asks["Thursday"]]), k, v)[0]
second = attention(np.array([[4, 0, 0]]), k, v)[0]
side_by_side = np.concatenate([first, second], axis=-1)  # (1, 2)
w_o = np.array([[1.0], [-1.0]])
print(side_by_side.round(2), "→", (side_by_side @ w_o).round(2))
assert abs((side_by_side @ w_o).item() - 7) < 0.01

# %% [markdown]
# That is all of multi-head attention: **attend several times, put the outputs side by side,
# multiply by `w_o`**. Each of these attentions is called a **head**. In the paper:
#
# $$\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \dots, \text{head}_h)\, W^O$$
#
# $$\text{head}_i = \text{Attention}(Q W_i^Q,\; K W_i^K,\; V W_i^V)$$
#
# The paper's $h$ is our `n_heads`; where we write h, it is the index of one head, counted
# from 0.

# %% [markdown]
# There is one trap: in these two lines $Q$, $K$ and $V$ are whole **sequences**, which
# each head still has to project, whereas in lesson 01 they were the queries, keys and
# values themselves. Our code calls the sequences `x` (it attends) and `memory` (it is
# attended to, and appears in the formula twice, as $K$ and as $V$).
#
# A head compares tokens by d_k numbers only, which its own matrices make from each token.
# So each head can see another side of a token: the paper calls it a **representation
# subspace**.

# %% [markdown]
# ## Heads are columns
#
# The paper has 8 heads and tokens of $d_{model} = 512$ numbers. One head's queries and
# keys have $d_k = 64$ numbers, and its values $d_v = 64$. With $512 / 8$ numbers each, eight
# heads together cost about as much as one of 512 would (*Going further* counts it).
#
# Eight matrices of 512 × 64 side by side are one matrix of 512 × 512. So one product,
# `x @ w_q`, makes the queries of all heads, and then **head 0 has the first 64 columns,
# head 1 the next 64**, and so on. Here are three tokens of four numbers for two heads.
# The tens digit names the token, the ones digit the column, both counted from 0:

# %%
x = np.array([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])
head_0, head_1 = x[:, :2], x[:, 2:]
print(head_0, head_1, sep="\n\n")

# %% [markdown]
# The axis of heads goes before the tokens: `(n_heads, n, d_k)`. Then the last two axes
# are a table of tokens for each head, and `attention` treats heads as it treats a batch:
# each by itself, and all at the same time.

# %% [markdown]
# ### Exercise: split_heads
#
# Split each token into heads, for any number of leading axes, without a loop over heads
# if you can.
#
# <details><summary>Hint 1</summary>
#
# One token is a row: the columns of head 0, then the columns of head 1. A reshape can
# cut that row into parts and leave the tokens alone. What is the shape then, and which
# two axes are still in the wrong order?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `*leading, n, d_model = x.shape` reads a shape with any number of leading axes. Which
# two axes must `np.swapaxes` swap after the reshape? If n_heads does not divide d_model,
# there should be an error: reshape's own, an `assert`, or one in your words.
#
# </details>

# %%
from course_lib.heads import split_heads  # exercise

# %%
check(split_heads)

# %% [markdown]
# ## Can reshape do it alone?
#
# One shortcut is to ask reshape for the final shape at once, `x.reshape(2, 3, 2)`.
# Another is to deal out the columns in turn, so that head 0 gets columns 0 and 2. All
# three results have the same shape.
#
# **Predict:** which three rows are head 0 of `x.reshape(2, 3, 2)`?
#
# - [x] (0, 1), (2, 3), (10, 11)
# - [ ] (0, 1), (10, 11), (20, 21)
# - [ ] (0, 2), (10, 12), (20, 22)

# %%
by_columns = split_heads(x, 2)
reshaped = x.reshape(2, 3, 2)
every_second = np.moveaxis(x.reshape(3, 2, 2), -1, 0)
splits = {"split_heads": by_columns, "reshape": reshaped, "every second": every_second}
print("reshape, head 0:", reshaped[0].tolist())

# %%
alt = "Reshape alone mixes tokens within a row; every second column mixes heads."
figures.coloured_heads(x, splits, alt=alt)

# %% [markdown]
# Each colour is a head, and a thick frame marks a number in the wrong position. Checking
# shapes won't reveal this, and nothing crashes later.
#
# *Reshape* is the worse of the two: "row 1 of head 0" is the second half of token **0**, so
# the halves of one token attend to each other. *Every second* at least keeps tokens apart.
# It does no harm if a model is trained that way, but goes wrong as soon as parameters come
# from elsewhere. (*Would a test notice?*, in *Going further*, tries two.)

# %% [markdown]
# ## The way back
#
# After attention, the heads' outputs must become one vector per token again.

# %% [markdown]
# ### Exercise: merge_heads
#
# Write the paper's "Concat": put the columns of all heads side by side again, token
# by token.
#
# <details><summary>Hint 1</summary>
#
# Which two axes must be neighbours before reshape can join them into one?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Undo the two steps of `split_heads`, in the opposite order. The shape
# `(..., n_heads, n, d)` contains all the sizes you need.
#
# </details>

# %%
from course_lib.heads import merge_heads  # exercise

# %%
check(merge_heads)

# %% [markdown]
# ## All together
#
# There are six steps, and you have written each of them: project; split; score in each
# head; softmax; mix the values; merge and multiply by `w_o`.
#
# Two details matter. Each head divides by the root of **its own** d_k, the length of
# the vectors that it multiplies. And there may be a mask: `may_attend[i, j]` says
# whether token i may attend to token j. Lesson 04 is about masks. For now, set a
# blocked score to −∞ before the softmax, because $e^{-\infty} = 0$:

# %%
allowed = np.array([True, False, True])
print(softmax(np.where(allowed, [2.0, 5.0, 2.0], -np.inf)))

# %% [markdown]
# ### Exercise: multi_head_attention
#
# Return the output and the weights of all heads. `split_heads`, `merge_heads`,
# `scaled_scores` and `softmax` are at hand. (`attention` doesn't help, because it takes
# no mask.)
#
# <details><summary>Hint 1</summary>
#
# Write the shape after each line. Where do heads have an axis of their own, and where are
# they columns? `w_q` meets tokens before the split, `w_o` after the merge. Should the
# scale depend on n_heads?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `scaled_scores` divides by the root of the last axis of what it is given. The scores
# are `(..., n_heads, n, m)`, and the mask `(..., n, m)` is the same for all heads, so
# give it an axis of length 1 where the heads are.
#
# </details>

# %%
from course_lib.heads import multi_head_attention  # exercise

# %%
check(multi_head_attention)

# %% [markdown]
# ## Who kicked whom?
#
# *Bob kicked the ball.* To translate *kicked*, you may have to know who did it **and**
# what it was done to: two questions about one word. (The word itself answers a third:
# *did what?*)
#
# Each word takes part in several relations at once, and a translator needs them: in the
# German *Bob trat **den** Ball*, the subject decides the verb's form, and the verb decides
# the case of its object (*den Ball*, not *der Ball*).
#
# Let head 0 ask "who?" and head 1 "whom?", with parameters **chosen by hand**. *kicked*
# asks in both heads, *Bob* answers in head 0, and *ball* in head 1.

# %%
words, tokens = ["Bob", "kicked", "the", "ball"], np.eye(4)
w_q, w_k, w_v = np.zeros((3, 4, 4))
w_q[1] = [6, 0, 6, 0]  # kicked: one number for head 0, one for head 1
w_k[0], w_k[3] = [1, 0, 0, 0], [0, 0, 1, 0]  # Bob, ball
w_v[0], w_v[3] = [1, 0, 1, 0], [0, 1, 0, 1]  # in each head: "Bob", "ball"
parameters = w_q, w_k, w_v, np.eye(4)
output, role_weights = multi_head_attention(tokens, tokens, *parameters, n_heads=2)
print("kicked, two heads:", output[1].round(2))
of_heads = {"roles": [["who?", "whom?"]], "start": (0, 0, 1)}

# %% [markdown]
# Below is a wall of heads: one table per head, one row per query. (All heads in one
# table would be hard to tell apart.) **Press a head** to open it, and point at its
# rows. The three words that ask for nothing attend to all four words equally, as in
# lesson 02.

# %%
alt = "In the row of kicked, head 0 attends to Bob with weight 0.96, head 1 to ball."
figures.wall_of_heads(role_weights[np.newaxis], words, words, **of_heads, alt=alt)

# %% [markdown]
# Read the output of *kicked* in pairs, (Bob, ball) for each head. Head 0 gives (0.96,
# 0.01): who? Bob. Head 1 gives (0.01, 0.96): whom? The ball. Now use the **same
# parameters** with `n_heads=1`.
#
# **Predict:** what does *kicked* attend to now?
#
# - [ ] To all four words equally.
# - [x] To Bob and to ball, about 0.5 each.
# - [ ] To Bob with 0.96, since he comes first.

# %%
output_1, one_head = multi_head_attention(tokens, tokens, *parameters, n_heads=1)
print("weights:", one_head[0, 1].round(2), "output:", output_1[1].round(2))
assert np.allclose(
    output_1[1], output_1[1, 0], atol=1e-12
)  # who and whom look the same

# %% [markdown]
# The two halves of the dot product add up to one score, so the output no longer says who
# kicked. With two heads, the result is a **sum**: each head adds its own output times its
# own rows of `w_o` (*A sum of heads*, in *Going further*).

# %% [markdown]
# The paper (section 3.2.2) wants several heads so that they can attend to different
# subspaces at different positions: "With a single attention head, averaging inhibits
# this." A well-known picture shows a trained model reading the sentence that opens
# lesson 00: from *it*, one head attends mostly to *the animal*, another to *tired*
# ([The Illustrated Transformer](https://jalammar.github.io/illustrated-transformer/)).
#
# What a model takes for granted before it has seen any data is its **inductive bias**.
# Heads are one: they assume in advance that a token may have several questions to ask.
#
# This is a good moment for a break.

# %% [markdown]
# ## Thursday and Monday
#
# Now let layers **learn** to answer the question from the start
# (`course_lib/experiments/two_heads.py`). A token of 16 numbers says which day it is and
# what was measured: temperature and sunshine. A question names two days. It attends to
# the week (cross-attention, lesson 02), and the output should be the two differences
# (temperature, sunshine). Nothing comes after `w_o`.

# %% [markdown]
# One layer has one head of 16 numbers, and the other has two heads of 8, with the same
# number of parameters, in matrices of the same shapes. Their *error* is the mean squared error
# on new questions, divided by the variance of the answers: 0 means always right, 1 means
# no better than always answering 0.
#
# **Predict:** what is the error of the layer with one head?
#
# - [ ] About 0.
# - [x] About 0.5.
# - [ ] About 1.

# %%
from course_lib.experiments import two_heads

one, two = two_heads.train(1), two_heads.train(2)
sizes = [sum(w.size for w in layer.parameters.values()) for layer in (one, two)]
print("parameters of each:", sizes)
print(f"error of one head: {one.error:.1f}, of two heads: {two.error:.1f}")
# Measured 0.513 and 0.001; the room is for the rounding of other machines.
assert sizes[0] == sizes[1] and two.error < 0.02 < 0.45 < one.error < 0.55

# %% [markdown]
# Where does the half come from? The answer is made of two parts that vary equally, the
# first day's number and the second's. A head that attends only to the first day gets one
# part right and misses the other, which is half of the variance.

# %% [markdown]
# Now see what the heads attend to. Your own `multi_head_attention` runs the learned
# parameters on the week at the top of this lesson. In training, temperatures were around 0, so we
# write them as differences from 14°, in units of 5°; multiplying the answer by 5 gives
# degrees again.

# %%
measured = np.stack([(degrees - 14) / 5, np.zeros(7)], axis=-1)  # no sunshine known
tokens_of_week = two_heads.week(measured)
asked = two_heads.question(np.array(3), np.array(0))  # Thursday (3) minus Monday (0)
says_1, weights_1 = multi_head_attention(
    asked, tokens_of_week, **one.parameters, n_heads=1
)
says_2, weights_2 = multi_head_attention(
    asked, tokens_of_week, **two.parameters, n_heads=2
)
answer_1, answer_2 = 5 * says_1[0, 0], 5 * says_2[0, 0]  # the first number: degrees
print(f"one head says {answer_1:.0f}°, two heads say {answer_2:.0f}°")
# Measured 4.8 and 7.1.
assert abs(answer_1 - 7) > 1.5 and abs(answer_2 - 7) < 0.5

# %% [markdown]
# Which day does each head attend to?

# %%
two_heads_say = f"two heads, say {answer_2:.0f}°"
labels = [f"one head, says {answer_1:.0f}°", f"{two_heads_say}: head 0", "head 1"]
labelled = [f"{day} {t}°" for day, t in week.items()]
rows = np.vstack([weights_1[:, 0], weights_2[:, 0]])  # (3, 7)
print("attended to most:", [two_heads.DAYS[day] for day in rows.argmax(axis=-1)])
assert rows.argmax(axis=-1).tolist() == [3, 3, 0] and rows[0, 3] > 0.95

# %%
alt = "One head attends to Thursday; of two, one to Thursday and one to Monday."
figures.attention_of_heads(rows, labels, labelled, query="Thursday − Monday?", alt=alt)

# %% [markdown]
# Thursday was **7° warmer**, and two heads say so. One of them attends most to Thursday's
# 18°, the other to Monday's 11°, and `w_o` subtracts. The single head attends only to
# Thursday and has to guess Monday. Since Thursday is 4° warmer than an average day of 14°,
# 4° would be its best guess; it says 5° because its training was short.

# %% [markdown]
# Both heads give some weight to other days, about the same, so it cancels in the
# difference. Weights say what a head attends to, but not what happens to it afterwards.
#
# In fairness to the single head, this was *one layer with nothing after it*. A second
# layer could attend to the second day (lesson 02, *What is it?*), and real models have
# several layers *and* several heads.

# %% [markdown]
# ## In three lines
#
# - The outputs of all heads are put side by side and multiplied by
#   `w_o`: a sum of one contribution per head.
# - Heads are blocks of columns: reshape, **then** swap axes. Wrong splits can have the
#   right shape.
# - Each head asks its own question and divides by the root of its own d_k. In the same
#   total width, more heads need no more parameters.
#
# **What you can read now:** *Attention Is All You Need*, section 3.2.2 and table 3, rows
# (A); the documentation of `torch.nn.MultiheadAttention`.
#
# **An open question:** a model that learns to write must not attend to words that are
# still to come. How do we prevent that? Lesson 04.

# %% [markdown]
# ## Going further
#
# What follows can be skipped, section by section; no later lesson's core needs it. *Can
# other values help?*, *Do heads have an order?* and *Are several heads an ensemble?*
# answer three questions that readers ask. *Would a test notice?* looks for a wrong
# split, and *A sum of heads* says what each head adds to the output. *Which root?* is
# for those who want to see a wrong scale, *What heads cost* for those who choose the
# number of heads, and *The same in PyTorch* for those who will use PyTorch's own layer.

# %% [markdown]
# ## Can other values help?
#
# One head's answer is a mean of the values. What if these are other numbers, say the
# temperatures times some $c$? All days share this $c$, as all tokens share `w_v`. **Move c,
# and press other days:** can you fill both dashed frames? (Now and then the answer is 7°
# all the same, but by chance: next week it won't be.)

# %%
frames = {"unit": "°", "start": [["Mon", "Thu"]], "factor": True}

# %%
alt = "One head with c = 1: Monday and Thursday both count +0.5; wanted are −1 and +1."
figures.chosen_heads(days, degrees, asked_for, **frames, alt=alt)

# %% [markdown]
# You cannot. Weights are never negative, so a positive $c$ turns all bars up, and a
# negative $c$ turns all bars down, but a difference needs one of each. Nor do longer
# values help, or a matrix after the head: $c$ is then a matrix, but all days still share
# it.

# %% [markdown]
# ## Would a test notice?
#
# A wrong split can have the right shape. A natural test is the round trip: split, merge,
# compare.
#
# **Predict:** does the round trip notice if *both* functions use reshape alone?
#
# - [ ] Yes, for all sizes.
# - [ ] Only if n_heads and n differ.
# - [x] No, never.

# %%
print("your pair:", np.array_equal(merge_heads(by_columns), x))
print("reshape twice:", np.array_equal(reshaped.reshape(3, 4), x))
print("one of each:", np.array_equal(merge_heads(reshaped), x))

# %% [markdown]
# Two matching errors cancel out, so at least one test should compare with numbers written
# by hand, as the check of `split_heads` does.
#
# Or change one token, and see which rows of the heads change:

# %%
changed = x + np.array([[0], [0], [100]])  # only the last token, 2
after = {"split_heads": split_heads(changed, 2), "reshape": changed.reshape(2, 3, 2)}
for name, before in {"split_heads": by_columns, "reshape": reshaped}.items():
    moved = np.argwhere((after[name] != before).any(axis=-1)).tolist()
    print(f"{name:11} rows that change, (head, row): {moved}")
assert moved == [[1, 1], [1, 2]]
assert np.sum(
    np.arange(5120).reshape(8, 10, 64)
    == split_heads(np.arange(5120).reshape(10, 512), 8)
) == (2 * 64)

# %% [markdown]
# With `split_heads`, row 2 of both heads changes, because that is where token 2 is. With
# reshape alone, rows 1 and 2 of head 1 change and nothing in head 0 does, because both
# halves of token 2 are in one head. In a layer of the paper's size (10 tokens, 8 heads of
# 64), only two of 80 rows would be in the right position.

# %% [markdown]
# ## A sum of heads
#
# Back to *Bob kicked the ball*. Here are all products in one picture, in the colours of the
# heads. In `w_q`, `w_k` and `w_v` a head owns *columns*; in `w_o` it owns *rows*.

# %%
role_q, role_k, role_v, role_o = parameters
parts = {"x": tokens, "w_q": role_q, "w_o": role_o, "output": output}
for name, w in {"queries": role_q, "keys": role_k, "values": role_v}.items():
    parts[name] = tokens @ w
parts["side by side"] = merge_heads(role_weights @ split_heads(parts["values"], 2))

# %%
alt = "Columns of w_q belong to heads, rows of w_o too; the output has four numbers."
figures.products_of_heads(parts, role_weights, words, alt=alt)

# %% [markdown]
# What does one head add to the output? The outputs side by side, times `w_o`, are a
# **sum**: each head adds its own output times its own rows of `w_o`. For *kicked*:

# %%
of_each = role_weights @ split_heads(tokens @ role_v, 2)  # (2, 4, 2)
added = [of_each[head, 1] @ role_o[2 * head : 2 * head + 2] for head in (0, 1)]
print("head 0 adds", added[0].round(2))
print("head 1 adds", added[1].round(2))
assert np.allclose(added[0] + added[1], output[1], rtol=0, atol=1e-12)

# %% [markdown]
# So you can take one head out of the sum to see what a model loses, as Michel, Levy and
# Neubig (2019) did. In Voita et al. (2019), a translator that was trained on to do
# without them barely missed 38 of its encoder's 48 heads! Those that mattered attended
# to neighbours, to rare tokens (in the first layer) or along the syntax, from a verb to
# its subject or object. Lesson 13 examines such heads.

# %% [markdown]
# ## Do heads have an order?
#
# Take five random tokens and random matrices for three heads. Make the last head the first
# in `w_q`, `w_k` and `w_v`, by moving its *columns*, and leave `w_o` as it is.
#
# **Predict:** what happens to the output?
#
# - [ ] Nothing: it is the same.
# - [x] Its numbers change.
# - [ ] Its columns move, too.

# %%
rng = np.random.default_rng(3)
drawn = rng.normal(size=(5, 12))  # five tokens
w_q, w_k, w_v, w_o = rng.normal(size=(4, 12, 12)) / 12**0.5
columns = np.arange(12).reshape(3, 4)[[2, 0, 1]].ravel()  # whole heads move
three = multi_head_attention(drawn, drawn, w_q, w_k, w_v, w_o, n_heads=3)[0]
moved_qkv = [w[:, columns] for w in (w_q, w_k, w_v)]
all_four = multi_head_attention(drawn, drawn, *moved_qkv, w_o[columns], n_heads=3)[0]
without_w_o = multi_head_attention(drawn, drawn, *moved_qkv, w_o, n_heads=3)[0]
print("w_o left as it was, same output:", np.allclose(without_w_o, three))
print("rows of w_o moved, too, same output:", np.allclose(all_four, three))
assert np.abs(all_four - three).max() < 1e-12 < 0.1 < np.abs(without_w_o - three).max()

# %% [markdown]
# Each head met the rows of `w_o` that belong to another. Move these *rows* along with the
# columns, and the output is the same: heads have no order. So "head 3" of one trained model
# has nothing to do with "head 3" of another.

# %% [markdown]
# ## Are several heads an ensemble?
#
# An *ensemble* is a group of separately trained models whose answers are averaged. Take
# three layers of one head each. We trained them, and layers of one, two and four heads, for
# longer beforehand, with three seeds (`python -m course_lib.experiments two_heads`).
#
# **Predict:** what is the error of the ensemble?
#
# - [ ] Below 0.25, close to two heads.
# - [x] Between 0.25 and 0.6.
# - [ ] Above 0.6, worse than one head.

# %%
from course_lib.experiments import record

runs = record.read("two_heads")
for name in ("error_1", "error_2", "error_4", "error_ensemble"):
    print(f"{name:15}", [f"{value:.2f}" for value in runs.values(name)])
at_first = runs.values("ensemble_at_first")
print("members (of 3) that attend to the first day, per seed:", at_first)
different, *others = runs.values("error_ensemble")
assert min(runs.values("error_1")) > 0.5 and min(runs.values("error_ensemble")) > 0.29
assert max(runs.values("error_2") + runs.values("error_4")) < 0.001
assert at_first == [2, 0, 0] and abs(different - 5 / 18) < 0.02 and min(others) > 0.5

# %% [markdown]
# So no. People say that heads are an ensemble because both combine several answers. But all
# members of an ensemble get the same question, and their answers are averaged, whereas
# heads ask **different** questions, and `w_o` treats each answer in its own way. The
# ensembles have an error of 0.29 to 0.51, the two-head layers of less than 0.001.

# %% [markdown]
# Why is one ensemble better than the others? With seed 0, two members attend to the first
# day of the question and one to the second. The mean of their answers has two thirds of
# one day and one third of the other, so it misses $(\tfrac19 + \tfrac49) / 2 = 0.28$ of
# the variance. With the other seeds, all three members attend mostly to the second day,
# so they all make the same error, and so does their mean.


# %% [markdown]
# ## Which root?
#
# Scores are divided to keep their standard deviation at 1 (lesson 01), and a head's dot
# product has d_k terms. Try √d_k and √d_model with 8 heads of 64 numbers.

# %%
q, k = np.random.default_rng(3).normal(size=(2, 8, 16, 64))
for name, root in {"√d_k": 64**0.5, "√d_model": 512**0.5}.items():
    scores = q @ np.swapaxes(k, -1, -2) / root  # (8, 16, 16)
    print(f"{name:8} deviation {scores.std():.2f}")
    assert abs(scores.std() - 8 / root) < 0.06 * 8 / root

# %% [markdown]
# Without heads d_k often *is* d_model, so it is easy to forget this line when you add
# heads. Then scores come out √n_heads times too small, here with deviation 1/√8, about
# 0.35, instead of 1, so before training every head attends to all tokens almost equally.
# Yet all shapes are right, and rows sum to 1.
#
# Some texts write √n, the root of the number of tokens: then the deviation would depend on
# the length of the sentence.

# %% [markdown]
# ## What heads cost
#
# Do more heads mean more parameters and more work? Count them.

# %% [markdown]
# ### Exercise: count_parameters
#
# Count what is learned with the paper's sizes, where each head has
# $d_k = d_v = d_{model} / n_{heads}$. A **bias** is a vector of parameters that a
# projection adds after its matrix product; the paper's formula has none, but most code
# does.
#
# <details><summary>Hint 1</summary>
#
# There are four matrices. With heads side by side, what is the shape of each? How long is
# its output, and therefore its bias?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Draw the four matrices for d_model = 4 and 2 heads. What does n_heads change in them?
#
# </details>

# %%
from course_lib.heads import count_parameters  # exercise

# %%
check(count_parameters)

# %% [markdown]
# Operations are multiplications and additions (FLOPs). The product of an `(a, b)` matrix
# and a `(b, c)` matrix takes 2·a·b·c of them. The layer has six products: `x` times
# `w_q`, `w_k` and `w_v`; queries times keys; weights times values; and the heads' outputs
# times `w_o`. `course_lib/lessons/cost.py` counts the operations for 512 tokens of 512
# numbers, with d_k = d_v = 512 / n_heads.
#
# **Predict:** which of these is 16 times as large with 16 heads as with one?
#
# - [ ] The operations in the six products.
# - [ ] The operations and the attention weights.
# - [x] The attention weights alone.

# %%
from course_lib.lessons.cost import matmul_flops

learned, operations = set(), set()
for n_heads in (1, 2, 4, 8, 16):
    learned.add(count := count_parameters(512, n_heads, bias=False))
    operations.add(work := sum(matmul_flops(512, n_heads, 512).values()))
    row = f"{n_heads:2} heads: {count:,} parameters, {work:,} operations, "
    print(row + f"{n_heads * 512 * 512:9,} attention weights")
assert learned == {4 * 512**2} and operations == {6 * 2 * 512**3}

# %% [markdown]
# Parameters and operations are the same for 1 and for 16 heads, to the last digit,
# because the heads *share* the 512 numbers: each of the six products takes 2·512·512·512.
# (For n tokens, queries times keys and weights times values take 2·n²·512 each; here n is
# 512 too.)
#
# Only the attention weights grow, since each head has a table of its own. So the softmax
# has 16 times as much work, and a program that stores the tables needs 16 times the
# memory. How much work is that, at about five operations per weight?

# %%
extra = 5 * 16 * 512 * 512 / work
print(f"softmax of 16 heads, compared with the products: {extra:.1%}")
assert extra < 0.02

# %% [markdown]
# Heads have a different price: more heads mean shorter queries and keys. With d_k = 1 a
# key is a single number, and one number can tell few things apart. In the paper (table 3,
# rows A), 32 heads with d_k = 16 are 0.4 BLEU (the usual score for translations) worse
# than 8. One head is worse too, by 0.9.

# %% [markdown]
# ## The same in PyTorch
#
# `torch.nn.MultiheadAttention` is this lesson as a module. It stores the three input
# matrices **on top of each other** in one tensor, each transposed: (out, in). Its
# `state_dict()` is a dictionary of all parameters by name.

# %%
import torch

torch.manual_seed(0)
theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
for name, part in theirs.state_dict().items():
    print(name, tuple(part.shape))

# %% [markdown]
# ### Exercise: load_torch_parameters
#
# Read these parameters into the shapes that our functions take.
#
# <details><summary>Hint 1</summary>
#
# Which rows of "in_proj_weight" belong to the queries, if all three parts are equally
# large? We write `x @ w_q`; what does PyTorch compute, since its matrices are transposed?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `.detach().cpu().numpy()` turns any tensor of parameters into an array. Along which axis
# must `np.split` cut it into three? Biases are vectors, so is there anything to
# transpose? And are there always biases?
#
# </details>

# %%
from course_lib.heads import load_torch_parameters  # exercise

# %%
check(load_torch_parameters)

# %% [markdown]
# PyTorch starts all biases at **0**, so nobody would notice if you forgot them. So first
# give every parameter a random number.
#
# How do biases enter our function, which has no argument for them? A bias is a row of
# parameters for a number that is always 1:
#
# $$x W + b = [x, 1] \begin{bmatrix} W \\ b \end{bmatrix}$$
#
# So append a 1 to every token and a row `b_q` to `w_q`, and so on; `b_o` is added at the
# end. We take five random tokens.

# %%
five = np.random.default_rng(3).normal(size=(5, 12))
for part in theirs.parameters():
    torch.nn.init.normal_(part)
loaded = load_torch_parameters(theirs.state_dict())
with_one = np.concatenate([five, np.ones((5, 1))], axis=-1)  # (5, 13)
below = [np.vstack([loaded[f"w_{name}"], loaded[f"b_{name}"]]) for name in "qkv"]
output, weights = multi_head_attention(with_one, with_one, *below, loaded["w_o"], 3)
output = output + loaded["b_o"]

# %% [markdown]
# Compare the outputs, and the weights head by head. By default, PyTorch returns the
# **mean** of the heads' weights, which hides what each head does;
# `average_attn_weights=False` asks for all of them.

# %%
thrice = [torch.from_numpy(five)] * 3  # query, key and value: PyTorch projects them
with torch.no_grad():
    expected = theirs(*thrice, average_attn_weights=False)
    by_default = theirs(*thrice)[1].numpy()
yours = {"output": output, "weights": weights}
for (name, mine), tensor in zip(yours.items(), expected, strict=True):
    gap = np.abs(mine - tensor.numpy()).max()
    print(f"{name} {mine.shape}, yours and theirs are equal:", bool(gap < 1e-10))
    assert gap < 1e-10
print("by default the mean of heads:", np.allclose(by_default, weights.mean(axis=0)))
matrices = [loaded[f"w_{name}"] for name in "qkvo"]
no_bias = multi_head_attention(five, five, *matrices, 3)[0]
print("without the biases, same output:", np.allclose(no_bias, output))
assert np.abs(no_bias - output).max() > 0.1

# %% [markdown]
# In the paper's size, the module has four matrices of 512 × 512, and four biases:

# %%
paper = torch.nn.MultiheadAttention(512, 8)
print(sum(part.numel() for part in paper.parameters()), 4 * (512 * 512 + 512))
assert sum(part.numel() for part in paper.parameters()) == 1_050_624
