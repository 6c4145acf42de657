"""Reversing and looking back: right answers, honest bounds, kept records that fit."""

import numpy as np
import pytest
import torch

from course_lib.experiments import extrapolation, record, reversing
from course_lib.lessons.single_head_model import (
    D_MODEL,
    IGNORE_INDEX,
    AdditivePositions,
    PositionEncoding,
    RotaryPositions,
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


def test_reversing_asks_for_the_sequence_backwards():
    trained = reversing.train_to_reverse(None, steps=0)
    assert trained.make_targets(TOKENS).tolist() == [[5, 1, 4, 1, 3]]


def test_looking_back_asks_for_the_token_three_places_before():
    trained = extrapolation.train_kind("rotary", steps=0)
    asked = trained.make_targets(TOKENS).tolist()
    assert asked == [[IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX, 3, 1]]
    assert TOKENS.tolist() == [[3, 1, 4, 1, 5]]


def test_without_places_the_model_treats_all_places_alike():
    torch.manual_seed(0)
    tokens, order = (
        draw_sequences(np.random.default_rng(0), 2, 7),
        [2, 0, 1, 6, 3, 5, 4],
    )
    table = sinusoidal_encoding(7, D_MODEL)
    for places, alike in (
        (PositionEncoding(), True),
        (AdditivePositions(table), False),
    ):
        model = SingleHeadModel(places)
        permuted, plain = model(tokens[:, order])[0], model(tokens)[0][:, order]
        assert torch.allclose(permuted, plain, atol=1e-5) == alike


def test_turned_places_are_the_lessons_rotary():
    x = np.random.default_rng(0).normal(size=(2, 5, D_MODEL))
    turned = RotaryPositions().rotate(torch.from_numpy(x), torch.arange(5) + 40)
    np.testing.assert_allclose(turned, rotary(x, np.arange(5) + 40), atol=1e-4)


def test_the_best_guess_without_order_beats_chance_and_no_more():
    assert 0.2 < reversing.order_blind_accuracy() < 0.26


def test_training_is_repeatable_and_leaves_pytorch_as_it_was():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    one, two = (reversing.train_to_reverse(None, seed=3, steps=5) for _ in range(2))
    np.testing.assert_array_equal(one.weights(16), two.weights(16))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_only_a_learned_table_moves():
    for kind, moves in (("learned", True), ("sinusoidal", False)):
        before = extrapolation.train_kind(
            kind, steps=0
        ).model.position_encoding.encoding
        after = extrapolation.train_kind(kind, steps=3).model.position_encoding.encoding
        assert torch.equal(before, after) != moves


def test_a_learned_table_keeps_the_places_it_never_saw():
    before = extrapolation.train_kind(
        "learned", steps=0
    ).model.position_encoding.encoding
    after = extrapolation.train_kind(
        "learned", steps=3
    ).model.position_encoding.encoding
    assert torch.equal(before[extrapolation.LENGTH :], after[extrapolation.LENGTH :])


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'sinus' is none of learned"):
        extrapolation.train_kind("sinus", steps=0)


def test_the_mistakes_are_mistakes():
    right = sinusoidal_encoding(64, D_MODEL)
    speeds = 10000.0 ** (-np.arange(0, D_MODEL, 2) / D_MODEL)
    np.testing.assert_allclose(encoding_of(speeds, 64), right, atol=1e-12)
    for name, others in wrong_frequencies(D_MODEL).items():
        assert others.shape == speeds.shape, name
        assert not np.allclose(encoding_of(others, 64), right, atol=0.1), name


def test_the_smallest_distance_are_found():
    assert smallest_distance(np.array([[0.0, 1.0], [3.0, 1.0], [3.0, 2.0]])) == 1.0


def test_the_kept_runs_say_what_the_lesson_says():
    kept = record.read("reversing")
    for name in reversing.encodings(0):
        scores = kept.values(name)
        assert max(scores) < 0.26 if name == "none" else min(scores) > 0.99, name
    later = record.read("extrapolation")
    assert min(later.values("rotary, positions 100–115")) > 0.99
    assert max(later.values("learned, positions 16–31")) < 0.5
