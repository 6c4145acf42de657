import numpy as np
import torch

from tests.answers import Answers

answers = Answers("test_layer")


def drawn(generator, d_model=12, d_ff=8):
    def numbers(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    p = {f"w_{c}": numbers(d_model, d_model) / 3 for c in "qkvo"}
    p |= {"w_1": numbers(d_model, d_ff), "b_1": numbers(d_ff)}
    p |= {"w_2": numbers(d_ff, d_model), "b_2": numbers(d_model)}
    return p | {f"{c}_{i}": numbers(d_model) for c in ("gain", "bias") for i in (1, 2)}


@answers.correct
def pytorch_as_judge(encoder_layer):
    generator = torch.Generator().manual_seed(3)
    for n in (1, 6):
        for norm_first in (True, False):
            p = drawn(generator)
            judge = torch.nn.TransformerEncoderLayer(
                *(12, 3, 8, 0.0),
                batch_first=True,
                norm_first=norm_first,
                dtype=torch.float64,
            )
            state = {
                "self_attn.in_proj_weight": torch.cat([p[f"w_{c}"].T for c in "qkv"]),
                "self_attn.in_proj_bias": torch.zeros(36, dtype=torch.float64),
                "self_attn.out_proj.weight": p["w_o"].T,
                "self_attn.out_proj.bias": torch.zeros(12, dtype=torch.float64),
                "linear1.weight": p["w_1"].T,
                "linear1.bias": p["b_1"],
                "linear2.weight": p["w_2"].T,
                "linear2.bias": p["b_2"],
            }
            for i in (1, 2):
                state[f"norm{i}.weight"] = p[f"gain_{i}"]
                state[f"norm{i}.bias"] = p[f"bias_{i}"]
            judge.load_state_dict(state)
            x = torch.randn(2, n, 12, generator=generator, dtype=torch.float64)
            may_attend = torch.rand(n, n, generator=generator) < 0.5
            may_attend |= torch.eye(n, dtype=torch.bool)
            expected = judge.train()(x, src_mask=~may_attend).detach()
            result = encoder_layer(x, p, 3, may_attend, norm_first)
            assert result.shape == (2, n, 12)
            assert torch.allclose(result, expected, rtol=1e-8, atol=1e-8)


@answers.correct
def in_float32(encoder_layer):
    generator = torch.Generator().manual_seed(4)
    for n, first in ((1, True), (4, False), (4, True)):
        p = drawn(generator)
        x = torch.randn(3, n, 12, generator=generator, dtype=torch.float64)
        may_attend = torch.ones(n, n, dtype=torch.bool).triu()
        expected = one_by_one(x, p, may_attend, first)
        p = {name: part.float() for name, part in p.items()}
        result = encoder_layer(x.float(), p, 3, may_attend, norm_first=first)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def one_by_one(x, p, may_attend, first):
    """Compute a layer of three heads, one query after the other."""

    def norm(y, i):
        y = (y - y.mean(-1, keepdim=True)) / (
            y.var(-1, False, keepdim=True) + 1e-5
        ) ** 0.5
        return y * p[f"gain_{i}"] + p[f"bias_{i}"]

    def attend(y):
        mixed = torch.zeros_like(y)
        q, k, v = (y @ p[f"w_{c}"] for c in "qkv")
        for b, i, h in np.ndindex(*y.shape[:2], 3):
            part = slice(4 * h, 4 * h + 4)
            keys = may_attend[i].nonzero().flatten()
            weights = (k[b, keys, part] @ q[b, i, part] / 2).softmax(0)
            mixed[b, i, part] = weights @ v[b, keys, part]
        return mixed @ p["w_o"]

    def feed(y):
        return (y @ p["w_1"] + p["b_1"]).relu() @ p["w_2"] + p["b_2"]

    for i, part in ((1, attend), (2, feed)):
        x = x + part(norm(x, i)) if first else norm(x + part(x), i)
    return x


class Both:
    def __call__(self, encoder_layer):
        pytorch_as_judge(encoder_layer)
        in_float32(encoder_layer)


answers.right["callable_object"] = Both()


@answers.also("shapes_alone")
def size_of_each_axis(encoder_layer):
    generator = torch.Generator().manual_seed(5)
    for n in (1, 4):
        x = torch.randn(2, n, 12, generator=generator, dtype=torch.float64)
        assert list(encoder_layer(x, drawn(generator), 3).size()) == [2, n, 12]


@answers.other
def result_is_finite(encoder_layer):
    generator = torch.Generator().manual_seed(6)
    x = torch.randn(2, 4, 12, generator=generator, dtype=torch.float64)
    result = encoder_layer(x, drawn(generator), 3)
    assert result.isfinite().all() and not torch.allclose(result, x)
    assert abs(result).max() < 9


@answers.other
def a_query_without_others_gets_the_same(encoder_layer):
    generator = torch.Generator().manual_seed(7)
    p, x = drawn(generator), torch.randn(5, 12, generator=generator).double()
    alone = torch.eye(5, dtype=torch.bool)
    whole = encoder_layer(x, p, 3, alone)
    assert torch.allclose(whole[2:3], encoder_layer(x[2:3], p, 3))


@answers.other
def changes_with_the_mask(encoder_layer):
    generator = torch.Generator().manual_seed(8)
    p, x = drawn(generator), torch.randn(5, 12, generator=generator).double()
    for first in (True, False):
        masked = encoder_layer(x, p, 3, torch.ones(5, 5).tril().bool(), first)
        assert not torch.allclose(masked, encoder_layer(x, p, 3, None, first))
