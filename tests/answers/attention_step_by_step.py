import functools
import math

import numpy as np

from tests.answers import Answers

answers = Answers("attention_step_by_step")


def shares(scores):
    powers = np.exp(scores - np.max(scores))
    return powers / np.sum(powers)


def walk(q1, k, v, divisor=None, chosen=shares):
    """Return the five steps through einsum; the parts can be replaced."""
    scores = np.einsum("jc,c->j", k, q1)
    scaled = scores / (len(q1) ** 0.5 if divisor is None else divisor)
    weights = chosen(scaled)
    return dict(
        scores=scores,
        scaled=scaled,
        weights=weights,
        weighted_values=np.einsum("j,jd->jd", weights, v),
        output=np.einsum("j,jd->d", weights, v),
    )


@answers.correct
def einsum_throughout(q1, k, v):
    return walk(q1, k, v)


@answers.correct
def plain_python(q1, k, v):
    scores = [sum(a * b for a, b in zip(q1, key, strict=True)) for key in k]
    scaled = [score / math.sqrt(len(q1)) for score in scores]
    powers = [math.exp(score - max(scaled)) for score in scaled]
    weights = [power / math.fsum(powers) for power in powers]
    weighted = [[w * x for x in row] for w, row in zip(weights, v, strict=True)]
    output = [math.fsum(column) for column in zip(*weighted, strict=True)]
    steps = {"scores": scores, "scaled": scaled, "weights": weights}
    steps |= {"weighted_values": weighted, "output": output}
    return {name: np.array(step, dtype=float) for name, step in steps.items()}


@answers.correct
def matrix_products(q1, k, v):
    steps = {"scores": (q1[np.newaxis, :] @ k.T)[0]}
    steps["scaled"] = steps["scores"] * q1.size**-0.5
    steps["weights"] = np.exp(steps["scaled"] - np.logaddexp.reduce(steps["scaled"]))
    steps["weighted_values"] = np.diag(steps["weights"]) @ v
    steps["output"] = steps["weights"] @ v
    return steps


@answers.correct
def last_step_first(q1, k, v):
    return dict(reversed(walk(q1, k, v).items()))


@answers.correct
def columns_first_in_memory(q1, k, v):
    steps = walk(q1, k, v)
    weighted = (v.T * steps["weights"]).T
    return {**steps, "weighted_values": weighted, "output": np.ones(len(v)) @ weighted}


class Walk:
    def __call__(self, q1, k, v):
        weights = shares(self.scores(q1, k) / np.linalg.norm(np.ones(q1.shape)))
        return {
            "scores": self.scores(q1, k),
            "scaled": self.scores(q1, k) / np.linalg.norm(np.ones(q1.shape)),
            "weights": weights,
            "weighted_values": np.multiply(weights.reshape(-1, 1), v),
            "output": v.T @ weights,
        }

    def scores(self, q1, k):
        return (k * q1).sum(axis=1) * 1.0


answers.right["callable_object"] = Walk()
answers.right["partial"] = functools.partial(walk, chosen=shares)


@answers.other
def query_set_to_zero(q1, k, v):
    result = walk(q1, k, v)
    q1 *= 0
    return result


@answers.other
def column_of_scores(q1, k, v):
    return {**walk(q1, k, v), "scores": k @ q1[:, np.newaxis]}


@answers.other
def sigmoid_weights(q1, k, v):
    return walk(q1, k, v, chosen=lambda scaled: 1 / (1 + np.exp(-np.abs(scaled))))
