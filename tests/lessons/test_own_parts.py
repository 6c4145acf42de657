"""Cells that join the learner's own functions: what is missing, and what they learn."""

import torch

from course_lib import masks
from course_lib.lessons import own_transformer
from course_lib.lessons.own_parts import complete
from course_lib.nn import functional
from course_lib.positions import sinusoidal_encoding


def not_written():
    """Return nothing yet."""
    raise NotImplementedError  # replace this line with your answer


def test_complete_replaces_missing_functions_alone(capsys):
    def written(x):
        return x

    names = {"embed": written, "shift_right": not_written}
    complete(names, functional, "embed", "shift_right", "layer_norm")
    assert names == {
        "embed": written,
        "shift_right": functional.shift_right,
        "layer_norm": functional.layer_norm,
    }
    assert capsys.readouterr().out.splitlines() == [
        "yours: embed",
        "the course's, until you run your own: shift_right, layer_norm",
    ]


def logits_of(source, target, parts, encoding=None):
    ends = parts["ends"]
    if encoding is None:
        encoding = torch.tensor(sinusoidal_encoding(6, own_transformer.D_MODEL)).float()
    causal = torch.tensor(masks.causal_mask(6))
    x = functional.embed(source, ends["embedding"], encoding)
    x = functional.encoder_layer(x, parts["encoder"], 4)
    memory = functional.layer_norm(x, ends["gain_encoder"], ends["bias_encoder"])
    shifted = functional.shift_right(target, own_transformer.START_ID)
    y = functional.embed(shifted, ends["embedding"], encoding)
    y = functional.decoder_layer(y, memory, parts["decoder"], 4, causal)
    y = functional.layer_norm(y, ends["gain_decoder"], ends["bias_decoder"])
    return y @ ends["embedding"].T


def test_course_functions_learn_to_reverse():
    parts = own_transformer.make_parameters()
    before = own_transformer.share_reversed(logits_of, parts)
    losses = own_transformer.learn_to_reverse(logits_of, parts, 300)
    assert before < 0.01 and losses[0] > 2
    assert own_transformer.share_reversed(logits_of, parts) > 0.9
    assert own_transformer.write(logits_of, parts, ["decade"]) == ["edaced"]


def test_words_are_not_reversed_without_positions():
    def without_positions(source, target, parts):
        return logits_of(source, target, parts, torch.zeros(6, 32))

    parts = own_transformer.make_parameters()
    own_transformer.learn_to_reverse(without_positions, parts, 100)
    assert own_transformer.share_reversed(without_positions, parts) < 0.2
