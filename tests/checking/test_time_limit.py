"""A call that does not end is ended, and its result is a timeout."""

import signal
import threading

import pytest

from autograder.checking.call import TimeLimitExceeded, local_runner, time_limit


def endless():
    while True:
        pass


def stubborn():
    while True:
        try:
            endless()
        except Exception:
            continue


@pytest.mark.parametrize("function", [endless, stubborn])
def test_endless_call_is_a_timeout(function):
    assert local_runner(function, seconds=0.05)((), {}).kind == "timeout"


def test_later_calls_of_an_endless_function_get_less_time(monkeypatch):
    limits = []
    monkeypatch.setattr(
        "autograder.checking.call.time_limit",
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
