"""Cases and misconceptions of ``convert_mask``."""

import numpy as np

from autograder import Exercise
from course_lib.masks import convert_mask

exercise = Exercise(
    convert_mask,
    lesson="04_masking",
    minutes=10,
    difficulty=2,
    library=("course_lib.lessons.tiny_decoder.mask_for_torch",),
)

CONVENTIONS = ("scaled_dot_product_attention", "MultiheadAttention", "additive")


@exercise.spec
def spec(may_attend, to):
    if to not in CONVENTIONS:
        raise ValueError(f"to={to!r} is none of {', '.join(CONVENTIONS)}")
    kind = float if to == "additive" else bool
    converted = np.zeros(may_attend.shape, dtype=kind)
    for index in np.ndindex(may_attend.shape):
        if to == "scaled_dot_product_attention":
            converted[index] = may_attend[index]
        elif to == "MultiheadAttention":
            converted[index] = not may_attend[index]
        else:
            converted[index] = 0.0 if may_attend[index] else -np.inf
    return converted


@exercise.usual
def usual(rng):
    return rng.random((2, 5, 7)) < 0.6, "additive"


@exercise.case("For scaled_dot_product_attention True means may attend")
def for_the_function(student, rng):
    may_attend = np.array([[True, False, False], [True, True, False]])
    converted = student(may_attend, "scaled_dot_product_attention")
    student.expect(converted, may_attend)


@exercise.case("For MultiheadAttention True means blocked")
def for_the_module(student, rng):
    may_attend = np.array([[True, False, False], [True, True, False]])
    blocked = np.array([[False, True, True], [False, False, True]])
    student.expect(student(may_attend, "MultiheadAttention"), blocked)
    student.agrees(rng.random((3, 5)) < 0.5, "MultiheadAttention")


@exercise.case(
    "Added to the scores, the mask leaves some as they are and makes others −∞"
)
def to_be_added(student, rng):
    may_attend = np.array([[True, False, False], [True, True, False]])
    to_add = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.0, -np.inf]])
    student.expect(student(may_attend, "additive"), to_add)
    student.agrees(rng.random((3, 5)) < 0.5, "additive")


@exercise.case("Masks for batches and heads keep their shape")
def leading_axes(student, rng):
    may_attend = np.swapaxes(rng.random((2, 3, 7, 5)) < 0.5, -1, -2)
    for to in CONVENTIONS:
        student.agrees(may_attend, to)


@exercise.case("A convention that is none of the three stops with ValueError")
def unknown_convention(student, rng):
    may_attend = np.array([[True, False]])
    student.raises(ValueError, may_attend, "multiplicative")


@exercise.case("The mask stays as it is")
def arguments_stay(student, rng):
    for to in CONVENTIONS:
        student.leaves_unchanged(np.array([[True, False], [False, True]]), to)


@exercise.case("A mask with a row for all queries, and rows all open or blocked")
def rows_all_alike(student, rng):
    may_attend = np.array([[[True, True, True]], [[False, False, False]]])
    for to in CONVENTIONS:
        student.agrees(may_attend, to)


@exercise.case("Names that only resemble a convention stop too", visible=False)
def resembling_names(student, rng):
    for to in ("multiheadattention", "additive ", "scaled_dot_product", ""):
        student.raises(ValueError, np.array([[True, False]]), to)


@exercise.misconception(
    "Your masks for scaled_dot_product_attention and for MultiheadAttention are "
    "exchanged.",
    "Which of the two has the meaning that our own masks have?",
    why="The two read True the opposite way: pytorch/pytorch#170415, and "
    "rasbt/LLMs-from-scratch#1061 had one for the other.",
)
def conventions_exchanged(may_attend, to):
    other = {CONVENTIONS[0]: CONVENTIONS[1], CONVENTIONS[1]: CONVENTIONS[0]}
    return convert_mask(may_attend, other.get(to, to))


@exercise.misconception(
    "Your mask for MultiheadAttention is True where a key is allowed.",
    "What does the docstring say that True means there?",
    why="One library is expected to have one convention.",
)
def one_meaning_of_true(may_attend, to):
    other = {CONVENTIONS[1]: CONVENTIONS[0]}
    return convert_mask(may_attend, other.get(to, to))


@exercise.misconception(
    "Your mask for scaled_dot_product_attention is True where a key is blocked.",
    "What does the docstring say that True means there?",
    why="The mask of the module, which is older, is handed to the function.",
)
def one_meaning_of_false(may_attend, to):
    other = {CONVENTIONS[0]: CONVENTIONS[1]}
    return convert_mask(may_attend, other.get(to, to))


@exercise.misconception(
    "Your numbers to add are −∞ where a key is allowed, and 0 where it is not.",
    "What is left of a score to which −∞ is added?",
    why="np.where(mask, -inf, 0) is right for masks in which True means blocked.",
)
def additive_turned_round(may_attend, to):
    return convert_mask(~may_attend if to == "additive" else may_attend, to)


@exercise.misconception(
    "Your numbers to add are −10⁹ where a key is blocked.",
    "What does the docstring promise there, and is your number smaller than every "
    "score?",
    why="-1e9 is in The Annotated Transformer and wherever it was copied.",
)
def additive_minus_a_billion(may_attend, to):
    if to == "additive":
        return np.where(may_attend, 0.0, -1e9)
    return convert_mask(may_attend, to)


@exercise.misconception(
    "Your numbers to add are near −20.7 where a key is blocked: a logarithm of "
    "almost 0.",
    "Which number has e to its power exactly 0?",
    why="log(mask) is right, and 1e-9 is put into it to be rid of the warning about "
    "log(0).",
)
def additive_logarithm_of_almost_zero(may_attend, to):
    if to == "additive":
        return np.log(may_attend + 1e-9)
    return convert_mask(may_attend, to)


@exercise.misconception(
    "Your numbers to add are NaN where a key is allowed: 0 times −∞.",
    "What is 0 · −∞ in floating point, and which function chooses between two numbers "
    "without multiplying?",
    why="(1 - mask) * -inf is short; onnx/onnx#8068 mends it.",
)
def additive_zero_times_infinity(may_attend, to):
    if to == "additive":
        return (1.0 - may_attend) * -np.inf
    return convert_mask(may_attend, to)


@exercise.misconception(
    "Your numbers to add are 1 and 0, so a blocked score stays as it is.",
    "What must be added to a score to leave it without any weight?",
    why="mask.astype(float) is called a float mask: pytorch/pytorch#21518 shows what "
    "attention makes of it.",
)
def additive_ones_and_zeros(may_attend, to):
    if to == "additive":
        return may_attend.astype(float)
    return convert_mask(may_attend, to)


@exercise.misconception(
    "Your numbers to add are +∞ where a key is blocked.",
    "Which weight has a score of +∞ in a softmax?",
    why="-float('-inf') and a lost minus: lucidrains/memory-compressed-attention#2.",
)
def additive_plus_infinity(may_attend, to):
    if to == "additive":
        return np.where(may_attend, 0.0, np.inf)
    return convert_mask(may_attend, to)


@exercise.misconception(
    "Your mask to be added holds booleans: −∞ has become True.",
    "Which dtype has np.zeros_like of a mask?",
    why="zeros_like copies the type along with the shape, and −∞ is not 0.",
)
def additive_booleans(may_attend, to):
    if to == "additive":
        converted = np.zeros_like(may_attend)
        converted[~may_attend] = -np.inf
        return converted
    return convert_mask(may_attend, to)


@exercise.misconception(
    "Your function takes any other convention for the additive one.",
    "What happens in your code if `to` is none of the three?",
    why="The last branch is an else, which also catches misspelt names.",
)
def anything_else_is_additive(may_attend, to):
    return convert_mask(may_attend, to if to in CONVENTIONS else "additive")


@exercise.misconception(
    "Your function stops with KeyError for a convention that it does not know.",
    "Which kind of exception does the docstring promise?",
    why="A dictionary of the three conventions raises its own kind.",
)
def key_error(may_attend, to):
    return {name: convert_mask(may_attend, name) for name in CONVENTIONS}[to]


@exercise.misconception(
    "Your mask for MultiheadAttention is right, and the caller's mask is turned round "
    "with it.",
    "Does your code make a new array, or write into the caller's?",
    why="np.logical_not(mask, out=mask) and mask ^= True save an array.",
)
def turned_round_in_place(may_attend, to):
    if to == "MultiheadAttention":
        may_attend ^= True
        return may_attend
    return convert_mask(may_attend, to)
