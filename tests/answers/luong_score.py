import functools

import numpy as np
import torch
from torch import nn

from tests.answers import Answers

answers = Answers("luong_score")


def refuse(kind, w):
    """Raise what the contract promises."""
    if kind == "dot" and w is None:
        return
    if kind == "general" and w is not None:
        return
    raise ValueError("no such score")


def bilinear(state, keys, w):
    return torch.einsum("...a,ab,...jb->...j", state, w, keys)


def right_matrix(keys, w):
    return torch.eye(keys.shape[-1], dtype=keys.dtype) if w is None else w


@answers.correct
def einsum(state, keys, kind, w=None):
    refuse(kind, w)
    if kind == "dot":
        return torch.einsum("...c,...jc->...j", state, keys)
    return bilinear(state, keys, w)


@answers.correct
def keys_projected(state, keys, kind, w=None):
    if kind == "dot":
        if w is not None:
            raise ValueError("dot takes no w")
        projected = keys
    elif kind == "general":
        if w is None:
            raise ValueError("general needs w")
        projected = nn.functional.linear(keys, w)
    else:
        raise ValueError(kind)
    return (projected * state[..., None, :]).sum(dim=-1)


@answers.correct
def match_statement(state, keys, kind, w=None):
    match kind, w:
        case "dot", None:
            query = state
        case "general", torch.Tensor():
            query = torch.matmul(state, w)
        case _:
            raise ValueError(f"{kind} with {w}")
    return torch.matmul(query[..., None, :], keys.mT).squeeze(-2)


@answers.correct
def loop_over_source_tokens(state, keys, kind, w=None):
    refuse(kind, w)
    query = state if kind == "dot" else state @ w
    rows = [(query * keys[..., j, :]).sum(-1) for j in range(keys.shape[-2])]
    return torch.stack(rows, dim=-1)


@answers.correct
def numpy_inside(state, keys, kind, w=None):
    refuse(kind, w)
    query = state.numpy() if w is None else state.numpy() @ w.numpy()
    return torch.from_numpy(np.einsum("...c,...jc->...j", query, keys.numpy()))


@answers.correct
def layer_of_pytorch(state, keys, kind, w=None):
    refuse(kind, w)
    layer = nn.Bilinear(state.shape[-1], keys.shape[-1], 1, bias=False)
    layer.weight.data = right_matrix(keys, w)[None].contiguous()
    many = state.unsqueeze(-2).expand(*keys.shape[:-1], -1).contiguous()
    return layer(many, keys.contiguous())[..., 0]


@answers.correct
def more_precise_than_asked(state, keys, kind, w=None):
    refuse(kind, w)
    return bilinear(state.double(), keys.double(), right_matrix(keys, w).double())


@answers.correct
def error_of_a_special_kind(state, keys, kind, w=None):
    class NoSuchScore(ValueError):
        pass

    try:
        refuse(kind, w)
    except ValueError as error:
        raise NoSuchScore(kind) from error
    scores = bilinear(state, keys, right_matrix(keys, w))
    return torch.stack([scores, scores], dim=-1)[..., 0]


class Score:
    def __init__(self, kinds):
        self.kinds = kinds

    def __call__(self, state, keys, kind, w=None):
        if self.kinds.get(kind) is not (w is not None):
            raise ValueError(kind)
        return bilinear(state, keys, right_matrix(keys, w))


answers.right["callable_object"] = Score({"dot": False, "general": True})
answers.right["partial"] = functools.partial(
    lambda score, *arguments: score(*arguments), keys_projected
)


@answers.also("divided_by_root_of_d_k")
def smaller_keys(state, keys, kind, w=None):
    return einsum(state, keys * keys.shape[-1] ** -0.5, kind, w)


@answers.also("softmax_applied")
def shares(state, keys, kind, w=None):
    scores = einsum(state, keys, kind, w)
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()


@answers.also("kind_ignored")
def decided_by_w(state, keys, kind, w=None):
    if w is not None:
        return bilinear(state, keys, w)
    return torch.einsum("...c,...jc->...j", state, keys)


@answers.also("w_transposed")
def linear_of_pytorch(state, keys, kind, w=None):
    refuse(kind, w)
    query = state if w is None else nn.functional.linear(state, w)
    return (query.unsqueeze(-2) * keys).sum(dim=-1)


@answers.also("w_ignored")
def dot_in_both_branches(state, keys, kind, w=None):
    refuse(kind, w)
    return (keys @ state[..., None])[..., 0]


@answers.also("tanh_applied")
def sigmoid_stretched(state, keys, kind, w=None):
    return 2 * torch.sigmoid(2 * einsum(state, keys, kind, w)) - 1


@answers.also("mean_of_products")
def averaged(state, keys, kind, w=None):
    refuse(kind, w)
    query = state @ right_matrix(keys, w)
    return torch.mean(query.unsqueeze(-2) * keys, dim=-1)


@answers.also("cosines")
def similarity_of_pytorch(state, keys, kind, w=None):
    refuse(kind, w)
    query = state @ right_matrix(keys, w)
    return torch.cosine_similarity(query.unsqueeze(-2), keys, dim=-1)


@answers.also("axis_counted_from_the_front")
def third_axis(state, keys, kind, w=None):
    refuse(kind, w)
    products = (state @ right_matrix(keys, w)).unsqueeze(-2) * keys
    return torch.sum(products, 2)


@answers.also("every_axis_of_one_dropped")
def only_long_axes(state, keys, kind, w=None):
    scores = einsum(state, keys, kind, w)
    return scores.reshape([size for size in scores.shape if size > 1])


@answers.also("nothing_for_other_kinds")
def two_branches_without_a_third(state, keys, kind, w=None):
    if kind == "dot":
        refuse(kind, w)
        return torch.einsum("...c,...jc->...j", state, keys)
    elif kind == "general":
        refuse(kind, w)
        return bilinear(state, keys, w)


@answers.also("kinds_in_a_dictionary")
def lambdas_by_kind(state, keys, kind, w=None):
    known = {"dot": lambda: state, "general": lambda: state @ w}
    find = known[kind]
    refuse(kind, w)
    return torch.einsum("...c,...jc->...j", find(), keys)


@answers.also("w_taken_with_dot")
def w_only_read_for_general(state, keys, kind, w=None):
    refuse(kind, None if kind == "dot" else w)
    query = state if kind == "dot" else state @ w
    return (keys * query[..., None, :]).sum(dim=-1)


@answers.also("keys_overwritten")
def multiplied_in_place(state, keys, kind, w=None):
    refuse(kind, w)
    keys.mul_((state @ right_matrix(keys, w))[..., None, :])
    return torch.einsum("...jc->...j", keys)


@answers.other
def negative_distances(state, keys, kind, w=None):
    refuse(kind, w)
    query = state @ right_matrix(keys, w)
    return -((query.unsqueeze(-2) - keys) ** 2).sum(dim=-1)


@answers.other
def divided_by_root_of_d_h(state, keys, kind, w=None):
    return einsum(state, keys, kind, w) / state.shape[-1] ** 0.5


@answers.other
def assertions_for_errors(state, keys, kind, w=None):
    assert kind in ("dot", "general")
    assert (kind == "general") == (w is not None)
    return einsum(state, keys, kind, w)


@answers.other
def unknown_kinds_taken_as_dot(state, keys, kind, w=None):
    if kind not in ("dot", "general"):
        return einsum(state, state[..., None, :], "dot")
    return einsum(state, keys, kind, w)


@answers.other
def zeros_written_into_the_state(state, keys, kind, w=None):
    scores = einsum(state, keys, kind, w)
    state.zero_()
    return scores


@answers.other
def sorted_by_score(state, keys, kind, w=None):
    return einsum(state, keys, kind, w).sort(dim=-1).values
