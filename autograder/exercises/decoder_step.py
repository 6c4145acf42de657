"""Cases and misconceptions of ``decoder_step``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from autograder.exercises.additive_attention import (
    exercise as additive_attention_exercise,
)
from course_lib.nn.sequence_to_sequence import (
    decoder_step,
)

exercise = Exercise(
    decoder_step,
    lesson="08_sequence_to_sequence",
    minutes=10,
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
    return inputs(rng, leading=(2,))


@exercise.case(
    "With these parameters the context is 4 and the new state −1",
    weight=0.5,
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
    student.agrees(*inputs(rng, m=2, d_in=1, d_h=1, d_k=1, d_v=1, d_a=1))


@exercise.case("A state attends to seven source tokens and takes a step", weight=1.5)
def one_step(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("Each source of a batch is handled by itself", weight=1.5)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), m=5))


@exercise.case("Where `may_attend` is False, nothing is looked up", weight=2)
def some_blocked(student, rng):
    may_attend = torch.tensor([[True, False, True, True, True], [False] + 4 * [True]])
    student.agrees(*inputs(rng, leading=(2,), m=5), may_attend)
    # The blocked one scores far above the two others: their powers are lost beside it.
    x, state, _, values, parameters = inputs(rng, m=3, d_k=1, d_a=1)
    keys = torch.tensor([[1.0], [-1.0], [0.5]])
    parameters |= {"w_q": torch.zeros(3, 1), "w_k": torch.tensor([[40.0]])}
    for size in (20.0, 60.0):
        parameters["v"] = torch.tensor([-size])
        blocked = torch.tensor([True, False, True])
        student.agrees(x, state, keys, values, parameters, blocked)


@exercise.case("Where all sizes are the same, each vector keeps its role", weight=0.5)
def same_sizes(student, rng):
    student.agrees(*inputs(rng, m=4, d_in=4, d_h=4, d_k=4, d_v=4, d_a=4))


@exercise.case(
    "The parameters are found by their names, in whatever order they come", weight=0.5
)
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


@exercise.case("The arguments, the dictionary included, are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, m=3))
    # With all sizes alike, the result fits into an argument.
    student.leaves_unchanged(*inputs(rng, m=4, d_in=4, d_h=4, d_k=4, d_v=4, d_a=4))


# The course's own functions refuse shapes that do not fit, in their own words.


def attended(query, keys, values, own, may_attend, blocked):
    """Return the context and the weights of a query.

    blocked : how scores are blocked, as in the bank of ``additive_attention``
    """
    hidden = torch.tanh((query @ own["w_q"]).unsqueeze(-2) + keys @ own["w_k"])
    scores = hidden @ own["v"]
    if may_attend is not None and blocked == "−∞":
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = scores.softmax(dim=-1)
    if may_attend is not None and blocked.startswith("after the softmax, divided"):
        little = 1e-13 if blocked.endswith("1e-13") else 0.0
        weights = weights * may_attend
        weights = weights / (weights.sum(dim=-1, keepdim=True) + little)
    return (weights.unsqueeze(-2) @ values).squeeze(-2), weights


def stepped(unit_input, state, own):
    """Return the new state of the unit."""
    from_x = (unit_input @ own["w_x"] + own["b_x"]).chunk(3, dim=-1)
    from_state = (state @ own["w_h"] + own["b_h"]).chunk(3, dim=-1)
    reset = torch.sigmoid(from_x[0] + from_state[0])
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


@exercise.variants
def variants(
    x,
    state,
    keys,
    values,
    parameters,
    may_attend=None,
    *,
    order="of the names",
    exchanged=(),
    mask="as given",
    blocked="−∞",
    mixed="values",
    query="the state before",
    read="x, context",
    through="nothing",
    unit_state="the state before",
    new_state="of the unit",
    returned="state, context, weights",
    overwritten="nothing",
):
    names = ("w_q", "w_k", "v", "w_x", "w_h", "b_x", "b_h")
    own = dict(parameters)
    if order == "of the dictionary":
        own = dict(zip(names, parameters.values(), strict=True))
    if exchanged:
        one, other = exchanged
        own[one], own[other] = own[other], own[one]
    if mask == "needed":
        may_attend = ~~may_attend
    if mask == "inverted" and may_attend is not None:
        may_attend = ~may_attend
    if mask == "ignored":
        may_attend = None
    rows = keys if mixed == "keys" else values

    def attended_by(query):
        return attended(query, keys, rows, own, may_attend, blocked)

    if query == "the new state":
        context = rows.new_zeros(*x.shape[:-1], rows.shape[-1])
    else:
        context, weights = attended_by(x if query == "x" else state)
    parts = {
        "x, context": lambda: (x, context),
        "context, x": lambda: (context, x),
        "x, zeros": lambda: (x, torch.zeros_like(context)),
        "zeros, context": lambda: (torch.zeros_like(x), context),
        "x": lambda: (x,),
    }[read]()
    unit_input = torch.cat(parts, dim=-1)
    activation = {"relu": torch.relu, "tanh": torch.tanh}
    unit_input = activation.get(through, torch.clone)(unit_input)
    before = torch.zeros_like(state) if unit_state == "zeros" else state
    new = stepped(unit_input, before, own)
    if query in ("the new state", "the new state, once more"):
        context, weights = attended_by(new)
    if overwritten == "state":
        state.copy_(new)
    if overwritten == "parameters":
        parameters.clear()
    results = {"state": new, "context": context, "weights": weights, "read": unit_input}
    if new_state == "the old one":
        results["state"] = state
    return tuple(results[name] for name in returned.split(", "))


exercise.option(
    "looked_up_again",
    "Your context and weights are those of the new state.",
    "Which state did the decoder have when it chose what to attend to?",
    why="Luong's decoder attends with the new state, Bahdanau's with the one before: "
    "tensorflow/tensorflow, issue 11365.",
    query="the new state, once more",
)
exercise.option(
    "attention_after_the_unit",
    "Your unit reads zeros where the context should stand; only then is the context "
    "computed, with the new state.",
    "What should the new state already know of the source?",
    why="Luong's decoder attends after the unit; a first context of zeros stood in "
    "tensorflow/tensorflow, issue 6597.",
    query="the new state",
)
exercise.option(
    "attends_with_x",
    "Your decoder attends with x: its state has no say in where.",
    "Which of x and the state knows what has been written so far?",
    why="PyTorch's tutorial computed the weights from the decoder's own input: "
    "pytorch/tutorials, issues 87 and 2121.",
    query="x",
)
exercise.option(
    "mask_ignored",
    "Your mask does not reach the attention: tokens that may not be attended to have "
    "weight.",
    "Which of your calls needs `may_attend`, and does it get it?",
    why="The last argument has a default, and so nothing complains when it is left "
    "out.",
    mask="ignored",
)
exercise.option(
    "mask_needed",
    "Your answer raises an error where there is no mask.",
    "What does `may_attend` hold if a caller leaves it out?",
    why="~may_attend is written without a thought of None.",
    mask="needed",
)
exercise.option(
    "context_before_x",
    "Your unit reads the context first and x after it.",
    "Which rows of w_x belong to x, and which to the context?",
    why="cat((context, embedded)) stands in many tutorials, cat((embedded, context)) "
    "in as many.",
    read="context, x",
)
exercise.option(
    "context_not_read",
    "Your unit reads zeros instead of the context.",
    "Would your new state change if the source were another one?",
    why="ryankiros/skip-thoughts, issue 8: the decoder takes the source into account "
    "once, at its start.",
    read="x, zeros",
)
exercise.option(
    "x_not_read",
    "Your unit reads zeros instead of x.",
    "Would your new state change if the token before were another one?",
    why="The context is what is new in this lesson, and makes one forget x.",
    read="zeros, context",
)
exercise.option(
    "one_vector_for_the_unit",
    "Your unit gets fewer numbers than w_x has rows.",
    "How many rows has w_x in the docstring, and which two vectors are they for?",
    why="gru_step reads one x, and decoder_step has an argument of that name.",
    read="x",
)
exercise.option(
    "relu_before_the_unit",
    "What your unit reads went through a ReLU: nothing in it is negative.",
    "Which operations does the docstring put between the context and the unit?",
    why="F.relu stood there in PyTorch's seq2seq tutorial.",
    through="relu",
)
exercise.option(
    "tanh_before_the_unit",
    "What your unit reads went through a tanh: it lies between −1 and 1.",
    "Which operations does the docstring put between the context and the unit?",
    why="Luong's decoder has a tanh of the state and the context.",
    through="tanh",
)
exercise.option(
    "unit_begins_with_zeros",
    "Your unit starts from a state of zeros.",
    "Which hidden state should the unit update?",
    why="nn.GRU starts with zeros unless it is given a state.",
    unit_state="zeros",
)
exercise.option(
    "old_state_returned",
    "The state that you return is the one that came in.",
    "With which state should the next step begin?",
    why="Old and new state go by one name, and the assignment is missing.",
    new_state="the old one",
)
exercise.option(
    "biases_exchanged",
    "Your b_x and b_h are exchanged.",
    "Which of the two biases is added before the reset gate is multiplied?",
    why="In both gates only their sum counts, so most numbers come out right.",
    exchanged=("b_x", "b_h"),
)
exercise.option(
    "w_q_and_w_k_exchanged",
    "Your w_q is applied to the keys, and your w_k to the state.",
    "Which size does each of the two matrices take in?",
    why="With states and keys of one size nothing complains, and papers number the "
    "matrices in either order.",
    exchanged=("w_q", "w_k"),
)
exercise.option(
    "taken_by_order",
    "Your parameters are taken by their order in the dictionary, whatever their names.",
    "What promises you that the first one is w_q?",
    why="`w_q, w_k, v, … = parameters.values()` is short, and right in one order.",
    order="of the dictionary",
)
exercise.option(
    "context_first",
    "Your result has the context before the state.",
    "In which order does the docstring name them?",
    why="The context is computed first, and so it is returned first.",
    returned="context, state, weights",
)
exercise.option(
    "state_last",
    "Your result has the state last.",
    "In which order does the docstring name them?",
    why="The state is computed last, and so it is returned last.",
    returned="context, weights, state",
)
exercise.option(
    "weights_before_context",
    "Your result has the weights before the context.",
    "In which order does the docstring name them?",
    why="The weights come first in the formula of the context.",
    returned="state, weights, context",
)
exercise.option(
    "weights_missing",
    "Your result has two tensors: the weights are not there.",
    "How many tensors does the docstring promise?",
    why="Only the state and the context are needed for the next step.",
    returned="state, context",
)
exercise.option(
    "context_missing",
    "Your result has two tensors: the context is not there.",
    "How many tensors does the docstring promise?",
    why="The context has gone into the state, and seems to be done with.",
    returned="state, weights",
)
exercise.option(
    "input_for_the_context",
    "Your second tensor is what the unit reads, x and the context.",
    "Which shape has the context in the docstring?",
    why="`read` or `unit_input` stands where `context` should.",
    returned="state, read, weights",
)
exercise.option(
    "state_overwritten",
    "Your call overwrites the old state with the new one.",
    "Whose tensor is `state`, and who may need it after the step?",
    why="`state[...] = …` saves a tensor.",
    overwritten="state",
)
exercise.option(
    "popped_from_the_dictionary",
    "Your parameters are gone from the dictionary afterwards.",
    "What does `pop` leave behind for the next step?",
    why="pop hands out what one function needs and leaves the rest for the other.",
    overwritten="parameters",
)
exercise.family(families.squeezed(), families.as_numpy())
exercise.options_of(
    additive_attention_exercise,
    "mask_inverted",
    "divided_again_after_the_mask",
    "divided_again_with_a_little_added",
    "keys_mixed",
)
