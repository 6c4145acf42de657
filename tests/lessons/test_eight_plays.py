"""The small language model's texts, and what is measured of a text."""

import math

import pytest
import torch

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.lessons import eight_plays
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig
from course_lib.nn.training.checkpoints import CheckpointError

CONFIG = LanguageModelConfig(9, d_model=8, n_layers=1, n_heads=2, n_positions=6)


@pytest.fixture
def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LanguageModel(CONFIG, device="cpu", dtype=torch.float64)


def test_texts_are_eight_plays_and_lines_of_another():
    texts = eight_plays.texts()
    assert "To be, or not to be: that is the question" in texts.training
    assert len(texts.held_out.splitlines()) == 1000
    assert "**PROSPERO**" in texts.held_out and "PROSPERO" not in texts.training
    tokenizer = texts.tokenizer(300)
    assert len(tokenizer.vocabulary) == 300
    assert tokenizer.decode(tokenizer.encode(texts.held_out)) == texts.held_out


@pytest.mark.parametrize("n_tokens", [2, 5, 7, 8, 20])
def test_token_losses_have_half_a_context(model, n_tokens):
    token_ids = torch.randint(
        9, (n_tokens,), generator=torch.Generator().manual_seed(1)
    )
    losses = eight_plays.token_losses(model, token_ids)
    assert losses.shape == (n_tokens - 1,)
    for target in range(1, n_tokens):
        # Windows of 6 tokens, of which the second and later ones give the last 3.
        start = max(0, math.ceil((target - 6) / 3)) * 3
        with torch.no_grad():
            log_p = model(token_ids[None, start:target])[0, -1].log_softmax(dim=-1)
        assert losses[target - 1].isclose(-log_p[token_ids[target]])


def test_missing_large_model_says_what_to_run(tmp_path):
    with pytest.raises(CheckpointError, match=r"run `python -m .*--task language`"):
        eight_plays.load_large(tmp_path / "model.pt")


def test_repeated_share_counts_runs_that_came_before():
    assert eight_plays.repeated_share("abcdef", 2) == 0
    assert eight_plays.repeated_share("aaaaa", 2) == 3 / 4
    assert math.isnan(eight_plays.repeated_share("abc", 4))
    with pytest.raises(ValueError, match="n must be"):
        eight_plays.repeated_share("abc", 0)


def test_readable_vocabulary_shows_spaces_ends_and_bytes():
    names = eight_plays.readable(ByteTokenizer([("Ġ", "t")]))
    assert names[-1] == "␣t" and "↵" in names and "a" in names
    assert "<FF>" in names and "<00>" in names
    assert len(names) == len(set(names)) == 257
