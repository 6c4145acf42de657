"""Cases and misconceptions of ``parts_to_blame``."""

import itertools
import math

from autograder import Exercise
from course_lib.lessons.patients.verdicts import parts_to_blame

exercise = Exercise(
    parts_to_blame,
    lesson="16_bug_hunt",
    minutes=15,
    difficulty=2,
)

PARTS = (
    *("split_data", "initial_embedding", "cross_entropy", "causal_mask"),
    *("split_heads", "shift_right", "masked_softmax", "update", "warmup_rate"),
    *("evaluate", "layer_norm", "add_positions", "padding_mask", "newest_positions"),
)


@exercise.spec
def spec(models):
    return [part_of(measured) for measured in models]


def part_of(measured):
    def is_zero(name):
        return not measured[name] > 0.001

    if not is_zero("shared"):
        return "split_data"
    if not 0.9 <= measured["first_loss"] <= 1.1:
        low = measured["first_loss"] < 1
        return "cross_entropy" if low else "initial_embedding"
    if not is_zero("leak"):
        return "split_heads" if is_zero("later_weight") else "causal_mask"
    if measured["copies"] > 0.5:
        return "shift_right"
    if measured["last_loss"] != measured["last_loss"]:
        return "masked_softmax"
    if measured["gradient_growth"] > 20:
        return "update"
    if measured["rate_growth"] < 10:
        return "warmup_rate"
    if not is_zero("repeat_gap"):
        return "evaluate"
    if not is_zero("equal_length_gap"):
        return "layer_norm"
    if is_zero("order_gap"):
        return "add_positions"
    if not is_zero("batch_gap"):
        return "padding_mask"
    return "healthy" if is_zero("cache_gap") else "newest_positions"


# What is measured of a model. Numbers that should be 0 are rounding, or well above it.


def rounding(rng):
    return float(rng.choice([0.0, *rng.uniform(1e-8, 4e-4, 2)]))


def gap(rng):
    return float(10 ** rng.uniform(-2.4, 1))


def healthy(rng):
    exact = ("shared", "leak", "later_weight", "repeat_gap", "equal_length_gap")
    measured = {name: rounding(rng) for name in (*exact, "batch_gap", "cache_gap")}
    return measured | {
        "shared": 0,
        "first_loss": float(rng.uniform(0.93, 1.07)),
        "copies": float(rng.choice([0.0, 0.25])),
        "last_loss": float(rng.uniform(0.05, 0.2)),
        "gradient_growth": float(rng.uniform(0.5, 9)),
        "rate_growth": float(rng.uniform(20, 90)),
        "order_gap": gap(rng),
    }


def symptoms_of(part, rng):
    """Return what is measured otherwise if a part is broken."""
    return {
        "split_data": {"shared": int(rng.integers(1, 60))},
        "initial_embedding": {"first_loss": float(rng.uniform(1.2, 11))},
        "cross_entropy": {"first_loss": float(rng.uniform(0.3, 0.85))},
        "causal_mask": {"leak": gap(rng), "later_weight": float(rng.uniform(0.004, 1))},
        "split_heads": {"leak": gap(rng)},
        "shift_right": {"copies": float(rng.choice([0.75, 1.0]))},
        "masked_softmax": dict.fromkeys(
            ("last_loss", "leak", "later_weight"), math.nan
        ),
        "update": {"gradient_growth": float(rng.uniform(25, 120))},
        "warmup_rate": {"rate_growth": float(rng.uniform(1, 5))},
        "evaluate": {"repeat_gap": gap(rng), "batch_gap": rng.integers(2) * gap(rng)},
        "layer_norm": {"equal_length_gap": gap(rng), "batch_gap": gap(rng)},
        "add_positions": {"order_gap": rounding(rng)},
        "padding_mask": {"batch_gap": gap(rng)},
        "newest_positions": {"cache_gap": float(rng.uniform(0.025, 1))},
    }[part]


def broken(rng, *parts):
    measured = healthy(rng)
    for part in parts:
        measured |= symptoms_of(part, rng)
    return measured


def judge(student, rng, *choices, n=4):
    """Let n lists of models be judged: each part broken in one, and a healthy one."""
    for _ in range(n):
        models = [*(broken(rng, part) for part in choices), healthy(rng)]
        student.agrees([models[i] for i in rng.permutation(len(models))])


@exercise.usual
def usual(rng):
    models = [broken(rng, part) for part in PARTS * 2]
    models += [broken(rng, *pair) for pair in itertools.pairwise(PARTS)]
    return ([models[i] for i in rng.permutation(len(models))],)


@exercise.case(
    "Too large a first loss is the embedding's, too small a one the loss's", weight=0.5
)
def first_loss(student, rng):
    judge(student, rng, "initial_embedding", "cross_entropy")


@exercise.case(
    "A leak is the mask's with weights on later positions, else the heads'", weight=0.5
)
def leak(student, rng):
    judge(student, rng, "causal_mask", "split_heads")
    # Weights on later positions that nothing leaks through.
    later = {"later_weight": float(rng.uniform(0.004, 1))}
    student.agrees([broken(rng, "split_heads"), healthy(rng) | later])


@exercise.case("A last loss of NaN is noticed", weight=0.5)
def not_a_number(student, rng):
    judge(student, rng, "masked_softmax")


@exercise.case(
    "Shared data, copies, a growing gradient and a flat learning rate", weight=0.5
)
def training(student, rng):
    judge(student, rng, "split_data", "shift_right", "update", "warmup_rate")


@exercise.case(
    "Padding is to blame only if the batch makes no difference without it", weight=0.5
)
def by_the_batch(student, rng):
    judge(student, rng, "layer_norm", "padding_mask")


@exercise.case("Two calls, another order and the cache are judged, too", weight=0.5)
def in_use(student, rng):
    for _ in range(4):
        models = [broken(rng, part) for part in ("add_positions", "newest_positions")]
        for influence in (0.0, gap(rng)):
            models.append(broken(rng, "evaluate") | {"batch_gap": influence})
        student.agrees([models[i] for i in rng.permutation(4)])


@exercise.case("One broken part each: every one of the fourteen is named", weight=3)
def every_part(student, rng):
    judge(student, rng, *PARTS, n=3)


@exercise.case("Where several checks fail, the first one in the order counts", weight=6)
def several_parts(student, rng):
    for pair in itertools.pairwise(PARTS):
        student.agrees([broken(rng, *pair), broken(rng, pair[1])])
    for _ in range(20):
        chosen = (rng.permutation(PARTS)[: rng.integers(2, 5)] for _ in range(3))
        student.agrees([broken(rng, *map(str, parts)) for parts in chosen])


@exercise.case(
    "NaN fails the check of the last loss only",
    visible=False,
    weight=0.5,
    pays_alone=False,
)
def after_not_a_number(student, rng):
    for _ in range(3):
        measured = broken(rng, "masked_softmax")
        others = ("leak", "later_weight", "gradient_growth", "repeat_gap")
        others += ("equal_length_gap", "batch_gap")
        student.agrees([measured | dict.fromkeys(others, math.nan)])
        student.agrees([broken(rng, "update"), broken(rng, "newest_positions")])


ON_THE_BOUND = {
    **dict.fromkeys(("leak", "repeat_gap", "equal_length_gap"), 0.001),
    **dict.fromkeys(("batch_gap", "cache_gap"), 0.001),
    **{"copies": 0.5, "gradient_growth": 20.0, "rate_growth": 10.0},
}


@exercise.fine_point("A number on the bound itself is no failure")
def on_the_bound(student, rng):
    for name in rng.permutation([*ON_THE_BOUND]).tolist():
        models = [healthy(rng) | {name: ON_THE_BOUND[name]}]
        models += [broken(rng, part) for part in rng.choice(PARTS, 2).tolist()]
        student.agrees([models[i] for i in rng.permutation(3)])


@exercise.case("The measurements are left as they were", visible=False, weight=0.5)
def unchanged(student, rng):
    student.leaves_unchanged([broken(rng, "padding_mask")])
    judge(student, rng, "padding_mask", "evaluate")


exercise.edits(
    """
last_check_wins: in checks -> in reversed(checks)
  You name the last check that fails.
  ? If a model leaks, what are the checks after the leak worth?
  # A variable is overwritten by each check in turn, without elif or return.
nothing_shared_expected: [(failed['shared'], 'split_data'), (measured -> [(measured
  You do not examine the data: examples on both sides stay unnoticed.
  ? Which check comes first in the docstring?
  # Data seem to be no part of the model.
low_first_loss_accepted: , (measured['first_loss'] < 0.9, 'cross_entropy') ->
  You take a first loss far below ln V for a good one.
  ? How well can a model predict that has learned nothing?
  # A low loss is what everybody wants.
first_loss_exchanged:
  | 'initial_embedding' -> 'cross_entropy'
  | 'cross_entropy' -> 'initial_embedding'
  You blame the loss for a first loss that is too high, and the embedding for one that
    is too low.
  ? What makes a model sure of wrong tokens before any training?
  # A loss of the wrong size is blamed on the loss.
low_first_loss_from_the_embedding: 'cross_entropy' -> 'initial_embedding'
  You blame the embedding for a first loss below ln V as well.
  ? How small can the loss of a model become that favours no token?
  # One range is checked, abs(first_loss - 1) > 0.1, with one part behind it.
leaks_are_the_masks: leaks = 'causal_mask'
  You blame the mask for every leak, also without weights on later positions.
  ? What mixes two positions before attention weighs anything?
  # A leak is what a mask is there to prevent.
leaks_are_the_heads: leaks = 'split_heads'
  You blame the heads for every leak, also with weights on later positions.
  ? Who decides that a later position gets weight 0?
  # The second branch is never reached, since later_weight is compared wrongly.
mask_without_a_leak: (failed['leak'] -> (failed['leak'] or failed['later_weight']
  You blame the mask for weights on later positions, also where nothing leaks.
  ? Which of the two numbers says whether there is a leak at all?
  # The later weight is examined first, as a check of its own.
leaks_exchanged: leaks = 'split_heads' if failed['later_weight'] else 'causal_mask'
  You blame the mask if later positions have no weight, and the heads if they have.
  ? Which of the two parts can give a later position a weight?
  # The two branches of an if change sides.
mask_for_the_shift: 'shift_right' -> 'causal_mask'
  You blame the causal mask for copies, although nothing leaks.
  ? How large is the leak of a model with a wrong mask?
  # Both make the loss nearly 0 and the samples useless.
compared_with_nan:
  | math.isnan(measured['last_loss']) -> measured['last_loss'] == math.nan
  You do not notice a last loss of NaN.
  ? What is float('nan') == float('nan') in Python, and what is NaN > 1?
  # `last_loss == math.nan` reads as it is meant, and is always False.
nan_taken_for_a_leak: value > 0.001 -> not value <= 0.001
  You take NaN for a leak.
  ? Which check does NaN fail by the docstring, and what is NaN <= 0.001 in Python?
  # `not value <= 0.001` reads like `value > 0.001`, and is True for NaN.
norm_for_nan: 'masked_softmax' -> 'layer_norm'
  You blame the layer norm for NaN.
  ? Which part divides by the sum of what may be attended to?
  # Both divide, and 0/0 is NaN.
gradient_after_the_rate:
  | (measured['gradient_growth'] > 20, 'update'), ->
  | (measured['rate_growth'] < 10, 'warmup_rate') ->
  :     (measured['rate_growth'] < 10, 'warmup_rate'),
  :     (measured['gradient_growth'] > 20, 'update')
  You examine the learning rate before the gradient.
  ? In which order does the docstring list the two?
  # The learning rate is the first thing that people change.
rate_for_the_gradient: 'update' -> 'warmup_rate'
  You blame the learning rate for a gradient that grows.
  ? By what is the learning rate judged, and by what the optimizer's step?
  # A loss that rises again is blamed on a learning rate that is too high.
step_for_the_rate: 'warmup_rate' -> 'update'
  You blame the optimizer's step for a learning rate that hardly grows.
  # A model that barely moves seems to have no optimizer.
two_calls_after_the_batch:
  | , (failed['repeat_gap'], 'evaluate') ->
  | (failed['batch_gap'], 'padding_mask') ->
  :     (failed['batch_gap'], 'padding_mask'), (failed['repeat_gap'], 'evaluate')
  You examine the influence of the batch before two calls with the same batch.
  ? If even the same batch gives two results, what does another batch prove?
  # Two calls seem too simple to be tried first.
two_calls_unexamined: , (failed['repeat_gap'], 'evaluate') ->
  You do not examine whether two calls agree.
  ? What is still switched on if nobody calls model.eval()?
  # A function without random numbers in sight seems to give one result.
norm_and_padding_exchanged:
  | 'layer_norm' -> 'padding_mask'
  | 'padding_mask' -> 'layer_norm'
  You blame padding for a difference that is there without padding, and the norm for
    one that is there with padding only.
  ? In a batch of equal lengths, how much padding is there?
  # The two differences by the batch change their names.
padding_for_every_batch: 'layer_norm' -> 'padding_mask'
  You blame padding wherever the batch has an influence.
  ? What does the batch of equal lengths measure?
  # Results that depend on the batch are blamed on padding.
order_must_not_matter: not failed['order_gap'] -> failed['order_gap']
  You blame the positions if another order does make a difference.
  ? Should 69 and 96 be read in the same way?
  # All other differences should be 0, so this one is expected to be 0, too.
order_must_be_exactly_0: not failed['order_gap'] -> measured['order_gap'] == 0
  You blame the positions only if another order makes no difference at all, not even
    by rounding.
  ? Up to which number does the docstring allow rounding?
  # `order_gap == 0` reads as it is meant.
order_after_the_batch:
  | (not failed['order_gap'], 'add_positions'), (failed['batch_gap'], 'padding_mask') ->
  :     (failed['batch_gap'], 'padding_mask'), (not failed['order_gap'],
  :     'add_positions')
  You examine padding before the order of the source.
  ? In which order does the docstring list the two?
  # The two checks of the batch are written one after the other.
order_unexamined: , (not failed['order_gap'], 'add_positions') ->
  You do not examine whether another order makes a difference.
  ? What is wrong with a model that reads 69 and 96 in the same way?
  # It is the one difference that should not be 0, and falls out of the loop.
mask_for_the_cache: 'newest_positions' -> 'causal_mask'
  You blame the causal mask for a difference that only a cache makes.
  ? Which part is used with a cache only?
  # A new token that attends to the wrong keys repeats words, too.
cache_unexamined: , (failed['cache_gap'], 'newest_positions') ->
  You do not examine what a cache changes.
  ? Which check is the last one in the docstring?
  # A cache is for speed, and seems to change nothing else.
rounding_taken_for_a_fault: value > 0.001 -> value > 0
  You take rounding for a fault: numbers below 0.001 that should be 0.
  ? How exact are 32-bit floats after a few hundred operations?
  # `if measured[name]:` is True for 1e-7.
bounds_are_failures:
  | value > 0.001 -> value >= 0.001
  | measured['copies'] > 0.5 -> measured['copies'] >= 0.5
  | measured['gradient_growth'] > 20 -> measured['gradient_growth'] >= 20
  | measured['rate_growth'] < 10 -> measured['rate_growth'] <= 10
  You take numbers on the bound itself, such as copies of 0.5, for failures.
  ? Is 20 above 20?
  # >= and > are a character apart.
small_leaks_accepted: value > 0.001 -> value > 0.1
  You accept differences above 0.001 where 0 is expected.
  ? Up to which number does the docstring allow rounding?
  # 0.1 looks small next to logits of size 10.
healthy_is_empty: 'healthy' -> ''
  You return an empty text for a model that passes all checks.
  ? What does the docstring return if no check fails?
  # Nothing is to blame, so nothing is named.
""",
)
