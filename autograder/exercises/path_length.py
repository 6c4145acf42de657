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


@exercise.fine_point("The count is an `int`, also where it is computed with `/`")
def count_is_whole(student, rng):
    n, k = drawn(rng)
    for kind in KINDS:
        count = student(kind, n, k)
        student.expect_an_int(count)


exercise.edits(
    """
n_over_k: return ( … -> return -(-n // k)
  Your layers of windows and kernels are n / k, rounded up.
  ? How many new positions does each layer add to the way?
  # Table 1 has n / k, which is how it grows, for kernels that do not overlap.
n_over_k_rounded_down: return ( … -> return n // k
  Your layers of windows and kernels are n / k, rounded down.
  # Table 1 has n / k, and // is integer division.
k_positions_per_layer: return ( … -> return -(-(n - 1) // k)
  Your layers of windows and kernels get k positions further each.
  ? If a position reads 3 positions, itself among them, how far back is the third?
  # A kernel of k reads k positions, and is taken to reach as far.
k_positions_per_layer_of_the_window:
  | return ( … ->
  :     if kind == 'convolution':
  :         return (n - 1 + k - 2) // (k - 1)
  :     return -(-(n - 1) // k)
  Your window gets k positions further with each layer.
  ? If a position attends to 3 positions, itself among them, how far back is the
    third?
  # A window is said to reach k back, a kernel to cover k.
k_positions_per_layer_of_the_convolution:
  | return ( … ->
  :     if kind == 'window':
  :         return (n - 1 + k - 2) // (k - 1)
  :     return -(-(n - 1) // k)
  Your convolution gets k positions further with each layer.
  ? If a kernel reads 3 positions, itself among them, how far back is the third?
  # Table 1 has n / k, in the row of convolutions.
n_over_k_in_the_window:
  | return ( … ->
  :     if kind == 'convolution':
  :         return (n - 1 + k - 2) // (k - 1)
  :     return -(-n // k)
  Your layers of the window are n / k, rounded up.
  ? How many new positions does each layer add to the way?
  # n / k windows cover the sequence, if they do not overlap.
n_over_k_in_the_convolution:
  | return ( … ->
  :     if kind == 'window':
  :         return (n - 1 + k - 2) // (k - 1)
  :     return -(-n // k)
  Your layers of the convolution are n / k, rounded up.
  # Table 1 has n / k, in the row of convolutions.
n_positions_to_go: return ( … -> return -(-n // (k - 1))
  Your layers of windows and kernels are n / (k − 1), rounded up, which is the same as
    (n − 1) / (k − 1), rounded down, and one more.
  ? What is the way of 9 positions with k = 3, drawn on paper?
  # n positions have n − 1 gaps; and // … + 1 seems to round up.
n_over_k_minus_1_rounded_down: return ( … -> return n // (k - 1)
  Your layers of windows and kernels are n / (k − 1), rounded down.
  ? What is the way of 8 positions with k = 4, drawn on paper?
  # For k = 3 and an odd n it is right.
n_over_k_minus_1_rounded_down_at_least_1:
  | return ( … -> return max(n // (k - 1), min(n - 1, 1))
  Your layers of windows and kernels are n / (k − 1), rounded down, and 1 where that
    would be 0.
rounded_down: return ( … -> return (n - 1) // (k - 1)
  Your layers of windows and kernels are rounded down.
  ? Can a layer that is needed in part be left out?
  # // is integer division.
one_layer_too_many: return ( … -> return (n - 1 + k - 2) // (k - 1) + 1
  Your ways of windows and kernels have one layer too many.
  ? Is the input a layer?
  # A drawing of the way has one row more than layers, that of the input.
not_rounded: return ( … -> return (n - 1) / (k - 1)
  Your layers of windows and kernels are not rounded.
  ? How much is 2.5 layers?
  # The division gives a fraction, and the table has n / k.
rounded_to_the_nearest: return ( … -> return int((n - 1) / (k - 1) + 0.5)
  Your layers of windows and kernels are rounded to the nearest integer.
  ? Can a layer that is needed in part be left out?
  # round() turns a fraction into an integer.
centred: return ( … -> return -(-2 * (n - 1) // (k - 1))
  Your windows and kernels reach half of k − 1 positions back.
  ? Which k positions does a position read, by the docstring?
  # Kernels of images are centred; half of them reads what follows.
k_on_both_sides: return ( … -> return -(-(n - 1) // (2 * k + 1))
  Your windows and kernels get 2k + 1 positions further with each layer.
  # k on both sides and the middle are counted as one reach.
reach_that_doubles:
  | return ( … ->
  :     layers, reached = (0, 1)
  :     while reached < n:
  :         layers, reached = (layers + 1, reached * k)
  :     return layers
  Your layers of windows and kernels are log_k n, as if the reach were multiplied by
    k.
  ? Are there gaps between the positions that are read?
  # Table 1 has log_k n for dilated convolutions.
dilated_convolution:
  | return ( … ->
  :     if kind == 'window':
  :         return (n - 1 + k - 2) // (k - 1)
  :     layers, reached = (0, 1)
  :     while reached < n:
  :         layers, reached = (layers + 1, reached * k)
  :     return layers
  Your layers of the convolution are log_k n: those of a dilated one.
  ? Are there gaps between the positions that the kernel reads?
  # Table 1 has log_k n in the row of convolutions; its text says for which.
one_layer_for_all: return ( … -> return min(n - 1, 1)
  Your windows and kernels take one layer, however narrow they are.
  ? Which positions does the last one read in the first layer?
  # All positions are computed at once, which is something else.
window_as_attention: kind == 'attention' -> kind in ('attention', 'window')
  Your window takes one layer, however narrow it is.
  ? To which positions does the last one attend in the first layer?
  # A window is attention, and attention has a path of 1.
convolution_in_one_layer: kind == 'attention' -> kind in ('attention', 'convolution')
  Your convolution takes one layer, however narrow its kernel is.
  ? Which positions does the last one read in the first layer?
  # O(1) is the entry for its sequential operations, in the next column.
one_position_per_layer: return ( … -> return n - 1
  Your windows and kernels get one position further with each layer.
  ? What does k change?
  # A kernel slides by one position, and is taken to reach as far.
positions_of_the_kernel: return ( … -> return max(n - k + 1, 0)
  Your layers of windows and kernels are n − k + 1.
  ? How many new positions does each layer add to the way?
  # n − k + 1 is how many positions a kernel has within the sequence.
k_taken_off_once: return ( … -> return max(n - k, 0)
  Your layers of windows and kernels are n − k.
  # The positions that the first layer does not reach are counted one by one.
recurrence_of_n_steps: return n - 1 -> return n
  Your recurrence takes n steps from the first position to the last.
  ? How many steps lead from position 1 to position 2?
  # Table 1 has n, which is how it grows, and the hidden state is computed n times.
recurrence_in_one_step: return n - 1 -> return min(n - 1, 1)
  Your recurrence takes one step, however many positions there are.
  ? Through which hidden states does the first position reach the last?
  # One layer of nn.GRU reads the whole sequence.
recurrence_from_both_ends: return n - 1 -> return n // 2
  Your recurrence takes half as many steps, as if it came from both ends.
  ? In which direction does a recurrence step?
  # A bidirectional recurrence has a shorter way to the middle.
recurrence_with_both_ends: return n - 1 -> return n + 1
  Your recurrence takes n + 1 steps.
  ? How many steps lead from position 1 to position 2?
  # The way into the first state and out of the last one are counted as well.
attention_step_by_step: min(n - 1, 1) -> n - 1
  Your attention takes as many steps as a recurrence.
  ? Which positions does the last one attend to in the first layer?
  # A decoder writes one token after another.
attention_of_n_steps: min(n - 1, 1) -> n
  Your attention takes n steps.
  # Each query is compared with n keys, which is work, not way.
attention_in_two_layers: min(n - 1, 1) -> min(2 * (n - 1), 2)
  Your attention takes two layers.
  # Scores and output are two products, in one layer.
attention_without_a_layer: min(n - 1, 1) -> 0
  Your attention takes no layer at all.
  ? Does the embedding of the last position depend on the first one?
  # Attention is direct, and 'direct' is taken for 0.
attention_and_recurrence_exchanged:
  | 'attention' -> 'recurrence'
  | 'recurrence' -> 'attention'
  Your ways of attention and recurrence are exchanged.
  ? Which of the two hands a hidden state from position to position?
  # Rows of the table are exchanged.
attention_to_oneself: min(n - 1, 1) -> 1
  Your attention takes one layer where there is one position.
  ? What does the docstring say about n = 1?
  # The entry of the table is 1, without any n.
one_step_to_oneself:
  | if n == 1:
  :     return 1
  Your ways have one step where there is one position.
  # max(…, 1) keeps results above 0.
count_as_text:
  | min(n - 1, 1) -> str(min(n - 1, 1))
  | return n - 1 -> return str(n - 1)
  | return ( … -> return str((n - 1 + k - 2) // (k - 1))
  Your count is a text.
  ? Which type does the docstring promise?
  # An f-string was meant for printing.
k_refused_elsewhere:
  | if kind in ('attention', 'recurrence') and k:
  :     raise ValueError(f'{kind} has no k')
  Your function refuses a k for attention and recurrence.
  ? What do the kinds that need no k do with it, by the docstring?
  # An argument without effect looks like an error of the caller.
k_needed_everywhere:
  | if not k:
  :     raise ValueError('k is missing')
  Your function refuses attention and recurrence without k.
  ? Which kinds need k?
  # One check of both sizes stands before the kinds are told apart.
k_checked_everywhere:
  | if k == 1:
  :     raise ValueError('k must be 2 or more')
  Your function refuses k = 1 for attention and recurrence.
  ? What do the kinds that need no k do with it, by the docstring?
  # `if k is not None and k < 2` stands before the kinds are told apart.
""",
)
