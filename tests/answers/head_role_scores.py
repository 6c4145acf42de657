import functools
import math

import torch

from tests.answers import Answers

answers = Answers("head_role_scores")


def rarest_of(is_separator, frequencies):
    counts = frequencies.tolist()
    tokens = [i for i, is_one in enumerate(is_separator.tolist()) if not is_one]
    return min(tokens, key=lambda i: counts[i])


@answers.correct
def diagonals(weights, is_separator, frequencies):
    """Cut neighbours out of two diagonals, whose queries are known."""
    tokens = ~is_separator
    rows = weights[..., tokens, :]
    return {
        "previous": weights.diagonal(-1, -2, -1)[..., tokens[1:]].mean(-1),
        "next": weights.diagonal(1, -2, -1)[..., tokens[:-1]].mean(-1),
        "same": weights.diagonal(0, -2, -1)[..., tokens].mean(-1),
        "separator": (rows * is_separator).sum(-1).mean(-1),
        "rarest": rows[..., rarest_of(is_separator, frequencies)].mean(-1),
    }


@answers.correct
def masks_of_pairs(weights, is_separator, frequencies):
    """Return for each role which pairs of a query and a key count."""
    position = torch.arange(len(is_separator))
    query, key = position[:, None], position[None, :]
    is_rarest = position == rarest_of(is_separator, frequencies)
    pairs = {
        "rarest": is_rarest[None, :].expand(len(position), -1),
        "separator": is_separator[None, :].expand(len(position), -1),
        "same": key == query,
        "next": key == query + 1,
        "previous": key == query - 1,
    }
    scores = {}
    for role, counts in pairs.items():
        has_one = counts.any(-1) | (role == "separator")
        n_queries = (has_one & ~is_separator).sum()
        counts = counts & ~is_separator[:, None]
        scores[role] = (weights * counts).sum((-2, -1)) / n_queries
    return scores


@answers.correct
def one_query_after_another(weights, is_separator, frequencies):
    n = len(is_separator)
    of_role = {role: [] for role in ("same", "previous", "next", "separator", "rarest")}
    rarest = rarest_of(is_separator, frequencies)
    for i in range(n):
        if is_separator[i]:
            continue
        if i:
            of_role["previous"].append(weights[..., i, i - 1])
        if i + 1 < n:
            of_role["next"].append(weights[..., i, i + 1])
        of_role["same"].append(weights[..., i, i])
        others = weights[..., i, is_separator]
        of_role["separator"].append(others.sum(dim=-1))
        of_role["rarest"].append(weights[..., i, rarest])
    return {role: sum(each) / len(each) for role, each in of_role.items()}


@answers.correct
def numpy_inside(weights, is_separator, frequencies):
    rows, separators = weights.numpy(), is_separator.numpy()
    (queries,) = (~separators).nonzero()
    behind, front = queries[queries < len(separators) - 1], queries[queries > 0]
    picked = {
        "previous": rows[..., front, front - 1],
        "next": rows[..., behind, behind + 1],
        "same": rows[..., queries, queries],
        "separator": 1 - rows[..., queries, :][..., ~separators].sum(-1),
        "rarest": rows[..., queries, rarest_of(is_separator, frequencies)],
    }
    return {role: torch.as_tensor(each.mean(-1)) for role, each in picked.items()}


@answers.correct
def heads_one_by_one(weights, is_separator, frequencies):
    n = weights.shape[-1]
    heads = [
        diagonals(head, is_separator, frequencies) for head in weights.reshape(-1, n, n)
    ]
    return {
        role: torch.stack([head[role] for head in heads]).reshape(weights.shape[:-2])
        for role in heads[0]
    }


class Scores:
    def __call__(self, weights, is_separator, frequencies):
        return masks_of_pairs(weights, is_separator, frequencies)


answers.right["callable_object"] = Scores()
answers.right["partial"] = functools.partial(
    lambda function, *arguments: function(*arguments), diagonals
)


@answers.also("wrapped_around")
def rolled(weights, is_separator, frequencies):
    right = diagonals(weights, is_separator, frequencies)
    for role, shift in {"previous": 1, "next": -1}.items():
        moved = weights.roll(shift, dims=-1).diagonal(0, -2, -1)
        right[role] = moved[..., ~is_separator].mean(-1)
    return right


@answers.also("queries_and_keys_exchanged")
def columns(weights, is_separator, frequencies):
    return masks_of_pairs(weights.transpose(-2, -1), is_separator, frequencies)


@answers.also("separators_counted_as_queries")
def whole_diagonals(weights, is_separator, frequencies):
    means = {
        role: weights.diagonal(offset, -2, -1).mean(-1)
        for role, offset in {"previous": -1, "next": 1, "same": 0}.items()
    }
    means["separator"] = weights[..., is_separator].sum(-1).mean(-1)
    rarest = rarest_of(is_separator, frequencies)
    return {**means, "rarest": weights[..., rarest].mean(-1)}


@answers.other
def previous_for_next(weights, is_separator, frequencies):
    scores = diagonals(weights, is_separator, frequencies)
    return {**scores, "next": scores["previous"]}


@answers.other
def entropy_of_rows(weights, is_separator, frequencies):
    scores = diagonals(weights, is_separator, frequencies)
    entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1).mean(-1)
    return {**scores, "same": entropy / math.log(weights.shape[-1])}


@answers.other
def rarest_missing(weights, is_separator, frequencies):
    scores = diagonals(weights, is_separator, frequencies)
    return {role: scores[role] for role in scores if role != "rarest"}


@answers.other
def rarest_by_weight(weights, is_separator, frequencies):
    scores = diagonals(weights, is_separator, frequencies)
    shares = torch.where(is_separator, 0.0, 1 / (1 + frequencies))
    shares = shares / shares.sum()
    on_rare = weights[..., ~is_separator, :] @ shares.to(weights.dtype)
    return {**scores, "rarest": on_rare.mean(-1)}
