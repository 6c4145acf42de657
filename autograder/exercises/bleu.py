"""Cases and misconceptions of ``bleu``."""

import math
from collections import Counter

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


@exercise.variants
def variants(
    hypotheses,
    references,
    max_n=4,
    *,
    counted="clipped",
    summed="over the corpus",
    divided_by="n-grams written",
    joined="tuples",
    letters="as they are",
    orders="1 to max_n",
    mean="geometric",
    brevity="exp(1 − r/c)",
    no_match="0",
    roles="hypotheses, references",
    scale=100.0,
    digits=None,
    overwritten="nothing",
):
    pairs = list(zip(hypotheses, references, strict=True))
    if roles == "exchanged":
        pairs = [pair[::-1] for pair in pairs]
    if letters == "lower":
        pairs = [tuple([t.lower() for t in side] for side in pair) for pair in pairs]
    if summed == "first sentence":
        pairs = pairs[:1]
    if summed == "one long sentence":
        pairs = [tuple([t for pair in pairs for t in pair[i]] for i in (0, 1))]
    lengths = [sum(len(pair[i]) for pair in pairs) for i in (0, 1)]
    numbers = {
        "1 to max_n": range(1, max_n + 1),
        "1 to max_n − 1": range(1, max_n),
        "1 to 4": range(1, 5),
        "max_n": [max_n],
        "2 to max_n": range(2, max_n + 1),
    }[orders]

    def score(part):
        precisions = []
        for n in numbers:
            counts = [n_gram_counts(pair, n, counted, joined) for pair in part]
            if summed == "precisions averaged":
                shares = [a / b if b else 0.0 for a, b, *_ in counts]
                precisions.append(sum(shares) / len(shares))
                continue
            matches, written, wanted, pooled = (
                sum(each, start)
                for each, start in zip(
                    zip(*counts, strict=True), (0, 0, 0, POOLED), strict=True
                )
            )
            if counted == "clipped over the corpus":
                matches = pooled.matches()
            below = {
                "n-grams written": written,
                "n-grams wanted": wanted,
                "tokens written": sum(len(pair[0]) for pair in part),
                "the longer of both": max(written, wanted),
            }[divided_by]
            if written == 0 and (
                no_match == "left out without n-grams" or mean == "of d2l"
            ):
                continue
            if matches == 0 and no_match == "left out":
                continue
            if no_match == "1 added" and n > 1:
                matches, below = matches + 1, below + 1
            if no_match == "1 added to all":
                matches, below = matches + 1, below + 1
            if matches == 0 and no_match == "a tenth":
                matches, below = 0.1, max(below, 1)
            if matches == 0 and no_match == "half a match" and below:
                matches = 0.5
            precisions.append(matches / below if below else 0.0)
        return precisions

    def penalised(part, c, r):
        precisions = score(part)
        if not precisions or c == 0:
            return 0.0
        if 0.0 in precisions and mean in ("geometric", "of d2l"):
            return 0.0
        return MEANS[mean](precisions, max_n) * BREVITY[brevity](c, r, part)

    if summed == "mean of the sentences":
        each = [penalised([pair], len(pair[0]), len(pair[1])) for pair in pairs]
        result = sum(each) / len(each)
    else:
        result = penalised(pairs, *lengths)
    if overwritten == "references":
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            for token in hypothesis:
                if token in reference:
                    reference.remove(token)
    result = float(scale * result)
    return result if digits is None else round(result, digits)


class Pooled:
    """Counts of n-grams in all hypotheses and in all references."""

    def __init__(self, written, wanted):
        self.written, self.wanted = written, wanted

    def __add__(self, other):
        return Pooled(self.written + other.written, self.wanted + other.wanted)

    def matches(self):
        return (self.written & self.wanted).total()


POOLED = Pooled(Counter(), Counter())


def n_grams_of(tokens, n, joined):
    if joined == "without gaps":
        return [tokens[i : i + n] for i in range(0, len(tokens) - n + 1, max(1, n))]
    rows = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    if joined == "one text":
        return ["".join(row) for row in rows]
    if joined == "in any order":
        return [tuple(sorted(row)) for row in rows]
    if joined == "one is missing":
        return rows[:-1]
    if joined == "shorter ones at the end":
        return [tuple(tokens[i : i + n]) for i in range(len(tokens))]
    return rows


def n_gram_counts(pair, n, counted, joined):
    """Return the matches, the n-grams written and wanted, and what is pooled."""
    written, wanted = (Counter(map(as_key, n_grams_of(s, n, joined))) for s in pair)
    if counted == "sets":
        written, wanted = (
            Counter(dict.fromkeys(written, 1)),
            Counter(dict.fromkeys(wanted, 1)),
        )
    matches = (written & wanted).total()
    if counted == "not clipped":
        matches = sum(written[n_gram] for n_gram in written if n_gram in wanted)
    if counted == "each once":
        matches = sum(n_gram in wanted for n_gram in written)
    if counted == "as often as wanted":
        matches = sum(wanted[n_gram] for n_gram in written)
    if counted == "same position":
        rows = [n_grams_of(sentence, n, joined) for sentence in pair]
        matches = sum(a == b for a, b in zip(*rows, strict=False))
    return matches, written.total(), wanted.total(), Pooled(written, wanted)


def as_key(n_gram):
    return n_gram if isinstance(n_gram, str) else tuple(n_gram)


MEANS = {
    "geometric": lambda p, max_n: math.prod(p) ** (1 / len(p)),
    "arithmetic": lambda p, max_n: sum(p) / len(p),
    "product": lambda p, max_n: math.prod(p),
    "harmonic": lambda p, max_n: (
        len(p) / sum(1 / each for each in p) if all(p) else 0.0
    ),
    "root of 4": lambda p, max_n: math.prod(p) ** (1 / 4),
    "square root": lambda p, max_n: math.prod(p) ** (1 / 2),
    "of d2l": lambda p, max_n: math.prod(
        each**0.5**n for n, each in enumerate(p, start=1)
    ),
}


def mean_penalty(part):
    each = [
        0.0 if not pair[0] else min(1.0, math.exp(1 - len(pair[1]) / len(pair[0])))
        for pair in part
    ]
    return sum(each) / len(each)


BREVITY = {
    "exp(1 − r/c)": lambda c, r, part: min(1.0, math.exp(1 - r / c)),
    "none": lambda c, r, part: 1.0,
    "c/r": lambda c, r, part: min(1.0, c / r) if r else 1.0,
    "exp(1 − c/r)": lambda c, r, part: min(1.0, math.exp(1 - c / r)) if r else 1.0,
    "exp(−r/c)": lambda c, r, part: 1.0 if c >= r else math.exp(-r / c),
    "exp(1 − c/r), if short": lambda c, r, part: 1.0 if c >= r else math.exp(1 - c / r),
    "not bounded": lambda c, r, part: math.exp(1 - r / c),
    "by sentence": lambda c, r, part: mean_penalty(part),
    "mean of the ratios": lambda c, r, part: min(
        1.0,
        math.exp(
            1 - sum(len(b) / len(a) if a else len(b) for a, b in part) / len(part)
        ),
    ),
}

for counted, name, diagnosis, question, why in (
    (
        "not clipped",
        "counts_not_clipped",
        "Your matches count every n-gram that occurs in the reference, however often "
        "it is written.",
        "What is p_1 of a translation that says the first word of the reference ten "
        "times?",
        "`n_gram in reference` is all that a plain precision asks; Papineni et al. "
        "begin with this example.",
    ),
    (
        "sets",
        "sets_of_n_grams",
        "Your n-grams are counted once each, however often they occur.",
        "How many 1-grams does *die Tür und die Maus* have?",
        "set(written) & set(wanted) is short, and for most sentences nearly right.",
    ),
    (
        "each once",
        "matches_as_sets",
        "Your matches count each n-gram once, and your n-grams as often as they occur.",
        "How often does *die* match if both sentences have it twice?",
        "The intersection of two sets is divided by the length of a list.",
    ),
    (
        "as often as wanted",
        "as_often_as_wanted",
        "Each of your n-grams matches as often as it is wanted, even if it is written "
        "less often.",
        "Which two numbers does the docstring take the smaller of?",
        "Clipping is read as taking the count of the reference.",
    ),
    (
        "same position",
        "same_position_only",
        "Your n-grams match only at the same position in both sentences.",
        "What happens to your matches if a word is added at the beginning?",
        "zip(hypothesis, reference) compares as accuracy does.",
    ),
    (
        "clipped over the corpus",
        "clipped_over_the_corpus",
        "Your n-grams are clipped over all sentences together.",
        "May an n-gram match one in the reference of another sentence?",
        "One Counter for all hypotheses and one for all references save a loop.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, counted=counted)
for summed, name, diagnosis, question, why in (
    (
        "mean of the sentences",
        "mean_of_sentence_bleus",
        "Your result is the mean of the sentences' own BLEUs.",
        "What does a short sentence without a matching 4-gram do to your result?",
        "Other measures, such as accuracy, are means over examples.",
    ),
    (
        "precisions averaged",
        "precisions_averaged_over_sentences",
        "Your p_n are means of the sentences' own shares.",
        "How much does an n-gram of a long sentence count in your p_n, and one of a "
        "short sentence?",
        "A share is computed where its counts are, in the loop over the sentences.",
    ),
    (
        "first sentence",
        "first_sentence_only",
        "Your result is that of the first sentence alone.",
        "How often does your loop run before it returns?",
        "`return` is indented into the loop, or the example by hand had one sentence.",
    ),
    (
        "one long sentence",
        "n_grams_across_sentences",
        "Your n-grams go from the end of one sentence into the next.",
        "Which n-grams do two sentences of one token each have?",
        "All tokens are put into one list first, since the counts are summed anyhow.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, summed=summed)
for divided_by, name, diagnosis, question, why in (
    (
        "n-grams wanted",
        "divided_by_the_reference",
        "Your matches are divided by the number of n-grams in the references.",
        "Of which text is a precision a share?",
        "That is the recall, which ROUGE measures.",
    ),
    (
        "tokens written",
        "divided_by_the_tokens",
        "Your matches are divided by the number of tokens, whatever n is.",
        "How many 4-grams does a sentence of five tokens have?",
        "len(hypothesis) is at hand, and right for n = 1.",
    ),
    (
        "the longer of both",
        "divided_by_the_longer",
        "Your matches are divided by the n-grams of hypotheses or of references, "
        "whichever are more.",
        "Which part of the formula takes care of translations that are too short?",
        "To divide by the longer side keeps a share below 1 without a penalty.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, divided_by=divided_by)
for joined, name, diagnosis, question, why in (
    (
        "one text",
        "tokens_glued_together",
        "Your n-grams are texts in which one cannot see where a token ends.",
        "Are *ab c* and *a bc* the same 2-gram?",
        '"".join(…) makes something that can be counted.',
    ),
    (
        "in any order",
        "order_ignored",
        "Your n-grams match in any order of their tokens.",
        "Are *ist nicht* and *nicht ist* the same 2-gram?",
        "A set of tokens, or a sorted tuple, is counted in place of a tuple.",
    ),
    (
        "one is missing",
        "last_n_gram_missing",
        "Your sentences lack their last n-gram.",
        "How many 2-grams do three tokens have?",
        "range(len(tokens) − n) stops one too early.",
    ),
    (
        "shorter ones at the end",
        "shorter_n_grams_at_the_end",
        "Your n-grams become shorter at the end of a sentence.",
        "How many tokens has tokens[i : i + n] for the last i?",
        "A slice that goes beyond the end is silently shorter.",
    ),
    (
        "without gaps",
        "n_grams_that_do_not_overlap",
        "Your n-grams do not overlap: each token is in one of them.",
        "How many 2-grams do three tokens have?",
        "Cutting a list into pieces of n is a well-known idiom.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, joined=joined)
exercise.option(
    "capitals_ignored",
    "Your tokens are compared without regard to capitals.",
    "Does the docstring let *Sie* match *sie*?",
    why="sacrebleu has an option for it, lowercase, and older scripts did so always.",
    letters="lower",
)
for orders, name, diagnosis, question, why in (
    (
        "1 to max_n − 1",
        "longest_n_grams_missing",
        "Your n goes up to max_n − 1.",
        "Where does range(1, max_n) end?",
        "A range ends before its second number.",
    ),
    (
        "1 to 4",
        "max_n_ignored",
        "Your n goes up to 4, whatever max_n is.",
        "Where does your function use `max_n`?",
        "4 is the number of the paper, and of every program.",
    ),
    (
        "max_n",
        "longest_n_grams_only",
        "Your result has the n-grams of max_n tokens alone.",
        "How many precisions does the formula multiply?",
        "“4-gram BLEU” sounds like that.",
    ),
    (
        "2 to max_n",
        "single_tokens_left_out",
        "Your n begins with 2.",
        "What is a 1-gram?",
        "An n-gram is thought of as at least a pair.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, orders=orders)
for mean, name, diagnosis, question, why in (
    (
        "arithmetic",
        "arithmetic_mean",
        "Your precisions are averaged by adding them.",
        "What should become of the mean if one of its numbers is 0?",
        "The mean without any other word is the arithmetic one.",
    ),
    (
        "product",
        "root_left_out",
        "Your precisions are multiplied, and no root is taken.",
        "What is the mean of four numbers that are all one half?",
        "The product is most of the formula.",
    ),
    (
        "harmonic",
        "harmonic_mean",
        "Your precisions are averaged by their harmonic mean.",
        "Which mean does the docstring name?",
        "F-scores are harmonic means of shares.",
    ),
    (
        "root of 4",
        "fourth_root_always",
        "Your root is the fourth, whatever max_n is.",
        "How many precisions are multiplied for max_n = 2?",
        "The exponent 1/4 is in the usual formula.",
    ),
    (
        "of d2l",
        "weights_that_halve",
        "Your precisions have the exponents 1/2, 1/4, 1/8 and so on, as far as a "
        "translation has n-grams.",
        "Which exponent has each precision in a geometric mean of four?",
        "Dive into Deep Learning, section 10.7, has these exponents.",
    ),
    (
        "square root",
        "square_root",
        "Your root is the square root, whatever max_n is.",
        "How many precisions are multiplied for max_n = 4?",
        "A geometric mean is first met with two numbers.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, mean=mean)
for brevity, name, diagnosis, question, why in (
    (
        "none",
        "brevity_penalty_missing",
        "Your result has no brevity penalty.",
        "Which BLEU would a system have that only writes what it is sure of?",
        "The precisions look like the whole measure.",
    ),
    (
        "c/r",
        "brevity_is_a_ratio",
        "Your brevity penalty is c / r.",
        "Which function does the formula apply to the lengths?",
        "A share of what is wanted is the first penalty that comes to mind.",
    ),
    (
        "exp(1 − c/r)",
        "long_translations_penalised",
        "Your brevity penalty is exp(1 − c / r) for translations that are too long.",
        "For which translations are the precisions no warning: too short or too long?",
        "c and r are exchanged: r is read as the length of the result.",
    ),
    (
        "exp(−r/c)",
        "one_left_out_of_the_exponent",
        "Your brevity penalty is exp(−r / c).",
        "What should the penalty be where c is r minus a tiny amount?",
        "The 1 in the exponent is overlooked; without it the penalty jumps.",
    ),
    (
        "exp(1 − c/r), if short",
        "short_translations_rewarded",
        "Your brevity penalty is above 1 for translations that are too short: "
        "exp(1 − c / r).",
        "Is your exponent below 0 where c is smaller than r?",
        "The condition is right, and the fraction upside down.",
    ),
    (
        "not bounded",
        "long_translations_rewarded",
        "Your brevity penalty is above 1 for translations that are longer than their "
        "references.",
        "How large may a penalty be at most?",
        "exp(1 − r / c) is used without the case of longer translations.",
    ),
    (
        "by sentence",
        "brevity_by_sentence",
        "Your brevity penalty is the mean of the sentences' own.",
        "May a translation that is a little longer make up for one that is shorter?",
        "The lengths are compared in the loop over the sentences.",
    ),
    (
        "mean of the ratios",
        "mean_of_the_length_ratios",
        "Your brevity penalty has the mean of the sentences' own ratios r / c.",
        "What does the docstring divide: sums, or sentence by sentence?",
        "A mean of ratios is taken for the ratio of the sums.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, brevity=brevity)
for without_match, name, diagnosis, question, why in (
    (
        "left out",
        "zero_precisions_left_out",
        "Your mean leaves out precisions of 0.",
        "What does the docstring say of an n without any match?",
        "log(0) raises an error, and the line is put under an `if`.",
    ),
    (
        "left out without n-grams",
        "orders_without_n_grams_left_out",
        "Your mean leaves out an n of which no sentence has an n-gram.",
        "What does the docstring say of an n without any n-gram?",
        "sacrebleu does so for single sentences: effective_order.",
    ),
    (
        "1 added",
        "one_added_to_the_counts",
        "Your counts of matches and of n-grams have 1 added to them.",
        "What is p_2 if every 2-gram matches?",
        "Lin and Och (2004) smooth so; sacrebleu calls it add-k.",
    ),
    (
        "1 added to all",
        "one_added_everywhere",
        "Your matches and n-grams are one more than there are, also single tokens.",
        "What does the docstring say of smoothing?",
        "Laplace's add-one smoothing is what most probabilities are smoothed with.",
    ),
    (
        "a tenth",
        "a_tenth_of_a_match_in_place_of_none",
        "Your precisions without any match count a tenth of a match.",
        "What does the docstring say of smoothing?",
        "NLTK's SmoothingFunction().method1 does so.",
    ),
    (
        "half a match",
        "half_a_match_in_place_of_none",
        "Your precisions without any match count half a match.",
        "What does the docstring say of smoothing?",
        "sacrebleu's usual smoothing, exp, begins with half a match.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, no_match=without_match)
exercise.option(
    "roles_exchanged",
    "Your result is that of the references, with the translations as references.",
    "Which of the two arguments is measured?",
    why="sacrebleu takes translations first, NLTK's corpus_bleu the references.",
    roles="exchanged",
)
exercise.option(
    "from_0_to_1",
    "Your result goes from 0 to 1.",
    "What is the BLEU of a perfect translation, by the docstring?",
    why="The paper's own numbers, and those of NLTK, go from 0 to 1.",
    scale=1.0,
)
exercise.option(
    "rounded",
    "Your result is rounded to two decimals.",
    "Does the docstring round?",
    why="Papers give BLEU with one or two decimals.",
    digits=2,
)
exercise.option(
    "references_used_up",
    "Your call removes the tokens that match from the caller's references.",
    "Whose list does `reference.remove(token)` change?",
    why="To strike out what has matched is the shortest way to clip.",
    overwritten="references",
)
