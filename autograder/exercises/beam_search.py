"""Cases and misconceptions of ``beam_search``."""

import itertools
import math

import numpy as np

from autograder import Exercise
from course_lib.nn.decoding import beam_search

exercise = Exercise(
    beam_search,
    lesson="09_translation",
    minutes=25,
    difficulty=3,
    library=(
        "course_lib.nn.decoding.translate",
        "course_lib.nn.decoding.batch_beam_search",
        "course_lib.nn.decoding.BeamHypotheses",
    ),
)


@exercise.spec
def spec(next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6):
    unfinished, finished = [([], 0.0)], []
    while unfinished and len(unfinished[0][0]) < max_length:
        continued = []
        for token_ids, total in unfinished:
            log_p = next_log_probabilities([start_id, *token_ids])
            for token_id in range(len(log_p)):
                longer = [*token_ids, token_id], total + float(log_p[token_id])
                continued.append(longer)
        unfinished = []
        ranked = sorted(continued, key=lambda each: each[1])[::-1]
        for token_ids, total in ranked[: beam_size - len(finished)]:
            ended = token_ids[-1] == end_id
            (finished if ended else unfinished).append((token_ids, total))
    best, highest = [], -math.inf
    for token_ids, total in finished + unfinished:
        score = total / ((5 + len(token_ids)) / 6) ** alpha
        if score > highest:
            best, highest = token_ids, score
    return best[:-1] if best and best[-1] == end_id else best


# Functions for next_log_probabilities. They also answer calls that no right answer
# makes, so that a misconception shows in its result and not only in an exception.


def better_later(token_ids):
    """Make [2] the best sequence, although 1 is likelier at first: 0.32 beats 0.15."""
    rows = [[0.1, 0.5, 0.35, 0.05], [0.18, 0.29, 0.26, 0.27], [0.02, 0.03, 0.03, 0.92]]
    return np.log(rows[min(token_ids[-1], 2)])


def known(rows):
    """Return a function that is nearly undecided, but for some token ids.

    rows : probabilities by the token ids so far
    """

    def log_probabilities_after(token_ids):
        return np.log(rows.get(tuple(token_ids), [0.28, 0.26, 0.24, 0.22]))

    return log_probabilities_after


def renumbered(log_probabilities, new):
    """Return the same function of other token ids, with more that nearly never come.

    new : the ids of its four tokens, and of the others
    """

    def log_probabilities_after(token_ids):
        log_p = np.full(len(new), -50.0)
        log_p[new[:4]] = log_probabilities([new.index(each) for each in token_ids])
        return log_p

    return log_probabilities_after


def short_or_long(ratio):
    """Return a function that favours two sequences, [1] and [2, 2, 2, 2, 2].

    ratio : of the long one's log-probability to the short one's; both are chosen by
        their first token, and what follows is nearly certain
    """
    short, long = 0.45, 0.45**ratio
    left = 1 - short - long
    rows = {(0,): [0.6 * left, short, long, 0.4 * left]}
    ends, goes_on = [3e-5, 2e-5, 1e-5, 1 - 6e-5], [4e-5, 2e-5, 1 - 7e-5, 1e-5]
    rows |= {(0, 1): ends, (0, 2, 2, 2, 2, 2): [5e-5, 3e-5, 2e-5, 1 - 1e-4]}
    rows |= {(0, *[2] * n): goes_on for n in (1, 2, 3, 4)}
    return known(rows)


def two_after_one(token_ids):
    """Hide the best sequence, [1, 1, 2], behind a likelier hypothesis, [1, 1, 1].

    A search with room for one hypothesis only, once [1] has ended, does not find it.
    """
    rows = {
        (0,): [0.012, 0.97, 0.011, 0.007],
        (0, 1): [0.06, 0.36, 0.20, 0.38],
        (0, 1, 1): [0.03, 0.50, 0.46, 0.01],
        (0, 1, 1, 1): [0.23, 0.28, 0.25, 0.24],
        (0, 1, 1, 2): [0.01, 0.013, 0.007, 0.97],
    }
    return known(rows)(token_ids)


def after_the_newest(rows, token_ids):
    """Return a row by the newest token, changed a little by the position.

    So no two sums are equal: without the position, [1, 1, 2, 1] and [1, 2, 1, 1] would
    be products of the same numbers.
    """
    change = 0.0005 * len(token_ids) * np.array([1.0, -2.0, 0.7, 0.3])
    return np.log(np.array(rows[token_ids[-1]]) + change)


def ended_at_once(token_ids):
    """Return what comes after the newest token; the empty sequence is second at first.

    It stays, so that one hypothesis continues. A search that lets it be pushed out
    continues two, and finds [2, 1] by length penalty or [2] by sums.
    """
    rows = [
        [0.07, 0.06, 0.78, 0.09],
        [0.17, 0.07, 0.47, 0.29],
        [0.15, 0.64, 0.01, 0.20],
        [0.28, 0.38, 0.01, 0.33],
    ]
    return after_the_newest(rows, token_ids)


def ended_second(token_ids):
    """Return what comes after the newest token; [1] ends as one of two hypotheses."""
    rows = [
        [0.001, 0.749, 0.08, 0.17],
        [0.27, 0.11, 0.32, 0.30],
        [0.05, 0.01, 0.32, 0.62],
        [0.10, 0.51, 0.01, 0.38],
    ]
    return after_the_newest(rows, token_ids)


def start_again(token_ids):
    """Let start_id, 1, come again as a token of the sequence [2, 1, 1]."""
    rows = {
        (1,): [0.05, 0.10, 0.80, 0.05],
        (1, 2): [0.10, 0.75, 0.08, 0.07],
        (1, 2, 1): [0.12, 0.70, 0.08, 0.10],
        (1, 2, 1, 1): [0.05, 0.06, 0.04, 0.85],
    }
    return known(rows)(token_ids)


def mostly_ones(token_ids):
    n = sum(
        0.3 * position * token_id + 1 for position, token_id in enumerate(token_ids)
    )
    return np.log(
        [0.03 + 0.0007 * n, 0.83 - 0.002 * n, 0.02 + 0.0003 * n, 0.12 + 0.001 * n]
    )


def drawn(rng, vocab_size, spread=1.0, end_id=None, more=0.0):
    """Return log-probabilities that depend on every token so far and on its position.

    spread : how unequal they are
    more : what is added to the logit of end
    """
    logits = spread * rng.normal(size=(499, vocab_size))
    if end_id is not None:
        logits[:, end_id] += more
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def log_probabilities_after(token_ids):
        return log_p[hash(tuple(token_ids)) % len(log_p)]

    return log_probabilities_after


def nearly_even(rng):
    """Return probabilities near 1/30, whose ranks are clear in float32 too."""
    log_p = rng.permuted(np.tile(np.linspace(-0.3, 0.3, 30), (499, 1)), axis=1)
    log_p[:, 0] = -20.0  # the end
    log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))

    def log_probabilities_after(token_ids):
        return log_p[hash(tuple(token_ids)) % len(log_p)]

    return log_probabilities_after


@exercise.usual
def usual(rng):
    return drawn(rng, 6, end_id=5, more=-0.5), 0, 5, 3, 6, 1.0


@exercise.case(
    "A first token of probability 0.35 wins over one of 0.5 if what follows is likelier"
)
def small_example_by_hand(student, rng):
    student.expect(student(better_later, 0, 3, 2, 5), [2])
    for _ in range(4):
        new = [0, *(int(token_id) for token_id in rng.permutation(np.arange(1, 12)))]
        result = student(renumbered(better_later, new), 0, new[3], 2, 5)
        student.expect(result, [new[2]])


@exercise.case("A beam of one is greedy decoding")
def beam_of_one(student, rng):
    student.expect(student(better_later, 0, 3, 1, 1), [1])
    for _ in range(3):
        student.agrees(drawn(rng, 5), 0, 4, 1, 6)


@exercise.case("With several hypotheses the best of them is chosen at the end")
def several_beams(student, rng):
    for beam_size in (2, 3, 4, 3, 2, 3, 4, 5):
        student.agrees(drawn(rng, 6, end_id=4, more=0.3), 0, 4, beam_size, 5)


@exercise.case(
    "The larger alpha, the more longer hypotheses are favoured; with 0, not at all"
)
def longer_hypotheses_favoured(student, rng):
    short, long = [1], [2, 2, 2, 2, 2]
    student.expect(student(short_or_long(0.8), 0, 3, 3, 9, 1.0), long)
    student.expect(student(short_or_long(1.1), 0, 3, 3, 9, 0.0), short)
    student.expect(student(short_or_long(1.3), 0, 3, 3, 9, 0.3), short)
    student.expect(student(short_or_long(2.0), 0, 3, 3, 9, 2.0), long)


@exercise.case("The length in the length penalty counts the end and not the start")
def length_counts_the_end(student, rng):
    # The lengths are 2 and 6: the limit of the ratio is 11/7 = 1.57. Without the end it
    # would be 10/6 = 1.67, with the start 12/8 = 1.5.
    student.expect(student(short_or_long(1.62), 0, 3, 3, 9, 1.0), [1])
    student.expect(student(short_or_long(1.535), 0, 3, 3, 9, 1.0), [2, 2, 2, 2, 2])


@exercise.case("What is unfinished after max_length tokens counts as it is")
def not_ended(student, rng):
    student.expect(student(mostly_ones, 0, 3, 3, 4), [1, 1, 1, 1])
    for _ in range(3):
        student.agrees(drawn(rng, 5, end_id=2, more=-9.0), 0, 2, 3, 4)


@exercise.case("Each finished hypothesis leaves the beam and makes it smaller by one")
def beam_gets_smaller(student, rng):
    student.expect(student(two_after_one, 0, 3, 2, 4, 3.0), [1])
    student.expect(student(two_after_one, 0, 3, 3, 4, 3.0), [1, 1, 2])
    for _ in range(5):
        student.agrees(drawn(rng, 6, 1.5, end_id=5, more=1.5), 0, 5, 3, 7, 1.0)


@exercise.case("A finished hypothesis stays: no other pushes it out again")
def finished_hypotheses_stay(student, rng):
    student.expect(student(ended_at_once, 0, 3, 2, 5), [2, 1, 2, 1, 2])
    student.expect(student(ended_second, 0, 3, 2, 5), [1, 2])


@exercise.case("Only the first start and the final end are removed")
def start_may_come_again(student, rng):
    student.expect(student(start_again, 1, 3, 2, 4), [2, 1, 1])


@exercise.case("A beam may be larger than the vocabulary", pays_alone=False)
def beam_larger_than_the_vocabulary(student, rng):
    for _ in range(3):
        student.agrees(drawn(rng, 3, end_id=2, more=0.5), 0, 2, 7, 4)


@exercise.case(
    "Probabilities too small for a float are told apart: 260 tokens out of 30"
)
def very_small_probabilities(student, rng):
    student.agrees(nearly_even(rng), 7, 0, 1, 260)


@exercise.case(
    "A beam wide enough for all hypotheses finds the best of all",
    visible=False,
    pays_alone=False,
)
def every_hypothesis_tried(student, rng):
    log_p = drawn(rng, 4, end_id=1, more=1.0)
    best, highest = [], -math.inf
    for length in (1, 2, 3):
        for hypothesis in itertools.product(range(4), repeat=length):
            if 1 in hypothesis[:-1] or (hypothesis[-1] != 1 and length < 3):
                continue
            total = sum(
                log_p([0, *hypothesis[:i]])[hypothesis[i]] for i in range(length)
            )
            score = total / ((5 + length) / 6) ** 0.9
            if score > highest:
                best = [token_id for token_id in hypothesis if token_id != 1]
                highest = score
    student.expect(student(log_p, 0, 1, 64, 3, 0.9), best)


def length_penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


def continued(unfinished, f):
    """Return all continuations, the likeliest first."""
    longer = [
        ([*token_ids, token_id], total + float(log_p))
        for token_ids, total in unfinished
        for token_id, log_p in enumerate(f(list(token_ids)))
    ]
    return sorted(longer, key=lambda each: -each[1])


def search(f, start_id, end_id, beam_size, max_length, prefer=continued):
    """Search by the rules; return the finished and the unfinished hypotheses.

    prefer : returns the continuations, the best first
    """
    unfinished, finished = [([start_id], 0.0)], []
    for _ in range(max_length):
        best = prefer(unfinished, f)[: beam_size - len(finished)]
        finished += [each for each in best if each[0][-1] == end_id]
        unfinished = [each for each in best if each[0][-1] != end_id]
        if not unfinished:
            break
    return finished, unfinished


def best_of(hypotheses, end_id, score):
    """Return the hypothesis with the highest score(total, length), without its ends."""
    token_ids, _ = max(hypotheses, key=lambda each: score(each[1], len(each[0]) - 1))
    return [token_id for token_id in token_ids[1:] if token_id != end_id]


def by_formula(alpha):
    return lambda total, length: total / length_penalty(length, alpha)


@exercise.misconception(
    "Your result is that of a beam of one: always the likeliest next token.",
    "How many different hypotheses does your search hold after the second step?",
    why="beam_size copies of the start continue alike and stay alike: "
    "facebookresearch/ParlAI, pull 2047.",
)
def greedy_in_disguise(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, 1, max_length)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your hypotheses differ in the first token, and each continues greedily by itself.",
    "May two of the hypotheses that stay come from the same one?",
    why="Each beam takes its own best token: the comparison across beams is missing.",
)
def each_beam_its_own_best(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(unfinished, f):
        if len(unfinished[0][0]) == 1:
            return continued(unfinished, f)
        return [continued([each], f)[0] for each in unfinished]

    finished, unfinished = search(f, start_id, end_id, beam_size, max_length, prefer)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your hypotheses are compared by their sums: alpha changes nothing.",
    "Which of two hypotheses has more factors below 1, the short or the long one?",
    why="The search works without; OpenNMT/OpenNMT-tf, pull 456, is about a penalty "
    "that had no effect.",
)
def length_ignored(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(finished + unfinished, end_id, lambda total, length: total)


@exercise.misconception(
    "Your sums are multiplied by the length penalty: long hypotheses lose twice.",
    "Is a logarithm of a probability nearer to 0 or further from it, once it is "
    "multiplied by 2?",
    why="A 'penalty' sounds like something that makes a score worse.",
)
def penalty_multiplied(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(
        finished + unfinished,
        end_id,
        lambda total, length: total * length_penalty(length, alpha),
    )


@exercise.misconception(
    "Your length penalty leaves the end out of the length.",
    "Which length does the docstring's length penalty use, with the end or without it?",
    why="Programs differ here: huggingface/transformers, issue 8722 and pull 8890; "
    "tnq177/witwicky, pull 8.",
)
def length_without_the_end(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    hypotheses = [
        (token_ids, total / length_penalty(len(token_ids) - 2, alpha))
        for token_ids, total in finished
    ]
    hypotheses += [
        (token_ids, total / length_penalty(len(token_ids) - 1, alpha))
        for token_ids, total in unfinished
    ]
    return best_of(hypotheses, end_id, lambda score, length: score)


@exercise.misconception(
    "Your length penalty counts the start token.",
    "Which token of your list was there before the first choice?",
    why="len(tokens) of a list that begins with start: awslabs/sockeye, issue 483, is "
    "one of many that are off by one.",
)
def length_with_the_start(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(
        finished + unfinished,
        end_id,
        lambda total, length: total / length_penalty(length + 1, alpha),
    )


@exercise.misconception(
    "Your sums are divided by length ** alpha.",
    "What does the formula give for a length of 1, and what does yours for 2?",
    why="huggingface/transformers and SamLynnEvans/Transformer divide like this.",
)
def divided_by_a_power_of_the_length(
    f, start_id, end_id, beam_size, max_length, alpha=0.6
):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(
        finished + unfinished, end_id, lambda total, length: total / length**alpha
    )


@exercise.misconception(
    "Your sums are divided by the length: whatever alpha is, you compare means per "
    "token.",
    "What should alpha = 0 do?",
    why="The mean is the best known way not to favour short hypotheses.",
)
def mean_per_token(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(finished + unfinished, end_id, lambda total, length: total / length)


@exercise.misconception(
    "Your power takes the 6 alone: sums are divided by 5 + length, over 6 ** alpha.",
    "Which binds more strongly in Python, / or **?",
    why="(5 + length) / 6 ** alpha lacks a pair of brackets.",
)
def brackets_missing(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(
        finished + unfinished,
        end_id,
        lambda total, length: total / ((5 + length) / 6**alpha),
    )


@exercise.misconception(
    "Your alpha is 0.6, whatever the caller says.",
    "Where does your function use its last argument?",
    why="The value of the paper is written into the formula.",
)
def alpha_written_in(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(finished + unfinished, end_id, by_formula(0.6))


@exercise.misconception(
    "Your beam stays as large as it was: others move up where hypotheses have ended.",
    "With a beam of 3, how many hypotheses continue when the first one has ended?",
    why="The top beam_size are taken in each step, however many are done; some "
    "programs keep the beam full on purpose.",
)
def beam_not_getting_smaller(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    unfinished, finished = [([start_id], 0.0)], []
    for _ in range(max_length):
        best = continued(unfinished, f)[:beam_size]
        finished += [each for each in best if each[0][-1] == end_id]
        unfinished = [each for each in best if each[0][-1] != end_id]
        if not unfinished:
            break
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your finished hypotheses are continued like the others.",
    "What may come after the end token?",
    why="All beams run on in one batch: awslabs/sockeye, pull 233.",
)
def finished_hypotheses_continued(
    f, start_id, end_id, beam_size, max_length, alpha=0.6
):
    _, unfinished = search(f, start_id, None, beam_size, max_length)
    return best_of(unfinished, end_id, by_formula(alpha))


def search_in_one_list(f, start_id, end_id, beam_size, max_length, key):
    """Search as if finished hypotheses went on competing with the others.

    key : returns the number by which a pair (token_ids, total) is sorted
    """
    hypotheses = [([start_id], 0.0)]
    for _ in range(max_length):
        finished = [
            each for each in hypotheses if len(each[0]) > 1 and each[0][-1] == end_id
        ]
        unfinished = [each for each in hypotheses if each not in finished]
        if not unfinished:
            break
        ranked = sorted(finished + continued(unfinished, f), key=key)[::-1]
        hypotheses = ranked[:beam_size]
    return hypotheses


@exercise.misconception(
    "Your finished hypotheses are compared with the unfinished ones by their sums, and "
    "can be pushed out.",
    "May an unfinished hypothesis push out a finished one?",
    why="One list with a mark for 'finished' is shorter than two lists, but then all "
    "hypotheses compete for the same beam.",
)
def pushed_out_by_sums(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    hypotheses = search_in_one_list(
        f, start_id, end_id, beam_size, max_length, lambda each: each[1]
    )
    return best_of(hypotheses, end_id, by_formula(alpha))


@exercise.misconception(
    "Your hypotheses are divided by their length penalties in every step, the finished "
    "ones too: what is finished can be pushed out.",
    "When does the docstring divide by the length penalty, in each step or once?",
    why="The penalised sum decides at the end, so all steps are sorted by it; among "
    "hypotheses of one length that changes nothing.",
)
def pushed_out_by_length_penalty(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def score(each):
        return each[1] / length_penalty(len(each[0]) - 1, alpha)

    hypotheses = search_in_one_list(f, start_id, end_id, beam_size, max_length, score)
    return best_of(hypotheses, end_id, by_formula(alpha))


@exercise.misconception(
    "Your result is the hypothesis that ends first.",
    "May an unfinished hypothesis turn out better than a finished one?",
    why="The search stops as soon as the first hypothesis ends: neulab/xnmt, pull 572; "
    "OpenNMT/OpenNMT-py, issue 1320.",
)
def first_to_end(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    unfinished = [([start_id], 0.0)]
    for _ in range(max_length):
        best = continued(unfinished, f)[:beam_size]
        finished = [each for each in best if each[0][-1] == end_id]
        if finished:
            return finished[0][0][1:-1]
        unfinished = best
    return best_of(unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your search forgets unfinished hypotheses as soon as one is finished.",
    "What does the docstring say of what is unfinished after max_length tokens?",
    why="There are two lists, finished and unfinished, and the second is used only if "
    "the first is empty.",
)
def only_finished_hypotheses_count(
    f, start_id, end_id, beam_size, max_length, alpha=0.6
):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(finished or unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your hypotheses are compared by their newest token alone.",
    "Where does the probability of what came before go?",
    why="total + log_p becomes log_p when the loop is rewritten.",
)
def newest_token_only(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(unfinished, f):
        return continued([(token_ids, 0.0) for token_ids, _ in unfinished], f)

    finished, unfinished = search(f, start_id, end_id, beam_size, max_length, prefer)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your sums are of probabilities, not of their logarithms.",
    "Which sum belongs to a product of probabilities?",
    why="Plain probabilities are added up: atulkum/pointer_summarizer, issue 26.",
)
def probabilities_added(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def plain(token_ids):
        return np.exp(f(token_ids))

    finished, unfinished = search(plain, start_id, end_id, beam_size, max_length)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your probabilities are multiplied: for long hypotheses all products are 0, and "
    "cannot be told apart.",
    "How small is 1/30 to the power of 260, and which is the smallest float above 0?",
    why="The product is the probability itself; only its logarithm fits into a float.",
)
def probabilities_multiplied(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(unfinished, f):
        longer = [
            ([*token_ids, token_id], total * math.exp(log_p))
            for token_ids, total in unfinished
            for token_id, log_p in enumerate(f(list(token_ids)))
        ]
        return sorted(longer, key=lambda each: -each[1])

    def multiplied(unfinished, f):
        first = [(token_ids, total or 1.0) for token_ids, total in unfinished]
        return prefer(first if len(unfinished[0][0]) == 1 else unfinished, f)

    finished, unfinished = search(
        f, start_id, end_id, beam_size, max_length, multiplied
    )
    return best_of(
        finished + unfinished,
        end_id,
        lambda total, length: (
            (math.log(total) if total else -math.inf) / length_penalty(length, alpha)
        ),
    )


@exercise.misconception(
    "Your search keeps the continuations with the smallest sums.",
    "Which is the likelier of two hypotheses with the sums −2 and −9?",
    why="sort() puts the smallest first, which is right for sums of −ln p.",
)
def smallest_sums_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(unfinished, f):
        return continued(unfinished, f)[::-1]

    finished, unfinished = search(f, start_id, end_id, beam_size, max_length, prefer)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your result may have one token more than max_length, end counted.",
    "Does max_length count the end token?",
    why="greedy_decode does not count it.",
)
def one_step_too_many(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length + 1)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your result may have one token less than max_length.",
    "How many tokens are in your list before the first step?",
    why="max_length is compared with a list that begins with start.",
)
def one_step_too_few(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length - 1)
    return best_of(finished + unfinished, end_id, by_formula(alpha))


@exercise.misconception(
    "Your result has the end token behind it, where it is finished.",
    "Is `end_id` a token of the sequence, or the sign that it is over?",
    why="The best hypothesis is returned as it is.",
)
def end_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best_of(finished + unfinished, None, by_formula(alpha))


@exercise.misconception(
    "Your result begins with the start token.",
    "Which of the tokens in your list was never chosen?",
    why="The best hypothesis is returned with the token with which it began.",
)
def start_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return [start_id, *best_of(finished + unfinished, end_id, by_formula(alpha))]


@exercise.misconception(
    "Your sequence lacks every token `start_id`, not only the first.",
    "May a model choose `start_id` again, in the middle of a sequence?",
    why="Start and end are removed by their values, in one line.",
)
def start_removed_by_value(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    best = best_of(finished + unfinished, end_id, by_formula(alpha))
    return [token_id for token_id in best if token_id != start_id]
