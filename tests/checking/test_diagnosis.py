"""The diagnosis: the one misconception that explains every call, or none."""

import numpy as np
import pytest

from autograder.book.in_page.check import page_runner_factory
from autograder.checking import families
from autograder.checking.call import Call, CallResult, Raised
from autograder.checking.diagnosis import (
    diagnose,
    pairs,
    same_result,
)
from autograder.checking.exercise import Exercise, together
from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.messages.report import CheckReport
from tests.checking.test_judging import double, judged


def exercise(**misconceptions):
    """Return an exercise about doubling, with these misconceptions in its bank."""
    made = Exercise(double, lesson="none", minutes=1, difficulty=1)
    made.spec(double)

    @made.case("A table")
    def a_table(student, rng):
        student.agrees(rng.normal(size=(3, 4)))

    @made.case("Whole numbers")
    def whole_numbers(student, rng):
        student.agrees(np.arange(1, 4))

    @made.case("The argument stays as it is")
    def stays(student, rng):
        student.leaves_unchanged(rng.normal(size=3))

    for name, wrong in misconceptions.items():
        wrong.__name__ = name
        made.misconception("It is so.", "Is it?", why="For the test.")(wrong)
    return made


def named(answer, **misconceptions):
    return judged(exercise(**misconceptions), answer).diagnosis or None


def test_misconception_is_named_in_any_spelling():
    assert named(lambda x: x + x + x, tripled=lambda x: 3 * x) == "tripled"


def test_unknown_wrong_answer_gets_no_name():
    assert named(lambda x: 5 * x, tripled=lambda x: 3 * x) is None


def test_two_matching_misconceptions_give_no_name():
    misconceptions = {"tripled": lambda x: 3 * x, "added_twice": lambda x: x + x + x}
    assert named(lambda x: 3 * x, **misconceptions) is None


def test_right_answer_gets_no_name():
    assert named(double, tripled=lambda x: 3 * x) is None


def test_misconception_right_on_all_calls_does_not_match():
    def fails_on_tables(x):
        return 2 * x if x.ndim == 1 else x

    def wrong_beyond_a_thousand(x):
        return np.where(x > 1000, x, 2 * x)

    made = exercise(wrong_beyond_a_thousand=wrong_beyond_a_thousand)
    calls = judged(made, double).calls
    assert diagnose(made, calls) == ()
    assert judged(made, fails_on_tables).diagnosis == ""


def test_misconception_must_explain_every_call():
    def tripled_tables(x):
        return 3 * x if x.ndim == 2 else 2 * x

    assert named(tripled_tables, tripled=lambda x: 3 * x) is None
    assert named(tripled_tables, tripled_tables=tripled_tables) == "tripled_tables"


def test_misconception_that_only_changes_arguments_is_named():
    def in_place(x):
        if x.dtype.kind == "f":
            x += x
            return x.copy()
        return 2 * x

    def in_place_otherwise(x):
        if x.dtype == int:
            return x + x
        np.multiply(x, 2, out=x)
        return x

    assert named(in_place_otherwise, in_place=in_place) == "in_place"
    assert named(in_place_otherwise, not_in_place=lambda x: 2 * x) is None


def test_nonfinite_numbers_are_compared():
    def with_nan(x):
        return np.where(x == x.flat[0], np.nan, 2.0 * x)

    def with_inf(x):
        return np.where(x == x.flat[0], np.inf, 2.0 * x)

    assert named(with_nan, first_is_nan=with_nan) == "first_is_nan"
    assert named(with_inf, first_is_nan=with_nan) is None


def test_none_and_wrong_types_are_compared():
    assert named(lambda x: None, no_return=lambda x: None) == "no_return"
    as_list = lambda x: (2 * x).tolist()  # noqa: E731 - it is data here
    assert named(as_list, a_list=lambda x: [*(2 * x).tolist()]) == "a_list"


def raises(error):
    def fail(x):
        raise error

    return fail


def test_exception_with_the_same_text_is_named():
    fail = raises(ValueError("shapes (3,4) and (3,4) not aligned"))
    other = raises(ValueError("shapes (3,4) and (3,4) not aligned"))
    assert named(fail, transpose_missing=other) == "transpose_missing"


@pytest.mark.parametrize(
    ("mine", "known"),
    [
        (ValueError("one"), ValueError("another")),
        (ValueError(), ValueError()),
        (ValueError("one"), TypeError("one")),
        (UnicodeError("one"), ValueError("one")),
    ],
    ids=repr,
)
def test_exception_of_the_same_kind_alone_gets_no_name(mine, known):
    assert named(raises(mine), crashes=raises(known)) is None


def test_exception_on_some_calls_with_equal_values_is_named():
    def no_tables(x):
        if x.ndim == 2:
            raise IndexError("too many")
        return 3 * x

    def no_tables_either(x):
        if x.ndim == 2:
            raise IndexError("another text")
        return x + 2 * x

    assert named(no_tables_either, one_axis_only=no_tables) == "one_axis_only"


def test_timeout_is_never_explained():
    call = Call((np.ones(2),), {}, CallResult("timeout"))
    assert diagnose(exercise(tripled=lambda x: 3 * x), [call]) == ()


def test_results_from_less_precise_inputs_match():
    made = Exercise(double, lesson="none", minutes=1, difficulty=1)
    made.spec(double)

    @made.case("Less precise numbers")
    def less_precise(student, rng):
        student.agrees(rng.normal(size=50).astype(np.float32))

    @made.misconception("You triple.", "How often?", why="For the test.")
    def tripled(x):
        return (3 * x).astype(float)

    def rounded_on_the_way(x):
        one, third = np.float32(1.1), np.float32(3 / 1.1)
        return (x * one * third).astype(float)

    assert judged(made, rounded_on_the_way).diagnosis == "tripled"


def test_result_that_lost_precision_gets_no_name():
    def in_low_precision(x):
        return 3 * np.float16(x)

    assert named(in_low_precision, low_precision=in_low_precision) is None


def test_keywords_are_replayed():
    def scale(x, by=2.0):
        return by * x

    made = Exercise(scale, lesson="none", minutes=1, difficulty=1)
    made.spec(scale)

    @made.case("By three")
    def by_three(student, rng):
        student.agrees(rng.normal(size=3), by=3.0)

    @made.misconception("It ignores by.", "What is by for?", why="It has a default.")
    def ignores_by(x, by=2.0):
        return 2 * x

    assert judged(made, lambda x, by: x + x).diagnosis == "ignores_by"


def test_diagnose_leaves_recorded_calls_alone():
    def in_place(x):
        x *= 2
        return x

    made = exercise(in_place=in_place)
    calls = judged(made, lambda x: 2 * x + 1).calls
    before = [call.arguments[0].copy() for call in calls]
    diagnose(made, calls)
    assert all((b == c.arguments[0]).all() for b, c in zip(before, calls, strict=True))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (CallResult("value", 1.0), CallResult("value", 1.0), True),
        (CallResult("value", 1.0), CallResult("value", 2.0), False),
        (CallResult("value", None), CallResult("raised", None), False),
        (
            CallResult("value", 1.0, None, (np.ones(2),)),
            CallResult("value", 1.0, None, (np.zeros(2),)),
            False,
        ),
        (
            CallResult("raised", None, Raised(("ValueError",), "one", "f", 1)),
            CallResult("raised", None, Raised(("ValueError",), "other", "g", 2)),
            True,
        ),
        (
            CallResult("raised", None, Raised(("ValueError",))),
            CallResult("raised", None, Raised(("TypeError",))),
            False,
        ),
    ],
)
def test_same_result_compares_whole_results(one, other, equal):
    assert same_result(one, other) is equal


# Two at once


WORDS = "\n  It is so.\n  ? Is it?\n  # For the test.\n"


def with_edits(made):
    """Add to an exercise about doubling two errors at one position, one elsewhere."""
    for edit in ("tripled: 2 -> 3", "one_added: x -> x + 1", "two_added: x -> x + 2"):
        made.edits(f"{edit}{WORDS}")
    made.family(families.transposed())
    return made


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (lambda x: 3 * x, "tripled"),
        (lambda x: x + x + 1, "one_added"),
        (lambda x: 3 * x + 1, "tripled & one_added"),
        (lambda x: 2 * x.T, "result_transposed"),
        (lambda x: 2 * x.T + 2, "two_added & result_transposed"),
        (lambda x: 4 * x + 1, ""),
        (lambda x: 2 * x + 3, ""),  # two edits of one text are not tried
    ],
)
def test_two_misconceptions_are_named_where_none_explains_alone(answer, names):
    assert judged(with_edits(exercise()), answer).diagnosis == names


def test_two_explanations_by_pairs_give_no_name():
    made = with_edits(exercise())
    made.edits(f"also_one_added: x -> x + 2 - 1{WORDS}")
    assert judged(made, lambda x: 3 * x + 2).diagnosis == "tripled & two_added"
    assert judged(made, lambda x: 3 * x + 1).diagnosis == ""


def test_two_that_agree_on_the_cases_inputs_alone_are_not_named():
    drawn = []
    judged(with_edits(exercise()), lambda x: drawn.append(x.copy()))

    def answer(x):
        is_drawn = any(np.array_equal(x, each) for each in drawn)
        return 3 * x + 1 if is_drawn else 3 * x + 3

    assert judged(with_edits(exercise()), lambda x: 3 * x + 1).diagnosis
    assert judged(with_edits(exercise()), answer).diagnosis == ""


PAIRS_WITH_T = {
    "similarity_attention": (
        ("all_axes_reversed", "weights_returned"),
        ("softmax_over_axis_zero", "all_axes_reversed"),
        ("scale_added", "all_axes_reversed"),
    ),
    "scaled_scores": (
        ("no_scale", "all_axes_reversed"),
        ("divided_by_d_k", "all_axes_reversed"),
    ),
    "self_attention": (
        ("all_axes_turned", "weights_transposed"),
        ("all_axes_turned", "no_scale"),
    ),
}


@pytest.mark.parametrize(
    ("name", "names"),
    [(name, each) for name in PAIRS_WITH_T for each in PAIRS_WITH_T[name]],
)
def test_transpose_of_a_batch_is_named_beside_a_second_error(name, names):
    bank = load(name)
    (pair,) = [
        each
        for each in pairs(bank)
        if {one.name for one in each.misconceptions} == {*names}
    ]
    visible = [case for case in bank.cases if case.visible]
    result = judge(bank, page_runner_factory(pair.function), cases=visible)
    assert {*result.misconceptions} == {*names}
    assert "Two things at once. (1)" in str(CheckReport(bank, result))


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (lambda x: 3 * x.T + 1, "tripled & one_added & result_transposed"),
        (lambda x: 3 * x + 1, "tripled & one_added"),  # no third one where two do
        (lambda x: 3 * x.T + 2, ""),  # two_added is not on the list
    ],
)
def test_three_are_named_of_those_that_are_often_made_together(answer, names):
    made = with_edits(exercise())
    assert judged(made, answer).diagnosis.count("&") < 2
    made.threes_of("result_transposed", "tripled", "one_added")
    assert judged(made, answer).diagnosis == names


THREES = {
    "adam_step": ("no_bias_correction", "eps_under_the_root", "averages_overwritten"),
    "bleu": ("mean_of_sentence_bleus", "brevity_penalty_missing", "from_0_to_1"),
    "clip_gradients": ("a_little_added_to_the_norm", "none_left_out", "scaled_up_too"),
    "encoder_layer": ("nothing_carried_over", "one_norm_for_both", "one_head"),
    "greedy_decode": ("start_kept", "one_token_too_few", "last_of_equals"),
    "sinusoidal_encoding": ("odd_size_stops", "exponent_doubled", "counted_from_one"),
    "train_bpe": (
        "first_seen_wins",
        "pairs_that_occur_once",
        "equal_words_overwritten",
    ),
}


@pytest.mark.parametrize("name", THREES)
def test_three_of_a_bank_are_named_with_their_questions(name):
    bank = load(name)
    errors = [each for each in bank.misconceptions if each.name in THREES[name]]
    result = judge(bank, page_runner_factory(together(errors)))
    assert {*result.misconceptions} == {*THREES[name]}
    assert "Three things at once. (1)" in str(CheckReport(bank, result))


def test_list_of_threes_is_short_and_of_the_bank():
    made = with_edits(exercise())
    with pytest.raises(ValueError, match="exercise double has no quadrupled"):
        made.threes_of("tripled", "one_added", "quadrupled")
    with pytest.raises(ValueError, match="threes of 2 misconceptions, not of 3 to 8"):
        made.threes_of("tripled", "one_added")
    assert made.often_together == ()


def test_misconception_may_stop_where_the_answer_goes_on():
    def of_tables_only(x):
        if x.ndim == 1:
            raise ValueError("one axis only")
        return 3 * x

    made = exercise(of_tables_only=of_tables_only)
    assert judged(made, lambda x: 3 * x).diagnosis == ""

    @made.case("Another table")
    def another_table(student, rng):
        student.agrees(rng.normal(size=(2, 5)))

    assert judged(made, lambda x: 3 * x).diagnosis == "of_tables_only"


def test_misconception_may_not_stop_where_the_answer_is_right():
    def stops(x):
        if x.ndim == 1:
            raise ValueError("one axis only")
        return 3 * x

    assert named(lambda x: 3 * x if x.ndim > 1 else 2 * x, stops=stops) is None


def test_second_misconception_that_only_stops_is_not_named():
    made = exercise()
    stops = "if x.ndim != 2:\n  :     raise ValueError('two axes only')"
    made.edits(f"tripled: 2 -> 3{WORDS}two_axes_only:\n  | {stops}{WORDS}")
    assert judged(made, lambda x: 3 * x if x.ndim == 2 else 4 * x).diagnosis == ""
    assert judged(made, lambda x: 3 * x).diagnosis == "tripled"


def test_errors_that_cancel_in_right_calls_are_not_named():
    made = exercise()
    taken = "one_taken_from_rows: 2 -> -(x.ndim == 1) + 2"
    made.edits(f"one_added: x -> x + 1{WORDS}{taken}{WORDS}")
    assert judged(made, lambda x: 2 * x + (x.ndim == 2)).diagnosis == ""
    assert judged(made, lambda x: 2 * x + 1).diagnosis == "one_added"


def stops_on_tables(words, tables=1):
    """Return an exercise with a misconception that triples, and stops on tables.

    words : its diagnosis
    tables : cases in which it does not stop
    """

    def tripled(x):
        if x.ndim == 2:
            raise ValueError("no tables")
        return 3 * x

    made = exercise()
    for number in range(tables):

        def vector(student, rng):
            student.agrees(rng.normal(size=5))

        vector.__name__ = f"vector_{number}"
        made.case("A vector")(vector)
    made.cases = [case for case in made.cases if case.name != "stays"]
    made.misconception(words, "Is it?", why="For the test.")(tripled)
    return made


def test_words_about_an_exception_are_said_of_exceptions_only():
    def tripled(x):
        return 3 * x

    def tripled_or_stops(x):
        if x.ndim == 2:
            raise IndexError("too many")
        return 3 * x

    always = stops_on_tables("Your numbers are tripled, and tables stop it.", 2)
    stops = stops_on_tables("Your function stops at tables, and triples.", 2)
    can = stops_on_tables(
        "Your numbers are tripled; with tables, this can raise an error.", 2
    )
    for made in (always, stops):
        assert judged(made, tripled).diagnosis == ""
        assert judged(made, tripled_or_stops).diagnosis == "tripled"
    assert judged(can, tripled).diagnosis == "tripled"


def test_one_call_among_exceptions_shows_nothing():
    def tripled(x):
        return 3 * x

    words = "Your numbers are tripled; with tables, this can raise an error."
    assert judged(stops_on_tables(words, 1), tripled).diagnosis == "tripled"
    assert judged(stops_on_tables(words, 0), tripled).diagnosis == ""


def test_one_call_among_exceptions_of_one_kind_shows_nothing():
    def one_vector_of_five(x):
        if x.ndim == 2 or x.size != 5:
            raise ValueError("shapes (3,) and (4,)")
        return 3 * x

    def other_text(x):
        if x.ndim == 2 or x.size != 5:
            raise ValueError("another text")
        return 3 * x

    for tables, name in ((1, ""), (2, "one_vector")):
        made = stops_on_tables("It is so.", tables)
        made.misconceptions.clear()
        one_vector_of_five.__name__ = "one_vector"
        made.misconception("It is so.", "Is it?", why="For the test.")(
            one_vector_of_five
        )
        assert judged(made, other_text).diagnosis == name


def test_float32_inside_does_not_hide_a_misconception():
    def tripled(x):
        return x + 2 * x

    def in_float32(x):
        return (np.float32(3) * x.astype(np.float32)).astype(float)

    made = exercise(tripled=tripled)
    made.cases = [case for case in made.cases if case.name == "a_table"]
    assert judged(made, in_float32).diagnosis == "tripled"
    assert judged(made, lambda x: np.float32(3) * x.astype(np.float32)).diagnosis == (
        "tripled"
    )
    assert judged(made, lambda x: 3 * x * (1 + 1e-6)).diagnosis == ""


# Public code of these forms was told something false.


def sequence_mask_of_d2l(lengths, m):
    lengths = np.asarray(lengths)
    return np.arange(m)[None, :] < lengths[:, None]


def online_softmax_over_the_first_axis(x, block):
    maximum, total = np.full(x.shape[1:], -np.inf), np.zeros(x.shape[1:])
    for start in range(0, len(x), block):
        part = x[start : start + block]
        new = np.maximum(maximum, part.max(axis=-1))
        powers = np.exp(part - new[..., None])
        total = total * np.exp(maximum - new) + powers.sum(axis=-1)
        maximum = new
    return np.exp(x - maximum[..., None]) / total[..., None]


def search_that_divides_by_a_power_of_the_length(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    def score(hypothesis):
        token_ids, total = hypothesis
        return total / len(token_ids) ** alpha

    running, finished = [([start_id], 0.0)], []
    for _ in range(max_length):
        longer = [
            ([*token_ids, token_id], total + float(log_p))
            for token_ids, total in running
            for token_id, log_p in enumerate(next_log_probabilities(token_ids))
        ]
        running = []
        best = sorted(longer, key=score, reverse=True)[: beam_size - len(finished)]
        for each in best:
            (finished if each[0][-1] == end_id else running).append(each)
        if not running:
            break
    token_ids, _ = max(finished + running, key=score)
    return token_ids[1:-1] if token_ids[-1] == end_id else token_ids[1:]


FALSE_BEFORE = {  # with what is false
    "padding_mask": (sequence_mask_of_d2l, "stops if the lengths are a list"),
    "online_softmax": (online_softmax_over_the_first_axis, "lost the axis"),
    "beam_search": (
        search_that_divides_by_a_power_of_the_length,
        "leaves the end out of the length",
    ),
}


@pytest.mark.parametrize("name", FALSE_BEFORE)
@pytest.mark.parametrize("in_notebook", [True, False])
def test_forms_of_public_code_are_told_nothing_false(name, in_notebook):
    bank, (answer, false) = load(name), FALSE_BEFORE[name]
    cases = [case for case in bank.cases if case.visible or not in_notebook]
    result = judged(bank, answer, cases=cases)
    assert not result.solved
    assert false not in str(CheckReport(bank, result))
