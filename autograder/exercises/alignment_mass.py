"""Cases and misconceptions of ``alignment_mass``."""

from itertools import groupby

import torch

from autograder import Exercise
from course_lib.nn.sequence_to_sequence import alignment_mass

exercise = Exercise(
    alignment_mass, lesson="08_sequence_to_sequence", minutes=10, difficulty=1
)


@exercise.spec
def spec(weights, links):
    if len(links) == 0:
        raise ValueError("no links")
    table, masses = weights.tolist(), []
    for i in range(len(table)):
        own = [table[i][j] for target, j in links if target == i]
        if own:
            masses.append(sum(own))
    return sum(masses) / len(masses)


def table(rng, n=5, m=7):
    """Draw weights: rows of positive numbers that sum to 1."""
    numbers = rng.random(size=(n, m)) + 0.05
    return torch.from_numpy(numbers / numbers.sum(axis=1, keepdims=True)).float()


@exercise.usual
def usual(rng):
    links = [(0, 2), (1, 0), (1, 3), (3, 4), (3, 1), (3, 2), (4, 4)]
    return table(rng), links


@exercise.case("Three target tokens, two of them with links, give 0.75", weight=0.5)
def small_example_by_hand(student, rng):
    rows = [[0.75, 0.25, 0.0], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    links = [(0, 0), (2, 1), (2, 2)]
    student.expect(student(torch.tensor(rows), links), (0.75 + (0.5 + 0.25)) / 2)
    student.agrees(table(rng, 3, 3), links)


@exercise.case(
    "Each target token counts once, however many links it has, however little weight",
    weight=2.5,
)
def several_links_of_a_token(student, rng):
    student.agrees(table(rng), [(0, 2), (1, 0), (1, 3), (3, 4), (3, 1), (3, 2)])
    weights = table(rng)
    weights[1, 2] = 0.0  # the only source token of target token 1
    student.agrees(weights, [(0, 2), (1, 2), (3, 4), (3, 1)])


@exercise.case("With as many target as source tokens, rows are still the target")
def square_table(student, rng):
    student.agrees(table(rng, 4, 4), [(0, 1), (1, 3), (1, 0), (3, 2)])


@exercise.case(
    "Attention that lies wholly on the right tokens gives 1", weight=0.5, visible=False
)
def all_right(student, rng):
    weights = torch.tensor([[0.0, 1, 0], [0.5, 0, 0.5], [0, 0, 1], [1, 0, 0]])
    student.expect(student(weights, [(0, 1), (1, 2), (1, 0), (3, 0)]), 1.0)


@exercise.case("The links may come in any order, as lists or as tuples", weight=1.5)
def any_order_of_links(student, rng):
    links = [(4, 6), (0, 1), (2, 5), (0, 0), (4, 2)]
    weights = table(rng)
    student.agrees(weights, links)
    student.agrees(weights, tuple(sorted(links)))


@exercise.case("The weights and the links are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(table(rng, 3, 4), [(0, 1), (0, 2), (2, 0), (1, 3)])


@exercise.right_answer
def masses(weights, links):
    if not links:
        raise ValueError("links is empty: there is nothing to measure")
    masses = {}
    for target, source in links:
        masses[target] = masses.get(target, 0.0) + float(weights[target, source])
    return sum(masses.values()) / len(masses)


exercise.edits(
    """
weightless_tokens_left_out:
  | return sum(masses.values()) / sum((mass > 0 for mass in masses.values()))
  Your mean leaves out target tokens whose own source tokens have no weight at all.
  ? What does a target token add to the mean if all its attention is elsewhere?
  # `mass[mass > 0].mean()` is meant to leave out the tokens without links.
""",
    of=masses,
)
exercise.edits(
    """
mean_over_links: return mass / len(links)
  Your number is divided by the number of links: a token with three of them counts
    three times in that number.
  ? How many target tokens have a source token at all, and how many links are there?
  # `/ len(links)` is at hand, and right where each token has one link.
mean_over_all_rows: return mass / len(weights)
  Your number is divided by the number of rows: target tokens without a link count as
    0.
  ? What should a target token count that has no counterpart in the source?
  # `/ len(weights)` is the mean over the rows of the picture.
mean_over_rows_up_to_the_last_link:
  | return mass / (max((target for target, _ in links)) + 1)
  Your number is divided by one more than the last target token that has a link:
    tokens before it count, also without one.
  # range(max(targets) + 1) runs over rows that no link names.
mean_over_runs_of_links:
  | return mass / len(list(groupby(links, key=lambda link: link[0])))
  Your mean counts a target token once more each time its links go on later in the
    list.
  ? What if (4, 6) comes first in the list, and (4, 2) comes last?
  # itertools.groupby and a comparison with the token before need sorted links.
mean_over_source_tokens: return mass / len({source for _, source in links})
  Your number is divided by the number of source tokens that have a link.
  ? Whose weights sum to 1: a target token's, or a source token's?
  # len({j for …}) and len({i for …}) differ by a letter.
mean_over_all_columns: return mass / weights.shape[1]
  Your number is divided by the number of columns.
  ? Whose tokens does the mean run over, the target's or the source's?
  # weights.shape[1] is taken for weights.shape[0], and links for rows.
sum_without_a_mean: return mass
  Your number is a sum over the target tokens: it can be more than 1.
  ? What makes a number from 0 to 1 out of a sum over the target tokens?
  # 'Mass' sounds like a sum, and a sum it is, for one target token.
""",
    groupby=groupby,
)
exercise.edits(
    """
best_link_only:
  | masses[target] = max(masses.get(target, 0.0), float(weights[target, source]))
  Your number has one source token for each target token: the one that counts most
    among its own.
  ? If a target token belongs to two source tokens, and half its weight is on each,
    how much of it is right?
  # 'The' aligned token is one in most examples, and max gives one.
last_link_only: masses[target] = float(weights[target, source])
  Your number has one link of each target token: the last one in the list.
  ? What does a dictionary do with a key that it already has?
  # dict(links) makes a dictionary of pairs, one value for a key.
first_link_only:
  | masses[target] = … -> masses.setdefault(target, float(weights[target, source]))
  Your number has one link of each target token: the first one in the list.
  ? How many source tokens may a target token have?
  # A search for a token's link ends at the first that fits.
""",
    of=masses,
)
exercise.edits(
    """
mean_within_the_token:
  | float(weights[target, source]) ->
  :     float(weights[target, source]) / sum((each == target for each, _ in links))
  Your number has a mean over the links of each target token.
  ? If all of a token's weight lies on its two source tokens, what should it count?
  # mean stands where sum should, in the inner of two loops.
share_of_hits:
  | float(weights[target, source]) ->
  :     float(weights[target, source] == weights[target].max())
  Your number counts a link as 1 where the largest weight of its row lies on it, and
    as 0 elsewhere.
  ? Does the docstring ask for how often the maximum is right, or for how much weight
    is?
  # Alignments are usually read off with argmax, as for the alignment error rate:
    OpenNMT/CTranslate2, issue 563; lilt/alignment-scripts, issue 2.
largest_weight_for_each_link:
  | float(weights[target, source]) -> float(weights[target].max())
  Your number has the largest weight of a row for each of its links, wherever they
    are.
  ? What does a token score that attends to a wrong token with all its weight?
  # weights[i].max() is written where weights[i, j] should be.
links_transposed: weights[target, source] -> weights[source, target]
  Your weights are read at [source, target].
  ? Which of the two numbers of a link says the row?
  # Files of word alignments write source-target: facebookresearch/fairseq, issue
    2634.
counted_from_one: weights[target, source] -> weights[target - 1, source - 1]
  Your weights stand one row and one column before the right ones.
  ? Which number has the first token in the docstring's example?
  # Several formats of word alignments count from 1, and index −1 raises nothing.
row_before: weights[target, source] -> weights[target - 1, source]
  Your weights stand one row before the right ones, and those of row 0 in the last.
  ? With which row was target token i predicted, according to the docstring?
  # The decoder reads token i − 1 while it predicts token i.
row_after: weights[target, source] -> weights[target + 1, source]
  Your weights stand one row after the right ones; for the last row this raises an
    error.
  # A row for the start of the sentence is thought to come first.
column_before: weights[target, source] -> weights[target, source - 1]
  Your weights stand one column before the right ones.
  ? Which number has the first source token in the docstring's example?
  # Source tokens are counted from 1, target tokens from 0.
column_after: weights[target, source] -> weights[target, source + 1]
  Your weights stand one column after the right ones; for the last one this raises an
    error.
  # Column 0 is thought to belong to the start of the sentence.
every_row_at_every_column:
  | for target, source in links ->
  :     for target in {target for target, _ in links} for source in {source for _,
  :     source in links}
  Your number has every linked row at every linked column, not the links alone.
  ? With the links (0, 0) and (2, 1), should weights[0, 1] count?
  # weights[rows][:, columns] is a table, weights[rows, columns] a list.
still_a_tensor: float(weights[target, source]) -> weights[target, source]
  Your number is a tensor.
  ? What does the docstring promise: a tensor with one number, or a float?
  # weights[i, j] is a tensor without axes, and prints almost like a float.
percent: return mass -> return 100 * mass
  Your number is a percentage.
  ? Between which two numbers does the docstring put the result?
  # Shares are often printed as percentages, from 0 to 100.
mass_beside_the_links: return mass -> return 1 - mass
  Your number is 1 minus the mass: it falls where the attention gets better.
  ? Which number should perfect attention give?
  # The alignment error rate measures what is wrong.
rounded: return round(mass / len({target for target, _ in links}), 2)
  Your number is rounded to two digits.
  ? Does the docstring speak of rounding?
  # The lesson prints the mass with two digits.
""",
)
exercise.edits(
    """
list_of_masses: return list(masses.values())
  Your result is a list, with one number for each target token that has a link.
  ? What makes one number out of several?
  # The mean is left to the caller.
""",
    of=masses,
)
exercise.edits(
    """
links_used_up:
  | mass = sum( … ->
  :     mass, targets = (0.0, set())
  :     while links:
  :         target, source = links.pop()
  :         mass += float(weights[target, source])
  :         targets.add(target)
  | len({target for target, _ in links}) -> len(targets)
  Your links are used up: the list is empty afterwards.
  ? Whose list is `links`, and what does `pop` do to it?
  # `while links: links.pop()` is a loop that needs no counter.
links_sorted_in_place: links.sort()
  Your links are in another order afterwards; a tuple of links stops.
  ? What is the difference between `links.sort()` and `sorted(links)`?
  # groupby and runs of equal tokens need sorted links.
weights_set_to_zero:
  | return mass … ->
  :     for link in links:
  :         weights[link] = 0
  :     return mass / len({target for target, _ in links})
  Your weights are 0 at the links afterwards.
  ? Whose tensor is `weights`, and what does an assignment to it do?
  # What was counted is crossed out, so that nothing counts twice.
""",
)
