"""Cases and misconceptions of ``n_gram_log_probability``."""

import math

from autograder import Exercise
from course_lib.n_grams import n_gram_counts, n_gram_log_probability

exercise = Exercise(
    n_gram_log_probability,
    lesson="12_language_model",
    minutes=15,
    difficulty=3,
)


@exercise.spec
def spec(token_id, context, counts, vocab_size):
    def probability(context):
        if context is None:
            return 1 / vocab_size
        shorter = probability(context[1:] if context else None)
        if context not in counts:
            return shorter
        n = k = 0
        for count in counts[context].values():
            n, k = n + count, k + 1
        return (counts[context].get(token_id, 0) + k * shorter) / (n + k)

    return math.log(probability(tuple(context)))


def drawn_text(rng, n_tokens=40, vocab_size=6):
    """Draw a text in which some tokens come far more often than others."""
    shares = rng.dirichlet([0.7] * vocab_size)
    return [int(token_id) for token_id in rng.choice(vocab_size, n_tokens, p=shares)]


def cut(rng, text, length):
    """Return a context that occurs in a text, and the token after it."""
    end = int(rng.integers(length, len(text)))
    return text[end - length : end], text[end]


def ids(rng, count, vocab_size=6):
    """Draw token ids, each as likely as any other."""
    return [int(token_id) for token_id in rng.integers(vocab_size, size=count)]


@exercise.usual
def usual(rng):
    text = drawn_text(rng, 50)
    context, token_id = cut(rng, text, 2)
    return token_id, context, n_gram_counts(text, 3), 9


@exercise.case("After the empty context, counts are mixed with 1 / vocab_size")
def empty_context(student, rng):
    counts = {(): {0: 3, 2: 1}}
    # N = 4 and K = 2: (3 + 2/4) / 6, (0 + 2/4) / 6, (1 + 2/4) / 6.
    for token_id, probability in ((0, 3.5 / 6), (1, 0.5 / 6), (2, 1.5 / 6)):
        expected = math.log(probability)
        student.expect(student(token_id, [], counts, 4), expected)
    text = drawn_text(rng, 20)
    for token_id in range(6):
        student.agrees(token_id, [], n_gram_counts(text, 1), 9)


@exercise.case("A bigram's probability is mixed with that of the token alone")
def small_example_by_hand(student, rng):
    counts = {(): {0: 3, 2: 1}, (0,): {0: 1, 2: 1}, (2,): {0: 1}}
    # After 0: N = K = 2. After 2: N = K = 1.
    expected = math.log((1 + 2 * 1.5 / 6) / 4)
    student.expect(student(2, [0], counts, 4), expected)
    expected = math.log((0 + 1 * 0.5 / 6) / 2)
    student.expect(student(1, [2], counts, 4), expected)
    text = drawn_text(rng)
    context, token_id = cut(rng, text, 1)
    student.agrees(token_id, context, n_gram_counts(text, 2), 8)


@exercise.case("Contexts of two, three and four tokens mix in each shorter one")
def longer_contexts(student, rng):
    for length in (2, 3, 4):
        text = drawn_text(rng)
        counts = n_gram_counts(text, length + 1)
        for _ in range(3):
            context, token_id = cut(rng, text, length)
            student.agrees(token_id, context, counts, 7)


@exercise.case("A context without counts says nothing: the shorter one decides")
def context_without_counts(student, rng):
    text = drawn_text(rng, 40, 4)
    counts = n_gram_counts(text, 4)
    for unseen in ([5], [1, 5], [0, 5, 1], [5, *cut(rng, text, 2)[0]]):
        for token_id in (0, 5):
            student.agrees(token_id, unseen, counts, 6)


@exercise.case("A context longer than all that were counted is as good as its end")
def context_too_long(student, rng):
    text = drawn_text(rng)
    counts = n_gram_counts(text, 3)
    for length in (3, 6, 30):
        context, token_id = cut(rng, text, length)
        student.agrees(token_id, context, counts, 10)


@exercise.case("A token that never came after a context has a probability above 0")
def token_not_counted(student, rng):
    text = drawn_text(rng, 30, 5)
    counts = n_gram_counts(text, 3)
    for length in (0, 1, 2):
        context, _ = cut(rng, text, length)
        student.agrees(5, context, counts, 7)  # it is nowhere in the text
        student.agrees(6, context, counts, 7)


@exercise.case("Without any counts each token is as likely as any other")
def without_counts(student, rng):
    vocab_size = int(rng.integers(20, 90))
    student.agrees(3, [], {}, vocab_size)
    student.agrees(7, ids(rng, 3), {}, vocab_size)


@exercise.case("The probabilities of all tokens sum to 1", visible=False)
def sum_of_probabilities(student, rng):
    text = drawn_text(rng, 30, 4)
    counts = n_gram_counts(text, 3)
    for context in (cut(rng, text, 2)[0], [4, text[3]]):
        logs = [student(token_id, context, counts, 5) for token_id in range(5)]
        total = sum(math.exp(min(log, 1.0)) for log in logs)
        student.expect(total, 1.0, what="the sum of the probabilities")
        student.agrees(int(rng.integers(5)), context, counts, 5)


@exercise.case("In a text of 150 tokens, after contexts of any length", visible=False)
def longer_text(student, rng):
    text = drawn_text(rng, 150, 12)
    counts = n_gram_counts(text, 4)
    for _ in range(5):
        context, token_id = cut(rng, text, int(rng.integers(5)))
        student.agrees(token_id, context, counts, 12)


@exercise.case("The context and the counts are not modified")
def arguments_stay(student, rng):
    text = drawn_text(rng, 30, 5)
    context, token_id = cut(rng, text, 2)
    student.leaves_unchanged(token_id, [*context], n_gram_counts(text, 3), 7)
    student.leaves_unchanged(6, [*context], n_gram_counts(text, 2), 7)


exercise.edits(
    """
back_off_without_a_mixture:
  | (count + k * probability) / (n + k) -> count / n if count else probability
  Your counts alone decide where the token was counted; the shorter context is asked
    only where it was not.
  ? What do the probabilities of all tokens sum to, if those that were counted have
    all of it already?
  # 'Back off to the shorter context' sounds like a case distinction.
stupid_back_off:
  | (count + k * probability) / (n + k) -> count / n if count else 0.4 * probability
  Your counts alone decide where the token was counted; where it was not, the shorter
    context counts 0.4 times.
  ? Where does the docstring have a 0.4?
  # Brants et al. (2007) do so for billions of n-grams, and call it stupid backoff.
counts_without_smoothing: (count + k * probability) / (n + k) -> count / n
  Your probability is c / N of the longest context that was counted: nothing is mixed
    in.
  ? What is the logarithm of your probability for a token that was never counted
    there?
  # c / N is the share in the text, and the first formula in every book.
shorter_context_where_uncounted_alone:
  | (count + k * probability) / (n + k) ->
  :     count / (n + k) if count else k * probability / (n + k)
  Your mixture is there only where the token was not counted: elsewhere it lacks the
    shorter context.
  ? Which tokens have the second summand in the docstring's formula?
  # The shorter context is thought of as a replacement.
share_of_the_counted_not_discounted:
  | (count + k * probability) / (n + k) ->
  :     count / n if count else k * probability / (n + k)
  Your counted tokens have c / N, and keep nothing back for the others.
  ? What do the probabilities of all tokens sum to in your code?
  # The formula is used only where c / N would be 0.
no_weight_where_uncounted:
  | (count + k * probability) / (n + k) ->
  :     (count + k * probability) / (n + k) if count else probability
  Your token that was not counted has the whole probability of the shorter context.
  ? With c = 0, what is left of the docstring's formula?
  # 'Not counted after this context' is taken for 'this context says nothing'.
half_and_half: (count + k * probability) / (n + k) -> (count / n + probability) / 2
  Your mixture takes half from the counts and half from the shorter context.
  ? Which of two contexts should weigh more: one that came 1,000 times, or one that
    came once?
  # A fixed weight is the simplest interpolation, Jelinek and Mercer (1980).
one_added_to_each_count:
  | (count + k * probability) / (n + k) -> (count + 1) / (n + vocab_size)
  Your counts have 1 added to each, and no shorter context plays a part.
  ? Which probability do you mix in: that of the shorter context, or the same for all?
  # Laplace's rule, add-one smoothing, comes first in every book.
divided_by_n_alone: / (n + k) -> / n
  Your sum is divided by N, not by N + K: the probabilities sum to more than 1.
  ? What is the sum of the docstring's numerators over all tokens?
  # N is the divisor of a share, and K is new.
shorter_without_weight: k * probability -> probability
  Your shorter context has the weight 1, while K is in the divisor: the probabilities
    sum to less than 1.
  ? What is the sum of your numerators over all tokens?
  # p(token | shorter) is added as it is.
k_added_without_the_shorter_one: k * probability -> k
  Your K is added to each count, without the probability of the shorter context.
  ? By what does the docstring multiply K?
  # Smoothing is remembered as adding something to each count.
share_in_place_of_the_count: (count + -> (count / n +
  Your numerator has c / N where the docstring has c.
  ? Is N in the formula once, or twice?
  # A share is mixed with a probability, and the divisor comes on top.
weights_exchanged:
  | (count + k * probability) / (n + k) -> (k * count / n + n * probability) / (n + k)
  Your weights are exchanged: the shorter context has N / (N + K), the counts K / (N +
    K).
  ? Which of two contexts should weigh more: one that came 1,000 times, or one that
    came once?
  # Two weights that sum to 1 are easily swapped.
probabilities_added: (count + k * probability) / (n + k) -> count / n + probability
  Your probability is a sum of shares, one for each context: it may be above 1.
  ? What should the probabilities of all tokens sum to?
  # 'Mixed' is read as added up, without weights.
probabilities_multiplied: (count + k * probability) / (n + k) -> count / n * probability
  Your probability is a product of shares, one for each context.
  # Probabilities along a text are multiplied, and contexts are not such a chain.
larger_of_both: (count + k * probability) / (n + k) -> max(count / n, probability)
  Your probability is the larger one of c / N and that of the shorter context.
  ? What do the larger ones sum to, over all tokens?
  # The longest context that knows something is thought of as the best one.
brackets_missing: (count + k * probability) -> count + k * probability
  Your divisor stands under the second summand alone: c is not divided.
  ? What does Python compute first in c + K * p / (N + K)?
  # A fraction bar holds its numerator together, and / does not.
newest_token_dropped: context[len(context) - length:] -> context[:length]
  Your shorter context lacks the newest token, and keeps the oldest.
  ? Which token tells more about what comes next: the one right before it, or one far
    away?
  # context[:-1] comes to mind first, and the names of the n-grams do not help.
context_read_backwards: context = context[::-1]
  Your contexts are read from the newest token to the oldest.
  ? In which order are the tokens of a context in counts?
  # Contexts grow from the newest token, and append puts the next one after it.
empty_slice_is_the_whole_context: context[len(context) - length:] -> context[-length:]
  Your empty context is the whole one: context[-0:] is context[0:].
  ? What does context[-length:] give for length = 0?
  # context[-length:] is right for every other length.
longest_context_alone: range(len(context) + 1) -> [len(context)]
  Your longest context is mixed with 1 / vocab_size: no context between plays a part.
  ? How many contexts has the formula for a context of two tokens?
  # p(token | shorter) is taken for the end of the recursion.
longest_counted_context_alone: k * probability -> k / vocab_size
  Your longest context that was counted is mixed with 1 / vocab_size, not with those
    that are shorter.
  ? Which probability stands after K in the formula?
  # Back-off is read as a search for the first context that is there.
contexts_between_left_out: range(len(context) + 1) -> sorted({0, len(context)})
  Your longest context is mixed with the empty one: those between play no part.
  ? By how many tokens is the shorter context shorter?
  # A bigram needs two steps, and two are written.
newest_token_alone: context = context[-1:]
  Your context is never longer than its newest token.
  ? Where does your code go on from one context to the next?
  # The formula is written for a bigram, and not repeated.
two_newest_tokens_alone: context = context[-2:]
  Your context is never longer than its two newest tokens.
  ? How long may a context be, says the docstring?
  # The lesson's best n-gram model is a trigram.
empty_context_left_out: range(len(context) + 1) -> range(1, len(context) + 1)
  Your shortest context has one token: how often a token comes at all plays no part.
  ? Is () one of the contexts in counts?
  # range(1, n) begins at 1, and `while context` ends at the empty one.
context_ignored: context = ()
  Your probability is the same after every context.
  ? Where is `context` used in your code?
  # How often a token comes is the first thing one counts.
uniform_where_uncounted:
  | if followers: ->
  :     if not followers:
  :         probability = 1 / vocab_size
  :     else:
  After a context without counts, your tokens have 1 / vocab_size each.
  ? What does the docstring say of such a context: all tokens are as likely, or the
    shorter context decides?
  # 'Says nothing' is taken for 'says that all are as likely'.
zero_where_uncounted:
  | if followers: ->
  :     if not followers:
  :         probability = 0.0
  :     else:
  After a context without counts, your probability is 0, and its logarithm −∞.
  ? Is what was never counted impossible?
  # counts.get(context, {}) has nothing for any token.
nothing_below_the_empty_context: 1 / vocab_size -> 0.0
  After the empty context nothing is mixed in: a token that is nowhere in the text has
    probability 0.
  ? Which probability does the docstring mix in after the empty context?
  # The recursion ends at the empty context, with its counts.
certainty_below_the_empty_context: 1 / vocab_size -> 1.0
  After the empty context you mix in 1, not 1 / vocab_size.
  ? How many tokens share what is mixed in there?
  # 1 is the neutral start of a product.
tokens_of_the_text_alone:
  | 1 / vocab_size -> 1 / len(counts[()]) if counts else 1 / vocab_size
  After the empty context you mix in 1 over the number of tokens that occur.
  ? What does vocab_size do in your code?
  # len(counts[()]) is at hand, and looks like the size of a vocabulary.
one_token_more_in_the_vocabulary: 1 / vocab_size -> 1 / (vocab_size + 1)
  After the empty context you mix in 1 / (vocab_size + 1).
  ? How many tokens share what is mixed in there?
  # A token for unknown words is counted in many language models.
one_over_the_length_of_the_text:
  | 1 / vocab_size -> 1 / sum(counts[()].values()) if counts else 1.0
  After the empty context you mix in 1 over the length of the text.
  ? How many tokens share what is mixed in there: those of the text, or those of the
    vocabulary?
  # 1 / N is the share of a token that came once.
n_for_k: k * probability -> n * probability
  Your shorter context is weighed with N, where the docstring has K.
  ? Is K how often any token came, or how many different ones did?
  # N and K count the same tokens, with and without repetition.
n_of_the_whole_text: sum(followers.values()) -> sum(counts[()].values())
  Your N is the length of the text, after every context.
  ? How often did any token come after this context?
  # N is the length of the text for single tokens.
n_counted_as_a_token:
  | n, k = ( … ->
  :     n, k = (sum(followers.values()), len(followers))
  :     if length > 0:
  :         *before, last = context[len(context) - length:]
  :         n = counts[tuple(before)][last]
  Your N is how often the context itself came, which counts the end of the text, too.
  ? How often did any token come after this context, if the text ends with it?
  # p(b | a) = c(ab) / c(a) is in every book.
k_counts_tokens_seen_once: len(followers) -> list(followers.values()).count(1)
  Your K is the number of tokens that came once.
  ? Is K in the docstring how many came once, or how many different ones came?
  # Good-Turing smoothing counts what came once, for what never came.
k_is_the_vocabulary: len(followers) -> vocab_size
  Your K is vocab_size, after every context.
  ? How many different tokens came after this context?
  # In add-one smoothing the vocabulary's size is in the divisor.
k_is_one: len(followers) -> 1
  Your K is 1, after every context.
  # That is method A, of Cleary and Witten (1984).
k_of_the_whole_text: len(followers) -> len(counts[()])
  Your K is how many different tokens the text has, after every context.
  # len(counts[()]) is computed once, before the loop.
k_and_one_more: len(followers) -> len(followers) + 1
  Your K is one too large.
  # A token for what is new is counted as one of them.
probability_without_logarithm: math.log(probability) -> probability
  Your result is the probability, not its logarithm.
  ? What does the name of the function promise?
  # The formula of the docstring ends with the probability.
sign_turned: math.log(probability) -> -math.log(probability)
  Your result is −ln p: a loss.
  ? Is the logarithm of a probability above or below 0?
  # Losses of language models have the minus, as in bits_per_byte.
logarithm_to_base_two: math.log( -> math.log2(
  Your logarithm has base 2.
  ? Which logarithm does the docstring name?
  # Bits are what the losses become in the end.
logarithm_to_base_ten: math.log( -> math.log10(
  Your logarithm has base 10.
  # Files of n-gram models, in ARPA's format, have log10.
counts_get_tokens: followers.get(token_id, 0) -> followers.setdefault(token_id, 0)
  Your call writes into counts: the token is in them afterwards, with a count of 0.
  ? What does setdefault do with a key that is not there?
  # setdefault(token_id, 0) is taken for get(token_id, 0).
counts_get_contexts:
  | counts.get(tuple(context[len(context) - length:])) ->
  :     counts.setdefault(tuple(context[len(context) - length:]), {})
  Your call writes into counts: contexts without counts are in them afterwards.
  # setdefault(context, {}) is taken for get(context, {}).
context_emptied:
  | return math.log(probability) ->
  :     context.clear()
  :     return math.log(probability)
  Your call empties the caller's context.
  ? Whose list does `context.pop(0)` shorten?
  # while context: … context.pop(0) walks to the empty context.
longest_context_first: range(len(context) + 1) -> range(len(context), -1, -1)
  Your mixture begins with the whole context and ends with the empty one, so the
    shortest context decides most.
  ? Which context's counts should come last, so that the others are what it is mixed
    with?
  # The formula names the longest context first.
""",
)
