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


@answers.also("softmax_of_unscaled")
def output_of_plain_scores(q1, k, v):
    return {**walk(q1, k, v, divisor=1), "scaled": k @ q1 * len(q1) ** -0.5}


@answers.also("scores_scaled_as_well")
def one_array_with_two_names(q1, k, v):
    scores = (k * q1).sum(axis=1) * 1.0
    steps = {**walk(q1, k, v), "scores": scores}
    scores /= np.sqrt(len(q1))
    return steps


@answers.also("divided_by_d_k")
def divided_by_length_of_query(q1, k, v):
    return walk(q1, k, v, divisor=len(q1))


@answers.also("divided_by_root_of_m")
def divided_by_root_of_number_of_scores(q1, k, v):
    return walk(q1, k, v, divisor=np.sqrt(v.shape[0]))


@answers.also("shares_of_the_scores")
def linear_shares(q1, k, v):
    return walk(q1, k, v, chosen=lambda scaled: scaled / np.einsum("j->", scaled))


@answers.also("scores_times_values")
def values_scaled_by_scores(q1, k, v):
    mixed = walk(q1, k, v, chosen=lambda scaled: scaled)
    return {**mixed, "weights": walk(q1, k, v)["weights"]}


@answers.also("keys_weighted")
def keys_twice(q1, k, v):
    return walk(q1, k, k)


@answers.also("columns_weighted")
def weights_laid_along_the_last_axis(q1, k, v):
    steps = walk(q1, k, v)
    columns = np.stack([steps["weights"]] * len(v)) * v
    return {**steps, "weighted_values": columns, "output": np.ones(len(v)) @ columns}


@answers.also("mean_of_weighted_values")
def divided_by_number_of_values(q1, k, v):
    return {**walk(q1, k, v), "output": walk(q1, k, v)["output"] / len(v)}


@answers.also("summed_within_values")
def weight_times_sum_of_value(q1, k, v):
    steps = walk(q1, k, v)
    return {**steps, "output": np.array([*map(sum, steps["weighted_values"])])}


@answers.also("exponentials_overflow")
def unshifted_sums(q1, k, v):
    return walk(q1, k, v, chosen=lambda s: np.exp(s) * (1 / np.add.reduce(np.exp(s))))


@answers.also("cut_to_whole_numbers")
def cast_to_the_dtype_of_v(q1, k, v):
    steps = walk(q1, k, v)
    weighted = steps["weighted_values"].astype(v.dtype)
    return {**steps, "weighted_values": weighted, "output": np.sum(weighted, axis=0)}


@answers.also("values_weighted_in_place")
def multiplied_into_itself(q1, k, v):
    steps = walk(q1, k, v)
    np.multiply(v, steps["weights"].reshape(-1, 1), out=v)
    return steps


@answers.other
def query_set_to_zero(q1, k, v):
    result = walk(q1, k, v)
    q1 *= 0
    return result


@answers.other
def nothing_is_scaled(q1, k, v):
    return walk(q1, k, v, divisor=1)


@answers.other
def everything_equally(q1, k, v):
    return walk(q1, k, v, chosen=lambda scaled: np.full(len(scaled), 1 / len(scaled)))


@answers.other
def best_key_only(q1, k, v):
    return walk(q1, k, v, chosen=lambda scaled: (scaled == scaled.max()).astype(float))


@answers.other
def steps_in_a_list(q1, k, v):
    return list(walk(q1, k, v).values())


@answers.other
def column_of_scores(q1, k, v):
    return {**walk(q1, k, v), "scores": k @ q1[:, np.newaxis]}


@answers.other
def sigmoid_weights(q1, k, v):
    return walk(q1, k, v, chosen=lambda scaled: 1 / (1 + np.exp(-np.abs(scaled))))
