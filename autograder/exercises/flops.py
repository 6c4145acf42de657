"""Cases and misconceptions of ``flops``."""

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
        student.expect_an_int(count)


@exercise.right_answer
def without_checks(kind, n, d, k=None):
    if kind == "attention":
        return 4 * n**2 * d
    if kind == "window":
        return 4 * n * min(n, k) * d
    if kind == "recurrence":
        return 4 * n * d**2
    return 2 * k * n * d**2


exercise.edits(
    """
recurrence_for_attention: return 4 * n ** 2 * d -> return 4 * n * d ** 2
  Your count for attention is 4 n d²: that of the recurrence.
  ? How many scores has a sequence of n positions, and how many products is each?
  # n² · d and n · d² are exchanged more often than any two entries of table 1.
attention_for_recurrence: return 4 * n * d ** 2 -> return 4 * n ** 2 * d
  Your count for the recurrence is 4 n² d: that of attention.
  ? How many numbers has the matrix w_x, and how often is it used?
attention_and_recurrence_exchanged:
  | return 4 * n ** 2 * d -> return 4 * n * d ** 2
  | return 4 * n * d ** 2 -> return 4 * n ** 2 * d
  Your counts for attention and for the recurrence are exchanged.
  ? Which of the two has a score for each pair of positions?
  # At n = d both are equal, and tests with square inputs do not tell them apart.
window_and_convolution_exchanged:
  | return 4 * n * min(n, k) * d -> return 2 * k * n * d ** 2
  | return 2 * k * n * d ** 2 -> return 4 * n * min(n, k) * d
  Your counts for the window and for the convolution are exchanged.
  ? Which of the two has matrices of parameters?
  # Both slide over the sequence and take k.
n_and_d_exchanged: n, d = (d, n)
  Your n and d have changed roles.
  ? Which of the two is the second argument?
  # Shapes are read from the right as often as from the left.
multiplications_alone:
  | return 4 * n ** 2 * d -> return 2 * n ** 2 * d
  | return 4 * n * min(n, k) * d -> return 2 * n * min(n, k) * d
  | return 4 * n * d ** 2 -> return 2 * n * d ** 2
  | return 2 * k * n * d ** 2 -> return k * n * d ** 2
  Your counts are those of the multiplications alone.
  ? What happens to the products of a row and a column, before they are one number?
  # Papers on vision count multiply-adds (MACs) and call them FLOPs.
one_addition_fewer:
  | return 4 * n ** 2 * d -> return n ** 2 * (2 * d - 1) + n * d * (2 * n - 1)
  | return 4 * n * min(n, k) * d ->
  :     return n * min(n, k) * (2 * d - 1) + n * d * (2 * min(n, k) - 1)
  | return 4 * n * d ** 2 -> return 2 * n * d * (2 * d - 1)
  | return 2 * k * n * d ** 2 -> return n * d * (2 * k * d - 1)
  Your sums have one addition fewer than numbers.
  ? How many operations has the product of an (a, b) with a (b, c) matrix, by the
    docstring?
  # To add b numbers takes b − 1 additions, if the sum does not begin with 0.
entries_of_the_table:
  | return 4 * n ** 2 * d -> return n ** 2 * d
  | return 4 * n * min(n, k) * d -> return n * min(n, k) * d
  | return 4 * n * d ** 2 -> return n * d ** 2
  | return 2 * k * n * d ** 2 -> return k * n * d ** 2
  Your counts are the entries of table 1, without factors.
  ? What does O(…) leave out?
  # The table says how costs grow, and its entries are taken for the costs.
one_product_each:
  | return 4 * n ** 2 * d -> return 2 * n ** 2 * d
  | return 4 * n * min(n, k) * d -> return 2 * n * min(n, k) * d
  | return 4 * n * d ** 2 -> return 2 * n * d ** 2
  Your attention, window and recurrence have one matrix product each.
  ? Which products does the docstring list for each of the three?
  # 2 · a · b · c is one product, and the second is as large as the first.
scores_alone: return 4 * n ** 2 * d -> return 2 * n ** 2 * d
  Your attention has one of its two matrix products.
  ? What is done with the weights?
  # q kᵀ is the n × n matrix that all complain about; weights v costs as much.
scores_of_the_window_alone: return 4 * n * min(n, k) * d -> return 2 * n * min(n, k) * d
  Your window has one of its two matrix products.
  # A window is drawn as a band in the matrix of scores.
one_matrix_in_the_recurrence: return 4 * n * d ** 2 -> return 2 * n * d ** 2
  Your recurrence has one of its two matrix products.
  ? Which two vectors does a position of a recurrence multiply by a matrix?
  # w_h makes it recurrent, and x w_x can be done for all positions beforehand.
linear_attention: return 4 * n ** 2 * d -> return 4 * n * d
  Your count for attention grows with n, not with n²: it is 4 n d.
  ? To how many positions does one of n positions attend?
  # One query with all keys takes 4 n d, and there are n queries.
both_squared_in_attention: return 4 * n ** 2 * d -> return 4 * n ** 2 * d ** 2
  Your count for attention has d², too: it is 4 n² d².
  ? How many products is one score?
  # A matrix of n × d with one of d × n is taken for n · d · d · n.
size_of_the_weights: return 4 * n ** 2 * d -> return 4 * n ** 2
  Your count for attention lacks d: it is 4 n².
  # The n × n numbers of the weights are counted, not the way to them.
causal_half: return 4 * n ** 2 * d -> return 2 * n * (n + 1) * d
  Your attention counts the scores that a causal mask lets through.
  ? What does the docstring say about masks?
  # Half of the scores are blocked; a plain product computes them all the same.
with_projections: return 4 * n ** 2 * d -> return 4 * n ** 2 * d + 8 * n * d ** 2
  Your attention has 8 n d² operations more, such as those of four projections.
  ? Which products does the docstring count?
  # A layer of nn.MultiheadAttention has w_q, w_k, w_v and w_o.
with_three_projections: return 4 * n ** 2 * d -> return 4 * n ** 2 * d + 6 * n * d ** 2
  Your attention has 6 n d² operations more, such as those of three projections.
  # q, k and v are made from x, and that is counted.
with_projections_in_both:
  | return 4 * n ** 2 * d -> return 4 * n ** 2 * d + 8 * n * d ** 2
  | return 4 * n * min(n, k) * d -> return 4 * n * min(n, k) * d + 8 * n * d ** 2
  Your attention and your window have 8 n d² operations more, such as those of four
    projections.
  ? Which products does the docstring count?
  # A layer of nn.MultiheadAttention has w_q, w_k, w_v and w_o.
with_three_projections_in_both:
  | return 4 * n ** 2 * d -> return 4 * n ** 2 * d + 6 * n * d ** 2
  | return 4 * n * min(n, k) * d -> return 4 * n * min(n, k) * d + 6 * n * d ** 2
  Your attention and your window have 6 n d² operations more, such as those of three
    projections.
  # q, k and v are made from x, and that is counted.
with_scaling: return 4 * n ** 2 * d -> return 4 * n ** 2 * d + n ** 2
  Your attention has one operation more for each score, such as its scaling.
  ? Which steps of attention does the docstring leave out?
  # The division by √d_k is an operation for each of the n² scores.
with_softmax: return 4 * n ** 2 * d -> return 4 * n ** 2 * d + 3 * n ** 2
  Your attention has three operations more for each score, such as a softmax.
  # Exponential, sum and division are three operations for each score.
window_wider_than_the_sequence: min(n, k) -> k
  Your window has k keys for each position where there are only n.
  ? To how many positions can one attend, if the sequence has n?
  # 4 n k d is the formula, and k < n goes without saying.
whole_sequence_in_the_window: min(n, k) -> n
  Your window costs as much as attention, however narrow it is.
  ? How many scores does a position need if it attends to k positions?
  # A mask on the full matrix saves nothing, and that is how a window is made first.
window_on_both_sides: min(n, k) -> min(n, 2 * k + 1)
  Your window has 2k + 1 keys for each position: k on both sides and itself.
  ? What is k, by the docstring?
  # Longformer's window has w / 2 positions on either side.
window_one_wider: min(n, k) -> min(n, k + 1)
  Your window has k + 1 keys for each position.
  ? Is the position itself one of the k?
  # 'The k positions before, and itself' are k + 1.
one_window: return 4 * n * min(n, k) * d -> return 4 * min(n, k) ** 2 * d
  Your window has k queries: you count one block of k × k scores.
  ? How many positions attend to k positions each?
  # Within a window of k tokens there are k² pairs.
matrices_in_the_window:
  | return 4 * n * min(n, k) * d -> return 4 * n * min(n, k) * d ** 2
  Your count for the window has d²: it is 4 n k d².
  ? How many products is one score?
  # A window slides like a convolution, which has a matrix for each position.
one_position_of_the_window: return 4 * n * min(n, k) * d -> return 4 * min(n, k) * d
  Your count for the window is that of one position.
  ? How many positions attend to k positions each?
  # One query with k keys takes 4 k d operations.
short_windows_at_the_beginning:
  | return 4 * n * min(n, k) * d ->
  :     return 4 * d * sum((min(i + 1, k) for i in range(n)))
  Your window has fewer keys for the first k − 1 positions.
  ? Do all positions cost the same, by the docstring?
  # Position 0 has no positions before it; a plain product computes with zeros.
linear_recurrence: return 4 * n * d ** 2 -> return 4 * n * d
  Your count for the recurrence is linear in d: it is 4 n d.
  ? How many numbers has the matrix w_h?
  # A hidden state has d numbers, and a step is taken for d operations.
both_squared_in_the_recurrence: return 4 * n * d ** 2 -> return 4 * n ** 2 * d ** 2
  Your count for the recurrence has n², too: it is 4 n² d².
  ? How often is w_h used in a sequence of n positions?
  # Each position depends on all before it, and is counted with all of them.
one_step_of_the_recurrence: return 4 * n * d ** 2 -> return 4 * d ** 2
  Your count for the recurrence is that of one position.
  # The formula of a recurrence is that of one step.
one_step_too_few: return 4 * n * d ** 2 -> return 4 * (n - 1) * d ** 2
  Your recurrence has one position too few: n − 1.
  ? How many positions have an x of their own?
  # Between n positions there are n − 1 transitions.
first_hidden_state_free:
  | return 4 * n * d ** 2 -> return 2 * n * d ** 2 + 2 * (n - 1) * d ** 2
  Your recurrence has one product with w_h too few.
  ? Do all positions cost the same, by the docstring?
  # The first hidden state is zero, and a product with zeros could be left out.
gates_of_a_gru: return 4 * n * d ** 2 -> return 12 * n * d ** 2
  Your recurrence has six matrices, as many as a GRU.
  ? Which matrices does the docstring's recurrence have?
  # Lesson 08's recurrence was a GRU.
gates_of_an_lstm: return 4 * n * d ** 2 -> return 16 * n * d ** 2
  Your recurrence has eight matrices, as many as an LSTM.
  # Most recurrent models of 2017 were LSTMs.
output_of_the_recurrence: return 4 * n * d ** 2 -> return 6 * n * d ** 2
  Your recurrence has three matrices.
  # Textbooks draw a third matrix, from the hidden state to an output.
matrix_of_twice_the_size: return 4 * n * d ** 2 -> return 2 * n * (2 * d) ** 2
  Your recurrence has four matrices of (d, d), or one of (2d, 2d).
  ? How many numbers come out of x w_x + h w_h?
  # x and h are joined to 2d numbers; d numbers come out.
sum_of_both_products: return 4 * n * d ** 2 -> return 4 * n * d ** 2 + n * d
  Your recurrence has d additions more at each position.
  ? Which sums does the docstring leave out?
  # x w_x + h w_h has a plus in it.
kernel_forgotten: return 2 * k * n * d ** 2 -> return 2 * n * d ** 2
  Your convolution costs the same whatever k is: 2 n d².
  ? How many vectors does the kernel read for one position?
  # A kernel is a constant of the architecture, and constants are left out.
kernel_squared: return 2 * k * n * d ** 2 -> return 2 * k ** 2 * n * d ** 2
  Your count for the convolution has k².
  ? Along how many axes does a kernel slide over a sequence?
  # Kernels for images have k × k positions.
depthwise: return 2 * k * n * d ** 2 -> return 2 * k * n * d
  Your count for the convolution is linear in d: it is 2 k n d.
  ? With what is each of the k vectors multiplied?
  # A depthwise convolution has one number for each position and channel.
n_squared_in_the_convolution: return 2 * k * n * d ** 2 -> return 2 * k * n ** 2 * d
  Your count for the convolution is 2 k n² d.
  ? How many positions does the kernel read for one position?
  # n² · d and n · d² are exchanged, as in the other rows of the table.
convolution_with_two_products: return 2 * k * n * d ** 2 -> return 4 * k * n * d ** 2
  Your convolution takes twice as many operations as its products.
  ? How many products has the docstring's convolution for each of the k vectors?
  # The three other kinds begin with a 4.
kernel_inside_alone:
  | return 2 * k * n * d ** 2 -> return 2 * k * max(n - k + 1, 0) * d ** 2
  Your convolution has n − k + 1 positions.
  ? How many positions come out, if the ends get zeros to compute with?
  # PyTorch's Conv1d has padding=0 unless told otherwise.
short_kernels_at_the_beginning:
  | return 2 * k * n * d ** 2 ->
  :     return 2 * d ** 2 * sum((min(i + 1, k) for i in range(n)))
  Your kernel reads fewer vectors for the first k − 1 positions.
  ? Do all positions cost the same, by the docstring?
  # A product with zeros could be left out; a plain one is computed.
kernel_cut_to_the_sequence:
  | return 2 * k * n * d ** 2 -> return 2 * min(n, k) * n * d ** 2
  Your kernel is cut to n vectors where the sequence is shorter than it.
  ? What does the kernel read beyond the ends of the sequence?
  # A window is cut to the sequence, and a kernel looks like one.
kernel_one_narrower: return 2 * k * n * d ** 2 -> return 2 * (k - 1) * n * d ** 2
  Your kernel reads k − 1 vectors.
  ? Is the position itself one of the k?
  # A kernel reaches k − 1 positions further, which path lengths need.
one_position_of_the_convolution: return 2 * k * n * d ** 2 -> return 2 * k * d ** 2
  Your count for the convolution is that of one position.
  ? At how many positions does the kernel compute something?
  # The formula of a convolution is that of one position.
one_position_alone:
  | return 4 * n ** 2 * d -> return 4 * n * d
  | return 4 * n * min(n, k) * d -> return 4 * min(n, k) * d
  | return 4 * n * d ** 2 -> return 4 * d ** 2
  | return 2 * k * n * d ** 2 -> return 2 * k * d ** 2
  Your counts are those of one position: they are divided by n.
  ? Does work that is done at the same time take fewer operations?
  # 'A training step is O(1)' is heard of Transformers; only the steps that wait for
    each other are.
with_the_backward_pass:
  | return 4 * n ** 2 * d -> return 12 * n ** 2 * d
  | return 4 * n * min(n, k) * d -> return 12 * n * min(n, k) * d
  | return 4 * n * d ** 2 -> return 12 * n * d ** 2
  | return 2 * k * n * d ** 2 -> return 6 * k * n * d ** 2
  Your counts are three times as large: those of a step of training.
  ? Does the docstring speak of gradients?
  # The backward pass has two products for each of the forward pass, as in C = 6 N D.
rounded_as_floats:
  | return 4 * n ** 2 * d -> return int(4.0 * n ** 2 * d)
  | return 4 * n * min(n, k) * d -> return int(4.0 * n * min(n, k) * d)
  | return 4 * n * d ** 2 -> return int(4.0 * n * d ** 2)
  | return 2 * k * n * d ** 2 -> return int(2.0 * k * n * d ** 2)
  Your large counts are rounded, as floats are.
  ? Up to which integer does a float hold every one?
  # 1e9, / and ** with a negative exponent all make floats.
count_as_text:
  | return 4 * n ** 2 * d -> return f'{4 * n ** 2 * d:,}'
  | return 4 * n * min(n, k) * d -> return f'{4 * n * min(n, k) * d:,}'
  | return 4 * n * d ** 2 -> return f'{4 * n * d ** 2:,}'
  | return 2 * k * n * d ** 2 -> return f'{2 * k * n * d ** 2:,}'
  Your count is a text.
  ? Which type does the docstring promise?
  # An f-string puts in the commas of thousands.
in_billions:
  | return 4 * n ** 2 * d -> return 4 * n ** 2 * d / 1e9
  | return 4 * n * min(n, k) * d -> return 4 * n * min(n, k) * d / 1e9
  | return 4 * n * d ** 2 -> return 4 * n * d ** 2 / 1e9
  | return 2 * k * n * d ** 2 -> return 2 * k * n * d ** 2 / 1e9
  Your counts are in billions.
  ? In which unit is the docstring's example?
  # Tables in papers are in GFLOPs.
""",
)
exercise.edits(
    """
k_refused_elsewhere:
  | if k is not None and kind in ('attention', 'recurrence'):
  :     raise ValueError(f'{kind} has no k')
  Your function refuses a k for attention and recurrence.
  ? What do the kinds that need no k do with it, by the docstring?
  # An argument without effect looks like an error of the caller.
k_needed_everywhere:
  | if k is None:
  :     raise ValueError('k is missing')
  Your function refuses attention and recurrence without k.
  ? Which kinds need k?
  # One check of all three sizes stands before the kinds are told apart.
k_checked_everywhere:
  | if k is not None and k < 1:
  :     raise ValueError(f'k must be 1 or more, got {k}')
  Your function refuses a k below 1 for attention and recurrence.
  ? What do the kinds that need no k do with it, by the docstring?
  # `if k is not None and k < 1` stands before the kinds are told apart.
""",
    of=without_checks,
)
exercise.edits(
    """
window_of_k_squared_not_cut: return 4 * n * min(n, k) * d -> return 4 * k ** 2 * d
  Your window has k² pairs, whatever n is.
  ? How many positions attend, and to how many does each attend?
  # A window is taken for a short sequence of k positions.
window_counted_as_a_convolution:
  | return 4 * n * min(n, k) * d -> return 2 * k * n * d ** 2
  Your window is counted like a convolution: k products with a (d, d) matrix for each
    position.
  ? Which two products does a window share with attention?
  # Both read k positions.
convolution_without_its_ends_not_cut:
  | return 2 * k * n * d ** 2 -> return 2 * k * (n - k + 1) * d ** 2
  Your convolution has n − k + 1 positions: those near an end are left out.
  ? What does the docstring say of positions near the ends?
  # Without padding a convolution has n − k + 1 results.
""",
)
