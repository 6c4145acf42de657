"""Reversing and extrapolation: targets, encodings, bounds and records."""

import numpy as np
import pytest
import torch

from course_lib.experiments import extrapolation, record, reversing
from course_lib.lessons.single_head_model import (
    D_MODEL,
    IGNORE_INDEX,
    AdditivePositions,
    PositionEncoding,
    RotaryEncoding,
    SingleHeadModel,
    draw_sequences,
)
from course_lib.lessons.wrong_encodings import (
    encoding_of,
    smallest_distance,
    wrong_frequencies,
)
from course_lib.positions import rotary, sinusoidal_encoding

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


def test_reversing_targets_are_the_reversed_sequence():
    trained = reversing.train_to_reverse(None, steps=0)
    assert trained.make_targets(TOKENS).tolist() == [[5, 1, 4, 1, 3]]


def test_extrapolation_targets_are_three_positions_back():
    trained = extrapolation.train_kind("rotary", steps=0)
    targets = trained.make_targets(TOKENS).tolist()
    assert targets == [[IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX, 3, 1]]
    assert TOKENS.tolist() == [[3, 1, 4, 1, 5]]


def test_model_without_encoding_is_equivariant():
    torch.manual_seed(0)
    tokens, order = (
        draw_sequences(np.random.default_rng(0), 2, 7),
        [2, 0, 1, 6, 3, 5, 4],
    )
    table = sinusoidal_encoding(7, D_MODEL)
    for encoding, alike in (
        (PositionEncoding(), True),
        (AdditivePositions(table), False),
    ):
        model = SingleHeadModel(encoding)
        permuted, plain = model(tokens[:, order])[0], model(tokens)[0][:, order]
        assert torch.allclose(permuted, plain, atol=1e-5) == alike


def test_rotary_positions_match_rotary():
    x = np.random.default_rng(0).normal(size=(2, 5, D_MODEL))
    turned = RotaryEncoding().rotate(torch.from_numpy(x), torch.arange(5) + 40)
    np.testing.assert_allclose(turned, rotary(x, np.arange(5) + 40), atol=1e-4)


def test_order_blind_accuracy_is_little_above_chance():
    assert 0.2 < reversing.order_blind_accuracy() < 0.26


def test_training_is_repeatable_and_leaves_pytorch_unchanged():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    one, two = (reversing.train_to_reverse(None, seed=3, steps=5) for _ in range(2))
    np.testing.assert_array_equal(one.weights(16), two.weights(16))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_training_changes_a_learned_encoding_only():
    for kind, moves in (("learned", True), ("sinusoidal", False)):
        before = extrapolation.train_kind(
            kind, steps=0
        ).model.position_encoding.encoding
        after = extrapolation.train_kind(kind, steps=3).model.position_encoding.encoding
        assert torch.equal(before, after) != moves


def test_training_leaves_unused_rows_of_the_encoding():
    before = extrapolation.train_kind(
        "learned", steps=0
    ).model.position_encoding.encoding
    after = extrapolation.train_kind(
        "learned", steps=3
    ).model.position_encoding.encoding
    assert torch.equal(before[extrapolation.LENGTH :], after[extrapolation.LENGTH :])


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'sinus' is none of learned"):
        extrapolation.train_kind("sinus", steps=0)


def test_wrong_encodings_differ_from_the_right_one():
    right = sinusoidal_encoding(64, D_MODEL)
    speeds = 10000.0 ** (-np.arange(0, D_MODEL, 2) / D_MODEL)
    np.testing.assert_allclose(encoding_of(speeds, 64), right, atol=1e-12)
    for name, others in wrong_frequencies(D_MODEL).items():
        assert others.shape == speeds.shape, name
        assert not np.allclose(encoding_of(others, 64), right, atol=0.1), name


def test_smallest_distance_by_hand():
    assert smallest_distance(np.array([[0.0, 1.0], [3.0, 1.0], [3.0, 2.0]])) == 1.0


def test_records_support_the_lesson():
    runs = record.read("reversing")
    for name in reversing.encodings(0):
        scores = runs.values(name)
        assert max(scores) < 0.26 if name == "none" else min(scores) > 0.99, name
    later = record.read("extrapolation")
    assert min(later.values("rotary, positions 100–115")) > 0.99
    assert max(later.values("learned, positions 16–31")) < 0.5
    # Guessing gets 0.10 right, and distances of that size were not trained on.
    assert max(later.values("rotary, positions 0–1023")) < 0.25
