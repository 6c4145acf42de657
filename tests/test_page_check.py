"""``book.in_page.check``: texts of answers in, reports out, with NumPy alone."""

import json
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from autograder.book.in_page import check as page_check
from autograder.book.in_page.check import check_json, check_text, run_within
from autograder.checking.registry import load
from autograder.checking.time_limit import TimeLimitExceeded, has_alarms
from course_lib.attention import softmax

RIGHT = """def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
COLUMNS = """def softmax(x, axis=0):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
USES_SOFTMAX = """def attention(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return weights @ v, weights
"""
STUB = "def softmax(x, axis=-1):\n    raise NotImplementedError\n"
ATTACK = "<img src=x onerror=alert(1)><script>alert(2)</script>"
ALLOWED = {"div", "strong", "p", "ul", "li", "span", "code", "details", "summary"}
MONITORED = pytest.mark.skipif(sys.version_info < (3, 12), reason="no sys.monitoring")


class Tags(HTMLParser):
    """The tags and attributes of a text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(autouse=True)
def first_visit():
    """Forget earlier attempts."""
    page_check._failed.clear()


def test_right_answer_is_solved_with_what_it_makes_possible():
    report = check_text("softmax", RIGHT)
    assert report["kind"] == "report" and report["solved"]
    assert report["data"]["solved"] and report["data"]["judged"] == RIGHT
    assert report["headline"].startswith("softmax: solved, all")
    assert "attention-possible" in report["html"]


def test_claims_are_the_visible_ones():
    cases = check_text("softmax", COLUMNS)["data"]["cases"]
    visible = [case.name for case in load("softmax").cases if case.visible]
    assert [*cases] == visible and len(visible) < len(load("softmax").cases)


def test_wrong_answer_gets_its_misconception():
    report = check_text("softmax", COLUMNS)
    assert not report["solved"]
    diagnosis = report["data"]["diagnosis"]
    bank = {each.name: each for each in load("softmax").misconceptions}
    assert bank[diagnosis].diagnosis in report["text"]
    assert report["headline"] in report["html"]


def test_report_crosses_as_json():
    request = {"name": "softmax", "text": RIGHT, "earlier": {}, "imports": []}
    assert json.loads(check_json(json.dumps(request))) == check_text("softmax", RIGHT)


def test_words_fit_a_page_without_cells():
    text = check_text("softmax", STUB)["text"]
    assert "raise NotImplementedError" in text and "check again" in text
    for wrong in (STUB, COLUMNS, "def softmax(x):\n    return x", "1 / 0", "x = 1"):
        assert " cell" not in check_text("softmax", wrong)["text"]


def test_way_on_is_offered_after_two_different_attempts():
    offer = "Use the course's version"
    assert offer not in check_text("softmax", COLUMNS)["text"]
    assert offer not in check_text("softmax", COLUMNS)["text"]
    assert offer in check_text("softmax", COLUMNS + "\n")["text"]


def test_course_version_is_no_solution():
    report = check_text("softmax", "from course_lib.attention import softmax")
    assert report["kind"] == "course version" and not report["solved"]


def test_uses_are_the_own_answers_else_the_course_versions():
    assert check_text("attention", USES_SOFTMAX)["solved"]
    own = check_text("attention", USES_SOFTMAX, {"softmax": COLUMNS})
    assert own["solved"] and own["data"]["blamed"] == ["softmax"]
    assert "Your own `softmax` is what failed" in own["text"]
    for broken in ("1 / 0", "softmax = 3", "def softmax(", "", "raise SystemExit"):
        report = check_text("attention", USES_SOFTMAX, {"softmax": broken})
        assert report["solved"] and report["data"]["blamed"] == []


def test_own_answers_may_call_own_earlier_ones():
    assert load("encode_bytes").uses == ("encode_word",)
    assert load("encode_word").uses == ("merge_pair",)
    earlier = {
        "encode_word": "def encode_word():\n    return merge_pair()",
        "merge_pair": "def merge_pair():\n    return 'my own'",
    }
    report = check_text("encode_bytes", "print(encode_word())", earlier)
    assert report["printed"] == "my own\n"


def test_imports_above_the_exercise_are_there_if_they_can_be():
    imports = ["from itertools import pairwise", "import no_such_module", "1 +"]
    text = f"print([*pairwise('ab')], math.pi)\n{RIGHT}"
    report = check_text("softmax", text, imports=imports)
    assert report["solved"] and report["printed"].startswith("[('a', 'b')] 3.14")


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("y = 1", "Your text defines no `softmax`"),
        ("softmax = 3", "is the number 3"),
        ("class softmax: pass", "is a class"),
        ("def softmax(x:", "SyntaxError"),
        ("def f():\n    1 / 0\nf()", "ZeroDivisionError: division by zero"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def f(): f()\nf()", "RecursionError"),
        ("input('?')", "softmax: your text stopped"),
    ],
)
def test_what_is_no_answer_is_said_in_a_sentence(text, sentence):
    report = check_text("softmax", text)
    assert report["kind"] == "error" and not report["solved"]
    assert sentence in report["text"]
    assert "autograder/" not in report["text"]
    assert len(report["text"]) < page_check.MAX_ERROR + 500


def test_name_that_the_text_does_not_define_is_missing():
    imports = ["from course_lib.attention import softmax"]
    earlier = {"scaled_scores": RIGHT}  # it defines another name than its own
    for name, above in (("softmax", {"imports": imports}), ("attention", {})):
        missing = check_text(name, "x = 1")
        assert missing["kind"] == "error"
        assert check_text(name, "x = 1", earlier, **above) == missing


def test_unknown_exercise_is_a_sentence():
    report = check_text("no_such_exercise", RIGHT)
    assert report["kind"] == "error" and "cannot be checked here" in report["text"]


def test_error_that_cannot_print_itself_is_named():
    text = "class Odd(Exception):\n    def __str__(self):\n        raise SystemExit\n"
    assert "Odd" in check_text("softmax", f"{text}raise Odd")["text"]


@pytest.mark.parametrize(
    "text",
    [
        f"raise ValueError({ATTACK!r})",
        f"def softmax(x, axis=-1):\n    return {ATTACK!r}",
        f"def softmax(x, axis=-1):\n    raise ValueError({ATTACK!r})",
        f"softmax = {ATTACK!r}",
        f"def softmax(x, axis=-1):\n    return {{{ATTACK!r}: [{ATTACK!r}]}}",
        f"class softmax(metaclass=type({ATTACK!r}, (type,), {{}})): pass",
        f"def softmax(:  # {ATTACK}",
        f"softmax = type({ATTACK!r}, (), {{}})()",
    ],
)
def test_answer_never_becomes_html(text):
    report = check_text("softmax", text)
    parts = Tags(report["html"])
    assert parts.tags <= ALLOWED | {"pre"}
    assert parts.attributes <= {"role", "aria-label", "style", "class", "open"}


def test_name_of_an_exercise_never_becomes_html():
    assert Tags(check_text(ATTACK, RIGHT)["html"]).tags <= ALLOWED


def test_million_printed_lines_are_bounded():
    text = f"for i in range(1_000_000):\n    print(i)\n{RIGHT}"
    report = check_text("softmax", text)
    assert report["solved"] and report["printed"].startswith("0\n1\n2\n")
    assert len(report["printed"]) < page_check.MAX_PRINTED + 100
    assert "6,878,890 more characters were printed." in report["printed"]
    loud = "    print('x' * 1_000_000)\n"
    inside = RIGHT.replace("\n", f"\n{loud}", 1)
    assert check_text("softmax", inside)["solved"]


def test_endless_text_is_ended(monkeypatch):
    monkeypatch.setattr(page_check, "CELL_SECONDS", 0.2)
    report = check_text("softmax", "while True:\n    pass")
    assert "stopped after 0.2 seconds" in report["text"]


@MONITORED
@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        f = 1\n    except Exception:\n        pass",
        "def f(n):\n    return f(n - 1) + f(n - 2) if n > 1 else 1\nf(60)",
        "sum(1 for _ in iter(int, 1))",
    ],
)
def test_loop_is_ended_where_there_are_no_alarms(monkeypatch, text):
    monkeypatch.setattr(page_check, "has_alarms", lambda: False)
    monkeypatch.setattr(page_check, "CELL_SECONDS", 0.2)
    assert "stopped after" in check_text("softmax", text)["text"]


@MONITORED
def test_limit_leaves_no_trace():
    def loop():
        while True:
            pass

    for _ in range(2):
        with pytest.raises(TimeLimitExceeded):
            run_within(0.05, loop)
    tool = page_check.MONITORING_TOOL
    assert sys.monitoring.get_tool(tool) is None
    assert run_within(1.0, lambda: divmod(7, 2)) == (3, 1)


def test_verdicts_are_the_same_where_there_are_no_alarms(monkeypatch):
    assert has_alarms()
    before = [check_text("softmax", text) for text in (RIGHT, COLUMNS)]
    page_check._failed.clear()
    monkeypatch.setattr(page_check, "has_alarms", lambda: False)
    assert [check_text("softmax", text) for text in (RIGHT, COLUMNS)] == before


def test_used_up_time_is_reported_without_alarms(monkeypatch):
    def end_at_once(seconds, function):
        limits.append(seconds)
        raise TimeLimitExceeded

    limits = []
    monkeypatch.setattr(page_check, "has_alarms", lambda: False)
    monkeypatch.setattr(page_check, "run_within", end_at_once)
    limited = page_check.page_runner_factory(lambda x: x)(())
    assert [limited((1,), {}).kind for _ in range(3)] == ["timeout"] * 3
    assert limits == [5.0, 0.5, 0.5]


@pytest.mark.parametrize("alarms", [True, False])
def test_keywords_of_an_answer_may_have_any_name(monkeypatch, alarms):
    monkeypatch.setattr(page_check, "has_alarms", lambda: alarms)
    call = page_check.page_runner_factory(lambda function, seconds: function - seconds)
    assert call(())((), {"function": 3, "seconds": 2}).value == 1


def test_preparing_leaves_nothing_of_a_reader():
    page_check._failed.clear()
    assert page_check.prepare("softmax") is None
    assert not page_check._failed
    page_check.prepare("no such exercise")


def test_first_check_loads_no_masked_arrays():
    # Their module takes longer to load in a page than the check itself.
    text = "def softmax(x, axis=-1):\n    return np.exp(x)"
    code = (
        "import sys; from autograder.book.in_page.check import check_text; "
        f"assert check_text('softmax', {text!r})['kind'] == 'report'; "
        "sys.exit('numpy.ma' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_masked_array_is_refused_all_the_same():
    with pytest.raises(TypeError, match="its mask would be ignored"):
        softmax(np.ma.masked_array([1.0, 2.0], [True, False]))


def test_text_that_is_not_python_is_named_by_line_and_slip():
    report = check_text("softmax", "def softmax(x)\n    return x")
    headline = "softmax: Python cannot read line 1, so nothing was checked"
    assert report["headline"] == headline
    assert "A colon is missing" in report["text"] and "A colon" in report["html"]


@pytest.mark.parametrize("text", ["y = x1", "def softmax(x, axis=-1):\n    return x1"])
def test_name_that_is_nowhere_gets_a_sentence_on_what_is(text):
    assert "`x1` is not there" in check_text("softmax", text)["text"]
