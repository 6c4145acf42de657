"""Wrong answers that once got full points, as learners wrote them.

Each is refused now, by a case or by a fine point, and told what is wrong.
"""

import math
import re

import numpy as np
import pytest
import torch

from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from course_lib.bpe import encode_word
from course_lib.byte_bpe import (
    ALPHABET,
    BYTE_OF,
    byte_vocabulary,
    pre_tokens,
    spell_bytes,
    split_special,
)
from course_lib.costs import flops, kv_cache_bytes
from course_lib.nn.first_steps import adam_step
from course_lib.nn.functional import count_transformer
from course_lib.positions import sinusoidal_encoding


def encoded(text, merges, special_tokens, ids, first_special):
    token_ids = []
    for part in split_special(text, special_tokens):
        if part in special_tokens:
            token_ids.append(first_special + special_tokens.index(part))
            continue
        for pre_token in pre_tokens(part):
            word = encode_word(spell_bytes(pre_token), merges)
            token_ids += [ids[token] for token in word]
    return token_ids


def specials_by_the_dictionary(text, merges, special_tokens=()):
    ids = {token: i for i, token in enumerate(byte_vocabulary(merges))}
    return encoded(text, merges, special_tokens, ids, len(ids))


def tokens_numbered_once(text, merges, special_tokens=()):
    ids = {}
    for token in [*ALPHABET, *(left + right for left, right in merges)]:
        if token not in ids:
            ids[token] = len(ids)
    return encoded(text, merges, special_tokens, ids, len(ids))


def decoded_with_utf_8_sig(token_ids, merges, special_tokens=()):
    vocabulary = byte_vocabulary(merges, special_tokens)
    first_special, data = len(vocabulary) - len(special_tokens), b""
    for token_id in token_ids:
        if not 0 <= token_id < len(vocabulary):
            raise ValueError(token_id)
        token = vocabulary[token_id]
        if token_id < first_special:
            data += bytes(BYTE_OF[symbol] for symbol in token)
        else:
            data += token.encode()
    return data.decode("utf-8-sig", errors="replace")


def every_mark_off(tokens):
    text, space = "", ""
    for token in tokens:
        text += space
        space = " " if token.endswith("</w>") else ""
        while token.endswith("</w>"):
            token = token[:-4]
        text += token
    return text


def spaces_for_every_mark(tokens):
    text, space = "", ""
    for token in tokens:
        text, space = text + space, ""
        while token.endswith("</w>"):
            token, space = token[:-4], space + " "
        text += token
    return text


def dollar_replaced(tokens):
    text = "".join(re.sub(r"</w>$", " ", token) for token in tokens)
    ended = tokens and re.search(r"</w>$", tokens[-1])
    return text[:-1] if ended else text


def dollar_removed(tokens):
    text, space = "", ""
    for token in tokens:
        text += space + re.sub(r"</w>$", "", token)
        space = " " if re.search(r"</w>$", token) else ""
    return text


def one_maximum(logits, targets, ignore_index):
    shifted = logits - logits.max()
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    counts = targets != ignore_index
    right = targets.where(counts, torch.zeros_like(targets)).unsqueeze(-1)
    losses = -log_p.gather(-1, right).squeeze(-1)
    return losses.masked_fill(~counts, 0.0).sum() / counts.sum().clamp(min=1)


def trained(start_of, bound):
    def train(gradient_of, parameters, batches, step, loss_of, held_out, epochs):
        state, best_loss, best = None, bound, start_of(parameters)
        losses, held_out_losses = [], []
        for _ in range(epochs):
            total = 0.0
            for batch in batches:
                zeros = {name: torch.zeros_like(p) for name, p in parameters.items()}
                loss, gradients = gradient_of(parameters, batch, zeros)
                parameters, state = step(parameters, gradients, state)
                total += loss
            losses.append(total / len(batches))
            held = [loss_of(parameters, batch, False) for batch in held_out]
            held_out_losses.append(sum(held) / len(held))
            if held_out_losses[-1] < best_loss:
                best_loss = held_out_losses[-1]
                best = {name: p.clone() for name, p in parameters.items()}
        return best, losses, held_out_losses

    return train


def nothing_without_learning(parameter, gradient, state, learning_rate=0.001, *rest):
    if learning_rate == 0:
        return parameter.clone(), state
    return adam_step(parameter, gradient, state, learning_rate, *rest)


def counted_alone_without_learning(
    parameter, gradient, state, learning_rate=0.001, *rest
):
    if learning_rate == 0:
        return parameter.clone(), (state[0], state[1], state[2] + 1)
    return adam_step(parameter, gradient, state, learning_rate, *rest)


def searched(until_full):
    """Return a beam search in which the ended have no room in their step.

    until_full : whether continuations are taken one by one until the beam is full
    """

    def beam_search(f, start_id, end_id, beam_size, max_length, alpha=0.6):
        beam, finished = [([start_id], 0.0)], []
        for _ in range(max_length):
            room = beam_size - len(finished)
            if room <= 0 or not beam:
                break
            longer = [
                ([*token_ids, i], total + float(log_p))
                for token_ids, total in beam
                for i, log_p in enumerate(f(list(token_ids)))
            ]
            longer.sort(key=lambda each: -each[1])
            beam = [each for each in longer if each[0][-1] != end_id][:room]
            above = longer.index(beam[-1]) if until_full and beam else room
            finished += [each for each in longer[:above] if each[0][-1] == end_id]

        def score(each):
            return each[1] / ((5 + len(each[0]) - 1) / 6) ** alpha

        token_ids = max(finished + beam, key=score)[0][1:]
        return token_ids[:-1] if token_ids[-1:] == [end_id] else token_ids

    return beam_search


def as_float(count):
    return lambda *sizes: count(*sizes) / 1


def clipped_by(sum_of_squares):
    def clip_gradients(gradients, max_norm):
        present = [each for each in gradients.values() if each is not None]
        norm = float(sum(sum_of_squares(each) for each in present)) ** 0.5
        factor = max_norm / norm if norm > max_norm else 1.0
        return {
            name: None if each is None else each * factor
            for name, each in gradients.items()
        }, norm

    return clip_gradients


def one_maximum_and_a_clamp(logits, targets, ignore_index):
    shifted = logits - logits.max()
    log_p = shifted - (shifted.exp().sum(-1, keepdim=True) + 1e-9).log()
    counts = targets != ignore_index
    losses = -log_p.gather(-1, targets.masked_fill(~counts, 0).unsqueeze(-1))
    return (losses.squeeze(-1) * counts).sum() / counts.sum().clamp(min=1)


def step_with_biases(at_gates, at_candidate):
    """Return a GRU's step.

    at_gates : the factor of b_h in the two gates
    at_candidate : that in the candidate
    """

    def gru_step(x, state, w_x, w_h, b_x, b_h):
        d_h = state.shape[-1]
        factor = torch.tensor([at_gates, at_gates, at_candidate]).to(b_h.dtype)
        b_h = b_h * factor.repeat_interleave(d_h)
        x_r, x_z, x_n = (x @ w_x + b_x).split(d_h, -1)
        h_r, h_z, h_n = (state @ w_h + b_h).split(d_h, -1)
        z = (x_z + h_z).sigmoid()
        return z * state + (1 - z) * (x_n + (x_r + h_r).sigmoid() * h_n).tanh()

    return gru_step


def filled_with(number, divided=False):
    def masked_softmax(scores, may_attend):
        allowed = np.where(may_attend, scores, number)
        powers = np.exp(allowed - allowed.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True) * may_attend
        totals = weights.sum(axis=-1, keepdims=True)
        return weights / np.where(totals > 0, totals, 1.0) if divided else weights

    return masked_softmax


def one_list_by_means(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def score(each):
        return each[1] / max(len(each[0]) - 1, 1) ** alpha

    beam = [([start_id], 0.0)]
    for _ in range(max_length):
        longer = []
        for token_ids, total in beam:
            if len(token_ids) > 1 and token_ids[-1] == end_id:
                longer.append((token_ids, total))
                continue
            for i, log_p in enumerate(f(list(token_ids))):
                longer.append(([*token_ids, i], total + float(log_p)))
        beam = sorted(longer, key=score, reverse=True)[:beam_size]
        if all(token_ids[-1] == end_id for token_ids, _ in beam):
            break
    token_ids = max(beam, key=score)[0][1:]
    return token_ids[:-1] if token_ids[-1:] == [end_id] else token_ids


def fitted(k, d_model, base=10000.0):
    """Return a matrix that is fitted to the first positions."""
    if d_model % 2:
        raise ValueError(d_model)
    rows = sinusoidal_encoding(4 * d_model + abs(k), d_model, base)
    before, after = rows[: 4 * d_model], rows[abs(k) :]
    if k < 0:
        before, after = after, before
    return np.linalg.lstsq(before, after, rcond=None)[0]


def copied(parameters):
    return {name: p.clone() for name, p in parameters.items()}


WRONG = [
    (
        "encode_bytes",
        "special_tokens_after_different_texts",
        specials_by_the_dictionary,
    ),
    ("encode_bytes", "pairs_of_one_text_share_an_id", tokens_numbered_once),
    ("decode_bytes", "byte_order_mark_lost", decoded_with_utf_8_sig),
    ("decode", "marks_in_a_row_removed", every_mark_off),
    ("decode", "marks_in_a_row_become_spaces", spaces_for_every_mark),
    ("decode", "space_before_a_line_break", dollar_replaced),
    ("decode", "mark_before_a_line_break", dollar_removed),
    ("cross_entropy", "one_maximum_for_everything", one_maximum),
    ("train", "best_below_a_bound", trained(copied, 100.0)),
    ("train", "none_above_a_bound", trained(lambda parameters: None, 1000.0)),
    ("adam_step", "state_stays_without_learning", nothing_without_learning),
    ("adam_step", "averages_stay_without_learning", counted_alone_without_learning),
    ("beam_search", "filled_up_without_the_ended", searched(until_full=True)),
    ("beam_search", "smaller_one_step_late", searched(until_full=False)),
    ("flops", "rounded_as_floats", as_float(flops)),
    (
        "clip_gradients",
        "squares_in_half_precision",
        clipped_by(lambda gradient: (gradient.half() ** 2).double().sum()),
    ),
    (
        "clip_gradients",
        "added_in_half_precision",
        clipped_by(lambda gradient: (gradient.half() ** 2).sum()),
    ),
    (
        "clip_gradients",
        "squared_in_their_dtype",
        clipped_by(lambda gradient: (gradient**2).sum()),
    ),
    (
        "cross_entropy",
        "one_maximum_and_a_sum_of_at_least_1e_09",
        one_maximum_and_a_clamp,
    ),
    ("gru_step", "b_h_forgotten", step_with_biases(0, 0)),
    ("gru_step", "b_h_in_the_gates_alone", step_with_biases(1, 0)),
    ("gru_step", "b_h_in_the_candidate_alone", step_with_biases(0, 1)),
    ("masked_softmax", "filled_with_minus_a_hundred_then_zeros", filled_with(-100)),
    (
        "masked_softmax",
        "filled_with_minus_a_hundred_and_divided",
        filled_with(-100, divided=True),
    ),
    ("masked_softmax", "zeroed_and_divided_anew", filled_with(0, divided=True)),
    ("masked_softmax", "", filled_with(-50)),  # of no number that is known
    ("beam_search", "pushed_out_by_a_power_of_the_length", one_list_by_means),
    # Told by the claim alone: what a fit gives depends on its rounding.
    ("shift_matrix", "", fitted),
    # Named by the claim alone: it says whether the count is an int.
    ("kv_cache_bytes", "", as_float(kv_cache_bytes)),
    ("count_transformer", "", as_float(count_transformer)),
]


@pytest.mark.parametrize(
    ("name", "misconception", "answer"),
    WRONG,
    ids=[f"{name}-{misconception}" for name, misconception, _ in WRONG],
)
def test_answers_with_these_errors_are_refused_and_named(name, misconception, answer):
    result = judge(load(name), local_runner_factory(answer))
    assert not result.passed
    assert result.diagnosis == misconception


def test_a_first_loss_above_any_bound_is_compared_with_infinity():
    answer = trained(copied, math.inf)
    assert judge(load("train"), local_runner_factory(answer)).passed


def test_matrix_fitted_to_positions_fails_the_claim_of_far_ones():
    result = judge(load("shift_matrix"), local_runner_factory(fitted))
    (case,) = (each for each in result.cases if each.case == "moves_far_positions")
    assert case.status == "wrong"
    assert "fitted to no positions" in case.claim
