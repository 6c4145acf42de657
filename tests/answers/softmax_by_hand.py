import functools
import math
from fractions import Fraction

import numpy as np

from tests.answers import Answers

answers = Answers("softmax_by_hand")


@answers.correct
def largest_score_taken_off_first(x):
    largest = max(x)
    powers = [math.exp(score - largest) for score in x]
    return [power / math.fsum(powers) for power in powers]


@answers.correct
def one_over_sum_of_ratios(x):
    return [1 / sum(math.exp(other - score) for other in x) for score in x]


@answers.correct
def by_the_logarithm_of_the_sum(x):
    logarithm = functools.reduce(np.logaddexp, x)
    return [math.exp(score - logarithm) for score in x]


@answers.correct
def numpy_made_a_list(x):
    return list(np.exp(x) / np.exp(x).sum())  # np.float64 is a float


@answers.correct
def exact_fractions(x):
    powers = [Fraction(math.exp(score)) for score in x]
    return [float(power / sum(powers)) for power in powers]


@answers.correct
def while_loop_that_prints(x):
    shares, total, i = [], sum(map(math.exp, x)), 0
    while i < len(x):
        shares += [math.e ** x[i] / total]
        print(i, shares)
        i += 1
    return shares


class Shares:
    def __call__(self, x):
        return self.normalised([*map(math.exp, x)])

    def normalised(self, powers):
        return [power / sum(powers) for power in powers]


answers.right["callable_object"] = Shares()
answers.right["partial"] = functools.partial(
    lambda exponential, x: [exponential(s) / sum(map(exponential, x)) for s in x],
    math.exp,
)


@answers.also("powers_not_divided")
def numpy_powers(x):
    return np.exp(x).tolist()


@answers.also("scores_divided_by_their_sum")
def array_over_its_sum(x):
    scores = np.array(x)
    return list(scores / scores.sum())


@answers.also("scores_over_sum_of_powers")
def scores_over_total_loop(x):
    total = 0.0
    for score in x:
        total += math.e**score
    return [*map(total.__rtruediv__, x)]


@answers.also("powers_of_two")
def binary_powers(x):
    powers = np.exp2(x)
    return (powers / powers.sum()).tolist()


@answers.also("e_with_four_digits")
def exponents_slightly_off(x):
    powers = np.exp(np.array(x) * math.log(2.718))
    return (powers / powers.sum()).tolist()


@answers.also("divided_by_largest_power")
def exponentials_of_the_distance(x):
    return np.exp(np.subtract(x, max(x))).tolist()


@answers.also("power_of_the_sum")
def product_of_powers(x):
    powers = np.exp(x)
    return list(powers / np.prod(powers))


@answers.also("running_total")
def divides_while_adding(x):
    total, shares = 0.0, []
    for score in x:
        power = math.exp(score)
        total += power
        shares.append(power / total)
    return shares


@answers.also("negative_powers")
def inverse_powers(x):
    inverse = 1 / np.exp(x)
    return (inverse / inverse.sum()).tolist()


@answers.also("rounded_to_two_digits")
def numpy_rounds(x):
    powers = np.exp(x)
    return np.round(powers / powers.sum(), 2).tolist()


@answers.also("percentages")
def hundred_over_total(x):
    per_cent = 100 / sum(math.exp(score) for score in x)
    return [per_cent * math.exp(score) for score in x]


@answers.also("eps_in_denominator")
def total_starts_at_eps(x):
    total = 1e-8
    for score in x:
        total += math.exp(score)
    return [math.exp(score) / total for score in x]


@answers.also("shares_written_into_x")
def slice_is_replaced(x):
    total = math.fsum(math.exp(score) for score in x)
    x[:] = [math.exp(score) / total for score in x]
    return x


@answers.also("numpy_array")
def list_made_an_array(x):
    total = sum(math.exp(score) for score in x)
    return np.array([math.exp(score) / total for score in x])


@answers.other
def all_to_the_largest(x):
    return [float(score == max(x)) for score in x]


@answers.other
def divided_by_the_others(x):
    total = sum(math.exp(score) for score in x)
    return [math.exp(score) / (total - math.exp(score) + 1) for score in x]


@answers.other
def mean_of_powers(x):
    return [math.exp(score) / len(x) for score in x]


@answers.other
def sorted_shares(x):
    total = sum(math.exp(score) for score in x)
    return sorted(math.exp(score) / total for score in x)


@answers.other
def squares_for_powers(x):
    return [score**2 / sum(other**2 for other in x) for score in x]


@answers.other
def powers_written_into_x(x):
    for i, score in enumerate(x):
        x[i] = math.exp(score)
    return [power / sum(x) for power in x]
