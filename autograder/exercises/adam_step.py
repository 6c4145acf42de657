"""Cases and misconceptions of ``adam_step``."""

import math

import torch

from autograder import Exercise, families
from course_lib.nn.first_steps import adam_step

exercise = Exercise(
    adam_step,
    lesson="07_from_numpy_to_pytorch",
    minutes=15,
    difficulty=2,
    returns=("parameter", "state"),
    library=(
        "torch.optim.Adam",
        "torch.optim.adam.adam",
        "torch.optim.AdamW",
        "torch.optim.adamw.adamw",
        "torch.optim.SparseAdam",
    ),
)


@exercise.spec
def spec(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    step = state[2] + 1
    numbers, slopes, m, v = (
        tensor.reshape(-1).tolist() for tensor in (parameter, gradient, *state[:2])
    )
    for i, slope in enumerate(slopes):
        m[i] = betas[0] * m[i] + (1 - betas[0]) * slope
        v[i] = betas[1] * v[i] + (1 - betas[1]) * slope * slope
        m_hat = m[i] / (1 - betas[0] ** step)
        v_hat = v[i] / (1 - betas[1] ** step)
        change = m_hat / (math.sqrt(v_hat) + eps) + weight_decay * numbers[i]
        numbers[i] = numbers[i] - learning_rate * change
    new, new_m, new_v = (
        torch.tensor(each, dtype=parameter.dtype).reshape(parameter.shape)
        for each in (numbers, m, v)
    )
    return new, (new_m, new_v, step)


def drawn(rng, *shape, dtype=torch.float64):
    """Draw a tensor."""
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def at_first(*shape, dtype=torch.float64):
    """Return the state before the first step."""
    return torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype), 0


def after(step, rng, *shape, dtype=torch.float64):
    """Draw a parameter, a gradient, and the state after some steps."""
    state = drawn(rng, *shape, dtype=dtype), drawn(rng, *shape, dtype=dtype) ** 2, step
    return drawn(rng, *shape, dtype=dtype), drawn(rng, *shape, dtype=dtype), state


@exercise.usual
def usual(rng):
    return *after(4, rng, 3, 2), 0.25, (0.75, 0.875), 0.125, 0.5


@exercise.case(
    "From zeros, with a learning rate of 2, betas of 0.5 and 0.75, an eps of 1 and the "
    "gradient (3, −1), the parameter (1, 1) becomes (−0.5, 2)"
)
def small_example_by_hand(student, rng):
    start, gradient = torch.ones(2), torch.tensor([3.0, -1.0])
    zeros = torch.zeros(2), torch.zeros(2), 0
    m, v = torch.tensor([1.5, -0.5]), torch.tensor([2.25, 0.25])
    result = student(start, gradient, zeros, 2.0, (0.5, 0.75), 1.0)
    student.expect(result, (torch.tensor([-0.5, 2.0]), (m, v, 1)))
    student.agrees(drawn(rng, 3), drawn(rng, 3), at_first(3), 2.0, (0.5, 0.75), 1.0)


@exercise.case("A later step goes on from m, v and the number of steps", weight=2)
def later_steps(student, rng):
    student.agrees(*after(4, rng, 3, 2), 0.25, (0.75, 0.875), 0.125)
    student.agrees(*after(40, rng, 5), 0.5, (0.9, 0.98), 0.25)
    # A learning rate that warms up begins at 0: m, v and the step go on all the same.
    student.agrees(*after(3, rng, 4), 0.0, (0.75, 0.875), 0.125)


@exercise.case("With its own learning rate, betas and eps, for a tiny gradient too")
def default_settings(student, rng):
    student.agrees(*after(2, rng, 4))
    student.agrees(drawn(rng, 3), 1e-6 * drawn(rng, 3), at_first(3))


@exercise.case("A parameter may be a single number, or have three axes", weight=0.5)
def any_shape(student, rng):
    for shape in ((), (1, 4), (2, 3, 5)):
        student.agrees(*after(3, rng, *shape, dtype=torch.float32), 0.5, (0.75, 0.25))


@exercise.case("The step is right where every gradient was 0, too", weight=0.5)
def gradients_of_zero(student, rng):
    gradient = drawn(rng, 2, 3)
    gradient[0, 1:] = 0.0
    student.agrees(drawn(rng, 2, 3), gradient, at_first(2, 3), 0.5)


@exercise.case(
    "A weight decay subtracts a share of the old parameter, and leaves m and v alone",
    weight=2.5,
)
def decoupled_weight_decay(student, rng):
    student.agrees(*after(4, rng, 3, 2), 0.25, (0.75, 0.875), 0.125, 0.5)
    student.agrees(drawn(rng, 4), drawn(rng, 4), at_first(4), 0.5, (0.9, 0.99), 0.5, 1)


@exercise.case(
    "Five steps down a parabola, with a weight decay, each from what the last one "
    "returned"
)
def steps_on_a_parabola(student, rng):
    lowest, parameter, state = drawn(rng, 3), drawn(rng, 3), at_first(3)
    settings = float(rng.uniform(0.1, 0.4)), (0.75, 0.875), 0.125, 0.25
    for _ in range(5):  # the loss is (parameter − lowest)² / 2
        arguments = parameter, parameter - lowest, state, *settings
        result = student(*arguments)
        student.expect(result, exercise.expected(arguments, {}))
        parameter, state = result


@exercise.case("The hundredth step of a large matrix", visible=False)
def hundredth_step(student, rng):
    student.agrees(*after(99, rng, 7, 11), 0.01, (0.9, 0.95), 1e-3, 0.1)


@exercise.case(
    "The parameter, its gradient and the state of the caller are not modified"
)
def arguments_stay(student, rng):
    student.leaves_unchanged(*after(2, rng, 2, 3), 0.5, (0.75, 0.875), 0.125, 0.25)


exercise.edits(
    """
no_bias_correction:
  | m_hat = m
  | v_hat = v
  Your m̂ and v̂ are m and v: the bias towards their zeros at first is not corrected.
  ? What are m and v after a first step with the gradient 1, and m̂ and v̂?
  # The two hats get lost; BERT's own optimizer has none: google-research/bert,
    optimization.py.
only_m_corrected: v_hat = v
  Your v̂ is v: only m's bias towards zero is corrected.
  # One line is written for m, and its copy for v is forgotten.
only_v_corrected: m_hat = m
  Your m̂ is m: only v's bias towards zero is corrected.
  # Momentum alone is used without a correction, and RMSprop's v as well.
corrected_as_in_the_first_step:
  | beta_1 ** step -> beta_1
  | beta_2 ** step -> beta_2
  Your m̂ and v̂ are divided by 1 − β in every step, as is right in the first.
  ? How large is 1 − βˢ after a thousand steps?
  # 1 − β₁ᵗ is read as 1 − β₁ with an index t: eriklindernoren/ML-From-Scratch, issue
    35; ufal/npfl114, pull 79.
beta_times_step:
  | beta_1 ** step -> beta_1 * step
  | beta_2 ** step -> beta_2 * step
  Your m̂ and v̂ are m and v divided by 1 − β · s, not by 1 − βˢ.
  ? Which of `*` and `**` is a power?
  # * and ** differ by one letter, and agree in the first step.
corrected_with_the_other_beta:
  | beta_1 ** step -> beta_2 ** step
  | beta_2 ** step -> beta_1 ** step
  Your m is corrected with β₂, and your v with β₁.
  ? Which β belongs to m, and which to v?
  # Two lines that differ in an index only are copied from each other.
both_corrected_with_beta_1: beta_2 ** step -> beta_1 ** step
  Your v is corrected with β₁, as m is.
  # The line for m is copied, and its β stays; or 1 − β₁ˢ has a name, and serves for
    both.
both_corrected_with_beta_2: beta_1 ** step -> beta_2 ** step
  Your m is corrected with β₂, as v is.
  # The line for v is copied, and its β stays.
correction_multiplied:
  | m_hat = m / -> m_hat = m *
  | v_hat = v / -> v_hat = v *
  Your m̂ and v̂ are m and v multiplied by 1 − βˢ.
  ? Is m too small or too large after the first step, and what puts that right?
  # A correction is thought of as a factor.
steps_counted_from_zero:
  | beta_1, beta_2 = betas
  : step = step + 1 -> beta_1, beta_2 = betas
  | (m, v, step)) -> (m, v, step + 1))
  Your bias correction takes the number of steps made before: 0 in the first step,
    which gives NaN.
  ? What is 1 − β⁰?
  # range() counts from 0: deeplearning4j/nd4j, pull 1227; tracel-ai/burn, issue 834;
    keras-team/keras, pull 10129.
one_step_behind:
  | step = step + 1 ->
  :     t = max(step, 1)
  :     step = step + 1
  | beta_1 ** step -> beta_1 ** t
  | beta_2 ** step -> beta_2 ** t
  Your bias correction takes the number of steps made before, but 1 in the first step:
    from the second on it is one too small.
  ? Which number does the state hold when the second step begins?
  # NaN in the first step is mended with max(step, 1), and the count stays wrong.
one_step_behind_and_uncorrected_at_first:
  | beta_1 ** step) -> beta_1 ** (step - 1)) if step > 1 else m
  | beta_2 ** step) -> beta_2 ** (step - 1)) if step > 1 else v
  Your bias correction takes the number of steps made before, and there is none in the
    first step.
  ? Which number does the state hold when the second step begins?
  # 0/0 in the first step is mended with a condition, and the count stays wrong.
one_step_too_far:
  | beta_1 ** step -> beta_1 ** (step + 1)
  | beta_2 ** step -> beta_2 ** (step + 1)
  Your bias correction takes a number of steps that is one too large: 2 in the first
    step.
  ? How often do you add 1 to the step?
  # The first step is number 1, and 1 is added to that: cs231n/cs231n.github.io, issue
    179.
gradient_above_the_fraction_bar: m_hat / ( -> gradient / (
  Your change has the gradient itself above the fraction bar, where m̂ belongs: m is
    computed, and has no part in the parameter.
  ? Which of your numbers would differ if m were all zeros?
  # RMSprop divides the gradient itself, and v is the new idea.
change_to_subtract_returned: parameter - learning_rate * change -> change
  Your first result is the change: it is neither multiplied by the learning rate nor
    subtracted from the parameter.
  ? What should come out if the learning rate is 0?
  # The last line of the docstring's list is forgotten.
shares_exchanged:
  | m = (1 - beta_1) * m + beta_1 * gradient
  | v = (1 - beta_2) * v + beta_2 * gradient ** 2
  Your m and v keep 1 − β of the old and take β of the new.
  ? What do m and v hold after the first step, if the gradient is 1?
  # In signal processing α is often the share of the new.
whole_gradient_in_m: (1 - beta_1) * gradient -> gradient
  Your m takes the whole gradient, not 1 − β₁ of it.
  # PyTorch's SGD does so with its momentum: pytorch/pytorch, issue 1099.
whole_square_in_v: (1 - beta_2) * gradient ** 2 -> gradient ** 2
  Your v takes the whole squared gradient, not 1 − β₂ of it.
  # Adagrad adds up whole squares.
whole_gradient_in_both:
  | (1 - beta_1) * gradient -> gradient
  | (1 - beta_2) * gradient ** 2 -> gradient ** 2
  Your m and v take the whole gradient and its whole square, not 1 − β of them.
  # Sums with a decay are the older form of momentum.
gradient_for_m: m = gradient
  Your m is the gradient of this step alone.
  # Without m it is RMSprop.
square_for_v: v = gradient ** 2
  Your v is the square of this step's gradient alone.
  # The moving average is written for m, and forgotten for v.
absolute_values_in_v: gradient ** 2 -> gradient.abs()
  Your v averages absolute values, not squares.
  ? Of which numbers is v the moving average, for each entry of the parameter?
  # Adam is said to divide by the size of the gradient.
gradients_in_v: gradient ** 2 -> gradient
  Your v averages gradients, not their squares: its root may be NaN.
  # The line for m is copied, with another β.
square_of_m_in_v: gradient ** 2 -> m ** 2
  Your v averages the squares of m, not of the gradients.
  # m is what takes the gradient's part from then on.
variance_in_v: gradient ** 2 -> (gradient - m) ** 2
  Your v averages the squared distances of the gradients from m: a variance.
  # v is called the variance in many texts; AdaBelief does use this one.
one_v_for_all: gradient ** 2 -> (gradient ** 2).mean()
  Your v is the same for all numbers of the parameter, but for what it was: the mean
    of the squares goes in.
  # .mean() is added, since a mean of squares is meant.
eps_under_the_root: (torch.sqrt(v_hat) + eps) -> torch.sqrt(v_hat + eps)
  Your eps is under the root.
  ? How large is the root of eps alone, 1e-8 say, and how large is eps?
  # Layer norm has it there: d2l-ai/d2l-zh, pull 502, and FluxML/Flux.jl, pull 448,
    take Adam's out of the root.
no_eps: (torch.sqrt(v_hat) + eps) -> torch.sqrt(v_hat)
  Your code has no eps: where every gradient was 0, it computes 0 / 0.
  ? What is 0 / 0, and which entries of an embedding have no gradient?
  # eps is tiny, and so is thought to change nothing.
eps_added_to_the_fraction: (torch.sqrt(v_hat) + eps) -> torch.sqrt(v_hat) + eps
  Your eps is added to m̂ / √v̂, not to √v̂.
  ? Which is computed first in a / b + c: the division, or the sum?
  # A pair of brackets is missing: m̂ / √v̂ + eps.
no_root: torch.sqrt(v_hat) -> v_hat
  Your m̂ is divided by v̂ itself, without a root.
  ? What becomes of m̂ / v̂ if all gradients are ten times as large?
  # A v that is called the second moment is taken for a standard deviation.
eps_added_to_the_root_of_v:
  | v_hat = … -> root_hat = (torch.sqrt(v) + eps) / math.sqrt(1 - beta_2 ** step)
  | (torch.sqrt(v_hat) + eps) -> root_hat
  Your eps is added to the root of v, before the bias correction.
  ? To which root is eps added in the docstring: with a hat, or without?
  # The paper's section 2 moves both corrections into the learning rate, with an
    epsilon of its own: tensorflow/tensorflow, issue 9047; pytorch/pytorch, pull
    22628; karpathy/nanochat, issue 304.
corrected_outside_the_root:
  | v_hat = … -> root_hat = torch.sqrt(v) / (1 - beta_2 ** step)
  | torch.sqrt(v_hat) -> root_hat
  Your bias correction of v comes after the root: √v is divided by 1 − β₂ˢ.
  ? Is √(v / 4) the same as √v / 4?
  # The root is taken first, and the correction comes next.
root_limited_by_eps: (torch.sqrt(v_hat) + eps) -> torch.sqrt(v_hat).clamp(min=eps)
  Your eps is a lower limit of the root, and is not added to it.
  ? What does the docstring do with eps and √v̂: the larger one, or the sum?
  # clamp(min=eps) keeps a division from 0 as well.
weight_decay_in_the_gradient:
  | gradient = gradient + weight_decay * parameter
  | + weight_decay * parameter ->
  Your weight decay is added to the gradient, and so gets into m and v.
  ? What is in m in your code if the gradient is 0 and the weight decay is not?
  # That is L2 regularisation, and what optim.Adam(weight_decay=…) does: Loshchilov
    and Hutter (2019).
weight_decay_divided_by_the_root:
  | change = (m_hat + weight_decay * parameter) / (torch.sqrt(v_hat) + eps)
  Your weight decay is added to m̂, and is divided by √v̂ + eps with it.
  ? Should a parameter decay more slowly where its gradients are large?
  # The bracket is closed one term too late.
weight_decay_without_learning_rate:
  | + weight_decay * parameter ->
  | parameter - learning_rate * change ->
  :     parameter - learning_rate * change - weight_decay * parameter
  Your weight decay is not multiplied by the learning rate.
  ? What should a learning rate of 0 do to the parameter?
  # The paper's λ is not multiplied by α; in PyTorch it is.
weight_decay_of_the_new_parameter:
  | + weight_decay * parameter ->
  | return ( … ->
  :     new = parameter - learning_rate * change
  :     return (new - learning_rate * weight_decay * new, (m, v, step))
  Your weight decay takes its share of the parameter after the step.
  ? Which parameter does the docstring multiply by the weight decay: the old one, or
    the new one?
  # The decay is written last, when the name holds the new parameter.
weight_decay_added: + weight_decay -> - weight_decay
  Your weight decay makes the parameter larger.
  ? Should a parameter without a gradient grow, or shrink?
  # Both terms get a sign of their own, and one of them is wrong.
weight_decay_left_out:  + weight_decay * parameter ->
  Your code has no weight decay.
  ? Where does your function use its last argument?
  # The paper of Adam has none, and its default is 0.
learning_rate_written_in: - learning_rate * change -> - 0.001 * change
  Your learning rate is 0.001, whatever the caller says.
  ? Where does your function use `learning_rate`?
  # The value of the paper is written into the formula.
betas_written_in: beta_1, beta_2 = (0.9, 0.999)
  Your betas are 0.9 and 0.999, whatever the caller says.
  ? Where does your function use `betas`?
  # The values of the paper are written into the formula.
eps_written_in: + eps -> + 1e-08
  Your eps is 1e-8, whatever the caller says.
  ? Where does your function use `eps`?
  # The value of the paper is written into the formula.
betas_exchanged: beta_1, beta_2 = betas -> beta_2, beta_1 = betas
  Your m is an average with β₂, and your v one with β₁.
  ? Which of m and v keeps more of itself, with betas of 0.9 and 0.999?
  # Two numbers in a tuple are taken in the other order.
beta_1_for_both:
  | beta_2 * v + (1 - beta_2) -> beta_1 * v + (1 - beta_1)
  | beta_2 ** step -> beta_1 ** step
  Your v is an average with β₁, as m is.
  ? Where does your function use the second of the betas?
  # The line for m is copied, and its β stays.
v_before_m:
  | m, v, step = state -> v, m, step = state
  | (m, v, step) -> (v, m, step)
  Your state is (v, m, step), where it is read and where it is returned.
  ? In which order does the docstring name the parts of the state?
  # With zeros at first, nothing shows which of the two is which.
state_read_as_v_m: m, v, step = state -> v, m, step = state
  Your state is read as (v, m, step).
  # Both have the same shape, and nothing stops where they are exchanged.
state_written_as_v_m: (m, v, step) -> (v, m, step)
  Your new state is (v, m, step).
state_with_hats: (m, v, step) -> (m_hat, v_hat, step)
  Your new state holds m̂ and v̂.
  ? What would the next step's bias correction do to an m that is corrected already?
  # m = m / (1 − β₁ᵗ) saves a name, and the corrected m is what comes back:
    frgfm/holocron, issue 1.
state_not_renewed: (m, v, step) -> (state[0], state[1], step)
  Your new state holds the old m and v.
  ? What does the next step read, if m and v never change?
  # New names are given to the averages, and the old ones are returned.
old_averages_used:
  | m_hat = m / -> m_hat = state[0] /
  | v_hat = v / -> v_hat = state[1] /
  Your parameter moves by the old m and v: this step's gradient has no part in it.
  ? Which m does the first step use, if m is 0 before it?
  # The parameter is changed first, and the averages afterwards.
step_not_counted:
  | step = step + 1 -> t = step + 1
  | beta_1 ** step -> beta_1 ** t
  | beta_2 ** step -> beta_2 ** t
  Your new state has the number of steps that it had.
  ? What does the next call take for its step?
  # step + 1 is used in the formula, and never stored.
state_stays_without_learning:
  | if learning_rate == 0:
  :     return (parameter, state)
  With a learning rate of 0 your state is the old one, the number of steps too.
  ? Which of m, v and the step depend on the learning rate?
  # `if learning_rate == 0: return parameter, state` looks like a saving, and a
    learning rate that warms up begins there.
averages_stay_without_learning:
  | return ( … ->
  :     if learning_rate == 0:
  :         m, v, _ = state
  :     return (parameter - learning_rate * change, (m, v, step))
  With a learning rate of 0 your m and v are the old ones.
  # A learning rate of 0 changes no parameter, so nothing else is computed.
step_as_a_tensor: (m, v, step) -> (m, v, torch.tensor(step))
  Your number of steps is a tensor.
  ? Which type does the docstring promise for step?
  # PyTorch's own state holds its step in a tensor.
up_the_gradient: parameter - learning_rate -> parameter + learning_rate
  Your parameter moves along the gradient: the loss grows.
  ? Does the gradient point to where the loss grows, or to where it shrinks?
  # What maximises, such as optim.Adam(maximize=True), does go there.
change_returned: parameter - learning_rate -> -learning_rate
  Your first result is the change, not the new parameter.
  ? What should come out if the learning rate is 0?
  # The change is what the formula computes; Optax leaves the sum to the caller.
one_tuple_of_four: return (parameter - learning_rate * change, m, v, step)
  Your results are four in one tuple: the parameter, m, v and step.
  ? How many results does the docstring promise, and what is the second one?
  # `return parameter, m, v, step` lacks a pair of brackets.
state_as_a_list: (m, v, step) -> [m, v, step]
  Your new state is a list.
  ? Which type has the state that comes in?
  # A list of three can be changed, and unpacks like a tuple.
state_without_step: (m, v, step) -> (m, v)
  Your new state has m and v, and no number of steps.
  ? What does the next call need for its bias correction?
  # The two averages are all of Adam's state in many texts.
averages_overwritten:
  | m = beta_1 … ->
  :     m *= beta_1
  :     m += (1 - beta_1) * gradient
  | v = beta_2 … ->
  :     v *= beta_2
  :     v += (1 - beta_2) * gradient ** 2
  Your call writes the new averages into the caller's m and v.
  ? Does `m *= β₁` make a new tensor, or write into the caller's?
  # mul_ and add_ are how PyTorch's own optimizer saves memory.
parameter_overwritten:
  | return ( … ->
  :     parameter -= learning_rate * change
  :     return (parameter, (m, v, step))
  Your call changes the caller's parameter: it has become the new one.
  ? Does `parameter -= …` make a new tensor, or write into the caller's?
  # PyTorch's optimizers do change it in place.
parameter_and_averages_overwritten:
  | m = beta_1 … ->
  :     m *= beta_1
  :     m += (1 - beta_1) * gradient
  | v = beta_2 … ->
  :     v *= beta_2
  :     v += (1 - beta_2) * gradient ** 2
  | return ( … ->
  :     parameter -= learning_rate * change
  :     return (parameter, (m, v, step))
  Your call changes the caller's parameter, and its m and v.
  ? Which of your lines make a new tensor, and which write into the caller's?
  # PyTorch's optimizers change all three in place.
gradient_squared_in_place: gradient ** 2 -> gradient.square_()
  Your call squares the caller's gradient.
  ? What does the underscore at the end of `square_` say?
  # `gradient **= 2` and `.square_()` seem to save a line.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("parameter"),
    families.as_numpy(),
)

exercise.threes_of(
    "no_bias_correction",
    "steps_counted_from_zero",
    "eps_under_the_root",
    "weight_decay_in_the_gradient",
    "weight_decay_left_out",
    "averages_overwritten",
)
