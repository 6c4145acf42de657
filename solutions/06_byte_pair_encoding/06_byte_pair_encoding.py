# %% [markdown]
# # Byte-pair encoding
#
# **What is a token?**
#
# After this lesson you can
#
# - train byte-pair encoding on a text, and use it on words that the text did not have;
# - say which of several splits it makes, and why;
# - turn any text into token ids and back without losing a byte;
# - weigh the number of merges, and see whom a vocabulary serves badly.
#
# **About 180 minutes.** You need Python's dictionaries, tuples and loops, and of lesson
# 04 that n tokens have n² scores.
#
# **Data:** run `make data` once in the course's folder, with a network. Without it, the
# exercises, their checks and the toy examples work; cells about German do not: the
# first says what to run, others miss what it defines.

# %%
from itertools import pairwise

from autograder import check
from course_lib import fast_bpe, figures, merges_file
from course_lib.bpe import END_OF_WORD, spell, vocabulary
from course_lib.byte_bpe import ALPHABET, BYTE_OF, byte_vocabulary, split_special
from course_lib.fast_bpe import pre_tokens, spell_bytes

# %% [markdown]
# ## A question to carry through the lesson
#
# A model has an **embedding**: a table with one row of numbers for each word that it
# knows. Here is German to learn from: what the program Home Assistant says to people
# who live with it (texts under the Apache-2.0 licence). German likes to glue words
# together; you need not speak it.

# %%
new_word = "Nebelwahrscheinlichkeit"  # how likely fog is

from course_lib.corpora.translations import translation_pairs
from course_lib.lessons import token_statistics

pairs = translation_pairs()
german = "\n".join(pair.target for pair in pairs.train)
held_out = "\n".join(pair.target for pair in pairs.test)
print("over 80,000 words to learn from:", len(german.split()) > 80_000)
print(f"{new_word} among them:", new_word in german)

# %% [markdown]
# *Nebelwahrscheinlichkeit* has no row. It is a good German word all the same. **How can
# a model read a word that it has never seen?** The last picture of this lesson shows
# how.

# %%
alt = "The Transformer's encoder and decoder; lit are source and target, the token ids."
figures.lesson_map("06", alt=alt)

# %% [markdown]
# What comes out of this lesson are the numbers at the bottom of the Transformer.
#
# Is that rare, a word without a row? **Predict:** every word of the training text gets a row. Of the words in
# held-out text of the same kind, how many are unknown: one in a thousand, one in a
# hundred, one in seven?

# %%
known = token_statistics.most_frequent_words(german)
unknown = token_statistics.share_out_of_vocabulary(held_out, known)
print(f"rows: about {round(len(known), -3):,}, unknown: {unknown:.0%}")
assert 0.12 < unknown < 0.19 and new_word not in known

# %% [markdown]
# About one word in seven, with an embedding of some 20,000 rows. Each becomes the same
# row *unknown*, and what it said is gone.
#
# The other extreme: one row per **letter**. A few hundred rows, and hardly anything is
# unknown. But a sentence becomes long. **Predict:** how many times as many scores does
# attention compute if each word is its letters and the space between them?

# %%
letters_per_word = len(held_out) / len(held_out.split())
print(f"letters per word, with the space: {letters_per_word:.0f}")
print(f"scores: {round(letters_per_word**2, -1):.0f} times as many")
assert 8 < letters_per_word < 9.5

# %% [markdown]
# Some 80 times as many scores, and the model would first have to learn to spell.
# Between words and letters there are **subwords**, parts of words. Which ones?
#
# An old idea for making files smaller (Philip Gage, 1994): take the two signs that are
# most often neighbours, and give the pair a sign of its own. Repeat. Sennrich, Haddow
# and Birch took it up for translation in 2016: there, the results are **tokens**.
#
# Four words for this lesson: a **symbol** is what a word is made of at the moment (at
# first, letters), a **merge** joins two of them, **tokens** are the symbols that are
# left at the end, and all tokens together are the **vocabulary**.

# %% [markdown]
# ## Counting words, with their ends
#
# Merges happen inside words only, so it is enough to know each word and how often it
# occurs. But a model gets a text's symbols in one row, and such a row does not tell
# where a word ends. **Predict:** which text is this?

# %%
print(list("mateats"))

# %% [markdown]
# *mat eats*, *ma teats*, *mate ats*: nobody can say. So the last letter of each word
# carries a mark, `</w>`, for the end of the word; with it, it is a symbol of its own,
# other than the same letter elsewhere.

# %%
print(spell("mat"), spell("eats"))

# %% [markdown]
# ### Exercise: word_counts
#
# Count how often each word occurs. A word is written as a tuple of symbols, since
# tuples can be keys of a dictionary; `spell`, which the cell above uses, writes it.
#
# <details><summary>Hint 1</summary>
#
# Words are what stands between white space. Which method of strings gives them,
# whatever and how much white space there is?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `text.split()`, with nothing in the brackets. For each word, the dictionary's entry
# grows by one; `counts.get(symbols, 0)` is 0 where there is none yet.
#
# </details>

# %%
from course_lib.bpe import word_counts  # exercise

# %%
check(word_counts)

# %% [markdown]
# Six words make a corpus small enough to follow by hand. To keep it plain, it has no
# marks at first; they come back soon.

# %%
toy = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "eat": 2}
toy_words = {tuple(word): count for word, count in toy.items()}
print(toy_words)

# %% [markdown]
# ## Which pair is the most frequent?
#
# Count by hand, before you read on: how often are *a* and *t* neighbours, and how
# often *m* and *a*? Mind that each word counts as often as it occurs.

# %% [markdown]
# ### Exercise: pair_counts
#
# Count every pair of neighbours, within words.
#
# <details><summary>Hint 1</summary>
#
# What do *mat* 5 times and *mats* 2 times add to the pair (a, t)? Not 2.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `pairwise(symbols)` of `itertools` gives neighbours: for `abc` first (a, b), then (b,
# c). Add the *word's* count for each of them.
#
# </details>

# %%
from course_lib.bpe import pair_counts  # exercise

# %%
check(pair_counts)

# %% [markdown]
# On the six words:

# %%
print(pair_counts(toy_words))
assert pair_counts(toy_words)["a", "t"] == sum(toy.values()) == 19

# %% [markdown]
# *a t* wins with 19: it is in every word. Now it becomes one symbol, everywhere. That
# is less plain than it sounds. **Predict:** join (a, a) in `a a a`. What should come
# out?

# %%
print("aaa".replace("aa", "[aa]"))

# %% [markdown]
# `aa a`: two of the three are joined, from the left, and the third is left over: what
# has been joined is not there any more for a second pair. Python's `replace` agrees so
# far. But on words written as text it goes wrong: **predict** what it makes of joining
# (m, a) here.

# %%
spelt = ("m", "a", "m", "at")
print("as text:", " ".join(spelt).replace("m a", "ma").split())

# %% [markdown]
# > **Popular error: merging with a replacement in the text.** The word's symbols were
# > m, a, m and at; (m, a) stands there once, at the front. The replacement found it a
# > second time, in the first letter of *at*. Programs that merge this way must check
# > what surrounds a match; comparing symbols needs no such care.

# %% [markdown]
# ### Exercise: merge_pair
#
# Join a pair wherever it stands in a word, from left to right.
#
# <details><summary>Hint 1</summary>
#
# Walk through the word with a position that you move yourself. By how much does it move
# after a pair that was joined, and by how much otherwise?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `while position < len(symbols)`. Compare `symbols[position : position + 2]` with the
# pair: a slice at the very end is short, and raises no error. Both must be tuples to be
# equal.
#
# </details>

# %%
from course_lib.bpe import merge_pair  # exercise

# %%
check(merge_pair)

# %% [markdown]
# ## Training: again and again
#
# Count, join the winner everywhere, and count **anew**, since the old counts are wrong
# now:

# %%
after = {merge_pair(word, ("a", "t")): count for word, count in toy_words.items()}
print(pair_counts(after))
assert pair_counts(after)["m", "at"] == 10 and pair_counts(after)["at", "e"] == 6

# %% [markdown]
# (m, a) had 10; now there is not one, and (m, at) has 10 instead. That is merge 2. It
# takes from (at, e), which has 6 here, the three in *mate*. Three are left, so merge 3
# is (c, at), with 4. And merge 4? **Predict** it.

# %%
for pair in [("m", "at"), ("c", "at")]:
    after = {merge_pair(word, pair): count for word, count in after.items()}
print(pair_counts(after))
assert pair_counts(after)["mat", "e"] == pair_counts(after)["at", "e"] == 3

# %% [markdown]
# A **tie**: (mat, e) and (at, e) both occur 3 times. The paper does not say who wins,
# and each program has a rule of its own. Ours is that of the paper's authors' program:
# the pair that is last in Python's order of tuples. Here, (mat, e).
#
# A rule is needed, since otherwise the order of a dictionary decides, and the same
# words in another order give different tokens. At the end of the lesson you will see
# two programs part over a tie.

# %% [markdown]
# ### Exercise: train_bpe
#
# Learn the merges, with this rule for ties. End early when no pair occurs twice:
# joining what occurs once learns a word by heart and saves nothing elsewhere.
#
# <details><summary>Hint 1</summary>
#
# A loop: count pairs with your `pair_counts`, choose, write down, join in all words
# with your `merge_pair`. The dictionary handed in must stay as it is. Words such as
# `a b c` and `ab c` become equal: their counts add up. (Above, all are letters: it
# cannot happen.)
#
# </details>
# <details><summary>Hint 2</summary>
#
# `max(counts, key=…)` finds the winner if the key is a tuple of two things: first the
# count, then what decides ties. What if there are no pairs at all? `max` takes a
# `default`.
#
# </details>

# %%
from course_lib.bpe import train_bpe  # exercise

# %%
check(train_bpe)

# %% [markdown]
# Five merges, and what they save. **Predict** by how much each merge shortens the text:

# %%
merges = train_bpe(toy_words, 5)
words_now = toy_words
print("letters:", sum(len(word) * n for word, n in words_now.items()))
for pair in merges:
    words_now = {merge_pair(word, pair): n for word, n in words_now.items()}
    print(*pair, "→", sum(len(word) * n for word, n in words_now.items()), "tokens")
assert merges[:3] == [("a", "t"), ("m", "at"), ("c", "at")]
assert sum(len(word) * n for word, n in words_now.items()) == 23

# %% [markdown]
# 62, 43, 33, 29, 26, 23: each merge takes away one symbol wherever its pair stood. As a
# picture, *mats* from its letters at the bottom to its two tokens:

# %%
trees = token_statistics.merge_trees("mats", merges)
alt = "First a and t are joined, then m and at; mat and s are the two tokens of mats."
figures.merge_trees(trees, alt=alt)

# %% [markdown]
# Now words of your own. Change the list `chosen` (any lower-case words) and run both cells:
# the five merges of the toy are made in them one after the other, whether the toy had these
# words or not. **Press "merge"**, or move the slider, and **predict** each time what the next
# merge joins.

# %%
chosen = ["mats", "cats", "mates", "hat", "matte"]
splits, frequencies = {word: [[*word]] for word in chosen}, []
words_now = toy_words
for pair in merges:
    frequencies.append(pair_counts(words_now)[pair])
    words_now = {merge_pair(word, pair): n for word, n in words_now.items()}
    for steps in splits.values():
        steps.append([*merge_pair(tuple(steps[-1]), pair)])
print("times each pair stood in the toy when it was joined:", frequencies)

# %%
alt = "After five merges mats is mat and s; words that the toy lacks keep letters, too."
figures.merge_steps(splits, merges, frequencies, alt=alt)

# %% [markdown]
# Notice that a merge does nothing in a word that lacks its pair, and that no word is left
# out: what nobody merged stays letters.

# %% [markdown]
# ## No mark, or a mark in two ways
#
# The toy had no marks. Real programs have them, in one of two ways: as a symbol of
# their own after the last letter (the paper, and the first version of its program), or
# glued to the last letter, as our `spell` does (that program since version 0.2).
# **Predict:** do the three (no mark, apart, glued) learn the same merges?

# %%
apart = {(*word, END_OF_WORD): count for word, count in toy.items()}
glued = {spell(word): count for word, count in toy.items()}
for name, corpus in {"none": toy_words, "apart": apart, "glued": glued}.items():
    print(f"{name:6}", *(f"{left}+{right}" for left, right in train_bpe(corpus, 5)))
assert train_bpe(apart, 5)[:2] == [("a", "t"), ("at", END_OF_WORD)]
assert train_bpe(glued, 5)[:2] == [("a", "t" + END_OF_WORD), ("a", "t")]

# %% [markdown]
# Three lists. With marks, *at* at the end of a word and *at* inside are two tokens:
# with the mark apart, they share their first merge; glued, they are learned one after
# the other. So merges of one program are of no use to another that marks otherwise.
#
# Each merge adds one token to the vocabulary. Some texts write `mat@@ s`: there,
# what is **not** the end is marked, with `@@`. It says as much, the other way round:

# %%
tokens = ["mat", "s</w>", "e", "at</w>"]
marked = [t.removesuffix("</w>") if "</w>" in t else t + "@@" for t in tokens]
print(*marked)

# %% [markdown]
# ## Using the merges on a new word
#
# *meat* was not in the corpus. Its symbols are joined by the learned merges. But which
# first? Take three letters. In training, *bc* was more frequent than *ab*:

# %%
abc_merges = train_bpe({("b", "c"): 5, ("a", "b"): 4}, 2)
print(abc_merges)

# %% [markdown]
# Now the word *abc* comes, where only one of the two can be joined. **Predict** the
# tokens: `ab c` or `a bc`? Three rules come to mind:
#
# 1. the merge that was **learned first**;
# 2. the **longest token** that fits, from the left;
# 3. what is **most frequent** in the text to be encoded. Let that be `ab ab abc`.

# %%
text = "ab ab abc"
print("longest match:", token_statistics.longest_match("abc", {"ab", "bc"}))
print("frequency now:", token_statistics.most_frequent_first("abc", abc_merges, text))

# %% [markdown]
# > **Popular error: "the longest match wins", or "the most frequent merge wins".**
# > Byte-pair encoding repeats what training did, in training's order: by **rank**, so
# > the first rule is right, and the answer is `a bc`. Merges learned early *were* the
# > most frequent ones, in training, at that moment. What is frequent in the text at
# > hand plays no part: else a word's tokens would depend on its neighbours.

# %% [markdown]
# ### Exercise: encode_word
#
# Split a word into tokens, with the merges by rank.
#
# <details><summary>Hint 1</summary>
#
# Of all the pairs that stand in the word, which was learned first? Join it with your
# `merge_pair`, and look again: new pairs have come up. Training learned those later,
# since it had to make their parts first.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A dictionary from pair to rank answers "known?" and "how early?". `min(…, key=…)`
# finds the earliest of the known pairs. Stop when no pair of the word is known.
#
# </details>

# %%
from course_lib.bpe import encode_word  # exercise

# %%
check(encode_word)

# %% [markdown]
# By rank, the three letters and the word that was not in the corpus:

# %%
print("abc: ", encode_word(("a", "b", "c"), abc_merges))
print("meat:", encode_word(tuple("meat"), merges))
assert encode_word(("a", "b", "c"), abc_merges) == ["a", "bc"]

# %% [markdown]
# Does it matter in earnest? Learn 4,000 merges on the German. Your `train_bpe` counts
# all pairs anew for every merge, so that would take it many minutes; `train_bpe_fast`
# of the course keeps the counts up to date and gives the **same merges**, in seconds.
# **Predict:** how many words of the held-out text does the longest match split
# differently?

# %%
counts = word_counts(german)
most = fast_bpe.train_bpe_fast(counts, 16_000)  # all that this lesson will need
learned = most[:4000]
assert learned[:4] == train_bpe(counts, 4)
encode = fast_bpe.word_encoder(learned)  # your encode_word, for whole texts
tokens_known = set(vocabulary(counts, learned))
other = [
    word
    for word in held_out.split()
    if token_statistics.longest_match(spell(word), tokens_known) != encode(word)
]
print(f"split differently: {len(other) / len(held_out.split()):.0%}")
assert 0.08 < len(other) / len(held_out.split()) < 0.16

# %% [markdown]
# About one word in eight. So whoever trains with one rule and encodes with another
# feeds the model splits that it was not trained on, and no error is raised.
#
# > **Popular error: "BERT uses byte-pair encoding".** BERT uses **WordPiece**, which
# > does match the longest token from the left. Its vocabulary has no merges and no
# > ranks; what goes on inside a word begins with `##`. GPT-2 and RoBERTa do use
# > byte-pair encoding, and so did the Transformer's paper for German.
#
# The library `tokenizers` has both. The same tokens, the same word:

# %%
from tokenizers import Tokenizer, models

ids = {token: n for n, token in enumerate(["a", "b", "c", "bc", "ab"])}
by_rank = Tokenizer(models.BPE(ids, abc_merges))
inner = {"##" + token: n + 5 for token, n in ids.items()} | {"?": 10}
by_length = Tokenizer(models.WordPiece(ids | inner, unk_token="?"))
print("BPE:      ", by_rank.encode("abc").tokens)
print("WordPiece:", by_length.encode("abc").tokens)
assert by_length.encode("abc").tokens == ["ab", "##c"]

# %% [markdown]
# ## Back to text
#
# A model that writes gives tokens, and somebody must make text of them. That is why the
# words' ends were marked.

# %% [markdown]
# ### Exercise: decode
#
# Join the tokens to a text. The mark becomes a space, except at the very end.
#
# <details><summary>Hint 1</summary>
#
# A token that does not carry the mark goes on in the next one, with nothing between.
# What comes after one that does?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Look at the *end* of each token: `token.endswith(END_OF_WORD)`, `removesuffix`. Mind
# the last token, which may or may not carry the mark; and a token may be a text with
# `</w>` in the middle.
#
# </details>

# %%
from course_lib.bpe import decode  # exercise

# %%
check(decode)

# %% [markdown]
# Is it lossless? **Predict** which of these texts come back as they were. The last one
# is encoded with merges that know about `</w>` as text:

# %%
texts = ["mat eats", "mat  eats", " mat eats\n"]
encode_toy = fast_bpe.word_encoder(train_bpe(glued, 5))  # your encode_word, for texts
for example in texts:
    decoded = decode(encode_toy(example))
    print(f"{example!r:14} → {decoded!r:10} same: {decoded == example}")
tags = [("<", "/"), ("</", "w"), ("</w", ">")]
print(f"'a</w>b'       → {decode(encode_word(spell('a</w>b'), tags))!r}")
assert [decode(encode_toy(each)) == each for each in texts] == [True, False, False]

# %% [markdown]
# Only the first one. What is lost: how much and which white space there was between two
# words, white space at both ends, and `</w>` where the text itself has it: a token then
# looks as if a word ended.
#
# For a translator of sentences that is bearable; for a program's code, where white
# space has a meaning, it is not. Bytes will mend it.
#
# One more practical thing: merges are *part of the model*. Others must be able to load
# them, so they are kept as text, one merge per line:

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "merges.txt"
    merges_file.save_merges(file, merges)
    print(file.read_text(encoding="utf-8").split("\n")[:5])
    assert merges_file.load_merges(file) == merges

# %% [markdown]
# Any order other than this one would be another encoding: a line's number *is* the
# rank.

# %% [markdown]
# ## Unknown words
#
# Back to the German. The merges were learned on the training text; the held-out text is
# new. We compare with a word vocabulary of the same size as ours: the most frequent
# words.

# %%
size = len(tokens_known)
words_unknown = token_statistics.share_out_of_vocabulary(held_out, known[:size])
subwords = [token for word in held_out.split() for token in encode(word)]
tokens_unknown = [token for token in subwords if token not in tokens_known]
print(f"words, a vocabulary as large:      {words_unknown:.0%} unknown")
print(f"words, all of the training text:   {unknown:.0%} unknown")
print("byte-pair encoding, 4,000 merges: ", len(tokens_unknown), "tokens unknown")
assert 0.2 < words_unknown < 0.33 and len(tokens_unknown) == 0

# %% [markdown]
# None unknown, with about 4,200 rows. (*Gerät* and *Gerät.* are two words here. Is it
# all because of full stops? No:)

# %%
signs = str.maketrans("", "", ".,:;!?()\"'")
bare = token_statistics.most_frequent_words(german.translate(signs))
unknown_bare = token_statistics.share_out_of_vocabulary(held_out.translate(signs), bare)
print(f"words without such signs: {unknown_bare:.0%} unknown")
assert 0.1 < unknown_bare < unknown

# %% [markdown]
# Does that mean that nothing is ever unknown? **Predict:** what becomes of an umbrella?

# %%
umbrella = encode("Regen ☂")
print(umbrella, [token in tokens_known for token in umbrella])
assert umbrella[-1] not in tokens_known

# %% [markdown]
# > **Popular error: "with byte-pair encoding there are no unknown tokens".** Not on the
# > level of letters: what training never saw has no row, be it ☂, 雨 or a Greek letter.
# > On the level of **bytes** it is true, as you will see.
#
# Now the same sentence as words, as tokens and as letters:

# %%
sentence = "Die Regenwahrscheinlichkeit ändert sich stündlich"
letters = sentence.replace(" ", "␣")
rows = {"words": sentence.split(), "tokens": encode(sentence), "letters": letters}

# %%
alt = "The sentence as 5 words, as a few more tokens, and as 49 letters and spaces."
figures.token_boxes(rows, alt=alt)

# %% [markdown]
# ## Before the first merge
#
# To `split()`, *Gerät* and *Gerät.* are two words. **What should a word be?** The
# **pre-tokenisation** decides that, before the first merge. For a translator, it makes
# each punctuation mark a word of its own, with a joiner ￭ on a side that had no space.
# Then **truecasing** gives the first word of a sentence the case that it has most often
# *elsewhere* in the training text.
#
# **Predict:** how many spellings of *aktiviert* (enabled) does the training text have
# as it is, with punctuation apart, and truecased as well? And when both steps are
# undone, does every text come back?

# %%
from collections import Counter

from course_lib.preprocessing import Preprocessing, separate_punctuation

learned_case = Preprocessing.learn(pairs.train)
ways = {"as it is": str, "punctuation apart": separate_punctuation}
ways["truecased as well"] = learned_case.prepare_target
for way, prepare in ways.items():
    words = "\n".join(map(prepare, german.split("\n"))).split()
    enabled = Counter(w for w in words if w.lower().strip(".,)") == "aktiviert")
    print(f"{way:17}", *(f" {word} {n}" for word, n in enabled.most_common()))
undone = {t: learned_case.restore_target(prepare(t)) for t in german.split("\n")}
changed = [text for text in undone if undone[text] != text]
print(f"{len(changed)} of {len(undone):,} texts come back with another case")
for example in ("Max. relative Luftfeuchtigkeit", "homee konfigurieren", "dB-Wert"):
    back_again = learned_case.restore_target(prepare(example))
    print(f"  {example} → {prepare(example)} → {back_again}")

# %% [markdown]
# Six spellings, then two, then one. Punctuation always comes back. Case is lost where a
# full stop ends no sentence (*Max.*), or where a text begins with a small letter (the
# name *homee*). *dB* is safe: a word with a capital behind its first letter is left
# alone.
#
# Now learn 4,000 merges on each of the three training texts. **Predict** for held-out
# texts: how many of the unknown words are still unknown, most, half or hardly any? And
# are there fewer tokens?

# %%
assert len(enabled) == 1 and all(undone[t].lower() == t.lower() for t in changed)
print(f"{'':17} different  in 100 texts: unknown  words  tokens")
for way, prepare in ways.items():
    old, new = ("\n".join(map(prepare, t.split("\n"))) for t in (german, held_out))
    old_words, new_words = word_counts(old), new.split()
    unseen = [word for word in new_words if spell(word) not in old_words]
    to_subwords = fast_bpe.word_encoder(fast_bpe.train_bpe_fast(old_words, 4000))
    totals = [len(each) for each in (unseen, new_words, to_subwords(new))]
    per_100 = [round(100 * total / len(pairs.test)) for total in totals]
    print(f"{way:17} {round(len(old_words), -2):9,}", end=" ")
    print(f"{per_100[0]:22} {per_100[1]:6} {per_100[2]:7}", end="   ")
    print(*to_subwords(prepare("Aktiviert, aktiviert.")))

# %% [markdown]
# Different words fall from 20,100 to 13,600, and unknown ones from 57 to 33 in 100
# texts. Truecasing does little of that: German nouns have their capital everywhere.
# Tokens are **not** fewer, since punctuation marks count too: 499 words instead of 371,
# and 761 tokens instead of 746. What is gained shows on the right. *aktiviert* was in
# parts next to a comma or a full stop; now it is the same token everywhere, and its row
# is learned from all 208 of them.
#
# Such counts are half the story. Whether translations get better, only a trained
# translator can tell (lesson 11).

# %% [markdown]
# ## Frequent words stay whole
#
# That is how byte-pair encoding is usually praised: frequent words whole, rare ones in
# parts. **Predict:** with 4,000 merges, how many of the 1,000 most frequent words are
# one token? And of the next 1,000?

# %%
ranges = {"1–100": (0, 100), "1–1,000": (0, 1000), "1,001–2,000": (1000, 2000)}
ranges["5,001–10,000"] = (5000, 10_000)
shares = {}
for n in (1000, 4000, 8000):
    now = fast_bpe.word_encoder(most[:n])
    for name, (first, last) in ranges.items():
        shares[n, name] = token_statistics.share_whole(known[first:last], now)
    print(f"{n:5} merges", *(f" {name}: {shares[n, name]:4.0%}" for name in ranges))
assert shares[8000, "1–1,000"] > 0.995 and shares[1000, "1–1,000"] < 0.3
assert 0.7 < shares[4000, "1–1,000"] < 0.98 and shares[4000, "1,001–2,000"] < 0.15
assert shares[1000, "1–100"] > 0.9 and shares[8000, "5,001–10,000"] < 0.05
assert shares[8000, "1,001–2,000"] > 0.85

# %% [markdown]
# True, with a sharp edge, and the edge is where you put it. With 8,000 merges, all of
# the first thousand are whole; with 1,000 merges, the first hundred and few others.
# There is no property of a *word* here: of the second thousand, 4,000 merges leave
# hardly any whole, and 8,000 nearly all.

# %% [markdown]
# ## Compounds
#
# German glues: *Niederschlag* (what falls from the sky) + s + *Wahrscheinlichkeit*.
# Here is hope that tokens are the parts. **Predict** where they are cut:

# %%
compounds = ["Niederschlagswahrscheinlichkeit", "Haustürschlüssel", "Spülmaschine"]
cut = {word: encode(word) for word in compounds}
for tokens_of_word in cut.values():
    print(" | ".join(tokens_of_word).replace(END_OF_WORD, ""))
assert cut["Haustürschlüssel"][0] not in ("Haus", "Haustür")
assert len(cut["Niederschlagswahrscheinlichkeit"]) <= 4
assert [word in german for word in compounds] == [True, False, False]

# %% [markdown]
# The first is cut as a German would; it is in the training text, the other two are not.
# *Haustürschlüssel* (the key, *Schlüssel*, of the front door, *Haus-tür*) is not: the
# first cut goes right through *Haus*. And *Spülmaschine*, a machine that rinses, loses
# its last letter.
#
# > **Popular error: "tokens are the parts that carry meaning".** Nobody told the
# > training about meaning: it counts. Where a part is frequent, count and meaning
# > agree, often enough to be useful. Elsewhere they do not.

# %% [markdown]
# ## How many merges?
#
# More merges, shorter sentences, fewer scores; but every token has a row of d_model
# numbers to be learned. **Predict:** the step from 4,000 to 16,000 merges makes the
# embedding four times as large. Does it halve the number of tokens?

# %%
n_merges = [125, 250, 500, 1000, 2000, 4000, 8000, 16_000]
rows_of = {n: len(vocabulary(counts, most[:n])) for n in n_merges}
per_word = {
    n: token_statistics.tokens_per_word(held_out, fast_bpe.word_encoder(most[:n]))
    for n in n_merges
}
for n in n_merges:
    rows_by_512 = rows_of[n] * 512 / 1e6
    print(f"{n:6} merges: {per_word[n]:.1f} tokens per word, {rows_by_512:.1f} million")

# %% [markdown]
# Not nearly: from 4,000 to 16,000 merges, the tokens become fewer by about a quarter.
# The millions are the numbers in the embedding for d_model = 512. As a picture, with a
# smaller model for comparison:

# %%
millions = {
    f"d_model = {d}": [rows_of[n] * d / 1e6 for n in n_merges] for d in (128, 512)
}
lengths = [per_word[n] for n in n_merges]

# %%
alt = "Tokens per word fall ever more slowly; the embedding grows with the merges."
figures.length_and_size(n_merges, lengths, millions, alt=alt)

# %% [markdown]
# And there is a second price: a row can be learned only from text in which its token
# occurs. The tokens in use are those that the training text becomes. **Predict:** with
# 16,000 merges, how many of the tokens in use occur fewer than five times in the whole
# text?

# %%
for n in (1000, 4000, 16_000):
    seldom = token_statistics.share_rare(german, fast_bpe.word_encoder(most[:n]), 5)
    print(f"{n:6} merges: {seldom:.0%} of the tokens in use occur fewer than 5 times")
assert seldom > 0.5 and 1.3 < per_word[16_000] < 1.7 and 1.8 < per_word[4000] < 2.3
assert 0.6 < per_word[16_000] / per_word[4000] < 0.85

# %% [markdown]
# > **Popular error: "a larger vocabulary is better".** On this small text, most tokens
# > of the largest vocabulary are hardly ever seen. Usual sizes are some thousands to some
# > hundred thousand, and grow with the text and the number of languages: 37,000 for the
# > Transformer's paper, on 4.5 million pairs of sentences, and 256,000 for Gemma (2024).

# %% [markdown]
# ## Bytes: nothing is unknown, nothing is lost
#
# A computer keeps text as **bytes**, numbers from 0 to 255. In UTF-8, the usual way, a
# character takes one to four of them. **Predict** for each of these:

# %%
for character in ["a", "ä", "Ω", "雨", "☂", "🙂"]:
    print(character, list(character.encode()))
assert [len(c.encode()) for c in "aäΩ雨☂🙂"] == [1, 2, 2, 3, 3, 4]

# %% [markdown]
# So train on bytes instead of letters: with the 256 bytes in the vocabulary from the
# start, there is no text that cannot be written. White space is bytes too, and belongs
# to the word *after* it: no mark is needed, and none is lost. Both are GPT-2's ideas,
# and so are the first two of three functions that the course gives you:

# %%
print(pre_tokens("The cat's 12  mats!"))
print(spell_bytes(" mä"))
print(split_special("a<end>b", ("<end>",)))
assert "".join(pre_tokens("The cat's 12  mats!")) == "The cat's 12  mats!"

# %% [markdown]
# The first does the pre-tokenisation: it cuts a text into runs of letters, digits,
# other signs and white space. Within such a **pre-token**, merges are allowed.
# `spell_bytes` writes each byte as **one visible character**, so that our functions for
# letters serve for bytes as well: a space is written Ġ, and ä is its two bytes.
# Encoding gives a **token id** for each token: 0 … 255 are the bytes, 256 is the first
# merge, and so on.
#
# Some tokens are not text but orders to the model, such as *here the text ends*. These
# **special tokens** are never split and get the last ids. `split_special` cuts a text
# at them.

# %% [markdown]
# ### Exercise: encode_bytes
#
# Any text becomes token ids. `ALPHABET` has the 256 characters in the order of their
# bytes. The errors are raised for you: by `split_special` for an empty special token,
# and by `spell_bytes` for half a surrogate pair, which a Python string can hold and
# UTF-8 cannot.
#
# <details><summary>Hint 1</summary>
#
# First cut at special tokens, then into pre-tokens, then each of these into tokens,
# with your `encode_word`. What is the id of the token that the third merge made?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A dictionary from token to id: the 256 characters first, then `left + right` of each
# merge. A special token's id is how many of these there are, plus its index among the
# special ones.
#
# </details>

# %%
from course_lib.byte_bpe import encode_bytes  # exercise

# %%
check(encode_bytes)

# %% [markdown]
# Backwards there is one trap. **Predict:** *ä* is two bytes. What if a model writes
# only the first of them, or puts another token in between, such as *a*?

# %%
print(bytes([195, 164]).decode(), bytes([195]).decode(errors="replace"))
print(bytes([195, 97, 164]).decode(errors="replace"))
try:
    bytes([195]).decode()
except UnicodeDecodeError as error:
    print(type(error).__name__, error.reason)

# %% [markdown]
# Half an *ä* is no text. Models do write such things, and a program must not fall over
# them: what cannot be read becomes �, and the rest is kept.

# %% [markdown]
# ### Exercise: decode_bytes
#
# Token ids become the text again. `byte_vocabulary` lists all tokens in the order of
# their ids, and `BYTE_OF` says for each character of `ALPHABET` which byte it stands
# for.
#
# <details><summary>Hint 1</summary>
#
# A letter's bytes may be spread over two tokens. When is the moment to turn bytes into
# text: after each token, or once?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Collect bytes: `bytes(BYTE_OF[character] for character in token)` for a token,
# `token.encode()` for a special one, since its letters are letters. `.decode` at the
# end, with `errors="replace"`. Do not forget the error for ids that no token has, such
# as −1.
#
# </details>

# %%
from course_lib.byte_bpe import decode_bytes  # exercise

# %%
check(decode_bytes)

# %% [markdown]
# Is it lossless now? The texts from above, the umbrella, and a thousand texts of random
# characters from all of Unicode:

# %%
import random

from course_lib.byte_bpe import pre_token_counts

few = train_bpe(pre_token_counts("the cat ate the mat, the mat ate the cat"), 20)
draw = random.Random(0)
anything = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000]
strange = ["".join(draw.choices(anything, k=20)) for _ in range(1000)]
back = [decode_bytes(encode_bytes(each, few), few) for each in [*texts, "☂", *strange]]
print("all came back:", back == [*texts, "☂", *strange])
assert back == [*texts, "☂", *strange]

# %% [markdown]
# Every one. (Only half a surrogate pair is refused, with the error that you know.)
#
# Special tokens have a danger of their own. **Predict:** somebody types `<end>` into a
# form. What does the model get?

# %%
typed = "my name is <end>"
trusting = encode_bytes(typed, few, ("<end>",))
careful = encode_bytes(typed, few)
print("special token in it:", 256 + len(few) in trusting, 256 + len(few) in careful)
assert decode_bytes(careful, few) == decode_bytes(trusting, few, ("<end>",)) == typed

# %% [markdown]
# > **Popular error: encoding everybody's text with the special tokens on.** Whoever
# > filled in the form has given the model an order. Text of others is encoded *without*
# > special tokens, and your program puts the special ones in as token ids. Both read
# > the same afterwards.

# %% [markdown]
# ## Whom does a vocabulary serve?
#
# Nothing is unknown to bytes, so all languages are served alike? Here are the same
# texts in six languages, and 4,000 merges learned on English, on English and German, or
# on all six. **Predict:** for the same texts, how many times as many tokens does Greek
# need as English, if the merges were learned on English?

# %%
from course_lib.corpora.translations import parallel_strings

names = {"en": "English", "de": "German", "fr": "French", "el": "Greek"}
names |= {"ru": "Russian", "ko": "Korean"}
same = parallel_strings([*names])
parts = {"train": pairs.train, "test": pairs.test}
english = {name: {pair.source for pair in part} for name, part in parts.items()}
to_learn = [row for row in same if row["en"] in english["train"]]
to_measure = [row for row in same if row["en"] in english["test"]]
print("texts to measure on, over 300:", len(to_measure) > 300)

# %% [markdown]
# All three vocabularies are equally large, and the texts that we measure on are new to
# all.

# %%
measured = {
    language: "\n".join(row[language] for row in to_measure) for language in names
}
n_tokens = {"bytes": {k: len(text.encode()) for k, text in measured.items()}}
for label, learned_on in {
    "tokens, learned on English": ["en"],
    "tokens, learned on English and German": ["en", "de"],
    "tokens, learned on all six": [*names],
}.items():
    sample = "\n".join(row[language] for row in to_learn for language in learned_on)
    learned_merges = fast_bpe.train_bpe_fast(pre_token_counts(sample), 4000)
    to_tokens = fast_bpe.byte_encoder(learned_merges)
    n_tokens[label] = {k: len(to_tokens(text)) for k, text in measured.items()}

# %% [markdown]
# English is 1, in each row:

# %%
times = {k: [n[each] / n["en"] for each in names] for k, n in n_tokens.items()}
print(" " * 37, *(f"{each:>4}" for each in names))
for label, row in times.items():
    print(f"{label:37}", *(f"{number:4.1f}" for number in row))
on_english = n_tokens["tokens, learned on English"]
price = n_tokens["tokens, learned on all six"]["en"] / on_english["en"]
print(f"English, learned on all six instead of English: {price:.1f} times the tokens")
shrinks = {k: n_tokens["bytes"][k] / on_english[k] for k in ("en", "el")}
print("bytes per token, learned on English:", *(f"{n:.1f}" for n in shrinks.values()))
greek = [row[3] for row in times.values()]
assert 2 < greek[0] < 2.6 and 8 < greek[1] < 9.5 and greek[3] < 1.6
assert times["tokens, learned on English"][5] > 4 and 1.3 < price < 1.5
assert 3.5 < shrinks["en"] < 4.3 and shrinks["el"] < 1.15

# %%
alt = "Learned on English, Greek needs over 8 times the tokens; learned on all, 1.3."
figures.bars([*names.values()], times, xlabel="times English", alt=alt)

# %% [markdown]
# > **Popular error: "bytes treat all languages alike".** They treat none as unknown.
# > But Greek letters take two bytes each: 2.3 times the bytes. Merges learned on
# > English make one token of about four English bytes, and join next to no Greek ones:
# > together, over **eight times** the tokens. Who pays per token pays over eight times
# > as much, and over 60 times as many scores are computed.
#
# What helps is to learn on the languages to be served: then it is 1.3 times. It is no
# gift: English itself now needs 1.4 times as many as before.
#
# Notice Korean: few characters, each of three bytes. Its bytes are hardly more than
# English ones, its tokens over four times as many.

# %% [markdown]
# ## The same with a library
#
# `tokenizers` by Hugging Face trains on the same German, on bytes. **Predict:** will it
# find the merges that your rules find?

# %%
import json

from tokenizers import decoders, pre_tokenizers, trainers

byte_merges = fast_bpe.train_bpe_fast(pre_token_counts(german), 4000)
library = Tokenizer(models.BPE())
library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
library.decoder = decoders.ByteLevel()
settings = {"vocab_size": 256 + 4000, "min_frequency": 2, "show_progress": False}
settings["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
library.train_from_iterator([german], trainers.BpeTrainer(**settings))
theirs = [tuple(pair) for pair in json.loads(library.to_str())["model"]["merges"]]
parting = next(n for n in range(4000) if theirs[n] != byte_merges[n])
print("the first 50 are the same:", parting >= 50, " all are:", theirs == byte_merges)

# %% [markdown]
# The first ones are, then they part. What happens there: how often does each of the two
# pairs occur, after the merges before it?

# %%
german_now = fast_bpe.PairCounts(pre_token_counts(german))
for pair in byte_merges[:parting]:
    german_now.merge(pair)
mine, other_one = byte_merges[parting], theirs[parting]
print("ours:", *mine, " theirs:", *other_one)
tied = german_now.counts[mine] == german_now.counts[other_one]
print("the same count, a tie:", tied)
oldest = fast_bpe.train_bpe_fast(pre_token_counts(german), 4000, "oldest")
print("with the library's rule for ties, all the same:", oldest == theirs)
assert tied and oldest == theirs

# %% [markdown]
# A tie, and nothing else: with its rule (of equal pairs, the one whose symbols are
# *oldest* wins), our trainer gives its 4,000 merges exactly. How much does the rule
# matter?

# %%
only_ours = len(set(byte_merges) - set(theirs))
lengths_of = [len(fast_bpe.byte_encoder(m)(held_out)) for m in (byte_merges, theirs)]
print(f"merges that only one has: {only_ours / 4000:.0%}")
print("tokens of the held-out text differ by less than 1 %:", end=" ")
print(abs(lengths_of[0] / lengths_of[1] - 1) < 0.01)
assert 0.01 < only_ours / 4000 < 0.1 and abs(lengths_of[0] / lengths_of[1] - 1) < 0.01

# %% [markdown]
# Either is as good. But a model trained with one must never be fed by the other. And
# with the same merges, are the tokens the same?

# %%
rainy = "Regen ☂"
ours = encode_bytes(rainy, oldest)
same_tokens = library.encode(rainy).tokens == fast_bpe.byte_encoder(oldest)(rainy)
print("same tokens:", same_tokens)
print("ours:  ", ours[-4:], " theirs:", library.encode(rainy).ids[-4:])
came_back = library.decode(library.encode(rainy).ids) == rainy
print("both come back:", decode_bytes(ours, oldest) == rainy and came_back)
small = Tokenizer(models.BPE())
end = trainers.BpeTrainer(special_tokens=["<end>"], show_progress=False)
small.train_from_iterator(["a small text"], end)
print("the id of its special token:", small.token_to_id("<end>"))
assert same_tokens and came_back

# %% [markdown]
# The same tokens, other **ids**: the library numbers the bytes in the order of their
# characters, we in their own order; its special tokens come first, ours last.
#
# Three of its settings were chosen so that it does what we do. `min_frequency=2` ends
# training as ours ends. `initial_alphabet` puts all 256 bytes into the vocabulary, and
# `add_prefix_space=False` leaves the front of the text alone. What if one forgets the
# last two? **Predict** what comes back:

# %%
del settings["initial_alphabet"]
careless = Tokenizer(models.BPE())
careless.pre_tokenizer = pre_tokenizers.ByteLevel()
careless.decoder = decoders.ByteLevel()
careless.train_from_iterator([german], trainers.BpeTrainer(**settings))
print(repr(careless.decode(careless.encode("Regen 雨").ids)))
assert careless.decode(careless.encode("Regen 雨").ids) == " Regen �"

# %% [markdown]
# A space has come in front, and of 雨 only a � is left, without an error: some of its
# bytes do not occur in the German, so they had no token. That is unknown words again,
# through the back door. Byte-level encoding is lossless only with all 256 bytes in the
# vocabulary.

# %% [markdown]
# ## The word from the beginning
#
# *Nebelwahrscheinlichkeit* has no row in an embedding of words: it was not in the
# training text. Its tokens, and whether they have rows:

# %%
print(encode(new_word), [token in tokens_known for token in encode(new_word)])
new_trees = token_statistics.merge_trees(spell(new_word), learned)
assert all(token in tokens_known for token in encode(new_word))
assert decode(encode(new_word)) == new_word and "Regenwahrscheinlichkeit" in german
assert encode(new_word) == ["N", "eb", "el", "wahrscheinlichkeit</w>"]

# %%
alt = "Its letters become N, eb, el and wahrscheinlichkeit, all known from other words."
figures.merge_trees(new_trees, alt=alt)

# %% [markdown]
# All four are known from *other* words. *wahrscheinlichkeit* was learned from words
# such as *Regenwahrscheinlichkeit* (how likely rain is): a model that knows what it
# says about rain has a good start with fog. *Nebel*, the fog itself, falls into N, eb
# and el: it can be read, but none of the three means fog, and what they mean together
# is to be learned.

# %% [markdown]
# ## In three lines
#
# - Training joins the most frequent pair, counts anew, and repeats; ties need a rule,
#   and a word's end needs a mark.
# - Encoding applies merges by rank: neither the longest token nor the most frequent
#   pair wins. On bytes it loses nothing and knows everything.
# - The number of merges trades length against rows to be learned, and what they were
#   learned on decides who pays.
#
# **What you can read now:** Sennrich, Haddow and Birch (2016), *Neural Machine
# Translation of Rare Words with Subword Units*, section 3; Radford et al. (2019), the
# paper of GPT-2, section 2.2.
#
# **An open question:** sentences are sequences of token ids now. How did models
# translate them before they had attention? Lesson 08.
