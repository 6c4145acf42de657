"""Selection: what runs, and which demonstrations it takes along."""

import builtins

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.grading.inside.selection import chosen_cells, names_of
from autograder.grading.rebuild import rebuild
from autograder.grading.release import load_release
from tests.submissions import COURSE, LESSON

STUB = 'def f(x):\n    """Say what."""\n    raise NotImplementedError  # replace this'


def run(*cells: str) -> list[str]:
    """Return the texts of the chosen cells, each cell written as "role: text"."""
    pairs = [(cell.split(": ", 1)[0], cell.split(": ", 1)[1]) for cell in cells]
    return [pairs[i][1] for i in chosen_cells(pairs)]


def demos(*cells: str) -> list[str]:
    """Return the demonstrations that were chosen."""
    demonstrations = [
        cell.removeprefix("demo: ") for cell in cells if cell.startswith("demo")
    ]
    return [text for text in run(*cells) if text in demonstrations]


def test_setup_answers_and_own_cells_run_and_nothing_else() -> None:
    cells = ["setup: import a", "demo: d = 1", "solution: f = 2", "check: check(f)"]
    assert run(*cells, "own: 1 + 1") == ["import a", "f = 2", "1 + 1"]


def test_unchanged_lesson_needs_no_demonstration() -> None:
    release = load_release(COURSE, LESSON)
    cells = [cell for cell in rebuild(release, []).cells if cell.is_code]
    ran = {cells[i].role for i in chosen_cells([(c.role, c.source) for c in cells])}
    assert ran == {"setup", "solution"}


@pytest.mark.parametrize("text", ["", "\n \n", "# a note", "\t# only\n\n# comments"])
def test_cells_without_code_do_not_run(text: str) -> None:
    assert run(f"own: {text}", "own: 1") == ["1"]


@pytest.mark.parametrize(
    "text",
    [
        "print(w)",
        "def f(x):\n    return x * w",
        "def f(x, y=w): ...",
        "def f(x: w): ...",
        "def f(x) -> w: ...",
        "@w\ndef f(x): ...",
        "f = lambda x: x * w",
        "f = lambda x=w: x",
        "class A(w): ...",
        "class A:\n    x = w",
        "class A:\n    w = 1\n    def f(self):\n        return w",
        "def f():\n    def g():\n        return w\n    return g",
        "async def f():\n    await w",
        "[x * w for x in y]",
        "[w for x in y]",
        "[x for x in w]",
        "{x: y for x, y in w.items()}",
        "w += 1",
        "w[0] = 1",
        "w.rows = 1",
        "w.append(1)",
        "del w",
        "x = f'{w}'",
        "for x in w: ...",
        "with w as x: ...",
        "try:\n    w\nexcept NameError:\n    w = 1",
        "x = w\nw = 1",
        "match w:\n    case 1: ...",
        "y: w = 1",
        "global w\nprint(w)",
        "def f():\n    global w\n    return w",
        "def f():\n    w.cache[0] = 1",
        "def f():\n    w[0] += 1",
        "eval('w + 1')",
        "exec('print(w)')",
        "globals()['w']",
        "globals().get('w')",
        "%time print(w)",
        "%timeit -n1 -r1 print(w)",
        "%%time\nprint(w)",
        "%%timeit -n 1\nprint(w)",
        "%%capture printed\nprint(w)",
        "!echo {w}",
        "files = !ls $w",
        "w?",
        "    w  # indented",
        ">>> print(w)",
        "await w",
        "return w",
        "w ==",
        "x = (y := w)",
        "for w in w: ...",
        "def f():\n    global w\n    w += 1",
        "[(w := w + x) for x in (1, 2)]",
    ],
)
def test_demonstration_runs_if_its_name_is_needed(text: str) -> None:
    assert demos("demo: other = 1", "demo: w = 2", f"own: {text}") == ["w = 2"]


@pytest.mark.parametrize(
    "text",
    [
        "w = 1\nprint(w)",
        "w: int = 1\nprint(w)",
        "import w",
        "import w.inner as other, w\nw.f()",
        "import w.inner\nw.inner.f()",
        "from a import b as w\nw()",
        "for w in (1, 2): print(w)",
        "with open('x') as w: w.read()",
        "with a as (b, [c, *w]): w",
        "(w := 1) + w",
        "[(w := x) for x in (1, 2)]\nw",
        "try: ...\nexcept E as w: print(w)",
        "match 1:\n    case [w, *rest]: w",
        "match 1:\n    case {'a': 1, **w}: w",
        "match 1:\n    case [1, *w]: w",
        "def w(): ...\nw()",
        "class w: ...\nw()",
        "def f(w): return w",
        "def f(*w): return w",
        "def f(**w): return w",
        "def f(*, w=1): return w",
        "def f(w, /): return w",
        "lambda w: w",
        "def f():\n    w = 1\n    return w",
        "def f():\n    for w in (1,): print(w)",
        "def f():\n    w += 1",
        "def f():\n    w = 1\n    def g(): return w\n    return g",
        "def f(): return w\nw = 1",
        "def f():\n    global w\n    w = 1\nprint(1)",
        "[w for w in (1, 2)]",
        "{w: w for w in (1, 2)}",
        "x.w",
        "f(w=1)",
        "'w'",
        "# w",
        "%%time\nw = 1\nprint(w)",
        "%time w = 1\nw",
        "%timeit -n1 -r1 [w for w in (1, 2)]",
        "%%bash\necho w",
        "%%writefile rows.py\nw",
        "from numpy import *",
        "class A:\n    w = 1\n    x = w",
    ],
)
def test_name_that_a_cell_binds_itself_needs_no_demonstration(text: str) -> None:
    TransformerManager().transform_cell(text)  # each text is a cell that IPython takes
    assert demos("demo: w = 2", f"own: {text}") == []


def test_demonstration_that_another_one_needs_runs() -> None:
    cells = ["demo: a = 1", "demo: unused = a", "demo: b = a", "demo: c = g(b)"]
    assert demos(*cells, "own: c") == ["a = 1", "b = a", "c = g(b)"]


def test_demonstration_runs_after_the_one_that_it_changes() -> None:
    changes = ["n += 1", "n[0] = 1", "n.append(2)", "n = n + [1]"]
    for change in changes:
        cells = ["demo: n = [0]", f"demo: {change}"]
        assert demos(*cells, "own: n") == ["n = [0]", change]


def test_replaced_demonstration_does_not_run() -> None:
    assert demos("demo: n = 1", "demo: n = 2", "own: n") == ["n = 2"]


def test_last_demonstration_above_is_preferred() -> None:
    cells = ["demo: n = 1", "demo: n = 2", "own: n", "demo: n = 3"]
    assert demos(*cells) == ["n = 2"]


def test_demonstration_below_runs_only_if_none_is_above() -> None:
    assert demos("own: n", "demo: n = 1", "demo: n = 2") == ["n = 1"]
    assert demos("own: n", "demo: n = 1", "own: n = 2") == []


def test_cell_that_needs_what_it_binds_gets_it_elsewhere() -> None:
    assert demos("own: n = n + 1", "demo: n = 1") == ["n = 1"]


def test_function_that_binds_a_global_counts_as_its_binder() -> None:
    cell = "def f():\n    global n\n    n = 2\nf()"
    assert demos("demo: n = 1", f"own: {cell}", "own: n") == []


def test_star_import_binds_no_known_name() -> None:
    assert names_of("from numpy import *").binds == frozenset()


def test_invalid_escapes_are_read_without_a_warning() -> None:
    assert names_of("n = '\\d'").binds == {"n"}


@pytest.mark.parametrize("text", ["n = 1  # long\n" * 30_000, "%time n = 1\n" * 90])
def test_of_too_long_a_text_only_the_words_are_read(text: str) -> None:
    names = names_of(text)
    assert names.binds == frozenset() and "n" in names.needs


def test_own_cell_above_is_preferred_to_a_demonstration() -> None:
    assert demos("demo: n = 1", "own: n = 2", "own: n") == []
    assert demos("own: n = 2", "demo: n = 1", "own: n") == ["n = 1"]


def test_names_of_setup_and_answers_need_no_demonstration() -> None:
    cells = ["setup: import np", "demo: f = 1", "solution: def f(): ..."]
    assert demos(*cells, "own: f(np)") == []


def test_builtin_names_need_no_demonstration() -> None:
    assert "sum" in dir(builtins)
    assert demos("demo: sum = 1", "own: sum([1])") == []


def test_check_neither_needs_nor_binds_names() -> None:
    assert demos("demo: f = 1", "check: check(f)") == []
    assert demos("demo: f = 1", "check: f = 2", "own: f") == ["f = 1"]


def test_stub_below_the_answer_does_not_run() -> None:
    answer = "def f(x):\n    return x"
    assert run(f"own: {answer}", f"solution: {STUB}") == [answer]
    assert run("own: f = 1\ng = 2", f"solution: {STUB}", "own: f") == [
        "f = 1\ng = 2",
        "f",
    ]


@pytest.mark.parametrize(
    "stub",
    ["def f(x):\n    raise NotImplementedError('not yet')", f"{STUB}\n\n# my thoughts"],
)
def test_stub_is_recognised_in_other_forms(stub: str) -> None:
    assert run("own: f = 1", f"solution: {stub}") == ["f = 1"]


@pytest.mark.parametrize(
    "cells",
    [
        [f"solution: {STUB}", "own: f = 1"],
        [f"own: {STUB}\n", f"solution: {STUB}"],
        ["demo: f = 1", f"solution: {STUB}"],
        ["own: f = 1", f"solution: {STUB}\nx = 1"],
        ["own: f = 1", "solution: def f(x):\n    return x"],
        ["own: f = 1", f"own: {STUB}"],
        ["own: f = 1", f"solution: {STUB.replace('def f', 'def g')}"],
    ],
)
def test_only_a_stub_that_hides_an_answer_is_skipped(cells: list[str]) -> None:
    wanted = [c.split(": ", 1)[1] for c in cells if not c.startswith("demo")]
    assert run(*cells) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "-" * 100_000 + "1",
        "x" + ".a" * 100_000,
        "+".join(["x"] * 50_000),
        "[x for x in " * 60 + "y" + "]" * 60,
        "x = '\0'",
        "'\\d'",
        "x is 1",
        "\ufeffx",
        "%%time\n" * 300,
        "%x\n" * 5000,
        "x\n" * 500_000,
        "'''",
        "f'{",
        "\\",
        "%",
        "!",
        "?",
        "%%",
        "\x0c\x0b\x1c",
        "٣ = 1",
    ],
)
def test_no_text_breaks_the_selection(text: str) -> None:
    names_of(text)
    assert chosen_cells([("own", text), ("own", "kept"), ("solution", text)])[-1] in (
        1,
        2,
    )


def test_same_cells_give_the_same_choice_in_order() -> None:
    cells = [("demo", f"n{i} = n{i + 1}, m{i}") for i in range(50)]
    cells += [("demo", f"m{i} = 1") for i in range(50)] + [("own", "n0")]
    assert chosen_cells(cells) == list(range(101))
