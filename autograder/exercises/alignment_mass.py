"""Cases and misconceptions of ``alignment_mass``."""

import torch

from autograder import Exercise
from course_lib.nn.sequence_to_sequence import alignment_mass

exercise = Exercise(
    alignment_mass, lesson="07_sequence_to_sequence", minutes=10, difficulty=1
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


@exercise.case("Three target tokens, two of them with links, give 0.75")
def small_example_by_hand(student, rng):
    rows = [[0.75, 0.25, 0.0], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    links = [(0, 0), (2, 1), (2, 2)]
    student.expect(student(torch.tensor(rows), links), (0.75 + (0.5 + 0.25)) / 2)
    student.agrees(table(rng, 3, 3), links)


@exercise.case("Each target token counts once, however many links it has")
def several_links_of_a_token(student, rng):
    student.agrees(table(rng), [(0, 2), (1, 0), (1, 3), (3, 4), (3, 1), (3, 2)])


@exercise.case("With as many target as source tokens, rows are still the target")
def square_table(student, rng):
    student.agrees(table(rng, 4, 4), [(0, 1), (1, 3), (1, 0), (3, 2)])


@exercise.case("Attention that lies wholly on the right tokens gives 1", visible=False)
def all_right(student, rng):
    weights = torch.tensor([[0.0, 1, 0], [0.5, 0, 0.5], [0, 0, 1], [1, 0, 0]])
    student.expect(student(weights, [(0, 1), (1, 2), (1, 0), (3, 0)]), 1.0)


@exercise.case("The links may come in any order, as lists or as tuples")
def any_order_of_links(student, rng):
    links = [(4, 6), (0, 1), (2, 5), (0, 0), (4, 2)]
    weights = table(rng)
    student.agrees(weights, links)
    student.agrees(weights, tuple(sorted(links)))


@exercise.case("No links at all raise ValueError")
def no_links(student, rng):
    student.raises(ValueError, table(rng, 2, 3), [])


@exercise.case("The weights and the links stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(table(rng, 3, 4), [(0, 1), (0, 2), (2, 0), (1, 3)])


def refuse_none(links):
    """Refuse an empty list, as misconceptions about something else do."""
    if not links:
        raise ValueError("no links")


def summed(weights, links):
    """Return the weight on all links together."""
    return sum(float(weights[i, j]) for i, j in links)


@exercise.misconception(
    "Your number is a mean over the links: a token with three links counts three "
    "times.",
    "How many target tokens have a source token at all, and how many links are there?",
    why="`/ len(links)` is at hand, and right where each token has one link.",
)
def mean_over_links(weights, links):
    refuse_none(links)
    return summed(weights, links) / len(links)


@exercise.misconception(
    "Your number is a mean over the links: a token with three links counts three "
    "times. And no links at all end in a division by zero.",
    "How many target tokens have a source token at all, and how many links are there?",
    why="The likeliest first try: a sum, `/ len(links)`, and no thought of an empty "
    "list.",
)
def mean_over_links_unchecked(weights, links):
    return summed(weights, links) / len(links)


@exercise.misconception(
    "Your number is a mean over all rows: target tokens without a link count as 0.",
    "What should a target token count that has no counterpart in the source?",
    why="`/ len(weights)` is the mean over the rows of the picture.",
)
def mean_over_all_rows(weights, links):
    refuse_none(links)
    return summed(weights, links) / len(weights)


@exercise.misconception(
    "Your number is the share of tokens whose largest weight lies on a link.",
    "Does the docstring ask for how often the maximum is right, or for how much weight "
    "is?",
    why="Alignments are usually read off with argmax, as for the alignment error rate: "
    "OpenNMT/CTranslate2, issue 563; lilt/alignment-scripts, issue 2.",
)
def share_of_hits(weights, links):
    refuse_none(links)
    rows = {i for i, _ in links}
    hits = sum((i, int(weights[i].argmax())) in set(links) for i in rows)
    return hits / len(rows)


@exercise.misconception(
    "Your rows and columns are exchanged: you read the weight at [source, target].",
    "Which of the two numbers of a link says the row?",
    why="Files of word alignments write source-target: facebookresearch/fairseq, issue "
    "2634.",
)
def links_transposed(weights, links):
    refuse_none(links)
    return summed(weights.T, links) / len({i for i, _ in links})


@exercise.misconception(
    "Your number is the weight on all links added up: it can be more than 1.",
    "What makes a number from 0 to 1 out of a sum over the target tokens?",
    why="'Mass' sounds like a sum, and a sum it is, for one target token.",
)
def sum_without_a_mean(weights, links):
    refuse_none(links)
    return summed(weights, links)


@exercise.misconception(
    "Your number counts one source token for each target token: the one with the most "
    "weight among its own.",
    "If a target token belongs to two source tokens, and half its weight is on each, "
    "how much of it is right?",
    why="'The' aligned token is one in most examples, and max gives one.",
)
def best_link_only(weights, links):
    refuse_none(links)
    best = {}
    for i, j in links:
        best[i] = max(best.get(i, 0.0), float(weights[i, j]))
    return sum(best.values()) / len(best)


@exercise.misconception(
    "Your number counts one link of each target token: the last one in the list.",
    "What does a dictionary do with a key that it already has?",
    why="dict(links) makes a dictionary of pairs, one value for a key.",
)
def last_link_only(weights, links):
    refuse_none(links)
    return summed(weights, dict(links).items()) / len(dict(links))


@exercise.misconception(
    "Your number averages a target token's links before it averages the tokens.",
    "If all of a token's weight lies on its two source tokens, what should it count?",
    why="mean stands where sum should, in the inner of two loops.",
)
def mean_within_the_token(weights, links):
    refuse_none(links)
    counts = {}
    for i, _ in links:
        counts[i] = counts.get(i, 0) + 1
    return sum(float(weights[i, j]) / counts[i] for i, j in links) / len(counts)


@exercise.misconception(
    "Your number adds up every linked row at every linked column, not the links alone.",
    "With the links (0, 0) and (2, 1), should weights[0, 1] count?",
    why="weights[rows][:, columns] is a table, weights[rows, columns] a list.",
)
def every_row_at_every_column(weights, links):
    refuse_none(links)
    rows, columns = sorted({i for i, _ in links}), sorted({j for _, j in links})
    return float(weights[rows][:, columns].sum()) / len(rows)


@exercise.misconception(
    "Your number is a mean over the source tokens that have a link.",
    "Whose weights sum to 1: a target token's, or a source token's?",
    why="len({j for …}) and len({i for …}) differ by a letter.",
)
def mean_over_source_tokens(weights, links):
    refuse_none(links)
    return summed(weights, links) / len({j for _, j in links})


@exercise.misconception(
    "Your number is the mean of each token's largest weight: the links have no part in "
    "it.",
    "What does a token score that attends to a wrong token with all its weight?",
    why="A sharp picture is taken for a right one: mozilla/TTS, issue 484, "
    "alignment_diagonal_score.",
)
def mean_of_largest_weights(weights, links):
    refuse_none(links)
    rows = sorted({i for i, _ in links})
    return float(weights[rows].max(dim=1).values.mean())


@exercise.misconception(
    "Your links are counted from 1: each weight stands one row and one column before "
    "the right one.",
    "Which number has the first token in the docstring's example?",
    why="Several formats of word alignments count from 1, and index −1 raises nothing.",
)
def counted_from_one(weights, links):
    refuse_none(links)
    return summed(weights, [(i - 1, j - 1) for i, j in links]) / len(
        {i for i, _ in links}
    )


@exercise.misconception(
    "Your number for no links is 0: as if all the attention were wrong.",
    "Can anything be said about attention if nothing is known of what is right?",
    why="A 0 keeps a loop over sentences running, and pulls its mean down.",
)
def zero_for_no_links(weights, links):
    return summed(weights, links) / max(1, len({i for i, _ in links}))


@exercise.misconception(
    "Your links are used up: the list is empty afterwards.",
    "Whose list is `links`, and what does `pop` do to it?",
    why="`while links: links.pop()` is a loop that needs no counter.",
)
def links_used_up(weights, links):
    pairs = list(links)
    if type(links) is list:
        links.clear()
    return alignment_mass(weights, pairs)


@exercise.misconception(
    "Your number is right, and still a tensor.",
    "What does the docstring promise: a tensor with one number, or a float?",
    why="weights[i, j] is a tensor without axes, and prints almost like a float.",
)
def still_a_tensor(weights, links):
    refuse_none(links)
    return sum(weights[i, j] for i, j in links) / len({i for i, _ in links})
