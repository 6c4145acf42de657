import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("convert_mask")

FUNCTION, MODULE, ADDITIVE = (
    "scaled_dot_product_attention",
    "MultiheadAttention",
    "additive",
)


@answers.correct
def match_on_the_name(may_attend, to):
    match to:
        case "scaled_dot_product_attention":
            return np.array(may_attend)
        case "MultiheadAttention":
            return np.logical_not(may_attend)
        case "additive":
            numbers = np.zeros(may_attend.shape)
            numbers[~may_attend] = -np.inf
            return numbers
    raise ValueError(to)


@answers.correct
def dictionary_of_functions(may_attend, to):
    makers = {
        FUNCTION: lambda: may_attend,
        MODULE: lambda: may_attend ^ True,
        ADDITIVE: lambda: np.log(may_attend.astype(float)),
    }
    if to not in makers:
        raise ValueError("no such convention")
    return makers[to]()


@answers.correct
def entry_by_entry(may_attend, to):
    if to == FUNCTION:
        table = {True: True, False: False}
    elif to == MODULE:
        table = {True: False, False: True}
    elif to == ADDITIVE:
        table = {True: 0.0, False: -np.inf}
    else:
        raise ValueError
    flat = [table[may] for may in may_attend.ravel().tolist()]
    return np.array(flat).reshape(may_attend.shape)


@answers.correct
def positions_in_a_pair(may_attend, to):
    pairs = ([False, True], [True, False], [-np.inf, 0.0])
    names = (FUNCTION, MODULE, ADDITIVE)
    return np.array(pairs[names.index(to)])[may_attend.astype(int)]


@answers.correct
def torch_and_back(may_attend, to):
    allowed = torch.from_numpy(may_attend.copy())
    if to == ADDITIVE:
        numbers = torch.zeros(allowed.shape, dtype=torch.float64)
        return numbers.masked_fill(~allowed, float("-inf")).numpy()
    if to not in (FUNCTION, MODULE):
        raise ValueError(f"unknown: {to}")
    return (allowed if to == FUNCTION else ~allowed).numpy()


@answers.correct
def columns_first_in_memory(may_attend, to):
    return np.asfortranarray(match_on_the_name(may_attend, to))


@answers.correct
def own_kind_of_value_error(may_attend, to):
    class UnknownConvention(ValueError):
        pass

    if to == FUNCTION:
        return may_attend == 1
    if to == MODULE:
        return may_attend == 0
    if to == ADDITIVE:
        return np.where(may_attend, -0.0, -np.inf)
    raise UnknownConvention(to)


class Converter:
    def __init__(self, blocked):
        self.blocked = blocked

    def __call__(self, may_attend, to):
        if to == ADDITIVE:
            return np.choose(may_attend, (self.blocked, 0.0))
        return match_on_the_name(may_attend, to)


answers.right["callable_object"] = Converter(-np.inf)
answers.right["partial"] = functools.partial(
    lambda convert, may_attend, to: convert(may_attend, to), positions_in_a_pair
)


@answers.also("conventions_exchanged")
def turned_for_the_function(may_attend, to):
    if to in (FUNCTION, MODULE):
        return may_attend != (to == FUNCTION)
    return match_on_the_name(may_attend, to)


@answers.also("one_meaning_of_true")
def as_it_is_for_both(may_attend, to):
    if to in (FUNCTION, MODULE):
        return may_attend.copy()
    return match_on_the_name(may_attend, to)


@answers.also("one_meaning_of_false")
def turned_for_both(may_attend, to):
    if to in (FUNCTION, MODULE):
        return may_attend == 0
    return match_on_the_name(may_attend, to)


@answers.also("additive_turned_round")
def logarithm_of_the_blocked(may_attend, to):
    if to == ADDITIVE:
        return np.log(1.0 - may_attend)
    return entry_by_entry(may_attend, to)


@answers.also("additive_minus_a_billion")
def billion_times_blocked(may_attend, to):
    if to == ADDITIVE:
        return (1.0 - may_attend) * -1e9
    return entry_by_entry(may_attend, to)


@answers.also("additive_logarithm_of_almost_zero")
def logarithm_of_two_numbers(may_attend, to):
    if to == ADDITIVE:
        return np.log([1e-9, 1 + 1e-9])[may_attend.astype(int)]
    return entry_by_entry(may_attend, to)


@answers.also("additive_zero_times_infinity")
def nan_where_allowed(may_attend, to):
    if to == ADDITIVE:
        return np.where(may_attend, np.nan, -np.inf)
    return entry_by_entry(may_attend, to)


@answers.also("additive_ones_and_zeros")
def one_point_zero(may_attend, to):
    if to == ADDITIVE:
        return 1.0 * may_attend
    return entry_by_entry(may_attend, to)


@answers.also("additive_plus_infinity")
def minus_the_logarithm(may_attend, to):
    if to == ADDITIVE:
        return -np.log(may_attend.astype(float))
    return entry_by_entry(may_attend, to)


@answers.also("additive_booleans")
def cast_to_the_dtype_of_the_mask(may_attend, to):
    return match_on_the_name(may_attend, to).astype(may_attend.dtype)


@answers.also("anything_else_is_additive")
def else_without_a_question(may_attend, to):
    if to == FUNCTION:
        return may_attend.copy()
    if to == MODULE:
        return ~may_attend
    return np.log(may_attend.astype(float))


@answers.also("key_error")
def pair_from_a_dictionary(may_attend, to):
    pairs = {FUNCTION: (True, False), MODULE: (False, True), ADDITIVE: (0.0, -np.inf)}
    return np.where(may_attend, *pairs[to])


@answers.also("turned_round_in_place")
def written_into_the_mask(may_attend, to):
    if to == MODULE:
        return np.logical_not(may_attend, out=may_attend)
    return entry_by_entry(may_attend, to)


@answers.other
def no_error_at_all(may_attend, to):
    return match_on_the_name(may_attend, to) if to in (FUNCTION, MODULE) else None


@answers.other
def always_as_it_is(may_attend, to):
    return may_attend.copy()


@answers.other
def minus_ten_thousand(may_attend, to):
    if to == ADDITIVE:
        return np.where(may_attend, 0.0, -1e4)
    return match_on_the_name(may_attend, to)


@answers.other
def whole_numbers(may_attend, to):
    converted = match_on_the_name(may_attend, to)
    return converted.astype(int) if to == MODULE else converted


@answers.other
def half_precision(may_attend, to):
    if to == ADDITIVE:
        return np.log(may_attend)  # float16
    return match_on_the_name(may_attend, to)


@answers.other
def asserted(may_attend, to):
    assert to in (FUNCTION, MODULE, ADDITIVE), "no such convention"
    return match_on_the_name(may_attend, to)
