"""The gradients of a model of one parameter, in a real browser, as PyTorch has them."""

import numpy as np
import pytest
import torch

from course_lib import figures
from tests.figures.living import assert_accessible, opened

ALT = "The loss of a model of one parameter, and the gradients from it back."
W, X, TARGET, LEARNING_RATE = 1.5, 2.0, 7.0, 0.05


@pytest.fixture
def figure():
    return figures.backward_pass(W, X, TARGET, learning_rate=LEARNING_RATE, alt=ALT)


def by_torch(w, x=X, target=TARGET):
    """Return the values and their gradients, from the parameter to the loss."""
    parameter = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    values = [parameter, parameter * x]
    values += [values[1] - target]
    values += [values[2] ** 2]
    for each in values[1:]:
        each.retain_grad()
    values[-1].backward()
    return [each.item() for each in values], [each.grad.item() for each in values]


def numbers_of(page, what):
    texts = page.eval_on_selector_all(
        f".bp-{what}", "all => all.map(e => e.dataset.value)"
    )
    return [float(each) if each else None for each in texts]


def press(page, name):
    page.get_by_role("button", name=name).click()


@pytest.mark.parametrize(
    ("w", "x", "target"), [(1.5, 2.0, 7.0), (-2.0, -0.5, 3.0), (4.0, 1.0, 4.0)]
)
def test_values_and_gradients_are_those_of_pytorch(w, x, target, tmp_path):
    figure = figures.backward_pass(w, x, target, learning_rate=0.1, alt=ALT)
    values, gradients = by_torch(w, x, target)
    with opened(tmp_path, figure) as page:
        np.testing.assert_allclose(numbers_of(page, "value"), values)
        assert numbers_of(page, "gradient") == [None] * 4
        press(page, "All the way back")
        np.testing.assert_allclose(numbers_of(page, "gradient"), gradients)


def test_gradients_come_one_by_one_from_the_loss_back(figure, tmp_path):
    _, gradients = by_torch(W)
    with opened(tmp_path, figure) as page:
        for n_known in range(1, 5):
            press(page, "One value back")
            expected = [None] * (4 - n_known) + gradients[4 - n_known :]
            assert numbers_of(page, "gradient") == expected
        sentence = page.locator(".said").inner_text()
        assert "−8.00 · 2 = −16.00." in sentence and "the loss falls" in sentence
        assert page.get_by_role("button", name="One value back").is_disabled()


def test_steps_lower_the_loss_as_gradient_descent_does(figure, tmp_path):
    w, losses = W, []
    with opened(tmp_path, figure) as page:
        assert page.get_by_role("button", name="Step").is_disabled()
        for _ in range(3):
            press(page, "All the way back")
            press(page, "Step")
            w -= LEARNING_RATE * by_torch(w)[1][0]
            losses.append(by_torch(w)[0][3])
            np.testing.assert_allclose(numbers_of(page, "value")[3], losses[-1])
            assert numbers_of(page, "gradient") == [None] * 4  # they were of the old w
        assert losses == sorted(losses, reverse=True)
        history = page.locator(".bp-history").inner_text()
        assert history == "loss: 16.00 → 5.76 → 2.07 → 0.75"
        press(page, "From the start")
        assert numbers_of(page, "value")[0] == W
        assert page.locator(".bp-history").inner_text() == ""


def test_parameter_that_is_moved_has_no_gradients_yet(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        press(page, "All the way back")
        page.get_by_role("slider").press("ArrowRight")
        assert numbers_of(page, "value")[0] == pytest.approx(W + 0.05)
        assert numbers_of(page, "gradient") == [None] * 4


def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


@pytest.mark.parametrize(
    "change",
    [
        {"w": np.inf},
        {"x": 0.0},
        {"target": 1000.0},
        {"learning_rate": 0.0},
        {"learning_rate": -1.0},
    ],
)
def test_numbers_that_cannot_be_drawn_are_refused(change):
    arguments = {
        "w": W,
        "x": X,
        "target": TARGET,
        "learning_rate": LEARNING_RATE,
    } | change
    with pytest.raises(ValueError, match=r"^w(=|, )"):
        figures.backward_pass(**arguments, alt=ALT)
