"""A submission's cells and answers: what counts, what crosses, what is left out."""

import textwrap
import time

import numpy as np
import pytest

from autograder.grading import child_client
from autograder.grading.budget import Budget
from autograder.grading.child_client import ChildClient, planned_call
from autograder.grading.inside import wire
from tests.grading.engines import SHORT, processes_of
from tests.grading.sessions import QUICK, call, check, own, session_of, solution, value

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]


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
        raised = call(session, "f", len, 1 << 17).raised
    assert raised.types[0] == "ValueError"
    assert "more than 32,768 bytes: use smaller ones" in raised.message


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
        assert session.skipped.endings == {1: "crashed"}
        assert value(session, "f") + value(session, "g") == 3


def test_cell_that_never_ends_is_left_out(sandbox):
    cells = own("while True: pass"), own("def f():\n    return 1"), check("f")
    with session_of(sandbox, *cells, budget=QUICK) as session:
        assert session.skipped.endings == {0: "timeout"}
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
        assert len(session.skipped.endings) == SHORT.deadly
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
        assert session.skipped.endings.keys() <= {0}


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
        before = sandbox._forked
        assert [call(session, "f").kind for _ in range(30)] == ["timeout"] * 30
        assert sandbox._forked - before == budget.timeouts - 1


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


def test_replies_that_have_been_read_outlive_the_child(sandbox, requests):
    text = "import os\ndef f(x):\n    return os._exit(1) if x == 9 else x"
    with session_of(sandbox, own(text), check("f")) as session:
        session.plan(plan(1, 2, 3))
        kinds = [call(session, "f", x).kind for x in (1, 9, 2, 3)]
    assert kinds == ["value", "crashed", "value", "value"]
    assert requests == [3, 1, 1]  # 9 is tried twice; 2 and 3 are not asked for again


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


def test_fresh_child_has_seen_no_hidden_input(sandbox):
    with session_of(sandbox, own(REMEMBERS), check("f")) as session:
        session.hidden = True
        assert value(session, "f", 1) == [1]
        session.forget()
        session.hidden = False
        before = sandbox._forked
        assert value(session, "f", 2) == [2]
        assert sandbox._forked == before


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


def test_hidden_input_leaves_no_cause_of_an_exception(sandbox):
    answer = solution("f", "def f(x):\n    return [1, 2][x]")
    with session_of(sandbox, answer, check("f")) as session:
        assert "beyond the end" in call(session, "f", 7).raised.cause
        session.hidden = True
        assert call(session, "f", 7).raised.cause == ""


# --- one exercise alone ----------------------------------------------------------


def test_alone_a_child_runs_nothing_below_the_check(sandbox):
    cells = (
        own("import os; os._exit(1)"),
        *(own("seen = []"), solution("f", "def f():\n    return seen"), check("f")),
        *(own("seen.append('below')\ndef g():\n    return 2"), check("g")),
    )
    with session_of(sandbox, *cells) as session:
        report = session.report
        assert value(session, "f") == ["below"]
        before = sandbox._forked
        with session.alone("f"):
            assert value(session, "f") == []
            assert "g" not in session.report.answers
            assert sandbox._forked == before + 1  # what ends it is known, and left out
        assert session.report == report
        assert session.skipped.endings == {0: "crashed"}
        assert (value(session, "f"), value(session, "g")) == (["below"], 2)
