# %% [markdown]
# # Byte-pair encoding
#
# **What is a token?**
#
# After this lesson you can
#
# - train byte-pair encoding on a text, and use it on words that the text didn't contain;
# - say how it splits an ambiguous word, and why;
# - say what bytes add, and which languages a vocabulary shortchanges;
# - make a tokenizer of your own, from a text to tokens and back (*Going further*).
#
# **About 70 minutes, and 105 more in *Going further*.** You need Python's dictionaries,
# tuples and loops, and from lesson 04 that n tokens have n² scores.
#
# **Data:** run `attention-course data` (in a clone, `make data`) once while you are online.
# Without it, only the cells about German and the plays do not work.

# %%
from itertools import pairwise

from autograder import check
from course_lib import figures, merges_file
from course_lib.bpe import END_OF_WORD, decode, merge_pair, spell, vocabulary

# %% [markdown]
# To begin with, a word is only its letters. **Press "merge"** until nothing is left to join,
# and then **type a word of your own**.
# %%
from course_lib.lessons import play_merges

alt = "Step by step, the letters of friendship become two parts: friend and ship."
figures.typed_word("friendship", play_merges.load(), alt=alt)

# %% [markdown]
# The pieces that are left are **tokens**. *friendship* ends as *friend* and *ship*, though
# the program knows no English: it has only counted which letters are neighbours in
# Shakespeare's plays. You are going to write this program, and to try it on a word that
# Shakespeare could not have known. Such a program makes the numbers that go in at the
# bottom of the Transformer:

# %%
alt = "The Transformer's encoder and decoder; lit are the numbers that enter the two."
figures.lesson_map("06", alt=alt)

# %%
# For real text, and for the bytes of *Going further*.
from course_lib import fast_bpe
from course_lib.byte_bpe import ALPHABET, BYTE_OF, byte_vocabulary, split_special
from course_lib.fast_bpe import pre_tokens, spell_bytes

# %% [markdown]
# ## A question to carry through the lesson
#
# A model has an **embedding**: a table with one row of numbers for each word that it
# knows. Suppose it learns German from the menus and messages of Home Assistant, a program
# that runs lamps and heating. You don't have to speak German, only to know that it likes
# to glue words together.

# %%
new_word = "Nebelwahrscheinlichkeit"  # how likely fog is

from course_lib.corpora.translations import translation_pairs
from course_lib.lessons import token_statistics

pairs = translation_pairs()
german = "\n".join(pair.target for pair in pairs.train)
held_out = "\n".join(pair.target for pair in pairs.test)
print(f"words to learn from: {len(german.split()):,}")
print(f"{new_word} among them:", new_word in german)
assert len(german.split()) > 80_000

# %% [markdown]
# *Nebelwahrscheinlichkeit* is a perfectly good German word, but it has no row. **How
# can a model read a word that it has never seen?**
#
# Are such words rare? Give every word of the training text a row, and then read
# **held-out** text, which is of the same kind but was set aside and not trained on.
#
# **Predict:** how many of its words have no row?
#
# - [ ] About one in seven hundred
# - [ ] About one in seventy
# - [x] About one in seven

# %%
known = token_statistics.most_frequent_words(german)
unknown = token_statistics.share_out_of_vocabulary(held_out, known)
print(f"rows: about {round(len(known), -3):,}, unknown: {unknown:.0%}")
assert 0.12 < unknown < 0.19 and new_word not in known

# %% [markdown]
# About one word in seven has no row, although the embedding has some 20,000. (Words are
# what white space separates, so *Gerät.* with its full stop counts as a word of its own.)
# All these words share one row, *unknown*, and whatever they said is lost.
#
# The other extreme is one row per **letter**. Almost nothing is unknown then. But a word
# has about nine letters, including the space after it, so attention computes about 9² = 81
# times as many scores (lesson 04).

# %% [markdown]
# Between words and letters there are **subwords**, parts of words. But which parts?
# Philip Gage (1994) made files smaller by replacing the two bytes that most often occur
# next to each other with an unused byte, again and again. Sennrich, Haddow and Birch
# (2016) brought the idea to translation. It needs four terms:
#
# - a **symbol** is one of the parts that a word has at the moment: at first, a letter;
# - a **merge** joins two neighbouring symbols into one;
# - **tokens** are the symbols that are left at the end;
# - the **vocabulary** lists all tokens that can be left: the first symbols, and what
#   each merge produces.

# %% [markdown]
# ## Which pair is the most frequent?
#
# Six words make a **corpus**, a training text, small enough to follow by hand. Merges
# happen only inside words, so all that counts is each word and how often it occurs. A word
# is written as a tuple of symbols, because a tuple can be the key of a dictionary.

# %%
toy = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "eat": 2}
toy_words = {tuple(word): count for word, count in toy.items()}
print(toy_words)

# %% [markdown]
# Count by hand: how often are *a* and *t* neighbours, and how often *m* and *a*? Each word
# counts as often as it occurs.

# %% [markdown]
# ### Exercise: pair_counts
#
# Count every pair of neighbours, within words.
#
# <details><summary>Hint 1</summary>
#
# What do 5 times *mat* and 2 times *mats* add to the pair (a, t)? Not 2.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `pairwise(symbols)` of `itertools` gives the neighbours: for `abc` first (a, b), then
# (b, c). What do you add to the entry of each?
#
# </details>

# %%
from course_lib.bpe import pair_counts  # exercise

# %%
check(pair_counts)

# %% [markdown]
# For the six words:

# %%
print(pair_counts(toy_words))
assert pair_counts(toy_words)["a", "t"] == sum(toy.values()) == 19

# %% [markdown]
# (a, t) wins with 19, more than a third of all 43 pairs of neighbours. Now it becomes one
# symbol, everywhere. `merge_pair` does that for one word, from left to right. (It comes from
# the course; in *Going further* you can write it.)

# %%
print(merge_pair(("m", "a", "t", "s"), ("a", "t")))
assert merge_pair(("m", "a", "t", "s"), ("a", "t")) == ("m", "at", "s")
assert sum(pair_counts(toy_words).values()) == 43

# %% [markdown]
# ## Training: count, join, repeat
#
# Count, join the winner everywhere, and count **again**, because the old counts are now
# wrong:

# %%
after = {merge_pair(word, ("a", "t")): count for word, count in toy_words.items()}
print(pair_counts(after))
assert pair_counts(after)["m", "at"] == 10 and pair_counts(after)["at", "e"] == 6

# %% [markdown]
# Now (m, at) has 10, so that is merge 2. It also uses up the (at, e) in the 3 *mate*, so
# only 3 of the 6 (at, e) remain, and merge 3 is (c, at), with 4. Which pair leads after
# that?

# %%
for pair in [("m", "at"), ("c", "at")]:
    after = {merge_pair(word, pair): count for word, count in after.items()}
print(pair_counts(after))
assert pair_counts(after)["mat", "e"] == pair_counts(after)["at", "e"] == 3

# %% [markdown]
# It is a **tie**: (mat, e) and (at, e) both occur 3 times. The paper doesn't say which one
# wins, so we take the rule of its authors' program: of equal pairs, the greatest wins,
# which is the last one in Python's order of tuples. Here that is (mat, e).

# %% [markdown]
# ### Exercise: train_bpe
#
# Learn the merges, with this rule for ties. Stop early when no pair occurs twice, because
# joining a pair that occurs once only memorises a word and saves nothing elsewhere.
#
# <details><summary>Hint 1</summary>
#
# A loop: count pairs with your `pair_counts`, choose one, write it down, join it in all
# words with `merge_pair`. Words such as `a b c` and `ab c` can become equal; then
# their counts add up.
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
# You have the whole training. On the six words, with five merges, it turns 62 letters into
# fewer and fewer tokens:

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
# Each merge saves one symbol wherever its pair occurred: 19, then 10, 4, 3 and 3. That is all
# there is to training. (*Merges, one at a time*, in *Going further*, lets you watch them.)

# %% [markdown]
# ## Using the merges on a new word
#
# Training is over, and a new text arrives: `ab ab abc`. In *abc*, either *ab* or *bc* can be
# joined, but not both. In training, *bc* was the more frequent; in this text, *ab* is.

# %%
text = "ab ab abc"
abc_merges = train_bpe({("b", "c"): 5, ("a", "b"): 4}, 2)
print(abc_merges)

# %% [markdown]
# The library `tokenizers`, which many published models use, gets your merges and this text.
#
# **Predict:** which tokens does it split *abc* into?
#
# - [ ] `ab c`, as *ab* is frequent in this text
# - [ ] `abc`, as both pairs were learned
# - [x] `a bc`, as *bc* was learned first

# %%
from tokenizers import Tokenizer, models, pre_tokenizers

ids = {token: n for n, token in enumerate(["a", "b", "c", "bc", "ab"])}
library_bpe = Tokenizer(models.BPE(ids, abc_merges))
library_bpe.pre_tokenizer = pre_tokenizers.Whitespace()  # cuts into words first
print("the library:", library_bpe.encode(text).tokens)
assert library_bpe.encode(text).tokens == ["ab", "ab", "a", "bc"]

# %% [markdown]
# Encoding repeats the merges in the order of training: by **rank**. What is frequent in
# the text at hand doesn't matter, so wherever texts are cut at white space, as here, a word
# has the same tokens in every text.

# %% [markdown]
# ### Exercise: encode_word
#
# Split a word into tokens, applying the merges by rank.
#
# <details><summary>Hint 1</summary>
#
# Of all the pairs in the word, which was learned first? Join it with `merge_pair`,
# and search again, because there are new pairs now.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A dictionary from pair to rank answers "known?" and "how early?". What does
# `min(…, key=…)` find among the known pairs? And when is there none?
#
# </details>

# %%
from course_lib.bpe import encode_word  # exercise

# %%
check(encode_word)

# %% [markdown]
# You can now split any word: *abc*; *meat*, which the corpus lacks; and, with the 800 merges
# of the first screen, *friendship*, *headlight*, which Shakespeare could not have known, or
# a word of your own:

# %%
print("abc: ", encode_word(("a", "b", "c"), abc_merges))
print("meat:", encode_word(tuple("meat"), merges))
of_plays = [(left, right) for left, right, _ in play_merges.load()]
for word in ("friendship", "headlight"):  # or your own
    print(*encode_word(tuple(word), of_plays))
assert encode_word(("a", "b", "c"), abc_merges) == ["a", "bc"]
assert encode_word(tuple("headlight"), of_plays) == ["head", "light"]

# %% [markdown]
# ## Back to text
#
# A model writes tokens, and a program turns them into text. But *no w he re* could be
# *nowhere*, *now here* or *no where*. So in training, the last letter of each word carries
# a mark, `</w>`. With the mark, it is a symbol of its own, different from the same letter
# inside a word. Turned back into text, the mark becomes a space:

# %%
print(spell("now"), spell("here"))
print(decode(["no", "w</w>", "he", "re</w>"]))
assert decode(["no", "w</w>", "he", "re</w>"]) == "now here"
assert decode(["no", "w", "he", "re</w>"]) == "nowhere"

# %% [markdown]
# ## The word from the beginning
#
# Back to *Nebelwahrscheinlichkeit*. Learn 4,000 merges from the German text, with marks.
# Your `train_bpe` counts all pairs again for every merge, which would take many minutes;
# `train_bpe_fast` (`course_lib/fast_bpe.py`) learns the **same merges** in seconds.

# %%
from course_lib.bpe import word_counts

counts = word_counts(german)
most = fast_bpe.train_bpe_fast(counts, 16_000)  # all that this lesson will need
learned = most[:4000]
encode = fast_bpe.word_encoder(learned)  # your encode_word, for whole texts
tokens_known = set(vocabulary(counts, learned))
assert learned[:4] == train_bpe(counts, 4)

# %% [markdown]
# Here are its tokens, and whether they have rows:

# %%
print(encode(new_word), [token in tokens_known for token in encode(new_word)])
new_trees = token_statistics.merge_trees(spell(new_word), learned)
assert all(token in tokens_known for token in encode(new_word))
assert decode(encode(new_word)) == new_word and "Regenwahrscheinlichkeit" in german
assert encode(new_word) == ["N", "eb", "el", "wahrscheinlichkeit</w>"]
assert "Nebel" in german

# %%
alt = "Its letters become N, eb, el and wahrscheinlichkeit, all known from other words."
figures.merge_trees(new_trees, alt=alt)

# %% [markdown]
# That is how a model reads a word that it has never seen: all four tokens are known from
# *other* words. *wahrscheinlichkeit* was learned from words such as
# *Regenwahrscheinlichkeit* (how likely rain is), so what a model has learned about how
# likely rain is can help with how likely fog is. But the fog itself falls apart into N, eb
# and el, which mean nothing: *Nebel* is in the text, but too rarely to be joined.

# %% [markdown]
# ## Unknown words
#
# How many tokens of the held-out text have no row?

# %%
subwords = [token for word in held_out.split() for token in encode(word)]
tokens_unknown = [token for token in subwords if token not in tokens_known]
print(len(tokens_unknown), "of", f"{len(subwords):,}", "tokens are unknown")
assert len(tokens_unknown) == 0

# %% [markdown]
# None; with whole words it was 15 %. Is there any text left that has no tokens?

# %%
for word in ("Regenxylophon", "Iraq", "☂"):  # Regenxylophon: a rain xylophone
    print(encode(word), [token in tokens_known for token in encode(word)])
assert tokens_known.issuperset(encode("Regenxylophon"))
assert "Regenxylophon" not in german and not tokens_known & {*encode("☂")}
assert "q" in tokens_known and encode("Iraq")[-1] == "q</w>" not in tokens_known

# %% [markdown]
# A *character* that training never saw, such as ☂ or 雨 (rain, in Chinese and Japanese), has
# no row, nor has a letter that it never saw at the *end* of a word, such as *q*. Even a
# xylophone in the rain can be read, but not an umbrella.

# %% [markdown]
# ## Bytes: nothing is unknown, nothing is lost
#
# A computer stores text as **bytes**, numbers from 0 to 255. In UTF-8, the usual way, a
# character takes one to four of them:

# %%
for character in ["a", "ä", "雨", "🙂"]:
    print(character, list(character.encode()))
assert [len(c.encode()) for c in "aäΩ雨☂🙂"] == [1, 2, 2, 3, 3, 4]

# %% [markdown]
# So train on bytes instead of letters: with the 256 bytes in the vocabulary from the
# start, there is no text that you cannot write, umbrellas included. White space is bytes
# too, and belongs to the word *after* it, so no mark is needed and nothing is lost. GPT-2
# works like this. The 256 bytes come first in the vocabulary, then what each merge makes,
# and a token's index there is its **token id**, which is what a model gets. (In *Going
# further* you write both directions.)

# %% [markdown]
# ## Whom does a vocabulary serve?
#
# Nothing is unknown any more, but is every language served equally well? Take the same texts
# in six of them. Here is the first:

# %%
# pre_token_counts counts words, each with the space before it, as bytes.
from course_lib.byte_bpe import pre_token_counts
from course_lib.corpora.translations import parallel_strings

names = {"en": "English", "de": "German", "fr": "French", "el": "Greek"}
names |= {"ru": "Russian", "ko": "Korean"}
same = parallel_strings([*names])
print(*same[0].values(), sep="\n")

# %% [markdown]
# Learn 4,000 merges from English, or from all six. None of the English texts that we
# measure on was learned from:


# %%
def texts_of(part):
    english = {pair.source for pair in part}
    return {k: "\n".join(row[k] for row in same if row["en"] in english) for k in names}


to_learn, to_measure = texts_of(pairs.train), texts_of(pairs.test)
n_tokens = {"bytes": {k: len(text.encode()) for k, text in to_measure.items()}}
merges_from = {}
for source, languages in {"English": ["en"], "all six": [*names]}.items():
    sample = "\n".join(to_learn[language] for language in languages)
    merges_from[source] = fast_bpe.train_bpe_fast(pre_token_counts(sample), 4000)
    to_tokens = fast_bpe.byte_encoder(merges_from[source])
    counted = {k: len(to_tokens(text)) for k, text in to_measure.items()}
    n_tokens[f"tokens, learned from {source}"] = counted
on_english = n_tokens["tokens, learned from English"]
bytes_in_a_token = n_tokens["bytes"]["en"] / on_english["en"]
print(f"learned from English, in English: {bytes_in_a_token:.1f} bytes in a token")
assert 3.5 < bytes_in_a_token < 4.3

# %% [markdown]
# So in English, these merges join about four bytes into one token. How many will they
# join in Greek, whose letters take two bytes each?
#
# **Predict:** with merges learned from English, how many times as many tokens does the
# same text need in Greek?
#
# - [ ] About as many
# - [ ] About 2 times as many
# - [ ] About 4 times as many
# - [x] About 8 times as many

# %%
times = {k: [n[each] / n["en"] for each in names] for k, n in n_tokens.items()}
for way, row in times.items():
    print(f"Greek, times English: {row[3]:.1f} ({way})")
greek = [row[3] for row in times.values()]
price = n_tokens["tokens, learned from all six"]["en"] / on_english["en"]
print(f"English, learned from all six instead of English: {price:.1f} times the tokens")
assert 2 < greek[0] < 2.6 and 8 < greek[1] < 9.5 and greek[2] < 1.6
assert times["tokens, learned from English"][5] > 4 and 1.3 < price < 1.5
assert n_tokens["bytes"]["el"] / on_english["el"] < 1.15

# %% [markdown]
# Here are all six languages:

# %%
alt = (
    "Learned from English, Greek needs over 8 times the tokens; learned from all, 1.3."
)
figures.bars([*names.values()], times, xlabel="times English", alt=alt)

# %% [markdown]
# > **Bytes treat all languages equally? They don't.** They can write any text, but a
# > Greek letter takes two, and merges learned from English join almost no Greek ones. With
# > this vocabulary, anyone who pays per token would pay over **eight times** as much, for
# > over 60 times the scores. (Among tokenizers of published models, [Petrov et al.
# > 2023](https://arxiv.org/abs/2305.15425) found differences of up to 15 times.)
#
# Learned from all six, Greek needs only 1.3 times as many tokens as English. English pays
# for it, with 1.4 times as many as before.

# %% [markdown]
# **Type a text in any script**, or choose one below it, and learn from all six instead.
# A box is a token, with its token id; where its edge is dashed, it has only a part of a
# character. Which of your words are one token?
# <span class="in-notebook">(Your own `encode_word` is asked, too.)</span>

# %%
from course_lib.lessons import typed_text

alt = "In English most words are one token, in German some, and in Greek half a letter is."
figures.text_tokens(**typed_text.tokens(merges_from, encode_word), alt=alt)

# %% [markdown]
# ## In three lines
#
# - Training joins the most frequent pair, counts again, and repeats; ties need a rule.
# - Encoding applies merges by rank, so a new word becomes parts that are known from other
#   words. With bytes, nothing is lost or unknown.
# - The text that the merges were learned from decides which words are one token, and which
#   languages need many.
#
# **What you can read now:** Sennrich, Haddow and Birch (2016), *Neural Machine
# Translation of Rare Words with Subword Units*, section 3; Radford et al. (2019), the
# paper of GPT-2, section 2.2.
#
# **An open question:** sentences are now sequences of token ids. How did models translate
# them before there was attention? Lesson 08.

# %% [markdown]
# ## Going further
#
# You can skip any section below: no later lesson's core needs it. For the pleasure of it,
# try your tokenizer on a sentence that Shakespeare could not have written. Write the rest
# of a tokenizer, from joining a pair to bytes, if you like to see things complete; read about
# whole words, compounds and the number of merges if you will train a vocabulary yourself,
# and about the library if you use one.

# %% [markdown]
# ## Your own tokenizer
#
# The program of the first screen, now all in your own code: learn 300 merges from the
# thousand most frequent words of Shakespeare's plays, in lower case. It takes some seconds,
# since your `train_bpe` counts all pairs 300 times.

# %%
import re

from course_lib.corpora.plays import plays

small_letters = re.findall("[a-z]+", "\n".join(plays().values()).lower())
in_plays = word_counts(" ".join(small_letters))
frequent = sorted(in_plays, key=in_plays.get, reverse=True)[:1000]
your_merges = train_bpe({word: in_plays[word] for word in frequent}, 300)
print("the first merges:", *("".join(pair) for pair in your_merges[:8]))

# %% [markdown]
# Then write a sentence of your own, encode it, and decode the tokens again.
#
# **Predict:** which of these words of our sentence is a single token?
#
# - [ ] *telephone*
# - [x] *where*
# - [ ] Both
# - [ ] Neither

# %%
sentence = "where did i leave my telephone"  # in lower case; or your own
by_word = [encode_word(spell(word), your_merges) for word in sentence.split()]
print(*(" ".join(tokens_of_word) for tokens_of_word in by_word), sep=" | ")
print(decode([token for tokens_of_word in by_word for token in tokens_of_word]))
assert ["where</w>"] in by_word and len(by_word[-1]) > 3
assert spell("telephone") not in in_plays

# %% [markdown]
# Shakespeare asked *where* often enough to make it one token. He had no telephone, so it
# comes in pieces that he used in other words, and the last piece is even a word of his,
# *one*. A model with his vocabulary can read this sentence, and write it. Large language
# models do the same with the words that you invent.

# %% [markdown]
# ## Merges, one at a time
#
# The five merges of the toy corpus, in words that it has and in some that it lacks.
#
# **Predict:** the corpus has no *matte*. How many tokens is it after all five merges?
#
# - [ ] One
# - [x] Three
# - [ ] Five

# %%
chosen = ["mats", "cats", "mates", "hat", "matte"]
splits, frequencies = {word: [[*word]] for word in chosen}, []
words_now = toy_words
for pair in merges:
    frequencies.append(pair_counts(words_now)[pair])
    words_now = {merge_pair(word, pair): n for word, n in words_now.items()}
    for steps in splits.values():
        steps.append([*merge_pair(tuple(steps[-1]), pair)])
print(*splits["matte"][-1] if "matte" in splits else "")

# %% [markdown]
# Letters that no merge joins remain letters: *matte* is `mat t e`. Now make the merges in
# other words. **Press "merge"**, and guess each time what comes next.
# <span class="in-notebook">(Then change the list `chosen`, and run both cells.)</span>

# %%
alt = "After five merges mats is mat and s; words that the toy lacks keep letters, too."
figures.merge_steps(splits, merges, frequencies, alt=alt)

# %% [markdown]
# ## Joining a pair
#
# `merge_pair` came from the course. Here you write it. The one decision is what to do where
# the pair overlaps itself.
#
# **Predict:** read from left to right, what should joining (a, a) in `a a a` give?
#
# - [ ] `aa aa`
# - [ ] `a aa`
# - [ ] `aaa`
# - [x] `aa a`

# %%
print("aaa".replace("aa", "[aa]"))

# %% [markdown]
# It gives `aa a`: the first two are joined, and the third is left over.

# %% [markdown]
# ### Exercise: merge_pair
#
# Join a pair wherever it occurs in a word, from left to right.
#
# <details><summary>Hint 1</summary>
#
# Walk through the word with a position that you move yourself. How far does it move after
# a joined pair, and how far otherwise?
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
# ## Counting words, with their ends
#
# `word_counts` came from the course, too. It is the shortest function of this lesson.
# `spell`, also the course's, marks a word's last letter.

# %% [markdown]
# ### Exercise: word_counts
#
# Count how often each word occurs. A word is a tuple of symbols, as `spell` writes it.
#
# <details><summary>Hint 1</summary>
#
# Words are whatever is between white space. Which string method returns them, whatever
# kind of white space there is, and however much?
#
# </details>
# <details><summary>Hint 2</summary>
#
# By how much does the dictionary's entry grow for each word, and what is it before the
# first one? What does `counts.get(symbols, 0)` return then?
#
# </details>

# %%
from course_lib.bpe import word_counts  # exercise

# %%
check(word_counts)

# %% [markdown]
# ## No mark, or a mark in two ways
#
# The toy corpus had no marks, but real programs use them, in one of two ways. The paper,
# and the first version of its program, put `</w>` after the last letter as a symbol of
# its own. Since version 0.2 the program glues it to the last letter, as our `spell` does.
#
# **Predict:** without marks, the toy's first merge was (a, t). With glued marks, which
# pair is joined first?
#
# - [x] `(a, t</w>)`
# - [ ] `(a, t)`, as before
# - [ ] `(m, a)`

# %%
apart = {(*word, END_OF_WORD): count for word, count in toy.items()}
glued = {spell(word): count for word, count in toy.items()}
for name, corpus in {"none": toy_words, "apart": apart, "glued": glued}.items():
    print(f"{name:6}", *(f"{left}+{right}" for left, right in train_bpe(corpus, 5)))
assert train_bpe(apart, 5)[:2] == [("a", "t"), ("at", END_OF_WORD)]
assert train_bpe(glued, 5)[:2] == [("a", "t" + END_OF_WORD), ("a", "t")]

# %% [markdown]
# No two ways agree. With marks, *at* at the end of a word and *at* inside one are two
# tokens. If the mark is a symbol of its own, both grow out of one first merge; if it is
# glued on, each is learned separately. So merges are useless to a program that marks
# words differently. The marks must be there before the first merge, so that each merge
# adds exactly one token. If you added them afterwards, one merge could give two, such as
# *mat* inside and at the end of words.

# %% [markdown]
# There are two more conventions. Some programs use `@@` to mark each token that does
# **not** end a word, so `mat@@` and `mat` are different tokens. And **SentencePiece**
# ([Kudo and Richardson, 2018](https://arxiv.org/abs/1808.06226)) marks each *start*: a
# space becomes the symbol ▁ and belongs to the word after it. In principle, the text
# doesn't have to be cut into words first, which helps with languages written without
# spaces. ([YouTokenToMe](https://github.com/VKCOM/YouTokenToMe), a program written for
# speed, marks spaces in the same way.)

# %%
tokens = ["mat", "s</w>", "e", "at</w>"]
bare = [token.removesuffix(END_OF_WORD) for token in tokens]
is_last = [token.endswith(END_OF_WORD) for token in tokens]
is_first = [True, *is_last[:-1]]
print(*(t if last else t + "@@" for t, last in zip(bare, is_last, strict=True)))
print(*("▁" + t if first else t for t, first in zip(bare, is_first, strict=True)))

# %% [markdown]
# ## Other rules for a new word
#
# Some tokenizers match the longest token, and training picks the most frequent pair. What
# would these rules give for *abc*, which is `a bc` by rank? (Going once through all merges,
# in order, gives the same tokens as your `encode_word` here, but is slow with thousands of
# merges. With the hints, you try only the pairs that the word has.)

# %%
print("longest match:", token_statistics.longest_match("abc", {"ab", "bc"}))
print("frequency now:", token_statistics.most_frequent_first("abc", abc_merges, text))

# %% [markdown]
# Does the rule matter on real text? Split the held-out words by the longest match:

# %%
other = [
    word
    for word in held_out.split()
    if token_statistics.longest_match(spell(word), tokens_known) != encode(word)
]
print(f"split differently: {len(other) / len(held_out.split()):.0%}")
assert 0.08 < len(other) / len(held_out.split()) < 0.16

# %% [markdown]
# About one word in eight is split differently. So if you train with one rule and encode with another, the
# model gets splits that it was not trained on, without any error.
#
# GPT-2 and RoBERTa use byte-pair encoding, and so did the Transformer paper for German.
# BERT uses **WordPiece**, which does match the longest token from the left: its
# vocabulary has no merges and no ranks, and tokens inside a word begin with `##`. A third
# method, **unigram** (Kudo 2018), goes the other way. It starts with a large vocabulary,
# gives tokens probabilities, removes those that matter least, and takes the most probable
# split. The library has all three. Give two of them the same tokens and the same word:

# %%
inner = {"##" + token: n + 5 for token, n in ids.items()} | {"?": 10}
library_wordpiece = Tokenizer(models.WordPiece(ids | inner, unk_token="?"))
print("BPE:      ", library_bpe.encode("abc").tokens)
print("WordPiece:", library_wordpiece.encode("abc").tokens)
assert library_wordpiece.encode("abc").tokens == ["ab", "##c"]

# %% [markdown]
# ## From tokens to text
#
# `decode` came from the course, too. It is what the marks at the ends of words are for.

# %% [markdown]
# ### Exercise: decode
#
# Join the tokens into a text. The mark becomes a space, except at the very end.
#
# <details><summary>Hint 1</summary>
#
# A token without the mark continues in the next one, with nothing in between. What
# comes after a token that has it?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Only the *end* of each token matters: `token.endswith(END_OF_WORD)`, `removesuffix`.
# Mind the last token, which may or may not carry the mark. A `</w>` in the middle of a
# token is ordinary text and stays.
#
# </details>

# %%
from course_lib.bpe import decode  # exercise

# %%
check(decode)

# %% [markdown]
# Is it lossless? Here are four texts: *mat eats*; the same with two spaces; the same
# with white space at both ends; and `a</w>b`, encoded with merges that join the four
# characters `<`, `/`, `w` and `>`.
#
# **Predict:** which of them come back as they were?
#
# - [ ] All four
# - [x] Only *mat eats*
# - [ ] All but `a</w>b`

# %%
texts = ["mat eats", "mat  eats", " mat eats\n"]
marked = {spell(word): count for word, count in toy.items()}
encode_toy = fast_bpe.word_encoder(train_bpe(marked, 5))  # your encode_word, for texts
for example in texts:
    decoded = decode(encode_toy(example))
    print(f"{example!r:14} → {decoded!r:10} same: {decoded == example}")
tags = [("<", "/"), ("</", "w"), ("</w", ">")]
print(f"'a</w>b'       → {decode(encode_word(spell('a</w>b'), tags))!r}")
assert [decode(encode_toy(each)) == each for each in texts] == [True, False, False]

# %% [markdown]
# Two things are lost: how much white space there was and of which kind, and `</w>` where
# the text itself has it, since such a token seems to end a word. A translator of
# sentences can live with that, but in program code, white space has a meaning. Bytes
# solve both problems.
#
# A practical point: merges are *part of the model*. Others must be able to load them,
# so they are stored as text, one merge per line:

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "merges.txt"
    merges_file.save_merges(file, merges)
    print(file.read_text(encoding="utf-8").split("\n")[:5])
    loaded = merges_file.load_merges(file)
assert loaded == merges

# %% [markdown]
# The first line names the version of the format. Never change the order of the other
# lines, because it *is* the rank.

# %% [markdown]
# ## Before the first merge
#
# To `split()`, *Gerät* (device) and *Gerät.* are two words. **What should a word be?**
# The **pre-tokenisation** decides that, before the first merge. In machine translation,
# each punctuation mark is usually split off as a word of its own, with a joiner ￭ on each
# side where there was no space. Then **truecasing** gives the first word of a sentence
# the case that it has most often *elsewhere* in the training text.
#
# Watch the spellings of *aktiviert* (enabled) become fewer.

# %%
from collections import Counter

from course_lib.bpe import word_counts
from course_lib.preprocessing import Preprocessing, separate_punctuation

learned_case = Preprocessing.learn(pairs.train)
ways = {"unchanged": str, "punctuation apart": separate_punctuation}
ways["truecased as well"] = learned_case.prepare_target
for way, prepare in ways.items():
    words = "\n".join(map(prepare, german.split("\n"))).split()
    enabled = [word for word in words if word.lower().strip(".,)") == "aktiviert"]
    print(f"{way:17}", dict(Counter(enabled).most_common()))
assert len(set(enabled)) == 1

# %% [markdown]
# There were six spellings, then two, then one. (*aktiviert/deaktiviert*, 7 times, was one
# word.) Punctuation can be put back without a loss, but a few texts lose their case:
# where a full stop doesn't end a sentence (*Max.*), or a name begins with a lower-case letter.
#
# Now learn 4,000 merges on each of the three training texts.
#
# **Predict:** do both steps make the held-out text shorter, in tokens?
#
# - [ ] Yes, by about a third
# - [x] No, it is about as long as before
# - [ ] No, it grows by about a third

# %%
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
# The number of different words falls from 20,100 to 13,600, and the number of unknown
# words in 100 held-out texts falls from 57 to 33. Truecasing contributes little, because
# German nouns have their capital everywhere. There are **not** fewer tokens, since
# punctuation marks count too: 499 words instead of 371, and 761 tokens instead of 746.
# The gain shows on the right: *aktiviert* was split where a comma or a full stop
# followed, but now it is the same token everywhere, so its row is learned from all 208
# occurrences.
#
# Only a trained translator can show whether translations get better (lesson 11).

# %% [markdown]
# ## Frequent words stay whole
#
# Byte-pair encoding is often praised for keeping frequent words whole and splitting
# only rare ones. Learn 4,000 merges, and take the *second* thousand of the most
# frequent words.
#
# **Predict:** how many of them are one token each?
#
# - [x] Almost none
# - [ ] About half
# - [ ] Nearly all

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
# The praise is deserved, but there is a sharp boundary, and the number of merges decides
# where. With 8,000 merges, all of the first thousand are whole; with 1,000 merges, the
# first hundred are, and few others. So being whole is not a property of a *word*: of the
# second thousand, 4,000 merges leave almost none whole, and 8,000 nearly all.

# %% [markdown]
# ## Compounds
#
# German glues words together: *Niederschlag* (what falls from the sky) + s +
# *Wahrscheinlichkeit* (probability). *Haustürschlüssel* is the key (*Schlüssel*) of a
# front door (*Haus*, house, and *Tür*, door). *Spülmaschine* is a machine that rinses.
#
# **Predict:** into which tokens is *Haustürschlüssel* cut?
#
# - [ ] `Haus tür schlüssel`
# - [ ] `Haustür schlüssel`
# - [x] `Hau st ür schlüssel`
# - [ ] `Haust ür sch lüssel`

# %%
compounds = ["Niederschlagswahrscheinlichkeit", "Haustürschlüssel", "Spülmaschine"]
cut = {word: encode(word) for word in compounds}
for tokens_of_word in cut.values():
    print(" | ".join(tokens_of_word).replace(END_OF_WORD, ""))
assert cut["Haustürschlüssel"][0] not in ("Haus", "Haustür")
assert len(cut["Niederschlagswahrscheinlichkeit"]) <= 4
assert [word in german for word in compounds] == [True, False, False]

# %% [markdown]
# The first is cut as a German would cut it, but it is in the training text, and the other
# two are not. *Haustürschlüssel* is cut right through *Haus*, and the last letter of
# *Spülmaschine* is a token of its own.
#
# The first word is misleading: in general, tokens are not the parts that carry meaning.
# Training only counts, so the two often agree for frequent parts, but not elsewhere.

# %% [markdown]
# ## How many merges?
#
# More merges mean shorter sentences and fewer scores. But every token has a row of
# d_model numbers that must be learned, so from 4,000 to 16,000 merges, the embedding
# becomes almost four times as large. How many of the tokens does that step save?

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
assert 1.3 < per_word[16_000] < 1.7 and 1.8 < per_word[4000] < 2.3
assert 0.6 < per_word[16_000] / per_word[4000] < 0.85

# %% [markdown]
# The millions are the numbers in the embedding for d_model = 512. Here they are as a
# picture, with a smaller model for comparison; each step to the right doubles the
# merges:

# %%
millions = {
    f"d_model = {d}": [rows_of[n] * d / 1e6 for n in n_merges] for d in (128, 512)
}
lengths = [per_word[n] for n in n_merges]

# %%
alt = "Tokens per word fall from 4.9 to 1.5; the embedding grows with the merges."
figures.length_and_size(n_merges, lengths, millions, alt=alt)

# %% [markdown]
# A row can be learned only from text in which its token occurs. Encode the training
# text with all 16,000 merges and take the tokens that occur in it. How many of them occur
# fewer than five times?

# %%
for n in (1000, 4000, 16_000):
    seldom = token_statistics.share_rare(german, fast_bpe.word_encoder(most[:n]), 5)
    print(f"{n:6} merges: {seldom:.0%} of the tokens occur fewer than 5 times")
assert seldom > 0.6

# %% [markdown]
# That is a second price of a large vocabulary: on this small text, most tokens of the
# largest one are rarely seen. Usual sizes range from a few thousand to a few hundred
# thousand, and grow with the text and the number of languages. For translation, 4,000 to
# 32,000 merges are common. The Transformer's paper used 37,000 tokens for 4.5 million
# sentence pairs, and Gemma (2024) has 256,000.

# %% [markdown]
# ## Any text, by its bytes
#
# Here you write both directions, from text to token ids and back. Three functions of the
# course help, and you have met two of them:

# %%
print(pre_tokens("The cat's 12  mats!"))
print(spell_bytes(" mä"))
print(split_special("a<end>b", ("<end>",)))
assert "".join(pre_tokens("The cat's 12  mats!")) == "The cat's 12  mats!"

# %% [markdown]
# `pre_tokens` does the pre-tokenisation: it cuts a text into runs of letters, digits,
# other signs and white space. Merges happen only within such a **pre-token**.
# `spell_bytes` writes each byte as **one visible character**, so that our functions for
# letters work for bytes as well: a space is written Ġ, and ä is its two bytes. Encoding
# gives a **token id** for each token: 0 … 255 are the bytes, 256 is the first merge,
# and so on.
#
# Some tokens are not text but control tokens, such as *the text ends here*. These
# **special tokens** are never split and get the last ids. `split_special` cuts a text
# at them.

# %% [markdown]
# ### Exercise: encode_bytes
#
# Turn any text into token ids. `ALPHABET` has the 256 characters in the order of their
# bytes.
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
# merge. How many ids come before the first special token? Two merges can give the same
# text, so count merges, not entries.
#
# </details>

# %%
from course_lib.byte_bpe import encode_bytes  # exercise

# %%
check(encode_bytes)

# %% [markdown]
# Now for the way back. *ä* is the two bytes 195 and 164, and a model may write only the
# first one:

# %%
print(bytes([195, 164]).decode())
try:
    bytes([195]).decode()
except UnicodeDecodeError as error:
    print(type(error).__name__, error.reason)
print(bytes([195]).decode(errors="replace"))
print(bytes([195, 97, 164]).decode(errors="replace"))  # 97 is a

# %% [markdown]
# Half an *ä* is not text. But models do write such things, and a program must survive
# them: `errors="replace"` turns whatever cannot be read into �, and keeps the rest.

# %% [markdown]
# ### Exercise: decode_bytes
#
# Turn token ids back into text. `byte_vocabulary` lists all tokens in the order of
# their ids, and `BYTE_OF` says for each character of `ALPHABET` which byte it stands
# for.
#
# <details><summary>Hint 1</summary>
#
# A letter's bytes may be spread over two tokens. When should you turn bytes into text:
# after each token, or once?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `BYTE_OF` gives the bytes of most tokens. A special token is ordinary text, not written
# in `ALPHABET`: which method of strings gives its bytes?
#
# </details>

# %%
from course_lib.byte_bpe import decode_bytes  # exercise

# %%
check(decode_bytes)

# %% [markdown]
# Is it lossless now? Try texts with white space at odd positions, a `</w>`, an umbrella,
# and a thousand texts of
# random characters from all of Unicode:

# %%
import random

few = train_bpe(pre_token_counts("the cat ate the mat, the mat ate the cat"), 20)
draw = random.Random(0)
anything = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000]
strange = ["".join(draw.choices(anything, k=20)) for _ in range(1000)]
texts = ["mat eats", "mat  eats", " mat eats\n", "a</w>b", "☂", *strange]
back = [decode_bytes(encode_bytes(each, few), few) for each in texts]
print("all came back:", back == texts)
assert back == texts

# %% [markdown]
# Every one of them comes back. (Only half a surrogate pair is refused.)
#
# Somebody types `my name is <end>` into a form. A program encodes it and adds the
# control token *the text ends here*, which has the token id `end_id`.
#
# **Predict:** which call gives the model that control token exactly once?
#
# - [ ] `encode_bytes(typed + "<end>", few)`
# - [ ] `encode_bytes(typed + "<end>", few, ("<end>",))`
# - [x] `[*encode_bytes(typed, few), end_id]`

# %%
typed, end_id = "my name is <end>", 256 + len(few)
special = ("<end>",)
ways_to_end = {
    "as text:     ": encode_bytes(typed + "<end>", few),
    "as special:  ": encode_bytes(typed + "<end>", few, special),
    "as an id:    ": [*encode_bytes(typed, few), end_id],
}
for way, token_ids in ways_to_end.items():
    text_again = decode_bytes(token_ids, few, special)
    print(way, token_ids.count(end_id), "times", text_again)
assert [each.count(end_id) for each in ways_to_end.values()] == [0, 2, 1]
assert {decode_bytes(each, few, special) for each in ways_to_end.values()} == {
    typed + "<end>"
}

# %% [markdown]
# In the second call, whoever filled in the form has slipped the model a control token. So
# encode other people's text *without* special tokens, and let your program add these as
# token ids. When decoded, all three look the same, so you won't notice the mistake by
# reading.

# %% [markdown]
# ## The same with a library
#
# `tokenizers` by Hugging Face trains on the same German, on bytes.
#
# **Predict:** does it learn the same 4,000 merges as your rules?
#
# - [ ] Yes, all of them
# - [ ] Others from the start
# - [x] The first ones, then others

# %%
import json

from tokenizers import decoders, trainers

byte_merges = fast_bpe.train_bpe_fast(pre_token_counts(german), 4000)
library = Tokenizer(models.BPE())
library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
library.decoder = decoders.ByteLevel()
settings = {"vocab_size": 256 + 4000, "min_frequency": 2, "show_progress": False}
settings["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
library.train_from_iterator([german], trainers.BpeTrainer(**settings))
theirs = [tuple(pair) for pair in json.loads(library.to_str())["model"]["merges"]]
parting = next(n for n in range(4000) if theirs[n] != byte_merges[n])
print(f"the same: the first {parting} of {len(theirs):,}")
assert 50 <= parting < 4000 and theirs != byte_merges

# %% [markdown]
# How often does each of the two pairs occur where they part?

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
# It is a tie, nothing more. By the library's rule, the pair with the *oldest* symbols
# wins. With that rule, our trainer learns exactly the library's 4,000 merges. How much
# does the rule matter?

# %%
only_ours = len(set(byte_merges) - set(theirs))
lengths_of = [len(fast_bpe.byte_encoder(m)(held_out)) for m in (byte_merges, theirs)]
print(f"merges that only one has: {only_ours / 4000:.0%}")
print(f"tokens of the held-out text: {lengths_of[0]:,} and {lengths_of[1]:,}")
assert 0.01 < only_ours / 4000 < 0.1 and abs(lengths_of[0] / lengths_of[1] - 1) < 0.01

# %% [markdown]
# One rule is as good as the other, but a model trained with one must never get tokens
# from the other. And with the same merges, are the tokens the same?

# %%
rainy = "Regen ☂"
ids_of = {token: n for n, token in enumerate(byte_vocabulary(oldest))}
ours = [ids_of[token] for token in fast_bpe.byte_encoder(oldest)(rainy)]
same_tokens = library.encode(rainy).tokens == fast_bpe.byte_encoder(oldest)(rainy)
print("same tokens:", same_tokens)
print("ours:  ", ours[-4:], " theirs:", library.encode(rainy).ids[-4:])
came_back = library.decode(library.encode(rainy).ids) == rainy
print("it comes back:", came_back)
assert same_tokens and came_back

# %% [markdown]
# The tokens are the same, but the **ids** are not: the library orders the bytes by
# their characters, and we order them by their numbers.
#
# Three settings made the library agree with us: `min_frequency=2`, which ends training
# when ours ends, `initial_alphabet` and `add_prefix_space=False`. Suppose that somebody
# forgets the last two.
#
# **Predict:** what comes back for *Regen 雨*?
#
# - [x] Another text
# - [ ] The same text
# - [ ] An error

# %%
del settings["initial_alphabet"]
second = Tokenizer(models.BPE())
second.pre_tokenizer = pre_tokenizers.ByteLevel()
second.decoder = decoders.ByteLevel()
second.train_from_iterator([german], trainers.BpeTrainer(**settings))
print(repr(second.decode(second.encode("Regen 雨").ids)))
assert second.decode(second.encode("Regen 雨").ids) == " Regen �"

# %% [markdown]
# Without `add_prefix_space=False`, a space has appeared at the start. And only a � is
# left of 雨: some of its bytes do not occur in the German, so without `initial_alphabet`
# they had no token. So byte-level encoding is lossless only with all 256 bytes in the
# vocabulary.
