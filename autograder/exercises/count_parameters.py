"""Cases and misconceptions of ``count_parameters``."""

from autograder import Exercise
from course_lib.heads import count_parameters

exercise = Exercise(
    count_parameters,
    lesson="03_multi_head_attention",
    minutes=8,
    difficulty=1,
    library=("torch.nn.MultiheadAttention",),
)


@exercise.spec
def spec(d_model, n_heads, bias):
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    d_k = d_model // n_heads
    count = 0
    for _ in range(n_heads):
        for _ in ("w_q", "w_k", "w_v"):
            count += d_model * d_k
            if bias:
                count += d_k
    count += n_heads * d_k * d_model  # w_o
    if bias:
        count += d_model
    return count


@exercise.usual
def usual(rng):
    return 12, 3, True


@exercise.case(
    "Two heads and tokens of six numbers need 144 parameters, 168 with biases"
)
def small_example_by_hand(student, rng):
    student.expect(student(6, 2, False), 4 * 6 * 6)
    student.expect(student(6, 2, True), 4 * (6 * 6 + 6))


@exercise.case("The paper's eight heads of 64 need 1048576 parameters")
def size_of_the_paper(student, rng):
    student.expect(student(512, 8, False), 1048576)
    n_heads = int(rng.integers(9, 99))
    student.agrees(64 * n_heads, n_heads, False)


@exercise.case("Tokens of twelve numbers need 576 parameters, however many the heads")
def any_number_of_heads(student, rng):
    for n_heads in (1, 2, 3, 4, 6, 12):
        student.expect(student(12, n_heads, False), 576)


@exercise.case("Biases add the same few parameters, however many the heads")
def biases_of_any_number_of_heads(student, rng):
    for n_heads in (1, 2, 5, 10):
        student.expect(student(10, n_heads, True), 4 * 10 * 10 + 4 * 10)
    n_heads, d_k = (int(size) for size in rng.integers(2, 40, size=2))
    student.agrees(n_heads * d_k, n_heads, True)


@exercise.case(
    "Ten numbers do not divide among three heads: that raises a `ValueError`"
)
def does_not_divide(student, rng):
    student.raises(ValueError, 10, 3, False)
    student.raises(ValueError, 3, 6, True)


@exercise.case("Sizes that are drawn are counted as they come", visible=False)
def other_sizes(student, rng):
    for bias in (False, True):
        n_heads, d_k = (int(size) for size in rng.integers(2, 40, size=2))
        student.agrees(n_heads * d_k, n_heads, bias)


def size_of_a_head(d_model, n_heads):
    """Return d_k, or refuse a remainder as the exercise asks."""
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    return d_model // n_heads


def of_matrices(d_model, n_heads):
    """Count rightly, biases aside."""
    size_of_a_head(d_model, n_heads)
    return 4 * d_model**2


@exercise.misconception(
    "You count n_heads times too many: as if every head had full-sized matrices.",
    "How long are the queries of one head, if all heads together give d_model numbers?",
    why="'Each head has its own matrices' is right, and their size goes unsaid.",
)
def full_matrices_for_each_head(d_model, n_heads, bias):
    return n_heads * (of_matrices(d_model, n_heads) + 4 * d_model * bias)


@exercise.misconception(
    "Your biases are right, but you count n_heads times too many numbers in the "
    "matrices: as if every head had full-sized ones.",
    "How many columns of w_q belong to one head, if w_q has d_model of them?",
    why="'Each head has its own matrices' is right, and biases are thought of once "
    "for the whole layer.",
)
def full_matrices_beside_right_biases(d_model, n_heads, bias):
    return n_heads * of_matrices(d_model, n_heads) + 4 * d_model * bias


@exercise.misconception(
    "You count three matrices: there is nothing for w_o.",
    "What happens to the heads' results once they are side by side?",
    why="Queries, keys and values are what every picture shows.",
)
def w_o_forgotten(d_model, n_heads, bias):
    size_of_a_head(d_model, n_heads)
    return 3 * (d_model**2 + d_model * bias)


@exercise.misconception(
    "You count queries, keys and values for one head only.",
    "How many heads are there, and does each have its own w_q?",
    why="One head is worked out on paper, and the number of heads never comes in.",
)
def one_head_only(d_model, n_heads, bias):
    d_k = size_of_a_head(d_model, n_heads)
    return 3 * (d_model + bias) * d_k + (d_model + bias) * d_model


@exercise.misconception(
    "Your w_o has d_k rows: as if the heads' results were averaged before it.",
    "How many numbers does a token have when all heads' results are side by side?",
    why="Heads are taken for an ensemble whose results are averaged.",
)
def w_o_for_one_head(d_model, n_heads, bias):
    d_k = size_of_a_head(d_model, n_heads)
    return 3 * (d_model + bias) * d_model + (d_k + bias) * d_model


@exercise.misconception(
    "Your matrices are d_k by d_k for each head: as if a head saw its own part of each "
    "token only.",
    "Is a token cut for the heads before it is multiplied, or after?",
    why="The input is cut before the projection in MarcoMeter/"
    "episodic-transformer-memory-ppo (pull request 22) and in Khaliladib11/"
    "Transformer-from-scratch (issue 3).",
)
def tokens_cut_before_the_projection(d_model, n_heads, bias):
    d_k = size_of_a_head(d_model, n_heads)
    return 3 * n_heads * (d_k + bias) * d_k + (d_model + bias) * d_model


@exercise.misconception(
    "Your count is the same with and without biases: it has none.",
    "What does a projection with a bias add to each token, and how long is it?",
    why="The paper's formulas have no biases, and PyTorch's layer has.",
)
def bias_ignored(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads)


@exercise.misconception(
    "Your count is the same with and without biases: it always has them.",
    "Which of the arguments says whether there are biases, and where do you ask it?",
    why="nn.Linear has a bias by default.",
)
def bias_always(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads) + 4 * d_model


@exercise.misconception(
    "You count biases for queries, keys and values, and none for w_o.",
    "How many projections are there, with the last one?",
    why="The output projection is kept apart: add_bias_kv, qkv_bias and the like speak "
    "of the first three.",
)
def no_bias_beside_w_o(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads) + 3 * d_model * bias


@exercise.misconception(
    "You count one bias, that of w_o, and none for queries, keys and values.",
    "Which of the four projections adds a bias, as the docstring has it?",
    why="'A bias' sounds like one vector for the whole layer.",
)
def one_bias_only(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads) + d_model * bias


@exercise.misconception(
    "Each head of yours has biases of length d_model.",
    "How long are the queries of one head, and how long is what is added to them?",
    why="The length of a bias is taken from its input, or from the whole layer.",
)
def full_biases_for_each_head(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads) + (3 * n_heads + 1) * d_model * bias


@exercise.misconception(
    "You count one number for each bias, not one for each number of its result.",
    "Is a bias a number or a vector, and what is it added to?",
    why="In `y = a x + b` b is a number.",
)
def a_bias_is_one_number(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads) + 4 * bias


@exercise.misconception(
    "You count one number for each bias of each head: 4 · n_heads in all.",
    "To what is a head's bias added, and how long is that?",
    why="In `y = a x + b` b is a number, and every head has its own.",
)
def a_bias_is_one_number_for_each_head(d_model, n_heads, bias):
    return of_matrices(d_model, n_heads) + 4 * n_heads * bias


@exercise.misconception(
    "Your heads are 64 numbers long, whatever d_model is.",
    "Which sizes in your formula come from the arguments?",
    why="d_k = 64 is the paper's, and its sizes come out right.",
)
def heads_of_length_64(d_model, n_heads, bias):
    size_of_a_head(d_model, n_heads)
    of_a_head = 3 * (d_model + bias) * 64
    return n_heads * of_a_head + (n_heads * 64 + bias) * d_model


@exercise.misconception(
    "You count for any number of heads, also where d_model does not divide.",
    "How long would the heads be for d_model = 10 and n_heads = 3?",
    why="The number of heads cancels out of the formula, so it is never checked.",
)
def divisibility_not_checked(d_model, n_heads, bias):
    return 4 * (d_model + bias) * d_model


@exercise.misconception(
    "Where d_model does not divide, you count for heads that are rounded down.",
    "What does `//` do with a remainder, and who learns of it?",
    why="d_model // n_heads never complains.",
)
def remainder_dropped(d_model, n_heads, bias):
    d_k = d_model // n_heads
    of_a_head = 3 * (d_model + bias) * d_k
    return n_heads * of_a_head + (n_heads * d_k + bias) * d_model
