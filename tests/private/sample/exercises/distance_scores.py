"""Cases and misconceptions of ``distance_scores``: marker-of-the-bank."""

import numpy as np

from autograder import Exercise
from course_lib.private.exam import distance_scores

exercise = Exercise(distance_scores, lesson="90_exam", minutes=10, difficulty=2)


@exercise.spec
def spec(q, k):
    *leading, n, d_k = q.shape
    m = k.shape[-2]
    scores = np.zeros((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        for c in range(d_k):
            scores[index] -= (float(q[*batch, i, c]) - float(k[*batch, j, c])) ** 2
    return scores


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4))


@exercise.case("One query and two keys of size 2 give these two scores")
def small_example_by_hand(student, rng):
    q, k = np.array([[0.0, 1.0]]), np.array([[0.0, 3.0], [2.0, 2.0]])
    student.expect(student(q, k), np.array([[-4.0, -5.0]]))
    student.agrees(rng.normal(size=(5, 3)), rng.normal(size=(7, 3)))


@exercise.case("Each sequence of a batch is scored by itself", visible=False)
def leading_axes(student, rng):
    student.agrees(*usual(rng))
    student.agrees(rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4)))


exercise.edits(
    """
not_squared: difference ** 2 -> abs(difference)
  Your numbers are sums of the absolute differences.
  ? What does a distance do with each difference before it adds them up?
  # The sum of absolute differences is a distance as well.
positive: return -(difference ** 2) -> return (difference ** 2)
  Your scores are the squared distances themselves.
  ? Which key should have the largest score?
  # A distance is large where two things have little in common.
root_taken: return -(difference ** 2).sum(axis=-1) -> \
return -np.sqrt((difference ** 2).sum(axis=-1))
  Your scores are the distances, with the root.
  ? The contract says squared: what is left out then?
  # A distance is most often written with its root.
mean_not_sum: .sum(axis=-1) -> .mean(axis=-1)
  Your scores are means over d_k.
  ? Does a distance become smaller if both vectors get more zeros?
  # Losses take the mean of squares.
dot_products:
  | difference = … ->
  | return -(difference ** 2).sum(axis=-1) -> return q @ k.swapaxes(-1, -2)
  Your scores are dot products.
  ? What does a key that is long and far away get?
  # The lessons' scores are dot products.
"""
)
