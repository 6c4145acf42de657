import itertools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("patching_effects")


@answers.correct
def rows_of_shares(run, clean, corrupted):
    high, vectors = run(clean, {})
    low = run(corrupted, {})[0]
    rows = [
        [run(corrupted, {(i, j): each})[0] - low for j, each in enumerate(row)]
        for i, row in enumerate(vectors)
    ]
    return torch.tensor(rows, dtype=vectors.dtype) / (high - low)


@answers.correct
def one_loop_over_pairs(run, clean, corrupted):
    (high, vectors), (low, _) = run(clean, {}), run(corrupted, {})
    effects = torch.empty_like(vectors[..., 0])
    for at in itertools.product(*map(range, effects.shape)):
        effects[at] = (run(corrupted, {at: vectors[at]})[0] - low) / (high - low)
    return effects


@answers.correct
def numpy_inside(run, clean, corrupted):
    high, vectors = run(clean, {})
    scores = np.zeros(vectors.shape[:2])
    for at in np.ndindex(scores.shape):
        scores[at] = run(corrupted, {at: vectors[at].clone()})[0]
    low = run(corrupted, {})[0]
    return torch.from_numpy((scores - low) / (high - low)).to(vectors.dtype)


@answers.correct
def one_minus_what_is_missing(run, clean, corrupted):
    high, vectors = run(clean, {})
    low, _ = run(corrupted, {})
    effects = torch.ones(vectors.shape[:2], dtype=vectors.dtype)
    for layer, position in np.ndindex(effects.shape):
        patch = {(layer, position): vectors[layer][position]}
        effects[layer, position] -= (high - run(corrupted, patch)[0]) / (high - low)
    return effects


@answers.also("patches_kept")
def dictionary_made_once(run, clean, corrupted):
    high, vectors = run(clean, {})
    low, _ = run(corrupted, {})
    effects, patches = torch.empty_like(vectors[..., 0]), {}
    for at in np.ndindex(effects.shape):
        patches[at] = vectors[at]
        effects[at] = (run(corrupted, patches)[0] - low) / (high - low)
    return effects


@answers.also("signs_reversed")
def denominator_the_other_way_round(run, clean, corrupted):
    return -rows_of_shares(run, clean, corrupted)


@answers.other
def next_position(run, clean, corrupted):
    return rows_of_shares(run, clean, corrupted).roll(1, dims=1) + 0.25


@answers.other
def mean_of_the_layers(run, clean, corrupted):
    effects = rows_of_shares(run, clean, corrupted)
    return effects.mean(dim=0).expand(effects.shape) + 0.1


@answers.other
def squares(run, clean, corrupted):
    return rows_of_shares(run, clean, corrupted) ** 2 + 0.01
