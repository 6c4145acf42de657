"""Time the updates of one training, in a process alone or in one of several.

``bench_nn`` starts it, also under torchrun; it prints milliseconds per update.
"""

import random
import sys
from time import perf_counter

import torch

from course_lib.nn.training.batches import Example
from course_lib.nn.training.distributed import Team, team
from course_lib.nn.training.loop import Recipe, Training, initial
from course_lib.nn.transformer import Transformer, TransformerSizes

VOCAB_SIZE, LENGTHS, N_EXAMPLES = 4000, (4, 15), 2000
BEFORE, TIMED = 3, 30  # updates


def main(batch_tokens: int, updates: int = TIMED) -> None:
    torch.set_num_threads(1)
    with team(torch.device("cpu")) as (mine, _):
        spent = milliseconds(batch_tokens, mine, updates)
        if mine.leads:
            print(f"{spent:.2f}")


def milliseconds(batch_tokens: int, mine: Team, updates: int) -> float:
    sizes = TransformerSizes(VOCAB_SIZE, dropout=0.0)
    model = initial(lambda: Transformer(sizes, device="cpu"), 0)
    recipe = Recipe(BEFORE + updates, batch_tokens)
    training = Training(model, _examples(), recipe, mine)
    for _ in range(BEFORE):
        training.update()
    start = perf_counter()
    for _ in range(updates):
        training.update()
    return (perf_counter() - start) * 1000 / updates


def _examples() -> list[Example]:
    drawn = random.Random(0)

    def text() -> list[int]:
        return drawn.choices(range(4, VOCAB_SIZE), k=drawn.randint(*LENGTHS))

    return [Example(text(), text()) for _ in range(N_EXAMPLES)]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
