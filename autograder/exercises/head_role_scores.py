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


ROLES = ("previous", "next", "same", "separator", "rarest")


@exercise.variants
def variants(
    weights,
    is_separator,
    frequencies,
    *,
    read="rows are queries",
    queries="no separators",
    edges="left out",
    neighbours="any token",
    before_and_behind="in this order",
    distance=1,
    together="sum",
    rarest="first of the rarest",
    per_head="mean",
    heads="apart",
    returns="by role",
    afterwards="as before",
):
    if afterwards == "frequencies":
        frequencies[is_separator] = math.inf
    original = weights
    weights = weights.mT if read == "columns are queries" else weights
    if afterwards == "weights":
        weights = weights.clone()
    n, is_token = weights.shape[-1], ~is_separator
    tokens, everything = torch.arange(n)[is_token], torch.arange(n)
    chosen = {
        "all": everything,
        "not first and last": everything[1:-1],
        "separators": everything[is_separator],
    }.get(queries, tokens)
    counts = frequencies
    if rarest != "separators too":
        worst = -math.inf if rarest == "most frequent" else math.inf
        if rarest == "separators as frequent as any":
            worst = frequencies.max()
        counts = torch.where(is_separator, worst, frequencies)
    if rarest == "most frequent":
        the_rarest = int(counts.argmax())
    elif rarest == "last of the rarest":
        the_rarest = n - 1 - int(counts.flip(0).argmin())
    elif rarest == "by its rank among tokens":
        the_rarest = int(frequencies[is_token].argmin())
    else:
        the_rarest = int(counts.argmin())

    def neighbour(step):
        step *= distance
        rows = chosen
        if edges == "left out" or edges == "as 0":
            rows = rows[(rows + step >= 0) & (rows + step < n)]
        elif edges == "first of all left out" and step < 0:
            rows = rows[1:]
        elif edges == "first of all left out" or (
            edges == "wrapped behind" and step < 0
        ):
            rows = rows[(rows + step >= 0) & (rows + step < n)]
        elif edges == "both left out":
            rows = rows[(rows > 0) & (rows < n - 1)]
        columns = (rows + step).clamp(0, n - 1) if edges == "itself" else rows + step
        columns = columns % n
        left_out = {"no separators": (-1, 1), "no separators in front": (-1,)}
        if step in left_out.get(neighbours, ()):
            rows, columns = rows[is_token[columns]], columns[is_token[columns]]
        picked = weights[..., rows, columns]
        if edges == "as 0":
            missing = (*picked.shape[:-1], len(chosen) - len(rows))
            picked = torch.cat([picked, picked.new_zeros(missing)], dim=-1)
        return picked

    all_chosen = {"separator": everything} if queries == "all for separators" else {}
    rows = all_chosen.get("separator", chosen)
    on_separators = weights[..., rows, :][..., is_separator]
    if not on_separators.shape[-1]:
        on_separators = torch.zeros_like(weights[..., rows, :1])
    joined = {
        "mean": lambda: on_separators.mean(dim=-1),
        "largest": lambda: on_separators.max(dim=-1).values,
        "first": lambda: on_separators[..., 0],
        "last": lambda: on_separators[..., -1],
    }.get(together, lambda: on_separators.sum(dim=-1))()
    own = chosen[chosen != the_rarest] if rarest == "without itself" else chosen
    on_rarest = weights[..., own, the_rarest]
    if rarest == "all of the rarest":
        on_rarest = weights[..., own, :][..., counts == counts.min()].sum(dim=-1)
    before, behind = neighbour(-1), neighbour(1)
    if before_and_behind == "exchanged":
        before, behind = behind, before
    same = weights[..., chosen, chosen]
    by_query = dict(zip(ROLES, (before, behind, same, joined, on_rarest), strict=True))
    if per_head == "share of largest":
        largest = weights.argmax(dim=-1)
        by_query = {
            "previous": _hits(largest, chosen[chosen > 0], -1),
            "next": _hits(largest, chosen[chosen < n - 1], 1),
            "same": _hits(largest, chosen, 0),
            "separator": is_separator[largest[..., chosen]].to(weights.dtype),
            "rarest": (largest[..., chosen] == the_rarest).to(weights.dtype),
        }
    reduce = {
        "sum": lambda each: each.sum(dim=-1),
        "largest": lambda each: each.max(dim=-1).values,
        "none": lambda each: each,
        "over n": lambda each: each.sum(dim=-1) / n,
        "median": lambda each: each.median(dim=-1).values,
    }.get(per_head, lambda each: each.mean(dim=-1))
    scores = {role: reduce(each) for role, each in by_query.items()}
    if heads == "averaged":
        scores = {role: each.mean() for role, each in scores.items()}
    elif heads == "largest":
        scores = {role: each.max() for role, each in scores.items()}
    elif heads == "first axis averaged" and weights.ndim > 2:
        scores = {role: each.mean(dim=0) for role, each in scores.items()}
    if afterwards == "weights":
        original[..., is_separator, :] = 0
    if returns == "stacked":
        return torch.stack([scores[role] for role in ROLES])
    if returns == "in a tuple":
        return tuple(scores[role] for role in ROLES)
    return scores


def _hits(largest, rows, step):
    """Return 1 where the largest weight of a row is that many positions away."""
    return (largest[..., rows] == rows + step).double()


exercise.option(
    "queries_and_keys_exchanged",
    "Your numbers take columns for queries: how much each token is attended to.",
    "Which axis of the weights sums to 1, that of the queries or that of the keys?",
    why="weights[j, i] is written where weights[i, j] should be; in pictures of "
    "attention either may run down.",
    read="columns are queries",
)
exercise.option(
    "separators_counted_as_queries",
    "Your means run over all queries, separators included.",
    "Whose attention does the docstring ask about: that of [SEP] too?",
    why="A mean over a whole diagonal is one call, and leaves out nothing.",
    queries="all",
)
exercise.option(
    "separators_counted_for_separators",
    "Your number for separators has their own rows in it.",
    "Whose attention does the docstring ask about: that of [SEP] too?",
    why="weights[..., is_separator] cuts out keys; rows are easily overlooked.",
    queries="all for separators",
)
exercise.option(
    "ends_left_out",
    "Your means leave out the first and the last token, whether they are separators or "
    "not.",
    "How do you know which tokens are separators?",
    why="[1:-1] takes off [CLS] and [SEP] where they stand at the ends.",
    queries="not first and last",
)
exercise.option(
    "separators_alone",
    "Your means run over the separators' own rows alone.",
    "For which tokens is `is_separator` True?",
    why="The ~ of a mask is lost, or the mask is taken for one of tokens.",
    queries="separators",
)
exercise.option(
    "wrapped_around",
    "Your first query has the last token in front of it, and your last one the first "
    "token behind.",
    "Which element is at index −1, and where does `roll` put the last one?",
    why="torch.roll(weights, 1) and an index of −1 wrap around silently.",
    edges="wrapped",
)
exercise.option(
    "wrapped_around_behind",
    "Your last query has the first token behind it.",
    "What does (i + 1) % n give for the last position?",
    why="An index past the end is an error, and % n ends it; one of −1 was thought of.",
    edges="wrapped behind",
)
exercise.option(
    "first_query_without_a_previous_one",
    "Your number for the previous token leaves out the first query that is no "
    "separator, even where a separator is in front of it.",
    "May the token in front of a query be [CLS]?",
    why="queries[1:] leaves out one query, which is the first token of the sentence "
    "only if that is no separator.",
    edges="first of all left out",
)
exercise.option(
    "missing_neighbour_counted_as_zero",
    "Your means count a query without a neighbour as 0.",
    "By how many queries is your sum divided where one has no token in front?",
    why="A diagonal next to the main one is summed and divided by all queries.",
    edges="as 0",
)
exercise.option(
    "itself_for_the_missing_neighbour",
    "Your first and last query are neighbours of themselves.",
    "What does the docstring do with a query that has no token in front?",
    why="max(i − 1, 0), or clamp, keeps an index from falling out.",
    edges="itself",
)
exercise.option(
    "first_and_last_query_left_out",
    "Your means leave out the first and the last query both times.",
    "Which of the two has a token in front, and which has one behind?",
    why="range(1, n − 1) is safe for both neighbours at once.",
    edges="both left out",
)
exercise.option(
    "neighbouring_separators_left_out",
    "Your means leave out queries next to a separator.",
    "May the token in front of a query be [CLS]?",
    why="The mask that takes off separators is applied to rows and columns.",
    neighbours="no separators",
)
exercise.option(
    "separators_in_front_left_out",
    "Your number for the previous token leaves out queries that have a separator in "
    "front.",
    "May the token in front of a query be [CLS]?",
    why="[CLS] is no word, and the token before the first word seems to be missing.",
    neighbours="no separators in front",
)
exercise.option(
    "previous_and_next_exchanged",
    "Your numbers for the previous and the next token are exchanged.",
    "Is the token in front of query i at column i − 1 or at i + 1?",
    why="torch.diagonal's offset counts columns: offset=1 is above the main diagonal.",
    before_and_behind="exchanged",
)
exercise.option(
    "two_tokens_away",
    "Your neighbours are two tokens away.",
    "How many tokens lie between a query and the one right in front of it?",
    why="An offset is counted from 1, or added twice.",
    distance=2,
)
exercise.option(
    "mean_over_separators",
    "Your number for separators is a mean over them, not their sum.",
    "If half a query's weight is on [CLS] and half on [SEP], what is left for others?",
    why="weights[…][:, is_separator].mean() takes one mean over both axes.",
    together="mean",
)
exercise.option(
    "largest_separator",
    "Your number for separators has the largest weight on any one of them.",
    "If half a query's weight is on [CLS] and half on [SEP], what is left for others?",
    why="Clark et al. speak of a head that attends 'to [SEP]', one token.",
    together="largest",
)
exercise.option(
    "first_separator",
    "Your number for separators is that of the first one alone.",
    "How many separators may a sentence have?",
    why="is_separator.argmax() finds the first True.",
    together="first",
)
exercise.option(
    "last_separator",
    "Your number for separators is that of the last one alone.",
    "How many separators may a sentence have?",
    why="[SEP] stands at the end: weights[..., -1].",
    together="last",
)
exercise.option(
    "most_frequent_for_the_rarest",
    "Your number for the rarest token is that of the most frequent one.",
    "Is a rare token's frequency high or low?",
    why="argmax comes to the fingers where a 'most' is looked for.",
    rarest="most frequent",
)
exercise.option(
    "separator_as_the_rarest",
    "Your rarest token may be a separator.",
    "What does the docstring say of separators in the search for the rarest token?",
    why="A corpus without [CLS] and [SEP] counts 0 of them.",
    rarest="separators too",
)
exercise.option(
    "separator_among_equals",
    "Your rarest token is a separator where it comes first and all tokens are equally "
    "rare.",
    "Which number is larger than every frequency, whatever frequencies there are?",
    why="Separators get the largest frequency there is, which other tokens may have.",
    rarest="separators as frequent as any",
)
exercise.option(
    "last_of_equals",
    "Your rarest token is the last one of several equals.",
    "Which one of equals does the docstring take?",
    why="<= in a loop, or the end of a sorted list.",
    rarest="last of the rarest",
)
exercise.option(
    "all_equals_together",
    "Your number for the rarest token has all tokens of the smallest frequency in it.",
    "How many tokens does the docstring call the rarest?",
    why="frequencies == frequencies.min() is True at several.",
    rarest="all of the rarest",
)
exercise.option(
    "position_among_tokens",
    "Your position of the rarest token is counted without the separators.",
    "To which position of the sentence does index 0 of frequencies[~is_separator] "
    "belong?",
    why="Separators are cut out before argmin, and its index is not carried back.",
    rarest="by its rank among tokens",
)
exercise.option(
    "rarest_without_itself",
    "Your number for the rarest token leaves out its own query.",
    "Which queries does the docstring leave out of that mean?",
    why="That a token attends to itself is thought to be another role.",
    rarest="without itself",
)
exercise.option(
    "sum_instead_of_mean",
    "Your numbers are sums over the queries: they grow with the sentence.",
    "Between which two numbers does the docstring put a score?",
    why="The weights are picked with a mask of 0 and 1, and summed.",
    per_head="sum",
)
exercise.option(
    "largest_instead_of_mean",
    "Your numbers are the largest over the queries.",
    "Does one query that attends to the token in front make a head of that role?",
    why="max stands where mean should, as in 'the highest score'.",
    per_head="largest",
)
exercise.option(
    "median_instead_of_mean",
    "Your numbers are medians over the queries.",
    "Which average does the docstring name?",
    why="Medians are not moved by single tokens, and often advised.",
    per_head="median",
)
exercise.option(
    "divided_by_all_positions",
    "Your sums are divided by n, the number of all tokens.",
    "How many weights are in your sum, and by how many is it divided?",
    why="n is at hand, and the number of queries has to be counted.",
    per_head="over n",
)
exercise.option(
    "one_number_per_query",
    "Your result has one number for each query.",
    "How many numbers for each head does the docstring promise?",
    why="The weights are picked, and their mean is left to the caller.",
    per_head="none",
)
exercise.option(
    "share_of_largest_weights",
    "Your numbers are shares of queries whose largest weight is on that token.",
    "Does the docstring ask how often a weight is the largest, or how large it is?",
    why="Voita et al. (2019) call a head positional by its largest weights.",
    per_head="share of largest",
)
exercise.option(
    "heads_averaged",
    "Your result has one number for all heads together.",
    "How many heads do the weights have, and how many numbers does a role have?",
    why=".mean() without an axis takes them all.",
    heads="averaged",
)
exercise.option(
    "largest_of_all_heads",
    "Your result has one number for each role: that of the head with the most.",
    "How many heads do the weights have, and how many numbers does a role have?",
    why="The best head is what one looks for.",
    heads="largest",
)
exercise.option(
    "first_axis_averaged",
    "Your result is averaged over its first axis.",
    "What does the first axis of the weights stand for: examples, or heads and layers?",
    why="The first axis is a batch elsewhere, and a mean over the batch is usual.",
    heads="first axis averaged",
)
exercise.option(
    "one_tensor_for_all_roles",
    "Your result is one tensor with a row for each role.",
    "How does a caller know which row belongs to which role?",
    why="Numbers of one shape are stacked.",
    returns="stacked",
)
exercise.option(
    "tuple_of_roles",
    "Your result is a tuple with one part for each role.",
    "How does a caller know which part belongs to which role?",
    why="Several results are most often returned in a tuple.",
    returns="in a tuple",
)
exercise.option(
    "frequencies_overwritten",
    "Your call changes `frequencies`: those of separators are overwritten.",
    "Whose tensor is `frequencies`, and what does an assignment to it do?",
    why="frequencies[is_separator] = inf is the short way to leave them out.",
    afterwards="frequencies",
)
exercise.option(
    "weights_overwritten",
    "Your call changes `weights`: the separators' rows are 0 afterwards.",
    "Whose tensor is `weights`, and what does an assignment to it do?",
    why="weights[..., is_separator, :] = 0 is the short way to leave them out.",
    afterwards="weights",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
