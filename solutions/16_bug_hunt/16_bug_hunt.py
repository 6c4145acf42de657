# %% [markdown]
# # The bug hunt
#
# **Can you tell a broken Transformer from a working one?**
#
# Five models were trained to read numbers aloud. Four of them are broken, and none has
# raised an error. Going by the losses alone, which would you trust? **Choose it**, and see
# what share of new numbers it reads right.
#
# After this lesson you can
#
# - read symptoms: a first loss, a curve, samples, two results that should be equal;
# - choose the measurement that tells two suspects apart;
# - fix the part that is to blame;
# - write a test that lets every right version pass and catches the broken ones.
#
# **About 75 minutes, and 165 more in *Going further*.** You need lessons 01 to 11.

# %%
from course_lib import figures
from course_lib.experiments import record

# %%
five = record.read("five_models").runs[0]
alt = "Losses of five models: A and D fall fastest, C later; B and E stay above 2."
figures.judged_curves(
    five["steps"],
    five["losses"],
    five["right"],
    xlabel="steps",
    ylabel="loss",
    share_name="New numbers read right",
    top=3.5,
    alt=alt,
)

# %% [markdown]
# Did you choose well? What do you measure, if not the loss? And what is wrong with the
# four?

# %%
from autograder import check

import numpy as np
import torch
from torch import Tensor

# %% [markdown]
# ## A question to carry through the lesson
#
# Broken code usually crashes. A broken Transformer learns: less, or too well, or
# something else, and no line of red text says why.
#
# You will meet B, D and A again, each with one broken part, and fix them. (E is left for
# *Going further*.) **You see the symptom first and the code last.** Which measurements
# lead from one to the other, and would a test have caught the error before any training?

# %% [markdown]
# The lit parts are under suspicion: **point at one** to read what it should do. The data,
# the loss and the optimizer are suspects, too.

# %%
alt = "Lit: embedding, positions, shift, softmax, norm and both self-attentions."
figures.lesson_map("16", alt=alt)

# %% [markdown]
# ## A healthy one
#
# This is C of the first screen. The models must learn within seconds, so their task is
# small: to read a number aloud. `742` becomes *seven four two*. An encoder with one layer
# reads two to seven digits, and a decoder with one layer writes the words. Every part is
# a function of its own, with the same contract as in your exercise. A batch has 32
# numbers, and each model trains for 400 steps.
#
# (The first cell below imports what your fixes and tests may need.)

# %%
import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.lessons.patients import probes, symptoms, training
from course_lib.lessons.patients.parts import Array
from course_lib.tests_of_parts import Function

# %% tags=["nbval-ignore-output"]
models = {"C": training.run("C")}
healthy = models["C"]
fresh = [training.digits_of(pair) for pair in training.fresh_pairs()]
for text, words in zip(fresh[:3], healthy.read(fresh[:3]), strict=True):
    print(f"{text:>8}: {words}")
print(f"of 100 fresh numbers, {healthy.score(training.fresh_pairs()):.0%} are right")
print(f"first loss {healthy.losses[0]:.2f}, ln 23 = {np.log(23):.2f}")
assert healthy.score(training.fresh_pairs()) > 0.85
assert max(five["right"], key=five["right"].get) == "C" and five["right"]["C"] > 0.9
assert five["right"]["A"] == 0 and five["losses"]["A"][-1] < five["losses"]["C"][-1]
assert abs(healthy.losses[0] / np.log(23) - 1) < 0.1

# %% [markdown]
# This is what health looks like: new numbers are read right, and the first loss is ln V
# (lesson 10). V is 23: ten digits, ten words, padding, start and end. Each model below
# differs from C in *one* function; seed and batches are the same. (One model in *Going
# further* differs in its data.)
#
# You see the symptom and name a suspect. Then you see its code, in a cell that is yours to
# fix, and the fixed model is trained and compared.

# %% [markdown]
# ## Before the first step
#
# The cheapest measurement, the first loss, needs no training.

# %% [markdown]
# ### Model B: it begins at 29

# %% tags=["nbval-ignore-output"]
models["B"] = training.run("B")
print("first losses:", *(f"{each:.1f}" for each in models["B"].losses[:4]))
print(fresh[0], "is read as:", models["B"].read(fresh[:1])[0])

assert models["B"].losses[0] > 20

# %% [markdown]
# An unsure model has a loss of ln V. This one has nine times that: it is *sure*, and wrong.
#
# **Predict:** which part is to blame?
#
# - [ ] The learning rate: it is too high
# - [x] The embedding: its initial values are too large
# - [ ] The causal mask: it leaks
# - [ ] The loss: it is not divided by the number of tokens

# %% tags=["nbval-ignore-output"]
for letter in "CB":
    table = training.parts_of(letter).initial_embedding(23, 32)
    print(f"model {letter}: standard deviation of the embedding {table.std():.2f}")
assert table.std() > 0.9

# %% [markdown]
# (The others are cleared: no learning rate has been used yet, a leak doesn't make a loss
# large, and a sum over the batch's 200 tokens would be 200 times too large.)

# %% [markdown]
# The embedding also gives the logits: each is the product of a row with what the last
# layer norm returns, a vector of length √32. A row of 32 numbers of size 1 is √32 long,
# too. So the newest token, which the residual connections take to the end, gets a logit
# near √32 · √32 = 32. The model is sure that it comes again, and nearly always wrong.
#
# **Fix it**, so that logits stay below about 1.
#
# <details><summary>Hint</summary>
#
# Rows of length 1/√32 do that: divide by d_model. Lesson 10's 1/√d_model leaves logits up
# to √32 = 5.7: little among thousands of tokens, but among 23 the first loss is 4.7.
#
# </details>

# %%
from course_lib.lessons.patients.parts import initial_embedding  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("B", initial_embedding=initial_embedding)
runs = {"healthy": healthy, "model B": models["B"], "fixed": fixed}
symptoms.compare("B", runs)

# %% [markdown]
# ## Too good to be true
#
# The next two models, D and A, have better curves than the healthy one.

# %% tags=["nbval-ignore-output"]
models |= {letter: training.run(letter) for letter in "DA"}
for letter in "CDA":
    last = symptoms.last_loss(models[letter])
    right = models[letter].score(training.fresh_pairs())
    print(f"model {letter}: last loss {last:.3f}, fresh numbers right {right:.0%}")
assert max(symptoms.last_loss(models[letter]) for letter in "DA") < 0.1
assert max(models[letter].score(training.fresh_pairs()) for letter in "DA") < 0.6

# %% [markdown]
# Both fail on fresh numbers. If a loss is too good, the answer must have reached the model
# somehow. There are three ways:
#
# - through a **mask**, or past it: position i gets something from a later position;
# - through the **input**: position i reads its own target;
# - through the **data**: the model has memorised what it is judged by.
#
# The first measurement is `leak` from lesson 04: change later words of what the decoder
# reads, and see whether an earlier logit changes (`probes.leak`).
#
# **Predict:** which of the three ways does it notice?
#
# - [ ] All three
# - [ ] The first and the second
# - [x] Only the first
# - [ ] Only the third

# %% tags=["nbval-ignore-output"]
leaks = {letter: probes.leak(models[letter]) for letter in "CDA"}
for letter, value in leaks.items():
    print(f"model {letter}: leak {value:.3f}")
assert leaks["D"] > 0.01 and max(leaks["C"], leaks["A"]) < 1e-3

# %% [markdown]
# So D leaks, and A doesn't: reading your own target, or having memorised it, takes no
# later word.

# %% [markdown]
# ### Model D: a leak
#
# Here are the weights of its decoder, and healthy ones. **Choose a model.** Lines to the
# right of a word lead to later words.

# %%
words = ["(start)", "six", "two", "nine", "four"]
tables = {}
for letter in "CD":
    tables[f"model {letter}"] = (probes.own_weights(models[letter]), words, words)

# %%
alt = "Attention of five words, by model; in model D words attend to the next one."
figures.attention_in_sentences(tables, alt=alt)

# %% [markdown]
# **Predict:** which part is to blame?
#
# - [ ] The shift of the targets
# - [x] The causal mask
# - [ ] The splitting of the heads: it mixes the positions
# - [ ] The decoder's softmax: it ignores its mask

# %% tags=["nbval-ignore-output"]
for letter in "CD":
    print(f"model {letter}:")
    print(training.parts_of(letter).causal_mask(4).astype(int))
assert probes.leak_of_mask(models["D"]) > 0.01 > 1e-6 > probes.leak_of_mask(healthy)

# %% [markdown]
# Each word may attend to the one after it, the very word it has to predict. (A
# softmax without its mask would reach *all* later words, and mixed positions would not
# show in the weights.) **Fix it.** `offset` is for the cache of lesson 11; leave it in.
#
# <details><summary>Hint</summary>
#
# `np.tril` keeps the diagonals up to the `k`th. The main diagonal is number 0.
#
# </details>

# %%
from course_lib.lessons.patients.parts import causal_mask  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("D", causal_mask=causal_mask)
runs = {"healthy": healthy, "model D": models["D"], "fixed": fixed}
symptoms.compare("D", runs)

# %% [markdown]
# ### Model A: no leak, and yet it knows the answer
#
# Model A has no leak, and yet the lowest loss. For a fresh number it writes one word,
# again and again.
#
# **Predict:** which part is to blame?
#
# - [ ] The causal mask: the diagonal should be forbidden
# - [ ] The end token: it is missing in the targets
# - [x] The shift of the targets
# - [ ] The data: too few numbers to learn from

# %% tags=["nbval-ignore-output"]
print(*models["A"].read(fresh[:3]), sep="\n")
target = torch.tensor([[14, 12, 10, 2]])
for letter in "CA":
    reads = training.parts_of(letter).shift_right(target, 1)
    print(f"model {letter} reads", reads.tolist())

# %% [markdown]
# From position 1 on, position i reads token i, its own target, and needs no *later*
# position: `leak` is 0. So it has learned to copy, and in use it repeats the word that it has
# written. The first word is right, because position 0 reads (start) and needs the digits.
#
# Two causes, one symptom: `leak` tells the mask from the shift. **Fix it.**

# %%
from course_lib.lessons.patients.parts import shift_right  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("A", shift_right=shift_right)
runs = {"healthy": healthy, "model A": models["A"], "fixed": fixed}
symptoms.compare("A", runs)

# %% [markdown]
# ## The order of the checks
#
# Three models, three measurements. Which one do you take first, if you know nothing? Go
# from cheap to expensive, and **the first fault counts**, since what comes later may follow
# from it. With lesson 10's one batch, the order is
#
# | measure | healthy | if not, suspect |
# |---|---|---|
# | first loss | ln V | the initial values |
# | `leak` | 0 | the mask |
# | one batch, 200 steps | loss near 0 | gradients, learning rate, optimizer |
# | samples | no copies | the shift |
#
# A suspect once cleared stays cleared. But each row needs a whole model. A test of one part
# needs neither a model nor a suspicion.

# %% [markdown]
# ## Write the test
#
# Would a test have caught the three errors before any training? This one takes
# milliseconds, and has a line or two for each.


# %%
def quick_test(parts) -> None:
    """Test an embedding, a causal mask and a shift."""
    assert parts.initial_embedding(23, 32).std() < 0.1
    assert parts.causal_mask(4).sum() == 10
    reads = parts.shift_right(torch.tensor([[14, 12, 10, 2]]), 1)
    assert reads.tolist() == [[1, 14, 12, 10]]


# %% tags=["nbval-ignore-output"]
verdicts = {}
for letter in "CBDA":
    try:
        quick_test(training.parts_of(letter))
        verdicts[letter] = "passes"
    except AssertionError:
        verdicts[letter] = "caught"
print(verdicts)
assert [*verdicts.values()] == ["passes", "caught", "caught", "caught"]

# %% [markdown]
# It would have. So how good a test can you write? In the exercise, *your test* is judged.
# It is given some version of `attention(q, k, v)` from lesson 01, calls it with inputs
# that you choose, and compares what comes back with what should. If they differ, it raises
# `AssertionError`, as `assert` does. If all is well, it returns nothing.

# %% [markdown]
# The judge has right versions, written in different ways, which must all pass, and
# broken ones: the more you catch, the better. `check` names about half of the broken
# ones; the others stay hidden. Here is a first try.

# %%
from autograder.checking.registry import load


def shapes_and_sums(attention) -> None:
    """Test shapes, and that each row of weights sums to 1."""
    q, k, v = np.ones((5, 4)), np.ones((7, 4)), np.ones((7, 6))
    output, weights = attention(q, k, v)
    assert output.shape == (5, 6) and weights.shape == (5, 7)
    assert np.allclose(weights.sum(axis=-1), 1)


# %% [markdown]
# **Predict:** which of these broken attentions does it catch?
#
# - [ ] One without 1/√d_k
# - [x] One with a softmax over the queries
# - [ ] One with a causal mask
# - [ ] All three

# %% tags=["nbval-ignore-output"]
caught, of = load("test_attention").score(shapes_and_sums)
print(f"caught {caught} of {of}")
assert caught / of < 1 / 3

# %% [markdown]
# It catches a wrong shape, and the softmax over the queries: all weights are 1/5, so that
# rows sum to 7/5. But it compares no value, and rows sum to 1 with any scale and any mask.
# And with ones everywhere, all scores are equal, so that no comparison would show the scale.

# %% [markdown]
# A good test has
#
# - an **example by hand**, small enough to be sure;
# - **sizes that all differ**, and numbers that are drawn;
# - **extremes**: one query, a batch, scores of thousands;
# - **properties**: what must not change the result;
# - an **oracle**: the right result once more, in the plainest way, by loops, never by the
#   code under test.

# %% [markdown]
# ### Exercise: test_attention
#
# Write a test for versions of `attention(q, k, v)`, which returns output and weights. Begin
# with `shapes_and_sums`, and let it catch more.
#
# <details><summary>Hint 1</summary>
#
# Rows of weights sum to 1 with any scale. So what must your test compare, and with which
# inputs would a wrong result differ from a right one?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Draw q, k, v with a seed and sizes 5, 7, 4, 6, and compute scores, softmax and mix
# yourself, in five lines. Compare both results with `np.allclose` *after* their shapes,
# because broadcasting can let a wrong shape pass. Then repeat with a batch, one query, and
# large scores.
#
# </details>

# %%
from course_lib.tests_of_parts import test_attention  # exercise

# %%
check(test_attention)

# %% [markdown]
# How many does yours catch, of all that the judge has?

# %% tags=["nbval-ignore-output"]
caught, of = load("test_attention").score(test_attention)
print(f"caught {caught} of {of}")

# %% [markdown]
# The second test is of a softmax that obeys a mask. Try it with masks of the same shape
# (..., n, m) as the scores: broadcasting needs no test here. A row of the mask that is
# False everywhere should give a row of zeros.

# %% [markdown]
# ### Exercise: test_mask
#
# Write a test for versions of `masked_softmax(scores, may_attend)` of lesson 04.
# `help("course_lib.masks.masked_softmax")` prints its contract.
#
# <details><summary>Hint 1</summary>
#
# A mask can be wrong in a row without keys, in only one row, or in only one sequence; and
# a blocked key can have a little weight, or a lot if the allowed scores are very small.
# Which of these does your mask reveal?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Go row by row: the allowed keys are `np.flatnonzero(may_attend[row])`; they should have
# the softmax of their scores alone, and the rest 0. Draw a new mask for each sequence,
# leave one row without keys, try n = 1 and scores of tens of thousands.
#
# </details>

# %%
from course_lib.tests_of_parts import test_mask  # exercise

# %%
check(test_mask)

# %% [markdown]
# A good test is often longer than what it tests, because it says it in the plainest way.
# Yours now stand between an error and a day of training.

# %% [markdown]
# ## Back to the five curves
#
# A copied its own target, B began with an embedding that was too large, and D attended to
# the next word. (E is yours to hunt.) The loss could not tell whom to trust. A number that
# takes seconds to compute gave each of them away, and a few lines of test would have
# caught all three before the first step.

# %% [markdown]
# Errors like these have been in code that many people use: [a
# mask](https://github.com/huggingface/transformers/pull/31674) that let Gemma 2 read its
# labels while it was fine-tuned (2024), [a causal
# mask](https://github.com/keras-team/keras/issues/23038) that Keras dropped if dropout was
# on (2026), [a loss](https://huggingface.co/blog/gradient_accumulation) divided by the
# wrong number of tokens (2024). None raised an error. They came to light because a number
# was too good, or because two numbers differed that should have been equal.

# %% [markdown]
# And the map of the lessons is filled in. You have met each of its parts, and written most of them.

# %%
of_figure = ["tokens", "embedding", "positions", "self-attention", "cross-attention"]
of_figure += ["causal attention", "softmax", "feed-forward", "norm", "shift right"]
complete = dict.fromkeys([*of_figure, "logits"], "done")

# %%
alt = "The whole Transformer, all parts filled."
figures.architecture(parts=complete, alt=alt)

# %% [markdown]
# ## In three lines
#
# - Two causes may share one symptom: find the measurement that tells them apart, and go
#   from cheap to expensive.
# - The first fault counts; and the best checks are of what must not matter, such as later
#   tokens.
# - A test is good if every right version passes and the broken ones don't; both can be
#   counted.
#
# **What you can read now:** Karpathy (2019), *A Recipe for Training Neural
# Networks*; Sculley et al. (2015), *Hidden Technical Debt in Machine
# Learning Systems*; and the code listed under *What you have written*, at the end.
#
# **An open question:** what will you build?

# %% [markdown]
# ## Going further
#
# You can skip each of these sections, in any order. Eleven broken models are left to hunt,
# for those who enjoyed the first three, and *A function that hunts* names the broken
# part of all fourteen. *Four more tests* is for those who want to write them for
# positions, a whole layer, merges and decoding; *What about other people's tests?* puts
# ideas from three well-known projects before our judge.

# %% [markdown]
# ## Model E: down, and up again
#
# Model E is the last one of the first screen. It has no leak, and its first loss is
# healthy. (Each number is the mean of 20 steps, so the first is below ln V.)

# %% tags=["nbval-ignore-output"]
models["E"] = training.run("E")
for letter in "CE":
    means = models[letter].curve()
    chosen = (means[i] for i in (0, 1, 5, -1))
    print(f"model {letter}: loss", " … ".join(f"{mean:.2f}" for mean in chosen))

# %%
alt = "Model E falls a little, rises again and stays high."
curves_drawn = {"healthy": healthy.curve(), "model E": models["E"].curve()}
axes = {"xlabel": "steps", "ylabel": "loss"}
figures.curves(training.STEP_AXIS, curves_drawn, **axes, alt=alt)

# %% [markdown]
# Model E's loss falls for 40 steps, then rises above where it began, and stays high.
# Train it on **one batch**, again and again (lesson 10). If it can memorise that, learning
# works, and the input lacks something. If not, learning itself is broken. The cell also
# prints the norm of the gradient in the usual training.

# %% tags=["nbval-ignore-output"]
for letter in "CE":
    on_one_batch = training.run(letter, one_batch=True, steps=200).losses[-1]
    print(f"model {letter}: last loss on one batch {on_one_batch:.2f}")
print("norms of the gradient at the steps 0, 29, 100 and 399:")
for letter in "CE":
    norms = [models[letter].gradient_norms[i] for i in (0, 29, 100, 399)]
    print(f"model {letter}:", *(f"{norm:.1f}" for norm in norms))
assert max(healthy.gradient_norms) < 10 < models["E"].gradient_norms[-1]
assert on_one_batch > 1 and models["E"].learning_rates == healthy.learning_rates

# %% [markdown]
# Model E doesn't manage even one batch. Its learning rates are the healthy ones, step by step.
#
# **Predict:** which part is to blame?
#
# - [ ] The embedding: its initial values are too large
# - [ ] The layer norm: it is missing
# - [ ] The loss: it is a sum
# - [x] The update: old gradients stay

# %% tags=["nbval-ignore-output"]
for letter in "CE":
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.0)
    for _ in range(3):
        training.parts_of(letter).update(2 * w.sum(), optimizer)
        print(f"model {letter}: slope 2, gradient {w.grad.item():.0f}")

# %% [markdown]
# PyTorch *adds* each gradient to the ones before (lesson 07). (At step 0 both models have
# the same norm, so everything up to the first gradient is right: what goes wrong comes
# after it.) At first, the old directions agree with the new one, and the loss falls. By
# step 100 the model follows the sum of a hundred: it runs past the lowest point and turns
# around too late. That is why the loss goes up again. **Fix it.**

# %%
from course_lib.lessons.patients.parts import update  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("E", update=update)
runs = {"healthy": healthy, "model E": models["E"], "fixed": fixed}
symptoms.compare("E", runs)

# %% [markdown]
# ## A function that hunts
#
# Let a function go through the checks. Here are thirteen measurements of the models so
# far, C among them, which is healthy. (First losses are multiples of ln V, healthy within
# 10 %; growth is relative to the first step; copies are a fault above 0.5, a last loss
# only if it is NaN, and then other rows may be NaN, too.) Read a column from the top:
# the first fault counts.

# %% tags=["nbval-ignore-output"]
columns = {letter: symptoms.measured(run) for letter, run in models.items()}
print(" " * 17 + "".join(f"{letter:>6}" for letter in columns))
for name in columns["C"]:
    values = (f"{column[name]:6.1f}" for column in columns.values())
    print(f"{name:17}" + "".join(values))

# %% [markdown]
# ### Exercise: parts_to_blame
#
# Write the order of the checks as a function, from measurements to the part that is to
# blame. All thresholds are in the docstring.
#
# <details><summary>Hint 1</summary>
#
# If a model fails three checks, which one names the part? And is NaN greater than 20,
# smaller, or equal to itself?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A chain of `if` with `return` or `elif`, or a list of pairs (has it failed, which part)
# whose first failure counts. `value > 0.001` is False for NaN, and `math.isnan(value)` is
# True. One of the differences is a fault if it *is* 0.
#
# </details>

# %%
from course_lib.lessons.patients.verdicts import parts_to_blame  # exercise

# %%
check(parts_to_blame)

# %% [markdown]
# Now let your function judge the healthy model and **all fourteen** broken ones, after
# about half a minute of training. (No part is named, because you can hunt them yourself.)

# %% tags=["nbval-ignore-output"]
letters = training.LETTERS
fifteen = {letter: models.get(letter) or training.run(letter) for letter in letters}
columns = {letter: symptoms.measured(run) for letter, run in fifteen.items()}
for letter, part in zip(letters, parts_to_blame([*columns.values()]), strict=True):
    is_right = part == training.BROKEN_PARTS.get(letter, "healthy")
    print(f"model {letter}: {'the right part' if is_right else 'another part'}")

# %% [markdown]
# How many of the fourteen would pass if the loss were the only check?

# %% tags=["nbval-ignore-output"]
broken = training.BROKEN_PARTS
falls = [fifteen[each].losses[-1] < fifteen[each].losses[0] / 2 for each in broken]
last = {letter: symptoms.last_loss(run) for letter, run in fifteen.items()}
lower = [letter for letter in broken if last[letter] < last["C"]]
print(f"the loss is halved, or better: {sum(falls)} of 14")
print("it is lower than the healthy one in models", lower)

# %% [markdown]
# > **"The loss goes down, so it works"** is what everybody would like to believe after
# > hours of waiting. But most of these fourteen losses go down, and some go down *further*
# > than the healthy one, because the answer leaked, was copied, or was known. A loss says
# > that something was learned, not what.

# %% [markdown]
# ## Model F: it begins at 2.5, below ln V
#
# All else seems fine, and its loss stays *below* the healthy model's for the whole
# training.

# %% tags=["nbval-ignore-output"]
models["F"] = training.run("F")
print(f"first loss {models['F'].losses[0]:.2f}, ln V {np.log(23):.2f}")
print(f"right: {models['F'].score(training.fresh_pairs()):.0%} of 100 fresh numbers")

assert models["F"].losses[0] < 2.8

# %% [markdown]
# A model with random parameters knows nothing yet.
#
# **Predict:** which part is to blame?
#
# - [x] The loss: it is divided by too many
# - [ ] The causal mask: it leaks
# - [ ] The embedding: its initial values are too small
# - [ ] The data: the numbers are too easy

# %% tags=["nbval-ignore-output"]
ratio = models["F"].losses[0] / healthy.losses[0]
share = 1 - probes.padding_share(healthy)
print(f"ratio to the healthy first loss: {ratio:.2f}")
print(f"share of targets that are no padding: about {share:.2f}")
print("leak:", round(probes.leak(models["F"]), 4))
assert abs(ratio - share) < 0.15 and probes.leak(models["F"]) < 1e-3

# %% [markdown]
# Small numbers give even probabilities, and those give ln V, so no initial values lead
# far below it. The ratio to the healthy loss is about the share of tokens that are not
# padding. So padding adds 0 to the sum, but 1 to the number of targets.
#
# The model is as good as the healthy one. It is the *number* that is wrong: you cannot
# compare it with another batch, more padding, or another program. **Fix it.**

# %%
from course_lib.lessons.patients.parts import cross_entropy  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("F", cross_entropy=cross_entropy)
runs = {"healthy": healthy, "model F": models["F"], "fixed": fixed}
symptoms.compare("F", runs)

# %% [markdown]
# ## Model G: it leaks, and its weights don't show it
#
# Model G fails on fresh numbers. Its earlier logits change with later words, as model D's
# do, and yet no word attends to a later one. So the mask is right, and something has mixed
# the positions *before* attention.
#
# **Predict:** which part is to blame?
#
# - [ ] The positional encoding
# - [ ] The feed-forward network
# - [ ] The layer norm: it normalises each token by itself
# - [x] The splitting of the heads

# %% tags=["nbval-ignore-output"]
models["G"] = training.run("G")
print(f"leak {probes.leak(models['G']):.3f}", end=", ")
print(f"weight on a later word {probes.leak_of_mask(models['G']):.3f}")
x = np.arange(12).reshape(3, 4)  # three tokens, two heads
for letter in "CG":
    heads = training.parts_of(letter).split_heads(x, 2)
    print(f"model {letter}, head 0:", heads[0].tolist())

# %% [markdown]
# The numbers 0 to 3 belong to the first token. In model G the first *head* has the whole
# first token and half of the second: cut by `reshape` alone, a head is a run of numbers,
# and its "position 1" is still token 0. The shapes are right, and the mask forbids
# positions that are not positions.
#
# Lesson 03 warned you, and here is what it does to a model. **Fix it.**

# %%
from course_lib.lessons.patients.parts import split_heads  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("G", split_heads=split_heads)
runs = {"healthy": healthy, "model G": models["G"], "fixed": fixed}
symptoms.compare("G", runs)

# %% [markdown]
# ## Model H: perfect on what is held out
#
# Model H has no leak, and what it writes is not a copy. It is nearly perfect on its own
# held-out numbers, but not on fresh ones.
#
# **Predict:** which part is to blame?
#
# - [x] The split of the data
# - [ ] Dropout: it is too weak
# - [ ] The number of steps: it has learned too long
# - [ ] The causal mask

# %% tags=["nbval-ignore-output"]
models["H"] = training.run("H")
for letter in "CH":
    run = models[letter]
    shared = symptoms.shared(run)
    print(f"model {letter}: {len(run.train)} to learn from, {shared} of them held out")
print(f"model H, held out: {models['H'].score(models['H'].held_out):.0%} right")
assert models["H"].score(models["H"].held_out) > 0.8

# %% [markdown]
# It is judged by 40 numbers that it has memorised. Neither the loss nor the score can
# show that; only data that were never near the program can. So count the examples, and
# those that are on both sides. It happens to the best: GPT-3's training set still held
# parts of some test sets, because of a bug in the program that was to remove them (Brown
# et al. 2020, section 4). **Fix it.**

# %%
from course_lib.lessons.patients.parts import split_data  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("H", split_data=split_data)
runs = {"healthy": healthy, "model H": models["H"], "fixed": fixed}
symptoms.compare("H", runs)

# %% [markdown]
# ## Model I: it barely moves
#
# Model I's loss falls, but far later than the healthy one's. Its gradients are healthy, and
# these are its learning rates.
#
# **Predict:** which part is to blame?
#
# - [x] The warm-up
# - [ ] Adam's bias correction
# - [ ] Clipping
# - [ ] The embedding: it gets no gradient

# %% tags=["nbval-ignore-output"]
models["I"] = training.run("I")
for letter in "CI":
    schedule = training.parts_of(letter).warmup_rate
    values = (f"{step}: {schedule(step, 32, 30):.4f}" for step in (0, 10, 30, 200))
    print(f"model {letter}:", *values)

# %% [markdown]
# The value is the same for 180 steps: somebody counts epochs, as many schedules do,
# whereas the formula counts optimizer steps. (The optimizer gets a quarter of these
# values.) The peak would come in the 30th epoch, at step 5,220, but the training ends
# after 400.
#
# It learns, so nothing seems broken; its loss falls, but late. Always **plot the learning
# rate** next to the loss. **Fix it.**

# %%
from course_lib.lessons.patients.parts import warmup_rate  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("I", warmup_rate=warmup_rate)
runs = {"healthy": healthy, "model I": models["I"], "fixed": fixed}
symptoms.compare("I", runs)

# %% [markdown]
# ## Model J: NaN from step 250 on
#
# Model J is healthy for 250 steps. Then its loss becomes NaN, for good.
#
# **Predict:** which part is to blame?
#
# - [ ] The learning rate: the loss has exploded
# - [x] The softmax: a query may attend to no key
# - [ ] Adam: it divides by 0
# - [ ] The layer norm: a variance was 0

# %% tags=["nbval-ignore-output"]
models["J"] = training.run("J")
losses = np.array(models["J"].losses)
first = int(np.isnan(losses).argmax())
print("losses:", losses[first - 3 : first + 2].round(2), " from step", first)
print("gradient norms:", np.round(models["J"].gradient_norms[first - 3 : first], 1))
blocked = torch.zeros(1, 3, dtype=torch.bool)
weights = training.parts_of("J").masked_softmax(torch.zeros(1, 3), blocked)
print("a query that may attend to no key:", weights.tolist())

# %% [markdown]
# There is no explosion: losses and norms before it are ordinary. Then one batch has an
# *empty line*, a source of padding only, with no key to attend to. All its scores are −∞,
# so subtracting the largest (lesson 01) is −∞ − (−∞), which is NaN. One NaN in the loss
# is a NaN in every gradient, and after one step in every parameter.
#
# Examine the batch of the first NaN, never of the second. **Fix it:** such a query gets
# weights of 0.

# %%
from course_lib.lessons.patients.parts import masked_softmax  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("J", masked_softmax=masked_softmax)
runs = {"healthy": healthy, "model J": models["J"], "fixed": fixed}
symptoms.compare("J", runs)

# %% [markdown]
# ## Model K: words in the wrong order
#
# Model K's loss stays high, as model E's does. The first question is the same, too:
# does it learn in a wrong way, or does its input lack something?
#
# **Predict:** which of models E and K can memorise one batch, in 200 steps, if either can?
#
# - [ ] Both
# - [x] Only K
# - [ ] Neither

# %% tags=["nbval-ignore-output"]
by_heart = {}
for letter in "CEK":
    by_heart[letter] = training.run(letter, one_batch=True, steps=200).losses[-1]
    print(f"model {letter}: last loss on one batch {by_heart[letter]:.2f}")
assert by_heart["K"] < 0.5 < 1 < by_heart["E"]

# %% [markdown]
# Model K learns the batch, so its input must lack something that other batches need. For
# fresh numbers, it writes some of the right words, but not in order.
#
# **Predict:** which part is to blame?
#
# - [ ] The causal mask: it is too strict
# - [ ] The heads: there is only one
# - [ ] The embedding: two digits share a row
# - [x] The positions

# %% tags=["nbval-ignore-output"]
models["K"] = training.run("K")
for text, words in zip(fresh[:3], models["K"].read(fresh[:3]), strict=True):
    print(f"{text:>8}: {words}")
for letter in "CK":
    difference = probes.order_gap(models[letter])
    print(f"model {letter}: 6294 against 2469, difference {difference:.3f}")

# %% [markdown]
# The probe swaps digits in the source, and the logits of model K don't change: without
# positions, attention sees a bag (lesson 05). There *is* an encoding in the code, and it
# is added, but a colon is missing: `encoding[n]` is a single row, and broadcasting adds
# it to every token. No shape is wrong. **Fix it.**

# %%
from course_lib.lessons.patients.parts import add_positions  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("K", add_positions=add_positions)
runs = {"healthy": healthy, "model K": models["K"], "fixed": fixed}
symptoms.compare("K", runs)

# %% [markdown]
# ## Models L and M: what else is in the batch
#
# In models L and M it matters what else is in the batch. There are two ways: the
# *numbers* of the others get in, or their *length*, through the padding.
#
# **Predict:** which measurement tells the two apart?
#
# - [ ] `leak`, with other later words
# - [ ] A batch of twice the size
# - [x] A batch of equal lengths
# - [ ] The first loss of each model

# %% tags=["nbval-ignore-output"]
models["L"], models["M"] = training.run("L"), training.run("M")
for letter in "CLM":
    run = models[letter]
    gaps = [probes.batch_gap(run), probes.batch_gap(run, equal_lengths=True)]
    print(f"model {letter}: by the batch {gaps[0]:.3f}, without padding {gaps[1]:.3f}")

# %% [markdown]
# ### Model L: alone, all are the same
#
# Model L differs even without padding. Eight different numbers, read one by one, all get
# the same answer.
#
# **Predict:** which part is to blame?
#
# - [ ] The padding mask
# - [ ] The embedding
# - [ ] Dropout
# - [x] The layer norm

# %% tags=["nbval-ignore-output"]
print({letter: symptoms.answers_alone(models[letter]) for letter in "CL"})
x = torch.tensor([[[1.0, 2.0, 6.0]], [[3.0, 3.0, 3.0]]])
one, zero = torch.ones(3), torch.zeros(3)
for letter in "CL":
    norm = training.parts_of(letter).layer_norm
    print(f"model {letter}: alone {norm(x[:1], one, zero)[0, 0].numpy().round(2)}")

# %% [markdown]
# The mean is taken over the batch, as in batch norm. If the batch is one sentence, each
# number *is* the mean, so 0 is left, whatever the sentence. (Real batch norm keeps
# running means for that; lesson 09 says why Transformers do without.)
#
# **Fix it**, and never evaluate only with the batch size used in training: **a batch of
# 1** is a measurement.

# %%
from course_lib.lessons.patients.parts import layer_norm  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("L", layer_norm=layer_norm)
runs = {"healthy": healthy, "model L": models["L"], "fixed": fixed}
symptoms.compare("L", runs)

# %% [markdown]
# ### Model M: longer neighbours change the result
#
# Model M differs only where there is padding.
#
# **Predict:** which part is to blame?
#
# - [x] The padding mask
# - [ ] The loss: it counts padding
# - [ ] The causal mask
# - [ ] The end token

# %% tags=["nbval-ignore-output"]
for letter in "CM":
    mask = training.parts_of(letter).padding_mask([2, 4], 4)
    print(f"model {letter}: lengths 2 and 4", mask.astype(int).tolist())

# %% [markdown]
# The mask lets one padding token too many through. In training there is almost always
# one, and the model even relies on it, but a sentence alone has none. In a batch, it
# scores as high as the healthy model.
#
# A loss with padding (model F) changes the number that is reported; this mask changes
# what the model *is*. **Fix it.**

# %%
from course_lib.lessons.patients.parts import padding_mask  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.run("M", padding_mask=padding_mask)
runs = {"healthy": healthy, "model M": models["M"], "fixed": fixed}
symptoms.compare("M", runs)

# %% [markdown]
# ## Model N: right in training, wrong in use
#
# Model N has a healthy curve. But it reads some numbers differently when they are
# alone.

# %% tags=["nbval-ignore-output"]
models["N"] = training.run("N")
for letter in "CN":
    run = models[letter]
    together, alone = run.read(fresh), [run.read([text])[0] for text in fresh]
    same = sum(a == b for a, b in zip(together, alone, strict=True))
    last = symptoms.last_loss(run)
    print(f"model {letter}: last loss {last:.2f}, of 100 alone as in a batch: {same}")

# %% [markdown]
# Now try it twice with the *same* batch.
#
# **Predict:** which part is to blame?
#
# - [ ] The seed: it is not set
# - [ ] Rounding: threads add in another order
# - [x] The evaluation: something random is still on
# - [ ] The cache: it holds the other batch

# %% tags=["nbval-ignore-output"]
for letter in "CN":
    gap = probes.repeat_gap(models[letter])
    print(f"model {letter}: difference of two calls {gap:.3f}")
print("model N is in training mode:", models["N"].model.training)
assert probes.repeat_gap(models["N"]) > 0.01 > 1e-6 > probes.repeat_gap(healthy)

# %% [markdown]
# Rounding gives differences in the seventh digit. These are in the first: **dropout** is
# still on, because nobody called `model.eval()`. A seed would hide it: the result would
# be the same each time, and wrong. **Fix it**; no new training is needed.

# %%
from course_lib.lessons.patients.parts import evaluate  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.treated(models["N"], evaluate=evaluate)
symptoms.compare("N", {"healthy": healthy, "model N": models["N"], "fixed": fixed})

# %% [markdown]
# ## Model O: wrong with the cache
#
# Model O is healthy in all measurements so far. But users complain that it writes
# nonsense with the cache (lesson 11).
#
# **Predict:** which part is to blame?
#
# - [x] The position of the new token
# - [ ] The causal mask: it forbids the cached keys
# - [ ] The encoder: its memory is cached as well
# - [ ] Greedy decoding: it needs a beam

# %% tags=["nbval-ignore-output"]
models["O"] = training.run("O")
for cached in (False, True):
    words = models["O"].read(fresh[:1], cached=cached)[0]
    print("with cache:   " if cached else "without cache:", words)
for letter in "CO":
    positions = training.parts_of(letter).newest_positions(3, 1)
    print(f"model {letter}: 3 in the cache, 1 new:", positions.tolist())

# %% [markdown]
# A mask that forbids the cached keys would make words repeat too, but here the new token
# itself says "I am the first". The property to test: **with and without cache, the same
# text.** It costs one line, for every model and every trick that makes it faster. **Fix
# it.**

# %%
from course_lib.lessons.patients.parts import newest_positions  # mend

# %% tags=["nbval-ignore-output"]
fixed = training.treated(models["O"], newest_positions=newest_positions)
symptoms.compare("O", {"healthy": healthy, "model O": models["O"], "fixed": fixed})

# %% [markdown]
# ## The whole list of checks
#
# Here is *The order of the checks* for all fourteen models; it gives away those that you
# have not hunted yet. Before and during training:
#
# | measure | healthy | if not, suspect |
# |---|---|---|
# | the data | no example on both sides | the split |
# | first loss | ln V | above: initial values; below: what the loss divides by |
# | `leak` | 0 | the mask; with no weight on later positions, what mixes positions |
# | one batch, 200 steps | loss near 0 | gradients, learning rate, optimizer |
# | samples | no copies | the shift |
# | first NaN | none | its batch: an empty row |
# | norm of the gradient | no steady growth | gradients not set to 0 |
# | learning rate, plotted | as you meant it | the schedule: steps or epochs |

# %% [markdown]
# And when the model is used:
#
# | measure | healthy | if not, suspect |
# |---|---|---|
# | the same call twice | the same | dropout is still on |
# | a batch of 1 | as in a batch of equal lengths | a norm over the batch |
# | inputs exchanged | another result | the positions |
# | longer neighbours | the same | the padding mask |
# | with and without cache | the same text | the position of the new token |

# %% [markdown]
# ## Four more tests
#
# Each is judged as your first two were, and `test_layer` takes the longest.
# `help("course_lib.positions.sinusoidal_encoding")` prints a contract.

# %% [markdown]
# ### Exercise: test_positions
#
# Test a function for `sinusoidal_encoding(n, d_model, base)` of lesson 05.
#
# <details><summary>Hint 1</summary>
#
# Which of the three arguments could a function ignore, and which values of n and
# d_model are at the edge of what the docstring allows?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two loops, over positions and columns, compare each number with `math.sin` or
# `math.cos` of `t * base ** (-2i / d_model)`, where 2i is the column or the one before
# it. Call it with at least six columns, once with an odd d_model, once with another
# base, once with n = 1, and compare with a tolerance of 1e-9.
#
# </details>

# %%
from course_lib.tests_of_parts import test_positions  # exercise

# %%
check(test_positions)

# %% [markdown]
# ### Exercise: test_layer
#
# Test a function for `encoder_layer` of lesson 09, in post-norm and in pre-norm.
#
# <details><summary>Hint 1</summary>
#
# What else computes such a layer? And with which parameters could you not tell two norms,
# two residual connections or three heads apart?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Either write the layer once more (attention head by head, norm, feed-forward; nothing
# has to be fast), or load the parameters into `torch.nn.TransformerEncoderLayer`, as
# lesson 09 does. Draw all parameters, gains and biases too, in float64; try both values
# of norm_first, a mask that is not symmetric, one token, and compare shape and values to
# 1e-9.
#
# </details>

# %%
from course_lib.nn.tests_of_layers import test_layer  # exercise

# %%
check(test_layer)

# %% [markdown]
# ### Exercise: test_bpe
#
# Test a function for `train_bpe(words, n_merges)` of lesson 06.
#
# <details><summary>Hint 1</summary>
#
# Go through the rules one by one: for each, which words show whether it is kept or
# broken? Which words have runs such as aaa, and when does training end early?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Examples by hand are enough, one for each rule: equal counts, frequencies that reverse
# the order, a word in which a pair occurs twice, aaaaa, a pair that occurs once,
# n_merges = 0. Or write the training once more, slowly, and compare on a few dozen random
# dictionaries of words over three letters.
#
# </details>

# %%
from course_lib.tests_of_parts import test_bpe  # exercise

# %%
check(test_bpe)

# %% [markdown]
# ### Exercise: test_decoding
#
# Test a function for greedy decoding, with a table of logits instead of a model.
#
# <details><summary>Hint 1</summary>
#
# Make an array with which 1, 2, 4 are chosen, whatever came before. Now, what if 4 is the
# end, what if it isn't, what if 2 is the start, what if the end comes first?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A helper fills an array with −7 and puts −2 at [t, :, token] for each t (all below 0,
# as log-probabilities are). Compare the token ids as lists: ends by itself, stops at
# max_length, empty at once, start_id in the middle, start_id = end_id, two equal
# logits.
#
# </details>

# %%
from course_lib.tests_of_parts import test_decoding  # exercise

# %%
check(test_decoding)

# %% [markdown]
# ## What about other people's tests?
#
# Courses and libraries often compare with a **snapshot**: one drawn example, and what a
# right version once returned for it.

# %%
import course_lib.attention

rng = np.random.default_rng(0)
example = [rng.normal(size=size) for size in ((2, 5, 4), (2, 5, 4), (2, 5, 4))]
snapshot = course_lib.attention.attention(*example)[0]


def one_snapshot(attention) -> None:
    """Compare the output for one drawn example with a snapshot."""
    assert np.allclose(attention(*example)[0], snapshot, atol=1e-6)


# %% [markdown]
# The example has a batch of 2, five tokens that attend to each other, and vectors of
# length 4.
#
# **Predict:** what share of the broken attentions does the snapshot catch?
#
# - [ ] All of them
# - [x] About two thirds
# - [ ] Less than a third

# %% tags=["nbval-ignore-output"]
caught, of = load("test_attention").score(one_snapshot)
print(f"caught {caught} of {of}")
assert 0.5 < caught / of < 0.75

# %% [markdown]
# The snapshot is blind to what its one example cannot show: sizes that agree by
# accident, extremes, and results that it never compares.

# %% [markdown]
# Other courses test the same parts. Stanford's CS336 compares with snapshots, *Dive into
# Deep Learning* checks shapes in the text itself, and minbpe compares with a worked
# example and decodes what was encoded; nanoGPT has no tests. Here are their *ideas*, in
# our words and for our contracts (`course_lib/lessons/tests_elsewhere.py`), before our
# judge.
#
# **Predict:** which of them catches everything?
#
# - [x] None of them
# - [ ] The snapshots of CS336
# - [ ] minbpe's example

# %% tags=["nbval-ignore-output"]
from course_lib.lessons.tests_elsewhere import ELSEWHERE

complete_ones = 0
for origin, tests in ELSEWHERE.items():
    for name, test in tests.items():
        caught, of = load(name).score(test)
        complete_ones += caught == of
        print(f"{origin:8} {name:16} {caught:2} of {of}")
assert complete_ones == 0

# %% [markdown]
# This is not a reproach. Those tests tell learners that they are on the right track, and
# nobody had counted what they catch. Yours were run against broken versions: that is
# the whole difference. Whenever you write a test from now on, break the code once, on purpose, and
# see whether it notices.

# %% [markdown]
# ## What you have written
#
# Here are the course's functions, by lesson, with the modules that hold the course's own
# versions:
#
# <!-- functions of the course -->

# %% [markdown]
# **You can read this code now**, line by line:
#
# - Karpathy's [nanoGPT](https://github.com/karpathy/nanoGPT), `model.py`: lessons 04, 09, 12, in 330 lines; and
#   [minbpe](https://github.com/karpathy/minbpe): lesson 06.
# - [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/): lessons 09 to 11 as one text.
# - Hugging Face's `modeling_gpt2.py` and `modeling_llama.py`, in
#   [transformers](https://github.com/huggingface/transformers): lesson 12's two blocks, with cache and masks.
#
# And for training at scale, Stanford's [CS336](https://stanford-cs336.github.io/spring2025/).

# %% [markdown]
# And what you can build: train lesson 12's model on a text of your own, or take a paper
# that changes one part, write the part as a function, and ask this lesson's questions
# before you believe its table of results.
