"""The experiment on questions that need two heads: task, layer, training, record."""

import numpy as np
import pytest
import torch

from course_lib.experiments import record, two_heads
from course_lib.heads import multi_head_attention


def test_answers_are_differences_of_the_days_asked_for():
    x, memory, answers = two_heads.draw(50, np.random.default_rng(4))
    for asked, week, answer in zip(x[:, 0], memory, answers[:, 0], strict=True):
        first, second = asked[:7].argmax(), asked[7:14].argmax()
        assert asked.sum() == 2.0 and first != second
        expected = week[first, 14:] - week[second, 14:]
        np.testing.assert_array_equal(answer, expected)
        np.testing.assert_array_equal(week[:, :14], np.eye(7, 14))


def test_answers_have_variance_two():
    answers = two_heads.draw(20_000, np.random.default_rng(5))[2]
    # The standard error of this variance is 2 · √(2 / 40,000), about 0.014.
    assert answers.var() == pytest.approx(2.0, abs=0.07)


def test_days_are_asked_for_equally_often_in_both_orders():
    x = two_heads.draw(7_000, np.random.default_rng(6))[0][:, 0]
    for days in (x[:, :7], x[:, 7:14]):
        assert days.sum(axis=0).min() > 850  # 1,000 expected, deviation 29
    later = (x[:, :7].argmax(axis=1) > x[:, 7:14].argmax(axis=1)).mean()
    assert later == pytest.approx(0.5, abs=0.04)


def test_question_and_week_by_hand():
    asked = two_heads.question(np.array(3), np.array(0))
    assert np.flatnonzero(asked).tolist() == [3, 7]
    week = two_heads.week(np.arange(14.0).reshape(7, 2))
    assert asked.shape == (1, 16) and week.shape == (7, 16)
    np.testing.assert_array_equal(week[3], np.r_[np.eye(7)[3], np.zeros(7), 6.0, 7.0])


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_layer_matches_multi_head_attention(n_heads):
    rng = np.random.default_rng(7)
    shapes = {"w_q": (16, 16), "w_k": (16, 16), "w_v": (16, 16), "w_o": (16, 2)}
    parameters = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    x, memory, _ = two_heads.draw(3, rng)
    tensors = {name: torch.from_numpy(part) for name, part in parameters.items()}
    output = two_heads.multi_head_layer(
        *map(torch.from_numpy, (x, memory)), tensors, n_heads
    )
    expected = multi_head_attention(x, memory, **parameters, n_heads=n_heads)[0]
    np.testing.assert_allclose(output.numpy(), expected, rtol=0, atol=1e-12)


def by_hand(n_heads):
    """Return a layer whose head 0 attends to the first day and head 1 to the second."""
    w_q, w_k, w_v = np.zeros((3, 16, 16))
    d_k = 16 // n_heads
    for h, sign in enumerate((1.0, -1.0)[:n_heads]):
        w_q[7 * h : 7 * h + 7, d_k * h : d_k * h + 7] = 40 * np.eye(7)
        w_k[:7, d_k * h : d_k * h + 7] = np.eye(7)
        w_v[14:, d_k * h : d_k * h + 2] = sign * np.eye(2)
    w_o = np.zeros((16, 2))
    w_o[:2], w_o[d_k % 16 : d_k % 16 + 2] = np.eye(2), np.eye(2)
    parts = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    parts = {name: part.astype(np.float32) for name, part in parts.items()}
    return two_heads.TrainedHeads(n_heads, parts, np.nan)


def test_error_of_hand_made_heads():
    assert two_heads.error([by_hand(2)]) < 1e-3
    # 8,000 answers: the share differs from a half by about 0.01.
    assert two_heads.error([by_hand(1)]) == pytest.approx(0.5, abs=0.04)


def at_second():
    """Return a layer of one head that attends to the second day, and subtracts it."""
    parts = dict(by_hand(1).parameters)
    parts["w_q"] = np.roll(parts["w_q"], 7, axis=0)
    parts["w_o"] = -parts["w_o"]
    return two_heads.TrainedHeads(1, parts, np.nan)


def test_attends_to_first_tells_the_two_days_apart():
    assert two_heads.attends_to_first(by_hand(1), n=200) == 1.0
    assert two_heads.attends_to_first(at_second(), n=200) == 0.0


def test_error_of_mixed_ensemble_is_five_eighteenths():
    mixed = [by_hand(1), by_hand(1), at_second()]
    # 8,000 answers: the share differs by about 0.01.
    assert two_heads.error(mixed) == pytest.approx(5 / 18, abs=0.02)
    assert two_heads.error([at_second()] * 3) == pytest.approx(0.5, abs=0.04)


def test_ensemble_averages_its_answers():
    right, half = by_hand(2), by_hand(1)
    # The mean of a − b and a misses b by half of it: a quarter of a half remains.
    assert two_heads.error([right, half]) == pytest.approx(0.125, abs=0.02)


def test_training_learns_and_is_repeatable():
    short = two_heads.train(2, steps=20)
    repeated = two_heads.train(2, steps=20)
    assert short.error == repeated.error < 1.0
    assert short.parameters["w_o"].shape == (16, 2)
    assert two_heads.train(2, seed=1, steps=20).error != short.error


def test_training_leaves_the_number_of_threads():
    before = torch.get_num_threads()
    two_heads.train(1, steps=1)
    assert torch.get_num_threads() == before


def test_record_supports_the_lesson():
    results = record.read("two_heads")
    assert all(0.4 < value < 0.6 for value in results.values("error_1"))
    for name in ("error_2", "error_4"):
        assert max(results.values(name)) < 0.02
    one_differs = np.array(results.values("ensemble_at_first")) % 3 > 0
    errors = np.array(results.values("error_ensemble"))
    assert errors[one_differs].max() < 0.4 < errors[~one_differs].min()
