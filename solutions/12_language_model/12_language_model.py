# %% [markdown]
# # A language model
#
# **What changes when only the decoder is left?**
#
# After this lesson you can
#
# - say what of a translator a language model needs, and turn a text into batches;
# - measure a language model in bits per byte, and compare it with counts and a compressor;
# - generate text from logits, with temperature, top-k, top-p and a draw;
# - in *Going further*: filter the candidates yourself, build the block used in today's
#   models, and say what each change since 2017 buys.
#
# **About 75 minutes, and 100 more in *Going further*.** You need lessons 05 to 07 and 09 to 11,
# and the data: `attention-course data` gets it (in a clone, `make data`).

# %%
from autograder import check

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.attention import attention

# %% [markdown]
# ## A question to carry through the lesson
#
# A translator writes a text that says the same as its source. Take the source away, and
# only one question is left: *what comes next?* A model that answers it, token after
# token, is a **language model**. Here is a tiny one. In three seconds it learns, word by
# word, from 1,167 short messages of the kind that programs print.

# %%
torch.set_num_threads(1)  # the fastest for models as small as ours
from course_lib import figures
from course_lib.lessons import small_language_model as messages

words, learned_from = messages.short_messages()
next_word = messages.train_on_messages(learned_from, len(words))

# %% [markdown]
# A message begins with *failed to*, and the bars are the model's guesses at the next
# word. **Choose a word to continue with, and move the temperature from one end to the
# other.** When do the messages turn into nonsense?

# %%
begun = [messages.START_ID, words.index("failed"), words.index("to")]
asked = messages.record_contexts(next_word, begun, messages.END_ID, 40, 9)

# %% tags=["nbval-ignore-output"]
alt = "After failed to, the likeliest words are set, connect and update."
figures.next_token(asked, words, begun, end_id=messages.END_ID, alt=alt)

# %% [markdown]
# At 0.1, one or two words get nearly everything, and the messages are stock phrases such
# as *failed to connect to device*. At 2 the bars are much more even, and one message that
# we drew was *failed to setpoint name*.
#
# At heart, GPT is the same thing, only much larger. A language model needs no pairs of
# texts, so anything ever written can teach it. We take Shakespeare.
#
# **How much of the Transformer does a language model need, and how well can it guess?**
# By the end of the core, your own functions will write a speech for Hamlet.

# %% [markdown]
# ## Only the decoder
#
# A language model has no source, so it has no encoder and no cross-attention either. In
# the map, what reads a source is grey. (What you will write yourself is lit; part of it
# comes in *Going further*.)

# %%
alt = "The encoder and the decoder's cross-attention are grey: there is no source."
figures.lesson_map("12", alt=alt)

# %% [markdown]
# What is left of a decoder layer is self-attention with a causal mask and a feed-forward
# network. An *encoder's* layer with a causal mask computes the same (*Going further*, *The
# same layer twice*, tries it), so "decoder-only" and "encoder with a causal mask" are two
# names for the same layers. What makes them a language model is the mask, and what they
# are trained to predict.

# %% [markdown]
# ## One long sequence
#
# There are no pairs now, so what is an example? Take eight plays, one after another, as
# **one sequence** of token ids. The tokens are bytes and merges of bytes, as in lesson
# 06, 512 in all. The first 1,000 lines of a ninth play, *The Tempest*, are held out.
# (`course_lib/lessons/eight_plays.py`.)

# %%
from course_lib.lessons import eight_plays

texts = eight_plays.texts()
tokenizer = texts.tokenizer()
token_ids = torch.tensor(tokenizer.encode(texts.training))
held_out = torch.tensor(tokenizer.encode(texts.held_out))
start = texts.training.index("**HAMLET**\nTo be, or")
print(texts.training[start : start + 217])
print(f"{len(texts.training):,} characters, {len(token_ids):,} tokens")

# %% [markdown]
# Cut **windows** out of this sequence at random positions. A window of n tokens holds n
# predictions: the causal mask lets position i see only the tokens 0 … i, and its
# **target** is token i + 1. So the targets are the same window, one position later. In
# lesson 09, a start token shifted the target; here none is needed: the first token of a
# window is only read, never predicted.

# %% [markdown]
# ### Exercise: language_model_batch
#
# Cut windows out of a sequence, with their targets. Windows may overlap, and you only get
# starts at which the window and its last target fit.
#
# <details><summary>Hint 1</summary>
#
# Write the text 10, 11, 12, 13, 14 on paper, with `length` 2 and a start of 2. Which
# two tokens are read, which two are predicted, and which is the largest start that
# still works?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `starts.unsqueeze(-1) + torch.arange(length)` are the positions of all input tokens,
# `(batch, length)`, and a tensor of positions may index `token_ids`. The targets are one
# position further on.
#
# </details>

# %%
from course_lib.nn.language_data import language_model_batch  # exercise

# %%
check(language_model_batch)

# %% [markdown]
# Your function turns any text into examples. Here is one window of nine tokens. Each
# column is a prediction: from its upper token *and all before it* to its lower one. (␣ is
# a space; below, ↵ is the end of a line.)

# %%
line = torch.tensor(tokenizer.encode("To be, or not to be, that is the question"))
pair = language_model_batch(line, 9, torch.tensor([0]))
names = eight_plays.readable(tokenizer)
upper, lower = ([names[i] for i in ids[0].tolist()] for ids in pair)

# %%
alt = "Two rows of nine tokens; the second row is the first, one token later."
boxes = {"reads": upper, "predicts": lower}
figures.token_boxes(boxes, in_columns=True, alt=alt)

# %% [markdown]
# ## Bits per byte
#
# How good is a language model? Its loss is the mean of −ln p of each true token (lesson
# 10). But it is usually reported in one of two other forms:
#
# - **perplexity** is $e^{\text{loss}}$: a model with perplexity 30 is as unsure as if it had to
#   guess among 30 equally probable tokens;
# - **bits**: −log₂ p, the loss (in *nats*, units of the natural logarithm) divided by
#   ln 2. A token with probability ⅛ costs 3 bits.
#
# Both count per *token*, and what a token is depends on the tokenizer. To see what that
# does, take nearly the simplest model there is, with three vocabularies: the
# **unigram**, which knows only how frequent each token is.


# %%
def unigram_losses(tokenizer) -> Tensor:
    """Return −ln p of each held-out token; p from counts in the eight plays."""
    counted = torch.tensor(tokenizer.encode(texts.training))
    tokens = torch.tensor(tokenizer.encode(texts.held_out))
    counts = counted.bincount(minlength=len(tokenizer.vocabulary)) + 1  # none is 0
    return -(counts / counts.sum()).log()[tokens]


unigrams = {size: unigram_losses(texts.tokenizer(size)) for size in (256, 512, 2048)}
perplexities = {size: loss.mean().exp().item() for size, loss in unigrams.items()}
print("perplexity with 256 tokens, which are bytes:", round(perplexities[256]))

# %% [markdown]
# ### Exercise: bits_per_byte
#
# Sum up what the model pays for the whole text, in bits, and divide by the text's length
# in bytes.
#
# <details><summary>Hint 1</summary>
#
# PyTorch's losses are natural logarithms. Is one nat more than one bit, or less? And
# which does not depend on the vocabulary: how many tokens a text has, or how many bytes?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `len(text)` counts characters; `text.encode()` is the text in UTF-8, with a length of
# its own. Sum all losses, whatever their shape, divide twice, and return a float.
#
# </details>

# %%
from course_lib.nn.language_data import bits_per_byte  # exercise

# %%
check(bits_per_byte)

# %% [markdown]
# **Predict:** how does the unigram of 2,048 tokens compare with the one of 256?
#
# - [x] Higher perplexity, fewer bits per byte
# - [ ] Higher perplexity, more bits per byte
# - [ ] Lower perplexity, fewer bits per byte

# %%
of_unigrams = {}
for size, losses in unigrams.items():
    of_unigrams[size] = bits_per_byte(losses, texts.held_out)
    print(
        f"{size:5} tokens: perplexity {perplexities[size]:3.0f},"
        f" {of_unigrams[size]:.2f} bits per byte"
    )
assert perplexities[256] < 30 < 400 < perplexities[2048]
assert of_unigrams[2048] < 3.5 < 4.8 < of_unigrams[256]

# %% [markdown]
# > **A lower perplexity is not always a better model.** It is, as long as the tokenizer stays
# > the same. But here the model with fifteen times the perplexity needs 1.4 bits *less*
# > for each byte. Its tokens are longer, so each is harder to guess; on the other hand, a
# > token of several letters *contains* which letter follows which, and a unigram of bytes
# > cannot know that. Bytes are the same for everybody.
#
# Files are measured in bytes too, so bits per byte let you compare a model even with a
# compressor: how many bits does the compressed file have for each byte of the text?

# %% [markdown]
# ## Trained before your eyes
#
# You have examples to train on and a measure to judge by; now for a model. It is a
# decoder of the kind built today (`LanguageModel`; its parts are in *Going further*),
# but very small: two layers, d_model 64, windows of 64 tokens (`n_positions`), and four
# heads of queries that share two of keys (`n_kv_heads`, also in *Going further*). The
# loop is the one of lesson 07, with your batches. The learning rate rises and falls, as
# in lesson 10 (`OneCycleLR`).

# %%
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig

small = {"d_model": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2}
config = LanguageModelConfig(512, **small, n_positions=64)
torch.manual_seed(0)
model = LanguageModel(config, device="cpu")
print(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters")
adam = torch.optim.AdamW(model.parameters(), lr=0.005, betas=(0.9, 0.99))
schedule = torch.optim.lr_scheduler.OneCycleLR(adam, 0.005, 900, pct_start=0.1)

# %% [markdown]
# The training takes about 20 seconds, more on a busy machine. The first loss should be
# near ln 512 = 6.24. Each line is the loss of a single batch of 16 windows, so it may
# also rise a little from one line to the next:

# %% tags=["nbval-ignore-output"]
training_losses = []
for step in range(900):
    starts = torch.randint(len(token_ids) - config.n_positions, (16,))
    reads, targets = language_model_batch(token_ids, config.n_positions, starts)
    logits = model(reads)  # (16, 64, 512)
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    adam.zero_grad()
    loss.backward()
    adam.step()
    schedule.step()
    training_losses.append(loss.item())
    if step == 0 or step % 100 == 99:
        print(f"step {step + 1:3}: loss {loss.item():.2f}")
assert abs(training_losses[0] - math.log(512)) < 0.1 and training_losses[-1] < 3.6

# %% [markdown]
# Now for the held-out lines, which the model has never read. A token at the start of a
# window has little context to be predicted from, so the windows overlap by half, and only
# their second halves count, but for the first one (`eight_plays.token_losses`).
#
# What does the model have to beat? Counts: a **bigram** predicts a token from the one
# before it, by how often each token came after it in the eight plays; a **trigram** does
# so from the two before. (`course_lib/n_grams.py` mixes in shorter contexts, so that no
# token has probability 0: *Going further*.)

# %%
from course_lib.fast_n_grams import n_gram_losses

of_n = torch.tensor(n_gram_losses(token_ids, held_out, 3, 512))[:, 1:]
held_out_losses = {"bigrams": of_n[1], "trigrams": of_n[2]}
held_out_losses["model"] = eight_plays.token_losses(model, held_out)
predicted_text = tokenizer.decode(held_out[1:].tolist())  # nothing predicts the first

# %% [markdown]
# Nothing above gives the answer to this one: it is a bet.
#
# **Predict:** how do these 900 steps compare with the counts?
#
# - [ ] Worse than bigrams
# - [x] Better than bigrams, worse than trigrams
# - [ ] Better than trigrams

# %% tags=["nbval-ignore-output"]
compared = {}
for name, losses in held_out_losses.items():
    compared[name] = bits_per_byte(losses, predicted_text)
    print(f"{name:8} {compared[name]:.2f} bits per byte")
assert compared["trigrams"] + 0.03 < compared["model"] < compared["bigrams"] - 0.1
assert round(900 * 16 * 64 / len(token_ids), 1) == 1.5  # times that a token was read

# %% [markdown]
# A Transformer with 122,000 parameters loses to counts of the two tokens before! But
# counts of these eight plays are at their limit: most contexts of three tokens occurred
# once or never, so 4-grams do worse than trigrams (*Going further* shows it). Counts
# would need more plays. The model has read each token only one and a half times on
# average, and it can grow. Before it does, let it speak.

# %% [markdown]
# ## From logits to text
#
# The model gives logits for what may come next. How do they become a text? Lesson 11
# **greedily** took the likeliest token. Let the model write 300 tokens like that after
# *HAMLET*:


# %%
@torch.no_grad()
def next_logits(ids: Sequence[int]) -> Tensor:
    """Return the logits (512) of what may come next; the last 64 tokens are read."""
    return model.eval()(torch.tensor([[*ids][-config.n_positions :]]))[0, -1]


greedy = tokenizer.encode("\n**HAMLET**\n")
for _ in range(300):
    greedy.append(int(next_logits(greedy).argmax()))

# %% [markdown]
# Take every four tokens in a row. They count as repeated if the same four stood earlier
# in the text.
#
# **Predict:** how many of the greedy text's fours are repeated?
#
# - [ ] About 10 %
# - [ ] About 30 %
# - [x] More than half

# %% tags=["nbval-ignore-output"]
print(tokenizer.decode(greedy)[:230])
repeated, n = eight_plays.repeated_share(greedy), len(greedy)
parts = [held_out[i : i + n].tolist() for i in range(0, 12_000, n)]
in_the_play = sum(map(eight_plays.repeated_share, parts)) / len(parts)
print(f"…\nrepeated: {repeated:.0%}; in pieces of The Tempest: {in_the_play:.0%}")
assert repeated > 0.5  # 0.83 when the course was made
assert 0.02 < in_the_play < 0.12

# %% [markdown]
# It goes round in circles, because what was likely once is likely again, all the more
# so as the model reads its own words. A translation is pinned down by its source. Here
# nothing pins the text down, so language models **draw** the next token. The softmax of
# the logits says how often each should come up, but there are three ways to change these
# probabilities before the draw.
#
# One is a **temperature** T that divides the logits: softmax(logits / T).

# %% [markdown]
# Two tokens have the probabilities 0.8 and 0.2. (Logarithms of the probabilities will do
# as logits: softmax gives the probabilities back.)
#
# **Predict:** what is the probability of the first at temperature ½?
#
# - [ ] 0.67
# - [ ] 0.8
# - [ ] 0.9
# - [x] 0.94

# %%
both = torch.tensor([0.8, 0.2])
print((both.log() / 0.5).softmax(dim=-1))
print(both**2 / (both**2).sum())

# %% [markdown]
# Dividing a logarithm by ½ doubles it, so the probabilities are squared and then divided
# by their sum: odds of 4 to 1 become 16 to 1.

# %% [markdown]
# ### Exercise: apply_temperature
#
# Return the softmax of logits / T. Nothing may overflow, and T = 0 means the largest
# logit.
#
# <details><summary>Hint 1</summary>
#
# What is 10,000 / 10⁻³⁶ in float32, and what is ∞ − ∞? What does the docstring say about
# T = 0?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Treat T = 0 first, with a return of its own: `argmax(dim=-1)` is the first of the
# largest logits, and `functional.one_hot` makes a row of zeros and a one of it (mind its
# dtype). For any other T, subtract each row's maximum *before* you divide; `softmax`
# along the last axis does the rest.
#
# </details>

# %%
from course_lib.nn.sampling import apply_temperature  # exercise

# %%
check(apply_temperature)

# %% [markdown]
# At each step, hundreds of tokens each have a tiny probability, but together a
# considerable one. Draw often enough, and one of them comes up. Two filters take them
# out:
#
# - **top-k** keeps only the k most probable tokens;
# - **top-p**, also called *nucleus sampling* (Holtzman et al. 2020), counts probability
#   instead of tokens: it keeps the most probable ones until together they have at least
#   probability p.
#
# What is left is divided by its sum. Of 0.4, 0.3, 0.2 and 0.1, top-k with k = 3 keeps
# three, and top-p with p = 0.6 keeps two. When a model is sure of the next token, top-p
# leaves few; when it is unsure, many. (Both are exercises in *Going further*.)

# %% [markdown]
# ## The draw
#
# What is left to do is to draw. A test must know which token is right, so a function
# that draws cannot make its own random number: u, at least 0 and below 1, comes in as
# an argument. Lay the tokens' probabilities end to end on a line of length 1, and see
# whose stretch u falls on.

# %% [markdown]
# ### Exercise: sample
#
# Draw one token per row, with one u per row.
#
# <details><summary>Hint 1</summary>
#
# The probabilities are 1/2, 0, 1/2. Where on the line does each stretch begin and end?
# Which token should come for u = 1/2, and which comparison, `<` or `<=`, says so?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `cumsum(dim=-1)` gives the ends of the stretches, and the token id is the number of ends
# at `u.unsqueeze(-1)` or before it. If rounding leaves the last end below 1, a u may lie
# beyond it, and the count is then no token's id: divide the ends by the last one first,
# in float64.
#
# </details>

# %%
from course_lib.nn.sampling import sample  # exercise

# %%
check(sample)

# %% [markdown]
# Here are temperature, top-k, top-p and the draw together, on the logits of the model
# that you have trained. **Move the sliders, and choose tokens to continue with.** What
# comes after *I*, at temperature 0.5 and at 2?

# %%
from course_lib.nn import sampling

hamlet = tokenizer.encode("\n**HAMLET**\nI")
contexts = messages.record_contexts(
    lambda ids: next_logits(ids).numpy(), hamlet, None, 40, 16
)

# %% tags=["nbval-ignore-output"]
alt = "After Hamlet's I, at most 40 tokens can be drawn, and none is far ahead."
figures.next_token(contexts, names, hamlet, top_k=40, top_p=0.9, alt=alt)

# %% [markdown]
# At 0.5, more than half of the draws go to five tokens (*I am*, *If*, *It*, *I'll* and *I
# will*, when the course was made); at 2, no token stands out.

# %% [markdown]
# ## What a longer training reaches
#
# Your model lost to counts. Does a larger one do better, with more plays and a longer
# training? `python -m course_lib.nn.train --task language` trains one on 36 plays, with a
# vocabulary of 1,024 tokens, and measures it on the whole of *The Tempest*. You don't have
# to wait for it: the results of three seeds are stored with the course. Here is the
# median, next to counts of the same 36 plays and the compressor `xz`, which had them too.

# %%
from course_lib.experiments import record

runs = record.read("language_model")
one_run, of_training = runs.runs[0], runs.median("bits_per_byte")
_, bigrams, trigrams = one_run["n_grams"]["tokens"]
bits_of = {"bigrams": bigrams, "trigrams": trigrams, "Transformer": of_training}
bits_of["xz"] = one_run["xz"]["after training"]
print({name: round(bits, 1) for name, bits in bits_of.items()}, "bits per byte")
minutes = runs.median("seconds") / 60
print(f"{one_run['parameters']:,} parameters, {minutes:.0f} minutes on one core")
assert [round(bits, 1) for bits in bits_of.values()] == [2.6, 2.3, 2.2, 2.5]
assert max(runs.values("bits_per_byte")) < trigrams
assert trigrams == one_run["best_n_gram"]["bits_per_byte"]
assert 4 < one_run["parameters"] / 122_176 < 5
assert 3 < one_run["steps"] * 512 / (900 * 16 * 64) < 4  # tokens read, times

# %% [markdown]
# All three runs are ahead of the best counts, the trigrams, and of `xz`. Compared with
# your small model, that took four times as many parameters, 36 plays instead of eight,
# and three times as many tokens read. (Which of the three helped most, these results don't say, and your
# small model was judged on the first thousand lines of *The Tempest* alone.)
#
# And what does it write? Here are the first three samples from the first seed, each cut
# after 40 tokens, at temperature 1 and p = 0.9. (/ is the end of a line.)

# %%
samples = [each["text"].strip().replace("\n", " / ") for each in one_run["samples"]]
print(*samples[:3], sep="\n")
assert len(samples) == 20

# %% [markdown]
# You can write with this model too. **Type a beginning, and let it write on.** Point at a
# token to see whom it attends to, in every head; below, the cache fills.
# <span class="in-notebook">(Your own `sample` draws, and once you have written it, your
# `top_p_filter` cuts. Where `make models` has not been run, you see a stored example
# alone.)</span>

# %% tags=["nbval-ignore-output"]
from course_lib.lessons import own_words

alt = "After Juliet's I love, the likeliest next tokens are you and thee."
figures.next_token(**own_words.next_token_example(globals()), alt=alt)

# %% [markdown]
# ## A speech of your own
#
# Now it is your turn. Batches, bits, temperature and the draw are your functions, and
# the model learned before your eyes. (In *Going further*, under *The model, from your
# functions*, the whole model is built from them.) The random numbers come from a
# generator with a seed, so the same seed gives the same speech.


# %%
def write(speaker: str, seed: int, temperature=1.0, k=512, p=1.0, n_tokens=60) -> str:
    """Return a speech: the speaker's name and n_tokens more."""
    generator = torch.Generator().manual_seed(seed)
    ids = tokenizer.encode(f"\n**{speaker}**\n")
    for _ in range(n_tokens):
        probabilities = apply_temperature(next_logits(ids), temperature)
        probabilities = sampling.top_k_filter(probabilities, k)
        probabilities = sampling.top_p_filter(probabilities, p)
        u = torch.rand((), generator=generator, dtype=torch.float64)
        ids.append(int(sample(probabilities, u)))
    return tokenizer.decode(ids)


# %% [markdown]
# <span class="in-notebook">**Change the speaker, the seed and the three settings** until a
# speech pleases you:</span>

# %% tags=["nbval-ignore-output"]
print(write("HAMLET", seed=7, temperature=0.6, k=40, p=0.95))

# %% [markdown]
# Back to the question from the start. A language model needs only the decoder, without
# cross-attention. How well can it guess? After four minutes on one core, the larger one
# needs 2.2 bits for each byte of a play that it never read, where the best counts need
# 2.3 and `xz` 2.5. That is enough for the form of a play, for speakers, verse and many
# words, but not for sense. What separates it from the models that you know is, above
# all, size (of the text, of the model, of the training), and further training on
# answers and on people's judgements.

# %% [markdown]
# ## In three lines
#
# - A language model is a decoder without cross-attention: an encoder's layers with a causal mask,
#   trained on windows of one long sequence to predict each next token.
# - It is measured in bits per byte, next to counts and compressors, and writes by draws
#   from its logits, which temperature, top-k and top-p change first.
# - A small model, trained for seconds on eight plays, lost to trigrams; a larger one,
#   trained for minutes on 36, beat the best counts.
#
# **What you can read now:** Radford et al. (2018) and (2019); Karpathy's
# [nanoGPT](https://github.com/karpathy/nanoGPT), `model.py` and `train.py`.
#
# **An open question:** this model has heads, too. What do they do? Lesson 13.

# %% [markdown]
# ## Going further
#
# Each section below stands alone and can be skipped; no later lesson's core needs it.
# *The baseline: counting* is about what a model has to beat, and the three sections after
# it about what a model writes. *The same layer twice* compares a decoder's layer with an
# encoder's.
#
# The others take today's models apart and measure what their parts and their size
# bring. The five changes since 2017:
#
# - **pre-norm** (lesson 09);
# - **RMSNorm**, a norm without a mean;
# - **SwiGLU**, a gated feed-forward network;
# - **rotary** positions (lesson 05);
# - **grouped queries**, of which several share keys and values.

# %% [markdown]
# ## The baseline: counting
#
# An **n-gram model** predicts a token from the n − 1 tokens before it, by how often each
# token came after them. Its weakness is that most contexts are rare, and a token that
# never came would have probability 0, an infinite loss.
#
# The way out is **interpolation**: mix in the prediction from the shorter context. But
# how much of it? If many different tokens have followed a context, the next one may well
# be new too. So if anything followed N times, with K *different* tokens among them, the
# shorter context gets the weight K / (N + K) (Witten and Bell, 1991).

# %% [markdown]
# (*Back-off*, a relative, asks the shorter context only where the longer one has no
# count: [Jurafsky and Martin](https://web.stanford.edu/~jurafsky/slp3/), chapter 3; Chen
# and Goodman 1999.)
#
# In a small text, *to* is followed six times by *be* and twice by *me*.
#
# **Predict:** how much weight does the context without *to* get?
#
# - [x] 20 %
# - [ ] 25 %
# - [ ] 50 %
# - [ ] None

# %%
n_followers, n_different = 6 + 2, 2
print(f"weight of the shorter context: {n_different / (n_followers + n_different):.0%}")
assert n_different / (n_followers + n_different) == 0.2

# %% [markdown]
# ### Exercise: n_gram_log_probability
#
# Mix the counts of the context with those of ever shorter ones, down to 1 / vocab_size.
#
# <details><summary>Hint 1</summary>
#
# For a context of two tokens, which contexts take part, down to the empty one? At which
# end does the context lose a token each time, and what is mixed in last?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Start with p = 1 / vocab_size and go from the empty context to the whole one, each time
# with the newest tokens as a tuple (mind what `context[-0:]` gives). If `counts` has it,
# compute a new p from the old one. N is a sum of counts, K a number of entries. Take the
# logarithm once, at the end.
#
# </details>

# %%
from course_lib.n_grams import n_gram_log_probability  # exercise

# %%
check(n_gram_log_probability)

# %% [markdown]
# Compressors are another baseline. Bits per byte say how small a file could become:
# *arithmetic coding*, a way to store a text with the help of a model's probabilities,
# needs about −log₂ p bits for a token of probability p, so a language model makes a
# compressor. An uncompressed text takes 8 bits per byte. How many does `xz -9e` need for
# the held-out lines of *The Tempest*: alone, and after the eight plays?

# %%
import lzma


def n_bits(text: str) -> int:
    """Return how many bits xz needs for a text."""
    return 8 * len(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


n_bytes = len(texts.held_out.encode())
alone = n_bits(texts.held_out) / n_bytes
of_xz = (n_bits(texts.training + texts.held_out) - n_bits(texts.training)) / n_bytes
print(f"xz: alone {alone:.1f}, after the eight plays {of_xz:.1f} bits per byte")
assert 3.3 < alone < 3.5 and 2.6 < of_xz < 2.75

# %% [markdown]
# And people? Claude Shannon let them guess English letter by letter
# ([1951](https://doi.org/10.1002/j.1538-7305.1951.tb01366.x)), and concluded from their
# errors that somebody who knows the hundred letters before needs between 0.6 and 1.3
# bits for the next. (He left out capitals and punctuation, so his bits are not quite
# ours.)

# %% [markdown]
# Count the eight plays for n = 1 … 5 (`n_gram_counts`, in the same module). How many bits
# does your function then need for the first 6,000 held-out tokens, and which n needs the
# fewest?

# %%
from course_lib import n_grams

judged = held_out[:6000].tolist()
judged_text = tokenizer.decode(judged[1:])
of_n_grams = {}
for n in range(1, 6):
    counts = n_grams.n_gram_counts(token_ids.tolist(), n)
    losses = [
        -n_gram_log_probability(judged[i], judged[max(0, i - n + 1) : i], counts, 512)
        for i in range(1, len(judged))
    ]
    of_n_grams[n] = bits_per_byte(torch.tensor(losses), judged_text)

# %%
print({n: round(bits, 2) for n, bits in of_n_grams.items()})
more = n_bits(texts.training + judged_text) - n_bits(texts.training)
of_xz_here = more / len(judged_text.encode())  # on the text that was judged
print(f"xz: {of_xz_here:.2f}")
assert min(of_n_grams, key=of_n_grams.get) == 3
assert of_n_grams[3] < of_xz_here < of_n_grams[2]

# %% [markdown]
# Two tokens of context help a lot, and a third one *hurts*, because what followed a
# context once says little. Trigrams even beat `xz`, and it took a second to count them.

# %% [markdown]
# ## The most probable tokens
#
# Top-k and top-p both keep the most probable tokens, and differ in when they stop. What
# does each cost? First write them.

# %% [markdown]
# ### Exercise: top_k_filter
#
# Keep the k most probable tokens, at their positions, and make each row sum to 1 again.
#
# <details><summary>Hint 1</summary>
#
# How many tokens pass `probabilities >= threshold`, if three of them are as probable as
# the k-th? What do you need instead of a threshold, to keep exactly k?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `argsort(dim=-1, descending=True, stable=True)` gives the token ids from most to least
# probable, equal ones in their order (`torch.topk` promises none). The first k of them
# stay: `scatter` writes at their positions. What about the others, and each row's sum?
#
# </details>

# %%
from course_lib.nn.sampling import top_k_filter  # exercise

# %%
check(top_k_filter)

# %% [markdown]
# What does that cost? Measure it on a text that is certainly good: the held-out lines. At
# each position the model has probabilities for 512 tokens, and one of these is the token
# that Shakespeare wrote.

# %%
windows = language_model_batch(held_out, 64, torch.arange(0, len(held_out) - 65, 32))
with torch.no_grad():
    predicted = model(windows[0])[:, 32:].softmax(dim=-1).flatten(0, 1)
truth = windows[1][:, 32:].flatten()  # after 33 tokens of context or more


def forbidden_share(filtered: Tensor) -> float:
    """Return how many of the true tokens have probability 0."""
    return (filtered.gather(-1, truth.unsqueeze(-1)) == 0).float().mean().item()


# %% [markdown]
# With k = 10, how many of Shakespeare's tokens could this model not have drawn?

# %% tags=["nbval-ignore-output"]
of_top_10 = forbidden_share(top_k_filter(predicted, 10))
print(f"k = 10 forbids {of_top_10:.0%} of {len(truth):,} tokens")
assert 0.3 < of_top_10 < 0.5

# %% [markdown]
# So ten tokens are far too few, at least for this model. But sometimes they are too
# many, and top-p adapts: it stops when the tokens have probability p together.

# %% [markdown]
# ### Exercise: top_p_filter
#
# Keep the most probable tokens that together have probability p, including the one that
# crosses p.
#
# <details><summary>Hint 1</summary>
#
# Sorted, a row is 1/2, 1/4, 1/8, 1/8, and p is 0.6. What is the sum *before* each of
# the four tokens? For which of the four is this sum less than p?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Sort as for top-k; `gather` puts the probabilities in that order, and `cumsum(dim=-1)`
# minus the probability itself is the sum before each token. Your mask is now in sorted
# order: `scatter` along `order` brings each entry back to its token.
#
# </details>

# %%
from course_lib.nn.sampling import top_p_filter  # exercise

# %%
check(top_p_filter)

# %% [markdown]
# A text goes on after `**HAM`, and another one after *the queen of*.
#
# **Predict:** with p = 0.9, after which of them does the filter leave more of the 512
# tokens?
#
# - [ ] After `**HAM`
# - [x] After *the queen of*
# - [ ] About as many after both

# %% tags=["nbval-ignore-output"]
stay = {}
for context in ("**HAM", "the queen of"):
    logits = next_logits(tokenizer.encode(context))
    stay[context] = int((top_p_filter(logits.softmax(dim=-1), 0.9) > 0).sum())
print(stay)
assert stay["**HAM"] < 10 < 40 < stay["the queen of"]

# %% [markdown]
# In these plays, `**HAM` goes on with *LET*, and a queen may be *of* anything. Top-p
# adapts, so is it the better of the two? Give both the same number of tokens on average,
# and count again what they forbid:

# %% tags=["nbval-ignore-output"]
nucleus = top_p_filter(predicted, 0.9)
mean_size = (nucleus > 0).float().sum(dim=-1).mean().item()
costs = {"p": forbidden_share(nucleus)}
costs["k"] = forbidden_share(top_k_filter(predicted, round(mean_size)))
print(f"p = 0.9: {mean_size:.0f} tokens on average, {costs['p']:.1%} forbidden")
print(f"k = {mean_size:.0f}: {costs['k']:.1%} forbidden")
assert 35 < mean_size < 60 and abs(costs["p"] - costs["k"]) < 0.03

# %% [markdown]
# For this model and this measure, p = 0.9 and k = 46 forbid about equally many of the
# true tokens, 12 %. (Holtzman et al. had a large model and judged whole texts.) The
# question is open for *min-p* too, which keeps all tokens with a certain share of the
# largest probability: [Nguyen et al. (2024)](https://arxiv.org/abs/2407.01082) found it
# better, [Schaeffer et al. (2025)](https://arxiv.org/abs/2506.13681) did not.

# %% [markdown]
# ## Does it invent words?
#
# Of the held-out words, 9 % do not occur in the eight plays.
#
# **Predict:** how many of the words that the model writes at temperature 1 do not occur
# there?
#
# - [x] More than 9 %
# - [ ] About 9 %
# - [ ] Fewer than 9 %

# %% tags=["nbval-ignore-output"]
known = set(eight_plays.words(texts.training))
samples_of = {"held out": [texts.held_out]}
for t in (0.3, 1.0, 2.0):
    samples_of[t] = [write("HAMLET", seed, t, n_tokens=250) for seed in range(6)]
unknown = {}
for name, written in samples_of.items():
    its_words = eight_plays.words("\n".join(written))
    unknown[name] = sum(word not in known for word in its_words) / len(its_words)
    print(f"{name}: {unknown[name]:.0%} unknown words")
assert 0.08 < unknown["held out"] < 0.09
assert unknown[0.3] < unknown[1.0] / 1.5 < unknown[2.0] / 2 and unknown[1.0] > 0.2
assert 0.4 < unknown[2.0] < 0.6

# %% [markdown]
# Its tokens are pieces of words, and one bad token spoils the whole word. A high
# temperature gives improbable tokens a larger share: at 2, about half of this model's
# words are in none of the eight plays, and most of those are no words at all. (The
# held-out text's 9 % are Shakespeare's own words; the same share at 0.3 is no proof of
# quality.)

# %% [markdown]
# ## How much is memory?
#
# In each of the twenty samples of the long training, take the longest run of words that
# also occurs, word for word, in the plays that the model has read. Here is the longest
# of all twenty, for each seed:

# %%
from course_lib.corpora.plays import play_split

for run in runs.runs:
    print(run["longest copy"]["words"], "words:", run["longest copy"]["text"])
assert {run["longest copy"]["words"] for run in runs.runs} == {4}
# Each text was read once or twice: steps, tokens of a step, bytes of a token.
assert one_run["steps"] == 6000 and one_run["n_tokens"] == 43_069
assert 1 < 6000 * 512 * 98_849 / 43_069 / len(play_split().train.encode()) < 2

# %% [markdown]
# These are short phrases that any writer would repeat. This model, which read each text
# once or twice, memorised almost nothing. Large models do memorise: hundreds of texts
# from its training data were extracted word for word from the largest GPT-2 (Carlini
# and others, [2021](https://arxiv.org/abs/2012.07805)).

# %% [markdown]
# ## The same layer twice
#
# Is a decoder layer without cross-attention an encoder layer? Take a pre-norm decoder
# layer from lesson 09 and let its cross-attention return 0, so that the residual
# connection carries the target past it.

# %%
from course_lib.masks import causal_mask
from course_lib.nn.functional import decoder_layer, parameters_of

with torch.random.fork_rng():
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(16, 4, 32, 0.0, dtype=torch.float64)
    target, memory = torch.randn(2, 5, 16, dtype=torch.float64)
learned = parameters_of(layer)
learned["cross_o"] = torch.zeros_like(learned["cross_o"])  # its bias is 0 already
causal = torch.tensor(causal_mask(5))
decoded = decoder_layer(target, memory, learned, 4, causal, norm_first=True)

# %% [markdown]
# Give its parameters to an encoder's layer. Which mask does that need?

# %%
from course_lib.nn.functional import encoder_layer

last_norm = {"gain_2": learned["gain_3"], "bias_2": learned["bias_3"]}
for name, mask in (("no mask", None), ("causal mask", causal)):
    encoded = encoder_layer(target, learned | last_norm, 4, mask, norm_first=True)
    print(f"encoder, {name}: same result?", torch.allclose(encoded, decoded))
assert torch.allclose(encoded, decoded)

# %% [markdown]
# So an encoder's layer needs nothing but the mask. (`last_norm`: the decoder layer's third
# norm took the part of an encoder layer's second.)

# %% [markdown]
# ## A norm without a mean
#
# The block that you trained is not the one of lesson 09. LLaMA (Touvron et al. 2023)
# has four of the five changes, and the large Llama 2 has grouped queries too. Most open
# models since then build on this block, which we call today's. Many now replace its
# feed-forward network by a *mixture of experts*, several networks of which each token
# uses a few ([Shazeer et al. 2017](https://arxiv.org/abs/1701.06538)).

# %% [markdown]
# **RMSNorm** divides by the root of the mean of the squares and leaves out the rest: no
# mean is subtracted and no bias is added.
#
# $$\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{d}\sum_i x_i^2 + \varepsilon}} \cdot g$$
#
# **Predict:** with gain 1, what do the two norms turn the token (3, 3) into?
#
# - [x] LayerNorm: (0, 0), RMSNorm: (1, 1)
# - [ ] LayerNorm: (1, 1), RMSNorm: (0, 0)
# - [ ] LayerNorm: (0, 0), RMSNorm: (0, 0)

# %%
equal = torch.tensor([3.0, 3.0])
for norm in (nn.LayerNorm(2), nn.RMSNorm(2, eps=1e-6)):
    print(type(norm).__name__, [round(number, 2) for number in norm(equal).tolist()])
assert norm(equal).allclose(torch.ones(2))

# %% [markdown]
# ### Exercise: rms_norm
#
# Divide each token's vector by the root of the mean of its squares, and scale it.
#
# <details><summary>Hint 1</summary>
#
# Read the name from right to left: which of *root*, *mean* and *square* comes first? And
# over which axis is the mean taken, if a token is a row, whatever axes come before it?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The mean of the squares is one number per token. Keep the last axis (`keepdim=True`), so
# that each row is divided by its own number, and add eps before you take the root. The
# gain fits x without any reshaping.
#
# </details>

# %%
from course_lib.nn.modern_block import rms_norm  # exercise

# %%
check(rms_norm)

# %% [markdown]
# When do the two norms agree? Whenever the mean is already 0:

# %%
generator = torch.Generator().manual_seed(0)
vectors = torch.randn(3, 8, generator=generator, dtype=torch.float64)
centred = vectors - vectors.mean(dim=-1, keepdim=True)
gain = torch.rand(8, generator=generator, dtype=torch.float64)
for name, x in (("any", vectors), ("centred", centred)):
    with_mean = functional.layer_norm(x, (8,), gain, eps=1e-6)
    print(f"{name:7} apart by {(rms_norm(x, gain, 1e-6) - with_mean).abs().max():.2f}")
assert torch.allclose(rms_norm(centred, gain, 1e-6), with_mean)

# %% [markdown]
# So RMSNorm lacks only the mean and the bias; the gain g, d numbers per norm, is still
# learned. Zhang and Sennrich (2019) argue that it is the division that helps.

# %% [markdown]
# ## A gated network
#
# The feed-forward network of 2017 is $\max(0, x W_1) W_2$. Today's has a **gate**: two
# matrices turn x into two vectors, which are multiplied number by number (⊙), so one can
# let the other through or block it.
#
# $$\text{SwiGLU}(x) = \big(\text{SiLU}(x W_{gate}) \odot x W_{up}\big) W_{down},
# \qquad \text{SiLU}(a) = \frac{a}{1 + e^{-a}}$$
#
# SiLU is a smooth ReLU: nearly 0 for very negative a, nearly a for large ones, and a
# little below 0 in between.

# %%
a = torch.linspace(-6, 3, 31)
activations = {"ReLU": functional.relu(a).numpy(), "SiLU": functional.silu(a).numpy()}
print(f"smallest: {activations['SiLU'].min():.2f}")
assert abs(activations["SiLU"].min() + 0.278) < 0.001

# %%
alt = "ReLU has a corner at 0; SiLU is smooth, and dips below 0 before it rises."
figures.curves(a.numpy(), activations, xlabel="a", ylabel="f(a)", alt=alt)

# %% [markdown]
# ### Exercise: swiglu
#
# Compute three matrix products, with one SiLU and one product number by number in
# between.
#
# <details><summary>Hint 1</summary>
#
# Three matrices, three products. Which two of them take x, and which one takes the result
# of those two? Only one of the two branches has an activation: which?
#
# </details>
# <details><summary>Hint 2</summary>
#
# SiLU of a is a times its sigmoid; `torch.nn.functional.silu` has it. Both branches
# have the shape (…, d_ff) and meet number by number, so `*`, not `@`. The last matrix
# turns their product into (…, d_model).
#
# </details>

# %%
from course_lib.nn.modern_block import swiglu  # exercise

# %%
check(swiglu)

# %% [markdown]
# Now that there are three matrices, a fair comparison needs a smaller d_ff.
#
# **Predict:** which d_ff gives as many parameters as 4 · d_model did?
#
# - [ ] 2 · d_model
# - [ ] 3 · d_model
# - [x] 8/3 · d_model

# %%
d_model = 4096
print(f"as in 2017: {2 * d_model * 4 * d_model:,}, LLaMA: {3 * d_model * 11_008:,}")
print("d_ff / d_model of the LLaMA with 7 billion parameters:", 11_008 / d_model)
assert abs(11_008 / d_model - 8 / 3) < 0.03

# %% [markdown]
# LLaMA takes 8/3 and rounds up to a multiple of 256. Why does a gate help? "We offer no
# explanation as to why these architectures seem to work", writes Shazeer (2020), who
# introduced it; "we attribute their success, as all else, to divine benevolence".

# %% [markdown]
# ## Grouped queries
#
# While a model writes, the keys and values of all tokens so far are in its cache (lesson
# 11): for each layer, each head and each token, d_k numbers for the key and d_k for the
# value. Llama 2 with 70 billion parameters ([paper](https://arxiv.org/abs/2307.09288))
# has, as published, 80 layers, 64 heads and d_k = 128. Each number takes two bytes.
#
# **Predict:** if each head had its own keys and values, how large would the cache be for
# 4,096 tokens?
#
# - [ ] About 80 MB
# - [ ] About 1 GB
# - [x] About 11 GB

# %%
for n_kv_heads in (64, 8):
    cache = 2 * 80 * n_kv_heads * 128 * 4096 * 2  # keys and values, in bytes
    print(f"{n_kv_heads:2} heads of keys and values: {cache / 1e9:.1f} GB")
assert round(cache / 1e9, 1) == 1.3

# %% [markdown]
# Every text that is being written needs that much, and all of it is read again for every
# token. So **grouped queries** (Ainslie et al. 2023) let several query heads share one
# head of keys and values: Llama 2 has 64 query heads, but 8 of keys and values, and so an
# eighth of the cache.
#
# *Latent attention* ([DeepSeek-V2, 2024](https://arxiv.org/abs/2405.04434)) goes another
# way: it stores one short vector per token, from which the keys and values of all heads
# are computed.

# %% [markdown]
# ### Exercise: grouped_query_attention
#
# Write attention with several query heads, in groups that share keys and values.
#
# <details><summary>Hint 1</summary>
#
# With 6 query heads and 2 key heads, which key head does query head 2 read, and which
# does query head 3? If you copy key heads, in which order must the copies be?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Repeat each head of k and v along axis −3, so that copies of one head are neighbours
# (`repeat` and `repeat_interleave` differ here), and attend as in lesson 04. A mask (…,
# n, m) lacks the axis of the heads: give it one at the right position. The lesson’s
# `attention` (`course_lib.nn.attention`) may do the rest; it returns the weights too.
#
# </details>

# %%
from course_lib.nn.modern_block import grouped_query_attention  # exercise

# %%
check(grouped_query_attention)

# %% [markdown]
# With as many key heads as query heads, it is the attention of lesson 03. PyTorch's own,
# with `enable_gqa`, agrees:

# %%
from course_lib.masks import causal_mask

causal = torch.tensor(causal_mask(5))
drawn_from = torch.Generator().manual_seed(0)
q = torch.randn(8, 5, 4, generator=drawn_from, dtype=torch.float64)
same = {}
for n_kv_heads in (8, 2, 1):
    k, v = torch.randn(2, n_kv_heads, 5, 4, generator=drawn_from, dtype=torch.float64)
    yours = grouped_query_attention(q, k, v, causal)
    options = {"is_causal": True, "enable_gqa": True}
    inputs = (each.unsqueeze(0) for each in (q, k, v))
    theirs = functional.scaled_dot_product_attention(*inputs, **options)[0]
    same[n_kv_heads] = torch.allclose(yours, theirs)
print("the same, by heads of keys:", same)
assert all(same.values())

# %% [markdown]
# An eighth of the keys doesn't mean an eighth of the scores: each query still meets each
# token, so there are n_heads · n · m scores, as before. What shrinks is the cache, and
# the two projections that make keys and values.

# %% [markdown]
# How much does the cache itself help? Without it, 512 tokens send 256 times as many
# token vectors through the model (lesson 11: 20 tokens needed 210). We timed a model
# with half a million parameters on a CPU (`course_lib/experiments/cache_speed.py`): how
# many times as fast is it with a cache?

# %%
timed = record.read("cache_speed")
speed_of = {
    name: torch.tensor(timed.values(name)).double().median(dim=0).values.numpy()
    for name in ("with cache", "without cache")
}
times_as_fast = speed_of["with cache"] / speed_of["without cache"]
lengths = timed.values("lengths")[0]
print(dict(zip(lengths, times_as_fast.round(1).tolist(), strict=True)))
axes = {"xlabel": "tokens written", "ylabel": "tokens per second", "logarithmic": True}
assert lengths[-1] == 512 and 8 < times_as_fast[-1] < 9 and times_as_fast[0] < 1.2
assert sum(range(1, 513)) / 512 == 256.5  # token vectors, times as many

# %%
alt = "With a cache the speed stays nearly the same; without, it falls with the length."
figures.curves(lengths, speed_of, **axes, alt=alt)

# %% [markdown]
# For 512 tokens the gain is far less than 256-fold, because on average, a call that reads
# all tokens so far takes only eight to nine times as long as one that reads a single
# token. For 16 tokens, the cache gains nothing. (For so small a model on a CPU: for a
# larger one, or on a GPU, the numbers differ.)

# %% [markdown]
# ## The model, from your functions
#
# In *A speech of your own*, the model was the course's. Here is one in which every
# function on the way from token ids to a text is yours. (If one is not ready, the list
# says so, and the course's own is used.)

# %%
from course_lib.lessons.own_functions import own_functions

mine = own_functions(globals())

# %% [markdown]
# You know the fourth change from lesson 05: **rotary** positions rotate queries and keys,
# and nothing is added to the tokens. So here is the whole model of this lesson, built
# from your functions, with the parameters that it learned (`x @ w.weight.T`, since
# `nn.Linear` stores the transpose):


# %%
def attended(own: nn.Module, x: Tensor, rotary: nn.Module, f: Mapping) -> Tensor:
    """Return what an attention returns for x (n, d_model), by your functions in f."""
    d_k = x.shape[-1] // own.n_heads
    heads = (
        (x @ projection.weight.T).unflatten(-1, (-1, d_k)).transpose(0, 1)
        for projection in (own.query, own.key, own.value)
    )
    q, k, v = heads  # (n_heads, n, d_k) and twice (n_kv_heads, n, d_k)
    may_attend = torch.ones(len(x), len(x), dtype=torch.bool).tril()
    output = f["grouped_query_attention"](rotary(q), rotary(k), v, may_attend)
    return output.transpose(0, 1).flatten(1) @ own.output.weight.T


# %% [markdown]
# The rest is pre-norm from lesson 09: a norm before each sublayer, a residual connection
# around it, and one more norm at the end.


# %%
@torch.no_grad()
def all_logits(model: LanguageModel, ids: Tensor, f: Mapping) -> Tensor:
    """Return the logits (n, vocab_size) after each of the tokens (n)."""
    x = model.embedding.weight[ids]  # (n, d_model)
    for layer in model.blocks:
        y = f["rms_norm"](x, layer.attention_norm.weight)
        x = x + attended(layer.attention, y, model.rotary, f)
        y = f["rms_norm"](x, layer.feed_forward_norm.weight)
        network = layer.feed_forward
        matrices = (network.gate, network.up, network.output)
        x = x + f["swiglu"](y, *(each.weight.T for each in matrices))
    return f["rms_norm"](x, model.norm.weight) @ model.embedding.weight.T


# %% [markdown]
# Is it the same model?

# %%
gap = all_logits(model, held_out[:64], mine) - model(held_out[None, :64])[0]
gap = gap.abs().max()
print("the same logits:", bool(gap < 1e-4))
assert gap < 1e-4

# %% [markdown]
# The text grows until the context is full:


# %%
def speak(model: LanguageModel, ids: list, seed: int, temperature, k, p) -> list:
    """Return the prompt and what your functions write after it."""
    generator, ids = torch.Generator().manual_seed(seed), [*ids]
    while len(ids) < model.config.n_positions:
        logits = all_logits(model, torch.tensor(ids), mine)[-1]
        probabilities = mine["apply_temperature"](logits, temperature)
        probabilities = mine["top_k_filter"](probabilities, k)
        probabilities = mine["top_p_filter"](probabilities, p)
        u = torch.rand((), generator=generator, dtype=torch.float64)
        ids.append(int(mine["sample"](probabilities, u)))
    return ids


# %% [markdown]
# <span class="in-notebook">Change the speaker, the seed and the three settings, and run
# both cells again:</span>

# %% tags=["nbval-ignore-output"]
prompt = tokenizer.encode("\n**JULIET**\n")
speech = speak(model, prompt, seed=7, temperature=0.4, k=40, p=0.95)
print(tokenizer.decode(speech))

# %% [markdown]
# How surprised is the model by its own words, and how surprised are the trigrams?

# %% tags=["nbval-ignore-output"]
from course_lib import n_grams

window = mine["language_model_batch"](torch.tensor(speech), 63, torch.tensor([0]))
logits = all_logits(model, window[0][0], mine)
losses = functional.cross_entropy(logits, window[1][0], reduction="none")
n_prompt = len(prompt)
trigrams = n_grams.n_gram_counts(token_ids.tolist(), 3)
by_trigrams = [
    -mine["n_gram_log_probability"](speech[i], speech[i - 2 : i], trigrams, 512)
    for i in range(n_prompt, 64)
]
surprises = {"model": losses[n_prompt - 1 :], "trigrams": torch.tensor(by_trigrams)}
for name, surprise in surprises.items():
    bits = mine["bits_per_byte"](surprise, tokenizer.decode(speech[n_prompt:]))
    print(f"{name}: {bits:.1f} bits per byte")

# %% [markdown]
# The model needs fewer bits than for *The Tempest*, because at a low temperature it
# writes what it expects. But a text that surprises nobody is not what a reader wants.
#
# Once you have run the long training, the last code cell lets your functions write with
# *its* parameters; until then it says what is missing.

# %% tags=["nbval-ignore-output"]
from course_lib.nn.training.checkpoints import CheckpointError

try:
    large, its_tokenizer = eight_plays.load_large()
    prompt = its_tokenizer.encode("\n**JULIET**\n")
    speech = speak(large, prompt, seed=1, temperature=0.8, k=40, p=0.95)
    print(its_tokenizer.decode(speech))
except CheckpointError as fault:
    print(fault)

# %% [markdown]
# ## Does it help?
#
# Each change was adopted because somebody measured it, in large models. Does it help in
# ours? Here is the 2017 block with each change alone and with all five, trained for 800
# steps (`course_lib/experiments/blocks.py`). All have the same number of steps and, by
# the choice of d_ff, of parameters. Each kind was trained with four learning rates, of
# which the best counts. The bits per byte are for *Twelfth Night*, the median of three
# seeds. Which change alone helps most?

# %%
from course_lib.experiments import blocks

of_blocks = record.read("blocks")
seeds_of = {k: of_blocks.values(f"{k}, bits per byte") for k in blocks.CHANGES}
for kind, values in seeds_of.items():
    learned = of_blocks.median(f"{kind}, learning rate")
    low, middle, high = sorted(values)
    print(f"{kind:15} {middle:.2f}  ({low:.2f} to {high:.2f}), learning rate {learned}")
of_block = {kind: sorted(values)[1] for kind, values in seeds_of.items()}
assert min(of_block, key=of_block.get) == "rotary"
assert of_block["all"] - of_block["rotary"] < 0.03
assert max(seeds_of["RMSNorm"]) < min(seeds_of["2017"]) < max(seeds_of["pre-norm"])
assert abs(of_block["SwiGLU"] - of_block["2017"]) < 0.01
assert max(seeds_of["grouped queries"]) > min(seeds_of["2017"])

# %% [markdown]
# Read it with care:
#
# - **rotary** positions alone do as much as all five changes together;
# - **RMSNorm** helps in every run, and **pre-norm** in two of three. Both learn with
#   twice the learning rate of the 2017 block;
# - **SwiGLU** does not help here;
# - with **grouped queries** the runs overlap with those of 2017. Their purpose is to save
#   memory, so all one can ask is that they cost no quality.
#
# What if both blocks had been trained with the learning rate that is best for today's?
# Here are the median losses of the last 100 training steps:

# %%
last = {k: of_blocks.values(f"{k}, last losses") for k in ("2017", "all")}
at_same = {k: sorted(each[2] for each in values)[1] for k, values in last.items()}
at_best = {k: sorted(map(min, values))[1] for k, values in last.items()}
for name, losses in (("0.005 for both", at_same), ("each its best", at_best)):
    print(f"{name:15} 2017 {losses['2017']:.2f}, all {losses['all']:.2f}")
assert blocks.LEARNING_RATES[2] == 0.005
gap_at_same, gap_at_best = (each["2017"] - each["all"] for each in (at_same, at_best))
assert gap_at_best < gap_at_same / 2

# %% [markdown]
# With the learning rate that suits today's block, 2017's seems more than twice as far
# behind, because post-norm suffers from large learning rates (lesson 09). A fair
# comparison lets each choose its own.

# %% [markdown]
# ## Larger, and larger
#
# What does size bring? Here are four sizes of today's block, each three to four times
# as large as the one before, trained for the same 800 steps with three seeds each
# (`course_lib/experiments/sizes.py`):

# %%
from itertools import pairwise

from course_lib.experiments.sizes import SIZES

by_size = record.read("sizes")
parameters = [by_size.median(f"{size}, parameters") for size in SIZES]
bits_by_size = [by_size.median(f"{size}, bits per byte") for size in SIZES]
seeds_by_size = [by_size.values(f"{size}, bits per byte") for size in SIZES]
for number, bits in zip(parameters, seeds_by_size, strict=True):
    print(f"{number:9,.0f} parameters: {sorted(bits)} bits per byte")
sizes_drawn = {"bits per byte": bits_by_size}
axes = {"xlabel": "parameters", "ylabel": "bits per byte", "logarithmic": True}
neighbours = [zip(*pair, strict=True) for pair in pairwise(seeds_by_size)]
assert sum(small < large for pair in neighbours for small, large in pair) == 1
assert max(seeds_by_size[3]) < min(seeds_by_size[2])
assert bits_by_size == sorted(bits_by_size, reverse=True)
assert bits_by_size[1] - bits_by_size[2] < max(seeds_by_size[2]) - min(seeds_by_size[2])

# %%
alt = "The bits per byte fall with each size, from 3.0 to 2.5."
figures.curves(parameters, sizes_drawn, **axes, alt=alt)

# %% [markdown]
# The medians fall with each size. But from the second size to the third, the step is
# smaller than the spread between the third's own seeds, so one run would not have been
# enough. Over many more sizes, the loss falls as a power of the number of parameters, a
# straight line on logarithmic axes (Kaplan et al. 2020), as long as data and steps grow
# too. A model that is too large for its data wastes computation (Hoffmann et al. 2022).

# %% [markdown]
# How large are real models? Here is GPT-2 (Radford et al. 2019), the small one, in the
# course's own module: learned positions, a GELU (a smooth ReLU), and an embedding of
# 50,257 tokens that also gives the logits. (`device="meta"`: shapes without numbers.)

# %%
sizes = {"d_model": 768, "n_layers": 12, "n_heads": 12, "n_positions": 1024}
kinds = {"norm": "layer", "feed_forward": "gelu", "positions": "learned"}
gpt_2 = LanguageModelConfig(50_257, **sizes, **kinds, bias=True)
named = dict(LanguageModel(gpt_2, device="meta").named_parameters())

# %% [markdown]
# What share of its parameters is in the token embedding?

# %%
total = sum(parameter.numel() for parameter in named.values())
share = named["embedding.weight"].numel() / total
print(f"{total:,} parameters, {share:.0%} of them in the embedding of the tokens")
assert total == 124_439_808 and round(share, 2) == 0.31

# %% [markdown]
# Nearly a third: a row of 768 numbers for each of 50,257 tokens. In a larger model the
# share is smaller, because the layers grow with the square of d_model and the embedding
# only with d_model.
