"""Copying: one vector or attention, words that cannot be guessed, the record."""

import numpy as np
import torch

from course_lib.experiments import bottleneck, longer_copying, record
from course_lib.lessons.small_seq2seq import (
    FIRST_TOKEN_ID,
    decoder_input,
    generate,
)
from course_lib.nn.training.subwords import END_ID, PADDING_ID, START_ID


def test_letters_are_no_special_tokens():
    words = bottleneck.draw(50, 9, np.random.default_rng(0))
    assert words.shape == (50, 9)
    assert (
        words.min() == FIRST_TOKEN_ID
        and words.max() == FIRST_TOKEN_ID + bottleneck.N_LETTERS - 1
    )


def test_only_one_decoder_has_attention():
    words = bottleneck.draw(3, 5, np.random.default_rng(0))
    fixed = bottleneck.train("none", steps=1)
    attending = bottleneck.train("additive", steps=1)
    assert fixed.attention_weights(words, decoder_input(words)) is None
    assert attending.attention_weights(words, decoder_input(words)).shape == (3, 5, 5)
    # The encoders begin alike: nothing but the attention is different.
    assert fixed.encoder.gru.weight_hh_l0.shape == (192, 64)
    assert attending.encoder.gru.weight_hh_l0.shape == (192, 64)


def test_training_helps_and_leaves_pytorch_unchanged():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    before, after = (
        bottleneck.train("none", steps=steps, max_length=3) for steps in (1, 60)
    )
    assert bottleneck.accuracy(after, 2) > bottleneck.accuracy(before, 2) + 0.2
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_training_is_repeatable():
    one, two = (bottleneck.train("additive", steps=3, seed=4) for _ in range(2))
    for name, parameter in one.state_dict().items():
        assert torch.equal(parameter, two.state_dict()[name]), name


def test_decoder_input_is_shifted_by_one():
    assert decoder_input(torch.tensor([[7, 8, 9]])).tolist() == [[START_ID, 7, 8]]


def test_generate_feeds_tokens_back_and_pads_after_end():
    read = []

    class Scripted:
        """Writes 7, 8, the end and 9, whatever it reads."""

        def encode(self, source):
            return source

        def initial_state(self, memory):
            return 0

        def step(self, tokens, state):
            read.append(tokens.tolist())
            token = (7, 8, END_ID, 9)[state]
            return torch.eye(10)[[token] * len(tokens)], state + 1

    generated = generate(Scripted(), torch.tensor([[5, 6], [6, 5]]), 4)
    assert generated.tolist() == [[7, 8, END_ID, PADDING_ID]] * 2
    assert read == [[START_ID] * 2, [7] * 2, [8] * 2, [END_ID] * 2]


def test_record_supports_the_lesson():
    runs = record.read("bottleneck").runs
    for run in runs:
        assert run["none"][0] > 0.9 > 0.6 > run["none"][-1]
        assert min(run["additive"]) > run["none"][-1] + 0.2


def test_longer_trainings_support_the_lesson():
    longer = record.read("longer_copying")
    by_steps = [longer.values(f"{steps} steps") for steps in longer_copying.STEPS]
    for one_seed in zip(*by_steps, strict=True):
        assert [*one_seed] == sorted(one_seed)
    larger = longer.median("256 numbers, 500 steps")
    assert larger < longer.median("1000 steps")


def test_the_state_may_be_larger():
    model = bottleneck.train("none", steps=1, d_hidden=8)
    assert model.encoder.gru.weight_hh_l0.shape == (24, 8)
