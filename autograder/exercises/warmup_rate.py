"""Cases and misconceptions of ``warmup_rate``."""

import math

import torch

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


@exercise.variants
def variants(
    step,
    d_model,
    warmup_steps,
    *,
    counted="step + 1",
    growth="number * warmup_steps**-1.5",
    fall="number**-0.5",
    taken="smaller",
    factor="d_model**-0.5",
    warmup="warmup_steps",
    result="number",
):
    numbers = {"step": step, "at least 1": max(step, 1), "step + 2": step + 2}
    number = numbers.get(counted, step + 1)
    if counted == "step, 0 at first":
        number = step
    if step == 0 and counted in ("step, 0 at first", "0 at first"):
        return 0.0
    if factor == "exchanged":
        d_model, warmup_steps = warmup_steps, d_model
    sizes = {"one more": warmup_steps + 1, "4000": 4000, "d_model": d_model}
    w = sizes.get(warmup, warmup_steps)
    grown = {
        "step": step * w**-1.5,
        "power −0.5": number * w**-0.5,
        "power −1": number / w,
        "power −2": number / w**2,
        "squared": (number / w) ** 2 * w**-0.5,
        "root": (number / w) ** 0.5 * w**-0.5,
    }.get(growth, number * w**-1.5)
    if fall == "number**-0.5":
        fallen = number**-0.5
    else:
        fallen = {
            "peak": w**-0.5,
            "number": w**0.5 / max(number, 1),
            "power −1": 1 / max(number, 1),
            "step": max(step, 1) ** -0.5,
            "anew": max(number - w, 1) ** -0.5 if number > w else w**-0.5,
            "squared": w**1.5 / max(number, 1) ** 2,
            "0": 0.0 if number > w else w**-0.5,
        }[fall]
    if factor == "of the fall":
        fallen *= d_model**-0.5
    if factor == "of the growth":
        grown *= d_model**-0.5
    learning_rate = {
        "smaller": min(fallen, grown),
        "larger": max(fallen, grown),
        "sum": fallen + grown,
        "mean": (fallen + grown) / 2,
        "product": fallen * grown,
        "growth": grown,
        "fall": fallen,
        "growth for one step more": grown if step <= w else fallen,
    }[taken]
    factors = {
        "1 / d_model": 1 / d_model,
        "√d_model": d_model**0.5,
        "1": 1.0,
        "√warmup_steps": w**0.5,
        "512": 512**-0.5,
        "of the fall": 1.0,
        "of the growth": 1.0,
    }
    learning_rate *= factors.get(factor, d_model**-0.5)
    if result == "tensor":
        return torch.tensor(learning_rate)
    return round(learning_rate, 4) if result == "four digits" else learning_rate


exercise.option(
    "divided_by_step_zero",
    "Your learning rate is that of one step earlier, and step 0 stops at 0 ** -0.5.",
    "The paper counts steps from 1: which is its number for your step 0?",
    why="The formula is typed in as it stands; LambdaLR calls it with 0 first.",
    counted="step",
)
exercise.option(
    "first_learning_rate_zero",
    "Your learning rate is that of one step earlier, and 0 for the first one.",
    "What does the first batch teach a model, if the learning rate is 0?",
    why="karpathy/nanoGPT, pull 578; google-research/bert, issue 1293; EleutherAI/"
    "gpt-neox, pull 1379.",
    counted="step, 0 at first",
)
exercise.option(
    "zero_at_step_zero",
    "Your learning rate is 0 for the first step, as a case of its own.",
    "What does the equation give for step number 1?",
    why="`if step == 0: return 0` is put in against a division by zero.",
    counted="0 at first",
)
exercise.option(
    "first_learning_rate_twice",
    "Your first two learning rates are the same, and all later ones come a step late.",
    "Which numbers do the first, the second and the third step have in your code?",
    why="max(step, 1) mends the division by zero, in the Annotated Transformer too; "
    "tugstugi/pytorch-saltnet, issue 7, shows the two equal learning rates.",
    counted="at least 1",
)
exercise.option(
    "one_step_too_far",
    "Your learning rate is that of one step later.",
    "How often do you add 1 to the step?",
    why="The caller has added 1 already, or the scheduler steps before the optimizer.",
    counted="step + 2",
)
exercise.option(
    "growth_one_step_late",
    "Your growth comes one step late: it begins with 0.",
    "Which number has the first step while the learning rate grows?",
    why="1 is added where 0 ** -0.5 would stop, and not in the other term.",
    growth="step",
)
exercise.option(
    "growth_too_steep",
    "Your learning rate grows in proportion to warmup_steps ** -0.5: the peak comes "
    "long before step number warmup_steps.",
    "At which number are number**-0.5 and your second term equal?",
    why="-1.5 is the odd one of three exponents, and -0.5 is written throughout.",
    growth="power −0.5",
)
exercise.option(
    "growth_by_warmup_steps",
    "Your learning rate grows in proportion to 1 / warmup_steps.",
    "Which power of warmup_steps stands in the equation?",
    why="number / warmup_steps is the share of the warm-up that is over.",
    growth="power −1",
)
exercise.option(
    "growth_too_slow",
    "Your learning rate grows in proportion to warmup_steps ** -2.",
    "At which number should the two terms be equal?",
    why="The exponent is rounded when it is remembered.",
    growth="power −2",
)
exercise.option(
    "growth_squared",
    "Your learning rate grows with the square of the step's number.",
    "How much is added with each step, if it grows linearly?",
    why="Smooth warm-ups of other recipes begin like a parabola.",
    growth="squared",
)
exercise.option(
    "growth_with_the_root",
    "Your learning rate grows with the root of the step's number.",
    "How much is added with each step, if it grows linearly?",
    why="The root of the falling part is used for both.",
    growth="root",
)
exercise.option(
    "stays_at_the_peak",
    "Your learning rate stays at its peak after the warm-up.",
    "What does the equation say of a number greater than warmup_steps?",
    why="min(1, number / warmup_steps) is the warm-up of other recipes, followed by a "
    "schedule of its own.",
    fall="peak",
)
exercise.option(
    "falls_too_fast",
    "Your learning rate falls with the number of steps itself after the peak.",
    "If four times as many steps halve the learning rate, which power is that?",
    why="1 / step is the classical decay of stochastic gradient descent.",
    fall="number",
)
exercise.option(
    "falls_with_the_square",
    "Your learning rate falls with the square of the number of steps after the peak.",
    "If four times as many steps halve the learning rate, which power is that?",
    why="The two exponents of the equation are put on the wrong terms.",
    fall="squared",
)
exercise.option(
    "one_over_the_number",
    "Your learning rate is limited by 1 / number.",
    "What is the exponent of the number itself in the equation?",
    why="The root is lost when number**-0.5 is read as a division.",
    fall="power −1",
)
exercise.option(
    "fall_one_step_late",
    "Your fall comes one step late: the peak stands twice.",
    "Which number has the first step after the warm-up?",
    why="With two branches, 1 is added to the step in one of them.",
    fall="step",
)
exercise.option(
    "fall_counted_anew",
    "Your fall counts the steps since the warm-up: it jumps up behind the peak.",
    "From which step on are steps counted in the equation?",
    why="step - warmup_steps is the number of steps in a second phase.",
    fall="anew",
)
exercise.option(
    "nothing_after_the_warmup",
    "Your learning rate is 0 after the warm-up.",
    "How fast does the learning rate fall after its peak?",
    why="The second phase is left for later.",
    fall="0",
)
exercise.option(
    "larger_of_the_two",
    "Your learning rate is the larger one of the two terms.",
    "Which of the two terms is the smaller one at the first step?",
    why="Of two terms one is to be taken, and max is taken for min.",
    taken="larger",
)
exercise.option(
    "both_terms_added",
    "Your learning rate is the sum of the two terms.",
    "What does the equation do with the two terms in its brackets?",
    why="The comma in the brackets is read as a sum.",
    taken="sum",
)
exercise.option(
    "mean_of_both_terms",
    "Your learning rate is the mean of the two terms.",
    "What does the equation do with the two terms in its brackets?",
    why="Two wishes are balanced by their mean.",
    taken="mean",
)
exercise.option(
    "terms_multiplied",
    "Your learning rate holds the product of the two terms.",
    "What does the equation do with the two terms in its brackets?",
    why="Brackets behind a factor look like a product throughout.",
    taken="product",
)
exercise.option(
    "growth_without_end",
    "Your learning rate never stops growing.",
    "What does the equation say of a number greater than warmup_steps?",
    why="The first phase is written and tested first.",
    taken="growth",
)
exercise.option(
    "no_growth",
    "Your learning rate falls from the first step on.",
    "What does the equation say of a number smaller than warmup_steps?",
    why="The inverse root is the part of the schedule that others use alone.",
    taken="fall",
)
exercise.option(
    "growth_for_one_step_more",
    "Your growth takes in one step more than the warm-up has.",
    "Which step, counted from 0, is the last of the warm-up?",
    why="step <= warmup_steps is written where steps count from 0.",
    taken="growth for one step more",
)
exercise.option(
    "root_of_d_model_forgotten",
    "Your learning rate is divided by d_model.",
    "Which power of d_model stands in the equation?",
    why="d_model**-1 is what one remembers of 'falls with d_model'.",
    factor="1 / d_model",
)
exercise.option(
    "multiplied_by_the_root",
    "Your learning rate is multiplied by √d_model: wider models learn faster.",
    "What is x**-0.5 times √x?",
    why="The minus in the exponent is lost; the embedding is multiplied by √d_model.",
    factor="√d_model",
)
exercise.option(
    "peak_of_one",
    "Your learning rate has √warmup_steps instead of d_model ** -0.5.",
    "Which factor stands in front of the brackets in the equation?",
    why="init_lr * warmup_steps**0.5 * min(…) in Kyubyong/transformer, issue 89, with "
    "init_lr = 1.",
    factor="√warmup_steps",
)
exercise.option(
    "d_model_left_out",
    "Your learning rate has no factor of d_model.",
    "Which factor stands in front of the brackets in the equation?",
    why="Only the brackets are typed in, since they are what makes the shape.",
    factor="1",
)
exercise.option(
    "d_model_of_the_paper",
    "Your learning rate has the factor 512 ** -0.5 for every model.",
    "Where does the argument `d_model` come in?",
    why="The paper's number is typed in.",
    factor="512",
)
exercise.option(
    "factor_on_the_fall_only",
    "Your factor d_model ** -0.5 belongs to one term only, the falling one.",
    "What is inside the brackets, and what is in front of them?",
    why="min(d_model**-0.5 * number**-0.5, …) is the equation with its brackets moved.",
    factor="of the fall",
)
exercise.option(
    "factor_on_the_growth_only",
    "Your factor d_model ** -0.5 belongs to one term only, the growing one.",
    "What is inside the brackets, and what is in front of them?",
    why="With two branches, the factor is written in one of them.",
    factor="of the growth",
)
exercise.option(
    "arguments_exchanged",
    "Your d_model and warmup_steps have changed roles.",
    "Which of the two numbers is the second argument?",
    why="Another function of the course takes them in another order.",
    factor="exchanged",
)
exercise.option(
    "warmup_one_step_too_long",
    "Your warm-up takes one step more than warmup_steps.",
    "At which step, counted from 0, is the learning rate greatest?",
    why="1 is added to both counts, as if both began with 0.",
    warmup="one more",
)
exercise.option(
    "warmup_of_the_paper",
    "Your warm-up takes 4000 steps, whatever is asked for.",
    "Where does the argument `warmup_steps` come in?",
    why="The paper's number is typed in.",
    warmup="4000",
)
exercise.option(
    "warmup_as_long_as_d_model",
    "Your warm-up takes d_model steps.",
    "Which of the two numbers stands in the brackets of the equation?",
    why="d_model is the number that the equation begins with.",
    warmup="d_model",
)
exercise.option(
    "tensor_instead_of_number",
    "Your learning rate is a tensor, not a number.",
    "What type does the docstring promise?",
    why="torch.tensor makes room for torch.minimum and rsqrt.",
    result="tensor",
)
exercise.option(
    "rounded_to_four_digits",
    "Your learning rate is rounded to four digits after the decimal point.",
    "How large is the learning rate of the paper's first step?",
    why="The docstring's 0.0005 has four digits.",
    result="four digits",
)
