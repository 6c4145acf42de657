"""Limits of time: what ends, what goes on, and what is left out."""

import contextlib
import functools
import itertools
import signal
import sys
import threading
import time

import pytest

from autograder.checking.call import local_runner
from autograder.checking.own_time import ProcessorQueue
from autograder.checking.time_limit import (
    TimeLimitExceeded,
    _ByThread,
    paused_limit,
    time_limit,
)


def endless():
    while True:
        pass


def stubborn():
    while True:
        try:
            endless()
        except Exception:
            continue


@pytest.fixture(params=["alarms", "threads"])
def timer(request, monkeypatch):
    """Time is limited by the system's alarms, or as on Windows, which has none."""
    if request.param == "threads":
        monkeypatch.delattr(signal, "setitimer")
    before = signal.getsignal(signal.SIGINT)
    yield request.param
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("timer")
@pytest.mark.parametrize("function", [endless, stubborn])
def test_endless_call_is_a_timeout(function):
    assert local_runner(function, seconds=0.05)((), {}).kind == "timeout"


@contextlib.contextmanager
def time_up_at(moment, limit, number):
    """Let the time of a limit be up at that line of what sets and ends it.

    number : of the signal that says so

    A list is yielded, which gets the name of the function.
    """
    codes = type(limit).__enter__.__code__, type(limit).__exit__.__code__
    before, moments, struck = signal.getsignal(number), itertools.count(), []

    def trace(frame, *_):
        if frame.f_code not in codes:
            return None
        if signal.getsignal(number) is not before and next(moments) == moment:
            struck.append(frame.f_code.co_name)
            limit.left, limit.is_up, limit.deadline = lambda: 0.0, True, 0.0
            signal.raise_signal(number)
        return trace

    tracer = sys.gettrace()
    sys.settrace(trace)
    try:
        yield struck
    finally:
        sys.settrace(tracer)


def test_limit_ends_where_the_time_is_up_meanwhile(timer):
    number = signal.SIGINT if timer == "threads" else signal.SIGALRM
    before = signal.getsignal(number)
    for moment in itertools.count():
        limit = time_limit(1000.0)
        with time_up_at(moment, limit, number) as struck:
            try:
                with limit:
                    if struck:
                        endless()
            except TimeLimitExceeded:
                assert struck == ["__enter__"]
            else:
                assert struck in (["__exit__"], [])
        assert signal.getsignal(number) is before
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
        assert type(limit).current is None
        assert timer == "alarms" or limit.done.is_set()
        if not struck:
            break
    assert moment > 6


def test_alarms_come_ever_more_seldom(monkeypatch):
    times = []
    monkeypatch.setattr("autograder.checking.time_limit.RETRY_SECONDS", 0.01)
    with pytest.raises(TimeLimitExceeded), time_limit(0.02):
        while len(times) < 4:
            try:
                endless()
            except TimeLimitExceeded:
                times.append(signal.getitimer(signal.ITIMER_REAL)[0])
        endless()
    assert times == sorted(times)
    assert times[3] > 4 * 0.01


def test_code_that_catches_each_alarm_waits_no_minutes(monkeypatch):
    waits = []
    monkeypatch.setattr("autograder.checking.time_limit.LONGEST_RETRY", 0.02)
    monkeypatch.setattr("autograder.checking.time_limit.RETRY_SECONDS", 0.01)
    with pytest.raises(TimeLimitExceeded), time_limit(0.01):
        while len(waits) < 12:
            try:
                endless()
            except TimeLimitExceeded:
                waits.append(signal.getitimer(signal.ITIMER_REAL)[0])
        endless()
    assert max(waits) <= 0.02


def test_later_calls_of_an_endless_function_get_less_time(monkeypatch):
    limits = []
    monkeypatch.setattr(
        "autograder.checking.time_limit.time_limit",
        lambda s: limits.append(s) or time_limit(s),
    )
    run = local_runner(endless, seconds=0.2)
    run((), {})
    run((), {})
    assert limits == [0.2, pytest.approx(0.02)]


def test_alarm_is_restored():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeLimitExceeded), time_limit(0.02):
        endless()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.usefixtures("timer")
def test_call_in_time_keeps_its_value():
    assert local_runner(lambda: 3, seconds=1.0)((), {}).value == 3


def test_no_limit_outside_the_main_thread():
    kinds = []
    thread = threading.Thread(
        target=lambda: kinds.append(local_runner(lambda: 3, seconds=0.01)((), {}).kind)
    )
    thread.start()
    thread.join()
    assert kinds == ["value"]


@pytest.mark.usefixtures("timer")
def test_paused_limit_leaves_out_what_is_waited():
    with time_limit(1.0):
        with paused_limit():
            time.sleep(1.2)


@pytest.mark.usefixtures("timer")
def test_paused_limit_counts_what_is_computed():
    reached = []
    with pytest.raises(TimeLimitExceeded), time_limit(1.0):
        with paused_limit():
            end = time.thread_time() + 1.1
            while time.thread_time() < end:
                pass
            reached.append(1)
        while True:
            pass
    assert reached == [1]


def waits(monkeypatch, seconds):
    """Let this process have stood in the queue so long, from its second look on."""
    waited = itertools.chain([0.0], itertools.repeat(seconds))
    monkeypatch.setattr(
        ProcessorQueue,
        "seconds",
        lambda queue: next(waited) if queue.process == "self" else 0.0,
    )


def takes(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return 3


def test_busy_machine_ends_no_call_that_computes_less(monkeypatch):
    waits(monkeypatch, 1000)
    run = local_runner(functools.partial(takes, 0.1), seconds=0.05)
    assert run((), {}).value == 3


def test_limit_may_be_by_the_clock_alone(monkeypatch):
    waits(monkeypatch, 1000)
    with pytest.raises(TimeLimitExceeded), time_limit(0.05, last_resort=1):
        takes(0.3)


def test_wait_in_a_pause_is_taken_off_once(monkeypatch):
    waited = iter([0.0, 0.0, 1000.0])  # at the start, before and after the pause
    monkeypatch.setattr(ProcessorQueue, "seconds", lambda _: next(waited, 1000.0))
    with pytest.raises(TimeLimitExceeded), time_limit(0.1):
        with paused_limit():
            time.sleep(0.2)
        takes(0.5)


def test_limits_inside_limits_end_the_inner_call(timer):
    run = local_runner(endless, seconds=0.05)
    with time_limit(5.0):
        assert run((), {}).kind == "timeout"
        if timer == "threads":
            assert _ByThread.current.deadline < float("inf")
    assert _ByThread.current is None


def test_interrupt_by_hand_stays_one_without_alarms(monkeypatch):
    monkeypatch.delattr(signal, "setitimer")
    # What runs tests may ignore Ctrl-C; a kernel does not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), time_limit(5.0):
            signal.raise_signal(signal.SIGINT)
            endless()
    finally:
        signal.signal(signal.SIGINT, before)


def test_paused_limit_without_a_limit_does_nothing():
    with paused_limit():
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
