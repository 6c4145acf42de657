"""Decoding of batches: equal to the course's search of one text at a time."""

import numpy as np
import pytest
import torch

from course_lib.lessons.environment import one_thread
from course_lib.nn import decoding
from course_lib.nn import decoding as searching
from course_lib.nn.decoding import Search
from tests.nn.translators import END, KINDS, PADDING, START, VOCAB_SIZE, translator

SOURCES = [[3, 4, 5, 6], [7, 8], [9], [10, 3, 3], [4, 9, 8, 7, 6, 5], [6, 6], [5, 10]]
each_kind = pytest.mark.parametrize("kind", KINDS)
MODELS = [(kind, seed) for kind in KINDS for seed in range(3)]


def model_and_end(kind, seed):
    """Make a translator, and choose as end what it writes late in one of its texts."""
    model = translator(kind, seed=seed)
    written = decoding.translate(model, SOURCES, START, -1, max_length=9)
    return model, max((text.index(each), each) for text in written for each in text)[1]


def alone(model, source):
    """Score what may come next without a cache, as the functions want it."""

    @torch.no_grad()
    def next_log_probabilities(tokens):
        logits = model(torch.tensor([source]), torch.tensor([tokens]))[0, -1]
        return logits.log_softmax(dim=-1).numpy()

    return next_log_probabilities


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.mark.parametrize(("kind", "seed"), MODELS)
def test_greedy_is_that_of_each_text_alone(kind, seed):
    model, end = model_and_end(kind, seed)
    found = decoding.translate(model, SOURCES, START, end, max_length=9, batch_size=4)
    for source, target in zip(SOURCES, found, strict=True):
        scores = alone(model, source)
        assert target == searching.greedy_decode(scores, START, end, 9)


@pytest.mark.parametrize(("kind", "seed"), MODELS)
@pytest.mark.parametrize(("beam_size", "alpha"), [(2, 0.6), (4, 0.0), (13, 1.0)])
def test_beams_are_those_of_each_text_alone(kind, seed, beam_size, alpha):
    model, end = model_and_end(kind, seed)
    options = {"beam_size": beam_size, "max_length": 4, "alpha": alpha}
    found = decoding.translate(model, SOURCES, START, end, batch_size=4, **options)
    for source, target in [*zip(SOURCES, found, strict=True)][seed::3]:
        scores = alone(model, source)
        assert target == searching.beam_search(scores, START, end, **options)


def test_the_texts_compared_above_differ_and_end_at_different_times():
    found, beams = [], []
    for kind, seed in MODELS:
        model, end = model_and_end(kind, seed)
        found += decoding.translate(model, SOURCES, START, end, max_length=9)
        beams += decoding.translate(
            model, SOURCES, START, end, max_length=9, beam_size=4
        )
    assert {len(text) for text in found} >= {0, 1, 2, 3, 9}
    assert len({tuple(text) for text in found}) > 40
    assert sum(one != four for one, four in zip(found, beams, strict=True)) > 20


def test_beams_that_have_ended_leave_fewer_to_go_on():
    search = Search(beam_size=3, end=END)
    assert search.continue_by([([-1.0, -2.0, -3.0], [END, 5, 6])]) == [0, 0]
    assert [text for text, _ in search.live] == [[5], [6]]
    more = [([-0.5, -0.6], [7, 8]), ([-0.1, -0.9], [9, END])]
    assert search.continue_by(more) == [0, 0]
    assert [text for text, _ in search.live] == [[5, 7], [5, 8]]
    assert [text for text, _ in search.done] == [[END]]


class Counting:
    """A translator that knows what it will write, and counts how often it is asked."""

    padding, longest, training = PADDING, None, True

    def __init__(self, texts):
        self.texts, self.steps, self.sizes = texts, 0, self
        self.vocab_size = VOCAB_SIZE

    def parameters(self):
        yield torch.zeros(1)

    def train(self, mode=True):
        self.training = mode

    def eval(self):
        self.train(False)

    def encode(self, source):
        return source[:, 0] - 3

    def start(self, memory):
        return Rows(memory)

    def step(self, tokens, state):
        assert not self.training
        assert torch.is_inference_mode_enabled()
        self.steps += 1
        right = [[*self.texts[row], END][self.steps - 1] for row in state.rows]
        return torch.eye(VOCAB_SIZE)[right] * 50, state


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def select(self, rows):
        return Rows(self.rows[rows])


def test_it_stops_when_all_have_ended_and_asks_only_for_what_has_not():
    model = Counting([[5, 6, 7], [8], []])
    found = decoding.translate(model, [[5], [3], [4]], START, END, max_length=50)
    assert found == [[], [5, 6, 7], [8]]
    assert model.steps == 4
    assert model.training  # as before


def test_mode_is_as_before_also_after_an_error():
    model = translator("pre-norm").train()
    with pytest.raises(ValueError, match="a text has 21 tokens"):
        decoding.translate(model, [[3] * 21], START, END)
    assert model.training


@each_kind
def test_no_text_is_longer_than_max_length(kind):
    model = translator(kind)
    for beam_size in (1, 3):
        found = decoding.translate(
            model, SOURCES, START, END, max_length=2, beam_size=beam_size
        )
        assert max(len(text) for text in found) <= 2


def test_a_text_ends_where_the_models_positions_end():
    longest = 0
    for seed in range(6):
        model = translator("pre-norm", seed=seed, n_places=6)
        for beam_size in (1, 3):
            found = decoding.translate(
                model, SOURCES, START, END, max_length=50, beam_size=beam_size
            )
            longest = max(longest, *(len(text) for text in found))
    assert longest == 6


@each_kind
def test_nothing_is_translated_as_nothing(kind):
    model = translator(kind)
    assert decoding.translate(model, [], START, END) == []
    assert decoding.translate(model, [[], []], START, END) == [[], []]
    found = decoding.translate(model, [[], [3, 4], []], START, END)
    assert found == [[], *decoding.translate(model, [[3, 4]], START, END), []]


@pytest.mark.parametrize("token", [-1, VOCAB_SIZE, PADDING])
def test_a_token_that_the_model_does_not_have_is_named(token):
    words = f"token {token} is no token of this model: they are 0 to 10, without 0"
    with pytest.raises(ValueError, match=words):
        decoding.translate(translator("none"), [[3], [4, token]], START, END)


def test_nothing_of_the_model_changes():
    model = translator("additive", dropout=0.5)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    first = decoding.translate(model.train(), SOURCES, START, END, max_length=9)
    assert first == decoding.translate(model, SOURCES, START, END, max_length=9)
    for name, each in model.state_dict().items():
        np.testing.assert_array_equal(each, before[name])
