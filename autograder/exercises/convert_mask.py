"""Cases and misconceptions of ``convert_mask``."""

import math

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


@exercise.variants
def variants(
    may_attend,
    to,
    *,
    true_means="as documented",
    module_holds="booleans",
    allowed=0.0,
    blocked=-np.inf,
    additive_holds="floats",
    one_for_all="",
    names="exact",
    unknown="ValueError",
    overwritten="nothing",
):
    _, module, additive = CONVENTIONS
    if names == "first letter":
        to = {"s": CONVENTIONS[0], "m": module, "M": module, "a": additive}.get(to[:1])
    elif names == "any case":
        to = {name.lower(): name for name in CONVENTIONS}.get(to, to)
    elif names == "longer":
        to = next((name for name in CONVENTIONS if to.startswith(name)), to)
    elif names == "shorter":
        to = next((name for name in CONVENTIONS if name.startswith(to)), to)
    if to not in CONVENTIONS:
        if unknown == "ValueError" and not one_for_all:
            raise ValueError(to)
        to = unknown
    to = one_for_all or to
    if to == additive:
        if additive_holds == "−∞ where allowed":
            may_attend = ~may_attend
        elif additive_holds == "ones and zeros":
            return may_attend.astype(float)
        if additive_holds == "booleans":
            return np.where(may_attend, allowed, blocked).astype(bool)
        return np.where(may_attend, allowed, blocked) * 1.0
    if to == "None":
        return None
    turned = to == module
    if true_means in ("exchanged", f"blocked in {to}", f"allowed in {to}"):
        turned = not turned
    if turned and overwritten == "mask":
        may_attend ^= True
        return may_attend
    converted = ~may_attend if turned else may_attend.copy()
    kinds = {"whole numbers": int, "floats": float}
    return converted.astype(kinds.get(module_holds, bool) if to == module else bool)


exercise.option(
    "conventions_exchanged",
    "Your masks for scaled_dot_product_attention and for MultiheadAttention are "
    "exchanged.",
    "Which of the two has the meaning that our own masks have?",
    why="The two read True the opposite way: pytorch/pytorch#170415, and "
    "rasbt/LLMs-from-scratch#1061 had one for the other.",
    true_means="exchanged",
)
exercise.option(
    "one_meaning_of_true",
    "Your mask for MultiheadAttention is True where a key is allowed.",
    "What does the docstring say that True means there?",
    why="One library is expected to have one convention.",
    true_means="allowed in MultiheadAttention",
)
exercise.option(
    "one_meaning_of_false",
    "Your mask for scaled_dot_product_attention is True where a key is blocked.",
    "What does the docstring say that True means there?",
    why="The mask of the module, which is older, is handed to the function.",
    true_means="blocked in scaled_dot_product_attention",
)
exercise.option(
    "module_mask_of_whole_numbers",
    "Your mask for MultiheadAttention holds the integers 1 and 0.",
    "Which dtype does the docstring promise?",
    why="1 - mask turns booleans round, and makes numbers of them.",
    module_holds="whole numbers",
)
exercise.option(
    "module_mask_of_floats",
    "Your mask for MultiheadAttention holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise?",
    why="1.0 - mask turns booleans round, and makes numbers of them.",
    module_holds="floats",
)
for _name, _text, _number in (
    ("a_hundred", "−100", -1e2),
    ("ten_thousand", "−10000", -1e4),
    ("a_billion", "−10⁹", -1e9),
    ("the_smallest_float32", "about −3.4 · 10³⁸", float(np.finfo(np.float32).min)),
):
    _minus = _name if "smallest" in _name else f"minus_{_name}"
    exercise.option(
        f"additive_{_minus}",
        f"Your numbers to add are {_text} where a key is blocked.",
        "What does the docstring promise there, and is your number smaller than every "
        "score?",
        why="-1e9 is in The Annotated Transformer, -10000.0 in BERT's code and the "
        "smallest float in Hugging Face's transformers.",
        blocked=_number,
    )
exercise.option(
    "additive_turned_round",
    "Your numbers to add are exchanged between allowed and blocked keys.",
    "What is left of a score to which −∞ is added?",
    why="np.where(mask, -inf, 0) is right for masks in which True means blocked.",
    additive_holds="−∞ where allowed",
)
exercise.option(
    "additive_ones_and_zeros",
    "Your numbers to add are 1 and 0, so a blocked score does not change.",
    "What must be added to a score to leave it without any weight?",
    why="mask.astype(float) is called a float mask: pytorch/pytorch#21518 shows what "
    "attention makes of it.",
    additive_holds="ones and zeros",
)
exercise.option(
    "additive_plus_infinity",
    "Your numbers to add are +∞ where a key is blocked.",
    "Which weight has a score of +∞ in a softmax?",
    why="-float('-inf') and a lost minus: lucidrains/memory-compressed-attention#2.",
    blocked=np.inf,
)
exercise.option(
    "additive_nan",
    "Your numbers to add are NaN where a key is blocked.",
    "What is left of a score to which NaN is added?",
    why="NaN is taken for 'no number here'.",
    blocked=np.nan,
)
exercise.option(
    "additive_zero_where_blocked",
    "Your numbers to add are 0 where a key is blocked.",
    "What must be added to a score to leave it without any weight?",
    why="A blocked score is thought to become 0, or the array of zeros is left empty.",
    blocked=0.0,
)
exercise.option(
    "additive_minus_one",
    "Your numbers to add are −1 where a key is blocked.",
    "What must be added to a score to leave it without any weight?",
    why="mask - 1 turns 1 and 0 into 0 and −1, and the factor is forgotten.",
    blocked=-1.0,
)
exercise.option(
    "additive_one_where_blocked",
    "Your numbers to add are 1 where a key is blocked.",
    "What must be added to a score to leave it without any weight?",
    why="(~mask).astype(float) is called a float mask.",
    blocked=1.0,
)
exercise.option(
    "additive_logarithm_of_almost_zero",
    "Your numbers to add are near −20.7 where a key is blocked: a logarithm of "
    "almost 0.",
    "Which number has e to its power exactly 0?",
    why="log(mask) is right, and 1e-9 is put into it to be rid of the warning about "
    "log(0).",
    blocked=math.log(1e-9),
)
exercise.option(
    "additive_zero_times_infinity",
    "Your numbers to add are NaN where a key is allowed: 0 times −∞.",
    "What is 0 · −∞ in floating point, and which function chooses between two numbers "
    "without multiplying?",
    why="(1 - mask) * -inf is short; onnx/onnx#8068 mends it.",
    allowed=np.nan,
)
exercise.option(
    "additive_one_where_allowed",
    "Your numbers to add are 1 where a key is allowed.",
    "What must be added to a score to leave it as it is?",
    why="A mask of ones gets −∞ where it was 0.",
    allowed=1.0,
)
exercise.option(
    "additive_booleans",
    "Your mask to be added holds booleans.",
    "Which dtype has np.zeros_like of a mask?",
    why="zeros_like copies the type along with the shape, and −∞ is not 0.",
    additive_holds="booleans",
)
for _to, _what in (
    ("scaled_dot_product_attention", "that of scaled_dot_product_attention"),
    ("MultiheadAttention", "that of MultiheadAttention"),
    ("additive", "the additive one"),
):
    exercise.option(
        f"always_{_to}",
        f"Your convention is {_what}, whatever `to` says.",
        "Which argument says what the result is for?",
        why="The first version serves one use, and `to` is read later.",
        one_for_all=_to,
    )
    exercise.option(
        f"anything_else_is_{_to}",
        f"Your function takes any unknown convention for {_what}.",
        "What does the docstring promise if `to` is none of the three?",
        why="The last branch is an else, which also catches misspelt names.",
        unknown=_to,
    )
exercise.option(
    "first_letter_alone",
    "Your function reads the first letter of a convention, and nothing behind it.",
    "Which other words begin with m, and what does the docstring promise for them?",
    why="`to[0] == 'a'` tells the three apart, and saves writing them out.",
    names="first letter",
)
exercise.option(
    "nothing_for_the_unknown",
    "Your function returns None for a convention that it does not know.",
    "What does the docstring promise if `to` is none of the three?",
    why="After three branches without an else, a function ends with None.",
    unknown="None",
)
exercise.option(
    "names_in_any_case",
    "Your function knows `multiheadattention`, in small letters, as a convention.",
    "Which names does the docstring list?",
    why="to.lower() is meant kindly, and lets a misspelt name through.",
    names="any case",
)
exercise.option(
    "names_that_go_on",
    'Your function takes "additive " with a space at its end for a convention.',
    "Which names does the docstring list?",
    why="to.strip() and to.startswith(…) let names through that are none.",
    names="longer",
)
exercise.option(
    "names_that_end_early",
    "Your function takes the beginning of a name for the convention.",
    "Which names does the docstring list?",
    why="`to in name` and name.startswith(to) are read as 'is that name'.",
    names="shorter",
)
exercise.option(
    "turned_round_in_place",
    "Your call turns the caller's mask round.",
    "Does your code make a new array, or write into the caller's?",
    why="np.logical_not(mask, out=mask) and mask ^= True save an array.",
    overwritten="mask",
)
exercise.family(families.squeezed(), families.as_list())
