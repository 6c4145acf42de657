import functools
import itertools
from collections import Counter, defaultdict

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


@answers.also("mean_over_links")
def mean_of_indexed_weights(weights, links):
    refuse(links)
    rows, columns = zip(*links, strict=True)
    return weights[list(rows), list(columns)].mean().item()


@answers.also("mean_over_links_unchecked")
def added_in_a_loop(weights, links):
    total = 0
    for target, source in links:
        total += weights[target][source].item()
    return total / len(links)


@answers.also("mean_over_all_rows")
def masses_of_all_rows(weights, links):
    refuse(links)
    masses = torch.zeros(len(weights))
    for target, source in links:
        masses[target] += weights[target, source]
    return masses.mean().item()


@answers.also("share_of_hits")
def argmax_among_the_links(weights, links):
    refuse(links)
    largest = weights.argmax(dim=1).tolist()
    hits = [any((i, j) == (t, largest[t]) for i, j in links) for t in targets(links)]
    return sum(hits) / len(hits)


@answers.also("links_transposed")
def source_before_target(weights, links):
    refuse(links)
    total = 0.0
    for target, source in links:
        total += weights[source, target].item()
    return total / len(targets(links))


@answers.also("sum_without_a_mean")
def all_added_up(weights, links):
    return by_target(weights, links, sum) * len(targets(links))


@answers.also("best_link_only")
def largest_of_each(weights, links):
    return by_target(weights, links, max)


@answers.also("last_link_only")
def one_source_token_each(weights, links):
    return by_target(weights, links, lambda weights_of_token: weights_of_token[-1])


@answers.also("mean_within_the_token")
def mean_of_means(weights, links):
    return by_target(weights, links, np.mean).item()


@answers.also("every_row_at_every_column")
def block_of_rows_and_columns(weights, links):
    refuse(links)
    columns = {j for _, j in links}
    pairs = itertools.product(targets(links), columns)
    return sum(weights[pair].item() for pair in pairs) / len(targets(links))


@answers.also("mean_over_source_tokens")
def divided_by_columns(weights, links):
    refuse(links)
    columns = Counter(source for _, source in links)
    return sum(weights[i][j].item() for i, j in links) / len(columns)


@answers.also("mean_of_largest_weights")
def how_sharp(weights, links):
    refuse(links)
    return float(np.mean([max(weights[i].tolist()) for i in targets(links)]))


@answers.also("counted_from_one")
def one_row_and_column_before(weights, links):
    refuse(links)
    moved = weights.roll((1, 1), dims=(0, 1))
    return sum(moved[i, j].item() for i, j in links) / len(targets(links))


@answers.also("zero_for_no_links")
def early_return(weights, links):
    return two_lists_of_indices(weights, links) if links else 0.0


@answers.also("links_used_up")
def popped(weights, links):
    mass = two_lists_of_indices(weights, links)
    while isinstance(links, list) and links:
        links.pop()
    return mass


@answers.also("still_a_tensor")
def mean_without_item(weights, links):
    refuse(links)
    rows, columns = (list(indices) for indices in zip(*links, strict=True))
    return weights[rows, columns].sum() / len(set(rows))


@answers.other
def divides_by_zero(weights, links):
    mass = sum(weights[i, j].item() for i, j in links)
    return mass / len(targets(links))


@answers.other
def first_row_only(weights, links):
    refuse(links)
    return weights[links[0]].item()


@answers.other
def percent(weights, links):
    return 100 * two_lists_of_indices(weights, links)


@answers.other
def mass_beside_the_links(weights, links):
    return 1 - two_lists_of_indices(weights, links)


@answers.other
def product_of_masses(weights, links):
    return by_target(
        weights, links, lambda weights_of_token: float(np.prod(weights_of_token))
    )


@answers.other
def list_of_masses(weights, links):
    refuse(links)
    return [sum(weights[i, j].item() for i, j in links if i == t) for t in range(2)]
