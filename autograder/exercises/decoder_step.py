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
        scores, powers = {}, [0.0] * m
        for j in range(m):
            if may_attend is None or may_attend[*index, j]:
                scores[j] = score(state[index], keys[*index, j], own)
        for j, number in scores.items():
            powers[j] = math.exp(number - max(scores.values()))
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


@exercise.fine_point("A blocked token has no weight, however low the others score")
def low_scores(student, rng):
    x, state, _, values, parameters = inputs(rng, m=2, d_k=1, d_a=1)
    keys, may_attend = torch.tensor([[1.0], [-1.0]]), torch.tensor([True, False])
    parameters |= {"w_q": torch.zeros(3, 1), "w_k": torch.tensor([[40.0]])}
    for size in (500.0, 2e4, 2e6, 2e9):
        parameters["v"] = torch.tensor([-size])  # the score is −size
        student.agrees(x, state, keys, values, parameters, may_attend)


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


exercise.edits(
    """
keys_and_values_exchanged: state, keys, values, w_q -> state, values, keys, w_q
  Your attention compares the state with the values and mixes the keys; where d_v is not
    d_k, this can raise an error.
  ? Which two does `additive_attention` take after the state, and in which order?
  # Both have a row for each source token.
"""
)

exercise.edits(
    """
looked_up_again:
  | return ( … ->
  :     state = gru_step(read, state, w_x, w_h, b_x, b_h)
  :     context, weights = additive_attention(
  :         state, keys, values, w_q, w_k, v, may_attend
  :     )
  :     return (state, context, weights)
  Your context and weights are those of the new state.
  ? Which state did the decoder have when it chose what to attend to?
  # Luong's decoder attends with the new state, Bahdanau's with the one before:
    tensorflow/tensorflow, issue 11365.
attention_after_the_unit:
  | context, … -> context = values.new_zeros(*x.shape[:-1], values.shape[-1])
  | return ( … ->
  :     state = gru_step(read, state, w_x, w_h, b_x, b_h)
  :     context, weights = additive_attention(
  :         state, keys, values, w_q, w_k, v, may_attend
  :     )
  :     return (state, context, weights)
  Your unit reads zeros where the context should stand; only then is the context
    computed, with the new state.
  ? What should the new state already know of the source?
  # Luong's decoder attends after the unit; a first context of zeros stood in
    tensorflow/tensorflow, issue 6597.
attends_with_x: additive_attention(state -> additive_attention(x
  Your decoder attends with x: its state has no say in where.
  ? Which of x and the state knows what has been written so far?
  # PyTorch's tutorial computed the weights from the decoder's own input:
    pytorch/tutorials, issues 87 and 2121.
mask_ignored: v, may_attend) -> v)
  Your mask does not reach the attention: tokens that may not be attended to have
    weight.
  ? Which of your calls needs `may_attend`, and does it get it?
  # The last argument has a default, and so nothing complains when it is left out.
mask_needed: v, may_attend) -> v, may_attend.bool())
  Your answer raises an error where there is no mask.
  ? What does `may_attend` hold if a caller leaves it out?
  # ~may_attend is written without a thought of None.
context_before_x: [x, context] -> [context, x]
  Your unit reads the context first and x after it.
  ? Which rows of w_x belong to x, and which to the context?
  # cat((context, embedded)) stands in many tutorials, cat((embedded, context)) in as
    many.
context_not_read: [x, context] -> [x, torch.zeros_like(context)]
  Your unit reads zeros instead of the context.
  ? Would your new state change if the source were another one?
  # ryankiros/skip-thoughts, issue 8: the decoder takes the source into account once,
    at its start.
x_not_read: [x, context] -> [torch.zeros_like(x), context]
  Your unit reads zeros instead of x.
  ? Would your new state change if the token before were another one?
  # The context is what is new in this lesson, and makes one forget x.
one_vector_for_the_unit: read = x
  Your unit gets fewer numbers than w_x has rows.
  ? How many rows has w_x in the docstring, and which two vectors are they for?
  # gru_step reads one x, and decoder_step has an argument of that name.
relu_before_the_unit: read = torch.relu(torch.cat([x, context], dim=-1))
  What your unit reads went through a ReLU: nothing in it is negative.
  ? Which operations does the docstring put between the context and the unit?
  # F.relu stood there in PyTorch's seq2seq tutorial.
tanh_before_the_unit: read = torch.tanh(torch.cat([x, context], dim=-1))
  What your unit reads went through a tanh: it lies between −1 and 1.
  # Luong's decoder has a tanh of the state and the context.
unit_begins_with_zeros: gru_step(read, state -> gru_step(read, torch.zeros_like(state)
  Your unit starts from a state of zeros.
  ? Which hidden state should the unit update?
  # nn.GRU starts with zeros unless it is given a state.
old_state_returned:
  | return ( … ->
  :     gru_step(read, state, w_x, w_h, b_x, b_h)
  :     return (state, context, weights)
  The state that you return is the one that came in.
  ? With which state should the next step begin?
  # Old and new state go by one name, and the assignment is missing.
biases_exchanged:
  | gru_step(read, state, w_x, w_h, b_x, b_h) ->
  :     gru_step(read, state, w_x, w_h, b_h, b_x)
  Your b_x and b_h are exchanged.
  ? Which of the two biases is added before the reset gate is multiplied?
  # In both gates only their sum counts, so most numbers come out right.
w_q_and_w_k_exchanged: values, w_q, w_k, v -> values, w_k, w_q, v
  Your w_q is applied to the keys, and your w_k to the state.
  ? Which size does each of the two matrices take in?
  # With states and keys of one size nothing complains, and papers number the matrices
    in either order.
taken_by_order:
  | w_q, w_k, … -> w_q, w_k, v, w_x, w_h, b_x, b_h = parameters.values()
  | read = torch. …
  : w_x, w_h, … -> read = torch.cat([x, context], dim=-1)
  Your parameters are taken by their order in the dictionary, whatever their names.
  ? What promises you that the first one is w_q?
  # `w_q, w_k, v, … = parameters.values()` is short, and right in one order.
context_first: return (context, gru_step(read, state, w_x, w_h, b_x, b_h), weights)
  Your result has the context before the state.
  ? In which order does the docstring name them?
  # The context is computed first, and so it is returned first.
state_last: return (context, weights, gru_step(read, state, w_x, w_h, b_x, b_h))
  Your result has the state last.
  # The state is computed last, and so it is returned last.
weights_before_context:
  | return (gru_step(read, state, w_x, w_h, b_x, b_h), weights, context)
  Your result has the weights before the context.
  # The weights come first in the formula of the context.
weights_missing: return (gru_step(read, state, w_x, w_h, b_x, b_h), context)
  Your result has two tensors: the weights are not there.
  ? How many tensors does the docstring promise?
  # Only the state and the context are needed for the next step.
context_missing: return (gru_step(read, state, w_x, w_h, b_x, b_h), weights)
  Your result has two tensors: the context is not there.
  # The context has gone into the state, and seems to be done with.
input_for_the_context: return (gru_step(read, state, w_x, w_h, b_x, b_h), read, weights)
  Your second tensor is what the unit reads, x and the context.
  ? Which shape has the context in the docstring?
  # `read` or `unit_input` stands where `context` should.
state_overwritten:
  | return (state.copy_(gru_step(read, state, w_x, w_h, b_x, b_h)), context, weights)
  Your call overwrites the old state with the new one.
  ? Whose tensor is `state`, and who may need it after the step?
  # `state[...] = …` saves a tensor.
popped_from_the_dictionary: parameters[name] => parameters.pop(name)
  Your parameters are gone from the dictionary afterwards.
  ? What does `pop` leave behind for the next step?
  # pop hands out what one function needs and leaves the rest for the other.
""",
)

exercise.family(families.squeezed(), families.as_numpy())
exercise.edits(
    """
mask_inverted: v, may_attend) -> v, None if may_attend is None else ~may_attend)
divided_again_after_the_mask:
  | context, … ->
  :     _, weights = additive_attention(state, keys, values, w_q, w_k, v)
  :     if may_attend is not None:
  :         weights = weights * may_attend
  :         weights = weights / weights.sum(dim=-1, keepdim=True)
  :     context = (weights.unsqueeze(-2) @ values).squeeze(-2)
divided_again_with_a_little_added:
  | context, … ->
  :     _, weights = additive_attention(state, keys, values, w_q, w_k, v)
  :     if may_attend is not None:
  :         weights = weights * may_attend
  :         weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-13)
  :     context = (weights.unsqueeze(-2) @ values).squeeze(-2)
keys_mixed: state, keys, values -> state, keys, keys
""",
    words=additive_attention_exercise.words,
)

BLOCKED_BY_A_NUMBER = """
blocked_scores_{name}:
  | context, … ->
  :     scores = torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k) @ v
  :     if may_attend is not None:
  :         scores = scores.masked_fill(~may_attend, {number})
  :     weights = scores.softmax(dim=-1)
  :     context = (weights.unsqueeze(-2) @ values).squeeze(-2)
"""
for name, number in (
    ("zero", "0.0"),
    ("of_minus_100", "-100.0"),
    ("of_minus_ten_thousand", "-10000.0"),
    ("of_minus_a_million", "-1000000.0"),
    ("of_minus_a_billion", "-1000000000.0"),
):
    text = BLOCKED_BY_A_NUMBER.format(name=name, number=number)
    exercise.edits(text, words=additive_attention_exercise.words)
