"""The recurrent translator: equal to the course's functions, step by step."""

import pytest
import torch

from course_lib.nn.sequence_to_sequence import (
    additive_attention,
    decoder_step,
    gru_step,
    luong_score,
)
from tests.nn.test_attention import close
from tests.nn.translators import PADDING, texts, translator


@pytest.fixture
def batch():
    source, target = texts(3, 6), texts(3, 4, seed=1)
    source[1, 2:] = PADDING
    return source, target


def embedded(model, tokens):
    return model.table(tokens) * model.sizes.d_embedding**0.5


def unit_parameters(gru, direction=""):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    w_x, w_h, b_x, b_h = (getattr(gru, f"{each}_l0{direction}") for each in names)
    return {"w_x": w_x.T, "w_h": w_h.T, "b_x": b_x, "b_h": b_h}


def test_the_encoder_takes_the_courses_steps_in_both_directions(batch):
    model = translator("none")
    source, _ = batch
    memory = model.encode(source)
    for row, length in enumerate([6, 2, 6]):
        x = embedded(model, source[row, :length])
        halves = []
        for direction in ("", "_reverse"):
            order = range(length) if not direction else range(length)[::-1]
            state, states = torch.zeros(5).double(), []
            for place in order:
                given = unit_parameters(model.encoder.units, direction)
                state = gru_step(x[place], state, **given)
                states.append(state)
            halves.append(torch.stack([states[place] for place in order]))
            half = memory.summary[row].chunk(2)[direction != ""]
            close(half, state)
        close(memory.vectors[row, :length], torch.cat(halves, dim=-1))
        assert (memory.vectors[row, length:] == 0).all()


def test_additive_attention_takes_the_courses_decoder_steps(batch):
    model = translator("additive")
    source, target = batch
    memory = model.encode(source)
    decoder, state = model.decoder, model.start(memory).hidden
    parameters = {"w_q": decoder.look.query.weight.T, "w_k": decoder.look.key.weight.T}
    parameters |= {"v": decoder.look.score.weight[0]} | unit_parameters(decoder.unit)
    read = decoder(embedded(model, target), model.start(memory))
    for place, x in enumerate(embedded(model, target).unbind(dim=1)):
        looks = memory.vectors, memory.vectors
        state, context, weights = decoder_step(
            x, state, *looks, parameters, memory.may_attend
        )
        close(read.states[:, place], state)
        close(read.contexts[:, place], context)
        close(read.weights[:, place], weights)


def test_multiplicative_attention_has_the_courses_scores_after_the_step(batch):
    model = translator("multiplicative")
    source, target = batch
    memory = model.encode(source)
    decoder, state = model.decoder, model.start(memory).hidden
    read = decoder(embedded(model, target), model.start(memory))
    for place, x in enumerate(embedded(model, target).unbind(dim=1)):
        state = gru_step(x, state, **unit_parameters(decoder.unit))
        w = decoder.look.query.weight.T
        scores = luong_score(state, memory.vectors, "general", w)
        scores = scores.masked_fill(~memory.may_attend, -torch.inf)
        close(read.states[:, place], state)
        close(read.weights[:, place], scores.softmax(dim=-1))
        context = (scores.softmax(dim=-1).unsqueeze(1) @ memory.vectors).squeeze(1)
        close(read.contexts[:, place], context)


def test_a_fixed_context_is_the_same_at_every_step(batch):
    model = translator("none")
    source, target = batch
    memory = model.encode(source)
    state = model.start(memory).hidden
    read = model.decoder(embedded(model, target), model.start(memory))
    for place, x in enumerate(embedded(model, target).unbind(dim=1)):
        seen = torch.cat([x, memory.summary], dim=-1)
        state = gru_step(seen, state, **unit_parameters(model.decoder.unit))
        close(read.states[:, place], state)
        close(read.contexts[:, place], memory.summary)


def test_the_previous_state_looks(batch):
    model = translator("additive")
    source, target = batch
    state = model.start(model.encode(source))
    look, memory = model.decoder.look, state.memory
    _, expected = additive_attention(
        state.hidden,
        memory.vectors,
        memory.vectors,
        look.query.weight.T,
        look.key.weight.T,
        look.score.weight[0],
        memory.may_attend,
    )
    first = model.attention(source, target)[:, 0]
    close(first, expected)
    # So what it looks at first does not depend on the first token of the target.
    close(model.attention(source, target.flip(0))[:, 0], first)
