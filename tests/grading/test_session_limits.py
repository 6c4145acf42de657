"""How long a submission may take: each call, each cell, and all of it."""

import pytest

from autograder.checking.own_time import ProcessorQueue
from autograder.grading.budget import Budget, TimedOutOnce
from tests.grading.engines import processes_of
from tests.grading.sessions import QUICK, call, check, own, session_of, value

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]


# --- timeouts ------------------------------------------------------------------


def test_first_try_stops_at_the_first_timeout(engine, sandbox):
    cells = own("def f():\n    while True: pass"), check("f")
    with session_of(sandbox, *cells, budget=QUICK, last_try=False) as session:
        with pytest.raises(TimedOutOnce):
            call(session, "f")
        assert len(processes_of(engine)) == 3


def test_first_try_stops_at_a_cell_that_never_ends(engine, sandbox):
    cells = [own("while True: pass")]
    with pytest.raises(TimedOutOnce):
        with session_of(sandbox, *cells, budget=QUICK, last_try=False):
            pass
    assert len(processes_of(engine)) == 3


def test_last_try_allows_twice_the_time(sandbox):
    text = "import time\ndef f(x):\n    time.sleep(x)\n    return 1"
    with session_of(sandbox, own(text), check("f"), budget=QUICK) as session:
        assert value(session, "f", 1.4 * QUICK.call) == 1
        assert call(session, "f", 3 * QUICK.call).kind == "timeout"
        assert call(session, "f", 0.5 * QUICK.call).kind == "timeout"
        assert value(session, "f", 0) == 1


# --- a budget for everything -----------------------------------------------------

SLOW = "import time\ndef {}(x=0):\n    time.sleep(0.2)\n    return x"


def test_submission_that_is_slow_in_sum_is_not_called_any_more(sandbox):
    budget = Budget(call=1, cell=1, submission=1.5)
    with session_of(sandbox, own(SLOW.format("f")), check("f"), budget=budget) as it:
        kinds = [call(it, "f", x).kind for x in range(50)]
        assert kinds[0] == "value"
        assert kinds[12:] == 38 * ["untried"]  # some 7 calls fit
        assert it.account.used_up == "longer than 1.5 seconds"


def test_first_try_stops_where_the_sum_is_used_up(engine, sandbox):
    budget = Budget(call=1, cell=1, submission=1)
    cells = own(SLOW.format("f")), check("f")
    with session_of(sandbox, *cells, budget=budget, last_try=False) as session:
        with pytest.raises(TimedOutOnce):
            for x in range(50):
                call(session, "f", x)
    assert len(processes_of(engine)) == 3


def test_cells_end_with_the_time_of_the_submission(sandbox):
    budget = Budget(call=1, cell=1, submission=1)
    slow = own("import time\ntime.sleep(1.9)")
    with session_of(sandbox, slow, slow, check("f"), budget=budget) as session:
        assert session.skipped.endings == {}  # no cell's fault
        assert call(session, "f").kind == "untried"


def test_all_children_of_a_submission_are_limited(sandbox):
    budget = Budget(call=1, cell=1, children=12)
    text = "import os\ndef {0}(bound=0):\n    os._exit(1)"
    cells = [own(text.format(name)) for name in "fg"] + [check("f"), check("g")]
    with session_of(sandbox, *cells, budget=budget) as session:
        before = sandbox._forked
        for name in "fg":
            for number in range(20):  # each judged in another way
                call(session, name, bound={f"b{number}": abs})
        assert sandbox._forked - before < budget.children
        assert session.account.used_up == "more than 12 processes"
        assert call(session, "g").kind == "untried"


def test_one_exercise_leaves_the_others_their_part(sandbox):
    budget = Budget(call=1, cell=1, submission=2, children=12)
    cells = own(SLOW.format("f") + "\ndef g(x):\n    return x"), check("f"), check("g")
    with session_of(sandbox, *cells, budget=budget) as session:
        session.account.reserve(1, 2)
        assert [call(session, "f").kind for _ in range(20)][-1] == "untried"
        session.account.reserve(0, 2)
        assert [value(session, "g", x) for x in range(9)] == [*range(9)]


def test_children_that_only_forget_are_not_counted(sandbox):
    budget = Budget(call=1, cell=1, children=2)
    cells = own("seen = []\ndef f(x):\n    seen.append(x)\n    return seen"), check("f")
    with session_of(sandbox, *cells, budget=budget) as session:
        for x in range(4):
            session.forget()
            assert value(session, "f", x) == [x]
        assert session.account.used_up == ""


def test_children_that_only_forget_take_their_time(sandbox):
    budget = Budget(call=1, cell=1, submission=1.5)
    slow = own("import time\ntime.sleep(0.3)\ndef f():\n    return 1"), check("f")
    with session_of(sandbox, *slow, budget=budget) as session:
        kinds = []
        for _ in range(8):
            session.forget()
            kinds.append(call(session, "f").kind)
        assert (kinds[0], kinds[-1]) == ("value", "untried")
        assert session.skipped.endings == {}


@pytest.fixture
def waiting(monkeypatch):
    """Add seconds, in a list of one, to what a child has waited for a processor."""
    seconds, measured = [0.0], ProcessorQueue.seconds_for_others

    def seconds_for_others(self, before=0.0):
        return measured(self, before) + (seconds[0] if self.process else 0.0)

    monkeypatch.setattr(ProcessorQueue, "seconds_for_others", seconds_for_others)
    return seconds


def test_waiting_of_a_child_is_taken_off_and_after_its_end_too(sandbox, waiting):
    budget = Budget(call=1, cell=1, submission=1)
    with session_of(sandbox, own(SLOW.format("f")), check("f"), budget=budget) as it:
        waiting[0] = 8.0
        assert [value(it, "f", x) for x in range(8)] == [*range(8)]
        with it.alone("f"):  # the child has ended
            waiting[0] = 0.0
            assert value(it, "f", 8) == 8


def test_cells_out_of_a_reserved_time_run_in_the_next(sandbox):
    budget = Budget(call=1, cell=6, submission=8)
    slow = own("import time\ntime.sleep(2)\ndef f():\n    return 1"), check("f")
    with session_of(sandbox, *slow, budget=budget) as session:
        session.account.reserve(1, 1)
        session.forget()  # too late for all cells; none is to blame
        assert call(session, "f").kind == "untried"
        session.account.reserve(0, 1)
        assert value(session, "f") == 1


def test_waiting_of_a_child_lost_in_its_cells_is_taken_off(sandbox, waiting):
    budget = Budget(call=1, cell=0.3, submission=2)
    cells = own("while True: pass"), own("def f():\n    return 1"), check("f")
    waiting[0] = 3.0
    with session_of(sandbox, *cells, budget=budget) as session:
        assert session.skipped.endings == {0: "timeout"}
        assert value(session, "f") == 1
