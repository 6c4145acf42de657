"""How a translation comes about (lesson 11): token by token, with its attention.

Decoding, and the translation of whole batches, are in ``course_lib.nn.decoding``.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course_lib.corpora.download import ROOT
from course_lib.lessons.environment import one_thread
from course_lib.nn.decoding import greedy_decode
from course_lib.nn.training import checkpoints
from course_lib.nn.training.subwords import END_ID, START_ID, SubwordTokenizer
from course_lib.nn.training.tasks import SYSTEMS
from course_lib.nn.translator import Translator, evaluating
from course_lib.preprocessing import JOINER

TRAIN_COMMAND = f"{checkpoints.COMMAND} --task translation"
CHECKPOINT = ROOT / "build/trained/translation-transformer-0.pt"
MAX_LENGTH = 60  # tokens of a translation
TOP_K = 3


@dataclass(frozen=True)
class TranslationTrace:
    """A translation and how it came about.

    source, target : tokens, with the end; a space is behind those that end a word
    weights : (n, m), with which each target token attended to the source as it was
        chosen; None if the model has no attention
    top_tokens : for each target token the three likeliest, with their probabilities
    """

    translation: str
    source: list[str]
    target: list[str]
    weights: np.ndarray | None
    top_tokens: list[list[tuple[str, float]]]

    def show(self, pause: float = 0.0) -> None:
        """Print the translation as it grows, each time with the likeliest tokens.

        pause : seconds before each further line, for people who watch
        """
        for n, candidates in enumerate(self.top_tokens, 1):
            time.sleep(pause if n > 1 else 0.0)
            likeliest = "  ".join(f"{token} {p:.0%}" for token, p in candidates)
            print(f"{''.join(self.target[:n]):40} {likeliest}", flush=True)


def readable(tokens: str) -> str:
    """Turn the sign at a word's end into a space, and leave joiners out.

    >>> readable("drei</w>und</w>￭.</w>")
    'drei und . '
    """
    return tokens.replace("</w>", " ").replace(JOINER, "")


def next_log_probabilities(
    model: Translator[Any, Any], source: list[int]
) -> Callable[[list[int]], np.ndarray]:
    """Return the function that ``greedy_decode`` and ``beam_search`` ask.

    source : token ids, with the end

    The function takes the token ids so far, start first, and returns the logarithms
    (vocab_size,) of the probabilities of the next one. It caches nothing.
    """
    sources = torch.tensor([source], device=next(model.parameters()).device)

    def log_probabilities(token_ids: list[int]) -> np.ndarray:
        with one_thread(), evaluating(model):
            logits = model(sources, torch.tensor([token_ids], device=sources.device))
            return logits[0, -1].log_softmax(dim=-1).cpu().numpy()

    return log_probabilities


def trace_translation(
    model: Translator[Any, Any], tokenizer: SubwordTokenizer, text: str
) -> TranslationTrace:
    """Translate one text greedily, and record how its tokens were chosen.

    Raises ``ValueError`` for a text without words.
    """
    source = [*tokenizer.encode(text), END_ID]
    if len(source) == 1:
        raise ValueError(f"text={text!r} has no words")
    log_probabilities = next_log_probabilities(model, source)
    target = greedy_decode(log_probabilities, START_ID, END_ID, MAX_LENGTH)
    decoder_input = [START_ID, *target]
    with one_thread(), evaluating(model):
        device = next(model.parameters()).device
        weights = model.attention_weights(
            torch.tensor([source], device=device),
            torch.tensor([decoder_input], device=device),
        )
    return TranslationTrace(
        tokenizer.decode(target),
        [readable(tokenizer.vocabulary[each]) for each in source],
        [readable(tokenizer.vocabulary[each]) for each in [*target, END_ID]],
        None if weights is None else weights[0].cpu().numpy(),
        [
            _top_tokens(log_probabilities(decoder_input[: i + 1]), tokenizer)
            for i in range(len(decoder_input))
        ],
    )


def load_trained(
    path: Path = CHECKPOINT,
) -> tuple[Translator[Any, Any], SubwordTokenizer]:
    """Load the translator that ``TRAIN_COMMAND`` has trained, and its tokenizer.

    Raises ``CheckpointError``, which says what to run, if it is not there.
    """
    if not path.exists():
        raise checkpoints.CheckpointError(
            f"There is no trained translator yet: run `{TRAIN_COMMAND}` in the "
            "course's folder."
        )
    checkpoint = checkpoints.load(path, TRAIN_COMMAND)
    checkpoints.check_system(path, checkpoint, SYSTEMS, TRAIN_COMMAND)
    model: Any = SYSTEMS[checkpoint["system"]].make(
        checkpoint["config"], torch.device("cpu")
    )
    model.load_state_dict(checkpoint["training"]["parameters"])
    return model.eval(), checkpoint["tokenizer"]


def _top_tokens(
    log_p: np.ndarray, tokenizer: SubwordTokenizer
) -> list[tuple[str, float]]:
    return [
        (readable(tokenizer.vocabulary[token_id]), float(np.exp(log_p[token_id])))
        for token_id in np.argsort(-log_p)[:TOP_K]
    ]
