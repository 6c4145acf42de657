"""Cases and misconceptions of ``cross_attention``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.attention import exercise as attention_exercise
from autograder.exercises.project import exercise as project_exercise
from autograder.exercises.self_attention import exercise as self_attention_exercise
from course_lib.self_attention import cross_attention

exercise = Exercise(
    cross_attention,
    lesson="02_self_attention",
    minutes=8,
    difficulty=2,
    returns=("output", "weights"),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
    ),
)


def dot(one, other):
    """Sum the products of the numbers of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(token, w):
    """Return one number for each column of w: its dot product with the token."""
    return [dot(token, column) for column in w.T.tolist()]


@exercise.spec
def spec(x, memory, w_q, w_k, w_v):
    *leading, n, _ = x.shape
    m = memory.shape[-2]
    output = np.zeros((*leading, n, w_v.shape[1]))
    weights = np.zeros((*leading, n, m))
    for batch in np.ndindex(*leading):
        tokens = memory[batch].tolist()
        keys = [times(token, w_k) for token in tokens]
        values = np.array([times(token, w_v) for token in tokens])
        for i in range(n):
            query = times(x[*batch, i].tolist(), w_q)
            scores = [dot(query, key) / math.sqrt(len(key)) for key in keys]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j in range(m):
                weights[*batch, i, j] = powers[j] / sum(powers)
                output[*batch, i] += weights[*batch, i, j] * values[j]
    return output, weights


def parameters(rng, d_model=12, d_memory=10, d_k=4, d_v=6):
    """Draw w_q, w_k and w_v that give queries and keys of numbers around 1."""
    w_q = rng.normal(size=(d_model, d_k)) / math.sqrt(d_model)
    w_k, w_v = rng.normal(size=(d_memory, d_k)), rng.normal(size=(d_memory, d_v))
    return w_q, w_k / math.sqrt(d_memory), w_v / math.sqrt(d_memory)


@exercise.usual
def usual(rng):
    # In a Transformer both sequences have tokens of one length.
    x, memory = rng.normal(size=(2, 5, 12)), rng.normal(size=(2, 7, 12))
    return x, memory, *parameters(rng, d_memory=12)


@exercise.case(
    "Two tokens that attend to three others give this output and these weights",
    weight=0.5,
)
def small_example_by_hand(student, rng):
    x, memory = np.array([[1.0, 0.0], [0.0, 1.0]]), np.eye(3)
    w_q = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    w_k = np.array([[0.0, 1.0, 0.0, 3.0], [1.0, 0.0, 2.0, 0.0], [2.0, 0.0, 1.0, 0.0]])
    w_v = np.array([[10.0], [20.0], [40.0]])
    e = math.e  # the scaled scores are 0, 1, 2 and 1, 0, 0
    weights = np.array([[1, e, e * e], [e, 1, 1]])
    weights /= np.array([[1 + e + e * e], [e + 2]])
    sums = [10 + 20 * e + 40 * e * e, 10 * e + 20 + 40]
    output = np.array(sums) / np.array([1 + e + e * e, e + 2])
    expected = output[:, np.newaxis], weights
    student.expect(student(x, memory, w_q, w_k, w_v), expected)


@exercise.case("Each sequence of a batch attends to its own memory", weight=2)
def batch_of_sequences(student, rng):
    x, memory = rng.normal(size=(2, 5, 12)), rng.normal(size=(2, 7, 10))
    student.agrees(x, memory, *parameters(rng))


@exercise.case(
    "The memory may be the shorter one, with any number of leading axes", weight=2
)
def shorter_memory(student, rng):
    x = np.swapaxes(rng.normal(size=(2, 3, 12, 7)), -1, -2)  # rows apart in memory
    memory = rng.normal(size=(2, 3, 5, 20))[..., ::2]
    w_q, w_k, w_v = parameters(rng)
    student.agrees(x, memory, w_q, np.asfortranarray(w_k), w_v)


@exercise.case(
    "With two sequences of the same sizes, the first one attends to the second",
    weight=1,
)
def sequences_of_the_same_sizes(student, rng):
    # Here any of the arrays could stand in for any other, and nothing stops.
    x, memory = rng.normal(size=(5, 12)), rng.normal(size=(5, 12))
    student.agrees(x, memory, *parameters(rng, 12, 12, 4, 4))


@exercise.case(
    "A memory of one token hands its value to every token", weight=0.5, visible=False
)
def one_token_in_memory(student, rng):
    memory = np.array([[1.0, -2.0, 3.0]])
    w_v = np.array([[1.0, 4.0], [0.0, 1.0], [2.0, 1.0]])
    w_q, w_k = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    expected = np.tile([[7.0, 5.0]], (5, 1)), np.ones((5, 1))
    student.expect(student(rng.normal(size=(5, 6)), memory, w_q, w_k, w_v), expected)
    w_v = rng.normal(size=(3, 2))
    expected = np.tile(memory @ w_v, (5, 1)), np.ones((5, 1))
    student.expect(student(rng.normal(size=(5, 6)), memory, w_q, w_k, w_v), expected)


@exercise.case("A token with a large norm does not spoil the other rows", weight=0.5)
def one_long_token(student, rng):
    # e to the power of the other rows' scores minus those of its own row is 0.
    x, memory = np.diag([9000.0, 1.0]), rng.uniform(1, 2, size=(3, 2))
    student.agrees(x, memory, np.eye(2, 4), np.eye(2, 4), rng.normal(size=(2, 3)))


@exercise.case("Scores in the thousands give finite weights", weight=0.5)
def large_scores(student, rng):
    x, memory = 100.0 * np.eye(2), 100.0 * np.eye(3)
    w_q, w_k = np.eye(4)[[0, 2]], np.eye(3, 4)  # they find the first and the last
    w_v = np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    expected = 100.0 * w_v[[0, 2]], np.eye(3)[[0, 2]]
    student.expect(student(x, memory, w_q, w_k, w_v), expected)


@exercise.case(
    "The order of the memory does not matter",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def memory_reordered(student, rng):
    x, memory, w = rng.normal(size=(5, 12)), rng.normal(size=(7, 10)), parameters(rng)
    order = [3, 0, 6, 1, 5, 2, 4]
    output, weights = student(x, memory, *w)
    expected = output, weights[:, order]
    reordered = student(x, memory[order], *w)
    student.expect(reordered, expected, what="what comes after the change")


@exercise.case("Both sequences and the parameters are not modified", weight=1)
def arguments_stay(student, rng):
    x, memory = rng.normal(size=(5, 3)), rng.normal(size=(6, 2))
    student.leaves_unchanged(x, memory, *parameters(rng, 3, 2, 4, 7))
    # With all sizes alike, the result fits into an argument.
    x, memory = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    student.leaves_unchanged(x, memory, *parameters(rng, 4, 4, 4, 4))


@exercise.variants
def variants(
    x,
    memory,
    w_q,
    w_k,
    w_v,
    *,
    queries="x",
    keys="memory",
    values="memory",
    attended="memory",
    exchanged=False,
    projected="each by its own",
    keys_by="w_k",
    values_by="w_v",
    turned="last two axes",
    scale="√d_k",
    may_attend="to all",
    maximum="of the row",
    axis=-1,
    weights_are="softmax",
    product="weights @ values",
    second="weights",
    overwritten="nothing",
):
    d_k = w_q.shape[-1]
    if overwritten == "w_q":
        w_q /= np.sqrt(d_k)
        scale = "none"
    root = x.shape[-1] ** 0.5, memory.shape[-1] ** 0.5, memory.shape[-2] ** 0.5
    first = x if queries == "x" else memory
    if exchanged:
        x, memory, first = memory, x, memory
    n = first.shape[-2]
    if attended == "x":
        memory = x
    elif attended == "both":
        memory = np.concatenate([memory, x], axis=-2)
    for_keys = memory if keys == "memory" else x
    for_values = memory if values == "memory" else x
    if projected == "each by all":
        _ = x @ w_k, x @ w_v, memory @ w_q
    q, k = first @ w_q, for_keys @ (w_k if keys_by == "w_k" else w_q)
    v = for_values
    if values_by != "none":
        v = for_values @ (w_v if values_by == "w_v" else w_k)
    divisor = {
        "√d_k": d_k**0.5,
        "d_k": d_k,
        "1/√d_k": d_k**-0.5,
        "√d_model": root[0],
        "√d_memory": root[1],
        "√m": root[2],
        "√d_v": w_v.shape[-1] ** 0.5,
    }
    columns = k.T if turned == "all axes" else np.swapaxes(k, -1, -2)
    scores = q @ columns / divisor.get(scale, 1)
    if may_attend != "to all":
        i, j = np.indices(scores.shape[-2:])
        may = {"to earlier": j <= i, "to the first n": j < n}
        scores = np.where(may.get(may_attend, i != j), scores, -np.inf)
    largest = 0.0
    if maximum != "left in":
        over = {"of the row": axis, "of everything": None, "of the column": -2}[maximum]
        largest = scores.max(axis=over, keepdims=True)
    powers = np.exp(scores - largest)
    weights = powers / powers.sum(axis=axis, keepdims=True)
    if weights_are != "softmax":
        share = scores / scores.sum(axis=axis, keepdims=True)
        weights = {"scores": scores, "exponentials": powers, "shares of scores": share}[
            weights_are
        ]
    if scale == "after the softmax":
        weights = weights / d_k**0.5
    if product == "weightsᵀ @ values":
        output = np.swapaxes(weights, -1, -2) @ v
    else:
        output = v @ weights if product == "values @ weights" else weights @ v
    return output, scores if second == "scores" else weights


exercise.option(
    "memory_unused",
    "Your x attends to itself: keys and values are made from x, not from the memory.",
    "Whose tokens are attended to?",
    why="The lines of self_attention are copied, and x stays in all three.",
    attended="x",
)
exercise.option(
    "x_joined_to_the_memory",
    "Your tokens attend to the memory and to x itself, joined into one sequence; where "
    "their sizes differ, this can raise an error.",
    "How many tokens are attended to: m, or n and m together?",
    why="Some models join both sequences; here x attends to the memory alone.",
    attended="both",
)
exercise.option(
    "both_sequences_projected_by_all",
    "Your code raises an error where tokens of x and of the memory differ in size: "
    "each sequence is multiplied by parameters of the other.",
    "`project` multiplies x by w_k as well: has w_k as many rows as a token of x has "
    "entries?",
    why="project has been written for one sequence, and two calls of it are at hand.",
    projected="each by all",
)
exercise.option(
    "memory_attends",
    "Your memory attends to x: queries come from the memory, keys and values from x.",
    "Which of the two sequences gets an output, one row for each of its tokens?",
    why="'The encoder's output gives the queries' is said in tutorials and in a survey "
    "(humza909/LLM_Survey, issue 2; rexrex9/nlp_torchtext, pull request 2).",
    exchanged=True,
)
exercise.option(
    "values_from_x",
    "Your values are made from x; with other sizes than those of the memory, this can "
    "raise an error.",
    "If a token attends to token j of the memory, whose value should it get?",
    why="Query and value are taken from one side, the key from the other "
    "(apple/ml-cvnets, issue 81, asks whether that is right).",
    values="x",
)
exercise.option(
    "keys_from_x",
    "Your keys are made from x; with other sizes than those of the memory, this can "
    "raise an error.",
    "What can a token of the memory be found by?",
    why="'The query meets the keys in the decoder, and fetches values from the "
    "encoder': two of three are put on one side.",
    keys="x",
)
exercise.option(
    "x_unused",
    "Your queries are made from the memory; with other sizes than those of x, this can "
    "raise an error.",
    "If x changes, should your queries change?",
    why="A layer of the encoder is called on the encoder's output once more.",
    queries="memory",
)
exercise.option(
    "keys_made_with_w_q",
    "Your keys are made with w_q; where the sizes of x and the memory differ, this can "
    "raise an error.",
    "Which of the parameters does no line of yours use?",
    why="The line of the queries is copied, and only the name on its left is changed.",
    keys_by="w_q",
)
exercise.option(
    "values_made_with_w_k",
    "Your values are made with w_k: your output mixes the keys.",
    "Which of the parameters does no line of yours use?",
    why="The line of the keys is copied, and only the name on its left is changed.",
    values_by="w_k",
)
exercise.option(
    "memory_mixed",
    "Your output mixes tokens as they come in, not values.",
    "What does w_v do in your code?",
    why="'A weighted sum of the encoder's states' is right for attention without "
    "parameters.",
    values_by="none",
)
exercise.option(
    "memory_cut_to_the_length_of_x",
    "Your tokens attend to the first n tokens only, as many as there are queries.",
    "May the two sequences have different lengths?",
    why="In self-attention one length does for both, and loops run over range(n).",
    may_attend="to the first n",
)
exercise.option(
    "causal_mask_added",
    "Your weights are zero above the diagonal: token i attends to tokens 0 … i only.",
    "Is the memory still being written while x attends to it?",
    why="The decoder's causal mask is handed to both of its attentions.",
    may_attend="to earlier",
)
exercise.option(
    "same_position_left_out",
    "Your weights are zero on the diagonal: token i of x does not attend to token i of "
    "the memory.",
    "Are token i of x and token i of the memory the same token?",
    why="A mask from self-attention, where a token was kept from itself, is copied.",
    may_attend="to the others",
)
exercise.option(
    "softmax_over_queries",
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: a token of x, or a token of the memory?",
    why="axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.",
    axis=-2,
)
exercise.option(
    "softmax_over_axis_zero",
    "Your weights sum to 1 along axis 0: with a batch, the sequences share a weight of "
    "1 among them.",
    "Should the weights of one sequence depend on which others are in the batch?",
    why="nn.Softmax(dim=0), or axis=0 for 'along the rows' of a matrix.",
    axis=0,
)
exercise.option(
    "all_axes_turned",
    "Your keys have all their axes reversed: with leading axes, your code raises an "
    "error or queries meet keys of other sequences.",
    "What is the shape of k.T if k has the shape (2, 7, 4)?",
    why="q @ k.T is the formula as written, and for a matrix it is right.",
    turned="all axes",
)
exercise.option(
    "divided_by_root_of_d_model",
    "Your dot products are divided by √d_model, the root of the length of a token of "
    "x.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="x.shape[-1] is at hand, and with one head of full size it is the same number "
    "(lucidrains/vit-pytorch, issue 65).",
    scale="√d_model",
)
exercise.option(
    "divided_by_root_of_d_memory",
    "Your dot products are divided by √d_memory, the root of the length of a token of "
    "the memory.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="memory.shape[-1] is at hand, and is taken for the length of a key.",
    scale="√d_memory",
)
exercise.option(
    "divided_by_root_of_m",
    "Your dot products are divided by √m, the root of the memory's length.",
    "Over how many products does one dot product sum?",
    why="k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.",
    scale="√m",
)
exercise.option(
    "scores_returned",
    "The second array that you return holds the scaled scores.",
    "Which table has rows that sum to 1?",
    why="Both tables have the shape (n, m), and names such as 'attention' mean either.",
    second="scores",
)
exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.one_result_only("weights"),
    families.squeezed(),
    families.as_list(),
)
exercise.options_of(
    attention_exercise,
    "exponentials_overflow",
    "one_maximum_for_everything",
    "softmax_missing",
    "exponentials_not_divided",
    "shares_of_scores",
    "weights_transposed",
)
exercise.options_of(
    self_attention_exercise,
    "softmax_over_axis_one",
    "softmax_over_everything",
    "maximum_of_the_column",
    "divided_by_root_of_d_v",
    "no_scale",
    "scaled_twice",
    "scale_inverted",
    "scaled_after_softmax",
    "values_times_weights",
)
exercise.options_of(project_exercise, "parameters_scaled_in_place")
