# %% [markdown]
# # Inside the heads
#
# **What do heads do?**
#
# After this lesson you can
#
# - measure what a head attends to, and back the name of its role with a number;
# - explain what an induction head is, and how one forms;
# - hold a story about one sentence against more sentences and a baseline;
# - in *Going further*: say what attention weights explain, run a published model on your
#   own functions, follow an answer from vector to vector, and take heads out.
#
# **About 65 minutes, and 105 more in *Going further*.** You need lessons 03, 09 and 11, and the
# data: `attention-course data` gets it (in a clone, `make data`).

# %%
from autograder import check

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads
from course_lib.nn.functional import layer_norm

# %% [markdown]
# ## A question to carry through the lesson
#
# Lesson 01 began with *it*. *The animal didn't cross the street because it was too
# tired*: there, *it* attended to *animal*, with vectors that we had chosen by hand. A
# trained model has chosen its own. Here is what one of them does with this very
# sentence: the weights of all its 72 heads, twelve in each of six layers, the first
# layer on top. **Press a head to open it**, and point at the row of *it*.

# %%
torch.set_num_threads(1)  # the same numbers on each machine
from course_lib import figures
from course_lib.nn.pretrained import SentenceEncoder

encoder = SentenceEncoder.load()
sentence = "The animal didn't cross the street because it was too tired."
tokens = encoder.tokens(sentence)
weights = encoder.weights(sentence)  # (6, 12, 16, 16)

# %%
alt = "Many of the 72 tables have a bright first column, a few have a diagonal."
figures.wall_of_heads(weights.numpy(), tokens, tokens, start=(0, 2, 10), alt=alt)

# %% [markdown]
# Did you find a head in which *it* attends to *animal*? **Does any of these heads do
# what we say heads do?** In popular pictures, heads have names: one follows the syntax,
# another the pronouns. In this lesson, no head gets a name without a number, and you
# will also see where the story fails.

# %% [markdown]
# ## The wall of heads
#
# Whose heads are these? The model is **MiniLM** (Wang et al. 2020), a small encoder of
# the BERT family (Devlin et al. 2019). The version
# [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) was
# trained further, on more than a billion pairs of texts that belong together, so that
# such texts get similar vectors (Reimers and Gurevych 2019). (In *Going further*, it
# runs on your own functions.)
#
# Look at its 72 tables again, one row per query. Many have a bright first column. Which
# token is that?

# %%
print(tokens)

# %% [markdown]
# `[CLS]` and `[SEP]` are **separators**: they mark the beginning and the end, and are not
# words. *didn't* has become three tokens.
#
# **Predict:** over all heads, what share of the words' weight goes to the two separators?
#
# - [ ] About 3 %, far less than their share
# - [ ] About 13 %, their share of the tokens
# - [x] About 50 %, far more than their share

# %%
of_words = weights[:, :, 1:-1].mean(dim=(0, 1, 2))  # per key, a mean over all words
print(f"to the separators: {of_words[[0, -1]].sum():.0%} (2 tokens of {len(tokens)})")
assert 0.45 < of_words[[0, -1]].sum() < 0.52

# %% [markdown]
# Half of it! In BERT, Clark et al. (2019, section 3.2) saw something like it: more than
# half of the weight in its middle layers goes to `[SEP]`. They took it for a way of doing
# nothing: a head must spend a total weight of 1 in each row, and if it finds nothing,
# that weight goes to a token whose value matters little. Is it `[SEP]` in MiniLM, too?

# %%
print({tokens[i]: f"{of_words[i]:.0%}" for i in (0, -1)})
assert of_words[0] > 10 * of_words[-1]

# %% [markdown]
# No, it is `[CLS]`: a finding about one model may not hold for the next. It is common
# that some token collects weight, but *which* one differs. (In language models it is
# usually the very first, called an *attention sink*: [Xiao et al.
# 2024](https://arxiv.org/abs/2309.17453).)

# %% [markdown]
# ## Roles
#
# A wall invites stories. To tell stories from findings, first write down what a head must
# do to earn a name, and then count. Five roles are easy to define: attend to the
# **previous** token, the **next**, the **same**, **separators**, or the **rarest** word
# in the sentence.

# %% [markdown]
# ### Exercise: head_role_scores
#
# For each head, average over the words how much weight goes to each of the five. Leave
# out the rows of the separators.
#
# <details><summary>Hint 1</summary>
#
# Write one head's matrix for [CLS] a b [SEP] on paper, queries down. Which rows count?
# Which of them have a token before them, and in which column is its weight? And without
# [CLS]?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `queries = torch.arange(n)[~is_separator]` are the positions that count, and
# `weights[..., queries, queries]` picks one number for each; neighbours are one column
# away, for those that have one. For separators, sum over columns, before the mean. For
# the rarest, put infinity where separators are, in a new tensor (`torch.where`), before
# `argmin`.
#
# </details>

# %%
from course_lib.nn.head_roles import head_role_scores  # exercise

# %%
check(head_role_scores)

# %% [markdown]
# One sentence proves little. So take 50 test sentences of the translation task, of eight
# words or more; its training part says how frequent each token is. Your function computes
# the mean scores of all heads (`course_lib/experiments/head_roles.py` has the sentences):

# %%
from course_lib.experiments import head_roles, record

scores = head_roles.minilm_roles(head_role_scores)
n_strong = {role: int((of_role > 0.5).sum()) for role, of_role in scores.items()}

# %% [markdown]
# In these sentences, a head with even weights gives 7 % to the previous token. On the
# wall, a head that attends to the previous token has a bright diagonal right below the
# main one. Count those first.
#
# **Predict:** how many of the 72 heads give more than *half* of their weight to the
# previous token?
#
# - [x] One or two
# - [ ] Five to ten
# - [ ] More than twenty

# %%
from course_lib.nn.head_roles import best_heads

recorded = record.read("head_roles").runs
with_even = recorded[0]["minilm, uniform"]
for role, of_role in scores.items():
    at, number, score = best_heads(of_role)[0]
    name = f"layer {at} head {number:2}"
    print(f"{role:9} best: {name} {score:.2f}, even weights {with_even[role]:.2f}")
print("heads above ½:", n_strong)
assert n_strong["previous"] == n_strong["next"] == 1 and n_strong["rarest"] == 0
assert best_heads(scores["previous"])[0][:2] == (0, 2)
assert scores["previous"].max() > 0.99
assert best_heads(scores["next"])[0][:2] == (1, 8) and n_strong["separator"] == 25

# %% [markdown]
# Layers and heads are counted from 0. **Layer 0 head 2** attends to the previous token
# and to nothing else, with weight 1.00. Layer 1 head 8 attends to the next one, with
# 0.70. No other head gives half of its weight to one neighbour; 25 give more than half
# to separators, and none gives much to rare words. On the wall, P, N and S mark the
# heads above ½:

# %%
names = [["" for _ in range(12)] for _ in range(6)]
for role in ("previous", "next", "separator"):
    for layer, head in (scores[role] > 0.5).nonzero().tolist():
        names[layer][head] = role
unnamed = sum(name == "" for row in names for name in row)
assert unnamed > 36

# %%
alt = "One head is marked P, one N, many S from layer 1 on; the others have no role."
figures.wall_of_heads(weights.numpy(), tokens, tokens, roles=names, alt=alt)

# %% [markdown]
# More than half of the heads have no mark: none of the five roles reaches ½ in them.
# What they do, these five words don't say, or only in part. Other models have more heads
# with a role. In BERT, with 144 heads, Clark et al. (2019) found four that give more
# than half of their weight to the previous token, and five to the next; in a translator,
# Voita et al. (2019) found one that prefers rare words.

# %% [markdown]
# ## Induction
#
# So far, we read roles off tables of weights. In small models, one role is *understood*,
# down to the parts that make it (Elhage et al. 2021). Read *a b c d a b*. What comes
# next? Only the sequence itself can say: last time, *b* was followed by *c*. A head that
# finds this out is an **induction head**: it attends from the second *b* to the token
# *after* the first *b*, and copies it.

# %% [markdown]
# ### Exercise: induction_score
#
# A model reads a random sequence twice: a b c d a b c d. In the second half, how much of
# its weight does a head spend on the token after the query's first occurrence?
#
# <details><summary>Hint 1</summary>
#
# Number the eight tokens from 0. At which position is the second a, and at which the
# first b? What about the second d? Which query counts first?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The queries and their keys are two ranges of `period` positions each: where does each
# range begin? `weights[..., queries, keys]`, with both as tensors of positions, picks one
# number per query. `torch.diagonal` does it too, with the last two axes named and the
# first half left out.
#
# </details>

# %%
from course_lib.nn.head_roles import induction_score  # exercise

# %%
check(induction_score)

# %% [markdown]
# Now watch an induction head form. Take two models of *nothing but attention*, causal,
# with rotary positions and two heads per layer, one with two layers, one with a single
# layer. They read random tokens from a vocabulary of 64, in sequences that repeat after 5
# to 16 tokens (`course_lib/experiments/induction.py`). With one period for all of them, a
# head could attend a fixed distance back; as it is, the model has to find the earlier
# occurrence by its token. Both are trained here, for 1,200 steps, in about 20 seconds.

# %%
from course_lib.experiments import induction

models = {n: induction.train(n, seed=0, score=induction_score) for n in (2, 1)}
moments = {n: trained[1] for n, trained in models.items()}
chance_loss = torch.log(torch.tensor(64.0)).item()

# %% [markdown]
# They are tested on sequences of 16 tokens, each read twice. A model that knows nothing
# has a loss of ln 64 = 4.16 nats per token.
#
# **Predict:** what is the loss of the *one*-layer model in the second half?
#
# - [ ] Nearly 0: it knows which token comes next
# - [x] About 2.8: it knows which 16 tokens occur
# - [ ] About 4.2: it knows no more than at first

# %% tags=["nbval-ignore-output"]
for n, trained in moments.items():
    last = trained[-1]
    print(f"{n} layers: second half {last.second:.2f}, induction {last.best.score:.2f}")
ln_16 = torch.log(torch.tensor(16.0)).item()
print(f"ln 16 = {ln_16:.2f}")
assert abs(moments[1][-1].second - ln_16) < 0.3 and moments[1][-1].best.score < 0.15
assert moments[2][-1].second < 0.6 and moments[2][-1].best.score > 0.5
assert moments[2][-1].best.layer == 1

# %% [markdown]
# Both models, over the training: the loss in the second half, as a share of ln 64, and
# the best head's score.

# %% tags=["nbval-ignore-output"]
steps = [moment.step for moment in moments[2]]
drawn = {}
for n, name in ((2, "two layers"), (1, "one layer")):
    drawn[f"loss ÷ ln 64, {name}"] = [each.second / chance_loss for each in moments[n]]
    drawn[f"induction, {name}"] = [each.best.score for each in moments[n]]

# %% tags=["nbval-ignore-output"]
alt = "Two layers: near step 400 the loss drops as the score rises. One layer: no."
figures.curves(steps, drawn, xlabel="step", ylabel="share", alt=alt)

# %% [markdown]
# For 300 steps, both models learn the same thing: what has occurred may occur again.
# Then, within 200 steps, an induction head forms in layer 1, and the loss drops. Olsson
# et al. (2022) saw this sudden drop in models of many sizes.

# %% [markdown]
# Why two layers, then? The query knows which token it is: *b*. The key that it needs,
# *c*, must say "before me came *b*". A token's vector says nothing about its neighbour
# until a head in the layer *before* has written it there: a **previous-token head**. To
# test this story, **close** that head: let it return zeros.
#
# **Predict:** in the two-layer model, close the head in layer 0 that attends most to the
# previous token. The induction heads, in layer 1, stay open. What happens to the loss?
#
# - [ ] It doesn't change
# - [ ] It rises, but stays below 0.5
# - [x] It rises above 1

# %% tags=["nbval-ignore-output"]
model = models[2][0]
previous = best_heads(moments[2][-1].previous)[0]
losses = induction.losses_without_heads(model)
print(
    f"layer {previous.layer} head {previous.head}: previous token {previous.score:.2f}"
)
print(f"loss {moments[2][-1].second:.2f}, without it {losses[0][previous.head]:.2f}")
print(f"without one head of layer 0: {losses[0]}, of layer 1: {losses[1]}")
assert previous.layer == 0 and losses[0][previous.head] > 1
assert losses[0][previous.head] > losses[0][1 - previous.head]
assert min(losses[0] + losses[1]) > 2 * moments[2][-1].second

# %% [markdown]
# The last line is the control: *every* head is missed, so a rise alone proves little.
# But in layer 0 this head is missed most, although its score would hardly have earned a
# name on the wall. Without it, our model did worse even than the one with a single
# layer. Two heads that do together what neither can do alone are a **circuit**.

# %% [markdown]
# ## It
#
# Back to the first question. Take sixteen pairs of sentences like the one about the
# animal. The two sentences of a pair differ in the last word, which fits either the first
# noun or the second. A head is *right* if *it* attends more to the noun that is meant.
# First, layer 3 head 1, and the famous pair (`course_lib/experiments/pronouns.py`):

# %%
from course_lib.experiments import pronouns

animal, (layer, head) = pronouns.PAIRS[0], (3, 1)
tired = pronouns.weights_of_it(encoder, animal, 0)[:, layer, head]
wide = pronouns.weights_of_it(encoder, animal, 1)[:, layer, head]
print(f"… too tired: {tired[0]:.2f} to animal, {tired[1]:.2f} to street")
assert tired[0] > 0.6 and tired[1] < 0.1

# %% [markdown]
# There it is: *it* attends to *animal*, with 0.68.
#
# **Predict:** to which noun does *it* attend more if the street is too *wide*?
#
# - [ ] To the street
# - [x] Still to the animal
# - [ ] To both about the same

# %%
print(f"… too wide: {wide[0]:.2f} to animal, {wide[1]:.2f} to street")
assert wide[0] > 2 * wide[1] and wide[0] < tired[0] / 2

# %% [markdown]
# The head does notice the last word: the weight falls from 0.68 to 0.28. But the animal
# stays ahead. The story would be perfect with the first example alone. In all 32
# sentences, this head is right 19 times, where a coin would be right 16 times.
#
# And the best of all 72 heads, chosen for these very sentences? First the baseline: throw
# 72 coins 32 times each, and take the best; do that a thousand times.

# %%
generator = torch.Generator().manual_seed(0)
heads_up = torch.randint(2, (1000, 72, 32), generator=generator).sum(dim=-1)
best_coins = heads_up.max(dim=-1).values.float()  # the best of 72, a thousand times
print(f"the best of 72 coins: {best_coins.mean():.0f} of 32, on average")
assert 22 < best_coins.mean() < 23.3

# %% [markdown]
# **Predict:** in how many of the 32 is the best head right?
#
# - [ ] At most 20
# - [x] 21 to 26
# - [ ] 27 or more

# %%
asked = record.read("pronouns").runs[0]
print(f"layer 3 head 1: {asked['right'][3][1]}")
at, number = asked["best head"]
right = asked["best right"], asked["best right in both"]
print(f"best, layer {at} head {number}: {right[0]}; both of a pair: {right[1]} of 16")
print("both of a pair, a coin:", 16 // 4, "of 16")
ignoring = asked["right"][0][0], asked["right in both"][0][0]
print(f"any head of layer 0: {ignoring[0]}; both of a pair: {ignoring[1]} of 16")
halves = [half["head"] for half in asked["chosen on half"]]
print("the best on each half of the pairs, layer and head:", halves)
counts = torch.tensor(asked["right"])
assert asked["right"][3][1] == 19 and asked["best head"] == [3, 5]
assert asked["best right"] == 24 and halves == [[3, 5], [3, 5]]
wrong_in_both = 16 + right[1] - right[0]
assert right[1] == 8 and wrong_in_both == 0 and set(counts[0].tolist()) == {16}
assert set(asked["right in both"][0]) == {0}
assert ((counts - 16).abs() <= 1).sum() > 50

# %% [markdown]
# Layer 3 head 5: 24, barely above the best of 72 coins. But a coin doesn't stay the
# best: each half of the pairs, taken alone, chooses this same head. Now for whole pairs.
# A head that ignores the last word takes the same noun in both sentences, so it scores
# exactly 16, with 0 pairs right in both. In layer 0, where *it* has not yet read any
# other word, all twelve heads are like that, and most others stay close to 16. This head
# is right in both of 8 pairs, twice as many as a coin, and wrong in both of none. So it
# notices the last word, but in the other 8 pairs that isn't enough.

# %% [markdown]
# > **Has the model understood what *it* means, then?** One sentence that works makes a
# > good slide. Look at its partner, and at fifteen more pairs. What the model knows about
# > pronouns may be spread over many heads, and over vectors that no weight shows.

# %% [markdown]
# So does any head do what we say heads do? Layer 0 head 2 does: it reads the previous
# token, whatever the sentence. The induction head does, and we know how it is made. For
# *it*, the question that opened the course, no head *of this model* does reliably. It
# was trained to compare sentences. In BERT, Clark et al. (2019, section 4.3) report a
# head that, in 65 % of the cases, attends most to an earlier mention of the same thing.
# The nearest mention would be right in 27 %, and one with the same main word in 52 %:
# they show baselines, too.

# %% [markdown]
# ## In three lines
#
# - Say what a head must do to earn a name, then count: more than half of MiniLM's 72 heads
#   reach ½ in none of our five roles.
# - An induction head is understood: it takes two heads in two layers that work together.
# - Weights say where a head reads. To learn whether that explains anything, you need more
#   than one sentence, and a baseline.
#
# **What you can read now:** Voita et al. (2019); Clark et al. (2019); Michel et al.
# (2019); Olsson et al. (2022); Jain and Wallace (2019); Wiegreffe and Pinter (2019).
#
# **An open question:** every head meets every pair of tokens. What does that cost for a
# whole book? Lesson 14.

# %% [markdown]
# ## Going further
#
# You can skip any section below: no later lesson's core needs it. The first runs the
# published model on your own functions, and the next three follow heads a little longer.
# The three on closing heads are for everybody who wants to know which parts of a model
# are needed. If you read only one, take *Is attention an explanation?*: it is for all who
# show pictures of weights to others. And in the last, your own search engine looks for
# *Something is wrong in this country* in *Hamlet*. What will it find?

# %% [markdown]
# ## A model that others trained
#
# The wall came from a file that anybody can download. Can your own functions run it?
# The file holds a dictionary of names and arrays:

# %%
parameters = encoder.parameters
starts = "embeddings", "encoder.layer.0"
for name in sorted(name for name in parameters if name.startswith(starts)):
    if name.endswith("weight"):
        print(f"{name:50} {tuple(parameters[name].shape)}")
print(f"… {len(parameters)} in all; {encoder.n_layers} layers, {encoder.n_heads} heads")

# %% [markdown]
# The vectors of its 30,522 tokens have d_model = 384 numbers.
#
# Somebody else trained these parameters, and you write the encoder that they fit. Three
# things differ from the encoder of lesson 09: a matrix is stored as (out, in), every
# linear map has a bias, and between the two maps of the feed-forward network there is a
# GELU, a smooth ReLU. Positions are learned, one row each (lesson 05), and each token
# gets the row of its *type*: 0, for the first text.

# %% [markdown]
# ### Exercise: encode_pretrained
#
# Turn token ids into the last layer's vectors.
#
# <details><summary>Hint 1</summary>
#
# Which axis of `encoder.layer.0.intermediate.dense.weight`, of shape (1536, 384), is as
# long as a token's vector? And how do you find out, from the names alone, how many layers
# there are?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two helpers shorten the rest: one applies a linear map by its name, `x @ weight.T +
# bias`, the other a norm by its name, with `layer_norm(…, eps=1e-12)`. The embeddings are
# a sum of three rows (word, position, token_type), then a norm. A layer is twice "the
# norm of x plus the sublayer's result for x"; the norm's name begins like that of its
# sublayer's last linear map. GELU is `nn.functional.gelu`.
#
# </details>

# %%
from course_lib.nn.pretrained import encode_pretrained  # exercise

# %%
check(encode_pretrained)

# %% [markdown]
# The same parameters in PyTorch's own layers (`course_lib/lessons/torch_encoder.py`), and
# the largest difference in the vectors of a sentence:

# %%
from course_lib.lessons.torch_encoder import torch_encode

token_ids, _ = encoder.encode_texts(["Not one of its parameters is ours."])
theirs = torch_encode(token_ids, parameters, encoder.n_heads)
gap = (encode_pretrained(token_ids, parameters, encoder.n_heads) - theirs).abs().max()
print("smaller than 0.00001:", bool(gap < 1e-5))
assert gap < 1e-5 and theirs.shape == (1, token_ids.shape[1], 384)

# %% [markdown]
# A published model is no more than a dictionary of numbers and a program whose formulas
# you know.
#
# What is it good for? To get one vector for a sentence, average its tokens' vectors and
# scale the mean to length 1. Then a dot product is a cosine, and says how similar two
# sentences are. With your encoder:

# %%
short = {
    "pizza": "A man is eating pizza.",
    "slice": "Somebody eats a slice of pizza.",
    "market": "The stock market fell sharply today.",
    "shares": "Share prices dropped.",
    "dog": "The dog bites the man.",
    "man": "The man bites the dog.",
}
alike = encoder.similarities([*short.values()], encode=encode_pretrained)
print(f"pizza and slice: {alike[0, 1]:.2f}, pizza and market: {alike[0, 2]:.2f}")
print(f"market and shares, without a common word: {alike[2, 3]:.2f}")

# %% [markdown]
# So the model puts shares close to stocks, and dropping close to falling.
#
# **Predict:** what is the cosine of *The dog bites the man* and *The man bites the dog*?
#
# - [ ] About 0.4
# - [ ] About 0.7
# - [x] Above 0.9

# %%
negated = encoder.similarities(["The movie was good.", "The movie was not good."])
print(f"dog and man: {alike[4, 5]:.2f}, good and not good: {negated[0, 1]:.2f}")
assert [round(alike[i, i + 1].item(), 2) for i in (0, 2, 4)] == [0.75, 0.61, 0.97]
assert abs(alike[0, 2] - 0.01) < 0.01 and round(negated[0, 1].item(), 2) == 0.80

# %%
alt = "Three pairs stand out from the rest; the pair dog and man is nearly 1."
figures.signed_heatmap(alike.numpy(), [*short], [*short], alt=alt)

# %% [markdown]
# The share prices make it easy to believe that the vector of a sentence holds its
# meaning. But to the vector, it barely matters who bites whom (0.97). And *good* and
# *not good* are closer (0.80) than two ways to say that prices fell (0.61). The model
# was trained to find texts about the same subject.

# %% [markdown]
# ## Verbs, objects and another model
#
# Here are MiniLM's five roles next to the literature (Clark et al.: BERT's 144 heads;
# Voita et al.: a translator's 48):
#
# | role | papers | MiniLM, 72 heads |
# |---|---|---|
# | previous, weight > ½ | 4 heads (Clark) | 1 |
# | next, weight > ½ | 5 heads (Clark) | 1 |
# | separators | over half, middle layers (Clark) | half, all layers |
# | rarest word has the largest weight | one head, 66 % of one corpus's sentences whose rarest is not in the top 500 (Voita) | at most 10 % of the queries |
#
# Voita et al. (2019) call a head **positional** if its largest weight is at one neighbour
# for 90 % of the queries. MiniLM has one.

# %%
largest = recorded[0]["minilm, largest"]["rarest"]
print(f"rarest word, most often: {max(max(row) for row in largest):.0%}")
assert max(max(row) for row in largest) < 0.105
assert recorded[0]["minilm, positional heads"] == 1

# %% [markdown]
# A sixth role has no fixed distance: from a verb to its **object** or **subject**, and
# back. In 96 sentences made for it, adjectives and clauses come in between, so no single
# distance leads to more than a third of the objects or a quarter of the subjects. A head
# is chosen on half of the words and tested on the other half, both ways
# (`course_lib/experiments/syntax_heads.py`).
#
# **Predict:** in how many new sentences does the best head lead from the object to its
# verb (of all words, the verb has the largest weight)?
#
# - [ ] In a third, as the best distance does
# - [ ] In about 60 %
# - [x] In more than 90 %

# %%
syntax = record.read("syntax_heads").runs[0]
for way in ("object to verb", "verb to object", "subject to verb", "verb to subject"):
    of_way = syntax[way]
    both = [of_way[f"share{half}"] for half in ("", ", chosen on odd")]
    by_distance = of_way["distance"]
    print(f"{way:15}: {both[0]:.0%} and {both[1]:.0%}, by distance {by_distance:.0%}")
back = syntax["object to verb"]
assert min(back["share"], back["share, chosen on odd"]) > 0.9
assert back["head"] == back["head, chosen on odd"] and back["head"][0] == 2
assert syntax["subject to verb"]["share"] > 0.8 and min(both) < 0.35

# %% [markdown]
# On both halves, the same head in layer 2 leads from the object to its verb, and a head
# in layer 2 also leads from the subject. The other direction is less certain: what finds
# the subject of four verbs fails with four others. A role that doesn't survive new words
# is no role. In real sentences, BERT's best heads find 87 % of the objects and 59 % of
# the subjects, distances 40 % and 46 % (Clark et al. 2019, table 1); our sentences are
# simpler.

# %% [markdown]
# Now a model that we have known from its first step: the course's translator (lesson 11),
# with two layers of four heads in its encoder, trained with three seeds. Even weights
# would give 6 % to the previous token.
#
# **Predict:** how much does its best previous-token head give?
#
# - [ ] More than 0.5, as in MiniLM
# - [x] Between 0.15 and 0.5
# - [ ] Less than 0.15

# %%
for run in recorded:
    for role in ("previous", "next", "rarest"):
        at, number, score = run["encoder, best"][role][0]
        print(f"seed {run['seed']}, {role:8}: layer {at} head {number}, {score:.2f}")
bests = {role: [run["encoder, best"][role][0] for run in recorded] for role in scores}
assert all(at == 1 and 0.19 < score < 0.33 for at, _, score in bests["previous"])
assert all(score < 0.13 for _, _, score in bests["next"] + bests["rarest"])
assert [run["encoder, positional heads"] for run in recorded] == [0, 0, 0]

# %% [markdown]
# In each run a head in layer 1 leans that way, but *not always the same*: a head's number
# means nothing. None of the eight is positional by Voita's count, and none gives more
# than 0.13 to the next token or to the rarest. Our model is small, its texts are short,
# and it was trained for minutes, so **the papers' sharp roles don't hold at our size.**
# Whether a diagram of heads fits *your* model has to be measured.

# %% [markdown]
# ## More about induction
#
# Would a single layer learn induction if it had more heads? Here are the two models of
# the core again, with twice the steps and three seeds, and a third one: one layer, twice
# as wide, with as many heads as the two-layer model and twice its parameters.

# %%
induced = record.read("induction")
for name in induction.MODELS:
    final_losses = [values[-1] for values in induced.values(f"{name}, second")]
    final_scores = [values[-1] for values in induced.values(f"{name}, induction")]
    n_parameters = induced.median(f"{name}, parameters")
    print(f"{name:14} {n_parameters:,.0f} parameters: second half {final_losses},")
    print(f"               induction {final_scores}")
    is_low, is_high = max(final_losses) < 0.1, min(final_scores) > 0.8
    assert is_low == is_high == (name == "two layers")
assert min(values[-1] for values in induced.values("one wide layer, second")) > 2.5

# %% [markdown]
# Here, more heads side by side don't help.

# %% [markdown]
# And does MiniLM, with its 72 heads, have an induction head? It reads thirty random
# sequences of twelve token ids, each twice. A head that attends to all tokens equally
# scores 1/24 = 0.04.
#
# **Predict:** what does its best head score?
#
# - [x] 0.04: it has no induction head
# - [ ] About 0.3
# - [ ] Above 0.8

# %%
from course_lib.nn.pretrained import encode_with_heads

generator = torch.Generator().manual_seed(0)
of_repeats = []
for _ in range(30):
    repeated = torch.randint(2000, 20_000, (12,), generator=generator).repeat(2)
    of_repeats.append(encode_with_heads(repeated, encoder.parameters, 12)[1])
of_repeats = torch.stack(of_repeats).mean(dim=0)  # (6, 12, 24, 24)
induction_head = best_heads(induction_score(of_repeats, 12))[0]
to_same = of_repeats.diagonal(-12, -2, -1).mean(dim=-1)  # to the first occurrence
same_head = best_heads(to_same)[0]
print(f"best induction score: {induction_head.score:.2f}")
print(f"to the same token: layer {same_head.layer} head {same_head.head},", end=" ")
print(f"{same_head.score:.2f}")
assert induction_head.score < 0.06
assert same_head[:2] == (2, 9) and 0.64 < same_head.score < 0.66

# %% [markdown]
# It has none. It was trained to compare texts, not to say what comes next. But layer 2
# head 9 attends from a token's second occurrence to its first, with 0.65. In a picture
# it would look much like an induction head, whose diagonal is next to it: one position
# is the whole difference.

# %% [markdown]
# ## How the answer gets there
#
# Take the two-layer model of the core. Somewhere in its vectors the next token turns up.
# Where, and when? One way to find out is the **logit lens** (nostalgebraist
# [2020](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens)):
# read the vectors *between* the layers with the last norm and the unembedding, as if the
# model ended there. In GPT-2, its author saw a first guess get better from layer to
# layer.
#
# **Predict:** the loss in the second half is about 0.2 at the end. What is it through the
# lens, before the last layer?
#
# - [x] Above 4.2: the lens reads wrong guesses
# - [ ] About 4.2: it knows nothing yet
# - [ ] About 2.8: the model already knows which 16 tokens occur

# %% tags=["nbval-ignore-output"]
from course_lib.lessons.environment import seeded

with seeded(0):
    test_tokens = induction.draw(200, (16, 16))
through_lens = []
for of_row in model.vectors(test_tokens):  # embeddings, after layer 0, after layer 1
    guesses = model.logits(of_row[:, 16:-1]).mT.detach()
    loss = nn.functional.cross_entropy(guesses, test_tokens[:, 17:])
    through_lens.append(round(loss.item(), 2))
print("embeddings, after layer 0, after layer 1:", through_lens, "nats per token")
assert through_lens[2] < 0.6 and through_lens[1] > chance_loss + 0.3

# %% [markdown]
# Through the lens, the vectors after layer 0 are worse than no knowledge at all. But does
# that mean that layer 0 does nothing for the answer? The lens finds only what is already
# written as the output will read it, at the position where it is needed.

# %% [markdown]
# Whether a vector *matters*, no lens shows. So exchange it: **activation patching** (Vig
# et al. 2020; Meng et al. 2022). Take two inputs, a **clean** one and a **corrupted**
# one, for which the model no longer knows the answer. Run it on the corrupted one, but
# put in, after one layer and at one position, the vector of the clean run. How much of
# the answer comes back?
#
# Say that the answer's log-probability is −0.1 in the clean run, −4.1 in the corrupted,
# and −1.1 with one vector patched:

# %%
clean_score, corrupted_score, patched_score = -0.1, -4.1, -1.1
effect = (patched_score - corrupted_score) / (clean_score - corrupted_score)
print(f"{effect:.2f} of the answer is back")
assert round(effect, 2) == 0.75

# %% [markdown]
# ### Exercise: patching_effects
#
# Compute this share for each layer and position, for any model. It comes as a function
# that runs it with some vectors replaced.
#
# <details><summary>Hint 1</summary>
#
# How often does the model run for 3 layers and 15 positions? Which two of these runs need
# no patch? And how many vectors are replaced in each of the others?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The clean run's vectors have the shape (n_layers, n, d_model): two loops, and in each
# round a new dictionary with one key, `(layer, position)`. The run with it is on the
# *corrupted* inputs. Subtract the corrupted score, and divide by the difference of the
# two runs without patches.
#
# </details>

# %%
from course_lib.nn.patching import patching_effects  # exercise

# %%
check(patching_effects)

# %% [markdown]
# Now the model reads *a b c d e f g h i j*, and then *a b c d e*: next comes *f*. The
# corrupted sequence has another token instead of the *first e*, so nothing says what
# follows *e*.


# %%
def patched_run(token_ids: Tensor, patches: dict) -> tuple[float, Tensor]:
    """Run on all tokens but the last, which is the answer; score it."""
    rows = model.vectors(token_ids[None, :-1], patches)[:, 0]  # (3, 15, 64)
    log_probabilities = model.logits(rows[-1, -1]).log_softmax(dim=-1)
    return log_probabilities[token_ids[-1]].item(), rows


# %% [markdown]
# Before layer 0 only one vector differs, that of the first *e*: there, its patch brings
# back all of the answer.
#
# **Predict:** which vector brings it back *after* layer 0?
#
# - [ ] Still that of the first *e*
# - [x] That of the *f* behind it
# - [ ] That of the second *e*, the last token read

# %% tags=["nbval-ignore-output"]
generator, effects = torch.Generator().manual_seed(0), torch.zeros(3, 15)
for _ in range(20):
    drawn_tokens = torch.randperm(64, generator=generator)[:11]
    clean = torch.cat([drawn_tokens[:10], drawn_tokens[:6]])
    corrupted = clean.clone()
    corrupted[4] = drawn_tokens[10]
    effects += patching_effects(patched_run, clean, corrupted) / 20
print(f"after layer 0: first e {effects[1, 4]:.2f}, f {effects[1, 5]:.2f},", end=" ")
print(f"second e {effects[1, 14]:.2f}")
assert effects[0, 4] > 0.99 and effects[1, 5] > 0.9 and effects[2, 14] > 0.99
assert effects[1, 4].abs() < 0.25 and effects[1, 14].abs() < 0.05

# %% tags=["nbval-ignore-output"]
alt = "The effect is at the first e, after layer 0 at f, after layer 1 at the last e."
stages = ["embeddings", "after layer 0", "after layer 1"]
figures.signed_heatmap(effects.numpy(), stages, [*"abcdefghijabcde"], alt=alt)

# %% [markdown]
# That is the circuit, followed step by step: layer 0 carries *e* to the *f* behind it,
# and layer 1 carries *f* to the second *e*, where the output reads it. At the second *e*,
# where the lens read, nothing of the answer had arrived after layer 0, but one position
# held all of it. (A little is two behind *e*: the previous-token head isn't sharp.)
#
# Three cautions (Heimersheim and Nanda 2024). An effect of 1 says that this vector is
# *enough*; whether it is *needed*, the other direction says: corrupted vectors in the
# clean run. The share depends on the score that you choose. And it holds for the
# difference between these two inputs, no more.

# %% [markdown]
# Now the same in the course's translator (lesson 11). *The door is not available* begins
# with *Die* in German, and *The code is not available* with *Der*: the article stands for
# *The*, but the noun decides which one it is. The clean sentence has the one noun, the
# corrupted one the other. The score is ln p(*Die*) − ln p(*Der*), when nothing has been
# written yet (`course_lib/experiments/patched_translator.py`).
#
# **Predict:** which vector of the encoder brings the right article back, after its last
# layer?
#
# - [ ] That of *The*: its translation is being written
# - [x] That of the noun
# - [ ] That of *The* or that of the noun: half of the answer is in each

# %% tags=["nbval-ignore-output"]
from course_lib.experiments import patched_translator

of_articles, whose = patched_translator.own_or_recorded(patching_effects)
print(whose)
recorded_pairs = record.read("patched_translator").runs[0]
to_the, to_noun = recorded_pairs["effects"][2][:2]
of_nouns = [of_noun[2] for of_noun, _ in recorded_pairs["by pair"]]
print(f"{len(of_nouns)} pairs, after layer 1: The {to_the:.2f}, noun {to_noun:.2f};")
print(f"the noun in single pairs: {min(of_nouns):.2f} to {max(of_nouns):.2f}")
assert to_noun > 0.9 and abs(to_the) < 0.1 and min(of_nouns) > 0.5
assert ["door", "code"] in recorded_pairs["pairs"]

# %% tags=["nbval-ignore-output"]
alt = "The effect is at the noun in all three rows; the others are almost white."
labels = patched_translator.STAGES, patched_translator.TOKENS
figures.signed_heatmap(of_articles.numpy(), *labels, alt=alt)

# %% [markdown]
# That of the noun, in all three rows: more than nine tenths of the answer after the last
# layer, too, and *The* has less than a tenth. In the small model *e* had to move. Here
# nothing has to, because cross-attention can read any position: the decoder takes the
# article from the noun. That fits what *A translator without heads* finds below: with all
# heads of its encoder closed, three quarters of its BLEU are left.

# %% [markdown]
# What doesn't this show? It is one training, and sentences of one form. Of 48 pairs of
# nouns, those count for which the translator chose the right article in both sentences;
# an effect is a mean over both directions. And the noun's vector may have changed on its
# way up: patching says where the answer is, not in which form.

# %% [markdown]
# ## Is a head needed?
#
# A head that does something may still be superfluous: another head may do the same, or
# the result may not depend on it. So take heads away. Each gets a **gate**, a number that
# multiplies its output before `w_o` joins the heads. At 1 nothing changes, at 0 the head
# is **pruned**, and the loss has a gradient with respect to the gate.

# %% [markdown]
# ### Exercise: prune
#
# Write multi-head attention with a gate for each head.
#
# <details><summary>Hint 1</summary>
#
# At which point in multi-head attention do the heads still have an axis of their own?
# Which axis is it, counted from the end?
#
# </details>
# <details><summary>Hint 2</summary>
#
# What `attention` returns first has the shape (…, n_heads, n, d_k), whatever stands for
# the dots: a gate for each head is `gates` with two more axes of length 1 after it. Then
# merge the heads and apply `w_o` as always. `n_heads` is `len(gates)`, and a mask needs
# `for_all_heads`.
#
# </details>

# %%
from course_lib.nn.pruning import prune  # exercise

# %%
check(prune)

# %% [markdown]
# There are three heads with d_k = 4, and head 1 is pruned. For the same output, you could
# set some numbers of w_o to 0.
#
# **Predict:** which ones?
#
# - [x] Rows 4 to 7
# - [ ] Columns 4 to 7
# - [ ] Rows *and* columns 4 to 7, nothing less

# %%
generator = torch.Generator().manual_seed(0)
x = torch.randn(5, 12, generator=generator)
w_q, w_k, w_v, w_o = torch.randn(4, 12, 12, generator=generator)
closed = prune(x, x, w_q, w_k, w_v, w_o, gates=torch.tensor([1.0, 0.0, 1.0]))
same = {}
for name, part in {"rows": slice(4, 8), "columns": (slice(None), slice(4, 8))}.items():
    w_o_changed = w_o.clone()
    w_o_changed[part] = 0.0
    output = prune(x, x, w_q, w_k, w_v, w_o_changed, gates=torch.ones(3))
    same[name] = torch.allclose(output, closed, atol=1e-4)
print("the same, with zeros in w_o's", same)
assert same == {"rows": True, "columns": False}

# %% [markdown]
# A head owns *rows* of w_o (lesson 03). If its output is always 0, you can cut it out:
# its rows of w_o and its columns of w_q, w_k and w_v, which are 4 · 384 · 32 = 49,152
# numbers for a head of MiniLM, without biases. So pruned models become smaller, not only
# sparser.
#
# How bad is it? Close *all 72* heads, so that no token learns of any other.
#
# **Predict:** what is then the cosine of *A man is eating pizza* and *Somebody eats a
# slice of pizza*?
#
# - [ ] Near 0
# - [ ] About half of 0.75
# - [x] At least 0.75

# %%
short = ["A man is eating pizza.", "Somebody eats a slice of pizza."]
short += ["The stock market fell sharply today.", "Share prices dropped."]
gates = torch.ones(encoder.n_layers, encoder.n_heads)
deaf = encoder.gated_vectors(short, 0 * gates)
without = deaf @ deaf.T
print(f"all heads closed: pizza and slice {without[0, 1]:.2f}")
print(f"market and shares {without[2, 3]:.2f}, pizza and market {without[0, 2]:.2f}")
assert without[0, 1] > 0.75 and without[2, 3] > 0.61 and without[0, 2] > 0.4

# %% [markdown]
# Without any attention, both pairs are *more* similar than before! But so is everything
# else: pizza and market had 0.01. What is left is an average of what each word becomes by
# itself, and *shares* and *stock* are similar without any help. Attention is there for
# what depends on *other* words. So test that on eight triples: a sentence, another with
# nearly the same meaning in other words, and a third that shares words but not the
# meaning.

# %%
from course_lib.lessons import sentence_triples

print("\n".join(sentence_triples.TRIPLES[0]))
n_right = {
    "all heads": sentence_triples.count_right(gates),
    "none": sentence_triples.count_right(0 * gates),
}
print("of eight triples right:", n_right)
assert n_right == {"all heads": 6, "none": 2}

# %% [markdown]
# ## What matters, and how to measure it
#
# The loss of a triple is −ln p of the similar sentence, where p is a softmax of 20 times
# the two cosines. Now *which* heads matter? The honest way is **ablation**: close one
# gate at a time, and watch the loss, which takes one run for each head and example.
# (Activation patching, in *How the answer gets there*, puts in a vector from another
# input instead of 0.) The **gradient** with respect to the gates gives all heads a number
# in one run, but it is right only for small changes. Michel et al. (2019) prune by its
# absolute value.

# %% [markdown]
# ### Exercise: head_importance
#
# Compute both, for any model, which comes as two functions.
#
# <details><summary>Hint 1</summary>
#
# A head helps one example and harms another equally. What should its importance by
# gradient be, and what is it if you average first? And in the ablation, what are all
# other gates while one is closed?
#
# </details>
# <details><summary>Hint 2</summary>
#
# By gradient: `gradient_of(gates, example).abs()` for each example, summed and divided by
# `len(examples)`. By ablation: the mean loss with `gates`, once; then, for each index,
# with a *copy* of the gates that has a 0 there, minus the first.
# `gates.flatten().clone()` makes one loop enough for any shape; `reshape(gates.shape)`
# before you call `loss_of`, and for the result.
#
# </details>

# %%
from course_lib.nn.pruning import head_importance  # exercise

# %%
check(head_importance)

# %% [markdown]
# Eight triples, 72 heads: 8 runs for the gradients and 584 for the ablation, which take
# about ten seconds.

# %%
from course_lib.lessons import sentence_triples

gates = torch.ones(encoder.n_layers, encoder.n_heads)
loss_of, gradient_of = sentence_triples.loss_of, sentence_triples.gradient_of
triples = sentence_triples.TRIPLES
by_gradient, by_ablation = head_importance(loss_of, gradient_of, gates, triples)
complete = sentence_triples.mean_loss(gates)

# %% [markdown]
# **Predict:** for how many of the 72 heads does the loss *fall* when that head alone is
# closed?
#
# - [ ] At most five: nearly all help
# - [x] About half: as many help as harm
# - [ ] 60 or more: few are needed

# %%
falls = int((by_ablation < 0).sum())
print(f"loss with all heads {complete:.2f}; it falls without one of {falls} heads")
print(f"changes from {by_ablation.min():+.3f} to {by_ablation.max():+.3f}")
assert 30 < falls < 45 and by_ablation.abs().max() < 0.15

# %% [markdown]
# No single head matters much: others make up for it, or nothing depends on it. **Take
# heads out yourself**: open one and prune it, and the wall shows what happens to the
# loss.

# %%
measured = {"without": (complete + by_ablation).numpy(), "complete": complete}
measured |= {"measure": "loss", "roles": names, "start": (3, 9, 7)}

# %%
alt = "Each head with a bar; without about half of them the loss falls, by little."
figures.wall_of_heads(weights.numpy(), tokens, tokens, **measured, alt=alt)

# %% [markdown]
# Do the two measures agree? Compare their ranks (Spearman's correlation: 1 if both put
# the heads in the same order, 0 if one says nothing about the other):

# %% tags=["nbval-ignore-output"]
from course_lib.experiments.pruned_heads import rank_correlation

mean_gradient = sum(gradient_of(gates, triple) for triple in triples) / len(triples)
flat = by_ablation.flatten()
agreement = {
    "|gradient| and ablation": rank_correlation(by_gradient.flatten(), flat),
    "|gradient| and |ablation|": rank_correlation(by_gradient.flatten(), flat.abs()),
    "−gradient and ablation": rank_correlation(-mean_gradient.flatten(), flat),
}
print(agreement)
assert abs(agreement["|gradient| and ablation"]) < 0.25
assert agreement["|gradient| and |ablation|"] > 0.7
assert agreement["−gradient and ablation"] > 0.9

# %% [markdown]
# > **A large gradient is not a large help.** Its absolute value goes by the name of
# > *importance*, which sounds like help. But it measures how much a head *does*, for better
# > or worse: here it says nothing about whether closing the head raises the loss. With its
# > sign, the mean gradient predicts the order of the ablations nearly perfectly, because
# > there are many heads and each changes little.

# %% [markdown]
# ## A translator without heads
#
# Now the course's translator, with all its 24 heads: 8 in the encoder, 8 in the decoder's
# self-attention, 8 in the cross-attention. We closed more and more heads, without any
# training afterwards, and translated 500 test pairs each time
# (`course_lib/experiments/pruned_heads.py`, three seeds).
#
# **Predict:** if you close all 8 heads of *one* kind, which kind does the translator miss
# least?
#
# - [x] The encoder's
# - [ ] The decoder's own
# - [ ] The cross-attention's

# %%
from course_lib.experiments.pruned_heads import KINDS, VOITA

pruned = record.read("pruned_heads").runs


def curve(run, kind: str, measure: str = "ablation", first: str = "least") -> list:
    """Return BLEU with 0, 1, 2, … heads pruned."""
    asked = {"kind": kind, "measure": measure, "first": first}
    return next(each["bleu"] for each in run["curves"] if asked.items() <= each.items())


for run in pruned:
    without_all = {kind: curve(run, kind)[-1] for kind in KINDS}
    print(f"seed {run['seed']}: BLEU {run['bleu']}, without all heads of", without_all)
assert all(0.74 < curve(run, "encoder")[-1] / run["bleu"] < 0.79 for run in pruned)
assert all(curve(run, "decoder")[-1] < 6 for run in pruned)
assert all(curve(run, "cross")[-1] < 1 for run in pruned)

# %%
alt = "Encoder: BLEU stays near 31 up to six heads. Decoder, cross-attention: it falls."
by_kind = {kind: curve(pruned[0], kind) for kind in KINDS}
figures.curves([*range(9)], by_kind, xlabel="heads pruned", ylabel="BLEU", alt=alt)

# %% [markdown]
# The least important heads, by ablation, were closed first. Without cross-attention
# nothing comes from the source, so there is nothing to translate. Without the encoder's
# *whole self-attention*, three quarters of the score are left: the cross-attention then
# reads words that know nothing of each other, and for our short texts that works quite
# well. In a larger model, too, cross-attention needs its heads most (Michel et al. 2019).

# %% [markdown]
# **Predict:** if you close the *six* heads of 24 that matter most by ablation, how much
# of about 31 BLEU is left?
#
# - [ ] About 25
# - [ ] About 15
# - [x] Less than 3

# %%
for run in pruned:
    for first in ("least", "most"):
        left = {m: curve(run, "all", m, first)[6] for m in ("ablation", "gradient")}
        print(f"seed {run['seed']}, six {first} important heads closed:", left)
assert all(curve(run, "all", "ablation", "most")[6] < 3 for run in pruned)
assert all(curve(run, "all")[6] > 26 for run in pruned)
assert all(curve(run, "all", "gradient")[6] < curve(run, "all")[6] for run in pruned)

# %%
alt = "Least important first, BLEU stays for six heads; most first, it falls at once."
orders = {f"{o} first": curve(pruned[0], "all", first=o) for o in ("least", "most")}
figures.curves([*range(25)], orders, xlabel="heads pruned", ylabel="BLEU", alt=alt)

# %% [markdown]
# *Which* six makes all the difference. And ablation chooses the six least important ones
# better than the gradient does, though only by 0.1 BLEU in one of the three runs.

# %% [markdown]
# Voita et al. (2019) pruned 38 of an encoder's 48 heads, about as large a share as six of
# our eight:

# %%
print("Voita et al.:", VOITA)
lost = [run["bleu"] - curve(run, "encoder")[6] for run in pruned]
print("ours, BLEU lost with 6 of 8 encoder heads closed:", [round(n, 2) for n in lost])
assert (VOITA["pruned"], VOITA["heads"], VOITA["bleu lost"]) == (38, 48, 0.15)
assert lost[0] < 0.1 and all(3 < loss < 6 for loss in lost[1:])

# %% [markdown]
# One of our runs loses as little, the others lose 3.2 and 5.6 BLEU. The comparison isn't
# fair: their gates were *learned* while the model went on training and could get used to
# it, whereas ours were closed afterwards, with nothing to repair the damage.

# %% [markdown]
# ## Is attention an explanation?
#
# The last step leads from a picture to a claim: *this token got much weight, so it is why
# the model said so.* Jain and Wallace (2019) tested that on recurrent models: weights had
# little to do with gradients, and very different weights gave the same result. Their
# title was *Attention is not Explanation*. Wiegreffe and Pinter (2019) answered with
# *Attention is not not Explanation*: weights that the model didn't make prove little
# about those that it did.
#
# Measure it for three sentences. The model's result is the cosine of each with a second
# sentence (`course_lib/experiments/explanation.py`).

# %%
explained = record.read("explanation").runs[0]["sentences"]
for each in explained:
    print(each["sentence"], "|", each["other"], "|", f"{each['cosine']:.2f}")

# %% [markdown]
# How much does each token matter? Three measures: the **weights** that it gets, a mean
# over all heads; the **gradient** for its embedding; what changes if it is **left out**.
#
# **Predict:** over the words of a sentence, how do weights and gradients correlate, by
# ranks?
#
# - [x] Above 0.6 each time
# - [ ] Between 0.3 and 0.6
# - [ ] Below 0.3 each time

# %%
for pair in ("weights, gradients", "weights, left out", "gradients, left out"):
    print(
        f"{pair:20}", [round(each["rank correlations"][pair], 2) for each in explained]
    )
correlations = [each["rank correlations"] for each in explained]
assert all(0.7 < each["weights, gradients"] < 0.95 for each in correlations)
assert all(each["weights, left out"] > 0.5 for each in correlations)
assert min(each["gradients, left out"] for each in correlations) < 0.5

# %% [markdown]
# Four words from the first sentence, each measure as a share of its largest value:

# %%
film = explained[0]
positions = [i for i, token in enumerate(film["tokens"]) if len(token) > 3][1:-1]
words = [film["tokens"][i] for i in positions]
measures = {
    name: [film[name][i] / max(film[name][1:-1]) for i in positions]
    for name in ("weights", "gradients", "left out")
}
assert words == ["film", "long", "acting", "wonderful"]
share_axis = {"xlabel": "share of the largest"}

# %%
alt = "Weights and gradients are largest for acting; left out, wonderful matters most."
figures.bars(words, measures, **share_axis, alt=alt)

# %% [markdown]
# So what Jain and Wallace found doesn't hold for this model and these sentences: in the
# first, weights agree with gradients as well as leaving a word out does, in the others
# much better. But the separators didn't count, although they get *half of all weight*.
# What if nothing may attend to `[CLS]`?

# %%
for each in explained:
    to_separators = each["weights of special tokens"]
    of_cls, of_word = each["left out"][0], max(each["left out"][1:-1])
    print(
        f"weight {to_separators:.2f}; the cosine changes by {of_cls:.2f} without [CLS],"
    )
    print(f"    by {of_word:.2f} without the word that matters most")
assert all(0.49 <= each["weights of special tokens"] <= 0.5 for each in explained)
assert explained[2]["left out"][0] > 2 * max(explained[2]["left out"][1:-1])

# %% [markdown]
# So not even "separators do nothing" always holds: in the third sentence `[CLS]` matters
# twice as much as any word.

# %% [markdown]
# And other weights? Replace each head's by 1/n, in the last layer only or in all six.
#
# **Predict:** the first sentence's cosine is 0.60. What is it with even weights in the
# *last* layer?
#
# - [ ] About 0.3: half of it is lost
# - [x] About 0.5: a small part is lost
# - [ ] Above 0.7: even weights are better

# %%
changed = {"last layer": " in the last layer", "all layers": ""}
for each in explained:
    even = {k: each["cosine with even weights" + name] for k, name in changed.items()}
    print(f"cosine {each['cosine']:.2f}; even weights:", even)
ratios = {
    k: [each["cosine with even weights" + name] / each["cosine"] for each in explained]
    for k, name in changed.items()
}
assert 0.7 < min(ratios["last layer"]) < max(ratios["last layer"]) < 1.02
assert 0.2 < min(ratios["all layers"]) < max(ratios["all layers"]) < 0.67

# %% [markdown]
# In the last layer, even weights cost nothing in one sentence, and little more than a
# quarter of the cosine at most, so a picture of *that* layer explains little. In all
# layers they cost over a third in one sentence and over three quarters in another.
# Wiegreffe and Pinter ask for more: they fix even weights and *train* the model with
# them, whereas ours were put into a finished one. If such a model does as well, weights
# cannot explain anything.
#
# Weights say exactly where a head *reads* from. They don't say what the vector there had
# become by then, or whether it mattered: for that, patch it (*How the answer gets there*).
# So show the baseline, too.

# %% [markdown]
# ## Your own search engine
#
# Everything comes together: MiniLM on *your* encoder searches *Hamlet*, by meaning and
# not by words, and your functions say what its heads do with your question, and which
# heads produce the result. (If one is not ready, the list says so, and the course's own
# is used.)

# %%
from course_lib.lessons.own_functions import INSIDE_THE_HEADS, own_functions

mine = own_functions(globals(), INSIDE_THE_HEADS)
gates = torch.ones(encoder.n_layers, encoder.n_heads)

# %% [markdown]
# The first 1,000 lines of six words or more become 1,000 vectors, in about ten seconds:

# %%
from course_lib.corpora.plays import plays

lines = [line.strip() for line in plays()["hamlet"].splitlines() if "*" not in line]
lines = [line for line in dict.fromkeys(lines) if len(line.split()) > 5][:1000]
encode = mine["encode_pretrained"]
batches = [lines[i : i + 50] for i in range(0, 1000, 50)]
vectors = torch.cat([encoder.sentence_vectors(each, encode=encode) for each in batches])

# %% [markdown]
# <span class="in-notebook">Change the question, and run the cells from here on again.
# (*It is cold outside*? *I saw a ghost last night*?)</span>

# %% tags=["nbval-ignore-output"]
question = "Something is wrong in this country."
cosines = vectors @ encoder.sentence_vectors([question], encode=encode)[0]
hits = cosines.topk(3).indices.tolist()
for i in hits:
    print(f"{cosines[i]:.2f}  {lines[i]}")

# %% [markdown]
# Which heads produce the first hit? The loss is its distance, 1 − cosine:


# %%
def distance(gates: Tensor, pair: Sequence[str]) -> Tensor:
    """Return 1 − the cosine of two texts."""
    one, other = encoder.gated_vectors(pair, gates)
    return 1 - one @ other


def slope(gates: Tensor, pair: Sequence[str]) -> Tensor:
    """Return the distance's gradient with respect to the gates."""
    gates = gates.clone().requires_grad_()
    return torch.autograd.grad(distance(gates, pair), gates)[0]


# %% tags=["nbval-ignore-output"]
pair = question, lines[hits[0]]
with torch.no_grad():
    before = distance(gates, pair).item()
slopes, changes = mine["head_importance"](
    lambda gates, pair: distance(gates, pair).item(), slope, gates, [pair]
)
for at, number, change in best_heads(changes, 3):
    print(f"layer {at} head {number}: without it the distance grows by {change:.3f}")

# %% [markdown]
# And their roles, in this one sentence (with equal frequencies, so *rarest* says
# nothing):

# %% tags=["nbval-ignore-output"]
asked_tokens, asked_weights = encoder.tokens(question), encoder.weights(question)
is_separator = torch.tensor([token in ("[CLS]", "[SEP]") for token in asked_tokens])
equal = torch.ones(len(asked_tokens))
of_question = mine["head_role_scores"](asked_weights, is_separator, equal)
marked = [["" for _ in range(12)] for _ in range(6)]
for role in ("previous", "next", "same", "separator"):
    for at, number in (of_question[role] > 0.5).nonzero().tolist():
        marked[at][number] = role
options = {"roles": marked, "complete": before, "measure": "distance"}
options["without"] = before + changes.numpy()

# %% tags=["nbval-ignore-output"]
alt = "The 72 heads for your question: their roles, and the distance without each."
figures.wall_of_heads(asked_weights.numpy(), *[asked_tokens] * 2, **options, alt=alt)
