"""Cases and misconceptions of ``gru_step``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
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


@exercise.case("Each token of a batch is handled by itself", weight=2.5)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), d_in=5))


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
        x = drawn(rng, 2)
        expected = exercise.expected((x, state, *parameters), {})
        state = student(x, state, *parameters)
        student.expect(state, expected)


@exercise.case("Gates that get 10,000 or −10,000 are wholly open or shut", weight=0.5)
def large_next_to_small(student, rng):
    x, state, w_x, w_h, b_x, b_h = inputs(rng)
    b_x[4:8] = torch.tensor([1e4, -1e4, 0.5, 1e4])
    student.agrees(x, state, w_x, w_h, b_x, b_h)


@exercise.case("Numbers of float64 are answered, too")
def double_precision(student, rng):
    student.agrees(*(part.double() for part in inputs(rng, d_h=5)))


@exercise.case("`x`, the state and the parameters are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, leading=(2,), d_in=2, d_h=3))


GATES = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "straight": lambda sums: (0.2 * sums + 0.5).clamp(0, 1),
    "overflowing": lambda sums: sums.exp() / (1 + sums.exp()),
}
CANDIDATES = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "none": torch.clone,
}
ORDERS = {
    "r z n": (0, 1, 2),
    "z r n": (1, 0, 2),
    "n r z": (1, 2, 0),
    "n z r": (2, 1, 0),
}


@exercise.variants
def variants(
    x,
    state,
    w_x,
    w_h,
    b_x,
    b_h,
    *,
    biases="both",
    axis=-1,
    columns="side by side",
    order="r z n",
    gate="sigmoid",
    gates_read="both",
    reset_on="the state's part",
    candidate_is="tanh",
    between="(1 − z) n + z h",
    overwritten=False,
):
    if biases == "b_h, b_x":
        b_x, b_h = b_h, b_x
    none = torch.zeros_like(b_x)
    b_x = none if biases == "b_h" else b_x
    b_h = none if biases == "b_x" else b_h
    sums = x @ w_x + b_x, state @ w_h + b_h  # (..., 3 d_h) each
    if columns == "in turn":
        from_x, from_h = ([part[..., g::3] for g in range(3)] for part in sums)
    else:
        from_x, from_h = (part.chunk(3, dim=axis) for part in sums)
    r, z, n = ORDERS[order]

    def gate_of(g):
        of = {"both": from_x[g] + from_h[g], "x": from_x[g], "state": from_h[g]}
        return GATES[gate](of[gates_read])

    reset, update = gate_of(r), gate_of(z)
    own = slice(n * state.shape[-1], (n + 1) * state.shape[-1])
    inside = {
        "the state's part": lambda: from_x[n] + reset * from_h[n],
        "nothing": lambda: from_x[n] + from_h[n],
        "everything": lambda: reset * (from_x[n] + from_h[n]),
        "x's part": lambda: reset * from_x[n] + from_h[n],
        "the product": lambda: from_x[n] + reset * (from_h[n] - b_h[own]) + b_h[own],
        "the state": lambda: from_x[n] + (reset * state) @ w_h[:, own] + b_h[own],
        "the rest": lambda: from_x[n] + (1 - reset) * from_h[n],
    }[reset_on]()
    candidate = CANDIDATES[candidate_is](inside)
    new = {
        "(1 − z) n + z h": lambda: (1 - update) * candidate + update * state,
        "z n + (1 − z) h": lambda: update * candidate + (1 - update) * state,
        "n + z h": lambda: candidate + update * state,
        "(1 − z) n + h": lambda: (1 - update) * candidate + state,
        "(1 − z) n": lambda: (1 - update) * candidate,
        "n": lambda: candidate,
    }[between]()
    return state.copy_(new) if overwritten else new


exercise.option(
    "update_gate_reversed",
    "Your update gate works the other way round: where it is 1, the candidate is "
    "taken, and where it is 0, the old state stays.",
    "Which of the two does the docstring promise where the update gate is 1?",
    why="Chung et al. (2014) write (1 − z) h + z n, Cho et al. (2014) the opposite: "
    "pytorch/pytorch, issues 20129 and 60645.",
    between="z n + (1 − z) h",
)
exercise.option(
    "whole_candidate_added",
    "Your new state has the whole candidate in it, besides a part of the old state.",
    "If the update gate keeps all of the old state, how much of the candidate should "
    "come in?",
    why="Long short-term memory has two gates for this, which do not have to sum to 1.",
    between="n + z h",
)
exercise.option(
    "whole_state_kept",
    "Your new state has the whole old state in it, besides a part of the candidate.",
    "If the update gate is 0, how much of the old state should stay?",
    why="A residual connection adds to what was there before.",
    between="(1 − z) n + h",
)
exercise.option(
    "old_state_dropped",
    "Your new state is a part of the candidate alone: of the old state, nothing is "
    "added to it.",
    "What should the new state be where the update gate is 1?",
    why="The second term of the sum is left out.",
    between="(1 − z) n",
)
exercise.option(
    "candidate_alone",
    "Your new state is the candidate: an update gate has no part in it.",
    "What should the new state be where the update gate is 1?",
    why="A plain recurrent network ends with its tanh.",
    between="n",
)
exercise.option(
    "reset_before_the_product",
    "Your reset gate is multiplied by the state before the product with w_h: that is "
    "the unit of the original paper, not PyTorch's.",
    "Does the docstring put the reset gate before or after the parameters?",
    why="Both are called GRU; Keras has a switch for it, reset_after: "
    "pytorch/pytorch, issue 99531; keras-team/keras, pull request 9112.",
    reset_on="the state",
)
exercise.option(
    "bias_outside_the_reset",
    "Your b_h for the candidate stands outside the reset gate: it is added even where "
    "the gate is 0.",
    "Which terms does the reset gate multiply: the product with w_h alone, or more?",
    why="With one bias for both, as in Core ML, it can be nowhere else: "
    "apple/coremltools, issue 1124.",
    reset_on="the product",
)
exercise.option(
    "reset_on_the_token_too",
    "Your reset gate is multiplied by what comes from x too.",
    "What is the reset gate there to forget: the token or the state?",
    why="The brackets are closed one term too late: r * (W x + U h).",
    reset_on="everything",
)
exercise.option(
    "reset_on_the_token_alone",
    "Your reset gate is multiplied by what comes from x, and not by what comes from "
    "the state.",
    "What is the reset gate there to forget: the token or the state?",
    why="The two parts of the candidate have similar names.",
    reset_on="x's part",
)
exercise.option(
    "reset_unused",
    "Your reset gate has no effect on the candidate.",
    "What would change in your result if the reset gate were 0?",
    why="The gate is computed and then left out, or left out on purpose, as in light "
    "units: mravanelli/pytorch-kaldi, issue 71.",
    reset_on="nothing",
)
exercise.option(
    "reset_gate_reversed",
    "Your reset gate works the other way round: where it is 1, the state has no part "
    "in the candidate.",
    "What does a reset gate of 0 do to the state's part of the candidate?",
    why="'Reset' sounds as if 1 meant to forget.",
    reset_on="the rest",
)
exercise.option(
    "update_gate_first",
    "Your parameters are read in the order update gate, reset gate, candidate.",
    "Whose columns come first in w_x, w_h and the biases?",
    why="Keras and most write-ups name z before r: keras-team/keras, issue 8720.",
    order="z r n",
)
exercise.option(
    "candidate_first",
    "Your parameters are read in the order candidate, reset gate, update gate.",
    "Whose columns come first in w_x, w_h and the biases?",
    why="The candidate is what the two gates are about, and so it comes first.",
    order="n r z",
)
exercise.option(
    "candidate_first_reset_last",
    "Your parameters are read in the order candidate, update gate, reset gate.",
    "Whose columns come first in w_x, w_h and the biases?",
    why="The three are read from the last columns to the first.",
    order="n z r",
)
exercise.option(
    "columns_dealt_in_turn",
    "Your columns are dealt out in turn: column 0 to one gate, column 1 to the other, "
    "column 2 to the candidate, and so on.",
    "Which columns of w_x are neighbours: those of one gate, or those of one number "
    "of the state?",
    why="reshape(…, d_h, 3) gives three parts of the right size, and x[..., 0::3] too.",
    columns="in turn",
)
exercise.option(
    "cut_along_the_first_axis",
    "Your sums are cut in three along axis 0, which holds the parameters' columns only "
    "without a batch.",
    "From which end is the axis of length 3 d_h counted?",
    why="chunk(3) without an axis cuts along the first.",
    axis=0,
)
exercise.option(
    "cut_along_axis_one",
    "Your sums are cut in three along axis 1, which holds the parameters' columns only "
    "with one leading batch axis.",
    "From which end is the axis of length 3 d_h counted?",
    why="dim=1 is what tutorials with a batch show.",
    axis=1,
)
exercise.option(
    "sigmoid_for_the_candidate",
    "Your candidate went through a sigmoid: it cannot be negative.",
    "Which of the three may point either way, and which are only open or shut?",
    why="All three lines look alike, and a loop over them gives each the same "
    "activation.",
    candidate_is="sigmoid",
)
exercise.option(
    "relu_for_the_candidate",
    "Your candidate went through a ReLU: it cannot be negative, and has no bound.",
    "Which activation keeps the candidate between −1 and 1?",
    why="ReLU is the habit of today's networks.",
    candidate_is="relu",
)
exercise.option(
    "no_tanh",
    "Your candidate is a plain sum: it does not have to lie between −1 and 1.",
    "What keeps the numbers of a state between −1 and 1, however many tokens follow?",
    why="The two gates have an activation, and the candidate's is forgotten.",
    candidate_is="none",
)
exercise.option(
    "tanh_for_the_gates",
    "Your gates went through tanh: they can be negative.",
    "What would a gate of −1 do to the number that it is multiplied by?",
    why="tanh is the activation of plain recurrent networks, for every line.",
    gate="tanh",
)
exercise.option(
    "hard_sigmoid_for_the_gates",
    "Your gates are straight lines cut off at 0 and 1, not sigmoids.",
    "Does your gate come close to 1, or does it reach it?",
    why="Keras's GRU had hard_sigmoid for its gates by default: keras-team/keras, pull "
    "request 9112.",
    gate="straight",
)
exercise.option(
    "sigmoid_that_overflows",
    "Your gates are NaN for large sums: infinity divided by infinity.",
    "How large is the largest power of e in your sigmoid, and who has written a "
    "sigmoid that avoids it?",
    why="eᵃ / (1 + eᵃ) is a right formula, and overflows from a = 89 on in float32.",
    gate="overflowing",
)
exercise.option(
    "gates_read_the_token_alone",
    "Your gates would be the same with another state.",
    "What is added up before the sigmoid of a gate?",
    why="One of the two terms of the sum is left out.",
    gates_read="x",
)
exercise.option(
    "gates_read_the_state_alone",
    "Your gates would be the same with another token.",
    "What is added up before the sigmoid of a gate?",
    why="One of the two terms of the sum is left out.",
    gates_read="state",
)
exercise.option(
    "b_h_forgotten",
    "Your b_h is nowhere in the numbers.",
    "How many biases does the docstring name, and where is each one added?",
    why="The papers' formulas have one bias or none.",
    biases="b_x",
)
exercise.option(
    "b_x_forgotten",
    "Your b_x is nowhere in the numbers.",
    "How many biases does the docstring name, and where is each one added?",
    why="The papers' formulas have one bias or none.",
    biases="b_h",
)
exercise.option(
    "biases_exchanged",
    "Your b_x and b_h are exchanged.",
    "Which of the two biases is added before the reset gate is multiplied?",
    why="In both gates only their sum counts, so most numbers come out right.",
    biases="b_h, b_x",
)
exercise.option(
    "state_overwritten",
    "Your call overwrites the old state with the new one.",
    "Whose tensor is `state`, and what does `*=` do to it?",
    why="`state *= update` saves a tensor; the attention may still need the old one.",
    overwritten=True,
)
exercise.family(families.squeezed(), families.as_numpy())
