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
)


@exercise.spec
def spec(next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6):
    going, done = [([], 0.0)], []
    while going and len(going[0][0]) < max_length:
        continued = []
        for tokens, total in going:
            log_p = next_log_probabilities([start_id, *tokens])
            for token in range(len(log_p)):
                continued.append(([*tokens, token], total + float(log_p[token])))
        going = []
        room = beam_size - len(done)
        for tokens, total in sorted(continued, key=lambda kept: kept[1])[::-1][:room]:
            (done if tokens[-1] == end_id else going).append((tokens, total))
    best, highest = [], -math.inf
    for tokens, total in done + going:
        merit = total / ((5 + len(tokens)) / 6) ** alpha
        if merit > highest:
            best, highest = tokens, merit
    return best[:-1] if best and best[-1] == end_id else best


# What gives the logarithms. Each also answers questions that nobody should ask, so
# that a mistake shows in the text and not only in an exception.


def better_later(tokens):
    """Begin best with 2, although 1 is likelier at first: 0.32 beats 0.15."""
    rows = [[0.1, 0.5, 0.35, 0.05], [0.18, 0.29, 0.26, 0.27], [0.02, 0.03, 0.03, 0.92]]
    return np.log(rows[min(tokens[-1], 2)])


def known(rows):
    """Return what answers some texts with rows of probabilities, and others evenly."""

    def log_probabilities_after(tokens):
        return np.log(rows.get(tuple(tokens), [0.28, 0.26, 0.24, 0.22]))

    return log_probabilities_after


def short_or_long(ratio):
    """Know the texts [1] and [2, 2, 2, 2, 2].

    ratio : of the long one's logarithm to the short one's; both are chosen by their
        first token, and what follows is as good as certain
    """
    short, long = 0.45, 0.45**ratio
    left = 1 - short - long
    rows = {(0,): [0.6 * left, short, long, 0.4 * left]}
    ends, goes_on = [3e-5, 2e-5, 1e-5, 1 - 6e-5], [4e-5, 2e-5, 1 - 7e-5, 1e-5]
    rows |= {(0, 1): ends, (0, 2, 2, 2, 2, 2): [5e-5, 3e-5, 2e-5, 1 - 1e-4]}
    rows |= {(0, *[2] * n): goes_on for n in (1, 2, 3, 4)}
    return known(rows)


def two_after_one(tokens):
    """Hide the best text, [1, 1, 2], behind a slightly better beginning, [1, 1, 1].

    Who has room for one beginning only, once [1] has ended, does not find it.
    """
    rows = {
        (0,): [0.012, 0.97, 0.011, 0.007],
        (0, 1): [0.06, 0.36, 0.20, 0.38],
        (0, 1, 1): [0.03, 0.50, 0.46, 0.01],
        (0, 1, 1, 1): [0.23, 0.28, 0.25, 0.24],
        (0, 1, 1, 2): [0.01, 0.013, 0.007, 0.97],
    }
    return known(rows)(tokens)


def after_the_newest(rows, tokens):
    """Return a row by the newest token, changed a little by the position.

    So no two sums are equal: without the position, [1, 1, 2, 1] and [1, 2, 1, 1] would
    be products of the same numbers.
    """
    change = 0.0005 * len(tokens) * np.array([1.0, -2.0, 0.7, 0.3])
    return np.log(np.array(rows[tokens[-1]]) + change)


def ended_at_once(tokens):
    """Return what comes after the newest token; the empty text is second at first.

    It keeps its place, so that one beginning goes on. Who lets it be pushed out
    follows two, and finds [2, 1] by merit or [2] by sums.
    """
    rows = [
        [0.07, 0.06, 0.78, 0.09],
        [0.17, 0.07, 0.47, 0.29],
        [0.15, 0.64, 0.01, 0.20],
        [0.28, 0.38, 0.01, 0.33],
    ]
    return after_the_newest(rows, tokens)


def ended_second(tokens):
    """Return what comes after the newest token; [1] ends when two beginnings go on."""
    rows = [
        [0.001, 0.749, 0.08, 0.17],
        [0.27, 0.11, 0.32, 0.30],
        [0.05, 0.01, 0.32, 0.62],
        [0.10, 0.51, 0.01, 0.38],
    ]
    return after_the_newest(rows, tokens)


def start_again(tokens):
    """Let the number of start, 1, come again as a token of the text [2, 1, 1]."""
    rows = {
        (1,): [0.05, 0.10, 0.80, 0.05],
        (1, 2): [0.10, 0.75, 0.08, 0.07],
        (1, 2, 1): [0.12, 0.70, 0.08, 0.10],
        (1, 2, 1, 1): [0.05, 0.06, 0.04, 0.85],
    }
    return known(rows)(tokens)


def mostly_ones(tokens):
    n = sum(0.3 * place * token + 1 for place, token in enumerate(tokens))
    return np.log(
        [0.03 + 0.0007 * n, 0.83 - 0.002 * n, 0.02 + 0.0003 * n, 0.12 + 0.001 * n]
    )


def drawn(rng, vocab_size, spread=1.0, end_id=None, more=0.0):
    """Return probabilities that depend on every token so far and on its place.

    spread : how unequal they are
    more : what is added to the score of end
    """
    scores = spread * rng.normal(size=(499, vocab_size))
    if end_id is not None:
        scores[:, end_id] += more
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def log_probabilities_after(tokens):
        return log_p[hash(tuple(tokens)) % len(log_p)]

    return log_probabilities_after


def nearly_even(rng):
    """Return probabilities near 1/30, whose ranks are clear in float32 too."""
    log_p = rng.permuted(np.tile(np.linspace(-0.3, 0.3, 30), (499, 1)), axis=1)
    log_p[:, 0] = -20.0  # the end
    log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))

    def log_probabilities_after(tokens):
        return log_p[hash(tuple(tokens)) % len(log_p)]

    return log_probabilities_after


@exercise.usual
def usual(rng):
    return drawn(rng, 6, end_id=5, more=-0.5), 0, 5, 3, 6, 1.0


@exercise.case(
    "A first token of probability 0.35 wins over one of 0.5 if what follows is likelier"
)
def small_example_by_hand(student, rng):
    student.expect(student(better_later, 0, 3, 2, 5), [2])


@exercise.case("A beam of one is greedy")
def beam_of_one(student, rng):
    student.expect(student(better_later, 0, 3, 1, 1), [1])
    for _ in range(3):
        student.agrees(drawn(rng, 5), 0, 4, 1, 6)


@exercise.case("With several beams the best of what they find is chosen")
def several_beams(student, rng):
    for beam_size in (2, 3, 4, 3, 2, 3, 4, 5):
        student.agrees(drawn(rng, 6, end_id=4, more=0.3), 0, 4, beam_size, 5)


@exercise.case(
    "The larger alpha, the more a longer text is favoured; with 0, not at all"
)
def longer_texts_favoured(student, rng):
    short, long = [1], [2, 2, 2, 2, 2]
    student.expect(student(short_or_long(0.8), 0, 3, 3, 9, 1.0), long)
    student.expect(student(short_or_long(1.1), 0, 3, 3, 9, 0.0), short)
    student.expect(student(short_or_long(1.3), 0, 3, 3, 9, 0.3), short)
    student.expect(student(short_or_long(2.0), 0, 3, 3, 9, 2.0), long)


@exercise.case("The length that is divided by counts the end and not the start")
def length_counts_the_end(student, rng):
    # The lengths are 2 and 6: the limit of the ratio is 11/7 = 1.57. Without the end it
    # would be 10/6 = 1.67, with the start 12/8 = 1.5.
    student.expect(student(short_or_long(1.62), 0, 3, 3, 9, 1.0), [1])
    student.expect(student(short_or_long(1.535), 0, 3, 3, 9, 1.0), [2, 2, 2, 2, 2])


@exercise.case("What has not ended after max_length tokens counts as it is")
def not_ended(student, rng):
    student.expect(student(mostly_ones, 0, 3, 3, 4), [1, 1, 1, 1])
    for _ in range(3):
        student.agrees(drawn(rng, 5, end_id=2, more=-9.0), 0, 2, 3, 4)


@exercise.case("Texts that end leave the beam, which is as much smaller from then on")
def beam_gets_smaller(student, rng):
    student.expect(student(two_after_one, 0, 3, 2, 4, 3.0), [1])
    student.expect(student(two_after_one, 0, 3, 3, 4, 3.0), [1, 1, 2])
    for _ in range(5):
        student.agrees(drawn(rng, 6, 1.5, end_id=5, more=1.5), 0, 5, 3, 7, 1.0)


@exercise.case("A text that has ended keeps its place: no other pushes it out again")
def ended_texts_keep_their_place(student, rng):
    student.expect(student(ended_at_once, 0, 3, 2, 5), [2, 1, 2, 1, 2])
    student.expect(student(ended_second, 0, 3, 2, 5), [1, 2])


@exercise.case("Of the text only the first start and the final end are removed")
def start_may_come_again(student, rng):
    student.expect(student(start_again, 1, 3, 2, 4), [2, 1, 1])


@exercise.case("A beam may be larger than the vocabulary")
def beam_larger_than_the_vocabulary(student, rng):
    for _ in range(3):
        student.agrees(drawn(rng, 3, end_id=2, more=0.5), 0, 2, 7, 4)


@exercise.case("Probabilities too small for a float are told apart: 260 tokens of 30")
def very_small_probabilities(student, rng):
    student.agrees(nearly_even(rng), 7, 0, 1, 260)


@exercise.case("A beam wide enough for all texts finds the best of all", visible=False)
def every_text_tried(student, rng):
    log_p = drawn(rng, 4, end_id=1, more=1.0)
    best, highest = [], -math.inf
    for length in (1, 2, 3):
        for text in itertools.product(range(4), repeat=length):
            if 1 in text[:-1] or (text[-1] != 1 and length < 3):
                continue
            total = sum(log_p([0, *text[:i]])[text[i]] for i in range(length))
            merit = total / ((5 + length) / 6) ** 0.9
            if merit > highest:
                best, highest = [token for token in text if token != 1], merit
    student.expect(student(log_p, 0, 1, 64, 3, 0.9), best)


def penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


def continued(going, f):
    """Return all continuations, the likeliest first."""
    longer = [
        ([*tokens, token], total + float(log_p))
        for tokens, total in going
        for token, log_p in enumerate(f(list(tokens)))
    ]
    return sorted(longer, key=lambda kept: -kept[1])


def searched(f, start_id, end_id, beam_size, max_length, prefer=continued):
    """Search rightly; give what has ended and what has not.

    prefer : gives the continuations, the best first
    """
    going, done = [([start_id], 0.0)], []
    for _ in range(max_length):
        kept = prefer(going, f)[: beam_size - len(done)]
        done += [beam for beam in kept if beam[0][-1] == end_id]
        going = [beam for beam in kept if beam[0][-1] != end_id]
        if not going:
            break
    return done, going


def best_of(beams, end_id, merit):
    """Return the text with the highest merit(total, length), without start and end."""
    tokens, _ = max(beams, key=lambda beam: merit(beam[1], len(beam[0]) - 1))
    return [token for token in tokens[1:] if token != end_id]


def by_formula(alpha):
    return lambda total, length: total / penalty(length, alpha)


@exercise.misconception(
    "Your text is that of a beam of one: it is always the likeliest next token.",
    "How many different beginnings does your search hold after the second step?",
    why="beam_size copies of the start continue alike and stay alike: "
    "facebookresearch/ParlAI, pull 2047.",
)
def greedy_in_disguise(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, 1, max_length)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your beginnings part at the first token, and each goes on greedily by itself.",
    "May two of the beginnings that stay come from the same one?",
    why="Each beam takes its own best token: the comparison across beams is missing.",
)
def each_beam_its_own_best(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(going, f):
        if len(going[0][0]) == 1:
            return continued(going, f)
        return [continued([beam], f)[0] for beam in going]

    done, going = searched(f, start_id, end_id, beam_size, max_length, prefer)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your texts are compared by their sums: alpha changes nothing.",
    "Which of two texts has more factors below 1, the short one or the long one?",
    why="The search works without; OpenNMT/OpenNMT-tf, pull 456, is about a penalty "
    "that had no effect.",
)
def length_ignored(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(done + going, end_id, lambda total, length: total)


@exercise.misconception(
    "Your sums are multiplied by the length penalty: long texts lose twice.",
    "Is a logarithm of a probability nearer to 0 or further from it, once it is "
    "multiplied by 2?",
    why="A 'penalty' is taken for something that makes a score worse.",
)
def penalty_multiplied(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(
        done + going, end_id, lambda total, length: total * penalty(length, alpha)
    )


@exercise.misconception(
    "Your length leaves the end out.",
    "By which length does the docstring divide, that of the text or that of what was "
    "chosen?",
    why="Programs differ here: huggingface/transformers, issue 8722 and pull 8890; "
    "tnq177/witwicky, pull 8.",
)
def length_without_the_end(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    beams = [
        (tokens, total / penalty(len(tokens) - 2, alpha)) for tokens, total in done
    ]
    beams += [
        (tokens, total / penalty(len(tokens) - 1, alpha)) for tokens, total in going
    ]
    return best_of(beams, end_id, lambda merit, length: merit)


@exercise.misconception(
    "Your length counts the start token.",
    "Which token of your list was there before the first choice?",
    why="len(tokens) of a list that begins with start: awslabs/sockeye, issue 483, is "
    "one of many that are off by one.",
)
def length_with_the_start(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(
        done + going, end_id, lambda total, length: total / penalty(length + 1, alpha)
    )


@exercise.misconception(
    "Your sums are divided by length ** alpha.",
    "What does the formula give for a length of 1, and what does yours for 2?",
    why="huggingface/transformers and SamLynnEvans/Transformer divide so.",
)
def divided_by_a_power_of_the_length(
    f, start_id, end_id, beam_size, max_length, alpha=0.6
):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(done + going, end_id, lambda total, length: total / length**alpha)


@exercise.misconception(
    "Your sums are divided by the length: whatever alpha is, you compare means per "
    "token.",
    "What should alpha = 0 do?",
    why="The mean is the best known way not to favour short texts.",
)
def mean_per_token(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(done + going, end_id, lambda total, length: total / length)


@exercise.misconception(
    "Your power takes the 6 alone: sums are divided by 5 + length, over 6 ** alpha.",
    "Which binds more strongly in Python, / or **?",
    why="(5 + length) / 6 ** alpha lacks a pair of brackets.",
)
def brackets_missing(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(
        done + going, end_id, lambda total, length: total / ((5 + length) / 6**alpha)
    )


@exercise.misconception(
    "Your alpha is 0.6, whatever the caller says.",
    "Where does your function use its last argument?",
    why="The value of the paper is written into the formula.",
)
def alpha_written_in(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(done + going, end_id, by_formula(0.6))


@exercise.misconception(
    "Your beam stays as large as it was: others move up where texts have ended.",
    "With a beam of 3, how many texts have you followed when the first one has ended?",
    why="The top beam_size are taken in each step, however many are done; some "
    "programs keep the beam full on purpose.",
)
def beam_not_getting_smaller(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going, done = [([start_id], 0.0)], []
    for _ in range(max_length):
        kept = continued(going, f)[:beam_size]
        done += [beam for beam in kept if beam[0][-1] == end_id]
        going = [beam for beam in kept if beam[0][-1] != end_id]
        if not going:
            break
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your texts that have ended are continued like the others.",
    "What may come after the end token?",
    why="All beams run on in one batch: awslabs/sockeye, pull 233.",
)
def ended_texts_continued(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    _, going = searched(f, start_id, None, beam_size, max_length)
    return best_of(going, end_id, by_formula(alpha))


def kept_in_the_beam(f, start_id, end_id, beam_size, max_length, key):
    """Search as if texts that have ended went on competing for the places.

    key : gives of (tokens, sum) by what they are sorted
    """
    beams = [([start_id], 0.0)]
    for _ in range(max_length):
        over = [beam for beam in beams if len(beam[0]) > 1 and beam[0][-1] == end_id]
        going = [beam for beam in beams if beam not in over]
        if not going:
            break
        beams = sorted(over + continued(going, f), key=key)[::-1][:beam_size]
    return beams


@exercise.misconception(
    "Your texts that have ended stay among those that go on: sums are compared, and "
    "what has ended can be pushed out.",
    "May a text that has ended lose its place to one that goes on?",
    why="One list with a mark for 'ended' is shorter than two lists; the places that "
    "the ended ones take are then given away again.",
)
def pushed_out_by_sums(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    beams = kept_in_the_beam(
        f, start_id, end_id, beam_size, max_length, lambda one: one[1]
    )
    return best_of(beams, end_id, by_formula(alpha))


@exercise.misconception(
    "Your texts are sorted by sum and length penalty in every step, those that have "
    "ended among them: what has ended can be pushed out.",
    "When does the docstring divide by the length penalty, in each step or once?",
    why="The merit is what counts at the end, so it is sorted by from the beginning; "
    "among texts of one length that is no different.",
)
def pushed_out_by_merit(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def merit(one):
        return one[1] / penalty(len(one[0]) - 1, alpha)

    beams = kept_in_the_beam(f, start_id, end_id, beam_size, max_length, merit)
    return best_of(beams, end_id, by_formula(alpha))


@exercise.misconception(
    "Your text is the one that ends first.",
    "May a text that is still going on turn out better than one that has ended?",
    why="The search stops as soon as the first text ends: neulab/xnmt, pull 572; "
    "OpenNMT/OpenNMT-py, issue 1320.",
)
def first_to_end(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going = [([start_id], 0.0)]
    for _ in range(max_length):
        kept = continued(going, f)[:beam_size]
        ended = [beam for beam in kept if beam[0][-1] == end_id]
        if ended:
            return ended[0][0][1:-1]
        going = kept
    return best_of(going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your search forgets what has not ended, as soon as something has.",
    "What does the docstring say of a text that has not ended after max_length tokens?",
    why="Finished and unfinished texts are kept in two lists, and the second is only "
    "asked when the first is empty.",
)
def only_ended_texts_count(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(done or going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your beginnings are compared by their newest token alone.",
    "Where does the probability of what came before go?",
    why="total + log_p becomes log_p when the loop is rewritten.",
)
def newest_token_only(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(going, f):
        return continued([(tokens, 0.0) for tokens, _ in going], f)

    done, going = searched(f, start_id, end_id, beam_size, max_length, prefer)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your sums are of probabilities, not of their logarithms.",
    "Which sum belongs to a product of probabilities?",
    why="Plain probabilities are added up: atulkum/pointer_summarizer, issue 26.",
)
def probabilities_added(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def plain(tokens):
        return np.exp(f(tokens))

    done, going = searched(plain, start_id, end_id, beam_size, max_length)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your probabilities are multiplied: long texts all come to 0, and are not told "
    "apart.",
    "How small is 1/30 to the power of 260, and which is the smallest float above 0?",
    why="The product is what one wants, and a sum of logarithms what computers can do.",
)
def probabilities_multiplied(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(going, f):
        longer = [
            ([*tokens, token], total * math.exp(log_p))
            for tokens, total in going
            for token, log_p in enumerate(f(list(tokens)))
        ]
        return sorted(longer, key=lambda kept: -kept[1])

    def multiplied(going, f):
        first = [(tokens, total or 1.0) for tokens, total in going]
        return prefer(first if len(going[0][0]) == 1 else going, f)

    done, going = searched(f, start_id, end_id, beam_size, max_length, multiplied)
    return best_of(
        done + going,
        end_id,
        lambda total, length: (
            (math.log(total) if total else -math.inf) / penalty(length, alpha)
        ),
    )


@exercise.misconception(
    "Your search keeps the continuations with the smallest sums.",
    "Which is the likelier of two texts with the sums −2 and −9?",
    why="sort() puts the smallest first, and a list of negative logarithms would be "
    "sorted so.",
)
def smallest_sums_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def prefer(going, f):
        return continued(going, f)[::-1]

    done, going = searched(f, start_id, end_id, beam_size, max_length, prefer)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your text may have one token more than max_length, end counted.",
    "Does max_length count the end token?",
    why="greedy_decode does not count it.",
)
def one_step_too_many(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length + 1)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your text may have one token less than max_length.",
    "How many tokens are in your list before the first step?",
    why="max_length is compared with a list that begins with start.",
)
def one_step_too_few(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length - 1)
    return best_of(done + going, end_id, by_formula(alpha))


@exercise.misconception(
    "Your text has the end token behind it, where it has ended.",
    "Is `end_id` a token of the text, or the sign that it is over?",
    why="The winning list is given back as it was found.",
)
def end_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return best_of(done + going, None, by_formula(alpha))


@exercise.misconception(
    "Your text begins with the start token.",
    "Which of the tokens in your list has nobody chosen?",
    why="The winning list is given back with what it began with.",
)
def start_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    return [start_id, *best_of(done + going, end_id, by_formula(alpha))]


@exercise.misconception(
    "Your sequence lacks every token `start_id`, not only the first.",
    "May a model choose `start_id` again, in the middle of a sequence?",
    why="Start and end are taken out by their values, in one line.",
)
def start_removed_by_value(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = searched(f, start_id, end_id, beam_size, max_length)
    best = best_of(done + going, end_id, by_formula(alpha))
    return [token for token in best if token != start_id]
