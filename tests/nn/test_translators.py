"""What holds for every translator: no leak, no part for filling, steps like a whole."""

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
from course_lib.nn.recurrent import RecurrentSizes, RecurrentTranslator
from course_lib.nn.transformer import Transformer, TransformerSizes
from tests.benchmarks.torch_translator import TorchTranslator
from tests.nn.test_attention import GPU, close
from tests.nn.translators import KINDS, PADDING, VOCAB_SIZE, texts, translator

# Five steps, each with some ten sums of some ten numbers near 1.
EXACT = {"rtol": 0, "atol": 1e-11}
each_kind = pytest.mark.parametrize("kind", KINDS)
DEVICES = ["cpu", GPU]


def leak_of(model, source):
    def f(tokens):
        with torch.no_grad():
            found = model(source, torch.tensor(tokens[:, 0]).unsqueeze(0))
        return found[0].numpy()

    # The tool makes 1 − 2z of a token z, so the embedding must know negative ones.
    target = np.array([[5], [3], [7], [4], [9]])
    return max(leak(lambda x: f(x % VOCAB_SIZE), target, t) for t in range(4))


@each_kind
def test_no_place_sees_tokens_that_come_later(kind):
    assert leak_of(translator(kind), texts(1, 6)) < 1e-12


def test_the_leak_test_sees_a_leak():
    model = translator("pre-norm")
    for layer in model.decoder.layers:  # as if the causal mask were forgotten
        see_all = layer.forward
        layer.forward = lambda y, memory, *_, f=see_all, causal: f(y, memory)
    assert leak_of(model, texts(1, 6)) > 1e-3


def both_gaps(model):
    sequences = [[3, 4, 5, 6, 7, 8], [9, 10], [5]]

    @torch.no_grad()
    def of_source(tokens):
        target = torch.tensor([[1, 4, 5]]).expand(len(tokens), -1)
        return model(torch.tensor(tokens), target).flatten(1).unsqueeze(1).numpy()

    @torch.no_grad()
    def of_target(tokens):
        return model(texts(1, 6).expand(len(tokens), -1), torch.tensor(tokens)).numpy()

    def repeated(tokens):  # the same result at all places, so that none is left out
        return np.repeat(of_source(tokens), tokens.shape[1], axis=1)

    return [padding_gap(f, sequences, PADDING) for f in (repeated, of_target)]


@each_kind
def test_filling_and_neighbours_play_no_part(kind):
    assert max(both_gaps(translator(kind))) < 1e-12


@each_kind
def test_the_padding_test_sees_a_forgotten_mask(kind, monkeypatch):
    for place in ("transformer", "seq2seq"):
        monkeypatch.setattr(
            f"course_lib.nn.{place}.real_tokens",
            lambda tokens, padding: torch.ones_like(tokens, dtype=torch.bool),
        )
    assert both_gaps(translator(kind))[0] > 1e-3


@each_kind
@pytest.mark.parametrize("device", DEVICES)
def test_steps_score_what_a_whole_target_scores(kind, device):
    model = translator(kind, device=device)
    source, target = texts(3, 6), texts(3, 5, seed=1)
    source[1, 2:] = PADDING
    source, target = source.to(device), target.to(device)
    state = model.start(model.encode(source))
    for place, expected in enumerate(model(source, target).unbind(dim=1)):
        logits, state = model.step(target[:, place], state)
        torch.testing.assert_close(logits, expected, **EXACT)


@each_kind
def test_a_state_can_be_copied_swapped_dropped_and_used_again(kind):
    model = translator(kind)
    source, target = texts(3, 6), texts(3, 2, seed=1)
    source[1, 2:] = PADDING
    first = model.start(model.encode(source))
    _, state = model.step(target[:, 0], first)
    rows = torch.tensor([2, 0, 0, 1])
    chosen, _ = model.step(target[rows, 1], state.select(rows))
    whole, _ = model.step(target[:, 1], state)
    torch.testing.assert_close(chosen, whole[rows], **EXACT)
    again, _ = model.step(target[:, 0], first)
    torch.testing.assert_close(again, model(source, target)[:, 0], **EXACT)


@each_kind
def test_weights_are_means_and_none_is_on_filling(kind):
    model = translator(kind)
    source, target = texts(3, 6), texts(3, 5, seed=1)
    source[1, 2:] = PADDING
    weights = model.attention(source, target)
    if kind == "none":
        assert weights is None
        return
    assert weights.shape == (3, 5, 6)
    assert (weights[1, :, 2:] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 5).double())
    assert weights[0].std() > 1e-3


def test_weights_of_all_heads_have_the_last_layers_mean():
    model = translator("pre-norm", n_layers=2)
    source, target = texts(3, 6), texts(3, 5, seed=1)
    weights = model.attention_by_head(source, target)
    assert weights.shape == (3, 2, 3, 5, 6)
    close(model.attention(source, target), weights[:, 1].mean(dim=1))


@pytest.mark.parametrize("kind", KINDS)
def test_loss_at_step_0_is_that_of_even_guesses(kind):
    torch.manual_seed(0)
    if kind.endswith("norm"):
        sizes = TransformerSizes(4000, norm_first=kind == "pre-norm")
        model = Transformer(sizes, device="cpu")
    else:
        model = RecurrentTranslator(RecurrentSizes(4000, attention=kind), device="cpu")
    source, target = torch.randint(1, 4000, (2, 16, 12)).unbind()
    read, written = target[:, :-1], target[:, 1:]
    logits = model(source, read)
    loss = cross_entropy(logits.flatten(0, 1), written.flatten()).item()
    assert loss / math.log(4000) == pytest.approx(1, abs=0.05)


@each_kind
@pytest.mark.parametrize("device", DEVICES)
def test_a_text_of_filling_alone_gives_finite_gradients(kind, device):
    model = translator(kind, device=device)
    source, target = texts(2, 6).to(device), texts(2, 5, seed=1).to(device)
    source[0] = target[0] = PADDING
    model(source, target).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_whole_transformer_is_that_of_pytorch(norm_first):
    torch.manual_seed(0)
    small = {"d_model": 12, "n_heads": 3, "n_layers": 3, "d_ff": 10, "n_places": 20}
    sizes = TransformerSizes(VOCAB_SIZE, norm_first=norm_first, **small)
    theirs = TorchTranslator(sizes).double().eval()
    ours = Transformer(sizes, device="cpu", dtype=torch.float64).eval()
    ours.table.load_state_dict(theirs.table.state_dict())
    for kind, mine, other in (
        (EncoderLayer, ours.encoder, theirs.inner.encoder),
        (DecoderLayer, ours.decoder, theirs.inner.decoder),
    ):
        mine.norm.load_state_dict(other.norm.state_dict())
        for place, layer in enumerate(other.layers):
            nn.init.normal_(layer.norm1.bias)
            mine.layers[place] = kind.from_torch(layer)
    source, target = texts(3, 6), texts(3, 5, seed=1)
    source[1, 2:] = target[2, 3:] = PADDING
    torch.testing.assert_close(ours(source, target), theirs(source, target), **EXACT)
    n_parameters = sum(each.numel() for each in ours.parameters())
    assert n_parameters == sum(each.numel() for each in theirs.parameters())
    assert n_parameters == count_transformer(3, 12, 10, VOCAB_SIZE)


@each_kind
def test_every_parameter_is_trained(kind):
    model = translator(kind)
    model(texts(2, 6), texts(2, 5, seed=1)).square().sum().backward()
    for name, parameter in model.named_parameters():
        # A key's bias moves all scores of a query alike, so its gradient is 0.
        if not name.endswith("key.bias"):
            assert parameter.grad.abs().max() > 0, name


@each_kind
def test_dropout_acts_while_training_only(kind):
    model = translator(kind, dropout=0.5)
    source, target = texts(2, 6), texts(2, 5, seed=1)
    assert torch.equal(model(source, target), model(source, target))
    model.train()
    assert not torch.equal(model(source, target), model(source, target))


@each_kind
def test_sizes_say_how_to_make_it_again(kind):
    model = translator(kind)
    again = type(model)(type(model.sizes)(**asdict(model.sizes)), dtype=torch.float64)
    again.to("cpu").load_state_dict(model.state_dict())
    source, target = texts(2, 6), texts(2, 5, seed=1)
    close(again.eval()(source, target), model(source, target))


def test_texts_beyond_the_positions_are_refused_clearly():
    model = translator("pre-norm", n_places=4)
    words = "a text has 5 tokens; this model takes 4 at most"
    assert model(texts(1, 4), texts(1, 4)).shape == (1, 4, VOCAB_SIZE)
    with pytest.raises(ValueError, match=words):
        model(texts(1, 5), texts(1, 4))
    with pytest.raises(ValueError, match=words):
        model(texts(1, 4), texts(1, 5))
    state = model.start(model.encode(texts(1, 4)))
    for _ in range(4):
        _, state = model.step(torch.tensor([3]), state)
    with pytest.raises(ValueError, match=words):
        model.step(torch.tensor([3]), state)


def test_an_unknown_attention_is_refused():
    sizes = RecurrentSizes(VOCAB_SIZE, attention="dot")
    with pytest.raises(ValueError, match="attention='dot' is none of none, additive"):
        RecurrentTranslator(sizes)
