"""Cases and misconceptions of ``softmax_by_hand``."""

import itertools
import math

import numpy as np

from autograder import Exercise
from course_lib.warm_up import softmax_by_hand

exercise = Exercise(softmax_by_hand, lesson="00_start_here", minutes=5, difficulty=1)


@exercise.spec
def spec(x):
    total = 0.0
    for score in x:
        total = total + math.exp(score)
    shares = []
    for score in x:
        shares.append(math.exp(score) / total)
    return shares


@exercise.usual
def usual(rng):
    return (rng.normal(size=5).tolist(),)


@exercise.case("The scores ln 3, 0 and ln 4 give the shares 3/8, 1/8 and 4/8")
def small_example_by_hand(student, rng):
    shares = student([math.log(3), 0.0, math.log(4)])
    # as an array, so that the message shows the three shares side by side
    student.expect(np.array(shares, dtype=float), np.array([0.375, 0.125, 0.5]))
    student.agrees(rng.normal(size=3).tolist())


@exercise.case("A score that is larger by 1 gets e times the share")
def one_more_is_e_times_the_share(student, rng):
    first, second, _ = student([0.5, 1.5, -1.0])
    quotient = second / first if first else math.inf
    student.expect(quotient, math.e, what="the second share divided by the first")


@exercise.case("The shares sum to 1", pays_alone=False)
def shares_sum_to_one(student, rng):
    shares = student(rng.normal(size=5).tolist())
    student.expect(sum(shares), 1.0, what="the sum of the shares")


@exercise.case("Negative scores get positive shares too", visible=False)
def negative_scores(student, rng):
    student.agrees([-1.5, 2.0, -0.25, 0.5])
    student.agrees([-1.5, float(rng.uniform(3, 5)), -0.25, 0.5])


@exercise.case("A single score gets everything, whatever it is", visible=False)
def single_score(student, rng):
    student.expect(student([3.5]), [1.0])


@exercise.case("Scores near −50 share as scores near 0 do")
def scores_near_minus_fifty(student, rng):
    shares = student([-50.0, -49.0, -48.0])
    total = 1 + math.e + math.e**2
    expected = np.array([1 / total, math.e / total, math.e**2 / total])
    student.expect(np.array(shares, dtype=float), expected)


@exercise.case("The list of scores stays as it is")
def arguments_stay(student, rng):
    student.leaves_unchanged([0.5, -1.0, 2.0])


@exercise.misconception(
    "Your numbers are the powers of e, not yet divided by anything.",
    "What do your numbers sum to, and what should they sum to?",
    why="The loop that computes the powers is taken for the whole of the softmax.",
)
def powers_not_divided(x):
    return [math.exp(score) for score in x]


@exercise.misconception(
    "Your numbers are the scores divided by their sum, without any powers of e.",
    "What becomes of a negative score in your version?",
    why="Softmax is taken for plain normalising, which is enough for counts.",
)
def scores_divided_by_their_sum(x):
    return [score / sum(x) for score in x]


@exercise.misconception(
    "Your numbers are the scores themselves, divided by the sum of the powers of e.",
    "What is the numerator of the formula, the score or something made from it?",
    why="The powers are computed for the total only, and the loop goes over x again.",
)
def scores_over_sum_of_powers(x):
    return [score / sum(math.exp(other) for other in x) for score in x]


@exercise.misconception(
    "Your numbers are made of powers of 2.",
    "Which number does the docstring raise to the power of the score?",
    why="Powers of 2 are easier in the head and look alike: they are positive too.",
)
def powers_of_two(x):
    return [2**score / sum(2**other for other in x) for score in x]


@exercise.misconception(
    "Your numbers are made of powers of 2.718.",
    "How many digits does e have, and where does Python keep it?",
    why="The number e is typed in, with the digits that one remembers.",
)
def e_with_four_digits(x):
    return [2.718**score / sum(2.718**other for other in x) for score in x]


@exercise.misconception(
    "Your numbers are shares of the largest power: the largest score always gets 1.",
    "What would the shares have to be divided by to sum to 1?",
    why="Scaling by the largest value is the other common way of normalising.",
)
def divided_by_largest_power(x):
    return [math.exp(score) / max(math.exp(other) for other in x) for score in x]


@exercise.misconception(
    "Your numbers are divided by e to the power of the summed scores.",
    "Which comes first in the formula, the sum or the power?",
    why="exp(sum(x)) and sum of exp(x) are taken for the same number.",
)
def power_of_the_sum(x):
    return [math.exp(score) / math.exp(sum(x)) for score in x]


@exercise.misconception(
    "Your first share is 1: each power is divided by the total up to itself only.",
    "When is the total complete, and when do you divide by it?",
    why="Adding up and dividing happen in one and the same loop.",
)
def running_total(x):
    powers = [math.exp(score) for score in x]
    totals = itertools.accumulate(powers)
    return [power / total for power, total in zip(powers, totals, strict=True)]


@exercise.misconception(
    "Your largest score gets the smallest share.",
    "Which sign does the score have in the power?",
    why="In physics the same formula holds with a minus sign: exp(−E / T).",
)
def negative_powers(x):
    return [math.exp(-score) / sum(math.exp(-other) for other in x) for score in x]


@exercise.misconception(
    "Your numbers are the right shares, rounded to two digits.",
    "What do rounded shares sum to?",
    why="Results are rounded to make them look tidy, inside the function.",
)
def rounded_to_two_digits(x):
    total = sum(math.exp(score) for score in x)
    return [round(math.exp(score) / total, 2) for score in x]


@exercise.misconception(
    "Your numbers are percentages.",
    "If somebody gets everything, which number should stand for it?",
    why="Shares are mostly written in percent outside of mathematics.",
)
def percentages(x):
    total = sum(math.exp(score) for score in x)
    return [100 * math.exp(score) / total for score in x]


@exercise.misconception(
    "Your shares are a little too small: something is added to the sum of the powers.",
    "Can a sum of powers of e ever be 0, so that it would need help?",
    why="A small number in the denominator is a habit from divisions that may meet 0.",
)
def eps_in_denominator(x):
    total = sum(math.exp(score) for score in x)
    return [math.exp(score) / (total + 1e-8) for score in x]


@exercise.misconception(
    "Your shares are right, and they have replaced the scores in the caller's list.",
    "Whose list is x, and who may still need the scores?",
    why="x[i] = … looks like a local change, but a list is passed without a copy.",
)
def shares_written_into_x(x):
    for i, score in enumerate(x):
        x[i] = math.exp(score)
    total = sum(x)
    for i, power in enumerate(x):
        x[i] = power / total
    return x


@exercise.misconception(
    "Your shares are right, and they come as a NumPy array.",
    "Which type does the docstring say that the result has?",
    why="np.exp(x) / np.exp(x).sum() is the best known form, and it returns an array "
    "even for a list.",
)
def numpy_array(x):
    return np.exp(x) / np.exp(x).sum()
