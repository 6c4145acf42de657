"""``autograder judge``, in words, as an instructor meets it."""

import contextlib

import pytest

from autograder.commands import judge as judge_module
from autograder.course import Course
from autograder.grading import sandbox
from autograder.grading.identity import course_seed
from tests.grading.class_folder import (
    refusal,
)
from tests.submissions import LESSON, Submission


def test_judge_needs_lesson_of_a_notebook_that_names_none(root, call):
    path = root / "homework.ipynb"
    path.write_text("{}")
    message = refusal(call("judge", str(path)))
    assert "name it with --lesson" in message
    assert LESSON in message


def test_judge_with_unknown_lesson_is_one_sentence(root, call):
    assert "no lesson named" in refusal(call("judge", "x.ipynb", "--lesson", "77"))


@pytest.fixture
def judged(call, engine, monkeypatch):
    """Call ``judge`` with an engine that has been started already."""
    ready = contextlib.nullcontext(engine)
    monkeypatch.setattr(judge_module, "Engine", lambda *_, **__: ready)
    return lambda path: call("judge", str(path))


@pytest.fixture
def seeds(call, engine, monkeypatch):
    """Return the seeds with which calls of ``judge`` have started their engines."""
    started = []

    def start(*_, seed, **__):
        started.append(seed)
        return contextlib.nullcontext(engine)

    monkeypatch.setattr(judge_module, "Engine", start)
    return started


@pytest.mark.sandbox
def test_judge_draws_from_the_seed_of_the_course(root, call, seeds):
    path = Submission().write(root, "amara")
    call("judge", path)
    assert seeds == [course_seed(Course(root))]


@pytest.mark.sandbox
def test_judge_without_a_course_draws_anew_each_time(
    tmp_path, monkeypatch, call, seeds
):
    path = Submission().write(tmp_path, "amara")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        call("judge", path)
    assert len({*seeds}) == 2


@pytest.mark.sandbox
def test_judge_prints_why_a_notebook_gets_its_points(root, judged):
    submission = Submission()
    submission.answer(
        "softmax",
        "import torch\ndef softmax(x, axis=-1):\n"
        "    torch.softmax(torch.ones(2), -1)\n    return x",
    )
    submission.own("1 / 0")
    code, out, err = judged(submission.write(root, "amara"))
    assert (code, err) == (0, "")
    assert out.startswith(f"{LESSON}: ")
    assert "Cells: the cell `1 / 0` stopped with ZeroDivisionError" in out
    assert "[wrong]" in out
    assert "For your review: the answer calls torch.softmax" in out
    assert "Graded in " in out


@pytest.mark.sandbox
def test_judge_of_missing_file_and_of_folder_says_so(root, judged):
    path = root / "elsewhere" / f"{LESSON}.ipynb"
    for reason in ("There is no", "is a folder, not a file"):
        code, out, err = judged(path)
        assert (code, err) == (1, "")
        assert "Nothing could be graded: " in out
        assert reason in out
        path.mkdir(parents=True, exist_ok=True)


def test_missing_pytorch_is_no_missing_sandbox():
    sentence = sandbox.refusal(
        "Traceback …\nModuleNotFoundError: No module named 'torch'"
    )
    assert "[grade,torch]" in sentence and "namespaces" not in sentence
    assert "namespaces" in sandbox.refusal("bwrap: Creating new namespace failed")
