"""Cases that are stated by the sizes of their calls."""

import numpy as np
import pytest
import torch

from autograder import Exercise, standard_cases
from autograder.checking.judging import judge
from autograder.in_notebook.check import local_runner_factory
from course_lib.attention import scaled_scores
from course_lib.nn.functional import feed_forward


def of_scores():
    exercise = Exercise(scaled_scores, lesson="00_x", minutes=5, difficulty=1)
    exercise.spec(scaled_scores)
    return exercise, exercise.inputs(n=5, m=7, d_k=4)


def statuses(exercise, answer):
    result = judge(exercise, local_runner_factory(answer))
    return {verdict.case: verdict.status for verdict in result.cases}


def test_standard_case_keeps_its_name_claim_and_weight():
    exercise, inputs = of_scores()
    exercise.case("Nothing is modified", weight=0.5, visible=False)(
        standard_cases.arguments_stay(inputs, ())
    )
    (case,) = exercise.cases
    assert case.name == "arguments_stay"
    assert (case.claim, case.weight, case.visible) == (
        "Nothing is modified",
        0.5,
        False,
    )


def test_calls_have_the_sizes_that_are_stated():
    exercise, inputs = of_scores()
    calls = (2, 3), {"leading": (4,), "alike": 6}, {"d_k": 1}
    exercise.case("Any batch")(standard_cases.leading_axes(inputs, *calls))
    shapes = []

    def answer(q, k):
        shapes.append((q.shape, k.shape))
        return scaled_scores(q, k)

    assert statuses(exercise, answer) == {"leading_axes": "ok"}
    assert shapes == [
        ((2, 3, 5, 4), (2, 3, 7, 4)),
        ((4, 6, 6), (4, 6, 6)),
        ((5, 1), (7, 1)),
    ]


def test_leading_axes_refuses_one_sequence_for_all():
    exercise, inputs = of_scores()
    exercise.case("Any batch")(standard_cases.leading_axes(inputs, (), (2,)))

    def answer(q, k):
        return scaled_scores(q, k[..., :1, :, :] if k.ndim > 2 else k)

    assert statuses(exercise, answer) == {"leading_axes": "wrong"}


def test_arguments_stay_refuses_what_is_written_into_an_argument():
    exercise, inputs = of_scores()
    exercise.case("Nothing is modified")(
        standard_cases.arguments_stay(inputs, (), {"alike": 3})
    )

    def answer(q, k):
        scores = scaled_scores(q, k)
        if scores.shape == q.shape:
            q[:] = scores
        return scores

    assert statuses(exercise, answer) == {"arguments_stay": "wrong"}
    assert statuses(exercise, scaled_scores) == {"arguments_stay": "ok"}


def test_double_precision_refuses_answers_for_float32_alone():
    exercise = Exercise(feed_forward, lesson="00_x", minutes=5, difficulty=1)
    exercise.spec(feed_forward)
    inputs = exercise.inputs(d_model=4, d_ff=7)
    exercise.case("float64 too")(standard_cases.double_precision(inputs, (4,)))
    dtypes = []

    def answer(x, w_1, b_1, w_2, b_2):
        dtypes.append(x.dtype)
        x = x + torch.eye(4, dtype=torch.float32) @ w_1 @ w_2
        return feed_forward(x, w_1, b_1, w_2, b_2)

    assert statuses(exercise, answer) == {"double_precision": "error"}
    assert dtypes[0] == torch.float64
    assert statuses(exercise, feed_forward) == {"double_precision": "ok"}


def test_standard_case_without_a_call_is_refused():
    _, inputs = of_scores()
    with pytest.raises(TypeError, match=r"leading_axes needs the sizes of a call"):
        standard_cases.leading_axes(inputs)


def test_each_draw_has_numbers_of_its_own():
    exercise, inputs = of_scores()
    exercise.case("Any batch")(standard_cases.leading_axes(inputs, (), ()))
    queries = []

    def answer(q, k):
        queries.append(q)
        return scaled_scores(q, k)

    statuses(exercise, answer)
    assert not np.array_equal(*queries[:2])
