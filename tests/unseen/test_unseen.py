"""Answers that were written blind are read and judged as their authors wrote them."""

import csv

import pytest

from tests.unseen import judged, read_answers
from tests.unseen.table import HERE, read_sets

TEXT = """\
# === wrong: the exponentials alone
# differs: any x; "sum to one"
def softmax(x, axis=-1):
    return np.exp(x)

# === right: by another formula
def softmax(x, axis=-1):
    powers = np.exp(x - np.max(x * 1.0, axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)

# === right: calls what the lesson has above it
def attention(q, k, v):
    return softmax(scaled_scores(q, k)) @ v
"""


def test_answers_are_read_with_what_their_authors_say(tmp_path):
    (tmp_path / "softmax.txt").write_text(TEXT)
    wrong, right, _ = read_answers(tmp_path)
    assert (wrong.exercise, wrong.number, wrong.right) == ("softmax", 1, False)
    assert (wrong.about, wrong.differs) == (
        "the exponentials alone",
        'any x; "sum to one"',
    )
    assert wrong.text == "def softmax(x, axis=-1):\n    return np.exp(x)\n"
    assert (right.right, right.differs) == (True, "")
    assert not judged(wrong).passed


def test_answers_may_call_what_the_lesson_has_above_them(tmp_path):
    (tmp_path / "attention.txt").write_text(TEXT[TEXT.rindex("# ===") :])
    (answer,) = read_answers(tmp_path)
    result = judged(answer)
    assert [case.status for case in result.cases if case.status == "raised"] == []


def test_file_without_answers_is_refused(tmp_path):
    (tmp_path / "softmax.txt").write_text("def softmax(x): ...")
    with pytest.raises(ValueError, match=r"softmax\.txt: no line begins with"):
        list(read_answers(tmp_path))


@pytest.mark.parametrize("name", read_sets(HERE))
def test_each_wrong_answer_has_one_verdict(name):
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    wrong = [
        (answer.exercise, f"{answer.number}")
        for answer in read_answers(HERE / name)
        if not answer.right
    ]
    assert [(row["exercise"], row["number"]) for row in rows] == wrong
    for row in rows:
        assert row["verdict"] in {"true", "vague", "false", "none", "accepted"}, row
        assert row["evidence"] in {"good", "poor"} or row["verdict"] == "accepted", row
