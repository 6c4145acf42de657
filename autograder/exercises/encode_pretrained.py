"""Cases and misconceptions of ``encode_pretrained``."""

import math

import numpy as np
import torch
import torch.nn as nn

from autograder import Exercise, families
from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads
from course_lib.nn.functional import layer_norm
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


@exercise.right_answer
def torch_linear(token_ids, parameters, n_heads, may_attend=None):
    p = parameters

    def linear(x, name):
        return nn.functional.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])

    def norm(x, name):
        gain, bias = (p[f"{name}.LayerNorm.weight"], p[f"{name}.LayerNorm.bias"])
        return layer_norm(x, gain, bias, eps=1e-12)

    words, positions, types = (
        p[f"embeddings.{name}_embeddings.weight"]
        for name in ("word", "position", "token_type")
    )
    x = words[token_ids] + positions[: token_ids.shape[-1]] + types[0]
    x = norm(x, "embeddings")
    n_layers = sum(name.endswith("self.query.weight") for name in p)
    for layer in (f"encoder.layer.{i}" for i in range(n_layers)):
        q, k, v = (
            split_heads(linear(x, f"{layer}.attention.self.{name}"), n_heads)
            for name in ("query", "key", "value")
        )
        heads, _ = attention(q, k, v, for_all_heads(may_attend))
        attended = linear(merge_heads(heads), f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output")
        hidden = nn.functional.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(hidden, f"{layer}.output.dense"), f"{layer}.output")
    return x


exercise.edits(
    """
token_types_left_out: [:token_ids.shape[-1]] + types[0] -> [:token_ids.shape[-1]]
  Your tokens have no token type: that table plays no part.
  ? How many rows are summed for each token, according to the docstring?
  # All tokens have type 0 here, and what is the same for all seems idle.
token_type_one: types[0] -> types[1]
  Your tokens are of type 1.
  ? Which row of the table of token types does a single sentence have?
  # Types are thought to be counted from 1; row 1 is that of a second sentence.
both_token_types: types[0] -> types.sum(dim=0)
  Your tokens get both rows of the table of token types.
  ? How many types does one token have?
  # The table has two rows only, and its sum has the right shape.
positions_left_out: positions[:token_ids.shape[-1]] + types[0] -> types[0]
  Your tokens have no positions.
  ? What tells your encoder that two sentences of the same words differ?
  # In the layers nothing needs them, and every shape fits without.
positions_from_one: [:token_ids.shape[-1]] -> [1:token_ids.shape[-1] + 1]
  Your first token has the position in row 1.
  ? Which row of the table of positions belongs to the first token?
  # RoBERTa's positions begin at row 2: huggingface/transformers,
    create_position_ids_from_input_ids.
words_times_root_of_d_model:
  | words[token_ids] -> words[token_ids] * words.shape[-1] ** 0.5
  Your word embeddings are multiplied by √d_model.
  ? Which factor does the docstring put in front of a token's own row?
  # The paper of the Transformer does so, and lesson 09 too; BERT does not.
embeddings_not_normed: x = norm(x, 'embeddings') ->
  Your sum of embeddings goes into the first layer without a norm.
  ? What comes between the sum of the three rows and the first layer?
  # The Transformer of 2017 has no norm there.
eps_of_pytorch: eps=1e-12 -> eps=1e-05
  Your norms have an eps of 1e-5.
  ? Which eps do these norms have, and which does `layer_norm` take by itself?
  # It is the default of layer_norm and nn.LayerNorm, and right to five digits.
eps_left_out: eps=1e-12 -> eps=0.0
  Your norms have no eps.
  ? What would a token of equal numbers become?
  # 1e-12 looks like nothing.
matrices_not_transposed: .weight'].T -> .weight']
  Your linear maps are x @ weight, with the weights as they are in the file.
  ? Which axis of a weight in the file is as long as what comes in?
  # In this course a matrix is (in, out); in PyTorch's files it is (out, in).
square_matrices_not_transposed:
  | return x @ … ->
  :     weight = p[f'{name}.weight']
  :     if weight.shape[0] != weight.shape[1]:
  :         weight = weight.T
  :     return x @ weight + p[f'{name}.bias']
  Your linear maps take the square matrices as they are, and turn the others only.
  ? Which of the file's matrices are (out, in), and can you see it in their shape?
  # Matrices that are not square raise an error until they are transposed; the others
    run either way.
biases_left_out: p[f'{name}.weight'].T + p[f'{name}.bias'] -> p[f'{name}.weight'].T
  Your linear maps have no biases.
  ? How many parameters does a linear map have in the file?
  # x @ weight.T is the formula of the paper.
attention_without_biases:
  | return x @ … ->
  :     if '.attention.' in name:
  :         return x @ p[f'{name}.weight'].T
  :     return x @ p[f'{name}.weight'].T + p[f'{name}.bias']
  The linear maps of your attention have no biases.
  # The attention of lesson 09 has none, its feed-forward network has.
network_without_biases:
  | return x @ … ->
  :     if '.attention.' not in name:
  :         return x @ p[f'{name}.weight'].T
  :     return x @ p[f'{name}.weight'].T + p[f'{name}.bias']
  The linear maps of your feed-forward network have no biases.
  # They are added in one helper, and forgotten where it is not used.
relu: nn.functional.gelu -> nn.functional.relu
  Your feed-forward network has a ReLU between its linear maps.
  ? Which function does the docstring put between the two linear maps?
  # The Transformer of 2017 has a ReLU.
gelu_by_tanh:
  | nn.functional.gelu(linear(x, f'{layer}.intermediate.dense')) ->
  :     nn.functional.gelu(linear(x, f'{layer}.intermediate.dense'),
  :     approximate='tanh')
  Your GELU is the approximation with tanh.
  ? Is your GELU exact, x times the normal distribution's Φ(x)?
  # GPT-2 has it, and so had the first code of BERT.
gelu_by_sigmoid:
  | hidden = … ->
  :     hidden = linear(x, f'{layer}.intermediate.dense')
  :     hidden = hidden * torch.sigmoid(1.702 * hidden)
  Your GELU is the approximation x σ(1.702 x).
  # The paper of the GELU proposes it as a faster one.
silu: nn.functional.gelu -> nn.functional.silu
  Your feed-forward network has x σ(x) between its linear maps.
  ? Is σ the function in x Φ(x)?
  # SiLU looks like GELU, and today's models have it.
no_activation: hidden = linear(x, f'{layer}.intermediate.dense')
  Your feed-forward network has nothing between its linear maps.
  ? What are two linear maps, one after the other, without anything between?
  # A GELU has no parameters, so no name in the file speaks of it.
norms_before:
  | linear(x, f'{layer}.attention.self ->
  :     linear(norm(x, f'{layer}.attention.output'), f'{layer}.attention.self
  | norm(x + attended, f'{layer}.attention.output') -> x + attended
  | linear(x, f'{layer}.intermediate.dense') ->
  :     linear(norm(x, f'{layer}.output'), f'{layer}.intermediate.dense')
  | norm(x + linear(hidden, f'{layer}.output.dense'), f'{layer}.output') ->
  :     x + linear(hidden, f'{layer}.output.dense')
  Your norms come before the sublayers: x + sublayer(norm(x)).
  ? What does the docstring put between the brackets of the norm?
  # Nearly all newer models are pre-norm.
only_the_sublayer_normed:
  | norm(x + attended -> x + norm(attended
  | norm(x + linear(hidden -> x + norm(linear(hidden
  Your norms take what a sublayer gives, and x is added after that.
  # The names attention.output.dense and attention.output.LayerNorm stand side by side
    in the file.
norms_exchanged:
  | x + attended, f'{layer}.attention.output' -> x + attended, f'{layer}.output'
  | f'{layer}.output.dense'), f'{layer}.output' ->
  :     f'{layer}.output.dense'), f'{layer}.attention.output'
  The two norms of your layers are exchanged.
  ? Which of the two names belongs to the norm after the attention?
  # output.LayerNorm and attention.output.LayerNorm are easily confused.
first_norm_twice:
  | f'{layer}.output.dense'), f'{layer}.output' ->
  :     f'{layer}.output.dense'), f'{layer}.attention.output'
  Your layers use the norm attention.output for both sums.
  ? How many norms does a layer have in the file?
  # The line of the first sum is copied, and its name with it.
no_residual_connections:
  | x + attended -> attended
  | x + linear(hidden -> linear(hidden
  Your layers have no residual connections: each sublayer replaces its input.
  ? What is summed between the brackets of the norm?
  # A sum has no parameters, so no name in the file speaks of it.
keys_and_values_exchanged: ('query', 'key', 'value') -> ('query', 'value', 'key')
  Your keys are made by the map named value, and your values by the one named key.
  ? In which order does `attention` take its arguments?
  # All three maps have the same shape, and any order runs.
queries_and_keys_exchanged: ('query', 'key', 'value') -> ('key', 'query', 'value')
  Your queries are made by the map named key, and your keys by the one named query.
one_head: n_heads = 1
  Your attention has one head, whatever `n_heads` says.
  ? Where is `n_heads` used in your code?
  # q, k and v go into `attention` before they are split.
heads_interleaved:
  | split_heads(linear(x, f'{layer}.attention.self.{name}'), n_heads) ->
  :     linear(x, f'{layer}.attention.self.{name}').unflatten(-1, (-1,
  :     n_heads)).movedim(-1, -3)
  Your heads take every n_heads-th entry of a vector, not neighbouring ones.
  ? Which entries of a query belong to head 0?
  # unflatten(-1, (-1, n_heads)) has the right shape too.
heads_joined_by_a_reshape: merge_heads(heads) -> heads.reshape(x.shape)
  Your heads are joined by a reshape alone, which mixes the tokens.
  ? Which axes have to be neighbours before two of them become one?
  # A reshape from (n_heads, n, d_k) to (n, d_model) runs, and has the right shape.
scaled_by_d_model: attention(q, k -> attention(q / n_heads ** 0.5, k
  Your scores are divided by √d_model.
  ? How long is one head's query?
  # Before the heads are split, the last axis is d_model long.
not_scaled: attention(q, k -> attention(q * q.shape[-1] ** 0.5, k
  Your scores are not divided by anything.
  ? What does `attention` do with the products before the softmax?
  # The scale has no parameter, so no name in the file speaks of it.
output_projection_left_out: attended = merge_heads(heads)
  Your heads are joined without attention.output.dense.
  ? Which parameters of the file are not used in your code?
  # Its name does not begin with attention.self, as those of the other three.
may_attend_ignored: , for_all_heads(may_attend) ->
  All your tokens attend to all: `may_attend` plays no part.
  ? Which tokens may a token attend to?
  # The mask has a default, and is left out of a call without anybody noticing.
may_attend_reversed:
  | if may_attend is not None:
  :     may_attend = ~may_attend
  Your tokens attend where `may_attend` is False.
  ? What does True in `may_attend` say, read aloud?
  # PyTorch's layers take key_padding_mask, where True means blocked.
may_attend_in_the_first_layer_alone:
  | heads, _ = … ->
  :     heads, _ = attention(q, k, v, for_all_heads(may_attend))
  :     may_attend = None
  Your `may_attend` plays a part in the first layer alone.
  ? In which layers do tokens attend to each other?
  # What the first layer leaves out is thought to be gone.
both_residuals_from_the_layers_input:
  | x = norm(x + attended -> normed = norm(x + attended
  | gelu(linear(x -> gelu(linear(normed
  Your two residual connections of a layer both add what entered the layer.
  ? What enters the second sublayer, and what is added to its result?
  # x is overwritten at the end of the layer only.
heads_axis_as_the_second:
  | for_all_heads(may_attend) ->
  :     may_attend if may_attend is None else may_attend.unsqueeze(1)
  Your mask gets its axis for the heads as its second one, which fits a mask (batch,
    n, n) alone.
  ? Which axis of (n, n) do the heads meet in your code, and where are they counted
    from the end?
  # unsqueeze(1) is right for a batch of sequences, as most code has it.
sequences_taken_for_heads: for_all_heads(may_attend) -> may_attend
  Your mask (batch, n, n) meets the heads: its first axis is taken for theirs, or does
    not fit.
  ? Which axis does broadcasting put next to the first one of (batch, n, n), if the
    scores have (batch, n_heads, n, n)?
  # For a mask (n, n) nothing has to be done, and both look alike.
may_attend_transposed:
  | if may_attend is not None:
  :     may_attend = may_attend.mT
  Your mask has rows and columns exchanged.
  ? Which axis of the mask belongs to the token that attends?
  # A transposition is silent: the mask is square.
attends_back_only:
  | if may_attend is None:
  :     n = token_ids.shape[-1]
  :     may_attend = torch.ones(n, n, dtype=torch.bool).tril()
  Without `may_attend`, your tokens attend to themselves and to earlier ones only.
  ? What does None in `may_attend` mean, according to the docstring?
  # Language models are causal; BERT reads in both directions.
layers_sorted_as_text: range(n_layers) -> sorted(range(n_layers), key=str)
  Your layers are in the order of their names: 10 comes before 2.
  ? In which order does Python sort the texts '10' and '2'?
  # sorted(parameters) is right as long as there are at most ten layers.
layers_in_the_order_of_the_file:
  | (f'encoder.layer.{i}' for i in range(n_layers)) ->
  :     [name.split('.attention')[0] for name in p if
  :     name.endswith('self.query.weight')]
  Your layers are in the order in which they stand in the dictionary.
  ? What promises you that layer 0 comes first in the dictionary?
  # A loop over parameters.items() meets them in some order.
first_layer_only: range(n_layers) -> range(1)
  Your encoder ends after its first layer.
  ? How many layers do the parameters have?
  # `return` is indented into the loop.
same_layer_again_and_again: range(n_layers) -> [0] * n_layers
  Your layers all have the parameters of layer 0.
  ? Which part of a parameter's name changes from layer to layer?
  # The names were typed in for layer 0; ALBERT's layers do share theirs.
last_layer_left_out: range(n_layers) -> range(n_layers - 1)
  Your encoder lacks its last layer.
  ? Which number has the last of six layers?
  # range(n_layers - 1), or the highest number taken for the count.
layer_zero_left_out: range(n_layers) -> range(1, n_layers)
  Your encoder lacks its layer 0.
  ? Which number has the first layer?
  # Layers are counted from 1 in most texts.
last_layer_first: range(n_layers) -> reversed(range(n_layers))
  Your layers run from the last to the first.
  ? Which layer reads the embeddings?
  # Pictures of an encoder are read from the top; they run upwards.
embeddings_returned: x = norm(x, 'embeddings') -> return norm(x, 'embeddings')
  Your result is the normed embeddings: no layer has touched them.
  ? How often does your loop over the layers run?
  # A loop over names that match nothing does not run at all.
""",
)
exercise.edits(
    """
first_token_returned: return x -> return x[..., 0, :]
  Your result is the vector of the first token alone.
  ? How many vectors does the docstring promise?
  # BERT's classifier reads the first token, [CLS].
mean_returned: return x -> return x.mean(dim=-2)
  Your result is the mean over the tokens.
  # A sentence vector is that mean; it is taken outside.
scaled_to_length_one: return x -> return x / x.norm(dim=-1, keepdim=True)
  Your vectors are scaled to length 1.
  ? Does the docstring say anything about the length of the vectors?
  # Sentence vectors are, so that a dot product is a cosine.
all_layers_returned:
  | x = norm(x, 'embeddings') ->
  :     x = norm(x, 'embeddings')
  :     every = [x]
  | x = norm(x + linear( … ->
  :     x = norm(x + linear(hidden, f'{layer}.output.dense'), f'{layer}.output')
  :     every.append(x)
  | return x -> return torch.stack(every, dim=-3)
  Your result holds the vectors of all layers, with an axis more.
  ? Which layer's vectors does the docstring promise?
  # transformers returns them all with output_hidden_states=True.
""",
    of=torch_linear,
)
exercise.edits(
    """
positions_overwritten:
  | x = words… ->
  :     positions = positions[:token_ids.shape[-1]]
  :     positions += types[0]
  :     x = words[token_ids] + positions
  Your call adds token types to the caller's table of positions.
  ? What does `x += …` write into, if x is a slice of a table?
  # x = positions[:n] is a view, and += looks like a new x.
""",
)

exercise.family(families.squeezed(), families.as_numpy())
