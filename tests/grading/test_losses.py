"""Cells and calls that have ended children: which are not tried any more."""

from autograder.grading.budget import Budget
from autograder.grading.child_client import ChildLost
from autograder.grading.losses import CallKind, LostCalls, SkippedCells
from tests.grading.sessions import check, own, solution

CELLS = own(""), solution("f", ""), check("f"), own("")


def skipped_after(*losses, deadly=4):
    skipped = SkippedCells(CELLS, Budget(deadly=deadly))
    for kind, index in losses:
        skipped.blame(ChildLost(kind, index))
    return skipped


def test_cell_that_ended_a_child_is_skipped():
    skipped = skipped_after(("crashed", 1), ("timeout", 3))
    assert skipped.endings == {1: "crashed", 3: "timeout"}
    assert (skipped.indices, skipped.no_child) == ([1, 3], None)


def test_own_cells_are_skipped_where_no_cell_is_to_blame():
    skipped = skipped_after(("timeout", -1))
    assert (skipped.indices, skipped.endings) == ([0, 3], {})
    assert skipped.no_child is None


def test_no_child_lives_where_no_cell_is_left_to_skip():
    assert skipped_after(("timeout", -1), ("crashed", -1)).no_child == "crashed"
    assert skipped_after(("crashed", 1), ("timeout", 1)).no_child == "timeout"


def test_deadly_cells_acquit_solutions_and_skip_all_own_cells():
    skipped = skipped_after(("crashed", 0), ("crashed", 1), deadly=2)
    assert (skipped.endings, skipped.indices) == ({0: "crashed"}, [0, 3])


def test_lost_calls_are_counted_by_exercise_and_way_of_judging():
    lost_calls = LostCalls(Budget(timeouts=2, crashes=3))
    kind = CallKind("f", (), alone=False)
    others = kind._replace(alone=True), kind._replace(bound=("softmax",))
    for _ in range(2):
        lost_calls.add(kind, "crashed")
    assert lost_calls.ending(kind) is None
    lost_calls.add(kind, "crashed")
    assert lost_calls.ending(kind) == "crashed"
    assert [lost_calls.ending(each) for each in others] == [None, None]
    for _ in range(2):
        lost_calls.add(others[0], "timeout")
    assert lost_calls.ending(others[0]) == "timeout"


def test_exercise_is_slow_after_a_timeout_judged_in_any_way():
    lost_calls = LostCalls(Budget())
    lost_calls.add(CallKind("f", (), alone=True), "timeout")
    lost_calls.add(CallKind("g", (), alone=False), "crashed")
    assert lost_calls.has_timed_out("f")
    assert not lost_calls.has_timed_out("g")
