"""Cases and misconceptions of ``cached_step``."""

import math

import torch

from autograder import Exercise
from course_lib.nn.attention import attention
from course_lib.nn.decoding import cached_step

exercise = Exercise(
    cached_step,
    lesson="09_translation",
    minutes=20,
    difficulty=3,
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
    "Where w_k and w_v pick one number each, the newest key is √4 · 2 + 20 = 24"
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


@exercise.case("The first token finds no keys, and attends to itself")
def first_token(student, rng):
    student.agrees(3, torch.empty(0, 4), torch.empty(0, 5), *model(rng))


@exercise.case("Later tokens attend to all those before them, and to themselves")
def later_tokens(student, rng):
    parts = model(rng)
    for t in (1, 3, 6):
        student.agrees(6, numbers(rng, t, 4), numbers(rng, t, 5), *parts)


@exercise.case(
    "The position is the number of keys before, up to the last row of the encoding"
)
def last_position(student, rng):
    parts = model(rng, d_k=3, n_positions=5)
    student.agrees(2, numbers(rng, 4, 3), numbers(rng, 4, 5), *parts)


@exercise.case("Keys and values of the same length are not mixed up")
def keys_as_long_as_values(student, rng):
    parts = model(rng, d_k=4, d_v=4)
    student.agrees(5, numbers(rng, 3, 4), numbers(rng, 3, 4), *parts)


@exercise.case("A sequence one token at a time gives the rows of causal self-attention")
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


@exercise.case("Scores far apart give the value of the best key alone", visible=False)
def one_key_wins(student, rng):
    embedding, encoding, w_q, w_k, w_v = model(rng)
    keys, values = 1e3 * numbers(rng, 3, 4), numbers(rng, 3, 5)
    student.agrees(1, keys, values, embedding, encoding, 10 * w_q, w_k, w_v)


@exercise.case("All tensors stay as they are, in float64 too")
def arguments_stay(student, rng):
    parts = [part.T.contiguous().T for part in model(rng, dtype=torch.float64)]
    keys, values = (numbers(rng, 3, d, dtype=torch.float64) for d in (4, 5))
    student.leaves_unchanged(0, keys, values, *parts)


def embedded(token_id, position, embedding, encoding):
    return embedding[token_id] * embedding.shape[1] ** 0.5 + encoding[position]


def mixed(q, keys, values, scale=None):
    """Return the weighted mean of the values for one query."""
    scores = keys @ q / (scale or keys.shape[1] ** 0.5)
    return scores.softmax(dim=0) @ values


def step_with(x, keys, values, w_q, w_k, w_v):
    """Compute the right step from x; for misconceptions in embedding the token."""
    keys = torch.cat([keys, (x @ w_k)[None]])
    values = torch.cat([values, (x @ w_v)[None]])
    return mixed(x @ w_q, keys, values), keys, values


@exercise.misconception(
    "Your newest token is at position 0, however many came before it.",
    "With one token in hand, how do you know how many there were?",
    why="The position counts what is passed in: ml-explore/mlx-lm, pull 93; "
    "Blaizzy/mlx-vlm, issue 1983; RobertCsordas/moeut, pull 6.",
)
def always_at_position_zero(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, 0, embedding, encoding)
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your newest token is one position too far.",
    "Do you count the keys before or after the newest one has joined them?",
    why="The length is read after the new key is appended: fla-org/flash-linear-"
    "attention, issue 766; microsoft/onnxruntime-genai, pull 2354.",
)
def one_position_too_far(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys) + 1, embedding, encoding)
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your newest token is at the position of the one before it.",
    "At which position is the first token, and how many keys are there then?",
    why="len(keys) - 1 is the last index of a list, and it is tempting to think that "
    "the newest is already in it.",
)
def one_position_too_early(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys) - 1, embedding, encoding)
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your newest token is at the position of its token id.",
    "What are the rows of `encoding` counted by?",
    why="embedding[token_id] and encoding[token_id] look alike.",
)
def position_by_the_token(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, token_id % len(encoding), embedding, encoding)
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your token has no position: its row of the embedding is used alone.",
    "How would the newest token differ from the same token three positions earlier?",
    why="Position embeddings are skipped for inputs of one token: ml-explore/mlx-lm, "
    "pull 93.",
)
def position_left_out(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedding[token_id] * embedding.shape[1] ** 0.5
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your row of the embedding is used as it is, without √d_model.",
    "What does `embed` do to a row of the embedding?",
    why="The factor is one line of section 3.4, and the path with a cache is written "
    "anew.",
)
def root_of_d_model_forgotten(
    token_id, keys, values, embedding, encoding, w_q, w_k, w_v
):
    x = embedding[token_id] + encoding[len(keys)]
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your √d_model multiplies the encoding of the position as well.",
    "What exactly does `embed` multiply?",
    why="The factor is put around the sum.",
)
def position_multiplied_too(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = (embedding[token_id] + encoding[len(keys)]) * embedding.shape[1] ** 0.5
    return step_with(x, keys, values, w_q, w_k, w_v)


@exercise.misconception(
    "Your newest token does not attend to itself: its key and value join the others "
    "after the weighted mean.",
    "What does the diagonal of the causal mask say?",
    why="The cache is read first and written last.",
)
def newest_left_out(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, longer, more = step_with(x, keys, values, w_q, w_k, w_v)
    return mixed(x @ w_q, keys, values), longer, more


@exercise.misconception(
    "Your newest token attends to the first token only.",
    "Which row of the causal mask belongs to the newest token, and which one do you "
    "use?",
    why="A causal mask for 1 query and many keys keeps its first row: is_causal=True "
    "with a cache, in time-series-foundation-models/lag-llama, issue 81.",
)
def first_key_only(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return values[0], keys, values


@exercise.misconception(
    "Your newest token attends to itself only: the output is its own value.",
    "What are the keys of the other tokens kept for?",
    why="Attention is called with the new rows alone, and the cache is never read.",
)
def itself_only(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return values[-1], keys, values


@exercise.misconception(
    "Your output is right, but the newest key and value come first.",
    "In which order are the tokens, and where is the newest one?",
    why="torch.cat([new, old]) gives the same output: attention does not mind order.",
)
def newest_in_front(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return output, keys.roll(1, dims=0), values.roll(1, dims=0)


@exercise.misconception(
    "Your output is right, but it comes with the old keys and values, without the "
    "newest.",
    "What will the next token find, if it gets these?",
    why="A new name is bound inside the function, and the arguments are returned: "
    "huggingface/transformers, issue 37269, asks why a cache does not grow.",
)
def old_ones_given_back(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, _, _ = step_with(x, keys, values, w_q, w_k, w_v)
    return output, keys, values


@exercise.misconception(
    "Your output is right, but it comes with the newest key and value alone.",
    "How many rows of keys does the docstring promise after the fourth token?",
    why="The caller is expected to append them.",
)
def newest_alone_given_back(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return output, keys[-1:], values[-1:]


@exercise.misconception(
    "Your newest value is made with w_k: it is the newest key; where lengths differ, "
    "that stops.",
    "Which of w_q, w_k and w_v makes what a token passes on, and which makes what it "
    "is found by?",
    why="The line for the keys is copied for the values.",
)
def value_made_with_w_k(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    return step_with(x, keys, values, w_q, w_k, w_k)


@exercise.misconception(
    "Your newest key is in the values and your newest value in the keys; where lengths "
    "differ, that stops.",
    "To which of the two do you append x @ w_k?",
    why="k, v and v, k: libraries unpack their caches in different orders.",
)
def key_and_value_exchanged(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    return step_with(x, keys, values, w_q, w_v, w_k)


@exercise.misconception(
    "Your scores are plain dot products.",
    "What happens to the dot products before the softmax?",
    why="The path with a cache is written anew, and the root is left behind.",
)
def scores_not_scaled(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return mixed(x @ w_q, keys, values, scale=1.0), keys, values


@exercise.misconception(
    "Your dot products are divided by √d_model.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="√d_model is at hand from the embedding.",
)
def divided_by_root_of_d_model(
    token_id, keys, values, embedding, encoding, w_q, w_k, w_v
):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return mixed(x @ w_q, keys, values, scale=len(x) ** 0.5), keys, values


@exercise.misconception(
    "Your output is a matrix with one row.",
    "Which shape does the docstring promise for the output of one token?",
    why="The query becomes a matrix for the product, and the output stays one.",
)
def output_with_an_axis_more(
    token_id, keys, values, embedding, encoding, w_q, w_k, w_v
):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return output[None], keys, values


@exercise.misconception(
    "Your output is a pair: all that `attention` returns.",
    "How many things does `attention` return, and which of them is needed here?",
    why="The `attention` of the course returns its weights too; others do not.",
)
def weights_not_parted(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, keys, values = step_with(x, keys, values, w_q, w_k, w_v)
    return attention((x @ w_q)[None], keys, values), keys, values


@exercise.misconception(
    "Your three tensors are right, but the caller's embedding has changed: the token's "
    "row is multiplied in place, and the encoding of its position is added to it.",
    "Is embedding[token_id] a copy of the row, or the row itself?",
    why="x = embedding[token_id]; x *= …; x += … looks like work on x alone.",
)
def embedding_overwritten(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedding[token_id]
    x *= embedding.shape[1] ** 0.5
    x += encoding[len(keys)]
    return step_with(x, keys, values, w_q, w_k, w_v)
