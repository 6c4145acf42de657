import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("clip_gradients")


@answers.correct
def norm_of_norms(gradients, max_norm):
    norms = [g.norm() for g in gradients.values() if g is not None]
    norm = torch.stack(norms).norm().item() if norms else 0.0
    if not math.isfinite(norm):
        raise ValueError("not finite")
    factor = min(1.0, max_norm / norm) if norm else 1.0
    return {n: g if g is None else g * factor for n, g in gradients.items()}, norm


@answers.correct
def the_same_gradients_if_short(gradients, max_norm):
    total = 0.0
    for gradient in gradients.values():
        if gradient is not None:
            total += gradient.double().pow(2).sum().item()
    norm = total**0.5
    if norm != norm or norm == float("inf"):
        raise ValueError("not finite")
    if norm <= max_norm:
        return gradients, norm
    clipped = dict(gradients)
    for name, gradient in gradients.items():
        if gradient is not None:
            clipped[name] = max_norm * gradient / norm
    return clipped, norm


@answers.correct
def one_long_vector(gradients, max_norm):
    rows = [g.flatten() for g in gradients.values() if g is not None]
    norm = float(torch.linalg.vector_norm(torch.cat(rows))) if rows else 0.0
    if not np.isfinite(norm):
        raise ValueError("not finite")
    clipped = {}
    for name, gradient in gradients.items():
        clipped[name] = None
        if gradient is not None:
            clipped[name] = gradient / max(norm / max_norm, 1.0)
    return clipped, norm


@answers.correct
def copies_changed_in_place(gradients, max_norm):
    clipped = {n: g if g is None else g.clone() for n, g in gradients.items()}
    _, norm = norm_of_norms(gradients, max_norm)
    if norm > max_norm:
        for each in clipped.values():
            if each is not None:
                each.mul_(max_norm / norm)
    return clipped, norm


@answers.correct
def numpy_inside(gradients, max_norm):
    arrays = {n: g.numpy() for n, g in gradients.items() if g is not None}
    norm = np.sqrt(sum(np.sum(each.astype(float) ** 2) for each in arrays.values()))
    if not np.isfinite(norm):
        raise ValueError("not finite")
    clipped = dict.fromkeys(gradients)
    for name, each in arrays.items():
        by = max_norm / norm if norm > max_norm else 1.0
        clipped[name] = torch.from_numpy(np.asarray(each * by, dtype=each.dtype))
    return clipped, norm


@answers.correct
def pytorch_asked_for_the_norm(gradients, max_norm):
    present = [g for g in gradients.values() if g is not None]
    norm = float(torch.nn.utils.get_total_norm(present, error_if_nonfinite=False))
    if math.isnan(norm) or math.isinf(norm):
        raise ValueError("not finite")
    by = 1.0 if norm <= max_norm else max_norm / norm
    return {n: None if g is None else by * g for n, g in gradients.items()}, norm


class Called:
    def __call__(self, gradients, max_norm):
        return one_long_vector(gradients, max_norm)


answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda clip, *arguments: clip(*arguments), norm_of_norms
)


@answers.also("each_by_its_own_norm")
def clipped_one_by_one(gradients, max_norm):
    _, norm = norm_of_norms(gradients, max_norm)
    clipped = dict(gradients)
    for name, gradient in gradients.items():
        if gradient is not None:
            clipped[name] = norm_of_norms({name: gradient}, max_norm)[0][name]
    return clipped, norm


@answers.also("a_little_added_to_the_norm")
def as_pytorch_does(gradients, max_norm):
    _, norm = norm_of_norms(gradients, max_norm)
    by = min(1.0, max_norm / (norm + 1e-6)) if norm > max_norm else 1.0
    return {n: None if g is None else by * g for n, g in gradients.items()}, norm


@answers.also("gradients_overwritten")
def multiplied_in_place(gradients, max_norm):
    _, norm = norm_of_norms(gradients, max_norm)
    for gradient in gradients.values():
        if gradient is not None and norm > max_norm:
            gradient *= max_norm / norm
    return gradients, norm


@answers.other
def written_into_the_dictionary_half(gradients, max_norm):
    clipped, norm = norm_of_norms(gradients, max_norm)
    gradients.update(clipped)
    return {
        name: each if each is None else each / 2 for name, each in clipped.items()
    }, norm


@answers.other
def half_the_norm(gradients, max_norm):
    return norm_of_norms(gradients, max_norm / 2)


@answers.other
def values_in_text(gradients, max_norm):
    return str(norm_of_norms(gradients, max_norm))


@answers.other
def shortened_smoothly(gradients, max_norm):
    _, norm = norm_of_norms(gradients, max_norm)
    by = max_norm / (max_norm + norm)
    return {n: None if g is None else by * g for n, g in gradients.items()}, norm
