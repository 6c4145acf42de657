"""Cases and misconceptions of ``beam_search``."""

import itertools
import math

import numpy as np

from autograder import Exercise
from course_lib.nn.decoding import beam_search

exercise = Exercise(
    beam_search,
    lesson="11_translation",
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


def ended_beside_one(token_ids):
    """Let [1] end as one of two; a search in which [1, 2] moves up finds [1, 2, 1]."""
    rows = {
        (0,): [0.012, 0.97, 0.011, 0.007],
        (0, 1): [0.10, 0.35, 0.25, 0.30],
        (0, 1, 1): [0.23, 0.28, 0.25, 0.24],
        (0, 1, 2): [0.03, 0.92, 0.02, 0.03],
        (0, 1, 2, 1): [0.01, 0.013, 0.007, 0.97],
    }
    return known(rows)(token_ids)


def both_likely_to_end(token_ids):
    """Let [1] end, and [2] nearly: a search that takes both ends misses [1, 1, 2]."""
    rows = {
        (0,): [0.01, 0.55, 0.43, 0.01],
        (0, 1): [0.10, 0.35, 0.15, 0.40],
        (0, 2): [0.35, 0.13, 0.10, 0.42],
        (0, 1, 1): [0.01, 0.013, 0.96, 0.017],
        (0, 1, 1, 2): [0.01, 0.013, 0.007, 0.97],
    }
    return known(rows)(token_ids)


def end_by_the_way(token_ids):
    """Let end, 3, be the second likeliest after [1], as an end and not as a token.

    A search that goes on from [1, 3] has no room for [1, 1, 2], which is the best.
    """
    rows = {
        (0,): [0.01, 0.97, 0.01, 0.01],
        (0, 1): [0.03, 0.60, 0.02, 0.35],
        (0, 1, 3): [0.97, 0.01, 0.01, 0.01],
        (0, 1, 1): [0.20, 0.10, 0.50, 0.20],
        (0, 1, 1, 2): [0.01, 0.01, 0.01, 0.97],
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

    Token id 0, the start unless it is the end, hardly ever comes again.
    """
    logits = spread * rng.normal(size=(499, vocab_size))
    if end_id != 0:
        logits[:, 0] -= 9.0
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
    return drawn(rng, 6, end_id=5, more=-0.5), 0, 5, 3, 6


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
    student.expect(student(short_or_long(0.8), 0, 3, 3, 9, 0.0), long)
    student.expect(student(short_or_long(1.1), 0, 3, 3, 9, 0.0), short)
    student.expect(student(short_or_long(1.1), 0, 3, 3, 9, 1.0), long)
    student.expect(student(short_or_long(2.0), 0, 3, 3, 9, 0.3), short)
    student.expect(student(short_or_long(1.3), 0, 3, 3, 9, 0.3), short)
    student.expect(student(short_or_long(2.0), 0, 3, 3, 9, 2.0), long)
    # The limits of the ratio are (11 / 7) ** alpha: 2.47, 1.31 and 1.15; of
    # length ** alpha, with the start too, (7 / 3) ** alpha.
    student.expect(student(short_or_long(3.0), 0, 3, 3, 9, 2.0), short)
    student.expect(student(short_or_long(1.26), 0, 3, 3, 9), long)
    student.expect(student(short_or_long(1.11), 0, 3, 3, 9, 0.3), long)
    student.expect(student(short_or_long(2.1), 0, 3, 3, 9, 1.0), short)


@exercise.case("The length in the length penalty counts the end and not the start")
def length_counts_the_end(student, rng):
    # The lengths are 2 and 6: the limit of the ratio is 11/7 = 1.57. Without the end it
    # would be 10/6 = 1.67, with the start 12/8 = 1.5.
    student.expect(student(short_or_long(1.62), 0, 3, 3, 9, 1.0), [1])
    student.expect(student(short_or_long(1.535), 0, 3, 3, 9, 1.0), [2, 2, 2, 2, 2])


@exercise.case("What is unfinished after max_length tokens counts as it is")
def not_ended(student, rng):
    student.expect(student(mostly_ones, 0, 3, 3, 4), [1, 1, 1, 1])
    # The lengths are 2, with the end, and 5, without: the limit of the ratio is 10/7.
    student.expect(student(short_or_long(1.5), 0, 3, 3, 5, 1.0), [1])
    student.expect(student(short_or_long(1.36), 0, 3, 3, 5, 1.0), [2, 2, 2, 2, 2])
    for _ in range(3):
        student.agrees(drawn(rng, 5, end_id=2, more=-9.0), 0, 2, 3, 4)


@exercise.case("Each finished hypothesis leaves the beam and makes it smaller by one")
def beam_gets_smaller(student, rng):
    student.expect(student(two_after_one, 0, 3, 2, 4, 3.0), [1])
    student.expect(student(two_after_one, 0, 3, 3, 4, 3.0), [1, 1, 2])
    student.expect(student(end_by_the_way, 0, 3, 2, 6, 1.0), [1, 1, 2])
    student.expect(student(both_likely_to_end, 0, 3, 2, 5, 2.0), [1, 1, 2])
    student.expect(student(ended_beside_one, 0, 3, 2, 4, 2.0), [1])
    new = [0, *(int(token_id) for token_id in rng.permutation(np.arange(1, 12)))]
    result = student(renumbered(ended_beside_one, new), 0, new[3], 2, 4, 2.0)
    student.expect(result, [new[1]])
    for _ in range(5):
        student.agrees(drawn(rng, 6, 1.5, end_id=5, more=1.5), 0, 5, 3, 7, 1.0)
        student.agrees(drawn(rng, 6, end_id=5, more=0.3), 0, 5, 4, 7, 4.0)


@exercise.case("A finished hypothesis stays: no other pushes it out again")
def finished_hypotheses_stay(student, rng):
    student.expect(student(ended_at_once, 0, 3, 2, 5), [2, 1, 2, 1, 2])
    student.expect(student(ended_second, 0, 3, 2, 5), [1, 2])


@exercise.fine_point("The start may come again, as a token of the sequence")
def start_may_come_again(student, rng):
    student.expect(student(start_again, 1, 3, 2, 4), [2, 1, 1])


@exercise.fine_point("The start may be the same token id as the end")
def start_is_the_end(student, rng):
    student.agrees(drawn(rng, 6, end_id=0, more=-9.0), 0, 0, 2, 4)
    student.agrees(drawn(rng, 6, end_id=0), 0, 0, 3, 5)


@exercise.fine_point("A beam may be larger than the vocabulary")
def beam_larger_than_the_vocabulary(student, rng):
    for _ in range(3):
        student.agrees(drawn(rng, 3, end_id=2, more=0.5), 0, 2, 7, 4)


@exercise.case(
    "Probabilities too small for a float are told apart: 260 tokens out of 30"
)
def very_small_probabilities(student, rng):
    student.agrees(nearly_even(rng), 30, 0, 1, 260)


@exercise.case(
    "A beam as wide as the vocabulary finds the best of all sequences of two tokens",
    visible=False,
    pays_alone=False,
)
def every_hypothesis_tried(student, rng):
    log_p = drawn(rng, 9, end_id=1, more=1.0)
    best, highest = [], -math.inf
    for length in (1, 2):
        for hypothesis in itertools.product(range(9), repeat=length):
            if 1 in hypothesis[:-1] or (hypothesis[-1] != 1 and length < 2):
                continue
            total = sum(
                log_p([0, *hypothesis[:i]])[hypothesis[i]] for i in range(length)
            )
            score = total / ((5 + length) / 6) ** 0.9
            if score > highest:
                best = [token_id for token_id in hypothesis if token_id != 1]
                highest = score
    student.expect(student(log_p, 0, 1, 9, 2, 0.9), best)


exercise.edits(
    """
greedy_in_disguise: beam_size = 1
  Your result is that of a beam of one: always the likeliest next token.
  ? How many different hypotheses does your search hold after the second step?
  # beam_size copies of the start continue alike and stay alike:
    facebookresearch/ParlAI, pull 2047.
one_beam_more: beam_size - len(finished) -> beam_size + 1 - len(finished)
  Your search has room for one hypothesis more than beam_size.
  ? With a beam of 2, how many hypotheses stay after the first step?
  # range(beam_size + 1), or <= for <, lets one more in.
each_beam_its_own_best:
  | for token_id, …
  :     longer. … ->
  :     order = np.argsort(-np.asarray(log_probabilities))
  :     for token_id in order[:1] if len(token_ids) > 1 else order:
  :         longer.append(
  :             (
  :                 [*token_ids, int(token_id)],
  :                 total + float(log_probabilities[token_id]),
  :             )
  :         )
  | longer.sort( …
  : best = longer[:beam_size … -> best = longer[:beam_size - len(finished)]
  Your hypotheses differ in the first token, and each continues greedily by itself.
  ? May two of the hypotheses that stay come from the same one?
  # Each beam takes its own best token: the comparison across beams is missing.
tokens_put_behind_other_hypotheses:
  | best = longer[:beam_size … ->
  :     best = []
  :     for rank, (token_ids, total) in enumerate(longer[:beam_size - len(finished)]):
  :         before = hypotheses[min(rank, len(hypotheses) - 1)][0]
  :         best.append(([*before, token_ids[-1]], total))
  Your chosen tokens are put behind the hypotheses in their old order: the best token
    behind the first, the second behind the second, wherever they come from.
  ? Of which hypothesis is each of the chosen tokens a continuation?
  # topk over all continuations returns sums and tokens; the index of the hypothesis,
    index // vocab_size, is not used.
smallest_sums_kept: -hypothesis[1] -> hypothesis[1]
  Your search keeps the continuations with the smallest sums.
  ? Which is the likelier of two hypotheses with the sums −2 and −9?
  # sort() puts the smallest first, which is right for sums of −ln p.
newest_token_only: total + float(log_p) -> float(log_p)
  Your hypotheses are compared by their newest token alone.
  ? Where does the probability of what came before go?
  # total + log_p becomes log_p when the loop is rewritten.
probabilities_added: total + float(log_p) -> total + float(np.exp(log_p))
  Your sums are of probabilities, not of their logarithms.
  ? Which sum belongs to a product of probabilities?
  # Plain probabilities are added up: atulkum/pointer_summarizer, issue 26.
probabilities_multiplied:
  | ([start_id], 0.0) -> ([start_id], 1.0)
  | total + float(log_p) -> total * float(np.exp(log_p))
  | return total / -> return np.log(total) /
  Your probabilities are multiplied: for long hypotheses all products are 0, and
    cannot be told apart.
  ? How small is 1/30 to the power of 260, and which is the smallest float above 0?
  # The product is the probability itself; only its logarithm fits into a float.
asked_with_the_newest_token: list(token_ids) -> token_ids[-1:]
  Your function of the token ids so far gets the newest one alone.
  ? What does `next_log_probabilities` take, according to the docstring?
  # A recurrent network is asked token by token, and keeps the rest by itself.
asked_without_the_start: list(token_ids) -> token_ids[1:]
  Your function of the token ids so far does not get start_id.
  ? What is the first token id that `next_log_probabilities` takes?
  # The chosen tokens are kept in a list of their own, and handed on as it is.
beam_not_getting_smaller: beam_size - len(finished) -> beam_size
  Your beam stays as large as it was: others move up where hypotheses have ended.
  ? With a beam of 3, how many hypotheses continue when the first one has ended?
  # The top beam_size are taken in each step, however many are done; some programs
    keep the beam full on purpose.
""",
)

exercise.edits(
    """
smaller_one_step_late:
  | finished …
  : hypotheses = … ->
  :     hypotheses = [each for each in longer if each[0][-1] != end_id][
  :         : beam_size - len(finished)
  :     ]
  :     finished += [each for each in best if each[0][-1] == end_id]
  Where hypotheses end, others move up in the same step: your beam gets smaller one
    step late.
  ? With a beam of 2, how many hypotheses go on if one of the best two ends?
  # The unfinished ones are picked from all that do not end, as many as before.
filled_up_without_the_ended:
  | best = longer[:beam_size … ->
  :     best, room = [], beam_size - len(finished)
  :     while longer and room:
  :         best.append(longer.pop(0))
  :         room -= best[-1][0][-1] != end_id
  | if not hypotheses -> if not hypotheses or len(finished) >= beam_size
  Your continuations are taken until enough of them are unfinished, and those that end
    on the way are not counted: your beam gets smaller one step late.
  # `if len(beam) == room: break` counts the list of unfinished ones alone, as
    programs do that keep the beam full.
finished_hypotheses_continued:
  | finished …
  : hypotheses = … -> hypotheses = best
  Your finished hypotheses are continued like the others.
  ? What may come after the end token?
  # All beams run on in one batch: awslabs/sockeye, pull 233.
pushed_out_by_sums:
  | longer = list(finished)
  | beam_size - len(finished) -> beam_size
  | finished += -> finished =
  Your finished hypotheses are compared with the unfinished ones by their sums, and
    can be pushed out.
  ? May an unfinished hypothesis push out a finished one?
  # One list with a mark for 'finished' is shorter than two lists, but then all
    hypotheses compete for the same beam.
pushed_out_by_length_penalty:
  | longer = list(finished)
  | -hypothesis[1] -> -hypothesis[1] / ((5 + len(hypothesis[0]) - 1) / 6) ** alpha
  | beam_size - len(finished) -> beam_size
  | finished += -> finished =
  Your hypotheses are divided by their length penalties in every step, the finished
    ones too: what is finished can be pushed out.
  ? When does the docstring divide by the length penalty, in each step or once?
  # The penalised sum decides at the end, so all steps are sorted by it; among
    hypotheses of one length that changes nothing.
pushed_out_by_a_power_of_the_length:
  | longer = list(finished)
  | -hypothesis[1] -> -hypothesis[1] / (len(hypothesis[0]) - 1) ** alpha
  | beam_size - len(finished) -> beam_size
  | finished += -> finished =
  | ((5 + len(token_ids) - 1) / 6) -> (len(token_ids) - 1)
  Your hypotheses are divided by length ** alpha in every step, the finished ones too:
    what is finished can be pushed out.
  ? What does the formula give for a length of 1, and when does the docstring divide
    by it: in each step, or once?
  # huggingface/transformers divides like this, and one list holds all hypotheses.
one_step_too_many: range(max_length) -> range(max_length + 1)
  Your search chooses up to one token more than max_length, end counted.
  ? Does max_length count the end token?
  # greedy_decode does not count it.
one_step_too_few: range(max_length) -> range(max_length - 1)
  Your search chooses at most one token less than max_length.
  ? How many tokens are in your list before the first step?
  # max_length is compared with a list that begins with start.
first_to_end:
  | if not hypotheses: ->
  :     if finished:
  :         return finished[0][0][1:-1]
  :     if not hypotheses:
  Your result is the hypothesis that ends first.
  ? May an unfinished hypothesis turn out better than a finished one?
  # The search stops as soon as the first hypothesis ends: neulab/xnmt, pull 572;
    OpenNMT/OpenNMT-py, issue 1320.
stopped_at_the_first_end: if not hypotheses -> if finished or not hypotheses
  Your search stops as soon as one hypothesis has ended.
  ? When does the docstring's search stop?
  # 'Until the end token' is the rule of greedy decoding.
stopped_when_an_ended_one_leads:
  | if not hypotheses ->
  :     if not hypotheses or any(each[1] > hypotheses[0][1] for each in finished)
  Your search stops as soon as a finished hypothesis has a greater sum than all
    unfinished ones.
  ? Sums only fall: may a quotient by the length penalty still rise?
  # A sum never grows, so what leads wins, with alpha = 0; the length penalty is
    forgotten.
start_taken_for_the_end:
  | return [token_id … ->
  :     if end_id in token_ids:
  :         token_ids = token_ids[:token_ids.index(end_id)]
  :     return token_ids[1:]
  Where start_id is end_id, your result is empty.
  ? Has a hypothesis ended before its first token is chosen?
  # `while token_ids[-1] != end_id` reads the start as well.
only_finished_hypotheses_count: finished + hypotheses -> finished or hypotheses
  Where any hypothesis is finished, your search chooses among the finished ones only.
  ? What does the docstring say of what is unfinished after max_length tokens?
  # There are two lists, finished and unfinished, and the second is used only if the
    first is empty.
unfinished_hypotheses_never_count:
  | max(finished + hypotheses, key=penalised) ->
  :     max(finished, key=penalised, default=([], 0.0))
  Your unfinished hypotheses never count: where none ends, your result is empty.
  # Only the list of the finished ones is looked through at the end.
length_without_the_end:
  | len(token_ids) - 1 -> len([each for each in token_ids[1:] if each != end_id])
  Your length penalty leaves the end out of the length.
  ? Which length does the docstring's length penalty use, with the end or without it?
  # Programs differ here: huggingface/transformers, issue 8722 and pull 8890;
    tnq177/witwicky, pull 8.
length_one_less: len(token_ids) - 1 -> len(token_ids) - 2
  Your length penalty counts one token too few, in unfinished hypotheses too.
  ? What is the length of a hypothesis whose first token is its end?
  # The step's number, which begins with 0, is taken for the length.
length_with_the_start: len(token_ids) - 1 -> len(token_ids)
  Your length penalty counts the start token.
  ? Which token of your list was there before the first choice?
  # len(tokens) of a list that begins with start: awslabs/sockeye, issue 483, is one
    of many that are off by one.
unfinished_counted_one_longer:
  | len(token_ids) - 1 -> len(token_ids) - (token_ids[-1] == end_id)
  Your length penalty counts unfinished hypotheses one token too long.
  ? Which tokens does a hypothesis hold that has not ended?
  # An end that has not come is counted: 'length counts end'.
brackets_around_the_length_alone:
  | ((5 + len(token_ids) - 1) / 6) -> (5 + (len(token_ids) - 1) / 6)
  Your length penalty is (5 + n / 6) ** alpha for a length n.
  ? What is divided by 6, according to the formula?
  # A fraction bar spans what / does not.
power_of_the_length_alone:
  | ((5 + len(token_ids) - 1) / 6) ** alpha ->
  :     ((5 + (len(token_ids) - 1) ** alpha) / 6 ** alpha)
  Your length penalty is (5 + n ** alpha) / 6 ** alpha for a length n.
  ? Of what does the formula take the power, according to its brackets?
  # ** binds more tightly than +, and the brackets of the numerator are lost.
length_ignored: return total … -> return total
  Your hypotheses are compared by their sums, whatever alpha is.
  ? Which of two hypotheses has more factors below 1, the short or the long one?
  # The search works without; OpenNMT/OpenNMT-tf, pull 456, is about a penalty that
    had no effect.
penalty_multiplied: return total / -> return total *
  Your sums are multiplied by the length penalty: long hypotheses lose twice.
  ? Is a logarithm of a probability nearer to 0 or further from it, once it is
    multiplied by 2?
  # A 'penalty' sounds like something that makes a score worse.
divided_by_a_power_of_the_length: ((5 + len(token_ids) - 1) / 6) -> (len(token_ids) - 1)
  Your sums are divided by length ** alpha.
  ? What does the formula give for a length of 1, and what does yours for 2?
  # huggingface/transformers and SamLynnEvans/Transformer divide like this.
mean_per_token: ((5 + len(token_ids) - 1) / 6) ** alpha -> (len(token_ids) - 1)
  Your sums are divided by the length: whatever alpha is, you compare means per token.
  ? What should alpha = 0 do?
  # The mean is the best known way not to favour short hypotheses.
brackets_missing: ((5 + len(token_ids) - 1) / 6) -> (5 + len(token_ids) - 1) / 6
  Your sums are compared as if alpha were 1: they are divided by 5 + length, but for a
    factor that is the same for all.
  ? Which power does the formula take of the whole fraction, and what if alpha is 0?
  # (5 + length) / 6 ** alpha lacks a pair of brackets, or alpha is left out.
unfinished_not_divided: ** alpha -> ** alpha if hypothesis in finished else total
  Your unfinished hypotheses compete with their plain sums, the finished ones divided by
    their length penalties.
  ? Which hypotheses does the docstring divide by their length penalties?
  # The sum is divided once, when a hypothesis ends; what never ends is added as it is.
alpha_written_in: ** alpha -> ** 0.6
  Your alpha is 0.6, whatever the caller says.
  ? Where does your function use its last argument?
  # The value of the paper is written into the formula.
length_rewarded:
  | / ((5 + len(token_ids) - 1) / 6) ** alpha -> + alpha * (len(token_ids) - 1)
  Your sums get alpha for each token, in place of a division.
  ? What does the docstring do with sum and length penalty?
  # A reward per token is the other well-known remedy for short results.
length_subtracted:
  | / ((5 + len(token_ids) - 1) / 6) ** alpha -> - alpha * (len(token_ids) - 1)
  Your sums lose alpha for each token, in place of a division.
  ? What does the docstring do with sum and length penalty?
  # A 'penalty' sounds like something that is taken away.
divided_in_every_step:
  | total + float(log_p) ->
  :     (total + float(log_p)) / ((5 + len(token_ids)) / 6) ** alpha
  | return total … -> return total
  Your sums are divided by the length penalty in every step, and go on from there: the
    first log-probabilities are divided again and again.
  ? How often does the formula divide the log-probability of the first token?
  # One variable is the sum and the score.
end_kept: return [token_id … -> return token_ids[1:]
  Your result has the end token behind it, where it is finished.
  ? Is `end_id` a token of the sequence, or the sign that it is over?
  # The best hypothesis is returned as it is.
start_kept: token_ids[1:] -> token_ids
  Your result begins with the start token.
  ? Which of the tokens in your list was never chosen?
  # The best hypothesis is returned with the token with which it began.
start_removed_by_value:
  | token_ids[1:] if token_id != end_id ->
  :     token_ids if token_id not in (start_id, end_id)
  Your sequence lacks every token `start_id`, not only the first.
  ? May a model choose `start_id` again, in the middle of a sequence?
  # Start and end are removed by their values, in one line.
last_token_removed: return [token_id … -> return token_ids[1:-1]
  Your result lacks its last token where it is unfinished.
  ? Which token is the last of a hypothesis that has not ended?
  # token_ids[1:-1] takes away the end, and whatever stands there without one.
array_returned:
  | return [token_id … ->
  :     return np.array([token_id for token_id in token_ids[1:] if token_id !=
  :     end_id], dtype=int)
  Your token ids come in an array, not in a list.
  ? Which type does the docstring's example show?
  # The hypotheses are rows of an array.
sum_returned_too:
  | token_ids, _ -> token_ids, total
  | return [token_id … ->
  :     return ([token_id for token_id in token_ids[1:] if token_id != end_id],
  :     total)
  Your result is a pair: the token ids, and a number.
  ? What does the docstring promise to return?
  # The best hypothesis is returned as it is kept, with its sum.
""",
)
