"""How much two students' answers share beyond what the class makes usual.

In a beginner's exercise many honest answers are equal. So a pair's overlap in an
exercise is never a number of its own: it is compared with all pairs of the class.

- What the lesson gives, or more than a tenth of the class has, does not count at all.
- The rarer something is in the class, the more weight it has.
- An exercise's *rarity* is the power of ten of "one pair in so many shares that much";
  it counts less where others share as much with one of the two, and no more than the
  amount of shared code allows.
- A pair's rarity is the sum over its exercises. *By chance* is what the highest pair
  gets when each exercise's answers are dealt out to the class anew: only what is above
  stands out.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from autograder.similarity.answers import ClassAnswers, WrittenPart
from autograder.similarity.dolos import Fingerprint, shared_fingerprints

MOST_SHARED = 0.1  # of the class: what more of them have is usual
LEAST_COUNTED = 4  # students, in a class of any size
AS_SIMILAR = 0.9  # of a pair's overlap: as similar as that pair
WEIGHT_OF_ONE = 8.0  # weight of shared code that a rarity of 1 needs
SHUFFLES = 20
SAMPLED_PAIRS = 1000
SHORT_RUN = 6  # tokens: equal runs of them make answers the same
SAME = 0.8  # of both answers' runs

Matrix = np.ndarray


@dataclass(frozen=True)
class SharedExercise:
    """What a pair has in common in one exercise.

    one_in : one pair of the class in so many shares as much, at least
    rarity : what it adds to the pair's
    """

    exercise: str
    one_in: float
    rarity: float


@dataclass(frozen=True)
class SimilarPair:
    """Two students and what their answers share.

    exercises : those with a rarity, the highest first
    both : exercises for which both have written something
    same : those in which the two answers are the same but for names and layout
    """

    left: str
    right: str
    rarity: float
    exercises: tuple[SharedExercise, ...]
    both: tuple[str, ...]
    same: tuple[str, ...]


@dataclass
class Comparison:
    """All pairs of a class that share anything rare, the highest rarity first.

    by_chance : the highest rarity that dealing the answers anew gives
    usual_same : in how many exercises two students most often have the same answer
    """

    answers: ClassAnswers
    pairs: list[SimilarPair] = field(default_factory=list)
    by_chance: float = 0.0
    usual_same: float = 0.0

    @property
    def students(self) -> list[str]:
        """Everybody who is compared."""
        return [*self.answers.parts]


def compare(answers: ClassAnswers, limit: int, least: float | None) -> Comparison:
    """Compare everybody with everybody.

    limit : pairs to return at most
    least : rarity that a pair must have; None: more than by chance
    """
    students = [*answers.parts]
    comparison = Comparison(answers)
    if len(students) < 2:
        return comparison
    shared = _fingerprints(answers)
    total = np.zeros((len(students), len(students)))
    dealt = [total.copy() for _ in range(SHUFFLES)]
    rng = np.random.default_rng(0)  # the same class, the same page
    by_exercise: dict[str, tuple[Matrix, Matrix]] = {}
    for exercise in answers.exercises:
        overlap = _overlap(shared.get(exercise, []), len(students))
        one_in, rarity = _rarity(overlap)
        by_exercise[exercise] = one_in, rarity
        total += rarity
        for each in dealt:
            order = rng.permutation(len(students))
            each += rarity[np.ix_(order, order)]
    comparison.by_chance = max(float(each.max()) for each in dealt)
    least = comparison.by_chance if least is None else least
    runs = [_runs(answers.parts[student]) for student in students]
    comparison.usual_same = _usual_same(runs, rng)
    for left, right in _highest(total, limit, least):
        chosen = [
            SharedExercise(name, float(one_in[left, right]), float(rarity[left, right]))
            for name, (one_in, rarity) in by_exercise.items()
            if rarity[left, right] > 0
        ]
        both = [name for name in answers.exercises if runs[left].keys() & runs[right].keys() & {name}]
        comparison.pairs.append(
            SimilarPair(
                students[left],
                students[right],
                float(total[left, right]),
                tuple(sorted(chosen, key=lambda each: -each.rarity)),
                tuple(both),
                tuple(_same(runs[left], runs[right])),
            )
        )
    return comparison


def _fingerprints(answers: ClassAnswers) -> dict[str, list[list[int]]]:
    """Return, by exercise, who shares each fingerprint.

    One that stands in several exercises' answers counts in the one where most have it.
    """
    numbers: dict[str, int] = {}

    def numbered(kinds: Sequence[str]) -> list[int]:
        return [numbers.setdefault(kind, len(numbers)) for kind in kinds]

    files, labels = [], []
    for parts in answers.parts.values():
        file, label = [], []
        for part in parts:
            # What ends a part is no token of Python's: no fingerprint goes over it.
            file += numbered([*(token.kind for token in part.tokens), ""])
            label += [part.exercise] * (len(part.tokens) + 1)
        files.append(file)
        labels.append(label)
    given = [numbered([token.kind for token in each]) for each in answers.given]
    most = max(LEAST_COUNTED, int(MOST_SHARED * len(files)))
    by_exercise: dict[str, list[list[int]]] = {}
    for fingerprint in shared_fingerprints(files, given, most):
        exercise = _usual_label(fingerprint, labels)
        by_exercise.setdefault(exercise, []).append([file for file, _ in fingerprint])
    return by_exercise


def _usual_label(fingerprint: Fingerprint, labels: Sequence[Sequence[str]]) -> str:
    counts = Counter(labels[file][start] for file, start in fingerprint)
    return counts.most_common(1)[0][0]


def _overlap(groups: Sequence[Sequence[int]], n: int) -> Matrix:
    """Return the weight of what each pair shares in an exercise."""
    overlap = np.zeros((n, n))
    for group in groups:
        overlap[np.ix_(group, group)] += math.log((n + 1) / len(group))
    np.fill_diagonal(overlap, 0.0)
    return overlap


def _rarity(overlap: Matrix) -> tuple[Matrix, Matrix]:
    """Return, for each pair, one in how many shares as much, and what that is worth."""
    n = len(overlap)
    upper = np.sort(overlap[np.triu_indices(n, 1)])
    as_much = len(upper) - np.searchsorted(upper, overlap - 1e-9)
    one_in = len(upper) / np.maximum(as_much, 1)
    near = np.empty_like(overlap)
    for row in range(n):  # how many share as much with this one
        others = np.sort(overlap[row])
        near[row] = n - np.searchsorted(others, AS_SIMILAR * overlap[row])
    near = np.maximum(np.maximum(near, near.T), 1.0)
    rarity = np.minimum(np.log10(one_in), overlap / WEIGHT_OF_ONE) / np.sqrt(near)
    return one_in, np.where(overlap > 0, rarity, 0.0)


def _highest(total: Matrix, limit: int, least: float) -> list[tuple[int, int]]:
    """Return the pairs with the highest rarity, in order."""
    left, right = np.triu_indices(len(total), 1)
    rarities = total[left, right]
    order = np.argsort(-rarities, kind="stable")[:limit]
    order = order[(rarities[order] > 0) & (rarities[order] > least)]
    return [(int(left[each]), int(right[each])) for each in order]


def _runs(parts: Sequence[WrittenPart]) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return the runs of tokens in a student's answers, by exercise."""
    runs: dict[str, set[tuple[str, ...]]] = {}
    for part in parts:
        kinds = [token.kind for token in part.tokens]
        windows = (kinds[i : i + SHORT_RUN] for i in range(len(kinds) - SHORT_RUN + 1))
        runs.setdefault(part.exercise, set()).update(map(tuple, windows))
    return {name: frozenset(each) for name, each in runs.items() if each}


def _same(
    left: dict[str, frozenset[tuple[str, ...]]],
    right: dict[str, frozenset[tuple[str, ...]]],
) -> list[str]:
    """Return the exercises to which two students have the same answer."""
    return [
        name
        for name in left
        if name in right
        and len(left[name] & right[name]) >= SAME * max(len(left[name]), len(right[name]))
    ]


def _usual_same(
    runs: Sequence[dict[str, frozenset[tuple[str, ...]]]], rng: np.random.Generator
) -> float:
    """Return in how many exercises two students have the same answer: the median."""
    if len(runs) ** 2 < 2 * SAMPLED_PAIRS:
        chosen = [*itertools.combinations(range(len(runs)), 2)]
    else:
        drawn = rng.integers(len(runs), size=(SAMPLED_PAIRS, 2))
        chosen = [(int(i), int(j)) for i, j in drawn if i != j]
    return float(np.median([len(_same(runs[i], runs[j])) for i, j in chosen]))
