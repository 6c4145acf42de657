"""Cases and misconceptions of ``softmax_by_hand``."""

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


exercise.edits(
    """
powers_not_divided:
  | total = sum(powers)
  : return [power … -> return powers
  Your numbers are not divided by anything.
  ? What do your numbers sum to, and what should they sum to?
  # The loop that computes the powers is taken for the whole of the softmax.
scores_divided_by_their_sum:
  | powers = …
  : total = sum(powers)
  : return [power … -> return [score / sum(x) for score in x]
  Your numbers are scores divided by a sum of scores, without any powers.
  ? What becomes of a negative score in your version?
  # Softmax is taken for plain normalising, which is enough for counts.
scores_over_sum_of_powers:
  | [power / total for power in powers] -> [score / total for score in x]
  Your numbers above the fraction bar are the scores themselves; powers are below it
    only.
  ? What is the numerator of the formula, the score or something made from it?
  # The powers are computed for the total only, and the loop goes over x again.
squares_for_powers: math.exp(score) -> score ** 2
  Your shares are those of squared scores.
  ? Which number does the docstring raise to the power of the score?
  # 'Power' is read as the power of the score, score ** 2.
powers_of_two: math.exp(score) -> 2 ** score
  Your numbers are made of powers of 2.
  # Powers of 2 are easier in the head and look alike: they are positive too.
powers_of_ten: math.exp(score) -> 10 ** score
  Your numbers are made of powers of 10.
  # 1e3 is how Python writes a power of 10, and the e looks right.
e_with_four_digits: math.exp(score) -> 2.718 ** score
  Your numbers are made of powers of 2.718.
  ? How many digits does e have, and where does Python keep it?
  # The number e is typed in, with the digits that one remembers.
e_with_three_digits: math.exp(score) -> 2.72 ** score
  Your numbers are made of powers of 2.72.
negative_powers: math.exp(score) -> math.exp(-score)
  Your powers are those of −score: a larger score gets a smaller one.
  ? Which sign does the score have in the power?
  # In physics the same formula holds with a minus sign: exp(−E / T).
sizes_of_scores: math.exp(score) -> math.exp(abs(score))
  Your negative scores count like positive ones of the same size.
  ? Is e to the power of −2 large or small?
  # abs() is put in because shares have to be positive.
negative_scores_made_zero: math.exp(score) -> math.exp(max(score, 0))
  Your negative scores count like a score of 0.
  ? Is e to the power of −2 the same as e to the power of 0?
  # max(score, 0) is put in because shares have to be positive.
whole_part_of_the_score: math.exp(score) -> math.exp(int(score))
  Your scores lose what follows the decimal point.
  ? Which number is e to the power of 0.5?
  # int(score) is typed to count, or to take a power by repeated multiplication.
divided_by_largest_power: total = max(powers)
  Your numbers are divided by the largest of them.
  ? What would the shares have to be divided by to sum to 1?
  # Scaling by the largest value is the other common way of normalising.
divided_by_mean: total = sum(powers) / len(powers)
  Your numbers are divided by a mean, not by a sum.
  ? What should the shares sum to?
  # mean and sum are one word apart.
mean_of_powers: total = len(x)
  Your numbers are divided by the number of scores.
  # len(x) is typed for the total.
divided_by_sum_of_scores: total = sum(x)
  Your numbers are divided by the sum of the scores.
  ? Of which numbers is the total a sum?
  # sum(x) is typed while the powers have no name of their own yet.
divided_by_length: total = math.sqrt(sum((power * power for power in powers)))
  Your numbers are divided by the root of a sum of squares.
  ? What should the shares themselves sum to?
  # 'Normalise' mostly means to give a vector length 1.
power_of_the_sum: total = math.exp(sum(x))
  Your numbers are divided by a power of the summed scores.
  ? Which comes first in the formula, the sum or the power?
  # exp(sum(x)) and sum of exp(x) are taken for the same number.
running_total:
  | total = sum(powers)
  : return [power … ->
  :     return [power / sum(powers[:i + 1]) for i, power in enumerate(powers)]
  Your total for a score goes up to that score only.
  ? When is the total complete, and when do you divide by it?
  # Adding up and dividing happen in one and the same loop.
divided_by_the_others: power / total -> power / (total - power)
  Your numbers are divided by what the others sum to.
  ? Does a score's own power belong to the total?
  # Odds compare one with the others; a share compares it with all.
equal_scores_counted_once: sum(powers) -> sum(set(powers))
  Your total counts equal scores once.
  ? How many shares do two equal scores get?
  # A set or a dictionary keeps one of each.
first_score_not_counted: sum(powers) -> sum(powers[1:])
  Your total leaves the first score out.
  ? Which is the first number that range(1, n) gives?
  # Loops start at 1, as indices do in mathematics, MATLAB and R.
last_score_not_counted: sum(powers) -> sum(powers[:-1])
  Your total leaves the last score out.
  ? Which is the last number that range(n) gives?
  # range(len(x) - 1) takes off the one that range leaves out already.
eps_in_denominator: sum(powers) -> sum(powers) + 1e-08
  Your total is a little too large: something is added to it.
  ? Can a sum of powers of e ever be 0, so that it would need help?
  # A small number in the denominator is a habit from divisions that may meet 0.
total_starts_at_one: sum(powers) -> sum(powers, 1.0)
  Your total is larger by 1 than it should be.
  ? With which number does a sum begin before anything is added?
  # The sigmoid's 1 + exp(x), or a product's beginning, is carried over.
rounded_to_two_digits: power / total -> round(power / total, 2)
  Your numbers are rounded to two digits.
  ? How far is 0.67 from two thirds?
  # Results are rounded to make them look tidy, inside the function.
rounded_to_four_digits: power / total -> round(power / total, 4)
  Your numbers are rounded to four digits.
  ? How far is 0.6667 from two thirds?
percentages: power / total -> 100 * power / total
  Your numbers are percentages.
  ? If somebody gets everything, which number should stand for it?
  # Shares are mostly written in percent outside of mathematics.
shares_sorted: return sorted((power / total for power in powers))
  Your numbers are sorted, smallest first.
  ? To which score does your first share belong?
  # A sorted list is easier to read, and x is often sorted in examples.
shares_sorted_downwards:
  | return sorted((power / total for power in powers), reverse=True)
  Your numbers are sorted, largest first.
  # The best score is wanted first.
logarithms_returned: power / total -> math.log(power / total)
  Your numbers are logarithms.
  ? Between which two numbers does a share lie?
  # Losses want log-softmax, and many libraries offer both side by side.
complement_returned: power / total -> 1 - power / total
  Your numbers are 1 minus the shares.
  ? Should a large score get a large share or a small one?
  # 1 − p is copied from a formula for probabilities.
all_to_the_largest:
  | powers = …
  : total = sum(powers)
  : return [power … -> return [float(score == max(x)) for score in x]
  Your numbers are 1 for the largest score and 0 for all others.
  ? How large should the share of a score be that is almost the largest?
  # Softmax is taken for the maximum that its name speaks of.
numpy_array: return np.array([power / total for power in powers])
  Your numbers come in a NumPy array, not in a list.
  ? Which type does the docstring say that the result has?
  # np.exp(x) / np.exp(x).sum() is the best known form, and it returns an array even
    for a list.
tuple_returned: return tuple((power / total for power in powers))
  Your numbers come in a tuple, not in a list.
  # tuple(...) or a, b, c is typed where a list is promised.
texts_returned: power / total -> f'{power / total:.2f}'
  Your numbers come as texts.
  ? Can one add up your shares?
  # A format such as f'{share:.2f}' is for printing.
scores_returned_as_well:
  | return [(score, power / total) for score, power in zip(x, powers)]
  Your list holds pairs, a score and its share.
  ? How many numbers does the docstring promise per score?
  # The table of the lesson shows both side by side.
list_in_a_list: return [[power / total for power in powers]]
  Your list of numbers lies in another list.
  ? How many pairs of brackets does the docstring's example have?
  # [[…]] is left over from a list of rows, or append is typed for extend.
total_returned_as_well: return ([power / total for power in powers], total)
  Your result is a tuple of the list and the total.
  ? How many results does the docstring promise?
  # return shares, total hands on what was computed on the way.
powers_of_the_scores: math.exp(score) -> score ** math.e
  Your powers are those of the scores, with e as the exponent; a negative score has no
    such power among the real numbers.
  ? In “e to the power of the score”, which of the two stands above the other?
  # `score ** math.e` has both numbers, in the wrong order.
first_share_only: return powers[0] / total
  Your result is the first number alone.
  ? How often does your loop run before it returns?
  # A return that is indented one level too far ends the loop.
last_share_only: return powers[-1] / total
  Your result is the last number alone.
  ? How many shares does the docstring promise?
  # return stands after a loop that keeps one number, not a list.
total_returned: return total
  Your result is the total.
  ? What is left to do with this number?
  # The sum is the step that takes thought, and the division is forgotten.
shares_written_into_x:
  | return [power … ->
  :     x[:] = [power / total for power in powers]
  :     return x
  Your shares have replaced the scores in the caller's list.
  ? Whose list is x, and who may still need the scores?
  # x[i] = … looks like a local change, but a list is passed without a copy.
powers_written_into_x:
  | powers = … -> x[:] = [math.exp(score) for score in x]
  | sum(powers) -> sum(x)
  | in powers] -> in x]
  Your powers have replaced the scores in the caller's list.
scores_taken_out_of_x:
  | powers = … ->
  :     powers = []
  :     while x:
  :         powers.append(math.exp(x.pop(0)))
  Your call empties the caller's list.
  # x.pop() takes a score out of the list that the caller holds.
scores_sorted_in_x:
  | powers = … ->
  :     powers = [math.exp(score) for score in x]
  :     x.sort()
  Your call sorts the caller's list.
  ? Whose list is x, and who may need its order?
  # x.sort() sorts the list itself; sorted(x) makes a new one.
powers_of_quotients:
  | powers = …
  : total = sum(powers)
  : return [power … -> return [math.exp(score / sum(x)) for score in x]
  Your scores are divided by their sum first, and then go into the powers: nothing
    divides the powers.
  ? In which order does the recipe divide and take powers?
  # The two steps of the recipe come in the other order.
distances_from_the_smallest: math.exp(score) -> score - min(x)
  Your numbers are how far each score is above the smallest one, divided by their sum:
    there are no powers.
  ? Which share does your smallest score get, and should any share be 0?
  # Subtracting the smallest score makes all numbers positive, or 0.
""",
)
