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


@exercise.case(
    "Scores such as ln 3, 0 and ln 4 give shares such as 3/8, 1/8 and 4/8", weight=1.5
)
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


@exercise.case("The shares sum to 1", pays_alone=False, weight=0.5)
def shares_sum_to_one(student, rng):
    shares = student(rng.normal(size=5).tolist())
    student.expect(sum(shares), 1.0, what="the sum of the shares")


@exercise.case("Negative scores get the right shares too", visible=False, weight=1.5)
def negative_scores(student, rng):
    student.agrees([-1.5, 2.0, -0.25, 0.5])
    student.agrees([-1.5, float(rng.uniform(3, 5)), -0.25, 0.5])


@exercise.case(
    "Scores that are equal share alike, wherever they stand", visible=False, weight=0.5
)
def equal_scores(student, rng):
    e = math.e
    shares = np.array([e, 1.0, e, 1.0, 1.0]) / (2 * e + 3)
    student.expect(student([1.0, 0.0, 1.0, 0.0, 0.0]), shares.tolist())
    student.agrees([*[float(rng.uniform(0, 2))] * 2, 0.0, 1.0, 0.0])


@exercise.case("Scores of 50 and −50 share as others do", visible=False, weight=0.5)
def largest_scores(student, rng):
    student.agrees([50.0, 49.0, -50.0, float(rng.uniform(46, 48))])


@exercise.case(
    "A single score gets everything, whatever it is", visible=False, weight=0.5
)
def single_score(student, rng):
    student.expect(student([3.5]), [1.0])
    student.expect(student([0.0]), [1.0])


@exercise.case("Scores shifted by −50 give the same shares", weight=0.5)
def scores_near_minus_fifty(student, rng):
    shares = student([-50.0, -49.0, -48.0])
    total = 1 + math.e + math.e**2
    expected = np.array([1 / total, math.e / total, math.e**2 / total])
    student.expect(np.array(shares, dtype=float), expected)
    student.agrees(rng.uniform(-50, -46, size=4).tolist())


@exercise.case("The list of scores is not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged([0.5, -1.0, 2.0])


@exercise.variants
def variants(
    x,
    *,
    base=math.e,
    exponent="score",
    numerator="power",
    denominator="sum",
    added=0.0,
    factor=1,
    digits=None,
    order="as it is",
    counted="each",
    returned="list",
    overwritten="nothing",
):
    if numerator == "power of the quotient":
        return [base ** (score / sum(x)) for score in x]
    scores = {
        "score": lambda: [*x],
        "e": lambda: [*x],
        "−score": lambda: [-score for score in x],
        "size of the score": lambda: [abs(score) for score in x],
        "score, at least 0": lambda: [max(score, 0.0) for score in x],
        "whole part": lambda: [int(score) for score in x],
    }[exponent]()
    powers = [base**score for score in scores]
    if exponent == "e":  # of negative scores complex numbers, compared to the last bit
        powers = [score**base for score in x]
        return [power / sum(powers) for power in powers]
    if numerator == "1 minus the power":
        powers = [1 - power for power in powers]
    above = {"score": scores, "square": [score**2 for score in scores]}
    above["score above the smallest"] = [score - min(scores) for score in scores]
    above = above.get(numerator, powers)
    summed = powers if numerator == "score, over powers" else above
    if numerator == "score, over powers":
        above = scores
    chosen = {
        "each": summed,
        "each number once": list(set(summed)),
        "all but the first": summed[1:],
        "all but the last": summed[:-1],
    }[counted]
    total = added + sum(chosen)
    if denominator == "running sum":
        totals = [added + part for part in itertools.accumulate(summed)]
    elif denominator == "others":
        totals = [total - power for power in summed]
    else:
        whole = {
            "sum": total,
            "nothing": 1.0,
            "largest": max(summed),
            "mean": total / len(x),
            "count": len(x),
            "power of the sum": base ** sum(scores),
            "length": math.sqrt(sum(power * power for power in summed)),
            "sum of scores": sum(x),
        }
        totals = [whole[denominator]] * len(x)
    shares = [factor * one / other for one, other in zip(above, totals, strict=True)]
    if digits is not None:
        shares = [round(share, digits) for share in shares]
    if returned == "logarithms":
        shares = [math.log(share) for share in shares]
    elif returned == "what is left of 1":
        shares = [1 - share for share in shares]
    elif returned == "one for the largest":
        shares = [float(score == max(x)) for score in x]
    if order != "as it is":
        shares = sorted(shares, reverse=order == "falling")
    if overwritten == "x":
        x[:] = shares
    elif overwritten == "x, with the powers":
        x[:] = powers
    elif overwritten == "x, emptied":
        x.clear()
    elif overwritten == "x, sorted":
        x.sort()
    if returned == "array":
        return np.array(shares)
    if returned == "texts":
        return [f"{share:.2f}" for share in shares]
    if returned == "pairs":
        return [*zip(scores, shares, strict=True)]
    if returned == "list in a list":
        return [shares]
    if returned == "list and total":
        return shares, total
    named = {
        "tuple": tuple(shares),
        "first": shares[0],
        "last": shares[-1],
        "sum": total,
    }
    return named.get(returned, shares)


exercise.option(
    "powers_not_divided",
    "Your numbers are not divided by anything.",
    "What do your numbers sum to, and what should they sum to?",
    why="The loop that computes the powers is taken for the whole of the softmax.",
    denominator="nothing",
)
exercise.option(
    "scores_divided_by_their_sum",
    "Your numbers are scores divided by a sum of scores, without any powers.",
    "What becomes of a negative score in your version?",
    why="Softmax is taken for plain normalising, which is enough for counts.",
    numerator="score",
)
exercise.option(
    "scores_over_sum_of_powers",
    "Your numbers above the fraction bar are the scores themselves; powers are "
    "below it only.",
    "What is the numerator of the formula, the score or something made from it?",
    why="The powers are computed for the total only, and the loop goes over x again.",
    numerator="score, over powers",
)
exercise.option(
    "squares_for_powers",
    "Your shares are those of squared scores.",
    "Which number does the docstring raise to the power of the score?",
    why="'Power' is read as the power of the score, score ** 2.",
    numerator="square",
)
exercise.option(
    "powers_of_two",
    "Your numbers are made of powers of 2.",
    "Which number does the docstring raise to the power of the score?",
    why="Powers of 2 are easier in the head and look alike: they are positive too.",
    base=2,
)
exercise.option(
    "powers_of_ten",
    "Your numbers are made of powers of 10.",
    "Which number does the docstring raise to the power of the score?",
    why="1e3 is how Python writes a power of 10, and the e looks right.",
    base=10,
)
exercise.option(
    "e_with_four_digits",
    "Your numbers are made of powers of 2.718.",
    "How many digits does e have, and where does Python keep it?",
    why="The number e is typed in, with the digits that one remembers.",
    base=2.718,
)
exercise.option(
    "e_with_three_digits",
    "Your numbers are made of powers of 2.72.",
    "How many digits does e have, and where does Python keep it?",
    why="The number e is typed in, with the digits that one remembers.",
    base=2.72,
)
exercise.option(
    "negative_powers",
    "Your powers are those of −score: a larger score gets a smaller one.",
    "Which sign does the score have in the power?",
    why="In physics the same formula holds with a minus sign: exp(−E / T).",
    exponent="−score",
)
exercise.option(
    "sizes_of_scores",
    "Your negative scores count like positive ones of the same size.",
    "Is e to the power of −2 large or small?",
    why="abs() is put in because shares have to be positive.",
    exponent="size of the score",
)
exercise.option(
    "negative_scores_made_zero",
    "Your negative scores count like a score of 0.",
    "Is e to the power of −2 the same as e to the power of 0?",
    why="max(score, 0) is put in because shares have to be positive.",
    exponent="score, at least 0",
)
exercise.option(
    "whole_part_of_the_score",
    "Your scores lose what follows the decimal point.",
    "Which number is e to the power of 0.5?",
    why="int(score) is typed to count, or to take a power by repeated multiplication.",
    exponent="whole part",
)
exercise.option(
    "divided_by_largest_power",
    "Your numbers are divided by the largest of them.",
    "What would the shares have to be divided by to sum to 1?",
    why="Scaling by the largest value is the other common way of normalising.",
    denominator="largest",
)
exercise.option(
    "divided_by_mean",
    "Your numbers are divided by a mean, not by a sum.",
    "What should the shares sum to?",
    why="mean and sum are one word apart.",
    denominator="mean",
)
exercise.option(
    "mean_of_powers",
    "Your numbers are divided by the number of scores.",
    "What should the shares sum to?",
    why="len(x) is typed for the total.",
    denominator="count",
)
exercise.option(
    "divided_by_sum_of_scores",
    "Your numbers are divided by the sum of the scores.",
    "Of which numbers is the total a sum?",
    why="sum(x) is typed while the powers have no name of their own yet.",
    denominator="sum of scores",
)
exercise.option(
    "divided_by_length",
    "Your numbers are divided by the root of a sum of squares.",
    "What should the shares themselves sum to?",
    why="'Normalise' mostly means to give a vector length 1.",
    denominator="length",
)
exercise.option(
    "power_of_the_sum",
    "Your numbers are divided by a power of the summed scores.",
    "Which comes first in the formula, the sum or the power?",
    why="exp(sum(x)) and sum of exp(x) are taken for the same number.",
    denominator="power of the sum",
)
exercise.option(
    "running_total",
    "Your total for a score goes up to that score only.",
    "When is the total complete, and when do you divide by it?",
    why="Adding up and dividing happen in one and the same loop.",
    denominator="running sum",
)
exercise.option(
    "divided_by_the_others",
    "Your numbers are divided by what the others sum to.",
    "Does a score's own power belong to the total?",
    why="Odds compare one with the others; a share compares it with all.",
    denominator="others",
)
exercise.option(
    "equal_scores_counted_once",
    "Your total counts equal scores once.",
    "How many shares do two equal scores get?",
    why="A set or a dictionary keeps one of each.",
    counted="each number once",
)
exercise.option(
    "first_score_not_counted",
    "Your total leaves the first score out.",
    "Which is the first number that range(1, n) gives?",
    why="Loops start at 1, as indices do in mathematics, MATLAB and R.",
    counted="all but the first",
)
exercise.option(
    "last_score_not_counted",
    "Your total leaves the last score out.",
    "Which is the last number that range(n) gives?",
    why="range(len(x) - 1) takes off the one that range leaves out already.",
    counted="all but the last",
)
exercise.option(
    "eps_in_denominator",
    "Your total is a little too large: something is added to it.",
    "Can a sum of powers of e ever be 0, so that it would need help?",
    why="A small number in the denominator is a habit from divisions that may meet 0.",
    added=1e-08,
)
exercise.option(
    "total_starts_at_one",
    "Your total is larger by 1 than it should be.",
    "With which number does a sum begin before anything is added?",
    why="The sigmoid's 1 + exp(x), or a product's beginning, is carried over.",
    added=1.0,
)
exercise.option(
    "rounded_to_two_digits",
    "Your numbers are rounded to two digits.",
    "How far is 0.67 from two thirds?",
    why="Results are rounded to make them look tidy, inside the function.",
    digits=2,
)
exercise.option(
    "rounded_to_four_digits",
    "Your numbers are rounded to four digits.",
    "How far is 0.6667 from two thirds?",
    why="Results are rounded to make them look tidy, inside the function.",
    digits=4,
)
exercise.option(
    "percentages",
    "Your numbers are percentages.",
    "If somebody gets everything, which number should stand for it?",
    why="Shares are mostly written in percent outside of mathematics.",
    factor=100,
)
exercise.option(
    "shares_sorted",
    "Your numbers are sorted, smallest first.",
    "To which score does your first share belong?",
    why="A sorted list is easier to read, and x is often sorted in examples.",
    order="rising",
)
exercise.option(
    "shares_sorted_downwards",
    "Your numbers are sorted, largest first.",
    "To which score does your first share belong?",
    why="The best score is wanted first.",
    order="falling",
)
exercise.option(
    "logarithms_returned",
    "Your numbers are logarithms.",
    "Between which two numbers does a share lie?",
    why="Losses want log-softmax, and many libraries offer both side by side.",
    returned="logarithms",
)
exercise.option(
    "complement_returned",
    "Your numbers are 1 minus the shares.",
    "Should a large score get a large share or a small one?",
    why="1 − p is copied from a formula for probabilities.",
    returned="what is left of 1",
)
exercise.option(
    "all_to_the_largest",
    "Your numbers are 1 for the largest score and 0 for all others.",
    "How large should the share of a score be that is almost the largest?",
    why="Softmax is taken for the maximum that its name speaks of.",
    returned="one for the largest",
)
exercise.option(
    "numpy_array",
    "Your numbers come in a NumPy array, not in a list.",
    "Which type does the docstring say that the result has?",
    why="np.exp(x) / np.exp(x).sum() is the best known form, and it returns an "
    "array even for a list.",
    returned="array",
)
exercise.option(
    "tuple_returned",
    "Your numbers come in a tuple, not in a list.",
    "Which type does the docstring say that the result has?",
    why="tuple(...) or a, b, c is typed where a list is promised.",
    returned="tuple",
)
exercise.option(
    "texts_returned",
    "Your numbers come as texts.",
    "Can one add up your shares?",
    why="A format such as f'{share:.2f}' is for printing.",
    returned="texts",
)
exercise.option(
    "scores_returned_as_well",
    "Your list holds pairs, a score and its share.",
    "How many numbers does the docstring promise per score?",
    why="The table of the lesson shows both side by side.",
    returned="pairs",
)
exercise.option(
    "list_in_a_list",
    "Your list of numbers lies in another list.",
    "How many pairs of brackets does the docstring's example have?",
    why="[[…]] is left over from a list of rows, or append is typed for extend.",
    returned="list in a list",
)
exercise.option(
    "total_returned_as_well",
    "Your result is a tuple of the list and the total.",
    "How many results does the docstring promise?",
    why="return shares, total hands on what was computed on the way.",
    returned="list and total",
)
exercise.option(
    "powers_of_the_scores",
    "Your powers are those of the scores, with e as the exponent; a negative score has "
    "no such power among the real numbers.",
    "In “e to the power of the score”, which of the two stands above the other?",
    why="`score ** math.e` has both numbers, in the wrong order.",
    exponent="e",
)
exercise.option(
    "first_share_only",
    "Your result is the first number alone.",
    "How often does your loop run before it returns?",
    why="A return that is indented one level too far ends the loop.",
    returned="first",
)
exercise.option(
    "last_share_only",
    "Your result is the last number alone.",
    "How many shares does the docstring promise?",
    why="return stands after a loop that keeps one number, not a list.",
    returned="last",
)
exercise.option(
    "total_returned",
    "Your result is the total.",
    "What is left to do with this number?",
    why="The sum is the step that takes thought, and the division is forgotten.",
    returned="sum",
)
exercise.option(
    "shares_written_into_x",
    "Your shares have replaced the scores in the caller's list.",
    "Whose list is x, and who may still need the scores?",
    why="x[i] = … looks like a local change, but a list is passed without a copy.",
    overwritten="x",
)
exercise.option(
    "powers_written_into_x",
    "Your powers have replaced the scores in the caller's list.",
    "Whose list is x, and who may still need the scores?",
    why="x[i] = … looks like a local change, but a list is passed without a copy.",
    overwritten="x, with the powers",
)
exercise.option(
    "scores_taken_out_of_x",
    "Your call empties the caller's list.",
    "Whose list is x, and who may still need the scores?",
    why="x.pop() takes a score out of the list that the caller holds.",
    overwritten="x, emptied",
)
exercise.option(
    "scores_sorted_in_x",
    "Your call sorts the caller's list.",
    "Whose list is x, and who may need its order?",
    why="x.sort() sorts the list itself; sorted(x) makes a new one.",
    overwritten="x, sorted",
)
exercise.option(
    "powers_of_quotients",
    "Your scores are divided by their sum first, and then go into the powers: "
    "nothing divides the powers.",
    "In which order does the recipe divide and take powers?",
    why="The two steps of the recipe come in the other order.",
    numerator="power of the quotient",
)
exercise.option(
    "distances_from_the_smallest",
    "Your numbers are how far each score is above the smallest one, divided by "
    "their sum: there are no powers.",
    "Which share does your smallest score get, and should any share be 0?",
    why="Subtracting the smallest score makes all numbers positive, or 0.",
    numerator="score above the smallest",
)
