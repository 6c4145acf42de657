"""A submission's cells and answers: what counts, what is left out, and what lies do."""

import textwrap
import time
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.grading import child_client
from autograder.grading.child_client import ChildClient, planned_call
from autograder.grading.inside import wire
from autograder.grading.session import Budget, TimedOutOnce
from tests.grading.engines import SHORT, engine_of, processes_of
from tests.grading.sessions import call, check, own, session_of, solution
from tests.submissions import COURSE

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]
QUICK = Budget(call=0.4, cell=0.6)


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE) as started:
        yield started


@pytest.fixture(scope="module")
def sandbox(engine):
    return engine.sandbox


def value(session, name, *arguments, **keywords):
    result = call(session, name, *arguments, **keywords)
    assert result.kind == "value", result
    return result.value


# --- which answer counts -------------------------------------------------------


def test_answer_at_the_check_counts_before_one_bound_later(
    sandbox,
):
    cells = (
        own("def f():\n    return 'at the check'"),
        check("f"),
        own("def f():\n    return 'later'"),
    )
    with session_of(sandbox, *cells) as session:
        assert session.answer_moments("f") == ("check", "end")
        assert value(session, "f") == "at the check"
        assert value(session, "f", when="end") == "later"


def test_stub_at_the_check_leaves_the_answer_at_the_end(sandbox):
    stub = "def f():\n    raise NotImplementedError"
    cells = solution("f", stub), check("f"), own("def f():\n    return 'later'")
    with session_of(sandbox, *cells) as session:
        assert call(session, "f").raised.types[0] == "NotImplementedError"
        assert value(session, "f", when="end") == "later"


def test_answer_below_its_check_counts(sandbox):
    cells = check("f"), own("def f():\n    return 'later'")
    with session_of(sandbox, *cells) as session:
        assert session.answer_moments("f") == ("end",)
        assert value(session, "f", when="end") == "later"


def test_each_answer_uses_the_names_of_its_own_check(sandbox):
    cells = (
        own("scale = 1\ndef f():\n    return scale\ndef g():\n    return scale, late"),
        check("f"),
        own("scale = 2"),
        check("g"),
        own("scale = 3\nlate = 'below'"),
    )
    with session_of(sandbox, *cells) as session:
        assert value(session, "f") == 1
        assert value(session, "g") == (2, "below")
        assert value(session, "f") == 1
        assert value(session, "g", when="end") == (3, "below")
        assert value(session, "f") == 1


def test_cell_that_needs_a_later_name_runs_again(sandbox):
    cells = (
        own("table = [width] * 2"),
        check("f"),
        own("width = 3\ndef f():\n    return table"),
    )
    with session_of(sandbox, *cells) as session:
        assert value(session, "f", when="end") == [3, 3]
        assert session.report.troubles == {}


def test_undefined_name_costs_its_own_cell_only(sandbox):
    cells = own("nowhere + 1"), own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells) as session:
        assert {p: r.types[0] for p, r in session.report.troubles.items()} == {
            0: "NameError"
        }
        assert session.report.troubles[0].line == "nowhere + 1"
        assert value(session, "f") == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f = 3", "int"),
        ("f = 'softmax'", "str"),
        ("class f:\n    pass", "class"),
        ("pass", ""),
    ],
)
def test_only_a_function_is_an_answer(sandbox, text, kind):
    with session_of(sandbox, own(text), check("f")) as session:
        assert session.report.answers["f"][0] == kind
        result = call(session, "f", 1)
        assert result.raised.types[0] == "NotImplementedError"
        assert result.arguments == (1,)


def test_answer_of_a_stopped_cell_raises_its_exception(sandbox):
    cells = solution("f", "import no_such_module\ndef f():\n    return 1"), check("f")
    with session_of(sandbox, *cells) as session:
        raised = call(session, "f").raised
        assert raised.types[0] == "ModuleNotFoundError"
        assert raised.line == "import no_such_module"


def test_syntax_error_in_a_solution_has_its_line(sandbox):
    cells = solution("f", "x = 1\ndef f(:\n    pass"), check("f"), own("y = 2")
    with session_of(sandbox, *cells) as session:
        raised = call(session, "f").raised
        assert (raised.types[0], raised.line_number) == ("SyntaxError", 2)


# --- what crosses --------------------------------------------------------------


def test_changed_arguments_come_back_and_ours_stay(sandbox):
    cells = own("def f(x, change):\n    x[0] = change\n    return x"), check("f")
    with session_of(sandbox, *cells) as session:
        x = np.zeros(2)
        changed = call(session, "f", x, 1.0)
        same = call(session, "f", x, 0.0)
    assert changed.arguments[0].tolist() == [1.0, 0.0]
    assert changed.shares_memory is True
    assert same.arguments[0].tolist() == [0.0, 0.0]
    assert x.tolist() == [0.0, 0.0]


def test_exception_arrives_with_its_bases_and_learners_line(sandbox):
    text = "def f(x):\n    y = x\n    return inner(y)\ndef inner(y):\n    return {}[y]"
    with session_of(sandbox, own(text), check("f")) as session:
        result = call(session, "f", 5)
    raised = result.raised
    assert result.kind == "raised"
    assert raised.types == ("KeyError", "LookupError", "Exception", "BaseException")
    assert (raised.message, raised.function) == ("5", "inner")
    assert (raised.line_number, raised.line) == (5, "return {}[y]")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import numpy as np\nreturn np.zeros(9 << 20)", "output"),
        ("return 'x' * (5 << 20)", "output"),
        ("import numpy as np\nreturn np.ones((1 << 40,))", "MemoryError"),
        ("raise SystemExit", "SystemExit"),
        ("quit()", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("return f()", "RecursionError"),
        ("return input()", "EOFError"),
        ("import os\nos._exit(0)", "crashed"),
        ("import ctypes\nctypes.string_at(0)", "crashed"),
        ("while True: pass", "timeout"),
        ("import time\ntime.sleep(60)", "timeout"),
        ("import threading\nthreading.Lock().acquire()\nlock = threading.Lock()\n"
         "lock.acquire()\nlock.acquire()", "timeout"),
        (
            "while True:\n    try:\n        while True: pass\n"
            "    except BaseException: pass",
            "timeout",
        ),
    ],
)  # fmt: skip
def test_call_without_a_value_ends_as(sandbox, text, kind):
    body = textwrap.indent(text, "    ")
    cells = own(f"def f():\n{body}\ndef g():\n    return 'still here'"), check("f")
    with session_of(sandbox, *cells, check("g"), budget=QUICK) as session:
        result = call(session, "f")
        ending = result.raised.types[0] if result.raised else result.kind
        assert ending == kind
        assert value(session, "g") == "still here"


def test_other_than_plain_data_arrives_as_unknown_object(sandbox):
    text = """
    import numpy as np
    class Sly(np.ndarray):
        pass
    def f(which):
        return {
            "subclass": np.zeros(2).view(Sly),
            "objects": np.array([object()]),
            "generator": (x for x in [1]),
            "inside": [np.zeros(2).view(Sly)],
        }[which]
    """
    with session_of(sandbox, own(text), check("f")) as session:
        arrived = [
            value(session, "f", which) for which in ("subclass", "objects", "generator")
        ]
        within = value(session, "f", "inside")
    assert all(isinstance(each, wire.UnknownObject) for each in [*arrived, *within])
    names = [type(each).__name__ for each in arrived]
    assert names == ["Sly", "ndarray of object_", "generator"]


def test_prints_and_warnings_of_a_call_are_not_recorded(sandbox):
    text = """
    import os, sys, warnings
    def f():
        warnings.warn("careful")
        print("x" * 100_000)
        print("y", file=sys.stderr)
        os.write(1, b"z" * 1000)
        return 1
    """
    with session_of(sandbox, own(text), check("f")) as session:
        assert value(session, "f") == 1
        assert session.report.outputs[0] == []


# --- functions of ours ---------------------------------------------------------


def test_function_as_argument_runs_outside_the_sandbox(sandbox):
    arguments = []

    def twice(x, *, plus=0):
        arguments.append(x)
        return 2 * x + plus

    cells = own("def f(g, x):\n    return g(x) + g(x, plus=1)"), check("f")
    with session_of(sandbox, *cells) as session:
        result = value(session, "f", twice, np.ones(2))
    assert result.tolist() == [5.0, 5.0]
    assert [x.tolist() for x in arguments] == [[1.0, 1.0]] * 2


def test_function_as_keyword_runs_outside_the_sandbox(sandbox):
    cells = own("def f(*, g):\n    return g(3)"), check("f")
    with session_of(sandbox, *cells) as session:
        assert value(session, "f", g=lambda x: x + 1) == 4


def test_exception_of_a_callback_reaches_the_learners_code(sandbox):
    def refuse(x):
        raise ZeroDivisionError("no zero, please")

    text = """
    def f(g):
        try:
            g(0)
        except ArithmeticError as error:
            return type(error).__name__, str(error)
    """
    with session_of(sandbox, own(text), check("f")) as session:
        assert value(session, "f", refuse) == ("ZeroDivisionError", "no zero, please")


def test_uncaught_exception_of_a_callback_ends_the_call(sandbox):
    class Own(ValueError):
        pass

    def refuse():
        raise Own("not so")

    cells = own("def f(g):\n    return g()"), check("f")
    with session_of(sandbox, *cells) as session:
        raised = call(session, "f", refuse).raised
    assert raised.types[0] == "ValueError"
    assert (raised.message, raised.line) == ("not so", "return g()")


def test_bound_names_replace_the_learners_for_one_call(sandbox):
    text = "def softmax(x):\n    return 'mine'\ndef f(x):\n    return softmax(x)"
    with session_of(sandbox, own(text), check("f")) as session:
        bound = {"softmax": lambda x: f"the course's {x}"}
        assert value(session, "f", 1, bound=bound) == "the course's 1"
        assert value(session, "f", 1) == "mine"


def test_too_many_callbacks_are_a_timeout(sandbox, monkeypatch):
    monkeypatch.setattr(child_client, "MAX_CALLBACKS", 20)
    text = "def f(g, times):\n    return sum(g() for _ in range(times))"
    with session_of(sandbox, own(text), check("f")) as session:
        assert value(session, "f", lambda: 1, 19) == 19
        assert call(session, "f", lambda: 1, 20).kind == "timeout"


def test_time_of_callbacks_is_limited(sandbox, monkeypatch):
    monkeypatch.setattr(child_client, "CALLBACK_SECONDS", 0.2)
    text = "def f(g, times):\n    return sum(g() for _ in range(times))"
    with session_of(sandbox, own(text), check("f")) as session:
        assert value(session, "f", lambda: time.sleep(0.01) or 1, 5) == 5
        assert call(session, "f", lambda: time.sleep(0.1) or 1, 50).kind == "timeout"


def test_single_callback_without_end_is_a_timeout(sandbox, monkeypatch):
    monkeypatch.setattr(child_client, "CALLBACK_SECONDS", 0.2)
    text = "def f(g):\n    return g()"
    with session_of(sandbox, own(text), check("f")) as session:
        assert call(session, "f", lambda: time.sleep(60)).kind == "timeout"


def test_size_of_a_callbacks_arguments_is_limited(sandbox):
    text = "def f(g, count):\n    return g(bytes(count))"
    with session_of(sandbox, own(text), check("f")) as session:
        assert value(session, "f", len, 1000) == 1000
        assert call(session, "f", len, 1 << 17).kind == "crashed"


def test_time_of_callbacks_is_not_the_learners(sandbox):
    def slow():
        time.sleep(2.5 * QUICK.call)
        return 1

    cells = own("def f(g):\n    return g()"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert value(session, "f", slow) == 1


# --- cells that end the process ------------------------------------------------


def test_cell_that_ends_the_process_is_left_out(sandbox):
    cells = (
        own("def f():\n    return 1"),
        own("import os\nos._exit(0)"),
        check("f"),
        own("def g():\n    return 2"),
        check("g"),
    )
    with session_of(sandbox, *cells) as session:
        assert session.killed == {1: "crashed"}
        assert value(session, "f") + value(session, "g") == 3


def test_cell_that_never_ends_is_left_out(sandbox):
    cells = own("while True: pass"), own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert session.killed == {0: "timeout"}
        assert value(session, "f") == 1


@pytest.mark.parametrize("how", ["crashed", "timeout"])
def test_answer_whose_cell_is_left_out_ends_as_its_cell_did(sandbox, how):
    ending = {"crashed": "import os; os._exit(1)", "timeout": "while True: pass"}[how]
    cells = solution("f", f"{ending}\ndef f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert call(session, "f").kind == how


def test_too_many_deadly_cells_leave_out_all_own_cells(sandbox):
    deadly = [own(f"import os; os._exit({status})") for status in range(9)]
    answers = solution("f", "def f():\n    return 1"), check("f")
    with session_of(sandbox, *deadly, *answers) as session:
        assert len(session.killed) == SHORT.deadly
        assert value(session, "f") == 1


def test_own_cell_that_ends_later_processes_costs_no_answer(sandbox):
    # A thread ends the process in whatever cell runs then, in each child anew.
    strike = """
    import os, threading, time
    def strike():
        time.sleep(0.05)
        os._exit(1)
    threading.Thread(target=strike).start()
    """
    names = [f"f{number}" for number in range(SHORT.deadly)]
    cells = [own(strike)]
    for name in names:
        answer = f"import time; time.sleep(0.2)\ndef {name}():\n    return 1"
        cells += [solution(name, answer), check(name)]
    with session_of(sandbox, *cells) as session:
        assert [value(session, name) for name in names] == [1] * len(names)
        assert session.killed.keys() <= {0}


def test_calls_after_a_crash_run_in_a_fresh_child(sandbox):
    text = """
    import os
    count = []
    def f(x):
        if x == 1:
            os._exit(1)
        count.append(x)
        return count
    """
    with session_of(sandbox, own(text), check("f")) as session:
        assert value(session, "f", 0) == [0]
        assert call(session, "f", 1).kind == "crashed"
        assert value(session, "f", 2) == [2]


def test_crash_counts_only_if_it_recurs_in_a_fresh_child(sandbox):
    # What an earlier call has changed ends the process in a later one.
    text = """
    import os, threading, time
    calls = []
    def f(x):
        calls.append(x)
        if len(calls) > 1:
            os._exit(1)
        return x
    """
    with session_of(sandbox, own(text), check("f")) as session:
        assert [value(session, "f", x) for x in range(4)] == [0, 1, 2, 3]


def test_children_of_an_exercise_are_limited(engine, sandbox):
    budget = Budget(call=1, cell=1, crashes=4)
    text = "import os\ndef f():\n    os._exit(1)\ndef g():\n    return 2"
    cells = own(text), check("f"), check("g")
    with session_of(sandbox, *cells, budget=budget) as session:
        before = sandbox._forked
        assert [call(session, "f").kind for _ in range(9)] == ["crashed"] * 9
        assert sandbox._forked - before == budget.crashes - 1
        assert value(session, "g") == 2
    assert len(processes_of(engine)) == 3


def test_timeouts_of_an_exercise_are_limited(sandbox):
    budget = Budget(call=0.2, cell=1, timeouts=3)
    cells = own("def f():\n    while True: pass"), check("f")
    with session_of(sandbox, *cells, budget=budget) as session:
        start = time.monotonic()
        assert [call(session, "f").kind for _ in range(30)] == ["timeout"] * 30
        assert time.monotonic() - start < 3


# --- planned calls -------------------------------------------------------------


def plan(*inputs):
    return [planned_call((each,), {}) for each in inputs]


@pytest.fixture
def requests(monkeypatch):
    """Return how many calls each request to a child has asked for."""
    sizes = []
    once = ChildClient.call

    def counted(self, exercise, when, calls, bound):
        sizes.append(len(calls))
        once(self, exercise, when, calls, bound)

    monkeypatch.setattr(ChildClient, "call", counted)
    return sizes


def test_planned_calls_are_asked_for_at_once(sandbox, requests):
    with session_of(sandbox, own("def f(x):\n    return x + 1"), check("f")) as session:
        session.plan(plan(1, 2, 3))
        assert [value(session, "f", x) for x in (1, 2, 3)] == [2, 3, 4]
    assert requests == [3]


def test_other_calls_than_planned_have_their_own_results(sandbox, requests):
    with session_of(sandbox, own("def f(x):\n    return x + 1"), check("f")) as session:
        session.plan(plan(1, 2, 3, 4))
        assert [value(session, "f", x) for x in (2, 9, 4, 3)] == [3, 10, 5, 4]
    assert requests == [3, 1, 1]  # from 2 on; 9; and 3 once more, for 4 was asked first


def test_reply_to_another_exercise_is_not_taken(sandbox):
    text = "def f(x):\n    return 'f'\ndef g(x):\n    return 'g'"
    with session_of(sandbox, own(text), check("f"), check("g")) as session:
        session.plan(plan(1, 2, 3))
        assert value(session, "f", 1) == "f"
        session.plan(plan(2, 3))
        assert [value(session, "g", x) for x in (2, 3)] == ["g", "g"]


def test_reply_under_other_names_is_not_taken(sandbox):
    text = "def softmax(x):\n    return 'own'\ndef f(x):\n    return softmax(x)"
    bound = {"softmax": lambda x: "ours"}
    with session_of(sandbox, own(text), check("f")) as session:
        session.plan(plan(1, 2))
        assert value(session, "f", 1) == "own"
        assert value(session, "f", 2, bound=bound) == "ours"


@pytest.mark.parametrize("ending", ["while True: pass", "import os; os._exit(1)"])
def test_planned_call_that_is_not_asked_for_costs_nothing(sandbox, ending):
    text = f"def f(x):\n    if x == 2:\n        {ending}\n    return x"
    cells = own(text), check("f"), own("def g(x):\n    return -x"), check("g")
    with session_of(sandbox, *cells, budget=QUICK, last_try=False) as session:
        session.plan(plan(1, 2, 3))
        assert value(session, "f", 1) == 1  # here its claim has failed
        session.plan(plan(1, 2))
        assert [value(session, "g", x) for x in (1, 2)] == [-1, -2]


def test_planned_call_that_ends_the_process_crashes_alone(sandbox):
    text = "import os\ndef f(x):\n    return os._exit(1) if x == 2 else x"
    with session_of(sandbox, own(text), check("f")) as session:
        session.plan(plan(1, 2, 3))
        kinds = [call(session, "f", x).kind for x in (1, 2, 3)]
    assert kinds == ["value", "crashed", "value"]


def test_functions_are_lent_to_planned_calls(sandbox):
    text = "def f(x):\n    return softmax(x)\ndef softmax(x):\n    return 0"
    with session_of(sandbox, own(text), check("f")) as session:
        session.plan(plan(1, 2))
        bound = {"softmax": lambda x: 10 * x}
        assert [value(session, "f", x, bound=bound) for x in (1, 2)] == [10, 20]


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
        start = time.monotonic()
        kinds = [call(it, "f", x).kind for x in range(50)]
        assert time.monotonic() - start < 2.5
        assert kinds[0] == "value"
        assert kinds[-1] == "untried"
        assert it.used_up == "longer than 1.5 seconds"


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
        assert session.killed == {}  # no cell's fault
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
        assert session.used_up == "more than 12 processes"
        assert call(session, "g").kind == "untried"


def test_one_exercise_leaves_the_others_their_part(sandbox):
    budget = Budget(call=1, cell=1, submission=2, children=12)
    cells = own(SLOW.format("f") + "\ndef g(x):\n    return x"), check("f"), check("g")
    with session_of(sandbox, *cells, budget=budget) as session:
        session.reserve(1, 2)
        assert [call(session, "f").kind for _ in range(20)][-1] == "untried"
        session.reserve(0, 2)
        assert [value(session, "g", x) for x in range(9)] == [*range(9)]


# --- hidden inputs ---------------------------------------------------------------

REMEMBERS = """\
seen = []
def f(x):
    seen.append(x)
    return seen
"""


def test_child_that_has_seen_a_hidden_input_gets_no_visible_call(sandbox):
    with session_of(sandbox, own(REMEMBERS), check("f")) as session:
        assert value(session, "f", 1) == [1]
        session.hidden = True
        assert value(session, "f", 2) == [1, 2]
        assert value(session, "f", 3) == [1, 2, 3]
        session.hidden = False
        assert value(session, "f", 4) == [4]
        assert value(session, "f", 5) == [4, 5]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("def f(x):\n\n    raise ValueError", 3),
        ("def g(x):\n    return x", 0),  # it stops in an own cell
        ("def f(x):\n" + "\n" * 300 + "    raise ValueError", 0),
    ],
)
def test_hidden_input_may_name_a_line_of_the_answers_cell(sandbox, text, number):
    helper = own("def helper(x):\n    raise ValueError\nf = helper")
    with session_of(sandbox, helper, solution("f", text), check("f")) as session:
        assert call(session, "f", 1).raised.line_number > 0
        session.hidden = True
        assert call(session, "f", 1).raised.line_number == number


# --- lies ----------------------------------------------------------------------

FRAME = """
import msgpack, os, struct, sys
def token():
    # as an attacker can: in the frames above
    frame = sys._getframe()
    while type(frame.f_locals.get("token")) is not bytes:
        frame = frame.f_back
    return frame.f_locals["token"]
def say(tree, data=b""):
    if type(tree) is list:
        tree = [token() if part == "TOKEN" else part for part in tree]
    packed = tree if type(tree) is bytes else msgpack.packb(tree)
    frame = struct.pack(">II", len(packed), len(data)) + packed + data
    while frame:
        frame = frame[os.write(3, frame):]
"""
EMPTY = ["d"]
# Trees as the wire writes them: ["l", …] is a list, ["t", …] a tuple, ["d", …] a dict.
OUTCOME = ["l", "outcome", "TOKEN", "value", 7, None, None, False, ["l"]]
RAN = ["l", "ran", EMPTY, EMPTY, ["d", "f", ["t", "answer", ""]]]
LIES = {
    "an outcome before it was asked for": [["l", "outcome", b"token", *OUTCOME[3:]]],
    "a report before the end": [RAN],
    "a report of nothing": [["l", "ran"]],
    "a report of too much": [[*RAN, 1, 2, 3]],
    "a report of numbers": [["l", "ran", 1, 2, 3]],
    "a report of odd troubles": [["l", "ran", ["d", 0, ["t", 1]], EMPTY, EMPTY]],
    "a trouble of no cell": [
        ["l", "ran", ["d", 99, ["t", ["t", "E"], "", "", 0, ""]], EMPTY, EMPTY]
    ],
    "odd answers": [["l", "ran", EMPTY, EMPTY, ["d", "f", 3]]],
    "answers of odd names": [["l", "ran", EMPTY, EMPTY, ["d", 3, ["t", "a", "b"]]]],
    "a cell that is none": [["l", "at", 10**6]],
    "a cell below the first": [["l", "at", -1], ["l", "failed", "no sandbox"]],
    "a cell without an index": [["l", "at"]],
    "a word alone": [["l", "ran", "off"], ["l"]],
    "no list": [7, "at", None],
    "no word": [["l", 1, 2]],
    "that it could not be shut in": [["l", "failed", "no sandbox"]],
    "a question nobody asked": [["l", "callback", 0, ["t"], EMPTY]],
    "bytes that are no tree": [b"\xc1\xc1\xc1"],
    "a list that is a key": [["l", "ran", ["d", ["l"], 1], EMPTY, EMPTY]],
    "a tensor of a wrong size": [["l", "ran", ["T", "float32", ["l", 9], 0, 4], 1, 2]],
}


@pytest.mark.parametrize("frames", LIES.values(), ids=[*LIES])
def test_false_messages_of_a_cell_change_only_its_own_result(sandbox, frames):
    lie = f"{FRAME}\nfor tree in {frames!r}:\n    say(tree)"
    right = solution("f", "def f():\n    return 'honest'")
    cells = right, own(lie), own("x = 1"), check("f")
    with session_of(sandbox, *cells) as session:
        for _ in range(3):
            result = call(session, "f")
            assert (result.kind, result.value) in [
                ("value", "honest"),
                ("value", 7),  # its own word for what it returns
                ("crashed", None),
                ("raised", None),
            ]


def lying(lie):
    body = textwrap.indent(lie, "    ")
    return own(f"{FRAME}\ndef f(*given):\n{body}\n    return 'honest'"), check("f")


RAISED = ["l", "outcome", "TOKEN", "raised", None]
ASKED = ["l", "callback", "TOKEN"]
LIES_IN_A_CALL = {
    "an outcome of no kind": [*OUTCOME[:3], "ok", *OUTCOME[4:]],
    "a timeout": [*OUTCOME[:3], "timeout", *OUTCOME[4:]],
    "an outcome that is too short": OUTCOME[:4],
    "an outcome that is too long": [*OUTCOME, 1],
    "an outcome without a token": ["l", "outcome"],
    "an outcome of an odd token": ["l", "outcome", 3, *OUTCOME[3:]],
    "other arguments than were given": [*OUTCOME[:6], ["t", 1, 2, 3], False, ["l"]],
    "arguments that are no tuple": [*OUTCOME[:6], 3, False, ["l"]],
    "an exception with a value": [*RAISED[:4], 7, None, None, False, ["l"]],
    "an exception without types": [
        *[*RAISED, ["t", ["t"], "", "", 0, ""], None, False, ["l"]]
    ],
    "an exception of the wrong shape": [
        *[*RAISED, ["t", "ValueError"], None, False, ["l"]]
    ],
    "flags that are none": [*OUTCOME[:8], ["l", 3]],
    "a flag without a line": [*OUTCOME[:8], ["l", ["t", "torch.softmax"]]],
    "flags that are no list": [*OUTCOME[:8], 3],
    "a function that is none": [*ASKED, 99, ["t"], EMPTY],
    "a function below zero": [*ASKED, -99, ["t"], EMPTY],
    "a function by name": [*ASKED, "eval", ["t"], EMPTY],
    "arguments that are none": [*ASKED, 0, 3, EMPTY],
    "a question without arguments": ASKED,
    "another report": RAN,
    "that it could not be shut in": ["l", "failed", "no sandbox"],
    "a word of its own": ["l", "points", 60],
}


@pytest.mark.parametrize("tree", LIES_IN_A_CALL.values(), ids=[*LIES_IN_A_CALL])
def test_false_message_of_a_call_is_a_crash_of_that_call_only(sandbox, tree):
    lie = f"if given[0]:\n    say({tree!r})"
    with session_of(sandbox, *lying(lie)) as session:
        assert call(session, "f", True, len).kind == "crashed"
        assert value(session, "f", False, len) == "honest"


def test_callback_with_false_keywords_raises_in_the_child(sandbox):
    # Keywords that are no names reach nothing but Python's own check of them.
    lie = "if given[0]:\n    say(['l', 'callback', 'TOKEN', 0, ['t'], ['d', 3, 4]])"
    with session_of(sandbox, *lying(lie)) as session:
        assert value(session, "f", True, len) == "honest"


def test_call_cannot_reach_callbacks_of_an_earlier_one(sandbox):
    secret = "say(['l', 'callback', 'TOKEN', 1, ['t'], ['d']])"
    with session_of(sandbox, *lying(f"if given[0]:\n    {secret}")) as session:
        assert value(session, "f", False, len, lambda: "secret") == "honest"
        assert call(session, "f", True, len).kind == "crashed"


def test_result_with_another_calls_token_is_ignored(sandbox):
    lie = "say(['l', 'outcome', b'earlier!', 'value', 'forged', None, None, 0, ['l']])"
    with session_of(sandbox, *lying(lie)) as session:
        assert [value(session, "f") for _ in range(3)] == ["honest"] * 3


def test_result_that_is_sent_twice_counts_once(sandbox):
    # The second one, still on its way, does not belong to the next call.
    lie = f"if given[0]:\n    say({OUTCOME!r})"
    with session_of(sandbox, *lying(lie)) as session:
        assert value(session, "f", True) == 7
        assert value(session, "f", False) == "honest"


def test_endless_results_of_other_calls_are_a_timeout(sandbox, monkeypatch):
    monkeypatch.setattr(child_client, "MAX_CALLBACKS", 50)
    lie = "while given[0]:\n    say(['l', 'outcome', b'other', 1])"
    with session_of(sandbox, *lying(lie)) as session:
        assert call(session, "f", True).kind == "timeout"
        assert value(session, "f", False) == "honest"


@pytest.mark.parametrize("frame", [["l", "at", 0], ["l", "callback", 0, ["t"], EMPTY]])
def test_endless_messages_of_a_cell_are_a_crash(sandbox, frame):
    lie = own(f"{FRAME}\nwhile True:\n    say({frame!r})")
    start = time.monotonic()
    cells = lie, own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert value(session, "f") == 1
        assert session.killed == {0: "crashed"}
    assert time.monotonic() - start < 5


def test_repeated_messages_do_not_extend_the_time_limit(sandbox):
    lie = own(
        f"{FRAME}\nimport time\nwhile True:\n    say(['l', 'at', 0])\n"
        "    time.sleep(0.3)"
    )
    start = time.monotonic()
    cells = lie, own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert value(session, "f") == 1
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        "os.write(3, b'\\xff' * 8)",  # announces 4 GiB
        "os.write(3, b'\\x00\\x00\\x00\\x05\\x00\\x00\\x00\\x00ab')\nos._exit(0)",
        "os.write(3, bytes(range(256)))",
    ],
    ids=["too long a frame", "half a frame", "any bytes"],
)
def test_bytes_that_are_no_frame_are_a_crash_of_that_call(sandbox, text):
    lie = "if given:\n" + textwrap.indent(text, "    ")
    with session_of(sandbox, *lying(lie)) as session:
        assert call(session, "f", 1).kind == "crashed"
        assert value(session, "f") == "honest"


def test_half_a_frame_without_end_is_a_timeout(sandbox):
    lie = "if given:\n    os.write(3, b'abc')\n    import time\n    time.sleep(60)"
    with session_of(sandbox, *lying(lie), budget=QUICK) as session:
        assert call(session, "f", 1).kind == "timeout"


def test_child_that_does_not_read_is_a_timeout(sandbox, monkeypatch):
    # The message is larger than what the connection holds.
    monkeypatch.setattr(child_client, "SEND_SECONDS", 0.5)
    lie = own("import time\ndef f(x):\n    return 1\n"), check("f")
    with session_of(sandbox, *lie, budget=QUICK) as session:
        child = session._child
        process = processes_of(SimpleNamespace(sandbox=sandbox))[-1]
        process.suspend()
        assert call(session, "f", np.zeros(1 << 20)).kind == "timeout"
        assert session._child is not child


def test_only_known_functions_are_flagged_with_clean_lines(sandbox):
    known = sandbox.library["softmax"][0]
    flags = ["l", ["t", known, "x at 0x7fffdeadbeef"], ["t", "os.remove", "rm"]]
    tree = [*OUTCOME[:8], flags]
    with session_of(sandbox, *lying(f"say({tree!r})")) as session:
        call(session, "f")
        assert {(each.what, each.line) for each in session.flags} == {
            (known, "x at 0x…")
        }
