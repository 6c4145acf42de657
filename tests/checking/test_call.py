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


def outcome(function, *arguments, names=None, **keywords):
    return local_runner(function, names)(arguments, keywords)


def test_a_call_gives_the_value_and_leaves_the_callers_arguments_alone():
    x = np.array([1.0, 2.0])

    def double(x):
        x *= 2
        return x + 1

    found = outcome(double, x)
    assert found.kind == "value"
    assert found.value.tolist() == [3.0, 5.0]
    assert found.arguments[0].tolist() == [2.0, 4.0]
    assert x.tolist() == [1.0, 2.0]
    assert not found.shares_memory


def test_changes_deep_inside_an_argument_show():
    def empty(parameters):
        parameters["layers"][0].append("new")

    parameters = {"layers": [[]]}
    found = outcome(empty, parameters)
    assert found.arguments == ({"layers": [["new"]]},)
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
def test_says_whether_the_result_lies_in_an_arguments_memory(function, shares):
    assert outcome(function, np.ones((4, 4))).shares_memory is shares


def test_memory_is_shared_with_keywords_and_with_parts_of_arguments_too():
    assert outcome(lambda x: x, x=np.ones(3)).shares_memory
    assert outcome(lambda p: p["w"][1:], {"w": np.ones(3)}).shares_memory


def test_memory_is_shared_between_tensors():
    assert outcome(lambda x: x[1:], torch.ones(3)).shares_memory
    assert not outcome(lambda x: x + 0, torch.ones(3)).shares_memory


def test_a_value_does_not_change_when_a_later_call_reuses_its_memory():
    def into_the_same_array(x):
        buffer[:] = x
        return buffer

    run = local_runner(into_the_same_array)
    first, second = run((1.0,), {}), run((2.0,), {})
    assert first.value.tolist() == [1.0] * 3
    assert second.value.tolist() == [2.0] * 3


def test_what_is_printed_and_warned_is_dropped(capfd):
    def chatty():
        print("one")
        print("two", file=sys.stderr)
        warnings.warn("three", stacklevel=1)
        logging.getLogger("learner").warning("four")
        return np.exp(np.array([1e4]))

    assert outcome(chatty).value == np.inf
    assert capfd.readouterr() == ("", "")


def test_warnings_turned_into_errors_outside_do_not_reach_a_call():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found = outcome(lambda: np.exp(np.array([1e4])) + np.exp(-1e4))
    assert found.kind == "value"


def test_warnings_turned_into_errors_inside_do_not_leave_a_call():
    def strict():
        warnings.simplefilter("error")
        np.seterr(all="raise")
        return 1.0

    settings = np.geterr()
    filters = list(warnings.filters)
    assert outcome(strict).value == 1.0
    assert np.geterr() == settings
    assert warnings.filters == filters


def test_an_exception_is_written_down_with_the_learners_line():
    def half(x):
        y = x
        return y / 0

    raised = outcome(half, 1.0).raised
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


def test_the_line_is_the_learners_where_numpy_raises():
    def inverse(a):
        return np.linalg.inv(a)

    raised = outcome(inverse, np.ones((2, 3))).raised
    assert raised.types[:2] == ("LinAlgError", "ValueError")
    assert raised.line == "return np.linalg.inv(a)"


def inner(x):
    return [part.missing for part in x]


def test_the_line_is_the_innermost_of_the_learners_own():
    def outer(x):
        return inner(x)

    raised = outcome(outer, [1]).raised
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
def test_the_line_is_found_in_whatever_can_be_called(function, name, line):
    raised = outcome(function, 1.0).raised
    assert raised.types[0] == "AttributeError"
    assert (raised.function, raised.line) == (name, line)


def test_a_lambda_has_a_line_but_no_name():
    raised = outcome(lambda x: x.missing, 1.0).raised
    assert raised.function.startswith("test_a_lambda")
    assert "x.missing" in raised.line


def test_a_wrong_number_of_arguments_has_no_line_of_the_learners():
    raised = outcome(add, 1).raised
    assert raised == Raised(
        ("TypeError", "Exception", "BaseException"),
        "add() missing 1 required positional argument: 'y'",
    )


def test_the_line_comes_from_a_cell_of_a_notebook_too():
    source = "def f(x):\n    return x.missing\n"
    name = "/tmp/ipykernel_1/2.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {}
    exec(compile(source, name, "exec"), names)
    raised = outcome(names["f"], 1).raised
    assert (raised.line_number, raised.line) == (2, "return x.missing")


def test_leaving_python_is_an_outcome():
    for leave in (sys.exit, exit, quit):
        assert outcome(leave, 3).raised.types[0] == "SystemExit"


def test_an_exception_may_fail_to_print_itself():
    class Mute(Exception):
        def __str__(self):
            raise SystemExit

    def fail():
        raise Mute

    assert outcome(fail).raised.message == ""
    assert outcome(fail).raised.types[0] == "Mute"


def test_endless_recursion_is_an_outcome():
    def again(x):
        return again(x)

    raised = outcome(again, 1).raised
    assert raised.types[:2] == ("RecursionError", "RuntimeError")
    assert raised.line == "return again(x)"


def test_stop_iteration_and_groups_of_exceptions_are_outcomes():
    def group():
        raise ExceptionGroup("two", [ValueError("a"), TypeError("b")])

    assert outcome(next, iter(())).raised.types[0] == "StopIteration"
    assert outcome(group).raised.types[0] == "ExceptionGroup"


def test_an_interrupt_passes_through_and_names_are_put_back():
    def interrupted():
        assert softmax == "the course's"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outcome(interrupted, names={"softmax": "the course's", "unheard_of": 1})
    assert softmax == "the learner's"
    assert "unheard_of" not in globals()


def test_a_call_whose_time_is_up_shows_what_it_did_to_its_arguments():
    def changes_and_hangs(x):
        x.append(2)
        while True:
            pass

    x = [1]
    found = local_runner(changes_and_hangs, seconds=0.05)((x,), {})
    assert (found.kind, found.value, found.arguments) == ("timeout", None, ([1, 2],))
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
def test_names_are_bound_in_whatever_can_be_called(function):
    assert outcome(function, names={"softmax": "the course's"}).value == "the course's"
    assert softmax == "the learner's"


@pytest.mark.parametrize("function", [rebinds, deletes])
def test_names_are_put_back_whatever_a_call_does_to_them(function):
    assert outcome(function, names={"softmax": "the course's"}).kind == "value"
    assert softmax == "the learner's"


def test_a_function_without_python_code_runs():
    assert outcome(np.exp, 0.0, names={"softmax": 1}).value == 1.0
    assert outcome(len, [1, 2]).value == 2


@pytest.mark.parametrize(
    "value",
    [
        {"a": [np.ones(2), (1, {2})]},
        [[1], [1]],
        frozenset("ab"),
        torch.ones(2, requires_grad=True),
        np.asfortranarray(np.ones((2, 3))),
        None,
    ],
)
def test_a_copy_has_the_type_and_content_of_the_original(value):
    copy = copied(value)
    assert type(copy) is type(value)
    assert repr(copy) == repr(value).replace(", requires_grad=True", "")


def test_a_copy_shares_no_container_and_keeps_strangers():
    stranger = object()
    inside = [np.ones(2), stranger]
    copy = copied({"a": inside})
    inside[0][0] = 7.0
    inside.append(1)
    assert copy["a"][0].tolist() == [1.0, 1.0]
    assert len(copy["a"]) == 2
    assert copy["a"][1] is stranger


def test_a_copy_keeps_the_memory_layout():
    assert copied(np.asfortranarray(np.ones((2, 3)))).flags.f_contiguous


def test_values_without_end_are_outcomes():
    def deep():
        value = 1.0
        for _ in range(5000):
            value = [value]
        return value

    assert outcome(list_that_holds_itself).kind == "value"
    assert outcome(lambda x: x.append(x), [1]).kind == "value"
    found = outcome(deep)
    assert found.kind == "value"
    del found  # freeing 5000 levels must not end the process either


def test_a_generator_is_handed_on_as_it_is():
    found = outcome(lambda: (x for x in (1, 2)))
    assert [next(found.value), next(found.value)] == [1, 2]
