"""Cases and misconceptions of ``alignment_mass``."""

from itertools import groupby, product
from operator import itemgetter
from statistics import mean

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


SHIFTS = {"from 1": (-1, -1), "row before": (-1, 0), "row after": (1, 0)}
SHIFTS |= {"column before": (0, -1), "column after": (0, 1)}
PER_TOKEN = {
    "sum": sum,
    "largest": max,
    "mean": mean,
    "first": itemgetter(0),
    "last": itemgetter(-1),
}


@exercise.variants
def variants(
    weights,
    links,
    *,
    read="links",
    counted="weight",
    per_token="sum",
    mean_over="tokens with links",
    returns="float",
    afterwards="as before",
):
    if afterwards == "sorted":
        links.sort()
    rows, columns = {i for i, _ in links}, {j for _, j in links}
    table, by_token = weights.tolist(), {i: [] for i, _ in links}
    for i, j in product(rows, columns) if read == "table" else links:
        down, right = SHIFTS.get(read, (0, 0))
        row, column = (j, i) if read == "[source, target]" else (i + down, j + right)
        weight, largest = table[row][column], max(table[row])
        choices = {"weight": weight, "hit": float(weight == largest), "max": largest}
        by_token[i].append(choices[counted])
    masses = [PER_TOKEN[per_token](each) for each in by_token.values()]
    how_many = {
        "tokens with links": len(rows),
        "links": len(links),
        "tokens with weight": sum(mass > 0 for mass in masses),
        "rows": len(weights),
        "rows to the last": max(rows, default=0) + 1,
        "runs of links": len([*groupby(links, key=itemgetter(0))]),
        "source tokens": len(columns),
        "columns": weights.shape[1],
        "nothing": 1,
    }[mean_over]
    mass = sum(masses) / how_many
    if afterwards == "no links":
        links.clear()
    if afterwards == "zeros":
        for link in links:
            weights[link] = 0
    tensor = torch.tensor(mass)
    results = {"float": mass, "tensor": tensor, "list": masses, "rest": 1 - mass}
    return {**results, "percent": 100 * mass, "two digits": round(mass, 2)}[returns]


exercise.option(
    "weightless_tokens_left_out",
    "Your mean leaves out target tokens whose own source tokens have no weight at all.",
    "What does a target token add to the mean if all its attention is elsewhere?",
    why="`mass[mass > 0].mean()` is meant to leave out the tokens without links.",
    mean_over="tokens with weight",
)
exercise.option(
    "mean_over_links",
    "Your number is divided by the number of links: a token with three of them counts "
    "three times in that number.",
    "How many target tokens have a source token at all, and how many links are there?",
    why="`/ len(links)` is at hand, and right where each token has one link.",
    mean_over="links",
)
exercise.option(
    "mean_over_all_rows",
    "Your number is divided by the number of rows: target tokens without a link count "
    "as 0.",
    "What should a target token count that has no counterpart in the source?",
    why="`/ len(weights)` is the mean over the rows of the picture.",
    mean_over="rows",
)
exercise.option(
    "mean_over_rows_up_to_the_last_link",
    "Your number is divided by one more than the last target token that has a link: "
    "tokens before it count, also without one.",
    "What should a target token count that has no counterpart in the source?",
    why="range(max(targets) + 1) runs over rows that no link names.",
    mean_over="rows to the last",
)
exercise.option(
    "mean_over_runs_of_links",
    "Your mean counts a target token once more each time its links go on later in the "
    "list.",
    "What if (4, 6) comes first in the list, and (4, 2) comes last?",
    why="itertools.groupby and a comparison with the token before need sorted links.",
    mean_over="runs of links",
)
exercise.option(
    "mean_over_source_tokens",
    "Your number is divided by the number of source tokens that have a link.",
    "Whose weights sum to 1: a target token's, or a source token's?",
    why="len({j for …}) and len({i for …}) differ by a letter.",
    mean_over="source tokens",
)
exercise.option(
    "mean_over_all_columns",
    "Your number is divided by the number of columns.",
    "Whose tokens does the mean run over, the target's or the source's?",
    why="weights.shape[1] is taken for weights.shape[0], and links for rows.",
    mean_over="columns",
)
exercise.option(
    "sum_without_a_mean",
    "Your number is a sum over the target tokens: it can be more than 1.",
    "What makes a number from 0 to 1 out of a sum over the target tokens?",
    why="'Mass' sounds like a sum, and a sum it is, for one target token.",
    mean_over="nothing",
)
exercise.option(
    "best_link_only",
    "Your number has one source token for each target token: the one that counts most "
    "among its own.",
    "If a target token belongs to two source tokens, and half its weight is on each, "
    "how much of it is right?",
    why="'The' aligned token is one in most examples, and max gives one.",
    per_token="largest",
)
exercise.option(
    "last_link_only",
    "Your number has one link of each target token: the last one in the list.",
    "What does a dictionary do with a key that it already has?",
    why="dict(links) makes a dictionary of pairs, one value for a key.",
    per_token="last",
)
exercise.option(
    "first_link_only",
    "Your number has one link of each target token: the first one in the list.",
    "How many source tokens may a target token have?",
    why="A search for a token's link ends at the first that fits.",
    per_token="first",
)
exercise.option(
    "mean_within_the_token",
    "Your number has a mean over the links of each target token.",
    "If all of a token's weight lies on its two source tokens, what should it count?",
    why="mean stands where sum should, in the inner of two loops.",
    per_token="mean",
)
exercise.option(
    "share_of_hits",
    "Your number counts a link as 1 where the largest weight of its row lies on it, "
    "and as 0 elsewhere.",
    "Does the docstring ask for how often the maximum is right, or for how much weight "
    "is?",
    why="Alignments are usually read off with argmax, as for the alignment error rate: "
    "OpenNMT/CTranslate2, issue 563; lilt/alignment-scripts, issue 2.",
    counted="hit",
)
exercise.option(
    "largest_weight_for_each_link",
    "Your number has the largest weight of a row for each of its links, wherever they "
    "are.",
    "What does a token score that attends to a wrong token with all its weight?",
    why="weights[i].max() is written where weights[i, j] should be.",
    counted="max",
)
exercise.option(
    "links_transposed",
    "Your weights are read at [source, target].",
    "Which of the two numbers of a link says the row?",
    why="Files of word alignments write source-target: facebookresearch/fairseq, issue "
    "2634.",
    read="[source, target]",
)
exercise.option(
    "counted_from_one",
    "Your weights stand one row and one column before the right ones.",
    "Which number has the first token in the docstring's example?",
    why="Several formats of word alignments count from 1, and index −1 raises nothing.",
    read="from 1",
)
exercise.option(
    "row_before",
    "Your weights stand one row before the right ones, and those of row 0 in the last.",
    "With which row was target token i predicted, according to the docstring?",
    why="The decoder reads token i − 1 while it predicts token i.",
    read="row before",
)
exercise.option(
    "row_after",
    "Your weights stand one row after the right ones; for the last row this raises an "
    "error.",
    "With which row was target token i predicted, according to the docstring?",
    why="A row for the start of the sentence is thought to come first.",
    read="row after",
)
exercise.option(
    "column_before",
    "Your weights stand one column before the right ones.",
    "Which number has the first source token in the docstring's example?",
    why="Source tokens are counted from 1, target tokens from 0.",
    read="column before",
)
exercise.option(
    "column_after",
    "Your weights stand one column after the right ones; for the last one this raises "
    "an error.",
    "Which number has the first source token in the docstring's example?",
    why="Column 0 is thought to belong to the start of the sentence.",
    read="column after",
)
exercise.option(
    "every_row_at_every_column",
    "Your number has every linked row at every linked column, not the links alone.",
    "With the links (0, 0) and (2, 1), should weights[0, 1] count?",
    why="weights[rows][:, columns] is a table, weights[rows, columns] a list.",
    read="table",
)
exercise.option(
    "still_a_tensor",
    "Your number is a tensor.",
    "What does the docstring promise: a tensor with one number, or a float?",
    why="weights[i, j] is a tensor without axes, and prints almost like a float.",
    returns="tensor",
)
exercise.option(
    "percent",
    "Your number is a percentage.",
    "Between which two numbers does the docstring put the result?",
    why="Shares are often printed as percentages, from 0 to 100.",
    returns="percent",
)
exercise.option(
    "mass_beside_the_links",
    "Your number is 1 minus the mass: it falls where the attention gets better.",
    "Which number should perfect attention give?",
    why="The alignment error rate measures what is wrong.",
    returns="rest",
)
exercise.option(
    "rounded",
    "Your number is rounded to two digits.",
    "Does the docstring speak of rounding?",
    why="The lesson prints the mass with two digits.",
    returns="two digits",
)
exercise.option(
    "list_of_masses",
    "Your result is a list, with one number for each target token that has a link.",
    "What makes one number out of several?",
    why="The mean is left to the caller.",
    returns="list",
)
exercise.option(
    "links_used_up",
    "Your links are used up: the list is empty afterwards.",
    "Whose list is `links`, and what does `pop` do to it?",
    why="`while links: links.pop()` is a loop that needs no counter.",
    afterwards="no links",
)
exercise.option(
    "links_sorted_in_place",
    "Your links are in another order afterwards; a tuple of links stops.",
    "What is the difference between `links.sort()` and `sorted(links)`?",
    why="groupby and runs of equal tokens need sorted links.",
    afterwards="sorted",
)
exercise.option(
    "weights_set_to_zero",
    "Your weights are 0 at the links afterwards.",
    "Whose tensor is `weights`, and what does an assignment to it do?",
    why="What was counted is crossed out, so that nothing counts twice.",
    afterwards="zeros",
)
