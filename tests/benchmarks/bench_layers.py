"""What attention and the layers cost beside PyTorch's own modules, of equal parameters.

``nn.MultiheadAttention``, ``nn.TransformerEncoderLayer`` and ``…DecoderLayer``, without
dropout and without weights, on one thread: in training forward and backward, in
evaluation forward under ``inference_mode``, where theirs take their shortcuts. Masked
means padding behind half to all positions, and in the decoder a causal mask too. Times
are the process's, so that other work on the machine counts little; the two take turns
in runs of a few milliseconds, each first in every other turn, and the median of the
turns' ratios counts.

In evaluation the encoder layer stays a few hundredths below 1: theirs is one operator
there, whose three projections are one product of matrices and whose ReLU is part of
another; ours stay the three layers and the ReLU that a reader of the code expects.
"""

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

import torch
from torch import Tensor, nn

from autograder.course import Course
from course_lib.lessons.environment import one_thread
from course_lib.nn.attention import MultiHeadAttention
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from tests.benchmarks.figure import Figure, against

WIDTHS = (128, 256, 512)
N_HEADS = 4
BATCH, LENGTH = 16, 32
TURNS, WARM_UP = 60, 3
Run = Callable[[nn.Module], Tensor]


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    turns = 2 if quick else TURNS
    with one_thread():
        return [
            _compared(f"{name}, d_model {d_model}, {mode}", ours, theirs, mode, turns)
            for d_model in (WIDTHS[:1] if quick else WIDTHS)
            for name, ours, theirs in _cases(d_model)
            for mode in ("training", "evaluation")
        ]


Case = tuple[str, tuple[nn.Module, Run], tuple[nn.Module, Run]]


def _cases(d_model: int) -> Iterator[Case]:
    torch.manual_seed(0)
    x, memory = torch.randn(2, BATCH, LENGTH, d_model).unbind()
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (BATCH, 1))
    is_padding = torch.arange(LENGTH) >= lengths  # (batch, m)
    tokens = ~is_padding.unsqueeze(-2)
    future = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    sizes = d_model, N_HEADS, 4 * d_model, 0.0
    attention = nn.MultiheadAttention(d_model, N_HEADS, batch_first=True)
    encoder = nn.TransformerEncoderLayer(*sizes, batch_first=True)
    decoder = nn.TransformerDecoderLayer(*sizes, batch_first=True)
    ours = MultiHeadAttention.from_torch(attention)
    our_encoder = EncoderLayer.from_torch(encoder)
    our_decoder = DecoderLayer.from_torch(decoder)

    def attend(may_attend: Tensor | None) -> Run:
        return lambda m: m.attend(x, *m.keys_and_values(x), may_attend)

    def their_attention(padding: Tensor | None) -> Run:
        return lambda m: m(x, x, x, key_padding_mask=padding, need_weights=False)[0]

    for which, mine, theirs in (
        ("", attend(None), their_attention(None)),
        (", masked", attend(tokens), their_attention(is_padding)),
    ):
        yield f"attention{which}", (ours, mine), (attention, theirs)
    for which, mine, theirs in (
        ("", lambda m: m(x), lambda m: m(x)),
        (
            ", masked",
            lambda m: m(x, tokens),
            lambda m: m(x, src_key_padding_mask=is_padding),
        ),
    ):
        yield f"encoder layer{which}", (our_encoder, mine), (encoder, theirs)
    for which, mine, theirs in (
        ("", lambda m: m(x, memory), lambda m: m(x, memory)),
        (
            ", masked",
            lambda m: m(x, memory, None, tokens, causal=True),
            lambda m: m(
                x,
                memory,
                future,
                memory_key_padding_mask=is_padding,
                tgt_is_causal=True,
            ),
        ),
    ):
        yield f"decoder layer{which}", (our_decoder, mine), (decoder, theirs)


def _compared(
    name: str,
    ours: tuple[nn.Module, Run],
    theirs: tuple[nn.Module, Run],
    mode: str,
    turns: int,
) -> Figure:
    pair = [_timed(*each, mode) for each in (ours, theirs)]
    for _ in range(WARM_UP):
        for run in pair:
            run()
    times = []
    for turn in range(turns):
        order = (0, 1) if turn % 2 else (1, 0)
        seconds = {index: pair[index]() for index in order}
        times.append((seconds[0], seconds[1]))
    milliseconds = median(mine for mine, _ in times) * 1000
    ratio = median(other / mine for mine, other in times)
    return against(name, milliseconds, "ms", "PyTorch's", milliseconds * ratio)


def _timed(module: nn.Module, run: Run, mode: str) -> Callable[[], float]:
    """Return a function that runs a module once and returns the processor's seconds."""

    def training() -> float:
        module.train()
        start = process_time()
        run(module).sum().backward()
        seconds = process_time() - start
        module.zero_grad()
        return seconds

    @torch.inference_mode()
    def evaluation() -> float:
        module.eval()
        start = process_time()
        run(module)
        return process_time() - start

    return training if mode == "training" else evaluation
