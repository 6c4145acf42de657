"""Cases and misconceptions of ``decoder_layer``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.functional import (
    decoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
)

exercise = Exercise(
    decoder_layer,
    lesson="08_transformer",
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
    p = {name: part.numpy().astype(float) for name, part in parameters.items()}
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


def norm(rows, p, number):
    """Norm the rows of one sequence with the gain and the bias of that number."""
    normed = []
    for row in rows:
        centred = row - sum(row) / len(row)
        variance = sum(centred * centred) / len(row)
        normed.append(centred / math.sqrt(variance + 1e-5))
    return np.array(normed) * p[f"gain_{number}"] + p[f"bias_{number}"]


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


def feed_forward_sublayer(rows, p):
    """Send each row through the two layers of the feed-forward network."""
    return np.maximum(rows @ p["w_1"] + p["b_1"], 0.0) @ p["w_2"] + p["b_2"]


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


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


def tokens(rng, *shape, dtype=np.float32):
    """Draw tokens whose mean is not 0 and whose variance is not 1."""
    return tensor(2 * rng.normal(size=shape) + 1, dtype)


def some_blocked(rng, *shape):
    """Draw a mask with which every token may attend to at least one."""
    may_attend = rng.random(size=shape) < 0.5
    may_attend[..., 0] = ~may_attend[..., 1]
    return torch.from_numpy(may_attend)


def causal(n):
    """Return the mask in which a token may attend to itself and to earlier ones."""
    return torch.from_numpy(np.tril(np.ones((n, n), dtype=bool)))


@exercise.usual
def usual(rng):
    y, memory = tokens(rng, 2, 5, 12), tokens(rng, 2, 7, 12)
    return y, memory, drawn(rng), 3, causal(5), some_blocked(rng, 2, 5, 7)


@exercise.case("One token that attends to one, with the norm before, becomes (16, 35)")
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
    "With the norm after each sum, five tokens that attend to seven give this"
)
def norm_after(student, rng):
    y, memory = tokens(rng, 2, 5, 6), tokens(rng, 2, 7, 6)
    student.agrees(y, memory, drawn(rng, 6), 3, causal(5), some_blocked(rng, 2, 5, 7))


@exercise.case("With the norm before each part, they give this")
def norm_before(student, rng):
    y, memory = tokens(rng, 2, 5, 6), tokens(rng, 2, 7, 6)
    masks = causal(5), some_blocked(rng, 2, 5, 7)
    student.agrees(y, memory, drawn(rng, 6), 3, *masks, norm_first=True)


@exercise.case(
    "With parameters of zero and the norm before, y comes through unchanged",
    pays_alone=False,
)
def nothing_added(student, rng):
    y, memory = tokens(rng, 3, 4), tokens(rng, 5, 4)
    student.expect(student(y, memory, silent(rng, 4), 2, None, None, True), y)


@exercise.case("With parameters of zero and the norm after, y is normed three times")
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


@exercise.case("With as many tokens there as here, each mask stays with its attention")
def as_many_there_as_here(student, rng):
    # Here either mask fits either attention, and either tensor's tokens fit both.
    y, memory = tokens(rng, 4, 4), tokens(rng, 4, 4)
    padding = torch.from_numpy(np.tile([True, True, True, False], (4, 1)))
    student.agrees(y, memory, drawn(rng, 4, 4), 2, causal(4), padding)


@exercise.case("Without masks all tokens attend to all, in any batch")
def leading_axes(student, rng):
    parameters = drawn(rng, 4, 5)
    student.agrees(tokens(rng, 3, 4), tokens(rng, 5, 4), parameters, 2)
    y, memory = tokens(rng, 2, 2, 3, 4), tokens(rng, 2, 2, 2, 4)
    student.agrees(y, memory, parameters, 2, norm_first=True)


@exercise.case(
    "A memory whose tokens are permuted, with their mask, gives the same result",
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


@exercise.case("In float64 all digits are right")
def double_precision(student, rng):
    may_attend = some_blocked(rng, 3, 5)
    y, memory = (tokens(rng, rows, 4, dtype=np.float64) for rows in (3, 5))
    parameters = drawn(rng, 4, dtype=np.float64)
    student.agrees(y, memory, parameters, 2, causal(3), may_attend, True)


@exercise.case("`y`, the memory, the parameters and the masks stay as they are")
def arguments_stay(student, rng):
    y, memory, parameters = tokens(rng, 3, 4), tokens(rng, 5, 4), drawn(rng, 4)
    masks = some_blocked(rng, 3, 3), some_blocked(rng, 3, 5)
    student.leaves_unchanged(y, memory, parameters, 2, *masks)


def attention_with(parameters, prefix, n_heads):
    """Return `attend(rows, there, may_attend)` with the parameters of that prefix."""
    projections = [parameters[prefix + name] for name in "qkvo"]

    def attend(rows, there, may_attend):
        return multi_head_attention(rows, there, *projections, n_heads, may_attend)

    return attend


def parts_of(memory, parameters, n_heads, may_attend, memory_may_attend):
    """Return the three parts, right, as functions of the rows."""
    p = parameters
    own = attention_with(p, "w_", n_heads)
    cross = attention_with(p, "cross_", n_heads)
    return [
        lambda rows: own(rows, rows, may_attend),
        lambda rows: cross(rows, memory, memory_may_attend),
        lambda rows: feed_forward(rows, p["w_1"], p["b_1"], p["w_2"], p["b_2"]),
    ]


def norms_of(parameters, numbers=(1, 2, 3)):
    """Return the norms of these numbers as functions of the rows."""

    def of(number):
        gain, bias = parameters[f"gain_{number}"], parameters[f"bias_{number}"]
        return lambda rows: layer_norm(rows, gain, bias)

    return [of(number) for number in numbers]


def put_together(y, parts, norms, norm_first):
    """Put parts and norms together rightly, one pair after the other."""
    for part, normed in zip(parts, norms, strict=True):
        y = y + part(normed(y)) if norm_first else normed(y + part(y))
    return y


@exercise.misconception(
    "Your cross-attention attends to the target again: the memory plays no part in "
    "your numbers.",
    "From which tokens should the keys and values of the second part be made?",
    why="The first attention is copied, and its x, x stays: the popular decoder "
    "without the encoder's keys and values.",
)
def memory_not_attended_to(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    attend, _, feed = parts_of(memory, p, n_heads, may_attend, None)
    cross = attention_with(p, "cross_", n_heads)
    parts = [attend, lambda rows: cross(rows, rows, may_attend), feed]
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your cross-attention attends to the target again, with the memory's mask; unless "
    "n is m or that mask is None, it stops.",
    "From which tokens should the keys and values of the second part be made?",
    why="The call is copied, and only its parameters and its mask are changed.",
)
def target_again_with_the_mask_of_the_memory(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    attend, _, feed = parts_of(memory, p, n_heads, may_attend, None)
    cross = attention_with(p, "cross_", n_heads)
    parts = [attend, lambda rows: cross(rows, rows, memory_may_attend), feed]
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your cross-attention attends to the target again, to all of it: the memory plays "
    "no part, and the future leaks.",
    "What does cross-attention attend to, and which mask belongs to that?",
    why="The popular decoder's formula has neither the memory nor a mask in its outer "
    "attention.",
)
def target_again_without_a_mask(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    attend, _, feed = parts_of(memory, p, n_heads, may_attend, None)
    cross = attention_with(p, "cross_", n_heads)
    parts = [attend, lambda rows: cross(rows, rows, None), feed]
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your cross-attention replaces its input; only the other two parts have "
    "residual connections.",
    "What is left of the target's own tokens after they have attended to the memory?",
    why="What attention fetches from the source is taken for the new rows: y = "
    "norm(attention(y, memory)).",
)
def no_sum_around_the_second_part(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    norms = norms_of(p)
    y = put_together(y, parts[:1], norms[:1], norm_first)
    y = parts[1](norms[1](y)) if norm_first else norms[1](parts[1](y))
    return put_together(y, parts[2:], norms[2:], norm_first)


@exercise.misconception(
    "Your second norm is used for the third part too; gain_3 and bias_3 play no part.",
    "How many pairs of gain and bias are there, and which have you used?",
    why="The last line comes from `encoder_layer`, where number 2 belongs to the "
    "feed-forward part.",
)
def second_norm_for_the_third_part(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, parts, norms_of(p, (1, 2, 2)), norm_first)


@exercise.misconception(
    "Your norms stand after the sums whatever `norm_first` says.",
    "Where is `norm_first` used in your code?",
    why="The paper knows one order only, and its figure is what is copied.",
)
def norm_always_after(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, parts, norms_of(p), False)


@exercise.misconception(
    "Your first norm is used for all three parts.",
    "How many pairs of gain and bias are there, and which have you used?",
    why="One `norm` object in the layer is called three times.",
)
def one_norm_for_all(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, parts, norms_of(p, (1, 1, 1)), norm_first)


@exercise.misconception(
    "Your two masks are exchanged; unless n is m, that stops.",
    "Which of the two masks has a column for each token of the memory?",
    why="src_mask and tgt_mask, handed on in the wrong order: "
    "keitakurita/Practical_NLP_in_PyTorch, issue 1.",
)
def masks_exchanged(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, memory_may_attend, may_attend)
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your mask of the target is used for the memory too: token i of the target sees "
    "the memory's tokens up to i only; unless n is m, that stops.",
    "Is any of the source still unknown while the target is written?",
    why="One `mask` is handed to both attentions: fchollet/"
    "deep-learning-with-python-notebooks, issue 209.",
)
def mask_of_the_target_for_both(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, may_attend)
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your tokens attend to all of the memory: `memory_may_attend` plays no part.",
    "Which of the arguments does your code never hand on?",
    why="The figure shows one masked attention, so the other is called without.",
)
def mask_of_the_memory_ignored(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, None)
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your target's tokens attend to all of the target: `may_attend` plays no part.",
    "Which of the arguments does your code never hand on?",
    why="The mask has a default, and a model without it trains even better.",
)
def mask_of_the_target_ignored(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, None, memory_may_attend)
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Without `may_attend`, your target's tokens attend to themselves and to earlier "
    "ones only.",
    "What does None in `may_attend` mean, according to the docstring?",
    why="A decoder is causal, so the mask is built in, and cannot be left out.",
)
def always_causal(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    if may_attend is None:
        n = y.shape[-2]
        may_attend = torch.ones(n, n, dtype=torch.bool).tril()
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "With the norm before, your memory is normed too, with gain_2 and bias_2.",
    "What does the docstring say about the memory, in both orders?",
    why="norm(queries), norm(keys), norm(values): lucidrains/vit-pytorch, issue 287, "
    "asks why not.",
)
def memory_normed(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    norms = norms_of(p)
    there = norms[1](memory) if norm_first else memory
    parts = parts_of(there, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, parts, norms, norm_first)


@exercise.misconception(
    "Your memory attends to the target; unless n is m, that stops.",
    "Which tokens give the queries here, and which the keys?",
    why="'Queries from the encoder' stands in print: humza909/LLM_Survey, issue 2.",
)
def memory_attends(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    attend, _, feed = parts_of(memory, p, n_heads, may_attend, None)
    cross = attention_with(p, "cross_", n_heads)
    parts = [attend, lambda rows: cross(memory, rows, memory_may_attend), feed]
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your tokens attend to the memory first, and to each other after that.",
    "In which order does the docstring name the three parts?",
    why="The source comes first in time, and `memory` comes early among the arguments.",
)
def memory_first(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    attend, cross, feed = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, (cross, attend, feed), norms_of(p), norm_first)


@exercise.misconception(
    "Your second attention has the parameters of the first.",
    "Which four parameters of the dictionary have you not used?",
    why="One attention object in the layer is called twice.",
)
def one_attention_for_both(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    same = p | {f"cross_{name}": p[f"w_{name}"] for name in "qkvo"}
    parts = parts_of(memory, same, n_heads, may_attend, memory_may_attend)
    return put_together(y, parts, norms_of(p), norm_first)


@exercise.misconception(
    "Your layer has two parts: the memory is not attended to, and norm 2 is left out.",
    "What does a translator read, apart from their own words?",
    why="The layers of GPT are called decoder layers, and have two parts.",
)
def second_part_left_out(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    attend, _, feed = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    return put_together(y, (attend, feed), norms_of(p, (1, 3)), norm_first)


@exercise.misconception(
    "With the norm after, you norm what a part gives and add y to that: "
    "y + norm(part(y)).",
    "What does `encoder_layer`'s docstring put between the brackets of the norm?",
    why="x + norm(attention): keitakurita/Practical_NLP_in_PyTorch, issue 1, shows it.",
)
def sum_after_the_norm(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    for part, normed in zip(parts, norms_of(p), strict=True):
        y = y + (part(normed(y)) if norm_first else normed(part(y)))
    return y


@exercise.misconception(
    "With the norm before, you add the normed y and not y itself.",
    "With parameters of zero, what should come out if the norm stands before?",
    why="`y = norm(y)` gives the name y to the normed rows.",
)
def normed_rows_added(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    for part, normed in zip(parts, norms_of(p), strict=True):
        rows = normed(y) if norm_first else y
        y = rows + part(rows)
        y = y if norm_first else normed(y)
    return y


@exercise.misconception(
    "Your result is right, but the first sum is written into y.",
    "What does `y += …` do to the tensor that the caller holds?",
    why="`y += part(y)` looks like a new y.",
)
def summed_in_place(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    parts = parts_of(memory, p, n_heads, may_attend, memory_may_attend)
    norms = norms_of(p)
    y += parts[0](norms[0](y) if norm_first else y)
    y = y if norm_first else norms[0](y)
    return put_together(y, parts[1:], norms[1:], norm_first)
