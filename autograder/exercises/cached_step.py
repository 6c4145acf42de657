"""Cases and misconceptions of ``cached_step``."""

import math

import torch

from autograder import Exercise, families
from autograder.exercises.attention import exercise as attention_exercise
from course_lib.nn.decoding import cached_step

exercise = Exercise(
    cached_step,
    lesson="11_translation",
    minutes=15,
    difficulty=2,
    returns=("output", "keys", "values"),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "course_lib.nn.layers.DecoderLayer",
        "course_lib.nn.layers.TransformerLayer",
        "course_lib.nn.attention.MultiHeadAttention",
    ),
)


@exercise.spec
def spec(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    t, d_model = len(keys), embedding.shape[1]
    row, position = embedding[token_id].tolist(), encoding[t].tolist()
    x = [row[c] * math.sqrt(d_model) + position[c] for c in range(d_model)]
    query, key, value = (times(x, w.tolist()) for w in (w_q, w_k, w_v))
    all_keys, all_values = [*keys.tolist(), key], [*values.tolist(), value]
    scores = []
    for other in all_keys:
        dot = sum(a * b for a, b in zip(query, other, strict=True))
        scores.append(dot / math.sqrt(len(query)))
    powers = [math.exp(score - max(scores)) for score in scores]
    output = [0.0] * len(value)
    for power, other in zip(powers, all_values, strict=True):
        for c in range(len(value)):
            output[c] += power / sum(powers) * other[c]
    return tuple(
        torch.tensor(part, dtype=embedding.dtype)
        for part in (output, all_keys, all_values)
    )


def times(x, w):
    """Multiply a vector by a matrix."""
    return [sum(x[i] * w[i][j] for i in range(len(x))) for j in range(len(w[0]))]


def numbers(rng, *shape, dtype=torch.float32):
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def model(
    rng, d_model=6, d_k=4, d_v=5, vocab_size=9, n_positions=8, dtype=torch.float32
):
    """Draw the embedding, the encoding, w_q, w_k and w_v."""
    return (
        numbers(rng, vocab_size, d_model, dtype=dtype) / d_model**0.5,
        numbers(rng, n_positions, d_model, dtype=dtype),
        *(numbers(rng, d_model, d, dtype=dtype) / 2 for d in (d_k, d_k, d_v)),
    )


@exercise.usual
def usual(rng):
    return 6, numbers(rng, 3, 4), numbers(rng, 3, 5), *model(rng)


@exercise.case(
    "Where w_k and w_v pick one number each, the newest key is √4 · 2 + 20 = 24",
    weight=1,
)
def small_example_by_hand(student, rng):
    embedding, encoding = torch.zeros(3, 4), torch.zeros(3, 4)
    embedding[:, :2] = torch.tensor([[7.0, 8.0], [6.0, 5.0], [2.0, 3.0]])
    encoding[:, :2] = torch.tensor([[10.0, 15.0], [20.0, 30.0], [40.0, 60.0]])
    first, second = torch.eye(4)[:, :1], torch.eye(4)[:, 1:2]
    before = torch.tensor([[0.0]]), torch.tensor([[8.0]])
    projections = 0 * first, first, second  # the query is 0: the mean of the values
    result = student(2, *before, embedding, encoding, *projections)
    keys, values = torch.tensor([[0.0], [24.0]]), torch.tensor([[8.0], [36.0]])
    student.expect(result, (torch.tensor([22.0]), keys, values))
    student.agrees(2, *before, numbers(rng, 3, 4), numbers(rng, 3, 4), *projections)


@exercise.case("The first token finds no keys, and attends to itself", weight=0.5)
def first_token(student, rng):
    student.agrees(3, torch.empty(0, 4), torch.empty(0, 5), *model(rng))


@exercise.case(
    "Later tokens attend to all those before them, and to themselves", weight=3
)
def later_tokens(student, rng):
    parts = model(rng)
    for t in (1, 3, 6):
        student.agrees(6, numbers(rng, t, 4), numbers(rng, t, 5), *parts)


@exercise.case(
    "The position is the number of keys before, up to the last row of the encoding",
    weight=0.5,
)
def last_position(student, rng):
    parts = model(rng, d_k=3, n_positions=5)
    student.agrees(2, numbers(rng, 4, 3), numbers(rng, 4, 5), *parts)


@exercise.case("Keys and values of the same length are not mixed up", weight=0.5)
def keys_as_long_as_values(student, rng):
    parts = model(rng, d_k=4, d_v=4)
    student.agrees(5, numbers(rng, 3, 4), numbers(rng, 3, 4), *parts)


@exercise.case(
    "A sequence one token at a time gives the rows of causal self-attention", weight=1
)
def whole_sequence(student, rng):
    parts = model(rng)
    embedding, encoding, w_q, w_k, w_v = parts
    token_ids = [int(token_id) for token_id in rng.integers(0, 9, size=4)]
    x = embedding[token_ids] * 6**0.5 + encoding[:4]
    scores = (x @ w_q) @ (x @ w_k).T / 4**0.5
    future = torch.ones(4, 4, dtype=torch.bool).triu(1)
    rows = scores.masked_fill(future, -math.inf).softmax(dim=-1) @ (x @ w_v)
    keys, values = torch.empty(0, 4), torch.empty(0, 5)
    for position, token_id in enumerate(token_ids):
        output, keys, values = student(token_id, keys, values, *parts)
        student.expect(output, rows[position], what=f"the output of token {position}")


@exercise.case(
    "Scores far apart give the value of the best key alone", visible=False, weight=0.5
)
def one_key_wins(student, rng):
    embedding, encoding, w_q, w_k, w_v = model(rng)
    keys, values = 1e3 * numbers(rng, 3, 4), numbers(rng, 3, 5)
    student.agrees(1, keys, values, embedding, encoding, 10 * w_q, w_k, w_v)


@exercise.case("Numbers of float64 are answered, too", weight=0.5)
def double_precision(student, rng):
    parts = model(rng, dtype=torch.float64)
    keys, values = (numbers(rng, 2, d, dtype=torch.float64) for d in (4, 5))
    student.agrees(7, keys, values, *parts)


@exercise.case("No tensor is modified, in float64 too", weight=0.5)
def arguments_stay(student, rng):
    parts = model(rng, dtype=torch.float64)
    keys, values = (numbers(rng, 3, d, dtype=torch.float64) for d in (4, 5))
    student.leaves_unchanged(0, keys, values, *parts)


@exercise.right_answer
def own_attention(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    position = keys.shape[0]
    x = embedding[token_id] * embedding.shape[-1] ** 0.5 + encoding[position]
    keys = torch.cat([keys, (x @ w_k).unsqueeze(0)])
    values = torch.cat([values, (x @ w_v).unsqueeze(0)])
    scores = keys @ (x @ w_q) / keys.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return (weights @ values, keys, values)


exercise.edits(
    """
always_at_position_zero: position = 0
  Your newest token is at position 0, however many came before it.
  ? With one token in hand, how do you know how many there were?
  # The position counts what is passed in: ml-explore/mlx-lm, pull 93;
    Blaizzy/mlx-vlm, issue 1983; RobertCsordas/moeut, pull 6.
one_position_too_far: position = keys.shape[0] + 1
  Your newest token is one position too far.
  ? Do you count the keys before or after the newest one has joined them?
  # The length is read after the new key is appended: fla-org/flash-linear-attention,
    issue 766; microsoft/onnxruntime-genai, pull 2354.
one_position_too_far_within_the_encoding:
  | position = min(keys.shape[0] + 1, len(encoding) - 1)
  Your newest token is one position too far, or at the last one that there is.
  # The index went beyond the end of the encoding, and was held back there.
one_position_too_early: position = keys.shape[0] - 1
  Your newest token is at the position of the one before it.
  ? At which position is the first token, and how many keys are there then?
  # len(keys) - 1 is the last index of a list, and it is easy to think that the newest
    is already in it.
position_by_the_token: position = token_id
  Your newest token is at the position of its token id.
  ? What are the rows of `encoding` counted by?
  # embedding[token_id] and encoding[token_id] look alike.
position_left_out:  + encoding[position] ->
  Your newest token has no position.
  ? How would the newest token differ from the same token three positions earlier?
  # Position embeddings are skipped for inputs of one token: ml-explore/mlx-lm, pull
    93.
root_of_d_model_forgotten:
  | embedding[token_id] * embedding.shape[-1] ** 0.5 -> embedding[token_id]
  Your token's row of the embedding has no factor √d_model.
  ? What does `embed` do to a row of the embedding?
  # The factor is one line of section 3.4, and the path with a cache is written again.
position_multiplied_too:
  | x = (embedding[token_id] + encoding[position]) * embedding.shape[-1] ** 0.5
  Your √d_model multiplies the encoding of the position as well.
  ? What exactly does `embed` multiply?
  # The factor is put around the sum.
position_multiplied_alone:
  | x = embedding[token_id] + encoding[position] * embedding.shape[-1] ** 0.5
  Your √d_model multiplies the encoding of the position, not the token's row.
  # The factor is put on the wrong one of the two summands.
multiplied_by_d_model: embedding.shape[-1] ** 0.5 -> embedding.shape[-1]
  Your token's row of the embedding is multiplied by d_model.
  ? Which power of d_model does `embed` multiply by?
  # The root is lost on the way.
divided_by_the_root: * embedding.shape[-1] ** 0.5 -> / embedding.shape[-1] ** 0.5
  Your token's row of the embedding is divided by √d_model.
  ? Does `embed` make a row longer or shorter?
  # Scores are divided by a root.
query_made_with_w_k: x @ w_q -> x @ w_k
  Your query is made with w_k.
  ? Which of w_q, w_k and w_v makes what a token searches with?
  # The line for the key is copied for the query.
key_made_with_w_q: x @ w_k -> x @ w_q
  Your newest key is made with w_q.
  ? Which of w_q, w_k and w_v makes what a token is found by?
  # The line for the query is copied for the key.
value_made_with_w_k: x @ w_v -> x @ w_k
  Your newest value is made with w_k; where lengths differ, this can raise an error.
  ? Which of w_q, w_k and w_v makes what a token passes on, and which makes what it is
    found by?
  # The line for the keys is copied for the values.
key_made_with_w_v: x @ w_k -> x @ w_v
  Your newest key is made with w_v; where lengths differ, this can raise an error.
  # k, v and v, k: libraries unpack their caches in different orders.
newest_in_front:
  | keys, (x @ w_k).unsqueeze(0) -> (x @ w_k).unsqueeze(0), keys
  | values, (x @ w_v).unsqueeze(0) -> (x @ w_v).unsqueeze(0), values
  Your newest key and value come first.
  ? In which order are the tokens, and where is the newest one?
  # torch.cat([new, old]) gives the same output: attention does not mind order.
newest_left_out: unsqueeze(0), keys, values -> unsqueeze(0), keys[:-1], values[:-1]
  Your newest token does not attend to itself.
  ? What does the diagonal of the causal mask say?
  # The cache is read first and written last.
newest_left_out_but_of_the_first:
  | unsqueeze(0), keys, values ->
  :     unsqueeze(0), keys[:max(position, 1)], values[:max(position, 1)]
  Your newest token attends to itself only where it is the first: later ones attend to
    those before them alone.
  # The output is taken from the cache as it came; without any key that cannot be done.
first_key_only: unsqueeze(0), keys, values -> unsqueeze(0), keys[:1], values[:1]
  Your newest token attends to one row only, the first.
  ? Which row of the causal mask belongs to the newest token, and which one do you
    use?
  # A causal mask for 1 query and many keys keeps its first row: is_causal=True with a
    cache, in time-series-foundation-models/lag-llama, issue 81.
itself_only: unsqueeze(0), keys, values -> unsqueeze(0), keys[-1:], values[-1:]
  Your newest token attends to itself only.
  ? What are the keys of the other tokens kept for?
  # Attention is called with the new rows alone, and the cache is never read.
first_key_left_out:
  | unsqueeze(0), keys, values ->
  :     unsqueeze(0), keys[min(position, 1):], values[min(position, 1):]
  Your newest token does not attend to the first one.
  ? Which tokens come before the newest one?
  # keys[1:] keeps the length of a cache, as sliding windows do.
""",
)
exercise.edits(
    """
scores_not_scaled: scores = keys @ (x @ w_q)
  Your scores are plain dot products.
  ? What happens to the dot products before the softmax?
  # The path with a cache is written again, and the root is left behind.
divided_by_root_of_d_model: / keys.shape[-1] ** 0.5 -> / len(x) ** 0.5
  Your dot products are divided by √d_model.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # √d_model is at hand from the embedding.
divided_by_d_k: / keys.shape[-1] ** 0.5 -> / keys.shape[-1]
  Your dot products are divided by d_k.
  ? Which power of d_k does the formula divide by?
  # The root is written down again, or lost.
divided_by_root_of_d_v: / keys.shape[-1] ** 0.5 -> / values.shape[-1] ** 0.5
  Your dot products are divided by √d_v.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # The size is read off the values: both are equal in most models.
softmax_missing: weights = scores
  Your weights are the scores themselves.
  ? What makes positive weights that sum to 1 out of scores?
  # Scores are taken for weights: 'multiply the values by the scores'.
exponentials_not_divided: weights = scores.exp()
  Your weights are powers of e that are not divided by their sum.
  ? What should the weights of a query sum to?
  # Half of the softmax is written out, and the division is forgotten.
exponentials_overflow: weights = scores.exp() / scores.exp().sum()
  Your output is NaN for large scores.
  ? How large is e to the power of 1000 in floating point?
  # exp(scores) / sum is written out again, without subtracting the maximum.
""",
    of=own_attention,
)
exercise.edits(
    """
output_with_an_axis_more: return (output, keys, values)
  Your output is a matrix with one row.
  ? Which shape does the docstring promise for the output of one token?
  # The query becomes a matrix for the product, and the output stays one.
weights_not_parted:
  | output, _ = -> output =
  | return (output, keys, values)
  Your output is a pair: all that `attention` returns.
  ? How many things does `attention` return, and which of them is needed here?
  # The `attention` of the course returns its weights too; others do not.
residual_added: return (output.squeeze(0) + x, keys, values)
  Your output has the embedded token added to it; unless the lengths agree, this can
    raise an error.
  ? Is this function a whole layer, or its attention alone?
  # Around attention, layers have a residual connection.
old_ones_given_back:
  | keys = torch. … -> longer_keys = torch.cat([keys, (x @ w_k).unsqueeze(0)])
  | values = … -> longer_values = torch.cat([values, (x @ w_v).unsqueeze(0)])
  | unsqueeze(0), keys, values -> unsqueeze(0), longer_keys, longer_values
  Your keys and values come back without the newest.
  ? What will the next token find, if it gets these?
  # A new name is bound inside the function, and the arguments are returned:
    huggingface/transformers, issue 37269, asks why a cache does not grow.
newest_alone_given_back: return (output.squeeze(0), keys[-1:], values[-1:])
  Your output comes with the newest key and value alone.
  ? How many rows of keys does the docstring promise after the fourth token?
  # The caller is expected to append them.
keys_and_values_exchanged: return (output.squeeze(0), values, keys)
  Your values come before your keys.
  ? In which order does the docstring name the three results?
  # k, v and v, k: libraries unpack their caches in different orders.
output_alone: return output.squeeze(0)
  Your result is the output alone.
  ? How many results does the docstring promise, and in which order?
  # Without a cache, the output is all that attention returns.
output_and_weights:
  | output, _ -> output, weights
  | return (output.squeeze(0), weights.squeeze(0))
  Your result is the output and the weights.
  ? What does the next step need from this one?
  # All that `attention` returns is handed on.
list_instead_of_tuple: return [output.squeeze(0), keys, values]
  Your results come in a list, not in a tuple.
  ? Which brackets has the result in the docstring's example?
  # Square brackets are written around the results.
embedding_overwritten:
  | x = embedding[token_id] … ->
  :     x = embedding[token_id] * embedding.shape[-1] ** 0.5 + encoding[position]
  :     embedding[token_id] = x
  Your call changes the caller's embedding: the token's row holds the embedded token
    afterwards.
  ? Is embedding[token_id] a copy of the row, or the row itself?
  # x = embedding[token_id]; x *= …; x += … looks like work on x alone.
""",
)

exercise.family(families.as_numpy())
exercise.edits(
    """
keys_mixed: unsqueeze(0), keys, values -> unsqueeze(0), keys, keys
""",
    words=attention_exercise.words,
)
