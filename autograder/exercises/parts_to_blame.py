"""Cases and misconceptions of ``parts_to_blame``."""

import itertools
import math

from autograder import Exercise
from course_lib.lessons.patients.verdicts import parts_to_blame

exercise = Exercise(
    parts_to_blame,
    lesson="15_bug_hunt",
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


ORDER = (
    *("shared", "high", "low", "leak", "copies", "nan", "gradient", "schedule"),
    *("repeat", "equal", "order", "batch", "cache"),
)


@exercise.variants
def variants(
    models,
    *,
    order=ORDER,
    exact=0.001,
    wins="first",
    bounds="hold",
    low="cross_entropy",
    first_loss="as it is",
    leak_of="later_weight",
    copies="shift_right",
    nan="isnan",
    nan_fails=False,
    nan_part="masked_softmax",
    growth="update",
    schedule="warmup_rate",
    repeat="evaluate",
    by_the_batch="as it is",
    equal="layer_norm",
    order_check="0",
    order_part="add_positions",
    cache="newest_positions",
    nothing="healthy",
):
    parts = []
    for measured in models:
        fail_too = bounds == "fail"  # numbers on the bound
        failed = {
            name: value > exact
            or (fail_too and value == exact)
            or (nan_fails and math.isnan(value))
            for name, value in measured.items()
        }
        leaks = "causal_mask" if failed["later_weight"] else "split_heads"
        leaks = {
            "mask": "causal_mask",
            "heads": "split_heads",
            "exchanged": "split_heads" if failed["later_weight"] else "causal_mask",
        }.get(leak_of, leaks)
        is_nan = math.isnan(measured["last_loss"])
        too_high, too_low = "initial_embedding", low
        if first_loss == "exchanged":
            too_high, too_low = too_low, too_high
        there, only_there = equal, "padding_mask"
        if by_the_batch == "exchanged":
            there, only_there = only_there, there
        failed_order = failed["order_gap"]
        if order_check == "exactly 0":
            failed_order = measured["order_gap"] != 0
        leaks_at_all = failed["leak"]
        if leak_of == "mask, also without a leak" and failed["later_weight"]:
            leaks_at_all = True
        checks = {
            "shared": (failed["shared"], "split_data"),
            "high": (measured["first_loss"] > 1.1, too_high),
            "low": (measured["first_loss"] < 0.9, too_low),
            "leak": (leaks_at_all, leaks),
            "copies": (
                measured["copies"] > 0.5 or (fail_too and measured["copies"] == 0.5),
                copies,
            ),
            "nan": (
                is_nan if nan == "isnan" else measured["last_loss"] > 1e9,
                nan_part,
            ),
            "gradient": (
                measured["gradient_growth"] > 20
                or (fail_too and measured["gradient_growth"] == 20),
                growth,
            ),
            "schedule": (
                measured["rate_growth"] < 10
                or (fail_too and measured["rate_growth"] == 10),
                schedule,
            ),
            "repeat": (failed["repeat_gap"], repeat),
            "equal": (failed["equal_length_gap"], there),
            "order": (
                failed_order if order_check == "not 0" else not failed_order,
                order_part,
            ),
            "batch": (failed["batch_gap"], only_there),
            "cache": (failed["cache_gap"], cache),
        }
        named = [checks[name][1] for name in order if checks[name][0]]
        parts.append([*(named or [nothing])][-1 if wins == "last" else 0])
    return parts


def without(*names):
    return tuple(name for name in ORDER if name not in names)


def moved(name, before):
    """Return the order with one check moved before another."""
    rest = without(name)
    index = rest.index(before)
    return (*rest[:index], name, *rest[index:])


exercise.option(
    "last_check_wins",
    "You name the last check that fails.",
    "If a model leaks, what are the checks after the leak worth?",
    why="A variable is overwritten by each check in turn, without elif or return.",
    wins="last",
)
exercise.option(
    "nothing_shared_expected",
    "You do not examine the data: examples on both sides stay unnoticed.",
    "Which check comes first in the docstring?",
    why="Data seem to be no part of the model.",
    order=without("shared"),
)
exercise.option(
    "low_first_loss_accepted",
    "You take a first loss far below ln V for a good one.",
    "How well can a model predict that has learned nothing?",
    why="A low loss is what everybody wants.",
    order=without("low"),
)
exercise.option(
    "first_loss_exchanged",
    "You blame the loss for a first loss that is too high, and the embedding for one "
    "that is too low.",
    "What makes a model sure of wrong tokens before any training?",
    why="A loss of the wrong size is blamed on the loss.",
    first_loss="exchanged",
)
exercise.option(
    "low_first_loss_from_the_embedding",
    "You blame the embedding for a first loss below ln V as well.",
    "How small can the loss of a model become that favours no token?",
    why="One range is checked, abs(first_loss - 1) > 0.1, with one part behind it.",
    low="initial_embedding",
)
exercise.option(
    "leaks_are_the_masks",
    "You blame the mask for every leak, also without weights on later positions.",
    "What mixes two positions before attention weighs anything?",
    why="A leak is what a mask is there to prevent.",
    leak_of="mask",
)
exercise.option(
    "leaks_are_the_heads",
    "You blame the heads for every leak, also with weights on later positions.",
    "Who decides that a later position gets weight 0?",
    why="The second branch is never reached, since later_weight is compared wrongly.",
    leak_of="heads",
)
exercise.option(
    "mask_without_a_leak",
    "You blame the mask for weights on later positions, also where nothing leaks.",
    "Which of the two numbers says whether there is a leak at all?",
    why="The later weight is examined first, as a check of its own.",
    leak_of="mask, also without a leak",
)
exercise.option(
    "leaks_exchanged",
    "You blame the mask if later positions have no weight, and the heads if they have.",
    "Which of the two parts can give a later position a weight?",
    why="The two branches of an if change sides.",
    leak_of="exchanged",
)
exercise.option(
    "mask_for_the_shift",
    "You blame the causal mask for copies, although nothing leaks.",
    "How large is the leak of a model with a wrong mask?",
    why="Both make the loss nearly 0 and the samples useless.",
    copies="causal_mask",
)
exercise.option(
    "compared_with_nan",
    "You do not notice a last loss of NaN.",
    "What is float('nan') == float('nan') in Python, and what is NaN > 1?",
    why="`last_loss == math.nan` reads as it is meant, and is always False.",
    nan="compared",
)
exercise.option(
    "nan_taken_for_a_leak",
    "You take NaN for a leak.",
    "Which check does NaN fail by the docstring, and what is NaN <= 0.001 in Python?",
    why="`not value <= 0.001` reads like `value > 0.001`, and is True for NaN.",
    nan_fails=True,
)
exercise.option(
    "norm_for_nan",
    "You blame the layer norm for NaN.",
    "Which part divides by the sum of what may be attended to?",
    why="Both divide, and 0/0 is NaN.",
    nan_part="layer_norm",
)
exercise.option(
    "gradient_after_the_rate",
    "You examine the learning rate before the gradient.",
    "In which order does the docstring list the two?",
    why="The learning rate is the first thing that people change.",
    order=moved("schedule", "gradient"),
)
exercise.option(
    "rate_for_the_gradient",
    "You blame the learning rate for a gradient that grows.",
    "By what is the learning rate judged, and by what the optimizer's step?",
    why="A loss that rises again is blamed on a learning rate that is too high.",
    growth="warmup_rate",
)
exercise.option(
    "step_for_the_rate",
    "You blame the optimizer's step for a learning rate that hardly grows.",
    "By what is the learning rate judged, and by what the optimizer's step?",
    why="A model that barely moves seems to have no optimizer.",
    schedule="update",
)
exercise.option(
    "two_calls_after_the_batch",
    "You examine the influence of the batch before two calls with the same batch.",
    "If even the same batch gives two results, what does another batch prove?",
    why="Two calls seem too simple to be tried first.",
    order=moved("repeat", "cache"),
)
exercise.option(
    "two_calls_unexamined",
    "You do not examine whether two calls agree.",
    "What is still switched on if nobody calls model.eval()?",
    why="A function without random numbers in sight seems to give one result.",
    order=without("repeat"),
)
exercise.option(
    "norm_and_padding_exchanged",
    "You blame padding for a difference that is there without padding, and the norm "
    "for one that is there with padding only.",
    "In a batch of equal lengths, how much padding is there?",
    why="The two differences by the batch change their names.",
    by_the_batch="exchanged",
)
exercise.option(
    "padding_for_every_batch",
    "You blame padding for every influence of the batch.",
    "What does the batch of equal lengths measure?",
    why="Results that depend on the batch are blamed on padding.",
    equal="padding_mask",
)
exercise.option(
    "order_must_not_matter",
    "You blame the positions if another order does make a difference.",
    "Should 69 and 96 be read in the same way?",
    why="All other differences should be 0, so this one is expected to be 0, too.",
    order_check="not 0",
)
exercise.option(
    "order_must_be_exactly_0",
    "You blame the positions only if another order makes no difference at all, not "
    "even by rounding.",
    "Up to which number does the docstring allow rounding?",
    why="`order_gap == 0` reads as it is meant.",
    order_check="exactly 0",
)
exercise.option(
    "order_after_the_batch",
    "You examine padding before the order of the source.",
    "In which order does the docstring list the two?",
    why="The two checks of the batch are written one after the other.",
    order=moved("batch", "order"),
)
exercise.option(
    "order_unexamined",
    "You do not examine whether another order makes a difference.",
    "What is wrong with a model that reads 69 and 96 in the same way?",
    why="It is the one difference that should not be 0, and falls out of the loop.",
    order=without("order"),
)
exercise.option(
    "mask_for_the_cache",
    "You blame the causal mask for a difference that only a cache makes.",
    "Which part is used with a cache only?",
    why="A new token that attends to the wrong keys repeats words, too.",
    cache="causal_mask",
)
exercise.option(
    "cache_unexamined",
    "You do not examine what a cache changes.",
    "Which check is the last one in the docstring?",
    why="A cache is for speed, and seems to change nothing else.",
    order=without("cache"),
)
exercise.option(
    "rounding_taken_for_a_fault",
    "You take rounding for a fault: numbers below 0.001 that should be 0.",
    "How exact are 32-bit floats after a few hundred operations?",
    why="`if measured[name]:` is True for 1e-7.",
    exact=0.0,
)
exercise.option(
    "bounds_are_failures",
    "You take numbers on the bound itself, such as copies of 0.5, for failures.",
    "Is 20 above 20?",
    why=">= and > are a character apart.",
    bounds="fail",
)
exercise.option(
    "small_leaks_accepted",
    "You accept differences above 0.001 where 0 is expected.",
    "Up to which number does the docstring allow rounding?",
    why="0.1 looks small next to logits of size 10.",
    exact=0.1,
)
exercise.option(
    "healthy_is_empty",
    "You return an empty text for a model that passes all checks.",
    "What does the docstring return if no check fails?",
    why="Nothing is to blame, so nothing is named.",
    nothing="",
)
