# %% [markdown]
# # The Transformer
#
# **How do the parts make an encoder and a decoder?**
#
# After this lesson you can
#
# - build the encoder and the decoder of *Attention Is All You Need* out of your own parts;
# - say what norms and residual connections are there for, and show it with numbers;
# - give each of the three attentions the mask that it needs;
# - train a Transformer of your own parts;
# - in *Going further*: compare it with PyTorch's, count its parameters to the last one, and
#   choose where norms go.
#
# **About 75 minutes, and 80 more in *Going further*.** You need lessons 01 to 05 and
# 07.

# %%
from autograder import check

import math
from functools import partial

import torch
from torch import Tensor, nn

from course_lib import figures, masks
from course_lib.nn.functional import multi_head_attention

# %% [markdown]
# ## A question to carry through the lesson
#
# A Transformer is a stack of layers, each of which gets the vectors of all words from the one
# below. Here vectors climb 32 layers that have not been trained yet. **Choose what to build
# around each part of a layer.** Can you get the words to the top without their numbers
# exploding, and still different from each other?

# %%
alt = "Size and difference of the vectors in 32 untrained layers, for four choices."
from course_lib.lessons import deep_stack

figures.curves_to_choose(**deep_stack.with_and_without(32), alt=alt)

# %% [markdown]
# Here the words arrive only with both residual connections and norms (which here stand in
# front of each part). This lesson explains both. Attention, its heads, its masks
# and the positions you have written already: **what else does a Transformer need, and which
# layer reads from which?** Here is the whole architecture of *Attention Is All You Need*, from
# bottom to top, as a map to come back to. **Point at a box** to see what it does and where it
# comes in the course.

# %%
# Where the map's boxes lead:
sections = {"norm": "Layer normalisation", "feed-forward": "Feed-forward"}
sections |= {"embedding": "Embed", "logits": "Embed", "shift right": "Shift"}

# %%
alt = "The Transformer: attentions are done; norms, feed-forward and the rest are next."
figures.lesson_map("09", sections=sections, alt=alt)

# %% [markdown]
# The orange boxes are this lesson's: feed-forward and norm, the building blocks of the
# layers, and then the way in and the way out. From lesson 03 you have `multi_head_attention`;
# the one imported above is written with PyTorch tensors and returns **only the output**.
#
# Three words are new:
#
# - a **sublayer** takes one vector per token and returns one vector per token, as an
#   attention does;
# - a **layer** is two or three sublayers, usually with sums and norms around them;
# - a **stack** is several layers, one on top of another.

# %% [markdown]
# ## Feed-forward: each token by itself
#
# Attention moves information between tokens. The other sublayer, the **feed-forward
# network**, never does: two linear maps make each token's vector longer and then shorter
# again, with a ReLU in between (negative numbers become 0):
#
# $$\text{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# In the paper, a vector of 512 numbers becomes 2048 numbers and then 512 again. By hand,
# with one number in, two in between and one out:

# %%
w_1, b_1 = torch.tensor([[1.0, -1.0]]), torch.zeros(2)
w_2, b_2 = torch.tensor([[1.0], [1.0]]), torch.zeros(1)
words = torch.tensor([[3.0], [-2.0], [0.5]])  # three words
print("between:", torch.relu(words @ w_1 + b_1).tolist())

# %% [markdown]
# ### Exercise: feed_forward
#
# Apply two linear maps with a ReLU in between, for any leading axes.
#
# <details><summary>Hint 1</summary>
#
# `@` works on the last axis of x and leaves the leading axes alone.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The ReLU comes once, after the first bias; the second map's result may be negative.
#
# </details>

# %%
from course_lib.nn.functional import feed_forward  # exercise

# %%
check(feed_forward)

# %% [markdown]
# Back to the three words 3, −2 and 0.5.
#
# **Predict:** what does the whole network turn them into?
#
# - [ ] 3, −2 and 0.5
# - [ ] 3, 0 and 0.5
# - [x] 3, 2 and 0.5

# %%
print("at the end:", feed_forward(words, w_1, b_1, w_2, b_2).flatten().tolist())

# %% [markdown]
# That is the absolute value. No matrix can compute it: a matrix always maps −2 to the opposite
# of what it maps 2 to.
#
# The three words did not meet: each result depends on its own word alone, and so the paper
# calls this network *position-wise*. Attention also computes all tokens at once, but there
# each result depends on all of them. So one sublayer brings information to a token, and the
# other computes with what has arrived.

# %% [markdown]
# ## A first layer that runs
#
# Here is a layer of two sublayers, without norms for now. Each sublayer gets a bypass: its input
# is added to its result, x + sublayer(x). This is a **residual connection**, the arrow at the
# side of the map, and the reason why every sublayer returns vectors as long as x. (`p` holds a
# layer's parameters by name; 4 is the number of heads.)

# %%
from course_lib.lessons import own_transformer


def first_layer(x, p):
    x = x + multi_head_attention(x, x, p["w_q"], p["w_k"], p["w_v"], p["w_o"], 4)
    return x + feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])


# %% [markdown]
# Put layers on top of each other, each with untrained parameters of its own, and measure the
# vectors on their way up:
#
# - their **size**, the root of the mean square of all numbers;
# - the **share** of them that differs between the tokens: subtract the tokens' mean, and divide
#   the length of what is left by the length before. It is 0 if all tokens are the same; five
#   tokens with nothing in common have about 90 %.
#
# (`make_parameters` draws a small Transformer's parameters; `["encoder"]` holds those of its
# single encoder layer.)


# %%
@torch.no_grad()
def climb(layer, depths):
    """Print the size of the vectors, and the share that differs between tokens."""
    x = torch.randn(5, 32, generator=torch.Generator().manual_seed(0))
    for depth in range(max(depths) + 1):
        if depth > 0:
            x = layer(x, own_transformer.make_parameters(seed=depth)["encoder"])
        if depth in depths:
            size, share = x.square().mean().sqrt(), (x - x.mean(0)).norm() / x.norm()
            print(f"after {depth:2} layers: size {size:.2f}, {share:.1%} differs")
    return size.item(), share.item()


# %% [markdown]
# Why the bypass? Attention takes means, and means of means make the tokens more and more
# similar: in the first picture, without residual connections, a few layers are enough to make
# them all the same. With residual connections, each token's own vector stays in the sum all
# the way up. But so does all that the sublayers add, and what attention adds differs
# less and less from token to token on the way up. And the larger a sublayer's input, the more it adds.
#
# **Predict:** with residual connections, and without norms, what share of the vectors still
# differs between tokens after 32 layers?
#
# - [ ] About 90 %, as at the start
# - [ ] About half
# - [x] Next to nothing

# %%
print("with residual connections")
top = climb(first_layer, [0, 1, 2, 4, 8, 32])
assert top[0] > 1e5 and top[1] < 1e-3

# %% [markdown]
# The difference survives the first layers, but then what attention adds drowns it. And the
# numbers explode: each layer multiplies them, by about 1.7 on average here. With such numbers
# a softmax puts all its weight on one token and passes back almost no gradient (lesson 01).
# What keeps the vectors at their size?

# %% [markdown]
# ## Layer normalisation
#
# **Layer normalisation** brings each token's vector back to size 1: subtract its mean and
# divide by its standard deviation. Then multiply by a learned `gain` and add a learned `bias`:
#
# $$\text{norm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \cdot g + b$$
#
# $\mu$ and $\sigma^2$ are the mean and the variance within **one token**. The tiny
# $\varepsilon$ prevents a division by 0 for a token of equal numbers.
#
# The variance divides by d, the length of the vector (PyTorch's `x.var()` divides by d − 1
# unless you tell it not to), and ε is added under the root.

# %% [markdown]
# ### Exercise: layer_norm
#
# Normalise each token's vector by itself, then apply gain and bias.
#
# <details><summary>Hint 1</summary>
#
# The mean of each row must keep its axis, so that you can subtract it from the row.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Centre first, and then take the mean of the squares of the result. The mean of the squares
# minus the square of the mean is inaccurate where numbers are large and close together.
#
# </details>

# %%
from course_lib.nn.functional import layer_norm  # exercise

# %%
check(layer_norm)

# %% [markdown]
# Take three tokens with two numbers each: (1, 3), (10, 30) and (−7, 7).
#
# **Predict:** what does the norm turn them into, with gain 1 and bias 0?
#
# - [x] (−1, 1), (−1, 1) and (−1, 1)
# - [ ] (−1, 1), (−10, 10) and (−7, 7)
# - [ ] (0, 1), (0, 1) and (0, 1)

# %%
three = torch.tensor([[1.0, 3.0], [10.0, 30.0], [-7.0, 7.0]])
print(layer_norm(three, torch.ones(2), torch.zeros(2)))

# %% [markdown]
# Of two numbers, only the order is left; of 512, everything is left except the mean and
# the spread.

# %% [markdown]
# ## The encoder's layer
#
# Where does the norm go? It can come after the sum, or before the sublayer:
#
# | name | each sublayer | where |
# |---|---|---|
# | **post-norm** | norm(x + sublayer(x)) | the paper |
# | **pre-norm** | x + sublayer(norm(x)) | GPT-2, and many models since |
#
# In pre-norm, nothing on the residual connections changes the vectors, so what arrives
# at the top is the input plus everything the sublayers added. No norm has touched that
# sum, so the stack ends with one more norm.
#
# The encoder's layer has two sublayers: attention of the source to itself, then the
# feed-forward network. All parameters arrive in one dictionary, as in PyTorch's `state_dict`:
# `parameters["gain_1"]` and `parameters["bias_1"]` are those of the first norm.

# %% [markdown]
# ### Exercise: encoder_layer
#
# Use your `layer_norm` and `feed_forward`, and
# `multi_head_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)`. Here its
# `memory` is the same as its `x`. It returns one tensor, without the weights.
#
# <details><summary>Hint 1</summary>
#
# Write post-norm first, in two lines; then see what moves for pre-norm.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Add x itself, not its norm. In pre-norm, the attention gets the normalised x twice: as
# the tokens that attend, and as those attended to.
#
# </details>

# %%
from course_lib.nn.functional import encoder_layer  # exercise

# %%
check(encoder_layer)

# %% [markdown]
# Climb the 32 layers once more, now with norms.
#
# **Predict:** in which of the two do the vectors come out larger than they went in?
#
# - [ ] Post-norm
# - [x] Pre-norm
# - [ ] Both
# - [ ] Neither

# %%
sizes = {}
for name, first in (("post-norm", False), ("pre-norm", True)):
    print(name)
    layer_with_norms = partial(encoder_layer, n_heads=4, norm_first=first)
    sizes[name] = climb(layer_with_norms, [1, 6, 32])[0]
assert 0.9 < sizes["post-norm"] < 1.1 < 2 < sizes["pre-norm"] < 20

# %% [markdown]
# Post-norm ends each layer with a norm, so the size is 1 wherever you look. In pre-norm
# each sublayer adds something of about the same size, whatever came before: the numbers
# grow, but slowly, and tokens stay apart for longer.
#
# So both parts are not enough: in post-norm, this untrained stack loses its words. The paper has
# six layers, not 32, and deep stacks are mostly built with pre-norm today. (What the two mean
# for learning is in *Going further*.)

# %% [markdown]
# ## Shift: read one behind
#
# The decoder must predict each target token without having read it. So it reads the
# target shifted to the right by one position, after a **start** token. Here the targets
# are *die*, *Katze*, *saß* (the cat sat):
#
# | position | reads | must write |
# |---|---|---|
# | 0 | *start* | die |
# | 1 | die | Katze |
# | 2 | Katze | saß |
#
# With a causal mask, one sentence becomes as many training examples as it has tokens. If the
# shift is forgotten, the loss falls to 0, but the model has only learned to copy what it reads
# (lesson 04).
#
# (The last target of a real sentence is usually an **end** token; once the decoder writes it,
# writing stops. You can write `shift_right` in *Going further*.)

# %% [markdown]
# ## The decoder's layer
#
# The encoder reads one sentence; the decoder has to read two, its own and the source. So its
# layer has three sublayers: the target attends to itself, then **to the source**, and then
# comes the feed-forward network. In the middle one, queries come from the target, and
# keys and values from the encoder's output, the **memory**. This is **cross-attention**
# (lesson 02).
#
# So the model has three kinds of attention, each with its mask. Take a source of three
# words and two padding tokens, and a target of *start*, two words and one padding token.
#
# **Predict:** in which attentions must the mask block the future?
#
# - [x] In the decoder's own only
# - [ ] In both of the decoder's
# - [ ] In all three

# %%
english = ["the", "cat", "sat", "pad", "pad"]
german = ["start", "die", "Katze", "pad"]
source_only = masks.padding_mask([3], 5)[0]  # (1, 5)
target_only = masks.padding_mask([3], 4)[0]
three_masks = {
    "encoder": (source_only.repeat(5, axis=0), english, english),
    "decoder": (masks.combine_masks(masks.causal_mask(4), target_only), german, german),
    "decoder to source": (source_only.repeat(4, axis=0), german, english),
}

# %%
alt = "Padding is blocked in all three; the decoder's own attention has a triangle too."
figures.three_attentions(three_masks, alt=alt)

# %% [markdown]
# Queries run down, keys across, and blocked keys are hatched. Cross-attention has no triangle,
# because the whole source is there from the start. In the decoder's self-attention, the
# triangle already hides the padding from every word.

# %% [markdown]
# ### Exercise: decoder_layer
#
# Three sublayers, three norms; the parameters of cross-attention are `cross_q`, `cross_k`,
# `cross_v` and `cross_o`. The memory gets no norm here: it has passed the norm at the encoder's
# end.
#
# <details><summary>Hint 1</summary>
#
# Start with your `encoder_layer`; what comes between its two sublayers now?
#
# </details>
# <details><summary>Hint 2</summary>
#
# In pre-norm, `y` is normalised before it attends to the memory; the memory is not. Which mask
# belongs to which attention?
#
# </details>

# %%
from course_lib.nn.functional import decoder_layer  # exercise

# %%
check(decoder_layer)

# %% [markdown]
# ## Embed: tokens become vectors
#
# Layers take vectors and return vectors, so two things are missing: a way in, and a way out.
# Each token has a **token id**, an integer from 0 up. Its vector is the row with that number in
# the **embedding**, a learned table (in PyTorch, `nn.Embedding`), plus the encoding of its
# position (lesson 05). The paper first multiplies the row by $\sqrt{d_{model}}$; *Going
# further* shows why, and there you write `embed` yourself.

# %%
from course_lib.nn import functional
from course_lib.positions import sinusoidal_encoding

generator = torch.Generator().manual_seed(0)
embedding = torch.randn(1000, 512, generator=generator) * 512**-0.5  # length about 1
encoding = torch.tensor(sinusoidal_encoding(64, 512)).float()
token_ids = torch.tensor([[1, 11, 12]])  # start, die, Katze
y = functional.embed(token_ids, embedding, encoding)
print("in: ", tuple(y.shape))
# A stack returns what has the shape of its input, so y may stand in for it here:
print("out:", tuple((y @ embedding.T).shape))

# %% [markdown]
# On the way out, the paper uses the same embedding once more: `y @ embedding.T` is the dot
# product of each position's vector with every row of the table, one score for each token in
# the vocabulary. These are the **logits**. So a Transformer ends as lesson 01 began: a vector
# is compared with a table of vectors.

# %% [markdown]
# ## The whole Transformer
#
# Put all parts together: token ids go in, logits come out. The next cell looks for your
# functions in this notebook, and uses the course's version of each one that you haven't
# written yet (`embed` and `shift_right` are the course's in any case):

# %%
from course_lib.lessons.own_parts import complete

parts = ["layer_norm", "feed_forward", "encoder_layer", "decoder_layer"]
complete(globals(), functional, *parts)

# %% [markdown]
# This Transformer has one layer on each side and 32 numbers per token, and it will read words
# of six letters from a to j. Its parameters `p` are in three dictionaries: one for the encoder's
# layer, one for the decoder's, and `ends` for the embedding and the norm at the end of each
# stack. The layers are post-norm, as in the paper; each stack still ends with a norm, as in
# PyTorch (it changes little here, since the layer's own norm comes right before).

# %%
START = 1
six_positions = torch.tensor(sinusoidal_encoding(6, 32)).float()
causal_6 = torch.tensor(masks.causal_mask(6))


def logits_of(source, target, p):
    ends = p["ends"]
    x = functional.embed(source, ends["embedding"], six_positions)
    x = encoder_layer(x, p["encoder"], 4)
    memory = layer_norm(x, ends["gain_encoder"], ends["bias_encoder"])
    read = functional.shift_right(target, START)
    y = functional.embed(read, ends["embedding"], six_positions)
    y = decoder_layer(y, memory, p["decoder"], 4, causal_6)
    y = layer_norm(y, ends["gain_decoder"], ends["bias_decoder"])
    return y @ ends["embedding"].T


# %% [markdown]
# The task is to write a word backwards. The model trains for 300 steps on random words, and
# autograd goes through all of your functions. Then it writes 500 new words, letter by letter.
# When it writes the first letter, the decoder has read only *start*.
#
# **Predict:** how often is that first letter right?
#
# - [ ] In about one word of ten, as by chance
# - [x] About as often as the letters that follow
# - [ ] Never, because it comes before all letters

# %% tags=["nbval-ignore-output"]
own = own_transformer.make_parameters()
losses = own_transformer.learn_to_reverse(logits_of, own, 300)  # some seconds
right = own_transformer.share_reversed(logits_of, own)
print(f"loss: first {losses[0]:.2f}, last {losses[-1]:.3f}; words right: {right:.0%}")
print(own_transformer.write(logits_of, own, ["decade", "facade", "hedged"]))
assert right > 0.9  # 1.00 when the course was made

# %% [markdown]
# Nearly all words are right, from the first letter on: cross-attention has the whole source to
# read. The model learns, with 21,504 parameters and functions that you know line by line. The
# paper's model has six layers on each side, all alike, but each with parameters of its own.
# (In *Going further*, your functions form such a stack, and give the same numbers as
# PyTorch's `nn.Transformer`.)
#
# And what went wrong in the first picture of this lesson? Without residual connections,
# attention's means make all tokens the same; with them, each token's own vector is carried
# upwards. The norms (there, in front of each sublayer) keep each addition small enough not to
# drown it.

# %% [markdown]
# ## In three lines
#
# - A layer is made of sublayers, each with a residual connection and a norm:
#   norm(x + sublayer(x)), or x + sublayer(norm(x)).
# - The decoder reads its own words so far, one position behind, and the encoder's memory;
#   each of the three attentions has its mask.
# - Residual connections keep tokens apart for longer, norms keep numbers within bounds. In our
#   untrained stacks, words get through 32 layers only with both, the norm in front.
#
# **What you can read now:** *Attention Is All You Need*, sections 3 to 3.5 and figure 1; Ba
# and others (2016), *Layer Normalization*; Xiong and others (2020), *On Layer Normalization
# in the Transformer Architecture*.
#
# **An open question:** does it translate? Lesson 11.
# %% [markdown]
# ## Going further
#
# Eight sections follow, and no later lesson needs them. The first four complete the core: you
# write `shift_right` and `embed`, take parts away from the model, and compare it with
# PyTorch's. *Count* is for those who want to know where the parameters of such a model are;
# *Residual connections* and *Norm after, or norm first* for those who will design or debug deep stacks; *Norms in
# detail* for those who write one.

# %% [markdown]
# ## The way in: one position later
#
# With *die*, *Katze*, *saß* as tokens 11, 12 and 13, and the start as token 1, the decoder
# reads 1, 11, 12.

# %% [markdown]
# ### Exercise: shift_right
#
# Return the start, then all targets but the last.
#
# <details><summary>Hint 1</summary>
#
# How long is the result? What has to go, so that the start fits in?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.full_like` makes a tensor like another one, with the same number everywhere;
# `torch.cat` joins two, with `dim=-1` along the axis of the positions. Which part of `targets`
# has the shape of the start?
#
# </details>

# %%
from course_lib.nn.functional import shift_right  # exercise

# %%
check(shift_right)

# %% [markdown]
# To let the Transformer of the core use it, put `shift_right` for `functional.shift_right` in
# `logits_of`, and train once more.

# %% [markdown]
# ## The way in: a row of a table
#
# Why does the paper multiply the row by $\sqrt{d_{model}}$? It doesn't say. Take the
# embedding of the core, whose rows have length 1, at $d_{model} = 512$. Each number of a
# position's encoding is a sine or a cosine (lesson 05).
#
# **Predict:** without the factor, which of the two vectors is longer?
#
# - [x] The position's, 16 times
# - [ ] They are about equally long
# - [ ] The token's, 16 times

# %%
for name, factor in (("as it is", 1.0), ("times √512", 512**0.5)):
    size = (embedding * factor).norm(dim=-1).mean()
    print(f"token {name:10}: {size:4.1f}  position: {encoding.norm(dim=-1).mean():.1f}")

# %% [markdown]
# With the factor, the token's vector is the longer one. And why not make the rows longer
# from the start? Because the same table gives the logits, and for that, rows of length 1 are
# right: longer ones would make an untrained model sure of its guesses (lesson 10).

# %% [markdown]
# ### Exercise: embed
#
# Take rows of the embedding times √d_model, and add the encoding of the positions, which
# has more rows than needed.
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
# Your `embed` can take the place of `functional.embed` in `logits_of`, too.

# %% [markdown]
# ## Without the mask, without positions
#
# What is each part good for? Take it away from the Transformer of the core, and see what
# fails. Train new parameters without the causal mask, and others without positions.
#
# **Predict:** what does the model without the causal mask do after 300 steps?
#
# - [ ] Its loss is low, and it writes nearly all words without an error.
# - [ ] Its loss stays high, and it writes next to no word without an error.
# - [x] Its loss is low, but it writes next to no word without an error.


# %% tags=["nbval-ignore-output"]
def train_and_write(name):
    new = own_transformer.make_parameters()
    last = own_transformer.learn_to_reverse(logits_of, new, 300)[-1]  # some seconds
    right = own_transformer.share_reversed(logits_of, new)
    print(f"without {name}: last loss {last:.3f}; right: {right:.0%}")
    return last, right


both = causal_6, six_positions
causal_6 = torch.ones(6, 6, dtype=torch.bool)
no_mask = train_and_write("the mask")
causal_6, six_positions = both[0], torch.zeros(6, 32)
no_positions = train_and_write("positions")
causal_6, six_positions = both
assert no_mask[0] < 0.1 and no_mask[1] < 0.1  # 0.003 and 0.00 in the trial
assert no_positions[0] > 0.5 and no_positions[1] < 0.1  # 1.08 and 0.00

# %% [markdown]
# Without the mask, each position but the last reads its own target at the next one, where
# the shift put it: the loss is low, but while writing there is nothing there to copy. Without positions,
# the model knows which letters there are, but not their order.

# %% [markdown]
# ## Number for number
#
# Learning is one thing; being right is another. Here your functions form stacks of any height.
# The layers of a stack have the same form, but each has parameters of its own;
# `parameters_of` returns those of PyTorch's layers under our names. Each stack ends with a
# norm, as PyTorch's do, even in post-norm.

# %%
from course_lib.nn.functional import parameters_of


def transformer(source, target, embedding, encoding, model, n_heads, source_mask=None):
    x = functional.embed(source, embedding, encoding)
    for layer in model.encoder.layers:
        x = encoder_layer(x, parameters_of(layer), n_heads, source_mask)
    memory = layer_norm(x, model.encoder.norm.weight, model.encoder.norm.bias)
    y = functional.embed(functional.shift_right(target, START), embedding, encoding)
    causal = torch.tensor(masks.causal_mask(target.shape[-1]))
    for layer in model.decoder.layers:
        y = decoder_layer(y, memory, parameters_of(layer), n_heads, causal, source_mask)
    y = layer_norm(y, model.decoder.norm.weight, model.decoder.norm.bias)
    return y @ embedding.T


# %% [markdown]
# PyTorch's module `nn.Transformer` holds all layers, but no embedding, no positions and
# no shift. Give your function its parameters, and compare them on two sentences, one of
# them padded. (The 0.0 switches off the paper's dropout, which comes in lesson 10.)

# %%
with torch.random.fork_rng():
    torch.manual_seed(2)
    small = nn.Transformer(16, 4, 2, 2, 32, 0.0, batch_first=True, dtype=torch.float64)
small_embedding = torch.randn(20, 16, generator=generator, dtype=torch.float64) / 4
positions = torch.tensor(sinusoidal_encoding(10, 16))
source = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0]])
target = torch.tensor([[11, 12, 13, 14], [15, 16, 17, 18]])
source_mask = torch.tensor(masks.padding_mask([5, 3], 5))  # (2, 1, 5)
arguments = (source, target, small_embedding, positions, small, 4, source_mask)
logits = transformer(*arguments)
print("logits:", tuple(logits.shape))

# %% [markdown]
# PyTorch's model gets the same vectors, and its own kind of masks (lesson 04: True = blocked):
# padding of the source, for both stacks that read it (`src` and `memory`), and the future of
# the target (`tgt`):

# %%
causal = torch.tensor(masks.causal_mask(4))
blocked = {"src_key_padding_mask": ~source_mask[:, 0], "tgt_mask": ~causal}
blocked["memory_key_padding_mask"] = ~source_mask[:, 0]
x = functional.embed(source, small_embedding, positions)
y = functional.embed(functional.shift_right(target, START), small_embedding, positions)
theirs = small(x, y, **blocked).detach() @ small_embedding.T
print("same as nn.Transformer:", torch.allclose(logits, theirs))
assert torch.allclose(logits, theirs)

# %% [markdown]
# Number for number the same, out of functions of a few lines each. The Transformer of 2017 was
# trained on pairs of sentences; most models today are **pre-trained** first, on plain text, of
# which there is much more. BERT is only an encoder, pre-trained to guess masked words; GPT is a
# decoder without cross-attention, pre-trained to guess the next word.

# %% [markdown]
# ## Count
#
# The base model of the paper, as PyTorch builds it and without its embedding, has 44,140,544
# parameters. It has six encoder layers and six decoder layers, 512 numbers per token, and 2048
# inside the feed-forward networks. (Six is a choice: the paper tries 2, 4 and 8 as well, in
# table 3, rows C.)
#
# **Predict:** how many attentions does it have?
#
# - [ ] 12
# - [x] 18
# - [ ] 24

# %%
base = nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)
attentions = [m for m in base.modules() if isinstance(m, nn.MultiheadAttention)]
print("attentions:", len(attentions))
assert len(attentions) == 18

# %% [markdown]
# ### Exercise: count_transformer
#
# From the sizes, count all parameters of a stack of encoder layers and a stack of decoder
# layers.
#
# <details><summary>Hint 1</summary>
#
# Count an attention, a feed-forward network and a norm; then how many of each there are in
# an encoder layer, in a decoder layer, and at the ends.
#
# </details>
# <details><summary>Hint 2</summary>
#
# At the paper's size there are 18 attentions and 12 networks. How many norms?
#
# </details>

# %%
from course_lib.nn.functional import count_transformer  # exercise

# %%
check(count_transformer)

# %% [markdown]
# And PyTorch's own model?

# %%
counted = sum(parameter.numel() for parameter in base.parameters())
print(f"yours {count_transformer(6, 512, 2048):,}, PyTorch's {counted:,}")
assert counted == count_transformer(6, 512, 2048) == 44_140_544

# %% [markdown]
# With the paper's vocabulary of about 37,000 tokens, in the course's own module
# (`device="meta"`: shapes without numbers):

# %%
from course_lib.nn import transformer as modules

config = modules.TransformerConfig(37_000, 512, 8, 6, 2048)
names = dict(modules.Transformer(config, device="meta").named_parameters())
total = sum(parameter.numel() for parameter in names.values())
print(f"{total:,}; of the positions: {[n for n in names if 'position' in n]}")
assert total == count_transformer(6, 512, 2048, 37_000)

# %% [markdown]
# That is 63 million. The paper's table 3 says 65, but not how they were counted. The
# positions have no parameters, because they are computed (lesson 05).
#
# What is the rest? The eighteen attentions make up less than half:

# %%
one_attention = 4 * (512 * 512 + 512)  # four projections and their biases
one_network = 512 * 2048 + 2048 + 2048 * 512 + 512
notes = {"attention": one_attention, "feed-forward": one_network, "norm": 2 * 512}
part_of_all = {}
times = {"attention": 6 + 12, "feed-forward": 6 + 6, "norm": 12 + 18 + 2}
for name, number in notes.items():
    part_of_all[name] = f"{times[name] * number / 44_140_544:.2%}"
    print(f"{times[name]:2} × {name:12} {number:9,} = {part_of_all[name]}")
assert sum(times[name] * notes[name] for name in notes) == 44_140_544

# %% [markdown]
# And which layer reads from which? Here is what you built, in the paper's size:

# %%
big_embedding = torch.randn(37_000, 512, generator=generator) * 512**-0.5
source, target = torch.randint(2, 37_000, (2, 2, 6), generator=generator)
read = functional.shift_right(target, START)
x, y = (functional.embed(ids, big_embedding, encoding) for ids in (source, read))
logits = y @ big_embedding.T  # a stack's result is as long as what it reads
between = {"source": source, "target": target, "decoder input": read, "logits": logits}
between |= {"x": x, "memory": x, "y": y}
drawn = {name: str(tuple(part.shape)) for name, part in between.items()}
drawn |= {name: f"{number:,}" for name, number in notes.items()}
drawn["embedding"] = f"{big_embedding.numel():,}"
totals = [f"{times[name]} × {name}: {part_of_all[name]}" for name in notes]
totals += ["embedding: shared with embed,", "not in the 44,140,544"]

# %% [markdown]
# Each box shows its shapes or its number of parameters. Residual connections are orange
# and the memory is blue. **Point at a box** for what goes in and comes out, or at *embed*
# to see what shares its numbers:

# %%
alt = "Memory goes from the encoder's top to cross-attention in every decoder layer."
figures.architecture(drawn, 6, totals, alt=alt)

# %% [markdown]
# An encoder layer has 1 attention and 1 feed-forward network, and a decoder layer has 2
# and 1. All six decoder layers read the **same** memory, from the encoder's top. 57 % of
# the parameters are in the feed-forward networks (40 % if the embedding is counted too).
# And the norms make up less than one in a thousand.
#
# Six of each layer and the two last norms make 44,140,544. The paper's figure 1 has no
# norms at the ends, and its formula no biases in the projections; PyTorch's model and
# our count have both.

# %% [markdown]
# ## Residual connections
#
# Why do the tokens become the same without them? Dong, Cordonnier and Loukas (2021)
# call it *rank collapse*, and prove it for attention alone. In our stacks, norms alone
# do not prevent it. Here are untrained stacks of six kinds (code:
# `course_lib/lessons/deep_stack.py`; other sizes and parameters, so other numbers than
# above), and the **share** of the vectors that differs between the tokens of a
# sentence: ‖x − m‖ / ‖x‖, where m is the tokens' mean.

# %%
through = {kind: deep_stack.propagate(kind, 32) for kind in deep_stack.KINDS}
depths = [1, 2, 3, 4, 8, 16, 32]
chosen = ("norm only", "residual only", "post-norm", "pre-norm")
apart = {name: [through[name].token_variation[d] for d in depths] for name in chosen}
print(f"{'layers':36}", *[f"{depth:7}" for depth in depths])
for kind, shares in apart.items():
    print(f"{kind:13} {deep_stack.KINDS[kind]:22}", *[f"{s:7.2%}" for s in shares])
labels = {"xlabel": "layers", "ylabel": "share that differs between tokens"}
assert apart["norm only"][1] > 0.01 and apart["norm only"][2] < 1e-3
assert apart["norm only"][3] < 1e-5 and apart["pre-norm"][-1] > 0.2
assert max(apart["post-norm"][-1], apart["residual only"][-1]) < 0.05

# %%
alt = "Without residual connections all is gone after 4 layers; pre-norm keeps half."
figures.curves(depths, apart, **labels, logarithmic=True, alt=alt)

# %% [markdown]
# Without residual connections, 0.04 % is left after three layers, and after **four** all
# tokens are the same, up to rounding (the almost flat end). Residual connections only
# delay this: without norms, and also in post-norm, little is left after 32 layers. In
# pre-norm, half of the difference is left. (Deep stacks with post-norm have been trained all
# the same: the larger BERT has 24 layers, and [DeepNet](https://arxiv.org/abs/2203.00555),
# which rescales the residual connections, a thousand.)
#
# The gradient says more. Take the loss of reversing the sequence, and divide the length
# of its gradient at the input by its length at the top: a ratio near 1 means that the
# gradient came through.

# %%
ratio = {
    kind: stack.gradient_norms[0] / stack.gradient_norms[32]
    for kind, stack in through.items()
}
for kind in ("neither", "norm only", "residual only", "post-norm", "pre-norm"):
    way = "below 1e-9" if ratio[kind] < 1e-9 else "above 10,000"
    way = f"{ratio[kind]:.1g}" if 0.1 < ratio[kind] < 10 else way
    print(f"{kind:13} {deep_stack.KINDS[kind]:22}", way)
assert ratio["neither"] < 1e-9 and ratio["residual only"] > 10_000
assert 0.1 < ratio["post-norm"] < 1 < ratio["pre-norm"] < 10

# %% [markdown]
# With sublayers alone, the gradient vanishes (3e−14 here). With residual connections and
# no norms, it explodes (6e7). With norms it comes through, somewhat smaller in post-norm,
# somewhat larger in pre-norm. It also comes through with norms *alone*: such stacks fail
# because their tokens become the same, not because gradients vanish.

# %% [markdown]
# ## Norm after, or norm first
#
# Some models put the norm elsewhere. For a sublayer f:
#
# | name | formula | where |
# |---|---|---|
# | post-norm | $\text{norm}(x + f(x))$ | the paper |
# | pre-norm | $x + f(\text{norm}(x))$ | GPT-2 (2019), Llama and many others |
# | norms around f | $x + \text{norm}(f(\text{norm}(x)))$ | [Gemma 2](https://arxiv.org/abs/2408.00118) |
# | norm on the result | $x + \text{norm}(f(x))$ | [OLMo 2](https://arxiv.org/abs/2501.00656) |
#
# In all but the first, the residual connections have no norm. Two norms are fine as long as
# neither sits on them; norm(x + f(norm(x))) has one on them, and little of the input arrives at
# the top, as in post-norm.

# %% [markdown]
# Which of them learns? Six layers must reverse a sequence of eight tokens, of eight
# kinds. A model that learns nothing has the loss ln 8 = 2.08. The **learning rate**, the
# size of a step, is 0.001 or ten times that. At the start, post-norm's gradients are large for
# the parameters near the output (Xiong and others, 2020).
#
# **Predict:** which models are still near 2.08 after 100 steps?
#
# - [ ] None of them
# - [x] Post-norm at 0.01
# - [ ] Pre-norm at 0.01
# - [ ] Both at 0.01

# %%
from course_lib.experiments import norms, record

losses = {}
for learning_rate in (0.001, 0.01):
    for kind in ("post-norm", "pre-norm"):
        loss = norms.final_loss(norms.train(kind, learning_rate, steps=100))
        print(learning_rate, kind, "below 1.2" if loss < 1.2 else f"{loss:.1f}")
        losses[learning_rate, kind] = loss
assert 2 < losses[0.01, "post-norm"] < 2.2
assert sum(loss < 1.2 for loss in losses.values()) == 3

# %% [markdown]
# With gradients that large, large steps make post-norm's training unstable. *Warm-up*, which the
# paper uses, helps: the learning rate rises from nearly 0 (below, during the first half
# of the steps). Here are the medians of three seeds, trained beforehand for 150 steps (by
# `python -m course_lib.experiments norms`; 100 stands for anything larger).

# %%
recorded, warmed = record.read("norms"), "post-norm, warm-up"
kinds = ("norm only", "residual only", "post-norm", warmed, "pre-norm")
middle = {kind: norms.median_losses(recorded.values(kind)) for kind in kinds}
print(f"{'learning rates':18}", *[f"{each:>7}" for each in norms.LEARNING_RATES])
for kind, medians in middle.items():
    print(f"{kind:18}", *[f"{loss:>7.3f}" for loss in medians])
axes = {"xlabel": "learning rate", "ylabel": "loss after 150 steps"}

# %%
alt = "The larger the learning rate, the farther apart are the losses of the kinds."
figures.curves(norms.LEARNING_RATES, middle, **axes, logarithmic=True, alt=alt)

# %% [markdown]
# Notice four things:
#
# - norms without residual connections learn next to nothing, because all tokens end up
#   the same;
# - residual connections without norms learn slowly at the two smaller learning rates, and
#   explode at the largest;
# - post-norm learns only at the two smaller ones, and with warm-up at one more;
# - pre-norm learns at all four, without warm-up.
#
# At the two smaller learning rates, all losses of post-norm and pre-norm are below 0.02.
# So here the choice is about how easily a stack trains, not what it can do. (To keep
# training stable, OLMo 2 also normalises queries and keys: *QK-norm*, [Henry et al.
# 2020](https://arxiv.org/abs/2010.04245).)

# %%
# The losses above, of the runs that were trained beforehand:
assert all(max(run["pre-norm"]) < 0.5 for run in recorded.runs)  # 0.17 was the worst
assert all(max(run["post-norm"][:2]) < 0.02 for run in recorded.runs)
assert all(max(run["pre-norm"][:2]) < 0.02 for run in recorded.runs)
assert all(min(run["post-norm"][2:]) > 2 for run in recorded.runs)
assert all(run[warmed][2] < 0.5 and run[warmed][3] > 2 for run in recorded.runs)
assert all(min(run["norm only"]) > 1.7 for run in recorded.runs)
assert all(run["residual only"][3] == "above 100" for run in recorded.runs)
assert all(run["residual only"][2] > 1.9 for run in recorded.runs)
assert all(min(run["residual only"][:2]) > 0.03 for run in recorded.runs)

# %% [markdown]
# ## Norms in detail
#
# Is your norm PyTorch's?

# %%
vectors = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))  # three words
theirs = nn.LayerNorm(4)(vectors).detach()
yours = layer_norm(vectors, torch.ones(4), torch.zeros(4))
print("same as nn.LayerNorm:", torch.allclose(yours, theirs, atol=1e-5))
assert torch.allclose(yours, theirs, atol=1e-5)  # 32-bit floats

# %% [markdown]
# It is. And what if a norm divides by `x.std()`? PyTorch's `std` divides the sum of squares by
# d − 1 before it takes the root; the formula above divides it by d.
#
# **Predict:** by how much does `x.std()` differ from the right denominator, for a token
# of 4 numbers?
#
# - [ ] About 0.1 %
# - [x] About 15 %
# - [ ] About 33 %

# %%
for d in (4, 512):
    row = torch.randn(d, generator=generator)
    print(f"d = {d:3}: std() is {row.std() / row.std(correction=0) - 1:+.1%} off")

# %% [markdown]
# `x.std()` estimates the spread of a population from a sample, which is why it divides by
# d − 1. A norm estimates nothing, so it divides by d. At d = 4, $\sqrt{4/3}$ makes the
# denominator 15 % too large; at d = 512 it is only 0.1 %. Small tests find this error,
# and large models hide it.
#
# What about ε? Take a token whose numbers are around 0.001, and ε = 0.00001.
#
# **Predict:** which ε makes the norm's result far smaller than 1?
#
# - [ ] One outside the root
# - [x] The one under the root
# - [ ] Neither

# %%
tiny = vectors * 0.001
centred = tiny - tiny.mean(dim=-1, keepdim=True)
spread = tiny.std(dim=-1, correction=0, keepdim=True)
outside = centred / (spread + 1e-5)
inside = layer_norm(tiny, torch.ones(4), torch.zeros(4))
print("ε outside:", outside.std(dim=-1, correction=0).numpy().round(2))
print("ε inside: ", inside.std(dim=-1, correction=0).numpy().round(2))
assert (inside.std(dim=-1, correction=0) < 0.6).all() and spread.max() ** 2 < 2e-6
assert (outside.std(dim=-1, correction=0) > 0.97).all()

# %% [markdown]
# Under the root, ε is added to the *variance*, which is at most 0.000002 here, a fifth of
# ε. So a token whose numbers barely differ stays small instead of being blown up. For
# such tokens, parameters trained with ε inside don't fit a norm with ε outside.
#
# And the axis? In a vision network, *batch normalisation* takes each channel's mean over
# all pixels of the whole batch. For text, that is a mean over tokens:

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
# A mean over tokens carries the future into the past, whatever the mask, which is how model C
# of lesson 04 leaked.
#
# A module has two modes, for training and for evaluation (lesson 07).
#
# **Predict:** which norm computes the same in both modes?
#
# - [ ] Batch norm only
# - [ ] Batch norm and layer norm
# - [x] Layer norm only

# %%
batches = torch.randn(100, 3, 4, generator=torch.Generator().manual_seed(1))
for name, norm in {"batch": nn.BatchNorm1d(4), "layer": nn.LayerNorm(4)}.items():
    for batch in batches:
        norm(batch)
    training = norm(vectors)
    moved = (norm.eval()(vectors) - training).abs().max().item()
    print(f"{name} norm: training and evaluation differ by {moved:.1f}")

# %% [markdown]
# So the axis is not the only difference. Batch norm needs a batch to train with, and for
# evaluation the running means and variances of many batches. Layer norm keeps no such
# statistics, so it always computes the same thing, for one token or for a million.
