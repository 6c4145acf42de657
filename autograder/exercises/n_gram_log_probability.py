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


@exercise.variants
def variants(
    token_id,
    context,
    counts,
    vocab_size,
    *,
    method="mixed",
    shorter="without the oldest",
    read="all that are counted",
    unseen="the shorter one",
    first="1 / vocab_size",
    share="K",
    n="all",
    k="different tokens",
    unit="ln p",
    written="nowhere",
):
    whole = tuple(context)
    contexts = [whole[len(whole) - length :] for length in range(len(whole) + 1)]
    if shorter == "without the newest":
        contexts = [whole[:length] for length in range(len(whole) + 1)]
    elif shorter == "backwards":
        contexts = [whole[::-1][len(whole) - n_ :] for n_ in range(len(whole) + 1)]
    elif shorter == "−0":
        contexts[0] = whole
    if shorter == "longest first":
        contexts = contexts[::-1]
    if read == "longest alone":
        contexts = contexts[-1:]
    elif read == "longest that is counted":
        contexts = [each for each in contexts if each in counts][-1:]
    elif read == "longest and none":
        contexts = [contexts[0], *contexts[1:][-1:]]
    elif read == "newest alone":
        contexts = contexts[:2]
    elif read == "two newest":
        contexts = contexts[:3]
    elif read == "without the empty one":
        contexts = contexts[1:]
    elif read == "none":
        contexts = contexts[:1]
    unigrams = counts.get((), {})
    p = {
        "0": 0.0,
        "1": 1.0,
        "1 / tokens that occur": 1 / (len(unigrams) or vocab_size),
        "1 / (vocab_size + 1)": 1 / (vocab_size + 1),
        "1 / text": 1 / max(sum(unigrams.values()), 1),
    }.get(first, 1 / vocab_size)
    for each in contexts:
        followers = counts.get(each)
        if not followers:
            if written == "contexts into counts":
                counts[each] = {}
            p = {"uniform": 1 / vocab_size, "0": 0.0}.get(unseen, p)
            continue
        total, kinds = sum(followers.values()), len(followers)
        if n == "how often the context came before":
            total = counts.get(each[:-1], {}).get(each[-1], total) if each else total
        elif n == "text":
            total = sum(unigrams.values())
        kinds = {
            "once": sum(count == 1 for count in followers.values()),
            "vocab_size": vocab_size,
            "1": 1,
            "unigrams": len(unigrams),
            "one more": kinds + 1,
        }.get(k, kinds)
        count = followers.get(token_id, 0)
        p = METHODS[method](count, total, kinds, p, vocab_size, SHARES[share])
        if written == "tokens into counts":
            followers[token_id] = count
    if written == "into the context":
        del context[:]
    if unit == "p":
        return p
    logs = {"log2 p": math.log2, "log10 p": math.log10}
    sign = -1 if unit == "−ln p" else 1
    return sign * logs.get(unit, math.log)(p)


SHARES = {
    "K": lambda n, k: k,
    "N": lambda n, k: n,
}
METHODS = {
    "mixed": lambda c, n, k, p, v, share: (c + share(n, k) * p) / (n + k),
    "counts alone": lambda c, n, k, p, v, share: c / n,
    "back-off without a mixture": lambda c, n, k, p, v, share: c / n if c else p,
    "back-off with a factor": lambda c, n, k, p, v, share: c / n if c else 0.4 * p,
    "mixed where c is 0": lambda c, n, k, p, v, share: (
        c / (n + k) if c else k * p / (n + k)
    ),
    "c / N where c is not 0": lambda c, n, k, p, v, share: (
        c / n if c else k * p / (n + k)
    ),
    "shorter where c is 0": lambda c, n, k, p, v, share: (
        (c + k * p) / (n + k) if c else p
    ),
    "half and half": lambda c, n, k, p, v, share: (c / n + p) / 2,
    "one more of each": lambda c, n, k, p, v, share: (c + 1) / (n + v),
    "divided by N": lambda c, n, k, p, v, share: (c + k * p) / n,
    "p without K": lambda c, n, k, p, v, share: (c + p) / (n + k),
    "K without p": lambda c, n, k, p, v, share: (c + k) / (n + k),
    "c / N inside": lambda c, n, k, p, v, share: (c / n + k * p) / (n + k),
    "weights exchanged": lambda c, n, k, p, v, share: (k * c / n + n * p) / (n + k),
    "added": lambda c, n, k, p, v, share: c / n + p,
    "multiplied": lambda c, n, k, p, v, share: c / n * p,
    "the larger": lambda c, n, k, p, v, share: max(c / n, p),
    "brackets missing": lambda c, n, k, p, v, share: c + k * p / (n + k),
}

exercise.option(
    "back_off_without_a_mixture",
    "Your counts alone decide where the token was counted; the shorter context is "
    "asked only where it was not.",
    "What do the probabilities of all tokens sum to, if those that were counted have "
    "all of it already?",
    why="'Back off to the shorter context' sounds like a case distinction.",
    method="back-off without a mixture",
)
exercise.option(
    "stupid_back_off",
    "Your counts alone decide where the token was counted; where it was not, the "
    "shorter context counts 0.4 times.",
    "Where does the docstring have a 0.4?",
    why="Brants et al. (2007) do so for billions of n-grams, and call it stupid "
    "backoff.",
    method="back-off with a factor",
)
exercise.option(
    "counts_without_smoothing",
    "Your probability is c / N of the longest context that was counted: nothing is "
    "mixed in.",
    "What is the logarithm of your probability for a token that was never counted "
    "there?",
    why="c / N is the share in the text, and the first formula in every book.",
    method="counts alone",
)
exercise.option(
    "shorter_context_where_uncounted_alone",
    "Your mixture is there only where the token was not counted: elsewhere it lacks "
    "the shorter context.",
    "Which tokens have the second summand in the docstring's formula?",
    why="The shorter context is thought of as a replacement.",
    method="mixed where c is 0",
)
exercise.option(
    "share_of_the_counted_not_discounted",
    "Your counted tokens have c / N, and keep nothing back for the others.",
    "What do the probabilities of all tokens sum to in your code?",
    why="The formula is used only where c / N would be 0.",
    method="c / N where c is not 0",
)
exercise.option(
    "no_weight_where_uncounted",
    "Your token that was not counted has the whole probability of the shorter context.",
    "With c = 0, what is left of the docstring's formula?",
    why="'Not counted after this context' is taken for 'this context says nothing'.",
    method="shorter where c is 0",
)
exercise.option(
    "half_and_half",
    "Your mixture takes half from the counts and half from the shorter context.",
    "Which of two contexts should weigh more: one that came 1,000 times, or one that "
    "came once?",
    why="A fixed weight is the simplest interpolation, Jelinek and Mercer (1980).",
    method="half and half",
)
exercise.option(
    "one_added_to_each_count",
    "Your counts have 1 added to each, and no shorter context plays a part.",
    "Which probability do you mix in: that of the shorter context, or the same for "
    "all?",
    why="Laplace's rule, add-one smoothing, comes first in every book.",
    method="one more of each",
)
exercise.option(
    "divided_by_n_alone",
    "Your sum is divided by N, not by N + K: the probabilities sum to more than 1.",
    "What is the sum of the docstring's numerators over all tokens?",
    why="N is the divisor of a share, and K is new.",
    method="divided by N",
)
exercise.option(
    "shorter_without_weight",
    "Your shorter context has the weight 1, while K is in the divisor: the "
    "probabilities sum to less than 1.",
    "What is the sum of your numerators over all tokens?",
    why="p(token | shorter) is added as it is.",
    method="p without K",
)
exercise.option(
    "k_added_without_the_shorter_one",
    "Your K is added to each count, without the probability of the shorter context.",
    "By what does the docstring multiply K?",
    why="Smoothing is remembered as adding something to each count.",
    method="K without p",
)
exercise.option(
    "share_in_place_of_the_count",
    "Your numerator has c / N where the docstring has c.",
    "Is N in the formula once, or twice?",
    why="A share is mixed with a probability, and the divisor comes on top.",
    method="c / N inside",
)
exercise.option(
    "weights_exchanged",
    "Your weights are exchanged: the shorter context has N / (N + K), the counts K / "
    "(N + K).",
    "Which of two contexts should weigh more: one that came 1,000 times, or one that "
    "came once?",
    why="Two weights that sum to 1 are easily swapped.",
    method="weights exchanged",
)
exercise.option(
    "probabilities_added",
    "Your probability is a sum of shares, one for each context: it may be above 1.",
    "What should the probabilities of all tokens sum to?",
    why="'Mixed' is read as added up, without weights.",
    method="added",
)
exercise.option(
    "probabilities_multiplied",
    "Your probability is a product of shares, one for each context.",
    "What should the probabilities of all tokens sum to?",
    why="Probabilities along a text are multiplied, and contexts are not such a chain.",
    method="multiplied",
)
exercise.option(
    "larger_of_both",
    "Your probability is the larger one of c / N and that of the shorter context.",
    "What do the larger ones sum to, over all tokens?",
    why="The longest context that knows something is thought of as the best one.",
    method="the larger",
)
exercise.option(
    "brackets_missing",
    "Your divisor stands under the second summand alone: c is not divided.",
    "What does Python compute first in c + K * p / (N + K)?",
    why="A fraction bar holds its numerator together, and / does not.",
    method="brackets missing",
)
exercise.option(
    "newest_token_dropped",
    "Your shorter context lacks the newest token, and keeps the oldest.",
    "Which token tells more about what comes next: the one right before it, or one far "
    "away?",
    why="context[:-1] comes to mind first, and the names of the n-grams do not help.",
    shorter="without the newest",
)
exercise.option(
    "context_read_backwards",
    "Your contexts are read from the newest token to the oldest.",
    "In which order are the tokens of a context in counts?",
    why="Contexts grow from the newest token, and append puts the next one after it.",
    shorter="backwards",
)
exercise.option(
    "empty_slice_is_the_whole_context",
    "Your empty context is the whole one: context[-0:] is context[0:].",
    "What does context[-length:] give for length = 0?",
    why="context[-length:] is right for every other length.",
    shorter="−0",
)
exercise.option(
    "longest_context_alone",
    "Your longest context is mixed with 1 / vocab_size: no context between plays a "
    "part.",
    "How many contexts has the formula for a context of two tokens?",
    why="p(token | shorter) is taken for the end of the recursion.",
    read="longest alone",
)
exercise.option(
    "longest_counted_context_alone",
    "Your longest context that was counted is mixed with 1 / vocab_size, not with "
    "those that are shorter.",
    "Which probability stands after K in the formula?",
    why="Back-off is read as a search for the first context that is there.",
    read="longest that is counted",
)
exercise.option(
    "contexts_between_left_out",
    "Your longest context is mixed with the empty one: those between play no part.",
    "By how many tokens is the shorter context shorter?",
    why="A bigram needs two steps, and two are written.",
    read="longest and none",
)
exercise.option(
    "newest_token_alone",
    "Your context is never longer than its newest token.",
    "Where does your code go on from one context to the next?",
    why="The formula is written for a bigram, and not repeated.",
    read="newest alone",
)
exercise.option(
    "two_newest_tokens_alone",
    "Your context is never longer than its two newest tokens.",
    "How long may a context be, says the docstring?",
    why="The lesson's best n-gram model is a trigram.",
    read="two newest",
)
exercise.option(
    "empty_context_left_out",
    "Your shortest context has one token: how often a token comes at all plays no "
    "part.",
    "Is () one of the contexts in counts?",
    why="range(1, n) begins at 1, and `while context` ends at the empty one.",
    read="without the empty one",
)
exercise.option(
    "context_ignored",
    "Your probability is the same after every context.",
    "Where is `context` used in your code?",
    why="How often a token comes is the first thing one counts.",
    read="none",
)
exercise.option(
    "uniform_where_uncounted",
    "After a context without counts, your tokens have 1 / vocab_size each.",
    "What does the docstring say of such a context: all tokens are as likely, or the "
    "shorter context decides?",
    why="'Says nothing' is taken for 'says that all are as likely'.",
    unseen="uniform",
)
exercise.option(
    "zero_where_uncounted",
    "After a context without counts, your probability is 0, and its logarithm −∞.",
    "Is what was never counted impossible?",
    why="counts.get(context, {}) has nothing for any token.",
    unseen="0",
)
exercise.option(
    "nothing_below_the_empty_context",
    "After the empty context nothing is mixed in: a token that is nowhere in the text "
    "has probability 0.",
    "Which probability does the docstring mix in after the empty context?",
    why="The recursion ends at the empty context, with its counts.",
    first="0",
)
exercise.option(
    "certainty_below_the_empty_context",
    "After the empty context you mix in 1, not 1 / vocab_size.",
    "How many tokens share what is mixed in there?",
    why="1 is the neutral start of a product.",
    first="1",
)
exercise.option(
    "tokens_of_the_text_alone",
    "After the empty context you mix in 1 over the number of tokens that occur.",
    "What does vocab_size do in your code?",
    why="len(counts[()]) is at hand, and looks like the size of a vocabulary.",
    first="1 / tokens that occur",
)
exercise.option(
    "one_token_more_in_the_vocabulary",
    "After the empty context you mix in 1 / (vocab_size + 1).",
    "How many tokens share what is mixed in there?",
    why="A token for unknown words is counted in many language models.",
    first="1 / (vocab_size + 1)",
)
exercise.option(
    "one_over_the_length_of_the_text",
    "After the empty context you mix in 1 over the length of the text.",
    "How many tokens share what is mixed in there: those of the text, or those of the "
    "vocabulary?",
    why="1 / N is the share of a token that came once.",
    first="1 / text",
)
exercise.option(
    "n_for_k",
    "Your shorter context is weighed with N, where the docstring has K.",
    "Is K how often any token came, or how many different ones did?",
    why="N and K count the same tokens, with and without repetition.",
    share="N",
)
exercise.option(
    "n_of_the_whole_text",
    "Your N is the length of the text, after every context.",
    "How often did any token come after this context?",
    why="N is the length of the text for single tokens.",
    n="text",
)
exercise.option(
    "n_counted_as_a_token",
    "Your N is how often the context itself came, which counts the end of the text, "
    "too.",
    "How often did any token come after this context, if the text ends with it?",
    why="p(b | a) = c(ab) / c(a) is in every book.",
    n="how often the context came before",
)
exercise.option(
    "k_counts_tokens_seen_once",
    "Your K is the number of tokens that came once.",
    "Is K in the docstring how many came once, or how many different ones came?",
    why="Good-Turing smoothing counts what came once, for what never came.",
    k="once",
)
exercise.option(
    "k_is_the_vocabulary",
    "Your K is vocab_size, after every context.",
    "How many different tokens came after this context?",
    why="In add-one smoothing the vocabulary's size is in the divisor.",
    k="vocab_size",
)
exercise.option(
    "k_is_one",
    "Your K is 1, after every context.",
    "How many different tokens came after this context?",
    why="That is method A, of Cleary and Witten (1984).",
    k="1",
)
exercise.option(
    "k_of_the_whole_text",
    "Your K is how many different tokens the text has, after every context.",
    "How many different tokens came after this context?",
    why="len(counts[()]) is computed once, before the loop.",
    k="unigrams",
)
exercise.option(
    "k_and_one_more",
    "Your K is one too large.",
    "How many different tokens came after this context?",
    why="A token for what is new is counted as one of them.",
    k="one more",
)
exercise.option(
    "probability_without_logarithm",
    "Your result is the probability, not its logarithm.",
    "What does the name of the function promise?",
    why="The formula of the docstring ends with the probability.",
    unit="p",
)
exercise.option(
    "sign_turned",
    "Your result is −ln p: a loss.",
    "Is the logarithm of a probability above or below 0?",
    why="Losses of language models have the minus, as in bits_per_byte.",
    unit="−ln p",
)
exercise.option(
    "logarithm_to_base_two",
    "Your logarithm has base 2.",
    "Which logarithm does the docstring name?",
    why="Bits are what the losses become in the end.",
    unit="log2 p",
)
exercise.option(
    "logarithm_to_base_ten",
    "Your logarithm has base 10.",
    "Which logarithm does the docstring name?",
    why="Files of n-gram models, in ARPA's format, have log10.",
    unit="log10 p",
)
exercise.option(
    "counts_get_tokens",
    "Your call writes into counts: the token is in them afterwards, with a count of 0.",
    "What does setdefault do with a key that is not there?",
    why="setdefault(token_id, 0) is taken for get(token_id, 0).",
    written="tokens into counts",
)
exercise.option(
    "counts_get_contexts",
    "Your call writes into counts: contexts without counts are in them afterwards.",
    "What does setdefault do with a key that is not there?",
    why="setdefault(context, {}) is taken for get(context, {}).",
    written="contexts into counts",
)
exercise.option(
    "context_emptied",
    "Your call empties the caller's context.",
    "Whose list does `context.pop(0)` shorten?",
    why="while context: … context.pop(0) walks to the empty context.",
    written="into the context",
)
exercise.option(
    "longest_context_first",
    "Your mixture begins with the whole context and ends with the empty one, so the "
    "shortest context decides most.",
    "Which context's counts should come last, so that the others are what it is "
    "mixed with?",
    why="The formula names the longest context first.",
    shorter="longest first",
)
