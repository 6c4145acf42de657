# %% [markdown]
# # Training
#
# **How is it made to learn?**
#
# After this lesson you can
#
# - write the loss, the smoothing of targets and the learning rate of the paper;
# - train a Transformer on pairs of sentences, and read the curve of its loss;
# - say before a training begins whether it can work, with four checks that take seconds.
#
# **About 80 minutes.** You need lessons 06, 08 and 09, and the data: `make data` prepares it.

# %%
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from autograder import check
from course_lib import figures

# %% [markdown]
# ## A question to carry through the lesson
#
# In lesson 09 you built a Transformer. All its shapes are right, it is equal to PyTorch's,
# and it knows nothing. A training changes that, and it takes minutes here, hours or days
# elsewhere. Most mistakes in a training raise no error: the program runs, the loss falls,
# and the model is useless.
#
# **What can you know before the first step?** There is one number that the first loss must
# be close to, and there are four checks that a model has to pass. At the end of this lesson
# you have done them all, and a small Transformer has learned to read numbers while you
# watched.

# %% [markdown]
# ## Pairs of texts
#
# The real texts are from the menus and messages of a program for the home. They are split so
# that no text of the test, and none of its sentences, is in training.

# %%
examples = slice(200, 20_000, 5000)
from course_lib.corpora.more_pairs import larger_translation_pairs

texts = larger_translation_pairs()
print(len(texts.train), "to learn from,", len(texts.test), "for the test")
for pair in texts.train[examples]:
    print("  ", pair.source, "→", pair.target)
assert len(texts.train) == 31_335  # as said below
assert len(texts.test) == 1_340

# %% [markdown]
# A model reads token ids. Lesson 06's subwords, learned from both languages together, give
# them, with that lesson's preprocessing: punctuation is a token of its own, and the first
# word of a sentence has the case that it has elsewhere. Four token ids are special: padding,
# start, end, and unknown characters.

# %%
from course_lib.nn.training.subwords import (
    END_ID,
    PADDING_ID,
    START_ID,
    train_pair_tokenizer,
)

subwords = train_pair_tokenizer(texts.train, 4000)
token_ids = subwords.encode("Battery almost empty")
print(len(subwords), "tokens;", [subwords.vocabulary[each] for each in token_ids])
print("unknown:", subwords.decode(subwords.encode("Battery empty \N{SNOWMAN}")))

# %% [markdown]
# A batch is three tensors: the sources; what the decoder reads, `decoder_input`; and what it
# must write, `target`. **Predict** how the last two belong together.

# %%
from course_lib.nn.functional import shift_right
from course_lib.nn.training.batches import collate, encode_pairs

pairs = encode_pairs(texts.train[:20000:200], subwords)
batch = collate(pairs)
print("source", tuple(batch.source.shape), " target", tuple(batch.target.shape))
good = shift_right(batch.target, START_ID)
same = (batch.decoder_input == good)[batch.target != PADDING_ID]
print("reads the target, shifted right:", bool(same.all()))
print("padding in the targets:", f"{(batch.target == PADDING_ID).float().mean():.0%}")
assert same.all()

# %% [markdown]
# The decoder reads the start, and then the target without its newest token. Forgetting this
# costs everything, and the loss looks perfect (lesson 04).

# %% [markdown]
# ## How surprised?
#
# At each position a translator gives a **logit**, a score, for each token of the vocabulary;
# softmax makes probabilities. Only one token is right. The loss at the position is $-\ln p$
# of that token, its **surprise**:
#
# $$\text{loss} = -\frac{1}{N} \sum_{\text{positions that count}} \ln p(\text{right token})$$
#
# N is the number of positions that count. Three terms: a **logit** is a score of any size;
# the **cross-entropy** is the mean surprise; **padding** makes the rows of a batch equally
# long, and it does not count. **Predict** the loss where the right token has probability 1,
# ½, and 1/4000.

# %%
for p in (1.0, 0.5, 1 / 4000):
    print(f"p = {p:.5f}: loss {abs(-np.log(p)):.2f}")

# %% [markdown]
# Let V be the number of tokens in the vocabulary. A model that knows nothing, and says so,
# gives each of them 1/V: its loss is ln V.

# %% [markdown]
# ### Exercise: cross_entropy
#
# The mean surprise over all positions that count, whatever sentence they are in.
#
# <details><summary>Hint 1</summary>
#
# `logits.log_softmax(dim=-1)` gives all the logarithms. What goes wrong with
# `softmax(...).log()` if one logit is far below the others?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `gather(-1, right.unsqueeze(-1))` picks one number per position. `ignore_index` may be no
# token id at all, such as −100: replace it by 0 before picking, and set what was picked there
# to 0 afterwards. By how many positions do you divide, and what if there are none?
#
# </details>

# %%
from course_lib.nn.losses import cross_entropy  # exercise

# %%
check(cross_entropy)

# %% [markdown]
# The same in PyTorch, and two tempting means. Two sentences: one token that is a surprise of
# 4, and nine that are surprises of 1. **Predict** the loss.

# %%
surprises = torch.tensor([4.0] + [1.0] * 9)
by_token = surprises.mean()
by_sentence = (surprises[0] + surprises[1:].mean()) / 2
by_position = surprises.sum() / (2 * 9)  # two rows of nine, eight of them padding
print(f"mean over tokens {by_token:.2f}, over sentences {by_sentence:.2f}")
print(f"mean over all positions, padding too: {by_position:.2f}")

# %%
logits, targets = torch.randn(2, 5, 7), torch.tensor([[1, 2, 3, 0, 0], [4, 5, 6, 1, 2]])
theirs = torch.nn.functional.cross_entropy(logits.mT, targets, ignore_index=0)
print("yours is PyTorch's:", torch.allclose(cross_entropy(logits, targets, 0), theirs))

# %% [markdown]
# > **Popular error: the mean over everything in the batch.** The more padding
# > there is, the smaller this loss: 0.72 in place of 1.30. And with a mean of the sentences'
# > means, a token of the short sentence counts nine times as much as one of the long one.

# %% [markdown]
# ## The first check: ln V
#
# A model with random parameters knows nothing. If it also *says* so, its loss is ln V before
# any training. **Predict** it for V = 4000. Below are the two recurrent translators of lesson
# 08, without and with attention, and a Transformer of lesson 09, with the sizes and the real
# texts of the long training in lesson 11.

# %% tags=["nbval-ignore-output"]
from functools import partial

from course_lib.experiments.translation import SYSTEM_NAMES
from course_lib.nn.training.loop import seeded_model
from course_lib.nn.training.tasks import SYSTEMS

cpu, even, models = torch.device("cpu"), np.log(len(subwords)), {}
print(f"ln V = {even:.2f}")
for name, label in SYSTEM_NAMES.items():
    make = partial(SYSTEMS[name].make, {"vocab_size": 4000}, cpu)
    model = seeded_model(make, 0).eval()
    with torch.inference_mode():
        logits = model(batch.source, batch.decoder_input)
        loss = cross_entropy(logits, batch.target, PADDING_ID)
    print(f"{label:18} first loss {loss:.2f}")
    assert abs(loss / even - 1) < 0.05
    models[name] = model

# %% [markdown]
# This takes care. The embedding's rows also give the logits, and PyTorch's `nn.Embedding`
# draws numbers with the standard deviation 1. **Predict** the loss with such an embedding:
# below ln V or above, and how many times?

# %% tags=["nbval-ignore-output"]
import copy

real = models["transformer"]
large = copy.deepcopy(real)
torch.manual_seed(0)
torch.nn.init.normal_(large.embedding.weight)
with torch.inference_mode():
    logits = large(batch.source, batch.decoder_input)
    loss = cross_entropy(logits, batch.target, PADDING_ID)
print(f"with standard deviation 1: {loss:.0f}, which is {loss / even:.0f} times ln V")
assert loss > 5 * even

# %% [markdown]
# Such a model is *sure* of nonsense, and its first hundreds of steps only take that back.
# Here the standard deviation is $1/\sqrt{d_{model}}$, and `embed` multiplies by
# $\sqrt{d_{model}}$ (lesson 09).
#
# > **Popular error: "the first loss does not matter".** It is the one loss whose value you
# > know beforehand. Far above ln V: wrong sizes of parameters. Below it, before anything was
# > learned: the target is in the input, or the sum over the positions that count is divided
# > by all positions.

# %% [markdown]
# ## Not too sure, please
#
# *Battery almost empty* may be *Batterie fast leer* or *Akku fast leer*. The data have one
# of them, and a loss that wants p = 1 for *Akku* drives its logit up without end. **Label
# smoothing** asks for a little less: of each target, a share ε is spread evenly over all
# tokens, the right one included.
#
# **Predict** the four numbers for four tokens, the second right, ε = 0.2.

# %%
smoothing, right = 0.2, 1
smooth = [smoothing / 4 + (1 - smoothing) * (token == right) for token in range(4)]
print(np.array(smooth).round(2), "sum", round(sum(smooth), 2))

# %% [markdown]
# ### Exercise: label_smoothing
#
# Targets of any shape, one distribution for each.
#
# <details><summary>Hint 1</summary>
#
# How much does a wrong token get? And the right one: ε/V *and* what else?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.full((*targets.shape, vocab_size), number)` is the even part. `scatter_add(-1, index,
# source)` adds the numbers of `source` at `index`, a tensor of the same shape;
# `torch.nn.functional.one_hot` is another way.
#
# </details>

# %%
from course_lib.nn.losses import label_smoothing  # exercise

# %%
check(label_smoothing)

# %% [markdown]
# The loss is then the mean of $-\sum_t q_t \ln p_t$ with these distributions q. It is least
# where p = q, and there it is the entropy of q. **Predict:** is that 0?

# %%
smoothed = label_smoothing(torch.tensor([7]), 4000, 0.1)
floor = -(smoothed * smoothed.log()).sum().item()
print(f"the least loss with a smoothing of 0.1 and 4,000 tokens: {floor:.2f}")

# %%
logits = torch.randn(1, 4000)
theirs = torch.nn.functional.cross_entropy(
    logits, torch.tensor([7]), label_smoothing=0.1
)
ours = -(smoothed * logits.log_softmax(-1)).sum()
print("yours is PyTorch's:", torch.allclose(ours, theirs))
assert 1.1 < floor < 1.2 and torch.allclose(ours, theirs)

# %% [markdown]
# > **Popular error: "the loss must come down to 0".** With smoothing it cannot: here 1.15 is
# > perfect. Losses with different smoothing, or with different vocabularies, cannot be
# > compared.
#
# How sure does a model become that was trained so? You will see it in lesson 11, in percent.

# %% [markdown]
# ## How fast may it move?
#
# The first steps of a Transformer are delicate, so the paper begins with tiny ones: the
# learning rate grows evenly for a number of steps, its **warm-up**, and then falls with the
# root of the step:
#
# $$\text{learning rate} = d_{model}^{-0.5} \cdot \min(\text{step}^{-0.5},\
# \text{step} \cdot \text{warmup}^{-1.5})$$
#
# **Predict:** with a warm-up of 4000 steps, at which step is the learning rate greatest?
# And what is it at step 0?

# %%
for step in (1, 2000, 4000, 16000):
    print(f"step {step:5}: {512**-0.5 * min(step**-0.5, step * 4000**-1.5):.2e}")

# %% [markdown]
# Twice as large at 4000 as at 2000, and as at 16,000. At step 0 the formula has no value:
# $0^{-0.5}$. The paper counts from 1, a loop in Python from 0.

# %% [markdown]
# ### Exercise: warmup_rate
#
# Here `step` is the number of optimizer steps made *before*: 0 for the first.
#
# <details><summary>Hint 1</summary>
#
# If `step` steps were made before, what is the number of the next one, counted from 1?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `min` takes the smaller one of two numbers, and `**` is the power. Where do the two meet?
#
# </details>

# %%
from course_lib.nn.losses import warmup_rate  # exercise

# %%
check(warmup_rate)

# %% [markdown]
# As a picture, with the paper's warm-up and one twice as long:

# %%
steps = range(0, 20_000, 400)
learning_rates = {
    f"warm-up {warmup}": [1000 * warmup_rate(step, 512, warmup) for step in steps]
    for warmup in (4000, 8000)
}

# %%
alt = "It grows evenly to its greatest value, and then falls, fast at first."
labels = {"xlabel": "steps before", "ylabel": "learning rate · 1000"}
figures.curves(steps, learning_rates, **labels, alt=alt)

# %% [markdown]
# A longer warm-up has a lower peak, and afterwards both are the same. The course's own
# training, `course_lib.nn.training.loop`, warms up as well, and then goes down in a straight
# line to nearly 0, since it knows when it will end. **Predict** from the formula which model
# gets the greater learning rates, the one with d_model 128 or with 512.

# %%
peaks = {d: warmup_rate(3999, d, 4000) for d in (128, 512)}
print(
    {d: round(peak, 5) for d, peak in peaks.items()}, "ratio", peaks[128] / peaks[512]
)
assert abs(peaks[128] / peaks[512] - 2) < 1e-9

# %% [markdown]
# ## A small one learns before your eyes
#
# The long training of lesson 11 takes minutes. So here is a small Transformer, of one layer
# on each side and 127,000 parameters, with a smaller task: English number words, to be
# written in German. Units come before tens (*drei-und-siebzig*), so words cross. 4,000
# numbers below a million are for learning, 100 others are held out. (Its code is in
# `course_lib/lessons/small_translator.py`, and the loop that trains it, and the large ones,
# in `course_lib/nn/training/loop.py`.)
#
# **Predict** what it writes before the first step, after 50 steps, and after 400.

# %% tags=["nbval-ignore-output"]
from course_lib.lessons import small_translator

task = small_translator.numbers_task()
training = small_translator.make_trainer(task)
sources = [pair.source for pair in task.held_out[:2]]
print("wanted:", *(pair.target for pair in task.held_out[:2]))
for n_steps in (0, 50, 100, 200, 400):
    small_translator.train_until(training, n_steps)
    now = small_translator.translate(training.model, task.tokenizer, sources)
    print(f"{n_steps:3} steps:", *(f"{text[:52]!r}" for text in now))

# %% [markdown]
# First nothing; then much the same for both numbers, from subwords that are frequent, perhaps
# without an end (the output is cut at 52 letters here); then it reads. How many of the 100
# are right to the letter?

# %%
small = training.model.eval()
share_right = small_translator.exact_match(small, task)
print("above 0.75:", share_right > 0.75)
print(f"{sum(each.numel() for each in small.parameters()):,} parameters")
assert share_right > 0.75  # 0.93 when the course was made; others round otherwise

# %%
windows = np.array(training.losses).reshape(-1, 20).mean(axis=1)
curves = {"loss per token, smoothed targets": windows}
axes = {"xlabel": "steps", "ylabel": "loss"}
best_case = label_smoothing(torch.tensor([7]), len(task.tokenizer), 0.1)
least = -(best_case * best_case.log()).sum().item()
vocab_size = len(task.tokenizer)
print(f"ln {vocab_size} = {np.log(vocab_size):.1f}, floor {least:.2f}")
assert round(least, 2) == 0.82
assert abs(training.losses[0] / np.log(150) - 1) < 0.05 and windows[-1] < 1.2

# %% [markdown]
# Its loss goes from ln 150 = 5.0 towards the floor that smoothing sets: 0.82 with 150 tokens.
# (Means of 20 steps.)

# %%
alt = "The loss falls steeply for a hundred steps, then slowly towards 0.9."
figures.curves(range(10, 410, 20), curves, **axes, alt=alt)

# %% [markdown]
# ## Before you trust it
#
# A training that runs through proves little. Four checks take seconds and need no trained
# model; do them before each long training. Here they are done with real pairs, and two to
# four with the *large* model of the long training, untrained.
#
# **One: it can learn one batch by heart.** Eight pairs, again and again, with a model of
# the small one's sizes. What cannot do that will not learn 31,335. (The targets are plain
# here, not smoothed: the least loss is 0.)

# %%
few = small_translator.overfit_one_batch(pairs[:8], len(subwords))
print("first loss near ln V:", bool(abs(few.losses[0] / even - 1) < 0.05))
print("last loss below 0.1:", few.losses[-1] < 0.1)
assert abs(few.losses[0] / even - 1) < 0.05 and few.losses[-1] < 0.1

# %% [markdown]
# **Two: nothing leaks.** `leak` of lesson 04 changes the future of the decoder's input and
# measures how much the past of its output changes. The encoder *may* attend to later
# positions: there the detector must find a leak.

# %%
from course_lib.masks import leak

x = np.random.default_rng(0).normal(size=(7, 128))
decoder = small_translator.decoder_of(real, pairs[0].source)
encoder = small_translator.encoder_of(real)

# %%
print("decoder leaks:", max(leak(decoder, x, t) for t in range(6)) > 1e-4)
print("encoder leaks:", min(leak(encoder, x, t) for t in range(6)) > 0.01)
assert max(leak(decoder, x, t) for t in range(6)) < 1e-4  # 32-bit floats
assert min(leak(encoder, x, t) for t in range(6)) > 0.01

# %% [markdown]
# **Three: the target is shifted.** You saw it above: `batch.decoder_input` is `shift_right`
# of `batch.target`.
#
# **Four: the rest of the batch does not matter.** A sentence in a batch is padded to the
# longest. The result must be the same as for the sentence alone.

# %% [markdown]
# ### Exercise: padding_gap
#
# Feed all sequences in one batch, then each alone, and measure the largest difference.
#
# <details><summary>Hint 1</summary>
#
# Which rows of the batch's result belong to tokens? Those at padding may be
# anything.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.full((rows, columns), padding_id)` makes an array of padding into which the sequences
# are written. A sequence alone is a batch too: of one row, without any padding.
#
# </details>

# %%
from course_lib.nn.losses import padding_gap  # exercise

# %%
check(padding_gap)

# %% [markdown]
# Now the real model, and a copy of it with another token id for padding. That happens when a
# vocabulary is made anew and the model keeps the old token id.

# %%
sequences = [pair.source for pair in pairs[:6]]
other_padding = small_translator.with_padding_id(real, padding_id=3999)
readers = map(small_translator.token_encoder_of, (real, other_padding))
gaps = [padding_gap(reader, sequences, PADDING_ID) for reader in readers]

# %%
print("right padding, gap above 0.0001:", gaps[0] > 1e-4)
print("wrong padding, gap above 0.0001:", gaps[1] > 1e-4)
assert gaps[0] < 1e-4 and gaps[1] > 0.01  # 32-bit floats

# %% [markdown]
# > **Popular error: "padding is zeros, so it does no harm".** No shape is wrong, and no
# > number is NaN. But what the model makes of a sentence changes with its neighbours in the
# > batch.
#
# The same check from outside, with the trained one: all texts at once, and one by one.

# %%
sources = [pair.source for pair in task.held_out[:30]]
together = small_translator.translate(small, task.tokenizer, sources)
alone = [
    small_translator.translate(small, task.tokenizer, [each])[0] for each in sources
]

# %%
print("same translations:", together == alone)
assert together == alone

# %% [markdown]
# ## In three lines
#
# - The loss is the mean surprise at the right tokens; with smoothed targets it cannot come
#   down to 0.
# - A training warms up: small steps first, larger ones soon, and then smaller ones again.
# - Before training: the loss is ln V, one batch is learned by heart, nothing leaks, padding
#   plays no part.
#
# **What you can read now:** *Attention Is All You Need*, section 5; Goodfellow et al.
# (2016), *Deep Learning*, section 6.2.2.
#
# **An open question:** it has learned. Does it translate, and how is a translation found and
# measured? Lesson 11.
