"""Cases and misconceptions of ``patching_effects``."""

import numpy as np
import torch

from autograder import Exercise
from autograder.checking import families
from course_lib.nn.patching import patching_effects

exercise = Exercise(
    patching_effects,
    lesson="13_inside_the_heads",
    minutes=10,
    difficulty=2,
)


@exercise.spec
def spec(run, clean, corrupted):
    best, vectors = run(clean, {})
    worst = run(corrupted, {})[0]
    rows = []
    for layer, of_layer in enumerate(vectors):
        row = []
        for position, vector in enumerate(of_layer):
            score = run(corrupted, {(layer, position): vector.clone()})[0]
            row.append((score - worst) / (best - worst))
        rows.append(row)
    return torch.tensor(rows, dtype=vectors.dtype)


# Models of vectors (n, d_model). Each position reads those before it.


def run_layers(inputs, patches, n_layers):
    """Run a model of some layers, no two of them alike; the score is a sum."""
    x, vectors = inputs, []
    for layer in range(n_layers):
        x = torch.sin(x.cumsum(dim=0) * (0.5 + 0.2 * layer) + x.flip(-1))
        for (at, position), vector in patches.items():
            if at == layer:
                x[position] = vector
        vectors.append(x.clone())
    weights = torch.arange(1.0, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
    return float((x * weights.cos()).sum()), torch.stack(vectors)


def run_one(inputs, patches):
    """Run one layer."""
    return run_layers(inputs, patches, 1)


def run_two(inputs, patches):
    """Run two layers."""
    return run_layers(inputs, patches, 2)


def run_three(inputs, patches):
    """Run three layers."""
    return run_layers(inputs, patches, 3)


def run_sum(inputs, patches):
    """Run a layer that does nothing: the score is 3 x₀ + x₁ − 2 x₂."""
    vectors = inputs.clone()[None]
    for (layer, position), vector in patches.items():
        vectors[layer, position] = vector
    return float(vectors[0, 0] * 3 + vectors[0, 1] - 2 * vectors[0, 2]), vectors


def drawn(rng, n, d_model):
    """Draw the vectors of two inputs."""
    return [torch.from_numpy(np.array(rng.normal(size=(n, d_model)))) for _ in range(2)]


@exercise.usual
def usual(rng):
    return run_two, *drawn(rng, 4, 3)


@exercise.case("Three vectors of one number, and a score of 3 x₀ + x₁ − 2 x₂")
def small_example_by_hand(student, rng):
    clean = torch.tensor([[1.0], [1.0], [0.0]], dtype=torch.float64)
    corrupted = torch.tensor([[0.0], [-1.0], [0.0]], dtype=torch.float64)
    # The scores are 4 and −1; with one clean vector 2, 1 and −1.
    expected = torch.tensor([[0.6, 0.4, 0.0]], dtype=torch.float64)
    student.expect(student(run_sum, clean, corrupted), expected)
    student.agrees(run_sum, *drawn(rng, 3, 1))
    student.agrees(run_two, *drawn(rng, 3, 2))


@exercise.case("Layers and positions: each effect stands where its vector was replaced")
def layers_and_positions(student, rng):
    student.agrees(run_two, *drawn(rng, 4, 3))
    student.agrees(run_three, *drawn(rng, 5, 2))


@exercise.case("Effects may lie below 0 and above 1")
def beyond_the_ends(student, rng):
    clean, corrupted = torch.ones(3, 1).double(), torch.zeros(3, 1).double()
    # The scores are 2 and 0; with one clean vector 3, 1 and −2.
    expected = torch.tensor([[1.5, 0.5, -1.0]], dtype=torch.float64)
    student.expect(student(run_sum, clean, corrupted), expected)
    student.agrees(run_sum, *drawn(rng, 3, 1))
    student.agrees(run_two, *drawn(rng, 3, 2))


@exercise.case("The corrupted inputs may score higher than the clean ones")
def either_way_round(student, rng):
    one, other = drawn(rng, 3, 2)
    student.agrees(run_two, one, other)
    student.agrees(run_two, other, one)


@exercise.case("One token, one layer, and float32", visible=False)
def any_size(student, rng):
    student.agrees(run_two, *drawn(rng, 1, 3))
    student.agrees(run_one, *drawn(rng, 4, 2))
    student.agrees(run_three, *(each.float() for each in drawn(rng, 3, 2)))


exercise.edits(
    """
differences_of_scores: effects / (clean_score - corrupted_score) -> effects
  Your effects are differences of scores, and not shares.
  ? Which number stands for the whole answer: what is it divided by?
  # The difference is the effect in many plots, with its unit.
share_of_the_clean_score: clean_score - corrupted_score) -> clean_score)
  Your effects are shares of the clean score.
  ? What does the docstring call 1, and what 0?
  # A share is taken of the best score, as if the worst were 0.
patched_scores_as_shares: patched_score - corrupted_score -> patched_score
  Your effects begin at the score 0, not at the corrupted one.
  ? What is the effect of a patch that changes nothing?
  # The corrupted score is taken for 0.
corrupted_vectors_into_the_clean_run:
  | corrupted_score, _ = … -> corrupted_score, corrupted_vectors = run(corrupted, {})
  | clean_vectors[layer, position] -> corrupted_vectors[layer, position]
  | run(corrupted, patches) -> run(clean, patches)
  | patched_score - corrupted_score -> clean_score - patched_score
  You put corrupted vectors into the clean run, and measure what is lost.
  ? On which inputs does the model run in the docstring, and whose vector comes in?
  # Noising, as it is called, is patching too, and answers another question.
what_is_still_missing: patched_score - corrupted_score -> clean_score - patched_score
  Your effects say what is still missing from the clean score.
  ? Is a patch that brings back the whole answer 0 in the docstring, or 1?
  # The distance to the clean score is a loss, and small is good there.
signs_reversed: patched_score - corrupted_score -> corrupted_score - patched_score
  Your effects have the opposite sign.
  ? Is it positive if the patch brings the answer back?
  # "What changes without the patch" is the same difference the other way round.
zeros_instead_of_the_clean_vector:
  | clean_vectors[layer, position]} -> 0 * clean_vectors[layer, position]}
  You replace the vectors by zeros.
  ? Which run does the vector come from that takes the place of the other?
  # That is ablation, as in the exercise about gates.
vectors_of_the_corrupted_run:
  | corrupted_score, _ = … -> corrupted_score, corrupted_vectors = run(corrupted, {})
  | clean_vectors[layer, position]} -> corrupted_vectors[layer, position]}
  You put the corrupted run's own vectors back where they were: nothing changes.
  ? Which run does the vector come from that takes the place of the other?
  # Both runs return vectors, and the last ones are at hand.
average_of_both_vectors:
  | corrupted_score, _ = … -> corrupted_score, corrupted_vectors = run(corrupted, {})
  | clean_vectors[layer, position]} ->
  :     (clean_vectors[layer, position] + corrupted_vectors[layer, position]) / 2}
  You put in the mean of both runs' vectors.
  ? How much of the run's own vector is left once it is replaced?
  # Half-way between two inputs one may follow an effect, as a gradient does.
patches_kept:
  | effects = … ->
  :     effects = torch.zeros(n_layers, n, dtype=clean_vectors.dtype)
  :     patches = {}
  | patches = {( … -> patches[layer, position] = clean_vectors[layer, position]
  Your patches pile up: each run has those of the runs before it, too.
  ? How many vectors are replaced in the last of your runs?
  # The dictionary is made once, outside the loops.
nothing_corrupted_left:
  | patches = {( … -> patches = {(layer, i): clean_vectors[layer, i] for i in range(n)}
  In your runs with patches, nothing of the corrupted inputs is left.
  ? Which inputs does the model get in these runs, and how many vectors are replaced?
  # A layer is what a hook in PyTorch replaces; or the model runs on the clean inputs.
position_replaced_in_all_layers:
  | patches = {( … ->
  :     patches = {(i, position): clean_vectors[i, position] for i in range(n_layers)}
  You replace a position's vectors in all layers at once.
  ? How many vectors come from the clean run in one run?
  # One asks about a token, and a token has a vector in each layer.
all_before_it_replaced:
  | patches = {( … ->
  :     patches = {(layer, i): clean_vectors[layer, i] for i in range(position + 1)}
  You replace a position's vector and all before it.
  ? How many vectors come from the clean run in one run?
  # A slice up to the position instead of the position.
vector_of_the_first_layer:
  | clean_vectors[layer, position]} -> clean_vectors[0, position]}
  The vectors that you put in are those after the first layer, whichever it replaces.
  ? From which layer of the clean run does the vector come?
  # The embeddings are what differs between two inputs.
vector_of_the_last_layer:
  | clean_vectors[layer, position]} -> clean_vectors[-1, position]}
  The vectors that you put in are those after the last layer, whichever it replaces.
  ? From which layer of the clean run does the vector come?
  # A model most often returns its last layer's vectors.
absolute_values: return effects / … ->
  :     return (effects / (clean_score - corrupted_score)).abs()
  Your effects are absolute values: what harms looks like what helps.
  ? What does the docstring say about a patch that lowers the score?
  # Importance is often plotted without signs.
held_between_0_and_1: return effects / … ->
  :     return (effects / (clean_score - corrupted_score)).clamp(0, 1)
  Your effects are held between 0 and 1.
  ? Can one vector lead past the clean score?
  # A share is taken for something between 0 and 1.
divided_by_their_sum: (clean_score - corrupted_score) -> effects.sum()
  Your effects are divided by their sum, so that they add up to 1.
  ? Which difference of scores does the docstring divide by?
  # Attention weights add up to 1, and shares of a whole do.
divided_by_the_largest: (clean_score - corrupted_score) -> effects.max()
  Your effects are divided by the largest of them.
  ? Which difference of scores does the docstring divide by?
  # A picture uses all its colours with the largest at 1.
positions_by_layers: return effects / … ->
  :     return (effects / (clean_score - corrupted_score)).T
  Your result has a row for each position and a column for each layer.
  ? Which shape does the docstring promise?
  # Loops over positions first.
""",
)

exercise.family(families.as_list("a tensor"))
