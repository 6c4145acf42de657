"""What PyTorch makes of the modules: ``torch.export``, ``compile``, ``vmap``, ``func``.

docs/data-and-models.md says what is supported; ``torch.jit`` is not. The recurrent
translator can be compiled, in several graphs, since its encoder asks for lengths.
"""

import pytest
import torch
from torch.export import Dim
from torch.func import functional_call, grad, jvp, vmap

from course_lib.nn import MultiHeadAttention
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from course_lib.nn.recurrent import RecurrentConfig, RecurrentTranslator
from course_lib.nn.transformer import Transformer, TransformerConfig
from tests.nn.test_attention import close, normal
from tests.nn.test_layers import D_FF, D_MODEL, N_HEADS, causal

VOCAB_SIZE, PADDING_ID = 11, 0
FLOAT64 = {"device": "cpu", "dtype": torch.float64}
# vmap loops over the batch there, and says so.
LOOPS = "ignore:There is a performance drop because we have not yet implemented"


def transformer():
    torch.manual_seed(0)
    config = TransformerConfig(VOCAB_SIZE, D_MODEL, N_HEADS, d_ff=D_FF, n_positions=16)
    return Transformer(config, **FLOAT64).eval()


def layer(kind):
    torch.manual_seed(0)
    return kind(D_MODEL, N_HEADS, D_FF, **FLOAT64)


def random_ids(*shape):
    """Draw token ids with padding behind the first three positions."""
    drawn = torch.Generator().manual_seed(sum(shape))
    token_ids = torch.randint(1, VOCAB_SIZE, shape, generator=drawn)
    token_ids[0, 3:] = PADDING_ID
    return token_ids


def test_transformer_is_exported_with_dynamic_lengths():
    model, batch = transformer(), Dim("batch", min=2, max=8)
    lengths = {name: Dim(name, min=2, max=16) for name in "mn"}
    exported = torch.export.export(
        model,
        (random_ids(2, 7), random_ids(2, 5)),
        dynamic_shapes=({0: batch, 1: lengths["m"]}, {0: batch, 1: lengths["n"]}),
    ).module()
    for shapes in ((3, 9), (3, 4)), ((2, 2), (2, 16)):
        sources_and_targets = [random_ids(*shape) for shape in shapes]
        close(exported(*sources_and_targets), model(*sources_and_targets))


def backward(function, *inputs):
    """Return the result and the first input's gradient."""
    leaf = inputs[0].clone().requires_grad_()
    result = function(leaf, *inputs[1:])
    result.square().sum().backward()
    return result.detach(), leaf.grad


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_layers_compile_into_one_graph(kind):
    torch.compiler.reset()
    eager, inputs = layer(kind), [normal(2, 5, D_MODEL), causal(5)]
    if kind is DecoderLayer:
        inputs.insert(1, normal(2, 7, D_MODEL, seed=1))
    compiled = torch.compile(eager, fullgraph=True, backend="aot_eager")
    pairs = zip(backward(compiled, *inputs), backward(eager, *inputs), strict=True)
    for mine, expected in pairs:
        torch.testing.assert_close(mine, expected, rtol=1e-10, atol=1e-10)


def test_compiled_layer_refuses_a_mask_of_floats():
    torch.compiler.reset()
    compiled = torch.compile(layer(EncoderLayer), backend="eager")
    with pytest.raises(TypeError, match="may_attend must be boolean, got float64"):
        compiled(normal(2, 5, D_MODEL), causal(5).double())


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what inductor imports
@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_transformer_compiles_into_one_graph(backend):
    torch.compiler.reset()
    model, source, target = transformer(), random_ids(2, 7), random_ids(2, 5)
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    try:
        logits = compiled(source, target)
    except torch._inductor.exc.InductorError as error:
        pytest.skip(f"inductor needs a C++ compiler: {error}")
    torch.testing.assert_close(logits, model(source, target), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.parametrize("kind", ["none", "additive", "multiplicative"])
@pytest.mark.thorough
def test_recurrent_translator_compiles(kind):
    torch.compiler.reset()
    torch.manual_seed(0)
    config = RecurrentConfig(VOCAB_SIZE, 8, 6, attention=kind)
    model = RecurrentTranslator(config, **FLOAT64).eval()
    source, target = random_ids(2, 7), random_ids(2, 5)
    compiled = torch.compile(model, backend="eager")
    close(compiled(source, target), model(source, target))


@pytest.mark.filterwarnings(LOOPS)
def test_vmap_matches_a_loop():
    x, masks = normal(4, 2, 5, D_MODEL), normal(4, 5, 5) < 0.5
    encoder, attention = layer(EncoderLayer), MultiHeadAttention(12, 3, **FLOAT64)
    close(vmap(encoder)(x), torch.stack([encoder(each) for each in x]))
    loop = [encoder(*each) for each in zip(x, masks, strict=True)]
    close(vmap(encoder)(x, masks), torch.stack(loop))
    close(vmap(attention)(x)[1], torch.stack([attention(each)[1] for each in x]))
    model, source, target = transformer(), random_ids(4, 7), random_ids(4, 5)
    mapped = vmap(model)(source.unsqueeze(1), target.unsqueeze(1)).squeeze(1)
    close(mapped, model(source, target))


@pytest.mark.filterwarnings(LOOPS)
def test_gradients_for_each_example_match_autograd():
    model, x = layer(EncoderLayer), normal(3, 5, D_MODEL)
    parameters = dict(model.named_parameters())

    def loss(parameters, x):
        return functional_call(model, parameters, (x,)).square().sum()

    together = vmap(grad(loss), in_dims=(None, 0))(parameters, x)
    for index, each in enumerate(x):
        model.zero_grad()
        loss(parameters, each).backward()
        for name, parameter in parameters.items():
            torch.testing.assert_close(
                together[name][index], parameter.grad, rtol=1e-10, atol=1e-10
            )


# PyTorch's own forward mode uses it.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_forward_mode_matches_a_difference():
    model, x, direction = layer(DecoderLayer), normal(5, 12), normal(5, 12, seed=1)
    memory, step = normal(7, 12, seed=2), 1e-6

    def decode(y):
        return model(y, memory, causal=True)

    _, derivative = jvp(decode, (x,), (direction,))
    there, back = decode(x + step * direction), decode(x - step * direction)
    # The quotient is off by step² and by roundoff / step.
    expected = (there - back) / (2 * step)
    torch.testing.assert_close(derivative, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_on_a_cpu_is_near_float64(dtype):
    # Some ten roundings of 2⁻¹¹ and 2⁻⁸ of numbers up to 4.
    atol = {torch.float16: 0.02, torch.bfloat16: 0.15}[dtype]
    for kind, more in ((EncoderLayer, ()), (DecoderLayer, (normal(2, 7, 12, seed=1),))):
        exact = layer(kind)
        inputs = [normal(2, 5, D_MODEL), *more]
        expected = exact(*inputs, causal(5))
        half = exact.to(dtype)(*(each.to(dtype) for each in inputs), causal(5))
        assert half.dtype == dtype
        torch.testing.assert_close(half.double(), expected, rtol=0, atol=atol)
