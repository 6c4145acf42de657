"""The learner's cells run as in a notebook: magics, displays, and limits on output."""

import pytest

from autograder.grading.inside import shell
from tests.grading.sessions import call, check, inside, own, session_of

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]


def outputs_of(sandbox, text):
    """Return the outputs of one cell."""
    with session_of(sandbox, own(text)) as session:
        return session.report.outputs[0]


def text_of(outputs):
    return "".join(output.get("text", "") for output in outputs)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("%time x = 1", "x"),
        ("%%time\nx = 1", "x"),
        ("%%capture kept\nx = 1\nprint(2)", "x"),
        ("%matplotlib inline\nx = 1", "x"),
        ("x = 1\nx?", "x"),
        ("import asyncio\nawait asyncio.sleep(0)\nx = 1", "x"),
        ("x = 1;", "x"),
        ("!true\nx = 1", "x"),
        ("%load_ext autoreload\n%autoreload 2\nx = 1", "x"),
        ("%config InlineBackend.figure_format = 'svg'\nx = 1", "x"),
    ],
)
def test_cell_runs_as_in_a_notebook(sandbox, text, name):
    cells = own(text), own(f"def f():\n    return {name}"), check("f")
    with session_of(sandbox, *cells) as session:
        assert session.report.troubles == {}
        assert call(session, "f").value == 1


def test_prints_are_recorded_in_order_and_by_stream(sandbox):
    text = """
    import sys
    print("one")
    print("two", file=sys.stderr)
    print("three")
    """
    assert outputs_of(sandbox, text) == [
        {"name": "stdout", "text": "one\n"},
        {"name": "stderr", "text": "two\n"},
        {"name": "stdout", "text": "three\n"},
    ]


def test_last_expression_and_displays_are_recorded_as_text(sandbox):
    text = "from IPython.display import display, Math\ndisplay(Math('x^2'))\n[1, 2]"
    math, last = outputs_of(sandbox, text)
    assert math["data"]["text/latex"] == r"$\displaystyle x^2$"
    assert last == {"data": {"text/plain": "[1, 2]"}}


def test_figure_is_recorded_as_png(sandbox):
    (figure,) = outputs_of(
        sandbox, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    )
    assert figure["data"]["image/png"].startswith("iVBOR")
    assert {*figure["data"]} <= {*shell.MIME_TYPES}


def test_active_content_is_not_recorded(sandbox):
    text = """
    from IPython.display import HTML, Javascript, SVG, display
    display(HTML("<script>alert(1)</script>"))
    display(Javascript("alert(1)"))
    display(SVG("<svg xmlns='http://www.w3.org/2000/svg'/>"))
    display({"text/html": "<b>", "application/json": "{}", "text/plain": "x"}, raw=True)
    """
    for output in outputs_of(sandbox, text):
        assert {*output["data"]} <= {*shell.MIME_TYPES}


def test_long_output_is_cut(sandbox):
    (output,) = outputs_of(sandbox, "for _ in range(100):\n    print('x' * 100_000)")
    assert len(output["text"]) == shell.MAX_TEXT_LENGTH
    assert output["cut"] is True


def test_256_mib_on_one_line_are_cut_and_the_answer_counts(sandbox):
    cells = (
        own("for _ in range(16):\n    print('x' * (1 << 24), end='')"),
        own("def f():\n    return 1"),
        check("f"),
    )
    with session_of(sandbox, *cells) as session:
        assert len(text_of(session.report.outputs[0])) == shell.MAX_TEXT_LENGTH
        assert call(session, "f").value == 1


def test_number_of_outputs_of_a_cell_is_limited(sandbox):
    text = """
    import sys
    for place in range(100):
        print(place)
        display(place)
        print(place, file=sys.stderr)
    """
    assert len(outputs_of(sandbox, text)) == shell.MAX_OUTPUTS


def test_too_long_a_display_is_dropped_and_the_cell_goes_on(sandbox):
    outputs = outputs_of(sandbox, "display('x' * 1_000_000)\nprint('after')")
    assert outputs == [{"data": {}}, {"name": "stdout", "text": "after\n"}]


def test_outputs_of_many_cells_do_not_cost_the_answer(sandbox):
    many = [own("print('y' * 100_000)\n'z' * 9_000")] * 150
    with session_of(sandbox, *many, own("def f():\n    return 1"), check("f")) as one:
        assert call(one, "f").value == 1


def test_pictures_of_many_cells_do_not_cost_the_answer(sandbox):
    picture = "display({'image/png': 'A' * 399_000, 'text/plain': ''}, raw=True)"
    many = [own("\n".join([picture] * 18))] * 3
    with session_of(sandbox, *many, own("def f():\n    return 1"), check("f")) as one:
        assert call(one, "f").value == 1


def test_traceback_is_no_output(sandbox):
    assert outputs_of(sandbox, "1 / 0") == []
    assert outputs_of(sandbox, "def f(:") == []


def test_input_raises_and_the_debugger_does_not_block(sandbox):
    cells = own("input()"), own("breakpoint()"), own("x = 1")
    with session_of(sandbox, *cells) as session:
        assert session.report.troubles[0].types[0] == "EOFError"
        assert "nobody to answer" in session.report.troubles[0].message
        assert session.skipped.endings == {}


@pytest.mark.parametrize("text", ["quit()", "exit", "exit()", "import sys; sys.exit()"])
def test_exit_ends_its_cell_only(sandbox, text):
    cells = own(f"{text}\nx = 1"), own("def f():\n    return 2"), check("f")
    with session_of(sandbox, *cells) as session:
        assert session.skipped.endings == {}
        assert call(session, "f").value == 2


@pytest.mark.parametrize(
    "text",
    [
        "await asyncio.sleep(1)",
        "asyncio.get_running_loop().stop()\nawait asyncio.sleep(1)",
        "asyncio.set_event_loop(None)",
    ],
)
def test_task_that_exits_ends_its_cell_only(sandbox, text):
    tasks = "import asyncio, sys\nasync def exits():\n    sys.exit()\n"
    tasks += f"asyncio.create_task(exits())\n{text}"
    after = "import asyncio\nawait asyncio.sleep(0)\ndef f():\n    return 2"
    with session_of(sandbox, own(tasks), own(after), check("f")) as session:
        assert session.skipped.endings == {}
        assert call(session, "f").value == 2


def test_what_one_submission_stores_no_other_finds(sandbox):
    with session_of(sandbox, own("x = 1\n%store x")) as session:
        assert session.report.troubles == {}
    text = "%store -r\nf = lambda: 'x' in globals()"
    with session_of(sandbox, own(text), check("f")) as session:
        assert call(session, "f").value is False


def test_exception_that_cannot_be_printed_ends_its_cell_only(sandbox):
    text = """
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError
        __repr__ = __str__
    raise Silent
    """
    cells = own(text), own("def f():\n    return 2"), check("f")
    with session_of(sandbox, *cells) as session:
        assert session.report.troubles[0].types[0] == "Silent"
        assert call(session, "f").value == 2


def test_replaced_streams_are_restored(sandbox):
    cells = own("import sys\nsys.stdout = sys.stderr = None"), own("print('here')")
    with session_of(sandbox, *cells) as session:
        assert session.report.outputs[1] == [{"name": "stdout", "text": "here\n"}]


def test_shell_has_no_history_and_no_thread(sandbox):
    state = inside(
        sandbox,
        """
        import threading
        history = get_ipython().history_manager
        return threading.active_count(), history.enabled, "Out" in globals() and Out
        """,
    )
    assert state == (1, False, {})


def test_warming_up_leaves_no_names(sandbox):
    state = inside(
        sandbox,
        """
        import matplotlib.pyplot as plt
        ours = [n for n in globals() if n in ("_p", "_f", "asyncio", "ZeroDivision")]
        return ours, plt.get_fignums(), get_ipython().execution_count
        """,
    )
    assert state == ([], [], 1)


def test_module_written_by_a_cell_can_be_imported(sandbox):
    cells = (
        own("%%writefile mine.py\nvalue = 3"),
        own("import mine\ndef f():\n    return mine.value"),
        check("f"),
    )
    with session_of(sandbox, *cells) as session:
        assert call(session, "f").value == 3
