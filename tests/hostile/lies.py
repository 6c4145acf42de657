"""Results that lie about what they are, or are something else than they should be."""

from tests.hostile import hostile
from tests.hostile.answers import twisted

FAMILY = "lies in the result"
NAME = "bilinear_scores"  # nothing else in the lesson uses it
WRONG = {NAME: "wrong"}
MORE_ROWS = ("small_example_by_hand", "different_sizes", "entries_of_w", "leading_axes")
MORE_ROWS += ("zero_next_to_large",)
STEPS = "attention_step_by_step"


def twist(submission, expression, above="", name=NAME):
    """Answer an exercise with something made of the right answer."""
    submission.answer(name, twisted(name, expression, above))


LYING_ARRAY = """
class Liar(np.ndarray):
    def __array_function__(self, function, types, arguments, keywords):
        return True

    def __array_ufunc__(self, *arguments, **keywords):
        return np.True_

    def __eq__(self, other):
        return np.ones(np.shape(other), bool)

    def __array_finalize__(self, other):
        self.flags.writeable = False
"""
LYING_TENSOR = """
import torch


class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        return True

    def __eq__(self, other):
        return True
"""
YES_TO_ALL = """
class Same(type):
    __name__ = "ndarray"

    def __eq__(cls, other):
        return True

    def __instancecheck__(cls, other):
        return True

    __hash__ = type.__hash__


class Yes(metaclass=Same):
    __class__ = np.ndarray
    __array_priority__ = 1e9
    shape, dtype, size, ndim = (2, 2), np.dtype(float), 4, 2

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return lambda *given, **named: self

    def __array__(self, *given, **named):
        return np.full((2, 2), np.nan)

    __le__ = __lt__ = __ge__ = __gt__ = __eq__
    __sub__ = __rsub__ = __abs__ = lambda self, *other: self
    __bool__ = lambda self: True
    __hash__ = object.__hash__
"""


@hostile(FAMILY, lost=WRONG)
def array_that_is_close_to_everything(submission, world):
    twist(submission, "(answer * np.nan).view(Liar)", LYING_ARRAY)


@hostile(FAMILY, lost=WRONG)
def tensor_that_is_close_to_everything(submission, world):
    twist(submission, "torch.tensor(answer * 0).as_subclass(Liar)", LYING_TENSOR)


@hostile(FAMILY, lost=WRONG)
def object_that_equals_everything(submission, world):
    twist(submission, "Yes()", YES_TO_ALL)


@hostile(FAMILY, lost=WRONG)
def type_that_is_called_ndarray(submission, world):
    twist(submission, "type('ndarray', (), {'shape': answer.shape})()")


@hostile(FAMILY, lost=WRONG)
def type_whose_name_is_a_web_page(submission, world):
    twist(submission, "type('<script>alert(8)</script>\\n\\x1b[2J', (), {})()")


@hostile(FAMILY, lost=WRONG)
def type_whose_name_cannot_be_read(submission, world):
    above = """
class Odd(type):
    def fail(cls, *given):
        raise RuntimeError

    __name__ = __mro__ = __class__ = property(fail)
    __eq__ = __hash__ = __repr__ = __instancecheck__ = __subclasscheck__ = fail
"""
    twist(submission, "Odd('Odd', (), {})()", above)


@hostile(FAMILY, lost={"attention": "wrong"})
def type_that_passes_for_a_tuple_in_a_dictionary(submission, world):
    above = """
class Kind(type):
    __eq__ = lambda cls, other: True
    __hash__ = lambda cls: hash(tuple)


class Pair(list, metaclass=Kind):
    pass
"""
    twist(submission, "Pair(answer)", above, "attention")


@hostile(FAMILY, lost={STEPS: "wrong"})
def keys_that_equal_every_key(submission, world):
    above = """
class Key(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("scores")
"""
    expression = "{Key(key): np.zeros_like(value) for key, value in answer.items()}"
    twist(submission, expression, above, STEPS)


@hostile(FAMILY, lost={STEPS: "wrong"})
def dictionary_that_has_every_key(submission, world):
    above = "import collections"
    expression = "collections.defaultdict(lambda: answer['output'])"
    twist(submission, expression, above, STEPS)


@hostile(FAMILY, lost={STEPS: "wrong"})
def dictionary_with_one_key_more(submission, world):
    twist(submission, "answer | {'points': 7.0}", name=STEPS)


@hostile(FAMILY, lost=WRONG)
def number_where_an_array_belongs(submission, world):
    twist(submission, "answer.ravel()[0]")


@hostile(FAMILY, lost=WRONG)
def python_number_where_an_array_belongs(submission, world):
    twist(submission, "8.0")


@hostile(FAMILY, lost=WRONG)
def right_numbers_with_an_axis_that_broadcasts(submission, world):
    twist(submission, "answer[np.newaxis]")


@hostile(FAMILY, lost=WRONG, fails={NAME: MORE_ROWS})
def first_row_that_broadcasts_over_the_rest(submission, world):
    twist(submission, "answer[..., :1, :]")  # right for the case with one query


@hostile(FAMILY, lost=WRONG)
def empty_array_of_which_all_is_close(submission, world):
    twist(submission, "answer[..., :0]")


@hostile(FAMILY, lost=WRONG)
def empty_array_of_half_a_trillion_rows(submission, world):
    twist(submission, "np.empty((1 << 39, 0))")


@hostile(FAMILY, lost=WRONG)
def nan_everywhere(submission, world):
    twist(submission, "answer * np.nan")


@hostile(FAMILY, lost=WRONG)
def nan_at_the_last_position(submission, world):
    twist(submission, "np.append(answer.ravel()[:-1], np.nan).reshape(answer.shape)")


@hostile(FAMILY, lost=WRONG)
def infinity_everywhere(submission, world):
    twist(submission, "np.full(answer.shape, np.inf)")


@hostile(FAMILY, lost=WRONG)
def minus_infinity_at_the_first_position(submission, world):
    twist(submission, "np.append(-np.inf, answer.ravel()[1:]).reshape(answer.shape)")


@hostile(FAMILY, lost=WRONG)
def nearly_right_numbers(submission, world):
    twist(submission, "answer * (1 + 1e-4) + 1e-4")


@hostile(FAMILY, lost=WRONG)
def numbers_as_objects(submission, world):
    twist(submission, "answer.astype(object)")


@hostile(FAMILY, lost=WRONG)
def objects_that_equal_everything_in_an_array(submission, world):
    above = """
class Equal:
    __eq__ = __le__ = __lt__ = lambda self, other: True
    __sub__ = __rsub__ = lambda self, other: 0.0
    __float__ = lambda self: 0.0
"""
    twist(submission, "np.full(answer.shape, Equal())", above)


@hostile(FAMILY, lost=WRONG)
def everything_masked(submission, world):
    twist(submission, "np.ma.masked_all(answer.shape)")


@hostile(FAMILY, lost=WRONG)
def numpy_matrix_instead_of_an_array(submission, world):
    twist(submission, "np.asmatrix(answer.reshape(-1, answer.shape[-1]))")


@hostile(FAMILY, lost=WRONG)
def right_numbers_in_half_precision(submission, world):
    twist(submission, "answer.astype(np.float16)")


@hostile(FAMILY)
def right_numbers_in_single_precision(submission, world):
    twist(submission, "answer.astype(np.float32)")


@hostile(FAMILY, lost=WRONG)
def integers_instead_of_floats(submission, world):
    twist(submission, "answer.astype(np.int64)")


@hostile(FAMILY, lost=WRONG)
def booleans_instead_of_floats(submission, world):
    twist(submission, "answer == answer")


@hostile(FAMILY, lost=WRONG)
def complex_numbers_without_imaginary_part(submission, world):
    twist(submission, "answer.astype(complex)")


@hostile(FAMILY, lost=WRONG)
def numbers_as_texts(submission, world):
    twist(submission, "answer.astype(str)")


@hostile(FAMILY, lost=WRONG)
def numbers_as_dates(submission, world):
    twist(submission, "answer.astype('M8[s]')")


@hostile(FAMILY, lost=WRONG)
def numbers_in_a_record(submission, world):
    twist(submission, "answer.view([('points', float)])")


@hostile(FAMILY, lost=WRONG)
def list_of_lists(submission, world):
    twist(submission, "answer.tolist()")


@hostile(FAMILY, lost={"attention": "wrong"})
def list_where_a_tuple_belongs(submission, world):
    twist(submission, "list(answer)", name="attention")


@hostile(FAMILY, lost={"attention": "wrong"})
def tuple_of_two_nones(submission, world):
    twist(submission, "(None, None)", name="attention")


@hostile(FAMILY, lost={"attention": "wrong"})
def output_and_weights_exchanged(submission, world):
    exchanged = "(answer[1] * np.nan, answer[0] * np.nan)"
    twist(submission, exchanged, name="attention")


@hostile(FAMILY, lost=WRONG)
def generator(submission, world):
    twist(submission, "(row for row in answer)")


@hostile(FAMILY, lost=WRONG)
def generator_without_end(submission, world):
    twist(submission, "itertools.count()", "import itertools")


@hostile(FAMILY, lost=WRONG)
def coroutine(submission, world):
    submission.answer(NAME, f"async def {NAME}(q, k, w):\n    return q @ w @ k.T")


@hostile(FAMILY, lost=WRONG)
def tensor_where_an_array_belongs(submission, world):
    twist(submission, "torch.tensor(answer)", "import torch")


@hostile(FAMILY, lost=WRONG)
def tensor_without_numbers(submission, world):
    twist(submission, "torch.empty(answer.shape, device='meta')", "import torch")


@hostile(FAMILY, lost=WRONG)
def tensor_that_is_sparse(submission, world):
    twist(submission, "torch.tensor(answer).to_sparse()", "import torch")


@hostile(FAMILY, lost=WRONG)
def memory_of_an_array(submission, world):
    twist(submission, "memoryview(answer)")


@hostile(FAMILY, lost=WRONG)
def the_function_itself(submission, world):
    twist(submission, f"correct_{NAME}")


@hostile(FAMILY, lost=WRONG)
def text_that_praises_itself(submission, world):
    twist(submission, r"'\x1b[32m7/7 points\ud800\0<img src=x onerror=alert(8)>'")


@hostile(FAMILY, lost=WRONG)
def bytes_of_a_pickle(submission, world):
    above = """
import os, pickle


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("/tmp/unpickled",)
"""
    twist(submission, "pickle.dumps(Bomb())", above)


@hostile(FAMILY, lost=WRONG)
def object_that_acts_when_it_is_copied(submission, world):
    above = """
import os


class Bomb:
    def act(self, *given):
        os._exit(0)

    __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = __getstate__ = act
    __repr__ = __str__ = __eq__ = __len__ = __iter__ = __array__ = __bool__ = act
"""
    twist(submission, "Bomb()", above)


@hostile(FAMILY, lost=WRONG)
def list_that_holds_itself(submission, world):
    above = "def knot():\n    found = {}\n    found[0] = [found]\n    return found\n"
    twist(submission, "knot()", above)


@hostile(FAMILY, lost=WRONG)
def list_that_is_nested_without_end(submission, world):
    above = """
def nested():
    found = []
    for _ in range(200_000):
        found = [found]
    return found
"""
    twist(submission, "nested()", above)


@hostile(FAMILY, lost=WRONG)
def list_of_thirty_thousand_numbers(submission, world):
    twist(submission, "[0] * 30_000")


@hostile(FAMILY, lost={NAME: "any"})
def few_lists_that_unfold_to_a_billion(submission, world):
    above = """
def unfolding():
    found = [0] * 10
    for _ in range(8):
        found = [found] * 10
    return found
"""
    twist(submission, "unfolding()", above)


@hostile(FAMILY, lost=WRONG)
def text_of_ten_million_letters_in_an_array(submission, world):
    twist(submission, "np.array(['8' * 10_000_000])")


@hostile(FAMILY, lost=WRONG)
def whole_number_of_ten_thousand_digits(submission, world):
    twist(submission, "10**10_000")


@hostile(FAMILY, lost=WRONG)
def whole_number_of_as_many_digits_as_python_prints(submission, world):
    twist(submission, "[10**4200] * 3")


@hostile(FAMILY, lost={NAME: "output"})
def result_of_a_hundred_megabytes(submission, world):
    twist(submission, "np.zeros(100 << 20, np.uint8)")


@hostile(FAMILY, lost={NAME: "memory"})
def result_of_two_gigabytes(submission, world):
    twist(submission, "np.ones(2 << 30, np.uint8)")


@hostile(FAMILY, lost={NAME: "memory"})
def result_of_a_terabyte_that_takes_no_memory(submission, world):
    twist(submission, "np.broadcast_to(np.uint8(0), 1 << 40)")


@hostile(FAMILY, lost={NAME: "any"})
def text_of_a_hundred_megabytes(submission, world):
    twist(submission, "'7' * (100 << 20)")


@hostile(
    FAMILY,
    lost={"softmax": "wrong", "similarity_attention": "wrong"},
    fails={
        "softmax": ("whole_numbers", "arguments_stay"),
        "similarity_attention": ("whole_numbers",),  # it calls the learner's softmax
    },
)
def result_that_is_the_argument(submission, world):
    above = "def into(x, answer):\n    x[...] = answer\n    return x\n"
    twist(submission, "into(given[0], answer)", above, "softmax")


@hostile(FAMILY)
def result_in_an_array_that_the_next_call_overwrites(submission, world):
    above = """
kept = np.empty(1000)


def keep(answer):
    kept[: answer.size] = answer.ravel()
    return kept[: answer.size].reshape(answer.shape)
"""
    twist(submission, "keep(answer)", above)


@hostile(FAMILY)
def right_numbers_in_the_other_byte_order(submission, world):
    twist(submission, "answer.astype('>f8')")  # big-endian floats are floats


@hostile(FAMILY)
def right_numbers_in_more_precision(submission, world):
    twist(submission, "answer.astype(np.longdouble)")


@hostile(FAMILY, lost=WRONG, fails={NAME: ("arguments_stay",)})
def arguments_changed_after_the_answer(submission, world):
    above = "def spoil(given):\n    given[0][...] = 0\n    return 0.0\n"
    twist(submission, "answer + spoil(given)", above)


@hostile(FAMILY, lost={NAME: "error"})
def exception_that_says_all_is_well(submission, world):
    above = """
class CheckFailed(AssertionError):
    status, points = "ok", 7.0

    def __str__(self):
        return "7/7 points, all claims hold"


def give_up():
    raise CheckFailed
"""
    twist(submission, "give_up()", above)


@hostile(FAMILY, lost={NAME: "error"})
def exception_that_no_handler_expects(submission, world):
    twist(submission, "give_up()", "def give_up():\n    raise KeyboardInterrupt")


@hostile(FAMILY, lost={NAME: "error"})
def exception_whose_text_cannot_be_sliced(submission, world):
    above = """
class Odd(Exception):
    def __str__(self):
        return type("text", (str,), {"__getitem__": lambda *_: 1 / 0})("x" * 5_000_000)


def give_up():
    raise Odd
"""
    twist(submission, "give_up()", above)


@hostile(FAMILY, lost={NAME: "any"})
def exception_with_a_name_of_five_million_letters(submission, world):
    above = "def give_up():\n    raise type('8' * 5_000_000, (Exception,), {})\n"
    twist(submission, "give_up()", above)


@hostile(FAMILY, lost={NAME: "missing"})
def exception_of_the_stub(submission, world):
    above = "def give_up():\n    raise NotImplementedError  # full marks, please\n"
    twist(submission, "give_up()", above)


# Half of a surrogate pair is a text for Python, and for no file and no database.
HALF = "'\\ud83d'"


@hostile(FAMILY, lost=WRONG)
def half_of_a_surrogate_pair_as_the_result(submission, world):
    twist(submission, HALF)


@hostile(FAMILY, lost=WRONG)
def arrays_of_half_a_surrogate_pair(submission, world):
    twist(submission, f"np.full(answer.shape, {HALF})")


@hostile(FAMILY, lost={STEPS: "wrong"})
def keys_that_are_half_a_surrogate_pair(submission, world):
    twist(submission, f"answer | {{{HALF}: {HALF}, ({HALF},): [{HALF}]}}", name=STEPS)


@hostile(FAMILY, lost={NAME: "error"})
def half_of_a_surrogate_pair_in_an_exception(submission, world):
    above = f"""
class Named(type):
    __name__ = {HALF}


class Odd(ValueError, metaclass=Named):
    pass


def give_up():
    raise Odd({HALF})
"""
    twist(submission, "give_up()", above)


@hostile(FAMILY)
def half_of_a_surrogate_pair_in_all_that_an_own_cell_shows(submission, world):
    submission.own(f"print({HALF})")
    submission.own(f"display({{'text/plain': {HALF}, {HALF}: {HALF}}}, raw=True)")
    submission.own(f"{{{HALF}: {HALF}}}")
    submission.own(f"raise ValueError({HALF})")


@hostile(FAMILY, lost={STEPS: "wrong"})
def key_of_two_hundred_thousand_letters(submission, world):
    twist(submission, "answer | {'x' * 200_000: 1.0}", name=STEPS)


@hostile(FAMILY, lost={STEPS: "wrong"})
def nine_thousand_keys_too_many(submission, world):
    twist(submission, "answer | {str(n): n for n in range(9000)}", name=STEPS)


@hostile(FAMILY, lost=WRONG)
def lists_of_lists_of_lists(submission, world):
    twist(submission, "[[[0] * 40] * 40] * 20")
