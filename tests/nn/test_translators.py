"""Every translator: no leak, no influence of padding, steps equal to a whole."""

import math
from dataclasses import asdict

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from course_lib.masks import leak
from course_lib.nn.functional import count_transformer
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from course_lib.nn.losses import padding_gap
from course_lib.nn.recurrent import RecurrentConfig, RecurrentTranslator
from course_lib.nn.transformer import Transformer, TransformerConfig
from tests.benchmarks.torch_translator import TorchTranslator
from tests.nn.test_attention import GPU, close
from tests.nn.translators import KINDS, PADDING_ID, VOCAB_SIZE, random_ids, translator

# Five steps, each with some ten sums of some ten numbers near 1.
EXACT = {"rtol": 0, "atol": 1e-11}
each_kind = pytest.mark.parametrize("kind", KINDS)
DEVICES = ["cpu", GPU]


def leak_of(model, source):
    def f(tokens):
        with torch.no_grad():
            logits = model(source, torch.tensor(tokens[:, 0]).unsqueeze(0))
        return logits[0].numpy()

    # The tool makes 1 − 2z of a token z, so the embedding must know negative ones.
    target = np.array([[5], [3], [7], [4], [9]])
    return max(leak(lambda x: f(x % VOCAB_SIZE), target, t) for t in range(4))


@each_kind
def test_logits_do_not_depend_on_later_tokens(kind):
    assert leak_of(translator(kind), random_ids(1, 6)) < 1e-12


def test_leak_test_detects_a_leak():
    model = translator("pre-norm")
    for layer in model.decoder.layers:  # as if the causal mask were forgotten
        see_all = layer.forward
        layer.forward = lambda y, memory, *_, f=see_all, causal: f(y, memory)
    assert leak_of(model, random_ids(1, 6)) > 1e-3


def both_gaps(model):
    sequences = [[3, 4, 5, 6, 7, 8], [9, 10], [5]]

    @torch.no_grad()
    def of_source(tokens):
        target = torch.tensor([[1, 4, 5]]).expand(len(tokens), -1)
        return model(torch.tensor(tokens), target).flatten(1).unsqueeze(1).numpy()

    @torch.no_grad()
    def of_target(tokens):
        return model(
            random_ids(1, 6).expand(len(tokens), -1), torch.tensor(tokens)
        ).numpy()

    def repeated(tokens):  # the same result at all positions, so that none is left out
        return np.repeat(of_source(tokens), tokens.shape[1], axis=1)

    return [padding_gap(f, sequences, PADDING_ID) for f in (repeated, of_target)]


@each_kind
def test_padding_and_neighbours_change_nothing(kind):
    assert max(both_gaps(translator(kind))) < 1e-12


@each_kind
def test_padding_test_detects_a_forgotten_mask(kind, monkeypatch):
    for module in ("transformer", "recurrent"):
        monkeypatch.setattr(
            f"course_lib.nn.{module}.token_mask",
            lambda token_ids, padding_id: torch.ones_like(token_ids, dtype=torch.bool),
        )
    assert both_gaps(translator(kind))[0] > 1e-3


@each_kind
@pytest.mark.parametrize("device", DEVICES)
def test_steps_match_a_whole_target(kind, device):
    model = translator(kind, device=device)
    source, target = random_ids(3, 6), random_ids(3, 5, seed=1)
    source[1, 2:] = PADDING_ID
    source, target = source.to(device), target.to(device)
    state = model.initial_state(model.encode(source))
    for position, expected in enumerate(model(source, target).unbind(dim=1)):
        logits, state = model.step(target[:, position], state)
        torch.testing.assert_close(logits, expected, **EXACT)


@each_kind
def test_state_can_be_selected_and_reused(kind):
    model = translator(kind)
    source, target = random_ids(3, 6), random_ids(3, 2, seed=1)
    source[1, 2:] = PADDING_ID
    first = model.initial_state(model.encode(source))
    _, state = model.step(target[:, 0], first)
    rows = torch.tensor([2, 0, 0, 1])
    chosen, _ = model.step(target[rows, 1], state.select(rows))
    whole, _ = model.step(target[:, 1], state)
    torch.testing.assert_close(chosen, whole[rows], **EXACT)
    repeated_logits, _ = model.step(target[:, 0], first)
    torch.testing.assert_close(repeated_logits, model(source, target)[:, 0], **EXACT)


@each_kind
def test_weights_sum_to_1_and_are_0_at_padding(kind):
    model = translator(kind)
    source, target = random_ids(3, 6), random_ids(3, 5, seed=1)
    source[1, 2:] = PADDING_ID
    weights = model.attention_weights(source, target)
    if kind == "none":
        assert weights is None
        return
    assert weights.shape == (3, 5, 6)
    assert (weights[1, :, 2:] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 5).double())
    assert weights[0].std() > 1e-3


def test_attention_weights_are_the_mean_over_heads():
    model = translator("pre-norm", n_layers=2)
    source, target = random_ids(3, 6), random_ids(3, 5, seed=1)
    weights = model.attention_weights_by_head(source, target)
    assert weights.shape == (3, 2, 3, 5, 6)
    close(model.attention_weights(source, target), weights[:, 1].mean(dim=1))


@pytest.mark.parametrize("kind", KINDS)
def test_first_loss_is_that_of_uniform_probabilities(kind):
    torch.manual_seed(0)
    if kind.endswith("norm"):
        config = TransformerConfig(4000, norm_first=kind == "pre-norm")
        model = Transformer(config, device="cpu")
    else:
        model = RecurrentTranslator(RecurrentConfig(4000, attention=kind), device="cpu")
    source, target = torch.randint(1, 4000, (2, 16, 12)).unbind()
    read, written = target[:, :-1], target[:, 1:]
    logits = model(source, read)
    loss = cross_entropy(logits.flatten(0, 1), written.flatten()).item()
    assert loss / math.log(4000) == pytest.approx(1, abs=0.05)


@each_kind
@pytest.mark.parametrize("device", DEVICES)
def test_sequence_of_padding_gives_finite_gradients(kind, device):
    model = translator(kind, device=device)
    source, target = random_ids(2, 6).to(device), random_ids(2, 5, seed=1).to(device)
    source[0] = target[0] = PADDING_ID
    model(source, target).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer_matches_pytorch(norm_first):
    torch.manual_seed(0)
    small = {"d_model": 12, "n_heads": 3, "n_layers": 3, "d_ff": 10, "n_positions": 20}
    config = TransformerConfig(VOCAB_SIZE, norm_first=norm_first, **small)
    theirs = TorchTranslator(config).double().eval()
    ours = Transformer(config, device="cpu", dtype=torch.float64).eval()
    ours.embedding.load_state_dict(theirs.embedding.state_dict())
    for kind, mine, other in (
        (EncoderLayer, ours.encoder, theirs.inner.encoder),
        (DecoderLayer, ours.decoder, theirs.inner.decoder),
    ):
        mine.norm.load_state_dict(other.norm.state_dict())
        for i, layer in enumerate(other.layers):
            nn.init.normal_(layer.norm1.bias)
            mine.layers[i] = kind.from_torch(layer)
    source, target = random_ids(3, 6), random_ids(3, 5, seed=1)
    source[1, 2:] = target[2, 3:] = PADDING_ID
    torch.testing.assert_close(ours(source, target), theirs(source, target), **EXACT)
    n_parameters = sum(each.numel() for each in ours.parameters())
    assert n_parameters == sum(each.numel() for each in theirs.parameters())
    assert n_parameters == count_transformer(3, 12, 10, VOCAB_SIZE)


@each_kind
def test_every_parameter_gets_a_gradient(kind):
    model = translator(kind)
    model(random_ids(2, 6), random_ids(2, 5, seed=1)).square().sum().backward()
    for name, parameter in model.named_parameters():
        # A key's bias moves all scores of a query alike, so its gradient is 0.
        if not name.endswith("key.bias"):
            assert parameter.grad.abs().max() > 0, name


@each_kind
def test_dropout_acts_in_training_only(kind):
    model = translator(kind, dropout=0.5)
    source, target = random_ids(2, 6), random_ids(2, 5, seed=1)
    assert torch.equal(model(source, target), model(source, target))
    model.train()
    assert not torch.equal(model(source, target), model(source, target))


@each_kind
def test_config_restores_the_model(kind):
    model = translator(kind)
    config = type(model.config)(**asdict(model.config))
    restored = type(model)(config, dtype=torch.float64)
    restored.to("cpu").load_state_dict(model.state_dict())
    source, target = random_ids(2, 6), random_ids(2, 5, seed=1)
    close(restored.eval()(source, target), model(source, target))


def test_sequences_beyond_the_positions_are_refused():
    model = translator("pre-norm", n_positions=4)
    words = "a sequence has 5 tokens; this model takes 4 at most"
    assert model(random_ids(1, 4), random_ids(1, 4)).shape == (1, 4, VOCAB_SIZE)
    with pytest.raises(ValueError, match=words):
        model(random_ids(1, 5), random_ids(1, 4))
    with pytest.raises(ValueError, match=words):
        model(random_ids(1, 4), random_ids(1, 5))
    state = model.initial_state(model.encode(random_ids(1, 4)))
    for _ in range(4):
        _, state = model.step(torch.tensor([3]), state)
    with pytest.raises(ValueError, match=words):
        model.step(torch.tensor([3]), state)


def test_unknown_attention_is_refused():
    with pytest.raises(ValueError, match="attention='dot' is none of none, additive"):
        RecurrentConfig(VOCAB_SIZE, attention="dot")
