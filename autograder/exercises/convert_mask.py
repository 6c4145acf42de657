"""Cases and misconceptions of ``convert_mask``."""

import numpy as np

from autograder import Exercise, families
from course_lib.masks import convert_mask

exercise = Exercise(
    convert_mask,
    lesson="04_masking",
    minutes=8,
    difficulty=1,
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
    "Added to the scores, the mask leaves some as they are and makes others −∞",
    weight=2,
)
def to_be_added(student, rng):
    may_attend = np.array([[True, False, False], [True, True, False]])
    to_add = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.0, -np.inf]])
    student.expect(student(may_attend, "additive"), to_add)
    student.agrees(rng.random((3, 5)) < 0.5, "additive")


@exercise.case("Masks for batches and heads are converted, in their shape", weight=1.5)
def leading_axes(student, rng):
    may_attend = np.swapaxes(rng.random((2, 3, 7, 5)) < 0.5, -1, -2)
    for to in CONVENTIONS:
        student.agrees(may_attend, to)


@exercise.fine_point("A convention that is none of the three ends in an error")
def unknown_convention(student, rng):
    student.raises(Exception, np.array([[True, False]]), "for Keras")
    student.raises(Exception, np.array([[True, False]]), "multiplicative")


@exercise.fine_point("Names that only resemble a convention too", visible=False)
def resembling_names(student, rng):
    for to in ("multiheadattention", "additive ", "scaled_dot_product", "sdpa", ""):
        student.raises(Exception, np.array([[True, False]]), to)


@exercise.fine_point("The numbers to be added are float64, as is usual in NumPy")
def double_precision(student, rng):
    converted = student(rng.random((3, 5)) < 0.5, "additive")
    student.expect(str(np.asarray(converted).dtype), "float64", "the dtype")


@exercise.case("The mask is not modified", weight=0.5)
def arguments_stay(student, rng):
    for to in CONVENTIONS:
        student.leaves_unchanged(np.array([[True, False], [False, True]]), to)


@exercise.case(
    "A mask with a row for all queries, and rows all open or blocked", visible=False
)
def rows_all_alike(student, rng):
    may_attend = np.array([[[True, True, True]], [[False, False, False]]])
    for to in CONVENTIONS:
        student.agrees(may_attend, to)


exercise.edits(
    """
conventions_exchanged:
  | may_attend.copy() -> ~may_attend
  | return ~may_attend -> return may_attend.copy()
  Your masks for scaled_dot_product_attention and for MultiheadAttention are
    exchanged.
  ? Which of the two has the meaning that our own masks have?
  # The two read True the opposite way: pytorch/pytorch#170415, and
    rasbt/LLMs-from-scratch#1061 had one for the other.
one_meaning_of_true: return ~may_attend -> return may_attend.copy()
  Your mask for MultiheadAttention is True where a key is allowed.
  ? What does the docstring say that True means there?
  # One library is expected to have one convention.
one_meaning_of_false: may_attend.copy() -> ~may_attend
  Your mask for scaled_dot_product_attention is True where a key is blocked.
  # The mask of the module, which is older, is handed to the function.
module_mask_of_whole_numbers: ~may_attend -> 1 - may_attend
  Your mask for MultiheadAttention holds the integers 1 and 0.
  ? Which dtype does the docstring promise?
  # 1 - mask turns booleans round, and makes numbers of them.
module_mask_of_floats: ~may_attend -> 1.0 - may_attend
  Your mask for MultiheadAttention holds the numbers 1.0 and 0.0.
  # 1.0 - mask turns booleans round, and makes numbers of them.
additive_minus_a_hundred: -np.inf -> -100.0
  Your numbers to add are −100 where a key is blocked.
  ? What does the docstring promise there, and is your number smaller than every
    score?
  # -1e9 is in The Annotated Transformer, -10000.0 in BERT's code and the smallest
    float in Hugging Face's transformers.
additive_minus_ten_thousand: -np.inf -> -10000.0
  Your numbers to add are −10000 where a key is blocked.
additive_minus_a_billion: -np.inf -> -1000000000.0
  Your numbers to add are −10⁹ where a key is blocked.
additive_the_smallest_float32: -np.inf -> float(np.finfo(np.float32).min)
  Your numbers to add are about −3.4 · 10³⁸ where a key is blocked.
additive_turned_round: 0.0, -np.inf -> -np.inf, 0.0
  Your numbers to add are exchanged between allowed and blocked keys.
  ? What is left of a score to which −∞ is added?
  # np.where(mask, -inf, 0) is right for masks in which True means blocked.
additive_ones_and_zeros: np.where(may_attend, 0.0, -np.inf) -> may_attend.astype(float)
  Your numbers to add are 1 and 0, so a blocked score does not change.
  ? What must be added to a score to leave it without any weight?
  # mask.astype(float) is called a float mask: pytorch/pytorch#21518 shows what
    attention makes of it.
additive_plus_infinity: -np.inf -> np.inf
  Your numbers to add are +∞ where a key is blocked.
  ? Which weight has a score of +∞ in a softmax?
  # -float('-inf') and a lost minus: lucidrains/memory-compressed-attention#2.
additive_nan: -np.inf -> np.nan
  Your numbers to add are NaN where a key is blocked.
  ? What is left of a score to which NaN is added?
  # NaN is taken for 'no number here'.
additive_zero_where_blocked:
  | np.where(may_attend, 0.0, -np.inf) -> np.zeros(may_attend.shape)
  Your numbers to add are 0 where a key is blocked.
  ? What must be added to a score to leave it without any weight?
  # A blocked score is thought to become 0, or the array of zeros is left empty.
additive_minus_one: np.where(may_attend, 0.0, -np.inf) -> may_attend - 1.0
  Your numbers to add are −1 where a key is blocked.
  # mask - 1 turns 1 and 0 into 0 and −1, and the factor is forgotten.
additive_one_where_blocked:
  | np.where(may_attend, 0.0, -np.inf) -> (~may_attend).astype(float)
  Your numbers to add are 1 where a key is blocked.
  # (~mask).astype(float) is called a float mask.
additive_logarithm_of_almost_zero:
  | np.where(may_attend, 0.0, -np.inf) -> np.log(np.maximum(may_attend, 1e-09))
  Your numbers to add are near −20.7 where a key is blocked: a logarithm of almost 0.
  ? Which number has e to its power exactly 0?
  # log(mask) is right, and 1e-9 is put into it to be rid of the warning about log(0).
additive_zero_times_infinity:
  | np.where(may_attend, 0.0, -np.inf) -> (1 - may_attend) * -np.inf
  Your numbers to add are NaN where a key is allowed: 0 times −∞.
  ? What is 0 · −∞ in floating point, and which function chooses between two numbers
    without multiplying?
  # (1 - mask) * -inf is short; onnx/onnx#8068 mends it.
additive_one_where_allowed: 0.0, -np.inf -> 1.0, -np.inf
  Your numbers to add are 1 where a key is allowed.
  ? What must be added to a score to leave it as it is?
  # A mask of ones gets −∞ where it was 0.
additive_booleans:
  | return np. … ->
  :     numbers = np.zeros_like(may_attend)
  :     numbers[~may_attend] = -np.inf
  :     return numbers
  Your mask to be added holds booleans.
  ? Which dtype has np.zeros_like of a mask?
  # zeros_like copies the type along with the shape, and −∞ is not 0.
always_scaled_dot_product_attention: to = 'scaled_dot_product_attention'
  Your convention is that of scaled_dot_product_attention, whatever `to` says.
  ? Which argument says what the result is for?
  # The first version serves one use, and `to` is read later.
anything_else_is_scaled_dot_product_attention:
  | raise ValueError… -> return may_attend.copy()
  Your function takes any unknown convention for that of scaled_dot_product_attention.
  ? What does the docstring promise if `to` is none of the three?
  # The last branch is an else, which also catches misspelt names.
always_MultiheadAttention: to = 'MultiheadAttention'
  Your convention is that of MultiheadAttention, whatever `to` says.
  ? Which argument says what the result is for?
  # The first version serves one use, and `to` is read later.
anything_else_is_MultiheadAttention: raise ValueError… -> return ~may_attend
  Your function takes any unknown convention for that of MultiheadAttention.
  ? What does the docstring promise if `to` is none of the three?
  # The last branch is an else, which also catches misspelt names.
always_additive: to = 'additive'
  Your convention is the additive one, whatever `to` says.
  ? Which argument says what the result is for?
  # The first version serves one use, and `to` is read later.
anything_else_is_additive:
  | raise ValueError… -> return np.where(may_attend, 0.0, -np.inf)
  Your function takes any unknown convention for the additive one.
  ? What does the docstring promise if `to` is none of the three?
  # The last branch is an else, which also catches misspelt names.
first_letter_alone:
  | to == 'scaled_dot_product_attention' -> to[:1] == 's'
  | to == 'MultiheadAttention' -> to[:1].lower() == 'm'
  | to == 'additive' -> to[:1] == 'a'
  Your function reads the first letter of a convention, and nothing behind it.
  ? Which other words begin with m, and what does the docstring promise for them?
  # `to[0] == 'a'` tells the three apart, and saves writing them out.
nothing_for_the_unknown: raise ValueError… -> return None
  Your function returns None for a convention that it does not know.
  ? What does the docstring promise if `to` is none of the three?
  # After three branches without an else, a function ends with None.
names_in_any_case: to == 'MultiheadAttention' -> to.lower() == 'multiheadattention'
  Your function knows `multiheadattention`, in small letters, as a convention.
  ? Which names does the docstring list?
  # to.lower() is meant kindly, and lets a misspelt name through.
names_that_go_on:
  | to == 'scaled_dot_product_attention' ->
  :     to.startswith('scaled_dot_product_attention')
  | to == 'MultiheadAttention' -> to.startswith('MultiheadAttention')
  | to == 'additive' -> to.startswith('additive')
  Your function takes "additive " with a space at its end for a convention.
  # to.strip() and to.startswith(…) let names through that are none.
names_that_end_early:
  | to == 'scaled_dot_product_attention' ->
  :     'scaled_dot_product_attention'.startswith(to)
  | to == 'MultiheadAttention' -> 'MultiheadAttention'.startswith(to)
  | to == 'additive' -> 'additive'.startswith(to)
  Your function takes the beginning of a name for the convention.
  # `to in name` and name.startswith(to) are read as 'is that name'.
turned_round_in_place: ~may_attend -> np.logical_not(may_attend, out=may_attend)
  Your call turns the caller's mask round.
  ? Does your code make a new array, or write into the caller's?
  # np.logical_not(mask, out=mask) and mask ^= True save an array.
""",
)

exercise.family(families.squeezed(), families.as_list())
