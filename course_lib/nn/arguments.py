"""What the functions and modules of ``course_lib.nn`` check before they compute.

PyTorch broadcasts shapes that do not belong together, adds a mask of floats to the
scores and takes token id −1 for the last one, all without a word. Here such arguments
are refused, by name. An answer to an exercise need not do that: only the course's own
functions do.

Checks read shapes and kinds of numbers only. So none ever waits for a GPU, and
``torch.compile``, ``torch.export`` and ``torch.vmap`` run through it. ``token_ids``
reads the numbers themselves, where there are any to read; so do the checks of what a
token is drawn from: ``logits``, ``probabilities`` and ``drawn_numbers``.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.arguments import Expected, Shapes, parse, remembered, require_boolean


def tensors(
    shapes: Shapes,
    *values: Any,
    parameters: Mapping[str, Any] | None = None,
    like: Any = None,
    broadcast: bool = True,
    **sizes: int,
) -> tuple[int, ...]:
    """Refuse tensors of floats whose shapes do not fit each other.

    shapes : the function whose docstring has the shapes, or for each tensor its name
        and axes: "q (..., n, d_k), k (..., m, d_k)". An axis of the same name has the
        same length everywhere; "3·d_h" is three times as long as "d_h", which stood
        before; d_… is at least 1; "d_in+d_v" is as long as both, a number is a length;
        the axes that ... stands for are broadcast
    values : the tensors
    parameters : holds those of them, by name, that are no values
    like : a parameter whose dtype and device they must have; the first one's, if None
    broadcast : whether the axes that ... stands for may differ as in broadcasting
    sizes : lengths of axes that are known already

    Returns the axes that ... stands for, broadcast. Raises ``TypeError`` or
    ``ValueError``, which names the argument, for tensors of other shapes, of other
    numbers than floats, of several dtypes or on several devices.

    >>> q, k = torch.ones(2, 3), torch.ones(4, 5)
    >>> tensors("q (..., n, d_k), k (..., m, d_k)", q, k)
    Traceback (most recent call last):
    ValueError: k must have shape (..., m, d_k) with d_k=3, got (4, 5)
    """
    # torch.compile reads what is not remembered; else this is half the time.
    parsed = (parse if torch.compiler.is_compiling() else remembered)(shapes)
    leading: tuple[int, ...] = ()
    floats = [expected for expected in parsed if not expected.kind]
    for number, expected in enumerate(floats):
        name = expected.name
        if number < len(values):
            value = values[number]
        elif parameters is not None and name in parameters:
            value = parameters[name]
        else:
            raise ValueError(f"parameters must hold {name}, and lacks it")
        _require_floats(name, value, like if isinstance(like, Tensor) else values[0])
        shape = tuple(value.shape)
        n_leading = len(shape) - len(expected.axes)
        if n_leading < 0 or (n_leading and not expected.leading):
            raise _wrong_shape(expected, value)
        if expected.leading:
            own = shape[:n_leading]
            together = own if not number else _broadcast(leading, own)
            if together is None or (number and not broadcast and own != leading):
                raise _wrong_shape(expected, value, "...", leading)
            leading = together
        for axis, length in zip(expected.axes, shape[n_leading:], strict=True):
            factor, _, single = axis.rpartition("·")
            if single not in sizes:
                sizes[single] = _length(single, length, sizes)
            if length != int(factor or 1) * sizes[single]:
                raise _wrong_shape(expected, value, single, sizes[single])
            if not length and axis.startswith("d_"):  # a mean or √d_k of 0 numbers
                raise _wrong_shape(expected, value, axis, "1 or more")
    return leading


def _length(axis: str, length: int, sizes: dict[str, int]) -> int:
    """Return how long an axis must be: as it is, unless it is a number or a sum."""
    if axis.isdigit():
        return int(axis)
    return sum(sizes[each] for each in axis.split("+")) if "+" in axis else length


def _require_floats(name: str, value: Any, like: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    if not value.is_floating_point():
        raise TypeError(f"{name} must hold floats, got {_kind(value)}")
    if value.device != like.device:
        raise ValueError(
            f"{name} must be on {like.device}, as what it meets, got {value.device}"
        )
    # Under autocast PyTorch makes the dtypes equal.
    if value.dtype != like.dtype and not torch.is_autocast_enabled(value.device.type):
        raise TypeError(
            f"{name} must hold {_kind(like)}, as what it meets, got {_kind(value)}"
        )


def _kind(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _wrong_shape(
    expected: Expected, value: Tensor, axis: str = "", length: Any = None
) -> ValueError:
    known = f" with {axis}={length}" if axis and not axis.isdigit() else ""
    return ValueError(
        f"{expected.name} must have shape {expected.shape}{known}, got "
        f"{tuple(value.shape)}"
    )


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape of both together, or None if they do not fit."""
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    n_more = len(longer) - len(shorter)
    together = [*longer[:n_more]]
    for one, other in zip(longer[n_more:], shorter, strict=True):
        if one != other and one != 1 and other != 1:
            return None
        together.append(other if one == 1 else one)
    return tuple(together)


def axes(shape: str, value: Any) -> None:
    """Refuse what is not a tensor with these axes, of numbers of any kind.

    >>> axes("x (..., n, d)", torch.ones(3))
    Traceback (most recent call last):
    ValueError: x must have shape (..., n, d), got (3,)
    """
    (expected,) = parse(shape)
    if not isinstance(value, Tensor):
        raise TypeError(f"{expected.name} must be a tensor, got {type(value).__name__}")
    if value.ndim < len(expected.axes):
        raise _wrong_shape(expected, value)


def heads(d_model: Any, n_heads: Any, name: str = "d_model") -> None:
    """Refuse a number of heads that does not divide the length of a token's vector.

    >>> heads(10, 3)
    Traceback (most recent call last):
    ValueError: d_model=10 is not divisible by n_heads=3
    """
    whole(1, **{name: d_model, "n_heads": n_heads})
    if d_model % n_heads:
        raise ValueError(f"{name}={d_model} is not divisible by n_heads={n_heads}")


def mask(name: str, may_attend: Any, shape: Sequence[int]) -> None:
    """Refuse a mask that is not boolean, or that does not fit the scores.

    shape : that of the scores; an axis of length 1, or one that is missing in front,
        counts for all. The last axis has to be there. None is no mask

    >>> mask("may_attend", torch.ones(3, 1, dtype=torch.bool), (2, 4, 5))
    Traceback (most recent call last):
    ValueError: may_attend must have shape (2, 4, 5), or 1 in place of some of these, \
got (3, 1)
    """
    if may_attend is None:
        return
    if not isinstance(may_attend, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(may_attend).__name__}")
    if may_attend.dtype != torch.bool:  # quick, for there is one in each step
        require_boolean(may_attend, name)
    own = tuple(may_attend.shape)
    if (
        not own
        or len(own) > len(shape)
        or not all(
            length in (1, known)
            for length, known in zip(reversed(own), reversed(shape), strict=False)
        )
    ):
        raise ValueError(
            f"{name} must have shape {tuple(shape)}, or 1 in place of some of these, "
            f"got {own}"
        )


def grouped_queries(q: Any, k: Any, v: Any, may_attend: Any) -> None:
    """Refuse heads of queries, keys and values, and a mask, that do not fit.

    >>> q, k, v = torch.ones(4, 5, 2), torch.ones(2, 7, 2), torch.ones(7, 2)
    >>> grouped_queries(q, k, v, None)
    Traceback (most recent call last):
    ValueError: v must have shape (..., n_kv_heads, m, d_v), got (7, 2)
    """
    leading = tensors(
        "q (..., n_heads, n, d_k), k (..., n_kv_heads, m, d_k), "
        "v (..., n_kv_heads, m, d_v)",
        *(q, k, v),
    )
    whole(1, n_heads=q.shape[-3], n_kv_heads=k.shape[-3])
    mask("may_attend", may_attend, (*leading, q.shape[-2], k.shape[-2]))


def mask_between(name: str, may_attend: Any, x: Tensor, memory: Tensor) -> None:
    """Refuse what is no mask for tokens (..., n, d) that attend to others (..., m, d).

    >>> x = memory = torch.ones(2, 5, 4)
    >>> mask_between("may_attend", torch.ones(5), x, memory)
    Traceback (most recent call last):
    TypeError: may_attend must be boolean, got float32: True means "may attend"; \
convert an additive mask with convert_mask
    """
    leading = _broadcast(tuple(x.shape[:-2]), tuple(memory.shape[:-2])) or ()
    mask(name, may_attend, (*leading, x.shape[-2], memory.shape[-2]))


def token_ids(
    name: str,
    value: Any,
    n_axes: int | None = None,
    *,
    batch: int | None = None,
    vocab_size: int | None = None,
    besides: int | None = None,
    from_end: bool = False,
) -> None:
    """Refuse what is not a tensor of token ids.

    n_axes : how many axes it must have; any, if None
    batch : length of the first; any, if None
    vocab_size : token ids are 0 … vocab_size − 1; not checked, if None
    besides : one more that is allowed
    from_end : whether what comes next would count negative ones from the end silently

    >>> token_ids("targets", torch.tensor([3, -1]), vocab_size=4)
    Traceback (most recent call last):
    ValueError: targets must hold token ids from 0 to 3, got -1
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    if value.dtype not in (torch.int64, torch.int32):  # uint8 would be taken for a mask
        raise TypeError(f"{name} must hold int64 or int32, got {_kind(value)}")
    if n_axes is not None and value.ndim != n_axes:
        raise ValueError(f"{name} must have {n_axes} axes, got {tuple(value.shape)}")
    if batch is not None and value.shape[0] != batch:
        raise ValueError(f"{name} must have {batch} rows, got {value.shape[0]}")
    if vocab_size is None or torch.compiler.is_compiling():
        return
    # To read the numbers of a GPU is to wait for it, each time. There gather, scatter
    # and embeddings end the program at a wrong one; an index takes another token.
    if value.device.type != "cpu" and not from_end:
        return
    wrong = (value < 0) | (value >= vocab_size)
    if besides is not None:
        wrong &= value != besides
    try:
        first = value[wrong].flatten()[:1].tolist()
    except RuntimeError:  # under vmap a tensor has no numbers
        return
    if first:
        raise ValueError(
            f"{name} must hold token ids from 0 to {vocab_size - 1}, got {first[0]}"
        )


def whole(least: int, **values: Any) -> None:
    """Refuse arguments that are not whole numbers, or smaller than ``least``.

    >>> whole(1, n_heads=-2)
    Traceback (most recent call last):
    ValueError: n_heads must be at least 1, got -2
    """
    for name, value in values.items():
        whole_number(name, value)
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")


def whole_number(name: str, value: Any) -> None:
    """Refuse an argument that is not a whole number."""
    kinds = int | np.integer | torch.SymInt
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError(
            f"{name} must be a whole number, got {value!r:.40} ({type(value).__name__})"
        )


def token_id(name: str, value: Any, vocab_size: int) -> None:
    """Refuse a number that is not one token's id.

    >>> token_id("padding_id", 9, 4)
    Traceback (most recent call last):
    ValueError: padding_id must be a token id from 0 to 3, got 9
    """
    whole_number(name, value)
    if not 0 <= value < vocab_size:
        raise ValueError(
            f"{name} must be a token id from 0 to {vocab_size - 1}, got {value}"
        )


def real(least: float, most: float, **values: Any) -> None:
    """Refuse arguments that are not finite numbers from ``least`` to ``most``.

    >>> real(0, 1, smoothing=2)
    Traceback (most recent call last):
    ValueError: smoothing must be a finite number from 0 to 1, got 2
    """
    for name, value in values.items():
        kinds = int | float | np.integer | np.floating
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise TypeError(
                f"{name} must be a number, got {value!r:.40} ({type(value).__name__})"
            )
        if not (least <= value <= most and math.isfinite(value)):
            raise ValueError(
                f"{name} must be a finite number from {least} to {most}, got {value}"
            )


def below_one(**values: Any) -> None:
    """Refuse arguments that are not numbers from 0 to below 1.

    >>> below_one(beta_1=1.0)
    Traceback (most recent call last):
    ValueError: beta_1 must be below 1, got 1.0
    """
    real(0, math.inf, **values)
    for name, value in values.items():
        if value >= 1:
            raise ValueError(f"{name} must be below 1, got {value}")


def parts(name: str, value: Any, expected: str) -> None:
    """Refuse what is not a tuple of as many parts as are expected.

    >>> parts("state", {}, "(m, v, step)")
    Traceback (most recent call last):
    TypeError: state must be a tuple (m, v, step), got dict
    """
    if not isinstance(value, tuple):
        raise TypeError(
            f"{name} must be a tuple {expected}, got {type(value).__name__}"
        )
    if len(value) != expected.count(",") + 1:
        raise ValueError(
            f"{name} must be a tuple {expected}, got {len(value)} of its parts"
        )


def gradients(parameters: Any, values: Any) -> None:
    """Refuse gradients that are not those of the parameters, name by name.

    >>> gradients({"w": torch.ones(2, 3)}, {"w": torch.ones(3)})
    Traceback (most recent call last):
    ValueError: gradients['w'] must have the shape of the parameter, (2, 3), got (3,)
    """
    for name, dictionary in (("parameters", parameters), ("gradients", values)):
        if not isinstance(dictionary, dict):
            raise TypeError(
                f"{name} must be a dictionary of tensors by name, got "
                f"{type(dictionary).__name__}"
            )
    if parameters.keys() != values.keys():
        wanted, got = (", ".join(map(str, each)) for each in (parameters, values))
        raise ValueError(
            f"gradients must have the names of parameters: {wanted}; got {got}"
        )
    for name, parameter in parameters.items():
        _require_floats(f"parameters[{name!r}]", parameter, parameter)
        _require_floats(f"gradients[{name!r}]", values[name], parameter)
        if values[name].shape != parameter.shape:
            raise ValueError(
                f"gradients[{name!r}] must have the shape of the parameter, "
                f"{tuple(parameter.shape)}, got {tuple(values[name].shape)}"
            )


def float_dtype(dtype: torch.dtype | None) -> None:
    """Refuse a dtype of parameters that are no floats; None is PyTorch's usual one."""
    if dtype is not None and not dtype.is_floating_point:
        raise TypeError(f"dtype must be one of floats, got {dtype}")


def instance(name: str, value: Any, *kinds: type) -> None:
    """Refuse an object of another kind.

    >>> instance("theirs", torch.nn.ReLU(), torch.nn.Linear)
    Traceback (most recent call last):
    TypeError: theirs must be a Linear, got ReLU
    """
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be a {expected}, got {type(value).__name__}")


def not_empty(name: str, value: Tensor) -> None:
    """Refuse a tensor without numbers, where PyTorch's recurrent units take none."""
    if not value.numel():
        raise ValueError(f"{name} must not be empty, got {tuple(value.shape)}")


def temperature(value: Any) -> None:
    """Refuse what is not a number from 0 to infinity, both of them included.

    >>> temperature(-1)
    Traceback (most recent call last):
    ValueError: temperature must be a finite number from 0 to inf, got -1
    """
    if value != math.inf:
        real(0, math.inf, temperature=value)


def logits(value: Any) -> None:
    """Refuse what are no logits (..., vocab_size), or leave no token in some row.

    >>> logits(torch.tensor([-math.inf, -math.inf]))
    Traceback (most recent call last):
    ValueError: logits must hold numbers below infinity, one of them above −∞ in each \
row, got a row whose largest is -inf
    """
    tensors("logits (..., d_vocabulary)", value)
    largest = value.max(dim=-1).values  # NaN, if one is NaN
    if not largest.isfinite().all():
        raise ValueError(
            "logits must hold numbers below infinity, one of them above −∞ in each "
            f"row, got a row whose largest is {largest[~largest.isfinite()][0].item()}"
        )


def probabilities(value: Any) -> None:
    """Refuse what are no probabilities (..., vocab_size) whose rows sum to 1.

    >>> probabilities(torch.tensor([0.5, 0.2]))
    Traceback (most recent call last):
    ValueError: probabilities must sum to 1 in each row, got 0.7
    """
    tensors("probabilities (..., d_vocabulary)", value)
    if not ((value >= 0) & (value <= 1.001)).all():  # NaN is neither
        raise ValueError("probabilities must hold numbers from 0 to 1")
    sums = value.double().sum(dim=-1)
    tolerance = 8 * value.shape[-1] * torch.finfo(value.dtype).eps
    wrong = (sums - 1).abs() > min(tolerance, 0.01)
    if wrong.any():
        raise ValueError(
            f"probabilities must sum to 1 in each row, got {sums[wrong][0].item():.4g}"
        )


def drawn_numbers(name: str, value: Any, shape: Sequence[int]) -> None:
    """Refuse what are not as many random numbers from 0 to below 1.

    shape : that of the tensor

    >>> drawn_numbers("u", torch.tensor([0.5, 1.0]), (2,))
    Traceback (most recent call last):
    ValueError: u must hold numbers from 0 to below 1
    """
    if not isinstance(value, Tensor) or value.shape != torch.Size(shape):
        raise ValueError(
            f"{name} must be a tensor of shape {tuple(shape)}, a number for each row, "
            f"got {getattr(value, 'shape', type(value).__name__)}"
        )
    if not ((value >= 0) & (value < 1)).all():
        raise ValueError(f"{name} must hold numbers from 0 to below 1")


def positive(**values: Any) -> None:
    """Refuse arguments that are not finite numbers above 0.

    >>> positive(step=0)
    Traceback (most recent call last):
    ValueError: step must be above 0, got 0
    """
    real(0, math.inf, **values)
    for name, value in values.items():
        if not value:
            raise ValueError(f"{name} must be above 0, got {value}")


def tensors_by_name(name: str, values: Any, or_none: bool = False) -> None:
    """Refuse what is not a dictionary of tensors of floats.

    or_none : whether None may stand for a tensor

    >>> tensors_by_name("parameters", [torch.ones(2)])
    Traceback (most recent call last):
    TypeError: parameters must be a dictionary of tensors, got list
    """
    if not isinstance(values, Mapping):
        raise TypeError(
            f"{name} must be a dictionary of tensors, got {type(values).__name__}"
        )
    for key, value in values.items():
        if value is not None or not or_none:
            _require_floats(f"{name}[{key!r}]", value, value)


def one_or_more(**values: Any) -> None:
    """Refuse arguments that cannot be gone through again and again, or are empty.

    >>> one_or_more(batches=[])
    Traceback (most recent call last):
    ValueError: batches must hold at least one, got none
    """
    for name, value in values.items():
        if not isinstance(value, Sequence):
            raise TypeError(f"{name} must be a list, got {type(value).__name__}")
        if not value:
            raise ValueError(f"{name} must hold at least one, got none")


def rows(name: str, table: Tensor, n: int) -> None:
    """Refuse a tensor of fewer rows than are needed.

    >>> rows("encoding", torch.ones(1, 4), 3)
    Traceback (most recent call last):
    ValueError: encoding must have at least 3 rows, got 1
    """
    if len(table) < n:
        raise ValueError(f"{name} must have at least {n} rows, got {len(table)}")


def sequences(name: str, values: Any, padding_id: int) -> None:
    """Refuse sequences that are none, that are empty or that hold padding."""
    if not len(values):
        raise ValueError(f"{name} must hold at least one sequence, got none")
    for index, sequence in enumerate(values):
        if not len(sequence) or padding_id in sequence:
            raise ValueError(
                f"{name}[{index}] must hold tokens, and no padding, which is "
                f"{padding_id}; got {sequence!r:.40}"
            )


def equal_shapes(name: str, result: Any, other: Any) -> None:
    """Refuse a function that returns another shape for a sequence alone."""
    if result.shape != other.shape:
        raise ValueError(
            f"{name} must return (batch, n, d), got {result.shape} in a batch and "
            f"{other.shape} alone"
        )


def pairs(name: str, values: Any, shape: Sequence[int]) -> None:
    """Refuse pairs of numbers that are no positions in a matrix, or there twice.

    >>> pairs("links", [(0, -1)], (2, 3))
    Traceback (most recent call last):
    ValueError: links must hold different pairs from (0, 0) to (1, 2), got (0, -1)
    """
    if len(shape) != 2:
        raise ValueError(f"weights must have shape (n, m), got {tuple(shape)}")
    earlier: set[tuple[int, int]] = set()
    for i, j in values:
        if not (0 <= i < shape[0] and 0 <= j < shape[1]) or (i, j) in earlier:
            raise ValueError(
                f"{name} must hold different pairs from (0, 0) to "
                f"{(shape[0] - 1, shape[1] - 1)}, got {(i, j)}"
            )
        earlier.add((i, j))


def scores(name: str, values: Any) -> None:
    """Refuse logits or log-probabilities, of a function of this name, with NaN or +∞.

    >>> scores("next_logits", np.array([0.5, np.nan]))
    Traceback (most recent call last):
    ValueError: next_logits must return numbers below infinity, got nan for token 1
    """
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):  # of words, ragged, with a gradient
        raise TypeError(
            f"{name} must return an array of numbers, got {type(values).__name__}"
        ) from None
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(
            f"{name} must return scores (vocab_size,), got shape {numbers.shape}"
        )
    wrong = np.isnan(numbers) | (numbers == np.inf)
    if wrong.any():
        token_id = int(wrong.argmax())
        raise ValueError(
            f"{name} must return numbers below infinity, got {numbers[token_id]} for "
            f"token {token_id}"
        )
