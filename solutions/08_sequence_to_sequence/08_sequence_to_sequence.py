# %% [markdown]
# # Sequence to sequence
#
# **What was the bottleneck that attention removed?**
#
# After this lesson you can
#
# - write one step of a gated recurrent unit, and make a translator of two of them;
# - say where a translator without attention fails, and measure it;
# - write Bahdanau's and Luong's attention, and one step of a decoder that uses it;
# - draw an alignment, and measure how much of it is right.
#
# **About 140 minutes.** You need lessons 01, 02 and 04. From here on all arrays are PyTorch
# tensors, which keep track of gradients; `@`, `softmax` and shapes are as before.

# %%
from collections.abc import Sequence

import torch
from torch import Tensor

from autograder import check
from course_lib import figures
from course_lib.lessons import cost

# %% [markdown]
# ## A question to carry through the lesson
#
# *seventy-three* is *dreiundsiebzig* in German: three-and-seventy. A small network reads
# English number words from left to right, and then writes German ones from left to right.
#
# When it writes *drei*, the word *three* was read last. When it writes *siebzig*, it must
# know what came before. And in *two hundred and seventy-three thousand* there is much more
# to know. **How does it find the right word when it needs it, if nobody ever says which
# words belong together?** The last pictures of this lesson show it.

# %% [markdown]
# ## A network that reads one token after another
#
# For years nearly all networks for texts were **recurrent**: they update one vector at
# every token. Three words:
#
# - the **hidden state**, or state, is that vector: all that the network knows of the tokens
#   so far;
# - a **gate** is a number between 0 and 1 that says how much of something passes;
# - the **candidate** is what the state would become if nothing old were kept.

# %% [markdown]
# The new state lies between the old one and the candidate: the *update gate* is the
# share of the old one that stays. Take a state of one number, 0 at first, and the
# candidates 8, 0, 0, 0. **Predict** the state after the fourth token, with gates of 0.5
# and of 0.9.

# %%
for gate in (0.5, 0.9):
    state = 0.0
    for candidate in (8.0, 0.0, 0.0, 0.0):
        state = (1 - gate) * candidate + gate * state
    taken = (1 - gate) * 8
    print("gate", gate, "takes in", round(taken, 1), "and keeps", round(state, 2))

# %% [markdown]
# A small gate takes in much and forgets fast; a large one takes in little and keeps it.
# A **gated recurrent unit** (GRU) computes its gates anew at each token, and one for each
# number of the state:
#
# $$r = \sigma(x W_{xr} + b_{xr} + s W_{sr} + b_{sr}) \qquad
# u = \sigma(x W_{xu} + b_{xu} + s W_{su} + b_{su})$$
# $$c = \tanh(x W_{xc} + b_{xc} + r \odot (s W_{sc} + b_{sc})) \qquad
# s' = (1 - u) \odot c + u \odot s$$

# %% [markdown]
# $\sigma$, the sigmoid, gives numbers between 0 and 1; $\odot$ multiplies number by
# number. x is the token's vector, s the old state and s′ the new one. The **reset
# gate** r decides how much of s the candidate c knows. In code the parameters next to
# the state are `w_h` and `b_h`, and its length is `d_h`: h, for *hidden*, is the usual
# letter for a state.

# %% [markdown]
# ### Exercise: gru_step
#
# The parameters of reset gate, update gate and candidate are joined in one matrix, in this
# order of columns, so that one product serves all three.
#
# <details><summary>Hint 1</summary>
#
# Compute all that comes from x, and all that comes from the state, each with its bias. Each
# result has 3 d_h numbers: what are they?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `.chunk(3, dim=-1)` cuts a tensor into three. For the gates the two parts are added; for
# the candidate, one of them goes through the reset gate first.
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import gru_step  # exercise

# %%
check(gru_step)

# %% [markdown]
# > **Popular error: "u is how much is updated".** In Cho et al. (2014) and in PyTorch a
# > gate of 1 *keeps* the old state; in Chung et al. (2014) it takes the candidate. Both
# > are called GRU, and both can be learned: but parameters that were trained for the
# > one are wrong for the other. What the reset gate multiplies differs between
# > libraries too.
#
# So compare with PyTorch's own. Its matrices are the transposes of ours, as in `nn.Linear`.

# %%
torch.manual_seed(0)
unit = torch.nn.GRUCell(3, 4)
x, state = torch.randn(5, 3), torch.randn(5, 4)
ours = unit.weight_ih.T, unit.weight_hh.T, unit.bias_ih, unit.bias_hh
gap = (gru_step(x, state, *ours) - unit(x, state)).abs().max()
print("equal to nn.GRUCell:", bool(gap < 1e-6))
assert gap < 1e-6  # 32-bit floats: seven digits

# %% [markdown]
# And the other kind of GRU with the same parameters? Turning all the signs of a gate turns
# the gate round, since $\sigma(-a) = 1 - \sigma(a)$.

# %%
sign = torch.tensor([1.0] * 4 + [-1.0] * 4 + [1.0] * 4)  # the middle part is u
turned = gru_step(x, state, *(part * sign for part in ours))
far = (turned - unit(x, state)).abs().max()
print("the update gate read the other way round: off by", round(far.item(), 1))
assert far > 0.5

# %% [markdown]
# Both kinds are in print: with Cho and others (2014) and PyTorch, u is the share of the old
# state that stays; with Bahdanau and others (appendix A.1.1) it is the share of the
# candidate. Trained, both do the same; parameters of one are wrong in the other.
#
# `nn.GRU` does all steps of a sequence: row t of what it returns is the state after
# token t.

# %%
reader = torch.nn.GRU(3, 4, batch_first=True)
tokens, state = torch.randn(1, 6, 3), torch.zeros(1, 4)
# all_weights: w_x, w_h, b_x, b_h, as gru_step wants them; .mT transposes a matrix
ours = [each.mT if each.dim() == 2 else each for each in reader.all_weights[0]]
for t in range(6):
    state = gru_step(tokens[:, t], state, *ours)
gap = (reader(tokens)[0][:, -1] - state).abs().max()
print("six steps = nn.GRU:", bool(gap < 1e-6))
assert gap < 1e-6

# %% [markdown]
# ## Two of them make a translator
#
# An **encoder** reads the source. What it knows at the end, its last state, is the
# **context**: a vector of floats. A **decoder**, a second recurrent network, begins with it
# and writes the target, token by token, until it writes an end token.
#
# Such models translate, summarise texts, and write captions for pictures. There are two
# ways to hand the context over. Sutskever et al. (2014) make it the decoder's
# first state, and that is all. Cho et al. (2014) let the decoder read it again at every
# step, next to the token. Either way the whole source goes through **one vector of fixed
# length**. The translator of this lesson does both.

# %% [markdown]
# At each step the decoder reads the token *before* the one that it must write. In training
# that is the right one, taken from the data (**teacher forcing**): the target, shifted by
# one position.

# %%
target = "drei und siebzig".split()
for read, write in zip(["(start)", *target], [*target, "(end)"], strict=True):
    print(f"reads {read:8} must write {write}")

# %% [markdown]
# Forgetting that shift gave a perfect loss and a useless model in lesson 04. In use nobody
# knows the right token, and the decoder reads what it wrote itself.
#
# **Predict:** which is higher, the share of right tokens with teacher forcing, or in use?

# %% [markdown]
# ## How much fits through one vector?
#
# The plainest task needs no grammar: **copy**. Read letters, write the same letters. There
# are ten different ones, drawn at random, so nothing can be guessed. The encoder reads
# forwards and backwards, with 64 numbers each. Its two last states, joined, are the
# context, 128 numbers; a matrix and a tanh make the decoder's first state of them.
#
# **Predict** for words of 3 and of 12 letters: how many of the letters will be right
# after 200 steps of training? (The decoder reads what it wrote itself.)

# %%
from course_lib.experiments import bottleneck, record

fixed = bottleneck.train("none")  # some seconds

# %% tags=["nbval-ignore-output"]
shares = {n: bottleneck.accuracy(fixed, n) for n in (3, 12)}
for n, share in shares.items():
    print(f"{n:2} letters: {share:.2f} of them right")
assert shares[3] > 0.9 and shares[12] < 0.6  # 1.00 and 0.47 in the trial

# %% [markdown]
# Short words are copied, long ones are not. Is the vector too small? Count: a letter out of
# ten is $\log_2 10$ bits.

# %%
bits = 12 * torch.log2(torch.tensor(10.0))
print("12 letters:", round(bits.item()), "bits;  128 floats:", 128 * 32, "bits")

# %% [markdown]
# > **Popular error: "the vector is too small for a long sentence".** There is room for a
# > hundred such words, and more training helps: from about 0.5 to 0.6 for 12 letters, in
# > the full version below. What is hard is to *learn* how to pack a whole word into one
# > vector, letter upon letter, so that each can be taken out again, in order.
#
# It is learned from gradients that have a long way to go. How much does the last state
# of a GRU with random parameters depend on a token that was read k steps before?

# %%
torch.manual_seed(0)
reader = torch.nn.GRU(8, 8, batch_first=True)
tokens = torch.randn(200, 21, 8, requires_grad=True)
reader(tokens)[0][:, -1].sum().backward()
strength = tokens.grad.norm(dim=-1).mean(dim=0).flip(0)  # (21), the newest first
relative = strength / strength[0]
for k in (0, 5, 10, 20):
    print(f"{k:2} steps back: {relative[k]:.3f}")
assert relative[5] < 0.3 and relative[10] < 0.05 and relative[20] < 0.005

# %% [markdown]
# After twenty tokens next to nothing is left (training makes it better, if it gets so far).
# The reader from the other end brings the first letters near, but in either direction the
# letters in the middle are far.
#
# ## The way out: keep all states, and attend to them
#
# The encoder has made a state at *every* token; the translator above throws all but the
# last away. Keep them: one row per source token, `(m, d)`. At each of its steps the
# decoder attends to these rows, by lesson 01's three moves: **scores**, softmax,
# weighted mean. What it finds is a context of its own for *each* target token.

# %% [markdown]
# Bahdanau, Cho and Bengio did this in 2014. Their encoder reads in both directions and
# joins the two states, so that row j knows what comes before token j and after it. (Two
# years later Google Translate went over to a relative of it.) Their score is a small
# network:
#
# $$\text{score}_j = v \cdot \tanh(s\,W_q + k_j W_k)$$
#
# **Predict** by hand: a state of 0, keys −1, 0 and 1, all parameters 1. Which token gets
# the most weight?

# %%
state, keys = torch.zeros(1), torch.tensor([[-1.0], [0.0], [1.0]])
scores = torch.tanh(state + keys).squeeze(-1)
print("scores: ", scores.numpy().round(2))
print("weights:", scores.softmax(dim=-1).numpy().round(2))

# %% [markdown]
# ### Exercise: additive_attention
#
# One query, the decoder's state, attends to m source tokens; some of them may be padding.
#
# <details><summary>Hint 1</summary>
#
# The state times w_q is one row, the keys times w_k are m rows. Which axis does the one row
# lack, so that it can be added to each of them?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `.unsqueeze(-2)` adds that axis. The product with v leaves one number per source token;
# `masked_fill` puts −∞ where the state may not attend; and the weights, as a row, times the
# values give the context.
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import additive_attention  # exercise

# %%
check(additive_attention)

# %% [markdown]
# These are the additive scores of lesson 01, followed by a softmax and values. The scores
# are the same, to rounding:

# %%
from course_lib.attention import additive_scores

torch.manual_seed(0)
state, keys = torch.randn(1, 4), torch.randn(6, 5)
w_q, w_k, v = torch.randn(4, 7), torch.randn(5, 7), torch.randn(7)
_, weights = additive_attention(state[0], keys, keys, w_q, w_k, v)
first = additive_scores(*(each.numpy() for each in (state, keys, w_q, w_k, v)))
print("same weights:", torch.allclose(torch.tensor(first[0]).softmax(-1), weights))

# %% [markdown]
# Now the same task, the same steps, the same encoder. One thing is new: the decoder
# attends. **Predict** the share for 12 letters.

# %%
attentive = bottleneck.train("additive")  # some seconds

# %% tags=["nbval-ignore-output"]
accuracy = bottleneck.accuracy(attentive, 12)
print(f"12 letters: {accuracy:.2f} right, without attention {shares[12]:.2f}")
assert accuracy > shares[12] + 0.1

# %% [markdown]
# In the full version, up to 20 letters and with more steps of training, of three seeds
# (made beforehand and stored with the course):

# %%
copy_runs = record.read("bottleneck")
for kind in bottleneck.ATTENTION_KINDS:
    for run in copy_runs.runs:
        print(f"{kind:14} seed {run['seed']}:", run[kind])
print("letters:", list(bottleneck.LENGTHS), " by", copy_runs.command)
print(", ".join(map(" ".join, copy_runs.environment.items())))
for run in copy_runs.runs:
    assert run["none"][0] > 0.95 and run["none"][-1] < 0.45
    assert 0.55 < run["none"][2] < 0.65  # 12 letters
    assert min(run["additive"]) > 0.93 and min(run["multiplicative"]) > 0.75
by_kind = {kind: copy_runs.values(kind) for kind in bottleneck.ATTENTION_KINDS}
means = {kind: torch.tensor(values).mean(0) for kind, values in by_kind.items()}

# %%
alt = "Share right by length: none falls far, multiplicative somewhat, additive hardly."
figures.curves(bottleneck.LENGTHS, means, xlabel="letters", ylabel="right", alt=alt)

# %% [markdown]
# With additive attention the length hardly matters; without any, more letters make every
# single letter worse. (*multiplicative* is Luong's whole decoder, with his score *general*:
# the next sections have both. It learns this task more slowly.)
# And the question from above: the same models, once with the right letters to read
# (teacher forcing), once with their own.

# %%
for kind in bottleneck.ATTENTION_KINDS:
    forced = [run[f"{kind}, teacher forcing"][-1] for run in copy_runs.runs]
    used = [run[kind][-1] for run in copy_runs.runs]
    print(f"{kind:14} 20 letters: forced {forced}, in use {used}")
    assert all(a >= b for a, b in zip(forced, used, strict=True))

# %% [markdown]
# > **Popular error: "as good as in training".** With teacher forcing an error costs one
# > letter. In use it is read by the next step, which never saw such a thing in training,
# > and goes wrong as well. What counts is measured in use.

# %% [markdown]
# ## Product scores
#
# A year later Luong, Pham and Manning compared other scores. The plainest is the product of
# state and key; *general* puts a matrix between them:
#
# $$\text{dot: } s \cdot k_j \qquad \text{general: } (s\,W) \cdot k_j$$
#
# **Predict:** the encoder reads in both directions with 64 numbers each, the decoder's
# state has 64. Can *dot* be used?

# %% [markdown]
# ### Exercise: luong_score
#
# Scores only: the softmax comes later. A wrong `kind` should raise an error that says so.
#
# <details><summary>Hint 1</summary>
#
# With "general", which of the two does w belong to, so that the sizes fit?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `keys @ query` wants the query as a column: `.unsqueeze(-1)` makes one, and
# `.squeeze(-1)` takes the axis away again. Three combinations of `kind` and `w` are
# errors.
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import luong_score  # exercise

# %%
check(luong_score)

# %% [markdown]
# And the prediction? With the sizes from above:

# %%
torch.manual_seed(0)
state, keys = torch.randn(64), torch.randn(7, 128)
try:
    luong_score(state, keys, "dot")
except RuntimeError as error:
    print("dot:", type(error).__name__)
w = torch.randn(64, 128)
print("general:", tuple(luong_score(state, keys, "general", w).shape))
with_identity = luong_score(state, keys[:, :64], "general", torch.eye(64))
plain = luong_score(state, keys[:, :64], "dot")
print("dot = general with 1:", torch.allclose(plain, with_identity))

# %% [markdown]
# *dot* needs equal sizes, and both sides must live in the same space; *general* learns how
# to get from one to the other. With $W = W_q W_k^\top$ it is the score of lesson 02. The
# Transformer divides by $\sqrt{d_k}$, and Luong's scores are not divided.
#
# > **Popular error: "attention was invented with the Transformer".** The models of this
# > lesson attend to a source in 2014 and 2015, with recurrent networks around the
# > attention. What the Transformer left out in 2017 is the *recurrence*: tokens also
# > attend to their own sentence, and no state is handed on. Attention is not *all*: more
# > than half of its parameters are in feed-forward networks (lesson 09).

# %% [markdown]
# ## Which state is the query?
#
# At step t the decoder has a state from before. From it, the token before and the context
# it makes the new state. **Predict:** which state is the query of Bahdanau's attention, the
# old one or the new one?
#
# Only one answer is possible: the new state is computed *from* the context, so it cannot
# be there when the context is computed.
#
# $$\text{context}_t = \text{attention}(s_{t-1}) \qquad
# s_t = \text{GRU}([\,y_{t-1};\ \text{context}_t\,],\ s_{t-1})$$
#
# The square brackets join two vectors.

# %% [markdown]
# ### Exercise: decoder_step
#
# One step, with `additive_attention` and `gru_step`.
#
# <details><summary>Hint 1</summary>
#
# Which of the two must come first, and which state does it get?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.cat([x, context], dim=-1)` is what the unit reads. All three results are
# needed: the state by the next step, the context by what writes the token, the weights by
# you.
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import decoder_step  # exercise

# %%
check(decoder_step)

# %% [markdown]
# `course_lib/nn/recurrent.py` holds the whole translator as a module; you have written its
# heart. Take the parameters of the trained one above, go step by step with *your* function,
# and compare. (The embedding begins with numbers of about 1/√64; the module, and so
# the cell, multiplies them by √64 = 8.)

# %%
from course_lib.lessons.small_seq2seq import decoder_input, decoder_parameters

word = torch.tensor([[5, 9, 3, 9, 12]])
vectors = attentive.encode(word).vectors.detach()  # (1, 5, 128), keys and values
state = attentive.initial_state(attentive.encode(word)).hidden.detach()
parameters, rows = decoder_parameters(attentive), []
target_ids = decoder_input(word)
for token in (attentive.embedding(target_ids) * 8).detach().unbind(dim=1):
    state, _, weights = decoder_step(token, state, vectors, vectors, parameters)
    rows.append(weights)
expected = attentive.attention_weights(word, target_ids)
gap = (torch.stack(rows, dim=1) - expected).abs().max()
print("your steps = the module:", bool(gap < 1e-5))
assert gap < 1e-5  # 32-bit floats, after five steps

# %% [markdown]
# ## A training step takes how long?
#
# With teacher forcing the whole target is known. Can all its positions be computed at once?
# Attention could: its queries do not wait for each other. A recurrent network cannot: each
# state needs the one before.
#
# `sequential_operations` counts PyTorch's operations (a product, a sum, a tanh …) that must
# wait for each other. How many there are for one token depends on how you wrote `gru_step`.

# %%
torch.manual_seed(0)
parts = [torch.randn(shape) / 3 for shape in ((8, 24), (8, 24), (24,), (24,))]
for n in (5, 10, 20):
    tokens, state = torch.randn(n, 8, requires_grad=True), torch.zeros(8)
    for token in tokens:
        state = gru_step(token, state, *parts)
    keys = tokens.expand(n, n, 8)  # all n positions attend to all n
    scores = luong_score(tokens, keys, "dot")
    waits = [cost.sequential_operations(each) for each in (state, scores.softmax(-1))]
    print(f"n = {n:2}: recurrent {waits[0]:3}, attention {waits[1]}, scores {n * n}")

# %% [markdown]
# > **Popular error: "with attention, a training step is O(1)".** The chain of
# > operations that must wait is equally long for every n, and that is what O(1) means.
# > The *work* is not: n² scores in place of n steps. And in use, where each token needs
# > the one before, even the Transformer writes one after another.
#
# Bahdanau's attention does not shorten the chain: it stands inside a recurrent decoder,
# and waits with it. What it shortens is the path of the *gradient*: from a target token
# to any source token it is one weighted mean, where the fixed context had all steps in
# between.

# %% [markdown]
# ## Numbers: the units and the tens cross
#
# Back to the first question. 2,700 numbers below a million, in English words and in the
# parts of German words, and 300 more to test on. Nobody says which belong together: the
# only thing the network is told is what it should have written. Scores, softmax and
# mean all have gradients, so that *what to attend to* is learned like everything else.

# %%
from course_lib.experiments import alignments

numbers = alignments.numbers_task()
translator = alignments.train(numbers)  # some seconds

# %% tags=["nbval-ignore-output"]
right = alignments.exact_match(translator, numbers, numbers.pairs[-300:])
print(f"whole numbers right, of 300 new ones: {right:.2f}")
assert right > 0.9  # 1.00 in the trials

# %% [markdown]
# Look at the weights, for one number:

# %%
source, target = alignments.example("numbers")
print(*source)
print(*target)

# %% [markdown]
# **Predict** the rows of *drei*, the first *und* and *siebzig*: which English word does
# each of them attend to?

# %%
weights = alignments.weights(translator, numbers, source, target)
links = numbers.links(source, target)
rows, columns = [*target, "(end)"], [*source, "(end)"]

# %%
alt = "German ones attend to English ones, tens to tens: their cells cross, twice."
figures.alignment(weights.numpy(), rows, columns, links, alt=alt)

# %% [markdown]
# That is the answer: when it writes *drei*, its state asks for the ones, and finds
# *three* behind *seventy*; for *siebzig* it goes one back. The outlined cells are what
# a person would link.
#
# The same number, as it is written: **press "play"**, or move the slider to 0 and press
# "forward". Before each step, **predict** which source token the thickest line goes to.

# %%
drawn = alignments.states_and_weights(translator, numbers, source, target)

# %%
alt = "Encoder states and, step by step, the decoder's query, context and new token."
figures.encoder_decoder(columns, rows, **drawn, bidirectional=True, alt=alt)

# %% [markdown]
# Notice *und*. It is the German word for *and*, but attends to no *and*: the English one
# is behind the hundreds, the German one between ones and tens. It attends to where the next
# word will come from. (In your run some rows may be less sharp: parameters are drawn.)
#
# How good is the whole? Measure it.

# %% [markdown]
# ### Exercise: alignment_mass
#
# How much of the weight of each target token lies on its own source tokens, as a mean over
# those target tokens that have any?
#
# <details><summary>Hint 1</summary>
#
# A target token may have several links. Must it count more than another, because of
# that?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Sum `weights[target, source]` over all links. Divide by the number of *different* target
# tokens among them: a set knows it.
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import alignment_mass  # exercise

# %%
check(alignment_mass)

# %% [markdown]
# The mass in the picture above, and the mean over 30 numbers that were never trained
# on. For comparison: the mass if all weights were equal.

# %% tags=["nbval-ignore-output"]
even = alignments.uniform_mass(numbers, 30)
measured = alignments.mean_mass(translator, numbers, 30)
print("weights all equal:", round(even, 2))
print("this number:", round(alignment_mass(weights, links), 2))
print("30 new numbers:", round(measured, 2))
assert measured > 0.6  # 0.87 in the trial

# %% [markdown]
# > **Popular error: "the decoder's new state asks".** Many drawings of Bahdanau's attention
# > show it. Ask with the new state in the trained network: each row of weights becomes that
# > of the *next* token, one row too early, and little of the mass is left.

# %% tags=["nbval-ignore-output"]
late = alignments.weights_of_new_states
early = late(translator, numbers, source, target)
print("one row early:", torch.allclose(early[:-1], weights[1:], atol=1e-4))
asked_late = alignments.mean_mass(translator, numbers, 30, late)
print(f"mass if the new state is the query: {asked_late:.2f}, not {measured:.2f}")
assert torch.allclose(early[:-1], weights[1:], atol=1e-4) and asked_late < measured / 2

# %% [markdown]
# Luong's decoder is built the other way round: there the new state *is* the query, and the
# context joins it on the way to the output. In our models the recurrence then need not
# wait for the attention. In the paper's best ones it does: with *input feeding* (section
# 3.3), what came out of the attention goes into the next step, too.

# %% [markdown]
# | | Bahdanau et al. | Luong et al. |
# |---|---|---|
# | query | the state before the step | the state after it |
# | the context goes into | the new state and the output | the output (fed back: the next state) |
# | score | $v \cdot \tanh(s W_q + k W_k)$ | a product |
#
# In our results *additive* is the left column, *multiplicative* the right one with the
# score *general*. *Short* and *long* are the halves of the 300 new numbers with fewer
# and with more English words.

# %%
runs = record.read("alignments")
for kind in bottleneck.ATTENTION_KINDS:
    for half in ("short", "long"):
        shares = runs.values(f"numbers, {kind}, {half}")
        print(f"{kind:14} {half:5} numbers right:", shares)
for kind in ("additive", "multiplicative"):
    print(f"mass, {kind:14}", runs.values(f"numbers, {kind}, mass"))
    assert min(runs.values(f"numbers, {kind}, mass")) > 0.8

# %%
for half in ("short", "long"):
    mean = torch.tensor(runs.values(f"numbers, none, {half}")).mean()
    print(f"without attention, {half:5} {mean:.2f} right, the mean of three seeds")
for run in runs.runs:
    assert run["numbers, none, short"] > run["numbers, none, long"] + 0.1
    assert run["numbers, additive, short"] == run["numbers, additive, long"] == 1
    assert run["numbers, additive, mass"] < 0.88
assert sorted(runs.values("numbers, multiplicative, mass"))[1:] == [0.997, 0.997]

# %% [markdown]
# Without attention the longer numbers go wrong more often. And a sharper alignment is not a
# better translator: *multiplicative* has 0.997 of its weight on the links in two of three
# trainings, *additive* at most 0.88, and it is *additive* that gets every number right.
#
# ## Dates
#
# A second task, character by character: dates in the manner of ten languages become
# `YYYY-MM-DD`. Babel, a Python library, writes them. **Predict:** will the network without
# attention fail on the *long* ones, as in copying?

# %%
for kind in bottleneck.ATTENTION_KINDS:
    for half in ("short", "long"):
        print(f"{kind:14} {half:5} dates right:", runs.values(f"dates, {kind}, {half}"))
print("seeds", runs.values("seed"), "by", runs.command)
print(", ".join(map(" ".join, runs.environment.items())))
for run in runs.runs:
    for half in ("short", "long"):
        assert run[f"dates, additive, {half}"] > 0.98
        assert 0.5 < run[f"dates, none, {half}"] < 0.9
    assert run["dates, none, short"] - run["dates, none, long"] < 0.16

# %% [markdown]
# Without attention it is wrong on some dates of either half, and loses little on the longer
# ones (one seed of three: 0.15): a date holds three numbers, however many letters it is
# written with. **What counts is less how long a source is than how much of it must be
# kept.** With additive attention every date is right.
# And *multiplicative* shows why one seed is not enough: after the same 200 steps, one of
# three networks has all but learned it, and the two others have not.
#
# A date that it never saw, and the weights (additive, seed 0; ␣ is a space, ¶ the end):

# %%
source, target = alignments.example("dates")
weights = torch.tensor(runs.runs[0]["dates, additive, weights"])
rows, columns = [*target, "¶"], [*source.replace(" ", "␣"), "¶"]
links = alignments.date_links(source, target)

# %%
alt = "The day's 7 attends to the 7, the month to the first letter of its name."
figures.alignment(weights.numpy(), rows, columns, links, alt=alt)

# %% [markdown]
# The day's 7 (no 0 stands before it in the source) and the last three digits of the
# year are found where they are, though all have moved. Almost no row attends to the
# weekday, which nobody needs. And the month is read off the **A**. How can it know
# April from August?
#
# > **Popular error: "the weights say which token was used".** The decoder attends to
# > *states*. The state at A comes from two readers, and the one that reads backwards
# > has been through the whole name. So the state at the 0 in the year has read the 2
# > next to it. And a hyphen, which comes from nowhere, has to attend somewhere too:
# > each row sums to 1.

# %%
for kind in ("additive", "multiplicative"):
    print(f"mass, {kind:14}", runs.values(f"dates, {kind}, mass"))
hyphens = weights[[4, 7]].sum(dim=-1)
print("weight of the month's digits on A:", weights[5:7, 9].numpy().round(1))
print("on the weekday at most:", round(weights[:, :7].sum(dim=-1).max().item(), 2))
print("the weights of the hyphens' rows sum to", [round(x.item(), 1) for x in hyphens])
assert weights[[1, 2, 3, 9], [19, 20, 21, 15]].min() > 0.85  # digits found in place
masses, accuracies = (
    runs.values(f"dates, multiplicative, {of}") for of in ("mass", "short")
)
assert masses.index(max(masses)) == accuracies.index(min(accuracies)) == 1

# %% [markdown]
# The masses speak against that error too: of the three *multiplicative* networks, the
# one of seed 1 has the most weight on the right tokens (0.752), and the fewest dates
# right (0.41 of the short ones).

# %% [markdown]
# ## In three lines
#
# - Without attention, the source goes through one vector: that is learned for short
#   sources, and fails on long ones that hold much.
# - Attention keeps all states and attends to them at each step, by an additive score or a
#   product; in Bahdanau's decoder the state *before* the step asks.
# - What to attend to is learned with everything else, and can be drawn and measured.
#
# **What you can read now:** Bahdanau et al. (2015), *Neural Machine Translation by Jointly
# Learning to Align and Translate*; Luong et al. (2015), *Effective Approaches to
# Attention-based Neural Machine Translation*, section 3.
#
# **An open question:** if a decoder can attend to every state, what are recurrent networks
# still needed for? Lesson 09.
