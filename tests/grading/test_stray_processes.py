"""Which processes count as left behind: those of one's own grader, and no other's."""

import os
import signal
import subprocess

import psutil
import pytest

from tests.grading.engines import SANDBOX_USERS, adopting_orphans, strays_outside

USER = SANDBOX_USERS[-1]
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has other users"),
]


def orphan():
    """Start a process as a sandbox's user whose parent ends; return its number."""
    command = ["sh", "-c", "sleep 600 > /dev/null & echo $!"]
    done = subprocess.run(
        command, user=USER, start_new_session=True, stdout=subprocess.PIPE, check=True
    )
    return int(done.stdout)


def test_process_that_forks_to_get_away_is_counted():
    with adopting_orphans():
        number = orphan()
        try:
            assert strays_outside() == [f"sleep of user {USER}, outside"]
        finally:
            os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
    assert strays_outside() == []


def test_process_of_another_grader_is_not_counted():
    number = orphan()  # it belongs to whoever adopts it, as those of other graders do
    try:
        assert psutil.Process(number).uids().real == USER
        assert strays_outside() == []
    finally:
        os.kill(number, signal.SIGKILL)
