"""Cases and misconceptions of ``stretched_frequencies``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.positions import stretched_frequencies

exercise = Exercise(
    stretched_frequencies,
    lesson="15_attention_since_2023",
    minutes=10,
    difficulty=2,
    library=("transformers.modeling_rope_utils._compute_yarn_parameters",),
)


@exercise.spec
def spec(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    if d_k % 2 == 1:
        raise ValueError(f"d_k={d_k} is odd")
    frequencies = []
    for i in range(d_k // 2):
        frequency = 1 / base ** (2 * i / d_k)
        turns = trained * frequency / (2 * math.pi)
        if turns <= slow:
            gamma = 0.0
        elif turns >= fast:
            gamma = 1.0
        else:
            gamma = (turns - slow) / (fast - slow)
        frequencies.append(gamma * frequency + (1 - gamma) * frequency / factor)
    return np.array(frequencies)


@exercise.usual
def usual(rng):
    return 16, 4.0, 200


@exercise.case(
    "Three pairs: one is kept, one lies between, one is slowed down", pays_alone=False
)
def small_example_by_hand(student, rng):
    # With base 64 the pairs turn by 1, 1/4 and 1/16, over 16 tokens 8, 2 and 1/2 by π.
    slow, fast = 1 / math.pi, 3 / math.pi
    expected = np.array([1.0, 0.25 * (0.5 + 0.5 / 4), 0.0625 / 4])
    student.expect(student(6, 4.0, 16, slow, fast, 64.0), expected)
    student.agrees(8, 2.0, int(rng.integers(100, 200)), 1.0, 12.0, 100.0)


@exercise.case("Pairs that turn fast enough keep their frequencies")
def fast_pairs(student, rng):
    trained = int(rng.integers(3000, 9000))
    student.agrees(12, 8.0, trained, 0.01, 0.1, float(rng.uniform(5, 20)))
    student.agrees(8, 3.0, trained, 1.0, 30.0, float(rng.uniform(2, 4)))


@exercise.case("Pairs that turn slowly are slowed down by the factor", visible=False)
def slow_pairs(student, rng):
    student.agrees(12, float(rng.uniform(2, 9)), 5)
    student.agrees(6, float(rng.uniform(2, 9)), 20, 9.0, 10.0)


@exercise.case("In between, the share that is kept grows with the turns", weight=2)
def between(student, rng):
    student.agrees(64, float(rng.uniform(2, 9)), int(rng.integers(300, 4000)))
    student.agrees(32, 16.0, int(rng.integers(50, 200)), 0.1, 20.0)
    student.agrees(16, 2.0, 64, 0.5, 10.0, 500.0)


@exercise.case("Other limits, factors and bases, by name too", weight=1.5)
def other_arguments(student, rng):
    trained = int(rng.integers(500, 2000))
    student.agrees(16, float(rng.uniform(2, 9)), trained, slow=2.0)
    student.agrees(16, float(rng.uniform(2, 9)), trained, fast=64.0)
    student.agrees(16, float(rng.uniform(2, 9)), trained, base=500_000.0)


@exercise.case("A factor of 1 changes nothing", weight=0.5)
def factor_of_one(student, rng):
    base = float(rng.uniform(100, 900))
    expected = base ** (-np.arange(0, 8, 2) / 8)
    student.expect(student(8, 1.0, int(rng.integers(50, 500)), base=base), expected)


@exercise.case("A single pair is an array of one number", weight=0.5)
def one_pair(student, rng):
    student.agrees(2, float(rng.uniform(2, 9)), int(rng.integers(20, 60)))
    student.agrees(2, float(rng.uniform(2, 9)), int(rng.integers(60, 150)))


@exercise.fine_point("An odd d_k ends in an error")
def odd_size(student, rng):
    student.raises(Exception, 5, 2.0, 16)


exercise.edits(
    """
all_pairs_slowed_down: return frequencies / factor
  All your pairs are slowed down by the factor.
  ? What should become of a pair that turns hundreds of times over the trained length?
  # That is position interpolation, the first of the two ideas.
no_pair_slowed_down: return frequencies
  Your pairs all keep their frequencies: nothing is stretched.
  ? Where does your answer use the factor?
  # The share that is kept is computed, and the frequencies are returned as they were.
multiplied_by_factor: / factor -> * factor
  Your slow pairs are made faster, not slower.
  ? A text is twice as long: should a slow pair turn by more from token to token, or by
    less?
  # Longer texts have larger positions, and so everything seems to grow.
kept_and_slowed_exchanged:
  | (1 - gamma) * frequencies / factor + gamma * frequencies ->
  :     gamma * frequencies / factor + (1 - gamma) * frequencies
  Your fast pairs are slowed down, and your slow ones are kept.
  ? Which pairs have been seen at all their angles in training?
  # γ is 1 at one end and 0 at the other, and the ends are easily exchanged.
no_ramp:
  | gamma = (turns >= fast) * 1.0
  Your pairs are kept or slowed down, with nothing in between.
  ? What should happen to a pair whose turns lie between slow and fast?
  # Two cases of three are written down.
no_ramp_from_slow:
  | gamma = (turns > slow) * 1.0
  Your pairs are kept as soon as they make more than `slow` turns.
  ? What should happen to a pair whose turns lie between slow and fast?
not_clipped:
  | gamma = (turns - slow) / (fast - slow)
  Your share that is kept goes below 0 and above 1.
  ? What is the share of a pair that turns twice as often as `fast`?
  # The formula in the middle is used for all pairs.
clipped_above_only:
  | gamma = np.minimum((turns - slow) / (fast - slow), 1.0)
  Your share that is kept goes below 0 for slow pairs.
  ? What is the share of a pair that makes no full turn at all?
clipped_below_only:
  | gamma = np.maximum((turns - slow) / (fast - slow), 0.0)
  Your share that is kept goes above 1 for fast pairs.
  ? What is the share of a pair that turns twice as often as `fast`?
ramp_by_index:
  | gamma = … ->
  :     first = d_k * np.log(trained / (fast * 2 * np.pi)) / (2 * np.log(base))
  :     last = d_k * np.log(trained / (slow * 2 * np.pi)) / (2 * np.log(base))
  :     index = np.arange(d_k // 2)
  :     gamma = 1.0 - np.clip((index - first) / max(last - first, 0.001), 0.0, 1.0)
  Your share that is kept is linear in the number of the pair, not in its turns.
  ? Which number does γ in the docstring contain, i or r?
  # The code that was published with YaRN, and Hugging Face's, interpolate by index.
ramp_by_whole_indices:
  | gamma = … ->
  :     first = d_k * np.log(trained / (fast * 2 * np.pi)) / (2 * np.log(base))
  :     last = d_k * np.log(trained / (slow * 2 * np.pi)) / (2 * np.log(base))
  :     first, last = (max(np.floor(first), 0), min(np.ceil(last), d_k - 1))
  :     last = last + 0.001 * (first == last)
  :     index = np.arange(d_k // 2)
  :     gamma = 1.0 - np.clip((index - first) / (last - first), 0.0, 1.0)
  Your share that is kept is linear in the number of the pair, between two integers,
    and not in its turns.
  ? Which number does γ in the docstring contain, i or r?
angles_for_turns: turns = trained * frequencies
  Your turns are angles: they are not divided by 2π.
  ? By which angle does one full turn go round?
  # The product of length and frequency is an angle in radians.
wavelengths_for_turns: turns = 2 * np.pi / frequencies
  Your turns are wavelengths, in tokens: the trained length is not in them.
  ? How many wavelengths fit into the trained length?
  # YaRN compares wavelengths with the length, and then takes their quotient.
turns_over_the_longer_text: turns = trained * factor * frequencies / (2 * np.pi)
  Your turns are those over the longer text.
  ? Over which length has the model learned what an angle means?
  # The longer text is what the frequencies are for.
interpolated_wavelengths:
  | return … ->
  :     return frequencies / (gamma + (1 - gamma) * factor)
  Your mean is one of wavelengths, not of frequencies.
  ? Of which two numbers does the docstring take the weighted sum?
  # The factor makes waves longer, and a mean of lengths comes to mind.
base_changed:
  | return … ->
  :     larger = base * factor ** (d_k / max(d_k - 2, 1))
  :     return larger ** (-np.arange(0, d_k, 2) / d_k)
  Your frequencies come from a larger base.
  ? Where does your answer use slow and fast?
  # That is NTK-aware scaling, which came between the two papers.
exponent_halved: np.arange(0, d_k, 2) -> np.arange(d_k // 2)
  In your frequencies the exponent is half of what it should be.
  ? How large is the exponent of the last pair, and what does your i count?
  # arange(d_k // 2) counts the pairs, and the 2 of 2i is left out.
frequencies_upside_down: -np.arange -> np.arange
  Your later pairs turn faster than the first.
  ? Which pair should turn slowest, the first or the last?
  # The minus of the exponent is lost.
each_twice:
  | return … ->
  :     half = (1 - gamma) * frequencies / factor + gamma * frequencies
  :     return np.repeat(half, 2)
  Your frequencies come twice each: d_k numbers.
  ? How many pairs are there, and which shape does the docstring promise?
  # The angles are repeated when rows are rotated.
base_ignored: base ** -> 10000.0 **
  Your numbers are those of base 10000, whatever base is given.
  ? Which argument sets the frequencies?
  # The paper's 10000 is copied as a constant.
odd_size_accepted:
  | if d_k % 2:
  :     raise ValueError… ->
  Your answer takes an odd d_k, and counts half a pair as one.
  ? With which number is the last component of five turned?
  # np.arange(0, d_k, 2) rounds up without a word.
limits_ignored:
  | gamma = np.clip((turns - 1.0) / 31.0, 0.0, 1.0)
  Your limits are always 1 and 32 turns.
  ? Which arguments does your answer not use?
  # These are the values for Llama in the paper.
""",
)

exercise.family(families.as_list())
