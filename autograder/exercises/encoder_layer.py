"""Cases and misconceptions of ``encoder_layer``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.functional import (
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
)

exercise = Exercise(
    encoder_layer,
    lesson="08_transformer",
    minutes=12,
    difficulty=2,
    uses=("layer_norm", "feed_forward"),
    library=(
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerEncoder",
        "torch.nn.Transformer",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch._native_multi_head_attention",
        "torch._transformer_encoder_layer_fwd",
        "course_lib.nn.layers.EncoderLayer",
        "course_lib.nn.layers.TransformerLayer",
        "course_lib.nn.transformer.Encoder",
        "course_lib.lessons.deep_stack.StackLayer",
    ),
)


@exercise.spec
def spec(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = as_arrays(parameters)
    *leading, n, _ = x.shape
    if may_attend is None:
        may_attend = torch.ones(n, n, dtype=torch.bool)
    mask = np.broadcast_to(may_attend.numpy(), (*leading, n, n))
    result = x.numpy().astype(float)
    for batch in np.ndindex(*leading):
        rows = result[batch]
        if norm_first:
            rows = rows + attention_sublayer(norm(rows, p, 1), p, n_heads, mask[batch])
            rows = rows + feed_forward_sublayer(norm(rows, p, 2), p)
        else:
            rows = norm(rows + attention_sublayer(rows, p, n_heads, mask[batch]), p, 1)
            rows = norm(rows + feed_forward_sublayer(rows, p), p, 2)
        result[batch] = rows
    return torch.from_numpy(result).to(x.dtype)


def as_arrays(parameters):
    """Return the parameters as arrays of float64."""
    return {name: part.numpy().astype(float) for name, part in parameters.items()}


def norm(rows, p, number):
    """Norm the rows of one sequence with the gain and the bias of that number."""
    normed = []
    for row in rows:
        centred = row - sum(row) / len(row)
        variance = sum(centred * centred) / len(row)
        normed.append(centred / math.sqrt(variance + 1e-5))
    return np.array(normed) * p[f"gain_{number}"] + p[f"bias_{number}"]


def attention_sublayer(rows, p, n_heads, may_attend):
    """Let the tokens of one sequence attend to each other."""
    d_k, output = rows.shape[1] // n_heads, np.zeros_like(rows)
    for h in range(n_heads):
        own = slice(h * d_k, (h + 1) * d_k)
        q, k, v = (rows @ p[name][:, own] for name in ("w_q", "w_k", "w_v"))
        for i in range(len(rows)):
            allowed = [j for j in range(len(rows)) if may_attend[i, j]]
            scores = {j: q[i] @ k[j] / math.sqrt(d_k) for j in allowed}
            highest = max(scores.values())
            powers = {j: math.exp(scores[j] - highest) for j in allowed}
            for j in allowed:
                weight = powers[j] / sum(powers.values())
                output[i] += weight * v[j] @ p["w_o"][own]
    return output


def feed_forward_sublayer(rows, p):
    """Send each row through the two layers of the feed-forward network."""
    return np.maximum(rows @ p["w_1"] + p["b_1"], 0.0) @ p["w_2"] + p["b_2"]


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, d_model=12, d_ff=8, dtype=np.float32):
    """Draw the parameters; scores are of size 1, norms near those of the start."""
    root = math.sqrt(d_model)
    made = {f"w_{name}": rng.normal(size=(d_model, d_model)) / root for name in "qkvo"}
    made |= {"w_1": rng.normal(size=(d_model, d_ff)) / root}
    made |= {"w_2": rng.normal(size=(d_ff, d_model)) / math.sqrt(d_ff)}
    made |= {"b_1": rng.normal(size=d_ff), "b_2": rng.normal(size=d_model)}
    for number in (1, 2):
        made[f"gain_{number}"] = 1 + 0.5 * rng.normal(size=d_model)
        made[f"bias_{number}"] = rng.normal(size=d_model)
    return {name: tensor(part, dtype) for name, part in made.items()}


def silent(rng, d_model):
    """Draw parameters with which both parts give zeros."""
    made = drawn(rng, d_model)
    for name in ("w_o", "w_2", "b_2"):
        made[name] = tensor(np.zeros(tuple(made[name].shape)))
    return made


def tokens(rng, *shape, dtype=np.float32):
    """Draw tokens whose mean is not 0 and whose variance is not 1."""
    return tensor(2 * rng.normal(size=shape) + 1, dtype)


def some_blocked(rng, *shape):
    """Draw a mask with which every token may attend to at least one."""
    may_attend = rng.random(size=shape) < 0.5
    may_attend[..., 0] = ~may_attend[..., 1]
    return torch.from_numpy(may_attend)


@exercise.usual
def usual(rng):
    return tokens(rng, 2, 5, 12), drawn(rng), 3, some_blocked(rng, 2, 5, 5)


@exercise.case(
    "One token of two numbers, with the norm before each part, becomes (6, 15)"
)
def small_example_by_hand(student, rng):
    same, nothing = np.eye(2), np.zeros(2)
    made = {f"w_{name}": same for name in "qkvo"}
    made |= {"w_1": same, "w_2": [[50.0, 60.0], [1.0, 2.0]]}
    made |= {"b_1": nothing, "b_2": [2.0, 5.0]}
    made |= {"gain_1": [1.0, 1.0], "gain_2": [3.0, 2.0]}
    made |= {"bias_1": nothing, "bias_2": nothing}
    parameters = {name: tensor(part) for name, part in made.items()}
    # The norm of (3, 5) is (−1, 1); the token attends to itself: (2, 6). The second
    # norm gives (−3, 2), the ReLU (0, 2), the second layer (2, 4) + (2, 5).
    result = student(tensor([[3.0, 5.0]]), parameters, 1, None, True)
    student.expect(result, tensor([[6.0, 15.0]]))


@exercise.case("With the norm after each sum, a batch of sequences gives this")
def norm_after(student, rng):
    student.agrees(tokens(rng, 2, 5, 6), drawn(rng, 6), 3, some_blocked(rng, 2, 5, 5))


@exercise.case("With the norm before each part, a batch of sequences gives this")
def norm_before(student, rng):
    arguments = tokens(rng, 2, 5, 6), drawn(rng, 6), 3, some_blocked(rng, 2, 5, 5)
    student.agrees(*arguments, norm_first=True)


@exercise.case(
    "With parameters of zero and the norm before, x comes through unchanged",
    pays_alone=False,
)
def nothing_added(student, rng):
    x = tokens(rng, 3, 4)
    student.expect(student(x, silent(rng, 4), 2, None, True), x)


@exercise.case("With parameters of zero and the norm after, x is normed twice")
def only_normed(student, rng):
    # (−1, 1) · (2, 4) + (1, −3) = (−1, 1), and once more with (6, 1) and (0, 5).
    parameters = silent(rng, 2)
    parameters |= {"gain_1": tensor([2.0, 4.0]), "bias_1": tensor([1.0, -3.0])}
    parameters |= {"gain_2": tensor([6.0, 1.0]), "bias_2": tensor([0.0, 5.0])}
    x = tensor([[300.0, 500.0], [700.0, 100.0]])
    # The second row: (1, −1) · (2, 4) + (1, −3) = (3, −7), then (1, −1) again.
    student.expect(student(x, parameters, 1), tensor([[-6.0, 6.0], [6.0, 4.0]]))
    student.agrees(tensor(1000 * rng.normal(size=(6, 2))), parameters, 1)


@exercise.case("Without `may_attend` all tokens attend to all, in any batch")
def leading_axes(student, rng):
    parameters = drawn(rng, 4, 5)
    student.agrees(tokens(rng, 3, 4), parameters, 2)
    student.agrees(tokens(rng, 2, 2, 3, 4), parameters, 2, norm_first=True)


@exercise.case("As many tokens as numbers, and a causal mask: each attends back only")
def as_many_tokens_as_numbers(student, rng):
    # Here a mask, or a matrix, that is turned round has the right shape.
    causal = torch.from_numpy(np.tril(np.ones((4, 4), dtype=bool)))
    student.agrees(tokens(rng, 4, 4), drawn(rng, 4, 4), 2, causal)


@exercise.case(
    "Permuted tokens give the same results in the new order",
    visible=False,
    pays_alone=False,
)
def tokens_permuted(student, rng):
    x, parameters, order = tokens(rng, 5, 6), drawn(rng, 6), [2, 0, 1, 4, 3]
    before = student(x, parameters, 3)
    after = student(tensor(x.numpy()[order]), parameters, 3)
    student.expect(after, before[order], what="the results after the change")


@exercise.case("In float64 all digits are right")
def double_precision(student, rng):
    may_attend = some_blocked(rng, 3, 3)
    arguments = tokens(rng, 3, 4, dtype=np.float64), drawn(rng, 4, dtype=np.float64)
    student.agrees(*arguments, 2, may_attend, True)


@exercise.case("`x`, the parameters and `may_attend` stay as they are")
def arguments_stay(student, rng):
    arguments = tokens(rng, 3, 4), drawn(rng, 4), 2, some_blocked(rng, 3, 3)
    student.leaves_unchanged(*arguments)


def parts_of(parameters, n_heads, may_attend):
    """Return the two parts, right, as functions of the rows."""
    p = parameters
    projections = [p[name] for name in ("w_q", "w_k", "w_v", "w_o")]

    def attend(rows):
        return multi_head_attention(rows, rows, *projections, n_heads, may_attend)

    def feed(rows):
        return feed_forward(rows, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    return attend, feed


def norm_of(parameters, number):
    """Return the norm of that number as a function of the rows."""
    gain, bias = parameters[f"gain_{number}"], parameters[f"bias_{number}"]
    return lambda rows: layer_norm(rows, gain, bias)


def norms_of(parameters):
    """Return the two norms, in order."""
    return norm_of(parameters, 1), norm_of(parameters, 2)


def put_together(x, parts, norms, norm_first):
    """Put parts and norms together rightly, one pair after the other."""
    for part, normed in zip(parts, norms, strict=True):
        x = x + part(normed(x)) if norm_first else normed(x + part(x))
    return x


@exercise.misconception(
    "Your first norm is used for both parts; gain_2 and bias_2 play no part.",
    "How many pairs of gain and bias are there, and which have you used?",
    why="One `norm` object in the layer is called twice: self.norm(…) is short.",
)
def one_norm_for_both(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts, first = parts_of(parameters, n_heads, may_attend), norm_of(parameters, 1)
    return put_together(x, parts, (first, first), norm_first)


@exercise.misconception(
    "Your norms stand after the sums whatever `norm_first` says.",
    "Where is `norm_first` used in your code?",
    why="The paper knows one order only, and its figure is what is copied.",
)
def norm_always_after(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts = parts_of(parameters, n_heads, may_attend)
    return put_together(x, parts, norms_of(parameters), False)


@exercise.misconception(
    "With the norm after, you norm what a part gives and add x to that: "
    "x + norm(part(x)).",
    "What does the docstring put between the brackets of the norm?",
    why="harvardnlp/annotated-transformer, issue 110, proposes this order as the "
    "right one.",
)
def sum_after_the_norm(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts, norms = parts_of(parameters, n_heads, may_attend), norms_of(parameters)
    for part, normed in zip(parts, norms, strict=True):
        x = x + (part(normed(x)) if norm_first else normed(part(x)))
    return x


@exercise.misconception(
    "Your norms stand before the parts whatever `norm_first` says.",
    "Where is `norm_first` used in your code?",
    why="The Annotated Transformer norms first 'for code simplicity': "
    "harvardnlp/annotated-transformer, issue 100.",
)
def norm_always_before(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts = parts_of(parameters, n_heads, may_attend)
    return put_together(x, parts, norms_of(parameters), True)


@exercise.misconception(
    "Your two norms are exchanged: gain_2 and bias_2 belong to your attention.",
    "Which norm comes first, and which number does it have?",
    why="They are taken off a list from its end, or named after what comes next.",
)
def norms_exchanged(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts = parts_of(parameters, n_heads, may_attend)
    return put_together(x, parts, norms_of(parameters)[::-1], norm_first)


@exercise.misconception(
    "Your layer has no residual connections: each part replaces its input.",
    "What is left of a token after a part whose parameters are all zero?",
    why="The sums hide in a wrapper: tensorflow/models, issue 7533, cannot find them.",
)
def nothing_carried_over(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts, norms = parts_of(parameters, n_heads, may_attend), norms_of(parameters)
    for part, normed in zip(parts, norms, strict=True):
        x = part(normed(x)) if norm_first else normed(part(x))
    return x


@exercise.misconception(
    "Your feed-forward part replaces its input; only the attention is added to its "
    "own.",
    "How many sums does a layer have?",
    why="The second residual connection is easily overlooked in the figure.",
)
def only_the_first_sum(x, parameters, n_heads, may_attend=None, norm_first=False):
    attend, feed = parts_of(parameters, n_heads, may_attend)
    first, second = norms_of(parameters)
    if norm_first:
        return feed(second(x + attend(first(x))))
    return second(feed(first(x + attend(x))))


@exercise.misconception(
    "Your second sum adds the layer's own input again, not what the first sum gave.",
    "What went into the feed-forward part?",
    why="One variable `inputs` for both sums: strutive07/transformer-tensorflow2.0, "
    "issue 14.",
)
def input_of_the_layer_added_twice(
    x, parameters, n_heads, may_attend=None, norm_first=False
):
    attend, feed = parts_of(parameters, n_heads, may_attend)
    first, second = norms_of(parameters)
    if norm_first:
        return x + feed(second(x + attend(first(x))))
    return second(x + feed(first(x + attend(x))))


@exercise.misconception(
    "With the norm after, your second sum adds the layer's own input, not what the "
    "first norm gave.",
    "Which rows go into the feed-forward part, and which are added to what it gives?",
    why="attended = norm(x + attend(x)) has a new name, and x is still at hand for "
    "the second line.",
)
def input_added_twice_with_the_norm_after(
    x, parameters, n_heads, may_attend=None, norm_first=False
):
    attend, feed = parts_of(parameters, n_heads, may_attend)
    first, second = norms_of(parameters)
    if norm_first:
        return put_together(x, (attend, feed), (first, second), True)
    return second(x + feed(first(x + attend(x))))


@exercise.misconception(
    "With the norm before, you add the normed x and not x itself.",
    "With parameters of zero, what should come out if the norm stands before?",
    why="`x = norm(x)` gives the name x to the normed rows.",
)
def normed_rows_added(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts, norms = parts_of(parameters, n_heads, may_attend), norms_of(parameters)
    for part, normed in zip(parts, norms, strict=True):
        if norm_first:
            x = normed(x)
            x = x + part(x)
        else:
            x = normed(x + part(x))
    return x


@exercise.misconception(
    "With the norm before each part, you norm once more after its sum.",
    "How many norms does x pass on its way along the sums, if they stand before the "
    "parts?",
    why="Two popular formulas for the block are mixed into one.",
)
def norm_before_and_after(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts, norms = parts_of(parameters, n_heads, may_attend), norms_of(parameters)
    for part, normed in zip(parts, norms, strict=True):
        x = normed(x + part(normed(x) if norm_first else x))
    return x


@exercise.misconception(
    "Both your parts read the layer's input, and what they give is added up.",
    "Does the feed-forward part read x, or what the attention made of it?",
    why="Some later models (GPT-J, PaLM) do run both side by side.",
)
def parts_side_by_side(x, parameters, n_heads, may_attend=None, norm_first=False):
    attend, feed = parts_of(parameters, n_heads, may_attend)
    first, second = norms_of(parameters)
    if norm_first:
        return x + attend(first(x)) + feed(second(x))
    return second(first(x + attend(x)) + feed(x))


@exercise.misconception(
    "Your feed-forward part comes first, then the attention.",
    "Which comes first: the neighbours, or the token itself?",
    why="The figure is read from the top; it runs upwards.",
)
def feed_forward_first(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts = parts_of(parameters, n_heads, may_attend)[::-1]
    return put_together(x, parts, norms_of(parameters), norm_first)


@exercise.misconception(
    "All your tokens attend to all: `may_attend` plays no part.",
    "Which of the arguments does your code never hand on?",
    why="The mask has a default and is left out of a call without anybody noticing.",
)
def may_attend_ignored(x, parameters, n_heads, may_attend=None, norm_first=False):
    parts = parts_of(parameters, n_heads, None)
    return put_together(x, parts, norms_of(parameters), norm_first)


@exercise.misconception(
    "Without `may_attend`, your tokens attend to themselves and at earlier ones only.",
    "What does None in `may_attend` mean, according to the docstring?",
    why="The decoder's causal mask is built into the attention, and so into the "
    "encoder.",
)
def attends_back_only(x, parameters, n_heads, may_attend=None, norm_first=False):
    if may_attend is None:
        n = x.shape[-2]
        may_attend = torch.ones(n, n, dtype=torch.bool).tril()
    parts = parts_of(parameters, n_heads, may_attend)
    return put_together(x, parts, norms_of(parameters), norm_first)


@exercise.misconception(
    "Your tokens attend where `may_attend` is False.",
    "What does True in `may_attend` say, read aloud?",
    why="In PyTorch's nn.TransformerEncoderLayer True means blocked.",
)
def may_attend_reversed(x, parameters, n_heads, may_attend=None, norm_first=False):
    turned = None if may_attend is None else ~may_attend
    parts = parts_of(parameters, n_heads, turned)
    return put_together(x, parts, norms_of(parameters), norm_first)


@exercise.misconception(
    "Your result is right, but the sums are written into x.",
    "What does `x += …` do to the tensor that the caller holds?",
    why="`x += part(x)` looks like a new x.",
)
def summed_in_place(x, parameters, n_heads, may_attend=None, norm_first=False):
    attend, feed = parts_of(parameters, n_heads, may_attend)
    first, second = norms_of(parameters)
    x += attend(first(x) if norm_first else x)
    if norm_first:
        return x + feed(second(x))
    middle = first(x)
    return second(middle + feed(middle))
