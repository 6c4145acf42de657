"""How good a language model is: bits per byte, beside n-grams and a file compressor.

All are measured on the bytes of the same held-out play, so that models of tokens,
n-grams of bytes and ``xz`` can be compared. Results are plain data.
"""

import lzma
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from rich.table import Table
from torch import Tensor
from torch.nn.functional import cross_entropy

from course_lib.byte_tokenizer import N_BYTES, ByteTokenizer
from course_lib.corpora.plays import PlaySplit
from course_lib.fast_n_grams import n_gram_losses
from course_lib.nn.generating import generate
from course_lib.nn.language_data import bits_per_byte
from course_lib.nn.language_model import LanguageModel
from course_lib.nn.translator import evaluating

MAX_N = {"tokens": 3, "bytes": 6}  # of the n-grams
XZ_PRESET = 9 | lzma.PRESET_EXTREME  # as `xz -9e`
WINDOWS_AT_ONCE = 16
FIRST = "\n"  # read before a text's first token, as before each play but the first
SAMPLING: dict[str, Any] = {"temperature": 1.0, "top_p": 0.9}
N_SAMPLE_TOKENS = 200


def token_losses(model: LanguageModel, token_ids: Sequence[int], first: int) -> Tensor:
    """Compute −ln p of each token of a text, each behind half a context or more.

    token_ids : the text
    first : the token id that is read before the text

    Returns losses in nats (n_tokens), on the CPU. The text is read in windows as long
    as the model's context, each half a context behind the one before, the last one less
    than that; what an earlier window has counted is not counted again. The tokens of
    the first window have all that is before them.
    """
    context = model.config.n_positions
    device = model.embedding.weight.device
    tokens = torch.tensor([first, *token_ids], device=device)
    n, half = len(token_ids), context // 2
    starts = list(range(0, max(n - context, 0) + 1, context - half))
    if starts[-1] + context < n:
        starts.append(n - context)
    length = min(context, n)
    losses, n_done = torch.empty(n), 0
    with evaluating(model):
        for at in range(0, len(starts), WINDOWS_AT_ONCE):
            chosen = starts[at : at + WINDOWS_AT_ONCE]
            windows = torch.stack([tokens[s : s + length + 1] for s in chosen])
            logits = model(windows[:, :-1])  # (windows, length, vocab_size)
            each = cross_entropy(logits.mT, windows[:, 1:], reduction="none").cpu()
            for start, row in zip(chosen, each, strict=True):
                losses[n_done : start + length] = row[n_done - start :]
                n_done = start + length
    return losses


def model_bits_per_byte(
    model: LanguageModel, tokenizer: ByteTokenizer, text: str
) -> float:
    """Compute how many bits a language model needs for each byte of a text."""
    (first,) = tokenizer.encode(FIRST)
    losses = token_losses(model, tokenizer.encode(text), first)
    return bits_per_byte(losses, text)


def n_gram_bits_per_byte(
    training: str, text: str, tokenizer: ByteTokenizer | None, n: int
) -> list[float]:
    """Compute the bits per byte of 1-grams up to n-grams.

    training : the text that is counted
    tokenizer : whose tokens are counted; bytes if None
    """
    if tokenizer is None:
        counted, predicted = (
            np.frombuffer(each.encode(), dtype=np.uint8) for each in (training, text)
        )
        losses = n_gram_losses(counted, predicted, n, N_BYTES)
    else:
        losses = n_gram_losses(
            tokenizer.encode(training), tokenizer.encode(text), n, len(tokenizer)
        )
    return [bits_per_byte(torch.from_numpy(row), text) for row in losses]


def xz_bits_per_byte(training: str, text: str) -> dict[str, float]:
    """Compute how many bits ``xz -9e`` needs for each byte of a text.

    Returns "alone", of a file of the text, and "after training", by how much a file of
    the training text grows if the text follows it.
    """

    def size(content: str) -> int:
        return len(lzma.compress(content.encode(), preset=XZ_PRESET))

    sizes = {
        "alone": size(text),
        "after training": size(training + text) - size(training),
    }
    n_bytes = len(text.encode())
    return {name: 8 * each / n_bytes for name, each in sizes.items()}


def evaluate(
    model: LanguageModel, tokenizer: ByteTokenizer, split: PlaySplit
) -> dict[str, Any]:
    """Measure a language model on the test play, beside n-grams and xz.

    Returns plain data. All but what says otherwise is of the test play, in bits per
    byte:

    - "bits_per_byte" of the model; "validation_bits_per_byte", on the play to choose by
    - "n_bytes" and "n_tokens" of the test play
    - "loss" of the model, in nats per token
    - "n_grams": under "tokens" and "bytes" 1-grams, 2-grams and so on
    - "best_n_gram": its "unit", "n" and "bits_per_byte"; it is the best on the test
      play, an advantage that the model does not have
    - "xz": "alone" and "after training"
    - "parameters" of the model
    - "sample": the "text" that it writes behind the "prompt", and how it was drawn
    - "scoring_seconds"
    """
    start = time.perf_counter()
    own = model_bits_per_byte(model, tokenizer, split.test)
    n_bytes, n_tokens = len(split.test.encode()), len(tokenizer.encode(split.test))
    n_grams = {
        unit: n_gram_bits_per_byte(
            split.train, split.test, tokenizer if unit == "tokens" else None, n
        )
        for unit, n in MAX_N.items()
    }
    best, unit, n = min(
        (bits, unit, n)
        for unit, by_n in n_grams.items()
        for n, bits in enumerate(by_n, 1)
    )
    validation = model_bits_per_byte(model, tokenizer, split.validation)
    return {
        "bits_per_byte": round(own, 4),
        "validation_bits_per_byte": round(validation, 4),
        "n_bytes": n_bytes,
        "n_tokens": n_tokens,
        "loss": round(own * math.log(2) * n_bytes / n_tokens, 4),
        "n_grams": {unit: _rounded(by_n) for unit, by_n in n_grams.items()},
        "best_n_gram": {"unit": unit, "n": n, "bits_per_byte": round(best, 4)},
        "xz": {
            name: round(bits, 4)
            for name, bits in xz_bits_per_byte(split.train, split.test).items()
        },
        "parameters": sum(each.numel() for each in model.parameters()),
        "sample": write_sample(model, tokenizer, seed=0),
        "scoring_seconds": round(time.perf_counter() - start, 1),
    }


def write_sample(
    model: LanguageModel,
    tokenizer: ByteTokenizer,
    *,
    seed: int,
    n_tokens: int = N_SAMPLE_TOKENS,
    prompt: str = FIRST,
) -> dict[str, Any]:
    """Let a language model write.

    Returns the "text" behind the "prompt", "seed", "temperature" and "top_p".
    """
    with evaluating(model):
        token_ids = generate(
            model, tokenizer.encode(prompt), n_tokens, seed=seed, **SAMPLING
        )
    return {
        "prompt": prompt,
        "text": tokenizer.decode(token_ids),
        "seed": seed,
        **SAMPLING,
    }


def results_table(results: dict[str, Any]) -> Table:
    """Make a table of what ``evaluate`` returns: a row for each way to compress."""
    table = Table("bits per byte of the held-out play", "")
    table.add_row("language model", f"{results['bits_per_byte']:.3f}")
    for unit, by_n in results["n_grams"].items():
        for n, bits in enumerate(by_n, 1):
            table.add_row(f"{n}-grams of {unit}", f"{bits:.3f}")
    table.add_row(
        "xz -9e, after the training plays", f"{results['xz']['after training']:.3f}"
    )
    table.add_row("xz -9e, the play alone", f"{results['xz']['alone']:.3f}")
    return table


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(each, 4) for each in numbers]
