"""Cases and misconceptions of ``swiglu``."""

import math

import numpy as np
import torch

from autograder import Exercise, families, standard_cases
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


inputs = exercise.inputs(d_model=4, d_ff=7)


@exercise.usual
def usual(rng):
    return inputs(rng, (5,), d_model=6, d_ff=8)


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
    student.agrees(*inputs(rng, (2,), d_model=3, d_ff=4))


exercise.case("Each token of each sequence is answered by itself, in any batch")(
    standard_cases.leading_axes(inputs, (), (5,), (2, 3), (2, 2, 3))
)


@exercise.case("With d_ff = d_model, each matrix keeps its task and its axes")
def as_long_in_the_middle(student, rng):
    student.agrees(*inputs(rng, (3,), d_ff=4))
    student.agrees(*inputs(rng, (4,), d_ff=4))


@exercise.case("Gates of hundreds, above and below 0, give finite numbers")
def large_gates(student, rng):
    x, w_gate, w_up, w_down = inputs(rng, (6,))
    student.agrees(x, w_gate * 300, w_up, w_down)


exercise.case("Numbers of float64 are answered, too")(
    standard_cases.double_precision(inputs, (4,))
)


@exercise.case(
    "With w_up three times as large, the result is three times as large",
    visible=False,
    pays_alone=False,
)
def three_times_as_large(student, rng):
    x, w_gate, w_up, w_down = inputs(rng, (5,))
    expected = tensor(student(x, w_gate, w_up, w_down).numpy() * 3)
    result = student(x, w_gate, tensor(w_up.numpy() * 3), w_down)
    student.expect(result, expected, what="the result for 3 w_up")


exercise.case("`x` and the parameters are not modified")(
    standard_cases.arguments_stay(inputs, dict(leading=(3,), d_ff=5))
)


exercise.edits(
    """
gate_and_up_exchanged:
  | x @ w_gate -> x @ w_up
  | x @ w_up -> x @ w_gate
  Your two branches are exchanged: what goes through SiLU comes from w_up.
  ? Which matrix belongs to the branch with SiLU?
  # Both have one shape, and the names differ: Llama's w1 is the gate, w3 is up, and
    w2 is down.
sigmoid_for_silu: functional.silu -> torch.sigmoid
  Your gate goes through a sigmoid, not through SiLU.
  ? What stands above the fraction bar of SiLU?
  # The first gated linear unit, Dauphin et al. (2017), has the sigmoid alone.
silu_on_both_branches: (x @ w_up) -> functional.silu(x @ w_up)
  Both of your branches go through SiLU.
  ? What happens to the branch of w_up before the two meet?
  # Two layers side by side are thought to need one activation each.
silu_on_the_product:
  | functional.silu(x @ w_gate) * (x @ w_up) ->
  :     functional.silu((x @ w_gate) * (x @ w_up))
  Your SiLU comes after the product of both branches.
  ? Is SiLU applied before the two branches meet, or after?
  # Activations come last in a layer, as ReLU in lesson 09.
silu_on_x: functional.silu(x @ w_gate) -> (functional.silu(x) @ w_gate)
  Your SiLU is applied to x, before w_gate.
  ? Whose result goes through SiLU, according to the docstring?
  # SiLU(x W) is read as SiLU(x) W.
no_silu: functional.silu(x @ w_gate) -> (x @ w_gate)
  Your branches are multiplied as they are: nothing goes through SiLU.
  ? Where is the activation in your code?
  # A product bends by itself: Shazeer (2020) calls this network bilinear.
branches_added:
  | functional.silu(x @ w_gate) * (x @ w_up) -> (functional.silu(x @ w_gate) + x @ w_up)
  Your two branches are added, not multiplied.
  ? What does a gate of 0 let through, and what does your code let through?
  # A residual connection adds two branches.
up_left_out: * (x @ w_up) @ w_down -> @ w_down
  Your result does not depend on w_up: that is a network without a gate.
  ? Which of your arguments has no part in the result?
  # The network of lesson 09 has two matrices, with its activation between them.
highway:
  | gate = functional.silu(x @ w_gate)
  | functional.silu(x @ w_gate) * (x @ w_up) -> (gate + (1 - gate) * (x @ w_up))
  Your gate mixes: what it does not let through of itself, it takes from w_up.
  ? Does the docstring have 1 minus the gate anywhere?
  # The gates of a GRU, in lesson 08, and of highway networks share between two.
one_plus_gate: functional.silu(x @ w_gate) -> (1 + functional.silu(x @ w_gate))
  Your branch of w_up goes through as it is, and is added to the product.
  ? What should come out where the gate is 0?
  # Scales that are learned as their distance from 1 are common: Gemma's norm.
product_of_matrices:
  | up = x @ w_up
  | * (x @ w_up) -> @ up.transpose(-1, -2) @ up
  Your branches meet in a product of matrices: tokens attend to each other.
  ? Does a token's result depend on other tokens, according to the docstring?
  # @ and * are both called a product.
products_summed:
  | products = functional.silu(x @ w_gate) * (x @ w_up)
  | return products.sum(dim=-1, keepdim=True).expand_as(products) @ w_down
  Your products are summed over d_ff before w_down: all its rows get one number.
  ? How many numbers does a token have before w_down?
  # A sum of products is the dot product, which is everywhere in attention.
w_gate_twice: w_up -> w_gate
  Both of your branches come from w_gate.
  ? Which of your arguments has no part in the result?
  # x · sigmoid(x) is what SiLU does itself, and one matrix seems enough.
w_up_twice: w_gate -> w_up
  Both of your branches come from w_up.
  # A line is copied, and its name stays.
gelu_for_silu: functional.silu -> functional.gelu
  Your gate goes through GELU, not through SiLU.
  ? Which activation does the docstring name?
  # GEGLU is in the same paper, and is what Gemma uses.
quick_gelu_for_silu:
  | functional.silu(x @ w_gate) -> x @ w_gate * torch.sigmoid(1.702 * (x @ w_gate))
  Your gate goes through a · sigmoid(1.702 a), which is near GELU.
  ? Which factor does the docstring have inside the sigmoid?
  # OpenAI's CLIP computes GELU so, and Swish with β has a factor there as well.
relu_for_silu: functional.silu -> torch.relu
  Your gate goes through ReLU, not through SiLU.
  ? Which activation does the docstring name?
  # The network of lesson 09 has ReLU, and the paper has a gate with it: ReGLU.
tanh_for_silu: functional.silu -> torch.tanh
  Your gate goes through tanh, not through SiLU.
  # WaveNet's gated units, and those of an LSTM, have tanh.
tanh_in_silu: functional.silu(x @ w_gate) -> x @ w_gate * torch.tanh(x @ w_gate)
  Your gate is a · tanh(a), not a · sigmoid(a).
  ? From where to where does 1 / (1 + e^−a) go, and tanh?
  # tanh and the sigmoid are taken for one curve; a · tanh(…) is in Mish.
softmax_for_silu: functional.silu(x @ w_gate) -> (x @ w_gate).softmax(dim=-1)
  Your gate goes through a softmax over d_ff.
  ? Does one number of the gate depend on the others, in the docstring?
  # A softmax is the one gate that attention has taught.
sign_in_the_exponent:
  | functional.silu(x @ w_gate) -> x @ w_gate / (1 + torch.exp(x @ w_gate))
  Your SiLU has e^a in place of e^−a: it turns large numbers off, and lets negative
    ones through.
  ? What should SiLU of 10 be, roughly?
  # The minus of the sigmoid's exponent is lost.
sigmoid_with_the_other_sign:
  | functional.silu(x @ w_gate) -> 1 / (1 + torch.exp(x @ w_gate))
  Your gate is 1 / (1 + e^a): a sigmoid, and one that falls.
  # The minus of the exponent is lost, and what is above the fraction bar, too.
infinity_over_infinity:
  | power = torch.exp(x @ w_gate)
  | functional.silu(x @ w_gate) -> x @ w_gate * power / (1 + power)
  Your SiLU is NaN for large numbers: e^a is infinite above and below the fraction
    bar.
  ? What does e^a become in float32 if a is 100, and which of the two forms of the
    sigmoid does not need it?
  # a · e^a / (1 + e^a) is the same on paper.
softplus_for_silu: functional.silu -> functional.softplus
  Your gate goes through softplus, ln(1 + e^a).
  ? Which activation does the docstring name?
  # Both are smooth versions of ReLU, and their curves are near each other.
w_gate_and_w_up_transposed:
  | w_gate -> w_gate.T
  | w_up -> w_up.T
  Your w_gate and w_up are transposed.
  ? Which axis of w_gate is as long as a token: the first, or the second?
  # nn.Linear keeps (out, in) and computes x @ weight.T.
all_transposed:
  | w_gate -> w_gate.T
  | w_up -> w_up.T
  | w_down -> w_down.T
  Your three matrices are transposed.
  ? Which axis of w_gate is as long as a token, and which one of w_down?
  # nn.Linear keeps (out, in), and torch.nn.functional.linear wants it so.
w_down_transposed: w_down -> w_down.T
  Your w_down is transposed.
  ? Which axis of w_down is as long as a token: the first, or the second?
  # nn.Linear keeps (out, in) and computes x @ weight.T.
w_down_left_out: (x @ w_up) @ w_down -> (x @ w_up)
  Your result is the product of both branches, before w_down.
  ? Which shape does the docstring promise?
  # Equation 5 of the paper, SwiGLU, ends there; the network is equation 6.
activation_at_the_end:
  | return functional.silu(functional.silu(x @ w_gate) * (x @ w_up) @ w_down)
  Your result has gone through SiLU once more.
  ? What comes after w_down, according to the docstring?
  # Every layer is thought to end in an activation.
residual_added: return functional.silu -> return x + functional.silu
  Your result has x added to it.
  ? Whose task is it to add what went in: this function's, or that of the block around
    it?
  # x + feed_forward(x) is how every block uses it.
normed_at_the_end:
  | result = functional.silu(x @ w_gate) * (x @ w_up) @ w_down
  | return functional.rms_norm(result, result.shape[-1:])
  Your result is normed: each row is divided by the root of the mean of its squares.
  ? Whose task is the norm: this function's, or that of the block around it?
  # Norm and feed-forward network are one sub-layer in the picture.
written_into_x:
  | x[:] = functional.silu(x @ w_gate) * (x @ w_up) @ w_down
  | return x
  Your call overwrites x with its result.
  ? Which tensor does your code write to, and who else holds it?
  # Results go back to where they came from, row by row.
gate_left_out: functional.silu(x @ w_gate) * (x @ w_up) -> functional.silu(x @ w_up)
  Your result does not depend on w_gate: that is a network without a gate.
  ? Which of your arguments has no part in the result?
  # A feed-forward network has two matrices, as in lesson 09.
silu_after_w_down: return functional.silu((x @ w_gate) * (x @ w_up) @ w_down)
  Your SiLU comes last, after w_down, and the two branches are multiplied as they are.
  ? Which of the branches goes through SiLU before the two meet?
  # An activation often stands at the end of a layer.
""",
)

exercise.family(
    families.squeezed(),
    families.as_numpy(),
    families.as_list("a tensor"),
    families.rows_in_one_axis(),
)
