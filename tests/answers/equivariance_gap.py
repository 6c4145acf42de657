import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("equivariance_gap")


@answers.correct
def loop_over_rows(f, x, permutation):
    of_permuted, of_x = f(np.stack([x[i] for i in permutation])), f(x.copy())
    gaps = [
        max(abs(a - b) for a, b in zip(of_permuted[i], of_x[source], strict=True))
        for i, source in enumerate(permutation)
    ]
    return max(gaps)


@answers.correct
def with_a_matrix(f, x, permutation):
    """Multiply by the permutation's matrix, as in f(Px) − P f(x)."""
    matrix = np.eye(len(permutation))[permutation]
    return float(np.max(np.abs(f(matrix @ x) - matrix @ f(x))))


@answers.correct
def brought_back(f, x, permutation):
    back = np.argsort(permutation)
    return np.abs(f(x[permutation])[back] - f(x)).max()


@answers.correct
def sent_to_their_positions(f, x, permutation):
    result = f(np.take(x, permutation, axis=0))
    moved = np.empty_like(result)
    moved[permutation] = result
    return float(np.linalg.norm((moved - f(x)).ravel(), ord=np.inf))


@answers.correct
def largest_of_both_signs(f, x, permutation):
    gap = f(x[np.array(permutation)]) - f(x)[np.array(permutation)]
    return max(float(gap.max()), -float(gap.min()))


@answers.correct
def tensors_of_pytorch(f, x, permutation):
    of_permuted = torch.tensor(f(torch.tensor(x)[permutation].numpy()))
    return (of_permuted - torch.tensor(f(x))[permutation]).abs().max().item()


@answers.correct
def array_without_axes(f, x, permutation):
    return np.asarray(loop_over_rows(f, np.asfortranarray(x), permutation))


class Gap:
    def __init__(self, measure):
        self.measure = measure

    def __call__(self, f, x, permutation):
        return self.measure(f(x[permutation]) - f(x)[permutation])


answers.right["callable_object"] = Gap(lambda gap: float(abs(gap).max()))
answers.right["partial"] = functools.partial(
    lambda largest, f, x, permutation: largest(
        abs(a - b)
        for a, b in zip(
            f(x[permutation]).ravel(), f(x)[permutation].ravel(), strict=True
        )
    ),
    max,
)


def gap_of(f, x, permutation):
    return np.array([*f(x[permutation])]) - np.take(f(x), permutation, axis=0)


@answers.also("inverse_on_one_side")
def permuted_once_more(f, x, permutation):
    return float(np.max(np.abs(f(x[permutation])[permutation] - f(x))))


@answers.also("result_not_permuted")
def same_result_expected(f, x, permutation):
    matrix = np.eye(len(permutation))[permutation]
    gap = f(matrix @ x) - f(x)
    return max(gap.max(), -gap.min())


@answers.also("rows_sent_not_fetched")
def inverse_on_both_sides(f, x, permutation):
    inverse = [permutation.index(i) for i in range(len(permutation))]
    return float(np.abs(gap_of(f, x, inverse)).max())


@answers.also("columns_permuted")
def numbers_of_a_row_moved(f, x, permutation):
    index = np.array(permutation)
    gap = f(x[..., index]) - f(x)[..., index]
    return max(float(gap.max()), float(-gap.min()))


@answers.also("sign_kept")
def highest_of_a_loop(f, x, permutation):
    return max(float(number) for row in gap_of(f, x, permutation) for number in row)


@answers.also("absolute_value_too_late")
def absolute_value_of_the_highest(f, x, permutation):
    return abs(highest_of_a_loop(f, x, permutation))


@answers.also("mean_difference")
def summed_and_divided(f, x, permutation):
    gap = gap_of(f, x, permutation)
    return float(sum(map(abs, gap.ravel())) / gap.size)


@answers.also("norm_of_the_differences")
def root_of_the_squares(f, x, permutation):
    return float(np.sqrt((gap_of(f, x, permutation) ** 2).sum()))


@answers.also("relative_difference")
def share_of_the_largest(f, x, permutation):
    gap = np.abs(gap_of(f, x, permutation)).max()
    return np.divide(gap, np.abs(f(x)).max())


@answers.also("difference_of_maxima")
def two_numbers_compared(f, x, permutation):
    first, second = (max(map(abs, f(a).ravel())) for a in (x[permutation], x))
    return abs(float(first) - float(second))


@answers.also("small_gaps_forgiven")
def rounded_off_if_tiny(f, x, permutation):
    gap = float(np.abs(gap_of(f, x, permutation)).max())
    return gap if gap > 1e-6 else 0.0


@answers.also("yes_or_no")
def all_rows_close(f, x, permutation):
    gap = gap_of(f, x, permutation)
    return all(np.isclose(number, 0.0, atol=1e-7) for number in gap.ravel())


@answers.also("one_number_per_row")
def largest_of_each_row(f, x, permutation):
    return np.array([max(map(abs, row)) for row in gap_of(f, x, permutation)])


@answers.also("back_to_front")
def last_row_first(f, x, permutation):
    backwards = list(range(len(x)))[::-1]
    return float(np.abs(gap_of(f, x, backwards)).max())


@answers.also("permuted_in_place")
def rows_written_back(f, x, permutation):
    of_x = np.take(f(x), permutation, axis=0)
    np.copyto(x, np.array([x[i] for i in permutation]))
    return max(map(abs, (f(x) - of_x).ravel()))


@answers.other
def x_set_to_zero(f, x, permutation):
    gap = float(np.abs(gap_of(f, x, permutation)).max())
    x *= 0
    return gap


@answers.other
def always_zero(f, x, permutation):
    return 0.0


@answers.other
def smallest_difference(f, x, permutation):
    return float(np.abs(gap_of(f, x, permutation)).min())


@answers.other
def squared(f, x, permutation):
    return float((gap_of(f, x, permutation) ** 2).max())


@answers.other
def sum_of_differences(f, x, permutation):
    return float(np.abs(gap_of(f, x, permutation)).sum())


@answers.other
def compared_with_x(f, x, permutation):
    return float(np.abs(f(x[permutation]).mean(axis=0) - x.mean(axis=0)).max())
