"""Decoding of batches: equal to the exercises' functions, one sentence at a time."""

import numpy as np
import pytest
import torch

from course_lib.lessons.environment import one_thread
from course_lib.nn import decoding
from course_lib.nn.decoding import BeamHypotheses
from tests.nn.translators import (
    END_ID,
    KINDS,
    PADDING_ID,
    START_ID,
    VOCAB_SIZE,
    translator,
)

SOURCES = [[3, 4, 5, 6], [7, 8], [9], [10, 3, 3], [4, 9, 8, 7, 6, 5], [6, 6], [5, 10]]
each_kind = pytest.mark.parametrize("kind", KINDS)
MODELS = [(kind, seed) for kind in KINDS for seed in range(3)]


def model_and_end(kind, seed):
    """Make a translator, and choose as end a token that it decodes late."""
    model = translator(kind, seed=seed)
    targets = decoding.translate(model, SOURCES, START_ID, -1, max_length=9)
    return model, max(
        (target.index(each), each) for target in targets for each in target
    )[1]


def alone(model, source):
    """Return a function for ``greedy_decode`` and ``beam_search``, without a cache."""

    @torch.no_grad()
    def next_log_probabilities(token_ids):
        logits = model(torch.tensor([source]), torch.tensor([token_ids]))[0, -1]
        return logits.log_softmax(dim=-1).numpy()

    return next_log_probabilities


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.mark.parametrize(("kind", "seed"), MODELS)
def test_batch_greedy_matches_greedy_decode(kind, seed):
    model, end = model_and_end(kind, seed)
    targets = decoding.translate(
        model, SOURCES, START_ID, end, max_length=9, batch_size=4
    )
    for source, target in zip(SOURCES, targets, strict=True):
        log_probabilities = alone(model, source)
        assert target == decoding.greedy_decode(log_probabilities, START_ID, end, 9)


@pytest.mark.parametrize(("kind", "seed"), MODELS)
@pytest.mark.parametrize(("beam_size", "alpha"), [(2, 0.6), (4, 0.0), (13, 1.0)])
def test_batch_beam_search_matches_beam_search(kind, seed, beam_size, alpha):
    model, end = model_and_end(kind, seed)
    options = {"beam_size": beam_size, "max_length": 4, "alpha": alpha}
    targets = decoding.translate(model, SOURCES, START_ID, end, batch_size=4, **options)
    for source, target in [*zip(SOURCES, targets, strict=True)][seed::3]:
        log_probabilities = alone(model, source)
        assert target == decoding.beam_search(
            log_probabilities, START_ID, end, **options
        )


def test_compared_translations_differ_also_in_length():
    targets, beams = [], []
    for kind, seed in MODELS:
        model, end = model_and_end(kind, seed)
        targets += decoding.translate(model, SOURCES, START_ID, end, max_length=9)
        beams += decoding.translate(
            model, SOURCES, START_ID, end, max_length=9, beam_size=4
        )
    assert {len(target) for target in targets} >= {0, 1, 2, 3, 9}
    assert len({tuple(target) for target in targets}) > 40
    assert sum(one != four for one, four in zip(targets, beams, strict=True)) > 20


def test_finished_hypotheses_leave_fewer_unfinished():
    beam = BeamHypotheses(beam_size=3, end_id=END_ID)
    assert beam.advance([([-1.0, -2.0, -3.0], [END_ID, 5, 6])]) == [0, 0]
    assert [tokens for tokens, _ in beam.unfinished] == [[5], [6]]
    more = [([-0.5, -0.6], [7, 8]), ([-0.1, -0.9], [9, END_ID])]
    assert beam.advance(more) == [0, 0]
    assert [tokens for tokens, _ in beam.unfinished] == [[5, 7], [5, 8]]
    assert [tokens for tokens, _ in beam.finished] == [[END_ID]]


class Counting:
    """A translator with fixed translations, which counts its steps."""

    padding_id, max_length, training = PADDING_ID, None, True

    def __init__(self, targets):
        self.targets, self.steps, self.config = targets, 0, self
        self.vocab_size = VOCAB_SIZE

    def parameters(self):
        yield torch.zeros(1)

    def train(self, mode=True):
        self.training = mode

    def eval(self):
        self.train(False)

    def encode(self, source):
        return source[:, 0] - 3

    def initial_state(self, memory):
        return Rows(memory)

    def step(self, token_ids, state):
        assert not self.training
        assert torch.is_inference_mode_enabled()
        self.steps += 1
        right = [[*self.targets[row], END_ID][self.steps - 1] for row in state.rows]
        return torch.eye(VOCAB_SIZE)[right] * 50, state


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def select(self, rows):
        return Rows(self.rows[rows])


def test_decoding_stops_early_and_drops_finished_rows():
    model = Counting([[5, 6, 7], [8], []])
    targets = decoding.translate(
        model, [[5], [3], [4]], START_ID, END_ID, max_length=50
    )
    assert targets == [[], [5, 6, 7], [8]]
    assert model.steps == 4
    assert model.training  # as before


def test_mode_is_restored_after_an_error():
    model = translator("pre-norm").train()
    with pytest.raises(ValueError, match="a sequence has 21 tokens"):
        decoding.translate(model, [[3] * 21], START_ID, END_ID)
    assert model.training


@each_kind
def test_max_length_is_kept(kind):
    model = translator(kind)
    for beam_size in (1, 3):
        targets = decoding.translate(
            model, SOURCES, START_ID, END_ID, max_length=2, beam_size=beam_size
        )
        assert max(len(target) for target in targets) <= 2


def test_decoding_ends_at_the_last_position():
    longest = 0
    for seed in range(6):
        model = translator("pre-norm", seed=seed, n_positions=6)
        for beam_size in (1, 3):
            targets = decoding.translate(
                model, SOURCES, START_ID, END_ID, max_length=50, beam_size=beam_size
            )
            longest = max(longest, *(len(target) for target in targets))
    assert longest == 6


@each_kind
def test_empty_sources_give_empty_translations(kind):
    model = translator(kind)
    assert decoding.translate(model, [], START_ID, END_ID) == []
    assert decoding.translate(model, [[], []], START_ID, END_ID) == [[], []]
    targets = decoding.translate(model, [[], [3, 4], []], START_ID, END_ID)
    assert targets == [[], *decoding.translate(model, [[3, 4]], START_ID, END_ID), []]


@pytest.mark.parametrize("token_id", [-1, VOCAB_SIZE, PADDING_ID])
def test_unknown_token_ids_are_refused(token_id):
    words = (
        f"token id {token_id} is not one of this model's: they are 0 to 10, without 0"
    )
    with pytest.raises(ValueError, match=words):
        decoding.translate(translator("none"), [[3], [4, token_id]], START_ID, END_ID)


def test_translate_leaves_the_model_unchanged():
    model = translator("additive", dropout=0.5)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    first = decoding.translate(model.train(), SOURCES, START_ID, END_ID, max_length=9)
    assert first == decoding.translate(model, SOURCES, START_ID, END_ID, max_length=9)
    for name, each in model.state_dict().items():
        np.testing.assert_array_equal(each, before[name])
