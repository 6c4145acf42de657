"""What the page counts, against classes counted by hand."""

import pytest

from autograder.checking.registry import load
from autograder.dashboard import charts, mistakes, notices, scores
from autograder.dashboard import wording as sentences
from autograder.gradebook.grades import Grade, Grades
from tests.dashboard.classes import (
    TIMES,
    answer,
    graded,
    invalid,
    of,
    six,
)


@pytest.fixture
def group():
    return of(six(), TIMES)


def by_hand(student, exercise, **points):
    return Grades(student, (Grade(exercise, 6.0, **points),))


# --- scores ----------------------------------------------------------------------


def test_the_class_is_counted_without_the_files_that_could_not_be_graded(group):
    summary = scores.summary(group)
    assert (summary.submissions, summary.counted, summary.invalid) == (6, 5, 1)
    assert (summary.median, summary.mean) == (7.0, 6.2)  # of 2, 4, 7, 8, 10
    assert (summary.max_points, summary.review) == (10.0, 1)


def test_points_stand_in_columns_of_ten_per_cent_and_all_points_in_their_own(group):
    found = {
        (column.first, column.last): column.count
        for column in scores.histogram(group)
        if column.count
    }
    assert found == {(20, 29): 1, (40, 49): 1, (70, 79): 1, (80, 89): 1, (100, 100): 1}
    assert len(scores.histogram(group)) == 11


def test_nearly_all_points_are_not_in_the_column_of_all_points():
    assert scores.percent(59.99, 60) == 99
    assert scores.percent(0.1 + 0.2, 0.3) == scores.percent(0.7 + 0.1 + 0.2, 1) == 100
    assert scores.percent(0.29 * 100, 100) == 29
    assert scores.percent(0, 0) == 100


def test_each_exercise_counts_who_has_all_some_no_points_or_wrote_nothing(group):
    softmax, attention = scores.exercise_rows(group)
    assert (softmax.full, softmax.part, softmax.none, softmax.unwritten) == (3, 2, 0, 0)
    assert softmax.mean_share == pytest.approx(16 / 20)
    ends = attention.full, attention.part, attention.none, attention.unwritten
    assert ends == (2, 1, 1, 1)
    assert attention.mean_share == pytest.approx(15 / 30)
    assert softmax.counted == attention.counted == 5


def test_the_time_of_an_exercise_is_that_of_all_its_cases(group):
    softmax, attention = scores.exercise_rows(group)
    # 0.2, 0.4, 0.6, 0.8, 1.0
    assert softmax.median == pytest.approx(0.6)
    assert softmax.slow == pytest.approx(1.0)
    assert (attention.median, attention.slow) == (8.0, 8.0)  # only one was timed
    assert scores.nine_tenths([*range(1, 21)]) == 18


def test_a_persons_points_count_in_place_of_the_graders():
    grades = {
        "eva": by_hand("eva", "attention", auto=0.0, manual=5.0, extra=1.0),
        "ben": Grades("ben", (Grade("softmax", 4.0, auto=4.0),), late_penalty=3.0),
        "fritz": by_hand("fritz", "softmax", manual=3.0),
        "gala": Grades("gala", (), submitted=False),
    }
    group = of(six(), {}, grades)
    points = {entry.student: entry.points for entry in group.entries}
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


def test_what_sums_of_tenths_lack_is_not_missing():
    nearly = 4.0 - 4e-16
    assert nearly < 4.0
    cem = Grades("cem", (Grade("softmax", 4.0, manual=nearly),))
    softmax, _ = scores.exercise_rows(of(six(), {}, {"cem": cem}))
    assert (softmax.full, softmax.part) == (4, 1)


def test_exercises_stand_in_the_order_of_the_lesson():
    reverse = graded("amara", answer("attention"), answer("softmax"))
    assert [*of([reverse]).max_points] == ["softmax", "attention"]


def test_a_file_over_which_the_grader_failed_leaves_the_points_of_the_others():
    group = of([*six(), graded("nobody"), invalid("zeno", "x")])
    assert scores.summary(group).max_points == 10.0


# --- mistakes --------------------------------------------------------------------


def test_known_mistakes_are_ranked_with_their_words(group):
    (found,) = mistakes.mistakes(group)
    assert (found.exercise, found.name) == ("softmax", "no_max_subtraction")
    assert found.students == ("ben", "cem")
    known = {each.name: each for each in load("softmax").misconceptions}
    assert found.finding == known["no_max_subtraction"].finding
    told = sentences.mistakes_in_words(group, [found])
    assert told.startswith("2 students, 40")


def test_the_most_frequent_mistake_comes_first_then_the_order_of_the_lesson():
    def made(student, softmax, attention):
        answers = {"softmax": softmax, "attention": attention}
        return graded(
            student, *(answer(n, "wrong", diagnosis=d) for n, d in answers.items())
        )

    group = of(
        [
            made("a", "axis_ignored", "softmax_over_queries"),
            made("b", "no_max_subtraction", "softmax_over_queries"),
        ]
    )
    found = mistakes.mistakes(group)
    assert [(each.name, len(each.students)) for each in found] == [
        ("softmax_over_queries", 2),
        ("axis_ignored", 1),
        ("no_max_subtraction", 1),
    ]
    told = sentences.lead(scores.summary(group), found)
    assert "softmax_over_queries in attention, made by 2 students" in told
    told = sentences.lead(scores.summary(group), found[1:])
    assert "2 known mistakes are the most frequent: 1 student each" in told


def test_a_mistake_or_an_exercise_that_the_course_has_no_more_keeps_its_name():
    old = graded("a", answer("softmax", "wrong", diagnosis="long_gone"))
    (found,) = mistakes.mistakes(of([old]))
    assert (found.name, found.finding) == ("long_gone", "")
    assert mistakes._bank("no_exercise") == {}


def test_failures_are_those_without_a_name_that_came_to_a_result():
    stopped = graded("gala", answer("softmax", "error", "crashed"))
    group = of([*six(), stopped])
    found = [
        (each.exercise, each.case, each.students) for each in mistakes.failures(group)
    ]
    assert found == [
        ("attention", "small", ("dana", "eva")),
        ("attention", "large", ("eva",)),
    ]
    assert mistakes.failures(group)[0].claim == "It holds for 2"


def test_blamed_answers_and_other_endings_are_counted(group):
    (blame,) = mistakes.blames(group)
    assert (blame.earlier, blame.later, blame.students) == (
        "softmax",
        "attention",
        ("ben",),
    )
    (ending,) = mistakes.endings(group)
    assert (ending.exercise, ending.status, ending.students) == (
        "attention",
        "timeout",
        ("eva",),
    )


def test_every_status_that_is_no_result_has_words():
    group = of(
        [
            graded(status, answer("softmax", status))
            for status in ("error", "timeout", "memory", "output", "crashed", "missing")
        ]
    )
    words = {each.status: each.words for each in mistakes.endings(group)}
    assert len(words) == 6
    assert all(words[status] != status for status in words)


def test_what_is_not_written_at_all_is_neither_a_failure_nor_an_ending():
    group = of([graded("cem", answer("softmax", "missing", "missing"))])
    assert mistakes.failures(group) == mistakes.endings(group) == []
    assert scores.exercise_rows(group)[0].unwritten == 1


# --- notices ---------------------------------------------------------------------


def test_what_is_to_be_looked_at(group):
    (review,) = notices.reviews(group)
    assert review.what == "torch.nn.MultiheadAttention"
    assert review.lines == (("dana", "mha = nn.Multihead()"),)
    assert notices.invalid(group) == [notices.Notice("The file is empty", ("fritz",))]
    assert notices.repairs(group) == [notices.Notice("Ok", ("cem",))]


def test_the_slowest_come_first_with_what_took_longest(group):
    found = notices.slowest(group)
    assert [each.student for each in found[:3]] == ["eva", "amara", "dana"]
    assert (found[0].longest, found[0].longest_seconds) == ("attention", 8.0)
    assert found[1].longest == "running the cells"
    times = {f"s{place:02d}": {"all": float(place)} for place in range(14)}
    ten = notices.slowest(of([graded(student) for student in times], times))
    assert [each.seconds for each in ten] == [*map(float, range(13, 3, -1))]


# --- pictures --------------------------------------------------------------------


def test_the_histogram_says_where_it_is_highest_and_where_the_median_is():
    results = [*six(), graded("gala", answer("softmax", "wrong"), answer("attention"))]
    group = of(results)  # 2, 4, 7, 8, 8, 10: two in the column of 80
    summary, columns = scores.summary(group), scores.histogram(group)
    told = charts.histogram_in_words(columns, summary)
    assert "points of 6 submissions" in told
    assert "highest column, 2 of them, stands at 80 to 89 per cent" in told
    assert "the median is 7.5 of 10 points" in told
    bars = charts.bars(columns, summary)
    assert [bar.first for bar in bars if bar.has_median] == [70]
    assert {bar.count: bar.height for bar in bars} == {0: 0, 1: 0.5, 2: 1}


def test_the_bars_of_the_exercises_say_which_is_best_and_which_is_worst(group):
    rows = scores.exercise_rows(group)
    told = charts.exercises_in_words(rows)
    assert "most frequent in softmax, with 60" in told
    assert "rarest in attention, with 40" in told
    parts = [(part.kind, part.count, part.width) for part in charts.parts(rows[1])]
    assert parts == [
        ("full", 2, 40.0),
        ("part", 1, 20.0),
        ("none", 1, 20.0),
        ("unwritten", 1, 20.0),
    ]


def test_a_class_of_equals_is_said_to_be_equal():
    results = [graded(name, answer("softmax"), answer("attention")) for name in "abc"]
    group = of(results)
    told = charts.histogram_in_words(scores.histogram(group), scores.summary(group))
    assert "all of them, stands at 100 per cent" in told
    assert "in each exercise, 100" in charts.exercises_in_words(
        scores.exercise_rows(group)
    )
    lead = sentences.lead(scores.summary(group), [])
    assert lead.endswith("10 of 10 points. No answer shows a known mistake.")


@pytest.mark.parametrize("count", [1, 3])
def test_a_class_of_broken_files_has_no_numbers_and_says_so(count):
    group = of([invalid(f"s{place}", "The file is empty") for place in range(count)])
    summary = scores.summary(group)
    assert (summary.median, summary.mean, summary.counted) == (None, None, 0)
    assert "could" in sentences.lead(summary, [])
    words = charts.histogram_in_words(scores.histogram(group), summary)
    rows = scores.exercise_rows(group)
    for told in (words, charts.exercises_in_words(rows)):
        assert told.startswith("No submission could be graded")
    assert charts.parts(rows[0]) == []
