"""What the page counts, against classes counted by hand."""

from dataclasses import replace

import pytest

from autograder.checking.registry import load
from autograder.dashboard import charts, misconceptions, notices, scores, wording
from autograder.gradebook.grades import Grade, StudentGrades
from tests.dashboard.classes import (
    TIMES,
    answer,
    graded,
    invalid,
    roster,
    six,
)


@pytest.fixture
def group():
    return roster(six(), TIMES)


def by_hand(student, exercise, **points):
    return StudentGrades(student, (Grade(exercise, 6.0, **points),))


# --- scores ----------------------------------------------------------------------


def test_summary_leaves_out_submissions_that_were_not_graded(group):
    summary = scores.summary(group)
    assert (summary.submissions, summary.counted, summary.invalid) == (6, 5, 1)
    assert (summary.median, summary.mean) == (7.0, 6.2)  # of 2, 4, 7, 8, 10
    assert (summary.max_points, summary.review) == (10.0, 1)


def test_histogram_has_a_column_of_its_own_for_all_points(group):
    counts = {
        (column.first, column.last): column.count
        for column in scores.histogram(group)
        if column.count
    }
    assert counts == {(20, 29): 1, (40, 49): 1, (70, 79): 1, (80, 89): 1, (100, 100): 1}
    assert len(scores.histogram(group)) == 11


def test_percent_is_100_for_all_points_only():
    assert scores.percent(59.99, 60) == 99
    assert scores.percent(0.1 + 0.2, 0.3) == scores.percent(0.7 + 0.1 + 0.2, 1) == 100
    assert scores.percent(0.29 * 100, 100) == 29
    assert scores.percent(0, 0) == 100


def test_exercise_rows_count_full_part_none_and_unwritten(group):
    softmax, attention = scores.exercise_rows(group)
    assert (softmax.full, softmax.part, softmax.none, softmax.unwritten) == (3, 2, 0, 0)
    assert softmax.mean_share == pytest.approx(16 / 20)
    kinds = attention.full, attention.part, attention.none, attention.unwritten
    assert kinds == (2, 1, 1, 1)
    assert attention.mean_share == pytest.approx(15 / 30)
    assert softmax.counted == attention.counted == 5


def test_time_of_an_exercise_sums_its_cases(group):
    softmax, attention = scores.exercise_rows(group)
    # 0.2, 0.4, 0.6, 0.8, 1.0
    assert softmax.median == pytest.approx(0.6)
    assert softmax.percentile_90 == pytest.approx(1.0)
    assert attention.median == attention.percentile_90 == 8.0  # only one was timed
    assert scores.percentile_90([*range(1, 21)]) == 18


def test_points_given_by_hand_replace_the_graders():
    grades = {
        "eva": by_hand("eva", "attention", auto=0.0, manual=5.0, extra=1.0),
        "ben": StudentGrades(
            "ben", (Grade("softmax", 4.0, auto=4.0),), late_penalty=3.0
        ),
        "fritz": by_hand("fritz", "softmax", manual=3.0),
        "gala": StudentGrades("gala", (), submitted=False),
    }
    group = roster(six(), {}, grades)
    points = {row.student: row.points for row in group.rows}
    # What the gradebook has of the grader is older than the journal: ben's 4.
    assert points == {
        "amara": 10.0,
        "ben": 5.0,
        "cem": 2.0,
        "dana": 7.0,
        "eva": 10.0,
        "fritz": 3.0,
    }
    summary = scores.summary(group)
    assert (summary.by_hand, summary.late, summary.absent) == (2, 1, 1)
    assert (summary.counted, summary.invalid) == (6, 1)
    assert summary.median == 6.0
    assert group.absent == ("gala",)


def test_rounding_error_does_not_cost_full_points():
    nearly = 4.0 - 4e-16
    assert nearly < 4.0
    cem = StudentGrades("cem", (Grade("softmax", 4.0, manual=nearly),))
    softmax, _ = scores.exercise_rows(roster(six(), {}, {"cem": cem}))
    assert (softmax.full, softmax.part) == (4, 1)


def test_max_points_follow_the_order_of_the_lesson():
    reverse = graded("amara", answer("attention"), answer("softmax"))
    assert [*roster([reverse]).max_points] == ["softmax", "attention"]


def test_submission_without_results_keeps_the_max_points():
    group = roster([*six(), graded("nobody"), invalid("zeno", "x")])
    assert scores.summary(group).max_points == 10.0


# --- misconceptions --------------------------------------------------------------


def test_misconceptions_carry_the_words_of_their_bank(group):
    (count,) = misconceptions.count_misconceptions(group)
    assert (count.exercise, count.name) == ("softmax", "no_max_subtraction")
    assert count.students == ("ben", "cem")
    bank = {each.name: each for each in load("softmax").misconceptions}
    assert count.diagnosis == bank["no_max_subtraction"].diagnosis
    words = wording.misconceptions_in_words(group, [count])
    assert words.startswith("2 students, 40")


def test_misconceptions_rank_by_count_then_by_lesson_order():
    def wrong(student, softmax, attention):
        answers = {"softmax": softmax, "attention": attention}
        return graded(
            student, *(answer(n, "wrong", diagnosis=d) for n, d in answers.items())
        )

    group = roster(
        [
            wrong("a", "axis_ignored", "softmax_over_queries"),
            wrong("b", "no_max_subtraction", "softmax_over_queries"),
        ]
    )
    counts = misconceptions.count_misconceptions(group)
    assert [(each.name, len(each.students)) for each in counts] == [
        ("softmax_over_queries", 2),
        ("axis_ignored", 1),
        ("no_max_subtraction", 1),
    ]
    lead = wording.lead(scores.summary(group), counts)
    assert "softmax_over_queries in attention, shown by 2 students" in lead
    lead = wording.lead(scores.summary(group), counts[1:])
    assert "2 misconceptions are the most frequent: 1 student each" in lead


def test_misconception_that_no_bank_has_keeps_its_name():
    old = graded("a", answer("softmax", "wrong", diagnosis="long_gone"))
    (count,) = misconceptions.count_misconceptions(roster([old]))
    assert (count.name, count.diagnosis) == ("long_gone", "")
    gone = replace(answer("softmax", "wrong", diagnosis="a"), exercise="no_exercise")
    (count,) = misconceptions.count_misconceptions(roster([graded("a", gone)]))
    assert (count.exercise, count.name, count.diagnosis) == ("no_exercise", "a", "")


def test_failed_claims_leave_out_named_and_stopped_answers():
    stopped = graded("gala", answer("softmax", "error", "crashed"))
    group = roster([*six(), stopped])
    claims = [
        (each.exercise, each.case, each.students)
        for each in misconceptions.failed_claims(group)
    ]
    assert claims == [
        ("attention", "small", ("dana", "eva")),
        ("attention", "large", ("eva",)),
    ]
    assert misconceptions.failed_claims(group)[0].claim == "It holds for 2"


def test_blamed_exercises_and_stopped_answers_are_counted(group):
    (blame,) = misconceptions.blamed_exercises(group)
    assert (blame.earlier, blame.later, blame.students) == (
        "softmax",
        "attention",
        ("ben",),
    )
    (stopped,) = misconceptions.stopped_answers(group)
    assert (stopped.exercise, stopped.status, stopped.students) == (
        "attention",
        "timeout",
        ("eva",),
    )


def test_every_status_of_stopped_answers_has_words():
    group = roster(
        [
            graded(status, answer("softmax", status))
            for status in ("error", "timeout", "memory", "output", "crashed", "missing")
        ]
    )
    words = {each.status: each.words for each in misconceptions.stopped_answers(group)}
    assert len(words) == 6
    assert all(words[status] != status for status in words)


def test_unwritten_answer_is_neither_failed_nor_stopped():
    group = roster([graded("cem", answer("softmax", "missing", "missing"))])
    assert misconceptions.failed_claims(group) == []
    assert misconceptions.stopped_answers(group) == []
    assert scores.exercise_rows(group)[0].unwritten == 1


# --- notices ---------------------------------------------------------------------


def test_notices_list_library_calls_broken_files_and_repairs(group):
    (call,) = notices.library_calls(group)
    assert call.function == "torch.nn.MultiheadAttention"
    assert call.lines == (("dana", "mha = nn.Multihead()"),)
    assert notices.invalid(group) == [notices.Notice("The file is empty", ("fritz",))]
    assert notices.repairs(group) == [notices.Notice("Ok", ("cem",))]


def test_slowest_come_first_with_their_longest_part(group):
    slowest = notices.slowest(group)
    assert [each.student for each in slowest[:3]] == ["eva", "amara", "dana"]
    assert (slowest[0].longest, slowest[0].longest_seconds) == ("attention", 8.0)
    assert slowest[1].longest == "running the cells"
    times = {f"s{number:02d}": {"all": float(number)} for number in range(14)}
    ten = notices.slowest(roster([graded(student) for student in times], times))
    assert [each.seconds for each in ten] == [*map(float, range(13, 3, -1))]


# --- pictures --------------------------------------------------------------------


def test_histogram_words_give_highest_column_and_median():
    results = [*six(), graded("gala", answer("softmax", "wrong"), answer("attention"))]
    group = roster(results)  # 2, 4, 7, 8, 8, 10: two in the column of 80
    summary, columns = scores.summary(group), scores.histogram(group)
    words = charts.histogram_in_words(columns, summary)
    assert "points of 6 submissions" in words
    assert "highest column, 2 of them, stands at 80 to 89 per cent" in words
    assert "the median is 7.5 of 10 points" in words
    bars = charts.histogram_bars(columns, summary)
    assert [bar.first for bar in bars if bar.has_median] == [70]
    assert {bar.count: bar.height for bar in bars} == {0: 0, 1: 0.5, 2: 1}


def test_exercise_words_give_the_best_and_the_worst(group):
    rows = scores.exercise_rows(group)
    words = charts.exercises_in_words(rows)
    assert "most frequent in softmax, with 60" in words
    assert "rarest in attention, with 40" in words
    parts = [(part.kind, part.count, part.width) for part in charts.bar_parts(rows[1])]
    assert parts == [
        ("full", 2, 40.0),
        ("part", 1, 20.0),
        ("none", 1, 20.0),
        ("unwritten", 1, 20.0),
    ]


def test_words_for_a_class_in_which_all_have_all_points():
    results = [graded(name, answer("softmax"), answer("attention")) for name in "abc"]
    group = roster(results)
    words = charts.histogram_in_words(scores.histogram(group), scores.summary(group))
    assert "all of them, stands at 100 per cent" in words
    assert "in each exercise, 100" in charts.exercises_in_words(
        scores.exercise_rows(group)
    )
    lead = wording.lead(scores.summary(group), [])
    assert lead.endswith("10 of 10 points. No answer shows a known misconception.")


@pytest.mark.parametrize("count", [1, 3])
def test_words_for_a_class_of_broken_files(count):
    group = roster(
        [invalid(f"s{number}", "The file is empty") for number in range(count)]
    )
    summary = scores.summary(group)
    assert (summary.median, summary.mean, summary.counted) == (None, None, 0)
    assert "could" in wording.lead(summary, [])
    histogram = charts.histogram_in_words(scores.histogram(group), summary)
    rows = scores.exercise_rows(group)
    for words in (histogram, charts.exercises_in_words(rows)):
        assert words.startswith("No submission could be graded")
    assert charts.bar_parts(rows[0]) == []
