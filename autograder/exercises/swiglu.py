"""Cases and misconceptions of ``swiglu``."""

import math

import numpy as np
import torch
from torch.nn import functional

from autograder import Exercise, families
from course_lib.nn.modern_block import swiglu

exercise = Exercise(
    swiglu,
    lesson="12_language_model",
    minutes=6,
    difficulty=1,
    library=("course_lib.nn.language_model.FeedForward",),
)


@exercise.spec
def spec(x, w_gate, w_up, w_down):
    (d_model, d_ff), result = w_gate.shape, np.zeros(tuple(x.shape))
    dtype = x.dtype
    x, w_gate, w_up, w_down = (
        part.numpy().astype(float) for part in (x, w_gate, w_up, w_down)
    )
    for index in np.ndindex(*x.shape[:-1]):
        hidden = []
        for j in range(d_ff):
            gate = sum(x[*index, c] * w_gate[c, j] for c in range(d_model))
            up = sum(x[*index, c] * w_up[c, j] for c in range(d_model))
            size = math.exp(-abs(gate))  # never above 1
            share = (1 if gate > 0 else size) / (1 + size)
            hidden.append(gate * share * up)
        for c in range(d_model):
            result[*index, c] = sum(hidden[j] * w_down[j, c] for j in range(d_ff))
    return torch.from_numpy(result).to(dtype)


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, leading, d_model, d_ff, dtype=np.float32):
    """Draw x with these leading axes, and the parameters."""
    shapes = (*leading, d_model), (d_model, d_ff), (d_model, d_ff), (d_ff, d_model)
    return tuple(tensor(rng.normal(size=shape), dtype) for shape in shapes)


@exercise.usual
def usual(rng):
    return drawn(rng, (5,), 6, 8)


@exercise.case(
    "A gate of ln 3 lets three quarters of ln 3 times the other branch through"
)
def small_example_by_hand(student, rng):
    # SiLU(ln 3) = ln 3 / (1 + 1/3), SiLU(−ln 3) = −ln 3 / (1 + 3), SiLU(0) = 0.
    x, log = tensor([[1.0], [-1.0]]), math.log(3)
    w_gate, w_up = tensor([[log, 0.0]]), tensor([[2.0, 5.0]])
    w_down = tensor([[4.0], [7.0]])
    expected = tensor([[log * 3 / 4 * 2 * 4], [-log / 4 * -2 * 4]])
    student.expect(student(x, w_gate, w_up, w_down), expected)
    student.agrees(*drawn(rng, (2,), 3, 4))


@exercise.case("Each token of each sequence is answered by itself, in any batch")
def leading_axes(student, rng):
    for leading in ((), (5,), (2, 3), (2, 2, 3)):
        student.agrees(*drawn(rng, leading, 4, 7))


@exercise.case("With d_ff = d_model, each matrix keeps its task and its axes")
def as_long_in_the_middle(student, rng):
    student.agrees(*drawn(rng, (3,), 4, 4))
    student.agrees(*drawn(rng, (4,), 4, 4))


@exercise.case("Gates of hundreds, above and below 0, give finite numbers")
def large_gates(student, rng):
    x, w_gate, w_up, w_down = drawn(rng, (6,), 4, 7)
    student.agrees(x, w_gate * 300, w_up, w_down)


@exercise.case("Numbers of float64 are answered, too")
def double_precision(student, rng):
    student.agrees(*drawn(rng, (4,), 4, 7, np.float64))


@exercise.case(
    "With w_up three times as large, the result is three times as large",
    visible=False,
    pays_alone=False,
)
def three_times_as_large(student, rng):
    x, w_gate, w_up, w_down = drawn(rng, (5,), 4, 7)
    expected = tensor(student(x, w_gate, w_up, w_down).numpy() * 3)
    result = student(x, w_gate, tensor(w_up.numpy() * 3), w_down)
    student.expect(result, expected, what="the result for 3 w_up")


@exercise.case("`x` and the parameters are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(*drawn(rng, (3,), 4, 5))


def quick_gelu(a):
    return a * torch.sigmoid(1.702 * a)


ACTIVATIONS = {
    "silu": functional.silu,
    "sigmoid": torch.sigmoid,
    "nothing": lambda a: a,
    "gelu": functional.gelu,
    "quick gelu": quick_gelu,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "a tanh(a)": lambda a: a * torch.tanh(a),
    "softmax": lambda a: a.softmax(dim=-1),
    "a / (1 + e^a)": lambda a: a * torch.sigmoid(-a),
    "1 / (1 + e^a)": lambda a: torch.sigmoid(-a),
    "a e^a / (1 + e^a)": lambda a: a * a.exp() / (1 + a.exp()),
    "softplus": functional.softplus,
}


@exercise.variants
def variants(
    x,
    w_gate,
    w_up,
    w_down,
    *,
    gate_by="silu",
    silu_of="the gate",
    branches="w_gate, w_up",
    joined="multiplied",
    matrices="as they are",
    down="w_down",
    after="nothing",
    written="nowhere",
):
    activation = ACTIVATIONS[gate_by]
    if matrices == "gate, up transposed":
        w_gate, w_up = w_gate.T, w_up.T
    elif matrices == "all transposed":
        w_gate, w_up, w_down = w_gate.T, w_up.T, w_down.T
    elif matrices == "down transposed":
        w_down = w_down.T
    if branches == "w_up, w_gate":
        w_gate, w_up = w_up, w_gate
    elif branches == "w_gate twice":
        w_up = w_gate
    elif branches == "w_up twice":
        w_gate = w_up
    entering = activation(x) if silu_of == "x" else x
    gate, up = entering @ w_gate, x @ w_up
    if silu_of in ("the gate", "both"):
        gate = activation(gate)
    if silu_of == "both":
        up = activation(up)
    hidden = {
        "multiplied": lambda: gate * up,
        "added": lambda: gate + up,
        "gate alone": lambda: gate,
        "up alone, through SiLU": lambda: activation(up),
        "1 + gate": lambda: (1 + gate) * up,
        "gate, 1 − gate": lambda: gate + (1 - gate) * up,
        "matrices multiplied": lambda: gate @ up.transpose(-1, -2) @ up,
        "summed": lambda: (gate * up).sum(dim=-1, keepdim=True).expand_as(gate),
    }[joined]()
    if silu_of == "the product":
        hidden = activation(hidden)
    if down == "none":
        return hidden
    result = hidden @ w_down
    if silu_of == "the result":
        return activation(result)
    result = {
        "nothing": lambda: result,
        "silu": lambda: activation(result),
        "x": lambda: x + result,
        "norm": lambda: functional.rms_norm(result, result.shape[-1:]),
    }[after]()
    return x.copy_(result) if written == "into x" else result


exercise.option(
    "gate_and_up_exchanged",
    "Your two branches are exchanged: what goes through SiLU comes from w_up.",
    "Which matrix belongs to the branch with SiLU?",
    why="Both have one shape, and the names differ: Llama's w1 is the gate, w3 is up, "
    "and w2 is down.",
    branches="w_up, w_gate",
)
exercise.option(
    "sigmoid_for_silu",
    "Your gate goes through a sigmoid, not through SiLU.",
    "What stands above the fraction bar of SiLU?",
    why="The first gated linear unit, Dauphin et al. (2017), has the sigmoid alone.",
    gate_by="sigmoid",
)
exercise.option(
    "silu_on_both_branches",
    "Both of your branches go through SiLU.",
    "What happens to the branch of w_up before the two meet?",
    why="Two layers side by side are thought to need one activation each.",
    silu_of="both",
)
exercise.option(
    "silu_on_the_product",
    "Your SiLU comes after the product of both branches.",
    "Is SiLU applied before the two branches meet, or after?",
    why="Activations come last in a layer, as ReLU in lesson 09.",
    silu_of="the product",
)
exercise.option(
    "silu_on_x",
    "Your SiLU is applied to x, before w_gate.",
    "Whose result goes through SiLU, according to the docstring?",
    why="SiLU(x W) is read as SiLU(x) W.",
    silu_of="x",
)
exercise.option(
    "no_silu",
    "Your branches are multiplied as they are: nothing goes through SiLU.",
    "Where is the activation in your code?",
    why="A product bends by itself: Shazeer (2020) calls this network bilinear.",
    gate_by="nothing",
)
exercise.option(
    "branches_added",
    "Your two branches are added, not multiplied.",
    "What does a gate of 0 let through, and what does your code let through?",
    why="A residual connection adds two branches.",
    joined="added",
)
exercise.option(
    "up_left_out",
    "Your result does not depend on w_up: that is a network without a gate.",
    "Which of your arguments has no part in the result?",
    why="The network of lesson 09 has two matrices, with its activation between them.",
    joined="gate alone",
)
exercise.option(
    "highway",
    "Your gate mixes: what it does not let through of itself, it takes from w_up.",
    "Does the docstring have 1 minus the gate anywhere?",
    why="The gates of a GRU, in lesson 08, and of highway networks share between two.",
    joined="gate, 1 − gate",
)
exercise.option(
    "one_plus_gate",
    "Your branch of w_up goes through as it is, and is added to the product.",
    "What should come out where the gate is 0?",
    why="Scales that are learned as their distance from 1 are common: Gemma's norm.",
    joined="1 + gate",
)
exercise.option(
    "product_of_matrices",
    "Your branches meet in a product of matrices: tokens attend to each other.",
    "Does a token's result depend on other tokens, according to the docstring?",
    why="@ and * are both called a product.",
    joined="matrices multiplied",
)
exercise.option(
    "products_summed",
    "Your products are summed over d_ff before w_down: all its rows get one number.",
    "How many numbers does a token have before w_down?",
    why="A sum of products is the dot product, which is everywhere in attention.",
    joined="summed",
)
exercise.option(
    "w_gate_twice",
    "Both of your branches come from w_gate.",
    "Which of your arguments has no part in the result?",
    why="x · sigmoid(x) is what SiLU does itself, and one matrix seems enough.",
    branches="w_gate twice",
)
exercise.option(
    "w_up_twice",
    "Both of your branches come from w_up.",
    "Which of your arguments has no part in the result?",
    why="A line is copied, and its name stays.",
    branches="w_up twice",
)
exercise.option(
    "gelu_for_silu",
    "Your gate goes through GELU, not through SiLU.",
    "Which activation does the docstring name?",
    why="GEGLU is in the same paper, and is what Gemma uses.",
    gate_by="gelu",
)
exercise.option(
    "quick_gelu_for_silu",
    "Your gate goes through a · sigmoid(1.702 a), which is near GELU.",
    "Which factor does the docstring have inside the sigmoid?",
    why="OpenAI's CLIP computes GELU so, and Swish with β has a factor there as well.",
    gate_by="quick gelu",
)
exercise.option(
    "relu_for_silu",
    "Your gate goes through ReLU, not through SiLU.",
    "Which activation does the docstring name?",
    why="The network of lesson 09 has ReLU, and the paper has a gate with it: ReGLU.",
    gate_by="relu",
)
exercise.option(
    "tanh_for_silu",
    "Your gate goes through tanh, not through SiLU.",
    "Which activation does the docstring name?",
    why="WaveNet's gated units, and those of an LSTM, have tanh.",
    gate_by="tanh",
)
exercise.option(
    "tanh_in_silu",
    "Your gate is a · tanh(a), not a · sigmoid(a).",
    "From where to where does 1 / (1 + e^−a) go, and tanh?",
    why="tanh and the sigmoid are taken for one curve; a · tanh(…) is in Mish.",
    gate_by="a tanh(a)",
)
exercise.option(
    "softmax_for_silu",
    "Your gate goes through a softmax over d_ff.",
    "Does one number of the gate depend on the others, in the docstring?",
    why="A softmax is the one gate that attention has taught.",
    gate_by="softmax",
)
exercise.option(
    "sign_in_the_exponent",
    "Your SiLU has e^a in place of e^−a: it turns large numbers off, and lets negative "
    "ones through.",
    "What should SiLU of 10 be, roughly?",
    why="The minus of the sigmoid's exponent is lost.",
    gate_by="a / (1 + e^a)",
)
exercise.option(
    "sigmoid_with_the_other_sign",
    "Your gate is 1 / (1 + e^a): a sigmoid, and one that falls.",
    "What should SiLU of 10 be, roughly?",
    why="The minus of the exponent is lost, and what is above the fraction bar, too.",
    gate_by="1 / (1 + e^a)",
)
exercise.option(
    "infinity_over_infinity",
    "Your SiLU is NaN for large numbers: e^a is infinite above and below the fraction "
    "bar.",
    "What does e^a become in float32 if a is 100, and which of the two forms of the "
    "sigmoid does not need it?",
    why="a · e^a / (1 + e^a) is the same on paper.",
    gate_by="a e^a / (1 + e^a)",
)
exercise.option(
    "softplus_for_silu",
    "Your gate goes through softplus, ln(1 + e^a).",
    "Which activation does the docstring name?",
    why="Both are smooth versions of ReLU, and their curves are near each other.",
    gate_by="softplus",
)
exercise.option(
    "w_gate_and_w_up_transposed",
    "Your w_gate and w_up are transposed.",
    "Which axis of w_gate is as long as a token: the first, or the second?",
    why="nn.Linear keeps (out, in) and computes x @ weight.T.",
    matrices="gate, up transposed",
)
exercise.option(
    "all_transposed",
    "Your three matrices are transposed.",
    "Which axis of w_gate is as long as a token, and which one of w_down?",
    why="nn.Linear keeps (out, in), and torch.nn.functional.linear wants it so.",
    matrices="all transposed",
)
exercise.option(
    "w_down_transposed",
    "Your w_down is transposed.",
    "Which axis of w_down is as long as a token: the first, or the second?",
    why="nn.Linear keeps (out, in) and computes x @ weight.T.",
    matrices="down transposed",
)
exercise.option(
    "w_down_left_out",
    "Your result is the product of both branches, before w_down.",
    "Which shape does the docstring promise?",
    why="Equation 5 of the paper, SwiGLU, ends there; the network is equation 6.",
    down="none",
)
exercise.option(
    "activation_at_the_end",
    "Your result has gone through SiLU once more.",
    "What comes after w_down, according to the docstring?",
    why="Every layer is thought to end in an activation.",
    after="silu",
)
exercise.option(
    "residual_added",
    "Your result has x added to it.",
    "Whose task is it to add what went in: this function's, or that of the block "
    "around it?",
    why="x + feed_forward(x) is how every block uses it.",
    after="x",
)
exercise.option(
    "normed_at_the_end",
    "Your result is normed: each row is divided by the root of the mean of its "
    "squares.",
    "Whose task is the norm: this function's, or that of the block around it?",
    why="Norm and feed-forward network are one sub-layer in the picture.",
    after="norm",
)
exercise.option(
    "written_into_x",
    "Your call overwrites x with its result.",
    "Which tensor does your code write to, and who else holds it?",
    why="Results go back to where they came from, row by row.",
    written="into x",
)
exercise.option(
    "gate_left_out",
    "Your result does not depend on w_gate: that is a network without a gate.",
    "Which of your arguments has no part in the result?",
    why="A feed-forward network has two matrices, as in lesson 09.",
    joined="up alone, through SiLU",
)
exercise.option(
    "silu_after_w_down",
    "Your SiLU comes last, after w_down, and the two branches are multiplied as "
    "they are.",
    "Which of the branches goes through SiLU before the two meet?",
    why="An activation often stands at the end of a layer.",
    silu_of="the result",
)
exercise.family(
    families.squeezed(),
    families.as_numpy(),
    families.as_list("a tensor"),
    families.rows_in_one_axis(),
)
