"""Time the updates of one training, in a process alone or in one of several.

``bench_nn`` starts it, also under torchrun; it prints milliseconds per update.
"""

import random
import sys
from time import perf_counter

import torch

from course_lib.nn.training.batches import Example, PairData
from course_lib.nn.training.distributed import ProcessGroup, process_group
from course_lib.nn.training.loop import Trainer, TrainingConfig, seeded_model
from course_lib.nn.transformer import Transformer, TransformerConfig

VOCAB_SIZE, LENGTHS, N_EXAMPLES = 4000, (4, 15), 2000
BEFORE, TIMED = 3, 30  # updates


def main(batch_tokens: int, updates: int = TIMED) -> None:
    torch.set_num_threads(1)
    with process_group(torch.device("cpu")) as (group, _):
        spent = milliseconds(batch_tokens, group, updates)
        if group.is_main_process:
            print(f"{spent:.2f}")


def milliseconds(batch_tokens: int, group: ProcessGroup, updates: int) -> float:
    model_config = TransformerConfig(VOCAB_SIZE, dropout=0.0)
    model = seeded_model(lambda: Transformer(model_config, device="cpu"), 0)
    config = TrainingConfig(BEFORE + updates, batch_tokens)
    trainer = Trainer(model, PairData(_examples()), config, group)
    for _ in range(BEFORE):
        trainer.train_step()
    start = perf_counter()
    for _ in range(updates):
        trainer.train_step()
    return (perf_counter() - start) * 1000 / updates


def _examples() -> list[Example]:
    drawn = random.Random(0)

    def text() -> list[int]:
        return drawn.choices(range(4, VOCAB_SIZE), k=drawn.randint(*LENGTHS))

    return [Example(text(), text()) for _ in range(N_EXAMPLES)]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
