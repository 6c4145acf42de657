"""Cases and misconceptions of ``gru_step``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.sequence_to_sequence import gru_step

exercise = Exercise(
    gru_step,
    lesson="07_sequence_to_sequence",
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


def drawn(rng, *shape):
    """Draw a tensor of float32."""
    return torch.from_numpy(rng.normal(size=shape)).float()


def inputs(rng, leading=(), d_in=3, d_h=4):
    """Draw all six arguments."""
    return (
        drawn(rng, *leading, d_in),
        drawn(rng, *leading, d_h),
        drawn(rng, d_in, 3 * d_h),
        drawn(rng, d_h, 3 * d_h),
        drawn(rng, 3 * d_h),
        drawn(rng, 3 * d_h),
    )


@exercise.usual
def usual(rng):
    return inputs(rng, leading=(2,))


@exercise.case(
    "Where the update gate is 0 and ¾, the new state is (−1, 3.5)", pays_alone=False
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


@exercise.case("A token of three numbers and a state of four give these four")
def one_token(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("A batch is answered token by token")
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), d_in=5))


@exercise.case("A batch of one stays a batch, and a state of one number a vector")
def sizes_of_one(student, rng):
    student.agrees(*inputs(rng, leading=(1,)))
    student.agrees(*inputs(rng, d_in=2, d_h=1))


@exercise.case("Each of three tokens goes on from the state before", visible=False)
def several_steps(student, rng):
    _, state, *parameters = inputs(rng, d_in=2)
    for _ in range(3):
        x = drawn(rng, 2)
        expected = exercise.expected((x, state, *parameters), {})
        state = student(x, state, *parameters)
        student.expect(state, expected)


@exercise.case("Gates that get 10,000 or −10,000 are wholly open or shut")
def large_next_to_small(student, rng):
    x, state, w_x, w_h, b_x, b_h = inputs(rng)
    b_x[4:8] = torch.tensor([1e4, -1e4, 0.5, 1e4])
    student.agrees(x, state, w_x, w_h, b_x, b_h)


@exercise.case("Numbers of double precision keep their digits")
def double_precision(student, rng):
    student.agrees(*(part.double() for part in inputs(rng, d_h=5)))


@exercise.case("`x`, the state and the parameters stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, leading=(2,), d_in=2, d_h=3))


def parts(x, state, w_x, w_h, b_x, b_h):
    """Return what x and the state add to reset gate, update gate and candidate."""
    return (x @ w_x + b_x).chunk(3, dim=-1), (state @ w_h + b_h).chunk(3, dim=-1)


@exercise.misconception(
    "Your update gate works the other way round: where it is 1, the candidate is "
    "taken, and where it is 0, the old state stays.",
    "Which of the two does the docstring promise where the update gate is 1?",
    why="Chung et al. (2014) write (1 − z) h + z n, Cho et al. (2014) the opposite: "
    "pytorch/pytorch, issues 20129 and 60645.",
)
def update_gate_reversed(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return update * candidate + (1 - update) * state


@exercise.misconception(
    "Your reset gate is multiplied with the state before the product with w_h: that "
    "is the unit of the original paper, not PyTorch's.",
    "Does the docstring put the reset gate before or after the parameters?",
    why="Both are called GRU; Keras has a switch for it, reset_after: "
    "pytorch/pytorch, issue 99531; keras-team/keras, pull request 9112.",
)
def reset_before_the_product(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    d_h = state.shape[-1]
    candidate = from_x[2] + (reset * state) @ w_h[:, 2 * d_h :] + b_h[2 * d_h :]
    return (1 - update) * torch.tanh(candidate) + update * state


@exercise.misconception(
    "Your parameters are read in the order update gate, reset gate, candidate.",
    "Whose columns come first in w_x, w_h and the biases?",
    why="Keras and most write-ups name z before r: keras-team/keras, issue 8720.",
)
def update_gate_first(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    update = torch.sigmoid(from_x[0] + from_state[0])
    reset = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your b_h for the candidate stands outside the reset gate: it is added even where "
    "the gate is 0.",
    "Which terms does the reset gate multiply: the product with w_h alone, or more?",
    why="With one bias for both, as in Core ML, it can be nowhere else: "
    "apple/coremltools, issue 1124.",
)
def bias_outside_the_reset(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    bias = b_h[2 * state.shape[-1] :]
    candidate = torch.tanh(from_x[2] + reset * (from_state[2] - bias) + bias)
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your reset gate is multiplied with the whole candidate, with what comes from x "
    "too.",
    "What is the reset gate there to forget: the token or the state?",
    why="The brackets are closed one term too late: r * (W x + U h).",
)
def reset_on_the_token_too(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(reset * (from_x[2] + from_state[2]))
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your reset gate has no effect: the candidate is that of a reset gate of 1.",
    "Which line of your code would change its result if the reset gate were 0?",
    why="The gate is computed and then left out, or left out on purpose, as in light "
    "units: mravanelli/pytorch-kaldi, issue 71.",
)
def reset_unused(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your candidate went through a sigmoid: it cannot be negative.",
    "Which of the three may point either way, and which are only open or shut?",
    why="All three lines look alike, and a loop over them gives each the same "
    "activation.",
)
def sigmoid_for_the_candidate(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.sigmoid(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your gates went through tanh: they can be negative.",
    "What would a gate of −1 do to the number that it is multiplied with?",
    why="tanh is the activation of plain recurrent networks, for every line.",
)
def tanh_for_the_gates(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.tanh(from_x[0] + from_state[0])
    update = torch.tanh(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your gates are straight lines cut off at 0 and 1, not sigmoids.",
    "Does your gate come close to 1, or does it reach it?",
    why="Keras's GRU had hard_sigmoid for its gates by default: keras-team/keras, pull "
    "request 9112.",
)
def hard_sigmoid_for_the_gates(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = (0.2 * (from_x[0] + from_state[0]) + 0.5).clamp(0, 1)
    update = (0.2 * (from_x[1] + from_state[1]) + 0.5).clamp(0, 1)
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your new state is the whole candidate plus a part of the old state.",
    "If the update gate keeps all of the old state, how much of the candidate should "
    "come in?",
    why="Long short-term memory has two gates for this, and they need not sum to 1.",
)
def whole_candidate_added(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    return torch.tanh(from_x[2] + reset * from_state[2]) + update * state


@exercise.misconception(
    "Your b_h is nowhere in the numbers.",
    "How many biases does the docstring name, and where is each one added?",
    why="The papers' formulas have one bias or none.",
)
def b_h_forgotten(x, state, w_x, w_h, b_x, b_h):
    return gru_step(x, state, w_x, w_h, b_x, torch.zeros_like(b_h))


@exercise.misconception(
    "Your columns are dealt out in turn: column 0 to the reset gate, column 1 to the "
    "update gate, column 2 to the candidate, and so on.",
    "Which columns of w_x are neighbours: those of one gate, or those of one number "
    "of the state?",
    why="reshape(…, d_h, 3) gives three parts of the right size, and x[..., 0::3] too.",
)
def columns_dealt_in_turn(x, state, w_x, w_h, b_x, b_h):
    tables = (w_x, w_h, b_x, b_h)
    dealt = [torch.cat([t[..., g::3] for g in range(3)], dim=-1) for t in tables]
    return gru_step(x, state, *dealt)


@exercise.misconception(
    "Your numbers are right for small sums and NaN for large ones: a gate is infinity "
    "divided by infinity.",
    "How large is the largest power of e in your sigmoid, and who has written a "
    "sigmoid that avoids it?",
    why="eᵃ / (1 + eᵃ) is a right formula, and overflows from a = 89 on in float32.",
)
def sigmoid_that_overflows(x, state, w_x, w_h, b_x, b_h):
    from_x, from_state = parts(x, state, w_x, w_h, b_x, b_h)
    powers = [torch.exp(from_x[g] + from_state[g]) for g in range(2)]
    reset, update = (power / (1 + power) for power in powers)
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your result has lost the axes of length 1.",
    "What does `squeeze()` do to a batch of one, and to a state of one number?",
    why="nn.GRU wants an axis for the sequence, and squeeze() is to take it off again.",
)
def axes_squeezed(x, state, w_x, w_h, b_x, b_h):
    return gru_step(x, state, w_x, w_h, b_x, b_h).squeeze()


@exercise.misconception(
    "Your new state is right, but the old one is overwritten.",
    "Whose tensor is `state`, and what does `*=` do to it?",
    why="`state *= update` saves a tensor; the attention may still need the old one.",
)
def state_overwritten(x, state, w_x, w_h, b_x, b_h):
    new = gru_step(x, state, w_x, w_h, b_x, b_h)
    state.copy_(new)
    return state
