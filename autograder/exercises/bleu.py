"""Cases and misconceptions of ``bleu``."""

import math

from autograder import Exercise
from course_lib.bleu import bleu

exercise = Exercise(
    bleu,
    lesson="11_translation",
    minutes=20,
    difficulty=3,
    library=(
        "sacrebleu.corpus_bleu",
        "sacrebleu.sentence_bleu",
        "sacrebleu.raw_corpus_bleu",
        "sacrebleu.metrics.BLEU",
        "course_lib.nn.training.scoring.bleu",
    ),
)


@exercise.spec
def spec(hypotheses, references, max_n=4):
    product = 1.0
    for n in range(1, max_n + 1):
        n_matches = n_all = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            unmatched = []
            for i in range(len(reference) - n + 1):
                unmatched.append([*reference[i : i + n]])
            for i in range(len(hypothesis) - n + 1):
                n_all += 1
                if [*hypothesis[i : i + n]] in unmatched:
                    unmatched.remove([*hypothesis[i : i + n]])
                    n_matches += 1
        if n_matches == 0:
            return 0.0
        product *= n_matches / n_all
    n_written = sum(len(hypothesis) for hypothesis in hypotheses)
    n_wanted = sum(len(reference) for reference in references)
    penalty = 1.0 if n_written >= n_wanted else math.exp(1 - n_wanted / n_written)
    return 100 * penalty * product ** (1 / max_n)


WORDS = ("der", "die", "Akku", "Tür", "ist", "nun", "fast", "leer", "offen", "nicht")


def drawn(rng, n, *, words=WORDS, least=6, most=11, drop=0.08, add=0.08, fixed=4):
    """Draw references, and hypotheses that repeat them with a few changes.

    least, most : number of tokens of a reference
    drop, add : how often a token is left out, and how often one is written twice
    fixed : how many tokens at the beginning stay, so that an n-gram matches
    """
    hypotheses, references = [], []
    for length in rng.integers(least, most + 1, size=n).tolist():
        reference = rng.choice(words, size=length).tolist()
        hypothesis = reference[:fixed]
        for token in reference[fixed:]:
            chance = rng.uniform()
            if chance < drop:
                continue
            other = str(rng.choice(words))
            hypothesis.append(other if chance > 0.85 else token)
            if drop <= chance < drop + add:
                hypothesis.append(token)
        hypotheses.append(hypothesis)
        references.append(reference)
    return hypotheses, references


@exercise.usual
def usual(rng):
    return drawn(rng, 5, add=0.0)


@exercise.case(
    "With one of five words left out, p_1 is 4/4 and p_2 is 2/3; the brevity penalty "
    "is exp(1 − 5/4)"
)
def small_example_by_hand(student, rng):
    written = [["der", "Akku", "ist", "leer"]]
    wanted = [["der", "Akku", "ist", "fast", "leer"]]
    expected = 100 * math.exp(-1 / 4) * math.sqrt(2 / 3)
    student.expect(student(written, wanted, 2), expected)
    student.agrees(*drawn(rng, 1, add=0.0), 2)


@exercise.case(
    "An n-gram that is written more often than it is wanted counts as often as wanted"
)
def clipped_counts(student, rng):
    written, wanted = "die die die die die", "die Tür und die Maus"
    student.expect(student([written.split()], [wanted.split()], 1), 40.0)
    for max_n in (1, 2):
        student.agrees(*drawn(rng, 2, words=WORDS[:3], add=0.3, drop=0.0), max_n)


@exercise.case("A repeated n-gram that is wanted twice counts twice")
def repeated_n_grams(student, rng):
    for max_n in (1, 2, 3):
        student.agrees(*drawn(rng, 1, words=WORDS[:2], least=9, most=12), max_n)


@exercise.case("The n-grams of all sentences are counted first, and divided once")
def counted_over_the_corpus(student, rng):
    short, long = drawn(rng, 2, least=5, most=6), drawn(rng, 3, least=14, most=19)
    student.agrees(*(first + second for first, second in zip(short, long, strict=True)))
    student.agrees(*drawn(rng, 6))


@exercise.case("N-grams do not go from one sentence into the next")
def sentences_are_apart(student, rng):
    hypotheses, references = drawn(rng, 7, least=5, most=9, drop=0.2)
    student.agrees(hypotheses, references)
    student.agrees(hypotheses, references, 3)


@exercise.case("Translations that are too short lose by exp(1 − r / c)")
def too_short(student, rng):
    student.agrees(*drawn(rng, 4, drop=0.5, add=0.0))
    student.agrees(*drawn(rng, 3, least=9, drop=0.7, add=0.0), 2)


@exercise.case("Translations that are longer lose nothing but their precision")
def too_long(student, rng):
    student.agrees(*drawn(rng, 6, words=WORDS[:6], drop=0.0, add=0.5))


@exercise.case("The brevity penalty has the lengths of all sentences together")
def lengths_of_all_sentences(student, rng):
    short, long = drawn(rng, 3, drop=0.6, add=0.0), drawn(rng, 2, drop=0.0, add=0.3)
    student.agrees(*(first + second for first, second in zip(short, long, strict=True)))


@exercise.case("A sentence of fewer than max_n tokens still has its shorter n-grams")
def short_sentences(student, rng):
    hypotheses, references = drawn(rng, 3)
    written, wanted = drawn(rng, 4, least=1, most=3)
    student.agrees([*written, *hypotheses], [*wanted, *references])


@exercise.case("An empty translation has no n-grams; its reference still has a length")
def empty_translation(student, rng):
    hypotheses, references = drawn(rng, 4, add=0.0)
    student.agrees([*hypotheses, []], [*references, ["offen", "und", "leer"]])
    student.agrees([[], *hypotheses], [["zu"], *references], 3)


@exercise.case("Where one precision has no match, BLEU is 0", pays_alone=False)
def no_match(student, rng):
    two = ["die", "Tür", "die", "ist"], ["die", "Tür", "ist", "nicht", "offen"]
    student.expect(student([two[0]], [two[1]]), 0.0)
    hypotheses, references = drawn(rng, 3, least=3, most=3)
    student.expect(student(hypotheses, references), 0.0)
    student.expect(student([["zu"]], [["offen"]], 1), 0.0)


@exercise.case("Translations that are as wanted have a BLEU of 100", pays_alone=False)
def as_wanted(student, rng):
    _, references = drawn(rng, 3)
    copies = [[*reference] for reference in references]
    student.expect(student(copies, references), 100.0)
    student.expect(student([["die", "Tür"]], [["die", "Tür"]], 2), 100.0)


@exercise.case("The longest n-grams have max_n tokens, or 4 if nothing is said")
def other_max_n(student, rng):
    hypotheses, references = drawn(rng, 6, words=WORDS[:6], least=8, fixed=7)
    for max_n in (1, 3, 5, 6):
        student.agrees(hypotheses, references, max_n)
    student.agrees(hypotheses, references)


@exercise.case("Two tokens are equal only if they are the same text", visible=False)
def tokens_are_compared_whole(student, rng):
    hypotheses, references = drawn(rng, 4)
    for n, (written, wanted) in enumerate(zip(hypotheses, references, strict=True)):
        written += [["nun", "fast"], ["nu", "nfast"], ["nunfas", "t"]][n % 3]
        wanted += ["nun", "fast"]
    student.agrees(hypotheses, references, 3)
    student.agrees(*drawn(rng, 4, words=("Sie", "sie", "SIE", "Akku", "akku")), 3)


@exercise.case("A larger set of translations", visible=False)
def larger_set(student, rng):
    student.agrees(*drawn(rng, 25, least=4, most=16))


@exercise.case("The lists of the caller are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(*drawn(rng, 3))


class Pooled:
    """Counts of n-grams in all hypotheses and in all references."""

    def __init__(self, written, wanted):
        self.written, self.wanted = written, wanted

    def __add__(self, other):
        return Pooled(self.written + other.written, self.wanted + other.wanted)

    def matches(self):
        return (self.written & self.wanted).total()


exercise.edits(
    """
counts_not_clipped:
  | for n_gram in set(written):
  :     n_matches … -> n_matches += sum((n_gram in wanted for n_gram in written))
  Your matches count every n-gram that occurs in the reference, however often it is
    written.
  ? What is p_1 of a translation that says the first word of the reference ten times?
  # `n_gram in reference` is all that a plain precision asks; Papineni et al. begin
    with this example.
sets_of_n_grams:
  | [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)] ->
  :     {tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)}
  | for n_gram in set(written):
  :     n_matches … -> n_matches += len(written & wanted)
  Your n-grams are counted once each, however often they occur.
  ? How many 1-grams does *die Tür und die Maus* have?
  # set(written) & set(wanted) is short, and for most sentences nearly right.
matches_as_sets:
  | for n_gram in set(written):
  :     n_matches … -> n_matches += len(set(written) & set(wanted))
  Your matches count each n-gram once, and your n-grams as often as they occur.
  ? How often does *die* match if both sentences have it twice?
  # The intersection of two sets is divided by the length of a list.
as_often_as_wanted:
  | min(written.count(n_gram), wanted.count(n_gram)) -> wanted.count(n_gram)
  Each of your n-grams matches as often as it is wanted, even if it is written less
    often.
  ? Which two numbers does the docstring take the smaller of?
  # Clipping is read as taking the count of the reference.
same_position_only:
  | for n_gram in set(written):
  :     n_matches … ->
  :     n_matches += sum((one == other for one, other in zip(written, wanted)))
  Your n-grams match only at the same position in both sentences.
  ? What happens to your matches if a word is added at the beginning?
  # zip(hypothesis, reference) compares as accuracy does.
clipped_over_the_corpus:
  | n_matches = n_all = 0
  : for hypothesis, …
  :     written, …
  :     n_all += len(written)
  :     for …
  :  … ->
  :     written, wanted = (
  :         [
  :             tuple(tokens[i : i + n])
  :             for tokens in sentences
  :             for i in range(len(tokens) - n + 1)
  :         ]
  :         for sentences in (hypotheses, references)
  :     )
  :     n_all = len(written)
  :     n_matches = sum(
  :         (
  :             min(written.count(n_gram), wanted.count(n_gram))
  :             for n_gram in set(written)
  :         )
  :     )
  Your n-grams are clipped over all sentences together.
  ? May an n-gram match one in the reference of another sentence?
  # One Counter for all hypotheses and one for all references save a loop.
mean_of_sentence_bleus:
  | if len(hypotheses) > 1:
  :     pairs = zip(hypotheses, references, strict=True)
  :     return float(
  :         np.mean(
  :             [
  :                 bleu([hypothesis], [reference], max_n)
  :                 for hypothesis, reference in pairs
  :             ]
  :         )
  :     )
  Your result is the mean of the sentences' own BLEUs.
  ? What does a short sentence without a matching 4-gram do to your result?
  # Other measures, such as accuracy, are means over examples.
precisions_averaged_over_sentences:
  | n_matches = n_all = 0 -> shares = []
  | n_all += len(written)
  : for n_gram in set(written):
  :     n_matches … ->
  :     n_matches = sum(
  :         (
  :             min(written.count(n_gram), wanted.count(n_gram))
  :             for n_gram in set(written)
  :         )
  :     )
  :     shares.append(n_matches / max(len(written), 1))
  | n_matches == 0 -> sum(shares) == 0
  | n_matches / n_all -> np.mean(shares)
  Your p_n are means of the sentences' own shares.
  ? How much does an n-gram of a long sentence count in your p_n, and one of a short
    sentence?
  # A share is computed where its counts are, in the loop over the sentences.
precisions_averaged_over_sentences_that_have_any:
  | n_matches = n_all = 0 -> shares = []
  | n_all += len(written)
  : for n_gram in set(written):
  :     n_matches … ->
  :     n_matches = sum(
  :         (
  :             min(written.count(n_gram), wanted.count(n_gram))
  :             for n_gram in set(written)
  :         )
  :     )
  :     shares += [n_matches / len(written)] if written else []
  | n_matches == 0 -> sum(shares) == 0
  | n_matches / n_all -> np.mean(shares)
  Your p_n are means of the shares of those sentences that have an n-gram.
  # A share is computed in the loop, and sentences without an n-gram are passed over.
first_sentence_only: hypotheses, references = (hypotheses[:1], references[:1])
  Your result is that of the first sentence alone.
  ? How often does your loop run before it returns?
  # `return` is indented into the loop, or the example by hand had one sentence.
n_grams_across_sentences:
  | hypotheses, references = ([sum(hypotheses, [])], [sum(references, [])])
  Your n-grams go from the end of one sentence into the next.
  ? Which n-grams do two sentences of one token each have?
  # All tokens are put into one list first, since the counts are summed anyhow.
divided_by_the_reference: n_all += len(wanted)
  Your matches are divided by the number of n-grams in the references.
  ? Of which text is a precision a share?
  # That is the recall, which ROUGE measures.
divided_by_the_tokens: n_all += len(hypothesis)
  Your matches are divided by the number of tokens, whatever n is.
  ? How many 4-grams does a sentence of five tokens have?
  # len(hypothesis) is at hand, and right for n = 1.
divided_by_the_longer:
  | n_matches = n_all = 0 -> n_matches = n_written = n_wanted = 0
  | n_all += len(written) ->
  :     n_written += len(written)
  :     n_wanted += len(wanted)
  | n_matches / n_all -> n_matches / max(n_written, n_wanted)
  Your matches are divided by the n-grams of hypotheses or of references, whichever
    are more.
  ? Which part of the formula takes care of translations that are too short?
  # To divide by the longer side keeps a share below 1 without a penalty.
tokens_glued_together: tuple(tokens[i:i + n]) -> ''.join(tokens[i:i + n])
  Your n-grams are texts in which one cannot see where a token ends.
  ? Are *ab c* and *a bc* the same 2-gram?
  # "".join(…) makes something that can be counted.
order_ignored: tuple(tokens[i:i + n]) -> tuple(sorted(tokens[i:i + n]))
  Your n-grams match in any order of their tokens.
  ? Are *ist nicht* and *nicht ist* the same 2-gram?
  # A set of tokens, or a sorted tuple, is counted in place of a tuple.
last_n_gram_missing: range(len(tokens) - n + 1) -> range(len(tokens) - n)
  Your sentences lack their last n-gram.
  ? How many 2-grams do three tokens have?
  # range(len(tokens) − n) stops one too early.
shorter_n_grams_at_the_end: range(len(tokens) - n + 1) -> range(len(tokens))
  Your n-grams become shorter at the end of a sentence.
  ? How many tokens has tokens[i : i + n] for the last i?
  # A slice that goes beyond the end is silently shorter.
n_grams_that_do_not_overlap:
  | range(len(tokens) - n + 1) -> range(0, len(tokens) - n + 1, n)
  Your n-grams do not overlap: each token is in one of them.
  ? How many 2-grams do three tokens have?
  # Cutting a list into pieces of n is a well-known idiom.
capitals_ignored: tuple(tokens[i:i + n]) -> tuple(map(str.lower, tokens[i:i + n]))
  Your tokens are compared without regard to capitals.
  ? Does the docstring let *Sie* match *sie*?
  # sacrebleu has an option for it, lowercase, and older scripts did so always.
longest_n_grams_missing: range(1, max_n + 1) -> range(1, max_n)
  Your n goes up to max_n − 1.
  ? Where does range(1, max_n) end?
  # A range ends before its second number.
max_n_ignored: range(1, max_n + 1) -> range(1, 5)
  Your n goes up to 4, whatever max_n is.
  ? Where does your function use `max_n`?
  # 4 is the number of the paper, and of every program.
longest_n_grams_only: range(1, max_n + 1) -> [max_n]
  Your result has the n-grams of max_n tokens alone.
  ? How many precisions does the formula multiply?
  # “4-gram BLEU” sounds like that.
single_tokens_left_out: range(1, max_n + 1) -> range(2, max_n + 1)
  Your n begins with 2.
  ? What is a 1-gram?
  # An n-gram is thought of as at least a pair.
arithmetic_mean:
  | n_matches == 0 -> not any(hypotheses)
  | n_matches / n_all -> n_matches / max(n_all, 1)
  | np.exp(np.mean(np.log(precisions))) -> np.mean(precisions)
  Your precisions are averaged by adding them.
  ? What should become of the mean if one of its numbers is 0?
  # The mean without any other word is the arithmetic one.
arithmetic_mean_or_zero:
  | np.exp(np.mean(np.log(precisions))) -> np.mean(precisions)
  Your precisions are averaged by adding them; where one is 0, your BLEU is 0.
  ? Of 1 and 0.25, what is the geometric mean, and what the arithmetic one?
  # The mean without any other word is the arithmetic one.
root_left_out: np.exp(np.mean(np.log(precisions))) -> np.prod(precisions)
  Your precisions are multiplied, and no root is taken.
  ? What is the mean of four numbers that are all one half?
  # The product is most of the formula.
harmonic_mean:
  | np.exp(np.mean(np.log(precisions))) ->
  :     len(precisions) / sum((1 / p for p in precisions))
  Your precisions are averaged by their harmonic mean.
  ? Which mean does the docstring name?
  # F-scores are harmonic means of shares.
fourth_root_always:
  | np.exp(np.mean(np.log(precisions))) -> np.prod(precisions) ** (1 / 4)
  Your root is the fourth, whatever max_n is.
  ? How many precisions are multiplied for max_n = 2?
  # The exponent 1/4 is in the usual formula.
weights_that_halve:
  | if n_matches == 0: ->
  :     if n > 1 and n_all == 0:
  :         break
  :     if n_matches == 0:
  | np.exp(np.mean(np.log(precisions))) ->
  :     np.prod([p ** 0.5 ** n for n, p in enumerate(precisions, 1)])
  Your precisions have the exponents 1/2, 1/4, 1/8 and so on, as far as a translation
    has n-grams.
  ? Which exponent has each precision in a geometric mean of four?
  # Dive into Deep Learning, section 10.7, has these exponents.
square_root: np.exp(np.mean(np.log(precisions))) -> np.sqrt(np.prod(precisions))
  Your root is the square root, whatever max_n is.
  ? How many precisions are multiplied for max_n = 4?
  # A geometric mean is first met with two numbers.
brevity_penalty_missing: brevity_penalty = 1.0
  Your result has no brevity penalty.
  ? Which BLEU would a system have that only writes what it is sure of?
  # The precisions look like the whole measure.
brevity_is_a_ratio: brevity_penalty = min(1.0, c / r)
  Your brevity penalty is c / r.
  ? Which function does the formula apply to the lengths?
  # A share of what is wanted is the first penalty that comes to mind.
long_translations_penalised: r / c -> c / r
  Your brevity penalty is exp(1 − c / r) for translations that are too long.
  ? For which translations are the precisions no warning: too short or too long?
  # c and r are exchanged: r is read as the length of the result.
one_left_out_of_the_exponent: brevity_penalty = 1.0 if c >= r else np.exp(-r / c)
  Your brevity penalty is exp(−r / c).
  ? What should the penalty be where c is r minus a tiny amount?
  # The 1 in the exponent is overlooked; without it the penalty jumps.
short_translations_rewarded: brevity_penalty = 1.0 if c >= r else np.exp(1 - c / r)
  Your brevity penalty is above 1 for translations that are too short: exp(1 − c / r).
  ? Is your exponent below 0 where c is smaller than r?
  # The condition is right, and the fraction upside down.
long_translations_rewarded: brevity_penalty = np.exp(1 - r / c)
  Your brevity penalty is above 1 for translations that are longer than their
    references.
  ? How large may a penalty be at most?
  # exp(1 − r / c) is used without the case of longer translations.
brevity_by_sentence:
  | c, r = ( …
  : brevity_penalty = … ->
  :     penalties = []
  :     for hypothesis, reference in zip(hypotheses, references, strict=True):
  :         c, r = (len(hypothesis), len(reference))
  :         penalties.append(min(1.0, np.exp(1 - r / c)) if c > 0 else 0.0)
  :     brevity_penalty = np.mean(penalties)
  Your brevity penalty is the mean of the sentences' own.
  ? May a translation that is a little longer make up for one that is shorter?
  # The lengths are compared in the loop over the sentences.
mean_of_the_length_ratios:
  | c, r = ( …
  : brevity_penalty = … ->
  :     ratios = [
  :         len(reference) / max(len(hypothesis), 1)
  :         for hypothesis, reference in zip(hypotheses, references, strict=True)
  :     ]
  :     brevity_penalty = min(1.0, np.exp(1 - np.mean(ratios)))
  Your brevity penalty has the mean of the sentences' own ratios r / c.
  ? What does the docstring divide: sums, or sentence by sentence?
  # A mean of ratios is taken for the ratio of the sums.
zero_precisions_left_out:
  | return 0.0 -> continue
  | c, r = ( … ->
  :     if not precisions:
  :         return 0.0
  :     c, r = (sum(map(len, sentences)) for sentences in (hypotheses, references))
  Your mean leaves out precisions of 0.
  ? What does the docstring say of an n without any match?
  # log(0) raises an error, and the line is put under an `if`.
orders_without_n_grams_left_out:
  | if n_matches == 0: ->
  :     if n > 1 and n_all == 0:
  :         break
  :     if n_matches == 0:
  Your mean leaves out an n of which no sentence has an n-gram.
  ? What does the docstring say of an n without any n-gram?
  # sacrebleu does so for single sentences: effective_order.
one_added_to_the_counts:
  | if n_matches == 0: ->
  :     if n > 1:
  :         n_matches, n_all = (n_matches + 1, n_all + 1)
  :     if n_matches == 0:
  Your counts of matches and of n-grams have 1 added to them where n is above 1.
  ? What is p_2 if no 2-gram matches, and what is it in your code?
  # Lin and Och (2004) smooth so; sacrebleu calls it add-k.
one_added_everywhere:
  | n_matches = n_all = 1
  | n_matches == 0 -> not any(hypotheses)
  Your matches and n-grams are one more than there are, also single tokens.
  ? What does the docstring say of smoothing?
  # Laplace's add-one smoothing is what most probabilities are smoothed with.
a_tenth_of_a_match_in_place_of_none:
  | if n_matches == 0: ->
  :     if n_matches == 0 and any(hypotheses):
  :         n_matches, n_all = (0.1, max(n_all, 1))
  :     if n_matches == 0:
  Your precisions without any match count a tenth of a match.
  # NLTK's SmoothingFunction().method1 does so.
half_a_match_in_place_of_none:
  | if n_matches == 0: ->
  :     if n_matches == 0 and n_all > 0:
  :         n_matches = 0.5
  :     if n_matches == 0:
  Your precisions without any match count half a match.
  # sacrebleu's usual smoothing, exp, begins with half a match.
roles_exchanged: hypotheses, references = (references, hypotheses)
  Your result is that of the references, with the translations as references.
  ? Which of the two arguments is measured?
  # sacrebleu takes translations first, NLTK's corpus_bleu the references.
from_0_to_1: 100 * brevity_penalty -> brevity_penalty
  Your result goes from 0 to 1.
  ? What is the BLEU of a perfect translation, by the docstring?
  # The paper's own numbers, and those of NLTK, go from 0 to 1.
rounded:
  | return float( … ->
  :     return round(float(100 * brevity_penalty *
  :     np.exp(np.mean(np.log(precisions)))), 2)
  Your result is rounded to two decimals.
  ? Does the docstring round?
  # Papers give BLEU with one or two decimals.
references_used_up:
  | return float( … ->
  :     for hypothesis, reference in zip(hypotheses, references, strict=True):
  :         for token in hypothesis:
  :             if token in reference:
  :                 reference.remove(token)
  :     return float(100 * brevity_penalty * np.exp(np.mean(np.log(precisions))))
  Your call removes the tokens that match from the caller's references.
  ? Whose list does `reference.remove(token)` change?
  # To strike out what has matched is the shortest way to clip.
""",
)

exercise.threes_of(
    "mean_of_sentence_bleus",
    "counts_not_clipped",
    "brevity_penalty_missing",
    "one_added_to_the_counts",
    "arithmetic_mean",
    "from_0_to_1",
)
