"""``python -m course_lib.nn.train``: train a model, stop, go on, measure it.

It is a translator, or with ``--task language`` a language model.

Under ``torchrun`` several processes train the same model on shards of each batch. What
the reader can mend is one sentence on stderr and exit code 1; Ctrl-C saves what there
is, says how to go on and exits with 130. This is the command line alone: tasks, loop,
checkpoints and scores are in ``course_lib.nn.training``.
"""

import json
import os
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console

from course_lib.corpora.download import DataError
from course_lib.nn.device import best_device
from course_lib.nn.training import checkpoints
from course_lib.nn.training.checkpoints import (
    COMMAND,
    Checkpoint,
    Checkpointer,
    CheckpointError,
)
from course_lib.nn.training.distributed import (
    ProcessGroup,
    process_group,
    stop_on_signal,
    under_torchrun,
)
from course_lib.nn.training.language import LANGUAGE
from course_lib.nn.training.loop import (
    Trainer,
    TrainingConfig,
    progress,
    seeded_model,
)
from course_lib.nn.training.tasks import TASKS, TrainingTask

FOLDER = Path("build/trained")
INTERRUPTED = 130  # what a shell expects after Ctrl-C


DEFAULT_TASK = "translation"
ALL_TASKS: dict[str, TrainingTask] = {**TASKS, LANGUAGE.name: LANGUAGE}
ALL_SYSTEMS = [
    name for task in (TASKS[DEFAULT_TASK], LANGUAGE) for name in task.systems
]
ALL_OWN_OPTIONS = frozenset().union(*(each.own_options for each in ALL_TASKS.values()))


def task_named(name: str) -> TrainingTask:
    """Return the task of a name on the command line."""
    return LANGUAGE if name == LANGUAGE.name else TASKS[name]


class TrainingError(RuntimeError):
    """The training cannot be done: one sentence, with what to do."""


@dataclass(frozen=True)
class Options:
    """The options of the command line; None if one was left out."""

    task: str | None
    system: str | None
    seed: int | None
    steps: int | None
    batch_tokens: int | None
    learning_rate: float | None
    warmup_steps: int | None
    smoothing: float | None
    d_model: int | None
    n_layers: int | None
    context: int | None
    vocab_size: int | None
    dropout: float | None
    dropout_from: float | None
    preprocess: bool | None
    more_pairs: bool | None
    alignment_start: bool | None
    length_penalty: float | None
    device: str | None
    threads: int | None
    output: Path | None
    resume: bool
    save_every: float
    no_score: bool

    @property
    def path(self) -> Path:
        """Where the checkpoint is."""
        task = task_named(self.task or DEFAULT_TASK)
        system = self.system or next(iter(task.systems))
        return self.output or FOLDER / f"{task.name}-{system}-{self.seed or 0}.pt"

    def config_options(self, task: TrainingTask, system: str) -> dict[str, Any]:
        """Return what the options say about the model's config."""
        sizes = {
            "d_model": self.d_model,
            "n_layers": self.n_layers,
            "dropout": self.dropout,
        }
        if "context" in task.own_options:
            sizes["context"] = self.context
        try:
            return task.systems[system].config_options(**sizes)
        except ValueError as error:
            raise TrainingError(f"{error}: leave --n-layers out.") from None

    def check_fit(self, task: TrainingTask) -> None:
        """Refuse options that another task has, and this one has not."""
        for name in sorted(ALL_OWN_OPTIONS - task.own_options):
            value = getattr(self, name)
            if value is not None:
                flag = _flag(name, value)
                raise TrainingError(
                    f"{flag} does not fit --task {task.name}: leave it out."
                )
        if self.system is not None and self.system not in task.systems:
            raise TrainingError(
                f"--system {self.system} does not fit --task {task.name}: choose one "
                f"of {', '.join(task.systems)}."
            )

    def chosen(self, config_class: Any) -> dict[str, Any]:
        """Return the options that are fields of a dataclass and were not left out."""
        names = {field.name for field in fields(config_class)}
        return {
            name: value
            for name, value in asdict(self).items()
            if name in names and value is not None
        }


# Options whose names on the command line are shorter than their fields.
FLAGS = {
    "learning_rate": "--rate",
    "warmup_steps": "--warmup",
    "n_positions": "--context",
}


def _flag(name: str, value: Any) -> str:
    """Return an option as it is written on the command line, without its value."""
    flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
    return f"--no{flag[1:]}" if value is False else flag


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    try:
        app(arguments, prog_name=COMMAND)
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def _one_of(names: Collection[str]) -> Callable[[str | None], str | None]:
    """Make a check for an option whose value is one of some names."""

    def check(name: str | None) -> str | None:
        if name is not None and name not in names:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
        return name

    return check


def _choice(description: str, names: Collection[str]) -> Any:
    return typer.Option(
        callback=_one_of(names), help=f"{description}: {', '.join(names)}."
    )


@app.command()
def train(
    task: Annotated[str | None, _choice("What to learn", ALL_TASKS)] = None,
    system: Annotated[str | None, _choice("What learns", ALL_SYSTEMS)] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of parameters, batches and dropout; 0.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Optimizer steps; as many as the task needs."),
    ] = None,
    batch_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Target positions in a batch; 256 or the task's."),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option("--rate", min=0, help="The greatest learning rate.")
    ] = None,
    warmup_steps: Annotated[
        int | None,
        typer.Option("--warmup", min=1, help="Steps in which the learning rate grows."),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Share of a target spread over all tokens; 0.1."
        ),
    ] = None,
    d_model: Annotated[
        int | None, typer.Option(min=1, help="Length of a token's vector.")
    ] = None,
    n_layers: Annotated[
        int | None, typer.Option(min=1, help="Layers, in encoder and decoder each.")
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens that a language model reads at most; 128."),
    ] = None,
    vocab_size: Annotated[
        int | None,
        typer.Option(min=256, help="Tokens of a language model; 1024."),
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(min=0, max=1, help="While training; 0.")
    ] = None,
    dropout_from: Annotated[
        float | None, typer.Option(min=0, help="The epoch that dropout begins in; 0.")
    ] = None,
    preprocess: Annotated[
        bool | None,
        typer.Option(
            "--preprocess/--no-preprocess",
            help="Punctuation as tokens, the case of first words made even.",
        ),
    ] = None,
    more_pairs: Annotated[
        bool | None,
        typer.Option("--more-pairs/--no-more-pairs", help="The larger training set."),
    ] = None,
    alignment_start: Annotated[
        bool | None,
        typer.Option(
            "--alignment-start/--no-alignment-start",
            help="Begin with source tokens near their translations (IBM Model 1).",
        ),
    ] = None,
    length_penalty: Annotated[
        float | None,
        typer.Option(help="Its exponent in the beam search that measures; 0.6."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Such as cpu or cuda; the GPU if there is one.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="On a CPU; 2, under torchrun 1.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="The checkpoint; build/trained/TASK-SYSTEM-SEED.pt."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint.")
    ] = False,
    save_every: Annotated[
        float, typer.Option(help="Seconds between two checkpoints.")
    ] = 30.0,
    no_score: Annotated[
        bool, typer.Option("--no-score", help="Do not measure it when it is done.")
    ] = False,
) -> None:
    """Train a translator or a language model, or go on with it, and measure it."""
    options = Options(**locals())
    try:
        with process_group(best_device(device)) as (group, own_device):
            code = run(options, group, own_device)
    except (DataError, CheckpointError, TrainingError) as error:
        print(error, file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        print(
            "Interrupted; what was saved before, if anything, is still there.",
            file=sys.stderr,
        )
        code = INTERRUPTED
    raise typer.Exit(code)


def run(options: Options, group: ProcessGroup, device: torch.device) -> int:
    """Train, or go on, and measure. Returns the exit code."""
    path = options.path
    start = _resumed(path, options) if options.resume else _new(path, options)
    start["threads"] = options.threads or start.get("threads") or _threads()
    if device.type == "cpu":
        torch.set_num_threads(start["threads"])
    task = task_named(start["task"])
    recipe = replace(task.recipe, **start["recipe"])
    try:
        split = task.load_split(recipe)
    except ValueError as error:
        raise TrainingError(f"{error}: leave --more-pairs out.") from None
    tokenizer = task.learn_tokenizer(split, recipe)
    if options.resume:
        checkpoints.check_vocabulary(path, start, tokenizer)
    system = task.systems[start["system"]]
    config = TrainingConfig(**start["training_config"])
    model_options = {"vocab_size": len(tokenizer)} | start["config"]
    try:
        model = seeded_model(lambda: system.make(model_options, device), config.seed)
    except ValueError as error:
        raise TrainingError(f"{error}: choose other sizes.") from None
    encoded = task.encode(split, tokenizer)
    if not options.resume:
        task.initialise(model, encoded, recipe)
    try:
        data = task.training_data(model, encoded)
    except ValueError as error:
        raise TrainingError(f"{error}: choose other sizes.") from None
    trainer = Trainer(model, data, config, group)
    if options.resume:
        trainer.load_state_dict(start["training"])
    checkpointer = Checkpointer(path, start, tokenizer, trainer, options.save_every)
    code = _train(checkpointer, device)
    if code == 0 and group.is_main_process and not options.no_score:
        _score(checkpointer, task, split, options.length_penalty)
    return code


def _new(path: Path, options: Options) -> dict[str, Any]:
    """Return what is to be trained and how; refuse to overwrite a checkpoint."""
    if path.exists():
        raise TrainingError(
            f"There is a checkpoint {path} already: go on with --resume, name another "
            "file with --output, or remove it."
        )
    task = task_named(options.task or DEFAULT_TASK)
    options.check_fit(task)
    system = options.system or next(iter(task.systems))
    training = {**task.training, **options.chosen(TrainingConfig)}
    recipe = replace(task.recipe, **options.chosen(type(task.recipe)))
    return {
        "task": task.name,
        "system": system,
        "recipe": asdict(recipe),
        "config": options.config_options(task, system),
        "training_config": asdict(TrainingConfig(**training)),
        "seconds": 0.0,
    }


def _resumed(path: Path, options: Options) -> Checkpoint:
    """Load a checkpoint; refuse to go on with another training than it was."""
    command = f"{COMMAND} --output {path}" if options.output else COMMAND
    checkpoint = checkpoints.load(path, command)
    constant = {"task": checkpoint["task"], "system": checkpoint["system"]}
    constant |= checkpoint["training_config"] | checkpoint["config"]
    constant |= checkpoint["recipe"]
    task = task_named(checkpoint["task"])
    asked = asdict(options) | options.config_options(task, checkpoint["system"])
    for name, value in asked.items():
        if value is not None and name in constant and constant[name] != value:
            flag = _flag(name, value)
            asked_for, constant_value = f"{flag} {value}", constant[name]
            if isinstance(value, bool):
                asked_for, constant_value = flag, "the opposite"
            raise TrainingError(
                f"{asked_for} cannot be resumed: the checkpoint's training has "
                f"{constant_value}. Leave the option out, or train anew with another "
                "--output."
            )
    options.check_fit(task)
    return checkpoint


def _train(checkpointer: Checkpointer, device: torch.device) -> int:
    trainer, path = checkpointer.trainer, checkpointer.path
    resume = f"{COMMAND} --resume --output {path}"
    with stop_on_signal() as stop, progress(trainer) as show:
        try:
            while trainer.step < trainer.config.steps:
                stopping = trainer.train_step(stop.requested)
                show()
                if stopping:
                    break
                checkpointer.save_if_due()
        except torch.OutOfMemoryError:
            checkpointer.save()
            raise TrainingError(
                f"{device} has too little memory for batches of "
                f"{trainer.config.batch_tokens} tokens: go on with `{resume} --device "
                "cpu`, or train anew with a smaller --batch-tokens."
            ) from None
    checkpointer.save()
    finished = trainer.step >= trainer.config.steps
    if trainer.process_group.is_main_process:
        if finished:
            last = trainer.losses[-100:]
            print(
                f"{trainer.step} steps in {checkpointer.seconds:.0f} s, loss "
                f"{sum(last) / len(last):.3f}: saved in {path}"
            )
        else:
            print(
                f"Stopped after {trainer.step} of {trainer.config.steps} steps; go on "
                f"with `{resume}`.",
                file=sys.stderr,
            )
    return 0 if finished else INTERRUPTED


def _score(
    checkpointer: Checkpointer,
    task: TrainingTask,
    split: Any,
    length_penalty: float | None,
) -> None:
    seconds = checkpointer.seconds
    results, table = task.evaluate(
        checkpointer.trainer.model, checkpointer.tokenizer, split, length_penalty
    )
    Console().print(table)
    results |= {"seconds": round(seconds, 1)}
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    checkpointer.path.with_suffix(".json").write_text(text, encoding="utf-8")


def _threads() -> int:
    """Choose two at most, since the products are small; under torchrun, one each."""
    return 1 if under_torchrun() else min(2, os.cpu_count() or 1)


if __name__ == "__main__":
    sys.exit(main())
