"""How far a training is, as one line that changes; without a terminal, nothing."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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

from course_lib.nn.training.batches import Example, collate, plan, share
from course_lib.nn.training.distributed import ALONE, Team
from course_lib.nn.training.subwords import PADDING


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    steps : number of updates
    batch_tokens : number of target places in a batch at most
    rate : the greatest learning rate
    warmup : number of updates in which the rate grows; afterwards it falls to 0
    smoothing : share of the target that is spread evenly over all tokens
    weight_decay : how much of each matrix is taken away, times the rate, per update
    clip : the greatest length of the gradient
    seed : of the first parameters, the batches and the dropout
    """

    steps: int
    batch_tokens: int = 256
    rate: float = 3e-3
    warmup: int = 300
    smoothing: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 0


def rate_at(step: int, recipe: Recipe) -> float:
    """Give the learning rate of an update: evenly up, then evenly down to nearly 0.

    step : number of updates made before, 0 for the first one

    The rate of the paper (``course_lib.nn.losses.warmup_rate``) never ends; this one
    knows when the training does, and reaches a better model in a few minutes.

    >>> recipe = Recipe(steps=10, rate=1.0, warmup=2)
    >>> [rate_at(step, recipe) for step in (0, 1, 2, 6, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.125]
    """
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    left = max(recipe.steps - step, 0)
    return recipe.rate * left / max(recipe.steps - recipe.warmup, 1)


def draw(seed: int, *which: int) -> None:
    """Seed PyTorch's random numbers for one purpose, unlike for any other.

    which : numbers that tell the purposes of one seed apart
    """
    name = " ".join(str(number) for number in (seed, *which))
    digest = hashlib.sha256(name.encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:8], "little", signed=True))


def initial(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Make a model whose random parameters follow from the seed."""
    with torch.random.fork_rng():
        draw(seed)
        return make()


class Training:
    """A model, its optimizer and where in the data it is.

    model : what is trained, on its device
    step : number of updates made
    losses : for each of them the loss per target token, with the smoothing
    """

    def __init__(
        self,
        model: nn.Module,
        examples: Sequence[Example],
        recipe: Recipe,
        team: Team = ALONE,
    ) -> None:
        """Prepare a training; with a team, all of it has to take part.

        Raises ``ValueError`` if there are no examples.
        """
        if not examples:
            raise ValueError("there are no examples to train on")
        self.model, self.recipe, self.team = model, recipe, team
        self.step = 0
        self.losses: list[float] = []
        self.device = next(model.parameters()).device
        self._examples = examples
        self._forward = (
            DistributedDataParallel(model) if team.n_processes > 1 else model
        )
        self._optimizer = _optimizer(model, recipe)
        self._epoch, self._plan = 0, plan(examples, recipe.batch_tokens, recipe.seed, 0)

    @property
    def epoch(self) -> float:
        """How often it has seen all examples so far."""
        return self.step / len(self._plan)

    def update(self, stop: bool = False) -> bool:
        """Make one update. Returns whether any process was asked to stop.

        stop : whether this one was
        """
        recipe, team = self.recipe, self.team
        chosen = self._batch(self.step)
        n_targets = sum(len(self._examples[each].target) for each in chosen)
        mine = share(chosen, team.rank, team.n_processes)
        batch = collate([self._examples[each] for each in mine]).to(self.device)
        self.model.train()
        draw(recipe.seed, self.step, team.rank)
        logits = self._forward(batch.source, batch.shifted)
        total = total_loss(logits, batch.target, recipe.smoothing)
        # Processes give the mean of their gradients: this makes it that of the batch.
        (total * (team.n_processes / n_targets)).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = rate_at(self.step, recipe)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        heard = team.add_up(torch.stack([total.detach(), total.new_tensor(stop)]))
        loss, asked = heard.tolist()
        self.losses.append(loss / n_targets)
        self.step += 1
        return bool(asked)

    def _batch(self, step: int) -> list[int]:
        epoch, place = divmod(step, len(self._plan))
        if epoch != self._epoch:
            recipe = self.recipe
            self._epoch = epoch
            self._plan = plan(self._examples, recipe.batch_tokens, recipe.seed, epoch)
        return self._plan[place]

    def state(self) -> dict[str, Any]:
        """Give all that a later training needs to go on as if there were no break."""
        return {
            "parameters": self.model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.step,
            "losses": torch.tensor(self.losses, dtype=torch.float64),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` gave, with the same model, examples and recipe."""
        self.model.load_state_dict(state["parameters"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        self.losses = state["losses"].tolist()


def total_loss(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Sum the cross-entropy, with label smoothing, over all tokens of a target.

    logits : (batch, n, vocab_size)
    target : (batch, n), where padding counts for nothing
    """
    return cross_entropy(
        logits.flatten(0, 1),
        target.flatten(),
        ignore_index=PADDING,
        label_smoothing=smoothing,
        reduction="sum",
    )


def _optimizer(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """Make AdamW; what is no matrix, biases and gains, is not made smaller."""
    parameters = [each for each in model.parameters() if each.requires_grad]
    groups = [
        {
            "params": [each for each in parameters if each.dim() > 1],
            "weight_decay": recipe.weight_decay,
        },
        {
            "params": [each for each in parameters if each.dim() <= 1],
            "weight_decay": 0.0,
        },
    ]
    # One pass over the parameters in place of a dozen.
    return torch.optim.AdamW(
        groups, lr=recipe.rate, betas=(0.9, 0.98), eps=1e-9, fused=True
    )


LAST = 50  # updates whose mean is shown


@contextmanager
def progress(
    training: Training, console: Console | None = None
) -> Iterator[Callable[[], None]]:
    """Show updates made, the loss, updates per second and the time left.

    console : where; stderr if None

    Gives a function to be called after each update. In a process that does not lead,
    and where nobody sees the line, it does nothing.
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
        disable=not (console.is_terminal and training.team.leads),
    )
    recipe = training.recipe
    task = bar.add_task(
        "training", total=recipe.steps, completed=training.step, loss=0.0, speed=0.0
    )

    def show() -> None:
        last = training.losses[-LAST:]
        speed = bar.tasks[0].speed or 0.0
        loss = sum(last) / len(last)
        bar.update(task, completed=training.step, loss=loss, speed=speed)

    with bar:
        yield show


# MERGED course_lib.nn.training: Training of any translator of the course: one loop, which can be stopped and go on.
#
#   What a run does follows from its recipe and its data alone. Every update draws its
#   dropout from a seed of its own, so there is no state of random numbers to be lost. How a
#   run is kept in a file is in ``course_lib.nn.checkpoints``.
#
