"""Cases and misconceptions of ``multi_head_attention``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import scaled_scores, softmax
from course_lib.heads import merge_heads, multi_head_attention, split_heads

exercise = Exercise(
    multi_head_attention,
    lesson="03_multi_head_attention",
    minutes=25,
    difficulty=3,
    uses=("split_heads", "merge_heads", "scaled_scores", "softmax"),
    returns=("output", "weights"),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "course_lib.experiments.two_heads.multi_head_layer",
    ),
)


@exercise.spec
def spec(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    (*leading, n, _), m = x.shape, memory.shape[-2]
    d_k, d_v = w_q.shape[-1] // n_heads, w_v.shape[-1] // n_heads
    if may_attend is None:
        may_attend = np.ones((n, m), dtype=bool)
    may_attend = np.broadcast_to(may_attend, (*leading, n, m))
    output = np.zeros((*leading, n, w_o.shape[-1]))
    weights = np.zeros((*leading, n_heads, n, m))
    for *batch, h in np.ndindex(*leading, n_heads):
        columns, own = slice(h * d_k, (h + 1) * d_k), slice(h * d_v, (h + 1) * d_v)
        q, k = x[*batch] @ w_q[:, columns], memory[*batch] @ w_k[:, columns]
        v = memory[*batch] @ w_v[:, own]
        for i in range(n):
            scores = [float(q[i] @ k[j]) / math.sqrt(d_k) for j in range(m)]
            allowed = [j for j in range(m) if may_attend[*batch, i, j]]
            highest = max(scores[j] for j in allowed)
            powers = {j: math.exp(scores[j] - highest) for j in allowed}
            mixed = np.zeros(d_v)
            for j in allowed:
                weights[*batch, h, i, j] = powers[j] / sum(powers.values())
                mixed += weights[*batch, h, i, j] * v[j]
            output[*batch, i] += mixed @ w_o[own]
    return output, weights


def tokens_and_parameters(
    rng,
    leading=(),
    n=5,
    m=7,
    d_model=12,
    d_memory=12,
    n_heads=3,
    d_k=4,
    d_v=4,
    d_out=12,
):
    """Draw x, memory, w_q, w_k, w_v and w_o; the defaults are the paper's sizes."""
    x, memory = rng.normal(size=(*leading, n, d_model)), (*leading, m, d_memory)
    # Scores of size 1: else the softmax has one winner, and hides what is next to it.
    w_q = rng.normal(size=(d_model, n_heads * d_k)) / math.sqrt(d_model)
    w_k = rng.normal(size=(d_memory, n_heads * d_k)) / math.sqrt(d_memory)
    w_v = rng.normal(size=(d_memory, n_heads * d_v))
    return (
        x,
        rng.normal(size=memory),
        w_q,
        w_k,
        w_v,
        rng.normal(size=(n_heads * d_v, d_out)),
    )


def some_blocked(rng, *shape):
    """Draw a mask that leaves each query at least one key."""
    may_attend = rng.random(size=shape) < 0.5
    may_attend[..., 0] = ~may_attend[..., 1]
    return may_attend


@exercise.usual
def usual(rng):
    return *tokens_and_parameters(rng, (2,)), 3, some_blocked(rng, 2, 5, 7)


@exercise.case("Two tokens attend to three tokens with two heads and give this")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0], [0.0, 2.0]])
    memory = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    w_q = math.log(2) * np.repeat(np.eye(2), 4, axis=1)  # four columns for each head
    w_k = np.repeat(np.eye(2), 4, axis=1) / 2
    w_v, w_o = np.diag([12.0, 6.0]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    # The scores are 2 ln 2 / √4 or 4 ln 2 / √4 where a head's own numbers meet, else 0.
    first = [[1 / 4, 1 / 2, 1 / 4], [1 / 3, 1 / 3, 1 / 3]]
    second = [[1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 4 / 6]]
    output = np.array([[6.0, 2.0, 8.0], [4.0, 4.0, 8.0]])
    result = student(x, memory, w_q, w_k, w_v, w_o, 2)
    student.expect(result, (output, np.array([first, second])))


@exercise.case("Heads of any size work on a batch of any shape")
def sizes_all_different(student, rng):
    # d_model divides by n_heads, and still is not n_heads · d_k.
    sizes = {"d_model": 15, "d_memory": 9, "n_heads": 3, "d_k": 4, "d_v": 6, "d_out": 8}
    student.agrees(*tokens_and_parameters(rng, **sizes), 3)
    student.agrees(*tokens_and_parameters(rng, (2, 2), n=4, m=5, **sizes), 3)


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its meaning"
)
def as_many_tokens_as_heads(student, rng):
    # Here nothing about a wrong axis, or a matrix left out, shows in a shape.
    student.agrees(*tokens_and_parameters(rng, (3,), n=3, m=3), 3)


@exercise.case("Each sequence has its own `may_attend`, the same for all its heads")
def mask_of_each_sequence(student, rng):
    # As many sequences as heads: a mask for each head would have the right shape.
    inputs = tokens_and_parameters(rng, (3,), n=4, m=5)
    student.agrees(*inputs, 3, some_blocked(rng, 3, 4, 5))
    inputs = tokens_and_parameters(rng, (2,), n=4, m=5)
    student.agrees(*inputs, 3, some_blocked(rng, 2, 4, 5))


@exercise.case("One `may_attend` of shape (n, m) holds for all sequences and heads")
def one_mask_for_all(student, rng):
    # As many tokens as heads: a row for each head would have the right shape.
    inputs = tokens_and_parameters(rng, (2,), n=3, m=5)
    student.agrees(*inputs, 3, some_blocked(rng, 3, 5))


@exercise.case("A blocked token has weight 0, even if all others fit badly")
def others_fit_badly(student, rng):
    x, memory = rng.normal(size=(2, 4)), rng.normal(size=(3, 4))
    # Every token allowed scores near −28000, and the blocked one near 0.
    x[:, ::2], memory[:, ::2], memory[1, ::2] = 200.0, -200.0, 0.0
    may_attend, same = np.array([[True, False, True], [True, False, False]]), np.eye(4)
    w_v, w_o = rng.normal(size=(2, 4, 4))
    student.agrees(x, memory, same, same, w_v, w_o, 2, may_attend)


@exercise.case("One head is plain attention, and keeps its axis of length 1")
def one_head(student, rng):
    sizes = {"d_model": 10, "n_heads": 1, "d_k": 4, "d_v": 6, "d_out": 8}
    student.agrees(*tokens_and_parameters(rng, (2,), n=4, m=5, **sizes), 1)


@exercise.case(
    "Heads in another order, with their rows of w_o, give the same output",
    visible=False,
    pays_alone=False,
)
def heads_reordered(student, rng):
    x, memory, w_q, w_k, w_v, w_o = tokens_and_parameters(rng)
    before, _ = student(x, memory, w_q, w_k, w_v, w_o, 3)
    order = [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]  # heads 0 and 1, with four each
    parameters = w_q[:, order], w_k[:, order], w_v[:, order], w_o[order]
    after, _ = student(x, memory, *parameters, 3)
    student.expect(after, before, what="the output in the other order")


@exercise.case("Tokens and parameters of whole numbers are treated like any others")
def whole_numbers(student, rng):
    sizes = ((2, 4), (3, 4), (4, 6), (4, 6), (4, 4), (4, 5))
    student.agrees(*(rng.integers(-2, 3, size=size) for size in sizes), 2)


@exercise.case("The tokens, the parameters and `may_attend` stay as they are")
def arguments_stay(student, rng):
    sizes = {"n": 2, "m": 3, "d_model": 4, "d_memory": 4, "n_heads": 2, "d_k": 2}
    inputs = tokens_and_parameters(rng, **sizes, d_v=1, d_out=3)
    student.leaves_unchanged(*inputs, 2, some_blocked(rng, 2, 3))


def heads_of(x, memory, w_q, w_k, w_v, n_heads):
    """Return queries, keys and values, split rightly."""
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    return split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)


def blocked(scores, may_attend, fill=-np.inf):
    """Replace the scores of blocked tokens, for all heads alike."""
    if may_attend is None:
        return scores
    return np.where(may_attend[..., np.newaxis, :, :], scores, fill)


def from_scores(scores, v, w_o, may_attend):
    """Compute the last steps rightly, whatever the scores are."""
    weights = softmax(blocked(scores, may_attend))
    return merge_heads(weights @ v) @ w_o, weights


def attend_rightly(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    """Attend as the exercise asks; for errors that lie before or after."""
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    return from_scores(scaled_scores(q, k), v, w_o, may_attend)


@exercise.misconception(
    "Your scores are divided by √d_model, the root of the length of a whole token.",
    "How many products are summed in one score of one head?",
    why="The formula is copied from a single head, where d_k may be d_model.",
)
def divided_by_root_of_d_model(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(x.shape[-1])
    return from_scores(scores, v, w_o, may_attend)


@exercise.misconception(
    "Your scores are divided by √(d_model / n_heads), with d_model read off x.",
    "How long are the vectors that one head really multiplies, and which argument "
    "decides that?",
    why="The paper's sizes have d_k = d_model / n_heads, and code that follows them "
    "computes d_k that way.",
)
def divided_by_root_of_a_share_of_d_model(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(x.shape[-1] / n_heads)
    return from_scores(scores, v, w_o, may_attend)


@exercise.misconception(
    "Your scores are divided by √n_heads.",
    "What is it that makes a dot product large: how many heads there are, or how many "
    "numbers it sums?",
    why="q.shape[-3] is taken for q.shape[-1], or q.shape[1] is read before the swap.",
)
def divided_by_root_of_n_heads(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(n_heads)
    return from_scores(scores, v, w_o, may_attend)


@exercise.misconception(
    "Your weights are the softmax of the plain dot products.",
    "What happens to the dot products of a head before the softmax?",
    why="With small heads the products are small as well, and nothing looks wrong.",
)
def no_scale(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    return from_scores(q @ np.swapaxes(k, -1, -2), v, w_o, may_attend)


@exercise.misconception(
    "Your heads attend to each other: for each token, your table of weights has a row "
    "and a column for each head. With n ≠ m that stops.",
    "Which two axes does `@` multiply, and what is on them before the swap?",
    why="The transpose after the reshape is left out, and with self-attention no "
    "product complains: harvardnlp/annotated-transformer, issue 17, asks for it.",
)
def attends_over_heads(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = (
        np.swapaxes(part, -2, -3)
        for part in heads_of(x, memory, w_q, w_k, w_v, n_heads)
    )
    weights = softmax(blocked(scaled_scores(q, k), may_attend))
    mixed = weights @ v  # (..., n, n_heads, d_v)
    return mixed.reshape(*mixed.shape[:-2], -1) @ w_o, weights


@exercise.misconception(
    "Your output is the mean of what the heads contribute: the right one, divided by "
    "n_heads.",
    "How many rows has w_o, and how many of them are for the result of one head?",
    why="'Combine the heads' is read as an average, as with an ensemble of models.",
)
def mean_of_heads(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = attend_rightly(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
    return output / n_heads, weights


@exercise.misconception(
    "Your output holds the heads' results side by side, and w_o is not used.",
    "Which of the parameters has not had its turn yet?",
    why="After the concatenation the shape is right already, in the paper's sizes.",
)
def no_w_o(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = softmax(blocked(scaled_scores(q, k), may_attend))
    return merge_heads(weights @ v), weights


@exercise.misconception(
    "Your weights are right, but the heads' results are joined by a reshape alone: "
    "rows of the output mix several tokens of one head.",
    "Which axis has to be next to the last one before a reshape joins the two?",
    why="649453932/Chinese-Text-Classification-Pytorch, issue 10, and "
    "hackiey/QAnet-pytorch, issue 2: nothing shows as long as there is one head.",
)
def joined_by_reshape_alone(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = softmax(blocked(scaled_scores(q, k), may_attend))
    joined = (weights @ v).reshape(*x.shape[:-1], v.shape[-1] * n_heads)
    return joined @ w_o, weights


@exercise.misconception(
    "Your queries, keys and values are cut into heads by a reshape alone: a head of "
    "yours holds all parts of some tokens, not one part of all tokens.",
    "In which order does `reshape` read the numbers of a sequence?",
    why="view(batch * n_heads, -1, d_k) in one step: reczoo/FuxiCTR, issue 30.",
)
def cut_by_reshape_alone(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    def cut(part):
        *leading, rows, numbers = part.shape
        return part.reshape(*leading, n_heads, rows, numbers // n_heads)

    q, k, v = cut(x @ w_q), cut(memory @ w_k), cut(memory @ w_v)
    weights = softmax(blocked(scaled_scores(q, k), may_attend))
    joined = (weights @ v).reshape(*x.shape[:-1], v.shape[-1] * n_heads)
    return joined @ w_o, weights


@exercise.misconception(
    "Your heads take the columns of w_q, w_k and w_v in turn: head 0 has column 0, "
    "column n_heads, column 2 · n_heads and so on.",
    "Which columns does the docstring give to head 1?",
    why="reshape(..., d_k, n_heads) names the same sizes in the other order; trained "
    "from scratch it works as well, and no loaded parameters fit.",
)
def columns_dealt_in_turn(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    in_turn = [
        np.concatenate([w[:, h::n_heads] for h in range(n_heads)], axis=1)
        for w in (w_q, w_k, w_v)
    ]
    rows = np.concatenate([w_o[h::n_heads] for h in range(n_heads)])
    return attend_rightly(x, memory, *in_turn, rows, n_heads, may_attend)


@exercise.misconception(
    "Your softmax runs along axis 1: with one leading axis, over the heads.",
    "Along which axis do the tokens lie that a query chooses among?",
    why="softmax(..., axis=1) and nn.Softmax(dim=1) were right before the batch and "
    "the heads came.",
)
def softmax_over_axis_one(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = softmax(blocked(scaled_scores(q, k), may_attend), axis=1)
    return merge_heads(weights @ v) @ w_o, weights


@exercise.misconception(
    "Your keys and values are made from x; the memory is not used. With n ≠ m that "
    "changes the shape of the weights.",
    "Which tokens attend here, and which are attended to?",
    why="In self-attention the two are the same, and most code is read there.",
)
def memory_ignored(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    return attend_rightly(x, x, w_q, w_k, w_v, w_o, n_heads, may_attend)


@exercise.misconception(
    "Your tokens attend to each other, to all of them: neither the memory nor "
    "`may_attend` is used.",
    "Which of the arguments does your code never name?",
    why="The self-attention of the lesson before, with heads, is the first draft.",
)
def memory_and_mask_ignored(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    return attend_rightly(x, x, w_q, w_k, w_v, w_o, n_heads)


@exercise.misconception(
    "Your output is right, but the weights are averaged over the heads.",
    "How could one see what head 1 attends to, from what you return?",
    why="PyTorch's nn.MultiheadAttention does so unless average_attn_weights=False.",
)
def weights_averaged(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = attend_rightly(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
    return output, weights.mean(axis=-3)


@exercise.misconception(
    "Your `may_attend` meets the scores without an axis for the heads: its batch is "
    "laid along the heads, which stops unless the two are equally many.",
    "Which axes has `may_attend`, which axes have the scores, and which ones does "
    "NumPy lay against each other?",
    why="One mask for a single sequence broadcasts by itself; the batch comes later "
    "(the unsqueeze(1) of most published versions).",
)
def mask_without_an_axis_for_heads(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    scores = scaled_scores(q, k)
    if may_attend is not None:
        scores = np.where(may_attend, scores, -np.inf)
    return from_scores(scores, v, w_o, None)


@exercise.misconception(
    "Your `may_attend` gets its axis for the heads as axis 1, counted from the front: "
    "right behind one leading axis only.",
    "What does axis 1 hold in a `may_attend` of shape (n, m)?",
    why="mask.unsqueeze(1) and mask[:, None] are written for one mask per sequence.",
)
def mask_axis_counted_from_the_front(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    scores = scaled_scores(q, k)
    if may_attend is not None:
        scores = np.where(may_attend[:, np.newaxis], scores, -np.inf)
    return from_scores(scores, v, w_o, None)


@exercise.misconception(
    "Your `may_attend` works the other way round: where it is True, you block.",
    "What does True in `may_attend` say, read aloud?",
    why="In PyTorch's nn.MultiheadAttention True means blocked; in its "
    "scaled_dot_product_attention True means allowed.",
)
def mask_reversed(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    other = None if may_attend is None else ~may_attend
    return attend_rightly(x, memory, w_q, w_k, w_v, w_o, n_heads, other)


@exercise.misconception(
    "Your tokens attend to all tokens: `may_attend` changes nothing.",
    "Which argument have you not used yet?",
    why="An argument with a default is overlooked, since the first tests go without.",
)
def mask_ignored(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    return attend_rightly(x, memory, w_q, w_k, w_v, w_o, n_heads)


@exercise.misconception(
    "Your blocked weights are 0, but the rows that remain no longer sum to 1.",
    "What does the softmax know of the mask, if the mask comes after it?",
    why="Setting weights to zero is the first thing that 'blocking' calls to mind.",
)
def mask_after_softmax(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = blocked(softmax(scaled_scores(q, k)), may_attend, fill=0.0)
    return merge_heads(weights @ v) @ w_o, weights


@exercise.misconception(
    "Your blocked tokens get the score 0, and so a weight above 0.",
    "What is e to the power of 0, and which score has the power 0?",
    why="`scores * may_attend` looks like switching off.",
)
def blocked_scores_are_zero(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = softmax(blocked(scaled_scores(q, k), may_attend, fill=0.0))
    return merge_heads(weights @ v) @ w_o, weights


@exercise.misconception(
    "Your blocked tokens get the score −10000, and where all others score less, they "
    "get the weight.",
    "Below which score is a token sure to get the weight 0, whatever the others are?",
    why="−1e4 fits into float16, and was `masked_bias` in the code of GPT-2.",
)
def blocked_scores_are_finite(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = softmax(blocked(scaled_scores(q, k), may_attend, fill=-1e4))
    return merge_heads(weights @ v) @ w_o, weights


@exercise.misconception(
    "Your weights of a single head have no axis for the heads.",
    "How many axes have the weights of two heads, and how many should those of one "
    "have?",
    why="`if n_heads == 1: return attention(…)` or a squeeze looks tidy.",
)
def one_head_without_its_axis(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = attend_rightly(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
    return output, weights[..., 0, :, :] if n_heads == 1 else weights


@exercise.misconception(
    "Your output loses everything after the decimal point of each head's result when "
    "the values are whole numbers.",
    "Which dtype has the array that you write the heads' results into?",
    why="np.zeros_like(v) has the right shape and takes over v's integers.",
)
def cut_to_whole_numbers(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    weights = softmax(blocked(scaled_scores(q, k), may_attend))
    mixed = np.empty((*q.shape[:-1], v.shape[-1]), dtype=v.dtype)
    mixed[...] = weights @ v
    return merge_heads(mixed) @ w_o, weights


@exercise.misconception(
    "Your two arrays are right, but w_q is divided by √d_k in place and stays so.",
    "What does `w_q /= …` do to the array that the caller holds?",
    why="Scaling w_q once saves work, as fast implementations do, and `/=` looks like "
    "a new w_q.",
)
def parameters_scaled_in_place(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    if w_q.dtype.kind == "f":  # whole numbers cannot be divided in place
        w_q /= math.sqrt(w_q.shape[-1] // n_heads)
    else:
        w_q = w_q / math.sqrt(w_q.shape[-1] // n_heads)
    q, k, v = heads_of(x, memory, w_q, w_k, w_v, n_heads)
    return from_scores(q @ np.swapaxes(k, -1, -2), v, w_o, may_attend)
