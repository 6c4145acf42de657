"""The field's forms of the exercises of lessons 06 to 15."""

import math
import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import torch
from torch.nn import functional

from course_lib.byte_bpe import (
    ALPHABET,
    BYTE_OF,
    byte_vocabulary,
    pre_tokens,
    split_special,
)
from course_lib.nn.functional import feed_forward as course_feed_forward
from course_lib.nn.functional import layer_norm as course_norm
from course_lib.nn.functional import multi_head_attention
from tests.textbook import Forms

FORMS = Forms()

# Lesson 06


@FORMS("word_counts", "Sennrich et al.", before="full")
def words_of_the_vocabulary(text):
    counts = Counter(text.split())
    return {(*word[:-1], word[-1] + "</w>"): count for word, count in counts.items()}


@FORMS(
    "word_counts",
    "Hugging Face course 6.5",
    expected="refused: mark_missing",
    before="refused: mark_missing (0 of 5)",
)
def characters_of_each_word(text):
    counts = {}
    for word in text.split():
        counts[tuple(word)] = counts.get(tuple(word), 0) + 1
    return counts


@FORMS("pair_counts", "Sennrich et al.", before="full")
def get_stats(words):
    pairs = defaultdict(int)
    for symbols, frequency in words.items():
        for i in range(len(symbols) - 1):
            pairs[symbols[i], symbols[i + 1]] += frequency
    return dict(pairs)


@FORMS("pair_counts", "minbpe", before="full")
def zipped_with_itself(words):
    counts = {}
    for word, n in words.items():
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + n
    return counts


@FORMS("merge_pair", "Sennrich et al.", before="refused, no name (18 of 19)")
def paper_with_a_pattern(symbols, pair):
    bigram = re.escape(" ".join(pair))
    pattern = re.compile(r"(?<!\S)" + bigram + r"(?!\S)")
    return tuple(pattern.sub("".join(pair), " ".join(symbols)).split())


@FORMS("merge_pair", "minbpe", before="full")
def position_by_position(symbols, pair):
    new, i = [], 0
    while i < len(symbols):
        fits = symbols[i] == pair[0] and i < len(symbols) - 1
        if fits and symbols[i + 1] == pair[1]:
            new.append(pair[0] + pair[1])
            i += 2
        else:
            new.append(symbols[i])
            i += 1
    return tuple(new)


@FORMS(
    "merge_pair",
    "minbpe",
    expected="refused: list_returned",
    before="refused: list_returned (0 of 19)",
)
def list_as_it_is(symbols, pair):
    return list(position_by_position(symbols, pair))


@FORMS("merge_pair", "Hugging Face course 6.5", before="full")
def split_list(symbols, pair):
    split, i = list(symbols), 0
    while i < len(split) - 1:
        if split[i] == pair[0] and split[i + 1] == pair[1]:
            split = [*split[:i], pair[0] + pair[1], *split[i + 2 :]]
        else:
            i += 1
    return tuple(split)


@FORMS("merge_pair", "GPT-2", before="full")
def index_of_the_first(symbols, pair):
    first, second = pair
    new, i = [], 0
    while i < len(symbols):
        try:
            j = symbols.index(first, i)
        except ValueError:
            new.extend(symbols[i:])
            break
        new.extend(symbols[i:j])
        if j < len(symbols) - 1 and symbols[j + 1] == second:
            new.append(first + second)
            i = j + 2
        else:
            new.append(symbols[j])
            i = j + 1
    return tuple(new)


@FORMS(
    "merge_pair",
    "tutorials",
    expected="refused: pattern_not_escaped_in_the_text",
    before="refused, no name (6 of 19)",
)
def unescaped_pattern(symbols, pair):
    return tuple(re.sub(" ".join(pair), "".join(pair), " ".join(symbols)).split())


@FORMS(
    "merge_pair",
    "tutorials",
    expected="refused: text_replaced",
    before="refused: text_replaced (7.25 of 19)",
)
def replaced_in_the_text(symbols, pair):
    return tuple(" ".join(symbols).replace(" ".join(pair), "".join(pair)).split())


def learned_by(words, n_merges, best_of, least=2):
    """Learn pairs as most programs do; best_of chooses one of the counts."""
    words, merges = dict(words), []
    for _ in range(n_merges):
        counts = get_stats(words)
        if not counts:
            break
        best = best_of(counts)
        if counts[best] < least:
            break
        merges.append(best)
        merged = {}
        for symbols, count in words.items():
            merged[position_by_position(symbols, best)] = count
        words = merged
    return merges


@FORMS(
    "train_bpe",
    "subword-nmt",
    expected="fine point open",
    before="refused: equal_words_overwritten (26.75 of 28)",
)
def program_of_the_paper(words, n_merges):
    return learned_by(words, n_merges, lambda c: max(c, key=lambda x: (c[x], x)))


@FORMS(
    "train_bpe",
    "Hugging Face course 6.5",
    expected="refused: first_seen_wins & equal_words_overwritten",
    before="refused: first_seen_wins & equal_words_overwritten (8.75 of 28)",
)
def first_of_the_most_frequent(words, n_merges):
    return learned_by(words, n_merges, lambda c: max(c, key=c.get))


@FORMS(
    "train_bpe",
    "Sennrich et al., algorithm 1",
    expected="refused: first_seen_wins & pairs_that_occur_once",
    before="refused, no name (7.25 of 28)",
)
def printed_in_the_paper(words, n_merges):
    return learned_by(words, n_merges, lambda c: max(c, key=c.get), least=1)


@FORMS(
    "train_bpe",
    "CS336",
    expected="refused: equal_words_overwritten & pairs_that_occur_once",
    before="refused: equal_words_overwritten & pairs_that_occur_once (11.5 of 28)",
)
def greater_pair_without_an_early_end(words, n_merges):
    return learned_by(
        words, n_merges, lambda c: max(c, key=lambda pair: (c[pair], pair)), least=1
    )


@FORMS("encode_word", "GPT-2 and minbpe", before="full")
def lowest_rank_again_and_again(word, merges):
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    word = tuple(word)
    while len(word) >= 2:
        pairs = set(pairwise(word))
        best = min(pairs, key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        word = position_by_position(word, best)
    return list(word)


@FORMS("encode_word", "Hugging Face course 6.5", before="full")
def each_merge_in_its_turn(word, merges):
    for pair in merges:
        word = split_list(word, pair)
    return list(word)


@FORMS(
    "decode",
    "Sennrich et al.",
    expected="fine point open",
    before="refused, no name (3.75 of 8)",
)
def marks_replaced_in_the_text(tokens):
    return "".join(tokens).replace("</w>", " ").strip()


@FORMS(
    "decode",
    "Sennrich et al.",
    expected="fine point open",
    before="refused, no name (3.75 of 8)",
)
def marks_replaced_at_the_end(tokens):
    return "".join(tokens).replace("</w>", " ").rstrip()


@FORMS("encode_bytes", "GPT-2", before="full")
def bytes_as_symbols(text, merges, special_tokens=()):
    vocabulary = {token: i for i, token in enumerate(byte_vocabulary(merges))}
    ids = []
    for part in split_special(text, special_tokens):
        if part in special_tokens:
            ids.append(len(byte_vocabulary(merges)) + special_tokens.index(part))
            continue
        for chunk in pre_tokens(part):
            symbols = [ALPHABET[byte] for byte in chunk.encode("utf-8")]
            tokens = lowest_rank_again_and_again(symbols, merges)
            ids.extend(vocabulary[token] for token in tokens)
    return ids


@FORMS("encode_bytes", "minbpe", before="refused, no name (27 of 28)")
def special_tokens_by_a_pattern(text, merges, special_tokens=()):
    size = 256 + len(merges)
    special = {token: size + i for i, token in enumerate(special_tokens)}
    parts = [text]
    if special:
        longest = sorted(special, key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, longest)) + ")", text)
    ids = []
    for part in parts:
        ids += [special[part]] if part in special else bytes_as_symbols(part, merges)
    return ids


@FORMS("decode_bytes", "minbpe", before="refused: key_error (17.5 of 19)")
def bytes_joined(token_ids, merges, special_tokens=()):
    vocabulary = {i: bytes([i]) for i in range(256)}
    for i, (left, right) in enumerate(merges, start=256):
        vocabulary[i] = bytes(BYTE_OF[c] for c in left + right)
    for i, special in enumerate(special_tokens, start=256 + len(merges)):
        vocabulary[i] = special.encode("utf-8")
    return b"".join(vocabulary[i] for i in token_ids).decode("utf-8", errors="replace")


@FORMS(
    "decode_bytes",
    "GPT-2",
    expected="fine point open",
    before="refused: numbers_not_checked (17.5 of 19)",
)
def list_of_bytes_by_position(token_ids, merges, special_tokens=()):
    table = [bytes([i]) for i in range(256)]
    table += [bytes(BYTE_OF[c] for c in left + right) for left, right in merges]
    table += [special.encode() for special in special_tokens]
    return b"".join(table[i] for i in token_ids).decode(errors="replace")


# Lesson 07


@FORMS("gather_log_probabilities", "PyTorch", before="full")
def gathered(log_p, targets):
    return torch.gather(log_p, -1, targets[..., None])[..., 0]


@FORMS("gather_log_probabilities", "PyTorch", before="full")
def negative_nll_loss(log_p, targets):
    flat = log_p.reshape(-1, log_p.shape[-1])
    losses = functional.nll_loss(flat, targets.reshape(-1), reduction="none")
    return -losses.reshape(targets.shape)


@FORMS(
    "gather_log_probabilities",
    "CS231n",
    expected="refused: rows_numbered_for_a_matrix",
    before="refused: rows_numbered_for_a_matrix (1.5 of 8)",
)
def rows_and_right_columns(log_p, targets):
    return log_p[range(len(targets)), targets]


@FORMS(
    "gather_log_probabilities",
    "Keras",
    expected="refused: nan_from_a_probability_of_zero",
    before="refused: nan_from_a_probability_of_zero (7.25 of 8)",
)
def one_hot_product(log_p, targets):
    one_hot = functional.one_hot(targets, log_p.shape[-1]).to(log_p.dtype)
    return (one_hot * log_p).sum(dim=-1)


@FORMS("sgd_step", "PyTorch tutorials", before="full")
def new_dictionary(parameters, gradients, learning_rate):
    new = {}
    for name in parameters:
        new[name] = parameters[name] - learning_rate * gradients[name]
    return new


@FORMS(
    "sgd_step",
    "d2l 3.4",
    expected="refused: parameters_overwritten",
    before="refused: parameters_overwritten (4.5 of 5)",
)
def in_place(parameters, gradients, learning_rate):
    for name, parameter in parameters.items():
        parameter -= learning_rate * gradients[name]
    return parameters


def adam_averages(gradient, state, betas):
    m, v, step = state
    m = betas[0] * m + (1 - betas[0]) * gradient
    v = betas[1] * v + (1 - betas[1]) * gradient**2
    return m, v, step + 1


@FORMS("adam_step", "PyTorch", before="full")
def single_tensor_adamw(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    exp_avg, exp_avg_sq, step = state
    step = step + 1
    parameter = parameter * (1 - learning_rate * weight_decay)
    exp_avg = exp_avg.lerp(gradient, 1 - betas[0])
    exp_avg_sq = exp_avg_sq * betas[1] + gradient * gradient * (1 - betas[1])
    corrected = (1 - betas[1] ** step) ** 0.5
    denominator = exp_avg_sq.sqrt() / corrected + eps
    step_size = learning_rate / (1 - betas[0] ** step)
    return parameter - step_size * exp_avg / denominator, (exp_avg, exp_avg_sq, step)


@FORMS("adam_step", "Kingma and Ba, algorithm 1", before="full")
def algorithm_1_with_decoupled_decay(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, t = adam_averages(gradient, state, betas)
    m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
    change = m_hat / (v_hat.sqrt() + eps) + weight_decay * parameter
    return parameter - learning_rate * change, (m, v, t)


@FORMS(
    "adam_step",
    "CS336 and Kingma and Ba, section 2",
    expected="refused: eps_added_to_the_root_of_v & weight_decay_of_the_new_parameter",
    before="refused: eps_added_to_the_root_of_v & weight_decay_of_the_new_parameter "
    "(2.75 of 19)",
)
def corrected_learning_rate(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, t = adam_averages(gradient, state, betas)
    step_size = learning_rate * (1 - betas[1] ** t) ** 0.5 / (1 - betas[0] ** t)
    parameter = parameter - step_size * m / (v.sqrt() + eps)
    parameter = parameter - learning_rate * weight_decay * parameter
    return parameter, (m, v, t)


@FORMS(
    "adam_step",
    "torch.optim.Adam",
    expected="refused: weight_decay_in_the_gradient",
    before="refused: weight_decay_in_the_gradient (11 of 19)",
)
def decay_added_to_the_gradient(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    gradient = gradient + weight_decay * parameter
    return algorithm_1_with_decoupled_decay(
        parameter, gradient, state, learning_rate, betas, eps
    )


@FORMS("numerical_gradient", "CS231n", before="full")
def one_number_and_back(f, x, step):
    x = x.double().clone()
    gradient = torch.zeros_like(x)
    for index in np.ndindex(*x.shape):
        old = x[index].item()
        x[index] = old + step
        above = f(x)
        x[index] = old - step
        below = f(x)
        x[index] = old
        gradient[index] = (above - below) / (2 * step)
    return gradient


@FORMS("train", "PyTorch tutorials", before="full")
def loop_with_an_early_copy(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    state, best, best_loss = None, None, float("inf")
    train_losses, valid_losses = [], []
    for _ in range(epochs):
        running = 0.0
        for batch in batches:
            zeros = {k: torch.zeros_like(p) for k, p in parameters.items()}
            loss, gradients = gradient_of(parameters, batch, zeros)
            parameters, state = step(parameters, gradients, state)
            running += loss
        train_losses.append(running / len(batches))
        losses = [loss_of(parameters, batch, False) for batch in held_out]
        valid_losses.append(sum(losses) / len(losses))
        if valid_losses[-1] < best_loss:
            best_loss = valid_losses[-1]
            best = {k: p.clone() for k, p in parameters.items()}
    return best, train_losses, valid_losses


# Lesson 08


def additive_scores(state, keys, w_q, w_k, v):
    return torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k) @ v


def context_of(weights, values):
    return torch.einsum("...m,...md->...d", weights, values)


@FORMS("additive_attention", "Bahdanau et al.", before="full")
def softmax_of_energies(state, keys, values, w_q, w_k, v, may_attend=None):
    energies = additive_scores(state, keys, w_q, w_k, v)
    if may_attend is not None:
        energies = energies.masked_fill(~may_attend, float("-inf"))
    weights = functional.softmax(energies, dim=-1)
    return context_of(weights, values), weights


@FORMS("additive_attention", "d2l 11.4", expected="fine point open", before="full")
def masked_with_minus_a_million(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = additive_scores(state, keys, w_q, w_k, v)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -1e6)
    weights = functional.softmax(scores, dim=-1)
    return context_of(weights, values), weights


@FORMS(
    "additive_attention",
    "PyTorch seq2seq tutorials",
    expected="fine point open",
    before="full",
)
def masked_with_minus_ten_thousand(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = additive_scores(state, keys, w_q, w_k, v)
    if may_attend is not None:
        scores = scores.masked_fill(may_attend == 0, -1e4)
    weights = functional.softmax(scores, dim=-1)
    return context_of(weights, values), weights


@FORMS(
    "additive_attention",
    "AllenNLP",
    expected="refused: divided_again_with_a_little_added",
    before="full",
)
def renormalised(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = additive_scores(state, keys, w_q, w_k, v).softmax(dim=-1)
    if may_attend is not None:
        weights = weights * may_attend
        weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-13)
    return context_of(weights, values), weights


@FORMS(
    "additive_attention",
    "seq2seq repositories",
    expected="refused: divided_again_after_the_mask",
    before="full",
)
def renormalised_without_more(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = additive_scores(state, keys, w_q, w_k, v).softmax(dim=-1)
    if may_attend is not None:
        weights = weights * may_attend
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return context_of(weights, values), weights


def gru(x, state, w_x, w_h, b_x, b_h):
    x_r, x_z, x_n = (x @ w_x + b_x).chunk(3, -1)
    h_r, h_z, h_n = (state @ w_h + b_h).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return n + z * (state - n)


FORMS("gru_step", "PyTorch nn.GRU", before="full")(gru)


@FORMS(
    "gru_step",
    "d2l 10.2",
    expected="refused: reset_before_the_product",
    before="refused: reset_before_the_product (0 of 19)",
)
def reset_times_the_state(x, state, w_x, w_h, b_x, b_h):
    x_r, x_z, x_n = (x @ w_x + b_x).chunk(3, -1)
    w_r, w_z, w_n = w_h.chunk(3, -1)
    b_r, b_z, b_n = b_h.chunk(3, -1)
    r = torch.sigmoid(x_r + state @ w_r + b_r)
    z = torch.sigmoid(x_z + state @ w_z + b_z)
    n = torch.tanh(x_n + (r * state) @ w_n + b_n)
    return z * state + (1 - z) * n


@FORMS(
    "gru_step",
    "Chung et al.",
    expected="refused: update_gate_reversed",
    before="refused: update_gate_reversed (0 of 19)",
)
def gate_for_the_candidate(x, state, w_x, w_h, b_x, b_h):
    x_r, x_z, x_n = (x @ w_x + b_x).chunk(3, -1)
    h_r, h_z, h_n = (state @ w_h + b_h).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return (1 - z) * state + z * n


@FORMS("decoder_step", "Bahdanau et al.", before="full")
def embedding_then_context(x, state, keys, values, parameters, may_attend=None):
    p = parameters
    context, weights = softmax_of_energies(
        state, keys, values, p["w_q"], p["w_k"], p["v"], may_attend
    )
    rnn_input = torch.cat((x, context), dim=-1)
    state = gru(rnn_input, state, p["w_x"], p["w_h"], p["b_x"], p["b_h"])
    return state, context, weights


@FORMS(
    "decoder_step",
    "d2l 11.4",
    expected="refused: context_before_x",
    before="refused: context_before_x (0 of 14)",
)
def context_then_embedding(x, state, keys, values, parameters, may_attend=None):
    p = parameters
    context, weights = masked_with_minus_a_million(
        state, keys, values, p["w_q"], p["w_k"], p["v"], may_attend
    )
    both = torch.cat((context, x), dim=-1)
    state = gru(both, state, p["w_x"], p["w_h"], p["b_x"], p["b_h"])
    return state, context, weights


@FORMS("luong_score", "einsum", before="refused, no name (9 of 10)")
def scores_by_einsum(state, keys, kind, w=None):
    if kind == "general":
        state = state @ w
    return torch.einsum("...d,...md->...m", state, keys)


@FORMS("luong_score", "OpenNMT", before="refused, no name (9 of 10)")
def score_of_a_column(state, keys, kind, w=None):
    query = state @ w if kind == "general" else state
    return torch.matmul(keys, query[..., None])[..., 0]


@FORMS("luong_score", "PyTorch chatbot tutorial", before="refused, no name (9 of 10)")
def energies_of_the_keys(state, keys, kind, w=None):
    energy = keys @ w.T if kind == "general" else keys
    return torch.sum(state.unsqueeze(-2) * energy, dim=-1)


@FORMS(
    "luong_score",
    "seq2seq tutorials",
    expected="refused: one_batch_axis_only",
    before="refused, no name (0.5 of 10)",
)
def batch_matrix_product(state, keys, kind, w=None):
    query = state @ w if kind == "general" else state
    return torch.bmm(keys, query.unsqueeze(2)).squeeze(2)


@FORMS(
    "luong_score",
    "einsum",
    expected="refused: summed_over_the_batch",
    before="refused, no name (4 of 10)",
)
def letter_of_the_batch_lost(state, keys, kind, w=None):
    query = state @ w if kind == "general" else state
    products = (keys * query.unsqueeze(-2)).sum(-1)
    return torch.einsum("bm->m", products.reshape(-1, keys.shape[-2]))


@FORMS(
    "luong_score",
    "Vaswani et al.",
    expected="refused: divided_by_root_of_d_k",
    before="refused, no name (0 of 10)",
)
def scaled_product(state, keys, kind, w=None):
    return scores_by_einsum(state, keys, kind, w) / keys.shape[-1] ** 0.5


# Lesson 09


@FORMS("embed", "Annotated Transformer", before="full")
def embedding_times_root(token_ids, embedding, encoding):
    x = functional.embedding(token_ids, embedding) * math.sqrt(embedding.size(1))
    return x + encoding[: x.size(-2)]


@FORMS(
    "embed",
    "nanoGPT",
    expected="refused: no_scale",
    before="refused: no_scale (0 of 10)",
)
def token_and_position_embedding(token_ids, embedding, encoding):
    position = torch.arange(token_ids.shape[-1])
    return embedding[token_ids] + encoding[position]


@FORMS("feed_forward", "Annotated Transformer and d2l 11.7", before="full")
def two_linear_maps(x, w_1, b_1, w_2, b_2):
    return functional.linear(functional.linear(x, w_1.T, b_1).relu(), w_2.T, b_2)


@FORMS(
    "feed_forward",
    "nanoGPT",
    expected="refused: gelu_for_relu",
    before="refused: gelu_for_relu (0 of 5)",
)
def gelu_between(x, w_1, b_1, w_2, b_2):
    return functional.gelu(x @ w_1 + b_1) @ w_2 + b_2


@FORMS("layer_norm", "PyTorch nn.LayerNorm", before="full")
def biased_variance(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, unbiased=False, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


@FORMS(
    "layer_norm",
    "one pass",
    expected="fine point open",
    before="refused: one_pass (13.25 of 14)",
)
def mean_of_squares_less_squared_mean(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean**2
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias


@FORMS(
    "layer_norm",
    "Hugging Face",
    expected="fine point open",
    before="refused, no name (9.75 of 14)",
)
def in_float32(x, gain, bias, eps=1e-5):
    return biased_variance(x.float(), gain.float(), bias.float(), eps).to(x.dtype)


@FORMS(
    "layer_norm",
    "Annotated Transformer",
    expected="refused: divided_by_one_less & eps_outside_the_root",
    before="refused: divided_by_one_less & eps_outside_the_root (0 of 14)",
)
def std_plus_eps(x, gain, bias, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return gain * (x - mean) / (std + eps) + bias


@FORMS(
    "layer_norm",
    "BERT-pytorch",
    expected="refused: eps_outside_the_root",
    before="refused: eps_outside_the_root (7.75 of 14)",
)
def root_plus_eps(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / (std + eps) + bias


@FORMS(
    "layer_norm",
    "nn.LayerNorm from var",
    expected="refused: divided_by_one_less",
    before="refused: divided_by_one_less (0 of 14)",
)
def variance_as_it_comes(x, gain, bias, eps=1e-5):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


def encoder_parts(parameters, n_heads, may_attend):
    p = parameters
    w = p["w_q"], p["w_k"], p["w_v"], p["w_o"]

    def attention(x):
        return multi_head_attention(x, x, *w, n_heads, may_attend)

    def network(x):
        return course_feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    def norm(x, number):
        return course_norm(x, p[f"gain_{number}"], p[f"bias_{number}"])

    return attention, network, norm


@FORMS("encoder_layer", "PyTorch nn.TransformerEncoderLayer", before="full")
def either_norm(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    if norm_first:
        x = x + attention(norm(x, 1))
        return x + network(norm(x, 2))
    x = norm(x + attention(x), 1)
    return norm(x + network(x), 2)


@FORMS(
    "encoder_layer",
    "Annotated Transformer",
    expected="refused: norm_always_before",
    before="refused: norm_always_before (7 of 16)",
)
def sublayer_connection(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    x = x + attention(norm(x, 1))
    return x + network(norm(x, 2))


@FORMS(
    "encoder_layer",
    "d2l 11.7",
    expected="refused: norm_always_after",
    before="refused: norm_always_after (8.75 of 16)",
)
def add_norm(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    y = norm(attention(x) + x, 1)
    return norm(network(y) + y, 2)


@FORMS(
    "encoder_layer",
    "repositories",
    expected="refused: result_added_to_itself",
    before="refused, no name (0 of 16)",
)
def result_twice(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    for number, part in ((1, attention), (2, network)):
        if norm_first:
            x = part(norm(x, number))
            x = x + x
        else:
            x = part(x)
            x = norm(x + x, number)
    return x


@FORMS(
    "encoder_layer",
    "repositories",
    expected="refused: norm_always_after & result_added_to_itself",
    before="refused, no name (0 of 16)",
)
def result_twice_and_norm_after(
    x, parameters, n_heads, may_attend=None, norm_first=False
):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    x = attention(x)
    x = norm(x + x, 1)
    x = network(x)
    return norm(x + x, 2)


@FORMS(
    "encoder_layer",
    "repositories",
    expected="refused: neither_sums_nor_norms",
    before="refused, no name (0 of 16)",
)
def two_parts_alone(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, _ = encoder_parts(parameters, n_heads, may_attend)
    return network(attention(x))


def decoder_parts(memory, parameters, n_heads, may_attend, memory_may_attend):
    p = parameters
    attention, network, norm = encoder_parts(p, n_heads, may_attend)
    w = p["cross_q"], p["cross_k"], p["cross_v"], p["cross_o"]

    def cross(x):
        return multi_head_attention(x, memory, *w, n_heads, memory_may_attend)

    return (attention, cross, network), norm


@FORMS("decoder_layer", "PyTorch nn.TransformerDecoderLayer", before="full")
def either_norm_of_three(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    parts, norm = decoder_parts(memory, parameters, n_heads, *masks)
    for number, part in enumerate(parts, start=1):
        if norm_first:
            y = y + part(norm(y, number))
        else:
            y = norm(y + part(y), number)
    return y


@FORMS(
    "decoder_layer",
    "Annotated Transformer",
    expected="refused: norm_always_before",
    before="refused: norm_always_before (12.5 of 28)",
)
def three_sublayer_connections(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    return either_norm_of_three(y, memory, parameters, n_heads, *masks, True)


@FORMS(
    "decoder_layer",
    "d2l 11.7",
    expected="refused: norm_always_after",
    before="refused: norm_always_after (15.5 of 28)",
)
def three_add_norms(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    return either_norm_of_three(y, memory, parameters, n_heads, *masks, False)


@FORMS(
    "decoder_layer",
    "repositories",
    expected="refused: result_added_to_itself",
    before="refused, no name (0 of 28)",
)
def results_twice(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    parts, norm = decoder_parts(memory, parameters, n_heads, *masks)
    for number, part in enumerate(parts, start=1):
        y = part(norm(y, number)) if norm_first else part(y)
        y = y + y if norm_first else norm(y + y, number)
    return y


@FORMS("shift_right", "Hugging Face T5", before="full")
def into_zeros(targets, start_id):
    shifted = targets.new_zeros(targets.shape)
    shifted[..., 1:] = targets[..., :-1].clone()
    shifted[..., 0] = start_id
    return shifted


@FORMS(
    "shift_right",
    "Hugging Face BART",
    expected="refused: shifted_along_axis_one",
    before="refused, no name (3.5 of 5)",
)
def columns_of_a_batch(targets, start_id):
    shifted = targets.new_zeros(targets.shape)
    shifted[:, 1:] = targets[:, :-1].clone()
    shifted[:, 0] = start_id
    return shifted


@FORMS("shift_right", "PyTorch", before="full")
def rolled_and_replaced(targets, start_id):
    shifted = targets.roll(1, dims=-1)
    shifted[..., 0] = start_id
    return shifted


# Lesson 10


@FORMS(
    "clip_gradients",
    "Pascanu et al., algorithm 1",
    expected="fine point open",
    before="refused, no name (11.5 of 14)",
)
def stacked_norms(gradients, max_norm):
    norms = [torch.linalg.vector_norm(g) for g in gradients.values() if g is not None]
    norm = torch.linalg.vector_norm(torch.stack(norms)).item()
    factor = max_norm / norm if norm > max_norm else 1.0
    return {k: None if g is None else g * factor for k, g in gradients.items()}, norm


@FORMS(
    "clip_gradients",
    "CS336, on copies",
    expected="fine point open",
    before="refused: a_little_added_to_the_norm & not_finite_passed_on (3.75 of 14)",
)
def a_millionth_added(gradients, max_norm):
    squares = sum((g**2).sum().item() for g in gradients.values() if g is not None)
    norm = squares**0.5
    factor = min(1.0, max_norm / (norm + 1e-6))
    return {k: None if g is None else g * factor for k, g in gradients.items()}, norm


@FORMS(
    "clip_gradients",
    "CS336 and torch.nn.utils.clip_grad_norm_",
    expected="refused: a_little_added_to_the_norm & gradients_overwritten",
    before="refused, no name (2.5 of 14)",
)
def in_place_with_a_millionth(gradients, max_norm):
    squares = sum((g**2).sum().item() for g in gradients.values() if g is not None)
    norm = squares**0.5
    if norm >= max_norm:
        for gradient in gradients.values():
            if gradient is not None:
                gradient.mul_(max_norm / (norm + 1e-6))
    return gradients, norm


@FORMS(
    "clip_gradients",
    "d2l 9.5",
    expected="refused: gradients_overwritten",
    before="refused: not_finite_passed_on & gradients_overwritten (11.5 of 14)",
)
def grad_clipping(gradients, max_norm):
    present = [g for g in gradients.values() if g is not None]
    norm = math.sqrt(sum(torch.sum(g**2).item() for g in present))
    if norm > max_norm:
        for gradient in present:
            gradient[...] *= max_norm / norm
    return gradients, norm


@FORMS(
    "cross_entropy",
    "nanoGPT",
    expected="fine point open",
    before="refused: nan_where_nothing_counts (18 of 19)",
)
def library_on_two_axes(logits, targets, ignore_index):
    return functional.cross_entropy(
        logits.reshape(-1, logits.size(-1)),
        targets.reshape(-1),
        ignore_index=ignore_index,
    )


@FORMS("cross_entropy", "CS336", before="full")
def logsumexp_less_the_right_logit(logits, targets, ignore_index):
    counts = (targets != ignore_index).to(logits.dtype)
    right = torch.where(targets == ignore_index, 0, targets)
    picked = logits.gather(-1, right.unsqueeze(-1)).squeeze(-1)
    losses = (torch.logsumexp(logits, dim=-1) - picked) * counts
    return losses.sum() / counts.sum().clamp(min=1)


@FORMS(
    "cross_entropy",
    "d2l 10.7",
    expected="refused: padding_in_the_divisor",
    before="refused: padding_in_the_divisor (5 of 19)",
)
def masked_and_averaged(logits, targets, ignore_index):
    counts = targets != ignore_index
    log_p = functional.log_softmax(logits, dim=-1)
    picked = log_p.gather(-1, (targets * counts).unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).mean()


@FORMS(
    "cross_entropy",
    "CS231n",
    expected="refused: log_of_the_softmax",
    before="refused: log_of_the_softmax (17 of 19)",
)
def logarithm_of_the_softmax(logits, targets, ignore_index):
    counts = targets != ignore_index
    p = logits.softmax(dim=-1)
    picked = p.gather(-1, (targets * counts).unsqueeze(-1)).squeeze(-1)
    return -picked.log()[counts].sum() / counts.sum().clamp(min=1)


@FORMS("label_smoothing", "Szegedy et al.", before="full")
def mixed_with_the_uniform(targets, vocab_size, smoothing):
    one_hot = functional.one_hot(targets, vocab_size).float()
    return (1 - smoothing) * one_hot + smoothing / vocab_size


@FORMS(
    "label_smoothing",
    "Annotated Transformer",
    expected="refused: divided_by_two_less & token_zero_gets_nothing",
    before="refused: divided_by_two_less & token_zero_gets_nothing (0 of 10)",
)
def without_padding_and_right_token(targets, vocab_size, smoothing):
    true = torch.full((*targets.shape, vocab_size), smoothing / (vocab_size - 2))
    true.scatter_(-1, targets.unsqueeze(-1), 1 - smoothing)
    true[..., 0] = 0
    return true.masked_fill_((targets == 0).unsqueeze(-1), 0.0)


@FORMS(
    "label_smoothing",
    "repositories",
    expected="refused: spread_over_the_others",
    before="refused: spread_over_the_others (0 of 10)",
)
def over_all_other_tokens(targets, vocab_size, smoothing):
    true = torch.full((*targets.shape, vocab_size), smoothing / (vocab_size - 1))
    return true.scatter(-1, targets.unsqueeze(-1), 1 - smoothing)


@FORMS("warmup_rate", "Vaswani et al., equation 3", before="full")
def smaller_of_both(step, d_model, warmup_steps):
    t = step + 1
    return 1 / math.sqrt(d_model) * min(1 / math.sqrt(t), t * warmup_steps**-1.5)


@FORMS(
    "warmup_rate",
    "Annotated Transformer",
    expected="refused: first_learning_rate_twice",
    before="refused: first_learning_rate_twice (0.75 of 5)",
)
def step_zero_as_one(step, d_model, warmup_steps):
    step = max(1, step)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


# Lesson 11


@FORMS(
    "greedy_decode",
    "Annotated Transformer, with an end",
    expected="refused: end_kept & start_kept",
    before="refused: end_kept & start_kept (0 of 14)",
)
def tokens_appended_to_the_start(next_logits, start_id, end_id, max_length):
    ys = [start_id]
    for _ in range(max_length):
        word = int(np.argmax(next_logits(ys)))
        ys.append(word)
        if word == end_id:
            break
    return ys


@FORMS(
    "greedy_decode",
    "Annotated Transformer, as printed",
    expected="refused: as_long_as_max_length",
    before="refused, no name (0 of 14)",
)
def as_many_tokens_as_max_length(next_logits, start_id, end_id, max_length):
    ys = [start_id]
    for _ in range(max_length - 1):
        ys.append(int(np.argmax(next_logits(ys))))
    return ys


@FORMS("greedy_decode", "d2l 10.7", before="full")
def predict_sequence(next_logits, start_id, end_id, max_length):
    outputs = []
    for _ in range(max_length):
        prediction = int(next_logits([start_id, *outputs]).argmax())
        if prediction == end_id:
            break
        outputs.append(prediction)
    return outputs


@FORMS(
    "greedy_decode",
    "seq2seq tutorials",
    expected="fine point open",
    before="refused: start_removed_by_value (7 of 14)",
)
def control_tokens_filtered(next_logits, start_id, end_id, max_length):
    ids = [start_id]
    for _ in range(max_length):
        ids.append(int(np.argmax(next_logits(ids))))
        if ids[-1] == end_id:
            break
    return [i for i in ids if i not in (start_id, end_id)]


def searched(f, start_id, end_id, beam_size, max_length, score):
    """Search as many programs do; score : of a total and a length with the end."""
    beams, done = [([start_id], 0.0)], []
    for _ in range(max_length):
        candidates = []
        for ids, total in beams:
            log_p = f(ids)
            for token in np.argsort(log_p)[::-1]:
                candidates.append(([*ids, int(token)], total + float(log_p[token])))
        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
        beams, room = [], beam_size - len(done)
        for ids, total in candidates[:room]:
            (done if ids[-1] == end_id else beams).append((ids, total))
        if not beams:
            break
    best, _ = max(done + beams, key=lambda each: score(each[1], len(each[0]) - 1))
    return best[1:-1] if best[-1] == end_id and len(best) > 1 else best[1:]


@FORMS("beam_search", "Wu et al. and OpenNMT", before="full")
def length_penalty_of_wu(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    return searched(
        next_log_probabilities,
        *(start_id, end_id, beam_size, max_length),
        lambda total, n: total / ((5 + n) ** alpha / (5 + 1) ** alpha),
    )


@FORMS(
    "beam_search",
    "Hugging Face and d2l 10.8",
    expected="refused: divided_by_a_power_of_the_length",
    before="refused: divided_by_a_power_of_the_length (17.75 of 33)",
)
def power_of_the_length(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    return searched(
        next_log_probabilities,
        *(start_id, end_id, beam_size, max_length),
        lambda total, n: total / n**alpha,
    )


@FORMS(
    "beam_search",
    "repositories",
    expected="refused: power_of_the_length_alone",
    before="refused, no name (30.25 of 33)",
)
def brackets_lost(
    next_log_probabilities, start_id, end_id, beam_size, max_length, alpha=0.6
):
    return searched(
        next_log_probabilities,
        *(start_id, end_id, beam_size, max_length),
        lambda total, n: total / ((5 + n**alpha) / 6**alpha),
    )


def n_grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped(hypothesis, reference, n):
    written = n_grams(hypothesis, n)
    return (written & n_grams(reference, n)).total(), written.total()


@FORMS("bleu", "NLTK corpus_bleu", before="full")
def corpus_with_sums_first(hypotheses, references, max_n=4):
    matches, totals = Counter(), Counter()
    pairs = list(zip(hypotheses, references, strict=True))
    for hypothesis, reference in pairs:
        for n in range(1, max_n + 1):
            hits, total = clipped(hypothesis, reference, n)
            matches[n] += hits
            totals[n] += max(1, total)
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    if not all(matches[n] for n in range(1, max_n + 1)):
        return 0.0
    totals = {n: sum(clipped(*pair, n)[1] for pair in pairs) for n in totals}
    mean = sum(math.log(matches[n] / totals[n]) for n in totals) / max_n
    return 100 * (1.0 if c > r else math.exp(1 - r / c)) * math.exp(mean)


def sentence_bleu(hypothesis, reference, max_n, smoothed):
    c, r = len(hypothesis), len(reference)
    if c == 0:
        return 0.0
    logs = 0.0
    for n in range(1, max_n + 1):
        hits, total = smoothed(n, *clipped(hypothesis, reference, n))
        if hits == 0:
            return 0.0
        logs += math.log(hits / total) / max_n
    return 100 * min(1.0, math.exp(1 - r / c)) * math.exp(logs)


def mean_over_sentences(hypotheses, references, max_n, smoothed):
    scores = [
        sentence_bleu(*pair, max_n, smoothed)
        for pair in zip(hypotheses, references, strict=True)
    ]
    return sum(scores) / len(scores)


@FORMS(
    "bleu",
    "NLTK sentence_bleu",
    expected="refused: mean_of_sentence_bleus",
    before="refused: mean_of_sentence_bleus (8.75 of 28)",
)
def mean_of_sentences(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses, references, max_n, lambda n, hits, total: (hits, max(1, total))
    )


@FORMS(
    "bleu",
    "NLTK method1",
    expected="refused: mean_of_sentence_bleus & a_tenth_of_a_match_in_place_of_none",
    before="refused, no name (7 of 28)",
)
def mean_of_sentences_with_a_tenth(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses,
        references,
        max_n,
        lambda n, hits, total: (hits or 0.1, max(1, total)),
    )


@FORMS(
    "bleu",
    "Lin and Och",
    expected="refused: mean_of_sentence_bleus & one_added_to_the_counts",
    before="refused: mean_of_sentence_bleus & one_added_to_the_counts (0 of 28)",
)
def mean_of_sentences_with_one_added(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses,
        references,
        max_n,
        lambda n, hits, total: (hits + 1, total + 1) if n > 1 else (hits, total),
    )


@FORMS(
    "bleu",
    "repositories",
    expected="refused: mean_of_sentence_bleus & one_added_everywhere",
    before="refused, no name (0 of 28)",
)
def mean_of_sentences_smoothed_by_laplace(hypotheses, references, max_n=4):
    return mean_over_sentences(
        hypotheses, references, max_n, lambda n, hits, total: (hits + 1, total + 1)
    )


@FORMS(
    "bleu",
    "repositories",
    expected="refused: one_added_everywhere",
    before="refused, no name (0 of 28)",
)
def corpus_smoothed_by_laplace(hypotheses, references, max_n=4):
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    product = 1.0
    for n in range(1, max_n + 1):
        counts = [
            clipped(*pair, n) for pair in zip(hypotheses, references, strict=True)
        ]
        hits, total = map(sum, zip(*counts, strict=True))
        product *= (hits + 1) / (total + 1)
    return 100 * min(1.0, math.exp(1 - r / c)) * product ** (1 / max_n) if c else 0.0


@FORMS(
    "bleu",
    "d2l 10.7",
    expected="refused: mean_of_sentence_bleus & weights_that_halve",
    before="refused, no name (0 of 28)",
)
def mean_with_weights_that_halve(hypotheses, references, max_n=4):
    total = 0.0
    for written, label in zip(hypotheses, references, strict=True):
        if not written:
            continue
        score = math.exp(min(0, 1 - len(label) / len(written)))
        for n in range(1, min(max_n, len(written)) + 1):
            hits, count = clipped(written, label, n)
            score *= (hits / count) ** (0.5**n)
        total += 100 * score
    return total / len(hypotheses)


@FORMS("cached_step", "nanoGPT and gpt-fast", before="full")
def rows_appended(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = math.sqrt(embedding.size(1)) * embedding[token_id] + encoding[keys.size(0)]
    keys = torch.cat((keys, (x @ w_k)[None]), dim=0)
    values = torch.cat((values, (x @ w_v)[None]), dim=0)
    weights = functional.softmax(keys @ (x @ w_q) / math.sqrt(keys.size(1)), dim=0)
    return weights @ values, keys, values


# Lesson 12


@FORMS(
    "apply_temperature",
    "nanoGPT and CS336",
    expected="fine point open",
    before="refused: formula_alone (6.5 of 14)",
)
def softmax_of_the_quotient(logits, temperature):
    return functional.softmax(logits / temperature, dim=-1)


@FORMS(
    "apply_temperature",
    "Hugging Face",
    before="refused: nan_at_temperature_infinity & quotient_overflows (9 of 14)",
)
def greedy_at_zero(logits, temperature):
    if temperature == 0:
        return functional.one_hot(logits.argmax(-1), logits.size(-1)).to(logits.dtype)
    return torch.softmax(logits / temperature, -1)


def scattered(probabilities, order, stays):
    filtered = torch.zeros_like(probabilities).scatter(-1, order, stays)
    return filtered / filtered.sum(dim=-1, keepdim=True)


@FORMS(
    "top_k_filter",
    "nanoGPT",
    expected="fine point open",
    before="refused: all_equal_ones_stay (9.5 of 12)",
)
def below_the_kth(probabilities, k):
    values, _ = torch.topk(probabilities, min(k, probabilities.size(-1)))
    filtered = probabilities.clone()
    filtered[filtered < values[..., [-1]]] = 0
    return filtered / filtered.sum(dim=-1, keepdim=True)


@FORMS(
    "top_k_filter",
    "Hugging Face",
    expected="fine point open",
    before="refused: all_equal_ones_stay (9.5 of 12)",
)
def filtered_as_logits(probabilities, k):
    logits = probabilities.log()
    k = min(k, logits.size(-1))
    remove = logits < torch.topk(logits, k)[0][..., -1, None]
    return logits.masked_fill(remove, -float("inf")).softmax(-1)


@FORMS("top_k_filter", "Fan et al.", before="full")
def first_k_of_a_stable_sort(probabilities, k):
    values, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return scattered(probabilities, order[..., :k], values[..., :k])


@FORMS(
    "top_p_filter",
    "Hugging Face",
    expected="fine point open",
    before="refused: one_more_where_the_sum_is_p & p_of_one_as_any_other (13 of 16)",
)
def shifted_mask(probabilities, p):
    values, order = probabilities.sort(dim=-1, descending=True)
    remove = values.cumsum(dim=-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return scattered(probabilities, order, values.masked_fill(remove, 0.0))


@FORMS(
    "top_p_filter",
    "Llama",
    expected="fine point open",
    before="refused: one_more_where_the_sum_is_p & p_of_one_as_any_other (13 of 16)",
)
def sum_before_above_p(probabilities, p):
    values, order = torch.sort(probabilities, dim=-1, descending=True)
    before = torch.cumsum(values, dim=-1) - values
    return scattered(probabilities, order, torch.where(before > p, 0.0, values))


@FORMS(
    "top_p_filter",
    "repositories",
    expected="refused: crossing_token_dropped",
    before="refused: crossing_token_dropped_with_p_of_one_too (3 of 16)",
)
def sum_up_to_p(probabilities, p):
    values, order = torch.sort(probabilities, dim=-1, descending=True)
    stays = torch.cumsum(values, dim=-1) <= p
    return scattered(probabilities, order, values * stays)


@FORMS(
    "sample",
    "Devroye",
    expected="fine point open",
    before="refused: first_token_at_the_end (10.75 of 12)",
)
def first_sum_above(probabilities, u):
    return (probabilities.cumsum(-1) > u.unsqueeze(-1)).int().argmax(-1)


@FORMS(
    "sample",
    "NumPy",
    expected="fine point open",
    before="refused: earlier_token_on_a_boundary & last_token_of_all_at_the_end "
    "(8.25 of 12)",
)
def sorted_search(probabilities, u):
    sums = probabilities.cumsum(-1)
    token_ids = torch.searchsorted(sums, u.unsqueeze(-1).contiguous()).squeeze(-1)
    return token_ids.clamp(max=probabilities.size(-1) - 1)


@FORMS("rms_norm", "Hugging Face Llama", before="refused, no name (5 of 6)")
def llama_in_float32(x, gain, eps=1e-6):
    hidden = x.to(torch.float32)
    hidden = hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + eps)
    return gain * hidden.to(x.dtype)


@FORMS("rms_norm", "CS336", before="refused, no name (5 of 6)")
def float32_and_back(x, gain, eps=1e-6):
    dtype, x = x.dtype, x.to(torch.float32)
    root = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + eps)
    return (x / root * gain).to(dtype)


@FORMS(
    "rms_norm",
    "x-transformers",
    expected="refused: root_at_least_eps",
    before="refused, no name (4 of 6)",
)
def norm_at_least_eps(x, gain, eps=1e-6):
    norm = torch.norm(x, dim=-1, keepdim=True) * x.shape[-1] ** -0.5
    return x / norm.clamp(min=eps) * gain


@FORMS(
    "rms_norm",
    "repositories",
    expected="refused: eps_outside_the_root",
    before="refused: eps_outside_the_root (4 of 6)",
)
def eps_added_to_the_root(x, gain, eps=1e-6):
    return gain * x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps)


@FORMS(
    "rms_norm",
    "Gemma",
    expected="refused: gain_plus_one",
    before="refused, no name (0 of 6)",
)
def one_plus_gain(x, gain, eps=1e-6):
    return float32_and_back(x, 1 + gain.float(), eps)


@FORMS("swiglu", "Hugging Face Llama", before="full")
def down_of_gate_times_up(x, w_gate, w_up, w_down):
    return (functional.silu(x @ w_gate) * (x @ w_up)) @ w_down


@FORMS("swiglu", "CS336", before="full")
def sigmoid_by_hand(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    return (gate * torch.sigmoid(gate) * (x @ w_up)) @ w_down


@FORMS(
    "swiglu",
    "Gemma",
    expected="refused: gelu_for_silu",
    before="refused: gelu_for_silu (0 of 6)",
)
def geglu(x, w_gate, w_up, w_down):
    return (functional.gelu(x @ w_gate) * (x @ w_up)) @ w_down


@FORMS(
    "grouped_query_attention",
    "Llama",
    expected="fine point open",
    before="refused: nan_where_nothing_is_allowed & shapes_that_do_not_fit "
    "(13.5 of 16)",
)
def repeat_kv(q, k, v, may_attend=None):
    groups = q.size(-3) // k.size(-3)
    k, v = (part.repeat_interleave(groups, dim=-3) for part in (k, v))
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if may_attend is not None:
        mask = may_attend if may_attend.ndim < 3 else may_attend.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.matmul(functional.softmax(scores, dim=-1), v)


@FORMS(
    "grouped_query_attention",
    "Hugging Face",
    expected="fine point open",
    before="refused, no name (12.25 of 16)",
)
def least_float_for_blocked(q, k, v, may_attend=None):
    groups = q.size(-3) // k.size(-3)
    shape = (*k.shape[:-3], k.size(-3), groups)
    k, v = (
        part.unsqueeze(-3).expand(*shape, *part.shape[-2:]).flatten(-4, -3)
        for part in (k, v)
    )
    scores = q @ k.mT * q.size(-1) ** -0.5
    if may_attend is not None:
        mask = may_attend if may_attend.ndim < 3 else may_attend.unsqueeze(-3)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return weights @ v


@FORMS(
    "grouped_query_attention",
    "repositories",
    expected="refused: tiled",
    before="refused: tiled & shapes_that_do_not_fit (3.75 of 16)",
)
def heads_repeated_in_turn(q, k, v, may_attend=None):
    times = [1] * (k.ndim - 3) + [q.size(-3) // k.size(-3), 1, 1]
    return repeat_kv(q, k.repeat(*times), v.repeat(*times), may_attend).nan_to_num(0.0)


@FORMS("language_model_batch", "nanoGPT", before="refused: slices_end_early (5 of 6)")
def stacked_slices(token_ids, length, starts):
    x = torch.stack([token_ids[i : i + length] for i in starts])
    y = torch.stack([token_ids[i + 1 : i + 1 + length] for i in starts])
    return x, y


@FORMS("bits_per_byte", "The Pile", before="refused, no name (10 of 12)")
def nats_to_bits_over_bytes(losses, text):
    return losses.sum().item() / math.log(2) / len(text.encode("utf-8"))


@FORMS(
    "bits_per_byte",
    "language modelling",
    expected="refused: bits_per_character",
    before="refused, no name (3.5 of 12)",
)
def over_characters(losses, text):
    return losses.sum().item() / math.log(2) / len(text)


# Lesson 13


def heads_of(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


@FORMS("prune", "Hugging Face head_mask", before="full")
def gates_on_the_weights(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    n_heads = len(gates)
    q, k, v = (heads_of(y, n_heads) for y in (x @ w_q, memory @ w_k, memory @ w_v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend.unsqueeze(-3), float("-inf"))
    weights = scores.softmax(dim=-1) * gates[:, None, None]
    return (weights @ v).transpose(-2, -3).flatten(-2) @ w_o


@FORMS("induction_score", "TransformerLens", before="full")
def diagonal_of_the_pattern(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


@FORMS(
    "induction_score",
    "TransformerLens, whole diagonal",
    expected="refused: whole_diagonal",
    before="refused: whole_diagonal (0 of 14)",
)
def mean_of_the_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1).mean(-1)


# Lesson 14


@FORMS(
    "flops",
    "Vaswani et al., table 1",
    expected="refused: entries_of_the_table",
    before="refused, no name (0 of 16)",
)
def entries_of_table_1(kind, n, d, k=None):
    return {
        "attention": n * n * d,
        "recurrence": n * d * d,
        "convolution": (k or 1) * n * d * d,
        "window": min(k or 1, n) * n * d,
    }[kind]


@FORMS("flops", "two for a multiply and an add", before="refused, no name (14.5 of 16)")
def two_per_product(kind, n, d, k=None):
    if kind == "attention":
        return 2 * n * n * d + 2 * n * n * d
    if kind == "window":
        return 2 * 2 * n * min(k, n) * d
    if kind == "recurrence":
        return n * (2 * d * d + 2 * d * d)
    return n * k * 2 * d * d


@FORMS("path_length", "math.ceil", before="refused, no name (11.25 of 14)")
def quotient_rounded_up(kind, n, k=None):
    if kind == "attention":
        return 1 if n > 1 else 0
    if kind == "recurrence":
        return n - 1
    return math.ceil((n - 1) / (k - 1))


@FORMS(
    "path_length",
    "Vaswani et al., table 1",
    expected="refused: n_over_k",
    before="refused, no name (3 of 14)",
)
def entry_of_the_table(kind, n, k=None):
    if kind in ("attention", "recurrence"):
        return quotient_rounded_up(kind, n)
    return math.ceil(n / k)


@FORMS(
    "sequential_steps",
    "Vaswani et al., table 1",
    before="refused: one_step_for_other_kinds & n_not_checked (5.25 of 6)",
)
def one_or_n(kind, n, k=None):
    return n if kind == "recurrence" else 1


@FORMS(
    "kv_cache_bytes",
    "Shazeer and Ainslie et al.",
    before="refused: sizes_not_refused (6.5 of 7)",
)
def keys_and_values(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    return 2 * n_layers * n_kv_heads * d_k * n * batch * bytes_per_number


@FORMS("online_softmax", "Milakov and Gimelshein, algorithm 3", before="full")
def running_maximum_and_sum(x, block):
    m = np.full((*x.shape[:-1], 1), -np.inf)
    d = np.zeros_like(m)
    for part in np.split(x, range(block, x.shape[-1], block), axis=-1):
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        d = d * np.exp(m - new) + np.exp(part - new).sum(axis=-1, keepdims=True)
        m = new
    return np.exp(x - m) / d


@FORMS(
    "online_softmax",
    "FlashAttention-2",
    before="refused: logarithm_of_the_sum (18.25 of 19)",
)
def by_the_logarithm_of_the_sum(x, block):
    log_sum = np.full((*x.shape[:-1], 1), -np.inf)
    for start in range(0, x.shape[-1], block):
        for column in np.moveaxis(x[..., start : start + block], -1, 0):
            log_sum = np.logaddexp(log_sum, column[..., np.newaxis])
    return np.exp(x - log_sum)


@FORMS(
    "online_softmax",
    "kernels that begin at −1e9",
    before="refused: maximum_started_at_minus_a_billion (15.5 of 19)",
)
def begun_at_a_low_number(x, block):
    m = np.full((*x.shape[:-1], 1), -1e9)
    d = np.zeros_like(m)
    for start in range(0, x.shape[-1], block):
        part = x[..., start : start + block]
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        d = d * np.exp(m - new) + np.exp(part - new).sum(axis=-1, keepdims=True)
        m = new
    return np.exp(x - m) / d


def flash(q, k, v, block, may_attend, lowest):
    scale = 1 / math.sqrt(q.shape[-1])
    m = np.full((*q.shape[:-1], 1), lowest)
    total, output = np.zeros_like(m), np.zeros((*q.shape[:-1], v.shape[-1]))
    for start in range(0, k.shape[-2], block):
        part = slice(start, start + block)
        scores = q @ k[..., part, :].swapaxes(-1, -2) * scale
        if may_attend is not None:
            scores = np.where(may_attend[..., part], scores, lowest)
        new = np.maximum(m, scores.max(-1, keepdims=True))
        safe = np.where(np.isinf(new), 0.0, new)
        powers, factor = np.exp(scores - safe), np.exp(m - safe)
        total = factor * total + powers.sum(-1, keepdims=True)
        output = factor * output + powers @ v[..., part, :]
        m = new
    return output, total


@FORMS("tiled_attention", "FlashAttention-2", before="full")
def divided_once(q, k, v, block, may_attend=None):
    output, total = flash(q, k, v, block, may_attend, -np.inf)
    return np.divide(output, total, out=np.zeros_like(output), where=total > 0)


@FORMS(
    "tiled_attention",
    "CS336",
    expected="fine point open",
    before="refused: nan_without_keys (26 of 33)",
)
def divided_by_any_sum(q, k, v, block, may_attend=None):
    output, total = flash(q, k, v, block, may_attend, -np.inf)
    return output / total


@FORMS(
    "tiled_attention",
    "Annotated Transformer",
    expected="fine point open",
    before="refused: filled_with_minus_a_billion (24.25 of 33)",
)
def minus_a_billion(q, k, v, block, may_attend=None):
    output, total = flash(q, k, v, block, may_attend, -1e9)
    return output / total


@FORMS("sliding_window_mask", "Hugging Face Mistral", before="full")
def lower_triangle_less_what_is_far(n, width):
    causal = np.tril(np.ones((n, n), dtype=bool))
    return causal & np.triu(np.ones((n, n), dtype=bool), k=-width + 1)


@FORMS(
    "sliding_window_mask",
    "Mistral 7B",
    expected="refused: one_key_too_many",
    before="refused: one_key_too_many (1.25 of 8)",
)
def from_i_minus_width(n, width):
    i, j = np.indices((n, n))
    return (j <= i) & (j >= i - width)


@FORMS(
    "sliding_window_mask",
    "Longformer",
    expected="refused: half_of_the_window_ahead",
    before="refused: half_of_the_window_ahead (0 of 8)",
)
def half_on_each_side(n, width):
    i, j = np.indices((n, n))
    return np.abs(i - j) <= width // 2
