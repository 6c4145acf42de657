"""Cases and misconceptions of ``encoder_layer``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.functional import (
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
)

exercise = Exercise(
    encoder_layer,
    lesson="09_transformer",
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
    "One token of two numbers, with the norm before each part, becomes (6, 15)",
    weight=0.5,
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


@exercise.case(
    "With the norm after each sum, a batch of sequences gives this", weight=2.5
)
def norm_after(student, rng):
    student.agrees(tokens(rng, 2, 5, 6), drawn(rng, 6), 3, some_blocked(rng, 2, 5, 5))


@exercise.case(
    "With the norm before each part, a batch of sequences gives this", weight=2
)
def norm_before(student, rng):
    arguments = tokens(rng, 2, 5, 6), drawn(rng, 6), 3, some_blocked(rng, 2, 5, 5)
    student.agrees(*arguments, norm_first=True)


@exercise.case(
    "With parameters of zero and the norm before, x comes through unchanged",
    weight=0.5,
    pays_alone=False,
)
def nothing_added(student, rng):
    x = tokens(rng, 3, 4)
    student.expect(student(x, silent(rng, 4), 2, None, True), x)


@exercise.case(
    "With parameters of zero and the norm after, x is normed twice", weight=0.5
)
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


@exercise.case(
    "As many tokens as numbers, and a causal mask: each attends back only", weight=1.5
)
def as_many_tokens_as_numbers(student, rng):
    # Here a mask, or a matrix, that is turned round has the right shape.
    causal = torch.from_numpy(np.tril(np.ones((4, 4), dtype=bool)))
    student.agrees(tokens(rng, 4, 4), drawn(rng, 4, 4), 2, causal)


@exercise.case(
    "Permuted tokens give the same results in the new order",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def tokens_permuted(student, rng):
    x, parameters, order = tokens(rng, 5, 6), drawn(rng, 6), [2, 0, 1, 4, 3]
    before = student(x, parameters, 3)
    after = student(tensor(x.numpy()[order]), parameters, 3)
    student.expect(after, before[order], what="the results after the change")


@exercise.case("Numbers of float64 are answered, too", weight=0.5)
def double_precision(student, rng):
    may_attend = some_blocked(rng, 3, 3)
    arguments = tokens(rng, 3, 4, dtype=np.float64), drawn(rng, 4, dtype=np.float64)
    student.agrees(*arguments, 2, may_attend, True)
    student.agrees(*arguments, 2, may_attend)


@exercise.case("`x`, the parameters and `may_attend` are not modified", weight=0.5)
def arguments_stay(student, rng):
    arguments = tokens(rng, 3, 4), drawn(rng, 4), 2, some_blocked(rng, 3, 3)
    student.leaves_unchanged(*arguments)
    arguments = tokens(rng, 2, 3, 4), drawn(rng, 4), 2, some_blocked(rng, 3, 3)
    student.leaves_unchanged(*arguments, True)


@exercise.right_answer
def without_a_loop(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = parameters
    w_q, w_k, w_v, w_o = (p[name] for name in ("w_q", "w_k", "w_v", "w_o"))

    def attend(y):
        return multi_head_attention(y, y, w_q, w_k, w_v, w_o, n_heads, may_attend)

    def apply_feed_forward(y):
        return feed_forward(y, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    def norm(y, number):
        return layer_norm(y, p[f"gain_{number}"], p[f"bias_{number}"])

    if norm_first:
        a = x + attend(norm(x, 1))
        return a + apply_feed_forward(norm(a, 2))
    a = norm(x + attend(x), 1)
    return norm(a + apply_feed_forward(a), 2)


exercise.edits(
    """
queries_normed_alone: (y, y, w_q -> (y, x, w_q
  Your queries alone are normed where `norm_first` is True: keys and values are made of
    x as it was.
  ? To which rows does self-attention attend: to those that ask, or to others?
  # layer_norm(x) is put in for the first of two arguments, and x stays the second.
"""
)
exercise.edits(
    """
one_norm_for_both: gain, bias = (p['gain_1'], p['bias_1'])
  Your first norm is used for both parts.
  ? How many pairs of gain and bias are there, and which have you used?
  # One `norm` object in the layer is called twice: self.norm(…) is short.
second_norm_for_both: gain, bias = (p['gain_2'], p['bias_2'])
  Your second norm is used for both parts.
  # The line of the second part is copied, and its numbers with it.
norms_exchanged:
  | enumerate([attend, apply_feed_forward], start=1) ->
  :     zip((2, 1), [attend, apply_feed_forward])
  Your two norms are exchanged: gain_2 and bias_2 belong to your first part.
  ? Which norm comes first, and which number does it have?
  # They are taken off a list from its end, or named after what comes next.
norm_always_after: norm_first = False
  Your norms stand after the sums whatever `norm_first` says.
  ? Where is `norm_first` used in your code?
  # The paper knows one order only, and its figure is what is copied.
norm_always_before: norm_first = True
  Your norms stand before the parts whatever `norm_first` says.
  # The Annotated Transformer norms first 'for code simplicity':
    harvardnlp/annotated-transformer, issue 100.
norm_first_reversed: if norm_first -> if not norm_first
  Your norms stand before the parts where `norm_first` is False, and after the sums
    where it is True.
  ? What does `norm_first` say, read aloud?
  # The two branches of an `if` are exchanged.
sum_after_the_norm:
  | layer_norm(x + sublayer(x), gain, bias) -> x + layer_norm(sublayer(x), gain, bias)
  With the norm after, you norm what a part gives and add x to that: x +
    norm(part(x)).
  ? What does the docstring put between the brackets of the norm?
  # harvardnlp/annotated-transformer, issue 110, proposes this order as the right one.
""",
)
exercise.edits(
    """
first_norm_left_out: norm(x + attend(x), 1) -> x + attend(x)
  With the norm after, your first sum is not normed.
  ? How many norms are there, and where does each stand?
  # Both sums are written first, and one norm at the end is thought to do.
""",
    of=without_a_loop,
)
exercise.edits(
    """
norm_before_and_after:
  | x = x + … -> x = layer_norm(x + sublayer(layer_norm(x, gain, bias)), gain, bias)
  With the norm before each part, you norm once more after its sum.
  ? How many norms does x pass on its way along the sums, if they stand before the
    parts?
  # Two popular formulas for the block are mixed into one.
norm_at_the_end: return x -> return layer_norm(x, gain, bias) if norm_first else x
  With the norm before, your result is normed once more at the end.
  ? With parameters of zero, what should come out if the norm stands before?
  # Pre-norm models do end in a norm: one after all layers, not in each.
""",
)
exercise.edits(
    """
attention_not_normed: attend(norm(x, 1)) -> attend(x)
  With the norm before, your attention reads rows that are not normed.
  ? How many norms are there, and where does each stand?
  # The first part gets x as it is, and the norm is put between the two parts.
feed_forward_not_normed: apply_feed_forward(norm(a, 2)) -> apply_feed_forward(a)
  With the norm before, your feed-forward part reads rows that are not normed.
  # Norms are thought to belong to attention.
""",
    of=without_a_loop,
)
exercise.edits(
    """
nothing_carried_over: x + sublayer => sublayer
  Your layer has no residual connections: each part replaces its input.
  ? What is left of a token after a part whose parameters are all zero?
  # The sums hide in a wrapper: tensorflow/models, issue 7533, cannot find them.
result_added_to_itself: x + sublayer => 2 * sublayer
  Your residual connections add each part's result to itself, not to what went in.
  ? Which two things does a residual connection add, and which names have they in your
    code?
  # `x = part(x)`, and then `x = norm(x + x)`: what went in has lost its name.
no_sum_with_the_norm_before: x = x + sublayer -> x = sublayer
  With the norm before, each of your parts replaces its input: there are no residual
    connections.
  ? With parameters of zero, what should come out if the norm stands before?
  # x = part(norm(x)) seems complete: the sum stood inside the norm's brackets.
neither_sums_nor_norms:
  | x + sublayer(layer_norm(x, gain, bias)) -> sublayer(x)
  | layer_norm(x + sublayer(x), gain, bias) -> sublayer(x)
  Your layer has neither residual connections nor norms: it is the two parts alone.
  ? What stands around each sublayer in the docstring?
  # Attention and network are the parts with names of their own.
""",
)
exercise.edits(
    """
only_the_first_sum: a + apply_feed_forward => apply_feed_forward
  Your feed-forward part replaces its input: it has no residual connection.
  ? How many sums does a layer have?
  # The second residual connection is easily overlooked in the figure.
only_the_second_sum: x + attend => attend
  Your attention replaces its input: it has no residual connection.
  # What attention gives is taken for the new rows.
input_of_the_layer_added_twice: a + apply_feed_forward => x + apply_feed_forward
  Your second sum adds the layer's own input, not what the first sum gave.
  ? What went into the feed-forward part?
  # One variable `inputs` for both sums: strutive07/transformer-tensorflow2.0, issue
    14.
input_added_twice_with_the_norm_after: norm(a + -> norm(x +
  With the norm after, your second sum adds the layer's own input, not what the first
    norm gave.
  ? Which rows go into the feed-forward part, and which are added to what it gives?
  # attended = norm(x + attend(x)) has a new name, and x is still at hand for the
    second line.
input_added_twice_with_the_norm_before: return a + -> return x +
  With the norm before, your second sum adds the layer's own input, not what the first
    sum gave.
  ? Which rows does the second norm read, and which are added to the result of its
    part?
  # attended = x + attend(norm(x)) has a new name, and x is still at hand for the
    second line.
""",
    of=without_a_loop,
)
exercise.edits(
    """
normed_rows_added:
  | x = x + … ->
  :     x = layer_norm(x, gain, bias)
  :     x = x + sublayer(x)
  With the norm before, you add the normed x and not x itself.
  ? With parameters of zero, what should come out if the norm stands before?
  # `x = norm(x)` gives the name x to the normed rows.
""",
)
exercise.edits(
    """
normed_rows_added_in_the_second_sum:
  | return a + … ->
  :     a = norm(a, 2)
  :     return a + apply_feed_forward(a)
  With the norm before, your second sum adds the normed rows, not the rows themselves.
  ? With parameters of zero, what should come out if the norm stands before?
  # The normed rows have a name in the second line, and are taken for both.
parts_side_by_side_with_one_norm:
  | apply_feed_forward(norm(a, 2)) -> apply_feed_forward(norm(x, 1))
  | a = norm(x + attend(x), 1) -> a = x + attend(x)
  | norm(a + apply_feed_forward(a), 2) -> norm(a + apply_feed_forward(x), 1)
  Both your parts read the layer's input, and the first norm is the only one.
  ? Does the feed-forward part read x, or what the attention made of it?
  # GPT-J has its parts side by side behind one norm.
parts_side_by_side_with_the_norm_before:
  | apply_feed_forward(norm(a -> apply_feed_forward(norm(x
  With the norm before, both your parts read the layer's input.
parts_side_by_side:
  | apply_feed_forward(norm(a -> apply_feed_forward(norm(x
  | apply_feed_forward(a) -> apply_feed_forward(x)
  Both your parts read the layer's input.
  ? Does the feed-forward part read x, or what the attention made of it?
  # Some later models (GPT-J, PaLM) do run both side by side.
""",
    of=without_a_loop,
)
exercise.edits(
    """
feed_forward_first: [attend, apply_feed_forward] -> [apply_feed_forward, attend]
  Your feed-forward part comes first, then the attention.
  ? Which comes first: the neighbours, or the token itself?
  # The figure is read from the top; it runs upwards.
feed_forward_left_out: [attend, apply_feed_forward] -> [attend]
  Your layer ends after its first part: there is no feed-forward network.
  ? How many parts does the docstring name?
  # Attention is what the paper is about, and it seems to be all.
may_attend_ignored: n_heads, may_attend) -> n_heads)
  All your tokens attend to all: `may_attend` plays no part.
  ? Which tokens may a token attend to?
  # The mask has a default and is left out of a call without anybody noticing.
may_attend_reversed:
  | if may_attend is not None:
  :     may_attend = ~may_attend
  Your tokens attend where `may_attend` is False.
  ? What does True in `may_attend` say, read aloud?
  # In PyTorch's nn.TransformerEncoderLayer True means blocked.
may_attend_transposed:
  | if may_attend is not None:
  :     may_attend = may_attend.mT
  Your mask has rows and columns exchanged: token i attends to token j where j may
    attend to i.
  ? Which axis of the mask belongs to the token that attends?
  # A transposition is silent: the mask is square.
attends_back_only:
  | if may_attend is None:
  :     may_attend = torch.ones(x.shape[-2], x.shape[-2]).tril().bool()
  Without `may_attend`, your tokens attend to themselves and to earlier ones only.
  ? What does None in `may_attend` mean, according to the docstring?
  # The decoder's causal mask is built into the attention, and so into the encoder.
always_causal:
  | causal = torch.ones(x.shape[-2], x.shape[-2]).tril().bool()
  | n_heads, may_attend) ->
  :     n_heads, causal if may_attend is None else causal & may_attend)
  Your tokens attend to no later ones, whatever `may_attend` says.
  ? Which tokens of the source may a token attend to, according to `may_attend`?
  # A decoder's causal mask is built into its attention, and easily copied along.
keys_and_values_exchanged: w_q, w_k, w_v, w_o, n_heads -> w_q, w_v, w_k, w_o, n_heads
  Your keys are made with w_v and your values with w_k.
  ? In which order does `multi_head_attention` take its matrices?
  # All four matrices have the same shape, and any order runs.
queries_and_keys_exchanged: w_q, w_k, w_v, w_o, n_heads -> w_k, w_q, w_v, w_o, n_heads
  Your queries are made with w_k and your keys with w_q.
one_head: w_o, n_heads -> w_o, 1
  Your attention has one head, whatever `n_heads` says.
  ? Where is `n_heads` used in your code?
  # The attention is written out for a single head, as in the first lessons.
array_returned: return x -> return x.numpy()
  Your result is a NumPy array, not a tensor.
  ? Which type does the docstring promise?
  # The layer is computed in NumPy, as in the first lessons.
mask_returned_too: return x -> return (x, may_attend)
  Your result is a pair: the rows, and the mask.
  ? What does the docstring promise to return?
  # The next layer needs both, so both are handed on.
""",
)
exercise.edits(
    """
summed_in_place:
  | x + attend(norm(x, 1)) -> x.add_(attend(norm(x, 1)))
  | x + attend(x) -> x.add_(attend(x))
  Your call writes the first sum into x: the caller's tensor is overwritten.
  ? Which line of yours writes into the tensor that the caller holds?
  # `x += part(x)` looks like a new x.
""",
    of=without_a_loop,
)

exercise.family(families.squeezed())

exercise.threes_of(
    "nothing_carried_over",
    "norm_always_after",
    "norm_always_before",
    "one_norm_for_both",
    "may_attend_ignored",
    "one_head",
)
