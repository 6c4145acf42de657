"""Any arguments: the result is right, or an error of ours names an argument.

Shapes (also of length 0), dtypes, layouts in memory, NaN, ∞, masks and rows that may
attend to nothing are drawn, and in every other example something is wrong with one
argument. A result, and its gradients, must equal those of ``specs`` in float64; what is
refused must be so in our own words. ``make test`` tries a few dozen examples of each,
``make test-all`` 400, always the same; ``NN_EXAMPLES=5000 pytest
tests/nn/test_properties.py`` tries others each time.
"""

import copy
import math
import os
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

import course_lib
from course_lib.nn import LearnedPositions, MultiHeadAttention, SinusoidalPositions
from course_lib.nn import functional as functions
from course_lib.nn.attention import attention
from course_lib.nn.decoding import cached_step
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from course_lib.nn.losses import cross_entropy
from course_lib.nn.sequence_to_sequence import (
    additive_attention,
    decoder_step,
    gru_step,
    luong_score,
)
from tests.nn import specs

EXAMPLES, MANY = int(os.environ.get("NN_EXAMPLES", "40")), 400
some = settings(
    derandomize="NN_EXAMPLES" not in os.environ,
    phases=[Phase.generate],  # to shrink what fails takes minutes; a seed is enough
    suppress_health_check=list(HealthCheck),
)
# Some dozen operations on numbers up to 3; a norm may enlarge what they are off by.
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-3, torch.float16: 4e-2}
CLOSE[torch.bfloat16] = 3e-1
EXACT = (torch.float64, torch.float32)
COURSE_LIB = Path(course_lib.__file__).parent


@dataclass
class Case:
    """A function or module, its arguments, and what it should give.

    shapes : name and axes of each tensor, as in its docstring
    call : takes the sizes of the axes and a dtype, and returns two functions of the
        tensors by name: ours and the spec
    masks : names of masks, and the axes that each fits
    dtypes : in which it is right to the precision of CLOSE
    fused : whether PyTorch's kernel computes it, which hides NaN in tiny sizes
    """

    shapes: str
    call: Callable[[dict[str, int], torch.dtype], tuple[Callable, Callable]]
    masks: dict[str, str] = field(default_factory=dict)
    dtypes: tuple[torch.dtype, ...] = tuple(CLOSE)
    fused: bool = False

    @property
    def axes(self) -> dict[str, list[str]]:
        parts = (each.rstrip(")").split(" (") for each in self.shapes.split("), "))
        return {name: axes.split(", ") for name, axes in parts}


def plain(ours, spec):
    """Make a case's call of two functions that take the tensors as they are."""
    return lambda sizes, dtype: (lambda a: ours(**a), lambda a: spec(**a))


def with_heads(name):
    def call(sizes, dtype):
        ours, spec = getattr(functions, name), getattr(specs, name)
        n_heads, norm_first = sizes["n_heads"], bool(sizes["n"] % 2)

        def of(function):
            def run(a):
                tensors = {n: a[n] for n in ("x", "y", "memory") if n in a}
                masks = {n: a[n] for n in a if n.endswith("may_attend")}
                rest = {n: a[n] for n in a if n not in tensors and n not in masks}
                parameters = {"parameters" if function is ours else "p": rest}
                return function(
                    **tensors,
                    **parameters,
                    n_heads=n_heads,
                    norm_first=norm_first,
                    **masks,
                )

            return run

        return of(ours), of(spec)

    return call


def functional_heads(sizes, dtype):
    n_heads = sizes["n_heads"]
    return (
        lambda a: functions.multi_head_attention(**a, n_heads=n_heads),
        lambda a: specs.heads(**a, n_heads=n_heads)[0],
    )


def module(make, spec, method=None):
    """Make a case's call of a module, whose parameters are not drawn."""

    def call(sizes, dtype):
        torch.manual_seed(0)
        ours = make(sizes, dtype)
        exact = copy.deepcopy(ours).double()
        run = method or (lambda module, **a: module(**a))
        return lambda a: run(ours, **a), lambda a: spec(exact, **a)

    return call


def attend(module, x, memory, may_attend=None):
    return module.attend(x, *module.keys_and_values(memory), may_attend)


def attend_spec(module, x, memory, may_attend=None):
    return specs.module_heads(module, x, memory, may_attend)[0]


def make_heads(sizes, dtype):
    return MultiHeadAttention(
        sizes["d_model"],
        sizes["n_heads"],
        d_memory=sizes["d_memory"],
        bias=sizes["n"] % 2 == 0,
        device="cpu",
        dtype=dtype,
    )


def make_layer(kind):
    def make(sizes, dtype):
        return kind(
            sizes["d_model"],
            sizes["n_heads"],
            3,
            norm_first=sizes["n"] % 2 == 0,
            device="cpu",
            dtype=dtype,
        )

    return make


def causal_spec(layer, y, memory, may_attend=None, memory_may_attend=None):
    n = y.shape[-2]
    allowed = torch.ones(n, n, dtype=torch.bool).tril()
    if may_attend is not None:
        allowed = allowed & may_attend
    return specs.module_layer(layer, y, memory, allowed, memory_may_attend)


def decoder_spec(layer, y, memory, **masks):
    return specs.module_layer(layer, y, memory, **masks)


def causal_layer(layer, **a):
    return layer(**a, causal=True)


def positions(kind):
    def make(sizes, dtype):
        options = {"dtype": dtype} if kind is LearnedPositions else {}
        return kind(6, sizes["d_model"], device="cpu", **options)

    return make


def positions_spec(layer, x):
    return x + layer.encoding[: x.shape[-2]]


def luong(kind):
    return lambda sizes, dtype: (
        lambda a: luong_score(kind=kind, **a),
        lambda a: specs.luong_score(**a),
    )


def unit(sizes, dtype):
    tensors = ("x", "state", "keys", "values", "may_attend")

    def run(function):
        def inner(a):
            named = {n: a[n] for n in tensors if n in a}
            rest = {n: a[n] for n in a if n not in named}
            name = "p" if function is specs.decoder_step else "parameters"
            return function(**named, **{name: rest})

        return inner

    return run(decoder_step), run(specs.decoder_step)


def newest(sizes, dtype):
    token_id = sizes["n"] % sizes["vocab_size"]
    return (
        lambda a: cached_step(token_id, **a),
        lambda a: specs.cached_step(token_id, **a),
    )


def from_ids(function, *rest):
    """Make a case's call with drawn token ids (batch, n) before the tensors."""

    def call(sizes, dtype):
        rng = np.random.default_rng(sizes["n"])
        shape = (sizes["batch"], sizes["n"])
        token_ids = torch.tensor(rng.integers(0, sizes["vocab_size"], shape))
        spec = getattr(specs, function.__name__)
        if function is cross_entropy:
            return (
                lambda a: function(a["logits"], token_ids, *rest),
                lambda a: spec(a["logits"], token_ids, *rest),
            )
        return lambda a: function(token_ids, **a), lambda a: spec(token_ids, **a)

    return call


X = "x (..., n, d_model)"
Y = "y (..., n, d_model), memory (..., m, d_model)"
WEIGHTS = "w_q (d_model, d_model), w_k (d_model, d_model), w_v (d_model, d_model)"
WEIGHTS += ", w_o (d_model, d_model)"
SELF = {"may_attend": "..., n, n"}
BOTH = SELF | {"memory_may_attend": "..., n, m"}
CROSS = {"may_attend": "..., n, m"}
ADDITIVE = "w_q (d_h, d_a), w_k (d_k, d_a), v (d_a)"
CASES = {
    "attention": Case(
        "q (..., n, d_k), k (..., m, d_k), v (..., m, d_v)",
        plain(attention, specs.attention),
        CROSS,
    ),
    "layer_norm": Case(
        "x (..., d_model), gain (d_model), bias (d_model)",
        plain(functions.layer_norm, specs.layer_norm),
        dtypes=EXACT,  # PyTorch rounds the mean to the dtype
    ),
    "feed_forward": Case(
        "x (..., d_model), w_1 (d_model, d_ff), b_1 (d_ff), w_2 (d_ff, d_model), "
        "b_2 (d_model)",
        plain(functions.feed_forward, specs.feed_forward),
    ),
    "multi_head_attention": Case(
        f"x (..., n, d_model), memory (..., m, d_model), {WEIGHTS}",
        functional_heads,
        CROSS,
    ),
    "encoder_layer": Case(
        f"x (..., n, d_model), {functions.ENCODER}",
        with_heads("encoder_layer"),
        SELF,
        EXACT,
    ),
    "decoder_layer": Case(
        f"{Y}, {functions.DECODER}", with_heads("decoder_layer"), BOTH, EXACT
    ),
    "MultiHeadAttention": Case(
        "x (..., n, d_model), memory (..., m, d_memory)",
        module(make_heads, specs.module_heads),
        CROSS,
    ),
    "MultiHeadAttention.attend": Case(
        "x (..., n, d_model), memory (..., m, d_memory)",
        module(make_heads, attend_spec, attend),
        CROSS,
        fused=True,
    ),
    "EncoderLayer": Case(
        X, module(make_layer(EncoderLayer), specs.module_layer), SELF, EXACT, True
    ),
    "DecoderLayer": Case(
        Y, module(make_layer(DecoderLayer), decoder_spec), BOTH, EXACT, True
    ),
    "DecoderLayer, causal": Case(
        Y,
        module(make_layer(DecoderLayer), causal_spec, causal_layer),
        BOTH,
        EXACT,
        True,
    ),
    "SinusoidalPositions": Case(
        X, module(positions(SinusoidalPositions), positions_spec)
    ),
    "LearnedPositions": Case(X, module(positions(LearnedPositions), positions_spec)),
    "gru_step": Case(
        "x (..., d_in), state (..., d_h), w_x (d_in, 3·d_h), w_h (d_h, 3·d_h), "
        "b_x (3·d_h), b_h (3·d_h)",
        plain(gru_step, specs.gru_step),
    ),
    "additive_attention": Case(
        f"state (..., d_h), keys (..., m, d_k), values (..., m, d_v), {ADDITIVE}",
        plain(additive_attention, specs.additive_attention),
        {"may_attend": "..., m"},
    ),
    "decoder_step": Case(
        "x (..., d_in), state (..., d_h), keys (..., m, d_k), values (..., m, d_v), "
        f"{ADDITIVE}, w_x (d_in+d_v, 3·d_h), w_h (d_h, 3·d_h), b_x (3·d_h), "
        "b_h (3·d_h)",
        unit,
        {"may_attend": "..., m"},
    ),
    "luong_score, dot": Case("state (..., d_h), keys (..., m, d_h)", luong("dot")),
    "luong_score, general": Case(
        "state (..., d_h), keys (..., m, d_k), w (d_h, d_k)", luong("general")
    ),
    "embed": Case(
        "embedding (vocab_size, d_model), encoding (6, d_model)",
        from_ids(functions.embed),
    ),
    "cached_step": Case(
        "keys (m, d_k), values (m, d_v), embedding (vocab_size, d_model), "
        "encoding (6, d_model), w_q (d_model, d_k), w_k (d_model, d_k), "
        "w_v (d_model, d_v)",
        newest,
    ),
    "cross_entropy": Case("logits (batch, n, vocab_size)", from_ids(cross_entropy, 1)),
}


@st.composite
def drawn_sizes(draw):
    """Draw lengths of axes, so that tokens may be missing and numbers may not."""
    sizes = {name: draw(st.integers(0, 4)) for name in ("n", "m", "batch")}
    names = ("d_k", "d_v", "d_h", "d_a", "d_in", "d_ff", "d_memory", "vocab_size")
    sizes |= {name: draw(st.integers(1, 4)) for name in names}
    sizes["n_heads"] = draw(st.integers(1, 3))
    sizes["d_model"] = sizes["n_heads"] * sizes["d_k"]
    return sizes


def length(axis, sizes):
    if axis.isdigit():
        return int(axis)
    if "+" in axis:
        return sum(sizes[each] for each in axis.split("+"))
    factor, _, name = axis.rpartition("·")
    return int(factor or 1) * sizes[name]


# Layouts in memory. "expanded" repeats the first row without storing it again.
LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.mT.contiguous().mT if t.ndim > 1 else t,
    "every other": lambda t: torch.stack([t, t], -1)[..., 0],
    "expanded": lambda t: t[:1].expand_as(t) if t.ndim and t.shape[0] else t,
    "a part": lambda t: torch.cat([t, t], -1)[..., : t.shape[-1]] if t.ndim else t,
}


def longer(t, axis):
    """Return a tensor that is longer by one along an axis."""
    return torch.cat([t, torch.ones_like(t.narrow(axis, 0, 1))], axis)


# What can be wrong with a tensor, whatever its axes.
KINDS = {
    "whole numbers": lambda t: t.detach().long(),
    "booleans": lambda t: t.detach() > 0,
    "complex": lambda t: t.detach().to(torch.complex64),
    "a list": lambda t: t.detach().tolist(),
    "an array": lambda t: t.detach().double().numpy(),
    "a number": lambda t: 1.0,
    "another dtype": lambda t: t.detach().to(
        torch.float32 if t.dtype == torch.float64 else torch.float64
    ),
}
MASK_KINDS = {
    "floats": lambda t: t.double(),
    "whole numbers": lambda t: t.long(),
    "a list": lambda t: t.tolist(),
    "an array": lambda t: t.numpy(),
    "a longer axis": lambda t: longer(longer(t, -1), -1),
    "one axis more": lambda t: t[None].expand(2, *t.shape),
}


FAULTS = (None, None, "kind", "axis", "mask")


def mask_shape(axes, leading, sizes):
    """Return the shape of the scores that a mask fits."""
    return (*leading, *(sizes[axis] for axis in axes.split(", ")[1:]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "examples", [EXAMPLES, pytest.param(MANY, marks=pytest.mark.thorough)]
)
def test_result_is_right_or_refused(name, examples):
    case = CASES[name]

    @settings(some, max_examples=examples)
    @given(st.data())
    def inner(data):
        draw, sizes = data.draw, data.draw(drawn_sizes(), label="sizes")
        dtype = draw(st.sampled_from(case.dtypes), label="dtype")
        rng = np.random.default_rng(draw(st.integers(0, 99), label="seed"))
        leading = draw(st.sampled_from([(), (1,), (2,), (2, 3), (0,)]), label="leading")
        tensors = {}
        for argument, axes in case.axes.items():
            own = leading if axes[0] == "..." else ()
            inner_axes = axes[1:] if axes[0] == "..." else axes
            shape = *own, *(length(axis, sizes) for axis in inner_axes)
            # Multiples of 1/8: exact in each dtype, and equal or well apart.
            numbers = rng.integers(-12, 13, shape) / 8
            layout = draw(st.sampled_from(sorted(LAYOUTS)), label=argument)
            tensors[argument] = LAYOUTS[layout](torch.tensor(numbers, dtype=dtype))
        special = draw(st.sampled_from([None, None, None, math.nan, math.inf]))
        if case.fused:
            special = None
        if special is not None:
            argument = draw(st.sampled_from(sorted(tensors)), label="special in")
            changed = tensors[argument].clone(memory_format=torch.contiguous_format)
            if changed.numel():
                changed.view(-1)[int(rng.integers(changed.numel()))] = special
            else:
                special = None
            tensors[argument] = changed
        masks = {}
        for argument, axes in case.masks.items():
            shape = mask_shape(axes, leading, sizes)
            share = draw(st.sampled_from([None, 0.0, 0.5, 1.0]), label=argument)
            if share is not None:
                first = draw(st.integers(0, len(shape) - 1)) if len(shape) > 1 else 0
                own = [1 if draw(st.booleans()) else each for each in shape[first:]]
                masks[argument] = torch.tensor(rng.random(own) < share)
        ours, spec = case.call(sizes, dtype)
        fault = draw(st.sampled_from(FAULTS), label="fault")
        wrong = tensors | masks
        if fault == "kind":
            argument = draw(st.sampled_from(sorted(tensors)), label="fault in")
            kind = draw(st.sampled_from(sorted(KINDS)), label="kind")
            if kind == "another dtype" and len(tensors) == 1 and not is_module(case):
                fault = None
            elif name in ("SinusoidalPositions", "LearnedPositions") and kind == (
                "another dtype"
            ):
                fault = None
            else:
                wrong[argument] = KINDS[kind](tensors[argument])
        elif fault == "mask":
            if not masks:
                return
            argument = draw(st.sampled_from(sorted(masks)), label="fault in")
            kind = draw(st.sampled_from(sorted(MASK_KINDS)), label="kind")
            mask = masks[argument]
            mask = mask.expand(mask_shape(case.masks[argument], leading, sizes))
            if not mask.numel() and kind == "a longer axis":
                return
            wrong[argument] = MASK_KINDS[kind](mask)
        elif fault == "axis":
            fixed = [
                (argument, index - len(axes))
                for argument, axes in case.axes.items()
                for index, axis in enumerate(axes)
                if is_shared(case, axis) and tensors[argument].numel()
            ]
            if not fixed:
                return
            argument, axis = draw(st.sampled_from(fixed), label="fault in")
            wrong[argument] = longer(tensors[argument], axis)
        if fault is not None:
            note(f"{fault}: {[*wrong]}")
            with pytest.raises((ValueError, TypeError)) as caught:
                ours(wrong)
            assert_is_ours(caught.value, wrong)
            return
        compare(ours, spec, tensors, masks, dtype, special is not None)

    inner()


def is_module(case):
    return case.shapes in (X, Y)


def is_shared(case, axis):
    """Decide whether an axis must be as long as another, or as the module says."""
    if axis == "..." or axis in ("6", "vocab_size", "n", "batch"):
        return False
    everywhere = re.findall(r"\w+", " ".join(" ".join(a) for a in case.axes.values()))
    if is_module(case) or axis in ("d_model", "d_memory"):
        return axis.startswith("d_")
    return sum(each in re.findall(r"\w+", axis) for each in everywhere) > 1


def assert_is_ours(error, arguments):
    """Check that an error was raised by the course, and names an argument."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert COURSE_LIB in Path(last.filename).parents, f"not ours: {error!r}"
    words = set(re.findall(r"\w+", str(error)))
    named = {*arguments, "parameters", "query", "d_model", "token_ids"}
    assert words & named, f"names no argument: {error}"


def compare(ours, spec, tensors, masks, dtype, is_special):
    """Compare results, and the gradients of a drawn sum of them."""
    leaves = {n: t.detach().requires_grad_() for n, t in tensors.items()}
    exact = {n: t.detach().double().requires_grad_() for n, t in tensors.items()}
    results, expected = ours(leaves | masks), spec(exact | masks)
    if isinstance(results, torch.Tensor):
        results, expected = (results,), (expected,)
    assert len(results) == len(expected)
    for result, right in zip(results, expected, strict=True):
        assert result.dtype == dtype
        assert_close(result.detach(), right.detach(), dtype, is_special)
    if is_special or dtype not in EXACT:
        return
    drawn = torch.Generator().manual_seed(0)
    shares = [torch.randn(r.shape, generator=drawn) for r in results]
    for total in (results, expected):
        sum(
            (r * share.to(r.dtype)).sum()
            for r, share in zip(total, shares, strict=True)
        ).backward()
    for name, leaf in leaves.items():
        right = exact[name].grad
        if leaf.grad is None or right is None:
            assert all(g is None or not g.any() for g in (leaf.grad, right))
            continue
        assert_close(leaf.grad, right, dtype, is_special, factor=10)


def assert_close(result, right, dtype, is_special, factor=1.0):
    assert result.shape == right.shape
    assert result.isnan().sum() == 0 or is_special
    result = result.double()
    finite = result.isfinite()
    if not is_special:
        assert finite.all()
    # What is finite is right; NaN is no wrong number where NaN was read.
    scale = right[right.isfinite()].abs().max().item() if right.isfinite().any() else 0
    torch.testing.assert_close(
        result[finite],
        right[finite],
        rtol=0,
        atol=CLOSE[dtype] * factor * max(1.0, scale),
    )
