"""From measurements to the part that is to blame, in the order of the checks."""

import math
from collections.abc import Mapping, Sequence


def parts_to_blame(models: Sequence[Mapping[str, float]]) -> list[str]:
    """Return for each model the part to blame, by the first check that fails.

    models : what was measured of each: names to numbers, all of them there. A number up
        to 0.001 counts as 0, by rounding. The checks, in their order:

        - shared: examples that are both held out and learned from; not 0: "split_data"
        - first_loss: as a multiple of ln V; above 1.1: "initial_embedding", below 0.9:
          "cross_entropy"
        - leak: change of earlier logits with later words; not 0: "causal_mask" if
          later_weight, the largest weight on a later position, is not 0 either,
          otherwise "split_heads"
        - copies: share of tokens predicted to come again; above 0.5: "shift_right"
        - last_loss: NaN: "masked_softmax"
        - gradient_growth: last norm by first norm; above 20: "update"
        - rate_growth: greatest learning rate by first one; below 10: "warmup_rate"
        - repeat_gap: difference of two calls; not 0: "evaluate"
        - equal_length_gap: difference made by the batch without padding; not 0:
          "layer_norm"
        - order_gap: difference made by another order of the source; 0: "add_positions"
        - batch_gap: difference made by the batch with padding; not 0: "padding_mask"
        - cache_gap: difference made by a cache; not 0: "newest_positions"

    Returns a name for each model, "healthy" where no check fails. If last_loss is NaN,
    others may be NaN as well, leak too: NaN fails the check of last_loss only.
    Source: Karpathy (2019), A Recipe for Training Neural Networks, section 2.

    >>> exact = ("shared", "leak", "later_weight", "copies", "repeat_gap")
    >>> exact += ("equal_length_gap", "batch_gap", "cache_gap")
    >>> healthy = dict.fromkeys(exact, 0.0)
    >>> healthy |= {"first_loss": 1.0, "last_loss": 0.1, "gradient_growth": 2.0}
    >>> healthy |= {"rate_growth": 30.0, "order_gap": 15.0}
    >>> parts_to_blame([healthy, healthy | {"leak": 0.02, "cache_gap": 0.5}])
    ['healthy', 'split_heads']
    """
    parts = []
    for measured in models:
        failed = {name: value > 0.001 for name, value in measured.items()}
        leaks = "causal_mask" if failed["later_weight"] else "split_heads"
        checks = [
            (failed["shared"], "split_data"),
            (measured["first_loss"] > 1.1, "initial_embedding"),
            (measured["first_loss"] < 0.9, "cross_entropy"),
            (failed["leak"], leaks),
            (measured["copies"] > 0.5, "shift_right"),
            (math.isnan(measured["last_loss"]), "masked_softmax"),
            (measured["gradient_growth"] > 20, "update"),
            (measured["rate_growth"] < 10, "warmup_rate"),
            (failed["repeat_gap"], "evaluate"),
            (failed["equal_length_gap"], "layer_norm"),
            (not failed["order_gap"], "add_positions"),
            (failed["batch_gap"], "padding_mask"),
            (failed["cache_gap"], "newest_positions"),
        ]
        parts.append(next((part for fails, part in checks if fails), "healthy"))
    return parts
