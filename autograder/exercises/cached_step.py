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


@exercise.variants
def variants(
    token_id,
    keys,
    values,
    embedding,
    encoding,
    w_q,
    w_k,
    w_v,
    *,
    position="t",
    encoded="added",
    factor="√d_model of the row",
    query="w_q",
    key="w_k",
    value="w_v",
    newest="behind",
    attends_to="all",
    scale="√d_k",
    weights_are="softmax",
    mixed="values",
    output_is="vector",
    returned="longer ones",
    container="tuple",
    overwritten="nothing",
):
    t, d_model, d_k = len(keys), embedding.shape[1], w_k.shape[1]
    row = {"0": 0, "t + 1": t + 1, "t − 1": t - 1, "token_id": token_id}.get(
        position, t
    )
    if position in ("t − 1", "token_id"):
        row %= len(encoding)
    factors = {"none": 1.0, "d_model": d_model, "1 / √d_model": d_model**-0.5}
    learned = embedding[token_id] * factors.get(factor, d_model**0.5)
    added = encoding[row] * (d_model**0.5 if factor == "of the sum" else 1)
    if factor == "of the position":
        learned, added = embedding[token_id], encoding[row] * d_model**0.5
    x = learned + added if encoded == "added" else learned
    if overwritten == "embedding":
        embedding[token_id] = x
    w = {"w_q": w_q, "w_k": w_k, "w_v": w_v}
    q, new_key, new_value = x @ w[query], x @ w[key], x @ w[value]
    before = keys, values
    keys, values = joined(newest, keys, new_key), joined(newest, values, new_value)
    attended = {
        "all": slice(None),
        "those before": slice(t) if newest == "behind" else slice(1, None),
        "the first": slice(1),
        "itself": slice(-1, None) if newest == "behind" else slice(1),
        "all but the first": slice(1 if t else 0, None),
    }[attends_to]
    divisors = {
        "none": 1.0,
        "√d_model": d_model**0.5,
        "d_k": d_k,
        "√d_v": values.shape[1] ** 0.5,
    }
    scores = keys[attended] @ q / divisors.get(scale, d_k**0.5)
    weights = {
        "softmax": lambda: scores.softmax(dim=0),
        "scores": lambda: scores,
        "exponentials": lambda: scores.exp(),
        "exponentials, divided": lambda: scores.exp() / scores.exp().sum(),
    }[weights_are]()
    output = weights @ {"values": values, "keys": keys}[mixed][attended]
    output = {
        "row": lambda: output[None],
        "pair": lambda: (output[None], weights[None]),
        "with x": lambda: output + x,
    }.get(output_is, lambda: output)()
    results = {
        "longer ones": (output, keys, values),
        "old ones": (output, *before),
        "newest": (output, new_key[None], new_value[None]),
        "exchanged": (output, values, keys),
        "output alone": output,
        "output and weights": (output, weights),
    }[returned]
    return list(results) if container == "list" else results


def joined(newest, old, new):
    """Put a row behind or in front of the others."""
    return torch.cat([old, new[None]] if newest == "behind" else [new[None], old])


exercise.option(
    "always_at_position_zero",
    "Your newest token is at position 0, however many came before it.",
    "With one token in hand, how do you know how many there were?",
    why="The position counts what is passed in: ml-explore/mlx-lm, pull 93; "
    "Blaizzy/mlx-vlm, issue 1983; RobertCsordas/moeut, pull 6.",
    position="0",
)
exercise.option(
    "one_position_too_far",
    "Your newest token is one position too far.",
    "Do you count the keys before or after the newest one has joined them?",
    why="The length is read after the new key is appended: fla-org/flash-linear-"
    "attention, issue 766; microsoft/onnxruntime-genai, pull 2354.",
    position="t + 1",
)
exercise.option(
    "one_position_too_early",
    "Your newest token is at the position of the one before it.",
    "At which position is the first token, and how many keys are there then?",
    why="len(keys) - 1 is the last index of a list, and it is easy to think that "
    "the newest is already in it.",
    position="t − 1",
)
exercise.option(
    "position_by_the_token",
    "Your newest token is at the position of its token id.",
    "What are the rows of `encoding` counted by?",
    why="embedding[token_id] and encoding[token_id] look alike.",
    position="token_id",
)
exercise.option(
    "position_left_out",
    "Your newest token has no position.",
    "How would the newest token differ from the same token three positions earlier?",
    why="Position embeddings are skipped for inputs of one token: ml-explore/mlx-lm, "
    "pull 93.",
    encoded="left out",
)
exercise.option(
    "root_of_d_model_forgotten",
    "Your token's row of the embedding has no factor √d_model.",
    "What does `embed` do to a row of the embedding?",
    why="The factor is one line of section 3.4, and the path with a cache is written "
    "again.",
    factor="none",
)
exercise.option(
    "position_multiplied_too",
    "Your √d_model multiplies the encoding of the position as well.",
    "What exactly does `embed` multiply?",
    why="The factor is put around the sum.",
    factor="of the sum",
)
exercise.option(
    "position_multiplied_alone",
    "Your √d_model multiplies the encoding of the position, not the token's row.",
    "What exactly does `embed` multiply?",
    why="The factor is put on the wrong one of the two summands.",
    factor="of the position",
)
exercise.option(
    "multiplied_by_d_model",
    "Your token's row of the embedding is multiplied by d_model.",
    "Which power of d_model does `embed` multiply by?",
    why="The root is lost on the way.",
    factor="d_model",
)
exercise.option(
    "divided_by_the_root",
    "Your token's row of the embedding is divided by √d_model.",
    "Does `embed` make a row longer or shorter?",
    why="Scores are divided by a root.",
    factor="1 / √d_model",
)
exercise.option(
    "query_made_with_w_k",
    "Your query is made with w_k.",
    "Which of w_q, w_k and w_v makes what a token searches with?",
    why="The line for the key is copied for the query.",
    query="w_k",
)
exercise.option(
    "key_made_with_w_q",
    "Your newest key is made with w_q.",
    "Which of w_q, w_k and w_v makes what a token is found by?",
    why="The line for the query is copied for the key.",
    key="w_q",
)
exercise.option(
    "value_made_with_w_k",
    "Your newest value is made with w_k; where lengths differ, this can raise an "
    "error.",
    "Which of w_q, w_k and w_v makes what a token passes on, and which makes what it "
    "is found by?",
    why="The line for the keys is copied for the values.",
    value="w_k",
)
exercise.option(
    "key_made_with_w_v",
    "Your newest key is made with w_v; where lengths differ, this can raise an error.",
    "Which of w_q, w_k and w_v makes what a token passes on, and which makes what it "
    "is found by?",
    why="k, v and v, k: libraries unpack their caches in different orders.",
    key="w_v",
)
exercise.option(
    "newest_in_front",
    "Your newest key and value come first.",
    "In which order are the tokens, and where is the newest one?",
    why="torch.cat([new, old]) gives the same output: attention does not mind order.",
    newest="in front",
)
exercise.option(
    "newest_left_out",
    "Your newest token does not attend to itself.",
    "What does the diagonal of the causal mask say?",
    why="The cache is read first and written last.",
    attends_to="those before",
)
exercise.option(
    "first_key_only",
    "Your newest token attends to one row only, the first.",
    "Which row of the causal mask belongs to the newest token, and which one do you "
    "use?",
    why="A causal mask for 1 query and many keys keeps its first row: is_causal=True "
    "with a cache, in time-series-foundation-models/lag-llama, issue 81.",
    attends_to="the first",
)
exercise.option(
    "itself_only",
    "Your newest token attends to itself only.",
    "What are the keys of the other tokens kept for?",
    why="Attention is called with the new rows alone, and the cache is never read.",
    attends_to="itself",
)
exercise.option(
    "first_key_left_out",
    "Your newest token does not attend to the first one.",
    "Which tokens come before the newest one?",
    why="keys[1:] keeps the length of a cache, as sliding windows do.",
    attends_to="all but the first",
)
exercise.option(
    "scores_not_scaled",
    "Your scores are plain dot products.",
    "What happens to the dot products before the softmax?",
    why="The path with a cache is written again, and the root is left behind.",
    scale="none",
)
exercise.option(
    "divided_by_root_of_d_model",
    "Your dot products are divided by √d_model.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="√d_model is at hand from the embedding.",
    scale="√d_model",
)
exercise.option(
    "divided_by_d_k",
    "Your dot products are divided by d_k.",
    "Which power of d_k does the formula divide by?",
    why="The root is written down again, or lost.",
    scale="d_k",
)
exercise.option(
    "divided_by_root_of_d_v",
    "Your dot products are divided by √d_v.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="The size is read off the values: both are equal in most models.",
    scale="√d_v",
)
exercise.option(
    "softmax_missing",
    "Your weights are the scores themselves.",
    "What makes positive weights that sum to 1 out of scores?",
    why="Scores are taken for weights: 'multiply the values by the scores'.",
    weights_are="scores",
)
exercise.option(
    "exponentials_not_divided",
    "Your weights are powers of e that are not divided by their sum.",
    "What should the weights of a query sum to?",
    why="Half of the softmax is written out, and the division is forgotten.",
    weights_are="exponentials",
)
exercise.option(
    "exponentials_overflow",
    "Your output is NaN for large scores.",
    "How large is e to the power of 1000 in floating point?",
    why="exp(scores) / sum is written out again, without subtracting the maximum.",
    weights_are="exponentials, divided",
)
exercise.option(
    "output_with_an_axis_more",
    "Your output is a matrix with one row.",
    "Which shape does the docstring promise for the output of one token?",
    why="The query becomes a matrix for the product, and the output stays one.",
    output_is="row",
)
exercise.option(
    "weights_not_parted",
    "Your output is a pair: all that `attention` returns.",
    "How many things does `attention` return, and which of them is needed here?",
    why="The `attention` of the course returns its weights too; others do not.",
    output_is="pair",
)
exercise.option(
    "residual_added",
    "Your output has the embedded token added to it; unless the lengths agree, this "
    "can raise an error.",
    "Is this function a whole layer, or its attention alone?",
    why="Around attention, layers have a residual connection.",
    output_is="with x",
)
exercise.option(
    "old_ones_given_back",
    "Your keys and values come back without the newest.",
    "What will the next token find, if it gets these?",
    why="A new name is bound inside the function, and the arguments are returned: "
    "huggingface/transformers, issue 37269, asks why a cache does not grow.",
    returned="old ones",
)
exercise.option(
    "newest_alone_given_back",
    "Your output comes with the newest key and value alone.",
    "How many rows of keys does the docstring promise after the fourth token?",
    why="The caller is expected to append them.",
    returned="newest",
)
exercise.option(
    "keys_and_values_exchanged",
    "Your values come before your keys.",
    "In which order does the docstring name the three results?",
    why="k, v and v, k: libraries unpack their caches in different orders.",
    returned="exchanged",
)
exercise.option(
    "output_alone",
    "Your result is the output alone.",
    "How many results does the docstring promise, and in which order?",
    why="Without a cache, the output is all that attention returns.",
    returned="output alone",
)
exercise.option(
    "output_and_weights",
    "Your result is the output and the weights.",
    "What does the next step need from this one?",
    why="All that `attention` returns is handed on.",
    returned="output and weights",
)
exercise.option(
    "list_instead_of_tuple",
    "Your results come in a list, not in a tuple.",
    "Which brackets has the result in the docstring's example?",
    why="Square brackets are written around the results.",
    container="list",
)
exercise.option(
    "embedding_overwritten",
    "Your call changes the caller's embedding: the token's row holds the embedded "
    "token afterwards.",
    "Is embedding[token_id] a copy of the row, or the row itself?",
    why="x = embedding[token_id]; x *= …; x += … looks like work on x alone.",
    overwritten="embedding",
)
exercise.family(families.as_numpy())
exercise.options_of(attention_exercise, "keys_mixed")
