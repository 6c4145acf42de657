"""The account of a submission's time and processes, by a clock that the test sets."""

import pytest

from autograder.checking.own_time import ProcessorQueue
from autograder.grading import budget as module
from autograder.grading.budget import Account, Budget, TimedOutOnce
from autograder.grading.child_client import ChildLost


class Queue(ProcessorQueue):
    """A queue in which a child has waited for as long as the test says."""

    def __init__(self, waited):
        super().__init__()
        self.waited = waited

    def seconds(self):
        return self.waited


@pytest.fixture
def clock(monkeypatch):
    """Set the time by the clock, in a list of one; we ourselves never wait."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(ProcessorQueue, "seconds", lambda self: 0.0)
    return now


def account_of(last_try=True, **limits):
    return Account(Budget(**limits), last_try=last_try)


def test_waiting_of_children_is_taken_off_and_stays_so(clock):
    account = account_of(submission=10)
    clock[0] += 12
    assert account.seconds_left == -2
    account.begin_child(Queue(5))
    assert account.seconds_left == 3
    account.end_child()
    assert account.seconds_left == 3
    account.begin_child(Queue(4))
    assert account.seconds_left == 7


def test_last_resort_is_by_the_clock(clock):
    account = account_of(submission=10)
    account.begin_child(Queue(1000))
    clock[0] += 99
    assert account.seconds_left == 1


def test_reserved_part_is_half_shared_out(clock):
    account = account_of(submission=10, children=8)
    account.reserve(1, 2)
    assert account.seconds_left == 7.5
    account.n_children = 6
    with pytest.raises(ChildLost):
        account.require(new_child=True)
    account.require(new_child=False)
    account.reserve(0, 2)
    account.require(new_child=True)


def test_used_up_time_is_worded_on_the_last_try(clock):
    first, last = account_of(last_try=False, submission=2), account_of(submission=2)
    clock[0] += 2
    with pytest.raises(TimedOutOnce):
        first.require(new_child=False)
    with pytest.raises(ChildLost) as lost:
        last.require(new_child=False)
    assert (lost.value.kind, last.used_up) == ("untried", "longer than 2 seconds")


def test_last_try_doubles_what_cells_and_calls_may_take(clock):
    limits = {"call": 1, "cell": 2, "cells": 3, "submission": 5}
    first, last = account_of(last_try=False, **limits), account_of(**limits)
    assert first.seconds_of_cells() == (2, 3)
    assert last.seconds_of_cells() == (4, 5)  # no more than the submission has left
    assert first.seconds_of_call(is_slow=False) == 1
    assert last.seconds_of_call(is_slow=False) == 2
    assert last.seconds_of_call(is_slow=True) == 0.1
    clock[0] += 4
    assert last.seconds_of_call(is_slow=False) == 1
