"""Cases and misconceptions of ``decoder_step``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.sequence_to_sequence import (
    decoder_step,
)

exercise = Exercise(
    decoder_step,
    lesson="07_sequence_to_sequence",
    minutes=15,
    difficulty=2,
    uses=("additive_attention", "gru_step"),
    returns=("state", "context", "weights"),
    library=(
        "torch.nn.GRUCell",
        "torch.nn.GRU",
        "torch.gru_cell",
        "torch.gru",
        "course_lib.nn.recurrent.RecurrentDecoder",
        "course_lib.nn.recurrent.AdditiveAttention",
    ),
)


@exercise.spec
def spec(x, state, keys, values, parameters, may_attend=None):
    *leading, m, d_v = values.shape
    new, context = torch.zeros_like(state), values.new_zeros(*leading, d_v)
    weights = values.new_zeros(*leading, m)
    own = {name: part.numpy().astype(float) for name, part in parameters.items()}
    arguments = (x, state, keys, values)
    x, state, keys, values = (part.numpy().astype(float) for part in arguments)
    for index in np.ndindex(*leading):
        powers = [0.0] * m
        for j in range(m):
            if may_attend is None or may_attend[*index, j]:
                powers[j] = math.exp(score(state[index], keys[*index, j], own))
        for j in range(m):
            weights[*index, j] = powers[j] / sum(powers)
        unit_input = list(x[index])
        for c in range(d_v):
            dot = sum(powers[j] * values[*index, j, c] for j in range(m))
            unit_input.append(dot / sum(powers))
        context[index] = torch.tensor(unit_input[-d_v:])
        new[index] = torch.tensor(step(unit_input, state[index], own))
    return new, context, weights


def score(state, key, own):
    """Return v · tanh(state w_q + key w_k) for one state and one key."""
    total = 0.0
    for h, factor in enumerate(own["v"]):
        hidden = sum(number * own["w_q"][c, h] for c, number in enumerate(state))
        hidden += sum(number * own["w_k"][c, h] for c, number in enumerate(key))
        total += factor * math.tanh(hidden)
    return total


def step(unit_input, state, own):
    """Return the gated recurrent unit's new state, number by number."""
    d_h, new = len(state), []
    for unit in range(d_h):
        from_x, from_state = [], []  # of the reset gate, the update gate, the candidate
        for column in (unit, d_h + unit, 2 * d_h + unit):
            dot = sum(
                number * own["w_x"][c, column] for c, number in enumerate(unit_input)
            )
            from_x.append(dot + own["b_x"][column])
            dot = sum(number * own["w_h"][c, column] for c, number in enumerate(state))
            from_state.append(dot + own["b_h"][column])
        reset = 1 / (1 + math.exp(-from_x[0] - from_state[0]))
        update = 1 / (1 + math.exp(-from_x[1] - from_state[1]))
        candidate = math.tanh(from_x[2] + reset * from_state[2])
        new.append(update * state[unit] + (1 - update) * candidate)
    return new


def drawn(rng, *shape):
    """Draw a tensor of float32."""
    return torch.from_numpy(rng.normal(size=shape)).float()


def parameters_for(rng, d_in, d_h, d_k, d_v, d_a):
    """Draw the parameters by their names, in the docstring's order."""
    return {
        "w_q": drawn(rng, d_h, d_a),
        "w_k": drawn(rng, d_k, d_a),
        "v": drawn(rng, d_a),
        "w_x": drawn(rng, d_in + d_v, 3 * d_h),
        "w_h": drawn(rng, d_h, 3 * d_h),
        "b_x": drawn(rng, 3 * d_h),
        "b_h": drawn(rng, 3 * d_h),
    }


def inputs(rng, leading=(), m=7, d_in=2, d_h=3, d_k=4, d_v=6, d_a=5):
    """Draw all arguments but the mask."""
    return (
        drawn(rng, *leading, d_in),
        drawn(rng, *leading, d_h),
        drawn(rng, *leading, m, d_k),
        drawn(rng, *leading, m, d_v),
        parameters_for(rng, d_in, d_h, d_k, d_v, d_a),
    )


@exercise.usual
def usual(rng):
    may_attend = torch.tensor([[True] * 5 + [False] * 2, [False] + [True] * 6])
    return *inputs(rng, leading=(2,)), may_attend


@exercise.case(
    "With these parameters the context is 4 and the new state −1", pays_alone=False
)
def small_example_by_hand(student, rng):
    # An answer that attends with x or the new state, −3 or −1, weighs both the same.
    x, state = torch.tensor([-3.0]), torch.tensor([2.0])
    keys = torch.tensor([[-1.0], [4.0]])
    parameters = {
        "w_q": torch.tensor([[20.0]]),  # the state's share is 40
        "w_k": torch.tensor([[-15.0]]),  # the keys' are 15 and −60: tanh 1 and −1
        "v": torch.tensor([30.0]),  # scores 30 and −30: all weight on the first
        # The reset gate and the update gate read x and are shut, so b_h has no effect;
        # the candidate reads −20 times x and −20 times the context.
        "w_x": torch.tensor([[40.0, 40.0, -20.0], [0.0, 0.0, -20.0]]),
        "w_h": torch.tensor([[0.0, 0.0, 10.0]]),
        "b_x": torch.zeros(3),
        "b_h": torch.tensor([0.0, 0.0, 50.0]),
    }
    for first in (4.0, float(rng.integers(4, 99))):
        result = student(x, state, keys, torch.tensor([[first], [-6.0]]), parameters)
        weights = torch.tensor([1.0, 0.0])
        student.expect(result, (torch.tensor([-1.0]), torch.tensor([first]), weights))


@exercise.case("A state attends to seven source tokens and takes a step")
def one_step(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("A batch is answered source by source")
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), m=5))


@exercise.case("Where `may_attend` is False, nothing is looked up")
def some_blocked(student, rng):
    may_attend = torch.tensor([[True, False, True, True, True], [False] + 4 * [True]])
    student.agrees(*inputs(rng, leading=(2,), m=5), may_attend)


@exercise.case("Where all sizes are the same, each vector keeps its role")
def same_sizes(student, rng):
    student.agrees(*inputs(rng, m=4, d_in=4, d_h=4, d_k=4, d_v=4, d_a=4))


@exercise.case("The parameters are found by their names, in whatever order they come")
def any_order_of_names(student, rng):
    *arguments, parameters = inputs(rng, m=5, d_k=3)
    order = ("w_k", "w_q", "v", "w_x", "w_h", "b_h", "b_x")  # and no shape tells
    student.agrees(*arguments, {name: parameters[name] for name in order})


@exercise.case("Each of three steps goes on from the state before", visible=False)
def several_steps(student, rng):
    _, state, *source = inputs(rng, m=4)
    for _ in range(3):
        x = drawn(rng, 2)
        expected = exercise.expected((x, state, *source), {})
        result = student(x, state, *source)
        student.expect(result, expected)
        state = result[0]


@exercise.case("The arguments stay as they are, the dictionary too")
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, m=3))


# The course's own functions refuse shapes that do not fit, in their own words.


def attended(query, keys, values, own, may_attend):
    """Return the context and the weights of a query."""
    hidden = torch.tanh((query @ own["w_q"]).unsqueeze(-2) + keys @ own["w_k"])
    scores = hidden @ own["v"]
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(-2) @ values).squeeze(-2), weights


def stepped(unit_input, state, own):
    """Return the new state of the unit."""
    from_x = (unit_input @ own["w_x"] + own["b_x"]).chunk(3, dim=-1)
    from_state = (state @ own["w_h"] + own["b_h"]).chunk(3, dim=-1)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.misconception(
    "Your new state is right, but your context and weights were computed again with "
    "it.",
    "Which state did the decoder have when it chose what to attend to?",
    why="Luong's decoder attends with the new state, Bahdanau's with the one before: "
    "tensorflow/tensorflow, issue 11365.",
)
def looked_up_again(x, state, keys, values, parameters, may_attend=None):
    context, _ = attended(state, keys, values, parameters, may_attend)
    new = stepped(torch.cat([x, context], dim=-1), state, parameters)
    return new, *attended(new, keys, values, parameters, may_attend)


@exercise.misconception(
    "Your unit reads the context first and x after it.",
    "Which rows of w_x belong to x, and which to the context?",
    why="cat((context, embedded)) stands in many tutorials, cat((embedded, context)) "
    "in as many.",
)
def context_before_x(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(state, keys, values, parameters, may_attend)
    new = stepped(torch.cat([context, x], dim=-1), state, parameters)
    return new, context, weights


@exercise.misconception(
    "Your mask does not reach the attention: tokens that may not be attended to have "
    "weight.",
    "Which of your calls needs `may_attend`, and does it get it?",
    why="The last argument has a default, and so nothing complains when it is left "
    "out.",
)
def mask_ignored(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(state, keys, values, parameters, None)
    new = stepped(torch.cat([x, context], dim=-1), state, parameters)
    return new, context, weights


@exercise.misconception(
    "Your unit reads x and zeros; only then is the context computed, with the new "
    "state.",
    "What should the new state already know of the source?",
    why="Luong's decoder attends after the unit; a first context of zeros stood in "
    "tensorflow/tensorflow, issue 6597.",
)
def attention_after_the_unit(x, state, keys, values, parameters, may_attend=None):
    zeros = values.new_zeros(*x.shape[:-1], values.shape[-1])
    new = stepped(torch.cat([x, zeros], dim=-1), state, parameters)
    return new, *attended(new, keys, values, parameters, may_attend)


@exercise.misconception(
    "Your context and weights are right, but your unit reads zeros instead of the "
    "context.",
    "Would your new state change if the source were another one?",
    why="ryankiros/skip-thoughts, issue 8: the decoder takes the source into account "
    "once, at its start.",
)
def context_not_read(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(state, keys, values, parameters, may_attend)
    unit_input = torch.cat([x, torch.zeros_like(context)], dim=-1)
    return stepped(unit_input, state, parameters), context, weights


@exercise.misconception(
    "Your unit gets one vector alone: fewer numbers than w_x has rows.",
    "How many rows has w_x in the docstring, and which two vectors are they for?",
    why="gru_step reads one x, and decoder_step has an argument of that name.",
)
def one_vector_for_the_unit(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(state, keys, values, parameters, may_attend)
    return stepped(x, state, parameters), context, weights


@exercise.misconception(
    "Your mask works the other way round: your decoder attends where `may_attend` is "
    "False.",
    "Does True in `may_attend` mean that a token may be attended to, or that it is "
    "blocked?",
    why="In PyTorch's key_padding_mask True means blocked.",
)
def mask_inverted(x, state, keys, values, parameters, may_attend=None):
    blocked = None if may_attend is None else ~may_attend
    return decoder_step(x, state, keys, values, parameters, blocked)


@exercise.misconception(
    "Your context and weights are right, but the state that you return is the one that "
    "came in.",
    "With which state should the next step begin?",
    why="Old and new state go by one name, and the assignment is missing.",
)
def old_state_returned(x, state, keys, values, parameters, may_attend=None):
    return state, *attended(state, keys, values, parameters, may_attend)


@exercise.misconception(
    "What your unit reads went through a ReLU: nothing in it is negative.",
    "Which operations does the docstring put between the context and the unit?",
    why="F.relu stood there in PyTorch's seq2seq tutorial.",
)
def relu_before_the_unit(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(state, keys, values, parameters, may_attend)
    unit_input = torch.cat([x, context], dim=-1).relu()
    return stepped(unit_input, state, parameters), context, weights


@exercise.misconception(
    "Your decoder attends with x: its state has no say in where.",
    "Which of x and the state knows what has been written so far?",
    why="PyTorch's tutorial computed the weights from the decoder's own input: "
    "pytorch/tutorials, issues 87 and 2121.",
)
def attends_with_x(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(x, keys, values, parameters, may_attend)
    new = stepped(torch.cat([x, context], dim=-1), state, parameters)
    return new, context, weights


@exercise.misconception(
    "Your context is a mix of the keys.",
    "Keys are for being found: what does the decoder take home?",
    why="In most models one tensor, the encoder's outputs, plays both parts.",
)
def keys_mixed(x, state, keys, values, parameters, may_attend=None):
    context, weights = attended(state, keys, keys, parameters, may_attend)
    new = stepped(torch.cat([x, context], dim=-1), state, parameters)
    return new, context, weights


@exercise.misconception(
    "Your b_x and b_h are exchanged.",
    "Which of the two biases is added before the reset gate is multiplied?",
    why="In both gates only their sum counts, so most numbers come out right.",
)
def biases_exchanged(x, state, keys, values, parameters, may_attend=None):
    changed = {**parameters, "b_x": parameters["b_h"], "b_h": parameters["b_x"]}
    return decoder_step(x, state, keys, values, changed, may_attend)


@exercise.misconception(
    "Your three tensors are right, but the context comes before the state.",
    "In which order does the docstring name them?",
    why="The context is computed first, and so it is returned first.",
)
def context_first(x, state, keys, values, parameters, may_attend=None):
    new, context, weights = decoder_step(x, state, keys, values, parameters, may_attend)
    return context, new, weights


@exercise.misconception(
    "Your parameters are taken by their order in the dictionary, whatever their names.",
    "What promises you that the first one is w_q?",
    why="`w_q, w_k, v, … = parameters.values()` is short, and right in one order.",
)
def taken_by_order(x, state, keys, values, parameters, may_attend=None):
    names = ("w_q", "w_k", "v", "w_x", "w_h", "b_x", "b_h")
    renamed = dict(zip(names, parameters.values(), strict=True))
    return decoder_step(x, state, keys, values, renamed, may_attend)


@exercise.misconception(
    "Your three tensors are right, but parameters are gone from the dictionary "
    "afterwards.",
    "What does `pop` leave behind for the next step?",
    why="pop hands out what one function needs and leaves the rest for the other.",
)
def popped_from_the_dictionary(x, state, keys, values, parameters, may_attend=None):
    own = {name: parameters.pop(name) for name in list(parameters)}
    return decoder_step(x, state, keys, values, own, may_attend)
