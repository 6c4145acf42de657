"""Cases and misconceptions of ``encoder_layer``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.functional import encoder_layer

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


def attended(x, w, n_heads, may_attend):
    """Return what the rows of x get from each other, in NumPy: this runs often."""
    q, k, v = (
        np.swapaxes((x @ each).reshape(*x.shape[:-1], n_heads, -1), -3, -2)
        for each in w[:3]
    )
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = np.where(may_attend[..., None, :, :], scores, -math.inf)
    # The largest of those that are not blocked; 0 in a row without any.
    largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)
    powers = np.exp(scores - largest)
    output = powers @ v / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
    output = np.swapaxes(output, -3, -2)
    return output.reshape(*output.shape[:-2], -1) @ w[3]


@exercise.variants
def variants(
    x,
    parameters,
    n_heads,
    may_attend=None,
    norm_first=False,
    *,
    order="attend 1, feed 2",
    norms="12",
    position="as told",
    around="norm(rows + part)",
    added="rows",
    not_normed="",
    reads="rows",
    mask="as it is",
    letters="qkvo",
    heads="n_heads",
    returns="a tensor like x",
    overwritten="nothing",
):
    p = {name: part.numpy() for name, part in parameters.items()}
    n = x.shape[-2]
    own = None if may_attend is None or mask == "ignored" else may_attend.numpy()
    if own is not None and mask in ("reversed", "transposed"):
        own = ~own if mask == "reversed" else np.swapaxes(own, -1, -2)
    if mask == "causal" or (mask == "causal without one" and own is None):
        own = np.tril(np.ones((n, n), dtype=bool)) & (own is None or own)
    first = {"after": False, "before": True, "exchanged": not norm_first}
    first = first.get(position, norm_first)
    w = [p[f"w_{letter}"] for letter in letters]
    rows = start = x.numpy().astype(float)
    sums = []

    def normed(x, number):
        number = norms[int(number) - 1]
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        x = centred / np.sqrt(variance + 1e-5)
        return x * p[f"gain_{number}"] + p[f"bias_{number}"]

    for part, number in (step.split() for step in order.split(", ")):
        inputs = start if reads == "x" else rows
        before = normed(inputs, number) if first and part != not_normed else inputs
        if part == "attend":
            result = attended(before, w, 1 if heads == "one" else n_heads, own)
        else:
            hidden = np.maximum(before @ p["w_1"] + p["b_1"], 0)
            result = hidden @ p["w_2"] + p["b_2"]
        if around == "neither sum nor norm":
            raw = attended(rows, w, n_heads, own) if part == "attend" else None
            if raw is None:
                raw = np.maximum(rows @ p["w_1"] + p["b_1"], 0) @ p["w_2"] + p["b_2"]
            rows = raw
            continue
        sums.append(start + result)
        old = {
            "nothing": 0,
            "nothing, norm first": 0 if first else rows,
            f"nothing around {part}": 0,
            "the result": result,
            "x": start,
            "x, norm after": rows if first else start,
            "x, norm first": start if first else rows,
            "normed rows": before,
            "normed rows around feed": before if part == "feed" else rows,
        }.get(added, rows)
        if first and around != "norm once more":
            rows = old + result
        elif around == "rows + norm(part)" and not first:
            rows = old + normed(result, number)
        elif around == "one norm" and part == "attend" and not first:
            rows = old + result
        else:
            rows = normed(old + result, number)
    if around == "norm at the end" and first:
        rows = normed(rows, 2)
    if overwritten == "x":
        x.copy_(torch.from_numpy(sums[0]))
    result = torch.from_numpy(rows).to(x.dtype)
    if returns == "two":
        return result, may_attend
    return result.numpy() if returns == "an array" else result


exercise.option(
    "one_norm_for_both",
    "Your first norm is used for both parts.",
    "How many pairs of gain and bias are there, and which have you used?",
    why="One `norm` object in the layer is called twice: self.norm(…) is short.",
    norms="11",
)
exercise.option(
    "second_norm_for_both",
    "Your second norm is used for both parts.",
    "How many pairs of gain and bias are there, and which have you used?",
    why="The line of the second part is copied, and its numbers with it.",
    norms="22",
)
exercise.option(
    "norms_exchanged",
    "Your two norms are exchanged: gain_2 and bias_2 belong to your first part.",
    "Which norm comes first, and which number does it have?",
    why="They are taken off a list from its end, or named after what comes next.",
    norms="21",
)
exercise.option(
    "norm_always_after",
    "Your norms stand after the sums whatever `norm_first` says.",
    "Where is `norm_first` used in your code?",
    why="The paper knows one order only, and its figure is what is copied.",
    position="after",
)
exercise.option(
    "norm_always_before",
    "Your norms stand before the parts whatever `norm_first` says.",
    "Where is `norm_first` used in your code?",
    why="The Annotated Transformer norms first 'for code simplicity': "
    "harvardnlp/annotated-transformer, issue 100.",
    position="before",
)
exercise.option(
    "norm_first_reversed",
    "Your norms stand before the parts where `norm_first` is False, and after the sums "
    "where it is True.",
    "What does `norm_first` say, read aloud?",
    why="The two branches of an `if` are exchanged.",
    position="exchanged",
)
exercise.option(
    "sum_after_the_norm",
    "With the norm after, you norm what a part gives and add x to that: "
    "x + norm(part(x)).",
    "What does the docstring put between the brackets of the norm?",
    why="harvardnlp/annotated-transformer, issue 110, proposes this order as the "
    "right one.",
    around="rows + norm(part)",
)
exercise.option(
    "first_norm_left_out",
    "With the norm after, your first sum is not normed.",
    "How many norms are there, and where does each stand?",
    why="Both sums are written first, and one norm at the end is thought to do.",
    around="one norm",
)
exercise.option(
    "norm_before_and_after",
    "With the norm before each part, you norm once more after its sum.",
    "How many norms does x pass on its way along the sums, if they stand before the "
    "parts?",
    why="Two popular formulas for the block are mixed into one.",
    around="norm once more",
)
exercise.option(
    "norm_at_the_end",
    "With the norm before, your result is normed once more at the end.",
    "With parameters of zero, what should come out if the norm stands before?",
    why="Pre-norm models do end in a norm: one after all layers, not in each.",
    around="norm at the end",
)
exercise.option(
    "attention_not_normed",
    "With the norm before, your attention reads rows that are not normed.",
    "How many norms are there, and where does each stand?",
    why="The first part gets x as it is, and the norm is put between the two parts.",
    not_normed="attend",
)
exercise.option(
    "feed_forward_not_normed",
    "With the norm before, your feed-forward part reads rows that are not normed.",
    "How many norms are there, and where does each stand?",
    why="Norms are thought to belong to attention.",
    not_normed="feed",
)
exercise.option(
    "nothing_carried_over",
    "Your layer has no residual connections: each part replaces its input.",
    "What is left of a token after a part whose parameters are all zero?",
    why="The sums hide in a wrapper: tensorflow/models, issue 7533, cannot find them.",
    added="nothing",
)
exercise.option(
    "result_added_to_itself",
    "Your residual connections add each part's result to itself, not to what went in.",
    "Which two things does a residual connection add, and which names have they in "
    "your code?",
    why="`x = part(x)`, and then `x = norm(x + x)`: what went in has lost its name.",
    added="the result",
)
exercise.option(
    "no_sum_with_the_norm_before",
    "With the norm before, each of your parts replaces its input: there are no "
    "residual connections.",
    "With parameters of zero, what should come out if the norm stands before?",
    why="x = part(norm(x)) seems complete: the sum stood inside the norm's brackets.",
    added="nothing, norm first",
)
exercise.option(
    "neither_sums_nor_norms",
    "Your layer has neither residual connections nor norms: it is the two parts alone.",
    "What stands around each sublayer in the docstring?",
    why="Attention and network are the parts with names of their own.",
    around="neither sum nor norm",
)
exercise.option(
    "only_the_first_sum",
    "Your feed-forward part replaces its input: it has no residual connection.",
    "How many sums does a layer have?",
    why="The second residual connection is easily overlooked in the figure.",
    added="nothing around feed",
)
exercise.option(
    "only_the_second_sum",
    "Your attention replaces its input: it has no residual connection.",
    "How many sums does a layer have?",
    why="What attention gives is taken for the new rows.",
    added="nothing around attend",
)
exercise.option(
    "input_of_the_layer_added_twice",
    "Your second sum adds the layer's own input, not what the first sum gave.",
    "What went into the feed-forward part?",
    why="One variable `inputs` for both sums: strutive07/transformer-tensorflow2.0, "
    "issue 14.",
    added="x",
)
exercise.option(
    "input_added_twice_with_the_norm_after",
    "With the norm after, your second sum adds the layer's own input, not what the "
    "first norm gave.",
    "Which rows go into the feed-forward part, and which are added to what it gives?",
    why="attended = norm(x + attend(x)) has a new name, and x is still at hand for "
    "the second line.",
    added="x, norm after",
)
exercise.option(
    "input_added_twice_with_the_norm_before",
    "With the norm before, your second sum adds the layer's own input, not what the "
    "first sum gave.",
    "Which rows does the second norm read, and which are added to the result of its "
    "part?",
    why="attended = x + attend(norm(x)) has a new name, and x is still at hand for "
    "the second line.",
    added="x, norm first",
)
exercise.option(
    "normed_rows_added",
    "With the norm before, you add the normed x and not x itself.",
    "With parameters of zero, what should come out if the norm stands before?",
    why="`x = norm(x)` gives the name x to the normed rows.",
    added="normed rows",
)
exercise.option(
    "normed_rows_added_in_the_second_sum",
    "With the norm before, your second sum adds the normed rows, not the rows "
    "themselves.",
    "With parameters of zero, what should come out if the norm stands before?",
    why="The normed rows have a name in the second line, and are taken for both.",
    added="normed rows around feed",
)
exercise.option(
    "parts_side_by_side",
    "Both your parts read the layer's input.",
    "Does the feed-forward part read x, or what the attention made of it?",
    why="Some later models (GPT-J, PaLM) do run both side by side.",
    reads="x",
)
exercise.option(
    "feed_forward_first",
    "Your feed-forward part comes first, then the attention.",
    "Which comes first: the neighbours, or the token itself?",
    why="The figure is read from the top; it runs upwards.",
    order="feed 1, attend 2",
)
exercise.option(
    "feed_forward_left_out",
    "Your layer ends after its first part: there is no feed-forward network.",
    "How many parts does the docstring name?",
    why="Attention is what the paper is about, and it seems to be all.",
    order="attend 1",
)
exercise.option(
    "may_attend_ignored",
    "All your tokens attend to all: `may_attend` plays no part.",
    "Which tokens may a token attend to?",
    why="The mask has a default and is left out of a call without anybody noticing.",
    mask="ignored",
)
exercise.option(
    "may_attend_reversed",
    "Your tokens attend where `may_attend` is False.",
    "What does True in `may_attend` say, read aloud?",
    why="In PyTorch's nn.TransformerEncoderLayer True means blocked.",
    mask="reversed",
)
exercise.option(
    "may_attend_transposed",
    "Your mask has rows and columns exchanged: token i attends to token j where j may "
    "attend to i.",
    "Which axis of the mask belongs to the token that attends?",
    why="A transposition is silent: the mask is square.",
    mask="transposed",
)
exercise.option(
    "attends_back_only",
    "Without `may_attend`, your tokens attend to themselves and to earlier ones only.",
    "What does None in `may_attend` mean, according to the docstring?",
    why="The decoder's causal mask is built into the attention, and so into the "
    "encoder.",
    mask="causal without one",
)
exercise.option(
    "always_causal",
    "Your tokens attend to no later ones, whatever `may_attend` says.",
    "Which tokens of the source may a token attend to, according to `may_attend`?",
    why="A decoder's causal mask is built into its attention, and easily copied along.",
    mask="causal",
)
exercise.option(
    "keys_and_values_exchanged",
    "Your keys are made with w_v and your values with w_k.",
    "In which order does `multi_head_attention` take its matrices?",
    why="All four matrices have the same shape, and any order runs.",
    letters="qvko",
)
exercise.option(
    "queries_and_keys_exchanged",
    "Your queries are made with w_k and your keys with w_q.",
    "In which order does `multi_head_attention` take its matrices?",
    why="All four matrices have the same shape, and any order runs.",
    letters="kqvo",
)
exercise.option(
    "one_head",
    "Your attention has one head, whatever `n_heads` says.",
    "Where is `n_heads` used in your code?",
    why="The attention is written out for a single head, as in the first lessons.",
    heads="one",
)
exercise.option(
    "array_returned",
    "Your result is a NumPy array, not a tensor.",
    "Which type does the docstring promise?",
    why="The layer is computed in NumPy, as in the first lessons.",
    returns="an array",
)
exercise.option(
    "mask_returned_too",
    "Your result is a pair: the rows, and the mask.",
    "What does the docstring promise to return?",
    why="The next layer needs both, so both are handed on.",
    returns="two",
)
exercise.option(
    "summed_in_place",
    "Your call writes the first sum into x: the caller's tensor is overwritten.",
    "What does `x += …` do to the tensor that the caller holds?",
    why="`x += part(x)` looks like a new x.",
    overwritten="x",
)
exercise.family(families.squeezed())
