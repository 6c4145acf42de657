"""What a child says about a call, read field by field."""

import numpy as np
import pytest

from autograder.grading.child_client import read_call_reply
from autograder.grading.inside import wire


def reply(sent, changed):
    return read_call_reply(sent, "value", 1.0, None, changed, False, [])


def test_callback_is_the_same_object_after_the_call():
    x = np.array([1.0, 2.0])
    outcome = reply((np.sort, x), ("a stranger", x + 1)).result
    assert outcome.arguments[0] is np.sort
    np.testing.assert_array_equal(outcome.arguments[1], [2.0, 3.0])


def test_wrong_number_of_arguments_is_a_malformed_message():
    with pytest.raises(wire.MalformedMessage):
        reply((np.sort, 1.0), (1.0,))
