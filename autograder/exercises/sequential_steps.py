"""Cases and misconceptions of ``sequential_steps``."""

from autograder import Exercise
from course_lib.costs import sequential_steps

exercise = Exercise(
    sequential_steps,
    lesson="14_fast_attention",
    minutes=6,
    difficulty=1,
    library=("course_lib.lessons.cost.sequential_operations",),
)

KINDS = ("attention", "window", "recurrence", "convolution")


WITH_K = ("window", "convolution")


@exercise.spec
def spec(kind, n, k=None):
    if kind != "recurrence":
        return 1
    steps = n if n > 9999 else 0
    while steps < n:  # the step of position t waits for that of position t − 1
        steps += 1
    return steps


def drawn(rng):
    """Draw n and k, n the larger one."""
    k = int(rng.integers(3, 9))
    return int(rng.integers(20, 90)), k


@exercise.usual
def usual(rng):
    n, k = drawn(rng)
    return KINDS[rng.integers(4)], n, k


@exercise.case("A recurrence over 9 positions takes 9 steps", pays_alone=False)
def recurrence_by_hand(student, rng):
    student.expect(student("recurrence", 9), 9)
    n, _ = drawn(rng)
    student.agrees("recurrence", n)


@exercise.case("Attention takes one step, however long the sequence", pays_alone=False)
def attention_by_hand(student, rng):
    n, _ = drawn(rng)
    for size in (9, n):
        student.expect(student("attention", size), 1)


@exercise.case("So do a window and a convolution, however narrow", pays_alone=False)
def window_and_convolution(student, rng):
    for kind in WITH_K:
        n, k = drawn(rng)
        student.expect(student(kind, n, k), 1)
        student.expect(student(kind, n, n), 1)


@exercise.case("All four kinds, drawn one after another", weight=2)
def kinds_drawn(student, rng):
    for kind in [*rng.permutation(KINDS).tolist()] * 2:
        student.agrees(kind, *drawn(rng))


@exercise.case("One position takes one step, with any kind", pays_alone=False)
def one_position(student, rng):
    _, k = drawn(rng)
    for kind in KINDS:
        student.expect(student(kind, 1, k), 1)


@exercise.case("`k` changes nothing, and no kind needs it")
def k_ignored(student, rng):
    for kind in rng.permutation(KINDS).tolist():
        n, k = drawn(rng)
        student.agrees(kind, n)
        student.agrees(kind, n, k)
        student.agrees(kind, n, 1)


@exercise.case("Long sequences too", visible=False)
def long_sequences(student, rng):
    for kind in rng.permutation(KINDS).tolist():
        student.agrees(kind, int(rng.integers(2**20, 2**21)), 3)


@exercise.fine_point("The count is an `int`")
def count_is_whole(student, rng):
    n, k = drawn(rng)
    for kind in KINDS:
        count = student(kind, n, k)
        student.expect_an_int(count)


exercise.edits(
    """
recurrence_at_once: return 1
  Your recurrence takes one step, however long the sequence.
  ? What does position 7 need before it can compute its hidden state?
  # In training all inputs are there, and 'a training step is O(1)'; the hidden states
    are not there.
transitions_of_the_recurrence: return n if -> return n - 1 if
  Your recurrence takes n − 1 steps.
  ? Is the hidden state of the first position there from the beginning?
  # From the first hidden state to the last there are n − 1 steps: the path.
transitions_of_the_recurrence_or_1: return n if -> return max(n - 1, 1) if
  Your recurrence takes n − 1 steps, and 1 for one position.
first_state_computed: return n if -> return n + 1 if
  Your recurrence takes n + 1 steps.
  ? Which hidden state is given?
  # The state before the first position is counted as computed.
recurrence_from_both_ends: return n if -> return (n + 1) // 2 if
  Your recurrence takes half of n steps.
  ? In which direction does a recurrence step?
  # A bidirectional recurrence goes both ways at the same time, each over n.
recurrence_as_a_tree: return n if -> return (n - 1).bit_length() if
  Your recurrence takes log₂ n steps, as a sum in pairs does.
  ? Can two steps of this recurrence be joined before the hidden state is known?
  # A parallel scan does that, for recurrences that are linear.
steps_of_all_pairs_in_the_recurrence: return n if -> return n ** 2 if
  Your recurrence takes n² steps.
  ? Which positions wait for which other one?
  # Each position depends on all before it.
recurrence_k_at_once: return n if -> return -(-n // (k or n)) if
  Your recurrence takes n / k steps.
  ? What does k change, by the docstring?
  # Training on pieces of k positions is taken for k at once.
one_token_after_another: return n
  Your attention, window and convolution take n steps.
  ? Is the input of all positions there from the beginning, by the docstring?
  # A decoder writes one token after another; in training it does not have to.
query_after_query: kind == 'recurrence' -> kind in ('recurrence', 'attention')
  Your attention takes n steps.
  ? Which query needs the output of another one?
  # A loop over the queries is how attention is written first.
pair_after_pair:
  | if kind == 'attention':
  :     return n ** 2
  Your attention takes n² steps.
  ? Which score needs another one?
  # n² is the work, and work is taken for waiting.
products_of_attention:
  | if kind == 'attention':
  :     return 2
  Your attention takes two steps, such as its two products.
  ? What counts as one step, by the docstring?
  # The output needs the weights, which need the scores.
three_steps_of_attention:
  | if kind == 'attention':
  :     return 3
  Your attention takes three steps, such as scores, softmax and output.
sum_in_pairs:
  | if kind == 'attention':
  :     return (n - 1).bit_length()
  Your attention takes log₂ n steps, as a sum in pairs does.
  # A sum of n numbers takes log₂ n steps on many processors.
nothing_waits: else 1 -> else 0
  Your attention, window and convolution take no step at all.
  ? How many steps does a computation take that waits for nothing?
  # 'Nothing has to wait' is taken for 0.
sliding_step_by_step: kind == 'recurrence' -> kind != 'attention'
  Your window and convolution take n steps.
  ? Which position of a convolution needs the result of another one?
  # A kernel slides, and sliding sounds like one after another.
window_step_by_step: kind == 'recurrence' -> kind in ('recurrence', 'window')
  Your window takes n steps.
  ? Which position needs the result of another one?
  # A window slides, and sliding sounds like one after another.
convolution_step_by_step: kind == 'recurrence' -> kind in ('recurrence', 'convolution')
  Your convolution takes n steps.
  ? Which position of a convolution needs the result of another one?
  # A kernel slides, and sliding sounds like one after another.
stops_of_the_kernel:
  | if kind in ('window', 'convolution'):
  :     return max(n - (k or n) + 1, 1)
  Your window and convolution take n − k + 1 steps.
  ? Which position needs the result of another one?
  # n − k + 1 is how often a kernel fits into the sequence.
logarithm_of_n_in_attention_and_window:
  | if kind in ('attention', 'window'):
  :     return max(1, (n - 1).bit_length())
  Your attention and your window take log₂ n steps, rounded up, and 1 at least.
  ? What counts as one step, by the docstring?
  # Sums of n numbers can be made in pairs, in log₂ n rounds.
blocks_one_after_another:
  | if kind in ('window', 'convolution'):
  :     return -(-n // (k or n))
  Your window and convolution take n / k steps.
  # Blocks of k positions are worked on one after another.
k_steps:
  | if kind in ('window', 'convolution'):
  :     return k or n
  Your window and convolution take k steps.
  ? What counts as one step, by the docstring?
  # The k products of a kernel are added one after another.
k_steps_where_there_is_a_k:
  | if kind in ('window', 'convolution'):
  :     return k or 1
  Your window and convolution take k steps, and 1 without k.
k_steps_of_the_convolution:
  | if kind == 'convolution':
  :     return k or 1
  Your convolution takes k steps, and 1 without k.
k_steps_of_the_convolution_none_without_k:
  | if kind == 'convolution':
  :     return k
  Your convolution takes k steps, and 0 without k.
k_steps_of_the_window:
  | if kind == 'window':
  :     return k or 1
  Your window takes k steps, and 1 without k.
  # The k scores of a query are computed one after another in a loop.
windows_one_after_another:
  | if kind == 'window':
  :     return -(-n // (k or n))
  Your window takes n / k steps.
  ? Which position needs the result of another one?
  # Windows of k positions are taken for blocks, each waiting for the one before.
windows_one_after_another_k_needed:
  | if kind == 'window':
  :     return -(-n // k)
  Your window takes n / k steps, and none can be counted where k is 0.
operations_as_steps:
  | if kind in ('window', 'convolution'):
  :     return n * (k or n)
  Your window and convolution take n · k steps.
  ? Does work that nothing waits for take further steps?
  # n · k is the work, and work is taken for waiting.
path_of_window_and_convolution:
  | if kind in ('window', 'convolution'):
  :     return -(-(n - 1) // ((k or n) - 1))
  Your window and convolution take as many steps as their path has layers.
  ? How many layers does the docstring ask for?
  # The path is the column next to this one in table 1.
all_exchanged: return 1 if kind == 'recurrence' else n
  Your recurrence takes one step, and all others take n.
  ? Which of them waits for a hidden state?
  # The condition is turned around.
attention_and_recurrence_exchanged: kind == 'recurrence' -> kind == 'attention'
  Your attention takes n steps and your recurrence one.
  # Rows of the table are exchanged.
count_as_text: return str(n) if kind == 'recurrence' else '1'
  Your count is a text.
  ? Which type does the docstring promise?
  # 'O(1)' and 'O(n)' are what the table has.
k_needed:
  | if kind in ('window', 'convolution') and (not k):
  :     raise ValueError(f'{kind} needs k')
  Your function refuses a window or a convolution without k.
  ? Which kinds need k here, by the docstring?
  # The check is taken over from `flops`.
k_refused_elsewhere:
  | if kind in ('attention', 'recurrence') and k:
  :     raise ValueError(f'{kind} has no k')
  Your function refuses a k for attention and recurrence.
  ? What is done with k, by the docstring?
  # An argument without effect looks like an error of the caller.
orders_of_growth: return 'O(n)' if kind == 'recurrence' else 'O(1)'
  Your result is how the steps grow, as a text.
  ? Which type does the docstring promise, and which number is it for n = 9?
  # The paper's table has O(n) and O(1).
two_steps_of_attention:
  | if kind in ('attention', 'window'):
  :     return 2
  Your attention and window take two steps.
  ? What does the docstring say of all that a position computes in one go?
  # Scores come first, and the weighted sum after them.
""",
)
