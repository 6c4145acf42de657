"""Word alignment before attention: an embedding that begins with what words mean.

IBM Model 1 learns from pairs alone which target tokens a source token becomes: each
target token comes from one token of its source, whatever their positions. A few steps
of EM on all pairs take seconds. An embedding that begins so need not find this out by
gradients.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from course_lib.nn.training.batches import Example
from course_lib.nn.training.subwords import START_ID

EM_STEPS = 5
NEARNESS = 0.8  # cosine of a source token's first vector and that of its translations


def translation_probabilities(
    examples: Sequence[Example], vocab_size: int, steps: int = EM_STEPS
) -> Tensor:
    """Learn how likely each target token is as the translation of each source token.

    examples : source and target of each, with the end, which has no translation
    steps : of expectation maximisation, which begins with equal probabilities

    Returns probabilities (vocab_size, vocab_size), one row per source token; the rows
    of tokens that are in no source are 0. ``START_ID`` stands for the empty word, from
    which target tokens come that no source token becomes.
    Source: Brown et al. (1993), The Mathematics of Statistical Machine Translation,
    section 4.1.
    """
    cells: list[np.ndarray] = []  # source token · vocab_size + target token
    lengths: list[np.ndarray] = []  # of the sources, once for each target token
    for example in examples:
        source = np.array([START_ID, *example.source[:-1]])
        target = np.array(example.target[:-1], dtype=int)
        cells.append((source * vocab_size + target[:, None]).ravel())
        lengths.append(np.full(len(target), len(source)))
    used, cell = np.unique(np.concatenate(cells), return_inverse=True)
    n_choices = np.concatenate(lengths)
    position = np.repeat(np.arange(len(n_choices)), n_choices)
    source_token = used // vocab_size
    probability = np.ones(len(used))
    for _ in range(steps):
        share = probability[cell]
        share /= np.bincount(position, share)[position]  # who wrote this target token?
        count = np.bincount(cell, share)
        probability = count / np.bincount(source_token, count)[source_token]
    table = torch.zeros(vocab_size * vocab_size)
    table[torch.from_numpy(used)] = torch.from_numpy(probability).float()
    return table.view(vocab_size, vocab_size)


@torch.no_grad()
def align_embedding(embedding: Tensor, examples: Sequence[Example]) -> None:
    """Move the vectors of source tokens near those of their translations, in place.

    embedding : (vocab_size, d_model), with random rows; the length of a row stays

    Tokens that targets have as often as sources, and more often, stay as they are.
    """
    vocab_size = len(embedding)
    table = translation_probabilities(examples, vocab_size).to(embedding)
    counts = [
        np.bincount(
            [token_id for each in side for token_id in each], minlength=vocab_size
        )
        for side in zip(*((each.source, each.target) for each in examples), strict=True)
    ]
    mostly_source = np.flatnonzero(counts[0] > counts[1])
    rows = torch.from_numpy(mostly_source).to(embedding.device)
    rows = rows[table[rows].sum(dim=-1) > 0]
    own = embedding[rows]
    length = own.norm(dim=-1, keepdim=True)
    translated = torch.nn.functional.normalize(table[rows] @ embedding, dim=-1)
    embedding[rows] = NEARNESS * translated * length + (1 - NEARNESS**2) ** 0.5 * own
