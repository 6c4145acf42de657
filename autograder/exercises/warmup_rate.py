"""Cases and misconceptions of ``warmup_rate``."""

import math

from autograder import Exercise
from course_lib.nn.losses import warmup_rate

exercise = Exercise(
    warmup_rate,
    lesson="10_training",
    minutes=5,
    difficulty=1,
)


@exercise.spec
def spec(step, d_model, warmup_steps):
    number = step + 1
    growing = number / (warmup_steps * math.sqrt(warmup_steps))
    falling = 1 / math.sqrt(number)
    return min(growing, falling) / math.sqrt(d_model)


@exercise.usual
def usual(rng):
    return int(rng.integers(1, 300)), 64, 100


@exercise.case("With d_model 4 and 99 steps made before, the learning rate is 0.05")
def small_example_by_hand(student, rng):
    student.expect(student(99, 4, 100), 0.05)
    student.agrees(99, int(rng.integers(5, 99)), 100)


@exercise.case("The first step has a learning rate too: 0.0005")
def first_step(student, rng):
    student.expect(student(0, 4, 100), 0.0005)
    student.agrees(0, int(rng.integers(5, 99)), 100)


@exercise.case("The learning rate grows by the same amount in each of the warmup_steps")
def grows_evenly(student, rng):
    for step in (1, 2, 9, 37, 98):
        student.agrees(step, 9, 100)


@exercise.case("After that it falls: four times as many steps, half the learning rate")
def falls_with_the_root(student, rng):
    student.expect(student(399, 4, 100), 0.025)
    for step in (100, 150, int(rng.integers(200, 9999))):
        student.agrees(step, 9, 100)


@exercise.case("A model four times as wide gets half the learning rate")
def wider_models(student, rng):
    student.expect(student(49, 16, 100), 0.0125)
    student.expect(student(49, 64, 100), 0.00625)


@exercise.case(
    "The paper's base model (d_model 512, 4000 warm-up steps), and a wider one"
)
def base_model_of_the_paper(student, rng):
    for step in (0, 1999, 3999, 6999, 99_999):
        student.agrees(step, 512, 4000)
    student.agrees(5999, 1024, 8000)


@exercise.case(
    "With one warm-up step the first learning rate is the greatest", visible=False
)
def growth_of_one_step(student, rng):
    d_model = int(rng.integers(2, 99))
    for step in (0, 1, 2, 24):
        student.agrees(step, d_model, 1)


exercise.edits(
    """
divided_by_step_zero: number = step
  Your learning rate is that of one step earlier, and step 0 stops at 0 ** -0.5.
  ? The paper counts steps from 1: which is its number for your step 0?
  # The formula is typed in as it stands; LambdaLR calls it with 0 first.
first_learning_rate_zero:
  | number = step + 1 ->
  :     if step == 0:
  :         return 0.0
  :     number = step
  Your learning rate is that of one step earlier, and 0 for the first one.
  ? What does the first batch teach a model, if the learning rate is 0?
  # karpathy/nanoGPT, pull 578; google-research/bert, issue 1293; EleutherAI/gpt-neox,
    pull 1379.
zero_at_step_zero:
  | if step == 0:
  :     return 0.0
  Your learning rate is 0 for the first step, as a case of its own.
  ? What does the equation give for step number 1?
  # `if step == 0: return 0` is put in against a division by zero.
first_learning_rate_twice: number = max(step, 1)
  Your first two learning rates are the same, and all later ones come a step late.
  ? Which numbers do the first, the second and the third step have in your code?
  # max(step, 1) mends the division by zero, in the Annotated Transformer too;
    tugstugi/pytorch-saltnet, issue 7, shows the two equal learning rates.
one_step_too_far: number = step + 2
  Your learning rate is that of one step later.
  ? How often do you add 1 to the step?
  # The caller has added 1 already, or the scheduler steps before the optimizer.
growth_one_step_late: number * warmup_steps -> step * warmup_steps
  Your growth comes one step late: it begins with 0.
  ? Which number has the first step while the learning rate grows?
  # 1 is added where 0 ** -0.5 would stop, and not in the other term.
growth_too_steep: warmup_steps ** (-1.5) -> warmup_steps ** (-0.5)
  Your learning rate grows in proportion to warmup_steps ** -0.5: the peak comes long
    before step number warmup_steps.
  ? At which number are number**-0.5 and your second term equal?
  # -1.5 is the odd one of three exponents, and -0.5 is written throughout.
growth_by_warmup_steps: * warmup_steps ** (-1.5) -> / warmup_steps
  Your learning rate grows in proportion to 1 / warmup_steps.
  ? Which power of warmup_steps stands in the equation?
  # number / warmup_steps is the share of the warm-up that is over.
growth_too_slow: -1.5 -> -2
  Your learning rate grows in proportion to warmup_steps ** -2.
  ? At which number should the two terms be equal?
  # The exponent is rounded when it is remembered.
growth_squared: number * warmup_steps ** (-1.5) -> number ** 2 * warmup_steps ** (-2.5)
  Your learning rate grows with the square of the step's number.
  ? How much is added with each step, if it grows linearly?
  # Smooth warm-ups of other recipes begin like a parabola.
growth_with_the_root: number * warmup_steps ** (-1.5) -> number ** 0.5 / warmup_steps
  Your learning rate grows with the root of the step's number.
  # The root of the falling part is used for both.
stays_at_the_peak: number ** (-0.5) -> warmup_steps ** (-0.5)
  Your learning rate stays at its peak after the warm-up.
  ? What does the equation say of a number greater than warmup_steps?
  # min(1, number / warmup_steps) is the warm-up of other recipes, followed by a
    schedule of its own.
falls_too_fast: number ** (-0.5) -> warmup_steps ** 0.5 / number
  Your learning rate falls with the number of steps itself after the peak.
  ? If four times as many steps halve the learning rate, which power is that?
  # 1 / step is the classical decay of stochastic gradient descent.
falls_with_the_square: number ** (-0.5) -> warmup_steps ** 1.5 / number ** 2
  Your learning rate falls with the square of the number of steps after the peak.
  # The two exponents of the equation are put on the wrong terms.
one_over_the_number: number ** (-0.5) -> 1 / number
  Your learning rate is limited by 1 / number.
  ? What is the exponent of the number itself in the equation?
  # The root is lost when number**-0.5 is read as a division.
fall_one_step_late: number ** (-0.5) -> max(step, 1) ** (-0.5)
  Your fall comes one step late: the peak stands twice.
  ? Which number has the first step after the warm-up?
  # With two branches, 1 is added to the step in one of them.
fall_counted_anew: number ** (-0.5) -> max(number - warmup_steps, 1) ** (-0.5)
  Your fall counts the steps since the warm-up: it jumps up behind the peak.
  ? From which step on are steps counted in the equation?
  # step - warmup_steps is the number of steps in a second phase.
nothing_after_the_warmup:
  | number = step + 1 ->
  :     number = step + 1
  :     if number > warmup_steps:
  :         return 0.0
  Your learning rate is 0 after the warm-up.
  ? How fast does the learning rate fall after its peak?
  # The second phase is left for later.
larger_of_the_two: min( -> max(
  Your learning rate is the larger one of the two terms.
  ? Which of the two terms is the smaller one at the first step?
  # Of two terms one is to be taken, and max is taken for min.
both_terms_added:
  | min(number ** (-0.5), number * warmup_steps ** (-1.5)) ->
  :     (number ** (-0.5) + number * warmup_steps ** (-1.5))
  Your learning rate is the sum of the two terms.
  ? What does the equation do with the two terms in its brackets?
  # The comma in the brackets is read as a sum.
mean_of_both_terms:
  | min(number ** (-0.5), number * warmup_steps ** (-1.5)) ->
  :     (number ** (-0.5) + number * warmup_steps ** (-1.5)) / 2
  Your learning rate is the mean of the two terms.
  # Two wishes are balanced by their mean.
terms_multiplied:
  | min(number ** (-0.5), number * warmup_steps ** (-1.5)) ->
  :     number ** (-0.5) * number * warmup_steps ** (-1.5)
  Your learning rate holds the product of the two terms.
  # Brackets behind a factor look like a product throughout.
growth_without_end:
  | min(number ** (-0.5), number * warmup_steps ** (-1.5)) ->
  :     number * warmup_steps ** (-1.5)
  Your learning rate never stops growing.
  ? What does the equation say of a number greater than warmup_steps?
  # The first phase is written and tested first.
no_growth: min(number ** (-0.5), number * warmup_steps ** (-1.5)) -> number ** (-0.5)
  Your learning rate falls from the first step on.
  ? What does the equation say of a number smaller than warmup_steps?
  # The inverse root is the part of the schedule that others use alone.
growth_for_one_step_more:
  | min(number ** (-0.5), number * warmup_steps ** (-1.5)) ->
  :     (number * warmup_steps ** (-1.5) if step <= warmup_steps else number **
  :     (-0.5))
  Your growth takes in one step more than the warm-up has.
  ? Which step, counted from 0, is the last of the warm-up?
  # step <= warmup_steps is written where steps count from 0.
root_of_d_model_forgotten: d_model ** (-0.5) * min -> 1 / d_model * min
  Your learning rate is divided by d_model.
  ? Which power of d_model stands in the equation?
  # d_model**-1 is what one remembers of 'falls with d_model'.
multiplied_by_the_root: d_model ** (-0.5) -> d_model ** 0.5
  Your learning rate is multiplied by √d_model: wider models learn faster.
  ? What is x**-0.5 times √x?
  # The minus in the exponent is lost; the embedding is multiplied by √d_model.
peak_of_one: d_model ** (-0.5) -> warmup_steps ** 0.5
  Your learning rate has √warmup_steps instead of d_model ** -0.5.
  ? Which factor stands in front of the brackets in the equation?
  # init_lr * warmup_steps**0.5 * min(…) in Kyubyong/transformer, issue 89, with
    init_lr = 1.
d_model_left_out: d_model ** (-0.5) * ->
  Your learning rate has no factor of d_model.
  # Only the brackets are typed in, since they are what makes the shape.
d_model_of_the_paper: d_model -> 512
  Your learning rate has the factor 512 ** -0.5 for every model.
  ? Where does the argument `d_model` come in?
  # The paper's number is typed in.
factor_on_the_fall_only:
  | d_model ** (-0.5) * min(number ** (-0.5) -> min(d_model ** (-0.5) * number ** (-0.5)
  Your factor d_model ** -0.5 belongs to one term only, the falling one.
  ? What is inside the brackets, and what is in front of them?
  # min(d_model**-0.5 * number**-0.5, …) is the equation with its brackets moved.
factor_on_the_growth_only:
  | d_model ** (-0.5) * min(number ** (-0.5), number * warmup_steps ** (-1.5)) ->
  :     min(number ** (-0.5), d_model ** (-0.5) * number * warmup_steps ** (-1.5))
  Your factor d_model ** -0.5 belongs to one term only, the growing one.
  # With two branches, the factor is written in one of them.
arguments_exchanged: d_model, warmup_steps = warmup_steps, d_model
  Your d_model and warmup_steps have changed roles.
  ? Which of the two numbers is the second argument?
  # Another function of the course takes them in another order.
warmup_one_step_too_long: warmup_steps -> (warmup_steps + 1)
  Your warm-up takes one step more than warmup_steps.
  ? At which step, counted from 0, is the learning rate greatest?
  # 1 is added to both counts, as if both began with 0.
warmup_of_the_paper: warmup_steps -> 4000
  Your warm-up takes 4000 steps, whatever is asked for.
  ? Where does the argument `warmup_steps` come in?
  # The paper's number is typed in.
warmup_as_long_as_d_model: warmup_steps -> d_model
  Your warm-up takes d_model steps.
  ? Which of the two numbers stands in the brackets of the equation?
  # d_model is the number that the equation begins with.
tensor_instead_of_number:
  | return torch.tensor(
  :     d_model ** (-0.5)
  :     * min(number ** (-0.5), number * warmup_steps ** (-1.5))
  : )
  Your learning rate is a tensor, not a number.
  ? What type does the docstring promise?
  # torch.tensor makes room for torch.minimum and rsqrt.
rounded_to_four_digits:
  | return round(
  :     d_model ** (-0.5)
  :     * min(number ** (-0.5), number * warmup_steps ** (-1.5)),
  :     4,
  : )
  Your learning rate is rounded to four digits after the decimal point.
  ? How large is the learning rate of the paper's first step?
  # The docstring's 0.0005 has four digits.
""",
)
