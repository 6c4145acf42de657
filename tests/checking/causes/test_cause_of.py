"""What an exception means is sentence with the names of the code that failed."""

import linecache
import textwrap

import numpy as np
import pytest
import torch

from autograder.checking.call import local_runner
from course_lib.attention import scaled_scores, softmax

NAMES = {"np": np, "torch": torch, "softmax": softmax}
X = np.arange(6.0).reshape(2, 3)
PARAMETERS = {"w_1": torch.ones(2), "b_1": torch.ones(3)}


def cause(text, *arguments, **names):
    """Return what is sentence of the exception in which an answer ends."""
    text = textwrap.dedent(text).lstrip()
    file = f"<cell {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {**NAMES, **names}
    exec(compile(text, file, "exec"), space)
    result = local_runner(space["answer"])(arguments, {})
    assert result.raised, result.value
    return result.raised.cause


LOOPS = {
    "key_for_value": "for p in parameters: p.grad",
    "comprehension": "[p - 0.1 for p in parameters]",
    "two_in_a_zip": "[p - 0.1 * g for p, g in zip(parameters, parameters)]",
    "counted": "for i, p in enumerate(parameters): p - 0.1",
    "listed": "for p in list(parameters): p.grad",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loop_over_a_dictionary_gives_its_keys(loop):
    sentence = cause(f"def answer(parameters):\n    {loop}", PARAMETERS)
    assert "Going through the dictionary `parameters` gives its keys" in sentence


def test_items_left_out_is_named():
    sentence = cause(
        "def answer(parameters):\n    for name, p in parameters: pass", PARAMETERS
    )
    assert "keys alone" in sentence
    assert "`.items()`" in sentence


def test_text_that_comes_from_no_dictionary_is_no_key():
    sentence = cause("def answer(x):\n    for p in ['a', 'b']: p - 0.1", X)
    assert "dictionary" not in sentence


def test_key_in_square_brackets_is_not_blamed():
    sentence = cause("def answer(d):\n    for p in d: d[p] @ d[p].nothing", PARAMETERS)
    assert "keys" not in sentence


SENTENCES = {
    "def answer(x): return x @ x": "pairs the last axis of `x` with the last axis but "
    "one of `x`",
    "def answer(x): return x / x.sum(axis=-1)": "`x.sum(axis=-1)` has lost the axis",
    "def answer(x): return torch.ones(2) / torch.tensor(x).max(1)": "`max` returns two "
    "tensors together",
    "def answer(x): return torch.tensor(x).item()": "`torch.tensor(x)` has several",
    "def answer(x): return torch.softmax(torch.tensor(x))": "`torch.softmax` has to be "
    "told the axis",
    "def answer(x): return torch.stack([torch.ones(2), torch.ones(3)])": "here their "
    "lengths differ",
    "def answer(x): return torch.tensor([torch.ones(2)])": "is a list of tensors",
    "def answer(x): return torch.tensor([torch.arange(2)])": "is a list of tensors",
    "def answer(x): return np.max(x, x)": "takes `x` for an axis",
    "def answer(x): return max(x, x)": "Python's `max` asks",
    "def answer(x):\n    i = torch.tensor([0, 1])\n    return x[i : i + 1]": "`i` is a "
    "tensor of several",
    "def answer(x): return len('é'.encode)": "`'é'.encode()` would call it",
    "def answer(x): return np.maximum(x, x[:, 1:])": "the shapes of `x` and `x[:, 1:]`",
    "def answer(x): return x > x[:, 1:]": "`>` goes number by number",
    "def answer(x): return torch.ones(2, 3, 4) @ torch.ones(5, 4, 3)": "have to agree "
    "in the axes before the last two",
    "def answer(x): return (torch.tensor(x) > 1).argmax()": "`argmax` takes numbers",
    "def answer(x): return torch.searchsorted(torch.tensor(x), torch.ones(3))": ""
    "Which axis is missing",
    "def answer(x): return bytes('é')": "has to be told",
    "def answer(x): return x * x.T": "(the matrix product is `@`)",
    "def answer(x): return softmax(x, dim=-1)": "`softmax` calls that argument `axis`",
    "def answer(x): return softmax(3.0)": "`3.0` is a single number here",
    "def answer(x): return np.softmax(x)": "`softmax(…)`",
    "def answer(x): return x.unsqueeze(0)": "`x` is a NumPy array",
    "def answer(x):\n    scores = x\n    return score": "your function has `scores`",
    "def answer(learning_rate): return lr": "your function has `learning_rate`",
    "def answer(x): return x.shape(0)": "square brackets, not round ones",
    "def answer(x): return np.array[1, 2]": "takes round brackets, not square",
    "def answer(x): return x.sum / 2": "`x.sum()` would call it",
    "def answer(x):\n    z = [].append(1)\n    return z + 1": "`append` does its work "
    "and returns nothing",
    "def answer(x): return [1.0] / 2": "is a list, and `/` does not go through",
    "def answer(x):\n    y = [0.5]\n    return y * 0.5": "`*` repeats it",
    "def answer(x):\n    for i in len(x): pass": "there is nothing to go through",
    "def answer(x): return range(len(x) / 2)": "`//` an integer",
    "def answer(x):\n    if x > 0: return x": "gives True or False for each entry",
    "def answer(x):\n    n, m, d = x.shape": "fewer than 3",
    "def answer(x): return x[0, 0, 0]": "`x` has fewer axes",
    "def answer(x): return x.transpose(-1, -2, 0)": "takes all axes",
    "def answer(x): return answer(x)": "calls itself again and again",
    "def answer(x): return {[1]: 2}": "cannot be a key",
    "def answer(x):\n    y = [1, 2]\n    return y[0, 1]": "a pair of brackets for each",
    "def answer(x): return range([1])": "needs integers",
    "def answer(x): return 2.0 ^ 3.0": "`**` does",
    "def answer(x): return exp(x)": "`np.exp`",
    "def answer(x):\n    y = [0.5]\n    return [y[i] for i in y]": "not their",
    "def answer(x): return softmax()": "this call gives it no argument",
}


@pytest.mark.parametrize(
    ("text", "sentence"), SENTENCES.items(), ids=range(len(SENTENCES))
)
def test_cause_names_what_failed(text, sentence):
    assert sentence in cause(text, X)


def test_unknown_exception_gets_no_cause():
    assert cause("def answer(x): raise KeyError('mine')", X) == ""
    assert cause("def answer(x): raise ValueError('whatever')", X) == ""


def test_kept_axis_is_not_blamed():
    sentence = cause("def answer(x): return x / x.sum(axis=-1, keepdims=True)[:, 0]", X)
    assert "lost the axis" not in sentence


def test_size_of_the_docstring_is_no_name():
    documented = '''
        def answer(a):
            """Reshape.

            a : (n, width), one row per token
            """
            return a.reshape(width, n)
    '''
    sentence = cause(documented, X)
    assert sentence.startswith("`width` is the docstring's name for a length of an")
    assert "such as `a`" in sentence
    sentence = cause("def answer(a): return a / np.sqrt(d_k)", X)
    assert sentence.startswith("`d_k` is the notation's name for the length of an axis")


def test_name_of_a_module_that_is_no_function_needs_the_module():
    sentence = cause("def answer(a): return a[newaxis]", X)
    assert sentence == (
        "`newaxis` belongs to a module, and is written with the module's name before "
        "it: `np.newaxis`."
    )


def test_module_of_its_own_is_no_part_of_another_that_uses_it():
    assert "math" in vars(torch)  # PyTorch imports it for itself
    sentence = cause("def answer(a): return math.exp(a)", 1.0, torch=torch)
    assert sentence.startswith("`math` is a usual name for what `import math` brings")


def test_operator_in_place_has_no_room_for_more():
    text = "def answer(a):\n    a = a[:, None]\n    a += np.ones((4, 3))\n    return a"
    assert cause(text, X).startswith("`+=` writes into the array `a`, and what comes")


@pytest.mark.parametrize(
    ("product", "sides"),
    [
        ("a @ b", "`a` and `b`"),
        ("a.matmul(b)", "`a` and `b`"),
        ("torch.matmul(a, b.mT.mT)", "`a` and `b.mT.mT`"),
    ],
)
def test_matrix_product_does_not_go_number_by_number(product, sides):
    sentence = cause(
        f"def answer(a, b): return {product} / 2",
        torch.ones(2, 3, 4),
        torch.ones(5, 4, 3),
    )
    assert sentence == (
        f"In a batch, {sides} have to agree in the axes before the last two, and those "
        "differ here."
    )


def test_function_with_products_inside_gets_no_rule_for_all_axes():
    text = """
        def answer(q, k):
            return torch.nn.functional.scaled_dot_product_attention(q, k, k)
    """
    assert cause(text, torch.ones(2, 3, 4), torch.ones(5, 3, 4)) == ""


def test_operator_is_named_only_where_there_is_one():
    one, other = torch.arange(6).reshape(2, 3), torch.arange(2)
    calls = {
        "a.add(b)": "Two shapes have to fit from the last axis",
        "a // b": "`//` goes number by number",
        "a & b": "`&` goes number by number",
    }
    for call, sentence in calls.items():
        meaning = cause(f"def answer(a, b): return {call}", one, other)
        assert meaning.startswith(sentence)
        assert "`this`" not in meaning


def test_call_that_stops_has_given_no_none():
    text = """
        def answer(x):
            total = None
            total = sum(total)
            return total
    """
    assert cause(text, X) == "`total` is None here."


def gradient_of(parameters, batch, gradients):
    error = parameters["w"] - batch
    return error, {"w": gradients["w"] + error, "b": gradients["b"] + error}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "gradient_of(parameters, 1.0, {})",
            "`gradient_of` stops at its argument `gradients`: this line gives it `{}`, "
            "which is empty. What does it have to get there?",
        ),
        ("gradient_of(parameters, 1.0, None)", "gives it None."),
        ("gradient_of(parameters, 1.0, gradients=one)", "a dictionary without 'b'."),
        ("gradient_of(parameters, [one], one)", "at its argument `batch`: this"),
        ("gradient_of(*every)", "stops inside: one of its arguments in this line"),
        ("softmax(x=one) @ one", ""),
    ],
)
def test_argument_at_which_a_given_function_stops_is_named(call, sentence):
    text = f"""
        def answer(gradient_of, parameters, softmax):
            one = {{"w": 1.0}}
            every = parameters, 1.0, {{}}
            return {call}
    """
    meaning = cause(text, gradient_of, {"w": 2.0}, lambda x: x)
    assert sentence in meaning
    assert ("`gradient_of`" in meaning) == ("gradient_of" in call)


def test_argument_that_a_function_of_the_course_refuses_is_named():
    text = "def answer(q, v): return scaled_scores(q, v)"
    arguments = np.ones((2, 4)), np.ones((3, 2))
    assert cause(text, *arguments, scaled_scores=scaled_scores) == (
        "This line gives `scaled_scores` `v`, an array, as its `k`, and that does not "
        "fit. Which of your names belongs there?"
    )


def test_tuple_that_a_call_has_given_is_named():
    text = "def answer(step):\n    p = step()\n    return p.items()"
    assert cause(text, lambda: (1, 2)).startswith("`p` is a tuple: `step` returns more")


def test_argument_of_pytorch_in_another_position_is_named():
    text = "def answer(x, ids): return x.gather(ids, -1)"
    ids = torch.zeros((2, 1), dtype=torch.int64)
    assert cause(text, torch.ones(2, 3), ids).startswith(
        "In position 1, `x.gather` takes `dim`, an integer, and this call gives it "
        "`ids` there."
    )


def test_index_beyond_the_axis_of_gather_is_named():
    text = "def answer(x, ids): return x.gather(0, ids)"
    sentence = cause(text, torch.ones(2, 3), torch.full((2, 1), 2))
    assert sentence.startswith("An index goes beyond the end of the axis along which")
