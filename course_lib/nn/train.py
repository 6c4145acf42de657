"""``python -m course_lib.nn.train``: train a translator, stop, go on, measure it.

Under ``torchrun`` several processes train the same model on shares of each batch. What
is learned is in ``course_lib.nn.training.tasks``, how in ``training``; ``scoring`` measures.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from course_lib.corpora.download import DataFault
from course_lib.nn.device import best_device
from course_lib.nn.training import checkpoints
from course_lib.nn.training.batches import examples
from course_lib.nn.training.checkpoints import COMMAND, CheckpointFault, Keeper
from course_lib.nn.training.distributed import Team, stop_sign, team, under_torchrun
from course_lib.nn.training.loop import Recipe, Training, initial, progress
from course_lib.nn.training.tasks import SYSTEMS, TASKS

FOLDER = Path("build/trained")
STEPS = {"translation": 6000, "dates": 1500, "numbers": 1500, "copying": 3000}
SAVE_EVERY = 30.0  # seconds
INTERRUPTED = 130  # what a shell expects after Ctrl-C


class Fault(RuntimeError):
    """The training cannot be done: one sentence, with what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says; gives the exit code.

    A fault that the reader can mend is one sentence on stderr and exit code 1; Ctrl-C
    saves what there is, says how to go on and gives 130.
    """
    wishes = parser().parse_args(arguments)
    try:
        device = best_device(wishes.device)
        with team(device) as (mine, place):
            return run(wishes, mine, place)
    except (DataFault, CheckpointFault, Fault) as fault:
        print(fault, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "Interrupted; what was saved before, if anything, is still there.",
            file=sys.stderr,
        )
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """Give what reads the command line."""
    made = argparse.ArgumentParser(prog=COMMAND, description="Train a translator.")
    add = made.add_argument
    add("--task", choices=TASKS, help="what to learn; translation")
    add("--system", choices=SYSTEMS, help="what learns; transformer")
    add("--seed", type=int, help="of parameters, batches and dropout; 0")
    add("--steps", type=_positive, help="number of updates; as many as the task needs")
    add("--batch-tokens", type=_positive, help="target places in a batch; 256")
    add("--rate", type=float, help="the greatest learning rate")
    add("--warmup", type=_positive, help="updates in which the rate grows")
    add("--smoothing", type=float, help="share of a target spread over all tokens; 0.1")
    add("--d-model", type=_positive, help="length of a token's vector")
    add("--n-layers", type=_positive, help="layers of encoder and decoder")
    add("--dropout", type=float, help="while training")
    add("--device", help="such as cpu or cuda; the GPU if there is one")
    add("--threads", type=_positive, help="on a CPU; 2, under torchrun 1")
    add("--output", type=Path, help="the checkpoint; build/trained/TASK-SYSTEM-SEED.pt")
    add("--resume", action="store_true", help="go on from the checkpoint")
    add("--save-every", type=float, default=SAVE_EVERY, help="seconds; 30")
    add("--no-score", action="store_true", help="do not measure it when it is done")
    return made


def run(wishes: argparse.Namespace, mine: Team, device: torch.device) -> int:
    """Train, or go on, and measure; gives the exit code."""
    path = wishes.output or FOLDER / (
        f"{wishes.task or 'translation'}-{wishes.system or 'transformer'}-"
        f"{wishes.seed or 0}.pt"
    )
    before = _before(path, wishes)
    before["threads"] = wishes.threads or before.get("threads") or _threads()
    if device.type == "cpu":
        torch.set_num_threads(before["threads"])
    task = TASKS[before["task"]]
    texts = task.texts()
    subwords = task.subwords(texts)
    if wishes.resume:
        checkpoints.check_vocabulary(path, before, subwords)
    system = SYSTEMS[before["system"]]
    recipe = Recipe(**before["recipe"])
    sizes = {"vocab_size": len(subwords)} | before["sizes"]
    model = initial(lambda: system.make(sizes, device), recipe.seed)
    training = Training(model, examples(texts.train, subwords), recipe, mine)
    if wishes.resume:
        training.load_state(before["training"])
    keeper = Keeper(path, before, subwords, training, wishes.save_every)
    code = _train(training, keeper, device)
    if code == 0 and mine.leads and not wishes.no_score:
        _score(keeper, texts.test, device)
    return code


def _before(path: Path, wishes: argparse.Namespace) -> dict[str, Any]:
    """Give what is to be trained and how, and where to begin."""
    if wishes.resume:
        found = checkpoints.load(path, _command(path, wishes))
        _refuse_changes(found, wishes)
        return found
    if path.exists():
        raise Fault(
            f"There is a checkpoint {path} already: go on with --resume, name another "
            "file with --output, or remove it."
        )
    task, system = wishes.task or "translation", wishes.system or "transformer"
    given = {name: getattr(wishes, name, None) for name in _names(Recipe)}
    recipe = {"steps": STEPS[task]} | _said(given)
    return {
        "task": task,
        "system": system,
        "sizes": _sizes(system, wishes),
        "recipe": asdict(Recipe(**recipe)),
        "seconds": 0.0,
    }


def _refuse_changes(found: dict[str, Any], wishes: argparse.Namespace) -> None:
    """Raise ``Fault`` if a training is to go on as another than it was."""
    kept = {"task": found["task"], "system": found["system"]}
    kept |= found["recipe"] | found["sizes"]
    wished = vars(wishes) | _sizes(found["system"], wishes)
    for name, now in _said(wished).items():
        if name in kept and kept[name] != now:
            raise Fault(
                f"--{name.replace('_', '-')} {now} cannot be resumed: the checkpoint's "
                f"training has {kept[name]}. Leave the option out, or train anew with "
                "another --output."
            )


def _train(training: Training, keeper: Keeper, device: torch.device) -> int:
    go_on = f"go on with `{COMMAND} --resume --output {keeper.path}`"
    with stop_sign() as sign, progress(training) as show:
        try:
            while training.step < training.recipe.steps:
                asked = training.update(sign.asked)
                show()
                if asked:
                    break
                keeper.save_now_and_then()
        except torch.OutOfMemoryError:
            keeper.save()
            raise Fault(
                f"{device} has too little memory for batches of "
                f"{training.recipe.batch_tokens} tokens: {go_on} --device cpu`, or "
                "train anew with a smaller --batch-tokens."
            ) from None
    keeper.save()
    if training.step < training.recipe.steps:
        if training.team.leads:
            said = f"Stopped after {training.step} of {training.recipe.steps} updates"
            print(f"{said}; {go_on}.", file=sys.stderr)
        return INTERRUPTED
    if training.team.leads:
        print(
            f"{training.step} updates in {keeper.seconds:.0f} s, loss "
            f"{sum(training.losses[-100:]) / len(training.losses[-100:]):.3f}: "
            f"kept in {keeper.path}"
        )
    return 0


def _score(keeper: Keeper, pairs: Sequence[Any], device: torch.device) -> None:
    from course_lib.nn.training.scoring import score, table  # sacrebleu: half a second

    model: Any = keeper.training.model
    seconds = keeper.seconds
    found = score(model, keeper.subwords, pairs)
    Console().print(table(found))
    kept = found | {"seconds": round(seconds, 1)}
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    keeper.path.with_suffix(".json").write_text(text, encoding="utf-8")


def _sizes(system: str, wishes: argparse.Namespace) -> dict[str, Any]:
    try:
        return SYSTEMS[system].sizes_of(wishes.d_model, wishes.n_layers, wishes.dropout)
    except ValueError as error:
        raise Fault(f"{error}: leave --n-layers out.") from None


def _said(options: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the command line did not say."""
    return {name: value for name, value in options.items() if value is not None}


def _names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _command(path: Path, wishes: argparse.Namespace) -> str:
    return f"{COMMAND} --output {path}" if wishes.output else COMMAND


def _threads() -> int:
    """Two at most, since the products are small; under torchrun, one each."""
    return 1 if under_torchrun() else min(2, os.cpu_count() or 1)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
