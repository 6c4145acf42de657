# %% [markdown]
# # Translation
#
# **Does a trained Transformer translate?**
#
# After this lesson you can
#
# - decode with a cache, so that nothing is computed twice;
# - say what greedy decoding misses, and how several beams find it;
# - read BLEU and chrF, and say what these numbers leave out;
# - compare three systems after equal training time, and ours with the paper's;
# - in *Going further*: write beam search, and BLEU itself.
#
# **About 65 minutes, and 65 more in *Going further*.** You need lesson 10 and what it needs,
# and the data: `attention-course data` gets it (in a clone, `make data`).

# %%
from autograder import check

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_lib.nn.attention import attention

# %% [markdown]
# ## A question to carry through the lesson
#
# A Transformer wrote these two German sentences. **Choose a sentence, and point at a word
# on the left**: the lines lead to the English words that the model attended to when it
# wrote that word. Where do the lines cross?

# %%
torch.set_num_threads(1)  # the fastest for models as small as ours
from course_lib import figures
from course_lib.experiments import record, translation, translation_tables

runs = record.read("translation")
maps = [translation_tables.attention_map(runs, index) for index in (0, 1)]
sentences = {
    "".join(each["sources"][:-1]): (each["weights"], each["targets"], each["sources"])
    for each in maps
}

# %%
alt = "Startet attends to starts, Wiedergabe to play; lädt and neu attend to loads."
figures.attention_in_sentences(sentences, alt=alt)

# %% [markdown]
# In the first sentence they barely cross. In the second they do. *Reloads* becomes two
# words, *lädt* at the beginning and *neu* at the very end, and for both the model attended
# most to the token *loads*. It has to find its words in another order, and nobody told it
# which ones belong together.
#
# Three systems learned English to German from the same 31,335 pairs, in about the same
# time on one processor core: a recurrent translator whose decoder gets one vector,
# another whose decoder attends to the source (both from lesson 08), and a Transformer
# (lesson 09). They were trained beforehand, and their results are stored with the course.
# Here is what they made of the second sentence:

# %%
first = runs.runs[0]
for name, system in translation.SYSTEM_NAMES.items():
    sample = first[f"{name}, samples"][6]
    print(f"{system:18} {sample['translation']}")
print(f"{'reference':18} {sample['target']}")
assert sample["source"] == "Reloads filters from the YAML-configuration."

# %% [markdown]
# Only the recurrent system with attention is exactly right. One text cannot show whether that
# is typical.
#
# **Does a trained Transformer translate, and which system is best?** To find out, you write
# the decoding, and measure. At the end, you type a number in words and watch its translation
# appear.

# %% [markdown]
# ## The small translator once more
#
# Here is the small Transformer from lesson 10 again, with the same task and the same
# random start (`course_lib/lessons/small_translator.py`): 400 steps, and English number
# words become German ones.

# %% tags=["nbval-ignore-output"]
from course_lib.lessons import small_translator

task = small_translator.numbers_task()
training = small_translator.make_trainer(task)
small_translator.train_until(training, small_translator.TRAINING_CONFIG.steps)
small = training.model.eval()
share_right = small_translator.exact_match(small, task)
print(f"exactly right: {share_right:.0%} of the held-out numbers")
assert share_right > 0.75  # 0.93 when the course was made; others round otherwise

# %% [markdown]
# ## Writing without doing things twice
#
# A decoder writes one token, reads it, and writes the next. With a causal mask, nothing
# changes at the earlier positions when a token is added (lesson 04), so you can store
# their keys and values, in a **key–value cache**.
#
# *Without* a cache, each call computes all tokens so far again.
#
# **Predict:** how many token vectors then go through the decoder while it writes 20
# tokens?
#
# - [ ] 20
# - [x] 210
# - [ ] 400

# %%
n = 20
print("without a cache:", sum(range(1, n + 1)), " with one:", n)
assert sum(range(1, n + 1)) == 210

# %% [markdown]
# ### Exercise: cached_step
#
# In one layer with one head, let the newest token attend to all tokens so far, and
# compute only its output.
#
# <details><summary>Hint 1</summary>
#
# At which position is the newest token, if there are t keys already? It needs the encoding of
# that position.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Which two of the three vectors made from the embedded token are stored (`torch.cat`)?
# `attention(q, k, v)` takes matrices, and returns output and weights: how does one vector
# become a matrix with one row? Does this one query need a mask?
#
# </details>

# %%
from course_lib.nn.decoding import cached_step  # exercise

# %%
check(cached_step)

# %% [markdown]
# It needs no mask, because the tokens that it may not attend to don't exist yet. Writing 20
# tokens now takes 20 vectors, not 210.
#
# One trap: with a cache, the model reads one token per call. So code that counts positions
# from 0 in each call puts every token at position 0, and raises no error. The true position
# is the number of keys in the cache.

# %% [markdown]
# ## Writing greedily
#
# **Greedy** decoding takes the likeliest token, again and again, until that is the end
# token. A model that has learned little may never write one, as you saw in lesson 10, so
# the number of tokens is limited too.

# %% [markdown]
# ### Exercise: greedy_decode
#
# Your function doesn't know the model: it gets a function that returns the logits for the
# next token.
#
# <details><summary>Hint 1</summary>
#
# What does `next_logits` get at the first step? And what happens to the chosen token
# before the second?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `np.argmax` takes the first of several equal numbers. What are the two reasons to stop,
# and which token must you remove from the result if your list began with the start?
#
# </details>

# %%
from course_lib.nn.decoding import greedy_decode  # exercise

# %%
check(greedy_decode)

# %% [markdown]
# Put your two functions to work on the small translator: your `cached_step` computes its
# decoder's self-attention, head by head, and your `greedy_decode` chooses the tokens. (The
# rest is the model's: `course_lib/lessons/own_decoder.py`.) The next cell looks for your
# functions in this notebook, and uses the course's version of each one that you haven't
# written yet:

# %%
from course_lib.lessons import own_decoder, translation_trace
from course_lib.lessons.own_parts import complete
from course_lib.nn import decoding
from course_lib.nn.training.subwords import END_ID, START_ID

complete(globals(), decoding, "cached_step", "greedy_decode")

# %% tags=["nbval-ignore-output"]
text = "four hundred and seventy-three thousand, two hundred and eighty-one"
source_ids = [*task.tokenizer.encode(text), END_ID]
next_log_p = own_decoder.next_log_probabilities(small, source_ids, cached_step)
decoded = greedy_decode(next_log_p, START_ID, END_ID, 60)
print(task.tokenizer.decode(decoded))

# %% [markdown]
# (Log-probabilities serve as logits, because softmax turns them into the same probabilities.)
# How many of twenty held-out numbers does it translate exactly?

# %% tags=["nbval-ignore-output"]
n_right = 0
for pair in task.held_out[:20]:
    source_ids = [*task.tokenizer.encode(pair.source), END_ID]
    ask = own_decoder.next_log_probabilities(small, source_ids, cached_step)
    number = task.tokenizer.decode(greedy_decode(ask, START_ID, END_ID, 40))
    n_right += number == pair.target
print(f"{n_right} of 20 exactly right")
assert n_right >= 12

# %% [markdown]
# Now watch it, with the three likeliest tokens at each step:

# %% tags=["nbval-ignore-output"]
watched = translation_trace.trace_translation(small, task.tokenizer, text)
watched.show(pause=0.1)

# %% [markdown]
# Notice the percentages. At most steps only one token can be right, and yet the model
# gives it only about 90 %, because label smoothing with 0.1 (lesson 10) trained it to do
# so. The runner-up is often another way to spell the same word: *vi* instead of *vier*.
#
# What does it attend to?

# %% tags=["nbval-ignore-output"]
best = np.exp(max(next_log_p([START_ID, *decoded[:1]])))
three, tens = watched.weights[2, 5], watched.weights[3, 3:5].sum()
print(f"the likeliest second token has {best:.0%}")
print(f"drei attends to three with {three:.0%}, und to the tens with {tens:.0%}")
assert 0.8 < best < 0.95 and three > 0.4 and tens > 0.3

# %%
alt = "drei attends to three, the row below to seventy before it: the words cross."
figures.attention_lines(watched.weights, watched.target, watched.source, alt=alt)

# %% [markdown]
# To write *drei*, it attends to *three*, which comes after the tens in English. In the
# next row it goes back to *seventy*. Nobody told it which words belong together. (Means
# over four heads. Tokens that follow from the one before, such as *zig* or the end, need
# no source, and their weights are spread out.)

# %% [markdown]
# ## Several beams
#
# Greedy decoding never goes back, and that can be costly. Say the first token may be
# *der* (0.5) or *ein* (0.4). After *der* nothing is likely, 0.3 at best. After *ein*
# comes the end, with 0.9.
#
# **Predict:** which sequence is the likeliest, and does greedy decoding find it?
#
# - [ ] one that begins with *der*; greedy decoding finds it
# - [ ] one that begins with *der*; greedy decoding misses it
# - [x] *ein* and the end; greedy decoding misses it

# %%
print("der …:", round(0.5 * 0.3, 2), " ein:", round(0.4 * 0.9, 2))
assert 0.5 > 0.4 and 0.4 * 0.9 > 0.5 * 0.3

# %% [markdown]
# Greedy decoding takes *der*, and *ein* is lost. **Beam search** keeps several
# **hypotheses**, sequences that are still being written. Each step continues all of them
# by all tokens and keeps the best few. Because products of many probabilities become too
# small for a float, it adds logarithms.

# %% [markdown]
# Here is the example as a tree (`course_lib/lessons/beam_tree.py`), with the probabilities of
# the next token in `log_p`, a row for each token before it. Each row of the picture is a
# step, each box has a token and the sum of its log-probabilities. **Choose the beam size, and
# go step by step.** At which step does the greedy search, beam size 1, lose the better
# translation?

# %%
from course_lib.lessons.beam_tree import record_beam_search

log_p = np.log(
    [[0.05, 0.5, 0.4, 0.05], [0.2, 0.25, 0.3, 0.25], [0.03, 0.03, 0.04, 0.9]]
)
words = ["(start)", "der", "ein", "(end)"]
trees = {
    f"beam size {size}": record_beam_search(lambda ids: log_p[ids[-1]], 0, 3, size, 9)
    for size in (2, 1)
}

# %%
alt = "With two beams ein stays beside der, and its end has the best score of all."
figures.beam_tree(trees, words, alt=alt)

# %% [markdown]
# At the first, because it keeps only one hypothesis. With two, *ein* stays in the beam,
# and its end is so probable that it wins.

# %% [markdown]
# Each further token makes the sum smaller, so short hypotheses would win. That is why the
# sum is divided by a **length penalty**, with α usually between 0 and 1. (The sums are
# negative: a larger divisor brings them closer to 0.)
#
# $$\text{score} = \frac{\ln p}{\left((5 + \text{length}) / 6\right)^{\alpha}}$$
#
# A hypothesis of one token has the sum −3.0, and one of seven tokens −3.6. With α = 1, the
# divisors are 6/6 = 1 and 12/6 = 2. With α = 0.5, they are the square roots of these, 1 and
# about 1.4.
#
# **Predict:** when does the longer one win?
#
# - [x] With α = 0.5 and with α = 1
# - [ ] With α = 0 only
# - [ ] With α = 1 only

# %%
penalised = {a: (-3.0 / 1**a, -3.6 / 2**a) for a in (0.0, 0.5, 1.0)}
for alpha, (short, long) in penalised.items():  # (5 + length) / 6 is 1 and 2
    print(f"α = {alpha}: one token {short:.2f}, seven tokens {long:.2f}")
assert [long > short for short, long in penalised.values()] == [False, True, True]

# %% [markdown]
# So with either penalty, the longer one wins. (The paper's α is 0.6.) On the real texts below, four beams gain 2 to 4 BLEU.
# (You can write the search in *Going further*.)
#
# > **Does beam search find the likeliest sequence?** It finds the best of the few hypotheses
# > that it kept. And the likeliest isn't always the best translation: with very many beams,
# > translations often become worse, and too short (Koehn and Knowles, 2017).

# %% [markdown]
# ## How good is a translation?
#
# **BLEU** (bilingual evaluation understudy) counts **n-grams**, runs of n words. $p_n$ is
# the share of the translation's n-grams that are in the reference; each counts at most as
# often as it occurs in the reference. Their geometric mean is multiplied by a **brevity
# penalty**, below 1 if translations (c words) are shorter than references (r words):
#
# $$\text{BLEU} = \min(1, e^{1 - r/c}) \cdot (p_1\, p_2\, p_3\, p_4)^{1/4}$$
#
# BLEU is reported times 100. Suppose a translation of *der Akku der Fernbedienung ist
# fast leer* has *beinahe*, a synonym of *fast*.
#
# **Predict:** what share of its 4-grams is right?
#
# - [ ] Six of seven
# - [ ] Three of four
# - [x] Two of four

# %%
import sacrebleu

reference = "der Akku der Fernbedienung ist fast leer"
written = "der Akku der Fernbedienung ist beinahe leer"
compared = sacrebleu.corpus_bleu([written], [[reference]])
shares = [round(p) for p in compared.precisions]
print("p_1 … p_4:", shares, " BLEU:", round(compared.score))
assert compared.counts == [6, 4, 3, 2] and round(compared.score) == 64

# %% [markdown]
# One word costs one of seven words, two of six pairs, and half of the 4-grams: BLEU 64.
# **chrF** counts n-grams of one to six *characters*, so it sees that *Batteriestatus* and
# *Batterie-Status* have much in common.

# %% [markdown]
# Now compare a right translation with a wrong one. The right one is spelled differently:
# *der Batterie-Status der Maus ist nun gut* for *der Batteriestatus der Maus ist nun
# gut*. The other says the opposite of what was meant: *die Tür der Garage ist jetzt
# nicht offen* for *die Tür der Garage ist jetzt offen*.
#
# **Predict:** which of them has the better BLEU?
#
# - [x] The opposite
# - [ ] The right one
# - [ ] Both have the same

# %%
rest = "der Maus ist nun gut"
door = "die Tür der Garage ist jetzt"
pairs_of_words = {
    "a synonym": (written, reference),
    "another spelling": (f"der Batterie-Status {rest}", f"der Batteriestatus {rest}"),
    "the opposite": (f"{door} nicht offen", f"{door} offen"),
}
marks = {}
for name, (one, two) in pairs_of_words.items():
    bleu = sacrebleu.corpus_bleu([one], [[two]]).score
    chrf = sacrebleu.corpus_chrf([one], [[two]]).score
    marks[name] = round(bleu), round(chrf)
    print(f"{name:20} BLEU {bleu:3.0f}  chrF {chrf:3.0f}")
assert marks["another spelling"][0] == 64 and marks["the opposite"][0] == 71
assert marks["a synonym"][1] < marks["another spelling"][1]

# %% [markdown]
# The opposite has a BLEU of 71 and the right translation only 64, because no measure of
# n-grams knows what a word means.

# %% [markdown]
# And the small translator? More than three quarters of its numbers are exactly right.
#
# **Predict:** what is its BLEU?
#
# - [ ] Above 90
# - [x] 0
# - [ ] About 75

# %% tags=["nbval-ignore-output"]
from course_lib.nn.training.scoring import measure

held = [pair.source for pair in task.held_out]
of_numbers = measure(
    task.held_out, small_translator.translate(small, task.tokenizer, held)
)
print(f"BLEU: {of_numbers['bleu']:.0f}  chrF: {of_numbers['chrf']:.0f}")
assert of_numbers["bleu"] == 0 and of_numbers["chrf"] > 90

# %% [markdown]
# In German a number is one word, however long, and one word has no 4-gram. Here no 4-gram
# counts as $p_4$ = 0, so BLEU is 0 although most numbers are right.
#
# Trained networks such as COMET ([Rei et al.
# 2020](https://arxiv.org/abs/2009.09025)) agree better with people than BLEU and chrF do
# ([Freitag et al. 2022](https://aclanthology.org/2022.wmt-1.2), *Stop Using BLEU*), but need
# a large model of their own. BLEU also depends on how texts are split into words; here
# sacrebleu measures, with its usual settings (Post, 2018).

# %% [markdown]
# ## The real thing
#
# This command trains the large Transformer (two layers on each side, d_model 128) on the
# real pairs. It takes about six minutes on two processor cores, and saves its state (a
# **checkpoint**), from which `--resume` goes on:
#
# ```
# python -m course_lib.nn.train --task translation
# ```
#
# `--system additive` trains the recurrent system with attention, `--system fixed` the one
# without. For the tables below, each of the three was trained on one core
# (`course_lib/experiments/translation.py`), with three seeds, for about equal time.

# %% [markdown]
# The same in all three: the pairs, vectors of 128 numbers, the way the embeddings begin, no
# dropout (lesson 07), and the learning rate, which rises to 0.0035 and then falls to nearly
# 0. It was set for the Transformer; another might suit the recurrent systems better.
#
# What differs, besides the architecture: a recurrent system has one GRU layer on each side
# (its encoder reads in both directions), the Transformer has two layers, and so more
# parameters. And slower steps leave time for fewer of them:

# %%
print(translation_tables.trainings(runs))

# %% [markdown]
# ## Three systems, one table
#
# The three systems translate 1,000 pairs, drawn once from the 1,340 test pairs. There are two
# steps between them: attention is added to the recurrent system, and then the Transformer
# replaces it.
#
# **Predict:** which of the two steps brings more BLEU?
#
# - [x] The first, to attention
# - [ ] The second, to the Transformer
# - [ ] Both bring about the same

# %%
print(translation_tables.scores(runs))
bleu_of = {name: runs.median(f"{name}, bleu") for name in translation.SYSTEM_NAMES}
gains_of_systems = np.diff([*bleu_of.values()])  # in the order of the table
print("gains in BLEU:", *gains_of_systems.round(1))
assert 13 < gains_of_systems[0] < 14 and 3 < gains_of_systems[1] < 5

# %% [markdown]
# Attention brings nearly 14 BLEU, and the Transformer 4 more. (Medians of three runs, with four
# beams except in "greedy".) But what do such translations look like?

# %% [markdown]
# ## Twenty translations, not chosen
#
# Here are the first twenty of the 1,000 drawn, not hand-picked (seed 0, four beams), each
# with its reference, the words that never occurred in training, and the kind of error, as
# far as a program can tell from the letters. Read as many as you like: which would you accept?

# %%
from course_lib.corpora.more_pairs import larger_translation_pairs
from course_lib.lessons import translation_errors

texts = larger_translation_pairs()
known = {word for pair in texts.train for word in translation_errors.words(pair.source)}
samples = first["transformer, samples"]
print(*translation_tables.with_error_types(samples, known), sep="\n")
assert len(samples) == 20
assert len(texts.train) == 31_335 and len(texts.test) == 1_340  # as said above

# %% [markdown]
# How often does each kind occur in all 1,000 (greedy)? The first that fits counts.
# *Cut otherwise* is the same letters with other spaces, hyphens or capitals; *too short*,
# less than 60 % of the letters.

# %%
print(translation_tables.error_types(runs))
kinds = {each: runs.values(f"{each}, error types") for each in ("fixed", "additive")}
repeats = [np.median([run["repeats"] for run in each]) for each in kinds.values()]
assert repeats == [223, 121]
assert translation_errors.MIN_LENGTH_RATIO == 0.6

# %% [markdown]
# With attention, twice as many are right, and repeats fall from 223 to 121. A decoder may
# lose track of what it has translated. Other words may mean the same, or be invented: only a
# reader can tell.

# %% [markdown]
# ## The answer
#
# Here are BLEU by the number of words in the source, and chrF as a picture. Each range holds
# different texts, some of them easier, so compare systems *within* a range, not ranges.
#
# **Predict:** where is the system without attention furthest behind the Transformer, in chrF?
#
# - [ ] For the shortest texts
# - [ ] It is equally far behind everywhere
# - [x] For the longest texts

# %%
print(translation_tables.lengths(runs, "bleu"))
ranges = translation_tables.length_ranges(runs)
by_words = translation_tables.by_length(runs, "chrf")
fixed, _, transformer = (np.median(by_words[each], axis=0) for each in by_words)
print("behind in chrF, by range:", *(transformer - fixed).round())
assert (np.diff(transformer - fixed) > 0).all()
assert (transformer - fixed)[[0, -1]].round().tolist() == [12, 22]

# %%
alt = "At every length the Transformer is ahead, and no attention is far behind."
figures.scores_by_length(ranges, by_words, ylabel="chrF", alt=alt)

# %% [markdown]
# Without attention, the recurrent system is 12 chrF behind the Transformer for the shortest
# texts, and 22 for the longest. (In BLEU, printed above, the gap grows once and then stays.)
# In chrF, the Transformer is ahead at every length. (*Going further* compares these gaps with
# the spread between seeds.)
#
# **Does it translate?** How many of the 1,000 texts, none of them seen before, are exactly
# right?

# %%
finest = max(translation.SYSTEM_NAMES, key=lambda name: runs.median(f"{name}, bleu"))
exact, of_all = runs.median(f"{finest}, exact"), runs.median(f"{finest}, bleu")
name = translation.SYSTEM_NAMES[finest]
print(f"{name}: {exact:.0%} exactly right, BLEU {of_all:.1f}")
assert finest == "transformer"

# %% [markdown]
# This ranking is for about equal *time*, on one core, with small models and 31,000 short
# pairs. On a GPU, a Transformer makes many more steps in the same time, because its positions
# don't have to wait for each other (lesson 08). So with every ranking, say what was held equal.

# %% [markdown]
# ## The paper's numbers next to ours
#
# *Attention Is All You Need* trained two sizes, base and big, on eight P100 GPUs, with 4.5
# million pairs of sentences for German and 36 million for French. Here are its results,
# and ours:

# %%
from course_lib.lessons import paper_results

n_steps, seconds = (runs.median(f"transformer, {key}") for key in ("steps", "seconds"))
print(paper_results.table(of_all, n_steps, seconds))
without_copies = runs.median("transformer, bleu without near copies")
print(f"ours without near copies: {without_copies:.1f}")
assert round(paper_results.PAPER["big"].german) == 28 and round(without_copies) == 26

# %% [markdown]
# 28.4 for German beat the best earlier result by 2 BLEU. The base model needed at most a sixth
# of the operations of any recurrent one in the paper's table 2, and its BLEU for German is
# better.

# %% [markdown]
# Ours is higher, 34.9, which says nothing, because you cannot compare BLEU between test sets.
# The paper translates news, we translate short texts from one program. Without near copies
# (test texts that differ by one word from a training text) even ours falls to 26.
#
# What came next was **pre-training**: a Transformer first learns from large amounts of plain
# text, by predicting the next word (lesson 12) or words that were left out ([Devlin et al.
# 2019](https://arxiv.org/abs/1810.04805)), and then needs far fewer examples of the task
# itself.

# %% [markdown]
# ## You type, it translates
#
# The small translator translates what you type, and shows what else it might have
# written. <span class="in-notebook">Change the text and run the cell.</span> (It knows
# numbers below a million. What does it do with a larger one? With *hundred four*? With
# your name?)

# %%
yours = "ninety-nine thousand, nine hundred and twelve"
watched = translation_trace.trace_translation(small, task.tokenizer, yours)
print(watched.translation)

# %% tags=["nbval-ignore-output"]
watched.show(pause=0.1)

# %% [markdown]
# The large Transformer fits into a page. **Type English**, and the German changes as you
# type. Point at a German word to see what it attended to. A dashed edge marks a word that was
# in none of its training texts: is a wrong translation always the fault of such a word?
# <span class="in-notebook">(Its file comes from `make models`; once you have written them,
# your own `greedy_decode` and `beam_search` are asked, too.)</span>

# %%
from course_lib.lessons import typed_translation

alt = "Startet attends to starts, Wiedergabe to playback, Mediaplayer to media and player."
figures.translator(**typed_translation.view(first, texts.train, globals()), alt=alt)

# %% [markdown]
# So the small one translates; of the large one, you have seen how often it is exactly
# right. And where did the lines cross, in the picture at the beginning and in that
# of the small translator? Where the two languages put things in another order: *lädt*
# and *neu*, far apart, both go back to *loads*, and *drei* passes over the tens. Nobody wrote down a rule of word order; it
# was learned from pairs alone. (The weights say what one layer attended to, not why the model
# wrote a word.)

# %% [markdown]
# ## In three lines
#
# - A translation is written token by token: greedily, or with several beams.
# - With a cache of keys and values, no token goes through the decoder twice.
# - BLEU and chrF compare systems on one whole test set, but only a reader can say what is
#   wrong with a single text.
#
# **What you can read now:** *Attention Is All You Need*, section 6.1; Wu et al.
# (2016), section 7; Papineni et al. (2002); Post (2018).
#
# **An open question:** the model has two dozen heads. What does each one do, and how many
# could you take out?

# %% [markdown]
# ## Going further
#
# Each section below stands alone and can be skipped; no later lesson's core needs it. *Beam
# search* is for those who want to write it, *BLEU by hand* for those who want to know what the
# number counts. *More about the three systems* and *What made it better* are for those
# who train models of their own, and *The large model* is for those who have trained ours.

# %% [markdown]
# ## Beam search
#
# The core has the idea and the length penalty; here you write the search.

# %% [markdown]
# ### Exercise: beam_search
#
# The rules are in the docstring, so read it to the end before you begin. (Some programs
# keep the beam full; here each finished hypothesis makes it smaller.)
#
# <details><summary>Hint 1</summary>
#
# Keep pairs of a list of token ids and a sum. In a step, put all continuations of all
# hypotheses into one list, sorted by their sums: how many stay?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Where do you keep what is finished, so that nothing pushes it out? How many continuations stay
# after that? What do you compare at the end, and does the end token count for the length?
#
# </details>

# %%
from course_lib.nn.decoding import beam_search  # exercise

# %%
check(beam_search)

# %% [markdown]
# The example of the core, where only the newest token decides what may come next:

# %%
for beam_size in (1, 2):
    result = beam_search(lambda token_ids: log_p[token_ids[-1]], 0, 3, beam_size, 9)
    print("beams:", beam_size, "→", *(words[token_id] for token_id in result))

# %% [markdown]
# And the small model? For how many of 20 numbers do four beams and greedy decoding
# differ?

# %% tags=["nbval-ignore-output"]
others = 0
for pair in task.held_out[:20]:
    source_ids = [*task.tokenizer.encode(pair.source), END_ID]
    ask = own_decoder.next_log_probabilities(small, source_ids, cached_step)
    greedy = greedy_decode(ask, START_ID, END_ID, 40)
    others += beam_search(ask, START_ID, END_ID, 4, 40) != greedy
print("other translations with four beams:", others, "of 20")
assert others <= 5

# %% [markdown]
# For one, when the course was made: at nearly every step one token has about 90 %.

# %% [markdown]
# ## BLEU by hand
#
# The formula of *How good is a translation?* fits into a few lines, and two systems that
# you understand completely say what its values mean.

# %% [markdown]
# ### Exercise: bleu
#
# The formula above, on lists of tokens, for a whole set. Don't smooth anything: if some
# $p_n$ is 0, or no translation has n tokens, BLEU is 0. (The course's own version:
# `course_lib/bleu.py`.)
#
# <details><summary>Hint 1</summary>
#
# Which two numbers do you sum over all sentences, for each n, before you divide? How
# often does an n-gram match if it is written three times, but twice in the reference?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A `tuple(tokens[i : i + n])` can be counted, by `list.count` or `collections.Counter`.
# Where does i end? What do you return for an n without a match, before taking logarithms?
# Is r / c above 1 if translations are too short, or if they are too long?
#
# </details>

# %%
from course_lib.bleu import bleu  # exercise

# %%
check(bleu)

# %% [markdown]
# Does it agree with sacrebleu, if that splits only at spaces and smooths nothing? Here
# are the Transformer's twenty translations:

# %%
samples = first["transformer, samples"]
written_texts = [each["translation"] for each in samples]
wanted_texts = [each["target"] for each in samples]
plain = sacrebleu.BLEU(tokenize="none", smooth_method="none", force=True)
theirs = plain.corpus_score(written_texts, [wanted_texts]).score
yours = bleu(
    [text.split() for text in written_texts], [text.split() for text in wanted_texts]
)
print(f"yours {yours:.2f}, sacrebleu's {theirs:.2f}")
assert np.isclose(yours, theirs, rtol=1e-9)

# %% [markdown]
# A number says more if you know its value for systems that you understand. The first one
# doesn't translate at all: it copies the English text, for every text in the test.
#
# **Predict:** what is its BLEU?
#
# - [ ] Exactly 0
# - [x] Above 0, but below 5
# - [ ] About 20

# %%
test_sources = [pair.source.split() for pair in texts.test]
test_targets = [pair.target.split() for pair in texts.test]
of_copies = bleu(test_sources, test_targets)
print(f"copied: {of_copies:.1f}, with single words only: ", end="")
print(f"{bleu(test_sources, test_targets, max_n=1):.1f}")
assert 0.5 < of_copies < 1

# %% [markdown]
# Names and words such as *Home* and *ID* are the same in both languages, twice even four
# in a row, as in *World Air Quality Index*. So a BLEU of 1 means next to nothing.
#
# The second system gets every text exactly right, except those whose reference is a
# single word, which are all wrong.
#
# **Predict:** such references are a fifth of all. What is the BLEU?
#
# - [ ] 0
# - [ ] About 80
# - [x] Above 95

# %%
one_word = [tokens for tokens in test_targets if len(tokens) == 1]
but_these = [["?"] if len(tokens) == 1 else tokens for tokens in test_targets]
print("of a single word:", len(one_word), "of", len(test_targets))
print(f"all these wrong, the others right: {bleu(but_these, test_targets):.1f}")
print(f"these alone, all right: {bleu(one_word, one_word):.1f}")
assert round(bleu(but_these, test_targets), 1) == 98.6
assert (len(one_word), bleu(one_word, one_word)) == (280, 0.0)

# %% [markdown]
# A text counts by its n-grams, and a single word has one 1-gram and nothing else. So 280
# wrong texts cost only 1.4 BLEU; and on their own, all right, they have 0.

# %% [markdown]
# BLEU is made for whole test sets of longer texts. For single sentences it is almost useless,
# and the mean over sentences is not the BLEU of the set:

# %%
ones = ["eins zwei drei vier fünf", "offen"]  # translations
twos = ["eins zwei drei vier fünf", "die Tür ist auf"]  # references
each = [sacrebleu.corpus_bleu([ones[i]], [[twos[i]]]).score for i in (0, 1)]
mean, whole = np.mean(each), sacrebleu.corpus_bleu(ones, [twos]).score
print(f"mean of the two: {mean:.0f}  BLEU of both together: {whole:.0f}")
assert abs(mean - whole) > 5

# %% [markdown]
# ## More about the three systems
#
# Here are their training losses over the minutes (seed 0, smoothed targets):

# %%
curves = translation_tables.losses(runs)
minutes = [spent for spent, _ in curves.values()]
last = [means[-1] for _, means in curves.values()]
print("last losses:", last)
assert np.diff(last).round(1).tolist() == [-0.2, -0.3]
assert all(means[-1] < means[0] - 1 for _, means in curves.values())
assert max(minutes) < 1.4 * min(minutes)

# %%
alt = "All losses fall, the Transformer's furthest; no attention ends highest."
figures.losses_by_time(curves, alt=alt)

# %% [markdown]
# The losses predict the order of the systems, but not the gains: attention brings the
# recurrent system's loss down by 0.2 and 14 BLEU up, the Transformer takes it 0.3 lower and
# brings 4 BLEU.
#
# Is the difference between the best two larger than the spread between their seeds, for texts
# of each length?

# %%
chrf_rows = translation_tables.rankings(runs, "chrf").splitlines()
bleu_rows = translation_tables.rankings(runs, "bleu").splitlines()
print(*chrf_rows[:2], *bleu_rows[:2], sep="\n")
overlapping = [row for row in bleu_rows if row.endswith("overlap")]
print(*overlapping, sep="\n")
assert len(overlapping) == 1 and not any("overlap" in row for row in chrf_rows)

# %% [markdown]
# In chrF it is, for short texts and for long ones. In BLEU, the ranges overlap for the shortest,
# so these runs cannot tell.
#
# A word that never occurred in training is spelled from subwords, and may be translated like
# one with the same beginning. Is BLEU lower for texts with such a word?

# %%
print(translation_tables.known_words(runs))
drops = [runs.median(f"transformer, {each} bleu") for each in ("seen", "unseen")]
print(f"the Transformer loses {drops[0] - drops[1]:.1f} BLEU")
assert drops[0] - drops[1] > 10

# %% [markdown]
# Yes, above all for the Transformer. (These texts may differ in other ways too.)
#
# Last, the picture at the beginning of the lesson. It has the first two of the twenty with at
# least five words, and the Transformer's cross-attention for its *greedy* translation (last
# layer, mean over four heads). Did four beams write something else?

# %%
print(translation_tables.greedy_and_beam(runs))

# %% [markdown]
# Here, both searches wrote the same. To see what a head does, and not only what it attends to,
# take it out (Voita et al. 2019; lesson 13).

# %% [markdown]
# ## The large model
#
# Once you have run the command in *The real thing*, the last cell of this section translates
# real texts with the large model; until then it says what is missing. Begin with texts
# like those that it learned, and then type a different one: *The children are sleeping.*
# What will it make of that? How often did these words occur in training?

# %%
from collections import Counter

read = (word for pair in texts.train for word in translation_errors.words(pair.source))
counts = Counter(read)
for english in (
    "The door of the garage is open",
    "Add an automation for the light in the garden",
    "The children are sleeping.",
):
    print({word: counts[word] for word in translation_errors.words(english)})
assert (counts["children"], counts["sleeping"]) == (0, 4)

# %% [markdown]
# A word that never occurs in 31,335 texts, like *children*, or only a few times, like
# *sleeping*, can barely be learned: its subwords mean something else. No loss, schedule
# or search can fix that, but other pairs would.

# %% tags=["nbval-ignore-output"]
from course_lib.nn.training.checkpoints import CheckpointError

try:
    large_one, its_subwords = translation_trace.load_trained()
    english = "The door of the garage is open"
    watched = translation_trace.trace_translation(large_one, its_subwords, english)
    watched.show(pause=0.1)
except CheckpointError as fault:
    print(fault)

# %% [markdown]
# ## What made it better
#
# The first version was a plain training run. Four changes followed, each on top of the
# one before (`course_lib/experiments/translation_ablation.py`):
#
# - **preprocessing** of the text, as in lesson 06;
# - **more pairs**, among them single sentences of longer texts;
# - an **alignment start**: word counts (IBM Model 1; Brown et al., 1993) tell which
#   German tokens an English token usually becomes, and its embedding starts near theirs;
# - **more time**.
#
# The column "no near copy" leaves out test texts that differ by one word from a training
# text, because they measure memory rather than translation.
#
# **Predict:** which change gains most BLEU?
#
# - [ ] 1.6 times the time
# - [ ] The alignment start
# - [ ] More pairs
# - [x] Preprocessing

# %%
from course_lib.experiments import translation_ablation

recipe = record.read("translation_ablation")
print(translation_ablation.table(recipe))
gains = translation_ablation.bleus(recipe)
medians = np.median([*gains.values()], axis=1)  # in the order of the table
assert np.diff(medians).round().tolist() == [6, -1, 0, 4]

# %%
alt = "Preprocessing adds about six, more time four, the other two next to nothing."
figures.gains(gains, xlabel="BLEU of 1,000 texts, median of three runs", alt=alt)

# %% [markdown]
# Preprocessing gains most. More pairs don't raise the BLEU of all texts: 31.3 becomes
# 30.7. But without near copies it grows, from 21.6 to 23.5.
#
# The last gain comes from training 1.6 times as long. The last row repeats that without
# the alignment start, which costs about one BLEU, less than the spread between seeds. So
# a gain holds only for the setting in which it was measured.
#
# Twenty translations before and after the four changes:

# %%
print(translation_ablation.before_and_after(recipe))
