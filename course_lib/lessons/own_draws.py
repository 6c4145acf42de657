"""The learner's ``top_p_filter`` and ``sample`` for the view of the next token.

The page runs the model (lesson 12), applies the temperature and top-k, and asks the
notebook for the rest. Where a function is missing, raises, takes long or returns
something unfit, the course's takes over, and a sentence says so.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.lessons.own_parts import in_time, is_missing, raised
from course_lib.nn import sampling

SECONDS = 2.0  # for one call of a learner's function
ROUNDING = 1e-6  # of p and u: what float32 alone decides is right either way
DIGITS = 1e-5  # by which probabilities may differ


class UnfitResult(Exception):
    """A learner's function has returned what the view cannot draw."""


def answer(question: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return which tokens top-p leaves and, if u is there, the one that is drawn.

    question : ``ids`` and ``probabilities`` of the tokens that top-k leaves, ``size``
        of the vocabulary, ``p``, and ``u``, which is None where nothing is drawn
    names : the notebook's

    ``kept`` has pairs of token id and probability, ``cut`` says who made the cut.
    With u, ``id`` and ``probability`` are of the token drawn, and ``drawn`` says by
    whom. ``late`` is whether a function took too long.
    """
    probabilities = torch.zeros(question["size"])
    probabilities[question["ids"]] = torch.tensor(question["probabilities"])
    after_cut, cut, is_late = _cut(names, probabilities, question["p"])
    left = after_cut.nonzero()[:, 0].tolist()
    answered = {
        "kept": [[token_id, float(after_cut[token_id])] for token_id in left],
        "cut": cut,
    }
    if question["u"] is None:
        return answered | {"late": is_late}
    u = torch.tensor(question["u"], dtype=torch.float64)
    token_id, drawn, draw_is_late = _drawn(names, after_cut, u)
    return answered | {
        "id": token_id,
        "probability": float(after_cut[token_id]),
        "drawn": drawn,
        "late": is_late or draw_is_late,
    }


def _cut(
    names: Mapping[str, Any], probabilities: Tensor, p: float
) -> tuple[Tensor, str, bool]:
    """Return the probabilities after top-p, by whom, and whether that took too long."""
    near = (min(1.0, max(ROUNDING, p + off)) for off in (0, -ROUNDING, ROUNDING))
    right = [sampling.top_p_filter(probabilities, each) for each in near]
    own, why, is_late = _own(
        names, sampling.top_p_filter, _probabilities, probabilities, p
    )
    if own is None:
        return right[0], f"{why}The course's top_p_filter makes the cut.", is_late
    own = own.to(right[0].dtype)
    made = "Your own top_p_filter makes the cut"
    if any(torch.allclose(own, each, rtol=0, atol=DIGITS) for each in right):
        return own, f"{made}, the same as the course's.", False
    n_own, n_right = int((own > 0).sum()), int((right[0] > 0).sum())
    if n_own == n_right:
        return own, f"{made}: its probabilities are others than the course's.", False
    return own, f"{made}: it leaves {n_own}, and the course's {n_right}.", False


def _drawn(
    names: Mapping[str, Any], probabilities: Tensor, u: Tensor
) -> tuple[int, str, bool]:
    """Return the token that is drawn, by whom, and whether that took too long."""
    near = ((u + off).clamp(0, 1 - ROUNDING) for off in (0, -ROUNDING, ROUNDING))
    right = [
        int(sampling.sample(probabilities / probabilities.sum(), each)) for each in near
    ]
    own, why, is_late = _own(names, sampling.sample, _token_id, probabilities, u)
    if own is None:
        return right[0], f"{why}The course's sample draws.", is_late
    if own in right:
        return own, "Your own sample draws, the same as the course's.", False
    what = (
        "another token than the course's"
        if probabilities[own] > 0
        else "a token that is cut"
    )
    return own, f"Your own sample draws: for the same u, it chose {what}.", False


def _own(
    names: Mapping[str, Any],
    course: Callable[..., Tensor],
    read: Callable[[Any, Tensor], Any],
    row: Tensor,
    number: Any,
) -> tuple[Any, str, bool]:
    """Return what the learner's function gives; or None, why, and whether it was late.

    read : checks what was returned
    """
    name = course.__name__
    function = names.get(name)
    if function is None or is_missing(function):
        return None, f"Your own {name} is not written yet. ", False
    if function is course:
        return None, "", False
    try:
        arguments = row.clone(), number.clone() if torch.is_tensor(number) else number
        return read(in_time(SECONDS, function, *arguments), row), "", False
    except UnfitResult as error:
        return None, f"Your own {name} returned {error}. ", False
    except TimeoutError:
        return None, f"Your own {name} took over {SECONDS:g} seconds. ", True
    except Exception as error:  # whatever the learner's function raises
        return None, f"Your own {name} raised {raised(error)}. ", False


def _probabilities(returned: Any, row: Tensor) -> Tensor:
    if not isinstance(returned, Tensor):
        raise UnfitResult(f"{_kind(returned)}, where a tensor was expected")
    if returned.shape != row.shape:
        shapes = f"{tuple(returned.shape)}, where {tuple(row.shape)} was expected"
        raise UnfitResult(f"the shape {shapes}")
    values = returned.detach().cpu().double()
    if not values.isfinite().all():
        raise UnfitResult("numbers that are not finite")
    if (values < 0).any():
        raise UnfitResult("numbers below 0")
    if abs(total := float(values.sum()) - 1) > 1e-3:
        raise UnfitResult(f"probabilities that sum to {total + 1:.4g} and not to 1")
    return values


def _token_id(returned: Any, row: Tensor) -> int:
    value = returned
    if isinstance(value, Tensor):
        if value.numel() != 1:
            shape = tuple(value.shape)
            raise UnfitResult(f"the shape {shape}, where one token id was expected")
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise UnfitResult(f"{_kind(value)}, where a token id was expected")
    if not 0 <= value < len(row):
        raise UnfitResult(f"{value}, which is no token id of {len(row)}")
    return int(value)


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
