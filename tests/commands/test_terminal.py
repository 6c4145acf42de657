"""What the commands print of students' files does nothing to a terminal."""

import contextlib
import inspect
import io
import re
import sys
import unicodedata

import pytest

from autograder.commands import app as cli
from autograder.commands import grade as grade_module
from autograder.commands import gradebook, terminal
from autograder.commands import judge as judge_module
from autograder.course import Course
from autograder.gradebook.folders import autograded_path
from tests.grading import fake_workers
from tests.grading.engines import engine_of
from tests.grading.fake_workers import EVIL
from tests.submissions import COURSE, EXERCISES, LESSON, Submission

HARMFUL = {"Cc", "Zl", "Zp"}
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
LONGEST = terminal.MAX_LINE + 1


def assert_harmless(text):
    for line in text.replace("\t", " ").split("\n"):
        assert len(line) <= LONGEST
        for character in line:
            assert unicodedata.category(character) not in HARMFUL, repr(line)
            assert unicodedata.bidirectional(character) not in TURNING, repr(line)


@pytest.fixture
def call(call):
    """Call the command line; return all that it prints, which must be harmless."""

    def called(*arguments):
        _, out, err = call(*arguments)
        assert_harmless(out)
        assert_harmless(err)
        return out + err

    return called


@pytest.fixture
def graded(root, call, monkeypatch):
    """Grade a class whose names, texts and results are an attacker's."""
    fake_workers.replace_workers(monkeypatch)
    names = "amara", "evil", "fault-evil", f"x{EVIL}"
    for name in names:
        submission = Submission()
        submission.own(f"# {name!r}")
        submission.write(root, name.replace("/", ""))
    (root / "submitted" / "ben" / LESSON).mkdir(parents=True)
    evil = f"{EVIL}.ipynb".replace("/", "")
    for number in "12":
        (root / "submitted" / "ben" / LESSON / f"{number}{evil}").write_text("{}")
    return call("grade", "01")


def test_grade_prints_no_control_characters(graded, call):
    assert "evil " in graded
    assert "is not graded: the folder's name holds" in graded
    assert "ben " in graded
    assert "title" in call("grade", "01", "--anew")
    call("grade", "01", "--student", f"nobody{EVIL}")


def test_what_follows_grading_prints_no_control_characters(graded, root, call):
    damaged = autograded_path(Course(root), LESSON, "evil")
    damaged.chmod(0o644)
    damaged.write_text("{")
    assert "is damaged" in call("feedback", "01")
    for command in ("report", "export", "open"):
        assert "Written" in call(command, "01") or command == "open"
    call("feedback", "01", "--student", f"x{EVIL}")
    call("export", "01", "--to", "canvas")
    call("export", EVIL)


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE) as started:
        yield started


@pytest.mark.sandbox
def test_judge_prints_no_control_characters(root, call, engine, monkeypatch):
    ready = contextlib.nullcontext(engine)
    monkeypatch.setattr(judge_module, "Engine", lambda *_, **__: ready)
    submission = Submission()
    submission.own(f"# {EVIL}\nprint({EVIL!r})\nraise ValueError({EVIL!r})")
    submission.own(f"raise type({EVIL!r}, (Exception,), {{}})({EVIL!r})")
    texts = (
        f"raise ValueError({EVIL!r})",
        f"raise type('x' + {EVIL!r}, (Exception,), {{}})",
        f"return {EVIL!r}",
        f"return type({EVIL.replace(chr(0), '')!r}, (), {{}})()",
        f"return {{{EVIL!r}: 1}}",
        f"__import__('torch').softmax(given[0], -1)  # {EVIL!r} {EVIL}",
    )
    for name, text in zip(EXERCISES, texts, strict=False):
        submission.answer(name, f"def {name}(*given, **named):\n    {text}")
    submission.answer(
        EXERCISES[-1], f"{EXERCISES[-1]} = type({EVIL[1:]!r}, (), {{}})()"
    )
    path = submission.write(root, "amara")
    out = call("judge", str(path))
    assert out.startswith(LESSON)
    assert "title" in out
    call("judge", str(path.with_name(f"{EVIL}.ipynb".replace("/", ""))))
    submission.raw = f"{{{EVIL}".encode()
    call("judge", str(submission.write(root, "ben")))


@pytest.mark.parametrize("module", [cli, gradebook, grade_module])
def test_commands_about_a_class_print_through_the_terminal_only(module):
    assert not re.search(r"(?<!\w)print\(", inspect.getsource(module))


def test_long_lines_are_cut():
    assert len(terminal.harmless("x" * 10**6)) == LONGEST


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_output_in_an_old_code_page_is_spelled_out(monkeypatch, encoding):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    terminal.run(lambda: terminal.say("✓ softmax → −1 ≤ 語", flush=True))
    assert written.getvalue().decode(encoding).rstrip() == "[ok] softmax -> -1 <= ?"


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("resource", "Grading needs Linux, since it shuts submissions in"),
        ("nbgrader.apps", "pip install 'attention-course[grade]'"),
    ],
)
def test_what_a_machine_lacks_is_one_sentence(monkeypatch, capsys, module, sentence):
    def import_it():
        raise ModuleNotFoundError(name=module)

    with pytest.raises(SystemExit) as end:
        terminal.run(import_it)
    err = capsys.readouterr().err
    assert end.value.code == 1 and sentence in err and err.count("\n") == 1
    with pytest.raises(ModuleNotFoundError):
        terminal.run(lambda: exec("import no_such_module"))


def test_numbers_agree_with_their_nouns(root, call):
    assert "the grades of 0 students have changed" in call("drop", EXERCISES[0])
    (root / "one.csv").write_text("id\namara\n")
    assert call("roster", "one.csv").startswith("1 student in one.csv")
