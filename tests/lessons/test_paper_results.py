"""The paper's results in lesson 11: its table of costs follows from days and GPUs."""

import pytest

from course_lib.lessons import paper_results
from course_lib.lessons.paper_results import PAPER


@pytest.mark.parametrize(("name", "cost"), [("base", 3.3e18), ("big", 2.3e19)])
def test_operations_match_table_2_of_the_paper(name, cost):
    assert paper_results.operations(PAPER[name]) == pytest.approx(cost, rel=0.01)


@pytest.mark.parametrize(("name", "seconds"), [("base", 0.4), ("big", 1.0)])
def test_days_match_the_time_of_a_step_in_section_5_2(name, seconds):
    days = PAPER[name].steps * seconds / 86_400
    assert PAPER[name].days == pytest.approx(days, rel=0.1)


def test_table_has_a_row_for_each_training():
    rows = paper_results.table(34.94, 5600, 427).splitlines()
    assert [row.split(",")[0].split()[0] for row in rows[1:]] == [
        "paper",
        "paper",
        "ours",
    ]
    assert "28.4" in rows[2] and "41.8" in rows[2] and "2.3e+19" in rows[2]
    assert "34.9" in rows[3] and "5,600" in rows[3] and "7 minutes" in rows[3]
