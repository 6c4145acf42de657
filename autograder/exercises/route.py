"""Cases and misconceptions of ``route``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.routing import route

exercise = Exercise(
    route,
    lesson="15_attention_since_2023",
    minutes=12,
    difficulty=2,
    returns=("weights", "load"),
    library=("torch.topk",),
)


@exercise.spec
def spec(logits, k):
    n, n_experts = logits.shape
    weights, load = np.zeros((n, n_experts)), np.zeros(n_experts)
    for i in range(n):
        left = [*range(n_experts)]
        chosen = []
        for _ in range(k):
            best = max(left, key=lambda e: (logits[i, e], -e))
            left.remove(best)
            chosen.append(best)
        highest = max(float(logits[i, e]) for e in chosen)
        powers = {e: math.exp(float(logits[i, e]) - highest) for e in chosen}
        for e, power in powers.items():
            weights[i, e] = power / sum(powers.values())
            load[e] += 1 / (n * k)
    return weights, load


def drawn(rng, n=7, n_experts=5):
    """Draw logits; some experts are preferred."""
    return rng.normal(size=(n, n_experts)) + rng.normal(size=n_experts)


def in_steps(rng):
    """Draw logits that float32 holds exactly, also 6000 away; no two are alike."""
    logits = drawn(rng)
    return np.floor(128.0 * logits) / 128.0 + np.arange(logits.shape[1]) / 1024.0


@exercise.usual
def usual(rng):
    return drawn(rng), 2


@exercise.case("Three tokens and four experts, two for each token")
def small_example_by_hand(student, rng):
    logits = np.log([[1.0, 6.0, 3.0, 2.0], [8.0, 1.0, 2.0, 1.0], [2.0, 5.0, 5.0, 4.0]])
    weights = [[0, 2 / 3, 1 / 3, 0], [0.8, 0, 0.2, 0], [0, 0.5, 0.5, 0]]
    expected = np.array(weights), np.array([1 / 6, 1 / 3, 1 / 2, 0])
    student.expect(student(logits, 2), expected)
    student.agrees(drawn(rng, n=3, n_experts=4), 2)


@exercise.case("Drawn tokens, with one, two or more experts for each", weight=2.5)
def drawn_tokens(student, rng):
    student.agrees(drawn(rng), 1)
    student.agrees(drawn(rng), 2)
    student.agrees(drawn(rng, n=9, n_experts=8), 3)
    student.agrees(drawn(rng, n=4, n_experts=4), 3)


@exercise.case(
    "If a token goes to all experts, its weights are a softmax",
    weight=0.5,
    visible=False,
)
def all_experts(student, rng):
    student.agrees(drawn(rng), 5)


@exercise.fine_point("Of equal logits, those of the first experts are chosen")
def equal_logits(student, rng):
    student.agrees(np.zeros((3, 4)), 2)
    logits = drawn(rng)
    logits[:, 3] = logits[:, 1]
    student.agrees(logits, 1)
    student.agrees(logits, 2)
    # Whole numbers agree often.
    student.agrees(rng.integers(0, 3, size=(9, 6)).astype(float), 3)


@exercise.case("Logits of any size are weighted rightly")
def any_size(student, rng):
    student.agrees(900.0 * drawn(rng), 1)
    student.agrees(in_steps(rng) - 5000.0, 2)
    logits = in_steps(rng)
    logits[2] += 6000.0
    student.agrees(logits, 3)


@exercise.case("A single token, or a single expert, keeps its axis")
def smallest_sizes(student, rng):
    student.agrees(drawn(rng, n=1), 2)
    student.agrees(drawn(rng, n_experts=1), 1)


@exercise.case("The logits are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng), 2)
    student.leaves_unchanged(drawn(rng, n=4, n_experts=4), 3)


@exercise.fine_point("An expert whose weight is 0 but for rounding is chosen, too")
def weights_that_vanish(student, rng):
    student.agrees(900.0 * drawn(rng), 2)


exercise.edits(
    """
softmax_over_all:
  | return (weights, … ->
  :     powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  :     return (np.where(chosen, weights, 0.0), chosen.sum(axis=0) / chosen.sum())
  Your weights are those of a softmax over all experts: the chosen ones do not sum to 1.
  ? What should the weights of a token sum to?
  # Switch Transformer takes the softmax first, with k = 1; Mixtral takes it over the
    chosen ones.
nothing_chosen: scores = logits
  Your weights are a softmax over all experts: no expert is left out.
  ? How many experts does a token go to, and what is the weight of the others?
  # A soft mixture of all experts is the older layer, and has gradients for all.
zeros_for_the_others: np.where(chosen, logits, -np.inf) -> np.where(chosen, logits, 0.0)
  Your experts that are not chosen take part in the softmax, with a logit of 0.
  ? What is e to the power of 0?
  # Zeros are what is wanted in the end, and are put in before the softmax.
equal_weights:
  | return (weights, … ->
  :     equal = chosen / chosen.sum(axis=-1, keepdims=True)
  :     return (equal, chosen.sum(axis=0) / chosen.sum())
  Your chosen experts all have the same weight.
  ? Should the expert with the largest logit count more than the second?
  # A choice is a choice, and the logits seem to have done their work.
shares_of_logits:
  | return (weights, … ->
  :     shares = np.where(chosen, logits, 0.0)
  :     weights = shares / shares.sum(axis=-1, keepdims=True)
  :     return (weights, chosen.sum(axis=0) / chosen.sum())
  Your weights are the logits divided by their sum: they can be negative.
  ? What is done to the logits first, so that every share is positive?
  # Shares are what is divided by its sum, and the powers of e are forgotten.
sigmoids_divided_by_their_sum:
  | powers = … -> powers = np.where(chosen, 1 / (1 + np.exp(-logits)), 0.0)
  | powers.sum(axis=-1, keepdims=True) -> (powers.sum(axis=-1, keepdims=True) + 1e-20)
  Your weights are sigmoids of the chosen logits, divided by their sum.
  ? In a softmax, what is divided by the sum?
  # DeepSeek-V3 routes like this.
smallest_chosen: np.argsort(-logits -> np.argsort(logits
  Your chosen experts are those with the smallest logits.
  ? In which direction does argsort sort?
  # argsort begins with the smallest number.
last_of_equal_ones:
  | order = … ->
  :     order = np.argsort(logits, axis=-1, kind='stable')[:, ::-1]
  Of equal logits, your last experts are chosen.
  ? Which of two equal numbers comes first when a sorted row is turned around?
  # A sort in the other direction turns equal ones around too.
threshold:
  | scores = np.where … ->
  :     limit = np.take_along_axis(logits, order[:, k - 1 : k], axis=-1)
  :     chosen = logits >= limit
  :     scores = np.where(chosen, logits, -np.inf)
  Your rows have more than k experts where logits are equal.
  ? If three logits are equal and one expert is needed, how many should be chosen?
  # The k-th largest logit is used as a threshold.
one_expert_only: order[:, :k] -> order[:, :1]
  Your tokens go to one expert each, whatever k is.
  ? Which argument does your answer not use?
  # argmax gives one expert, as in the Switch Transformer.
one_expert_too_many: order[:, :k] -> order[:, :k + 1]
  Your tokens go to k + 1 experts.
  ? How many numbers are there in a[:k]?
  # A slice is thought to hold its end.
experts_choose_tokens:
  | order = … -> order = np.argsort(-logits, axis=0, kind='stable')
  | np.put_along_axis(chosen, order[:, :k], True, axis=-1) ->
  :     np.put_along_axis(chosen, order[:k], True, axis=0)
  | scores = np.where … ->
  :     scores = np.where(chosen, logits, -1e300)
  Your experts choose k tokens each.
  ? Who chooses, a token or an expert?
  # Expert choice is another way of routing (Zhou et al. 2022).
same_experts_for_all:
  | order = … ->
  :     order = np.argsort(-logits.sum(axis=0), kind='stable')[np.newaxis]
  :     order = np.repeat(order, len(logits), axis=0)
  Your tokens all go to the same experts, those with the largest sums.
  ? Does the choice of one token depend on the other tokens?
  # It saves loading experts that few tokens need.
load_as_counts: chosen.sum(axis=0) / chosen.sum() -> chosen.sum(axis=0)
  Your load counts tokens: it is not divided by the number of choices.
  ? What should the loads of all experts sum to?
  # Frameworks keep counts, and divide later.
load_by_token: chosen.sum(axis=0) / chosen.sum() -> chosen.mean(axis=0)
  Your load is divided by the number of tokens: its sum is k.
  ? What should the loads of all experts sum to?
  # mean(axis=0) is one word.
load_of_weights: chosen.sum(axis=0) / chosen.sum() -> weights.mean(axis=0)
  Your load is the mean weight of each expert, not its share of the choices.
  ? An expert is chosen with a small weight: does that save it any work?
  # The balancing loss of Shazeer et al. (2017) has both, the weights as importance.
load_of_the_first_choice:
  | chosen.sum(axis=0) / chosen.sum() ->
  :     (np.bincount(order[:, 0], minlength=logits.shape[1]) / len(logits))
  Your load counts the first choice of each token only.
  ? How many experts does each token make work?
  # With k = 1 there is one.
load_of_tokens: chosen.sum(axis=0) / chosen.sum() -> chosen.sum(axis=1) / chosen.sum()
  Your load has an entry for each token, not for each expert.
  ? Which shape does the docstring promise for the load?
  # axis=1 is taken for 'the second axis stays'.
no_maximum: np.exp(scores - scores.max(axis=-1, keepdims=True)) -> np.exp(scores)
  Your exponentials are of the logits as they are: inf where one is large, and all 0
    where those of a token lie far below 0.
  ? What may you subtract from all logits of a token without changing its weights?
  # exp(x) / sum is the formula as it is printed.
one_maximum_for_everything: scores.max(axis=-1, keepdims=True) -> scores.max()
  Your rows share one maximum: the exponentials of rows far below it are all 0.
  ? Whose largest logit does a token need?
  # max() without an axis is enough against overflow.
logits_overwritten:
  | scores = np.where … ->
  :     logits[~chosen] = -np.inf
  :     scores = logits
  Your call writes −∞ into the caller's logits.
  ? Does your answer write into `logits`, or into a new array?
  # Assigning to a mask of an array changes the caller's.
sum_of_everything: powers.sum(axis=-1, keepdims=True) -> powers.sum()
  Your weights of all tokens together sum to 1.
  ? What should the weights of one token sum to?
  # sum() without an axis is the sum of everything.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("weights"),
    families.squeezed(),
)
