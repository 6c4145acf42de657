"""Cases and misconceptions of ``head_role_scores``."""

import math

import torch

from autograder import Exercise, families
from course_lib.nn.head_roles import head_role_scores

exercise = Exercise(
    head_role_scores,
    lesson="13_inside_the_heads",
    minutes=20,
    difficulty=2,
    library=("course_lib.nn.head_roles.mean_role_scores",),
)


@exercise.spec
def spec(weights, is_separator, frequencies):
    if weights.ndim > 2:
        heads = [spec(each, is_separator, frequencies) for each in weights]
        return {role: torch.stack([one[role] for one in heads]) for role in heads[0]}
    separators, counts = is_separator.tolist(), frequencies.tolist()
    tokens = [i for i in range(len(separators)) if not separators[i]]
    rarest = tokens[0]
    for j in tokens:
        if counts[j] < counts[rarest]:
            rarest = j
    numbers = {role: [] for role in ("previous", "next", "same", "separator", "rarest")}
    for i in tokens:
        row = weights[i].double().tolist()
        if i > 0:
            numbers["previous"].append(row[i - 1])
        if i < len(row) - 1:
            numbers["next"].append(row[i + 1])
        numbers["same"].append(row[i])
        on_separators = [row[j] for j in range(len(row)) if separators[j]]
        numbers["separator"].append(math.fsum(on_separators))
        numbers["rarest"].append(row[rarest])
    return {
        role: torch.tensor(math.fsum(each) / len(each), dtype=weights.dtype)
        for role, each in numbers.items()
    }


def draw_weights(rng, *shape):
    """Draw weights (..., n, n) in float64: each row sums to 1."""
    return torch.from_numpy(rng.normal(size=(*shape, shape[-1]))).softmax(dim=-1)


def separators_at(n, *positions):
    is_separator = torch.zeros(n, dtype=torch.bool)
    is_separator[list(positions)] = True
    return is_separator


def draw_frequencies(rng, n, rarest=None):
    """Draw different frequencies; of the position `rarest` the smallest."""
    counts = torch.from_numpy(rng.permutation(n) + rng.integers(2, 99)).double()
    if rarest is not None:
        counts[rarest] = 1.0
    return counts


def sentence(rng, n, *separators, heads=(3,)):
    """Draw the three arguments for a sentence with separators at these positions."""
    return (
        draw_weights(rng, *heads, n),
        separators_at(n, *separators),
        draw_frequencies(rng, n),
    )


@exercise.usual
def usual(rng):
    return sentence(rng, 7, 0, 6, heads=(2, 3))


@exercise.case("Two words between [CLS] and [SEP]: the five numbers of one head")
def small_example_by_hand(student, rng):
    rows = [
        [1.0, 0.0, 0.0, 0.0],
        [0.125, 0.25, 0.5, 0.125],
        [0.25, 0.25, 0.0, 0.5],
        [0.0, 0.0, 0.0, 1.0],
    ]
    weights = torch.tensor([rows], dtype=torch.float64)
    frequencies = torch.tensor([100.0, 3.0, 20.0, 100.0], dtype=torch.float64)
    expected = {
        "previous": (0.125 + 0.25) / 2,
        "next": (0.5 + 0.5) / 2,
        "same": (0.25 + 0.0) / 2,
        "separator": (0.25 + 0.75) / 2,
        "rarest": (0.25 + 0.25) / 2,
    }
    student.expect(
        student(weights, separators_at(4, 0, 3), frequencies),
        {
            role: torch.tensor([number], dtype=torch.float64)
            for role, number in expected.items()
        },
    )
    student.agrees(*sentence(rng, 4, 0, 3))


@exercise.case("Each head has its own number, and row i is query i")
def each_head_alone(student, rng):
    student.agrees(*sentence(rng, 7, 0, 6))
    student.agrees(*sentence(rng, 5, 0, 4, heads=(5,)))


@exercise.case("The first query has no token before it, and the last one none after it")
def first_and_last_query(student, rng):
    student.agrees(*sentence(rng, 6, 5))
    student.agrees(*sentence(rng, 6, 0))
    student.agrees(*sentence(rng, 5, 2))


@exercise.case("Separators do not count as queries, wherever they are")
def separators_are_no_queries(student, rng):
    student.agrees(*sentence(rng, 8, 0, 3, 7))
    student.agrees(*sentence(rng, 9, 2, 5, 6))


@exercise.case("The rarest token is no separator; of equally rare ones, the first")
def rarest_token(student, rng):
    weights, is_separator = draw_weights(rng, 2, 6), separators_at(6, 0, 5)
    student.agrees(weights, is_separator, draw_frequencies(rng, 6, rarest=[0, 5]))
    student.agrees(weights, is_separator, draw_frequencies(rng, 6, rarest=[2, 4]))
    tenths = draw_frequencies(rng, 6) / 10
    student.agrees(weights, is_separator, tenths)
    student.agrees(weights, is_separator, 0 * tenths)


@exercise.case("Any axes may be in front: layers and heads, one of them, or none")
def any_axes_in_front(student, rng):
    student.agrees(*sentence(rng, 5, 0, 4, heads=(2, 4)))
    student.agrees(*sentence(rng, 4, 0, 3, heads=()))
    student.agrees(*sentence(rng, 6, 0, heads=(1,)))


@exercise.case("A sentence may have no separator", visible=False)
def no_separator(student, rng):
    student.agrees(*sentence(rng, 5))
    student.agrees(*sentence(rng, 2))


@exercise.case(
    "With as many heads as tokens, the heads still stay apart", visible=False
)
def as_many_heads_as_tokens(student, rng):
    student.agrees(*sentence(rng, 5, 0, 4, heads=(5, 5)))


@exercise.case("The arguments are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(*sentence(rng, 6, 0, 5))


exercise.edits(
    """
queries_and_keys_exchanged: weights = weights.mT
  Your numbers take columns for queries: how much each token is attended to.
  ? Which axis of the weights sums to 1, that of the queries or that of the keys?
  # weights[j, i] is written where weights[i, j] should be; in pictures of attention
    either may run down.
separators_counted_as_queries: [~is_separator] ->
  Your means run over all queries, separators included.
  ? Whose attention does the docstring ask about: that of [SEP] too?
  # A mean over a whole diagonal is one call, and leaves out nothing.
separators_counted_for_separators:
  | weights[..., queries, :][..., is_separator] -> weights[..., is_separator]
  Your number for separators has their own rows in it.
  # weights[..., is_separator] cuts out keys; rows are easily overlooked.
ends_left_out: [~is_separator] -> [1:-1]
  Your means leave out the first and the last token, whether they are separators or
    not.
  ? How do you know which tokens are separators?
  # [1:-1] takes off [CLS] and [SEP] where they stand at the ends.
separators_alone: [~is_separator] -> [is_separator]
  Your means run over the separators' own rows alone.
  ? For which tokens is `is_separator` True?
  # The ~ of a mask is lost, or the mask is taken for one of tokens.
wrapped_around:
  | queries[queries > 0] -> queries
  | queries[queries < n - 1] -> queries
  | with_next + 1 -> (with_next + 1) % n
  Your first query has the last token in front of it, and your last one the first
    token behind.
  ? Which element is at index −1, and where does `roll` put the last one?
  # torch.roll(weights, 1) and an index of −1 wrap around silently.
wrapped_around_behind:
  | queries[queries < n - 1] -> queries
  | with_next + 1 -> (with_next + 1) % n
  Your last query has the first token behind it.
  ? What does (i + 1) % n give for the last position?
  # An index past the end is an error, and % n ends it; one of −1 was thought of.
first_query_without_a_previous_one: queries[queries > 0] -> queries[1:]
  Your number for the previous token leaves out the first query that is no separator,
    even where a separator is in front of it.
  ? May the token in front of a query be [CLS]?
  # queries[1:] leaves out one query, which is the first token of the sentence only if
    that is no separator.
missing_neighbour_counted_as_zero:
  | weights[..., with_previous, with_previous - 1] ->
  :     weights[..., queries, queries - 1] * (queries > 0)
  | weights[..., with_next, with_next + 1] ->
  :     weights[..., queries, (queries + 1) % n] * (queries < n - 1)
  Your means count a query without a neighbour as 0.
  ? By how many queries is your sum divided where one has no token in front?
  # A diagonal next to the main one is summed and divided by all queries.
itself_for_the_missing_neighbour:
  | weights[..., with_previous, with_previous - 1] ->
  :     weights[..., queries, (queries - 1).clamp(min=0)]
  | weights[..., with_next, with_next + 1] ->
  :     weights[..., queries, (queries + 1).clamp(max=n - 1)]
  Your first and last query are neighbours of themselves.
  ? What does the docstring do with a query that has no token in front?
  # max(i − 1, 0), or clamp, keeps an index from falling out.
first_and_last_query_left_out:
  | queries[queries > 0] -> queries[(queries > 0) & (queries < n - 1)]
  | queries[queries < n - 1] -> queries[(queries > 0) & (queries < n - 1)]
  Your means leave out the first and the last query both times.
  ? Which of the two has a token in front, and which has one behind?
  # range(1, n − 1) is safe for both neighbours at once.
neighbouring_separators_left_out:
  | with_previous, … ->
  :     with_previous, with_next = (queries[queries > 0], queries[queries < n - 1])
  :     with_previous = with_previous[~is_separator[with_previous - 1]]
  :     with_next = with_next[~is_separator[with_next + 1]]
  Your means leave out queries next to a separator.
  ? May the token in front of a query be [CLS]?
  # The mask that takes off separators is applied to rows and columns.
neighbours_without_the_separators:
  | weights[..., with_previous, with_previous - 1] ->
  :     weights[..., queries[1:], queries[:-1]]
  | weights[..., with_next, with_next + 1] -> weights[..., queries[:-1], queries[1:]]
  Your neighbours are those that tokens have once all separators are taken out.
  ? May the token in front of a query be [CLS]?
  # weights[..., keep, :][..., keep] is a sentence of words alone, and gets diagonals.
separators_in_front_left_out:
  | with_previous, … ->
  :     with_previous, with_next = (queries[queries > 0], queries[queries < n - 1])
  :     with_previous = with_previous[~is_separator[with_previous - 1]]
  Your number for the previous token leaves out queries that have a separator in
    front.
  # [CLS] is no word, and the token before the first word seems to be missing.
previous_and_next_exchanged:
  | 'previous' -> 'next'
  | 'next' -> 'previous'
  Your numbers for the previous and the next token are exchanged.
  ? Is the token in front of query i at column i − 1 or at i + 1?
  # torch.diagonal's offset counts columns: offset=1 is above the main diagonal.
two_tokens_away:
  | queries > 0 -> queries > 1
  | queries < n - 1 -> queries < n - 2
  | with_previous - 1 -> with_previous - 2
  | with_next + 1 -> with_next + 2
  Your neighbours are two tokens away.
  ? How many tokens lie between a query and the one right in front of it?
  # An offset is counted from 1, or added twice.
mean_over_separators: .sum(dim=-1) -> .sum(dim=-1) / is_separator.sum().clamp(min=1)
  Your number for separators is a mean over them, not their sum.
  ? If half a query's weight is on [CLS] and half on [SEP], what is left for others?
  # weights[…][:, is_separator].mean() takes one mean over both axes.
largest_separator:
  | weights[..., queries, :][..., is_separator].sum(dim=-1) ->
  :     (weights[..., queries, :] * is_separator).amax(dim=-1)
  Your number for separators has the largest weight on any one of them.
  # Clark et al. speak of a head that attends 'to [SEP]', one token.
first_separator: .sum(dim=-1) -> [..., 0]
  Your number for separators is that of the first one alone.
  ? How many separators may a sentence have?
  # is_separator.argmax() finds the first True.
last_separator: .sum(dim=-1) -> [..., -1]
  Your number for separators is that of the last one alone.
  # [SEP] stands at the end: weights[..., -1].
most_frequent_for_the_rarest:
  | torch.inf -> -torch.inf
  | argmin -> argmax
  Your number for the rarest token is that of the most frequent one.
  ? Is a rare token's frequency high or low?
  # argmax comes to the fingers where a 'most' is looked for.
separator_as_the_rarest: rarest = frequencies.argmin()
  Your rarest token may be a separator.
  ? What does the docstring say of separators in the search for the rarest token?
  # A corpus without [CLS] and [SEP] counts 0 of them.
separator_among_equals: torch.inf -> frequencies.max()
  Your rarest token is a separator where it comes first and all tokens are equally
    rare.
  ? Which number is larger than every frequency, whatever frequencies there are?
  # Separators get the largest frequency there is, which other tokens may have.
last_of_equals:
  | rarest = n - 1 - torch.where(is_separator, torch.inf, frequencies).flip(0).argmin()
  Your rarest token is the last one of several equals.
  ? Which one of equals does the docstring take?
  # <= in a loop, or the end of a sorted list.
all_equals_together:
  | rarest = torch.where(is_separator, torch.inf, frequencies)
  | weights[..., queries, rarest] ->
  :     weights[..., queries, :][..., rarest == rarest.min()].sum(dim=-1)
  Your number for the rarest token has all tokens of the smallest frequency in it.
  ? How many tokens does the docstring call the rarest?
  # frequencies == frequencies.min() is True at several.
position_among_tokens: rarest = frequencies[~is_separator].argmin()
  Your position of the rarest token is counted without the separators.
  ? To which position of the sentence does index 0 of frequencies[~is_separator]
    belong?
  # Separators are cut out before argmin, and its index is not carried back.
rarest_without_itself:
  | weights[..., queries, rarest] -> weights[..., queries[queries != rarest], rarest]
  Your number for the rarest token leaves out its own query.
  ? Which queries does the docstring leave out of that mean?
  # That a token attends to itself is thought to be another role.
sum_instead_of_mean: of_queries.mean -> of_queries.sum
  Your numbers are sums over the queries: they grow with the sentence.
  ? Between which two numbers does the docstring put a score?
  # The weights are picked with a mask of 0 and 1, and summed.
largest_instead_of_mean: of_queries.mean -> of_queries.amax
  Your numbers are the largest over the queries.
  ? Does one query that attends to the token in front make a head of that role?
  # max stands where mean should, as in 'the highest score'.
median_instead_of_mean: of_queries.mean(dim=-1) -> of_queries.median(dim=-1).values
  Your numbers are medians over the queries.
  ? Which average does the docstring name?
  # Medians are not moved by single tokens, and often advised.
divided_by_all_positions: of_queries.mean(dim=-1) -> of_queries.sum(dim=-1) / n
  Your sums are divided by n, the number of all tokens.
  ? How many weights are in your sum, and by how many is it divided?
  # n is at hand, and the number of queries has to be counted.
one_number_per_query: of_queries.mean(dim=-1) -> of_queries
  Your result has one number for each query.
  ? How many numbers for each head does the docstring promise?
  # The weights are picked, and their mean is left to the caller.
share_of_largest_weights:
  | largest = weights.argmax(dim=-1, keepdim=True)
  | weights = torch.zeros_like(weights).scatter(-1, largest, 1.0)
  Your numbers are shares of queries whose largest weight is on that token.
  ? Does the docstring ask how often a weight is the largest, or how large it is?
  # Voita et al. (2019) call a head positional by its largest weights.
heads_averaged: of_queries.mean(dim=-1) -> of_queries.mean()
  Your result has one number for all heads together.
  ? How many heads do the weights have, and how many numbers does a role have?
  # .mean() without an axis takes them all.
largest_of_all_heads: of_queries.mean(dim=-1) -> of_queries.mean(dim=-1).max()
  Your result has one number for each role: that of the head with the most.
  # The best head is what one looks for.
first_axis_averaged: of_queries.mean(dim=-1) -> of_queries.mean(dim=-1).mean(dim=0)
  Your result is averaged over its first axis.
  ? What does the first axis of the weights stand for: examples, or heads and layers?
  # The first axis is a batch elsewhere, and a mean over the batch is usual.
one_tensor_for_all_roles:
  | return torch.stack([of_queries.mean(dim=-1) for of_queries in weight.values()])
  Your result is one tensor with a row for each role.
  ? How does a caller know which row belongs to which role?
  # Numbers of one shape are stacked.
tuple_of_roles: return tuple(of_queries.mean(dim=-1) for of_queries in weight.values())
  Your result is a tuple with one part for each role.
  ? How does a caller know which part belongs to which role?
  # Several results are most often returned in a tuple.
frequencies_overwritten:
  | rarest = … ->
  :     frequencies[is_separator] = torch.inf
  :     rarest = frequencies.argmin()
  Your call changes `frequencies`: those of separators are overwritten.
  ? Whose tensor is `frequencies`, and what does an assignment to it do?
  # frequencies[is_separator] = inf is the short way to leave them out.
weights_overwritten: weights[..., is_separator, :] = 0
  Your call changes `weights`: the separators' rows are 0 afterwards.
  ? Whose tensor is `weights`, and what does an assignment to it do?
  # weights[..., is_separator, :] = 0 is the short way to leave them out.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
