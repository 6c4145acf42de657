"""Verdicts and points of an answer, and which earlier exercise is blamed."""

import functools
import types

import numpy as np
import pytest
import torch

from autograder.checking import judging
from autograder.checking.call import Call, CallResult, Raised, copied, local_runner
from autograder.checking.exercise import Exercise
from autograder.checking.judging import NOTEBOOK_SEED, judge
from autograder.checking.registry import load
from autograder.checking.result import ExerciseResult
from autograder.checking.student import ClaimFailure
from tests.checking.test_comparison import list_that_holds_itself
from tests.checking.tiny_exercises import (
    COURSE,
    both,
    double,
    judged,
    shift,
    statuses,
    tiny,
)


def test_right_answer_gets_all_points_as_a_python_float():
    result = judged(tiny(), lambda x: x + x)
    assert result.passed
    assert result.points == 7.0
    assert type(result.points) is float
    assert statuses(result) == ["ok"] * 3


def test_points_are_earned_case_by_case():
    result = judged(tiny(), lambda x: 2 * x if x.ndim == 2 else x)
    assert not result.passed
    assert result.points == 5.0
    assert statuses(result) == ["wrong", "ok", "ok"]


def with_side_conditions():
    """Return an exercise of one case about drawn values and of three about others."""
    made = Exercise(double, lesson="none", minutes=5, difficulty=1)
    made.spec(double)

    @made.case("The argument stays as it is")
    def stays(student, rng):
        student.leaves_unchanged(rng.normal(size=3))

    @made.case("Three numbers")
    def literal(student, rng):
        student.agrees(np.array([1.0, -2.0, 0.5]))

    @made.case("Twice zero is zero", pays_alone=False)
    def zeros(student, rng):
        student.expect(student(np.zeros(int(rng.integers(2, 9)))).sum(), 0.0)

    @made.case("A table", weight=2)
    def a_table(student, rng):
        student.agrees(rng.normal(size=(4, 5)))

    return made


def learned_by_heart(x):
    return 2 * x if x.tolist() == [1.0, -2.0, 0.5] else 0 * x


def test_claims_that_hold_without_computing_pay_nothing_alone():
    result = judged(with_side_conditions(), learned_by_heart)
    assert statuses(result) == ["ok", "ok", "ok", "wrong"]
    assert [verdict.points for verdict in result.cases] == [0.0] * 4
    assert (result.points, result.max_points, result.n_holding) == (0.0, 5.0, 3)


def test_they_pay_beside_a_claim_about_drawn_values():
    result = judged(with_side_conditions(), lambda x: 2 * x if x.ndim == 2 else x)
    assert statuses(result) == ["ok", "wrong", "ok", "ok"]
    assert [verdict.points for verdict in result.cases] == [1.0, 0.0, 1.0, 2.0]
    assert result.points == 4.0


def test_all_claims_that_hold_together_pay():
    exercise = with_side_conditions()
    assert judged(exercise, double).points == exercise.points
    assert judged(exercise, double, cases=exercise.cases[:2]).points == 2.0


def test_blame_is_found_where_neither_version_earns_points(monkeypatch):
    exercise = tiny(reference=both, uses=USES)
    exercise.cases = [case for case in exercise.cases if case.name != "a_table"]

    def wrong_for_an_empty_array(x):
        return shift(double(x)) if x.size else x.sum(axis=0)

    with_earlier(monkeypatch, double=triple)
    result = judged(exercise, wrong_for_an_empty_array)
    assert (result.points, result.n_holding) == (0.0, 1)
    assert result.blamed == ("double",)


def test_only_the_chosen_cases_run():
    exercise = tiny()
    result = judged(exercise, double, cases=exercise.cases[1:2])
    assert [v.case for v in result.cases] == ["a_table"]
    assert len(result.calls) == 1


def test_inputs_follow_the_seed():
    fed = [
        judged(tiny(), double, seed=seed).calls[1].arguments[0].tolist()
        for seed in (NOTEBOOK_SEED, NOTEBOOK_SEED, 5)
    ]
    assert fed[0] == fed[1] != fed[2]


def test_inputs_of_a_case_do_not_depend_on_other_cases():
    exercise = tiny()
    alone = judged(exercise, double, cases=exercise.cases[1:2]).calls[0]
    assert (
        alone.arguments[0].tolist()
        == judged(exercise, double).calls[1].arguments[0].tolist()
    )


def test_cases_with_the_same_code_draw_different_inputs():
    def draw(student, rng):
        student.agrees(rng.normal(size=3))

    drawn = []
    for reference in (double, shift):
        exercise = Exercise(reference, lesson="none", minutes=5, difficulty=1)
        exercise.spec(reference)
        for name in ("one", "other"):
            run = types.FunctionType(draw.__code__, draw.__globals__, name)
            exercise.case("A draw")(run)
        calls = judged(exercise, reference).calls
        drawn += [tuple(call.arguments[0].tolist()) for call in calls]
    assert len({*drawn}) == len(drawn) == 4


def stub(x):
    raise NotImplementedError


def half_written(x):
    if x.size == 3:
        return 2 * x
    raise NotImplementedError("later")


def library_raises(x):
    return Unready().answer(x)


class Unready:
    def answer(self, x):
        return self.__getattribute__("library")(x)

    def library(self, x):
        return from_a_library(x)


names = {}
exec("def from_a_library(x):\n    raise NotImplementedError('no such kernel')", names)
from_a_library = names["from_a_library"]


def test_stub_is_missing_and_other_exceptions_are_errors():
    assert statuses(judged(tiny(), stub)) == ["missing"] * 3
    assert statuses(judged(tiny(), lambda x: x.missing)) == ["error"] * 3
    assert statuses(judged(tiny(), half_written)) == ["ok", "missing", "missing"]


def test_not_implemented_error_of_a_library_is_no_stub():
    assert statuses(judged(tiny(), library_raises)) == ["error"] * 3


def test_stub_without_source_is_missing():
    raised = Raised(("NotImplementedError", "RuntimeError", "Exception"))
    result = judge(tiny(), lambda names: lambda *_: CallResult("raised", None, raised))
    assert statuses(result) == ["missing"] * 3


def test_endless_call_is_a_timeout():
    result = judge(tiny(), lambda names: lambda *_: CallResult("timeout"))
    assert statuses(result) == ["timeout"] * 3
    assert result.points == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: None,
        lambda x: (2 * x).tolist(),
        lambda x: (2 * x)[None],
        lambda x: 2 * x * np.nan,
        lambda x: (2 * x).astype(np.float16),
        lambda x: np.ma.array(2 * x),
        lambda x: (2 * x,),
        lambda x: (part for part in x),
    ],
)
def test_result_of_the_wrong_form_never_reaches_a_case(answer):
    values = []
    exercise = tiny()

    @exercise.case("Looks at the value")
    def looks(student, rng):
        values.append(student(np.array([1.0, 2.0])))

    result = judged(exercise, answer)
    assert statuses(result)[-1] == "wrong"
    # The reference's may: it says which calls come after one that ends a case.
    assert all(type(each) is np.ndarray and each.tolist() == [2, 4] for each in values)


def test_nan_never_passes_where_a_number_is_expected():
    exercise = tiny()

    @exercise.case("Any finite number will do")
    def any_number(student, rng):
        student(np.array([1.0]))

    assert statuses(judged(exercise, lambda x: x + np.nan))[-1] == "wrong"


def test_arguments_are_compared_after_the_call():
    exercise = tiny()

    @exercise.case("The argument stays as it is")
    def stays(student, rng):
        student.leaves_unchanged(rng.normal(size=3))

    def in_place(x):
        x *= 2
        return x

    assert statuses(judged(exercise, double))[-1] == "ok"
    result = judged(exercise, in_place)
    assert [v.failure and v.failure.reason for v in result.cases][-1] == "changed"
    assert statuses(judged(exercise, lambda x: x[:1]))[-1] == "ok"  # wrong otherwise
    assert statuses(judged(exercise, lambda x: None))[-1] == "wrong"


def test_error_can_be_the_right_answer():
    exercise = tiny()

    @exercise.case("A text is refused")
    def refused(student, rng):
        student.raises(ValueError, "text")

    def strict(x):
        if isinstance(x, str):
            raise np.linalg.LinAlgError("no text")  # a kind of ValueError
        return 2 * x

    def other(x):
        if isinstance(x, str):
            raise TypeError("no text")
        return 2 * x

    assert judged(exercise, strict).passed
    assert judged(exercise, double).cases[-1].failure.reason == "no_error"
    assert judged(exercise, other).cases[-1].failure.reason == "raised"


def test_plain_assert_in_a_case_is_a_claim():
    exercise = tiny()

    @exercise.case("All numbers are positive")
    def positive(student, rng):
        assert (student(np.array([-1.0])) > 0).all(), "All should be positive"

    failure = judged(exercise, double).cases[-1].failure
    assert failure.reason == "claim"
    assert failure.what.startswith("All should be positive")
    assert failure.call.arguments[0].tolist() == [-1.0]


def test_broken_case_costs_its_points_and_ends_nothing():
    exercise = tiny()

    @exercise.case("Trips over itself")
    def trips(student, rng):
        student(np.ones(3)).no_such_method()

    @exercise.case("Runs after it")
    def after(student, rng):
        student.agrees(np.ones(2))

    result = judged(exercise, double)
    assert statuses(result) == ["ok"] * 3 + ["error", "ok"]
    assert result.cases[3].failure.reason == "error"
    assert "no_such_method" in result.cases[3].failure.what


def test_case_that_changes_a_result_changes_no_record():
    exercise = tiny()

    @exercise.case("Spoils what it gets")
    def spoils(student, rng):
        x = np.ones(3)
        student(x)[:] = 7.0
        x[:] = 7.0

    call = judged(exercise, double).calls[-1]
    assert call.arguments[0].tolist() == [1.0] * 3
    assert call.result.value.tolist() == [2.0] * 3


# Answers to the exercise "both", which uses double and shift. They look those names up
# in this module, where a test binds them to whatever the learner wrote earlier.


def right(x):
    return shift(double(x))


def through_a_helper(x):
    def apply(function, value):
        return function(value)

    return apply(shift, _doubled(x))


def _doubled(x):
    return double(x)


class Both:
    def __call__(self, x):
        return shift(double(x))


def swapped(x):
    return double(shift(x))


def triple(x):
    return 3 * x


def down(x):
    return x - 1.0


USES = ("double", "shift")


def with_earlier(monkeypatch, **answers):
    for name, answer in answers.items():
        monkeypatch.setitem(globals(), name, answer)


ANSWERS = [
    right,
    through_a_helper,
    Both(),
    functools.partial(right),
    lambda x: shift(double(x)),
]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize(
    ("earlier", "blamed"),
    [
        ({"double": triple}, ("double",)),
        ({"shift": down}, ("shift",)),
        ({"double": triple, "shift": down}, ("double", "shift")),
        ({"double": lambda x: None}, ("double",)),
        ({"double": stub}, ("double",)),
        ({"shift": lambda x: x.missing}, ("shift",)),
        ({"double": "overwritten by a variable"}, ("double",)),
    ],
)
def test_wrong_earlier_answer_costs_nothing_here(monkeypatch, answer, earlier, blamed):
    with_earlier(monkeypatch, **earlier)
    result = judged(tiny(both, uses=USES), answer)
    assert result.passed
    assert result.points == 7.0
    assert result.blamed == blamed


def test_undefined_earlier_answer_costs_nothing(monkeypatch):
    monkeypatch.delitem(globals(), "double")
    result = judged(tiny(both, uses=USES), right)
    assert result.passed
    assert result.blamed == ("double",)


def test_right_answer_on_right_answers_blames_none():
    assert judged(tiny(both, uses=USES), right).blamed == ()


def test_wrong_answer_on_right_answers_blames_none():
    result = judged(tiny(both, uses=USES), swapped)
    assert not result.passed
    assert result.blamed == ()


def test_one_of_three_earlier_answers_is_blamed(monkeypatch):
    monkeypatch.setitem(COURSE, "third", double)
    with_earlier(monkeypatch, double=triple)
    result = judged(tiny(both, uses=("third", "shift", "double")), right)
    assert result.blamed == ("double",)


def test_both_wrong_gets_points_with_right_earlier_answers(monkeypatch):
    def right_for_tables(x):
        return shift(double(x)) if x.ndim == 2 else x

    with_earlier(monkeypatch, double=triple)
    result = judged(tiny(both, uses=USES), right_for_tables)
    assert not result.passed
    assert result.points == 4.0 + 1.0
    assert result.blamed == ("double",)


def with_misconception():
    exercise = tiny(both, uses=USES)

    @exercise.misconception("You add 1 first.", "What comes first?", why="Order.")
    def shifts_first(x):
        return 2 * (x + 1.0)

    return exercise


def test_both_wrong_is_named_with_right_earlier_answers(monkeypatch):
    with_earlier(monkeypatch, double=triple)
    result = judged(with_misconception(), swapped)
    assert result.diagnosis == "shifts_first"
    assert result.blamed == ("double",)


def test_both_wrong_without_a_name_keeps_its_own_calls(monkeypatch):
    with_earlier(monkeypatch, double=triple)
    result = judged(with_misconception(), lambda x: shift(double(x)) + 5.0)
    assert result.diagnosis == ""
    assert result.blamed == ()
    assert result.calls[0].result.value.tolist() == [9.0, 0.0, 7.5]


def renamed(function, name):
    """Return a function of this module as if defined under another name."""
    code = function.__code__.replace(co_name=name, co_qualname=name)
    return types.FunctionType(code, globals(), name)


def test_wrong_answer_above_a_stub_uses_the_courses_version(monkeypatch):
    def returns_nothing(x):
        shift(double(x))

    exercise = tiny(both, uses=USES)
    with_earlier(monkeypatch, double=renamed(stub, "double"))
    result = judged(exercise, returns_nothing)
    assert statuses(result) == ["wrong"] * 3
    assert result.blamed == ("double",)


def test_stub_above_a_stub_is_missing(monkeypatch):
    with_earlier(monkeypatch, double=stub)
    result = judged(tiny(both, uses=USES), stub)
    assert statuses(result) == ["missing"] * 3


def test_claim_failure_is_an_assertion_error():
    assert issubclass(ClaimFailure, AssertionError)


SAME = [
    *(None, 3, 0.5, "text", [1, (2, {"a": [b"x"]})], {1, 2}),
    *(np.array([[1.0, np.nan]]), np.zeros((0, 3)), torch.ones(2), [np.arange(3)]),
]
DIFFERENT = [
    *((1, 1.0), (1, True), ([1], [1, 2]), ([1], (1,)), ({"a": 1}, {"b": 1})),
    *((np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.zeros(2, int))),
    *((np.zeros(2), np.ones(2)), (torch.zeros(2), torch.zeros(2).double())),
    (list_that_holds_itself(), list_that_holds_itself()),
]


def results(value):
    calls = (Call((), {}, CallResult("value", value)),)
    return ExerciseResult("f", 0.0, 1.0, (), calls=calls)


@pytest.mark.parametrize("value", SAME, ids=repr)
def test_results_of_same_bits_are_the_same_calls(value):
    assert judging._same_calls(results(value), results(copied(value)))


@pytest.mark.parametrize("pair", DIFFERENT, ids=repr)
def test_results_that_may_differ_are_not_the_same_calls(pair):
    assert not judging._same_calls(*map(results, pair))


def test_unexplained_answer_gets_a_sentence_that_is_true_of_it():
    result = judged(tiny(), lambda x: 7 * x)
    assert (result.diagnosis, "3.5" in result.evidence) == ("", True)
    assert judged(tiny(), double).evidence == ""


def test_explained_answer_gets_its_name_alone():
    exercise = tiny()

    @exercise.misconception("You triple.", "How often is x added?", why="A slip.")
    def tripled(x):
        return 3 * x

    result = judged(exercise, lambda x: x + 2 * x)
    assert (result.diagnosis, result.evidence) == ("tripled", "")


WITHOUT_AXIS = {
    "np.exp(x) / np.exp(x).sum()": {"no_max_subtraction", "summed_over_everything"},
    "np.exp(x) / np.exp(x).sum(-1, keepdims=True)": {
        "no_max_subtraction",
        "axis_ignored",
    },
}


@pytest.mark.parametrize("value", WITHOUT_AXIS)
def test_missing_parameter_is_named_beside_the_errors(value):
    names = {"np": np}
    exec(f"def softmax(x):\n    return {value}", names)
    result = judge(load("softmax"), lambda _: local_runner(names["softmax"]))
    assert result.evidence == "Your `softmax` takes no `axis`, and the stub's does."
    assert {*result.misconceptions} == WITHOUT_AXIS[value]


def test_parameter_that_a_helper_lacks_is_not_missing():
    names = {"np": np}
    text = """def shares(e):
    return e / e.sum(axis=-1, keepdims=True)

def softmax(x, axis=-1):
    return shares(np.exp(x), axis=axis)
"""
    exec(text, names)
    result = judge(load("softmax"), lambda _: local_runner(names["softmax"]))
    assert "takes no" not in result.evidence


def test_random_result_is_told_as_such():
    rng = np.random.default_rng(0)
    result = judged(tiny(), lambda x: x + rng.normal(size=x.shape))
    assert "called once more with the same arguments" in result.evidence


def test_result_that_comes_again_is_not_called_random():
    result = judged(tiny(), lambda x: 3 * x)
    assert "once more" not in result.evidence
