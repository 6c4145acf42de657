# %% [markdown]
# # Sequence to sequence
#
# **What was the bottleneck that attention removed?**
#
# After this lesson you can
#
# - write one step of a gated recurrent unit, and say why it has gates;
# - say where a translator without attention fails, and measure it;
# - write Bahdanau's attention, and one step of a decoder that uses it;
# - read an alignment off its weights.
#
# **About 70 minutes, and 65 more in *Going further*.** You need lessons 01, 02, 04 and
# 07.

# %%
from autograder import check

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib import figures
from course_lib.experiments import alignments, bottleneck, record

# %% [markdown]
# ## A question to carry through the lesson
#
# *seventy-three* is *dreiundsiebzig* in German: three-and-seventy. Here a small network
# reads English number words, once forwards and once backwards, and then writes German ones from
# left to right. **Press "play"**, and watch the column *context*: it shows what the writing half
# (right) gets from the reading half (left). What changes in it from step to step?

# %%
numbers = alignments.numbers_task()
squeezed = alignments.train(numbers, "none")  # some seconds
words = "seventy three".split(), "drei und siebzig".split()
drawn = alignments.states_and_weights(squeezed, numbers, *words)
sides = [[*side, "(end)"] for side in words]

# %%
alt = "The writer gets the same vector at every step: all that is left of the source."
figures.encoder_decoder(*sides, **drawn, bidirectional=True, alt=alt)

# %% [markdown]
# Nothing: this one vector is all that is left of the source. With two words, that is enough.
# But *two hundred and seventy-three thousand* has many more words to keep apart, and they come
# in another order. **How does a network find the right word at the right moment, if nobody ever
# says which words belong together?** On the way to the answer, you write a recurrent network,
# see where it fails, and give it attention.

# %% [markdown]
# ## A network that reads one token after another
#
# Before the Transformer, most networks that translated, answered questions or predicted
# the next word were **recurrent**. A recurrent network keeps one vector, the **hidden
# state** (or state): all that it knows about the tokens so far. At every token, it computes
# a new one. The plainest way is
#
# $$s' = \tanh(x\,W_x + s\,W_h + b)$$
#
# where x is the token's vector, s the old state and s′ the new one. $W_x$, $W_h$ and b are
# learned (h, for *hidden*, marks what belongs to the state). So at each token, the *whole*
# state goes through $W_h$ and the tanh, and is mixed with the new token.

# %% [markdown]
# How long can it remember? `course_lib/lessons/first_letter.py` lets such a network read
# random letters out of ten, and then asks which one came *first*. Its state has 32 numbers.
# After 400 steps of training with three letters in between, the answer is right for every new
# word.
#
# **Predict:** if it is trained for as many steps with *ten* letters in between, how often is
# it right?
#
# - [ ] For nearly every word: 32 numbers have room enough for one letter.
# - [ ] For about half of the words.
# - [x] About as often as a guess: the letter gets lost on the way.

# %%
from course_lib.lessons import first_letter

for between in (3, 10):
    share = first_letter.share_right("plain", between)
    print(f"{between:2} letters in between: right in {share:.0%} of the words")
assert share < 0.2

# %% [markdown]
# A guess is right for one word in ten. There is room for the letter, as we shall see. But it must
# survive ten mixings, and the gradient that could teach the network to keep it has to come back
# the same way.
#
# So give the network a way to leave its state alone. Two more words:
#
# - the **candidate** is a proposal for the new state, made from the token (and from the old
#   state, if that helps);
# - a **gate** is a number between 0 and 1 that says how much of something passes.

# %% [markdown]
# The new state lies between the old state and the candidate: the *update gate* is the share of
# the old state that is kept, so this gate opens to the *old* state. Take a state of one number,
# 0 at first, and the candidates 8, 0, 0, 0. With a gate of 0.5, the state becomes 4, 2, 1 and
# finally 0.5.
#
# **Predict:** what is the state after the fourth token with a gate of 0.9?
#
# - [ ] About 5.8.
# - [x] About 0.6.
# - [ ] About 0.01.

# %%
for gates in ([0.5] * 4, [0.9] * 4, [0.1, 0.99, 0.99, 0.99]):
    state = 0.0
    for gate, candidate in zip(gates, (8.0, 0.0, 0.0, 0.0), strict=True):
        state = (1 - gate) * candidate + gate * state
    print("gates", gates, "end with", round(state, 2))
assert round(state, 2) == 6.99

# %% [markdown]
# A gate of 0.5 takes in half of the 8, and soon forgets it. One of 0.9 keeps well, but has taken
# in only 0.8. The third row does both, because its gate *changes*: 0.1 to take in, 0.99 to keep.
# So a **gated recurrent unit** (GRU) computes new gates at each token, one for each number of
# the state:
#
# $$r = \sigma(x W_{xr} + b_{xr} + s W_{hr} + b_{hr}) \qquad
# u = \sigma(x W_{xu} + b_{xu} + s W_{hu} + b_{hu})$$
# $$c = \tanh(x W_{xc} + b_{xc} + r \odot (s W_{hc} + b_{hc})) \qquad
# s' = (1 - u) \odot c + u \odot s$$

# %% [markdown]
# $\sigma$, the sigmoid (`torch.sigmoid`), gives numbers between 0 and 1; $\odot$
# multiplies number by number. The **update gate** u is the gate of the example, and the
# **reset gate** r decides how much of s reaches the candidate c. In code, what belongs to the
# token is `w_x` and `b_x`, what belongs to the state `w_h` and `b_h`, and the state's length
# is `d_h`. (Two biases, because in c the reset gate multiplies only one of them, as in PyTorch.)

# %% [markdown]
# ### Exercise: gru_step
#
# The parameters of the reset gate, the update gate and the candidate are side by side in
# one matrix, in this order, so that one product serves all three: `x @ w_x + b_x` has 3 d_h
# numbers, d_h for each. The same goes for the state.
#
# <details><summary>Hint 1</summary>
#
# Compute everything that comes from x, and everything that comes from the state, each
# with its bias. Which third of each result goes into r, which into u, and which into c?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `.chunk(3, dim=-1)` cuts a tensor into three. For the gates, add the two parts; for the
# candidate, one of them goes through the reset gate first.
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import gru_step  # exercise

# %%
check(gru_step)

# %% [markdown]
# Now the same ten letters once more, with gates: `nn.GRU` has the formulas of your `gru_step`.
# Again the state has 32 numbers, and the training 400 steps.

# %%
share = first_letter.share_right("gated", 10)
print(f"10 letters in between: right in {share:.0%} of the words")
assert share > 0.9

# %% [markdown]
# Now the first letter survives. Where the update gate stays near 1, the old state is handed on
# almost unchanged, and so is the gradient. (The **LSTM**, long short-term memory, of Hochreiter
# and Schmidhuber, 1997, is older and serves the same purpose, with two vectors.)

# %% [markdown]
# ## Two of them make a translator
#
# An **encoder** reads the **source**, which is to be translated. Its last state is the
# **context**, a vector of floats, and the only thing it hands on. A **decoder**, a second
# recurrent network, starts from the context and writes the **target**, the translation,
# token by token, until it writes an end token. The two are trained together, as one
# network, which is called **neural machine translation**. The same design can summarise or,
# with an encoder for pictures, write captions.

# %% [markdown]
# Sutskever et al. (2014), with LSTMs, make the context the decoder's first state, and that is
# all. In Cho et al. (2014), the decoder also reads it at every step, together with the token.
# Either way, the whole source goes through **one vector of fixed length**. Our translator
# (`course_lib/nn/recurrent.py`) does both. Since its encoder reads forwards and backwards, it
# has two last states, and joined they are the context. (The last state of the backward
# reader stands at the *first* word.)

# %% [markdown]
# At each step the decoder reads the token *before* the one that it must write. In
# training that is the right token, taken from the data (**teacher forcing**): it reads *(start)
# drei und siebzig*, and must write *drei und siebzig (end)*, the same shifted by one position.
# Without that shift, the loss looks perfect and the model is useless (lesson 04). When it
# really translates, nobody knows the right token, so the decoder reads its own output.

# %% [markdown]
# ## How much fits through one vector?
#
# Back to the network of the first picture, which wrote *drei und siebzig* without an error.
# What does it make of a longer number, which it has never seen?

# %%
from course_lib.lessons.small_seq2seq import generate


def written(model, source):
    names = dict(enumerate(numbers.vocabulary, alignments.FIRST_TOKEN_ID))
    token_ids = generate(model, numbers.encode([source]), 16)[0].tolist()
    return [names[each] for each in token_ids if each in names]


# %% tags=["nbval-ignore-output"]
tried = [alignments.example("numbers"), *numbers.pairs[-300:]]
wrong = next(pair for pair in tried if written(squeezed, pair[0]) != list(pair[1]))
print("source: ", *wrong[0])
print("right:  ", *wrong[1])
print("written:", *written(squeezed, wrong[0]))
share = alignments.exact_match(squeezed, numbers, numbers.pairs[-300:])
print(f"numbers without an error, of 300 new ones: {share:.2f}")
assert share < 0.95  # 0.75, 0.76 and 0.75 for the seeds 0, 1 and 2

# %% [markdown]
# It is good German, and the wrong number. (When the course was made, *siebzig* became *achtzig*,
# the tens of the number's *end*; yours may err elsewhere.) The network knows the words, but it
# mixes up what it has read.
#
# Does the length matter? Sort the 300 numbers by how many English words they have, and
# compare the halves:

# %% tags=["nbval-ignore-output"]
by_length = sorted(numbers.pairs[-300:], key=lambda pair: len(pair[0]))
for name, half in (("shorter", by_length[:150]), ("longer", by_length[150:])):
    share = alignments.exact_match(squeezed, numbers, half)
    print(f"the {name} half, without an error: {share:.2f}")
assert share < 0.75  # 0.62, 0.64 and 0.61; of the shorter half 0.87, 0.87 and 0.89

# %% [markdown]
# After this training, the one vector (48 numbers from each direction of the encoder) serves a
# short source well, and a longer one less well. Is it too small, or is it hard to learn to use?
# *What gets lost, and why?*, in *Going further*, looks for an answer.

# %% [markdown]
# ## The way out: keep all states, and attend to them
#
# The encoder has computed a state at *every* token, but the translator above discards
# all but the two last. Keep them: one row for each of the m source tokens, `(m, d)`. At
# each step the decoder attends to these rows by the three moves of lesson 01: scores,
# softmax, weighted mean. So *each* target token has a context of its own, and only one
# weighted mean lies between it and any state of the source.
#
# It is like an interpreter's notes, consulted for each part of the translation. But here every
# token leaves a note, and the network learns which notes to consult.

# %% [markdown]
# Bahdanau, Cho and Bengio proposed this in 2014. (Two years later, Google Translate
# switched to a model with such attention.) Their encoder also reads in both directions,
# so that row j knows what surrounds token j. Their score is a small network:
#
# $$\text{score}_j = v \cdot \tanh(s\,W_q + k_j W_k)$$
#
# The key $k_j$ is row j, and so is the value: here keys and values are one matrix, though
# your function takes two. $W_q$, $W_k$ and the vector v are learned. Without the tanh, the
# state would add the same number to every score, and the softmax would cancel it: the query
# would have no say.

# %% [markdown]
# ### Exercise: additive_attention
#
# Let one query, the decoder's state, attend to m source tokens, some of which may be
# padding.
#
# <details><summary>Hint 1</summary>
#
# The state times w_q is one row, and the keys times w_k are m rows. Which axis does the
# one row need, so that it can be added to each of them?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `.unsqueeze(-2)` adds that axis. What does a product with v leave of each row? What must
# a score be for its weight to be 0? And which axis do the weights need, so that they can
# be multiplied by the values?
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import additive_attention  # exercise

# %%
check(additive_attention)

# %% [markdown]
# ## Which state is the query?
#
# At step t, Bahdanau's decoder computes its new state $s_t$ from the previous token's vector
# $y_{t-1}$, the context and the old state (the square brackets join two vectors):
#
# $$s_t = \text{GRU}([\,y_{t-1};\ \text{context}_t\,],\ s_{t-1})$$
#
# The context is what attention returns, and the query of this attention is a state, too.
#
# **Predict:** which one?
#
# - [ ] The new state, $s_t$.
# - [x] The old state, $s_{t-1}$.
# - [ ] Either of them, new or old.

# %%
from graphlib import CycleError, TopologicalSorter

for query in ("new state", "old state"):
    needs = {"context": [query], "new state": ["old state", "token", "context"]}
    try:  # to find an order in which each has what it needs
        order = " → ".join(TopologicalSorter(needs).static_order())
    except CycleError:
        order = "no order is possible"
    print(f"query = {query}: {order}")
assert order.endswith("context → new state")

# %% [markdown]
# The new state is computed *from* the context, so it doesn't exist yet when the context is
# needed: $\text{context}_t = \text{attention}(s_{t-1})$.

# %% [markdown]
# ### Exercise: decoder_step
#
# Write one step, with `additive_attention` and `gru_step`.
#
# <details><summary>Hint 1</summary>
#
# The unit reads one vector. Along which axis are x and the context joined, if there may be a
# batch? And which of `w_x`'s rows are for x?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.cat` joins. Under which names does the dictionary hold what each of the two functions
# needs? And which arguments of `decoder_step` does only the attention need?
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import decoder_step  # exercise

# %%
check(decoder_step)

# %% [markdown]
# That is Bahdanau's decoder: attend with the state you have, then compute the next one – once
# for each target token.
#
# So attention is older than *Attention Is All You Need*: in 2014 and 2015 it was used inside
# recurrent networks. What the Transformer of 2017 leaves out is the *recurrence*.

# %% [markdown]
# ## Numbers, written in another order
#
# Back to *drei und siebzig*, now with attention. The translator learns from 2,700 numbers below
# a million, written in English and in German, the German ones split into their parts; 300 more
# are reserved for the test. It is told only what it should have written, never which
# words belong together. Scores, softmax and mean all have gradients, so *what to attend
# to* is learned like everything else.

# %%
translator = alignments.train(numbers)  # some seconds

# %% tags=["nbval-ignore-output"]
right = alignments.exact_match(translator, numbers, numbers.pairs[-300:])
print(f"numbers without an error, of 300 new ones: {right:.2f}")
assert right > 0.9  # 1.00 in the trials

# %% [markdown]
# Take the number that the network without attention was tried on first:

# %%
source, target = alignments.example("numbers")
print(*source)
print(*target)
print("written:", *written(translator, source))

# %% [markdown]
# *siebzig* for the thousands, *achtzig* at the end: all right. Which target token belongs to
# which source token is called the **alignment**. *vier hundert* and *four hundred* stand in the
# same order. Then *drei* needs *three*, which stands after *seventy*. And *und*? In 3,000,
# German goes on after *drei* with *tausend*; in 73,000 it must first write *und*.
#
# **Predict:** which English word gets the most weight when this *und* is written?
#
# - [ ] *and*: it is the same word.
# - [ ] *three*: *drei* was written last.
# - [x] *seventy*: without it, there would be no *und*.

# %%
weights = alignments.weights(translator, numbers, source, target)
links = numbers.links(source, target)
rows, columns = [*target, "(end)"], [*source, "(end)"]
# Also for the seeds 1 and 2: drei by 0.89 or more, siebzig by 0.97, und by 0.44.
assert weights[2:5].argmax(dim=-1).tolist() == [4, 3, 3]  # three, seventy, seventy

# %%
alt = "From ones to ones and from tens to tens: their order is swapped, twice."
figures.alignment(weights.numpy(), rows, columns, links, alt=alt)

# %% [markdown]
# So the network attends to the right word at the right moment, though nobody said which words
# belong together: for *drei* it goes past *seventy* to *three*, and for *siebzig* it comes
# back. The outlined cells are what a person would link. *und* has none. (English *and* follows the
# hundreds, German *und* joins units and tens.) In our runs, *seventy* had its largest weight.
#
# Now watch another of the 300 numbers being written: **press "play"**, or move the
# slider to 0 and press "forward". Before each step, guess which source token the
# thickest line will go to.

# %%
another = numbers.pairs[-1]
drawn = alignments.states_and_weights(translator, numbers, *another)
sides = [[*side, "(end)"] for side in another]

# %%
alt = "Encoder states and, step by step, the decoder's query, context and new token."
figures.encoder_decoder(*sides, **drawn, bidirectional=True, alt=alt)

# %% [markdown]
# ## In three lines
#
# - The bottleneck was the one vector through which the source had to go: after the same
#   training, less of a long source came through it than of a short one.
# - With attention, the decoder attends to all states at each step; Bahdanau's query is
#   the state *before* the step.
# - The network learns what to attend to, and the weights can be drawn.
#
# **What you can read now:** Bahdanau et al. (2015), *Neural Machine Translation by Jointly
# Learning to Align and Translate*; Luong et al. (2015), *Effective Approaches to
# Attention-based Neural Machine Translation*, section 3.
#
# **An open question:** if a decoder can attend to every state, what do we still need
# recurrence for? Lesson 09.

# %% [markdown]
# ## Going further
#
# You can skip any section below: no later lesson's core needs it. The first asks what gets lost
# in one vector. In the second, your functions replace a trained translator's. The third counts
# what has to wait in training, which is the reason that the Transformer's paper gives for leaving
# recurrence out. Read about product scores if you want to know how lesson 02's score came into translation, about measuring
# alignments and about dates before you trust a picture of weights, and about a network that
# reads its own letters if you will train one.

# %% [markdown]
# ## What gets lost, and why?
#
# Take a task without any grammar: **copy**. Read letters, and write the same letters. There are
# ten of them, and each is drawn independently, so none gives a hint about another, and a guess is
# right with 0.10. Two networks learned it for 500 steps, with up to 20 letters and three seeds:
# one through one vector of 128 numbers, the other with Bahdanau's attention
# (`python -m course_lib.experiments bottleneck`). Here is the share of right letters, its mean over
# the seeds:

# %%
copy_runs = record.read("bottleneck")
by_kind = {kind: copy_runs.values(kind) for kind in ("none", "additive")}
means = {kind: torch.tensor(values).mean(0) for kind, values in by_kind.items()}

# %%
alt = (
    "With attention the share stays near 1 at all lengths; without it falls under 0.4."
)
figures.curves(bottleneck.LENGTHS, means, xlabel="letters", ylabel="right", alt=alt)

# %% [markdown]
# With attention, the length barely matters. Without it, of 20 letters little more than a third come
# out right. To see what gets lost, train the one without attention here, for 200 steps and with up
# to 12 letters.

# %%
fixed = bottleneck.train("none")  # some seconds

# %% tags=["nbval-ignore-output"]
shares = {n: bottleneck.accuracy(fixed, n) for n in (3, 12)}
for n, share in shares.items():
    print(f"{n:2} letters: {share:.2f} of them right")
assert shares[3] > 0.9 and 0.3 < shares[12] < 0.6  # 1.00 and 0.47 in the trials

# %% [markdown]
# Words of 3 letters are copied almost perfectly, but of 12 letters about half are wrong. Which
# ones? Let the decoder read the *right* letter before each one, as in training, so that no error
# spoils the next letter. And remember that the encoder reads in both directions.
#
# **Predict:** which of the 12 letters are lost most often?
#
# - [ ] The first and the second.
# - [ ] The sixth and the seventh.
# - [x] The ninth and the tenth.
# - [ ] The last two.

# %% tags=["nbval-ignore-output"]
import numpy as np

from course_lib.lessons.small_seq2seq import decoder_input

letters = bottleneck.draw(1000, 12, np.random.default_rng(1))
with torch.no_grad():
    guessed = fixed(letters, decoder_input(letters)).argmax(dim=-1)
by_position = (guessed == letters).float().mean(dim=0)
print("right, from the first letter to the last:", by_position.numpy().round(2))
first, lost, last = (by_position[i : i + 2].mean() for i in (0, 8, 10))
assert lost + 0.05 < last < first  # in the trial 0.48, 0.61 and 0.94

# %% [markdown]
# The first letters are nearly always right, then it gets worse from letter to letter, and the
# last two are better again. What comes late, but not last, gets lost most.
#
# Is the vector too small, or was the training too short?
# `python -m course_lib.experiments longer_copying` tried longer training, and a state of
# 256 numbers instead of 64, with the seeds 0, 1 and 2.

# %%
longer = record.read("longer_copying")
for name in ("200 steps", "500 steps", "1000 steps", "2000 steps", "5000 steps"):
    print(f"12 letters, {name}:", longer.values(name))
print("500 steps, a larger state:", longer.values("256 numbers, 500 steps"))
assert 0.75 < min(longer.values("5000 steps")) < max(longer.values("5000 steps")) < 0.85
assert max(longer.values("256 numbers, 500 steps")) < min(longer.values("500 steps"))
assert 10**12 < 2**40

# %% [markdown]
# > **The vector is too small for a long sentence?** That is how the story is usually
# > told. But 12 letters out of ten make 10¹² words. To tell them apart takes 40 bits, and the
# > *signs* of 128 numbers alone are 128 bits. So there is room. (Trained recurrent networks
# > store about one real number of what they read per number of their state: Collins et al.
# > 2017.) With the same settings, a larger state did worse here, and longer training helped:
# > after 5,000 steps about 0.8 of the letters are right. So *learning* to use the vector is
# > at least part of what is hard. Whether 128 numbers would get to 1.0, these runs don't show.

# %% [markdown]
# Why is it hard to learn? The gradients have many steps to go through. Take a GRU with random
# parameters, whose gates are about ½, and the gradient of its last state with respect to
# each token's vector. (`nn.GRU` takes all the steps; row t of its result is the state after
# token t.)
#
# **Predict:** if the gradient's norm (its length) is 1 at the last token, how large is it
# ten steps before?
#
# - [x] Less than a twentieth.
# - [ ] Between a tenth and a half.
# - [ ] More than a half.

# %%
torch.manual_seed(0)
reader = torch.nn.GRU(8, 8, batch_first=True)
tokens = torch.randn(200, 21, 8, requires_grad=True)
reader(tokens)[0][:, -1].sum().backward()
strength = tokens.grad.norm(dim=-1).mean(dim=0).flip(0)  # (21), the newest first
relative = strength / strength[0]
for k in (0, 3, 6, 10, 20):
    print(f"{k:2} steps back: {relative[k]:.4f}")
assert 0.04 < relative[6] < 0.1 and 0.005 < relative[10] < 0.03
assert relative[20] < 0.005

# %% [markdown]
# After ten tokens about a hundredth is left. (Training can change that, but it begins with
# these gradients.) So at first, what was read long ago has little say in what is learned.
#
# Does that explain *which* letters are lost? Not by itself. The encoder reads in both
# directions, so the farthest letters are those in the middle, five steps from the nearer end.
# But the worst are the ninth and the tenth, only three and two steps from it, where 0.2 or more
# of the gradient is left. Another reason must come in. Perhaps it is the decoder, which writes
# them only after eight or nine others; we have not tested that.

# %% [markdown]
# Attention shortens every path. Suppose that *vier* was wrong, because too little is known of
# *four*. Count the arrows from *vier* back to *four* if the encoder reads from left to right, first
# through one vector, then with attention. (Read in both directions, the words in the middle are
# the far ones.)

# %%
alt = "From vier back to four: seven arrows through one vector, two with attention."
german = "vier hundert drei und siebzig tausend".split()
figures.gradient_paths(
    "four hundred and seventy three thousand".split(), german, alt=alt
)

# %% [markdown]
# Another famous trick: Sutskever et al. (2014) let the encoder read the source **backwards**,
# so that its first words are close to the first words of the target. BLEU, the usual score for
# translations, rose from 25.9 to 30.6.

# %% [markdown]
# ## Your functions in a trained network
#
# First the unit: is `gru_step` PyTorch's? Its matrices are the transposes of ours, as in
# `nn.Linear`.

# %%
torch.manual_seed(0)
unit = torch.nn.GRUCell(3, 4)
x, state = torch.randn(5, 3), torch.randn(5, 4)
ours = unit.weight_ih.T, unit.weight_hh.T, unit.bias_ih, unit.bias_hh
gap = (gru_step(x, state, *ours) - unit(x, state)).abs().max()
print("equal to nn.GRUCell:", bool(gap < 1e-6))
assert gap < 1e-6  # 32-bit floats: seven digits

# %% [markdown]
# (Some papers, such as Chung et al. 2014 and Bahdanau et al. 2015, swap u and 1 − u. Both are
# called GRU, but parameters trained for one are wrong for the other. And a plain state can hold
# as much as a gated one, but it is harder to train: Collins et al. 2017.)
#
# Now the decoder. Train a translator with attention, take its parameters, go step by step with
# *your* function, and compare. `decoder_input` shifts the target, and `decoder_parameters` names the
# parameters as you do. (The module multiplies embeddings by 8 = √64, and so does the cell;
# lesson 09 says why.)

# %%
from course_lib.lessons.small_seq2seq import decoder_input, decoder_parameters

attentive = bottleneck.train("additive")  # copies letters; some seconds
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
# ## What has to wait in a training step?
#
# Each step of a recurrent decoder needs the state of the one before. What does that cost in
# training? With teacher forcing the whole target is known. So attention alone could compute
# all its positions at once, because its queries don't wait for each other. A recurrent
# network can't compute them at once, because each state needs the one before.
#
# `sequential_operations` (in `course_lib/lessons/cost.py`) counts PyTorch's operations
# (a product, a sum, a tanh …) in the longest chain in which each waits for the one before.

# %%
from course_lib.lessons import cost

torch.manual_seed(0)
parts = [torch.randn(shape) / 3 for shape in ((8, 24), (8, 24), (24,), (24,))]
for n in (5, 10, 20):
    tokens, state = torch.randn(n, 8, requires_grad=True), torch.zeros(8)
    for token in tokens:
        state = gru_step(token, state, *parts)
    weights = (tokens @ tokens.T).softmax(-1)  # all n positions attend to all n
    waits = [cost.sequential_operations(each) for each in (state, weights)]
    print(f"n = {n:2}: recurrent {waits[0]:3}, attention {waits[1]}, scores {n * n}")

# %% [markdown]
# Attention's chain is equally long for every n, though its *work* grows with n² (lesson
# 04). A recurrent translator's chain runs through the whole source and target, and
# Bahdanau's attention doesn't shorten it, because it is part of a recurrent decoder and waits
# with it. But when it really translates, even the Transformer writes one token after another,
# because each token needs the one before.

# %% [markdown]
# ## Product scores
#
# First, once more Bahdanau's score, $v \cdot \tanh(s W_q + k_j W_k)$.
#
# **Predict:** the state s is 0, the keys are −1, 0 and 1, and all parameters are 1. Which
# key gets the most weight?
#
# - [ ] The key −1.
# - [ ] The key 0: it equals the state.
# - [ ] None: all get the same.
# - [x] The key 1.

# %%
state, keys = torch.zeros(1), torch.tensor([[-1.0], [0.0], [1.0]])
scores = torch.tanh(state + keys).squeeze(-1)
print("scores: ", scores.numpy().round(2))
print("weights:", scores.softmax(dim=-1).numpy().round(2))
assert scores.argmax() == 2

# %% [markdown]
# State and key are added, so similarity is no advantage in itself.
#
# A year later, Luong, Pham and Manning compared other scores. The simplest is the dot
# product of state and key; *general* puts a matrix between them:
#
# $$\text{dot: } s \cdot k_j \qquad \text{general: } (s\,W) \cdot k_j$$

# %% [markdown]
# ### Exercise: luong_score
#
# Return only the scores: the softmax comes later.
#
# <details><summary>Hint 1</summary>
#
# With "general", which of the two does w belong to, so that the sizes fit?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A product with keys wants the query as a column. How do you make one, and what must you
# do with its axis afterwards?
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import luong_score  # exercise

# %%
check(luong_score)

# %% [markdown]
# When copying, our encoder reads a source of, say, 7 letters in both directions, with 64 numbers
# each. The decoder's state has 64 numbers.
#
# **Predict:** can this network use the score *dot*?
#
# - [x] No: 64 numbers meet 128.
# - [ ] Yes: 64 numbers meet 64.
# - [ ] No: one state cannot meet 7 keys.

# %%
torch.manual_seed(0)
state, keys, w = torch.randn(64), torch.randn(7, 128), torch.randn(64, 128)
for kind, matrix in (("dot", None), ("general", w)):
    try:
        scores = luong_score(state, keys, kind, matrix)
        print(f"{kind}: scores of shape {tuple(scores.shape)}")
    except (RuntimeError, ValueError) as error:
        print(f"{kind}: {type(error).__name__}")
with_identity = luong_score(state, keys[:, :64], "general", torch.eye(64))
plain = luong_score(state, keys[:, :64], "dot")
print("dot = general with 1:", torch.allclose(plain, with_identity))
assert keys.shape[-1] == 2 * len(state)

# %% [markdown]
# *dot* needs equal sizes, and state and key must share one space; *general* learns how to
# get from one to the other. With $W = W_q W_k^\mathsf{T}$ it is the score of lesson 02, except
# that Luong's scores are not divided by $\sqrt{d_k}$.

# %% [markdown]
# Luong's decoder also asks at another moment: the *new* state is its query. What would
# that do to our trained network? Compute its weights once more, and let the state *after*
# each step ask.
#
# **Predict:** if the new state is the query, what does each row of weights become?
#
# - [ ] Nearly the same row as before.
# - [x] The row of the next token.
# - [ ] The row of the token before.
# - [ ] A row of nearly equal weights.

# %% tags=["nbval-ignore-output"]
old_weights = alignments.weights(translator, numbers, source, target)
new_weights = alignments.weights_of_new_states(translator, numbers, source, target)
same = {
    "same rows": torch.allclose(new_weights, old_weights, atol=1e-4),
    "rows move up by 1": torch.allclose(new_weights[:-1], old_weights[1:], atol=1e-4),
    "rows move down by 1": torch.allclose(new_weights[1:], old_weights[:-1], atol=1e-4),
}
print(same)
assert same["rows move up by 1"]  # one row early

# %% [markdown]
# The state after step t *is* the state before step t + 1, so it asks the next step's
# question, and each row comes one step early.
#
# In Luong's decoder, the context joins the new state on the way to the output. So in our
# models the recurrence doesn't have to wait for the attention. In the paper's best models
# it does, because with *input feeding* (section 3.3), the next step also reads what came
# out of the attention. Here are both, for 20 tokens:

# %%
from course_lib.lessons import cost

torch.manual_seed(0)
tokens = torch.randn(20, 8, requires_grad=True)
parts = [torch.randn(shape) / 3 for shape in ((16, 24), (8, 24), (24,), (24,))]
w_c = torch.randn(16, 8) / 3


def last_state(input_feeding):
    state, output = torch.zeros(8), torch.zeros(8)
    for token in tokens:
        fed_back = output if input_feeding else torch.zeros(8)
        state = gru_step(torch.cat([token, fed_back]), state, *parts)
        context = luong_score(state, tokens, "dot").softmax(-1) @ tokens
        output = torch.tanh(torch.cat([context, state]) @ w_c)
    return state


# %% [markdown]
# How long is the longest chain of operations, each of which waits for the one before, until the
# last state is known? (`sequential_operations` counts it.)

# %%
waits = [cost.sequential_operations(last_state(fed)) for fed in (False, True)]
print(f"without input feeding {waits[0]}, with input feeding {waits[1]}")
assert waits[1] > waits[0] + 3 * len(tokens)  # the attention waits at each step

# %% [markdown]
# | | Bahdanau et al. | Luong et al. |
# |---|---|---|
# | query | the state before the step | the state after it |
# | the context goes into | the new state and the output | the output (fed back: the next state) |
# | score | $v \cdot \tanh(s W_q + k W_k)$ | a product |

# %% [markdown]
# ## How good is an alignment?
#
# A picture shows one example. A number for many examples compares the weights with the
# links that a person would draw.

# %% [markdown]
# ### Exercise: alignment_mass
#
# For each linked target token, sum its weights on its linked source tokens. English
# *going* comes from both words of Hindi *ja raha* ("is going"): with 0.5 on each, its
# sum is 1. The mean over these target tokens is the **alignment mass**.
#
# <details><summary>Hint 1</summary>
#
# A target token may have several links, as *going* has. Should it count more than others
# because of that?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Add up `weights[target, source]` over all links. How many *different* target tokens do
# the links name?
#
# </details>

# %%
from course_lib.nn.sequence_to_sequence import alignment_mass  # exercise

# %%
check(alignment_mass)

# %% [markdown]
# Here is the mass of the number in the core's last picture, its mean over 30 new numbers
# and, for comparison, the mass if all weights were equal.

# %% tags=["nbval-ignore-output"]
links = numbers.links(source, target)
weights = alignments.weights(translator, numbers, source, target)
even = alignments.uniform_mass(numbers, 30)
measured = alignments.mean_mass(translator, numbers, 30)
print("weights all equal:", round(even, 2))
print("this number:", round(alignment_mass(weights, links), 2))
print("30 new numbers:", round(measured, 2))
assert measured > 0.6  # 0.87 in the trial

# %% [markdown]
# And do sharper weights make better translators? Here are the results of three seeds,
# with 64 numbers in each direction instead of 48
# (`python -m course_lib.experiments alignments`). *none* has no attention, *additive* is
# Bahdanau's decoder, and *multiplicative* Luong's with the score *general*. *Short* and *long*
# are the halves of the 300 new numbers with fewer and with more English words.

# %%
runs = record.read("alignments")
for kind in bottleneck.ATTENTION_KINDS:
    for half in ("short", "long"):
        of_half = runs.values(f"numbers, {kind}, {half}")
        print(f"{kind:14} {half:5} numbers right:", of_half)
for kind in ("additive", "multiplicative"):
    print(f"mass, {kind:14}", runs.values(f"numbers, {kind}, mass"))
assert all(
    min(runs.values(f"numbers, {kind}, mass")) > 0.8
    for kind in ("additive", "multiplicative")
)
assert all(run["numbers, additive, mass"] < 0.88 for run in runs.runs)
assert all(
    run["numbers, none, short"] > run["numbers, none, long"] + 0.1
    and run["numbers, additive, short"] == run["numbers, additive, long"] == 1
    for run in runs.runs
)

# %% [markdown]
# Without attention, longer numbers go wrong more often. *additive* gets every number right, with
# at most 0.873 of its weight on the links. *multiplicative* is sharper in two of three runs
# (0.997), but not better.

# %% [markdown]
# ## Reading one's own letters
#
# When copying (*What gets lost, and why?*), the models have read the letters that they wrote
# themselves. Now let the same models read the right letters instead, with teacher forcing.
# (*additive* is Bahdanau's attention; *multiplicative* has a product as its score.)
#
# **Predict:** without attention, 0.36 of 20 letters are right if the model reads its own.
# What is the share with teacher forcing?
#
# - [ ] Less than that.
# - [ ] About as large.
# - [ ] Larger, but below 0.5.
# - [x] Over 0.5.

# %%
copy_runs = record.read("bottleneck")
for kind in bottleneck.ATTENTION_KINDS:
    forced = [run[f"{kind}, teacher forcing"][-1] for run in copy_runs.runs]
    used = [run[kind][-1] for run in copy_runs.runs]
    print(f"{kind:14} 20 letters: teacher forcing {forced}, its own {used}")
assert all(
    run[f"{kind}, teacher forcing"][-1] >= run[kind][-1]
    for kind in bottleneck.ATTENTION_KINDS
    for run in copy_runs.runs
)
assert all(0.5 < run["none, teacher forcing"][-1] < 0.7 for run in copy_runs.runs)
assert all(run["none"][0] > 0.95 and run["none"][-1] < 0.45 for run in copy_runs.runs)
assert all(0.55 < run["none"][2] < 0.65 for run in copy_runs.runs)  # 12 letters
assert all(min(run["additive"]) > 0.93 for run in copy_runs.runs)
assert all(min(run["multiplicative"]) > 0.75 for run in copy_runs.runs)

# %% [markdown]
# With teacher forcing, an error costs one letter. (The share stops at 0.6, since the
# letters still have to come out of the one vector.) Without it, the next step reads the
# wrong letter. That never happened in training, which is probably why the next letter is often
# wrong as well. The lesson is to measure a model the way it will be used.

# %% [markdown]
# ## Dates
#
# The second task works character by character: dates as written in ten languages (by
# Babel, a Python library) become `YYYY-MM-DD`. A date is right if all ten characters
# are.
#
# **Predict:** which dates does the network without attention get right?
#
# - [x] Most of both, short and long.
# - [ ] Nearly all, short and long.
# - [ ] Short ones; of long ones almost none.
# - [ ] Almost none, short or long.

# %%
runs, halves = record.read("alignments"), ("short", "long")
for kind in bottleneck.ATTENTION_KINDS:
    for half in halves:
        print(f"{kind:14} {half:5} dates right:", runs.values(f"dates, {kind}, {half}"))
short, long = (torch.tensor(runs.values(f"dates, none, {h}")) for h in halves)
assert 0.5 < min(short.min(), long.min()) and max(short.max(), long.max()) < 0.9
assert (short - long).max() < 0.16
assert min(min(runs.values(f"dates, additive, {half}")) for half in halves) > 0.98

# %% [markdown]
# Without attention, about a fifth of the short dates are wrong, and barely more of the
# long ones (with seed 0, 0.15 more are wrong), because a date holds three numbers, however many
# letters it is written with. **In these dates, the length of a source matters less than
# how much of it must be kept.** With additive attention every date is right. And
# *multiplicative* shows why one seed is not enough: after the same 200 steps, one of
# three networks has nearly learned the task, and the other two haven't.
#
# Here are the weights for a date that the network never saw (additive, seed 0; ␣ is a
# space, ¶ the end):

# %%
date, iso = alignments.example("dates")
of_date = torch.tensor(runs.runs[0]["dates, additive, weights"])
down, across = [*iso, "¶"], [*date.replace(" ", "␣"), "¶"]
date_pairs = alignments.date_links(date, iso)

# %%
alt = "The day's 7 attends to the 7, the month to the first letter of its name."
figures.alignment(of_date.numpy(), down, across, date_pairs, alt=alt)

# %% [markdown]
# The day's 7 and the last three digits of the year attend to the same digits in the
# source, though at other positions. Almost no row attends to the weekday, which isn't
# needed. The month is read off the **A**, so how can the network tell April from August?

# %% [markdown]
# > **Which token was used? The weights don't say.** The picture labels its columns with
# > tokens, so it is natural to read it that way. But the decoder attends to *states*. The state
# > at A comes from two units, and the one that reads backwards has been through the whole name. And a hyphen, which comes from nowhere, has to attend
# > somewhere too, because each row sums to 1.

# %%
for kind in ("additive", "multiplicative"):
    print(f"mass, {kind:14}", runs.values(f"dates, {kind}, mass"))
print("weight of the month's digits on A:", of_date[5:7, 9].numpy().round(1))
print("on the weekday at most:", round(of_date[:, :7].sum(dim=-1).max().item(), 2))
masses, accuracies = (
    runs.values(f"dates, multiplicative, {of}") for of in ("mass", "short")
)
assert of_date[[1, 2, 3, 9], [19, 20, 21, 15]].min() > 0.85  # digits found in place
assert masses.index(max(masses)) == accuracies.index(min(accuracies)) == 1

# %% [markdown]
# And a sharper alignment doesn't always mean a better translator: of the three
# *multiplicative* networks, the one with seed 1 has the most weight on the right tokens
# (0.752), but the fewest dates right (0.41 of the short ones).
