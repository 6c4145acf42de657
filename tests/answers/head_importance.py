import functools
import itertools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("head_importance")


@answers.correct
def closed_and_opened_again(loss_of, gradient_of, gates, examples):
    by_gradient = sum(gradient_of(gates, each).abs() for each in examples)
    work, n = gates.clone(), len(examples)
    before = sum(loss_of(gates, each) for each in examples)
    by_ablation = torch.empty_like(gates)
    for index in np.ndindex(gates.shape):
        gate = work[index].item()
        work[index] = 0
        after = sum(loss_of(work, each) for each in examples)
        work[index] = gate
        by_ablation[index] = (after - before) / n
    return by_gradient / n, by_ablation


@answers.correct
def masks_of_the_identity(loss_of, gradient_of, gates, examples):
    n_gates, changes = gates.numel(), []
    for row in 1 - torch.eye(n_gates, dtype=gates.dtype):
        closed = gates * row.reshape(gates.shape)
        rises = [loss_of(closed, each) - loss_of(gates, each) for each in examples]
        changes.append(np.mean(rises))
    gradients = torch.stack([gradient_of(gates, each) for each in examples])
    by_ablation = torch.tensor(changes, dtype=gates.dtype).view(gates.shape)
    return gradients.abs().mean(dim=0), by_ablation


@answers.correct
def example_by_example(loss_of, gradient_of, gates, examples):
    by_gradient, by_ablation = torch.zeros_like(gates), torch.zeros_like(gates)
    for example in examples:
        by_gradient += torch.abs(gradient_of(gates.clone(), example))
        before = loss_of(gates.clone(), example)
        for index in itertools.product(*map(range, gates.shape)):
            closed = gates.clone()
            closed[index] = 0.0
            by_ablation[index] += loss_of(closed, example) - before
    return by_gradient.div(len(examples)), by_ablation.div(len(examples))


@answers.correct
def numpy_inside(loss_of, gradient_of, gates, examples):
    gradients = [np.abs(gradient_of(gates, each).numpy()) for each in examples]
    losses = np.array([loss_of(gates, each) for each in examples])
    by_ablation = np.zeros(gates.numel())
    for i in range(gates.numel()):
        closed = gates.numpy().copy().ravel()
        closed[i] = 0
        changed = torch.from_numpy(closed.reshape(gates.shape))
        by_ablation[i] = np.mean([loss_of(changed, e) for e in examples] - losses)
    results = np.mean(gradients, axis=0), by_ablation.reshape(gates.shape)
    return tuple(torch.tensor(each, dtype=gates.dtype) for each in results)


class Importance:
    def __init__(self, run):
        self.run = run

    def __call__(self, loss_of, gradient_of, gates, examples):
        return self.run(loss_of, gradient_of, gates, list(examples))


answers.right["callable_object"] = Importance(example_by_example)
answers.right["partial"] = functools.partial(
    lambda run, *arguments: run(*arguments), masks_of_the_identity
)


@answers.also("absolute_value_of_the_mean")
def one_gradient_for_all(loss_of, gradient_of, gates, examples):
    _, by_ablation = example_by_example(loss_of, gradient_of, gates, examples)
    mean = sum(gradient_of(gates, each) for each in examples) / len(examples)
    return mean.abs(), by_ablation


@answers.also("closed_heads_stay_closed")
def never_opened_again(loss_of, gradient_of, gates, examples):
    by_gradient, by_ablation = example_by_example(loss_of, gradient_of, gates, examples)
    n, work = len(examples), gates.clone()
    before = sum(loss_of(gates, each) for each in examples) / n
    for index in np.ndindex(gates.shape):
        work[index] = 0.0
        after = sum(loss_of(work, each) for each in examples) / n
        by_ablation[index] = after - before
    return by_gradient, by_ablation


@answers.other
def gates_halved(loss_of, gradient_of, gates, examples):
    return example_by_example(loss_of, gradient_of, gates / 2, examples)


@answers.other
def predicted_and_measured(loss_of, gradient_of, gates, examples):
    by_gradient, by_ablation = example_by_example(loss_of, gradient_of, gates, examples)
    return by_gradient, by_gradient - by_ablation


@answers.other
def without_the_last_example(loss_of, gradient_of, gates, examples):
    examples = examples[:-1] or examples
    return example_by_example(loss_of, gradient_of, gates + 0.1, examples)
