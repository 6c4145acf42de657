"""Cases and misconceptions of ``feed_forward``."""

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.functional import feed_forward

exercise = Exercise(
    feed_forward,
    lesson="08_transformer",
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


def drawn(rng, leading, d_model, d_ff, dtype=np.float32):
    """Draw x with these leading axes, and the parameters."""
    shapes = (
        (*leading, d_model),
        (d_model, d_ff),
        (d_ff,),
        (d_ff, d_model),
        (d_model,),
    )
    return tuple(tensor(rng.normal(size=shape), dtype) for shape in shapes)


@exercise.usual
def usual(rng):
    return drawn(rng, (2, 5), 6, 8)


@exercise.case("Three tokens of two numbers, and a middle of three, give this")
def small_example_by_hand(student, rng):
    x = tensor([[1.0, 2.0], [-1.0, 0.0], [0.0, -3.0]])
    w_1, b_1 = tensor([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]), tensor([0.0, 1.0, 0.5])
    w_2, b_2 = tensor([[1.0, 10.0], [0.0, 1.0], [-2.0, 0.0]]), tensor([100.0, -4.0])
    # In the middle: (1, 3, 0.5), (0, 1, 0) and (0, 0, 3.5) once nothing is negative.
    expected = tensor([[100.0, 9.0], [100.0, -3.0], [93.0, -4.0]])
    student.expect(student(x, w_1, b_1, w_2, b_2), expected)


@exercise.case("Each token of each sequence is answered by itself, in any batch")
def leading_axes(student, rng):
    for leading in ((), (5,), (2, 3), (2, 2, 3)):
        student.agrees(*drawn(rng, leading, 4, 7))


@exercise.case(
    "With a middle as long as a token, the axes of w_1 and w_2 keep their sense"
)
def as_long_in_the_middle(student, rng):
    student.agrees(*drawn(rng, (3,), 4, 4))


@exercise.case(
    "Where nothing in the middle is positive, the result is b_2 alone", pays_alone=False
)
def nothing_positive(student, rng):
    x, w_1, _, w_2, b_2 = drawn(rng, (2,), 2, 3)
    b_1 = tensor([-100.0, -200.0, -300.0])
    result = student(x, w_1, b_1, w_2, tensor([-1.0, 2.0]))
    student.expect(result, tensor([[-1.0, 2.0], [-1.0, 2.0]]))
    student.expect(student(x, w_1, b_1, w_2, b_2), tensor([b_2.tolist()] * 2))


@exercise.case("In float64, and in whatever order of memory, all digits are right")
def double_precision(student, rng):
    x, w_1, b_1, w_2, b_2 = drawn(rng, (4,), 4, 7, np.float64)
    student.agrees(x.T, tensor(w_1.numpy().T, np.float64).T, b_1, w_2, b_2)


@exercise.case(
    "With x and b_1 three times as large, what b_2 is added to is so too",
    visible=False,
    pays_alone=False,
)
def three_times_as_large(student, rng):
    x, w_1, b_1, w_2, _ = drawn(rng, (5,), 4, 7)
    nothing = tensor([0.0] * 4)
    once = student(x, w_1, b_1, w_2, nothing)
    thrice = tensor(x.numpy() * 3), w_1, tensor(b_1.numpy() * 3), w_2, nothing
    expected = tensor(once.numpy() * 3)
    student.expect(student(*thrice), expected, what="the result for 3x and 3b_1")


@exercise.case("`x` and the parameters stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(*drawn(rng, (3,), 4, 5))


@exercise.misconception(
    "Your two layers have no ReLU between them: negative numbers go through.",
    "What do two matrices in a row make, if nothing stands between them?",
    why="The two products are seen, the max(0, …) around the first is not.",
)
def no_relu(x, w_1, b_1, w_2, b_2):
    return (x @ w_1 + b_1) @ w_2 + b_2


@exercise.misconception(
    "Your ReLU comes after the second layer, and none between the two.",
    "Can a token's vector still get smaller anywhere, if nothing negative leaves?",
    why="Linear, Linear, ReLU: the activation is put at the end, as in a classifier.",
)
def relu_after_the_second(x, w_1, b_1, w_2, b_2):
    return torch.relu((x @ w_1 + b_1) @ w_2 + b_2)


@exercise.misconception(
    "Your result has x added to it.",
    "Whose task is it to add what went in: this function's, or that of the layer "
    "around it?",
    why="The picture of a layer shows the sum close to the box.",
)
def residual_added(x, w_1, b_1, w_2, b_2):
    return x + torch.relu(x @ w_1 + b_1) @ w_2 + b_2


@exercise.misconception(
    "Your ReLU comes twice: between the two layers and again at the end.",
    "Which signs can the numbers of your result have, and which should they?",
    why="'Linear and ReLU' is taken for one building block and used twice.",
)
def relu_twice(x, w_1, b_1, w_2, b_2):
    return torch.relu(torch.relu(x @ w_1 + b_1) @ w_2 + b_2)


@exercise.misconception(
    "Your ReLU is applied to x, before the first layer.",
    "Which numbers go through max(0, …) in equation 2?",
    why="ReLU, Linear, Linear: in residual networks the activation goes first.",
)
def relu_of_x(x, w_1, b_1, w_2, b_2):
    return (torch.relu(x) @ w_1 + b_1) @ w_2 + b_2


@exercise.misconception(
    "Your first layer adds nothing: b_1 is not used.",
    "Which of the four parameters does your code never name?",
    why="Later models leave biases out, and many formulas do.",
)
def b_1_forgotten(x, w_1, b_1, w_2, b_2):
    return torch.relu(x @ w_1) @ w_2 + b_2


@exercise.misconception(
    "Your second layer adds nothing: b_2 is not used.",
    "Which of the four parameters does your code never name?",
    why="After the second product the shape is right already.",
)
def b_2_forgotten(x, w_1, b_1, w_2, b_2):
    return torch.relu(x @ w_1 + b_1) @ w_2


@exercise.misconception(
    "Your b_1 is added after the ReLU.",
    "What may b_1 do to a number that the ReLU would set to 0?",
    why="relu(x @ w_1) + b_1 is one bracket away.",
)
def b_1_after_the_relu(x, w_1, b_1, w_2, b_2):
    return (torch.relu(x @ w_1) + b_1) @ w_2 + b_2


@exercise.misconception(
    "Between your two layers stands a GELU: small negative numbers go through.",
    "Which function does the paper name between the two layers?",
    why="BERT and GPT have a GELU there.",
)
def gelu_for_relu(x, w_1, b_1, w_2, b_2):
    return torch.nn.functional.gelu(x @ w_1 + b_1) @ w_2 + b_2


@exercise.misconception(
    "Between your two layers stands a sigmoid: every number is between 0 and 1.",
    "Which function does the paper name between the two layers?",
    why="Older networks, and many lectures, have a sigmoid in the hidden layer.",
)
def sigmoid_for_relu(x, w_1, b_1, w_2, b_2):
    return torch.sigmoid(x @ w_1 + b_1) @ w_2 + b_2


@exercise.misconception(
    "Your two matrices are transposed; unless d_ff is d_model, that stops.",
    "Does a row of w_1 belong to a number that goes in, or to one that comes out?",
    why="nn.Linear keeps (d_out, d_in) and computes x @ weight.T.",
)
def both_transposed(x, w_1, b_1, w_2, b_2):
    return torch.relu(x @ w_1.T + b_1) @ w_2.T + b_2


@exercise.misconception(
    "Your result is right, but it is written into x.",
    "Which tensor does your code write to, and who else holds it?",
    why="A loop over the tokens that puts each result back where it came from.",
)
def written_into_x(x, w_1, b_1, w_2, b_2):
    return x.copy_(torch.relu(x @ w_1 + b_1) @ w_2 + b_2)
