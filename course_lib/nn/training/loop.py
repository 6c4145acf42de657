"""One training loop for all models of the course; it can be stopped and resumed.

What is read and predicted in a step comes from a ``TrainingData``: pairs for
translators, windows of a text for language models. What a training does follows from
its configuration and its data alone. Every step draws
its dropout from a seed of its own, so there is no state of a random generator to be
lost. ``course_lib.nn.training.checkpoints`` saves a training in a file.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from course_lib.nn import arguments
from course_lib.nn.training.distributed import SINGLE_PROCESS, ProcessGroup
from course_lib.nn.training.subwords import PADDING_ID


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained.

    steps : number of optimizer steps
    batch_tokens : number of target positions in a batch at most
    learning_rate : the greatest learning rate
    warmup_steps : number of steps in which the learning rate grows; afterwards it falls
        to 0
    smoothing : share of the target that is spread evenly over all tokens
    weight_decay : share of each matrix that is subtracted in a step, times the learning
        rate
    max_grad_norm : the greatest norm of the gradient
    dropout_from : the epoch from which on the model's dropout is used, from 0
    seed : of the first parameters, the batches and the dropout
    """

    steps: int
    batch_tokens: int = 256
    learning_rate: float = 3e-3
    warmup_steps: int = 300
    smoothing: float = 0.1
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    dropout_from: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        arguments.whole(1, steps=self.steps, batch_tokens=self.batch_tokens)
        arguments.whole(0, warmup_steps=self.warmup_steps)
        arguments.whole_number("seed", self.seed)
        arguments.real(0, 1, smoothing=self.smoothing, weight_decay=self.weight_decay)
        arguments.real(
            0,
            math.inf,
            learning_rate=self.learning_rate,
            max_grad_norm=self.max_grad_norm,
            dropout_from=self.dropout_from,
        )


def learning_rate_at(step: int, config: TrainingConfig) -> float:
    """Compute the learning rate of a step: evenly up, then evenly down to nearly 0.

    step : number of steps made before, 0 for the first one

    The paper's (``course_lib.nn.losses.warmup_rate``) falls for ever; this one reaches
    its end with the training, and a better model in a few minutes.

    >>> config = TrainingConfig(steps=10, learning_rate=1.0, warmup_steps=2)
    >>> [learning_rate_at(step, config) for step in (0, 1, 2, 6, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.125]
    """
    if step < config.warmup_steps:
        return config.learning_rate * (step + 1) / config.warmup_steps
    left = max(config.steps - step, 0)
    return config.learning_rate * left / max(config.steps - config.warmup_steps, 1)


def seed_torch(seed: int, *purpose: int) -> None:
    """Seed PyTorch's random numbers for one purpose, unlike for any other.

    purpose : numbers that tell the purposes of one seed apart
    """
    name = " ".join(str(number) for number in (seed, *purpose))
    digest = hashlib.sha256(name.encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:8], "little", signed=True))


def seeded_model(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Make a model whose random parameters follow from the seed."""
    with torch.random.fork_rng():
        seed_torch(seed)
        return make()


@dataclass(frozen=True)
class Batch:
    """What one process reads and has to predict in one step.

    inputs : the model's arguments, token ids (batch, …); the model returns logits
        (batch, n, vocab_size)
    target : (batch, n), token ids, and the data's ``ignore_index`` where there is
        nothing to predict
    n_targets : how many targets the batches of all processes have together
    """

    inputs: tuple[Tensor, ...]
    target: Tensor
    n_targets: int


class TrainingData(Protocol):
    """What a model is trained on: which batch is read in which step.

    A batch follows from the step and the config's seed alone, so that a training which
    was stopped goes on with the right one, and several processes agree without
    exchanging messages.
    """

    @property
    def ignore_index(self) -> int:
        """What stands in a target where there is nothing to predict."""

    def batches_per_epoch(self, config: TrainingConfig) -> int:
        """Return the number of batches that are all of the data once."""

    def batch(self, step: int, config: TrainingConfig, group: ProcessGroup) -> Batch:
        """Return this process's shard of the batch of a step.

        It has one row at least, if need be without a target.
        """


def total_loss(
    logits: Tensor, target: Tensor, smoothing: float, ignore_index: int = PADDING_ID
) -> Tensor:
    """Compute the cross-entropy, with label smoothing, summed over all tokens.

    logits : (batch, n, vocab_size)
    target : (batch, n), where ignore_index, such as padding, counts for nothing
    """
    return cross_entropy(
        logits.flatten(0, 1),
        target.flatten(),
        ignore_index=ignore_index,
        label_smoothing=smoothing,
        reduction="sum",
    )


class Trainer:
    """A model, its optimizer and its position in the data.

    model : what is trained, on its device
    step : number of steps made
    losses : for each of them the loss per target token, with the smoothing
    """

    def __init__(
        self,
        model: nn.Module,
        data: TrainingData,
        config: TrainingConfig,
        process_group: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        """Prepare a training; all processes of a group have to take part."""
        self.model, self.config, self.process_group = model, config, process_group
        self.step = 0
        self.losses: list[float] = []
        self.device = next(model.parameters()).device
        self._data = data
        self._batches_per_epoch = data.batches_per_epoch(config)
        self._forward = (
            DistributedDataParallel(model) if process_group.world_size > 1 else model
        )
        self._optimizer = _optimizer(model, config)
        modules = (each for each in model.modules() if isinstance(each, nn.Dropout))
        self._dropouts = [(each, each.p) for each in modules]

    @property
    def epoch(self) -> float:
        """How often it has read all of the data so far."""
        return self.step / self._batches_per_epoch

    def train_step(self, stop: bool = False) -> bool:
        """Make one optimizer step.

        stop : whether this process was asked to stop

        Returns whether any process was asked to stop.
        """
        config, group = self.config, self.process_group
        batch = self._data.batch(self.step, config, group)
        inputs = [each.to(self.device) for each in batch.inputs]
        target = batch.target.to(self.device)
        self.model.train()
        for module, share in self._dropouts:
            module.p = share if self.epoch >= config.dropout_from else 0.0
        seed_torch(config.seed, self.step, group.rank)
        logits = self._forward(*inputs)
        ignore_index = self._data.ignore_index
        total = total_loss(logits, target, config.smoothing, ignore_index)
        # Processes average their gradients: this makes the average that of the batch.
        (total * (group.world_size / batch.n_targets)).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), config.max_grad_norm)
        for parameters in self._optimizer.param_groups:
            parameters["lr"] = learning_rate_at(self.step, config)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        sums = group.all_reduce(torch.stack([total.detach(), total.new_tensor(stop)]))
        loss, n_asked_to_stop = sums.tolist()
        self.losses.append(loss / batch.n_targets)
        self.step += 1
        return bool(n_asked_to_stop)

    def state_dict(self) -> dict[str, Any]:
        """Return all that a later training needs to go on as if there were no break."""
        return {
            "parameters": self.model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.step,
            "losses": torch.tensor(self.losses, dtype=torch.float64),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a ``state_dict``, with the same model, data and config."""
        self.model.load_state_dict(state["parameters"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        self.losses = state["losses"].tolist()


def _optimizer(model: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Make AdamW, with weight decay for matrices and none for biases and gains."""
    parameters = [each for each in model.parameters() if each.requires_grad]
    groups = [
        {
            "params": [each for each in parameters if each.dim() > 1],
            "weight_decay": config.weight_decay,
        },
        {
            "params": [each for each in parameters if each.dim() <= 1],
            "weight_decay": 0.0,
        },
    ]
    # Fused: one pass over the parameters in place of a dozen.
    return torch.optim.AdamW(
        groups, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True
    )


N_AVERAGED = 50  # steps whose mean loss is shown


@contextmanager
def progress(
    trainer: Trainer, console: Console | None = None
) -> Iterator[Callable[[], None]]:
    """Show steps made, the loss, steps per second and the time left, in one line.

    console : where; stderr if None

    Yields a function to be called after each step. In a process that is not the main
    one, and where there is no terminal, it does nothing.
    """
    console = console or Console(stderr=True)
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.3f}"),
        TextColumn("{task.fields[speed]:.1f}/s"),
        TimeRemainingColumn(),
        console=console,
        disable=not (console.is_terminal and trainer.process_group.is_main_process),
    )
    task = bar.add_task(
        "training",
        total=trainer.config.steps,
        completed=trainer.step,
        loss=0.0,
        speed=0.0,
    )

    def show() -> None:
        last = trainer.losses[-N_AVERAGED:]
        speed = bar.tasks[0].speed or 0.0
        loss = sum(last) / len(last)
        bar.update(task, completed=trainer.step, loss=loss, speed=speed)

    with bar:
        yield show
