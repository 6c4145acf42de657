"""What the course's Transformer costs beside the same model of PyTorch's ``nn``.

Both have the same parameters, the same data and one thread; they take turns, so that
what else the machine does hits both, and the median of the turns' ratios counts. The
peer is built from ``nn.Transformer`` as its documentation says, with the same
embedding and positions. While training, both drop where they do by default: the peer at
two more points, so a figure without dropout is printed too. Last, one training in two
processes that share each batch, compared with the same in one.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from autograder.course import Course
from course_lib.lessons.environment import one_thread
from course_lib.nn.transformer import Transformer, TransformerConfig
from tests.benchmarks.figure import Figure, against
from tests.benchmarks.torch_translator import TorchTranslator

BATCH, LENGTHS = 32, (9, 16)  # tokens of a text: from, and less than
VOCAB_SIZE = 4000
BATCHES, TURNS = 4, 15  # of training
SENTENCE = 12  # tokens, read and written
WRITTEN = (16, 64, 128)  # lengths of the cache's figures
START = 1
BATCH_TOKENS = (512, 2048)  # of the trainings in two processes
RUNS = 3  # of each
Pair = tuple[Tensor, Tensor]


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    turns, batches = (1, _batches(1)) if quick else (TURNS, _batches(BATCHES))
    lengths = WRITTEN[:1] if quick else WRITTEN
    with one_thread():
        figures = [_of_training(dropout, batches, turns) for dropout in (0.1, 0.0)]
        figures.append(_of_a_sentence(turns))
        figures += [_of_the_cache(n, turns) for n in lengths]
    shares = BATCH_TOKENS[:1] if quick else BATCH_TOKENS
    return figures + [_of_two_processes(tokens, quick) for tokens in shares]


def _of_training(dropout: float, batches: Sequence[Pair], turns: int) -> Figure:
    config = TransformerConfig(VOCAB_SIZE, dropout=dropout)

    def steps(model: nn.Module) -> Callable[[], None]:
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3)

        def run() -> None:
            for source, target in batches:
                logits = model(source, target[:, :-1]).flatten(0, 1)
                right = target[:, 1:].flatten()
                cross_entropy(logits, right, ignore_index=config.padding_id).backward()
                optimizer.step()
                optimizer.zero_grad()

        return run

    runs = steps(Transformer(config, device="cpu")), steps(TorchTranslator(config))
    name = f"training step of {BATCH} pairs, dropout {dropout}"
    return _compared(name, runs, "nn.Transformer", turns, len(batches))


def _of_a_sentence(turns: int) -> Figure:
    config = TransformerConfig(VOCAB_SIZE)
    ours, theirs = (
        Transformer(config, device="cpu").eval(),
        TorchTranslator(config).eval(),
    )
    source = torch.randint(START + 1, VOCAB_SIZE, (1, SENTENCE))

    @torch.inference_mode()
    def their_sentence() -> None:
        is_padding = source == config.padding_id
        memory = theirs.inner.encoder(
            theirs.embed(source), src_key_padding_mask=is_padding
        )
        target = torch.tensor([[START]])
        for _ in range(SENTENCE):
            newest = theirs.decode(memory, is_padding, target)[:, -1].argmax(dim=-1)
            target = torch.cat([target, newest.unsqueeze(0)], dim=1)

    runs = _with_cache(ours, source, SENTENCE), their_sentence
    name = f"a sentence of {SENTENCE} tokens, with a cache"
    return _compared(name, runs, "nn.Transformer, which has none", turns, 1)


def _of_the_cache(n: int, turns: int) -> Figure:
    model = Transformer(TransformerConfig(VOCAB_SIZE), device="cpu").eval()
    source = torch.randint(START + 1, VOCAB_SIZE, (1, SENTENCE))

    @torch.inference_mode()
    def without() -> None:
        memory, target = model.encode(source), torch.tensor([[START]])
        for _ in range(n):
            newest = model.logits(model.decode(memory, target)[:, -1]).argmax(dim=-1)
            target = torch.cat([target, newest.unsqueeze(0)], dim=1)

    runs = _with_cache(model, source, n), without
    return _compared(f"{n} tokens with a cache", runs, "without", turns, 1)


def _of_two_processes(batch_tokens: int, quick: bool) -> Figure:
    """Compare one process with two under torchrun that share each batch."""
    under_torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    asked = ["-m", "tests.benchmarks.team_updates", str(batch_tokens)]
    asked += ["2"] if quick else []
    commands = [*under_torchrun, *asked], asked[1:]
    turns = [
        [_milliseconds(command) for command in commands]
        for _ in range(1 if quick else RUNS)
    ]
    two = median(one for one, _ in turns)
    ratio = median(other / one for one, other in turns)
    name = f"an update of {batch_tokens} tokens, two processes"
    return against(name, two, "ms", "one process", two * ratio)


def _milliseconds(module: Sequence[str]) -> float:
    finished = subprocess.run(
        [sys.executable, "-m", *module],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(finished.stdout)


def _with_cache(model: Transformer, source: Tensor, n: int) -> Callable[[], None]:
    @torch.inference_mode()
    def run() -> None:
        state = model.initial_state(model.encode(source))
        tokens = torch.tensor([START])
        for _ in range(n):
            logits, state = model.step(tokens, state)
            tokens = logits.argmax(dim=-1)

    return run


def _compared(
    name: str, runs: Sequence[Callable[[], None]], peer: str, turns: int, count: int
) -> Figure:
    """Time two things in turns; count: how often each is done in a run."""
    for run in runs:
        run()
    seconds = [[_seconds(run) for run in runs] for _ in range(turns)]
    ours = median(one for one, _ in seconds) * 1000 / count
    ratio = median(other / one for one, other in seconds)
    return against(name, ours, "ms", peer, ours * ratio)


def _seconds(run: Callable[[], None]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def _batches(count: int) -> list[Pair]:
    drawn = torch.Generator().manual_seed(0)

    def text() -> Tensor:
        length = int(torch.randint(*LENGTHS, (1,), generator=drawn))
        return torch.randint(START + 1, VOCAB_SIZE, (length,), generator=drawn)

    def batch() -> Tensor:
        return pad_sequence([text() for _ in range(BATCH)], batch_first=True)

    return [(batch(), batch()) for _ in range(count)]
