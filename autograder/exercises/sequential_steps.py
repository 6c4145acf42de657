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
AT_ONCE = ("attention", "window", "convolution")
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


def up(number, by):
    return -(-number // by)


def width(n, k):
    """Return k, or n for a width that is missing."""
    return n if k is None else k


STEPS = {
    "1": lambda n, k: 1,
    "0": lambda n, k: 0,
    "2": lambda n, k: 2,
    "3": lambda n, k: 3,
    "n": lambda n, k: n,
    "n − 1": lambda n, k: n - 1,
    "n − 1, at least 1": lambda n, k: max(n - 1, 1),
    "n + 1": lambda n, k: n + 1,
    "n / 2": lambda n, k: up(n, 2),
    "n²": lambda n, k: n**2,
    "log n": lambda n, k: (n - 1).bit_length(),
    "k": lambda n, k: width(n, k),
    "k, or 1": lambda n, k: 1 if k is None else k,
    "n − k + 1": lambda n, k: max(n - width(n, k) + 1, 1),
    "n / k": lambda n, k: up(n, width(n, k)),
    "n k": lambda n, k: n * width(n, k),
    "path": lambda n, k: up(n - 1, width(n, k) - 1) if width(n, k) > 1 else 0,
}


@exercise.variants
def variants(
    kind,
    n,
    k=None,
    *,
    recurrence="n",
    attention="1",
    sliding="1",  # window and convolution
    window="1",
    convolution="1",
    at_once="1",
    roles="right",
    returns="int",
    missing="fine",
):
    if kind in WITH_K and k is None and missing == "ValueError":
        raise ValueError("k is missing")
    if kind not in WITH_K and k is not None and missing == "not elsewhere":
        raise ValueError("k is not needed")
    if roles == "exchanged":
        kind = "attention" if kind == "recurrence" else "recurrence"
    if roles == "attention and recurrence":
        kind = {"attention": "recurrence", "recurrence": "attention"}.get(kind, kind)
    if returns == "orders":
        return "O(n)" if kind == "recurrence" else "O(1)"
    if returns == "the path" and kind != "recurrence":
        n_back = max(width(n, k) - 1, 1)
        return min(n - 1, 1) if kind == "attention" else up(n - 1, n_back)
    if kind == "recurrence":
        steps = STEPS[recurrence](n, k)
    elif at_once != "1":
        steps = STEPS[at_once](n, k)
    elif attention == "2, and a window's" and kind in ("attention", "window"):
        steps = 2
    elif kind == "attention":
        steps = STEPS[attention](n, k)
    else:
        own = window if kind == "window" else convolution
        steps = STEPS[sliding if own == "1" else own](n, k)
    return str(steps) if returns == "text" else steps


exercise.option(
    "recurrence_at_once",
    "Your recurrence takes one step, however long the sequence.",
    "What does position 7 need before it can compute its hidden state?",
    why="In training all inputs are there, and 'a training step is O(1)'; the hidden "
    "states are not there.",
    recurrence="1",
)
exercise.option(
    "transitions_of_the_recurrence",
    "Your recurrence takes n − 1 steps.",
    "Is the hidden state of the first position there from the beginning?",
    why="From the first hidden state to the last there are n − 1 steps: the path.",
    recurrence="n − 1",
)
exercise.option(
    "transitions_of_the_recurrence_or_1",
    "Your recurrence takes n − 1 steps, and 1 for one position.",
    "Is the hidden state of the first position there from the beginning?",
    why="From the first hidden state to the last there are n − 1 steps: the path.",
    recurrence="n − 1, at least 1",
)
exercise.option(
    "first_state_computed",
    "Your recurrence takes n + 1 steps.",
    "Which hidden state is given?",
    why="The state before the first position is counted as computed.",
    recurrence="n + 1",
)
exercise.option(
    "recurrence_from_both_ends",
    "Your recurrence takes half of n steps.",
    "In which direction does a recurrence step?",
    why="A bidirectional recurrence goes both ways at the same time, each over n.",
    recurrence="n / 2",
)
exercise.option(
    "recurrence_as_a_tree",
    "Your recurrence takes log₂ n steps, as a sum in pairs does.",
    "Can two steps of this recurrence be joined before the hidden state is known?",
    why="A parallel scan does that, for recurrences that are linear.",
    recurrence="log n",
)
exercise.option(
    "steps_of_all_pairs_in_the_recurrence",
    "Your recurrence takes n² steps.",
    "Which positions wait for which other one?",
    why="Each position depends on all before it.",
    recurrence="n²",
)
exercise.option(
    "recurrence_k_at_once",
    "Your recurrence takes n / k steps.",
    "What does k change, by the docstring?",
    why="Training on pieces of k positions is taken for k at once.",
    recurrence="n / k",
)
exercise.option(
    "one_token_after_another",
    "Your attention, window and convolution take n steps.",
    "Is the input of all positions there from the beginning, by the docstring?",
    why="A decoder writes one token after another; in training it does not have to.",
    at_once="n",
)
exercise.option(
    "query_after_query",
    "Your attention takes n steps.",
    "Which query needs the output of another one?",
    why="A loop over the queries is how attention is written first.",
    attention="n",
)
exercise.option(
    "pair_after_pair",
    "Your attention takes n² steps.",
    "Which score needs another one?",
    why="n² is the work, and work is taken for waiting.",
    attention="n²",
)
exercise.option(
    "products_of_attention",
    "Your attention takes two steps, such as its two products.",
    "What counts as one step, by the docstring?",
    why="The output needs the weights, which need the scores.",
    attention="2",
)
exercise.option(
    "three_steps_of_attention",
    "Your attention takes three steps, such as scores, softmax and output.",
    "What counts as one step, by the docstring?",
    why="The output needs the weights, which need the scores.",
    attention="3",
)
exercise.option(
    "sum_in_pairs",
    "Your attention takes log₂ n steps, as a sum in pairs does.",
    "What counts as one step, by the docstring?",
    why="A sum of n numbers takes log₂ n steps on many processors.",
    attention="log n",
)
exercise.option(
    "nothing_waits",
    "Your attention, window and convolution take no step at all.",
    "How many steps does a computation take that waits for nothing?",
    why="'Nothing has to wait' is taken for 0.",
    at_once="0",
)
exercise.option(
    "sliding_step_by_step",
    "Your window and convolution take n steps.",
    "Which position of a convolution needs the result of another one?",
    why="A kernel slides, and sliding sounds like one after another.",
    sliding="n",
)
exercise.option(
    "window_step_by_step",
    "Your window takes n steps.",
    "Which position needs the result of another one?",
    why="A window slides, and sliding sounds like one after another.",
    window="n",
)
exercise.option(
    "convolution_step_by_step",
    "Your convolution takes n steps.",
    "Which position of a convolution needs the result of another one?",
    why="A kernel slides, and sliding sounds like one after another.",
    convolution="n",
)
exercise.option(
    "stops_of_the_kernel",
    "Your window and convolution take n − k + 1 steps.",
    "Which position needs the result of another one?",
    why="n − k + 1 is how often a kernel fits into the sequence.",
    sliding="n − k + 1",
)
exercise.option(
    "blocks_one_after_another",
    "Your window and convolution take n / k steps.",
    "Which position needs the result of another one?",
    why="Blocks of k positions are worked on one after another.",
    sliding="n / k",
)
exercise.option(
    "k_steps",
    "Your window and convolution take k steps.",
    "What counts as one step, by the docstring?",
    why="The k products of a kernel are added one after another.",
    sliding="k",
)
exercise.option(
    "k_steps_where_there_is_a_k",
    "Your window and convolution take k steps, and 1 without k.",
    "What counts as one step, by the docstring?",
    why="The k products of a kernel are added one after another.",
    sliding="k, or 1",
)
exercise.option(
    "k_steps_of_the_convolution",
    "Your convolution takes k steps, and 1 without k.",
    "What counts as one step, by the docstring?",
    why="The k products of a kernel are added one after another.",
    convolution="k, or 1",
)
exercise.option(
    "k_steps_of_the_window",
    "Your window takes k steps, and 1 without k.",
    "What counts as one step, by the docstring?",
    why="The k scores of a query are computed one after another in a loop.",
    window="k, or 1",
)
exercise.option(
    "windows_one_after_another",
    "Your window takes n / k steps.",
    "Which position needs the result of another one?",
    why="Windows of k positions are taken for blocks, each waiting for the one before.",
    window="n / k",
)
exercise.option(
    "operations_as_steps",
    "Your window and convolution take n · k steps.",
    "Does work that nothing waits for take further steps?",
    why="n · k is the work, and work is taken for waiting.",
    sliding="n k",
)
exercise.option(
    "path_of_window_and_convolution",
    "Your window and convolution take as many steps as their path has layers.",
    "How many layers does the docstring ask for?",
    why="The path is the column next to this one in table 1.",
    sliding="path",
)
exercise.option(
    "all_exchanged",
    "Your recurrence takes one step, and all others take n.",
    "Which of them waits for a hidden state?",
    why="The condition is turned around.",
    roles="exchanged",
)
exercise.option(
    "attention_and_recurrence_exchanged",
    "Your attention takes n steps and your recurrence one.",
    "Which of them waits for a hidden state?",
    why="Rows of the table are exchanged.",
    roles="attention and recurrence",
)
exercise.option(
    "count_as_text",
    "Your count is a text.",
    "Which type does the docstring promise?",
    why="'O(1)' and 'O(n)' are what the table has.",
    returns="text",
)
exercise.option(
    "k_needed",
    "Your function refuses a window or a convolution without k.",
    "Which kinds need k here, by the docstring?",
    why="The check is taken over from `flops`.",
    missing="ValueError",
)
exercise.option(
    "k_refused_elsewhere",
    "Your function refuses a k for attention and recurrence.",
    "What is done with k, by the docstring?",
    why="An argument without effect looks like an error of the caller.",
    missing="not elsewhere",
)
exercise.option(
    "orders_of_growth",
    "Your result is how the steps grow, as a text.",
    "Which type does the docstring promise, and which number is it for n = 9?",
    why="The paper's table has O(n) and O(1).",
    returns="orders",
)
exercise.option(
    "two_steps_of_attention",
    "Your attention and window take two steps.",
    "What does the docstring say of all that a position computes in one go?",
    why="Scores come first, and the weighted sum after them.",
    attention="2, and a window's",
)
