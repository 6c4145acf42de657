"""Watching a translator write: token after token, with what it looks at.

How texts are chosen is in ``course_lib.nn.decoding``; whole batches are translated in
``course_lib.nn.decoding``.
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
from course_lib.nn.decoding import Translator, evaluating, greedy_decode
from course_lib.nn.training import checkpoints
from course_lib.nn.training.subwords import END, START, Subwords
from course_lib.nn.training.tasks import SYSTEMS

TRAIN = f"{checkpoints.COMMAND} --task translation"
CHECKPOINT = ROOT / "build/trained/translation-transformer-0.pt"
LONGEST = 60  # tokens of a translation
N_RIVALS = 3


@dataclass(frozen=True)
class Watched:
    """How a translation came about.

    text : the translation
    source, target : tokens, with the end; a space is behind those that end a word
    weights : (n, m), with which each target token looked at the source as it was
        chosen; None if the model has no attention
    rivals : for each target token the three likeliest ones, with their probabilities
    """

    text: str
    source: list[str]
    target: list[str]
    weights: np.ndarray | None
    rivals: list[list[tuple[str, float]]]

    def show(self, pause: float = 0.0) -> None:
        """Print the text as it grows, each time with what else it might have been.

        pause : seconds before each further line, for people who watch
        """
        for number, rivals in enumerate(self.rivals, 1):
            time.sleep(pause if number > 1 else 0.0)
            said = "  ".join(f"{token} {p:.0%}" for token, p in rivals)
            print(f"{''.join(self.target[:number]):40} {said}", flush=True)


def readable(tokens: str) -> str:
    """Turn the sign at a word's end into a space.

    >>> readable("drei</w>und</w>")
    'drei und '
    """
    return tokens.replace("</w>", " ")


def scorer(
    model: Translator[Any, Any], source: list[int]
) -> Callable[[list[int]], np.ndarray]:
    """Give what ``greedy_decode`` and ``beam_search`` ask: what may come next?

    source : tokens, with the end

    The function takes the tokens so far, start first, and gives the logarithms
    (vocab_size,) of the probabilities. It computes all of them anew each time.
    """
    texts = torch.tensor([source], device=next(model.parameters()).device)

    def log_probabilities(tokens: list[int]) -> np.ndarray:
        with one_thread(), evaluating(model):
            logits = model(texts, torch.tensor([tokens], device=texts.device))
            return logits[0, -1].log_softmax(dim=-1).cpu().numpy()

    return log_probabilities


def watch(model: Translator[Any, Any], subwords: Subwords, text: str) -> Watched:
    """Translate one text greedily, and keep all that can be seen of it.

    Raises ``ValueError`` for a text without words.
    """
    source = [*subwords.encode(text), END]
    if len(source) == 1:
        raise ValueError(f"text={text!r} has no words")
    asked = scorer(model, source)
    found = greedy_decode(asked, START, END, LONGEST)
    read = [START, *found]
    rivals = [_likeliest(asked(read[: i + 1]), subwords) for i in range(len(read))]
    with one_thread(), evaluating(model):
        place = next(model.parameters()).device
        pair = torch.tensor([source], device=place), torch.tensor([read], device=place)
        looks = model.attention(*pair)
    return Watched(
        subwords.decode(found),
        [readable(subwords.tokens[number]) for number in source],
        [readable(subwords.tokens[number]) for number in [*found, END]],
        None if looks is None else looks[0].cpu().numpy(),
        rivals,
    )


def large(path: Path = CHECKPOINT) -> tuple[Translator[Any, Any], Subwords]:
    """Give the translator that the named command has trained, and its vocabulary.

    Raises ``CheckpointFault``, which says what to run, if it is not there.
    """
    if not path.exists():
        raise checkpoints.CheckpointFault(
            f"There is no trained translator yet: run `{TRAIN}` in the course's folder."
        )
    found = checkpoints.load(path, TRAIN)
    model: Any = SYSTEMS[found["system"]].make(found["sizes"], torch.device("cpu"))
    model.load_state_dict(found["training"]["parameters"])
    return model.eval(), found["subwords"]


def _likeliest(log_p: np.ndarray, subwords: Subwords) -> list[tuple[str, float]]:
    best = np.argsort(-log_p)[:N_RIVALS]
    return [
        (readable(subwords.tokens[number]), float(np.exp(log_p[number])))
        for number in best
    ]
