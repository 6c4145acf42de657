"""Cases and misconceptions of ``path_length``."""

from autograder import Exercise
from course_lib.costs import path_length

exercise = Exercise(
    path_length,
    lesson="14_fast_attention",
    minutes=10,
    difficulty=2,
)

KINDS = ("attention", "window", "recurrence", "convolution")
WITH_K = ("window", "convolution")


@exercise.spec
def spec(kind, n, k=None):
    reach = {"attention": n, "recurrence": 1}.get(kind)
    if reach is None:
        reach = k - 1
    steps, rest = divmod(n - 1, reach)
    return steps + 1 if rest else steps


def drawn(rng):
    """Draw n and k: of several layers, the last of which reaches further than asked."""
    k = int(rng.integers(4, 9))
    layers, short = rng.integers([4, 1], [12, k - 1]).tolist()
    return layers * (k - 1) + 1 - short, k


@exercise.usual
def usual(rng):
    kind = KINDS[rng.integers(4)]
    n, k = drawn(rng)
    return (kind, n, k) if kind in WITH_K else (kind, n)


@exercise.case(
    "From the first of 9 positions to the last a recurrence takes 8 steps",
    weight=2,
    pays_alone=False,
)
def recurrence_by_hand(student, rng):
    student.expect(student("recurrence", 9), 8)
    for n in rng.integers(20, 90, size=2).tolist():
        student.agrees("recurrence", n)


@exercise.case(
    "Attention takes one layer, however many positions there are", pays_alone=False
)
def attention_by_hand(student, rng):
    for n in (2, 9, *rng.integers(20, 90, size=2).tolist()):
        student.expect(student("attention", n), 1)


@exercise.case(
    "A kernel of 3 takes 4 layers for 9 positions, and 5 layers for 10", weight=3
)
def convolution_by_hand(student, rng):
    # 9 reads 7, 8, 9; through those 5 … 9; then 3 … 9; then 1 … 9.
    student.expect(student("convolution", 9, 3), 4)
    student.expect(student("convolution", 10, 3), 5)
    student.agrees("convolution", *drawn(rng))


@exercise.case("A window of 5 takes 2 layers for 9 positions, and 3 for 10", weight=3)
def window_by_hand(student, rng):
    # 9 attends to 5 … 9, and through those to 1 … 9.
    student.expect(student("window", 9, 5), 2)
    student.expect(student("window", 10, 5), 3)
    student.agrees("window", *drawn(rng))


@exercise.case(
    "One position more takes one layer more where the way was full", weight=2
)
def around_full_layers(student, rng):
    for kind in WITH_K:
        k, layers = rng.integers([4, 3], [9, 9]).tolist()
        n = layers * (k - 1) + 1
        for more in (-1, 0, 1):
            student.agrees(kind, n + more, k)


@exercise.case(
    "With k = 2 a window or a convolution takes as many as a recurrence",
    pays_alone=False,
)
def two_at_once(student, rng):
    n = int(rng.integers(20, 90))
    for kind in ("recurrence", *WITH_K):
        student.expect(student(kind, n, 2), n - 1)


@exercise.case("One layer is enough where k is n or more, and not where it is less")
def one_layer(student, rng):
    n, more = rng.integers([20, 2], [60, 20]).tolist()
    for kind in WITH_K:
        student.expect(student(kind, n, n), 1)
        student.expect(student(kind, n, n + more), 1)
        student.expect(student(kind, n, n - 1), 2)
        student.agrees(kind, n, int(rng.integers(3, n)))


@exercise.case("One position depends on itself without any step", pays_alone=False)
def one_position(student, rng):
    k = int(rng.integers(3, 9))
    for kind in ("recurrence", *WITH_K, "attention"):
        student.expect(student(kind, 1, k), 0)


@exercise.case("All four kinds, drawn one after another", visible=False)
def kinds_drawn(student, rng):
    for kind in [*rng.permutation(KINDS).tolist()] * 2:
        student.agrees(kind, *drawn(rng))


@exercise.case("For attention and recurrence, k makes no difference")
def k_ignored(student, rng):
    for kind in rng.permutation(["attention", "recurrence"]).tolist():
        n, k = drawn(rng)
        student.agrees(kind, n, k)
        student.agrees(kind, n, 1)


def up(number, by):
    return -(-number // by)


def logarithm(n, k):
    """Return how often k has to be multiplied to give n or more."""
    layers, reached = 0, 1
    while reached < n:
        layers, reached = layers + 1, reached * max(k, 2)
    return layers


LAYERS = {
    "right": lambda n, k: up(n - 1, k - 1),
    "n / k": lambda n, k: up(n, k),
    "n // k": lambda n, k: n // k,
    "(n − 1) / k": lambda n, k: up(n - 1, k),
    "n / (k − 1)": lambda n, k: up(n, k - 1),
    "n // (k − 1)": lambda n, k: n // (k - 1),
    "n // (k − 1), at least 1": lambda n, k: max(n // (k - 1), min(n - 1, 1)),
    "rounded down": lambda n, k: (n - 1) // (k - 1),
    "one too many": lambda n, k: up(n - 1, k - 1) + 1,
    "not rounded": lambda n, k: (n - 1) / (k - 1),
    "nearest": lambda n, k: (2 * (n - 1) + k - 1) // (2 * (k - 1)),
    "both sides": lambda n, k: up(2 * (n - 1), k - 1),
    "k each way": lambda n, k: up(n - 1, 2 * k + 1),
    "dilated": logarithm,
    "one": lambda n, k: 1 if n > 1 else 0,
    "each position": lambda n, k: n - 1,
    "n − k": lambda n, k: max(n - k, 0),
    "n − k + 1": lambda n, k: max(n - k + 1, 0),
}


@exercise.variants
def variants(
    kind,
    n,
    k=None,
    *,
    layers="right",
    convolution="right",
    window="right",
    recurrence="n − 1",
    attention="1",
    alone="0",
    roles="right",
    returns="int",
    k_elsewhere="ignored",
):
    takes_k = kind in WITH_K
    if not takes_k and k is not None and k_elsewhere == "refused":
        raise ValueError("k is not needed")
    if not takes_k and k is None and k_elsewhere == "needed":
        raise ValueError("k is missing")
    if not takes_k and k == 1 and k_elsewhere == "checked":
        raise ValueError("k is 1")
    if n == 1 and alone == "1":
        return 1
    if roles == "attention and recurrence":
        kind = {"attention": "recurrence", "recurrence": "attention"}.get(kind, kind)
    if kind == "recurrence":
        steps = {
            "n − 1": n - 1,
            "n": n,
            "1": min(n - 1, 1),
            "both sides": up(n - 1, 2),
            "n + 1": n + 1,
        }[recurrence]
    elif kind in WITH_K:
        own = convolution if kind == "convolution" else window
        steps = LAYERS[layers if own == "right" else own](n, k)
    else:
        steps = {
            "1": min(n - 1, 1),
            "always 1": 1,
            "2": min(2 * (n - 1), 2),
            "n − 1": n - 1,
            "n": n,
            "0": 0,
        }[attention]
    return str(steps) if returns == "text" else steps


exercise.option(
    "n_over_k",
    "Your layers of windows and kernels are n / k, rounded up.",
    "How many new positions does each layer add to the way?",
    why="Table 1 has n / k, which is how it grows, for kernels that do not overlap.",
    layers="n / k",
)
exercise.option(
    "n_over_k_rounded_down",
    "Your layers of windows and kernels are n / k, rounded down.",
    "How many new positions does each layer add to the way?",
    why="Table 1 has n / k, and // is integer division.",
    layers="n // k",
)
exercise.option(
    "k_positions_per_layer",
    "Your layers of windows and kernels get k positions further each.",
    "If a position reads 3 positions, itself among them, how far back is the third?",
    why="A kernel of k reads k positions, and is taken to reach as far.",
    layers="(n − 1) / k",
)
exercise.option(
    "k_positions_per_layer_of_the_window",
    "Your window gets k positions further with each layer.",
    "If a position attends to 3 positions, itself among them, how far back is the "
    "third?",
    why="A window is said to reach k back, a kernel to cover k.",
    window="(n − 1) / k",
)
exercise.option(
    "k_positions_per_layer_of_the_convolution",
    "Your convolution gets k positions further with each layer.",
    "If a kernel reads 3 positions, itself among them, how far back is the third?",
    why="Table 1 has n / k, in the row of convolutions.",
    convolution="(n − 1) / k",
)
exercise.option(
    "n_over_k_in_the_window",
    "Your layers of the window are n / k, rounded up.",
    "How many new positions does each layer add to the way?",
    why="n / k windows cover the sequence, if they do not overlap.",
    window="n / k",
)
exercise.option(
    "n_over_k_in_the_convolution",
    "Your layers of the convolution are n / k, rounded up.",
    "How many new positions does each layer add to the way?",
    why="Table 1 has n / k, in the row of convolutions.",
    convolution="n / k",
)
exercise.option(
    "n_positions_to_go",
    "Your layers of windows and kernels are n / (k − 1), rounded up, which is the same "
    "as (n − 1) / (k − 1), rounded down, and one more.",
    "What is the way of 9 positions with k = 3, drawn on paper?",
    why="n positions have n − 1 gaps; and // … + 1 seems to round up.",
    layers="n / (k − 1)",
)
exercise.option(
    "n_over_k_minus_1_rounded_down",
    "Your layers of windows and kernels are n / (k − 1), rounded down.",
    "What is the way of 8 positions with k = 4, drawn on paper?",
    why="For k = 3 and an odd n it is right.",
    layers="n // (k − 1)",
)
exercise.option(
    "n_over_k_minus_1_rounded_down_at_least_1",
    "Your layers of windows and kernels are n / (k − 1), rounded down, and 1 where "
    "that would be 0.",
    "What is the way of 8 positions with k = 4, drawn on paper?",
    why="For k = 3 and an odd n it is right.",
    layers="n // (k − 1), at least 1",
)
exercise.option(
    "rounded_down",
    "Your layers of windows and kernels are rounded down.",
    "Can a layer that is needed in part be left out?",
    why="// is integer division.",
    layers="rounded down",
)
exercise.option(
    "one_layer_too_many",
    "Your ways of windows and kernels have one layer too many.",
    "Is the input a layer?",
    why="A drawing of the way has one row more than layers, that of the input.",
    layers="one too many",
)
exercise.option(
    "not_rounded",
    "Your layers of windows and kernels are not rounded.",
    "How much is 2.5 layers?",
    why="The division gives a fraction, and the table has n / k.",
    layers="not rounded",
)
exercise.option(
    "rounded_to_the_nearest",
    "Your layers of windows and kernels are rounded to the nearest integer.",
    "Can a layer that is needed in part be left out?",
    why="round() turns a fraction into an integer.",
    layers="nearest",
)
exercise.option(
    "centred",
    "Your windows and kernels reach half of k − 1 positions back.",
    "Which k positions does a position read, by the docstring?",
    why="Kernels of images are centred; half of them reads what follows.",
    layers="both sides",
)
exercise.option(
    "k_on_both_sides",
    "Your windows and kernels get 2k + 1 positions further with each layer.",
    "Which k positions does a position read, by the docstring?",
    why="k on both sides and the middle are counted as one reach.",
    layers="k each way",
)
exercise.option(
    "reach_that_doubles",
    "Your layers of windows and kernels are log_k n, as if the reach were multiplied "
    "by k.",
    "Are there gaps between the positions that are read?",
    why="Table 1 has log_k n for dilated convolutions.",
    layers="dilated",
)
exercise.option(
    "dilated_convolution",
    "Your layers of the convolution are log_k n: those of a dilated one.",
    "Are there gaps between the positions that the kernel reads?",
    why="Table 1 has log_k n in the row of convolutions; its text says for which.",
    convolution="dilated",
)
exercise.option(
    "one_layer_for_all",
    "Your windows and kernels take one layer, however narrow they are.",
    "Which positions does the last one read in the first layer?",
    why="All positions are computed at once, which is something else.",
    layers="one",
)
exercise.option(
    "window_as_attention",
    "Your window takes one layer, however narrow it is.",
    "To which positions does the last one attend in the first layer?",
    why="A window is attention, and attention has a path of 1.",
    window="one",
)
exercise.option(
    "convolution_in_one_layer",
    "Your convolution takes one layer, however narrow its kernel is.",
    "Which positions does the last one read in the first layer?",
    why="O(1) is the entry for its sequential operations, in the next column.",
    convolution="one",
)
exercise.option(
    "one_position_per_layer",
    "Your windows and kernels get one position further with each layer.",
    "What does k change?",
    why="A kernel slides by one position, and is taken to reach as far.",
    layers="each position",
)
exercise.option(
    "positions_of_the_kernel",
    "Your layers of windows and kernels are n − k + 1.",
    "How many new positions does each layer add to the way?",
    why="n − k + 1 is how many positions a kernel has within the sequence.",
    layers="n − k + 1",
)
exercise.option(
    "k_taken_off_once",
    "Your layers of windows and kernels are n − k.",
    "How many new positions does each layer add to the way?",
    why="The positions that the first layer does not reach are counted one by one.",
    layers="n − k",
)
exercise.option(
    "recurrence_of_n_steps",
    "Your recurrence takes n steps from the first position to the last.",
    "How many steps lead from position 1 to position 2?",
    why="Table 1 has n, which is how it grows, and the hidden state is computed n "
    "times.",
    recurrence="n",
)
exercise.option(
    "recurrence_in_one_step",
    "Your recurrence takes one step, however many positions there are.",
    "Through which hidden states does the first position reach the last?",
    why="One layer of nn.GRU reads the whole sequence.",
    recurrence="1",
)
exercise.option(
    "recurrence_from_both_ends",
    "Your recurrence takes half as many steps, as if it came from both ends.",
    "In which direction does a recurrence step?",
    why="A bidirectional recurrence has a shorter way to the middle.",
    recurrence="both sides",
)
exercise.option(
    "recurrence_with_both_ends",
    "Your recurrence takes n + 1 steps.",
    "How many steps lead from position 1 to position 2?",
    why="The way into the first state and out of the last one are counted as well.",
    recurrence="n + 1",
)
exercise.option(
    "attention_step_by_step",
    "Your attention takes as many steps as a recurrence.",
    "Which positions does the last one attend to in the first layer?",
    why="A decoder writes one token after another.",
    attention="n − 1",
)
exercise.option(
    "attention_of_n_steps",
    "Your attention takes n steps.",
    "Which positions does the last one attend to in the first layer?",
    why="Each query is compared with n keys, which is work, not way.",
    attention="n",
)
exercise.option(
    "attention_in_two_layers",
    "Your attention takes two layers.",
    "Which positions does the last one attend to in the first layer?",
    why="Scores and output are two products, in one layer.",
    attention="2",
)
exercise.option(
    "attention_without_a_layer",
    "Your attention takes no layer at all.",
    "Does the embedding of the last position depend on the first one?",
    why="Attention is direct, and 'direct' is taken for 0.",
    attention="0",
)
exercise.option(
    "attention_and_recurrence_exchanged",
    "Your ways of attention and recurrence are exchanged.",
    "Which of the two hands a hidden state from position to position?",
    why="Rows of the table are exchanged.",
    roles="attention and recurrence",
)
exercise.option(
    "attention_to_oneself",
    "Your attention takes one layer where there is one position.",
    "What does the docstring say about n = 1?",
    why="The entry of the table is 1, without any n.",
    attention="always 1",
)
exercise.option(
    "one_step_to_oneself",
    "Your ways have one step where there is one position.",
    "What does the docstring say about n = 1?",
    why="max(…, 1) keeps results above 0.",
    alone="1",
)
exercise.option(
    "count_as_text",
    "Your count is a text.",
    "Which type does the docstring promise?",
    why="An f-string was meant for printing.",
    returns="text",
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
    why="One check of both sizes stands before the kinds are told apart.",
    k_elsewhere="needed",
)
exercise.option(
    "k_checked_everywhere",
    "Your function refuses k = 1 for attention and recurrence.",
    "What do the kinds that need no k do with it, by the docstring?",
    why="`if k is not None and k < 2` stands before the kinds are told apart.",
    k_elsewhere="checked",
)
