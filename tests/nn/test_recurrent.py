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
from tests.nn.translators import PADDING_ID, random_ids, translator


@pytest.fixture
def batch():
    source, target = random_ids(3, 6), random_ids(3, 4, seed=1)
    source[1, 2:] = PADDING_ID
    return source, target


def embedded(model, token_ids):
    return model.embedding(token_ids) * model.config.d_embedding**0.5


def unit_parameters(gru, direction=""):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    w_x, w_h, b_x, b_h = (getattr(gru, f"{each}_l0{direction}") for each in names)
    return {"w_x": w_x.T, "w_h": w_h.T, "b_x": b_x, "b_h": b_h}


def test_encoder_matches_gru_step_in_both_directions(batch):
    model = translator("none")
    source, _ = batch
    memory = model.encode(source)
    for row, length in enumerate([6, 2, 6]):
        x = embedded(model, source[row, :length])
        halves = []
        for direction in ("", "_reverse"):
            order = range(length) if not direction else range(length)[::-1]
            state, states = torch.zeros(5).double(), []
            for position in order:
                parameters = unit_parameters(model.encoder.gru, direction)
                state = gru_step(x[position], state, **parameters)
                states.append(state)
            halves.append(torch.stack([states[position] for position in order]))
            half = memory.final_state[row].chunk(2)[direction != ""]
            close(half, state)
        close(memory.vectors[row, :length], torch.cat(halves, dim=-1))
        assert (memory.vectors[row, length:] == 0).all()


def test_additive_decoder_matches_decoder_step(batch):
    model = translator("additive")
    source, target = batch
    memory = model.encode(source)
    decoder, state = model.decoder, model.initial_state(memory).hidden
    parameters = {
        "w_q": decoder.attention.query.weight.T,
        "w_k": decoder.attention.key.weight.T,
    }
    parameters |= {"v": decoder.attention.score.weight[0]} | unit_parameters(
        decoder.gru
    )
    output = decoder(embedded(model, target), model.initial_state(memory))
    for position, x in enumerate(embedded(model, target).unbind(dim=1)):
        keys_and_values = memory.vectors, memory.vectors
        state, context, weights = decoder_step(
            x, state, *keys_and_values, parameters, memory.may_attend
        )
        close(output.states[:, position], state)
        close(output.contexts[:, position], context)
        close(output.weights[:, position], weights)


def test_multiplicative_decoder_matches_luong_score(batch):
    model = translator("multiplicative")
    source, target = batch
    memory = model.encode(source)
    decoder, state = model.decoder, model.initial_state(memory).hidden
    output = decoder(embedded(model, target), model.initial_state(memory))
    for position, x in enumerate(embedded(model, target).unbind(dim=1)):
        state = gru_step(x, state, **unit_parameters(decoder.gru))
        w = decoder.attention.query.weight.T
        scores = luong_score(state, memory.vectors, "general", w)
        scores = scores.masked_fill(~memory.may_attend, -torch.inf)
        close(output.states[:, position], state)
        close(output.weights[:, position], scores.softmax(dim=-1))
        context = (scores.softmax(dim=-1).unsqueeze(1) @ memory.vectors).squeeze(1)
        close(output.contexts[:, position], context)


def test_fixed_context_is_the_same_at_every_step(batch):
    model = translator("none")
    source, target = batch
    memory = model.encode(source)
    state = model.initial_state(memory).hidden
    output = model.decoder(embedded(model, target), model.initial_state(memory))
    for position, x in enumerate(embedded(model, target).unbind(dim=1)):
        read = torch.cat([x, memory.final_state], dim=-1)
        state = gru_step(read, state, **unit_parameters(model.decoder.gru))
        close(output.states[:, position], state)
        close(output.contexts[:, position], memory.final_state)


def test_query_is_the_previous_hidden_state(batch):
    model = translator("additive")
    source, target = batch
    state = model.initial_state(model.encode(source))
    attention, memory = model.decoder.attention, state.memory
    _, expected = additive_attention(
        state.hidden,
        memory.vectors,
        memory.vectors,
        attention.query.weight.T,
        attention.key.weight.T,
        attention.score.weight[0],
        memory.may_attend,
    )
    first = model.attention_weights(source, target)[:, 0]
    close(first, expected)
    # So the first weights do not depend on the first token of the target.
    close(model.attention_weights(source, target.flip(0))[:, 0], first)
