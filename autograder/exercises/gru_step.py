"""Cases and misconceptions of ``gru_step``."""

import math

import numpy as np
import torch

from autograder import Exercise, families, standard_cases
from course_lib.nn.sequence_to_sequence import gru_step

exercise = Exercise(
    gru_step,
    lesson="08_sequence_to_sequence",
    minutes=15,
    difficulty=2,
    library=(
        "torch.nn.GRUCell",
        "torch.nn.GRU",
        "torch.gru_cell",
        "torch.gru",
        "course_lib.nn.recurrent.RecurrentEncoder",
        "course_lib.nn.recurrent.RecurrentDecoder",
    ),
)


@exercise.spec
def spec(x, state, w_x, w_h, b_x, b_h):
    d_in, d_h = x.shape[-1], state.shape[-1]
    new = torch.zeros_like(state)
    x, state, w_x, w_h, b_x, b_h = (
        part.numpy().astype(float) for part in (x, state, w_x, w_h, b_x, b_h)
    )
    for index in np.ndindex(*new.shape):
        *token, unit = index
        from_x, from_state = [], []  # of the reset gate, the update gate, the candidate
        for column in (unit, d_h + unit, 2 * d_h + unit):
            dot = sum(x[*token, c] * w_x[c, column] for c in range(d_in))
            from_x.append(dot + b_x[column])
            dot = sum(state[*token, c] * w_h[c, column] for c in range(d_h))
            from_state.append(dot + b_h[column])
        reset = sigmoid(from_x[0] + from_state[0])
        update = sigmoid(from_x[1] + from_state[1])
        candidate = math.tanh(from_x[2] + reset * from_state[2])
        new[index] = update * state[index] + (1 - update) * candidate
    return new


def sigmoid(number):
    """Return the sigmoid of a number, however large."""
    return 0.5 + 0.5 * math.tanh(number / 2)


inputs = exercise.inputs(d_in=3, d_h=4)


@exercise.usual
def usual(rng):
    return inputs(rng, leading=(2,))


@exercise.case(
    "Where the update gate is 0 and ¾, the new state is (−1, 3.5)",
    weight=0.5,
)
def small_example_by_hand(student, rng):
    x = torch.tensor([1.0])
    # The reset gate is 0 for the first number and 1 for the second. Both candidates are
    # tanh(−20); the first would be positive if the reset gate let 9 · 5 from w_h, or 50
    # from b_h, in.
    w_x = torch.tensor([[-40.0, 40.0, -40.0, 0.0, -20.0, -20.0]])
    w_h = torch.tensor([[0.0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 9, 0]])
    b_x, b_h = torch.zeros(6), torch.tensor([0, 0, 0, math.log(3), 50, 0])
    for second in (5.0, float(rng.integers(6, 9_999))):
        state = torch.tensor([7.0, second])
        new_state = torch.tensor([-1.0, 0.75 * second - 0.25])
        student.expect(student(x, state, w_x, w_h, b_x, b_h), new_state)
    student.agrees(*inputs(rng, d_in=1, d_h=2))


@exercise.case(
    "A token of three numbers and a state of four give these four", weight=1.5
)
def one_token(student, rng):
    student.agrees(*inputs(rng))


exercise.case("Each token of a batch is handled by itself", weight=2.5)(
    standard_cases.leading_axes(inputs, dict(leading=(2, 3), d_in=5))
)


@exercise.case(
    "A batch of one stays a batch, and a state of one number a vector", weight=0.5
)
def sizes_of_one(student, rng):
    student.agrees(*inputs(rng, leading=(1,)))
    student.agrees(*inputs(rng, d_in=2, d_h=1))


@exercise.case("Each of three tokens goes on from the state before", visible=False)
def several_steps(student, rng):
    _, state, *parameters = inputs(rng, d_in=2)
    for _ in range(3):
        x, *_ = inputs(rng, d_in=2)
        expected = exercise.expected((x, state, *parameters), {})
        state = student(x, state, *parameters)
        student.expect(state, expected)


@exercise.case("Gates that get 10,000 or −10,000 are wholly open or shut", weight=0.5)
def large_next_to_small(student, rng):
    x, state, w_x, w_h, b_x, b_h = inputs(rng)
    b_x[4:8] = torch.tensor([1e4, -1e4, 0.5, 1e4])
    student.agrees(x, state, w_x, w_h, b_x, b_h)


exercise.case("Numbers of float64 are answered, too")(
    standard_cases.double_precision(inputs, dict(d_h=5))
)


exercise.case("`x`, the state and the parameters are not modified", weight=0.5)(
    standard_cases.arguments_stay(inputs, dict(leading=(2,), d_in=2, d_h=3))
)


exercise.edits(
    """
update_gate_reversed: return update * candidate + (1 - update) * state
  Your update gate works the other way round: where it is 1, the candidate is taken,
    and where it is 0, the old state stays.
  ? Which of the two does the docstring promise where the update gate is 1?
  # Chung et al. (2014) write (1 − z) h + z n, Cho et al. (2014) the opposite:
    pytorch/pytorch, issues 20129 and 60645.
whole_candidate_added: return candidate + update * state
  Your new state has the whole candidate in it, besides a part of the old state.
  ? If the update gate keeps all of the old state, how much of the candidate should
    come in?
  # Long short-term memory has two gates for this, which do not have to sum to 1.
whole_state_kept: return (1 - update) * candidate + state
  Your new state has the whole old state in it, besides a part of the candidate.
  ? If the update gate is 0, how much of the old state should stay?
  # A residual connection adds to what was there before.
old_state_dropped: return (1 - update) * candidate
  Your new state is a part of the candidate alone: of the old state, nothing is added
    to it.
  ? What should the new state be where the update gate is 1?
  # The second term of the sum is left out.
candidate_alone: return candidate
  Your new state is the candidate: an update gate has no part in it.
  # A plain recurrent network ends with its tanh.
reset_before_the_product:
  | reset * from_state[2] -> (reset * state) @ w_h.chunk(3, dim=1)[2] + b_h.chunk(3)[2]
  Your reset gate is multiplied by the state before the product with w_h: that is the
    unit of the original paper, not PyTorch's.
  ? Does the docstring put the reset gate before or after the parameters?
  # Both are called GRU; Keras has a switch for it, reset_after: pytorch/pytorch,
    issue 99531; keras-team/keras, pull request 9112.
bias_outside_the_reset:
  | reset * from_state[2] -> reset * (state @ w_h.chunk(3, dim=1)[2]) + b_h.chunk(3)[2]
  Your b_h for the candidate stands outside the reset gate: it is added even where the
    gate is 0.
  ? Which terms does the reset gate multiply: the product with w_h alone, or more?
  # With one bias for both, as in Core ML, it can be nowhere else: apple/coremltools,
    issue 1124.
reset_on_the_token_too:
  | from_x[2] + reset * from_state[2] -> reset * (from_x[2] + from_state[2])
  Your reset gate is multiplied by what comes from x too.
  ? What is the reset gate there to forget: the token or the state?
  # The brackets are closed one term too late: r * (W x + U h).
reset_on_the_token_alone:
  | from_x[2] + reset * from_state[2] -> reset * from_x[2] + from_state[2]
  Your reset gate is multiplied by what comes from x, and not by what comes from the
    state.
  # The two parts of the candidate have similar names.
reset_unused: from_x[2] + reset * from_state[2] -> from_x[2] + from_state[2]
  Your reset gate has no effect on the candidate.
  ? What would change in your result if the reset gate were 0?
  # The gate is computed and then left out, or left out on purpose, as in light units:
    mravanelli/pytorch-kaldi, issue 71.
reset_gate_reversed: reset * from_state[2] -> (1 - reset) * from_state[2]
  Your reset gate works the other way round: where it is 1, the state has no part in
    the candidate.
  ? What does a reset gate of 0 do to the state's part of the candidate?
  # 'Reset' sounds as if 1 meant to forget.
update_gate_first:
  | from_x[0] + from_state[0] -> from_x[1] + from_state[1]
  | from_x[1] + from_state[1] -> from_x[0] + from_state[0]
  Your parameters are read in the order update gate, reset gate, candidate.
  ? Whose columns come first in w_x, w_h and the biases?
  # Keras and most write-ups name z before r: keras-team/keras, issue 8720.
candidate_first:
  | from_x[0] + from_state[0] -> from_x[1] + from_state[1]
  | from_x[1] + from_state[1] -> from_x[2] + from_state[2]
  | from_x[2] + reset * from_state[2] -> from_x[0] + reset * from_state[0]
  Your parameters are read in the order candidate, reset gate, update gate.
  # The candidate is what the two gates are about, and so it comes first.
candidate_first_reset_last:
  | from_x[0] + from_state[0] -> from_x[2] + from_state[2]
  | from_x[2] + reset * from_state[2] -> from_x[0] + reset * from_state[0]
  Your parameters are read in the order candidate, update gate, reset gate.
  # The three are read from the last columns to the first.
columns_dealt_in_turn:
  | from_x = [(x @ w_x + b_x)[..., gate::3] for gate in range(3)]
  | from_state = [(state @ w_h + b_h)[..., gate::3] for gate in range(3)]
  Your columns are dealt out in turn: column 0 to one gate, column 1 to the other,
    column 2 to the candidate, and so on.
  ? Which columns of w_x are neighbours: those of one gate, or those of one number of
    the state?
  # reshape(…, d_h, 3) gives three parts of the right size, and x[..., 0::3] too.
cut_along_the_first_axis: dim=-1 => dim=0
  Your sums are cut in three along axis 0, which holds the parameters' columns only
    without a batch.
  ? From which end is the axis of length 3 d_h counted?
  # chunk(3) without an axis cuts along the first.
cut_along_axis_one: dim=-1 => dim=1
  Your sums are cut in three along axis 1, which holds the parameters' columns only
    with one leading batch axis.
  # dim=1 is what tutorials with a batch show.
sigmoid_for_the_candidate: torch.tanh -> torch.sigmoid
  Your candidate went through a sigmoid: it cannot be negative.
  ? Which of the three may point either way, and which are only open or shut?
  # All three lines look alike, and a loop over them gives each the same activation.
relu_for_the_candidate: torch.tanh -> torch.relu
  Your candidate went through a ReLU: it cannot be negative, and has no bound.
  ? Which activation keeps the candidate between −1 and 1?
  # ReLU is the habit of today's networks.
no_tanh: candidate = from_x[2] + reset * from_state[2]
  Your candidate is a plain sum: it does not have to lie between −1 and 1.
  ? What keeps the numbers of a state between −1 and 1, however many tokens follow?
  # The two gates have an activation, and the candidate's is forgotten.
tanh_for_the_gates: torch.sigmoid => torch.tanh
  Your gates went through tanh: they can be negative.
  ? What would a gate of −1 do to the number that it is multiplied by?
  # tanh is the activation of plain recurrent networks, for every line.
hard_sigmoid_for_the_gates:
  | reset = (0.2 * (from_x[0] + from_state[0]) + 0.5).clamp(0, 1)
  | update = (0.2 * (from_x[1] + from_state[1]) + 0.5).clamp(0, 1)
  Your gates are straight lines cut off at 0 and 1, not sigmoids.
  ? Does your gate come close to 1, or does it reach it?
  # Keras's GRU had hard_sigmoid for its gates by default: keras-team/keras, pull
    request 9112.
sigmoid_that_overflows:
  | reset = … ->
  :     power = torch.exp(from_x[0] + from_state[0])
  :     reset = power / (1 + power)
  | update = … ->
  :     power = torch.exp(from_x[1] + from_state[1])
  :     update = power / (1 + power)
  Your gates are NaN for large sums: infinity divided by infinity.
  ? How large is the largest power of e in your sigmoid, and who has written a sigmoid
    that avoids it?
  # eᵃ / (1 + eᵃ) is a right formula, and overflows from a = 89 on in float32.
gates_read_the_token_alone:
  | from_x[0] + from_state[0] -> from_x[0]
  | from_x[1] + from_state[1] -> from_x[1]
  Your gates would be the same with another state.
  ? What is added up before the sigmoid of a gate?
  # One of the two terms of the sum is left out.
gates_read_the_state_alone:
  | from_x[0] + from_state[0] -> from_state[0]
  | from_x[1] + from_state[1] -> from_state[1]
  Your gates would be the same with another token.
b_h_forgotten: state @ w_h + b_h -> state @ w_h
  Your b_h is nowhere in the numbers.
  ? How many biases does the docstring name, and where is each one added?
  # The papers' formulas have one bias or none.
b_x_forgotten: x @ w_x + b_x -> x @ w_x
  Your b_x is nowhere in the numbers.
b_h_in_the_candidate_alone:
  | from_x[0] + from_state[0] -> from_x[0] + (state @ w_h).chunk(3, dim=-1)[0]
  | from_x[1] + from_state[1] -> from_x[1] + (state @ w_h).chunk(3, dim=-1)[1]
  Your b_h is added in the candidate and in neither gate.
  ? Which columns of b_h belong to the reset gate, and which to the update gate?
  # The docstring names b_h where it speaks of the candidate.
b_h_in_the_gates_alone:
  | reset * from_state[2] -> reset * (state @ w_h).chunk(3, dim=-1)[2]
  Your b_h is added in both gates and not in the candidate.
  ? Which columns of b_h belong to the candidate, and what is multiplied by the reset
    gate?
  # In most formulas the reset gate multiplies a product alone.
b_x_in_the_gates_alone:
  | from_x[2] + reset -> (x @ w_x).chunk(3, dim=-1)[2] + reset
  Your b_x is added in both gates and not in the candidate.
  ? Which columns of b_x belong to the candidate?
  # The candidate's line is written last, and one bias looks like enough.
without_b_h_and_reset_before_the_product:
  | from_state = … -> from_state = (state @ w_h).chunk(3, dim=-1)
  | reset * from_state[2] -> (reset * state) @ w_h.chunk(3, dim=1)[2]
  Your unit is that of the original paper: the reset gate is multiplied by the state
    before the product with w_h, and b_h is nowhere in the numbers.
  ? Where does the docstring put the reset gate, and where b_h?
  # Cho et al. (2014) have no biases, and many write-ups have one.
biases_exchanged:
  | x @ w_x + b_x -> x @ w_x + b_h
  | state @ w_h + b_h -> state @ w_h + b_x
  Your b_x and b_h are exchanged.
  ? Which of the two biases is added before the reset gate is multiplied?
  # In both gates only their sum counts, so most numbers come out right.
state_overwritten: return state.copy_((1 - update) * candidate + update * state)
  Your call overwrites the old state with the new one.
  ? Whose tensor is `state`, and what does `*=` do to it?
  # `state *= update` saves a tensor; the attention may still need the old one.
""",
)

exercise.family(families.squeezed(), families.as_numpy())
