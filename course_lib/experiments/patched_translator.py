"""Which source token does a German article come from: patching the translator (13).

*The door is not available* begins with *Die* in German, *The code is not available*
with *Der*: the article belongs to *The*, and the noun decides which one it is. While
the encoder reads the one sentence, vectors of the other are put in, one at a time. The
score is log p of the one article minus log p of the other, at the decoder's first step.
The translator is that of lesson 11, trained or taken from its checkpoint; nothing is
trained after that.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from course_lib.experiments import record
from course_lib.experiments.translation import (
    FOLDER,
    STEPS,
    path_of,
    train_system,
    trained_model,
)
from course_lib.lessons.environment import one_thread
from course_lib.nn.model_file import COMMAND, ModelFileError, read_model_file
from course_lib.nn.models import MODELS, is_trained
from course_lib.nn.patching import patching_effects
from course_lib.nn.training.checkpoints import load
from course_lib.nn.training.subwords import END_ID, START_ID, SubwordTokenizer
from course_lib.nn.transformer import Transformer

SEEDS = (0,)  # one training: what varies are the pairs of sentences
SENTENCE = "The {} is not available."
TOKENS = ("The", "noun", "is", "not", "available", ".", "end")
STAGES = ("embeddings", "after layer 0", "after layer 1")
# By the article of their usual translation. Each is a token of its own, so that all
# sentences have the same positions.
NOUNS = {
    "die": "door battery camera file integration message connection address zone "
    "version region station language scene configuration unit",
    "der": "switch sensor user value name key server alarm code timer service error "
    "folder room host status",
    "das": "window device password network account system image profile program "
    "interval product signal model light event text",
}
Patches = Mapping[tuple[int, int], Tensor]
Effects = Callable[[Any, Any, Any], Tensor]


class NounPair(NamedTuple):
    """Two nouns, and the articles of their translations."""

    nouns: tuple[str, str]
    articles: tuple[str, str]


def noun_pairs() -> list[NounPair]:
    """Return pairs of nouns with different articles; every noun is in two of them.

    >>> len(noun_pairs()), noun_pairs()[0]
    (48, NounPair(nouns=('door', 'code'), articles=('die', 'der')))
    """
    pairs = []
    for articles in (("die", "der"), ("der", "das"), ("das", "die")):
        one, other = (NOUNS[article].split() for article in articles)
        half = len(other) // 2
        for nouns in zip(one, other[half:] + other[:half], strict=True):
            pairs.append(NounPair(nouns, articles))
    return pairs


class Patched:
    """A translator whose encoder's vectors can be replaced, at the first step.

    Called as ``patching_effects`` calls its ``run``.
    """

    def __init__(self, model: Transformer, articles: tuple[int, int]) -> None:
        """Set the token ids of the articles whose log-probabilities are compared."""
        self.model, self.articles = model, articles

    def __call__(self, source: Tensor, patches: Patches) -> tuple[float, Tensor]:
        """Run on token ids (m); return the score and the vectors (3, m, d_model)."""
        log_p, rows = log_probabilities(self.model, source, patches)
        one, other = self.articles
        return (log_p[one] - log_p[other]).item(), rows


@torch.no_grad()
def log_probabilities(
    model: Transformer, source: Tensor, patches: Patches | None = None
) -> tuple[Tensor, Tensor]:
    """Compute how likely each token is as the first one, and the encoder's vectors.

    source : token ids (m), with the end
    patches : from (row, position) to the vector that takes the place of the encoder's
        own there; row 0 are the embeddings, row 1 is after layer 0, row 2 after layer 1

    Returns log-probabilities (vocab_size,) and vectors (n_layers + 1, m, d_model). The
    encoder's norm comes after the last of them.
    """
    rows: list[Tensor] = []

    def patched(x: Tensor) -> Tensor:
        x = x.clone()  # (1, m, d_model)
        for (row, position), vector in (patches or {}).items():
            if row == len(rows):
                x[0, position] = vector
        rows.append(x[0])
        return x

    def before(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return patched(inputs[0]), *inputs[1:]

    def after(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        return patched(output)

    layers = model.encoder.layers
    with ExitStack() as stack:
        stack.callback(layers[0].register_forward_pre_hook(before).remove)
        for layer in layers:
            stack.callback(layer.register_forward_hook(after).remove)
        logits = model(source.unsqueeze(0), torch.tensor([[START_ID]]))
    return logits[0, -1].log_softmax(dim=-1), torch.stack(rows)


def measure(
    model: Transformer, tokenizer: SubwordTokenizer, effects_of: Effects
) -> dict[str, Any]:
    """Patch the translator with the sentences of each pair, in both directions.

    effects_of : computes the same as ``patching_effects``, such as a learner's own

    Only pairs count for which the translator's likeliest first token is the right
    article in both sentences. Returns

    - "pairs": of those that count, the nouns, "left out": of the others;
    - "effects": rows (3, 7), a mean over the pairs and directions;
    - "by pair": for each pair the effects of its noun's and of the article's vectors, a
      mean over both directions: two rows of three.
    """
    model.eval()
    by_pair, counted, left_out = [], [], []
    with one_thread():
        for nouns, articles in noun_pairs():
            sources = [
                torch.tensor([*tokenizer.encode(SENTENCE.format(noun)), END_ID])
                for noun in nouns
            ]
            ids = [tokenizer.encode_target(article)[0] for article in articles]
            likeliest = [
                int(log_probabilities(model, source)[0].argmax()) for source in sources
            ]
            if likeliest != ids or any(len(each) != len(TOKENS) for each in sources):
                left_out.append(nouns)
                continue
            run, back = (
                Patched(model, (ids[0], ids[1])),
                Patched(model, (ids[1], ids[0])),
            )
            one, other = sources
            effects = effects_of(run, one, other) + effects_of(back, other, one)
            by_pair.append(effects / 2)
            counted.append(nouns)
    if not by_pair:
        raise ValueError("the translator has no pair of articles right")
    stacked = torch.stack(by_pair)  # (pairs, 3, 7)
    return {
        "pairs": [[*nouns] for nouns in counted],
        "left out": [[*nouns] for nouns in left_out],
        "effects": _rounded(stacked.mean(dim=0)),
        "by pair": [
            _rounded(each[:, [TOKENS.index("noun"), TOKENS.index("The")]].T)
            for each in stacked
        ],
    }


def own_or_recorded(effects_of: Effects) -> tuple[Tensor, str]:
    """Return the mean effects (3, 7) by a learner's own function, and whose they are.

    They are of the translator that ``make models`` has written; without it those of the
    record are returned, seed 0.
    """
    try:
        model, tokenizer = read_model_file(MODELS["translator"].path).load()
    except ModelFileError:
        effects = record.read("patched_translator").runs[0]["effects"]
        whose = f"as recorded; after `{COMMAND}`, your own function computes them"
        return torch.tensor(effects), whose
    assert isinstance(model, Transformer) and isinstance(tokenizer, SubwordTokenizer)
    result = measure(model, tokenizer, effects_of)
    whose = f"by your own function, in your translator, {len(result['pairs'])} pairs"
    return torch.tensor(result["effects"]), whose


def full(seed: int, folder: Path = FOLDER) -> dict[str, Any]:
    """Measure the translator of a seed; see ``measure``."""
    path = path_of("transformer", seed, STEPS["transformer"], folder)
    if not is_trained(path):
        path = train_system("transformer", seed, STEPS["transformer"], folder)
    checkpoint = load(path)
    model, tokenizer = trained_model(checkpoint), checkpoint["tokenizer"]
    return measure(model, tokenizer, patching_effects)


def _rounded(rows: Tensor) -> list[list[float]]:
    return [[round(value, 3) for value in row] for row in rows.tolist()]
