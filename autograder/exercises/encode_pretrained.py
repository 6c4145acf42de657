"""Cases and misconceptions of ``encode_pretrained``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.pretrained import encode_pretrained

exercise = Exercise(
    encode_pretrained,
    lesson="13_inside_the_heads",
    minutes=20,
    difficulty=3,
    uses=("layer_norm",),
    library=(
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerEncoder",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch._native_multi_head_attention",
        "torch._transformer_encoder_layer_fwd",
        "transformers.BertModel",
        "course_lib.nn.layers.EncoderLayer",
        "course_lib.nn.layers.TransformerLayer",
        "course_lib.nn.pretrained.encode_with_heads",
    ),
)


@exercise.spec
def spec(token_ids, parameters, n_heads, may_attend=None):
    p = {name: values.numpy().astype(float) for name, values in parameters.items()}
    words = p["embeddings.word_embeddings.weight"]
    n = token_ids.shape[-1]
    if may_attend is None:
        may_attend = torch.ones(n, n, dtype=torch.bool)
    mask = np.broadcast_to(may_attend.numpy(), (*token_ids.shape, n))
    result = np.zeros((*token_ids.shape, words.shape[1]))
    for batch in np.ndindex(*token_ids.shape[:-1]):
        rows = np.zeros((n, words.shape[1]))
        for position, token_id in enumerate(token_ids[batch].tolist()):
            rows[position] += words[token_id]
            rows[position] += p["embeddings.position_embeddings.weight"][position]
            rows[position] += p["embeddings.token_type_embeddings.weight"][0]
        rows, i = norm(rows, p, "embeddings"), 0
        while f"encoder.layer.{i}.output.dense.weight" in p:
            rows = layer(rows, p, f"encoder.layer.{i}", n_heads, mask[batch])
            i += 1
        result[batch] = rows
    dtype = parameters["embeddings.word_embeddings.weight"].dtype
    return torch.from_numpy(result).to(dtype)


def norm(rows, p, name):
    """Norm the rows of one sequence."""
    normed = []
    for row in rows:
        centred = row - sum(row) / len(row)
        variance = sum(centred * centred) / len(row)
        normed.append(centred / math.sqrt(variance + 1e-12))
    gain, bias = p[f"{name}.LayerNorm.weight"], p[f"{name}.LayerNorm.bias"]
    return np.array(normed) * gain + bias


def linear(rows, p, name):
    """Send rows through a linear map: each output is a row of the weight, plus bias."""
    weight, bias = p[f"{name}.weight"], p[f"{name}.bias"]
    return np.array([[out @ row for out in weight] for row in rows]) + bias


def layer(rows, p, name, n_heads, may_attend):
    """Apply one layer to the rows of one sequence."""
    q, k, v = (
        linear(rows, p, f"{name}.attention.self.{part}")
        for part in ("query", "key", "value")
    )
    n, d_model = rows.shape
    d_k, joined = d_model // n_heads, np.zeros((n, d_model))
    for h in range(n_heads):
        own = slice(h * d_k, (h + 1) * d_k)
        for i in range(n):
            allowed = [j for j in range(n) if may_attend[i, j]]
            scores = [q[i, own] @ k[j, own] / math.sqrt(d_k) for j in allowed]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j, power in zip(allowed, powers, strict=True):
                joined[i, own] += power / sum(powers) * v[j, own]
    attended = linear(joined, p, f"{name}.attention.output.dense")
    rows = norm(rows + attended, p, f"{name}.attention.output")
    hidden = linear(rows, p, f"{name}.intermediate.dense")
    for index, number in np.ndenumerate(hidden):
        hidden[index] = number * (1 + math.erf(number / math.sqrt(2))) / 2
    return norm(rows + linear(hidden, p, f"{name}.output.dense"), p, f"{name}.output")


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def ids(rng, *shape):
    """Draw token ids."""
    return torch.from_numpy(rng.integers(0, VOCAB_SIZE, size=shape))


VOCAB_SIZE, N_POSITIONS = 11, 9
SQUARE = ("query", "key", "value")


def drawn(rng, n_layers=2, d_model=12, d_ff=10, dtype=np.float32, more=False):
    """Draw the parameters of a small encoder, in random order, as a file has them."""
    made = {}

    def draw_linear(name, d_out, d_in):
        made[f"{name}.weight"] = rng.normal(size=(d_out, d_in)) / math.sqrt(d_in)
        made[f"{name}.bias"] = rng.normal(size=d_out)

    def draw_norm(name):
        made[f"{name}.LayerNorm.weight"] = 1 + 0.5 * rng.normal(size=d_model)
        made[f"{name}.LayerNorm.bias"] = 0.5 * rng.normal(size=d_model)

    for table, rows in zip(TABLES, (VOCAB_SIZE, N_POSITIONS, 2), strict=True):
        made[f"embeddings.{table}_embeddings.weight"] = rng.normal(size=(rows, d_model))
    draw_norm("embeddings")
    for i in range(n_layers):
        prefix = f"encoder.layer.{i}"
        for part in SQUARE:
            draw_linear(f"{prefix}.attention.self.{part}", d_model, d_model)
        draw_linear(f"{prefix}.attention.output.dense", d_model, d_model)
        draw_linear(f"{prefix}.intermediate.dense", d_ff, d_model)
        draw_linear(f"{prefix}.output.dense", d_model, d_ff)
        draw_norm(f"{prefix}.attention.output")
        draw_norm(f"{prefix}.output")
    if more:
        draw_linear("pooler.dense", d_model, d_model)
    names = [*made]
    rng.shuffle(names)
    return {name: tensor(made[name], dtype) for name in names}


def some_blocked(rng, *shape):
    """Draw a mask with which every token may attend to at least one."""
    may_attend = rng.random(size=shape) < 0.5
    may_attend[..., 0] = ~may_attend[..., 1]
    return torch.from_numpy(may_attend)


@exercise.usual
def usual(rng):
    return ids(rng, 2, 5), drawn(rng), 3, some_blocked(rng, 2, 5, 5)


@exercise.case("Two tokens of two numbers go through one layer and become this")
def small_example_by_hand(student, rng):
    p = {f"embeddings.{name}_embeddings.weight": [[0, 0]] * 2 for name in TABLES}
    p["embeddings.word_embeddings.weight"] = [[3, 1], [5, 9]]
    same, nothing = np.eye(2), [0, 0]
    name = "encoder.layer.0"
    for part, (weight, bias) in {
        "attention.self.query": (0 * same, nothing),
        "attention.self.key": (0 * same, nothing),
        "attention.self.value": (same, [4, 0]),
        "attention.output.dense": (same, nothing),
        "intermediate.dense": ([[1, 0], [1, 0], [0, 1]], [97, -3, -100]),
        "output.dense": ([[0.05, 5, 5], [0.01, 7, 7]], nothing),
    }.items():
        p |= {f"{name}.{part}.weight": weight, f"{name}.{part}.bias": bias}
    for part, gain, bias in (
        ("embeddings", [1, 1], nothing),
        (f"{name}.attention.output", [1, 1], [2, 1]),
        (f"{name}.output", [2, 3], [0.5, 0.25]),
    ):
        p |= {f"{part}.LayerNorm.weight": gain, f"{part}.LayerNorm.bias": bias}
    # Normed: (1, −1) and (−1, 1), of which all attend to the mean: (0, 0) + (4, 0).
    # The sums (5, −1) and (3, 1) are normed to (1, −1) + (2, 1) = (3, 0). The hidden
    # 100, 0, −100 become 100, 0, 0, and these (5, 1): (8, 1) is normed to (1, −1).
    parameters = {each: tensor(values) for each, values in p.items()}
    result = student(torch.tensor([0, 1]), parameters, 1)
    student.expect(result, tensor([[2.5, -2.75]] * 2))
    student.agrees(ids(rng, 4), drawn(rng, 1, 4, 3), 2)


@exercise.case("A batch of sequences, each with a mask, goes through two layers")
def batch_with_masks(student, rng):
    arguments = ids(rng, 2, 5), drawn(rng, 2, 6), 3
    student.agrees(*arguments, some_blocked(rng, 2, 5, 5))
    arguments = ids(rng, 3, 4), drawn(rng, 2, 6, more=True), 2
    student.agrees(*arguments, some_blocked(rng, 3, 1, 4))


@exercise.case("There are as many layers as the parameters have, 11 for example")
def number_of_layers(student, rng):
    may_attend = some_blocked(rng, 3, 3)
    student.agrees(ids(rng, 3), drawn(rng, 11, 4, 3), 2, may_attend)
    student.agrees(ids(rng, 3), drawn(rng, 3, 4, 5), 1)


@exercise.case("Without `may_attend` all tokens attend to all, in any batch")
def leading_axes(student, rng):
    parameters = drawn(rng, 1, 6, 5)
    student.agrees(ids(rng, 4), parameters, 3)
    student.agrees(ids(rng, 2, 2, 3), parameters, 2)
    student.agrees(ids(rng, 1, 1), parameters, 2)


@exercise.case("Where all sizes are 4, nothing that is turned round shows in a shape")
def all_sizes_equal(student, rng):
    causal = torch.from_numpy(np.tri(4) > 0)
    student.agrees(ids(rng, 4), drawn(rng, 2, 4, 4), 4, causal)
    student.agrees(ids(rng, 4, 4), drawn(rng, 1, 4, 4), 2, causal)
    student.agrees(ids(rng, 4, 4), drawn(rng, 1, 4, 4), 4, some_blocked(rng, 4, 4, 4))


@exercise.case("In float64 all digits are right: those of GELU, and those of eps")
def double_precision(student, rng):
    arguments = ids(rng, 2, 5), drawn(rng, 2, 6, 5, np.float64), 2
    student.agrees(*arguments, some_blocked(rng, 2, 5, 5))


@exercise.case("Tokens of tiny numbers are normed, and one of zeros becomes the bias")
def tiny_embeddings(student, rng):
    parameters = drawn(rng, 1, 6, 5)
    for table in TABLES:
        parameters[f"embeddings.{table}_embeddings.weight"] /= 1000
    may_attend = some_blocked(rng, 5, 5)
    student.agrees(ids(rng, 5), parameters, 3, may_attend)
    parameters["embeddings.token_type_embeddings.weight"][0] = 0.0
    parameters["embeddings.position_embeddings.weight"][2] = 0.0
    parameters["embeddings.word_embeddings.weight"][7] = 0.0
    student.agrees(torch.tensor([3, 1, 7, 1, 9]), parameters, 3, may_attend)


@exercise.case("The same token again and again: its positions tell them apart")
def same_token_everywhere(student, rng):
    parameters = drawn(rng, 1, 6, 5)
    token_ids = torch.from_numpy(np.full((2, N_POSITIONS), rng.integers(VOCAB_SIZE)))
    student.agrees(
        token_ids, parameters, 2, some_blocked(rng, N_POSITIONS, N_POSITIONS)
    )


@exercise.case("The parameters, the token ids and `may_attend` are not modified")
def arguments_stay(student, rng):
    arguments = ids(rng, 2, 4), drawn(rng, 1, 6, 5), 3, some_blocked(rng, 2, 4, 4)
    student.leaves_unchanged(*arguments)
    student.leaves_unchanged(ids(rng, N_POSITIONS), drawn(rng, 1, 6, 5), 2)


@exercise.case(
    "Tokens that nobody may attend to change nothing in the others", visible=False
)
def padding_changes_nothing(student, rng):
    parameters, token_ids = drawn(rng, 2, 6, 5), ids(rng, 2, 7)
    may_attend = torch.ones(2, 1, 7, dtype=torch.bool)
    may_attend[0, 0, 4:] = False
    student.agrees(token_ids, parameters, 3, may_attend)
    padded = student(token_ids, parameters, 3, may_attend)
    alone = student(token_ids[0, :4], parameters, 3)
    student.expect(padded[0, :4], alone, what="the first four tokens, with padding")


TABLES = ("word", "position", "token_type")


def gelu(x, kind):
    """Return the exact GELU, or what is taken for it."""
    if kind == "relu":
        return x.relu()
    if kind == "tanh":
        return x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2
    if kind == "sigmoid":
        return x * torch.sigmoid(1.702 * x)
    if kind == "silu":
        return x * torch.sigmoid(x)
    if kind == "none":
        return x
    return x * (1 + torch.erf(x / 2**0.5)) / 2


@exercise.variants
def variants(
    token_ids,
    parameters,
    n_heads,
    may_attend=None,
    *,
    type_row="0",
    positions="from 0",
    words="as they are",
    embeddings_norm="there",
    eps=1e-12,
    matrices="transposed",
    biases="all",
    activation="gelu",
    norms="after each sum",
    names_of_norms="as in the file",
    added="x",
    letters=("query", "key", "value"),
    heads="n_heads",
    scale="d_k",
    joined="side by side",
    w_o="used",
    mask="as it is",
    layers="all, by number",
    returns="last vectors",
    overwritten="nothing",
):
    dtype = parameters["embeddings.word_embeddings.weight"].dtype
    p = {name: values.double() for name, values in parameters.items()}
    n = token_ids.shape[-1]

    def apply_linear(x, name):
        weight, bias = p[f"{name}.weight"], p[f"{name}.bias"]
        square = weight.shape[0] == weight.shape[1]
        if matrices == "transposed" or (matrices == "others" and not square):
            weight = weight.T
        x = x @ weight
        in_attention = ".attention." in name
        if biases == "none" or (biases == "network" and in_attention):
            return x
        return x if biases == "attention" and not in_attention else x + bias

    def apply_norm(x, name):
        if names_of_norms == "exchanged" and name.startswith("encoder"):
            first = name.endswith(".attention.output")
            name = name.replace(".attention.output", ".output")
            name = name if first else name.replace(".output", ".attention.output")
        if names_of_norms == "first" and name.startswith("encoder"):
            name = name.replace(".attention.output", ".output")
            name = name.replace(".output", ".attention.output")
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = (centred**2).mean(dim=-1, keepdim=True)
        normed = centred / torch.sqrt(variance + eps)
        return normed * p[f"{name}.LayerNorm.weight"] + p[f"{name}.LayerNorm.bias"]

    x = p["embeddings.word_embeddings.weight"][token_ids]
    d_model = x.shape[-1]
    x = x * d_model**0.5 if words == "scaled" else x
    if positions != "none":
        start = {"from 0": 0, "from 1": 1}[positions]
        x = x + p["embeddings.position_embeddings.weight"][start : start + n]
    if type_row == "both":
        x = x + p["embeddings.token_type_embeddings.weight"].sum(0)
    elif type_row != "none":
        x = x + p["embeddings.token_type_embeddings.weight"][int(type_row)]
    if overwritten == "positions":
        positions_now = parameters["embeddings.position_embeddings.weight"]
        positions_now[:n] += parameters["embeddings.token_type_embeddings.weight"][0]
    x = apply_norm(x, "embeddings") if embeddings_norm == "there" else x

    own = None if may_attend is None or mask == "ignored" else may_attend
    if own is not None and mask == "reversed":
        own = ~own
    heads_axis = {"heads second": 1, "without heads": 0}.get(mask, -3)
    if own is not None and mask == "transposed":
        own = own.expand(*own.shape[:-2], n, n).transpose(-1, -2)
    if mask == "causal" and own is None:
        own = torch.ones(n, n, dtype=torch.bool).tril()

    n_heads = 1 if heads == "one" else n_heads
    d_k = d_model // n_heads

    def split(x):
        if heads == "interleaved":
            return x.unflatten(-1, (d_k, n_heads)).transpose(-1, -2).transpose(-3, -2)
        return x.unflatten(-1, (n_heads, d_k)).transpose(-3, -2)

    def attend(x, name):
        q, k, v = (split(apply_linear(x, f"{name}.self.{each}")) for each in letters)
        below = {"d_k": d_k, "d_model": d_model, "none": 1}[scale]
        scores = q @ k.transpose(-1, -2) / below**0.5
        if own is not None:
            fits = own.unsqueeze(heads_axis) if heads_axis else own
            scores = scores.masked_fill(~fits, -1e300)
        powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        output = powers @ v / powers.sum(dim=-1, keepdim=True)
        if joined == "reshaped":
            output = output.reshape(*output.shape[:-3], n, d_model)
        else:
            output = output.transpose(-3, -2).flatten(-2)
        return (
            output
            if w_o == "left out"
            else apply_linear(output, f"{name}.output.dense")
        )

    def feed(x, name):
        hidden = gelu(apply_linear(x, f"{name}.intermediate.dense"), activation)
        return apply_linear(hidden, f"{name}.output.dense")

    def sublayer(x, function, name, norm_name):
        residual = {"nothing": 0, "what entered the layer": entered}.get(added, x)
        if norms == "before":
            return residual + function(apply_norm(x, norm_name), name)
        if norms == "of the sublayer":
            return residual + apply_norm(function(x, name), norm_name)
        return apply_norm(residual + function(x, name), norm_name)

    n_layers = sum(name.endswith("self.query.weight") for name in p)
    by_text = sorted(range(n_layers), key=str)
    queries = (name for name in p if name.endswith("self.query.weight"))
    in_file = [int(name.split(".")[2]) for name in queries]
    numbers = {
        "as text": by_text,
        "as in the file": in_file,
        "first": [0],
        "first, again and again": [0] * n_layers,
        "all but the last": range(n_layers - 1),
        "all but the first": range(1, n_layers),
        "last first": range(n_layers)[::-1],
        "none": (),
    }.get(layers, range(n_layers))
    every = [x]
    for i in numbers:
        name, entered = f"encoder.layer.{i}", x
        x = sublayer(x, attend, f"{name}.attention", f"{name}.attention.output")
        x = sublayer(x, feed, name, f"{name}.output")
        every.append(x)
        own = None if mask == "in the first layer" else own
    result = {
        "first token": lambda: x[..., 0, :],
        "mean": lambda: x.mean(dim=-2),
        "of length 1": lambda: x / x.norm(dim=-1, keepdim=True),
        "all layers": lambda: torch.stack(every, dim=-3),
    }.get(returns, lambda: x)()
    return result.to(dtype)


exercise.option(
    "token_types_left_out",
    "Your tokens have no token type: that table plays no part.",
    "How many rows are summed for each token, according to the docstring?",
    why="All tokens have type 0 here, and what is the same for all seems idle.",
    type_row="none",
)
exercise.option(
    "token_type_one",
    "Your tokens are of type 1.",
    "Which row of the table of token types does a single sentence have?",
    why="Types are thought to be counted from 1; row 1 is that of a second sentence.",
    type_row="1",
)
exercise.option(
    "both_token_types",
    "Your tokens get both rows of the table of token types.",
    "How many types does one token have?",
    why="The table has two rows only, and its sum has the right shape.",
    type_row="both",
)
exercise.option(
    "positions_left_out",
    "Your tokens have no positions.",
    "What tells your encoder that two sentences of the same words differ?",
    why="In the layers nothing needs them, and every shape fits without.",
    positions="none",
)
exercise.option(
    "positions_from_one",
    "Your first token has the position in row 1.",
    "Which row of the table of positions belongs to the first token?",
    why="RoBERTa's positions begin at row 2: huggingface/transformers, "
    "create_position_ids_from_input_ids.",
    positions="from 1",
)
exercise.option(
    "words_times_root_of_d_model",
    "Your word embeddings are multiplied by √d_model.",
    "Which factor does the docstring put in front of a token's own row?",
    why="The paper of the Transformer does so, and lesson 09 too; BERT does not.",
    words="scaled",
)
exercise.option(
    "embeddings_not_normed",
    "Your sum of embeddings goes into the first layer without a norm.",
    "What comes between the sum of the three rows and the first layer?",
    why="The Transformer of 2017 has no norm there.",
    embeddings_norm="missing",
)
exercise.option(
    "eps_of_pytorch",
    "Your norms have an eps of 1e-5.",
    "Which eps do these norms have, and which does `layer_norm` take by itself?",
    why="It is the default of layer_norm and nn.LayerNorm, and right to five digits.",
    eps=1e-5,
)
exercise.option(
    "eps_left_out",
    "Your norms have no eps.",
    "What would a token of equal numbers become?",
    why="1e-12 looks like nothing.",
    eps=0.0,
)
exercise.option(
    "matrices_not_transposed",
    "Your linear maps are x @ weight, with the weights as they are in the file.",
    "Which axis of a weight in the file is as long as what comes in?",
    why="In this course a matrix is (in, out); in PyTorch's files it is (out, in).",
    matrices="as they are",
)
exercise.option(
    "square_matrices_not_transposed",
    "Your linear maps take the square matrices as they are, and turn the others only.",
    "Which of the file's matrices are (out, in), and can you see it in their shape?",
    why="Matrices that are not square raise an error until they are transposed; the "
    "others run either way.",
    matrices="others",
)
exercise.option(
    "biases_left_out",
    "Your linear maps have no biases.",
    "How many parameters does a linear map have in the file?",
    why="x @ weight.T is the formula of the paper.",
    biases="none",
)
exercise.option(
    "attention_without_biases",
    "The linear maps of your attention have no biases.",
    "How many parameters does a linear map have in the file?",
    why="The attention of lesson 09 has none, its feed-forward network has.",
    biases="network",
)
exercise.option(
    "network_without_biases",
    "The linear maps of your feed-forward network have no biases.",
    "How many parameters does a linear map have in the file?",
    why="They are added in one helper, and forgotten where it is not used.",
    biases="attention",
)
exercise.option(
    "relu",
    "Your feed-forward network has a ReLU between its linear maps.",
    "Which function does the docstring put between the two linear maps?",
    why="The Transformer of 2017 has a ReLU.",
    activation="relu",
)
exercise.option(
    "gelu_by_tanh",
    "Your GELU is the approximation with tanh.",
    "Is your GELU exact, x times the normal distribution's Φ(x)?",
    why="GPT-2 has it, and so had the first code of BERT.",
    activation="tanh",
)
exercise.option(
    "gelu_by_sigmoid",
    "Your GELU is the approximation x σ(1.702 x).",
    "Is your GELU exact, x times the normal distribution's Φ(x)?",
    why="The paper of the GELU proposes it as a faster one.",
    activation="sigmoid",
)
exercise.option(
    "silu",
    "Your feed-forward network has x σ(x) between its linear maps.",
    "Is σ the function in x Φ(x)?",
    why="SiLU looks like GELU, and today's models have it.",
    activation="silu",
)
exercise.option(
    "no_activation",
    "Your feed-forward network has nothing between its linear maps.",
    "What are two linear maps, one after the other, without anything between?",
    why="A GELU has no parameters, so no name in the file speaks of it.",
    activation="none",
)
exercise.option(
    "norms_before",
    "Your norms come before the sublayers: x + sublayer(norm(x)).",
    "What does the docstring put between the brackets of the norm?",
    why="Nearly all newer models are pre-norm.",
    norms="before",
)
exercise.option(
    "only_the_sublayer_normed",
    "Your norms take what a sublayer gives, and x is added after that.",
    "What does the docstring put between the brackets of the norm?",
    why="The names attention.output.dense and attention.output.LayerNorm stand side by "
    "side in the file.",
    norms="of the sublayer",
)
exercise.option(
    "norms_exchanged",
    "The two norms of your layers are exchanged.",
    "Which of the two names belongs to the norm after the attention?",
    why="output.LayerNorm and attention.output.LayerNorm are easily confused.",
    names_of_norms="exchanged",
)
exercise.option(
    "first_norm_twice",
    "Your layers use the norm attention.output for both sums.",
    "How many norms does a layer have in the file?",
    why="The line of the first sum is copied, and its name with it.",
    names_of_norms="first",
)
exercise.option(
    "no_residual_connections",
    "Your layers have no residual connections: each sublayer replaces its input.",
    "What is summed between the brackets of the norm?",
    why="A sum has no parameters, so no name in the file speaks of it.",
    added="nothing",
)
exercise.option(
    "keys_and_values_exchanged",
    "Your keys are made by the map named value, and your values by the one named key.",
    "In which order does `attention` take its arguments?",
    why="All three maps have the same shape, and any order runs.",
    letters=("query", "value", "key"),
)
exercise.option(
    "queries_and_keys_exchanged",
    "Your queries are made by the map named key, and your keys by the one named query.",
    "In which order does `attention` take its arguments?",
    why="All three maps have the same shape, and any order runs.",
    letters=("key", "query", "value"),
)
exercise.option(
    "one_head",
    "Your attention has one head, whatever `n_heads` says.",
    "Where is `n_heads` used in your code?",
    why="q, k and v go into `attention` before they are split.",
    heads="one",
)
exercise.option(
    "heads_interleaved",
    "Your heads take every n_heads-th entry of a vector, not neighbouring ones.",
    "Which entries of a query belong to head 0?",
    why="unflatten(-1, (-1, n_heads)) has the right shape too.",
    heads="interleaved",
)
exercise.option(
    "heads_joined_by_a_reshape",
    "Your heads are joined by a reshape alone, which mixes the tokens.",
    "Which axes have to be neighbours before two of them become one?",
    why="A reshape from (n_heads, n, d_k) to (n, d_model) runs, and has the right "
    "shape.",
    joined="reshaped",
)
exercise.option(
    "scaled_by_d_model",
    "Your scores are divided by √d_model.",
    "How long is one head's query?",
    why="Before the heads are split, the last axis is d_model long.",
    scale="d_model",
)
exercise.option(
    "not_scaled",
    "Your scores are not divided by anything.",
    "What does `attention` do with the products before the softmax?",
    why="The scale has no parameter, so no name in the file speaks of it.",
    scale="none",
)
exercise.option(
    "output_projection_left_out",
    "Your heads are joined without attention.output.dense.",
    "Which parameters of the file are not used in your code?",
    why="Its name does not begin with attention.self, as those of the other three.",
    w_o="left out",
)
exercise.option(
    "may_attend_ignored",
    "All your tokens attend to all: `may_attend` plays no part.",
    "Which tokens may a token attend to?",
    why="The mask has a default, and is left out of a call without anybody noticing.",
    mask="ignored",
)
exercise.option(
    "may_attend_reversed",
    "Your tokens attend where `may_attend` is False.",
    "What does True in `may_attend` say, read aloud?",
    why="PyTorch's layers take key_padding_mask, where True means blocked.",
    mask="reversed",
)
exercise.option(
    "may_attend_in_the_first_layer_alone",
    "Your `may_attend` plays a part in the first layer alone.",
    "In which layers do tokens attend to each other?",
    why="What the first layer leaves out is thought to be gone.",
    mask="in the first layer",
)
exercise.option(
    "both_residuals_from_the_layers_input",
    "Your two residual connections of a layer both add what entered the layer.",
    "What enters the second sublayer, and what is added to its result?",
    why="x is overwritten at the end of the layer only.",
    added="what entered the layer",
)
exercise.option(
    "heads_axis_as_the_second",
    "Your mask gets its axis for the heads as its second one, which fits a mask "
    "(batch, n, n) alone.",
    "Which axis of (n, n) do the heads meet in your code, and where are they counted "
    "from the end?",
    why="unsqueeze(1) is right for a batch of sequences, as most code has it.",
    mask="heads second",
)
exercise.option(
    "sequences_taken_for_heads",
    "Your mask (batch, n, n) meets the heads: its first axis is taken for theirs, or "
    "does not fit.",
    "Which axis does broadcasting put next to the first one of (batch, n, n), if the "
    "scores have (batch, n_heads, n, n)?",
    why="For a mask (n, n) nothing has to be done, and both look alike.",
    mask="without heads",
)
exercise.option(
    "may_attend_transposed",
    "Your mask has rows and columns exchanged.",
    "Which axis of the mask belongs to the token that attends?",
    why="A transposition is silent: the mask is square.",
    mask="transposed",
)
exercise.option(
    "attends_back_only",
    "Without `may_attend`, your tokens attend to themselves and to earlier ones only.",
    "What does None in `may_attend` mean, according to the docstring?",
    why="Language models are causal; BERT reads in both directions.",
    mask="causal",
)
exercise.option(
    "layers_sorted_as_text",
    "Your layers are in the order of their names: 10 comes before 2.",
    "In which order does Python sort the texts '10' and '2'?",
    why="sorted(parameters) is right as long as there are at most ten layers.",
    layers="as text",
)
exercise.option(
    "layers_in_the_order_of_the_file",
    "Your layers are in the order in which they stand in the dictionary.",
    "What promises you that layer 0 comes first in the dictionary?",
    why="A loop over parameters.items() meets them in some order.",
    layers="as in the file",
)
exercise.option(
    "first_layer_only",
    "Your encoder ends after its first layer.",
    "How many layers do the parameters have?",
    why="`return` is indented into the loop.",
    layers="first",
)
exercise.option(
    "same_layer_again_and_again",
    "Your layers all have the parameters of layer 0.",
    "Which part of a parameter's name changes from layer to layer?",
    why="The names were typed in for layer 0; ALBERT's layers do share theirs.",
    layers="first, again and again",
)
exercise.option(
    "last_layer_left_out",
    "Your encoder lacks its last layer.",
    "Which number has the last of six layers?",
    why="range(n_layers - 1), or the highest number taken for the count.",
    layers="all but the last",
)
exercise.option(
    "layer_zero_left_out",
    "Your encoder lacks its layer 0.",
    "Which number has the first layer?",
    why="Layers are counted from 1 in most texts.",
    layers="all but the first",
)
exercise.option(
    "last_layer_first",
    "Your layers run from the last to the first.",
    "Which layer reads the embeddings?",
    why="Pictures of an encoder are read from the top; they run upwards.",
    layers="last first",
)
exercise.option(
    "embeddings_returned",
    "Your result is the normed embeddings: no layer has touched them.",
    "How often does your loop over the layers run?",
    why="A loop over names that match nothing does not run at all.",
    layers="none",
)
exercise.option(
    "first_token_returned",
    "Your result is the vector of the first token alone.",
    "How many vectors does the docstring promise?",
    why="BERT's classifier reads the first token, [CLS].",
    returns="first token",
)
exercise.option(
    "mean_returned",
    "Your result is the mean over the tokens.",
    "How many vectors does the docstring promise?",
    why="A sentence vector is that mean; it is taken outside.",
    returns="mean",
)
exercise.option(
    "scaled_to_length_one",
    "Your vectors are scaled to length 1.",
    "Does the docstring say anything about the length of the vectors?",
    why="Sentence vectors are, so that a dot product is a cosine.",
    returns="of length 1",
)
exercise.option(
    "all_layers_returned",
    "Your result holds the vectors of all layers, with an axis more.",
    "Which layer's vectors does the docstring promise?",
    why="transformers returns them all with output_hidden_states=True.",
    returns="all layers",
)
exercise.option(
    "positions_overwritten",
    "Your call adds token types to the caller's table of positions.",
    "What does `x += …` write into, if x is a slice of a table?",
    why="x = positions[:n] is a view, and += looks like a new x.",
    overwritten="positions",
)
exercise.family(families.squeezed(), families.as_numpy())
