"""Cases and misconceptions of ``warmup_rate``."""

import math

from autograder import Exercise
from course_lib.nn.losses import warmup_rate

exercise = Exercise(
    warmup_rate,
    lesson="09_translation",
    minutes=10,
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
    for step in (100, 150, 1234):
        student.agrees(step, 9, 100)


@exercise.case("A model four times as wide gets half the learning rate")
def wider_models(student, rng):
    student.expect(student(49, 16, 100), 0.0125)
    student.expect(student(49, 64, 100), 0.00625)


@exercise.case("The paper's base model: d_model 512, 4000 warm-up steps")
def base_model_of_the_paper(student, rng):
    for step in (0, 1999, 3999, 99_999):
        student.agrees(step, 512, 4000)


@exercise.case(
    "With one warm-up step the first learning rate is the greatest", visible=False
)
def growth_of_one_step(student, rng):
    d_model = int(rng.integers(2, 99))
    for step in (0, 1, 2, 24):
        student.agrees(step, d_model, 1)


@exercise.misconception(
    "Your learning rate is that of one step earlier, and step 0 stops at 0 ** -0.5.",
    "The paper counts steps from 1: which is its number for your step 0?",
    why="The formula is typed in as it stands; LambdaLR calls it with 0 first.",
)
def divided_by_step_zero(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate is that of one step earlier, and 0 for the first one.",
    "What does the first batch teach a model, if the learning rate is 0?",
    why="karpathy/nanoGPT, pull 578; google-research/bert, issue 1293; EleutherAI/"
    "gpt-neox, pull 1379.",
)
def first_learning_rate_zero(step, d_model, warmup_steps):
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


@exercise.misconception(
    "Your first two learning rates are the same, and all later ones come a step late.",
    "Which numbers do the first, the second and the third step have in your code?",
    why="max(step, 1) mends the division by zero, in the Annotated Transformer too; "
    "tugstugi/pytorch-saltnet, issue 7, shows the two equal learning rates.",
)
def first_learning_rate_twice(step, d_model, warmup_steps):
    number = max(step, 1)
    return d_model**-0.5 * min(number**-0.5, number * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate is that of one step later.",
    "How often do you add 1 to the step?",
    why="The caller has added 1 already, or the scheduler steps before the optimizer.",
)
def one_step_too_far(step, d_model, warmup_steps):
    number = step + 2
    return d_model**-0.5 * min(number**-0.5, number * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate is the larger of the two: it begins high, falls, and then "
    "grows without end.",
    "Which of the two terms is the smaller one at the first step?",
    why="Of two terms one is to be taken, and max is taken for min.",
)
def larger_of_the_two(step, d_model, warmup_steps):
    number = step + 1
    return d_model**-0.5 * max(number**-0.5, number * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate is divided by d_model.",
    "Which power of d_model stands in the equation?",
    why="d_model**-1 is what one remembers of 'falls with d_model'.",
)
def root_of_d_model_forgotten(step, d_model, warmup_steps):
    number = step + 1
    return min(number**-0.5, number * warmup_steps**-1.5) / d_model


@exercise.misconception(
    "Your learning rate is multiplied by √d_model: wider models learn faster.",
    "What is x**-0.5 times √x?",
    why="The minus in the exponent is lost; the embedding is multiplied by √d_model.",
)
def multiplied_by_the_root(step, d_model, warmup_steps):
    number = step + 1
    return d_model**0.5 * min(number**-0.5, number * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate does not depend on d_model: its peak is 1 for every model.",
    "Which factor stands in front of the brackets in the equation?",
    why="init_lr * warmup_steps**0.5 * min(…) in Kyubyong/transformer, issue 89, with "
    "init_lr = 1.",
)
def peak_of_one(step, d_model, warmup_steps):
    number = step + 1
    return warmup_steps**0.5 * min(number**-0.5, number * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate does not depend on d_model: its peak is warmup_steps ** -0.5.",
    "Which factor stands in front of the brackets in the equation?",
    why="Only the brackets are typed in, since they are what makes the shape.",
)
def d_model_left_out(step, d_model, warmup_steps):
    number = step + 1
    return min(number**-0.5, number * warmup_steps**-1.5)


@exercise.misconception(
    "Your learning rate grows by warmup_steps ** -0.5 with each step: the peak is over "
    "at once.",
    "At which number are number**-0.5 and your second term equal?",
    why="-1.5 is the odd one of three exponents, and -0.5 is written throughout.",
)
def growth_too_steep(step, d_model, warmup_steps):
    number = step + 1
    return d_model**-0.5 * min(number**-0.5, number * warmup_steps**-0.5)


@exercise.misconception(
    "Your learning rate grows as it should, and then stays at its peak.",
    "What does the equation say of a number greater than warmup_steps?",
    why="min(1, number / warmup_steps) is the warm-up of other recipes, followed by a "
    "schedule of its own.",
)
def stays_at_the_peak(step, d_model, warmup_steps):
    return (d_model * warmup_steps) ** -0.5 * min(1.0, (step + 1) / warmup_steps)


@exercise.misconception(
    "Your learning rate falls with the number of steps itself, not with its root.",
    "If four times as many steps halve the learning rate, which power is that?",
    why="1 / step is the classical decay of stochastic gradient descent.",
)
def falls_too_fast(step, d_model, warmup_steps):
    number = step + 1
    peak = (d_model * warmup_steps) ** -0.5
    return peak * min(number / warmup_steps, warmup_steps / number)
