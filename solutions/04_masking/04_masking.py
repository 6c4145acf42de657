# %% [markdown]
# # Masking
#
# **How do we forbid attending?**
#
# After this lesson you can
#
# - make the masks that a Transformer needs, and combine them;
# - turn scores into weights that are 0 wherever a query may not attend, however large
#   the scores are;
# - find out whether a model sees the future, before and after training.
#
# **About 70 minutes, and 60 more in *Going further*.** You need lessons 01 (`softmax`,
# scaled scores), 02 (self-attention) and 03 (heads).

# %%
from collections.abc import Callable

import numpy as np

from autograder import check
from course_lib import attention, figures, masks
from course_lib.experiments import record
from course_lib.lessons import decoder_variants

# %% [markdown]
# ## Hide what comes next
#
# *the cat sat on it*: a model that learns to write has to say, at each word, which word
# comes next. Each row below says how much attention a word gives to each of the five words,
# before any training. In the dashed cells, a word attends to a **later** one, where it can
# look up what it should guess.
#
# **Predict:** block one cell, from *the* to *cat*. What happens to the other four numbers
# in its row?
#
# - [ ] Nothing.
# - [ ] All four grow by the same amount.
# - [x] All four grow by the same factor.

# %%
words = ["the", "cat", "sat", "on", "it"]
x = np.random.default_rng(0).normal(size=(5, 4))  # a random vector for each word
scores = attention.scaled_scores(x, x)  # (5, 5)

# %% [markdown]
# **Press the cell from *the* to *cat*, and compare with your prediction. Then press on,
# until no word sees a later one.**

# %%
alt = "Nothing is blocked: the gives cat 0.28, and four of the five words see a later one."
figures.switchable_mask(attention.softmax(scores), words, words, alt=alt)

# %% [markdown]
# The weights of a row sum to 1, blocked or not. In the row of *the*, 1 − 0.28 = 0.72 was
# left, and each of the four weights is divided by 0.72, so they keep their proportions.
#
# What if you block a whole row? Then there is nothing to divide by. This row will keep us
# busy later.

# %% [markdown]
# ## A question to carry through the lesson
#
# Why hide anything? Roll a fair die with ten faces, again and again. A small model
# (`course_lib/experiments/leak_canary.py`) reads the rolls and says how likely each face
# is to come next. After training, it was tested on new rolls. Here is the probability that
# it gave to the roll that came next (the geometric mean over all rolls; of three
# trainings, the median):

# %%
runs = record.read("leak_canary")
print("what a fair die allows:", np.exp(-np.log(10)).round(2))
print("what this model gave: ", np.exp(-runs.median("none")).round(2))
assert 0.84 < np.exp(-runs.median("none")) < 0.88  # each run alone: see the end

# %% [markdown]
# Nobody can predict a fair die, so the model must have **seen** the rolls that it
# predicts. How? And what keeps it from reaching 1.00? *The die again*, at the end, answers
# both questions.
#
# A **mask**, a table of who may attend to whom, can keep a model from cheating. On the map,
# the attention that could cheat without one is lit up:

# %%
alt = "The Transformer's encoder and decoder; the causal attention is lit up."
figures.lesson_map("04", alt=alt)

# %% [markdown]
# ## Every position is a task
#
# While a model writes, the next token doesn't exist yet. But in training, the whole
# sentence is fed in at once, so each position becomes a task of its own:
#
# | position | has read | must predict |
# |---|---|---|
# | 0 | the | cat |
# | 1 | the cat | sat |
# | 2 | the cat sat | on |
# | 3 | the cat sat on | it |
#
# With nothing blocked, *the* gave 28 % of its weight to *cat*, the very word that it must
# predict, and training will exploit that. The decoder of a translator could cheat in the
# same way: in training, it is given the whole correct translation.

# %% [markdown]
# The remedy is a table of booleans, **`may_attend`**, with one row per query and one
# column per key: True = may attend. (In some libraries, True means *blocked*.) The table
# that blocks the future is called a **causal mask**: no token attends to a later one.
#
# **Predict:** the causal mask of three words has nine cells. How many are True?
#
# - [ ] 3
# - [x] 6
# - [ ] 9

# %%
for i in range(3):
    print(words[i], "may attend to", words[: i + 1])

# %% [markdown]
# Six are True, since a token may attend to **itself**. That is not cheating: its own word
# is input, and the target is the next one.

# %% [markdown]
# ### Exercise: causal_mask
#
# Make the mask for n queries and m keys. Key j is at position j, query i at position i +
# offset. For a whole sentence, the offset is 0. But a model that is writing may have stored
# the keys of five words (a *KV cache*); then query 0 is at position 5.
#
# <details><summary>Hint 1</summary>
#
# A comparison of two numbers gives a boolean: which two positions decide whether query i
# may attend to key j?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Lesson 00 compared every row with every row. Do the same here, with a column of the
# queries' positions against a row of the keys' positions, both made with `np.arange`. How
# many keys are there if m is None?
#
# </details>

# %%
from course_lib.masks import causal_mask  # exercise

# %%
check(causal_mask)

# %% [markdown]
# Thanks to this mask, one pass over a sentence trains all of its positions at once, and
# in attention, none of them sees what comes next. (What that costs: *Going further*.)

# %% [markdown]
# ## Sentences of different lengths
#
# The future is not all that has to be hidden. A batch is one array, so its sentences must
# be equally long. The short ones get **padding** at the end, here rows of zeros.
#
# **Predict:** the one-word sentence *yes* has the vector (2, 0, 0, 0), so its score with
# itself is 4 / √4 = 2, and e² ≈ 7.4. It is padded with three rows of zeros. How much of
# the weight of *yes* goes to the zeros?
#
# - [ ] None
# - [x] Some, but less than half
# - [ ] More than half

# %%
yes = np.array([[2.0, 0.0, 0.0, 0.0]])
padded = np.concatenate([yes, np.zeros((3, 4))])
print("alone: ", attention.softmax(attention.scaled_scores(yes, yes))[0])
shares = attention.softmax(attention.scaled_scores(yes, padded))[0]
print("padded:", shares.round(2))
assert 0.28 < shares[1:].sum() < 0.3

# %% [markdown]
# A key of zeros has the score 0, and $e^0 = 1$ is not nothing. Of 3 + 7.4 parts, 3 go to
# the padding: 29 % of the weight. Worse, this share depends on the longest sentence in the
# batch, so the same sentence would mean something else in other company.
#
# A **padding mask** prevents that: it blocks the *keys* that are padding, for all queries
# of the sentence. `padding_mask` makes it from the lengths of the sentences and the number
# of keys (an exercise in *Going further*). As a *query*, padding may go on attending,
# since nothing attends to it, and training ignores its predictions.

# %% [markdown]
# ## Several masks at once
#
# A Transformer uses attention in three ways (lesson 02), each with its own mask:
#
# | who attends to what | mask |
# |---|---|
# | encoder to its own sentence | padding of the source |
# | decoder to its own sentence | causal **and** padding of the target |
# | decoder to the encoder's sentence (*cross-attention*) | padding of the source |
#
# The third has no causal mask, because the whole source is there while the model writes.
#
# **Predict:** of five positions, the first three are tokens. How many of the 25 cells do
# both masks allow?
#
# - [ ] 9
# - [x] 12
# - [ ] 15
# - [ ] 18

# %%
from course_lib.masks import padding_mask

causal = causal_mask(5)  # (5, 5)
padding = padding_mask([3], 5)[0]  # of the first, and only, sentence: (1, 5)
both = causal & padding
print("allowed in each row:", both.sum(axis=-1), "in all:", both.sum())
assert both.sum() == 12 and (causal | padding).sum() == 18

# %% [markdown]
# A key must be allowed by **both** masks: 1 + 2 + 3 cells in the first three rows, and 3 in
# each of the last two. ("Or" would let 18 cells through, some of them in the future.) Here
# are the masks for three words, padded to five positions, with the blocked cells hatched:

# %%
tokens = ["the", "cat", "sat", "pad", "pad"]
three_masks = {"causal": causal, "padding": np.repeat(padding, 5, axis=0), "both": both}
alt = "Both masks together allow the first three columns of the triangle."
figures.masks_side_by_side(three_masks, tokens, tokens, alt=alt)

# %% [markdown]
# ## From a mask to weights
#
# You have the table; how does it change the weights? Take one query and three keys, the
# last of which is blocked. The scores are −2, −3 and 4, so the right weights are the
# softmax of the first two, and 0 for the third key. Here are three ways one might try.
#
# **Way 1:** multiply the scores by the mask.
#
# **Predict:** done this way, how much weight does the blocked key get?
#
# - [x] Most of it
# - [ ] About a third of it
# - [ ] None of it

# %%
row = np.array([[-2.0, -3.0, 4.0]])
allowed = np.array([[True, True, False]])
print("right: ", attention.softmax(row[:, :2])[0].round(2), "and 0")
print("way 1: ", attention.softmax(row * allowed)[0].round(2))
assert attention.softmax(row * allowed)[0, 2] > 0.8

# %% [markdown]
# The blocked score becomes 0, here the *largest* of the three, and gets 84 % of the weight.
#
# **Way 2:** take the softmax of all three scores, then multiply the *weights* by the mask.
# They no longer sum to 1. Dividing by the sum repairs that on paper, but with floats a large
# blocked score takes everything, and 0 / 0 is left (*Going further* shows it).
#
# **Way 3:** before the softmax, add a large negative number to the blocked scores, so that
# their weight vanishes: −10,000 in BERT's original code, −1e9 in much other code. That
# nearly always works, but only as long as the number outweighs the differences between the
# scores; otherwise it leaks without a warning.

# %% [markdown]
# $-\infty$ outweighs every difference and blocks exactly, since $e^{-\infty} = 0$. Written
# as a formula, a table M of 0 and $-\infty$ is added to the scores:
#
# $$\text{weights} = \text{softmax}\left(\frac{q k^\mathsf{T}}{\sqrt{d_k}} + M\right), \qquad
# M_{ij} = \begin{cases} 0 & \text{query } i \text{ may attend to key } j \\
# -\infty & \text{otherwise.} \end{cases}$$
#
# It fails in one case, left over from the first picture: a row that is all blocked.

# %% [markdown]
# ## A row with nothing to attend to
#
# An empty sentence gives such a row, and so do a causal mask and a padding mask together,
# if the padding comes *before* the tokens. Here all three of the scores 1, 2 and 3 are
# blocked, with $-\infty$ and with −1e9:

# %%
three, nothing = np.array([[1.0, 2.0, 3.0]]), np.zeros((1, 3), dtype=bool)
print("no mask:   ", attention.softmax(three)[0].round(2))
with np.errstate(invalid="ignore"):
    print("added −∞:  ", attention.softmax(three - np.inf)[0])
print("added −1e9:", attention.softmax(three - 1e9)[0].round(2))

# %% [markdown]
# Neither works. $-\infty$ gives NaN, "not a number", because the formula asks for
# 0 / 0. And −1e9, added to all three, changes none of the differences between them, so it
# gives **the weights without any mask**. At least NaN gets noticed. But it spreads: even a
# weight of 0 doesn't stop it, since 0 times NaN is NaN.
#
# We do what PyTorch's `scaled_dot_product_attention` does: a query that may attend to
# nothing gets a row of zeros. Its output is then 0, and nothing spreads.

# %% [markdown]
# ### Exercise: masked_softmax
#
# Return weights that are 0 wherever a query may not attend, however large the scores are,
# and rows of zeros where it may attend to nothing.
#
# <details><summary>Hint 1</summary>
#
# Start from your softmax from lesson 01, with $-\infty$ in the blocked cells. It
# subtracts the largest score: the largest of which scores? What is that in a row that is
# all blocked, and what is $-\infty - (-\infty)$?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.where(condition, this, that)` can fix two things: the largest score of a blocked
# row, and its total, before you divide by it. The powers of such a row are all 0.
#
# </details>

# %%
from course_lib.masks import masked_softmax  # exercise

# %%
check(masked_softmax)

# %% [markdown]
# Here are the two rows that went wrong above:

# %%
print("last key blocked:", masked_softmax(row, allowed)[0].round(2))
print("all blocked:     ", masked_softmax(three, nothing)[0])
assert (masked_softmax(three, nothing) == 0).all()
assert masked_softmax(row, allowed)[0, 2] == 0

# %% [markdown]
# ## A detector for leaks
#
# Your mask is right. Is the model? Even with the right mask, it can leak somewhere else. So
# test what it *does*: **change the future, and if the past of the result changes, something
# leaks.**
#
# `masks.leak(f, x, t)` does that for any function f that turns n rows into n rows. It
# changes the numbers of x after row t, and measures how far rows 0 … t of the result
# move. (In *Going further* you can write it.)

# %% [markdown]
# ## Three models under suspicion
#
# A, B and C (`course_lib/lessons/decoder_variants.py`) are decoder blocks with random
# parameters, and all three claim to be causal. In each, attention is followed by a
# normalisation, which subtracts a mean and divides by a standard deviation. In A and B,
# both are taken over a row (one token's vector); in C, over a column (one entry of every
# token's vector). First, the usual inspection: are there weights above the diagonal?

# %%
sequence = np.random.default_rng(1).normal(size=(8, 6))
for name, model in decoder_variants.DECODER_VARIANTS.items():
    above = np.triu(model.weights(sequence), 1).max()
    print(name, "largest weight above the diagonal:", above.round(2))

# %% [markdown]
# B is guilty: some of its tokens attend to later ones.
#
# **Predict:** A and C have no weight above the diagonal. Which of the two leaks?
#
# - [x] Only C
# - [ ] Only A
# - [ ] Both
# - [ ] Neither

# %%
leaks = {
    f"model {name}": [masks.leak(model, sequence, t) for t in range(8)]
    for name, model in decoder_variants.DECODER_VARIANTS.items()
}
for name, measured in leaks.items():
    leaky = [t for t in range(8) if measured[t] > 1e-9]
    print(name, "leaks at t =", leaky or "no position")
assert max(leaks["model A"]) < 1e-9  # a weight of 0 times any number is 0
assert min(leaks["model B"][:7]) > 0.01 and min(leaks["model C"][:7]) > 0.01

# %% [markdown]
# C leaks through its **normalisation**, because its mean and standard deviation include
# future tokens. *Batch normalisation* leaks in the same way in training if it averages
# over the tokens of a sequence. *Layer normalisation*, which treats each token by itself,
# doesn't (lesson 09). So it isn't enough to inspect the weights.
#
# At t = 7, with no future left, every model passes. A leak of 0 for one `x` and one `t`
# proves little, so try several.

# %% [markdown]
# ## The die again
#
# Back to the model that predicts a die. The small decoder reads 16 rolls, drawn afresh for
# each step of training, and at each position it must predict the next one. The **loss**,
# which training makes small, is $-\ln$ of the probability given to the true roll, averaged
# over all positions. An honest model gives 1/10, so it cannot get below ln 10 = 2.30.

# %% [markdown]
# The model is trained three times, which takes a few seconds: with **your** causal mask,
# with the same mask off by one, so that each query sees one key too many, and without a
# mask.
#
# **Predict:** how low does the loss get with the mask that is off by one?
#
# - [ ] To about ln 10, as with the right mask
# - [ ] About halfway to 0
# - [x] About as low as without a mask

# %%
from course_lib.experiments import leak_canary

tried = {
    "causal mask": leak_canary.train(causal_mask(16)),
    "off by one": leak_canary.train(causal_mask(16, 16, offset=1)),
    "no mask": leak_canary.train(np.ones((16, 16), dtype=bool)),
}
for name, canary in tried.items():
    print(f"{name:11} loss {canary.loss:.2f}")
assert tried["off by one"].loss < 0.2 and tried["no mask"].loss < 0.2

# %% [markdown]
# Without a mask the loss falls to 0.14, and one wrong cell in each row but the last is
# enough for the same. But it does not reach 0. What did the model without a mask learn to
# attend to? (A row is a query, a column a key.)

# %%
positions = [str(i) for i in range(16)]
alt = "The weights of the model without a mask; the text below says where they lie."
figures.attention_weights(tried["no mask"].weights, positions, positions, alt=alt)

# %% [markdown]
# Each position attends to the next one, the roll that it must predict. Only the last
# position has no next one: its target is not in the input, so the model has to guess
# there, which costs ln 10. The loss of a perfect cheat is therefore ln 10 / 16 = 0.144,
# and $e^{-0.144} = 0.87$. That is what kept the model from 1.00.
#
# The mask that is off by one does equally well, because the one key too many is the one
# worth seeing.

# %%
print(f"ln 10 / 16 = {np.log(10) / 16:.3f}, e^-0.144 = {np.exp(-0.144):.2f}")
last = tried["no mask"].loss_by_position[-1]
print("last position's loss near ln 10:", bool(abs(last - np.log(10)) < 0.1))
assert abs(runs.median("none") - np.log(10) / 16) < 0.01
assert 2.29 < tried["causal mask"].loss < 2.35  # half a percent below ln 10 is noise

# %% [markdown]
# Data that hold nothing to learn make a good alarm. We call such a test a *canary*, after
# the birds that warned miners. It can catch leaks that no test of one layer finds, because
# it tests the whole training.
#
# The trainings differ in nothing but the mask, the cells that you pressed in the first
# picture. A model that predicts a fair die has seen the roll.

# %% [markdown]
# ## In three lines
#
# - `may_attend` says which query may attend to which key; masks are combined with "and",
#   and blocked scores become $-\infty$ **before** the softmax.
# - A row with nothing to attend to gives zeros. Libraries differ in what True means, and
#   the wrong one may give no error: look it up when you pass a mask on.
# - A low loss can be a leak: change the future and measure the past, or train on a die.
#
# **What you can read now:** *Attention Is All You Need*, section 3.2.3; PyTorch's
# documentation of `scaled_dot_product_attention` and `nn.MultiheadAttention`.
#
# **An open question:** with a causal mask, does a model still need to be told the
# position of a word? Lesson 05.

# %% [markdown]
# ## Going further
#
# What follows can be skipped, section by section; no later lesson's core needs it. *The
# detector, written* is for those who will test models of their own, *Does it cost anything
# to train all positions at once?* for those who want one pass to do the work of five, *Why
# not multiply the weights?* for those who would have done so, *Padding in a batch* for those
# who will train on batches, *A mask while writing* for those who will store keys, *Counting
# days* for those who will train models, *The same in PyTorch, twice* for those who will pass
# masks to PyTorch, and *Three trainings of a die* for those who like to see the cheating
# begin.

# %% [markdown]
# ## The detector, written
#
# In the core, `leak` caught two of three models. It takes only a few lines, and works for
# any model of your own.

# %% [markdown]
# ### Exercise: leak
#
# The rows of x after row t are the future. Change every number z of the future to 1 − 2z,
# and measure how far the past of the result, its rows 0 … t, moves. (The rule changes
# every number except ⅓.)
#
# <details><summary>Hint 1</summary>
#
# Call f twice: with x and with a changed copy. Which rows of the two results should be
# equal if nothing leaks?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `x[: t + 1]` is one part, `x[t + 1 :]` the other. A leak may show in any of the rows 0 …
# t, not only in row t, and a number may go up or down.
#
# </details>

# %%
from course_lib.masks import leak  # exercise

# %%
check(leak)

# %% [markdown]
# You have a test for any model, whatever is inside. A running sum reads only the past,
# whereas a mean reads everything:

# %%
line = np.array([[1.0], [2.0], [4.0]])
print("running sum:", leak(lambda x: x.cumsum(axis=0), line, 1))
print("minus mean: ", round(leak(lambda x: x - x.mean(axis=0), line, 1), 2))

# %% [markdown]
# ## Does it cost anything to train all positions at once?
#
# Must a model in training read *the*, then *the cat*, then *the cat sat*, one after
# another? With a causal mask, one pass over the whole sentence should do: its row i should
# equal the result of a pass over the first i + 1 words alone.

# %%
blocked = np.where(causal_mask(5), scores, -np.inf)
at_once = attention.softmax(blocked) @ x  # (5, 4)
one_by_one = [
    attention.attention(x[i : i + 1], x[: i + 1], x[: i + 1]) for i in range(5)
]
gap = max(np.abs(at_once[i] - one_by_one[i][0][0]).max() for i in range(5))
print("one pass = five passes, to 1e-12:", bool(gap < 1e-12))
assert gap < 1e-12  # some rounding of sums of five terms near 1

# %% [markdown]
# They are equal, so all n tasks share a single pass. (In a whole model they do if all else
# treats each token by itself, which model C in the core doesn't.) The only waste, in plain
# code, is that about half of the n² scores are computed and then blocked. For that price, a
# sentence of a thousand words gives a thousand lessons at once.

# %% [markdown]
# ## Why not multiply the weights?
#
# In the core, way 2 took the softmax of all scores and multiplied the weights by the mask.
# Here it is at work, at first with the scores of the core, −2, −3 and 4, the last of which
# is blocked:

# %%
weights = attention.softmax(row) * allowed
print("way 2:             ", weights[0].round(4), "sum:", weights.sum().round(4))
print("divided by the sum:", (weights / weights.sum())[0].round(2))
far = attention.softmax(np.array([[0.0, 1.0, 1000.0]])) * allowed
with np.errstate(invalid="ignore"):
    print("next to a score of 1000:", (far / far.sum())[0])

# %% [markdown]
# The weights sum to 0.003. Dividing by the sum gives the right ones, but not next to a
# score of 1000: its power is so large that the two others are rounded to 0.
#
# And way 3, in float32? Next to −1e9, the scores 1, 2 and 3 vanish, so a row that is all
# blocked gets equal weights:

# %%
single = np.float32([[1, 2, 3]]) + np.float32(-1e9)
print("float32, added −1e9:", attention.softmax(single)[0].round(2))

# %% [markdown]
# ## Padding in a batch
#
# A padding mask blocks the padding for every query of its sentence. Mind the shapes: here
# are two translations in a batch. In each, two target words (queries) attend to three source
# positions (keys):
#
# | | keys | queries |
# |---|---|---|
# | pair 0 | three tokens | two |
# | pair 1 | one token, two pads | two |
#
# The mask has the shape (pairs, keys), and NumPy stretches it to (pairs, queries, keys).
#
# **Predict:** for how many of the four queries is the stretched mask wrong?
#
# - [ ] None
# - [ ] One
# - [x] Two
# - [ ] All four

# %%
two_axes = np.array([[True, True, True], [True, False, False]])  # (pairs, keys)
used = np.broadcast_to(two_axes, (2, 2, 3))  # (pairs, queries, keys)
print("first pair: ", used[0].tolist())
print("second pair:", used[1].tolist())

# %% [markdown]
# It is wrong for two of the four: the second query of pair 0 has lost two good keys, and
# the first of pair 1 attends to padding. There was no error, because there are as many
# pairs as queries, and NumPy matches axes from the right. An extra axis of length 1 for
# the queries keeps each row with its own pair. `np.newaxis` makes such axes:

# %%
lengths = np.array([3, 1])
print(lengths[..., np.newaxis].tolist(), lengths[..., np.newaxis].shape)

# %% [markdown]
# ### Exercise: padding_mask
#
# From the lengths of the sentences and the number of keys, make a mask that holds for
# every query of a sentence.
#
# <details><summary>Hint 1</summary>
#
# Key j of a sentence is a token if j is smaller than what? Try a single sentence and its
# length first.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.asarray(lengths)` turns a list into an array. How many more axes does the mask have
# than the lengths, and what is each one for?
#
# </details>

# %%
from course_lib.masks import padding_mask  # exercise

# %%
check(padding_mask)

# %% [markdown]
# A causal mask has the shape (n, n), a padding mask (batch, 1, n), and more masks may
# follow. Combine them all with one function.

# %% [markdown]
# ### Exercise: combine_masks
#
# Combine any number of masks. Each may have axes of length 1 along which it is the same
# for all.
#
# <details><summary>Hint 1</summary>
#
# May a query attend to a key if one mask says yes and another says no?
#
# </details>
# <details><summary>Hint 2</summary>
#
# NumPy has an operator for this that also stretches axes of length 1. Take the masks one
# by one, and make a new array at each step.
#
# </details>

# %%
from course_lib.masks import combine_masks  # exercise

# %%
check(combine_masks)

# %% [markdown]
# A mask is the same for all heads. In a batch with heads the scores are
# `(batch, n_heads, n, m)`, so the mask gets one more axis, as in lesson 03. Here are two
# sentences, of three and five tokens:

# %%
of_batch = combine_masks(causal, padding_mask([3, 5], 5))  # (2, 5, 5)
for_heads = of_batch[..., np.newaxis, :, :]
print(
    for_heads.shape, "stretches to", np.broadcast_shapes(for_heads.shape, (2, 8, 5, 5))
)

# %% [markdown]
# ## A mask while writing
#
# Suppose a model is writing: it has stored the keys of five words, and two new words
# arrive, so the mask has two rows and seven columns. `np.tril` is NumPy's ready-made
# triangle.

# %%
both_new = causal_mask(2, offset=5)
print(both_new.shape, "allowed in each row:", both_new.sum(axis=-1))
cornered = np.tril(np.ones((2, 7), dtype=bool))
print("np.tril allows in each row:", cornered.sum(axis=-1))
assert (np.tril(np.ones((2, 7), dtype=bool), k=5) == both_new).all()

# %% [markdown]
# `tril` alone is right only without an offset. With stored keys, its triangle is in the
# upper left corner, so the two *newest* tokens see only the *oldest*: 1 and 2 keys instead
# of 6 and 7. `k=offset` moves it to where it belongs. Here is the right mask:

# %%
alt = "The first new word is blocked from the second; all other cells are allowed."
figures.mask_heatmap(both_new, ["5", "6"], list("0123456"), alt=alt)

# %% [markdown]
# ## Counting days
#
# A model (`course_lib/experiments/no_shift.py`) learns to count days in steps: *Mo We Fr
# Su Tu …*, where the first two days determine the others. Seven first days and the steps
# 0 to 6 give 49 sentences.
#
# The target of each position is the **next** day, so the targets are the sentence,
# shifted by one. One model is trained with that shift, and another without it.
#
# **Predict:** which model has the lower loss?
#
# - [x] The one without the shift
# - [ ] The one with the shift
# - [ ] Neither: they are equal

# %%
from course_lib.experiments import no_shift

trained = {shift: no_shift.train(shift=shift) for shift in (True, False)}
print(f"shifted:   loss {trained[True].loss:.1f}")
print(f"unshifted: loss {trained[False].loss:.1f}")

# %% [markdown]
# The second model seems perfect. Give both models two days and let them continue:

# %% tags=["nbval-ignore-output"]
examples = no_shift.sentences()[[2, 10, 45]]
for shift, model in trained.items():
    print("shifted" if shift else "unshifted")
    for days in model.generate(examples[:, :2]):
        print("   ", " ".join(no_shift.DAYS[day] for day in days))

# %% [markdown]
# Without the shift, the model has learned to repeat what it reads, because its target
# *was* its input. Its low loss meant nothing. (An honest loss cannot go below ln 7 / 7 =
# 0.28. The first of the seven predictions is pure guessing, because nothing says which
# day comes second, so it costs ln 7. The other six cost nothing.)
#
# Does the leak detector notice? Here it tests the model's *logits*, the scores that a
# softmax turns into probabilities. And how does the accuracy compare with guessing?

# %%
for shift, model in trained.items():
    start = model.embed(examples[0, :7])
    largest = max(masks.leak(model.logits, start, t) for t in range(6))
    print(f"shift: {shift!s:5} leak is 0: {largest < 1e-5}", end="  ")  # 32-bit floats
    print("accuracy above 0.9:", model.accuracy() > 0.9)
accuracy = trained[False].accuracy()
print("accuracy without the shift:", round(accuracy, 3), " chance:", round(1 / 7, 3))
assert trained[True].accuracy() > 0.9 and abs(accuracy - 1 / 7) < 1e-6
assert trained[False].loss < 0.01 and trained[True].loss > 0.27
assert round(no_shift.ENTROPY, 2) == 0.28

# %% [markdown]
# Nothing leaks, since a token may attend to itself. Repeating the last day is right only
# if the step is 0, in one sentence of seven: **exactly at chance**. Here is the full
# version (`python -m course_lib.experiments no_shift`), with the seeds 0, 1 and 2:

# %%
shift_runs = record.read("no_shift")
for name in ("shifted", "unshifted"):
    losses = [f"{loss:.4f}" for loss in shift_runs.values(f"{name}_loss")]
    print(name, "losses", *losses, "right", shift_runs.values(f"{name}_right"))

# %% [markdown]
# The die of *The die again* is a better detector here: nobody can predict it, with or
# without a shift.

# %%
forgot = leak_canary.train(causal_mask(16), shift=False, steps=60)
print("die, causal mask, shift forgotten: loss below 0.1:", forgot.loss < 0.1)
assert forgot.loss < 0.1

# %% [markdown]
# ## The same in PyTorch, twice
#
# PyTorch has attention as a function, `scaled_dot_product_attention`, and as a module,
# `nn.MultiheadAttention`. Both take a boolean mask.
#
# **Predict:** the function and the module both get your causal mask, unchanged. What does
# the first token attend to?
#
# - [ ] In both, to itself only
# - [ ] Function: to all later ones. Module: to itself
# - [x] Function: to itself. Module: to all later ones

# %%
import torch
from torch.nn.functional import scaled_dot_product_attention

batch = torch.tensor(x)[None]  # (1, 5, 4)
module = torch.nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
may = torch.tensor(causal)
theirs = scaled_dot_product_attention(batch, batch, batch, attn_mask=may)[0]
print(
    "function gives your output:",
    np.allclose(theirs, masked_softmax(scores, causal) @ x),
)
module_weights = module(batch, batch, batch, attn_mask=may)[1][0].detach().numpy()
print("module: first token attends to:", module_weights[0] > 0)
print("module: last token's weights:", module_weights[4])
assert (module_weights[0] > 0).tolist() == [False, True, True, True, True]

# %% [markdown]
# You would expect a single rule for all of PyTorch, but there are two. In
# [`scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
# True = may attend, as in this course. In
# [`nn.MultiheadAttention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html)
# and the Transformer layers built on it, True = **blocked**, in `attn_mask` and in
# `key_padding_mask`. With the wrong one, the first token saw everything but itself, and
# the last one saw nothing: NaN.
#
# You notice a causal mask the wrong way round, because of that last row. What about a
# padding mask the wrong way round? Here are the three words and two pads again:

# %%
inverted = masked_softmax(scores, ~padding)
print("weight on the padding, for each query:", inverted[:, 3:].sum(axis=-1).round(2))

# %% [markdown]
# There is no NaN and no other warning, although every query attends to nothing but the
# padding.

# %% [markdown]
# ### Exercise: convert_mask
#
# Convert a mask from our convention to PyTorch's two, and to numbers that are added to
# scores.
#
# <details><summary>Hint 1</summary>
#
# Take one allowed and one blocked key. Which pair of values does each of the three
# conventions have for them?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `~mask` swaps True and False, and `np.where` chooses between two numbers. Which
# convention needs which? And what should happen if the name is none of the three?
#
# </details>

# %%
from course_lib.masks import convert_mask  # exercise

# %%
check(convert_mask)

# %% [markdown]
# Now all three should give the same output. To make the module comparable, set its
# parameters to identity matrices, which change nothing.

# %%
with torch.no_grad():
    module.in_proj_weight[:] = torch.eye(4, dtype=torch.float64).repeat(3, 1)
    module.out_proj.weight[:] = torch.eye(4, dtype=torch.float64)
names = "scaled_dot_product_attention", "MultiheadAttention", "additive"
converted = [torch.tensor(convert_mask(causal, to=name)) for name in names]
outputs = [
    scaled_dot_product_attention(batch, batch, batch, attn_mask=converted[0]),
    module(batch, batch, batch, attn_mask=converted[1])[0].detach(),
    scaled_dot_product_attention(batch, batch, batch, attn_mask=converted[2]),
]
yours = masked_softmax(scores, causal) @ x
gaps = [np.abs(out[0].numpy() - yours).max() for out in outputs]
print("same as yours, to 1e-12:", [bool(gap < 1e-12) for gap in gaps])
assert max(gaps) < 1e-12

# %% [markdown]
# What about a row with nothing to attend to? Your function gives zeros, and so does
# PyTorch's function (since version 2.5). The module's weights for such a row were NaN
# above. Its output depends on whether you also ask for the weights, since it then takes
# another path inside:

# %%
none_at_all = torch.zeros(5, 5, dtype=torch.bool)
free = scaled_dot_product_attention(batch, batch, batch, attn_mask=none_at_all)
print("function:              ", free[0, 0].numpy())
for asked in (True, False):
    made = module(batch, batch, batch, attn_mask=~none_at_all, need_weights=asked)
    print(f"module, weights {asked!s:5}:", made[0][0, 0].detach().numpy())

# %% [markdown]
# (A note on torch 2.13 on a CPU; a later version may give zeros both times.)
#
# Replacing NaN by 0 afterwards repairs the output, but not the gradients:

# %%
open_scores = torch.zeros(1, 2, requires_grad=True)
weights_of_none = torch.softmax(open_scores - torch.inf, dim=-1)
repaired = weights_of_none.nan_to_num()
repaired.sum().backward()
print("repaired:", repaired.tolist(), " gradient:", open_scores.grad.tolist())

# %% [markdown]
# Both gradients are NaN, and after one step of training, so is every parameter that they
# reach. So make the zeros *before* anything becomes NaN, as hint 2 of `masked_softmax`
# does: all powers are 0, so replace the total 0 by 1 before dividing.

# %%
safe_scores = torch.zeros(1, 2, requires_grad=True)
powers = torch.exp(safe_scores - torch.inf)
total = torch.where(powers.sum() > 0, powers.sum(), 1.0)
(powers / total).sum().backward()
print("weights:", (powers / total).tolist(), " gradient:", safe_scores.grad.tolist())
assert open_scores.grad.isnan().all() and (safe_scores.grad == 0).all()

# %% [markdown]
# Finally, the function's option `is_causal=True` saves you the trouble of making a mask.
#
# **Predict:** a single new query meets five stored keys, with the values 0, 1, 2, 3 and
# 4. What does it get with `is_causal=True`?
#
# - [x] 0, the value of the oldest key
# - [ ] About 2, from all five keys
# - [ ] 4, the value of its own key

# %%
values = torch.arange(5.0, dtype=torch.float64)[:, None]  # (5, 1)
new, keys = batch[0, 4:], batch[0]
by_option = scaled_dot_product_attention(new, keys, values, is_causal=True)
last_row = torch.tensor(causal_mask(1, offset=4))
by_mask = scaled_dot_product_attention(new, keys, values, attn_mask=last_row)
print("is_causal=True:          ", by_option.item())
print("causal_mask(1, offset=4):", round(by_mask.item(), 2))
assert by_option == values[0] and abs(by_mask - by_option) > 1

# %% [markdown]
# `is_causal` takes the triangle in the upper left corner, so the newest token sees only the
# oldest key.

# %% [markdown]
# ## Three trainings of a die
#
# Here is how the losses of *The die again* fell, with the loss of an honest model and that
# of a perfect cheat as lines:

# %%
curves = {name: canary.losses for name, canary in tried.items()}
bounds = {"ln 10: honest": np.log(10), "ln 10 / 16: last roll only": np.log(10) / 16}
alt = "With the causal mask the loss stays at ln 10; with the two others it falls."
figures.losses(tried["no mask"].steps, curves, bounds=bounds, alt=alt)
