# %% [markdown]
# # The Transformer
#
# **How do the parts make an encoder and a decoder?**
#
# After this lesson you can
#
# - build the encoder and the decoder of *Attention Is All You Need* out of your own parts;
# - say what norms and residual connections are good for, and show it with numbers;
# - tell a right formula of a layer from two wrong ones that are in circulation;
# - give each of the three attentions the mask that it needs;
# - count the parameters of the paper's model as PyTorch builds it, to the last one.
#
# **About 180 minutes.** You need lessons 03, 04 and 05. The exercises are in PyTorch, as
# in lesson 08.

# %%
import torch
from torch import Tensor, nn

from autograder import check
from course_lib import figures, masks
from course_lib.experiments import norms, record
from course_lib.nn.functional import multi_head_attention

# %% [markdown]
# ## A question to carry through the lesson
#
# The base model of the paper, as PyTorch builds it and without its embedding, has
# 44,140,544 parameters. One multi-head attention of that size has these (lesson 03, with
# a bias for each projection):

# %%
one_attention = 4 * (512 * 512 + 512)
print(f"one attention: {one_attention:,} of 44,140,544")
print("it fits in", round(44_140_544 / one_attention, 2), "times")

# %% [markdown]
# The model has far fewer than 42 attentions. **How many are there, what is all the rest,
# and which layer reads from which?** The last picture of this lesson is the whole
# architecture, made of your parts, with the numbers of parameters in its boxes. The map
# shows what is still missing.

# %%
alt = "The Transformer: attentions are done; lit are norms, feed-forward and the rest."
figures.lesson_map("09", alt=alt)

# %% [markdown]
# From lesson 03 you have `multi_head_attention`. Here it is in PyTorch (import it from
# `course_lib.nn.functional`, as above). Three words are new:
#
# - a **sublayer** takes one vector per token and gives one vector per token: an attention
#   is one;
# - a **layer** is two or three sublayers, with sums and norms around them;
# - a **stack** is layers, one on another.

# %% [markdown]
# ## Norm: numbers that stay in bounds
#
# Thirty-two untrained layers, each with an attention and a feed-forward network. Each
# sublayer f adds its result to its input, x + f(x), and nothing else happens. Vectors
# start with numbers around 2. **Predict** how large they are at the end: around 4, 60,
# or more?

# %%
from course_lib.lessons import deep_stack

grown = deep_stack.propagate("residual only", 32)
print("after 0, 1 and 8 layers:", [round(grown.rms[depth]) for depth in (0, 1, 8)])
print("after 32 layers: above 10,000:", grown.rms[32] > 10_000)
assert round((grown.rms[32] / grown.rms[0]) ** (1 / 32), 1) == 1.4  # 39,000

# %% [markdown]
# A sublayer's result grows with its input, so that each sum multiplies: by about 1.4 in
# each layer. **Layer normalisation** puts each token's vector back in bounds: subtract
# its mean, divide by its standard deviation, then multiply by a learned `gain` and add
# a learned `bias`:
#
# $$\text{norm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \cdot g + b$$
#
# $\mu$ and $\sigma^2$ are mean and variance of the numbers of **one token**; the tiny
# $\varepsilon$ keeps a token of equal numbers from a division by 0. Three words, two
# numbers each, with gain 1 and bias 0. **Predict** the result:

# %%
three = torch.tensor([[1.0, 3.0], [10.0, 30.0], [-7.0, 7.0]])
mean = three.mean(dim=-1, keepdim=True)
variance = ((three - mean) ** 2).mean(dim=-1, keepdim=True)
print("means", mean.flatten().tolist(), "variances", variance.flatten().tolist())
print(((three - mean) / variance.sqrt()).tolist())

# %% [markdown]
# All three became (−1, 1): of two numbers, only their order is left. Of 512 numbers much
# more is left, namely the pattern; what goes is its mean and its spread.
#
# In code, all lies in three decisions: over which axis, divided by what, and where ε goes.

# %% [markdown]
# ### Exercise: layer_norm
#
# Each token's vector is put into bounds by itself, then comes what was learned.
#
# <details><summary>Hint 1</summary>
#
# The mean of each row needs to keep its axis, so that it can be subtracted from the
# row.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Centre first, and take the mean of the squares of what you have then. ε goes under the
# root.
#
# </details>

# %%
from course_lib.nn.functional import layer_norm  # exercise

# %%
check(layer_norm)

# %% [markdown]
# In tokens of 4 numbers: is yours the same as PyTorch's? And `x.std()` is the tempting way
# to the denominator. **Predict:** how far off is it, with 4 numbers and with 512?

# %%
generator = torch.Generator().manual_seed(0)
vectors = torch.randn(3, 4, generator=generator)  # three words
theirs = nn.LayerNorm(4)(vectors).detach()
yours = layer_norm(vectors, torch.ones(4), torch.zeros(4))
print("same as nn.LayerNorm:", bool((yours - theirs).abs().max() < 1e-5))
for d in (4, 512):
    row = torch.randn(d, generator=generator)
    print(f"d = {d:3}: std() is {row.std() / row.std(correction=0) - 1:+.1%} off")
assert torch.allclose(yours, theirs, atol=1e-5)  # 32-bit floats

# %% [markdown]
# > **Popular error: dividing by d − 1.** `x.std()` of PyTorch is the estimate for a sample
# > (*ddof* = 1, divided by d − 1). A norm estimates nothing: it divides by d. At d = 4 the
# > denominator is 15 % too large, at d = 512 it is 0.1 %, so that small tests find it and
# > large models hide it.
#
# And ε? Take a token whose numbers are around 0.001, with ε = 0.00001, under the root and
# outside. **Predict** the size of the result.

# %%
tiny = vectors * 0.001
centred = tiny - tiny.mean(dim=-1, keepdim=True)
spread = tiny.std(dim=-1, correction=0, keepdim=True)
outside = centred / (spread + 1e-5)
inside = layer_norm(tiny, torch.ones(4), torch.zeros(4))
print("ε outside:", outside.std(dim=-1, correction=0).numpy().round(2))
print("ε inside: ", inside.std(dim=-1, correction=0).numpy().round(2))
assert (inside.std(dim=-1, correction=0) < 0.6).all()
assert (outside.std(dim=-1, correction=0) > 0.97).all()

# %% [markdown]
# Under the root, ε is added to the *variance*: that is about a millionth here, or less,
# and ε is ten times a millionth. So a token that hardly varies is left small, in place of
# being blown up. Parameters trained with ε inside do not fit a norm with ε outside.
#
# The axis is the third decision. In a vision network, *batch normalisation* takes the mean
# of each number over the rows of the batch. What if the rows are tokens?

# %%
changed = vectors.clone()
changed[2] += 5  # the third word, the future
norm_over_rows = nn.LayerNorm(3, elementwise_affine=False)
for name, norm in {
    "over each token": nn.LayerNorm(4),
    "over the rows": lambda x: norm_over_rows(x.T).T,
}.items():
    moved = (norm(changed) - norm(vectors))[0].abs().max().item()
    print(f"{name}: the first word moved by {moved:.1f}")

# %% [markdown]
# Remember model C of lesson 04, which leaked through such a norm: a mean over tokens
# carries the future into the past, whatever the mask.
#
# There is one more difference. **Predict** which of the two does the same in training and
# in use:

# %%
for name, norm in {"batch": nn.BatchNorm1d(4), "layer": nn.LayerNorm(4)}.items():
    training = norm(vectors)
    moved = (norm.eval()(vectors) - training).abs().max().item()
    print(f"{name} norm: training and use differ by {moved:.1f}")

# %% [markdown]
# > **Popular error: "layer norm is batch norm along another axis".** Batch norm keeps
# > running means for use, and needs a batch to train with. A layer norm keeps nothing: it
# > does the same always, with one token or with a million.
#
# One text calls it a *regularisation technique*: something that makes it harder to learn
# examples by heart. That can be measured. Sequences and answers are drawn at random, so
# that there is nothing to understand. **Predict:** does the norm need more steps?

# %%
for kind, dropout in (("residual only", 0.0), ("pre-norm", 0.0), ("pre-norm", 0.3)):
    runs = [norms.steps_to_memorise(kind, dropout=dropout, seed=s) for s in range(3)]
    result = "not in 100 steps" if min(runs) == 100 else f"below 75: {max(runs) < 75}"
    print(f"norms: {kind == 'pre-norm'}, dropout {dropout}, three runs: {result}")
    assert min(runs) == 100 if dropout else 20 < min(runs) <= max(runs) < 75

# %% [markdown]
# > **Popular error: "a norm is there to regularise".** In ten runs (`seed=0` to `9`),
# > learning by heart took 33 to 49 steps without norms and 45 to 56 with them: somewhat
# > longer. With *dropout*, which sets random numbers to 0 during training, 100 steps were
# > never enough. Two small layers do not settle it for all models, but a norm's main use is
# > another: deep stacks can be trained at all, as you will see below.

# %% [markdown]
# ## Feed-forward: each token by itself
#
# Attention moves things between tokens. The other sublayer, the **feed-forward network**,
# never does: it sends each token's vector through a wide layer with a ReLU (negative
# numbers become 0) and back:
#
# $$\text{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# In the paper a vector of 512 becomes 2048 numbers and then 512 again. With one number in
# and out, and two between, by hand:

# %%
w_1, b_1 = torch.tensor([[1.0, -1.0]]), torch.zeros(2)
w_2, b_2 = torch.tensor([[1.0], [1.0]]), torch.zeros(1)
words = torch.tensor([[3.0], [-2.0], [0.5]])  # three words
print("between:", torch.relu(words @ w_1 + b_1).tolist())

# %% [markdown]
# **Predict** what the second layer makes of it. (It is a function that you know from
# school.)

# %% [markdown]
# ### Exercise: feed_forward
#
# Two layers with a ReLU between, for any leading axes.
#
# <details><summary>Hint 1</summary>
#
# `@` works on the last axis of x and leaves the leading axes alone.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The ReLU comes once, after the first bias; the second layer gives any sign.
#
# </details>

# %%
from course_lib.nn.functional import feed_forward  # exercise

# %%
check(feed_forward)

# %% [markdown]
# And the three words:

# %%
print("absolute value:", feed_forward(words, w_1, b_1, w_2, b_2).flatten().tolist())

# %% [markdown]
# A matrix alone cannot make that: it gives −2 the opposite of what it gives 2.
#
# The paper says that this is the same as **two convolutions of kernel size 1**: a filter
# that slides over the sentence and sees one token at a time. True? (`.mT` swaps the last
# two axes.)

# %%
x = torch.randn(2, 5, 16, generator=generator)
wide, narrow = nn.Conv1d(16, 64, 1), nn.Conv1d(64, 16, 1)
with torch.no_grad():
    slid = narrow(wide(x.mT).relu()).mT  # a convolution wants (batch, d_model, n)
    here = [wide.weight[..., 0].T, wide.bias, narrow.weight[..., 0].T, narrow.bias]
    gap = (slid - feed_forward(x, *here)).abs().max().item()
print("same to 0.00001:", gap < 1e-5)
assert gap < 1e-5  # 32-bit floats, sums of 64 terms

# %% [markdown]
# And which rows does one word reach? Change the third word, and see whose result moves.
# (The attention has identity matrices for its projections.)

# %%
other = x.clone()
other[:, 2] += 1
identities = [torch.eye(16)] * 4
with torch.no_grad():
    fed = feed_forward(other, *here) - feed_forward(x, *here)
    attended = multi_head_attention(other, other, *identities, 4)
    attended = attended - multi_head_attention(x, x, *identities, 4)
for name, moved in (("feed-forward", fed), ("attention", attended)):
    print(f"{name:12} moves rows", moved.abs().amax(dim=(0, 2)).nonzero().flatten())

# %% [markdown]
# > **Popular error: "attention computes each item independently".** All items at once, yes;
# > but each result depends on all items. Only the feed-forward network is. It is
# > called *position-wise* for that, which one text turned into "positional encoding
# > network": there is no position in it.

# %% [markdown]
# ## Residual connections: what goes in stays in
#
# Around each sublayer runs a bypass: its input x is added to its result,
# x + sublayer(x).
# It is called a **residual connection**. Why?
#
# Attention takes means. A mean of means of means makes all tokens of a sentence alike, and
# then nobody can tell which word stood where: *rank collapse* (Dong, Cordonnier and Loukas,
# 2021, *Attention Is Not All You Need*, who prove it for attention alone). Here is the share of the vectors that differs
# between the tokens of a sentence, in untrained stacks. **Predict** after how many layers
# without residual connections it falls below a thousandth: 4, 16 or 32?

# %%
through = {kind: deep_stack.propagate(kind, 32) for kind in deep_stack.KINDS}
depths = [1, 2, 4, 8, 16, 32]  # one column for each
for kind in ("norm only", "post-norm", "pre-norm"):
    shares = [f"{through[kind].token_variation[depth]:7.1%}" for depth in depths]
    print(f"{kind:13} {deep_stack.KINDS[kind]:22}", *shares)

# %%
chosen = ("norm only", "post-norm", "pre-norm")
apart = {name: [through[name].token_variation[d] for d in depths] for name in chosen}
labels = {"xlabel": "layers", "ylabel": "share that differs between tokens"}

# %% [markdown]
# The same as a picture:

# %%
alt = "Without residual connections nothing is left after 4 layers; pre-norm keeps "
"half."
figures.curves(depths, apart, **labels, logarithmic=True, alt=alt)

# %% [markdown]
# Without residual connections, **four layers** make all tokens the same, up to rounding
# (the almost flat end is rounding). With them, half of the difference is still there
# after 32, if the norm comes *before* the sublayer; if it comes after the sum, less
# than one percent.
#
# The way back tells the same from another side. The gradient by the input, divided by that
# at the top: a 1 means that it came through.

# %%
ratio = {
    kind: stack.gradient_norms[0] / stack.gradient_norms[32]
    for kind, stack in through.items()
}
for kind in ("neither", *norms.KINDS_TRIED):
    way = "below 1e-9" if ratio[kind] < 1e-9 else "above 10,000"
    way = f"{ratio[kind]:.1g}" if 0.1 < ratio[kind] < 10 else way
    print(f"{kind:13} {deep_stack.KINDS[kind]:22}", way)
assert ratio["neither"] < 1e-9 and ratio["residual only"] > 10_000
assert 0.1 < ratio["post-norm"] < 1 < ratio["pre-norm"] < 10
assert through["norm only"].token_variation[4] < 1e-5
assert through["pre-norm"].token_variation[32] > 0.2

# %% [markdown]
# Sublayers alone: the gradient vanishes (3e−14 here). With residual connections and no
# norms it explodes (5e7). With norms it comes through, in post-norm somewhat smaller at
# the bottom than at the top, in pre-norm the other way round. Notice that norms *alone*
# let it pass, too: they fail because the tokens become alike, not because the gradient
# vanishes.

# %% [markdown]
# ## Norm after, or norm first
#
# So there are two good ways, both in use:
#
# | name | formula | where |
# |---|---|---|
# | post-norm | $\text{norm}(x + \text{sublayer}(x))$ | the paper; BERT |
# | pre-norm | $x + \text{sublayer}(\text{norm}(x))$ | most models since GPT-2 |
#
# In pre-norm nothing lies on the residual connections: the input arrives at the top,
# plus what the sublayers added. The last sum has not been normed, so the stack gets one
# more norm at its end. (PyTorch's model has one there in post-norm, too.)
#
# Which of them learns? Six layers have to say a sequence of eight tokens, each one of 8
# kinds, backwards. What learns nothing has the loss ln 8 = 2.08. **Predict:** which of
# these four stay near it?

# %%
for learning_rate in (0.001, 0.01):
    for kind in ("post-norm", "pre-norm"):
        loss = norms.final_loss(norms.train(kind, learning_rate, steps=100))
        print(learning_rate, kind, "below 1.2" if loss < 1.2 else "near 2.08")
        assert loss < 1.2 if "pre" in kind or learning_rate < 0.01 else 2 < loss < 2.2

# %% [markdown]
# The number is the **learning rate**, the size of a step. At the smaller one both learn.
# At ten times that, post-norm stays where it began, and pre-norm learns.
#
# Next come all learning rates and kinds with 150 steps and three seeds, trained
# beforehand. *Warm-up* means that the learning rate rises from nearly 0 to its value
# during the first half; the paper has one.

# %%
recorded = record.read("norms")
print(f"{'learning rates':25}", *[f"{each:>9}" for each in norms.LEARNING_RATES])
for kind in (*norms.KINDS_TRIED, "post-norm, warm-up"):
    for run in recorded.runs:
        print(f"{kind:18} seed", run["seed"], *[f"{loss:>9}" for loss in run[kind]])
print("by", recorded.command, "with torch", recorded.environment["torch"])

# %%
warmed = "post-norm, warm-up"
kinds = ("norm only", "residual only", "post-norm", warmed, "pre-norm")
middle = {kind: norms.median_losses(recorded.values(kind)) for kind in kinds}

# %% [markdown]
# The median of the three seeds, for the two good ways and for the two that lack a half.
# (100 stands for what is larger still.)

# %%
alt = "Pre-norm learns at all four learning rates, post-norm at two, norm only at none."
axes = {"xlabel": "learning rate", "ylabel": "loss after 150 steps"}
figures.curves(norms.LEARNING_RATES, middle, **axes, logarithmic=True, alt=alt)

# %%
for run in recorded.runs:
    assert max(run["pre-norm"]) < 0.5  # 0.17 was the worst
    assert max(run["post-norm"][:2]) < 0.1 and min(run["post-norm"][2:]) > 2
    assert run[warmed][2] < 0.5 and run[warmed][3] > 2 and min(run["norm only"]) > 1.7
    *smaller, third, largest = run["residual only"]
    assert largest == "above 100" and third > 1.9 and min(smaller) > 0.03
    assert max(run["post-norm"][:2] + run["pre-norm"][:2]) < 0.02

# %% [markdown]
# Notice four things:
#
# - norms without residual connections learn next to nothing, at any learning rate: the
#   tokens are alike;
# - residual connections without norms learn slowly at the two smaller learning rates,
#   nothing at 0.01 (2.09, 1.96 and 2.82), and explode at the largest;
# - post-norm learns at the two smaller learning rates only, with warm-up at one more;
# - pre-norm learns at all four, without warm-up.
#
# At the two smaller learning rates both learn: all their losses are below 0.02. So the
# choice is about how easily a stack trains, not about what it can do.

# %% [markdown]
# ## Embed: tokens become vectors
#
# Each token has a **token id**, a whole number from 0 on. Its vector is that row of the
# **embedding**, a learned table (in PyTorch `nn.Embedding`); the encoding of its position
# is added (lesson 05). The paper multiplies the row by $\sqrt{d_{model}}$ first, and does
# not say why. Measure what happens with and without, for an embedding whose rows have
# length 1, at $d_{model} = 512$. **Predict:** token or position, which is the louder one
# without the factor?

# %%
from course_lib.positions import sinusoidal_encoding

embedding = torch.randn(1000, 512, generator=generator) * 512**-0.5
encoding = torch.tensor(sinusoidal_encoding(64, 512)).float()
for name, factor in (("as it is", 1.0), ("times √512", 512**0.5)):
    size = (embedding * factor).norm(dim=-1).mean()
    print(f"token {name:9}: {size:4.1f}  position: {encoding.norm(dim=-1).mean():.1f}")

# %% [markdown]
# Without the factor the position is sixteen times as loud as the word; with it, the word
# is the louder one. But why not use an embedding of large numbers? Because the same one
# is used a second time: at the top, `y @ embedding.T` gives the **logits**, one score for
# each token of the vocabulary (the paper *ties* the two). There, y comes from a norm, with
# numbers around 1. **Predict** the loss of an untrained model with an embedding of small
# and of large numbers; a model that knows nothing should have ln 1000 = 6.9.

# %%
y = torch.randn(500, 512, generator=generator)
answers = torch.randint(1000, (500,), generator=generator)
for name, factor in (("small", 1.0), ("large", 512**0.5)):
    loss = nn.functional.cross_entropy(y @ (embedding * factor).T, answers)
    print(f"{name} numbers: loss {loss:.0f}")

# %% [markdown]
# So the embedding is small for the logits, and made large for the sum.

# %% [markdown]
# ### Exercise: embed
#
# Rows of the embedding, stretched, plus positions. The encoding has more rows than needed.
#
# <details><summary>Hint 1</summary>
#
# `embedding[token_ids]` takes a row for each token id, whatever the shape of token_ids.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Which of the two is multiplied? The positions are counted along the last axis of
# token_ids.
#
# </details>

# %%
from course_lib.nn.functional import embed  # exercise

# %%
check(embed)

# %% [markdown]
# > **Popular error: "positional encodings are learnt".** The paper's are computed:
# > sines and cosines, no parameter among them (you will count). It also tried learned
# > ones, and got nearly the same result (section 3.5, table 3 E).

# %% [markdown]
# ## Shift: read one behind
#
# The decoder must predict each token of the target before it reads it. So it is given
# the target, moved to the right by one position, behind a **start** token. The targets
# are *die*, *Katze*, *saß*. **Predict** how many of the three stand in the input, and
# which one does not:
#
# | position | reads | must write |
# |---|---|---|
# | 0 | *start* | die |
# | 1 | die | Katze |
# | 2 | Katze | saß |
#
# In lesson 04 you saw what happens if it is forgotten: a loss of 0, no leak found, and
# generation exactly at chance.

# %% [markdown]
# ### Exercise: shift_right
#
# The start, then all targets but the last.
#
# <details><summary>Hint 1</summary>
#
# How long is the result? What has to go so that the start fits in?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.full_like` makes a tensor like another one, with one number everywhere. Give it the
# first column, kept as an axis (`targets[..., :1]`), and put the result in front with
# `torch.cat`, along `dim=-1`.
#
# </details>

# %%
from course_lib.nn.functional import shift_right  # exercise

# %%
check(shift_right)

# %% [markdown]
# With *die*, *Katze*, *saß* as tokens 11, 12 and 13:

# %%
START = 1
print(shift_right(torch.tensor([[11, 12, 13]]), START))

# %% [markdown]
# The last target is not read: nothing comes after it. With a causal mask, position i sees
# the targets 0 … i − 1, and no more.

# %% [markdown]
# ## The encoder's layer
#
# Two sublayers, in this order: attention of the source to itself, then the feed-forward
# network. Each has its residual connection and its norm. As code for post-norm:
#
# ```python
# x = norm_1(x + attention(x))
# x = norm_2(x + feed_forward(x))
# ```
#
# And pre-norm: `x = x + attention(norm_1(x))`, then `x = x + feed_forward(norm_2(x))`. The
# two norms have parameters of their own. They arrive in a dictionary, as PyTorch's
# `state_dict` does.
#
# Before you write it: if all parameters of both sublayers are 0, each of them gives 0.
# **Predict** what then comes out of the layer, in pre-norm and in post-norm.

# %% [markdown]
# ### Exercise: encoder_layer
#
# Use your `layer_norm` and `feed_forward`, and
# `multi_head_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)` as in
# lesson 03.
#
# <details><summary>Hint 1</summary>
#
# Write post-norm first, in two lines; then see what moves for pre-norm.
#
# </details>
# <details><summary>Hint 2</summary>
#
# What is added is x itself, not its norm. In pre-norm the attention gets the normed x
# twice: as the tokens that attend, and as those that are attended to.
#
# </details>

# %%
from course_lib.nn.functional import encoder_layer  # exercise

# %%
check(encoder_layer)

# %% [markdown]
# PyTorch has it as a module. `parameters_of` gives its parameters under our names. (Fresh
# attentions of PyTorch add zeros, so that ours, which adds nothing, does the same.)

# %%
from course_lib.nn.functional import parameters_of

with torch.random.fork_rng():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        16, 4, 32, dropout=0.0, batch_first=True, dtype=torch.float64
    )
x = torch.randn(2, 5, 16, generator=generator, dtype=torch.float64)
source_mask = torch.tensor(masks.padding_mask([5, 3], 5))  # (2, 1, 5)
for norm_first in (False, True):
    layer.norm_first = norm_first
    theirs = layer(x, src_key_padding_mask=~source_mask[:, 0]).detach()
    yours = encoder_layer(x, parameters_of(layer), 4, source_mask, norm_first)
    print("norm first:", norm_first, "same:", torch.allclose(yours, theirs))
    assert torch.allclose(yours, theirs)

# %% [markdown]
# ## A formula in circulation
#
# Here is an encoder, as one text defines it, in our words:


# %%
def mixed_encoder(x, layers):
    for p in layers:
        q, k, v, o = (p[f"w_{name}"] for name in "qkvo")
        normed = layer_norm(x, p["gain_1"], p["bias_1"])
        attended = multi_head_attention(normed, normed, q, k, v, o, 4)
        x = layer_norm(x + attended, p["gain_2"], p["bias_2"])
    mixed = feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])
    return mixed


# %% [markdown]
# **Predict:** apart from the mask, what is wrong? (There are three things.) Set all
# sublayers to zero once more: a good layer passes on its input (post-norm: normed).

# %%
p = parameters_of(layer)
norm_names = [f"{name}_{i}" for i in (1, 2) for name in ("gain", "bias")]
idle = {k: v if k in norm_names else torch.zeros_like(v) for k, v in p.items()}
results = {
    "pre-norm ": encoder_layer(x, idle, 4, norm_first=True),
    "post-norm": encoder_layer(x, idle, 4),
    "mixed    ": mixed_encoder(x, [idle]),
}
for name, result in results.items():
    print(name, "size of the result:", f"{result.std():.2f}", end=", ")
    print("same as x:", torch.equal(result, x))
assert torch.equal(results["pre-norm "], x) and not results["mixed    "].any()

# %% [markdown]
# Nothing arrives. The three things are:
#
# - the feed-forward network has no residual connection: all that the encoder computed must
#   pass through it;
# - it comes only once, after all layers;
# - each layer has a norm before its sublayer and another one after the sum.
#
# What does the second cost?

# %%
six = 6 * one_attention
two_layers = nn.Sequential(nn.Linear(512, 2048), nn.Linear(2048, 512))
one_network = sum(parameter.numel() for parameter in two_layers.parameters())
print(f"6 attentions {six:,}, feed-forward: 6 × {one_network:,}, or only once")
print(f"missing of an encoder's: {5 * one_network / (six + 6 * one_network):.0%}")

# %% [markdown]
# And the two norms? The stacks of 32 layers again; what still differs between the tokens at
# the top:

# %%
for kind in ("pre-norm", "post-norm", "both mixed"):
    share = through[kind].token_variation[32]
    print(f"{kind:10} {deep_stack.KINDS[kind]:28} {share:.1%}")
assert share < 0.02 < through["pre-norm"].token_variation[32]

# %% [markdown]
# > **Popular error: feed-forward only once, after all layers.** In the paper *each*
# > layer has its own: here 56 % of the encoder's parameters went missing.
#
# > **Popular error: pre- and post-norm mixed in one formula,** norm(x +
# > sublayer(norm(x))). It pays for two norms, and gives up what pre-norm is for: the
# > second norm lies on the residual connection, so that, as in post-norm, little of the
# > input arrives at the top.

# %% [markdown]
# ## The decoder's layer
#
# Three sublayers: the target attends to itself, then **to the source**, then comes the
# feed-forward network. In the middle one, the queries come from the target, keys and
# values from the encoder's output, the **memory**. It is **cross-attention** (lesson 02).
# Three attentions in the whole model, three masks. **Predict** each: five positions in the
# source, three of them words; four in the target, *start*, two words and padding.

# %%
english = ["the", "cat", "sat", "pad", "pad"]
german = ["start", "die", "Katze", "pad"]
source_only = masks.padding_mask([3], 5)[0]  # (1, 5)
both = masks.combine_masks(masks.causal_mask(4), masks.padding_mask([3], 4)[0])

# %%
three_masks = {
    "encoder": (source_only.repeat(5, axis=0), english, english),
    "decoder": (both, german, german),
    "decoder to source": (source_only.repeat(4, axis=0), german, english),
}

# %% [markdown]
# Queries down, keys across, hatched is blocked:

# %%
alt = "Padding is blocked in all three; the decoder's own attention has a triangle too."
figures.three_attentions(three_masks, alt=alt)

# %% [markdown]
# The third has no triangle: the source is all there. In the second, the triangle already
# hides the padding from every word, so `transformer`, below, gives only the triangle there.

# %% [markdown]
# ### Exercise: decoder_layer
#
# Three sublayers, three norms. The memory is taken as it is: it has been normed already.
#
# <details><summary>Hint 1</summary>
#
# Start with your `encoder_layer`; what comes between its two sublayers now?
#
# </details>
# <details><summary>Hint 2</summary>
#
# In pre-norm, `y` is normed before it attends to the memory, the memory is not. Which
# mask belongs to which attention?
#
# </details>

# %%
from course_lib.nn.functional import decoder_layer  # exercise

# %%
check(decoder_layer)

# %% [markdown]
# The same text has a decoder's layer, too, without a feed-forward network. In our words:


# %%
def lonely_decoder_layer(y, memory, p, may_attend):
    own = [p[f"w_{name}"] for name in "qkvo"]
    second = [p[f"cross_{name}"] for name in "qkvo"]
    attended = multi_head_attention(y, y, *own, 4, may_attend)
    normed = layer_norm(attended, p["gain_1"], p["bias_1"])
    attended = multi_head_attention(normed, normed, *second, 4)
    return layer_norm(y + attended, p["gain_2"], p["bias_2"])


# %% [markdown]
# **Predict** two numbers: how much does the result move if the source is another sentence?
# And how much does the first word's result move if the *last* word changes?

# %%
with torch.random.fork_rng():
    torch.manual_seed(1)
    decoder = nn.TransformerDecoderLayer(16, 4, 32, 0.0, dtype=torch.float64)
parameters, causal = parameters_of(decoder), torch.tensor(masks.causal_mask(4))
y, memory, another = torch.randn(3, 4, 16, generator=generator, dtype=torch.float64)
longer = torch.cat([y[:3], another[:1]])  # another last word

# %% [markdown]
# Both with the same parameters:

# %%
kinds = {
    "right ": lambda y, memory: decoder_layer(y, memory, parameters, 4, causal),
    "lonely": lambda y, memory: lonely_decoder_layer(y, memory, parameters, causal),
}
for name, f in kinds.items():
    source_moves = (f(y, another) - f(y, memory)).abs().max().item()
    leak = (f(longer, memory) - f(y, memory))[0].abs().max().item()
    print(f"{name} other source: {source_moves:.1f}, the future leaks: {leak:.1f}")
    assert (source_moves > 0.1) == (name == "right ") == (leak < 1e-9)

# %% [markdown]
# > **Popular error: a decoder without the encoder's keys and values.** It writes the same
# > German, whatever the English says. And the formula hides a second error: its outer
# > attention has no mask, so the future leaks, although the inner one is masked. (Its first
# > attention has no residual connection either.)

# %% [markdown]
# ## The whole Transformer
#
# You have all parts. Here they are put together, for token ids in and logits out:


# %%
def transformer(source, target, embedding, encoding, model, n_heads, source_mask=None):
    x = embedded = embed(source, embedding, encoding)
    for layer in model.encoder.layers:
        x = encoder_layer(x, parameters_of(layer), n_heads, source_mask)
    memory = layer_norm(x, model.encoder.norm.weight, model.encoder.norm.bias)
    read = shift_right(target, START)
    y = embed(read, embedding, encoding)
    causal = torch.tensor(masks.causal_mask(target.shape[-1]))
    for layer in model.decoder.layers:
        y = decoder_layer(y, memory, parameters_of(layer), n_heads, causal, source_mask)
    y = layer_norm(y, model.decoder.norm.weight, model.decoder.norm.bias)
    made = {"x": embedded, "decoder input": read, "y": y, "memory": memory}
    return y @ embedding.T, made


# %% [markdown]
# `nn.Transformer` is PyTorch's module: all layers and the two norms at the ends, but no
# embedding, no positions, no shift. Give your function its parameters, and compare, with
# two sentences of which one is padded:

# %%
with torch.random.fork_rng():
    torch.manual_seed(2)
    small = nn.Transformer(16, 4, 2, 2, 32, 0.0, batch_first=True, dtype=torch.float64)
small_embedding = torch.randn(20, 16, generator=generator, dtype=torch.float64) / 4
positions = torch.tensor(sinusoidal_encoding(10, 16))
source = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0]])
target = torch.tensor([[11, 12, 13, 14], [15, 16, 17, 18]])
arguments = (source, target, small_embedding, positions, small, 4, source_mask)
logits, made = transformer(*arguments)
print("logits:", tuple(logits.shape))

# %% [markdown]
# PyTorch's model gets the same vectors, and its own kind of masks (lesson 04: True =
# blocked):

# %%
blocked = {"src_key_padding_mask": ~source_mask[:, 0], "tgt_mask": ~causal}
blocked["memory_key_padding_mask"] = ~source_mask[:, 0]
x = embed(source, small_embedding, positions)
y = embed(made["decoder input"], small_embedding, positions)
theirs = small(x, y, **blocked).detach() @ small_embedding.T
print("same as nn.Transformer:", torch.allclose(logits, theirs))
assert torch.allclose(logits, theirs)

# %% [markdown]
# The same as modules that can be trained are the course's `EncoderLayer`,
# `DecoderLayer` and `Transformer`, in `course_lib/nn/`. Are they the same as your
# functions?

# %%
from course_lib.nn import transformer as modules

first, last = small.encoder.layers[0], small.decoder.layers[0]
encoded = modules.EncoderLayer.from_torch(first)(x, source_mask).detach()
yours = encoder_layer(x, parameters_of(first), 4, source_mask)
print("encoder layer:", torch.allclose(encoded, yours))
module = modules.DecoderLayer.from_torch(last)
decoded = module(y, x, None, source_mask, causal=True).detach()
yours = decoder_layer(y, x, parameters_of(last), 4, causal, source_mask)
print("decoder layer:", torch.allclose(decoded, yours))
assert torch.allclose(decoded, yours)

# %% [markdown]
# Lesson 10 trains these modules, in pre-norm.

# %% [markdown]
# ## Count
#
# Now the question from the start. The paper's base model: six layers each, 512 numbers per
# token, 2048 between. **Predict** first how many attentions there are.

# %% [markdown]
# ### Exercise: count_transformer
#
# All parameters of a stack of encoder layers and a stack of decoder layers, from the
# sizes.
#
# <details><summary>Hint 1</summary>
#
# Count an attention, a feed-forward network and a norm; then how many of each there are in
# an encoder layer, in a decoder layer, and at the ends.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Projections add a vector, as `nn.Linear` does. One embedding serves source, target and
# logits. A norm has two vectors.
#
# </details>

# %%
from course_lib.nn.functional import count_transformer  # exercise

# %%
check(count_transformer)

# %% [markdown]
# And PyTorch's own model, counted by going through it:

# %%
base = nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)
counted = sum(parameter.numel() for parameter in base.parameters())
print(f"yours {count_transformer(6, 512, 2048):,}, PyTorch's {counted:,}")
assert counted == count_transformer(6, 512, 2048) == 44_140_544

# %% [markdown]
# With the paper's vocabulary of about 37,000 tokens, in the course's own module.
# (`device="meta"` makes tensors that have a shape and no numbers: enough to count.)

# %%
config = modules.TransformerConfig(37_000, 512, 8, 6, 2048)
names = dict(modules.Transformer(config, device="meta").named_parameters())
total = sum(parameter.numel() for parameter in names.values())
print(f"{total:,}; of the positions: {[n for n in names if 'position' in n]}")
assert total == count_transformer(6, 512, 2048, 37_000)

# %% [markdown]
# 63 million; the paper's table 3 says 65, and not how they were counted. None belongs to
# positions: they are computed.
#
# What is the rest? Eighteen attentions, six in the encoder and twelve in the decoder, are
# less than half:

# %%
notes = {"attention": one_attention, "feed-forward": one_network, "norm": 2 * 512}
part_of_all = {}
times = {"attention": 6 + 12, "feed-forward": 6 + 6, "norm": 12 + 18 + 2}
for name, number in notes.items():
    part_of_all[name] = f"{times[name] * number / 44_140_544:.2%}"
    print(f"{times[name]:2} × {name:12} {number:9,} = {part_of_all[name]}")
assert sum(times[name] * notes[name] for name in notes) == 44_140_544

# %% [markdown]
# And which layer reads from which? Once more what you put together, in the paper's size:

# %%
big_embedding = torch.randn(37_000, 512, generator=generator) * 512**-0.5
logits, made = transformer(source, target, big_embedding, encoding, base, 8)
made |= {"source": source, "target": target, "logits": logits}
drawn = {name: str(tuple(part.shape)) for name, part in made.items()}
drawn |= {name: f"{number:,}" for name, number in notes.items()}
drawn["embedding"] = f"{big_embedding.numel():,}"
totals = [f"{times[name]} × {name}: {part_of_all[name]}" for name in notes]
totals += ["embedding: shared with embed,", "not in the 44,140,544"]

# %% [markdown]
# From bottom to top: shapes, and the number of parameters of each box. Orange are the
# residual connections, blue is the memory. **Point at a box** for what goes in and comes
# out; at *embed*, to see what shares its numbers:

# %%
alt = "Memory goes from the encoder's top to cross-attention in every decoder layer."
figures.architecture(drawn, 6, totals, alt=alt)

# %% [markdown]
# One encoder layer has 1 attention and 1 feed-forward network, one decoder layer has 2 and
# 1. All six decoder layers read the **same** memory, from the encoder's top. More than
# half of the parameters work on each token alone: 57 % are feed-forward. And the norms,
# without which deep stacks hardly train, are less than one in a thousand.
#
# Each layer six times and the two last norms make 44,140,544. The paper's figure 1 has no
# norms at the ends, and its formula no added vectors in the projections; PyTorch's model
# has both, and so has our count.

# %% [markdown]
# ## In three lines
#
# - A layer is sublayers with residual connections and norms: norm(x + sublayer(x)), or
#   x + sublayer(norm(x)), never both at once.
# - The decoder reads its own words so far, one position behind, and the encoder's memory;
#   each of the three attentions has its mask.
# - Residual connections keep tokens apart, norms keep numbers in bounds, and both together
#   let deep stacks learn.
#
# **What you can read now:** *Attention Is All You Need*, sections 3 to 3.5 and figure 1; Ba
# and others (2016), *Layer Normalization*; Xiong and others (2020), *On Layer Normalization
# in the Transformer Architecture*.
#
# **An open question:** does it translate? Lesson 11.
