"""Cases and misconceptions of ``flops``."""

import numpy as np

from autograder import Exercise
from course_lib.costs import flops

exercise = Exercise(
    flops,
    lesson="14_fast_attention",
    minutes=12,
    difficulty=2,
    library=(
        "course_lib.lessons.cost.matmul_flops",
        "torch.utils.flop_counter.FlopCounterMode",
    ),
)

KINDS = ("attention", "window", "recurrence", "convolution")
PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)


@exercise.spec
def spec(kind, n, d, k=None):
    sizes = {"attention": [n, d], "recurrence": [n, d]}.get(kind, [n, d, k])
    keys = {"attention": n, "window": n if sizes[-1] > n else k}.get(kind)
    products = {  # of an (a, b) with a (b, c) matrix
        "attention": [(n, d, keys), (n, keys, d)],
        "window": [(n, d, keys), (n, keys, d)],
        "recurrence": [(n, d, d), (n, d, d)],
        "convolution": [(n, d * sizes[-1], d)],
    }[kind]
    total = 0
    for a, b, c in products:
        multiplications = a * b * c
        additions = a * b * c
        total += multiplications + additions
    return total


def drawn(rng, count):
    """Draw different primes, the smallest first."""
    return sorted(rng.choice(PRIMES, size=count, replace=False).tolist())


def drawn_sizes(rng):
    """Draw n, d and k, all different, and n above k."""
    k, *others = drawn(rng, 3)
    n, d = rng.permutation(others).tolist()
    return n, d, k


@exercise.usual
def usual(rng):
    n, d, k = drawn_sizes(rng)
    kind = KINDS[rng.integers(4)]
    return (kind, n, d, k) if kind in ("window", "convolution") else (kind, n, d)


@exercise.case(
    "Attention takes two products over all pairs (n = 3, d = 2: 72 operations)",
    weight=2,
)
def attention_by_hand(student, rng):
    # q kᵀ has 9 numbers, each of 2 products and 2 additions: 36. weights v has 6
    # numbers, each of 3 products and 3 additions: 36.
    student.expect(student("attention", 3, 2), 72)
    n, d, _ = drawn_sizes(rng)
    student.agrees("attention", n, d)


@exercise.case(
    "A recurrence takes two products at each position (n = 3, d = 2: 48)", weight=2
)
def recurrence_by_hand(student, rng):
    # At each position two products of 2 numbers with a (2, 2) matrix: 2 · (4 + 4).
    student.expect(student("recurrence", 3, 2), 48)
    n, d, _ = drawn_sizes(rng)
    student.agrees("recurrence", n, d)


@exercise.case(
    "A convolution takes k products at each position (n = 7, d = 2, k = 5: 280)",
    weight=2.5,
)
def convolution_by_hand(student, rng):
    # At each of 7 positions 5 products of 2 numbers with a (2, 2) matrix: 5 · (4 + 4).
    student.expect(student("convolution", 7, 2, 5), 280)
    n, d, k = drawn_sizes(rng)
    student.agrees("convolution", n, d, k)


@exercise.case(
    "A window takes two products over its keys (n = 5, d = 2, k = 3: 120)", weight=2
)
def window_by_hand(student, rng):
    # 15 scores, each of 2 products and 2 additions: 60. 10 numbers of the output, each
    # of 3 products and 3 additions: 60.
    student.expect(student("window", 5, 2, 3), 120)
    n, d, k = drawn_sizes(rng)
    student.agrees("window", n, d, k)


@exercise.case("With n = d attention and recurrence take what the formulas say")
def as_many_positions_as_numbers(student, rng):
    (size,) = drawn(rng, 1)
    recurrence = student("recurrence", size, size)
    student.expect(recurrence, 4 * size**3)
    attention = student("attention", size, size)
    student.expect(attention, 4 * size**3)


@exercise.case("The counts for n and for 2n are right for each kind", weight=3)
def twice_as_many_positions(student, rng):
    for kind, times in zip(KINDS, (4, 2, 2, 2), strict=True):
        n, d, k = drawn_sizes(rng)
        student.agrees(kind, n, d, k)
        once, twice = student(kind, n, d, k), student(kind, 2 * n, d, k)
        student.expect(twice, times * once)


@exercise.case("A window as wide as the sequence, or wider, takes as much as attention")
def wide_windows(student, rng):
    n, d = drawn(rng, 2)
    student.expect(student("window", n, d, n), 4 * n * n * d)
    for k in (n - 1, n + 1, 3 * n):
        student.agrees("window", n, d, k)


@exercise.case(
    "With k = 1 a window of one key and a convolution of one matrix are counted"
)
def one_position_at_once(student, rng):
    n, d, _ = drawn_sizes(rng)
    student.agrees("window", n, d, 1)
    student.agrees("convolution", n, d, 1)


@exercise.case("Attention and recurrence are counted rightly whatever k is")
def k_ignored(student, rng):
    n, d, k = drawn_sizes(rng)
    for kind in ("attention", "recurrence"):
        student.agrees(kind, n, d, k)
        student.agrees(kind, n, d, 0)


@exercise.case("One position, or vectors of one number, cost what the formula says")
def sizes_of_one(student, rng):
    for kind in KINDS:
        d, k = drawn(rng, 2)
        student.agrees(kind, 1, d, k)
        n, k = drawn(rng, 2)
        student.agrees(kind, n, 1, k)


@exercise.case("A kernel wider than the sequence keeps its cost", visible=False)
def wide_kernels(student, rng):
    for _ in range(2):
        n, d, k = drawn(rng, 3)
        student.agrees("convolution", n, d, k)


@exercise.case("Large counts are exact", weight=2, visible=False)
def large_sizes(student, rng):
    n, d, k = (2 * rng.integers(100_000, 300_000, size=3) + 1).tolist()
    for kind in KINDS:
        student.agrees(kind, n, d, min(n, k) - 2)


@exercise.fine_point("The count is an `int`, also where it is computed with `/`")
def count_is_whole(student, rng):
    n, d, k = (int(size) for size in rng.integers(2, 40, size=3))
    for kind in ("attention", "recurrence", "window", "convolution"):
        count = student(kind, n, d, k)
        student.expect(
            isinstance(count, int | np.integer), True, what="whether it is an int"
        )


def read_inside(n, k):
    """Count what all positions read: k each, the first ones what is before them."""
    k = min(n, k)
    return k * (k + 1) // 2 + (n - k) * k


ATTENTION = {
    "right": lambda n, d: 4 * n**2 * d,
    "n d²": lambda n, d: 4 * n * d**2,
    "n d": lambda n, d: 4 * n * d,
    "n² d²": lambda n, d: 4 * n**2 * d**2,
    "n²": lambda n, d: 4 * n**2,
    "one product": lambda n, d: 2 * n**2 * d,
    "causal": lambda n, d: 2 * n * (n + 1) * d,
    "projections": lambda n, d: 4 * n**2 * d + 8 * n * d**2,
    "projections of q, k and v": lambda n, d: 4 * n**2 * d + 6 * n * d**2,
    "scaling": lambda n, d: 4 * n**2 * d + n**2,
    "softmax": lambda n, d: 4 * n**2 * d + 3 * n**2,
}
WINDOW = {
    "right": lambda n, d, k: 4 * n * min(n, k) * d,
    "k not cut": lambda n, d, k: 4 * n * k * d,
    "n keys": lambda n, d, k: 4 * n**2 * d,
    "one product": lambda n, d, k: 2 * n * min(n, k) * d,
    "both sides": lambda n, d, k: 4 * n * min(n, 2 * k + 1) * d,
    "one more": lambda n, d, k: 4 * n * min(n, k + 1) * d,
    "k²": lambda n, d, k: 4 * min(n, k) ** 2 * d,
    "k² not cut": lambda n, d, k: 4 * k**2 * d,
    "as a convolution": lambda n, d, k: 2 * k * n * d**2,
    "n k d²": lambda n, d, k: 4 * n * min(n, k) * d**2,
    "k d": lambda n, d, k: 4 * min(n, k) * d,
    "ends": lambda n, d, k: 4 * d * read_inside(n, k),
}
RECURRENCE = {
    "right": lambda n, d: 4 * n * d**2,
    "n² d": lambda n, d: 4 * n**2 * d,
    "n d": lambda n, d: 4 * n * d,
    "n² d²": lambda n, d: 4 * n**2 * d**2,
    "d²": lambda n, d: 4 * d**2,
    "one product": lambda n, d: 2 * n * d**2,
    "n − 1": lambda n, d: 4 * (n - 1) * d**2,
    "first state": lambda n, d: 2 * n * d**2 + 2 * (n - 1) * d**2,
    "GRU": lambda n, d: 12 * n * d**2,
    "LSTM": lambda n, d: 16 * n * d**2,
    "output": lambda n, d: 6 * n * d**2,
    "2d by 2d": lambda n, d: 8 * n * d**2,
    "sum": lambda n, d: 4 * n * d**2 + n * d,
}
CONVOLUTION = {
    "right": lambda n, d, k: 2 * k * n * d**2,
    "no k": lambda n, d, k: 2 * n * d**2,
    "k²": lambda n, d, k: 2 * k**2 * n * d**2,
    "depthwise": lambda n, d, k: 2 * k * n * d,
    "k n² d": lambda n, d, k: 2 * k * n**2 * d,
    "two products": lambda n, d, k: 4 * k * n * d**2,
    "valid, not cut": lambda n, d, k: 2 * k * (n - k + 1) * d**2,
    "valid": lambda n, d, k: 2 * k * max(n - k + 1, 0) * d**2,
    "ends": lambda n, d, k: 2 * d**2 * read_inside(n, k),
    "k cut": lambda n, d, k: 2 * min(n, k) * n * d**2,
    "k − 1": lambda n, d, k: 2 * (k - 1) * n * d**2,
    "k d": lambda n, d, k: 2 * k * d**2,
}


@exercise.variants
def variants(
    kind,
    n,
    d,
    k=None,
    *,
    attention="right",
    window="right",
    recurrence="right",
    convolution="right",
    products="two",
    operations="both",
    roles="right",
    scope="all positions",
    returns="int",
    k_elsewhere="ignored",
):
    takes_k = kind in ("window", "convolution")
    if not takes_k and k is not None and k_elsewhere == "refused":
        raise ValueError("k is not needed")
    if not takes_k and k is None and k_elsewhere == "needed":
        raise ValueError("k is missing")
    if k is not None and k < 1 and k_elsewhere == "checked":
        raise ValueError(f"k is {k}")
    if roles == "n and d":
        n, d = d, n
    if roles == "attention and recurrence":
        kind = {"attention": "recurrence", "recurrence": "attention"}.get(kind, kind)
    if roles == "window and convolution":
        kind = {"window": "convolution", "convolution": "window"}.get(kind, kind)
    formulas = {
        "window": lambda: WINDOW[window](n, d, k),
        "recurrence": lambda: RECURRENCE[recurrence](n, d),
        "convolution": lambda: CONVOLUTION[convolution](n, d, k),
    }
    count = formulas.get(kind, lambda: ATTENTION[attention](n, d))()
    if products == "one" and kind != "convolution":
        count //= 2
    if operations == "table":
        count //= 2 if kind == "convolution" else 4
    elif operations == "one":
        count //= 2
    elif operations == "one addition fewer":
        count -= {
            "window": lambda: n * min(n, k) + n * d,
            "recurrence": lambda: 2 * n * d,
            "convolution": lambda: n * d,
        }.get(kind, lambda: n * n + n * d)()
    if scope == "one position":
        count //= n
    elif scope == "backward":
        count *= 3
    if returns == "through float":
        return int(float(count))
    return {"text": f"{count:,}", "giga": count / 1e9}.get(returns, count)


exercise.option(
    "recurrence_for_attention",
    "Your count for attention is 4 n d²: that of the recurrence.",
    "How many scores has a sequence of n positions, and how many products is each?",
    why="n² · d and n · d² are exchanged more often than any two entries of table 1.",
    attention="n d²",
)
exercise.option(
    "attention_for_recurrence",
    "Your count for the recurrence is 4 n² d: that of attention.",
    "How many numbers has the matrix w_x, and how often is it used?",
    why="n² · d and n · d² are exchanged more often than any two entries of table 1.",
    recurrence="n² d",
)
exercise.option(
    "attention_and_recurrence_exchanged",
    "Your counts for attention and for the recurrence are exchanged.",
    "Which of the two has a score for each pair of positions?",
    why="At n = d both are equal, and tests with square inputs do not tell them apart.",
    roles="attention and recurrence",
)
exercise.option(
    "window_and_convolution_exchanged",
    "Your counts for the window and for the convolution are exchanged.",
    "Which of the two has matrices of parameters?",
    why="Both slide over the sequence and take k.",
    roles="window and convolution",
)
exercise.option(
    "n_and_d_exchanged",
    "Your n and d have changed roles.",
    "Which of the two is the second argument?",
    why="Shapes are read from the right as often as from the left.",
    roles="n and d",
)
exercise.option(
    "multiplications_alone",
    "Your counts are those of the multiplications alone.",
    "What happens to the products of a row and a column, before they are one number?",
    why="Papers on vision count multiply-adds (MACs) and call them FLOPs.",
    operations="one",
)
exercise.option(
    "one_addition_fewer",
    "Your sums have one addition fewer than numbers.",
    "How many operations has the product of an (a, b) with a (b, c) matrix, by the "
    "docstring?",
    why="To add b numbers takes b − 1 additions, if the sum does not begin with 0.",
    operations="one addition fewer",
)
exercise.option(
    "entries_of_the_table",
    "Your counts are the entries of table 1, without factors.",
    "What does O(…) leave out?",
    why="The table says how costs grow, and its entries are taken for the costs.",
    operations="table",
)
exercise.option(
    "one_product_each",
    "Your attention, window and recurrence have one matrix product each.",
    "Which products does the docstring list for each of the three?",
    why="2 · a · b · c is one product, and the second is as large as the first.",
    products="one",
)
exercise.option(
    "scores_alone",
    "Your attention has one of its two matrix products.",
    "What is done with the weights?",
    why="q kᵀ is the n × n matrix that all complain about; weights v costs as much.",
    attention="one product",
)
exercise.option(
    "scores_of_the_window_alone",
    "Your window has one of its two matrix products.",
    "What is done with the weights?",
    why="A window is drawn as a band in the matrix of scores.",
    window="one product",
)
exercise.option(
    "one_matrix_in_the_recurrence",
    "Your recurrence has one of its two matrix products.",
    "Which two vectors does a position of a recurrence multiply by a matrix?",
    why="w_h makes it recurrent, and x w_x can be done for all positions beforehand.",
    recurrence="one product",
)
exercise.option(
    "linear_attention",
    "Your count for attention grows with n, not with n²: it is 4 n d.",
    "To how many positions does one of n positions attend?",
    why="One query with all keys takes 4 n d, and there are n queries.",
    attention="n d",
)
exercise.option(
    "both_squared_in_attention",
    "Your count for attention has d², too: it is 4 n² d².",
    "How many products is one score?",
    why="A matrix of n × d with one of d × n is taken for n · d · d · n.",
    attention="n² d²",
)
exercise.option(
    "size_of_the_weights",
    "Your count for attention lacks d: it is 4 n².",
    "How many products is one score?",
    why="The n × n numbers of the weights are counted, not the way to them.",
    attention="n²",
)
exercise.option(
    "causal_half",
    "Your attention counts the scores that a causal mask lets through.",
    "What does the docstring say about masks?",
    why="Half of the scores are blocked; a plain product computes them all the same.",
    attention="causal",
)
exercise.option(
    "with_projections",
    "Your attention has 8 n d² operations more, such as those of four projections.",
    "Which products does the docstring count?",
    why="A layer of nn.MultiheadAttention has w_q, w_k, w_v and w_o.",
    attention="projections",
)
exercise.option(
    "with_three_projections",
    "Your attention has 6 n d² operations more, such as those of three projections.",
    "Which products does the docstring count?",
    why="q, k and v are made from x, and that is counted.",
    attention="projections of q, k and v",
)
exercise.option(
    "with_scaling",
    "Your attention has one operation more for each score, such as its scaling.",
    "Which steps of attention does the docstring leave out?",
    why="The division by √d_k is an operation for each of the n² scores.",
    attention="scaling",
)
exercise.option(
    "with_softmax",
    "Your attention has three operations more for each score, such as a softmax.",
    "Which steps of attention does the docstring leave out?",
    why="Exponential, sum and division are three operations for each score.",
    attention="softmax",
)
exercise.option(
    "window_wider_than_the_sequence",
    "Your window has k keys for each position where there are only n.",
    "To how many positions can one attend, if the sequence has n?",
    why="4 n k d is the formula, and k < n goes without saying.",
    window="k not cut",
)
exercise.option(
    "whole_sequence_in_the_window",
    "Your window costs as much as attention, however narrow it is.",
    "How many scores does a position need if it attends to k positions?",
    why="A mask on the full matrix saves nothing, and that is how a window is made "
    "first.",
    window="n keys",
)
exercise.option(
    "window_on_both_sides",
    "Your window has 2k + 1 keys for each position: k on both sides and itself.",
    "What is k, by the docstring?",
    why="Longformer's window has w / 2 positions on either side.",
    window="both sides",
)
exercise.option(
    "window_one_wider",
    "Your window has k + 1 keys for each position.",
    "Is the position itself one of the k?",
    why="'The k positions before, and itself' are k + 1.",
    window="one more",
)
exercise.option(
    "one_window",
    "Your window has k queries: you count one block of k × k scores.",
    "How many positions attend to k positions each?",
    why="Within a window of k tokens there are k² pairs.",
    window="k²",
)
exercise.option(
    "matrices_in_the_window",
    "Your count for the window has d²: it is 4 n k d².",
    "How many products is one score?",
    why="A window slides like a convolution, which has a matrix for each position.",
    window="n k d²",
)
exercise.option(
    "one_position_of_the_window",
    "Your count for the window is that of one position.",
    "How many positions attend to k positions each?",
    why="One query with k keys takes 4 k d operations.",
    window="k d",
)
exercise.option(
    "short_windows_at_the_beginning",
    "Your window has fewer keys for the first k − 1 positions.",
    "Do all positions cost the same, by the docstring?",
    why="Position 0 has no positions before it; a plain product computes with zeros.",
    window="ends",
)
exercise.option(
    "linear_recurrence",
    "Your count for the recurrence is linear in d: it is 4 n d.",
    "How many numbers has the matrix w_h?",
    why="A hidden state has d numbers, and a step is taken for d operations.",
    recurrence="n d",
)
exercise.option(
    "both_squared_in_the_recurrence",
    "Your count for the recurrence has n², too: it is 4 n² d².",
    "How often is w_h used in a sequence of n positions?",
    why="Each position depends on all before it, and is counted with all of them.",
    recurrence="n² d²",
)
exercise.option(
    "one_step_of_the_recurrence",
    "Your count for the recurrence is that of one position.",
    "How often is w_h used in a sequence of n positions?",
    why="The formula of a recurrence is that of one step.",
    recurrence="d²",
)
exercise.option(
    "one_step_too_few",
    "Your recurrence has one position too few: n − 1.",
    "How many positions have an x of their own?",
    why="Between n positions there are n − 1 transitions.",
    recurrence="n − 1",
)
exercise.option(
    "first_hidden_state_free",
    "Your recurrence has one product with w_h too few.",
    "Do all positions cost the same, by the docstring?",
    why="The first hidden state is zero, and a product with zeros could be left out.",
    recurrence="first state",
)
exercise.option(
    "gates_of_a_gru",
    "Your recurrence has six matrices, as many as a GRU.",
    "Which matrices does the docstring's recurrence have?",
    why="Lesson 08's recurrence was a GRU.",
    recurrence="GRU",
)
exercise.option(
    "gates_of_an_lstm",
    "Your recurrence has eight matrices, as many as an LSTM.",
    "Which matrices does the docstring's recurrence have?",
    why="Most recurrent models of 2017 were LSTMs.",
    recurrence="LSTM",
)
exercise.option(
    "output_of_the_recurrence",
    "Your recurrence has three matrices.",
    "Which matrices does the docstring's recurrence have?",
    why="Textbooks draw a third matrix, from the hidden state to an output.",
    recurrence="output",
)
exercise.option(
    "matrix_of_twice_the_size",
    "Your recurrence has four matrices of (d, d), or one of (2d, 2d).",
    "How many numbers come out of x w_x + h w_h?",
    why="x and h are joined to 2d numbers; d numbers come out.",
    recurrence="2d by 2d",
)
exercise.option(
    "sum_of_both_products",
    "Your recurrence has d additions more at each position.",
    "Which sums does the docstring leave out?",
    why="x w_x + h w_h has a plus in it.",
    recurrence="sum",
)
exercise.option(
    "kernel_forgotten",
    "Your convolution costs the same whatever k is: 2 n d².",
    "How many vectors does the kernel read for one position?",
    why="A kernel is a constant of the architecture, and constants are left out.",
    convolution="no k",
)
exercise.option(
    "kernel_squared",
    "Your count for the convolution has k².",
    "Along how many axes does a kernel slide over a sequence?",
    why="Kernels for images have k × k positions.",
    convolution="k²",
)
exercise.option(
    "depthwise",
    "Your count for the convolution is linear in d: it is 2 k n d.",
    "With what is each of the k vectors multiplied?",
    why="A depthwise convolution has one number for each position and channel.",
    convolution="depthwise",
)
exercise.option(
    "n_squared_in_the_convolution",
    "Your count for the convolution is 2 k n² d.",
    "How many positions does the kernel read for one position?",
    why="n² · d and n · d² are exchanged, as in the other rows of the table.",
    convolution="k n² d",
)
exercise.option(
    "convolution_with_two_products",
    "Your convolution takes twice as many operations as its products.",
    "How many products has the docstring's convolution for each of the k vectors?",
    why="The three other kinds begin with a 4.",
    convolution="two products",
)
exercise.option(
    "kernel_inside_alone",
    "Your convolution has n − k + 1 positions.",
    "How many positions come out, if the ends get zeros to compute with?",
    why="PyTorch's Conv1d has padding=0 unless told otherwise.",
    convolution="valid",
)
exercise.option(
    "short_kernels_at_the_beginning",
    "Your kernel reads fewer vectors for the first k − 1 positions.",
    "Do all positions cost the same, by the docstring?",
    why="A product with zeros could be left out; a plain one is computed.",
    convolution="ends",
)
exercise.option(
    "kernel_cut_to_the_sequence",
    "Your kernel is cut to n vectors where the sequence is shorter than it.",
    "What does the kernel read beyond the ends of the sequence?",
    why="A window is cut to the sequence, and a kernel looks like one.",
    convolution="k cut",
)
exercise.option(
    "kernel_one_narrower",
    "Your kernel reads k − 1 vectors.",
    "Is the position itself one of the k?",
    why="A kernel reaches k − 1 positions further, which path lengths need.",
    convolution="k − 1",
)
exercise.option(
    "one_position_of_the_convolution",
    "Your count for the convolution is that of one position.",
    "At how many positions does the kernel compute something?",
    why="The formula of a convolution is that of one position.",
    convolution="k d",
)
exercise.option(
    "one_position_alone",
    "Your counts are those of one position: they are divided by n.",
    "Does work that is done at the same time take fewer operations?",
    why="'A training step is O(1)' is heard of Transformers; only the steps that wait "
    "for each other are.",
    scope="one position",
)
exercise.option(
    "with_the_backward_pass",
    "Your counts are three times as large: those of a step of training.",
    "Does the docstring speak of gradients?",
    why="The backward pass has two products for each of the forward pass, as in "
    "C = 6 N D.",
    scope="backward",
)
exercise.option(
    "rounded_as_floats",
    "Your large counts are rounded, as floats are.",
    "Up to which integer does a float hold every one?",
    why="1e9, / and ** with a negative exponent all make floats.",
    returns="through float",
)
exercise.option(
    "count_as_text",
    "Your count is a text.",
    "Which type does the docstring promise?",
    why="An f-string puts in the commas of thousands.",
    returns="text",
)
exercise.option(
    "in_billions",
    "Your counts are in billions.",
    "In which unit is the docstring's example?",
    why="Tables in papers are in GFLOPs.",
    returns="giga",
)
exercise.option(
    "k_refused_elsewhere",
    "Your function refuses a k for attention and recurrence.",
    "What do the kinds that need no k do with it, by the docstring?",
    why="An argument without effect looks like an error of the caller.",
    k_elsewhere="refused",
)
exercise.option(
    "k_needed_everywhere",
    "Your function refuses attention and recurrence without k.",
    "Which kinds need k?",
    why="One check of all three sizes stands before the kinds are told apart.",
    k_elsewhere="needed",
)
exercise.option(
    "k_checked_everywhere",
    "Your function refuses a k below 1 for attention and recurrence.",
    "What do the kinds that need no k do with it, by the docstring?",
    why="`if k is not None and k < 1` stands before the kinds are told apart.",
    k_elsewhere="checked",
)
exercise.option(
    "window_of_k_squared_not_cut",
    "Your window has k² pairs, whatever n is.",
    "How many positions attend, and to how many does each attend?",
    why="A window is taken for a short sequence of k positions.",
    window="k² not cut",
)
exercise.option(
    "window_counted_as_a_convolution",
    "Your window is counted like a convolution: k products with a (d, d) matrix for "
    "each position.",
    "Which two products does a window share with attention?",
    why="Both read k positions.",
    window="as a convolution",
)
exercise.option(
    "convolution_without_its_ends_not_cut",
    "Your convolution has n − k + 1 positions: those near an end are left out.",
    "What does the docstring say of positions near the ends?",
    why="Without padding a convolution has n − k + 1 results.",
    convolution="valid, not cut",
)
