"""Limits are of a submission's own time: what else runs plays no part."""

import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.checking import own_time
from autograder.checking.own_time import ProcessorQueue, TimeLeft
from autograder.grading.sender import ask_for_sender, sender
from tests.grading.engines import SHORT
from tests.grading.sessions import call, check, own, session_of


class Queue(ProcessorQueue):
    """A queue whose time the test sets."""

    waited = 0.0

    def seconds(self):
        return self.waited


@pytest.fixture
def clock(monkeypatch):
    """Set the time by the clock, in a list of one."""
    now = [100.0]
    monkeypatch.setattr(own_time.time, "monotonic", lambda: now[0])
    return now


def test_waiting_for_a_processor_is_taken_off_and_nothing_else(clock):
    queue = Queue()
    left = TimeLeft(5, queue)
    clock[0] += 7
    assert left() == -2
    queue.waited = 4
    assert left() == 2
    left.extend(1)
    assert left() == 3


def test_wait_in_time_that_is_added_is_taken_off_once(clock):
    queue = Queue()
    left = TimeLeft(5, queue)
    clock[0], queue.waited = clock[0] + 20, 9  # of which 20 are added again
    left.extend(20, waited=9)
    assert left() == 5
    clock[0] += 6
    assert left() == -1


def test_what_was_waited_before_does_not_count(clock):
    queue = Queue()
    queue.waited = 50
    left = TimeLeft(5, queue)
    clock[0] += 6
    assert left() == -1


def test_last_resort_is_by_the_clock(clock):
    queue = Queue()
    left = TimeLeft(5, queue)
    clock[0], queue.waited = clock[0] + 49, 1000
    assert left() == 1
    clock[0] += 2
    assert left() == -1


def test_queue_of_this_process_is_counted_where_the_system_does():
    counted = Path("/proc/self/schedstat")
    if not counted.exists():
        pytest.skip("this system does not count it")
    before = int(counted.read_text().split()[1]) / 1e9
    assert ProcessorQueue("self").seconds() >= before


@pytest.mark.parametrize("process", [0, 2**22 + 1, "no/such"])
def test_process_that_is_not_known_has_waited_for_nothing(process):
    assert ProcessorQueue(process).seconds() == 0


CROWD = """
import os, threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
if os.fork():
    print("ready", flush=True)
time.sleep(60)
"""


def test_crowd_of_its_own_shares_the_wait():
    command = [sys.executable, "-c", CROWD]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            assert own_time._n_threads(process.pid) == 5
            queue = Queue(process.pid)
            queue.waited = 10.0
            assert queue.seconds_for_others() == 2
            assert queue.seconds_for_others(before=5.0) == 1
            assert queue.seconds_for_others(before=1e6) == 0
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_sender_is_the_process_that_sends_and_its_words_stay():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ask_for_sender(ours)
        child = os.fork()
        if child == 0:
            theirs.sendall(b"first")
            os._exit(0)
        os.waitpid(child, 0)
        assert sender(ours, TimeLeft(5)) == child
        assert ours.recv(100) == b"first"
        with pytest.raises(TimeoutError):
            sender(ours, TimeLeft(0.01))
        theirs.sendall(b"we ourselves")
        assert sender(ours, TimeLeft(5)) == 0


def spin():
    while True:
        pass


@contextlib.contextmanager
def busy(count):
    """Keep processes busy beside the block."""
    processes = [multiprocessing.Process(target=spin) for _ in range(count)]
    for each in processes:
        each.start()
    try:
        yield
    finally:
        for each in processes:
            each.kill()
            each.join()


COMPUTES = """
import time
def f(seconds):
    while time.process_time() < seconds:
        sum(range(1000))
    return 1
def g(seconds):
    time.sleep(seconds)
"""


@pytest.mark.sandbox
@pytest.mark.alone
def test_busy_machine_takes_no_time_from_a_call(sandbox):
    budget = replace(SHORT, call=0.5)
    cells = own(COMPUTES), check("f"), check("g")
    count = 4 * len(os.sched_getaffinity(0))
    with session_of(sandbox, *cells, budget=budget) as session, busy(count):
        # Twice the time on the last try. Beside four others on each processor it takes
        # several times as long by the clock.
        assert call(session, "f", 0.7).kind == "value"
        assert call(session, "g", 1.2).kind == "timeout"
