"""What a child says about a call, read field by field."""

import numpy as np
import pytest

from autograder.grading.child_client import read_call_reply
from autograder.grading.inside import wire


def told(given, changed):
    return read_call_reply(given, "value", 1.0, None, changed, False, [])


def test_a_function_that_was_lent_is_itself_after_the_call():
    x = np.array([1.0, 2.0])
    outcome = told((np.sort, x), ("a stranger", x + 1)).result
    assert outcome.arguments[0] is np.sort
    np.testing.assert_array_equal(outcome.arguments[1], [2.0, 3.0])


def test_another_number_of_arguments_is_nonsense():
    with pytest.raises(wire.MalformedMessage):
        told((np.sort, 1.0), (1.0,))
