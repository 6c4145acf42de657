import functools
import itertools
from collections import defaultdict

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("alignment_mass")


def refuse(links):
    if len(links) == 0:
        raise ValueError("nothing to measure")


def targets(links):
    return sorted({link[0] for link in links})


@answers.correct
def table_of_links(weights, links):
    refuse(links)
    right = torch.zeros_like(weights)
    for target, source in links:
        right[target, source] = 1
    mass = (weights * right).sum(dim=1)
    return mass[right.any(dim=1)].mean().item()


@answers.correct
def grouped_by_target(weights, links):
    refuse(links)
    masses = []
    for target, group in itertools.groupby(sorted(links), key=lambda link: link[0]):
        masses.append(sum(weights[target][source].item() for _, source in group))
    return sum(masses) / len(masses)


@answers.correct
def two_lists_of_indices(weights, links):
    refuse(links)
    rows, columns = (list(indices) for indices in zip(*links, strict=True))
    return float(weights[rows, columns].sum() / len(set(rows)))


@answers.correct
def numpy_inside(weights, links):
    refuse(links)
    indices = np.array(links)
    mass = weights.detach().numpy().astype(float)[indices[:, 0], indices[:, 1]].sum()
    return mass / len(np.unique(indices[:, 0]))


@answers.correct
def dictionary_of_masses(weights, links):
    refuse(links)
    masses = defaultdict(float)
    for target, source in links:
        masses[target] += weights.tolist()[target][source]
    return float(np.mean([*masses.values()]))


@answers.correct
def one_less_the_wrong_weight(weights, links):
    refuse(links)
    wrong = weights.double().clone()
    for target, source in links:
        wrong[target, source] = 0
    rest = wrong[targets(links)].sum(dim=1)
    return float((weights.double()[targets(links)].sum(dim=1) - rest).mean())


@answers.correct
def scatter(weights, links):
    refuse(links)
    rows, columns = torch.tensor([*links]).T
    mass = torch.zeros(len(weights)).index_add(0, rows, weights[rows, columns])
    return mass[rows.unique()].mean().item()


class Mass:
    def __call__(self, weights, links):
        refuse(links)
        each = [weights[link].item() for link in set(links)]
        return sum(each) / len(targets(links))


answers.right["callable_object"] = Mass()
answers.right["partial"] = functools.partial(
    lambda measure, *arguments: measure(*arguments), two_lists_of_indices
)


def by_target(weights, links, combine):
    """Combine each target token's weights to a number; give the mean of these."""
    refuse(links)
    combined = [
        combine([weights[i, j].item() for i, j in links if i == target])
        for target in targets(links)
    ]
    return sum(combined) / len(combined)


@answers.other
def first_row_only(weights, links):
    refuse(links)
    return weights[links[0]].item()


@answers.other
def product_of_masses(weights, links):
    return by_target(
        weights, links, lambda weights_of_token: float(np.prod(weights_of_token))
    )


@answers.other
def links_of_a_token_multiplied_by_their_number(weights, links):
    return by_target(weights, links, lambda own: len(own) * sum(own))
