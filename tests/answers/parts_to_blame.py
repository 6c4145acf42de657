import math

from tests.answers import Answers

answers = Answers("parts_to_blame")


def of_each(part_of):
    """Return an answer for several models, made of one for a single model."""

    def answer(models):
        return [part_of(measured) for measured in models]

    answer.__name__ = part_of.__name__
    return answer


@answers.correct
@of_each
def one_after_the_other(measured):
    zero = {name for name, value in measured.items() if value <= 1e-3}
    if "shared" not in zero:
        part = "split_data"
    elif measured["first_loss"] > 1.1:
        part = "initial_embedding"
    elif measured["first_loss"] < 0.9:
        part = "cross_entropy"
    elif "leak" not in zero:
        part = "split_heads" if "later_weight" in zero else "causal_mask"
    elif measured["copies"] > 0.5:
        part = "shift_right"
    elif measured["last_loss"] != measured["last_loss"]:
        part = "masked_softmax"
    elif measured["gradient_growth"] > 20:
        part = "update"
    elif measured["rate_growth"] < 10:
        part = "warmup_rate"
    elif "repeat_gap" not in zero:
        part = "evaluate"
    elif "equal_length_gap" not in zero:
        part = "layer_norm"
    elif "order_gap" in zero:
        part = "add_positions"
    elif "batch_gap" not in zero:
        part = "padding_mask"
    elif "cache_gap" not in zero:
        part = "newest_positions"
    else:
        part = "healthy"
    return part


@answers.correct
@of_each
def from_the_end_to_the_front(measured):
    def differs(name):
        return abs(measured[name]) > 0.001

    part = "healthy"
    rules = [
        ("cache_gap", differs, "newest_positions"),
        ("batch_gap", differs, "padding_mask"),
        ("order_gap", lambda name: not differs(name), "add_positions"),
        ("equal_length_gap", differs, "layer_norm"),
        ("repeat_gap", differs, "evaluate"),
        ("rate_growth", lambda name: measured[name] < 10, "warmup_rate"),
        ("gradient_growth", lambda name: measured[name] > 20, "update"),
        ("last_loss", lambda name: math.isnan(measured[name]), "masked_softmax"),
        ("copies", lambda name: measured[name] > 0.5, "shift_right"),
        ("leak", differs, "split_heads"),
        ("first_loss", lambda name: measured[name] < 0.9, "cross_entropy"),
        ("first_loss", lambda name: measured[name] > 1.1, "initial_embedding"),
        ("shared", differs, "split_data"),
    ]
    for name, has_failed, suspect in rules:
        if has_failed(name):
            part = suspect
    if part == "split_heads" and differs("later_weight"):
        return "causal_mask"
    return part


@answers.other
@of_each
def only_the_first_loss(measured):
    if measured["first_loss"] > 1.1:
        return "initial_embedding"
    return "cross_entropy" if measured["first_loss"] < 0.9 else "healthy"


@answers.other
@of_each
def largest_number(measured):
    return max(measured, key=measured.get)


@answers.other
@of_each
def always_the_mask(measured):
    return "causal_mask"
