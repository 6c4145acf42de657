"""Windows of a text with their targets, and bits per byte."""

import math

import pytest
import torch

from course_lib.nn.language_data import bits_per_byte, language_model_batch


def test_targets_are_what_comes_after_the_inputs():
    token_ids = torch.arange(100, 120)
    inputs, targets = language_model_batch(token_ids, 5, torch.tensor([0, 14, 7]))
    assert inputs[:, 0].tolist() == [100, 114, 107]
    assert targets[1].tolist() == [115, 116, 117, 118, 119]
    assert torch.equal(inputs[:, 1:], targets[:, :-1])


@pytest.mark.parametrize(
    ("length", "starts", "message"),
    [
        (5, [15], "starts must be from 0 to 14"),
        (5, [-1], "starts must be from 0 to 14"),
        (20, [0], "starts must be from 0 to -1"),
        (0, [0], "length must be at least 1"),
    ],
)
def test_windows_without_a_target_are_refused(length, starts, message):
    with pytest.raises(ValueError, match=message):
        language_model_batch(torch.arange(20), length, torch.tensor(starts))


def test_bits_per_byte_do_not_depend_on_how_tokens_are_cut():
    text = "Größe"  # 7 bytes in UTF-8
    bytewise = torch.full((7,), math.log(256))
    assert bits_per_byte(bytewise, text) == pytest.approx(8)
    assert bits_per_byte(bytewise.sum().reshape(1, 1), text) == pytest.approx(8)


@pytest.mark.parametrize("losses", [[math.nan], [-0.1]])
def test_bits_per_byte_refuse_what_is_no_loss(losses):
    with pytest.raises(ValueError, match="losses must be 0 or more"):
        bits_per_byte(torch.tensor(losses), "a")
    with pytest.raises(ValueError, match="text must not be empty"):
        bits_per_byte(torch.tensor([1.0]), "")
