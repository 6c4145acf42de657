"""Cases and misconceptions of ``count_parameters``."""

import numpy as np

from autograder import Exercise
from course_lib.heads import count_parameters

exercise = Exercise(
    count_parameters,
    lesson="03_multi_head_attention",
    minutes=6,
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
    "Two heads and tokens of six numbers need 144 parameters, 168 with biases",
    weight=1,
)
def small_example_by_hand(student, rng):
    student.expect(student(6, 2, False), 4 * 6 * 6)
    student.expect(student(6, 2, True), 4 * (6 * 6 + 6))


@exercise.case("The paper's eight heads of 64 need 1048576 parameters", weight=0.5)
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
    student.expect(student(9, 3, True), 4 * 9 * 9 + 4 * 9)
    n_heads, d_k = (int(size) for size in rng.integers(2, 40, size=2))
    student.agrees(n_heads * d_k, n_heads, True)


@exercise.fine_point(
    "Ten numbers do not divide among three heads: that ends in an error"
)
def does_not_divide(student, rng):
    student.raises(Exception, 10, 3, False)
    student.raises(Exception, 3, 6, True)


@exercise.case("The count is an `int`", weight=0.5, pays_alone=False)
def count_is_whole(student, rng):
    for bias in (False, True):
        count = student(int(rng.integers(2, 9)) * 6, 6, bias)
        student.expect(
            isinstance(count, int | np.integer), True, what="whether it is an int"
        )


@exercise.case("Sizes that are drawn are counted as they come", visible=False)
def other_sizes(student, rng):
    for bias in (False, True):
        n_heads, d_k = (int(size) for size in rng.integers(2, 40, size=2))
        student.agrees(n_heads * d_k, n_heads, bias)


@exercise.variants
def variants(
    d_model,
    n_heads,
    bias,
    *,
    checked="d_model % n_heads",
    sizes="d_k",
    heads="all",
    matrices=3,
    w_o="n_heads · d_k rows",
    biases="four",
    added="where asked for",
):
    is_refused = {
        "d_model % n_heads": d_model % n_heads > 0,
        "more numbers than heads": d_model > n_heads and d_model % n_heads > 0,
        "n_heads % d_model": n_heads % d_model > 0,
        "one head too": n_heads == 1 or d_model % n_heads > 0,
    }
    if is_refused.get(checked, False):
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    if checked == "nothing: None" and d_model % n_heads:
        return None
    if checked == "nothing, unrounded" and d_model % n_heads:
        return 4 * (d_model + bias) * d_model
    d_k, count = d_model // n_heads, n_heads if heads == "all" else 1
    d_k = {"64": 64, "full": d_model, "full, but w_o": d_model}.get(sizes, d_k)
    rows = d_k if sizes == "d_k by d_k" else d_model
    numbers = matrices * count * rows * d_k
    of_last = d_model if sizes == "full, but w_o" else n_heads * d_k
    numbers += d_model * (d_k if w_o == "d_k rows" else of_last)
    own = d_model if sizes.startswith("full") else count * d_k
    numbers_added = {
        "four": matrices * own + d_model,
        "none of w_o": matrices * own,
        "of w_o alone": d_model,
        "full for each head": (3 * n_heads + 1) * d_model,
        "of one head": 3 * d_k + d_model,
        "one number": 4,
        "one number for each head": 4 * n_heads,
    }[biases]
    is_added = {"where asked for": bias, "always": True, "where not": not bias}
    numbers += numbers_added * is_added.get(added, False)
    return n_heads * numbers if sizes == "everything for each head" else numbers


for sizes, name, diagnosis, question, why in (
    (
        "everything for each head",
        "full_matrices_for_each_head",
        "Your count has everything n_heads times: as if every head had full-sized "
        "matrices and biases.",
        "How long are the queries of one head, if all heads together give d_model "
        "numbers?",
        "'Each head has its own matrices' is right, and their size goes unsaid.",
    ),
    (
        "full",
        "full_matrices_beside_right_biases",
        "Your matrices have n_heads times too many numbers: as if every head had "
        "full-sized ones.",
        "How many columns of w_q belong to one head, if w_q has d_model of them?",
        "'Each head has its own matrices' is right, and biases are thought of once "
        "for the whole layer.",
    ),
    (
        "full, but w_o",
        "full_projections_for_each_head",
        "Your w_q, w_k and w_v have n_heads times too many numbers: as if every head "
        "had d_model columns of each.",
        "How many columns of w_q belong to one head, if w_q has d_model of them?",
        "Each head is thought to see, and to make, the whole vector.",
    ),
    (
        "d_k by d_k",
        "tokens_cut_before_the_projection",
        "Your matrices are d_k by d_k for each head: as if a head saw its own part of "
        "each token only.",
        "Is a token cut for the heads before it is multiplied, or after?",
        "The input is cut before the projection in MarcoMeter/"
        "episodic-transformer-memory-ppo (pull request 22) and in Khaliladib11/"
        "Transformer-from-scratch (issue 3).",
    ),
    (
        "64",
        "heads_of_length_64",
        "Your heads are 64 numbers long, whatever d_model is.",
        "Which sizes in your formula come from the arguments?",
        "d_k = 64 is the paper's, and its sizes come out right.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, sizes=sizes)
exercise.option(
    "one_head_only",
    "Your queries, keys and values are counted for one head only.",
    "How many heads are there, and does each have its own w_q?",
    why="One head is worked out on paper, and the number of heads never comes in.",
    heads="one",
)
for matrices, name, number in (
    (2, "w_o_forgotten", "three"),
    (4, "one_matrix_too_many", "five"),
    (1, "one_matrix_for_all", "two"),
):
    exercise.option(
        name,
        f"Your count has {number} matrices in all, not four.",
        "What makes queries, keys and values of the tokens, and what happens to the "
        "heads' results once they are side by side?",
        why="Queries, keys and values are what every picture shows; w_o is not.",
        matrices=matrices,
    )
exercise.option(
    "w_o_for_one_head",
    "Your w_o has d_k rows: as if the heads' results were averaged before it.",
    "How many numbers does a token have when all heads' results are side by side?",
    why="Heads are taken for an ensemble whose results are averaged.",
    w_o="d_k rows",
)
for added, name, diagnosis, question, why in (
    (
        "never",
        "bias_ignored",
        "Your count never has biases.",
        "Which of the arguments have you not used yet?",
        "The paper's formulas have no biases, and PyTorch's layer has.",
    ),
    (
        "always",
        "bias_always",
        "Your count always has biases.",
        "Which of the arguments says whether there are biases, and where do you ask "
        "it?",
        "nn.Linear has a bias by default.",
    ),
    (
        "where not",
        "bias_the_other_way_round",
        "Your count has biases where `bias` is False, and none where it is True.",
        "What does bias=True say, read aloud?",
        "`if not bias` is written for the longer branch.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, added=added)
for biases, name, diagnosis, question, why in (
    (
        "none of w_o",
        "no_bias_beside_w_o",
        "Your count has no bias for w_o.",
        "How many projections are there, with the last one?",
        "The output projection is kept apart: add_bias_kv, qkv_bias and the like "
        "speak of the first three.",
    ),
    (
        "of w_o alone",
        "one_bias_only",
        "Your count has one bias, that of w_o, and none for queries, keys and values.",
        "Which of the four projections adds a bias, as the docstring has it?",
        "'A bias' sounds like one vector for the whole layer.",
    ),
    (
        "full for each head",
        "full_biases_for_each_head",
        "Your heads each have biases of length d_model.",
        "How long are the queries of one head, and how long is what is added to them?",
        "The length of a bias is taken from its input, or from the whole layer.",
    ),
    (
        "of one head",
        "biases_of_one_head",
        "Your queries, keys and values have the biases of one head only: d_k numbers "
        "each.",
        "How many heads add a bias to their queries?",
        "The length of a head's bias is right, and the number of heads is forgotten.",
    ),
    (
        "one number",
        "a_bias_is_one_number",
        "Your biases are one number each, not one for each number of the result.",
        "Is a bias a number or a vector, and what is it added to?",
        "In `y = a x + b` b is a number.",
    ),
    (
        "one number for each head",
        "a_bias_is_one_number_for_each_head",
        "Your biases are one number for each head: 4 · n_heads in all.",
        "To what is a head's bias added, and how long is that?",
        "In `y = a x + b` b is a number, and every head has its own.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, biases=biases)
for checked, name, diagnosis, question in (
    (
        "nothing, unrounded",
        "divisibility_not_checked",
        "Your count also comes where n_heads does not divide d_model.",
        "How long would the heads be for d_model = 10 and n_heads = 3?",
    ),
    (
        "nothing",
        "remainder_dropped",
        "Your count is for heads that are rounded down where n_heads does not divide "
        "d_model.",
        "What does `//` do with a remainder, and who learns of it?",
    ),
    (
        "nothing: None",
        "remainder_gives_none",
        "Your result is None where n_heads does not divide d_model: no error comes.",
        "Which word makes a function stop with an error?",
    ),
    (
        "more numbers than heads",
        "too_many_heads_let_through",
        "Your code lets n_heads through where it is larger than d_model.",
        "Into how many equal parts can three numbers be cut?",
    ),
    (
        "n_heads % d_model",
        "remainder_of_the_wrong_division",
        "Your code refuses sizes that fit: n_heads is divided by d_model, not d_model "
        "by n_heads.",
        "Which remainder tells whether d_model numbers fit into n_heads equal parts?",
    ),
    (
        "one head too",
        "one_head_refused",
        "Your code refuses a single head.",
        "Into how many parts does one head cut a token?",
    ),
):
    exercise.option(
        name,
        diagnosis,
        question,
        why="The number of heads cancels out of the formula, so it is checked badly.",
        checked=checked,
    )
