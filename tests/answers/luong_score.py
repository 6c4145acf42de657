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


@answers.other
def negative_distances(state, keys, kind, w=None):
    refuse(kind, w)
    query = state @ right_matrix(keys, w)
    return -((query.unsqueeze(-2) - keys) ** 2).sum(dim=-1)


@answers.correct
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
