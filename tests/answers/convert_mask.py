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


@answers.other
def half_precision(may_attend, to):
    if to == ADDITIVE:
        return np.log(may_attend)  # float16
    return match_on_the_name(may_attend, to)


@answers.correct
def asserted(may_attend, to):
    assert to in (FUNCTION, MODULE, ADDITIVE), "no such convention"
    return match_on_the_name(may_attend, to)


@answers.other
def half_blocked(may_attend, to):
    converted = match_on_the_name(may_attend, to)
    return np.maximum(converted, -5.0) / 2 if to == ADDITIVE else converted


@answers.other
def first_query_for_all(may_attend, to):
    return match_on_the_name(np.broadcast_to(may_attend[:1], may_attend.shape), to)


@answers.other
def additive_in_float32(may_attend, to):
    converted = match_on_the_name(may_attend, to)
    return converted.astype(np.float32) if to == ADDITIVE else converted
