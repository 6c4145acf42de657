"""Attention in PyTorch: equal to NumPy's references and to PyTorch's own."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from course_lib.heads import load_torch_parameters, multi_head_attention
from course_lib.masks import causal_mask
from course_lib.nn import MultiHeadAttention, attention

# Sums of some ten products of numbers near 1 are off by some ten units of roundoff.
CLOSE = {torch.float64: 1e-13, torch.float32: 1e-5, torch.bfloat16: 5e-2}
GPU = pytest.param(
    "cuda",
    marks=[
        pytest.mark.gpu,
        pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
    ],
)
WHERE = [
    ("cpu", torch.float64),
    ("cpu", torch.float32),
    *(pytest.param(*GPU.values, dtype, marks=GPU.marks) for dtype in CLOSE),
]


def normal(*shape, device="cpu", dtype=torch.float64, seed=0):
    """Draw standard normal numbers, the same on every device."""
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.tensor(values).to(device, dtype)


def close(mine, theirs):
    assert mine.shape == theirs.shape
    assert mine.dtype == theirs.dtype
    torch.testing.assert_close(mine, theirs, rtol=0, atol=CLOSE[theirs.dtype])


def inputs(device, dtype):
    sizes = ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6))  # q, k, v: all sizes differ
    return [
        normal(*size, device=device, dtype=dtype, seed=seed)
        for seed, size in enumerate(sizes)
    ]


def some_mask(device="cpu"):
    """Block about half, and all keys of one query."""
    may_attend = torch.tensor(np.random.default_rng(3).random((2, 1, 5, 7)) < 0.5)
    may_attend[1, 0, 2] = False
    return may_attend.to(device)


def test_attention_to_minus_infinity_alone_is_nan():
    q, k = torch.tensor([[-torch.inf]]), torch.ones(2, 1)
    for allowed in ([True, False], [False, False]):
        mask = torch.tensor([allowed])
        output, weights = attention(q, k, k, mask)
        assert output.isnan().item() == weights[0, 0].isnan().item() == allowed[0]
        assert weights[0, 1] == 0


@pytest.mark.parametrize(("device", "dtype"), WHERE)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_matches_sdpa(device, dtype, masked):
    q, k, v = inputs(device, dtype)
    may_attend = some_mask(device) if masked else None
    output, weights = attention(q, k, v, may_attend)
    close(output, scaled_dot_product_attention(q, k, v, attn_mask=may_attend))
    sums = weights.float().sum(dim=-1)
    expected = torch.ones_like(sums)
    if masked:
        expected[1, :, 2] = 0.0
        assert (weights[~may_attend.expand_as(weights)] == 0).all()
    torch.testing.assert_close(sums, expected, rtol=0, atol=CLOSE[torch.bfloat16])


@pytest.mark.parametrize(("device", "dtype"), WHERE)
def test_attention_takes_any_memory_layout(device, dtype):
    q, k, v = inputs(device, dtype)
    turned = [part.transpose(-1, -2).contiguous().transpose(-1, -2) for part in (q, k)]
    assert not any(part.is_contiguous() for part in turned)
    every_other = torch.cat([v, v], dim=-1)[..., ::2]
    expected = scaled_dot_product_attention(q, k, every_other.contiguous())
    close(attention(*turned, every_other)[0], expected)


def test_blocked_row_has_zero_gradients():
    q, k, v = (part.requires_grad_() for part in inputs("cpu", torch.float64))
    may_attend = some_mask()
    attention(q, k, v, may_attend)[0].square().sum().backward()
    mine = [part.grad.clone() for part in (q, k, v)]
    assert all(torch.isfinite(grad).all() for grad in mine)
    assert (q.grad[1, :, 2] == 0).all()
    for part in (q, k, v):
        part.grad = None
    theirs = scaled_dot_product_attention(q, k, v, attn_mask=may_attend)
    theirs.square().sum().backward()
    for grad, part in zip(mine, (q, k, v), strict=True):
        close(grad, part.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_mask_that_is_not_boolean_is_refused(dtype):
    q, k, v = inputs("cpu", torch.float64)
    module = MultiHeadAttention(12, 3, device="cpu", dtype=torch.float64)
    x, mask = normal(2, 5, 12), torch.zeros(5, 5, dtype=dtype)
    name = str(dtype).removeprefix("torch.")
    words = f'may_attend must be boolean, got {name}: True means "may attend"; '
    words += "convert an additive mask with convert_mask"
    with pytest.raises(TypeError, match=words):
        attention(q, k, v, torch.zeros(5, 7, dtype=dtype))
    with pytest.raises(TypeError, match=words):
        module(x, may_attend=mask)
    with pytest.raises(TypeError, match=words):
        module.attend(x, *module.keys_and_values(x), mask)


def test_dropout_keeps_the_mean_of_weights():
    torch.manual_seed(0)
    q, k, v = torch.zeros(1, 4), torch.zeros(1000, 4), torch.ones(1000, 1)
    outputs = torch.stack([attention(q, k, v, dropout=0.5)[0] for _ in range(20)])
    assert outputs.std() > 0
    # The mean of 20,000 draws of 0 or 2 is off by less than five deviations, 0.035.
    torch.testing.assert_close(outputs.mean(), torch.tensor(1.0), rtol=0, atol=0.035)


def theirs_and_ours(device, dtype, **options):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, **options)
    for parameter in theirs.parameters():  # its biases start at zero: hide nothing
        nn.init.normal_(parameter, std=0.5)
    theirs = theirs.to(device, dtype)
    return theirs, MultiHeadAttention.from_torch(theirs)


@pytest.mark.parametrize(("device", "dtype"), WHERE)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("masked", [False, True])
def test_module_matches_pytorch(device, dtype, bias, masked):
    theirs, ours = theirs_and_ours(device, dtype, bias=bias)
    x = normal(2, 5, 12, device=device, dtype=dtype)
    memory = normal(2, 7, 12, device=device, dtype=dtype, seed=1)
    may_attend = some_mask(device).squeeze(1) if masked else None
    if masked:
        may_attend[1, 2, 0] = True  # PyTorch's gives NaN for a row without keys
    blocked = None if may_attend is None else (~may_attend).repeat_interleave(3, dim=0)
    expected, expected_weights = theirs(
        x, memory, memory, attn_mask=blocked, average_attn_weights=False
    )
    output, weights = ours(x, memory, may_attend)
    close(output, expected)
    close(weights, expected_weights)


@pytest.mark.parametrize(("device", "dtype"), WHERE)
def test_module_takes_memories_of_another_width(device, dtype):
    theirs, ours = theirs_and_ours(device, dtype, kdim=8, vdim=8)
    x = normal(2, 5, 12, device=device, dtype=dtype)
    memory = normal(2, 7, 8, device=device, dtype=dtype, seed=1)
    close(ours(x, memory)[0], theirs(x, memory, memory)[0])


def test_module_matches_the_numpy_reference():
    theirs, ours = theirs_and_ours("cpu", torch.float64, bias=False)
    x = normal(2, 5, 12)
    parameters = load_torch_parameters(theirs.state_dict())
    output, weights = multi_head_attention(
        x.numpy(), x.numpy(), **parameters, n_heads=3, may_attend=causal_mask(5)
    )
    mine = ours(x, may_attend=torch.tensor(causal_mask(5)))
    close(mine[0].detach(), torch.tensor(output))
    close(mine[1].detach(), torch.tensor(weights))


def test_module_takes_any_leading_axes_and_layout():
    ours = theirs_and_ours("cpu", torch.float64)[1]
    x = normal(2, 4, 5, 12)
    output, weights = ours(x)
    assert weights.shape == (2, 4, 3, 5, 5)
    for index in np.ndindex(2, 4):
        close(output[index], ours(x[index])[0])
    turned = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    assert not turned.is_contiguous()
    close(ours(turned)[0], output)


def test_from_torch_copies_parameters():
    theirs, ours = theirs_and_ours("cpu", torch.float64)
    x = normal(5, 12)
    before = ours(x)[0].detach().clone()
    with torch.no_grad():
        theirs.in_proj_weight.zero_()
    close(ours(x)[0].detach(), before)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"add_zero_attn": True}, "add_zero_attn"),
        ({"add_bias_kv": True}, "add_bias_kv"),
        ({"kdim": 8, "vdim": 9}, "kdim=8 and vdim=9 differ"),
    ],
)
def test_from_torch_refuses_what_ours_does_not_have(options, words):
    with pytest.raises(ValueError, match=words):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3, **options))


def test_n_heads_must_divide_d_model():
    with pytest.raises(ValueError, match="d_model=10 is not divisible by n_heads=3"):
        MultiHeadAttention(10, 3)
