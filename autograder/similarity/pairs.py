"""How much two students' answers share beyond what the class makes usual.

In a beginner's exercise many honest answers are equal. So a pair's overlap in an
exercise is never a number of its own: it is compared with all pairs of the class.

- What the lesson gives, or more than a tenth of the class has, does not count at all.
- The rarer something is in the class, the more weight it has.
- An exercise's *rarity* is the power of ten of "one pair in so many shares that much";
  it counts less where others share as much with one of the two, and no more than the
  amount of shared code allows.
- A pair's rarity is the sum over its exercises. *By chance* is what the highest pair
  gets, nine of ten times, when each exercise's answers are dealt out to the class anew:
  only what is above stands out. One exercise alone never is.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from autograder.similarity.answers import ClassAnswers, WrittenPart
from autograder.similarity.dolos import Fingerprint, shared_fingerprints
from autograder.similarity.tokens import CodeToken

MOST_SHARED = 0.1  # of the class: what more of them have is usual
LEAST_COUNTED = 4  # students, in a class of any size
AS_SIMILAR = 0.9  # of a pair's overlap: as similar as that pair
WEIGHT_OF_ONE = 16.0  # weight of shared code that a rarity of 1 needs
LEAST_RARITY = 3.0  # in a small class, so much is chance, whatever dealing anew gives
SHUFFLES = 20
IN_MOST = 0.9  # of the shuffles, and of a class's pairs
SAMPLED_PAIRS = 1000
SHORT_RUN = 6  # tokens: equal runs of them make answers the same
SAME = 0.8  # of both answers' runs

Matrix = np.ndarray
Run = tuple[str, ...]
Runs = dict[str, frozenset[Run]]  # by exercise


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

    exercises : those with a rarity
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

    by_chance : the highest rarity when answers are dealt anew, nine of ten times
    n_above : how many pairs have more than that
    usual_same : nine of ten pairs have the same answer in no more exercises
    common_runs : short runs of tokens that count for nothing, by exercise: the lesson
        gives them, or more than ``MOST_SHARED`` of the class has them
    """

    answers: ClassAnswers
    pairs: list[SimilarPair] = field(default_factory=list)
    by_chance: float = 0.0
    n_above: int = 0
    usual_same: int = 0
    common_runs: dict[str, frozenset[Run]] = field(default_factory=dict)

    @property
    def students(self) -> list[str]:
        """Everybody who is compared."""
        return [*self.answers.parts]

    @property
    def n_pairs(self) -> int:
        """How many pairs they make."""
        return math.comb(len(self.students), 2)


def compare(answers: ClassAnswers, limit: int, least: float | None) -> Comparison:
    """Compare everybody with everybody.

    limit : pairs to return at most
    least : rarity that a pair must have; None: more than by chance
    """
    students = [*answers.parts]
    comparison = Comparison(answers)
    shared = _fingerprints(answers)
    total = np.zeros((len(students), len(students)))
    dealt = [total.copy() for _ in range(SHUFFLES)]
    rng = np.random.default_rng(0)  # the same class, the same page
    by_exercise: dict[str, tuple[Matrix, Matrix]] = {}
    for exercise in answers.exercises:
        overlap = _overlap(shared.get(exercise, []), len(students))
        _, rarity = by_exercise[exercise] = _rarity(overlap)
        total += rarity
        for each in dealt:
            order = rng.permutation(len(students))
            each += rarity[np.ix_(order, order)]
    highest = [each.max() for each in dealt]
    usual_highest = float(np.quantile(highest, IN_MOST, method="lower"))
    comparison.by_chance = max(LEAST_RARITY, usual_highest)
    comparison.n_above = int((total > comparison.by_chance).sum()) // 2
    runs = [runs_of(answers.parts[student]) for student in students]
    comparison.usual_same = _usual_same(runs, rng)
    comparison.common_runs = _common_runs(answers, runs)
    above = np.nextafter(comparison.by_chance, np.inf)
    for i, j in _highest(total, limit, above if least is None else least):
        shares = (
            SharedExercise(name, float(one_in[i, j]), float(rarity[i, j]))
            for name, (one_in, rarity) in by_exercise.items()
            if rarity[i, j] > 0
        )
        pair = SimilarPair(
            students[i],
            students[j],
            float(total[i, j]),
            tuple(shares),
            tuple(
                each
                for each in answers.exercises
                if {each} <= runs[i].keys() & runs[j].keys()
            ),
            tuple(_same(runs[i], runs[j])),
        )
        comparison.pairs.append(pair)
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
    template = [numbered([token.kind for token in each]) for each in answers.template]
    by_exercise: dict[str, list[list[int]]] = {}
    for fingerprint in shared_fingerprints(files, template, _most(len(files))):
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
    order = order[rarities[order] >= least]
    return [(int(left[each]), int(right[each])) for each in order]


def run_starts(tokens: Sequence[CodeToken]) -> list[Run]:
    """Return the run of kinds that begins at each token, but the last few."""
    kinds = [token.kind for token in tokens]
    return [tuple(kinds[i : i + SHORT_RUN]) for i in range(len(kinds) - SHORT_RUN + 1)]


def runs_of(parts: Sequence[WrittenPart]) -> Runs:
    """Return the runs of tokens in a student's answers."""
    runs: dict[str, set[Run]] = {}
    for part in parts:
        runs.setdefault(part.exercise, set()).update(run_starts(part.tokens))
    return {name: frozenset(each) for name, each in runs.items() if each}


def _same(left: Runs, right: Runs) -> list[str]:
    """Return the exercises to which two students have the same answer."""
    return [
        name
        for name, mine in left.items()
        if name in right
        and len(mine & right[name]) >= SAME * max(len(mine), len(right[name]))
    ]


def _usual_same(runs: Sequence[Runs], rng: np.random.Generator) -> int:
    """Return in how many exercises nine of ten pairs have the same answer, at most."""
    if len(runs) ** 2 < 2 * SAMPLED_PAIRS:
        chosen = [*itertools.combinations(range(len(runs)), 2)]
    else:
        drawn = rng.integers(len(runs), size=(SAMPLED_PAIRS, 2))
        chosen = [(int(i), int(j)) for i, j in drawn if i != j]
    counts = [len(_same(runs[i], runs[j])) for i, j in chosen]
    return int(np.quantile(counts, IN_MOST, method="higher"))


def _common_runs(answers: ClassAnswers, runs: Sequence[Runs]) -> Runs:
    """Return what many have, or the lesson gives; see ``Comparison``."""
    template = frozenset(run for each in answers.template for run in run_starts(each))
    most = _most(len(runs))
    common = {}
    for name in answers.exercises:
        counts = Counter(run for each in runs for run in each.get(name, ()))
        common[name] = template | {run for run, count in counts.items() if count > most}
    return common


def _most(n: int) -> int:
    """Return how many of a class may have what counts."""
    return max(LEAST_COUNTED, int(MOST_SHARED * n))
