"""Cases and misconceptions of ``count_parameters``."""

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
        student.expect_an_int(count)


@exercise.case("Sizes that are drawn are counted as they come", visible=False)
def other_sizes(student, rng):
    for bias in (False, True):
        n_heads, d_k = (int(size) for size in rng.integers(2, 40, size=2))
        student.agrees(n_heads * d_k, n_heads, bias)


exercise.edits(
    """
full_matrices_for_each_head: return n_heads * 4 * (d_model + bias) * d_model
  Your count has everything n_heads times: as if every head had full-sized matrices
    and biases.
  ? How long are the queries of one head, if all heads together give d_model numbers?
  # 'Each head has its own matrices' is right, and their size goes unsaid.
full_matrices_beside_right_biases:
  | return n_heads * 4 * d_model ** 2 + 4 * bias * d_model
  Your matrices have n_heads times too many numbers: as if every head had full-sized
    ones.
  ? How many columns of w_q belong to one head, if w_q has d_model of them?
  # 'Each head has its own matrices' is right, and biases are thought of once for the
    whole layer.
full_projections_for_each_head:
  | return (3 * n_heads + 1) * d_model ** 2 + 4 * bias * d_model
  Your w_q, w_k and w_v have n_heads times too many numbers: as if every head had
    d_model columns of each.
  # Each head is thought to see, and to make, the whole vector.
tokens_cut_before_the_projection: (d_model + bias) -> (d_k + bias)
  Your w_q, w_k and w_v have d_model times d_k numbers each: as many as one head needs,
    or as all heads with a part of each token only.
  ? How many entries of a token does a head read, and how many heads are there?
  # The input is cut before the projection in
    MarcoMeter/episodic-transformer-memory-ppo (pull request 22) and in
    Khaliladib11/Transformer-from-scratch (issue 3).
heads_of_length_64: d_k = 64
  Your heads are 64 numbers long, whatever d_model is.
  ? Which sizes in your formula come from the arguments?
  # d_k = 64 is the paper's, and its sizes come out right.
one_head_only: n_heads * of_a_head -> of_a_head
  Your queries, keys and values are counted for one head only.
  ? How many heads are there, and does each have its own w_q?
  # One head is worked out on paper, and the number of heads never comes in.
w_o_forgotten: 3 * -> 2 *
  Your count has three matrices in all, not four.
  ? What makes queries, keys and values of the tokens, and what happens to the heads'
    results once they are side by side?
  # Queries, keys and values are what every picture shows; w_o is not.
one_matrix_too_many: 3 * -> 4 *
  Your count has five matrices in all, not four.
one_matrix_for_all: 3 * (d_model + bias) -> (d_model + bias)
  Your count has two matrices in all, not four.
w_o_for_one_head: (n_heads * d_k + bias) -> (d_k + bias)
  Your w_o has d_k rows: as if the heads' results were averaged before it.
  ? How many numbers does a token have when all heads' results are side by side?
  # Heads are taken for an ensemble whose results are averaged.
bias_ignored:
  | (d_model + bias) -> d_model
  | (n_heads * d_k + bias) -> n_heads * d_k
  Your count never has biases.
  ? Which of the arguments have you not used yet?
  # The paper's formulas have no biases, and PyTorch's layer has.
bias_always: + bias => + 1
  Your count always has biases.
  ? Which of the arguments says whether there are biases, and where do you ask it?
  # nn.Linear has a bias by default.
bias_the_other_way_round: + bias => + (not bias)
  Your count has biases where `bias` is False, and none where it is True.
  ? What does bias=True say, read aloud?
  # `if not bias` is written for the longer branch.
no_bias_beside_w_o: (n_heads * d_k + bias) -> n_heads * d_k
  Your count has no bias for w_o.
  ? How many projections are there, with the last one?
  # The output projection is kept apart: add_bias_kv, qkv_bias and the like speak of
    the first three.
one_bias_only: (d_model + bias) -> d_model
  Your count has one bias, that of w_o, and none for queries, keys and values.
  ? Which of the four projections adds a bias, as the docstring has it?
  # 'A bias' sounds like one vector for the whole layer.
full_biases_for_each_head: of_a_head = 3 * d_model * (d_k + bias)
  Your heads each have biases of length d_model.
  ? How long are the queries of one head, and how long is what is added to them?
  # The length of a bias is taken from its input, or from the whole layer.
biases_of_one_head:
  | of_a_head = 3 * d_model * d_k
  | return n_heads * of_a_head -> return n_heads * of_a_head + 3 * bias * d_k
  Your queries, keys and values have the biases of one head only: d_k numbers each.
  ? How many heads add a bias to their queries?
  # The length of a head's bias is right, and the number of heads is forgotten.
a_bias_is_one_number: return 4 * d_model ** 2 + 4 * bias
  Your biases are one number each, not one for each number of the result.
  ? Is a bias a number or a vector, and what is it added to?
  # In `y = a x + b` b is a number.
a_bias_is_one_number_for_each_head: return 4 * d_model ** 2 + 4 * n_heads * bias
  Your biases are one number for each head: 4 · n_heads in all.
  ? To what is a head's bias added, and how long is that?
  # In `y = a x + b` b is a number, and every head has its own.
divisibility_not_checked:
  | if d_model % n_heads:
  :     raise ValueError… ->
  | return 4 * (d_model + bias) * d_model
  Your count also comes where n_heads does not divide d_model.
  ? How long would the heads be for d_model = 10 and n_heads = 3?
  # The number of heads cancels out of the formula, so it is checked badly.
remainder_dropped:
  | if d_model % n_heads:
  :     raise ValueError… ->
  Your count is for heads that are rounded down where n_heads does not divide d_model.
  ? What does `//` do with a remainder, and who learns of it?
remainder_gives_none: raise ValueError… -> return None
  Your result is None where n_heads does not divide d_model: no error comes.
  ? Which word makes a function stop with an error?
too_many_heads_let_through:
  | if d_model % n_heads -> if d_model > n_heads and d_model % n_heads
  Your code lets n_heads through where it is larger than d_model.
  ? Into how many equal parts can three numbers be cut?
remainder_of_the_wrong_division: if d_model % n_heads -> if n_heads % d_model
  Your code refuses sizes that fit: n_heads is divided by d_model, not d_model by
    n_heads.
  ? Which remainder tells whether d_model numbers fit into n_heads equal parts?
one_head_refused: if d_model % n_heads -> if n_heads == 1 or d_model % n_heads
  Your code refuses a single head.
  ? Into how many parts does one head cut a token?
""",
)
