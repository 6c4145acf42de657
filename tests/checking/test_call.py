"""What one call gives: the value, the exception, the arguments after it."""

import functools
import linecache
import logging
import sys
import warnings

import numpy as np
import pytest
import torch

from autograder.checking.call import Raised, copied, local_runner
from tests.checking.test_comparison import list_that_holds_itself

buffer = np.zeros(3)
softmax = "the learner's"


def result_of(function, *arguments, names=None, **keywords):
    return local_runner(function, names)(arguments, keywords)


def test_call_returns_value_and_leaves_callers_arguments_alone():
    x = np.array([1.0, 2.0])

    def double(x):
        x *= 2
        return x + 1

    result = result_of(double, x)
    assert result.kind == "value"
    assert result.value.tolist() == [3.0, 5.0]
    assert result.arguments[0].tolist() == [2.0, 4.0]
    assert x.tolist() == [1.0, 2.0]
    assert not result.shares_memory


def test_changes_deep_inside_an_argument_are_recorded():
    def empty(parameters):
        parameters["layers"][0].append("new")

    parameters = {"layers": [[]]}
    result = result_of(empty, parameters)
    assert result.arguments == ({"layers": [["new"]]},)
    assert parameters == {"layers": [[]]}


@pytest.mark.parametrize(
    ("function", "shares"),
    [
        (lambda x: x, True),
        (lambda x: x[::2], True),
        (lambda x: x.T, True),
        (lambda x: [{"part": x[:1]}], True),
        (lambda x: x.copy(), False),
        (lambda x: x + 0, False),
        (lambda x: 1.0, False),
        (lambda x: x.view(np.matrix), True),
    ],
)
def test_shares_memory_tells_whether_result_is_a_view(function, shares):
    assert result_of(function, np.ones((4, 4))).shares_memory is shares


def test_shares_memory_covers_keywords_and_parts_of_arguments():
    assert result_of(lambda x: x, x=np.ones(3)).shares_memory
    assert result_of(lambda p: p["w"][1:], {"w": np.ones(3)}).shares_memory


def test_shares_memory_covers_tensors():
    assert result_of(lambda x: x[1:], torch.ones(3)).shares_memory
    assert not result_of(lambda x: x + 0, torch.ones(3)).shares_memory


def test_value_is_a_copy_where_later_calls_reuse_memory():
    def into_the_same_array(x):
        buffer[:] = x
        return buffer

    run = local_runner(into_the_same_array)
    first, second = run((1.0,), {}), run((2.0,), {})
    assert first.value.tolist() == [1.0] * 3
    assert second.value.tolist() == [2.0] * 3


def test_prints_and_warnings_are_dropped(capfd):
    def chatty():
        print("one")
        print("two", file=sys.stderr)
        warnings.warn("three", stacklevel=1)
        logging.getLogger("learner").warning("four")
        return np.exp(np.array([1e4]))

    assert result_of(chatty).value == np.inf
    assert capfd.readouterr() == ("", "")


def test_warnings_as_errors_outside_do_not_reach_a_call():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        result = result_of(lambda: np.exp(np.array([1e4])) + np.exp(-1e4))
    assert result.kind == "value"


def test_warnings_as_errors_inside_do_not_leave_a_call():
    def strict():
        warnings.simplefilter("error")
        np.seterr(all="raise")
        return 1.0

    settings = np.geterr()
    filters = list(warnings.filters)
    assert result_of(strict).value == 1.0
    assert np.geterr() == settings
    assert warnings.filters == filters


def test_exception_is_described_with_the_learners_line():
    def half(x):
        y = x
        return y / 0

    raised = result_of(half, 1.0).raised
    assert raised.types == (
        "ZeroDivisionError",
        "ArithmeticError",
        "Exception",
        "BaseException",
    )
    assert raised.message == "float division by zero"
    assert raised.function == "half"
    assert raised.line == "return y / 0"
    assert raised.line_number == half.__code__.co_firstlineno + 2


def test_line_is_the_learners_where_numpy_raises():
    def inverse(a):
        return np.linalg.inv(a)

    raised = result_of(inverse, np.ones((2, 3))).raised
    assert raised.types[:2] == ("LinAlgError", "ValueError")
    assert raised.line == "return np.linalg.inv(a)"


def inner(x):
    return [part.missing for part in x]


def test_line_is_the_innermost_of_the_learners_own():
    def outer(x):
        return inner(x)

    raised = result_of(outer, [1]).raised
    assert (raised.function, raised.line) == (
        "inner",
        "return [part.missing for part in x]",
    )


class Layer:
    def __call__(self, x):
        return self.weight @ x


class Module(torch.nn.Module):
    def forward(self, x):
        return x.missing


def add(x, y):
    return x + y.missing


@functools.wraps(add)
def wrapped(x):
    return x.missing


@functools.cache
def remembered(x):
    return x.missing


@np.vectorize
def each(x):
    return x.missing


@pytest.mark.parametrize(
    ("function", "name", "line"),
    [
        (Layer(), "Layer.__call__", "return self.weight @ x"),
        (Layer().__call__, "Layer.__call__", "return self.weight @ x"),
        (functools.partial(Layer()), "Layer.__call__", "return self.weight @ x"),
        (functools.partial(functools.partial(add, 1)), "add", "return x + y.missing"),
        (Module(), "Module.forward", "return x.missing"),
        (wrapped, "wrapped", "return x.missing"),
        (remembered, "remembered", "return x.missing"),
        (each, "each", "return x.missing"),
    ],
)
def test_line_is_known_for_every_callable(function, name, line):
    raised = result_of(function, 1.0).raised
    assert raised.types[0] == "AttributeError"
    assert (raised.function, raised.line) == (name, line)


def test_lambda_has_a_line_but_no_name():
    raised = result_of(lambda x: x.missing, 1.0).raised
    assert raised.function.startswith("test_lambda")
    assert "x.missing" in raised.line


def test_wrong_number_of_arguments_has_no_line():
    raised = result_of(add, 1).raised
    assert raised == Raised(
        ("TypeError", "Exception", "BaseException"),
        "add() missing 1 required positional argument: 'y'",
        cause=raised.cause,
    )
    assert "an argument that the check leaves out" in raised.cause


def test_line_may_come_from_a_notebook_cell():
    source = "def f(x):\n    return x.missing\n"
    name = "/tmp/ipykernel_1/2.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {}
    exec(compile(source, name, "exec"), names)
    raised = result_of(names["f"], 1).raised
    assert (raised.line_number, raised.line) == (2, "return x.missing")


def test_system_exit_is_a_result():
    for leave in (sys.exit, exit, quit):
        assert result_of(leave, 3).raised.types[0] == "SystemExit"


def test_exception_may_fail_to_print_itself():
    class Mute(Exception):
        def __str__(self):
            raise SystemExit

    def fail():
        raise Mute

    assert result_of(fail).raised.message == ""
    assert result_of(fail).raised.types[0] == "Mute"


def test_endless_recursion_is_a_result():
    def recurse(x):
        return recurse(x)

    raised = result_of(recurse, 1).raised
    assert raised.types[:2] == ("RecursionError", "RuntimeError")
    assert raised.line == "return recurse(x)"


def test_stop_iteration_and_exception_groups_are_results():
    def group():
        raise ExceptionGroup("two", [ValueError("a"), TypeError("b")])

    assert result_of(next, iter(())).raised.types[0] == "StopIteration"
    assert result_of(group).raised.types[0] == "ExceptionGroup"


def test_interrupt_passes_through_and_names_are_restored():
    def interrupted():
        assert softmax == "the course's"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        result_of(interrupted, names={"softmax": "the course's", "unheard_of": 1})
    assert softmax == "the learner's"
    assert "unheard_of" not in globals()


def test_timeout_keeps_changes_to_the_arguments():
    def changes_and_hangs(x):
        x.append(2)
        while True:
            pass

    x = [1]
    result = local_runner(changes_and_hangs, seconds=0.05)((x,), {})
    assert (result.kind, result.value, result.arguments) == ("timeout", None, ([1, 2],))
    assert x == [1]


def helper():
    return softmax


def rebinds():
    global softmax
    softmax = "a third"
    return softmax


def deletes():
    global softmax
    del softmax


@pytest.mark.parametrize(
    "function",
    [
        lambda: softmax,
        lambda: helper(),
        functools.partial(helper),
        type("Reads", (), {"__call__": lambda self: softmax})(),
        functools.cache(lambda: softmax),
    ],
)
def test_names_are_bound_in_every_callable(function):
    assert (
        result_of(function, names={"softmax": "the course's"}).value == "the course's"
    )
    assert softmax == "the learner's"


@pytest.mark.parametrize("function", [rebinds, deletes])
def test_names_are_restored_whatever_a_call_does_to_them(function):
    assert result_of(function, names={"softmax": "the course's"}).kind == "value"
    assert softmax == "the learner's"


def test_function_without_python_code_runs():
    assert result_of(np.exp, 0.0, names={"softmax": 1}).value == 1.0
    assert result_of(len, [1, 2]).value == 2


@pytest.mark.parametrize(
    "value",
    [
        {"a": [np.ones(2), (1, {2})]},
        [[1], [1]],
        frozenset("a"),  # of two, a copy may have another order
        torch.ones(2, requires_grad=True),
        np.asfortranarray(np.ones((2, 3))),
        None,
    ],
)
def test_copied_keeps_type_and_content(value):
    copy = copied(value)
    assert type(copy) is type(value)
    assert repr(copy) == repr(value).replace(", requires_grad=True", "")


def test_copied_shares_no_container_and_keeps_unknown_types():
    unknown = object()
    inside = [np.ones(2), unknown]
    copy = copied({"a": inside})
    inside[0][0] = 7.0
    inside.append(1)
    assert copy["a"][0].tolist() == [1.0, 1.0]
    assert len(copy["a"]) == 2
    assert copy["a"][1] is unknown


def test_copied_keeps_the_memory_layout():
    assert copied(np.asfortranarray(np.ones((2, 3)))).flags.f_contiguous


def test_values_that_hold_themselves_are_results():
    def deep():
        value = 1.0
        for _ in range(5000):
            value = [value]
        return value

    assert result_of(list_that_holds_itself).kind == "value"
    assert result_of(lambda x: x.append(x), [1]).kind == "value"
    result = result_of(deep)
    assert result.kind == "value"
    del result  # freeing 5000 levels must not end the process either


def test_generator_is_returned_as_it_is():
    result = result_of(lambda: (x for x in (1, 2)))
    assert [next(result.value), next(result.value)] == [1, 2]
