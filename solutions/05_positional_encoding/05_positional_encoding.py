# %% [markdown]
# # Positional encoding
#
# **Where did the order go, and how does it come back?**
#
# After this lesson you can
#
# - measure what attention knows about the order of its tokens;
# - write the sinusoidal encoding of *Attention Is All You Need*, and say what each of
#   its columns does;
# - move an encoding by k positions with one matrix;
# - say what rotary positions do instead of adding.
#
# **About 70 minutes, and 65 more in *Going further*.** You need lessons 01 to 04, and
# sine and cosine as coordinates on a circle.

# %%
import numpy as np

from autograder import check
from course_lib import figures, heads, masks, positions
from course_lib.lessons import wrong_encodings
from course_lib.self_attention import self_attention

# %% [markdown]
# ## A question to carry through the lesson
#
# Read *stressed* backwards: *desserts*. **Can one head of attention do that?**
#
# It can only if it knows where each letter is. The Transformer tells it with something
# familiar: the hands of a clock. Below, four hands show a position, the first one fast and the
# last one slow. **Drag the second position along**, or use the arrow keys. Is there
# another position at which all four hands point the same way as at 0?

# %%
fast_to_slow = np.array([1.0, 0.4, 0.16, 0.064])  # radians per position
four_hands = wrong_encodings.encoding_of(fast_to_slow, 64)

# %%
alt = (
    "At position 0 all four hands point up; at 6 the first has come round, others not."
)
figures.two_positions(four_hands, four_hands @ four_hands.T, pair=(0, 6), alt=alt)

# %% [markdown]
# There is none. The first hand comes round every six positions or so, but by then the
# slower ones point elsewhere.
#
# You will have the answer for *stressed* at the end, and it is built from such hands. The
# model adds positions to the token vectors (*embeddings*), in its encoder and in its
# decoder:

# %%
alt = "The Transformer's encoder and decoder; lit is where positions are added."
figures.lesson_map("05", alt=alt)

# %% [markdown]
# ## What attention knows about order
#
# Does attention need to be told? Give each letter a random vector, and let two heads with
# random parameters read *stressed* and *desserts*. How much do their outputs for the *t*
# of each word differ?

# %%
rng = np.random.default_rng(0)
vocabulary = {letter: rng.normal(size=32) for letter in "stred"}
stressed = np.array([vocabulary[letter] for letter in "stressed"])  # (8, 32)
desserts = np.array([vocabulary[letter] for letter in "desserts"])
parameters = rng.normal(size=(4, 32, 32)) / 32**0.5  # w_q, w_k, w_v, w_o


def attend(x, may_attend=None):
    return heads.multi_head_attention(x, x, *parameters, 2, may_attend)[0]


def difference_of_t(may_attend=None, added=0.0):
    in_stressed = attend(stressed + added, may_attend)[1]
    in_desserts = attend(desserts + added, may_attend)[6]
    return np.abs(in_stressed - in_desserts).max()


# %% [markdown]
# **Predict:** without a mask, or with the causal mask of lesson 04: in which case are the
# two outputs the same, except for rounding? (Which letters does each *t* attend to?)
#
# - [x] Only without the mask
# - [ ] In both
# - [ ] Only with the mask
# - [ ] In neither

# %%
unmasked, causal = difference_of_t(), difference_of_t(masks.causal_mask(8))
print(f"without a mask: {unmasked:.2f}, with a causal mask: {causal:.2f}")
assert unmasked < 1e-14 and causal > 0.5

# %% [markdown]
# Without a mask they are the same, because a weighted sum doesn't depend on the order in
# which it is added up. The *t* knows which letters there are, but not where they are. So no
# parameters, however well trained, could let this layer read a word backwards: the three *s*
# would all get the same output, but they must become *d*, *e* and *r*. Nor could it read a sentence, since only the order says who bit whom in *The dog bit the man*.

# %% [markdown]
# With a causal mask, one *t* attends to two letters and the other to seven, so positions
# are no longer equal. Decoders, the models that write token by token, can indeed learn
# positions from their mask alone (Haviv et al. 2022; *A position read off a mask*, in
# *Going further*).
#
# An encoder, which reads a whole sequence at once, has no such mask, so it needs to be
# told. (Older models have order built in: a recurrent network reads one token after
# another, a convolution reads small windows; lesson 14 compares the costs.)

# %% [markdown]
# ## How would you number the positions?
#
# Each position needs a vector, which is added to the token's. Four wishes for it, after
# [Kazemnejad](https://kazemnejad.com/blog/transformer_architecture_positional_encoding/):
#
# 1. **unique**: two positions never get the same vector;
# 2. **a step is a step**: moving on by one position means the same in every sentence;
# 3. **bounded**: a late position doesn't drown out its word;
# 4. **computed**: a formula gives the vector of any position, seen in training or not.
#
# The number t itself breaks the third wish: 500 drowns out a word. Another choice, for n
# tokens, is the fraction t/(n − 1).
#
# **Predict:** which wish does the fraction break?
#
# - [ ] Unique
# - [x] A step is a step
# - [ ] Bounded
# - [ ] Computed

# %%
for n in (5, 50):
    print(f"position 1 of {n}: {1 / (n - 1):.2f}")

# %% [markdown]
# With the fraction, a neighbour is 0.25 away in one sentence and 0.02 in another, so no
# number could mean "the word before".

# %% [markdown]
# ## Clock hands
#
# A clock does better. From its three **hands** you can read each of the 43,200 seconds of
# half a day, they never leave the dial, and every second turns each hand by an angle of its
# own, always the same. To put that into numbers, you need three terms:
#
# - a **position** t counts tokens from 0;
# - a hand's **frequency** ω is how many radians it turns per position;
# - its **wavelength** 2π/ω is the number of positions after which it points the same way
#   again.
#
# Here are two hands, with frequencies 1 and 0.1, at the first four positions. Each hand is
# two numbers: how far to the right its tip is, and how far up.

# %%
two_hands = wrong_encodings.encoding_of(np.array([1.0, 0.1]), 64)  # (64, 4)
print("right, up, right, up\n", two_hands[:4].round(2))

# %% [markdown]
# Row 0 is 0, 1, 0, 1: both hands start at twelve. Angles are counted from there, clockwise,
# so sine is "right" and cosine is "up" (at school, it is the other way round).
#
# Here they are at seven positions. Which of these would you confuse with position 0, if you
# had only the fast hand, and which if you had only the slow one?

# %%
alt = "At 44 only the fast hand is back at twelve; at 63 both hands almost are."
some, hands = [0, 1, 2, 3, 6, 44, 63], ["frequency 1", "frequency 0.1"]
figures.clock_hands(two_hands[some], [str(t) for t in some], hands, alt=alt)

# %% [markdown]
# The fast hand alone confuses position 44 with 0, and nearly 6 and 63 too. The slow hand
# alone barely moves from one position to the next: its tip is only 0.1 further. Together they can do it: the fast hand
# tells neighbours apart, and the slow one the turns of the fast one. But at 63 both are
# almost back, so long sequences need more hands, and slower ones.

# %% [markdown]
# ## The formula
#
# The Transformer of the paper (d_model 512) has 256 hands. Section 3.5 of *Attention Is All
# You Need* gives, for position t and hand i:
#
# $$P_{t,\,2i} = \sin(t\,\omega_i), \qquad P_{t,\,2i+1} = \cos(t\,\omega_i), \qquad
# \omega_i = 10000^{-2i/d_\text{model}}$$
#
# Row t of the table P is the encoding of position t. Its columns 2i and 2i + 1 belong to
# hand i, whose frequency is $\omega_i$. The first hand has frequency 1, and each further
# one is slower by the same factor.
#
# The number 10,000 is called the **base**. The two hands above have d_model 4 and base
# 100, since $100^{-2/4} = 0.1$.

# %% [markdown]
# ### Exercise: sinusoidal_encoding
#
# Compute the encoding of positions 0 to n − 1, one per row, for any d_model and any
# base. (An odd d_model is rare; don't worry about it at first.)
#
# <details><summary>Hint 1</summary>
#
# Compute all angles first: a column of positions times a row of frequencies, one per
# hand. What is in the exponent: i, or the column's index 2i? The index already contains
# the factor 2, so don't multiply by 2 again.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Start from an array of zeros: `[:, 0::2]` are its columns 0, 2, 4, …, `[:, 1::2]` are
# columns 1, 3, 5, …. If d_model is odd, one of the two has one column fewer than the
# other.
#
# </details>

# %%
from course_lib.positions import sinusoidal_encoding  # exercise

# %%
check(sinusoidal_encoding)

# %% [markdown]
# Next comes a picture of the encoding: the first 64 positions with 64 numbers each, shown
# as colours.
#
# **Predict:** how much do the last 16 columns, on the right, change from row to row?
#
# - [x] Almost not at all
# - [ ] As much as the first 16
# - [ ] More than the first 16

# %%
P = sinusoidal_encoding(1024, 64)
print("shape of the encoding:", P.shape)
assert np.ptp(P[:64, 48:], axis=0).max() < 0.1 < 1.9 < np.ptp(P[:64, 0])

# %%
alt = "The columns on the left change at every position; those on the right barely do."
figures.stripes(P[:64], ylabel="position", xlabel="column", alt=alt)

# %% [markdown]
# The columns on the left change from position to position. On the right, sines stay near 0
# (white) and cosines near 1, because these hands have barely left twelve o'clock. They
# matter in sequences of thousands of tokens.
#
# The fourth wish, *computed*, is fulfilled. Are the first and third wishes? Measure the
# distance between the two nearest of 1,024 positions, and the lengths of all vectors:

# %%
lengths = np.linalg.norm(P, axis=-1)
nearest = wrong_encodings.smallest_distance(P)
print("nearest two positions:", round(nearest, 2), "apart")
print("lengths: from", lengths.min().round(3), "to", lengths.max().round(3))
assert np.allclose(lengths, 32**0.5)
assert np.isclose(nearest, np.linalg.norm(P[1] - P[0]))
assert 0.25 < nearest / 32**0.5 < 0.27

# %% [markdown]
# No two of the 1,024 positions share a vector: even the nearest ones are 1.47 apart. Every
# hand has length 1, since $\sin^2 + \cos^2 = 1$, so a vector's length is the root of the
# number of hands, $\sqrt{d_\text{model}/2}$, at every position.

# %% [markdown]
# ## One step is one turn
#
# Why sine *and* cosine? Because then the second wish comes true exactly. After k more
# positions, hand i has turned by the angle $k\omega_i$, wherever it points. All these
# turns together are one matrix, the same for all t:
#
# $$P_{t+k} = P_t\, M_k.$$
#
# Here $P_t$ is row t of the encoding, and $M_k$ is nearly all zeros, with a 2 × 2 block
# for each hand. `positions.shift_matrix` makes it (an exercise in *Going further*). Check it
# on a thousand positions:

# %%
M_7 = positions.shift_matrix(7, 64)
error = np.abs(P[:-7] @ M_7 - P[7:]).max()
print("largest error below 1e-12:", error < 1e-12)
assert error < 1e-12  # an angle near 1,000 has 13 digits after the decimal point

# %% [markdown]
# So one matrix of parameters can say "attend to three positions back". If the query is
# $P_t M_{-3} = P_{t-3}$, the best matching key is $P_{t-3}$, for every t: all rows have the
# same length, so each has its largest dot product with itself. The paper gives this as
# one of its reasons, and calls it a hypothesis: a model could "easily learn to attend by relative positions".

# %% [markdown]
# ## Dot products: how near is near?
#
# Attention compares by dot products, so how similar are the encodings $P_t$ and $P_s$ of two
# positions? A hand at the angles a and b contributes $\sin a \sin b + \cos a
# \cos b = \cos(a - b)$, so
#
# $$P_t \cdot P_s = \sum_i \cos\big((t - s)\,\omega_i\big):$$
#
# only the **difference** of the positions matters.
#
# **Predict:** which has the larger dot product with position 30: position 25 or 35?
#
# - [ ] Position 25
# - [ ] Position 35
# - [x] Neither: they are equal

# %%
dots = P[:64] @ P[:64].T
spread = max(np.ptp(np.diagonal(dots, offset)) for offset in range(64))
print("position 30 with 25 and with 35:", dots[30, 25].round(2), dots[30, 35].round(2))
print("depends on the difference only:", spread < 1e-12)
assert spread < 1e-12 and np.isclose(dots[30, 25], dots[30, 35])

# %% [markdown]
# The bare dot product cannot tell left from right. That takes a matrix such as $M_{-1}$
# between the two vectors. Nor does a larger dot product always mean a nearer position,
# because the fast hands come round again (*Two clocks*, in *Going further*).

# %% [markdown]
# ## Adding
#
# The encoding is added to the tokens' vectors before the first layer: row t to token t.
# Let the two heads read both words again, without a mask:

# %%
encoding = sinusoidal_encoding(8, 32)
print(f"the outputs for t differ by {difference_of_t(added=encoding):.2f}")
assert difference_of_t(added=encoding) > 0.1

# %% [markdown]
# The order is back: it was 0.00 before. Adding may seem crude, but the model can still keep
# words and positions apart, by learning word vectors that point in other directions
# (*Adding, in a batch*, in *Going further*). So it learns how much the order matters, and in
# the next task, nothing but the order matters.

# %% [markdown]
# ## A task that is nothing but order
#
# Reverse a sequence of 16 digits: at position t the answer is the token at position 15 −
# t, whatever the tokens are. The model (`course_lib/experiments/reversing.py`) has a
# learned vector for each digit, one head, and a matrix that turns its output into ten
# scores, one per digit. Here it trains twice, without an encoding and with the sinusoids.

# %% [markdown]
# A model without order can still do one thing: guess the digit that occurs most often in
# the sequence.
#
# **Predict:** how often is this guess right, with 10 digits in 16 positions? (How often
# does the luckiest digit occur?)
#
# - [ ] About one time in ten
# - [x] About one time in four
# - [ ] About one time in two

# %%
from course_lib.experiments import extrapolation, record, reversing

tables = reversing.encodings(seed=0)
kinds = ("none", "sinusoidal")
trained = {name: reversing.train_to_reverse(tables[name]) for name in kinds}
accuracy = {name: model.accuracy(16) for name, model in trained.items()}
bound = reversing.order_blind_accuracy()
print(f"best guess without order: {bound:.2f}")
for name in kinds:
    print(f"encoding {name:10}  right: {accuracy[name]:.2f}")
backwards, mirrored = trained["sinusoidal"].weights(16), np.arange(16)[::-1]
labels = [str(position) for position in range(16)]
assert accuracy["none"] < bound + 0.03 and accuracy["sinusoidal"] > 0.95
assert (backwards.argmax(axis=-1) == mirrored).all()

# %% [markdown]
# The best guess without order is right 24 % of the time, and training without an
# encoding gets no further. With an encoding the model is nearly always right. Here are the
# head's weights, averaged over 1,000 new sequences:

# %%
alt = "Each position attends most to the one as far from the other end: a diagonal."
figures.attention_weights(backwards, labels, labels, alt=alt)

# %% [markdown]
# A good score doesn't prove an encoding right, though: see *Wrong formulas*, in *Going
# further*.

# %% [markdown]
# ## Rotary positions: turn, don't add
#
# Most of today's large language models leave the tokens alone, and turn each *query* and
# each *key* by the angles of its position (Su et al. 2021). Two neighbouring columns make a
# hand, which turns by $t\,\omega_i$ from wherever it points.
#
# If query and key both turn, the angle *between* them changes by the difference of their
# turns. So by construction, the score depends on the words and on the **difference** of
# the positions. Values are not turned, because they are handed out, not compared.
#
# To test that promise, take one query and one key, turn each by its own $M_t$, and move both
# through the sequence together:

# %%
query, key = rng.normal(size=(2, 1, 32))


def turned(row, t):
    return row @ positions.shift_matrix(t, 32)


def rotary_score(t_query, t_key):
    return float(turned(query, t_query)[0] @ turned(key, t_key)[0])


for apart in (0, 4, 10):
    scores = [rotary_score(t + apart, t) for t in (0, 10, 1000)]
    print(f"{apart:2} apart, key at 0, 10 and 1,000:", np.round(scores, 2))
    assert np.ptp(scores) < 1e-10

# %% [markdown]
# Wherever the two stand, only the difference of their positions changes the score.

# %% [markdown]
# ## Learned positions
#
# A third way is to learn the encoding, one row of parameters per position, as BERT and GPT-2
# do. The paper's authors found "nearly identical results" with it, and chose the sinusoids
# because they may work for longer sequences.
#
# Which of the three works at positions never trained on? In a new task, each position
# returns the token **three positions before**; the first three positions, which have none,
# don't count. For each encoding we trained three models beforehand, one per seed, on 16
# tokens at positions 0 to 15 (`course_lib/experiments/extrapolation.py`), and tested it on 16
# at positions 100 to 115. Here is the share of right answers; guessing gets 0.24, as before.

# %%
trials = record.read("extrapolation")
for test in ("positions 0–15", "positions 100–115"):
    print(f"{test}, three seeds each")
    for kind in extrapolation.KINDS:
        right_shares = trials.values(f"{kind}, {test}")
        print(f"  {kind:10}", *(f"{share:.2f}" for share in right_shares))
assert min(trials.values("rotary, positions 100–115")) > 0.99
assert max(trials.values("learned, positions 100–115")) < bound + 0.01
assert max(trials.values("sinusoidal, positions 100–115")) < 0.9

# %% [markdown]
# At the trained positions, all are perfect. At the later ones the **learned** table does no
# better than guessing, since those rows were never used. For the **sinusoids**, a right
# matrix exists for every position, but training on 16 positions doesn't quite find it.
# **Rotary** is perfect, since it knows only differences.

# %% [markdown]
# What do the same rotary models do with longer sequences, from position 0 on? (Among the 16
# tokens of their training, how far apart were two at most?)
#
# **Predict:** how many of the tokens do they get right in sequences of 1,024 tokens?
#
# - [ ] Nearly all of them
# - [ ] More than half of them
# - [x] Not many more than by guessing

# %%
for n in (16, 64, *extrapolation.LONGER):
    shares = " ".join(f"{s:.2f}" for s in trials.values(f"rotary, positions 0–{n - 1}"))
    guess = reversing.order_blind_accuracy(length=n)
    print(f"rotary, {n:4} tokens: {shares}   best guess without order: {guess:.2f}")
assert min(trials.values("rotary, positions 0–63")) < 0.95
assert 0.2 < min(trials.values("rotary, positions 0–255"))
assert max(trials.values("rotary, positions 0–255")) < 0.6
assert max(trials.values("rotary, positions 0–1023")) < 0.2
assert 0.115 < guess < 0.13

# %% [markdown]
# With 1,024 tokens, two of the three are about as good as guessing. **For a rotary model, a *position*
# that it never trained on is nothing new, but a *distance* is**: among 16 tokens no two are
# more than 15 apart, and here the head meets distances up to 1,023, and has 64 times as
# many keys to share its weight among. (*Distances never trained on*, in *Going further*,
# shows what it attends to, and what models for long texts do about it.)

# %% [markdown]
# ## Backwards, by hand
#
# Back to the first question: can one head read *stressed* backwards? Training has found a
# head that reverses digits; here is one whose parameters are **chosen by hand**. Each letter
# gets 58 numbers: the first 32 are for its position, and the last 26 say which letter it is.
# The key is the position, and the value is the letter. The query has to be the position from
# the other end, n − 1 − t. Change the sign of all sines, and every hand is mirrored:
# position t becomes −t. Then `shift_matrix` moves it on by n − 1.

# %%
word = "stressed"
n = len(word)
only_letters = np.eye(58)[[32 + ord(letter) - ord("a") for letter in word]]
wide_positions = np.hstack([sinusoidal_encoding(n, 32), np.zeros((n, 26))])
mirror = np.diag([-1.0, 1.0] * 16)  # sine, cosine, sine, …
w_k, w_v = np.eye(58)[:, :32], np.eye(58)[:, 32:]


def backwards_by_hand(factor):
    w_q = np.zeros((58, 32))
    w_q[:32] = factor * mirror @ positions.shift_matrix(n - 1, 32)
    output, weights = self_attention(only_letters + wide_positions, w_q, w_k, w_v)
    letters = "".join(chr(ord("a") + column) for column in output.argmax(axis=-1))
    return letters, weights[np.arange(n), n - 1 - np.arange(n)].mean()


# %%
print("factor 40:", backwards_by_hand(40)[0])
for factor in (40, 1):
    right_weight = backwards_by_hand(factor)[1]
    print(f"factor {factor:2}: mean weight on the right key {right_weight:.2f}")
assert word != "stressed" or backwards_by_hand(40)[0] == "desserts"
assert word != "stressed" or 0.18 < right_weight < 0.2

# %% [markdown]
# One head can. The factor makes all scores larger: with 40 nearly all weight is on the right
# key. With 1 the right key still has the largest weight, but only about 0.2, and the other
# seven share the rest.
#
# **Predict:** what does the head write with a factor of 1?
#
# - [ ] `desserts`
# - [ ] `stressed`
# - [x] `ssssssss`

# %%
for factor in (1, 4):
    print(f"factor {factor}:", backwards_by_hand(factor)[0])
assert word != "stressed" or backwards_by_hand(1)[0] == "ssssssss"
assert word != "stressed" or backwards_by_hand(4)[0] == "desserts"

# %% [markdown]
# The three *s* together outweigh any other letter, at every position. A factor of 4 is
# already enough for *desserts*. Try another word of lower-case letters, such as `lager`: another length
# needs another turn, and so another w_q, which the cell builds from n.
#
# So where did the order go? Attention threw it away, because it treats all positions equally.
# It came back as 32 numbers per position, the 16 hands of one clock.

# %% [markdown]
# ## In three lines
#
# - Attention alone treats all positions equally, until a causal mask or an encoding
#   breaks that.
# - Sinusoids are clock hands: moving on by k positions is one rotation $M_k$, and dot
#   products of two encodings depend only on differences. Rotary positions turn queries and
#   keys themselves.
# - What is learned at some positions may not hold at others. For a rotary model, later
#   positions are nothing new, but longer distances are.
#
# **What you can read now:** *Attention Is All You Need*, section 3.5; Su et al. (2021),
# section 3; Haviv et al. (2022), on decoders without positions.
#
# **An open question:** our tokens were words, letters, digits, whatever suited us. What
# should a token be? Lesson 06.

# %% [markdown]
# ## Going further
#
# What follows can be skipped, section by section; no later lesson's core needs it. *The
# turn as a matrix* and *Two clocks* are for those who want to turn the hands themselves;
# *Adding, in a batch*, *Rotary positions, written* and *Other ways to give positions* for
# those who want to read the code of today's models; *A position read off a mask*,
# *Distances never trained on*, *Why 10,000?*, *Wrong formulas* and *Can the turn be learned
# from examples?* for those who doubt a sentence until they have measured it.

# %% [markdown]
# ## The turn as a matrix
#
# In the core, $M_k$ took $P_t$ to $P_{t+k}$, for every t. What is inside? For each hand
# there is a 2 × 2 block, made of $\cos k\omega_i$ and $\sin k\omega_i$. Which goes where
# follows from
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad
# \cos(a + b) = \cos a \cos b - \sin a \sin b.$$

# %% [markdown]
# ### Exercise: shift_matrix
#
# Write $M_k$ for all hands at once: a d_model × d_model matrix of zeros, with one 2 × 2
# block per hand along its diagonal. k may be negative.
#
# <details><summary>Hint 1</summary>
#
# Work out one hand on paper: the row (sin a, cos a) times your block must give
# (sin(a + b), cos(a + b)). Which of the two formulas is the block's first column?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A loop over the even columns 0, 2, 4, … is fine. The block of column c is
# `matrix[c : c + 2, c : c + 2]`, and its frequency is the same as in the encoding.
#
# </details>

# %%
from course_lib.positions import shift_matrix  # exercise

# %%
check(shift_matrix)

# %% [markdown]
# Turn forward and back again, and turn twice:

# %%
M_2, M_3 = shift_matrix(2, 64), shift_matrix(3, 64)
there_and_back = M_3 @ shift_matrix(-3, 64)
print("3 on and 3 back is no turn:", np.allclose(there_and_back, np.eye(64)))
print("2 on and 3 on is 5 on:", np.allclose(M_2 @ M_3, shift_matrix(5, 64)))
assert np.allclose(M_2 @ M_3, shift_matrix(5, 64))

# %% [markdown]
# ## Two clocks
#
# Does a larger dot product mean a nearer position? Here are two positions as clocks. In
# each clock, the solid hand belongs to position 30 and the dashed one to the second
# position. **Drag the second position** away from 30, or use the arrow keys. Which hands
# separate first? Can you find a distance at which the dot product goes *up* again?

# %%
alt = "From 30 to 35 fast hands have turned, slow ones barely; the dot product is 23.5."
figures.two_positions(P[:64], dots, pair=(30, 35), alt=alt)

# %% [markdown]
# The fast hands separate at once and come round again, while the slow ones barely move
# and keep the sum large. So "nearer means a larger dot product" is only a tendency.

# %% [markdown]
# ## Adding, in a batch
#
# In the core, one sequence met a table with as many rows. In a model, there are batches,
# and the table has a row for each position that a sequence may have.

# %% [markdown]
# ### Exercise: add_positions
#
# Add to token i of each sequence the encoding of position i. The table may have more
# positions than there are tokens; fewer is an error.
#
# <details><summary>Hint 1</summary>
#
# Which axis of x counts tokens, if there may be any number of leading axes? Beware of
# `len(x)`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Take as many rows of the table as there are tokens, and broadcasting repeats them for
# each sequence. Make a new array.
#
# </details>

# %%
from course_lib.positions import add_positions  # exercise

# %%
check(add_positions)

# %% [markdown]
# Why add, and not give positions columns of their own? The two ways are related, because a
# matrix applied to a sum gives a sum:
#
# $$(x + P)\,W = xW + PW, \qquad [x,\, P] \begin{pmatrix} W_1 \\ W_2 \end{pmatrix} =
# x W_1 + P W_2.$$

# %% [markdown]
# Side by side, the two parts have matrices of their own, at the price of a wider model.
# If you add them, they share one matrix, but the model can still keep them apart by
# learning word vectors that point in other directions than positions.
#
# (The sizes have to match, though. A row of P has length 16 at d_model 512. The paper
# multiplies the words by $\sqrt{d_\text{model}}$ before it adds: lesson 09.)

# %% [markdown]
# ## Rotary positions, written
#
# Programs don't multiply by matrices that are nearly all zeros; they turn the pairs of
# columns $(a,\, b)$ directly:
#
# $$(a,\, b) \;\to\; (a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi),
# \qquad \varphi = t\,\omega_i.$$

# %% [markdown]
# Mind the direction: the core turned rows by $M_t$; this turns them by $M_{-t}$, because the
# encoding writes a hand as (sin, cos), whereas rotary treats a pair as (cos, sin). Since only
# differences count, either direction will do, as long as queries and keys take the same one.
#
# Many programs pair column i with column i + d_k/2 instead of its neighbour. Both ways
# work, but parameters trained with one are wrong for the other.

# %% [markdown]
# ### Exercise: rotary
#
# Turn the rows of x, queries or keys, by the angles of their positions.
#
# <details><summary>Hint 1</summary>
#
# The angles are an array `(n, d_k / 2)`, as in your encoding, but the positions are
# passed in, perhaps as a list, which `np.asarray` turns into an array. `x[..., 0::2]`
# is the first of every pair: what is the second?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Compute both new numbers from the *old* ones. To make them neighbours again, either
# write them into `[..., 0::2]` and `[..., 1::2]` of a new array of floats, or stack
# them along a new last axis and reshape.
#
# </details>

# %%
from course_lib.positions import rotary  # exercise

# %%
check(rotary)

# %% [markdown]
# Turning changes no length, and it is the turn of the core, in the other direction:

# %%
by_rotary = rotary(key, [9])
print("length unchanged:", np.isclose(np.linalg.norm(by_rotary), np.linalg.norm(key)))
print("turned by 9 is times M of −9:", np.allclose(by_rotary, turned(key, -9)))
assert np.allclose(by_rotary, turned(key, -9))

# %% [markdown]
# In the core, the score of two words four positions apart was the same at 0, 10 and 1,000.
# Now add the sinusoids of these positions to the same query and key, instead of turning
# them.
#
# **Predict:** how do the three scores compare now?
#
# - [ ] They are equal again
# - [ ] They are less than 1 % apart
# - [x] They are far apart

# %%
at = sinusoidal_encoding(1005, 32)
added = [float((query[0] + at[t + 4]) @ (key[0] + at[t])) for t in (0, 10, 1000)]
print("four apart, added:", np.round(added, 1))
assert np.ptp(added) > 1

# %% [markdown]
# Even their signs differ, because these scores also contain terms such as word times
# position, which depend on the positions themselves.

# %% [markdown]
# ## Other ways to give positions
#
# Distances can also go straight into the scores. Shaw et al. (2018) add a learned vector
# for each distance to the keys (and to the values). T5 (Raffel et al. 2020) adds a
# learned number to the score, one for each head and range of distances. ALiBi (Press et
# al. 2022) subtracts the distance times a number that is fixed for each head, and was
# made for longer sequences than those in training. Or one adds nothing: Kazemnejad et al.
# (2023) find that decoders without any encoding can do well on longer sequences, and Yang
# et al. (2025) mix rotary layers with **layers without positions**.

# %% [markdown]
# In some tasks, such as reinforcement learning, an added encoding may bring in the order too
# weakly ([Weng
# 2018](https://lilianweng.github.io/posts/2018-06-24-attention/)).

# %% [markdown]
# ## A position read off a mask
#
# With a causal mask, positions are no longer equal. Can you even *read* a position off a
# causal head's output? Let every token attend equally to itself and all earlier ones, and
# let only the first token have the value 1.

# %%
tokens = np.array([[1.0], [0.0], [0.0], [0.0], [0.0]])
zero, one = np.zeros((1, 1)), np.ones((1, 1))
equal = (zero, zero, one, one, 1, masks.causal_mask(5))  # w_q, w_k, w_v, w_o, one head
share = heads.multi_head_attention(tokens, tokens, *equal)[0][:, 0]
print("output:", share.round(2), "position:", (1 / share - 1).round(2))
assert np.allclose(1 / share - 1, np.arange(5))

# %% [markdown]
# Row t is $1/(t+1)$, which reveals its position. Decoders without any encoding do learn where
# their tokens are (Haviv et al. 2022), perhaps in this way.

# %% [markdown]
# ## Distances never trained on
#
# Train rotary yourself, for a third as many steps. At positions 100 to 115 it is right. But what does it attend to in a sequence of 128 tokens? Here is the mean weight at
# each distance: three back is 3.

# %%
trained_here = extrapolation.train_kind("rotary")
right_share = trained_here.accuracy(16, start=100)
print("positions 100 to 115: more than 0.95 right:", right_share > 0.95)
long_weights, distances = trained_here.weights(128), np.arange(-127, 128)
by_distance = np.array([np.diagonal(long_weights, -d).mean() for d in distances])
in_training = np.abs(distances) < 16
parts = {
    "in training": np.where(in_training, by_distance, np.nan),
    "never in training": np.where(in_training, np.nan, by_distance),
}
axes = {"xlabel": "distance: query − key", "ylabel": "mean weight"}
assert right_share > 0.95
assert (
    by_distance[in_training].argmax() == 18 and by_distance[~in_training].max() > 0.05
)

# %%
alt = "One peak, at 3, among the distances in training; several among the others."
figures.curves(distances, parts, **axes, alt=alt)

# %% [markdown]
# Within the trained distances there is one peak, at 3. At other distances, training never
# said anything against a large weight, and some get one. So the head attends to the right
# token *and* to several wrong ones.
#
# Models for long texts are therefore trained on long sequences, or their angles are
# rescaled: Chen et al. (2023) squeeze the positions into the range of the training, and
# YaRN (Peng et al. 2023) slows mostly the slower hands.

# %% [markdown]
# In the core's comparison of the three encodings, two tests are left: positions right behind
# the trained ones, and 64 tokens at once.

# %%
for test in ("positions 16–31", "positions 0–63"):
    print(f"{test}, three seeds each")
    for kind in extrapolation.KINDS:
        print(f"  {kind:10}", *(f"{s:.2f}" for s in trials.values(f"{kind}, {test}")))
assert max(trials.values("sinusoidal, positions 16–31")) < 0.65
assert min(trials.values("sinusoidal, positions 100–115")) > 0.7
assert abs(max(trials.values("learned, positions 0–63")) - (13 + 48 / 10) / 61) < 0.02

# %% [markdown]
# Why the sinusoids do better at 100 than right after 15, we haven't measured. With 64 tokens,
# the 16 trained positions are among them, and they make up most of the **learned** table's
# 0.30.

# %% [markdown]
# ## Why 10,000?
#
# The paper doesn't say, but an experiment shows what the base does. Take the dot product
# of position 0 with positions 10 to 19, 100 to 199, and 1,000 to 1,999, as a share of its
# largest value, and average each group. Do these averages tell *near* from *far* from
# *very far*?

# %%
far = {}
for base in (10.0, 10000.0):
    dots_with_0 = sinusoidal_encoding(2000, 64, base) @ P[0]  # the same for any base
    far[base] = [float((dots_with_0[k : 2 * k] / 32).mean()) for k in (10, 100, 1000)]
    print(f"base {base:7}: ", " ".join(f"{mean:5.2f}" for mean in far[base]))
assert far[10000.0][1] - far[10000.0][2] > 0.2 > 0.05 > abs(far[10.0][1] - far[10.0][2])

# %% [markdown]
# With base 10 all hands are fast, and being 100 positions away looks like being 1,000
# away. With base 10,000 the slow hands are still on their first turn, so they tell the
# two apart. That is also why models for very long texts raise the base: Llama 3, a
# language model of 2024, uses 500,000 (with rotations, as above).

# %% [markdown]
# ## Wrong formulas
#
# The exponent is easy to mistype. Here are four wrong formulas, and what they do to the
# 32 hands of d_model 64.

# %%
wrong = wrong_encodings.wrong_frequencies(64)
right = {"10000 ** (-2 * i / d)": 10000.0 ** (-np.arange(32) / 32)}
print("formula                   frequencies  longest wavelength  nearest positions")
for name, omega in (right | wrong).items():
    near = wrong_encodings.smallest_distance(wrong_encodings.encoding_of(omega, 512))
    longest = 2 * np.pi / omega.min()
    print(f"{name:31} {len(set(omega)):5} {longest:19.4g} {near:18.2f}")
assert [len(set(omega)) for omega in wrong.values()] == [4, 1, 32, 32]
assert abs(333 / (2 * np.pi) - 53) < 0.002  # turns of a hand with frequency 1
assert round(max(wrong["base ** (2 * i / d)"])) == 7499

# %% [markdown]
# The right formula has 32 frequencies, and its slowest hand needs 47,000 positions for
# one turn. The wrong ones, row by row:
#
# - The first wrong one has only 4 frequencies left. Somebody meant `/ (d // 2)`, but
#   Python works from left to right, so its `//` rounds the whole exponent down.
# - The second has a single one. All hands turn together, so positions 333 apart (almost
#   exactly 53 turns) are nearly the same.
# - The third doubles the exponent, so its slowest hand needs 350 million positions for a turn.
# - The fourth multiplies instead of dividing. Its hands spin by up to 7,499 radians per
#   position, so even the nearest positions are further apart than a vector is long.

# %% [markdown]
# Can a model learn to reverse sequences with these, and with a table of random numbers? We
# trained with them beforehand, three times as long as in *A task that is nothing but
# order*, with seeds 0, 1 and 2 (`python -m course_lib.experiments reversing`).
#
# **Predict:** which of these encodings fail to reverse sequences?
#
# - [ ] All of them
# - [ ] The two with few frequencies
# - [ ] Only the random numbers
# - [x] None of them

# %%
reversal = record.read("reversing")
for name in tables:
    print(f"{name:28}", *(f"{score:.2f}" for score in reversal.values(name)))
with_encoding = [name for name in tables if name != "none"]
assert max(reversal.values("none")) < bound + 0.03
assert min(min(reversal.values(name)) for name in with_encoding) > 0.99

# %% [markdown]
# None of them fails, because the 16 positions differ somehow in each table, and training
# finds the difference, whatever it is. Even random numbers will do.
#
# > **"It trains well, so the encoding is right."** A good score feels like proof, but at the trained positions it doesn't tell a right formula from a wrong
# > one. Neither do the four wishes, which three of the wrong formulas fulfil. A
# > comparison with the paper's formula does, as in the check.

# %% [markdown]
# ## Can the turn be learned from examples?
#
# The matrix $M_k$ is exact for all positions. But suppose that nobody tells us the
# formula, and we *fit* a matrix that takes each of positions 0 to 511 to the next one
# (*least squares*: the smallest sum of squared errors). That gives 512 equations for the
# 512 unknowns of each column, and on these positions the fit is exact.
#
# **Predict:** how far off is the fitted matrix, on average, at positions 512 to 1,023?
#
# - [ ] By about 1 % of a vector's length
# - [x] By more than half a vector's length
# - [ ] It is exact there, too

# %%
encodings = sinusoidal_encoding(1025, 512)
# rcond: directions weaker than 1e-10 of the strongest one are rounding, and left out.
fitted, _, rank, _ = np.linalg.lstsq(encodings[:512], encodings[1:513], rcond=1e-10)
misses, by_formula = {}, positions.shift_matrix(1, 512)
for name, matrix in {"formula": by_formula, "fitted": fitted}.items():
    wrong_by = np.linalg.norm(encodings[:-1] @ matrix - encodings[1:], axis=-1)
    misses[name] = wrong_by / 256**0.5  # a vector's length: it has 256 hands
    first, second = misses[name][:512].mean(), misses[name][512:].mean()
    print(f"{name}: first 512 {first:.1f}, next 512 {second:.1f}, in vector lengths")
print("directions in the first 512 rows: below 140 of 512:", rank < 140)
every_32nd = {name: errors[::32] for name, errors in misses.items()}
axes = {"xlabel": "position", "ylabel": "error, in vector lengths"}
assert misses["fitted"][:512].mean() < 1e-6 and misses["fitted"][512:].mean() > 0.5
assert misses["fitted"][520] < 0.05 < 0.7 < misses["fitted"][1023]
assert misses["formula"].max() < 1e-12

# %%
alt = "The fitted matrix's error is 0 up to 512; then it grows, steeply at first."
figures.curves(range(0, 1024, 32), every_32nd, **axes, alt=alt)

# %% [markdown]
# The fitted matrix is perfect where it was fitted. Beyond that its error grows with the
# distance, to 0.8 of a vector's length, and is 0.7 on average. In 512 positions the slow
# hands barely move, so the 512 rows fill only a quarter of the 512 directions. Many
# matrices fit the rows equally well; `lstsq` returns the smallest, which is not the
# rotation.
#
# So even if a right answer *exists* for all positions, training on some of them may not
# *find* it.

# %% [markdown]
# ## Who bit?
#
# *The dog bit the man.* *The man bit the dog.* Let one head say who bit, with the same
# parameters for both. Give each word 36 numbers: the first 32 are for its
# position, and the last four say which word it is. The parameters of one head are
# **chosen by hand**: the query is the position, moved one back by `shift_matrix`;
# the key is the position; the value is the word.

# %%
words, only_words = ["the", "dog", "bit", "man"], np.eye(36)[32:]
only_positions = np.hstack([sinusoidal_encoding(5, 32), np.zeros((5, 4))])
w_q = np.zeros((36, 32))
w_q[:32] = 40 * positions.shift_matrix(-1, 32)  # 40: nearly all weight on one key
w_k, w_v = np.eye(36)[:, :32], np.eye(36)[:, 32:]
rows, fetched = {}, {}
for sentence in ("the dog bit the man", "the man bit the dog"):
    x = only_words[[words.index(word) for word in sentence.split()]]
    output, weights = self_attention(x + only_positions, w_q, w_k, w_v)
    rows[sentence], fetched[sentence] = weights[2], words[output[2].argmax()]
    print(sentence, "→", fetched[sentence])
assert np.allclose(*rows.values())
assert 0.975 < weights[2, 1] < 0.985

# %% [markdown]
# Here are the weights of *bit* as arcs, with the word that they fetch. The arcs are the
# same, 0.98 one position back, but the word there differs.

# %%
alt = "In both sentences bit attends to the word before it: once the dog, once the man."
figures.attention_arcs(rows, 2, fetched, alt=alt)

# %% [markdown]
# The same parameters give two answers for two sentences.

# %% [markdown]
# ## The same in PyTorch
#
# Learned positions are an `nn.Embedding` with a row per position; the sinusoids are a
# table that is not a parameter. The course's modules (`course_lib/nn/transformer.py`) do
# both, and agree with your encoding.

# %%
import torch

from course_lib.nn import LearnedPositions, SinusoidalPositions

layer = SinusoidalPositions(16, 32, device="cpu")
batch = rng.normal(size=(2, 7, 32))
theirs = layer(torch.from_numpy(batch)).numpy()
yours = batch + sinusoidal_encoding(16, 32)[:7]
print("same as yours:", np.allclose(theirs, yours))
for module in (layer, LearnedPositions(16, 32, device="cpu")):
    print(type(module).__name__, "learns", sum(p.numel() for p in module.parameters()))

# %% [markdown]
# Large models compute in short floats of 16 bits. One of them, bfloat16, keeps only the
# first 8 binary digits of a number.
#
# **Predict:** if positions 0 to 299 are stored in bfloat16, how many different
# numbers are left?
#
# - [ ] 256
# - [x] 279
# - [ ] 300

# %%
short = torch.arange(300).to(torch.bfloat16)
print("different positions among 300:", len(short.unique()))
print("256 == 257:", bool(short[256] == short[257]))
assert short[256] == short[257] and len(short.unique()) == 279

# %% [markdown]
# Eight binary digits are enough up to 256 = 2⁸. From there on, only even numbers are left,
# and the tokens at an odd position would share that of a neighbour. That is why angles are
# computed in float32 or float64, and only the finished sines and cosines are rounded to 16
# bits.
