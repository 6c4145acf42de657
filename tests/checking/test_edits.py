"""Misconceptions as edits of a right answer, and what the loader refuses."""

import re

import numpy as np
import pytest

from autograder.checking.edits import Edited, EditError, read_entries
from autograder.checking.exercise import Exercise, together


def mean(x, weights=None):
    """Return the mean."""
    total = 0.0
    for value in x:
        total = total + value
    if weights is None:
        return total / len(x)
    return total / sum(weights)


CODE = Edited(mean)


@pytest.mark.parametrize(
    ("edits", "result"),
    [
        (["0.0 -> 1.0"], 10 / 3),  # a part of a line
        (["total = total + value -> total = total + 2 * value"], 6.0),  # a line
        (["total / => total *"], 27.0),
        (["x[0] = 5.0"], 13 / 3),  # a statement that has no like comes first
        (["for value in x:\n    total = … -> total = sum(x[1:])"], 8 / 3),
        (["for value in x: ->\n    for value in 2 * x:"], 6.0),
        (["if weights …\n    return … ->", "sum(weights) -> sum([6, 3])"], 1.0),
        (["weights=None -> weights=(6,)", "weights is None -> False"], 1.5),
    ],
)
def test_edit_changes_what_it_says(edits, result):
    assert CODE.function(CODE.read(edits))([1.0, 3.0, 5.0]) == pytest.approx(result)
    assert mean([1.0, 3.0, 5.0]) == 3.0


def test_code_without_edits_is_the_function():
    assert CODE.function(())([2.0, 4.0]) == 3.0
    assert '"""' not in CODE.code


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ("median -> mean", "mean has no 'median'"),
        ("total -> sum", "'total' 5 times: say more of its line, or =>"),
        ("0.0 => 1.0", "'0.0' once: say ->"),
        ("return 0", "2 statements like 'return 0'"),
        ("0.0 -> 0.0", "mean stays as it is"),
        ("total plus value", "neither old -> new, with a space on each side"),
        ("total->sum", "neither old -> new, with a space on each side of the arrow"),
        ("return sum((x)", "nor one statement ('(' was never closed)"),
        ("a = 1\nb = 2", "nor one statement"),
        ("total = ... -> total = 1", "one character, …); its code is\ndef mean("),
        ("for value in x:\n  return … -> pass", "mean has no"),
    ],
)
def test_edit_that_cannot_be_made_says_why(edit, reason):
    with pytest.raises(EditError) as raised:
        CODE.read([edit])
    assert reason in str(raised.value)


def test_two_edits_of_the_same_text_are_refused():
    reason = "two edits of mean change the same text, '0.0': write them as one"
    for other in ("0.0 -> 1.0", "total = 0.0 ->"):
        with pytest.raises(EditError, match=reason):
            CODE.read(["0.0 -> 2.0", other])


def test_code_that_is_no_python_says_so():
    with pytest.raises(EditError, match=r"is no Python .*:\ndef mean"):
        CODE.function(CODE.read(["0.0 -> ("]))


def test_several_rows_in_place_of_a_part_of_one_are_explained():
    edit = "0.0 ->\n    1.0\n    total = 2.0"
    with pytest.raises(EditError, match=r"'0\.0' is a part of a row, so what replaces"):
        CODE.function(CODE.read([edit]))
    with pytest.raises(EditError, match=r"was never closed\):"):
        CODE.function(CODE.read(["0.0 -> ("]))


def test_misconceptions_that_change_different_text_go_together():
    one, other = CODE.read(["0.0 -> 1.0"]), CODE.read(["len(x) -> 2"])
    both = CODE.joined(one, other)
    assert CODE.function(both)([2.0, 4.0]) == 3.5
    assert CODE.joined(one, CODE.read(["0.0 -> 2.0"])) is None
    assert CODE.joined(one, ()) == one


def test_misconceptions_that_share_an_edit_do_not_go_together():
    one = CODE.read(["0.0 -> 1.0"])
    with_one = CODE.read(["0.0 -> 1.0", "len(x) -> 2"])
    assert CODE.joined(one, one) is CODE.joined(one, with_one) is None


TEXT = """
starts_at_one: 0.0 -> 1.0
  Your mean begins
    at 1.
  ? What is the sum of nothing?
  # A product begins at 1.
counts_two:
  | len(x) ->
  :     2
  | 0.0 -> 2.0 - 2.0
  Your mean is half of the sum.
"""


def test_entries_keep_what_is_left_out():
    one, other = read_entries(TEXT)
    assert one == (
        "starts_at_one",
        ("0.0 -> 1.0",),
        "Your mean begins at 1.",
        "What is the sum of nothing?",
        "A product begins at 1.",
    )
    assert other.edits == ("len(x) ->\n    2", "0.0 -> 2.0 - 2.0")
    assert (other.question, other.why) == (one.question, one.why)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("two words: a -> b", "^'two words: a -> b' is no name with its edit"),
        ("name: a -> b\n Your.", "^name: ' Your.' is not indented by two"),
        ("name: a -> b\n  \tYour.", "is not indented by two"),
        ("name: a -> b\n  Your.\n\nother: b -> c", "^name: a blank row: leave it out"),
        (
            "name: a -> b\n  Your.\n    ? Why?",
            r"'\? Why\?' is indented by more",
        ),
        ("name:\n    | a -> b", r"'\| a -> b' is indented by more than two"),
        ("name: a -> b\n  Your.\n  ?Why?", r"'\?Why\?' lacks a space after \?"),
        ("name:\n  : a -> b", "': a -> b' goes on with an edit"),
    ],
)
def test_text_that_is_no_list_says_where(text, reason):
    with pytest.raises(EditError, match=reason):
        list(read_entries(text))


def exercise():
    made = Exercise(mean, lesson="99", minutes=5, difficulty=1)
    made.spec(lambda x, weights=None: np.mean(x))
    return made


def test_bank_has_edits_of_its_other_right_answers_too():
    made = exercise()

    @made.right_answer
    def at_once(x, weights=None):
        return sum(x) / len(x)

    made.edits(TEXT)
    made.edits("not_divided: / len(x) ->\n  Your sum.\n  ? What?\n  # Why.", of=at_once)
    one, two, three = made.misconceptions
    assert [each.function([2.0, 4.0]) for each in (one, two, three)] == [3.5, 3.0, 6.0]
    assert {each.kind for each in made.misconceptions} == {"edit"}
    assert together([one, two]) is None  # both change where it begins
    assert together([one, three]) is None  # they are edits of two answers
    assert "right answer at_once" in made.functions_that_are_right


def test_words_come_from_another_bank():
    first, second = exercise(), exercise()
    first.edits(TEXT)
    second.edits("counts_two: len(x) -> 2", words=first.words)
    assert second.misconceptions[0].diagnosis == "Your mean is half of the sum."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wrong: median -> mean", "exercise mean, wrong: mean has no 'median'"),
        ("wrong: 0.0 -> (", "exercise mean, wrong: mean with its edits is no Python"),
        ("wrong:\n  0.0 -> 1.0", "exercise mean, wrong: no edit: write `name: old"),
        ("wrong:\n  : 0.0 -> 1.0", "exercise mean, wrong: ': 0.0 -> 1.0' goes on"),
        ("a name", "exercise mean, 'a name' is no name with its edit"),
    ],
)
def test_fault_of_a_bank_names_its_exercise_and_misconception(text, reason):
    with pytest.raises(EditError, match=f"^{re.escape(reason)}"):
        exercise().edits(f"{text}\n  Your.\n  ? What?\n  # Why.")
