"""Answers that are the course's own solutions: who is marked, and who is not."""

import json
from dataclasses import replace

from autograder.checking.result import as_data
from autograder.commands.grade import line
from autograder.commands.judge import result_in_words
from autograder.dashboard import notices, overview, scores, wording
from autograder.dashboard.page import render_page
from autograder.gradebook.safe_html import verdicts_html, verdicts_of
from autograder.gradebook.writing import gradebook_entry
from autograder.grading.result import SubmissionResult
from tests.dashboard.classes import answer, graded, roster

WORDS = "as in the solutions"
PASTED = replace(answer("softmax"), as_in_solutions=True)
OWN = answer("attention")
RESULT = graded("ada", PASTED, OWN)


def test_it_is_said_in_the_students_row_and_in_judge():
    assert line(RESULT).endswith(f"10 of 10  {WORDS}: softmax")
    assert result_in_words(RESULT).count(WORDS) == 1
    assert WORDS not in line(graded("ben", answer("softmax"), OWN))


def test_mark_is_in_nothing_that_learners_read():
    assert WORDS in verdicts_html(PASTED)
    assert WORDS not in verdicts_html(OWN)
    assert WORDS not in str(verdicts_of(PASTED))
    assert WORDS not in PASTED.report


def test_it_needs_no_grade_by_hand_and_no_comment():
    entry = gradebook_entry(RESULT, None)
    assert entry.review == frozenset() and entry.remarks == {}
    assert entry.points["softmax"] == PASTED.max_points
    assert RESULT.flags == ()


def test_it_is_counted_in_the_report():
    group = roster([RESULT, graded("ben", answer("softmax"), OWN)])
    (own,) = notices.own_answers(group)
    assert own == notices.OwnAnswer("softmax", ("ada",), 2)
    assert scores.summary(group).as_in_solutions == 1
    assert wording.remarks(group.rows[0]) == WORDS
    (attention,) = overview.attention(group)
    assert attention.words == f"has answers {WORDS}"
    page = render_page(group)
    assert "As in the solutions (1)" in page and 'id="solutions"' in page


def test_it_is_kept_and_left_out_where_it_does_not_hold():
    assert SubmissionResult.from_json(RESULT.as_json()) == RESULT
    assert "as_in_solutions" not in json.dumps(as_data(OWN), default=as_data)
