"""Cases and misconceptions of ``feed_forward``."""

import numpy as np
import torch

from autograder import Exercise, families, standard_cases
from course_lib.nn.functional import feed_forward

exercise = Exercise(
    feed_forward,
    lesson="09_transformer",
    minutes=5,
    difficulty=1,
    library=(
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerEncoderLayer._ff_block",
        "torch.nn.TransformerDecoderLayer",
        "torch.nn.TransformerDecoderLayer._ff_block",
        "course_lib.nn.layers.TransformerLayer",
        "course_lib.lessons.deep_stack.StackLayer",
    ),
)


@exercise.spec
def spec(x, w_1, b_1, w_2, b_2):
    (d_model, d_ff), result = w_1.shape, np.zeros(tuple(x.shape))
    dtype = x.dtype
    x, w_1, b_1, w_2, b_2 = as_floats(x, w_1, b_1, w_2, b_2)
    for index in np.ndindex(*x.shape[:-1]):
        hidden = []
        for j in range(d_ff):
            total = b_1[j] + sum(x[*index, c] * w_1[c, j] for c in range(d_model))
            hidden.append(max(total, 0.0))
        for c in range(d_model):
            total = b_2[c] + sum(hidden[j] * w_2[j, c] for j in range(d_ff))
            result[*index, c] = total
    return torch.from_numpy(result).to(dtype)


def as_floats(*tensors):
    """Return the numbers of tensors as arrays of float64."""
    return [part.numpy().astype(float) for part in tensors]


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


inputs = exercise.inputs(d_model=4, d_ff=7)


@exercise.usual
def usual(rng):
    return inputs(rng, (2, 5), d_model=6, d_ff=8)


@exercise.case("Three tokens of two numbers, and a middle of three, give this")
def small_example_by_hand(student, rng):
    x = tensor([[1.0, 2.0], [-1.0, 0.0], [0.0, -3.0]])
    w_1, b_1 = tensor([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]), tensor([0.0, 1.0, 0.5])
    w_2, b_2 = tensor([[1.0, 10.0], [0.0, 1.0], [-2.0, 0.0]]), tensor([100.0, -4.0])
    # In the middle: (1, 3, 0.5), (0, 1, 0) and (0, 0, 3.5) once nothing is negative.
    expected = tensor([[100.0, 9.0], [100.0, -3.0], [93.0, -4.0]])
    student.expect(student(x, w_1, b_1, w_2, b_2), expected)


exercise.case("Each token of each sequence is answered by itself, in any batch")(
    standard_cases.leading_axes(inputs, (), (5,), (2, 3), (2, 2, 3))
)


@exercise.case(
    "With a middle as long as a token, the axes of w_1 and w_2 keep their sense"
)
def as_long_in_the_middle(student, rng):
    student.agrees(*inputs(rng, (3,), d_ff=4))


@exercise.case(
    "Where nothing in the middle is positive, the result is b_2 alone", pays_alone=False
)
def nothing_positive(student, rng):
    x, w_1, _, w_2, b_2 = inputs(rng, (2,), d_model=2, d_ff=3)
    b_1 = tensor([-100.0, -200.0, -300.0])
    result = student(x, w_1, b_1, w_2, tensor([-1.0, 2.0]))
    student.expect(result, tensor([[-1.0, 2.0], [-1.0, 2.0]]))
    student.expect(student(x, w_1, b_1, w_2, b_2), tensor([b_2.tolist()] * 2))


exercise.case("Numbers of float64 are answered, too")(
    standard_cases.double_precision(inputs, (4,))
)


@exercise.case(
    "With x and b_1 three times as large, what b_2 is added to is so too",
    visible=False,
    pays_alone=False,
)
def three_times_as_large(student, rng):
    x, w_1, b_1, w_2, _ = inputs(rng, (5,))
    nothing = tensor([0.0] * 4)
    once = student(x, w_1, b_1, w_2, nothing)
    thrice = tensor(x.numpy() * 3), w_1, tensor(b_1.numpy() * 3), w_2, nothing
    expected = tensor(once.numpy() * 3)
    student.expect(student(*thrice), expected, what="the result for 3x and 3b_1")


exercise.case("`x` and the parameters are not modified")(
    standard_cases.arguments_stay(inputs, dict(leading=(3,), d_ff=5))
)


exercise.edits(
    """
no_relu: torch.relu(x @ w_1 + b_1) -> (x @ w_1 + b_1)
  Your two layers have no ReLU between them: negative numbers go through.
  ? What do two matrices in a row make, if nothing stands between them?
  # The two products are seen, the max(0, …) around the first is not.
relu_of_x: torch.relu(x @ w_1 + b_1) -> (torch.relu(x) @ w_1 + b_1)
  Your ReLU is applied to x, before the first layer.
  ? Which numbers go through max(0, …) in equation 2?
  # ReLU, Linear, Linear: in residual networks the activation goes first.
gelu_for_relu: torch.relu -> nn.functional.gelu
  Between your two layers stands a GELU: small negative numbers go through.
  ? Which function does the paper name between the two layers?
  # BERT and GPT have a GELU there.
sigmoid_for_relu: torch.relu -> torch.sigmoid
  Between your two layers stands a sigmoid: every number is between 0 and 1.
  # Older networks, and many lectures, have a sigmoid in the hidden layer.
tanh_for_relu: torch.relu -> torch.tanh
  Between your two layers stands a tanh: every number is between −1 and 1.
  # Recurrent networks have a tanh in every step.
leaky_relu: torch.relu -> nn.functional.leaky_relu
  Between your two layers, a hundredth of each negative number goes through.
  ? What becomes of a negative number in max(0, …)?
  # leaky_relu is the next line in the documentation.
absolute_numbers: torch.relu -> torch.abs
  Between your two layers, negative numbers lose their sign.
  # 'Nothing negative' is done by abs as well.
negative_part_kept: torch.relu(x @ w_1 + b_1) -> (x @ w_1 + b_1).clamp(max=0)
  Between your two layers, the positive numbers become 0.
  ? Which numbers does max(0, …) leave as they are?
  # clamp(max=0) and min(0, …) are read as a floor.
softmax_for_relu: torch.relu(x @ w_1 + b_1) -> (x @ w_1 + b_1).softmax(dim=-1)
  Between your two layers stands a softmax: each row sums to 1.
  ? Which function does the paper name between the two layers?
  # Attention has a softmax in its middle.
ones_for_what_is_positive: torch.relu(x @ w_1 + b_1) -> (x @ w_1 + b_1 > 0).to(x.dtype)
  Between your two layers, what is positive becomes 1.
  ? What becomes of a positive number in max(0, …)?
  # hidden > 0 is the mask of the ReLU, and is taken for its result.
half_the_middle: torch.relu(x @ w_1 + b_1) -> torch.relu(x @ w_1 + b_1) / 2
  Between your two layers, what is positive becomes half as large.
  # (h + |h|) is the ReLU twice, and is halved once too often.
b_1_forgotten:  + b_1 ->
  Your first layer does not use b_1.
  ? Which of the four parameters changes nothing in your results?
  # Later models leave biases out, and many formulas do.
b_1_after_the_relu: torch.relu(x @ w_1 + b_1) -> (torch.relu(x @ w_1) + b_1)
  Your b_1 is added just before the second layer.
  ? What may b_1 do to a number that the ReLU would set to 0?
  # relu(x @ w_1) + b_1 is one bracket away.
b_1_subtracted: + b_1 -> - b_1
  Your b_1 is subtracted.
  ? Which sign has b_1 in equation 2?
  # Thresholds are subtracted, and a bias is a threshold with another sign.
first_transposed: w_1 -> w_1.T
  Your w_1 is transposed; unless d_ff is d_model, this can raise an error.
  ? Does a row of w_1 belong to a number that goes in, or to one that comes out?
  # nn.Linear keeps (d_out, d_in) and computes x @ weight.T.
second_transposed: w_2 -> w_2.T
  Your w_2 is transposed; unless d_ff is d_model, this can raise an error.
  ? Does a row of w_2 belong to a number that goes in, or to one that comes out?
b_2_forgotten:  + b_2 ->
  Your second layer does not use b_2.
  ? Which of the four parameters changes nothing in your results?
  # After the second product the shape is right already.
b_2_subtracted: + b_2 -> - b_2
  Your b_2 is subtracted.
  ? Which sign has b_2 in equation 2?
  # Thresholds are subtracted, and a bias is a threshold with another sign.
first_layer_alone:  @ w_2 + b_2 ->
  Your result is the middle: it has d_ff numbers per token.
  ? Which parameters does equation 2 use after its max(0, …)?
  # The ReLU looks like the end of a layer.
relu_after_the_second: return torch.relu(torch.relu(x @ w_1 + b_1) @ w_2 + b_2)
  Nothing negative leaves your second layer: a ReLU comes after it.
  ? Can a token's vector still get smaller anywhere, if nothing negative leaves?
  # 'Linear and ReLU' is taken for one building block and used twice.
residual_added: return x + torch.relu(x @ w_1 + b_1) @ w_2 + b_2
  Your result has x added to it.
  ? Whose task is it to add what went in: this function's, or that of the layer around
    it?
  # The picture of a layer shows the sum close to the box.
result_normed:
  | return torch. … ->
  :     result = torch.relu(x @ w_1 + b_1) @ w_2 + b_2
  :     return nn.functional.layer_norm(result, result.shape[-1:])
  Your result is normed: each row has mean 0.
  ? Whose task is the norm: this function's, or that of the layer around it?
  # The picture of a layer shows the norm close to the box.
mean_over_the_tokens:
  | return torch. … ->
  :     result = torch.relu(x @ w_1 + b_1) @ w_2 + b_2
  :     return result.mean(dim=-2)
  Your result is the mean over the tokens of a sequence.
  ? How many rows has a tensor like x?
  # Classifiers pool their tokens.
an_axis_more: return (torch.relu(x @ w_1 + b_1) @ w_2 + b_2)[None]
  Your result has an axis more than x.
  ? Which shape does the docstring promise?
  # A batch is made of one sequence, and is not taken apart again.
written_into_x:
  | return torch. … ->
  :     x.copy_(torch.relu(x @ w_1 + b_1) @ w_2 + b_2)
  :     return x
  Your result is written into x: the caller's tensor changes.
  ? Which tensor does your code write to, and who else holds it?
  # A loop over the tokens that puts each result back where it came from.
""",
)

exercise.family(families.as_numpy())
