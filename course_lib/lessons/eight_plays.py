"""A language model that is trained in half a minute: eight plays, one held out.

The long training on all plays is ``python -m course_lib.nn.train --task language``.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from course_lib.byte_bpe import BYTE_OF
from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.corpora.download import ROOT
from course_lib.corpora.plays import plays
from course_lib.nn import arguments
from course_lib.nn.language_model import LanguageModel
from course_lib.nn.training import checkpoints
from course_lib.nn.training.language import TRAIN_COMMAND, load_language_model
from course_lib.nn.translator import evaluating

TRAINING_PLAYS = (
    *("antony-and-cleopatra", "hamlet", "julius-caesar", "king-lear", "macbeth"),
    *("othello", "richard-iii", "romeo-and-juliet"),
)
HELD_OUT_PLAY = "the-tempest"
HELD_OUT_LINES = 1000
VOCAB_SIZE = 512
LARGE_MODEL = ROOT / "build/trained/language-today-0.pt"


class Texts(NamedTuple):
    """What the small model learns from, and on what it is measured.

    training, held_out : eight plays, and the first thousand lines of another
    """

    training: str
    held_out: str

    def tokenizer(self, vocab_size: int = VOCAB_SIZE) -> ByteTokenizer:
        """Train a tokenizer on the training plays alone."""
        return ByteTokenizer.train(self.training, vocab_size)


def texts() -> Texts:
    """Load eight tragedies to learn from, and the first lines of The Tempest.

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    by_name = plays()
    held_out = by_name[HELD_OUT_PLAY].splitlines(keepends=True)[:HELD_OUT_LINES]
    return Texts("".join(by_name[name] for name in TRAINING_PLAYS), "".join(held_out))


def load_large(path: Path = LARGE_MODEL) -> tuple[LanguageModel, ByteTokenizer]:
    """Load the model that ``TRAIN_COMMAND`` has trained, and its tokenizer.

    Raises ``CheckpointError``, which says what to run, if it is not there.
    """
    if not path.exists():
        raise checkpoints.CheckpointError(
            f"There is no trained language model yet: run `{TRAIN_COMMAND}` in the "
            "course's folder."
        )
    return load_language_model(path)


def token_losses(model: LanguageModel, token_ids: Tensor) -> Tensor:
    """Return the loss of each token but the first, in nats.

    token_ids : (n_tokens), a text

    Returns (n_tokens − 1) losses. Each token is predicted from at least half a context
    of tokens before it, except near the beginning, where there are fewer.
    """
    arguments.token_ids("token_ids", token_ids, 1)
    context = model.config.n_positions
    losses: list[Tensor] = []
    n_done = 0
    with evaluating(model):
        while n_done < len(token_ids) - 1:
            start = max(0, n_done - context // 2) if n_done else 0
            end = min(start + context, len(token_ids) - 1)
            logits = model(token_ids[None, start:end])[0]
            window = cross_entropy(
                logits, token_ids[start + 1 : end + 1], reduction="none"
            )
            losses.append(window[n_done - start :])
            n_done = end
    return torch.cat(losses)


def words(text: str) -> list[str]:
    """Return the words of a text in small letters.

    >>> words("'Tis **HAMLET**, my lord's")
    ["'tis", 'hamlet', 'my', "lord's"]
    """
    return re.findall(r"[a-z']*[a-z][a-z']*", text.lower())


def repeated_share(tokens: Sequence[object], n: int = 4) -> float:
    """Return the share of runs of n tokens that came earlier in the sequence.

    >>> repeated_share("abababab", 2)  # ab and ba are new once
    0.7142857142857143
    """
    arguments.whole(1, n=n)
    runs = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else math.nan


def readable(tokenizer: ByteTokenizer) -> list[str]:
    """Return the vocabulary as a figure can show it.

    Spaces are ␣, ends of lines ↵; bytes that are no character alone are hexadecimal.
    """
    names = []
    for token_id in range(len(tokenizer.vocabulary)):
        name = tokenizer.decode([token_id])
        if "\ufffd" in name or not name.replace("\n", "").isprintable():
            symbols = tokenizer.vocabulary[token_id]
            name = "".join(f"<{BYTE_OF[symbol]:02X}>" for symbol in symbols)
        names.append(name.replace(" ", "␣").replace("\n", "↵"))
    return names
