"""``autograder similar`` from submissions to the page, whatever was handed in."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands import similar
from autograder.commands.app import app
from autograder.course import Course, CourseError
from autograder.demo.sample_class import make_folder, sample_class
from autograder.similarity import answers, dolos
from tests.submissions import LESSON, Submission

ATTACK = '"><script>document.title=1</script>\u202e'
# Nothing that anybody else writes, with enough in it.
ODD = """
def softmax(x, axis=-1):
    rows = {key: value for key, value in enumerate(reversed(sorted(x.ravel())))}
    while len(rows) > 3 and not all(rows.values()):
        rows.popitem()
    try:
        return np.array([rows[each] ** each for each in rows if each % 2])
    finally:
        print(*rows, sep=str(axis), end="<b>&</b>")
"""
OTHER_ODD = ODD.replace("rows", "mine").replace("softmax", "attention")


@pytest.fixture
def root(tmp_path, monkeypatch):
    course = Course.here()
    shutil.copy(course.root / "nbgrader_config.py", tmp_path)
    shutil.copytree(course.learner(LESSON).parent, tmp_path / "notebooks" / LESSON)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hand_in(root, student, **texts):
    submission = Submission()
    for name, text in texts.items():
        submission.answer(name, text)
    return submission.write(root, student)


def call(*arguments):
    result = CliRunner().invoke(app, ["similar", *arguments])
    if isinstance(result.exception, CourseError):
        return 1, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def page(root, name=LESSON):
    return (root / "build" / "similar" / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("with_dolos")
def test_pair_stands_on_page_and_in_terminal(root):
    for number in range(6):
        hand_in(root, f"s{number}", attention=f"def attention(q, k, v):\n    {number}")
    hand_in(root, "amara", softmax=ODD, attention=OTHER_ODD)
    changed = {"softmax": ODD, "attention": OTHER_ODD.replace("mine", "yours")}
    hand_in(root, "bjarne", **changed)
    code, output = call("1", "--least", "0", "--limit", "1")
    assert code == 0
    assert "amara, bjarne" in output
    assert "Similar does not mean copied" in output
    text = page(root)
    assert "<bdi>amara</bdi> and <bdi>bjarne</bdi>" in text
    assert "<mark>" in text
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in text
    for word in ("plagiar", "cheat", "guilt", "suspic", "fraud"):
        assert word not in text.lower() + output.lower()


@pytest.mark.usefixtures("with_dolos")
def test_a_wrong_answer_in_common_puts_nobody_forward(tmp_path, monkeypatch):
    make_folder(Course.here(), tmp_path / "demo", sample_class())
    monkeypatch.chdir(tmp_path / "demo")
    code, output = call("01")
    assert code == 0
    assert "14 students, 91 pairs; 0 more similar" in output
    assert "There is no pair to show" in page(tmp_path / "demo")


@pytest.mark.usefixtures("with_dolos")
def test_anonymous_page_and_terminal_have_no_name(root):
    for student in ("amara", "bjarne"):
        hand_in(root, student, softmax=ODD)
    (hand_in(root, "pavel").parent / f"{LESSON}.ipynb").write_text("{")
    code, output = call("01", "--anonymous", "--least", "0")
    assert code == 0
    for name in ("amara", "bjarne", "pavel"):
        assert name not in page(root) + output
    assert "Student 1, Student 2" in output
    assert "Student 3" in output  # the one that cannot be read


@pytest.mark.usefixtures("with_dolos")
def test_hostile_submissions_stop_nothing(root):
    hand_in(root, "amara", softmax=ODD)
    hand_in(root, "bjarne", softmax=ODD)
    hand_in(root, "deep", softmax=f"x = {'(' * 10_000}{')' * 10_000}\n{ODD}")
    hand_in(root, "nested", softmax="\n".join(" " * n + "if x:" for n in range(3000)))
    hand_in(root, "halves", softmax=f"# \ud800\udfff \udfff\n{ODD}")
    hand_in(root, "no_python", softmax="%%bash\nls '''\n\x1b]0;title\x07 ?")
    hand_in(root, f"<i>{ATTACK[-20:].replace('/', '')}", softmax=f"{ODD}# {ATTACK}")
    hand_in(root, "two\nrows", softmax=ODD)
    hand_in(root, "huge", softmax="x = 1\n" * 1_400_000)
    many = Submission()
    many.notebook.cells += [many.own("x = 1") for _ in range(10_000)]
    many.write(root, "many")
    repeated = "x = x + 1\n" * 9_000
    hand_in(root, "long", softmax=repeated)
    hand_in(root, "longer", softmax=repeated + ODD)
    for student, raw in (("json", b'{"cells": ['), ("bytes", b"\xff\xfe\x00")):
        hand_in(root, student).write_bytes(raw)
    (root / "submitted" / "link").symlink_to(root / "submitted" / "amara")
    code, output = call("01", "--least", "0", "--limit", "100")
    assert code == 0
    assert "amara, bjarne" in output
    for student in ("huge", "many", "json", "bytes", "link"):
        assert f"{student}, {LESSON}: " in output
    assert f"longer, {LESSON}: Only the first" in output
    assert "\x1b" not in output
    assert "two⟨U+000A⟩rows" in output
    text = page(root)
    assert "<script" not in text
    assert "<i>" not in text
    assert "\u202e" not in text
    assert len(text) < 3_000_000


@pytest.mark.usefixtures("with_dolos")
def test_code_moved_into_another_cell_counts_for_its_exercise(root):
    hand_in(root, "amara", softmax=ODD, attention=OTHER_ODD)
    hand_in(root, "bjarne", softmax=f"{OTHER_ODD}\n{ODD}", attention="# above")
    read = answers.read_class(Course(root), [LESSON])
    names = {part.exercise for part in read.parts["bjarne"]}
    assert {"01 softmax", "01 attention"} <= names


def test_no_character_hides_code(root):
    hidden = f"x = 1  # \x1b]0;\n{ODD}"
    hand_in(root, "amara", softmax=hidden)
    hand_in(root, "bjarne", softmax=ODD)
    parts = answers.read_class(Course(root), [LESSON]).parts
    amara, bjarne = (parts[student][0] for student in ("amara", "bjarne"))
    assert ODD.strip() in amara.source
    assert len(amara.tokens) == len(bjarne.tokens) + 4


def test_nothing_of_the_release_is_a_student_s(root):
    path = root / "notebooks" / LESSON / f"{LESSON}.ipynb"
    folder = root / "submitted" / "untouched" / LESSON
    folder.mkdir(parents=True)
    shutil.copy(path, folder)
    hand_in(root, "amara", softmax=ODD)
    with pytest.raises(CourseError, match=r"1 of the submissions .* two are needed"):
        answers.read_class(Course(root), [LESSON])


def test_unknown_lesson_and_no_submission_are_one_sentence(root):
    assert "no lesson named '42'" in call("42")[1]
    assert f"nobody has submitted {LESSON}" in call("01")[1]
    hand_in(root, "amara")
    assert "two are needed" in call("01")[1]


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "there is no `node`: install it"),
        ("echo v16.20.2", "is 16: install a newer one"),
        ("echo nothing", "of no known version"),
    ],
)
def test_missing_node_is_said_in_one_sentence(
    root, tmp_path, monkeypatch, script, sentence
):
    programs = tmp_path / "programs"
    programs.mkdir()
    if script:
        (programs / "node").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    hand_in(root, "amara", softmax=ODD)
    hand_in(root, "bjarne", softmax=ODD)
    code, output = call("01")
    assert code == 1
    assert sentence in output
    assert "\n" not in output


def test_missing_dolos_says_how_to_install_it(root, monkeypatch):
    monkeypatch.setattr(dolos, "CORE", Path("not/there"))
    monkeypatch.setattr(dolos, "_version", lambda _: 20)
    monkeypatch.setattr(shutil, "which", lambda _: "/bin/node")
    with pytest.raises(CourseError, match="run `make similar` once"):
        dolos.shared_fingerprints([], [], 4)


@pytest.mark.usefixtures("with_dolos")
def test_time_and_memory_of_dolos_are_limited(monkeypatch):
    tokens = [[*range(5_000)] * 20] * 2
    monkeypatch.setattr(dolos, "SECONDS", 0.01)
    with pytest.raises(CourseError, match=r"took longer than 0\.01 s"):
        dolos.shared_fingerprints(tokens, [], 4)
    monkeypatch.setattr(dolos, "SECONDS", 60)
    small = tuple(each.replace("2048", "6") for each in dolos.OPTIONS)
    monkeypatch.setattr(dolos, "OPTIONS", small)
    with pytest.raises(CourseError, match="needed more than 2048 MB"):
        dolos.shared_fingerprints([[*range(300_000)]] * 2, [], 4)


def test_lock_file_pins_dolos_with_its_digest():
    lock = json.loads((dolos.FOLDER / "package-lock.json").read_text())
    wanted = json.loads((dolos.FOLDER / "package.json").read_text())["dependencies"]
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert [name.partition("/")[2] for name in packages] == [*wanted]
    for name, each in packages.items():
        assert each["version"] == wanted[name.partition("/")[2]]
        assert each["integrity"].startswith("sha512-")
        assert each["license"] == "MIT"


@pytest.mark.usefixtures("with_dolos")
def test_full_disk_is_said_and_the_earlier_page_stays(root, monkeypatch):
    hand_in(root, "amara", softmax=ODD)
    hand_in(root, "bjarne", softmax=ODD)
    assert call("01")[0] == 0
    before = page(root)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autograder.similarity.page.write_atomically", full)
    code, output = call("01", "--least", "0")
    assert code == 1
    assert "could not be written" in output
    assert "No space left" in output
    assert page(root) == before


def test_ctrl_c_writes_nothing_and_says_so(root, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    hand_in(root, "amara", softmax=ODD)
    hand_in(root, "bjarne", softmax=ODD)
    monkeypatch.setattr(dolos, "_node", interrupted)
    assert call("01") == (similar.INTERRUPTED, "Stopped: nothing is written.\n")
    assert not (root / "build").exists()
