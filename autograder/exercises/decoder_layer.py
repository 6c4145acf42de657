"""Cases and misconceptions of ``decoder_layer``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from autograder.exercises.encoder_layer import (
    as_arrays,
    feed_forward_sublayer,
    norm,
    some_blocked,
    tensor,
    tokens,
)
from autograder.exercises.encoder_layer import exercise as encoder_layer_exercise
from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads
from course_lib.nn.functional import (
    decoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
)

exercise = Exercise(
    decoder_layer,
    lesson="09_transformer",
    minutes=20,
    difficulty=3,
    uses=("layer_norm", "feed_forward"),
    library=(
        "torch.nn.TransformerDecoderLayer",
        "torch.nn.TransformerDecoder",
        "torch.nn.Transformer",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch._native_multi_head_attention",
        "course_lib.nn.layers.DecoderLayer",
        "course_lib.nn.layers.TransformerLayer",
        "course_lib.nn.transformer.Decoder",
    ),
)


@exercise.spec
def spec(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    p = as_arrays(parameters)
    *leading, n, _ = y.shape
    target = mask_for(may_attend, *leading, n, n)
    source = mask_for(memory_may_attend, *leading, n, memory.shape[-2])
    result, memory_rows = y.numpy().astype(float), memory.numpy().astype(float)
    for batch in np.ndindex(*leading):
        own, there, rows = target[batch], source[batch], result[batch]
        if norm_first:
            normed = norm(rows, p, 1)
            rows = rows + attention_sublayer(normed, normed, p, "w_", n_heads, own)
            normed = norm(rows, p, 2)
            rows = rows + attention_sublayer(
                normed, memory_rows[batch], p, "cross_", n_heads, there
            )
            rows = rows + feed_forward_sublayer(norm(rows, p, 3), p)
        else:
            rows = norm(
                rows + attention_sublayer(rows, rows, p, "w_", n_heads, own), p, 1
            )
            attended = attention_sublayer(
                rows, memory_rows[batch], p, "cross_", n_heads, there
            )
            rows = norm(rows + attended, p, 2)
            rows = norm(rows + feed_forward_sublayer(rows, p), p, 3)
        result[batch] = rows
    return torch.from_numpy(result).to(y.dtype)


def mask_for(may_attend, *shape):
    """Return the mask in full: which token may attend to which."""
    if may_attend is None:
        return np.ones(shape, dtype=bool)
    return np.broadcast_to(may_attend.numpy(), shape)


def attention_sublayer(rows, there, p, prefix, n_heads, may_attend):
    """Let the rows of one sequence attend to those of another, or to themselves."""
    d_k, output = rows.shape[1] // n_heads, np.zeros_like(rows)
    w_q, w_k, w_v, w_o = (p[prefix + name] for name in "qkvo")
    for h in range(n_heads):
        own = slice(h * d_k, (h + 1) * d_k)
        q, k, v = rows @ w_q[:, own], there @ w_k[:, own], there @ w_v[:, own]
        for i in range(len(rows)):
            allowed = [j for j in range(len(there)) if may_attend[i, j]]
            scores = {j: q[i] @ k[j] / math.sqrt(d_k) for j in allowed}
            highest = max(scores.values())
            powers = {j: math.exp(scores[j] - highest) for j in allowed}
            for j in allowed:
                weight = powers[j] / sum(powers.values())
                output[i] += weight * v[j] @ w_o[own]
    return output


def drawn(rng, d_model=12, d_ff=8, dtype=np.float32):
    """Draw the parameters; scores are of size 1, norms near those of the start."""
    root = math.sqrt(d_model)
    names = [prefix + name for prefix in ("w_", "cross_") for name in "qkvo"]
    made = {name: rng.normal(size=(d_model, d_model)) / root for name in names}
    made |= {"w_1": rng.normal(size=(d_model, d_ff)) / root}
    made |= {"w_2": rng.normal(size=(d_ff, d_model)) / math.sqrt(d_ff)}
    made |= {"b_1": rng.normal(size=d_ff), "b_2": rng.normal(size=d_model)}
    for number in (1, 2, 3):
        made[f"gain_{number}"] = 1 + 0.5 * rng.normal(size=d_model)
        made[f"bias_{number}"] = rng.normal(size=d_model)
    return {name: tensor(part, dtype) for name, part in made.items()}


def silent(rng, d_model):
    """Draw parameters with which all three parts give zeros."""
    made = drawn(rng, d_model)
    for name in ("w_o", "cross_o", "w_2", "b_2"):
        made[name] = tensor(np.zeros(tuple(made[name].shape)))
    return made


def causal(n):
    """Return the mask in which a token may attend to itself and to earlier ones."""
    return torch.from_numpy(np.tril(np.ones((n, n), dtype=bool)))


@exercise.usual
def usual(rng):
    y, memory = tokens(rng, 2, 5, 12), tokens(rng, 2, 7, 12)
    return y, memory, drawn(rng), 3, causal(5), some_blocked(rng, 2, 5, 7)


@exercise.case(
    "One token that attends to one, with the norm before, becomes (16, 35)", weight=0.5
)
def small_example_by_hand(student, rng):
    same, nothing = np.eye(2), np.zeros(2)
    made = {prefix + name: same for prefix in ("w_", "cross_") for name in "qkvo"}
    made |= {"w_1": same, "w_2": [[50.0, 60.0], [1.0, 2.0]]}
    made |= {"b_1": nothing, "b_2": [2.0, 5.0], "gain_3": [3.0, 2.0]}
    made |= {"gain_1": [1.0, 1.0], "gain_2": [1.0, 1.0]}
    made |= {f"bias_{number}": nothing for number in (1, 2, 3)}
    parameters = {name: tensor(part) for name, part in made.items()}
    # The norm of (3, 5) is (−1, 1), and the token attends to itself alone: (2, 6). The
    # memory gives (10, 20), as it is: (12, 26). The last norm gives (−3, 2), the ReLU
    # (0, 2), the second layer (2, 4) + (2, 5).
    y, memory = tensor([[3.0, 5.0]]), tensor([[10.0, 20.0]])
    result = student(y, memory, parameters, 1, None, None, True)
    student.expect(result, tensor([[16.0, 35.0]]))


@exercise.case(
    "With the norm after each sum, five tokens that attend to seven give this",
    weight=2.5,
)
def norm_after(student, rng):
    y, memory = tokens(rng, 2, 5, 6), tokens(rng, 2, 7, 6)
    student.agrees(y, memory, drawn(rng, 6), 3, causal(5), some_blocked(rng, 2, 5, 7))


@exercise.case("With the norm before each part, they give this", weight=2)
def norm_before(student, rng):
    y, memory = tokens(rng, 2, 5, 6), tokens(rng, 2, 7, 6)
    masks = causal(5), some_blocked(rng, 2, 5, 7)
    student.agrees(y, memory, drawn(rng, 6), 3, *masks, norm_first=True)


@exercise.case(
    "With parameters of zero and the norm before, y comes through unchanged",
    weight=0.5,
    pays_alone=False,
)
def nothing_added(student, rng):
    y, memory = tokens(rng, 3, 4), tokens(rng, 5, 4)
    student.expect(student(y, memory, silent(rng, 4), 2, None, None, True), y)


@exercise.case(
    "With parameters of zero and the norm after, y is normed three times", weight=0.5
)
def only_normed(student, rng):
    parameters = silent(rng, 2)
    parameters |= {"gain_1": tensor([2.0, 4.0]), "bias_1": tensor([1.0, -3.0])}
    parameters |= {"gain_2": tensor([3.0, 1.0]), "bias_2": tensor([0.0, 1.0])}
    parameters |= {"gain_3": tensor([6.0, 1.0]), "bias_3": tensor([0.0, 5.0])}
    # (300, 500) → (−1, 1) → (−3, 2) → (−6, 6); (700, 100) → (3, −7) → (3, 0) → (6, 4)
    y, memory = tensor([[300.0, 500.0], [700.0, 100.0]]), tokens(rng, 3, 2)
    expected = tensor([[-6.0, 6.0], [6.0, 4.0]])
    student.expect(student(y, memory, parameters, 1), expected)
    student.agrees(tensor(1000 * rng.normal(size=(6, 2))), memory, parameters, 1)


@exercise.case(
    "With as many tokens there as here, each mask stays with its attention", weight=1.5
)
def as_many_there_as_here(student, rng):
    # Here either mask fits either attention, and either tensor's tokens fit both.
    y, memory = tokens(rng, 4, 4), tokens(rng, 4, 4)
    padding = torch.from_numpy(np.tile([True, True, True, False], (4, 1)))
    student.agrees(y, memory, drawn(rng, 4, 4), 2, causal(4), padding)
    student.agrees(y, memory, drawn(rng, 4, 4), 2, causal(4))


@exercise.case("Without masks all tokens attend to all, in any batch", weight=1)
def leading_axes(student, rng):
    parameters = drawn(rng, 4, 5)
    student.agrees(tokens(rng, 3, 4), tokens(rng, 5, 4), parameters, 2)
    y, memory = tokens(rng, 2, 2, 3, 4), tokens(rng, 2, 2, 2, 4)
    student.agrees(y, memory, parameters, 2, norm_first=True)


@exercise.case(
    "A memory whose tokens are permuted, with their mask, gives the same result",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def memory_permuted(student, rng):
    y, memory, parameters = tokens(rng, 4, 6), tokens(rng, 4, 6), drawn(rng, 6)
    may_attend, order = some_blocked(rng, 4, 4), [2, 0, 3, 1]
    before = student(y, memory, parameters, 3, causal(4), may_attend)
    changed = tensor(memory.numpy()[order]), parameters, 3, causal(4)
    after = student(y, *changed, may_attend[:, order])
    student.expect(after, before, what="the result after the change")


@exercise.case("Numbers of float64 are answered, too", weight=0.5)
def double_precision(student, rng):
    may_attend = some_blocked(rng, 3, 5)
    y, memory = (tokens(rng, rows, 4, dtype=np.float64) for rows in (3, 5))
    parameters = drawn(rng, 4, dtype=np.float64)
    student.agrees(y, memory, parameters, 2, causal(3), may_attend, True)
    student.agrees(y, memory, parameters, 2, causal(3), may_attend)


@exercise.case(
    "`y`, the memory, the parameters and the masks are not modified", weight=0.5
)
def arguments_stay(student, rng):
    y, memory, parameters = tokens(rng, 3, 4), tokens(rng, 5, 4), drawn(rng, 4)
    masks = some_blocked(rng, 3, 3), some_blocked(rng, 3, 5)
    student.leaves_unchanged(y, memory, parameters, 2, *masks)
    y, memory = tokens(rng, 2, 3, 4), tokens(rng, 2, 5, 4)
    student.leaves_unchanged(y, memory, parameters, 2, *masks, True)


@exercise.right_answer
def in_steps(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    p = parameters

    def attend(x):
        own = (p["w_q"], p["w_k"], p["w_v"], p["w_o"])
        return multi_head_attention(x, x, *own, n_heads, may_attend)

    def attend_to_memory(x):
        q, k, v = (x @ p["cross_q"], memory @ p["cross_k"], memory @ p["cross_v"])
        heads = (split_heads(rows, n_heads) for rows in (q, k, v))
        output, _ = attention(*heads, for_all_heads(memory_may_attend))
        return merge_heads(output) @ p["cross_o"]

    def apply_feed_forward(x):
        return feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    def norm(x, number):
        return layer_norm(x, p[f"gain_{number}"], p[f"bias_{number}"])

    if norm_first:
        a = y + attend(norm(y, 1))
        b = a + attend_to_memory(norm(a, 2))
        return b + apply_feed_forward(norm(b, 3))
    a = norm(y + attend(y), 1)
    b = norm(a + attend_to_memory(a), 2)
    return norm(b + apply_feed_forward(b), 3)


exercise.edits(
    """
memory_not_attended_to:
  | memory, *cross, n_heads, memory_may_attend -> x, *cross, n_heads, may_attend
  Your cross-attention attends to the target again, with the target's mask.
  ? From which tokens should the keys and values of the second part be made?
  # The first attention is copied, and its x, x stays: the popular decoder without the
    encoder's keys and values.
target_again_with_the_mask_of_the_memory: (x, memory, *cross -> (x, x, *cross
  Your cross-attention attends to the target again, with the memory's mask; unless n
    is m or that mask is None, this can raise an error.
  # The call is copied, and only its parameters and its mask are changed.
target_again_without_a_mask:
  | memory, *cross, n_heads, memory_may_attend -> x, *cross, n_heads
  Your cross-attention attends to the target again, to all of it.
  ? What does cross-attention attend to, and which mask belongs to that?
  # The popular decoder's formula has neither the memory nor a mask in its outer
    attention.
""",
)
exercise.edits(
    """
keys_of_the_target: memory @ p['cross_k'] -> x @ p['cross_k']
  Your cross-attention mixes values of the memory, by keys of the target; unless n is
    m, this can raise an error.
  ? Which tokens are compared with a token of the target, to find what to fetch?
  # attention(y, y, memory): only the values are thought to come from the source.
values_of_the_target: memory @ p['cross_v'] -> x @ p['cross_v']
  Your cross-attention mixes values of the target, by keys of the memory; unless n is
    m, this can raise an error.
  ? What should a token of the target bring home from the memory?
  # attention(y, memory, y): 'the values are what is translated'.
""",
    of=in_steps,
)
exercise.edits(
    """
memory_attends: (x, memory, *cross -> (memory, x, *cross
  Your memory attends to the target: the queries come from the memory, keys and values
    from the target.
  ? Which tokens give the queries here, and which the keys?
  # 'Queries from the encoder' stands in print: humza909/LLM_Survey, issue 2.
memory_normed:
  | if norm_first:
  :     memory = layer_norm(memory, parameters['gain_2'], parameters['bias_2'])
  With the norm before, your memory is normed too, with the gain and the bias of the
    cross-attention.
  ? What does the docstring say about the memory, in both orders?
  # norm(queries), norm(keys), norm(values): lucidrains/vit-pytorch, issue 287, asks
    why not.
""",
)
exercise.edits(
    """
queries_of_the_layers_input:
  | attend_to_memory(norm(a -> attend_to_memory(norm(y
  | attend_to_memory(a) -> attend_to_memory(y)
  Your cross-attention asks with the layer's own y, not with what the self-attention
    made of it.
  ? Which rows go into the second part?
  # `y` is still at hand where the first result has a name of its own.
feed_forward_of_the_layers_input:
  | apply_feed_forward(norm(b -> apply_feed_forward(norm(y
  | apply_feed_forward(b) -> apply_feed_forward(y)
  Your feed-forward part reads the layer's own y, not what the attentions made of it.
  ? Which rows go into the third part?
  # `y` is still at hand where the results of the attentions have names.
""",
    of=in_steps,
)
exercise.edits(
    """
parts_side_by_side:
  | inputs = y
  | sublayer(layer_norm(y -> sublayer(layer_norm(inputs
  | sublayer(y) -> sublayer(inputs)
  All three of your parts read the layer's own y.
  ? Does the second part read y, or what the first part made of it?
  # Some later models (GPT-J, PaLM) do run their parts side by side.
no_residual_connections: y + sublayer => sublayer
  Your layer has no residual connections: each part replaces its input.
  ? What is left of a token after a part whose parameters are all zero?
  # The sums hide in a wrapper: tensorflow/models, issue 7533, cannot find them.
neither_sums_nor_norms:
  | y + sublayer(layer_norm(y, gain, bias)) -> sublayer(y)
  | layer_norm(y + sublayer(y), gain, bias) -> sublayer(y)
  Your layer has neither residual connections nor norms: it is the three parts alone.
  ? What stands around each sublayer in the docstring?
  # Attention and network are the parts with names of their own.
result_added_to_itself: y + sublayer => 2 * sublayer
  Your residual connections add each part's result to itself, not to what went in.
  ? Which two things does a residual connection add, and which names have they in your
    code?
  # `x = part(x)`, and then `x = norm(x + x)`: what went in has lost its name.
no_sum_with_the_norm_before: y = y + sublayer -> y = sublayer
  With the norm before, each of your parts replaces its input: there are no residual
    connections.
  ? With parameters of zero, what should come out if the norm stands before?
  # y = part(norm(y)) seems complete: the sum stood inside the norm's brackets.
""",
)
exercise.edits(
    """
no_sum_around_the_first_part: y + attend => attend
  Your self-attention replaces its input: it has no residual connection.
  ? How many sums does the layer have?
  # The first sum is easily overlooked in the figure.
no_sum_around_the_second_part: a + attend_to_memory => attend_to_memory
  Your cross-attention replaces its input: it has no residual connection.
  ? What is left of the target's own tokens after they have attended to the memory?
  # What attention fetches from the source is taken for the new rows: y =
    norm(attention(y, memory)).
no_sum_around_the_third_part: b + apply_feed_forward => apply_feed_forward
  Your feed-forward part replaces its input: it has no residual connection.
  ? How many sums does the layer have?
  # The last sum is easily overlooked in the figure.
""",
    of=in_steps,
)
exercise.edits(
    """
input_of_the_layer_added_each_time:
  | inputs = y
  | y + sublayer => inputs + sublayer
  Each of your sums adds the layer's own y, not what the sum before gave.
  ? What went into the second part?
  # One variable `inputs` for all sums: strutive07/transformer-tensorflow2.0, issue
    14.
input_added_each_time_with_the_norm_after:
  | inputs = y
  | layer_norm(y + -> layer_norm(inputs +
  With the norm after, each of your sums adds the layer's own y, not what the norm
    before gave.
  ? Which rows go into the second part, and which are added to what it gives?
  # attended = norm(y + attend(y)) has a new name, and y is still at hand.
""",
)
exercise.edits(
    """
input_added_in_the_second_sum: a + attend_to_memory => y + attend_to_memory
  Your second sum adds the layer's own y, not the rows that the cross-attention reads.
  ? What went into the second part?
  # `y` is still at hand where the first result has a name of its own.
""",
    of=in_steps,
)
exercise.edits(
    """
normed_rows_added:
  | y = y + … ->
  :     y = layer_norm(y, gain, bias)
  :     y = y + sublayer(y)
  With the norm before, you add the normed y and not y itself.
  ? With parameters of zero, what should come out if the norm stands before?
  # `y = norm(y)` gives the name y to the normed rows.
sum_after_the_norm: y = layer_norm… -> y = y + layer_norm(sublayer(y), gain, bias)
  With the norm after, you norm what a part gives and add y to that: y +
    norm(part(y)).
  ? What does `encoder_layer`'s docstring put between the brackets of the norm?
  # x + norm(attention): keitakurita/Practical_NLP_in_PyTorch, issue 1, shows it.
norm_before_and_after:
  | y = y + … -> y = layer_norm(y + sublayer(layer_norm(y, gain, bias)), gain, bias)
  With the norm before each part, you norm once more after its sum.
  ? How many norms does y pass on its way along the sums, if they stand before the
    parts?
  # Two popular formulas for the block are mixed into one.
""",
)
exercise.edits(
    """
parts_side_by_side_in_one_sum:
  | attend_to_memory(norm(a, 2)) -> attend_to_memory(norm(y, 2))
  | apply_feed_forward(norm(b, 3)) -> apply_feed_forward(norm(y, 3))
  | a = norm(y + attend(y), 1) -> a = y + attend(y)
  | b = norm(a + attend_to_memory(a), 2) -> b = a + attend_to_memory(y)
  | norm(b + apply_feed_forward(b), 3) -> norm(b + apply_feed_forward(y), 3)
  All three of your parts read the layer's own y, and one sum adds their results to it.
  ? Does the second part read y, or what the first part made of it?
  # So do some later models (GPT-J, PaLM).
attentions_side_by_side_in_one_sum:
  | attend_to_memory(norm(a, 2)) -> attend_to_memory(norm(y, 2))
  | a = norm(y + attend(y), 1) -> a = y + attend(y)
  | norm(a + attend_to_memory(a), 2) -> norm(a + attend_to_memory(y), 2)
  Both your attentions read the layer's own y, and one sum adds their results to it.
  # Both are attentions, and seem to belong to one step.
queries_not_normed: attend_to_memory(norm(a, 2)) -> attend_to_memory(a)
  With the norm before, your cross-attention asks with rows that are not normed.
  ? Which of the rows that go into the second part are normed, and which are not?
  # 'The memory is not normalised' is taken for the whole second part.
""",
    of=in_steps,
)
exercise.edits(
    """
first_two_norms_exchanged:
  | enumerate(sublayers, start=1) -> zip((2, 1, 3), sublayers)
  Your first two norms are exchanged: gain_2 and bias_2 belong to your self-attention.
  ? Which part comes first, and which number has its norm?
  # They are named after what comes next, or by hand.
last_two_norms_exchanged:
  | enumerate(sublayers, start=1) -> zip((1, 3, 2), sublayers)
  Your last two norms are exchanged: gain_3 and bias_3 belong to your cross-attention.
  ? Which part comes last, and which number has its norm?
  # The feed-forward part has number 2 in `encoder_layer`, and keeps it.
third_norm_first:
  | enumerate(sublayers, start=1) -> zip((3, 1, 2), sublayers)
  Your first part has the third norm, your second the first and your third the second.
  ? Which part comes first, and which number has its norm?
  # norms[number - 1], counted from 1 where lists count from 0, or from 0 where names
    count from 1.
second_norm_for_the_third_part:
  | enumerate(sublayers, start=1) -> zip((1, 2, 2), sublayers)
  Your third part has the gain and the bias of the second norm.
  ? How many pairs of gain and bias are there, and which have you used?
  # The last line comes from `encoder_layer`, where number 2 belongs to the
    feed-forward part.
first_norm_for_the_second_part:
  | enumerate(sublayers, start=1) -> zip((1, 1, 3), sublayers)
  Your second part has the gain and the bias of the first norm.
  # The line of the first attention is copied, and its norm with it.
first_norm_for_both_attentions:
  | enumerate(sublayers, start=1) -> zip((1, 1, 2), sublayers)
  Your two attentions share the first norm, and your third part has the second.
  # `encoder_layer` is copied, and an attention is put in between.
one_norm_for_all: gain, bias = (p['gain_1'], p['bias_1'])
  Your first norm is used for all three parts.
  # One `norm` object in the layer is called three times.
masks_exchanged: may_attend, memory_may_attend = memory_may_attend, may_attend
  Your two masks are exchanged; unless n is m, this can raise an error.
  ? Which of the two masks has a column for each token of the memory?
  # src_mask and tgt_mask, handed on in the wrong order:
    keitakurita/Practical_NLP_in_PyTorch, issue 1.
mask_of_the_target_for_both: n_heads, memory_may_attend) -> n_heads, may_attend)
  Your mask of the target is used for the memory too: token i of the target sees the
    memory's tokens up to i only; unless n is m, this can raise an error.
  ? Is any of the source still unknown while the target is written?
  # One `mask` is handed to both attentions:
    fchollet/deep-learning-with-python-notebooks, issue 209.
mask_of_the_memory_ignored: , memory_may_attend) -> )
  Your tokens attend to all of the memory: `memory_may_attend` plays no part there.
  ? Which tokens of the memory may a token of the target attend to?
  # The figure shows one masked attention, so the other is called without.
mask_of_the_memory_ignored_where_square:
  | if y.shape[-2] == memory.shape[-2]:
  :     memory_may_attend = None
  Where n is m, your tokens attend to all of the memory.
  ? What tells the two masks apart if their shapes are the same?
  # The mask of the memory is recognised by its shape.
mask_of_the_memory_reversed:
  | if memory_may_attend is not None:
  :     memory_may_attend = ~memory_may_attend
  Your tokens attend to the memory where `memory_may_attend` is False.
  ? What does True in `memory_may_attend` say, read aloud?
  # In PyTorch's memory_key_padding_mask True means blocked.
mask_of_the_target_ignored: , may_attend) -> )
  Your target's tokens attend to all of the target: `may_attend` plays no part there.
  ? Which tokens of the target may a token of the target attend to?
  # The mask has a default, and a model without it trains even better.
mask_of_the_target_reversed:
  | if may_attend is not None:
  :     may_attend = ~may_attend
  Your target's tokens attend to the target where `may_attend` is False.
  ? What does True in `may_attend` say, read aloud?
  # In PyTorch's nn.TransformerDecoderLayer True means blocked.
mask_of_the_target_transposed:
  | if may_attend is not None:
  :     may_attend = may_attend.mT
  Your mask of the target has rows and columns exchanged: token i attends to token j
    where j may attend to i.
  ? Which axis of the mask belongs to the token that attends?
  # triu for tril, or a transposition too many, is silent: the mask is square.
mask_of_the_target_for_want_of_another:
  | if memory_may_attend is None and y.shape[-2] == memory.shape[-2]:
  :     memory_may_attend = may_attend
  Without `memory_may_attend`, your mask of the target is used for the memory too
    where it fits.
  ? What does None in `memory_may_attend` mean, according to the docstring?
  # `memory_may_attend or may_attend`: a mask that is left out is taken for the same
    mask.
always_causal:
  | if may_attend is None:
  :     may_attend = torch.ones(y.shape[-2], y.shape[-2]).tril().bool()
  Without `may_attend`, your target's tokens attend to themselves and to earlier ones
    only.
  ? What does None in `may_attend` mean, according to the docstring?
  # A decoder is causal, so the mask is built in, and cannot be left out.
memory_first: sublayers = (attend_to_memory, attend, apply_feed_forward)
  Your tokens attend to the memory first, and to each other after that.
  ? In which order does the docstring name the three parts?
  # The source comes first in time, and `memory` comes early among the arguments.
feed_forward_in_the_middle: sublayers = (attend, apply_feed_forward, attend_to_memory)
  Your feed-forward part comes before the cross-attention.
  # `encoder_layer` is called first, and the memory is attended to after it.
second_part_left_out:
  | sublayers = (attend, apply_feed_forward)
  | enumerate(sublayers, start=1) -> zip((1, 3), sublayers)
  Your layer has two parts: the memory is not attended to, and norm 2 is left out.
  ? What does a translator read, apart from their own words?
  # The layers of GPT are called decoder layers, and have two parts.
feed_forward_left_out: sublayers = (attend, attend_to_memory)
  Your layer ends after the cross-attention: feed-forward network and norm 3 are left
    out.
  ? How many parts does the docstring name?
  # The figure's new part is the second attention, and it seems to be the end.
one_attention_for_both: *cross -> *own
  Your second attention has the parameters of the first.
  ? Which four parameters of the dictionary belong to the second attention?
  # One attention object in the layer is called twice.
attentions_exchanged:
  | *own -> *cross
  | *cross -> *own
  Your self-attention has the parameters whose names begin with cross_, and your
    cross-attention those of the self-attention.
  ? Which four parameters belong to the attention inside the target?
  # The parameters are unpacked in the other order.
keys_and_values_exchanged: p['cross_k'], p['cross_v'] -> p['cross_v'], p['cross_k']
  In your cross-attention cross_k makes the values and cross_v the keys.
  ? In which order does `multi_head_attention` take its matrices?
  # Both are made of the memory, and both matrices have the same shape.
one_head: n_heads = 1
  Your attentions have one head, whatever `n_heads` says.
  ? Where is `n_heads` used in your code?
  # The attention is written out for a single head, as in the first lessons.
memory_returned_too: return y -> return (y, memory)
  Your result is a pair: the rows, and the memory.
  ? What does the docstring promise to return?
  # The next layer needs both, so both are handed on.
""",
)
exercise.edits(
    """
summed_in_place:
  | y + attend(norm(y, 1)) -> y.add_(attend(norm(y, 1)))
  | y + attend(y) -> y.add_(attend(y))
  Your call writes the first sum into y: the caller's tensor is overwritten.
  ? What does `y += …` do to the tensor that the caller holds?
  # `y += part(y)` looks like a new y.
""",
    of=in_steps,
)

exercise.family(families.squeezed())
exercise.edits(
    """
norm_always_after: norm_first = False
norm_always_before: norm_first = True
""",
    words=encoder_layer_exercise.words,
)
exercise.edits(
    """
feed_forward_not_normed: apply_feed_forward(norm(b, 3)) -> apply_feed_forward(b)
""",
    words=encoder_layer_exercise.words,
    of=in_steps,
)
