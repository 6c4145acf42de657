"""The benchmark counts what raters said, and what becomes of answers now."""

import pytest

from autograder.course import Course
from tests.unseen import interval
from tests.unseen.table import judge_sets, judged_table, rated_table

ANSWERS = """\
# === wrong: sums to one over the queries
def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=-2, keepdims=True))
    return powers / powers.sum(axis=-2, keepdims=True)

# === wrong: the exponentials alone
def softmax(x, axis=-1):
    return np.exp(x)

# === wrong: as its author saw it; it is right
def softmax(x, axis=-1):
    powers = np.exp(x - np.max(x * 1.0, axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)

# === right: by another formula
def softmax(x, axis=-1):
    powers = np.exp(x - np.max(x * 1.0, axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)

# === right: as its author saw it; it is wrong
def softmax(x, axis=-1):
    return x
"""
HEAD = "exercise,number,diagnosis,verdict,{}evidence,remark\n"
TWO_NAMES = "no_max_subtraction & exponentials_not_divided"
ONE = f"""\
softmax,1,a_name,true,good,
softmax,2,{TWO_NAMES},false,good,
softmax,3,,accepted,,
"""
TWO = """\
softmax,1,a_name,true,true,good,
softmax,2,,true,false,good,
softmax,3,,accepted,,,
"""


@pytest.fixture
def small_sets(tmp_path):
    sets = {"later": ("2026-02-02", ONE, ""), "earlier": ("2026-01-01", TWO, "second,")}
    about = ""
    for name, (day, rows, column) in sets.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "softmax.txt").write_text(ANSWERS)
        (tmp_path / f"{name}.csv").write_text(HEAD.format(column) + rows)
        about += f'[{name}]\njudged = {day}\nlessons = "01"\n'
    (tmp_path / "sets.toml").write_text(about + "accepted = 1\n")
    return tmp_path


def cells(table):
    """Return a table's rows by set, without the shares."""
    head, _, *rows = (line.strip("| ").split(" | ") for line in table.splitlines())
    return {
        row[0]: dict(zip(head, (each.split(" · ")[0] for each in row), strict=True))
        for row in rows
    }


def test_rated_table_counts_verdicts_by_date(small_sets):
    rows = cells(rated_table(small_sets))
    assert [*rows] == ["earlier", "later"]
    assert rows["later"] == {
        "set": "later",
        "lessons": "01",
        "judged": "2026-02-02",
        "raters agree": "one verdict each",
        "wrong answers": "3",
        "rejected": "2",
        "told something true and specific": "1",
        "vague": "0",
        "told something false": "1",
        "named": "2",
        "right answers": "2",
        "accepted": "not recorded",
    }


def test_worse_verdict_counts_where_two_raters_differ(small_sets):
    row = cells(rated_table(small_sets))["earlier"]
    assert row["told something true and specific"] == "1"
    assert row["told something false"] == "1"
    # Both say true of one; of the other one says false: chance alone gives as much.
    assert row["raters agree"] == "50 % of 2, κ 0.00"
    assert row["accepted"] == "1"


def test_judged_table_has_what_becomes_of_answers_now(small_sets):
    assert cells(judged_table(small_sets))["later"]["judged again"] == "not yet"
    judge_sets(["later"], folder=small_sets)
    rows = cells(judged_table(small_sets))
    assert rows["earlier"]["judged again"] == "not yet"
    later = rows["later"]
    assert (later["wrong answers"], later["rejected"]) == ("3", "2")
    assert (later["named"], later["named as when it was read"]) == ("1", "1")
    assert (later["right answers"], later["accepted"]) == ("2", "1")


def test_interval_is_wilsons():
    # Of 0 in n, the upper bound is z² / (n + z²).
    assert interval(0, 10) == "0 % (0–28)"
    assert interval(10, 10) == "100 % (72–100)"


def test_page_has_the_tables_that_the_command_prints():
    page = (Course.here().root / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    assert rated_table() in page
    assert judged_table() in page
